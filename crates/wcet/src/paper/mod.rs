//! Paper mode: the formulas of THESIS chapter 5 and PWS sections 4.2 and 5 to the letter, mistakes included, so that
//! their numbers can be reproduced and compared with sound mode. Nobody should rely on these bounds.

pub mod figure8;
pub mod lemmas;
pub mod prune;
pub mod select;
pub mod thesis;

pub use prune::{Pruned, PrunedModel, PwsWave, prune, prune_like_figure_8, prune_regions, pws_wave};
pub use select::{Block, Cfg, Kind, select, select_regions};
pub use thesis::{PerPath, ThesisPath, per_path, thesis_paths};

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
