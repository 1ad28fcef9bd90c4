//! Two runs beside each other: for every wave that both have, when each had done equally much.

use crate::store::Store;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Lead {
    /// By wave that is in a row of the window: row, wave, then pairs (cycle here, cycle in the other run).
    pub waves: Vec<Vec<u64>>,
    /// Cycles of both runs.
    pub cycles: [u64; 2],
}

/// How `here` is ahead of or behind `there` in `from..to` (cycles of `here`) of some rows.
pub fn lead(here: &Store, there: &Store, from: u64, to: u64, rows: std::ops::Range<usize>) -> Lead {
    let shown = here.index.waves.iter().filter(|(_, w)| w.from < to && w.to > from);
    let shown = shown.filter_map(|(&number, wave)| {
        let row = here.index.row(wave.core, wave.slot).filter(|r| rows.contains(r))?;
        let pairs = here.index.progress.pairs(&there.index.progress, number);
        let pairs = pairs.into_iter().flat_map(|(a, b)| [a, b]);
        Some([row as u64, number.into()].into_iter().chain(pairs).collect())
    });
    Lead { waves: shown.take(4096).collect(), cycles: [here.index.cycles, there.index.cycles] }
}
