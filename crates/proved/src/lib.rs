//! Bounds of kernels without a measurement: own time of a wave from the hardware's latencies, demand on what waves share, and the
//! theorem that adds them up (docs/proved-bounds.md). Nothing of the simulator is used: machine, program and launch are read as data.
//!
//! From below: what is read of a machine (`hardware`), what accesses touch (`access`, `lines`, `caches`), what instructions cost
//! (`charges`), paths of waves that split (`splits`), a wave alone (`pipeline`, `own`), what it asks of others (`demand`), first touches
//! (`cold`), ways through the kernel (`flow`), where waves are (`geometry`), and the sum (`compose`, `prove`). Terms with measured facts
//! in place of proved ones are in `measured`, own times of measured waves in `replay`.

mod access;
mod caches;
mod charges;
mod cold;
mod compose;
mod demand;
mod flow;
mod geometry;
mod hardware;
mod lines;
mod measured;
mod own;
mod pipeline;
mod prove;
mod refusal;
mod replay;
mod splits;

pub use access::{Access, Local, Memory};
pub use caches::Caches;
pub use charges::Charges;
pub use compose::{Parts, WaveTerms, compose};
pub use demand::{Relation, Resource};
pub use flow::{Flow, Piece, Weights};
pub use geometry::Geometry;
pub use hardware::Hardware;
pub use measured::{MeasuredTerms, Measurements, Seen, measured_terms};
pub use pipeline::Pipeline;
pub use prove::{Fault, Proofs, Proved, Question, Term, prove};
pub use refusal::Refusal;
pub use replay::{Alone, Did, Replay, Used};
pub use splits::{SplitQuestion, Splits};
