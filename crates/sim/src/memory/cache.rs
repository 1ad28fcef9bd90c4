//! Tags of one cache: set associative, least recently used. Contents live in device memory; a line
//! remembers when its fill arrives, so that a second miss to it waits for the first.

use super::calendar::Calendar;
use wb_hw::Cache as CacheSpec;

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    ready: u64,
    used: u64,
}

const EMPTY: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Tags {
    /// What each line holds, apart from the rest: a lookup compares the tags of a set.
    tags: Vec<u64>,
    lines: Vec<Line>,
    ways: usize,
    sets: u64,
    /// Where the last lookup found its line: fetches and neighbours ask for the same one again.
    last: usize,
    stamp: u64,
    /// Lookups in each cycle.
    ports: Calendar,
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
            tags: vec![EMPTY; count],
            lines: vec![Line::default(); count],
            ways,
            sets: (count / ways) as u64,
            last: 0,
            stamp: 0,
            ports: Calendar::new(spec.ports),
        }
    }

    /// The cycle in which a lookup that arrives at `arrival` gets a port.
    #[inline]
    pub fn port(&mut self, arrival: u64, now: u64) -> u64 {
        self.ports.take(arrival, 1, now)
    }

    /// The last lookup that hit was of this line, which is still there.
    #[inline(always)]
    pub fn is_last(&self, line: u64) -> bool {
        self.tags[self.last] == line
    }

    /// A lookup of the line that the last hit was of: when its data is there.
    #[inline(always)]
    pub fn again(&mut self) -> u64 {
        self.stamp += 1;
        let line = &mut self.lines[self.last];
        line.used = self.stamp;
        line.ready
    }

    #[inline]
    pub fn lookup(&mut self, line: u64) -> Lookup {
        self.stamp += 1;
        if self.tags[self.last] == line {
            return self.hit(self.last);
        }
        let set = if self.sets.is_power_of_two() { line & (self.sets - 1) } else { line % self.sets };
        let first = set as usize * self.ways;
        let tags = &self.tags[first..first + self.ways];
        if let Some(way) = tags.iter().position(|&tag| tag == line) {
            return self.hit(first + way);
        }
        let victim = (first..first + self.ways).min_by_key(|&w| self.lines[w].used).unwrap_or(first);
        Lookup::Miss { way: victim, evicted: self.tags[victim] != EMPTY }
    }

    fn hit(&mut self, way: usize) -> Lookup {
        self.last = way;
        let line = &mut self.lines[way];
        line.used = self.stamp;
        Lookup::Hit(line.ready)
    }

    /// The line that was to be there at `ready` is there at `done`, if it has not been evicted meanwhile.
    pub fn tell(&mut self, way: usize, ready: u64, done: u64) {
        if self.lines[way].ready == ready {
            self.lines[way].ready = done;
        }
    }

    pub fn fill(&mut self, way: usize, line: u64, ready: u64) {
        self.tags[way] = line;
        self.lines[way] = Line { ready, used: self.stamp };
    }
}
