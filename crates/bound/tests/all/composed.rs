//! Hybrid bounds by own time and waits: a wave replayed alone takes what it takes alone, no run is above its bound, waits of others are
//! not multiplied, and a certificate is never taken for one of a proved bound.

use crate::certificates::file;
use crate::proved::{changed, leaves, resealed};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use wb_bound::{KernelBound, Options, Runs, TraceFiles, hybrid, verify_hybrid};
use wb_check::{check_hybrid, check_proved};
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_proved::{Alone, Did, Replay, Used};
use wb_sim::RunOptions;
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::times::{Style, times_job};
use wb_trace::{Event, Kind, Observer, PortKind};
use wb_wcet::measure::Unmeasured;

/// The instructions of each wave with what they did, when it started and how long it took.
#[derive(Default)]
struct Waves(Vec<(Vec<Did>, u64, u64)>);

impl Observer for Waves {
    fn events(&mut self, events: &[Event]) {
        for e in events {
            let wave = e.wave as usize;
            if self.0.len() <= wave {
                self.0.resize_with(wave + 1, Default::default);
            }
            let (path, start, time) = &mut self.0[wave];
            match e.kind {
                Kind::WaveStart { .. } => *start = e.cycle,
                Kind::WaveEnd => *time = e.cycle - *start,
                Kind::Issue { busy, .. } => {
                    path.push(Did { pc: e.pc, busy: busy.into(), ..Did::default() });
                }
                Kind::Memory { port, write, lines, misses, done, .. } => {
                    let did = path.last_mut().expect("it issued");
                    did.used = match (port, write, misses) {
                        (PortKind::Lds, ..) => Used::Local,
                        (_, true, _) => Used::Store,
                        (_, false, 0) => Used::Hit,
                        (_, false, _) => Used::Miss,
                    };
                    (did.lines, did.took) = (lines.into(), Some(done - e.cycle));
                }
                _ => {}
            }
        }
    }
}

/// A wave alone; none where there is no model of the machine.
fn replayed(job: &Job, path: &[Did]) -> Option<u64> {
    let AnyProgram::Gcn3(program) = &job.program else { return None };
    let alone = Alone::new(program, &job.machine).ok()?;
    let mut wave: Replay = alone.start();
    for (i, did) in path.iter().enumerate() {
        let next = program.flow.next[did.pc as usize];
        alone.step(&mut wave, *did, path.get(i + 1).is_none_or(|to| to.pc == next));
    }
    Some(wave.end())
}

#[test]
fn a_wave_replayed_alone_takes_what_it_took_alone() {
    let compared = AtomicU64::new(0);
    in_parallel(600, |case| {
        let job = times_job(case, 0, Style::Plain)?;
        let mut waves = Waves::default();
        let cycles = job.run(RunOptions::default(), Some(&mut waves)).map_err(|e| e.to_string())?.cycles;
        match replayed(&job, &waves.0[0].0) {
            Some(model) if model != cycles => {
                Err(format!("case {case}: {model} cycles, the machine takes {cycles}"))
            }
            Some(_) => {
                compared.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            None => Ok(()),
        }
    });
    assert!(compared.into_inner() > 300);
}

#[test]
fn a_wave_alone_takes_no_longer_than_beside_others() {
    in_parallel(300, |case| {
        let job = times_job(case, 0, Style::Any)?;
        let mut waves = Waves::default();
        if job.run(RunOptions::default(), Some(&mut waves)).is_err() {
            return Ok(());
        }
        for (i, (path, _, time)) in waves.0.iter().enumerate() {
            if let Some(own) = replayed(&job, path)
                && own > *time
            {
                return Err(format!("case {case}: wave {i} takes {own} cycles alone, {time} beside others"));
            }
        }
        Ok(())
    });
}

fn options() -> Options {
    Options { facts_from_trace: true, unmeasured: Unmeasured::Exclude, ..Options::default() }
}

fn bounded(runs: &Runs, options: &Options) -> Result<KernelBound, String> {
    let found = hybrid(runs, options, TraceFiles::default(), &mut |_, _| ()).map_err(|e| e.to_string())?;
    found.into_iter().next().ok_or_else(|| "no kernel".to_owned())
}

#[test]
fn no_measured_run_takes_longer_than_its_bound() {
    let (composed, chosen) = (AtomicU64::new(0), AtomicU64::new(0));
    in_parallel(300, |case| {
        let jobs: Vec<Job> =
            (0..3).map(|input| times_job(case, input, Style::Any)).collect::<Result<_, _>>()?;
        // Some launches do not fit on their machine.
        if jobs[0].run(RunOptions::default(), None).is_err() {
            return Ok(());
        }
        let found = bounded(&Runs::Jobs(jobs), &options()).map_err(|e| format!("case {case}: {e}"))?;
        let Some(bound) = found.composed.bound else { return Ok(()) };
        composed.fetch_add(1, Ordering::Relaxed);
        chosen.fetch_add(u64::from(found.hybrid_by != "segments"), Ordering::Relaxed);
        let heaviest = found.composed.heaviest.unwrap_or(0);
        if bound < found.observed || found.bound < found.observed || heaviest < bound {
            return Err(format!("case {case}: {bound} (heaviest {heaviest}) < {}", found.observed));
        }
        let checked = check_hybrid(&found.composed.certificate).map_err(|e| format!("case {case}: {e}"))?;
        match checked.bound == bound {
            true => Ok(()),
            false => Err(format!("case {case}: the certificate says {}", checked.bound)),
        }
    });
    assert!(composed.into_inner() > 150, "most machines have a model");
    assert!(chosen.into_inner() > 50, "both kinds of bounds are the better one now and then");
}

/// A kernel with a loop of branches in so many groups of a wave that they come in several rounds.
fn nest(groups: u32) -> Job {
    let items = 64 * groups;
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        kernel: "nest".into(),
        grid3: [items, 1, 1],
        group3: [64, 1, 1],
        args: vec![format!("buf:u32:{items}:random=1").into(), format!("buf:u32:{items}").into()],
        ..JobSpec::default()
    };
    Job::from_file(&file("control.O2.co"), &spec).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

#[test]
fn waits_are_not_multiplied() {
    for groups in [64, 256] {
        let found = bounded(&Runs::Jobs(vec![nest(groups)]), &Options::default()).expect("a bound");
        assert_eq!(found.hybrid_by, "own time and waits");
        assert!(found.segment_bound > 10 * found.bound, "{} and {}", found.segment_bound, found.bound);
        assert!(found.ratio < 1.5, "{groups} groups: {}", found.ratio);
        // The loop may go round twice as often as it does.
        assert!(found.ratio > 1.1, "{groups} groups: {}", found.ratio);
    }
}

#[test]
fn a_certificate_is_never_one_of_a_proved_bound() {
    let found = bounded(&Runs::Jobs(vec![nest(200)]), &Options::default()).expect("a bound");
    let text = &found.certificate;
    assert_eq!(check_hybrid(text).expect("valid").status, "hybrid");
    let value: Value = serde_json::from_str(text).expect("JSON");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut forged = value.clone();
        change(&mut forged);
        resealed(forged)
    };
    for status in ["proved", "exact", "observed", "given", ""] {
        let forged = with(&|v| v["status"] = status.into());
        let error = check_hybrid(&forged).expect_err(status).to_string();
        assert!(error.contains("status"), "{error}");
    }
    let forged = with(&|v| {
        v["format"] = "wavebound-proved".into();
        v["version"] = 2.into();
    });
    assert!(check_proved(&forged).is_err() && check_hybrid(&forged).is_err());
    let without = with(&|v| {
        v["format"] = "wavebound-proved".into();
        v["version"] = 2.into();
        let fields = v.as_object_mut().expect("an object");
        ["status", "runs", "inputs", "measured", "terms"].iter().for_each(|f| _ = fields.remove(*f));
    });
    assert!(check_proved(&without).is_err(), "what is measured is not in the other format");
}

#[test]
fn no_field_of_a_certificate_can_be_changed() {
    let runs = || Runs::Jobs(vec![nest(200)]);
    let found = bounded(&runs(), &Options::default()).expect("a bound");
    let again = found.certificate.clone();
    let accepted = |text: &str| {
        let Ok(report) = check_hybrid(text) else { return false };
        // Measuring again is slow, and always gives the same: compared as the verification does.
        let (here, there): (Value, Value) =
            (serde_json::from_str(&again).expect("JSON"), serde_json::from_str(text).expect("JSON"));
        report.kernel == found.kernel
            && ["checksum", "machine", "terms", "launches", "runs", "inputs"]
                .iter()
                .all(|f| here[*f] == there[*f])
    };
    let report = check_hybrid(&again).expect("valid");
    let verified = verify_hybrid(&again, &report, &runs(), &Options::default()).expect("verified");
    assert_eq!(verified.errors, Vec::<String>::new());
    assert!(accepted(&again));
    let value: Value = serde_json::from_str(&again).expect("JSON");
    let mut paths = Vec::new();
    leaves(&value, "", &mut paths);
    paths.retain(|p| p != "/digest" && !p.starts_with("/assumptions"));
    assert!(paths.len() > 100, "{}", paths.len());
    for path in paths {
        let mut forged = value.clone();
        let place = forged.pointer_mut(&path).expect("a place");
        *place = changed(place);
        if forged != value {
            assert!(!accepted(&resealed(forged)), "{path} was changed");
        }
    }
}

#[test]
fn a_certificate_of_other_launches_is_refused() {
    let found = bounded(&Runs::Jobs(vec![nest(200)]), &Options::default()).expect("a bound");
    let report = check_hybrid(&found.certificate).expect("valid");
    let other = Runs::Jobs(vec![nest(199)]);
    let verified = verify_hybrid(&found.certificate, &report, &other, &Options::default()).expect("compared");
    assert_eq!((verified.code, verified.machine, verified.launch), (Some(true), Some(true), Some(false)));
    assert!(!verified.errors.is_empty());
}
