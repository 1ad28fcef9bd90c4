//! The control-flow graph as the checker sees it: blocks begin where a proof claims something, and loops are found here.

use crate::code::Code;
use crate::format::Reg;
use crate::lane::to_reg;
use crate::transfer::written;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::gcn3::Inst;
use wb_isa::{FlowKind, Pc};

/// A natural loop; blocks by their first instruction.
#[derive(Clone, Debug)]
pub struct Looped {
    pub header: Pc,
    pub blocks: BTreeSet<Pc>,
    pub pcs: BTreeSet<Pc>,
}

pub struct Graph<'a> {
    pub code: &'a Code<'a>,
    /// Last instruction of each block, by its first.
    pub blocks: BTreeMap<Pc, Pc>,
    pub loops: Vec<Looped>,
    /// Ways that can be taken as far as values tell: last instruction and first of the next block.
    pub feasible: BTreeSet<(Pc, Pc)>,
}

impl<'a> Graph<'a> {
    /// None if a block does not end where it can.
    pub fn new(code: &'a Code<'a>, firsts: &BTreeSet<Pc>) -> Option<Graph<'a>> {
        let mut graph = Graph { code, blocks: BTreeMap::new(), loops: Vec::new(), feasible: BTreeSet::new() };
        for &first in firsts {
            let mut pc = first;
            let mut left = code.kind.len();
            loop {
                left = left.checked_sub(1)?;
                graph.inst(pc)?;
                let goes_on = matches!(
                    graph.kind(pc),
                    FlowKind::Next | FlowKind::SplitLanes { .. } | FlowKind::Merge | FlowKind::Barrier
                );
                if !goes_on || firsts.contains(&graph.next(pc)) {
                    break;
                }
                pc = graph.next(pc);
            }
            graph.blocks.insert(first, pc);
        }
        graph.find_loops();
        Some(graph)
    }

    pub fn inst(&self, pc: Pc) -> Option<&'a Inst> {
        self.code.insts.get(pc as usize).copied().flatten()
    }

    pub fn kind(&self, pc: Pc) -> FlowKind {
        self.code.kind.get(pc as usize).copied().unwrap_or(FlowKind::Exit { conditional: false })
    }

    pub fn next(&self, pc: Pc) -> Pc {
        self.code.next.get(pc as usize).copied().unwrap_or(pc)
    }

    /// Registers an instruction writes.
    pub fn writes(&self, pc: Pc) -> Vec<Reg> {
        self.inst(pc).map(written).unwrap_or_default().into_iter().filter_map(to_reg).collect()
    }

    /// The last instruction of a block.
    pub fn ends(&self, pc: Pc) -> bool {
        let next = self.next(pc);
        let goes_on = matches!(
            self.kind(pc),
            FlowKind::Next | FlowKind::SplitLanes { .. } | FlowKind::Merge | FlowKind::Barrier
        );
        !goes_on || self.blocks.contains_key(&next)
    }

    /// Every way on after the last instruction of a block; of a conditional branch, whether it jumps. None: this kind of
    /// flow is not understood.
    pub fn all_ways(&self, pc: Pc) -> Option<Vec<(Pc, Option<bool>)>> {
        let next = self.next(pc);
        Some(match self.kind(pc) {
            FlowKind::Next
            | FlowKind::SplitLanes { .. }
            | FlowKind::Merge
            | FlowKind::Barrier
            | FlowKind::Call { .. } => vec![(next, None)],
            FlowKind::Jump(to) => vec![(to, None)],
            FlowKind::Branch(to) | FlowKind::MaskBranch { target: to, .. } if to == next => vec![(to, None)],
            FlowKind::Branch(to) | FlowKind::MaskBranch { target: to, .. } => {
                vec![(to, Some(true)), (next, Some(false))]
            }
            FlowKind::Exit { conditional: false } | FlowKind::Indirect { conditional: false } => Vec::new(),
            FlowKind::Exit { conditional: true } | FlowKind::Indirect { conditional: true } => {
                vec![(next, None)]
            }
            FlowKind::Split
            | FlowKind::Join
            | FlowKind::PushMask(_)
            | FlowKind::PopMask
            | FlowKind::MaskNonZero
            | FlowKind::BranchPush { .. }
            | FlowKind::Spawn => return None,
        })
    }

    /// Ways that can be taken.
    pub fn ways(&self, pc: Pc) -> Vec<(Pc, Option<bool>)> {
        let mut ways = self.all_ways(pc).unwrap_or_default();
        ways.retain(|w| self.feasible.contains(&(pc, w.0)));
        ways
    }

    fn find_loops(&mut self) {
        let firsts: Vec<Pc> = self.blocks.keys().copied().collect();
        let place: BTreeMap<Pc, usize> = firsts.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let successors: Vec<Vec<usize>> = firsts
            .iter()
            .map(|f| {
                let ways = self.all_ways(self.blocks[f]).unwrap_or_default();
                ways.iter().filter_map(|w| place.get(&w.0).copied()).collect()
            })
            .collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); firsts.len()];
        for (u, list) in successors.iter().enumerate() {
            list.iter().for_each(|&v| before[v].push(u));
        }
        let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (u, h) in ways_back(&successors, &self.roots(&place)) {
            let body = bodies.entry(h).or_insert_with(|| BTreeSet::from([h]));
            let mut work = vec![u];
            while let Some(x) = work.pop() {
                if body.insert(x) {
                    work.extend(&before[x]);
                }
            }
        }
        let whole = |first: Pc| {
            let mut pcs = vec![first];
            while pcs[pcs.len() - 1] != self.blocks[&first] {
                pcs.push(self.next(pcs[pcs.len() - 1]));
            }
            pcs
        };
        let loops = bodies.into_iter().map(|(h, body)| {
            let blocks: BTreeSet<Pc> = body.iter().map(|&b| firsts[b]).collect();
            let pcs = blocks.iter().flat_map(|&b| whole(b)).collect();
            Looped { header: firsts[h], blocks, pcs }
        });
        self.loops = loops.collect();
    }

    /// Where execution begins: the kernel and the functions it calls.
    fn roots(&self, place: &BTreeMap<Pc, usize>) -> Vec<usize> {
        let starts = std::iter::once(self.code.entry).chain(self.code.calls.values().copied());
        starts.filter_map(|pc| place.get(&pc).copied()).collect()
    }
}

/// Ways from a block to one that every way from the roots to it passes.
fn ways_back(successors: &[Vec<usize>], roots: &[usize]) -> BTreeSet<(usize, usize)> {
    // Such a way leads to a block that is open in a search in depth, whatever its order.
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let (mut seen, mut open) = (vec![false; successors.len()], vec![false; successors.len()]);
    for &root in roots {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        open[root] = true;
        let mut stack = vec![(root, 0)];
        while let Some((b, i)) = stack.pop() {
            let Some(&to) = successors[b].get(i) else {
                open[b] = false;
                continue;
            };
            stack.push((b, i + 1));
            if open[to] {
                found.entry(to).or_default().push(b);
            }
            if !std::mem::replace(&mut seen[to], true) {
                open[to] = true;
                stack.push((to, 0));
            }
        }
    }
    let mut back = BTreeSet::new();
    for (header, from) in found {
        let beside = reached(successors, roots, header);
        back.extend(from.into_iter().filter(|&b| b == header || !beside[b]).map(|b| (b, header)));
    }
    back
}

/// Blocks that the roots lead to without passing one block.
fn reached(successors: &[Vec<usize>], roots: &[usize], without: usize) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    seen[without] = true;
    let mut work: Vec<usize> = roots.iter().copied().filter(|&r| r != without).collect();
    work.iter().for_each(|&r| seen[r] = true);
    while let Some(b) = work.pop() {
        for &to in &successors[b] {
            if !std::mem::replace(&mut seen[to], true) {
                work.push(to);
            }
        }
    }
    seen
}
