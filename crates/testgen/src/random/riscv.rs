//! Random kernels on lane-pc machines: the scalar interpreter, the untimed and the timed run agree under every mechanism, with contexts
//! for all lanes or for a few, on machines of all sizes.

use super::ast::Ast;
use super::interpret::{Word, interpret, table};
use super::setup::mix;
use super::vortex::emit::{self, Shape};
use super::{Failure, SLOT};
use std::fmt::{self, Display, Formatter};
use wb_hw::{FirstSide, InstructionSet, Mechanism, Policy, Reconverge, SplitUnits};
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_sim::{Outcome, RunOptions};
use wb_trace::HashObserver;

const WORD: Word = Word { bytes: 4, arithmetic: false };

/// Mechanisms that run such kernels.
pub fn mechanisms() -> Vec<Mechanism> {
    Mechanism::of(InstructionSet::Riscv).collect()
}

/// One machine.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub mechanism: Mechanism,
    variety: u64,
}

/// What a case that passed did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    pub wave_instructions: u64,
    pub cycles: u64,
    pub depth: usize,
}

impl Setup {
    /// Setup number `n`: mechanisms take turns.
    pub fn number(n: u64) -> Setup {
        let all = mechanisms();
        Setup { mechanism: all[(n % all.len() as u64) as usize], variety: mix(n / all.len() as u64) }
    }

    fn vary(&self, what: u64, n: u64) -> u64 {
        mix(self.variety ^ what << 32) % n
    }

    fn lanes(&self) -> u32 {
        [1, 2, 3, 4, 8, 16, 32][self.vary(2, 7) as usize]
    }

    fn waves(&self) -> u32 {
        [1, 2, 4, 8][self.vary(1, 4) as usize]
    }

    /// Waves of a group.
    fn team(&self) -> u32 {
        1 + self.vary(3, u64::from(self.waves())) as u32
    }

    fn groups(&self) -> u32 {
        1 + self.vary(4, 3) as u32
    }

    fn threads(&self) -> u32 {
        self.groups() * self.team() * self.lanes()
    }

    /// Kernels in which lanes return have no barrier.
    pub fn returns(&self) -> bool {
        self.vary(5, 2) == 0
    }

    fn job(&self, source: &str) -> Result<Job, String> {
        let set = |field: &str, value: u32| format!("{field}={value}");
        let sets = vec![
            set("core.lanes", self.lanes()),
            set("core.waves", self.waves()),
            set("cores", 1 + self.vary(6, 2) as u32),
            set("limits.memory", 1 << 20),
            set("limits.cycles", 4_000_000),
            format!("divergence.mechanism={}", self.mechanism),
        ];
        let group = self.team() * self.lanes();
        let spec = JobSpec {
            isa: Some(InstructionSet::Riscv),
            sets,
            grid3: [self.groups() * group, 1, 1],
            group3: [group, 1, 1],
            ..JobSpec::default()
        };
        let mut job = Job::from_source("random.rv", source, &spec)
            .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
        let m = &mut job.machine;
        m.split.contexts = [31, 31, 3, 1][self.vary(7, 4) as usize];
        m.split.units = [SplitUnits::Extra, SplitUnits::Shared][self.vary(8, 2) as usize];
        m.divergence.first = [FirstSide::Taken, FirstSide::NotTaken, FirstSide::Larger, FirstSide::Smaller]
            [self.vary(9, 4) as usize];
        m.divergence.threshold = [50, 2, 200][self.vary(10, 3) as usize];
        m.divergence.quantum = [64, 1, 7][self.vary(11, 3) as usize];
        m.divergence.rows = [8, 2, 3][self.vary(19, 3) as usize];
        m.divergence.fetch_group = [8, 2][self.vary(20, 2) as usize];
        m.divergence.slice = [4, 2, 1, 3][self.vary(21, 4) as usize];
        if self.vary(12, 2) == 0 {
            m.divergence.reconverge =
                [Reconverge::Never, Reconverge::RegionEnd, Reconverge::Anywhere][self.vary(13, 3) as usize];
        }
        let policies: Vec<Policy> =
            Policy::ISSUE.into_iter().filter(|p| *p != Policy::OwnerDispatch).collect();
        m.issue.policy = policies[self.vary(14, policies.len() as u64) as usize];
        m.dram.latency = 1 + self.vary(15, 60) as u32;
        let parts: Vec<u32> = [1, 2, 4].into_iter().filter(|p| self.waves().is_multiple_of(*p)).collect();
        m.core.partitions = parts[self.vary(16, parts.len() as u64) as usize];
        m.frontend.branch_penalty = [0, 0, 3][self.vary(17, 3) as usize];
        Ok(job)
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (waves, lanes, team, groups) = (self.waves(), self.lanes(), self.team(), self.groups());
        write!(f, "{self:?}: {waves} waves, {lanes} lanes, {groups} groups of {team} waves")
    }
}

/// Runs a program every way there is; an error describes the first difference.
pub fn check(ast: &Ast, setup: &Setup) -> Result<Checked, Failure> {
    let shape = Shape {
        split: false,
        kernel: true,
        barrier: !setup.returns(),
        again: false,
        threads: setup.threads(),
    };
    let source = emit::source(ast, &shape);
    check_source(ast, setup, &source).map_err(|what| Failure { what, source })
}

fn check_source(ast: &Ast, setup: &Setup, source: &str) -> Result<Checked, String> {
    let job = setup.job(source)?;
    let input = table(WORD);
    let wanted: Vec<u32> = (0..setup.threads())
        .flat_map(|thread| interpret(ast, WORD, &input, thread.into()))
        .map(|w| w as u32)
        .collect();
    let untimed = run(&job, RunOptions { timed: false, ..RunOptions::default() })?;
    compare("untimed", &job, &wanted, &untimed)?;
    let timed = run(&job, RunOptions::default())?;
    compare("timed", &job, &wanted, &timed)?;
    // As users run it: the usual instructions take short ways.
    let plain = job.run(RunOptions { threads: 1, ..RunOptions::default() }, None);
    let plain = plain.map_err(|e| format!("the unchecked run fails: {:?}", miette::Report::new(e)))?;
    compare("timed, unchecked", &job, &wanted, &plain)?;
    let counts = |o: &Outcome| (o.cycles, o.wave_instructions, o.lane_instructions);
    if counts(&plain) != counts(&timed) {
        let (a, b) = (counts(&timed), counts(&plain));
        return Err(format!("cycles, instructions, lanes {a:?} checked, {b:?} unchecked"));
    }
    if setup.vary(18, 4) == 0 {
        every_cycle(&job, timed.cycles)?;
    }
    Ok(Checked {
        wave_instructions: timed.wave_instructions,
        cycles: timed.cycles,
        depth: timed.max_stack_depth,
    })
}

fn run(job: &Job, options: RunOptions) -> Result<Outcome, String> {
    let which = if options.timed { "timed" } else { "untimed" };
    job.run(RunOptions { check: true, ..options }, None)
        .map_err(|e| format!("the {which} run fails: {:?}", miette::Report::new(e)))
}

/// Cycles that are skipped change nothing: the events are those of a run that looks at every cycle, and so are the cycles if nobody
/// observes, when more of them are skipped.
fn every_cycle(job: &Job, unobserved: u64) -> Result<(), String> {
    let events = |every_cycle: bool| -> Result<(u64, u64), String> {
        let mut hash = HashObserver::new();
        let options = RunOptions { check: true, every_cycle, ..RunOptions::default() };
        let ran = job
            .run(options, Some(&mut hash))
            .map_err(|e| format!("every cycle: {:?}", miette::Report::new(e)))?;
        Ok((ran.cycles, hash.hash()))
    };
    let (skipping, every) = (events(false)?, events(true)?);
    if skipping != every {
        return Err(format!("cycles and events {skipping:x?}, but {every:x?} if every cycle is looked at"));
    }
    if unobserved != every.0 {
        return Err(format!("{unobserved} cycles unobserved, {} observed", every.0));
    }
    Ok(())
}

fn compare(which: &str, job: &Job, wanted: &[u32], outcome: &Outcome) -> Result<(), String> {
    let AnyProgram::Riscv(program) = &job.program else { return Err("not a kernel for RISC-V".into()) };
    let out = program.symbols.iter().find(|s| s.0 == "out").ok_or("no label `out`")?.1;
    let bytes = outcome.memory.read(out, 4 * wanted.len() as u64).map_err(|e| e.to_string())?;
    let found = bytes.as_chunks::<4>().0.iter().map(|&c| u32::from_le_bytes(c));
    match wanted.iter().zip(found).enumerate().find(|(_, (w, f))| **w != *f) {
        None => Ok(()),
        Some((at, (w, f))) => {
            Err(format!("{which}: word {} of thread {} is {f:#x}, expected {w:#x}", at % SLOT, at / SLOT))
        }
    }
}
