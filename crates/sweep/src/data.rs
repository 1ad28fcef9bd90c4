//! The data set: a row for each point, in Parquet, divided into folders by an axis. The same plan makes the same bytes whoever
//! measured, but for the columns of provenance ([`PROVENANCE`]).

use crate::error::SweepError;
use crate::identity::{Id, SIMULATOR};
use crate::measure::Status;
use crate::plan::Plan;
use crate::run::Sweep;
use crate::store::Record;
use crate::value::{Kind, Value};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wb_files::Output;
use xxhash_rust::xxh3::Xxh3;

/// Columns that say who measured, when and how long it took: they differ from run to run.
pub const PROVENANCE: [&str; 2] = ["host", "seconds"];
/// Columns besides axes and measures; provenance comes last.
const ALWAYS: [(&str, Kind); 6] = [
    ("status", Kind::Text),
    ("error", Kind::Text),
    ("point", Kind::Text),
    ("simulator", Kind::Text),
    ("host", Kind::Text),
    ("seconds", Kind::Float),
];

/// Rows are written in groups of this many.
const GROUP: usize = 1 << 14;
/// Files that are open at once.
const MOST_PARTS: usize = 1000;

/// What was written: also the file `sweep.json` beside the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Written {
    pub version: u32,
    pub name: String,
    pub simulator: String,
    pub axes: Vec<String>,
    pub measures: Vec<String>,
    pub partition: Vec<String>,
    /// Rows, and points that have no row because something was not measured yet.
    pub rows: u64,
    pub missing: u64,
    /// Rows by status.
    pub statuses: BTreeMap<String, u64>,
    /// A hash of all rows in the order of the plan, without provenance.
    pub digest: String,
    pub files: Vec<PathBuf>,
}

/// Names and types of the columns of a plan's data set.
pub fn columns(plan: &Plan) -> Vec<(String, Kind)> {
    let mut all: Vec<(String, Kind)> = plan.columns.iter().map(|c| (c.name.clone(), c.kind)).collect();
    for measure in &plan.measures {
        all.extend(measure.columns());
    }
    all.extend(ALWAYS.map(|(n, k)| (n.to_owned(), k)));
    // An axis and a measure may have one name: `waves`.
    for i in 0..all.len() {
        if all[..i].iter().any(|c| c.0 == all[i].0) {
            all[i].0 = format!("measured_{}", all[i].0);
        }
    }
    all
}

/// A row without provenance; none if a result is missing.
fn row(
    plan: &Plan,
    coordinates: &[Option<&Value>],
    ids: &[Option<Id>],
    records: &[Option<Record>],
) -> Option<Vec<Option<Value>>> {
    let mut out: Vec<Option<Value>> = coordinates.iter().map(|v| v.cloned()).collect();
    let (mut status, mut error, mut seconds) = (Status::Ok, None, 0.0);
    let mut host = None;
    for (measure, record) in plan.measures.iter().zip(records) {
        let Record { outcome, host: by, seconds: took } = record.as_ref()?;
        let columns = measure.columns();
        out.extend((0..columns.len()).map(|i| outcome.values.get(i).cloned()));
        status = status.max(outcome.status);
        if error.is_none() {
            error = outcome.error.as_ref().map(|e| format!("{}: {e}", measure.name()));
        }
        seconds += took;
        host = Some(by.clone());
    }
    let ids: String = ids.iter().flatten().map(Id::to_string).collect();
    let point = if plan.measures.len() == 1 {
        ids
    } else {
        format!("{:032x}", xxhash_rust::xxh3::xxh3_128(ids.as_bytes()))
    };
    out.push(Some(Value::Text(status.name().to_owned())));
    out.push(error.map(Value::Text));
    out.push(Some(Value::Text(point)));
    out.push(Some(Value::Text(SIMULATOR.to_owned())));
    out.push(host.map(Value::Text));
    out.push(Some(Value::Float(seconds)));
    Some(out)
}

/// Writes the data set of a sweep into `folder`: `data/` and `sweep.json`.
pub fn write(sweep: &Sweep, folder: &Path) -> Result<Written, SweepError> {
    let plan = sweep.plan;
    let columns = columns(plan);
    let partition = plan.partitions();
    let new = folder.join(format!(".data-{}", crate::store::unique()));
    wb_files::make_folder(&new)?;
    let mut parts: BTreeMap<PathBuf, Part> = BTreeMap::new();
    let mut digest = Xxh3::new();
    let (mut rows, mut missing) = (0, 0);
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    let kept: Vec<usize> = (0..columns.len()).filter(|c| !partition.contains(c)).collect();
    let done = sweep.rows(|place, ids, records| {
        let coordinates = plan.coordinates(place);
        let Some(row) = row(plan, &coordinates, ids, &records) else {
            missing += u64::from(ids.iter().any(Option::is_some));
            return Ok(());
        };
        rows += 1;
        *statuses
            .entry(row[columns.len() - ALWAYS.len()].as_ref().map_or(String::new(), Value::to_string))
            .or_default() += 1;
        for value in &row[..row.len() - PROVENANCE.len()] {
            digest.update(format!("{value:?}\u{1f}").as_bytes());
        }
        let path = hive(&partition, plan, &row);
        if !parts.contains_key(&path) {
            if parts.len() >= MOST_PARTS {
                return Err(SweepError::Show {
                    message: format!("the data set would have more than {MOST_PARTS} parts"),
                    help: "choose an axis with fewer values: partition = [\"workload\"]".to_owned(),
                });
            }
            wb_files::make_folder(&new.join(&path))?;
            parts.insert(
                path.clone(),
                Part::create(&new.join(&path).join("points.parquet"), &columns, &kept)?,
            );
        }
        if let Some(part) = parts.get_mut(&path) {
            part.add(&row)?;
        }
        Ok(())
    });
    let target = folder.join("data");
    let finished = done.and_then(|()| {
        let mut files = Vec::new();
        for (path, part) in parts {
            part.finish()?;
            files.push(target.join(path).join("points.parquet"));
        }
        wb_files::replace_folder(&new, &target)?;
        Ok(files)
    });
    if finished.is_err() {
        let _ = std::fs::remove_dir_all(&new);
    }
    let names = |list: &[(String, Kind)]| list.iter().map(|c| c.0.clone()).collect::<Vec<_>>();
    let (axes, rest) = columns.split_at(plan.columns.len());
    let written = Written {
        version: 1,
        name: plan.name.clone(),
        simulator: SIMULATOR.to_owned(),
        axes: names(axes),
        measures: names(&rest[..rest.len() - ALWAYS.len()]),
        partition: partition.iter().map(|c| columns[*c].0.clone()).collect(),
        rows,
        missing,
        statuses,
        digest: format!("{:032x}", digest.digest128()),
        files: finished?,
    };
    let json = serde_json::to_string_pretty(&written).unwrap_or_default();
    wb_files::write(&folder.join("sweep.json"), json + "\n")?;
    Ok(written)
}

/// `workload=bfs/size=tiny`: how engines know which folder holds which values.
fn hive(partition: &[usize], plan: &Plan, row: &[Option<Value>]) -> PathBuf {
    let mut path = PathBuf::new();
    for &column in partition {
        let value = row[column].as_ref().map_or("__HIVE_DEFAULT_PARTITION__".to_owned(), Value::to_string);
        path.push(format!("{}={}", plan.columns[column].name, escaped(&value)));
    }
    path
}

/// Letters, digits and a few signs; others by their number.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' => out.push(b as char),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    // Neither a folder above nor a hidden one.
    match out.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None => out,
    }
}

/// Values of a column, and which rows have one.
enum Column {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// One file being written.
struct Part {
    file: SerializedFileWriter<Output>,
    path: PathBuf,
    kept: Vec<usize>,
    columns: Vec<(Column, Vec<i16>)>,
    rows: usize,
}

fn wrong(path: &Path) -> impl Fn(ParquetError) -> SweepError + '_ {
    |e| SweepError::Data { path: path.to_owned(), why: e.to_string() }
}

impl Part {
    fn create(path: &Path, columns: &[(String, Kind)], kept: &[usize]) -> Result<Part, SweepError> {
        let mut fields = Vec::new();
        for &c in kept {
            fields.push(Arc::new(field(&columns[c].0, columns[c].1).map_err(wrong(path))?));
        }
        let schema = Type::group_type_builder("points").with_fields(fields).build().map_err(wrong(path))?;
        let properties = WriterProperties::builder()
            .set_created_by("wavebound".to_owned())
            .set_compression(Compression::SNAPPY)
            .build();
        let output = Output::create(path)?;
        let file =
            SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties)).map_err(wrong(path))?;
        let empty = |c: &usize| {
            let column = match columns[*c].1 {
                Kind::Bool => Column::Bool(Vec::new()),
                Kind::Int => Column::Int(Vec::new()),
                Kind::Float => Column::Float(Vec::new()),
                Kind::Text => Column::Text(Vec::new()),
            };
            (column, Vec::new())
        };
        let buffers = kept.iter().map(empty).collect();
        Ok(Part { file, path: path.to_owned(), kept: kept.to_vec(), columns: buffers, rows: 0 })
    }

    fn add(&mut self, row: &[Option<Value>]) -> Result<(), SweepError> {
        for ((column, there), &c) in self.columns.iter_mut().zip(&self.kept) {
            let has = match (column, &row[c]) {
                (_, None) => false,
                (Column::Bool(list), Some(Value::Bool(b))) => push(list, *b),
                (Column::Int(list), Some(Value::Int(n))) => push(list, *n),
                (Column::Float(list), Some(v)) => v.number().is_some_and(|x| push(list, x)),
                (Column::Text(list), Some(v)) => push(list, ByteArray::from(v.to_string().as_str())),
                (Column::Bool(_) | Column::Int(_), Some(_)) => false,
            };
            there.push(i16::from(has));
        }
        self.rows += 1;
        if self.rows >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), SweepError> {
        let wrong = wrong(&self.path);
        let mut group = self.file.next_row_group().map_err(&wrong)?;
        for (column, there) in &mut self.columns {
            if let Some(mut writer) = group.next_column().map_err(&wrong)? {
                column.write(there, &mut writer).map_err(&wrong)?;
                writer.close().map_err(&wrong)?;
            }
            there.clear();
        }
        group.close().map_err(&wrong)?;
        self.rows = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(), SweepError> {
        if self.rows > 0 {
            self.flush()?;
        }
        let output = self.file.into_inner().map_err(wrong(&self.path))?;
        Ok(output.finish()?)
    }
}

fn push<T>(list: &mut Vec<T>, value: T) -> bool {
    list.push(value);
    true
}

impl Column {
    fn write(&mut self, there: &[i16], writer: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let there = Some(there);
        match self {
            Column::Bool(list) => {
                writer.typed::<BoolType>().write_batch(list, there, None)?;
                list.clear();
            }
            Column::Int(list) => {
                writer.typed::<Int64Type>().write_batch(list, there, None)?;
                list.clear();
            }
            Column::Float(list) => {
                writer.typed::<DoubleType>().write_batch(list, there, None)?;
                list.clear();
            }
            Column::Text(list) => {
                writer.typed::<ByteArrayType>().write_batch(list, there, None)?;
                list.clear();
            }
        }
        Ok(())
    }
}

fn field(name: &str, kind: Kind) -> Result<Type, ParquetError> {
    let physical = match kind {
        Kind::Bool => Physical::BOOLEAN,
        Kind::Int => Physical::INT64,
        Kind::Float => Physical::DOUBLE,
        Kind::Text => Physical::BYTE_ARRAY,
    };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    match kind {
        Kind::Text => builder
            .with_converted_type(ConvertedType::UTF8)
            .with_logical_type(Some(LogicalType::String))
            .build(),
        Kind::Bool | Kind::Int | Kind::Float => builder.build(),
    }
}
