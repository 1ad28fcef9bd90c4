//! Checks certificates of bounds. It shares no code with the analyser and needs no solver, so that whoever relies
//! on a bound has to trust only this crate (docs/certificate.md).

mod claim;
mod flow;
mod format;
mod limits;
mod value;

use std::collections::BTreeMap;

use thiserror::Error;

use claim::{Claim, What};
use flow::Flow;

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    #[error("not a certificate: {0}; hint: docs/certificate.md describes the format")]
    Syntax(String),
    #[error(
        "`{format}` version {version} is not known; hint: this checker reads `wavebound-certificate` version 1"
    )]
    Version { format: String, version: u32 },
    #[error("{place}: {value} is out of range, there are {len}")]
    Index { place: String, value: usize, len: usize },
    #[error("{place}: not a number of the right range")]
    Number { place: String },
    #[error("{place}: {found} numbers instead of {expected}")]
    Length { place: String, found: usize, expected: usize },
    #[error("{place}: something is listed twice")]
    Twice { place: String },
    #[error("{place}: a term counts one node or one edge")]
    Term { place: String },
    #[error("edges[{edge}] leaves the exit")]
    LeavesExit { edge: usize },
    #[error("there is no way from entry to exit")]
    NoWay,
    #[error("loops[{index}]: `{name}` is no header of a loop that runs")]
    NoLoop { index: usize, name: String },
    #[error("loops[{index}] at `{name}`: the {which} edges are {expected:?}")]
    LoopEdges { index: usize, name: String, which: &'static str, expected: Vec<usize> },
    #[error("there is a cycle that no loop bound and no fact limits")]
    Endless,
    #[error("limits[{edge}]: the edge can be taken more often than {limit} times, as far as the bounds tell")]
    Limit { edge: usize, limit: i128 },
    #[error("edges[{edge}]: the multipliers leave a rest, and there is no limit for the edge")]
    NoLimit { edge: usize },
    #[error("{0} does not fit into 128 bits")]
    Overflow(&'static str),
    #[error("the bound {bound} is not proven: the certificate proves {proven}")]
    Bound { bound: i128, proven: i128 },
}

/// What a certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// No execution takes more cycles.
    pub bound: u64,
    /// What the multipliers prove exactly, in units of 2⁻²⁰ cycles.
    pub value: i128,
    pub nodes: usize,
    pub edges: usize,
    pub loops: usize,
    pub facts: usize,
    /// The bound holds for every execution of the graph for which these are true.
    pub assumptions: Vec<String>,
    /// The free text of the certificate, which is not checked.
    pub about: BTreeMap<String, String>,
}

/// Checks a certificate. If it says Ok, every way through the graph that keeps to the assumptions takes at most
/// `bound` cycles.
pub fn check(json: &str) -> Result<Report, CheckError> {
    let document: format::Document =
        serde_json::from_str(json).map_err(|error| CheckError::Syntax(error.to_string()))?;
    let claim = Claim::read(&document)?;
    let flow = Flow::new(&claim).ok_or(CheckError::NoWay)?;
    let natural = flow.natural_back_edges();
    check_loops(&flow, &natural)?;
    check_cycles(&flow)?;
    if !claim.limits.is_empty() {
        check_limits(&flow)?;
    }
    let value = value::evaluate(&flow, &natural)?;
    let proven = value.div_euclid(value::SCALE);
    if claim.bound < proven {
        return Err(CheckError::Bound { bound: claim.bound, proven });
    }
    let bound = u64::try_from(claim.bound).map_err(|_| CheckError::Overflow("the bound"))?;
    Ok(Report {
        bound,
        value,
        nodes: claim.names.len(),
        edges: claim.edges.len(),
        loops: claim.loops.len(),
        facts: claim.facts.len(),
        assumptions: assumptions(&claim),
        about: document.about,
    })
}

/// Each loop lists exactly the edges that go back to its header and that enter it.
fn check_loops(flow: &Flow, natural: &[bool]) -> Result<(), CheckError> {
    for (index, one) in flow.claim.loops.iter().enumerate() {
        let name = || flow.claim.names[one.header].clone();
        let (back, entries) = flow.loop_edges(one.header, natural);
        if back.is_empty() || !flow.runs[one.header] {
            return Err(CheckError::NoLoop { index, name: name() });
        }
        for (which, listed, expected) in [("back", &one.back, back), ("entry", &one.entries, entries)] {
            if *listed != expected {
                return Err(CheckError::LoopEdges { index, name: name(), which, expected });
            }
        }
    }
    Ok(())
}

/// Without the edges that bounds and facts limit nothing goes round.
fn check_cycles(flow: &Flow) -> Result<(), CheckError> {
    let mut cut: Vec<bool> = flow.fact_limits().iter().map(Option::is_some).collect();
    for &e in flow.claim.loops.iter().flat_map(|one| &one.back) {
        cut[e] = true;
    }
    if flow.has_cycle_without(&cut) { Err(CheckError::Endless) } else { Ok(()) }
}

/// No limit is lower than what bounds and facts justify.
fn check_limits(flow: &Flow) -> Result<(), CheckError> {
    let justified = limits::justified(flow);
    for (edge, (claimed, justified)) in flow.claim.limits.iter().zip(justified).enumerate() {
        if let Some(limit) = *claimed
            && flow.edge_runs(edge)
            && justified.is_none_or(|least| limit < least)
        {
            return Err(CheckError::Limit { edge, limit });
        }
    }
    Ok(())
}

fn assumptions(claim: &Claim) -> Vec<String> {
    let name = |v: usize| &claim.names[v];
    let mut list = vec![
        "a way through the graph takes the sum of the times of its nodes and edges".to_owned(),
        format!("every execution is a way from `{}` to `{}`", name(claim.entry), name(claim.exit)),
    ];
    for one in &claim.loops {
        let header = name(one.header);
        list.push(format!(
            "the loop at `{header}` goes back at most {} times each time it is entered",
            one.max
        ));
    }
    for fact in &claim.facts {
        let term = |&(factor, what): &(i128, What)| match what {
            What::Node(v) => format!("{factor} · `{}`", name(v)),
            What::Edge(e) => {
                format!("{factor} · (`{}` → `{}`)", name(claim.edges[e].from), name(claim.edges[e].to))
            }
        };
        let terms: Vec<String> = fact.terms.iter().map(term).collect();
        let sum = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        list.push(format!("fact `{}`: {sum} ≤ {}", fact.name, fact.limit));
    }
    list
}
