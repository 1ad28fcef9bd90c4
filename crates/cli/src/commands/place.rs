//! `wavebound split --optimal`: finds the places whose splits lower the bound most, marks them, and says what each
//! brings (docs/wcet.md).

use super::split_input::SplitInput;
use super::target::{MachineArgs, Size, size};
use super::wcet::{AnalysisArgs, with_progress};
use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use miette::miette;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::bound::{self, Best, Candidate, CodePlace, Effort, KernelBound, Proof, Runs};
use wavebound::hw::{MarkStyle, Mechanism};
use wavebound::jobs::launch::WorkloadSpec;
use wavebound::jobs::object::{self, SplitSpec};
use wavebound::jobs::{Job, JobError, JobSpec};
use wavebound::objects::marks::{Request, Wanted};

/// Contexts that are tried when nobody says how many there are.
const DEFAULT_CONTEXTS: u32 = 3;

/// Placements that are printed.
const SHOWN: usize = 16;

/// The launch that is measured.
#[derive(Args)]
pub struct PlacingArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// --optimal: measure the launches of this launch file; its object must be FILE
    #[arg(long, value_name = "LAUNCH.toml")]
    launch: Option<PathBuf>,
    /// --optimal: work-items to launch, N or XxYxZ
    #[arg(long, value_parser = size)]
    grid: Option<Size>,
    /// --optimal: work-items of a group
    #[arg(long, value_parser = size)]
    group: Option<Size>,
    /// --optimal: kernel arguments in order, as for `wavebound run`
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,
    /// --optimal: most placements to measure, besides those the model suggests; if there are no more, all are measured
    #[arg(long, value_name = "N", default_value_t = Effort::default().tries)]
    tries: usize,
    #[command(flatten)]
    analysis: AnalysisArgs,
}

/// What is to be marked.
pub struct SplitTarget<'a> {
    pub program: &'a SplitInput,
    pub workload: Option<&'a WorkloadSpec>,
    pub kernel: &'a str,
    pub style: MarkStyle,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct PlacedJson<'a> {
    version: u32,
    file: String,
    output: Option<String>,
    bound_without: u64,
    observed_without: u64,
    bound: u64,
    observed: u64,
    /// Whether that is the best there is, and how it is known.
    proof: &'a Proof,
    candidates: &'a [Candidate],
    chosen: Vec<&'a CodePlace>,
    kernels: &'a [KernelBound],
}

impl Printed for PlacedJson<'_> {
    const NAME: &'static str = "split-optimal";
}

impl PlacingArgs {
    /// The launches with places marked.
    fn runs(&self, target: &SplitTarget, places: &[CodePlace], contexts: u32) -> Result<Runs, JobError> {
        let mut spec: JobSpec = self.machine.spec();
        let mechanism = if contexts == 0 { Mechanism::ExecMask } else { target.style.mechanism() };
        spec.sets.push(format!("divergence.mechanism={mechanism}"));
        spec.sets.push(format!("split.contexts={contexts}"));
        let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
        spec.split = SplitSpec { at, all: false, style: target.style };
        if let Some(which) = target.workload {
            return Ok(bound::placed(which, &self.machine.spec(), places, contexts, target.style));
        }
        if let Some(path) = &self.launch {
            return Ok(Runs::File { path: path.clone(), spec: Box::new(spec), runs: 1 });
        }
        spec.kernel = target.kernel.to_owned();
        spec.grid3 = self.grid.map_or([64, 1, 1], Size::dimensions);
        spec.group3 = self.group.map_or([64, 1, 1], Size::dimensions);
        spec.args = self.args.iter().cloned().map(Into::into).collect();
        Ok(Runs::Jobs(vec![Job::from_file(&target.program.file, &spec)?]))
    }
}

pub fn main(args: &PlacingArgs, target: &SplitTarget, output: &Path, json: bool) -> CommandResult {
    let contexts = args.machine.contexts.unwrap_or(DEFAULT_CONTEXTS);
    if contexts == 0 {
        return Err(miette!(help = "--s 1 or more", "without contexts no wave can split"));
    }
    let options = args.analysis.options()?;
    let marked = |places: &[CodePlace], contexts: u32| {
        let runs = args.runs(target, places, contexts)?;
        let options = runs.workload_options(&options)?;
        Ok((runs, options))
    };
    let effort = Effort { tries: args.tries };
    let none = |_: &[KernelBound]| Vec::new();
    let best = with_progress(|progress| bound::best_places(&marked, &none, contexts, effort, progress))?;
    let places: Vec<CodePlace> = best.best.map_or(Vec::new(), |i| best.candidates[i].places.clone());
    let output = write(target, &places, output)?;
    if json {
        let sum = |list: &[KernelBound], of: fn(&KernelBound) -> u64| list.iter().map(of).sum();
        let with = if best.with.is_empty() { &best.without } else { &best.with };
        print_json(&PlacedJson {
            version: 1,
            file: target.program.name.clone(),
            output,
            bound_without: sum(&best.without, |k| k.bound),
            observed_without: sum(&best.without, |k| k.observed),
            bound: sum(with, |k| k.bound),
            observed: sum(with, |k| k.observed),
            proof: &best.proof,
            candidates: &best.candidates,
            chosen: places.iter().collect(),
            kernels: with,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    show(&best, contexts);
    match output {
        Some(path) => print_line(&format!("{path}: {} branches marked", places.len())),
        None => print_line("no file is written: not splitting has the smallest bound"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the program with the places marked.
fn write(target: &SplitTarget, places: &[CodePlace], output: &Path) -> miette::Result<Option<String>> {
    if places.is_empty() {
        return Ok(None);
    }
    let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
    let request = Request { kernel: target.kernel.to_owned(), wanted: Wanted::At(at), style: target.style };
    let marked = object::mark(&target.program.name, &target.program.bytes, &request)?;
    wavebound::files::write(output, &marked.bytes)?;
    Ok(Some(output.display().to_string()))
}

fn show(best: &Best, contexts: u32) {
    let bound: u64 = best.without.iter().map(|k| k.bound).sum();
    let observed: u64 = best.without.iter().map(|k| k.observed).sum();
    let behind = bound::behind_all(&best.without);
    print_line(&format!("without splitting: bound {bound} cycles, observed {observed} ({behind})"));
    let mut warnings: Vec<&String> = best.without.iter().flat_map(|k| &k.warnings).collect();
    warnings.dedup();
    warnings.iter().for_each(|w| print_line(&format!("WARNING: {w}")));
    if best.candidates.is_empty() {
        print_line("no branch can be marked; `wavebound split FILE --list` says why");
        return;
    }
    print_line(&format!(
        "placements for up to {contexts} contexts, measured on a machine with {contexts}, {behind} each:"
    ));
    print_line("    for S  splits        bound     observed  places");
    for (i, c) in best.candidates.iter().enumerate().take(SHOWN) {
        let places: Vec<String> = c.places.iter().map(CodePlace::to_string).collect();
        let star = if best.best == Some(i) { "*" } else { " " };
        print_line(&format!(
            "  {star} {:>5} {:>7} {:>12} {:>12}  {}",
            c.contexts,
            c.places.len(),
            c.bound,
            c.observed,
            places.join(", ")
        ));
    }
    if best.candidates.len() > SHOWN {
        print_line(&format!("  … {} more with larger bounds; --json has all", best.candidates.len() - SHOWN));
    }
    if let Some(failed) = best.proof.failed.first() {
        let places: Vec<String> = failed.places.iter().map(CodePlace::to_string).collect();
        let n = best.proof.failed.len();
        let first = failed.error.lines().next().unwrap_or_default();
        print_line(&format!("{n} without a bound, the first: splits at {}: {first}", places.join(", ")));
    }
    print_line(&best.proof.why);
    for k in &best.with {
        for b in k.branches.iter().filter(|b| b.marked) {
            let state = if b.sure { "counted on" } else { "not counted on: a context may be missing" };
            let brings = match (b.with, b.without) {
                (Some(with), Some(without)) => {
                    format!(
                        "; with a segment for every block a wave's bound is {with} with it, {without} without"
                    )
                }
                _ => String::new(),
            };
            print_line(&format!("{}: split at {}, {state}{brings}", k.kernel, b.branch));
        }
    }
    let now: u64 = best.with.iter().map(|k| k.bound).sum();
    if !best.with.is_empty() {
        let less = 100.0 * (1.0 - now as f64 / bound.max(1) as f64);
        print_line(&format!("bound {bound} → {now} cycles, {less:.1} % less"));
    }
}
