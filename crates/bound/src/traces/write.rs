//! Writes the rows of measurements as trace files, in either format.

use super::csv_format;
use super::file::COLUMNS;
use super::format::Format;
use super::parquet_format::ParquetWriter;
use super::point::point_name;
use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use parquet::errors::ParquetError;
use std::io::Write;
use std::path::{Path, PathBuf};
use wb_wcet::measure::Row;

/// Writes the rows of each kernel that is measured into a file of its own.
pub struct TraceWriter {
    path: PathBuf,
    files: Vec<(String, PathBuf, Output)>,
    /// Why rows could not be written; what follows from it would only hide it.
    failed: Option<String>,
}

enum Output {
    Csv(Box<csv::Writer<wb_files::Output>>),
    Parquet(Box<ParquetWriter>),
}

impl TraceWriter {
    /// `path` says the format; nothing is written before there are rows.
    pub fn new(path: &Path) -> Result<TraceWriter, BoundError> {
        Format::of(path)?;
        Ok(TraceWriter { path: path.to_owned(), files: Vec::new(), failed: None })
    }

    pub(crate) fn add(&mut self, kernel: &AnalysedKernel, rows: &[Row]) -> Result<(), BoundError> {
        let at = match self.files.iter().position(|f| f.0 == kernel.name) {
            Some(at) => at,
            None => {
                let first = self.files.is_empty();
                let path = if first { self.path.clone() } else { beside(&self.path, &kernel.name) };
                let output = create(&path, kernel)?;
                self.files.push((kernel.name.clone(), path, output));
                self.files.len() - 1
            }
        };
        let (_, path, output) = &mut self.files[at];
        let added = match output {
            Output::Csv(out) => csv_format::write(out, kernel, rows).map_err(|e| failed_csv(path, &e)),
            Output::Parquet(out) => {
                let points: Vec<String> = rows.iter().map(|r| point_name(kernel, r.at)).collect();
                out.add(rows, &points).map_err(|e| failed_parquet(path, &e))
            }
        };
        if let Err(e) = &added {
            self.failed = Some(e.to_string());
        }
        added
    }

    /// Ends the files and says what they are called: of several kernels, each has the kernel's name behind its own.
    pub fn finish(self) -> Result<Vec<PathBuf>, BoundError> {
        if let Some(why) = self.failed {
            return Err(refused!(Times, "{why}"));
        }
        let several = self.files.len() > 1;
        let mut written = Vec::new();
        for (kernel, mut path, output) in self.files {
            let mut file = match output {
                Output::Csv(out) => out.into_inner().map_err(|e| failed_write(&path, e.error()))?,
                Output::Parquet(out) => out.finish().map_err(|e| failed_parquet(&path, &e))?,
            };
            if several && path == self.path {
                path = beside(&self.path, &kernel);
                file.rename(&path)?;
            }
            file.finish()?;
            written.push(path);
        }
        Ok(written)
    }
}

fn failed_write(path: &Path, e: &std::io::Error) -> BoundError {
    refused!(Times, "cannot write {}: {}", path.display(), wb_files::words(e))
}

fn failed_csv(path: &Path, e: &csv::Error) -> BoundError {
    match e.kind() {
        csv::ErrorKind::Io(e) => failed_write(path, e),
        _ => refused!(Times, "cannot write {}: {e}", path.display()),
    }
}

/// What the system said, where that is behind it.
fn failed_parquet(path: &Path, e: &ParquetError) -> BoundError {
    match e {
        ParquetError::External(inner) => match inner.downcast_ref::<std::io::Error>() {
            Some(e) => failed_write(path, e),
            None => refused!(Times, "cannot write {}: {inner}", path.display()),
        },
        e => refused!(Times, "cannot write {}: {e}", path.display()),
    }
}

fn create(path: &Path, kernel: &AnalysedKernel) -> Result<Output, BoundError> {
    let mut file = wb_files::Output::create(path)?;
    let points: Vec<String> =
        kernel.plan.nodes.iter().skip(2).map(|&pc| format!("{:#x}", kernel.place(pc).addr)).collect();
    let about = [
        ("kernel", kernel.name.clone()),
        ("checksum", kernel.checksum.clone()),
        ("points", points.join(" ")),
    ];
    match Format::of(path)? {
        Format::Csv => {
            let lines: String = about.iter().map(|(k, v)| format!("# {k}: {v}\n")).collect();
            file.write_all(lines.as_bytes()).map_err(|e| failed_write(path, &e))?;
            let mut out = csv::Writer::from_writer(file);
            out.write_record(COLUMNS.map(|c| c.0)).map_err(|e| failed_csv(path, &e))?;
            Ok(Output::Csv(Box::new(out)))
        }
        Format::Parquet => {
            let out = ParquetWriter::new(file, &about).map_err(|e| failed_parquet(path, &e))?;
            Ok(Output::Parquet(Box::new(out)))
        }
    }
}

/// `trace.csv` of kernel `fir` is `trace-fir.csv`.
pub fn beside(path: &Path, kernel: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}-{kernel}{extension}"))
}
