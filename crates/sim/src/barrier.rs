//! Barriers of a core (HARP `bar id, n`): released when n waves have arrived; a wave counts once each time
//! it arrives.

/// Waves waiting at one barrier.
#[derive(Clone, Debug)]
struct Waiting {
    id: u64,
    slots: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub struct Barriers {
    waiting: Vec<Waiting>,
}

impl Barriers {
    /// `slot` arrives. Returns how many are there now, and the slots to wake if it was the last one.
    pub fn arrive(&mut self, id: u64, count: u64, slot: u32) -> (u32, Option<Vec<u32>>) {
        let at = match self.waiting.iter().position(|w| w.id == id) {
            Some(at) => at,
            None => {
                self.waiting.push(Waiting { id, slots: Vec::new() });
                self.waiting.len() - 1
            }
        };
        self.waiting[at].slots.push(slot);
        let arrived = self.waiting[at].slots.len();
        if arrived as u64 >= count {
            return (arrived as u32, Some(self.waiting.swap_remove(at).slots));
        }
        (arrived as u32, None)
    }

    /// What everybody waits for, for a deadlock report.
    pub fn describe(&self) -> String {
        self.waiting
            .iter()
            .map(|w| format!("barrier {} has {} wave(s) waiting", w.id, w.slots.len()))
            .collect::<Vec<_>>()
            .join("; ")
    }
}
