//! A Parquet file, column by column, without Arrow: row groups are written as rows come.

use crate::error::ExportError;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wb_files::Output;

/// Rows of a row group.
const GROUP: usize = 256 << 10;

/// Types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    U32,
    U64,
    F64,
    Bool,
    /// Few different values: a dictionary.
    Text,
}

impl Type {
    fn physical(self) -> (&'static str, &'static str) {
        match self {
            Type::U32 => ("int32", "(UINT_32)"),
            Type::U64 => ("int64", "(UINT_64)"),
            Type::F64 => ("double", ""),
            Type::Bool => ("boolean", ""),
            Type::Text => ("binary", "(STRING)"),
        }
    }
}

/// A value of a row.
pub(crate) enum Cell<'a> {
    None,
    Number(u64),
    Float(f64),
    Bool(bool),
    Text(&'a str),
}

#[derive(Default)]
struct Column {
    there: Vec<i16>,
    small: Vec<i32>,
    wide: Vec<i64>,
    floats: Vec<f64>,
    bools: Vec<bool>,
    texts: Vec<ByteArray>,
}

/// A table being written.
pub(crate) struct Table {
    path: PathBuf,
    writer: SerializedFileWriter<Output>,
    types: Vec<Type>,
    /// Columns that always have a value: the first ones.
    required: usize,
    columns: Vec<Column>,
    rows: usize,
}

impl Table {
    /// Columns that always have a value are those of `required`; the others come after them.
    pub fn create(
        path: &Path,
        required: &[(&str, Type)],
        optional: &[(&str, Type)],
        about: Vec<(String, String)>,
    ) -> Result<Table, ExportError> {
        let field = |need: &str, (name, kind): &(&str, Type)| {
            let (physical, logical) = kind.physical();
            format!("{need} {physical} {name} {logical};\n")
        };
        let fields: String = required
            .iter()
            .map(|c| field("required", c))
            .chain(optional.iter().map(|c| field("optional", c)))
            .collect();
        let failed = |e: ParquetError| ExportError::write(path, e);
        let schema = parse_message_type(&format!("message trace {{\n{fields}}}")).map_err(failed)?;
        let about = about.into_iter().map(|(key, value)| KeyValue { key, value: Some(value) });
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(about.collect()))
            .build();
        let out = Output::create(path)?;
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let types: Vec<Type> = required.iter().chain(optional).map(|c| c.1).collect();
        let columns = types.iter().map(|_| Column::default()).collect();
        Ok(Table { path: path.to_owned(), writer, types, required: required.len(), columns, rows: 0 })
    }

    /// Adds a row: a cell for each column, the rest has none.
    pub fn row(&mut self, cells: &[Cell]) -> Result<(), ExportError> {
        for (i, column) in self.columns.iter_mut().enumerate() {
            let cell = cells.get(i).unwrap_or(&Cell::None);
            column.there.push(i16::from(!matches!(cell, Cell::None)));
            match (cell, self.types[i]) {
                (Cell::None, _) => {}
                (Cell::Number(n), Type::U32) => column.small.push(*n as u32 as i32),
                (Cell::Number(n), _) => column.wide.push(*n as i64),
                (Cell::Float(x), _) => column.floats.push(*x),
                (Cell::Bool(b), _) => column.bools.push(*b),
                (Cell::Text(t), _) => column.texts.push(ByteArray::from(*t)),
            }
        }
        self.rows += 1;
        if self.rows >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ExportError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let path = self.path.clone();
        self.group().map_err(|e| ExportError::write(&path, e))
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (i, (column, kind)) in self.columns.iter_mut().zip(&self.types).enumerate() {
            let Some(mut writer) = group.next_column()? else { break };
            let there = (i >= self.required).then_some(&column.there[..]);
            match kind {
                Type::U32 => writer.typed::<Int32Type>().write_batch(&column.small, there, None)?,
                Type::U64 => writer.typed::<Int64Type>().write_batch(&column.wide, there, None)?,
                Type::F64 => writer.typed::<DoubleType>().write_batch(&column.floats, there, None)?,
                Type::Bool => writer.typed::<BoolType>().write_batch(&column.bools, there, None)?,
                Type::Text => writer.typed::<ByteArrayType>().write_batch(&column.texts, there, None)?,
            };
            writer.close()?;
            column.there.clear();
            column.small.clear();
            column.wide.clear();
            column.floats.clear();
            column.bools.clear();
            column.texts.clear();
        }
        group.close().map(drop)
    }

    /// Writes the rest, and puts the file in its place.
    pub fn finish(mut self) -> Result<(), ExportError> {
        self.flush()?;
        let path = self.path;
        let out = self.writer.into_inner().map_err(|e| ExportError::write(&path, e))?;
        Ok(out.finish()?)
    }
}
