//! Sound mode's region recursion as one plain flow graph (THESIS figure 5.4): what is inside a split region exists once per
//! side. Its longest way bounds the longest chain through the wave's paths, facts about all sides stay in force until then
//! (repair 2), and split and merge cost what they cost each time they are passed (repair 3).

use super::tree::{Level, LinkKind, Tree, Way};
use super::{Guarantee, SplitError, shape_of};
use crate::graph::{Count, EdgeId, Fact, LoopBound, Model, NodeId, Region};

/// Beyond this something is wrong with the regions: sides of real code share a block or two.
const MOST_NODES: usize = 8_000_000;
/// Regions that may or may not split exist three times; nested deeper than this they are charged serially, costs added.
const MAYBE_DEPTH: u32 = 4;

/// What a region costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Both sides, one after the other.
    Serial,
    /// The longer side, and the costs of split and merge.
    Split,
    /// The worse of both.
    Maybe,
    /// The longer side, and nothing else: the mask is homogeneous (THESIS 5.2.4), so nobody splits and nobody runs both.
    Homogeneous,
}

impl Mode {
    pub fn of(guarantee: Guarantee) -> Mode {
        match guarantee {
            Guarantee::Always => Mode::Split,
            Guarantee::Maybe => Mode::Maybe,
            Guarantee::Never => Mode::Serial,
        }
    }
}

/// Which copy a node is in: of the innermost region that is split around it, by number in the list that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Outside of all split regions.
    Whole,
    First(usize),
    Second(usize),
    /// The variant of a region that found no context.
    Serial(usize),
}

/// A model with splits written out.
#[derive(Clone, Debug)]
pub struct Expanded {
    pub model: Model,
    /// For each node and edge, that of the model it came from.
    pub node_origin: Vec<NodeId>,
    pub edge_origin: Vec<EdgeId>,
    /// For each node.
    pub side: Vec<Side>,
    /// What was lost on the way, in words: facts, precision.
    pub notes: Vec<String>,
}

impl Expanded {
    /// Counts of the expanded model as counts of the model: how often nodes (and edges) of the program are passed.
    pub fn back(&self, nodes: &[u64], edges: &[u64], model: &Model) -> (Vec<u64>, Vec<u64>) {
        let mut sums = (vec![0u64; model.graph.nodes.len()], vec![0u64; model.graph.edges.len()]);
        for (&origin, &count) in self.node_origin.iter().zip(nodes) {
            sums.0[origin] = sums.0[origin].saturating_add(count);
        }
        for (&origin, &count) in self.edge_origin.iter().zip(edges) {
            sums.1[origin] = sums.1[origin].saturating_add(count);
        }
        sums
    }
}

/// Writes out the splits of all `regions`.
pub fn expand(model: &Model, regions: &[Region]) -> Result<Expanded, SplitError> {
    expand_modes(model, regions, &vec![Mode::Split; regions.len()])
}

/// Writes out splits as `modes` says for each region. Regions that stay serial need not be well-formed.
pub fn expand_modes(model: &Model, regions: &[Region], modes: &[Mode]) -> Result<Expanded, SplitError> {
    if modes.len() != regions.len() {
        return Err(SplitError::Count { given: modes.len(), regions: regions.len() });
    }
    let kept: Vec<usize> = (0..regions.len()).filter(|&r| modes[r] != Mode::Serial).collect();
    let some: Vec<Region> = kept.iter().map(|&r| regions[r].clone()).collect();
    let tree = Tree::new(model, &some)?;
    let mut build = Build {
        tree: &tree,
        kept: &kept,
        modes,
        out: Expanded {
            model: Model::default(),
            node_origin: Vec::new(),
            edge_origin: Vec::new(),
            side: Vec::new(),
            notes: Vec::new(),
        },
        local: Vec::new(),
        copies: 0,
        todo: Vec::new(),
        flattened: vec![false; regions.len()],
    };
    build.whole()?;
    while let Some(job) = build.todo.pop() {
        build.region(job)?;
    }
    for (&r, _) in kept.iter().zip(&some).filter(|&(&r, _)| build.flattened[r]) {
        let branch = &model.graph.nodes[regions[r].branch].name;
        let note = format!(
            "region of `{branch}` may find no context and is nested {MAYBE_DEPTH} deep in others like it: both sides and the costs of splitting are added up"
        );
        build.out.notes.push(note);
    }
    let mut out = build.out;
    bounds(model, &mut out)?;
    // Where nobody splits, every way is one of the whole wave.
    let splits = kept.iter().any(|&r| modes[r] != Mode::Homogeneous);
    facts(model, &mut out, splits);
    Ok(out)
}

/// A region to be written between two nodes that exist.
struct Job {
    level: usize,
    branch: NodeId,
    join: NodeId,
    /// Costs of merging the regions around that have the same join.
    merge: u64,
    /// Regions around that exist three times.
    maybes: u32,
}

struct Build<'a> {
    tree: &'a Tree<'a>,
    /// Number of each of the tree's regions in the caller's list.
    kept: &'a [usize],
    modes: &'a [Mode],
    out: Expanded,
    /// Scratch: new number of each node of a level.
    local: Vec<NodeId>,
    copies: usize,
    todo: Vec<Job>,
    flattened: Vec<bool>,
}

/// What one copy of a level adds to the edges at its ends.
#[derive(Clone, Copy)]
struct Ends {
    split: u64,
    merge: u64,
    maybes: u32,
}

impl Build<'_> {
    fn whole(&mut self) -> Result<(), SplitError> {
        let tree = self.tree;
        let level = &tree.levels[tree.root()];
        let on = self.on_way(level, Way::Serial)?;
        self.nodes(level, &on, None, Side::Whole)?;
        self.out.model.graph.entry = self.local[level.entry];
        self.out.model.graph.exit = self.local[level.exit];
        self.links(level, Way::Serial, &on, Ends { split: 0, merge: 0, maybes: 0 })
    }

    fn region(&mut self, job: Job) -> Result<(), SplitError> {
        let tree = self.tree;
        let level = &tree.levels[job.level];
        let Some(index) = level.region else { return Ok(()) };
        let region = &tree.regions[index];
        let r = self.kept[index];
        let costs = region.split_cost.checked_add(region.merge_cost).ok_or(SplitError::TooLong)?;
        let merge = job.merge.checked_add(region.merge_cost).ok_or(SplitError::TooLong)?;
        let split = Ends { split: region.split_cost, merge, maybes: job.maybes };
        let serial = Ends { split: 0, merge: job.merge, maybes: job.maybes };
        let mut copies = Vec::new();
        match self.modes[r] {
            // The ways of either side are among those of both: without costs they add nothing.
            Mode::Serial => copies.push((Way::Serial, serial)),
            Mode::Maybe if costs == 0 => copies.push((Way::Serial, serial)),
            Mode::Maybe if job.maybes >= MAYBE_DEPTH => {
                self.flattened[r] = true;
                copies.push((Way::Serial, split));
            }
            Mode::Split => copies.extend([(Way::First, split), (Way::Second, split)]),
            Mode::Homogeneous => copies.extend([(Way::First, serial), (Way::Second, serial)]),
            Mode::Maybe => {
                let maybes = job.maybes + 1;
                let deeper = |ends| Ends { maybes, ..ends };
                let ways = [(Way::First, split), (Way::Second, split), (Way::Serial, serial)];
                copies.extend(ways.map(|(way, ends)| (way, deeper(ends))));
            }
        }
        // A way past a side may be missing because the way through it bounds it: then only both in sequence do.
        let feasible = |way: Way| level.on_way(way)[level.entry];
        let missing = !copies.iter().all(|&(way, _)| feasible(way));
        match self.modes[r] {
            Mode::Split if missing => copies = vec![(Way::Serial, split)],
            Mode::Homogeneous if missing => copies = vec![(Way::Serial, serial)],
            Mode::Serial | Mode::Split | Mode::Homogeneous | Mode::Maybe => {
                copies.retain(|&(way, _)| feasible(way));
            }
        }
        for (way, ends) in copies {
            let on = self.on_way(level, way)?;
            let side = match way {
                Way::First => Side::First(r),
                Way::Second => Side::Second(r),
                Way::Serial => Side::Serial(r),
            };
            self.nodes(level, &on, Some((job.branch, job.join)), side)?;
            self.links(level, way, &on, ends)?;
        }
        Ok(())
    }

    fn on_way(&self, level: &Level, way: Way) -> Result<Vec<bool>, SplitError> {
        let on = level.on_way(way);
        if on[level.entry] { Ok(on) } else { Err(self.tree.no_way(level, way)) }
    }

    /// Makes copies of a level's nodes, except branch and join of a region, which exist.
    fn nodes(
        &mut self,
        level: &Level,
        on: &[bool],
        ends: Option<(NodeId, NodeId)>,
        side: Side,
    ) -> Result<(), SplitError> {
        let letter = match side {
            Side::Whole => None,
            Side::First(_) => Some('a'),
            Side::Second(_) => Some('b'),
            Side::Serial(_) => Some('s'),
        };
        self.copies += 1;
        self.local.clear();
        for (i, &v) in level.nodes.iter().enumerate() {
            let id = match (i, ends) {
                (0, Some((branch, _))) => branch,
                (1, Some((_, join))) => join,
                _ if !on[i] => usize::MAX,
                _ => {
                    let node = &self.tree.model.graph.nodes[v];
                    let name = match letter {
                        None => node.name.clone(),
                        Some(letter) => format!("{}.{letter}{}", node.name, self.copies - 1),
                    };
                    self.out.node_origin.push(v);
                    self.out.side.push(side);
                    self.out.model.graph.node(name, node.cost)
                }
            };
            self.local.push(id);
        }
        if self.out.node_origin.len() > MOST_NODES {
            return Err(SplitError::TooLarge { limit: MOST_NODES });
        }
        Ok(())
    }

    fn links(&mut self, level: &Level, way: Way, on: &[bool], ends: Ends) -> Result<(), SplitError> {
        let is_region = level.region.is_some();
        for link in level.links.iter().filter(|l| l.on(way) && on[l.from] && on[l.to]) {
            let (from, to) = (self.local[link.from], self.local[link.to]);
            let leaves = is_region && link.from == level.entry;
            let enters = is_region && link.to == level.exit;
            let merge = if enters { ends.merge } else { 0 };
            match link.kind {
                LinkKind::Edge(e) => {
                    let cost = self.tree.model.graph.edges[e].cost;
                    let split = if leaves { ends.split } else { 0 };
                    let cost = cost.checked_add(split).and_then(|c| c.checked_add(merge));
                    self.out.model.graph.edge(from, to, cost.ok_or(SplitError::TooLong)?);
                    self.out.edge_origin.push(e);
                }
                LinkKind::Child(c) => {
                    self.todo.push(Job { level: c, branch: from, join: to, merge, maybes: ends.maybes });
                }
            }
        }
        Ok(())
    }
}

/// Bounds of the headers that still head a loop: those an edge leads back to.
fn bounds(model: &Model, out: &mut Expanded) -> Result<(), SplitError> {
    let shape = shape_of(model)?;
    let mut max = vec![None; model.graph.nodes.len()];
    for bound in &model.bounds {
        max[bound.header] = Some(bound.max);
        if !shape.heads_loop(bound.header) {
            let name = &model.graph.nodes[bound.header].name;
            out.notes
                .push(format!("the bound of `{name}` is not used: it heads no loop that can be reached"));
        }
    }
    let mut looped = vec![false; out.node_origin.len()];
    for (edge, &origin) in out.model.graph.edges.iter().zip(&out.edge_origin) {
        looped[edge.to] |= shape.is_back(origin);
    }
    for (header, &origin) in out.node_origin.iter().enumerate() {
        if let Some(max) = max[origin].filter(|_| looped[header]) {
            out.model.bounds.push(LoopBound { header, max });
        }
    }
    Ok(())
}

/// A chain through the paths of a wave passes everything at most as often as the wave would without splitting, so facts
/// that only limit from above still hold, as sums over the copies. Others need not: what the wave does elsewhere may be what
/// makes them true.
fn facts(model: &Model, out: &mut Expanded, splits: bool) {
    if model.facts.is_empty() {
        return;
    }
    let mut nodes = vec![Vec::new(); model.graph.nodes.len()];
    let mut edges = vec![Vec::new(); model.graph.edges.len()];
    for (v, &origin) in out.node_origin.iter().enumerate() {
        nodes[origin].push(v);
    }
    for (e, &origin) in out.edge_origin.iter().enumerate() {
        edges[origin].push(e);
    }
    for fact in &model.facts {
        if splits && fact.terms.iter().any(|t| t.0 < 0) {
            let note = format!(
                "fact `{}` has negative factors and is not used: a path of a split wave need not keep it",
                fact.name
            );
            out.notes.push(note);
            continue;
        }
        let mut terms = Vec::new();
        for &(factor, count) in &fact.terms {
            match count {
                Count::Node(v) => {
                    terms.extend(nodes.get(v).into_iter().flatten().map(|&v| (factor, Count::Node(v))))
                }
                Count::Edge(e) => {
                    terms.extend(edges.get(e).into_iter().flatten().map(|&e| (factor, Count::Edge(e))))
                }
            }
        }
        out.model.facts.push(Fact { name: fact.name.clone(), terms, limit: fact.limit });
    }
}
