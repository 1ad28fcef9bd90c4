//! Thread-data remapping (docs/tdr.md): results are those of the kernel without it, on lane-pc machines and on GCN3, and sides that are
//! long take less time.

use crate::compilers::has_compiler;
use wb_hw::{InstructionSet, Mechanism};
use wb_jobs::args::ArgSpec;
use wb_jobs::object::{self, CompileOptions, RISCV};
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;

const HEADER: &str = include_str!("../../../../docs/tdr/tdr.h");

const KERNEL: &str = "
kernel void sides(global uint *out) {
    local uint slots[64], counts[4];
    uint i = get_global_id(0);
    uint key = (i * 2654435761u) >> 16 & 3;
    REMAP
    uint x = i;
    key = (i * 2654435761u) >> 16 & 3;
    if (key & 1) for (int k = 0; k < 60; k++) x = x * 3 + (x >> 7) + k;
    else for (int k = 0; k < 60; k++) x = (x >> 1) ^ (x * 5) ^ k;
    if (key & 2) x += 7;
    out[i] = x;
}
";

const WAYS: [&str; 3] =
    ["", "i = tdr_head_or_tail(key & 1, i, slots, counts);", "i = tdr_by_key(key & 1, 2, i, slots, counts);"];

/// Results and cycles.
fn run(isa: InstructionSet, way: &str, timed: bool) -> (Vec<String>, u64) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("kernel.cl");
    wb_files::write(&path, format!("{HEADER}{}", KERNEL.replace("REMAP", way))).expect("written");
    let mut options = CompileOptions::default();
    if isa == InstructionSet::Riscv {
        RISCV.clone_into(&mut options.target);
    }
    let code = object::read(&path, &options).expect("compiles");
    let spec = JobSpec {
        isa: Some(isa),
        grid3: [512, 1, 1],
        group3: [64, 1, 1],
        args: vec![ArgSpec::Text("buf:u32:512".to_owned())],
        ..JobSpec::default()
    };
    let job = Job::from_bytes("kernel.cl", &code, &spec).expect("a job");
    let outcome = job.run(RunOptions { timed, check: true, ..RunOptions::default() }, None).expect("runs");
    let buffer = job.find_buffer("out").expect("a buffer");
    (job.values(&buffer, &outcome).expect("values"), outcome.cycles)
}

#[test]
fn results_are_equal_and_long_sides_gain() {
    if !has_compiler() {
        return;
    }
    assert!(Mechanism::SimtStack.runs(InstructionSet::Riscv));
    for isa in [InstructionSet::Riscv, InstructionSet::Gcn3] {
        let plain = run(isa, WAYS[0], false).0;
        let cycles = run(isa, WAYS[0], true).1;
        for way in WAYS.into_iter().skip(1) {
            assert_eq!(run(isa, way, false).0, plain, "{isa}: {way}");
            let (values, less) = run(isa, way, true);
            assert_eq!(values, plain, "{isa}: {way}");
            println!("{isa}: {cycles} cycles, {less} with {way}");
            if isa == InstructionSet::Riscv {
                assert!(less < cycles, "{way}: {less} cycles, {cycles} without");
            }
        }
    }
}
