//! Trace files as CSV: reading into a [`TraceFile`], and writing.

use super::file::{COLUMNS, TraceFile, missing_columns, not_a_number, unknown_column};
use super::point::point_name;
use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use std::io::{BufRead, BufReader};
use wb_wcet::measure::Row;

pub(super) fn read(file: &mut TraceFile, bytes: &[u8]) -> Result<(), BoundError> {
    file.lines = true;
    for line in BufReader::new(bytes).lines() {
        let line = line.map_err(|e| refused!(Times, "cannot read {}: {}", file.name, wb_files::words(&e)))?;
        let Some(text) = line.strip_prefix('#') else { break };
        if let Some((key, value)) = text.split_once(':') {
            file.about(key.trim(), value.trim());
        }
    }
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes);
    let name = file.name.clone();
    let wrong = |e: csv::Error| {
        let line = e.position().map_or(1, csv::Position::line);
        refused!(
            Times,
            help = "one line for every point that a path passes, commas between the values",
            "{name}:{line}: {}",
            reason(&e)
        )
    };
    let headers = reader.headers().map_err(wrong)?.clone();
    let mut columns = [None; COLUMNS.len()];
    for (at, name) in headers.iter().enumerate() {
        let known = COLUMNS.iter().position(|c| c.0 == name);
        columns[known.ok_or_else(|| unknown_column(&file.name, name))?] = Some(at);
    }
    missing_columns(&file.name, &columns.map(|c| c.is_some()))?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(wrong)? {
        let line = record.position().map_or(0, csv::Position::line);
        let text = |c: usize| columns[c].and_then(|at| record.get(at)).filter(|t| !t.is_empty());
        let number = |c: usize| -> Result<Option<u64>, BoundError> {
            let Some(text) = text(c) else { return Ok(None) };
            text.parse().map(Some).map_err(|_| not_a_number(&file.place_at(line), COLUMNS[c].0, text))
        };
        let values = [0, 1, 2, 3, 5, 6, 7].map(number);
        let point = text(4).map(str::to_owned);
        let mut numbers = [None; 7];
        for (to, value) in numbers.iter_mut().zip(values) {
            *to = value?;
        }
        file.push(numbers, point.as_deref(), line)?;
    }
    Ok(())
}

/// What went wrong in a line, without its position.
fn reason(e: &csv::Error) -> String {
    match e.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} values in a line of a table with {expected_len} columns")
        }
        csv::ErrorKind::Utf8 { .. } => "this is not UTF-8 text".into(),
        other => format!("{other:?}"),
    }
}

pub(super) fn write(
    out: &mut csv::Writer<wb_files::Output>,
    kernel: &AnalysedKernel,
    rows: &[Row],
) -> Result<(), csv::Error> {
    for r in rows {
        out.write_record([
            r.run.to_string(),
            r.group.to_string(),
            r.wave.to_string(),
            r.path.to_string(),
            point_name(kernel, r.at),
            r.cycle.to_string(),
            r.leave.to_string(),
            r.into.map_or(String::new(), |n| n.to_string()),
        ])?;
    }
    Ok(())
}
