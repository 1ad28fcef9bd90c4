//! Where instructions lead, the mask stack included: `pop_mask` goes to what was pushed. A state is an instruction and the
//! push that made the top of the stack; what lies below is told by who was on top when that push ran. So nested pushes
//! cost one state each, and a program that pushes in a loop has finitely many.

use crate::flow::FlowMap;
use crate::too_complex::TooComplex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use wb_isa::{FlowKind, NO_PC, Pc};

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

/// Where each instruction leads. Nearly all lead to one other: these have no list.
pub(crate) struct Successors {
    reached: Vec<bool>,
    /// The first successor that was found, and those of instructions that have more.
    one: Vec<Pc>,
    more: BTreeMap<Pc, BTreeSet<Pc>>,
}

impl Successors {
    fn of(n: usize) -> Successors {
        Successors { reached: vec![false; n], one: vec![NO_PC; n], more: BTreeMap::new() }
    }

    fn insert(&mut self, from: Pc, to: Pc) {
        let one = &mut self.one[from as usize];
        if *one == NO_PC {
            *one = to;
        } else if *one != to {
            self.more.entry(from).or_insert_with(|| BTreeSet::from([*one])).insert(to);
        }
    }

    /// Instructions that can be reached, in their order.
    pub fn reached(&self) -> impl Iterator<Item = Pc> + '_ {
        self.reached.iter().enumerate().filter(|(_, reached)| **reached).map(|(pc, _)| pc as Pc)
    }

    /// The only successor; none if there are several or none.
    pub fn only(&self, pc: Pc) -> Option<Pc> {
        let one = self.one[pc as usize];
        (one != NO_PC && !self.more.contains_key(&pc)).then_some(one)
    }

    /// All successors, in their order.
    pub fn all(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let more = self.more.get(&pc);
        let one = Some(self.one[pc as usize]).filter(|&one| one != NO_PC && more.is_none());
        one.into_iter().chain(more.into_iter().flatten().copied())
    }
}

struct Walk<'a> {
    valid: &'a [bool],
    succs: Successors,
    frames: Vec<Frame>,
    /// Frames by the pc that pushed and where a pop goes.
    numbers: HashMap<(Pc, Pc), usize>,
    /// States that were looked at: those with an empty stack, the others, and how many there are.
    empty: Vec<bool>,
    seen: HashSet<(Pc, usize)>,
    states: usize,
    work: Vec<(Pc, usize)>,
}

/// Successor pcs of every reachable instruction. More than `limit` states are refused.
pub(crate) fn successors(
    flow: &FlowMap,
    valid: &[bool],
    roots: &BTreeSet<Pc>,
    limit: usize,
) -> Result<Successors, TooComplex> {
    let mut w = Walk {
        valid,
        succs: Successors::of(flow.kind.len()),
        frames: vec![Frame::default()],
        numbers: HashMap::new(),
        empty: vec![false; flow.kind.len()],
        seen: HashSet::new(),
        states: 0,
        work: roots.iter().map(|&r| (r, 0)).collect(),
    };
    while let Some((pc, frame)) = w.work.pop() {
        let new = match frame {
            0 => !std::mem::replace(&mut w.empty[pc as usize], true),
            _ => w.seen.insert((pc, frame)),
        };
        if !new {
            continue;
        }
        w.states += 1;
        if w.states > limit {
            return Err(TooComplex::Masks(limit));
        }
        w.succs.reached[pc as usize] = true;
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
            self.succs.insert(from, to);
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

    fn walk(kinds: &[FlowKind]) -> Result<BTreeMap<Pc, BTreeSet<Pc>>, TooComplex> {
        let n = kinds.len();
        let flow = FlowMap {
            kind: kinds.to_vec(),
            next: (1..=n as Pc).collect(),
            rpc: vec![NO_PC; n],
            loop_split: vec![false; n],
            ..FlowMap::default()
        };
        let found = successors(&flow, &vec![true; n], &BTreeSet::from([0]), 1 << 20)?;
        Ok(found.reached().map(|pc| (pc, found.all(pc).collect())).collect())
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
