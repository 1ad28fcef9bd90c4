//! DRAM: a fixed latency or a row-buffer model, behind a bandwidth limit.

use wb_hw::Dram as DramSpec;

#[derive(Clone, Debug)]
pub struct Dram {
    spec: DramSpec,
    /// Bytes moved so far on the scale `cycle × bandwidth`.
    cursor: u64,
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
            cursor: 0,
            spec: spec.clone(),
        }
    }

    /// When an access of `bytes` bytes that arrives at `now` is done.
    pub fn access(&mut self, addr: u64, bytes: u32, now: u64) -> u64 {
        let start = match u64::from(self.spec.bandwidth) {
            0 => now,
            bandwidth => {
                let from = self.cursor.max(now.saturating_mul(bandwidth));
                self.cursor = from + u64::from(bytes);
                from / bandwidth
            }
        };
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
        let done: Vec<u64> = (0..3).map(|i| d.access(i * 64, 64, 10)).collect();
        assert_eq!(done, [40, 42, 44]);
        assert_eq!(d.access(0, 64, 100), 130);
    }

    #[test]
    fn an_open_row_is_faster_and_a_bank_is_busy() {
        let mut d =
            Dram::new(&DramSpec { banks: 2, row_bytes: 1024, row_hit_latency: 10, bandwidth: 0, ..spec() });
        assert_eq!(d.access(0, 64, 0), 30);
        assert_eq!(d.access(64, 64, 0), 40);
        assert_eq!(d.access(1024, 64, 0), 30);
        assert_eq!(d.access(2048, 64, 50), 80);
    }
}
