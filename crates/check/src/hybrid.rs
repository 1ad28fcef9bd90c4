//! Checks certificates of hybrid bounds by own time and waits (docs/certificate.md): the longest way of each launch, by weights that are
//! measured, and the sum with what runs showed. Nothing in them is called proved: the only statuses are `hybrid` and `observed`, and
//! which of the two follows from the limits of loops.

use crate::error::CheckError;
use crate::format::{Number, Proof};
use crate::proved::{Geometry, Named, heaviest_ways, own_time};
use crate::{check_digest, read};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The format of such certificates.
pub const FORMAT: &str = "wavebound-hybrid";
const VERSION: u32 = 1;

/// Fields with measured numbers: a certificate says which, and there are no others.
const MEASURED: [&str; 3] = ["terms.proofs", "launches.shown", "runs"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    status: String,
    kernel: String,
    checksum: String,
    machine: Named,
    runs: u32,
    inputs: u32,
    measured: Vec<String>,
    terms: Vec<Terms>,
    launches: Vec<Launch>,
    bound: Number,
    assumptions: Vec<String>,
    digest: String,
}

/// The heaviest ways of launches, and the limits of loops they rest on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Terms {
    limits: Vec<Limit>,
    proofs: BTreeMap<String, Proof>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    pc: u32,
    max: Number,
    origin: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Launch {
    launch: String,
    geometry: Geometry,
    scale: u64,
    together: bool,
    ends: u64,
    lead_in: u64,
    terms: usize,
    shown: Shown,
    cycles: u64,
}

/// What a run showed, in parts of a cycle: own times of all groups together, and the longest that one ended after its own time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    cycles: u64,
    own: Number,
    waits: Number,
}

/// What a certificate of a hybrid bound by own time and waits says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybridReport {
    pub status: String,
    pub kernel: String,
    pub checksum: String,
    pub machine: (String, String),
    /// Runs of each launch that were measured, and different inputs among them.
    pub runs: u32,
    pub inputs: u32,
    /// Of all launches together.
    pub bound: u64,
    /// Hash of each launch, and its cycles.
    pub launches: Vec<(String, u64)>,
    pub assumptions: Vec<String>,
}

/// Checks a certificate of a hybrid bound by own time and waits.
pub fn check_hybrid(json: &str) -> Result<HybridReport, CheckError> {
    let document: Document = read(json)?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(CheckError::Version { format: document.format, version: document.version });
    }
    check_digest(json, &document.digest)?;
    let wrong = |place: &str, what: String| CheckError::Binding { place: place.to_owned(), what };
    let observed = document.terms.iter().flat_map(|t| &t.limits).any(|l| l.origin == "observed");
    let status = if observed { "observed" } else { "hybrid" };
    if document.status != status {
        let what = format!("is `{}`; what it rests on makes it `{status}`", document.status);
        return Err(wrong("status", what));
    }
    if document.measured != MEASURED {
        return Err(wrong("measured", format!("must be {}", MEASURED.join(", "))));
    }
    let terms = document.terms.iter().enumerate().map(|(i, t)| check_terms(i, t));
    let terms = terms.collect::<Result<Vec<_>, CheckError>>()?;
    let mut sum = 0u64;
    let mut launches = Vec::new();
    for (i, launch) in document.launches.iter().enumerate() {
        let place = format!("launches[{i}]");
        let heaviest =
            terms.get(launch.terms).ok_or_else(|| wrong(&place, "there are no such terms".into()))?;
        let cycles = check_launch(&place, launch, heaviest)?;
        if cycles != i128::from(launch.cycles) {
            return Err(wrong(&place, format!("the terms make {cycles} cycles, not {}", launch.cycles)));
        }
        if launch.cycles < launch.shown.cycles {
            return Err(wrong(&place, format!("a run took {} cycles", launch.shown.cycles)));
        }
        let over = CheckError::Overflow("the bound of all launches");
        sum = sum.checked_add(launch.cycles).ok_or(over)?;
        launches.push((launch.launch.clone(), launch.cycles));
    }
    if i128::from(sum) != document.bound.0 {
        return Err(wrong("bound", format!("the launches take {sum} cycles, not {}", document.bound.0)));
    }
    let Document { status, kernel, checksum, machine, runs, inputs, assumptions, .. } = document;
    let machine = (machine.name, machine.hash);
    Ok(HybridReport { status, kernel, checksum, machine, runs, inputs, bound: sum, launches, assumptions })
}

/// The heaviest ways, if the loops in them go round as often as the limits say.
fn check_terms(index: usize, terms: &Terms) -> Result<BTreeMap<&str, i128>, CheckError> {
    let limits: BTreeMap<String, i128> =
        terms.limits.iter().map(|l| (format!("pc {}", l.pc), l.max.0)).collect();
    for (name, proof) in &terms.proofs {
        let wrong =
            |what: String| CheckError::Binding { place: format!("terms[{index}].proofs.{name}"), what };
        for l in &proof.loops {
            let header = proof.nodes.get(l.header).map_or("", |n| n.name.as_str());
            match limits.get(header) {
                Some(max) if *max == l.max.0 => {}
                Some(max) => return Err(wrong(format!("the limit of the loop at {header} is {max}"))),
                None => return Err(wrong(format!("the loop at `{header}` has no limit"))),
            }
        }
    }
    heaviest_ways(&terms.proofs)
}

/// Cycles of a launch: own time of the longest way, what the run showed beyond own times, and own time of groups before the last.
fn check_launch(place: &str, launch: &Launch, heaviest: &BTreeMap<&str, i128>) -> Result<i128, CheckError> {
    let g = &launch.geometry;
    let number = |name: &str| CheckError::Number { place: format!("{place}.{name}") };
    let seats = i128::from(g.cores) * i128::from(g.groups_per_core);
    if launch.scale == 0 || seats == 0 {
        return Err(number(if launch.scale == 0 { "scale" } else { "geometry" }));
    }
    let shown = &launch.shown;
    if shown.own.0 < 0 || shown.waits.0 < 0 {
        return Err(number("shown"));
    }
    let over = || CheckError::Overflow("the bound of a launch");
    let scale = i128::from(launch.scale);
    let lead_in = i128::from(launch.lead_in) * scale;
    let own = own_time(heaviest, launch.together, launch.ends, lead_in)?;
    let before = match i128::from(g.groups) <= seats {
        true => 0,
        false => {
            let all = own.checked_mul(g.groups.into()).ok_or_else(over)?;
            if shown.own.0 > all {
                let what = "groups of the run took longer ways than the longest one".to_owned();
                return Err(CheckError::Binding { place: format!("{place}.shown.own"), what });
            }
            ceil(all - shown.own.0, seats)
        }
    };
    let sum = own.checked_add(before).and_then(|s| s.checked_add(shown.waits.0)).ok_or_else(over)?;
    Ok(ceil(sum, scale))
}

fn ceil(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) > 0)
}
