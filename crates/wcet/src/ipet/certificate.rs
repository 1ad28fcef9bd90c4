//! The proof that goes with a bound, as JSON that `wb-check` or anyone else can verify without a solver (design
//! "Worst-case execution time analysis", pipeline step 4; docs/certificate.md describes the format).

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::IpetError;
use super::rows::Rows;
use crate::graph::{Count, EdgeId, Model, NodeId};

pub const FORMAT: &str = "wavebound-proof";
pub const VERSION: u32 = 2;
/// Multipliers are whole numbers of 2⁻²⁰.
pub const SCALE_BITS: u32 = 20;
pub const SCALE: i128 = 1 << SCALE_BITS;

/// A whole number; in JSON a string when it is beyond 2⁵³, where readers that use floats would change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole(pub i128);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    pub format: String,
    pub version: u32,
    pub bound: Whole,
    pub entry: NodeId,
    pub exit: NodeId,
    pub nodes: Vec<CertifiedNode>,
    pub edges: Vec<CertifiedEdge>,
    pub loops: Vec<CertifiedLoop>,
    pub facts: Vec<CertifiedFact>,
    pub y: Multipliers,
    /// Per edge, how often it can be taken; empty when no edge needs it.
    pub limits: Vec<Option<Whole>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedNode {
    pub name: String,
    pub cost: Whole,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedEdge {
    pub from: NodeId,
    pub to: NodeId,
    pub cost: Whole,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedLoop {
    pub header: NodeId,
    pub max: Whole,
    pub back: Vec<EdgeId>,
    pub entries: Vec<EdgeId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedFact {
    pub name: String,
    pub terms: Vec<CertifiedTerm>,
    pub limit: Whole,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedTerm {
    pub factor: Whole,
    #[serde(flatten)]
    pub count: Count,
}

/// The dual solution y, in units of 2⁻²⁰.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Multipliers {
    pub nodes: Vec<Whole>,
    pub loops: Vec<Whole>,
    pub facts: Vec<Whole>,
}

impl Certificate {
    pub fn new(model: &Model, rows: &Rows, y: Multipliers, limits: Vec<Option<Whole>>, bound: u64) -> Self {
        let whole = |value: u64| Whole(i128::from(value));
        let graph = &model.graph;
        let nodes =
            graph.nodes.iter().map(|n| CertifiedNode { name: n.name.clone(), cost: whole(n.cost) }).collect();
        let edges = graph
            .edges
            .iter()
            .map(|e| CertifiedEdge { from: e.from, to: e.to, cost: whole(e.cost) })
            .collect();
        let loops = rows
            .loops
            .iter()
            .map(|row| CertifiedLoop {
                header: row.header,
                max: whole(row.max),
                back: row.back.clone(),
                entries: row.entries.clone(),
            })
            .collect();
        let term = |&(factor, count): &(i64, Count)| CertifiedTerm { factor: Whole(factor.into()), count };
        let facts = model
            .facts
            .iter()
            .map(|fact| CertifiedFact {
                name: fact.name.clone(),
                terms: fact.terms.iter().map(term).collect(),
                limit: Whole(fact.limit.into()),
            })
            .collect();
        Certificate {
            format: FORMAT.to_owned(),
            version: VERSION,
            bound: whole(bound),
            entry: graph.entry,
            exit: graph.exit,
            nodes,
            edges,
            loops,
            facts,
            y,
            limits,
        }
    }

    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    pub fn from_json(text: &str) -> Result<Certificate, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Which edges the multipliers leave a positive rest on, and the value of y·b, both in units of 2⁻²⁰.
pub struct Rest {
    pub value: i128,
    pub edges: Vec<(EdgeId, i128)>,
}

fn too_large() -> IpetError {
    IpetError::Overflow { what: "a number of the certificate".to_owned() }
}

/// y·b and the positive parts of c − Aᵀy, exactly.
pub fn rest(model: &Model, rows: &Rows, useful: &[bool], y: &Multipliers) -> Result<Rest, IpetError> {
    let graph = &model.graph;
    let times = |a: i128, b: i128| a.checked_mul(b).ok_or_else(too_large);
    let plus = |a: i128, b: i128| a.checked_add(b).ok_or_else(too_large);
    let mut left: Vec<i128> = Vec::with_capacity(graph.edges.len());
    for (edge, &weight) in graph.edges.iter().zip(&rows.weight) {
        let (from, to) = (y.nodes[edge.from].0, y.nodes[edge.to].0);
        left.push(plus(plus(times(weight, SCALE)?, -from)?, to)?);
    }
    let mut value = plus(times(rows.start, SCALE)?, plus(y.nodes[graph.entry].0, -y.nodes[graph.exit].0)?)?;
    for (row, z) in rows.loops.iter().zip(&y.loops) {
        let surcharge = times(i128::from(row.max), z.0)?;
        if row.starts_inside {
            value = plus(value, surcharge)?;
        }
        for &e in &row.back {
            left[e] = plus(left[e], -z.0)?;
        }
        for &e in &row.entries {
            left[e] = plus(left[e], surcharge)?;
        }
    }
    for (row, t) in rows.facts.iter().zip(&y.facts) {
        value = plus(value, times(t.0, row.limit)?)?;
        for &(e, factor) in &row.terms {
            left[e] = plus(left[e], -times(t.0, factor)?)?;
        }
    }
    let edges = left.into_iter().enumerate().filter(|&(e, rest)| useful[e] && rest > 0).collect();
    Ok(Rest { value, edges })
}

/// The largest whole number of cycles an execution can take if its cost is at most `value` · 2⁻²⁰.
pub fn floor_cycles(value: i128) -> Result<u64, IpetError> {
    u64::try_from(value.div_euclid(SCALE).max(0))
        .map_err(|_| IpetError::Overflow { what: "the bound".to_owned() })
}

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(small) if small.unsigned_abs() <= 1 << 53 => serializer.serialize_i64(small),
            _ => serializer.collect_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number, or a string that holds one")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Whole, E> {
                Ok(Whole(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Whole, E> {
                Ok(Whole(value.into()))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Whole, E> {
                value.parse().map(Whole).map_err(|_| E::custom(format!("`{value}` is no whole number")))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
