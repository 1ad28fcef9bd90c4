//! The search for wrong proofs of time: random kernels on random machines with random numbers of groups, and runs with all kinds of
//! contents, none of which may take longer than was proved (docs/proved-bounds.md, "The search").

pub use wb_bound::proved::Fault;

use crate::search::over;
use std::collections::BTreeMap;
use std::ops::Range;
use wb_bound::proved::prove_launch;
use wb_bound::{Launched, Options};
use wb_sim::RunOptions;
pub use wb_testgen::random::times::Style;
pub use wb_testgen::random::times::times_files as files;
use wb_testgen::random::times::times_job;

/// What to search.
#[derive(Clone, Debug)]
pub struct ProvedSearch {
    pub cases: Range<u64>,
    /// Contents that each kernel runs with.
    pub contents: u64,
    pub threads: usize,
    /// What is in the kernels.
    pub style: Style,
    /// Leave this lemma out.
    pub without: Option<Fault>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct ProvedFound {
    pub cases: u64,
    pub proved: u64,
    /// Machines and kernels there is no proof for, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Sum of bound over longest run, and how many are within 1.5 of it.
    pub ratios: f64,
    pub near: u64,
    /// Cases with a run that takes longer than was proved.
    pub wrong: Vec<(u64, String)>,
}

/// Runs a search; `progress` is told of every case.
pub fn search(what: &ProvedSearch, progress: &(dyn Fn() + Sync)) -> Result<ProvedFound, String> {
    let mut found =
        over(what.cases.clone(), what.threads, |case| one(case, what), ProvedFound::add, progress)?;
    found.wrong.sort();
    Ok(found)
}

impl ProvedFound {
    fn add(&mut self, one: ProvedFound) {
        self.cases += 1;
        self.proved += one.proved;
        self.ratios += one.ratios;
        self.near += one.near;
        self.wrong.extend(one.wrong);
        for (why, n) in one.refused {
            *self.refused.entry(why).or_default() += n;
        }
    }
}

/// One kernel with several contents.
fn one(case: u64, what: &ProvedSearch) -> Result<ProvedFound, String> {
    let style = what.style;
    let first = times_job(case, 0, style)?;
    let launched = Launched::of(&first).map_err(|e| e.to_string())?;
    let mut found = ProvedFound::default();
    let bound = match prove_launch(&launched, &Options::default(), what.without) {
        Ok(proved) => proved.found,
        Err(e) => {
            let why = e.to_string();
            let why = why.split_once(": ").map_or(why.as_str(), |w| w.1);
            found.refused.insert(why.chars().filter(|c| !c.is_ascii_digit()).take(60).collect(), 1);
            return Ok(found);
        }
    };
    found.proved = 1;
    let mut longest = 1;
    for input in 0..what.contents.max(1) {
        let job = times_job(case, input, style)?;
        let cycles = match job.run(RunOptions::default(), None) {
            Ok(outcome) => outcome.cycles,
            Err(e) => return Err(format!("{:?}", miette::Report::new(e))),
        };
        longest = longest.max(cycles);
        if cycles > bound.cycles {
            found
                .wrong
                .push((case, format!("proved {} cycles, contents {input} take {cycles}", bound.cycles)));
            break;
        }
    }
    found.ratios = bound.cycles as f64 / longest as f64;
    found.near = u64::from(found.ratios <= 1.5);
    Ok(found)
}
