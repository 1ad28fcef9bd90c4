//! RISC-V for a lane-pc machine (docs/riscv.md): every lane is a hart with a pc of its own, as stock compilers expect. Decoding,
//! listing and arithmetic are those of [`crate::vortex`]; memory, work-items, calls and the barrier are here.

mod csr;
mod exec;
mod machine;
#[cfg(test)]
mod tests;

pub use csr::{WORK_ITEM, WorkItem};
pub use machine::{EXIT, PRIVATE, PRIVATE_END, Regs, Riscv, Setup};

use crate::marks::{Marks, Watch};
use crate::vortex::{Inst, Op, follow};
use crate::{At, Bus, Facts, Flow, FlowKind, Isa, Mask, Pc, Quick, Trap, WaveStart};

/// Where kernels are linked: at the first address of device memory.
pub const TEXT: u32 = 0x1_0000;

impl Isa for Riscv {
    type Inst = Inst;
    type Bound = Inst;
    type Regs = Regs;

    fn name(&self) -> &'static str {
        "riscv"
    }

    fn classes(&self) -> &'static [&'static str] {
        self.core.classes()
    }

    fn register_count(&self) -> usize {
        self.core.register_count()
    }

    fn register_name(&self, id: u16) -> String {
        self.core.register_name(id)
    }

    fn registers(&self, lanes: u32) -> Regs {
        Regs::new(lanes)
    }

    fn start(&self, regs: &mut Regs, start: &WaveStart) {
        regs.start(&self.setup, start);
    }

    fn access_bytes(&self, inst: &Inst) -> u32 {
        self.core.access_bytes(inst)
    }

    /// Only atomics tell waves of each other; barriers are within a group.
    fn shares(&self, inst: &Inst) -> bool {
        exec::is_atomic(inst)
    }

    fn lane_barriers(&self) -> bool {
        true
    }

    fn facts(&self, inst: &Inst, pc: Pc, next: Pc) -> Facts {
        let facts = self.core.facts(inst, pc, next);
        let flow = match inst.op {
            // What exists for Vortex only is an error when it is executed.
            Op::Tmc | Op::Wspawn | Op::Split | Op::SplitN | Op::Join | Op::Pred | Op::PredN => FlowKind::Next,
            _ => facts.flow,
        };
        Facts { flow, ..facts }
    }

    fn bind(&self, inst: &Inst, _next: Pc) -> Inst {
        *inst
    }

    #[inline]
    fn quick(&self, inst: &Inst, mask: Mask, _whole: bool, regs: &mut Regs) -> Quick {
        if self.core.alone(inst, mask, &mut regs.harts) { Quick::Next } else { Quick::No }
    }

    #[inline]
    fn exec<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        self.execute(inst, at, regs, bus)
    }

    fn fork(&self, regs: &Regs) -> Option<Regs> {
        Some(regs.fork())
    }

    fn hand_over(&self, from: &mut Regs, to: &mut Regs) {
        from.hand_over(to);
    }

    fn watch(&self, inst: &Inst, _ahead: &[&Inst]) -> Watch {
        follow::watch(inst, self.access_bytes(inst))
    }

    fn follow(
        &self,
        inst: &Inst,
        at: &At,
        regs: &Regs,
        marks: &mut Marks,
        _always: bool,
        registers: (&[u16], &[u16]),
    ) {
        follow::follow(inst, &regs.harts, marks, at.mask, registers);
    }

    fn show(&self, inst: &Inst, pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String {
        self.core.show(inst, pc, label)
    }

    fn addr_of(&self, pc: Pc) -> u64 {
        self.core.addr_of(pc)
    }

    fn dump(&self, regs: &Regs, lane: u32) -> Vec<(String, u64)> {
        self.core.dump(&regs.harts, lane)
    }
}
