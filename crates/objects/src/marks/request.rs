//! What to mark, and what came of it.

use wb_hw::MarkStyle;

/// Which branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every branch that can be marked.
    All,
    /// Addresses (`0x2650`), pcs (`148`), `FILE:LINE`, `LABEL` or `LABEL+OFFSET`.
    At(Vec<String>),
    /// Where the source says so (`wavebound_split()` of include/wavebound.h); those marks are removed.
    Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Only in this kernel or function; empty = everywhere.
    pub kernel: String,
    pub wanted: Wanted,
    pub style: MarkStyle,
}

/// A marked object and what was done.
#[derive(Clone, Debug)]
pub struct Marked {
    pub bytes: Vec<u8>,
    /// Branches that are marked now, by their old addresses.
    pub branches: Vec<u64>,
    pub notes: Vec<String>,
}
