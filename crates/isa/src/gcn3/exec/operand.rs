//! Scalar operands. EXEC is read and written through the mask of the path: a split path never sees the
//! lanes of the other side and never switches them on.

use super::super::inst::Inst;
use super::super::operand::{Operand, sreg};
use super::super::state::{Regs, window_value};
use crate::{Mask, Trap};

/// Where a scalar instruction's operands are: as decoded ([`Decoded`]), or bound to registers and constants
/// ([`super::bound::Scalar`]). What an operation computes is written once, for both.
pub(super) trait Operands {
    fn get32(&self, regs: &Regs, i: usize) -> u32;
    fn get64(&self, regs: &Regs, i: usize) -> u64;
    /// For signed operations: a literal is extended with its sign.
    fn get_i64(&self, regs: &Regs, i: usize) -> i64;
    /// What the destination holds.
    fn old32(&self, regs: &Regs) -> u32;
    fn old64(&self, regs: &Regs) -> u64;
    /// Writes the destination and returns what was stored.
    fn put32(&self, regs: &mut Regs, value: u32) -> u32;
    fn put64(&self, regs: &mut Regs, value: u64) -> u64;
    /// EXEC as the path sees it.
    fn exec(&self, regs: &Regs) -> u64;
    fn put_exec(&self, regs: &mut Regs, value: u64) -> u64;
    /// The immediate of SOPK.
    fn immediate(&self) -> i32;
}

const EXEC_HI: u8 = sreg::EXEC + 1;

#[inline(always)]
pub(super) fn get32(regs: &Regs, operand: Operand, path: Mask) -> u32 {
    match operand {
        Operand::Sgpr(n) => {
            let value = regs.s[usize::from(n & 127)];
            match n {
                sreg::EXEC => value & path as u32,
                EXEC_HI => value & (path >> 32) as u32,
                _ => value,
            }
        }
        Operand::InlineInt(v) => v as i32 as u32,
        Operand::Literal(v) => v,
        other => rare32(regs, other, path),
    }
}

#[cold]
fn rare32(regs: &Regs, operand: Operand, path: Mask) -> u32 {
    match operand {
        Operand::InlineFloat(f) => f.bits32(),
        Operand::VccZ => u32::from(regs.vcc() == 0),
        Operand::ExecZ => u32::from(regs.exec() & path == 0),
        Operand::Scc => u32::from(regs.scc),
        Operand::Window(window) => window_value(window, 1) as u32,
        _ => 0,
    }
}

/// A 64-bit operand; a literal is extended with zeros.
#[inline(always)]
pub(super) fn get64(regs: &Regs, operand: Operand, path: Mask) -> u64 {
    match operand {
        Operand::Sgpr(sreg::EXEC) => regs.exec() & path,
        Operand::Sgpr(n) => regs.pair(n),
        Operand::InlineInt(v) => v as i64 as u64,
        Operand::InlineFloat(f) => f.bits64(),
        Operand::Window(window) => window_value(window, 2),
        other => get32(regs, other, path).into(),
    }
}

/// The same for signed operations: a literal is extended with its sign.
#[inline(always)]
fn get_i64(regs: &Regs, operand: Operand, path: Mask) -> i64 {
    match operand {
        Operand::Literal(v) => (v as i32).into(),
        other => get64(regs, other, path) as i64,
    }
}

/// Writes a scalar register and returns what was stored (of EXEC only the lanes of the path).
#[inline(always)]
pub(super) fn put32(regs: &mut Regs, operand: Operand, value: u32, path: Mask) -> u32 {
    let Operand::Sgpr(n) = operand else { return value };
    let value = match n {
        sreg::EXEC => value & path as u32,
        EXEC_HI => value & (path >> 32) as u32,
        _ => value,
    };
    regs.s[usize::from(n & 127)] = value;
    value
}

#[inline(always)]
pub(super) fn put64(regs: &mut Regs, operand: Operand, value: u64, path: Mask) -> u64 {
    let Operand::Sgpr(n) = operand else { return value };
    let value = if n == sreg::EXEC { value & path } else { value };
    regs.set_pair(n, value);
    value
}

/// An instruction's operands as decoded, seen by a path.
pub(super) struct Decoded<'a> {
    pub inst: &'a Inst,
    pub path: Mask,
}

impl Operands for Decoded<'_> {
    #[inline(always)]
    fn get32(&self, regs: &Regs, i: usize) -> u32 {
        get32(regs, self.inst.src[i], self.path)
    }

    #[inline(always)]
    fn get64(&self, regs: &Regs, i: usize) -> u64 {
        get64(regs, self.inst.src[i], self.path)
    }

    #[inline(always)]
    fn get_i64(&self, regs: &Regs, i: usize) -> i64 {
        get_i64(regs, self.inst.src[i], self.path)
    }

    #[inline(always)]
    fn old32(&self, regs: &Regs) -> u32 {
        get32(regs, self.inst.dst, self.path)
    }

    #[inline(always)]
    fn old64(&self, regs: &Regs) -> u64 {
        get64(regs, self.inst.dst, self.path)
    }

    #[inline(always)]
    fn put32(&self, regs: &mut Regs, value: u32) -> u32 {
        put32(regs, self.inst.dst, value, self.path)
    }

    #[inline(always)]
    fn put64(&self, regs: &mut Regs, value: u64) -> u64 {
        put64(regs, self.inst.dst, value, self.path)
    }

    #[inline(always)]
    fn exec(&self, regs: &Regs) -> u64 {
        regs.exec() & self.path
    }

    #[inline(always)]
    fn put_exec(&self, regs: &mut Regs, value: u64) -> u64 {
        put64(regs, Operand::EXEC, value, self.path)
    }

    #[inline(always)]
    fn immediate(&self) -> i32 {
        self.inst.imm
    }
}

/// The first of `count` scalar registers an operand names.
#[inline]
pub(super) fn scalars(operand: Operand, count: u32) -> Result<usize, Trap> {
    match operand {
        Operand::Sgpr(n) if u32::from(n) + count <= 128 => Ok(n.into()),
        other => Err(Trap::Other(format!("{other:?} cannot name {count} scalar registers"))),
    }
}

/// The row of the first of `count` vector registers an operand names.
#[inline(always)]
pub(super) fn vectors(regs: &Regs, operand: Operand, count: u32) -> Result<usize, Trap> {
    match operand {
        Operand::Vgpr(n) if u32::from(n) + count <= regs.vgprs => Ok(n.into()),
        Operand::Agpr(n) if u32::from(n) + count <= regs.agprs => Ok((regs.vgprs + u32::from(n)) as usize),
        other => Err(no_vectors(regs, other, count)),
    }
}

#[cold]
fn no_vectors(regs: &Regs, operand: Operand, count: u32) -> Trap {
    Trap::Other(match operand {
        Operand::Agpr(n) => {
            let last = u32::from(n) + count.max(1) - 1;
            format!("a{last} is used, but the kernel asked for {} accumulators", regs.agprs)
        }
        Operand::Vgpr(n) => {
            let last = u32::from(n) + count.max(1) - 1;
            format!("v{last} is used, but the kernel asked for {} vector registers", regs.vgprs)
        }
        other => format!("{other:?} stands where only a vector register can"),
    })
}
