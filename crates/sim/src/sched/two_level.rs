//! Two-level scheduling (mechanisms 13; Narasiman et al., MICRO 2011): slots are in fetch groups. One group has priority; its waves take
//! turns. It keeps the priority until none of its waves could go although others could: then they all wait, and the next group with a
//! ready wave has it. The paper switches when all waves of a group wait for memory; waiting for a few cycles counts here, too (design
//! choice: a scheduler sees who is ready, not why others are not).

use super::policy::{Choice, Policy, View};

#[derive(Debug)]
pub struct TwoLevel {
    size: u32,
    last: u32,
}

impl TwoLevel {
    /// Fetch groups of `size` slots.
    pub fn new(size: u32) -> Self {
        TwoLevel { size: size.max(1), last: 63 }
    }

    fn group(&self, slot: u32) -> u64 {
        let first = slot / self.size * self.size;
        let all = if self.size >= 64 { u64::MAX } else { (1 << self.size) - 1 };
        all << first
    }
}

impl Policy for TwoLevel {
    fn pick(&mut self, view: &View) -> Option<u32> {
        let own = View { ready: view.ready & self.group(self.last), ..*view };
        self.last = match own.next_ready(self.last) {
            Some(slot) => slot,
            None => {
                // The next group, from its first slot on.
                let end = (self.last / self.size + 1) * self.size - 1;
                view.next_ready(end.min(63))?
            }
        };
        Some(self.last)
    }

    fn choice(&self) -> Choice {
        Choice::AmongReady
    }

    fn memory(&self) -> u64 {
        self.last.into()
    }

    fn remember(&mut self, memory: u64) {
        self.last = memory as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(size: u32, ready: &[u64]) -> Vec<Option<u32>> {
        let mut policy = TwoLevel::new(size);
        let view = |ready| View {
            ready,
            stalled: !ready & 0xff,
            occupied: 0xff,
            active: 0xff,
            age: &[],
            queued: &[],
            progress: &[],
            slots: 8,
        };
        ready.iter().map(|&r| policy.pick(&view(r))).collect()
    }

    #[test]
    fn a_group_goes_round_until_all_of_it_waits() {
        let got = picks(4, &[0xff, 0xff, 0b1101, 0xff, 0xf1, 0xf0, 0xff, 0xff]);
        let want = [0, 1, 2, 3, 0, 4, 5, 6].map(Some);
        assert_eq!(got, want);
        assert_eq!(picks(4, &[0x10, 0x11, 0x01, 0x10, 0]), [Some(4), Some(4), Some(0), Some(4), None]);
    }
}
