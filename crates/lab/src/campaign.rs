//! The soundness campaign: random kernels under every mechanism; the bound that is computed from a set of runs must not
//! be below any of them. A case is its number, so that any of them can be run again.

use miette::Report;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use wb_bound::{KernelBound, Options, Runs, TraceFiles, hybrid, is_hybrid_certificate};
use wb_report::{Axis, Chart, lines};
use wb_testgen::random::gcn3::{Kernel, Marking, Setup, generate, job, source};
use wb_testgen::random::mix;
use wb_wcet::measure::Unmeasured;

/// One kernel on one machine with several inputs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CampaignCase {
    pub number: u64,
    pub mechanism: String,
    pub way: String,
    pub contexts: u32,
    pub marks: &'static str,
    pub bound: u64,
    pub observed: u64,
    pub wave_bound: u64,
    pub wave_observed: u64,
    pub splits: u64,
    /// Regions whose split was counted on.
    pub counted_on: usize,
    /// No run, and no wave of a run, was longer than its bound.
    pub sound: bool,
    /// The certificate passed the independent checker.
    pub certified: bool,
}

/// What happened under one mechanism with S contexts.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Summary {
    pub mechanism: String,
    pub contexts: u32,
    pub cases: usize,
    /// Cases in which waves split, and in which a split was counted on.
    pub split: usize,
    pub counted_on: usize,
    /// Geometric means of bound / observed, of launches and of waves, and the least of launches.
    pub ratio: f64,
    pub wave_ratio: f64,
    pub least: f64,
    pub violations: usize,
}

/// The kernel and machine of a case.
fn parts(number: u64) -> (Kernel, Setup) {
    let length = 40 + mix(number ^ 0x77) % 360;
    let numbers: Vec<u16> = (0..length).map(|i| mix(number << 16 ^ i) as u16).collect();
    (generate(&numbers), Setup::number(number))
}

/// The assembly of a case, to look at it.
pub fn case_source(number: u64) -> String {
    let (kernel, setup) = parts(number);
    format!("; {setup}\n{}", source(&kernel, &setup))
}

/// Runs a case with `inputs` different inputs and bounds it.
pub fn case(number: u64, inputs: u64) -> Result<CampaignCase, String> {
    let (found, setup) = bound_case(number, inputs)?;
    let sound =
        found.launches.iter().all(|l| l.bound >= l.observed) && found.wave_bound >= found.wave_observed;
    let certified = match is_hybrid_certificate(&found.certificate) {
        true => wb_check::check_hybrid(&found.certificate).is_ok_and(|r| r.bound == found.bound),
        false => wb_check::check(&found.certificate).is_ok_and(|r| r.bound == found.wave_bound),
    };
    Ok(CampaignCase {
        number,
        mechanism: found.mechanism.clone(),
        way: format!("{:?}", setup.way),
        contexts: setup.contexts,
        marks: match setup.marking {
            Marking::None => "none",
            Marking::Random(_) => "random",
            Marking::All => "all",
        },
        bound: found.bound,
        observed: found.observed,
        wave_bound: found.wave_bound,
        wave_observed: found.wave_observed,
        splits: found.splits,
        counted_on: found.branches.iter().filter(|b| b.sure).count(),
        sound,
        certified,
    })
}

/// The whole analysis of a case.
pub fn bound_case(number: u64, inputs: u64) -> Result<(KernelBound, Setup), String> {
    let (kernel, setup) = parts(number);
    let jobs = (0..inputs.max(1)).map(|i| job(&kernel, &setup, i)).collect::<Result<Vec<_>, _>>()?;
    let options = Options { facts_from_trace: true, unmeasured: Unmeasured::Exclude, ..Options::default() };
    let found = hybrid(&Runs::Jobs(jobs), &options, TraceFiles::default(), &mut |_, _| ())
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let found = found.into_iter().next().ok_or("no kernel was launched")?;
    Ok((found, setup))
}

/// Runs cases on a few threads; in order of their numbers.
pub fn run(
    numbers: Range<u64>,
    inputs: u64,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<CampaignCase>, (u64, String)> {
    let (next, found) = (AtomicU64::new(numbers.start), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= numbers.end {
                        break;
                    }
                    let case = case(n, inputs).map_err(|e| (n, e));
                    if case.is_err() {
                        next.store(numbers.end, Ordering::Relaxed);
                    }
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((n, case));
                    done();
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(n, _)| *n);
    found.into_iter().map(|(_, case)| case).collect()
}

pub fn summary(cases: &[CampaignCase]) -> Vec<Summary> {
    let mut groups: BTreeMap<(&str, u32), Vec<&CampaignCase>> = BTreeMap::new();
    for c in cases {
        groups.entry((&c.mechanism, c.contexts)).or_default().push(c);
    }
    let ratio = |bound: u64, observed: u64| bound as f64 / observed.max(1) as f64;
    let mean = |list: &[&CampaignCase], of: &dyn Fn(&CampaignCase) -> f64| {
        (list.iter().map(|c| of(c).ln()).sum::<f64>() / list.len().max(1) as f64).exp()
    };
    groups
        .into_iter()
        .map(|((mechanism, contexts), list)| Summary {
            mechanism: mechanism.to_owned(),
            contexts,
            cases: list.len(),
            split: list.iter().filter(|c| c.splits > 0).count(),
            counted_on: list.iter().filter(|c| c.counted_on > 0).count(),
            ratio: mean(&list, &|c| ratio(c.bound, c.observed)),
            wave_ratio: mean(&list, &|c| ratio(c.wave_bound, c.wave_observed)),
            least: list.iter().map(|c| ratio(c.bound, c.observed)).fold(f64::INFINITY, f64::min),
            violations: list.iter().filter(|c| !c.sound || !c.certified).count(),
        })
        .collect()
}

pub fn table(rows: &[Summary]) -> String {
    let mut out = String::from(
        "mechanism   S   cases   split  counted on  bound/observed  of a wave  least  violations\n",
    );
    for r in rows {
        let _ = writeln!(
            out,
            "{:<9} {:>3} {:>7} {:>7} {:>11} {:>15.3} {:>10.3} {:>6.3} {:>11}",
            r.mechanism,
            r.contexts,
            r.cases,
            r.split,
            r.counted_on,
            r.ratio,
            r.wave_ratio,
            r.least,
            r.violations
        );
    }
    out
}

/// The table of all cases, and the figure: bound / observed by mechanism, from the tightest case to the loosest.
pub fn write(cases: &[CampaignCase], out: &Path) -> Result<Vec<PathBuf>, Report> {
    let mut csv = String::from(
        "case,mechanism,way,contexts,marks,bound,observed,wave_bound,wave_observed,splits,counted_on,sound,certified\n",
    );
    for c in cases {
        let _ = writeln!(
            csv,
            "{},{},\"{}\",{},{},{},{},{},{},{},{},{},{}",
            c.number,
            c.mechanism,
            c.way,
            c.contexts,
            c.marks,
            c.bound,
            c.observed,
            c.wave_bound,
            c.wave_observed,
            c.splits,
            c.counted_on,
            c.sound,
            c.certified
        );
    }
    let table = out.join("campaign.csv");
    wb_files::write(&table, csv)?;
    let percent: Vec<f64> = (0..=100).step_by(2).map(f64::from).collect();
    let series = ["none", "thesis", "dws", "pws"].iter().map(|m| {
        let own = cases.iter().filter(|c| c.mechanism == *m);
        let mut ratios: Vec<f64> = own.map(|c| c.bound as f64 / c.observed.max(1) as f64).collect();
        ratios.sort_by(f64::total_cmp);
        let at = |p: &f64| ratios.get((p / 100.0 * (ratios.len().max(1) - 1) as f64) as usize).copied();
        (m.to_string(), percent.iter().map(|p| at(p).unwrap_or(f64::NAN)).collect())
    });
    let figure = out.join("campaign.svg");
    let chart = Chart {
        title: format!(
            "bound / observed of {} random kernels: 1 is exact, below 1 would be unsound",
            cases.len()
        ),
        x_label: "cases, sorted, in percent".into(),
        y_label: "bound / observed".into(),
        series: series.collect(),
        x: Axis::Numbers(percent.clone()),
    };
    lines(&figure, &chart)?;
    Ok(vec![table, figure])
}
