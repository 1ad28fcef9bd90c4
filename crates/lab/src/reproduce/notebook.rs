//! Where an experiment writes down what it measured and the files it made.

use super::parquet;
use super::verdict::Value;
use miette::Report;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wb_report::{Chart, History, Palette, PictureOptions, ReportError, Timetable};
use wb_trace::{Event, Kind, Mask, Observer, TraceInfo};

pub struct Notebook {
    dir: PathBuf,
    name: &'static str,
    pub(super) measured: Vec<(String, Value)>,
    pub(super) notes: Vec<String>,
    pub(super) files: Vec<PathBuf>,
}

impl Notebook {
    pub(super) fn new(dir: &Path, name: &'static str) -> Self {
        Notebook { dir: dir.to_owned(), name, measured: Vec::new(), notes: Vec::new(), files: Vec::new() }
    }

    pub(super) fn text(&mut self, quantity: impl Into<String>, value: impl Into<String>) {
        self.measured.push((quantity.into(), Value::Text(value.into())));
    }

    pub(super) fn number(
        &mut self,
        quantity: impl Into<String>,
        value: f64,
        decimals: usize,
        unit: &'static str,
    ) {
        self.measured.push((quantity.into(), Value::Number { value, decimals, unit }));
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// `<dir>/<experiment><suffix>`, remembered as a result.
    fn file(&mut self, suffix: &str) -> PathBuf {
        let path = self.dir.join(format!("{}{suffix}", self.name));
        self.files.push(path.clone());
        path
    }

    pub(super) fn write(&mut self, suffix: &str, content: impl AsRef<[u8]>) -> Result<(), Report> {
        let path = self.file(suffix);
        Ok(wb_files::write(&path, content)?)
    }

    /// A table as CSV and, beside it, as Parquet.
    pub(super) fn csv(
        &mut self,
        suffix: &str,
        head: &[String],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<(), Report> {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        let mut text = String::new();
        line(&mut text, head);
        for row in &rows {
            line(&mut text, row);
        }
        let columnar = parquet::table(head, &rows)?;
        self.write(suffix, &text)?;
        self.write(&format!("{}.parquet", suffix.strip_suffix(".csv").unwrap_or(suffix)), &columnar)
    }

    /// The execution history as PNG and SVG.
    pub(super) fn picture(&mut self, suffix: &str, history: &History, title: &str) -> Result<(), Report> {
        // The GUPPY document's diagrams have colours of their own.
        let palette = if history.info().isa == "guppy" { Palette::Guppy } else { Palette::Work };
        let options = PictureOptions { title: title.to_owned(), palette, ..PictureOptions::default() };
        for format in ["png", "svg"] {
            wb_report::draw(history, &options, &self.file(&format!("{suffix}.{format}")))?;
        }
        Ok(())
    }

    /// Who issues in each cycle, as PNG and SVG.
    pub(super) fn timetable(&mut self, suffix: &str, table: &Timetable) -> Result<(), Report> {
        for format in ["png", "svg"] {
            wb_report::timetable(table, &self.file(&format!("{suffix}.{format}")))?;
        }
        Ok(())
    }

    /// A chart as PNG and SVG, drawn by `bars` or `lines`.
    pub(super) fn chart(
        &mut self,
        suffix: &str,
        chart: &Chart,
        draw: fn(&Path, &Chart) -> Result<(), ReportError>,
    ) -> Result<(), Report> {
        for format in ["png", "svg"] {
            draw(&self.file(&format!("{suffix}.{format}")), chart)?;
        }
        Ok(())
    }
}

fn line(out: &mut String, cells: &[String]) {
    for (i, cell) in cells.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let _ = if cell.contains([',', '"', '\n']) {
            write!(out, "{comma}\"{}\"", cell.replace('"', "\"\""))
        } else {
            write!(out, "{comma}{cell}")
        };
    }
    out.push('\n');
}

/// Column names from words.
pub(super) fn columns(names: &str) -> Vec<String> {
    names.split(' ').map(str::to_owned).collect()
}

/// Keeps every event of a run.
#[derive(Default)]
pub(super) struct Recorder {
    pub info: TraceInfo,
    pub events: Vec<Event>,
    pub cycles: u64,
}

impl Recorder {
    /// Issued instructions, in order.
    pub fn issues(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|e| matches!(e.kind, Kind::Issue { .. }))
    }

    /// Text of the instruction at a pc.
    pub fn code(&self, pc: u32) -> &str {
        self.info.code.iter().find(|c| c.pc == pc).map_or("", |c| c.text.trim())
    }

    pub fn label(&self, name: &str) -> Option<u32> {
        self.info.code.iter().find(|c| c.label == name).map(|c| c.pc)
    }
}

impl Observer for Recorder {
    fn begin(&mut self, info: &TraceInfo) {
        *self = Recorder { info: info.clone(), ..Recorder::default() };
    }

    fn events(&mut self, batch: &[Event]) {
        self.events.extend_from_slice(batch);
    }

    fn end(&mut self, cycles: u64) {
        self.cycles = cycles;
    }
}

/// A mask as the PDOM document prints it: lane 0 leftmost.
pub(super) fn bits(mask: Mask, lanes: u32) -> String {
    (0..lanes).map(|lane| if mask >> lane & 1 == 1 { '1' } else { '0' }).collect()
}

/// A value, less its repetitions in a row.
pub(super) fn changes<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = values.into_iter().collect();
    list.dedup();
    list
}

pub(super) fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
