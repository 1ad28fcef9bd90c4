//! Tags of one cache: set associative, least recently used. Contents live in device memory; a line
//! remembers when its fill arrives, so that a second miss to it waits for the first.

use wb_hw::Cache as CacheSpec;

#[derive(Clone, Copy, Debug)]
struct Line {
    tag: u64,
    ready: u64,
    used: u64,
}

const EMPTY: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Tags {
    lines: Vec<Line>,
    ways: usize,
    sets: u64,
    /// Where the last lookup found its line: fetches and neighbours ask for the same one again.
    last: usize,
    stamp: u64,
    /// Next cycle a lookup port is free, and lookups already made in it.
    port_cycle: u64,
    port_used: u32,
}

pub enum Lookup {
    /// Present; the data is there from the given cycle on.
    Hit(u64),
    /// Absent; `true` if a line was evicted. Fill it with [`Tags::fill`].
    Miss { way: usize, evicted: bool },
}

impl Tags {
    pub fn new(spec: &CacheSpec) -> Self {
        let count = (spec.size / spec.line).max(1) as usize;
        let ways = (spec.ways as usize).clamp(1, count);
        Tags {
            lines: vec![Line { tag: EMPTY, ready: 0, used: 0 }; count],
            ways,
            sets: (count / ways) as u64,
            last: 0,
            stamp: 0,
            port_cycle: 0,
            port_used: 0,
        }
    }

    /// The cycle at which a lookup wanted at `now` gets a port.
    pub fn port(&mut self, now: u64, ports: u32) -> u64 {
        if ports == 0 {
            return now;
        }
        if now > self.port_cycle {
            (self.port_cycle, self.port_used) = (now, 0);
        }
        if self.port_used == ports {
            self.port_cycle += 1;
            self.port_used = 0;
        }
        self.port_used += 1;
        self.port_cycle
    }

    pub fn lookup(&mut self, line: u64) -> Lookup {
        self.stamp += 1;
        let last = &mut self.lines[self.last];
        if last.tag == line {
            last.used = self.stamp;
            return Lookup::Hit(last.ready);
        }
        let set = if self.sets.is_power_of_two() { line & (self.sets - 1) } else { line % self.sets };
        let first = set as usize * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        if let Some(way) = set.iter().position(|l| l.tag == line) {
            self.last = first + way;
            set[way].used = self.stamp;
            return Lookup::Hit(set[way].ready);
        }
        let victim = (0..set.len()).min_by_key(|&w| set[w].used).unwrap_or(0);
        Lookup::Miss { way: first + victim, evicted: set[victim].tag != EMPTY }
    }

    pub fn fill(&mut self, way: usize, line: u64, ready: u64) {
        self.lines[way] = Line { tag: line, ready, used: self.stamp };
    }
}
