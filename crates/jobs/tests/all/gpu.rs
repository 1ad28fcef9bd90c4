//! Code runs on a machine that is its GPU, and nowhere else.

use wb_hw::InstructionSet;
use wb_jobs::{Job, JobSpec};

const END: &str = ".kernel k\n  s_endpgm\n";

fn job(target: &str, machine: &str, sets: &[&str]) -> Result<Job, String> {
    let text = match target {
        "" => END.to_owned(),
        target => format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n{END}"),
    };
    let spec = JobSpec {
        isa: Some(InstructionSet::Gcn3),
        machine: machine.to_owned(),
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        ..JobSpec::default()
    };
    Job::from_source("k.s", &text, &spec).map_err(|e| format!("{:?}", miette::Report::new(e)))
}

#[test]
fn code_chooses_its_machine() {
    let found = |target: &str| job(target, "", &[]).map(|job| (job.machine.name, job.machine.arch));
    let named = |name: &str, arch: &str| Ok((name.to_owned(), arch.to_owned()));
    assert_eq!(found("").map(|m| m.0), Ok("gcn3".to_owned()));
    assert_eq!(found("gfx900"), named("vega", "gfx900"));
    assert_eq!(found("gfx908"), named("vega", "gfx908"));
    assert_eq!(found("gfx90a"), named("mi200", "gfx90a"));
    assert_eq!(found("gfx942"), named("mi300", "gfx940"));
}

#[test]
fn code_for_another_gpu_is_refused() {
    for (target, machine) in [("gfx90a", "gcn3"), ("", "vega"), ("gfx900", "mi300"), ("gfx906", "vega")] {
        let error = job(target, machine, &[]).map(|_| ()).expect_err("another GPU");
        assert!(error.contains("is code for") && error.contains("--machine"), "{error}");
    }
    job("gfx906", "vega", &["arch=gfx906"]).expect("a machine that was made such a GPU");
    job("gfx942", "mi300", &[]).expect("a GPU of the same generation");
    let error = job("gfx900", "", &["arch=gfx90a"]).map(|_| ()).expect_err("another GPU");
    assert!(error.contains("gfx90a"), "{error}");
}
