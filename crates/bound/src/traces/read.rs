//! Reads a trace file of either format.

use super::file::TraceFile;
use super::format::Format;
use super::{csv_format, parquet_format};
use crate::error::{BoundError, refused};
use crate::source::hash;
use std::path::Path;

impl TraceFile {
    pub fn read(path: &Path) -> Result<TraceFile, BoundError> {
        let name = path.display().to_string();
        let bytes = wb_files::read(path, wb_files::Kind::Trace)?;
        let hash = hash(&bytes);
        let mut file = TraceFile::new(name, hash);
        match Format::of(path)? {
            Format::Csv => csv_format::read(&mut file, &bytes)?,
            Format::Parquet => {
                parquet_format::read(&mut file, wb_files::open(path, wb_files::Kind::Trace)?)?;
            }
        }
        if file.rows.is_empty() {
            return Err(refused!(
                Times,
                help = "every wave has at least the rows `start` and `end`",
                "{}: the trace has no rows",
                file.name
            ));
        }
        Ok(file)
    }
}
