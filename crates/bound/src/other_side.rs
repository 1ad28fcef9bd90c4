//! The side of a branch that never runs, if the facts file says that its mask is homogeneous and which way it goes (THESIS 5.2.4).

use wb_facts::{BranchSide, Counted, HomogeneousFact, LinearFact, Origin};
use wb_isa::Isa;
use wb_program::Program;
use wb_wcet::measure::sides;

/// What follows if a branch always goes the same way: the other side never runs.
pub(crate) fn other_side<I: Isa>(program: &Program<I>, fact: &HomogeneousFact) -> Option<LinearFact> {
    let (first, second) = sides(program, fact.branch);
    let side = fact.side?;
    let never = match side {
        BranchSide::First => second?,
        BranchSide::Second => first?,
    };
    let name = format!("homogeneous at pc {}: only the {} side", fact.branch, side.name());
    Some(LinearFact { name, terms: vec![(1, Counted::Block(never))], limit: 0, origin: Origin::User })
}
