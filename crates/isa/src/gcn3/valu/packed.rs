//! VOP3P: packed halves and f32, mixed precision, dot products, moves of accumulators. A packed operation is the operation
//! on one part, done twice: rounding, denormals and NaNs are those of that one.

use super::super::inst::{Format, Inst};
use super::super::op::Op;
use super::super::operand::{Operand, Ty};
use super::super::state::{Regs, mode};
use super::super::table::Halves;
use super::directed;
use super::dot::{dot, dot_integer};
use super::matrix;
use super::num::half_value;
use super::operation::{find, resolve, vector_row};
use super::row_engine::{Cx, LANES, Row, Src};
use crate::lanes::bits;
use crate::{Mask, Trap};

/// Rows of an operation on parts: three sources and the result.
const ROWS: usize = 4;
const DST: usize = 3;

pub(super) fn execute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    match inst.entry().halves {
        Halves::Packed => match dot(inst.op) {
            Some(_) => dot_product(inst, regs, lanes),
            None => packed(inst, regs, lanes),
        },
        Halves::Mixed => mixed(inst, regs, lanes),
        Halves::Moved => {
            let source = rows(inst, regs, 0)?[0];
            put(inst, regs, lanes, &[source])
        }
        Halves::Blocks => matrix::execute(inst, regs),
        Halves::One | Halves::Whole | Halves::Attribute => Err(unsupported(inst)),
    }
}

/// The packed operation that a short one is, with its destination as third source.
pub(super) fn accumulating(op: Op) -> Option<Op> {
    match op {
        Op::VDot2cF32F16 => Some(Op::VDot2F32F16),
        Op::VPkFmacF16 => Some(Op::VPkFmaF16),
        _ => None,
    }
}

/// Runs a short operation as what it is.
pub(super) fn accumulate(inst: &Inst, op: Op, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    if inst.format == Format::Dpp || inst.omod != 0 || inst.abs | inst.neg != 0 {
        return Err(Trap::Other(format!("{}: DPP and modifiers are not supported", inst.entry().name)));
    }
    let [a, b, _] = inst.src;
    execute(&Inst { op, format: Format::Vop3p, src: [a, b, inst.dst], imm: 7 << 4, ..*inst }, regs, lanes)
}

#[cold]
fn unsupported(inst: &Inst) -> Trap {
    Trap::Other(format!("the vector operation {} is not supported", inst.entry().name))
}

/// Source `i` as one or two rows.
fn rows(inst: &Inst, regs: &mut Regs, i: usize) -> Result<[Row; 2], Trap> {
    let ty = inst.entry().src[i];
    let mut out = [[0; LANES]; 2];
    if ty == Ty::None {
        return Ok(out);
    }
    match resolve(inst, regs, i, ty)? {
        Src::Row(first) => {
            for (d, out) in out.iter_mut().enumerate().take(ty.dwords().min(2).into()) {
                let row = regs.v.row(first + d);
                out[..row.len()].copy_from_slice(row);
            }
        }
        Src::Splat(v) => out = [[v as u32; LANES], [(v >> 32) as u32; LANES]],
        Src::Copy(row) => out[0] = *row,
    }
    Ok(out)
}

/// Writes the rows of the destination in `lanes`.
fn put(inst: &Inst, regs: &mut Regs, lanes: Mask, out: &[Row]) -> Result<(), Trap> {
    let first = vector_row(inst, regs, inst.dst, inst.entry().dst)?;
    for (d, out) in out.iter().enumerate() {
        regs.v.blend(first + d, lanes, out);
    }
    Ok(())
}

/// The operation on one part.
fn part(op: Op) -> Option<Op> {
    Some(match op {
        Op::VPkMadI16 => Op::VMadI16,
        Op::VPkMulLoU16 => Op::VMulLoU16,
        Op::VPkAddI16 => Op::VAddI16,
        Op::VPkSubI16 => Op::VSubI16,
        Op::VPkLshlrevB16 => Op::VLshlrevB16,
        Op::VPkLshrrevB16 => Op::VLshrrevB16,
        Op::VPkAshrrevI16 => Op::VAshrrevI16,
        Op::VPkMaxI16 => Op::VMaxI16,
        Op::VPkMinI16 => Op::VMinI16,
        Op::VPkMadU16 => Op::VMadU16,
        Op::VPkAddU16 => Op::VAddU16,
        Op::VPkSubU16 => Op::VSubU16,
        Op::VPkMaxU16 => Op::VMaxU16,
        Op::VPkMinU16 => Op::VMinU16,
        Op::VPkFmaF16 => Op::VFmaF16,
        Op::VPkAddF16 => Op::VAddF16,
        Op::VPkMulF16 => Op::VMulF16,
        Op::VPkMinF16 => Op::VMinF16,
        Op::VPkMaxF16 => Op::VMaxF16,
        Op::VPkFmaF32 => Op::VFmaF32,
        Op::VPkMulF32 => Op::VMulF32,
        Op::VPkAddF32 => Op::VAddF32,
        _ => return None,
    })
}

/// An operation on pairs of dwords as two on single ones, in an order in which no result hides a source of the other; none
/// if there is no such order, or if it is not only that. Halves of 16 bits are no registers of their own.
pub(super) fn in_two(inst: &Inst) -> Option<[Inst; 2]> {
    let entry = inst.entry();
    let Operand::Vgpr(first) = inst.dst else { return None };
    if inst.format != Format::Vop3p || entry.dst != Ty::B64 || entry.src[0] != Ty::PkF32 || inst.clamp() {
        return None;
    }
    let (low, high) = inst.op_sel();
    let source = |i: usize, up: bool| -> Option<Operand> {
        let up8 = u8::from(up);
        Some(match inst.src[i] {
            Operand::Vgpr(n) => Operand::Vgpr(n.checked_add(up8)?),
            // Scalar registers come in pairs, the first one even.
            Operand::Sgpr(n) if n & 1 == 0 => Operand::Sgpr(n + up8),
            operand if entry.src[i] == Ty::None => operand,
            operand => match operand.constant(Ty::PkF32)? >> if up { 32 } else { 0 } {
                value if value as u32 == 0 => Operand::InlineInt(0),
                value => Operand::Literal(value as u32),
            },
        })
    };
    let one = |sel: u8, neg: u8, dst: u8| -> Option<Inst> {
        let mut src = inst.src;
        for (i, src) in src.iter_mut().enumerate() {
            *src = source(i, sel >> i & 1 == 1)?;
        }
        let op = part(inst.op)?;
        Some(Inst { src, neg, dst: Operand::Vgpr(dst), gcn: inst.gcn, ..Inst::new(op, Format::Vop3) })
    };
    let second = first.checked_add(1)?;
    let both = match inst.op {
        Op::VPkMovB32 => {
            let moved = |i: usize, dst: u8| -> Option<Inst> {
                let src = [source(i, low >> i & 1 == 1)?, Operand::None, Operand::None];
                let one = Inst::new(Op::VMovB32, Format::Vop1);
                Some(Inst { src, dst: Operand::Vgpr(dst), gcn: inst.gcn, ..one })
            };
            [moved(0, first)?, moved(1, second)?]
        }
        _ => [one(low, inst.neg, first)?, one(high, inst.abs, second)?],
    };
    let hides = |earlier: &Inst, later: &Inst| later.src.contains(&earlier.dst);
    match both {
        [a, b] if !hides(&a, &b) => Some([a, b]),
        [a, b] if !hides(&b, &a) => Some([b, a]),
        _ => None,
    }
}

/// Runs an operation on rows; the result has float clamp done.
fn run(op: Op, clamp: bool, src: [Row; 3], lanes: Mask, mode: u32) -> Result<Row, Trap> {
    let inst = Inst::new(op, Format::Vop3);
    let round = directed::wanted(&inst, mode)?;
    let float = inst.entry().dst.is_float();
    let [a, b, c] = src;
    let mut file: [Row; ROWS] = [a, b, c, [0; LANES]];
    let mut cx = Cx {
        file: &mut file,
        dst: DST,
        src: [Src::Row(0), Src::Row(1), Src::Row(2)],
        modified: false,
        and: [!0; 3],
        xor: [0; 3],
        clamp: clamp && !float,
        lanes,
        mask_in: 0,
        mask_out: 0,
        mode,
    };
    match round {
        Some(round) => directed::run(&inst, &mut cx, round)?,
        None => find(&inst, clamp && !float).ok_or_else(|| unsupported(&inst))?(&mut cx),
    }
    let mut out = file[DST];
    if clamp && float {
        hold(&mut out, inst.entry().dst, mode);
    }
    Ok(out)
}

/// Float results between 0 and 1; a NaN becomes 0 only with DX10_CLAMP.
fn hold(out: &mut Row, ty: Ty, mode: u32) {
    let dx10 = mode & mode::DX10_CLAMP != 0;
    /// The value, and whether it is a NaN.
    type Value = fn(u32) -> (f32, bool);
    let (one, nan): (u32, Value) = match ty {
        Ty::F16 => (0x3c00, |v| (half_value(v), v & 0x7fff > 0x7c00)),
        _ => (1f32.to_bits(), |v| (f32::from_bits(v), f32::from_bits(v).is_nan())),
    };
    for v in out {
        *v = match nan(*v) {
            (_, true) if dx10 => 0,
            (_, true) => *v,
            (x, _) if x < 0.0 => 0,
            (x, _) if x > 1.0 => one,
            _ => *v,
        };
    }
}

/// What the low (or the high) result takes of a source.
fn select(src: &[Row; 2], ty: Ty, high: bool, negative: bool) -> Row {
    let (wide, sign) = match ty {
        Ty::PkF32 => (true, 1 << 31),
        _ => (false, 1 << 15),
    };
    let flip = if negative { sign } else { 0 };
    let row = &src[usize::from(wide && high)];
    row.map(|v| match wide {
        true => v ^ flip,
        false => (if high { v >> 16 } else { v & 0xffff }) ^ flip,
    })
}

fn packed(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let entry = inst.entry();
    let sources = [rows(inst, regs, 0)?, rows(inst, regs, 1)?, rows(inst, regs, 2)?];
    let (low, high) = inst.op_sel();
    if inst.op == Op::VPkMovB32 {
        let pick = |i: usize| sources[i][usize::from(low >> i & 1)];
        return put(inst, regs, lanes, &[pick(0), pick(1)]);
    }
    let op = part(inst.op).ok_or_else(|| unsupported(inst))?;
    let mode = regs.mode;
    let half = |sel: u8, neg: u8| {
        let src =
            std::array::from_fn(|i| select(&sources[i], entry.src[i], sel >> i & 1 == 1, neg >> i & 1 == 1));
        run(op, inst.clamp(), src, lanes, mode)
    };
    let (a, b) = (half(low, inst.neg)?, half(high, inst.abs)?);
    if entry.dst.dwords() == 2 {
        return put(inst, regs, lanes, &[a, b]);
    }
    let both = std::array::from_fn(|i| a[i] & 0xffff | b[i] << 16);
    put(inst, regs, lanes, &[both])
}

/// Each source is an f32, or a half that becomes one. The sum is rounded to f32, and for half results once more.
fn mixed(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let (low, high) = inst.op_sel();
    let mode = regs.mode;
    let mut src = [[0; LANES]; 3];
    for (i, src) in src.iter_mut().enumerate() {
        let mut row = rows(inst, regs, i)?[0];
        if high >> i & 1 == 1 {
            // A constant is an f32 in any case.
            let shift = if low >> i & 1 == 1 { 16 } else { 0 };
            let half = row.map(|v| v >> shift & 0xffff);
            row = run(Op::VCvtF32F16, false, [half, [0; LANES], [0; LANES]], lanes, mode)?;
        }
        let and = if inst.abs >> i & 1 == 1 { !(1 << 31) } else { !0 };
        let xor = if inst.neg >> i & 1 == 1 { 1 << 31 } else { 0 };
        *src = row.map(|v| v & and ^ xor);
    }
    let fused = matches!(inst.op, Op::VFmaMixF32 | Op::VFmaMixloF16 | Op::VFmaMixhiF16);
    let whole = matches!(inst.op, Op::VMadMixF32 | Op::VFmaMixF32);
    let op = if fused { Op::VFmaF32 } else { Op::VMadF32 };
    let sum = run(op, inst.clamp() && whole, src, lanes, mode)?;
    if whole {
        return put(inst, regs, lanes, &[sum]);
    }
    let mut half = run(Op::VCvtF16F32, false, [sum, [0; LANES], [0; LANES]], lanes, mode)?;
    if inst.clamp() {
        hold(&mut half, Ty::F16, mode);
    }
    let upper = matches!(inst.op, Op::VMadMixhiF16 | Op::VFmaMixhiF16);
    let dst = vector_row(inst, regs, inst.dst, Ty::B32)?;
    for lane in bits(lanes) {
        let (old, new) = (regs.v.get(dst, lane), half[lane as usize] & 0xffff);
        let both = if upper { old & 0xffff | new << 16 } else { old & 0xffff_0000 | new };
        regs.v.set(dst, lane, both);
    }
    Ok(())
}

/// f16 products are exact in f32; they are added to the third source one after the other, each sum rounded.
fn dot_product(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let elements = dot(inst.op).ok_or_else(|| unsupported(inst))?;
    let [a, b, c] = [rows(inst, regs, 0)?, rows(inst, regs, 1)?, rows(inst, regs, 2)?];
    let (low, high) = inst.op_sel();
    let mode = regs.mode;
    if inst.op == Op::VDot2F32F16 {
        let entry = inst.entry();
        let mut sum = c[0].map(|v| if inst.neg >> 2 & 1 == 1 { v ^ 1 << 31 } else { v });
        for (sel, neg) in [(low, inst.neg), (high, inst.abs)] {
            let value = |src: &[Row; 2], i: usize| {
                let half = select(src, entry.src[i], sel >> i & 1 == 1, neg >> i & 1 == 1);
                run(Op::VCvtF32F16, false, [half, [0; LANES], [0; LANES]], lanes, mode)
            };
            sum = run(Op::VFmaF32, false, [value(&a, 0)?, value(&b, 1)?, sum], lanes, mode)?;
        }
        if inst.clamp() {
            hold(&mut sum, Ty::F32, mode);
        }
        return put(inst, regs, lanes, &[sum]);
    }
    let order = |v: u32, i: usize| match elements.1 {
        16 => {
            let part = |s: u8| if s >> i & 1 == 1 { v >> 16 } else { v & 0xffff };
            part(low) | part(high) << 16
        }
        _ => v,
    };
    let out = std::array::from_fn(|k| {
        dot_integer(elements, order(a[0][k], 0), order(b[0][k], 1), c[0][k], inst.clamp())
    });
    put(inst, regs, lanes, &[out])
}
