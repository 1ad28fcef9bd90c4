//! Many experiments at once: their work in pieces over all cores, longest first; what is done is kept, so that a run that
//! was stopped goes on where it was. In the end: one table of everything (CSV, Parquet) and one page.

use super::page::{About, page};
use super::suite::{Case, Cases, Placement, Scale};
use super::verdict::Verdict;
use super::{Experiment, Finding, Notebook, Work, find, make_folder};
use miette::{IntoDiagnostic, Report};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// What to do.
pub struct Plan {
    pub names: Vec<String>,
    pub scale: Scale,
    pub dir: PathBuf,
    /// Pieces of work at the same time.
    pub jobs: usize,
    /// Do everything again.
    pub fresh: bool,
}

/// How far it is; told at the start and after every piece of work.
#[derive(Clone, Debug)]
pub struct News {
    /// Pieces of work that are done, of how many.
    pub done: usize,
    pub of: usize,
    /// The piece that is just done; empty at the start.
    pub what: String,
    /// Estimate for the rest.
    pub seconds_left: f64,
    /// Pieces that an earlier run had done.
    pub kept: usize,
}

/// What came of it.
pub struct Reproduced {
    pub findings: Vec<Finding>,
    pub page: PathBuf,
    pub seconds: f64,
    /// The case of the benchmark suite that took longest without a bound, and its seconds on one core.
    pub slowest: Option<(String, f64)>,
}

/// A piece of work.
enum Piece {
    /// Experiments that share their runs.
    Experiments(Vec<&'static Experiment>),
    Case(Case),
}

impl Piece {
    fn name(&self) -> String {
        match self {
            Piece::Experiments(list) => list.iter().map(|e| e.name).collect::<Vec<_>>().join(" "),
            Piece::Case(case) => case.to_string(),
        }
    }

    /// Seconds it takes about.
    fn estimate(&self) -> f64 {
        match self {
            Piece::Experiments(list) => {
                let longest = list.iter().map(|e| match e.name {
                    "thesis-6.2" => 16.0,
                    name if name.starts_with("swas") => 6.0,
                    name if name.starts_with("pws") => 2.0,
                    _ => 0.5,
                });
                longest.fold(0.0, f64::max)
            }
            Piece::Case(case) => case.estimate(),
        }
    }
}

/// A finding that is kept for a later run.
#[derive(Serialize, Deserialize)]
struct Kept {
    stamp: String,
    finding: Finding,
}

/// Which program this is: a run goes on only with what the same program measured.
fn stamp() -> String {
    let program = std::env::current_exe().and_then(std::fs::read);
    program.map_or_else(|_| env!("CARGO_PKG_VERSION").to_owned(), |bytes| format!("{:016x}", xxh3_64(&bytes)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what the plan says; `news` hears of every piece that is done.
pub fn reproduce(plan: &Plan, news: &(dyn Fn(&News) + Sync)) -> Result<Reproduced, Report> {
    let mut experiments: Vec<&'static Experiment> = Vec::new();
    for name in &plan.names {
        let experiment = find(name)?;
        if experiments.iter().all(|e| e.name != experiment.name) {
            experiments.push(experiment);
        }
    }
    make_folder(&plan.dir)?;
    let (start, stamp) = (Instant::now(), stamp());
    let cases = Cases::open(&plan.dir.join("runs.jsonl"), &stamp, plan.fresh)?;
    let kept: Vec<Finding> = if plan.fresh {
        Vec::new()
    } else {
        experiments.iter().filter_map(|e| read(e, plan, &stamp)).collect()
    };
    let (pieces, before) = pieces(&experiments, plan.scale, &cases, &kept);
    let made = Mutex::new(kept);
    work(&pieces, before, plan, news, &|piece| {
        match piece {
            Piece::Case(case) => drop(cases.get(case)?),
            Piece::Experiments(list) => {
                for e in list {
                    let found = finish(e, plan, &cases, &stamp)?;
                    lock(&made).push(found);
                }
            }
        }
        Ok(())
    })?;
    let mut findings = Vec::new();
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    for e in experiments {
        findings.push(match made.iter().find(|f| f.name == e.name) {
            Some(found) => found.clone(),
            None => finish(e, plan, &cases, &stamp)?,
        });
    }
    let seconds = start.elapsed().as_secs_f64();
    results(plan, &findings)?;
    let slowest = slowest(plan, &cases)?;
    let mut about = about(plan, seconds, before);
    if let Some((case, seconds)) = &slowest {
        about.lines.push(("slowest run".to_owned(), span(*seconds), format!("{case}, on one core")));
    }
    let page = page(&findings, &about, &plan.dir)?;
    Ok(Reproduced { findings, page, seconds, slowest })
}

/// The longest of the runs that the plan needed; bounds and searches for places are many runs.
fn slowest(plan: &Plan, cases: &Cases) -> Result<Option<(String, f64)>, Report> {
    let mut slowest: Option<(String, f64)> = None;
    for name in &plan.names {
        let Work::Suite { needs, .. } = find(name)?.work else { continue };
        let single = |c: &Case| !c.bound && matches!(c.marks, Placement::None | Placement::Default);
        for case in needs(plan.scale).into_iter().filter(single) {
            let seconds = cases.get(&case)?.seconds;
            if slowest.as_ref().is_none_or(|s| s.1 < seconds) {
                slowest = Some((case.to_string(), seconds));
            }
        }
    }
    Ok(slowest)
}

/// What is to be done, longest first, and how many pieces are not any more.
fn pieces(
    experiments: &[&'static Experiment],
    scale: Scale,
    cases: &Cases,
    kept: &[Finding],
) -> (Vec<Piece>, usize) {
    let mut needed: Vec<Case> = Vec::new();
    let mut alone: Vec<(&str, Vec<&'static Experiment>)> = Vec::new();
    let mut before = kept.len();
    for e in experiments.iter().filter(|e| kept.iter().all(|k| k.name != e.name)) {
        match e.work {
            Work::Suite { needs, .. } => needed.extend(needs(scale)),
            Work::Alone(_) => {
                // The experiments of SWAS look at the same runs.
                let family = if e.name.starts_with("swas") { "swas" } else { e.name };
                match alone.iter_mut().find(|a| a.0 == family) {
                    Some(group) => group.1.push(e),
                    None => alone.push((family, vec![e])),
                }
            }
        }
    }
    needed.sort();
    needed.dedup();
    let all = needed.len();
    needed.retain(|c| !cases.known(c));
    before += all - needed.len();
    let mut pieces: Vec<Piece> = alone.into_iter().map(|a| Piece::Experiments(a.1)).collect();
    pieces.extend(needed.into_iter().map(Piece::Case));
    pieces.sort_by(|a, b| b.estimate().total_cmp(&a.estimate()));
    (pieces, before)
}

/// Does the pieces over `plan.jobs` threads; the first error ends it, after what is under way.
fn work(
    pieces: &[Piece],
    kept: usize,
    plan: &Plan,
    news: &(dyn Fn(&News) + Sync),
    one: &(dyn Fn(&Piece) -> Result<(), Report> + Sync),
) -> Result<(), Report> {
    let jobs = plan.jobs.max(1);
    let (next, stop, failed) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(None));
    let done = Mutex::new((0usize, 0.0f64));
    let total: f64 = pieces.iter().map(Piece::estimate).sum();
    let start = Instant::now();
    let tell = |what: String, done: usize, worth: f64| {
        // Estimates are for another machine: after a while, this one's pace counts.
        let spent = start.elapsed().as_secs_f64() * jobs as f64;
        let pace = if worth > 20.0 { spent / worth } else { 1.0 };
        let seconds_left = (total - worth).max(0.0) * pace / jobs as f64;
        news(&News { done, of: pieces.len(), what, seconds_left, kept });
    };
    tell(String::new(), 0, 0.0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pieces.len()) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    if let Err(e) = one(piece) {
                        stop.store(true, Ordering::Relaxed);
                        lock(&failed).get_or_insert(e);
                        break;
                    }
                    let mut done = lock(&done);
                    *done = (done.0 + 1, done.1 + piece.estimate());
                    tell(piece.name(), done.0, done.1);
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some(e) => Err(e),
    }
}

/// Runs an experiment whose cases are known, or that has none, and keeps what came out.
fn finish(e: &'static Experiment, plan: &Plan, cases: &Cases, stamp: &str) -> Result<Finding, Report> {
    let start = Instant::now();
    let notebook = e.measure(&plan.dir, cases, plan.scale)?;
    let mut finding = e.finding(e.published, notebook);
    finding.seconds = start.elapsed().as_secs_f64();
    if let Work::Suite { needs, .. } = e.work {
        for case in needs(plan.scale) {
            finding.seconds += cases.get(&case)?.seconds;
        }
    }
    let path = kept_file(e, plan);
    let text =
        serde_json::to_string_pretty(&Kept { stamp: full_stamp(stamp, plan), finding: finding.clone() });
    wb_files::write(&path, text.into_diagnostic()?)?;
    Ok(finding)
}

fn kept_file(e: &Experiment, plan: &Plan) -> PathBuf {
    plan.dir.join(format!("{}.json", e.name))
}

fn full_stamp(stamp: &str, plan: &Plan) -> String {
    format!("{stamp} {}", plan.scale.name())
}

/// The finding of an earlier run of this program, if its files are still there.
fn read(e: &Experiment, plan: &Plan, stamp: &str) -> Option<Finding> {
    let text = wb_files::read_text(&kept_file(e, plan), wb_files::Kind::Kept).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    let here = |f: &PathBuf| f.starts_with(&plan.dir) && f.exists();
    let same = kept.stamp == full_stamp(stamp, plan) && kept.finding.name == e.name;
    (same && kept.finding.files.iter().all(here)).then_some(kept.finding)
}

/// `results.csv` and `results.parquet`: every row of every experiment.
fn results(plan: &Plan, findings: &[Finding]) -> Result<(), Report> {
    let mut nb = Notebook::new(&plan.dir, "results");
    let head = ["experiment", "quantity", "published", "ours", "verdict", "why"].map(str::to_owned);
    let rows = findings.iter().flat_map(|f| {
        f.rows.iter().map(|r| {
            let verdict = r.verdict.map_or("", Verdict::name);
            [&f.name, &r.quantity, &r.published, &r.ours, verdict, &r.why].map(str::to_owned).to_vec()
        })
    });
    nb.csv(".csv", &head, rows)
}

fn about(plan: &Plan, seconds: f64, kept: usize) -> About {
    let line = |name: &str, value: &str, note: &str| (name.to_owned(), value.to_owned(), note.to_owned());
    let sizes = match plan.scale {
        Scale::Tiny => "the smallest inputs",
        Scale::Quick => "small inputs",
        Scale::Full => "inputs up to the large ones of THESIS Table 6.1",
    };
    let from_before = match kept {
        0 => String::new(),
        n => format!(", {n} pieces of work from an earlier run"),
    };
    let lines = vec![
        line("benchmark suite", plan.scale.name(), sizes),
        line("time", &span(seconds), &format!("{} at once{from_before}", plan.jobs)),
        line("program", env!("CARGO_PKG_VERSION"), "wavebound"),
        line("all rows", "results", "results.csv, results.parquet"),
    ];
    About { title: "Published experiments, reproduced".to_owned(), lines }
}

/// `12.3 s` or `4 min 5 s`.
pub fn span(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {} s", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::miette;
    use std::path::Path;

    fn plan(dir: &Path, names: &[&str], fresh: bool) -> Plan {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Plan { names, scale: Scale::Quick, dir: dir.to_owned(), jobs: 2, fresh }
    }

    #[test]
    fn a_stopped_run_goes_on() -> Result<(), Report> {
        let dir = tempfile::tempdir().into_diagnostic()?;
        let heard = Mutex::new(Vec::new());
        let go = |names: &[&str], fresh| {
            lock(&heard).clear();
            let made = reproduce(&plan(dir.path(), names, fresh), &|n: &News| lock(&heard).push(n.clone()))?;
            let news = lock(&heard).clone();
            let first = news.first().ok_or_else(|| miette!("no news"))?.clone();
            let end = news.last().ok_or_else(|| miette!("no news"))?.clone();
            assert_eq!(end.done, end.of);
            Ok::<_, Report>((made.findings, first.of, first.kept))
        };
        let (one, todo, kept) = go(&["pdom-1"], false)?;
        assert_eq!((one.len(), todo, kept), (1, 1, 0));
        let (two, todo, kept) = go(&["guppy-5", "pdom-1", "guppy-5"], false)?;
        assert_eq!((two.len(), todo, kept), (2, 1, 1), "pdom-1 is kept, guppy-5 is new and asked for once");
        assert_eq!(two[1].rows, one[0].rows);
        assert!(dir.path().join("index.html").exists() && dir.path().join("results.parquet").exists());
        std::fs::remove_file(&two[0].files[0]).into_diagnostic()?;
        assert_eq!(go(&["guppy-5", "pdom-1"], false)?.1, 1, "a file of guppy-5 is gone");
        assert_eq!(go(&["guppy-5", "pdom-1"], true)?.1, 2, "all again");
        let text = std::fs::read_to_string(dir.path().join("results.csv")).into_diagnostic()?;
        assert!(text.lines().count() > 5 && text.contains("pdom-1,"), "{text}");
        Ok(())
    }

    #[test]
    fn an_error_ends_the_work() {
        let dir = std::env::temp_dir();
        let plan = plan(&dir, &[], false);
        let pieces: Vec<Piece> = (0..20).map(|_| Piece::Experiments(Vec::new())).collect();
        let tried = AtomicUsize::new(0);
        let result = work(&pieces, 0, &plan, &|_| (), &|_| match tried.fetch_add(1, Ordering::Relaxed) {
            2 => Err(miette!("no")),
            _ => Ok(()),
        });
        assert_eq!(result.unwrap_err().to_string(), "no");
        assert!(tried.load(Ordering::Relaxed) <= 20);
    }

    #[test]
    fn spans() {
        assert_eq!([span(3.13), span(59.99), span(125.4)], ["3.1 s", "60.0 s", "2 min 5 s"]);
    }
}
