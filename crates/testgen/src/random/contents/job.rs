//! The kernels of the search as jobs: machines that feel where accesses go, and contents of all kinds.

use super::super::loops::Noise;
use super::super::policies::policy;
use super::{WORDS, contents_kernel};
use wb_hw::{Machine, Policy};
use wb_jobs::args::{ArgSpec, Argument};
use wb_jobs::data::{Array, Element};
use wb_jobs::{Job, JobSpec};

/// The kernel of a case on its machine, with one of the contents.
pub fn contents_job(case: u64, input: u64) -> Result<Job, String> {
    let text = contents_kernel(case);
    let words = |salt: u64| -> Vec<u8> {
        let mut noise = Noise::new(case ^ input.wrapping_mul(0x9e37_79b9) ^ salt << 50);
        let kind = noise.below(5);
        let same = noise.number();
        let word = |noise: &mut Noise, i: u32| match kind {
            0 => same,
            1 => i,
            2 => noise.below(64) as u32,
            3 => noise.below(1 << 32) as u32,
            _ => noise.number(),
        };
        (0..WORDS).flat_map(|i| word(&mut noise, i).to_le_bytes()).collect()
    };
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [256, 1, 1],
        group3: [128, 1, 1],
        args: [words(1), words(2)].map(buffer).to_vec(),
        ready_machine: Some(Box::new(machine(case))),
        ..JobSpec::default()
    };
    Job::from_source("contents.s", &text, &spec).map_err(|e| format!("{:?}", miette::Report::new(e)))
}

fn buffer(bytes: Vec<u8>) -> ArgSpec {
    let shape = vec![bytes.len() as u64 / 4];
    ArgSpec::Ready(Argument::Buffer(Array { element: Element::U32, shape, bytes }))
}

/// Machines that feel where accesses go: small caches, narrow memory, few and many cores, every policy and front end.
fn machine(case: u64) -> Machine {
    let mut noise = Noise::new(case ^ 0x77);
    let mut m = wb_hw::preset("gcn3").expect("a preset");
    m.limits.memory = 4 << 20;
    m.limits.cycles = 2_000_000;
    m.cores = 1 + noise.below(2) as u32;
    m.core.partitions = noise.pick(&[1, 2, 4]);
    m.issue.policy = policy(&Policy::ISSUE, case, &mut noise);
    m.dram.bandwidth = noise.pick(&[0, 8, 64]);
    for cache in &mut m.caches {
        if noise.one_in(2) {
            cache.size = cache.line * cache.ways.max(1) * 2;
        }
    }
    m
}
