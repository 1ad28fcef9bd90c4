//! Bounds of kernels, end to end: runs that can be repeated, their measurement, the analysis, certificates and their
//! verification. The machine (`sim`) and the analyser (`wcet`) meet here and nowhere below.
//!
//! From below to the top: what is found (`result`), a kernel while it is analysed (`kernel`), launches that can be repeated
//! (`launched`, `runs`) and trace files in their place (`traces`), what was measured (`measured`), limits of loops (`limits`),
//! the analysis by segments (`analyse`) and by own time and waits (`composed`), its report (`report`, `shares`, `certify`), the bound
//! that a user gets (`bounds`), the best places to split (`explore`, `optimal`),
//! workloads of the suite (`workload`).

mod analyse;
mod assumptions;
mod bounds;
mod certify;
mod composed;
pub mod error;
pub mod exact;
mod explore;
mod gaps;
mod homogeneous;
mod inputs;
mod kernel;
mod launched;
mod launches;
mod limits;
mod measured;
mod optimal;
mod options;
mod other_side;
mod paper;
mod points;
pub mod proved;
mod report;
mod result;
mod runs;
mod shape;
mod shares;
mod source;
mod table;
mod text;
mod traces;
mod verify;
mod verify_hybrid;
mod what_if;
mod workload;
mod workload_options;
pub mod worst;

pub use analyse::{TraceFiles, analyse, analyse_with};
pub use bounds::{better, bounds, hybrid};
pub use composed::is_hybrid_certificate;
pub use error::{BoundError, Lack, Refusal};
pub use explore::{Candidate, FailedPlacement, MarkedRuns};
pub use inputs::behind_all;
pub use launched::{Launched, PlacedBuffer};
pub use optimal::{Best, Effort, Proof, best_places};
pub use options::{Options, Progress};
pub use points::{KernelPoints, PointRow, list_points};
pub use result::{
    BlockRow, BranchRow, CodePlace, ComposedRow, CoverageRow, ExactRow, FlowRow, KernelBound, LaunchRow,
    LoopRow, NeverRow, PaperRow, SourceLine, SourceRow, Status, StepRow, UseRow,
};
pub use runs::{Replay, Runs};
pub use shape::{Shape, data_hash};
pub use table::{TimesTable, analyse_table, times_template};
pub use text::count;
pub use traces::{TraceFile, TraceWriter, beside};
pub use verify::{Against, Verified, verify};
pub use verify_hybrid::{verify_hybrid, verify_hybrid_code};
pub use workload::{best_of_workload, optimal_splits, placed};
pub use workload_options::workload_options;
