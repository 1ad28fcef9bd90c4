//! What a memory instruction touches: lines, or dwords of local memory. Rows of lanes are noted as a whole where that says the same
//! as lane after lane; a timed run does this for each of its memory instructions.

use super::lanes::runs;
use wb_isa::lanes::{Row, bits, in_steps};
use wb_isa::touch::{Dwords, aligned, line_starts};
use wb_isa::{Mask, Use};

/// Banks local memory can have.
const MAX_BANKS: usize = 64;

/// Dwords of each lane that can be noted as a whole.
const EACH: usize = 4;

/// Dwords of local memory of one row of lanes, not listed yet.
#[derive(Clone, Debug)]
struct Near {
    /// The dword behind which the offsets count, in bytes; then what is added, in dwords.
    first: u64,
    offset: Row<u32>,
    add: [u32; EACH],
    adds: usize,
    /// How often each lane asks for all of its dwords.
    times: usize,
    lanes: Mask,
}

impl Near {
    fn count(&self) -> usize {
        self.lanes.count_ones() as usize * self.adds * self.times
    }

    /// The dwords as if noted lane after lane.
    fn dwords(&self) -> impl Iterator<Item = u64> {
        let add = &self.add[..self.adds];
        let first = |lane: u32| self.first + u64::from(self.offset[lane as usize % 64] >> 2);
        let lanes = bits(self.lanes).map(first);
        lanes.flat_map(move |first| {
            (0..self.times).flat_map(move |_| add.iter().map(move |add| first + u64::from(*add)))
        })
    }
}

/// Numbers of lines, each once, or of dwords.
#[derive(Clone, Debug)]
pub struct List {
    numbers: Vec<u64>,
    /// Which lines may be listed, by a hash of their numbers.
    seen: [u64; 4],
    /// Instead of the numbers: dwords of one row of lanes, if it has any.
    near: Near,
}

impl Default for List {
    fn default() -> List {
        let near = Near { first: 0, offset: [0; 64], add: [0; EACH], adds: 0, times: 0, lanes: 0 };
        List { numbers: Vec::new(), seen: [0; 4], near }
    }
}

impl List {
    #[inline(always)]
    fn clear(&mut self) {
        self.numbers.clear();
        self.seen = [0; 4];
        self.near.lanes = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.near.lanes == 0
    }

    pub fn len(&self) -> usize {
        self.numbers.len() + self.near.count()
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.near.dwords().chain(self.numbers.iter().copied())
    }

    /// What more is noted comes behind.
    fn write_out(&mut self) {
        if self.near.lanes != 0 {
            self.numbers = self.near.dwords().collect();
            self.near.lanes = 0;
        }
    }

    /// A line, if it is not listed yet.
    #[inline]
    fn add_line(&mut self, line: u64) {
        if self.numbers.last() == Some(&line) {
            return;
        }
        let hash = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        let (word, bit) = (&mut self.seen[hash / 64], 1 << (hash % 64));
        if *word & bit == 0 || !self.numbers.contains(&line) {
            *word |= bit;
            self.numbers.push(line);
        }
    }
}

/// The lines one memory instruction touches, each once, in the order of its lanes (coalescing); for local
/// memory the dwords of all lanes, since banks serve each on its own.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub list: List,
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
        let place = |line: u64| self.list.numbers.iter().position(|&l| l == line);
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
        let near = &self.list.near;
        if banks == 0 {
            return 1;
        }
        let each = near.adds * near.times;
        if near.lanes != 0 && (banks as usize).is_multiple_of(each) {
            let Near { first, offset, lanes, .. } = near;
            let (add, together) = (&near.add[..near.adds], banks as usize / each);
            let dwords = Dwords { first: *first, offset, add, lanes: *lanes, together };
            if let Some(passes) = dwords.passes(banks) {
                return passes;
            }
        }
        conflicts(self.list.iter(), banks)
    }

    #[inline]
    fn touch(&mut self, addr: u64) {
        self.list.add_line(addr >> self.shift);
    }

    /// An access to the line that was touched last adds nothing.
    #[inline(always)]
    pub(super) fn is_last(&self, addr: u64, bytes: u32) -> bool {
        let line = addr >> self.shift;
        !self.banked
            && self.list.numbers.last() == Some(&line)
            && (addr + u64::from(bytes.max(1)) - 1) >> self.shift == line
    }

    /// An access. Not inlined: it would be in every instruction that uses memory.
    #[inline(never)]
    pub(super) fn note(&mut self, addr: u64, bytes: u32) {
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
            self.list.write_out();
            self.list.numbers.extend(dwords);
        } else {
            self.touch(addr);
            if bytes > 1 {
                self.touch(addr + u64::from(bytes) - 1);
            }
        }
    }

    /// Lane by lane, as if every dword had been accessed by itself.
    #[inline(never)]
    pub(super) fn note_lanes<const K: usize>(&mut self, base: u64, offset: &[Row<u32>; K], lanes: Mask) {
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
        if K == 1 && self.whole(base, (&offset[0], &[0]), lanes, (4, 1)) {
            return;
        }
        if K == 1 && !self.banked && self.shift >= 5 {
            runs(base, &offset[0], lanes, |addr, bytes| {
                self.touch(addr);
                self.touch(addr + u64::from(bytes.max(1)) - 1);
            });
            return;
        }
        for lane in bits(lanes) {
            for offset in offset {
                self.add(base.wrapping_add(offset[lane as usize].into()), 4);
            }
        }
    }

    /// Notes `bytes` bytes at each place of all lanes together, `times` over; false if they have to go lane by lane.
    #[inline(always)]
    fn whole(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, &[u32]),
        lanes: Mask,
        (bytes, times): (u32, usize),
    ) -> bool {
        if self.banked {
            self.whole_near(base, (offset, add), lanes, (bytes, times))
        } else {
            add == [0] && self.whole_lines(base, offset, lanes, bytes)
        }
    }

    fn whole_lines(&mut self, base: u64, offset: &Row<u32>, lanes: Mask, bytes: u32) -> bool {
        if lanes == Mask::MAX && offset[0] <= u32::MAX - 64 * bytes && in_steps(offset, bytes) {
            let first = base.wrapping_add(offset[0].into());
            let last = first.wrapping_add(u64::from(64 * bytes - 1));
            for line in first >> self.shift..=last >> self.shift {
                self.list.add_line(line);
            }
            return true;
        }
        if !bytes.is_power_of_two() {
            return false;
        }
        let Some(starts) = line_starts(base, offset, lanes, self.shift, bytes) else { return false };
        for lane in bits(starts) {
            self.touch(base.wrapping_add(offset[lane as usize].into()));
        }
        true
    }

    /// Dwords are only listed if somebody wants to see them.
    fn whole_near(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, &[u32]),
        lanes: Mask,
        (bytes, times): (u32, usize),
    ) -> bool {
        let dwords = bytes.div_ceil(4);
        let adds = add.len() * dwords as usize;
        let even = add.iter().fold(base as u32, |all, add| all | add).is_multiple_of(4);
        let whole = bytes < 4 || bytes.is_multiple_of(4);
        if !self.list.is_empty()
            || adds > EACH
            || times > 1 && add.len() > 1
            || !(even && whole && aligned(offset, lanes, bytes.min(4)))
        {
            return false;
        }
        let near = &mut self.list.near;
        for (p, add) in add.iter().enumerate() {
            for k in 0..dwords {
                near.add[p * dwords as usize + k as usize] = add / 4 + k;
            }
        }
        (near.first, near.adds, near.times, near.lanes) = (base >> 2, adds, times, lanes);
        near.offset = *offset;
        true
    }

    /// As if every place of every lane had been accessed by itself. Loads of whole dwords tell which lane touches which line.
    #[inline(never)]
    pub(super) fn note_each<const P: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        how: Use,
        bytes: u32,
    ) {
        let known = how == Use::Load && bytes >= 4;
        self.unknown |= !known && lanes != 0;
        let times = if how == Use::Modify { 2 } else { 1 };
        if self.exact.is_none()
            && !(self.by_lane && known)
            && self.whole(base, (offset, &add), lanes, (bytes, times))
        {
            return;
        }
        self.list.write_out();
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
                    self.list.numbers.extend(first >> 2..=last >> 2);
                } else {
                    // Dwords that are not aligned are in two banks each.
                    (0..bytes).step_by(4).for_each(|k| self.add(first + u64::from(k), bytes.min(4)));
                }
            }
        }
    }

    /// First byte of each line, of an instruction that did not go to local memory.
    #[inline(always)]
    pub fn far(&self) -> impl Iterator<Item = u64> {
        let shift = self.shift;
        self.list.numbers.iter().map(move |l| l << shift)
    }

    /// First byte of each line.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.list.iter().map(|l| l << self.shift)
    }
}

/// Passes of dwords, counted one by one.
#[inline(never)]
fn conflicts(mut dwords: impl Iterator<Item = u64>, banks: u32) -> u64 {
    let (banks, size) = (u64::from(banks), (banks as usize).min(MAX_BANKS));
    let mut passes = 0;
    loop {
        let (mut together, mut count) = ([0; MAX_BANKS], 0);
        for (to, dword) in together[..size].iter_mut().zip(&mut dwords) {
            *to = dword;
            count += 1;
        }
        passes += u64::from(fullest_bank(&together[..count], banks));
        if count < size {
            return passes.max(1);
        }
    }
}

/// The different dwords of the bank that has most of them.
fn fullest_bank(together: &[u64], banks: u64) -> u8 {
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
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(dwords: impl Iterator<Item = u64>) -> u64 {
        let mut lines = Lines::default();
        lines.start_banked();
        lines.list.numbers.extend(dwords);
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
            lines.list.numbers.extend((0..count).map(|_| random(spread)));
            let passes = lines.list.numbers.chunks(banks as usize).map(|together| {
                let different: std::collections::BTreeSet<u64> = together.iter().copied().collect();
                (0..banks).map(|bank| different.iter().filter(|d| *d % banks == bank).count()).max()
            });
            let want: usize = passes.map(|most| most.unwrap_or(0)).sum();
            assert_eq!(
                lines.bank_passes(banks as u32),
                want as u64,
                "round {round}: {:?}",
                lines.list.numbers
            );
        }
    }
}
