//! `wavebound demo`: the whole story on an embedded kernel that clang compiled. Where its lanes part, how long it takes at
//! most, where to split its waves, how long it takes then, and a certificate that somebody else can check.

mod lanes;
mod teaching;

use super::wcet::write;
use super::{CommandResult, print, print_line};
use clap::Args;
use lanes::Lanes;
use miette::{IntoDiagnostic, Report, WrapErr, miette};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::bound::{self, CodePlace, Effort, KernelBound, Options, Runs, count};
use wavebound::jobs::object::SplitSpec;
use wavebound::jobs::{Job, JobError, JobSpec};
use wavebound::report::pages::bound::{self as pages, About};
use wavebound::report::{History, PictureOptions, draw};
use wavebound::sim::RunOptions;
use wavebound::trace::{BranchStats, Observers, Statistics};

const FILE: &str = "control.O2.co";
const OBJECT: &[u8] = include_bytes!("../../../../../fixtures/gcn3/control.O2.co");
const SOURCE_NAME: &str = "control.cl";
const SOURCE: &str = include_str!("../../../../../fixtures/gcn3/control.cl");
const KERNEL: &str = "switches";
/// Work-items of the launch: four waves.
const ITEMS: u32 = 256;
/// What `n` is in each run, all with other random numbers. Without the last one nothing would be known about the time
/// of a kernel that never enters its loop.
const ROUNDS: [u32; 4] = [16, 16, 16, 0];
/// Instructions are there when they are needed: what they cost otherwise would hide what divergence costs.
const FRONT_END: &str = "frontend.kind=perfect";
/// Rows of the lanes' picture: about a round of the kernel's loop.
const ROWS: usize = 24;

#[derive(Args)]
pub struct DemoArgs {
    /// Folder for the report, the certificate and the pictures
    #[arg(long, short, default_value = "out/demo")]
    out: PathBuf,
    /// Show what divergence is, on the two small teaching machines GUPPY and HARP
    #[arg(long)]
    teaching: bool,
}

/// One way to run the kernel: contexts of a wave, and the branches at which it splits.
struct Setup {
    name: &'static str,
    contexts: u32,
    at: Vec<String>,
}

pub fn main(args: DemoArgs) -> CommandResult {
    let out = &args.out;
    std::fs::create_dir_all(out)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make the folder {}", out.display()))?;
    if args.teaching { teaching::main(out) } else { story(out) }
}

fn story(out: &Path) -> CommandResult {
    print_line(&format!("1. A kernel: `{KERNEL}` of {SOURCE_NAME}, compiled by clang for AMD GCN3\n"));
    print_line(&numbered_source());
    let plain = Setup { name: "not split", contexts: 0, at: Vec::new() };

    print_line(&format!(
        "\n2. Where it diverges: {ITEMS} work-items, n = {}, random input; # is a lane that works\n",
        ROUNDS[0]
    ));
    diverges(&job(&plain, 0)?, out)?;

    print_line(
        "\n3. How long it takes at most, waves not split (machine pws, instructions always at hand)\n",
    );
    let whole = analyse(&plain)?;
    headline(&whole);

    print_line("\n4. Where to split: of the places that the model suggests, those with the smallest bound\n");
    let mut rows = vec![(plain, whole)];
    for (name, contexts) in [("best, S = 1", 1), ("best, S = 3", 3)] {
        let at = best(contexts)?;
        let setup = Setup { name, contexts, at };
        let found = analyse(&setup)?;
        rows.push((setup, found));
    }

    print_line("\n5. The worst case again: marked, run and bounded anew\n");
    table(&rows);
    same_results(&rows)?;

    let (setup, last) = rows.last().ok_or_else(|| miette!("nothing was bounded"))?;
    print_line(&format!(
        "\n6. A proof that does not need this program: the certificate for {}\n",
        setup.name
    ));
    check(last, &out.join("certificate.json"))?;
    let page = out.join("report.html");
    let command = format!("wavebound demo  # {}", command(setup));
    write(&page, &pages::html(std::slice::from_ref(last), &About { command, deadline: None }))?;
    print_line(&format!("the whole report: {}", page.display()));
    print_line(
        "\nNext: wavebound wcet KERNEL --help · wavebound demo --teaching · wavebound reproduce · docs/wcet.md",
    );
    Ok(ExitCode::SUCCESS)
}

/// The kernel's lines of the source file.
fn numbered_source() -> String {
    let lines = SOURCE.lines().enumerate();
    let start = |line: &str| line.contains(&format!("void {KERNEL}("));
    let mut shown = Vec::new();
    for (i, line) in lines.skip_while(|(_, line)| !start(line)) {
        shown.push(format!("{:>4}  {line}", i + 1));
        if line == "}" {
            break;
        }
    }
    shown.join("\n")
}

fn spec(setup: &Setup, run: usize) -> JobSpec {
    let mechanism = if setup.contexts == 0 { "none" } else { "pws" };
    JobSpec {
        isa: Some(wavebound::hw::InstructionSet::Gcn3),
        machine: "pws".into(),
        sets: vec![
            format!("divergence.mechanism={mechanism}"),
            format!("split.contexts={}", setup.contexts),
            FRONT_END.to_owned(),
        ],
        kernel: KERNEL.into(),
        grid3: [ITEMS, 1, 1],
        group3: [64, 1, 1],
        args: vec![
            format!("buf:u32:{ITEMS}:random={}", run + 1).into(),
            format!("buf:u32:{ITEMS}").into(),
            format!("u32:{}", ROUNDS[run % ROUNDS.len()]).into(),
        ],
        split: SplitSpec { at: setup.at.clone(), ..SplitSpec::default() },
        ..JobSpec::default()
    }
}

/// What a user would type for nearly the same: all runs have the same `n`.
fn command(setup: &Setup) -> String {
    let at: String = setup.at.iter().map(|a| format!(" --split-at {a}")).collect();
    format!(
        "wavebound wcet {FILE} --kernel {KERNEL} --machine pws --set {FRONT_END} --mechanism pws --s {}{at} --grid {ITEMS} --group \
         64 --arg buf:u32:{ITEMS}:random=1 --arg buf:u32:{ITEMS} --arg u32:{} --runs 3 --unmeasured exclude",
        setup.contexts, ROUNDS[0]
    )
}

fn job(setup: &Setup, run: usize) -> Result<Job, JobError> {
    Job::from_bytes(FILE, OBJECT, &spec(setup, run))
}

fn runs(setup: &Setup) -> Result<Runs, JobError> {
    Ok(Runs::Jobs((0..ROUNDS.len()).map(|i| job(setup, i)).collect::<Result<_, _>>()?))
}

fn options() -> Options {
    Options {
        what_if: true,
        sources: vec![(SOURCE_NAME.to_owned(), SOURCE.to_owned())],
        ..Options::default()
    }
}

fn analyse(setup: &Setup) -> Result<KernelBound, Report> {
    let found = bound::analyse(&runs(setup)?, &options(), &mut |_, _| ())?;
    found.into_iter().next().ok_or_else(|| miette!("no kernel was launched"))
}

/// Addresses of the branches to mark for S contexts: placed on the measured kernel, marked, measured, the best of all.
fn best(contexts: u32) -> Result<Vec<String>, Report> {
    let address = |p: &CodePlace| format!("{:#x}", p.addr);
    let marked = |places: &[CodePlace], contexts: u32| {
        let setup = Setup { name: "", contexts, at: places.iter().map(address).collect() };
        Ok((runs(&setup)?, options()))
    };
    let found = bound::best_places(&marked, &|_| Vec::new(), contexts, Effort::GUIDE, &mut |_, _| ())?;
    let tried = found.proof.tried;
    let how = if found.proof.optimal { "proved optimal" } else { "best found" };
    let Some(best) = found.best.map(|i| &found.candidates[i]) else {
        print_line(&format!("  S = {contexts}: no split lowers the bound; {how}, {tried} placements tried"));
        return Ok(Vec::new());
    };
    let places: Vec<String> = best.places.iter().map(ToString::to_string).collect();
    print_line(&format!("  S = {contexts}: split at {}; {how}, {tried} placements tried", places.join(", ")));
    Ok(best.places.iter().map(address).collect())
}

/// Lanes as text and as a picture, and the branches that cost most.
fn diverges(job: &Job, out: &Path) -> Result<(), Report> {
    let (mut lanes, mut statistics, mut history) = (Lanes::default(), Statistics::new(), History::new());
    {
        let mut observers = Observers::new();
        observers.push(&mut lanes);
        observers.push(&mut statistics);
        observers.push(&mut history);
        job.run(RunOptions::default(), Some(&mut observers))?;
    }
    print(&lanes.text(job, ROWS));
    let stats = statistics.stats();
    let mut worst: Vec<&BranchStats> = stats.branches.iter().filter(|b| b.lane_cycles_lost > 0).collect();
    worst.sort_by_key(|b| (std::cmp::Reverse(b.lane_cycles_lost), b.pc));
    print_line(&format!(
        "\nlanes in use: {:.1} %; branches by lane-cycles that lanes sat out because of them",
        100.0 * stats.lane_utilisation
    ));
    print_line("  line   executed   lanes parted   lane-cycles lost");
    for b in worst.iter().take(5) {
        print_line(&format!(
            "  {:>4} {:>10} {:>14} {:>18}",
            b.line, b.executed, b.diverged, b.lane_cycles_lost
        ));
    }
    let picture = out.join("lanes.png");
    let title = format!("{KERNEL}: lanes over time");
    draw(&history, &PictureOptions { title, ..PictureOptions::default() }, &picture)?;
    print_line(&format!("picture: {}", picture.display()));
    Ok(())
}

fn headline(k: &KernelBound) {
    print_line(&format!("  bound of a launch   {:>8} cycles", longest(k).0));
    print_line(&format!("  longest observed    {:>8} cycles ({})", longest(k).1, k.behind()));
    for l in &k.loops {
        let seen = l.observed.map_or(String::new(), |n| format!("; {n} seen"));
        print_line(&format!("  loop at {}: at most {} rounds ({}{seen})", l.header, l.max, l.origin));
    }
    print_line(
        "  The bound holds for any input as far as control flow goes; times are the longest that were measured, and other\n  data, addresses (cache lines, banks) or co-runners may take longer.",
    );
}

/// The largest bound and the longest run among the launches.
fn longest(k: &KernelBound) -> (u64, u64) {
    let bound = k.launches.iter().map(|l| l.bound).max().unwrap_or(0);
    (bound, k.launches.iter().map(|l| l.observed).max().unwrap_or(0))
}

fn table(rows: &[(Setup, KernelBound)]) {
    let base = rows.first().map_or(1, |(_, k)| longest(k).0.max(1));
    let behind = rows.first().map_or(String::new(), |(_, k)| k.behind());
    print_line(&format!("  each: {behind}"));
    print_line("  waves           bound   observed   bound / observed   bound against not split");
    for (setup, k) in rows {
        let (bound, observed) = longest(k);
        print_line(&format!(
            "  {:<12} {bound:>8} {observed:>10} {:>18.2} {:>24}",
            setup.name,
            bound as f64 / observed.max(1) as f64,
            format!("{:+.1} %", 100.0 * (bound as f64 / base as f64 - 1.0))
        ));
    }
}

/// Splitting changes when, never what.
fn same_results(rows: &[(Setup, KernelBound)]) -> Result<(), Report> {
    let mut first: Option<Vec<String>> = None;
    for (setup, _) in rows {
        let job = job(setup, 0)?;
        let outcome = job.run(RunOptions::default(), None)?;
        let values = job.values(&job.find_buffer("arg1")?, &outcome)?;
        if first.get_or_insert_with(|| values.clone()) != &values {
            return Err(miette!(help = "please report this", "{}: the results are different", setup.name));
        }
    }
    print_line(&format!("  All {} compute the same {ITEMS} results.", rows.len()));
    Ok(())
}

fn check(k: &KernelBound, path: &Path) -> Result<(), Report> {
    write(path, &k.certificate)?;
    let checked = wavebound::check::check(&k.certificate)
        .map_err(|e| miette!(help = "please report this", "the certificate does not prove the bound: {e}"))?;
    print_line(&format!(
        "  checked without the analyser: no wave takes more than {} cycles ({}, {}, {}), no launch more than {}",
        checked.bound,
        count(checked.nodes, "node"),
        count(checked.edges, "edge"),
        count(checked.loops, "loop"),
        checked.binding.as_ref().map_or(0, |b| b.total.0)
    ));
    if let Some(binding) = &checked.binding {
        print_line(&format!("  {}", binding.times.text()));
    }
    print_line(&format!("  again, by yourself: wavebound check-bound {}", path.display()));
    Ok(())
}
