//! What a trace file says (docs/wcet-traces.md), whatever its format. Every complaint names the file and the line, or the row
//! where there are no lines.

use crate::error::{BoundError, refused};
use std::collections::BTreeMap;

/// Columns in the order in which they are written; those behind `false` may be missing.
pub(super) const COLUMNS: [(&str, bool); 8] = [
    ("run", true),
    ("group", false),
    ("wave", true),
    ("path", false),
    ("point", true),
    ("cycle", true),
    ("leave", false),
    ("into", false),
];

/// A row as it is in the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Raw {
    /// run, group, wave, path.
    pub ids: [u32; 4],
    /// Number of the point's text in [`TraceFile::texts`].
    pub point: u32,
    pub cycle: u64,
    pub leave: Option<u64>,
    pub into: Option<u32>,
    /// Line, or row from 1.
    pub line: u64,
}

/// What a trace file says.
#[derive(Clone, Debug, Default)]
pub struct TraceFile {
    pub name: String,
    pub hash: String,
    /// Kernel and checksum of its code, where the file says so.
    pub kernel: Option<String>,
    pub(super) checksum: Option<String>,
    /// Points that are instrumented, passed or not.
    pub(super) points: Vec<String>,
    pub(super) texts: Vec<String>,
    numbers: BTreeMap<String, u32>,
    pub(super) rows: Vec<Raw>,
    /// The numbers of rows are lines.
    pub(super) lines: bool,
}

impl TraceFile {
    /// Of a file, before it is read.
    pub(super) fn new(name: String, hash: String) -> TraceFile {
        TraceFile { name, hash, ..TraceFile::default() }
    }

    /// A line `# key: value` before the rows, or an entry of a Parquet file.
    pub(super) fn about(&mut self, key: &str, value: &str) {
        match key {
            "kernel" => self.kernel = Some(value.to_owned()),
            "checksum" => self.checksum = Some(value.to_owned()),
            "points" => {
                self.points.extend(value.split([' ', ',']).filter(|t| !t.is_empty()).map(str::to_owned))
            }
            _ => {}
        }
    }

    /// Adds a row: run, group, wave, path, cycle, leave and into, and the point.
    pub(super) fn push(
        &mut self,
        numbers: [Option<u64>; 7],
        point: Option<&str>,
        line: u64,
    ) -> Result<(), BoundError> {
        let place = self.place_at(line);
        let [run, group, wave, path, cycle, leave, into] = numbers;
        let needed = [("run", run), ("wave", wave), ("cycle", cycle), ("point", point.map(|_| 0))];
        if let Some((name, _)) = needed.iter().find(|n| n.1.is_none()) {
            return Err(refused!(
                Times,
                help = "group, path, leave and into may be empty",
                "{place}: no {name}"
            ));
        }
        let id = |name: &str, value: Option<u64>| {
            u32::try_from(value.unwrap_or(0)).map_err(|_| {
                let value = value.unwrap_or(0);
                refused!(
                    Times,
                    help = "numbers of runs, groups, waves and paths are below 2^32",
                    "{place}: {name} {value}"
                )
            })
        };
        let ids = [id("run", run)?, id("group", group)?, id("wave", wave)?, id("path", path)?];
        let into = into.map(|n| id("into", Some(n))).transpose()?;
        let text = point.unwrap_or_default();
        let point = match self.numbers.get(text) {
            Some(&n) => n,
            None => {
                let n = self.texts.len() as u32;
                self.texts.push(text.to_owned());
                self.numbers.insert(text.to_owned(), n);
                n
            }
        };
        self.rows.push(Raw { ids, point, cycle: cycle.unwrap_or(0), leave, into, line });
        Ok(())
    }

    /// `trace.csv:7`, or `trace.parquet, row 7`.
    pub(super) fn place_at(&self, line: u64) -> String {
        if self.lines { format!("{}:{line}", self.name) } else { format!("{}, row {line}", self.name) }
    }
}

pub(super) fn not_a_number(place: &str, column: &str, text: &str) -> BoundError {
    refused!(Times, help = "a whole number that is not negative", "{place}: {column} is `{text}`")
}

pub(super) fn unknown_column(file: &str, name: &str) -> BoundError {
    refused!(Times, help = column_list(), "{file}: there is no column `{name}`")
}

fn column_list() -> String {
    let names =
        |needed| COLUMNS.iter().filter(move |c| c.1 == needed).map(|c| c.0).collect::<Vec<_>>().join(", ");
    format!("columns are {}, and if wanted {}", names(true), names(false))
}

pub(super) fn missing_columns(file: &str, there: &[bool; COLUMNS.len()]) -> Result<(), BoundError> {
    let missing = COLUMNS.iter().zip(there).find(|(c, there)| c.1 && !**there);
    missing.map_or(Ok(()), |(c, _)| {
        Err(refused!(Times, help = column_list(), "{file}: the column `{}` is missing", c.0))
    })
}
