//! Trace files of instrumentation points (docs/wcet-traces.md): reading and writing them, and measuring a kernel from them
//! instead of runs.

mod csv_format;
mod file;
mod format;
mod kernel_trace;
mod measure;
mod parquet_format;
mod point;
mod read;
mod write;

pub use file::TraceFile;
pub(crate) use measure::{Traces, each_kernel};
pub use write::{TraceWriter, beside};
