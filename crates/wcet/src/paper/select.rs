//! The flow graph of PWS 4.2 – blocks in topological order, branches, branch serialisation blocks (BSB) – with Reconv, SuccBB,
//! BSB and Parent (definition 4.1), and algorithm 1, Select. A second Select works on regions, for graphs with loops.

use super::PaperError;
use crate::graph::{Graph, Model, Region};
use crate::split::tree::On;
use crate::split::{SplitError, Tree, name, shape_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// A divergent branch: to a block of the first side, or to its serialisation block.
    Branch,
    /// Inverts the mask: to a block of the second side, or to where lanes reconverge.
    Serialise,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Worst case of the block, e_bb.
    pub time: u64,
    pub kind: Kind,
    pub successors: Vec<usize>,
}

/// Blocks 1 … |V|, as the paper numbers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    blocks: Vec<Block>,
    /// Next block on every way to the end, for each block; |V| + 1 behind the last.
    post: Vec<usize>,
}

impl Cfg {
    /// Block u is `blocks[u - 1]`. Successors come later in the list, every block leads to the last one.
    pub fn new(blocks: Vec<Block>) -> Result<Cfg, PaperError> {
        let end = blocks.len() + 1;
        let mut post = vec![end; end + 1];
        for u in (1..end).rev() {
            let block = &blocks[u - 1];
            let wrong = |what| Err(PaperError::Shape { block: u, what });
            if block.successors.iter().any(|&v| v <= u || v >= end) {
                return wrong("a successor does not come later in the list");
            }
            let serialise =
                block.successors.iter().filter(|&&v| blocks[v - 1].kind == Kind::Serialise).count();
            match block.kind {
                Kind::Plain if block.successors.is_empty() && u + 1 < end => {
                    return wrong("it leads nowhere");
                }
                Kind::Plain if block.successors.len() > 1 => {
                    return wrong("it branches without being a branch");
                }
                Kind::Branch if block.successors.len() != 2 || serialise != 1 => {
                    return wrong("a branch leads to one block and one serialisation block");
                }
                Kind::Serialise if block.successors.len() != 2 => {
                    return wrong("a serialisation block has two successors");
                }
                _ => {}
            }
            // Nearest common block of the successors' chains: chains only go forward.
            let mut common = block.successors.first().copied().unwrap_or(end);
            for &v in &block.successors {
                let mut v = v;
                while v != common {
                    if v < common {
                        v = post[v];
                    } else {
                        common = post[common];
                    }
                }
            }
            post[u] = common;
        }
        Ok(Cfg { blocks, post })
    }

    /// |V|.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn block(&self, u: usize) -> &Block {
        &self.blocks[u - 1]
    }

    pub fn is(&self, u: usize, kind: Kind) -> bool {
        self.blocks[u - 1].kind == kind
    }

    /// The serialisation block among the successors; |V| + 1 if there is none.
    pub fn bsb(&self, u: usize) -> usize {
        let found = self.block(u).successors.iter().find(|&&v| self.is(v, Kind::Serialise));
        found.copied().unwrap_or(self.len() + 1)
    }

    /// Where the sides of a branch, or of the branch of a serialisation block, come together.
    pub fn reconv(&self, u: usize) -> usize {
        if self.is(u, Kind::Branch) { self.post[self.bsb(u)] } else { self.post[u] }
    }

    /// The successor that is neither serialisation block nor reconvergence point. Blocks that do not branch have one
    /// successor, and the algorithms mean that one; behind the last block comes |V| + 1.
    pub fn succ_bb(&self, u: usize) -> usize {
        let block = self.block(u);
        let mut found = block.successors.iter().copied();
        let found = match block.kind {
            Kind::Plain => found.next(),
            Kind::Branch => found.find(|&v| v != self.bsb(u)),
            Kind::Serialise => found.find(|&v| v != self.reconv(u)),
        };
        found.unwrap_or(self.len() + 1)
    }

    /// Definition 4.1: v with v < u < Reconv(v). Several blocks may do; the text's values are those of the innermost,
    /// which is the last. 0 = none.
    pub fn parent(&self, u: usize) -> usize {
        let around = |&v: &usize| !self.is(v, Kind::Plain) && u < self.reconv(v);
        (1..u.min(self.len() + 1)).rev().find(around).unwrap_or(0)
    }

    /// The same graph as a model, and a region for each branch.
    pub fn to_model(&self, split_cost: u64, merge_cost: u64) -> (Model, Vec<Region>) {
        let mut graph = Graph::default();
        for u in 1..=self.len() {
            graph.node(u.to_string(), self.block(u).time);
        }
        graph.exit = self.len().saturating_sub(1);
        for u in 1..=self.len() {
            for &v in &self.block(u).successors {
                graph.edge(u - 1, v - 1, 0);
            }
        }
        let edge = |from: usize, to: usize| {
            graph.edges.iter().position(|e| (e.from + 1, e.to + 1) == (from, to)).into_iter().collect()
        };
        let branches = (1..=self.len()).filter(|&u| self.is(u, Kind::Branch));
        let regions = branches
            .map(|u| Region {
                branch: u - 1,
                join: self.reconv(u) - 1,
                first: edge(u, self.succ_bb(u)),
                second: edge(self.bsb(u), self.succ_bb(self.bsb(u))),
                split_cost,
                merge_cost,
            })
            .collect();
        (Model { graph, bounds: Vec::new(), facts: Vec::new() }, regions)
    }

    /// A model without loops, uniform branches and times on edges, all of whose branches are two-sided regions, in the
    /// paper's form; and the node behind each block.
    pub fn from_model(model: &Model, regions: &[Region]) -> Result<(Cfg, Vec<usize>), PaperError> {
        let shape = shape_of(model)?;
        let order = shape.order();
        let graph = &model.graph;
        let wrong = |v: usize, what| Err(PaperError::Node { node: name(model, v), what });
        let mut number = vec![0; graph.nodes.len()];
        let mut kinds = vec![Kind::Plain; graph.nodes.len()];
        for (i, &v) in order.iter().enumerate() {
            number[v] = i + 1;
            if shape.heads_loop(v) {
                return wrong(v, "it heads a loop, which the paper's compiler unrolls");
            }
        }
        crate::split::check_regions(model, regions)?;
        for region in regions {
            kinds[region.branch] = Kind::Branch;
            let [second] = region.second[..] else {
                return wrong(region.branch, "its region has no second side, or several ways into it");
            };
            kinds[graph.edges[second].from] = Kind::Serialise;
        }
        let out = graph.outgoing();
        let mut blocks = Vec::new();
        for &v in &order {
            if let Some(&e) = out[v].iter().find(|&&e| graph.edges[e].cost != 0) {
                return wrong(graph.edges[e].from, "an edge out of it takes time");
            }
            let successors = out[v].iter().map(|&e| number[graph.edges[e].to]).collect();
            blocks.push(Block { time: graph.nodes[v].cost, kind: kinds[v], successors });
        }
        Ok((Cfg::new(blocks)?, order))
    }
}

/// Algorithm 1: which of the marked branches split, S contexts given.
pub fn select(cfg: &Cfg, marked: &[usize], slots: u64) -> Result<Vec<usize>, PaperError> {
    let mut marked = marked.to_vec();
    marked.sort_unstable();
    marked.dedup();
    let mut allocated = 0;
    let mut selected: Vec<usize> = Vec::new();
    for u in marked {
        if u == 0 || u > cfg.len() || !cfg.is(u, Kind::Branch) {
            return Err(PaperError::NoBranch { block: u });
        }
        if selected.iter().any(|&v| cfg.parent(u) == cfg.parent(v)) {
            selected.push(u);
        } else if allocated < slots {
            selected.push(u);
            allocated += 1;
        }
    }
    Ok(selected)
}

/// Algorithm 1 on regions. Two regions have the same Parent if they are on the same side of the same region.
/// `regions` are all divergent regions, marked or not.
pub fn select_regions(tree: &Tree<'_>, marked: &[bool], slots: u64) -> Result<Vec<usize>, SplitError> {
    if marked.len() != tree.regions.len() {
        return Err(SplitError::Count { given: marked.len(), regions: tree.regions.len() });
    }
    let mut place = vec![0; tree.model.graph.nodes.len()];
    for (i, v) in shape_of(tree.model)?.order().into_iter().enumerate() {
        place[v] = i;
    }
    let live = |r: &usize| marked[*r] && tree.level_of[*r].is_some();
    let mut order: Vec<usize> = (0..marked.len()).filter(live).collect();
    order.sort_by_key(|&r| place[tree.regions[r].branch]);
    let sides = tree.sides();
    let parent = |r: usize| {
        let level = tree.level_of[r]?;
        // Behind the serialisation block, that is the parent.
        let second = matches!(sides[level], On::Second | On::Both);
        tree.levels[level].parent.map(|p| (p, second))
    };
    let mut parents = std::collections::BTreeSet::new();
    let mut selected = Vec::new();
    for r in order {
        if parents.contains(&parent(r)) {
            selected.push(r);
        } else if (parents.len() as u64) < slots {
            parents.insert(parent(r));
            selected.push(r);
        }
    }
    Ok(selected)
}
