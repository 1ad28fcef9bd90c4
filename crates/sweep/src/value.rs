//! Values of axes and measures: numbers, words, lists of words.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A coordinate of a point, or something that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<String>),
}

impl Value {
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Float(x) => Some(*x),
            Value::Bool(_) | Value::Text(_) | Value::List(_) => None,
        }
    }

    /// Equal as a user writes them: 1 and 1.0 are.
    pub fn same(&self, other: &Value) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a == b,
            _ => self == other,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Text(_) | Value::List(_) => Kind::Text,
        }
    }
}

/// As in a table: lists with a space between their words.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Bool(b) => f.pad(if *b { "true" } else { "false" }),
            Value::Int(n) => f.pad(&n.to_string()),
            Value::Float(x) => f.pad(&x.to_string()),
            Value::Text(text) => f.pad(text),
            Value::List(words) => f.pad(&words.join(" ")),
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

impl Kind {
    /// The type that holds both.
    pub fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => Kind::Float,
            _ => Kind::Text,
        }
    }
}
