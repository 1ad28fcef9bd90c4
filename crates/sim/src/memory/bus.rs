//! What instructions see of memory, and what a timed run learns of their accesses.

use super::device::DeviceMemory;
use super::lanes;
use crate::console::Console;
use wb_isa::lanes::{Row, bits};
use wb_isa::{Bus, Mask, MemFault, Use, numbers_to_rows, one_by_one, rows_to_numbers};

/// Banks local memory can have.
pub const MAX_BANKS: usize = 64;

/// The lines one memory instruction touches, each once, in the order of its lanes (coalescing); for local
/// memory the dwords of all lanes, since banks serve each on its own.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub list: Vec<u64>,
    shift: u32,
    banked: bool,
    /// Also record which lane touches which line.
    pub by_lane: bool,
    lanes: Vec<(u32, u64)>,
    /// A line was touched by nobody knows which lane.
    unknown: bool,
    /// Every access as it was, if somebody looks between instructions.
    exact: Option<Vec<Exact>>,
}

/// An access of an instruction: where, and of which lane if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    pub addr: u64,
    pub bytes: u32,
    pub lane: Option<u32>,
}

impl Lines {
    pub fn start(&mut self, line_bytes: u32) {
        self.list.clear();
        self.shift = line_bytes.trailing_zeros();
        self.banked = false;
        self.lanes.clear();
        self.unknown = false;
    }

    /// From now on, and for this instruction anew, every access is kept as it is.
    pub fn start_exact(&mut self) {
        self.start(1);
        self.exact.get_or_insert_default().clear();
    }

    /// The accesses of the last instruction, if they were wanted.
    pub fn exact(&self) -> &[Exact] {
        self.exact.as_deref().unwrap_or_default()
    }

    #[cold]
    fn keep(&mut self, addr: u64, bytes: u32, lane: Option<u32>) {
        if let Some(exact) = &mut self.exact {
            exact.push(Exact { addr, bytes, lane });
        }
    }

    /// Lanes that touch a line of which `late` says so, by place in the list; none if lanes were not recorded.
    pub fn lanes_of(&self, late: impl Fn(usize) -> bool) -> Option<Mask> {
        if self.unknown || self.banked || self.lanes.is_empty() {
            return None;
        }
        let place = |line: u64| self.list.iter().position(|&l| l == line);
        let touched = self.lanes.iter().filter(|(_, line)| place(*line).is_some_and(&late));
        Some(touched.fold(0, |lanes, (lane, _)| lanes | 1 << lane))
    }

    pub fn start_banked(&mut self) {
        self.list.clear();
        self.shift = 2;
        self.banked = true;
    }

    /// The instruction went to local memory.
    pub fn is_banked(&self) -> bool {
        self.banked
    }

    /// Times the banks are used for all dwords: as many dwords as there are banks go together, unless two
    /// different ones of them share a bank. The same dword is read once for all lanes.
    pub fn bank_passes(&self, banks: u32) -> u64 {
        let banks = u64::from(banks);
        if banks == 0 {
            return 1;
        }
        // Neighbours are in different banks.
        let first = self.list.first().copied().unwrap_or(0);
        let apart = self.list.iter().zip(first..).fold(0, |apart, (dword, next)| apart | dword ^ next);
        if apart == 0 && banks as usize <= MAX_BANKS {
            return (self.list.len() as u64).div_ceil(banks).max(1);
        }
        let mut passes = 0;
        for together in self.list.chunks((banks as usize).min(MAX_BANKS)) {
            // The different dwords of each bank, newest first: by place behind `together`'s first, 0 = none.
            let mut newest = [0u8; MAX_BANKS];
            let mut older = [0u8; MAX_BANKS];
            let mut load = [0u8; MAX_BANKS];
            let mut most = 0;
            for (i, &dword) in together.iter().enumerate() {
                let bank = if banks.is_power_of_two() { dword & (banks - 1) } else { dword % banks };
                let bank = bank as usize % MAX_BANKS;
                let mut at = newest[bank];
                while at != 0 && together[usize::from(at) - 1] != dword {
                    at = older[usize::from(at) - 1];
                }
                if at == 0 {
                    (older[i], newest[bank]) = (newest[bank], i as u8 + 1);
                    load[bank] += 1;
                    most = most.max(load[bank]);
                }
            }
            passes += u64::from(most);
        }
        passes.max(1)
    }

    #[inline]
    fn touch(&mut self, addr: u64) {
        let line = addr >> self.shift;
        if self.list.last() != Some(&line) && !self.list.contains(&line) {
            self.list.push(line);
        }
    }

    /// An access to the line that was touched last adds nothing.
    #[inline(always)]
    fn is_last(&self, addr: u64, bytes: u32) -> bool {
        let line = addr >> self.shift;
        !self.banked
            && self.list.last() == Some(&line)
            && (addr + u64::from(bytes.max(1)) - 1) >> self.shift == line
    }

    /// An access. Not inlined: it would be in every instruction that uses memory.
    #[inline(never)]
    fn note(&mut self, addr: u64, bytes: u32) {
        self.unknown = true;
        if self.exact.is_some() {
            return self.keep(addr, bytes, None);
        }
        self.add(addr, bytes);
    }

    #[inline(always)]
    fn add(&mut self, addr: u64, bytes: u32) {
        if self.banked {
            let dwords = addr >> 2..=(addr + u64::from(bytes.max(1)) - 1) >> 2;
            self.list.extend(dwords);
        } else {
            self.touch(addr);
            if bytes > 1 {
                self.touch(addr + u64::from(bytes) - 1);
            }
        }
    }

    /// Lane by lane, as if every dword had been accessed by itself.
    #[inline(never)]
    fn note_lanes<const K: usize>(&mut self, base: u64, offset: &[Row<u32>; K], lanes: Mask) {
        if self.exact.is_some() {
            for lane in bits(lanes) {
                for offset in offset {
                    self.keep(base.wrapping_add(offset[lane as usize].into()), 4, Some(lane));
                }
            }
            return;
        }
        if self.by_lane {
            for lane in bits(lanes) {
                for offset in offset {
                    let first = base.wrapping_add(offset[lane as usize].into());
                    self.lanes
                        .extend([(lane, first >> self.shift), (lane, first.wrapping_add(3) >> self.shift)]);
                }
            }
        }
        if K == 1 && !self.banked && self.shift >= 5 {
            lanes::runs(base, &offset[0], lanes, |addr, bytes| {
                self.touch(addr);
                self.touch(addr + u64::from(bytes.max(1)) - 1);
            });
            return;
        }
        // A dword that is not aligned is in two banks.
        if K == 1 && self.banked && offset[0].iter().fold(base as u32, |all, at| all | at).is_multiple_of(4) {
            let dword = |at: u32| base.wrapping_add(at.into()) >> 2;
            if lanes == Mask::MAX {
                self.list.extend(offset[0].iter().map(|at| dword(*at)));
            } else {
                self.list.extend(bits(lanes).map(|lane| dword(offset[0][lane as usize])));
            }
            return;
        }
        for lane in bits(lanes) {
            for offset in offset {
                self.add(base.wrapping_add(offset[lane as usize].into()), 4);
            }
        }
    }

    /// As if every place of every lane had been accessed by itself. Loads of whole dwords tell which lane touches which line.
    #[inline(never)]
    fn note_each<const P: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        bytes: u32,
    ) {
        let known = how == Use::Load && bytes >= 4;
        self.unknown |= !known && lanes != 0;
        for lane in bits(lanes) {
            for add in add {
                let first = base.wrapping_add(offset[lane as usize].into()).wrapping_add(add.into());
                if self.exact.is_some() {
                    self.keep(first, bytes, Some(lane));
                    continue;
                }
                let last = first.wrapping_add(u64::from(bytes) - 1);
                if self.by_lane && known {
                    self.lanes.extend([(lane, first >> self.shift), (lane, last >> self.shift)]);
                }
                if !self.banked {
                    self.touch(first);
                    self.touch(last);
                } else if how == Use::Modify {
                    self.add(first, bytes);
                    self.add(first, bytes);
                } else if first.is_multiple_of(4) {
                    self.list.extend(first >> 2..=last >> 2);
                } else {
                    // Dwords that are not aligned are in two banks each.
                    (0..bytes).step_by(4).for_each(|k| self.add(first + u64::from(k), bytes.min(4)));
                }
            }
        }
    }

    /// First byte of each line.
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = u64> {
        self.list.iter().map(|l| l << self.shift)
    }
}

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
    fn modify_rows<const D: usize, const N: usize>(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        f: impl FnOnce(&[Row<u32>; D]) -> [Row<u32>; D],
    ) -> bool {
        if self.memory.checker.is_some() || !self.memory.modify_rows::<D, N>(base, offset, lanes, f) {
            return false;
        }
        if self.note {
            self.lines.note_each(base, (offset, [0]), lanes, Use::Modify, N as u32);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(dwords: impl Iterator<Item = u64>) -> u64 {
        let mut lines = Lines::default();
        lines.start_banked();
        lines.list.extend(dwords);
        lines.bank_passes(32)
    }

    #[test]
    fn banks_serve_a_dword_each() {
        assert_eq!(passes(0..64), 2, "two rows of banks");
        assert_eq!(passes((0..64).map(|i| i * 2)), 4, "every bank twice in each half");
        assert_eq!(passes((0..64).map(|i| i * 32)), 64, "all in one bank");
        assert_eq!(passes((0..64).map(|_| 7)), 2, "one dword for all lanes");
        assert_eq!(passes((0..64).map(|i| i * 33)), 2, "padding helps");
        assert_eq!(passes(0..3), 1);
    }

    /// Different dwords of each bank, counted one by one.
    #[test]
    fn passes_are_what_the_fullest_bank_needs() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for round in 0..2000 {
            let banks = [1, 2, 16, 17, 32, 33, 64][random(7) as usize];
            let (count, spread) = (1 + random(130), [2, 20, 100, 5000][random(4) as usize]);
            let mut lines = Lines::default();
            lines.start_banked();
            lines.list.extend((0..count).map(|_| random(spread)));
            let passes = lines.list.chunks(banks as usize).map(|together| {
                let different: std::collections::BTreeSet<u64> = together.iter().copied().collect();
                (0..banks).map(|bank| different.iter().filter(|d| *d % banks == bank).count()).max()
            });
            let want: usize = passes.map(|most| most.unwrap_or(0)).sum();
            assert_eq!(lines.bank_passes(banks as u32), want as u64, "round {round}: {:?}", lines.list);
        }
    }
}
