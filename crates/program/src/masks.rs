//! Where instructions lead, the mask stack included: `pop_mask` goes to what was pushed. A state is an instruction and the
//! push that made the top of the stack; what lies below is told by who was on top when that push ran. So nested pushes
//! cost one state each, and a program that pushes in a loop has finitely many.

use crate::flow::FlowMap;
use crate::too_complex::TooComplex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use wb_isa::{FlowKind, Pc};

pub(crate) fn is_code(valid: &[bool], pc: Pc) -> bool {
    valid.get(pc as usize).copied().unwrap_or(false)
}

/// The top of the stack: where a pop goes, and what can be on top after it. Frame 0 is the empty stack.
#[derive(Default)]
struct Frame {
    to: Option<Pc>,
    below: BTreeSet<usize>,
    popped: bool,
}

struct Walk<'a> {
    valid: &'a [bool],
    succs: BTreeMap<Pc, BTreeSet<Pc>>,
    frames: Vec<Frame>,
    /// Frames by the pc that pushed and where a pop goes.
    numbers: HashMap<(Pc, Pc), usize>,
    seen: HashSet<(Pc, usize)>,
    work: Vec<(Pc, usize)>,
}

/// Successor pcs of every reachable instruction. More than `limit` states are refused.
pub(crate) fn successors(
    flow: &FlowMap,
    valid: &[bool],
    roots: &BTreeSet<Pc>,
    limit: usize,
) -> Result<BTreeMap<Pc, BTreeSet<Pc>>, TooComplex> {
    let mut w = Walk {
        valid,
        succs: BTreeMap::new(),
        frames: vec![Frame::default()],
        numbers: HashMap::new(),
        seen: HashSet::new(),
        work: roots.iter().map(|&r| (r, 0)).collect(),
    };
    while let Some((pc, frame)) = w.work.pop() {
        if !w.seen.insert((pc, frame)) {
            continue;
        }
        if w.seen.len() > limit {
            return Err(TooComplex::Masks(limit));
        }
        w.succs.entry(pc).or_default();
        w.step(flow, pc, frame);
    }
    Ok(w.succs)
}

impl Walk<'_> {
    fn step(&mut self, flow: &FlowMap, pc: Pc, frame: usize) {
        let next = flow.next[pc as usize];
        match flow.kind[pc as usize] {
            FlowKind::Next
            | FlowKind::Split
            | FlowKind::Join
            | FlowKind::SplitLanes { .. }
            | FlowKind::Merge
            | FlowKind::Spawn
            | FlowKind::Barrier => self.go(pc, next, frame),
            FlowKind::Jump(t) => self.go(pc, t, frame),
            FlowKind::Branch(t) | FlowKind::MaskBranch { target: t, .. } => {
                self.go(pc, next, frame);
                self.go(pc, t, frame);
            }
            FlowKind::Call { target, .. } => {
                self.go(pc, next, frame);
                if let Some(t) = target.filter(|&t| is_code(self.valid, t)) {
                    self.work.push((t, 0));
                }
            }
            FlowKind::Indirect { conditional } | FlowKind::Exit { conditional } => {
                if conditional {
                    self.go(pc, next, frame);
                }
            }
            FlowKind::PushMask(r) => {
                let pushed = self.push(pc, r, frame);
                self.go(pc, next, pushed);
            }
            FlowKind::PopMask => self.pop(pc, frame),
            FlowKind::MaskNonZero => {
                self.go(pc, next, frame);
                self.pop(pc, frame);
            }
            FlowKind::BranchPush { other, reconverge } => {
                let one = self.push(pc, reconverge, frame);
                // The second entry may go where the first one goes; they are two all the same.
                let two = self.frame((pc, other), one != 0 && other == reconverge, other);
                self.link(two, one);
                self.go(pc, next, two);
                self.go(pc, next, one);
                self.go(pc, other, one);
            }
        }
    }

    fn go(&mut self, from: Pc, to: Pc, frame: usize) {
        if is_code(self.valid, to) {
            self.succs.entry(from).or_default().insert(to);
            self.work.push((to, frame));
        }
    }

    fn push(&mut self, pc: Pc, to: Pc, below: usize) -> usize {
        let frame = self.frame((pc, to), false, to);
        self.link(frame, below);
        frame
    }

    /// `again`: the frame on top of another of the same push.
    fn frame(&mut self, (pc, to): (Pc, Pc), again: bool, goes: Pc) -> usize {
        let next = self.frames.len();
        // Pcs are far below 2^31: the top bit tells the two apart.
        let key = (if again { pc | 1 << 31 } else { pc }, to);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.frames.push(Frame { to: Some(goes), ..Frame::default() });
        }
        number
    }

    /// `below` may be on top after `frame` is popped.
    fn link(&mut self, frame: usize, below: usize) {
        if self.frames[frame].below.insert(below)
            && self.frames[frame].popped
            && let Some(to) = self.frames[frame].to.filter(|&to| is_code(self.valid, to))
        {
            self.work.push((to, below));
        }
    }

    fn pop(&mut self, pc: Pc, frame: usize) {
        // A pop of the empty stack ends the path.
        let Some(to) = self.frames[frame].to else { return };
        self.frames[frame].popped = true;
        let below: Vec<usize> = self.frames[frame].below.iter().copied().collect();
        below.into_iter().for_each(|b| self.go(pc, to, b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_isa::NO_PC;

    fn walk(kinds: &[FlowKind]) -> Result<BTreeMap<Pc, BTreeSet<Pc>>, TooComplex> {
        let n = kinds.len();
        let flow = FlowMap {
            kind: kinds.to_vec(),
            next: (1..=n as Pc).collect(),
            rpc: vec![NO_PC; n],
            loop_split: vec![false; n],
            ..FlowMap::default()
        };
        successors(&flow, &vec![true; n], &BTreeSet::from([0]), 1 << 20)
    }

    #[test]
    fn every_level_of_a_deep_stack_has_its_place() {
        let n = 20_000;
        // n pushes, n pops: the pop of level k goes behind itself.
        let mut kinds: Vec<FlowKind> = (0..n).map(|k| FlowKind::PushMask(2 * n - k)).collect();
        kinds.extend((0..n).map(|_| FlowKind::PopMask));
        kinds.push(FlowKind::Exit { conditional: false });
        let succs = walk(&kinds).expect("few states");
        for pc in 0..2 * n {
            assert_eq!(succs[&pc], BTreeSet::from([pc + 1]), "pc {pc}");
        }
    }

    #[test]
    fn nested_branches_do_not_multiply() {
        use FlowKind::*;
        // 0 br_push 2 3 | 1 pop | 2 pop | 3 …, thirty times within each other on the first side.
        let depth = 30;
        let mut kinds = Vec::new();
        let end = |level: Pc| depth + 2 * (depth - level);
        for level in 0..depth {
            kinds.push(BranchPush { other: end(level) - 1, reconverge: end(level) });
        }
        kinds.extend((0..2 * depth).map(|_| PopMask));
        kinds.push(Exit { conditional: false });
        let succs = walk(&kinds).expect("few states");
        assert_eq!(succs[&0], BTreeSet::from([1, end(0) - 1]));
        assert_eq!(succs[&(end(0) - 1)], BTreeSet::from([end(0)]));
    }

    #[test]
    fn a_loop_that_pushes_has_an_end() {
        use FlowKind::*;
        // 0 push 3, 1 branch 0, 2 pop, 3 pop, 4 exit
        let succs = walk(&[PushMask(3), Branch(0), PopMask, PopMask, Exit { conditional: false }]);
        let succs = succs.expect("few states");
        assert_eq!(succs[&2], BTreeSet::from([3]));
        // The second level pops to 3 again, with the first one below.
        assert_eq!(succs[&3], BTreeSet::from([3]));
    }
}
