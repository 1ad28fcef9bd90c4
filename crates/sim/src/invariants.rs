//! What must hold of a wave's masks after every instruction; asserted where a run asks for it.

use crate::error::{ErrorKind, SimError};
use crate::exec::Exec;
use crate::wave::{Interrupted, Wave};
use wb_isa::lanes::bits;
use wb_isa::{Isa, first_lanes};

impl<I: Isa> Exec<'_, I> {
    /// Masks of a wave's paths are disjoint; paths, set-aside and exited lanes make up the launched ones.
    pub(crate) fn check<X>(&self, wave: &Wave<I, X>) -> Result<(), Box<SimError>> {
        let mut wrong = None;
        let mut all = 0;
        let mut restored = 0;
        for k in bits(wave.ids) {
            let mask = wave.paths[k as usize].path.mask;
            if mask == 0 {
                wrong = Some("a path without lanes");
            } else if wave.interrupted == Interrupted::No && mask & !wave.live != 0 {
                wrong = Some("a path with lanes that are not live");
            } else if all & mask != 0 {
                wrong = Some("two paths share a lane");
            }
            all |= mask;
            restored |= mask;
        }
        if wave.ids != 0 && wave.interrupted == Interrupted::No {
            wave.divergence.set_aside(&mut |mask| {
                if all & mask & wave.live != 0 {
                    wrong = Some("two paths share a lane");
                }
                all |= mask;
            });
            wave.divergence.restores(&mut |mask| restored |= mask);
            if (all | restored) & wave.live != wave.live {
                wrong = Some("a live lane belongs to no path");
            }
        }
        if wave.ids & !first_lanes(self.contexts + 1) != 0 {
            wrong = Some("more paths than the machine has contexts");
        }
        let Some(what) = wrong else { return Ok(()) };
        let message = format!("mask invariant broken: {what} ({:x?})", wave.divergence);
        let error = SimError::new(ErrorKind::Invariant, message);
        let path = &wave.paths[wave.holder].path;
        Err(Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes)))
    }
}
