//! The synthetic benchmark (THESIS 6.3.1, PWS section 7): a tree of if/else on the lane number, so that the paths
//! through the kernel do not depend on data, with a chosen share of divergent and of memory instructions. The
//! result of every work-item is known from plain Rust ([`Synthetic::expected`]).

mod emit;
mod reference;
mod work;

use miette::{Report, miette};
use std::fmt::Write;
use wb_jobs::{Job, JobSpec};
use wb_sim::Outcome;
use work::WORDS;

/// Lanes of a wave: what the tree divides.
pub const LANES: u32 = 64;

/// Which branches of the tree may split the wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    #[default]
    None,
    /// The first ones in program order, which is the outer branch before those inside it.
    First(u32),
    /// All branches of the outer layers.
    Layers(u32),
    All,
}

/// How a mark is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkWith {
    /// `split` before the branch, `merge` behind the region (PWS 4.1).
    #[default]
    Split,
    /// MODE bit 21 on during the branch (THESIS 4.5.1).
    Mode,
}

/// One benchmark of the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// Layers of nested if/else, 0 to 6: 2^layers paths.
    pub layers: u32,
    /// Work instructions of a work-item and trip that stand in the leaves of the tree, in percent; the others stand
    /// before the tree, where all lanes run them.
    pub divergent: u32,
    /// Work instructions that access memory, in percent of each part.
    pub memory: u32,
    /// Work instructions of a work-item per trip.
    pub leaf: u32,
    /// Times the whole is repeated.
    pub trips: u32,
    /// Work-items of the launch and of a group.
    pub items: u32,
    pub group: u32,
    pub marks: Marks,
    pub mark_with: MarkWith,
}

impl Default for Synthetic {
    fn default() -> Self {
        Synthetic {
            layers: 3,
            divergent: 100,
            memory: 0,
            leaf: 64,
            trips: 4,
            items: 4096,
            group: 64,
            marks: Marks::None,
            mark_with: MarkWith::Split,
        }
    }
}

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

    /// Work instructions before the tree and in each leaf.
    fn parts(&self) -> (u32, u32) {
        let inside = self.leaf * self.divergent / 100;
        (self.leaf - inside, inside)
    }

    /// Whether branch number `place` in program order, in `layer`, is marked.
    fn is_marked(&self, place: u32, layer: u32) -> bool {
        match self.marks {
            Marks::None => false,
            Marks::First(n) => place < n,
            Marks::Layers(n) => layer < n,
            Marks::All => true,
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
