//! Entry points: check machine against program, choose the mechanism, run. Every ISA × mechanism pair is
//! instantiated here, so that other crates build fast.

use crate::divergence::{
    Divergence, Dws, ExecMask, Harptool, MECHANISMS, MaskStack, MechanismInfo, Pdom, Pws, SimtStack, Thesis,
    VortexStack,
};
use crate::error::{ErrorKind, SimError};
use crate::exec::Exec;
use crate::launch::{Launch, Outcome, RunOptions};
use crate::memory::DeviceMemory;
use crate::sink::Sink;
use crate::{functional, timed};
use wb_hw::{HwError, Machine, SplitChoice};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::guppy::Guppy;
use wb_isa::harp::Harp;
use wb_isa::vortex::Vortex;
use wb_isa::{FlowKind, Isa, MAX_LANES, Pc};
use wb_program::Program;
use wb_trace::{CodeLine, Observer, TraceInfo};

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

/// The mechanisms an ISA runs with; each arm is one instantiation of the simulator.
trait Pairs: Isa + Sized {
    fn run_with_mechanism(program: &Program<Self>, request: Request) -> Result<Outcome, Box<SimError>>;
}

impl Pairs for Harp {
    fn run_with_mechanism(program: &Program<Harp>, request: Request) -> Result<Outcome, Box<SimError>> {
        let depth = request.machine.limits.stack_depth as usize;
        let first = request.machine.divergence.first;
        match request.machine.divergence.mechanism.as_str() {
            "harptool" => start(program, &Harptool { depth }, request),
            "pdom" => start(program, &Pdom { depth }, request),
            "simt-stack" => start(program, &SimtStack { depth, first }, request),
            other => {
                Err(Box::new(wrong_mechanism(other, request.machine, "harp")).with_memory(request.memory))
            }
        }
    }
}

impl Pairs for Gcn3 {
    fn run_with_mechanism(program: &Program<Gcn3>, request: Request) -> Result<Outcome, Box<SimError>> {
        let d = &request.machine.divergence;
        match d.mechanism.as_str() {
            "none" => start(program, &ExecMask, request),
            "thesis" => {
                let marked_only = d.choice == SplitChoice::Marked;
                start(program, &Thesis { marked_only, reconverge: d.reconverge }, request)
            }
            "pws" => start(program, &Pws, request),
            "dws" => start(program, &Dws { threshold: d.threshold, reconverge: d.reconverge }, request),
            other => {
                Err(Box::new(wrong_mechanism(other, request.machine, "gcn3")).with_memory(request.memory))
            }
        }
    }
}

impl Pairs for Guppy {
    fn run_with_mechanism(program: &Program<Guppy>, request: Request) -> Result<Outcome, Box<SimError>> {
        let depth = request.machine.limits.stack_depth as usize;
        match request.machine.divergence.mechanism.as_str() {
            "mask-stack" => start(program, &MaskStack { depth }, request),
            other => {
                Err(Box::new(wrong_mechanism(other, request.machine, "guppy")).with_memory(request.memory))
            }
        }
    }
}

impl Pairs for Vortex {
    fn run_with_mechanism(program: &Program<Vortex>, request: Request) -> Result<Outcome, Box<SimError>> {
        let (lanes, limit) = (request.machine.core.lanes, request.machine.limits.stack_depth);
        let first = request.machine.divergence.first;
        match request.machine.divergence.mechanism.as_str() {
            "vortex-v2" => start(program, &VortexStack::<true>::new(lanes, limit), request),
            "vortex" => start(program, &VortexStack::<false>::new(lanes, limit), request),
            "simt-stack" => start(program, &SimtStack { depth: limit as usize, first }, request),
            other => {
                Err(Box::new(wrong_mechanism(other, request.machine, "vortex")).with_memory(request.memory))
            }
        }
    }
}

impl<I: Pairs> Runnable for Program<I> {
    fn run(
        &self,
        machine: &Machine,
        launch: Launch,
        memory: DeviceMemory,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, Box<SimError>> {
        I::run_with_mechanism(self, Request { machine, launch, memory, options, observer })
    }
}

fn wrong_mechanism(name: &str, machine: &Machine, isa: &str) -> SimError {
    if machine.isa != isa {
        return wrong_isa(machine, isa);
    }
    let fit: Vec<&str> = MECHANISMS.iter().filter(|m| m.isas.contains(&isa)).map(|m| m.name).collect();
    let known = MECHANISMS.iter().any(|m| m.name == name);
    let message = if known {
        format!("divergence.mechanism: {name} does not run on {isa}")
    } else {
        format!("divergence.mechanism: there is no mechanism {name}")
    };
    SimError::new(ErrorKind::Setup, message).hint(Some(format!("for {isa}: {}", fit.join(", "))))
}

fn wrong_isa(machine: &Machine, isa: &str) -> SimError {
    let message = format!("isa: machine {} runs {}, the program is {isa}", machine.name, machine.isa);
    SimError::new(ErrorKind::Setup, message)
        .hint(Some("choose a machine for the program's ISA with --machine"))
}

fn setup(error: HwError) -> SimError {
    let help = error.help.clone();
    SimError::new(ErrorKind::Setup, error.to_string()).hint(help)
}

fn check<I: Isa>(program: &Program<I>, machine: &Machine, launch: Launch) -> Result<(), Box<SimError>> {
    let bad = |message: String, hint: &str| {
        Err(Box::new(SimError::new(ErrorKind::Setup, message).hint(Some(hint))))
    };
    machine.validate().map_err(setup)?;
    if machine.isa != program.isa.name() {
        return Err(Box::new(wrong_isa(machine, program.isa.name())));
    }
    machine.check_classes(program.isa.classes()).map_err(setup)?;
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

fn start<I: Isa, D: Divergence>(
    program: &Program<I>,
    mechanism: &D,
    request: Request,
) -> Result<Outcome, Box<SimError>> {
    let Request { machine, launch, mut memory, options, mut observer } = request;
    if let Err(error) = check(program, machine, launch) {
        return Err(error.with_memory(memory));
    }
    if let Err(fault) = memory.load(&program.segments, &program.text) {
        let error = SimError::new(ErrorKind::Setup, format!("the program does not fit: {fault}"))
            .hint(Some("give the machine more memory (--set limits.memory=…)"));
        return Err(Box::new(error).with_memory(memory));
    }
    let contexts = if D::INFO.separate_entities { machine.split.contexts } else { 0 };
    let exec = Exec { program, mechanism, lanes: machine.core.lanes, contexts, check: options.check };
    if let Some(observer) = &mut observer {
        let mut info = outline(program, machine, options.timed);
        if observer.wants_code() {
            info.code = listing(program);
        }
        observer.begin(&info);
    }
    let observed = observer.is_some();
    let sink = Sink::new(observer);
    match (options.timed, observed) {
        (true, false) => timed::run::<I, D, false>(&exec, machine, launch, memory, options, sink),
        (true, true) => timed::run::<I, D, true>(&exec, machine, launch, memory, options, sink),
        (false, false) => functional::run::<I, D, false>(&exec, machine, launch, memory, options, sink),
        (false, true) => functional::run::<I, D, true>(&exec, machine, launch, memory, options, sink),
    }
}

/// Split contexts the machine's mechanism uses.
fn contexts(machine: &Machine) -> u32 {
    let splits = |m: &&MechanismInfo| m.name == machine.divergence.mechanism && m.separate_entities;
    if MECHANISMS.iter().any(|m| splits(&m)) { machine.split.contexts } else { 0 }
}

/// What a trace says about its run.
pub fn trace_info<I: Isa>(program: &Program<I>, machine: &Machine, timed: bool) -> TraceInfo {
    TraceInfo { code: listing(program), ..outline(program, machine, timed) }
}

/// Every instruction of a program.
fn listing<I: Isa>(program: &Program<I>) -> Vec<CodeLine> {
    let code = program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()).map(|(pc, _)| {
        let pc = pc as Pc;
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
        }
    });
    code.collect()
}

/// What a trace says about its run, without the program's code.
fn outline<I: Isa>(program: &Program<I>, machine: &Machine, timed: bool) -> TraceInfo {
    TraceInfo {
        program: program.name.clone(),
        isa: machine.isa.clone(),
        machine: machine.name.clone(),
        mechanism: machine.divergence.mechanism.clone(),
        timed,
        lanes: machine.core.lanes,
        cores: machine.cores,
        partitions: machine.core.partitions,
        slots: machine.core.waves,
        units: if timed { timed::describe_units(machine, contexts(machine)) } else { Vec::new() },
        classes: program.isa.classes().iter().map(|&c| c.to_owned()).collect(),
        code: Vec::new(),
    }
}
