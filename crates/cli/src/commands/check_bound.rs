//! `wavebound check-bound`: checks certificates of bounds with the independent checker, and against the program, the machine and
//! the launch where they are given (docs/certificate.md).

use super::target::{How, Target};
use super::wcet;
use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use miette::Report;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::bound::exact::{ExactCertificate, is_exact_certificate, verify_exact};
use wavebound::bound::proved::{is_proved_certificate, verify_proved};
use wavebound::bound::{
    self, Against, Options, Runs, Verified, count, is_hybrid_certificate, verify, verify_hybrid,
    verify_hybrid_code,
};
use wavebound::check::{check_hybrid, check_proved};
use wavebound::files::Kind;
use wavebound::jobs::launch::WorkloadSpec;

#[derive(Args)]
pub struct CheckArgs {
    /// Certificates that `wavebound wcet --certificate` wrote
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Verify the certificate against this program or launch file
    ///
    /// The program alone verifies code, control flow and loop limits. With --machine (or --set, --mechanism, …) the
    /// machine is verified too. With --grid, --arg, … or a launch file the launches are verified too.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Facts files that a proved bound rests on; repeatable
    #[arg(long, value_name = "FILE")]
    facts: Vec<PathBuf>,
    #[command(flatten)]
    how: How,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

/// The stable result of `check-bound --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct CheckBoundJson<'a> {
    version: u32,
    certificates: &'a [CheckedJson],
}

impl Printed for CheckBoundJson<'_> {
    const NAME: &'static str = "check-bound";
}

#[derive(Default, Serialize, schemars::JsonSchema)]
struct CheckedJson {
    file: String,
    valid: bool,
    /// Of a wave, and of all launches.
    bound: Option<u64>,
    total: Option<u64>,
    status: Option<String>,
    kernel: Option<String>,
    checksum: Option<String>,
    machine: Option<Hashed>,
    times: Option<TimesJson>,
    verified: Verified,
    nodes: usize,
    edges: usize,
    loops: usize,
    facts: usize,
    assumptions: Vec<String>,
    notes: Vec<String>,
    error: Option<String>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Hashed {
    name: String,
    hash: String,
}

#[derive(Serialize, schemars::JsonSchema)]
struct TimesJson {
    origin: String,
    runs: u32,
    inputs: Option<u32>,
}

/// Exit code 1 if any certificate does not prove its bound, or is not of what was given.
pub fn main(args: CheckArgs) -> CommandResult {
    let target = Target { file: args.program.clone(), how: args.how.clone() };
    let mut all = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        let text = wavebound::files::read_text(path, Kind::Certificate)?;
        if is_exact_certificate(&text) {
            all.push(checked_exact(file, &text, &target)?);
            continue;
        }
        if is_proved_certificate(&text) {
            all.push(checked_proved(file, &text, &target, &args.facts)?);
            continue;
        }
        if is_hybrid_certificate(&text) {
            all.push(checked_hybrid(file, &text, &target, &args.facts)?);
            continue;
        }
        all.push(match wavebound::check::check(&text) {
            Ok(report) => checked(file, &report, &target)?,
            Err(e) => CheckedJson { file, error: Some(e.to_string()), ..CheckedJson::default() },
        });
    }
    if args.json {
        print_json(&CheckBoundJson { version: 2, certificates: &all })?;
    } else {
        all.iter().for_each(show);
    }
    let valid = all.iter().all(|r| r.valid);
    Ok(if valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A certificate whose arithmetic holds, against what is given.
fn checked(file: String, report: &wavebound::check::Report, target: &Target) -> miette::Result<CheckedJson> {
    let verified = compare(report, target)?;
    let mut row = CheckedJson {
        file,
        valid: verified.errors.is_empty(),
        bound: Some(report.bound),
        nodes: report.nodes,
        edges: report.edges,
        loops: report.loops,
        facts: report.facts,
        assumptions: report.assumptions.clone(),
        notes: verified.notes.clone(),
        error: (!verified.errors.is_empty()).then(|| verified.errors.join("; ")),
        verified,
        ..CheckedJson::default()
    };
    if let Some(b) = &report.binding {
        row.total = u64::try_from(b.total.0).ok();
        row.status = Some(b.status.clone());
        row.kernel = Some(b.code.kernel.clone());
        row.checksum = Some(b.code.checksum.clone());
        row.machine = Some(Hashed { name: b.machine.name.clone(), hash: b.machine.hash.clone() });
        row.times =
            Some(TimesJson { origin: b.times.origin.clone(), runs: b.times.runs, inputs: b.times.inputs });
    }
    Ok(row)
}

/// The certificate of an exact bound: it is checked by running the launch again.
fn checked_exact(file: String, text: &str, target: &Target) -> miette::Result<CheckedJson> {
    let certificate = match ExactCertificate::read(text) {
        Ok(certificate) => certificate,
        Err(e) => return Ok(CheckedJson { file, error: Some(e), ..CheckedJson::default() }),
    };
    let runs = match target.workload()? {
        Some((which, spec)) => Some(Runs::Workload { which, spec: Box::new(spec) }),
        None if target.file.is_some() && target.launches_given() => Some(wcet::repeated(target, 1)?),
        None => None,
    };
    let verified = match runs {
        Some(runs) => verify_exact(&certificate, &runs)?,
        None => Verified {
            errors: vec![
                "an exact bound is checked by running the launch: give --program and the launch, or --workload".into(),
            ],
            ..Verified::default()
        },
    };
    Ok(CheckedJson {
        file,
        valid: verified.errors.is_empty(),
        total: Some(certificate.bound),
        status: Some("exact".into()),
        kernel: Some(certificate.kernel),
        checksum: Some(certificate.checksum),
        machine: Some(Hashed { name: certificate.machine.0, hash: certificate.machine.1 }),
        assumptions: certificate.assumptions,
        error: (!verified.errors.is_empty()).then(|| verified.errors.join("; ")),
        verified,
        ..CheckedJson::default()
    })
}

/// The certificate of a proved bound: its arithmetic, and against the launches where they are given.
fn checked_proved(
    file: String,
    text: &str,
    target: &Target,
    facts: &[PathBuf],
) -> miette::Result<CheckedJson> {
    let report = match check_proved(text) {
        Ok(report) => report,
        Err(e) => return Ok(CheckedJson { file, error: Some(e.to_string()), ..CheckedJson::default() }),
    };
    let mut options = Options { facts: wcet::read_all(facts)?, ..Options::default() };
    let runs = match target.workload()? {
        Some((which, spec)) => {
            options = bound::workload_options(&which, &spec, &options)?;
            Some(Runs::Workload { which, spec: Box::new(spec) })
        }
        None if target.file.is_some() && target.launches_given() => Some(wcet::repeated(target, 1)?),
        None => None,
    };
    let verified = match runs {
        Some(runs) => verify_proved(text, &report, &runs, &options)?,
        None => Verified::default(),
    };
    Ok(CheckedJson {
        file,
        valid: verified.errors.is_empty(),
        total: Some(report.bound),
        status: Some("proved".into()),
        kernel: Some(report.kernel),
        checksum: Some(report.checksum),
        machine: Some(Hashed { name: report.machine.0, hash: report.machine.1 }),
        assumptions: report.assumptions,
        error: (!verified.errors.is_empty()).then(|| verified.errors.join("; ")),
        verified,
        ..CheckedJson::default()
    })
}

/// The certificate of a hybrid bound by own time and waits: its arithmetic, and measured again where launches are given.
fn checked_hybrid(
    file: String,
    text: &str,
    target: &Target,
    facts: &[PathBuf],
) -> miette::Result<CheckedJson> {
    let report = match check_hybrid(text) {
        Ok(report) => report,
        Err(e) => return Ok(CheckedJson { file, error: Some(e.to_string()), ..CheckedJson::default() }),
    };
    let mut options = Options { facts: wcet::read_all(facts)?, ..Options::default() };
    let count = report.runs.max(1);
    let verified = match (target.workload()?, &target.file) {
        (Some((which, spec)), _) => {
            options = bound::workload_options(&which, &spec, &options)?;
            let which = WorkloadSpec { runs: count, ..which };
            verify_hybrid(text, &report, &Runs::Workload { which, spec: Box::new(spec) }, &options)?
        }
        (None, Some(_)) if target.launches_given() => {
            verify_hybrid(text, &report, &wcet::repeated(target, count)?, &options)?
        }
        (None, Some(file)) => verify_hybrid_code(&report, file, &target.spec(), target.machine.given())?,
        (None, None) => Verified::default(),
    };
    Ok(CheckedJson {
        file,
        valid: verified.errors.is_empty(),
        total: Some(report.bound),
        status: Some(report.status),
        kernel: Some(report.kernel),
        checksum: Some(report.checksum),
        machine: Some(Hashed { name: report.machine.0, hash: report.machine.1 }),
        times: Some(TimesJson { origin: "measured".into(), runs: report.runs, inputs: Some(report.inputs) }),
        assumptions: report.assumptions,
        error: (!verified.errors.is_empty()).then(|| verified.errors.join("; ")),
        verified,
        ..CheckedJson::default()
    })
}

fn compare(report: &wavebound::check::Report, target: &Target) -> Result<Verified, Report> {
    let runs = report.binding.as_ref().map_or(1, |b| b.times.runs.max(1));
    if let Some((which, spec)) = target.workload()? {
        let runs = Runs::Workload { which: WorkloadSpec { runs, ..which }, spec: Box::new(spec) };
        return Ok(verify(report, &Against::Launches(&runs))?);
    }
    let Some(file) = &target.file else { return Ok(Verified::default()) };
    if target.launches_given() {
        return Ok(verify(report, &Against::Launches(&wcet::repeated(target, runs)?))?);
    }
    let spec = target.spec();
    Ok(verify(report, &Against::Program { file, spec: &spec, machine: target.machine.given() })?)
}

fn show(row: &CheckedJson) {
    let parts = row.verified.parts();
    let of = |wanted: Option<bool>| -> Vec<&str> {
        parts.iter().filter(|(_, v)| *v == wanted).map(|(name, _)| *name).collect()
    };
    let (good, mut open) = (of(Some(true)), of(None));
    // An exact bound has no limits of loops.
    open.retain(|part| *part != "limits" || row.status.as_deref() != Some("exact"));
    if let Some(error) = &row.error {
        print_line(&format!("{}: NOT VALID: {error}", row.file));
        return;
    }
    let mut said = Vec::new();
    if !open.is_empty() {
        said.push(format!("NOT verified: {}", open.join(", ")));
    }
    if !good.is_empty() {
        said.push(format!("verified: {}", good.join(", ")));
    }
    let hint = match good.is_empty() {
        true => " (--program, --machine and the launch verify them)",
        false => "",
    };
    print_line(&format!("{}: {}{hint}", row.file, said.join("; ")));
    let word = match row.status.as_deref() {
        Some("exact") => Some("exactly"),
        Some("proved") => Some("at most"),
        _ => None,
    };
    match word {
        Some(word) => print_line(&format!(
            "valid: kernel {} takes {word} {} cycles for all contents of its buffers, if",
            row.kernel.as_deref().unwrap_or("?"),
            row.total.unwrap_or(0)
        )),
        None => show_bound(row),
    }
    for a in &row.assumptions {
        print_line(&format!("  - {a}"));
    }
    for note in &row.notes {
        print_line(&format!("  not verified: {note}"));
    }
    if let (Some(checksum), Some(machine)) = (&row.checksum, &row.machine) {
        print_line(&format!("  code {checksum}, machine {} {}", machine.name, machine.hash));
    }
}

fn show_bound(row: &CheckedJson) {
    let kernel = row.kernel.as_deref().unwrap_or("?");
    if row.bound.is_none() {
        print_line(&format!(
            "valid: kernel {kernel} takes at most {} cycles (status {}: own times and waits are measured), if",
            row.total.unwrap_or(0),
            row.status.as_deref().unwrap_or("?")
        ));
        return;
    }
    print_line(&format!(
        "valid: kernel {} takes at most {} cycles, {} for each wave ({}, {}, {}, {}; status {}), if",
        kernel,
        row.total.unwrap_or(0),
        row.bound.unwrap_or(0),
        count(row.nodes, "node"),
        count(row.edges, "edge"),
        count(row.loops, "loop"),
        count(row.facts, "fact"),
        row.status.as_deref().unwrap_or("?")
    ));
}
