//! What an instruction sees of memory. Generic, so that a lane access costs no dynamic call;
//! the timed run hands in a bus that also notes the lines touched.

use crate::Mask;
use crate::gather::Within;
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

/// What lanes do with their bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Load,
    /// All bytes are written.
    Store,
    /// Loaded, changed, stored, before the next lane's turn.
    Modify,
}

/// One lane's access to `N` bytes whose dwords are `step` bytes apart: `f` sees them and says what is stored. Dwords go in pairs
/// where they are aligned; what is modified goes at once.
#[inline(always)]
pub fn access<B: Bus + ?Sized, const N: usize>(
    bus: &mut B,
    first: u64,
    step: u64,
    how: Use,
    f: impl FnOnce(&mut [u8; N]),
) -> Result<(), MemFault> {
    let mut data = [0; N];
    let piece = match how {
        _ if N <= 4 => N,
        Use::Modify if step == 4 => N,
        Use::Load | Use::Store | Use::Modify if step == 4 && first.is_multiple_of(8) => 8,
        Use::Load | Use::Store | Use::Modify => 4,
    };
    let at = |k: usize| first.wrapping_add((k * piece / 4) as u64 * step);
    if how != Use::Store {
        for (k, bytes) in data.chunks_mut(piece).enumerate() {
            let word = bus.load(at(k), bytes.len() as u32)?.to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
    }
    f(&mut data);
    if how != Use::Load {
        for (k, bytes) in data.chunks(piece).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            bus.store(at(k), bytes.len() as u32, u64::from_le_bytes(word))?;
        }
    }
    Ok(())
}

/// What [`Bus::each`] does, one access after the other. A fault says in which lane it was.
#[inline(always)]
pub fn one_by_one<B: Bus + ?Sized, const N: usize, const P: usize>(
    bus: &mut B,
    base: u64,
    (offset, add): (&Row<u32>, [u32; P]),
    lanes: Mask,
    how: Use,
    mut f: impl FnMut(usize, usize, &mut [u8; N]),
) -> Result<(), MemFault> {
    for lane in bits(lanes) {
        bus.lane(lane);
        for (p, add) in add.into_iter().enumerate() {
            let first = base.wrapping_add(offset[lane as usize].into()).wrapping_add(add.into());
            access(bus, first, 4, how, |bytes| f(lane as usize, p, bytes)).map_err(|e| e.of_lane(lane))?;
        }
    }
    Ok(())
}

/// A lane's bytes as `D` numbers of equal size, into the lane of a row each.
#[inline(always)]
pub fn numbers_to_rows<const D: usize, const N: usize>(
    bytes: &[u8; N],
    lane: usize,
    rows: &mut [Row<u32>; D],
) {
    for (bytes, row) in bytes.chunks_exact(N / D).zip(rows) {
        let mut word = [0; 4];
        word[..N / D].copy_from_slice(bytes);
        row[lane % 64] = u32::from_le_bytes(word);
    }
}

/// The other way round.
#[inline(always)]
pub fn rows_to_numbers<const D: usize, const N: usize>(
    rows: &[&Row<u32>; D],
    lane: usize,
    bytes: &mut [u8; N],
) {
    for (bytes, row) in bytes.chunks_exact_mut(N / D).zip(rows) {
        bytes.copy_from_slice(&row[lane % 64].to_le_bytes()[..N / D]);
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

    /// `N` bytes at each of `P` places of every lane of `lanes`, at `base` plus the lane's offset plus what is added for the
    /// place: lanes lowest first, a lane's places in order. `f` gets lane, place and bytes. A fault says in which lane it was.
    #[inline]
    fn each<const N: usize, const P: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        f: impl FnMut(usize, usize, &mut [u8; N]),
    ) -> Result<(), MemFault> {
        one_by_one(self, base, places, lanes, how, f)
    }

    /// What [`Bus::each`] does for loads: of each place `D` numbers that follow each other, `N` bytes in all, one row for each.
    /// Lanes that are not in `lanes` get anything.
    #[inline]
    fn load_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        out: &mut [[Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        self.each(base, places, lanes, Use::Load, |lane, p, bytes: &mut [u8; N]| {
            numbers_to_rows(bytes, lane, &mut out[p]);
        })
    }

    /// The same for stores.
    #[inline]
    fn store_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        data: &[[&Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        self.each(base, places, lanes, Use::Store, |lane, p, bytes: &mut [u8; N]| {
            rows_to_numbers(&data[p], lane, bytes);
        })
    }

    /// What [`Bus::each`] does to what is modified, if the `bytes` bytes of all lanes lie in one piece of memory that may be touched:
    /// `f` gets it and goes over the lanes itself, lowest first, or says that it cannot. False: nothing was done.
    #[inline]
    fn modify_rows(
        &mut self,
        _base: u64,
        _offset: &Row<u32>,
        _lanes: Mask,
        _bytes: u32,
        _f: impl FnOnce(&mut [u8], Within) -> bool,
    ) -> bool {
        false
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

    /// Single accesses that follow are this lane's; who checks a run wants to know.
    #[inline(always)]
    fn lane(&mut self, _lane: u32) {}

    /// The accesses of this instruction go to local memory: its banks take the time, not the caches.
    fn local(&mut self) {}
}
