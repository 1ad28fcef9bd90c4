//! What mechanisms that fork at plain branches share: the branch itself, calls, exits, and where paths meet. A mechanism says which
//! branches fork, where the paths meet, and which of a wave's paths may run ([`Rules`]).

use super::forks::Forks;
use super::mechanism::{Change, Context, Divergence, Refusal, Standing, Together, plain, unsupported};
use super::stack::ordered;
use std::fmt::Debug;
use wb_hw::{FirstSide, Machine, Mechanism};
use wb_isa::{Flow, FlowKind, Mask, NO_PC, Pc};
use wb_program::Ahead;
use wb_trace::{Kind, RefusedReason};

/// What a mechanism decides.
pub(super) trait Rules: Debug + Send {
    fn mechanism(&self) -> Mechanism;

    /// Why the path does not fork at this branch, which meets at `rpc`; none: it does.
    fn refuses(&self, _forks: &Forks, _rpc: Pc, _cx: &Context) -> Option<RefusedReason> {
        None
    }

    /// Where the two paths meet; [`NO_PC`]: where their surroundings do.
    fn meeting(&self, _forks: &Forks, rpc: Pc, _cx: &Context) -> Pc {
        rpc
    }

    /// Forks inside one that meets at the same place belong to it.
    fn again(&self) -> bool {
        true
    }

    /// Paths become one wherever they stand at the same pc.
    fn meets(&self) -> bool {
        false
    }

    /// Paths that do not run now, one bit each; `paths` are those that could. Asked after every change if it [holds](Rules::holds).
    fn held(&mut self, _forks: &Forks, _paths: &[Standing]) -> u64 {
        0
    }

    fn holds(&self) -> bool {
        false
    }

    fn together(&self) -> Together {
        Together::One
    }

    fn sticky(&self) -> bool {
        false
    }

    /// How far lanes whose data are there run ahead of the others: the place where they wait. None: they do not.
    fn ahead(&self, _forks: &Forks, _ahead: &Ahead, _cx: &Context) -> Option<Pc> {
        None
    }

    /// A backward branch of a path that goes round: what it means for who runs.
    fn went_round(&mut self, _id: usize) {}
}

/// A mechanism with such rules, for one wave.
#[derive(Debug)]
pub(super) struct Forking<R> {
    rules: R,
    first: FirstSide,
    forks: Forks,
}

impl<R: Rules> Forking<R> {
    pub fn new(machine: &Machine, rules: R) -> Forking<R> {
        Forking { rules, first: machine.divergence.first, forks: Forks::new(machine.limits.stack_depth) }
    }

    fn branch(&mut self, taken: (Pc, Mask), cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        let not_taken = (at.next, at.mask & !taken.1);
        let sides = ordered(self.first, taken, not_taken);
        let rpc = cx.map.rpc[at.pc as usize];
        let meeting = self.rules.meeting(&self.forks, rpc, cx);
        let place = if meeting == APART { self.forks.watch(at.id) } else { meeting };
        let refused = match () {
            // One side would wait before its first instruction.
            () if place != NO_PC && (taken.0 == place || at.next == place) => Some(RefusedReason::OneSided),
            () if cx.free == 0 => Some(RefusedReason::NoContext),
            () => self.rules.refuses(&self.forks, rpc, cx),
        };
        if let Some(reason) = refused {
            cx.notes.add(|| Kind::SplitRefused { reason, lanes: not_taken.1 });
            return self.forks.serialise(sides, cx);
        }
        cx.notes.add(|| Kind::Split { taken: taken.1, other: not_taken.1 });
        Ok(self.forks.fork(sides, meeting, self.rules.again(), cx))
    }

    /// Calls and returns of the whole path.
    fn count_calls(&mut self, flow: Flow, cx: &Context) {
        let by = match (flow, cx.map.kind[cx.at.pc as usize]) {
            (Flow::Jump(_), FlowKind::Call { .. }) => 1,
            (Flow::Jump(_), FlowKind::Indirect { .. }) => -1,
            _ => return,
        };
        self.forks.called(cx.at.id, by);
    }
}

impl<R: Rules> Divergence for Forking<R> {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        self.count_calls(flow, cx);
        if let Flow::Jump(target) | Flow::Branch { target, .. } = flow
            && target <= at.pc
        {
            self.rules.went_round(at.id);
        }
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { target, .. } if target == at.next => Ok(Change::on(at, target)),
            Flow::Branch { taken, target } => self.branch((target, taken), cx),
            Flow::Exit { lanes } => Ok(self.forks.exit(lanes, cx)),
            _ => Err(unsupported(flow, self.rules.mechanism())),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(self.forks.arrive(cx))
    }

    fn watch(&self, id: usize) -> Pc {
        self.forks.watch(id)
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn forks(&self) -> bool {
        true
    }

    fn meets(&self) -> bool {
        self.rules.meets()
    }

    fn meet(&mut self, other: usize, cx: &mut Context) -> Option<Change> {
        self.forks.meet(other, cx)
    }

    fn holds(&self) -> bool {
        self.rules.holds()
    }

    fn held(&mut self, paths: &[Standing]) -> u64 {
        self.rules.held(&self.forks, paths)
    }

    fn together(&self) -> Together {
        self.rules.together()
    }

    fn sticky(&self) -> bool {
        self.rules.sticky()
    }

    fn divide(&mut self, hits: Mask, until: u64, ahead: &Ahead, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        let (taken, other) = (at.mask & hits, at.mask & !hits);
        if cx.free == 0 || taken == 0 || other == 0 {
            return None;
        }
        let stop = self.rules.ahead(&self.forks, ahead, cx).filter(|&stop| stop != at.pc)?;
        cx.notes.add(|| Kind::Split { taken, other });
        let change = self.forks.fork([(at.pc, taken), (at.pc, other)], stop, true, cx);
        if let Change::Split { id, .. } = change {
            self.forks.wait_for_data(id, until);
        }
        Some(change)
    }

    fn depth(&self) -> usize {
        self.forks.depth()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.forks.set_aside(each);
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.forks.restores(each);
    }
}

/// Paths never meet again by themselves.
pub(super) const APART: Pc = NO_PC;
