//! DS instructions that move data between lanes without memory: swizzle, permute, bpermute.
//! A lane that is switched off gives zero.

use super::super::inst::Inst;
use super::super::state::Regs;
use super::operand::vectors;
use crate::lanes::{Row, bits};
use crate::{Mask, Trap};

/// `out[i] = source[from(i)]` for active lanes whose source is active, else zero.
#[inline(always)]
fn gather(regs: &mut Regs, dst: usize, source: usize, lanes: Mask, from: impl Fn(u32) -> u32) {
    let row = whole(regs, source);
    let mut out = [0; 64];
    for lane in 0..64 {
        let other = from(lane) & 63;
        let on = u32::from(lanes >> other & 1 == 1);
        out[lane as usize] = row[other as usize] & on.wrapping_neg();
    }
    regs.v.blend(dst, lanes, &out);
}

/// A row with 64 lanes, zeros behind those it has.
#[inline(always)]
fn whole(regs: &Regs, row: usize) -> Row<u32> {
    match regs.v.whole(row) {
        Some(row) => *row,
        None => std::array::from_fn(|lane| regs.v.row(row).get(lane).copied().unwrap_or(0)),
    }
}

/// Bit 15 of the offset: a permutation in every four lanes; else and, or, xor on the low five bits.
pub(super) fn swizzle(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, source) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let code = inst.imm as u32;
    gather(regs, dst, source, lanes, |lane| {
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
    let address = whole(regs, address);
    gather(regs, dst, data, lanes, |lane| address[lane as usize].wrapping_add(offset) >> 2);
    Ok(())
}

/// Every lane sends its value to the lane its address names; of several the highest lane wins.
pub(super) fn permute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, address) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let data = vectors(regs, inst.src[1], 1)?;
    let offset = inst.imm as u32 & 0xffff;
    let (address, data) = (whole(regs, address), whole(regs, data));
    let mut out = [0; 64];
    for lane in bits(lanes) {
        let to = address[lane as usize].wrapping_add(offset) >> 2 & 63;
        out[to as usize] = data[lane as usize];
    }
    regs.v.blend(dst, lanes, &out);
    Ok(())
}
