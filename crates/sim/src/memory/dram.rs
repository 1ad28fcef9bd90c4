//! DRAM: a fixed latency or a row-buffer model, behind a bandwidth limit.

use super::calendar::Calendar;
use wb_hw::Dram as DramSpec;

#[derive(Clone, Debug)]
pub struct Dram {
    spec: DramSpec,
    /// Bytes moved in each cycle.
    bus: Calendar,
    banks: Vec<Bank>,
}

#[derive(Clone, Copy, Debug)]
struct Bank {
    row: u64,
    free: u64,
}

impl Dram {
    pub fn new(spec: &DramSpec) -> Self {
        Dram {
            banks: vec![Bank { row: u64::MAX, free: 0 }; spec.banks as usize],
            bus: Calendar::new(spec.bandwidth),
            spec: spec.clone(),
        }
    }

    /// Cycles that every access takes at least.
    pub fn soonest(&self) -> u64 {
        match self.banks.is_empty() {
            true => self.spec.latency.into(),
            false => self.spec.latency.min(self.spec.row_hit_latency).into(),
        }
    }

    /// When an access of `bytes` bytes that arrives at `arrival` is done; nobody arrives before `now` any more. Banks, where
    /// there are any, serve in the order of issue: the row that is open depends on it.
    pub fn access(&mut self, addr: u64, bytes: u32, arrival: u64, now: u64) -> u64 {
        let start = self.bus.take(arrival, bytes, now);
        if self.banks.is_empty() {
            return start + u64::from(self.spec.latency);
        }
        let row = addr / u64::from(self.spec.row_bytes.max(1));
        let count = self.banks.len() as u64;
        let bank = &mut self.banks[(row % count) as usize];
        let latency = if bank.row == row { self.spec.row_hit_latency } else { self.spec.latency };
        let done = start.max(bank.free) + u64::from(latency);
        *bank = Bank { row, free: done };
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> DramSpec {
        DramSpec { latency: 30, bandwidth: 32, line: 64, banks: 0, row_bytes: 0, row_hit_latency: 0 }
    }

    #[test]
    fn bandwidth_spaces_the_lines() {
        let mut d = Dram::new(&spec());
        let done: Vec<u64> = (0..3).map(|i| d.access(i * 64, 64, 10, 10)).collect();
        assert_eq!(done, [40, 42, 44]);
        assert_eq!(d.access(0, 64, 100, 100), 130);
    }

    #[test]
    fn nobody_waits_while_the_bus_is_free() {
        let mut d = Dram::new(&spec());
        assert_eq!(d.access(0, 64, 500, 0), 530);
        assert_eq!(d.access(64, 64, 10, 0), 40, "issued later, arrives earlier: the bus is free");
        assert_eq!(d.access(128, 64, 500, 0), 532);
    }

    #[test]
    fn an_open_row_is_faster_and_a_bank_is_busy() {
        let mut d =
            Dram::new(&DramSpec { banks: 2, row_bytes: 1024, row_hit_latency: 10, bandwidth: 0, ..spec() });
        assert_eq!(d.access(0, 64, 0, 0), 30);
        assert_eq!(d.access(64, 64, 0, 0), 40);
        assert_eq!(d.access(1024, 64, 0, 0), 30);
        assert_eq!(d.access(2048, 64, 50, 0), 80);
    }
}
