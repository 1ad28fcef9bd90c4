//! The checker: what the host and the simulator tell it, and what it makes of that.

mod accesses;
mod waves;

use crate::blocks::{Block, Blocks};
use crate::code::{Code, Kernel, array_at};
use crate::kind::Kind;
use crate::order::{Clocks, Group};
use crate::report::{Other, Place, Report, Who};
use crate::reports::Reports;
use crate::shadow::{Shadow, Stamp};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use wb_isa::lanes::Row;
use wb_isa::marks::{Marks, Origin};
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
    /// The least offset and the greatest, and whether all are multiples of four.
    extent: (u32, u32),
    dwords: bool,
}

#[derive(Clone, Copy, Debug)]
struct Single {
    addr: u64,
    bytes: u32,
    lane: u32,
    how: Use,
}

#[derive(Clone, Debug)]
pub struct Checker {
    pub options: Options,
    pub reports: Reports,
    /// What is known of the kernel that is launched next.
    pub kernel: Kernel,
    /// The same of the one that runs.
    running: Arc<Kernel>,
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
    waves: Vec<Option<Box<Wave>>>,
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
            running: Arc::default(),
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

    /// The host copies bytes, to or from the device, or on it.
    pub fn copied(&mut self, to: u64, from: u64, bytes: u64) {
        match (self.blocks.has(to), self.blocks.has(from)) {
            (true, false) => self.written(to, bytes),
            (false, true) => self.host_reads(from, bytes),
            (true, true) => self.shadow.copy(to, from, bytes),
            (false, false) => {}
        }
    }

    /// The host looks at bytes: a value in them that a kernel stored although nobody ever gave it is an error there.
    pub fn host_reads(&mut self, at: u64, bytes: u64) {
        let (mut from, end) = (at, at.saturating_add(bytes));
        while let Some((addr, word)) = self.shadow.first_undefined(from, end.saturating_sub(from)) {
            let who = self.who(word.write);
            self.depends(
                word.write_place,
                Origin(word.origin),
                Some(addr),
                "a result that the host reads",
                who,
            );
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

    pub fn learn(&mut self, code: Code) {
        let last = self.codes.last().map_or(0, |code| code.watch.len() as u32);
        let first = self.first_places.last().map_or(1, |first| first + last);
        self.first_places.push(first);
        self.codes.push(Arc::new(code));
        (self.code, self.first_place) = (self.codes[self.codes.len() - 1].clone(), first);
    }

    /// A launch begins, with what is known of its kernel: local memory may be cut in another way than the last time.
    pub fn launch(&mut self, lanes: u32) {
        self.launches += 1;
        self.running = Arc::new(self.kernel.clone());
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

    /// Something that matters depends on an undefined value: told where it is used, or where the lane was off.
    fn depends(&mut self, place: u32, from: Origin, addr: Option<u64>, what: &str, who: Who) {
        let made = from.0 & 0xfff_ffff;
        if from.0 >> 28 == source::LANE_OFF {
            let message = format!("{what} depends on the value of a lane that is off");
            self.report(Kind::InactiveLane, made, (place, addr), message, who, |c| {
                Some(Other { what: "used here".to_owned(), place: c.place(place), who: None })
            });
        } else if self.options.uninitialised {
            let message = format!("{what} depends on a value that nobody wrote");
            self.report(Kind::Uninitialised, place, (from.0, addr), message, who, |c| c.comes_from(from));
        }
    }

    /// What a value that comes from somewhere was.
    fn comes_from(&self, from: Origin) -> Option<Other> {
        let what = match from.0 >> 28 {
            source::REGISTER => return None,
            source::GLOBAL => "the value was read from memory that nobody had written",
            source::LOCAL => "the value was read from local memory that nobody had written",
            _ => "the value was read from private memory that nobody had written",
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
                let array = array_at(&self.running.local, offset).map(|i| &self.running.local[i]);
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
}

/// Where a lane's byte is in its private memory: dwords of the lanes are interleaved.
fn private_offset(at: u64) -> u64 {
    at / 256 * 4 + at % 4
}
