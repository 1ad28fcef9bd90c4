//! The mechanisms that split GCN3 waves, on plain branches of lane-pc machines: a split at a branch is a fork of its path. THESIS
//! (chapter 4) has no marks here, so branches split as they come while a reserve slot is free (opportunistic mode), and its paths never meet
//! by default. PWS (section 4.1) forks likewise and merges at the post-dominator, each path on units of its own. Dynamic warp subdivision
//! forks where the block behind the post-dominator is short (mechanisms 8): `dws` meets at every post-dominator, `dws-meng` at that of the
//! branch that divided the wave first.

use super::forking::{APART, Rules};
use super::forks::Forks;
use super::mechanism::{Context, Together};
use wb_hw::{Machine, Mechanism, Reconverge, RunAhead};
use wb_isa::{NO_PC, Pc};
use wb_program::Ahead;
use wb_trace::RefusedReason;

/// PWS.
#[derive(Debug)]
pub(super) struct PlainPws;

impl Rules for PlainPws {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Pws
    }
}

/// THESIS.
#[derive(Debug)]
pub(super) struct PlainThesis {
    reconverge: Reconverge,
}

impl PlainThesis {
    pub fn new(machine: &Machine) -> PlainThesis {
        PlainThesis { reconverge: machine.divergence.reconverge }
    }
}

impl Rules for PlainThesis {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Thesis
    }

    fn meeting(&self, _forks: &Forks, rpc: Pc, _cx: &Context) -> Pc {
        match self.reconverge {
            Reconverge::Default | Reconverge::Never => APART,
            Reconverge::RegionEnd | Reconverge::Anywhere | Reconverge::MaskStack => rpc,
        }
    }

    fn meets(&self) -> bool {
        self.reconverge == Reconverge::Anywhere
    }

    fn together(&self) -> Together {
        Together::Disjoint
    }
}

/// Dynamic warp subdivision.
#[derive(Debug)]
pub(super) struct PlainDws {
    mechanism: Mechanism,
    threshold: u32,
    reconverge: Reconverge,
    ahead: RunAhead,
}

impl PlainDws {
    pub fn new(machine: &Machine) -> PlainDws {
        let d = &machine.divergence;
        PlainDws { mechanism: d.mechanism, threshold: d.threshold, reconverge: d.reconverge, ahead: d.ahead }
    }
}

impl Rules for PlainDws {
    fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    fn refuses(&self, _forks: &Forks, rpc: Pc, cx: &Context) -> Option<RefusedReason> {
        let tail = if rpc == NO_PC { 0 } else { block(rpc, cx) };
        (tail >= self.threshold).then_some(RefusedReason::LongTail)
    }

    fn meeting(&self, forks: &Forks, rpc: Pc, cx: &Context) -> Pc {
        let frozen = self.mechanism == Mechanism::DwsMeng && forks.is_inside(cx.at.id);
        if frozen || self.reconverge == Reconverge::Never { APART } else { rpc }
    }

    fn meets(&self) -> bool {
        matches!(self.reconverge, Reconverge::Default | Reconverge::Anywhere)
    }

    fn ahead(&self, forks: &Forks, ahead: &Ahead, cx: &Context) -> Option<Pc> {
        if self.mechanism != Mechanism::DwsMeng {
            return None;
        }
        let free = self.ahead == RunAhead::Unlimited && ahead.lanewise && !forks.is_inside(cx.at.id);
        Some(if free { NO_PC } else { ahead.stop(cx.at.pc) })
    }
}

/// Instructions from a pc to the end of its block.
fn block(from: Pc, cx: &Context) -> u32 {
    let straight = |pc: &Pc| matches!(cx.map.kind.get(*pc as usize), Some(wb_isa::FlowKind::Next));
    let next = |pc: &Pc| cx.map.next.get(*pc as usize).copied().filter(|&n| n != NO_PC);
    let count = std::iter::successors(Some(from), next).take_while(straight).take(4096).count();
    count as u32 + 1
}
