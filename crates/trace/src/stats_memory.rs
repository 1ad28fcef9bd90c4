//! What each instruction asked of memory: lines against the fewest that would do, what the first cache answered, and for
//! local memory the cycles that banks served one after the other although they could have served together.

use crate::PortKind;
use serde::{Deserialize, Serialize};

/// Accesses of one instruction, over the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PcMemory {
    /// Through caches or to DRAM.
    pub accesses: u64,
    pub writes: u64,
    /// Lines touched.
    pub lines: u64,
    /// Fewest lines that hold as many bytes as the active lanes accessed, never more than `lines`: lanes may share bytes.
    /// None: the width of an access is not known from the instruction.
    pub ideal_lines: Option<u64>,
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    /// Of local memory: accesses, dwords of all lanes, and cycles beyond those that the banks need for so many dwords.
    pub local_accesses: u64,
    pub local_dwords: u64,
    pub bank_conflicts: u64,
}

impl PcMemory {
    /// Nothing was accessed.
    pub fn is_empty(&self) -> bool {
        self.accesses + self.local_accesses == 0
    }

    /// Adds the accesses of another launch, or of another instruction.
    pub fn add(&mut self, other: &PcMemory) {
        self.ideal_lines = match (self.accesses, other.accesses) {
            (0, _) => other.ideal_lines,
            (_, 0) => self.ideal_lines,
            _ => self.ideal_lines.zip(other.ideal_lines).map(|(a, b)| a + b),
        };
        self.accesses += other.accesses;
        self.writes += other.writes;
        self.lines += other.lines;
        self.hits += other.hits;
        self.misses += other.misses;
        self.evictions += other.evictions;
        self.local_accesses += other.local_accesses;
        self.local_dwords += other.local_dwords;
        self.bank_conflicts += other.bank_conflicts;
    }
}

/// The instruction that issued last: a memory event follows it at once.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastIssue {
    pub lanes: u32,
    /// Cycles it keeps its unit beyond the unit's interval.
    pub extra: u32,
}

/// One access as its event has it.
pub(crate) struct Accessed {
    pub port: PortKind,
    pub write: bool,
    pub lines: u16,
    pub hits: u16,
    pub misses: u16,
    pub evictions: u16,
}

impl PcMemory {
    /// Counts an access of `width` bytes per lane. `line`: bytes of a line at its port; `banks` of local memory.
    pub(crate) fn count(&mut self, a: &Accessed, last: LastIssue, width: u32, line: u32, banks: u32) {
        let lines = u64::from(a.lines);
        if a.port == PortKind::Lds {
            self.local_accesses += 1;
            self.local_dwords += lines;
            if banks > 0 {
                // The unit is kept for each further pass over the banks; as many as there are rows of dwords are needed.
                let needed = lines.div_ceil(u64::from(banks)).max(1);
                self.bank_conflicts += (u64::from(last.extra) + 1).saturating_sub(needed);
            }
            return;
        }
        let lanes = if a.port == PortKind::Scalar { 1 } else { last.lanes.max(1) };
        let ideal = (width > 0 && line > 0)
            .then(|| u64::from(lanes).saturating_mul(width.into()).div_ceil(line.into()).min(lines));
        self.ideal_lines =
            if self.accesses == 0 { ideal } else { self.ideal_lines.zip(ideal).map(|(sum, n)| sum + n) };
        self.accesses += 1;
        self.writes += u64::from(a.write);
        self.lines += lines;
        self.hits += u64::from(a.hits);
        self.misses += u64::from(a.misses);
        self.evictions += u64::from(a.evictions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(port: PortKind, lines: u16) -> Accessed {
        Accessed { port, write: false, lines, hits: 0, misses: lines, evictions: 0 }
    }

    #[test]
    fn the_ideal_counts_bytes_of_active_lanes() {
        let mut m = PcMemory::default();
        let of = |lanes| LastIssue { lanes, extra: 0 };
        m.count(&access(PortKind::Data, 64), of(64), 4, 64, 32);
        assert_eq!((m.lines, m.ideal_lines), (64, Some(4)), "one line for each lane, four would do");
        m.count(&access(PortKind::Data, 1), of(64), 4, 64, 32);
        assert_eq!(m.ideal_lines, Some(5), "all lanes read one dword");
        m.count(&access(PortKind::Scalar, 1), of(64), 8, 64, 32);
        assert_eq!(
            (m.accesses, m.ideal_lines),
            (3, Some(6)),
            "scalar instructions access once for all lanes"
        );
        m.count(&access(PortKind::Data, 2), of(64), 0, 64, 32);
        assert_eq!(m.ideal_lines, None, "a width that is not known spoils the sum");
    }

    #[test]
    fn rows_of_banks_that_are_needed_are_no_conflicts() {
        let mut m = PcMemory::default();
        let mut lds = |dwords, extra| {
            m.count(&access(PortKind::Lds, dwords), LastIssue { lanes: 64, extra }, 4, 4, 32);
            m.bank_conflicts
        };
        assert_eq!(lds(64, 1), 0, "64 dwords need two passes over 32 banks");
        assert_eq!(lds(64, 63), 62, "all in one bank");
        assert_eq!((m.local_accesses, m.local_dwords, m.accesses), (2, 128, 0));
    }
}
