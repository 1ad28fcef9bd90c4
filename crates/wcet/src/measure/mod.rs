//! Hybrid timing (THESIS 5.2.3, after Betts and Donaldson): instrumentation points in the kernel, the graph of ways
//! between them that pass no other point, and the longest observed time of each.

mod contract;
mod given;
mod homogeneous;
mod meter;
mod model;
mod never;
mod placement;
mod plan;
mod row;
mod rows;
mod skips;
mod times;
mod watched;

pub use given::Given;
pub use homogeneous::sides;
pub use meter::Meter;
pub use model::{Coverage, Gap, Measured, Unmeasured};
pub use never::Never;
pub use plan::{END, Piece, Plan, PlanEdge, PlanError, PlanLoop, PlanRegion, Points, START, side_of};
pub use row::{At, Row};
pub use rows::{RowError, Wrong, run_times};
pub use times::{EdgeTime, Stray, Times};
pub use watched::{Mixed, Watched};
