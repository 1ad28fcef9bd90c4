//! Tables of experiments in Parquet, beside their CSV: the type of a column follows from its cells. Without Arrow, and
//! without a time or version, so that the same table makes the same bytes.

use miette::{Report, miette};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// Values of a column; cells without text have none.
#[derive(Debug, PartialEq)]
enum Values {
    Whole(Vec<i64>),
    Numbers(Vec<f64>),
    Texts(Vec<ByteArray>),
}

/// A whole number as a program prints it: masks such as 0011 are text.
fn whole(cell: &str) -> Option<i64> {
    cell.parse().ok().filter(|n: &i64| n.to_string() == cell)
}

/// A decimal number. One with too many digits for a whole number is no measurement but a mask, thus text.
fn number(cell: &str) -> Option<f64> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (before, after) = digits.split_once('.')?;
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let leading = before.len() > 1 && before.starts_with('0');
    if plain(before) && plain(after) && !leading { cell.parse().ok() } else { None }
}

fn values(cells: &[&str]) -> Values {
    let some = || cells.iter().copied().filter(|c| !c.is_empty());
    let texts = || Values::Texts(some().map(ByteArray::from).collect());
    if some().next().is_none() {
        return texts();
    }
    if let Some(list) = some().map(whole).collect() {
        return Values::Whole(list);
    }
    match some().map(|c| number(c).or_else(|| whole(c).map(|n| n as f64))).collect() {
        Some(list) => Values::Numbers(list),
        None => texts(),
    }
}

/// A column: its values and, where some are missing, which ones are there.
struct Column {
    values: Values,
    there: Option<Vec<i16>>,
}

impl Column {
    fn new(cells: &[&str]) -> Column {
        let missing = cells.iter().any(|c| c.is_empty());
        let there = missing.then(|| cells.iter().map(|c| i16::from(!c.is_empty())).collect());
        Column { values: values(cells), there }
    }

    fn kind(&self, name: &str) -> Result<Type, ParquetError> {
        let physical = match self.values {
            Values::Whole(_) => Physical::INT64,
            Values::Numbers(_) => Physical::DOUBLE,
            Values::Texts(_) => Physical::BYTE_ARRAY,
        };
        let repetition = if self.there.is_some() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        match self.values {
            Values::Texts(_) => builder
                .with_converted_type(ConvertedType::UTF8)
                .with_logical_type(Some(LogicalType::String))
                .build(),
            _ => builder.build(),
        }
    }

    fn write(&self, writer: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let there = self.there.as_deref();
        match &self.values {
            Values::Whole(list) => writer.typed::<Int64Type>().write_batch(list, there, None)?,
            Values::Numbers(list) => writer.typed::<DoubleType>().write_batch(list, there, None)?,
            Values::Texts(list) => writer.typed::<ByteArrayType>().write_batch(list, there, None)?,
        };
        Ok(())
    }
}

/// The bytes of a Parquet file with this table.
pub fn table(head: &[String], rows: &[Vec<String>]) -> Result<Vec<u8>, Report> {
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, r)| r.len() != head.len()) {
        return Err(miette!(
            help = "every row has a cell for every column, an empty one where there is nothing",
            "row {} of the table has {} cells for {} columns",
            i + 1,
            row.len(),
            head.len()
        ));
    }
    let column = |c: usize| Column::new(&rows.iter().map(|r| r[c].as_str()).collect::<Vec<_>>());
    let columns: Vec<Column> = (0..head.len()).map(column).collect();
    write(head, &columns).map_err(|e| miette!("cannot make a Parquet table of {}: {e}", head.join(" ")))
}

fn write(head: &[String], columns: &[Column]) -> Result<Vec<u8>, ParquetError> {
    let mut fields = Vec::new();
    for (name, column) in head.iter().zip(columns) {
        fields.push(Arc::new(column.kind(name)?));
    }
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_created_by("wavebound".to_owned())
        .set_compression(Compression::SNAPPY)
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        if let Some(mut writer) = group.next_column()? {
            column.write(&mut writer)?;
            writer.close()?;
        }
    }
    group.close()?;
    file.into_inner()
}

#[cfg(test)]
mod tests {
    use super::super::notebook::{Notebook, columns};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn cells(rows: &[[&str; 6]]) -> Vec<Vec<String>> {
        rows.iter().map(|r| r.map(str::to_owned).to_vec()).collect()
    }

    fn shown(field: &Field) -> String {
        match field {
            Field::Null => String::new(),
            Field::Long(n) => n.to_string(),
            Field::Double(n) => n.to_string(),
            Field::Str(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// The file that a notebook writes, read by the crate's reader, is the CSV, read by another crate.
    #[test]
    fn parquet_says_what_the_csv_says() {
        let dir = tempfile::tempdir().unwrap();
        let mut nb = Notebook::new(dir.path(), "test");
        let head = columns("n x gap mask text nothing");
        let rows = cells(&[
            ["1", "1.5", "7", "0011", "a, \"b\"", ""],
            ["-20", "3", "", "1100", "", ""],
            ["9007199254740993", "-0.25", "9", "1111", "é\n2", ""],
        ]);
        nb.csv("-rows.csv", &head, rows.clone()).unwrap();
        let names: Vec<_> = nb.files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["test-rows.csv", "test-rows.parquet"]);

        let mut text = csv::Reader::from_path(&nb.files[0]).unwrap();
        assert_eq!(text.headers().unwrap().iter().collect::<Vec<_>>(), head);
        let text: Vec<Vec<String>> =
            text.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
        assert_eq!(text, rows);

        let file = SerializedFileReader::new(std::fs::File::open(&nb.files[1]).unwrap()).unwrap();
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        let kinds: Vec<String> = schema
            .columns()
            .iter()
            .map(|c| format!("{} {} {}", c.name(), c.physical_type(), c.max_def_level()))
            .collect();
        let wanted = [
            "n INT64 0",
            "x DOUBLE 0",
            "gap INT64 1",
            "mask BYTE_ARRAY 0",
            "text BYTE_ARRAY 1",
            "nothing BYTE_ARRAY 1",
        ];
        assert_eq!(kinds, wanted);
        let read: Vec<Vec<String>> = file
            .get_row_iter(None)
            .unwrap()
            .map(|r| r.unwrap().get_column_iter().map(|c| shown(c.1)).collect())
            .collect();
        assert_eq!(read, text);
    }

    #[test]
    fn the_same_table_makes_the_same_bytes() {
        let head = columns("over_LRR b c d e f");
        let rows = cells(&[["1", "2", "3", "4", "5", "x"]]);
        assert_eq!(table(&head, &rows).unwrap(), table(&head, &rows).unwrap());
        assert_ne!(table(&head, &rows).unwrap(), table(&head, &[]).unwrap());
    }

    #[test]
    fn numbers_that_are_none_stay_text() {
        let texts = |cells: &[&str]| matches!(values(cells), Values::Texts(_));
        for cell in
            ["0011", "+1", "NaN", "inf", "1e3", "1.", ".5", "00.5", "11111111111111111111111111111111"]
        {
            assert!(texts(&[cell]), "{cell}");
            assert!(texts(&["1", cell, "2.5"]), "{cell}");
        }
        assert_eq!(values(&["1", "", "-2"]), Values::Whole(vec![1, -2]));
        assert_eq!(values(&["1", "0.50"]), Values::Numbers(vec![1.0, 0.5]));
    }

    #[test]
    fn a_row_of_another_length_is_an_error() {
        let error = table(&columns("a b"), &[columns("1 2"), columns("1")]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 of the table has 1 cells for 2 columns");
        assert!(error.help().is_some());
    }
}
