//! The page that `run --html` writes: parts from launches as they end, the most expensive ones kept.

use super::outcome::size;
use super::record::Record;
use super::target::Target;
use miette::Report;
use std::path::Path;
use wavebound::hw::Machine;
use wavebound::isa::SourceFile;
use wavebound::jobs::Job;
use wavebound::jobs::last_part;
use wavebound::objects::codeobject::names;
use wavebound::report::pages::bound::shown_command;
use wavebound::report::pages::run::{self, Launch, Occupancy, Page, Part};
use wavebound::sim;
use wavebound::trace::Stats;

/// Collects what a page needs, launch by launch.
pub struct Pages {
    page: Page,
    /// Numbers of the launches that have parts, in the order of the parts.
    kept: Vec<usize>,
}

/// A launch that has ended.
pub struct Ended<'a> {
    pub kernel: &'a str,
    /// The file that the program came from.
    pub file: &'a str,
    pub grid: String,
    pub group: String,
    pub machine: &'a Machine,
    pub occupancy: Option<Occupancy>,
}

/// What fits on a core, for launches in groups.
pub fn occupancy(machine: &Machine, launch: sim::Launch) -> Option<Occupancy> {
    let sim::Launch::Groups(groups) = launch else { return None };
    Some(Occupancy::of(machine, groups.needs(machine.core.lanes), groups.count))
}

/// A kernel's name for people.
pub fn readable(kernel: &str) -> String {
    names::readable(kernel).unwrap_or_else(|| kernel.to_owned())
}

/// Source texts of a run: what the program was made from, and files beside it.
pub fn sources(
    stats: &Stats,
    own: Option<&SourceFile>,
    target: &Target,
    file: &str,
) -> Vec<(String, String)> {
    let which = target.workload.spec().ok().flatten();
    let given = match (&which, own) {
        (Some(w), _) => Some(("kernel.cl", w.workload.source)),
        (None, Some(own)) => Some((own.name.as_str(), &*own.text)),
        (None, None) => None,
    };
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    run::find_sources(stats, given, &[folder])
}

impl Default for Pages {
    fn default() -> Self {
        let page = Page { left_out_are: "launches", ..Page::default() };
        Pages { page, kept: Vec::new() }
    }
}

impl Pages {
    /// Adds a launch; what it cost is in the record.
    pub fn add(&mut self, ended: Ended, record: &mut Record, sources: Vec<(String, String)>) {
        let Some(stats) = &record.stats else { return };
        let (number, kernel) = (self.page.launches.len() + 1, readable(ended.kernel));
        self.page.launches.push(Launch {
            number: number.to_string(),
            kernel: kernel.clone(),
            grid: ended.grid.clone(),
            group: ended.group.clone(),
            cycles: stats.cycles,
            waves: stats.waves,
            wave_instructions: stats.wave_instructions,
            lane_use: Some(stats.lane_utilisation),
            splits: Some(stats.contexts.started),
            part: None,
        });
        match &mut self.page.totals {
            Some(sum) => sum.add(stats),
            None => self.page.totals = Some(stats.clone()),
        }
        let of = if ended.file.is_empty() { String::new() } else { format!("of {}", last_part(ended.file)) };
        let size = match ended.grid.is_empty() {
            true => String::new(),
            false => format!(", {} threads in groups of {}", ended.grid, ended.group),
        };
        self.page.about = about(&of, ended.machine, stats.timed);
        self.page.parts.push(Part {
            name: format!("Launch {number}: {kernel}"),
            what: format!("{}{size}", about(&of, ended.machine, stats.timed)),
            launches: 1,
            stats: stats.clone(),
            occupancy: ended.occupancy,
            timeline: record.timeline.take(),
            timeline_of: String::new(),
            sources,
        });
        self.kept.push(number - 1);
        if let Some(gone) = run::drop_one(&mut self.page.parts) {
            self.kept.remove(gone);
            self.page.left_out += 1;
        }
    }

    /// Writes the page.
    pub fn write(mut self, path: &Path) -> Result<(), Report> {
        for (part, &launch) in self.kept.iter().enumerate() {
            self.page.launches[launch].part = Some(part);
        }
        if let ([only], [part]) = (self.page.launches.as_slice(), self.page.parts.as_mut_slice()) {
            part.name.clone_from(&only.kernel);
            self.page.about = String::new();
        }
        let mut kernels: Vec<&str> = self.page.launches.iter().map(|l| l.kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let more = if kernels.len() > 3 { format!(" and {} more", kernels.len() - 3) } else { String::new() };
        kernels.truncate(3);
        self.page.title = format!("Run of {}{more}", kernels.join(", "));
        self.page.command = shown_command(std::env::args().skip(1));
        Ok(wavebound::files::write(path, run::html(&self.page))?)
    }
}

/// `of kernel.co on gcn3, mechanism pws, S = 3`.
pub fn about(of: &str, machine: &Machine, timed: bool) -> String {
    let contexts = if machine.splits() { format!(", S = {}", machine.split.contexts) } else { String::new() };
    let untimed = if timed { "" } else { ", untimed" };
    format!("{of} on {}, mechanism {}{contexts}{untimed}", machine.name, machine.divergence.mechanism)
        .trim_start()
        .to_owned()
}

/// The page of one launch that a job ran.
pub fn write_job(job: &Job, target: Option<&Target>, record: &mut Record, path: &Path) -> Result<(), Report> {
    let (grid, group) = match job.launch {
        sim::Launch::Groups(g) => (size(g.grid), size(g.group)),
        sim::Launch::Grid { threads, group } => (threads.to_string(), group.to_string()),
        sim::Launch::Boot | sim::Launch::Cores { .. } => (String::new(), String::new()),
    };
    let found = match (&record.stats, target) {
        (Some(stats), Some(target)) => sources(stats, job.source(), target, &job.file),
        (Some(stats), None) => {
            run::find_sources(stats, job.source().map(|s| (s.name.as_str(), &*s.text)), &[])
        }
        (None, _) => Vec::new(),
    };
    let mut pages = Pages::default();
    let kernel = job.program.borrow().kernel().to_owned();
    let occupancy = occupancy(&job.machine, job.launch);
    let ended = Ended { kernel: &kernel, file: &job.file, grid, group, machine: &job.machine, occupancy };
    pages.add(ended, record, found);
    pages.write(path)
}
