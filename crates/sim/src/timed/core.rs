//! One core of the timed machine: partitions with their slots, units, barriers, front end. Slot `s` belongs to
//! partition `s mod partitions`; what the scheduler scans every cycle lives in flat arrays beside the slots.

use super::board::Board;
use super::units::Units;
use crate::barrier::Barriers;
use crate::divergence::Divergence;
use crate::exec::{Path, Wave};
use crate::frontend::{Fetch, FrontEnd};
use crate::memory::Hierarchy;
use crate::residency::GroupPlace;
use crate::sched::{self, Policy, View};
use wb_hw::Machine;
use wb_isa::{Isa, lanes::bits};
use wb_program::Program;
use wb_trace::StallReason;

/// Where a path lives.
pub struct Slot<I: Isa, D: Divergence> {
    pub wave: Wave<I, D>,
    pub path: Path,
    pub board: Board,
    /// What the path waits for while its wake-up lies ahead.
    pub waits_for: StallReason,
    /// Current stall, followed only for observers.
    pub stall: Option<StallReason>,
    pub stalled_since: u64,
    pub place: GroupPlace,
}

impl<I: Isa, D: Divergence> Slot<I, D> {
    pub fn new(wave: Wave<I, D>, path: Path, board: Board, now: u64, place: GroupPlace) -> Self {
        let waits_for = StallReason::Dependency;
        Slot { wave, path, board, waits_for, stall: None, stalled_since: now, place }
    }

    pub fn fresh_board(reuse: Option<Board>, registers: usize) -> Board {
        match reuse {
            Some(mut board) => {
                board.clear();
                board
            }
            None => Board::new(registers),
        }
    }
}

/// Slots with a scheduler of their own.
pub struct Partition<I: Isa, D: Divergence> {
    pub slots: Vec<Option<Box<Slot<I, D>>>>,
    policy: Box<dyn Policy>,
    /// Cycle from which the slot's next instruction has its operands.
    wake: Vec<u64>,
    /// Unit it needs; and the slots that need each unit, one bit each.
    unit: Vec<u8>,
    needs: Vec<u64>,
    age: Vec<u64>,
    /// Slots with a wave, and those of them that wait neither at a barrier nor for their last results.
    occupied: u64,
    active: u64,
    /// Active slots whose wake-up lay ahead when last looked at, and the earliest of their wake-ups.
    sleeping: u64,
    next_wake: u64,
    /// Slots whose wave only waits for its last results.
    draining: u64,
    /// As of the last scan: occupied slots that are neither ready nor only short of a unit.
    stalled: u64,
}

impl<I: Isa, D: Divergence> Partition<I, D> {
    /// The slot cannot issue before `wake`.
    #[inline(always)]
    fn sleep(&mut self, local: usize, wake: u64) {
        self.wake[local] = wake;
        self.sleeping |= 1 << local;
        self.next_wake = self.next_wake.min(wake);
    }

    #[inline(always)]
    fn need(&mut self, local: usize, unit: u8) {
        let bit = 1 << local;
        self.needs[usize::from(self.unit[local])] &= !bit;
        self.needs[usize::from(unit)] |= bit;
        self.unit[local] = unit;
    }

    /// The slot is not active any more.
    fn leave(&mut self, local: usize) {
        self.active &= !(1 << local);
        if self.sleeping >> local & 1 == 1 {
            self.sleeping &= !(1 << local);
            self.wake_up(0);
        }
    }

    /// Slots whose cycle has come, and when the next ones follow.
    fn wake_up(&mut self, now: u64) {
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

pub struct Core<I: Isa, D: Divergence> {
    pub partitions: Vec<Partition<I, D>>,
    pub units: Units,
    pub barriers: Barriers,
    pub frontend: FrontEnd,
    /// Waves in the core.
    pub occupied: u32,
    decoupled: bool,
}

impl<I: Isa, D: Divergence> Core<I, D> {
    pub fn new(machine: &Machine) -> Self {
        let per = (machine.core.waves / machine.core.partitions) as usize;
        let frontend = FrontEnd::new(machine);
        Core {
            partitions: (0..machine.core.partitions)
                .map(|_| Partition {
                    slots: (0..per).map(|_| None).collect(),
                    policy: sched::policy(machine.issue.policy),
                    wake: vec![0; per],
                    unit: vec![0; per],
                    needs: vec![0; machine.units.len().max(1)],
                    age: vec![0; per],
                    occupied: 0,
                    active: 0,
                    sleeping: 0,
                    next_wake: u64::MAX,
                    draining: 0,
                    stalled: 0,
                })
                .collect(),
            units: Units::new(machine),
            barriers: Barriers::default(),
            decoupled: !matches!(frontend, FrontEnd::Perfect),
            frontend,
            occupied: 0,
        }
    }

    #[inline(always)]
    pub fn slot_number(&self, p: usize, local: usize) -> usize {
        local * self.partitions.len() + p
    }

    fn locate(&self, slot: usize) -> (usize, usize) {
        (slot % self.partitions.len(), slot / self.partitions.len())
    }

    /// Free slots for `waves` waves, smallest numbers first, with at most `limit` waves per partition.
    pub fn free_slots(&self, waves: u32, limit: u32) -> Option<Vec<usize>> {
        let mut taken: Vec<u64> = self.partitions.iter().map(|p| p.occupied).collect();
        let mut slots = Vec::with_capacity(waves as usize);
        for _ in 0..waves {
            let free = taken.iter().enumerate().filter(|t| t.1.count_ones() < limit).filter_map(|(p, t)| {
                let local = t.trailing_ones() as usize;
                (local < self.partitions[p].slots.len()).then(|| (self.slot_number(p, local), p, local))
            });
            let (slot, p, local) = free.min()?;
            taken[p] |= 1 << local;
            slots.push(slot);
        }
        Some(slots)
    }

    pub fn occupy(&mut self, slot: usize, s: Box<Slot<I, D>>, age: u64, now: u64, unit: u8) {
        let (p, local) = self.locate(slot);
        self.frontend.start(slot, s.path.pc);
        let part = &mut self.partitions[p];
        part.slots[local] = Some(s);
        part.sleep(local, now);
        part.need(local, unit);
        part.age[local] = age;
        part.occupied |= 1 << local;
        part.active |= 1 << local;
        self.occupied += 1;
    }

    /// Empties a slot whose wave is done.
    pub fn vacate(&mut self, slot: usize) -> Option<Box<Slot<I, D>>> {
        let (p, local) = self.locate(slot);
        let part = &mut self.partitions[p];
        let s = part.slots[local].take()?;
        part.occupied &= !(1 << local);
        part.leave(local);
        part.draining &= !(1 << local);
        self.occupied -= 1;
        self.frontend.stop(slot);
        Some(s)
    }

    /// Which slots of a partition could issue at `now`, and the next cycle at which that may change.
    #[inline]
    pub fn scan(&mut self, p: usize, now: u64, except: u64) -> (u64, u64) {
        let part = &mut self.partitions[p];
        if part.next_wake <= now {
            part.wake_up(now);
        }
        let (mut ready, mut blocked, mut next) = (0, 0, part.next_wake);
        let awake = part.active & !part.sleeping & !except & self.frontend.ready(p);
        let mut rest = awake;
        while rest != 0 {
            // The slots that need the same unit as the first one left.
            let unit = part.unit[rest.trailing_zeros() as usize];
            let same = awake & part.needs[usize::from(unit)];
            let free = self.units.free_at(unit, p);
            if free <= now {
                ready |= same;
            } else {
                blocked |= same;
                next = next.min(free);
            }
            rest &= !same;
        }
        part.stalled = part.occupied & !(ready | blocked);
        (ready, next)
    }

    #[inline]
    pub fn pick(&mut self, p: usize, ready: u64) -> Option<u32> {
        let part = &mut self.partitions[p];
        let view = View {
            ready,
            stalled: part.stalled,
            occupied: part.occupied,
            age: &part.age,
            slots: part.slots.len() as u32,
        };
        part.policy.pick(&view)
    }

    /// `cycles` further cycles pass in which nothing of this core changes.
    pub fn idle(&mut self, cycles: u64) {
        if cycles == 0 || self.occupied == 0 {
            return;
        }
        self.frontend.idle(cycles);
        for part in &mut self.partitions {
            let view = View {
                ready: 0,
                stalled: part.stalled,
                occupied: part.occupied,
                age: &part.age,
                slots: part.slots.len() as u32,
            };
            part.policy.idle(&view, cycles);
        }
    }

    /// A slot that issued in this cycle and may issue again from `wake` on.
    #[inline(always)]
    pub fn put_back(&mut self, p: usize, local: usize, s: Box<Slot<I, D>>, now: u64, wake: u64, unit: u8) {
        let part = &mut self.partitions[p];
        part.slots[local] = Some(s);
        if wake <= now + 1 {
            // Whoever scans again in this cycle leaves out what issued.
            part.wake[local] = wake;
        } else {
            part.sleep(local, wake);
        }
        part.need(local, unit);
    }

    /// The wave issued its last instruction; the slot stays taken until its results are there.
    pub fn finish(&mut self, p: usize, local: usize, s: Box<Slot<I, D>>) {
        self.frontend.stop(self.slot_number(p, local));
        let part = &mut self.partitions[p];
        part.slots[local] = Some(s);
        part.leave(local);
        part.draining |= 1 << local;
        part.policy.ended(local as u32, part.slots.len() as u32);
    }

    pub fn park(&mut self, p: usize, local: usize) {
        self.partitions[p].leave(local);
    }

    /// The slot may issue again, not before `from`.
    pub fn unpark(&mut self, slot: usize, from: u64) {
        let (p, local) = self.locate(slot);
        let part = &mut self.partitions[p];
        part.active |= 1 << local;
        part.sleep(local, part.wake[local].max(from));
    }

    /// Why an occupied slot did not issue.
    pub fn stall_reason(&self, p: usize, local: usize, now: u64) -> StallReason {
        let part = &self.partitions[p];
        let Some(s) = &part.slots[local] else { return StallReason::NotSelected };
        if part.active >> local & 1 == 0 {
            let draining = part.draining >> local & 1 == 1;
            return if draining { StallReason::Memory } else { StallReason::Barrier };
        }
        if part.wake[local] > now {
            return s.waits_for;
        }
        if !self.frontend.has(self.slot_number(p, local)) {
            return StallReason::Fetch;
        }
        if self.units.free_at(part.unit[local], p) > now {
            return StallReason::Unit;
        }
        StallReason::NotSelected
    }

    pub fn tick_front_end(&mut self, now: u64, core: usize, program: &Program<I>, memory: &mut Hierarchy) {
        if !self.decoupled {
            return;
        }
        let partitions = &self.partitions;
        let addr = |pc| program.isa.addr_of(pc);
        let mut fetch = Fetch { core, next: &program.flow.next, addr: &addr, memory };
        self.frontend.tick(now, |p| partitions[p].age.as_slice(), &mut fetch);
    }

    pub fn residents(&self) -> impl Iterator<Item = &Slot<I, D>> {
        self.partitions.iter().flat_map(|p| p.slots.iter().flatten()).map(|s| &**s)
    }
}
