//! HARP, the instruction set of harptool: words of 1 to 8 bytes, predicated lanes, `split`/`join`.
//! Table, two encodings, assembler, object files and linker, disassembler and lane semantics.

pub mod arch;
#[expect(clippy::result_large_err, reason = "a diagnostic is built once per wrong statement")]
mod asm;
mod disasm;
mod encode;
mod exec;
#[expect(clippy::result_large_err, reason = "a diagnostic is built once per wrong statement")]
mod expr;
mod float;
mod inst;
mod layout;
mod lexer;
mod link;
mod object;
mod regs;
#[expect(clippy::result_large_err, reason = "a diagnostic is built once per wrong statement")]
mod statement;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use arch::{Arch, Encoding};
pub use asm::{assemble, assemble_program};
pub use disasm::disassemble;
pub use encode::{Codec, DecodeError, EncodeError};
pub use float::Format;
pub use inst::Inst;
pub use link::{Image, LinkError, link};
pub use object::{Chunk, MAX_IMAGE, Object, ObjectError, Perms, Ref};
pub use regs::Regs;
pub use table::{Class, Entry, Op, Slot, TABLE};

use crate::{At, Bus, Facts, Flow, FlowKind, Isa, NO_PC, Pc, Trap, WaveStart};

/// One HARP architecture: what the machine needs to decode and execute its programs.
#[derive(Clone, Copy, Debug)]
pub struct Harp {
    pub arch: Arch,
    /// Bytes per pc step: the word for the word encoding, 1 for the byte encoding.
    pub granule: u32,
    codec: Codec,
    float: Format,
}

impl Harp {
    pub fn new(arch: Arch) -> Result<Harp, String> {
        let codec = Codec::new(arch)?;
        let granule = match arch.encoding {
            Encoding::Word => arch.bytes,
            Encoding::Byte => 1,
        };
        Ok(Harp { arch, granule, codec, float: Format::of(&arch) })
    }

    /// The pc of an address; none when no instruction can start there.
    #[inline]
    pub fn pc_of(&self, addr: u64) -> Option<Pc> {
        let (pc, rest) = divide(addr, self.granule);
        (rest == 0 && pc < u64::from(NO_PC)).then_some(pc as Pc)
    }

    /// Decodes the instruction at the start of `bytes`; returns it with its size in bytes.
    pub fn decode_at(&self, bytes: &[u8]) -> Result<(Inst, u32), DecodeError> {
        self.codec.decode(bytes)
    }

    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Address that a relative immediate names, counted from the next instruction.
    #[inline]
    fn relative(&self, next: Pc, imm: i64) -> u64 {
        self.addr_of(next).wrapping_add(imm as u64) & self.arch.word_mask()
    }
}

/// Quotient and remainder; the usual word sizes are powers of two and need no division.
#[inline(always)]
fn divide(addr: u64, by: u32) -> (u64, u64) {
    if by.is_power_of_two() {
        (addr >> by.trailing_zeros(), addr & u64::from(by - 1))
    } else {
        (addr / u64::from(by), addr % u64::from(by))
    }
}

impl Isa for Harp {
    type Inst = Inst;
    type Bound = ();
    type Regs = Regs;

    fn name(&self) -> &'static str {
        "harp"
    }

    fn classes(&self) -> &'static [&'static str] {
        table::CLASSES
    }

    fn register_count(&self) -> usize {
        (self.arch.gprs + self.arch.preds) as usize
    }

    fn register_name(&self, id: u16) -> String {
        match u32::from(id).checked_sub(self.arch.gprs) {
            None => format!("%r{id}"),
            Some(p) => format!("@p{p}"),
        }
    }

    fn registers(&self, lanes: u32) -> Regs {
        Regs::new(&self.arch, lanes)
    }

    fn start(&self, regs: &mut Regs, start: &WaveStart) {
        regs.start(&self.arch, start);
    }

    fn access_bytes(&self, inst: &Inst) -> u32 {
        match inst.op {
            Op::Ld | Op::St => self.arch.bytes,
            _ => 0,
        }
    }

    fn facts(&self, inst: &Inst, _pc: Pc, next: Pc) -> Facts {
        let gprs = self.arch.gprs as u16;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut read = |id: u16| {
            if !reads.contains(&id) {
                reads.push(id);
            }
        };
        match (inst.pred, inst.op) {
            (Some(p), _) => read(gprs + u16::from(p)),
            (None, Op::Split) => read(gprs),
            _ => {}
        }
        for (slot, r) in inst.operands() {
            let r = u16::from(r);
            match slot {
                Slot::Src => read(r),
                Slot::PredSrc => read(gprs + r),
                Slot::Dest if inst.op == Op::WSpawn => {}
                Slot::Dest => writes.push(r),
                Slot::PredDest => writes.push(gprs + r),
                Slot::Imm => {}
            }
        }
        if inst.op == Op::Clone {
            (0..gprs).for_each(&mut read);
            writes = (0..gprs).collect();
        }
        let flow = self.flow_kind(inst, next);
        Facts { class: inst.entry().class as u8, flow, reads, writes, ..Facts::default() }
    }

    fn bind(&self, _inst: &Self::Inst, _next: Pc) {}

    #[inline]
    fn exec<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        self.execute(inst, at, regs, bus)
    }

    fn show(&self, inst: &Inst, pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String {
        let next = pc.wrapping_add(self.codec.size(inst.op) / self.granule);
        let target =
            if inst.op.relative() { self.pc_of(self.relative(next, inst.imm)).and_then(label) } else { None };
        disasm::text(inst, target)
    }

    fn addr_of(&self, pc: Pc) -> u64 {
        u64::from(pc) * u64::from(self.granule)
    }

    fn dump(&self, regs: &Regs, lane: u32) -> Vec<(String, u64)> {
        let gprs = (0..self.arch.gprs).map(|r| (format!("%r{r}"), regs.gpr(r as usize, lane)));
        let preds = (0..self.arch.preds).map(|p| (format!("@p{p}"), regs.pred(p as usize) >> lane & 1));
        gprs.chain(preds).collect()
    }
}

impl Harp {
    fn flow_kind(&self, inst: &Inst, next: Pc) -> FlowKind {
        let conditional = inst.pred.is_some();
        let target = || self.pc_of(self.relative(next, inst.imm));
        match inst.op {
            Op::JmpI if conditional => FlowKind::Branch(target().unwrap_or(NO_PC)),
            Op::JmpI => FlowKind::Jump(target().unwrap_or(NO_PC)),
            Op::JalI | Op::JalIs => FlowKind::Call { target: target(), conditional },
            Op::JalR | Op::JalRs => FlowKind::Call { target: None, conditional },
            Op::JmpR | Op::JmpRt | Op::JmpRu | Op::RetI => FlowKind::Indirect { conditional },
            Op::Halt => FlowKind::Exit { conditional },
            Op::Split => FlowKind::Split,
            Op::Join => FlowKind::Join,
            Op::WSpawn => FlowKind::Spawn,
            Op::Bar => FlowKind::Barrier,
            _ => FlowKind::Next,
        }
    }
}
