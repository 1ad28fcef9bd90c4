//! The terms of a wave where runs say what loads find and how many lines they touch: own time and demand as in a proof, from the
//! machine's latencies and the flow of the kernel, but with measured facts about accesses (docs/wcet.md, "Own time and waits").
//! What first touches of lines cost is not in them: a run has it in its measured part.

use crate::access::{Access, Local};
use crate::caches::Caches;
use crate::charges::Charges;
use crate::compose::WaveTerms;
use crate::demand::{Behind, Demand, Relation};
use crate::flow::{Flow, Weights};
use crate::geometry::Geometry;
use crate::hardware::Hardware;
use crate::own::own_times;
use crate::pipeline::Pipeline;
use crate::prove::{Attempt, Proofs, Question, time_weights};
use crate::refusal::Refusal;
use crate::splits::Splits;
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::Port;
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// What runs showed of an instruction that uses memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub executions: u64,
    /// Executions that went to local memory, and that wrote.
    pub local: u64,
    pub wrote: u64,
    /// Executions that missed the first cache with a line, at least.
    pub missed: u64,
    /// Lines, and cycles the unit was held, of all executions together.
    pub lines: u64,
    pub busy: u64,
}

/// What runs showed of one launch.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Memory instructions.
    pub seen: BTreeMap<Pc, Seen>,
    /// Own times of steps from block to block: their sum and how often the step was taken.
    pub own: BTreeMap<(usize, Option<usize>), (u64, u64)>,
}

/// The heaviest ways of a kernel, and what each step of a way weighs.
#[derive(Clone, Debug)]
pub struct MeasuredTerms {
    pub wave: WaveTerms,
    pub geometry: Geometry,
    pub scale: u64,
    pub lead_in: u64,
    pub proofs: Proofs,
    /// Own time, and what waves of the same partition, core and machine wait for.
    pub weights: [Weights; 4],
}

/// The terms of a launch. Steps that were taken cost what they took alone on average; the others what the machine's latencies give. What the
/// question says about accesses is not looked at.
pub fn measured_terms<I: Isa>(
    question: &Question<I>,
    measured: &Measurements,
) -> Result<MeasuredTerms, Refusal> {
    let (program, seen) = (question.program, &measured.seen);
    if question.machine.splits() {
        return Err(Refusal::Machine {
            what: "what paths of a wave take alone is not measured".into(),
            help: "segments are measured with their splits",
        });
    }
    let splits = Splits::default();
    let hardware = Hardware::new(question.machine, program.isa.classes())?;
    let flow = Flow::new(program, question.limits, question.never)?;
    let geometry = Geometry::new(question.machine, question.needs, question.groups)?;
    let accesses = accesses(program, &hardware, &flow, measured);
    let mut caches = Caches::new(program, &hardware, &accesses, question.memory);
    caches.kept.iter_mut().for_each(|k| *k = true);
    let charges = charges(question, &hardware, &accesses, &caches, seen)?;
    let pipeline = Pipeline { program, hardware: &hardware, charges: &charges, splits: &splits };
    let mut times = own_times(&pipeline, &flow.blocks, flow.entry)?;
    let memory = question.memory;
    let mut demand =
        Demand::new(program, &hardware, &flow, &accesses, &caches, &charges, memory, Behind::Lines, &splits)?;
    // What its own requests ask of ports is part of a measured own time.
    let itself = demand.total(Relation::Itself)?;
    demand.by.remove(&Relation::Itself);
    for (step, time) in &mut times {
        let asked = itself.blocks.get(&step.0).copied().unwrap_or(0);
        let asked = asked.saturating_add(itself.edges.get(step).copied().unwrap_or(0));
        *time = match measured.own.get(step) {
            Some(&(sum, count)) if count > 0 => sum.div_ceil(count),
            _ => time.saturating_add(asked.div_ceil(demand.scale)),
        };
    }
    let attempt = Attempt {
        question,
        hardware: &hardware,
        flow: &flow,
        geometry,
        caches: &caches,
        splits: &splits,
        missing: BTreeSet::new(),
        spills: false,
    };
    let mut proofs = Proofs::new();
    let wave = attempt.wave(&pipeline, &times, &demand, &mut proofs)?;
    let weights = [
        time_weights(&times, demand.scale)?,
        demand.total(Relation::Partition)?,
        demand.total(Relation::Core)?,
        demand.total(Relation::Machine)?,
    ];
    Ok(MeasuredTerms { wave, geometry, scale: demand.scale, lead_in: pipeline.lead_in(), proofs, weights })
}

/// What memory instructions touch: those that runs executed the mean of what they did, the others every lane a line or a bank of its own.
fn accesses<I: Isa>(
    program: &Program<I>,
    hardware: &Hardware,
    flow: &Flow,
    measured: &Measurements,
) -> BTreeMap<Pc, Access> {
    let lanes = u64::from(hardware.machine.core.lanes);
    let mut found = BTreeMap::new();
    for &b in &flow.blocks {
        let executed = measured.own.iter().any(|(step, own)| step.0 == b && own.1 > 0);
        for pc in program.cfg.pcs(b, &program.flow) {
            let class = &hardware.classes[usize::from(program.ops[pc as usize].class)];
            let local = match class.port {
                Port::None => continue,
                // Permutations of lanes use no memory.
                Port::Lds if executed && !measured.seen.contains_key(&pc) => continue,
                Port::Lds => Local::Always,
                Port::Data | Port::Sampler | Port::Scalar => Local::Never,
            };
            let worst = Access { lines: lanes, passes: lanes, local, loads: true, stores: true, range: None };
            let seen = measured.seen.get(&pc).filter(|s| s.executions > 0);
            found.insert(pc, seen.map_or(worst, |s| touched(s, hardware.units[class.unit].hold)));
        }
    }
    found
}

/// An access as the mean of what runs showed, rounded up.
fn touched(seen: &Seen, hold: u64) -> Access {
    let mean = |sum: u64| sum.div_ceil(seen.executions.max(1));
    Access {
        lines: mean(seen.lines),
        passes: (mean(seen.busy) + 1).saturating_sub(hold).max(1),
        local: match seen.local {
            0 => Local::Never,
            n if n == seen.executions => Local::Always,
            _ => Local::Maybe,
        },
        loads: seen.wrote < seen.executions,
        stores: seen.wrote > 0,
        range: None,
    }
}

/// Latencies: of loads between hit and miss, by how often runs missed the first cache; of loads that no run executed a miss.
fn charges<I: Isa>(
    question: &Question<I>,
    hardware: &Hardware,
    accesses: &BTreeMap<Pc, Access>,
    caches: &Caches,
    seen: &BTreeMap<Pc, Seen>,
) -> Result<Charges, Refusal> {
    let with = |misses: bool| {
        Charges::new(question.program, hardware, accesses, caches, question.memory, &|_| misses)
    };
    let (mut charges, slow) = (with(false)?, with(true)?);
    for pc in accesses.keys() {
        let Some(done) = charges.done.get_mut(*pc as usize) else { continue };
        let late = slow.done[*pc as usize].saturating_sub(*done);
        let over = || Refusal::Overflow { what: "the latency of loads" };
        *done += match seen.get(pc).filter(|s| s.executions > 0) {
            Some(s) => late.checked_mul(s.missed).ok_or_else(over)?.div_ceil(s.executions),
            None => late,
        };
    }
    Ok(charges)
}
