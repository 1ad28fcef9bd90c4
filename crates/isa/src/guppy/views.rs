//! Memory as GUPPY programs name it: buffer and texture views, samplers, and texel arithmetic.
//! Texels are RGBA8 with x in the highest byte; texel centres lie at 0.5.

use crate::{Bus, MemFault, Trap};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    Buffer {
        base: u64,
        bytes: u64,
    },
    /// `pitch` is bytes from one row of texels to the next.
    Texture {
        base: u64,
        width: u32,
        height: u32,
        pitch: u32,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    Linear,
    Nearest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    #[default]
    Repeat,
    Clamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    pub filter: Filter,
    pub wrap: Wrap,
}

/// What `tN`, `uN` and `sN` mean in a launch. A sampler that is missing is linear with repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    pub t: Vec<Option<View>>,
    pub u: Vec<Option<View>>,
    pub samplers: Vec<Sampler>,
}

/// A texture known to have texels.
#[derive(Clone, Copy)]
pub(super) struct Texture {
    base: u64,
    width: u32,
    height: u32,
    pitch: u32,
}

impl Bindings {
    pub(super) fn view(&self, kind: char, index: u8) -> Result<&View, Trap> {
        let views = if kind == 't' { &self.t } else { &self.u };
        views.get(usize::from(index)).and_then(Option::as_ref).ok_or_else(|| {
            Trap::Other(format!(
                "view {kind}{index} is not bound; bind it, for example --view {kind}{index}=buf:u32:64:iota"
            ))
        })
    }

    pub(super) fn sampler(&self, index: u8) -> Sampler {
        self.samplers.get(usize::from(index)).cloned().unwrap_or_default()
    }
}

/// Address of the dword `component` at byte `offset` of a buffer view.
#[inline]
pub(super) fn dword(
    what: &'static str,
    name: (char, u8),
    (base, bytes): (u64, u64),
    offset: u32,
    component: u8,
) -> Result<u64, MemFault> {
    let at = u64::from(offset) + 4 * u64::from(component);
    let addr = base.wrapping_add(at);
    let why = if !offset.is_multiple_of(4) {
        format!("view {}{} is read and written in dwords, {offset} is not a multiple of 4", name.0, name.1)
    } else if at + 4 > bytes {
        format!("byte {at} of view {}{}, which has {bytes} bytes", name.0, name.1)
    } else {
        return Ok(addr);
    };
    Err(MemFault { what, addr, bytes: 4, why })
}

impl Texture {
    pub(super) fn of(view: &View, kind: char, index: u8) -> Result<Texture, Trap> {
        match *view {
            View::Texture { base, width, height, pitch } if width > 0 && height > 0 => {
                Ok(Texture { base, width, height, pitch })
            }
            View::Texture { .. } => Err(Trap::Other(format!("texture {kind}{index} has no texels"))),
            View::Buffer { .. } => Err(Trap::Other(format!(
                "view {kind}{index} is a buffer; sample reads textures, ld reads buffers"
            ))),
        }
    }

    #[inline]
    fn addr(&self, x: u32, y: u32) -> u64 {
        let row = u64::from(self.pitch) * u64::from(y);
        self.base.wrapping_add(row).wrapping_add(4 * u64::from(x))
    }

    /// Stores one texel; `rgba` holds float bits.
    pub(super) fn store<B: Bus>(
        &self,
        bus: &mut B,
        name: (char, u8),
        (x, y): (u32, u32),
        rgba: [u32; 4],
    ) -> Result<(), MemFault> {
        let addr = self.addr(x, y);
        if x >= self.width || y >= self.height {
            let (kind, index) = name;
            let why = format!(
                "texel ({x}, {y}) of texture {kind}{index}, which has {}x{}",
                self.width, self.height
            );
            return Err(MemFault { what: "store", addr, bytes: 4, why });
        }
        bus.store(addr, 4, u64::from(pack(rgba)))
    }

    /// Filtered colour at (u, v): one load when nearest, four when linear.
    pub(super) fn sample<B: Bus>(
        &self,
        bus: &mut B,
        sampler: &Sampler,
        u: f32,
        v: f32,
    ) -> Result<[f32; 4], MemFault> {
        let (u, v) = (fold(u, sampler.wrap), fold(v, sampler.wrap));
        if sampler.filter == Filter::Nearest {
            let x = index((u * self.width as f32).floor() as i64, self.width, sampler.wrap);
            let y = index((v * self.height as f32).floor() as i64, self.height, sampler.wrap);
            return Ok(unpack(bus.load(self.addr(x, y), 4)? as u32));
        }
        let (x, fx) = split(u, self.width);
        let (y, fy) = split(v, self.height);
        let corners = [
            (0, 0, (1.0 - fx) * (1.0 - fy)),
            (1, 0, fx * (1.0 - fy)),
            (0, 1, (1.0 - fx) * fy),
            (1, 1, fx * fy),
        ];
        let mut colour = [0.0; 4];
        for (dx, dy, weight) in corners {
            let tx = index(x + dx, self.width, sampler.wrap);
            let ty = index(y + dy, self.height, sampler.wrap);
            let texel = unpack(bus.load(self.addr(tx, ty), 4)? as u32);
            for (c, t) in colour.iter_mut().zip(texel) {
                *c += weight * t;
            }
        }
        Ok(colour)
    }
}

/// Brings a coordinate into 0..1; what is not a number becomes 0.
fn fold(u: f32, wrap: Wrap) -> f32 {
    let folded = match wrap {
        Wrap::Repeat => u - u.floor(),
        Wrap::Clamp => u.clamp(0.0, 1.0),
    };
    if folded.is_nan() { 0.0 } else { folded }
}

/// Lower texel along one axis and how far the point lies towards the next one.
fn split(u: f32, size: u32) -> (i64, f32) {
    let x = u * size as f32 - 0.5;
    let low = x.floor();
    (low as i64, x - low)
}

fn index(i: i64, size: u32, wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => i.rem_euclid(i64::from(size)) as u32,
        Wrap::Clamp => i.clamp(0, i64::from(size) - 1) as u32,
    }
}

fn unpack(texel: u32) -> [f32; 4] {
    texel.to_be_bytes().map(|b| f32::from(b) / 255.0)
}

/// Clamped to 0..1, rounded to nearest, x in the highest byte.
fn pack(rgba: [u32; 4]) -> u32 {
    u32::from_be_bytes(rgba.map(|bits| (unit(f32::from_bits(bits)) * 255.0 + 0.5) as u8))
}

/// Clamped to 0..1; what is not a number becomes 0.
#[inline(always)]
pub(super) fn unit(v: f32) -> f32 {
    if v > 1.0 {
        1.0
    } else if v > 0.0 {
        v
    } else {
        0.0
    }
}
