//! Who may issue at an issuer, who does, and when the next one may: what is asked in every cycle in which a core is looked at.

use super::core::Core;
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

    /// The same at the begin of a cycle, where contexts share a port: of a context whose paths all wait nothing has to be looked at.
    #[inline]
    pub fn scan_unless_quiet(&mut self, q: usize, now: u64) -> (u64, u64) {
        if self.issuers[q].quiet_to > now && self.decoupled {
            return (0, self.issuers[q].quiet_to);
        }
        let (ready, next) = self.scan(q, now, 0);
        if ready == 0 && !self.late {
            self.issuers[q].quiet_to = next;
        }
        (ready, next)
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
        let there = |local: &u32| self.issuers[q].sitters[*local as usize].there <= now;
        let here = bits(ready).filter(there).fold(0, |all, local| all | 1 << local);
        (ready, blocked, ready & !(here & self.frontend.ready(q, now)))
    }

    #[inline]
    pub fn pick(&mut self, q: usize, ready: u64) -> Option<u32> {
        let part = &mut self.issuers[q];
        if part.choice == Choice::Oldest
            || part.choice == Choice::AmongSeveral && ready & ready.wrapping_sub(1) == 0
        {
            return part.ages.oldest(ready);
        }
        let view = View {
            ready,
            stalled: part.stalled,
            occupied: part.occupied,
            active: part.active,
            age: part.ages.list(),
            queued: &[],
            progress: &part.progress,
            slots: self.seats as u32,
        };
        // A policy of the caller's may be wrong: what is not ready does not go.
        part.policy.pick(&view).filter(|&slot| view.is_ready(slot))
    }

    /// One issue port for all contexts of partition `p`: the policy picks among the waves with a ready path;
    /// `ready` has one set of seats per context.
    pub fn pick_shared(&mut self, p: usize, ready: &[u64]) -> Option<(usize, u32)> {
        let (mut waves, mut contexts) = (0, 0u64);
        for (k, &set) in ready.iter().enumerate() {
            waves |= set;
            contexts |= u64::from(set != 0) << k;
        }
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
            progress: &part.progress,
            slots: self.seats as u32,
        };
        let local = match choice {
            Choice::Oldest => part.ages.oldest(waves)?,
            _ => part.policy.pick(&view).filter(|&slot| view.is_ready(slot))?,
        };
        let slot = local as usize * self.partitions + p;
        // Within the wave, the next context after the one that issued last, or that one again.
        let first = u32::from(self.last[slot]) + u32::from(!self.sticky);
        let among = bits(contexts).fold(0u64, |all, k| all | (ready[k as usize] >> local & 1) << k);
        let behind = among & u64::MAX.checked_shl(first).unwrap_or(0);
        let k = if behind != 0 { behind } else { among }.trailing_zeros() as usize;
        self.last[slot] = k as u8;
        Some((k, local))
    }
}
