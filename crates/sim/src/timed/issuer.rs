//! The seats of one issue port with their scheduler. What it scans lies in flat arrays; it knows from which cycle on it has to be
//! looked at, and which cycles its policy has still to be told of.

use super::board::Board;
use super::crowd::With;
use super::units::{Kind, Units};
use crate::divergence::Waves;
use crate::sched::{Ages, Choice, Policy, View};
use wb_isa::lanes::bits;
use wb_isa::{Mask, Pc};
use wb_program::Step;

/// More kinds of units than a machine can have: each has a class of instructions of its own. Two of them, where those of split contexts
/// are other ones.
const KINDS: usize = 64;

/// Who sleeps for more cycles than this sleeps for long.
const LONG: u64 = 24;

/// A warp of a partition that has a ready path in this cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warp {
    pub number: u64,
    /// How many instructions it has issued since the last decision.
    pub progress: u32,
    /// All its paths are there, and none of its block is behind if it must not be.
    pub whole: bool,
}

/// A seat that waits for what is not known yet, at least until cycle `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsettled {
    pub core: usize,
    pub issuer: usize,
    pub seat: usize,
    pub from: u64,
}

/// What a path in a seat waits for: many are looked at in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Await {
    /// Cycle from which its next instruction has its operands, and from which that is there to be issued, if the front end has said so.
    pub wake: u64,
    pub there: u64,
}

impl Await {
    /// The cycle from which on it may issue, whatever others do.
    #[inline(always)]
    pub fn goes(&self) -> u64 {
        self.wake.max(self.there)
    }
}

/// What is known of a path in a seat when it issues: one line of the host's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Sitter {
    /// Lanes of the path.
    pub lanes: Mask,
    /// Instructions that it has executed and not issued; the one that it issues next, and where it goes on after the last.
    pub ahead: u32,
    pub pc: Pc,
    pub to: Pc,
    /// What issued last, if what it wrote is not on the board of the path, and when that is done (0: there is nothing).
    late: Pc,
    late_done: u64,
    /// When all is done that issued from here.
    all: u64,
    /// Of the board: when all writes on it are done, and their registers as bits.
    latest: u64,
    bits: u64,
}

impl Sitter {
    /// Somebody sits down: nothing is known of who sat here before.
    pub fn empty(&mut self) {
        *self = Sitter::default();
    }

    /// The board hears what only the seat knew, in cycle `now`.
    #[inline(always)]
    pub fn tell<B>(&mut self, board: &mut Board, steps: &[Step<B>], now: u64) {
        if self.late_done > now + 1 {
            self.tell_late(board, steps, now);
        }
        if self.all != 0 {
            board.outstanding(self.all, false);
        }
        (self.late_done, self.all) = (0, 0);
    }

    #[inline(never)]
    pub fn tell_late<B>(&mut self, board: &mut Board, steps: &[Step<B>], now: u64) {
        for &register in steps.get(self.late as usize).map_or(&[][..], Step::writes) {
            board.write(register, self.lanes, now, self.late_done, false);
        }
        self.late_done = 0;
        self.learn(board);
    }

    /// What the board says of writes that are outstanding.
    #[inline(always)]
    pub fn learn(&mut self, board: &Board) {
        (self.latest, self.bits) = (board.latest, board.bits);
    }

    /// What issued last is not done when something issues in cycle `now`: its board has to be [told](Sitter::tell_late).
    #[inline(always)]
    pub fn has_late(&self, now: u64) -> bool {
        self.late_done > now + 1
    }

    /// When what issued last is done; 0 if it wrote nothing.
    #[inline(always)]
    pub fn late_done(&self) -> u64 {
        self.late_done
    }

    /// The instruction at `pc` issues, which is done at `done`.
    #[inline(always)]
    pub fn writes(&mut self, pc: Pc, done: u64) {
        (self.late, self.late_done) = (pc, done);
        self.all = self.all.max(done);
    }

    /// Whether an instruction with such registers may have to wait beyond cycle `from` for a write that is on the board.
    #[inline(always)]
    pub fn may_wait(&self, registers: u64, from: u64) -> bool {
        self.latest > from && self.bits & registers != 0
    }

    /// The cycle from which `next`, which follows on what issued last, has its registers, at least `from`. `fed`: whether it touches what
    /// that one wrote, if somebody knows.
    #[inline(always)]
    pub fn wait<'b, B>(
        &self,
        next: &Step<B>,
        steps: &[Step<B>],
        fed: Option<bool>,
        from: u64,
        board: impl FnOnce() -> Option<&'b mut Board>,
    ) -> u64 {
        let mut wake = from;
        if self.latest > wake
            && self.bits & next.bits() != 0
            && let Some(board) = board()
        {
            wake = board.wait_all(next.touches(), self.lanes, wake);
        }
        if self.late_done > wake && fed.unwrap_or_else(|| self.late_feeds(steps, next)) {
            wake = self.late_done;
        }
        wake
    }

    #[inline(never)]
    fn late_feeds<B>(&self, steps: &[Step<B>], next: &Step<B>) -> bool {
        let late = steps.get(self.late as usize);
        late.is_some_and(|late| late.writes().iter().any(|register| next.touches().contains(register)))
    }
}

/// What paths are compared by that could issue with others: many are looked at in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    /// Lanes of the path.
    pub lanes: Mask,
    /// The warp that it belongs to, where waves share a stack.
    pub warp: u64,
    /// The instruction that it issues next; kept where contexts share a port.
    pub pc: Pc,
}

/// Seats with a scheduler of their own, one bit each. In this order: of many contexts only the first line is looked at in most cycles.
#[repr(C, align(64))]
pub(super) struct Issuer {
    /// Where contexts share a port: nobody of it can issue before this cycle, unless something happens to its seats.
    pub quiet_to: u64,
    /// Active seats that could not issue when last looked at, and when the first of them has to be looked at again.
    pub next_wake: u64,
    pub sleeping: u64,
    /// Those of them that sleep for long, and a cycle before which none of these has to be looked at: mostly they wait for memory.
    far: u64,
    next_far: u64,
    /// Seats that wait neither at a barrier nor for a sibling or last results, and those with a path.
    pub active: u64,
    pub occupied: u64,
    /// By seat, of which there are at most 64; the first: the unit that the next instruction needs.
    pub needs: [u8; 64],
    pub awaits: [Await; 64],
    pub sitters: Vec<Sitter>,
    pub spots: Vec<Spot>,
    /// By unit; [`KINDS`] of them, so that nobody has to ask whether there is one.
    pub kinds: Vec<Kind>,
    /// The partition whose waves sit here, and which paths of them.
    pub partition: usize,
    pub context: usize,
    /// Launch order of the wave in each seat; and instructions issued since the path sat down.
    pub ages: Box<Ages>,
    pub progress: [u32; 64],
    pub policy: Box<dyn Policy>,
    pub choice: Choice,
    /// Somebody wants to know when a seat has its operands, even if it has no instruction.
    observed: bool,
    /// The first cycle that its policy has not been told of.
    since: u64,
    /// Seats whose wave only waits for its last results.
    pub draining: u64,
    /// Seats that cannot issue, and whose reason an observer knows: until something happens to them, nobody has to look again.
    pub noted: u64,
    /// As of the last scan: occupied seats that are neither ready nor only short of a unit.
    pub stalled: u64,
}

impl Issuer {
    /// Most contexts are never used: there is nothing in it before somebody [comes](Issuer::furnish).
    pub fn new(policy: Box<dyn Policy>, (partition, context): (usize, usize), observed: bool) -> Issuer {
        Issuer {
            partition,
            context,
            choice: policy.choice(),
            policy,
            needs: [0; 64],
            awaits: [Await::default(); 64],
            sitters: Vec::new(),
            spots: Vec::new(),
            kinds: Vec::new(),
            ages: Box::new(Ages::new(0)),
            progress: [0; 64],
            occupied: 0,
            active: 0,
            sleeping: 0,
            far: 0,
            next_far: u64::MAX,
            next_wake: u64::MAX,
            draining: 0,
            noted: 0,
            stalled: 0,
            quiet_to: 0,
            observed,
            since: 0,
        }
    }

    /// Somebody takes a seat: there must be all of them. `q`: the number of the issuer.
    #[inline(always)]
    pub fn furnish(&mut self, seats: usize, units: &Units, q: usize) {
        if self.sitters.is_empty() {
            self.sitters = vec![Sitter::default(); seats];
            self.spots = vec![Spot::default(); seats];
            self.kinds = units.kinds_of(q);
            self.kinds.resize(KINDS, Kind::default());
            *self.ages = Ages::new(seats);
        }
    }

    /// The cycles before `to` of which the policy has not been told; they count as told.
    #[inline(always)]
    pub fn untold(&mut self, to: u64) -> u64 {
        let cycles = to.saturating_sub(self.since);
        self.since = self.since.max(to);
        // An issuer without waves is asked nothing.
        if self.occupied == 0 { 0 } else { cycles }
    }

    /// The scheduler chose in cycle `now`.
    #[inline(always)]
    pub fn told(&mut self, now: u64) {
        self.since = now + 1;
    }

    /// When the seat, which sleeps, has to be looked at, after cycle `now`.
    #[inline(always)]
    fn looks(&self, awaits: &Await, now: u64) -> u64 {
        if self.observed && awaits.wake > now { awaits.wake } else { awaits.goes() }
    }

    /// The seat cannot issue before it has its operands and its instruction.
    #[inline(always)]
    fn doze(&mut self, local: usize) {
        self.quiet_to = 0;
        self.sleeping |= 1 << local;
        self.far &= !(1 << local);
        self.noted &= !(1 << local);
        self.next_wake = self.next_wake.min(self.looks(&self.awaits[local], 0));
    }

    /// The seat cannot issue before `wake`.
    #[inline(always)]
    pub fn sleep(&mut self, local: usize, wake: u64) {
        self.awaits[local].wake = wake;
        self.doze(local);
    }

    /// The seat issued in cycle `now`; its next instruction has its operands at `wake` and needs `unit`.
    #[inline(always)]
    pub fn next(&mut self, local: usize, now: u64, wake: u64, unit: u8) {
        self.awaits[local].wake = wake;
        // Whoever scans again in this cycle leaves out what issued.
        if self.awaits[local].goes() > now + 1 {
            self.doze(local);
        }
        self.need(local, unit);
    }

    /// The same if nobody observes: also when the next instruction is there.
    #[inline(always)]
    pub fn goes_on(&mut self, local: usize, now: u64, (wake, there): (u64, u64), unit: u8) {
        let (local, bit) = (local & 63, 1 << (local & 63));
        self.awaits[local] = Await { wake, there };
        let before = std::mem::replace(&mut self.needs[local], unit);
        let goes = wake.max(there);
        // Whether it sleeps cannot be foretold: no branch.
        let sleeps = goes > now + 1;
        self.sleeping |= keep(sleeps, bit);
        self.next_wake = self.next_wake.min(goes | keep(!sleeps, u64::MAX));
        if let Some(kinds) = self.kinds.first_chunk_mut::<KINDS>() {
            kinds[usize::from(before) % KINDS].needs &= !bit;
            kinds[usize::from(unit) % KINDS].needs |= bit;
        }
        self.quiet_to = 0;
        self.progress[local] = self.progress[local].wrapping_add(1);
    }

    /// The seat, which had no instruction, gets one in cycle `there`. Returns when it may issue.
    #[inline(always)]
    pub fn comes(&mut self, local: usize, there: u64) -> u64 {
        self.awaits[local].there = there;
        let goes = self.awaits[local].goes();
        (self.quiet_to, self.far) = (0, self.far & !(1 << local));
        if self.sleeping >> local & 1 == 1 {
            self.next_wake = self.next_wake.min(goes);
        }
        goes
    }

    #[inline(always)]
    pub fn need(&mut self, local: usize, unit: u8) {
        let bit = 1 << local;
        self.quiet_to = 0;
        let before = std::mem::replace(&mut self.needs[local], unit);
        if before != unit {
            self.kinds[usize::from(before)].needs &= !bit;
        }
        self.kinds[usize::from(unit)].needs |= bit;
    }

    /// The seat of those that are ready whose instruction issues.
    #[inline(always)]
    pub fn pick(&mut self, ready: u64, seats: usize) -> Option<u32> {
        let alone = ready & ready.wrapping_sub(1) == 0;
        match self.choice {
            Choice::Oldest => self.ages.oldest(ready),
            Choice::AmongSeveral if alone => self.ages.oldest(ready),
            Choice::AmongSeveral | Choice::AmongReady | Choice::Asked => self.ask(ready, seats),
        }
    }

    /// Asks the policy.
    #[inline(always)]
    fn ask(&mut self, ready: u64, seats: usize) -> Option<u32> {
        let view = View {
            ready,
            stalled: self.stalled,
            occupied: self.occupied,
            active: self.active,
            age: self.ages.list(),
            queued: &[],
            progress: &self.progress[..seats],
            slots: seats as u32,
        };
        // A policy of the caller's may be wrong: what is not ready does not go.
        self.policy.pick(&view).filter(|&slot| view.is_ready(slot))
    }

    /// Seats that could issue at `now` where the front end says when instructions come, and when that may change. `taken`: units that are not
    /// free for everybody.
    #[inline(always)]
    pub fn look(&mut self, units: &Units, taken: u64, now: u64) -> (u64, u64) {
        if self.next_wake <= now {
            self.wake_up(now);
        }
        let (mut ready, mut next) = (self.active & !self.sleeping, self.next_wake);
        for unit in bits(if ready == 0 { 0 } else { taken }) {
            let kind = &self.kinds[unit as usize];
            if kind.needs & ready != 0 && units.free_at(kind.set) > now {
                ready &= !kind.needs;
                next = next.min(units.free_at(kind.set));
            }
        }
        (ready, next)
    }

    /// Whether the path in the seat may issue with those that have issued in this cycle, if it is still there.
    #[inline(always)]
    pub fn fits(&self, local: usize, with: &With) -> bool {
        let spot = &self.spots[local];
        let apart = match with.waves {
            Some(Waves::SamePc) => spot.pc != with.pc,
            Some(Waves::Warp { .. }) => spot.warp != with.warp,
            Some(Waves::Same | Waves::Other | Waves::Any) | None => false,
        };
        spot.lanes & with.busy == 0 && !apart
    }

    /// Those of the paths in some seats that may not.
    #[inline(always)]
    pub fn unfit(&self, seats: u64, with: &With) -> u64 {
        bits(seats).fold(0, |gone, local| gone | u64::from(!self.fits(local as usize, with)) << local)
    }

    /// The same at `now`, in whose cycle it was ready before anything issued: it may be gone, or have become one with another path.
    #[inline(always)]
    pub fn may_issue(&self, local: usize, with: &With, units: &Units, now: u64) -> bool {
        let awake = (self.active & !self.sleeping) >> local & 1 == 1;
        let unit = usize::from(self.needs[local]);
        awake && self.fits(local, with) && units.free_at(self.kinds[unit].set) <= now
    }

    /// Of seats that have their operands: those whose unit is free, those whose unit is not, and when the first is.
    #[inline(always)]
    pub fn divide(&self, units: &Units, now: u64, awake: u64) -> (u64, u64, u64) {
        let (mut ready, mut blocked, mut next, mut rest) = (0, 0, u64::MAX, awake);
        let Some(kinds) = self.kinds.first_chunk::<KINDS>() else { return (ready, blocked, next) };
        while rest != 0 {
            // The slots that need the same unit as the first one left.
            let unit = self.needs[rest.trailing_zeros() as usize & 63];
            let kind = &kinds[usize::from(unit) % KINDS];
            let (same, free) = (awake & kind.needs, units.free_at(kind.set));
            if free <= now {
                ready |= same;
            } else {
                blocked |= same;
                next = next.min(free);
            }
            rest &= !same;
        }
        (ready, blocked, next)
    }

    /// When the unit is free that the one seat among `awake` needs; if there is none, never.
    #[inline(always)]
    pub fn free(&self, units: &Units, awake: u64) -> u64 {
        let (unit, kinds) =
            (self.needs[awake.trailing_zeros() as usize & 63], self.kinds.first_chunk::<KINDS>());
        match kinds {
            Some(kinds) if awake != 0 => units.free_at(kinds[usize::from(unit) % KINDS].set),
            _ => u64::MAX,
        }
    }

    /// Seat `local` has just issued to `unit`; the other seats that were ready before, and when the first one is that was short of a
    /// unit: the next cycle in which somebody may issue.
    #[inline(always)]
    pub fn goes_next(&self, units: &Units, now: u64, local: usize, unit: u8, others: (u64, u64)) -> u64 {
        let (ready, mut due) = (others.0 & !(1 << local), others.1.min(self.next_wake));
        let Some(kinds) = self.kinds.first_chunk::<KINDS>() else { return now + 1 };
        let own = &kinds[usize::from(self.needs[local & 63]) % KINDS];
        // Whether it sleeps cannot be foretold: no branch.
        due = due.min(units.free_at(own.set) | keep(self.sleeping >> local & 1 == 1, u64::MAX));
        if ready != 0 {
            // Those that need another unit, which is free; those that need the same.
            let kind = &kinds[usize::from(unit) % KINDS];
            due = due.min(now | keep(ready & !kind.needs == 0, u64::MAX)).min(units.free_at(kind.set));
        }
        due.max(now + 1)
    }

    /// It is known when the seat, which sleeps, has its operands. Returns when it may issue.
    pub fn settled(&mut self, local: usize, wake: u64) -> u64 {
        self.awaits[local].wake = wake;
        let goes = self.awaits[local].goes();
        (self.next_wake, self.quiet_to) = (self.next_wake.min(goes), 0);
        self.far &= !(1 << local);
        goes
    }

    /// The seat is not active any more.
    pub fn leave(&mut self, local: usize) {
        self.active &= !(1 << local);
        self.noted &= !(1 << local);
        if self.sleeping >> local & 1 == 1 {
            self.sleeping &= !(1 << local);
            self.far &= !(1 << local);
            self.wake_up(0);
        }
    }

    /// The seat cannot issue at `now`, whatever others do: it waits for a barrier, a sibling, its last results, or operands.
    #[inline(always)]
    pub fn is_quiet(&self, local: usize, now: u64) -> bool {
        (self.active & !self.draining) >> local & 1 == 0 || self.awaits[local].wake > now
    }

    /// Active seats that have their operands in cycle `now`, with or without an instruction.
    pub fn supplied(&self, now: u64) -> u64 {
        let late = bits(self.sleeping).filter(|&local| self.awaits[local as usize].wake > now);
        late.fold(self.active, |all, local| all & !(1 << local))
    }

    /// Seats whose cycle has come, and when the next ones follow.
    pub fn wake_up(&mut self, now: u64) {
        if self.observed {
            return self.wake_up_observed(now);
        }
        if self.next_far <= now {
            (self.far, self.next_far) = (0, u64::MAX);
        }
        let (mut asleep, mut rest) = (self.sleeping & self.far, self.sleeping & !self.far);
        let mut next = self.next_far;
        while rest != 0 {
            let goes = self.awaits[rest.trailing_zeros() as usize & 63].goes();
            // Whose cycle has come cannot be foretold: no branch.
            let (late, far, bit) = (goes > now, goes > now + LONG, rest & rest.wrapping_neg());
            asleep |= keep(late, bit);
            next = next.min(goes | keep(!late, u64::MAX));
            self.far |= keep(far, bit);
            self.next_far = self.next_far.min(goes | keep(!far, u64::MAX));
            rest &= rest - 1;
        }
        (self.sleeping, self.next_wake) = (asleep, next);
    }

    #[inline(never)]
    fn wake_up_observed(&mut self, now: u64) {
        (self.next_wake, self.sleeping) = bits(self.sleeping).fold((u64::MAX, 0), |(next, asleep), local| {
            let awaits = &self.awaits[local as usize];
            match awaits.goes() > now {
                true => (next.min(self.looks(awaits, now)), asleep | 1 << local),
                false => (next, asleep),
            }
        });
    }
}

/// `bits` if that is so, otherwise none: a branch that cannot be foretold takes longer.
#[inline(always)]
fn keep(so: bool, bits: u64) -> u64 {
    bits & u64::from(so).wrapping_neg()
}
