//! Words to [`Inst`]. Total: code comes from files, so every bit pattern is an instruction or an
//! error that names the field. Unused fields are ignored, as the hardware does.

mod fields;
mod graphics;
mod memory;
mod scalar;
mod vector;

pub use fields::DecodeError;
pub(super) use fields::scalar_tuple;

use super::generation::{GFX8, Generation};
use super::inst::{Format, Inst};
use fields::Decoder;

/// Decodes the instruction at the start of `words`; the rest may be anything.
pub fn decode(words: &[u32]) -> Result<Inst, DecodeError> {
    decode_for(&GFX8, words)
}

/// The same for a generation.
pub fn decode_for(generation: &Generation, words: &[u32]) -> Result<Inst, DecodeError> {
    let &w = words.first().ok_or(DecodeError::Truncated { needed: 1, have: 0 })?;
    let d = Decoder { generation, words, w };
    if w >> 31 == 0 {
        return match w >> 25 {
            0x3f => d.vop_short(Format::Vop1, w >> 9 & 0xff),
            0x3e => d.vop_short(Format::Vopc, w >> 17 & 0xff),
            code => d.vop_short(Format::Vop2, code),
        };
    }
    match (w >> 26, w >> 23 & 0x7f) {
        (0x2f, 0x7d) => d.sop1(),
        (0x2f, 0x7e) => d.sopc(),
        (0x2f, 0x7f) => d.sopp(),
        (0x2c..=0x2f, _) => d.sopk(),
        (0x20..=0x2b, _) => d.sop2(),
        (0x30, _) => d.smem(),
        (0x34, _) if w >> 23 == 0x1a7 && generation.is_gfx9() => d.vop3p(),
        (0x34, _) => d.vop3(),
        (0x36, _) => d.ds(),
        (0x37, _) => d.flat(),
        (0x38, _) => d.mubuf(),
        (0x3a, _) => d.mtbuf(),
        (0x3c, _) => d.mimg(),
        (0x35, _) => d.vintrp(),
        (0x31, _) => d.exp(),
        (bits, _) => Err(DecodeError::Encoding { word: w, bits }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        let message = |words: &[u32]| decode(words).unwrap_err().to_string();
        assert_eq!(message(&[]), "the instruction needs 1 words but only 0 are left");
        assert_eq!(message(&[0xbf7f_0000]), "0xbf7f0000: Sopc has no opcode 0x7f");
        assert!(message(&[0xfc00_0000]).contains("no instruction"));
        assert_eq!(message(&[0x8680_0301]), "`s_and_b64`: field src0 is 0x1: the registers are not aligned");
        assert!(message(&[0xd1c8_0100, 0]).contains("field abs is 0x1"));
        assert!(message(&[0x7e00_4cfa, 0]).contains("no Dpp form"));
        assert!(message(&[0x7e00_02ff]).contains("needs 2 words"));
    }
}
