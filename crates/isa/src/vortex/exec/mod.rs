//! What each instruction does to the lanes of a wave (RISC-V unprivileged manual; docs/vortex.md for the extension).
//! Registers are rows, an instruction is one loop over them.

mod control;
mod csr;
mod float;
mod memory;

pub use csr::{CSRS, csr_name, csr_number};
pub(crate) use memory::{Access, Place, Space, local_lanes};
pub use memory::{CONSOLE, CONSOLE_END, LOCAL, LOCAL_PLACE, LOCAL_STRIDE};

use super::Vortex;
use super::inst::{DYNAMIC, Inst};
use super::regs::Regs;
use super::table::{Class, Op};
use crate::{At, Bus, Flow, Mask, Trap};

impl Vortex {
    #[inline]
    pub(crate) fn execute<B: Bus>(
        &self,
        inst: &Inst,
        at: &At,
        regs: &mut Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap> {
        regs.retired += 1;
        match inst.entry().class {
            Class::Alu | Class::Mul | Class::Div => {
                if inst.rd != 0 && !integer(inst, at.mask, regs) {
                    self.placed(inst, at, regs);
                }
                Ok(Flow::Next)
            }
            Class::Mem => self.memory(inst, at, regs, bus),
            Class::Branch => self.branch(inst, at, regs),
            Class::FMisc => {
                float::exact(inst, at.mask, regs);
                Ok(Flow::Next)
            }
            Class::FAdd | Class::FMul | Class::FMadd | Class::FCvt | Class::FDiv | Class::FSqrt => {
                float::execute(inst, at.mask, regs)?;
                Ok(Flow::Next)
            }
            Class::Csr => self.csr(inst, at, regs),
            Class::Control => self.control(inst, at, regs),
        }
    }

    /// Does what [`Vortex::execute`] does if the instruction concerns nothing but the registers of its lanes. False: nothing was done.
    #[inline]
    pub(crate) fn alone(&self, inst: &Inst, on: Mask, regs: &mut Regs) -> bool {
        let done = match inst.entry().class {
            Class::Alu | Class::Mul | Class::Div => inst.rd == 0 || integer(inst, on, regs),
            Class::FMisc => {
                float::exact(inst, on, regs);
                true
            }
            Class::FAdd | Class::FMul | Class::FMadd | Class::FCvt | Class::FDiv | Class::FSqrt => {
                // With modes by lane it may turn out late that one of them does not exist.
                !(inst.rm == DYNAMIC && regs.modes) && float::execute(inst, on, regs).is_ok()
            }
            Class::Mem | Class::Branch | Class::Csr | Class::Control => false,
        };
        regs.retired += u64::from(done);
        done
    }

    /// Instructions that write a general-purpose register and ask where they are, or for other lanes; the destination is not x0.
    fn placed(&self, inst: &Inst, at: &At, regs: &mut Regs) {
        if inst.op == Op::Auipc {
            let value = self.address(at.pc).wrapping_add((inst.imm as u32) << 12);
            let d = usize::from(inst.rd);
            regs.rows.map1(d, d, at.mask, |_| value);
        } else {
            self.cross(inst, at, regs);
        }
    }
}

/// Instructions that write a general-purpose register, which is not x0, from others of the same lane. False: it is another one.
#[inline]
fn integer(inst: &Inst, on: Mask, regs: &mut Regs) -> bool {
    let (d, a, b) = (usize::from(inst.rd), usize::from(inst.rs1), usize::from(inst.rs2));
    let k = inst.imm as u32;
    let x = &mut regs.rows;
    match inst.op {
        Op::Lui => x.map1(d, d, on, |_| k << 12),
        Op::Addi => x.map1(d, a, on, |x| x.wrapping_add(k)),
        Op::Slti => x.map1(d, a, on, |x| u32::from((x as i32) < k as i32)),
        Op::Sltiu => x.map1(d, a, on, |x| u32::from(x < k)),
        Op::Xori => x.map1(d, a, on, |x| x ^ k),
        Op::Ori => x.map1(d, a, on, |x| x | k),
        Op::Andi => x.map1(d, a, on, |x| x & k),
        Op::Slli => x.map1(d, a, on, |x| x << (k & 31)),
        Op::Srli => x.map1(d, a, on, |x| x >> (k & 31)),
        Op::Srai => x.map1(d, a, on, |x| ((x as i32) >> (k & 31)) as u32),
        Op::Add => x.map2(d, a, b, on, u32::wrapping_add),
        Op::Sub => x.map2(d, a, b, on, u32::wrapping_sub),
        Op::Sll => x.map2(d, a, b, on, |x, y| x << (y & 31)),
        Op::Slt => x.map2(d, a, b, on, |x, y| u32::from((x as i32) < y as i32)),
        Op::Sltu => x.map2(d, a, b, on, |x, y| u32::from(x < y)),
        Op::Xor => x.map2(d, a, b, on, |x, y| x ^ y),
        Op::Srl => x.map2(d, a, b, on, |x, y| x >> (y & 31)),
        Op::Sra => x.map2(d, a, b, on, |x, y| ((x as i32) >> (y & 31)) as u32),
        Op::Or => x.map2(d, a, b, on, |x, y| x | y),
        Op::And => x.map2(d, a, b, on, |x, y| x & y),
        Op::CzeroEqz => x.map2(d, a, b, on, |x, y| if y == 0 { 0 } else { x }),
        Op::CzeroNez => x.map2(d, a, b, on, |x, y| if y == 0 { x } else { 0 }),
        Op::Mul => x.map2(d, a, b, on, u32::wrapping_mul),
        Op::Mulh => x.map2(d, a, b, on, |x, y| high(i64::from(x as i32) * i64::from(y as i32))),
        Op::Mulhsu => x.map2(d, a, b, on, |x, y| high(i64::from(x as i32) * i64::from(y))),
        Op::Mulhu => x.map2(d, a, b, on, |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32),
        Op::Div => x.map2(d, a, b, on, |x, y| divide(x as i32, y as i32) as u32),
        Op::Divu => x.map2(d, a, b, on, |x, y| x.checked_div(y).unwrap_or(u32::MAX)),
        Op::Rem => x.map2(d, a, b, on, |x, y| remainder(x as i32, y as i32) as u32),
        Op::Remu => x.map2(d, a, b, on, |x, y| x.checked_rem(y).unwrap_or(x)),
        _ => return false,
    }
    true
}

fn high(product: i64) -> u32 {
    (product >> 32) as u32
}

/// Division by zero gives −1; the only overflow wraps round.
fn divide(x: i32, y: i32) -> i32 {
    if y == 0 { -1 } else { x.wrapping_div(y) }
}

fn remainder(x: i32, y: i32) -> i32 {
    if y == 0 { x } else { x.wrapping_rem(y) }
}
