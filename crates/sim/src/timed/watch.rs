//! The two oracles of SWAS section VI-A4, beside the real issue scheduler: the first assumes that queues are never empty, the
//! second forgives an empty queue for a while after a miss and after a taken branch. What they would have chosen
//! otherwise is counted per cycle while a wave is in the kernel.

use super::core::Core;
use crate::frontend::Breaks;
use crate::sched::{MakePolicy, Policy};
use crate::schedule::{Cause, Decision, Schedule};
use std::ops::Range;
use wb_hw::Machine;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, NO_PC, Pc};

/// The oracles of one issue scheduler.
struct Pair {
    first: Box<dyn Policy>,
    second: Box<dyn Policy>,
}

/// Whether a wave is in the kernel: from its first instruction until it is back behind the call.
#[derive(Clone, Copy)]
struct Position {
    /// Behind the instruction issued last.
    behind: Pc,
    /// Where the kernel returns to, while the wave is in it.
    returns: Option<Pc>,
}

pub struct Watch {
    pub schedule: Schedule,
    pairs: Vec<Vec<Pair>>,
    /// The oracles follow the real scheduler in every cycle: greedy policies, and where several waves issue at once.
    follow: bool,
    /// First pc of the kernel, [`NO_PC`] = the whole run.
    kernel: Pc,
    positions: Vec<Vec<Position>>,
    inside: u32,
    /// What was seen in this cycle, not yet counted.
    discrepancies: Vec<Cause>,
    errors: Vec<Cause>,
    committed: (u64, u64),
    breaks: Breaks,
    nops: u64,
    /// Decisions in these cycles are kept; counted from where the kernel begins.
    keep: Range<u64>,
    pub decisions: Vec<Decision>,
}

impl Watch {
    pub fn new(
        machine: &Machine,
        issuers: usize,
        kernel: Pc,
        keep: Range<u64>,
        (issue, greedy): (&MakePolicy, bool),
    ) -> Self {
        let pair = |_| Pair { first: issue(), second: issue() };
        let position = Position { behind: NO_PC, returns: None };
        let schedulers = machine.cores * machine.core.partitions;
        Watch {
            schedule: Schedule { schedulers, ..Schedule::default() },
            pairs: (0..machine.cores).map(|_| (0..issuers).map(pair).collect()).collect(),
            follow: greedy || machine.issue.width > 1 || issuers > machine.core.partitions as usize,
            kernel,
            positions: vec![vec![position; machine.core.waves as usize]; machine.cores as usize],
            inside: 0,
            discrepancies: Vec::new(),
            errors: Vec::new(),
            committed: (0, 0),
            breaks: Breaks::default(),
            nops: 0,
            keep,
            decisions: Vec::new(),
        }
    }

    /// Issuer `q` has chosen `pick`; its policy remembered `before` when it did.
    pub fn look<I: Isa>(
        &mut self,
        core: &mut Core<I>,
        c: usize,
        q: usize,
        now: u64,
        before: u64,
        pick: Option<u32>,
    ) {
        let (ready, blocked, empty) = core.foresee(q, now, 0);
        let cause = |core: &Core<I>, local: u32| excused(core, q, local, now);
        let excused = bits(empty).filter(|&s| cause(core, s) != Cause::Synchronisation);
        let excused = excused.fold(0, |all, s| all | 1u64 << s);
        self.compare(
            core,
            (c, q, now),
            before,
            pick,
            Sets { ready, blocked, empty, excused, active: core.active(q) },
            &cause,
        );
    }

    /// As [`Watch::look`], where the `n` contexts of partition `p` share an issue port: a wave is ready if one of them is.
    #[allow(clippy::too_many_arguments)]
    pub fn look_shared<I: Isa>(
        &mut self,
        core: &mut Core<I>,
        c: usize,
        p: usize,
        now: u64,
        before: u64,
        pick: Option<u32>,
        n: usize,
    ) {
        let partitions = core.partitions;
        let mut all = Sets::default();
        let mut there = 0;
        let mut missed = 0u64;
        for k in 0..n {
            let q = k * partitions + p;
            let (ready, blocked, empty) = core.foresee(q, now, 0);
            all.active |= core.active(q);
            all.ready |= ready;
            all.blocked |= blocked;
            there |= ready & !empty;
            for local in bits(empty) {
                match excused(core, q, local, now) {
                    Cause::Synchronisation => {}
                    cause => {
                        all.excused |= 1 << local;
                        missed |= u64::from(cause == Cause::Miss) << local;
                    }
                }
            }
        }
        all.empty = all.ready & !there;
        all.excused &= all.empty;
        let set = all;
        let cause = |_: &Core<I>, local: u32| match (missed >> local & 1, set.excused >> local & 1) {
            (1, _) => Cause::Miss,
            (_, 1) => Cause::Branch,
            _ => Cause::Synchronisation,
        };
        self.compare(core, (c, p, now), before, pick, all, &cause);
    }

    /// Scheduler `q` of core `c` in cycle `now`.
    fn compare<I: Isa>(
        &mut self,
        core: &Core<I>,
        (c, q, now): (usize, usize, u64),
        before: u64,
        pick: Option<u32>,
        sets: Sets,
        cause: &dyn Fn(&Core<I>, u32) -> Cause,
    ) {
        let Pair { first, second } = &mut self.pairs[c][q];
        if self.follow {
            first.remember(before);
            second.remember(before);
        }
        let why = |choice: Option<u32>| match choice {
            Some(local) if sets.empty >> local & 1 == 1 => cause(core, local),
            _ => Cause::Shifted,
        };
        let view = |ready: u64| core.oracle(q, ready, sets.blocked, sets.active);
        let wanted = first.pick(&view(sets.ready));
        let discrepancy = (wanted != pick).then(|| why(wanted));
        let choice = second.pick(&view(sets.ready & !sets.excused));
        let error = (choice != pick).then(|| why(choice));
        self.discrepancies.extend(discrepancy);
        self.errors.extend(error);
        if self.keep.contains(&self.schedule.cycles) && (self.inside > 0 || self.kernel == NO_PC) {
            let slot = |local: u32| core.slot_number(q, local as usize) as u32;
            let nop = pick.is_some_and(|local| core.nop_next(q, local as usize));
            let (core, scheduler, slot, wanted) = (c as u32, q as u32, pick.map(slot), wanted.map(slot));
            self.decisions.push(Decision {
                cycle: now,
                core,
                scheduler,
                slot,
                nop,
                wanted,
                discrepancy,
                error,
            });
        }
    }

    /// The wave in `slot` issued the instruction at `pc`; `next` is the one behind it.
    pub fn issued(&mut self, c: usize, slot: usize, pc: Pc, next: Pc, active: Mask) {
        if self.kernel != NO_PC {
            let p = &mut self.positions[c][slot];
            match p.returns {
                None if pc == self.kernel => {
                    p.returns = Some(p.behind);
                    self.inside += 1;
                }
                Some(to) if to == pc => {
                    p.returns = None;
                    self.inside -= 1;
                }
                _ => {}
            }
            p.behind = next;
            if p.returns.is_none() {
                return;
            }
        }
        self.committed.0 += 1;
        self.committed.1 += u64::from(active.count_ones());
    }

    /// The wave in `slot` is gone.
    pub fn ended(&mut self, c: usize, slot: usize) {
        let p = &mut self.positions[c][slot];
        self.inside -= u32::from(p.returns.take().is_some());
        p.behind = NO_PC;
    }

    /// Counts the cycle, if it is one of the kernel. `breaks` and `nops` are totals since the start.
    pub fn end_cycle(&mut self, breaks: impl Iterator<Item = Breaks>, nops: u64) {
        let breaks = breaks.fold(Breaks::default(), |a, b| Breaks {
            misses: a.misses + b.misses,
            redirects: a.redirects + b.redirects,
            discarded: a.discarded + b.discarded,
        });
        let s = &mut self.schedule;
        if self.inside > 0 || self.kernel == NO_PC {
            s.cycles += 1;
            s.nops += nops - self.nops;
            s.misses += breaks.misses - self.breaks.misses;
            s.taken_branches += breaks.redirects - self.breaks.redirects;
            s.discarded += breaks.discarded - self.breaks.discarded;
            self.discrepancies.iter().for_each(|&c| s.discrepancies.count(c));
            self.errors.iter().for_each(|&c| s.errors.count(c));
        }
        s.committed += self.committed.0;
        s.lane_instructions += self.committed.1;
        self.committed = (0, 0);
        (self.breaks, self.nops) = (breaks, nops);
        self.discrepancies.clear();
        self.errors.clear();
    }
}

/// Seats of a scheduler in one cycle: what could issue with instructions, lacks only a unit, has no instruction, and has
/// none for a reason that can be foreseen.
#[derive(Clone, Copy, Default)]
struct Sets {
    ready: u64,
    blocked: u64,
    empty: u64,
    excused: u64,
    /// Waits neither at a barrier nor for a sibling.
    active: u64,
}

/// Why the queue of a seat is empty.
fn excused<I: Isa>(core: &Core<I>, q: usize, local: u32, now: u64) -> Cause {
    let excuse = core.excuse(q, local as usize);
    if excuse.miss > now {
        Cause::Miss
    } else if excuse.branch > now {
        Cause::Branch
    } else {
        Cause::Synchronisation
    }
}
