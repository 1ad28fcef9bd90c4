//! Many instructions of one wave in a row, for runs that nobody watches: the same as [`Exec::step`] again and again, with
//! everything that does not change in between looked at once.

use crate::divergence::Notes;
use crate::error::SimError;
use crate::exec::{Effect, Exec, Moment};
use crate::wave::{PathState, Wave};
use wb_isa::{At, Bus, Flow, Isa, Mask, Pc, Quick, Trap};
use wb_program::Step;

/// What a stretch did.
pub struct Stretch {
    /// Instructions executed, and how many lanes were active in them together.
    pub count: u64,
    pub lanes: u64,
    /// What the core must do after the last one.
    pub effect: Effect,
}

/// Lanes that are active, and how many of all instructions together: they seldom change, so that is counted when they do.
#[derive(Default)]
struct Active {
    now: Mask,
    width: u64,
    /// Those of all instructions before the first one with these, and how many instructions these are.
    before: u64,
    since: u64,
}

impl Active {
    /// After `count` instructions others are active.
    #[inline(always)]
    fn change(&mut self, now: Mask, count: u64) {
        self.before = self.lanes(count);
        (self.now, self.since, self.width) = (now, count, now.count_ones().into());
    }

    /// Active lanes of `count` instructions together.
    #[inline(always)]
    fn lanes(&self, count: u64) -> u64 {
        self.before + (count - self.since) * self.width
    }
}

/// Why a stretch ends.
enum End {
    /// It is long enough, or [`Exec::step`] must look at the next instruction.
    Here,
    /// The instruction did something else than go on.
    Flow(At, Flow),
    Trap(Box<Trap>),
}

impl<I: Isa> Exec<'_, I> {
    /// Executes the instruction at a pc, before the next one and after so many others, whatever it is; none if there is none. A function of
    /// its own: the host's registers are for the loop around it.
    #[inline(never)]
    fn general<B: Bus>(
        &self,
        fixed: &At,
        (pc, next, count): (Pc, Pc, u64),
        regs: &mut I::Regs,
        bus: &mut B,
    ) -> Option<Result<Flow, Trap>> {
        let inst = self.program.ops.get(pc as usize)?.inst.as_ref()?;
        let at = At { pc, next, clock: fixed.clock + count, ..*fixed };
        Some(self.program.isa.exec(inst, &at, regs, bus))
    }

    /// Executes instructions of a wave that has never been split as long as they go on or jump, at most `most`. The last one may do
    /// anything. None at all if the next one needs [`Exec::step`].
    #[inline(never)]
    pub fn stretch<X: Clone, B: Bus>(
        &self,
        wave: &mut Wave<I, X>,
        moment: Moment,
        bus: &mut B,
        notes: &mut Notes,
        most: u64,
    ) -> Result<Stretch, Box<SimError>> {
        let (program, isa) = (self.program, &self.program.isa);
        // A jump changes nothing about what the mechanism watches for, unless it was about to change that anyway.
        let steady = wave.divergence.watch(0) == wave.paths[0].path.watch;
        let follows = steady && wave.divergence.follows_masks();
        let (live, depth) = (wave.live, wave.depth as u32);
        let PathState { path, regs, .. } = &mut wave.paths[0];
        let (mask, watch) = (path.mask, path.watch);
        let (mut pc, mut from) = (path.pc, path.from);
        let (mut count, mut active) = (0, Active::default());
        let fixed = At {
            pc,
            next: pc,
            mask,
            live,
            clock: moment.clock,
            core: moment.core,
            depth,
            waves: moment.waves,
            whole: true,
            may_diverge: self.may_diverge,
        };
        let end = loop {
            let Some(step) = program.steps.get(pc as usize).filter(|_| count < most) else { break End::Here };
            let (Some(bound), true) = (&step.bound, step.next != watch) else { break End::Here };
            let now = isa.active(regs, mask);
            if now != active.now {
                active.change(now, count);
            }
            let to = match isa.quick(bound, mask, true, regs) {
                Quick::Next => step.next,
                Quick::No => match self.general(&fixed, (pc, step.next, count), regs, bus) {
                    Some(Ok(Flow::Next)) => step.next,
                    Some(Ok(flow)) => {
                        let at = At { pc, next: step.next, clock: moment.clock + count, ..fixed };
                        break End::Flow(at, flow);
                    }
                    Some(Err(trap)) => break End::Trap(Box::new(trap)),
                    None => break End::Here,
                },
                Quick::Jump(target) if steady && target != watch => target,
                Quick::MaskBranch { jump: true, target } if follows && target != watch => target,
                Quick::MaskBranch { jump: false, .. } if follows => step.next,
                Quick::Jump(_) | Quick::MaskBranch { .. } => break End::Here,
            };
            count += 1;
            (from, pc) = (pc, to);
        };
        let (mut lanes, width) = (active.lanes(count), active.width);
        (path.pc, path.from) = (pc, from);
        wave.issued += count;
        let effect = match end {
            End::Here => Effect::Continue,
            End::Flow(at, flow) => {
                wave.paths[0].path.from = pc;
                wave.issued += 1;
                count += 1;
                lanes += width;
                self.change(wave, 0, at, flow, notes)?
            }
            End::Trap(trap) => {
                let path = wave.paths[0].path;
                return Err(self.fault(wave.id, &path, *trap));
            }
        };
        Ok(Stretch { count, lanes, effect })
    }

    /// Executes instructions of a wave that has never been split as long as they concern only its registers and go on, at most `most`,
    /// and not those of which `leave` says so; a jump is the last one. Returns how many, and their active lanes together.
    #[inline(always)]
    pub fn run_ahead<X>(
        &self,
        wave: &mut Wave<I, X>,
        most: u32,
        leave: impl Fn(&Step<I::Bound>) -> bool,
    ) -> (u32, u64) {
        let (program, isa) = (self.program, &self.program.isa);
        let PathState { path, regs, .. } = &mut wave.paths[0];
        let (mask, watch) = (path.mask, path.watch);
        let (mut pc, mut from) = (path.pc, path.from);
        let (mut count, mut lanes) = (0, 0);
        // Active lanes seldom change.
        let (mut active, mut width) = (0, 0);
        while count < most {
            let Some(step) = program.steps.get(pc as usize) else { break };
            let (Some(bound), true) = (&step.bound, step.next != watch && !leave(step)) else { break };
            // A block is asked at every branch, whether it goes elsewhere or not.
            if self.blocks && self.is_branch(pc) {
                break;
            }
            let now = isa.active(regs, mask);
            if now != active {
                (active, width) = (now, u64::from(now.count_ones()));
            }
            let quick = isa.quick(bound, mask, true, regs);
            let to = match quick {
                Quick::Next => step.next,
                Quick::Jump(target) => target,
                Quick::MaskBranch { jump: true, target } if wave.divergence.follows_masks() => target,
                Quick::MaskBranch { jump: false, .. } if wave.divergence.follows_masks() => step.next,
                Quick::MaskBranch { .. } | Quick::No => break,
            };
            // A jump changes nothing about what the mechanism watches for, unless it was about to change that anyway.
            if quick != Quick::Next && (to == watch || wave.divergence.watch(0) != watch) {
                break;
            }
            count += 1;
            lanes += width;
            (from, pc) = (pc, to);
            if quick != Quick::Next {
                break;
            }
        }
        (path.pc, path.from) = (pc, from);
        wave.issued += u64::from(count);
        (count, lanes)
    }
}
