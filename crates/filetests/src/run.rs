//! Running a test: every architecture and mechanism it names, untimed and timed, observed and not.

use crate::bless::Section;
use crate::checks::{Check, What};
use crate::header::Header;
use crate::listing;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use std::path::Path;
use wb_hw::InstructionSet;
use wb_isa::harp::Arch;
use wb_isa::lanes::mask_text;
use wb_jobs::{Job, JobError, JobSpec};
use wb_sim::{Outcome, RunOptions};
use wb_trace::{Event, HashObserver, Kind, Observer, Observers, PdomLog, Statistics, TraceInfo};

const POLICIES: [&str; 6] = [
    "round-robin",
    "loose-round-robin",
    "greedy-then-oldest",
    "greedy-then-round-robin",
    "oldest-first",
    "owner-dispatch",
];

/// Enough for every test, and quick to compare; a test may set its own.
const MEMORY: &str = "limits.memory=1048576";
/// GCN3 keeps local and private memory of all wave slots there.
const GCN3_MEMORY: &str = "limits.memory=4194304";
/// An endless loop shows up at once.
const CYCLES: &str = "limits.cycles=1000000";

pub struct Test<'a> {
    pub header: Header,
    name: &'a str,
    /// Name and text of the program.
    source: (String, String),
    isa: InstructionSet,
}

/// One architecture and mechanism; empty = the machine's.
struct Case {
    arch: String,
    mechanism: String,
}

impl Case {
    fn text(&self) -> String {
        [self.arch.as_str(), self.mechanism.as_str()].join(" ").trim().to_owned()
    }
}

/// Distinct masks of each wave in a row, and whatever else a run tells.
#[derive(Default)]
struct Masks {
    lanes: u32,
    waves: Vec<Vec<String>>,
}

impl Observer for Masks {
    fn begin(&mut self, info: &TraceInfo) {
        self.lanes = info.lanes;
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch.iter().filter(|e| matches!(e.kind, Kind::Issue { .. })) {
            let wave = event.wave as usize;
            if self.waves.len() <= wave {
                self.waves.resize(wave + 1, Vec::new());
            }
            let text = mask_text(event.mask, self.lanes);
            if self.waves[wave].last() != Some(&text) {
                self.waves[wave].push(text);
            }
        }
    }
}

fn options(timed: bool) -> RunOptions<'static> {
    RunOptions { timed, check: true, keep_registers: true, ..RunOptions::default() }
}

fn render(report: &dyn Diagnostic) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let mut out = String::new();
    match handler.with_width(100).with_links(false).render_report(&mut out, report) {
        Ok(()) => out,
        Err(_) => "the diagnostic cannot be shown".into(),
    }
}

/// What a diagnostic says, without the source it shows: the header above the program is part of that.
fn words(report: &dyn Diagnostic) -> String {
    let mut out = format!("{report}\n");
    out.extend(report.help().map(|h| format!("{h}\n")));
    out.extend(report.labels().into_iter().flatten().filter_map(|l| l.label().map(|t| format!("{t}\n"))));
    out.extend(report.related().into_iter().flatten().map(words));
    out
}

impl<'a> Test<'a> {
    pub fn new(root: &Path, name: &'a str, text: &str, header: Header) -> Result<Self, String> {
        let source = match &header.source {
            None => (name.to_owned(), text.to_owned()),
            Some(file) => {
                let text =
                    std::fs::read_to_string(root.join(file)).map_err(|e| format!("{name}: {file}: {e}"))?;
                let leader = crate::collect::leader(file);
                (file.clone(), crate::bless::split(&text, leader).0.to_owned())
            }
        };
        let isa = crate::collect::isa(name)
            .ok_or_else(|| format!("{name}: no instruction set has files of this name"))?;
        Ok(Test { header, name, source, isa })
    }

    fn cases(&self) -> Vec<Case> {
        let or_default = |list: &[String]| if list.is_empty() { vec![String::new()] } else { list.to_vec() };
        let mut cases = Vec::new();
        for arch in or_default(&self.header.archs) {
            for mechanism in or_default(&self.header.mechanisms) {
                cases.push(Case { arch: arch.clone(), mechanism });
            }
        }
        cases
    }

    fn job(&self, case: &Case, policy: Option<&str>) -> Result<Job, JobError> {
        let h = &self.header;
        let memory = if self.isa == InstructionSet::Gcn3 { GCN3_MEMORY } else { MEMORY };
        let mut sets: Vec<String> = vec![memory.into(), CYCLES.into()];
        sets.extend(h.sets.iter().cloned());
        if !case.mechanism.is_empty() {
            sets.push(format!("divergence.mechanism={}", case.mechanism));
        }
        if let Some(policy) = policy {
            sets.push(format!("issue.policy={policy}"));
        }
        let spec = JobSpec {
            isa: Some(self.isa),
            machine: h.machine.clone(),
            sets,
            arch: case.arch.clone(),
            registers: h.registers,
            grid: h.grid.iter().product(),
            group: h.group.iter().product(),
            grid3: if h.grid[0] == 0 { [64, 1, 1] } else { h.grid },
            group3: if h.group[0] == 0 { [64, 1, 1] } else { h.group },
            kernel: h.kernel.clone(),
            args: h.args.iter().map(|a| a.as_str().into()).collect(),
            dynamic_lds: h.dynamic_lds,
            views: h.views.clone(),
            samplers: h.samplers.clone(),
            ..JobSpec::default()
        };
        Job::from_source(&self.source.0, &self.source.1, &spec)
    }

    fn checks(&self, case: &Case) -> impl Iterator<Item = &Check> {
        let names = [case.arch.clone(), case.mechanism.clone()];
        self.header.checks.iter().filter(move |c| c.only.as_ref().is_none_or(|o| names.contains(o)))
    }

    /// `test run`.
    pub fn run(&self) -> Result<(), String> {
        for case in self.cases() {
            let place = |what: &str| format!("{} [{}] {what}: ", self.name, case.text()).replace("[] ", "");
            let job = self.job(&case, None).map_err(|e| place("assembly") + &render(&e))?;
            let untimed = self.plain(&job, &case, false, true).map_err(|e| place("untimed") + &e)?;
            self.observed(&job, &case, false, &untimed).map_err(|e| place("untimed, observed") + &e)?;
            let timed = self.plain(&job, &case, true, true).map_err(|e| place("timed") + &e)?;
            same_results(&untimed, &timed).map_err(|e| place("timed against untimed") + &e)?;
            let first =
                self.observed(&job, &case, true, &timed).map_err(|e| place("timed, observed") + &e)?;
            let again = self.observed(&job, &case, true, &timed).map_err(|e| place("timed, again") + &e)?;
            if first != again {
                return Err(place("timed") + "two runs have different event hashes");
            }
            if !self.header.every_policy {
                continue;
            }
            for policy in POLICIES {
                let place = |what: &str| place(policy) + what;
                let job = self.job(&case, Some(policy)).map_err(|e| place(&render(&e)))?;
                let other = self.plain(&job, &case, true, false).map_err(|e| place(&e))?;
                same_results(&untimed, &other).map_err(|e| place(&e))?;
                self.observed(&job, &case, true, &other).map_err(|e| place(&e))?;
            }
        }
        Ok(())
    }

    fn verify(
        &self,
        job: &Job,
        case: &Case,
        outcome: &Outcome,
        timed: bool,
        masks: Option<&[Vec<String>]>,
    ) -> Result<(), String> {
        let word = job.program.borrow().word();
        self.checks(case).try_for_each(|c| c.verify(job, outcome, timed, masks, word))
    }

    /// Runs without an observer. `cycles`: check them too.
    fn plain(&self, job: &Job, case: &Case, timed: bool, cycles: bool) -> Result<Outcome, String> {
        let outcome = job.run(options(timed), None).map_err(|e| render(&e))?;
        self.verify(job, case, &outcome, timed && cycles, None)?;
        Ok(outcome)
    }

    /// Runs with observers: same outcome as without, masks as the checks say, statistics that agree.
    /// Returns the hash of the events.
    fn observed(&self, job: &Job, case: &Case, timed: bool, plain: &Outcome) -> Result<u64, String> {
        let (mut hash, mut masks, mut stats) = (HashObserver::new(), Masks::default(), Statistics::new());
        let mut observers = Observers::new();
        observers.push(&mut hash);
        observers.push(&mut masks);
        observers.push(&mut stats);
        let outcome = job.run(options(timed), Some(&mut observers)).map_err(|e| render(&e))?;
        same_results(plain, &outcome)?;
        let counts = |o: &Outcome| (o.cycles, o.wave_instructions, o.lane_instructions, o.max_stack_depth);
        if counts(plain) != counts(&outcome) {
            return Err(format!("observed it counts {:?}, unobserved {:?}", counts(&outcome), counts(plain)));
        }
        self.verify(job, case, &outcome, false, Some(&masks.waves))?;
        let s = stats.stats();
        let told = (s.cycles, s.wave_instructions, s.lane_instructions, s.waves);
        let found =
            (outcome.cycles, outcome.wave_instructions, outcome.lane_instructions, u64::from(outcome.waves));
        if told != found {
            return Err(format!("statistics say {told:?}, the outcome {found:?}"));
        }
        Ok(hash.hash())
    }

    /// `test error`.
    pub fn error(&self, sections: &mut Vec<Section>) -> Result<(), String> {
        for case in self.cases() {
            let mut add = |when: &str, report: &dyn Diagnostic| -> Result<(), String> {
                let text = render(report);
                let said = words(report);
                for check in self.checks(&case) {
                    if let What::Error(part) = &check.what
                        && !said.contains(part.as_str())
                    {
                        return Err(format!("{}: {when}: no `{part}` in\n{text}", self.name));
                    }
                }
                let title = ["error", &case.text(), when].join(" ").replace("  ", " ").trim().to_owned();
                sections.push(Section { title, text });
                Ok(())
            };
            let job = match self.job(&case, None) {
                Ok(job) => job,
                Err(report) => {
                    add("", &report)?;
                    continue;
                }
            };
            for (timed, when) in [(false, "untimed"), (true, "timed")] {
                match job.run(options(timed), None) {
                    Ok(_) => return Err(format!("{}: {when}: runs without an error", self.name)),
                    Err(report) => add(when, &report)?,
                }
            }
        }
        Ok(())
    }

    /// `test asm`: HARP in both encodings of every architecture named.
    pub fn asm(&self, sections: &mut Vec<Section>) -> Result<(), String> {
        let (name, text) = (&self.source.0, &self.source.1);
        if self.isa != InstructionSet::Harp {
            let list = listing::of(self.isa).map_err(|e| format!("{}: {e}", self.name))?;
            let text = list(name, text).map_err(|e| format!("{}: {e}", self.name))?;
            sections.push(Section { title: "asm".into(), text });
            return Ok(());
        }
        let mut archs: Vec<Arch> = Vec::new();
        for case in self.cases() {
            let arch = if case.arch.is_empty() { "4w8/1" } else { &case.arch };
            let arch: Arch = arch.parse().map_err(|e| format!("{}: {e}", self.name))?;
            for arch in [arch, listing::counterpart(&arch)] {
                if !archs.contains(&arch) && arch.check().is_ok() {
                    archs.push(arch);
                }
            }
        }
        for arch in archs {
            let text = listing::harp(name, text, &arch).map_err(|e| format!("{}: {arch}: {e}", self.name))?;
            sections.push(Section { title: format!("asm {arch}"), text });
        }
        Ok(())
    }

    /// `test log`: what the PDOM document's debug output says about a timed run.
    pub fn log(&self, sections: &mut Vec<Section>) -> Result<(), String> {
        for case in self.cases() {
            let job = self.job(&case, None).map_err(|e| render(&e))?;
            let mut log = PdomLog::new(Vec::new());
            job.run(options(true), Some(&mut log)).map_err(|e| format!("{}: {}", self.name, render(&e)))?;
            let text = log.finish().map_err(|e| e.to_string())?;
            let text = String::from_utf8_lossy(&text).into_owned();
            let title = ["log", &case.text()].join(" ").trim().to_owned();
            sections.push(Section { title, text });
        }
        Ok(())
    }
}

fn same_results(a: &Outcome, b: &Outcome) -> Result<(), String> {
    if a.console != b.console {
        return Err("different console output".into());
    }
    match a.memory.all().iter().zip(b.memory.all()).position(|(x, y)| x != y) {
        Some(at) => Err(format!("memory differs from address {at:#x} on")),
        None => Ok(()),
    }
}
