//! Who may issue at an issuer, who does, and when the next one may: what is asked in every cycle in which a core is looked at.

use super::core::Core;
use super::crowd::{Crowd, With};
use crate::sched::{Choice, View};
use wb_isa::Isa;
use wb_isa::lanes::bits;

impl<I: Isa> Core<I> {
    /// Which seats of an issuer could issue at `now`, and the next cycle at which that may change.
    #[inline(never)]
    pub fn scan(&mut self, q: usize, now: u64, except: u64) -> (u64, u64) {
        self.scan_here(q, now, except)
    }

    /// The same as part of the caller, for whom it is most of what there is to do.
    #[inline(always)]
    pub fn scan_here(&mut self, q: usize, now: u64, except: u64) -> (u64, u64) {
        let part = &mut self.issuers[q];
        if part.next_wake <= now {
            part.wake_up(now);
        }
        let awake = part.active & !part.sleeping & !except & self.frontend.ready(q, now);
        let (mut ready, blocked, next) = part.divide(&self.units, now, awake);
        if self.late {
            // What is on the wrong path waits for nothing.
            ready |= self.frontend.wrong(q) & part.active & !except;
        }
        part.stalled = part.occupied & !(ready | blocked);
        (ready, next.min(part.next_wake))
    }

    /// The seats of all contexts of partition `p` that could issue at `now`, by context; which contexts have any, one bit each; and the next
    /// cycle at which that may change.
    pub fn scan_all(&mut self, p: usize, now: u64, always: bool, ready: &mut [u64]) -> (u64, u64) {
        let (mut some, mut due) = (0, if always { now + 1 } else { u64::MAX });
        for k in bits(self.in_use[p]) {
            let q = k as usize * self.partitions + p;
            let (set, next) = if always { self.scan(q, now, 0) } else { self.scan_unless_quiet(q, now) };
            due = due.min(if set != 0 { now + 1 } else { next });
            some |= u64::from(set != 0) << k;
            ready[k as usize] = set;
        }
        (some, due)
    }

    /// [`Core::scan`] at the begin of a cycle, where contexts share a port: of a context whose paths all wait nothing has to be looked at.
    #[inline]
    fn scan_unless_quiet(&mut self, q: usize, now: u64) -> (u64, u64) {
        if self.issuers[q].quiet_to > now && self.decoupled {
            return (0, self.issuers[q].quiet_to);
        }
        let (ready, next) = self.scan(q, now, 0);
        if ready == 0 && !self.late {
            self.issuers[q].quiet_to = next;
        }
        (ready, next)
    }

    /// [`Core::scan_all`] if nobody wants to know who stalls. Returns the next cycle at which that may change, and the same if nobody issues.
    pub fn look_all(&mut self, p: usize, now: u64, crowd: &mut Crowd) -> (u64, u64) {
        let mut due = u64::MAX;
        let taken = self.units.taken(now);
        for k in bits(self.in_use[p]) {
            let part = &mut self.issuers[k as usize * self.partitions + p];
            if part.quiet_to > now && self.decoupled {
                due = due.min(part.quiet_to);
                continue;
            }
            let (set, next) = part.look(&self.units, taken, now);
            due = due.min(next);
            if set == 0 {
                part.quiet_to = next;
            } else {
                crowd.add(k, set);
            }
        }
        (if crowd.some != 0 { now + 1 } else { due }, due)
    }

    /// Leaves in `ready` what could still issue at `now`, whatever has issued. `some`: contexts that have something there, one bit each; those
    /// that still have are returned.
    pub fn rescan(&mut self, p: usize, now: u64, some: u64, ready: &mut [u64]) -> u64 {
        bits(some).fold(0, |left, k| {
            let set = &mut ready[k as usize];
            *set &= self.scan(k as usize * self.partitions + p, now, 0).0;
            left | u64::from(*set != 0) << k
        })
    }

    /// After something issued in cycle `now`: the next cycle at which a seat of issuer `q` can, as far as is known. What
    /// arrives meanwhile is told apart.
    #[inline(always)]
    pub fn next_turn(&mut self, q: usize, now: u64) -> u64 {
        if self.late || self.coordinated {
            return now + 1;
        }
        let part = &mut self.issuers[q];
        if part.next_wake <= now + 1 {
            return now + 1;
        }
        let awake = part.active & !part.sleeping & self.frontend.ready(q, now);
        let (ready, _, next) = part.divide(&self.units, now + 1, awake);
        if ready != 0 {
            return now + 1;
        }
        part.stalled = part.occupied & !awake;
        next.min(part.next_wake)
    }

    /// For oracles: the seats that could issue if every queue had something, those short of a unit, and those of the
    /// first whose queue is empty. After [`Core::scan`] in the same cycle.
    pub fn foresee(&mut self, q: usize, now: u64, except: u64) -> (u64, u64, u64) {
        let awake = self.issuers[q].supplied(now) & !except;
        let (mut ready, blocked, _) = self.issuers[q].divide(&self.units, now, awake);
        if self.late {
            ready |= self.frontend.wrong(q) & self.issuers[q].active & !except;
        }
        let there = |local: &u32| self.issuers[q].awaits[*local as usize].there <= now;
        let here = bits(ready).filter(there).fold(0, |all, local| all | 1 << local);
        (ready, blocked, ready & !(here & self.frontend.ready(q, now)))
    }

    #[inline]
    pub fn pick(&mut self, q: usize, ready: u64) -> Option<u32> {
        self.issuers[q].pick(ready, self.seats)
    }

    /// One issue port for all contexts of partition `p`: the policy picks among the waves with a ready path;
    /// `ready` has one set of seats per context, `some` the contexts that have any.
    pub fn pick_shared(&mut self, p: usize, ready: &[u64], some: u64) -> Option<(usize, u32)> {
        let waves = bits(some).fold(0, |all, k| all | ready[k as usize]);
        let choice = self.issuers[p].choice;
        if waves == 0 && choice != Choice::Asked {
            return None;
        }
        let (stalled, active) = if choice == Choice::Asked { self.together(p) } else { (0, 0) };
        let part = &mut self.issuers[p];
        let view = View {
            ready: waves,
            stalled: stalled & !waves,
            occupied: part.occupied,
            active,
            age: part.ages.list(),
            queued: &[],
            progress: &part.progress[..self.seats],
            slots: self.seats as u32,
        };
        let local = match choice {
            Choice::Oldest => part.ages.oldest(waves)?,
            _ => part.policy.pick(&view).filter(|&slot| view.is_ready(slot))?,
        };
        let among = bits(some).fold(0u64, |all, k| all | (ready[k as usize] >> local & 1) << k);
        Some((self.pick_path(p, local, among), local))
    }

    /// Within a wave, the next context after the one that issued last, or that one again. `among`: those that could issue.
    #[inline(always)]
    fn pick_path(&mut self, p: usize, local: u32, among: u64) -> usize {
        let slot = local as usize * self.partitions + p;
        let first = u32::from(self.last[slot]) + u32::from(!self.sticky);
        let behind = among & u64::MAX.checked_shl(first).unwrap_or(0);
        let k = if behind != 0 { behind } else { among }.trailing_zeros() as usize;
        self.last[slot] = k as u8;
        k
    }

    /// [`Core::pick_shared`] if nobody wants to know who stalls. Whether a path may issue with those before it is asked only of waves that the
    /// policy picks; those of which no path may leave the crowd, and the policy has not
    /// picked them: every policy that does not have to be asked picks the same of a crowd and of part of it, if that has who is picked.
    pub fn pick_of(&mut self, p: usize, crowd: &mut Crowd, with: &With, now: u64) -> Option<(usize, u32)> {
        let choice = self.issuers[p].choice;
        let mut waves = crowd.waves();
        while waves != 0 {
            let part = &mut self.issuers[p];
            let view = View {
                ready: waves,
                stalled: 0,
                occupied: part.occupied,
                active: 0,
                age: part.ages.list(),
                queued: &[],
                progress: &part.progress[..self.seats],
                slots: self.seats as u32,
            };
            let (local, before) = match choice {
                Choice::Oldest => (part.ages.oldest(waves)?, 0),
                _ => {
                    let before = part.policy.memory();
                    (part.policy.pick(&view).filter(|&slot| view.is_ready(slot))?, before)
                }
            };
            if let Some(k) = self.first_path(p, local, crowd, with, now) {
                return Some((k, local));
            }
            waves = crowd.waves();
            if choice != Choice::Oldest {
                self.issuers[p].policy.remember(before);
            }
        }
        None
    }

    /// The path of the wave that [`Core::pick_path`] picks among those that may issue; others leave the crowd.
    #[inline(always)]
    fn first_path(
        &mut self,
        p: usize,
        local: u32,
        crowd: &mut Crowd,
        with: &With,
        now: u64,
    ) -> Option<usize> {
        let slot = local as usize * self.partitions + p;
        let first = u32::from(self.last[slot]) + u32::from(!self.sticky);
        let behind = u64::MAX.checked_shl(first).unwrap_or(0);
        for contexts in [crowd.some & behind, crowd.some & !behind] {
            for k in bits(contexts) {
                if crowd.of(k) >> local & 1 == 0 {
                    continue;
                }
                crowd.take(k, 1 << local);
                let part = &self.issuers[k as usize * self.partitions + p];
                let first = with.waves.is_none();
                if part.may_issue(local as usize, with, &self.units, now)
                    && with
                        .in_step
                        .is_none_or(|in_step| !first || self.is_whole(p, (k, local), in_step, crowd))
                {
                    self.last[slot] = k as u8;
                    return Some(k as usize);
                }
                crowd.refuse();
            }
        }
        None
    }

    /// Whether all paths of the warp of the path of context `k` in seat `local` are in the crowd, which that one has just left, and none of
    /// its block is behind if it must not be. Otherwise nobody of it stays.
    fn is_whole(&self, p: usize, (k, local): (u32, u32), in_step: bool, crowd: &mut Crowd) -> bool {
        let part = |k: u32| &self.issuers[k as usize * self.partitions + p];
        let (number, progress) = (part(k).spots[local as usize].warp, part(k).progress[local as usize]);
        let whole = bits(self.in_use[p]).all(|j| {
            let (part, there) = (part(j), crowd.of(j) | u64::from(j == k) << local);
            bits(if in_step { part.active } else { part.active & !there }).all(|other| {
                let warp = part.spots[other as usize].warp;
                let missing = there >> other & 1 == 0 && warp == number;
                let behind = in_step && warp >> 8 == number >> 8 && part.progress[other as usize] < progress;
                !missing && !behind
            })
        });
        if !whole {
            crowd.keep(|j, other| part(j).spots[other].warp != number);
        }
        whole
    }

    /// The next cycle in which a path of partition `p` may issue, after those that were ready at `now` have.
    pub fn due_of(&self, p: usize, now: u64) -> u64 {
        let due = bits(self.in_use[p]).fold(u64::MAX, |due, k| {
            let part = &self.issuers[k as usize * self.partitions + p];
            if part.active & !part.sleeping != 0 { 0 } else { due.min(part.next_wake) }
        });
        due.max(now + 1)
    }

    /// Who may not issue with those that have issued leaves the crowd.
    pub fn thin(&self, p: usize, crowd: &mut Crowd, with: &With) {
        for k in bits(crowd.some) {
            let gone = self.issuers[k as usize * self.partitions + p].unfit(crowd.of(k), with);
            crowd.leave(k, gone);
        }
    }

    /// Context `k` of partition `p` has issued to `unit`: who needs the same copies of it leaves the crowd, if they are taken.
    pub fn leave_unit(&self, p: usize, k: usize, unit: u8, now: u64, crowd: &mut Crowd) {
        let kind = &self.issuers[k * self.partitions + p].kinds[usize::from(unit)];
        if self.units.free_at(kind.set) <= now {
            return;
        }
        if kind.own {
            crowd.leave(k as u32, kind.needs);
            return;
        }
        for k in bits(crowd.some) {
            let theirs = &self.issuers[k as usize * self.partitions + p].kinds[usize::from(unit)];
            if theirs.set == kind.set {
                crowd.leave(k, theirs.needs);
            }
        }
    }
}
