//! Splitting in the analysis: the region recursion that replaces pruning (repairs 1 to 3 of the specification), which
//! splits are guaranteed to find a context (PWS 4.2, THESIS 5.2.5), and the best places to split.

pub mod contexts;
pub mod expand;
mod longest;
pub mod optimal;
pub mod tree;

pub use contexts::{Contexts, Guarantee, Reconvergence, contexts, contexts_used};
pub use expand::{Expanded, Mode, Side, expand, expand_modes};
pub use longest::longest;
pub use optimal::{Placement, WhatIf, optimal, what_if};
pub use tree::Tree;

pub(crate) use longest::{Shape, Sum, shape_of};

use crate::graph::{Count, Model, NodeId, Region};
use longest::Trouble;
use thiserror::Error;

/// Why a model cannot be split or bounded: where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    #[error("{what} {index} does not exist: the graph has {count}; the model is inconsistent")]
    NoSuch { what: &'static str, index: usize, count: usize },
    #[error("no way leads from `{from}` to `{to}`; check that the graph is complete")]
    NoWay { from: String, to: String },
    #[error(
        "the cycle through `{node}` can be entered in several places; only natural loops can be bounded by structure"
    )]
    Irreducible { node: String },
    #[error("the loop with header `{header}` has no bound; give it one")]
    Unbounded { header: String },
    #[error("the longest way takes more than 2^64 - 1 cycles; check the loop bounds")]
    TooLong,
    #[error("two regions have the same branch `{branch}`; keep one of them")]
    SameBranch { branch: String },
    #[error(
        "the region from `{branch}` to `{join}` can be left at `{node}` without passing the join; give a join that post-dominates the branch, or do not split here"
    )]
    Leaves { branch: String, join: String, node: String },
    #[error(
        "`{node}` belongs to the region of `{first}` and to that of `{second}`, but neither is inside the other; do not split one of them"
    )]
    Overlap { node: String, first: String, second: String },
    #[error(
        "`{node}` is inside the region of `{branch}` but can be entered past its branch; do not split here"
    )]
    Entered { node: String, branch: String },
    #[error(
        "edge `{from}` -> `{to}` is given as a side of the region of `{branch}` but does not start there directly"
    )]
    Side { branch: String, from: String, to: String },
    #[error(
        "lanes that take only the {side} side of the region of `{branch}` have no way to `{join}`; a path of a split wave must be able to skip the other side"
    )]
    NoSide { branch: String, join: String, side: &'static str },
    #[error("{given} entries were given for {regions} regions; give one for each")]
    Count { given: usize, regions: usize },
    #[error(
        "splitting makes more than {limit} nodes; split fewer of the nested regions whose sides share code"
    )]
    TooLarge { limit: usize },
}

impl SplitError {
    pub(crate) fn of_shape(trouble: Trouble, name: impl Fn(usize) -> String) -> SplitError {
        match trouble {
            Trouble::Irreducible(v) => SplitError::Irreducible { node: name(v) },
            Trouble::Unbounded(v) => SplitError::Unbounded { header: name(v) },
        }
    }
}

pub(crate) fn name(model: &Model, node: NodeId) -> String {
    model.graph.nodes.get(node).map_or_else(|| node.to_string(), |n| n.name.clone())
}

/// All numbers of a model name something that exists.
pub(crate) fn check_indices(model: &Model) -> Result<(), SplitError> {
    let graph = &model.graph;
    let count = graph.nodes.len();
    let ends = [graph.entry, graph.exit].into_iter();
    let edges = graph.edges.iter().flat_map(|e| [e.from, e.to]);
    let headers = model.bounds.iter().map(|b| b.header);
    let terms = || model.facts.iter().flat_map(|f| f.terms.iter().map(|t| t.1));
    let counted = terms().filter_map(|c| if let Count::Node(v) = c { Some(v) } else { None });
    if let Some(index) = ends.chain(edges).chain(headers).chain(counted).find(|&v| v >= count) {
        return Err(SplitError::NoSuch { what: "node", index, count });
    }
    let count = graph.edges.len();
    let mut counted = terms().filter_map(|c| if let Count::Edge(e) = c { Some(e) } else { None });
    match counted.find(|&e| e >= count) {
        Some(index) => Err(SplitError::NoSuch { what: "edge", index, count }),
        None => Ok(()),
    }
}

pub(crate) fn check_regions(model: &Model, regions: &[Region]) -> Result<(), SplitError> {
    let (nodes, edges) = (model.graph.nodes.len(), model.graph.edges.len());
    for region in regions {
        if let Some(index) = [region.branch, region.join].into_iter().find(|&v| v >= nodes) {
            return Err(SplitError::NoSuch { what: "node", index, count: nodes });
        }
        if let Some(&index) = region.first.iter().chain(&region.second).find(|&&e| e >= edges) {
            return Err(SplitError::NoSuch { what: "edge", index, count: edges });
        }
    }
    Ok(())
}

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
