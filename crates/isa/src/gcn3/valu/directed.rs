//! Roundings other than to nearest even (MODE bits 3:0): toward +∞, −∞ and zero. The operation runs as always, which settles NaNs and
//! infinities; lanes whose sources are finite are then computed exactly in integers and rounded as MODE says. Slow and rare: device
//! libraries switch the rounding around single operations.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::Ty;
use super::operation;
use super::row_engine::{Cx, LANES, Row, Src, fetch};
use crate::Trap;
use crate::lanes::bits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Round {
    const ALL: [Round; 4] = [Round::Nearest, Round::Up, Round::Down, Round::Zero];

    fn words(self) -> &'static str {
        match self {
            Round::Nearest => "to nearest even",
            Round::Up => "toward +infinity",
            Round::Down => "toward -infinity",
            Round::Zero => "toward zero",
        }
    }
}

/// A format: digits with the leading one, and the exponent of the last digit of denormals.
#[derive(Clone, Copy)]
struct Form {
    digits: u32,
    least: i32,
    width: u32,
}

const HALF: Form = Form { digits: 11, least: -24, width: 16 };
const SINGLE: Form = Form { digits: 24, least: -149, width: 32 };
const DOUBLE: Form = Form { digits: 53, least: -1074, width: 64 };

/// `±m · 2^e`, exactly; or with something below the last digit, which then is one.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    m: u128,
    e: i32,
}

impl Form {
    fn infinity(self) -> u64 {
        ((1 << (self.width - self.digits)) - 1) << (self.digits - 1)
    }

    /// A finite number; denormals are zero where MODE flushes them.
    fn read(self, bits: u64, flush: bool) -> Option<Exact> {
        let magnitude = bits & (u64::MAX >> (65 - self.width));
        if magnitude >= self.infinity() {
            return None;
        }
        let (field, fraction) = (magnitude >> (self.digits - 1), magnitude & ((1 << (self.digits - 1)) - 1));
        let (m, e) = match field {
            0 if flush => (0, self.least),
            0 => (fraction, self.least),
            _ => (fraction | 1 << (self.digits - 1), self.least + field as i32 - 1),
        };
        Some(Exact { negative: bits >> (self.width - 1) & 1 == 1, m: m.into(), e })
    }

    /// The number in this format.
    fn round(self, x: Exact, round: Round, flush: bool) -> u64 {
        let sign = u64::from(x.negative) << (self.width - 1);
        if x.m == 0 {
            return sign;
        }
        let top = x.e + 127 - x.m.leading_zeros() as i32;
        let last = (top - (self.digits as i32 - 1)).max(self.least);
        let (kept, rest, half) = match last - x.e {
            n @ ..=0 => (x.m << -n, 0, 1),
            n @ 1..=127 => (x.m >> n, x.m & ((1 << n) - 1), 1 << (n - 1)),
            _ => (0, 1, 2),
        };
        let up = match round {
            Round::Nearest => rest > half || rest == half && kept & 1 == 1,
            Round::Up => rest > 0 && !x.negative,
            Round::Down => rest > 0 && x.negative,
            Round::Zero => false,
        };
        let kept = kept as u64 + u64::from(up);
        // A carry out of the digits makes the next exponent by itself.
        let magnitude = match kept >> (self.digits - 1) {
            0 => kept,
            _ => (((last - self.least) as u64) << (self.digits - 1)) + kept,
        };
        if magnitude >= self.infinity() {
            let far = match round {
                Round::Nearest => true,
                Round::Up => !x.negative,
                Round::Down => x.negative,
                Round::Zero => false,
            };
            return sign | (self.infinity() - u64::from(!far));
        }
        let denormal = magnitude >> (self.digits - 1) == 0;
        sign | if flush && denormal { 0 } else { magnitude }
    }
}

impl Exact {
    fn times(self, other: Exact) -> Exact {
        Exact { negative: self.negative != other.negative, m: self.m * other.m, e: self.e + other.e }
    }

    fn negated(self, negate: bool) -> Exact {
        Exact { negative: self.negative != negate, ..self }
    }

    /// Numbers of at most 106 digits. A sum that is exactly zero is negative only if both are, or when rounding down.
    fn plus(self, other: Exact, round: Round) -> Exact {
        if self.m == 0 || other.m == 0 {
            let zero = self.m == 0 && other.m == 0;
            let one = if self.m == 0 { other } else { self };
            let negative = match zero {
                true if self.negative == other.negative => self.negative,
                true => round == Round::Down,
                false => one.negative,
            };
            return Exact { negative, ..one };
        }
        let (high, low) = if self.e >= other.e { (self, other) } else { (other, self) };
        // The one with the larger exponent moves up as far as there is room for a carry, the other one down.
        let gap = (high.e - low.e) as u32;
        let room = high.m.leading_zeros() - 2;
        let left = gap.min(room);
        let (a, e) = (high.m << left, high.e - left as i32);
        let b = match gap - left {
            0 => low.m,
            n @ 1..=127 => low.m >> n | u128::from(low.m & ((1 << n) - 1) != 0),
            _ => 1,
        };
        if high.negative == low.negative {
            return Exact { negative: high.negative, m: a + b, e };
        }
        match a.cmp(&b) {
            std::cmp::Ordering::Equal => Exact { negative: round == Round::Down, m: 0, e },
            std::cmp::Ordering::Greater => Exact { negative: high.negative, m: a - b, e },
            std::cmp::Ordering::Less => Exact { negative: low.negative, m: b - a, e },
        }
    }
}

/// What an operation does to its finite sources.
#[derive(Clone, Copy)]
enum Way {
    /// `±a ± b`.
    Sum(bool, bool),
    /// Zero times anything is zero in the legacy form.
    Product,
    /// `a · b + c`, rounded once.
    Fused,
    /// The product is rounded on its own, and no denormal is kept.
    Mad,
    /// `a · 2^n`.
    Scaled,
    Signed,
    Unsigned,
    /// Another format.
    Converted,
}

fn way(op: Op) -> Option<Way> {
    Some(match op {
        Op::VAddF32 | Op::VAddF64 | Op::VAddF16 => Way::Sum(false, false),
        Op::VSubF32 | Op::VSubF16 => Way::Sum(false, true),
        Op::VSubrevF32 | Op::VSubrevF16 => Way::Sum(true, false),
        Op::VMulF32 | Op::VMulF64 | Op::VMulF16 | Op::VMulLegacyF32 => Way::Product,
        Op::VFmaF32 | Op::VFmaF64 | Op::VFmaF16 | Op::VFmaOpselF16 => Way::Fused,
        Op::VFmacF32 | Op::VFmamkF32 | Op::VFmaakF32 | Op::VFmacF64 => Way::Fused,
        Op::VMadF32 | Op::VMacF32 | Op::VMadmkF32 | Op::VMadakF32 => Way::Mad,
        Op::VMadF16 | Op::VMadOpselF16 | Op::VMacF16 | Op::VMadmkF16 | Op::VMadakF16 => Way::Mad,
        Op::VLdexpF32 | Op::VLdexpF64 => Way::Scaled,
        Op::VCvtF32I32 | Op::VCvtF16I16 => Way::Signed,
        Op::VCvtF32U32 | Op::VCvtF16U16 => Way::Unsigned,
        Op::VCvtF32F64 | Op::VCvtF16F32 => Way::Converted,
        _ => return None,
    })
}

/// Results that no rounding changes: exact ones, and approximations, which have an error of their own.
fn is_indifferent(op: Op) -> bool {
    matches!(
        op,
        Op::VMinF32
            | Op::VMaxF32
            | Op::VMin3F32
            | Op::VMax3F32
            | Op::VMed3F32
            | Op::VMinF64
            | Op::VMaxF64
            | Op::VMinF16
            | Op::VMaxF16
            | Op::VRndneF32
            | Op::VFloorF32
            | Op::VCeilF32
            | Op::VTruncF32
            | Op::VRndneF64
            | Op::VFloorF64
            | Op::VCeilF64
            | Op::VTruncF64
            | Op::VRndneF16
            | Op::VFloorF16
            | Op::VCeilF16
            | Op::VTruncF16
            | Op::VFrexpMantF32
            | Op::VFrexpMantF64
            | Op::VFrexpMantF16
            | Op::VCvtF64F32
            | Op::VCvtF64I32
            | Op::VCvtF64U32
            | Op::VCvtF32F16
            | Op::VCvtOffF32I4
            | Op::VCvtF32Ubyte0
            | Op::VCvtF32Ubyte1
            | Op::VCvtF32Ubyte2
            | Op::VCvtF32Ubyte3
            | Op::VTrigPreopF64
            | Op::VRcpF32
            | Op::VRcpIflagF32
            | Op::VRcpF64
            | Op::VRcpF16
            | Op::VRsqF32
            | Op::VRsqF64
            | Op::VRsqF16
            | Op::VSqrtF32
            | Op::VSqrtF64
            | Op::VSqrtF16
            | Op::VExpF32
            | Op::VExpF16
            | Op::VExpLegacyF32
            | Op::VLogF32
            | Op::VLogF16
            | Op::VLogLegacyF32
            | Op::VSinF32
            | Op::VSinF16
            | Op::VCosF32
            | Op::VCosF16
    )
}

/// The rounding that MODE asks for, if it can change a result; an error if the operation is not known with it.
#[cold]
pub(super) fn wanted(inst: &Inst, mode: u32) -> Result<Option<Round>, Trap> {
    let entry = inst.entry();
    let number = if entry.dst == Ty::F32 { mode & 3 } else { mode >> 2 & 3 };
    let round = Round::ALL[number as usize];
    if !entry.dst.is_float() || round == Round::Nearest || is_indifferent(inst.op) {
        return Ok(None);
    }
    match way(inst.op) {
        Some(_) => Ok(Some(round)),
        None => Err(Trap::Other(format!(
            "{}: MODE asks for rounding {}, which is not supported for this operation",
            inst.op.name(),
            round.words()
        ))),
    }
}

fn form(ty: Ty) -> Form {
    match ty {
        Ty::F64 => DOUBLE,
        Ty::F16 => HALF,
        _ => SINGLE,
    }
}

/// Source `i` of every lane with its modifiers.
fn values(cx: &Cx, i: usize, ty: Ty) -> [u64; LANES] {
    let mut out = [0; LANES];
    let (mut low, mut high) = (None, None);
    let upper: &Row = fetch(cx.file, cx.src[i], ty.dwords() == 2, &mut high);
    let lower: &Row = fetch(cx.file, cx.src[i], false, &mut low);
    for (lane, out) in out.iter_mut().enumerate() {
        let signed = upper[lane] & cx.and[i] ^ cx.xor[i];
        *out = match ty.dwords() {
            2 => u64::from(signed) << 32 | u64::from(lower[lane]),
            _ => signed.into(),
        };
    }
    out
}

/// Runs an operation with a rounding of MODE.
pub(super) fn run(inst: &Inst, cx: &mut Cx, round: Round) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(way) = way(inst.op) else { return operation::run(inst, cx) };
    let accumulates = entry.dst_read;
    let mut sources = [[0; LANES]; 3];
    for (i, values_of) in sources.iter_mut().enumerate() {
        if accumulates && i == 2 {
            let kept = (cx.src[2], cx.and[2], cx.xor[2]);
            (cx.src[2], cx.and[2], cx.xor[2]) = (Src::Row(cx.dst), !0, 0);
            *values_of = values(cx, 2, entry.dst);
            (cx.src[2], cx.and[2], cx.xor[2]) = kept;
        } else if entry.src[i] != Ty::None {
            *values_of = values(cx, i, entry.src[i]);
        }
    }
    operation::run(inst, cx)?;
    let types = if accumulates { [entry.src[0], entry.src[1], entry.dst] } else { entry.src };
    for lane in bits(cx.lanes) {
        let lane = lane as usize;
        let given = [0, 1, 2].map(|i| sources[i][lane]);
        let Some(result) = result(way, types, entry.dst, given, round, cx) else { continue };
        cx.file[cx.dst][lane] = result as u32;
        if entry.dst.dwords() == 2 {
            cx.file[cx.dst + 1][lane] = (result >> 32) as u32;
        }
    }
    Ok(())
}

/// One lane; none if a source is not finite, which the rounding has no say in.
fn result(way: Way, types: [Ty; 3], dst: Ty, given: [u64; 3], round: Round, cx: &Cx) -> Option<u64> {
    let flushes_in = |ty: Ty| cx.mode >> if ty == Ty::F32 { 4 } else { 6 } & 1 == 0;
    let flushes_out = cx.mode >> if dst == Ty::F32 { 5 } else { 7 } & 1 == 0;
    let to = form(dst);
    let read = |i: usize| form(types[i]).read(given[i], flushes_in(types[i]));
    let exact = match way {
        Way::Sum(first, second) => read(0)?.negated(first).plus(read(1)?.negated(second), round),
        Way::Product => read(0)?.times(read(1)?),
        Way::Fused => read(0)?.times(read(1)?).plus(read(2)?, round),
        Way::Mad => {
            let part = |i: usize| form(types[i]).read(given[i], true);
            let product = to.read(to.round(part(0)?.times(part(1)?), round, true), true)?;
            return Some(to.round(product.plus(part(2)?, round), round, true));
        }
        Way::Scaled => {
            let (a, n) = (read(0)?, given[1] as i32);
            Exact { e: a.e.saturating_add(n).clamp(-4000, 4000), ..a }
        }
        Way::Signed => {
            let value =
                if types[0].bits() == 16 { i64::from(given[0] as i16) } else { i64::from(given[0] as i32) };
            Exact { negative: value < 0, m: value.unsigned_abs().into(), e: 0 }
        }
        Way::Unsigned => {
            let value = if types[0].bits() == 16 { given[0] & 0xffff } else { given[0] };
            Exact { negative: false, m: value.into(), e: 0 }
        }
        Way::Converted => read(0)?,
    };
    Some(to.round(exact, round, flushes_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.0 ^ self.0 >> 29
        }

        /// Bits of any kind, often with a short fraction or an exponent near that of another.
        fn bits(&mut self, form: Form, near: u64) -> u64 {
            let all = u64::MAX >> (64 - form.width);
            let random = self.next() & all;
            match self.next() % 4 {
                0 => random,
                1 => random & !(all >> (form.width / 2)),
                2 => (near & !((1 << (form.digits - 1)) - 1)) ^ (random & ((1 << (form.digits - 1)) - 1)),
                _ => near ^ 1 << (self.next() % u64::from(form.width)),
            }
        }
    }

    /// To nearest even the integers give what the host's arithmetic gives, and the directed ones lie around it as they must.
    #[test]
    fn nearest_is_the_hosts() {
        let mut noise = Noise(3);
        let mut compared = 0;
        for _ in 0..400_000 {
            let a = noise.bits(DOUBLE, 0x3ff0_0000_0000_0000);
            let b = noise.bits(DOUBLE, a);
            let c = noise.bits(DOUBLE, (f64::from_bits(a) * f64::from_bits(b)).to_bits());
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            let all = [a, b, c].map(|v| DOUBLE.read(v, false));
            let [Some(p), Some(q), Some(r)] = all else { continue };
            let ways = [
                (x + y, Box::new(|round| p.plus(q, round)) as Box<dyn Fn(Round) -> Exact>),
                (x * y, Box::new(|_| p.times(q))),
                (x.mul_add(y, z), Box::new(|round| p.times(q).plus(r, round))),
            ];
            for (want, exact) in ways {
                let rounded = Round::ALL.map(|round| DOUBLE.round(exact(round), round, false));
                assert_eq!(rounded[0], want.to_bits(), "{x:e} {y:e} {z:e}");
                around(rounded.map(f64::from_bits), &format!("{x:e} {y:e} {z:e}"));
                compared += 1;
            }
            let (x, y, z) = (f32::from_bits(a as u32), f32::from_bits(b as u32), f32::from_bits(c as u32));
            let all = [x, y, z].map(|v| SINGLE.read(v.to_bits().into(), false));
            let [Some(p), Some(q), Some(r)] = all else { continue };
            let fused = p.times(q).plus(r, Round::Nearest);
            assert_eq!(
                SINGLE.round(fused, Round::Nearest, false) as u32,
                x.mul_add(y, z).to_bits(),
                "{x:e} {y:e} {z:e}"
            );
            let narrow = DOUBLE.read(a, false).map(|v| SINGLE.round(v, Round::Nearest, false) as u32);
            assert_eq!(narrow, Some((f64::from_bits(a) as f32).to_bits()));
        }
        assert!(compared > 900_000, "{compared}");
    }

    /// Down is not above up, they are neighbours or equal, and to nearest and to zero are one of them.
    fn around([nearest, up, down, zero]: [f64; 4], what: &str) {
        let neighbours = up == down || down.next_up() == up;
        assert!(down <= up && neighbours, "{what}: {down:e} {up:e}");
        assert!(nearest == up || nearest == down, "{what}");
        let inner = if up.abs() < down.abs() { up } else { down };
        assert_eq!(zero.to_bits(), if zero == 0.0 { zero.to_bits() } else { inner.to_bits() }, "{what}");
    }

    #[test]
    fn overflow_and_zero() {
        let big = SINGLE.read(f32::MAX.to_bits().into(), false).unwrap();
        let rounded = |x: Exact| Round::ALL.map(|r| f32::from_bits(SINGLE.round(x, r, false) as u32));
        assert_eq!(rounded(big.times(big)), [f32::INFINITY, f32::INFINITY, f32::MAX, f32::MAX]);
        let below = big.times(big.negated(true));
        assert_eq!(rounded(below), [f32::NEG_INFINITY, f32::MIN, f32::NEG_INFINITY, f32::MIN]);
        let tiny = SINGLE.read(1, false).unwrap();
        let least = f32::from_bits(1);
        assert_eq!(rounded(tiny.times(tiny)), [0.0, least, 0.0, 0.0]);
        for round in Round::ALL {
            let sum = SINGLE.round(tiny.plus(tiny.negated(true), round), round, false);
            assert_eq!(sum == 1 << 31, round == Round::Down);
        }
    }
}
