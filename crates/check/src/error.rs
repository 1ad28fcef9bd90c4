//! What can be wrong with a certificate.

use thiserror::Error;

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    #[error("not a certificate: {0}; hint: docs/certificate.md describes the format")]
    Syntax(String),
    #[error(
        "`{format}` version {version} is not known; hint: this checker reads `wavebound-certificate` version 2"
    )]
    Version { format: String, version: u32 },
    #[error(
        "a certificate of version 1 binds neither code nor machine nor launch; hint: make a new one with `wavebound wcet --certificate`"
    )]
    Unbound,
    #[error("{place}: {what}")]
    Binding { place: String, what: String },
    #[error(
        "the digest is {found}, the document has {right}; hint: the file was changed or reformatted after it was written"
    )]
    Digest { found: String, right: String },
    #[error("{place}: {value} is out of range, there are {len}")]
    Index { place: String, value: usize, len: usize },
    #[error("{place}: not a number of the right range")]
    Number { place: String },
    #[error("{place}: {found} numbers instead of {expected}")]
    Length { place: String, found: usize, expected: usize },
    #[error("{place}: something is listed twice")]
    Twice { place: String },
    #[error("{place}: a term counts one node or one edge")]
    Term { place: String },
    #[error("edges[{edge}] leaves the exit")]
    LeavesExit { edge: usize },
    #[error("there is no way from entry to exit")]
    NoWay,
    #[error("loops[{index}]: `{name}` is no header of a loop that runs")]
    NoLoop { index: usize, name: String },
    #[error("loops[{index}] at `{name}`: the {which} edges are {expected:?}")]
    LoopEdges { index: usize, name: String, which: &'static str, expected: Vec<usize> },
    #[error("there is a cycle that no loop bound and no fact limits")]
    Endless,
    #[error("limits[{edge}]: the edge can be taken more often than {limit} times, as far as the bounds tell")]
    Limit { edge: usize, limit: i128 },
    #[error("edges[{edge}]: the multipliers leave a rest, and there is no limit for the edge")]
    NoLimit { edge: usize },
    #[error("{0} does not fit into 128 bits")]
    Overflow(&'static str),
    #[error("the bound {bound} is not proven: the certificate proves {proven}")]
    Bound { bound: i128, proven: i128 },
}
