//! What one GCN3 instruction does to the facts, and what a branch says on each of its ways. Whatever is not listed here
//! leaves nothing known in what it writes.

use crate::code::Launch;
use crate::facts::{EXEC, Facts, VCC};
use crate::format::{Address, Comparison, Rel, Said, Side, Space};
use crate::interval::Interval;
use wb_isa::gcn3::table::implicit;
use wb_isa::gcn3::{Format, Inst, NO_SDST, Op, Operand, Ty, flag};

pub fn side(operand: Operand) -> Option<Side> {
    match operand {
        Operand::Vgpr(n) => Some(Side::V(n)),
        Operand::Sgpr(n) => Some(Side::S(n)),
        Operand::InlineInt(v) => Some(Side::Number(i32::from(v) as u32)),
        Operand::InlineFloat(f) => Some(Side::Number(f.bits32())),
        Operand::Literal(v) => Some(Side::Number(v)),
        Operand::None
        | Operand::VccZ
        | Operand::ExecZ
        | Operand::Scc
        | Operand::LdsDirect
        | Operand::Agpr(_)
        | Operand::Window(_) => None,
    }
}

/// Values of a 32-bit source.
pub fn source(f: &Facts, operand: Operand) -> Interval {
    match operand {
        Operand::VccZ | Operand::ExecZ | Operand::Scc => Interval::unsigned(0, 1),
        _ => side(operand).map_or(Interval::ANY, |s| f.side(s)),
    }
}

/// The comparison an instruction makes into SCC or into a mask, if it is one of 32-bit integers.
pub fn comparison(inst: &Inst) -> Option<Comparison> {
    use Rel::{Eq, Ge, Gt, Le, Lt, Ne};
    let immediate = |signed: bool| match signed {
        true => Side::Number(i32::from(inst.imm as i16) as u32),
        false => Side::Number(u32::from(inst.imm as u16)),
    };
    let (rel, signed, b) = match inst.op {
        Op::SCmpEqI32 | Op::SCmpEqU32 => (Eq, false, side(inst.src[1])?),
        Op::SCmpLgI32 | Op::SCmpLgU32 => (Ne, false, side(inst.src[1])?),
        Op::SCmpLtI32 => (Lt, true, side(inst.src[1])?),
        Op::SCmpLeI32 => (Le, true, side(inst.src[1])?),
        Op::SCmpGtI32 => (Gt, true, side(inst.src[1])?),
        Op::SCmpGeI32 => (Ge, true, side(inst.src[1])?),
        Op::SCmpLtU32 => (Lt, false, side(inst.src[1])?),
        Op::SCmpLeU32 => (Le, false, side(inst.src[1])?),
        Op::SCmpGtU32 => (Gt, false, side(inst.src[1])?),
        Op::SCmpGeU32 => (Ge, false, side(inst.src[1])?),
        Op::SCmpkEqI32 => (Eq, false, immediate(true)),
        Op::SCmpkLgI32 => (Ne, false, immediate(true)),
        Op::SCmpkLtI32 => (Lt, true, immediate(true)),
        Op::SCmpkLeI32 => (Le, true, immediate(true)),
        Op::SCmpkGtI32 => (Gt, true, immediate(true)),
        Op::SCmpkGeI32 => (Ge, true, immediate(true)),
        Op::SCmpkEqU32 => (Eq, false, immediate(false)),
        Op::SCmpkLgU32 => (Ne, false, immediate(false)),
        Op::SCmpkLtU32 => (Lt, false, immediate(false)),
        Op::SCmpkLeU32 => (Le, false, immediate(false)),
        Op::SCmpkGtU32 => (Gt, false, immediate(false)),
        Op::SCmpkGeU32 => (Ge, false, immediate(false)),
        _ => {
            let compare = inst.entry().compare()?;
            let plain = matches!(inst.format, Format::Vopc | Format::Vop3) && inst.abs | inst.neg == 0;
            let signed = match inst.src_ty(0) {
                Ty::I32 => true,
                Ty::U32 => false,
                _ => return None,
            };
            if compare.class || !plain {
                return None;
            }
            let rel = match compare.condition {
                1 => Lt,
                2 => Eq,
                3 => Le,
                4 => Gt,
                5 => Ne,
                6 => Ge,
                _ => return None,
            };
            (rel, signed && !matches!(rel, Eq | Ne), side(inst.src[1])?)
        }
    };
    Some(Comparison { rel, signed, a: side(inst.src[0])?, b })
}

/// Operations after which SCC tells whether their 32-bit result is not zero.
pub fn tells_not_zero(op: Op) -> bool {
    matches!(
        op,
        Op::SAndB32
            | Op::SOrB32
            | Op::SXorB32
            | Op::SNotB32
            | Op::SAndn2B32
            | Op::SOrn2B32
            | Op::SNandB32
            | Op::SNorB32
            | Op::SXnorB32
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

/// Values of a one-dword result, none if the operation is not known.
pub fn result(inst: &Inst, f: &Facts) -> Option<Interval> {
    let altered = inst.clamp() || inst.omod != 0 || inst.abs | inst.neg != 0;
    let elsewhere = inst.format.is_memory() && inst.has(flag::LDS);
    if altered || elsewhere || matches!(inst.format, Format::Sdwa | Format::Dpp) {
        return None;
    }
    let [a, b, c] = inst.src.map(|o| source(f, o));
    let before = source(f, inst.dst);
    let k = Interval::just(i32::from(inst.imm as i16) as u32);
    let cut24 = |i: Interval| if i.u.1 >> 24 == 0 { i } else { Interval::unsigned(0, 0xff_ffff) };
    let in24 = |i: Interval| i.s.0 >= -0x80_0000 && i.s.1 <= 0x7f_ffff;
    let extract = |v: Interval, at: u32, width: u32| {
        let moved = v.right(Interval::just(at));
        let most = (1u32 << width) - 1;
        if moved.u.1 <= most { moved } else { Interval::unsigned(0, most) }
    };
    Some(match inst.op {
        Op::SMovB32 | Op::VMovB32 => a,
        Op::SMovkI32 => k,
        Op::SCmovB32 => a.or_else(before),
        Op::SCmovkI32 => k.or_else(before),
        Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 => a.plus(b),
        Op::SSubU32 | Op::SSubI32 | Op::VSubU32 | Op::VSubNcU32 => a.minus(b),
        Op::VSubrevU32 | Op::VSubrevNcU32 => b.minus(a),
        Op::SAddkI32 => before.plus(k),
        Op::SMulkI32 => before.times(k),
        Op::SMulI32 | Op::VMulLoU32 => a.times(b),
        Op::VMulHiU32 => a.times_high(b),
        Op::VMulU32U24 => cut24(a).times(cut24(b)),
        Op::VMadU32U24 => cut24(a).times(cut24(b)).plus(c),
        Op::VMulI32I24 if in24(a) && in24(b) => a.times(b),
        Op::VMadI32I24 if in24(a) && in24(b) => a.times(b).plus(c),
        Op::SAndB32 | Op::VAndB32 => a.bit_and(b),
        Op::SOrB32 | Op::VOrB32 => a.bit_or(b),
        Op::SXorB32 | Op::VXorB32 => a.bit_xor(b),
        Op::SNotB32 | Op::VNotB32 => a.bit_not(),
        Op::SLshlB32 => a.left(b),
        Op::SLshrB32 => a.right(b),
        Op::SAshrI32 => a.right_signed(b),
        Op::VLshlrevB32 => b.left(a),
        Op::VAdd3U32 => a.plus(b).plus(c),
        Op::VLshlAddU32 => a.left(b).plus(c),
        Op::VAddLshlU32 => a.plus(b).left(c),
        Op::VLshlOrB32 => a.left(b).bit_or(c),
        Op::VAndOrB32 => a.bit_and(b).bit_or(c),
        Op::VOr3B32 => a.bit_or(b).bit_or(c),
        Op::VLshrrevB32 => b.right(a),
        Op::VAshrrevI32 => b.right_signed(a),
        Op::SMinI32 | Op::VMinI32 => a.least(b, true),
        Op::SMinU32 | Op::VMinU32 => a.least(b, false),
        Op::SMaxI32 | Op::VMaxI32 => a.most(b, true),
        Op::SMaxU32 | Op::VMaxU32 => a.most(b, false),
        Op::VMin3I32 => a.least(b, true).least(c, true),
        Op::VMin3U32 => a.least(b, false).least(c, false),
        Op::VMax3I32 => a.most(b, true).most(c, true),
        Op::VMax3U32 => a.most(b, false).most(c, false),
        Op::SBfeU32 => {
            let how = b.value()?;
            match how >> 16 & 0x7f {
                0 => Interval::just(0),
                width @ 1..=31 => extract(a, how & 31, width),
                _ => a.right(Interval::just(how & 31)),
            }
        }
        Op::VBfeU32 => match (b.value(), c.value()) {
            (Some(at), Some(width)) if width & 31 != 0 => extract(a, at & 31, width & 31),
            _ => Interval::unsigned(0, a.u.1),
        },
        Op::SSextI32I8 => Interval::signed(-0x80, 0x7f),
        Op::SSextI32I16 => Interval::signed(-0x8000, 0x7fff),
        Op::SBcnt0I32B32 | Op::SBcnt1I32B32 => Interval::unsigned(0, 32),
        Op::SBcnt0I32B64 | Op::SBcnt1I32B64 => Interval::unsigned(0, 64),
        Op::SFf1I32B32 | Op::SFlbitI32B32 => Interval::signed(-1, 31),
        Op::SFf1I32B64 | Op::SFlbitI32B64 => Interval::signed(-1, 63),
        Op::SAbsI32 if a.s.0 != i32::MIN => Interval::signed(0, a.s.0.abs().max(a.s.1.abs())),
        Op::SCselectB32 => match f.scc_value() {
            Some(true) => a,
            Some(false) => b,
            None => a.or_else(b),
        },
        Op::VCndmaskB32 => {
            let nothing = Said::default();
            let pair = if let Operand::Sgpr(n) = inst.src[2] { n } else { return Some(a.or_else(b)) };
            let said = f.masks.get(&pair).unwrap_or(&nothing);
            let (unset, set) = (
                f.is_none(pair) || said.yes.iter().any(|&c| !f.can_hold(c)),
                said.no.iter().any(|&c| !f.can_hold(c)),
            );
            match (unset, set) {
                (true, _) => a,
                (false, true) => b,
                (false, false) => a.or_else(b),
            }
        }
        Op::VMbcntLoU32B32 | Op::VMbcntHiU32B32 | Op::VBcntU32B32 => b.plus(Interval::unsigned(0, 32)),
        Op::VFrexpExpI32F32 => Interval::signed(-149, 128),
        Op::VFrexpExpI32F64 => Interval::signed(-1074, 1024),
        Op::FlatLoadUbyte | Op::DsReadU8 | Op::BufferLoadUbyte => Interval::unsigned(0, 0xff),
        Op::FlatLoadUshort | Op::DsReadU16 | Op::BufferLoadUshort => Interval::unsigned(0, 0xffff),
        Op::FlatLoadSbyte | Op::DsReadI8 | Op::BufferLoadSbyte => Interval::signed(-0x80, 0x7f),
        Op::FlatLoadSshort | Op::DsReadI16 | Op::BufferLoadSshort => Interval::signed(-0x8000, 0x7fff),
        Op::VReadfirstlaneB32 if f.is_some(EXEC) => a,
        _ => return None,
    })
}

/// What scalar registers hold after a load from the arguments or the dispatch packet.
fn loaded(inst: &Inst, f: &Facts, launch: &Launch) -> Option<Vec<Interval>> {
    let words = match inst.op {
        Op::SLoadDword => 1,
        Op::SLoadDwordx2 => 2,
        Op::SLoadDwordx4 => 4,
        Op::SLoadDwordx8 => 8,
        Op::SLoadDwordx16 => 16,
        _ => return None,
    };
    let (space, start) = pointed_to(inst.src[0], f)?;
    // A register, a signed constant, or both.
    let register = if inst.src[1] == Operand::None { 0 } else { source(f, inst.src[1]).value()? };
    let at = start.checked_add(i64::from(register) + i64::from(inst.imm)).filter(|at| at % 4 == 0)?;
    let word = |i: i64| word_of(space, u32::try_from(at + 4 * i).ok()?, launch);
    Some((0..words).map(|i| word(i).map_or(Interval::ANY, Interval::just)).collect())
}

fn word_of(space: Space, at: u32, launch: &Launch) -> Option<u32> {
    match space {
        Space::Arguments => launch.argument(at),
        Space::Packet => launch.packet(at),
    }
}

/// The space that a pair of registers points into, and where.
fn pointed_to(pair: Operand, f: &Facts) -> Option<(Space, i64)> {
    let Operand::Sgpr(n) = pair else { return None };
    let (low, high) = (f.address[usize::from(n & 127)]?, (*f.address.get(usize::from(n) + 1)?)?);
    // The two halves of one address: the high one counts all of the offset, carries included.
    let halves = !low.high && high.high && low.space == high.space && low.offset as u32 == high.offset as u32;
    halves.then_some((low.space, high.offset))
}

/// What a vector register holds in lanes that are on after all of them loaded one place of the arguments or the packet.
fn loaded_at_one_place(inst: &Inst, f: &Facts, launch: &Launch) -> Option<Interval> {
    let (bytes, signed) = match inst.op {
        Op::FlatLoadUbyte => (1, false),
        Op::FlatLoadSbyte => (1, true),
        Op::FlatLoadUshort => (2, false),
        Op::FlatLoadSshort => (2, true),
        Op::FlatLoadDword => (4, false),
        _ => return None,
    };
    let by_scalar = inst.format == Format::Global && !inst.has(flag::LDS);
    let (space, start) = pointed_to(inst.src[2], f).filter(|_| by_scalar)?;
    let own = i64::from(source(f, inst.src[0]).value()?);
    let at = u32::try_from(start.checked_add(own + i64::from(inst.imm))?).ok()?;
    let (dword, inside) = (word_of(space, at - at % 4, launch)?.to_le_bytes(), at as usize % 4);
    let part = dword.get(inside..inside + bytes)?;
    let negative = signed && part.last().is_some_and(|b| b >> 7 == 1);
    let mut word = if negative { [0xff; 4] } else { [0; 4] };
    word[..bytes].copy_from_slice(part);
    Some(Interval::just(u32::from_le_bytes(word)))
}

/// The half of an address that an addition makes, and whether SCC is then the carry of its low half.
fn moved_address(inst: &Inst, f: &Facts) -> Option<(Address, bool)> {
    let half = |o: Operand| match o {
        Operand::Sgpr(n) => f.address[usize::from(n & 127)],
        _ => None,
    };
    let [a, b, _] = inst.src;
    let (address, other) = match (half(a), half(b)) {
        (Some(address), None) => (address, b),
        (None, Some(address)) => (address, a),
        _ => return None,
    };
    let k = source(f, other).value()?;
    match (inst.op, address.high) {
        (Op::SAddU32, false) => {
            Some((Address { offset: address.offset.checked_add(k.into())?, ..address }, true))
        }
        (Op::SAddcU32, true) => {
            let low = f.carry?;
            let grown = low.offset.checked_sub(address.offset)?;
            if low.space != address.space || !(0..1i64 << 32).contains(&grown) {
                return None;
            }
            Some((Address { offset: low.offset.checked_add(i64::from(k as i32) << 32)?, ..address }, false))
        }
        _ => None,
    }
}

/// What a 64-bit source says as a mask: the comparisons, bits of existing lanes only, not zero.
fn mask(f: &Facts, operand: Operand) -> (Said, bool, bool) {
    match operand {
        Operand::Sgpr(EXEC) => (Said::default(), f.is_clean(EXEC), f.is_some(EXEC)),
        Operand::Sgpr(n) => (f.masks.get(&n).cloned().unwrap_or_default(), f.is_clean(n), f.is_some(n)),
        Operand::InlineInt(0) => (Said::default(), true, false),
        other => (Said::default(), false, other.is_constant()),
    }
}

/// `a & EXEC`: of lanes that are on the bits stay, lanes that are off have none.
fn of_lanes_on(a: Said) -> Said {
    Said { yes_anywhere: true, no_anywhere: false, ..a }
}

/// `a & b`.
fn both(a: Said, b: Said) -> Said {
    let mut yes = a.yes;
    yes.extend(b.yes);
    // In one order, whatever they were put together from: of two that contradict each other the first counts.
    yes.sort_unstable();
    yes.dedup();
    let no = a.no.into_iter().filter(|c| b.no.contains(c)).collect();
    let yes_anywhere = a.yes_anywhere && b.yes_anywhere;
    Said { yes, no, yes_anywhere, no_anywhere: a.no_anywhere && b.no_anywhere }
}

/// A 64-bit operation on masks.
fn mask_operation(inst: &Inst, f: &Facts) -> Option<(Said, bool, bool)> {
    let [x, y, _] = inst.src;
    let ((a, clean_a, some_a), (b, clean_b, some_b)) = (mask(f, x), mask(f, y));
    let (exec_x, exec_y) = (x == Operand::EXEC, y == Operand::EXEC);
    Some(match inst.op {
        Op::SMovB64 => (a, clean_a, some_a),
        Op::SNotB64 => (a.inverted(), false, false),
        Op::SAndB64 if exec_x => (of_lanes_on(b), clean_a || clean_b, false),
        Op::SAndB64 if exec_y => (of_lanes_on(a), clean_a || clean_b, false),
        Op::SAndB64 => (both(a, b), clean_a || clean_b, false),
        Op::SAndn2B64 if exec_x => (of_lanes_on(b.inverted()), clean_a, false),
        Op::SAndn2B64 => (both(a, b.inverted()), clean_a, false),
        Op::SOrB64 => (both(a.inverted(), b.inverted()).inverted(), clean_a && clean_b, some_a || some_b),
        Op::SOrn2B64 => (both(a.inverted(), b).inverted(), false, false),
        Op::SXorB64 => (Said::default(), clean_a && clean_b, false),
        Op::SCselectB64 => {
            let said = match (f.scc, x, y) {
                (Some(c), Operand::InlineInt(-1), Operand::InlineInt(0)) => Said::of(c, true, true),
                (Some(c), Operand::InlineInt(0), Operand::InlineInt(-1)) => {
                    Said::of(c.opposite(), true, true)
                }
                _ => Said::default(),
            };
            (said, clean_a && clean_b, some_a && some_b)
        }
        _ => return None,
    })
}

pub fn saves_exec(op: Op) -> bool {
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

/// The mask an instruction leaves is zero.
fn no_bits(inst: &Inst, f: &Facts) -> bool {
    let zero = |o: Operand| match o {
        Operand::Sgpr(n) => f.is_none(n),
        Operand::InlineInt(v) => v == 0,
        _ => false,
    };
    let [x, y, _] = inst.src;
    match inst.op {
        Op::SMovB64 | Op::SAndn2B64 => zero(x),
        Op::SAndB64 => zero(x) || zero(y),
        Op::SOrB64 | Op::SXorB64 => zero(x) && zero(y),
        Op::SCselectB64 => match f.scc_value() {
            Some(scc) => zero(if scc { x } else { y }),
            None => zero(x) && zero(y),
        },
        // No lane that is on passes, and lanes that are off get a zero.
        _ if inst.entry().compare().is_some() => comparison(inst).is_some_and(|c| !f.can_hold(c)),
        _ => false,
    }
}

/// How EXEC changes.
struct Lanes {
    /// A part of the lanes that were on, for which these hold.
    part: Option<Vec<Comparison>>,
    /// No lane goes off.
    grows: bool,
    clean: bool,
    some: bool,
}

fn lanes(inst: &Inst, f: &Facts) -> Option<Lanes> {
    let written = matches!(inst.dst, Operand::Sgpr(n) if n == EXEC || n == EXEC + 1)
        || inst.sdst == EXEC
        || inst.entry().writes & implicit::EXEC != 0;
    if !written {
        return None;
    }
    let [x, y, _] = inst.src;
    let ((a, clean_a, some_a), (b, clean_b, some_b)) = (mask(f, x), mask(f, y));
    let (clean, some) = (f.is_clean(EXEC), f.is_some(EXEC));
    let to = inst.dst == Operand::EXEC;
    let (is_x, is_y) = (to && x == Operand::EXEC, to && y == Operand::EXEC);
    let part = |of: Vec<Comparison>, clean| Lanes { part: Some(of), grows: false, clean, some: false };
    let grows = |clean, some| Lanes { part: None, grows: true, clean, some };
    Some(match inst.op {
        Op::SAndSaveexecB64 => part(a.yes, clean || clean_a),
        Op::SOrSaveexecB64 => grows(clean && clean_a, some),
        Op::SAndn2SaveexecB64 => Lanes { part: None, grows: false, clean: clean_a, some: false },
        Op::SXorSaveexecB64 => Lanes { part: None, grows: false, clean: clean && clean_a, some: false },
        Op::SAndB64 if is_x => part(b.yes, clean || clean_b),
        Op::SAndB64 if is_y => part(a.yes, clean || clean_a),
        Op::SAndn2B64 if is_x => part(b.no, clean),
        Op::SOrB64 if is_x => grows(clean && clean_b, some || some_b),
        Op::SOrB64 if is_y => grows(clean && clean_a, some || some_a),
        Op::SMovB64 | Op::SAndB64 | Op::SOrB64 | Op::SXorB64 | Op::SAndn2B64 if to => {
            let (_, clean, some) = mask_operation(inst, f)?;
            Lanes { part: None, grows: false, clean, some }
        }
        _ if inst.entry().compare().is_some_and(|c| c.exec) => {
            part(comparison(inst).into_iter().collect(), clean)
        }
        _ => Lanes { part: None, grows: false, clean: false, some: false },
    })
}

/// Registers an instruction writes, without SCC.
pub fn written(inst: &Inst) -> Vec<Side> {
    let mut all = Vec::new();
    for used in inst.uses().into_iter().filter(|u| u.write) {
        for i in 0..used.dwords {
            match used.operand {
                Operand::Vgpr(n) => all.push(Side::V(n.saturating_add(i))),
                Operand::Sgpr(n) => all.push(Side::S((n + i) & 127)),
                _ => {}
            }
        }
    }
    all
}

pub fn writes_scc(inst: &Inst) -> bool {
    inst.uses().iter().any(|u| u.write && u.operand == Operand::Scc)
}

/// One instruction that is not a call.
pub fn step(inst: &Inst, f: &mut Facts, launch: &Launch) {
    let before = f.clone();
    let compared = comparison(inst);
    let writes = written(inst);
    for &side in &writes {
        match side {
            Side::V(n) => {
                f.write_vector(n, Interval::ANY);
                if inst.op == Op::VWritelaneB32 {
                    f.off[usize::from(n)] = Some(Interval::ANY);
                }
            }
            Side::S(n) => f.write_scalar(n, Interval::ANY),
            Side::Number(_) => {}
        }
    }
    if writes_scc(inst) {
        (f.scc, f.carry) = (None, None);
    }
    values(inst, f, &before, launch);
    let lanes_compare = inst.entry().compare().is_some();
    let kept = compared.filter(|c| !writes.iter().any(|&w| c.mentions(w)));
    match inst.dst {
        Operand::Sgpr(n) if lanes_compare => {
            // Lanes that are off get a zero.
            let said = kept.map_or(Said::default(), |c| Said::of(c, true, false));
            f.tell(n, said, before.is_clean(EXEC), false);
        }
        _ if !lanes_compare && compared.is_some() => f.scc = kept,
        _ => {}
    }
    if let (true, Operand::Sgpr(n)) = (tells_not_zero(inst.op), inst.dst) {
        f.scc = Some(Comparison { rel: Rel::Ne, signed: false, a: Side::S(n), b: Side::Number(0) });
    }
    if inst.sdst != NO_SDST && inst.sdst != EXEC {
        f.tell(inst.sdst, Said::default(), before.is_clean(EXEC), false);
    }
    if let (Some((said, clean, some)), Operand::Sgpr(n)) = (mask_operation(inst, &before), inst.dst)
        && n != EXEC
    {
        // What the operation overwrites is not what was compared any more.
        let mut said = said;
        said.yes.retain(|c| !writes.iter().any(|&w| c.mentions(w)));
        said.no.retain(|c| !writes.iter().any(|&w| c.mentions(w)));
        f.tell(n, said, clean, some);
    }
    if let (true, Operand::Sgpr(n)) = (no_bits(inst, &before), inst.dst)
        && n != EXEC
    {
        f.none |= 1 << (n & 127);
    }
    if let Some(lanes) = lanes(inst, &before) {
        if let (true, Operand::Sgpr(n)) = (saves_exec(inst.op), inst.dst) {
            f.tell(n, Said::default(), before.is_clean(EXEC), before.is_some(EXEC));
        }
        if !lanes.grows {
            f.fewer_lanes();
        }
        match lanes.part {
            // If one of them cannot hold no lane is on, and everything is true of all lanes that are on.
            Some(conditions) => conditions.into_iter().for_each(|c| f.learn_of_lanes(c)),
            None => f.more_lanes(),
        }
        f.tell(EXEC, Said::default(), lanes.clean, lanes.some);
        if !lanes.clean {
            f.strange_lanes();
        }
    }
}

/// The values an instruction leaves in its destination.
fn values(inst: &Inst, f: &mut Facts, before: &Facts, launch: &Launch) {
    match inst.dst {
        Operand::Sgpr(n) => {
            let pair = match (inst.op, inst.src[0]) {
                (Op::SMovB64, Operand::InlineInt(v)) => {
                    let high = if v < 0 { u32::MAX } else { 0 };
                    Some([Interval::just(i32::from(v) as u32), Interval::just(high)])
                }
                (Op::SMovB64, Operand::Sgpr(from)) => {
                    let at = usize::from(from & 127);
                    before.s.get(at..at + 2).map(|p| [p[0], p[1]])
                }
                _ => None,
            };
            if let Some(words) = loaded(inst, before, launch) {
                for (i, word) in words.into_iter().enumerate() {
                    f.write_scalar(n + i as u8, word);
                }
            } else if let Some(pair) = pair {
                f.write_scalar(n, pair[0]);
                f.write_scalar(n + 1, pair[1]);
                if let Operand::Sgpr(from) = inst.src[0] {
                    for i in 0..2u8 {
                        f.address[usize::from((n + i) & 127)] = before.address[usize::from((from + i) & 127)];
                    }
                }
            } else if let Some((address, low)) = moved_address(inst, before) {
                f.write_scalar(n, Interval::ANY);
                f.address[usize::from(n & 127)] = Some(address);
                f.carry = low.then_some(address);
            } else if let (Some(i), 1) = (result(inst, before), inst.dst_dwords()) {
                f.write_scalar(n, i);
                if let (Op::SMovB32, Operand::Sgpr(from)) = (inst.op, inst.src[0]) {
                    f.address[usize::from(n & 127)] = before.address[usize::from(from & 127)];
                }
            }
        }
        Operand::Vgpr(n) => {
            let loaded = loaded_at_one_place(inst, before, launch);
            if let (Some(i), 1) = (loaded.or_else(|| result(inst, before)), inst.dst_dwords()) {
                f.write_vector(n, i);
            }
            // The low half of a shifted sum depends on low halves alone.
            let register =
                |o: Operand| matches!(o, Operand::Vgpr(_) | Operand::Sgpr(_) | Operand::InlineInt(_));
            if inst.op == Op::VLshlAddU64 && !inst.clamp() && inst.src.into_iter().all(register) {
                let [a, by, c] = inst.src.map(|o| source(before, o));
                if by.value().is_some_and(|by| by < 5) {
                    f.write_vector(n, a.left(by).plus(c));
                }
            }
        }
        _ => {}
    }
}

/// What holds on one way of a conditional branch; false if it cannot be taken.
pub fn take(inst: &Inst, jump: bool, f: &mut Facts) -> bool {
    match inst.op {
        Op::SCbranchScc0 | Op::SCbranchScc1 => {
            let holds = jump == (inst.op == Op::SCbranchScc1);
            f.scc.is_none_or(|c| f.learn(if holds { c } else { c.opposite() }))
        }
        Op::SCbranchVccz | Op::SCbranchVccnz if jump == (inst.op == Op::SCbranchVccnz) => {
            if f.is_none(VCC) {
                return false;
            }
            f.some |= 1 << VCC;
            let said = f.masks.get(&VCC).filter(|s| s.yes_anywhere).cloned().unwrap_or_default();
            said.yes.into_iter().filter(Comparison::of_scalars).all(|c| f.learn(c))
        }
        Op::SCbranchVccz | Op::SCbranchVccnz => {
            // A lane that is on has no bit: what that says about scalars holds.
            let unset = match f.is_some(EXEC) {
                true => f.masks.get(&VCC).map(|said| said.no.clone()).unwrap_or_default(),
                false => Vec::new(),
            };
            !f.is_some(VCC) && unset.into_iter().filter(Comparison::of_scalars).all(|c| f.learn(c))
        }
        Op::SCbranchExecz | Op::SCbranchExecnz => {
            if jump == (inst.op == Op::SCbranchExecnz) {
                f.some |= 1 << EXEC;
                return true;
            }
            !f.is_some(EXEC)
        }
        _ => true,
    }
}
