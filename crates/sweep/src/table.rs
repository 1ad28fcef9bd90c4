//! A data set in memory, read back from Parquet.

use crate::data::Written;
use crate::error::SweepError;
use crate::value::Value;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::path::{Path, PathBuf};

/// Columns and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<Value>>>,
}

/// A data set: what `sweep.json` says, and its rows.
#[derive(Clone, Debug)]
pub struct DataSet {
    pub about: Written,
    pub table: Table,
}

fn wrong(path: &Path, why: impl ToString) -> SweepError {
    SweepError::Data { path: path.to_owned(), why: why.to_string() }
}

impl DataSet {
    /// Reads the folder that a sweep wrote.
    pub fn open(folder: &Path) -> Result<DataSet, SweepError> {
        let about = folder.join("sweep.json");
        let text = wb_files::read_text(&about, wb_files::Kind::Kept)?;
        let about: Written = serde_json::from_str(&text).map_err(|e| wrong(&about, e))?;
        let table = Table::read(&folder.join("data"))?;
        Ok(DataSet { about, table })
    }
}

impl Table {
    /// Reads all Parquet files below a folder; names of folders (`workload=bfs`) are columns.
    pub fn read(folder: &Path) -> Result<Table, SweepError> {
        let mut files = Vec::new();
        find(folder, &mut files);
        files.sort();
        let mut table = Table::default();
        for path in files {
            table.add(folder, &path)?;
        }
        Ok(table)
    }

    fn add(&mut self, folder: &Path, path: &Path) -> Result<(), SweepError> {
        let inner = path.strip_prefix(folder).unwrap_or(path);
        let parts: Vec<(String, Option<Value>)> = inner
            .components()
            .filter_map(|c| {
                let text = c.as_os_str().to_string_lossy().into_owned();
                let (name, value) = text.split_once('=')?;
                Some((name.to_owned(), plain(value)))
            })
            .collect();
        let file = wb_files::open(path, wb_files::Kind::Kept)?;
        let reader = SerializedFileReader::new(file).map_err(|e| wrong(path, e))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<String> = schema.columns().iter().map(|c| c.name().to_owned()).collect();
        let columns: Vec<String> = parts.iter().map(|p| p.0.clone()).chain(names).collect();
        if self.columns.is_empty() {
            self.columns = columns;
        } else if self.columns != columns {
            return Err(wrong(path, "it has other columns than the files beside it"));
        }
        for row in reader.get_row_iter(None).map_err(|e| wrong(path, e))? {
            let row = row.map_err(|e| wrong(path, e))?;
            let mut values: Vec<Option<Value>> = parts.iter().map(|p| p.1.clone()).collect();
            for (_, field) in row.get_column_iter() {
                values.push(match field {
                    Field::Null => None,
                    Field::Bool(b) => Some(Value::Bool(*b)),
                    Field::Int(n) => Some(Value::Int((*n).into())),
                    Field::Long(n) => Some(Value::Int(*n)),
                    Field::Double(x) => Some(Value::Float(*x)),
                    Field::Str(text) => Some(Value::Text(text.clone())),
                    other => return Err(wrong(path, format!("a value of an unknown type: {other}"))),
                });
            }
            self.rows.push(values);
        }
        Ok(())
    }

    pub fn column(&self, name: &str) -> Result<usize, SweepError> {
        let at = self.columns.iter().position(|c| c == name);
        at.ok_or_else(|| SweepError::Column {
            name: name.to_owned(),
            help: format!("columns: {}", self.columns.join(", ")),
        })
    }

    /// Rows as text without some columns, sorted: equal for equal data sets.
    pub fn canonical(&self, without: &[&str]) -> Vec<String> {
        let keep: Vec<usize> =
            (0..self.columns.len()).filter(|c| !without.contains(&self.columns[*c].as_str())).collect();
        let mut rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                keep.iter()
                    .map(|c| format!("{}={:?}", self.columns[*c], row[*c]))
                    .collect::<Vec<_>>()
                    .join("\t")
            })
            .collect();
        rows.sort();
        rows
    }
}

fn find(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            find(&path, out);
        } else if path.extension().is_some_and(|e| e == "parquet") {
            out.push(path);
        }
    }
}

/// A value that stands in the name of a folder.
fn plain(text: &str) -> Option<Value> {
    if text == "__HIVE_DEFAULT_PARTITION__" {
        return None;
    }
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, more)) = rest.split_first() {
        let code = (first == b'%').then(|| more.get(..2)).flatten();
        let code =
            code.and_then(|c| std::str::from_utf8(c).ok()).and_then(|c| u8::from_str_radix(c, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &more[2..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(match text.parse::<i64>() {
        Ok(n) if n.to_string() == text => Value::Int(n),
        _ => Value::Text(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_read_back() {
        for text in ["bfs", "b+tree", "a b/c=%é", "..", ""] {
            assert_eq!(plain(&crate::data::escaped(text)), Some(Value::Text(text.to_owned())));
        }
        assert_eq!(plain("12"), Some(Value::Int(12)));
        assert_eq!(plain("012"), Some(Value::Text("012".to_owned())));
    }
}
