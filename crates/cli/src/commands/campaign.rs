//! `wavebound campaign`: random kernels under every mechanism, no run of which may be longer than its bound; or random loops, none
//! of which may go round more often than proven; or kernels with planted errors (`planted`).

use super::{CommandResult, Printed, print, print_json, print_line};
use clap::Args;
use indicatif::ProgressBar;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::facts::SideCondition;
use wavebound::facts::taint::TaintRule;
use wb_lab::campaign::{self, CampaignCase, Summary};
use wb_lab::exact::{self, ExactSearch};
use wb_lab::loops::{self, Search};
use wb_lab::proved::{self, Fault, ProvedSearch, Style};

#[derive(Args)]
pub struct CampaignArgs {
    /// Number of random kernels, each on its own machine
    #[arg(long, default_value_t = 2160)]
    cases: u64,
    /// Number of the first case; the number decides everything about a case
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Number of inputs of each kernel
    #[arg(long, default_value_t = 3)]
    inputs: u64,
    /// Run one case and print its whole report
    #[arg(long, value_name = "NUMBER")]
    case: Option<u64>,
    /// Folder for the figure and the table (campaign.svg, campaign.csv)
    #[arg(long, short, default_value = "out/campaign")]
    out: PathBuf,
    /// Number of threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Search for wrong proofs instead, in this many random loops in assembly (docs/facts.md, "The search")
    #[arg(long, value_name = "CASES", conflicts_with_all = ["case", "opencl"])]
    loops: Option<u64>,
    /// Search for wrong proofs in this many random loops in OpenCL C, compiled with Debian's clang
    #[arg(long, value_name = "CASES", conflicts_with = "case")]
    opencl: Option<u64>,
    /// Search for wrong exact bounds in this many random kernels, each with --inputs contents (docs/exact.md, "The search")
    #[arg(long, value_name = "CASES", conflicts_with_all = ["case", "opencl", "loops"])]
    exact: Option<u64>,
    /// Search for wrong proved bounds in this many random kernels on random machines, each with --inputs contents
    /// (docs/proved-bounds.md, "The search")
    #[arg(long, value_name = "CASES", conflicts_with_all = ["case", "opencl", "loops", "exact"], group = "saves")]
    proved: Option<u64>,
    /// Try the checker (`run --sanitize`) on kernels with planted errors and on right ones, beside Oclgrind if it is there
    /// (docs/planted.md)
    #[arg(long, conflicts_with_all = ["case", "opencl", "loops", "exact"], group = "saves")]
    planted: bool,
    /// With --planted: only cases with this in their names, or of this kind
    #[arg(long, value_name = "TEXT", requires = "planted")]
    only: Option<String>,
    /// With --proved: kernels whose waves split, on machines that split them
    #[arg(long, requires = "proved")]
    splitting: bool,
    /// With --proved: the same, and lanes part for good at the end of the kernels
    #[arg(long, requires = "proved", conflicts_with = "splitting")]
    ending: bool,
    /// Leave out a lemma behind proved bounds, to see that the search then finds wrong ones
    #[arg(long, value_name = "NAME", value_parser = fault, requires = "proved")]
    without_lemma: Option<Fault>,
    /// Leave out a rule of the analysis behind exact bounds, to see that the search then finds wrong ones
    #[arg(long, value_name = "NAME", value_parser = taint_rule, requires = "exact")]
    without_rule: Option<TaintRule>,
    /// With --proved: write every case that is found to this folder, as kernel, machine, buffers and commands, once for each of
    /// its contents. With --planted: keep the sources, launch files and Oclgrind's files there
    #[arg(long, value_name = "FOLDER", requires = "saves", conflicts_with_all = ["splitting", "ending"])]
    save: Option<PathBuf>,
    /// Leave out a side condition of the prover, to see that the search then finds wrong proofs
    #[arg(long, value_name = "NAME", value_parser = side_condition)]
    without: Option<SideCondition>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

fn side_condition(name: &str) -> Result<SideCondition, String> {
    let all = SideCondition::ALL.map(|c| format!("{c:?}"));
    let found = SideCondition::ALL.into_iter().find(|c| format!("{c:?}") == name);
    found.ok_or_else(|| format!("one of {}", all.join(", ")))
}

fn taint_rule(name: &str) -> Result<TaintRule, String> {
    let all = TaintRule::ALL.map(|r| format!("{r:?}"));
    let found = TaintRule::ALL.into_iter().find(|r| format!("{r:?}") == name);
    found.ok_or_else(|| format!("one of {}", all.join(", ")))
}

fn fault(name: &str) -> Result<Fault, String> {
    let found = Fault::ALL.into_iter().find(|f| f.name() == name);
    found.ok_or_else(|| format!("one of {}", Fault::ALL.map(Fault::name).join(", ")))
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct ProvedJson {
    version: u32,
    cases: u64,
    proved: u64,
    /// By reason.
    refused: std::collections::BTreeMap<String, u64>,
    mean_ratio: f64,
    wrong: Vec<WrongJson>,
}

impl Printed for ProvedJson {
    const NAME: &'static str = "campaign-proved";
}

/// The search for wrong proved bounds.
fn search_proved(args: &CampaignArgs, count: u64) -> CommandResult {
    let style = match (args.splitting, args.ending) {
        (true, _) => Style::Splits,
        (_, true) => Style::Ends,
        (false, false) => Style::Any,
    };
    let what = ProvedSearch {
        cases: args.first..args.first + count,
        contents: args.inputs,
        threads: args.threads,
        style,
        without: args.without_lemma,
    };
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(count));
    let found = proved::search(&what, &|| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let found = found.map_err(|e| miette!("{e}"))?;
    if let Some(folder) = &args.save {
        let each = found.wrong.iter().flat_map(|w| (0..args.inputs).map(|input| (w.0, input)));
        for (case, input) in each {
            let files = proved::files(case, input).map_err(|e| miette!("{e}"))?;
            let folder = folder.join(format!("case-{case}-contents-{input}"));
            std::fs::create_dir_all(&folder).into_diagnostic()?;
            for (name, bytes) in files {
                wavebound::files::write(&folder.join(name), bytes)?;
            }
        }
    }
    let mean_ratio = found.ratios / found.proved.max(1) as f64;
    if args.json {
        let wrong =
            found.wrong.iter().map(|(case, what)| WrongJson { case: *case, what: vec![what.clone()] });
        let (cases, proved) = (found.cases, found.proved);
        print_json(&ProvedJson {
            version: 1,
            cases,
            proved,
            refused: found.refused.clone(),
            mean_ratio,
            wrong: wrong.collect(),
        })?;
    } else {
        for (case, what) in found.wrong.iter().take(5) {
            print_line(&format!("case {case}: {what}"));
        }
        for (why, n) in &found.refused {
            print_line(&format!("refused {n}: {why}"));
        }
        print_line(&format!(
            "{} kernels × {} contents: {} bounds proved, {mean_ratio:.3} times the longest run in the mean, {} within 1.5; {} cases WRONG",
            found.cases,
            args.inputs,
            found.proved,
            found.near,
            found.wrong.len()
        ));
    }
    Ok(if found.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct ExactJson {
    version: u32,
    cases: u64,
    exact: u64,
    differ: u64,
    refused: u64,
    wrong: Vec<WrongJson>,
}

impl Printed for ExactJson {
    const NAME: &'static str = "campaign-exact";
}

/// The search for wrong exact bounds.
fn search_exact(args: &CampaignArgs, count: u64) -> CommandResult {
    let what = ExactSearch {
        cases: args.first..args.first + count,
        contents: args.inputs,
        threads: args.threads,
        without: args.without_rule,
    };
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(count));
    let found = exact::search(&what, &|| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let found = found.map_err(|e| miette!("{e}"))?;
    if args.json {
        let wrong =
            found.wrong.iter().map(|(case, what)| WrongJson { case: *case, what: vec![what.clone()] });
        print_json(&ExactJson {
            version: 1,
            cases: found.cases,
            exact: found.exact,
            differ: found.differ,
            refused: found.refused.len() as u64,
            wrong: wrong.collect(),
        })?;
    } else {
        for (case, what) in found.wrong.iter().take(5) {
            print_line(&format!("case {case}: {what}"));
        }
        for (case, why) in found.refused.iter().take(5) {
            print_line(&format!("case {case}: the checker says: {why}"));
        }
        print_line(&format!(
            "{} kernels × {} contents: {} shown to be exact, {} of the others take different times; {} labellings refused by \
             the checker; {} cases WRONG",
            found.cases,
            args.inputs,
            found.exact,
            found.differ,
            found.refused.len(),
            found.wrong.len()
        ));
    }
    Ok(if found.wrong.is_empty() && found.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct CampaignJson<'a> {
    version: u32,
    violations: usize,
    summary: &'a [Summary],
    cases: &'a [CampaignCase],
}

impl Printed for CampaignJson<'_> {
    const NAME: &'static str = "campaign";
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct LoopsJson {
    version: u32,
    cases: u64,
    loops: usize,
    proved: usize,
    reached: usize,
    never_taken: usize,
    refused: u64,
    wrong: Vec<WrongJson>,
}

impl Printed for LoopsJson {
    const NAME: &'static str = "campaign-loops";
}

#[derive(Serialize, schemars::JsonSchema)]
struct WrongJson {
    case: u64,
    what: Vec<String>,
}

/// The search for wrong proofs.
fn search_loops(args: &CampaignArgs, count: u64, opencl: bool) -> CommandResult {
    let what = Search {
        cases: args.first..args.first + count,
        inputs: args.inputs.max(1) + 1,
        threads: args.threads,
        without: args.without,
        opencl,
    };
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(count));
    let found = loops::search(&what, &|done| {
        if let Some(bar) = &bar {
            bar.inc(done);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let found = found.map_err(|e| miette!("{e}"))?;
    if args.json {
        let wrong = found.wrong.iter().map(|(case, what)| WrongJson { case: *case, what: what.clone() });
        print_json(&LoopsJson {
            version: 1,
            cases: found.cases,
            loops: found.sum.loops,
            proved: found.sum.proved,
            reached: found.sum.reached,
            never_taken: found.sum.never,
            refused: found.refused,
            wrong: wrong.collect(),
        })?;
    } else {
        for (case, what) in found.wrong.iter().take(5) {
            print_line(&format!("case {case}: {}", what.first().map_or("", String::as_str)));
        }
        let sum = &found.sum;
        print_line(&format!(
            "{} cases: {} loops, {} limits proven, reached {} times, {} ways never taken; {} proofs refused by the \
             checker; {} cases WRONG",
            found.cases,
            sum.loops,
            sum.proved,
            sum.reached,
            sum.never,
            found.refused,
            found.wrong.len()
        ));
    }
    Ok(if found.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Printed for wavebound::KernelBound {
    const NAME: &'static str = "campaign-case";
}

pub fn main(args: CampaignArgs) -> CommandResult {
    if args.planted {
        return super::planted::search(args.only.as_deref(), args.save.as_deref(), args.json);
    }
    if let Some(count) = args.exact {
        return search_exact(&args, count);
    }
    if let Some(count) = args.proved {
        return search_proved(&args, count);
    }
    if let Some(count) = args.loops {
        return search_loops(&args, count, false);
    }
    if let Some(count) = args.opencl {
        return search_loops(&args, count, true);
    }
    if let Some(number) = args.case {
        let (found, setup) =
            campaign::bound_case(number, args.inputs).map_err(|e| miette!("case {number}: {e}"))?;
        if args.json {
            print_json(&found)?;
        } else {
            print_line(&format!("case {number}: {setup}"));
            print(&found.text(true));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(args.cases));
    let cases = campaign::run(args.first..args.first + args.cases, args.inputs, args.threads, &|| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    })
    .map_err(|(number, e)| {
        miette!(help = format!("again: wavebound campaign --case {number}"), "case {number}: {e}")
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    std::fs::create_dir_all(&args.out).into_diagnostic()?;
    let files = campaign::write(&cases, &args.out)?;
    let summary = campaign::summary(&cases);
    let bad: Vec<&CampaignCase> = cases.iter().filter(|c| !c.sound || !c.certified).collect();
    if args.json {
        print_json(&CampaignJson { version: 1, violations: bad.len(), summary: &summary, cases: &cases })?;
    } else {
        print(&campaign::table(&summary));
        for file in files {
            print_line(&format!("written: {}", file.display()));
        }
        print_line(&format!("{} cases × {} inputs, {} violations", cases.len(), args.inputs, bad.len()));
    }
    match bad.first() {
        None => Ok(ExitCode::SUCCESS),
        Some(c) => Err(miette!(
            help = format!("again: wavebound campaign --case {}", c.number),
            "case {}: bound {} cycles, observed {}; wave bound {}, observed {}; certificate {}",
            c.number,
            c.bound,
            c.observed,
            c.wave_bound,
            c.wave_observed,
            if c.certified { "valid" } else { "not valid" }
        )),
    }
}
