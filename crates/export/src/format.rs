//! The formats, with what there is to know about each.

use std::path::{Path, PathBuf};

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Protobuf of Perfetto: ui.perfetto.dev, trace_processor.
    Perfetto,
    /// Kanata log 0004: Konata.
    Konata,
    /// Signals: GTKWave, Surfer.
    Fst,
    /// Tables: pandas, DuckDB, Polars.
    Parquet,
    /// JSON array of trace events: chrome://tracing, ui.perfetto.dev.
    Chrome,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] =
        [Format::Perfetto, Format::Konata, Format::Fst, Format::Parquet, Format::Chrome];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Perfetto => "perfetto",
            Format::Konata => "konata",
            Format::Fst => "fst",
            Format::Parquet => "parquet",
            Format::Chrome => "chrome",
        }
    }

    /// Extension of its files; a folder's for Parquet.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Perfetto => "pftrace",
            Format::Konata => "kanata",
            Format::Fst => "fst",
            Format::Parquet => "parquet",
            Format::Chrome => "json",
        }
    }

    /// Whether a folder of files is written.
    pub fn is_folder(self) -> bool {
        match self {
            Format::Parquet => true,
            Format::Perfetto | Format::Konata | Format::Fst | Format::Chrome => false,
        }
    }

    /// What opens it.
    pub fn opened_by(self) -> &'static str {
        match self {
            Format::Perfetto => "https://ui.perfetto.dev",
            Format::Konata => "Konata",
            Format::Fst => "GTKWave or Surfer",
            Format::Parquet => "pandas, Polars or DuckDB",
            Format::Chrome => "chrome://tracing or https://ui.perfetto.dev",
        }
    }

    /// By its name.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Where a trace goes if nobody says: `run.wbt` to `run.pftrace`.
    pub fn beside(self, trace: &Path) -> PathBuf {
        trace.with_extension(self.extension())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_different() {
        for (i, a) in Format::ALL.into_iter().enumerate() {
            assert_eq!(Format::parse(a.name()), Some(a));
            assert!(!a.opened_by().is_empty());
            for b in &Format::ALL[..i] {
                assert!(a.name() != b.name() && a.extension() != b.extension());
            }
        }
        assert_eq!(Format::Perfetto.beside(Path::new("a/run-1.wbt")), Path::new("a/run-1.pftrace"));
        assert_eq!(Format::parse("vcd"), None);
    }
}
