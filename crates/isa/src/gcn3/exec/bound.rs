//! Instructions bound to their operands when the program is loaded: which function, which registers, which constants. Only
//! what computes on registers and goes on, and branches; everything else is left to [`super::exec`].

use super::super::inst::{Format, Inst};
use super::super::op::Op;
use super::super::operand::{Operand, sreg};
use super::super::state::{Regs, window_value};
use super::super::valu::{Both, Moved, Vector, shape};
use super::control::{is_quiet, taken, target};
use super::operand::Operands;
use super::scalar::{self, Run};
use super::scalar1;
use crate::{Mask, Pc, Quick};

/// What executes an instruction. It is found once, with everything that is known of the instruction: a run only calls it.
#[derive(Clone, Debug)]
pub struct Bound {
    run: Go,
    how: How,
}

/// Executes an instruction, unless it needs more than registers or something is unusual: then nothing happened.
type Go = fn(&How, &mut Regs, Mask) -> Quick;

#[derive(Clone, Debug)]
enum How {
    /// [`super::exec`], for everything unusual.
    General,
    /// s_nop, s_waitcnt and the like.
    Nothing,
    Scalar(Scalar),
    Vector(Vector),
    Moved(Box<Moved>),
    Both(Box<Both>),
    /// A branch on SCC or VCC, or always.
    Branch {
        op: Op,
        target: Pc,
    },
    /// A branch on EXEC.
    MaskBranch {
        when_empty: bool,
        target: Pc,
    },
}

impl Bound {
    /// Binds an instruction whose successor is `next`.
    pub(in super::super) fn new(inst: &Inst, next: Pc) -> Bound {
        let how = match inst.format {
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => Scalar::bind(inst).map(How::Scalar),
            Format::Sopp => match inst.op {
                op if is_quiet(op) => Some(How::Nothing),
                Op::SBranch | Op::SCbranchScc0 | Op::SCbranchScc1 | Op::SCbranchVccz | Op::SCbranchVccnz => {
                    Some(How::Branch { op: inst.op, target: target(inst, next) })
                }
                Op::SCbranchExecz | Op::SCbranchExecnz => Some(How::MaskBranch {
                    when_empty: inst.op == Op::SCbranchExecz,
                    target: target(inst, next),
                }),
                _ => None,
            },
            Format::Vop3 if inst.clamp() => Moved::bind(inst).map(|moved| How::Moved(Box::new(moved))),
            Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 => Vector::bind(inst).map(How::Vector),
            Format::Sdwa | Format::Dpp => Moved::bind(inst).map(|moved| How::Moved(Box::new(moved))),
            Format::Vop3p => Both::bind(inst).map(|both| How::Both(Box::new(both))),
            Format::Smem
            | Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg
            | Format::Vintrp
            | Format::Exp => None,
        };
        let how = how.unwrap_or(How::General);
        Bound { run: how.find(), how }
    }

    /// Left to [`super::exec`].
    pub(in super::super) fn is_general(&self) -> bool {
        matches!(self.how, How::General)
    }

    /// Executes it, unless it needs more than registers or something is unusual: then nothing happened. `path`: the lanes that
    /// EXEC may have.
    #[inline(always)]
    pub(in super::super) fn run(&self, regs: &mut Regs, path: Mask) -> Quick {
        (self.run)(&self.how, regs, path)
    }
}

/// What follows an instruction that was executed, or not.
#[inline(always)]
fn after(done: bool) -> Quick {
    if done { Quick::Next } else { Quick::No }
}

/// A vector instruction whose shape is `SHAPE`.
fn vector<const SHAPE: u8>(how: &How, regs: &mut Regs, path: Mask) -> Quick {
    match how {
        How::Vector(vector) => after(vector.run_as::<SHAPE>(regs, path)),
        _ => Quick::No,
    }
}

fn moved(how: &How, regs: &mut Regs, path: Mask) -> Quick {
    match how {
        How::Moved(moved) => after(moved.run(regs, path)),
        _ => Quick::No,
    }
}

fn both(how: &How, regs: &mut Regs, path: Mask) -> Quick {
    match how {
        How::Both(both) => after(both.run(regs, path)),
        _ => Quick::No,
    }
}

fn scalar_alu(how: &How, regs: &mut Regs, path: Mask) -> Quick {
    match how {
        // EXEC is then an ordinary register.
        How::Scalar(scalar) if path == Mask::MAX => {
            (scalar.run)(scalar, regs);
            Quick::Next
        }
        _ => Quick::No,
    }
}

fn branch(how: &How, regs: &mut Regs, path: Mask) -> Quick {
    match how {
        How::Branch { op, target } => match taken(*op, regs) {
            Some(true) => Quick::Jump(*target),
            Some(false) => Quick::Next,
            None => Quick::No,
        },
        How::MaskBranch { when_empty, target } => {
            let jump = (regs.exec() & path == 0) == *when_empty;
            Quick::MaskBranch { jump, target: *target }
        }
        _ => Quick::No,
    }
}

impl How {
    fn find(&self) -> Go {
        match self {
            How::General => |_, _, _| Quick::No,
            How::Nothing => |_, _, _| Quick::Next,
            How::Scalar(_) => scalar_alu,
            How::Moved(_) => moved,
            How::Both(_) => both,
            How::Branch { .. } | How::MaskBranch { .. } => branch,
            How::Vector(of) => match of.shape() {
                shape::PLAIN => vector::<{ shape::PLAIN }>,
                shape::SCALARS => vector::<{ shape::SCALARS }>,
                shape::MASK => vector::<{ shape::MASK }>,
                shape::SCALARS_MASK => vector::<{ shape::SCALARS_MASK }>,
                shape::CARRY => vector::<{ shape::CARRY }>,
                shape::SCALARS_CARRY => vector::<{ shape::SCALARS_CARRY }>,
                shape::MASK_CARRY => vector::<{ shape::MASK_CARRY }>,
                shape::ALL => vector::<{ shape::ALL }>,
                _ => vector::<{ shape::OTHER }>,
            },
        }
    }
}

/// No register.
const NONE: u8 = 0xff;

/// A source: a register, or the constant it reads as.
#[derive(Clone, Copy)]
struct Value {
    constant64: u64,
    constant32: u32,
    register: u8,
    literal: bool,
}

impl Value {
    fn bind(operand: Operand) -> Option<Value> {
        let constant =
            |c32, c64, literal| Value { constant64: c64, constant32: c32, register: NONE, literal };
        Some(match operand {
            Operand::None => constant(0, 0, false),
            Operand::Sgpr(n) if n < 128 => Value { register: n, ..constant(0, 0, false) },
            Operand::InlineInt(v) => constant(v as i32 as u32, v as i64 as u64, false),
            Operand::InlineFloat(f) => constant(f.bits32(), f.bits64(), false),
            Operand::Literal(v) => constant(v, v.into(), true),
            Operand::Window(window) => {
                constant(window_value(window, 1) as u32, window_value(window, 2), false)
            }
            Operand::Sgpr(_)
            | Operand::Vgpr(_)
            | Operand::Agpr(_)
            | Operand::VccZ
            | Operand::ExecZ
            | Operand::Scc
            | Operand::LdsDirect => return None,
        })
    }
}

/// A scalar instruction on registers and constants; EXEC is an ordinary register.
#[derive(Clone, Copy)]
pub(super) struct Scalar {
    run: Run<Scalar>,
    src: [Value; 2],
    immediate: i32,
    dst: u8,
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Scalar").field("dst", &self.dst).finish_non_exhaustive()
    }
}

impl Scalar {
    fn bind(inst: &Inst) -> Option<Scalar> {
        let run = match inst.format {
            Format::Sop1 => scalar1::sop1(inst.op),
            Format::Sop2 => scalar::sop2(inst.op),
            Format::Sopc => scalar::sopc(inst.op),
            _ => scalar::sopk(inst.op),
        }?;
        let dst = match inst.dst {
            Operand::Sgpr(n) if n < 128 => n,
            // Comparisons have none.
            Operand::None => NONE,
            _ => return None,
        };
        let src = [Value::bind(inst.src[0])?, Value::bind(inst.src[1])?];
        Some(Scalar { run, src, immediate: inst.imm, dst })
    }
}

impl Operands for Scalar {
    #[inline(always)]
    fn get32(&self, regs: &Regs, i: usize) -> u32 {
        let value = &self.src[i];
        match value.register {
            NONE => value.constant32,
            n => regs.s[usize::from(n & 127)],
        }
    }

    #[inline(always)]
    fn get64(&self, regs: &Regs, i: usize) -> u64 {
        let value = &self.src[i];
        match value.register {
            NONE => value.constant64,
            n => regs.pair(n),
        }
    }

    #[inline(always)]
    fn get_i64(&self, regs: &Regs, i: usize) -> i64 {
        match self.src[i].literal {
            true => (self.src[i].constant32 as i32).into(),
            false => self.get64(regs, i) as i64,
        }
    }

    #[inline(always)]
    fn old32(&self, regs: &Regs) -> u32 {
        if self.dst == NONE { 0 } else { regs.s[usize::from(self.dst & 127)] }
    }

    #[inline(always)]
    fn old64(&self, regs: &Regs) -> u64 {
        if self.dst == NONE { 0 } else { regs.pair(self.dst) }
    }

    #[inline(always)]
    fn put32(&self, regs: &mut Regs, value: u32) -> u32 {
        if self.dst != NONE {
            regs.s[usize::from(self.dst & 127)] = value;
        }
        value
    }

    #[inline(always)]
    fn put64(&self, regs: &mut Regs, value: u64) -> u64 {
        if self.dst != NONE {
            regs.set_pair(self.dst, value);
        }
        value
    }

    #[inline(always)]
    fn exec(&self, regs: &Regs) -> u64 {
        regs.exec()
    }

    #[inline(always)]
    fn put_exec(&self, regs: &mut Regs, value: u64) -> u64 {
        regs.set_pair(sreg::EXEC, value);
        value
    }

    #[inline(always)]
    fn immediate(&self) -> i32 {
        self.immediate
    }
}
