//! Questions to a data set: pivot tables, speed-ups against a base, the Pareto front, and charts of them.

use crate::error::SweepError;
use crate::table::{DataSet, Table};
use crate::value::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use wb_report::{Axis, Chart, HeatMap, Scatter, ScatterPoint};

/// What is made of several values in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aggregate {
    #[default]
    Mean,
    GeometricMean,
    Min,
    Max,
    Sum,
    Count,
}

impl Aggregate {
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Mean => "mean",
            Aggregate::GeometricMean => "geometric mean",
            Aggregate::Min => "least",
            Aggregate::Max => "largest",
            Aggregate::Sum => "sum",
            Aggregate::Count => "number",
        }
    }

    fn of(self, values: &[f64]) -> Option<f64> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let found = match self {
            Aggregate::Mean => values.iter().sum::<f64>() / n,
            Aggregate::GeometricMean => (values.iter().map(|v| v.ln()).sum::<f64>() / n).exp(),
            Aggregate::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Aggregate::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Aggregate::Sum => values.iter().sum(),
            Aggregate::Count => n,
        };
        found.is_finite().then_some(found)
    }
}

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Axes of rows and columns; empty: the first ones with several values.
    pub rows: String,
    pub columns: String,
    /// Empty: the first measure.
    pub value: String,
    pub aggregate: Aggregate,
    /// Only rows with these values.
    pub only: Vec<(String, String)>,
    /// How much faster than the point that has this value on this axis, and is the same otherwise.
    pub speedup: Option<(String, String)>,
}

/// A table of two axes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Pivot {
    pub rows: String,
    pub columns: String,
    /// What the cells are.
    pub value: String,
    pub row_names: Vec<String>,
    pub column_names: Vec<String>,
    pub cells: Vec<Vec<Option<f64>>>,
    /// Rows of the data set that went well and were looked at.
    pub points: usize,
}

/// Rows that went well and have the values.
fn chosen<'a>(
    table: &'a Table,
    only: &[(String, String)],
) -> Result<Vec<&'a Vec<Option<Value>>>, SweepError> {
    let status = table.column("status")?;
    let mut conditions = Vec::new();
    for (name, value) in only {
        conditions.push((table.column(name)?, value));
    }
    let is = |v: &Option<Value>, text: &str| v.as_ref().is_some_and(|v| v.to_string() == text);
    let fits = |r: &&Vec<Option<Value>>| {
        is(&r[status], "ok") && conditions.iter().all(|(c, value)| is(&r[*c], value))
    };
    Ok(table.rows.iter().filter(fits).collect())
}

/// Different values of a column: numbers by size, words as they come.
fn different(rows: &[&Vec<Option<Value>>], column: usize) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    let mut known: std::collections::HashSet<String> = std::collections::HashSet::new();
    for value in rows.iter().filter_map(|r| r[column].as_ref()) {
        if known.insert(value.to_string()) {
            seen.push(value.clone());
        }
    }
    if seen.iter().all(|v| v.number().is_some()) {
        seen.sort_by(|a, b| a.number().unwrap_or(0.0).total_cmp(&b.number().unwrap_or(0.0)));
    }
    seen
}

/// The pivot table of a question.
pub fn pivot(data: &DataSet, question: &Question) -> Result<Pivot, SweepError> {
    let table = &data.table;
    let rows = chosen(table, &question.only)?;
    let several = |name: &&String| table.column(name).is_ok_and(|c| different(&rows, c).len() > 1);
    let given = [&question.rows, &question.columns];
    let mut free = data.about.axes.iter().filter(|a| !given.contains(a)).filter(several);
    let mut axis = |name: &str| match name {
        "" => free.next().or(data.about.axes.first()).cloned().unwrap_or_default(),
        name => name.to_owned(),
    };
    let (across_rows, across) = (axis(&question.rows), axis(&question.columns));
    let value = match question.value.as_str() {
        "" => data.about.measures.first().cloned().unwrap_or_default(),
        name => name.to_owned(),
    };
    let (r, c, v) = (table.column(&across_rows)?, table.column(&across)?, table.column(&value)?);
    let names = |c: usize| different(&rows, c);
    let (row_values, column_values) = (names(r), names(c));
    let place = |list: &[Value]| -> BTreeMap<String, usize> {
        list.iter().enumerate().map(|(i, v)| (v.to_string(), i)).collect()
    };
    let (row_at, column_at) = (place(&row_values), place(&column_values));
    let bases = question.speedup.as_ref().map(|s| bases(data, &rows, v, s)).transpose()?;
    let mut cells: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); column_values.len()]; row_values.len()];
    for row in &rows {
        let (Some(at), Some(across)) = (&row[r], &row[c]) else { continue };
        let Some(mut number) = row[v].as_ref().and_then(Value::number) else { continue };
        if let Some((key, bases)) = &bases {
            match bases.get(&key(row)) {
                Some(base) if number != 0.0 => number = base / number,
                _ => continue,
            }
        }
        cells[row_at[&at.to_string()]][column_at[&across.to_string()]].push(number);
    }
    let texts = |list: &[Value]| list.iter().map(Value::to_string).collect();
    let what = match &question.speedup {
        Some((axis, base)) => format!("speed-up of {value} over {axis}={base}"),
        None => value,
    };
    Ok(Pivot {
        rows: across_rows,
        columns: across,
        value: format!("{what}, {}", question.aggregate.name()),
        row_names: texts(&row_values),
        column_names: texts(&column_values),
        cells: cells.iter().map(|r| r.iter().map(|c| question.aggregate.of(c)).collect()).collect(),
        points: rows.len(),
    })
}

type Key<'a> = Box<dyn Fn(&[Option<Value>]) -> String + 'a>;

/// What each point is compared with: the same coordinates, but for one axis.
fn bases<'a>(
    data: &'a DataSet,
    rows: &[&Vec<Option<Value>>],
    value: usize,
    (axis, base): &(String, String),
) -> Result<(Key<'a>, BTreeMap<String, f64>), SweepError> {
    let table = &data.table;
    let column = table.column(axis)?;
    let mut others = Vec::new();
    for name in data.about.axes.iter().filter(|a| *a != axis) {
        others.push(table.column(name)?);
    }
    let key: Key = Box::new(move |row| others.iter().map(|c| format!("{:?}\u{1}", row[*c])).collect());
    let mut found = BTreeMap::new();
    for row in rows {
        if row[column].as_ref().is_some_and(|v| v.to_string() == *base)
            && let Some(number) = row[value].as_ref().and_then(Value::number)
        {
            found.insert(key(row), number);
        }
    }
    if found.is_empty() {
        let known: Vec<String> = different(rows, column).iter().map(Value::to_string).collect();
        let message = format!("no point has {axis}={base} to compare with");
        return Err(SweepError::Show { message, help: format!("values of {axis}: {}", known.join(", ")) });
    }
    Ok((key, found))
}

fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        v if v >= 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

impl Pivot {
    /// As text, columns aligned.
    pub fn text(&self) -> String {
        let head = format!("{} \\ {}", self.rows, self.columns);
        let mut lines: Vec<Vec<String>> =
            vec![std::iter::once(head).chain(self.column_names.clone()).collect()];
        for (name, row) in self.row_names.iter().zip(&self.cells) {
            let cells = row.iter().map(|c| c.map_or("-".to_owned(), number));
            lines.push(std::iter::once(name.clone()).chain(cells).collect());
        }
        let width = |i: usize| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        let mut out = format!("{} of {} points\n", self.value, self.points);
        for line in &lines {
            let _ = write!(out, "{:<w$}", line[0], w = widths[0]);
            for (cell, w) in line.iter().zip(&widths).skip(1) {
                let _ = write!(out, "  {cell:>w$}");
            }
            out.push('\n');
        }
        out
    }

    /// As a table of a page.
    pub fn html(&self) -> String {
        let escape = wb_report::escape;
        let mut out = String::from("<div class=\"scroll\"><table><tr>");
        let _ = write!(out, "<th>{} \\ {}</th>", escape(&self.rows), escape(&self.columns));
        for name in &self.column_names {
            let _ = write!(out, "<th class=\"n\">{}</th>", escape(name));
        }
        out.push_str("</tr>\n");
        for (name, row) in self.row_names.iter().zip(&self.cells) {
            let _ = write!(out, "<tr><td>{}</td>", escape(name));
            for cell in row {
                let _ = write!(out, "<td class=\"n\">{}</td>", cell.map_or("–".to_owned(), number));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table></div>\n");
        out
    }

    /// Rows along the x axis, a series for each column.
    pub fn chart(&self) -> Chart {
        let numbers: Option<Vec<f64>> = self.row_names.iter().map(|n| n.parse().ok()).collect();
        let x = match numbers {
            Some(numbers) => Axis::Numbers(numbers),
            None => Axis::Categories(self.row_names.clone()),
        };
        let series = self.column_names.iter().enumerate().map(|(i, name)| {
            let values = self.cells.iter().map(|r| r[i].unwrap_or(f64::NAN)).collect();
            (format!("{}={name}", self.columns), values)
        });
        Chart {
            title: self.value.clone(),
            x_label: self.rows.clone(),
            y_label: self.value.clone(),
            x,
            series: series.collect(),
        }
    }

    pub fn heat_map(&self) -> HeatMap {
        HeatMap {
            title: self.value.clone(),
            x_label: self.columns.clone(),
            y_label: self.rows.clone(),
            columns: self.column_names.clone(),
            rows: self.row_names.clone(),
            cells: self.cells.clone(),
        }
    }
}

/// Points of two columns, of which less is better; the front is what no other point beats in both.
pub fn pareto(data: &DataSet, x: &str, y: &str, only: &[(String, String)]) -> Result<Scatter, SweepError> {
    let table = &data.table;
    let (cx, cy) = (table.column(x)?, table.column(y)?);
    let rows = chosen(table, only)?;
    let mut varying = Vec::new();
    for axis in &data.about.axes {
        let c = table.column(axis)?;
        if different(&rows, c).len() > 1 {
            varying.push(c);
        }
    }
    let mut points: Vec<ScatterPoint> = Vec::new();
    for row in rows {
        let get = |c: usize| row[c].as_ref().and_then(Value::number);
        let (Some(x), Some(y)) = (get(cx), get(cy)) else { continue };
        let names = varying.iter().filter_map(|c| row[*c].as_ref().map(Value::to_string));
        points.push(ScatterPoint { x, y, name: names.collect::<Vec<_>>().join(" "), front: false });
    }
    // From left to right, the lowest first: what is lower than everything before is on the front.
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].x.total_cmp(&points[b].x).then(points[a].y.total_cmp(&points[b].y)));
    let mut lowest = f64::INFINITY;
    for i in order {
        if points[i].y < lowest {
            lowest = points[i].y;
            points[i].front = true;
        }
    }
    let title = format!("{y} against {x}: {} points", points.len());
    Ok(Scatter { title, x_label: x.to_owned(), y_label: y.to_owned(), points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Written;

    fn data() -> DataSet {
        let columns = ["w", "m", "s", "cycles", "area", "status"].map(str::to_owned).to_vec();
        let row = |w: &str, m: &str, s: i64, cycles: i64, area: i64, status: &str| {
            let text = |t: &str| Some(Value::Text(t.to_owned()));
            vec![
                text(w),
                text(m),
                Some(Value::Int(s)),
                Some(Value::Int(cycles)),
                Some(Value::Int(area)),
                text(status),
            ]
        };
        let rows = vec![
            row("a", "none", 10, 100, 1, "ok"),
            row("a", "pws", 10, 50, 2, "ok"),
            row("a", "none", 2, 80, 1, "ok"),
            row("a", "pws", 2, 20, 3, "ok"),
            row("b", "none", 2, 60, 2, "ok"),
            row("b", "pws", 2, 9, 2, "failed"),
        ];
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect();
        let about = Written {
            version: 1,
            name: "test".into(),
            simulator: String::new(),
            axes: names(&["w", "m", "s"]),
            measures: names(&["cycles", "area"]),
            partition: Vec::new(),
            rows: 6,
            missing: 0,
            statuses: BTreeMap::new(),
            digest: String::new(),
            files: Vec::new(),
        };
        DataSet { about, table: Table { columns, rows } }
    }

    #[test]
    fn a_pivot_has_axes_with_several_values_and_numbers_by_size() {
        let found = pivot(&data(), &Question::default()).expect("a pivot");
        assert_eq!((found.rows.as_str(), found.columns.as_str()), ("w", "m"));
        assert_eq!(found.cells, [[Some(90.0), Some(35.0)], [Some(60.0), None]]);
        let question = Question { rows: "s".into(), aggregate: Aggregate::Max, ..Question::default() };
        let found = pivot(&data(), &question).expect("a pivot");
        assert_eq!((found.row_names.join(" "), found.columns.as_str()), ("2 10".into(), "w"));
        assert!(found.text().contains("s \\ w"), "{}", found.text());
        let only = vec![("w".to_owned(), "b".to_owned())];
        assert_eq!(pivot(&data(), &Question { only, ..Question::default() }).expect("a pivot").points, 1);
    }

    #[test]
    fn speed_ups_are_against_the_same_point_with_the_base() {
        let speedup = Some(("m".to_owned(), "none".to_owned()));
        let question = Question {
            rows: "s".into(),
            columns: "m".into(),
            speedup: speedup.clone(),
            ..Question::default()
        };
        let found = pivot(&data(), &question).expect("a pivot");
        assert_eq!(found.cells, [[Some(1.0), Some(4.0)], [Some(1.0), Some(2.0)]]);
        let speedup = Some(("m".to_owned(), "dws".to_owned()));
        let error = pivot(&data(), &Question { speedup, ..Question::default() }).expect_err("no base");
        assert_eq!(error.to_string(), "no point has m=dws to compare with");
    }

    #[test]
    fn the_front_is_what_nothing_beats() {
        let scatter = pareto(&data(), "area", "cycles", &[]).expect("points");
        let mut front: Vec<(f64, f64)> =
            scatter.points.iter().filter(|p| p.front).map(|p| (p.x, p.y)).collect();
        front.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(front, [(1.0, 80.0), (2.0, 50.0), (3.0, 20.0)]);
    }
}
