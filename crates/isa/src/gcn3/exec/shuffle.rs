//! DS instructions that move data between lanes without memory: swizzle, permute, bpermute.
//! A lane that is switched off gives zero.

use super::super::inst::Inst;
use super::super::state::Regs;
use super::operand::vectors;
use crate::lanes::bits;
use crate::{Mask, Trap};

/// `out[i] = source[from(i)]` for active lanes whose source is active, else zero.
fn gather(regs: &mut Regs, dst: usize, source: usize, lanes: Mask, from: impl Fn(&Regs, u32) -> u32) {
    let mut out = [0; 64];
    for lane in bits(lanes) {
        let other = from(regs, lane) & 63;
        if lanes >> other & 1 == 1 {
            out[lane as usize] = regs.v.get(source, other);
        }
    }
    for lane in bits(lanes) {
        regs.v.set(dst, lane, out[lane as usize]);
    }
}

/// Bit 15 of the offset: a permutation in every four lanes; else and, or, xor on the low five bits.
pub(super) fn swizzle(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, source) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let code = inst.imm as u32;
    gather(regs, dst, source, lanes, |_, lane| {
        if code >> 15 & 1 == 1 {
            lane & !3 | code >> (2 * (lane & 3)) & 3
        } else {
            lane & 32 | (lane & 31 & code | code >> 5 & 31) ^ code >> 10 & 31
        }
    });
    Ok(())
}

/// Every lane takes the value of the lane its address names.
pub(super) fn bpermute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, address) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let data = vectors(regs, inst.src[1], 1)?;
    let offset = inst.imm as u32 & 0xffff;
    gather(regs, dst, data, lanes, |regs, lane| regs.v.get(address, lane).wrapping_add(offset) >> 2);
    Ok(())
}

/// Every lane sends its value to the lane its address names; of several the highest lane wins.
pub(super) fn permute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, address) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let data = vectors(regs, inst.src[1], 1)?;
    let offset = inst.imm as u32 & 0xffff;
    let mut out = [0; 64];
    for lane in bits(lanes) {
        let to = regs.v.get(address, lane).wrapping_add(offset) >> 2 & 63;
        out[to as usize] = regs.v.get(data, lane);
    }
    for lane in bits(lanes) {
        regs.v.set(dst, lane, out[lane as usize]);
    }
    Ok(())
}
