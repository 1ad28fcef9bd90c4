//! The options of `wavebound hip` and `wavebound cl`, and the same for the library.

use super::api::Api;
use super::folder::Folder;
use crate::commands::sanitize::SanitizeArgs;
use crate::commands::style::StyleArg;
use crate::commands::target::MachineArgs;
use crate::commands::trace_args::TraceArgs;
use crate::commands::wcet::AnalysisArgs;
use clap::Args;
use miette::IntoDiagnostic;
use std::io::IsTerminal;
use std::path::PathBuf;
use wavebound::hw::MarkStyle;
use wb_host::{Capture, Options};

#[derive(Args)]
pub struct HostArgs {
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    /// Run kernels without a pipeline: fast, same results; cycles are then wave-instructions
    #[arg(long)]
    pub(super) untimed: bool,
    /// Host threads of kernels whose groups do not communicate, untimed or with --no-stats [default: as many as the computer has
    /// cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(super) threads: usize,
    /// Stop a kernel with an error after this many cycles (limits.cycles)
    #[arg(long, value_name = "CYCLES")]
    pub(super) limit: Option<u64>,
    /// Count no lanes, divergence and splits: fastest
    #[arg(long)]
    pub(super) no_stats: bool,
    /// Check the mask invariants after every instruction
    #[arg(long)]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) trace: TraceArgs,
    /// Draw the execution history of each launch (.png or .svg)
    #[arg(long, value_name = "FILE")]
    pub(super) picture: Option<PathBuf>,
    /// Write one page of HTML: a row for each launch, and for each kernel source and assembly as heat maps, branches, memory,
    /// occupancy and a timeline
    #[arg(long, value_name = "FILE", conflicts_with = "no_stats")]
    pub(super) html: Option<PathBuf>,
    /// Write launch N of a kernel (default: its first) as a launch file with its code object and data, for `run`, `wcet`, `split`,
    /// `compare` and all other commands
    #[arg(long, value_name = "KERNEL[:N]", value_parser = capture_arg)]
    pub(super) capture: Option<(String, usize)>,
    /// The folder that --capture writes to
    #[arg(long, value_name = "FOLDER", default_value = "capture", requires = "capture")]
    pub(super) capture_to: PathBuf,
    #[command(flatten)]
    pub(super) sanitize: SanitizeArgs,
    /// Mark a branch of the kernels' code for splitting, by address, FILE:LINE or LABEL; repeatable (docs/splitting.md)
    #[arg(long = "split-at", value_name = "PLACE")]
    pub(super) split_at: Vec<String>,
    /// Mark all divergent branches for splitting (docs/splitting.md)
    #[arg(long)]
    pub(super) split_all: bool,
    /// How --split-at and --split-all mark: split and merge, or the MODE bit [default: what the mechanism reads]
    #[arg(long, value_enum)]
    pub(super) split_style: Option<StyleArg>,
    /// Bound every kernel from its launches when the program ends (docs/wcet.md)
    #[arg(long)]
    pub(super) wcet: bool,
    #[command(flatten)]
    pub(super) analysis: AnalysisArgs,
    /// Print a row for each launch, however many there are
    #[arg(long)]
    pub(super) all: bool,
    /// Print the report as JSON (docs/json.md), after the program's own output
    #[arg(long)]
    pub(super) json: bool,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

impl HostArgs {
    pub(super) fn options(&self, folder: &Folder, api: &Api) -> miette::Result<Options> {
        let spec = self.machine.spec();
        let mut sets = spec.sets;
        sets.extend(self.limit.map(|n| format!("limits.cycles={n}")));
        let absolute = |path: &Option<PathBuf>| -> miette::Result<Option<PathBuf>> {
            path.as_ref().map(|p| std::path::absolute(p).into_diagnostic()).transpose()
        };
        let machine = match spec.machine {
            // The program may change its folder before the library reads the file.
            name if name.ends_with(".toml") => {
                std::path::absolute(&name).into_diagnostic()?.display().to_string()
            }
            name => name,
        };
        let marked = self.split_all || !self.split_at.is_empty();
        let options = Options {
            machine,
            sets,
            untimed: self.untimed || self.sanitize.sanitize,
            threads: self.threads,
            no_stats: self.no_stats,
            check: self.check,
            split_at: self.split_at.clone(),
            split_all: self.split_all,
            split_mode: self.machine.style(self.split_style, marked) == MarkStyle::Thesis,
            trace: absolute(&self.trace.trace)?,
            trace_options: self.trace.options()?,
            picture: absolute(&self.picture)?,
            page: self.html.is_some(),
            capture: match &self.capture {
                Some((kernel, number)) => Some(Capture {
                    kernel: kernel.clone(),
                    number: *number,
                    folder: std::path::absolute(&self.capture_to).into_diagnostic()?,
                }),
                None => None,
            },
            sanitize: self.sanitize.for_library(api.lanes_in_step)?,
            wcet: self.wcet.then(|| self.analysis.for_library()).transpose()?,
            progress: std::io::stderr().is_terminal(),
            records: Some(folder.records()),
            command: Some(std::process::id()),
        };
        // What is wrong with the machine or with names of files shows before the program starts.
        options.affordable_machine()?;
        let picture = options.picture_of(1, 1);
        picture.iter().try_for_each(|p| wavebound::report::check_name(p))?;
        let files = [options.trace_of(1, 1), picture, self.report.clone(), self.html.clone()];
        wavebound::files::check_outputs(files.iter().flatten().map(PathBuf::as_path))?;
        Ok(options)
    }
}

/// `KERNEL` or `KERNEL:3`. Names of kernels may have colons of their own, in pairs.
fn capture_arg(text: &str) -> Result<(String, usize), String> {
    let (kernel, number) = match text.rsplit_once(':') {
        Some((kernel, digits)) if !kernel.ends_with(':') => {
            let number = digits.parse().ok().filter(|n| *n > 0);
            (kernel, number.ok_or_else(|| format!("`{digits}` is no number of a launch, from 1"))?)
        }
        _ => (text, 1),
    };
    match kernel.is_empty() {
        true => Err("the name of a kernel is missing".to_owned()),
        false => Ok((kernel.to_owned(), number)),
    }
}
