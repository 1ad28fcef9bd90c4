//! Which memory an instruction touches: the bytes of a lane's access, and the addresses of all lanes that are on.

use super::count::{self, Lanes, Piece};
use super::fact::{AccessFact, AccessShape, Local, Why};
use super::linear::{Dims, Lin, low};
use super::pattern::Pattern;
use super::start::PRIVATE_WORD;
use super::state::State;
use super::step::Step;
use super::value::{Value, Wide, any};
use crate::infer::range::Range;
use wb_isa::gcn3::isa::Setup;
use wb_isa::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use wb_isa::gcn3::{Format, Inst, Op, Operand, flag, sreg};
use wb_isa::{Mask, first_lanes};

/// Bytes between one lane's consecutive private dwords.
const PRIVATE_STEP: u64 = 256;

/// What is the same for all accesses of a kernel.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub shape: AccessShape,
    pub setup: &'a Setup,
    /// The setup is that of a launch.
    pub launched: bool,
    /// Lanes that a wave can have.
    pub existing: u32,
    /// All waves have all lanes.
    pub full: bool,
}

/// Whether there can be a fact about an instruction.
pub fn touches(inst: &Inst) -> bool {
    inst.format.is_memory()
}

/// The fact about an instruction; none if it touches no memory. `known`: the state before it.
pub fn fact(step: &Step, state: Option<&State>, around: &Around) -> Option<AccessFact> {
    let inst = step.inst;
    if !touches(inst) {
        return None;
    }
    match inst.format {
        Format::Smem => scalar(step, state, around),
        Format::Ds => local(step, state, around),
        Format::Flat | Format::Global | Format::Scratch if to_lds(inst) => {
            Some(loads_to_lds(step, state, around))
        }
        Format::Flat => flat(step, state, around),
        Format::Global => Some(global(step, state, around)),
        Format::Scratch => Some(scratch(step, state, around)),
        Format::Mubuf => buffer(step, state, around),
        Format::Mtbuf | Format::Mimg => {
            let pieces: Vec<Piece> = (0..16).map(|i| (PRIVATE_STEP * i, 16)).collect();
            Some(vector(step, state, around, &anything(), &pieces, Local::Never))
        }
        _ => None,
    }
}

fn anything() -> Wide {
    Wide::of(vec![Lin::unknown()])
}

fn writes(inst: &Inst) -> bool {
    let name = inst.entry().name;
    let reads = name.contains("_load_") || name.starts_with("ds_read");
    !reads || to_lds(inst)
}

/// What is loaded goes to local memory.
fn to_lds(inst: &Inst) -> bool {
    inst.has(flag::LDS) || inst.entry().name.contains("_load_lds_")
}

/// A constant that is added to an address.
fn constant(imm: i32) -> Wide {
    Wide { range: Some((imm.into(), imm.into())), ..Wide::of(vec![Lin::exact(i64::from(imm) as u64)]) }
}

fn scalar(step: &Step, state: Option<&State>, around: &Around) -> Option<AccessFact> {
    let inst = step.inst;
    let buffer = inst.entry().name.starts_with("s_buffer");
    let atomic = inst.entry().atomic;
    if !inst.entry().name.contains("_load_") && !inst.entry().name.contains("_store_") && !atomic {
        return None;
    }
    let dims = Dims { lanes: 1, x: 1, y: 1, rows: false };
    let bytes =
        4 * if atomic { u32::from(inst.entry().atomic_dwords()) } else { u32::from(inst.dst_dwords()) };
    let address = state.filter(|_| !buffer).map(|s| {
        // A register, a constant that may be negative, or both.
        let offset = match inst.src[1] {
            Operand::None => constant(inst.imm),
            register => step.scalar_value(s, register).extended(false, dims).add(&constant(inst.imm)),
        };
        step.wide(s, &super::state::Class::default(), inst.src[0]).add(&offset)
    });
    let address = address.unwrap_or_else(anything);
    // The two lowest bits do not count.
    let down = |l: &Lin| match l.known >= 2 && l.same() {
        true => Lin { residue: l.residue & !3, ..*l },
        false if l.same() => Lin { residue: 0, known: 2, ..*l },
        false => Lin::aligned(0, 2),
    };
    let range = address.range.map(|(lo, hi)| (lo & !3, hi & !3));
    let address = Wide { range, ..Wide::of(address.alts.iter().map(down).collect()) };
    let lines = count::lines(&address, &[(0, bytes)], around.shape.scalar_line, dims, 1);
    let range = address.bounds(dims).and_then(|(lo, hi)| Some((lo, hi.checked_add(u64::from(bytes) - 1)?)));
    let write = atomic || inst.entry().name.contains("_store_");
    Some(AccessFact { pc: step.pc, lines, passes: 0, local: Local::Never, write, range, why: None })
}

/// The fact about addresses that vector registers give.
fn vector(
    step: &Step,
    state: Option<&State>,
    around: &Around,
    address: &Wide,
    pieces: &[Piece],
    local: Local,
) -> AccessFact {
    let clean = state.is_some() && step.before.is_clean(sreg::EXEC);
    let lanes = if clean { around.existing } else { around.shape.lanes };
    let dims = Dims { lanes, ..step.set.dims };
    let AccessShape { data_line, banks, .. } = around.shape;
    let there = first_lanes(lanes);
    let (on, off) = state.filter(|_| clean).map_or((there, there), |s| s.sides());
    let on = on & there;
    let how = match clean && !step.set.apart && on & off & there == 0 {
        true if around.full => Lanes::All,
        true => Lanes::First,
        false => Lanes::Some,
    };
    let (lines, passes) = match local {
        Local::Always => {
            let lines = count::lines(&elsewhere(address), pieces, data_line, dims, on);
            (lines, count::passes(address, pieces, banks, dims, (how, on)))
        }
        Local::Maybe => {
            // Some lanes may be in local memory, which begins elsewhere.
            let anywhere = elsewhere(address);
            let apart = scattered(&anywhere);
            let worst = count::lines(&apart, pieces, data_line, dims, on);
            let lines = count::lines(&anywhere, pieces, data_line, dims, on).saturating_mul(2).min(worst);
            let apart = Wide { pattern: anywhere.pattern, ..apart };
            (lines, count::passes(&apart, pieces, banks, dims, (Lanes::Some, on)))
        }
        Local::Never => {
            let lines = count::lines(address, pieces, data_line, dims, on);
            (lines, count::passes(&scattered(address), pieces, banks, dims, (Lanes::Some, on)))
        }
    };
    let reach = |(lo, hi): (u64, u64)| {
        let first = pieces.iter().map(|p| p.0).min()?;
        let last = pieces.iter().map(|&(at, bytes)| at + u64::from(bytes.max(1)) - 1).max()?;
        Some((lo.checked_add(first)?, hi.checked_add(last)?))
    };
    let range = address.bounds(dims).filter(|_| local == Local::Never).and_then(reach);
    let why = why(step, state, address);
    AccessFact { pc: step.pc, lines, passes, local, write: writes(step.inst), range, why }
}

/// From where local memory begins, which is a multiple of 256.
fn elsewhere(wide: &Wide) -> Wide {
    let moved = |l: &Lin| match l.spread {
        Some(_) => Lin { residue: low(l.residue, l.known.min(8)), known: l.known.min(8), fixed: false, ..*l },
        None => Lin::aligned(l.residue, l.grain.min(8)),
    };
    let pattern = wide
        .pattern
        .as_ref()
        .and_then(|p| Some(p.add(&Pattern::same(Lin { known: 8, ..Lin::uniform(false) })?)));
    Wide { alts: wide.alts.iter().map(moved).collect(), range: None, pattern }
}

fn scattered(wide: &Wide) -> Wide {
    Wide { range: wide.range, ..Wide::of(vec![any(&wide.alts)]) }
}

/// Why the address is no function of the lane.
fn why(step: &Step, state: Option<&State>, address: &Wide) -> Option<Why> {
    let Some(state) = state else { return Some(Why::Flow) };
    if address.pattern.is_some() || address.alts.iter().all(|l| l.spread == Some(0)) {
        return None;
    }
    let registers = [0, 1].map(|i| match step.inst.src[0] {
        Operand::Vgpr(n) => Some(Operand::Vgpr(n.wrapping_add(i))),
        _ => None,
    });
    let mut all = state.on().flat_map(|(_, class)| {
        registers.iter().flatten().map(|&o| step.value(state, class, o)).collect::<Vec<_>>()
    });
    Some(all.find_map(|v| v.why).unwrap_or(Why::Operation))
}

/// What all classes of lanes that are on have, by `f`; `same` says whether two have the same.
fn of_classes(
    step: &Step,
    state: &State,
    registers: &[Operand],
    f: impl Fn(&super::state::Class) -> Wide,
) -> Option<Wide> {
    let mut all: Option<(Vec<Value>, Wide, Mask)> = None;
    for (_, class) in state.on() {
        let values: Vec<Value> = registers.iter().map(|&o| step.value(state, class, o)).collect();
        let wide = f(class);
        all = Some(match all {
            None => (values, wide, class.lanes),
            Some((old, sum, lanes)) => {
                let named = values.iter().all(|v| v.id.is_some() || v.range.constant().is_some());
                let same = named && old == values && sum == wide;
                (values, sum.of_lanes(&wide, same, [lanes, class.lanes]), lanes | class.lanes)
            }
        });
    }
    all.map(|a| a.1)
}

fn flat(step: &Step, state: Option<&State>, around: &Around) -> Option<AccessFact> {
    let inst = step.inst;
    let bytes = flat_bytes(inst);
    let Operand::Vgpr(n) = inst.src[0] else { return None };
    let registers = [Operand::Vgpr(n), Operand::Vgpr(n.wrapping_add(1))];
    let address =
        state.and_then(|s| of_classes(step, s, &registers, |class| step.wide(s, class, inst.src[0])));
    let address = address.map_or_else(anything, |wide| wide.add(&constant(inst.imm)));
    let within = |aperture: u32| {
        let bounds = address.bounds(step.set.dims);
        bounds.is_none_or(|(lo, hi)| lo >> 32 <= aperture.into() && u64::from(aperture) <= hi >> 32)
    };
    let is_local = (around.setup.lds_bytes > 0 || !around.launched) && within(SHARED_APERTURE);
    let private = step.set.private && within(PRIVATE_APERTURE);
    let all_in = |(lo, hi): (u64, u64)| lo >> 32 == hi >> 32 && lo >> 32 == u64::from(SHARED_APERTURE);
    let always = address.bounds(step.set.dims).is_some_and(all_in);
    let local = if is_local { Local::Maybe } else { Local::Never };
    if private && !always {
        // Consecutive dwords of a lane lie apart.
        let pieces: Vec<Piece> =
            (0..u64::from(bytes.div_ceil(4))).map(|i| (PRIVATE_STEP * i, bytes.min(4))).collect();
        let address = Wide::of(vec![any(&address.alts)]);
        return Some(vector(step, state, around, &address, &pieces, local));
    }
    Some(vector(step, state, around, &address, &[(0, bytes)], local))
}

/// Global memory at an address in two vector registers, or at a scalar base and an offset in one; and a constant.
fn global(step: &Step, state: Option<&State>, around: &Around) -> AccessFact {
    let (inst, dims) = (step.inst, step.set.dims);
    let imm = constant(inst.imm);
    let address = state.and_then(|s| match (inst.src[0], inst.src[2]) {
        (Operand::Vgpr(n), Operand::None) => {
            let registers = [Operand::Vgpr(n), Operand::Vgpr(n.wrapping_add(1))];
            of_classes(step, s, &registers, |class| step.wide(s, class, inst.src[0]).add(&imm))
        }
        (Operand::Vgpr(_), base) => {
            let base = step.wide(s, &super::state::Class::default(), base).add(&imm);
            let place = |class: &super::state::Class| {
                step.value(s, class, inst.src[0]).extended(false, dims).add(&base)
            };
            of_classes(step, s, &inst.src[..1], place)
        }
        _ => None,
    });
    let address = address.unwrap_or_else(anything);
    vector(step, state, around, &address, &[(0, flat_bytes(inst))], Local::Never)
}

/// Private memory: dwords of the lanes side by side, 256 bytes for all of them; consecutive dwords of a lane lie apart.
fn scratch(step: &Step, state: Option<&State>, around: &Around) -> AccessFact {
    let inst = step.inst;
    let bytes = flat_bytes(inst);
    let pieces: Vec<Piece> = (0..u64::from(bytes.div_ceil(4))).map(|i| (PRIVATE_STEP * i, 4)).collect();
    // The same place in all lanes, of a wave's part that begins at a multiple of 256.
    let same = inst.src[0] == Operand::None;
    let start = Wide::of(vec![Lin { residue: 0, known: 8, ..Lin::uniform(false) }]);
    let lane = Wide::of(vec![Lin { steps: step.set.dims.lane().map(|s| 4 * s), ..Lin::exact(0) }]);
    let address = if same && state.is_some() { start.add(&lane) } else { anything() };
    vector(step, state, around, &address, &pieces, Local::Never)
}

/// Loads whose data goes to local memory: two accesses, of whose addresses nothing is known.
fn loads_to_lds(step: &Step, state: Option<&State>, around: &Around) -> AccessFact {
    vector(step, state, around, &anything(), &[(0, flat_bytes(step.inst)), (1 << 20, 4)], Local::Maybe)
}

fn flat_bytes(inst: &Inst) -> u32 {
    match inst.op {
        Op::FlatLoadUbyte | Op::FlatLoadSbyte | Op::FlatStoreByte => 1,
        Op::FlatLoadUshort | Op::FlatLoadSshort | Op::FlatStoreShort => 2,
        Op::FlatLoadDword | Op::FlatStoreDword => 4,
        Op::FlatLoadDwordx2 | Op::FlatStoreDwordx2 => 8,
        Op::FlatLoadDwordx3 | Op::FlatStoreDwordx3 => 12,
        Op::FlatLoadDwordx4 | Op::FlatStoreDwordx4 => 16,
        _ if inst.entry().atomic => 4 * u32::from(inst.entry().atomic_dwords()),
        // Parts of a dword.
        _ => 4,
    }
}

/// Bytes of one of a local access's places, and the unit of two offsets.
fn local_bytes(inst: &Inst) -> (u32, u32) {
    match inst.op {
        Op::DsReadI8 | Op::DsReadU8 | Op::DsWriteB8 => (1, 1),
        Op::DsReadI16 | Op::DsReadU16 | Op::DsWriteB16 => (2, 1),
        Op::DsReadB64 | Op::DsWriteB64 => (8, 1),
        Op::DsReadB96 | Op::DsWriteB96 => (12, 1),
        Op::DsReadB128 | Op::DsWriteB128 => (16, 1),
        Op::DsRead2B32 | Op::DsWrite2B32 | Op::DsWrxchg2RtnB32 => (4, 4),
        Op::DsRead2st64B32 | Op::DsWrite2st64B32 | Op::DsWrxchg2st64RtnB32 => (4, 256),
        Op::DsRead2B64 | Op::DsWrite2B64 | Op::DsWrxchg2RtnB64 => (8, 8),
        Op::DsRead2st64B64 | Op::DsWrite2st64B64 | Op::DsWrxchg2st64RtnB64 => (8, 512),
        Op::DsReadB32 | Op::DsWriteB32 => (4, 1),
        _ if inst.entry().code & 0x40 != 0 => (8, 1),
        _ => (4, 1),
    }
}

fn local(step: &Step, state: Option<&State>, around: &Around) -> Option<AccessFact> {
    let inst = step.inst;
    let (bytes, unit) = local_bytes(inst);
    let moves = matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32 | Op::DsNop);
    if moves {
        return None;
    }
    // Atomics read a place and write it.
    let times = if inst.entry().atomic { 2 } else { 1 };
    let code = inst.entry().code;
    if matches!(inst.op, Op::DsAppend | Op::DsConsume) || matches!(code, 0x80..=0x95 | 0xc0..=0xd3) {
        let pieces = vec![(0, bytes); 3];
        return Some(vector(step, state, around, &anything(), &pieces, Local::Always));
    }
    let offsets: Vec<u64> = match inst.entry().two_offsets {
        true => [inst.imm as u32 & 0xff, inst.imm as u32 >> 8 & 0xff].map(|o| u64::from(o * unit)).to_vec(),
        false => vec![u64::from(inst.imm as u32 & 0xffff)],
    };
    let pieces: Vec<Piece> = offsets.iter().flat_map(|&at| vec![(at, bytes); times]).collect();
    let most = offsets.iter().copied().max().unwrap_or(0);
    // Only what lies in the group's memory is executed at all.
    let size = Some(around.setup.lds_bytes).filter(|&n| n > 0 && around.launched).unwrap_or(1 << 30);
    let inside = Range::signed(-(most as i32), size.min(1 << 30) as i32);
    let there = first_lanes(around.existing);
    let mut apart: Vec<(Wide, Mask)> = Vec::new();
    let address = state.and_then(|s| {
        let place = |class: &super::state::Class| {
            step.value(s, class, inst.src[0]).with_range(inside).extended(true, step.set.dims)
        };
        apart = s.on().map(|(_, class)| (place(class), class.lanes & there)).collect();
        of_classes(step, s, &inst.src[..1], place)
    });
    let mut fact = vector(step, state, around, &address.unwrap_or_else(anything), &pieces, Local::Always);
    if apart.len() > 1 && step.before.is_clean(sreg::EXEC) {
        let passes = count::passes_of_classes(&apart, &pieces, around.shape.banks, step.set.dims);
        fact.passes = passes.map_or(fact.passes, |n| n.min(fact.passes));
    }
    Some(fact)
}

/// Bytes of one access of a buffer instruction, and how many there are.
fn buffer_bytes(inst: &Inst) -> (u32, u32) {
    match inst.op {
        Op::BufferLoadUbyte | Op::BufferLoadSbyte | Op::BufferStoreByte => (1, 1),
        Op::BufferLoadUshort | Op::BufferLoadSshort | Op::BufferStoreShort => (2, 1),
        Op::BufferLoadDword | Op::BufferStoreDword => (4, 1),
        Op::BufferLoadDwordx2 | Op::BufferStoreDwordx2 => (4, 2),
        Op::BufferLoadDwordx3 | Op::BufferStoreDwordx3 => (4, 3),
        Op::BufferLoadDwordx4 | Op::BufferStoreDwordx4 => (4, 4),
        _ if inst.entry().atomic && inst.entry().atomic_dwords() == 2 => (8, 1),
        _ if inst.entry().atomic => (4, 1),
        // Formats: four channels of four bytes at most.
        _ => (4, 4),
    }
}

fn buffer(step: &Step, state: Option<&State>, around: &Around) -> Option<AccessFact> {
    let inst = step.inst;
    if matches!(inst.op, Op::BufferWbinvl1 | Op::BufferWbinvl1Vol | Op::BufferWbl2 | Op::BufferInvl2) {
        return None;
    }
    let (bytes, times) = buffer_bytes(inst);
    let apart: Vec<Piece> = (0..u64::from(times)).map(|i| (PRIVATE_STEP * i, bytes)).collect();
    let unknown = |local: Local| {
        let mut pieces = apart.clone();
        if inst.has(flag::LDS) {
            pieces.push((1 << 20, 4));
        }
        Some(vector(step, state, around, &anything(), &pieces, local))
    };
    let Some(s) = state.filter(|_| !inst.has(flag::LDS)) else {
        return unknown(if inst.has(flag::LDS) { Local::Maybe } else { Local::Never });
    };
    let Operand::Sgpr(first) = inst.src[1] else { return unknown(Local::Never) };
    let words: Option<Vec<u32>> = (0..4u8)
        .map(|i| step.scalar_value(s, Operand::Sgpr(first.wrapping_add(i) & 127)).range.constant())
        .collect();
    let [low_word, high_word, _, last] = words.as_deref().unwrap_or(&[]) else {
        return unknown(Local::Never);
    };
    let private = high_word >> 31 == 1 && *last == PRIVATE_WORD && !inst.has(flag::IDXEN);
    let plain = high_word >> 31 == 0 && last >> 23 & 1 == 0 && !inst.has(flag::IDXEN);
    if !private && !plain {
        return unknown(Local::Never);
    }
    let base = Wide::exact(u64::from(*low_word) | u64::from(high_word & 0xffff) << 32);
    let base =
        base.add(&Wide { pattern: None, ..step.scalar_value(s, inst.src[2]).extended(false, step.set.dims) });
    let imm = Value::constant(inst.imm as u32 & 0xfff);
    let dims = step.set.dims;
    let offset = |class: &super::state::Class| match inst.has(flag::OFFEN) {
        true => {
            let v = step.value(s, class, inst.src[0]);
            let alts = super::value::cross(&v.alts, &imm.alts, Lin::add);
            let row = v.row(dims).zip(imm.row(dims)).map(|(a, b)| a.add(&b).register());
            Value::new(alts, v.range.add(imm.range)).with_row(row)
        }
        false => imm.clone(),
    };
    if plain {
        let wide =
            of_classes(step, s, &inst.src[..1], |class| offset(class).extended(false, dims).add(&base));
        let pieces: Vec<Piece> = (0..u64::from(times)).map(|i| (4 * i, bytes)).collect();
        return Some(vector(step, state, around, &wide.unwrap_or_else(anything), &pieces, Local::Never));
    }
    // A lane's dwords are 256 bytes apart, the dwords of the lanes side by side; the part within a dword is between.
    let lane = Wide::of(vec![Lin { steps: dims.lane().map(|s| 4 * s), ..Lin::exact(0) }]);
    let place = |class: &super::state::Class| {
        let offset = offset(class);
        let (residue, bits) = any(&offset.alts).alignment();
        let dword = match offset.only().filter(|l| l.same()) {
            Some(l) if bits >= 2 => {
                let down = l.add(&Lin::exact(low(residue, 2)).neg());
                Wide { pattern: None, ..Value::new(vec![down], Range::FULL).extended(false, dims).shifted(6) }
            }
            Some(l) => Wide::of(vec![Lin { residue: 0, known: 8, ..Lin::uniform(l.fixed) }]),
            None => Wide::of(vec![Lin::aligned(0, 8)]),
        };
        dword.add(&lane).add(&base)
    };
    let wide = of_classes(step, s, &inst.src[..1], place).unwrap_or_else(anything);
    // Parts of a dword are counted as all of it.
    let pieces: Vec<Piece> = (0..u64::from(times)).map(|i| (PRIVATE_STEP * i, 4)).collect();
    Some(vector(step, state, around, &Wide { range: None, ..wide }, &pieces, Local::Never))
}
