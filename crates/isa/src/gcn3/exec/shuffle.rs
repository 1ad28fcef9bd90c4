//! DS instructions that move data between lanes without memory: swizzle, permute, bpermute.
//! A lane that is switched off gives zero. Whole rows go by the host's own exchange of lanes, from register to register.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::inst::Inst;
use super::super::state::Regs;
use super::operand::vectors;
use crate::lanes::{Row, bits, blend, spread};
use crate::vector::{NullaryFnOnce, picked, vector_of};
use crate::{Mask, Trap};

/// Which lane each lane takes its value of; lanes count modulo 64.
trait Order {
    /// The lane for each lane; `row` gives rows of registers.
    fn lanes<'a>(&self, row: impl Fn(usize) -> &'a Row<u32>) -> Row<u32>;
}

/// The offset of a swizzle. Bit 15: a permutation in every four lanes; else and, or, xor on the low five bits.
struct Swizzle(u32);

impl Order for Swizzle {
    #[inline(always)]
    fn lanes<'a>(&self, _row: impl Fn(usize) -> &'a Row<u32>) -> Row<u32> {
        let (code, mut from) = (self.0, [0; 64]);
        if code >> 15 & 1 == 1 {
            for i in 0..64 {
                let lane = i as u32;
                from[i] = lane & !3 | code >> (2 * (lane & 3)) & 3;
            }
        } else {
            for i in 0..64 {
                let lane = i as u32;
                from[i] = lane & 32 | (lane & 31 & code | code >> 5 & 31) ^ code >> 10 & 31;
            }
        }
        from
    }
}

/// Four times the lane, in a row, plus an offset.
struct Addresses {
    row: usize,
    offset: u32,
}

impl Order for Addresses {
    #[inline(always)]
    fn lanes<'a>(&self, row: impl Fn(usize) -> &'a Row<u32>) -> Row<u32> {
        let (address, mut lanes) = (row(self.row), [0; 64]);
        for i in 0..64 {
            lanes[i] = address[i].wrapping_add(self.offset) >> 2 & 63;
        }
        lanes
    }
}

/// Rows of registers with 64 lanes; `dst` takes what `order` says of `source`.
struct Exchange<'a, O> {
    rows: &'a mut [Row<u32>],
    dst: usize,
    source: usize,
    lanes: Mask,
    order: O,
}

impl<O: Order> NullaryFnOnce for Exchange<'_, O> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Exchange { rows, dst, source, lanes, order } = self;
        let from = order.lanes(|row| &rows[row]);
        if lanes == Mask::MAX {
            rows[dst] = picked(&rows[source], &from);
            return;
        }
        let on = spread(lanes);
        let mut row = [0; 64];
        for i in 0..64 {
            row[i] = rows[source][i] & on[i];
        }
        blend(&mut rows[dst], &picked(&row, &from), lanes);
    }
}

/// `dst[i] = source[order(i)]` for active lanes whose source is active, else zero.
#[inline(always)]
fn gather<O: Order>(regs: &mut Regs, (dst, source): (usize, usize), lanes: Mask, order: O) {
    vector_of(Exchange { rows: regs.v.whole_rows_mut(), dst, source, lanes, order });
}

pub(super) fn swizzle(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, source) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    gather(regs, (dst, source), lanes, Swizzle(inst.imm as u32));
    Ok(())
}

/// Destination, addresses and data of a permutation.
fn operands(inst: &Inst, regs: &Regs) -> Result<(usize, Addresses, usize), Trap> {
    let (dst, row) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    let data = vectors(regs, inst.src[1], 1)?;
    Ok((dst, Addresses { row, offset: inst.imm as u32 & 0xffff }, data))
}

/// Every lane takes the value of the lane its address names.
pub(super) fn bpermute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, addresses, data) = operands(inst, regs)?;
    gather(regs, (dst, data), lanes, addresses);
    Ok(())
}

/// Every lane sends its value to the lane its address names; of several the highest lane wins.
pub(super) fn permute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (dst, addresses, data) = operands(inst, regs)?;
    vector_of(Sent { rows: regs.v.whole_rows_mut(), dst, data, lanes, addresses });
    Ok(())
}

struct Sent<'a> {
    rows: &'a mut [Row<u32>],
    dst: usize,
    data: usize,
    lanes: Mask,
    addresses: Addresses,
}

impl NullaryFnOnce for Sent<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Sent { rows, dst, data, lanes, addresses } = self;
        let (to, data) = (addresses.lanes(|row| &rows[row]), &rows[data]);
        let mut out = [0; 64];
        if lanes == Mask::MAX {
            for lane in 0..64 {
                out[to[lane] as usize & 63] = data[lane];
            }
            rows[dst] = out;
            return;
        }
        for lane in bits(lanes) {
            let lane = lane as usize & 63;
            out[to[lane] as usize & 63] = data[lane];
        }
        blend(&mut rows[dst], &out, lanes);
    }
}
