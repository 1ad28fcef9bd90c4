//! When a memory access is done: the chain of caches down to DRAM, computed at issue. No events, no queues to step: ports and the
//! bus of DRAM are calendars, in which a request takes what is left from its arrival on; requests are entered in the order of issue,
//! cores in number order. Lookups see the lines in the order of issue.

use super::ahead::{Ahead, Filling, Request, Times, is_known};
use super::cache::{Lookup, Tags};
use super::dram::Dram;
use wb_hw::{Machine, WritePolicy};
use wb_trace::PortKind;

/// A level by index, or DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Level(usize),
    Dram,
    /// Always there at once (instruction fetch without a cache).
    Ideal,
}

#[derive(Debug)]
struct Level {
    copies: Vec<Tags>,
    /// By core, which of them it has.
    copy_of: Vec<u32>,
    line: u32,
    /// The same as a power of two.
    shift: u32,
    latency: u64,
    write: WritePolicy,
    next: Place,
    /// Cores of other host threads use it too.
    elsewhere: bool,
}

/// What an access met on its first level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub hits: u16,
    pub misses: u16,
    pub evictions: u16,
    /// Hits on lines that are still on their way.
    pub coming: u16,
}

#[derive(Debug)]
pub struct Hierarchy {
    levels: Vec<Level>,
    dram: Dram,
    dram_line: u32,
    data: Place,
    sampler: Place,
    scalar: Place,
    instruction: Place,
    lds_latency: u64,
    request: u64,
    response: u64,
    /// Addresses count from here.
    origin: u64,
    /// Nothing is issued before this cycle any more.
    now: u64,
    /// What is asked of levels that are elsewhere, and of DRAM, which is with them.
    ahead: Option<Box<Ahead>>,
}

impl Hierarchy {
    /// The machine has been validated: every name resolves and chains end at DRAM. Lines are told by their distance
    /// from `origin`.
    pub fn new(machine: &Machine, origin: u64) -> Self {
        let place = |name: &str| match name {
            "none" => Place::Ideal,
            _ => machine.caches.iter().position(|c| c.name == name).map_or(Place::Dram, Place::Level),
        };
        let levels = machine
            .caches
            .iter()
            .map(|c| {
                let shared_by = if c.shared_by == 0 { machine.cores } else { c.shared_by } as usize;
                Level {
                    copies: vec![Tags::new(c); (machine.cores as usize).div_ceil(shared_by)],
                    copy_of: (0..machine.cores).map(|core| core / shared_by as u32).collect(),
                    line: c.line,
                    shift: c.line.trailing_zeros(),
                    latency: u64::from(c.latency),
                    write: c.write,
                    next: place(&c.next),
                    elsewhere: false,
                }
            })
            .collect();
        Hierarchy {
            levels,
            dram: Dram::new(&machine.dram),
            dram_line: machine.dram.line,
            data: place(&machine.memory.data),
            sampler: place(&machine.memory.sampler),
            scalar: place(&machine.memory.scalar),
            instruction: place(&machine.memory.instruction),
            lds_latency: u64::from(machine.memory.lds_latency),
            request: u64::from(machine.memory.request_latency),
            response: u64::from(machine.memory.response_latency),
            origin,
            now: 0,
            ahead: None,
        }
    }

    /// For a host thread with some of the cores, which ends at each of `ends`: levels that cores of different threads use, and what
    /// is behind them, are elsewhere. Returns after how many cycles an answer from there can be needed at the soonest; none if
    /// nothing is known of that.
    pub fn run_ahead(&mut self, machine: &Machine, ends: &[usize]) -> Option<u64> {
        for (level, spec) in self.levels.iter_mut().zip(&machine.caches) {
            let apart = |&end: &usize| spec.shared_by > 0 && end.is_multiple_of(spec.shared_by as usize);
            level.elsewhere = !ends.iter().all(apart);
        }
        for _ in 0..self.levels.len() {
            for l in 0..self.levels.len() {
                if let (true, Place::Level(next)) = (self.levels[l].elsewhere, self.levels[l].next) {
                    self.levels[next].elsewhere = true;
                }
            }
        }
        self.ahead = Some(Box::default());
        let there = self.request;
        let soonest = |place, more: u64| {
            let ways = [self.soonest(place, false), self.soonest(place, true)];
            ways.into_iter().flatten().map(move |cycles| cycles + more)
        };
        // Of an instruction that was missed its line counts, not when it is through the cache.
        let hit = machine.instruction_hit();
        let fetch = soonest(self.instruction, 0).map(|cycles| cycles.saturating_sub(hit));
        let data = soonest(self.data, there);
        data.chain(soonest(self.sampler, 0)).chain(soonest(self.scalar, 0)).chain(fetch).min()
    }

    /// Cycles until an access can be done that goes elsewhere; none if it never does.
    fn soonest(&self, place: Place, write: bool) -> Option<u64> {
        match place {
            Place::Ideal => None,
            Place::Dram => Some(self.dram.soonest()),
            Place::Level(l) => {
                let level = &self.levels[l];
                let free = write && level.write == WritePolicy::Free;
                match level.elsewhere {
                    true => Some(if free { 0 } else { level.latency }),
                    false if free => None,
                    false => Some(level.latency + self.soonest(level.next, write)?),
                }
            }
        }
    }

    /// Until this cycle the thread runs on its own.
    pub fn run_to(&mut self, horizon: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.horizon = horizon;
        }
    }

    /// What has been asked of levels elsewhere.
    pub fn requests(&mut self) -> &mut Vec<Request> {
        &mut self.ahead.get_or_insert_default().requests
    }

    /// When a request of another hierarchy is done.
    pub fn serve(&mut self, request: &Request) -> u64 {
        self.now = request.cycle;
        let place = request.level.map_or(Place::Dram, Place::Level);
        self.reach(place, request.core, request.addr, request.write, request.arrival, &mut Access::default())
    }

    /// The requests are done at these times: lines that were on their way have theirs. Returns what times are now known.
    pub fn tell(&mut self, done: &[u64]) -> Times {
        let Some(ahead) = &mut self.ahead else { return Times::default() };
        let times = ahead.tell(done);
        for Filling { level, copy, way, ready } in ahead.fills.drain(..) {
            self.levels[level].copies[copy].tell(way, ready, times.of(ready));
        }
        times
    }

    /// The later one of two times.
    #[inline(always)]
    pub fn later(&mut self, a: u64, b: u64) -> u64 {
        let last = a.max(b);
        if is_known(last) { last } else { self.later_unknown(a, b) }
    }

    #[inline(never)]
    fn later_unknown(&mut self, a: u64, b: u64) -> u64 {
        self.ahead.as_mut().map_or(a.max(b), |ahead| ahead.later(a, b))
    }

    /// The cycle that begins: nothing is issued before it any more.
    pub fn begin_cycle(&mut self, now: u64) {
        self.now = now;
    }

    fn place(&self, port: PortKind) -> Place {
        match port {
            PortKind::Data => self.data,
            PortKind::Sampler => self.sampler,
            PortKind::Scalar => self.scalar,
            PortKind::Fetch => self.instruction,
            PortKind::Lds => Place::Ideal,
        }
    }

    /// Bytes that one access of this kind moves together.
    pub fn line(&self, port: PortKind) -> u32 {
        match self.place(port) {
            Place::Level(l) => self.levels[l].line,
            Place::Dram => self.dram_line,
            Place::Ideal => 64,
        }
    }

    /// All lines of one instruction, sent at `now`: when the slowest result can be used, and in `met` what they met.
    pub fn access(
        &mut self,
        (port, core): (PortKind, usize),
        lines: impl Iterator<Item = u64>,
        write: bool,
        now: u64,
        met: &mut Access,
    ) -> u64 {
        *met = Access::default();
        let mut last = now;
        if port == PortKind::Lds {
            return now + self.lds_latency;
        }
        let place = self.place(port);
        let (there, back) = if port == PortKind::Data { (self.request, self.response) } else { (0, 0) };
        let sent = now + there;
        match place {
            // The usual case: what every line asks for is looked up once.
            Place::Level(l) if !write && !self.levels[l].elsewhere => {
                let copy = self.levels[l].copy_of[core] as usize;
                for addr in lines {
                    let addr = addr.wrapping_sub(self.origin);
                    let done = self.read(l, (core, copy), addr, sent, met) + back;
                    last = self.later(last, done);
                }
            }
            _ => {
                for addr in lines {
                    let addr = addr.wrapping_sub(self.origin);
                    let done = self.reach(place, core, addr, write, sent, met) + back;
                    last = self.later(last, done);
                }
            }
        }
        last
    }

    /// Instruction fetch of the line with `addr` in cycle `now`: when it is there.
    #[inline(always)]
    pub fn fetch(&mut self, core: usize, addr: u64, now: u64) -> u64 {
        let addr = addr.wrapping_sub(self.origin);
        if let Place::Level(l) = self.instruction {
            let level = &mut self.levels[l];
            let copy = &mut level.copies[level.copy_of[core] as usize];
            // Most waves are near others.
            if let Some(ready) = copy.again(addr >> level.shift) {
                let through = copy.port(now, self.now) + level.latency;
                return self.later(ready, through);
            }
        }
        self.reach(self.instruction, core, addr, false, now, &mut Access::default())
    }

    /// The line of the instruction cache that has `addr`.
    pub fn fetch_line(&self, addr: u64) -> u64 {
        let line = u64::from(self.line(PortKind::Fetch));
        addr.wrapping_sub(self.origin) / line
    }

    /// Whether it makes no difference in which order instructions are fetched in a cycle that are in their cache, those of a program that
    /// lies between two addresses: all of it stays there, nothing else is there, and the cache has a port for everybody.
    pub fn fetches_in_any_order(&self, machine: &Machine, (first, last): (u64, u64)) -> bool {
        let Place::Level(l) = self.instruction else { return self.instruction == Place::Ideal };
        let name = &machine.memory.instruction;
        let ports = [&machine.memory.data, &machine.memory.sampler, &machine.memory.scalar];
        let others = ports.into_iter().chain(machine.caches.iter().map(|c| &c.next));
        let level = &self.levels[l];
        let line = |addr: u64| addr.wrapping_sub(self.origin) >> level.shift;
        let fits = level.copies.iter().all(|copy| line(last).wrapping_sub(line(first)) < copy.room());
        let alone = others.into_iter().all(|other| other != name);
        alone && fits && first <= last && machine.caches[l].ports == 0
    }

    /// The same, with what became of each line: when it is there, and whether the first level had it.
    pub fn access_each(
        &mut self,
        to: (PortKind, usize),
        lines: impl Iterator<Item = u64>,
        write: bool,
        now: u64,
        (met, each): (&mut Access, &mut Vec<(u64, bool)>),
    ) -> u64 {
        each.clear();
        *met = Access::default();
        let (mut last, mut one) = (now, Access::default());
        for addr in lines {
            let done = self.access(to, std::iter::once(addr), write, now, &mut one);
            each.push((done, one.misses == 0 && one.coming == 0));
            last = last.max(done);
            met.hits += one.hits;
            met.misses += one.misses;
            met.evictions += one.evictions;
            met.coming += one.coming;
        }
        last
    }

    /// When an access is done that arrives at `now`; `seen` is told what it meets on its first level.
    #[inline(never)]
    fn reach(
        &mut self,
        mut place: Place,
        core: usize,
        addr: u64,
        write: bool,
        mut now: u64,
        seen: &mut Access,
    ) -> u64 {
        while let Place::Level(l) = place {
            let level = &mut self.levels[l];
            if level.elsewhere {
                let request = Request { cycle: self.now, core, level: Some(l), addr, write, arrival: now };
                return self.ahead.get_or_insert_default().request(request);
            }
            let copy = level.copy_of[core] as usize;
            if !write {
                return self.read(l, (core, copy), addr, now, seen);
            }
            // Stores look nothing up.
            match level.write {
                WritePolicy::Free => return now,
                WritePolicy::Through => {
                    now = level.copies[copy].port(now, self.now) + level.latency;
                    place = level.next;
                }
            }
        }
        match (place, &mut self.ahead) {
            (Place::Dram, None) => self.dram.access(addr, self.dram_line, now, self.now),
            (Place::Dram, Some(ahead)) => {
                ahead.request(Request { cycle: self.now, core, level: None, addr, write, arrival: now })
            }
            _ => now,
        }
    }

    /// A load from a level that is here, where it arrives at `now`.
    #[inline(always)]
    fn read(
        &mut self,
        l: usize,
        (core, copy): (usize, usize),
        addr: u64,
        now: u64,
        seen: &mut Access,
    ) -> u64 {
        let level = &mut self.levels[l];
        let (tags, line) = (&mut level.copies[copy], addr >> level.shift);
        let through = tags.port(now, self.now) + level.latency;
        match tags.lookup(line) {
            Lookup::Hit(ready) => {
                seen.hits += 1;
                seen.coming += u16::from(ready > through);
                self.later(ready, through)
            }
            Lookup::Miss { way, evicted } => {
                seen.misses += 1;
                seen.evictions += u16::from(evicted);
                let next = level.next;
                let done = self.reach(next, core, addr, false, through, &mut Access::default());
                self.levels[l].copies[copy].fill(way, line, done);
                if let Some(ahead) = &mut self.ahead
                    && !is_known(done)
                {
                    ahead.fills.push(Filling { level: l, copy, way, ready: done });
                }
                done
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Core 0 sends many lines, whose lookups in the shared cache are spread over as many cycles. Core 1 sends one line, which
    /// arrives among the first of them while half of the ports are free. It used to wait for the last of core 0's lines.
    #[test]
    fn a_request_does_not_wait_for_lines_that_arrive_later() {
        let mut machine = wb_hw::preset("gcn3").expect("a preset");
        machine.cores = 2;
        machine.dram.bandwidth = 0;
        let own =
            machine.caches.iter().position(|c| c.name == machine.memory.data).expect("a cache of the core");
        let next = machine.caches[own].next.clone();
        let shared = machine.caches.iter().position(|c| c.name == next).expect("a shared cache");
        (machine.caches[own].ports, machine.caches[shared].ports) = (1, 2);
        (machine.caches[own].shared_by, machine.caches[shared].shared_by) = (1, 0);
        let alone = {
            let mut h = Hierarchy::new(&machine, 0);
            h.access((PortKind::Data, 1), [1 << 20].into_iter(), false, 0, &mut Access::default())
        };
        let mut h = Hierarchy::new(&machine, 0);
        let many = (0..64).map(|i| i * u64::from(machine.caches[own].line));
        h.access((PortKind::Data, 0), many, false, 0, &mut Access::default());
        let beside = h.access((PortKind::Data, 1), [1 << 20].into_iter(), false, 0, &mut Access::default());
        assert_eq!(beside, alone, "a port of the shared cache is free when it arrives");
    }
}
