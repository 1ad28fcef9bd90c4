//! What to change in the code of an object.

use std::collections::{BTreeMap, BTreeSet};

/// What to insert and remove, by word number in .text (the pc of the simulator).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Words in front of an instruction; who jumps to it executes them.
    pub before: BTreeMap<u32, Vec<u32>>,
    /// Words behind an instruction; who jumps to the next one does not execute them.
    pub after: BTreeMap<u32, Vec<u32>>,
    /// Instructions that go; who jumps to one goes on behind it.
    pub remove: BTreeSet<u32>,
}

impl Edits {
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.remove.is_empty()
    }
}
