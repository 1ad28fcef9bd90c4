//! What targets share: parts of an input, and machines small enough for any program.

use std::borrow::Cow;
use wb_hw::Machine;

/// Bytes of a device.
pub(super) const MEMORY: u64 = 1 << 16;

pub(super) fn small(preset: &str) -> Machine {
    let mut machine = wb_hw::preset(preset).expect("a preset");
    machine.core.lanes = 4;
    machine.limits.cycles = 2000;
    machine.limits.memory = MEMORY;
    machine.limits.stack_depth = 64;
    machine
}

pub(super) fn first(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, data), |(&b, rest)| (b, rest))
}

pub(super) fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}
