//! Random programs for the tests of splitting: built as a flow graph with regions and, at the same time, as a tree of costs
//! that knows nothing of graphs, so that the two can be compared.

use wb_wcet::{EdgeId, Graph, LoopBound, Model, NodeId, Region};

/// A splitmix generator: the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What a piece of program costs, depending on which regions split.
pub enum Cost {
    Fixed(u64),
    Seq(Vec<Cost>),
    /// A uniform branch: one of them runs.
    Either(Vec<Cost>),
    /// `max` rounds of all parts, then the first `k` parts and the way out, for one of the `exits` (k, cost).
    Loop {
        enter: u64,
        max: u64,
        parts: Vec<Cost>,
        exits: Vec<(usize, u64)>,
    },
    Divergent {
        region: usize,
        before: u64,
        first: Box<Cost>,
        skip_first: u64,
        /// Serialisation block, second side, edge that skips it.
        second: Option<(u64, Box<Cost>, u64)>,
        after: u64,
        costs: u64,
    },
}

impl Cost {
    /// The worst case when the regions in `set` split.
    pub fn cycles(&self, set: &dyn Fn(usize) -> bool) -> u64 {
        match self {
            Cost::Fixed(n) => *n,
            Cost::Seq(parts) => parts.iter().map(|p| p.cycles(set)).sum(),
            Cost::Either(parts) => parts.iter().map(|p| p.cycles(set)).max().unwrap_or(0),
            Cost::Loop { enter, max, parts, exits } => {
                let parts: Vec<u64> = parts.iter().map(|p| p.cycles(set)).collect();
                let out = exits.iter().map(|&(k, cost)| parts[..k].iter().sum::<u64>() + cost).max();
                enter + max * parts.iter().sum::<u64>() + out.unwrap_or(0)
            }
            Cost::Divergent { region, before, first, skip_first, second, after, costs } => {
                let one = first.cycles(set).max(*skip_first);
                let (block, two, skip) = match second {
                    Some((block, second, skip)) => (*block, second.cycles(set).max(*skip), *skip),
                    None => (0, 0, 0),
                };
                let inside = if set(*region) {
                    let a = one + block + skip;
                    let b = skip_first + block + two;
                    a.max(b) + costs
                } else {
                    one + block + two
                };
                before + inside + after
            }
        }
    }

    /// Contexts that let all regions in `set` split.
    pub fn need(&self, set: &dyn Fn(usize) -> bool) -> u64 {
        match self {
            Cost::Fixed(_) => 0,
            Cost::Seq(parts) | Cost::Either(parts) | Cost::Loop { parts, .. } => {
                parts.iter().map(|p| p.need(set)).max().unwrap_or(0)
            }
            Cost::Divergent { region, first, second, .. } => {
                let (a, b) = (first.need(set), second.as_ref().map_or(0, |s| s.1.need(set)));
                if set(*region) { 1 + a + b } else { a.max(b) }
            }
        }
    }

    /// Paths at the end when nothing merges.
    pub fn paths(&self, set: &dyn Fn(usize) -> bool) -> u64 {
        let product = |parts: &[Cost]| parts.iter().fold(1u64, |n, p| n.saturating_mul(p.paths(set)));
        match self {
            Cost::Fixed(_) => 1,
            Cost::Seq(parts) => product(parts),
            Cost::Either(parts) => parts.iter().map(|p| p.paths(set)).max().unwrap_or(1),
            Cost::Loop { max, parts, exits, .. } => {
                let mut rounds = 1u64;
                for _ in 0..*max {
                    rounds = rounds.saturating_mul(product(parts));
                }
                let out = exits.iter().map(|&(k, _)| product(&parts[..k])).max().unwrap_or(1);
                rounds.saturating_mul(out)
            }
            Cost::Divergent { region, first, second, .. } => {
                let (a, b) = (first.paths(set), second.as_ref().map_or(1, |s| s.1.paths(set)));
                if set(*region) { a.saturating_add(b) } else { a.saturating_mul(b) }
            }
        }
    }

    /// Moments of an execution: (contexts held by others, region about to be entered if any).
    pub fn moments(&self, set: &dyn Fn(usize) -> bool) -> Vec<(u64, Option<usize>)> {
        let mut found = vec![(0, None)];
        match self {
            Cost::Fixed(_) => {}
            Cost::Seq(parts) | Cost::Either(parts) | Cost::Loop { parts, .. } => {
                found.extend(parts.iter().flat_map(|p| p.moments(set)));
            }
            Cost::Divergent { region, first, second, .. } => {
                found.push((0, Some(*region)));
                let a = first.moments(set);
                let b = second.as_ref().map_or(vec![(0, None)], |s| s.1.moments(set));
                if set(*region) {
                    for &(held_a, at_a) in &a {
                        for &(held_b, at_b) in &b {
                            found.push((1 + held_a + held_b, at_a));
                            found.push((1 + held_a + held_b, at_b));
                        }
                    }
                } else {
                    found.extend(a.into_iter().chain(b));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

pub struct Sample {
    pub model: Model,
    pub regions: Vec<Region>,
    pub cost: Cost,
}

/// What a generated program may contain.
#[derive(Clone, Copy)]
pub struct Kinds {
    pub loops: bool,
    pub uniform: bool,
    /// If without else.
    pub one_sided: bool,
    pub edge_costs: bool,
    /// Every side starts with a block of its own and joins are blocks of their own, as PWS 4.2 draws them.
    pub plain: bool,
    pub regions: usize,
    pub depth: u32,
}

pub const ALL: Kinds = Kinds {
    loops: true,
    uniform: true,
    one_sided: true,
    edge_costs: true,
    plain: false,
    regions: 6,
    depth: 4,
};

struct Maker {
    random: Random,
    graph: Graph,
    bounds: Vec<LoopBound>,
    regions: Vec<Region>,
    kinds: Kinds,
}

pub fn sample(seed: u64, kinds: Kinds) -> Sample {
    let mut maker = Maker {
        random: Random(seed),
        graph: Graph::default(),
        bounds: Vec::new(),
        regions: Vec::new(),
        kinds,
    };
    let (entry, first) = maker.node("entry");
    let (exit, last) = maker.node("exit");
    (maker.graph.entry, maker.graph.exit) = (entry, exit);
    let body = maker.piece(entry, exit, !kinds.plain, kinds.depth);
    let cost = Cost::Seq(vec![Cost::Fixed(first), body, Cost::Fixed(last)]);
    let Maker { graph, bounds, regions, .. } = maker;
    Sample { model: Model { graph, bounds, facts: Vec::new() }, regions, cost }
}

impl Maker {
    fn node(&mut self, kind: &str) -> (NodeId, u64) {
        let cost = self.random.below(20);
        let name = format!("{kind}{}", self.graph.nodes.len());
        (self.graph.node(name, cost), cost)
    }

    fn edge(&mut self, from: NodeId, to: NodeId) -> u64 {
        let cost = if self.kinds.edge_costs { self.random.below(4) } else { 0 };
        self.graph.edge(from, to, cost);
        cost
    }

    fn block(&mut self, start: NodeId, end: NodeId) -> Cost {
        let (node, cost) = self.node("block");
        Cost::Fixed(self.edge(start, node) + cost + self.edge(node, end))
    }

    /// Ways from `start` to `end`. `free`: nothing else leaves `start`.
    fn piece(&mut self, start: NodeId, end: NodeId, free: bool, depth: u32) -> Cost {
        if depth == 0 {
            return self.block(start, end);
        }
        match self.random.below(10) {
            0 => self.block(start, end),
            1 if start != end && !self.kinds.plain => Cost::Fixed(self.edge(start, end)),
            2..=4 => self.sequence(start, end, free, depth),
            5 if self.kinds.uniform => self.uniform(start, end, free, depth),
            6 if self.kinds.loops => self.loop_(start, end, depth),
            _ if self.regions.len() < self.kinds.regions => self.divergent(start, end, free, depth),
            _ => self.block(start, end),
        }
    }

    fn sequence(&mut self, start: NodeId, end: NodeId, free: bool, depth: u32) -> Cost {
        let mut parts = Vec::new();
        let mut at = (start, free);
        for _ in 0..self.random.below(3) {
            let (glue, cost) = self.node("glue");
            parts.push(self.piece(at.0, glue, at.1, depth - 1));
            parts.push(Cost::Fixed(cost));
            at = (glue, !self.kinds.plain);
        }
        parts.push(self.piece(at.0, end, at.1, depth - 1));
        Cost::Seq(parts)
    }

    /// A node to branch at: `start` itself if it may be, or a new one.
    fn branch(&mut self, start: NodeId, free: bool) -> (NodeId, u64) {
        if free && self.random.chance(50) {
            return (start, 0);
        }
        let (node, cost) = self.node("branch");
        (node, self.edge(start, node) + cost)
    }

    /// A node to come together at: `end` itself or a new one.
    fn join(&mut self, end: NodeId) -> (NodeId, u64) {
        if !self.kinds.plain && self.random.chance(50) {
            return (end, 0);
        }
        let (node, cost) = self.node("join");
        (node, cost + self.edge(node, end))
    }

    fn uniform(&mut self, start: NodeId, end: NodeId, free: bool, depth: u32) -> Cost {
        let (branch, before) = self.branch(start, free);
        let (join, after) = self.join(end);
        let ways = 2 + self.random.below(2);
        let ways = (0..ways).map(|_| self.piece(branch, join, false, depth - 1)).collect();
        Cost::Seq(vec![Cost::Fixed(before), Cost::Either(ways), Cost::Fixed(after)])
    }

    fn loop_(&mut self, start: NodeId, end: NodeId, depth: u32) -> Cost {
        let (header, cost) = self.node("loop");
        let enter = self.edge(start, header);
        let max = self.random.below(4);
        let mut parts = vec![Cost::Fixed(cost)];
        let mut exits = Vec::new();
        let tested_first = self.random.chance(50);
        if tested_first {
            exits.push((1, self.edge(header, end)));
        }
        let mut at = (header, !tested_first && !self.kinds.plain);
        if self.random.chance(40) {
            // A way out of the middle.
            let (middle, cost) = self.node("middle");
            parts.push(self.piece(at.0, middle, at.1, depth - 1));
            parts.push(Cost::Fixed(cost));
            exits.push((3, self.edge(middle, end)));
            at = (middle, false);
        }
        if tested_first && self.random.chance(60) {
            // The body ends in edges back to the header.
            parts.push(self.piece(at.0, header, at.1, depth - 1));
        } else {
            let (latch, cost) = self.node("latch");
            parts.push(self.piece(at.0, latch, at.1, depth - 1));
            parts.push(Cost::Fixed(cost));
            exits.push((parts.len(), self.edge(latch, end)));
            parts.push(Cost::Fixed(self.edge(latch, header)));
        }
        self.bounds.push(LoopBound { header, max });
        Cost::Loop { enter, max, parts, exits }
    }

    fn side(&mut self, start: NodeId, end: NodeId, depth: u32) -> (Cost, Vec<EdgeId>) {
        let known = self.graph.edges.len();
        let cost = if self.kinds.plain {
            let (block, cost) = self.node("side");
            let enter = self.edge(start, block);
            let rest = if self.random.chance(50) {
                Cost::Fixed(self.edge(block, end))
            } else {
                self.piece(block, end, false, depth)
            };
            Cost::Seq(vec![Cost::Fixed(enter + cost), rest])
        } else {
            self.piece(start, end, false, depth)
        };
        let edges = (known..self.graph.edges.len()).filter(|&e| self.graph.edges[e].from == start).collect();
        (cost, edges)
    }

    fn divergent(&mut self, start: NodeId, end: NodeId, free: bool, depth: u32) -> Cost {
        let region = self.regions.len();
        let (branch, before) = self.branch(start, free);
        let (join, after) = self.join(end);
        let (split_cost, merge_cost) = (self.random.below(4), self.random.below(3));
        self.regions.push(Region {
            branch,
            join,
            first: Vec::new(),
            second: Vec::new(),
            split_cost,
            merge_cost,
        });
        let costs = split_cost + merge_cost;
        if self.kinds.one_sided && self.random.chance(30) {
            let (first, edges) = self.side(branch, join, depth - 1);
            let skip_first = self.edge(branch, join);
            self.regions[region].first = edges;
            let first = Box::new(first);
            return Cost::Divergent { region, before, first, skip_first, second: None, after, costs };
        }
        let (serialise, block) = self.node("serialise");
        let (first, edges) = self.side(branch, serialise, depth - 1);
        let skip_first = self.edge(branch, serialise);
        self.regions[region].first = edges;
        let (second, edges) = self.side(serialise, join, depth - 1);
        let skip_second = self.edge(serialise, join);
        self.regions[region].second = edges;
        let second = Some((block, Box::new(second), skip_second));
        Cost::Divergent { region, before, first: Box::new(first), skip_first, second, after, costs }
    }
}
