//! Which breakpoints an editor has placed, by kind.

use crate::view::View;
use std::collections::BTreeMap;

/// Who placed a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// By path.
    Source(String),
    Function,
    Instruction,
    Data,
    Divergence,
}

/// Numbers of the breakpoints of each kind.
#[derive(Default)]
pub(super) struct Placed {
    pub ids: BTreeMap<By, Vec<u32>>,
}

impl Placed {
    /// What the protocol calls a stop at it.
    pub fn kind(&self, id: u32) -> &'static str {
        let by = self.ids.iter().find(|(_, ids)| ids.contains(&id)).map(|(by, _)| by);
        match by {
            Some(By::Source(_)) | None => "breakpoint",
            Some(By::Function) => "function breakpoint",
            Some(By::Instruction) => "instruction breakpoint",
            Some(By::Data) => "data breakpoint",
            Some(By::Divergence) => "exception",
        }
    }

    pub fn replace(&mut self, view: &mut View, by: &By) {
        for id in self.ids.remove(by).unwrap_or_default() {
            view.breaks.remove(id);
        }
    }
}
