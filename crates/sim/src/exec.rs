//! One instruction of one path: decoded instruction, lane semantics, divergence mechanism. Shared by the
//! functional and the timed run, so an instruction's meaning exists once.

use crate::divergence::{self, Change, Context, Divergence, Merge, Notes, PathView, Refusal};
use crate::error::{ErrorKind, SimError};
use crate::origins::Origins;
use crate::wave::{Base, Interrupted, Path, PathChange, PathState, Wave};
use wb_hw::Machine;
use wb_isa::lanes::bits;
use wb_isa::{
    At, Bus, EnterWhy, Flow, FlowKind, Isa, Mask, NO_PC, Needed, Pc, Quick, Trap, WaveStart, first_lanes,
};
use wb_program::Program;
use wb_trace::{Kind, MaskCause};

/// What the core must do after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but the instruction itself.
    Continue,
    Barrier {
        id: u64,
        count: u64,
    },
    Spawn {
        pc: Pc,
        reg: u16,
        value: u64,
    },
    SpawnWaves {
        pc: Pc,
        count: u32,
    },
    /// The path does not go on by itself: it waits, merged into another one, or ended; see [`Wave::changes`].
    Away,
    /// The wave is done.
    End,
}

/// When and where an instruction runs.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub clock: u64,
    pub core: u32,
    /// Waves of the core, one bit each.
    pub waves: u64,
}

/// Program, machine and checks of a run.
pub struct Exec<'a, I: Isa> {
    pub program: &'a Program<I>,
    pub machine: &'a Machine,
    /// Lanes may disagree about plain branches.
    pub may_diverge: bool,
    /// The mechanism is asked at every branch ([`Divergence::waits_at_branches`]).
    pub blocks: bool,
    pub lanes: u32,
    /// Split contexts of a wave (S); 0 for mechanisms that do not split.
    pub contexts: u32,
    /// Assert the mask invariants after every instruction.
    pub check: bool,
    /// Paths keep the program's execution mask beside their own and meet where it comes back (THESIS 4.3.4).
    pub base: bool,
}

impl<I: Isa> Exec<'_, I> {
    /// A wave at its first instruction.
    pub fn wave<X>(
        &self,
        start: WaveStart,
        live: Mask,
        pc: Pc,
        reuse: Option<I::Regs>,
        own: X,
    ) -> Wave<I, X> {
        let mut regs = reuse.unwrap_or_else(|| self.program.isa.registers(self.lanes));
        self.program.isa.start(&mut regs, &start);
        let path = Path { pc, mask: live, watch: NO_PC, origin: NO_PC, from: pc };
        Wave {
            id: start.wave,
            paths: vec![PathState {
                path,
                regs,
                own,
                written: Vec::new(),
                origins: Origins::default(),
                base: Base::default(),
            }],
            ids: 1,
            parked: 0,
            at_barrier: 0,
            asked: (NO_PC, 0),
            held: 0,
            barrier: (0, 0),
            team: (start.waves_in_group > 1).then_some((start.group.into(), start.waves_in_group.into())),
            holder: 0,
            divergence: divergence::of(self.machine),
            depth: 0,
            live,
            issued: 0,
            max_depth: 0,
            interrupted: Interrupted::No,
            changes: Vec::new(),
            parted_at: Vec::new(),
            room: u32::MAX,
        }
    }

    /// Executes the instruction at the pc of path `k`. `notes` receives what happened to masks, if it is on.
    #[inline]
    pub fn step<X: Clone, B: Bus>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        moment: Moment,
        bus: &mut B,
        notes: &mut Notes,
    ) -> Result<Effect, Box<SimError>> {
        let whole = wave.paths.len() == 1;
        if !whole {
            self.give_lanes(wave, k);
        }
        let split = wave.is_split();
        let PathState { path, regs, written, base, .. } = &mut wave.paths[k];
        let pc = path.pc;
        let Some((op, inst)) = self.program.ops.get(pc as usize).and_then(|op| Some((op, op.inst.as_ref()?)))
        else {
            let at = Path { pc: path.from, ..*path };
            return Err(self.fault(wave.id, &at, Trap::BadTarget { addr: self.program.linked(pc) }));
        };
        let bound = self.program.steps[pc as usize].bound.as_ref();
        let quick = |regs: &mut I::Regs, mask| match bound {
            Some(bound) => self.program.isa.quick(bound, mask, whole, regs) == Quick::Next,
            None => false,
        };
        // Most instructions: nobody but the wave's registers is concerned.
        let plain = whole && op.next != path.watch && !self.check;
        if plain && quick(regs, path.mask) {
            wave.issued += 1;
            (path.from, path.pc) = (pc, op.next);
            return Ok(Effect::Continue);
        }
        let at = At {
            pc,
            next: op.next,
            mask: path.mask,
            live: wave.live,
            clock: moment.clock,
            core: moment.core,
            depth: wave.depth as u32,
            waves: moment.waves,
            whole,
            may_diverge: self.may_diverge,
        };
        wave.issued += 1;
        path.from = pc;
        let follows = self.base && split;
        let mask_before = if follows { self.program.isa.base_mask(&base.registers) } else { 0 };
        let on_masks = follows && self.program.isa.base_step(inst, regs, &mut base.registers);
        // Nothing instead of "go on": that is most of what comes back, and then nobody has to copy it.
        let flow = if !plain && !follows && quick(regs, path.mask) {
            None
        } else {
            match self.program.isa.exec(inst, &at, regs, bus) {
                Ok(Flow::Next) => None,
                Ok(flow) => Some(flow),
                Err(trap) => {
                    let path = *path;
                    return Err(self.fault(wave.id, &path, trap));
                }
            }
        };
        if !whole {
            self.note_written(self.program.writes(op), written, wave.issued);
        }
        if follows {
            let writes = self.program.writes(op);
            for &register in writes.iter().filter(|_| !on_masks) {
                self.program.isa.take_base(&mut base.registers, regs, register);
            }
            base.moved = self.program.isa.base_mask(&base.registers) != mask_before;
        }
        match flow {
            None if op.next != path.watch
                && !(split && (base.moved || self.may_meet(wave, k, op.next)))
                && !(self.blocks && self.is_branch(pc)) =>
            {
                wave.paths[k].path.pc = op.next;
                if split && wave.divergence.meets() {
                    // Siblings that left may have changed it.
                    wave.paths[k].path.watch = wave.divergence.watch(k);
                }
                if self.check {
                    self.check(wave)?;
                }
                Ok(Effect::Continue)
            }
            flow => self.change(wave, k, at, flow.unwrap_or(Flow::Next), notes),
        }
    }

    /// A path of a wave that has split wrote its registers with instruction `number` of the wave.
    #[inline(always)]
    pub(crate) fn note_written(&self, writes: &[u16], written: &mut [u64], number: u64) {
        if written.is_empty() {
            return;
        }
        let range = self.program.isa.path_registers();
        for &register in writes.iter().filter(|r| range.contains(r)) {
            written[usize::from(register - range.start)] = number;
        }
    }

    /// Whether path `k` of a wave that has split can go on from an instruction to the next one without anybody being asked. If so it has the
    /// lanes' registers.
    #[inline(always)]
    pub(crate) fn may_go_on_alone<X>(&self, wave: &mut Wave<I, X>, k: usize, (from, to): (Pc, Pc)) -> bool {
        if wave.is_split() && (self.base || self.may_meet(wave, k, to)) || self.blocks && self.is_branch(from)
        {
            return false;
        }
        self.give_lanes(wave, k);
        true
    }

    /// The mechanism has to be asked when path `k` comes to `pc` from the instruction before it, where nobody waits for it: a sibling may stand
    /// there, or one that is held be passed, so that who runs may change.
    fn may_meet<X>(&self, wave: &Wave<I, X>, k: usize, pc: Pc) -> bool {
        let here = |j: u32| j as usize != k && wave.paths[j as usize].path.pc == pc;
        let passed = |j: u32| wave.paths[j as usize].path.pc <= pc;
        let divergence = &wave.divergence;
        divergence.meets()
            && (divergence.watch(k) == pc
                || bits(wave.held).any(passed)
                || bits(wave.standing() & !wave.held).any(here))
    }

    pub(crate) fn is_branch(&self, pc: Pc) -> bool {
        matches!(self.program.flow.kind[pc as usize], FlowKind::Branch(_) | FlowKind::Indirect { .. })
    }

    /// The lanes' registers go to the path that runs now.
    #[inline(always)]
    pub(crate) fn give_lanes<X>(&self, wave: &mut Wave<I, X>, k: usize) {
        if wave.holder != k {
            if let Ok([from, to]) = wave.paths.get_disjoint_mut([wave.holder, k]) {
                self.program.isa.hand_over(&mut from.regs, &mut to.regs);
            }
            wave.holder = k;
        }
    }

    /// Contexts the wave could still split into.
    pub(crate) fn free<X>(&self, wave: &Wave<I, X>) -> u64 {
        if wave.room < 1 + u32::from(!wave.is_split()) {
            return 0;
        }
        first_lanes(self.contexts + 1) & !wave.ids & !1
    }

    /// Anything but "go on to the next instruction". Not inlined: what is in [`Exec::step`] is in every instruction's way.
    #[inline(never)]
    pub(crate) fn change<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        at: At,
        flow: Flow,
        notes: &mut Notes,
    ) -> Result<Effect, Box<SimError>> {
        let mut next = at.next;
        let (flow, effect) = match flow {
            // A branch whose other side is the instruction itself.
            Flow::Scatter { taken, target } => {
                next = at.pc;
                (Flow::Branch { taken, target }, Effect::Continue)
            }
            Flow::Barrier { id, count } => {
                let before = if wave.asked.0 == at.pc { wave.asked.1 } else { 0 };
                wave.asked = (at.pc, before | at.mask);
                (Flow::Next, Effect::Barrier { id, count })
            }
            Flow::Spawn { pc, reg, value } => (Flow::Next, Effect::Spawn { pc, reg, value }),
            Flow::SpawnWaves { pc, count } => (Flow::Next, Effect::SpawnWaves { pc, count }),
            flow => (flow, Effect::Continue),
        };
        let entered = match flow {
            Flow::Enter { why, .. } => Some(why),
            _ => None,
        };
        let view = PathView { pc: at.pc, next, mask: at.mask, origin: wave.paths[k].path.origin, id: k };
        let change =
            self.ask(wave, view, (at.clock, 0), notes, |divergence, cx| divergence.step(flow, cx))?;
        if let Some(why) = entered {
            self.enter(wave, k, change, why)?;
        }
        let Some(mut effect) = self.follow(wave, k, &at, change, effect, notes)? else {
            return Ok(Effect::End);
        };
        if self.base && wave.parked != 0 {
            effect = self.give_up(wave, k, effect);
        }
        self.hold(wave);
        wave.depth = wave.divergence.depth();
        wave.max_depth = wave.max_depth.max(wave.depth);
        if self.check {
            self.check(wave)?;
        }
        Ok(effect)
    }

    /// Does what the mechanism says about paths, as long as it has something to say. Returns what becomes of path `k`, which
    /// executed; none if no lane of the wave is left.
    #[inline]
    fn follow<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        at: &At,
        mut change: Change,
        mut effect: Effect,
        notes: &mut Notes,
    ) -> Result<Option<Effect>, Box<SimError>> {
        // The path the mechanism talks about.
        let mut now = k;
        loop {
            match change {
                Change::Continue { pc, mask, origin, cause } => {
                    if let (true, Some(cause)) = (notes.on, cause) {
                        notes.list.push(Kind::Mask { new: mask, live: wave.live | mask, origin, cause });
                    }
                    let watch = wave.divergence.watch(now);
                    wave.paths[now].path = Path { pc, mask, origin, watch, from: at.pc };
                }
                Change::Split { keep, new, id, origin } => {
                    self.split(wave, now, keep, new, id, origin, at.pc)?;
                    if notes.on {
                        notes.list.push(Kind::PathNew { at: new.0, lanes: new.1 });
                        let (new, live) = (keep.1, wave.live);
                        notes.list.push(Kind::Mask { new, live, origin, cause: MaskCause::Diverge });
                    }
                }
                Change::Park { pc } => {
                    wave.paths[now].path.pc = pc;
                    wave.parked |= 1 << now;
                    wave.changes.push(PathChange::Parked { id: now });
                    return Ok(Some(if now == k { Effect::Away } else { effect }));
                }
                Change::Merge(merge) => {
                    self.merge(wave, &merge, at.pc, notes)?;
                    let waits = merge.into == k && !merge.continues;
                    effect = if waits || merge.from == k { Effect::Away } else { effect };
                    if !merge.continues {
                        // It may have been woken by a merge just before.
                        wave.changes.push(PathChange::Parked { id: merge.into });
                        return Ok(Some(effect));
                    }
                    now = merge.into;
                }
                Change::Pass { wake } => {
                    wave.paths[now].path.watch = wave.divergence.watch(now);
                    if let Some(id) = wake {
                        wave.paths[id].path.watch = wave.divergence.watch(id);
                        wave.parked &= !(1 << id);
                        wave.changes.push(PathChange::Woken { id });
                    }
                }
                Change::Leave { wake } => {
                    let left = leave(wave, now, wake);
                    let Some(id) = wake.filter(|_| wave.divergence.forks()) else { return Ok(Some(left)) };
                    // It may stand where it has to be asked again.
                    (now, effect) = (id, left);
                    wave.paths[id].path.watch = wave.divergence.watch(id);
                }
                Change::End => return Ok(None),
            }
            // Who waits at a barrier stands where others may come to before it.
            let waits = now == k && matches!(effect, Effect::Barrier { .. });
            if waits
                && self.program.isa.lane_barriers()
                && wave.paths[now].path.pc != wave.paths[now].path.watch
            {
                return Ok(Some(effect));
            }
            match self.next_change(wave, now, (at.next, at.clock), notes)? {
                Some(next) => change = next,
                None => return Ok(Some(effect)),
            }
        }
    }

    /// What the mechanism says about a path where it is now: it may be watched for there, or meet a sibling.
    #[inline]
    fn next_change<X>(
        &self,
        wave: &mut Wave<I, X>,
        id: usize,
        (next, clock): (Pc, u64),
        notes: &mut Notes,
    ) -> Result<Option<Change>, Box<SimError>> {
        let Path { pc, mask, origin, watch, .. } = wave.paths[id].path;
        let view = PathView { pc, next, mask, origin, id };
        // Behind the last instruction of a program there is nothing to meet at.
        if pc == watch && pc != NO_PC {
            let disagree = if wave.divergence.goes_apart() { self.disagree(wave, id) } else { 0 };
            self.ask(wave, view, (clock, disagree), notes, |divergence, cx| divergence.arrive(cx)).map(Some)
        } else if !wave.is_split() {
            Ok(None)
        } else if std::mem::take(&mut wave.paths[id].base.moved) {
            Ok(self.restored(wave, view, clock, notes))
        } else if wave.divergence.meets() {
            self.meet(wave, view, clock, notes)
        } else {
            Ok(None)
        }
    }

    /// Asks the mechanism about a path.
    fn ask<X>(
        &self,
        wave: &mut Wave<I, X>,
        view: PathView,
        (clock, disagree): (u64, u64),
        notes: &mut Notes,
        ask: impl FnOnce(&mut dyn Divergence, &mut Context) -> Result<Change, Refusal>,
    ) -> Result<Change, Box<SimError>> {
        let free = self.free(wave);
        let map = &self.program.flow;
        let mut cx = Context { at: view, live: &mut wave.live, map, notes, free, clock, disagree };
        let answer = ask(&mut *wave.divergence, &mut cx);
        answer.map_err(|refusal| self.refused(wave.id, &wave.paths[view.id].path, refusal))
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn split<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        keep: (Pc, Mask),
        new: (Pc, Mask),
        id: usize,
        origin: Pc,
        from: Pc,
    ) -> Result<(), Box<SimError>> {
        let Some(regs) = self.program.isa.fork(&wave.paths[k].regs) else {
            let refusal =
                Refusal::Unsupported { what: "a split wave", mechanism: self.machine.divergence.mechanism };
            return Err(self.refused(wave.id, &wave.paths[k].path, refusal));
        };
        let path = |side: (Pc, Mask), id| {
            let watch = wave.divergence.watch(id);
            Path { pc: side.0, mask: side.1, watch, origin, from }
        };
        let (first, second) = (path(keep, k), path(new, id));
        if self.base && !wave.is_split() {
            wave.paths[k].base.registers = self.program.isa.base(&wave.paths[k].regs);
        }
        wave.paths[k].path = first;
        self.program.isa.confine(&mut wave.paths[k].regs, keep.1);
        if wave.parted_at.is_empty() {
            let n = self.contexts as usize + 1;
            wave.parted_at = vec![0; n * n];
            wave.paths[k].written = vec![0; self.program.isa.path_registers().len()];
        }
        self.note_parting(wave, k, id);
        let PathState { own, written, origins, base, .. } = &wave.paths[k];
        let (own, written, origins, base) = (own.clone(), written.clone(), origins.clone(), base.clone());
        let mut state = PathState { path: second, regs, own, written, origins, base };
        self.program.isa.confine(&mut state.regs, new.1);
        while wave.paths.len() < id {
            // A context below that is in nobody's use yet: any contents do.
            let Some(regs) = self.program.isa.fork(&state.regs) else { break };
            let (own, written) = (state.own.clone(), state.written.clone());
            let (origins, base) = (Origins::default(), Base::default());
            wave.paths.push(PathState { path: second, regs, own, written, origins, base });
        }
        if wave.paths.len() == id {
            wave.paths.push(state);
        } else {
            wave.paths[id] = state;
        }
        wave.ids |= 1 << id;
        wave.changes.push(PathChange::New { id });
        Ok(())
    }

    /// Path `id` comes from path `k` now.
    fn note_parting<X>(&self, wave: &mut Wave<I, X>, k: usize, id: usize) {
        let n = self.contexts as usize + 1;
        for j in bits(wave.ids).map(|j| j as usize) {
            let since = if j == k { wave.issued } else { wave.parted_at[j * n + k] };
            (wave.parted_at[j * n + id], wave.parted_at[id * n + j]) = (since, since);
        }
    }

    /// Plain values in which two paths differ: those that only `from` wrote since they parted, as if its side had
    /// run within the wave. One that both wrote is an error.
    pub(crate) fn scalars_to_take<X>(
        &self,
        wave: &Wave<I, X>,
        into: usize,
        from: usize,
        needed: &Needed,
    ) -> Result<Vec<u16>, u16> {
        let isa = &self.program.isa;
        let mut take = isa.differ(&wave.paths[into].regs, &wave.paths[from].regs, needed);
        let first = isa.path_registers().start;
        let since = wave.parted_at[into * (self.contexts as usize + 1) + from];
        let wrote = |j: usize, r: u16| {
            let when = wave.paths[j].written.get(usize::from(r - first));
            when.is_none_or(|&when| when > since)
        };
        match take.iter().find(|&&r| wrote(into, r) && wrote(from, r)) {
            Some(&register) => Err(register),
            None => {
                take.retain(|&r| wrote(from, r));
                Ok(take)
            }
        }
    }

    /// Two paths become one, with the lanes of both. It goes on, or waits for another one.
    fn merge<X>(
        &self,
        wave: &mut Wave<I, X>,
        merge: &Merge,
        at: Pc,
        notes: &mut Notes,
    ) -> Result<(), Box<SimError>> {
        let Merge { into, from, pc, mask, continues, origin } = *merge;
        self.merge_scalars(wave, into, from, pc, at)?;
        let gained = wave.paths[from].path.mask;
        let watch = wave.divergence.watch(into);
        wave.paths[into].path = Path { pc, mask, watch, origin, from: at };
        let was_parked = wave.parked >> into & 1 == 1;
        wave.parked &= !(1 << into | 1 << from);
        wave.held &= !(1 << into | 1 << from);
        if notes.on {
            notes.list.push(Kind::PathMerge { lanes: gained });
            let live = wave.live;
            notes.list.push(Kind::Mask { new: mask, live, origin, cause: MaskCause::Reconverge });
        }
        if !continues {
            wave.parked |= 1 << into;
        } else if was_parked {
            wave.changes.push(PathChange::Woken { id: into });
        }
        Ok(())
    }

    /// Scalar registers of two paths become one set (docs/mechanisms.md, merging scalars).
    fn merge_scalars<X>(
        &self,
        wave: &mut Wave<I, X>,
        into: usize,
        from: usize,
        pc: Pc,
        at: Pc,
    ) -> Result<(), Box<SimError>> {
        if wave.holder == from {
            self.give_lanes(wave, into);
        }
        let needed = self.program.needed(pc);
        let lanes = wave.paths[from].path.mask;
        let isa = &self.program.isa;
        let take = self.scalars_to_take(wave, into, from, &needed);
        if let Err(register) = take {
            let message = format!(
                "paths {into} and {from} of the wave merge, but disagree about {}: both wrote it, it is read later \
                 and is no lane mask",
                isa.register_name(register)
            );
            let hint =
                Some("a scalar that differs between the sides of a split must not be read after the merge");
            let error = SimError::new(ErrorKind::Divergence, message).hint(hint);
            return Err(Box::new(error.at(self.program, wave.id, at, lanes, self.lanes)));
        }
        if let Ok([a, b]) = wave.paths.get_disjoint_mut([into, from]) {
            isa.merge(&mut a.regs, &b.regs, lanes, &needed, &take.unwrap_or_default());
            isa.merge_base(&mut a.base.registers, &b.base.registers, lanes, &needed, &a.regs);
            for (mine, theirs) in a.written.iter_mut().zip(&b.written) {
                *mine = (*mine).max(*theirs);
            }
        }
        wave.ids &= !(1 << from);
        wave.changes.push(PathChange::Merged { into, from });
        Ok(())
    }

    /// Where the ISA has an execution mask of its own, tells observers when it changed under the path.
    pub fn note_active<X>(&self, wave: &mut Wave<I, X>, k: usize, before: Mask, notes: &mut Notes) {
        let live = wave.live;
        let PathState { path, regs, origins, .. } = &mut wave.paths[k];
        let now = self.program.isa.active(regs, path.mask);
        if now == before || notes.list.iter().any(|k| matches!(k, Kind::Mask { .. })) {
            return;
        }
        path.origin = origins.change((before, path.origin), now, live, path.from);
        let cause = if now & before == now { MaskCause::MaskTest } else { MaskCause::Switch };
        notes.add(|| Kind::Mask { new: now, live, origin: path.origin, cause });
    }

    /// Lanes chosen by the program or by an interrupt rather than by the mechanism.
    fn enter<X>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        change: Change,
        why: EnterWhy,
    ) -> Result<(), Box<SimError>> {
        wave.interrupted = match (why, wave.interrupted) {
            (EnterWhy::Interrupt, Interrupted::No) => Interrupted::Handler,
            (EnterWhy::Interrupt, _) => Interrupted::Nested,
            (EnterWhy::Return, Interrupted::Handler) => Interrupted::No,
            (_, same) => same,
        };
        if let (EnterWhy::Lanes, Change::Continue { mask, .. }) = (why, change) {
            if wave.divergence.depth() > 0 {
                let message = "the number of lanes changes inside a divergent region";
                let hint = Some("join first: lanes that wait on the divergence stack would run twice");
                let error = SimError::new(ErrorKind::Divergence, message).hint(hint);
                let path = &wave.paths[k].path;
                return Err(Box::new(error.at(self.program, wave.id, path.pc, path.mask, self.lanes)));
            }
            wave.live = mask;
        }
        Ok(())
    }

    /// All paths of the wave wait, some of them at a barrier. Where a barrier is for every lane, all live lanes must have come to the
    /// same one; lanes that joined a path behind it have not.
    pub fn check_barrier<X>(&self, wave: &mut Wave<I, X>) -> Result<(), Box<SimError>> {
        let (pc, came) = std::mem::replace(&mut wave.asked, (NO_PC, 0));
        let missing = wave.live & !came;
        if missing == 0 || !self.program.isa.lane_barriers() {
            return Ok(());
        }
        let lanes: Vec<String> = bits(missing).map(|l| l.to_string()).collect();
        let message = format!("a barrier in divergent code: lanes {} are not there", lanes.join(" "));
        let hint = Some("every work-item of a group must reach the same barrier: move it out of the branch");
        let error = SimError::new(ErrorKind::Divergence, message).hint(hint);
        Err(Box::new(error.at(self.program, wave.id, pc, came, self.lanes)))
    }

    #[cold]
    pub(crate) fn fault(&self, wave: u32, path: &Path, trap: Trap) -> Box<SimError> {
        let mut error = SimError::new(ErrorKind::Trap, trap.to_string()).hint(trap.hint());
        error.fault = matches!(trap, Trap::Memory(_)).then(|| trap.to_string());
        Box::new(error.at(self.program, wave, path.pc, path.mask, self.lanes))
    }

    #[cold]
    fn refused(&self, wave: u32, path: &Path, refusal: Refusal) -> Box<SimError> {
        let error = SimError::new(ErrorKind::Divergence, refusal.to_string()).hint(refusal.hint());
        Box::new(error.at(self.program, wave, path.pc, path.mask, self.lanes))
    }
}

/// The path has no lane left; `wake` waited only for it.
fn leave<I: Isa, X>(wave: &mut Wave<I, X>, id: usize, wake: Option<usize>) -> Effect {
    wave.ids &= !(1 << id);
    wave.parked &= !(1 << id);
    wave.held &= !(1 << id);
    wave.changes.push(PathChange::Ended { id });
    if let Some(id) = wake {
        wave.parked &= !(1 << id);
        wave.changes.push(PathChange::Woken { id });
    }
    if wave.ids == 0 { Effect::End } else { Effect::Away }
}
