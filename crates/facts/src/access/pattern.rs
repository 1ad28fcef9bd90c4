//! Numbers known lane by lane: a row of offsets and a base that all lanes share. Quotients and remainders of work-item ids
//! are no linear functions of the lane, but for one wave of a group they are known altogether. Plain operations on such
//! rows are executed by [`wb_isa::gcn3::valu`] itself.

use super::linear::{ALL, Dims, Lin, REGISTER, low};
use crate::infer::range::Range;
use std::rc::Rc;
use wb_isa::Mask;
use wb_isa::gcn3::state::Regs;
use wb_isa::gcn3::{Format, Inst, NO_SDST, Op, Operand, Ty, valu};

/// Lanes of a row.
const LANES: usize = 64;

/// `base + row` in every lane; the row begins with zero, so that equal numbers have equal bases. What the row says of lanes
/// that are not in the class does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    row: Rc<[i64; LANES]>,
    base: Lin,
}

/// Numbers of one lane after the other, if a lane's bit is set.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = u32> {
    (0..LANES as u32).filter(move |l| mask >> l & 1 == 1)
}

impl Pattern {
    fn new(offsets: [i64; LANES], base: Lin) -> Pattern {
        let first = offsets[0];
        let row = offsets.map(|v| v.wrapping_sub(first));
        Pattern { row: Rc::new(row), base: base.add(&Lin::exact(first as u64)) }
    }

    /// Numbers that are known altogether.
    pub fn pure(values: [u64; LANES]) -> Pattern {
        Pattern::new(values.map(|v| v as i64), Lin::exact(0))
    }

    /// The same number in all lanes.
    pub fn same(base: Lin) -> Option<Pattern> {
        base.same().then(|| Pattern { row: Rc::new([0; LANES]), base })
    }

    /// A linear function of the lane.
    pub fn of(lin: &Lin, dims: Dims) -> Option<Pattern> {
        if lin.spread != Some(0) {
            return None;
        }
        let mut offsets = [0i64; LANES];
        for (lane, offset) in offsets.iter_mut().enumerate() {
            *offset = dims.offset(lin.steps, lane as u32) as i64;
        }
        Some(Pattern::new(offsets, Lin { steps: [0; 3], ..*lin }))
    }

    pub fn base(&self) -> &Lin {
        &self.base
    }

    /// What a lane adds to the base.
    pub fn offset(&self, lane: u32) -> i64 {
        self.row[lane as usize % LANES]
    }

    /// All of it, as numbers of `width` bits, if the base is known.
    pub fn values(&self, width: u32) -> Option<[u64; LANES]> {
        let base = self.base.based(width).then_some(self.base.residue)?;
        Some(self.row.map(|v| low(base.wrapping_add(v as u64), width)))
    }

    /// As if the base were known, for the tests of the search.
    pub fn settled(&self) -> Pattern {
        Pattern { row: self.row.clone(), base: Lin::exact(self.base.residue) }
    }

    /// As a register holds it.
    pub fn register(&self) -> Pattern {
        let row = self.row.map(|v| i64::from(v as i32));
        Pattern { row: Rc::new(row), base: self.base.register() }
    }

    pub fn add(&self, other: &Pattern) -> Pattern {
        let mut row = *self.row;
        for (a, b) in row.iter_mut().zip(other.row.iter()) {
            *a = a.wrapping_add(*b);
        }
        Pattern::new(row, self.base.add(&other.base))
    }

    pub fn neg(&self) -> Pattern {
        Pattern::new(self.row.map(i64::wrapping_neg), self.base.neg())
    }

    /// Times a constant.
    pub fn scale(&self, by: i64) -> Pattern {
        Pattern::new(self.row.map(|v| v.wrapping_mul(by)), self.base.scale(by))
    }

    /// A number of 32 bits that lies between two, as one of 64. No lane can be a whole 2³² away from the others, else none.
    pub fn extended(&self, signed: bool, range: Range, dims: Dims) -> Option<Pattern> {
        if let Some(values) = self.values(REGISTER) {
            let wide = |v: u64| if signed { i64::from(v as u32 as i32) as u64 } else { v };
            return Some(Pattern::pure(values.map(wide)));
        }
        let span = match signed {
            true => i64::from(range.shi) - i64::from(range.slo),
            false => i64::from(range.uhi) - i64::from(range.ulo),
        };
        let lanes = &self.row[..dims.lanes.clamp(1, 64) as usize];
        let (least, most) = (lanes.iter().min()?, lanes.iter().max()?);
        (span + most.checked_sub(*least)? < 1 << 32).then(|| self.clone())
    }

    /// One or the other way, on each of which these are lanes of the class. Rows that are the same have the same bases as
    /// before, in whichever class: both begin with zero.
    pub fn of_ways(&self, other: &Pattern, lanes: [Mask; 2], width: u32) -> Option<Pattern> {
        let known = self.of_lanes(other, lanes, width, false);
        let moved = || {
            let base = self.base.join(&other.base, width);
            (self.row == other.row).then(|| Pattern { row: self.row.clone(), base })
        };
        known.or_else(moved)
    }

    /// These lanes have this, those have that. `same`: both are the same number.
    pub fn of_lanes(&self, other: &Pattern, lanes: [Mask; 2], width: u32, same: bool) -> Option<Pattern> {
        if same && self == other {
            return Some(self.clone());
        }
        let (mut values, others) = (self.values(width)?, other.values(width)?);
        for (lane, v) in values.iter_mut().enumerate() {
            match lanes.map(|mask| mask >> lane & 1 == 1) {
                [true, true] if *v != others[lane] => return None,
                [false, true] => *v = others[lane],
                _ => {}
            }
        }
        let all = Pattern::pure(values);
        Some(if width == REGISTER { all.register() } else { all })
    }

    /// Smallest and largest of what these lanes have in a register.
    pub fn range(&self, lanes: Mask) -> Option<Range> {
        let values = self.values(REGISTER)?;
        let all = || lanes_of(lanes).map(|l| values[l as usize] as u32);
        let signed = || all().map(|v| v as i32);
        let unsigned = Range::unsigned(all().min()?, all().max()?);
        unsigned.meet(Range::signed(signed().min()?, signed().max()?))
    }
}

/// What an instruction leaves in registers of lanes, and in a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    pub result: Option<Pattern>,
    pub mask: Option<Mask>,
}

/// Executes an operation on numbers that are all known, in all lanes. None if an operand is not, or if the operation looks
/// at more than its operands (rounding modes, other lanes, what it writes to). `bit`: what lanes have in the mask it reads.
pub fn execute(inst: &Inst, operands: &[Option<Pattern>; 3], bit: Option<bool>) -> Option<Executed> {
    if !executable(inst) {
        return None;
    }
    let executed = over(inst, operands, bit, 0)?;
    // Nothing of what was there stays.
    let part = inst.format == Format::Sdwa && over(inst, operands, bit, u32::MAX)? != executed;
    (!part).then_some(executed)
}

/// The same, over a destination that has a number already.
fn over(inst: &Inst, operands: &[Option<Pattern>; 3], bit: Option<bool>, old: u32) -> Option<Executed> {
    let entry = inst.entry();
    let compares = entry.compare().is_some();
    let mut regs = Regs::new(4, LANES as u32);
    regs.v.row_mut(3).fill(old);
    let mut alike = *inst;
    for (i, operand) in operands.iter().enumerate() {
        match entry.src[i] {
            Ty::None => {}
            Ty::Mask => {
                regs.set_pair(0, if bit? { Mask::MAX } else { 0 });
                alike.src[i] = Operand::Sgpr(0);
            }
            _ if !matches!(inst.src[i], Operand::Vgpr(_) | Operand::Sgpr(_)) => {}
            _ => {
                let values = operand.as_ref()?.values(REGISTER)?;
                regs.v.row_mut(i).iter_mut().zip(values).for_each(|(v, new)| *v = new as u32);
                alike.src[i] = Operand::Vgpr(i as u8);
            }
        }
    }
    // Where the mask goes does not matter.
    alike.dst = if compares { Operand::Sgpr(2) } else { Operand::Vgpr(3) };
    alike.sdst = if compares || inst.sdst == NO_SDST { NO_SDST } else { 2 };
    valu::execute(&alike, &mut regs, Mask::MAX).ok()?;
    let row: [u32; LANES] = *regs.v.whole(3)?;
    let mask = (compares || inst.sdst != NO_SDST).then(|| regs.pair(2));
    let result = (!compares).then(|| Pattern::pure(row.map(u64::from)).register());
    Some(Executed { result, mask })
}

/// Whether the result follows from integers of 16 or 32 bits, all of which are named.
fn executable(inst: &Inst) -> bool {
    let entry = inst.entry();
    let word = |ty: Ty| matches!(ty, Ty::B32 | Ty::I32 | Ty::U32 | Ty::B16 | Ty::I16 | Ty::U16);
    let formats =
        matches!(inst.format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Vopc | Format::Sdwa);
    let changed = inst.clamp() || inst.omod != 0 || inst.abs | inst.neg != 0;
    let compare = entry.compare();
    let own = matches!(
        inst.op,
        Op::VMbcntLoU32B32
            | Op::VMbcntHiU32B32
            | Op::VMovrelsB32
            | Op::VMovrelsdB32
            | Op::VMovreldB32
            | Op::VWritelaneB32
            | Op::VReadlaneB32
            | Op::VReadfirstlaneB32
    );
    formats
        && !own
        && !entry.dst_read
        && !changed
        && (word(entry.dst) || compare.is_some_and(|c| !c.class))
        && entry.src.iter().all(|&ty| word(ty) || matches!(ty, Ty::None | Ty::Mask))
        && entry.src.iter().any(|&ty| word(ty))
}

/// What an operation makes of numbers whose bases need not be known; none where the sum or product of rows is not it.
pub fn moved(inst: &Inst, [a, b, c]: [Option<&Pattern>; 3], ranges: [Range; 3]) -> Option<Pattern> {
    if changed(inst) {
        return None;
    }
    let signed = |r: Range| r.constant().map(|c| i64::from(c as i32));
    let low24 = ranges[..2].iter().all(|r| r.uhi < 1 << 24);
    let fits24 = ranges[..2].iter().all(|r| r.slo >= -(1 << 23) && r.shi < 1 << 23);
    let product = || match (signed(ranges[0]), signed(ranges[1])) {
        (_, Some(by)) => Some(a?.scale(by)),
        (Some(by), _) => Some(b?.scale(by)),
        _ => None,
    };
    let found = match inst.op {
        Op::VAddU32 | Op::VAddNcU32 => a?.add(b?),
        Op::VSubU32 | Op::VSubNcU32 => a?.add(&b?.neg()),
        Op::VSubrevU32 | Op::VSubrevNcU32 => b?.add(&a?.neg()),
        Op::VLshlrevB32 => b?.scale(1 << (ranges[0].constant()? & 31)),
        Op::VMulLoU32 => product()?,
        Op::VMulU32U24 if low24 => product()?,
        Op::VMulI32I24 if fits24 => product()?,
        Op::VMadU32U24 if low24 => product()?.add(c?),
        Op::VMadI32I24 if fits24 => product()?.add(c?),
        _ => return None,
    };
    Some(found.register())
}

/// The high half of a number that is known.
pub fn high_half(wide: &Pattern) -> Option<Pattern> {
    Some(Pattern::pure(wide.values(ALL)?.map(|v| v >> 32)).register())
}

/// The number of two halves that are known.
pub fn pair(lo: &Pattern, hi: &Pattern) -> Option<Pattern> {
    let (mut values, high) = (lo.values(REGISTER)?, hi.values(REGISTER)?);
    values.iter_mut().zip(high).for_each(|(v, h)| *v |= h << 32);
    Some(Pattern::pure(values))
}

/// Modifiers and forms that read or write something else than the registers as they are.
pub fn changed(inst: &Inst) -> bool {
    matches!(inst.format, Format::Sdwa | Format::Dpp)
        || inst.clamp()
        || inst.omod != 0
        || inst.abs | inst.neg != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_isa::gcn3::parse_line;

    const DIMS: Dims = Dims { lanes: 64, x: 64, y: 1, rows: true };

    fn row(f: impl Fn(u64) -> u64) -> Option<Pattern> {
        Some(Pattern::pure(std::array::from_fn(|l| f(l as u64))).register())
    }

    fn run(line: &str, operands: [Option<Pattern>; 3], bit: Option<bool>) -> Option<Executed> {
        execute(&parse_line(line).expect("an instruction"), &operands, bit)
    }

    #[test]
    fn operations_are_executed() {
        let (a, b) = (row(|l| 7 * l + 100), row(|l| 3 * l));
        for (line, f) in [
            ("v_add_u32 v1, vcc, v2, v3", (|x, y| x + y) as fn(u64, u64) -> u64),
            ("v_mul_hi_u32 v1, v2, v3", |x, y| (x * y) >> 32),
            ("v_mul_lo_u32 v1, v2, v3", |x, y| x * y),
            ("v_xor_b32 v1, v2, v3", |x, y| x ^ y),
            ("v_max_u32 v1, v2, v3", u64::max),
            ("v_mul_lo_u16 v1, v2, v3", |x, y| (x * y) & 0xffff),
        ] {
            let found = run(line, [a.clone(), b.clone(), None], None).and_then(|e| e.result);
            assert_eq!(found, row(|l| f(7 * l + 100, 3 * l)), "{line}");
        }
        let half = run("v_lshrrev_b32 v1, 1, v2", [None, a.clone(), None], None).and_then(|e| e.result);
        assert_eq!(half, row(|l| (7 * l + 100) >> 1), "constants are what they are");
        let less = run("v_cmp_gt_u32 vcc, v2, v3", [row(|_| 30), b.clone(), None], None);
        assert_eq!(less.and_then(|e| e.mask), Some((1 << 10) - 1));
        // What is not known, floats, and what stays of the destination.
        assert!(run("v_add_u32 v1, vcc, v2, v3", [a.clone(), None, None], None).is_none());
        assert!(run("v_add_f32 v1, v2, v3", [a.clone(), b.clone(), None], None).is_none());
        let part = "v_add_u16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD";
        assert!(run(part, [a.clone(), b.clone(), None], None).is_none());
        let padded = part.replace("PRESERVE", "PAD");
        assert_eq!(run(&padded, [a, b, None], None).and_then(|e| e.result), row(|l| (10 * l + 100) << 16));
    }

    #[test]
    fn rows_of_lanes_and_of_ways() {
        let (Some(a), Some(b)) = (row(|l| l % 13), row(|l| l % 13 + 128)) else { panic!("rows") };
        // Another base on either way: the row stays, and what the bases share.
        let both = a.of_ways(&b, [Mask::MAX; 2], REGISTER).expect("a row");
        assert_eq!((both.base().known, both.values(REGISTER)), (7, None));
        assert_eq!(both.of_ways(&b, [Mask::MAX; 2], REGISTER), Some(both.clone()), "no more changes");
        // Some lanes have this, others that.
        let parts = a.of_lanes(&b, [0xf, !0xf], REGISTER, false).expect("a row");
        assert_eq!(Some(parts), row(|l| if l < 4 { l } else { l % 13 + 128 }));
        assert_eq!(a.of_lanes(&b, [0x1f, !0xf], REGISTER, false), None, "a lane that may have either");
        assert_eq!(both.of_lanes(&a, [0xf, !0xf], REGISTER, false), None, "bases that may differ");
        assert_eq!(a.range(0xf0).map(|r| (r.ulo, r.uhi)), Some((4, 7)));
        // A base that is not known leaves lanes together if none can wrap around.
        assert!(both.extended(false, Range::unsigned(0, 1000), DIMS).is_some());
        assert!(both.extended(false, Range::FULL, DIMS).is_none());
        let minus = a.add(&Pattern::same(Lin::exact(5)).expect("one").neg()).register();
        let wide = minus.extended(true, Range::FULL, DIMS).and_then(|p| p.values(ALL));
        assert_eq!(wide.map(|v| (v[0], v[6])), Some((-5i64 as u64, 1)));
    }
}
