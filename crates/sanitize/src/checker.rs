//! The checker: what the simulator tells it, and what it makes of that.

use crate::blocks::{Block, Blocks, Wrong};
use crate::code::{Array, Code, Kernel, array_at};
use crate::kind::Kind;
use crate::order::{Clocks, Group, Order, access, join};
use crate::report::{Other, Place, Report, Reports, Who};
use crate::shadow::{Shadow, Stamp};
use crate::values::Loaded;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use wb_isa::lanes::{Row, bits};
use wb_isa::marks::{Found, Marks, Origin, Planes};
use wb_isa::{Mask, Use};

/// What is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lanes of a wave go in step: what they do one after the other is ordered (wave-synchronous programs).
    pub in_step: bool,
    pub races: bool,
    pub uninitialised: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { in_step: false, races: true, uninitialised: true }
    }
}

/// Where an undefined value came to be: the upper four bits of an origin.
mod source {
    pub const REGISTER: u32 = 1;
    pub const GLOBAL: u32 = 2;
    pub const LOCAL: u32 = 3;
    pub const PRIVATE: u32 = 4;
    pub const LANE_OFF: u32 = 5;
}

fn origin(source: u32, place: u32) -> Origin {
    Origin(source << 28 | place & 0xfff_ffff)
}

/// A wave that starts.
#[derive(Clone, Debug)]
pub struct Start {
    pub slot: usize,
    /// Number of the wave in the launch, of its group, and in its group.
    pub wave: u32,
    pub group: u32,
    pub index: u32,
    pub local: Range<u64>,
    pub private: Range<u64>,
    pub marks: Marks,
}

#[derive(Clone, Debug)]
struct Wave {
    /// As stamps count it.
    number: u32,
    group: u32,
    index: usize,
    local: Range<u64>,
    private: Range<u64>,
    marks: Marks,
    learnt: Clocks,
    /// Learnt, once the wave makes sure that it sees what others wrote.
    pending: Clocks,
}

/// Accesses of lanes at one base.
#[derive(Clone, Debug)]
struct Lanes {
    base: u64,
    offset: Row<u32>,
    lanes: Mask,
    bytes: u32,
    how: Use,
}

#[derive(Clone, Copy, Debug)]
struct Single {
    addr: u64,
    bytes: u32,
    lane: u32,
    store: bool,
}

#[derive(Clone, Debug)]
pub struct Checker {
    pub options: Options,
    pub reports: Reports,
    /// What is known of the kernel that is launched next.
    pub kernel: Kernel,
    shadow: Shadow,
    blocks: Blocks,
    codes: Vec<Arc<Code>>,
    /// First place of each program, counted over all of them; places begin at 1.
    first_places: Vec<u32>,
    code: Arc<Code>,
    first_place: u32,
    launches: u32,
    /// Number of the launch's first wave, and of the next one's.
    first_wave: u32,
    next_wave: u32,
    /// Group and place in it of each wave of the launch.
    who: Vec<(u32, u32)>,
    lanes: u32,
    waves: Vec<Option<Wave>>,
    groups: BTreeMap<u32, Group>,
    /// What atomics at an address tell.
    told: HashMap<u64, Clocks>,
    /// The instruction that runs: whose, and what it accessed.
    slot: usize,
    pc: u32,
    lane: u32,
    rows: Vec<Lanes>,
    singles: Vec<Single>,
}

impl Checker {
    /// For memory that begins at `origin`.
    pub fn new(options: Options, origin: u64) -> Checker {
        Checker {
            options,
            reports: Reports::default(),
            kernel: Kernel::default(),
            shadow: Shadow::new(origin),
            blocks: Blocks::default(),
            codes: Vec::new(),
            first_places: Vec::new(),
            code: Arc::default(),
            first_place: 1,
            launches: 0,
            first_wave: 1,
            next_wave: 1,
            who: Vec::new(),
            lanes: 64,
            waves: Vec::new(),
            groups: BTreeMap::new(),
            told: HashMap::new(),
            slot: 0,
            pc: 0,
            lane: 0,
            rows: Vec::new(),
            singles: Vec::new(),
        }
    }

    /// The host reserves memory; nobody has written it.
    pub fn allocated(&mut self, at: u64, block: Block) {
        self.shadow.define(at, block.bytes, block.internal);
        self.shadow.forget(at, block.bytes);
        self.blocks.add(at, block);
    }

    /// A block has a name, or a place in the host program where it came from.
    pub fn name(&mut self, at: u64, name: &str, site: Option<String>) {
        if let Some(block) = self.blocks.get_mut(at) {
            block.name = name.to_owned();
            block.site = site.or(block.site.take());
        }
    }

    /// A block is the runtime's own.
    pub fn internal(&mut self, at: u64) {
        if let Some(block) = self.blocks.get_mut(at) {
            block.internal = true;
            let bytes = block.bytes;
            self.shadow.define(at, bytes, true);
        }
    }

    pub fn freed(&mut self, at: u64) {
        self.blocks.remove(at);
    }

    /// The host gives bytes a value.
    pub fn written(&mut self, at: u64, bytes: u64) {
        self.shadow.define(at, bytes, true);
    }

    /// The host takes a value away, or says that there never was one.
    pub fn unwritten(&mut self, at: u64, bytes: u64) {
        self.shadow.define(at, bytes, false);
    }

    /// The host looks at bytes: a value in them that a kernel stored although nobody ever gave it is an error there.
    pub fn host_reads(&mut self, at: u64, bytes: u64) {
        let (mut from, end) = (at, at.saturating_add(bytes));
        while let Some((addr, word)) = self.shadow.first_undefined(from, end.saturating_sub(from)) {
            let who = self.who(word.write);
            let lane_off = word.origin >> 28 == source::LANE_OFF;
            let kind = if lane_off { Kind::InactiveLane } else { Kind::Uninitialised };
            let message = match lane_off {
                true => "the host reads a result that comes from a lane that was off",
                false => "the host reads a result that depends on a value that nobody wrote",
            };
            self.report(kind, word.write_place, (word.origin, Some(addr)), message.to_owned(), who, |c| {
                c.comes_from(Origin(word.origin))
            });
            from = (addr & !3) + 4;
        }
    }

    /// All of the program's own memory is looked at.
    pub fn host_reads_all(&mut self) {
        let all: Vec<(u64, u64)> = self.blocks.own().map(|(at, block)| (at, block.bytes)).collect();
        for (at, bytes) in all {
            self.host_reads(at, bytes);
        }
    }

    /// Whether a program of this key is known; it becomes the one that runs.
    pub fn knows(&mut self, key: &(String, u64, usize)) -> bool {
        let Some(i) = self.codes.iter().position(|code| code.key == *key) else { return false };
        (self.code, self.first_place) = (self.codes[i].clone(), self.first_places[i]);
        true
    }

    pub fn learn(&mut self, mut code: Code) {
        code.kernel = self.kernel.clone();
        let last = self.codes.last().map_or(0, |code| code.watch.len() as u32);
        let first = self.first_places.last().map_or(1, |first| first + last);
        self.first_places.push(first);
        self.codes.push(Arc::new(code));
        (self.code, self.first_place) = (self.codes[self.codes.len() - 1].clone(), first);
    }

    /// Arrays of local memory that the launch made.
    pub fn launch(&mut self, lanes: u32) {
        self.launches += 1;
        self.lanes = lanes;
        self.waves.clear();
        self.groups.clear();
        self.told.clear();
        self.who.clear();
        if self.next_wave >= 1 << 23 {
            self.shadow.forget_all();
            self.next_wave = 1;
        }
        self.first_wave = self.next_wave;
    }

    pub fn code(&self) -> &Arc<Code> {
        &self.code
    }

    fn place_id(&self, pc: u32) -> u32 {
        self.first_place + pc
    }

    fn place(&self, id: u32) -> Place {
        let at = self.first_places.iter().rposition(|first| *first <= id && id > 0);
        at.and_then(|i| self.codes[i].places.get((id - self.first_places[i]) as usize).cloned())
            .unwrap_or_default()
    }

    /// What a value that comes from somewhere was.
    fn comes_from(&self, from: Origin) -> Option<Other> {
        let what = match from.0 >> 28 {
            source::REGISTER => return None,
            source::GLOBAL => "the value was read from memory that nobody had written",
            source::LOCAL => "the value was read from local memory that nobody had written",
            source::PRIVATE => "the value was read from private memory that nobody had written",
            _ => "the value was that of a lane that is off",
        };
        Some(Other { what: what.to_owned(), place: self.place(from.0 & 0xfff_ffff), who: None })
    }

    /// The work-item of a stamp.
    fn who(&self, stamp: Stamp) -> Who {
        let wave = stamp.wave().wrapping_sub(self.first_wave);
        let (group, index) = self.who.get(wave as usize).copied().unwrap_or_default();
        Who { group, wave, lane: stamp.lane(), item: index * self.lanes + stamp.lane() }
    }

    /// The work-item that runs now.
    fn now(&self, lane: u32) -> Who {
        let wave = self.waves.get(self.slot).and_then(Option::as_ref);
        wave.map_or_else(Who::default, |w| self.who(Stamp::new(w.number, 0, lane, false)))
    }

    fn report(
        &mut self,
        kind: Kind,
        place: u32,
        (other, addr): (u32, Option<u64>),
        message: String,
        who: Who,
        more: impl FnOnce(&Checker) -> Option<Other>,
    ) {
        if self.reports.again(kind, place, other) {
            return;
        }
        let (memory, allocated) = match addr.map(|addr| self.describe(addr)) {
            Some((memory, site)) => (Some(memory), site),
            None => (None, None),
        };
        let other_side = more(self);
        let (launch, count) = (self.launches, 1);
        let place_now = self.place(place);
        let report = Report {
            kind,
            message,
            place: place_now,
            who,
            other: other_side,
            memory,
            allocated,
            launch,
            count,
        };
        self.reports.add((place, other), report);
    }

    /// An address as people know it.
    fn describe(&self, addr: u64) -> (String, Option<String>) {
        if let Some(wave) = self.waves.get(self.slot).and_then(Option::as_ref) {
            if wave.local.contains(&addr) {
                let offset = addr - wave.local.start;
                let array = array_at(&self.code.kernel.local, offset).map(|i| &self.code.kernel.local[i]);
                return match array {
                    Some(a) => {
                        (format!("local `{}` + {} of {} bytes", a.name, offset - a.offset, a.bytes), None)
                    }
                    None => (format!("local memory + {offset}"), None),
                };
            }
            if wave.private.contains(&addr) {
                let offset = private_offset(addr - wave.private.start);
                return (format!("private memory + {offset}"), None);
            }
        }
        self.blocks.describe(addr)
    }

    // Waves.

    pub fn start(&mut self, start: Start) {
        let number = self.first_wave + start.wave;
        self.next_wave = self.next_wave.max(number + 1);
        let n = start.wave as usize;
        if n >= self.who.len() {
            self.who.resize(n + 1, (0, 0));
        }
        self.who[n] = (start.group, start.index);
        let fresh = !self.groups.contains_key(&start.group);
        if fresh && !start.local.is_empty() {
            self.shadow.define(start.local.start, start.local.end - start.local.start, false);
            self.shadow.forget(start.local.start, start.local.end - start.local.start);
        }
        if !start.private.is_empty() {
            self.shadow.define(start.private.start, start.private.end - start.private.start, false);
        }
        let group =
            self.groups.entry(start.group).or_insert_with(|| Group { first: number, ..Group::default() });
        let index = number.saturating_sub(group.first) as usize;
        group.start(index);
        if start.slot >= self.waves.len() {
            self.waves.resize_with(start.slot + 1, || None);
        }
        self.waves[start.slot] = Some(Wave {
            number,
            group: start.group,
            index,
            local: start.local,
            private: start.private,
            marks: start.marks,
            learnt: Clocks::new(),
            pending: Clocks::new(),
        });
    }

    /// Origin of what registers hold when a wave starts, and of what lanes that are off give.
    pub fn from_registers(&self, pc: u32) -> Origin {
        origin(source::REGISTER, self.place_id(pc))
    }

    pub fn end(&mut self, slot: usize) {
        let Some(wave) = self.waves.get_mut(slot).and_then(Option::take) else { return };
        let Some(group) = self.groups.get_mut(&wave.group) else { return };
        group.ended[wave.index] = true;
        // Others wait for it at a barrier that it will never reach.
        let waiting = group.waits.iter().copied().find(|place| *place != 0);
        if let Some(place) = waiting {
            let who = Who { lane: 0, ..self.who(Stamp::new(wave.number, 0, 0, false)) };
            let message = "a wave of the group ends without reaching this barrier".to_owned();
            self.report(Kind::BarrierDivergence, place, (1, None), message, who, |_| None);
        }
        if self.groups.get(&wave.group).is_some_and(|group| group.ended.iter().all(|ended| *ended)) {
            self.groups.remove(&wave.group);
        }
    }

    /// A wave arrives at a barrier with some of its lanes.
    pub fn arrives(&mut self, slot: usize, pc: u32, active: Mask, live: Mask) {
        (self.slot, self.pc) = (slot, pc);
        let place = self.place_id(pc);
        if active & live != live {
            let lane = Marks::first(live & !active);
            let message = format!(
                "{} of {} work-items of the wave do not reach the barrier",
                (live & !active).count_ones(),
                live.count_ones()
            );
            let who = self.now(lane);
            self.report(Kind::BarrierDivergence, place, (0, None), message, who, |_| None);
        }
        let Some(wave) = self.waves.get(slot).and_then(Option::as_ref) else { return };
        let Some(group) = self.groups.get_mut(&wave.group) else { return };
        let (index, number) = (wave.index, wave.group);
        let different = group.waits.iter().copied().find(|other| *other != 0 && *other != place);
        let early = group.ended.iter().any(|ended| *ended);
        group.waits[index] = place;
        if let Some(other) = different {
            let who = self.now(0);
            let message = "waves of one group wait at different barriers".to_owned();
            self.report(Kind::BarrierDivergence, place, (other, None), message, who, |c| {
                Some(Other { what: "the other barrier".to_owned(), place: c.place(other), who: None })
            });
        }
        if early {
            let who = self.now(0);
            let message = format!("a wave of group {number} has ended without reaching this barrier");
            self.report(Kind::BarrierDivergence, place, (1, None), message, who, |_| None);
        }
    }

    /// The waves of these slots go on behind their barrier.
    pub fn released(&mut self, slot: usize) {
        let Some(wave) = self.waves.get(slot).and_then(Option::as_ref) else { return };
        let number = wave.group;
        let mut learnt = Clocks::new();
        for wave in self.waves.iter().flatten().filter(|w| w.group == number) {
            join(&mut learnt, &wave.learnt);
        }
        if let Some(group) = self.groups.get_mut(&number) {
            join(&mut group.learnt, &learnt);
            group.meet();
        }
    }

    // One instruction.

    /// The instruction at `pc` of the wave in `slot` runs next. Its marks.
    #[inline]
    pub fn begins(&mut self, slot: usize, pc: u32) -> Option<&mut Marks> {
        (self.slot, self.pc) = (slot, pc);
        self.rows.clear();
        self.singles.clear();
        self.waves.get_mut(slot)?.as_mut().map(|wave| &mut wave.marks)
    }

    /// What a lane that is off gives, from here.
    pub fn lane_off_at(&self, pc: u32) -> Origin {
        origin(source::LANE_OFF, self.place_id(pc))
    }

    /// What following the instruction has found.
    pub fn found(&mut self) {
        let Some(Some(wave)) = self.waves.get_mut(self.slot) else { return };
        let found = std::mem::take(&mut wave.marks.found);
        let place = self.place_id(self.pc);
        for one in found {
            match one {
                Found::Branch { lanes, origin } => self.undefined(lanes, origin, "a branch"),
                Found::Address { lanes, origin } => self.undefined(lanes, origin, "an address"),
                Found::LaneOff { lane, other } => {
                    let message = format!("the value of lane {other}, which is off, is read");
                    let who = self.now(lane);
                    self.report(Kind::InactiveLane, place, (0, None), message, who, |_| None);
                }
                Found::Divergent { lane, other } => {
                    let message =
                        format!("lanes {lane} and {other} disagree about the value that is taken for all");
                    let who = self.now(lane);
                    self.report(Kind::DivergentReadfirstlane, place, (0, None), message, who, |_| None);
                }
                Found::Division { lanes } => {
                    let message = "an integer is divided by zero".to_owned();
                    let who = self.now(Marks::first(lanes));
                    self.report(Kind::DivisionByZero, place, (0, None), message, who, |_| None);
                }
            }
        }
    }

    fn undefined(&mut self, lanes: Mask, from: Origin, what: &str) {
        if !self.options.uninitialised {
            return;
        }
        let place = self.place_id(self.pc);
        let who = self.now(Marks::first(lanes));
        let (kind, message) = match from.0 >> 28 {
            source::LANE_OFF => {
                (Kind::InactiveLane, format!("{what} depends on the value of a lane that is off"))
            }
            _ => (Kind::Uninitialised, format!("{what} depends on a value that nobody wrote")),
        };
        self.report(kind, place, (from.0, None), message, who, |c| c.comes_from(from));
    }

    /// A fault of local or private memory, which the instruction set found.
    pub fn fault(&mut self, slot: usize, pc: u32, what: &str) {
        (self.slot, self.pc) = (slot, pc);
        let who = self.now(0);
        self.report(Kind::OutOfBounds, self.place_id(pc), (0, None), what.to_owned(), who, |_| None);
    }

    // Accesses.

    pub fn lane(&mut self, lane: u32) {
        self.lane = lane;
    }

    fn watch_align(&self) -> u32 {
        let watch = self.code.watch.get(self.pc as usize);
        watch.map_or(0, |w| if self.code.kernel.aligned || w.atomic { w.align } else { 0 })
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
        self.singles.push(Single { addr, bytes, lane: self.lane, store });
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
            self.arrays(base, offset, allowed, bytes, how);
            self.rows.push(Lanes { base, offset: *offset, lanes: allowed, bytes, how });
        }
        allowed
    }

    /// One access is to one array: lanes that are in another one, or in none, have left it.
    fn arrays(&mut self, base: u64, offset: &Row<u32>, lanes: Mask, bytes: u32, how: Use) {
        if self.code.kernel.local.is_empty() {
            return;
        }
        let Some(Some(wave)) = self.waves.get(self.slot) else { return };
        let local = wave.local.clone();
        let at = |lane: u32| base.wrapping_add(offset[lane as usize].into());
        let first = Marks::first(lanes);
        if !local.contains(&at(first)) {
            return;
        }
        let code = self.code.clone();
        let list: Vec<(u32, u64)> =
            bits(lanes).map(|lane| (lane, at(lane).wrapping_sub(local.start))).collect();
        self.left_array(&code.kernel.local, &list, bytes, how != Use::Load, "local");
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
        // Where nobody is in an array, debug information does not know what is meant.
        let Some((array, _)) = most else { return };
        let meant = &arrays[array];
        let outside = |at: u64| at < meant.offset || at + u64::from(bytes) > meant.offset + meant.bytes;
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

    /// The instruction has run: what it accessed is noted, and what it loaded is marked. `step`: it left something to look at.
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
        let Some(Some(mut wave)) = self.waves.get_mut(self.slot).map(Option::take) else { return };
        let (rows, singles) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.singles));
        if watch.indexed && !code.kernel.private.is_empty() {
            self.private_arrays(&wave, &code, &rows, &singles);
        }
        let place = self.place_id(self.pc);
        let mut loaded = Loaded::new(&watch.loads, watch.data.len(), watch.keeps);
        let data: Vec<Planes> = watch.data.iter().map(|id| wave.marks.planes(*id)).collect();
        let marked = data.iter().any(|planes| planes.iter().any(|p| *p != 0));
        let from = watch.data.iter().find(|id| wave.marks.is_marked(**id)).map(|id| wave.marks.origin(*id));
        let mut conflict = None;
        let (races, launch) = (self.options.races, self.first_wave);
        let in_step = self.options.in_step || code.kernel.in_step;
        {
            let Checker { shadow, groups, told, .. } = &mut *self;
            let Some(group) = groups.get_mut(&wave.group) else { return };
            let clock = group.clocks[wave.index];
            let private = wave.private.clone();
            let mut one = |addr: u64, bytes: u32, lane: u32, how: Use, learnt: &Clocks, group: &Group| {
                // What others see; atomics neither define nor undefine.
                if how != Use::Store {
                    loaded.load(shadow, addr, bytes, lane);
                }
                if how != Use::Load {
                    let undefined = if marked { loaded.stored(&data, bytes, lane) } else { 0 };
                    if how == Use::Store && !watch.atomic || undefined != 0 {
                        store(shadow, addr, bytes, undefined, from.map_or(0, |o| o.0));
                    } else if how == Use::Store {
                        store(shadow, addr, bytes, 0, 0);
                    }
                }
                if !races || private.contains(&addr) {
                    return;
                }
                let stamp = Stamp::new(wave.number, clock, lane, watch.atomic);
                let order = Order { wave: wave.number, group, learnt, launch };
                pieces(addr, bytes, |at, n| {
                    shadow.words(at, n, &mut |word| {
                        if let Some(met) = access(word, how != Use::Load, stamp, place, &order)
                            && conflict.is_none()
                        {
                            conflict = Some((met, stamp, at, how));
                        }
                    });
                });
            };
            for row in &rows {
                for lane in bits(row.lanes) {
                    let addr = row.base.wrapping_add(row.offset[lane as usize].into());
                    one(addr, row.bytes, lane, row.how, &wave.learnt, group);
                }
            }
            for s in &singles {
                let how = if s.store { Use::Store } else { Use::Load };
                one(s.addr, s.bytes, s.lane, how, &wave.learnt, group);
            }
            if watch.atomic && code.learns {
                let addresses = rows
                    .iter()
                    .flat_map(|row| {
                        bits(row.lanes)
                            .map(|l| (row.base.wrapping_add(row.offset[l as usize].into()), row.how))
                    })
                    .chain(singles.iter().map(|s| (s.addr, if s.store { Use::Modify } else { Use::Load })));
                tell(told, group, &mut wave, addresses);
            }
            if in_step {
                // What the wave did before is behind all its lanes.
                let now = &mut group.clocks[wave.index];
                group.known[wave.index] = *now;
                *now += 1;
            }
        }
        let source = match () {
            () if rows.iter().any(|r| wave.local.contains(&r.base)) => source::LOCAL,
            () if singles.iter().any(|s| wave.local.contains(&s.addr)) => source::LOCAL,
            () if loaded.first.is_some_and(|addr| wave.local.contains(&addr)) => source::LOCAL,
            () if loaded.first.is_some_and(|addr| wave.private.contains(&addr)) => source::PRIVATE,
            () => source::GLOBAL,
        };
        loaded.mark(&mut wave.marks, watch.scalar, origin(source, place));
        self.waves[self.slot] = Some(wave);
        (self.rows, self.singles) = (rows, singles);
        if let Some((met, stamp, addr, how)) = conflict {
            self.race(met, stamp, addr, how);
        }
    }

    fn race(&mut self, met: crate::order::Conflict, stamp: Stamp, addr: u64, how: Use) {
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
    fn private_arrays(&mut self, wave: &Wave, code: &Code, rows: &[Lanes], singles: &[Single]) {
        let mut list: Vec<(u32, u64)> = Vec::new();
        let mut bytes = 4;
        let mut store = false;
        let mut add = |lane: u32, addr: u64| {
            if wave.private.contains(&addr) {
                list.push((lane, private_offset(addr - wave.private.start)));
            }
        };
        for row in rows {
            store |= row.how != Use::Load;
            bits(row.lanes)
                .for_each(|lane| add(lane, row.base.wrapping_add(row.offset[lane as usize].into())));
        }
        for s in singles {
            (store, bytes) = (store | s.store, s.bytes);
            add(s.lane, s.addr);
        }
        let in_none = list.iter().find(|(_, at)| array_at(&code.kernel.private, *at).is_none()).copied();
        let back = self.waves.get_mut(self.slot).map(|place| place.replace(wave.clone()));
        match in_none {
            Some((lane, at)) if list.iter().all(|(_, at)| array_at(&code.kernel.private, *at).is_none()) => {
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
            _ => self.left_array(&code.kernel.private, &list, bytes, store, "private"),
        }
        if let (Some(place), Some(old)) = (self.waves.get_mut(self.slot), back) {
            *place = old;
        }
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
        pieces(addr, bytes, |at, n| shadow.words(at, n, &mut |word| word.origin = from));
    }
}

/// Where a lane's byte is in its private memory: dwords of the lanes are interleaved.
fn private_offset(at: u64) -> u64 {
    at / 256 * 4 + at % 4
}
