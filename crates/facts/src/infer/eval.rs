//! What one GCN3 instruction does to the ranges: integer arithmetic of both ALUs, loads of arguments and launch sizes,
//! and every way to change the execution mask. Whatever is not known here leaves nothing known in what it writes.

use super::known::{Known, SideCondition};
use super::range::{Range, Rel};
use super::state::{Cond, MaskCond, Pointer, Scalar, Side, Space, State};
use wb_isa::gcn3::{Format, Inst, NO_SDST, Op, Operand, Ty, flag, sreg};

pub const EXEC: u8 = sreg::EXEC;
pub const VCC: u8 = sreg::VCC;

/// An operand as a side of a comparison.
pub fn side(operand: Operand) -> Option<Side> {
    Some(match operand {
        Operand::Vgpr(n) => Side::Vector(n),
        Operand::Sgpr(n) => Side::Scalar(n),
        Operand::InlineInt(v) => Side::Number(v as i32 as u32),
        Operand::Literal(v) => Side::Number(v),
        Operand::InlineFloat(f) => Side::Number(f.bits32()),
        _ => return None,
    })
}

pub fn range(state: &State, operand: Operand) -> Range {
    match operand {
        Operand::Scc | Operand::VccZ | Operand::ExecZ => Range::unsigned(0, 1),
        other => side(other).map_or(Range::FULL, |s| state.side(s)),
    }
}

/// The comparison an instruction makes, with its sides: of scalars into SCC, or of lanes.
pub fn comparison(inst: &Inst) -> Option<Cond> {
    let (rel, signed) = match inst.op {
        Op::SCmpEqI32 | Op::SCmpEqU32 | Op::SCmpkEqI32 | Op::SCmpkEqU32 => (Rel::Eq, false),
        Op::SCmpLgI32 | Op::SCmpLgU32 | Op::SCmpkLgI32 | Op::SCmpkLgU32 => (Rel::Ne, false),
        Op::SCmpGtI32 | Op::SCmpkGtI32 => (Rel::Gt, true),
        Op::SCmpGeI32 | Op::SCmpkGeI32 => (Rel::Ge, true),
        Op::SCmpLtI32 | Op::SCmpkLtI32 => (Rel::Lt, true),
        Op::SCmpLeI32 | Op::SCmpkLeI32 => (Rel::Le, true),
        Op::SCmpGtU32 | Op::SCmpkGtU32 => (Rel::Gt, false),
        Op::SCmpGeU32 | Op::SCmpkGeU32 => (Rel::Ge, false),
        Op::SCmpLtU32 | Op::SCmpkLtU32 => (Rel::Lt, false),
        Op::SCmpLeU32 | Op::SCmpkLeU32 => (Rel::Le, false),
        _ => {
            let compare = inst.entry().compare().filter(|c| !c.class)?;
            let signed = match inst.src_ty(0) {
                Ty::I32 => true,
                Ty::U32 => false,
                _ => return None,
            };
            if inst.format == Format::Sdwa || inst.format == Format::Dpp || inst.abs | inst.neg != 0 {
                return None;
            }
            match compare.condition {
                1 => (Rel::Lt, signed),
                2 => (Rel::Eq, false),
                3 => (Rel::Le, signed),
                4 => (Rel::Gt, signed),
                5 => (Rel::Ne, false),
                6 => (Rel::Ge, signed),
                _ => return None,
            }
        }
    };
    let b = match inst.op {
        Op::SCmpkEqU32
        | Op::SCmpkLgU32
        | Op::SCmpkGtU32
        | Op::SCmpkGeU32
        | Op::SCmpkLtU32
        | Op::SCmpkLeU32 => Side::Number(u32::from(inst.imm as u16)),
        Op::SCmpkEqI32
        | Op::SCmpkLgI32
        | Op::SCmpkGtI32
        | Op::SCmpkGeI32
        | Op::SCmpkLtI32
        | Op::SCmpkLeI32 => Side::Number(i32::from(inst.imm as i16) as u32),
        _ => side(inst.src[1])?,
    };
    Some(Cond { rel, signed, a: side(inst.src[0])?, b })
}

/// Operations that leave in SCC whether their 32-bit result is not zero.
pub fn tells_zero(op: Op) -> bool {
    matches!(
        op,
        Op::SAndB32
            | Op::SOrB32
            | Op::SXorB32
            | Op::SAndn2B32
            | Op::SOrn2B32
            | Op::SNandB32
            | Op::SNorB32
            | Op::SXnorB32
            | Op::SNotB32
            | Op::SLshlB32
            | Op::SLshrB32
            | Op::SAshrI32
            | Op::SBfeU32
            | Op::SBfeI32
            | Op::SBcnt1I32B32
            | Op::SBcnt1I32B64
            | Op::SAbsI32
    )
}

/// "The result is not zero", for those.
pub fn not_zero(inst: &Inst) -> Option<Cond> {
    let a = side(inst.dst).filter(|_| tells_zero(inst.op))?;
    Some(Cond { rel: Rel::Ne, signed: false, a, b: Side::Number(0) })
}

/// The range of a 32-bit result computed from the sources alone; none if the operation is not known.
pub fn arithmetic(inst: &Inst, state: &State) -> Option<Range> {
    if matches!(inst.format, Format::Sdwa | Format::Dpp)
        || inst.clamp()
        || inst.omod != 0
        || inst.abs | inst.neg != 0
        || inst.format.is_memory() && inst.has(flag::LDS)
    {
        return None;
    }
    let [a, b, c] = inst.src.map(|o| range(state, o));
    let k = Range::exact(i32::from(inst.imm as i16) as u32);
    let old = range(state, inst.dst);
    let low24 = |r: Range| if r.uhi < 1 << 24 { r } else { Range::unsigned(0, (1 << 24) - 1) };
    let fits24 = |r: Range| r.slo >= -(1 << 23) && r.shi < 1 << 23;
    let field = |v: Range, at: Range, width: Range| match (at.constant(), width.constant()) {
        (Some(at), Some(width)) if width & 31 != 0 => {
            let cut = v.shr(Range::exact(at & 31));
            if cut.uhi < 1 << (width & 31) { cut } else { Range::unsigned(0, (1 << (width & 31)) - 1) }
        }
        _ => Range::unsigned(0, v.uhi),
    };
    Some(match inst.op {
        Op::SMovB32 | Op::VMovB32 => a,
        Op::SMovkI32 => k,
        Op::SCmovkI32 => old.join(k),
        Op::SCmovB32 => old.join(a),
        Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 => a.add(b),
        Op::SSubU32 | Op::SSubI32 | Op::VSubU32 | Op::VSubNcU32 => a.sub(b),
        Op::VSubrevU32 | Op::VSubrevNcU32 => b.sub(a),
        Op::SAddkI32 => old.add(k),
        Op::SMulkI32 => old.mul(k),
        Op::SMulI32 | Op::VMulLoU32 => a.mul(b),
        Op::VMulHiU32 => a.mul_high(b),
        Op::VMulU32U24 => low24(a).mul(low24(b)),
        Op::VMadU32U24 => low24(a).mul(low24(b)).add(c),
        Op::VMulI32I24 if fits24(a) && fits24(b) => a.mul(b),
        Op::VMadI32I24 if fits24(a) && fits24(b) => a.mul(b).add(c),
        Op::SAndB32 | Op::VAndB32 => a.and(b),
        Op::SOrB32 | Op::VOrB32 => a.or(b),
        Op::SXorB32 | Op::VXorB32 => a.xor(b),
        Op::SNotB32 | Op::VNotB32 => a.not(),
        Op::SLshlB32 => a.shl(b),
        Op::SLshrB32 => a.shr(b),
        Op::SAshrI32 => a.ashr(b),
        Op::VLshlrevB32 => b.shl(a),
        Op::VAdd3U32 => a.add(b).add(c),
        Op::VLshlAddU32 => a.shl(b).add(c),
        Op::VAddLshlU32 => a.add(b).shl(c),
        Op::VLshlOrB32 => a.shl(b).or(c),
        Op::VAndOrB32 => a.and(b).or(c),
        Op::VOr3B32 => a.or(b).or(c),
        Op::VLshrrevB32 => b.shr(a),
        Op::VAshrrevI32 => b.ashr(a),
        Op::SMinI32 | Op::VMinI32 => a.min_s(b),
        Op::SMaxI32 | Op::VMaxI32 => a.max_s(b),
        Op::SMinU32 | Op::VMinU32 => a.min_u(b),
        Op::SMaxU32 | Op::VMaxU32 => a.max_u(b),
        Op::VMin3I32 => a.min_s(b).min_s(c),
        Op::VMax3I32 => a.max_s(b).max_s(c),
        Op::VMin3U32 => a.min_u(b).min_u(c),
        Op::VMax3U32 => a.max_u(b).max_u(c),
        Op::SBfeU32 => {
            let d = b.constant()?;
            let (at, width) = (d & 31, d >> 16 & 0x7f);
            match width {
                0 => Range::exact(0),
                w if w >= 32 => a.shr(Range::exact(at)),
                w => field(a, Range::exact(at), Range::exact(w)),
            }
        }
        Op::VBfeU32 => field(a, b, c),
        Op::SSextI32I8 => Range::signed(-128, 127),
        Op::SSextI32I16 => Range::signed(-0x8000, 0x7fff),
        Op::SBcnt1I32B32 | Op::SBcnt0I32B32 => Range::unsigned(0, 32),
        Op::SBcnt1I32B64 | Op::SBcnt0I32B64 => Range::unsigned(0, 64),
        Op::SFf1I32B32 | Op::SFlbitI32B32 => Range::signed(-1, 31),
        Op::SFf1I32B64 | Op::SFlbitI32B64 => Range::signed(-1, 63),
        Op::SAbsI32 if a.slo > i32::MIN => Range::signed(0, a.slo.abs().max(a.shi.abs())),
        Op::SCselectB32 => match state.decided_scc() {
            Some(true) => a,
            Some(false) => b,
            None => a.join(b),
        },
        Op::VCndmaskB32 => match inst.src[2] {
            Operand::Sgpr(n) => match state.decided_mask(n) {
                Some(true) => b,
                Some(false) => a,
                None => a.join(b),
            },
            _ => a.join(b),
        },
        Op::VMbcntLoU32B32 | Op::VMbcntHiU32B32 => b.add(Range::unsigned(0, 32)),
        Op::VBcntU32B32 => b.add(Range::unsigned(0, 32)),
        Op::VFrexpExpI32F32 => Range::signed(-149, 128),
        Op::VFrexpExpI32F64 => Range::signed(-1074, 1024),
        Op::FlatLoadUbyte | Op::DsReadU8 | Op::BufferLoadUbyte => Range::unsigned(0, 0xff),
        Op::FlatLoadUshort | Op::DsReadU16 | Op::BufferLoadUshort => Range::unsigned(0, 0xffff),
        Op::FlatLoadSbyte | Op::DsReadI8 | Op::BufferLoadSbyte => Range::signed(-0x80, 0x7f),
        Op::FlatLoadSshort | Op::DsReadI16 | Op::BufferLoadSshort => Range::signed(-0x8000, 0x7fff),
        Op::VReadfirstlaneB32 if state.is_some(EXEC) => a,
        _ => return None,
    })
}

/// The two summands of a 64-bit sum whose low half is the sum of their low halves.
pub fn summands(inst: &Inst) -> Option<(Operand, Operand)> {
    let [a, by, c] = inst.src;
    let whole = |o: Operand| matches!(o, Operand::Vgpr(_) | Operand::Sgpr(_) | Operand::InlineInt(_));
    let plain = inst.op == Op::VLshlAddU64 && !inst.clamp() && by == Operand::InlineInt(0);
    (plain && whole(a) && whole(c)).then_some((a, c))
}

/// The low half of a 64-bit sum.
fn low_half(inst: &Inst, state: &State) -> Option<Range> {
    let whole = |o: Operand| matches!(o, Operand::Vgpr(_) | Operand::Sgpr(_) | Operand::InlineInt(_));
    if inst.op != Op::VLshlAddU64 || inst.clamp() || !inst.src.iter().all(|o| whole(*o)) {
        return None;
    }
    let [a, by, c] = inst.src.map(|o| range(state, o));
    by.constant().filter(|n| *n <= 4).map(|_| a.shl(by).add(c))
}

/// The argument dword an instruction loads into its first register.
fn loaded(inst: &Inst, state: &State, known: &Known) -> Option<Vec<Scalar>> {
    let count = match inst.op {
        Op::SLoadDword => 1,
        Op::SLoadDwordx2 => 2,
        Op::SLoadDwordx4 => 4,
        Op::SLoadDwordx8 => 8,
        Op::SLoadDwordx16 => 16,
        _ => return None,
    };
    let (space, base) = base(inst.src[0], state)?;
    // From gfx9 on there may be a register and a constant, which may be negative.
    let offset = match inst.src[1] {
        Operand::None => 0,
        register => i64::from(range(state, register).constant()?),
    };
    let at = base.checked_add(offset + i64::from(inst.imm)).filter(|at| at % 4 == 0)?;
    let word = |i: i64| {
        let at = u32::try_from(at + 4 * i).ok()?;
        Some(match space {
            Space::Arguments => Scalar {
                range: known.argument(at).map_or(Range::FULL, Range::exact),
                argument: Some(at),
                pointer: None,
            },
            Space::Packet => Scalar::new(known.packet(at).map_or(Range::FULL, Range::exact)),
        })
    };
    Some((0..count).map(|i| word(i).unwrap_or(Scalar::UNKNOWN)).collect())
}

/// What a pair of scalar registers points to, and how far behind its beginning.
fn base(pair: Operand, state: &State) -> Option<(Space, i64)> {
    let Operand::Sgpr(n) = pair else { return None };
    let (low, high) =
        (state.scalars[usize::from(n)].pointer?, state.scalars.get(usize::from(n) + 1)?.pointer?);
    if low.high || !high.high || low.space != high.space || low.offset as u32 != high.offset as u32 {
        return None;
    }
    Some((low.space, high.offset))
}

/// What lanes load of the arguments or the launch sizes if all of them load it at one place.
fn loaded_by_lanes(inst: &Inst, state: &State, known: &Known) -> Option<Range> {
    if inst.format != Format::Global || inst.has(flag::LDS) {
        return None;
    }
    let bits = match inst.op {
        Op::FlatLoadUbyte | Op::FlatLoadSbyte => 8,
        Op::FlatLoadUshort | Op::FlatLoadSshort => 16,
        Op::FlatLoadDword => 32,
        _ => return None,
    };
    let (space, base) = base(inst.src[2], state)?;
    let offset = range(state, inst.src[0]).constant()?;
    let at = u32::try_from(base.checked_add(i64::from(offset) + i64::from(inst.imm))?).ok()?;
    let word = match space {
        Space::Arguments => known.argument(at & !3),
        Space::Packet => known.packet(at & !3),
    }?;
    let first = at % 4 * 8;
    if first + bits > 32 {
        return None;
    }
    // The part at the top, and down again with zeros or signs.
    let top = word << (32 - first - bits);
    let signed = matches!(inst.op, Op::FlatLoadSbyte | Op::FlatLoadSshort);
    Some(Range::exact(if signed { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }))
}

/// An address half after an addition, and the carry it leaves.
fn address(inst: &Inst, state: &State) -> Option<(Scalar, Option<Pointer>)> {
    let pointer = |o: Operand| match o {
        Operand::Sgpr(n) => state.scalars[usize::from(n & 127)].pointer,
        _ => None,
    };
    let [a, b, _] = inst.src;
    let (p, k) = match (pointer(a), pointer(b)) {
        (Some(p), None) => (p, range(state, b).constant()?),
        (None, Some(p)) => (p, range(state, a).constant()?),
        _ => return None,
    };
    let with = |pointer| Scalar { pointer: Some(pointer), ..Scalar::UNKNOWN };
    match inst.op {
        Op::SAddU32 if !p.high => {
            let sum = Pointer { offset: p.offset.checked_add(k.into())?, ..p };
            Some((with(sum), Some(sum)))
        }
        Op::SAddcU32 if p.high => {
            let low = state.carry?;
            let step = low.offset.checked_sub(p.offset)?;
            let same = low.space == p.space && (0..1 << 32).contains(&step);
            let offset = low.offset.checked_add(i64::from(k as i32) << 32)?;
            same.then(|| (with(Pointer { offset, ..p }), None))
        }
        _ => None,
    }
}

/// What is known about a 64-bit operand as a mask: conditions, existing lanes only, not zero.
fn mask(state: &State, operand: Operand) -> (MaskCond, bool, bool) {
    match operand {
        Operand::Sgpr(n) => {
            let cond = if n == EXEC {
                MaskCond::default()
            } else {
                state.masks.get(&n).cloned().unwrap_or_default()
            };
            (cond, state.is_clean(n), state.is_some(n))
        }
        Operand::InlineInt(0) => (MaskCond::default(), true, false),
        _ => (MaskCond::default(), false, operand.is_constant()),
    }
}

/// Result of a 64-bit mask operation.
fn mask_result(inst: &Inst, state: &State) -> Option<(MaskCond, bool, bool)> {
    let [(ca, la, sa), (cb, lb, sb)] = [inst.src[0], inst.src[1]].map(|o| mask(state, o));
    let is_exec = |i: usize| inst.src[i] == Operand::EXEC;
    Some(match inst.op {
        Op::SMovB64 => (ca, la, sa),
        Op::SAndB64 if is_exec(0) => (cb.within(), la || lb, false),
        Op::SAndB64 if is_exec(1) => (ca.within(), la || lb, false),
        Op::SAndB64 => (ca.and(&cb), la || lb, false),
        Op::SOrB64 => (ca.or(cb), la && lb, sa || sb),
        Op::SXorB64 => (MaskCond::default(), la && lb, false),
        Op::SAndn2B64 if is_exec(0) => (cb.not().within(), la, false),
        Op::SAndn2B64 => (ca.and(&cb.not()), la, false),
        Op::SNotB64 => (ca.not(), false, false),
        Op::SOrn2B64 => (ca.or(cb.not()), false, false),
        Op::SCselectB64 => {
            let all = |o| o == Operand::InlineInt(-1);
            let none = |o| o == Operand::InlineInt(0);
            let cond = match state.scc {
                Some(c) if all(inst.src[0]) && none(inst.src[1]) => MaskCond::uniform(c),
                Some(c) if none(inst.src[0]) && all(inst.src[1]) => MaskCond::uniform(c.not()),
                _ => MaskCond::default(),
            };
            (cond, la && lb, sa && sb)
        }
        _ => return None,
    })
}

/// Whether a mask operation, or a comparison of lanes, leaves zero.
fn leaves_none(inst: &Inst, state: &State, cond: Option<Cond>) -> bool {
    let none = |i: usize| match inst.src[i] {
        Operand::Sgpr(n) => state.is_none(n),
        other => other == Operand::InlineInt(0),
    };
    match inst.op {
        Op::SMovB64 => none(0),
        Op::SAndB64 => none(0) || none(1),
        Op::SAndn2B64 => none(0),
        Op::SOrB64 | Op::SXorB64 => none(0) && none(1),
        Op::SCselectB64 => match state.decided_scc() {
            Some(true) => none(0),
            Some(false) => none(1),
            None => none(0) && none(1),
        },
        _ => inst.entry().compare().is_some() && cond.is_some_and(|c| !state.possible(c)),
    }
}

fn put_mask(state: &mut State, pair: u8, (cond, clean, some): (MaskCond, bool, bool)) {
    match cond.is_empty() {
        true => _ = state.masks.remove(&pair),
        false => _ = state.masks.insert(pair, cond),
    }
    state.clean = state.clean & !(1 << pair) | u128::from(clean) << pair;
    state.some = state.some & !(1 << pair) | u128::from(some) << pair;
}

/// How the execution mask changes.
enum Lanes {
    /// To a part of it, for which these hold.
    Part(Vec<Cond>),
    More,
    /// To anything.
    Other,
}

/// The new execution mask: how it relates to the old one, whether it has existing lanes only, whether it has any.
fn lanes(inst: &Inst, state: &State, cond: Option<Cond>) -> Option<(Lanes, bool, bool)> {
    let (clean, some) = (state.is_clean(EXEC), state.is_some(EXEC));
    let writes = inst.dst == Operand::EXEC
        || matches!(inst.dst, Operand::Sgpr(n) if n == EXEC + 1)
        || inst.sdst == EXEC
        || inst.entry().writes & wb_isa::gcn3::table::implicit::EXEC != 0;
    if !writes {
        return None;
    }
    let [a, b, _] = inst.src;
    let (ma, la, _) = mask(state, a);
    let (mb, lb, _) = mask(state, b);
    let is = |o: Operand| o == Operand::EXEC;
    Some(match inst.op {
        Op::SAndSaveexecB64 => (Lanes::Part(ma.yes), clean || la, false),
        Op::SOrSaveexecB64 => (Lanes::More, clean && la, some),
        Op::SAndn2SaveexecB64 => (Lanes::Other, la, false),
        Op::SXorSaveexecB64 => (Lanes::Other, clean && la, false),
        Op::SAndB64 if is(inst.dst) && is(a) => (Lanes::Part(mb.yes), clean || lb, false),
        Op::SAndB64 if is(inst.dst) && is(b) => (Lanes::Part(ma.yes), clean || la, false),
        Op::SAndn2B64 if is(inst.dst) && is(a) => (Lanes::Part(mb.no), clean, false),
        Op::SOrB64 if is(inst.dst) && is(a) => (Lanes::More, clean && lb, some || mask(state, b).2),
        Op::SOrB64 if is(inst.dst) && is(b) => (Lanes::More, clean && la, some || mask(state, a).2),
        Op::SXorB64 | Op::SAndB64 | Op::SOrB64 | Op::SMovB64 | Op::SAndn2B64 if is(inst.dst) => {
            let (_, clean, some) = mask_result(inst, state)?;
            (Lanes::Other, clean, some)
        }
        _ if inst.entry().compare().is_some_and(|c| c.exec) => {
            (Lanes::Part(cond.into_iter().collect()), clean, false)
        }
        _ => (Lanes::Other, false, false),
    })
}

fn change_lanes(state: &mut State, how: Lanes, scalars: bool) {
    match how {
        Lanes::Part(conds) => {
            state.narrow();
            // If it cannot hold, no lane is on and every range of lanes that are on is right.
            for c in conds {
                match scalars {
                    true => _ = state.assume(c),
                    false => state.assume_lanes(c),
                }
            }
        }
        Lanes::More => state.widen_lanes(),
        Lanes::Other => {
            state.narrow();
            state.widen_lanes();
        }
    }
}

/// One instruction that is not a call.
pub fn step(inst: &Inst, state: &mut State, known: &Known) {
    let cond = comparison(inst);
    let value = loaded_by_lanes(inst, state, known).or_else(|| arithmetic(inst, state));
    let loads = loaded(inst, state, known);
    let pointer = address(inst, state);
    let low = low_half(inst, state);
    let mask_value = mask_result(inst, state);
    let none = leaves_none(inst, state, cond);
    let new_lanes = lanes(inst, state, cond);
    let saved = (state.is_clean(EXEC), state.is_some(EXEC));
    let copy = match (inst.op, inst.src[0]) {
        (Op::SMovB32, Operand::Sgpr(n)) => Some(vec![state.scalars[usize::from(n & 127)]]),
        (Op::SMovB64, Operand::InlineInt(v)) => Some(vec![
            Scalar::new(Range::exact(v as i32 as u32)),
            Scalar::new(Range::exact(if v < 0 { u32::MAX } else { 0 })),
        ]),
        (Op::SMovB64, Operand::Sgpr(n)) => {
            let half = |i: usize| state.scalars.get(usize::from(n) + i).copied();
            half(0).zip(half(1)).map(|(low, high)| vec![low, high])
        }
        _ => None,
    };
    let mut scc_written = false;
    for used in inst.uses().iter().filter(|u| u.write) {
        match used.operand {
            Operand::Vgpr(n) => {
                for i in 0..used.dwords {
                    state.set_vector(n.saturating_add(i), Range::FULL);
                }
                // It writes its lane even if that is off.
                if inst.op == Op::VWritelaneB32 {
                    state.off[usize::from(n)] = Some(Range::FULL);
                }
            }
            Operand::Sgpr(n) => {
                for i in 0..used.dwords {
                    state.set_scalar((n + i) & 127, Scalar::UNKNOWN);
                }
            }
            _ => scc_written = true,
        }
    }
    if scc_written {
        (state.scc, state.carry) = (None, None);
    }
    write_result(inst, state, value, loads.or(copy), pointer);
    if let (Operand::Vgpr(n), Some(low)) = (inst.dst, low) {
        state.set_vector(n, low);
    }
    // What was compared is not what a register holds that this instruction writes.
    let written: Vec<Side> = inst
        .uses()
        .iter()
        .filter(|u| u.write)
        .flat_map(|u| {
            let first = match u.operand {
                Operand::Vgpr(n) => Some(Side::Vector(n)),
                Operand::Sgpr(n) => Some(Side::Scalar(n)),
                _ => None,
            };
            (0..u.dwords).filter_map(move |i| Some(shifted(first?, i)))
        })
        .collect();
    let overwritten = |c: &Cond| written.iter().any(|w| [c.a, c.b].contains(w));
    if let Some(c) = cond.filter(|c| !overwritten(c)) {
        match inst.dst {
            Operand::Sgpr(n) if inst.entry().compare().is_some() => {
                put_mask(state, n, (MaskCond::of(c), saved.0, false));
            }
            _ if inst.entry().compare().is_none() => state.scc = Some(c),
            _ => {}
        }
    } else if let (Operand::Sgpr(n), true) = (inst.dst, inst.entry().compare().is_some()) {
        put_mask(state, n, (MaskCond::default(), saved.0, false));
    }
    if let Some(c) = not_zero(inst) {
        state.scc = Some(c);
    }
    if inst.sdst != NO_SDST && inst.sdst != EXEC {
        // Carries of lanes that are off are zero.
        put_mask(state, inst.sdst, (MaskCond::default(), saved.0, false));
    }
    if let (Some(m), Operand::Sgpr(n)) = (mask_value, inst.dst)
        && n != EXEC
    {
        let stale = known.without == Some(SideCondition::OperandsUnchanged);
        let said = if stale { m.0 } else { m.0.without(&written) };
        put_mask(state, n, (said, m.1, m.2));
    }
    if let (true, Operand::Sgpr(n)) = (none, inst.dst)
        && n != EXEC
    {
        state.none |= 1 << n;
    }
    if let Some((how, clean, some)) = new_lanes {
        if let (true, Operand::Sgpr(n)) = (is_save(inst.op), inst.dst) {
            put_mask(state, n, (MaskCond::default(), saved.0, saved.1));
        }
        change_lanes(state, how, known.without == Some(SideCondition::SomeLane));
        put_mask(state, EXEC, (MaskCond::default(), clean, some));
        if !clean {
            state.any_lanes();
        }
    }
}

fn shifted(side: Side, by: u8) -> Side {
    match side {
        Side::Vector(n) => Side::Vector(n.saturating_add(by)),
        Side::Scalar(n) => Side::Scalar((n + by) & 127),
        number => number,
    }
}

pub fn is_save(op: Op) -> bool {
    matches!(
        op,
        Op::SAndSaveexecB64
            | Op::SOrSaveexecB64
            | Op::SXorSaveexecB64
            | Op::SAndn2SaveexecB64
            | Op::SOrn2SaveexecB64
            | Op::SNandSaveexecB64
            | Op::SNorSaveexecB64
            | Op::SXnorSaveexecB64
    )
}

fn write_result(
    inst: &Inst,
    state: &mut State,
    value: Option<Range>,
    scalars: Option<Vec<Scalar>>,
    pointer: Option<(Scalar, Option<Pointer>)>,
) {
    match inst.dst {
        Operand::Sgpr(n) => {
            if let Some(all) = scalars {
                for (i, s) in all.into_iter().enumerate() {
                    state.set_scalar((n + i as u8) & 127, s);
                }
            } else if let Some((s, carry)) = pointer {
                state.set_scalar(n, s);
                state.carry = carry;
            } else if let (Some(r), 1) = (value, inst.dst_dwords()) {
                state.set_scalar(n, Scalar::new(r));
            }
        }
        Operand::Vgpr(n) => {
            if let (Some(r), 1) = (value, inst.dst_dwords()) {
                state.set_vector(n, r);
            }
        }
        _ => {}
    }
}
