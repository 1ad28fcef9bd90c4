//! Exact bounds: launches whose time no contents of buffers can change (docs/exact.md).
//!
//! Each launch runs once. If the labelling of its kernel shows that nothing which decides time depends on contents, and the
//! checker agrees, the cycles of that run are those of every run.

mod certificate;
mod verify;
mod witness;

pub use certificate::{ExactCertificate, assumptions, is_exact_certificate};
pub use verify::verify_exact;

use crate::error::{BoundError, refused};
use crate::launched::{Launched, PlacedBuffer};
use crate::options::{Options, Progress};
use crate::result::{CodePlace, ExactRow, UseRow};
use crate::runs::Runs;
use crate::shape::Shape;
use std::collections::BTreeMap;
use wb_facts::taint::{self, Labelling, TaintedUse, Witness};
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_jobs::{AnyProgram, Job, ProgramRef, last_part};
use wb_program::Program;
use wb_sim::RunOptions;
use witness::Watcher;

/// One launch of a kernel: what a run of it took and showed.
#[derive(Clone, Debug)]
pub struct ExactLaunch {
    pub shape: Shape,
    /// Which launches have this shape.
    pub numbers: Vec<usize>,
    pub cycles: u64,
    pub fixed: Vec<PlacedBuffer>,
    pub labelling: Labelling,
}

/// A kernel with its launches.
#[derive(Clone, Debug)]
pub struct ExactKernel {
    pub kernel: String,
    pub file: String,
    pub checksum: String,
    pub machine: wb_hw::Machine,
    pub row: ExactRow,
    /// By shape; only if the row holds, every one of them.
    pub launches: Vec<ExactLaunch>,
    /// Cycles of each launch by its number, the longest run.
    pub cycles: BTreeMap<usize, (Shape, u64)>,
}

/// Examines every launch of the runs. A launch that occurs several times must take the same time if it is exact.
pub fn examine(runs: &Runs, options: &Options, progress: Progress) -> Result<Vec<ExactKernel>, BoundError> {
    examine_with(runs, options, progress, &mut |_| {})
}

/// The same; `also` sees every launch before it runs.
pub(crate) fn examine_with(
    runs: &Runs,
    options: &Options,
    progress: Progress,
    also: &mut dyn FnMut(&Launched),
) -> Result<Vec<ExactKernel>, BoundError> {
    let mut kernels: Vec<ExactKernel> = Vec::new();
    let mut count = 0;
    runs.each_hashed(!options.fixed.is_empty(), &mut |launched, go| {
        progress("looking for what contents decide", count);
        also(launched);
        count += 1;
        let at = match kernels.iter().position(|k| k.kernel == launched.kernel) {
            Some(at) => at,
            None => {
                kernels.push(new_kernel(launched));
                kernels.len() - 1
            }
        };
        let kernel = &mut kernels[at];
        let shape = Shape::of(launched);
        let program = match (launched.program, not_covered(launched)) {
            (ProgramRef::Gcn3(program), None) => program,
            (_, why) => {
                kernel.row.why_not = why;
                let cycles = go(RunOptions::default(), None)?.cycles;
                note(kernel, launched.number, shape, cycles);
                return Ok(());
            }
        };
        let fixed = witness::fixed(&options.fixed, launched)?;
        let mut watcher = Watcher::new(program, launched, &fixed);
        let cycles = go(RunOptions::default(), Some(&mut watcher))?.cycles;
        note(kernel, launched.number, shape.clone(), cycles);
        let known = kernel.launches.iter_mut().find(|l| l.shape == shape && l.fixed == fixed);
        if let Some(known) = known {
            if known.cycles != cycles && kernel.row.uses.is_empty() && kernel.row.why_not.is_none() {
                return Err(refused!(
                    Contradiction,
                    help = "please report this",
                    "kernel {}: a launch whose time was shown to be the same for all contents took {} cycles and then {cycles}",
                    launched.kernel,
                    known.cycles
                ));
            }
            known.numbers.push(launched.number);
            return Ok(());
        }
        let witness = watcher.witness(program)?;
        let labelling = look(program, &witness, &mut kernel.row);
        let numbers = vec![launched.number];
        kernel.launches.push(ExactLaunch { shape, numbers, cycles, fixed, labelling });
        Ok(())
    })?;
    for kernel in &mut kernels {
        let row = &mut kernel.row;
        row.holds = row.why_not.is_none() && row.uses.is_empty();
        row.uses.sort_by_key(|u| (u.place.pc, u.what));
        row.uses.dedup();
        let fixed = kernel.launches.iter().flat_map(|l| &l.fixed).map(|b| (b.name.clone(), b.hash.clone()));
        row.fixed = fixed.collect();
        row.fixed.sort();
        row.fixed.dedup();
    }
    Ok(kernels)
}

/// Runs a job of a GCN3 program: its cycles, and what the run showed of every instruction.
pub fn witnessed(job: &Job) -> Result<(u64, Witness), BoundError> {
    let AnyProgram::Gcn3(program) = &job.program else {
        return Err(refused!(Program, "exact bounds are for GCN3 programs"));
    };
    let launched = Launched::of(job)?;
    let mut watcher = Watcher::new(program, &launched, &[]);
    let cycles = job.run(RunOptions::default(), Some(&mut watcher))?.cycles;
    Ok((cycles, watcher.witness(program)?))
}

fn new_kernel(launched: &Launched) -> ExactKernel {
    // Only programs for GCN3 have exact bounds; for others the row says why not.
    let checksum = launched.program.gcn3().map(|p| wb_facts::checksum(p, &wb_facts::calls_of(p)));
    ExactKernel {
        kernel: launched.kernel.to_owned(),
        file: last_part(launched.file).to_owned(),
        checksum: checksum.unwrap_or_default(),
        machine: launched.machine.clone(),
        row: ExactRow::default(),
        launches: Vec::new(),
        cycles: BTreeMap::new(),
    }
}

fn note(kernel: &mut ExactKernel, number: usize, shape: Shape, cycles: u64) {
    let known = kernel.cycles.entry(number).or_insert((shape, cycles));
    known.1 = known.1.max(cycles);
}

/// Why exact bounds are not for this launch.
fn not_covered(launched: &Launched) -> Option<String> {
    let isa = launched.program.isa();
    if !matches!(launched.program, ProgramRef::Gcn3(_)) {
        return Some(format!("exact bounds are for GCN3 programs, this one is for {isa}"));
    }
    let machine = launched.machine;
    machine.splits().then(|| {
        let (mechanism, contexts) = (machine.divergence.mechanism, machine.split.contexts);
        format!(
            "the machine splits waves ({}, S = {contexts}); exact bounds follow whole waves only",
            mechanism.name()
        )
    })
}

/// Labels the kernel and has the labelling checked; what is in the way goes to the row.
fn look(program: &Program<Gcn3>, witness: &Witness, row: &mut ExactRow) -> Labelling {
    let place = |pc: Pc| {
        let line = program.source_line(pc);
        let source = line.map_or(String::new(), |(file, line)| format!("{}:{line}", last_part(file)));
        CodePlace { pc, addr: program.linked(pc), source }
    };
    let found = match taint::label(program, witness) {
        Ok(found) => found,
        Err(e) => {
            row.why_not = Some(e.to_string());
            return Labelling::default();
        }
    };
    let use_row = |u: &TaintedUse| UseRow {
        place: place(u.pc),
        text: program.text_at(u.pc),
        what: u.what.text(),
        from: u.from.map(place),
    };
    row.uses.extend(found.uses.iter().map(use_row));
    if found.uses.is_empty()
        && let Err(refused) = taint::recheck(program, witness, &found.labelling)
    {
        row.why_not = Some(format!("the checker refuses the labelling: {refused}"));
    }
    found.labelling
}
