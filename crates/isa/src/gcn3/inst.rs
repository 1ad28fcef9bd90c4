//! A decoded instruction: plain data, made once, read by interpreter, scoreboard and disassembler.
//! One shape for all encodings: implicit VCC operands of short forms are filled in.

pub use super::format::Format;

use super::gcn::Gcn;
use super::op::Op;
use super::operand::{Operand, Ty, sreg};
use super::table::{Class, Entry, Halves, implicit};

/// Bits of [`Inst::flags`].
pub mod flag {
    /// Coherent; for atomics: return the old value.
    pub const GLC: u16 = 1;
    pub const SLC: u16 = 1 << 1;
    pub const TFE: u16 = 1 << 2;
    /// MUBUF: data goes to LDS.
    pub const LDS: u16 = 1 << 3;
    pub const OFFEN: u16 = 1 << 4;
    pub const IDXEN: u16 = 1 << 5;
    pub const GDS: u16 = 1 << 6;
    pub const CLAMP: u16 = 1 << 7;
    pub const UNORM: u16 = 1 << 8;
    pub const DA: u16 = 1 << 9;
    pub const R128: u16 = 1 << 10;
    pub const LWE: u16 = 1 << 11;
    pub const D16: u16 = 1 << 12;
    /// scc of gfx90a, sc1 of gfx940.
    pub const SC1: u16 = 1 << 13;
    /// MIMG from gfx9 on: 16-bit addresses.
    pub const A16: u16 = 1 << 14;
}

/// Output modifier of VOP3.
pub mod omod {
    pub const NONE: u8 = 0;
    pub const MUL2: u8 = 1;
    pub const MUL4: u8 = 2;
    pub const DIV2: u8 = 3;
}

/// One instruction, at most 48 bytes.
///
/// Where operands stand, by format (in assembly order unless said otherwise):
/// - scalar and vector ALU: `dst`, `src[0..3]`; `sdst` is the carry or condition pair of VOP3b and of
///   the VOP2 forms that write VCC; a carry or condition read is `src[2]`, VCC in short forms;
/// - v_madmk: `src[1]` is the constant, v_madak: `src[2]`; both are `src0 * src1 + src2`;
///   v_mac has no `src[2]`: it adds to `dst`;
/// - SMEM: `dst` data (read by stores), `src[0]` base, `src[1]` a register offset, else `imm`; from gfx9 on there may be
///   both;
/// - DS: `dst`, `src[0]` address, `src[1]` and `src[2]` data, `imm` offset (two-offset forms: offset0
///   in bits 7:0, offset1 in 15:8);
/// - FLAT: `dst`, `src[0]` address, `src[1]` data; global and scratch also `src[2]` scalar base and `imm` offset, and `src[0]`
///   is then one dword, or none in scratch;
/// - VOP3 with op_sel, VOP3P: `imm` is op_sel in bits 3:0 and op_sel_hi in 6:4, `neg` is neg_lo and `abs` neg_hi;
///   of matrices `imm` is cbsz in bits 2:0, abid in 6:3 and blgp in 9:7;
/// - MUBUF: `dst` data (read by stores, read and written by atomics), `src[0]` vaddr, `src[1]`
///   resource, `src[2]` soffset, `imm` offset;
/// - MTBUF: the same, and `imm` has the data format in bits 15:12 and the number format in 18:16;
/// - MIMG: `dst` data, `src[0]` vaddr, `src[1]` resource, `src[2]` sampler, `imm` dmask;
/// - interpolation: `imm` is the attribute in bits 5:0, its channel in 7:6 and `high` in bit 8, `src[1]` the coordinate or, of
///   v_interp_mov, the corner, `src[2]` what is added;
/// - EXP: `src` and `dst` are the four values, `imm` the fields of the first word: which of them there are in 3:0, the target in 9:4;
/// - SOPK, SOPP: `imm` is the field, sign-extended where the instruction does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    pub op: Op,
    pub format: Format,
    /// What it was decoded for.
    pub gcn: Gcn,
    /// Bytes: 4 or 8.
    pub size: u8,
    /// Bit i: absolute value of `src[i]`, taken before negation.
    pub abs: u8,
    /// Bit i: negated `src[i]`.
    pub neg: u8,
    pub omod: u8,
    /// Scalar destination of a carry or condition, or [`NO_SDST`].
    pub sdst: u8,
    pub flags: u16,
    /// Immediate or offset; for SDWA and DPP the control dword, read by [`Inst::sdwa`] and [`Inst::dpp`].
    pub imm: i32,
    pub dst: Operand,
    pub src: [Operand; 3],
}

/// No scalar destination.
pub const NO_SDST: u8 = 0xff;

/// Part of a register an SDWA operand selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sel {
    Byte(u8),
    Word(u8),
    Dword,
}

impl Sel {
    pub(super) fn from_bits(bits: u32) -> Option<Sel> {
        Some(match bits & 7 {
            b @ 0..=3 => Sel::Byte(b as u8),
            b @ 4..=5 => Sel::Word(b as u8 - 4),
            6 => Sel::Dword,
            _ => return None,
        })
    }
}

/// What happens to the bits of the destination an SDWA instruction does not select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Zeroed.
    Pad,
    /// Sign of the result.
    Sext,
    Preserve,
}

/// The selections of an SDWA instruction; sources have their absolute/negated bits in [`Inst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    pub dst_sel: Sel,
    pub unused: Unused,
    pub src_sel: [Sel; 2],
    pub sext: [bool; 2],
}

/// Where lanes take `src[0]` from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DppCtrl {
    /// Lane i of four reads lane `(value >> 2 * i) & 3`.
    QuadPerm(u8),
    RowShl(u8),
    RowShr(u8),
    RowRor(u8),
    WaveShl,
    WaveRol,
    WaveShr,
    WaveRor,
    RowMirror,
    RowHalfMirror,
    RowBcast15,
    RowBcast31,
    /// One lane of each row of 16 is read by all (gfx90a and later).
    RowNewBcast(u8),
}

impl DppCtrl {
    /// From the 9-bit field; none where the machine defines nothing.
    pub fn from_bits(bits: u32) -> Option<DppCtrl> {
        Some(match bits {
            0..=0xff => DppCtrl::QuadPerm(bits as u8),
            0x101..=0x10f => DppCtrl::RowShl(bits as u8 & 15),
            0x111..=0x11f => DppCtrl::RowShr(bits as u8 & 15),
            0x121..=0x12f => DppCtrl::RowRor(bits as u8 & 15),
            0x130 => DppCtrl::WaveShl,
            0x134 => DppCtrl::WaveRol,
            0x138 => DppCtrl::WaveShr,
            0x13c => DppCtrl::WaveRor,
            0x140 => DppCtrl::RowMirror,
            0x141 => DppCtrl::RowHalfMirror,
            0x142 => DppCtrl::RowBcast15,
            0x143 => DppCtrl::RowBcast31,
            0x150..=0x15f => DppCtrl::RowNewBcast(bits as u8 & 15),
            _ => return None,
        })
    }
}

/// The lane movement of a DPP instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpp {
    pub ctrl: DppCtrl,
    /// Lanes without a source read zero instead of keeping their destination.
    pub bound_ctrl: bool,
    pub bank_mask: u8,
    pub row_mask: u8,
}

/// An operand with what the instruction does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub operand: Operand,
    pub dwords: u8,
    pub read: bool,
    pub write: bool,
}

impl Inst {
    /// An instruction of gfx8 without operands, to be filled in.
    pub fn new(op: Op, format: Format) -> Inst {
        Inst::of(Gcn::Gfx8, op, format)
    }

    /// The same for a generation.
    pub fn of(gcn: Gcn, op: Op, format: Format) -> Inst {
        Inst {
            op,
            format,
            gcn,
            size: 4,
            abs: 0,
            neg: 0,
            omod: 0,
            sdst: NO_SDST,
            flags: 0,
            imm: 0,
            dst: Operand::None,
            src: [Operand::None; 3],
        }
    }

    /// The table line.
    #[inline(always)]
    pub fn entry(&self) -> &'static Entry {
        self.op.line(self.gcn)
    }

    /// The timing class: accesses that are known to be global or private do not go to local memory.
    pub fn class(&self) -> Class {
        match self.format {
            Format::Global | Format::Scratch => Class::Vmem,
            Format::Vop3p if self.entry().halves == Halves::Blocks => self.matrix_class(),
            _ => self.entry().class,
        }
    }

    /// Passes of a matrix operation, by rows and columns. From gfx940 on one block of short elements takes half of them.
    /// As LLVM 19's model of the machines has them.
    fn matrix_class(&self) -> Class {
        let entry = self.entry();
        let name = entry.op.name();
        let double = name.starts_with("v_mfma_f64");
        let one_block = entry.dst.dwords() == if name.contains("_32x32x") { 16 } else { 4 };
        let whole = name.ends_with("f32") && !name.ends_with("xf32");
        let short = self.gcn >= Gcn::Gfx940 && one_block && !whole;
        match () {
            () if name.contains("_4x4x") && double => Class::Matrix4,
            () if name.contains("_4x4x") => Class::Matrix2,
            () if name.contains("_16x16x") && short => Class::Matrix4,
            () if name.contains("_16x16x") || short => Class::Matrix8,
            () => Class::Matrix16,
        }
    }

    /// What the low and the high result of a packed operation take of each source, a bit for each source: the high part.
    pub fn op_sel(&self) -> (u8, u8) {
        (self.imm as u8 & 15, (self.imm >> 4) as u8 & 7)
    }

    /// cbsz, abid and blgp of a matrix operation.
    pub fn blocks(&self) -> (u8, u8, u8) {
        (self.imm as u8 & 7, (self.imm >> 3) as u8 & 15, (self.imm >> 7) as u8 & 7)
    }

    #[inline(always)]
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    #[inline(always)]
    pub fn clamp(&self) -> bool {
        self.has(flag::CLAMP)
    }

    /// Selections of an SDWA instruction. Fields VOPC does not have read as a whole dword.
    pub fn sdwa(&self) -> Option<Sdwa> {
        if self.format != Format::Sdwa {
            return None;
        }
        let c = self.imm as u32;
        let sel = |shift: u32| Sel::from_bits(c >> shift).unwrap_or(Sel::Dword);
        let compare = self.entry().format == Format::Vopc;
        Some(Sdwa {
            dst_sel: if compare { Sel::Dword } else { sel(8) },
            // From gfx9 on these bits of a comparison are its destination.
            unused: match c >> 11 & 3 {
                _ if compare && self.gcn > Gcn::Gfx8 => Unused::Pad,
                1 => Unused::Sext,
                2 => Unused::Preserve,
                _ => Unused::Pad,
            },
            src_sel: [sel(16), sel(24)],
            sext: [c >> 19 & 1 == 1, c >> 27 & 1 == 1],
        })
    }

    /// Lane movement of a DPP instruction.
    pub fn dpp(&self) -> Option<Dpp> {
        if self.format != Format::Dpp {
            return None;
        }
        let c = self.imm as u32;
        Some(Dpp {
            ctrl: DppCtrl::from_bits(c >> 8 & 0x1ff)?,
            bound_ctrl: c >> 19 & 1 == 1,
            bank_mask: (c >> 24 & 15) as u8,
            row_mask: (c >> 28) as u8,
        })
    }

    /// Type of `dst`; image data depends on dmask, 16-bit data and tfe.
    pub fn dst_dwords(&self) -> u8 {
        let entry = self.entry();
        match self.format {
            Format::Mimg => {
                let used = (self.imm as u32 & 15).count_ones().max(1) as u8;
                let channels = if entry.name.starts_with("image_gather4") { 4 } else { used };
                channels + u8::from(self.has(flag::TFE))
            }
            Format::Mubuf | Format::Mtbuf => match entry.dst.dwords() {
                0 => 0,
                n => n + u8::from(self.has(flag::TFE)),
            },
            _ => entry.dst.dwords(),
        }
    }

    /// Whether EXP has value `i`. Compressed values are two in a register, so that the last two have none.
    pub fn exports(&self, i: u32) -> bool {
        let enabled = self.imm as u32 & 15;
        match self.imm as u32 >> 10 & 1 {
            1 if i > 1 => false,
            1 => enabled >> (2 * i) & 3 != 0,
            _ => enabled >> i & 1 == 1,
        }
    }

    /// Dwords of `src[i]` in registers.
    pub fn src_dwords(&self, i: usize) -> u8 {
        let both = flag::OFFEN | flag::IDXEN;
        match self.format {
            Format::Mubuf | Format::Mtbuf if i == 0 => match self.flags & both {
                0 => 0,
                f if f == both => 2,
                _ => 1,
            },
            Format::Global | Format::Scratch if self.src[i] == Operand::None => 0,
            Format::Global if i == 2 => 2,
            Format::Global if i == 0 && self.src[2] != Operand::None => 1,
            Format::Scratch if i != 1 => 1,
            _ => self.entry().src[i].dwords(),
        }
    }

    /// Every register operand with its width and direction, implicit ones included.
    pub fn uses(&self) -> Vec<Use> {
        let mut out = Vec::with_capacity(6);
        self.each_use(|used| out.push(used));
        out
    }

    /// The same, one after the other.
    pub(super) fn each_use(&self, mut each: impl FnMut(Use)) {
        let entry = self.entry();
        let mut push = |operand, dwords, read, write| {
            let register =
                matches!(operand, Operand::Vgpr(_) | Operand::Sgpr(_) | Operand::Agpr(_) | Operand::Scc);
            if register && dwords > 0 {
                each(Use { operand, dwords, read, write });
            }
        };
        let (mut read, mut write) = (entry.dst_read, entry.dst_written);
        let memory = matches!(
            self.format,
            Format::Mubuf | Format::Flat | Format::Global | Format::Mimg | Format::Smem
        );
        if memory && entry.atomic {
            (read, write) = (read, self.has(flag::GLC));
        }
        if self.has(flag::LDS) {
            (read, write) = (false, false);
        }
        let partial = self.sdwa().is_some_and(|s| s.unused == Unused::Preserve)
            || self.format == Format::Dpp
            || self.keeps_half();
        push(self.dst, self.dst_dwords(), read || partial, write);
        if self.sdst != NO_SDST {
            push(Operand::Sgpr(self.sdst), 2, false, true);
        }
        for i in (0..3).filter(|&i| self.src[i] != Operand::None) {
            push(self.src[i], self.src_dwords(i), true, entry.swaps && i == 0);
        }
        if self.src.contains(&Operand::LdsDirect) {
            push(Operand::M0, 1, true, false);
        }
        if self.src.contains(&Operand::VccZ) {
            push(Operand::VCC, 2, true, false);
        }
        if self.src.contains(&Operand::ExecZ) {
            push(Operand::EXEC, 2, true, false);
        }
        if entry.reads | entry.writes == 0 {
            return;
        }
        let registers = [
            (implicit::SCC, Operand::Scc, 1),
            (implicit::VCC, Operand::VCC, 2),
            (implicit::EXEC, Operand::EXEC, 2),
            (implicit::M0, Operand::M0, 1),
            (implicit::FLAT_SCRATCH, Operand::Sgpr(sreg::FLAT_SCRATCH), 2),
        ];
        for (bit, operand, dwords) in registers {
            let (mut read, write) = (entry.reads & bit != 0, entry.writes & bit != 0);
            if self.gcn > Gcn::Gfx8 && !write {
                // Local memory needs no M0 from gfx9 on, and only flat addresses need FLAT_SCRATCH.
                let local = bit == implicit::M0 && self.format == Format::Ds && !entry.gds_only;
                let global = bit == implicit::FLAT_SCRATCH && self.format == Format::Global;
                read &= (!local || self.reads_m0()) && !global;
            }
            if read || write {
                push(operand, dwords, read, write);
            }
        }
    }

    /// Whether it does what no instruction of gfx8 does: analyses that were written for those ask.
    pub fn is_later(&self) -> bool {
        let entry = self.entry();
        let accumulator = |o: &Operand| matches!(o, Operand::Agpr(_));
        let scalar = self.format == Format::Smem
            && (entry.atomic || self.imm < 0 || self.imm != 0 && self.src[1] != Operand::None);
        entry.swaps
            || scalar
            || self.op == Op::SCallB64
            || accumulator(&self.dst)
            || self.src.iter().any(accumulator)
    }

    /// DS instructions of gfx9 that do read M0.
    fn reads_m0(&self) -> bool {
        self.has(flag::GDS)
            || matches!(self.op, Op::DsReadAddtidB32 | Op::DsWriteAddtidB32 | Op::DsAppend | Op::DsConsume)
    }

    /// 16-bit results that leave the other half of the destination as it is, from gfx9 on.
    pub fn keeps_half(&self) -> bool {
        let entry = self.entry();
        match entry.halves {
            Halves::One => entry.dst.bits() == 16 || matches!(self.op, Op::VCvtPkFp8F32 | Op::VCvtPkBf8F32),
            Halves::Mixed => entry.dst == Ty::F16,
            Halves::Whole => {
                self.gcn > Gcn::Gfx8
                    && matches!(self.op, Op::VMacF16 | Op::VMadmkF16 | Op::VMadakF16)
                    && self.format != Format::Sdwa
            }
            Halves::Packed | Halves::Moved | Halves::Blocks | Halves::Attribute => false,
        }
    }

    /// Word offset of a SOPP branch target from the next instruction.
    pub fn branch_words(&self) -> Option<i32> {
        self.entry().flow.relative().then_some(self.imm)
    }

    /// Type of `src[i]`.
    #[inline(always)]
    pub fn src_ty(&self, i: usize) -> Ty {
        self.entry().src[i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact() {
        assert!(size_of::<Inst>() <= 48, "{}", size_of::<Inst>());
    }
    /// Reads and writes of a line, as register names with `:n` for the dwords.
    fn uses(line: &str) -> (Vec<String>, Vec<String>) {
        let inst = crate::gcn3::parse_line(line).unwrap();
        let name = |u: &Use| format!("{:?}:{}", u.operand, u.dwords);
        let all = inst.uses();
        let pick = |want: fn(&Use) -> bool| all.iter().filter(|u| want(u)).map(name).collect();
        (pick(|u| u.read), pick(|u| u.write))
    }

    #[test]
    fn registers_read_and_written() {
        let (reads, writes) = uses("v_addc_u32 v1, vcc, v2, v3, vcc");
        assert_eq!(reads, ["Vgpr(2):1", "Vgpr(3):1", "Sgpr(106):2", "Sgpr(126):2"]);
        assert_eq!(writes, ["Vgpr(1):1", "Sgpr(106):2"]);
        let (reads, writes) = uses("flat_atomic_add_x2 v[0:1], v[2:3], v[4:5] glc");
        assert_eq!(reads, ["Vgpr(2):2", "Vgpr(4):2", "Sgpr(126):2", "Sgpr(102):2"]);
        assert_eq!(writes, ["Vgpr(0):2"]);
        assert!(uses("flat_atomic_add v[2:3], v4").1.is_empty());
        assert_eq!(uses("buffer_atomic_add v0, off, s[4:7], 0").0, ["Vgpr(0):1", "Sgpr(4):4", "Sgpr(126):2"]);
        assert!(uses("buffer_store_dwordx3 v[0:2], v3, s[4:7], s0 offen").1.is_empty());
        assert_eq!(uses("s_and_saveexec_b64 s[0:1], vcc").1, ["Sgpr(0):2", "Scc:1", "Sgpr(126):2"]);
        assert_eq!(uses("v_cmpx_eq_u32 vcc, v0, v1").1, ["Sgpr(106):2", "Sgpr(126):2"]);
        assert_eq!(uses("v_mac_f32 v0, v1, v2").0, ["Vgpr(0):1", "Vgpr(1):1", "Vgpr(2):1", "Sgpr(126):2"]);
        assert_eq!(uses("s_store_dwordx2 s[2:3], s[4:5], 0x10").1, Vec::<String>::new());
        assert_eq!(uses("s_cbranch_vccz 3").0, ["Sgpr(106):2"]);
    }
}
