//! The Vortex kernels compute what their references say, bit for bit: untimed and timed, under every mechanism they
//! are written for, on one SM and on several, with small waves and with large ones.

use wb_jobs::{Job, JobSpec};
use wb_lab::kernels::{VortexKernel, sgemm, swas, trials};
use wb_sim::{Outcome, RunOptions};

fn run(kernel: &VortexKernel, machine: &str, mechanism: &str, sets: &[&str], timed: bool) -> (Job, Outcome) {
    let mut all: Vec<String> = sets.iter().map(|&s| s.to_owned()).collect();
    all.push("limits.memory=4194304".into());
    all.push(format!("divergence.mechanism={mechanism}"));
    let spec = JobSpec { machine: machine.into(), sets: all, ..JobSpec::default() };
    let place = format!("{} on {machine} {sets:?} under {mechanism}, timed {timed}", kernel.name);
    let job = kernel.job(&spec).unwrap_or_else(|e| panic!("{place}: {e:?}"));
    let options = RunOptions { timed, check: !timed, ..RunOptions::default() };
    let outcome = job.run(options, None).unwrap_or_else(|e| panic!("{place}: {e:?}"));
    kernel.check(&job, &outcome).unwrap_or_else(|e| panic!("{place}: {e:?}"));
    (job, outcome)
}

fn mechanisms(kernel: &VortexKernel) -> &'static [&'static str] {
    if kernel.for_vortex { &["vortex-v2", "vortex", "simt-stack"] } else { &["simt-stack"] }
}

#[test]
fn untimed_under_every_mechanism() {
    for kernel in swas().iter().chain(&trials()) {
        for mechanism in mechanisms(kernel) {
            run(kernel, "vortex-swas", mechanism, &[], false);
        }
    }
}

#[test]
fn timed_on_one_sm_and_on_two() {
    for kernel in swas().iter().chain(&trials()) {
        for mechanism in mechanisms(kernel) {
            let (_, one) = run(kernel, "vortex-swas", mechanism, &[], true);
            let (_, two) = run(kernel, "vortex-2sm", mechanism, &[], true);
            assert!(one.cycles > 0 && two.cycles > 0);
            if kernel.name == "psort" {
                assert!(two.cycles < one.cycles, "half of the work each: {} {}", one.cycles, two.cycles);
            }
        }
    }
}

#[test]
fn on_machines_of_other_shapes() {
    let kernels: Vec<VortexKernel> =
        trials().into_iter().chain([sgemm(256, 4, 16, None), sgemm(64, 3, 5, None)]).collect();
    for kernel in kernels.iter().filter(|k| k.name != "reduce") {
        for sets in [
            ["core.lanes=4", "core.waves=4", "cores=1"],
            ["core.lanes=16", "core.waves=8", "cores=3"],
            ["core.lanes=1", "core.waves=2", "cores=1"],
            ["core.lanes=32", "core.waves=1", "cores=2"],
        ] {
            for mechanism in mechanisms(kernel) {
                run(kernel, "vortex-swas", mechanism, &sets, false);
                run(kernel, "vortex-like-simx", mechanism, &sets, true);
            }
        }
    }
}

/// A barrier in `reduce` waits for all waves of the core: it takes as many tasks as lanes, on every core.
#[test]
fn reduction_on_several_cores() {
    let reduce = trials().remove(1);
    for (machine, sets) in [("vortex-2sm", ["core.waves=16"; 1]), ("vortex-4sm", ["core.waves=8"; 1])] {
        for mechanism in mechanisms(&reduce) {
            run(&reduce, machine, mechanism, &sets, false);
            run(&reduce, machine, mechanism, &sets, true);
        }
    }
}

/// Without split and join, lanes that disagree about a branch are an error with its place.
#[test]
fn plain_branches_are_refused_with_their_line() {
    let branchy = trials().remove(2);
    let spec = JobSpec { sets: vec!["limits.memory=4194304".into()], ..JobSpec::default() };
    let job = branchy.job(&spec).expect("a job");
    let error = format!("{:?}", job.run(RunOptions::default(), None).expect_err("lanes disagree"));
    assert!(error.contains("disagree") && error.contains("simt-stack"), "{error}");
}

/// The kernels are as long as those of SWAS table I, within a tenth.
#[test]
fn instruction_counts_are_near_the_published_ones() {
    for kernel in swas() {
        let (_, outcome) = run(&kernel, "vortex-swas", "vortex-v2", &[], false);
        let published = kernel.published.expect("published") as f64;
        // 32 waves spend about 45 instructions each outside the kernel.
        let ours = outcome.wave_instructions as f64 - 32.0 * 45.0;
        let ratio = ours / published;
        println!(
            "{:12} {:8} published {published:8} ratio {ratio:.3}",
            kernel.name, outcome.wave_instructions
        );
        assert!((0.9..1.1).contains(&ratio), "{}: {ours} against {published}", kernel.name);
    }
}
