//! What an instruction can touch at most (`wb_facts::access`) against what runs touch: no execution touches more lines, takes more
//! bank passes or leaves the range. Workloads, fixtures and random kernels; and with a rule left out the random kernels find it.

use crate::case::Step;
use crate::cases;
use crate::exact::{fixture, launches};
use std::collections::BTreeMap;
use wb_facts::access::{AccessFact, AccessRule, AccessShape, Local, accesses_without};
use wb_facts::{Known, accesses, infer_gcn3};
use wb_hw::Machine;
use wb_isa::Pc;
use wb_jobs::launch::WorkloadSpec;
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_sim::RunOptions;
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::addresses::{addresses_job, later_addresses_job};
use wb_testgen::random::contents::contents_job;
use wb_trace::{Event, Kind, Observer, PortKind, Touched};

fn shape(machine: &Machine) -> AccessShape {
    let line = |name: &str| match machine.caches.iter().find(|c| c.name == name) {
        Some(cache) => cache.line,
        None if name == "none" => 64,
        None => machine.dram.line,
    };
    AccessShape {
        data_line: line(&machine.memory.data),
        scalar_line: line(&machine.memory.scalar),
        banks: machine.core.lds_banks,
        lanes: machine.core.lanes,
        apart: machine.splits(),
    }
}

/// What runs did to one instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    times: u64,
    lines: u64,
    most: u64,
    most_passes: u64,
    passes: u64,
}

/// Compares every execution with what was said of its instruction.
struct Judge<'a> {
    facts: &'a BTreeMap<Pc, AccessFact>,
    /// The longest line.
    line: u64,
    done: BTreeMap<Pc, Done>,
    /// Cycles that the unit of a local access is busy without conflicts, and was for the last issue of an instruction.
    least: u64,
    busy: BTreeMap<Pc, u64>,
    wrong: Vec<String>,
}

impl Judge<'_> {
    fn claim(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.wrong.len() < 5 {
            self.wrong.push(what());
        }
    }
}

impl Observer for Judge<'_> {
    fn wants_code(&self) -> bool {
        false
    }

    fn wants_touched(&self) -> bool {
        true
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            let pc = event.pc;
            if let Kind::Issue { busy, .. } = event.kind {
                self.busy.insert(pc, busy.into());
            }
            let Kind::Memory { port, lines, write, .. } = event.kind else { continue };
            let Some(fact) = self.facts.get(&pc).cloned() else {
                self.claim(false, || format!("nothing is said about {pc}"));
                continue;
            };
            let done = self.done.entry(pc).or_default();
            done.times += 1;
            if port == PortKind::Lds {
                // A pass is a cycle of the unit; the first one is in its ordinary time.
                let passes = self.busy.get(&pc).map_or(0, |b| b + 1 - self.least);
                done.passes += passes;
                done.most_passes = done.most_passes.max(passes);
                self.claim(fact.local != Local::Never, || format!("{pc} goes to local memory: {fact:?}"));
                self.claim(passes <= fact.passes.into(), || format!("{pc} takes {passes} passes: {fact:?}"));
            } else {
                let lines = u64::from(lines);
                done.lines += lines;
                done.most = done.most.max(lines);
                self.claim(lines <= fact.lines.into(), || format!("{pc} touches {lines} lines: {fact:?}"));
            }
            self.claim(!write || fact.write, || format!("{pc} writes: {fact:?}"));
        }
    }

    fn touched(&mut self, touched: &Touched) {
        let Some(fact) = self.facts.get(&touched.pc).cloned() else { return };
        let Some((lo, hi)) = fact.range.filter(|_| !touched.local) else { return };
        for &line in touched.lines {
            // The line begins before the first byte by less than a line.
            let inside = line <= hi && line + self.line > lo;
            self.claim(inside, || format!("{} touches {line:#x}: {fact:x?}", touched.pc));
        }
    }
}

/// Facts, what was done, and where they disagree.
type Compared = (BTreeMap<Pc, AccessFact>, BTreeMap<Pc, Done>, Vec<String>);
/// Runs a job and compares; what the run did, and what was said.
fn judged(job: &Job, without: Option<AccessRule>) -> Result<Compared, String> {
    let AnyProgram::Gcn3(program) = &job.program else { return Err("GCN3".into()) };
    let known = Known::launch(program, &job.kernarg, &job.args);
    let shape = shape(&job.machine);
    let inferred = infer_gcn3(program, &known);
    let facts = match without {
        None => accesses(program, &known, &inferred, shape),
        rule => accesses_without(program, &known, &inferred, shape, rule),
    };
    let unit = job.machine.units.iter().find(|u| u.classes.iter().any(|c| c == "lds"));
    let least = unit.map_or(1, |u| {
        let rounds = if u.lanes == 0 { 1 } else { job.machine.core.lanes.div_ceil(u.lanes) };
        u64::from(u.interval.max(1)) * u64::from(rounds)
    });
    let line = shape.data_line.max(shape.scalar_line).into();
    let (done, busy) = (BTreeMap::new(), BTreeMap::new());
    let mut judge = Judge { facts: &facts, line, done, least, busy, wrong: Vec::new() };
    job.run(RunOptions::default(), Some(&mut judge)).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let text = |w: &String| {
        let pc: Option<Pc> = w.split(' ').find_map(|p| p.parse().ok());
        format!("{w}: {}", pc.map_or_else(String::new, |pc| program.text_at(pc)))
    };
    let wrong = judge.wrong.iter().map(text).collect();
    let done = judge.done;
    Ok((facts, done, wrong))
}

/// How tight: accesses whose addresses are functions of the lane, and lines said over lines touched.
#[derive(Default)]
struct Tightness {
    known: usize,
    all: usize,
    said: f64,
    touched: f64,
    passes_said: f64,
    passes: f64,
}

impl Tightness {
    fn add(&mut self, facts: &BTreeMap<Pc, AccessFact>, done: &BTreeMap<Pc, Done>) {
        for (pc, d) in done {
            let Some(f) = facts.get(pc) else { continue };
            self.all += 1;
            self.known += usize::from(f.why.is_none());
            self.said += f64::from(f.lines) * if d.lines > 0 { d.times as f64 } else { 0.0 };
            self.touched += d.lines as f64;
            self.passes_said += f64::from(f.passes) * if d.passes > 0 { d.times as f64 } else { 0.0 };
            self.passes += d.passes as f64;
        }
    }

    fn text(&self) -> String {
        let ratio = |a: f64, b: f64| if b > 0.0 { format!("{:.2}", a / b) } else { "-".into() };
        format!(
            "{:3} of {:3} known, lines said/touched {:>6}, passes {:>6}",
            self.known,
            self.all,
            ratio(self.said, self.touched),
            ratio(self.passes_said, self.passes)
        )
    }
}

#[test]
fn workloads_touch_no_more_than_is_said() {
    let mut wrong = Vec::new();
    let mut whole = Tightness::default();
    for workload in wb_workloads::all() {
        let which = WorkloadSpec::new(workload.name, "tiny").expect("a workload");
        let mut tightness = Tightness::default();
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for (kernel, job, _) in launches(&which, &JobSpec::default()) {
            let (facts, done, errors) = judged(&job, None).unwrap_or_else(|e| panic!("{kernel}: {e}"));
            wrong.extend(errors.into_iter().map(|e| format!("{kernel}: {e}")));
            tightness.add(&facts, &done);
            whole.add(&facts, &done);
            for fact in facts.values().filter(|f| done.contains_key(&f.pc)) {
                *unknown.entry(fact.why.map_or_else(String::new, |w| w.to_string())).or_default() += 1;
            }
            if std::env::var_os("WB_SHOW_ACCESSES").is_some() {
                let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
                for (pc, d) in &done {
                    let f = &facts[pc];
                    println!("    {kernel} {pc:4} {:50} {f:x?} {d:?}", program.text_at(*pc));
                }
            }
        }
        unknown.remove("");
        println!("{:16} {} {unknown:?}", workload.name, tightness.text());
    }
    println!("{:16} {}", "all", whole.text());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fixtures of the device's tests: private memory, calls, atomics, every kind of flow that compilers make.
#[test]
fn fixtures_touch_no_more_than_is_said() {
    let mut tightness = Tightness::default();
    let mut wrong = Vec::new();
    for case in cases::all() {
        let path = format!("{}/../../fixtures/gcn3/{}.O2.co", env!("CARGO_MANIFEST_DIR"), case.file);
        let object = std::fs::read(path).expect("fixture");
        for launch in case.steps.iter().flat_map(|step| match step {
            Step::Run(l) => std::slice::from_ref(l),
            Step::While { launches, .. } => launches,
        }) {
            let (job, _) = fixture(&case, &object, launch);
            // Two fixtures are there to fail.
            let Ok((facts, done, errors)) = judged(&job, None) else { continue };
            wrong.extend(errors.into_iter().map(|e| format!("{} {}: {e}", case.file, launch.kernel)));
            tightness.add(&facts, &done);
        }
    }
    println!("fixtures: {}", tightness.text());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn random_kernels_touch_no_more_than_is_said() {
    in_parallel(150, |case| {
        for input in 0..3 {
            let (_, _, wrong) = judged(&contents_job(case, input)?, None)?;
            if !wrong.is_empty() {
                return Err(format!("case {case}, contents {input}: {}", wrong.join("\n")));
            }
        }
        Ok(())
    });
}

#[test]
fn random_addresses_touch_no_more_than_is_said() {
    in_parallel(300, |case| {
        let (_, _, wrong) = judged(&addresses_job(case)?, None)?;
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("case {case}: {}", wrong.join("\n"))),
        }
    });
}

/// On later generations: offsets, scalar bases, constants beside registers, scalar atomics, packed ids.
#[test]
fn random_addresses_of_later_generations() {
    in_parallel(400, |case| {
        let (_, _, wrong) = judged(&later_addresses_job(case)?, None)?;
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("case {case}: {}", wrong.join("\n"))),
        }
    });
}

/// Each rule, left out, lets some random kernel touch more than is said.
#[test]
fn a_rule_left_out_is_found() {
    for rule in AccessRule::ALL {
        let missed = |job: Result<Job, String>| {
            job.and_then(|job| judged(&job, Some(rule))).is_ok_and(|(_, _, wrong)| !wrong.is_empty())
        };
        let found = (0..1000).find(|&case| missed(addresses_job(case)) || missed(contents_job(case, 0)));
        println!("{rule:?}: case {found:?}");
        assert!(found.is_some(), "{rule:?} is not missed");
    }
}
