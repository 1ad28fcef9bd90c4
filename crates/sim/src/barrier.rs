//! Barriers of a core: released when as many waves have arrived as it counts (HARP `bar id, n`); a wave counts once each
//! time it arrives. The barrier of a group (GCN3) counts its waves, and waves that have ended are not waited for.

/// One barrier: the waves waiting there.
#[derive(Clone, Debug)]
struct Waiting {
    id: u64,
    slots: Vec<u32>,
    /// Waves of the group that will never come, because they have ended.
    ended: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Barriers {
    waiting: Vec<Waiting>,
}

/// What came of a wave's arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Waves that are there now, and how many it takes.
    pub arrived: u32,
    pub needed: u32,
    /// The slots to wake, if this was the last one.
    pub released: Vec<u32>,
}

impl Barriers {
    /// `slot` arrives at barrier `id` of `count` waves.
    pub fn arrive(&mut self, id: u64, count: u64, slot: u32) -> Arrival {
        let at = self.place(id);
        let here = &mut self.waiting[at];
        here.slots.push(slot);
        let needed = count.saturating_sub(here.ended);
        let arrived = here.slots.len() as u32;
        let released = if u64::from(arrived) >= needed { self.release(at) } else { Vec::new() };
        Arrival { arrived, needed: needed.min(u64::from(u32::MAX)) as u32, released }
    }

    /// A wave of the group `id` of `count` waves has ended. Returns the slots that waited only for it.
    pub fn ended(&mut self, id: u64, count: u64) -> Vec<u32> {
        let at = self.place(id);
        let here = &mut self.waiting[at];
        here.ended += 1;
        if here.ended >= count {
            // Nobody is left; the number may be used again by another launch.
            return self.waiting.swap_remove(at).slots;
        }
        let complete = !here.slots.is_empty() && here.slots.len() as u64 + here.ended >= count;
        if complete { self.release(at) } else { Vec::new() }
    }

    fn place(&mut self, id: u64) -> usize {
        if let Some(at) = self.waiting.iter().position(|w| w.id == id) {
            return at;
        }
        self.waiting.push(Waiting { id, slots: Vec::new(), ended: 0 });
        self.waiting.len() - 1
    }

    fn release(&mut self, at: usize) -> Vec<u32> {
        if self.waiting[at].ended == 0 {
            return self.waiting.swap_remove(at).slots;
        }
        std::mem::take(&mut self.waiting[at].slots)
    }

    /// What everybody waits for, for a deadlock report.
    pub fn describe(&self) -> String {
        let line = |w: &Waiting| {
            let ended = match w.ended {
                0 => String::new(),
                n => format!(", {n} of its group have ended"),
            };
            format!("barrier {} has {} wave(s) waiting{ended}", w.id, w.slots.len())
        };
        self.waiting.iter().filter(|w| !w.slots.is_empty()).map(line).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_waits_for_the_waves_that_are_left() {
        let mut b = Barriers::default();
        assert_eq!(b.ended(7, 4), [0u32; 0]);
        assert_eq!(b.arrive(7, 4, 1), Arrival { arrived: 1, needed: 3, released: vec![] });
        assert_eq!(b.arrive(7, 4, 2).released, [0u32; 0]);
        // The last one they waited for ends instead of coming.
        assert_eq!(b.ended(7, 4), [1, 2]);
        // The next time two are enough.
        assert_eq!(b.arrive(7, 4, 2).released, [0u32; 0]);
        assert_eq!(b.arrive(7, 4, 1), Arrival { arrived: 2, needed: 2, released: vec![2, 1] });
        assert_eq!(b.ended(7, 4), [0u32; 0]);
        assert_eq!(b.ended(7, 4), [0u32; 0]);
        assert!(b.waiting.is_empty());
    }

    #[test]
    fn a_barrier_with_a_count_of_its_own_knows_no_groups() {
        let mut b = Barriers::default();
        assert_eq!(b.arrive(1, 2, 0).released, [0u32; 0]);
        assert_eq!(b.describe(), "barrier 1 has 1 wave(s) waiting");
        assert_eq!(b.arrive(1, 2, 0).released, [0, 0]);
        assert!(b.waiting.is_empty());
    }
}
