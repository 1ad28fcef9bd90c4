//! Checks certificates of bounds. It shares no code with the analyser and needs no solver, so that whoever relies
//! on a bound has to trust only this crate (docs/certificate.md).

pub mod binding;
mod claim;
mod document;
mod error;
mod flow;
mod format;
mod hybrid;
mod limits;
mod proved;
mod value;

use std::collections::BTreeMap;

use binding::Binding;
use claim::{Claim, What};
use document::{Document, Header};
pub use error::CheckError;
use flow::Flow;
pub use format::Number;
pub use hybrid::{FORMAT as HYBRID_FORMAT, HybridReport, check_hybrid};
pub use proved::{FORMAT as PROVED_FORMAT, ProvedReport, check_proved};

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
    /// What it is about; none of a proof alone.
    pub binding: Option<Binding>,
    /// Edges of the graph: from, to, cycles; and the facts' names.
    pub ways: Vec<(usize, usize, u64)>,
    pub fact_names: Vec<String>,
}

fn read<'a, T: serde::Deserialize<'a>>(json: &'a str) -> Result<T, CheckError> {
    serde_json::from_str(json).map_err(|error| CheckError::Syntax(error.to_string()))
}

/// The text in front of the digest, which is the last field.
const DIGEST: &str = ",\"digest\":\"";

/// The digest that belongs at the end of a certificate: of all bytes in front of `,"digest":`.
pub fn digest(json: &str) -> Option<String> {
    let (body, _) = json.rsplit_once(DIGEST)?;
    Some(binding::hash(body.as_bytes()))
}

/// The last field is the digest of what is in front of it.
fn check_digest(json: &str, found: &str) -> Result<(), CheckError> {
    let right =
        digest(json).ok_or_else(|| CheckError::Syntax("the digest is not the last field".to_owned()))?;
    if found != right
        || json.rsplit_once(DIGEST).is_none_or(|(_, end)| end.trim_end() != format!("{right}\"}}"))
    {
        return Err(CheckError::Digest { found: found.to_owned(), right });
    }
    Ok(())
}

/// Checks a certificate: its proof, its composition, and that it agrees with itself. If it says Ok, every way through the
/// graph that keeps to the assumptions takes at most `bound` cycles, and launches composed of such waves at most `total`.
/// Whether graph, limits, machine and launches are those of a program is not known here: that needs the program.
pub fn check(json: &str) -> Result<Report, CheckError> {
    let header: Header = read(json)?;
    match (header.format.as_str(), header.version) {
        ("wavebound-certificate", 2) => {}
        ("wavebound-certificate", 1) => return Err(CheckError::Unbound),
        _ => return Err(CheckError::Version { format: header.format, version: header.version }),
    }
    let document: Document = read(json)?;
    debug_assert!(document.format == header.format && document.version == header.version);
    check_digest(json, &document.digest)?;
    let (mut report, claim) = check_claim(&document.proof)?;
    document.binding.check(&claim)?;
    report.assumptions.truncate(2);
    report.assumptions.extend(document.binding.assumptions());
    report.assumptions.extend(facts(&claim));
    report.binding = Some(document.binding);
    report.about = document.about;
    Ok(report)
}

/// Checks the proof of a wave's bound alone, which is bound to nothing.
pub fn check_proof(json: &str) -> Result<Report, CheckError> {
    Ok(check_claim(&read(json)?)?.0)
}

fn check_claim(document: &format::Proof) -> Result<(Report, Claim), CheckError> {
    let claim = Claim::read(document)?;
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
    let cost = |e: &claim::Link| u64::try_from(e.cost).unwrap_or(u64::MAX);
    let report = Report {
        bound,
        value,
        nodes: claim.names.len(),
        edges: claim.edges.len(),
        loops: claim.loops.len(),
        facts: claim.facts.len(),
        assumptions: assumptions(&claim),
        about: BTreeMap::new(),
        binding: None,
        ways: claim.edges.iter().map(|e| (e.from, e.to, cost(e))).collect(),
        fact_names: claim.facts.iter().map(|f| f.name.clone()).collect(),
    };
    drop(flow);
    Ok((report, claim))
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

/// After removing every edge that bounds and facts limit, the graph must be acyclic.
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
    list.extend(facts(claim));
    list
}

fn facts(claim: &Claim) -> Vec<String> {
    let name = |v: usize| &claim.names[v];
    let mut list = Vec::new();
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
