//! [`Inst`] to text, as llvm-objdump 19 prints it for the generation it was decoded for.

mod graphics;

use super::gcn::Gcn;
use super::generation::Caching;
use super::inst::{DppCtrl, Format, Inst, NO_SDST, Sel, Unused, flag, omod};
use super::op::Op;
use super::operand::{InlineFloat, Operand, Ty, range, scalar_name};
use super::symbols;
use super::table::{Halves, modifier};
use std::fmt::Write;

/// One instruction as text. Branch targets are the 16-bit field, in words after the next instruction.
pub fn disassemble(inst: &Inst) -> String {
    text(inst, None)
}

/// The same with the target of a relative branch named.
pub fn disassemble_to(inst: &Inst, target: &str) -> String {
    text(inst, Some(target))
}

fn text(inst: &Inst, target: Option<&str>) -> String {
    let mut p = Printer { out: String::with_capacity(48), inst, first: true };
    p.name();
    p.out.push_str(suffix(inst));
    match inst.format {
        Format::Vop3 | Format::Vintrp if inst.entry().halves == Halves::Attribute => p.interpolation(),
        Format::Sop1 | Format::Sop2 | Format::Sopc => p.scalar_alu(),
        Format::Sopk => p.sopk(),
        Format::Sopp => p.sopp(target),
        Format::Smem => p.smem(),
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3p
        | Format::Sdwa
        | Format::Dpp
        | Format::Vintrp => p.vector(),
        Format::Ds => p.ds(),
        Format::Flat | Format::Global | Format::Scratch => p.flat(),
        Format::Mubuf | Format::Mtbuf => p.buffer(),
        Format::Mimg => p.mimg(),
        Format::Exp => p.export(),
    }
    p.out
}

/// The encoding's suffix, where the operation has more than one encoding.
pub(in crate::gcn3) fn suffix(inst: &Inst) -> &'static str {
    let entry = inst.entry();
    let short = matches!(entry.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp);
    let reads = entry.src[0] != Ty::None || entry.halves == Halves::Attribute;
    let named = short && entry.forms & (modifier::E64 | modifier::NAMED) != 0 && reads;
    match inst.format {
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp if named => "_e32",
        Format::Vop3 if named => "_e64",
        Format::Sdwa if entry.format != Format::Vopc || inst.gcn > Gcn::Gfx8 => "_sdwa",
        Format::Dpp => "_dpp",
        _ => "",
    }
}

struct Printer<'a> {
    out: String,
    inst: &'a Inst,
    first: bool,
}

impl Printer<'_> {
    /// The mnemonic without suffix; the segments of FLAT have names of their own.
    fn name(&mut self) {
        let name = self.inst.entry().name;
        let segment = match self.inst.format {
            Format::Global => "global",
            Format::Scratch => "scratch",
            _ => return self.out.push_str(name),
        };
        self.out.push_str(segment);
        self.out.push_str(name.trim_start_matches("flat"));
    }

    /// Starts the next operand.
    fn next(&mut self) {
        self.out.push_str(if self.first { " " } else { ", " });
        self.first = false;
    }

    fn register(&mut self, operand: Operand, dwords: u8) {
        self.next();
        let _ = match operand {
            Operand::Vgpr(n) => range(&mut self.out, "v", n.into(), dwords),
            Operand::Agpr(n) => range(&mut self.out, "a", n.into(), dwords),
            Operand::Sgpr(n) => scalar_name(&mut self.out, self.inst.gcn, n, dwords),
            _ => self.out.write_str("off"),
        };
    }

    fn value(&mut self, operand: Operand, ty: Ty) {
        let out = &mut self.out;
        let _ = match operand {
            Operand::None => out.write_str("off"),
            Operand::Vgpr(n) => range(out, "v", n.into(), ty.dwords()),
            Operand::Agpr(n) => range(out, "a", n.into(), ty.dwords()),
            Operand::Sgpr(n) => scalar_name(out, self.inst.gcn, n, ty.dwords()),
            Operand::Window(window) => out.write_str(window.name()),
            Operand::InlineInt(n) => write!(out, "{n}"),
            Operand::InlineFloat(f) if ty.bits() == 16 && !ty.is_float() => write!(out, "{:#x}", f.bits16()),
            Operand::InlineFloat(f) => out.write_str(float_text(f, ty)),
            Operand::Literal(n) => literal(out, n, ty),
            Operand::VccZ => out.write_str("src_vccz"),
            Operand::ExecZ => out.write_str("src_execz"),
            Operand::Scc => out.write_str("src_scc"),
            Operand::LdsDirect => out.write_str("src_lds_direct"),
        };
    }

    /// A source with its modifiers.
    fn source(&mut self, i: usize) {
        let inst = self.inst;
        self.next();
        if inst.entry().literal_source() == Some(i) {
            if let Operand::Literal(n) = inst.src[i] {
                let _ = write!(self.out, "{n:#x}");
            }
            return;
        }
        let packed = inst.entry().halves == Halves::Packed;
        let (neg, abs) = (inst.neg >> i & 1 == 1 && !packed, inst.abs >> i & 1 == 1 && !packed);
        let sext = inst.sdwa().is_some_and(|s| i < 2 && s.sext[i]);
        let wrap = neg && !abs && inst.src[i].is_constant();
        self.out.push_str(match (neg, wrap) {
            (false, _) => "",
            (true, false) => "-",
            (true, true) => "neg(",
        });
        self.out.push_str(if sext { "sext(" } else { "" });
        self.out.push_str(if abs { "|" } else { "" });
        // LLVM takes the exponent of v_ldexp_f16 for 32 bits.
        let exponent = inst.op == Op::VLdexpF16 && i == 1;
        self.value(inst.src[i], if exponent { Ty::I32 } else { inst.src_ty(i) });
        self.out.push_str(if abs { "|" } else { "" });
        self.out.push_str(if sext { ")" } else { "" });
        self.out.push_str(if wrap { ")" } else { "" });
    }

    fn flag(&mut self, flag: u16, name: &str) {
        if self.inst.has(flag) {
            self.out.push(' ');
            self.out.push_str(name);
        }
    }

    fn scalar_alu(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if entry.dst != Ty::None {
            self.register(inst.dst, entry.dst.dwords());
        }
        for i in 0..2 {
            match entry.src[i] {
                Ty::None => {}
                Ty::Imm16 => {
                    self.next();
                    symbols::index_mode(&mut self.out, inst.imm as u32);
                }
                _ => self.source(i),
            }
        }
    }

    fn sopk(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        let field = inst.imm as u32 & 0xffff;
        match entry.op {
            Op::SSetregB32 | Op::SSetregImm32B32 => {
                self.next();
                symbols::hwreg(&mut self.out, inst.gcn, field);
                self.source(1);
                return;
            }
            _ if entry.dst != Ty::None => self.register(inst.dst, entry.dst.dwords()),
            _ => self.source(0),
        }
        self.next();
        let _ = match entry.op {
            Op::SGetregB32 => {
                symbols::hwreg(&mut self.out, inst.gcn, field);
                Ok(())
            }
            Op::SCbranchIFork | Op::SCallB64 => write!(self.out, "{field}"),
            _ => write!(self.out, "{field:#x}"),
        };
    }

    fn sopp(&mut self, target: Option<&str>) {
        let inst = self.inst;
        let entry = inst.entry();
        let field = inst.imm as u32 & 0xffff;
        if entry.src[0] == Ty::None || (inst.op == Op::SEndpgm && field == 0) {
            return;
        }
        self.next();
        let out = &mut self.out;
        match inst.op {
            Op::SWaitcnt => symbols::waitcnt(out, inst.gcn, field),
            Op::SSendmsg | Op::SSendmsghalt => symbols::sendmsg(out, inst.gcn, field),
            Op::SSetGprIdxMode => symbols::index_mode(out, field),
            _ => {
                let _ = match target {
                    Some(name) if entry.flow.relative() => out.write_str(name),
                    _ if entry.flow.relative() || inst.op == Op::SEndpgm => write!(out, "{field}"),
                    _ if field <= 64 => write!(out, "{field}"),
                    _ => write!(out, "{field:#x}"),
                };
            }
        }
    }

    fn smem(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if let Operand::InlineInt(asked) = inst.dst {
            self.next();
            let _ = if asked <= 64 { write!(self.out, "{asked}") } else { write!(self.out, "{asked:#x}") };
        } else if entry.dst != Ty::None {
            self.register(inst.dst, entry.dst.dwords());
        }
        if entry.src[0] != Ty::None {
            self.register(inst.src[0], entry.src[0].dwords());
            if inst.src[1] == Operand::None {
                self.next();
                let sign = if inst.imm < 0 { "-" } else { "" };
                let _ = write!(self.out, "{sign}{:#x}", inst.imm.unsigned_abs());
            } else {
                self.source(1);
                if inst.imm != 0 {
                    let sign = if inst.imm < 0 { "-" } else { "" };
                    let _ = write!(self.out, " offset:{sign}{:#x}", inst.imm.unsigned_abs());
                }
            }
            self.flag(flag::GLC, "glc");
        }
    }

    fn vector(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if entry.dst != Ty::None {
            self.register(inst.dst, entry.dst.dwords());
        }
        if inst.sdst != NO_SDST {
            self.register(Operand::Sgpr(inst.sdst), 2);
        }
        for i in 0..3 {
            if entry.src[i] != Ty::None {
                self.source(i);
            }
        }
        self.selections();
        self.result();
        self.sdwa();
        self.dpp();
    }

    /// What happens to a result.
    fn result(&mut self) {
        self.flag(flag::CLAMP, "clamp");
        self.out.push_str(match self.inst.omod {
            omod::MUL2 => " mul:2",
            omod::MUL4 => " mul:4",
            omod::DIV2 => " div:2",
            _ => "",
        });
    }

    /// Halves and blocks.
    fn selections(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        let sources = entry.selected_sources();
        let (low, high) = inst.op_sel();
        let all = (1 << sources) - 1;
        match entry.halves {
            Halves::Whole | Halves::Moved | Halves::Attribute => {}
            Halves::One => {
                if low != 0 && inst.format == Format::Vop3 {
                    // Missing sources leave no gap: the destination comes last.
                    self.list("op_sel", low & all | (low >> 3) << sources, sources + 1);
                }
            }
            Halves::Packed => {
                if low != 0 {
                    self.list("op_sel", low, sources);
                }
                if high != all {
                    self.list("op_sel_hi", high, sources);
                }
                for (name, bits) in [("neg_lo", inst.neg), ("neg_hi", inst.abs)] {
                    if bits != 0 {
                        self.list(name, bits, sources);
                    }
                }
            }
            Halves::Mixed => {
                for (name, bits) in [("op_sel", low), ("op_sel_hi", high)] {
                    if bits != 0 {
                        self.list(name, bits, sources);
                    }
                }
            }
            Halves::Blocks => {
                let (cbsz, abid, blgp) = inst.blocks();
                let f64 = entry.name.starts_with("v_mfma_f64") && inst.gcn >= Gcn::Gfx940;
                for (name, value) in [("cbsz", cbsz), ("abid", abid), ("blgp", blgp)] {
                    if name == "blgp" && f64 && value != 0 {
                        self.list("neg", value, 3);
                    } else if value != 0 {
                        let _ = write!(self.out, " {name}:{value}");
                    }
                }
            }
        }
    }

    /// ` name:[1,0]`.
    fn list(&mut self, name: &str, bits: u8, count: usize) {
        let bits: Vec<&str> = (0..count).map(|i| if bits >> i & 1 == 1 { "1" } else { "0" }).collect();
        let _ = write!(self.out, " {name}:[{}]", bits.join(","));
    }

    fn sdwa(&mut self) {
        let Some(sdwa) = self.inst.sdwa() else { return };
        let format = self.inst.entry().format;
        if format != Format::Vopc && !self.inst.entry().selects_source_only() {
            let unused = match sdwa.unused {
                Unused::Pad => "UNUSED_PAD",
                Unused::Sext => "UNUSED_SEXT",
                Unused::Preserve => "UNUSED_PRESERVE",
            };
            let _ = write!(self.out, " dst_sel:{} dst_unused:{unused}", sel_name(sdwa.dst_sel));
        }
        let _ = write!(self.out, " src0_sel:{}", sel_name(sdwa.src_sel[0]));
        if format != Format::Vop1 {
            let _ = write!(self.out, " src1_sel:{}", sel_name(sdwa.src_sel[1]));
        }
    }

    fn dpp(&mut self) {
        let Some(dpp) = self.inst.dpp() else { return };
        let out = &mut self.out;
        let _ = match dpp.ctrl {
            DppCtrl::QuadPerm(p) => {
                write!(out, " quad_perm:[{},{},{},{}]", p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6)
            }
            DppCtrl::RowShl(n) => write!(out, " row_shl:{n}"),
            DppCtrl::RowShr(n) => write!(out, " row_shr:{n}"),
            DppCtrl::RowRor(n) => write!(out, " row_ror:{n}"),
            DppCtrl::WaveShl => out.write_str(" wave_shl:1"),
            DppCtrl::WaveRol => out.write_str(" wave_rol:1"),
            DppCtrl::WaveShr => out.write_str(" wave_shr:1"),
            DppCtrl::WaveRor => out.write_str(" wave_ror:1"),
            DppCtrl::RowMirror => out.write_str(" row_mirror"),
            DppCtrl::RowHalfMirror => out.write_str(" row_half_mirror"),
            DppCtrl::RowBcast15 => out.write_str(" row_bcast:15"),
            DppCtrl::RowBcast31 => out.write_str(" row_bcast:31"),
            DppCtrl::RowNewBcast(n) => write!(out, " row_newbcast:{n}"),
        };
        let _ = write!(out, " row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask);
        out.push_str(if dpp.bound_ctrl { " bound_ctrl:1" } else { "" });
    }

    fn ds(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if entry.dst != Ty::None {
            self.register(inst.dst, entry.dst.dwords());
        }
        for i in 0..3 {
            if entry.src[i] != Ty::None {
                self.register(inst.src[i], entry.src[i].dwords());
            }
        }
        let offset = inst.imm as u32 & 0xffff;
        if entry.two_offsets {
            for (name, value) in [("offset0", offset & 0xff), ("offset1", offset >> 8)] {
                if value != 0 {
                    let _ = write!(self.out, " {name}:{value}");
                }
            }
        } else if offset != 0 {
            self.out.push_str(" offset:");
            if inst.op == Op::DsSwizzleB32 {
                symbols::swizzle(&mut self.out, offset);
            } else {
                let _ = write!(self.out, "{offset}");
            }
        }
        self.flag(flag::GDS, "gds");
    }

    fn flat(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if entry.dst != Ty::None && inst.dst != Operand::None {
            self.register(inst.dst, entry.dst.dwords());
        }
        self.register(inst.src[0], inst.src_dwords(0));
        if entry.src[1] != Ty::None {
            self.register(inst.src[1], entry.src[1].dwords());
        }
        if inst.format != Format::Flat {
            self.register(inst.src[2], inst.src_dwords(2));
        }
        if inst.imm != 0 {
            let _ = write!(self.out, " offset:{}", inst.imm);
        }
        self.caching();
        self.flag(flag::LDS, "lds");
    }

    /// Which caches keep the data.
    fn caching(&mut self) {
        let names = match self.inst.gcn.generation().caching {
            Caching::Plain | Caching::WithScc => ["glc", "slc", "scc"],
            Caching::Scopes => ["sc0", "nt", "sc1"],
        };
        for (flag, name) in [flag::GLC, flag::SLC, flag::SC1].into_iter().zip(names) {
            self.flag(flag, name);
        }
    }

    fn buffer(&mut self) {
        let inst = self.inst;
        let entry = inst.entry();
        if entry.src[1] == Ty::None {
            return self.caching();
        }
        if entry.dst != Ty::None && !inst.has(flag::LDS) {
            self.register(inst.dst, inst.dst_dwords());
        }
        if entry.src[0] != Ty::None {
            self.register(inst.src[0], inst.src_dwords(0));
        }
        self.register(inst.src[1], 4);
        self.source(2);
        if inst.format == Format::Mtbuf {
            symbols::buffer_format(&mut self.out, inst.imm as u32 >> 12);
        }
        self.flag(flag::IDXEN, "idxen");
        self.flag(flag::OFFEN, "offen");
        let offset = inst.imm & 0xfff;
        if offset != 0 {
            let _ = write!(self.out, " offset:{offset}");
        }
        let last = inst.op != Op::BufferStoreLdsDword;
        self.out.push_str(if last { "" } else { " lds" });
        self.caching();
        self.flag(flag::TFE, "tfe");
        if last {
            self.flag(flag::LDS, "lds");
        }
    }

    fn mimg(&mut self) {
        let inst = self.inst;
        self.register(inst.dst, inst.dst_dwords());
        self.register(inst.src[0], inst.src_dwords(0));
        self.register(inst.src[1], inst.src_dwords(1));
        if inst.src_ty(2) != Ty::None {
            self.register(inst.src[2], 4);
        }
        if inst.imm != 0 {
            let _ = write!(self.out, " dmask:{:#x}", inst.imm);
        }
        let names = [
            (flag::UNORM, "unorm"),
            (flag::GLC, "glc"),
            (flag::SLC, "slc"),
            (flag::R128, "r128"),
            (flag::A16, "a16"),
            (flag::TFE, "tfe"),
            (flag::LWE, "lwe"),
            (flag::DA, "da"),
            (flag::D16, "d16"),
        ];
        for (flag, name) in names {
            self.flag(flag, name);
        }
    }
}

fn sel_name(sel: Sel) -> &'static str {
    match sel {
        Sel::Byte(n) => ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3"][usize::from(n & 3)],
        Sel::Word(n) => ["WORD_0", "WORD_1"][usize::from(n & 1)],
        Sel::Dword => "DWORD",
    }
}

fn float_text(f: InlineFloat, ty: Ty) -> &'static str {
    match f {
        InlineFloat::Half => "0.5",
        InlineFloat::MinusHalf => "-0.5",
        InlineFloat::One => "1.0",
        InlineFloat::MinusOne => "-1.0",
        InlineFloat::Two => "2.0",
        InlineFloat::MinusTwo => "-2.0",
        InlineFloat::Four => "4.0",
        InlineFloat::MinusFour => "-4.0",
        InlineFloat::InvTwoPi if ty.dwords() == 2 && ty != Ty::PkF32 => "0.15915494309189532",
        InlineFloat::InvTwoPi => "0.15915494",
    }
}

/// A literal whose value an inline constant has is printed like that constant.
fn literal(out: &mut String, n: u32, ty: Ty) -> std::fmt::Result {
    let (n, small) = match (ty, ty.bits()) {
        (Ty::F64, _) => (n, if n == 0 { 0 } else { i64::MAX }),
        (_, 64) => (n, n.into()),
        (Ty::F16, _) => (n & 0xffff, i64::from(n as i16)),
        _ => (n, i64::from(n as i32)),
    };
    if (-16..=64).contains(&small) {
        return write!(out, "{small}");
    }
    let same = |f: &&InlineFloat| match (ty, ty.bits()) {
        (Ty::F64, _) => f.bits64() == u64::from(n) << 32,
        (_, 64) => false,
        (Ty::F16, _) => u32::from(f.bits16()) == n,
        _ => f.bits32() == n,
    };
    match InlineFloat::ALL.iter().find(same) {
        Some(&f) => out.write_str(float_text(f, ty)),
        None if ty.bits() == 16 => write!(out, "{:#x}", n & 0xffff),
        None => write!(out, "{n:#x}"),
    }
}
