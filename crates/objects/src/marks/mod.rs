//! Marks divergent branches of a code object for splitting (PWS 4.2, "insert merge"): `split` right before the
//! branch and `merge` where its lanes are together again, or the MODE bit of THESIS 4.5. Marks that do nothing go.

mod code;
mod error;
mod mode;
mod pairs;
mod places;
mod request;

pub use code::Site;
pub use error::MarkError;
pub use request::{Marked, Request, Wanted};

use crate::rewrite::{Edits, rewrite};
use code::Code;
use std::collections::BTreeSet;
use wb_hw::MarkStyle;
use wb_isa::Pc;
use wb_isa::gcn3::Op;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;

/// The branches on the execution mask in a kernel or function, or in all of them.
pub fn sites(bytes: &[u8], kernel: &str) -> Result<Vec<Site>, MarkError> {
    Ok(Code::read(bytes, kernel)?.sites)
}

/// Branches of a program that are marked already, in either style: a `split` behind the instruction that switched the
/// lanes off, or the MODE bit set right before the branch.
pub fn marked_branches(program: &Program<Gcn3>, style: MarkStyle) -> BTreeSet<Pc> {
    let is_mark = |pc: Pc| {
        let inst = program.ops.get(pc as usize).and_then(|op| op.inst.as_ref());
        inst.is_some_and(|inst| match style {
            MarkStyle::Pws => matches!(inst.op, Op::Split | Op::SplitEnd),
            MarkStyle::Thesis => code::mode_bit(inst) == Some(true),
        })
    };
    let marked = |branch: Pc, narrow: Pc| {
        let Some(block) = program.cfg.block_at(branch) else { return false };
        let pcs = program.cfg.pcs(block, &program.flow);
        match style {
            MarkStyle::Pws => pcs.iter().skip_while(|&&pc| pc != narrow).any(|&pc| is_mark(pc)),
            MarkStyle::Thesis => pcs.len() > 1 && is_mark(pcs[pcs.len() - 2]),
        }
    };
    program.flow.regions.iter().filter(|r| marked(r.branch, r.narrow)).map(|r| r.branch).collect()
}

/// The MODE bit that asks for splits is set, or may be, other than right before a branch on the mask.
pub fn sets_mode_elsewhere(program: &Program<Gcn3>) -> bool {
    program.ops.iter().any(|op| {
        op.inst.as_ref().is_some_and(|inst| match code::mode_bit(inst) {
            Some(on) => on && program.flow.region(op.next).is_none(),
            None => code::may_write_mode_bit(inst),
        })
    })
}

/// Whether the source put marks there.
pub fn has_source_marks(bytes: &[u8], kernel: &str) -> Result<bool, MarkError> {
    Ok(!Code::read(bytes, kernel)?.source_marks().is_empty())
}

/// Marks branches. Marking what is marked already changes nothing.
pub fn mark(bytes: &[u8], request: &Request) -> Result<Marked, MarkError> {
    let code = Code::read(bytes, &request.kernel)?;
    let mut notes = Vec::new();
    let mut edits = Edits::default();
    let chosen: BTreeSet<Pc> = match &request.wanted {
        Wanted::All => code.sites.iter().filter(|s| s.gains(request.style)).map(|s| s.pc).collect(),
        Wanted::At(places) => places::resolve(&code, places, request.style, &mut notes)?,
        Wanted::Source => places::from_source(&code, request.style, &mut edits, &mut notes)?,
    };
    // Both sides of an if part at its branch; the branch in front of the else side has nothing left to split.
    let chosen: BTreeSet<Pc> = chosen.into_iter().map(|pc| code.leader(pc, request.style)).collect();
    let branches = match request.style {
        MarkStyle::Pws => pairs::mark(&code, &chosen, &mut edits, &mut notes),
        MarkStyle::Thesis => mode::mark(&code, &chosen, &mut edits),
    };
    let branches = branches.into_iter().map(|pc| code.addr(pc)).collect();
    Ok(Marked { bytes: rewrite(bytes, &edits)?, branches, notes })
}
