//! Vector memory: local, flat, buffers and images.

use super::super::generation::{Accumulators, Caching};
use super::super::inst::{Format, Inst, flag};
use super::super::op::Op;
use super::super::operand::{Operand, Ty};
use super::super::table::segment;
use super::fields::{DecodeError, Decoded, Decoder, flags};

impl Decoder<'_> {
    pub(super) fn ds(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Ds, w >> 17 & 0xff)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Ds);
        inst.size = 8;
        inst.imm = (w & 0xffff) as i32;
        // Where accumulators are in one file, all that is left of global data share are semaphores.
        if entry.gds_only || self.generation.accumulators != Accumulators::Unified {
            inst.flags = flags(w, &[(16, flag::GDS)]);
        }
        if entry.gds_only && !inst.has(flag::GDS) {
            let why = "the operation exists for GDS only";
            return Err(DecodeError::Field { name: entry.name, field: "gds", value: 0, why });
        }
        self.vector_fields(&mut inst, [Some(w1), Some(w1 >> 8), Some(w1 >> 16)], w1 >> 24)?;
        Ok(inst)
    }

    pub(super) fn flat(&self) -> Decoded<Inst> {
        let w = self.w;
        let format = match w >> 14 & 3 {
            1 if self.generation.is_gfx9() => Format::Scratch,
            2 if self.generation.is_gfx9() => Format::Global,
            _ => Format::Flat,
        };
        let entry = self.op(format, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, format);
        inst.size = 8;
        inst.flags = flags(w, &[(16, flag::GLC), (17, flag::SLC)]);
        if self.generation.is_gfx9() {
            self.segment(&mut inst, w1)?;
            self.check_caching(&inst)?;
        } else {
            for (field, value) in [("offset", w & 0x1fff), ("tfe", w1 >> 23 & 1)] {
                if value != 0 {
                    let why = "flat instructions do not have it on this machine";
                    return Err(DecodeError::Field { name: entry.name, field, value, why });
                }
            }
        }
        let address = if inst.src_dwords(0) > 0 || format == Format::Flat { Some(w1) } else { None };
        self.vector_fields(&mut inst, [address, Some(w1 >> 8), None], w1 >> 24)?;
        if entry.atomic && !inst.has(flag::GLC) || inst.has(flag::LDS) {
            inst.dst = Operand::None;
        }
        Ok(inst)
    }

    /// What gfx9 added to FLAT: segments, offsets, scalar bases, and accumulators as data.
    fn segment(&self, inst: &mut Inst, w1: u32) -> Decoded<()> {
        let (w, entry) = (self.w, inst.entry());
        let field = |field, value, why| Err(DecodeError::Field { name: entry.name, field, value, why });
        let (here, signed) = match inst.format {
            Format::Global => (segment::GLOBAL, true),
            Format::Scratch => (segment::SCRATCH, true),
            _ => (segment::FLAT, false),
        };
        if entry.forms & here == 0 || w >> 14 & 3 == 3 {
            return field("seg", w >> 14 & 3, "the operation does not exist in this segment");
        }
        inst.imm = (w & 0x1fff) as i32;
        if signed {
            inst.imm = inst.imm << 19 >> 19;
        } else if inst.imm > 0xfff {
            return field("offset", w & 0x1fff, "offsets of flat addresses are not negative");
        }
        if self.generation.caching != Caching::Plain {
            inst.flags |= flags(w, &[(25, flag::SC1)]);
        }
        let scalar = w1 >> 16 & 0x7f;
        let by_bit = self.generation.architected_scratch && inst.format == Format::Scratch;
        let vector = if by_bit { w >> 13 & 1 == 1 } else { inst.format != Format::Scratch || scalar == 0x7f };
        if w >> 13 & 1 == 1 && !by_bit {
            if !entry.goes_to_lds() || self.generation.architected_scratch || inst.format == Format::Flat {
                return field("lds", 1, "the operation does not write to local memory");
            }
            inst.flags |= flag::LDS;
        }
        if inst.format != Format::Flat && scalar != 0x7f {
            let dwords = if inst.format == Format::Global { 2 } else { 1 };
            inst.src[2] = self.sgpr(entry, "saddr", scalar, dwords)?;
        }
        if vector {
            inst.src[0] = Operand::Vgpr(w1 as u8);
        }
        Ok(())
    }

    /// Vector sources and destination of DS and FLAT, each eight bits.
    fn vector_fields(&self, inst: &mut Inst, fields: [Option<u32>; 3], dst: u32) -> Decoded<()> {
        const NAMES: [&str; 3] = ["addr", "data0", "data1"];
        let entry = inst.entry();
        for (i, field) in fields.into_iter().enumerate() {
            if let (Some(value), true) = (field, entry.src[i] != Ty::None) {
                let dwords = if i == 0 { inst.src_dwords(0).max(1) } else { entry.src[i].dwords() };
                self.vgpr_source(inst, i, NAMES[i], value & 0xff, dwords)?;
                if i > 0 {
                    inst.src[i] = self.data(inst, value as u8);
                }
            }
        }
        if entry.dst != Ty::None {
            self.vgpr_range(entry, "vdst", dst & 0xff, entry.dst.dwords())?;
            inst.dst = self.data(inst, dst as u8);
        }
        Ok(())
    }

    /// Data of a memory instruction: a vector register, or an accumulator where the machine has them in one file.
    fn data(&self, inst: &Inst, number: u8) -> Operand {
        let bit = match inst.format {
            Format::Ds => self.w >> 25 & 1,
            _ => self.words.get(1).map_or(0, |w1| w1 >> 23 & 1),
        };
        match self.generation.accumulators {
            Accumulators::Unified if bit == 1 => Operand::Agpr(number),
            _ => Operand::Vgpr(number),
        }
    }

    pub(super) fn mubuf(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Mubuf, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Mubuf);
        inst.size = 8;
        let caching = self.generation.caching;
        if entry.src[1] == Ty::None {
            if caching == Caching::Scopes {
                inst.flags = flags(w, &[(14, flag::GLC), (15, flag::SC1)]);
            }
            return Ok(inst);
        }
        inst.imm = (w & 0xfff) as i32;
        let bits = [(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC), (16, flag::LDS), (17, flag::SLC)];
        inst.flags = flags(w, &bits);
        // The bit of TFE says accumulator where there are any.
        match self.generation.accumulators {
            Accumulators::Unified => inst.flags |= flags(w, &[(15, flag::SC1)]),
            Accumulators::None | Accumulators::Separate => inst.flags |= flags(w1, &[(23, flag::TFE)]),
        }
        self.check_caching(&inst)?;
        self.buffer_operands(inst, w1)
    }

    pub(super) fn mtbuf(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Mtbuf, w >> 15 & 15)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Mtbuf);
        inst.size = 8;
        inst.imm = (w & 0xfff | (w >> 19 & 0x7f) << 12) as i32;
        inst.flags = flags(w, &[(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC)]);
        inst.flags |= flags(w1, &[(22, flag::SLC)]);
        if self.generation.accumulators == Accumulators::Unified {
            inst.flags |= flags(w1, &[(21, flag::SC1)]);
        } else if w1 >> 23 & 1 == 1 {
            let why = "no status of typed loads is kept";
            return Err(DecodeError::Field { name: entry.name, field: "tfe", value: 1, why });
        }
        self.buffer_operands(inst, w1)
    }

    /// Address, data, descriptor and offset of MUBUF and MTBUF.
    fn buffer_operands(&self, mut inst: Inst, w1: u32) -> Decoded<Inst> {
        let entry = inst.entry();
        let address = inst.src_dwords(0);
        if address > 0 && entry.src[0] != Ty::None {
            self.vgpr_source(&mut inst, 0, "vaddr", w1 & 0xff, address)?;
        }
        if entry.dst != Ty::None && !inst.has(flag::LDS) {
            self.vgpr_range(entry, "vdata", w1 >> 8 & 0xff, inst.dst_dwords())?;
            inst.dst = self.data(&inst, (w1 >> 8) as u8);
        }
        self.scalar(&mut inst, 1, "srsrc", (w1 >> 16 & 0x1f) << 2)?;
        self.source(&mut inst, 2, w1 >> 24, false)?;
        Ok(inst)
    }

    pub(super) fn mimg(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Mimg, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Mimg);
        inst.size = 8;
        inst.imm = (w >> 8 & 15) as i32;
        let bits = [
            (12, flag::UNORM),
            (13, flag::GLC),
            (14, flag::DA),
            (15, if self.generation.is_gfx9() { flag::A16 } else { flag::R128 }),
            (16, flag::TFE),
            (17, flag::LWE),
            (25, flag::SLC),
        ];
        inst.flags = flags(w, &bits) | flags(w1, &[(31, flag::D16)]);
        let whole = if entry.op == Op::ImageAtomicCmpswap { [3, 15] } else { [1, 3] };
        if entry.atomic && (!whole.contains(&inst.imm) || inst.has(flag::TFE) && inst.imm != 1) {
            let why = "an atomic changes one or two dwords";
            return Err(DecodeError::Field { name: entry.name, field: "dmask", value: inst.imm as u32, why });
        }
        self.vgpr_source(&mut inst, 0, "vaddr", w1 & 0xff, entry.src[0].dwords())?;
        self.vgpr_range(entry, "vdata", w1 >> 8 & 0xff, inst.dst_dwords())?;
        inst.dst = Operand::Vgpr((w1 >> 8) as u8);
        inst.src[1] = self.sgpr(entry, "srsrc", (w1 >> 16 & 0x1f) << 2, inst.src_dwords(1))?;
        if entry.src[2] != Ty::None {
            self.scalar(&mut inst, 2, "ssamp", (w1 >> 21 & 0x1f) << 2)?;
        }
        Ok(inst)
    }
}
