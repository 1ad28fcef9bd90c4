//! Trace files of instrumentation points (docs/wcet-traces.md): reading CSV, writing both formats, and finding the points
//! in a kernel. Every complaint names the file and the line, or the row where there are no lines.

use crate::error::{BoundError, refused};
use crate::kernel::Kernel;
use crate::rows_parquet::{self, ParquetWriter};
use crate::source::hash;
use parquet::errors::ParquetError;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use wb_isa::Pc;
use wb_wcet::measure::{At, Row, RowError, Wrong};

/// Columns in the order in which they are written; those behind `false` may be missing.
pub(crate) const COLUMNS: [(&str, bool); 8] = [
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
pub(crate) struct Raw {
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
    checksum: Option<String>,
    /// Points that are instrumented, passed or not.
    points: Vec<String>,
    pub(crate) texts: Vec<String>,
    numbers: BTreeMap<String, u32>,
    pub(crate) rows: Vec<Raw>,
    /// The numbers of rows are lines.
    lines: bool,
}

impl TraceFile {
    pub fn read(path: &Path) -> Result<TraceFile, BoundError> {
        let name = path.display().to_string();
        let bytes = wb_files::read(path, wb_files::Kind::Trace)?;
        let hash = hash(&bytes);
        let mut file = TraceFile { name, hash, ..TraceFile::default() };
        match kind(path)? {
            Kind::Csv => file.csv(&bytes)?,
            Kind::Parquet => {
                rows_parquet::read(&mut file, wb_files::open(path, wb_files::Kind::Trace)?)?;
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

    fn csv(&mut self, bytes: &[u8]) -> Result<(), BoundError> {
        self.lines = true;
        for line in BufReader::new(bytes).lines() {
            let line =
                line.map_err(|e| refused!(Times, "cannot read {}: {}", self.name, wb_files::words(&e)))?;
            let Some(text) = line.strip_prefix('#') else { break };
            if let Some((key, value)) = text.split_once(':') {
                self.about(key.trim(), value.trim());
            }
        }
        let mut reader =
            csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes);
        let name = self.name.clone();
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
            columns[known.ok_or_else(|| unknown_column(&self.name, name))?] = Some(at);
        }
        missing_columns(&self.name, &columns.map(|c| c.is_some()))?;
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(wrong)? {
            let line = record.position().map_or(0, csv::Position::line);
            let text = |c: usize| columns[c].and_then(|at| record.get(at)).filter(|t| !t.is_empty());
            let number = |c: usize| -> Result<Option<u64>, BoundError> {
                let Some(text) = text(c) else { return Ok(None) };
                text.parse().map(Some).map_err(|_| not_a_number(&self.place_at(line), COLUMNS[c].0, text))
            };
            let values = [0, 1, 2, 3, 5, 6, 7].map(number);
            let point = text(4).map(str::to_owned);
            let mut numbers = [None; 7];
            for (to, value) in numbers.iter_mut().zip(values) {
                *to = value?;
            }
            self.push(numbers, point.as_deref(), line)?;
        }
        Ok(())
    }

    /// A line `# key: value` before the rows, or an entry of a Parquet file.
    pub(crate) fn about(&mut self, key: &str, value: &str) {
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
    pub(crate) fn push(
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
    pub(crate) fn place_at(&self, line: u64) -> String {
        if self.lines { format!("{}:{line}", self.name) } else { format!("{}, row {line}", self.name) }
    }
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

pub(crate) fn not_a_number(place: &str, column: &str, text: &str) -> BoundError {
    refused!(Times, help = "a whole number that is not negative", "{place}: {column} is `{text}`")
}

fn column_list() -> String {
    let names =
        |needed| COLUMNS.iter().filter(move |c| c.1 == needed).map(|c| c.0).collect::<Vec<_>>().join(", ");
    format!("columns are {}, and if wanted {}", names(true), names(false))
}

fn unknown_column(file: &str, name: &str) -> BoundError {
    refused!(Times, help = column_list(), "{file}: there is no column `{name}`")
}

pub(crate) fn missing_columns(file: &str, there: &[bool; COLUMNS.len()]) -> Result<(), BoundError> {
    let missing = COLUMNS.iter().zip(there).find(|(c, there)| c.1 && !**there);
    missing.map_or(Ok(()), |(c, _)| {
        Err(refused!(Times, help = column_list(), "{file}: the column `{}` is missing", c.0))
    })
}

enum Kind {
    Csv,
    Parquet,
}

fn kind(path: &Path) -> Result<Kind, BoundError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(Kind::Csv),
        Some("parquet") => Ok(Kind::Parquet),
        _ => Err(refused!(
            Times,
            help = "name it .csv or .parquet",
            "{}: what kind of trace is it?",
            path.display()
        )),
    }
}

/// The rows of all files of a kernel.
pub(crate) struct Rows<'a> {
    pub files: Vec<&'a TraceFile>,
    pub rows: Vec<Row>,
    /// File and number of each row in it.
    from: Vec<(u32, u32)>,
    /// What is instrumented.
    pub points: BTreeSet<Pc>,
}

impl<'a> Rows<'a> {
    /// Finds the points in the kernel. Runs are numbered through, file after file.
    pub fn new(kernel: &Kernel, files: Vec<&'a TraceFile>) -> Result<Rows<'a>, BoundError> {
        let places: BTreeMap<u64, Pc> =
            kernel.code.iter().map(|(&pc, (place, _))| (place.addr, pc)).collect();
        let mut all = Rows { files, rows: Vec::new(), from: Vec::new(), points: BTreeSet::new() };
        let mut runs = 0;
        for (f, file) in all.files.clone().into_iter().enumerate() {
            if let Some(old) = file.checksum.as_ref().filter(|c| **c != kernel.checksum) {
                return Err(refused!(
                    Times,
                    help = "measure again; or remove the line `# checksum:` if the points are still where they were",
                    "{}: the trace is of other code: {old}, kernel {} is {}",
                    file.name,
                    kernel.name,
                    kernel.checksum
                ));
            }
            for text in &file.points {
                if let Some(At::Pc(pc)) = Some(point(text, kernel, &places, &file.name)?) {
                    all.points.insert(pc);
                }
            }
            let mut found: Vec<Option<At>> = vec![None; file.texts.len()];
            let numbers: BTreeSet<u32> = file.rows.iter().map(|r| r.ids[0]).collect();
            let number: BTreeMap<u32, u32> = numbers.into_iter().zip(runs..).collect();
            runs += number.len() as u32;
            for (i, raw) in file.rows.iter().enumerate() {
                let at = match found[raw.point as usize] {
                    Some(at) => at,
                    None => {
                        let text = &file.texts[raw.point as usize];
                        *found[raw.point as usize].insert(point(
                            text,
                            kernel,
                            &places,
                            &file.place_at(raw.line),
                        )?)
                    }
                };
                if let At::Pc(pc) = at {
                    all.points.insert(pc);
                }
                let [run, group, wave, path] = raw.ids;
                let (cycle, leave) = (raw.cycle, raw.leave.unwrap_or(raw.cycle));
                all.rows.push(Row { run: number[&run], group, wave, path, at, cycle, leave, into: raw.into });
                all.from.push((f as u32, i as u32));
            }
        }
        Ok(all)
    }

    /// Where a row is.
    fn place(&self, row: usize) -> String {
        let (file, i) = self.from[row];
        let file = self.files[file as usize];
        file.place_at(file.rows[i as usize].line)
    }

    /// Says what is wrong with a row.
    pub fn error(&self, kernel: &Kernel, e: RowError) -> BoundError {
        let row = self.rows[e.row];
        let name = |at: At| match at {
            At::Start => "the start".to_owned(),
            At::End => "the end".to_owned(),
            At::Pc(pc) => kernel.place(pc).to_string(),
        };
        let who = format!("path {} of wave {} in run {} at {}", row.path, row.wave, row.run, name(row.at));
        let place = self.place(e.row);
        let help = match e.wrong {
            Wrong::Leaves { .. } => "`leave` is when the path goes on, `cycle` when it gets there",
            Wrong::Backwards { .. } => {
                "the rows of a path must be in the order in which it passes the points"
            }
            Wrong::SecondStart => {
                "a wave starts once; a path that is split off begins with the point where that happened"
            }
            Wrong::AfterEnd => "use a number for one path of the wave only",
            Wrong::NoStart { .. } => {
                "a path begins with `start`, or with the point that its parent passed last and the cycle in which it left it"
            }
            Wrong::Unfinished { .. } => {
                "a path ends with `end`, or with the point where it merges: the path that goes on has a row there, with `leave` not before"
            }
            Wrong::Step { .. } => {
                "points that are passed must all be in the trace: `wavebound cfg` shows the graph, --list-points the points"
            }
        };
        match e.wrong {
            Wrong::Step { from, to } => {
                refused!(
                    Times,
                    help = help,
                    "{place}: {who}: the control-flow graph has no way from {} to {} that passes no other point of the trace",
                    name(from),
                    name(to)
                )
            }
            wrong => refused!(Times, help = help, "{place}: {who}: {wrong}"),
        }
    }
}

/// `start`, `end`, `pc 148` or an address.
fn point(text: &str, kernel: &Kernel, places: &BTreeMap<u64, Pc>, place: &str) -> Result<At, BoundError> {
    let found = match text {
        "start" => return Ok(At::Start),
        "end" => return Ok(At::End),
        _ => match (text.strip_prefix("0x"), text.strip_prefix("pc")) {
            (Some(hex), _) => u64::from_str_radix(hex, 16).ok().and_then(|addr| places.get(&addr).copied()),
            (_, Some(pc)) => pc.trim().trim_start_matches('=').parse().ok(),
            _ => None,
        },
    };
    found.filter(|pc| kernel.code.contains_key(pc)).map(At::Pc).ok_or_else(|| {
        refused!(Times, help = "a point is `start`, `end`, `pc 148`, or an address as `wavebound cfg` and --list-points show it: 0x2650",
            "{place}: kernel {} has no point `{text}`",
            kernel.name
        )
    })
}

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
        kind(path)?;
        Ok(TraceWriter { path: path.to_owned(), files: Vec::new(), failed: None })
    }

    pub(crate) fn add(&mut self, kernel: &Kernel, rows: &[Row]) -> Result<(), BoundError> {
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
            Output::Csv(out) => write_csv(out, kernel, rows).map_err(|e| failed_csv(path, &e)),
            Output::Parquet(out) => {
                let points: Vec<String> = rows.iter().map(|r| name(kernel, r.at)).collect();
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

fn create(path: &Path, kernel: &Kernel) -> Result<Output, BoundError> {
    let mut file = wb_files::Output::create(path)?;
    let points: Vec<String> =
        kernel.plan.nodes.iter().skip(2).map(|&pc| format!("{:#x}", kernel.place(pc).addr)).collect();
    let about = [
        ("kernel", kernel.name.clone()),
        ("checksum", kernel.checksum.clone()),
        ("points", points.join(" ")),
    ];
    match kind(path)? {
        Kind::Csv => {
            let lines: String = about.iter().map(|(k, v)| format!("# {k}: {v}\n")).collect();
            file.write_all(lines.as_bytes()).map_err(|e| failed_write(path, &e))?;
            let mut out = csv::Writer::from_writer(file);
            out.write_record(COLUMNS.map(|c| c.0)).map_err(|e| failed_csv(path, &e))?;
            Ok(Output::Csv(Box::new(out)))
        }
        Kind::Parquet => {
            let out = ParquetWriter::new(file, &about).map_err(|e| failed_parquet(path, &e))?;
            Ok(Output::Parquet(Box::new(out)))
        }
    }
}

fn name(kernel: &Kernel, at: At) -> String {
    match at {
        At::Start => "start".into(),
        At::End => "end".into(),
        At::Pc(pc) => format!("{:#x}", kernel.place(pc).addr),
    }
}

fn write_csv(
    out: &mut csv::Writer<wb_files::Output>,
    kernel: &Kernel,
    rows: &[Row],
) -> Result<(), csv::Error> {
    for r in rows {
        out.write_record([
            r.run.to_string(),
            r.group.to_string(),
            r.wave.to_string(),
            r.path.to_string(),
            name(kernel, r.at),
            r.cycle.to_string(),
            r.leave.to_string(),
            r.into.map_or(String::new(), |n| n.to_string()),
        ])?;
    }
    Ok(())
}

/// `trace.csv` of kernel `fir` is `trace-fir.csv`.
pub fn beside(path: &Path, kernel: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}-{kernel}{extension}"))
}
