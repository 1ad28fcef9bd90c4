//! Events of a block as columns (format version 2): each field is guessed from what came before, and what was guessed right
//! is not stored. Tags and the fields that were guessed wrong are streams of their own, which compress well.
//! A block starts with an empty memory, so that it can be decoded alone (docs/trace-format.md).

use crate::payload::{self, ISSUE, ISSUE_AGAIN, ISSUE_INSTANCE, Issued, MEMORY, STALL};
use crate::varint::{Input, pick, put, unzigzag, zigzag};
use crate::{Event, Kind, PortKind, StallReason};

/// The streams of a block, in the order they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// One byte per event: its code and what was guessed wrong.
    Tag,
    /// For events with [`MISS_MORE`]: which of wave and path, mask, cycle were guessed wrong.
    More,
    Core,
    Slot,
    /// Wave and path.
    Wave,
    Cycle,
    Pc,
    Mask,
    /// Unit, class and busy of issues.
    Unit,
    Instance,
    Reason,
    /// Ends of stalls.
    End,
    /// Port, lines, hits, misses and evictions of memory instructions.
    Lines,
    Done,
    /// Payloads of the other kinds.
    Rest,
}

pub(crate) const STREAMS: usize = Stream::Rest as usize + 1;

/// Bits of a tag above its code.
const CODE: u8 = 0x1f;
const MISS_SLOT: u8 = 0x20;
const MISS_PC: u8 = 0x40;
const MISS_MORE: u8 = 0x80;
/// Bits of [`Stream::More`].
const MISS_PATH: u8 = 1;
const MISS_MASK: u8 = 2;
const MISS_CYCLE: u8 = 4;

/// A stall that ends when the last one ended: for the same reason, or for another.
const STALL_AGAIN: u8 = 16;
const STALL_REASON: u8 = 17;
/// As the last access at this pc in all but the time.
const MEMORY_AGAIN: u8 = 18;

/// Sizes of what is remembered: powers of two. Events that share an entry are guessed worse, nothing else.
const SLOTS: usize = 4096;
const PATHS: usize = 8192;
const PCS: usize = 4096;

#[derive(Clone, Copy, Default)]
struct Owner {
    wave: u32,
    path: u16,
}

/// Where a path is: its last event.
#[derive(Clone, Copy, Default)]
struct Place {
    pc: u32,
    mask: u64,
    /// When the last event was over.
    cycle: u64,
    class: u8,
}

/// What followed an event of one class at one pc.
#[derive(Clone, Copy, Default)]
struct Step {
    pc: u32,
    cycles: u64,
}

/// Everything about an access but its time.
#[derive(Clone, Copy, Default, PartialEq)]
struct Access {
    port: u8,
    counts: [u16; 4],
}

/// What is remembered.
pub(crate) struct Columns {
    owners: Vec<Owner>,
    places: Vec<Place>,
    steps: Vec<Step>,
    issued: Vec<Issued>,
    accesses: Vec<(Access, u64)>,
    /// Who came after whom: by core, slot and class of the event before.
    followers: Vec<(u16, u16)>,
    core: u16,
    slot: u16,
    class: u8,
    now: u64,
    reason: u8,
    end: u64,
}

/// Classes of events that are remembered apart.
fn class_of(code: u8) -> u8 {
    match code {
        ISSUE | ISSUE_AGAIN | ISSUE_INSTANCE => 1,
        STALL | STALL_AGAIN | STALL_REASON => 2,
        MEMORY | MEMORY_AGAIN => 3,
        _ => 0,
    }
}

fn place_of(core: u16, slot: u16, path: u16) -> usize {
    (core as usize * 64 + slot as usize + path as usize * 1237) % PATHS
}

fn step_of(pc: u32, class: u8) -> usize {
    (pc as usize * 4 + class as usize) % (4 * PCS)
}

impl Columns {
    pub fn new() -> Self {
        Columns {
            owners: vec![Owner::default(); SLOTS],
            places: vec![Place::default(); PATHS],
            steps: vec![Step::default(); 4 * PCS],
            issued: vec![Issued::default(); PCS],
            accesses: vec![Default::default(); PCS],
            followers: vec![(0, 0); 4 * SLOTS],
            core: 0,
            slot: 0,
            class: 0,
            now: 0,
            reason: 0,
            end: 0,
        }
    }

    pub fn reset(&mut self) {
        self.owners.fill(Owner::default());
        self.places.fill(Place::default());
        self.steps.fill(Step::default());
        self.issued.fill(Issued::default());
        self.accesses.fill(Default::default());
        self.followers.fill((0, 0));
        (self.core, self.slot, self.class, self.now, self.reason, self.end) = (0, 0, 0, 0, 0, 0);
    }

    fn follower(&self) -> usize {
        (self.core as usize * 64 + self.slot as usize) % SLOTS * 4 + self.class as usize
    }

    fn owner(core: u16, slot: u16) -> usize {
        (core as usize * 64 + slot as usize) % SLOTS
    }

    /// Where the path should be now: pc and cycle.
    fn guess(&self, place: &Place) -> (u32, u64) {
        let step = self.steps[step_of(place.pc, place.class)];
        (place.pc.wrapping_add(step.pc), place.cycle.wrapping_add(step.cycles))
    }

    /// Remembers an event, after it was stored or read.
    fn learn(&mut self, event: &Event, code: u8) {
        let follower = self.follower();
        self.followers[follower] = (event.core, event.slot);
        self.owners[Self::owner(event.core, event.slot)] = Owner { wave: event.wave, path: event.path };
        let at = place_of(event.core, event.slot, event.path);
        let before = self.places[at];
        self.steps[step_of(before.pc, before.class)] =
            Step { pc: event.pc.wrapping_sub(before.pc), cycles: event.cycle.wrapping_sub(before.cycle) };
        let class = class_of(code);
        let mut place = Place { pc: event.pc, mask: event.mask, cycle: event.cycle, class };
        match event.kind {
            Kind::Stall { cycles, reason } => {
                place.cycle = event.cycle.wrapping_add(cycles.into());
                (self.reason, self.end) = (reason as u8, place.cycle);
            }
            Kind::Issue { unit, instance, class, busy } => {
                self.issued[event.pc as usize % PCS] = Issued { unit, instance, class, busy };
                self.now = event.cycle;
            }
            Kind::Mask { new, .. } => place.mask = new,
            Kind::Memory { done, .. } => {
                let latency = done.wrapping_sub(event.cycle);
                self.accesses[event.pc as usize % PCS] = (access_of(event), latency);
            }
            Kind::WaveStart { .. }
            | Kind::WaveEnd
            | Kind::Nop
            | Kind::Split { .. }
            | Kind::PathNew { .. }
            | Kind::PathMerge { .. }
            | Kind::PathStart { .. }
            | Kind::PathEnd { .. }
            | Kind::SplitRefused { .. }
            | Kind::Barrier { .. } => {}
        }
        self.places[at] = place;
        (self.core, self.slot, self.class) = (event.core, event.slot, class);
    }

    /// The code of an event: kinds that were guessed have their own.
    fn code(&self, event: &Event) -> u8 {
        match event.kind {
            Kind::Issue { unit, instance, class, busy } => {
                Issued { unit, instance, class, busy }.code(self.issued[event.pc as usize % PCS])
            }
            Kind::Stall { cycles, reason } => {
                if event.cycle.wrapping_add(cycles.into()) != self.end {
                    STALL
                } else if reason as u8 != self.reason {
                    STALL_REASON
                } else {
                    STALL_AGAIN
                }
            }
            Kind::Memory { .. } => {
                let same = self.accesses[event.pc as usize % PCS].0 == access_of(event);
                if same { MEMORY_AGAIN } else { MEMORY }
            }
            ref kind => payload::code(kind),
        }
    }

    pub fn encode(&mut self, event: &Event, out: &mut [Vec<u8>; STREAMS]) {
        let code = self.code(event);
        let (mut tag, mut more) = (code, 0);
        if (event.core, event.slot) != self.followers[self.follower()] {
            tag |= MISS_SLOT;
            put(to(out, Stream::Core), zigzag(u64::from(event.core).wrapping_sub(self.core.into())));
            put(to(out, Stream::Slot), event.slot.into());
        }
        let owner = self.owners[Self::owner(event.core, event.slot)];
        if (event.wave, event.path) != (owner.wave, owner.path) {
            more |= MISS_PATH;
            put(to(out, Stream::Wave), event.wave.into());
            put(to(out, Stream::Wave), event.path.into());
        }
        let place = self.places[place_of(event.core, event.slot, event.path)];
        let (pc, cycle) = self.guess(&place);
        if event.pc != pc {
            tag |= MISS_PC;
            put(to(out, Stream::Pc), zigzag(i64::from(event.pc).wrapping_sub(place.pc.into()) as u64));
        }
        if event.mask != place.mask {
            more |= MISS_MASK;
            put(to(out, Stream::Mask), event.mask ^ place.mask);
        }
        if event.cycle != cycle {
            more |= MISS_CYCLE;
            put(to(out, Stream::Cycle), zigzag(event.cycle.wrapping_sub(self.now)));
        }
        if more != 0 {
            tag |= MISS_MORE;
            to(out, Stream::More).push(more);
        }
        to(out, Stream::Tag).push(tag);
        self.payload(event, code, out);
        self.learn(event, code);
    }

    fn payload(&self, event: &Event, code: u8, out: &mut [Vec<u8>; STREAMS]) {
        match event.kind {
            Kind::Issue { unit, instance, class, busy } => {
                if code == ISSUE {
                    to(out, Stream::Unit).extend([unit, class]);
                    put(to(out, Stream::Unit), busy.into());
                }
                if code != ISSUE_AGAIN {
                    to(out, Stream::Instance).push(instance);
                }
            }
            Kind::Stall { cycles, reason } => {
                if code != STALL_AGAIN {
                    to(out, Stream::Reason).push(reason as u8);
                }
                if code == STALL {
                    // The length would do; from the end of the last stall it is a small number.
                    let end = event.cycle.wrapping_add(cycles.into());
                    put(to(out, Stream::End), zigzag(end.wrapping_sub(self.end)));
                }
            }
            Kind::Memory { done, .. } => {
                let (_, latency) = self.accesses[event.pc as usize % PCS];
                if code == MEMORY {
                    let Access { port, counts } = access_of(event);
                    to(out, Stream::Lines).push(port);
                    counts.iter().for_each(|&n| put(to(out, Stream::Lines), n.into()));
                }
                let difference = done.wrapping_sub(event.cycle).wrapping_sub(latency);
                put(to(out, Stream::Done), zigzag(difference));
            }
            _ => payload::put_rest(event, to(out, Stream::Rest)),
        }
    }

    /// The next event; what is wrong with the bytes otherwise.
    pub fn decode(&mut self, input: &mut [Input<'_>; STREAMS]) -> Result<Event, &'static str> {
        let tag = from(input, Stream::Tag).byte()?;
        let more = if tag & MISS_MORE != 0 { from(input, Stream::More).byte()? } else { 0 };
        if more & !(MISS_PATH | MISS_MASK | MISS_CYCLE) != 0 {
            return Err("unknown bits of an event");
        }
        let (core, slot) = if tag & MISS_SLOT != 0 {
            let core = u64::from(self.core).wrapping_add(unzigzag(from(input, Stream::Core).varint()?));
            let core = u16::try_from(core).map_err(|_| "a core is out of range")?;
            (core, from(input, Stream::Slot).u16()?)
        } else {
            self.followers[self.follower()]
        };
        let Owner { mut wave, mut path } = self.owners[Self::owner(core, slot)];
        if more & MISS_PATH != 0 {
            wave = from(input, Stream::Wave).u32()?;
            path = from(input, Stream::Wave).u16()?;
        }
        let place = self.places[place_of(core, slot, path)];
        let (mut pc, mut cycle) = self.guess(&place);
        if tag & MISS_PC != 0 {
            let wide = u64::from(place.pc).wrapping_add(unzigzag(from(input, Stream::Pc).varint()?));
            pc = u32::try_from(wide).map_err(|_| "a pc is out of range")?;
        }
        let mut mask = place.mask;
        if more & MISS_MASK != 0 {
            mask ^= from(input, Stream::Mask).varint()?;
        }
        if more & MISS_CYCLE != 0 {
            cycle = self.now.wrapping_add(unzigzag(from(input, Stream::Cycle).varint()?));
        }
        let code = tag & CODE;
        let kind = self.kind(code, (pc, mask, cycle), input)?;
        let event = Event { cycle, core, slot, wave, path, pc, mask, kind };
        self.learn(&event, code);
        Ok(event)
    }

    fn kind(
        &self,
        code: u8,
        (pc, mask, cycle): (u32, u64, u64),
        input: &mut [Input<'_>; STREAMS],
    ) -> Result<Kind, &'static str> {
        Ok(match code {
            ISSUE | ISSUE_AGAIN | ISSUE_INSTANCE => {
                let mut issued = self.issued[pc as usize % PCS];
                if code == ISSUE {
                    let input = from(input, Stream::Unit);
                    (issued.unit, issued.class, issued.busy) = (input.byte()?, input.byte()?, input.u16()?);
                }
                if code != ISSUE_AGAIN {
                    issued.instance = from(input, Stream::Instance).byte()?;
                }
                issued.kind()
            }
            STALL | STALL_AGAIN | STALL_REASON => {
                let reason =
                    if code == STALL_AGAIN { self.reason } else { from(input, Stream::Reason).byte()? };
                let end = match code {
                    STALL => self.end.wrapping_add(unzigzag(from(input, Stream::End).varint()?)),
                    _ => self.end,
                };
                let cycles = u32::try_from(end.wrapping_sub(cycle)).map_err(|_| "a stall is too long")?;
                Kind::Stall { cycles, reason: pick(&StallReason::ALL, reason, "unknown stall reason")? }
            }
            MEMORY | MEMORY_AGAIN => {
                let (mut access, latency) = self.accesses[pc as usize % PCS];
                if code == MEMORY {
                    let input = from(input, Stream::Lines);
                    access.port = input.byte()?;
                    for n in &mut access.counts {
                        *n = input.u16()?;
                    }
                }
                let latency = latency.wrapping_add(unzigzag(from(input, Stream::Done).varint()?));
                let [lines, hits, misses, evictions] = access.counts;
                Kind::Memory {
                    port: pick(&PortKind::ALL, access.port & 0x7f, "unknown memory port")?,
                    write: access.port & 0x80 != 0,
                    lines,
                    hits,
                    misses,
                    evictions,
                    done: cycle.wrapping_add(latency),
                }
            }
            _ => payload::rest(code, mask, from(input, Stream::Rest))?,
        })
    }
}

/// Port, write and counts of a memory instruction; zeros for other kinds.
fn access_of(event: &Event) -> Access {
    match event.kind {
        Kind::Memory { port, write, lines, hits, misses, evictions, done: _ } => Access {
            port: port as u8 | if write { 0x80 } else { 0 },
            counts: [lines, hits, misses, evictions],
        },
        _ => Access::default(),
    }
}

fn to(out: &mut [Vec<u8>; STREAMS], stream: Stream) -> &mut Vec<u8> {
    &mut out[stream as usize]
}

fn from<'a, 'b>(input: &'a mut [Input<'b>; STREAMS], stream: Stream) -> &'a mut Input<'b> {
    &mut input[stream as usize]
}
