//! A certificate with all numbers in range and all indices naming something: what the other modules work on.

use std::fmt::Arguments;

use crate::error::CheckError;
use crate::format::{FactEntry, Number, Proof};

pub struct Claim {
    pub entry: usize,
    pub exit: usize,
    pub names: Vec<String>,
    pub node_cost: Vec<i128>,
    pub edges: Vec<Link>,
    pub loops: Vec<LoopClaim>,
    pub facts: Vec<FactClaim>,
    pub node_y: Vec<i128>,
    pub loop_y: Vec<i128>,
    pub fact_y: Vec<i128>,
    /// Empty, or one for each edge.
    pub limits: Vec<Option<i128>>,
    pub bound: i128,
}

pub struct Link {
    pub from: usize,
    pub to: usize,
    pub cost: i128,
}

pub struct LoopClaim {
    pub header: usize,
    pub max: i128,
    /// Sorted.
    pub back: Vec<usize>,
    pub entries: Vec<usize>,
}

pub struct FactClaim {
    pub name: String,
    pub terms: Vec<(i128, What)>,
    pub limit: i128,
}

#[derive(Clone, Copy, Debug)]
pub enum What {
    Node(usize),
    Edge(usize),
}

fn number(place: Arguments, value: &Number, least: i128, largest: i128) -> Result<i128, CheckError> {
    if (least..=largest).contains(&value.0) {
        Ok(value.0)
    } else {
        Err(CheckError::Number { place: place.to_string() })
    }
}

fn amount(place: Arguments, value: &Number) -> Result<i128, CheckError> {
    number(place, value, 0, u64::MAX.into())
}

fn index(place: Arguments, value: usize, len: usize) -> Result<usize, CheckError> {
    if value < len { Ok(value) } else { Err(CheckError::Index { place: place.to_string(), value, len }) }
}

fn edge_list(place: Arguments, list: &[usize], len: usize) -> Result<Vec<usize>, CheckError> {
    let mut sorted = Vec::new();
    for &e in list {
        sorted.push(index(place, e, len)?);
    }
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(CheckError::Twice { place: place.to_string() });
    }
    Ok(sorted)
}

fn same_length(place: Arguments, found: usize, expected: usize) -> Result<(), CheckError> {
    if found == expected {
        Ok(())
    } else {
        Err(CheckError::Length { place: place.to_string(), found, expected })
    }
}

impl Claim {
    pub fn read(document: &Proof) -> Result<Claim, CheckError> {
        if document.format != "wavebound-proof" || document.version != 2 {
            return Err(CheckError::Version { format: document.format.clone(), version: document.version });
        }
        let (nodes, edges) = (document.nodes.len(), document.edges.len());
        same_length(format_args!("y.nodes"), document.y.nodes.len(), nodes)?;
        same_length(format_args!("y.loops"), document.y.loops.len(), document.loops.len())?;
        same_length(format_args!("y.facts"), document.y.facts.len(), document.facts.len())?;
        if !document.limits.is_empty() {
            same_length(format_args!("limits"), document.limits.len(), edges)?;
        }
        let mut claim = Claim {
            entry: index(format_args!("entry"), document.entry, nodes)?,
            exit: index(format_args!("exit"), document.exit, nodes)?,
            names: document.nodes.iter().map(|n| n.name.clone()).collect(),
            node_cost: Vec::new(),
            edges: Vec::new(),
            loops: Vec::new(),
            facts: Vec::new(),
            node_y: Vec::new(),
            loop_y: Vec::new(),
            fact_y: Vec::new(),
            limits: Vec::new(),
            bound: amount(format_args!("bound"), &document.bound)?,
        };
        for (k, node) in document.nodes.iter().enumerate() {
            claim.node_cost.push(amount(format_args!("nodes[{k}].cost"), &node.cost)?);
        }
        for (k, edge) in document.edges.iter().enumerate() {
            let from = index(format_args!("edges[{k}].from"), edge.from, nodes)?;
            let to = index(format_args!("edges[{k}].to"), edge.to, nodes)?;
            if from == claim.exit {
                return Err(CheckError::LeavesExit { edge: k });
            }
            claim.edges.push(Link { from, to, cost: amount(format_args!("edges[{k}].cost"), &edge.cost)? });
        }
        let mut taken = vec![false; nodes];
        for (k, one) in document.loops.iter().enumerate() {
            let header = index(format_args!("loops[{k}].header"), one.header, nodes)?;
            if std::mem::replace(&mut taken[header], true) {
                return Err(CheckError::Twice { place: format!("loops[{k}].header") });
            }
            claim.loops.push(LoopClaim {
                header,
                max: amount(format_args!("loops[{k}].max"), &one.max)?,
                back: edge_list(format_args!("loops[{k}].back"), &one.back, edges)?,
                entries: edge_list(format_args!("loops[{k}].entries"), &one.entries, edges)?,
            });
        }
        for (k, fact) in document.facts.iter().enumerate() {
            claim.facts.push(read_fact(format_args!("facts[{k}]"), fact, nodes, edges)?);
        }
        let any = |place: Arguments, list: &[Number], least: i128| -> Result<Vec<i128>, CheckError> {
            list.iter().map(|value| number(place, value, least, i128::MAX)).collect()
        };
        claim.node_y = any(format_args!("y.nodes"), &document.y.nodes, i128::MIN)?;
        // Rows with ≤ take no negative multiplier.
        claim.loop_y = any(format_args!("y.loops"), &document.y.loops, 0)?;
        claim.fact_y = any(format_args!("y.facts"), &document.y.facts, 0)?;
        for limit in &document.limits {
            let limit = limit.as_ref().map(|limit| number(format_args!("limits"), limit, 0, i128::MAX));
            claim.limits.push(limit.transpose()?);
        }
        Ok(claim)
    }
}

fn read_fact(
    place: Arguments,
    fact: &FactEntry,
    nodes: usize,
    edges: usize,
) -> Result<FactClaim, CheckError> {
    let (least, largest) = (i64::MIN.into(), i64::MAX.into());
    let mut terms = Vec::new();
    for term in &fact.terms {
        let what = match (term.node, term.edge) {
            (Some(v), None) => What::Node(index(place, v, nodes)?),
            (None, Some(e)) => What::Edge(index(place, e, edges)?),
            _ => return Err(CheckError::Term { place: place.to_string() }),
        };
        terms.push((number(place, &term.factor, least, largest)?, what));
    }
    let limit = number(place, &fact.limit, least, largest)?;
    Ok(FactClaim { name: fact.name.clone(), terms, limit })
}
