//! What an issue port asks about the instructions of a program, as the machine executes them: one short line for each, so that a
//! port reads neither the instruction nor the description of its unit.

use super::units::{ClassInfo, Units};
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// An instruction as an issue port sees it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Plan {
    /// The registers that it reads and writes, as bits of their lowest digits.
    pub bits: u64,
    pub next: Pc,
    /// After how many cycles its result can be used, and for how many it keeps its unit, if there is [only](Plan::only) one.
    pub done: u32,
    pub keeps: u32,
    pub unit: u8,
    pub class: u8,
    /// There is one copy of its unit, and nothing to choose.
    pub only: bool,
    /// It waits for registers only, and it is known for which.
    pub simple: bool,
    /// It writes registers.
    pub writes: bool,
    /// It issues by the general way: it concerns more than registers, or nobody knows which.
    pub general: bool,
    /// The next one in program order reads or writes a register that it writes.
    pub feeds: bool,
}

/// By pc.
pub(super) fn of<I: Isa>(program: &Program<I>, classes: &[ClassInfo], units: &Units) -> Vec<Plan> {
    let plan = |step: &wb_program::Step<I::Bound>| {
        let info = classes[usize::from(step.class)];
        let (only, keeps, more) = units.only(info.unit);
        Plan {
            bits: step.bits(),
            next: step.next,
            done: info.latency + more,
            keeps: keeps + info.longer,
            unit: info.unit,
            class: step.class,
            only,
            simple: !step.waits && step.knows_registers(),
            writes: !step.writes().is_empty(),
            general: step.bound.is_none() || info.port.is_some() || step.raises || !step.knows_registers(),
            feeds: step.feeds,
        }
    };
    program.steps.iter().map(plan).collect()
}
