//! A line of the table: what is known of an operation, and how a line of each encoding begins.

use super::super::format::Format;
use super::super::op::Op;
use super::super::operand::Ty;

/// Registers read or written without being named: bits of [`Entry::reads`] and [`Entry::writes`].
pub mod implicit {
    pub const SCC: u8 = 1;
    pub const VCC: u8 = 1 << 1;
    pub const EXEC: u8 = 1 << 2;
    pub const M0: u8 = 1 << 3;
    pub const FLAT_SCRATCH: u8 = 1 << 4;
    /// The MODE and status registers behind hwreg().
    pub const MODE: u8 = 1 << 5;
}

/// What VOP3 may add: bits of [`Entry::mods`]; and longer forms: bits of [`Entry::forms`].
pub mod modifier {
    pub const ABS0: u8 = 1;
    pub const ABS1: u8 = 1 << 1;
    pub const ABS2: u8 = 1 << 2;
    pub const NEG0: u8 = 1 << 3;
    pub const NEG1: u8 = 1 << 4;
    pub const NEG2: u8 = 1 << 5;
    pub const CLAMP: u8 = 1 << 6;
    pub const OMOD: u8 = 1 << 7;

    pub const E64: u8 = 1;
    pub const SDWA: u8 = 2;
    pub const DPP: u8 = 4;
}

/// Index of a timing class name in [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Salu,
    Branch,
    /// Barriers, waits, sleeping.
    Wait,
    Message,
    Smem,
    Valu,
    /// Vector operations at a fraction of the rate: 64-bit and full 32-bit multiplication.
    Valu64,
    /// Reciprocals, roots, exponentials, logarithms, sine and cosine.
    Trans,
    Lds,
    Flat,
    Vmem,
}

pub const CLASSES: &[&str] =
    &["salu", "branch", "wait", "message", "smem", "valu", "valu64", "trans", "lds", "flat", "vmem"];

/// What an operation does to control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ctl {
    Next,
    /// Always to `imm` words after the next instruction.
    Branch,
    /// To there if a scalar condition holds, for the whole wave.
    BranchIf,
    /// To the address in a register pair.
    Indirect,
    /// The same, leaving the address of the next instruction in `dst`.
    Call,
    End,
    Barrier,
    Trap,
    /// s_cbranch_*_fork and s_cbranch_join, which no compiler of ours emits.
    Fork,
    /// PWS section 2: the wave continues as two paths.
    Split,
    Merge,
}

impl Ctl {
    pub const fn relative(self) -> bool {
        matches!(self, Ctl::Branch | Ctl::BranchIf)
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub op: Op,
    /// Mnemonic without the suffix of an encoding.
    pub name: &'static str,
    /// The shortest encoding.
    pub format: Format,
    /// Opcode number there.
    pub code: u16,
    pub dst: Ty,
    pub src: [Ty; 3],
    /// `dst` is a scalar register although the operation is a vector one.
    pub scalar_dst: bool,
    /// `dst` is read: accumulators, stores whose data stands there, atomics.
    pub dst_read: bool,
    pub dst_written: bool,
    /// Writes a lane mask besides `dst`: VCC in VOP2, any pair in VOP3.
    pub carry: bool,
    /// DS with two 8-bit offsets.
    pub two_offsets: bool,
    pub gds_only: bool,
    pub atomic: bool,
    pub forms: u8,
    pub mods: u8,
    pub reads: u8,
    pub writes: u8,
    pub class: Class,
    pub flow: Ctl,
}

/// What a compare tests and where its result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// Code of the condition: of floats f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru from 0 to
    /// 15, of integers f lt eq le gt ne ge t from 0 to 7; 0 for a class test.
    pub condition: u8,
    pub class: bool,
    /// v_cmpx: EXEC is written too.
    pub exec: bool,
}

const fn line(
    format: Format,
    code: u16,
    op: Op,
    name: &'static str,
    dst: Ty,
    src: [Ty; 3],
    class: Class,
) -> Entry {
    Entry {
        op,
        name,
        format,
        code,
        dst,
        src,
        scalar_dst: false,
        dst_read: false,
        dst_written: true,
        carry: false,
        two_offsets: false,
        gds_only: false,
        atomic: false,
        forms: 0,
        mods: 0,
        reads: 0,
        writes: 0,
        class,
        flow: Ctl::Next,
    }
}

pub(super) const fn sop2(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sop2, code, op, name, dst, src, Class::Salu)
}

pub(super) const fn sop1(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sop1, code, op, name, dst, src, Class::Salu)
}

pub(super) const fn sopc(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopc, code, op, name, dst, src, Class::Salu)
}

pub(super) const fn sopk(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopk, code, op, name, dst, src, Class::Salu)
}

pub(super) const fn sopp(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopp, code, op, name, dst, src, Class::Salu)
}

pub(super) const fn smem(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Smem, code, op, name, dst, src, Class::Smem)
}

pub(super) const fn vop1(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    vector(Format::Vop1, code, op, name, dst, src, modifier::E64 | modifier::SDWA | modifier::DPP)
}

pub(super) const fn vop2(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    vector(Format::Vop2, code, op, name, dst, src, modifier::E64 | modifier::SDWA | modifier::DPP)
}

pub(super) const fn vopc(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = vector(Format::Vopc, code, op, name, dst, src, modifier::E64 | modifier::SDWA);
    if src[0].is_float() && src[1].is_float() {
        entry.mods |= modifier::CLAMP;
    }
    entry
}

pub(super) const fn vop3(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    vector(Format::Vop3, code, op, name, dst, src, modifier::E64)
}

/// Float sources take abs and neg, float results clamp and omod, unless the line says otherwise.
const fn vector(
    format: Format,
    code: u16,
    op: Op,
    name: &'static str,
    dst: Ty,
    src: [Ty; 3],
    forms: u8,
) -> Entry {
    let mut entry = line(format, code, op, name, dst, src, Class::Valu);
    entry.forms = forms;
    entry.reads = implicit::EXEC;
    let mut i = 0;
    while i < 3 {
        if src[i].is_float() {
            entry.mods |= (modifier::ABS0 | modifier::NEG0) << i;
        }
        i += 1;
    }
    if dst.is_float() {
        entry.mods |= modifier::CLAMP | modifier::OMOD;
    }
    entry
}

pub(super) const fn ds(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Ds, code, op, name, dst, src, Class::Lds).reads(implicit::EXEC | implicit::M0)
}

pub(super) const fn flat(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Flat, code, op, name, dst, src, Class::Flat).reads(implicit::EXEC | implicit::FLAT_SCRATCH)
}

pub(super) const fn mubuf(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mubuf, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

pub(super) const fn mimg(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mimg, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

impl Entry {
    pub(super) const fn reads(mut self, registers: u8) -> Entry {
        self.reads |= registers;
        self
    }

    pub(super) const fn writes(mut self, registers: u8) -> Entry {
        self.writes |= registers;
        self
    }

    pub(super) const fn reads_dst(mut self) -> Entry {
        self.dst_read = true;
        self
    }

    pub(super) const fn scalar_dst(mut self) -> Entry {
        self.scalar_dst = true;
        self
    }

    pub(super) const fn carry(mut self) -> Entry {
        self.carry = true;
        self
    }

    pub(super) const fn store(mut self) -> Entry {
        self.dst_read = true;
        self.dst_written = false;
        self
    }

    pub(super) const fn atomic(mut self) -> Entry {
        self.atomic = true;
        self.dst_read = matches!(self.format, Format::Mubuf);
        self
    }

    pub(super) const fn two_offsets(mut self) -> Entry {
        self.two_offsets = true;
        self
    }

    pub(super) const fn gds_only(mut self) -> Entry {
        self.gds_only = true;
        self
    }

    pub(super) const fn forms(mut self, forms: u8) -> Entry {
        self.forms = forms;
        self
    }

    pub(super) const fn mods(mut self, mods: u8) -> Entry {
        self.mods = mods;
        self
    }

    pub(super) const fn class(mut self, class: Class) -> Entry {
        self.class = class;
        self
    }

    pub(super) const fn flow(mut self, flow: Ctl) -> Entry {
        self.flow = flow;
        self.class = match flow {
            Ctl::Barrier => Class::Wait,
            _ => Class::Branch,
        };
        self
    }

    /// Opcode number of the VOP3 form.
    pub const fn vop3_code(&self) -> Option<u16> {
        if self.forms & modifier::E64 == 0 {
            return None;
        }
        match self.format {
            Format::Vop1 => Some(self.code + 0x140),
            Format::Vop2 => Some(self.code + 0x100),
            Format::Vopc | Format::Vop3 => Some(self.code),
            _ => None,
        }
    }

    /// For v_cmp and v_cmpx: what is compared; the type is that of `src[0]`.
    pub const fn compare(&self) -> Option<Compare> {
        if !matches!(self.format, Format::Vopc) {
            return None;
        }
        let class = self.code < 0x20;
        Some(Compare {
            condition: match () {
                () if class => 0,
                () if self.src[0].is_float() => self.code as u8 & 15,
                () => self.code as u8 & 7,
            },
            class,
            exec: self.writes & implicit::EXEC != 0,
        })
    }

    /// Whether the 16-bit field of SOPK or SOPP is a signed number.
    pub const fn signed_immediate(&self) -> bool {
        match self.format {
            Format::Sopk => matches!(self.dst, Ty::I32) || matches!(self.src[0], Ty::I32 | Ty::B64),
            _ => self.flow.relative(),
        }
    }

    /// v_madmk and v_madak, whose last or middle source is always a literal.
    pub const fn literal_source(&self) -> Option<usize> {
        match self.op {
            Op::VMadmkF32 | Op::VMadmkF16 => Some(1),
            Op::VMadakF32 | Op::VMadakF16 => Some(2),
            _ => None,
        }
    }
}
