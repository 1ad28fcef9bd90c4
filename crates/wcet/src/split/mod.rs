//! Splitting in the analysis: the region recursion that replaces pruning (repairs 1 to 3 of the specification), which
//! splits are guaranteed to find a context (PWS 4.2, THESIS 5.2.5), and the best places to split.

pub mod contexts;
mod error;
pub mod expand;
mod longest;
pub mod optimal;
pub mod tree;
mod valid;

pub use contexts::{Contexts, Guarantee, Reconvergence, contexts, contexts_used};
pub use error::SplitError;
pub use expand::{Expanded, Mode, Side, expand, expand_modes};
pub use longest::longest;
pub use optimal::{Placement, WhatIf, optimal, what_if};
pub use tree::Tree;

pub(crate) use longest::{Shape, Sum, shape_of};
pub(crate) use valid::{check_indices, check_regions, name};

use crate::graph::{Model, Region};

/// The bound of one wave in sound mode and what it rests on.
#[derive(Clone, Debug)]
pub struct Sound {
    /// The longest chain through the wave's paths.
    pub cycles: u64,
    pub expanded: Expanded,
    pub contexts: Contexts,
}

/// Sound mode for a wave whose program marks exactly `regions`, on a machine with `slots` contexts (S) per wave: regions
/// that surely split are charged their longer side, those that may find no context the worst of splitting and not.
pub fn sound(
    model: &Model,
    regions: &[Region],
    slots: u32,
    reconvergence: Reconvergence,
) -> Result<Sound, SplitError> {
    let tree = Tree::new(model, regions)?;
    let contexts = contexts(&tree, &vec![true; regions.len()], slots, reconvergence)?;
    let modes: Vec<Mode> = contexts.guarantee.iter().map(|g| Mode::of(*g)).collect();
    let expanded = expand_modes(model, regions, &modes)?;
    let cycles = longest(&expanded.model)?;
    Ok(Sound { cycles, expanded, contexts })
}
