//! Trace files in Parquet, column by column, without Arrow: whole numbers of 32 or 64 bits, signed or not, and text.

use super::file::{COLUMNS, TraceFile, missing_columns, not_a_number};
use crate::error::{BoundError, refused};
use parquet::basic::{Compression, ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;
use wb_files::Output;
use wb_wcet::measure::Row;

const SCHEMA: &str = "message trace {
    required int64 run;
    required int64 group;
    required int64 wave;
    required int64 path;
    required binary point (STRING);
    required int64 cycle;
    required int64 leave;
    optional int64 into;
}";
/// Rows of a row group.
const GROUP: usize = 1 << 20;
/// Column of the points.
const POINT: usize = 4;

/// Values of a column, `None` where there is none.
enum Values {
    Numbers(Vec<Option<u64>>),
    Texts(Vec<Option<ByteArray>>),
}

pub(super) fn read(file: &mut TraceFile, input: std::fs::File) -> Result<(), BoundError> {
    let name = file.name.clone();
    let wrong = |e: ParquetError| {
        refused!(
            Times,
            help = "Parquet with whole numbers and text, not compressed or with Snappy (docs/wcet-traces.md)",
            "cannot read {name}: {e}"
        )
    };
    let reader = SerializedFileReader::new(input).map_err(wrong)?;
    let about = reader.metadata().file_metadata();
    for entry in about.key_value_metadata().into_iter().flatten() {
        file.about(&entry.key, entry.value.as_deref().unwrap_or_default());
    }
    let schema = about.schema_descr_ptr();
    // Other columns are none of our business: tools add theirs (an index, for example).
    let columns = COLUMNS.map(|(c, _)| schema.columns().iter().position(|d| d.path().string() == c));
    missing_columns(&name, &columns.map(|c| c.is_some()))?;
    let mut line = 0;
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g).map_err(wrong)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut values = Vec::new();
        for (c, at) in columns.iter().enumerate() {
            values.push(match at {
                Some(at) => Some(column(&*group, *at, c, rows, file, line)?),
                None => None,
            });
        }
        for i in 0..rows {
            line += 1;
            let number = |c: usize| match &values[c] {
                Some(Values::Numbers(n)) => n[i],
                _ => None,
            };
            let point = match &values[POINT] {
                Some(Values::Texts(t)) => {
                    t[i].as_ref().map(|t| String::from_utf8_lossy(t.data()).into_owned())
                }
                _ => None,
            };
            file.push([0, 1, 2, 3, 5, 6, 7].map(number), point.as_deref().map(str::trim), line)?;
        }
    }
    Ok(())
}

fn column(
    group: &dyn RowGroupReader,
    at: usize,
    column: usize,
    rows: usize,
    file: &TraceFile,
    line: u64,
) -> Result<Values, BoundError> {
    let description = group.metadata().column(at).column_descr_ptr();
    let name = COLUMNS[column].0;
    let help = "run, group, wave, path, cycle, leave and into are whole numbers, point is text";
    let kind = description.physical_type();
    let fits =
        if column == POINT { kind == Type::BYTE_ARRAY } else { matches!(kind, Type::INT32 | Type::INT64) };
    if !fits || description.max_rep_level() > 0 || description.max_def_level() > 1 {
        return Err(refused!(Times, help = help, "{}: the column `{name}` is of type {kind}", file.name));
    }
    let optional = description.max_def_level() > 0;
    let wrong =
        |e: ParquetError| refused!(Times, help = help, "cannot read {}, column `{name}`: {e}", file.name);
    let unsigned = matches!(
        description.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    let number = |(i, n): (usize, Option<i64>)| match n {
        Some(n) if n < 0 && !unsigned => {
            Err(not_a_number(&file.place_at(line + i as u64 + 1), name, &n.to_string()))
        }
        n => Ok(n.map(|n| n as u64)),
    };
    match group.get_column_reader(at).map_err(wrong)? {
        ColumnReader::Int32ColumnReader(reader) => {
            let wide = |n: i32| if unsigned { i64::from(n as u32) } else { i64::from(n) };
            let all = all(reader, rows, optional).map_err(wrong)?;
            let numbers = all.into_iter().map(|n| n.map(wide)).enumerate().map(number);
            Ok(Values::Numbers(numbers.collect::<Result<_, _>>()?))
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let all = all(reader, rows, optional).map_err(wrong)?;
            Ok(Values::Numbers(all.into_iter().enumerate().map(number).collect::<Result<_, _>>()?))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            Ok(Values::Texts(all(reader, rows, optional).map_err(wrong)?))
        }
        _ => Err(refused!(Times, help = help, "{}: the column `{name}` is of type {kind}", file.name)),
    }
}

/// All values of a column of a row group.
fn all<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let levels = optional.then_some(&mut levels);
        let (records, _, _) = reader.read_records(rows - read, levels, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(format!("{read} rows of {rows}")));
        }
        read += records;
    }
    let mut values = values.into_iter();
    Ok(match optional {
        true => levels.iter().map(|&l| if l > 0 { values.next() } else { None }).collect(),
        false => values.map(Some).collect(),
    })
}

/// Rows become row groups as they come.
pub(super) struct ParquetWriter(SerializedFileWriter<Output>);

impl ParquetWriter {
    pub fn new(file: Output, about: &[(&str, String)]) -> Result<ParquetWriter, ParquetError> {
        let entries = about.iter().map(|(k, v)| KeyValue::new((*k).to_owned(), v.clone())).collect();
        let properties = WriterProperties::builder()
            .set_created_by("wavebound".to_owned())
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(entries))
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        Ok(ParquetWriter(SerializedFileWriter::new(file, schema, Arc::new(properties))?))
    }

    pub fn add(&mut self, rows: &[Row], points: &[String]) -> Result<(), ParquetError> {
        for (rows, points) in rows.chunks(GROUP).zip(points.chunks(GROUP)) {
            let mut group = self.0.next_row_group()?;
            let mut c = 0;
            while let Some(mut column) = group.next_column()? {
                let number = |r: &Row| match c {
                    0 => i64::from(r.run),
                    1 => i64::from(r.group),
                    2 => i64::from(r.wave),
                    3 => i64::from(r.path),
                    5 => r.cycle as i64,
                    _ => r.leave as i64,
                };
                match c {
                    POINT => {
                        let texts: Vec<ByteArray> = points.iter().map(|p| p.as_str().into()).collect();
                        column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                    }
                    7 => {
                        let levels: Vec<i16> = rows.iter().map(|r| i16::from(r.into.is_some())).collect();
                        let into: Vec<i64> = rows.iter().filter_map(|r| r.into.map(i64::from)).collect();
                        column.typed::<Int64Type>().write_batch(&into, Some(&levels), None)?;
                    }
                    _ => {
                        let numbers: Vec<i64> = rows.iter().map(number).collect();
                        column.typed::<Int64Type>().write_batch(&numbers, None, None)?;
                    }
                }
                column.close()?;
                c += 1;
            }
            group.close()?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Output, ParquetError> {
        self.0.into_inner()
    }
}
