//! Why a model cannot be split or bounded.

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

/// Why a graph has no longest way: nodes by number, for the caller to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The cycle through this node can be entered elsewhere too.
    Irreducible(usize),
    /// The loop with this header has no bound.
    Unbounded(usize),
}
