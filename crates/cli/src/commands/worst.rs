//! `wavebound worst`: searches for the input that takes longest, and saves it so that it can be run again (docs/worst.md).

use super::target::Target;
use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wavebound::bound::worst::{Effort, Ranged, Searched, Subject, SubjectBuffer, parse_range, search};
use wavebound::bound::{Options, Runs, exact};
use wavebound::files::Kind;
use wavebound::hw::InstructionSet;
use wavebound::jobs::data::Array;
use wavebound::jobs::launch::is_launch_file;

#[derive(Args)]
pub struct WorstArgs {
    #[command(flatten)]
    target: Target,
    /// Stop after this many seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Stop after this many tries; the same seed and tries give the same input
    #[arg(long)]
    tries: Option<u64>,
    /// Seed of the search
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Values that elements of a buffer may have, e.g. --range x=0..63 [default: from the least to the largest at first]
    #[arg(long = "range", value_name = "BUFFER=LOW..HIGH", value_parser = parse_range)]
    ranges: Vec<Ranged>,
    /// Folder for the input that was found: a .npy file for each buffer, and worst.toml, which runs it again
    #[arg(long, short, default_value = "out/worst")]
    out: PathBuf,
    /// Go on from the input in the folder
    #[arg(long)]
    resume: bool,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct WorstJson {
    version: u32,
    /// No contents can change the time: nothing was searched.
    exact: bool,
    start: u64,
    worst: u64,
    tries: u64,
    failed: u64,
    reason: Option<String>,
    steps: Vec<(u64, u64)>,
    files: Vec<String>,
}

impl Printed for WorstJson {
    const NAME: &'static str = "worst";
}

pub fn main(args: WorstArgs) -> CommandResult {
    let workload = args.target.workload()?;
    let (subject, runs) = match workload {
        Some((which, spec)) => {
            let spec = Box::new(spec);
            (Subject::Workload { which: which.clone(), spec: spec.clone() }, Runs::Workload { which, spec })
        }
        None if is_launch_file(args.target.file()) => {
            let (path, spec) = (args.target.file().to_owned(), Box::new(args.target.launch_spec()?));
            (Subject::File { path: path.clone(), spec: spec.clone() }, Runs::File { path, spec, runs: 1 })
        }
        None => {
            (Subject::Job(Box::new(RefCell::new(args.target.job()?))), Runs::Jobs(vec![args.target.job()?]))
        }
    };
    let buffers = subject.buffers()?;
    if buffers.is_empty() {
        return Err(miette!(
            help = "give it buffers: --arg buf:u32:256:random=1",
            "there is no buffer to change"
        ));
    }
    let examined = exact::examine(&runs, &Options::default(), &mut |_, _| ())?;
    if examined.iter().all(|k| k.row.holds)
        && !matches!(subject, Subject::Workload { .. } | Subject::File { .. })
    {
        let cycles: u64 = examined.iter().flat_map(|k| k.cycles.values()).map(|c| c.1).sum();
        return exactly(cycles, args.json);
    }
    if args.resume {
        resume(&subject, &buffers, &args.out)?;
    }
    let effort = Effort {
        seed: args.seed,
        tries: args.tries.unwrap_or(u64::MAX),
        time: Duration::from_secs(args.seconds),
    };
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar
    });
    let found = search(&subject, &args.ranges, &effort, &mut |tries, longest| {
        if let Some(bar) = &bar {
            bar.set_message(format!("{tries} tries, longest {longest} cycles"));
            bar.tick();
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let found = found?;
    let files = save(&args, &buffers, &found)?;
    if args.json {
        print_json(&WorstJson {
            version: 1,
            exact: false,
            start: found.start,
            worst: found.worst.cycles,
            tries: found.tries,
            failed: found.failed,
            reason: found.reason,
            steps: found.steps,
            files: files.iter().map(|f| f.display().to_string()).collect(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let ratio = found.worst.cycles as f64 / found.start.max(1) as f64;
    print_line(&format!("start   {:>12} cycles", found.start));
    print_line(&format!("longest {:>12} cycles, {ratio:.3} times the start", found.worst.cycles));
    print_line(&format!("{} tries (seed {}), {} of them failed", found.tries, args.seed, found.failed));
    if let (Some(reason), true) = (&found.reason, found.failed * 2 > found.tries) {
        print_line(&format!("most tries fail, the last one: {reason}"));
        print_line("  give ranges that the kernel can bear: --range BUFFER=LOW..HIGH");
    }
    for file in &files {
        print_line(&format!("written: {}", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// There is nothing to search for.
fn exactly(cycles: u64, json: bool) -> CommandResult {
    if json {
        let (start, worst) = (cycles, cycles);
        let (steps, files) = (Vec::new(), Vec::new());
        let row = WorstJson {
            version: 1,
            exact: true,
            start,
            worst,
            tries: 0,
            failed: 0,
            reason: None,
            steps,
            files,
        };
        print_json(&row)?;
    } else {
        print_line(&format!(
            "exact: no contents of buffers change the time, {cycles} cycles (docs/exact.md)"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// File names of buffers: their names, letters and digits only.
fn file_name(buffers: &[SubjectBuffer], i: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = buffers[i].name.chars().map(plain).collect();
    let again = buffers[..i].iter().any(|b| b.name == buffers[i].name);
    if again || name.is_empty() { format!("{name}_{i}") } else { name }
}

/// Takes the contents that an earlier search left.
fn resume(subject: &Subject, buffers: &[SubjectBuffer], folder: &Path) -> miette::Result<()> {
    let Subject::Job(job) = subject else {
        return Err(miette!(
            help = "worst.toml of a launch file is a launch file: search on in that",
            "--resume is for kernels with --arg"
        ));
    };
    for i in 0..buffers.len() {
        let path = folder.join(format!("{}.npy", file_name(buffers, i)));
        // Our own file, not an input: the search writes it again.
        let bytes = wavebound::files::read(&path, Kind::Kept)?;
        let array = Array::from_npy(&bytes)?;
        if array.element != buffers[i].element || array.bytes.len() != buffers[i].contents.len() {
            return Err(miette!(
                help = "start without --resume",
                "{} is of another launch: it has other elements than {}",
                path.display(),
                buffers[i].name
            ));
        }
        let mut job = job.borrow_mut();
        let buffer = job.buffers[i].clone();
        job.set_contents(&buffer, &array.bytes);
    }
    Ok(())
}

/// Writes the input that was found.
fn save(args: &WorstArgs, buffers: &[SubjectBuffer], found: &Searched) -> miette::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(&args.out).into_diagnostic()?;
    let mut files = Vec::new();
    for (i, (b, bytes)) in buffers.iter().zip(&found.worst.contents).enumerate() {
        let path = args.out.join(format!("{}.npy", file_name(buffers, i)));
        let shape = vec![bytes.len() as u64 / b.element.bytes().max(1)];
        Array { element: b.element, shape, bytes: bytes.clone() }.write(&path)?;
        files.push(path);
    }
    if let Some(text) = launch_file(args, buffers, found)? {
        let path = args.out.join("worst.toml");
        wavebound::files::write(&path, &text)?;
        files.push(path);
    }
    Ok(files)
}

/// A launch file that runs the input again; none for programs that launch files are not for.
fn launch_file(
    args: &WorstArgs,
    buffers: &[SubjectBuffer],
    found: &Searched,
) -> miette::Result<Option<String>> {
    let target = &args.target;
    if target.workload.workload.is_some() || is_launch_file(target.file()) {
        return Ok(None);
    }
    if target.job()?.isa() != InstructionSet::Gcn3 {
        return Ok(None);
    }
    let spec = target.spec();
    let object = target.file().canonicalize().into_diagnostic()?;
    let quoted = |text: &str| toml_string(text);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# The longest of {} tries (seed {}): {} cycles, at first {}.",
        found.tries, args.seed, found.worst.cycles, found.start
    );
    let _ = writeln!(out, "object = {}", quoted(&object.display().to_string()));
    if !spec.machine.is_empty() {
        let machine = match Path::new(&spec.machine).canonicalize() {
            Ok(path) if spec.machine.ends_with(".toml") => path.display().to_string(),
            _ => spec.machine.clone(),
        };
        let _ = writeln!(out, "machine = {}", quoted(&machine));
    }
    if !spec.sets.is_empty() {
        let sets: Vec<String> = spec.sets.iter().map(|s| quoted(s)).collect();
        let _ = writeln!(out, "set = [{}]", sets.join(", "));
    }
    for i in 0..buffers.len() {
        let name = file_name(buffers, i);
        let _ = writeln!(out, "\n[buffers.{name}]\nfrom = {}", quoted(&format!("{name}.npy")));
    }
    let mut next = 0;
    let words: Vec<String> = target
        .args
        .iter()
        .map(|text| {
            if text.starts_with("buf:") {
                next += 1;
                quoted(&file_name(buffers, next - 1))
            } else {
                quoted(text)
            }
        })
        .collect();
    let size = |s: [u32; 3]| format!("[{}, {}, {}]", s[0], s[1], s[2]);
    let kernel = target.job()?.program.borrow().kernel().to_owned();
    let _ = writeln!(out, "\n[[launch]]\nkernel = {}", quoted(&kernel));
    let _ = writeln!(out, "grid = {}\ngroup = {}", size(spec.grid3), size(spec.group3));
    let _ = writeln!(out, "args = [{}]", words.join(", "));
    if spec.dynamic_lds > 0 {
        let _ = writeln!(out, "dynamic_lds = {}", spec.dynamic_lds);
    }
    Ok(Some(out))
}

/// A string as TOML writes it.
fn toml_string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
