//! Experiments on the benchmark suite: THESIS figures 6.1 and 6.3, PWS figures 10e and 11, and what the documents do not
//! show: every mechanism side by side with its bound. They look at cases that are measured once and kept.

mod average;
mod bounds;
mod case;
mod compare;
mod idle;
mod mechanisms;
mod reason;

pub use average::{FIGURE_6_1, FIGURE_11, figure_6_1, figure_6_1_needs, figure_11, figure_11_needs};
pub use bounds::{FIGURE_6_3, FIGURE_10E, figure_6_3, figure_6_3_needs, figure_10e, figure_10e_needs};
pub use case::{Bound, Case, ExactPart, Measured, Placement};
pub use compare::{SUITE, suite, suite_needs};
pub use mechanisms::{MECHANISMS, mechanisms, mechanisms_needs};

use super::notebook::{geometric_mean, mean, yes};
use miette::{IntoDiagnostic, Report, WrapErr, miette};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wb_workloads::Size;

type Slot = Arc<OnceLock<Result<Measured, String>>>;

/// Cases that were measured, with a log from which a stopped run goes on.
#[derive(Default)]
pub struct Cases {
    slots: Mutex<BTreeMap<String, Slot>>,
    log: Option<Mutex<File>>,
}

/// The first line of a log.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Which program measured.
    stamp: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    case: String,
    measured: Measured,
}

impl Cases {
    /// Goes on with the log in `path` if the program with this stamp wrote it; otherwise begins a new one.
    pub fn open(path: &Path, stamp: &str, fresh: bool) -> Result<Cases, Report> {
        let mut cases = Cases::default();
        let old = if fresh { Vec::new() } else { read(path, stamp) };
        // The old lines in a new file that takes the place of the old one: whoever is stopped here loses nothing.
        let mut text = line_of(&Head { stamp: stamp.to_owned() })?;
        for line in old {
            text += &line_of(&line)?;
            cases.slot(&line.case).get_or_init(|| Ok(line.measured));
        }
        wb_files::write(path, text)?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.into_diagnostic().wrap_err_with(|| format!("cannot write {}", path.display()))?;
        cases.log = Some(Mutex::new(file));
        Ok(cases)
    }

    fn slot(&self, case: &str) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(case.to_owned()).or_default().clone()
    }

    pub fn known(&self, case: &Case) -> bool {
        self.slot(&case.to_string()).get().is_some()
    }

    /// What came out of a case; measures it the first time.
    pub fn get(&self, case: &Case) -> Result<Measured, Report> {
        let key = case.to_string();
        let slot = self.slot(&key);
        let found = slot.get_or_init(|| {
            let measured = case.measure().map_err(|e| format!("{e:?}"))?;
            if let Some(log) = &self.log {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                let line = Line { case: key.clone(), measured: measured.clone() };
                append(&mut log, &line).map_err(|e| e.to_string())?;
            }
            Ok(measured)
        });
        found.clone().map_err(|e| miette!("{e}"))
    }
}

fn append(file: &mut File, line: &impl Serialize) -> Result<(), Report> {
    file.write_all(line_of(line)?.as_bytes()).into_diagnostic().wrap_err("cannot write the log of the runs")
}

fn line_of(line: &impl Serialize) -> Result<String, Report> {
    Ok(serde_json::to_string(line).into_diagnostic()? + "\n")
}

/// Lines of an old log; a last line that was cut off is left out.
fn read(path: &Path, stamp: &str) -> Vec<Line> {
    let Ok(file) = wb_files::open(path, wb_files::Kind::Kept) else { return Vec::new() };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let head = lines.next().and_then(|l| serde_json::from_str::<Head>(&l).ok());
    if head.is_none_or(|h| h.stamp != stamp) {
        return Vec::new();
    }
    lines.map_while(|l| serde_json::from_str(&l).ok()).collect()
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The smallest inputs: that everything runs; what must come out is for the others.
    Tiny,
    /// Small inputs: a few minutes.
    Quick,
    /// Up to the large inputs of THESIS Table 6.1.
    Full,
}

impl Scale {
    /// A size, unless everything is tiny.
    fn at_most(self, size: Size) -> Size {
        if self == Scale::Tiny { Size::Tiny } else { size }
    }

    pub fn name(self) -> &'static str {
        match self {
            Scale::Tiny => "tiny",
            Scale::Quick => "quick",
            Scale::Full => "full",
        }
    }
}

/// Seconds of a timed run without splitting at the four sizes, on one core of a machine of 2026: for estimates only.
const SECONDS: [(&str, [f64; 4]); 20] = [
    ("backprop", [0.01, 0.01, 6.0, 20.0]),
    ("bfs", [0.01, 0.13, 0.3, 1.0]),
    ("b+tree", [0.01, 0.01, 0.1, 1.6]),
    ("cfd", [0.01, 0.02, 0.1, 2.7]),
    ("dwt2d", [0.01, 0.01, 0.04, 0.3]),
    ("gaussian", [0.01, 0.01, 0.1, 3.0]),
    ("heartwall", [0.03, 0.19, 1.2, 11.6]),
    ("hotspot", [0.01, 0.03, 1.2, 4.9]),
    ("hybridsort", [0.01, 0.01, 0.04, 0.1]),
    ("kmeans", [0.01, 0.02, 0.1, 0.6]),
    ("lavaMD", [0.01, 0.45, 4.0, 46.0]),
    ("leukocyte", [0.01, 0.2, 0.4, 3.0]),
    ("lud", [0.01, 0.05, 0.5, 2.7]),
    ("myocyte", [0.05, 1.3, 9.0, 28.0]),
    ("nn", [0.01, 0.01, 0.01, 0.01]),
    ("nw", [0.01, 0.01, 0.03, 0.1]),
    ("particlefilter", [0.01, 0.14, 0.7, 7.6]),
    ("pathfinder", [0.01, 0.02, 0.3, 4.8]),
    ("srad", [0.01, 0.02, 0.2, 0.6]),
    ("streamcluster", [0.01, 0.02, 0.3, 12.7]),
];

impl Case {
    /// About how long it takes.
    pub fn estimate(&self) -> f64 {
        let of = |size: usize| SECONDS.iter().find(|s| s.0 == self.workload).map_or(1.0, |s| s.1[size]);
        let search = match self.marks {
            Placement::Optimal => 12.0 * of((self.size as usize).min(1)),
            Placement::Fastest => 18.0 * of((self.size as usize).min(1)),
            _ => 0.0,
        };
        let analysed = match (self.bound, self.contexts) {
            (false, 0) => 1.0,
            (false, _) => 1.7,
            (true, 0) => 3.0,
            (true, s) => 5.0 + f64::from(s),
        };
        search + analysed * of(self.size as usize)
    }
}

/// The workloads of THESIS Table 6.1.
pub(super) const TABLE_6_1: [&str; 14] = [
    "backprop",
    "bfs",
    "b+tree",
    "cfd",
    "dwt2d",
    "gaussian",
    "heartwall",
    "hotspot",
    "hybridsort",
    "kmeans",
    "nn",
    "nw",
    "particlefilter",
    "srad",
];

/// All workloads.
fn names() -> impl Iterator<Item = &'static str> {
    wb_workloads::all().iter().map(|w| w.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(workload: &'static str, marks: Placement) -> Case {
        Case { mechanism: "pws", contexts: 1, marks, ..Case::new(workload, Size::Tiny, "gcn3") }
    }

    #[test]
    fn a_log_is_read_again_and_a_line_that_was_cut_off_is_not() -> Result<(), Report> {
        let dir = tempfile::tempdir().into_diagnostic()?;
        let path = dir.path().join("runs.jsonl");
        let (nw, nn) = (case("nw", Placement::Default), case("nn", Placement::None));
        let cases = Cases::open(&path, "a", false)?;
        let first = [cases.get(&nw)?, cases.get(&nn)?];
        drop(cases);
        let again = Cases::open(&path, "a", false)?;
        assert!(again.known(&nw) && again.known(&nn));
        assert_eq!([again.get(&nw)?, again.get(&nn)?], first);
        assert!(first[0].overlap.as_ref().is_some_and(|o| o.splits > 0 && o.shorter <= o.longer));

        let text = std::fs::read_to_string(&path).into_diagnostic()?;
        std::fs::write(&path, &text[..text.len() - 9]).into_diagnostic()?;
        let cut = Cases::open(&path, "a", false)?;
        assert!(cut.known(&nw) && !cut.known(&nn), "only what was written to its end");
        assert_eq!(Measured { seconds: 0.0, ..cut.get(&nn)? }, Measured { seconds: 0.0, ..first[1].clone() });
        assert!(!Cases::open(&path, "another program", false)?.known(&nw));
        Ok(())
    }

    #[test]
    fn the_optimal_placement_has_no_larger_bound_than_none_or_the_default() -> Result<(), Report> {
        for workload in ["lud", "dwt2d", "pathfinder"] {
            let bound = |mechanism, marks| {
                let case = Case { mechanism, bound: true, ..case(workload, marks) };
                case.measure().map(|m| m.bound.map_or(0, |b| b.cycles))
            };
            let optimal = bound("pws", Placement::Optimal)?;
            assert!(optimal <= bound("none", Placement::None)?, "{workload}");
            assert!(optimal <= bound("pws", Placement::Default)?, "{workload}");
            assert!(optimal > 0);
        }
        Ok(())
    }

    #[test]
    fn split_units_that_are_reused_leave_the_time_of_unmarked_kernels_alone() -> Result<(), Report> {
        let none = Case { mechanism: "none", contexts: 0, simds: 8, ..case("gaussian", Placement::None) };
        let reused = Case { reuse: true, simds: 4, ..case("gaussian", Placement::None) };
        assert_eq!(none.measure()?.cycles, reused.measure()?.cycles);
        Ok(())
    }

    #[test]
    fn every_workload_has_an_estimate() {
        let known: Vec<&str> = SECONDS.iter().map(|s| s.0).collect();
        assert_eq!(names().collect::<Vec<_>>(), known);
        assert!(TABLE_6_1.iter().all(|n| known.contains(n)));
    }
}
