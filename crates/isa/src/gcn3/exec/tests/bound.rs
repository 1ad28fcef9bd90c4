//! Bound instructions against the general path: random instructions of all scalar and vector operations the decoder knows,
//! random operands, modes and masks. Either both leave the same registers and go the same way, or the bound one did nothing.

use super::super::Bound;
use super::{Machine, machine};
use crate::gcn3::decode::decode_for;
use crate::gcn3::gcn::Gcn;
use crate::gcn3::generation::{GENERATIONS, Generation};
use crate::gcn3::inst::{Format, Inst, flag};
use crate::gcn3::op::Op;
use crate::gcn3::operand::Operand;
use crate::gcn3::sreg;
use crate::gcn3::state::{Regs, mode};
use crate::gcn3::table::Halves;
use crate::{At, Flow, Isa, Mask, Quick};
use std::collections::BTreeSet;

/// Rows of the wave; operands name two more, which trap.
const ROWS: u32 = 16;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next() as usize % list.len()]
    }

    /// A dword of any kind: numbers near and far, special floats of all widths.
    fn dword(&mut self) -> u32 {
        let v = self.next();
        match v >> 60 {
            0 => v as u32 & 63,
            1 => self.of(&[0, 1, 1 << 31, !0, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x7f80_0001]),
            2 => self.of(&[0x3ff0_0000, 0x7ff0_0000, 0xfff8_0000, 0x7ff0_0001, 0x000f_ffff, 0x8000_0001]),
            3 => self.of(&[0x3c00, 0x7c00, 0xfc00, 0x7e01, 0x7c01, 1, 0x3ff, 0x8000]),
            4..8 => (v as u32 & 0x807f_ffff) + ((100 + (v >> 33 & 63) as u32) << 23),
            8 => v as u32 & 0x807f_ffff,
            _ => v as u32,
        }
    }
}

/// A dword that is a number as f32, and mostly as f16 and in f64: rows without a NaN go other ways.
fn tame(rng: &mut Rng) -> u32 {
    let v = rng.next();
    match v >> 61 {
        0 => rng.of(&[0, 1 << 31, 1, 0x807f_ffff, 0x0080_0000, 0x3f80_0000, 0xc000_0000, 0x7f7f_ffff]),
        1 => v as u32 & 0x807f_ffff,
        _ => (v as u32 & 0x807f_ffff) + ((90 + (v >> 33 & 63) as u32) << 23),
    }
}

/// The scalar and vector ALU, and SOPP.
fn alu(format: Format) -> bool {
    use Format::{Sop1, Sop2, Sopc, Sopk, Sopp, Vop1, Vop2, Vop3, Vopc};
    matches!(format, Sop1 | Sop2 | Sopc | Sopk | Sopp | Vop1 | Vop2 | Vop3 | Vopc)
}

/// A random instruction of these.
fn instruction(rng: &mut Rng, generation: &Generation) -> Inst {
    let packed = generation.is_gfx9();
    loop {
        let (mut w, mut second) = (rng.next() as u32, rng.next() as u32);
        if rng.one_in(2) {
            // VOP3 without modifiers, which not all of them may have; below the word is shifted by six.
            (w, second) = (w & !(0x8700 << 6), second & 0x07ff_ffff);
        }
        let word = match rng.next() % if packed { 10 } else { 8 } {
            // VOP1, VOP2, VOPC; some of them with SDWA or DPP.
            0 => w >> 1,
            1 => 0x7e00_0000 | w >> 7,
            2 => 0x7c00_0000 | w >> 7,
            3 | 4 => 0x34 << 26 | w >> 6,
            5 => 0x20 << 26 | w >> 2,
            6 => 0x2f << 26 | w >> 6,
            8 | 9 => 0x1a7 << 23 | w >> 9,
            _ => 0x2c << 26 | w >> 4,
        };
        let Ok(mut inst) = decode_for(generation, &[word, second]) else { continue };
        if inst.entry().halves == Halves::Blocks {
            continue;
        }
        let row = |operand: &mut Operand| {
            if let Operand::Vgpr(n) = operand {
                *n %= ROWS as u8 + 2;
            }
        };
        inst.src.iter_mut().for_each(row);
        row(&mut inst.dst);
        if !rng.one_in(4) {
            (inst.omod, inst.flags) = (0, inst.flags & !flag::CLAMP);
        }
        if rng.one_in(2) {
            (inst.abs, inst.neg) = (0, 0);
        }
        if alu(inst.format) || matches!(inst.format, Format::Sdwa | Format::Dpp | Format::Vop3p) {
            return inst;
        }
    }
}

/// New contents for registers, MODE and masks.
fn shake(m: &mut Machine, rng: &mut Rng) {
    let numbers = rng.one_in(2);
    let dword = |rng: &mut Rng| if numbers { tame(rng) } else { rng.dword() };
    for row in 0..ROWS as usize {
        m.fill(row, |_| 0);
        for lane in 0..64 {
            m.regs.v.set(row, lane, dword(rng));
        }
    }
    (0..128).for_each(|n| m.regs.s[n] = dword(rng));
    m.regs.s[usize::from(sreg::M0)] = rng.next() as u32 & 0xf003;
    m.regs.scc = rng.one_in(2);
    m.regs.mode = rng.of(&[0x3c0, 0x3f0, 0x1c0, 0, 0xf0, 0x380, 0x3d0, 0x3e0]);
    for odd in [mode::VSKIP, mode::GPR_IDX, 1, 4, mode::SPLIT] {
        m.regs.mode |= if rng.one_in(20) { odd } else { 0 };
    }
    let some = rng.next();
    m.regs.set_pair(sreg::EXEC, rng.of(&[Mask::MAX, Mask::MAX, some, some & 0xff00, 0]));
    let path = rng.next() | rng.next();
    m.at.mask = if rng.one_in(4) { path } else { Mask::MAX };
    m.at.whole = m.at.mask == Mask::MAX;
}

fn same(a: &Regs, b: &Regs) -> bool {
    let rows = (0..ROWS as usize).all(|r| a.v.row(r) == b.v.row(r));
    rows && a.s == b.s && a.scc == b.scc && a.mode == b.mode
}

/// Executes `inst` both ways, `bound` standing for it. What differs, if something does; whether it was executed as bound.
fn compare(m: &mut Machine, inst: &Inst, bound: &Bound) -> Result<bool, String> {
    let before = m.regs.clone();
    let mut regs = m.regs.clone();
    let quick = m.isa.quick(bound, m.at.mask, m.at.whole, &mut regs);
    let at = At { ..m.at };
    let wanted = m.isa.exec(inst, &at, &mut m.regs, &mut m.bus);
    let flow = match quick {
        Quick::No if same(&regs, &before) => return Ok(false),
        Quick::No => return Err("left undone, but registers changed".into()),
        Quick::Next => Flow::Next,
        Quick::Jump(pc) => Flow::Jump(pc),
        Quick::MaskBranch { jump, target } => match wanted {
            Ok(Flow::MaskBranch { jump: j, target: t, .. }) if (j, t) == (jump, target) => {
                return Ok(true);
            }
            _ => return Err(format!("{quick:?} instead of {wanted:?}")),
        },
    };
    match wanted {
        Ok(wanted) if wanted == flow && same(&regs, &m.regs) => Ok(true),
        Ok(wanted) if wanted == flow => Err("other registers".into()),
        wanted => Err(format!("{flow:?} instead of {wanted:?}")),
    }
}

/// Operations that are never bound: they need more than registers and lanes, or trap.
fn stays_general(op: Op) -> bool {
    let name = op.name();
    let stems = [
        "s_getpc",
        "s_setpc",
        "s_swappc",
        "s_rfe",
        "s_movrel",
        "s_set_gpr",
        "s_setvskip",
        "s_getreg",
        "s_setreg",
        "s_cbranch_i",
        "s_cbranch_g",
        "s_cbranch_join",
        "split",
        "merge",
        "v_movrel",
        "v_read",
        "v_writelane",
        "v_nop",
        "v_clrexcp",
        "s_endpgm",
        "s_barrier",
        "s_sethalt",
        "s_setkill",
        "s_sendmsg",
        "s_trap",
        "s_set",
        "v_interp",
    ];
    stems.iter().any(|stem| name.starts_with(stem))
}

/// What random instructions of a generation were executed as bound.
fn rounds(generation: &Generation, rounds: u32, seed: u64) -> BTreeSet<&'static str> {
    rounds_of(generation, rounds, seed, |_| true)
}

/// The same of those that are `wanted`.
fn rounds_of(
    generation: &Generation,
    rounds: u32,
    seed: u64,
    wanted: impl Fn(&Inst) -> bool,
) -> BTreeSet<&'static str> {
    let mut m = machine();
    m.regs = Regs::new(ROWS, 64);
    m.regs.waves_in_group = 2;
    let mut rng = Rng(seed);
    let mut seen = BTreeSet::new();
    for round in 0..rounds {
        if round.is_multiple_of(16) {
            shake(&mut m, &mut rng);
        }
        let inst = std::iter::repeat_with(|| instruction(&mut rng, generation)).find(|inst| wanted(inst));
        let Some(inst) = inst else { continue };
        let bound = Bound::new(&inst, m.at.next);
        let (mode, exec) = (m.regs.mode, m.regs.exec());
        match compare(&mut m, &inst, &bound) {
            Ok(true) => _ = seen.insert(inst.entry().name),
            Ok(false) => {}
            Err(why) => panic!("round {round}: {inst:?}, MODE {mode:#x}, EXEC {exec:#x}: {why}"),
        }
    }
    seen
}

#[test]
fn bound_and_general_agree() {
    let seen = rounds(GENERATIONS[0], 120_000, 22);
    let bindable = |op: &Op| alu(op.entry().format) && !stays_general(*op);
    let never: Vec<_> = Op::all().filter(bindable).map(Op::name).collect();
    let missed: Vec<_> = never.into_iter().filter(|name| !seen.contains(name)).collect();
    assert!(missed.is_empty(), "never executed as bound: {}", missed.join(" "));
}

/// Later generations have operations of their own; pairs of f32 are bound as two operations.
#[test]
fn bound_and_general_agree_in_later_generations() {
    for (i, generation) in GENERATIONS.into_iter().enumerate().skip(1) {
        let seen = rounds(generation, 40_000, 100 + i as u64);
        let wanted = match generation.gcn {
            Gcn::Gfx8 | Gcn::Gfx900 | Gcn::Gfx906 | Gcn::Gfx908 => vec!["v_add_u32", "v_lshl_add_u32"],
            Gcn::Gfx90a => vec!["v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32", "v_pk_mov_b32"],
            Gcn::Gfx940 => vec!["v_pk_fma_f32", "v_pk_mov_b32", "v_mov_b64", "v_lshl_add_u64"],
        };
        let missed: Vec<_> = wanted.into_iter().filter(|name| !seen.contains(name)).collect();
        assert!(missed.is_empty(), "{:?}: never executed as bound: {missed:?}", generation.gcn);
    }
}

/// The loops of other hosts, too: what moves lanes is not part of the hashes in `valu/tests/same.txt`.
#[test]
fn bound_and_general_agree_on_every_host() {
    for (i, arch) in crate::vector::others().into_iter().enumerate() {
        crate::vector::INSTEAD.set(Some(arch));
        rounds(GENERATIONS[0], 40_000, 200 + i as u64);
        crate::vector::INSTEAD.set(None);
    }
}

/// Pairs of f32 are done in one pass where no result is a NaN, and where the host can do that.
#[test]
fn pairs_agree_on_every_host() {
    let pairs = [Op::VPkFmaF32, Op::VPkMulF32, Op::VPkAddF32, Op::VPkMovB32];
    let hosts = crate::vector::others().into_iter().map(Some).chain([None]);
    for (i, arch) in hosts.enumerate() {
        crate::vector::INSTEAD.set(arch);
        for generation in GENERATIONS.into_iter().filter(|g| matches!(g.gcn, Gcn::Gfx90a | Gcn::Gfx940)) {
            let seen = rounds_of(generation, 6_000, 300 + i as u64, |inst| pairs.contains(&inst.op));
            assert_eq!(seen.len(), pairs.len(), "{seen:?}");
        }
        crate::vector::INSTEAD.set(None);
    }
}

/// A planted fault: an instruction bound with its sources exchanged, or to another destination, is found.
#[test]
fn a_wrong_binding_is_found() {
    let mut rng = Rng(7);
    for text in
        ["v_sub_f32 v8, v1, v2", "v_cmp_lt_i32 vcc, v1, v2", "s_sub_u32 s8, s1, s2", "v_mov_b32 v8, v1"]
    {
        let inst = super::asm(text);
        let mut wrong = inst;
        if inst.src[1] == Operand::None {
            wrong.dst = Operand::Vgpr(9);
        } else {
            wrong.src.swap(0, 1);
        }
        let mut m = machine();
        m.regs = Regs::new(ROWS, 64);
        shake(&mut m, &mut rng);
        (m.regs.mode, m.at.mask, m.at.whole) = (0x3c0, Mask::MAX, true);
        m.regs.set_pair(sreg::EXEC, Mask::MAX);
        assert!(compare(&mut m, &inst, &Bound::new(&wrong, 11)).is_err(), "{text}");
    }
}
