//! What the parser makes of a line.

use crate::gcn3::inst::Inst;
use std::ops::Range;

/// A parsed instruction with the label it names, if any.
pub(super) struct Line {
    pub inst: Inst,
    pub target: Option<Target>,
}

/// A label and where it stands.
pub(super) struct Target {
    pub label: String,
    pub span: Range<usize>,
    /// In the literal, which takes half of the distance plus an addend; otherwise a branch.
    pub literal: Option<(bool, i64)>,
}
