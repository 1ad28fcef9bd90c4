//! The example of PWS figure 8 and table 2. Block times are read back from everything printed about it: the e_bb and F
//! columns where they are legible, removed edges, and table 2.

use super::error::PaperError;
use super::lemmas;
use super::prune::prune;
use super::select::{Block, Cfg, Kind, select};
use crate::split::SplitError;

/// e_bb of blocks 1 … 18.
pub const TIMES: [u64; 18] = [8, 5, 3, 1, 6, 2, 4, 5, 1, 4, 3, 3, 1, 1, 1, 2, 5, 4];
/// P, the branches marked for splitting.
pub const MARKED: [usize; 4] = [1, 2, 7, 13];
/// Table 2 as printed: S, no splitting, DWS, PWS.
pub const PRINTED: [(u64, u64, u64, u64); 3] = [(1, 60, 127, 52), (2, 60, 192, 49), (3, 60, 245, 47)];

const SUCCESSORS: [&[usize]; 18] = [
    &[2, 12],
    &[3, 4],
    &[4],
    &[5, 6],
    &[6],
    &[7],
    &[8, 9],
    &[9],
    &[10, 11],
    &[11],
    &[12],
    &[13, 18],
    &[14, 15],
    &[15],
    &[16, 17],
    &[17],
    &[18],
    &[],
];

/// The flow graph of figure 8.
pub fn cfg() -> Result<Cfg, PaperError> {
    let kind = |u: usize| match u {
        1 | 2 | 7 | 13 => Kind::Branch,
        4 | 9 | 12 | 15 => Kind::Serialise,
        _ => Kind::Plain,
    };
    let block = |(i, successors): (usize, &&[usize])| Block {
        time: TIMES[i],
        kind: kind(i + 1),
        successors: successors.to_vec(),
    };
    Cfg::new(SUCCESSORS.iter().enumerate().map(block).collect())
}

/// A row of table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub slots: u64,
    pub none: u64,
    pub dws: u64,
    pub pws: u64,
}

/// A row of table 2 by the lemmas, with d = e_s = e_m = D_S = 1.
pub fn row(slots: u64) -> Result<Row, PaperError> {
    let cfg = cfg()?;
    let selected = select(&cfg, &MARKED, slots)?;
    let serial: u64 = TIMES.iter().sum();
    let found = || {
        let pws = lemmas::wave(prune(&cfg, &selected).longest(&cfg), selected.len() as u64, 1, 1)?;
        let dws = lemmas::wave_dws(serial, slots, 1, 1)?;
        Some(Row {
            slots,
            none: lemmas::kernel_pws(1, 1, serial)?,
            dws: lemmas::kernel_dws(1, 1, slots, dws)?,
            pws: lemmas::kernel_pws(1, 1, pws)?,
        })
    };
    found().ok_or(PaperError::Split(SplitError::TooLong))
}
