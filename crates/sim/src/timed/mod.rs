//! The timed run, cycle by cycle: dispatcher → issue (policy per partition) → units and memory → front end.
//! Completion times are computed at issue, so nothing is stepped that does not issue, and cycles in which
//! nobody can issue are skipped. Results never depend on whether somebody observes.

mod board;
mod choose;
mod core;
mod crowd;
mod dispatch;
mod divide;
mod issue;
mod issuer;
mod notes;
mod plan;
mod ports;
mod regroup;
pub(crate) mod threads;
mod together;
mod turns;
mod units;
mod watch;

pub(crate) use units::describe as describe_units;

use self::board::Board;
use self::core::Core;
use self::crowd::Crowd;
use self::plan::Plan;
use self::units::{ClassInfo, Joint};
use self::watch::Watch;
use crate::divergence::{self, Blocks, Notes, Together, Waves};
use crate::error::{ErrorKind, SimError};
use crate::exec::Exec;
use crate::frontend::Code;
use crate::functional::{budget, deadlock, registers, stopped, waiting};
use crate::launch::{Launch, Launcher, Outcome, Part, RunOptions};
use crate::memory::{DeviceMemory, Hierarchy, Lines};
use crate::residency::Residency;
use crate::sched;
use crate::sink::Sink;
use crate::sofar::Sofar;
use std::ops::Range;
use wb_hw::{FrontEndKind, Machine, Mechanism, MemorySplits, SplitUnits, Unresolved};
use wb_isa::{Isa, Pc};
use wb_trace::{Event, Kind};

/// How the contexts of a partition get at its issue port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CoIssue {
    /// Every context has a port and units of its own (PWS).
    Own,
    /// One port and one set of units for all contexts (DWS, THESIS without extra pipelines).
    Shared,
    /// As many paths as have disjoint lanes (THESIS 4.4.2).
    Disjoint,
    /// So many with disjoint lanes, which take a unit once (SBI, SWI, DWF).
    Fused { most: u32, waves: Waves, slice: u32 },
}

struct Timed<'a, 's, I: Isa> {
    exec: &'a Exec<'a, I>,
    machine: &'a Machine,
    /// How instructions of the wave's own context are executed, and of split contexts.
    classes: [Vec<ClassInfo>; 2],
    /// The same of the wave's own context by instruction, where ports issue by the short way.
    plans: Vec<Plan>,
    co_issue: CoIssue,
    /// Contexts of a wave share an issue port.
    shared: bool,
    /// Scratch: who is ready in a cycle of a partition; and units that instructions which issue as one have taken.
    crowd: Option<Box<Crowd>>,
    joint: Joint,
    /// Scratch: ready seats per context of a partition.
    ready: Vec<u64>,
    cores: Vec<Core<I>>,
    hierarchy: Hierarchy,
    /// By core: the cycle from which on it has to be looked at.
    due: Vec<u64>,
    /// Waves whose last instruction has issued but whose results are outstanding: (until, core, slot); and the first of these cycles.
    draining: Vec<(u64, usize, usize)>,
    drained: u64,
    spare: Vec<(I::Regs, Board)>,
    /// Registers that waves left in their slots, for the next ones there; only where waves start waves (Vortex).
    left: Vec<Option<(I::Regs, Board)>>,
    lines: Lines,
    notes: Notes,
    sink: Sink<'s>,
    outcome: Outcome,
    launcher: Launcher,
    next_core: usize,
    /// A slot became free since the dispatcher last found no room.
    may_dispatch: bool,
    launched: u64,
    resident: u32,
    now: u64,
    /// First cycle at which everything issued so far is done.
    end: u64,
    branch_penalty: u64,
    coordinated: bool,
    /// Jumps are known late, or fetch stops at them: whether an instruction is one must be said.
    late: bool,
    /// The oracles, and whether every cycle is looked at rather than those in which something can happen.
    watch: Option<Box<Watch>>,
    every_cycle: bool,
    /// The usual instruction issues by a short way.
    alone: bool,
    /// Every port has seats of its own and issues one instruction a cycle, and cycles may be skipped.
    plain_ports: bool,
    /// Contexts share ports, and it is enough to look at those that the policy picks.
    plain_shared: bool,
    keep_registers: bool,
    residency: Residency,
    /// DWS as published: which loads divide waves, entries of the warp-split table (0: no limit), and the lines of the last access.
    memory: MemorySplits,
    table: u32,
    each: Vec<(u64, bool)>,
    /// Waves that share a stack, and scratch for their warps (TBC, LWM).
    blocks: Blocks,
    warps: Vec<issuer::Warp>,
    /// The cores that this host thread runs, and the cycle in which it meets the others; on one thread never.
    own: Range<usize>,
    horizon: u64,
    /// Waves, by core and slot, and seats that wait for something of which it is not known when it is done.
    open: Vec<(usize, usize)>,
    unsettled: Vec<issuer::Unsettled>,
}

pub(crate) fn run<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    part: Option<Part>,
    memory: DeviceMemory,
    mut options: RunOptions,
    sink: Sink,
) -> Result<Outcome, Box<SimError>> {
    let mut run = Timed::new(exec, machine, launch, part, memory, &options, sink);
    if let Err(error) = run.all(&mut options) {
        return Err(error.with_memory(run.outcome.memory));
    }
    let mut outcome = run.outcome;
    if let Some(watch) = run.watch {
        (outcome.schedule, outcome.decisions) = (Some(watch.schedule), watch.decisions);
    }
    outcome.cycles = run.end;
    outcome.console = outcome.printed.text();
    run.sink.end(outcome.cycles);
    Ok(outcome)
}

impl<'a, 's, I: Isa> Timed<'a, 's, I> {
    fn new(
        exec: &'a Exec<'a, I>,
        machine: &'a Machine,
        launch: Launch,
        part: Option<Part>,
        memory: DeviceMemory,
        options: &RunOptions,
        sink: Sink<'s>,
    ) -> Self {
        let isa_classes = exec.program.isa.classes();
        let parallel =
            machine.divergence.mechanism.info().parallel && machine.split.units != SplitUnits::Shared;
        let published = machine.splits() && machine.divergence.mechanism == Mechanism::DwsMeng;
        let two_level = machine.divergence.mechanism == Mechanism::Lwm;
        let own = || match two_level {
            true => Box::new(sched::TwoLevel::new(machine.divergence.fetch_group)),
            false => sched::policy(machine.issue.policy),
        };
        // Of a policy of the caller's nothing is known: it may keep a wave.
        let (issue, greedy): (&sched::MakePolicy, bool) = match options.issue {
            Some(make) => (make, true),
            None => (&own, machine.issue.policy.info().greedy),
        };
        let mechanism = divergence::of(machine);
        let (together, sticky) = (mechanism.together(), mechanism.sticky());
        let co_issue = match together {
            Together::Fused { most, waves, slice } => CoIssue::Fused { most, waves, slice },
            Together::Disjoint if parallel => CoIssue::Disjoint,
            Together::One if parallel => CoIssue::Own,
            Together::Disjoint | Together::One => CoIssue::Shared,
        };
        // Whoever issues together has been fetched together.
        let fetch = if let CoIssue::Fused { most, .. } = co_issue { most } else { 1 };
        let fused = matches!(co_issue, CoIssue::Fused { .. });
        let parallel = parallel && !fused;
        let shared = fused || co_issue != CoIssue::Own && exec.contexts > 0;
        let mut run = Timed {
            exec,
            machine,
            classes: [false, parallel].map(|split| units::classes(machine, isa_classes, split)),
            plans: Vec::new(),
            co_issue,
            shared,
            crowd: None,
            joint: Joint::default(),
            ready: Vec::new(),
            cores: (0..machine.cores)
                .map(|_| Core::new(machine, exec.contexts, (shared, sticky), fetch, issue, sink.on()))
                .collect(),
            hierarchy: Hierarchy::new(machine, memory.first_line()),
            due: vec![u64::MAX; machine.cores as usize],
            draining: Vec::new(),
            drained: u64::MAX,
            spare: Vec::new(),
            left: match launch {
                Launch::Cores { .. } => (0..machine.cores * machine.core.waves).map(|_| None).collect(),
                _ => Vec::new(),
            },
            lines: Lines::default(),
            notes: Notes { on: sink.on(), list: Vec::new() },
            sink,
            outcome: Outcome::new(memory),
            launcher: Launcher::new(launch, machine.core.lanes).only(part),
            next_core: 0,
            may_dispatch: true,
            launched: 0,
            resident: 0,
            now: 0,
            end: 0,
            branch_penalty: u64::from(machine.frontend.branch_penalty),
            coordinated: machine.frontend.kind == FrontEndKind::Coordinated,
            late: machine.frontend.resolution > 0 || machine.frontend.unresolved == Unresolved::Stall,
            watch: options.watch.map(|kernel| {
                let issuers = machine.core.partitions as usize * (exec.contexts as usize + 1);
                Box::new(Watch::new(machine, issuers, kernel, options.decisions.clone(), (issue, greedy)))
            }),
            every_cycle: options.every_cycle || options.watch.is_some(),
            alone: false,
            plain_ports: !shared && machine.issue.width == 1 && !options.every_cycle,
            plain_shared: false,
            keep_registers: options.keep_registers,
            residency: Residency::new(machine, launch),
            memory: if published { machine.divergence.memory } else { MemorySplits::Never },
            table: if published { machine.divergence.table } else { 0 },
            each: Vec::new(),
            blocks: Blocks::default(),
            warps: Vec::new(),
            own: 0..machine.cores as usize,
            horizon: u64::MAX,
            open: Vec::new(),
            unsettled: Vec::new(),
        };
        run.outcome.times = part.map(|_| Box::default());
        run.lines.by_lane = run.memory != MemorySplits::Never;
        run.alone = run.may_issue_alone();
        if run.alone
            && let Some(core) = run.cores.first()
        {
            run.plans = plan::of(exec.program, &run.classes[0], &core.units);
        }
        let starts_waves = exec.contexts > 0 || matches!(launch, Launch::Boot);
        // What follows an instruction is requested when that issues, if it can be: a port issues one a cycle, no wave starts on a core
        // while others issue, and fetches may go in any order.
        if run.alone && run.plain_ports && !starts_waves && run.fetches_in_any_order() {
            let isa = &exec.program.isa;
            let line = |pc| run.hierarchy.fetch_line(isa.addr_of(pc));
            let code = Code::new(&exec.program.flow.next, line);
            run.cores.iter_mut().for_each(|core| core.frontend.put_off(&code));
        }
        run.plain_shared = options.issue.is_none() && run.may_look_less();
        run
    }
}

impl<I: Isa> Timed<'_, '_, I> {
    /// Cycle after cycle, until no wave is left.
    fn all(&mut self, options: &mut RunOptions) -> Result<(), Box<SimError>> {
        let mut report_at = crate::PROGRESS_EVERY;
        loop {
            self.retire();
            self.dispatch();
            if self.resident == 0 {
                return Ok(());
            }
            if self.now >= self.machine.limits.cycles {
                return Err(self.out_of_budget());
            }
            self.cycle(report_at)?;
            if self.outcome.wave_instructions >= report_at {
                report_at += crate::PROGRESS_EVERY;
                let sofar = Sofar {
                    cycles: self.now,
                    instructions: self.outcome.wave_instructions,
                    ended: self.launched.saturating_sub(self.resident.into()),
                    waves: self.launcher.waves(),
                };
                if let Some(progress) = &mut options.progress
                    && progress(sofar).is_break()
                {
                    return Err(Box::new(stopped(self.now, "cycles")));
                }
            }
        }
    }

    /// Frees the slots of waves that have nothing outstanding any more.
    fn retire(&mut self) {
        if self.drained > self.now {
            return;
        }
        self.drained = u64::MAX;
        let mut i = 0;
        while i < self.draining.len() {
            let (until, core, slot) = self.draining[i];
            if until <= self.now {
                self.draining.swap_remove(i);
                self.vacate(core, slot, until);
            } else {
                self.drained = self.drained.min(until);
                i += 1;
            }
        }
    }

    fn vacate(&mut self, core: usize, slot: usize, cycle: u64) {
        self.begin(core);
        let Some(mut r) = self.cores[core].vacate(slot) else { return };
        if self.sink.on() {
            self.end_stall(core, slot, &mut r, 0);
        }
        self.residency.wave_ended(r.place);
        self.may_dispatch = true;
        self.resident -= 1;
        self.end = self.end.max(cycle);
        if let Some(times) = &mut self.outcome.times {
            times.ends.push(cycle);
        }
        self.outcome.max_stack_depth = self.outcome.max_stack_depth.max(r.wave.max_depth);
        if self.keep_registers {
            self.outcome.registers.push(registers(self.exec, &r.wave));
        }
        if self.sink.on() {
            let path = r.wave.paths[r.wave.holder].path;
            let event = self.event(core, slot, &r, r.wave.holder, path.pc, path.mask, Kind::WaveEnd);
            self.sink.push(Event { cycle, ..event });
        }
        if let Some((id, count)) = r.wave.team {
            let released = self.cores[core].barriers.ended(id, count);
            self.release(core, &released, cycle.max(self.now));
        }
        let mut wave = r.wave;
        let board = wave.paths.swap_remove(wave.holder);
        let left = (board.regs, board.own.board);
        match self.left.get_mut(core * self.machine.core.waves as usize + slot) {
            Some(place) => *place = Some(left),
            None => self.spare.push(left),
        }
        self.start_waves(core);
    }

    /// The unit that context `k` needs for the instruction at `pc`.
    fn unit_at(&self, pc: Pc, k: usize) -> u8 {
        let classes = &self.classes[usize::from(k > 0)];
        self.exec.program.steps.get(pc as usize).map_or(0, |step| classes[step.class as usize].unit)
    }

    /// Something is done to a core in this cycle.
    fn begin(&mut self, core: usize) {
        self.cores[core].begin(self.now);
        self.due[core] = self.due[core].min(self.now);
    }

    /// One cycle of every core that has something to do; then on to the next cycle in which something can happen. The usual ports do
    /// several in a row, until so many instructions have issued.
    fn cycle(&mut self, until: u64) -> Result<(), Box<SimError>> {
        self.check_queues()?;
        self.hierarchy.begin_cycle(self.now);
        let mut next = self.drained;
        if self.alone && self.plain_ports {
            next = self.cycle_ports(until)?.min(next);
        } else {
            for core in self.own.clone() {
                if self.due[core] <= self.now {
                    self.due[core] = self.cycle_core(core)?;
                }
                next = next.min(self.due[core]);
            }
        }
        if let Some(watch) = &mut self.watch {
            let breaks = self.cores.iter().map(|core| core.frontend.breaks());
            watch.end_cycle(breaks, self.outcome.nops);
        }
        // A wave may have left its slot in this cycle: then another one comes in the next.
        let room = self.may_dispatch && !self.launcher.is_done();
        let next = if self.resident == 0 || room { self.now + 1 } else { next.min(self.drained) };
        if next == u64::MAX && self.horizon == u64::MAX {
            return Err(self.deadlock());
        }
        self.now = next.min(self.machine.limits.cycles).min(self.horizon).max(self.now + 1);
        Ok(())
    }

    /// A cycle of a core; returns the next one in which it has to be looked at.
    fn cycle_core(&mut self, c: usize) -> Result<u64, Box<SimError>> {
        self.cores[c].begin(self.now);
        self.cycle_schedulers(c)?;
        let core = &mut self.cores[c];
        core.tick_front_end(c, self.exec.program, &mut self.hierarchy, self.every_cycle);
        Ok(core.due())
    }

    fn fetches_in_any_order(&self) -> bool {
        let program = self.exec.program;
        let end = (program.ops.len() as Pc).saturating_sub(1);
        let ends = (program.isa.addr_of(0), program.isa.addr_of(end));
        self.hierarchy.fetches_in_any_order(self.machine, ends)
    }

    /// The schedulers of a core that have to be looked at, whoever looks on and however many contexts share a port.
    #[inline(never)]
    fn cycle_schedulers(&mut self, c: usize) -> Result<(), Box<SimError>> {
        let mut q = 0;
        while let Some(next) = self.cores[c].next_to_take_turn(q) {
            if self.plain_shared {
                self.cycle_crowd(c, next)?;
            } else if self.shared {
                self.cycle_partition(c, next)?;
            } else {
                self.cycle_issuer(c, next)?;
            }
            q = next + 1;
        }
        self.cores[c].find_first_due();
        Ok(())
    }

    /// An issue port with seats of its own.
    fn cycle_issuer(&mut self, c: usize, q: usize) -> Result<(), Box<SimError>> {
        let mut due = u64::MAX;
        let mut issued = 0u64;
        let mut could = 0u64;
        for port in 0..self.machine.issue.width {
            let core = &mut self.cores[c];
            let (ready, next) = core.scan_here(q, self.now, issued);
            if port == 0 {
                // Somebody who is ready may go in the next cycle, even if the policy lets this one pass.
                due = if ready != 0 || self.every_cycle { self.now + 1 } else { next };
                could = ready;
            }
            let before = if self.watch.is_some() { core.memory(q) } else { 0 };
            let pick = core.pick(q, ready);
            if let Some(watch) = &mut self.watch
                && port == 0
            {
                watch.look(core, c, q, self.now, before, pick);
            }
            let Some(local) = pick else { break };
            issued |= 1 << local;
            if !self.issue_alone(c, q, local as usize) {
                self.issue(c, q, local as usize)?;
            }
        }
        if issued != 0 && !self.every_cycle && !self.sink.on() {
            due = self.cores[c].next_turn(q, self.now);
        }
        self.cores[c].set_due(q, due);
        if self.sink.on() {
            self.note_stalls(c, q, issued, could);
        }
        Ok(())
    }

    /// With checks on: a coordinated front end has no queue that is not full (SWAS section VI-B2).
    fn check_queues(&self) -> Result<(), Box<SimError>> {
        if !self.coordinated || !(self.exec.check || cfg!(debug_assertions)) {
            return Ok(());
        }
        if self.cores.iter().all(|core| core.queues_are_full(self.now)) {
            return Ok(());
        }
        let message =
            format!("front end invariant broken: an instruction queue is not full in cycle {}", self.now);
        Err(Box::new(SimError::new(ErrorKind::Invariant, message)))
    }

    fn out_of_budget(&self) -> Box<SimError> {
        let error = budget(self.machine.limits.cycles, "cycles");
        let first = self.cores.iter().find_map(|core| Some((core, core.first_resident()?)));
        Box::new(match first {
            Some((core, (slot, r))) => {
                let path = r.wave.paths[r.wave.holder].path;
                let pc = core.issues_from(slot, r.wave.holder, path.pc);
                error.at(self.exec.program, r.wave.id, pc, path.mask, self.exec.lanes)
            }
            None => error,
        })
    }

    fn deadlock(&self) -> Box<SimError> {
        let waves: Vec<String> =
            self.cores.iter().flat_map(Core::residents).flat_map(|r| waiting(self.exec, &r.wave)).collect();
        let barriers = self.cores.iter().find(|c| c.occupied > 0).map(|c| &c.barriers);
        Box::new(deadlock(barriers.unwrap_or(&Default::default()), &waves))
    }
}
