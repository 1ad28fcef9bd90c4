//! The certificate as it is written (docs/certificate.md): read strictly, nothing unknown is skipped.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A whole number, as a JSON number or as a string of digits.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Signed(i64),
    Unsigned(u64),
    Text(String),
}

impl Number {
    pub fn value(&self) -> Option<i128> {
        match self {
            Number::Signed(value) => Some((*value).into()),
            Number::Unsigned(value) => Some((*value).into()),
            Number::Text(text) => text.parse().ok(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub format: String,
    pub version: u32,
    pub about: BTreeMap<String, String>,
    pub bound: Number,
    pub entry: usize,
    pub exit: usize,
    pub nodes: Vec<NodeEntry>,
    pub edges: Vec<EdgeEntry>,
    pub loops: Vec<LoopEntry>,
    pub facts: Vec<FactEntry>,
    pub y: Duals,
    pub limits: Vec<Option<Number>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEntry {
    pub name: String,
    pub cost: Number,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeEntry {
    pub from: usize,
    pub to: usize,
    pub cost: Number,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopEntry {
    pub header: usize,
    pub max: Number,
    pub back: Vec<usize>,
    pub entries: Vec<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactEntry {
    pub name: String,
    pub terms: Vec<TermEntry>,
    pub limit: Number,
}

/// Either `node` or `edge` is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermEntry {
    pub factor: Number,
    pub node: Option<usize>,
    pub edge: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duals {
    pub nodes: Vec<Number>,
    pub loops: Vec<Number>,
    pub facts: Vec<Number>,
}
