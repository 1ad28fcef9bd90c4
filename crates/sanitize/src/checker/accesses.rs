//! Accesses of the instruction that runs: whether they may be made, and what they mean for memory, registers and other waves.

use super::{Checker, Lanes, Single, Wave, origin, private_offset, source};
use crate::blocks::Wrong;
use crate::code::{Array, array_at};
use crate::kind::Kind;
use crate::order::{Clocks, Conflict, Group, Order, access, join};
use crate::report::Other;
use crate::shadow::{Shadow, Stamp};
use crate::values::Loaded;
use std::collections::HashMap;
use std::ops::Range;
use wb_isa::lanes::{Row, bits};
use wb_isa::marks::{Marks, Planes, Watch};
use wb_isa::{Mask, Use};

impl Checker {
    pub fn lane(&mut self, lane: u32) {
        self.lane = lane;
    }

    fn watch_align(&self) -> u32 {
        let watch = self.code.watch.get(self.pc as usize);
        watch.map_or(0, |w| if self.running.aligned || w.atomic { w.align } else { 0 })
    }

    fn wrong(&mut self, lane: u32, addr: u64, bytes: u32, store: bool, why: Wrong) {
        let kind = match why {
            Wrong::Outside => Kind::OutOfBounds,
            Wrong::Freed => Kind::UseAfterFree,
        };
        let what = if store { "write" } else { "read" };
        let message = format!("a {what} of {bytes} bytes at {addr:#x}");
        let who = self.now(lane);
        self.report(kind, self.place_id(self.pc), (u32::from(store), Some(addr)), message, who, |_| None);
    }

    fn misaligned(&mut self, lane: u32, addr: u64, align: u32) {
        let wave = self.waves.get(self.slot).and_then(|w| w.as_ref());
        let own = wave.is_some_and(|w| w.local.contains(&addr) || w.private.contains(&addr));
        if !own && self.blocks.is_internal(addr) {
            return;
        }
        let message = format!("address {addr:#x} is no multiple of {align}");
        let who = self.now(lane);
        self.report(Kind::Misaligned, self.place_id(self.pc), (0, Some(addr)), message, who, |_| None);
    }

    /// An access of the lane that was named last; false: it must not be made.
    pub fn single(&mut self, addr: u64, bytes: u32, store: bool) -> bool {
        let scalar = self.code.watch.get(self.pc as usize).is_some_and(|w| w.scalar);
        // Compilers widen scalar loads to whole dwords.
        let needed = if scalar { 1 } else { bytes };
        if let Err(why) = self.blocks.allows(addr, needed.into()) {
            self.wrong(self.lane, addr, bytes, store, why);
            return false;
        }
        let align = self.watch_align();
        if align > 1 && !addr.is_multiple_of(align.min(bytes.next_power_of_two()).into()) && !scalar {
            self.misaligned(self.lane, addr, align);
        }
        let how = if store { Use::Store } else { Use::Load };
        let atomic = self.code.watch.get(self.pc as usize).is_some_and(|w| w.atomic);
        match self.singles.last_mut() {
            // Loaded and stored at once.
            Some(last) if store && atomic && (last.addr, last.lane) == (addr, self.lane) => {
                last.how = Use::Modify
            }
            _ => self.singles.push(Single { addr, bytes, lane: self.lane, how }),
        }
        true
    }

    /// Accesses of lanes; those that may be made.
    pub fn lanes(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, u32),
        lanes: Mask,
        bytes: u32,
        how: Use,
    ) -> Mask {
        if lanes == 0 {
            return 0;
        }
        let base = base.wrapping_add(add.into());
        let (mut low, mut high, mut all) = (u32::MAX, 0, base as u32);
        for lane in bits(lanes) {
            let at = offset[lane as usize];
            (low, high) = (low.min(at), high.max(at));
            all |= at.wrapping_add(base as u32);
        }
        let mut allowed = lanes;
        let first = base.wrapping_add(low.into());
        if self.blocks.allows(first, u64::from(high - low) + u64::from(bytes)).is_err() {
            for lane in bits(lanes) {
                let addr = base.wrapping_add(offset[lane as usize].into());
                if let Err(why) = self.blocks.allows(addr, bytes.into()) {
                    allowed &= !(1 << lane);
                    self.wrong(lane, addr, bytes, how != Use::Load, why);
                }
            }
        }
        let align = self.watch_align();
        if align > 1 && !all.is_multiple_of(align) {
            let off =
                |lane: &u32| !base.wrapping_add(offset[*lane as usize].into()).is_multiple_of(align.into());
            if let Some(lane) = bits(allowed).find(off) {
                self.misaligned(lane, base.wrapping_add(offset[lane as usize].into()), align);
            }
        }
        if allowed != 0 {
            self.arrays(base, (offset, low, high), allowed, bytes, how);
            let (extent, dwords) = ((low, high), all.is_multiple_of(4));
            self.rows.push(Lanes { base, offset: *offset, lanes: allowed, bytes, how, extent, dwords });
        }
        allowed
    }

    /// One access is to one array: lanes that are in another one, or in none, have left it.
    fn arrays(
        &mut self,
        base: u64,
        (offset, low, high): (&Row<u32>, u32, u32),
        lanes: Mask,
        bytes: u32,
        how: Use,
    ) {
        if self.running.local.is_empty() {
            return;
        }
        let Some(Some(wave)) = self.waves.get(self.slot) else { return };
        let local = wave.local.clone();
        let at = |lane: u32| base.wrapping_add(offset[lane as usize].into());
        let first = Marks::first(lanes);
        if !local.contains(&at(first)) {
            return;
        }
        let kernel = self.running.clone();
        let within = |addr: u64| array_at(&kernel.local, addr.wrapping_sub(local.start));
        let one = within(base.wrapping_add(low.into()));
        if one.is_some() && one == within(base.wrapping_add(high.into()) + u64::from(bytes) - 1) {
            return;
        }
        let list: Vec<(u32, u64)> =
            bits(lanes).map(|lane| (lane, at(lane).wrapping_sub(local.start))).collect();
        self.left_array(&kernel.local, &list, bytes, how != Use::Load, "local");
    }

    fn left_array(&mut self, arrays: &[Array], list: &[(u32, u64)], bytes: u32, store: bool, space: &str) {
        let mut most: Option<(usize, usize)> = None;
        let (Some((_, low)), Some((_, high))) =
            (list.iter().min_by_key(|l| l.1), list.iter().max_by_key(|l| l.1))
        else {
            return;
        };
        let whole = array_at(arrays, *low);
        if whole.is_some() && whole == array_at(arrays, high + u64::from(bytes) - 1) {
            return;
        }
        for (i, _) in arrays.iter().enumerate() {
            let count = list.iter().filter(|(_, at)| array_at(arrays, *at) == Some(i)).count();
            if count > most.map_or(0, |m| m.1) {
                most = Some((i, count));
            }
        }
        // Where nobody is in an array, debug information does not know what is meant; the one before it is, if there is nothing else.
        let whole = space == "local" && self.running.local_whole;
        let before = || arrays.iter().rposition(|a| a.offset <= *low).filter(|_| whole);
        let Some(array) = most.map(|m| m.0).or_else(before) else { return };
        let meant = &arrays[array];
        // Another array is no error: compilers make one access of two that look alike, and pointers may point to either.
        let outside = |at: u64| {
            let found = array_at(arrays, at);
            found.is_none() || found != array_at(arrays, at + u64::from(bytes) - 1)
        };
        if let Some(&(lane, at)) = list.iter().find(|(_, at)| outside(*at)) {
            let what = if store { "write" } else { "read" };
            let message = format!(
                "a {what} of {bytes} bytes outside the {space} array `{}`: at {} of its {} bytes",
                meant.name,
                at as i64 - meant.offset as i64,
                meant.bytes
            );
            let who = self.now(lane);
            self.report(
                Kind::OutOfBounds,
                self.place_id(self.pc),
                (u32::from(store), None),
                message,
                who,
                |_| None,
            );
        }
    }

    /// The instruction has run: what it accessed is noted, and what it loaded is marked.
    #[inline]
    pub fn ends(&mut self) {
        if self.rows.is_empty() && self.singles.is_empty() {
            let acquires = self.code.watch.get(self.pc as usize).is_some_and(|w| w.acquires);
            if acquires && let Some(Some(wave)) = self.waves.get_mut(self.slot) {
                let pending = std::mem::take(&mut wave.pending);
                join(&mut wave.learnt, &pending);
            }
            return;
        }
        self.accessed();
    }

    fn accessed(&mut self) {
        let code = self.code.clone();
        let Some(watch) = code.watch.get(self.pc as usize) else { return };
        let (rows, singles) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.singles));
        if watch.indexed && !self.running.private.is_empty() {
            self.private_arrays(&rows, &singles);
        }
        let Some(Some(mut wave)) = self.waves.get_mut(self.slot).map(Option::take) else { return };
        let place = self.place_id(self.pc);
        let (races, launch) = (self.options.races, self.first_wave);
        let in_step = self.options.in_step || self.running.in_step;
        let Checker { shadow, groups, told, .. } = &mut *self;
        let Some(group) = groups.get_mut(&wave.group) else { return };
        let clock = group.clocks[wave.index];
        let from = watch.data.iter().find(|id| wave.marks.is_marked(**id)).map(|id| wave.marks.origin(*id));
        let mut all = Accesses {
            shadow,
            order: Order {
                wave: wave.number,
                group,
                learnt: &wave.learnt,
                launch,
                step: if in_step { clock } else { 0 },
            },
            clock,
            place,
            watch,
            private: &wave.private,
            races,
            data: match from {
                Some(_) => watch.data.iter().map(|id| wave.marks.planes(*id)).collect(),
                None => Vec::new(),
            },
            from: from.map_or(0, |origin| origin.0),
            loaded: Loaded::new(&watch.loads, watch.data.len(), watch.keeps),
            conflict: None,
        };
        for row in &rows {
            if !all.quick(row) {
                for lane in bits(row.lanes) {
                    all.one(
                        row.base.wrapping_add(row.offset[lane as usize].into()),
                        row.bytes,
                        lane,
                        row.how,
                    );
                }
            }
        }
        for s in &singles {
            all.one(s.addr, s.bytes, s.lane, s.how);
        }
        let Accesses { loaded, conflict, .. } = all;
        if watch.atomic && code.learns {
            let of_rows = rows.iter().flat_map(|row| {
                bits(row.lanes).map(|l| (row.base.wrapping_add(row.offset[l as usize].into()), row.how))
            });
            tell(told, group, &mut wave, of_rows.chain(singles.iter().map(|s| (s.addr, s.how))));
        }
        if in_step {
            // What comes next is later, for lanes of this wave.
            group.clocks[wave.index] += 1;
        }
        if let Some(addr) = loaded.first {
            let source = match () {
                () if wave.local.contains(&addr) => source::LOCAL,
                () if wave.private.contains(&addr) => source::PRIVATE,
                () => source::GLOBAL,
            };
            loaded.mark(&mut wave.marks, watch.scalar, origin(source, place));
        }
        self.waves[self.slot] = Some(wave);
        (self.rows, self.singles) = (rows, singles);
        if let Some((met, stamp, addr, how)) = conflict {
            self.race(met, stamp, addr, how);
        }
    }

    fn race(&mut self, met: Conflict, stamp: Stamp, addr: u64, how: Use) {
        let what = |wrote: bool, atomic: bool| match (wrote, atomic) {
            (true, false) => "write",
            (false, false) => "read",
            (true, true) => "atomic",
            (false, true) => "atomic read",
        };
        let mine = what(how != Use::Load, stamp.is_atomic());
        let theirs = what(met.wrote, met.stamp.is_atomic());
        let where_ = match () {
            () if met.stamp.wave() == stamp.wave() => "lanes of one wave",
            () if self.who(met.stamp).group == self.who(stamp).group => "waves of one group",
            () => "groups",
        };
        let message =
            format!("{mine} and {theirs} of the same place by different {where_}, and nothing orders them");
        let who = self.who(stamp);
        let (place, other) = (self.place_id(self.pc), met.place);
        self.report(Kind::Race, place, (other, Some(addr)), message, who, |c| {
            Some(Other { what: format!("the {theirs}"), place: c.place(other), who: Some(c.who(met.stamp)) })
        });
    }

    /// An index that the program computed leads out of its array.
    fn private_arrays(&mut self, rows: &[Lanes], singles: &[Single]) {
        let Some(Some(wave)) = self.waves.get(self.slot) else { return };
        let (private, kernel) = (wave.private.clone(), self.running.clone());
        let arrays = &kernel.private;
        let mut list: Vec<(u32, u64)> = Vec::new();
        let mut bytes = 4;
        let mut store = false;
        let mut add = |lane: u32, addr: u64| {
            if private.contains(&addr) {
                list.push((lane, private_offset(addr - private.start)));
            }
        };
        for row in rows {
            (store, bytes) = (store | (row.how != Use::Load), row.bytes);
            bits(row.lanes)
                .for_each(|lane| add(lane, row.base.wrapping_add(row.offset[lane as usize].into())));
        }
        for s in singles {
            (store, bytes) = (store | (s.how != Use::Load), s.bytes);
            add(s.lane, s.addr);
        }
        match list.first().copied() {
            Some((lane, at)) if list.iter().all(|(_, at)| array_at(arrays, *at).is_none()) => {
                let what = if store { "write" } else { "read" };
                let message = format!(
                    "a {what} of {bytes} bytes at {at} of private memory, outside every private array"
                );
                let who = self.now(lane);
                self.report(
                    Kind::OutOfBounds,
                    self.place_id(self.pc),
                    (u32::from(store), None),
                    message,
                    who,
                    |_| None,
                );
            }
            _ => self.left_array(arrays, &list, bytes, store, "private"),
        }
    }
}

/// The accesses of one instruction, on their way into the shadow.
struct Accesses<'a, 'w> {
    shadow: &'a mut Shadow,
    order: Order<'a>,
    clock: u32,
    place: u32,
    watch: &'w Watch,
    private: &'a Range<u64>,
    races: bool,
    /// Marks of what is stored, if there are any, and where they come from.
    data: Vec<Planes>,
    from: u32,
    loaded: Loaded<'w>,
    conflict: Option<(Conflict, Stamp, u64, Use)>,
}

impl Accesses<'_, '_> {
    /// An access of one lane.
    fn one(&mut self, addr: u64, bytes: u32, lane: u32, how: Use) {
        if how != Use::Store {
            self.loaded.load(self.shadow, addr, bytes, lane);
        }
        if how != Use::Load {
            let undefined =
                if self.data.is_empty() { 0 } else { self.loaded.stored(&self.data, bytes, lane) };
            // Other atomics neither define nor undefine.
            if how == Use::Store || self.watch.replaces || undefined != 0 {
                store(self.shadow, addr, bytes, undefined, self.from);
            }
        }
        if !self.races || self.private.contains(&addr) {
            return;
        }
        let stamp = Stamp::new(self.order.wave, self.clock, lane, self.watch.atomic);
        let Accesses { shadow, order, place, conflict, .. } = self;
        pieces(addr, bytes, |at, n| {
            shadow.words(at, n, &mut |word| {
                let met = access(word, how != Use::Load, stamp, *place, order);
                if conflict.is_none() {
                    *conflict = met.map(|met| (met, stamp, at, how));
                }
            });
        });
    }

    /// Aligned dwords of all lanes on one page where everything has a value: most accesses. False: nothing was done.
    fn quick(&mut self, row: &Lanes) -> bool {
        let (first, last) =
            (row.base.wrapping_add(row.extent.0.into()), row.base.wrapping_add(row.extent.1.into()));
        if row.bytes != 4 || !row.dwords || !self.data.is_empty() || self.private.contains(&first) {
            return false;
        }
        let Accesses { shadow, order, place, conflict, watch, clock, .. } = self;
        let at = |lane: u32| row.base.wrapping_add(row.offset[lane as usize].into());
        let Some(mut page) = shadow.page_words(first, last + 3) else { return false };
        if bits(row.lanes).any(|lane| page.word(at(lane)).is_none()) {
            return false;
        }
        if page.undefined {
            if row.how != Use::Store {
                return false;
            }
            bits(row.lanes).for_each(|lane| shadow.define(at(lane), 4, true));
            let Some(again) = shadow.page_words(first, last + 3) else { return false };
            page = again;
        }
        if row.how != Use::Store {
            self.loaded.skip(row.lanes);
        }
        if !self.races {
            return true;
        }
        let write = row.how != Use::Load;
        for lane in bits(row.lanes) {
            let stamp = Stamp::new(order.wave, *clock, lane, watch.atomic);
            let Some(word) = page.word(at(lane)) else { continue };
            let met = access(word, write, stamp, *place, order);
            if conflict.is_none() {
                *conflict = met.map(|met| (met, stamp, at(lane), row.how));
            }
        }
        true
    }
}

/// Atomics tell others how far this wave is, and learn from them.
fn tell(
    told: &mut HashMap<u64, Clocks>,
    group: &mut Group,
    wave: &mut Wave,
    addresses: impl Iterator<Item = (u64, Use)>,
) {
    let clock = group.clocks[wave.index];
    let mut wrote = false;
    for (addr, how) in addresses {
        if how != Use::Store
            && let Some(clocks) = told.get(&addr)
        {
            for (&number, &clock) in clocks {
                // Waves of a group see each other's memory.
                let mine = number.checked_sub(group.first).is_some_and(|i| (i as usize) < group.clocks.len());
                let known = if mine { &mut wave.learnt } else { &mut wave.pending };
                let known = known.entry(number).or_insert(0);
                *known = (*known).max(clock);
            }
        }
        if how != Use::Load {
            wrote = true;
            let clocks = told.entry(addr).or_default();
            clocks.insert(wave.number, clock);
            join(clocks, &wave.learnt);
            for (i, known) in group.known.iter().enumerate().filter(|(_, known)| **known > 0) {
                let known_of = clocks.entry(group.first + i as u32).or_insert(0);
                *known_of = (*known_of).max(*known);
            }
        }
    }
    if wrote {
        group.clocks[wave.index] += 1;
    }
}

/// An access as parts that do not leave their dword.
#[inline]
fn pieces(addr: u64, bytes: u32, mut f: impl FnMut(u64, u32)) {
    if bytes == 4 && addr.is_multiple_of(4) {
        return f(addr, 4);
    }
    let (mut at, end) = (addr, addr + u64::from(bytes));
    while at < end {
        let next = ((at & !3) + 4).min(end);
        f(at, (next - at) as u32);
        at = next;
    }
}

/// Bytes get a value, or one that comes from `origin` and is undefined.
fn store(shadow: &mut Shadow, addr: u64, bytes: u32, undefined: u16, from: u32) {
    let mut at = 0;
    while at < bytes {
        let n = (bytes - at).min(8);
        shadow.set_undefined(addr + u64::from(at), n, (undefined >> at) as u8);
        at += n;
    }
    if undefined != 0 {
        let mut done = 0;
        pieces(addr, bytes, |at, n| {
            // A dword of which some bytes have a value was copied with its padding: nobody looks at that.
            let part = undefined >> done & (0xf >> (4 - n));
            let padding = n == 4 && part != 0 && part != 0xf;
            done += n;
            shadow.words(at, n, &mut |word| word.origin = if padding { 0 } else { from });
        });
    }
}
