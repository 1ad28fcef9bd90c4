//! The search for wrong proofs of time: random kernels on random machines with random numbers of groups, and runs with all kinds of
//! contents, none of which may take longer than was proved (docs/proved-bounds.md, "The search").

pub use wb_bound::proved::Fault;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use wb_bound::proved::prove_launch;
use wb_bound::{Launched, Options};
use wb_jobs::Job;
use wb_sim::RunOptions;
use wb_testgen::random::times::{Style, times_job};

/// What to search.
#[derive(Clone, Debug)]
pub struct ProvedSearch {
    pub cases: Range<u64>,
    /// Contents that each kernel runs with.
    pub contents: u64,
    pub threads: usize,
    /// Leave this lemma out.
    pub without: Option<Fault>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct ProvedFound {
    pub cases: u64,
    pub proved: u64,
    /// Machines and kernels there is no proof for, by reason.
    pub refused: std::collections::BTreeMap<String, u64>,
    /// Sum of bound over longest run, and how many are within 1.5 of it.
    pub ratios: f64,
    pub near: u64,
    /// Cases with a run that takes longer than was proved.
    pub wrong: Vec<(u64, String)>,
}

/// A job as the proof sees it.
pub fn launched(job: &Job) -> Result<Launched<'_>, String> {
    let touchable = job.memory().map_err(|e| e.to_string())?.touchable();
    Ok(Launched {
        kernel: job.program.borrow().kernel(),
        file: &job.file,
        program: job.program.borrow(),
        machine: &job.machine,
        launch: job.launch,
        kernarg: &job.kernarg,
        args: &job.args,
        number: 0,
        data: "",
        buffers: &[],
        touchable,
    })
}

/// Runs a search; `progress` is told of every case.
pub fn search(what: &ProvedSearch, progress: &(dyn Fn() + Sync)) -> Result<ProvedFound, String> {
    let next = AtomicU64::new(what.cases.start);
    let found = Mutex::new(ProvedFound::default());
    let failed: Mutex<Option<String>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..what.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    let over = failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                    if case >= what.cases.end || over {
                        return;
                    }
                    match one(case, what) {
                        Ok(one) => found.lock().unwrap_or_else(PoisonError::into_inner).add(one),
                        Err(e) => {
                            *failed.lock().unwrap_or_else(PoisonError::into_inner) =
                                Some(format!("case {case}: {e}"));
                        }
                    }
                    progress();
                }
            });
        }
    });
    if let Some(e) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let first = times_job(case, 0, Style::Any)?;
    let mut found = ProvedFound::default();
    let bound = match prove_launch(&launched(&first)?, &Options::default(), what.without) {
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
        let job = times_job(case, input, Style::Any)?;
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
