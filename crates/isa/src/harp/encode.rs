//! The two binary encodings, derived from the opcode table. Decoders take bytes from anywhere and
//! return errors; they never panic, because program images come from files.

use super::arch::{Arch, Encoding};
use super::inst::Inst;
use super::layout::{Layout, OPCODE_BITS};
use super::table::{Op, Slot};
use thiserror::Error;

/// Bytes that are not an instruction of this architecture.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("the instruction needs {needed} bytes but only {have} are left")]
    Truncated { needed: u32, have: u32 },
    #[error("opcode {number:#04x} does not exist; the last one is 0x3e (tid)")]
    Opcode { number: u8 },
    #[error("`{name}` uses register %r{register}, but this architecture has {count}")]
    Register { name: &'static str, register: u32, count: u32 },
    #[error("`{name}` uses predicate @p{register}, but this architecture has {count}")]
    Predicate { name: &'static str, register: u32, count: u32 },
}

/// An instruction that this architecture cannot express.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    #[error("register %r{register} does not exist: this architecture has %r0 to %r{last}")]
    Register { register: u32, last: u32 },
    #[error("predicate @p{register} does not exist: this architecture has @p0 to @p{last}")]
    Predicate { register: u32, last: u32 },
    #[error("immediate {value} does not fit: `{name}` has room for {low} to {high}")]
    Immediate { value: i128, name: &'static str, low: i128, high: i128 },
}

const UNPREDICATED: u8 = 0xff;

fn low_bits(width: u32) -> u64 {
    if width >= 64 { !0 } else { (1 << width) - 1 }
}

/// Encoder and decoder of one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    arch: Arch,
    /// Only present for the word encoding.
    layout: Option<Layout>,
}

impl Codec {
    pub fn new(arch: Arch) -> Result<Codec, String> {
        arch.check()?;
        let layout = match arch.encoding {
            Encoding::Word => Some(arch.layout()?),
            Encoding::Byte => None,
        };
        Ok(Codec { arch, layout })
    }

    /// Width of the immediate of `op` and its byte offset in the instruction.
    pub fn immediate_field(&self, op: Op) -> Option<(u32, u32)> {
        let slots = op.entry().slots;
        if slots.last() != Some(&Slot::Imm) {
            return None;
        }
        let registers = slots.len() as u32 - 1;
        Some(match self.layout {
            Some(layout) => (layout.operand_bits() - registers * layout.field, 0),
            None => (self.arch.bits(), 2 + registers),
        })
    }

    /// Bytes of an encoded instruction.
    pub fn size(&self, op: Op) -> u32 {
        match self.layout {
            Some(_) => self.arch.bytes,
            None => {
                let slots = op.entry().slots;
                2 + slots.len() as u32
                    + if slots.last() == Some(&Slot::Imm) { self.arch.bytes - 1 } else { 0 }
            }
        }
    }

    /// Smallest and largest immediate of `op`. A full-word field also takes unsigned values.
    pub fn immediate_range(&self, op: Op) -> Option<(i128, i128)> {
        let (width, _) = self.immediate_field(op)?;
        let half = 1i128 << (width - 1);
        Some((-half, if width == self.arch.bits() { 2 * half - 1 } else { half - 1 }))
    }

    /// The immediate that is encoded for `value`: values are words, so 0xffffffff is −1 in 4 bytes.
    pub fn fit_immediate(&self, op: Op, value: i128) -> Result<i64, EncodeError> {
        let Some((low, high)) = self.immediate_range(op) else { return Ok(0) };
        let word = 1i128 << self.arch.bits();
        let wrapped = if (word / 2..word).contains(&value) { value - word } else { value };
        if wrapped < low || wrapped > high {
            return Err(EncodeError::Immediate { value, name: op.entry().name, low, high });
        }
        Ok(wrapped as i64)
    }

    fn check(&self, inst: &Inst) -> Result<(), EncodeError> {
        let predicate = |p: u8| {
            if u32::from(p) < self.arch.preds {
                Ok(())
            } else {
                Err(EncodeError::Predicate { register: p.into(), last: self.arch.preds - 1 })
            }
        };
        inst.pred.map_or(Ok(()), predicate)?;
        for (slot, r) in inst.operands() {
            match slot {
                Slot::Imm => {}
                Slot::PredDest | Slot::PredSrc => predicate(r)?,
                Slot::Dest | Slot::Src if u32::from(r) >= self.arch.gprs => {
                    return Err(EncodeError::Register { register: r.into(), last: self.arch.gprs - 1 });
                }
                Slot::Dest | Slot::Src => {}
            }
        }
        Ok(())
    }

    /// Appends the bytes of `inst`.
    pub fn encode(&self, inst: &Inst, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.check(inst)?;
        let imm = self.fit_immediate(inst.op, inst.imm.into())?;
        let bytes = self.arch.bytes as usize;
        match self.layout {
            Some(layout) => {
                let word = encode_word(&layout, inst, imm);
                out.extend_from_slice(&word.to_le_bytes()[..bytes]);
            }
            None => {
                out.push(inst.pred.unwrap_or(UNPREDICATED));
                out.push(inst.op as u8);
                for (slot, r) in inst.operands() {
                    match slot {
                        Slot::Imm => out.extend_from_slice(&imm.to_le_bytes()[..bytes]),
                        _ => out.push(r),
                    }
                }
            }
        }
        Ok(())
    }

    /// Decodes the instruction at the start of `bytes`; returns it with its size.
    pub fn decode(&self, bytes: &[u8]) -> Result<(Inst, u32), DecodeError> {
        match self.layout {
            Some(layout) => self.decode_word(&layout, bytes),
            None => self.decode_bytes(bytes),
        }
    }

    fn decode_word(&self, layout: &Layout, bytes: &[u8]) -> Result<(Inst, u32), DecodeError> {
        let word = self.word(bytes, 0)?;
        let number = (word >> layout.operand_bits() & low_bits(OPCODE_BITS)) as u8;
        let op = Op::from_number(number).ok_or(DecodeError::Opcode { number })?;
        let mut inst = Inst::new(op);
        if word >> (layout.bits - 1) & 1 == 1 {
            let p = word >> (layout.bits - 1 - layout.pred) & low_bits(layout.pred);
            inst.pred = Some(self.predicate(op, p)?);
        }
        let mut below = layout.operand_bits();
        for (i, &slot) in op.entry().slots.iter().enumerate() {
            if slot == Slot::Imm {
                let unused = 64 - below;
                inst.imm = ((word << unused) as i64) >> unused;
                break;
            }
            below -= layout.field;
            inst.r[i] = self.operand(op, slot, word >> below & low_bits(layout.field))?;
        }
        Ok((inst, self.arch.bytes))
    }

    fn decode_bytes(&self, bytes: &[u8]) -> Result<(Inst, u32), DecodeError> {
        let short = |needed: u32| DecodeError::Truncated { needed, have: bytes.len() as u32 };
        let &[pred, number, ..] = bytes else { return Err(short(2)) };
        let op = Op::from_number(number).ok_or(DecodeError::Opcode { number })?;
        let size = self.size(op);
        if (bytes.len() as u64) < u64::from(size) {
            return Err(short(size));
        }
        let mut inst = Inst::new(op);
        if pred != UNPREDICATED {
            inst.pred = Some(self.predicate(op, pred.into())?);
        }
        for (i, &slot) in op.entry().slots.iter().enumerate() {
            if slot == Slot::Imm {
                inst.imm = self.arch.sign_extend(self.word(bytes, 2 + i)?);
            } else {
                inst.r[i] = self.operand(op, slot, bytes[2 + i].into())?;
            }
        }
        Ok((inst, size))
    }

    fn word(&self, bytes: &[u8], at: usize) -> Result<u64, DecodeError> {
        let size = self.arch.bytes as usize;
        let Some(part) = bytes.get(at..at + size) else {
            return Err(DecodeError::Truncated { needed: (at + size) as u32, have: bytes.len() as u32 });
        };
        let mut word = [0; 8];
        word[..size].copy_from_slice(part);
        Ok(u64::from_le_bytes(word))
    }

    fn predicate(&self, op: Op, number: u64) -> Result<u8, DecodeError> {
        if number < u64::from(self.arch.preds) {
            return Ok(number as u8);
        }
        let name = op.entry().name;
        Err(DecodeError::Predicate { name, register: number as u32, count: self.arch.preds })
    }

    fn operand(&self, op: Op, slot: Slot, number: u64) -> Result<u8, DecodeError> {
        match slot {
            Slot::PredDest | Slot::PredSrc => self.predicate(op, number),
            _ if number < u64::from(self.arch.gprs) => Ok(number as u8),
            _ => Err(DecodeError::Register {
                name: op.entry().name,
                register: number as u32,
                count: self.arch.gprs,
            }),
        }
    }
}

fn encode_word(layout: &Layout, inst: &Inst, imm: i64) -> u64 {
    let mut word = inst.op as u64;
    if let Some(p) = inst.pred {
        word |= (1 << layout.pred | u64::from(p)) << OPCODE_BITS;
    }
    let mut below = layout.operand_bits();
    word <<= below;
    for (slot, r) in inst.operands() {
        if slot == Slot::Imm {
            word |= imm as u64 & low_bits(below);
        } else {
            below -= layout.field;
            word |= u64::from(r) << below;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harp::table::TABLE;
    use crate::harp::testing::Lcg;

    fn codec(arch: &str) -> Codec {
        Codec::new(arch.parse().unwrap()).unwrap()
    }

    fn bytes(codec: &Codec, inst: &Inst) -> Vec<u8> {
        let mut out = Vec::new();
        codec.encode(inst, &mut out).unwrap();
        out
    }

    #[test]
    fn check_words_of_the_pdom_document() {
        let codec = codec("4w8/1");
        for (word, inst) in [
            (0x2a40_0002u32, Inst::new(Op::SubI).regs(&[1, 0]).imm(2)),
            (0x2918_0004, Inst::new(Op::AddI).regs(&[4, 3]).imm(4)),
            (0x3a00_0004, Inst::new(Op::JmpI).imm(4)),
            (0x7800_0000, Inst::new(Op::Join)),
            (0x2918_0002, Inst::new(Op::AddI).regs(&[4, 3]).imm(2)),
        ] {
            assert_eq!(bytes(&codec, &inst), word.to_le_bytes());
            assert_eq!(codec.decode(&word.to_le_bytes()), Ok((inst, 4)));
        }
    }

    #[test]
    fn byte_encoding_layout() {
        let codec = codec("4b8/2");
        let inst = Inst::new(Op::AddI).regs(&[4, 3]).imm(-2).when(1);
        assert_eq!(bytes(&codec, &inst), [1, 0x14, 4, 3, 0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(bytes(&codec, &Inst::new(Op::Join)), [0xff, 0x3c]);
        assert_eq!(codec.immediate_field(Op::AddI), Some((32, 4)));
        assert_eq!(codec.size(Op::AddI), 8);
        assert_eq!(codec.size(Op::Add), 5);
    }

    /// Architectures of both encodings, including more predicates than registers and odd counts.
    const ARCHS: &[&str] = &[
        "4w8/1",
        "8w32/32/8/8",
        "4w8/16",
        "2w4/1",
        "3w5/3",
        "8w256/128",
        "4b8/1",
        "8b256/128",
        "1b4/2",
        "3b7/5",
    ];

    #[test]
    fn random_instructions_round_trip() {
        let mut random = Lcg(7);
        for arch in ARCHS {
            let codec = codec(arch);
            for round in 0..2000 {
                let inst = random.inst(&codec.arch, &codec, TABLE[round % TABLE.len()].op);
                let encoded = bytes(&codec, &inst);
                assert_eq!(encoded.len() as u32, codec.size(inst.op));
                assert_eq!(codec.decode(&encoded), Ok((inst, encoded.len() as u32)), "{arch}");
                assert!(matches!(
                    codec.decode(&encoded[..encoded.len() - 1]),
                    Err(DecodeError::Truncated { .. })
                ));
            }
        }
    }

    #[test]
    fn random_bytes_never_panic_and_reencode() {
        let mut random = Lcg(11);
        for arch in ARCHS {
            let codec = codec(arch);
            for _ in 0..5000 {
                let data: Vec<u8> = (0..random.below(13)).map(|_| random.next() as u8).collect();
                if let Ok((inst, size)) = codec.decode(&data) {
                    let again = bytes(&codec, &inst);
                    assert_eq!(codec.decode(&again), Ok((inst, size)));
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let codec = codec("4w6/3");
        let encode = |inst: Inst| codec.encode(&inst, &mut Vec::new()).unwrap_err().to_string();
        assert!(encode(Inst::new(Op::Neg).regs(&[6, 0])).contains("%r0 to %r5"));
        assert!(encode(Inst::new(Op::Nop).when(3)).contains("@p0 to @p2"));
        assert!(encode(Inst::new(Op::AddI).imm(1 << 20)).contains("room for -65536 to 65535"));
        assert_eq!(codec.fit_immediate(Op::AddI, 0xffff_ffff), Ok(-1));
        assert!(codec.fit_immediate(Op::AddI, 0x1_0000_0000).is_err());
        let decode = |word: u32| codec.decode(&word.to_le_bytes()).unwrap_err().to_string();
        assert_eq!(decode(0x3f << 23), "opcode 0x3f does not exist; the last one is 0x3e (tid)");
        assert_eq!(decode(0x14 << 23 | 7 << 20), "`addi` uses register %r7, but this architecture has 6");
        assert_eq!(decode(1 << 31 | 3 << 29), "`nop` uses predicate @p3, but this architecture has 3");
    }
}
