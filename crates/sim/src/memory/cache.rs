//! Tags of one cache: set associative, least recently used. Contents live in device memory; a line
//! remembers when its fill arrives, so that a second miss to it waits for the first.

use super::calendar::Calendar;
use wb_hw::Cache as CacheSpec;

const EMPTY: u64 = u64::MAX;

/// What a place of the cache holds, and when the data is there.
#[derive(Clone, Copy, Debug)]
struct Line {
    tag: u64,
    ready: u64,
}

#[derive(Clone, Debug)]
pub struct Tags {
    lines: Vec<Line>,
    /// By line, when it was used last, and behind that its number: the smallest one of a set is that of its oldest line.
    used: Vec<u64>,
    /// By set, a few digits of a hash of each tag, four to a number: a lookup compares them all, and the tag of the one that is alike.
    /// Of `words` numbers each has every so manieth way; none for unusual numbers of ways.
    hints: Vec<u64>,
    words: usize,
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

/// Digits of the number of a line behind its stamp.
const NUMBER: u32 = 24;

/// In each quarter of a number the digits of a hint, its highest one and the others.
const EACH: u64 = 0x0001_0001_0001_0001;
const HIGH: u64 = EACH << 15;
const LOW: u64 = HIGH - EACH;

/// The digits by which a line is looked for.
#[inline(always)]
fn hint(line: u64) -> u64 {
    line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
}

/// The first way with this hint. Which of them it is cannot be foretold: no branches.
#[inline(always)]
fn first_like<const N: usize>(hints: &[u64; N], hint: u64) -> Option<usize> {
    let mut alike = 0;
    for (k, hints) in hints.iter().enumerate() {
        let differ = hints ^ (hint * EACH);
        // The highest digit of each quarter that has no other one.
        let none = !(((differ & LOW) + LOW) | differ) & HIGH;
        alike |= none >> (N - 1 - k);
    }
    let at = alike.trailing_zeros() as usize;
    (alike != 0).then(|| at / 16 * N + (at % 16 + N - 16))
}

impl Tags {
    pub fn new(spec: &CacheSpec) -> Self {
        let count = (spec.size / spec.line).max(1) as usize;
        let ways = (spec.ways as usize).clamp(1, count);
        let sets = count / ways;
        let words = if matches!(ways, 4 | 8 | 16) { ways / 4 } else { 0 };
        Tags {
            lines: vec![Line { tag: EMPTY, ready: 0 }; count],
            used: (0..count as u64).map(|at| at & ((1 << NUMBER) - 1)).collect(),
            hints: vec![0; words * sets],
            words,
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

    /// The line at a place is used, later than all others.
    #[inline(always)]
    fn used(&mut self, way: usize) {
        self.stamp += 1 << NUMBER;
        self.used[way] = self.stamp | way as u64 & ((1 << NUMBER) - 1);
    }

    /// A lookup of a line that is where it or one like it was found last: when its data is there. None if it is not there, and has not
    /// been looked up.
    #[inline(always)]
    pub fn again(&mut self, line: u64) -> Option<u64> {
        let way = *self.place(line) as usize;
        let Line { tag, ready } = self.lines[way];
        if tag != line {
            return None;
        }
        self.used(way);
        Some(ready)
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

    /// All lines of the set.
    #[inline(never)]
    fn search(&mut self, line: u64) -> Lookup {
        match self.words {
            1 => self.search_of::<4, 1>(line),
            2 => self.search_of::<8, 2>(line),
            4 => self.search_of::<16, 4>(line),
            _ => self.search_each(line),
        }
    }

    /// The same of a set with `W` ways.
    #[inline(always)]
    fn search_of<const W: usize, const N: usize>(&mut self, line: u64) -> Lookup {
        let set = self.set(line);
        if let Some(at) = first_like(&self.hints.as_chunks::<N>().0[set], hint(line)) {
            let way = set * W + at;
            return if self.lines[way].tag == line { self.found(line, way) } else { self.search_each(line) };
        }
        let used = &self.used.as_chunks::<W>().0[set];
        let mut oldest = [u64::MAX; 4];
        for used in used.as_chunks::<4>().0 {
            oldest = std::array::from_fn(|k| oldest[k].min(used[k]));
        }
        let [a, b, c, d] = oldest;
        self.absent(set * W, a.min(b).min(c.min(d)))
    }

    #[inline(always)]
    fn found(&mut self, line: u64, way: usize) -> Lookup {
        *self.place(line) = way as u32;
        self.used(way);
        Lookup::Hit(self.lines[way].ready)
    }

    /// The line is not there; the oldest one of the set, which begins at `first`, was used then.
    #[inline(always)]
    fn absent(&self, first: usize, oldest: u64) -> Lookup {
        let way = first + (oldest.wrapping_sub(first as u64) & ((1 << NUMBER) - 1)) as usize;
        Lookup::Miss { way, evicted: self.lines[way].tag != EMPTY }
    }

    /// The same line by line: for unusual numbers of ways, and where lines with one hint meet.
    #[inline(never)]
    fn search_each(&mut self, line: u64) -> Lookup {
        let set = self.set(line);
        let (first, end) = (set * self.ways, (set + 1) * self.ways);
        match self.lines[first..end].iter().position(|l| l.tag == line) {
            Some(at) => self.found(line, first + at),
            None => self.absent(first, self.used[first..end].iter().copied().min().unwrap_or(0)),
        }
    }

    /// The line that was to be there at `ready` is there at `done`, if it has not been evicted meanwhile.
    pub fn tell(&mut self, way: usize, ready: u64, done: u64) {
        if self.lines[way].ready == ready {
            self.lines[way].ready = done;
        }
    }

    pub fn fill(&mut self, way: usize, line: u64, ready: u64) {
        self.lines[way] = Line { tag: line, ready };
        self.used(way);
        *self.place(line) = way as u32;
        if self.words != 0 {
            let set = self.set(line);
            let (at, quarter) = (way - set * self.ways, self.words.trailing_zeros());
            let shift = 16 * (at >> quarter);
            let hints = &mut self.hints[set * self.words + (at & (self.words - 1))];
            *hints = *hints & !(0xffff << shift) | hint(line) << shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hints are found where they are, without a look at tags.
    #[test]
    fn hints_tell_the_way() {
        fn check<const N: usize>(random: &mut impl FnMut(u64) -> u64) {
            let ways: Vec<u64> =
                (0..4 * N).map(|_| [0, 1, 0x8000, 0x7fff, 0xffff, 77, 78][random(7) as usize]).collect();
            let words: [u64; N] = std::array::from_fn(|k| {
                (0..4).fold(0, |word, quarter| word | ways[quarter * N + k] << (16 * quarter))
            });
            for hint in [0, 1, 0x8000, 0x7fff, 0xffff, 77, 78, 79] {
                assert_eq!(first_like(&words, hint), ways.iter().position(|&way| way == hint), "{ways:x?}");
            }
        }
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for _ in 0..500 {
            check::<1>(&mut random);
            check::<2>(&mut random);
            check::<4>(&mut random);
        }
    }

    /// The same as one list of lines for each set, newest first.
    #[test]
    fn as_lists_of_lines() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        // Lines with one hint, that of an empty place among them.
        let alike: Vec<u64> = (0..).filter(|line| hint(*line) == 0).take(40).collect();
        let preset = wb_hw::preset("gcn3").expect("a preset").caches[0].clone();
        for (sets, ways) in [(1, 1), (1, 16), (4, 2), (3, 4), (3, 5), (16, 8), (4, 16), (2, 32)] {
            let (line, size) = (64, 64 * sets as u32 * ways as u32);
            let mut tags =
                Tags::new(&CacheSpec { size, line, ways: ways as u32, ports: 0, ..preset.clone() });
            let mut lists: Vec<Vec<(u64, u64)>> = vec![Vec::new(); sets];
            for i in 0..5000 {
                let reach = if random(3) == 0 { 4 } else { 3 * (sets * ways) as u64 };
                let line = if random(4) == 0 { alike[random(40) as usize] } else { random(reach) };
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
