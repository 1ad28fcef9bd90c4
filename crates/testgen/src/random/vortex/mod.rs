//! Random programs on Vortex machines: the scalar interpreter, the untimed and the timed run agree under every mechanism,
//! front end and policy; the coordinated scheduler makes no errors, and with fixed-latency memory its schedule is predicted.

pub(super) mod emit;

use super::ast::Ast;
use super::interpret::{Word, interpret, table};
use super::setup::{FRONT_ENDS, mix};
use super::{Failure, SLOT};
use emit::Shape;
use std::fmt::{self, Display, Formatter};
use wb_hw::{AfterMiss, FrontEndKind, InstructionSet, Mechanism, Policy, Scope, Unresolved};
use wb_isa::NO_PC;
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_schedule::predict;
use wb_sim::{Outcome, RunOptions};
use wb_trace::HashObserver;

const WORD: Word = Word { bytes: 4, arithmetic: false };

/// Mechanism, and whether the program has split, join and pred.
pub const WAYS: [(Mechanism, bool); 4] = [
    (Mechanism::VortexV2, true),
    (Mechanism::Vortex, true),
    (Mechanism::SimtStack, true),
    (Mechanism::SimtStack, false),
];

/// One machine.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub mechanism: Mechanism,
    pub split: bool,
    pub frontend: FrontEndKind,
    pub policy: Policy,
    /// Fixed-latency memory and one issue port: the schedule is predicted, too.
    pub predict: bool,
    variety: u64,
}

/// What a case that passed did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    pub wave_instructions: u64,
    pub nops: u64,
    pub fetch_misses: u64,
    pub discrepancies: u64,
    pub depth: usize,
}

impl Setup {
    /// Combinations of mechanism, front end and policy.
    pub const COUNT: u64 = (WAYS.len() * FRONT_ENDS.len() * Policy::ISSUE.len()) as u64;

    /// Setup number `n`; numbers that differ by [`Setup::COUNT`] have the same mechanism, front end and policy.
    pub fn number(n: u64) -> Setup {
        let (way, rest) = (n % WAYS.len() as u64, n / WAYS.len() as u64);
        let (front, rest) = (rest % FRONT_ENDS.len() as u64, rest / FRONT_ENDS.len() as u64);
        let (mechanism, split) = WAYS[way as usize];
        Setup {
            mechanism,
            split,
            frontend: FRONT_ENDS[front as usize],
            policy: Policy::ISSUE[(rest % Policy::ISSUE.len() as u64) as usize],
            predict: false,
            variety: mix(n),
        }
    }

    /// A coordinated machine whose schedule can be predicted.
    pub fn predictable(n: u64) -> Setup {
        let policies: Vec<Policy> =
            Policy::ISSUE.into_iter().filter(|p| *p != Policy::OwnerDispatch).collect();
        let policy = policies[(n / WAYS.len() as u64) as usize % policies.len()];
        Setup { frontend: FrontEndKind::Coordinated, policy, predict: true, ..Setup::number(n) }
    }

    fn vary(&self, what: u64, n: u64) -> u64 {
        mix(self.variety ^ what << 32) % n
    }

    fn waves(&self) -> u32 {
        [1, 2, 4, 8, 12][self.vary(1, 5) as usize]
    }

    fn lanes(&self) -> u32 {
        [1, 2, 3, 4, 8, 16, 32][self.vary(2, 7) as usize]
    }

    fn cores(&self) -> u32 {
        1 + self.vary(3, 2) as u32
    }

    fn threads(&self) -> u32 {
        self.cores() * self.waves() * self.lanes()
    }

    fn shape(&self) -> Shape {
        let (barrier, again) = (self.vary(4, 3) == 0, self.vary(5, 3) == 0);
        Shape { split: self.split, kernel: false, barrier, again, threads: self.threads() }
    }

    fn job(&self, source: &str) -> Result<Job, String> {
        let set = |field: &str, value: u32| format!("{field}={value}");
        let sets = vec![
            set("core.lanes", self.lanes()),
            set("core.waves", self.waves()),
            set("cores", self.cores()),
            set("limits.memory", 1 << 17),
            set("limits.cycles", 4_000_000),
            format!("divergence.mechanism={}", self.mechanism),
        ];
        let machine = if self.predict { "vortex-swas-fixed" } else { "vortex-swas" };
        let spec = JobSpec {
            isa: Some(InstructionSet::Vortex),
            machine: machine.into(),
            sets,
            ..JobSpec::default()
        };
        let mut job = Job::from_source("random.vx", source, &spec)
            .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
        let m = &mut job.machine;
        m.frontend.kind = self.frontend;
        m.frontend.policy = Policy::FETCH[self.vary(6, Policy::FETCH.len() as u64) as usize];
        m.frontend.fetch_latency = self.vary(7, 5) as u32;
        m.frontend.decode_latency = self.vary(8, 2) as u32;
        m.frontend.buffer = 1 + self.vary(9, 5) as u32;
        m.frontend.after_miss = if self.vary(10, 2) == 0 { AfterMiss::Wait } else { AfterMiss::GoOn };
        m.frontend.branch_penalty = [0, 0, 3][self.vary(11, 3) as usize];
        m.issue.policy = self.policy;
        m.dram.latency = 1 + self.vary(12, 60) as u32;
        let parts: Vec<u32> = [1, 2, 4].into_iter().filter(|p| self.waves().is_multiple_of(*p)).collect();
        m.core.partitions = parts[self.vary(13, parts.len() as u64) as usize];
        for (n, unit) in m.units.iter_mut().enumerate() {
            if self.vary(20 + n as u64, 3) == 0 {
                unit.scope = Scope::Partition;
            }
        }
        if self.predict {
            return Ok(job);
        }
        if self.vary(40, 2) == 0 {
            m.frontend.resolution = 1 + self.vary(41, 9) as u32;
            m.frontend.unresolved =
                [Unresolved::GoOn, Unresolved::Wait, Unresolved::Stall][self.vary(42, 3) as usize];
            m.frontend.requests = self.vary(43, 3) as u32;
        }
        m.issue.width = if self.policy == Policy::OwnerDispatch { 1 } else { 1 + self.vary(14, 2) as u32 };
        m.divergence.push_cycles = self.vary(15, 2) as u32;
        m.divergence.pop_cycles = self.vary(16, 2) as u32;
        m.dram.bandwidth = [0, 8, 64][self.vary(17, 3) as usize];
        for cache in m.caches.iter_mut().filter(|c| c.name == "icache") {
            // So small that waves take each other's lines away.
            cache.size = [256, 1024, 16_384][self.vary(18, 3) as usize];
            cache.latency = self.vary(19, 2) as u32;
        }
        Ok(job)
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (cores, waves, lanes) = (self.cores(), self.waves(), self.lanes());
        write!(f, "{self:?}: {cores} cores, {waves} waves, {lanes} lanes, {:?}", self.shape())
    }
}

/// Runs a program every way there is; an error describes the first difference.
pub fn check(ast: &Ast, setup: &Setup) -> Result<Checked, Failure> {
    let source = emit::source(ast, &setup.shape());
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
    let watched = RunOptions { watch: Some(NO_PC), ..RunOptions::default() };
    let timed = run(&job, watched)?;
    compare("timed", &job, &wanted, &timed)?;
    if (timed.wave_instructions, timed.lane_instructions)
        != (untimed.wave_instructions, untimed.lane_instructions)
    {
        let (a, b) = (untimed.wave_instructions, timed.wave_instructions);
        return Err(format!("instructions differ: untimed {a}, timed {b}"));
    }
    let fast = run(&job, RunOptions::default())?;
    if (fast.cycles, fast.nops) != (timed.cycles, timed.nops) {
        return Err(format!("{} cycles when idle ones are skipped, {} if not", fast.cycles, timed.cycles));
    }
    // As users run it: the usual instructions take short ways.
    let plain = job.run(RunOptions::default(), None);
    let plain = plain.map_err(|e| format!("the unchecked run fails: {:?}", miette::Report::new(e)))?;
    compare("timed, unchecked", &job, &wanted, &plain)?;
    let counts = |o: &Outcome| (o.cycles, o.nops, o.wave_instructions, o.lane_instructions);
    if counts(&plain) != counts(&timed) {
        let (a, b) = (counts(&timed), counts(&plain));
        return Err(format!("cycles, NOPs, instructions, lanes {a:?} checked, {b:?} unchecked"));
    }
    every_cycle(&job)?;
    let schedule = timed.schedule.unwrap_or_default();
    let coordinated = setup.frontend == FrontEndKind::Coordinated;
    if coordinated && schedule.errors.total() > 0 {
        return Err(format!("the coordinated scheduler makes errors: {:?}", schedule.errors));
    }
    if setup.frontend == FrontEndKind::Perfect && schedule.discrepancies.total() > 0 {
        return Err(format!("a perfect front end has discrepancies: {:?}", schedule.discrepancies));
    }
    if setup.predict {
        let p = predict(&job).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
        if !p.equal || !p.outside.is_empty() {
            return Err(format!("the schedule is not as predicted: {p:?}"));
        }
    }
    Ok(Checked {
        wave_instructions: timed.wave_instructions,
        nops: timed.nops,
        fetch_misses: schedule.misses,
        discrepancies: schedule.discrepancies.total(),
        depth: timed.max_stack_depth,
    })
}

fn run(job: &Job, options: RunOptions) -> Result<Outcome, String> {
    let which = if options.timed { "timed" } else { "untimed" };
    job.run(RunOptions { check: true, ..options }, None)
        .map_err(|e| format!("the {which} run fails: {:?}", miette::Report::new(e)))
}

/// Cycles that are skipped change nothing: the events are those of a run that looks at every cycle.
fn every_cycle(job: &Job) -> Result<(), String> {
    let events = |every_cycle: bool| -> Result<u64, String> {
        let mut hash = HashObserver::new();
        let options = RunOptions { check: true, every_cycle, ..RunOptions::default() };
        job.run(options, Some(&mut hash))
            .map_err(|e| format!("every cycle: {:?}", miette::Report::new(e)))?;
        Ok(hash.hash())
    };
    let (skipping, every) = (events(false)?, events(true)?);
    if skipping == every {
        return Ok(());
    }
    Err(format!("events {skipping:016x}, but {every:016x} if every cycle is looked at"))
}

fn compare(which: &str, job: &Job, wanted: &[u32], outcome: &Outcome) -> Result<(), String> {
    let AnyProgram::Vortex(program) = &job.program else { return Err("not a Vortex program".into()) };
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
