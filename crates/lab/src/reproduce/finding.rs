//! What came out of an experiment beside what was published. Published values are data and measured values
//! are data; only [`judge`] brings them together, so a wrong expectation cannot pass.

use super::verdict::{Judged, Published, Value, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::PathBuf;

/// One quantity, published and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    pub quantity: String,
    pub published: String,
    pub ours: String,
    /// None = information only.
    pub verdict: Option<Verdict>,
    /// Why it is not reproduced; empty where it is, or where nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Row {
    /// Not what was published, and no reason is known: something broke.
    pub fn unexplained(&self) -> bool {
        self.verdict.is_some_and(|v| v != Verdict::Reproduced) && self.why.is_empty()
    }
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
            ("", want) if p.want.is_printed() => want.to_owned(),
            // What must hold, but nobody printed.
            ("", want) => format!("not printed ({want})"),
            (says, "") => says.to_owned(),
            (says, want) if says == want => says.to_owned(),
            (says, want) => format!("{says} ({want})"),
        };
        let judged = match value {
            Some(value) => p.want.judge(value),
            None => Some(Judged { verdict: Verdict::Differs, why: "" }),
        };
        rows.push(Row {
            quantity: p.quantity.to_owned(),
            published: text,
            ours: value.map_or_else(|| "not measured".to_owned(), Value::show),
            verdict: judged.map(|j| j.verdict),
            why: judged.map_or(String::new(), |j| j.why.to_owned()),
        });
    }
    let rest = measured.iter().filter(|m| published.iter().all(|p| p.quantity != m.0));
    rows.extend(rest.map(|(quantity, value)| Row {
        quantity: quantity.clone(),
        published: "–".to_owned(),
        ours: value.show(),
        verdict: None,
        why: String::new(),
    }));
    rows
}

impl Finding {
    /// The worst of its rows; nothing judged is nothing shown.
    pub fn verdict(&self) -> Verdict {
        self.rows.iter().filter_map(|r| r.verdict).max().unwrap_or(Verdict::Differs)
    }

    /// Something was judged, and every row that is not reproduced has a reason that is known.
    pub fn passed(&self) -> bool {
        self.rows.iter().any(|r| r.verdict.is_some()) && !self.rows.iter().any(Row::unexplained)
    }

    /// `reproduced`, `shape only`, `differs`, or that nobody knows why it differs.
    pub fn badge(&self) -> String {
        let known = if self.passed() { "" } else { ", and no reason is known" };
        format!("{}{known}", self.verdict().name())
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
            let mark = row.verdict.map_or(" ", Verdict::mark);
            let _ = writeln!(out, "  {mark}  {:<q$}  {:<p$}  {}", row.quantity, row.published, row.ours);
        }
        let _ = writeln!(out, "\n{}", self.badge());
        for row in self.rows.iter().filter(|r| r.verdict.is_some_and(|v| v != Verdict::Reproduced)) {
            let why = if row.unexplained() { "no reason is known: something broke" } else { &row.why };
            let _ = writeln!(out, "  - {}: {why}", row.quantity);
        }
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

    pub fn to_json(&self) -> FindingJson<'_> {
        FindingJson {
            name: &self.name,
            title: &self.title,
            source: &self.source,
            verdict: self.verdict(),
            passed: self.passed(),
            rows: &self.rows,
            notes: &self.notes,
            files: &self.files,
            seconds: self.seconds,
        }
    }
}

/// What `reproduce --json` prints of an experiment.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct FindingJson<'a> {
    name: &'a str,
    title: &'a str,
    source: &'a str,
    verdict: Verdict,
    passed: bool,
    rows: &'a [Row],
    notes: &'a [String],
    files: &'a [PathBuf],
    /// Time of the experiment on the host.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Want;
    use super::*;

    #[test]
    fn what_was_not_measured_fails() {
        let published = [Published { quantity: "a", says: "", want: Want::AtMost(1.0) }];
        let rows = judge(&published, &[("b".into(), Value::Text("x".into()))]);
        assert_eq!(rows.iter().map(|r| r.verdict).collect::<Vec<_>>(), [Some(Verdict::Differs), None]);
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
        let row = |verdict| Row {
            quantity: "ratio, \"w\"".into(),
            published: "≥ 1.1".into(),
            ours: "1.24".into(),
            verdict,
            why: String::new(),
        };
        let written = Finding {
            name: "x-1".into(),
            title: "a title".into(),
            source: "\"A document\", table 1".into(),
            rows: vec![row(Some(Verdict::Reproduced)), row(Some(Verdict::Differs)), row(None)],
            notes: vec!["one\ntwo".into()],
            files: vec!["out/x-1.csv".into()],
            seconds: 1.25,
        };
        let text = serde_json::to_string(&written).unwrap();
        let read: Finding = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
        assert!(!read.passed());
        assert_eq!(read.to_json().seconds, 1.25);
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
