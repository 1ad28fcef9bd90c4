//! Programs whose flow is refused.

use thiserror::Error;

/// Blocks of all loops together, each counted once for every loop around it. Some 2,900 loops within each other reach it.
pub const LOOP_LIMIT: usize = 1 << 22;

/// A program whose flow is refused, because looking at it would take too long or too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TooComplex {
    #[error(
        "its loops are nested too deeply: together they hold more than {LOOP_LIMIT} blocks, each counted once for every \
         loop around it"
    )]
    Loops,
    #[error(
        "its mask stack has too many forms: more than {0} pairs of an instruction and a place that pushed"
    )]
    Masks(usize),
}
