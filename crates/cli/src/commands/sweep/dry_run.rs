//! `wavebound sweep --dry-run`: the points, and what is known of them.

use crate::commands::{CommandResult, Printed, print, print_json, print_line};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use wavebound::sweep::{Sweep, Value};

/// The stable result of `sweep --dry-run --format json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct DryJson<'a> {
    version: u32,
    plan: &'a str,
    simulator: &'a str,
    points: u64,
    invalid: u64,
    results: u64,
    known: u64,
    missing: u64,
    list: Vec<PointJson<'a>>,
}

impl Printed for DryJson<'_> {
    const NAME: &'static str = "sweep-dry-run";
}

#[derive(Serialize, schemars::JsonSchema)]
struct PointJson<'a> {
    coordinates: BTreeMap<&'a str, &'a Value>,
    /// A result for each measure: its identity, and its status if it is known.
    results: Vec<ResultJson>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct ResultJson {
    measure: &'static str,
    id: Option<String>,
    status: Option<&'static str>,
}

pub fn show(sweep: &Sweep, json: bool) -> CommandResult {
    let plan = sweep.plan;
    let counts = sweep.counts();
    let mut list = Vec::new();
    sweep.rows(|place, ids, records| {
        if !json {
            let known =
                records.iter().flatten().map(|r| r.outcome.status.name()).collect::<Vec<_>>().join(" ");
            let known = match (ids.iter().any(Option::is_some), known.as_str()) {
                (false, _) => "no machine",
                (_, "") => "to run",
                (_, known) => known,
            };
            print(&format!("{}  [{known}]\n", plan.describe(place)));
            return Ok(());
        }
        let coordinates = plan.columns.iter().zip(plan.coordinates(place));
        let results = plan.measures.iter().zip(ids).zip(&records).map(|((m, id), r)| ResultJson {
            measure: m.name(),
            id: id.map(|i| i.to_string()),
            status: r.as_ref().map(|r| r.outcome.status.name()),
        });
        list.push(PointJson {
            coordinates: coordinates.filter_map(|(c, v)| Some((c.name.as_str(), v?))).collect(),
            results: results.collect(),
        });
        Ok(())
    })?;
    if json {
        print_json(&DryJson {
            version: 1,
            plan: &plan.name,
            simulator: wavebound::sweep::SIMULATOR,
            points: counts.points,
            invalid: counts.invalid,
            results: counts.results,
            known: counts.known,
            missing: counts.missing,
            list,
        })?;
    } else {
        print_line(&format!(
            "{} points, {} results: {} known, {} to run",
            counts.points, counts.results, counts.known, counts.missing
        ));
    }
    Ok(ExitCode::SUCCESS)
}
