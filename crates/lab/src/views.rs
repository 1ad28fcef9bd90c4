//! Buffers and textures of a launch, described in one word each: `buf:u32:256:iota`, `tex:64x64:checker`.

use crate::args::Argument;
use crate::array::Array;
use crate::fills::{FILLS, splitmix};
use half::f16;
use miette::{Report, miette};
use wb_isa::guppy::{Bindings, Filter, Sampler, View, Wrap};

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

/// A named piece of device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub addr: u64,
    pub bytes: u64,
    pub element: Element,
}

/// Whether a name says how much memory it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Exact,
    Open,
}

impl Buffer {
    /// What `NAME[:COUNT[:TYPE]]` stands for, given how to find the name and whether more than it has can be shown:
    /// what follows a label belongs to the program, too.
    pub fn select(
        what: &str,
        find: impl FnOnce(&str) -> Result<(Buffer, Extent), Report>,
    ) -> Result<Buffer, Report> {
        let mut parts = what.split(':');
        let name = parts.next().unwrap_or("");
        let help = "NAME, NAME:COUNT or NAME:COUNT:TYPE";
        let number = |c: &str| {
            c.parse::<u64>().map_err(|_| miette!(help = help, "`{what}`: `{c}` is not a number of elements"))
        };
        let count: Option<u64> = parts.next().filter(|c| !c.is_empty()).map(number).transpose()?;
        let element = match parts.next() {
            None => None,
            Some(t) => Some(
                Element::parse(t).ok_or_else(|| miette!(help = Element::NAMES, "no element type `{t}`"))?,
            ),
        };
        if let Some(more) = parts.next() {
            return Err(miette!(help = help, "`{what}`: `:{more}` is too much"));
        }
        let (mut buffer, extent) = find(name)?;
        // As it was asked for: by name or by position.
        name.clone_into(&mut buffer.name);
        if let Some(element) = element {
            buffer.element = element;
        }
        if let Some(count) = count {
            let bytes = count.saturating_mul(buffer.element.bytes());
            if extent == Extent::Exact && bytes > buffer.bytes {
                let has = buffer.bytes / buffer.element.bytes();
                return Err(miette!("`{what}`: {name} has {has} elements of {}", buffer.element.name()));
            }
            buffer.bytes = bytes;
        }
        Ok(buffer)
    }
}

/// Everything bound to a launch, and what to write to memory before it.
#[derive(Clone, Debug, Default)]
pub struct Views {
    pub bindings: Bindings,
    pub buffers: Vec<Buffer>,
    pub init: Vec<(u64, Vec<u8>)>,
    next: u64,
}

/// Buffers start here; address 0 stays unused so that a forgotten base shows up.
const FIRST: u64 = 0x100;
pub(crate) const MAX_BYTES: u64 = 1 << 30;

impl Views {
    /// Adds `NAME=SPEC`, e.g. `u0=buf:u32:256`.
    pub fn add(&mut self, text: &str) -> Result<(), Report> {
        let bad = |why: String| {
            let help = format!(
                "views look like t0=buf:u32:256:iota, u0=buf:f32:64, t1=tex:64x64:checker or t1=u0; fills: {FILLS} (textures also checker, gradient)"
            );
            miette!(help = help, "view `{text}`: {why}")
        };
        let (name, spec) = text.split_once('=').ok_or_else(|| bad("`=` is missing".into()))?;
        let (writable, index) =
            parse_name(name).ok_or_else(|| bad(format!("`{name}` is not t0…t63 or u0…u63")))?;
        let parts: Vec<&str> = spec.split(':').collect();
        let view = match parts.as_slice() {
            ["buf", ..] => match crate::args::parse(spec).map_err(&bad)? {
                Argument::Buffer(Array { element, bytes: data, .. }) => {
                    let bytes = data.len() as u64;
                    View::Buffer { base: self.place(name, data, element), bytes }
                }
                Argument::Value(_) | Argument::Local(_) => return Err(bad("it is not a buffer".into())),
            },
            ["tex", size, fill @ ..] => {
                let (w, h) = size
                    .split_once('x')
                    .and_then(|(w, h)| Some((w.parse::<u32>().ok()?, h.parse::<u32>().ok()?)))
                    .filter(|&(w, h)| w > 0 && h > 0 && u64::from(w) * u64::from(h) <= MAX_BYTES / 4)
                    .ok_or_else(|| bad(format!("`{size}` is not a size like 64x64")))?;
                let data = fill_texture(w, h, fill.first().copied().unwrap_or("zero"))
                    .ok_or_else(|| bad("unknown fill".into()))?;
                let base = self.place(name, data, Element::U32);
                View::Texture { base, width: w, height: h, pitch: w * 4 }
            }
            [other] => {
                let (w, i) =
                    parse_name(other).ok_or_else(|| bad(format!("`{other}` is not a view or a kind")))?;
                let list = if w { &self.bindings.u } else { &self.bindings.t };
                list.get(i)
                    .cloned()
                    .flatten()
                    .ok_or_else(|| bad(format!("{other} is not bound before it")))?
            }
            _ => return Err(bad("unknown kind".into())),
        };
        let list = if writable { &mut self.bindings.u } else { &mut self.bindings.t };
        if list.len() <= index {
            list.resize(index + 1, None);
        }
        list[index] = Some(view);
        Ok(())
    }

    /// Adds `sN=linear|nearest[:repeat|clamp]`.
    pub fn add_sampler(&mut self, text: &str) -> Result<(), Report> {
        let bad =
            || miette!(help = "samplers look like s0=linear:repeat or s1=nearest:clamp", "sampler `{text}`");
        let (name, spec) = text.split_once('=').ok_or_else(bad)?;
        let index: usize =
            name.strip_prefix('s').and_then(|n| n.parse().ok()).filter(|&i| i < 64).ok_or_else(bad)?;
        let (filter, wrap) = spec.split_once(':').unwrap_or((spec, "repeat"));
        let sampler = Sampler {
            filter: match filter {
                "linear" => Filter::Linear,
                "nearest" => Filter::Nearest,
                _ => return Err(bad()),
            },
            wrap: match wrap {
                "repeat" => Wrap::Repeat,
                "clamp" => Wrap::Clamp,
                _ => return Err(bad()),
            },
        };
        let list = &mut self.bindings.samplers;
        while list.len() <= index {
            list.push(Sampler { filter: Filter::Linear, wrap: Wrap::Repeat });
        }
        list[index] = sampler;
        Ok(())
    }

    fn place(&mut self, name: &str, data: Vec<u8>, element: Element) -> u64 {
        let addr = self.next.max(FIRST);
        let bytes = data.len() as u64;
        self.next = (addr + bytes).next_multiple_of(64);
        self.buffers.push(Buffer { name: name.to_owned(), addr, bytes, element });
        self.init.push((addr, data));
        addr
    }
}

fn parse_name(name: &str) -> Option<(bool, usize)> {
    let writable = match name.as_bytes().first()? {
        b't' => false,
        b'u' => true,
        _ => return None,
    };
    let index: usize = name[1..].parse().ok()?;
    (index < 64).then_some((writable, index))
}

fn fill_texture(w: u32, h: u32, fill: &str) -> Option<Vec<u8>> {
    let (kind, argument) = fill.split_once('=').unwrap_or((fill, ""));
    let mut seed = argument.parse::<u64>().unwrap_or(1);
    let mut out = Vec::with_capacity((w * h * 4) as usize);
    for y in 0..h {
        for x in 0..w {
            let texel: u32 = match kind {
                "zero" => 0,
                "ones" => !0,
                "checker" if (x / 4 + y / 4) % 2 == 0 => 0xffff_ffff,
                "checker" => 0x0000_00ff,
                "gradient" => (x * 255 / w.max(2)) << 24 | (y * 255 / h.max(2)) << 16 | 0xff,
                "random" => splitmix(&mut seed) as u32,
                _ => return None,
            };
            out.extend_from_slice(&texel.to_le_bytes());
        }
    }
    Some(out)
}
