//! Every workload of the suite at its smallest size: no launch takes longer than its bound, without splitting and under
//! dws, thesis and pws with default marks, and every certificate passes the independent checker.

use libtest_mimic::{Arguments, Failed, Trial};
use wb_bound::{KernelBound, LaunchRow, Options, Runs, analyse};
use wb_jobs::JobSpec;
use wb_jobs::launch::{Launches, WorkloadSession, WorkloadSpec};
use wb_sim::RunOptions;
use wb_wcet::measure::Unmeasured;
use wb_workloads::Workload;

const MECHANISMS: [(&str, u32); 8] =
    [("none", 0), ("dws", 1), ("dws", 3), ("thesis", 1), ("thesis", 3), ("pws", 1), ("pws", 3), ("pws", 7)];

/// Workloads with ways through a kernel that no launch at this size takes; there the bound leaves them out and says so.
const WITH_GAPS: &[&str] = &["lud"];

fn spec(mechanism: &str, contexts: u32) -> JobSpec {
    let sets = [format!("divergence.mechanism={mechanism}"), format!("split.contexts={contexts}")];
    JobSpec { sets: sets.to_vec(), ..JobSpec::default() }
}

fn bounds(w: &'static Workload, spec: &JobSpec, unmeasured: Unmeasured) -> Result<Vec<KernelBound>, String> {
    let which = WorkloadSpec::new(w.name, "tiny").map_err(|e| e.to_string())?;
    let options = Options { unmeasured, ..Options::default() };
    let options = wb_bound::workload_options(&which, spec, &options)
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let runs = Runs::Workload { which, spec: Box::new(spec.clone()) };
    analyse(&runs, &options, &mut |_, _| ()).map_err(|e| format!("{:?}", miette::Report::new(e)))
}

fn check(w: &'static Workload) -> Result<(), Failed> {
    let mut problems = Vec::new();
    let mut gaps = false;
    for (mechanism, s) in MECHANISMS {
        let place = format!("{} {mechanism} S={s}", w.name);
        let spec = spec(mechanism, s);
        let found = match bounds(w, &spec, Unmeasured::Error) {
            Ok(found) => found,
            Err(first) => match bounds(w, &spec, Unmeasured::Exclude) {
                Ok(found) => {
                    if !gaps && !WITH_GAPS.contains(&w.name) {
                        problems.push(format!("{place}: no bound without leaving something out:\n{first}"));
                    }
                    gaps = true;
                    found
                }
                Err(e) => {
                    problems.push(format!("{place}: {e}"));
                    continue;
                }
            },
        };
        for k in &found {
            for (i, l) in k.launches.iter().enumerate() {
                if l.bound < l.observed {
                    problems.push(format!(
                        "{place}: {} launch {}: {} < {}",
                        k.kernel,
                        i + 1,
                        l.bound,
                        l.observed
                    ));
                }
            }
            match (mechanism, &k.composed.bound) {
                ("none", None) => problems.push(format!(
                    "{place}: no bound of {} by own time and waits: {:?}",
                    k.kernel, k.composed.why_not
                )),
                (_, None) => {}
                (_, Some(bound)) => {
                    let own = |l: &LaunchRow| k.composed.launches.get(&l.number).copied().unwrap_or(0);
                    if k.launches.iter().any(|l| own(l) < l.observed) {
                        problems.push(format!("{place}: {}: own time and waits are too small", k.kernel));
                    }
                    if !wb_check::check_hybrid(&k.composed.certificate).is_ok_and(|r| r.bound == *bound) {
                        problems.push(format!("{place}: the other certificate of {} is not valid", k.kernel));
                    }
                }
            }
            if k.wave_bound < k.wave_observed {
                problems.push(format!("{place}: wave of {}", k.kernel));
            }
            if !wb_check::check(&k.certificate).is_ok_and(|r| r.bound == k.wave_bound) {
                problems.push(format!("{place}: the certificate of {} is not valid", k.kernel));
            }
        }
        let sum = |of: fn(&KernelBound) -> u64| found.iter().map(of).sum::<u64>();
        let (bound, observed) = (sum(|k| k.bound), sum(|k| k.observed));
        println!(
            "{place:<28} bound {bound:>9} observed {observed:>9} ratio {:.3}",
            bound as f64 / observed as f64
        );
    }
    if !gaps && WITH_GAPS.contains(&w.name) {
        problems.push(format!("{}: all ways are measured now, take it off the list", w.name));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// A launch in the middle of a workload, as a job of its own, takes what it takes in its place.
fn a_launch_is_a_job() -> Result<(), Failed> {
    let (which, spec) = (WorkloadSpec::new("nw", "tiny")?, spec("none", 0));
    let mut session = WorkloadSession::open(&which, &spec)?;
    let mut cycles = Vec::new();
    while let Some(step) = session.next_step()? {
        cycles.push(session.run(&step, RunOptions::default(), None)?.cycles);
    }
    for (i, cycles) in cycles.iter().enumerate() {
        let job = which.job(&spec, i + 1)?.ok_or("no such launch")?;
        let alone = job.run(RunOptions::default(), None)?.cycles;
        if alone != *cycles {
            return Err(format!("launch {}: {alone} cycles as a job, {cycles} in its place", i + 1).into());
        }
    }
    match which.job(&spec, cycles.len() + 1)? {
        None => Ok(()),
        Some(_) => Err("there is a launch too many".into()),
    }
}

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads = args.test_threads.or(Some(2));
    let all = wb_workloads::all().iter();
    let mut trials: Vec<Trial> = all.map(|w| Trial::test(w.name, move || check(w))).collect();
    trials.push(Trial::test("a_launch_is_a_job", a_launch_is_a_job));
    libtest_mimic::run(&args, trials).exit();
}
