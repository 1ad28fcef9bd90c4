//! Semantics against references written another way: bit loops, wide arithmetic, a plain byte array.

mod bound;
mod buffers;
mod compiled;
mod coverage;
mod exchange;
mod gfx9;
mod local;
mod memory;
mod programs;
mod rows;
mod scalar;
mod speed;
mod start;

use crate::gcn3::inst::Inst;
use crate::gcn3::isa::Gcn3;
use crate::gcn3::op::Op;
use crate::gcn3::operand::Operand;
use crate::gcn3::state::Regs;
use crate::{At, Bus, Flow, Isa, Mask, MemFault, Trap};

/// Memory from address 0; notes what was accessed.
pub struct Bytes {
    pub bytes: Vec<u8>,
    /// Addresses below fault.
    pub forbidden: u64,
    pub log: Vec<(char, u64, u32)>,
}

impl Bytes {
    fn range(&self, what: &'static str, addr: u64, bytes: u32) -> Result<std::ops::Range<usize>, MemFault> {
        match addr.checked_add(bytes.into()) {
            Some(end) if addr >= self.forbidden && end <= self.bytes.len() as u64 => {
                Ok(addr as usize..end as usize)
            }
            _ => Err(MemFault { what, addr, bytes, why: "outside".into() }),
        }
    }

    pub fn u32(&self, addr: usize) -> u32 {
        u32::from_le_bytes(self.bytes[addr..addr + 4].try_into().unwrap())
    }

    pub fn set(&mut self, addr: usize, value: u32) {
        self.bytes[addr..addr + 4].copy_from_slice(&value.to_le_bytes());
    }
}

impl Bus for Bytes {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        let range = self.range("load", addr, bytes)?;
        self.log.push(('l', addr, bytes));
        Ok(self.bytes[range].iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)))
    }

    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        assert!(bytes == 8 || value >> (8 * bytes) == 0, "stored value is cut");
        let range = self.range("store", addr, bytes)?;
        self.log.push(('s', addr, bytes));
        self.bytes[range].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        Ok(())
    }

    fn console(&mut self, _byte: u8) {}
}

/// Where tests put local and private memory.
pub const LDS: usize = 0x8000;
pub const SCRATCH: usize = 0xa000;

pub struct Machine {
    pub isa: Gcn3,
    pub regs: Regs,
    pub bus: Bytes,
    pub at: At,
}

/// 32 vector registers, all lanes on, 4 KiB of LDS and 64 bytes of private memory per lane.
pub fn machine() -> Machine {
    let mut isa = Gcn3 { code_base: 0x1000, ..Gcn3::default() };
    isa.setup.vgprs = 32;
    let mut regs = isa.registers(64);
    regs.set_pair(126, Mask::MAX);
    (regs.lds_base, regs.lds_bytes) = (LDS as u64, 4096);
    (regs.scratch_base, regs.scratch_per_lane) = (SCRATCH as u64, 64);
    let bytes = (0..0x10000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
    let at = At {
        pc: 10,
        next: 11,
        mask: Mask::MAX,
        live: Mask::MAX,
        clock: 0x1_2345_6789,
        core: 3,
        depth: 0,
        waves: 1,
        whole: true,
        may_diverge: true,
    };
    Machine { isa, regs, bus: Bytes { bytes, forbidden: 0, log: Vec::new() }, at }
}

impl Machine {
    /// Runs an instruction; a branch on EXEC is what it is without splitting.
    pub fn run(&mut self, inst: &Inst) -> Result<Flow, Trap> {
        self.flow(inst).map(|flow| match flow {
            Flow::MaskBranch { jump: true, target, .. } => Flow::Jump(target),
            Flow::MaskBranch { jump: false, .. } => Flow::Next,
            flow => flow,
        })
    }

    pub fn flow(&mut self, inst: &Inst) -> Result<Flow, Trap> {
        let at = At { whole: self.at.mask == self.at.live, ..self.at };
        self.isa.exec(inst, &at, &mut self.regs, &mut self.bus)
    }

    pub fn ok(&mut self, inst: Inst) {
        assert_eq!(self.run(&inst), Ok(Flow::Next), "{inst:?}");
    }

    pub fn message(&mut self, inst: Inst) -> String {
        self.run(&inst).expect_err("a trap").to_string()
    }

    /// Fills a vector register from the lane number.
    pub fn fill(&mut self, register: usize, mut f: impl FnMut(u32) -> u32) {
        for lane in 0..64 {
            self.regs.v.set(register, lane, f(lane));
        }
    }

    pub fn fill64(&mut self, register: usize, f: impl Fn(u32) -> u64) {
        self.fill(register, |lane| f(lane) as u32);
        self.fill(register + 1, |lane| (f(lane) >> 32) as u32);
    }

    pub fn lanes(&self, register: usize) -> Vec<u32> {
        self.regs.v.row(register).to_vec()
    }
}

/// An instruction from its operands.
pub fn inst(op: Op, dst: Operand, src: &[Operand]) -> Inst {
    let mut inst = Inst::new(op, op.entry().format);
    inst.dst = dst;
    inst.src[..src.len()].copy_from_slice(src);
    inst
}

pub fn with(mut inst: Inst, imm: i32, flags: u16) -> Inst {
    (inst.imm, inst.flags) = (imm, flags);
    inst
}

/// An instruction from text.
pub fn asm(text: &str) -> Inst {
    let words = crate::gcn3::assemble_line(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    crate::gcn3::decode(&words).unwrap_or_else(|e| panic!("{text}: {e}"))
}

pub use Operand::Sgpr as S;
