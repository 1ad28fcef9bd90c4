//! The search for the input that takes longest (docs/worst.md): a bound says what cannot be exceeded, this says what is reached.
//!
//! Contents of buffers are changed within their ranges. What takes longer than before is kept, and so is what goes a way that no
//! other input went: with these, later changes get further. The same seed and number of tries give the same input.

mod mutate;
mod subject;

pub use mutate::{Ranged, parse_range};
pub use subject::{Subject, SubjectBuffer};

use crate::error::BoundError;
use mutate::Changes;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Inputs that are kept to change further.
const POOL: usize = 24;

/// When to stop, and from which numbers to start.
#[derive(Clone, Debug)]
pub struct Effort {
    pub seed: u64,
    /// Stop after so many tries, or after this time, whatever comes first.
    pub tries: u64,
    pub time: Duration,
}

/// An input and what it takes.
#[derive(Clone, Debug)]
pub struct Found {
    /// Contents of every buffer, in the order of [`Subject::buffers`].
    pub contents: Vec<Vec<u8>>,
    pub cycles: u64,
}

/// What a search did.
#[derive(Clone, Debug)]
pub struct Searched {
    /// As the launch was given.
    pub start: u64,
    pub worst: Found,
    pub tries: u64,
    /// Tries that failed (an access outside every buffer, too many cycles), and the last reason.
    pub failed: u64,
    pub reason: Option<String>,
    /// Times a longer input was found, with the number of the try.
    pub steps: Vec<(u64, u64)>,
}

/// Searches. `progress` is told of every try: how many, and the longest so far.
pub fn search(
    subject: &Subject,
    ranges: &[Ranged],
    effort: &Effort,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Searched, BoundError> {
    let begun = Instant::now();
    let buffers = subject.buffers()?;
    let mut changes = Changes::new(&buffers, ranges)?;
    let original: Vec<Vec<u8>> = buffers.iter().map(|b| b.contents.clone()).collect();
    let (start, ways) = subject.run(&original)?;
    let mut seen: HashSet<u64> = ways.into_iter().collect();
    let first = Found { contents: original, cycles: start };
    let mut pool = vec![first.clone()];
    let mut searched = Searched { start, worst: first, tries: 0, failed: 0, reason: None, steps: Vec::new() };
    let mut noise = mutate::Noise::new(effort.seed);
    while searched.tries < effort.tries && begun.elapsed() < effort.time && changes.possible() {
        searched.tries += 1;
        // The longest ones more often than the others.
        let parent = (noise.below(pool.len() as u64) as usize).min(noise.below(pool.len() as u64) as usize);
        let other = noise.below(pool.len() as u64) as usize;
        let (contents, changed) = changes.change(&pool[parent].contents, &pool[other].contents, &mut noise);
        match subject.run(&contents) {
            Ok((cycles, ways)) => {
                changes.learn(&changed, cycles != pool[parent].cycles);
                let new = ways.into_iter().filter(|&w| seen.insert(w)).count() > 0;
                if cycles > searched.worst.cycles {
                    searched.worst = Found { contents: contents.clone(), cycles };
                    searched.steps.push((searched.tries, cycles));
                }
                let least = pool.last().map_or(0, |f| f.cycles);
                if new || cycles > least || pool.len() < POOL {
                    let at = pool.partition_point(|f| f.cycles >= cycles);
                    pool.insert(at, Found { contents, cycles });
                    pool.truncate(POOL);
                }
            }
            Err(e) => {
                searched.failed += 1;
                searched.reason = Some(e.to_string());
            }
        }
        progress(searched.tries, searched.worst.cycles);
    }
    Ok(searched)
}
