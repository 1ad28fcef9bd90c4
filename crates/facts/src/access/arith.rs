//! What integer operations make of functions of the lane. Everything is modulo 2³²; where an operation is not (shifts to the
//! right), ranges say that nothing wraps around.

use super::linear::{ALL, Dims, Lin, REGISTER, low};
use super::pattern::changed;
use super::value::{Value, alternatives, any, cross};
use crate::infer::range::Range;
use wb_isa::gcn3::{Inst, Op};

/// The 32-bit result of an operation on what its operands are; none if it is not known. `old`: what the destination had.
pub fn arithmetic(inst: &Inst, [a, b, c]: [&Value; 3], old: &Value, dims: Dims) -> Option<Vec<Lin>> {
    if changed(inst) {
        return None;
    }
    let k = Value::constant(i32::from(inst.imm as i16) as u32);
    let low24 = |v: &Value| v.range.uhi < 1 << 24;
    let fits24 = |v: &Value| v.range.slo >= -(1 << 23) && v.range.shi < 1 << 23;
    Some(match inst.op {
        Op::SMovB32 | Op::VMovB32 => a.alts.clone(),
        Op::SMovkI32 => k.alts,
        Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 => sum(a, b),
        Op::SSubU32 | Op::SSubI32 | Op::VSubU32 | Op::VSubNcU32 => difference(a, b),
        Op::VSubrevU32 | Op::VSubrevNcU32 => difference(b, a),
        Op::SAddkI32 => sum(old, &k),
        Op::SMulkI32 => product(old, &k),
        Op::SMulI32 | Op::VMulLoU32 => product(a, b),
        Op::VMulU32U24 if low24(a) && low24(b) => product(a, b),
        Op::VMulI32I24 if fits24(a) && fits24(b) => product(a, b),
        Op::VMadU32U24 if low24(a) && low24(b) => cross(&product(a, b), &c.alts, Lin::add),
        Op::VMadI32I24 if fits24(a) && fits24(b) => cross(&product(a, b), &c.alts, Lin::add),
        Op::SAndB32 | Op::VAndB32 => and(a, b, dims),
        Op::SOrB32 | Op::VOrB32 => bits(a, b, |x, y| x | y),
        Op::SXorB32 | Op::VXorB32 => bits(a, b, |x, y| x ^ y),
        Op::SNotB32 | Op::VNotB32 => a.alts.iter().map(|l| l.neg().add(&Lin::exact(u64::MAX))).collect(),
        Op::SLshlB32 => left(a, b),
        Op::VLshlrevB32 => left(b, a),
        Op::SLshrB32 => right(a, b, false, dims)?,
        Op::VLshrrevB32 => right(b, a, false, dims)?,
        Op::SAshrI32 => right(a, b, true, dims)?,
        Op::VAshrrevI32 => right(b, a, true, dims)?,
        Op::VBfeU32 => field(a, b.range.constant()? & 31, c.range.constant()? & 31, dims)?,
        Op::SBfeU32 => {
            let d = b.range.constant()?;
            field(a, d & 31, d >> 16 & 0x7f, dims)?
        }
        Op::SMinI32 | Op::VMinI32 | Op::SMaxI32 | Op::VMaxI32 => either(&[a, b]),
        Op::SMinU32 | Op::VMinU32 | Op::SMaxU32 | Op::VMaxU32 => either(&[a, b]),
        Op::VMin3I32 | Op::VMax3I32 | Op::VMin3U32 | Op::VMax3U32 => either(&[a, b, c]),
        Op::VMed3I32 | Op::VMed3U32 => either(&[a, b, c]),
        Op::SCselectB32 | Op::VCndmaskB32 => either(&[a, b]),
        Op::SCmovB32 => either(&[old, a]),
        Op::SCmovkI32 => either(&[old, &k]),
        Op::VMbcntLoU32B32 if ones(a) && dims.lanes <= 32 => number(b, dims)?,
        Op::VMbcntHiU32B32 if ones(a) && dims.lanes <= 32 => b.alts.clone(),
        Op::VMbcntHiU32B32 if ones(a) && b.counts_low => number(&Value::constant(0), dims)?,
        _ => return None,
    })
}

fn ones(v: &Value) -> bool {
    v.range.constant() == Some(u32::MAX)
}

/// The number of the lane, more than `v`.
fn number(v: &Value, dims: Dims) -> Option<Vec<Lin>> {
    let lane = Lin { steps: dims.lane(), ..Lin::exact(0) };
    Some(v.alts.iter().map(|l| l.add(&lane)).collect())
}

/// Whether the operation is `v_mbcnt_lo` of all lanes before this one.
pub fn counts_low(inst: &Inst, [a, b]: [&Value; 2], dims: Dims) -> bool {
    inst.op == Op::VMbcntLoU32B32
        && !changed(inst)
        && ones(a)
        && b.range.constant() == Some(0)
        && dims.lanes > 32
}

fn sum(a: &Value, b: &Value) -> Vec<Lin> {
    cross(&a.alts, &b.alts, Lin::add)
}

fn difference(a: &Value, b: &Value) -> Vec<Lin> {
    cross(&a.alts, &b.alts, |x, y| x.add(&y.neg()))
}

/// One number for all lanes if the operands are that.
fn shared(values: &[&Value], residue: u64, bits: u32) -> Vec<Lin> {
    let same = values.iter().all(|v| v.only().is_some_and(Lin::same));
    let fixed = values.iter().all(|v| v.alts.iter().all(|l| l.fixed));
    let bits = bits.min(REGISTER);
    vec![match same {
        true => Lin { residue: low(residue, bits), known: bits, ..Lin::uniform(fixed) },
        false => Lin::aligned(residue, bits),
    }]
}

fn product(a: &Value, b: &Value) -> Vec<Lin> {
    let by = |v: &Value, c: u32| v.alts.iter().map(|l| l.scale(i64::from(c as i32))).collect();
    match (a.range.constant(), b.range.constant()) {
        (_, Some(c)) => by(a, c),
        (Some(c), _) => by(b, c),
        _ => {
            let zeros = |v: &Value| {
                let (residue, bits) = any(&v.alts).alignment();
                residue.trailing_zeros().min(bits)
            };
            shared(&[a, b], 0, zeros(a) + zeros(b))
        }
    }
}

fn left(a: &Value, by: &Value) -> Vec<Lin> {
    match by.range.constant() {
        Some(n) => a.alts.iter().map(|l| l.scale(1 << (n & 31))).collect(),
        None => shared(&[a, by], 0, 0),
    }
}

/// Bits of `a` below `n`.
fn below(a: &Value, n: u32, dims: Dims) -> Vec<Lin> {
    let mask = (1u64 << n) - 1;
    let one = |l: &Lin| {
        let (residue, bits) = l.alignment();
        let (least, most) = dims.extent(l.steps);
        let own = l.spread.map(|w| if w == 0 { 0 } else { i128::from(w) << l.grain.min(64) });
        let base = i128::from(l.residue & mask);
        match own {
            // No lane's number carries into the bits that are cut off.
            Some(own) if l.known >= n && base + least >= 0 && base + most + own <= i128::from(mask) => {
                Lin { residue: l.residue & mask, known: REGISTER, ..*l }
            }
            _ if l.same() => Lin { residue: low(l.residue, l.known.min(n)), known: l.known.min(n), ..*l },
            _ => Lin::between(0, mask.into(), low(residue, bits.min(n)), bits.min(n)),
        }
    };
    a.alts.iter().map(one).collect()
}

fn and(a: &Value, b: &Value, dims: Dims) -> Vec<Lin> {
    let (a, mask) = match (a.range.constant(), b.range.constant()) {
        (_, Some(m)) => (a, m),
        (Some(m), _) => (b, m),
        _ => return bits(a, b, |x, y| x & y),
    };
    let n = mask.trailing_ones();
    if mask == u32::MAX || n > 0 && n < 32 && mask >> n == 0 {
        let whole = a.range.uhi <= mask;
        return if whole { a.alts.clone() } else { below(a, n, dims) };
    }
    let n = mask.trailing_zeros();
    if n < 32 && mask >> n == u32::MAX >> n {
        // Without the low bits, which all lanes share or not.
        let one = |l: &Lin| {
            let (residue, bits) = l.alignment();
            match () {
                () if bits >= n => l.add(&Lin::exact(low(residue, n)).neg()),
                () if l.same() => Lin { residue: 0, known: n, ..*l },
                () => l.add(&Lin::between(1 - (1 << n), 0, 0, 0)),
            }
        };
        return a.alts.iter().map(one).collect();
    }
    // A field: its upper bits, then its lower ones.
    let upper = mask | ((1u64 << n) - 1) as u32;
    if n > 0 && n < 32 && upper.wrapping_add(1) & upper == 0 {
        let cut = Value::new(and(a, &Value::constant(upper), dims), a.range.and(Range::exact(upper)));
        return and(&cut, &Value::constant(u32::MAX << n), dims);
    }
    shared(&[a, b], 0, n)
}

/// Operations on bits: a sum if no bit is set in both.
fn bits(a: &Value, b: &Value, f: impl Fn(u64, u64) -> u64) -> Vec<Lin> {
    let ((x, m), (y, n)) = (any(&a.alts).alignment(), any(&b.alts).alignment());
    let apart = |v: &Value, residue: u64, bits: u32| {
        residue == 0 && low(v.range.uhi.into(), bits) == u64::from(v.range.uhi)
    };
    if f(1, 0) == 1 && (apart(b, x, m) || apart(a, y, n)) {
        return sum(a, b);
    }
    let common = m.min(n);
    shared(&[a, b], f(low(x, common), low(y, common)), common)
}

/// Shifted to the right, with the sign or without.
fn right(a: &Value, by: &Value, signed: bool, dims: Dims) -> Option<Vec<Lin>> {
    let Some(n) = by.range.constant().map(|n| n & 31) else { return Some(shared(&[a, by], 0, 0)) };
    let one = |l: Lin| {
        let (residue, bits) = l.alignment();
        let (least, most) = dims.extent(l.steps);
        let Some(w) = l.spread else { return Lin::aligned(residue >> n, bits.saturating_sub(n)) };
        let own = if w == 0 { 0 } else { i128::from(w) << l.grain.min(64) };
        let known = if l.based(ALL) { ALL } else { l.known.saturating_sub(n) };
        let base = ((l.residue as i64) >> n) as u64;
        if bits >= n {
            let grain = if w == 0 { ALL } else { l.grain - n };
            return Lin { residue: low(base, known), known, steps: l.steps.map(|s| s >> n), grain, ..l };
        }
        // What is lost of the base is between none and all of the bits, or known.
        let (from, to) = match l.known >= n {
            true => (i128::from(low(l.residue, n)), i128::from(low(l.residue, n))),
            false => (0, (1 << n) - 1),
        };
        let (first, last) = ((from + least) >> n, (to + most + own) >> n);
        let spread = u64::try_from(last - first).ok();
        let start = base.wrapping_add(first as u64);
        Lin { residue: low(start, known), known, steps: [0; 3], grain: 0, spread, fixed: l.fixed }
    };
    Some(a.extended(signed, dims).alts.into_iter().map(one).collect())
}

fn field(a: &Value, at: u32, width: u32, dims: Dims) -> Option<Vec<Lin>> {
    let shifted = Value::new(right(a, &Value::constant(at), false, dims)?, a.range.shr(Range::exact(at)));
    match width {
        0 => Some(vec![Lin::exact(0)]),
        32.. => Some(shifted.alts),
        w => Some(and(&shifted, &Value::constant((1 << w) - 1), dims)),
    }
}

/// Every lane has one of them.
fn either(values: &[&Value]) -> Vec<Lin> {
    let mut left = values.iter();
    let first = left.next().map_or_else(Vec::new, |v| v.alts.clone());
    left.fold(first, |all, v| alternatives(&all, &v.alts, REGISTER))
}
