//! Tags of one cache: set associative, least recently used. Contents live in device memory; a line
//! remembers when its fill arrives, so that a second miss to it waits for the first.

use super::calendar::Calendar;
use wb_hw::Cache as CacheSpec;

const EMPTY: u64 = u64::MAX;

/// When the data of a line is there, and when it was used last.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    ready: u64,
    used: u64,
}

#[derive(Clone, Debug)]
pub struct Tags {
    /// What each line holds, apart from the rest: a lookup compares the tags of a set, and only who looks for the oldest one reads
    /// when they were used.
    tags: Vec<u64>,
    lines: Vec<Line>,
    ways: usize,
    sets: u64,
    /// Sets are told by the lowest bits.
    even: bool,
    /// Where lines were found last, by the lowest bits of their numbers: mostly they still are there.
    recent: Vec<u32>,
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
        let sets = count / ways;
        Tags {
            tags: vec![EMPTY; count],
            lines: vec![Line::default(); count],
            ways,
            sets: sets as u64,
            even: sets.is_power_of_two(),
            recent: vec![0; count.next_power_of_two()],
            stamp: 0,
            ports: Calendar::new(spec.ports),
        }
    }

    /// The cycle in which a lookup that arrives at `arrival` gets a port.
    #[inline(always)]
    pub fn port(&mut self, arrival: u64, now: u64) -> u64 {
        self.ports.take(arrival, 1, now)
    }

    #[inline(always)]
    fn set(&self, line: u64) -> usize {
        (if self.even { line & (self.sets - 1) } else { line % self.sets }) as usize
    }

    #[inline(always)]
    fn place(&mut self, line: u64) -> &mut u32 {
        let last = self.recent.len() - 1;
        &mut self.recent[line as usize & last]
    }

    /// A lookup of a line that is where it or one like it was found last: when its data is there. None if it is not there, and has not
    /// been looked up.
    #[inline(always)]
    pub fn again(&mut self, line: u64) -> Option<u64> {
        let way = *self.place(line) as usize;
        if self.tags[way] != line {
            return None;
        }
        self.stamp += 1;
        let line = &mut self.lines[way];
        line.used = self.stamp;
        Some(line.ready)
    }

    /// How many lines that follow on each other there is room for.
    pub fn room(&self) -> u64 {
        self.sets * self.ways as u64
    }

    #[inline(always)]
    pub fn lookup(&mut self, line: u64) -> Lookup {
        match self.again(line) {
            Some(ready) => Lookup::Hit(ready),
            None => self.search(line),
        }
    }

    /// All lines of the set. Which of them it is cannot be foretold: no branches.
    #[inline(never)]
    fn search(&mut self, line: u64) -> Lookup {
        self.stamp += 1;
        let set = self.set(line);
        let (first, end) = (set * self.ways, (set + 1) * self.ways);
        // A line is in one place at most: the sum of the places that have it is that place, counted from one.
        let places = self.tags[first..end].iter().zip(1u32..);
        let place: u32 = places.map(|(&tag, place)| if tag == line { place } else { 0 }).sum();
        if place != 0 {
            let way = first + place as usize - 1;
            *self.place(line) = way as u32;
            self.lines[way].used = self.stamp;
            return Lookup::Hit(self.lines[way].ready);
        }
        // Stamps count lookups, and a set has at most 65,536 ways: both fit into a word.
        let keys = self.lines[first..end].iter().enumerate().map(|(way, line)| line.used << 16 | way as u64);
        let oldest = first + (keys.min().unwrap_or(0) & 0xffff) as usize;
        Lookup::Miss { way: oldest, evicted: self.tags[oldest] != EMPTY }
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
        *self.place(line) = way as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as one list of lines for each set, newest first.
    #[test]
    fn as_lists_of_lines() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let preset = wb_hw::preset("gcn3").expect("a preset").caches[0].clone();
        for (sets, ways) in [(1, 1), (1, 16), (4, 2), (3, 4), (16, 8)] {
            let (line, size) = (64, 64 * sets as u32 * ways as u32);
            let mut tags =
                Tags::new(&CacheSpec { size, line, ways: ways as u32, ports: 0, ..preset.clone() });
            let mut lists: Vec<Vec<(u64, u64)>> = vec![Vec::new(); sets];
            for i in 0..5000 {
                let reach = if random(3) == 0 { 4 } else { 3 * (sets * ways) as u64 };
                let line = random(reach);
                let list = &mut lists[line as usize % sets];
                let there = list.iter().position(|l| l.0 == line);
                match (tags.lookup(line), there) {
                    (Lookup::Hit(ready), Some(place)) => {
                        let found = list.remove(place);
                        assert_eq!(ready, found.1);
                        list.insert(0, found);
                    }
                    (Lookup::Miss { way, evicted }, None) => {
                        assert_eq!(evicted, list.len() == ways, "lookup {i} of {line}");
                        list.insert(0, (line, i));
                        list.truncate(ways);
                        tags.fill(way, line, i);
                    }
                    (_, there) => panic!("lookup {i} of {line}: {there:?}"),
                }
            }
        }
    }
}
