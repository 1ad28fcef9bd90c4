//! Dwords of many lanes at once. Lanes mostly ask for neighbouring dwords, or all for the same one: eight
//! lanes that do are one copy. Everything else goes dword by dword and faults where that faults.

use super::device::DeviceMemory;
use std::ops::Range;
use wb_isa::lanes::{CHUNK, Row, any_bits, bits, extremes, in_steps};
use wb_isa::{Mask, MemFault, Use};

type Chunk = [u32; CHUNK];

/// How eight lanes that are all active lie in memory.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Dwords one after the other.
    Run,
    /// One dword for all.
    Same,
    Scattered,
}

#[inline(always)]
fn shape(offset: &Chunk) -> Shape {
    let (mut run, mut same) = (0, 0);
    for i in 0..CHUNK {
        let distance = offset[i].wrapping_sub(offset[0]);
        run |= distance ^ (i as u32 * 4);
        same |= distance;
    }
    // A run must not wrap round in 32 bits.
    if run == 0 && offset[0] <= u32::MAX - 4 * CHUNK as u32 {
        Shape::Run
    } else if same == 0 {
        Shape::Same
    } else {
        Shape::Scattered
    }
}

/// The accesses of the active lanes, first byte and length, eight dwords in a row as one.
#[inline(always)]
pub(super) fn runs(base: u64, offset: &Row<u32>, lanes: Mask, mut f: impl FnMut(u64, u32)) {
    for (c, offset) in offset.as_chunks::<CHUNK>().0.iter().enumerate() {
        let active = (lanes >> (c * CHUNK)) as u8;
        if active == 0 {
            continue;
        }
        let shape = if active == u8::MAX { shape(offset) } else { Shape::Scattered };
        let at = |i: usize| base.wrapping_add(offset[i].into());
        match shape {
            Shape::Run => f(at(0), 4 * CHUNK as u32),
            Shape::Same => f(at(0), 4),
            Shape::Scattered => (0..CHUNK).filter(|i| active >> i & 1 == 1).for_each(|i| f(at(i), 4)),
        }
    }
}

/// Bytes among which the dwords of all active lanes lie.
pub(super) struct Extent {
    /// The least offset.
    pub low: u32,
    pub bytes: Range<usize>,
}

/// Lanes further apart than this go one by one.
const WIDEST: u64 = 1 << 16;

/// The lanes, lowest first; all of them in a loop without a mask.
#[inline(always)]
pub(super) fn each_lane(lanes: Mask, mut f: impl FnMut(usize)) {
    if lanes == Mask::MAX {
        (0..64).for_each(f);
    } else {
        bits(lanes).for_each(|lane| f(lane as usize));
    }
}

/// Fewer lanes than this do not pay for a look at all of them.
const FEW: u32 = 4;

/// Bytes of a row of dwords.
const ROW: usize = 4 * 64;

impl DeviceMemory {
    /// The extent of the active lanes, which access `reach` bytes each, if every byte of it may be touched and is not below `floor`.
    #[inline(never)]
    pub(super) fn extent(
        &self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        floor: u64,
        reach: u32,
    ) -> Option<Extent> {
        self.extent_of(base, extremes(offset, lanes), floor, reach)
    }

    /// The same, if the least and the largest offset are known.
    #[inline(always)]
    pub(super) fn extent_of(
        &self,
        base: u64,
        (low, high): (u32, u32),
        floor: u64,
        reach: u32,
    ) -> Option<Extent> {
        let size = u64::from(high.checked_sub(low)?) + u64::from(reach);
        let first = base.checked_add(low.into())?;
        if size > WIDEST || first < floor || !self.guard.allows_all(first, size) {
            return None;
        }
        let at = first.wrapping_sub(self.start) as usize;
        Some(Extent { low, bytes: at..at.checked_add(size as usize)? })
    }

    /// An extent from `base` on, if offsets of all lanes, active or not, are small: as in local memory, where one base is known.
    #[inline(always)]
    pub(super) fn near(&self, base: u64, offset: &Row<u32>, floor: u64, reach: u32) -> Option<Extent> {
        // Of flat addresses the base is the upper dword.
        if base as u32 == 0 || base < floor {
            return None;
        }
        let size = u64::from(any_bits(offset)) + u64::from(reach);
        if size > WIDEST || !self.guard.allows_all(base, size) {
            return None;
        }
        let at = base.wrapping_sub(self.start) as usize;
        Some(Extent { low: 0, bytes: at..at.checked_add(size as usize)? })
    }

    /// Where the dwords of all lanes lie, if they follow each other, all may be touched, and none is below `floor`.
    #[inline(always)]
    fn whole_row(&self, base: u64, offset: &Row<u32>, lanes: Mask, floor: u64) -> Option<Range<usize>> {
        if lanes != Mask::MAX || offset[0] > u32::MAX - ROW as u32 || !in_steps(offset, 4) {
            return None;
        }
        let first = base.wrapping_add(offset[0].into());
        if first < floor || !self.guard.allows(first, ROW as u32) {
            return None;
        }
        let at = first.wrapping_sub(self.start) as usize;
        Some(at..at.checked_add(ROW)?)
    }

    /// The bytes of the extent, with the least offset.
    fn readable(&self, base: u64, offset: &Row<u32>, lanes: Mask) -> Option<(u32, &[u8])> {
        let Extent { low, bytes } = self.extent(base, offset, lanes, self.floor, 4)?;
        let (at, size) = (bytes.start, bytes.len());
        let there = match self.bytes.get(bytes) {
            Some(there) => there,
            None => {
                let copies = self.copies.as_ref()?;
                let there = copies.slice(at, size)?;
                each_lane(lanes, |lane| {
                    copies.reads(at.wrapping_add(offset[lane].wrapping_sub(low) as usize), 4)
                });
                there
            }
        };
        Some((low, there))
    }

    /// Accesses of all lanes, if they lie so close together that one look says they may. False: nothing was done.
    #[inline(always)]
    pub(super) fn together<const N: usize, const P: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        f: &mut impl FnMut(usize, usize, &mut [u8; N]),
    ) -> bool {
        if !self.windows.is_empty() {
            return false;
        }
        let floor = if how == Use::Load { self.floor } else { self.text_end.max(self.floor) };
        let (least, most) = add.iter().fold((u32::MAX, 0), |(a, b), &add| (a.min(add), b.max(add)));
        let Some(start) = base.checked_add(least.into()) else { return false };
        let reach = most.wrapping_sub(least).saturating_add(N as u32);
        let Some(Extent { low, bytes }) = self.extent(start, offset, lanes, floor, reach) else {
            return false;
        };
        let (at, size) = (bytes.start, bytes.len());
        let place =
            |lane: usize, add: u32| (offset[lane].wrapping_sub(low) as usize) + (add - least) as usize;
        let row = P == 1 && lanes == Mask::MAX && in_steps(offset, N as u32);
        if how == Use::Load {
            let bytes = match (self.bytes.get(bytes), &self.copies) {
                (Some(bytes), _) => bytes,
                (None, None) => return false,
                (None, Some(copies)) => {
                    let Some(bytes) = copies.slice(at, size) else { return false };
                    match row {
                        true => copies.reads(at, size),
                        false => each_lane(lanes, |lane| {
                            add.iter().for_each(|&add| copies.reads(at.wrapping_add(place(lane, add)), N));
                        }),
                    }
                    bytes
                }
            };
            if row && let Ok(all) = <&[[u8; N]; 64]>::try_from(bytes.as_chunks().0) {
                all.iter().enumerate().for_each(|(lane, bytes)| f(lane, 0, &mut { *bytes }));
                return true;
            }
            each_lane(lanes, |lane| {
                for (p, add) in add.into_iter().enumerate() {
                    let bytes = bytes[place(lane, add)..].first_chunk().copied();
                    f(lane, p, &mut bytes.unwrap_or([0; N]));
                }
            });
            return true;
        }
        let Some(bytes) = self.bytes.get_mut(bytes) else { return false };
        if row && let Ok(all) = <&mut [[u8; N]; 64]>::try_from(bytes.as_chunks_mut().0) {
            all.iter_mut().enumerate().for_each(|(lane, bytes)| f(lane, 0, bytes));
        } else if P == 1
            && let Ok(one) = <&mut [u8; N]>::try_from(&mut *bytes)
        {
            // All lanes at one place, which need not go through memory.
            let mut copy = *one;
            each_lane(lanes, |lane| f(lane, 0, &mut copy));
            *one = copy;
        } else {
            each_lane(lanes, |lane| {
                for (p, add) in add.into_iter().enumerate() {
                    if let Some(bytes) = bytes[place(lane, add)..].first_chunk_mut() {
                        f(lane, p, bytes);
                    }
                }
            });
        }
        true
    }

    /// Where accesses that fault do so first, going lane by lane.
    #[cold]
    pub(super) fn first_fault<const K: usize>(
        &self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
    ) -> Option<MemFault> {
        let places = bits(lanes).flat_map(|lane| offset.iter().map(move |row| row[lane as usize]));
        places.into_iter().find_map(|at| self.load_word(base.wrapping_add(at.into()), 4).err())
    }

    #[inline(never)]
    pub(super) fn load_lanes(
        &self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        out: &mut Row<u32>,
    ) -> Result<(), MemFault> {
        if !self.windows.is_empty() {
            return self.load_windows(base, offset, lanes, out);
        }
        let row = self.whole_row(base, offset, lanes, self.floor);
        if let Some(bytes) = row.and_then(|row| self.bytes.get(row)) {
            for (out, b) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *out = u32::from_le_bytes(*b);
            }
            return Ok(());
        }
        if lanes == Mask::MAX && in_steps(offset, 0) {
            *out = [self.load_word(base.wrapping_add(offset[0].into()), 4)? as u32; 64];
            return Ok(());
        }
        if self.load_chunks(base, offset, lanes, out, lanes == Mask::MAX)?
            || self.load_rows::<4>(base, (offset, &[0]), lanes, 1, std::slice::from_mut(out))
        {
            return Ok(());
        }
        self.load_chunks(base, offset, lanes, out, false).map(|_| ())
    }

    /// Eight lanes after the other. False if it gives up, which it may where lanes are scattered.
    #[inline(always)]
    fn load_chunks(
        &self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        out: &mut Row<u32>,
        gives_up: bool,
    ) -> Result<bool, MemFault> {
        let all = offset;
        let mut extent: Option<Option<(u32, &[u8])>> = None;
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(out.as_chunks_mut::<CHUNK>().0);
        for (c, (offset, out)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            if active == 0 {
                continue;
            }
            let first = base.wrapping_add(offset[0].into());
            let shape =
                if active == u8::MAX && first >= self.floor { shape(offset) } else { Shape::Scattered };
            let shape = match shape {
                // Lane by lane, the first one that may not is found.
                Shape::Run if !self.guard.allows(first, 4 * CHUNK as u32) => Shape::Scattered,
                shape => shape,
            };
            match shape {
                Shape::Run => {
                    let at = first.wrapping_sub(self.start) as usize;
                    match self.bytes.get(at..at.wrapping_add(4 * CHUNK)) {
                        Some(bytes) => {
                            for (out, b) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                                *out = u32::from_le_bytes(*b);
                            }
                        }
                        None if self.copies.is_some() => self.load_copied(at, base, offset, out)?,
                        None => {
                            for (out, &offset) in out.iter_mut().zip(offset) {
                                *out = self.load_word(base.wrapping_add(offset.into()), 4)? as u32;
                            }
                        }
                    }
                }
                Shape::Same => *out = [self.load_word(first, 4)? as u32; CHUNK],
                Shape::Scattered if gives_up => return Ok(false),
                Shape::Scattered => match extent.get_or_insert_with(|| self.readable(base, all, lanes)) {
                    Some((low, bytes)) => {
                        for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                            let at = offset[i].wrapping_sub(*low) as usize;
                            out[i] = bytes[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                        }
                    }
                    None => {
                        for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                            out[i] = self.load_word(base.wrapping_add(offset[i].into()), 4)? as u32;
                        }
                    }
                },
            }
        }
        Ok(true)
    }

    #[inline(never)]
    pub(super) fn store_lanes(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        data: &Row<u32>,
    ) -> Result<(), MemFault> {
        if !self.windows.is_empty() {
            return self.store_windows(base, offset, lanes, data);
        }
        let row = self.whole_row(base, offset, lanes, self.text_end.max(self.floor));
        if let Some(bytes) = row.and_then(|row| self.bytes.get_mut(row)) {
            for (b, v) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(data) {
                *b = v.to_le_bytes();
            }
            return Ok(());
        }
        if lanes.count_ones() >= FEW && self.store_rows::<1, 1, 4>(base, (offset, [0]), lanes, &[[data]]) {
            return Ok(());
        }
        let all = offset;
        let mut extent: Option<Option<Extent>> = None;
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(data.as_chunks::<CHUNK>().0);
        for (c, (offset, data)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            if active == 0 {
                continue;
            }
            let first = base.wrapping_add(offset[0].into());
            let at = first.wrapping_sub(self.start) as usize;
            if active == u8::MAX
                && first >= self.text_end.max(self.floor)
                && shape(offset) == Shape::Run
                && self.guard.allows(first, 4 * CHUNK as u32)
            {
                if let Some(bytes) = self.bytes.get_mut(at..at.wrapping_add(4 * CHUNK)) {
                    for (b, v) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(data) {
                        *b = v.to_le_bytes();
                    }
                    continue;
                }
                if self.store_copied(at, data) {
                    continue;
                }
            }
            let floor = self.text_end.max(self.floor);
            let there = |e: &Extent| e.bytes.end <= self.bytes.len();
            match extent.get_or_insert_with(|| self.extent(base, all, lanes, floor, 4).filter(there)) {
                Some(Extent { low, bytes }) => {
                    let bytes = &mut self.bytes[bytes.clone()];
                    for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                        let at = offset[i].wrapping_sub(*low) as usize;
                        if let Some(b) = bytes[at..].first_chunk_mut() {
                            *b = data[i].to_le_bytes();
                        }
                    }
                }
                None => {
                    for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                        self.store_word(base.wrapping_add(offset[i].into()), 4, data[i].into())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Eight dwords in a row of memory that this thread has copies of.
    #[inline(never)]
    fn load_copied(&self, at: usize, base: u64, offset: &Chunk, out: &mut Chunk) -> Result<(), MemFault> {
        let run = self.copies.as_ref().and_then(|copies| copies.load::<{ 4 * CHUNK }>(at));
        for (i, out) in out.iter_mut().enumerate() {
            *out = match &run {
                Some(bytes) => u32::from_le_bytes(bytes.as_chunks::<4>().0[i]),
                None => self.load_word(base.wrapping_add(offset[i].into()), 4)? as u32,
            };
        }
        Ok(())
    }

    /// The same for a store; false if there are no copies, or not so many bytes.
    #[inline(never)]
    fn store_copied(&mut self, at: usize, data: &Chunk) -> bool {
        let mut run = [0; 4 * CHUNK];
        for (b, v) in run.as_chunks_mut::<4>().0.iter_mut().zip(data) {
            *b = v.to_le_bytes();
        }
        self.copies.as_mut().is_some_and(|copies| copies.store(at, &run).is_some())
    }

    /// Loads where memory has windows: all lanes in one of them need one look, others one each.
    fn load_windows(
        &self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        out: &mut Row<u32>,
    ) -> Result<(), MemFault> {
        let Some((place, _)) = self.window(base, offset, lanes) else {
            for lane in bits(lanes) {
                let at = base.wrapping_add(offset[lane as usize].into());
                out[lane as usize] = self.load_word(at, 4)? as u32;
            }
            return Ok(());
        };
        let dword = |offset: u32| {
            let a = place.wrapping_add(offset.into()) as usize;
            self.bytes.get(a..a + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(out.as_chunks_mut::<CHUNK>().0);
        for (c, (offset, out)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            if active == 0 {
                continue;
            }
            let first = place.wrapping_add(offset[0].into()) as usize;
            match if active == u8::MAX { shape(offset) } else { Shape::Scattered } {
                Shape::Run if first + 4 * CHUNK <= self.bytes.len() => {
                    let bytes = self.bytes[first..first + 4 * CHUNK].as_chunks::<4>().0;
                    out.iter_mut().zip(bytes).for_each(|(out, b)| *out = u32::from_le_bytes(*b));
                }
                Shape::Same => *out = [dword(offset[0]); CHUNK],
                _ => {
                    for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                        out[i] = dword(offset[i]);
                    }
                }
            }
        }
        Ok(())
    }

    fn store_windows(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        data: &Row<u32>,
    ) -> Result<(), MemFault> {
        let window = self.window(base, offset, lanes);
        let Some((place, _)) = window.filter(|(_, at)| !self.in_text(base, offset, lanes, at)) else {
            for lane in bits(lanes) {
                let at = base.wrapping_add(offset[lane as usize].into());
                self.store_word(at, 4, data[lane as usize].into())?;
            }
            return Ok(());
        };
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(data.as_chunks::<CHUNK>().0);
        for (c, (offset, data)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            if active == 0 {
                continue;
            }
            let first = place.wrapping_add(offset[0].into()) as usize;
            if active == u8::MAX
                && shape(offset) == Shape::Run
                && let Some(bytes) = self.bytes.get_mut(first..first.wrapping_add(4 * CHUNK))
            {
                bytes.as_chunks_mut::<4>().0.iter_mut().zip(data).for_each(|(b, v)| *b = v.to_le_bytes());
                continue;
            }
            for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                let a = place.wrapping_add(offset[i].into()) as usize;
                if let Some(bytes) = self.bytes.get_mut(a..a + 4) {
                    bytes.copy_from_slice(&data[i].to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// Where the dwords of the lanes lie if they are in one window and none is below the floor: the base from which `offset` reaches
    /// their bytes, and the first and the last address.
    fn window(&self, base: u64, offset: &Row<u32>, lanes: Mask) -> Option<(u64, (u64, u64))> {
        if lanes == 0 {
            return None;
        }
        let (low, high) = extremes(offset, lanes);
        let at = (base.checked_add(low.into())?, base.checked_add(high.into())?);
        let shift = self.windows.shift(at).filter(|_| at.0 >= self.floor)?;
        Some((base.wrapping_add(shift), at))
    }

    /// Whether an access may touch instructions; `at`: its first and its last address.
    fn in_text(&self, base: u64, offset: &Row<u32>, lanes: Mask, at: &(u64, u64)) -> bool {
        let text = self.text_start..self.text_end;
        if at.0 >= text.end || at.1 + 4 <= text.start {
            return false;
        }
        bits(lanes).any(|lane| {
            let at = base + u64::from(offset[lane as usize]);
            at < text.end && at + 4 > text.start
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bus::MemBus;
    use super::super::lines::Lines;
    use super::*;
    use wb_isa::Bus;

    /// A bus that knows only single accesses: the trait's own loops.
    struct Single<'a>(MemBus<'a>);

    impl Bus for Single<'_> {
        fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
            self.0.load(addr, bytes)
        }

        fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
            self.0.store(addr, bytes, value)
        }

        fn console(&mut self, _byte: u8) {}
    }

    /// What an access leaves behind: results, memory, lines, fault.
    type After<const K: usize> = (Result<[Row<u32>; K], MemFault>, Vec<u8>, Vec<u64>, bool);

    fn access<const K: usize>(
        offset: &[Row<u32>; K],
        lanes: Mask,
        store: bool,
        banked: bool,
        together: bool,
    ) -> After<K> {
        let mut memory = DeviceMemory::new(4096);
        memory.bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i * 7 + i / 256) as u8);
        (memory.text, memory.text_end) = (std::iter::once(64..96).collect(), 96);
        memory.forbid_below(40);
        let mut lines = Lines::default();
        if banked {
            lines.start_banked()
        } else {
            lines.start(64)
        }
        let data: [Row<u32>; K] =
            std::array::from_fn(|k| std::array::from_fn(|lane| (lane * 1000 + k) as u32));
        let rows: [&Row<u32>; K] = std::array::from_fn(|k| &data[k]);
        let mut out = [[9; 64]; K];
        let mut console = crate::console::Console::default();
        let mut bus = MemBus {
            memory: &mut memory,
            console: &mut console,
            lines: &mut lines,
            note: true,
            wrote: false,
        };
        let (result, wrote) = if together {
            let result = match store {
                true => bus.store_lanes(16, offset, lanes, &rows),
                false => bus.load_lanes(16, offset, lanes, &mut out),
            };
            (result, bus.wrote)
        } else {
            let mut bus = Single(bus);
            let result = match store {
                true => bus.store_lanes(16, offset, lanes, &rows),
                false => bus.load_lanes(16, offset, lanes, &mut out),
            };
            (result, bus.0.wrote)
        };
        match result {
            Ok(()) => (Ok(out), memory.bytes, lines.list.iter().collect(), wrote),
            // A run ends at a fault: what was touched before does not matter.
            Err(fault) => (Err(fault), Vec::new(), Vec::new(), false),
        }
    }

    #[test]
    fn together_is_the_same_as_one_by_one() {
        type Place = fn(u32) -> u32;
        let places: [Place; 10] = [
            |l| 100 + l * 4,
            |_| 200,
            |l| 128 + l / 16 * 4,
            |l| 1000 + l * 37 % 64 * 8,
            |l| 1000 - l * 4,
            |l| 301 + l * 4 + l / 9 % 2 * 2,
            // Into what is forbidden and the instructions, into the instructions, past the end, and round 32 bits.
            |l| l * 4,
            |l| 32 + l * 4,
            |l| 3900 + l * 4,
            |l| 0xffff_fff0u32.wrapping_add(l * 4),
        ];
        for (n, place) in places.into_iter().enumerate() {
            let row =
                |shift: u32| -> Row<u32> { std::array::from_fn(|l| place(l as u32).wrapping_add(shift)) };
            for lanes in [Mask::MAX, 0xff00_ffff_0f0f_8001, 1 << 63, 0] {
                for (store, banked) in [(false, false), (false, true), (true, false), (true, true)] {
                    let one = [row(0)];
                    let text = format!("places {n}, lanes {lanes:x}, store {store}, banked {banked}");
                    assert!(
                        access(&one, lanes, store, banked, true) == access(&one, lanes, store, banked, false),
                        "{text}"
                    );
                    let two = [row(8), row(0)];
                    assert!(
                        access(&two, lanes, store, banked, true) == access(&two, lanes, store, banked, false),
                        "{text}, two dwords"
                    );
                }
            }
        }
    }
}
