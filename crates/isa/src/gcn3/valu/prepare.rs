//! Instructions with SDWA selections, DPP lane movement, clamp or omod: sources are prepared in a small file
//! of their own, the operation runs there, and its result is finished and blended into the registers.

use super::super::inst::{Dpp, DppCtrl, Format, Inst, NO_SDST, Sdwa, Sel, Unused};
use super::super::op::Op;
use super::super::operand::Ty;
use super::super::state::{Regs, mode};
use super::super::table::Halves;
use super::num::{flush16, half_from_f64, half_to_f64};
use super::operation::{resolve, run, sign_bit, vector_row, write_condition};
use super::outcome::{Outcome, factor};
use super::row_engine::{Cx, LANES, Row, Src};
use super::wide::flush64;
use super::{compare, cross, directed};
use crate::lanes::bits;
use crate::{Mask, Trap};

/// Rows of the small file: two for each of the first sources, four for the third and for the destination.
const ROWS: usize = 12;
const SOURCE: [usize; 3] = [0, 2, 4];
const DST: usize = 8;
struct Small([Row; ROWS]);

impl Small {
    fn get(&self, row: usize, lane: usize) -> u32 {
        self.0[row][lane]
    }

    fn set(&mut self, row: usize, lane: usize, v: u32) {
        self.0[row][lane] = v;
    }

    /// Applies `f` to a row.
    fn change(&mut self, row: usize, f: impl Fn(u32) -> u32) {
        for v in &mut self.0[row] {
            *v = f(*v);
        }
    }
}

pub(super) fn execute(inst: &Inst, regs: &mut Regs, mut lanes: Mask) -> Result<(), Trap> {
    if cross::is_one(inst.op) {
        return cross::execute(inst, regs, lanes);
    }
    let round = directed::wanted(inst, regs.mode)?;
    let entry = inst.entry();
    let sdwa = inst.sdwa();
    let halves = entry.halves == Halves::One && inst.format == Format::Vop3;
    let mut small = Small([[0; LANES]; ROWS]);
    let mut mask_in = if matches!(inst.op, Op::VDivFmasF32 | Op::VDivFmasF64) { regs.vcc() } else { 0 };
    for (i, row) in SOURCE.into_iter().enumerate() {
        let ty = entry.src[i];
        if ty == Ty::None {
            break;
        }
        let source = resolve(inst, regs, i, ty)?;
        match source {
            Src::Splat(v) if ty == Ty::Mask => mask_in = v,
            _ => copy(&mut small, regs, source, row, ty),
        }
    }
    if matches!(inst.format, Format::Dpp) {
        let dpp = inst.dpp().ok_or_else(|| no_control(inst))?;
        lanes = move_lanes(&mut small, &dpp, lanes, regs.v.lanes() as usize);
    }
    for (i, row) in SOURCE.into_iter().enumerate() {
        if let (Some(sdwa), 0..2) = (&sdwa, i) {
            let (sel, sext) = (sdwa.src_sel[i], sdwa.sext[i]);
            small.change(row, |v| select(v, sel, sext));
        }
        if halves && inst.op_sel().0 >> i & 1 == 1 && entry.src[i].bits() == 16 {
            small.change(row, |v| v >> 16);
        }
        let (abs, neg) = (inst.abs >> i & 1 == 1, inst.neg >> i & 1 == 1);
        if (abs || neg) && entry.src[i] != Ty::Mask {
            let sign = sign_bit(entry.src[i]);
            let and = if abs { !sign } else { !0 };
            let xor = if neg { sign } else { 0 };
            small.change(row + usize::from(entry.src[i].dwords() == 2), |v| v & and ^ xor);
        }
    }
    let compare = entry.compare();
    let dwords = usize::from(entry.dst.dwords());
    if compare.is_none() {
        let old = vector_row(inst, regs, inst.dst, entry.dst)?;
        copy(&mut small, regs, Src::Row(old), DST, entry.dst);
    }
    let before: [Row; 4] = [small.0[DST], small.0[DST + 1], small.0[DST + 2], small.0[DST + 3]];
    let mut cx = Cx {
        file: &mut small.0,
        dst: DST,
        src: SOURCE.map(Src::Row),
        modified: false,
        and: [!0; 3],
        xor: [0; 3],
        clamp: inst.clamp() && !entry.dst.is_float(),
        lanes,
        mask_in,
        mask_out: 0,
        mode: regs.mode,
    };
    if let Some(compare) = compare {
        let found = compare::run(compare, entry.src[0], &mut cx);
        write_condition(inst, regs, found, compare.exec);
        return Ok(());
    }
    match round {
        None => run(inst, &mut cx)?,
        Some(round) => directed::run(inst, &mut cx, round)?,
    }
    let carry = cx.mask_out;
    finish(inst, &mut small, regs.mode, lanes);
    let first = vector_row(inst, regs, inst.dst, entry.dst)?;
    let keeps = inst.keeps_half().then(|| if halves { inst.op_sel().0 >> 3 } else { 0 });
    for (d, before) in before.iter().enumerate().take(dwords) {
        let out = &mut small.0[DST + d];
        if let Some(sdwa) = &sdwa {
            for (v, old) in out.iter_mut().zip(before) {
                *v = merge(*v, *old, sdwa);
            }
        }
        if let Some(high) = keeps {
            for (v, old) in out.iter_mut().zip(before) {
                *v = if high == 1 { *v << 16 | *old & 0xffff } else { *v & 0xffff | *old & 0xffff_0000 };
            }
        }
        regs.v.blend(first + d, lanes, out);
    }
    if inst.sdst != NO_SDST {
        regs.set_pair(inst.sdst, carry);
    }
    Ok(())
}

#[cold]
fn no_control(inst: &Inst) -> Trap {
    Trap::Other(format!("{}: unknown DPP control {:#x}", inst.op.name(), inst.imm as u32 >> 8 & 0x1ff))
}

fn copy(small: &mut Small, regs: &Regs, source: Src, row: usize, ty: Ty) {
    for d in 0..usize::from(ty.dwords()) {
        let out = &mut small.0[row + d];
        match source {
            Src::Row(from) => {
                let from = regs.v.row(from + d);
                out[..from.len()].copy_from_slice(from);
            }
            Src::Copy(row) => *out = *row,
            Src::Splat(v) => *out = [if d < 2 { (v >> (32 * d)) as u32 } else { 0 }; LANES],
        }
    }
}

/// The lane `lane` reads, none outside the row or wave.
pub(in super::super) fn source_lane(ctrl: DppCtrl, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let within = |at: Option<usize>| at.filter(|&at| at < 16).map(|at| row + at);
    match ctrl {
        DppCtrl::QuadPerm(p) => Some(lane & !3 | usize::from(p >> (2 * (lane & 3)) & 3)),
        DppCtrl::RowShl(n) => within(Some(at + usize::from(n))),
        DppCtrl::RowShr(n) => within(at.checked_sub(n.into())),
        DppCtrl::RowRor(n) => Some(row + ((at + 16 - usize::from(n)) & 15)),
        DppCtrl::WaveShl => (lane < 63).then_some(lane + 1),
        DppCtrl::WaveRol => Some((lane + 1) & 63),
        DppCtrl::WaveShr => lane.checked_sub(1),
        DppCtrl::WaveRor => Some((lane + 63) & 63),
        DppCtrl::RowMirror => Some(row + 15 - at),
        DppCtrl::RowHalfMirror => Some((lane & !7) + 7 - (lane & 7)),
        DppCtrl::RowBcast15 => row.checked_sub(1),
        DppCtrl::RowBcast31 => (lane >= 32).then_some(31),
        DppCtrl::RowNewBcast(n) => Some(row + usize::from(n)),
    }
}

/// Moves the first source between lanes; returns the lanes that are written. Lanes whose source does not
/// exist or is not active read zero with bound_ctrl and keep their destination without.
fn move_lanes(small: &mut Small, dpp: &Dpp, lanes: Mask, count: usize) -> Mask {
    let (before, high) = (small.0[SOURCE[0]], small.0[SOURCE[0] + 1]);
    let mut written = 0;
    for lane in bits(lanes) {
        let lane = lane as usize;
        let bank = dpp.bank_mask >> (lane >> 2 & 3) & dpp.row_mask >> (lane >> 4 & 3) & 1 == 1;
        let from = source_lane(dpp.ctrl, lane).filter(|&from| from < count && lanes >> from & 1 == 1);
        let (v, h) = match from {
            Some(from) => (before[from], high[from]),
            None if dpp.bound_ctrl => (0, 0),
            None => continue,
        };
        small.set(SOURCE[0], lane, v);
        small.set(SOURCE[0] + 1, lane, h);
        written |= u64::from(bank) << lane;
    }
    written
}

#[inline(always)]
fn select(v: u32, sel: Sel, sext: bool) -> u32 {
    match (sel, sext) {
        (Sel::Byte(b), false) => v >> (8 * b) & 0xff,
        (Sel::Byte(b), true) => (v >> (8 * b)) as i8 as u32,
        (Sel::Word(w), false) => v >> (16 * w) & 0xffff,
        (Sel::Word(w), true) => (v >> (16 * w)) as i16 as u32,
        (Sel::Dword, _) => v,
    }
}

/// The result put where the destination selection says.
#[inline(always)]
fn merge(v: u32, old: u32, sdwa: &Sdwa) -> u32 {
    let (shift, width) = match sdwa.dst_sel {
        Sel::Byte(b) => (8 * u32::from(b), 8),
        Sel::Word(w) => (16 * u32::from(w), 16),
        Sel::Dword => return v,
    };
    let field = ((1 << width) - 1) << shift;
    let placed = v << shift & field;
    match sdwa.unused {
        Unused::Pad => placed,
        Unused::Preserve => placed | old & !field,
        // The sign fills what lies above, zeros what lies below.
        Unused::Sext => {
            let sign = v >> (width - 1) & 1 == 1;
            let above = !(field | ((1 << shift) - 1));
            placed | if sign { above } else { 0 }
        }
    }
}

/// omod and clamp of float results.
///
/// omod counts only where results are flushed and IEEE mode is off, and makes −0 positive. clamp turns a
/// NaN to 0 only with DX10_CLAMP.
fn finish(inst: &Inst, small: &mut Small, mode: u32, lanes: Mask) {
    let ty = inst.entry().dst;
    if !ty.is_float() || inst.omod == 0 && !inst.clamp() {
        return;
    }
    if ty == Ty::F32 {
        small.0[DST] = Outcome::of(inst).f32(&small.0[DST], mode);
        return;
    }
    let factor = factor(inst.omod, mode, mode & 1 << 7 != 0).map(f64::from);
    let dx10 = mode & mode::DX10_CLAMP != 0;
    let change = |v: f64| {
        let v = match factor {
            Some(f) if v * f == 0.0 => 0.0,
            Some(f) => v * f,
            None => v,
        };
        match v {
            _ if !inst.clamp() => v,
            v if v.is_nan() => {
                if dx10 {
                    0.0
                } else {
                    v
                }
            }
            v if v < 0.0 => 0.0,
            v if v > 1.0 => 1.0,
            v => v,
        }
    };
    for lane in bits(lanes) {
        let lane = lane as usize;
        let (low, high) = (small.get(DST, lane), small.get(DST + 1, lane));
        match ty {
            Ty::F16 => {
                let out = half_from_f64(change(half_to_f64(low as u16)), false);
                let out = if factor.is_some() { flush16(out) } else { out };
                small.set(DST, lane, out.into());
            }
            _ => {
                let bits = u64::from(low) | u64::from(high) << 32;
                let out = change(f64::from_bits(bits));
                let out = if out.is_nan() { bits } else { out.to_bits() };
                let out = if factor.is_some() { flush64(out) } else { out };
                small.set(DST, lane, out as u32);
                small.set(DST + 1, lane, (out >> 32) as u32);
            }
        }
    }
}
