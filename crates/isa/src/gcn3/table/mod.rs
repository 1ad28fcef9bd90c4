//! The instruction table: one line per operation, from which decoder, assembler, disassembler and
//! static facts follow. Lines are grouped by the shortest encoding; longer ones follow from it.

mod ds;
mod flat;
mod mimg;
mod mubuf;
mod smem;
mod sop;
mod vop;
mod vop3;
mod vopc;

use super::inst::Format;
use super::op::Op;
use super::operand::Ty;
use std::collections::HashMap;
use std::sync::LazyLock;

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

const fn sop2(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sop2, code, op, name, dst, src, Class::Salu)
}

const fn sop1(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sop1, code, op, name, dst, src, Class::Salu)
}

const fn sopc(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopc, code, op, name, dst, src, Class::Salu)
}

const fn sopk(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopk, code, op, name, dst, src, Class::Salu)
}

const fn sopp(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Sopp, code, op, name, dst, src, Class::Salu)
}

const fn smem(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Smem, code, op, name, dst, src, Class::Smem)
}

const fn vop1(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    vector(Format::Vop1, code, op, name, dst, src, modifier::E64 | modifier::SDWA | modifier::DPP)
}

const fn vop2(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    vector(Format::Vop2, code, op, name, dst, src, modifier::E64 | modifier::SDWA | modifier::DPP)
}

const fn vopc(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    let mut entry = vector(Format::Vopc, code, op, name, dst, src, modifier::E64 | modifier::SDWA);
    if src[0].is_float() && src[1].is_float() {
        entry.mods |= modifier::CLAMP;
    }
    entry
}

const fn vop3(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
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

const fn ds(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Ds, code, op, name, dst, src, Class::Lds).reads(implicit::EXEC | implicit::M0)
}

const fn flat(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Flat, code, op, name, dst, src, Class::Flat).reads(implicit::EXEC | implicit::FLAT_SCRATCH)
}

const fn mubuf(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mubuf, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

const fn mimg(code: u16, op: Op, name: &'static str, dst: Ty, src: [Ty; 3]) -> Entry {
    line(Format::Mimg, code, op, name, dst, src, Class::Vmem).reads(implicit::EXEC)
}

impl Entry {
    const fn reads(mut self, registers: u8) -> Entry {
        self.reads |= registers;
        self
    }

    const fn writes(mut self, registers: u8) -> Entry {
        self.writes |= registers;
        self
    }

    const fn reads_dst(mut self) -> Entry {
        self.dst_read = true;
        self
    }

    const fn scalar_dst(mut self) -> Entry {
        self.scalar_dst = true;
        self
    }

    const fn carry(mut self) -> Entry {
        self.carry = true;
        self
    }

    const fn store(mut self) -> Entry {
        self.dst_read = true;
        self.dst_written = false;
        self
    }

    const fn atomic(mut self) -> Entry {
        self.atomic = true;
        self.dst_read = matches!(self.format, Format::Mubuf);
        self
    }

    const fn two_offsets(mut self) -> Entry {
        self.two_offsets = true;
        self
    }

    const fn gds_only(mut self) -> Entry {
        self.gds_only = true;
        self
    }

    const fn forms(mut self, forms: u8) -> Entry {
        self.forms = forms;
        self
    }

    const fn mods(mut self, mods: u8) -> Entry {
        self.mods = mods;
        self
    }

    const fn class(mut self, class: Class) -> Entry {
        self.class = class;
        self
    }

    const fn flow(mut self, flow: Ctl) -> Entry {
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

const GROUPS: [&[Entry]; 14] = [
    sop::SOP2,
    sop::SOP1,
    sop::SOPC,
    sop::SOPK,
    sop::SOPP,
    smem::SMEM,
    vop::VOP1,
    vop::VOP2,
    vopc::VOPC,
    vop3::VOP3,
    ds::DS,
    flat::FLAT,
    mubuf::MUBUF,
    mimg::MIMG,
];

const fn count() -> usize {
    let mut n = 0;
    let mut g = 0;
    while g < GROUPS.len() {
        n += GROUPS[g].len();
        g += 1;
    }
    n
}

/// All lines in the order of [`Op`].
pub static TABLE: [Entry; count()] = {
    let mut table = [GROUPS[0][0]; count()];
    let (mut g, mut n) = (0, 0);
    while g < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[g].len() {
            assert!(GROUPS[g][i].op as usize == n, "table and Op differ in order");
            table[n] = GROUPS[g][i];
            i += 1;
            n += 1;
        }
        g += 1;
    }
    table
};

const NO_OP: u16 = u16::MAX;

/// Opcode number to table index, per encoding.
const fn index<const N: usize>(group: &[Entry], long: bool) -> [u16; N] {
    let mut codes = [NO_OP; N];
    let mut i = 0;
    while i < group.len() {
        let code = if long { group[i].vop3_code() } else { Some(group[i].code) };
        if let Some(code) = code {
            assert!(codes[code as usize] == NO_OP, "two operations with one code");
            codes[code as usize] = group[i].op as u16;
        }
        i += 1;
    }
    codes
}

static SOP2: [u16; 128] = index(sop::SOP2, false);
static SOP1: [u16; 256] = index(sop::SOP1, false);
static SOPC: [u16; 128] = index(sop::SOPC, false);
static SOPK: [u16; 32] = index(sop::SOPK, false);
static SOPP: [u16; 128] = index(sop::SOPP, false);
static SMEM: [u16; 256] = index(smem::SMEM, false);
static VOP1: [u16; 256] = index(vop::VOP1, false);
static VOP2: [u16; 64] = index(vop::VOP2, false);
static VOPC: [u16; 256] = index(vopc::VOPC, false);
static DS: [u16; 256] = index(ds::DS, false);
static FLAT: [u16; 128] = index(flat::FLAT, false);
static MUBUF: [u16; 128] = index(mubuf::MUBUF, false);
static MIMG: [u16; 128] = index(mimg::MIMG, false);
static VOP3: [u16; 1024] = index(&TABLE, true);

/// The operation with this code in this encoding (for SDWA and DPP ask for VOP1, VOP2 or VOPC).
pub fn by_code(format: Format, code: u32) -> Option<Op> {
    let codes: &[u16] = match format {
        Format::Sop2 => &SOP2,
        Format::Sop1 => &SOP1,
        Format::Sopc => &SOPC,
        Format::Sopk => &SOPK,
        Format::Sopp => &SOPP,
        Format::Smem => &SMEM,
        Format::Vop1 => &VOP1,
        Format::Vop2 => &VOP2,
        Format::Vopc => &VOPC,
        Format::Vop3 => &VOP3,
        Format::Ds => &DS,
        Format::Flat => &FLAT,
        Format::Mubuf => &MUBUF,
        Format::Mimg => &MIMG,
        Format::Sdwa | Format::Dpp => return None,
    };
    let &n = codes.get(code as usize)?;
    TABLE.get(usize::from(n)).map(|entry| entry.op)
}

/// The operation of a mnemonic without suffix.
pub fn by_name(name: &str) -> Option<Op> {
    static NAMES: LazyLock<HashMap<&'static str, Op>> =
        LazyLock::new(|| TABLE.iter().map(|entry| (entry.name, entry.op)).collect());
    NAMES.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_match_the_enum() {
        for entry in &TABLE {
            assert_eq!(by_name(entry.name), Some(entry.op));
            let camel: String = entry.name.split('_').map(|w| w[..1].to_uppercase() + &w[1..]).collect();
            assert_eq!(camel, format!("{:?}", entry.op));
        }
    }

    #[test]
    fn codes_lead_back() {
        for entry in &TABLE {
            assert_eq!(by_code(entry.format, entry.code.into()), Some(entry.op), "{}", entry.name);
            if let Some(code) = entry.vop3_code() {
                assert_eq!(by_code(Format::Vop3, code.into()), Some(entry.op), "{}", entry.name);
            }
        }
        assert_eq!(
            Op::VCmpxNgtF64.entry().compare(),
            Some(Compare { condition: 11, class: false, exec: true })
        );
    }
}
