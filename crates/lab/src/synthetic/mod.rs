//! The synthetic benchmark (THESIS 6.3.1, PWS section 7): a tree of if/else on the lane number, so that the paths
//! through the kernel do not depend on data, with a chosen share of divergent and of memory instructions. The
//! result of every work-item is known from plain Rust ([`Synthetic::expected`]).

mod emit;
mod family;
mod reference;
mod work;

pub use family::{LANES, MarkWith, Marks, Synthetic};

use miette::{Report, miette};
use std::fmt::Write;
use wb_jobs::{Job, JobSpec};
use wb_sim::Outcome;
use work::WORDS;

impl Synthetic {
    /// Says what is out of range, and the range.
    pub fn check(&self) -> Result<(), Report> {
        let limits = [
            ("layers", self.layers, 0, 6),
            ("divergent", self.divergent, 0, 100),
            ("memory", self.memory, 0, 100),
            // The farthest branch has to reach over all leaves.
            ("leaf", self.leaf, 1, 2048 >> self.layers.min(6).saturating_sub(2)),
            ("trips", self.trips, 1, 32_767),
            ("items", self.items, 1, 1 << 22),
            ("group", self.group, 1, 1024),
        ];
        match limits.into_iter().find(|(_, value, least, most)| value < least || value > most) {
            None => Ok(()),
            Some((name, value, least, most)) => Err(miette!(
                help = format!("{name} goes from {least} to {most}"),
                "synthetic: {name} = {value}"
            )),
        }
    }

    /// Assembly, with the command that runs it in its head.
    pub fn source(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "; Synthetic benchmark (THESIS 6.3.1, PWS section 7): {} layers, {} % divergent, {} % memory,\n\
             ; {} work instructions, {} trips, marks: {:?} ({:?}).\n\
             ; wavebound run FILE --grid {} --group {} --arg buf:u32:{}:iota --arg u32:{}",
            self.layers,
            self.divergent,
            self.memory,
            self.leaf,
            self.trips,
            self.marks,
            self.mark_with,
            self.items,
            self.group,
            self.items as usize * 2 * WORDS,
            self.items,
        );
        emit::kernel(self, &mut text);
        text
    }

    /// A run of it; `spec` says on which machine.
    pub fn job(&self, spec: &JobSpec) -> Result<Job, Report> {
        self.check()?;
        let spec = JobSpec {
            isa: Some(wb_hw::InstructionSet::Gcn3),
            kernel: String::new(),
            grid3: [self.items, 1, 1],
            group3: [self.group, 1, 1],
            args: vec![
                format!("buf:u32:{}:iota", self.items as usize * 2 * WORDS).into(),
                format!("u32:{}", self.items).into(),
            ],
            ..spec.clone()
        };
        Ok(Job::from_source("synthetic.s", &self.source(), &spec)?)
    }

    /// Compares what a run left in memory with the reference.
    pub fn verify(&self, job: &Job, outcome: &Outcome) -> Result<(), Report> {
        let buffer = job.find_buffer("mem")?;
        let found = job.values(&buffer, outcome)?;
        let wanted = self.expected();
        let differs = |(_, (f, w)): &(usize, (&String, &u32))| **f != w.to_string();
        match found.iter().zip(&wanted).enumerate().find(differs) {
            None if found.len() == wanted.len() => Ok(()),
            None => Err(miette!("synthetic: {} words in memory, expected {}", found.len(), wanted.len())),
            Some((at, (found, wanted))) => Err(miette!(
                help = "a bug: please keep the assembly (-o) and the machine",
                "synthetic: word {} of work-item {} is {found}, expected {wanted}",
                at / self.items as usize,
                at % self.items as usize
            )),
        }
    }
}
