//! `wavebound campaign --planted`: kernels with one planted error or none, under our checker and under Oclgrind.

use super::{CommandResult, Printed, print, print_json, print_line};
use indicatif::ProgressBar;
use miette::miette;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use wavebound::sanitize::Kind;
use wb_lab::planted::{self, Case, Oclgrind, Place, Report};

impl Printed for Report {
    const NAME: &'static str = "campaign-planted";
}

/// Tries the corpus, or the part of it whose names or kinds contain `only`; sources and launches stay in `keep`.
pub fn search(only: Option<&str>, keep: Option<&Path>, json: bool) -> CommandResult {
    let place = match keep {
        Some(folder) => Place::kept(folder)?,
        None => Place::temporary()?,
    };
    let wanted = |case: &Case| {
        let kind = case.planted.map_or("clean", Kind::name);
        only.is_none_or(|text| case.name.contains(text) || kind == text)
    };
    let cases = planted::cases()?;
    let chosen = cases.iter().filter(|c| wanted(c)).count();
    if chosen == 0 {
        let help = format!("kinds: clean, {}", Kind::ALL.map(Kind::name).join(", "));
        return Err(miette!(help = help, "no case is called `{}`", only.unwrap_or("")));
    }
    let timed = cases.iter().filter(|c| wanted(c) && c.timed).count();
    let oclgrind = Oclgrind::find();
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new((chosen + timed) as u64));
    let report = planted::run(&place, oclgrind.as_ref(), &wanted, &|| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let report = report?;
    if json {
        print_json(&report)?;
    } else {
        print(&planted::text(&report));
        if oclgrind.is_none() {
            print_line("Oclgrind is not there: its package is `oclgrind`");
        }
        print_line(&format!("{} cases, {} not as they should be", report.rows.len(), report.bad));
    }
    Ok(if report.bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
