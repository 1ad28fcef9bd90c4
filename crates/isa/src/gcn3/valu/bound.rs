//! A plain vector instruction bound to its operands when the program is loaded: the loop of its operation, rows, scalar
//! registers and constants of its sources. What is unusual (clamp and omod of other types than f32, operands that trap, other
//! roundings, index mode) is not bound or is left to [`super::execute`], which stays the definition of them all.

use super::super::inst::{Format, Inst, NO_SDST};
use super::super::op::Op;
use super::super::operand::{Operand, Ty, sreg};
use super::super::state::{Regs, mode, pair_of, window_value};
use super::compare::{self, Test};
use super::cross;
use super::operation::{condition_pair, find, modifiers_in_place, selects_halves, sign_bit};
use super::outcome::Outcome;
use super::packed;
use super::pairs::{self, Pairs};
use super::row_engine::{Cx, Row, Run, Src};
use crate::Mask;

/// Under these bits of MODE an instruction may do something else than it says, or trap.
const UNUSUAL: u32 = mode::GPR_IDX | mode::VSKIP | 15;

/// Where a source comes from.
#[derive(Clone, Copy)]
enum Source {
    /// Row of the (first) vector register.
    Row(u8),
    /// One scalar register, or two.
    Scalar(u8),
    Pair(u8),
    Constant(u64),
}

#[derive(Clone, Copy)]
enum Loop {
    /// Writes the destination's rows; its carries go to a scalar pair, if it has one.
    Rows { run: Run, carry: u8 },
    /// Writes a mask, to EXEC too for v_cmpx.
    Compare { test: Test, pair: u8, exec: bool },
}

/// What an instruction that writes rows needs besides rows and constants: some of the first three, or anything.
pub(in super::super) mod shape {
    pub const PLAIN: u8 = 0;
    /// Scalar registers as sources.
    pub const SCALARS: u8 = 1;
    /// A mask that it reads.
    pub const MASK: u8 = 2;
    /// A mask that it writes.
    pub const CARRY: u8 = 4;
    pub const SCALARS_MASK: u8 = SCALARS | MASK;
    pub const SCALARS_CARRY: u8 = SCALARS | CARRY;
    pub const MASK_CARRY: u8 = MASK | CARRY;
    pub const ALL: u8 = SCALARS | MASK | CARRY;
    /// Modified sources or results, or a comparison.
    pub const OTHER: u8 = 8;
}

/// A vector instruction that only needs registers.
#[derive(Clone, Copy)]
pub(in super::super) struct Vector {
    run: Loop,
    /// Rows the wave must have.
    rows: u16,
    dst: u8,
    signs: Signs,
    /// Scalar pair read as a mask, or [`NO_SDST`].
    mask: u8,
    /// Rows and constants; what is read from scalar registers is filled in when it runs.
    src: [Src<'static>; 3],
    /// Sources that are scalar registers: a bit each for one and for two, and the first register.
    scalars: u8,
    pairs: u8,
    registers: [u8; 3],
    outcome: Outcome,
}

/// Sources with abs, with neg, and whose sign is that of a half: a bit each. It takes less room than what becomes of it.
#[derive(Clone, Copy, Default)]
struct Signs {
    abs: u8,
    neg: u8,
    halves: u8,
}

impl Signs {
    /// abs and neg stand somewhere.
    fn modified(self) -> bool {
        self.abs | self.neg != 0
    }

    /// See [`Cx::and`].
    fn masks(self) -> ([u32; 3], [u32; 3]) {
        let (mut and, mut xor) = ([!0; 3], [0; 3]);
        for i in 0..3 {
            let sign = if self.halves >> i & 1 == 1 { 1 << 15 } else { 1 << 31 };
            and[i] = if self.abs >> i & 1 == 1 { !sign } else { !0 };
            xor[i] = if self.neg >> i & 1 == 1 { sign } else { 0 };
        }
        (and, xor)
    }

    /// The first two sources change places.
    fn swap(&mut self) {
        for of in [&mut self.abs, &mut self.neg, &mut self.halves] {
            *of = swap_bits(*of);
        }
    }
}

/// The lowest two bits change places; there are no others.
fn swap_bits(of: u8) -> u8 {
    of >> 1 & 1 | (of & 1) << 1
}

impl std::fmt::Debug for Vector {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Vector").field("rows", &self.rows).field("dst", &self.dst).finish_non_exhaustive()
    }
}

/// A source as it can be bound; none where [`super::operation::resolve`] decides when the instruction runs.
fn source(operand: Operand, ty: Ty) -> Option<Source> {
    Some(match operand {
        Operand::Vgpr(row) => Source::Row(row),
        Operand::Sgpr(n) if ty.dwords() == 1 => Source::Scalar(n & 127),
        Operand::Sgpr(n) => Source::Pair(n & 127),
        Operand::InlineInt(_) | Operand::InlineFloat(_) | Operand::Literal(_) => {
            Source::Constant(operand.constant(ty)?)
        }
        Operand::Window(window) => Source::Constant(window_value(window, ty.dwords())),
        // Their rows depend on how many vector registers the kernel has.
        Operand::Agpr(_) => return None,
        Operand::None | Operand::VccZ | Operand::ExecZ | Operand::Scc | Operand::LdsDirect => return None,
    })
}

impl Vector {
    /// Binds an instruction of the vector ALU; none if it is not plain.
    pub fn bind(inst: &Inst) -> Option<Vector> {
        let plain = matches!(inst.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3);
        if plain { Vector::operands(inst) } else { None }
    }

    /// The same, whatever its encoding does to sources and destination.
    pub(super) fn operands(inst: &Inst) -> Option<Vector> {
        if cross::is_one(inst.op) || selects_halves(inst) {
            return None;
        }
        let entry = inst.entry();
        let outcome = Outcome::of(inst);
        if outcome.changes()
            && (inst.format != Format::Vop3 || entry.dst != Ty::F32 || entry.compare().is_some())
        {
            return None;
        }
        let mut signs = Signs::default();
        if inst.abs | inst.neg != 0 && !modifiers_in_place(inst) {
            return None;
        }
        let mut src = [Src::Splat(0); 3];
        let (mut scalars, mut pairs, mut registers) = (0, 0, [0; 3]);
        let mut mask = NO_SDST;
        let mut rows = 0;
        for (i, &ty) in entry.src.iter().enumerate().take_while(|(_, ty)| **ty != Ty::None) {
            signs.abs |= inst.abs & 1 << i;
            signs.neg |= inst.neg & 1 << i;
            signs.halves |= u8::from(sign_bit(ty) == 1 << 15) << i;
            match source(inst.src[i], ty)? {
                Source::Pair(pair) if ty == Ty::Mask => mask = pair,
                _ if ty == Ty::Mask => return None,
                Source::Row(row) => {
                    rows = rows.max(u16::from(row) + u16::from(ty.dwords()));
                    src[i] = Src::Row(row.into());
                }
                Source::Scalar(n) => (scalars, registers[i]) = (scalars | 1 << i, n),
                Source::Pair(n) => (pairs, registers[i]) = (pairs | 1 << i, n),
                Source::Constant(v) => src[i] = Src::Splat(v),
            }
        }
        if matches!(inst.op, Op::VDivFmasF32 | Op::VDivFmasF64) {
            mask = sreg::VCC;
        }
        let (run, dst) = if let Some(what) = entry.compare() {
            let test = compare::find(what, entry.src[0]);
            if test.swap {
                src.swap(0, 1);
                registers.swap(0, 1);
                [scalars, pairs] = [scalars, pairs].map(swap_bits);
                signs.swap();
            }
            (Loop::Compare { test, pair: condition_pair(inst), exec: what.exec }, 0)
        } else {
            let Operand::Vgpr(dst) = inst.dst else { return None };
            rows = rows.max(u16::from(dst) + u16::from(entry.dst.dwords()));
            (Loop::Rows { run: find(inst, false)?, carry: inst.sdst }, dst)
        };
        Some(Vector { run, rows, dst, signs, mask, src, scalars, pairs, registers, outcome })
    }

    /// The lanes it executes in; none if something is unusual.
    #[inline(always)]
    pub(super) fn lanes(&self, regs: &Regs, path: Mask) -> Option<Mask> {
        let lanes = regs.exec();
        let usual = regs.mode & UNUSUAL == 0 && lanes & !path == 0 && regs.v.lanes() == 64;
        (usual && regs.v.has(self.rows.into())).then_some(lanes)
    }

    /// Executes it; false if something is unusual: then nothing happened.
    #[inline]
    pub fn run(&self, regs: &mut Regs, path: Mask) -> bool {
        match self.lanes(regs, path) {
            Some(lanes) => {
                self.run_on(regs, lanes, [None; 2]);
                true
            }
            None => false,
        }
    }

    /// What it needs besides rows and constants: see [`shape`].
    pub fn shape(&self) -> u8 {
        let Loop::Rows { carry, .. } = self.run else { return shape::OTHER };
        if self.signs.modified() || self.outcome.changes() {
            return shape::OTHER;
        }
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        bit(self.scalars | self.pairs != 0, shape::SCALARS)
            | bit(self.mask != NO_SDST, shape::MASK)
            | bit(carry != NO_SDST, shape::CARRY)
    }

    /// [`Vector::run`] of an instruction of that shape: nothing is done, or asked, for what it does not need.
    #[inline(always)]
    pub fn run_as<const SHAPE: u8>(&self, regs: &mut Regs, path: Mask) -> bool {
        let (Loop::Rows { run, carry }, true) = (&self.run, SHAPE < shape::OTHER) else {
            return self.run(regs, path);
        };
        let (lanes, mode) = (regs.exec(), regs.mode);
        if mode & UNUSUAL != 0 || lanes & !path != 0 || regs.v.lanes() != 64 {
            return false;
        }
        let mask_in = if SHAPE & shape::MASK != 0 { regs.pair(self.mask) } else { 0 };
        let file = regs.v.whole_rows_mut();
        if file.len() < usize::from(self.rows) {
            return false;
        }
        let mut cx = Cx {
            file,
            dst: self.dst.into(),
            src: self.src,
            modified: false,
            and: [!0; 3],
            xor: [0; 3],
            clamp: false,
            lanes,
            mask_in,
            mask_out: 0,
            mode,
        };
        if SHAPE & shape::SCALARS != 0 {
            self.fill_in(&regs.s, &mut cx.src);
        }
        run(&mut cx);
        if SHAPE & shape::CARRY != 0 {
            let carries = cx.mask_out;
            regs.set_pair(*carry, carries);
        }
        true
    }

    /// Results in the active lanes, and then what omod and clamp make of them.
    #[inline(never)]
    fn run_changed(&self, run: Run, cx: &mut Cx) {
        run(cx);
        let out = self.outcome.f32(&cx.file[cx.dst], cx.mode);
        cx.put(0, &out);
    }

    /// Row of source `i`.
    pub(super) fn row(&self, i: usize) -> Option<usize> {
        match self.src[i] {
            Src::Row(row) => Some(row),
            Src::Splat(_) | Src::Copy(_) => None,
        }
    }

    /// The first two sources stand exchanged.
    pub(super) fn is_swapped(&self) -> bool {
        match self.run {
            Loop::Rows { .. } => false,
            Loop::Compare { test, .. } => test.swap,
        }
    }

    /// First row of the destination; none of a comparison.
    pub(super) fn destination(&self) -> Option<usize> {
        match self.run {
            Loop::Rows { .. } => Some(self.dst.into()),
            Loop::Compare { .. } => None,
        }
    }

    /// Sources that are scalar registers get their values. Where they stay: a host waits for what was written in pieces and is copied as a
    /// whole.
    #[inline(always)]
    fn fill_in(&self, scalars: &[u32; 128], src: &mut [Src; 3]) {
        if self.scalars | self.pairs == 0 {
            return;
        }
        for (i, src) in src.iter_mut().enumerate() {
            if self.scalars >> i & 1 == 1 {
                *src = Src::Splat(scalars[usize::from(self.registers[i] & 127)].into());
            } else if self.pairs >> i & 1 == 1 {
                *src = Src::Splat(pair_of(scalars, self.registers[i]));
            }
        }
    }

    /// Executes it in `lanes`, with other rows for the first two sources if there are some.
    #[inline(always)]
    pub(super) fn run_on(&self, regs: &mut Regs, lanes: Mask, instead: [Option<&Row>; 2]) {
        let mask_in = if self.mask == NO_SDST { 0 } else { regs.pair(self.mask) };
        let (modified, dst, mode) = (self.signs.modified(), self.dst.into(), regs.mode);
        let (and, xor) = if modified { self.signs.masks() } else { ([!0; 3], [0; 3]) };
        let (clamp, mask_out) = (false, 0);
        let scalars = &regs.s;
        let file = regs.v.chunks_mut().as_flattened_mut().as_chunks_mut().0;
        let src = self.src;
        let mut cx = Cx { file, dst, src, modified, and, xor, clamp, lanes, mask_in, mask_out, mode };
        self.fill_in(scalars, &mut cx.src);
        for (src, instead) in cx.src.iter_mut().zip(instead) {
            if let Some(row) = instead {
                *src = Src::Copy(row);
            }
        }
        match self.run {
            Loop::Rows { run, carry } => {
                if self.outcome.changes() {
                    self.run_changed(run, &mut cx);
                } else {
                    run(&mut cx);
                }
                if carry != NO_SDST {
                    let carries = cx.mask_out;
                    regs.set_pair(carry, carries);
                }
            }
            Loop::Compare { test, pair, exec } => {
                let found = test.run(&mut cx);
                regs.set_pair(pair, found);
                if exec {
                    regs.set_pair(sreg::EXEC, found);
                }
            }
        }
    }
}

/// An operation on pairs of dwords: two plain ones, and how they are done in one pass.
#[derive(Clone, Copy)]
pub(in super::super) struct Both {
    parts: [Vector; 2],
    run: Option<pairs::Run>,
}

impl std::fmt::Debug for Both {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("Both").field(&self.parts).finish()
    }
}

impl Both {
    /// Binds a packed instruction; none if it is not two plain ones.
    pub fn bind(inst: &Inst) -> Option<Both> {
        let [first, second] = packed::in_two(inst)?;
        let parts = [Vector::operands(&first)?, Vector::operands(&second)?];
        Some(Both { parts, run: pairs::find(first.op).filter(|_| first.op == second.op) })
    }

    /// Executes it; false if something is unusual: then nothing happened.
    #[inline]
    pub fn run(&self, regs: &mut Regs, path: Mask) -> bool {
        let [first, second] = &self.parts;
        match (first.lanes(regs, path), second.lanes(regs, path)) {
            (Some(lanes), Some(_)) => {
                if !self.run.is_some_and(|run| self.at_once(run, regs, lanes)) {
                    first.run_on(regs, lanes, [None; 2]);
                    second.run_on(regs, lanes, [None; 2]);
                }
                true
            }
            _ => false,
        }
    }

    /// Both parts in one pass; false if nothing was done.
    #[inline(always)]
    fn at_once(&self, run: pairs::Run, regs: &mut Regs, lanes: Mask) -> bool {
        let [first, second] = &self.parts;
        let mode = regs.mode;
        let scalars = &regs.s;
        let file = regs.v.chunks_mut().as_flattened_mut().as_chunks_mut().0;
        let mut pairs = Pairs {
            file,
            dst: [first.dst.into(), second.dst.into()],
            src: [first.src, second.src],
            xor: [first, second].map(|part| part.signs.masks().1),
            modified: first.signs.modified() | second.signs.modified(),
            lanes,
            mode,
        };
        first.fill_in(scalars, &mut pairs.src[0]);
        second.fill_in(scalars, &mut pairs.src[1]);
        run(&mut pairs)
    }
}
