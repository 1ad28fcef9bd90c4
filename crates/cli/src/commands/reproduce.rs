//! `wavebound reproduce`: published experiments beside ours, with a verdict on each: reproduced, shape only, differs.

use super::{CommandResult, Printed, print, print_json, print_line};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use wb_lab::reproduce::{self, Finding, FindingJson, News, Plan, Scale, Verdict, span};

#[derive(Args)]
pub struct ReproduceArgs {
    /// Experiments to run, or `all`; without a name they are listed
    names: Vec<String>,
    /// Folder for data, plots and the page; a stopped run continues from what is there
    #[arg(long, short, default_value = "out/reproduce")]
    out: PathBuf,
    /// Use only small inputs of the benchmark suite: a few minutes instead of the full run
    #[arg(long)]
    quick: bool,
    /// Number of threads [default: as many as the computer has cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Start over, even if an earlier run left results in the folder
    #[arg(long)]
    fresh: bool,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

/// Exit codes besides 0 (all reproduced) and 1 (an error, or a difference without a known reason).
const SHAPE_ONLY: u8 = 3;
const DIFFERS: u8 = 4;

impl Printed for Vec<FindingJson<'_>> {
    const NAME: &'static str = "reproduce";
}

pub fn main(args: ReproduceArgs) -> CommandResult {
    if args.names.is_empty() {
        for e in reproduce::experiments() {
            print_line(&format!("{:<11} {} [{}]", e.name, e.title, e.source));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names = if args.names.iter().any(|n| n == "all") {
        reproduce::experiments().iter().map(|e| e.name.to_owned()).collect()
    } else {
        args.names.clone()
    };
    let cores = wavebound::sim::threads(0);
    let plan = Plan {
        names,
        scale: if args.quick { Scale::Quick } else { Scale::Full },
        dir: args.out.clone(),
        jobs: args.jobs.map_or(cores, usize::from),
        fresh: args.fresh,
    };
    let progress = Progress::default();
    let made = reproduce::reproduce(&plan, &|news| progress.show(news, plan.jobs))?;
    progress.end();
    let names = |which: &dyn Fn(&Finding) -> bool| {
        made.findings.iter().filter(|f| which(f)).map(|f| f.name.clone()).collect::<Vec<_>>()
    };
    let [reproduced, shape, differs] = Verdict::ALL.map(|v| names(&|f| f.verdict() == v));
    let broken = names(&|f| !f.passed());
    if args.json {
        print_json(&made.findings.iter().map(Finding::to_json).collect::<Vec<_>>())?;
    } else {
        for finding in &made.findings {
            print(&finding.table());
            print_line("");
        }
        let of = made.findings.len();
        print_line(&format!("{} of {of} reproduced in {}", reproduced.len(), span(made.seconds)));
        for (verdict, names) in [(Verdict::ShapeOnly, &shape), (Verdict::Differs, &differs)] {
            if !names.is_empty() {
                print_line(&format!("{} {}: {}", names.len(), verdict.name(), names.join(", ")));
            }
        }
        if let Some((case, seconds)) = &made.slowest {
            print_line(&format!("slowest run: {case}, {}", span(*seconds)));
        }
        print_line(&format!("page: {}", made.page.display()));
    }
    if !broken.is_empty() {
        super::tell(&format!("no reason is known why these differ: {}", broken.join(", ")));
        return Ok(ExitCode::FAILURE);
    }
    Ok(match (shape.is_empty(), differs.is_empty()) {
        (true, true) => ExitCode::SUCCESS,
        (false, true) => ExitCode::from(SHAPE_ONLY),
        (_, false) => ExitCode::from(DIFFERS),
    })
}

/// Work that takes less is not worth an announcement.
const SHORT: f64 = 20.0;

/// Time between lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(30);

/// A bar on a terminal; otherwise what to expect, and a line now and then.
#[derive(Default)]
struct Progress {
    bar: OnceLock<Option<ProgressBar>>,
    last: Mutex<Option<Instant>>,
}

impl Progress {
    fn show(&self, news: &News, jobs: usize) {
        let bar = self.bar.get_or_init(|| {
            if news.kept > 0 {
                super::tell(&format!(
                    "{} pieces of work are there from an earlier run (--fresh: all again)",
                    news.kept
                ));
            }
            if news.seconds_left > SHORT {
                let time = span(news.seconds_left);
                super::tell(&format!("{} pieces of work, {jobs} at once: about {time}", news.of));
            }
            bar(news.of)
        });
        match bar {
            Some(bar) => {
                bar.set_position(news.done as u64);
                bar.set_message(format!("{} left, {}", span(news.seconds_left), news.what));
            }
            None => {
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.get_or_insert_with(Instant::now).elapsed() > EVERY {
                    *last = Some(Instant::now());
                    super::tell(&format!(
                        "{} of {} done, about {} left",
                        news.done,
                        news.of,
                        span(news.seconds_left)
                    ));
                }
            }
        }
    }

    fn end(&self) {
        if let Some(Some(bar)) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn bar(of: usize) -> Option<ProgressBar> {
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(of as u64))?;
    if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    Some(bar)
}
