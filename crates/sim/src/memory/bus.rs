//! What instructions see of memory, and what a timed run learns of their accesses.

use super::device::DeviceMemory;
use super::lines::Lines;
use crate::console::Console;
use wb_isa::gather::Within;
use wb_isa::lanes::{Row, bits};
use wb_isa::{Bus, Mask, MemFault, Use, numbers_to_rows, one_by_one, rows_to_numbers};

/// What instructions see of memory.
pub struct MemBus<'a> {
    pub memory: &'a mut DeviceMemory,
    pub console: &'a mut Console,
    pub lines: &'a mut Lines,
    /// The run is timed: record the lines touched. A test and not a parameter of the type, which would double the instances
    /// of all instructions that use memory.
    pub note: bool,
    pub wrote: bool,
}

impl<'a> MemBus<'a> {
    /// For a run without time.
    #[inline(always)]
    pub fn untimed(
        memory: &'a mut DeviceMemory,
        console: &'a mut Console,
        lines: &'a mut Lines,
    ) -> MemBus<'a> {
        MemBus { memory, console, lines, note: false, wrote: false }
    }

    /// Whether the checker lets an access be made; there mostly is none.
    #[inline(always)]
    fn may(&mut self, addr: u64, bytes: u32, store: bool) -> bool {
        match &mut self.memory.checker {
            None => true,
            Some(checker) => checker.single(addr, bytes, store),
        }
    }

    /// The lanes whose dwords may be accessed.
    #[inline(always)]
    fn those_that_may<const K: usize>(
        &mut self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
        how: Use,
    ) -> Mask {
        match &mut self.memory.checker {
            None => lanes,
            Some(checker) => {
                offset.iter().fold(lanes, |lanes, row| checker.lanes(base, (row, 0), lanes, 4, how))
            }
        }
    }

    /// The lanes of which all places may be accessed.
    #[inline(always)]
    fn places_that_may(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, &[u32]),
        lanes: Mask,
        how: Use,
        bytes: u32,
    ) -> Mask {
        match &mut self.memory.checker {
            None => lanes,
            Some(checker) => {
                add.iter().fold(lanes, |lanes, &add| checker.lanes(base, (offset, add), lanes, bytes, how))
            }
        }
    }

    /// One access after the other. The checker has heard of them.
    #[inline(always)]
    fn apart<const N: usize, const P: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        f: impl FnMut(usize, usize, &mut [u8; N]),
    ) -> Result<(), MemFault> {
        let checker = self.memory.checker.take();
        let done = one_by_one(self, base, places, lanes, how, f);
        self.memory.checker = checker;
        done
    }

    #[inline(always)]
    fn note(&mut self, addr: u64, bytes: u32) {
        if self.note && !self.lines.is_last(addr, bytes) {
            self.lines.note(addr, bytes);
        }
    }

    #[inline(always)]
    fn note_lanes<const K: usize>(&mut self, base: u64, offset: &[Row<u32>; K], lanes: Mask) {
        if self.note {
            self.lines.note_lanes(base, offset, lanes);
        }
    }
}

impl Bus for MemBus<'_> {
    #[inline(always)]
    fn lane(&mut self, lane: u32) {
        if let Some(checker) = &mut self.memory.checker {
            checker.lane(lane);
        }
    }

    #[inline(always)]
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        if !self.may(addr, bytes, false) {
            return Ok(0);
        }
        let value = self.memory.load_word(addr, bytes)?;
        self.note(addr, bytes);
        Ok(value)
    }

    #[inline(always)]
    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        if !self.may(addr, bytes, true) {
            return Ok(());
        }
        self.memory.store_word(addr, bytes, value)?;
        self.note(addr, bytes);
        self.wrote = true;
        Ok(())
    }

    #[inline(always)]
    fn load_lanes<const K: usize>(
        &mut self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
        out: &mut [Row<u32>; K],
    ) -> Result<(), MemFault> {
        let lanes = self.those_that_may::<K>(base, offset, lanes, Use::Load);
        for (row, out) in offset.iter().zip(out) {
            if let Err(fault) = self.memory.load_lanes(base, row, lanes, out) {
                return Err(self.memory.first_fault(base, offset, lanes).unwrap_or(fault));
            }
        }
        self.note_lanes(base, offset, lanes);
        Ok(())
    }

    /// Lanes may store to the same place: several dwords of a lane go in order.
    #[inline(always)]
    fn store_lanes<const K: usize>(
        &mut self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
        data: &[&Row<u32>; K],
    ) -> Result<(), MemFault> {
        let lanes = self.those_that_may::<K>(base, offset, lanes, Use::Store);
        if K == 1 {
            self.memory.store_lanes(base, &offset[0], lanes, data[0])?;
        } else {
            for lane in bits(lanes) {
                for (offset, data) in offset.iter().zip(data) {
                    let addr = base.wrapping_add(offset[lane as usize].into());
                    self.memory.store_word(addr, 4, data[lane as usize].into())?;
                }
            }
        }
        self.note_lanes(base, offset, lanes);
        self.wrote |= lanes != 0;
        Ok(())
    }

    #[inline(always)]
    fn each<const N: usize, const P: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        mut f: impl FnMut(usize, usize, &mut [u8; N]),
    ) -> Result<(), MemFault> {
        let lanes = self.places_that_may(base, (places.0, &places.1), lanes, how, N as u32);
        if !self.memory.together(base, places, lanes, how, &mut f) {
            return self.apart(base, places, lanes, how, f);
        }
        if self.note {
            self.lines.note_each(base, places, lanes, how, N as u32);
        }
        self.wrote |= how != Use::Load && lanes != 0;
        Ok(())
    }

    #[inline(always)]
    fn load_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        out: &mut [[Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        let may = self.places_that_may(base, (places.0, &places.1), lanes, Use::Load, N as u32);
        let rows = out.as_flattened_mut();
        let at = (places.0, &places.1[..]);
        let done = match const { N / D } {
            1 => self.memory.load_rows::<1>(base, at, may, D, rows),
            2 => self.memory.load_rows::<2>(base, at, may, D, rows),
            4 => self.memory.load_rows::<4>(base, at, may, D, rows),
            _ => false,
        };
        if may != lanes {
            // What may not be loaded is zero.
            bits(lanes & !may).for_each(|lane| rows.iter_mut().for_each(|row| row[lane as usize] = 0));
        }
        if !done {
            let f = |lane, p: usize, bytes: &mut [u8; N]| numbers_to_rows(bytes, lane, &mut out[p]);
            return self.apart(base, places, may, Use::Load, f);
        }
        if self.note {
            self.lines.note_each(base, places, may, Use::Load, N as u32);
        }
        Ok(())
    }

    #[inline(always)]
    fn store_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        places: (&Row<u32>, [u32; P]),
        lanes: Mask,
        data: &[[&Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        let lanes = self.places_that_may(base, (places.0, &places.1), lanes, Use::Store, N as u32);
        if !self.memory.store_rows::<D, P, N>(base, places, lanes, data) {
            let f = |lane, p: usize, bytes: &mut [u8; N]| rows_to_numbers(&data[p], lane, bytes);
            return self.apart(base, places, lanes, Use::Store, f);
        }
        if self.note {
            self.lines.note_each(base, places, lanes, Use::Store, N as u32);
        }
        self.wrote |= lanes != 0;
        Ok(())
    }

    #[inline(always)]
    fn modify_rows(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        bytes: u32,
        f: impl FnOnce(&mut [u8], Within) -> bool,
    ) -> bool {
        if self.memory.checker.is_some() {
            return false;
        }
        let Some((within, piece)) = self.memory.piece_to_modify(base, offset, lanes, bytes) else {
            return false;
        };
        if !f(piece, within) {
            return false;
        }
        if self.note {
            self.lines.note_each(base, (offset, [0]), lanes, Use::Modify, bytes);
        }
        self.wrote |= lanes != 0;
        true
    }

    fn console(&mut self, byte: u8) {
        self.console.push(0, byte);
    }

    fn console_of(&mut self, stream: u32, byte: u8) {
        self.console.push(stream, byte);
    }

    fn message(&mut self) -> Result<bool, String> {
        let Some(mut calls) = self.memory.hostcalls.take() else { return Ok(false) };
        let served = calls.serve(self.memory);
        self.memory.hostcalls = Some(calls);
        served.map(|()| true)
    }

    #[inline(always)]
    fn local(&mut self) {
        if self.note {
            self.lines.start_banked();
        }
    }
}
