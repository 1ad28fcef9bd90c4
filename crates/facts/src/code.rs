//! A program as the checkers of [`wb_flowproof`] read it.

use crate::calls::Calls;
use wb_flowproof::Code;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;

/// The code of a program, with where its calls go.
pub fn code<'a>(program: &'a Program<Gcn3>, calls: &Calls) -> Code<'a> {
    Code {
        entry: program.entry,
        insts: program.ops.iter().map(|op| op.inst.as_ref()).collect(),
        kind: &program.flow.kind,
        next: &program.flow.next,
        calls: calls.targets.iter().map(|(&from, &to)| (from, to)).collect(),
        setup: &program.isa.setup,
    }
}
