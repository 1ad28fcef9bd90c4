//! Entry points: check machine against program, run. The simulator is instantiated here for every instruction set, so that other
//! crates build fast and it is optimised as this crate is.

use crate::divergence;
use crate::error::{ErrorKind, SimError};
use crate::exec::Exec;
use crate::launch::{Launch, Outcome, RunOptions};
use crate::memory::{DeviceMemory, Hierarchy};
use crate::parallel::{self, Ran};
use crate::sample::Sampled;
use crate::sink::Sink;
use crate::{functional, sample, timed};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::{HwError, InstructionSet, Machine, Mechanism, Reconverge};
use wb_isa::{FlowKind, Isa, MAX_LANES, Pc};
use wb_program::Program;
use wb_trace::{CodeLine, Observer, PortKind, TraceInfo};

/// A program of any ISA that the machine can run.
pub trait Runnable {
    /// Runs from `memory` as given; the program's own segments are placed first.
    fn run(
        &self,
        machine: &Machine,
        launch: Launch,
        memory: DeviceMemory,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, Box<SimError>>;
}

/// What [`Runnable::run`] was asked, on its way to the right instantiation.
struct Request<'m, 'a, 'o> {
    machine: &'m Machine,
    launch: Launch,
    memory: DeviceMemory,
    options: RunOptions<'o>,
    observer: Option<&'a mut dyn Observer>,
}

/// An instruction set that the simulator is instantiated for.
trait Runs: Isa + Sized {
    const ISA: InstructionSet;

    /// [`start`], without a parameter: the simulator is compiled here and not where it is called.
    fn run_here(program: &Program<Self>, request: Request) -> Result<Outcome, Box<SimError>>;
}

macro_rules! runs {
    (() $($isa:ident: $type:ty,)*) => {
        $(impl Runs for $type {
            const ISA: InstructionSet = InstructionSet::$isa;

            fn run_here(program: &Program<$type>, request: Request) -> Result<Outcome, Box<SimError>> {
                start(program, request)
            }
        })*
    };
}

wb_isa::isas!([runs]);

impl<I: Runs> Runnable for Program<I> {
    fn run(
        &self,
        machine: &Machine,
        launch: Launch,
        memory: DeviceMemory,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, Box<SimError>> {
        I::run_here(self, Request { machine, launch, memory, options, observer })
    }
}

fn wrong_mechanism(machine: &Machine) -> SimError {
    let isa = machine.isa;
    let fit: Vec<&str> = Mechanism::of(isa).map(Mechanism::name).collect();
    let message = format!("divergence.mechanism: {} does not run on {isa}", machine.divergence.mechanism);
    SimError::new(ErrorKind::Setup, message).hint(Some(format!("for {isa}: {}", fit.join(", "))))
}

fn wrong_isa(machine: &Machine, isa: InstructionSet) -> SimError {
    let message = format!("isa: machine {} runs {}, the program is {isa}", machine.name, machine.isa);
    SimError::new(ErrorKind::Setup, message)
        .hint(Some("choose a machine for the program's ISA with --machine"))
}

fn setup(error: HwError) -> SimError {
    let help = error.help.clone();
    SimError::new(ErrorKind::Setup, error.to_string()).hint(help)
}

thread_local! {
    /// The machine that was checked last. Programs launch thousands of small kernels on one machine, and the check takes longer than
    /// some of them.
    static CHECKED: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

/// Whether the machine can exist, and has a unit for each of the classes: those of its instruction set.
fn fits(machine: &Machine, classes: &[&str]) -> Result<(), Box<SimError>> {
    // Programs whose kernels are bounded at their very end come here when the thread's memory is gone.
    if let Ok(true) = CHECKED.try_with(|checked| checked.borrow().as_ref() == Some(machine)) {
        return Ok(());
    }
    machine.validate().map_err(setup)?;
    machine.check_classes(classes).map_err(setup)?;
    let _ = CHECKED.try_with(|checked| checked.replace(Some(machine.clone())));
    Ok(())
}

fn check<I: Runs>(program: &Program<I>, machine: &Machine, launch: Launch) -> Result<(), Box<SimError>> {
    let bad = |message: String, hint: &str| {
        Err(Box::new(SimError::new(ErrorKind::Setup, message).hint(Some(hint))))
    };
    if !machine.divergence.mechanism.runs(I::ISA) {
        let wrong = if machine.isa == I::ISA { wrong_mechanism(machine) } else { wrong_isa(machine, I::ISA) };
        return Err(Box::new(wrong));
    }
    if machine.isa != I::ISA {
        machine.validate().map_err(setup)?;
        return Err(Box::new(wrong_isa(machine, I::ISA)));
    }
    fits(machine, program.isa.classes())?;
    if machine.core.lanes > MAX_LANES {
        return bad(
            format!("core.lanes: {} is more than {MAX_LANES}", machine.core.lanes),
            "use at most 64 lanes",
        );
    }
    if machine.core.waves / machine.core.partitions > 64 {
        return bad(
            "core.waves: a partition holds at most 64 waves".into(),
            "use more partitions or fewer waves",
        );
    }
    if let Launch::Grid { threads, group } = launch
        && (group == 0 || threads == 0)
    {
        return bad(
            "a launch needs at least one thread and a group of at least one".into(),
            "see --grid and --group",
        );
    }
    if let Launch::Groups(groups) = launch {
        let fit = crate::residency::occupancy(machine, &groups);
        if fit.groups_per_core == 0 {
            return bad(
                format!(
                    "a group of {} threads does not fit on a core: limited by {:?}",
                    groups.size, fit.limit
                ),
                "use smaller groups, less local memory, or a machine with more",
            );
        }
    }
    Ok(())
}

fn start<I: Runs>(program: &Program<I>, request: Request) -> Result<Outcome, Box<SimError>> {
    let Request { machine, launch, mut memory, mut options, mut observer } = request;
    if let Err(error) = check(program, machine, launch) {
        return Err(error.with_memory(memory));
    }
    if let Err(fault) = memory.load(&program.segments, &program.text) {
        let error = SimError::new(ErrorKind::Setup, format!("the program does not fit: {fault}"))
            .hint(Some("give the machine more memory (--set limits.memory=…)"));
        return Err(Box::new(error).with_memory(memory));
    }
    let mechanism = divergence::of(machine);
    let (may_diverge, blocks) = (mechanism.may_diverge(), mechanism.waits_at_branches());
    let (lanes, contexts) = (machine.core.lanes, contexts(machine));
    let base = machine.divergence.reconverge == Reconverge::MaskStack && contexts > 0;
    let exec = Exec { program, machine, may_diverge, blocks, lanes, contexts, check: options.check, base };
    if let Some(observer) = &mut observer {
        let mut info = outline(program, machine, options.timed);
        if observer.wants_code() {
            info.code = listing(program);
            info.files = program.source_files();
        }
        observer.begin(&info);
    }
    if memory.checker.is_some() {
        return functional::run(&exec, machine, launch, None, memory, options, Sink::new(observer));
    }
    if options.timed {
        if observer.is_none() && options.watch.is_none() {
            memory = match sample::run(&exec, machine, launch, memory, &mut options) {
                Sampled::Done(done) => return done.map(|outcome| *outcome),
                Sampled::Not(memory) => memory,
            };
            memory = match timed::threads::run(&exec, machine, launch, memory, &mut options) {
                Ran::Done(outcome) => return Ok(*outcome),
                Ran::Stopped(error) => return Err(error),
                Ran::Alone(memory, _) => memory,
            };
        }
        return timed::run(&exec, machine, launch, None, memory, options, Sink::new(observer));
    }
    match parallel::run(&exec, machine, launch, memory, &mut options, observer) {
        Ran::Done(outcome) => Ok(*outcome),
        Ran::Stopped(error) => Err(error),
        Ran::Alone(memory, observer) => {
            functional::run(&exec, machine, launch, None, memory, options, Sink::new(observer))
        }
    }
}

/// Split contexts the machine's mechanism uses.
fn contexts(machine: &Machine) -> u32 {
    if machine.splits() { machine.split.contexts } else { 0 }
}

/// What a trace says about its run.
pub fn trace_info<I: Isa>(program: &Program<I>, machine: &Machine, timed: bool) -> TraceInfo {
    let files = program.source_files();
    TraceInfo { code: listing(program), files, ..outline(program, machine, timed) }
}

/// Every instruction of a program.
fn listing<I: Isa>(program: &Program<I>) -> Vec<CodeLine> {
    let blocks = &program.cfg.blocks;
    let leads: BTreeSet<Pc> = blocks.iter().map(|b| b.first).collect();
    let ends: BTreeMap<Pc, &[usize]> = blocks.iter().map(|b| (b.last, b.succs.as_slice())).collect();
    let code = program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()).map(|(pc, op)| {
        let pc = pc as Pc;
        let names = |registers: &[u16]| {
            let names: Vec<String> = registers.iter().map(|&r| program.isa.register_name(r)).collect();
            names.join(", ")
        };
        CodeLine {
            pc,
            addr: program.linked(pc),
            text: program.text_at(pc),
            line: program.line_of(pc),
            label: program.label_at(pc).unwrap_or("").to_owned(),
            branch: matches!(
                program.flow.kind[pc as usize],
                FlowKind::Branch(_)
                    | FlowKind::MaskBranch { .. }
                    | FlowKind::Split
                    | FlowKind::MaskNonZero
                    | FlowKind::BranchPush { .. }
            ),
            leads: leads.contains(&pc),
            to: ends.get(&pc).map_or_else(Vec::new, |succs| succs.iter().map(|&b| blocks[b].first).collect()),
            writes: names(program.writes(op)),
            reads: names(program.reads(op)),
            file: program.file_of(pc),
            width: op.inst.as_ref().map_or(0, |inst| program.isa.access_bytes(inst)),
            inner: program.written_at(pc).map_or(String::new(), |(file, line)| format!("{file}:{line}")),
            bytes: program.bytes_at(pc).to_vec(),
        }
    });
    code.collect()
}

/// Bytes of a line at each port.
fn line_bytes(machine: &Machine) -> Vec<u32> {
    let hierarchy = Hierarchy::new(machine, 0);
    PortKind::ALL.map(|port| hierarchy.line(port)).to_vec()
}

/// What a trace says about its run, without the program's code.
fn outline<I: Isa>(program: &Program<I>, machine: &Machine, timed: bool) -> TraceInfo {
    TraceInfo {
        program: program.name.clone(),
        isa: machine.isa.name().to_owned(),
        machine: machine.name.clone(),
        mechanism: machine.divergence.mechanism.name().to_owned(),
        timed,
        lanes: machine.core.lanes,
        cores: machine.cores,
        partitions: machine.core.partitions,
        slots: machine.core.waves,
        units: if timed { timed::describe_units(machine, contexts(machine)) } else { Vec::new() },
        classes: program.isa.classes().iter().map(|&c| c.to_owned()).collect(),
        line_bytes: if timed { line_bytes(machine) } else { Vec::new() },
        lds_banks: if timed { machine.core.lds_banks } else { 0 },
        files: Vec::new(),
        code: Vec::new(),
        addresses: false,
        limit: None,
    }
}
