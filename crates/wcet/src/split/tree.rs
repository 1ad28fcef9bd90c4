//! Regions as a tree, each level a small flow graph in which the regions inside are single links from branch to join
//! (region tree of the specification, THESIS figure 5.4). Built in one walk, without recursion: nesting may be deep.

use super::longest::{Measure, Overflow, Shape};
use super::{SplitError, check_indices, check_regions, name};
use crate::graph::{EdgeId, Model, NodeId, Region};

/// Which ways through a region count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Both sides one after the other: the wave does not split.
    Serial,
    /// Without the edges into the second side (THESIS figure 5.4 b).
    First,
    /// Without the edges into the first side (THESIS figure 5.4 c).
    Second,
}

/// On which sides of the region around it a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    First,
    Second,
    /// In code that both sides run.
    Both,
    /// Not in a region, or where no path of a split wave comes.
    Neither,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkKind {
    Edge(EdgeId),
    /// All ways through the region of that level.
    Child(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub kind: LinkKind,
    /// Numbers in `Level::nodes`.
    pub from: usize,
    pub to: usize,
    pub in_first: bool,
    pub in_second: bool,
}

impl Link {
    pub fn on(&self, way: Way) -> bool {
        match way {
            Way::Serial => true,
            Way::First => !self.in_second,
            Way::Second => !self.in_first,
        }
    }
}

/// What lies directly inside a region (or directly in the graph), regions inside collapsed.
pub(crate) struct Level {
    /// `None` = the whole graph.
    pub region: Option<usize>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Of a region: its branch, its join, then what is strictly between.
    pub nodes: Vec<NodeId>,
    pub links: Vec<Link>,
    pub entry: usize,
    pub exit: usize,
    shape: Shape,
}

impl Level {
    /// The largest weight of a way from branch to join. Branch and join themselves weigh nothing, in the whole graph
    /// entry and exit do. `None` = there is no such way.
    pub fn longest<M: Measure>(
        &self,
        way: Way,
        node: impl Fn(NodeId) -> u64,
        link: impl Fn(LinkKind) -> u64,
    ) -> Result<Option<u64>, Overflow> {
        let ends = if self.region.is_some() { 2 } else { 0 };
        self.shape.longest::<M>(
            |v| if v < ends { M::UNIT } else { node(self.nodes[v]) },
            |l| self.links[l].on(way).then(|| link(self.links[l].kind)),
        )
    }

    /// Which nodes lie on a way from branch to join.
    pub fn on_way(&self, way: Way) -> Vec<bool> {
        let reach = |start: usize, ends: &dyn Fn(&Link) -> (usize, usize)| {
            let mut next = vec![Vec::new(); self.nodes.len()];
            for link in self.links.iter().filter(|l| l.on(way)) {
                let (from, to) = ends(link);
                next[from].push(to);
            }
            flood(&next, start)
        };
        let down = reach(self.entry, &|l| (l.from, l.to));
        let up = reach(self.exit, &|l| (l.to, l.from));
        down.iter().zip(&up).map(|(&d, &u)| d && u).collect()
    }
}

fn flood(next: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    seen[start] = true;
    let mut todo = vec![start];
    while let Some(v) = todo.pop() {
        for &to in &next[v] {
            if !std::mem::replace(&mut seen[to], true) {
                todo.push(to);
            }
        }
    }
    seen
}

/// The regions of a model. Regions that cannot be reached have no level.
pub struct Tree<'a> {
    pub(crate) model: &'a Model,
    pub(crate) regions: &'a [Region],
    /// Inner regions before outer ones, the whole graph last.
    pub(crate) levels: Vec<Level>,
    pub(crate) level_of: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    pub fn new(model: &'a Model, regions: &'a [Region]) -> Result<Tree<'a>, SplitError> {
        check_indices(model)?;
        check_regions(model, regions)?;
        let mut walk = Walk::new(model, regions)?;
        for (r, region) in regions.iter().enumerate() {
            if walk.live[region.branch] && walk.found[r].is_none() {
                walk.region(r)?;
            }
        }
        walk.whole()?;
        let Walk { found, parent, finished, live, .. } = walk;
        build(model, regions, found, parent, finished, &live)
    }

    pub(crate) fn root(&self) -> usize {
        self.levels.len() - 1
    }

    /// The region directly around a region.
    pub fn parent(&self, region: usize) -> Option<usize> {
        let level = self.level_of.get(region).copied().flatten()?;
        self.levels[level].parent.and_then(|p| self.levels[p].region)
    }

    /// For each level, where it is in the region around it.
    pub(crate) fn sides(&self) -> Vec<On> {
        let mut on = vec![On::Neither; self.levels.len()];
        for level in self.levels.iter().filter(|l| l.region.is_some() && !l.children.is_empty()) {
            let (first, second) = (level.on_way(Way::First), level.on_way(Way::Second));
            for link in &level.links {
                let LinkKind::Child(c) = link.kind else { continue };
                on[c] = match (first[link.from], second[link.from]) {
                    (true, true) => On::Both,
                    (true, false) => On::First,
                    (false, true) => On::Second,
                    (false, false) => On::Neither,
                };
            }
        }
        on
    }

    /// Cycles of the longest way through a level with the regions inside at `child`.
    pub(crate) fn cycles(
        &self,
        level: usize,
        way: Way,
        child: impl Fn(usize) -> u64,
    ) -> Result<u64, SplitError> {
        let graph = &self.model.graph;
        let link = |kind| match kind {
            LinkKind::Edge(e) => graph.edges[e].cost,
            LinkKind::Child(c) => child(c),
        };
        self.longest::<super::Sum>(level, way, |v| graph.nodes[v].cost, link)
    }

    pub(crate) fn longest<M: Measure>(
        &self,
        level: usize,
        way: Way,
        node: impl Fn(NodeId) -> u64,
        link: impl Fn(LinkKind) -> u64,
    ) -> Result<u64, SplitError> {
        let level = &self.levels[level];
        let found = level.longest::<M>(way, node, link).map_err(|Overflow| SplitError::TooLong)?;
        found.ok_or_else(|| self.no_way(level, way))
    }

    pub(crate) fn no_way(&self, level: &Level, way: Way) -> SplitError {
        let (from, to) = (level.nodes[level.entry], level.nodes[level.exit]);
        let (from, to) = (name(self.model, from), name(self.model, to));
        match way {
            Way::Serial => SplitError::NoWay { from, to },
            Way::First => SplitError::NoSide { branch: from, join: to, side: "first" },
            Way::Second => SplitError::NoSide { branch: from, join: to, side: "second" },
        }
    }
}

/// The walk that finds what is directly inside each region. Every node belongs to one region or to none; a node that
/// is met from two of them shows that they overlap.
struct Walk<'a> {
    model: &'a Model,
    regions: &'a [Region],
    out: Vec<Vec<EdgeId>>,
    /// On some way from entry to exit: the rest is not looked at.
    live: Vec<bool>,
    branch_of: Vec<Option<usize>>,
    /// The region a node is directly inside of; `regions.len()` = the whole graph.
    owner: Vec<Option<usize>>,
    /// Nodes directly inside, once known.
    found: Vec<Option<Vec<NodeId>>>,
    parent: Vec<Option<usize>>,
    /// Regions in the order in which they were finished: inner ones first.
    finished: Vec<usize>,
    /// Regions the walk is in or has been in.
    active: Vec<bool>,
}

struct Frame {
    region: usize,
    todo: Vec<NodeId>,
    inside: Vec<NodeId>,
}

impl<'a> Walk<'a> {
    fn new(model: &'a Model, regions: &'a [Region]) -> Result<Walk<'a>, SplitError> {
        let graph = &model.graph;
        let n = graph.nodes.len();
        let out = graph.outgoing();
        let forth: Vec<Vec<usize>> =
            out.iter().map(|es| es.iter().map(|&e| graph.edges[e].to).collect()).collect();
        let back: Vec<Vec<usize>> =
            graph.incoming().iter().map(|es| es.iter().map(|&e| graph.edges[e].from).collect()).collect();
        let (down, up) = (flood(&forth, graph.entry), flood(&back, graph.exit));
        let live: Vec<bool> = down.iter().zip(&up).map(|(&d, &u)| d && u).collect();
        if !live[graph.entry] {
            let (from, to) = (name(model, graph.entry), name(model, graph.exit));
            return Err(SplitError::NoWay { from, to });
        }
        let mut branch_of = vec![None; n];
        for (r, region) in regions.iter().enumerate() {
            if !live[region.branch] {
                continue;
            }
            if branch_of[region.branch].replace(r).is_some() {
                return Err(SplitError::SameBranch { branch: name(model, region.branch) });
            }
        }
        let count = regions.len();
        Ok(Walk {
            model,
            regions,
            out,
            live,
            branch_of,
            owner: vec![None; n],
            found: vec![None; count],
            parent: vec![None; count],
            finished: Vec::new(),
            active: vec![false; count],
        })
    }

    fn next(&self, v: NodeId) -> Vec<NodeId> {
        let edges = &self.model.graph.edges;
        self.out[v].iter().map(|&e| edges[e].to).filter(|&to| self.live[to]).collect()
    }

    fn leaves(&self, region: usize, node: NodeId) -> SplitError {
        let Region { branch, join, .. } = self.regions[region];
        let of = |v| name(self.model, v);
        SplitError::Leaves { branch: of(branch), join: of(join), node: of(node) }
    }

    fn overlap(&self, node: NodeId, a: usize, b: usize) -> SplitError {
        let node = name(self.model, node);
        match (self.regions.get(a), self.regions.get(b)) {
            (Some(a), Some(b)) => {
                let (first, second) = (name(self.model, a.branch), name(self.model, b.branch));
                SplitError::Overlap { node, first, second }
            }
            (Some(r), None) | (None, Some(r)) => {
                SplitError::Entered { node, branch: name(self.model, r.branch) }
            }
            (None, None) => SplitError::Entered { node: node.clone(), branch: node },
        }
    }

    /// Finds what is inside a region, and before that inside the regions met in it.
    fn region(&mut self, first: usize) -> Result<(), SplitError> {
        self.active[first] = true;
        let mut stack = vec![self.enter(first)?];
        while let Some(mut frame) = stack.pop() {
            let r = frame.region;
            let Region { branch, join, .. } = self.regions[r];
            let Some(v) = frame.todo.pop() else {
                self.found[r] = Some(frame.inside);
                self.finished.push(r);
                continue;
            };
            if v == join {
                stack.push(frame);
                continue;
            }
            if v == branch || v == self.model.graph.exit {
                return Err(self.leaves(r, v));
            }
            match self.branch_of[v] {
                Some(c) if self.found[c].is_none() => {
                    if std::mem::replace(&mut self.active[c], true) {
                        return Err(self.overlap(v, r, c));
                    }
                    frame.todo.push(v);
                    stack.push(frame);
                    stack.push(self.enter(c)?);
                    continue;
                }
                _ => self.take(v, r, &mut frame.todo, &mut frame.inside)?,
            }
            stack.push(frame);
        }
        Ok(())
    }

    fn enter(&self, r: usize) -> Result<Frame, SplitError> {
        let Region { branch, join, .. } = self.regions[r];
        if branch == join || !self.live[join] {
            return Err(self.leaves(r, branch));
        }
        Ok(Frame { region: r, todo: self.next(branch), inside: Vec::new() })
    }

    /// Node `v` is directly inside `r`; goes on behind it.
    fn take(
        &mut self,
        v: NodeId,
        r: usize,
        todo: &mut Vec<NodeId>,
        inside: &mut Vec<NodeId>,
    ) -> Result<(), SplitError> {
        match self.owner[v] {
            Some(o) if o == r => return Ok(()),
            Some(o) => return Err(self.overlap(v, o, r)),
            None => {}
        }
        self.owner[v] = Some(r);
        inside.push(v);
        match self.branch_of[v] {
            Some(c) => {
                self.parent[c] = Some(r);
                todo.push(self.regions[c].join);
            }
            None => todo.extend(self.next(v)),
        }
        Ok(())
    }

    /// The rest of the graph.
    fn whole(&mut self) -> Result<(), SplitError> {
        let mut todo = vec![self.model.graph.entry];
        let mut inside = Vec::new();
        while let Some(v) = todo.pop() {
            self.take(v, self.regions.len(), &mut todo, &mut inside)?;
        }
        self.found.push(Some(inside));
        self.finished.push(self.regions.len());
        Ok(())
    }
}

fn build<'a>(
    model: &'a Model,
    regions: &'a [Region],
    mut found: Vec<Option<Vec<NodeId>>>,
    parent: Vec<Option<usize>>,
    finished: Vec<usize>,
    live: &[bool],
) -> Result<Tree<'a>, SplitError> {
    let graph = &model.graph;
    let out = graph.outgoing();
    let mut max = vec![None; graph.nodes.len()];
    for bound in &model.bounds {
        max[bound.header] = Some(bound.max);
    }
    let mut level_of = vec![None; regions.len() + 1];
    for (l, &r) in finished.iter().enumerate() {
        level_of[r] = Some(l);
    }
    let mut branch_of = vec![None; graph.nodes.len()];
    for (r, region) in regions.iter().enumerate() {
        if level_of[r].is_some() {
            branch_of[region.branch] = Some(r);
        }
    }
    let mut local = vec![usize::MAX; graph.nodes.len()];
    let mut levels: Vec<Level> = Vec::new();
    for &r in &finished {
        let mut inside = found[r].take().unwrap_or_default();
        inside.sort_unstable();
        let region = regions.get(r);
        let mut nodes: Vec<NodeId> = region.map_or(Vec::new(), |r| vec![r.branch, r.join]);
        nodes.extend(inside);
        for (i, &v) in nodes.iter().enumerate() {
            local[v] = i;
        }
        let mut links = Vec::new();
        let mut children = Vec::new();
        for (i, &v) in nodes.iter().enumerate() {
            if region.is_some() && i == 1 {
                continue;
            }
            let inner = branch_of[v].filter(|_| region.is_none() || i > 0);
            if let Some(c) = inner.and_then(|c: usize| level_of[c]) {
                let join = levels[c].nodes[1];
                let kind = LinkKind::Child(c);
                links.push(Link { kind, from: i, to: local[join], in_first: false, in_second: false });
                children.push(c);
                continue;
            }
            for &e in out[v].iter().filter(|&&e| live[graph.edges[e].to]) {
                let to = local[graph.edges[e].to];
                let kind = LinkKind::Edge(e);
                links.push(Link { kind, from: i, to, in_first: false, in_second: false });
            }
        }
        links.sort_by_key(|l| match l.kind {
            LinkKind::Edge(e) => (0, e),
            LinkKind::Child(c) => (1, c),
        });
        if let Some(region) = region {
            mark_sides(model, region, &mut links, live)?;
        }
        let (entry, exit) = if region.is_some() { (0, 1) } else { (local[graph.entry], local[graph.exit]) };
        let ends = links.iter().map(|l| (l.from, l.to)).collect();
        let shape = Shape::new(nodes.len(), ends, entry, exit, |h| max[nodes[h]])
            .map_err(|t| SplitError::of_shape(t, |v| name(model, nodes[v])))?;
        let around = parent.get(r).copied().flatten().unwrap_or(regions.len());
        let parent = region.and(level_of[around]);
        let region = region.map(|_| r);
        levels.push(Level { region, parent, children, nodes, links, entry, exit, shape });
    }
    level_of.pop();
    Ok(Tree { model, regions, levels, level_of })
}

/// Notes which links (edges in order, then regions) are the region's `first` and `second` edges. All of them must start directly in the region.
fn mark_sides(model: &Model, region: &Region, links: &mut [Link], live: &[bool]) -> Result<(), SplitError> {
    let graph = &model.graph;
    let mut edges: Vec<(EdgeId, bool)> = region.first.iter().map(|&e| (e, true)).collect();
    edges.extend(region.second.iter().map(|&e| (e, false)));
    edges.retain(|&(e, _)| live[graph.edges[e].from] && live[graph.edges[e].to]);
    for (e, first) in edges {
        let key = |l: &Link| match l.kind {
            LinkKind::Edge(e) => e,
            LinkKind::Child(_) => usize::MAX,
        };
        let Ok(i) = links.binary_search_by_key(&e, key) else {
            let (from, to) = (name(model, graph.edges[e].from), name(model, graph.edges[e].to));
            return Err(SplitError::Side { branch: name(model, region.branch), from, to });
        };
        let link = &mut links[i];
        if first {
            link.in_first = true;
        } else {
            link.in_second = true;
        }
    }
    Ok(())
}
