//! The work instructions of the synthetic benchmark, as emitter and reference both read them. Four accumulators take
//! turns, so that one wave can keep a unit of latency 4 busy; every path has other constants.

/// Accumulators of a work-item, and words of its own memory.
pub(super) const ACCUMULATORS: u32 = 4;
pub(super) const WORDS: usize = 4;
/// The path number of code that all lanes run.
pub(super) const EVERYBODY: u32 = 97;

/// One instruction; `acc` is the accumulator it changes or stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub acc: u32,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// With a constant.
    Xor(u32),
    /// Low 24 bits times a constant, plus the work-item's number.
    Mad(u32),
    /// Bits go round to the right.
    Rotate(u32),
    /// From or to one of the work-item's own words.
    Load(usize),
    Store(usize),
}

/// `count` instructions of path `path`, `memory` percent of them memory accesses, evenly spread.
pub(super) fn work(path: u32, count: u32, memory: u32) -> Vec<Work> {
    let mut accesses = 0;
    (0..count)
        .map(|i| {
            let constant = (path * 7 + i * 5) % 61 + 2;
            let what = if (i + 1) * memory / 100 > i * memory / 100 {
                accesses += 1;
                let word = (accesses / 2 + path) as usize % WORDS;
                if accesses % 2 == 1 { What::Store(word) } else { What::Load(word) }
            } else {
                match (i / ACCUMULATORS + path) % 3 {
                    0 => What::Xor(constant),
                    1 => What::Mad(constant),
                    _ => What::Rotate(constant % 31 + 1),
                }
            };
            Work { acc: i % ACCUMULATORS, what }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_memory_instructions_is_exact() {
        for memory in [0, 25, 50, 75, 100] {
            let accesses = work(3, 200, memory)
                .iter()
                .filter(|w| matches!(w.what, What::Load(_) | What::Store(_)))
                .count();
            assert_eq!(accesses, 2 * memory as usize);
        }
    }
}
