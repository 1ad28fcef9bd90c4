//! Paper mode: the formulas of THESIS chapter 5 and PWS sections 4.2 and 5 to the letter, mistakes included, so that
//! their numbers can be reproduced and compared with sound mode. Nobody should rely on these bounds.

mod error;
pub mod figure8;
pub mod lemmas;
pub mod prune;
pub mod select;
pub mod thesis;

pub use error::PaperError;
pub use prune::{Pruned, PrunedModel, PwsWave, prune, prune_like_figure_8, prune_regions, pws_wave};
pub use select::{Block, Cfg, Kind, select, select_regions};
pub use thesis::{PerPath, ThesisPath, per_path, thesis_paths};
