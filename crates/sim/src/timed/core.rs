//! One core of the timed machine: issuers with their seats, units, barriers, front end. Wave slot `s` belongs to
//! partition `s mod partitions`; context `k` of the wave in it has a seat at issuer `k · partitions + p` (PWS: split
//! unit k of SIMD p). What the scheduler scans every cycle lives in flat arrays beside the waves.

use super::board::Board;
use super::issuer::Issuer;
use super::units::Units;
use crate::barrier::Barriers;
use crate::frontend::{Excuse, Fetch, FrontEnd, Seat};
use crate::memory::{Hierarchy, Times, is_known};
use crate::residency::GroupPlace;
use crate::sched::{MakePolicy, View};
use crate::wave::Wave;
use wb_hw::Machine;
use wb_isa::{Isa, Mask, Pc, lanes::bits};
use wb_program::{Op, Program};
use wb_trace::StallReason;

/// What a path has of its own in a timed run.
#[derive(Clone)]
pub struct Timing {
    pub board: Board,
    /// What the path waits for while its wake-up lies ahead.
    pub waits_for: StallReason,
    /// Current stall, followed only for observers.
    pub stall: Option<StallReason>,
    pub stalled_since: u64,
    /// Loads that some lanes wait for longer than others (DWS, revive).
    pub late: Vec<Late>,
    /// Lanes that were active last, and how many they are: counting takes longer than comparing.
    counted: (Mask, u32),
}

/// A load that has data for some lanes from cycle `early` on, for `lanes` from `done` on.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    pub lanes: Mask,
    pub early: u64,
    pub done: u64,
}

impl Timing {
    pub fn new(board: Board, now: u64) -> Self {
        Timing {
            board,
            waits_for: StallReason::Dependency,
            stall: None,
            stalled_since: now,
            late: Vec::new(),
            counted: (0, 0),
        }
    }

    /// How many lanes `active` has.
    #[inline(always)]
    pub fn count(&mut self, active: Mask) -> u64 {
        if self.counted.0 != active {
            self.counted = (active, active.count_ones());
        }
        self.counted.1.into()
    }

    /// A board of a wave that starts in cycle `now`.
    pub fn fresh_board(reuse: Option<Board>, registers: usize, now: u64) -> Board {
        match reuse {
            Some(mut board) => {
                board.clear(now);
                board
            }
            None => Board::new(registers),
        }
    }
}

/// A wave in its slot.
pub struct Resident<I: Isa> {
    pub wave: Wave<I, Timing>,
    pub place: GroupPlace,
    pub age: u64,
    /// When the results of paths that are gone have all arrived.
    pub drained: u64,
}

/// Path `path` of the wave in `slot` wants waves 1 to `count` − 1 to start at `pc`.
#[derive(Clone, Copy, Debug)]
pub struct Spawning {
    pub slot: usize,
    pub path: usize,
    pub pc: Pc,
    pub count: u32,
}

pub struct Core<I: Isa> {
    pub waves: Vec<Option<Box<Resident<I>>>>,
    pub(super) issuers: Vec<Issuer>,
    pub partitions: usize,
    pub(super) seats: usize,
    pub units: Units,
    pub barriers: Barriers,
    pub frontend: FrontEnd,
    /// Waves in the core, and which of its first 64 slots they have.
    pub occupied: u32,
    pub present: u64,
    /// A wave that waits until it is alone to start others.
    pub spawning: Option<Spawning>,
    pub(super) decoupled: bool,
    pub(super) coordinated: bool,
    /// Jumps are known late: what issues may be on the wrong path.
    pub(super) late: bool,
    /// The front end has to be asked who has an instruction: it does not say when one comes.
    pub(super) followed: bool,
    /// The front end has to be told of every cycle, or has something to do in some by itself.
    pub(super) counts: bool,
    /// The context of a wave that issued last, where contexts share an issue port.
    pub(super) last: Vec<u8>,
    /// Contexts that have been used so far, at least one: the others need not be looked at.
    pub(super) used: usize,
    /// Issuers of these contexts.
    in_turn: usize,
    /// By issuer, the cycle from which on it is looked at: before, nobody of it can issue and nothing of it changes by itself. Filled up
    /// to a multiple of four, which the host compares in one go.
    pub(super) dues: Vec<u64>,
    /// The first of them, once all have had their turn.
    pub(super) first_due: u64,
    /// By partition, the contexts that have a path in some seat, one bit each.
    pub(super) in_use: Vec<u64>,
    /// Contexts share an issue port: the scheduler of a partition is that of context 0.
    pub(super) shared: bool,
    /// A wave stays with the context that issued last while it is ready.
    pub(super) sticky: bool,
    /// The cycle it is in, and how many of its schedulers have had their turn in it.
    pub(super) now: u64,
    pub(super) turns: usize,
    /// The first cycle that the front end has not passed; when it does something by itself; and whether it was told something.
    pub(super) fetched: u64,
    pub(super) fetch_due: u64,
    pub(super) told: bool,
}

/// The cycle from which an instruction has all that it waits for, at least `from`.
#[inline(never)]
pub fn wait_for<I: Isa>(
    board: &Board,
    op: &Op<I::Inst>,
    program: &Program<I>,
    lanes: Mask,
    mut from: u64,
) -> u64 {
    if op.waits_for_all {
        from = from.max(board.all_done());
    }
    if let Some(until) = op.waits.until {
        from = from.max(board.counters_at_most(until));
    }
    board.wait_all(program.touches(op), lanes, from)
}

impl<I: Isa> Core<I> {
    /// `fetch`: so many instructions that issue together are fetched together.
    pub fn new(
        machine: &Machine,
        contexts: u32,
        (shared, sticky): (bool, bool),
        fetch: u32,
        issue: &MakePolicy,
        observed: bool,
    ) -> Self {
        let partitions = machine.core.partitions as usize;
        let seats = (machine.core.waves / machine.core.partitions) as usize;
        let issuers = partitions * (contexts as usize + 1);
        let frontend = FrontEnd::new(machine, issuers, fetch);
        Core {
            waves: (0..machine.core.waves).map(|_| None).collect(),
            issuers: (0..issuers)
                .map(|q| Issuer::new(issue(), (q % partitions, q / partitions), observed))
                .collect(),
            partitions,
            seats,
            units: Units::new(machine, contexts),
            barriers: Barriers::default(),
            decoupled: matches!(frontend, FrontEnd::Decoupled(_) | FrontEnd::Queued(_)),
            coordinated: matches!(frontend, FrontEnd::Coordinated(_)),
            late: machine.frontend.resolution > 0,
            counts: frontend.counts_cycles(),
            followed: !matches!(frontend, FrontEnd::Perfect | FrontEnd::Queued(_)),
            frontend,
            occupied: 0,
            present: 0,
            spawning: None,
            last: vec![0; machine.core.waves as usize],
            used: 1,
            in_turn: partitions,
            dues: vec![u64::MAX; issuers.next_multiple_of(4)],
            first_due: u64::MAX,
            in_use: vec![0; partitions],
            shared,
            sticky,
            now: 0,
            turns: 0,
            fetched: 0,
            fetch_due: u64::MAX,
            told: false,
        }
    }

    /// Issuers of the contexts that have been used.
    #[inline(always)]
    pub fn issuers(&self) -> usize {
        self.in_turn
    }

    /// Contexts that have been used.
    pub fn contexts(&self) -> usize {
        self.used
    }

    /// The partition of issuer `q`. Most issuers are of context 0, and a division takes longer than the rest of most questions.
    #[inline(always)]
    pub fn partition(&self, q: usize) -> usize {
        if q < self.partitions { q } else { q % self.partitions }
    }

    /// The context whose paths issue at issuer `q`.
    #[inline(always)]
    pub fn context(&self, q: usize) -> usize {
        if q < self.partitions { 0 } else { q / self.partitions }
    }

    #[inline(always)]
    pub fn slot_number(&self, q: usize, local: usize) -> usize {
        local * self.partitions + self.partition(q)
    }

    /// Issuer and seat of context `k` of the wave in `slot`.
    #[inline(always)]
    pub fn seat(&self, slot: usize, k: usize) -> (usize, usize) {
        (k * self.partitions + slot % self.partitions, slot / self.partitions)
    }

    /// The seat's number at the front end.
    #[inline(always)]
    fn queue(&self, q: usize, local: usize) -> Seat {
        Seat::new(q, local, self.issuers.len())
    }

    /// Free slots for `waves` waves, smallest numbers first, with at most `limit` waves per partition.
    pub fn free_slots(&self, waves: u32, limit: u32) -> Option<Vec<usize>> {
        let mut taken: Vec<u64> = self.issuers[..self.partitions].iter().map(|p| p.occupied).collect();
        let mut slots = Vec::with_capacity(waves as usize);
        for _ in 0..waves {
            let free = taken.iter().enumerate().filter(|t| t.1.count_ones() < limit).filter_map(|(p, t)| {
                let local = t.trailing_ones() as usize;
                (local < self.seats).then(|| (self.slot_number(p, local), p, local))
            });
            let (slot, p, local) = free.min()?;
            taken[p] |= 1 << local;
            slots.push(slot);
        }
        Some(slots)
    }

    /// A wave takes its slot.
    pub fn occupy(&mut self, slot: usize, r: Box<Resident<I>>, now: u64, unit: u8) {
        let (path, age) = (r.wave.paths[0].path, r.age);
        self.waves[slot] = Some(r);
        self.occupied += 1;
        self.present |= 1u64.checked_shl(slot as u32).unwrap_or(0);
        self.sit(slot, 0, (path.pc, path.mask), age, now, now, unit);
    }

    /// Path `k` of the wave in `slot` begins at `pc`; it may issue from cycle `wake` on.
    #[allow(clippy::too_many_arguments)]
    pub fn sit(
        &mut self,
        slot: usize,
        k: usize,
        (pc, lanes): (Pc, Mask),
        age: u64,
        now: u64,
        wake: u64,
        unit: u8,
    ) {
        let (q, local) = self.seat(slot, k);
        self.used = self.used.max(k + 1);
        self.in_turn = self.used * self.partitions;
        self.touch(q);
        self.told = true;
        let queue = self.queue(q, local);
        let there = self.frontend.start(queue, pc, now, &self.issuers[q].ages);
        let unit = if self.frontend.nop_next(queue) { self.units.none() } else { unit };
        let issuer = &mut self.issuers[q];
        issuer.furnish(self.seats, &self.units, q);
        issuer.sitters[local].empty();
        issuer.awaits[local].there = there;
        (issuer.sitters[local].lanes, issuer.sitters[local].pc) = (lanes, pc);
        (issuer.spots[local].lanes, issuer.spots[local].pc) = (lanes, pc);
        issuer.sleep(local, wake);
        issuer.need(local, unit);
        issuer.ages.set(local, age, issuer.occupied);
        issuer.progress[local] = 0;
        issuer.occupied |= 1 << local;
        issuer.active |= 1 << local;
        let p = self.partition(q);
        self.in_use[p] |= 1 << k;
    }

    /// A seat of issuer `q` is free: perhaps it was the last of its context.
    fn note_use(&mut self, q: usize) {
        if self.issuers[q].occupied == 0 {
            let (p, k) = (self.partition(q), self.context(q));
            self.in_use[p] &= !(1 << k);
        }
    }

    /// Path `k` is gone. The seat of the wave itself stays taken until the wave is.
    pub fn stand(&mut self, slot: usize, k: usize) {
        let (q, local) = self.seat(slot, k);
        self.touch(q);
        self.told = true;
        let queue = self.queue(q, local);
        self.frontend.stop(queue, self.now, &self.issuers[q].ages);
        let issuer = &mut self.issuers[q];
        issuer.leave(local);
        if k > 0 {
            issuer.occupied &= !(1 << local);
        }
        issuer.policy.ended(local as u32, self.seats as u32);
        self.note_use(q);
    }

    /// Path `k` is gone, but not its wave, which will sit down again.
    pub fn leave_seat(&mut self, slot: usize, k: usize) {
        let (q, local) = self.seat(slot, k);
        self.touch(q);
        self.told = true;
        let queue = self.queue(q, local);
        self.frontend.stop(queue, self.now, &self.issuers[q].ages);
        let issuer = &mut self.issuers[q];
        issuer.leave(local);
        issuer.occupied &= !(1 << local);
        self.note_use(q);
    }

    /// The warp that the path belongs to, where waves share a stack.
    pub fn set_warp(&mut self, slot: usize, k: usize, warp: u64) {
        let (q, local) = self.seat(slot, k);
        self.issuers[q].spots[local].warp = warp;
    }

    /// The path, which waited behind a branch, goes on at `pc`.
    pub fn redirect(&mut self, slot: usize, k: usize, pc: Pc, now: u64) {
        let (q, local) = self.seat(slot, k);
        self.told = true;
        let queue = self.queue(q, local);
        self.issuers[q].awaits[local].there = self.frontend.turn(queue, pc, now, &self.issuers[q].ages);
    }

    /// Empties a slot whose wave is done.
    pub fn vacate(&mut self, slot: usize) -> Option<Box<Resident<I>>> {
        let r = self.waves[slot].take()?;
        let (q, local) = self.seat(slot, 0);
        self.touch(q);
        self.told = true;
        let issuer = &mut self.issuers[q];
        issuer.occupied &= !(1 << local);
        issuer.leave(local);
        issuer.draining &= !(1 << local);
        self.note_use(q);
        self.occupied -= 1;
        self.present &= !1u64.checked_shl(slot as u32).unwrap_or(0);
        let queue = self.queue(q, local);
        self.frontend.stop(queue, self.now, &self.issuers[q].ages);
        Some(r)
    }

    /// What the issuer's policy remembers.
    pub fn memory(&self, q: usize) -> u64 {
        self.issuers[q].policy.memory()
    }

    /// What an oracle beside issuer `q` sees, `active` seats of it or of contexts that share its port among them.
    pub fn oracle(&self, q: usize, ready: u64, blocked: u64, active: u64) -> View<'_> {
        let part = &self.issuers[q];
        View {
            ready,
            stalled: part.occupied & !(ready | blocked),
            occupied: part.occupied,
            active,
            age: part.ages.list(),
            queued: &[],
            progress: &part.progress[..self.seats],
            slots: self.seats as u32,
        }
    }

    pub fn active(&self, q: usize) -> u64 {
        self.issuers[q].active
    }

    pub fn excuse(&self, q: usize, local: usize) -> Excuse {
        self.frontend.excuse(self.queue(q, local))
    }

    #[inline(always)]
    pub fn issued(&mut self, q: usize, local: usize, pc: Pc, straight: bool, jump: bool, now: u64) {
        let queue = self.queue(q, local);
        let part = &mut self.issuers[q];
        let there = self.frontend.issued(queue, pc, (straight, jump), now, &part.ages);
        self.told |= self.frontend.has_to_act(now);
        part.progress[local] = part.progress[local].wrapping_add(1);
        part.awaits[local].there = there;
    }

    /// Whether the seat issues a NOP next.
    #[inline(always)]
    pub fn nop_next(&self, q: usize, local: usize) -> bool {
        self.frontend.nop_next(self.queue(q, local))
    }

    /// What the seat issues is on the wrong path.
    pub fn drop_one(&mut self, q: usize, local: usize) {
        let queue = self.queue(q, local);
        self.told = true;
        self.frontend.drop_one(queue);
    }

    /// The path in the seat, which waited, goes on at `pc`.
    pub fn resume(&mut self, q: usize, local: usize, pc: Pc, now: u64) {
        let queue = self.queue(q, local);
        self.told = true;
        self.frontend.resume(queue, pc, now);
    }

    /// Coordinated: the seat that issues requests an instruction in the same cycle.
    #[inline(always)]
    pub fn request(
        &mut self,
        (q, local): (usize, usize),
        now: u64,
        core: usize,
        program: &Program<I>,
        memory: &mut Hierarchy,
    ) {
        let queue = self.queue(q, local);
        if let FrontEnd::Coordinated(f) = &mut self.frontend {
            let addr = |pc| program.isa.addr_of(pc);
            let (next, kind) = (&program.flow.next, &program.flow.kind);
            f.select(queue, now, &mut Fetch { core, next, kind, addr, memory });
        }
    }

    /// With checks on: no wave of a coordinated front end is short of instructions, and the head of the seat that issues
    /// is what the path is at.
    pub fn queues_are_full(&self, now: u64) -> bool {
        match &self.frontend {
            FrontEnd::Coordinated(f) => f.is_full(now),
            _ => true,
        }
    }

    pub fn head_is(&self, q: usize, local: usize, pc: Pc) -> bool {
        match &self.frontend {
            FrontEnd::Coordinated(f) => f.next_pc(self.queue(q, local)) == pc,
            _ => true,
        }
    }

    /// The wave issued its last instruction; the slot stays taken until its results are there.
    pub fn finish(&mut self, slot: usize, r: Box<Resident<I>>) {
        self.waves[slot] = Some(r);
        for k in 0..self.issuers.len() / self.partitions {
            let (q, local) = self.seat(slot, k);
            if self.issuers[q].occupied >> local & 1 == 1 {
                self.stand(slot, k);
            }
        }
        let (q, local) = self.seat(slot, 0);
        self.issuers[q].draining |= 1 << local;
        self.issuers[q].noted &= !(1 << local);
    }

    pub fn park(&mut self, slot: usize, k: usize) {
        let (q, local) = self.seat(slot, k);
        self.touch(q);
        self.issuers[q].leave(local);
    }

    /// The cycle before which the path cannot issue.
    pub fn wakes(&self, slot: usize, k: usize) -> u64 {
        let (q, local) = self.seat(slot, k);
        self.issuers[q].awaits[local].wake
    }

    /// The path may issue again, not before `from`.
    pub fn unpark(&mut self, slot: usize, k: usize, from: u64) {
        let (q, local) = self.seat(slot, k);
        self.touch(q);
        let part = &mut self.issuers[q];
        part.active |= 1 << local;
        part.sleep(local, part.awaits[local].wake.max(from));
    }

    /// The path, which waits, may issue from cycle `wake` on.
    pub fn wake_at(&mut self, slot: usize, k: usize, wake: u64) {
        let (q, local) = self.seat(slot, k);
        self.touch(q);
        self.issuers[q].sleep(local, wake);
    }

    /// The seats of the paths of the wave in `slot` learn what their boards say.
    pub fn learn(&mut self, slot: usize) {
        let Some(r) = &self.waves[slot] else { return };
        for (k, path) in r.wave.paths.iter().enumerate() {
            let (q, local) = (k * self.partitions + slot % self.partitions, slot / self.partitions);
            if let Some(sitter) = self.issuers[q].sitters.get_mut(local) {
                sitter.learn(&path.own.board);
            }
        }
    }

    /// The cycle from which the next instruction of the path in a seat has its operands, at least `from`, once more is known.
    pub fn wakes_again(
        &mut self,
        program: &Program<I>,
        (q, local): (usize, usize),
        r: &mut Resident<I>,
        k: usize,
        from: u64,
    ) -> u64 {
        let (path, board) = (r.wave.paths[k].path, &mut r.wave.paths[k].own.board);
        let sitter = &mut self.issuers[q].sitters[local];
        sitter.tell(board, &program.steps, from - 1);
        sitter.learn(board);
        let pc = if sitter.ahead > 0 { sitter.pc } else { path.pc };
        program.ops.get(pc as usize).map_or(from, |op| wait_for(board, op, program, path.mask, from))
    }

    /// It is known when the path in the seat, which waits for that, has its operands. Returns when it may issue.
    pub fn settled(&mut self, q: usize, local: usize, wake: u64) -> u64 {
        let part = &mut self.issuers[q];
        let goes = part.settled(local, wake);
        self.dues[q] = self.dues[q].min(goes);
        goes
    }

    /// Times that were unknown up to cycle `now` are known: when something of the core changes by itself, if that has changed.
    pub fn fetches(&mut self, times: &Times, now: u64) -> Option<u64> {
        let (issuers, dues) = (&mut self.issuers, &mut self.dues);
        let mut first = u64::MAX;
        let told = self.frontend.tell(times, |q, local, there| {
            let part = &mut issuers[q];
            if !is_known(part.awaits[local].there) {
                let goes = part.comes(local, there);
                dues[q] = dues[q].min(goes);
                first = first.min(goes);
            }
        });
        told.then(|| {
            self.fetch_due = self.fetch_due.min(self.frontend.next_event(now - 1));
            self.fetch_due.min(first)
        })
    }

    /// The first cycle at which a path of partition `p` has its operands, `except` one seat; barriers and siblings left out.
    pub fn first_ready(&self, p: usize, except: Option<(usize, usize)>) -> u64 {
        let seats = (p..self.issuers.len()).step_by(self.partitions).flat_map(|q| {
            let part = &self.issuers[q];
            bits(part.active).map(move |local| (q, local as usize, part.awaits[local as usize].wake))
        });
        seats.filter(|s| Some((s.0, s.1)) != except).map(|s| s.2).min().unwrap_or(u64::MAX)
    }

    /// Entries of the warp-split table of partition `p` that its waves use; the wave that is just issuing is not among them.
    pub fn table_entries(&self, p: usize) -> u32 {
        let waves = self.waves.iter().skip(p).step_by(self.partitions).flatten();
        waves.map(|r| r.wave.table_entries()).sum()
    }

    /// Why the path in an occupied seat did not issue; `None` if there is no path (any more).
    pub fn stall_reason(&self, q: usize, local: usize, now: u64) -> Option<StallReason> {
        let part = &self.issuers[q];
        let (slot, k) = (self.slot_number(q, local), self.context(q));
        let wave = &self.waves[slot].as_ref()?.wave;
        if part.draining >> local & 1 == 1 {
            return Some(StallReason::Memory);
        }
        if wave.ids >> k & 1 == 0 {
            return None;
        }
        Some(if part.active >> local & 1 == 0 {
            if (wave.parked | wave.held) >> k & 1 == 1 { StallReason::Merge } else { StallReason::Barrier }
        } else if part.awaits[local].wake > now {
            wave.paths[k].own.waits_for
        } else if part.awaits[local].there > now || !self.frontend.has(self.queue(q, local)) {
            StallReason::Fetch
        } else if self.units.free_at(part.kinds[usize::from(part.needs[local])].set) > now {
            StallReason::Unit
        } else {
            StallReason::NotSelected
        })
    }

    /// Something happened to the wave in `slot`: why its paths wait may have changed.
    pub fn look_again(&mut self, slot: usize) {
        let (p, local) = self.seat(slot, 0);
        for k in 0..self.used {
            self.issuers[k * self.partitions + p].noted &= !(1 << local);
        }
    }

    /// The first wave of the core, with its slot.
    pub fn first_resident(&self) -> Option<(usize, &Resident<I>)> {
        self.waves.iter().enumerate().find_map(|(slot, r)| Some((slot, r.as_deref()?)))
    }

    /// The pc of the instruction that path `k` of the wave in `slot`, which is at `pc`, issues next: it may have executed more.
    pub fn issues_from(&self, slot: usize, k: usize, pc: Pc) -> Pc {
        let (q, local) = self.seat(slot, k);
        self.issuers[q].sitters.get(local).filter(|sitter| sitter.ahead > 0).map_or(pc, |sitter| sitter.pc)
    }

    pub fn residents(&self) -> impl Iterator<Item = &Resident<I>> {
        self.waves.iter().flatten().map(|r| &**r)
    }
}
