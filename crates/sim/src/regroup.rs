//! A block of waves has decided (TBC, LWM): what its waves do about it, whether the run has cycles or not.

use crate::divergence::TakeOver;
use crate::error::SimError;
use crate::exec::Exec;
use crate::wave::{Path, Wave};
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, Pc};

/// What became of the paths of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regrouped {
    /// They go on at this pc.
    GoOn(Pc),
    /// These, one bit each, are gone; those that exist now are new.
    New { old: u64 },
}

impl<I: Isa> Exec<'_, I> {
    /// The wave takes over what its block has decided. `unite`: the second path is gone, the first one has its lanes.
    pub(crate) fn regroup<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        unite: impl FnMut(&mut X, &X),
    ) -> Result<Regrouped, Box<SimError>> {
        let old = wave.ids;
        let done = match wave.divergence.take_over() {
            TakeOver::GoOn { pc } => {
                wave.parked = 0;
                for k in bits(wave.ids).map(|k| k as usize) {
                    wave.paths[k].path.pc = pc;
                    wave.paths[k].path.watch = wave.divergence.watch(k);
                }
                Regrouped::GoOn(pc)
            }
            TakeOver::New { pc, lanes, origin } => {
                self.unite(wave, unite);
                self.part(wave, pc, &lanes, origin)?;
                Regrouped::New { old }
            }
            TakeOver::Wait => {
                self.unite(wave, unite);
                wave.paths[0].path.mask = wave.live;
                wave.parked = 1;
                Regrouped::New { old }
            }
        };
        wave.changes.clear();
        wave.depth = wave.divergence.depth();
        wave.max_depth = wave.max_depth.max(wave.depth);
        if self.check {
            self.check(wave)?;
        }
        Ok(done)
    }

    /// All paths become path 0.
    fn unite<X>(&self, wave: &mut Wave<I, X>, mut unite: impl FnMut(&mut X, &X)) {
        if wave.ids & 1 == 0 {
            // Its lanes have ended: another one takes its number.
            let k = wave.ids.trailing_zeros() as usize;
            wave.paths.swap(0, k);
            wave.holder = match wave.holder {
                h if h == k => 0,
                0 => k,
                h => h,
            };
            wave.ids = wave.ids & !(1 << k) | 1;
        }
        for k in bits(wave.ids & !1).map(|k| k as usize) {
            if let Ok([a, b]) = wave.paths.get_disjoint_mut([0, k]) {
                unite(&mut a.own, &b.own);
            }
        }
        self.give_lanes(wave, 0);
        (wave.ids, wave.parked, wave.held) = (1, 0, 0);
    }

    /// The only path of the wave becomes several at `pc`.
    fn part<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        pc: Pc,
        lanes: &[Mask],
        origin: Pc,
    ) -> Result<(), Box<SimError>> {
        let from = wave.paths[0].path.from;
        let Some((&first, others)) = lanes.split_first() else { return Ok(()) };
        let watch = wave.divergence.watch(0);
        wave.paths[0].path = Path { pc, mask: first, watch, origin, from };
        for (i, &mask) in others.iter().enumerate() {
            self.split(wave, 0, (pc, first), (pc, mask), i + 1, origin, from)?;
        }
        Ok(())
    }
}
