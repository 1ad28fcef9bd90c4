//! GUPPY's mask-stack instruction set (document "What's up with my branch on GPU?"): registers of
//! four 32-bit components, swizzles, explicit mask control, and `ret` that waits for everything.
//! Where our semantics leave the original's, the place says so; a one-component source is broadcast.

mod asm;
mod disasm;
mod exec;
mod inst;
mod lexer;
mod module;
mod operand;
mod table;
#[cfg(test)]
mod tests;
mod views;

pub use asm::assemble;
pub use exec::Regs;
pub use inst::{Args, Builtin, Inst, MAX_BINDINGS, MAX_REGISTERS, Place, Src, Swizzle};
pub use module::{Module, ModuleError};
pub use table::{CLASSES, Class, Line, Op, Slot, TABLE};
pub use views::{Bindings, Filter, Sampler, View, Wrap};

use crate::{At, Bus, Facts, Flow, FlowKind, Isa, Pc, Trap, WaveStart};

/// The instruction set with its launch parameters: registers per lane and what views are bound.
#[derive(Clone, Debug)]
pub struct Guppy {
    pub registers: u32,
    pub bindings: Bindings,
}

impl Guppy {
    /// `registers` per lane, at most 256; a program that names a higher one traps.
    pub fn new(registers: u32, bindings: Bindings) -> Guppy {
        Guppy { registers: registers.clamp(1, MAX_REGISTERS), bindings }
    }

    fn register_rows(&self) -> u32 {
        self.registers.clamp(1, MAX_REGISTERS)
    }
}

impl Isa for Guppy {
    type Inst = Inst;
    type Bound = ();
    type Regs = Regs;

    fn name(&self) -> &'static str {
        "guppy"
    }

    fn classes(&self) -> &'static [&'static str] {
        &CLASSES
    }

    fn register_count(&self) -> usize {
        self.register_rows() as usize * 4
    }

    fn lock(&self, register: u16) -> u16 {
        register / 4
    }

    fn register_name(&self, id: u16) -> String {
        format!("r{}.{}", id / 4, inst::COMPONENTS[usize::from(id % 4)])
    }

    fn registers(&self, lanes: u32) -> Regs {
        Regs::new(self.register_rows(), lanes)
    }

    fn start(&self, regs: &mut Regs, start: &WaveStart) {
        regs.start(start);
    }

    fn facts(&self, inst: &Inst, _pc: Pc, _next: Pc) -> Facts {
        let [first, second] = inst.args.target;
        let flow = match inst.op {
            Op::PushMask => FlowKind::PushMask(first),
            Op::PopMask => FlowKind::PopMask,
            Op::MaskNz => FlowKind::MaskNonZero,
            Op::BrPush => FlowKind::BranchPush { other: first, reconverge: second },
            Op::Jmp => FlowKind::Jump(first),
            Op::Ret => FlowKind::Exit { conditional: false },
            _ => FlowKind::Next,
        };
        Facts {
            class: inst.op.line().class as u8,
            flow,
            reads: inst.reads(),
            writes: inst.writes(),
            waits_for_all: inst.op == Op::Ret,
            ..Facts::default()
        }
    }

    fn access_bytes(&self, inst: &Inst) -> u32 {
        // Textures have texels of four bytes; how many of them a sample reads is up to its sampler.
        match inst.op {
            Op::Ld => 4 * inst.args.view.swizzle.count().max(1) as u32,
            Op::St => match self.bindings.view('u', inst.args.view.index) {
                Ok(View::Buffer { .. }) => 4 * inst.args.view.swizzle.count().max(1) as u32,
                _ => 4,
            },
            _ => 0,
        }
    }

    fn bind(&self, _inst: &Self::Inst, _next: Pc) {}

    #[inline]
    fn exec<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        exec::exec(inst, at, regs, &self.bindings, bus)
    }

    fn show(&self, inst: &Inst, _pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String {
        disasm::text(inst, &|pc| label(pc).unwrap_or_else(|| format!("@{pc}")))
    }

    fn addr_of(&self, pc: Pc) -> u64 {
        u64::from(pc)
    }

    fn dump(&self, regs: &Regs, lane: u32) -> Vec<(String, u64)> {
        let rows = 0..(regs.count * 4) as u16;
        rows.map(|row| (self.register_name(row), u64::from(regs.get(row, lane)))).collect()
    }
}
