//! Traces in the formats of other tools (docs/exports.md). A trace is read block by block and written as it is read, so that its
//! length does not matter; formats that need their records in the order of time keep those that are still open.

mod chrome;
mod error;
mod format;
mod fst;
mod konata;
mod ordered;
mod parquet_folder;
mod parquet_table;
mod perfetto;
mod perfetto_proto;
mod selection;
mod source;
mod timeline;

pub use error::ExportError;
pub use format::Format;
pub use selection::Selection;
pub use source::Progress;

use source::Source;
use std::io::{Read, Seek};
use std::path::Path;
use wb_trace::TraceFile;

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events that were looked at.
    pub events: u64,
}

/// Writes a trace in another format to `to`, a file or, for Parquet, a folder.
pub fn export<R: Read + Seek>(
    trace: &mut TraceFile<R>,
    format: Format,
    selection: &Selection,
    to: &Path,
    progress: Progress,
) -> Result<Exported, ExportError> {
    let mut source = Source::new(trace, selection, progress);
    match format {
        Format::Perfetto => perfetto::write(&mut source, to)?,
        Format::Konata => konata::write(&mut source, to)?,
        Format::Fst => fst::write(&mut source, to)?,
        Format::Parquet => parquet_folder::write(&mut source, to)?,
        Format::Chrome => chrome::write(&mut source, to)?,
    }
    Ok(Exported { events: source.events() })
}
