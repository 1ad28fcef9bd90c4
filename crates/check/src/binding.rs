//! What a certificate is about, as it is written, and whether it agrees with itself: hashes that can be computed again, the
//! composition of waves to launches, limits and the loops of the proof, the status (docs/certificate.md, "Binding").

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Deserialize;

use crate::claim::Claim;
use crate::error::CheckError;
use crate::format::Number;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// `hybrid`, `given` or `observed`.
    pub status: String,
    pub code: Code,
    pub machine: Machine,
    pub times: Times,
    pub launches: Vec<Launch>,
    /// Cycles of all launches.
    pub total: Number,
    pub graph: Graph,
    pub limits: Vec<Limit>,
    pub left_out: Vec<LeftOut>,
    /// Steps that no run took, wherever they are.
    pub untaken: Vec<Step>,
    /// Cycles that a way with such a step is charged; none: they are never taken.
    #[serde(deserialize_with = "Option::deserialize")]
    pub assumed: Option<Number>,
    /// Branches whose splits are counted on.
    pub splits: Vec<u32>,
    /// Branches of which every path takes one side, because its lanes agree.
    #[serde(default)]
    pub homogeneous: Vec<HomogeneousMask>,
    /// Calls of code that branches, which is not in the graph.
    pub calls: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    pub isa: String,
    pub kernel: String,
    pub checksum: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    pub mechanism: String,
    pub contexts: u32,
    pub lanes: u32,
    /// Of the machine file with all fields.
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// `measured`, `trace` or `given`.
    pub origin: String,
    pub runs: u32,
    /// Distinct inputs; none: not known.
    #[serde(deserialize_with = "Option::deserialize")]
    pub inputs: Option<u32>,
    /// Traces or the table.
    pub files: Vec<File>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub name: String,
    pub hash: String,
}

/// A launch that happens `count` times.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    pub count: u64,
    pub runs: u32,
    pub bound: Number,
    /// Geometries and arguments it was measured with.
    pub shapes: Vec<Shape>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    pub hash: String,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub vgprs: u32,
    pub sgprs: u32,
    pub lds_bytes: u32,
    /// Two hexadecimal digits for each byte.
    pub arguments: String,
    /// Hashes of memory before the runs.
    pub data: Vec<String>,
    pub groups: u64,
    pub waves_per_group: u32,
    pub cores: u64,
    pub groups_per_core: u64,
    pub limit: String,
    pub rounds: u64,
}

/// Where nodes and edges of the proof are in the program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Of each node; none for the start and the end.
    pub pcs: Vec<Option<u32>>,
    /// First instruction behind the first branch of each edge; none where the wave ends before one.
    pub via: Vec<Option<u32>>,
    /// All places where ways are cut, also those that are not reached.
    pub points: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The loop's header.
    pub pc: u32,
    pub max: Number,
    /// `proved`, `user`, `ffx` or `observed`.
    pub origin: String,
    pub why: String,
    /// Entry to exit is part of one edge.
    pub whole: bool,
}

/// A branch that no path comes to with lanes for both sides.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomogeneousMask {
    pub pc: u32,
    /// `first` or `second`: the only side that is taken, if it is known.
    #[serde(deserialize_with = "Option::deserialize")]
    pub side: Option<String>,
    pub why: String,
}

/// A way of the program that the proof does not contain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    #[serde(deserialize_with = "Option::deserialize")]
    pub from: Option<u32>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub via: Option<u32>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub to: Option<u32>,
    /// `skip`, `not-taken`, `limit` or `infeasible`.
    pub reason: String,
    pub why: String,
}

/// From the last instruction of a block to the first of the next; none: the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub from: u32,
    #[serde(deserialize_with = "Option::deserialize")]
    pub to: Option<u32>,
}

const LIMIT_ORIGINS: [&str; 4] = ["proved", "user", "ffx", "observed"];
const SIDES: [&str; 2] = ["first", "second"];
const REASONS: [&str; 4] = ["skip", "not-taken", "limit", "infeasible"];

fn wrong(place: impl Into<String>, what: impl Into<String>) -> CheckError {
    CheckError::Binding { place: place.into(), what: what.into() }
}

fn require(holds: bool, place: impl Into<String>, what: impl Into<String>) -> Result<(), CheckError> {
    if holds { Ok(()) } else { Err(wrong(place, what)) }
}

/// `xxh3:` and 16 digits.
fn hash_like(place: &str, text: &str) -> Result<(), CheckError> {
    let digits = text.strip_prefix("xxh3:").unwrap_or_default();
    let good = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    require(good, place, format!("`{text}` is no hash"))
}

pub fn hash(bytes: &[u8]) -> String {
    format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

impl Shape {
    /// The text that `hash` is of.
    fn text(&self) -> String {
        let ([gx, gy, gz], [x, y, z]) = (self.grid, self.group);
        let mut text = format!("grid {gx} {gy} {gz}\ngroup {x} {y} {z}\n");
        let _ = writeln!(text, "vgprs {}\nsgprs {}\nlds {}", self.vgprs, self.sgprs, self.lds_bytes);
        let _ = writeln!(text, "arguments {}", self.arguments);
        text
    }
}

impl Binding {
    /// Everything that can be checked without program, machine and launch. `claim` is the proof.
    pub fn check(&self, claim: &Claim) -> Result<(), CheckError> {
        require(!self.code.kernel.is_empty(), "code.kernel", "the kernel has no name")?;
        hash_like("code.checksum", &self.code.checksum)?;
        hash_like("machine.hash", &self.machine.hash)?;
        self.check_times()?;
        self.check_launches(claim.bound)?;
        self.check_graph(claim)?;
        self.check_limits(claim)?;
        self.check_left_out(claim)?;
        self.check_splits()?;
        let status = self.right_status();
        require(self.status == status, "status", format!("`{}`, but this makes it {status}", self.status))
    }

    fn check_times(&self) -> Result<(), CheckError> {
        let t = &self.times;
        for (k, file) in t.files.iter().enumerate() {
            hash_like(&format!("times.files[{k}].hash"), &file.hash)?;
        }
        let inputs = |l: &Launch| l.shapes.iter().map(|s| s.data.len() as u32).sum::<u32>();
        let most = self.launches.iter().map(inputs).max().unwrap_or(0);
        let runs = self.launches.iter().map(|l| l.runs).max().unwrap_or(0);
        let holds = match t.origin.as_str() {
            "measured" => t.files.is_empty() && t.inputs == Some(most) && most > 0 && t.runs == runs,
            "trace" => !t.files.is_empty() && t.inputs.is_none() && t.runs == runs && most == 0,
            "given" => t.files.len() == 1 && t.inputs == Some(0) && t.runs == 0 && runs == 0 && most == 0,
            _ => return Err(wrong("times.origin", format!("`{}` is no origin of times", t.origin))),
        };
        require(holds, "times", "runs, inputs and files do not agree with origin and launches")
    }

    /// Rounds times the bound of a wave, for every launch, and their sum.
    fn check_launches(&self, wave: i128) -> Result<(), CheckError> {
        require(!self.launches.is_empty(), "launches", "nothing is launched")?;
        let mut total = 0u64;
        let mut known = BTreeSet::new();
        for (k, launch) in self.launches.iter().enumerate() {
            let place = format!("launches[{k}]");
            let mut longest = 0u64;
            require(!launch.shapes.is_empty(), &place, "it has no shape")?;
            let mut hashes = BTreeSet::new();
            for (i, shape) in launch.shapes.iter().enumerate() {
                let place = format!("{place}.shapes[{i}]");
                self.check_shape(&place, shape)?;
                require(hashes.insert(&shape.hash), &place, "the shape is listed twice")?;
                let wave = u64::try_from(wave).map_err(|_| CheckError::Overflow("the bound"))?;
                let cycles =
                    shape.rounds.checked_mul(wave).ok_or(CheckError::Overflow("a launch's bound"))?;
                longest = longest.max(cycles);
            }
            let inputs: usize = launch.shapes.iter().map(|s| s.data.len()).sum();
            require(launch.runs as usize >= inputs, &place, "it has more inputs than runs")?;
            require(known.insert(hashes), &place, "the launch is listed twice")?;
            require(launch.count > 0, &place, "it is launched no time")?;
            require(
                launch.bound.0 == i128::from(longest),
                format!("{place}.bound"),
                format!("{} is not rounds times the wave's bound, {longest}", launch.bound.0),
            )?;
            let all = launch.count.checked_mul(longest).and_then(|n| total.checked_add(n));
            total = all.ok_or(CheckError::Overflow("the total"))?;
        }
        let sum = i128::from(total);
        require(self.total.0 == sum, "total", format!("{} is not the sum, {sum}", self.total.0))
    }

    fn check_shape(&self, place: &str, s: &Shape) -> Result<(), CheckError> {
        let digits = s.arguments.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        require(digits && s.arguments.len().is_multiple_of(2), place, "the arguments are no bytes")?;
        let own = hash(s.text().as_bytes());
        require(
            s.hash == own,
            format!("{place}.hash"),
            format!("{} is not that of the launch, {own}", s.hash),
        )?;
        let mut known = BTreeSet::new();
        for data in &s.data {
            hash_like(&format!("{place}.data"), data)?;
            require(known.insert(data), format!("{place}.data"), "an input is listed twice")?;
        }
        let (groups, waves) = self.needed(s).ok_or_else(|| wrong(place, "sizes of zero, or too large"))?;
        require(s.groups == groups, format!("{place}.groups"), format!("there are {groups}"))?;
        let w = format!("{place}.waves_per_group");
        require(u64::from(s.waves_per_group) == waves, w, format!("there are {waves}"))?;
        let seats = s.cores.checked_mul(s.groups_per_core).filter(|&n| n > 0);
        let seats = seats.ok_or_else(|| wrong(place, "no group fits, or too many"))?;
        let rounds = s.groups.div_ceil(seats);
        require(s.rounds == rounds, format!("{place}.rounds"), format!("{seats} at once make {rounds}"))
    }

    /// Groups of a launch and waves of a group.
    fn needed(&self, s: &Shape) -> Option<(u64, u64)> {
        let lanes = u64::from(self.machine.lanes);
        if lanes == 0 {
            return None;
        }
        match self.code.isa.as_str() {
            "gcn3" => {
                let (mut groups, mut items) = (1u64, 1u64);
                for (grid, group) in s.grid.into_iter().zip(s.group) {
                    if grid == 0 || group == 0 {
                        return None;
                    }
                    groups = groups.checked_mul(grid.div_ceil(group).into())?;
                    items = items.checked_mul(group.into())?;
                }
                Some((groups, items.div_ceil(lanes)))
            }
            // Waves that are launched one by one are groups of one.
            "guppy" => Some((u64::from(s.grid[0]).div_ceil(lanes).max(1), 1)),
            _ => Some((s.grid[0].into(), 1)),
        }
    }

    /// Places of nodes and edges.
    fn check_graph(&self, claim: &Claim) -> Result<(), CheckError> {
        let g = &self.graph;
        let sizes = g.pcs.len() == claim.names.len() && g.via.len() == claim.edges.len();
        require(sizes, "graph", "there is not one place for each node and edge")?;
        let points: BTreeSet<u32> = g.points.iter().copied().collect();
        require(points.len() == g.points.len(), "graph.points", "a point is listed twice")?;
        for (k, pc) in g.pcs.iter().enumerate() {
            let place = format!("graph.pcs[{k}]");
            let name = &claim.names[k];
            match pc {
                None => {
                    let end = if k == claim.entry { "start" } else { "end" };
                    let is =
                        (k == claim.entry || k == claim.exit) && claim.entry != claim.exit && name == end;
                    require(is, place, "only start and end have no place")?;
                }
                Some(pc) => {
                    let inner = k != claim.entry && k != claim.exit && points.contains(pc);
                    require(inner, &place, "start and end have no place, all others are points")?;
                    let own = name
                        .strip_prefix(&format!("pc{pc}"))
                        .is_some_and(|r| r.is_empty() || r.starts_with('.'));
                    require(own, place, format!("the node is called `{name}`"))?;
                }
            }
        }
        for (k, via) in g.via.iter().enumerate() {
            let ends = claim.edges[k].to == claim.exit;
            require(via.is_some() || ends, format!("graph.via[{k}]"), "only an edge to the end has none")?;
        }
        Ok(())
    }

    /// Loops of the proof have the limits that are listed.
    fn check_limits(&self, claim: &Claim) -> Result<(), CheckError> {
        let mut known: BTreeMap<u32, &Limit> = BTreeMap::new();
        for (k, limit) in self.limits.iter().enumerate() {
            let place = format!("limits[{k}]");
            require(LIMIT_ORIGINS.contains(&limit.origin.as_str()), &place, "its origin is not known")?;
            require(limit.max.0 >= 0, &place, "it is negative")?;
            require(known.insert(limit.pc, limit).is_none(), place, "the loop has a limit already")?;
        }
        for (k, one) in claim.loops.iter().enumerate() {
            let limit = self.graph.pcs[one.header].and_then(|pc| known.get(&pc));
            let limit = limit
                .ok_or_else(|| wrong(format!("loops[{k}]"), "nothing says where its limit comes from"))?;
            let same = limit.max.0 == one.max && !limit.whole;
            require(
                same,
                format!("loops[{k}]"),
                format!("its limit is {}, listed is {}", one.max, limit.max.0),
            )?;
        }
        for (k, limit) in self.limits.iter().enumerate().filter(|(_, l)| l.whole) {
            let is_point = self.graph.points.contains(&limit.pc);
            require(
                !is_point,
                format!("limits[{k}]"),
                "a loop that is part of an edge has no point at its header",
            )?;
        }
        Ok(())
    }

    /// Only sides of splits, and of branches whose lanes agree, exist more than once.
    fn check_splits(&self) -> Result<(), CheckError> {
        let alone = self.machine.contexts > 0 || self.splits.is_empty();
        require(alone, "splits", "a machine without contexts cannot split")?;
        let masks: Vec<u32> = self.homogeneous.iter().map(|h| h.pc).collect();
        for (k, mask) in self.homogeneous.iter().enumerate() {
            let known = mask.side.as_ref().is_none_or(|s| SIDES.contains(&s.as_str()));
            require(known, format!("homogeneous[{k}].side"), "there is no such side")?;
        }
        let split = self.splits.iter().any(|pc| masks.contains(pc));
        require(!split, "splits", "where lanes agree there is no split")?;
        let lists = [("splits", &self.splits), ("calls", &self.calls), ("homogeneous", &masks)];
        for (place, list) in lists {
            let known: BTreeSet<&u32> = list.iter().collect();
            require(known.len() == list.len(), place, "a place is listed twice")?;
        }
        let pcs: Vec<u32> = self.graph.pcs.iter().flatten().copied().collect();
        let once = pcs.iter().collect::<BTreeSet<_>>().len() == pcs.len();
        let apart = !self.splits.is_empty() || !self.homogeneous.is_empty();
        require(once || apart, "splits", "places exist twice, and no split is counted on")
    }

    fn check_left_out(&self, claim: &Claim) -> Result<(), CheckError> {
        let pc = |node: usize| self.graph.pcs[node];
        let there: BTreeSet<_> =
            claim.edges.iter().zip(&self.graph.via).map(|(e, &via)| (pc(e.from), via, pc(e.to))).collect();
        let steps: BTreeSet<&Step> = self.untaken.iter().collect();
        require(steps.len() == self.untaken.len(), "untaken", "a step is listed twice")?;
        let known = self.assumed.is_none_or(|c| c.0 >= 0) && (self.assumed.is_none() || !steps.is_empty());
        require(known, "assumed", "cycles for steps that no run took, and there are none")?;
        let mut known = BTreeSet::new();
        for (k, way) in self.left_out.iter().enumerate() {
            let place = format!("left_out[{k}]");
            let (from, via, to) = (way.from, way.via, way.to);
            require(REASONS.contains(&way.reason.as_str()), &place, "its reason is not known")?;
            require(!there.contains(&(from, via, to)), &place, "the proof contains this way")?;
            require(known.insert((from, via, to)), &place, "the way is listed twice")?;
            if way.reason == "limit" {
                let zero = self.limits.iter().any(|l| Some(l.pc) == to && l.max.0 == 0);
                require(zero, &place, "no loop with the limit 0 begins where it leads to")?;
            }
            require(
                way.reason != "infeasible" || !way.why.is_empty(),
                place,
                "nothing says why it is infeasible",
            )?;
        }
        Ok(())
    }

    /// What limits, ways that are left out and times make of it.
    fn right_status(&self) -> &'static str {
        let open = !self.untaken.is_empty() || self.left_out.iter().any(|w| w.reason == "not-taken");
        let observed = self.limits.iter().any(|l| l.origin == "observed") || open && self.assumed.is_none();
        match self.times.origin.as_str() {
            _ if observed => "observed",
            "given" => "given",
            _ if !self.calls.is_empty() => "observed",
            _ => "hybrid",
        }
    }

    /// What the binding says must hold, in words.
    pub fn assumptions(&self) -> Vec<String> {
        let mut list = vec![self.times.text()];
        for l in &self.limits {
            let whole = if l.whole { ", measured as a whole" } else { "" };
            let why = if l.why.is_empty() { String::new() } else { format!(": {}", l.why) };
            list.push(format!(
                "the loop at pc {} goes back at most {} times ({}{whole}){why}",
                l.pc, l.max.0, l.origin
            ));
        }
        for h in &self.homogeneous {
            let side = h.side.as_deref().map_or("one side".to_owned(), |s| format!("the {s} side"));
            let why = if h.why.is_empty() { String::new() } else { format!(": {}", h.why) };
            list.push(format!("the mask at pc {} is homogeneous, every path takes {side} (user){why}", h.pc));
        }
        for reason in REASONS {
            let n = self.left_out.iter().filter(|w| w.reason == reason).count();
            let what = match reason {
                "skip" => "lead past a side that no run skipped; skipping takes no longer than running it",
                "not-taken" => "were never taken, and never are",
                "limit" => "go back to a loop whose limit is 0",
                _ => "are infeasible",
            };
            if n > 0 {
                list.push(format!("{n} ways of the program are not in the graph: they {what}"));
            }
        }
        match (self.untaken.len(), self.assumed) {
            (0, _) => {}
            (n, None) => list.push(format!("{n} steps that no run took are never taken")),
            (n, Some(c)) => {
                list.push(format!("{n} steps that no run took: ways with them take at most {} cycles", c.0))
            }
        }
        if !self.calls.is_empty() {
            list.push(format!(
                "{} calls of code that branches take no longer than measured",
                self.calls.len()
            ));
        }
        list.push(
            "groups start as soon as a core has room, and occupy it no longer than their longest wave"
                .to_owned(),
        );
        list
    }
}

impl Times {
    /// Where they come from, in words.
    pub fn text(&self) -> String {
        let s = |n: u32| if n == 1 { "" } else { "s" };
        let names: Vec<&str> = self.files.iter().map(|f| f.name.as_str()).collect();
        match (self.origin.as_str(), self.inputs) {
            ("measured", Some(n)) => format!(
                "times are MEASURED, the longest of {} run{} with {n} distinct input{}: other data, addresses or co-runners may take longer",
                self.runs,
                s(self.runs),
                s(n)
            ),
            ("trace", _) => format!(
                "times are MEASURED, the longest of {} run{} in {}: other data, addresses or co-runners may take longer",
                self.runs,
                s(self.runs),
                names.join(", ")
            ),
            _ => format!("times are GIVEN, by {}: nothing was measured", names.join(", ")),
        }
    }
}
