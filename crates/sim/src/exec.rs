//! One instruction of one path: decoded instruction, lane semantics, divergence mechanism. Shared by the
//! functional and the timed run, so an instruction's meaning exists once.

use crate::divergence::{Change, Context, Divergence, Notes, PathView, Refusal};
use crate::error::{ErrorKind, SimError};
use wb_isa::{At, Bus, EnterWhy, Flow, Isa, Mask, NO_PC, Pc, Trap, WaveStart};
use wb_program::Program;
use wb_trace::{Kind, MaskCause};

/// Lanes launched together: registers shared by its paths, mechanism state, who is left.
pub struct Wave<I: Isa, D: Divergence> {
    pub id: u32,
    pub regs: I::Regs,
    pub state: D::State,
    /// Launched and not exited.
    pub live: Mask,
    /// Instructions issued by the wave.
    pub issued: u64,
    /// Most stack entries the wave ever had.
    pub max_depth: usize,
    pub interrupted: Interrupted,
}

/// Whether a handler runs on lane 0: then masks on the stack belong to what it interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    No,
    Handler,
    /// An interrupt inside a handler: the machine keeps one context, the first one is lost for good.
    Nested,
}

/// A schedulable (pc, lanes) of a wave.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub pc: Pc,
    pub mask: Mask,
    /// Where the mechanism wants to be asked before the path goes on.
    pub watch: Pc,
    /// What narrowed the mask.
    pub origin: Pc,
    /// The instruction executed last, for messages.
    pub from: Pc,
}

/// What the core must do after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Go,
    Barrier { id: u64, count: u64 },
    Spawn { pc: Pc, reg: u16, value: u64 },
    End,
}

/// Program, mechanism and checks of a run.
pub struct Exec<'a, I: Isa, D: Divergence> {
    pub program: &'a Program<I>,
    pub mechanism: &'a D,
    pub lanes: u32,
    /// Assert the mask invariants after every instruction.
    pub check: bool,
}

impl<I: Isa, D: Divergence> Exec<'_, I, D> {
    /// A wave at its first instruction.
    pub fn wave(&self, start: WaveStart, live: Mask, pc: Pc, reuse: Option<I::Regs>) -> (Wave<I, D>, Path) {
        let mut regs = reuse.unwrap_or_else(|| self.program.isa.registers(self.lanes));
        self.program.isa.start(&mut regs, &start);
        let wave = Wave {
            id: start.wave,
            regs,
            state: D::State::default(),
            live,
            issued: 0,
            max_depth: 0,
            interrupted: Interrupted::No,
        };
        (wave, Path { pc, mask: live, watch: NO_PC, origin: NO_PC, from: pc })
    }

    /// Executes the instruction at the path's pc. `notes` receives what happened to masks, if it is on.
    #[inline]
    pub fn step<B: Bus>(
        &self,
        wave: &mut Wave<I, D>,
        path: &mut Path,
        clock: u64,
        core: u32,
        bus: &mut B,
        notes: &mut Notes,
    ) -> Result<Effect, Box<SimError>> {
        let pc = path.pc;
        let Some((op, inst)) = self.program.ops.get(pc as usize).and_then(|op| Some((op, op.inst.as_ref()?)))
        else {
            let at = Path { pc: path.from, ..*path };
            return Err(self.fault(wave, &at, Trap::BadTarget { addr: self.program.isa.addr_of(pc) }));
        };
        let at = At {
            pc,
            next: op.next,
            mask: path.mask,
            live: wave.live,
            clock,
            core,
            may_diverge: D::MAY_DIVERGE,
        };
        wave.issued += 1;
        path.from = pc;
        let flow = match self.program.isa.exec(inst, &at, &mut wave.regs, bus) {
            Ok(flow) => flow,
            Err(trap) => return Err(self.fault(wave, path, trap)),
        };
        match flow {
            Flow::Next if op.next != path.watch => {
                path.pc = op.next;
                if self.check {
                    self.check(wave, path)?;
                }
                Ok(Effect::Go)
            }
            _ => self.change(wave, path, at, flow, notes),
        }
    }

    /// Anything but "go on to the next instruction".
    fn change(
        &self,
        wave: &mut Wave<I, D>,
        path: &mut Path,
        at: At,
        flow: Flow,
        notes: &mut Notes,
    ) -> Result<Effect, Box<SimError>> {
        let (flow, effect) = match flow {
            Flow::Barrier { id, count } => (Flow::Next, Effect::Barrier { id, count }),
            Flow::Spawn { pc, reg, value } => (Flow::Next, Effect::Spawn { pc, reg, value }),
            flow => (flow, Effect::Go),
        };
        let entered = match flow {
            Flow::Enter { why, .. } => Some(why),
            _ => None,
        };
        let view = PathView { pc: at.pc, next: at.next, mask: at.mask, origin: path.origin };
        let mut cx = Context { at: view, live: &mut wave.live, map: &self.program.flow, notes };
        let mut change = self
            .mechanism
            .step(&mut wave.state, flow, &mut cx)
            .map_err(|refusal| self.refused(wave, path, refusal))?;
        if let Some(why) = entered {
            self.enter(wave, path, change, why)?;
        }
        loop {
            let Change::Go { pc, mask, origin, cause } = change else {
                return Ok(Effect::End);
            };
            if let (true, Some(cause)) = (notes.on, cause) {
                notes.list.push(Kind::Mask { new: mask, live: wave.live | mask, origin, cause });
            }
            *path = Path { pc, mask, origin, watch: self.mechanism.watch(&wave.state), from: at.pc };
            if pc != path.watch {
                break;
            }
            let view = PathView { pc, next: at.next, mask, origin };
            let mut cx = Context { at: view, live: &mut wave.live, map: &self.program.flow, notes };
            change = self
                .mechanism
                .arrive(&mut wave.state, &mut cx)
                .map_err(|refusal| self.refused(wave, path, refusal))?;
        }
        wave.max_depth = wave.max_depth.max(self.mechanism.depth(&wave.state));
        if self.check {
            self.check(wave, path)?;
        }
        Ok(effect)
    }

    /// Where the ISA has an execution mask of its own, tells observers when it changed under the path.
    pub fn note_active(&self, wave: &Wave<I, D>, path: &mut Path, before: Mask, notes: &mut Notes) {
        let now = self.program.isa.active(&wave.regs, path.mask);
        if now == before || notes.list.iter().any(|k| matches!(k, Kind::Mask { .. })) {
            return;
        }
        if now & before == now {
            path.origin = path.from;
        } else if now == wave.live {
            path.origin = NO_PC;
        }
        let cause = if now & before == now { MaskCause::MaskTest } else { MaskCause::Switch };
        notes.add(|| Kind::Mask { new: now, live: wave.live, origin: path.origin, cause });
    }

    /// Lanes chosen by the program or by an interrupt rather than by the mechanism.
    fn enter(
        &self,
        wave: &mut Wave<I, D>,
        path: &Path,
        change: Change,
        why: EnterWhy,
    ) -> Result<(), Box<SimError>> {
        wave.interrupted = match (why, wave.interrupted) {
            (EnterWhy::Interrupt, Interrupted::No) => Interrupted::Handler,
            (EnterWhy::Interrupt, _) => Interrupted::Nested,
            (EnterWhy::Return, Interrupted::Handler) => Interrupted::No,
            (_, same) => same,
        };
        if let (EnterWhy::Lanes, Change::Go { mask, .. }) = (why, change) {
            if self.mechanism.depth(&wave.state) > 0 {
                let message = "the number of lanes changes inside a divergent region";
                let hint = Some("join first: lanes that wait on the divergence stack would run twice");
                let error = SimError::new(ErrorKind::Divergence, message).hint(hint);
                return Err(Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes)));
            }
            wave.live = mask;
        }
        Ok(())
    }

    /// Masks of a wave's paths are disjoint; path, set-aside and exited lanes make up the launched ones.
    fn check(&self, wave: &Wave<I, D>, path: &Path) -> Result<(), Box<SimError>> {
        let mut wrong = None;
        let mut all = path.mask;
        if path.mask == 0 {
            wrong = Some("a path without lanes");
        }
        if wave.interrupted == Interrupted::No {
            if path.mask & !wave.live != 0 {
                wrong = Some("a path with lanes that are not live");
            }
            self.mechanism.set_aside(&wave.state, &mut |mask| {
                if all & mask & wave.live != 0 {
                    wrong = Some("two paths share a lane");
                }
                all |= mask;
            });
            let mut restored = path.mask;
            self.mechanism.restores(&wave.state, &mut |mask| restored |= mask);
            if (all | restored) & wave.live != wave.live {
                wrong = Some("a live lane belongs to no path");
            }
        }
        match wrong {
            None => Ok(()),
            Some(what) => {
                let message = format!("mask invariant broken: {what} (state {:x?})", wave.state);
                let error = SimError::new(ErrorKind::Invariant, message);
                Err(Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes)))
            }
        }
    }

    #[cold]
    fn fault(&self, wave: &Wave<I, D>, path: &Path, trap: Trap) -> Box<SimError> {
        let error = SimError::new(ErrorKind::Trap, trap.to_string()).hint(trap.hint());
        Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes))
    }

    #[cold]
    fn refused(&self, wave: &Wave<I, D>, path: &Path, refusal: Refusal) -> Box<SimError> {
        let error = SimError::new(ErrorKind::Divergence, refusal.to_string()).hint(refusal.hint());
        Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes))
    }
}
