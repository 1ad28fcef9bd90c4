//! Bounds of kernels, end to end: runs that can be repeated, their measurement, the analysis, certificates and their
//! verification. The machine (`sim`) and the analyser (`wcet`) meet here and nowhere below.

mod analyse;
mod assumptions;
mod certify;
pub mod error;
mod explore;
mod gaps;
mod inputs;
mod kernel;
mod launches;
mod limits;
mod optimal;
mod paper;
mod parts;
mod points;
mod report;
mod result;
mod rows;
mod rows_parquet;
mod runs;
mod shape;
mod source;
mod table;
mod text;
mod trace;
mod verify;
mod what_if;
mod workload;

pub use analyse::{Files, Options, Progress, analyse, analyse_with};
pub use error::{BoundError, Lack, Refusal};
pub use explore::{Candidate, Failed, Marked};
pub use inputs::behind_all;
pub use optimal::{Best, Effort, Proof, best_places};
pub use points::{KernelPoints, PointRow, list_points};
pub use result::{
    BlockRow, BranchRow, CoverageRow, FlowRow, KernelBound, LaunchRow, LoopRow, NeverRow, PaperRow, Place,
    SourceLine, SourceRow, Status, StepRow,
};
pub use rows::{TraceFile, TraceWriter, beside};
pub use runs::{Launched, Replay, Runs};
pub use shape::{Shape, data_hash};
pub use table::{TimesTable, analyse_table, times_template};
pub use verify::{Against, Verified, verify};
pub use workload::{best_of_workload, optimal_splits, placed, workload_options};
