//! The seats of one issue port with their scheduler. What it scans lies in flat arrays; it knows from which cycle on it has to be
//! looked at, and which cycles its policy has still to be told of.

use crate::sched::Policy;
use wb_isa::Mask;
use wb_isa::lanes::bits;

/// A warp of a partition in this cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warp {
    pub number: u64,
    /// Paths of it that are not there yet, and how many instructions it has issued since the last decision.
    pub missing: u32,
    pub progress: u32,
}

/// A seat that waits for what is not known yet, at least until cycle `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsettled {
    pub core: usize,
    pub issuer: usize,
    pub seat: usize,
    pub from: u64,
}

/// Seats with a scheduler of their own, one bit each.
pub(super) struct Issuer {
    pub policy: Box<dyn Policy>,
    /// Cycle from which the seat's next instruction has its operands.
    pub wake: Vec<u64>,
    /// Unit it needs; and the seats that need each unit, one bit each.
    pub unit: Vec<u8>,
    pub needs: Vec<u64>,
    /// Lanes of the path.
    pub lanes: Vec<Mask>,
    pub age: Vec<u64>,
    /// Instructions issued since the path sat down.
    pub progress: Vec<u32>,
    /// The warp that the path belongs to, where waves share a stack.
    pub warp: Vec<u64>,
    /// Seats with a path, and those of them that wait neither at a barrier nor for a sibling or last results.
    pub occupied: u64,
    pub active: u64,
    /// Active seats whose wake-up lay ahead when last looked at, and the earliest of their wake-ups.
    pub sleeping: u64,
    pub next_wake: u64,
    /// Seats whose wave only waits for its last results.
    pub draining: u64,
    /// Seats that cannot issue, and whose reason an observer knows: until something happens to them, nobody has to look again.
    pub noted: u64,
    /// As of the last scan: occupied seats that are neither ready nor only short of a unit.
    pub stalled: u64,
    /// Where contexts share a port: nobody of it can issue before this cycle, unless something happens to its seats.
    pub quiet_to: u64,
    /// Its policy takes whoever is the only one that can issue.
    pub only: bool,
    /// The first cycle that its policy has not been told of.
    since: u64,
}

impl Issuer {
    /// Most contexts are never used: there is nothing in it before somebody [comes](Issuer::furnish).
    pub fn new(policy: Box<dyn Policy>) -> Issuer {
        let only = policy.takes_the_only_one();
        Issuer {
            policy,
            wake: Vec::new(),
            unit: Vec::new(),
            needs: Vec::new(),
            lanes: Vec::new(),
            age: Vec::new(),
            progress: Vec::new(),
            warp: Vec::new(),
            occupied: 0,
            active: 0,
            sleeping: 0,
            next_wake: u64::MAX,
            draining: 0,
            noted: 0,
            stalled: 0,
            quiet_to: 0,
            only,
            since: 0,
        }
    }

    /// Somebody takes a seat: there must be all of them. `units`: how many kinds there are, the one that is always free among them.
    #[inline(always)]
    pub fn furnish(&mut self, seats: usize, units: usize) {
        if self.wake.is_empty() {
            (self.wake, self.unit, self.needs) = (vec![0; seats], vec![0; seats], vec![0; units]);
            (self.lanes, self.age, self.progress) = (vec![0; seats], vec![0; seats], vec![0; seats]);
            self.warp = vec![0; seats];
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

    /// The seat cannot issue before `wake`.
    #[inline(always)]
    pub fn sleep(&mut self, local: usize, wake: u64) {
        self.wake[local] = wake;
        self.quiet_to = 0;
        self.sleeping |= 1 << local;
        self.noted &= !(1 << local);
        self.next_wake = self.next_wake.min(wake);
    }

    #[inline(always)]
    pub fn need(&mut self, local: usize, unit: u8) {
        let bit = 1 << local;
        self.quiet_to = 0;
        self.needs[usize::from(self.unit[local])] &= !bit;
        self.needs[usize::from(unit)] |= bit;
        self.unit[local] = unit;
    }

    /// The seat is not active any more.
    pub fn leave(&mut self, local: usize) {
        self.active &= !(1 << local);
        self.noted &= !(1 << local);
        if self.sleeping >> local & 1 == 1 {
            self.sleeping &= !(1 << local);
            self.wake_up(0);
        }
    }

    /// The seat cannot issue at `now`, whatever others do: it waits for a barrier, a sibling, its last results, or operands.
    #[inline(always)]
    pub fn is_quiet(&self, local: usize, now: u64) -> bool {
        (self.active & !self.draining) >> local & 1 == 0 || self.wake[local] > now
    }

    /// Seats whose cycle has come, and when the next ones follow.
    pub fn wake_up(&mut self, now: u64) {
        self.next_wake = u64::MAX;
        for local in bits(self.sleeping) {
            let wake = self.wake[local as usize];
            if wake > now {
                self.next_wake = self.next_wake.min(wake);
            } else {
                self.sleeping &= !(1 << local);
            }
        }
    }
}
