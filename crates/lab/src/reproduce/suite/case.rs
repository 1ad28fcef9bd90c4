//! One workload at one size on one machine, run and, if asked for, bounded. Experiments on the suite (THESIS 6, PWS 7) say
//! which cases they need; each is measured once, however many of them look at it.

use super::idle::Idle;
use super::reason::Overlap;
use miette::{Report, WrapErr, miette};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};
use wb_bound::exact::examine;
use wb_bound::worst::{self, Effort, Ranged, Subject};
use wb_bound::{KernelBound, Options, Runs, Status, analyse, better};
use wb_hw::MarkStyle;
use wb_jobs::JobSpec;
use wb_jobs::launch::{Launches, MarkChoice, WorkloadSession, WorkloadSpec};
use wb_jobs::object::SplitSpec;
use wb_sim::{Outcome, RunOptions};
use wb_trace::Observer;
use wb_wcet::measure::Unmeasured;
use wb_workloads::Size;

/// Which branches are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    None,
    /// The workload's own marks.
    Default,
    /// Where splitting lowers the bound most, at small size (or tiny, if that is run).
    Optimal,
    /// What takes least time at small size (or tiny): nothing, its own marks or one of them, all branches, the optimal ones.
    Fastest,
    /// Every branch that can be marked.
    All,
}

impl Placement {
    pub fn name(self) -> &'static str {
        match self {
            Placement::None => "none",
            Placement::Default => "default",
            Placement::Optimal => "optimal",
            Placement::Fastest => "fastest",
            Placement::All => "all",
        }
    }
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub workload: &'static str,
    pub size: Size,
    pub machine: &'static str,
    /// SIMDs of a core that are not split units, with ten wave slots each.
    pub simds: u32,
    pub mechanism: &'static str,
    pub contexts: u32,
    /// Split units that a kernel does not use serve as SIMDs.
    pub reuse: bool,
    pub marks: Placement,
    /// Its bound is wanted, too.
    pub bound: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Case { workload, size, machine, simds, mechanism, contexts, .. } = self;
        write!(f, "{workload} {size} {machine}/{simds} {mechanism}")?;
        if self.reuse {
            f.write_str("-reuse")?;
        }
        if *mechanism != "none" {
            write!(f, " S={contexts}")?;
        }
        if self.marks != Placement::None {
            write!(f, " {}", self.marks.name())?;
        }
        if self.bound { f.write_str(" bound") } else { Ok(()) }
    }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub cycles: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    /// Share of the lanes that issued instructions were for.
    pub lane_use: f64,
    /// Branches that were marked by address; default marks and all are not listed.
    pub places: Vec<String>,
    pub bound: Option<Bound>,
    /// Under pws: how much both sides of splits had to do at once.
    pub overlap: Option<Overlap>,
    /// On lane-pc machines, for some mechanisms: what divergence leaves idle.
    #[serde(default)]
    pub idle: Option<Idle>,
    /// Time it took here.
    pub seconds: f64,
}

/// The bound of all launches, by segments: so bounds with and without splitting can be compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    pub cycles: u64,
    /// The same by segments or by own time and waits, whichever is better.
    #[serde(default)]
    pub better: Option<u64>,
    /// proved, hybrid or observed: the weakest of its kernels.
    pub status: String,
    /// Ways that no launch of this size takes are left out.
    pub left_out: bool,
    /// Every launch was within its bound.
    pub holds: bool,
    pub kernels: Vec<KernelRow>,
    /// Without splitting: kernels whose time no contents can change, and the bound with their times in place of what was
    /// measured.
    #[serde(default)]
    pub exact: Option<ExactPart>,
}

/// What is exact of a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExactPart {
    pub kernels: Vec<String>,
    /// All of them are.
    pub whole: bool,
    pub cycles: u64,
    /// Source lines of the others at which contents decide time.
    pub lines: usize,
    /// The bound without any measurement: of kernels that are exact their time, of the others what is proved; none if one has no proof.
    #[serde(default)]
    pub proved: Option<u64>,
    /// The kernel with the largest proved bound and the largest part of it, in per cent.
    #[serde(default)]
    pub costs: String,
    /// Kernels without a proof, and why.
    #[serde(default)]
    pub refused: Vec<String>,
    /// The longest that a search for other contents found (`wavebound worst`); of workloads that are exact the time itself.
    #[serde(default)]
    pub worst: u64,
}

/// A kernel's part of a bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    pub name: String,
    pub bound: u64,
    pub observed: u64,
    pub wave_bound: u64,
    pub wave_observed: u64,
    /// Its longest launch.
    pub longest: u64,
    /// THESIS equation 5.4 for its largest launch.
    pub thesis: Option<u64>,
    pub splits: u64,
}

impl Measured {
    /// Bound over observed time.
    pub fn ratio(&self) -> f64 {
        self.bound.as_ref().map_or(f64::NAN, |b| b.cycles as f64 / self.cycles.max(1) as f64)
    }
}

impl Case {
    /// No splitting, no bound, on a machine of the presets with 4 SIMDs per core.
    pub fn new(workload: &'static str, size: Size, machine: &'static str) -> Case {
        let (mechanism, marks) = ("none", Placement::None);
        Case { workload, size, machine, simds: 4, mechanism, contexts: 0, reuse: false, marks, bound: false }
    }

    /// Machine and mechanism, without marks.
    fn spec(&self) -> JobSpec {
        if self.machine.starts_with("lanepc") {
            // As the preset is.
            let sets = vec![format!("divergence.mechanism={}", self.mechanism)];
            return JobSpec { machine: self.machine.into(), sets, ..JobSpec::default() };
        }
        let units = if self.reuse { "reprovisioned" } else { "extra" };
        let sets = [
            format!("split.units={units}"),
            format!("divergence.mechanism={}", self.mechanism),
            format!("split.contexts={}", self.contexts),
            format!("core.partitions={}", self.simds),
            format!("core.waves={}", 10 * self.simds),
        ];
        JobSpec { machine: self.machine.into(), sets: sets.into(), ..JobSpec::default() }
    }

    /// The workload and the machine with the marks made.
    fn marked(&self) -> Result<(WorkloadSpec, JobSpec), Report> {
        let mut which = WorkloadSpec::new(self.workload, self.size.name())?;
        which.marks = if self.marks == Placement::Default { MarkChoice::Default } else { MarkChoice::None };
        let mut spec = self.spec();
        match self.marks {
            Placement::None | Placement::Default => {}
            Placement::All => {
                spec.split = SplitSpec { all: true, style: self.style(), ..SplitSpec::default() }
            }
            Placement::Optimal => {
                spec.split = wb_bound::optimal_splits(&which, &spec, self.size.min(Size::Small))?
            }
            Placement::Fastest => spec.split = self.fastest(&which, &spec)?,
        }
        Ok((which, spec))
    }

    fn style(&self) -> MarkStyle {
        if self.mechanism == "thesis" { MarkStyle::Thesis } else { MarkStyle::Pws }
    }

    /// The placement that takes least time at small size; of equal ones that with fewer marks.
    fn fastest(&self, which: &WorkloadSpec, spec: &JobSpec) -> Result<SplitSpec, Report> {
        let size = self.size.min(Size::Small);
        let small = WorkloadSpec { size, marks: MarkChoice::None, ..which.clone() };
        let style = self.style();
        let own = which.workload.default_marks();
        let at = |at: Vec<String>| SplitSpec { at, all: false, style };
        let mut candidates = vec![at(Vec::new())];
        candidates.extend(own.iter().map(|one| at(vec![one.clone()])));
        candidates.extend([
            at(own),
            wb_bound::optimal_splits(&small, spec, size)?,
            SplitSpec { at: Vec::new(), all: true, style },
        ]);
        let mut best: Option<(u64, SplitSpec)> = None;
        for split in candidates {
            let spec = JobSpec { split: split.clone(), ..spec.clone() };
            let cycles = play(&small, &spec, None)?.cycles;
            if best.as_ref().is_none_or(|b| cycles < b.0) {
                best = Some((cycles, split));
            }
        }
        best.map(|b| b.1).ok_or_else(|| miette!("there is no placement"))
    }

    /// Runs on lane-pc machines that tell what divergence leaves idle.
    fn is_watched(&self) -> bool {
        self.machine.starts_with("lanepc") && WATCHED.contains(&self.mechanism)
    }

    pub fn measure(&self) -> Result<Measured, Report> {
        self.try_measure().wrap_err_with(|| self.to_string())
    }

    fn try_measure(&self) -> Result<Measured, Report> {
        let start = Instant::now();
        let (which, spec) = self.marked()?;
        let mut overlap = (self.mechanism == "pws").then(Overlap::default);
        let mut idle = self.is_watched().then(Idle::default);
        let observer = match (&mut overlap, &mut idle) {
            (Some(overlap), _) if !self.machine.starts_with("lanepc") => Some(overlap as &mut dyn Observer),
            (_, Some(idle)) => Some(idle as &mut dyn Observer),
            _ => None,
        };
        let totals = play(&which, &spec, observer)?;
        let lanes = u64::from(which.machine(&spec)?.core.lanes) * totals.wave_instructions;
        let bound = if self.bound { Some(bound(&which, &spec)?) } else { None };
        let mut places = spec.split.at;
        if spec.split.all && self.marks == Placement::Fastest {
            places.push("all".into());
        }
        Ok(Measured {
            cycles: totals.cycles,
            wave_instructions: totals.wave_instructions,
            lane_instructions: totals.lane_instructions,
            lane_use: totals.lane_instructions as f64 / lanes.max(1) as f64,
            places,
            bound,
            overlap,
            idle,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// The baseline, and mechanisms whose waits explain their gains.
const WATCHED: [&str; 4] = ["simt-stack", "multi-path", "lwm", "tbc"];

#[derive(Default)]
struct Totals {
    cycles: u64,
    wave_instructions: u64,
    lane_instructions: u64,
}

impl Totals {
    fn add(&mut self, o: &Outcome) {
        self.cycles += o.cycles;
        self.wave_instructions += o.wave_instructions;
        self.lane_instructions += o.lane_instructions;
    }
}

/// Runs all launches and compares the results with the reference.
fn play(
    which: &WorkloadSpec,
    spec: &JobSpec,
    mut observer: Option<&mut dyn Observer>,
) -> Result<Totals, Report> {
    let mut session = WorkloadSession::open(which, spec)?;
    let mut totals = Totals::default();
    while let Some(step) = session.next_step()? {
        // Not `as_deref_mut`: the trait object's lifetime has to shrink.
        let observer = observer.as_mut().map(|o| &mut **o as &mut dyn Observer);
        totals.add(&session.run(&step, RunOptions::default(), observer)?);
    }
    match session.verdicts()?.into_iter().find(|v| v.difference.is_some()) {
        None => Ok(totals),
        Some(wrong) => Err(miette!("{} is not what the reference has", wrong.buffer)),
    }
}

/// The bound of all launches; where some way was never taken, without it, and it says so.
fn bound(which: &WorkloadSpec, spec: &JobSpec) -> Result<Bound, Report> {
    let runs = Runs::Workload { which: which.clone(), spec: Box::new(spec.clone()) };
    let with = |unmeasured| {
        let options = wb_bound::workload_options(which, spec, &Options { unmeasured, ..Options::default() })?;
        analyse(&runs, &options, &mut |_, _| ())
    };
    let (found, left_out) = match with(Unmeasured::Error) {
        Ok(found) => (found, false),
        Err(_) => (with(Unmeasured::Exclude)?, true),
    };
    let best: Vec<KernelBound> = found.iter().cloned().map(better).collect();
    let given = wb_bound::workload_options(which, spec, &Options { proved: true, ..Options::default() })?;
    let holds =
        |k: &KernelBound| k.wave_bound >= k.wave_observed && k.launches.iter().all(|l| l.bound >= l.observed);
    let status = found.iter().map(|k| k.status).max().unwrap_or(Status::Observed);
    Ok(Bound {
        cycles: found.iter().map(|k| k.bound).sum(),
        better: Some(best.iter().map(|k| k.bound).sum()),
        status: format!("{status:?}").to_lowercase(),
        left_out,
        holds: found.iter().chain(&best).all(holds),
        kernels: found.iter().map(row).collect(),
        exact: match exact(&runs, &best, &given)? {
            Some(part) if !part.whole => Some(ExactPart { worst: longest(which, spec)?, ..part }),
            part => part,
        },
    })
}

/// What no contents can change; none where waves split.
fn exact(runs: &Runs, found: &[KernelBound], options: &Options) -> Result<Option<ExactPart>, Report> {
    if found.iter().any(|k| k.contexts > 0) {
        return Ok(None);
    }
    let examined = examine(runs, &Options::default(), &mut |_, _| ())?;
    let holds = |name: &str| examined.iter().find(|k| k.kernel == name && k.row.holds);
    let cycles = found.iter().map(|k| match holds(&k.kernel) {
        Some(e) => e.cycles.values().map(|c| c.1).sum(),
        None => k.bound,
    });
    let lines: BTreeSet<&str> =
        examined.iter().flat_map(|k| &k.row.uses).map(|u| u.place.source.as_str()).collect();
    let mut proved = Some(0u64);
    let mut refused = Vec::new();
    let mut costs = (0, String::new());
    for k in wb_bound::bounds(runs, options, wb_bound::TraceFiles::default(), &mut |_, _| ())? {
        if holds(&k.kernel).is_none()
            && let Some(part) = k.proved.terms.iter().max_by_key(|t| t.cycles)
            && k.proved.bound.unwrap_or(0) > costs.0
        {
            let bound = k.proved.bound.unwrap_or(0);
            let share = 100.0 * part.cycles as f64 / bound.max(1) as f64;
            costs = (bound, format!("{}: {} {share:.0} %", k.kernel, part.name));
        }
        let bound = match holds(&k.kernel) {
            Some(e) => Some(e.cycles.values().map(|c| c.1).sum::<u64>()),
            None => k.proved.bound,
        };
        if let (None, Some(why)) = (bound, &k.proved.why_not) {
            refused.push(format!("{}: {why}", k.kernel));
        }
        proved = proved.zip(bound).map(|(sum, b)| sum + b);
    }
    Ok(Some(ExactPart {
        proved,
        refused,
        costs: costs.1,
        kernels: examined.iter().filter(|k| k.row.holds).map(|k| k.kernel.clone()).collect(),
        whole: examined.iter().all(|k| k.row.holds),
        cycles: cycles.sum(),
        lines: lines.len(),
        worst: 0,
    }))
}

/// The longest that a short search found; `wavebound worst` searches longer.
fn longest(which: &WorkloadSpec, spec: &JobSpec) -> Result<u64, Report> {
    let tries = if which.size <= Size::Small { 20 } else { 10 };
    let subject = Subject::Workload { which: which.clone(), spec: Box::new(spec.clone()) };
    let effort = Effort { seed: 1, tries, time: Duration::MAX };
    let kept = LIMITS_REST_ON.iter().filter(|k| k.0 == which.workload.name);
    let ranges: Vec<Ranged> = kept.map(|k| Ranged { buffer: k.1.to_owned(), low: 0.0, high: 0.0 }).collect();
    Ok(worst::search(&subject, &ranges, &effort, &mut |_, _| ())?.worst.cycles)
}

/// Workloads and buffers whose contents the limits of loops follow from: with others, those limits would not hold, nor would the
/// bounds that rest on them. A search leaves them as they are.
const LIMITS_REST_ON: [(&str, &str); 1] = [("bfs", "graph")];

fn row(k: &KernelBound) -> KernelRow {
    let thesis = k.paper.iter().find(|r| r.rule == "THESIS, parallel" && r.note.is_empty());
    KernelRow {
        name: k.kernel.clone(),
        bound: k.bound,
        observed: k.observed,
        wave_bound: k.wave_bound,
        wave_observed: k.wave_observed,
        longest: k.launches.iter().map(|l| l.observed).max().unwrap_or(0),
        thesis: thesis.map(|r| r.kernel),
        splits: k.splits,
    }
}
