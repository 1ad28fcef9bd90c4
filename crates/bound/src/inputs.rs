//! The inputs behind a bound: how many runs, how many different ones, their hashes, and what to say when there are too few.
//! A measured time is true of the inputs that were run; data decide ways, and addresses decide lines and banks.

use crate::composed::OWN_TIME;
use crate::options::Options;
use crate::result::{KernelBound, LaunchRow, Status};
use crate::source::Source;
use crate::text::count;
use std::collections::BTreeSet;

/// Launches whose hashes a report lists one by one.
const SHOWN: usize = 12;

/// How often each launch was measured, and with how many different inputs; a trace does not say which inputs it had.
pub(crate) fn counted(source: &Source, launches: &[LaunchRow]) -> (u32, Option<u32>) {
    let most = |of: &dyn Fn(&LaunchRow) -> u32| launches.iter().map(of).max().unwrap_or(0);
    match source {
        Source::Table { .. } => (0, Some(0)),
        Source::Trace { .. } => (most(&|l| l.runs), None),
        Source::Runs => {
            let inputs = |l: &LaunchRow| l.shapes.iter().map(|(_, data)| data.len() as u32).sum();
            (most(&|l| l.runs), Some(most(&inputs)))
        }
    }
}

/// Hashes of launches and of the data they found. What a table or a trace says does not depend on data here.
pub(crate) fn hashes(source: &Source, launches: &[LaunchRow]) -> Vec<(String, String)> {
    let several = launches.len() > 1;
    let mut list = Vec::new();
    for (i, l) in launches.iter().enumerate().take(SHOWN) {
        for (shape, _) in &l.shapes {
            let number = if several { format!(" {}", i + 1) } else { String::new() };
            list.push((format!("launch{number}: geometry and arguments"), shape.hash()));
        }
    }
    if launches.len() > SHOWN {
        let rest = launches.iter().skip(SHOWN).flat_map(|l| &l.shapes).map(|(s, _)| s.hash());
        let text: Vec<String> = rest.collect();
        let hash = crate::source::hash(text.join("\n").as_bytes());
        list.push((format!("launches {} to {}: geometry and arguments", SHOWN + 1, launches.len()), hash));
    }
    if matches!(source, Source::Runs) {
        let mut seen = BTreeSet::new();
        let data = launches.iter().flat_map(|l| &l.shapes).flat_map(|(_, data)| data);
        let mut found: Vec<&String> = data.filter(|d| seen.insert(d.as_str())).collect();
        let more = found.len().saturating_sub(SHOWN);
        found.truncate(SHOWN);
        list.extend(
            found.into_iter().enumerate().map(|(i, d)| (format!("data of run {}", i + 1), d.clone())),
        );
        if more > 0 {
            let all: Vec<&str> = seen.into_iter().collect();
            let hash = crate::source::hash(all.join("\n").as_bytes());
            list.push((format!("data of all runs, {more} more"), hash));
        }
    }
    list
}

/// What must be said before anybody relies on the number.
pub(crate) fn warnings(source: &Source, runs: u32, inputs: Option<u32>, options: &Options) -> Vec<String> {
    let mut list = Vec::new();
    if matches!(source, Source::Runs) && inputs == Some(1) {
        let what = match runs {
            1 => "times were measured with ONE input".to_owned(),
            n => format!("{n} runs measured times with ONE input"),
        };
        let more = match options.more_inputs.as_str() {
            "" => "measure more inputs: --runs 8 with fills random=1, uniform=LOW..HIGH and hostile=1",
            text => text,
        };
        list.push(format!(
            "{what}. Other data take other ways and touch other addresses (cache lines, banks), and can take many times longer than \
             this bound (docs/wcet.md, Inputs). {more}"
        ));
    }
    list
}

impl KernelBound {
    /// `3 runs, 3 distinct inputs`: what stands behind a ratio.
    pub fn behind(&self) -> String {
        let launches = match self.launches.len() {
            0 | 1 => String::new(),
            n => format!(" of {n} launches"),
        };
        let inputs = match self.distinct_inputs {
            Some(n) => count(n, "distinct input"),
            None => "inputs not known".to_owned(),
        };
        format!("{}{launches}, {inputs}", count(self.runs, "run"))
    }

    /// What the status means for this bound, in words.
    pub fn meaning(&self) -> String {
        if matches!(self.status, Status::Exact | Status::Proved) {
            return self.status.meaning().to_owned();
        }
        let times = match self.times {
            _ if self.hybrid_by == OWN_TIME => {
                "own times and waits are measured: other inputs (data), addresses (lines, banks) or co-runners may take longer"
            }
            "given" => "times are what the table says, nothing was measured",
            "trace" => {
                "times are the longest in the trace: other inputs (data), addresses (lines, banks) or co-runners may take longer"
            }
            _ => {
                "times are the longest measured: other inputs (data), addresses (lines, banks) or co-runners may take longer"
            }
        };
        format!("{}; {times}", self.status.meaning())
    }
}

/// Of several kernels: the fewest inputs behind any of them.
pub fn behind_all(kernels: &[KernelBound]) -> String {
    let least = kernels.iter().min_by_key(|k| k.distinct_inputs.unwrap_or(0));
    least.map_or(String::new(), KernelBound::behind)
}
