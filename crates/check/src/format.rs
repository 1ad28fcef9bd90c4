//! The proof of a certificate as it is written (docs/certificate.md): read strictly, nothing unknown is skipped.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// A whole number, as a JSON number or as a string of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub i128);

struct Digits;

impl Visitor<'_> for Digits {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number or a string of digits")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Number, E> {
        value.parse().map(Number).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(Digits)
    }
}

/// The bound of a wave.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub format: String,
    pub version: u32,
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
