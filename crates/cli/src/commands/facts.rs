//! `wavebound facts`: the loops of a kernel with what is proven about them, as a facts file to fill in; or a check of such a
//! file (docs/facts.md).

use super::target::{Size, size};
use super::{CommandResult, Printed, print, print_json, print_line};
use clap::Args;
use miette::{Report, miette};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::facts::{self, FlowError, FlowFacts, Known, LoopFact};
use wavebound::files::Kind;
use wavebound::isa::Isa;
use wavebound::jobs::{AnyProgram, Job, JobSpec, with_program};
use wavebound::program::Program;

#[derive(Args)]
pub struct FactsArgs {
    /// Program: .co .hsaco .s .cl .hip, .harp .hof, .guppy .gupm
    file: PathBuf,
    /// GCN3 kernel, if there are several
    #[arg(long, default_value = "")]
    kernel: String,
    /// Threads to launch, N or XxYxZ; lets more limits be proven
    #[arg(long, value_parser = size)]
    grid: Option<Size>,
    /// Threads of a group, N or XxYxZ; lets more limits be proven
    #[arg(long, value_parser = size)]
    group: Option<Size>,
    /// Kernel arguments in order, as for `run`: buf:f32:1024, i32:5, …; lets more limits be proven
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Check a facts file (TOML, or OTAWA's FFX) instead of writing one: is it current, and has every loop a limit?
    #[arg(long, value_name = "FACTS")]
    check: Option<PathBuf>,
    /// Print JSON (docs/json.md)
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// File to write (default: standard output)
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct LoopJson {
    pc: u32,
    addr: u64,
    source: String,
    depth: u32,
    /// How often it goes round at most each time it is entered; null if nothing says so.
    max: Option<u64>,
    origin: Option<&'static str>,
    why: String,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct FactsJson {
    version: u32,
    file: String,
    kernel: String,
    checksum: String,
    loops: Vec<LoopJson>,
    linear_facts: usize,
}

impl Printed for FactsJson {
    const NAME: &'static str = "facts";
}

pub fn main(args: FactsArgs) -> CommandResult {
    wavebound::files::check_outputs(args.output.as_deref())?;
    let (program, proved) = load(&args)?;
    with_program!(program.borrow(), p => write(&args, p, proved))
}

/// The program and what is proven about its loops with the launch as far as it is given.
fn load(args: &FactsArgs) -> Result<(AnyProgram, Vec<LoopFact>), Report> {
    if args.args.is_empty() {
        let loaded = wavebound::jobs::load(&args.file, &args.kernel)?;
        let size = |s: Option<Size>| s.map_or([0; 3], Size::three);
        let known = Known { group: size(args.group), grid: size(args.grid), ..Known::default() };
        let proved =
            loaded.program.borrow().gcn3().map_or(Vec::new(), |p| facts::infer_gcn3(p, &known).loops);
        return Ok((loaded.program, proved));
    }
    let spec = JobSpec {
        kernel: args.kernel.clone(),
        grid3: args.grid.map_or([64, 1, 1], Size::three),
        group3: args.group.map_or([64, 1, 1], Size::three),
        args: args.args.iter().cloned().map(Into::into).collect(),
        ..JobSpec::default()
    };
    let job = Job::from_file(&args.file, &spec)?;
    let proved = |p| facts::infer_gcn3(p, &Known::launch(p, &job.kernarg, &job.args)).loops;
    let proved = job.program.borrow().gcn3().map_or(Vec::new(), proved);
    Ok((job.program, proved))
}

fn write<I: Isa>(args: &FactsArgs, program: &Program<I>, proved: Vec<LoopFact>) -> CommandResult {
    let name = args.file.display().to_string();
    facts::analysable(program).map_err(|e| flow_report(&name, &e))?;
    let mut known = FlowFacts::default();
    if let Some(path) = &args.check {
        known = read(path, program)?;
    }
    known.add(proved.clone());
    let calls = facts::calls_of(program);
    if args.check.is_some() {
        facts::require_bounds(program, &calls, &known).map_err(|e| flow_report(&name, &e))?;
    }
    if args.json {
        return print_json(&json(program, &name, &known)).map(|()| ExitCode::SUCCESS);
    }
    if let Some(path) = &args.check {
        for l in facts::loops(program, &calls) {
            if let Some(fact) = known.bound(l.header) {
                let why = if fact.why.is_empty() { String::new() } else { format!(": {}", fact.why) };
                print_line(&format!("{}: at most {}, {}{why}", l.place(), fact.max, fact.origin.name()));
            }
        }
        let count = known.facts.len();
        print_line(&format!("{}: current, all loops have a limit, {count} linear facts", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let text = facts::template(program, &proved);
    match &args.output {
        None => print(&text),
        Some(path) => wavebound::files::write(path, text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read<I: Isa>(path: &Path, program: &Program<I>) -> Result<FlowFacts, Report> {
    let text = wavebound::files::read_text(path, Kind::Description)?;
    Ok(FlowFacts::parse(&text, &path.display().to_string(), program).map_err(|e| *e)?)
}

fn json<I: Isa>(program: &Program<I>, file: &str, known: &FlowFacts) -> FactsJson {
    let calls = facts::calls_of(program);
    let loops = facts::loops(program, &calls)
        .into_iter()
        .map(|l| {
            let fact = known.bound(l.header);
            LoopJson {
                pc: l.header,
                addr: l.addr,
                source: l.source.map_or_else(String::new, |(file, line)| format!("{file}:{line}")),
                depth: l.depth,
                max: fact.map(|f| f.max),
                origin: fact.map(|f| f.origin.name()),
                why: fact.map_or_else(String::new, |f| f.why.clone()),
            }
        })
        .collect();
    FactsJson {
        version: 1,
        file: file.to_owned(),
        kernel: program.kernel.clone(),
        checksum: facts::checksum(program, &calls),
        loops,
        linear_facts: known.facts.len(),
    }
}

/// Why a kernel cannot be bounded, with what to do.
fn flow_report(name: &str, error: &FlowError) -> Report {
    miette!(help = error.hint(), "{name}: {error}")
}
