//! Stack-less execution (mechanisms 17; Collange, 2011): of the lanes of a wave, those with the deepest call and, of these, the smallest
//! pc run; the others wait where they are. Lanes at the same pc run together. There is no stack and no table of reconvergence points:
//! compilers put code that post-dominates a branch behind it.

use super::forking::{APART, Rules};
use super::forks::Forks;
use super::mechanism::{Context, Standing};
use std::cmp::Reverse;
use wb_hw::Mechanism;
use wb_isa::Pc;

#[derive(Debug)]
pub(super) struct MinPc;

impl Rules for MinPc {
    fn mechanism(&self) -> Mechanism {
        Mechanism::MinPc
    }

    fn meeting(&self, _forks: &Forks, _rpc: Pc, _cx: &Context) -> Pc {
        APART
    }

    fn meets(&self) -> bool {
        true
    }

    fn holds(&self) -> bool {
        true
    }

    fn held(&mut self, forks: &Forks, paths: &[Standing]) -> u64 {
        let first = paths.iter().min_by_key(|p| (Reverse(forks.calls(p.id)), p.pc, p.id)).map(|p| p.id);
        paths.iter().filter(|p| Some(p.id) != first).fold(0, |m, p| m | 1 << p.id)
    }
}
