//! The architecture string `<bytes><w|b><gprs>/<preds>[/<lanes>/<warps>]` that parameterises HARP:
//! word size, encoding and register counts decide the binary format, the rest sizes a machine.

use super::layout::Layout;
use crate::MAX_LANES;
use std::fmt;
use std::str::FromStr;

/// How instructions are laid out in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// One machine word per instruction, bit fields.
    Word,
    /// A byte per field and a whole word for an immediate.
    Byte,
}

/// Parameters of one HARP machine family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arch {
    pub bytes: u32,
    pub encoding: Encoding,
    pub gprs: u32,
    pub preds: u32,
    pub lanes: Option<u32>,
    pub warps: Option<u32>,
}

pub const MAX_GPRS: u32 = 256;
pub const MAX_PREDS: u32 = 128;
const MAX_WARPS: u32 = 65_536;

impl Arch {
    /// Bits of a machine word.
    pub fn bits(&self) -> u32 {
        self.bytes * 8
    }

    /// All ones in the width of a word.
    pub fn word_mask(&self) -> u64 {
        if self.bytes >= 8 { !0 } else { (1 << self.bits()) - 1 }
    }

    /// Sign-extends the low word of `value`.
    pub fn sign_extend(&self, value: u64) -> i64 {
        let unused = 64 - self.bits();
        ((value << unused) as i64) >> unused
    }

    /// Address of the console port: the lowest address with the top bit set.
    pub fn console(&self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Whether code for `self` is code for `other`; machine sizes only count when both name them.
    pub fn compatible(&self, other: &Arch) -> bool {
        let agree = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
        (self.bytes, self.encoding, self.gprs, self.preds)
            == (other.bytes, other.encoding, other.gprs, other.preds)
            && agree(self.lanes, other.lanes)
            && agree(self.warps, other.warps)
    }

    /// Bit fields of its words, or why they are too small.
    pub(super) fn layout(&self) -> Result<Layout, String> {
        Layout::new(self.bits(), self.gprs, self.preds)
    }

    /// Checks every limit; the message says what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let within = |what: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(format!("{what} must be {low} to {high}, not {value}"))
            }
        };
        within("bytes per word", self.bytes, 1, 8)?;
        within("general-purpose registers", self.gprs, 1, MAX_GPRS)?;
        within("predicate registers", self.preds, 1, MAX_PREDS)?;
        within("lanes", self.lanes.unwrap_or(1), 1, MAX_LANES)?;
        within("warps", self.warps.unwrap_or(1), 1, MAX_WARPS)?;
        if self.encoding == Encoding::Word {
            self.layout()?;
        }
        Ok(())
    }
}

impl Default for Arch {
    /// The default machine of the original tool, `8w32/32/8/8`.
    fn default() -> Self {
        Arch { bytes: 8, encoding: Encoding::Word, gprs: 32, preds: 32, lanes: Some(8), warps: Some(8) }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.encoding {
            Encoding::Word => 'w',
            Encoding::Byte => 'b',
        };
        write!(f, "{}{letter}{}/{}", self.bytes, self.gprs, self.preds)?;
        if let Some(lanes) = self.lanes {
            write!(f, "/{lanes}")?;
            if let Some(warps) = self.warps {
                write!(f, "/{warps}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Arch, String> {
        let wrong = |why: String| format!("architecture `{text}`: {why}");
        let shape = || {
            wrong(
                "expected <bytes><w|b><registers>/<predicates>[/<lanes>/<warps>], for example 4w8/1/4/2"
                    .into(),
            )
        };
        let at = text.find(['w', 'b']).ok_or_else(shape)?;
        let number = |part: &str| -> Result<u32, String> {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(shape());
            }
            part.parse().map_err(|_| wrong(format!("{part} is too large")))
        };
        let bytes = number(&text[..at])?;
        let encoding = if text.as_bytes()[at] == b'w' { Encoding::Word } else { Encoding::Byte };
        let parts = text[at + 1..].split('/').map(number).collect::<Result<Vec<u32>, String>>()?;
        let arch = match parts[..] {
            [gprs, preds] => Arch { bytes, encoding, gprs, preds, lanes: None, warps: None },
            [gprs, preds, lanes] => Arch { bytes, encoding, gprs, preds, lanes: Some(lanes), warps: None },
            [gprs, preds, lanes, warps] => {
                Arch { bytes, encoding, gprs, preds, lanes: Some(lanes), warps: Some(warps) }
            }
            _ => return Err(shape()),
        };
        arch.check().map_err(wrong)?;
        Ok(arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_round_trip() {
        for text in ["4w8/1/4/2", "8w32/32/8/8", "4b16/8", "2w4/2/4", "8b256/128/64/1024", "1b4/1"] {
            assert_eq!(text.parse::<Arch>().unwrap().to_string(), text);
        }
        assert_eq!(Arch::default().to_string(), "8w32/32/8/8");
    }

    #[test]
    fn bad_strings_say_what_is_allowed() {
        let message = |text: &str| text.parse::<Arch>().unwrap_err();
        assert!(message("4x8/1").contains("for example 4w8/1/4/2"));
        assert!(message("").contains("expected"));
        assert!(message("4w8").contains("expected"));
        assert!(message("4w8/1/4/2/9").contains("expected"));
        assert!(message("9w8/1").contains("bytes per word must be 1 to 8, not 9"));
        assert!(message("4w0/1").contains("registers must be 1 to 256"));
        assert!(message("4w8/1/65/1").contains("lanes must be 1 to 64"));
        assert!(message("4w99999999999/1").contains("too large"));
        assert!(message("1w8/1").contains("bits"));
        assert!(message("4w+8/1").contains("expected"));
    }

    #[test]
    fn compatibility_ignores_unnamed_sizes() {
        let a: Arch = "4w8/1".parse().unwrap();
        assert!(a.compatible(&"4w8/1/4/2".parse().unwrap()));
        assert!(!a.compatible(&"4w8/2".parse().unwrap()));
        assert!(!a.compatible(&"4b8/1".parse().unwrap()));
    }
}
