//! Checks certificates of proved bounds: the heaviest way of every term, the number of waves that can be in the way, and the sum. The
//! composition is written anew from docs/proved-bounds.md (lemmas 7 and 8); nothing is shared with the analyser.

use crate::error::CheckError;
use crate::format::{Number, Proof};
use crate::{check_claim, check_digest, read};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The format of such certificates.
pub const FORMAT: &str = "wavebound-proved";
const VERSION: u32 = 2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    kernel: String,
    checksum: String,
    machine: Named,
    launches: Vec<Launch>,
    bound: Number,
    assumptions: Vec<String>,
    digest: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub name: String,
    pub hash: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Launch {
    launch: String,
    times: u64,
    geometry: Geometry,
    scale: u64,
    together: bool,
    ends: u64,
    barriers: bool,
    lead_in: u64,
    fills: Number,
    cold: Number,
    cold_again: Number,
    #[serde(rename = "caches")]
    _caches: Vec<Cache>,
    terms: BTreeMap<String, Proof>,
    cycles: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Geometry {
    pub groups: u64,
    pub waves_per_group: u64,
    pub cores: u64,
    pub partitions: u64,
    pub groups_per_core: u64,
    pub waves_per_partition: u64,
    pub fill: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cache {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "kept")]
    _kept: bool,
}

/// What a certificate of a proved bound proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedReport {
    pub kernel: String,
    pub checksum: String,
    pub machine: (String, String),
    /// Of all launches together.
    pub bound: u64,
    /// Hash of a launch, how often it happens, and its cycles.
    pub launches: Vec<(String, u64, u64)>,
    pub assumptions: Vec<String>,
}

/// Checks a certificate of a proved bound.
pub fn check_proved(json: &str) -> Result<ProvedReport, CheckError> {
    let document: Document = read(json)?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(CheckError::Version { format: document.format, version: document.version });
    }
    check_digest(json, &document.digest)?;
    let mut sum = 0i128;
    let mut launches = Vec::new();
    for (i, launch) in document.launches.iter().enumerate() {
        let wrong = |what: String| CheckError::Binding { place: format!("launches[{i}]"), what };
        let cycles = check_launch(launch)?;
        if cycles != i128::from(launch.cycles) {
            return Err(wrong(format!("the terms make {cycles} cycles, not {}", launch.cycles)));
        }
        sum = cycles
            .checked_mul(launch.times.into())
            .and_then(|all| sum.checked_add(all))
            .ok_or(CheckError::Overflow("the bound of all launches"))?;
        launches.push((launch.launch.clone(), launch.times, launch.cycles));
    }
    if sum != document.bound.0 {
        return Err(CheckError::Binding {
            place: "bound".into(),
            what: format!("the launches take {sum} cycles, not {}", document.bound.0),
        });
    }
    let bound = u64::try_from(sum).map_err(|_| CheckError::Overflow("the bound of all launches"))?;
    let Document { kernel, checksum, machine, assumptions, .. } = document;
    Ok(ProvedReport { kernel, checksum, machine: (machine.name, machine.hash), bound, launches, assumptions })
}

/// The heaviest way of each term; those over the whole kernel are about one graph.
pub(crate) fn heaviest_ways(terms: &BTreeMap<String, Proof>) -> Result<BTreeMap<&str, i128>, CheckError> {
    let mut heaviest: BTreeMap<&str, i128> = BTreeMap::new();
    let mut whole: Option<(&str, Vec<(usize, usize)>)> = None;
    for (name, proof) in terms {
        let place = || format!("terms.{name}");
        let piece = match name.as_str() {
            // Of waves that split, own time is of one path: the graph has the sides of splits apart.
            "own" if terms.contains_key("paths") => true,
            "own" | "partition" | "core" | "machine" | "passed" | "paths" => false,
            "first" | "middle" | "last" | "ending" => true,
            _ => return Err(CheckError::Binding { place: place(), what: "no such term".into() }),
        };
        let (report, _) = check_claim(proof)?;
        let ways: Vec<(usize, usize)> = report.ways.iter().map(|w| (w.0, w.1)).collect();
        match &whole {
            Some((other, known)) if !piece && *known != ways => {
                return Err(CheckError::Binding {
                    place: place(),
                    what: format!("another graph than terms.{other}"),
                });
            }
            None if !piece => whole = Some((name.as_str(), ways)),
            _ => {}
        }
        heaviest.insert(name.as_str(), report.bound.into());
    }
    Ok(heaviest)
}

fn get(heaviest: &BTreeMap<&str, i128>, name: &str) -> Result<i128, CheckError> {
    heaviest
        .get(name)
        .copied()
        .ok_or_else(|| CheckError::Binding { place: format!("terms.{name}"), what: "is missing".into() })
}

/// Own time of a group: of one wave and of `ends` last pieces of others, or of pieces of waves that are not `together`.
pub(crate) fn own_time(
    heaviest: &BTreeMap<&str, i128>,
    together: bool,
    ends: u64,
    lead_in: i128,
) -> Result<i128, CheckError> {
    let get = |name: &str| get(heaviest, name);
    let own = match together {
        true if ends == 0 => get("own")?.checked_add(lead_in),
        // Waves that end before others release them: each such end adds a last piece.
        true => get("ending")?
            .checked_mul(ends.into())
            .and_then(|all| all.checked_add(lead_in))
            .and_then(|all| all.checked_add(get("own").ok()?)),
        false => {
            let between = get("passed")?.max(1) - 1;
            let last = heaviest.get("last").copied().unwrap_or(0);
            // A wave that ends releases the others: its last piece can be followed by pieces of theirs.
            let middle = heaviest.get("middle").copied().unwrap_or(0).max(last).checked_mul(between);
            let ends = get("first")?.checked_add(last);
            middle.zip(ends).and_then(|(m, e)| m.checked_add(e)?.checked_add(lead_in))
        }
    };
    let paths = heaviest.get("paths").copied().unwrap_or(0);
    own.and_then(|o| o.checked_add(paths)).ok_or(CheckError::Overflow("the bound of a launch"))
}

/// Cycles that the terms of a launch make.
fn check_launch(launch: &Launch) -> Result<i128, CheckError> {
    let over = CheckError::Overflow("the bound of a launch");
    let heaviest = heaviest_ways(&launch.terms)?;
    let get = |name: &str| get(&heaviest, name);
    if launch.scale == 0 {
        return Err(CheckError::Number { place: "scale".into() });
    }
    let lead_in = i128::from(launch.lead_in) * i128::from(launch.scale);
    let own = own_time(&heaviest, launch.together, launch.ends, lead_in)?;
    let costs = [get("partition")?, get("core")?, get("machine")?];
    let g = launch.geometry;
    for (name, n) in
        [("cores", g.cores), ("partitions", g.partitions), ("groups_per_core", g.groups_per_core)]
    {
        if n == 0 || g.waves_per_group == 0 {
            return Err(CheckError::Number { place: format!("geometry.{name}") });
        }
    }
    if g.groups == 0 {
        return Ok(0);
    }
    let once = launch.fills.0.checked_add(launch.cold.0).ok_or_else(|| over.clone())?;
    let with = |own: i128, waves: [u64; 3]| {
        let others =
            costs.iter().zip(waves).try_fold(0i128, |sum, (&c, n)| sum.checked_add(c.checked_mul(n.into())?));
        others
            .and_then(|o| o.checked_add(own)?.checked_add(once))
            .ok_or(CheckError::Overflow("the bound of a launch"))
    };
    let sum = if i128::from(g.groups) <= i128::from(g.cores) * i128::from(g.groups_per_core) {
        let mut worst = 0;
        for waves in at_once(&g, launch)? {
            worst = worst.max(with(own, waves)?);
        }
        worst
    } else {
        let (before, waves) = in_turn(&g, launch, own).ok_or_else(|| over.clone())?;
        let own = own.checked_add(before).ok_or_else(|| over.clone())?;
        with(own, waves)?.checked_add(launch.cold_again.0).ok_or_else(|| over.clone())?
    };
    let scale = i128::from(launch.scale);
    Ok(sum.div_euclid(scale) + i128::from(sum.rem_euclid(scale) > 0))
}

/// Waves of the partition, the core and the machine that can be in the way, if all groups start at once.
fn at_once(g: &Geometry, launch: &Launch) -> Result<Vec<[u64; 3]>, CheckError> {
    let over = || CheckError::Overflow("the number of waves");
    let all = g.groups.checked_mul(g.waves_per_group).ok_or_else(over)?;
    let mut found = Vec::new();
    // Cores differ only in how many groups they have.
    let most = if g.fill { g.groups.min(g.groups_per_core) } else { g.groups.div_ceil(g.cores) };
    let counts: Vec<u64> =
        if g.fill { vec![most, g.groups % g.groups_per_core] } else { vec![most, g.groups / g.cores] };
    for groups in counts.into_iter().filter(|&n| n > 0) {
        let here = groups.checked_mul(g.waves_per_group).ok_or_else(over)?;
        // Slots are filled row by row.
        let fullest = here.div_ceil(g.partitions);
        if launch.barriers && g.waves_per_group > 1 {
            let mut near = 0;
            for n in 1..=g.waves_per_group {
                let visited = n.min(g.partitions) * fullest;
                near = near.max(match launch.together {
                    true => (visited - n.min(visited) + n.div_ceil(g.partitions) - 1).min(here - 1),
                    false => visited.min(here),
                });
            }
            let rest = if launch.together { here - 1 } else { here };
            found.push([near, rest - near, all - here]);
        } else {
            let emptier = here / g.partitions;
            for n in [fullest, emptier].into_iter().filter(|&n| n > 0) {
                found.push([n - 1, here - n, all - here]);
            }
        }
    }
    Ok(found)
}

/// The same if there are more groups than fit, and the own time before the last is dispatched.
fn in_turn(g: &Geometry, launch: &Launch, own: i128) -> Option<(i128, [u64; 3])> {
    let n = (g.groups - 1) / g.cores;
    let all = g.groups.checked_mul(g.waves_per_group)?;
    let alone =
        g.waves_per_group == 1 && g.waves_per_partition.checked_mul(g.partitions) == Some(g.groups_per_core);
    let (share, seats, waves) = if alone {
        let mine = n / g.partitions;
        let near = mine.checked_add(g.waves_per_partition)? - 1;
        let core = (n - mine).checked_add(g.groups_per_core - g.waves_per_partition)?;
        (mine, g.waves_per_partition, [near, core, all.saturating_sub(n.checked_add(g.groups_per_core)?)])
    } else {
        let near = n.checked_add(g.groups_per_core)?.checked_mul(g.waves_per_group)?;
        let near = if launch.together { near - 1 } else { near };
        (n, g.groups_per_core, [near, 0, all.saturating_sub(near)])
    };
    let total = own.checked_mul(share.into())?;
    let seats = i128::from(seats);
    Some((total.div_euclid(seats) + i128::from(total.rem_euclid(seats) > 0), waves))
}
