//! Texture objects over linear memory, as gfx803 code reads them: a buffer descriptor of four dwords where the compiler's
//! texture functions expect the image (GCN3 manual 8.1.8, buffer resource descriptor).

use crate::errors::{Code, Outcome, fatal};
use crate::runtime::Runtime;
use crate::state::Kind;

/// `hipChannelFormatDesc`: bits of the channels, and what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Channels {
    pub bits: [i32; 4],
    /// 0 signed, 1 unsigned, 2 float.
    pub kind: i32,
}

/// Dwords of a texture object: an image of 12 and a sampler of 8 (`texture_types.h`).
const OBJECT_DWORDS: usize = 20;

impl Channels {
    pub fn bytes(&self) -> u32 {
        self.bits.iter().map(|&b| b.max(0) as u32).sum::<u32>() / 8
    }

    /// Data format, number format and destination selects of the descriptor's fourth dword.
    fn word3(&self, normalized: bool) -> Outcome<u32> {
        let used = self.bits.iter().filter(|&&b| b > 0).count();
        let data = match (self.bits[0], used) {
            (8, 1) => 1,
            (16, 1) => 2,
            (8, 2) => 3,
            (32, 1) => 4,
            (16, 2) => 5,
            (8, 4) => 10,
            (32, 2) => 11,
            (16, 4) => 12,
            (32, 3) => 13,
            (32, 4) => 14,
            _ => return fatal(format!("textures with channels of {:?} bits are not supported", self.bits)),
        };
        let number = match (self.kind, normalized) {
            (0, true) => 1,
            (1, true) => 0,
            (0, false) => 5,
            (1, false) => 4,
            (2, _) => 7,
            _ => return Err(Code::INVALID_VALUE.into()),
        };
        // Missing channels read as 0, 0, 0, 1; selects are 4 to 7 for x to w.
        let select = |i: usize| if i < used { 4 + i as u32 } else { u32::from(i == 3) };
        let selects = (0..4).map(|i| select(i) << (3 * i)).sum::<u32>();
        Ok(selects | number << 12 | data << 15)
    }
}

impl Runtime {
    /// A texture object over `bytes` bytes of linear memory; returns its address.
    pub fn texture_linear(
        &mut self,
        addr: u64,
        channels: Channels,
        bytes: u64,
        normalized: bool,
    ) -> Outcome<u64> {
        let size = channels.bytes();
        if addr == 0 || size == 0 {
            return Err(Code::INVALID_VALUE.into());
        }
        let word3 = channels.word3(normalized)?;
        // On gfx803 records are bytes, unless the buffer is swizzled.
        let count = u32::try_from(bytes / u64::from(size) * u64::from(size)).unwrap_or(u32::MAX);
        let mut words = [0u32; OBJECT_DWORDS];
        words[0] = addr as u32;
        words[1] = (addr >> 32) as u32 & 0xffff | size << 16;
        words[2] = count;
        words[3] = word3;
        let object = self.malloc(4 * OBJECT_DWORDS as u64, Kind::Device, 0)?;
        let raw: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.host.device.write(object, &raw).map_err(|_| Code::INVALID_VALUE)?;
        self.textures.objects.insert(object);
        Ok(object)
    }

    pub fn texture_destroy(&mut self, object: u64) -> Outcome {
        if object == 0 {
            return Ok(());
        }
        if !self.textures.objects.remove(&object) {
            return Err(Code::INVALID_VALUE.into());
        }
        self.free(object)
    }
}
