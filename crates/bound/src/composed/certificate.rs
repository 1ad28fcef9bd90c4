//! The certificate of a hybrid bound by own time and waits: the heaviest ways of every launch with their multipliers, what runs showed,
//! and which numbers are measured (docs/certificate.md). `wb-check` checks it without the analyser.

use super::launch::ComposedLaunch;
use crate::kernel::AnalysedKernel;
use crate::result::Status;
use crate::source::hash;
use serde::Serialize;
use serde_json::Value;
use wb_facts::LoopFact;

/// Fields with measured numbers.
const MEASURED: [&str; 3] = ["terms.proofs", "launches.shown", "runs"];

/// Terms of own time; what waves ask of each other is not part of the bound.
const TERMS: [&str; 6] = ["own", "passed", "first", "middle", "last", "ending"];

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    status: &'static str,
    kernel: &'a str,
    checksum: &'a str,
    machine: Value,
    runs: u32,
    inputs: u32,
    measured: [&'static str; 3],
    terms: Vec<Value>,
    launches: Vec<Launch>,
    bound: u64,
    assumptions: &'a [String],
}

#[derive(Serialize)]
struct Launch {
    launch: String,
    geometry: Value,
    scale: u64,
    together: bool,
    ends: u64,
    lead_in: u64,
    /// Number of its terms: launches with the same ways share them.
    terms: usize,
    shown: Value,
    cycles: u64,
}

/// What a certificate says beside the launches.
pub(crate) struct About<'a> {
    pub kernel: &'a AnalysedKernel,
    pub status: Status,
    /// Runs, and different inputs among them.
    pub runs: (u32, u32),
    pub assumptions: &'a [String],
}

/// The certificate of all launches of a kernel.
pub(super) fn text<'a>(about: &About, launches: impl Iterator<Item = &'a ComposedLaunch>) -> String {
    let mut terms: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    for launch in launches {
        let own = terms_of(launch);
        let at = terms.iter().position(|t| *t == own).unwrap_or_else(|| {
            terms.push(own);
            terms.len() - 1
        });
        rows.push(row(launch, at));
    }
    let machine = &about.kernel.machine;
    let document = Document {
        format: wb_check::HYBRID_FORMAT,
        version: 1,
        status: about.status.name(),
        kernel: &about.kernel.name,
        checksum: &about.kernel.checksum,
        machine: serde_json::json!({ "name": machine.name, "hash": hash(machine.to_toml().as_bytes()) }),
        runs: about.runs.0,
        inputs: about.runs.1,
        measured: MEASURED,
        terms,
        bound: rows.iter().fold(0, |sum, l| sum.saturating_add(l.cycles)),
        launches: rows,
        assumptions: about.assumptions,
    };
    let body = serde_json::to_string(&document).unwrap_or_default();
    let body = body.strip_suffix('}').unwrap_or(&body);
    let digest = wb_check::digest(&format!("{body},\"digest\":\"\"}}")).unwrap_or_default();
    format!("{body},\"digest\":\"{digest}\"}}")
}

/// The heaviest ways of own time, and the limits they rest on.
fn terms_of(launch: &ComposedLaunch) -> Value {
    let limit = |l: &LoopFact| serde_json::json!({ "pc": l.header, "max": l.max, "origin": l.origin.name() });
    let limits: Vec<Value> = launch.limits.iter().map(limit).collect();
    let proofs: serde_json::Map<String, Value> = TERMS
        .iter()
        .filter_map(|&name| {
            Some((name.to_owned(), serde_json::to_value(launch.terms.proofs.get(name)?).ok()?))
        })
        .collect();
    serde_json::json!({ "limits": limits, "proofs": proofs })
}

fn row(launch: &ComposedLaunch, terms: usize) -> Launch {
    let (found, shown) = (&launch.terms, &launch.shown);
    Launch {
        launch: launch.shape.hash(),
        geometry: crate::proved::geometry(&found.geometry),
        scale: found.scale,
        together: found.wave.pieces.is_none(),
        ends: found.wave.ends,
        lead_in: found.lead_in,
        terms,
        shown: serde_json::json!({
            "cycles": shown.cycles,
            "own": shown.own.to_string(),
            "waits": shown.waits.to_string(),
        }),
        cycles: launch.cycles,
    }
}

/// Whether a text is meant to be such a certificate.
pub fn is_hybrid_certificate(text: &str) -> bool {
    let value: Result<Value, _> = serde_json::from_str(text);
    value.is_ok_and(|v| v.get("format").and_then(|f| f.as_str()) == Some(wb_check::HYBRID_FORMAT))
}
