//! What a buffer starts with, in one word: `iota`, `random=7`, `hostile=1,256`. Fills with a seed give every run of a
//! measurement other data; `stride` and `hostile` are indices that touch as many cache lines and as few banks as they can.

use super::element::{Element, MAX_BYTES};

/// Nobody writes the buffer: zero, unless a run is checked.
pub const UNINITIALISED: &str = "uninitialised";
/// All fills, for messages.
pub const FILLS: &str = "zero, uninitialised, iota, reverse, ones, const=N, stride=N[,LIMIT], random=SEED, uniform=LOW..HIGH[,SEED], hostile=SEED[,LIMIT]";
/// Those that `--runs` gives another seed in each run.
pub const SEEDED: &str = "random=SEED, uniform=LOW..HIGH,SEED, hostile=SEED";
/// The seed of a fill that names none.
const DEFAULT_SEED: u64 = 1;
/// Elements of `hostile` that follow one pattern: as many as a wave has lanes.
const CHUNK: u64 = 64;
/// Distances between neighbours in `hostile`: cache lines of 64 bytes and banks of LDS, for elements of four bytes, and a page.
const DISTANCES: [u64; 4] = [16, 32, 64, 1024];

/// A fixed, documented generator (SplitMix64), so that `random=SEED` means the same everywhere.
pub fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The same fill with other random numbers, for run `run` of several; none if it has no seed. Run 0 is the fill itself.
/// `random=5` in run 2 is `random=7`.
pub fn reseed(fill: &str, run: u32) -> Option<String> {
    let (kind, argument) = fill.split_once('=').unwrap_or((fill, ""));
    let add = |seed: Option<&str>| match seed {
        None | Some("") => Some(DEFAULT_SEED.wrapping_add(run.into())),
        Some(text) => text.parse::<u64>().ok().map(|n| n.wrapping_add(run.into())),
    };
    match kind {
        "random" => Some(format!("random={}", add(Some(argument))?)),
        "hostile" => {
            let (seed, limit) = argument.split_once(',').map_or((argument, None), |(s, l)| (s, Some(l)));
            let limit = limit.map_or(String::new(), |l| format!(",{l}"));
            Some(format!("hostile={}{limit}", add(Some(seed))?))
        }
        "uniform" => {
            let (range, seed) = argument.split_once(',').map_or((argument, None), |(r, s)| (r, Some(s)));
            Some(format!("uniform={range},{}", add(seed)?))
        }
        _ => None,
    }
}

/// `buf:u32:64:random=5` or `t0=tex:8x8:random` with its fill reseeded; none if it has none that can be.
pub fn reseed_argument(text: &str, run: u32) -> Option<String> {
    let (head, fill) = text.rsplit_once(':')?;
    // A number or a size is no fill: buf:u32:64.
    reseed(fill, run).map(|fill| format!("{head}:{fill}"))
}

/// Indices `distance` apart, below `limit`: each comes once if the distance divides the limit.
fn strided(i: u64, distance: u64, limit: u64) -> u64 {
    let at = u128::from(i) * u128::from(distance);
    let limit = u128::from(limit.max(1));
    ((at + at / limit) % limit) as u64
}

/// Indices that hurt. The seed chooses the pattern, so eight seeds in a row try all eight: all the same, spread at random, two
/// far places in turn, four distances, and a mixture that changes with every wave.
struct Hostile {
    state: u64,
    limit: u64,
    pattern: u64,
    mixed: bool,
    offset: u64,
}

/// Patterns, the mixture not counted.
const PATTERNS: u64 = DISTANCES.len() as u64 + 3;

impl Hostile {
    fn new(seed: u64, limit: u64) -> Hostile {
        let mut state = seed;
        let offset = splitmix(&mut state) % limit;
        let pattern = seed % (PATTERNS + 1);
        Hostile { state, limit, pattern, mixed: pattern == PATTERNS, offset }
    }

    fn next(&mut self, i: u64) -> u64 {
        if self.mixed && i.is_multiple_of(CHUNK) {
            self.pattern = splitmix(&mut self.state) % PATTERNS;
            self.offset = splitmix(&mut self.state) % self.limit;
        }
        let from_offset = match self.pattern {
            0 => 0,
            1 => splitmix(&mut self.state) % self.limit,
            2 => (i % 2) * (self.limit / 2),
            k => {
                let distance = DISTANCES[((k - 3) as usize).min(DISTANCES.len() - 1)];
                strided(i, distance.min(self.limit.max(2) - 1), self.limit)
            }
        };
        (self.offset + from_offset) % self.limit
    }
}

/// `count` elements filled as told; none for an unknown fill or an impossible size.
pub fn fill_buffer(element: Element, count: u64, fill: &str) -> Option<Vec<u8>> {
    let size = element.bytes() as usize;
    if count == 0 || count.checked_mul(size as u64)? > MAX_BYTES {
        return None;
    }
    let (kind, argument) = fill.split_once('=').unwrap_or((fill, ""));
    let mut seed = argument.parse::<u64>().unwrap_or(DEFAULT_SEED);
    let (range, second) = argument.split_once(',').map_or((argument, None), |(a, b)| (a, Some(b)));
    let (low, high) = match (kind, range.split_once("..")) {
        ("uniform", Some((low, high))) => (low.parse().ok()?, high.parse().ok()?),
        ("uniform", None) => return None,
        _ => (0.0, 0.0),
    };
    if kind == "uniform" {
        let fits = f64::is_finite(low) && f64::is_finite(high) && low < high;
        seed = second.map_or(Some(DEFAULT_SEED), |s| s.parse().ok()).filter(|_| fits)?;
    }
    // stride=N[,LIMIT] and hostile=SEED[,LIMIT] are indices below LIMIT.
    let limit = match kind {
        "stride" | "hostile" => second.map_or(Some(count), |l| l.parse().ok()).filter(|&l| l > 0)?,
        _ => 1,
    };
    let distance = if kind == "stride" { range.parse().ok()? } else { 0 };
    if kind == "hostile" {
        seed = if range.is_empty() { DEFAULT_SEED } else { range.parse().ok()? };
    }
    let mut hostile = Hostile::new(seed, limit);
    let constant = if kind == "const" { element.encode(argument)? } else { Vec::new() };
    let mut out = Vec::with_capacity(count as usize * size);
    for i in 0..count {
        let bits = match kind {
            "zero" | UNINITIALISED => 0,
            "iota" => element.number(i),
            "reverse" => element.number(count - 1 - i),
            "ones" => element.number(1),
            "stride" => element.number(strided(i, distance, limit)),
            "random" => element.random(splitmix(&mut seed)),
            "uniform" => element.between(splitmix(&mut seed), low, high),
            "hostile" => element.number(hostile.next(i)),
            "const" => {
                out.extend_from_slice(&constant);
                continue;
            }
            _ => return None,
        };
        out.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn numbers(fill: &str, count: u64) -> Vec<u32> {
        let bytes = fill_buffer(Element::U32, count, fill).unwrap_or_else(|| panic!("{fill}"));
        bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    #[test]
    fn strides_visit_every_index_once_and_stay_apart() {
        let found = numbers("stride=16", 256);
        assert_eq!(&found[..3], [0, 16, 32]);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 256);
        assert!(numbers("stride=32,64", 256).iter().all(|&n| n < 64));
        assert!(fill_buffer(Element::U32, 8, "stride=x").is_none());
        assert!(fill_buffer(Element::U32, 8, "stride=4,0").is_none());
    }

    #[test]
    fn hostile_indices_are_in_range_and_differ_by_seed() {
        let seeds: BTreeSet<Vec<u32>> = (0..20).map(|s| numbers(&format!("hostile={s},100"), 256)).collect();
        assert_eq!(seeds.len(), 20);
        assert!(seeds.iter().flatten().all(|&n| n < 100));
        // Eight seeds in a row: one place for all lanes, a line for each, one bank for all.
        let lines = |wave: &[u32]| wave.iter().map(|n| n / 16).collect::<BTreeSet<_>>().len();
        let banks = |wave: &[u32]| wave.iter().map(|n| n % 32).collect::<BTreeSet<_>>().len();
        let waves: Vec<Vec<u32>> =
            (5..13).map(|s| numbers(&format!("hostile={s}"), 1 << 14)[..64].to_vec()).collect();
        assert!(waves.iter().any(|w| lines(w) == 1) && waves.iter().any(|w| lines(w) == 64), "{waves:?}");
        assert!(waves.iter().any(|w| banks(w) == 1 && lines(w) == 64), "{waves:?}");
        assert!(fill_buffer(Element::U32, 8, "hostile=1,x").is_none());
        assert_eq!(numbers("hostile", 8), numbers("hostile=1", 8));
    }

    #[test]
    fn seeds_move_with_the_run_and_nothing_else_does() {
        for (fill, second) in [
            ("random=5", "random=7"),
            ("random", "random=3"),
            ("uniform=0..9,4", "uniform=0..9,6"),
            ("uniform=0..9", "uniform=0..9,3"),
            ("hostile=1,64", "hostile=3,64"),
            ("hostile", "hostile=3"),
        ] {
            assert_eq!(reseed(fill, 2).as_deref(), Some(second), "{fill}");
            // The first run is what `run` runs.
            let first = reseed(fill, 0).unwrap_or_else(|| panic!("{fill}"));
            assert_eq!(numbers(&first, 64), numbers(fill, 64), "{fill}");
        }
        for fill in ["zero", "iota", "const=5", "stride=4", "data.npy", "random=x"] {
            assert_eq!(reseed(fill, 1), None, "{fill}");
        }
        assert_eq!(reseed_argument("buf:u32:64:random=5", 1).as_deref(), Some("buf:u32:64:random=6"));
        assert_eq!(reseed_argument("t0=tex:8x8:random", 1).as_deref(), Some("t0=tex:8x8:random=2"));
        assert_eq!(reseed_argument("buf:u32:64", 1), None);
        assert_eq!(reseed_argument("u32:64", 1), None);
    }
}
