//! What omod and clamp make of f32 results.

use super::super::inst::{Inst, omod};
use super::super::state::mode;
use super::row_engine::Row;
use crate::vector::vector;

/// The factor of a float result; none where MODE keeps denormals or asks for IEEE rules.
pub(super) fn factor(inst_omod: u8, mode: u32, keeps_denormals: bool) -> Option<f32> {
    match inst_omod {
        _ if keeps_denormals || mode & mode::IEEE != 0 => None,
        omod::MUL2 => Some(2.0),
        omod::MUL4 => Some(4.0),
        omod::DIV2 => Some(0.5),
        _ => None,
    }
}

/// Of an instruction: omod and clamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    omod: u8,
    clamp: bool,
}

impl Outcome {
    pub fn of(inst: &Inst) -> Outcome {
        Outcome { omod: inst.omod, clamp: inst.clamp() }
    }

    pub fn changes(self) -> bool {
        self.omod != 0 || self.clamp
    }

    /// A NaN passes omod as it is, clamp only without DX10_CLAMP. With a factor tiny results are +0.
    #[inline(always)]
    pub fn f32(self, row: &Row, mode: u32) -> Row {
        let factor = factor(self.omod, mode, mode & 1 << 5 != 0);
        let dx10 = mode & mode::DX10_CLAMP != 0;
        vector(
            #[inline(always)]
            move || {
                let mut out = *row;
                if let Some(factor) = factor {
                    for v in &mut out {
                        let x = f32::from_bits(*v);
                        let scaled = (x * factor).to_bits();
                        let scaled = if scaled & 0x7f80_0000 == 0 { 0 } else { scaled };
                        *v = if x.is_nan() { *v } else { scaled };
                    }
                }
                if self.clamp {
                    for v in &mut out {
                        let x = f32::from_bits(*v);
                        let limited = if x > 1.0 { 1f32.to_bits() } else { *v };
                        let limited = if x < 0.0 { 0 } else { limited };
                        *v = if x.is_nan() & dx10 { 0 } else { limited };
                    }
                }
                out
            },
        )
    }
}
