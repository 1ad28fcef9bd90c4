//! Where time is taken, and the graph of points (IPG): nodes are instrumentation points, edges are the ways between
//! two of them that pass no other. A way is told from others by the first piece it enters, so that both sides of a
//! branch have times of their own (THESIS figure 5.4: b and c, d and e).

use super::watched::Watched;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use wb_isa::{FlowKind, Isa, NO_PC, Pc};
use wb_program::{Program, RegionKind};

/// Node of the wave's start: it takes its slot.
pub const START: usize = 0;
/// Node of the wave's end: nothing is outstanding any more.
pub const END: usize = 1;

/// Which places are instrumentation points, besides the kernel's entry and every loop header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// Divergent branches and where their lanes meet again (THESIS 5.2.3).
    #[default]
    Divergent,
    /// Those and every basic block.
    Blocks,
    /// These and nothing of the above; loops with these headers are passed as a whole.
    At { points: BTreeSet<Pc>, whole: BTreeSet<Pc> },
}

/// Instructions between two places where flow can part or meet, or time is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub first: Pc,
    pub last: Pc,
    /// Block of the program's control-flow graph.
    pub block: usize,
    pub instructions: u32,
    pub succs: Vec<usize>,
    /// The wave, or this path of it, can end here.
    pub ends: bool,
    /// Node of the point at its first instruction.
    pub node: Option<usize>,
}

/// Ways from one point to another that begin with piece `via` (`None`: the wave ends in the piece of `from`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlanEdge {
    pub from: usize,
    pub via: Option<usize>,
    pub to: usize,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLoop {
    pub header: Pc,
    /// The point at its header; none when the loop is passed as a whole.
    pub node: Option<usize>,
    pub pieces: BTreeSet<usize>,
}

/// A divergent branch in terms of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRegion {
    pub branch: Pc,
    /// The branch in front of the second side, if there is one.
    pub other: Option<Pc>,
    pub node: usize,
    pub join: usize,
    /// Edges into the first and the second side.
    pub first: Vec<usize>,
    pub second: Vec<usize>,
    /// Split and merge may stand there.
    pub markable: bool,
    /// Its lanes never come together again; `join` is where they end.
    pub ends: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    #[error("the kernel's entry is not an instruction")]
    NoEntry,
}

/// Everything the meter and the analysis need to know about the kernel.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub pieces: Vec<Piece>,
    /// pc of each node; [`NO_PC`] for [`START`] and [`END`].
    pub nodes: Vec<Pc>,
    pub edges: Vec<PlanEdge>,
    pub loops: Vec<PlanLoop>,
    pub regions: Vec<PlanRegion>,
    /// Edges that skip a side because none of the path's lanes takes it.
    pub skips: BTreeSet<usize>,
    /// The same as steps from piece to piece.
    pub skip_steps: BTreeSet<(usize, usize)>,
    /// Branches that may split the wave.
    pub marked: BTreeSet<Pc>,
    /// Calls whose time is part of the edge they are in: (pc, target).
    pub calls: Vec<(Pc, Option<Pc>)>,
    /// Branches that are said to have a homogeneous mask.
    pub watched: Vec<Watched>,
    /// Branch behind the `split` at a pc.
    splits: BTreeMap<Pc, Pc>,
    /// Piece that begins at a pc.
    piece_at: BTreeMap<Pc, usize>,
}

impl Plan {
    /// `marked` are the branches that may split the wave.
    pub fn new<I: Isa>(
        program: &Program<I>,
        points: &Points,
        marked: &BTreeSet<Pc>,
    ) -> Result<Plan, PlanError> {
        let (cfg, flow) = (&program.cfg, &program.flow);
        let entry = cfg.block_at(program.entry).ok_or(PlanError::NoEntry)?;
        let reached = cfg.reachable(Some(entry));
        let mut at: BTreeSet<Pc> = BTreeSet::from([program.entry]);
        let headers =
            cfg.loops.iter().filter(|l| reached.contains(&l.header)).map(|l| cfg.blocks[l.header].first);
        match points {
            Points::At { whole, .. } => at.extend(headers.filter(|pc| !whole.contains(pc))),
            _ => at.extend(headers),
        }
        let regions: Vec<&wb_program::Region> = flow
            .regions
            .iter()
            .filter(|r| cfg.block_at(r.branch).is_some_and(|b| reached.contains(&b)))
            .collect();
        match points {
            Points::At { points, .. } => at.extend(points),
            Points::Divergent | Points::Blocks => {
                let places = regions.iter().flat_map(|r| [Some(r.branch), join_of(r, marked)]);
                at.extend(places.flatten());
                if *points == Points::Blocks {
                    at.extend(reached.iter().map(|&b| cfg.blocks[b].first));
                }
            }
        }
        let mut plan = Plan { marked: marked.clone(), ..Plan::default() };
        plan.cut(program, &reached, &at);
        plan.connect(program.entry)?;
        plan.find_loops(program, &reached);
        plan.find_regions(program, &regions);
        Ok(plan)
    }

    /// Cuts the reachable blocks at the points.
    fn cut<I: Isa>(&mut self, program: &Program<I>, reached: &BTreeSet<usize>, at: &BTreeSet<Pc>) {
        self.nodes = vec![NO_PC, NO_PC];
        for &b in reached {
            let pcs = program.cfg.pcs(b, &program.flow);
            let mut start = 0;
            for i in 1..=pcs.len() {
                if i < pcs.len() && !at.contains(&pcs[i]) {
                    continue;
                }
                let (first, last) = (pcs[start], pcs[i - 1]);
                let node = at.contains(&first).then_some(self.nodes.len());
                if node.is_some() {
                    self.nodes.push(first);
                }
                let kind = program.flow.kind[last as usize];
                let ends = i == pcs.len()
                    && (matches!(kind, FlowKind::Exit { .. }) || program.cfg.blocks[b].succs.is_empty());
                self.piece_at.insert(first, self.pieces.len());
                let instructions = (i - start) as u32;
                self.pieces.push(Piece {
                    first,
                    last,
                    block: b,
                    instructions,
                    succs: Vec::new(),
                    ends,
                    node,
                });
                start = i;
            }
            for &pc in &pcs {
                match program.flow.kind[pc as usize] {
                    FlowKind::Call { target, .. } => self.calls.push((pc, target)),
                    FlowKind::SplitLanes { .. } => _ = self.splits.insert(pc, pcs[pcs.len() - 1]),
                    _ => {}
                }
            }
        }
        for p in 0..self.pieces.len() {
            let block = &program.cfg.blocks[self.pieces[p].block];
            self.pieces[p].succs = if self.pieces[p].last == block.last {
                block.succs.iter().map(|&s| self.piece_at[&program.cfg.blocks[s].first]).collect()
            } else {
                vec![p + 1]
            };
        }
    }

    /// Finds the edges: from every point, what can be reached without passing another one.
    fn connect(&mut self, entry: Pc) -> Result<(), PlanError> {
        let reach = self.reach();
        let first = self.piece_at(entry).ok_or(PlanError::NoEntry)?;
        let mut edges: BTreeSet<PlanEdge> =
            reach[first].iter().map(|&to| PlanEdge { from: START, via: Some(first), to }).collect();
        for piece in &self.pieces {
            let Some(from) = piece.node else { continue };
            if piece.ends {
                edges.insert(PlanEdge { from, via: None, to: END });
            }
            for &s in &piece.succs {
                edges.extend(reach[s].iter().map(|&to| PlanEdge { from, via: Some(s), to }));
            }
        }
        self.edges = edges.into_iter().collect();
        Ok(())
    }

    /// Nodes that can be reached from the start of each piece, itself included if it is a point.
    fn reach(&self) -> Vec<BTreeSet<usize>> {
        let mut reach = vec![BTreeSet::new(); self.pieces.len()];
        let mut before = vec![Vec::new(); self.pieces.len()];
        let mut work: BTreeSet<usize> = BTreeSet::new();
        for (p, piece) in self.pieces.iter().enumerate() {
            match piece.node {
                Some(node) => reach[p].extend([node]),
                None if piece.ends => reach[p].extend([END]),
                None => {}
            }
            for &s in &piece.succs {
                before[s].push(p);
            }
            work.insert(p);
        }
        while let Some(p) = work.pop_last() {
            let from_here = reach[p].clone();
            for &b in before[p].iter().filter(|&&b| self.pieces[b].node.is_none()) {
                let size = reach[b].len();
                reach[b].extend(&from_here);
                if reach[b].len() > size {
                    work.insert(b);
                }
            }
        }
        reach
    }

    fn find_loops<I: Isa>(&mut self, program: &Program<I>, reached: &BTreeSet<usize>) {
        for l in program.cfg.loops.iter().filter(|l| reached.contains(&l.header)) {
            let header = program.cfg.blocks[l.header].first;
            let node = self.node_at(header);
            let inside = |p: &usize| l.blocks.contains(&self.pieces[*p].block);
            let pieces = (0..self.pieces.len()).filter(inside).collect();
            self.loops.push(PlanLoop { header, node, pieces });
        }
    }

    fn find_regions<I: Isa>(&mut self, program: &Program<I>, regions: &[&wb_program::Region]) {
        for r in regions {
            let body = |plan: &Plan, branch: Pc, into: bool| -> Vec<usize> {
                let Some(node) = plan.node_at(branch) else { return Vec::new() };
                let Some(side) = side_of(program, branch, into) else { return Vec::new() };
                let via = plan.piece_at.get(&side).copied();
                let leaves = |e: &usize| plan.edges[*e].from == node && plan.edges[*e].via == via;
                (0..plan.edges.len()).filter(leaves).collect()
            };
            if matches!(r.kind, RegionKind::If | RegionKind::Else) {
                let over = side_of(program, r.branch, false).and_then(|pc| self.piece_at(pc));
                let branch = self.pieces.iter().position(|p| p.last == r.branch);
                self.skip_steps.extend(branch.zip(over));
            }
            // The second side belongs to its if, unless it may split the wave by itself.
            let second = if_of(program, r).is_some() && !self.marked.contains(&r.branch);
            let join = join_of(r, &self.marked).filter(|_| !second).and_then(|pc| self.node_at(pc));
            let (Some(node), Some(join)) = (self.node_at(r.branch), join) else { continue };
            let other = regions.iter().find(|e| if_of(program, e).is_some_and(|f| f.branch == r.branch));
            let other = other.map(|e| e.branch);
            self.regions.push(PlanRegion {
                branch: r.branch,
                other,
                node,
                join,
                first: body(self, r.branch, true),
                second: other.map_or(Vec::new(), |e| body(self, e, true)),
                markable: r.markable(),
                ends: r.ends.is_some(),
            });
        }
        let skips = |e: &usize| {
            let PlanEdge { from, via, .. } = self.edges[*e];
            let step = self.piece_at(self.nodes[from]).zip(via);
            step.is_some_and(|step| self.skip_steps.contains(&step))
        };
        self.skips = (0..self.edges.len()).filter(skips).collect();
    }

    /// Node of the point at `pc`.
    pub fn node_at(&self, pc: Pc) -> Option<usize> {
        self.piece_at.get(&pc).and_then(|&p| self.pieces[p].node)
    }

    /// The branch that a split at `pc` belongs to: itself, or the one behind a `split` instruction.
    pub fn branch_at(&self, pc: Pc) -> Pc {
        self.splits.get(&pc).copied().unwrap_or(pc)
    }

    /// Piece that holds `pc`.
    pub fn piece_of(&self, pc: Pc) -> Option<usize> {
        let (_, &piece) = self.piece_at.range(..=pc).next_back()?;
        (self.pieces[piece].last >= pc).then_some(piece)
    }

    /// Piece that begins at `pc`.
    pub fn piece_at(&self, pc: Pc) -> Option<usize> {
        self.piece_at.get(&pc).copied()
    }
}

/// Where the paths of a split come together, or to the block in which they end. Lanes of a branch that is not marked and
/// have nothing to do but to end are no region.
fn join_of(r: &wb_program::Region, marked: &BTreeSet<Pc>) -> Option<Pc> {
    r.join().filter(|_| !r.only_ends() || marked.contains(&r.branch))
}

/// The if whose second side the branch stands in front of.
pub(super) fn if_of<'a, I: Isa>(
    program: &'a Program<I>,
    r: &wb_program::Region,
) -> Option<&'a wb_program::Region> {
    if r.kind != RegionKind::Else {
        return None;
    }
    let block = program.cfg.block_at(r.branch)?;
    program.flow.regions.iter().find(|first| {
        first.serialise.is_some_and(|pc| program.cfg.block_at(pc) == Some(block))
            && first.branch != r.branch
            && first.reconverge == r.reconverge
    })
}

/// Where a branch on the mask goes when the path has lanes for its side (`into`), or has none.
pub fn side_of<I: Isa>(program: &Program<I>, branch: Pc, into: bool) -> Option<Pc> {
    match program.flow.kind[branch as usize] {
        FlowKind::MaskBranch { target, when_empty } => {
            Some(if when_empty == into { program.flow.next[branch as usize] } else { target })
        }
        _ => None,
    }
}
