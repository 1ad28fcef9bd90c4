//! The graph of a kernel with limits, and the longest way through it for any weights: own time, demand, barriers
//! (docs/proved-bounds.md, "From weights to bounds").

use crate::refusal::Refusal;
use crate::splits::{Splits, counted_on};
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;
use wb_wcet::graph::{Graph, LoopBound, Model, NodeId, Region};
use wb_wcet::ipet::structure::Structure;
use wb_wcet::ipet::{self, Bound};
use wb_wcet::split::{self, Mode, SplitError};
use wb_wcet::wave::sure_splits;

/// Weights of blocks and of ways out of them (`None`: the end of the wave).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    pub blocks: BTreeMap<usize, u64>,
    pub edges: BTreeMap<(usize, Option<usize>), u64>,
}

/// Flow of a kernel: blocks that a wave can reach, ways between them, limits of loops.
#[derive(Clone, Debug)]
pub struct Flow {
    pub entry: usize,
    pub blocks: BTreeSet<usize>,
    pub edges: Vec<(usize, Option<usize>)>,
    /// Where each block goes on.
    ways: BTreeMap<usize, Vec<usize>>,
    /// Blocks that end the wave.
    last: BTreeSet<usize>,
    /// Blocks that end at a barrier.
    pub barriers: BTreeSet<usize>,
    /// Pc of the first instruction, by block.
    first: BTreeMap<usize, Pc>,
    /// Ways back to the header of a loop, which its limit counts.
    back: BTreeSet<(usize, usize)>,
    limits: BTreeMap<Pc, u64>,
}

/// How waves of a group pass barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All pass the same ones in the same order.
    Same,
    /// The same, but a wave may end earlier than others.
    Leaving,
    Unknown,
}

/// Where a way begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// From the start of a wave to its end, over all barriers.
    Whole,
    /// Without a barrier on the way: to the first one or the end, between two, from the last one to the end.
    First,
    Middle,
    Last,
    /// To the end without a barrier, from the start or from behind one.
    Ending,
}

impl Flow {
    /// `limits`: rounds of loops by the pc of their header; `never`: ways that no wave takes, from the last instruction of a block to
    /// the first of another.
    pub fn new<I: Isa>(
        program: &Program<I>,
        limits: &BTreeMap<Pc, u64>,
        never: &BTreeSet<(Pc, Pc)>,
    ) -> Result<Flow, Refusal> {
        let cfg = &program.cfg;
        let Some(entry) = cfg.block_at(program.entry) else {
            return Err(Refusal::Program { what: "it has no code".into(), help: "give a kernel" });
        };
        let ways = |b: usize| {
            let block = &cfg.blocks[b];
            block.succs.iter().copied().filter(move |&s| !never.contains(&(block.last, cfg.blocks[s].first)))
        };
        let mut blocks = BTreeSet::new();
        let mut work = vec![entry];
        while let Some(b) = work.pop() {
            if blocks.insert(b) {
                work.extend(ways(b));
            }
        }
        let mut edges = Vec::new();
        let mut barriers = BTreeSet::new();
        for &b in &blocks {
            check_block(program, b)?;
            edges.extend(ways(b).map(|s| (b, Some(s))));
            if cfg.blocks[b].succs.is_empty() {
                edges.push((b, None));
            }
            if program.flow.kind[cfg.blocks[b].last as usize] == FlowKind::Barrier {
                barriers.insert(b);
            }
        }
        let first = blocks.iter().map(|&b| (b, cfg.blocks[b].first)).collect();
        let back =
            edges.iter().filter_map(|&(b, s)| Some((b, s?))).filter(|&(b, s)| cfg.dominates(s, b)).collect();
        let ways = blocks.iter().map(|&b| (b, ways(b).collect())).collect();
        let last = edges.iter().filter(|e| e.1.is_none()).map(|e| e.0).collect();
        Ok(Flow { entry, blocks, edges, ways, last, barriers, first, back, limits: limits.clone() })
    }

    /// Whether waves of a group that come to another barrier all come to the same one, having gone round loops with barriers equally often.
    /// `alike`: branches that all of them decide in the same way. Waves may leave the others early, by ending.
    pub fn order<I: Isa>(&self, program: &Program<I>, alike: &BTreeSet<Pc>) -> Order {
        let cfg = &program.cfg;
        let ways = |b: usize| self.ways[&b].iter().copied();
        // The barriers that can come next, from the start of each block.
        let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        loop {
            let mut grew = false;
            for &b in &self.blocks {
                let found: BTreeSet<usize> = if self.barriers.contains(&b) {
                    BTreeSet::from([b])
                } else {
                    ways(b).flat_map(|s| next.get(&s).cloned().unwrap_or_default()).collect()
                };
                if next.get(&b) != Some(&found) {
                    next.insert(b, found);
                    grew = true;
                }
            }
            if !grew {
                break;
            }
        }
        // A barrier is ahead of a block also if it is behind the next one: blocks that a barrier can be reached from.
        let loops: Vec<_> =
            cfg.loops.iter().filter(|l| l.blocks.iter().any(|b| self.barriers.contains(b))).collect();
        let mut early = false;
        for &b in self.blocks.iter().filter(|b| !self.barriers.contains(b)) {
            let going: Vec<usize> = ways(b).filter(|s| !next[s].is_empty()).collect();
            let together = alike.contains(&cfg.blocks[b].last);
            early |= going.len() < ways(b).count() && !going.is_empty() && !together;
            let leaves = |l: &wb_program::cfg::Loop| {
                l.blocks.contains(&b)
                    && going.iter().any(|s| l.blocks.contains(s) != l.blocks.contains(&going[0]))
            };
            let same = going.iter().all(|s| next[s] == next[&going[0]]) && !loops.iter().any(|l| leaves(l));
            if !same && !together {
                return Order::Unknown;
            }
        }
        // In every round of a loop with barriers one is passed.
        let slips = |l: &wb_program::cfg::Loop| {
            let mut seen = BTreeSet::new();
            let mut work = vec![l.header];
            while let Some(b) = work.pop() {
                if self.barriers.contains(&b) {
                    continue;
                }
                for s in ways(b).filter(|s| l.blocks.contains(s)) {
                    if s == l.header {
                        return true;
                    }
                    if seen.insert(s) {
                        work.push(s);
                    }
                }
            }
            false
        };
        match loops.iter().any(|l| slips(l)) {
            true => Order::Unknown,
            false if early => Order::Leaving,
            false => Order::Same,
        }
    }

    /// The model of a piece with these weights.
    fn model(&self, weights: &Weights, piece: Piece) -> Result<Option<Model>, Refusal> {
        let mut graph = Graph::default();
        let mut nodes: BTreeMap<usize, NodeId> = BTreeMap::new();
        let cut = |b: usize| piece != Piece::Whole && self.barriers.contains(&b);
        let behind = || {
            let ways = self.edges.iter().filter(|e| self.barriers.contains(&e.0));
            ways.filter_map(|e| e.1).collect::<BTreeSet<usize>>()
        };
        let starts: BTreeSet<usize> = match piece {
            Piece::Whole | Piece::First => BTreeSet::from([self.entry]),
            Piece::Middle | Piece::Last => behind(),
            Piece::Ending => behind().into_iter().chain([self.entry]).collect(),
        };
        // Only what lies between the ends of the piece.
        let goal = |b: usize| match piece {
            Piece::Whole | Piece::Last | Piece::Ending => self.last.contains(&b),
            Piece::Middle => self.barriers.contains(&b),
            Piece::First => self.barriers.contains(&b) || self.last.contains(&b),
        };
        let mut inside: BTreeSet<usize> = BTreeSet::new();
        let mut work: Vec<usize> = starts.iter().copied().collect();
        while let Some(b) = work.pop() {
            if inside.insert(b) && !cut(b) {
                work.extend(&self.ways[&b]);
            }
        }
        if !inside.iter().any(|&b| goal(b)) {
            return Ok(None);
        }
        graph.entry = graph.node("start", 0);
        for &b in &inside {
            let cost = weights.blocks.get(&b).copied().unwrap_or(0);
            nodes.insert(b, graph.node(format!("pc {}", self.first[&b]), cost));
        }
        graph.exit = graph.node("end", 0);
        for s in starts.iter().filter(|s| inside.contains(s)) {
            graph.edge(graph.entry, nodes[s], 0);
        }
        for e in self.edges.iter().filter(|e| inside.contains(&e.0)) {
            let cost = weights.edges.get(e).copied().unwrap_or(0);
            match e.1 {
                None if piece != Piece::Middle => _ = graph.edge(nodes[&e.0], graph.exit, cost),
                None => {}
                // A wave at a barrier has taken the way out of it, which costs the same for all ways.
                Some(_) if cut(e.0) && matches!(piece, Piece::Last | Piece::Ending) => {}
                Some(_) if cut(e.0) => _ = graph.edge(nodes[&e.0], graph.exit, cost),
                Some(to) => _ = graph.edge(nodes[&e.0], nodes[&to], cost),
            }
        }
        let graph = useful(&graph);
        let structure = Structure::new(&graph)?;
        let by_name: BTreeMap<String, usize> =
            self.first.iter().map(|(b, pc)| (format!("pc {pc}"), *b)).collect();
        let block = |v: NodeId| by_name.get(&graph.nodes[v].name).copied();
        for (e, edge) in graph.edges.iter().enumerate().filter(|(e, _)| structure.back_of[*e].is_some()) {
            let known = block(edge.from).zip(block(edge.to)).is_some_and(|way| self.back.contains(&way));
            if !known {
                return Err(Refusal::Program {
                    what: format!(
                        "without its barriers, edge {e} of its graph goes back to no header of a loop"
                    ),
                    help: "pass the barrier in every round of the loop it is in",
                });
            }
        }
        let mut bounds = Vec::new();
        for l in &structure.loops {
            let header = block(l.header).map_or(0, |b| self.first[&b]);
            let max = *self.limits.get(&header).ok_or(Refusal::Limit { header })?;
            bounds.push(LoopBound { header: l.header, max });
        }
        Ok(Some(Model { graph, bounds, facts: Vec::new() }))
    }

    /// The heaviest way of one path of a wave that splits: of branches whose split can be counted on it takes one side.
    pub fn heaviest_of_paths(&self, weights: &Weights, splits: &Splits) -> Result<Option<Heaviest>, Refusal> {
        let Some(model) = self.model(weights, Piece::Whole)? else { return Ok(None) };
        let Some((splitting, regions)) = counted_on(splits) else {
            return self.heaviest(weights, Piece::Whole);
        };
        let names: BTreeMap<&str, NodeId> =
            model.graph.nodes.iter().enumerate().map(|(v, n)| (n.name.as_str(), v)).collect();
        let node = |b: usize| names.get(format!("pc {}", self.first.get(&b)?).as_str()).copied();
        let edge = |way: Option<(usize, usize)>| -> Vec<usize> {
            let ends = way.and_then(|(a, b)| Some((node(a)?, node(b)?)));
            let is = |e: &wb_wcet::Edge| Some((e.from, e.to)) == ends;
            model.graph.edges.iter().enumerate().filter(|e| is(e.1)).map(|e| e.0).collect()
        };
        let marked: Vec<Region> = regions
            .iter()
            .filter(|r| splitting.sure.contains(&r.pc))
            .filter_map(|r| {
                let (branch, join) = (node(r.branch)?, node(r.join)?);
                let (first, second) = (edge(r.first), edge(r.second));
                Some(Region { branch, join, first, second, split_cost: 0, merge_cost: 0 })
            })
            .collect();
        if marked.len() < splitting.sure.len() {
            return self.heaviest(weights, Piece::Whole);
        }
        let sure = match sure_splits(&model, &marked, splitting) {
            Ok(sure) => sure,
            // Flow that does not keep to the regions: nothing can be counted on.
            Err(
                SplitError::Leaves { .. }
                | SplitError::Overlap { .. }
                | SplitError::Entered { .. }
                | SplitError::Side { .. }
                | SplitError::NoSide { .. },
            ) => Vec::new(),
            Err(e) => return Err(no_splits(&e)),
        };
        let sure: Vec<Region> = match splits.all_sure {
            true => marked,
            false => sure.into_iter().map(|k| marked[k].clone()).collect(),
        };
        let modes = vec![Mode::Split; sure.len()];
        let expanded = split::expand_modes(&model, &sure, &modes).map_err(|e| no_splits(&e))?;
        let bound = ipet::bound(&expanded.model)?;
        Ok(Some(Heaviest { bound, model: expanded.model }))
    }

    /// The heaviest way, certified; `None` if there is no such piece.
    pub fn heaviest(&self, weights: &Weights, piece: Piece) -> Result<Option<Heaviest>, Refusal> {
        let Some(model) = self.model(weights, piece)? else { return Ok(None) };
        let bound = ipet::bound(&model)?;
        Ok(Some(Heaviest { bound, model }))
    }
}

fn no_splits(why: &SplitError) -> Refusal {
    Refusal::Program { what: format!("its splits cannot be followed: {why}"), help: "mark other branches" }
}

/// The heaviest way of a model.
#[derive(Clone, Debug)]
pub struct Heaviest {
    pub bound: Bound,
    pub model: Model,
}

/// The part of a graph that lies on ways from entry to exit.
fn useful(graph: &Graph) -> Graph {
    let (out, into) = (graph.outgoing(), graph.incoming());
    let reach = |from: NodeId, forward: bool| {
        let mut seen = vec![false; graph.nodes.len()];
        let mut work = vec![from];
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut seen[v], true) {
                match forward {
                    true => work.extend(out[v].iter().map(|&e| graph.edges[e].to)),
                    false => work.extend(into[v].iter().map(|&e| graph.edges[e].from)),
                }
            }
        }
        seen
    };
    let (from, to) = (reach(graph.entry, true), reach(graph.exit, false));
    let mut kept = Graph::default();
    let mut number = vec![None; graph.nodes.len()];
    for (v, node) in graph.nodes.iter().enumerate().filter(|(v, _)| from[*v] && to[*v]) {
        number[v] = Some(kept.node(node.name.clone(), node.cost));
    }
    for e in &graph.edges {
        if let (Some(a), Some(b)) = (number[e.from], number[e.to]) {
            kept.edge(a, b, e.cost);
        }
    }
    (kept.entry, kept.exit) = (number[graph.entry].unwrap_or(0), number[graph.exit].unwrap_or(0));
    kept
}

/// What the proof covers: code that goes straight on, jumps, branches, waits at barriers and ends.
fn check_block<I: Isa>(program: &Program<I>, b: usize) -> Result<(), Refusal> {
    for pc in program.cfg.pcs(b, &program.flow) {
        let what = match program.flow.kind[pc as usize] {
            FlowKind::Next
            | FlowKind::Jump(_)
            | FlowKind::Branch(_)
            | FlowKind::MaskBranch { .. }
            | FlowKind::SplitLanes { .. }
            | FlowKind::Merge
            | FlowKind::Barrier
            | FlowKind::Exit { conditional: false } => continue,
            FlowKind::Call { .. } => "it calls functions",
            FlowKind::Indirect { .. } => "it jumps through a register",
            FlowKind::Spawn => "it starts waves itself",
            FlowKind::Exit { conditional: true } => "it ends single lanes",
            FlowKind::Split
            | FlowKind::Join
            | FlowKind::PushMask(_)
            | FlowKind::PopMask
            | FlowKind::MaskNonZero
            | FlowKind::BranchPush { .. } => "the hardware decides which side of a branch runs when",
        };
        let what = format!("{what} ({})", program.place(pc));
        return Err(Refusal::Program { what, help: "proved bounds are for GCN3 kernels without calls" });
    }
    if program.cfg.blocks[b].succs.is_empty()
        && program.flow.kind[program.cfg.blocks[b].last as usize] != (FlowKind::Exit { conditional: false })
    {
        let what = format!("it runs behind its end ({})", program.place(program.cfg.blocks[b].last));
        return Err(Refusal::Program { what, help: "end every way with s_endpgm" });
    }
    Ok(())
}
