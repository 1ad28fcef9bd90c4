//! Types of the elements of buffers: how they are named, read, written and shown.

use half::f16;

/// Bytes of the largest buffer.
pub(crate) const MAX_BYTES: u64 = 1 << 30;

/// Element type of a buffer, for filling and printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Unsigned and signed integers of 1, 2, 4 or 8 bytes.
    Unsigned(u32),
    Signed(u32),
    F16,
    F32,
    F64,
    /// A machine word of the given bytes (HARP).
    Word(u32),
}

impl Element {
    pub const U32: Element = Element::Unsigned(4);
    pub const NAMES: &'static str = "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64";

    pub fn parse(text: &str) -> Option<Element> {
        Some(match text {
            "u8" => Element::Unsigned(1),
            "u16" => Element::Unsigned(2),
            "u32" => Element::Unsigned(4),
            "u64" => Element::Unsigned(8),
            "i8" => Element::Signed(1),
            "i16" => Element::Signed(2),
            "i32" => Element::Signed(4),
            "i64" => Element::Signed(8),
            "f16" => Element::F16,
            "f32" => Element::F32,
            "f64" => Element::F64,
            _ => return None,
        })
    }

    pub fn bytes(self) -> u64 {
        match self {
            Element::Word(n) | Element::Unsigned(n) | Element::Signed(n) => u64::from(n),
            Element::F16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    pub fn name(self) -> String {
        match self {
            Element::Word(n) | Element::Unsigned(n) => format!("u{}", 8 * n),
            Element::Signed(n) => format!("i{}", 8 * n),
            Element::F16 => "f16".into(),
            Element::F32 => "f32".into(),
            Element::F64 => "f64".into(),
        }
    }

    /// The same as [`Element::encode`], or what is wrong with the number.
    pub fn number_of(self, text: &str) -> Result<Vec<u8>, String> {
        self.encode(text).ok_or_else(|| match (self, text.parse::<i128>()) {
            (Element::Unsigned(_) | Element::Word(_), Ok(n)) if n < 0 => {
                format!(
                    "{text} is below 0 and {} has no sign: write i{}:{text}",
                    self.name(),
                    8 * self.bytes()
                )
            }
            (_, Ok(_)) if !self.is_float() => format!("{text} does not fit into {}", self.name()),
            _ => format!("`{text}` is not a number of type {}", self.name()),
        })
    }

    /// A number written in a launch (`5`, `-1`, `0x10`, `2.5`) as the bytes of one element. Hexadecimal numbers are bits:
    /// they fit signed types, too.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        let bits = match self {
            Element::F16 => u64::from(f16::from_f64(text.parse().ok()?).to_bits()),
            Element::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
            Element::F64 => text.parse::<f64>().ok()?.to_bits(),
            _ => {
                let limit = 1i128 << (8 * self.bytes());
                let (value, range) = match text.strip_prefix("0x") {
                    Some(hex) => (i128::from(u64::from_str_radix(hex, 16).ok()?), 0..limit),
                    None if matches!(self, Element::Signed(_)) => (text.parse().ok()?, -limit / 2..limit / 2),
                    None => (text.parse().ok()?, 0..limit),
                };
                range.contains(&value).then_some(value as u64)?
            }
        };
        Some(bits.to_le_bytes()[..self.bytes() as usize].to_vec())
    }

    /// A whole number as an element.
    pub(crate) fn number(self, v: u64) -> u64 {
        match self {
            Element::F16 => u64::from(f16::from_f64(v as f64).to_bits()),
            Element::F32 => u64::from((v as f32).to_bits()),
            Element::F64 => (v as f64).to_bits(),
            _ => v,
        }
    }

    /// Random bits as an element; floats uniform in 0…1.
    pub(crate) fn random(self, r: u64) -> u64 {
        match self {
            Element::F16 => u64::from(f16::from_f32((r >> 53) as f32 / (1u64 << 11) as f32).to_bits()),
            Element::F32 => u64::from(((r >> 40) as f32 / (1u64 << 24) as f32).to_bits()),
            Element::F64 => ((r >> 11) as f64 / (1u64 << 53) as f64).to_bits(),
            _ => r.rotate_left(32),
        }
    }

    /// Random bits as an element from `low` up to, not including, `high`.
    pub(crate) fn between(self, r: u64, low: f64, high: f64) -> u64 {
        let unit = (r >> 11) as f64 / (1u64 << 53) as f64;
        match self {
            Element::F16 => u64::from(f16::from_f64(low + unit * (high - low)).to_bits()),
            Element::F32 => u64::from(((low + unit * (high - low)) as f32).to_bits()),
            Element::F64 => (low + unit * (high - low)).to_bits(),
            _ => {
                let (low, high) = (low as i128, high as i128);
                let span = (high - low).max(1) as u128;
                (low + ((u128::from(r) * span) >> 64) as i128) as u64
            }
        }
    }

    /// The element at the start of `bytes` as a number.
    pub fn value(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        let n = (self.bytes() as usize).min(bytes.len());
        word[..n].copy_from_slice(&bytes[..n]);
        let bits = u64::from_le_bytes(word);
        match self {
            Element::F16 => f16::from_bits(bits as u16).to_f64(),
            Element::F32 => f32::from_bits(bits as u32).into(),
            Element::F64 => f64::from_bits(bits),
            Element::Signed(n) => (((bits << (64 - 8 * n)) as i64) >> (64 - 8 * n)) as f64,
            Element::Unsigned(_) | Element::Word(_) => bits as f64,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Element::F16 | Element::F32 | Element::F64)
    }

    /// The element at the start of `bytes` as text.
    pub fn show(self, bytes: &[u8]) -> String {
        let mut word = [0; 8];
        let n = (self.bytes() as usize).min(bytes.len());
        word[..n].copy_from_slice(&bytes[..n]);
        let bits = u64::from_le_bytes(word);
        match self {
            Element::F16 => format!("{:?}", f16::from_bits(bits as u16)),
            Element::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Element::F64 => format!("{:?}", f64::from_bits(bits)),
            Element::Signed(n) => (((bits << (64 - 8 * n)) as i64) >> (64 - 8 * n)).to_string(),
            Element::Unsigned(_) | Element::Word(_) => bits.to_string(),
        }
    }
}
