//! Call stacks. A return address is in registers or has been spilled, so stacks are not read from the machine: calls are followed as
//! they are executed, lane by lane, because lanes of a wave may be in different functions.

use crate::code::Code;
use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_isa::lanes::bits;
use wb_sim::Did;

/// A call that has not returned: the instruction that called, and where it goes on afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub at: Pc,
    pub back: Pc,
}

/// Calls within each other that are followed; endless recursion has more.
const DEEPEST: usize = 4096;

/// The calls of all lanes of all waves.
#[derive(Default)]
pub struct Calls {
    lanes: BTreeMap<(u32, u32), Vec<Call>>,
}

impl Calls {
    /// Follows an instruction that was executed.
    pub fn follow(&mut self, code: &Code, did: &Did) {
        if did.ended {
            self.lanes.retain(|(wave, _), _| *wave != did.wave);
            return;
        }
        let Some(to) = did.to else { return };
        if code.is_call(did.pc) {
            let Some(back) = code.next(did.pc).filter(|back| *back != to) else { return };
            for lane in bits(did.mask) {
                let stack = self.lanes.entry((did.wave, lane)).or_default();
                if stack.len() < DEEPEST {
                    stack.push(Call { at: did.pc, back });
                }
            }
        } else if code.may_return(did.pc) {
            for lane in bits(did.mask) {
                if let Some(stack) = self.lanes.get_mut(&(did.wave, lane))
                    && let Some(found) = stack.iter().rposition(|c| c.back == to)
                {
                    stack.truncate(found);
                }
            }
        }
    }

    /// Calls around what a lane executes now, the outermost first.
    pub fn of(&self, wave: u32, lane: u32) -> &[Call] {
        self.lanes.get(&(wave, lane)).map_or(&[], Vec::as_slice)
    }

    pub fn clear(&mut self) {
        self.lanes.clear();
    }
}
