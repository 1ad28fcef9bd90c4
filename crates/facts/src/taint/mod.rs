//! Which values can depend on the contents of buffers, and whether time can (docs/exact.md).
//!
//! Two runs of a launch with different contents are followed side by side. As long as they agree on everything that decides
//! time they execute the same instructions in the same cycles, so one run shows what every run does: which instructions are
//! executed, and which memory each of them touches. What is labelled here is checked again by [`wb_flowproof::taint`].

mod state;
mod step;

use crate::check::{analysable_with, calls_of};
use crate::code::code;
use state::{EXEC, State, VCC, bits};
use std::collections::{BTreeMap, BTreeSet};
pub use step::TaintRule;
use step::{Memories, Step};
pub use wb_flowproof::taint::{Labelling, Seen, TaintRefused, TimeUse, Witness};
use wb_flowproof::taint::{Labels, LaneCase};
use wb_isa::gcn3::Op;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::{FlowKind, Pc};
use wb_program::Program;

/// Rounds after which a kernel is given up: cases only become more, so there is an end, but it can be far.
const ROUNDS: usize = 200;

/// A place where time depends on contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaintedUse {
    pub pc: Pc,
    pub what: TimeUse,
    /// A load that the dependence comes from.
    pub from: Option<Pc>,
}

/// What was found out about a kernel.
#[derive(Clone, Debug, Default)]
pub struct Tainted {
    pub labelling: Labelling,
    /// None: the time of this launch is the same for all contents.
    pub uses: Vec<TaintedUse>,
}

/// Why nothing can be said about a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaintError {
    #[error("the flow of the kernel is not known: {0}")]
    Flow(String),
    #[error("{place}: `{text}` reads or writes registers that it does not name")]
    Instruction { place: String, text: String },
    #[error("the kernel is too large for the analysis")]
    TooLarge,
}

/// Labels a kernel; `witness` is what one run of the launch showed.
pub fn label(program: &Program<Gcn3>, witness: &Witness) -> Result<Tainted, TaintError> {
    label_without(program, witness, None)
}

/// The same with a rule left out, for the tests of the search and of the checker.
#[doc(hidden)]
pub fn label_without(
    program: &Program<Gcn3>,
    witness: &Witness,
    without: Option<TaintRule>,
) -> Result<Tainted, TaintError> {
    let calls = calls_of(program);
    analysable_with(program, &calls).map_err(|e| TaintError::Flow(e.to_string()))?;
    let uncovered = |pc: &&Pc| program.ops[**pc as usize].inst.as_ref().is_none_or(|i| !step::covered(i));
    if let Some(&pc) = witness.keys().find(uncovered) {
        return Err(TaintError::Instruction { place: program.place(pc), text: program.text_at(pc) });
    }
    let mut analysis = Analysis {
        program,
        witness,
        targets: &calls.targets,
        before: BTreeMap::new(),
        memories: Memories::default(),
        without,
        uses: BTreeSet::new(),
    };
    analysis.solve()?;
    let uses = analysis.uses.into_iter().collect();
    let blocks = analysis.before.iter().map(|(&pc, state)| labels(pc, state)).collect();
    let Memories { local, private } = analysis.memories;
    Ok(Tainted { labelling: Labelling { blocks, local, private }, uses })
}

/// Checks a labelling with [`wb_flowproof::taint`].
pub fn recheck(
    program: &Program<Gcn3>,
    witness: &Witness,
    labelling: &Labelling,
) -> Result<(), TaintRefused> {
    let calls = calls_of(program);
    if analysable_with(program, &calls).is_err() {
        return Err(TaintRefused::NotCovered { pc: program.entry });
    }
    wb_flowproof::taint::check(&code(program, &calls), witness, labelling)
}

struct Analysis<'a> {
    program: &'a Program<Gcn3>,
    witness: &'a Witness,
    targets: &'a BTreeMap<Pc, Pc>,
    /// Before the first instruction of each block that is executed.
    before: BTreeMap<Pc, State>,
    memories: Memories,
    without: Option<TaintRule>,
    uses: BTreeSet<TaintedUse>,
}

impl Analysis<'_> {
    fn solve(&mut self) -> Result<(), TaintError> {
        let entry = self.program.entry;
        self.before.insert(entry, State::start());
        let mut work = BTreeSet::from([entry]);
        let mut left = ROUNDS * self.program.cfg.blocks.len().max(1);
        while let Some(first) = work.pop_first() {
            left = left.checked_sub(1).ok_or(TaintError::TooLarge)?;
            let memories = self.memories;
            let (state, last) = self.through(first);
            for (to, zero) in self.after(last) {
                let mut state = state.clone();
                if let Some(pair) = zero.filter(|&p| state.tracked(p)) {
                    state.lanes.retain(|&case, _| bits(case, pair) == (false, false));
                }
                let needed = self.program.needed(to);
                let live = |pair: u8| (0..2).any(|i| needed.is_live(usize::from(2 * pair + i)));
                (0..64).filter(|&pair| !live(pair)).for_each(|pair| state.forget(pair));
                let changed = match self.before.get_mut(&to) {
                    Some(old) => old.join(&state),
                    None => self.before.insert(to, state).is_none(),
                };
                if changed {
                    work.insert(to);
                }
            }
            // What other waves leave in memory may reach every load.
            if self.memories != memories {
                work.extend(self.before.keys());
            }
        }
        // Uses were collected on the way, from states that were not yet final.
        self.uses.clear();
        let firsts: Vec<Pc> = self.before.keys().copied().collect();
        firsts.into_iter().for_each(|first| _ = self.through(first));
        Ok(())
    }

    /// The state after a block, and its last instruction that is executed.
    fn through(&mut self, first: Pc) -> (State, Pc) {
        let mut state = self.before[&first].clone();
        let mut pc = first;
        loop {
            let (Some(inst), Some(&seen)) =
                (self.program.ops[pc as usize].inst.as_ref(), self.witness.get(&pc))
            else {
                return (state, pc);
            };
            let without = self.without;
            let mut step = Step { pc, inst, seen, memories: &mut self.memories, without, uses: Vec::new() };
            step.run(&mut state);
            for (what, from) in step.uses {
                self.uses.insert(TaintedUse { pc, what, from: (from != state::NOWHERE).then_some(from) });
            }
            let next = self.program.flow.next[pc as usize];
            let goes_on = matches!(
                self.program.flow.kind[pc as usize],
                FlowKind::Next | FlowKind::SplitLanes { .. } | FlowKind::Merge | FlowKind::Barrier
            );
            if !goes_on || self.starts(next) {
                return (state, pc);
            }
            pc = next;
        }
    }

    fn starts(&self, pc: Pc) -> bool {
        self.program.cfg.block_at(pc).is_some_and(|b| self.program.cfg.blocks[b].first == pc)
    }

    /// Where execution goes on, as far as the run went there; and the mask that has no bits on that way.
    fn after(&self, last: Pc) -> Vec<(Pc, Option<u8>)> {
        let next = self.program.flow.next[last as usize];
        let to = match self.program.flow.kind[last as usize] {
            FlowKind::Jump(t) => vec![t],
            FlowKind::Branch(t) | FlowKind::MaskBranch { target: t, .. } if t != next => {
                let op = self.program.ops[last as usize].inst.as_ref().map(|i| i.op);
                let (taken, not) = match op {
                    Some(Op::SCbranchExecz) => (Some(EXEC), None),
                    Some(Op::SCbranchExecnz) => (None, Some(EXEC)),
                    Some(Op::SCbranchVccz) => (Some(VCC), None),
                    Some(Op::SCbranchVccnz) => (None, Some(VCC)),
                    _ => (None, None),
                };
                let both = [(t, taken), (next, not)];
                return both.into_iter().filter(|w| self.witness.contains_key(&w.0)).collect();
            }
            FlowKind::Call { .. } => self.targets.get(&last).copied().into_iter().collect(),
            // A return: to behind any call.
            FlowKind::Indirect { .. } => {
                self.targets.keys().map(|&call| self.program.flow.next[call as usize]).collect()
            }
            FlowKind::Exit { .. } => Vec::new(),
            _ => vec![next],
        };
        to.into_iter().filter(|pc| self.witness.contains_key(pc)).map(|pc| (pc, None)).collect()
    }
}

/// What holds before a block, as the checker reads it.
fn labels(pc: Pc, state: &State) -> Labels {
    let pairs: Vec<u8> = (0..=EXEC).filter(|&p| state.tracked(p)).collect();
    let lane = |(&case, vectors): (&u128, &state::Vectors)| {
        let mut both = [0u64; 2];
        for (i, &pair) in pairs.iter().enumerate() {
            let (a, b) = bits(case, pair);
            both[0] |= u64::from(a) << i;
            both[1] |= u64::from(b) << i;
        }
        LaneCase { bits: both, vectors: vectors.list() }
    };
    Labels {
        pc,
        scalars: (0..128).filter(|&n| state.scalar(n)).collect(),
        scc: state.scc,
        masks: pairs.iter().map(|p| 2 * p).collect(),
        lanes: state.lanes.iter().map(lane).collect(),
    }
}
