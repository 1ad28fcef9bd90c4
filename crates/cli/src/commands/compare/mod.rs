//! `wavebound compare`: the same launches under several mechanisms, contexts, policies or machine fields, side by side. Results
//! in memory must be equal. A variant that the machine refuses is a row with its reason, not the end.

mod args;
mod result;
mod run;
pub mod show;
mod variants;

pub use args::CompareArgs;

use self::result::{Compared, Outcome};
use super::interrupt::Watch;
use super::{CommandResult, page, print, print_json, print_line};
use indicatif::ProgressBar;
use miette::miette;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use wavebound::report::pages::compare as pages;

pub fn main(args: CompareArgs) -> CommandResult {
    let variants = variants::variants(&args)?;
    let files = [&args.html, &args.csv, &args.parquet];
    wavebound::files::check_outputs(files.into_iter().flatten().map(PathBuf::as_path))?;
    let watch = Watch::new()?;
    let outcomes = run_all(&args, &variants, &watch);
    if let Some(interrupted) = watch.interrupted() {
        return Err(interrupted.into());
    }
    let compared = Compared::new(&args, variants, outcomes);
    if args.json {
        print_json(&compared.json())?;
    } else {
        print(&compared.table());
    }
    if let Some(path) = &args.csv {
        wavebound::files::write(path, compared.csv())?;
    }
    if let Some(path) = &args.parquet {
        let (head, rows) = compared.cells();
        wavebound::files::write(path, wb_lab::reproduce::parquet_table(&head, &rows)?)?;
    }
    if let Some(path) = &args.html {
        wavebound::files::write(path, pages::html(&html(&args, &compared)))?;
        if !args.json {
            print_line(&format!("page: {}", path.display()));
        }
    }
    judge(&args, &compared)
}

/// Runs all variants, several at a time; the results are in their order.
fn run_all(args: &CompareArgs, variants: &[variants::Variant], watch: &Watch) -> Vec<Outcome> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Outcome>>> = Mutex::new(variants.iter().map(|_| None).collect());
    let cores = wavebound::sim::threads(0);
    let workers = args.jobs.unwrap_or(cores).clamp(1, variants.len().max(1));
    let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((i, variant)) = take(&next, variants) {
                    let outcome = run::run(args, variant, watch);
                    let n = done.fetch_add(1, Ordering::SeqCst) + 1;
                    if let Some(bar) = &bar {
                        bar.set_message(format!("{n} of {} variants, {}", variants.len(), variant.name));
                        bar.tick();
                    }
                    if let Ok(mut results) = results.lock() {
                        results[i] = Some(outcome);
                    }
                }
            });
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let lost = || Outcome::Failed("its thread ended".into());
    results.into_iter().map(|r| r.unwrap_or_else(lost)).collect()
}

fn take<'a>(next: &AtomicUsize, all: &'a [variants::Variant]) -> Option<(usize, &'a variants::Variant)> {
    let i = next.fetch_add(1, Ordering::SeqCst);
    all.get(i).map(|v| (i, v))
}

fn html(args: &CompareArgs, compared: &Compared) -> pages::Page {
    let ran = compared.rows.iter().find_map(|r| r.outcome.ran());
    let file = ran.map_or("", |r| r.file.as_str());
    let sources = ran.map_or(Vec::new(), |r| page::sources(&r.stats, r.source.as_ref(), &args.target, file));
    let variant = |row: &result::Row| pages::Variant {
        name: row.variant.name.clone(),
        stats: row.outcome.ran().map(|r| r.stats.clone()),
        refused: row.outcome.why().unwrap_or_default().to_owned(),
        differs: row.differs.clone().unwrap_or_default(),
    };
    pages::Page {
        title: format!("{} compared", compared.what),
        command: wavebound::report::pages::bound::shown_command(std::env::args().skip(1)),
        about: format!("{} variants of {}", compared.rows.len(), compared.machine),
        variants: compared.rows.iter().map(variant).collect(),
        sources,
        memory: compared.memory(),
    }
}

/// Equal results everywhere, or an error that names what differs.
fn judge(args: &CompareArgs, compared: &Compared) -> CommandResult {
    let failed = compared.rows.iter().find(|r| matches!(r.outcome, Outcome::Failed(_)));
    if let Some(row) = failed {
        return Err(miette!("{}: {}", row.variant.name, row.outcome.why().unwrap_or_default()));
    }
    if compared.rows.iter().all(|r| r.outcome.ran().is_none()) {
        let why = compared.rows.first().and_then(|r| r.outcome.why()).unwrap_or("there is none");
        return Err(miette!(
            help = "`wavebound mechanisms` lists what runs on which machines",
            "no variant ran: {why}"
        ));
    }
    let different = compared.rows.iter().find_map(|r| Some((r, r.differs.as_ref()?)));
    match different {
        Some((row, what)) if !args.racy => Err(miette!(
            help = "results of a program without races are the same on every machine; --racy accepts differences",
            "{}: {what}",
            row.variant.name
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}
