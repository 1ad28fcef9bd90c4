//! The page of `wavebound hip --html` and `cl --html`: a row for each launch, and a part for each kernel with all of its launches added up.

use super::run::Run;
use super::told::Told;
use crate::commands::outcome::size;
use std::collections::BTreeMap;
use std::path::Path;
use wavebound::jobs::last_part;
use wavebound::report::pages::bound::shown_command;
use wavebound::report::pages::run as pages;
use wavebound::report::pages::run::{Launch, Page, Part};
use wb_host::{LaunchRecord, short_name};

pub(super) fn write(run: &Run, told: &Told, path: &Path) -> miette::Result<()> {
    Ok(wavebound::files::write(path, pages::html(&page(run, told)))?)
}

fn page(run: &Run, told: &Told) -> Page {
    let program = run.program.first().map(|p| Path::new(p).display().to_string()).unwrap_or_default();
    let kernels = kernels(told);
    let mut totals = None;
    for (_, part) in &kernels {
        match &mut totals {
            None => totals = Some(part.stats.clone()),
            Some(sum) => sum.add(&part.stats),
        }
    }
    let shown = kernels.len().min(pages::MOST_PARTS);
    let place = |kernel: &str| kernels.iter().position(|k| k.0 == kernel).filter(|&i| i < shown);
    let launches: Vec<Launch> = told.launches.iter().map(|l| row(l, told, place(&l.kernel))).collect();
    let left_out = kernels.len() - shown;
    let folder = Path::new(&program).parent().unwrap_or(Path::new("")).to_owned();
    let with_sources = |(_, mut part): (String, Part)| {
        // Some are in no file: the program brought them along.
        let mut found = pages::find_sources(&part.stats, None, &[&folder, Path::new("")]);
        found.retain(|(name, _)| part.sources.iter().all(|s| s.0 != *name));
        part.sources.extend(found);
        part.what = format!("{} {} {}", part.launches, plural(part.launches), part.what);
        part
    };
    let mut about = told.start.as_ref().map_or(String::new(), |s| {
        let untimed = if s.timed { "" } else { ", untimed" };
        format!("{} on {}, mechanism {}{untimed}", last_part(&program), s.machine, s.mechanism)
    });
    let counted: u64 = kernels.iter().map(|k| k.1.launches).sum();
    let lost = (told.launches.len() as u64).saturating_sub(counted);
    if lost > 0 {
        about += &format!(
            ". Details of {lost} launches are missing: their process did not end by returning from main or calling exit"
        );
    }
    Page {
        title: format!("Launches of {}", last_part(&program)),
        command: shown_command(std::env::args().skip(1)),
        about,
        launches,
        parts: kernels.into_iter().take(shown).map(with_sources).collect(),
        left_out,
        left_out_are: "kernels",
        totals,
    }
}

fn plural(launches: u64) -> &'static str {
    if launches == 1 { "launch" } else { "launches" }
}

/// Kernels of all processes, the one that takes the most cycles first.
fn kernels(told: &Told) -> Vec<(String, Part)> {
    let mut sums: BTreeMap<&str, Part> = BTreeMap::new();
    for (process, kernel, part) in &told.parts {
        let mut part = part.clone();
        if told.processes > 1 && !part.timeline_of.is_empty() {
            part.timeline_of = format!("Process {process}: {}", part.timeline_of);
        }
        match sums.get_mut(kernel.as_str()) {
            Some(sum) => sum.add(part),
            None => _ = sums.insert(kernel, part),
        }
    }
    let mut all: Vec<(String, Part)> = sums.into_iter().map(|(k, p)| (k.to_owned(), p)).collect();
    all.sort_by_key(|(_, p)| std::cmp::Reverse(p.stats.cycles));
    all
}

fn row(l: &LaunchRecord, told: &Told, part: Option<usize>) -> Launch {
    let lanes = told.start.as_ref().map_or(1, |s| s.lanes.max(1));
    let used = |c: &wb_host::Counts| c.lanes as f64 / (c.instructions * u64::from(lanes)).max(1) as f64;
    Launch {
        // With several processes, launch 2 of the third is 3.2.
        number: if told.processes > 1 { format!("{}.{}", l.process, l.number) } else { l.number.to_string() },
        kernel: short_name(&l.kernel),
        grid: size(std::array::from_fn(|d| l.grid[d].saturating_mul(l.block[d]))),
        group: size(l.block),
        cycles: l.cycles,
        waves: l.waves.into(),
        wave_instructions: l.wave_instructions,
        lane_use: l.counts.as_ref().map(used),
        splits: l.counts.as_ref().map(|c| c.splits),
        part,
    }
}
