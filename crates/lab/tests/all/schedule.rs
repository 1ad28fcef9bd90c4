//! The front ends of SWAS on its six kernels: results stay what they are, the coordinated scheduler makes no errors, and
//! skipping idle cycles changes nothing.

use wb_hw::{FrontEndKind, Policy};
use wb_jobs::JobSpec;
use wb_lab::kernels::{VortexKernel, swas, trials};
use wb_schedule::{Choice, measure, predict};
use wb_sim::RunOptions;

fn spec(sets: &[&str]) -> JobSpec {
    let sets = sets.iter().chain(&["limits.memory=4194304"]).map(|&s| s.to_owned()).collect();
    JobSpec { sets, ..JobSpec::default() }
}

/// Small enough to run twelve times.
fn kernels() -> Vec<VortexKernel> {
    swas().into_iter().filter(|k| k.published.is_some_and(|n| n < 50_000)).chain(trials()).collect()
}

#[test]
fn coordinated_makes_no_errors_and_decoupled_does() {
    for kernel in kernels().iter().filter(|k| k.for_vortex) {
        let job = kernel.job(&spec(&[])).expect("a job");
        for choice in Choice::swas() {
            let m = measure(&job, &choice, "").expect("a run");
            println!("{:10} {choice:?}\n{}", kernel.name, m.table());
            if choice.frontend == FrontEndKind::Coordinated {
                assert_eq!(m.errors.total, 0, "{} {choice:?}", kernel.name);
                assert!(m.nops > 0);
            } else {
                assert_eq!(m.nops, 0);
                // With loose round robin for both, one may follow the other by chance.
                let alike = choice.fetch == choice.issue && choice.issue == Policy::LooseRoundRobin;
                assert!(m.errors.total > 0 || alike, "{} {choice:?}", kernel.name);
                assert!(m.discrepancies.total >= m.errors.synchronisation);
            }
            assert!(m.cycles < m.run_cycles && m.committed > 0);
            let machine = choice.apply(&job.machine);
            let options = || RunOptions { check: true, ..RunOptions::default() };
            let outcome = job.run_on(&machine, options(), None).expect("a run");
            kernel.check(&job, &outcome).expect("the reference");
            let every = RunOptions { every_cycle: true, ..options() };
            let slow = job.run_on(&machine, every, None).expect("a run");
            assert_eq!((slow.cycles, slow.nops), (outcome.cycles, outcome.nops));
            assert_eq!(m.run_cycles, outcome.cycles, "the oracles change nothing");
        }
    }
}

#[test]
fn the_kernel_has_the_same_instructions_under_every_front_end() {
    for kernel in kernels().iter().filter(|k| k.for_vortex) {
        let job = kernel.job(&spec(&[])).expect("a job");
        let committed: Vec<u64> =
            Choice::swas().iter().map(|choice| measure(&job, choice, "").expect("a run").committed).collect();
        assert!(committed.windows(2).all(|w| w[0] == w[1]), "{}: {committed:?}", kernel.name);
    }
}

#[test]
fn all_policies_run_all_front_ends() {
    let kernel = &trials()[0];
    let job = kernel.job(&spec(&[])).expect("a job");
    for frontend in [FrontEndKind::Perfect, FrontEndKind::Decoupled, FrontEndKind::Coordinated] {
        for (fetch, issue) in Policy::FETCH.into_iter().zip(Policy::ISSUE) {
            let machine = Choice { frontend, fetch, issue }.apply(&job.machine);
            let options = RunOptions { check: true, ..RunOptions::default() };
            let outcome = job.run_on(&machine, options, None).expect("a run");
            kernel.check(&job, &outcome).expect("the reference");
        }
    }
}

#[test]
fn the_schedule_is_predicted_on_fixed_latency_memory() {
    for kernel in swas() {
        let spec = JobSpec { machine: "vortex-swas-fixed".into(), ..spec(&[]) };
        let mut job = kernel.job(&spec).expect("a job");
        for policy in [Policy::LooseRoundRobin, Policy::GreedyThenRoundRobin, Policy::GreedyThenOldest] {
            job.machine.issue.policy = policy;
            job.machine.frontend.kind = FrontEndKind::Coordinated;
            let p = predict(&job).expect("a prediction");
            assert!(p.equal && p.outside.is_empty(), "{} {policy:?}: {p:?}", kernel.name);
            assert_eq!(p.predicted_cycles, p.simulated_cycles);
            job.machine.frontend.kind = FrontEndKind::Decoupled;
            let p = predict(&job).expect("a prediction");
            assert!(!p.outside.is_empty(), "{} {policy:?}", kernel.name);
            println!(
                "{:12} {policy:?}: {} cycles differ, first {:?}",
                kernel.name, p.different_cycles, p.first
            );
            // With loose round robin on both sides and no misses, queues may be full by luck.
            if policy.info().greedy {
                let first = p.first.expect("a difference");
                assert!(!p.equal && first.cause.contains("no instruction in its queue"), "{first:?}");
            }
        }
    }
}
