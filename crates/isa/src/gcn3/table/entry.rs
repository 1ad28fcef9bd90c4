//! A line of the table: what is known of an operation, and how a line of each encoding begins.

use super::super::format::Format;
use super::super::gcn::Gcn;
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
    /// The short form has its suffix although there is no long one.
    pub const NAMED: u8 = 8;
}

/// The segments an operation of FLAT has from gfx9 on: bits of [`Entry::forms`].
pub mod segment {
    pub const FLAT: u8 = 1 << 5;
    pub const GLOBAL: u8 = 1 << 6;
    pub const SCRATCH: u8 = 1 << 7;
    pub const ALL: u8 = FLAT | GLOBAL | SCRATCH;
}

/// What VOP3 and VOP3P select besides whole operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// Nothing.
    Whole,
    /// op_sel: a half of each 16-bit operand; the other half of the destination stays.
    One,
    /// op_sel, op_sel_hi, neg_lo, neg_hi: what the low and the high result take of each source.
    Packed,
    /// op_sel and op_sel_hi: each source is an f32 or a half.
    Mixed,
    /// Accumulators are moved: the bits mean nothing.
    Moved,
    /// cbsz, abid and blgp: which blocks of a matrix are repeated or permuted.
    Blocks,
    /// An attribute of a triangle stands where `src[0]` would be.
    Attribute,
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
    /// Matrix operations by their passes of four cycles.
    Matrix2,
    Matrix4,
    Matrix8,
    Matrix16,
}

pub const CLASSES: &[&str] = &[
    "salu", "branch", "wait", "message", "smem", "valu", "valu64", "trans", "lds", "flat", "vmem", "matrix2",
    "matrix4", "matrix8", "matrix16",
];

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
    pub halves: Halves,
    /// `src[0]` is written, too: v_swap.
    pub swaps: bool,
    /// `dst` or `src[0]` is an accumulator, whatever the encoding says.
    pub acc_dst: bool,
    pub acc_src: bool,
    /// The generations that have it.
    pub since: Gcn,
    pub until: Gcn,
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
        halves: Halves::Whole,
        swaps: false,
        acc_dst: false,
        acc_src: false,
        since: Gcn::Gfx8,
        until: Gcn::Gfx940,
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

/// Packed operations; all sources take neg_lo (as neg) and neg_hi (as abs), which mean something for floats only.
pub(super) const fn vop3p(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = line(Format::Vop3p, code, op, name, dst, src, Class::Valu).reads(implicit::EXEC);
    entry.halves = Halves::Packed;
    entry.mods = modifier::CLAMP;
    let mut i = 0;
    while i < 3 {
        if !matches!(src[i], Ty::None) {
            entry.mods |= (modifier::ABS0 | modifier::NEG0) << i;
        }
        i += 1;
    }
    entry
}

pub(super) const fn mfma(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = line(Format::Vop3p, code, op, name, dst, src, Class::Matrix16).reads(implicit::EXEC);
    entry.halves = Halves::Blocks;
    entry
}

/// The matrix is added to: `dst` is read, `src[2]` says which elements of the sparse one there are.
pub(super) const fn smfmac(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    mfma(code, op, name, dst, src).reads_dst()
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
    line(Format::Flat, code, op, name, dst, src, Class::Flat)
        .reads(implicit::EXEC | implicit::FLAT_SCRATCH)
        .forms(segment::ALL)
}

pub(super) const fn mubuf(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mubuf, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

pub(super) const fn mtbuf(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mtbuf, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

pub(super) const fn interpolate(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = vector(Format::Vintrp, code, op, name, dst, src, modifier::E64);
    entry.halves = Halves::Attribute;
    entry.reads(implicit::M0).until(Gcn::Gfx908)
}

pub(super) const fn interpolate_long(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = interpolate(code, op, name, dst, src);
    entry.format = Format::Vop3;
    entry
}

/// Four values, the last of them in `dst`.
pub(super) const fn export(op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Exp, 0, op, name, dst, src, Class::Message).reads(implicit::EXEC).store()
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
        self.dst_read = matches!(self.format, Format::Mubuf | Format::Smem | Format::Mimg);
        if matches!(self.format, Format::Flat) {
            self.forms = segment::FLAT | segment::GLOBAL;
        }
        self
    }

    pub(super) const fn segments(self, segments: u8) -> Entry {
        self.forms(segments)
    }

    pub(super) const fn op_sel(mut self) -> Entry {
        self.halves = Halves::One;
        self
    }

    /// abs and neg as anywhere, and f32 or halves as sources.
    pub(super) const fn mix(mut self) -> Entry {
        self.halves = Halves::Mixed;
        self.mods = !modifier::OMOD;
        self
    }

    pub(super) const fn plain(mut self) -> Entry {
        self.halves = Halves::Moved;
        self.mods = 0;
        self
    }

    pub(super) const fn writes_source(mut self) -> Entry {
        self.swaps = true;
        self
    }

    pub(super) const fn acc_dst(mut self) -> Entry {
        self.acc_dst = true;
        self
    }

    pub(super) const fn acc_source(mut self) -> Entry {
        self.acc_src = true;
        self
    }

    pub(super) const fn since(mut self, gcn: Gcn) -> Entry {
        self.since = gcn;
        self
    }

    pub(super) const fn until(mut self, gcn: Gcn) -> Entry {
        self.until = gcn;
        self
    }

    /// Whether a generation has it.
    pub const fn exists(&self, gcn: Gcn) -> bool {
        self.since as u8 <= gcn as u8 && gcn as u8 <= self.until as u8
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

    pub(super) const fn without(mut self, mods: u8) -> Entry {
        self.mods &= !mods;
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
            Format::Vintrp => Some(self.code + 0x270),
            _ => None,
        }
    }

    /// Conversions from 8-bit floats: SDWA selects a part of the source and nothing else.
    pub const fn selects_source_only(&self) -> bool {
        matches!(self.op, Op::VCvtF32Fp8 | Op::VCvtF32Bf8 | Op::VCvtPkF32Fp8 | Op::VCvtPkF32Bf8)
    }

    /// Operands that op_sel has bits for; conversions with a random addend count what they add to.
    pub const fn selected_sources(&self) -> usize {
        let mut n = 0;
        while n < 3 && !matches!(self.src[n], Ty::None) {
            n += 1;
        }
        match self.op {
            Op::VCvtSrFp8F32 | Op::VCvtSrBf8F32 => n + 1,
            _ => n,
        }
    }

    /// Loads of FLAT and MUBUF whose data can go to local memory instead of registers.
    pub const fn goes_to_lds(&self) -> bool {
        matches!(
            self.op,
            Op::FlatLoadUbyte
                | Op::FlatLoadSbyte
                | Op::FlatLoadUshort
                | Op::FlatLoadSshort
                | Op::FlatLoadDword
        )
    }

    /// Atomics on floats in memory: what gfx908 does not return and gfx90a has no scc for.
    pub const fn is_float_atomic(&self) -> bool {
        self.atomic
            && matches!(self.format, Format::Flat | Format::Mubuf)
            && matches!(self.code & 0x1f, 13..=18)
    }

    /// Dwords in memory that an atomic changes; the data of a buffer's cmpswap has what is expected behind it.
    pub const fn atomic_dwords(&self) -> u8 {
        match (self.format, self.code & 0x1f) {
            (Format::Mubuf | Format::Smem, 1) => self.dst.dwords() / 2,
            _ => self.dst.dwords(),
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
            Format::Sopk => matches!(self.dst, Ty::I32 | Ty::B64) || matches!(self.src[0], Ty::I32 | Ty::B64),
            _ => self.flow.relative(),
        }
    }

    /// v_madmk and v_madak, whose last or middle source is always a literal.
    pub const fn literal_source(&self) -> Option<usize> {
        match self.op {
            Op::VMadmkF32 | Op::VMadmkF16 | Op::VFmamkF32 => Some(1),
            Op::VMadakF32 | Op::VMadakF16 | Op::VFmaakF32 => Some(2),
            _ => None,
        }
    }
}
