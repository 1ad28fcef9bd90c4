//! Checked runs: the untimed run tells the checker ([`wb_sanitize`]) of waves, barriers, instructions and accesses. What faults in
//! local or private memory is reported, and the program goes on behind it.

use crate::divergence::Notes;
use crate::error::SimError;
use crate::exec::{Effect, Exec, Moment};
use crate::memory::MemBus;
use crate::wave::Wave;
use std::ops::Range;
use wb_isa::marks::Marks;
use wb_isa::{At, FlowKind, Isa, WaveStart};
use wb_program::Program;
use wb_sanitize::{Checker, Code, Place, Start};

/// Instructions that are looked at behind one, to see what it is for.
const AHEAD: usize = 16;

/// How the names of functions of AMD's device libraries begin.
const LIBRARIES: [&str; 2] = ["__ockl_", "__ocml_"];

/// A launch begins.
pub(crate) fn launch<I: Isa>(checker: &mut Checker, exec: &Exec<I>) {
    let program = exec.program;
    let key = (format!("{} {}", program.name, program.kernel), program.base, program.ops.len());
    if !checker.knows(&key) {
        checker.learn(code(program, key));
    }
    checker.launch(exec.lanes);
}

fn code<I: Isa>(program: &Program<I>, key: (String, u64, usize)) -> Code {
    let mut code = Code { key, ..Code::default() };
    let mut library = false;
    for (pc, op) in program.ops.iter().enumerate() {
        if let Some(function) = program.label_at(pc as u32) {
            library = LIBRARIES.iter().any(|prefix| function.starts_with(prefix));
        }
        code.library.push(library);
        let Some(inst) = &op.inst else {
            code.watch.push(Default::default());
            code.places.push(Place::default());
            continue;
        };
        let ahead: Vec<&I::Inst> =
            program.ops[pc + 1..].iter().filter_map(|op| op.inst.as_ref()).take(AHEAD).collect();
        let mut watch = program.isa.watch(inst, &ahead);
        if watch.memory && watch.loads.is_empty() && watch.data.is_empty() {
            watch.loads = program.writes(op).to_vec();
        }
        code.learns |= watch.acquires || watch.atomic && !watch.loads.is_empty();
        code.watch.push(watch);
        let pc = pc as u32;
        let (file, line) = program.source_line(pc).map_or((String::new(), 0), |(f, l)| (f.to_owned(), l));
        code.places.push(Place {
            kernel: program.kernel.clone(),
            file,
            line,
            address: program.linked(pc),
            instruction: program.text_at(pc),
        });
    }
    code
}

/// A wave starts.
pub(crate) fn start<I: Isa>(
    checker: &mut Checker,
    exec: &Exec<I>,
    slot: u32,
    start: &WaveStart,
    [local, private]: [Range<u64>; 2],
) {
    let isa = &exec.program.isa;
    let mut marks = Marks::new(isa.register_count(), isa.path_registers());
    if checker.options.uninitialised {
        isa.undefined(&mut marks, checker.from_registers(exec.program.entry));
    }
    checker.start(Start {
        slot: slot as usize,
        wave: start.wave,
        group: start.group,
        index: start.wave_in_group,
        local,
        private,
        marks,
    });
}

/// A wave arrives at a barrier.
pub(crate) fn arrives<I: Isa, X>(
    checker: &mut Checker,
    exec: &Exec<I>,
    wave: &Wave<I, X>,
    k: usize,
    slot: u32,
) {
    let state = &wave.paths[k];
    let isa = &exec.program.isa;
    // Elsewhere a barrier counts waves, whatever their lanes do.
    if !isa.lane_barriers() && isa.execution_mask().is_empty() {
        return;
    }
    let active = isa.active(&state.regs, state.path.mask);
    checker.arrives(slot as usize, state.path.from, active, wave.live);
}

/// One instruction of path `k` of the wave in `slot`, as [`Exec::step`] executes it.
pub(crate) fn step<I: Isa, X: Clone>(
    exec: &Exec<I>,
    wave: &mut Wave<I, X>,
    (k, slot): (usize, u32),
    moment: Moment,
    bus: &mut MemBus,
    notes: &mut Notes,
) -> Result<Effect, Box<SimError>> {
    let pc = wave.paths[k].path.pc;
    if let Some(checker) = &mut bus.memory.checker {
        begins(checker, exec, wave, (k, slot), moment);
    }
    let isa = &exec.program.isa;
    let (mask, lanes) = (wave.paths[k].path.mask, isa.active(&wave.paths[k].regs, u64::MAX));
    let mut removed = 0;
    // A lane that leaves its memory is reported, and the others go on without it.
    let done = loop {
        let done = exec.step(wave, k, moment, bus, notes);
        let (Err(error), Some(checker)) = (&done, &mut bus.memory.checker) else { break done };
        let (Some(fault), Some(op)) = (&error.fault, exec.program.ops.get(pc as usize)) else { break done };
        let lane = lane_of(fault).filter(|lane| (mask & lanes & !removed) >> lane & 1 == 1);
        checker.fault(slot as usize, (pc, lane.unwrap_or(0)), fault);
        let state = &mut wave.paths[k];
        let atomic = checker.code().watch.get(pc as usize).is_some_and(|w| w.atomic);
        removed |= lane.map_or(0, |lane| 1 << lane);
        if lane.is_none() || mask & lanes & !removed == 0 || atomic {
            // Nobody is left; or what lanes before this one have modified must not be modified again.
            (state.path.pc, state.path.mask) = (op.next, mask);
            isa.set_active(&mut state.regs, lanes);
            return Ok(Effect::Continue);
        }
        (state.path.pc, state.path.mask) = (pc, mask & !removed);
        isa.set_active(&mut state.regs, lanes & !removed);
        checker.again();
    };
    let Some(checker) = &mut bus.memory.checker else { return done };
    let effect = done?;
    if removed != 0 {
        let state = &mut wave.paths[k];
        state.path.mask = mask;
        isa.set_active(&mut state.regs, lanes);
    }
    checker.ends();
    // A group of one wave does not wait.
    let barrier = matches!(exec.program.flow.kind.get(pc as usize), Some(FlowKind::Barrier));
    if barrier && effect == Effect::Continue {
        arrives(checker, exec, wave, k, slot);
        checker.released(slot as usize);
    }
    Ok(effect)
}

/// The lane that the text of a fault names ([`wb_isa::MemFault::of_lane`]).
fn lane_of(fault: &str) -> Option<u32> {
    fault.rsplit_once("(lane ")?.1.split_once(')')?.0.parse().ok()
}

/// Follows undefined values through the instruction that comes next.
#[inline]
fn begins<I: Isa, X>(
    checker: &mut Checker,
    exec: &Exec<I>,
    wave: &Wave<I, X>,
    (k, slot): (usize, u32),
    moment: Moment,
) {
    let state = &wave.paths[k];
    let path = state.path;
    let program = exec.program;
    let Some((op, inst)) = program.ops.get(path.pc as usize).and_then(|op| Some((op, op.inst.as_ref()?)))
    else {
        return;
    };
    let watch = checker.code().watch.get(path.pc as usize);
    let (always, scalar) = watch.map_or((false, false), |w| (w.always, w.scalar));
    if scalar {
        // It is the wave's: the first lane that is on stands for it.
        let active = program.isa.active(&state.regs, path.mask);
        checker.lane(Marks::first(active));
    }
    let off = checker.lane_off_at(path.pc);
    let Some(marks) = checker.begins(slot as usize, path.pc) else { return };
    let (reads, writes) = (program.reads(op), program.writes(op));
    if !always && !reads.iter().any(|id| marks.is_marked(*id)) {
        let active = program.isa.active(&state.regs, path.mask);
        for id in writes {
            marks.clear(*id, active);
            marks.written(*id, active);
        }
        return;
    }
    marks.off = off;
    let at = At {
        pc: path.pc,
        next: op.next,
        mask: path.mask,
        live: wave.live,
        clock: moment.clock,
        core: moment.core,
        depth: wave.depth as u32,
        waves: moment.waves,
        whole: wave.paths.len() == 1,
        may_diverge: exec.may_diverge,
    };
    program.isa.follow(inst, &at, &state.regs, marks, always, (reads, writes));
    if !marks.found.is_empty() {
        checker.found();
    }
}
