//! What memory instructions touch, in the words of the proof.

use std::collections::BTreeMap;
use wb_facts::{AccessFact, AccessShape, Inferred, Known};
use wb_hw::Machine;
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_proved::{Access, Local};

/// Facts about every memory instruction that can be reached.
pub(super) fn facts(
    program: &Program<Gcn3>,
    known: &Known,
    inferred: &Inferred,
    machine: &Machine,
) -> BTreeMap<Pc, AccessFact> {
    let line =
        |first: &str| machine.caches.iter().find(|c| c.name == first).map_or(machine.dram.line, |c| c.line);
    let shape = AccessShape {
        data_line: line(&machine.memory.data),
        scalar_line: line(&machine.memory.scalar),
        banks: machine.core.lds_banks,
        lanes: machine.core.lanes,
        apart: machine.splits(),
    };
    wb_facts::accesses(program, known, inferred, shape)
}

/// The same as the proof takes it.
pub(super) fn access(fact: &AccessFact) -> Access {
    Access {
        lines: fact.lines.into(),
        passes: fact.passes.into(),
        local: match fact.local {
            wb_facts::Local::Never => Local::Never,
            wb_facts::Local::Always => Local::Always,
            wb_facts::Local::Maybe => Local::Maybe,
        },
        loads: !fact.write,
        stores: fact.write,
        range: fact.range,
    }
}
