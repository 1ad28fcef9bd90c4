//! Why the documents' algorithms do not apply.

use crate::split::SplitError;
use thiserror::Error;

/// Why the documents' algorithms do not apply.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PaperError {
    #[error(
        "block {block}: {what}; PWS 4.2 knows sequences and branches with a serialisation block only, use the regions' version"
    )]
    Shape { block: usize, what: &'static str },
    #[error(
        "`{node}`: {what}; PWS 4.2 knows sequences and branches with a serialisation block only, use the regions' version"
    )]
    Node { node: String, what: &'static str },
    #[error("block {block} is no branch; mark blocks where lanes part")]
    NoBranch { block: usize },
    #[error("{0}")]
    Split(#[from] SplitError),
}
