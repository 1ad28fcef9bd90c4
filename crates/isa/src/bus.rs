//! What an instruction sees of memory. Generic, so that a lane access costs no dynamic call;
//! the timed run hands in a bus that also notes the lines touched.

use crate::Mask;
use crate::lanes::{Row, bits};
use thiserror::Error;

/// An access outside what the launch provides; names the address and what would have been legal.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} of {bytes} bytes at address {addr:#x}: {why}")]
pub struct MemFault {
    pub what: &'static str,
    pub addr: u64,
    pub bytes: u32,
    pub why: String,
}

impl MemFault {
    /// The same fault, with the lane it was in.
    #[cold]
    pub fn of_lane(mut self, lane: u32) -> MemFault {
        self.why += &format!(" (lane {lane})");
        self
    }
}

/// Memory as lanes see it: little-endian, byte addressed, bounds checked.
pub trait Bus {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault>;
    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault>;
    /// `K` dwords of every lane of `lanes`, at `base` plus the lane's offsets, into `out`: lanes lowest first, a
    /// lane's dwords in order. Memories that can do better than one access after the other do so, and fault at
    /// the same one.
    #[inline]
    fn load_lanes<const K: usize>(
        &mut self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
        out: &mut [Row<u32>; K],
    ) -> Result<(), MemFault> {
        for lane in bits(lanes) {
            for (offset, out) in offset.iter().zip(&mut *out) {
                let addr = base.wrapping_add(offset[lane as usize].into());
                out[lane as usize] = self.load(addr, 4)? as u32;
            }
        }
        Ok(())
    }

    /// The same for stores.
    #[inline]
    fn store_lanes<const K: usize>(
        &mut self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
        data: &[&Row<u32>; K],
    ) -> Result<(), MemFault> {
        for lane in bits(lanes) {
            for (offset, data) in offset.iter().zip(data) {
                let addr = base.wrapping_add(offset[lane as usize].into());
                self.store(addr, 4, data[lane as usize].into())?;
            }
        }
        Ok(())
    }

    /// A message to the host: false if nobody listens, an error if it asks for what cannot be done.
    fn message(&mut self) -> Result<bool, String> {
        Ok(false)
    }

    /// Text output of the program (HARP's console port).
    fn console(&mut self, byte: u8);

    /// Text of one of several streams (Vortex: one per hart); a line of a stream stays together.
    fn console_of(&mut self, _stream: u32, byte: u8) {
        self.console(byte);
    }

    /// The accesses of this instruction go to local memory: its banks take the time, not the caches.
    fn local(&mut self) {}
}
