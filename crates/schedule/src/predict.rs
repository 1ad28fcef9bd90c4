//! `wavebound predict`: the schedule that waves' own sequences promise, beside the one the simulator finds. On the
//! coordinated machine with fixed-latency memory they are equal, cycle for cycle; elsewhere the first difference is told.

use super::plan::{Plan, Slot, plan};
use super::sequence::{Recorder, Sequence};
use crate::error::ScheduleError;
use serde::Serialize;
use wb_hw::{FrontEndKind, Machine, Policy, Scope, Unresolved};
use wb_isa::vortex::Vortex;
use wb_jobs::{AnyProgram, Job};
use wb_program::Program;
use wb_sim::RunOptions;
use wb_trace::{Event, Kind, Observer};

/// What a prediction was worth; the fields and their names are stable.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Prediction {
    /// Issue order and cycles are the same.
    pub equal: bool,
    /// Cycles until all is done.
    pub predicted_cycles: u64,
    pub simulated_cycles: u64,
    pub instructions: u64,
    pub nops: u64,
    pub waves: usize,
    /// Cycles in which something else issues than predicted, and the first of them.
    pub different_cycles: u64,
    pub first: Option<Difference>,
    /// Why the machine or the program is outside what can be predicted exactly; empty if it is not.
    pub outside: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Difference {
    pub cycle: u64,
    pub core: u16,
    /// Wave and instruction, or NOP, or nothing.
    pub predicted: String,
    pub simulated: String,
    /// What the predicted wave did instead, or the simulated one had to wait for.
    pub cause: String,
}

/// Predicts and simulates.
pub fn predict(job: &Job) -> Result<Prediction, ScheduleError> {
    let AnyProgram::Vortex(program) = &job.program else {
        return Err(ScheduleError::InstructionSet(job.isa()));
    };
    check(&job.machine)?;
    let mut outside = not_fixed(&job.machine);
    let waves = record(job, program, Policy::OldestFirst)?;
    let again = record(job, program, Policy::LooseRoundRobin)?;
    if let Some(text) = depends(program, &waves, &again) {
        outside.push(text);
    }
    let predicted = plan(&job.machine, &waves);
    let mut seen = Issues::default();
    let outcome = job.run(RunOptions::default(), Some(&mut seen))?;
    let (different_cycles, at) = compare(&predicted.issues, &seen.slots, ports(&job.machine));
    let first = at.map(|at| difference(job, program, &predicted, &seen.slots, at)).transpose()?;
    Ok(Prediction {
        equal: at.is_none() && predicted.makespan == outcome.cycles,
        predicted_cycles: predicted.makespan,
        simulated_cycles: outcome.cycles,
        instructions: outcome.wave_instructions,
        nops: outcome.nops,
        waves: waves.iter().map(Vec::len).sum(),
        different_cycles,
        first,
        outside,
    })
}

/// The predicted schedule alone.
pub fn planned(job: &Job) -> Result<Plan, ScheduleError> {
    let AnyProgram::Vortex(program) = &job.program else {
        return Err(ScheduleError::InstructionSet(job.isa()));
    };
    check(&job.machine)?;
    Ok(plan(&job.machine, &record(job, program, Policy::OldestFirst)?))
}

/// Machines whose schedulers are not modelled.
fn check(m: &Machine) -> Result<(), ScheduleError> {
    let refuse =
        |what: &str, help: &str| Err(ScheduleError::Machine { what: what.to_owned(), help: help.to_owned() });
    if m.issue.width != 1 {
        return refuse("several instructions per scheduler and cycle", "--set issue.width=1");
    }
    if matches!(m.issue.policy, Policy::OwnerDispatch) {
        return refuse("owner-dispatch", "--policy lrr, gtlrr, gtlo, rr or any other (machines policies)");
    }
    let f = &m.frontend;
    if f.kind != FrontEndKind::Perfect
        && (f.resolution > 0 || f.unresolved == Unresolved::Stall || f.requests > 0)
    {
        return refuse(
            "jumps that are known late, and fetch that stops for them",
            "--set frontend.resolution=0, unresolved=go-on, requests=0",
        );
    }
    if m.divergence.push_cycles + m.divergence.pop_cycles > 0 {
        return refuse("cycles for stack entries", "--set divergence.push_cycles=0, pop_cycles=0");
    }
    if m.units.iter().any(|u| u.depth > 0 || u.scope == Scope::Split) {
        return refuse("in-order pipelines with a depth", "units with depth = 0");
    }
    Ok(())
}

/// What makes an access take longer among others than alone.
fn not_fixed(m: &Machine) -> Vec<String> {
    let mut out = Vec::new();
    if m.memory.data != "dram" {
        out.push(format!("data goes through cache `{}`: hits depend on the other waves", m.memory.data));
    }
    if m.dram.bandwidth > 0 || m.dram.banks > 0 {
        out.push("DRAM is shared: dram.bandwidth or dram.banks is not 0".to_owned());
    }
    if m.memory.instruction != "none" && m.frontend.kind != FrontEndKind::Perfect {
        out.push(format!("instructions can miss cache `{}`", m.memory.instruction));
    }
    if m.frontend.kind == FrontEndKind::Decoupled {
        out.push(
            "fetch and issue are not coordinated: a queue may be empty when its wave is chosen".to_owned(),
        );
    }
    out
}

/// The course of each wave, under a front end that is never in the way and a policy of its own.
fn record(job: &Job, program: &Program<Vortex>, policy: Policy) -> Result<Vec<Vec<Sequence>>, ScheduleError> {
    let mut machine = job.machine.clone();
    machine.frontend.kind = FrontEndKind::Perfect;
    machine.issue.policy = policy;
    let mut recorder = Recorder::new(program, &machine);
    job.run_on(&machine, RunOptions::default(), Some(&mut recorder))?;
    Ok(recorder.cores)
}

/// Where a wave's course is another one when the others run at other times.
fn depends(program: &Program<Vortex>, a: &[Vec<Sequence>], b: &[Vec<Sequence>]) -> Option<String> {
    let (a, b): (Vec<&Sequence>, Vec<&Sequence>) =
        (a.iter().flatten().collect(), b.iter().flatten().collect());
    if a.len() != b.len() {
        return Some(format!("{} waves or {}, depending on who runs first", a.len(), b.len()));
    }
    let (x, y) = a.into_iter().zip(b).find(|(x, y)| x != y)?;
    let at = x.steps.iter().zip(&y.steps).position(|(s, t)| s != t);
    let at = at.unwrap_or(x.steps.len().min(y.steps.len()));
    let place = x.steps.get(at).or(y.steps.get(at)).map_or(String::new(), |s| program.place(s.pc));
    Some(format!("wave {} depends on when the others run, from its instruction {at}: {place}", x.slot))
}

/// What issued when.
#[derive(Default)]
struct Issues {
    slots: Vec<Slot>,
}

impl Observer for Issues {
    fn events(&mut self, batch: &[Event]) {
        for e in batch {
            let pc = match e.kind {
                Kind::Issue { .. } => Some(e.pc),
                Kind::Nop => None,
                _ => continue,
            };
            self.slots.push(Slot { cycle: e.cycle, core: e.core, wave: e.slot, pc });
        }
    }
}

fn ports(machine: &Machine) -> u16 {
    machine.core.partitions.max(1) as u16
}

/// Cycle, core and scheduler.
type Place = (u64, u16, u16);

fn place(slot: &Slot, ports: u16) -> Place {
    (slot.cycle, slot.core, slot.wave % ports)
}

/// Cycles (of a scheduler) that differ, and the places in both lists of the first of them.
fn compare(predicted: &[Slot], simulated: &[Slot], ports: u16) -> (u64, Option<(usize, usize)>) {
    let (mut i, mut j, mut count, mut first) = (0, 0, 0, None);
    while i < predicted.len() || j < simulated.len() {
        let at = (i, j);
        let same = match (predicted.get(i), simulated.get(j)) {
            (Some(p), Some(s)) => {
                let (p_at, s_at) = (place(p, ports), place(s, ports));
                i += usize::from(p_at <= s_at);
                j += usize::from(s_at <= p_at);
                p == s
            }
            (p, s) => {
                i += usize::from(p.is_some());
                j += usize::from(s.is_some());
                false
            }
        };
        if !same {
            count += 1;
            first = first.or(Some(at));
        }
    }
    (count, first)
}

fn difference(
    job: &Job,
    program: &Program<Vortex>,
    predicted: &Plan,
    simulated: &[Slot],
    (i, j): (usize, usize),
) -> Result<Difference, ScheduleError> {
    let (p, s) = (predicted.issues.get(i), simulated.get(j));
    let at = |x: &Slot| place(x, ports(&job.machine));
    let first = [p, s].into_iter().flatten().map(at).min().unwrap_or_default();
    let p = p.filter(|x| at(x) == first);
    let s = s.filter(|x| at(x) == first);
    let at = first;
    let text = |x: Option<&Slot>| match x {
        None => "nothing".to_owned(),
        Some(Slot { wave, pc: None, .. }) => format!("wave {wave}: NOP"),
        Some(Slot { wave, pc: Some(pc), .. }) => format!("wave {wave}: {}", program.place(*pc)),
    };
    let cause = match p {
        Some(p) => {
            let mut why = Why { cycle: at.0, core: at.1, wave: p.wave, reason: None };
            job.run(RunOptions::default(), Some(&mut why))?;
            match why.reason {
                Some("fetch") => format!("wave {} has no instruction in its queue", p.wave),
                Some(reason) => format!("wave {} waits: {reason}", p.wave),
                None => format!("wave {} is not there", p.wave),
            }
        }
        None => "nobody was expected to be ready".to_owned(),
    };
    Ok(Difference { cycle: at.0, core: at.1, predicted: text(p), simulated: text(s), cause })
}

/// Why a wave does not issue in a cycle.
struct Why {
    cycle: u64,
    core: u16,
    wave: u16,
    reason: Option<&'static str>,
}

impl Observer for Why {
    fn events(&mut self, batch: &[Event]) {
        for e in batch.iter().filter(|e| (e.core, e.slot) == (self.core, self.wave)) {
            if let Kind::Stall { cycles, reason } = e.kind
                && (e.cycle..e.cycle + u64::from(cycles)).contains(&self.cycle)
            {
                self.reason = Some(reason.name());
            }
        }
    }
}
