//! Vortex: RV32IMAF with Zicsr and Zicond and the Vortex extension for waves and lanes (docs/vortex.md).
//! Table, codec, assembler, disassembler and lane semantics; every lane is a RISC-V hart.

#[expect(clippy::result_large_err, reason = "a diagnostic is built once per wrong statement")]
mod asm;
mod disasm;
mod exec;
mod float;
pub(crate) mod follow;
mod inst;
mod machine;
mod names;
mod regs;
mod table;
#[cfg(test)]
mod tests;

pub use asm::{Image, assemble, assemble_at};
pub use disasm::{Target, text};
pub(crate) use exec::{Access, Place, Space, local_lanes};
pub use exec::{CONSOLE, CONSOLE_END, CSRS, LOCAL, LOCAL_PLACE, LOCAL_STRIDE, csr_name, csr_number};
pub use inst::{DYNAMIC, DecodeError, Inst};
pub use machine::Vortex;
pub use names::{register, register_name};
pub use regs::Regs;
pub use table::{Class, Entry, File, Format, Op, TABLE};

use crate::marks::{Marks, Watch};
use crate::{At, Bus, Facts, Flow, FlowKind, Isa, Mask, NO_PC, Pc, Quick, Trap, WaveStart};

/// Where programs start when nothing says otherwise.
pub const TEXT: u32 = 0x8000_0000;
/// Registers that facts and the scoreboard name: x0 to x31, f0 to f31, `frm`.
const REGISTERS: usize = 65;
const FRM_ID: u16 = 64;

impl Vortex {
    pub(crate) fn target(&self, inst: &Inst, pc: Pc) -> Option<Pc> {
        self.pc_of(self.address(pc).wrapping_add(inst.imm as u32).into())
    }

    pub(crate) fn flow_kind(&self, inst: &Inst, pc: Pc) -> FlowKind {
        let target = || self.target(inst, pc).unwrap_or(NO_PC);
        match inst.op {
            Op::Jal if inst.rd == 0 => FlowKind::Jump(target()),
            Op::Jal => FlowKind::Call { target: self.target(inst, pc), conditional: false },
            Op::Jalr if inst.rd == 0 => FlowKind::Indirect { conditional: false },
            Op::Jalr => FlowKind::Call { target: None, conditional: false },
            Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => FlowKind::Branch(target()),
            Op::Tmc if inst.rs1 == 0 => FlowKind::Exit { conditional: false },
            Op::Wspawn => FlowKind::Spawn,
            Op::Split | Op::SplitN => FlowKind::Split,
            Op::Join => FlowKind::Join,
            Op::Bar => FlowKind::Barrier,
            _ => FlowKind::Next,
        }
    }
}

impl Isa for Vortex {
    type Inst = Inst;
    type Bound = Inst;
    type Regs = Regs;

    fn name(&self) -> &'static str {
        "vortex"
    }

    fn classes(&self) -> &'static [&'static str] {
        table::CLASSES
    }

    fn register_count(&self) -> usize {
        REGISTERS
    }

    fn register_name(&self, id: u16) -> String {
        names::register_name(id).to_owned()
    }

    fn registers(&self, lanes: u32) -> Regs {
        Regs::new(lanes)
    }

    /// `mscratch`: Vortex has one for all waves of a core, and programs pass the address of what to do in it.
    fn handed_over(&self, regs: &Regs) -> Option<u32> {
        Some(regs.scratch())
    }

    fn start(&self, regs: &mut Regs, start: &WaveStart) {
        regs.start(start, self.args);
    }

    fn access_bytes(&self, inst: &Inst) -> u32 {
        match inst.op {
            Op::Lb | Op::Lbu | Op::Sb => 1,
            Op::Lh | Op::Lhu | Op::Sh => 2,
            // Words, and atomics of words.
            _ if inst.entry().class == Class::Mem && inst.entry().format != Format::Fence => 4,
            _ => 0,
        }
    }

    fn facts(&self, inst: &Inst, pc: Pc, _next: Pc) -> Facts {
        let [rd, sources @ ..] = inst.registers();
        let mut reads: Vec<u16> = Vec::new();
        for id in sources.into_iter().flatten() {
            if !reads.contains(&id) {
                reads.push(id);
            }
        }
        let mut writes: Vec<u16> = rd.into_iter().collect();
        let rounds = matches!(inst.entry().format, Format::Round2 | Format::Round3 | Format::Round4);
        if rounds && inst.rm == DYNAMIC {
            reads.push(FRM_ID);
        }
        if inst.entry().class == Class::Csr && matches!(inst.imm, 2 | 3) {
            writes.push(FRM_ID);
        }
        let cross_lane = matches!(inst.entry().bits & 0xfe00_007f, 0x0200_000b);
        let flow = self.flow_kind(inst, pc);
        Facts { class: inst.entry().class as u8, flow, reads, writes, cross_lane, ..Facts::default() }
    }

    fn bind(&self, inst: &Inst, _next: Pc) -> Inst {
        *inst
    }

    #[inline]
    fn quick(&self, inst: &Inst, mask: Mask, _whole: bool, regs: &mut Regs) -> Quick {
        if self.alone(inst, mask, regs) { Quick::Next } else { Quick::No }
    }

    #[inline]
    fn exec<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        self.execute(inst, at, regs, bus)
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
        follow::follow(inst, regs, marks, at.mask, registers);
    }

    fn show(&self, inst: &Inst, pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String {
        let to = match inst.entry().format {
            Format::Branch | Format::Jump => self.target(inst, pc).and_then(label),
            _ => None,
        };
        let target = match to {
            Some(label) => Target::Label(label),
            None => Target::Address(self.address(pc)),
        };
        disasm::text(inst, &target)
    }

    fn addr_of(&self, pc: Pc) -> u64 {
        self.address(pc).into()
    }

    fn dump(&self, regs: &Regs, lane: u32) -> Vec<(String, u64)> {
        let registers = (0..64).map(|r| (self.register_name(r), u64::from(regs.get(r.into(), lane))));
        registers.chain([("fflags".to_owned(), u64::from(regs.flags(lane)))]).collect()
    }
}
