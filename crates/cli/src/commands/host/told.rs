//! What the library tells the command about a program's launches.

use miette::IntoDiagnostic;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use wavebound::report::pages::run::Part;
use wavebound::sanitize::Report;
use wb_host::{LaunchRecord, Record, short_name};

/// What the library told.
#[derive(Default)]
pub(super) struct Told {
    pub(super) start: Option<Start>,
    /// Processes of the run that used the library.
    pub(super) processes: u32,
    pub(super) launches: Vec<LaunchRecord>,
    /// Kernels with the process that launched them, for a page.
    pub(super) parts: Vec<(u32, String, Part)>,
    pub(super) bounds: Vec<Bound>,
    pub(super) missing: Vec<Missing>,
    pub(super) errors: Vec<String>,
    /// Launch files that were written.
    pub(super) captured: Vec<String>,
    /// What was found in programs that were checked, and how many reports were suppressed.
    pub(super) checked: Option<Checked>,
}

/// What `--sanitize` found.
#[derive(Default, Serialize, schemars::JsonSchema)]
pub(super) struct Checked {
    pub(super) reports: Vec<Report>,
    pub(super) suppressed: u64,
    /// Different places that were not kept.
    pub(super) left_out: u64,
}

/// A kernel that was bounded: report as text and JSON.
pub(super) struct Bound {
    pub(super) process: u32,
    pub(super) kernel: String,
    pub(super) text: String,
    pub(super) report: serde_json::Value,
}

/// A kernel that was launched and has no bound.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Missing {
    pub(super) process: u32,
    pub(super) kernel: String,
    pub(super) name: String,
    pub(super) why: String,
}

#[derive(Clone, Serialize, schemars::JsonSchema)]
pub(super) struct Start {
    pub(super) machine: String,
    pub(super) mechanism: String,
    pub(super) lanes: u32,
    pub(super) clock_mhz: u32,
    pub(super) timed: bool,
}

/// Everything that is in the records.
pub(super) fn read(records: File, wcet: bool) -> miette::Result<Told> {
    let mut told = Told::default();
    for line in BufReader::new(records).lines() {
        let line = line.into_diagnostic()?;
        // A program that was ended may leave half a line.
        match serde_json::from_str(&line) {
            Ok(Record::Start { machine, mechanism, lanes, clock_mhz, timed, .. }) => {
                told.processes += 1;
                told.start.get_or_insert(Start { machine, mechanism, lanes, clock_mhz, timed });
            }
            Ok(Record::Launch(launch)) => told.launches.push(launch),
            Ok(Record::Part { process, kernel, part }) => told.parts.push((process, kernel, *part)),
            Ok(Record::Bound { process, kernel, text, report }) => {
                told.bounds.push(Bound { process, kernel, text, report: *report });
            }
            Ok(Record::NoBound { process, kernel, text }) => {
                told.missing.push(Missing { process, name: short_name(&kernel), kernel, why: text });
            }
            Ok(Record::Checked { reports, suppressed, left_out, .. }) => {
                let checked = told.checked.get_or_insert_default();
                checked.reports.extend(reports);
                checked.suppressed += suppressed;
                checked.left_out += left_out;
            }
            Ok(Record::Captured { file }) => told.captured.push(file),
            Ok(Record::Error { text }) => told.errors.push(text),
            Ok(Record::End) | Err(_) => {}
        }
    }
    if wcet {
        told.look_for_bounds();
    }
    Ok(told)
}

impl Told {
    /// A process that did not end by itself has bounded nothing: its kernels are missing, too.
    fn look_for_bounds(&mut self) {
        let mut launched: Vec<(u32, &String)> =
            self.launches.iter().map(|l| (l.process, &l.kernel)).collect();
        launched.sort();
        launched.dedup();
        let bounded = |l: &(u32, &String)| self.bounds.iter().any(|b| (b.process, &b.kernel) == *l);
        let known = |l: &(u32, &String)| self.missing.iter().any(|m| (m.process, &m.kernel) == *l);
        let lost: Vec<Missing> = launched
            .into_iter()
            .filter(|l| !bounded(l) && !known(l))
            .map(|(process, kernel)| Missing {
                process,
                name: short_name(kernel),
                kernel: kernel.clone(),
                why: "the process did not end by returning from main or calling exit: bounds are computed there"
                    .to_owned(),
            })
            .collect();
        self.missing.extend(lost);
    }
}
