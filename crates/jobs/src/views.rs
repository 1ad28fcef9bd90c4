//! Buffers and textures of a GUPPY launch, described in one word each: `buf:u32:256:iota`, `tex:64x64:checker`.

use crate::args::{self, Argument};
use crate::data::{Array, Buffer, Element, FILLS, MAX_BYTES, splitmix};
use crate::error::{JobError, refused};
use wb_isa::guppy::{Bindings, Filter, Sampler, View, Wrap};

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

impl Views {
    /// Adds `NAME=SPEC`, e.g. `u0=buf:u32:256`.
    pub fn add(&mut self, text: &str) -> Result<(), JobError> {
        let bad = |why: String| {
            let help = format!(
                "views look like t0=buf:u32:256:iota, u0=buf:f32:64, t1=tex:64x64:checker or t1=u0; fills: {FILLS} (textures also checker, gradient)"
            );
            refused!(Buffer, help = help, "view `{text}`: {why}")
        };
        let (name, spec) = text.split_once('=').ok_or_else(|| bad("`=` is missing".into()))?;
        let (writable, index) =
            parse_name(name).ok_or_else(|| bad(format!("`{name}` is not t0…t63 or u0…u63")))?;
        let parts: Vec<&str> = spec.split(':').collect();
        let view = match parts.as_slice() {
            ["buf", ..] => match args::parse(spec).map_err(&bad)? {
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
    pub fn add_sampler(&mut self, text: &str) -> Result<(), JobError> {
        let bad = || {
            refused!(
                Buffer,
                help = "samplers look like s0=linear:repeat or s1=nearest:clamp",
                "sampler `{text}`"
            )
        };
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
