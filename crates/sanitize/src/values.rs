//! Undefined bytes on their way between memory and the registers of one instruction.

use crate::shadow::Shadow;
use wb_isa::Mask;
use wb_isa::marks::{Marks, Origin, Planes};

/// Registers that an instruction loads at most and that are followed; scalar loads have sixteen.
const MOST: usize = 16;

/// What an instruction loads and stores, lane by lane: the dwords of a lane go to its registers in order.
pub struct Loaded<'a> {
    registers: &'a [u16],
    planes: [Planes; MOST],
    /// Dwords that each lane has loaded so far, and stored.
    loaded: [u8; 64],
    stored: [u8; 64],
    lanes: Mask,
    keeps: bool,
    stores: usize,
    /// The first address at which something was undefined.
    pub first: Option<u64>,
}

impl<'a> Loaded<'a> {
    pub fn new(registers: &'a [u16], stores: usize, keeps: bool) -> Loaded<'a> {
        let planes = [Planes::default(); MOST];
        Loaded { registers, planes, loaded: [0; 64], stored: [0; 64], lanes: 0, keeps, stores, first: None }
    }

    #[inline]
    pub fn load(&mut self, shadow: &Shadow, addr: u64, bytes: u32, lane: u32) {
        let lane_bit = 1 << (lane & 63);
        self.lanes |= lane_bit;
        let mut at = 0;
        while at < bytes {
            let n = (bytes - at).min(4);
            let undefined = shadow.undefined(addr + u64::from(at), n);
            let dword = &mut self.loaded[lane as usize & 63];
            let register = usize::from(*dword);
            *dword += 1;
            if undefined != 0 {
                self.first.get_or_insert(addr);
                if let Some(planes) = self.planes.get_mut(register) {
                    // A part of a dword is extended.
                    let bits = if n < 4 { 0xf } else { undefined };
                    for (b, plane) in planes.iter_mut().enumerate() {
                        *plane |= if bits >> b & 1 == 1 { lane_bit } else { 0 };
                    }
                }
            }
            at += n;
        }
    }

    /// Lanes have loaded a dword that has a value.
    #[inline]
    pub fn skip(&mut self, lanes: Mask) {
        // Nobody counts where there is nothing behind it.
        if self.registers.len() > 1 {
            wb_isa::lanes::bits(lanes).for_each(|lane| self.loaded[lane as usize & 63] += 1);
        }
        self.lanes |= lanes;
    }

    /// Undefined bytes of what a lane stores next.
    pub fn stored(&mut self, data: &[Planes], bytes: u32, lane: u32) -> u16 {
        let first = usize::from(self.stored[lane as usize & 63]);
        self.stored[lane as usize & 63] += bytes.div_ceil(4) as u8;
        let mut out = 0;
        for at in 0..bytes.min(16) {
            let Some(planes) = data.get((first + at as usize / 4).min(self.stores.saturating_sub(1))) else {
                break;
            };
            out |= ((planes[at as usize % 4] >> (lane & 63) & 1) as u16) << at;
        }
        out
    }

    /// Marks the registers.
    pub fn mark(self, marks: &mut Marks, scalar: bool, origin: Origin) {
        if self.first.is_none() {
            return;
        }
        for (id, planes) in self.registers.iter().zip(self.planes) {
            if scalar {
                let bits = (0..4).fold(0, |all, b| all | if planes[b] != 0 { 0xff << (8 * b) } else { 0 });
                marks.set_bits(*id, bits, origin);
            } else if self.keeps {
                let old = marks.planes(*id);
                marks.set(*id, self.lanes, std::array::from_fn(|b| old[b] | planes[b]), origin);
            } else {
                marks.set(*id, self.lanes, planes, origin);
            }
        }
    }
}
