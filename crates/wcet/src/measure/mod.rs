//! Hybrid timing (THESIS 5.2.3, after Betts and Donaldson): instrumentation points in the kernel, the graph of ways
//! between them that pass no other point, and the longest observed time of each.

mod contract;
mod meter;
mod model;
mod placement;
mod plan;
mod times;

pub use meter::Meter;
pub use model::{Coverage, Gap, Measured, Unmeasured};
pub use plan::{END, Piece, Plan, PlanEdge, PlanError, PlanLoop, PlanRegion, Points, START};
pub use times::{EdgeTime, Row, Stray, Times};
