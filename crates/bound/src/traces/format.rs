//! The two formats of trace files.

use crate::error::{BoundError, refused};
use std::path::Path;

/// The format of a trace file, by its name.
pub(super) enum Format {
    Csv,
    Parquet,
}

impl Format {
    pub fn of(path: &Path) -> Result<Format, BoundError> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Format::Csv),
            Some("parquet") => Ok(Format::Parquet),
            _ => Err(refused!(
                Times,
                help = "name it .csv or .parquet",
                "{}: what kind of trace is it?",
                path.display()
            )),
        }
    }
}
