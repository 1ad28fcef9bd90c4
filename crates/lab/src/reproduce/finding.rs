//! What came out of an experiment beside what was published. Published values are data and measured values
//! are data; only [`judge`] brings them together, so a wrong expectation cannot pass.

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::PathBuf;

/// What a measured value must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want<'a> {
    /// Exactly this text.
    Text(&'a str),
    /// This number, at most the share `within` away from it.
    Near {
        value: f64,
        within: f64,
    },
    AtLeast(f64),
    AtMost(f64),
    /// Anything: shown for information.
    Any,
}

/// One line of the published side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published<'a> {
    pub quantity: &'a str,
    /// The document's words or numbers; may be empty where [`Want`] says it all.
    pub says: &'a str,
    pub want: Want<'a>,
}

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    /// Judged as it is shown: rounded to `decimals`.
    Number {
        value: f64,
        decimals: usize,
        unit: &'static str,
    },
}

impl Value {
    fn show(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number { value, decimals, unit } => format!("{value:.decimals$}{unit}"),
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Value::Text(_) => "",
            Value::Number { unit, .. } => unit,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Value::Text(_) => None,
            Value::Number { value, decimals, .. } => format!("{value:.decimals$}").parse().ok(),
        }
    }
}

impl Want<'_> {
    fn show(&self, unit: &str) -> String {
        match self {
            Want::Text(text) => (*text).to_owned(),
            Want::Near { value, within } => format!("{value}{unit} ± {:.0} %", within * 100.0),
            Want::AtLeast(value) => format!("≥ {value}{unit}"),
            Want::AtMost(value) => format!("≤ {value}{unit}"),
            Want::Any => String::new(),
        }
    }

    fn holds(&self, value: &Value) -> Option<bool> {
        let number = value.number();
        Some(match self {
            Want::Text(text) => value.show() == *text,
            Want::Near { value, within } => number.is_some_and(|n| (n - value).abs() <= within * value.abs()),
            Want::AtLeast(least) => number.is_some_and(|n| n >= *least),
            Want::AtMost(most) => number.is_some_and(|n| n <= *most),
            Want::Any => return None,
        })
    }
}

/// One quantity, published and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub quantity: String,
    pub published: String,
    pub ours: String,
    /// None = information only.
    pub ok: Option<bool>,
}

/// The result of one experiment. As JSON it can be read again, so that a long series of runs can be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub name: String,
    pub title: String,
    pub source: String,
    pub rows: Vec<Row>,
    /// Decisions where the source is silent, and where it contradicts itself.
    pub notes: Vec<String>,
    pub files: Vec<PathBuf>,
    /// Time of the experiment on the host; 0 where nobody measured it.
    #[serde(default)]
    pub seconds: f64,
}

/// Published beside measured, in the published order; what nobody published follows as information.
/// A published quantity that was not measured fails.
pub fn judge(published: &[Published], measured: &[(String, Value)]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for p in published {
        let value = measured.iter().find(|m| m.0 == p.quantity).map(|m| &m.1);
        let want = p.want.show(value.map_or("", Value::unit));
        let text = match (p.says, want.as_str()) {
            ("", want) => want.to_owned(),
            (says, "") => says.to_owned(),
            (says, want) if says == want => says.to_owned(),
            (says, want) => format!("{says} ({want})"),
        };
        rows.push(Row {
            quantity: p.quantity.to_owned(),
            published: text,
            ours: value.map_or_else(|| "not measured".to_owned(), Value::show),
            ok: value.map_or(Some(false), |v| p.want.holds(v)),
        });
    }
    let rest = measured.iter().filter(|m| published.iter().all(|p| p.quantity != m.0));
    rows.extend(rest.map(|(quantity, value)| Row {
        quantity: quantity.clone(),
        published: "–".to_owned(),
        ours: value.show(),
        ok: None,
    }));
    rows
}

impl Finding {
    /// True when every judged row holds and at least one was judged.
    pub fn passed(&self) -> bool {
        self.rows.iter().any(|r| r.ok == Some(true)) && self.rows.iter().all(|r| r.ok != Some(false))
    }

    /// Aligned text: published beside ours, then notes and files.
    pub fn table(&self) -> String {
        let width = |head: &str, cell: fn(&Row) -> &str| {
            let cells = self.rows.iter().map(|r| cell(r).chars().count());
            cells.fold(head.chars().count(), usize::max)
        };
        let (q, p, o) = (
            width("quantity", |r| &r.quantity),
            width("published", |r| &r.published),
            width("ours", |r| &r.ours),
        );
        let mut out = String::new();
        let _ = writeln!(out, "{}: {}\n{}\n", self.name, self.title, self.source);
        let _ = writeln!(out, "     {:<q$}  {:<p$}  ours", "quantity", "published");
        let _ = writeln!(out, "     {:─<q$}  {:─<p$}  {:─<o$}", "", "", "");
        for row in &self.rows {
            let mark = match row.ok {
                Some(true) => "✓",
                Some(false) => "✗",
                None => " ",
            };
            let _ = writeln!(out, "  {mark}  {:<q$}  {:<p$}  {}", row.quantity, row.published, row.ours);
        }
        let _ = writeln!(out, "\n{}", if self.passed() { "reproduced" } else { "NOT reproduced" });
        if !self.notes.is_empty() {
            out.push_str("\nnotes\n");
            for note in &self.notes {
                let _ = writeln!(out, "  - {note}");
            }
        }
        if !self.files.is_empty() {
            out.push_str("\nfiles\n");
            for file in &self.files {
                let _ = writeln!(out, "  {}", file.display());
            }
        }
        out
    }

    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "passed": self.passed(),
            "rows": self.rows,
            "notes": self.notes,
            "files": self.files,
            "seconds": self.seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(want: Want, value: f64) -> Option<bool> {
        want.holds(&Value::Number { value, decimals: 2, unit: "" })
    }

    #[test]
    fn numbers_are_judged_as_shown() {
        assert_eq!(holds(Want::AtMost(1.24), 1.2449), Some(true));
        assert_eq!(holds(Want::AtMost(1.24), 1.2451), Some(false));
        assert_eq!(holds(Want::AtLeast(0.85), 0.85), Some(true));
        assert_eq!(holds(Want::Near { value: 2.0, within: 0.1 }, 1.79), Some(false));
        assert_eq!(holds(Want::Near { value: 2.0, within: 0.1 }, 2.19), Some(true));
        assert_eq!(holds(Want::Text("2"), 2.0), Some(false));
        assert_eq!(holds(Want::Any, f64::NAN), None);
        assert_eq!(holds(Want::AtLeast(0.0), f64::NAN), Some(false));
    }

    #[test]
    fn what_was_not_measured_fails() {
        let published = [Published { quantity: "a", says: "", want: Want::AtMost(1.0) }];
        let rows = judge(&published, &[("b".into(), Value::Text("x".into()))]);
        assert_eq!(rows.iter().map(|r| r.ok).collect::<Vec<_>>(), [Some(false), None]);
        let empty = Finding {
            name: String::new(),
            title: String::new(),
            source: String::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
            seconds: 0.0,
        };
        assert!(!empty.passed(), "nothing judged is nothing shown");
    }

    #[test]
    fn a_finding_can_be_read_again() {
        let row =
            |ok| Row {
                quantity: "ratio, \"w\"".into(), published: "≥ 1.1".into(), ours: "1.24".into(), ok
            };
        let written = Finding {
            name: "x-1".into(),
            title: "a title".into(),
            source: "\"A document\", table 1".into(),
            rows: vec![row(Some(true)), row(Some(false)), row(None)],
            notes: vec!["one\ntwo".into()],
            files: vec!["out/x-1.csv".into()],
            seconds: 1.25,
        };
        let text = serde_json::to_string(&written).unwrap();
        let read: Finding = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
        assert!(!read.passed());
        assert_eq!(read.to_json()["seconds"], 1.25);
        assert_eq!(
            read.table(),
            Finding { seconds: 9.0, ..written }.table(),
            "time is not part of the result"
        );
        let old = text.replace(",\"seconds\":1.25", "");
        assert_ne!(old, text);
        assert_eq!(serde_json::from_str::<Finding>(&old).unwrap().seconds, 0.0);
    }
}
