//! Control-flow graph over basic blocks: successors, post-dominators, natural loops.
//! Calls are edges to the next instruction (the callee is a root of its own); mask-stack programs
//! are walked with an abstract mask stack, so that `pop_mask` has its real successors.

pub use crate::too_complex::{LOOP_LIMIT, TooComplex};

use crate::flow::FlowMap;
use crate::masks::{self, Successors, is_code};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed, VisitMap};
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{FlowKind, NO_PC, Pc};

/// A basic block: instructions from `first` to `last` in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub first: Pc,
    pub last: Pc,
    /// Successor blocks; empty when the block ends the path.
    pub succs: Vec<usize>,
}

/// A natural loop: its header and all blocks in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: usize,
    pub blocks: BTreeSet<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Cfg {
    pub blocks: Vec<Block>,
    /// Immediate post-dominator of each block; `None` = only the end of the program.
    pub ipdom: Vec<Option<usize>>,
    /// Immediate dominator of each block; `None` where the program is entered.
    pub idom: Vec<Option<usize>>,
    pub loops: Vec<Loop>,
    /// The innermost loop around each block, and the loop directly around each loop; numbers of `loops`.
    pub inner: Vec<Option<usize>>,
    pub outer: Vec<Option<usize>>,
    /// Places of the blocks in a walk of the tree of dominators, and of post-dominators.
    dominated: Vec<Span>,
    post_dominated: Vec<Span>,
    /// Block of each pc, [`NOWHERE`] if it cannot be reached.
    block_of: Vec<u32>,
}

/// No block.
const NOWHERE: u32 = u32::MAX;

/// States (instruction, push that made the top of the mask stack) beyond four for every instruction.
const STATE_LIMIT: usize = 1 << 22;

impl Cfg {
    pub fn build(
        flow: &FlowMap,
        valid: &[bool],
        roots: impl IntoIterator<Item = Pc>,
    ) -> Result<Cfg, TooComplex> {
        let roots: BTreeSet<Pc> = roots.into_iter().filter(|&r| is_code(valid, r)).collect();
        let succs = masks::successors(flow, valid, &roots, 4 * flow.kind.len() + STATE_LIMIT)?;
        let blocks = split_blocks(flow, &succs, &roots);
        let mut block_of = vec![NOWHERE; flow.kind.len()];
        for (b, block) in blocks.iter().enumerate() {
            walk(block, flow).for_each(|pc| block_of[pc as usize] = b as u32);
        }
        let mut cfg = Cfg { blocks, block_of, ..Cfg::default() };
        for b in 0..cfg.blocks.len() {
            let ends = succs.all(cfg.blocks[b].last);
            cfg.blocks[b].succs = ends.filter_map(|pc| cfg.block_at(pc)).collect();
        }
        cfg.analyse(&roots)?;
        Ok(cfg)
    }

    /// Block containing `pc`, if it is reachable.
    pub fn block_at(&self, pc: Pc) -> Option<usize> {
        self.block_of.get(pc as usize).filter(|&&b| b != NOWHERE).map(|&b| b as usize)
    }

    /// Instructions of a block in program order.
    pub fn pcs(&self, block: usize, flow: &FlowMap) -> Vec<Pc> {
        self.each_pc(block, flow).collect()
    }

    /// The same, one after the other.
    pub(crate) fn each_pc<'a>(&self, block: usize, flow: &'a FlowMap) -> impl Iterator<Item = Pc> + 'a {
        walk(&self.blocks[block], flow)
    }

    /// Blocks that can be reached from `from`, itself included.
    pub fn reachable(&self, from: Option<usize>) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut work: Vec<usize> = from.into_iter().collect();
        while let Some(b) = work.pop() {
            if seen.insert(b) {
                work.extend(&self.blocks[b].succs);
            }
        }
        seen
    }

    /// Every way from `a` to the end leads through `b`.
    pub fn post_dominates(&self, b: usize, a: usize) -> bool {
        within(&self.post_dominated, b, a)
    }

    /// `block` can be run again without `between`.
    pub fn repeats_without(&self, block: usize, between: usize) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        seen[between] = true;
        let mut work = self.blocks[block].succs.clone();
        while let Some(b) = work.pop() {
            if b == block {
                return true;
            }
            if !std::mem::replace(&mut seen[b], true) {
                work.extend(&self.blocks[b].succs);
            }
        }
        false
    }

    /// Blocks from which one of `targets` can be reached, themselves included.
    pub fn reaching(&self, targets: &BTreeSet<usize>) -> Vec<bool> {
        let preds = self.predecessors();
        let mut seen = vec![false; self.blocks.len()];
        let mut work: Vec<usize> = targets.iter().copied().collect();
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut seen[b], true) {
                work.extend(&preds[b]);
            }
        }
        seen
    }

    /// Loops around a block, from the inside.
    pub fn around(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.inner[block], |&l| self.outer[l])
    }

    /// Every way to `b` leads through `a`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        within(&self.dominated, a, b)
    }

    fn analyse(&mut self, roots: &BTreeSet<Pc>) -> Result<(), TooComplex> {
        let n = self.blocks.len();
        let mut graph = DiGraph::<(), ()>::with_capacity(n + 2, 2 * n);
        let nodes: Vec<NodeIndex> = (0..n).map(|_| graph.add_node(())).collect();
        let (start, end) = (graph.add_node(()), graph.add_node(()));
        for (b, block) in self.blocks.iter().enumerate() {
            for &s in &block.succs {
                graph.add_edge(nodes[b], nodes[s], ());
            }
            if block.succs.is_empty() {
                graph.add_edge(nodes[b], end, ());
            }
        }
        let preds = self.predecessors();
        // A label inside code that something else leads to starts nothing: a loop keeps its single header.
        let mut starts: Vec<usize> = roots.iter().filter_map(|&pc| self.block_at(pc)).chain(0..n).collect();
        starts.sort_by_key(|&b| !preds[b].is_empty());
        let mut walk = Dfs::empty(&graph);
        for b in starts.into_iter().map(|b| nodes[b]) {
            if !walk.discovered.is_visited(&b) {
                graph.add_edge(start, b, ());
                walk.move_to(b);
                while walk.next(&graph).is_some() {}
            }
        }
        let post: Dominators<NodeIndex> = simple_fast(Reversed(&graph), end);
        self.ipdom = nodes
            .iter()
            .map(|&b| post.immediate_dominator(b).filter(|&d| d.index() < n).map(|d| d.index()))
            .collect();
        let dom = simple_fast(&graph, start);
        self.idom = nodes
            .iter()
            .map(|&b| dom.immediate_dominator(b).filter(|&d| d.index() < n).map(|d| d.index()))
            .collect();
        self.dominated = spans(&self.idom);
        self.post_dominated = spans(&self.ipdom);
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut held = 0;
        for (b, block) in self.blocks.iter().enumerate() {
            for &header in &block.succs {
                if !self.dominates(header, b) {
                    continue;
                }
                let body = loops.entry(header).or_insert_with(|| BTreeSet::from([header]));
                let mut work = vec![b];
                while let Some(x) = work.pop() {
                    if body.insert(x) {
                        held += 1;
                        work.extend(&preds[x]);
                    }
                }
                if held > LOOP_LIMIT {
                    return Err(TooComplex::Loops);
                }
            }
        }
        self.loops = loops.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect();
        self.nest();
        Ok(())
    }

    /// Which loop is in which: those of different headers are within each other or apart.
    fn nest(&mut self) {
        let mut order: Vec<usize> = (0..self.loops.len()).collect();
        order.sort_by_key(|&l| std::cmp::Reverse(self.loops[l].blocks.len()));
        self.inner = vec![None; self.blocks.len()];
        self.outer = vec![None; self.loops.len()];
        for l in order {
            self.outer[l] = self.inner[self.loops[l].header];
            for &b in &self.loops[l].blocks {
                self.inner[b] = Some(l);
            }
        }
    }

    fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut preds = vec![Vec::new(); self.blocks.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            for &s in &block.succs {
                preds[s].push(b);
            }
        }
        preds
    }

    /// Writes reconvergence points and loop splits into the flow map.
    pub(crate) fn fill(&self, flow: &mut FlowMap) {
        for (pc, b) in (0..self.block_of.len() as Pc).filter_map(|pc| Some((pc, self.block_at(pc)?))) {
            flow.rpc[pc as usize] = self.ipdom[b].map_or(NO_PC, |d| self.blocks[d].first);
            if flow.kind[pc as usize] == FlowKind::Split {
                flow.loop_split[pc as usize] = self.is_loop_split(flow, pc);
            }
        }
    }

    /// A split that guards the way round a loop: its jump stays inside, its fall-through leaves.
    fn is_loop_split(&self, flow: &FlowMap, split: Pc) -> bool {
        let jump = flow.next[split as usize];
        let Some(&FlowKind::Branch(target)) = flow.kind.get(jump as usize) else { return false };
        let Some(&fall) = flow.next.get(jump as usize) else { return false };
        let (Some(s), Some(t)) = (self.block_at(split), self.block_at(target)) else { return false };
        let f = self.block_at(fall);
        // A jump straight back to the header goes round the loop even if an outer loop with the same header
        // holds the fall-through too.
        self.around(s).any(|l| {
            let l = &self.loops[l];
            let leaves = !f.is_some_and(|f| l.blocks.contains(&f));
            l.blocks.contains(&t) && (leaves || l.header == t)
        })
    }
}

/// Instructions of a block in program order.
fn walk<'a>(block: &Block, flow: &'a FlowMap) -> impl Iterator<Item = Pc> + use<'a> {
    let last = block.last;
    std::iter::successors(Some(block.first), move |&pc| (pc != last).then(|| flow.next[pc as usize]))
}

/// First and last number of a block's part of a tree that was walked from the top.
type Span = (u32, u32);

/// `a` is above `b` in the tree, or is `b`.
fn within(spans: &[Span], a: usize, b: usize) -> bool {
    spans[a].0 <= spans[b].0 && spans[b].1 <= spans[a].1
}

/// Numbers every node of a forest given by parents, so that a node's part of it is a range.
fn spans(parents: &[Option<usize>]) -> Vec<Span> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut work: Vec<(usize, bool)> = Vec::new();
    for (node, parent) in parents.iter().enumerate() {
        match parent {
            Some(p) => children[*p].push(node),
            None => work.push((node, false)),
        }
    }
    let mut spans = vec![(0, 0); parents.len()];
    let mut count = 0;
    while let Some((node, done)) = work.pop() {
        if done {
            spans[node].1 = count;
        } else {
            count += 1;
            spans[node].0 = count;
            work.push((node, true));
            work.extend(children[node].iter().map(|&c| (c, false)));
        }
    }
    spans
}

fn split_blocks(flow: &FlowMap, succs: &Successors, roots: &BTreeSet<Pc>) -> Vec<Block> {
    let mut leads = vec![false; flow.kind.len()];
    roots.iter().for_each(|&root| leads[root as usize] = true);
    let straight = |pc: Pc| succs.only(pc).filter(|next| flow.next.get(pc as usize) == Some(next));
    for pc in succs.reached() {
        // Marks for splitting change who runs, not where: marked code has the blocks of the unmarked.
        let plain =
            matches!(flow.kind[pc as usize], FlowKind::Next | FlowKind::SplitLanes { .. } | FlowKind::Merge);
        if !plain || straight(pc).is_none() {
            succs.all(pc).for_each(|to| leads[to as usize] = true);
        }
    }
    let firsts = (0..leads.len() as Pc).filter(|&pc| leads[pc as usize]);
    firsts
        .map(|first| {
            let goes_on = |&pc: &Pc| straight(pc).filter(|&next| !leads[next as usize]);
            let last = std::iter::successors(Some(first), goes_on).last().unwrap_or(first);
            Block { first, last, succs: Vec::new() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfg(kinds: &[FlowKind]) -> (Cfg, FlowMap) {
        labelled(kinds, &[0])
    }

    fn labelled(kinds: &[FlowKind], roots: &[Pc]) -> (Cfg, FlowMap) {
        let n = kinds.len();
        let mut flow = FlowMap {
            kind: kinds.to_vec(),
            next: (1..=n as Pc).collect(),
            rpc: vec![NO_PC; n],
            loop_split: vec![false; n],
            ..FlowMap::default()
        };
        let cfg = Cfg::build(&flow, &vec![true; n], roots.iter().copied()).expect("a graph");
        cfg.fill(&mut flow);
        (cfg, flow)
    }

    const EXIT: FlowKind = FlowKind::Exit { conditional: false };

    #[test]
    fn diamond_reconverges_at_the_join() {
        use FlowKind::*;
        // 0 branch 3 | 1 next, 2 jump 4 | 3 next | 4 exit
        let (cfg, flow) = cfg(&[Branch(3), Next, Jump(4), Next, EXIT]);
        assert_eq!(flow.rpc[0], 4);
        assert_eq!(cfg.blocks.len(), 4);
        assert!(cfg.loops.is_empty());
    }

    #[test]
    fn loop_split_is_told_from_an_if() {
        use FlowKind::*;
        // 0 body, 1 split, 2 branch 0, 3 split, 4 branch 6, 5 next, 6 join, 7 exit
        let (cfg, flow) = cfg(&[Next, Split, Branch(0), Split, Branch(6), Next, Join, EXIT]);
        assert_eq!(cfg.loops.len(), 1);
        assert!(flow.loop_split[1]);
        assert!(!flow.loop_split[3]);
        assert_eq!(flow.rpc[2], 3);
        assert_eq!(flow.rpc[4], 6);
    }

    #[test]
    fn nested_loops_with_one_header_both_have_loop_splits() {
        use FlowKind::*;
        // 0 body, 1 split, 2 branch 0, 3 next, 4 split, 5 branch 0, 6 exit
        let (_, flow) = cfg(&[Next, Split, Branch(0), Next, Split, Branch(0), EXIT]);
        assert!(flow.loop_split[1] && flow.loop_split[4]);
    }

    #[test]
    fn while_loop_with_forward_jump_is_a_loop_split() {
        use FlowKind::*;
        // 0 split, 1 branch 3, 2 jump 5, 3 body, 4 jump 0, 5 exit
        let (_, flow) = cfg(&[Split, Branch(3), Jump(5), Next, Jump(0), EXIT]);
        assert!(flow.loop_split[0]);
    }

    #[test]
    fn a_label_inside_a_loop_does_not_hide_the_loop() {
        use FlowKind::*;
        // 0 split, 1 branch 3, 2 jump 5, 3 body, 4 jump 0, 5 exit; labels at 0, 3 and 5, a function at 6
        let kinds = [Split, Branch(3), Jump(5), Next, Jump(0), EXIT, Next, EXIT];
        let (cfg, flow) = labelled(&kinds, &[0, 3, 5, 6]);
        assert!(flow.loop_split[0]);
        assert_eq!(cfg.loops.len(), 1);
    }

    #[test]
    fn mask_stack_pops_have_their_real_successors() {
        use FlowKind::*;
        // 0 push 5, 1 mask_nz, 2 next, 3 jump 1, 4 next, 5 exit   (pop goes to 5)
        let (cfg, flow) = cfg(&[PushMask(5), MaskNonZero, Next, Jump(1), Next, EXIT]);
        assert_eq!(flow.rpc[1], 5);
        assert_eq!(cfg.block_at(4), None, "unreachable");
        // br_push: 0 br 3,5 | 1 next 2 pop | 3 next 4 pop | 5 exit
        let (_, flow) =
            self::cfg(&[BranchPush { other: 3, reconverge: 5 }, Next, PopMask, Next, PopMask, EXIT]);
        assert_eq!(flow.rpc[0], 5);
    }

    #[test]
    fn endless_loop_has_no_post_dominator() {
        use FlowKind::*;
        let (_, flow) = cfg(&[Branch(0), Jump(0)]);
        assert_eq!(flow.rpc[0], NO_PC);
    }
}
