//! The certificate of a proved bound: what it is of, the heaviest way of every term with its multipliers, and the numbers of the
//! composition (docs/certificate.md). `wb-check` checks it without the analyser; with the program it is proved again and compared.

use super::ask::ProvedLaunch;
use crate::source::hash;
use serde::Serialize;
use serde_json::Value;
use wb_hw::Machine;
use wb_proved::{Geometry, Proofs};

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    kernel: &'a str,
    checksum: &'a str,
    machine: Named<'a>,
    launches: Vec<Value>,
    bound: u64,
    assumptions: &'a [String],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    hash: String,
}

#[derive(Serialize)]
struct Launch<'a> {
    launch: String,
    times: u64,
    geometry: Value,
    scale: u64,
    together: bool,
    ends: u64,
    barriers: bool,
    lead_in: u64,
    fills: String,
    cold: String,
    cold_again: String,
    caches: Vec<Value>,
    terms: &'a Proofs,
    cycles: u64,
}

/// One launch as the certificate has it.
pub(crate) fn entry(launch: &ProvedLaunch, machine: &Machine, times: u64) -> Value {
    let found = &launch.found;
    let kept = |name: &String| found.kept.contains(name);
    let caches = machine.caches.iter().map(|c| serde_json::json!({ "name": c.name, "kept": kept(&c.name) }));
    let entry = Launch {
        launch: launch.shape.hash(),
        times,
        geometry: geometry(&found.geometry),
        scale: found.scale,
        together: found.wave.pieces.is_none(),
        ends: found.wave.ends,
        barriers: found.wave.barriers,
        lead_in: found.lead_in,
        fills: found.wave.fills.to_string(),
        cold: found.wave.cold.to_string(),
        cold_again: found.wave.cold_again.to_string(),
        caches: caches.collect(),
        terms: &found.proofs,
        cycles: found.cycles,
    };
    serde_json::to_value(entry).unwrap_or_default()
}

pub(crate) fn geometry(g: &Geometry) -> Value {
    serde_json::json!({
        "groups": g.groups,
        "waves_per_group": g.waves_per_group,
        "cores": g.cores,
        "partitions": g.partitions,
        "groups_per_core": g.groups_per_core,
        "waves_per_partition": g.waves_per_partition,
        "fill": g.fill,
    })
}

/// The certificate of all launches of a kernel, each shape with how often it happens.
pub(crate) fn text(
    kernel: &str,
    checksum: &str,
    machine: &Machine,
    launches: &[(&ProvedLaunch, u64)],
    assumptions: &[String],
) -> String {
    let document = Document {
        format: wb_check::PROVED_FORMAT,
        version: 2,
        kernel,
        checksum,
        machine: Named { name: &machine.name, hash: hash(machine.to_toml().as_bytes()) },
        launches: launches.iter().map(|(l, times)| entry(l, machine, *times)).collect(),
        bound: launches
            .iter()
            .map(|(l, times)| l.found.cycles.saturating_mul(*times))
            .fold(0, u64::saturating_add),
        assumptions,
    };
    let body = serde_json::to_string(&document).unwrap_or_default();
    let body = body.strip_suffix('}').unwrap_or(&body);
    let digest = wb_check::digest(&format!("{body},\"digest\":\"\"}}")).unwrap_or_default();
    format!("{body},\"digest\":\"{digest}\"}}")
}

/// Whether a text is meant to be such a certificate.
pub fn is_proved_certificate(text: &str) -> bool {
    let value: Result<Value, _> = serde_json::from_str(text);
    value.is_ok_and(|v| v.get("format").and_then(|f| f.as_str()) == Some(wb_check::PROVED_FORMAT))
}
