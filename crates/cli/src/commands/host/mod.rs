//! Programs whose kernels run on the simulated GPU (`hip`, `cl`): they are started with our library in place of the stock one, and
//! afterwards the command tells what their launches cost.

mod api;
mod args;
mod folder;
mod library;
mod page;
pub mod report;
mod run;
mod told;

pub use api::Api;
pub use args::HostArgs;
pub use run::Run;

use self::folder::Folder;
use super::CommandResult;
use super::interrupt::Watch;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit code of a run of a program that went well, some of whose kernels have no bound (`--wcet`).
const NO_BOUND: u8 = 3;

pub fn main(run: &Run) -> CommandResult {
    let Run { api, args, .. } = run;
    let library = library::find(api, run.library)?;
    let folder = Folder::new(api, &library)?;
    let records = File::open(folder.records()).into_diagnostic()?;
    let options = serde_json::to_string(&args.options(&folder, run.api)?).into_diagnostic()?;

    let (program, rest) = run.program.split_first().ok_or_else(|| miette!("no program"))?;
    let mut path = OsString::from(folder.path());
    let (variable, goes_on) = api.path;
    if let Some(before) = std::env::var_os(variable).filter(|p| goes_on && !p.is_empty()) {
        path.push(":");
        path.push(before);
    }
    let watch = Watch::new()?;
    let child = Command::new(program)
        .args(rest)
        .env(variable, path)
        .env(api.environment, options)
        .spawn()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot start {}", Path::new(program).display()))?;
    let status = wait(child, &watch)?;
    let told = told::read(records, args.wcet)?;
    report::report(run, &told, status)?;
    if let Some(path) = &args.html {
        page::write(run, &told, path)?;
    }
    if let Some((kernel, number)) = args.capture.as_ref().filter(|_| told.captured.is_empty()) {
        let mut launched: Vec<String> =
            told.launches.iter().map(|l| wb_host::short_name(&l.kernel)).collect();
        launched.sort();
        launched.dedup();
        return Err(miette!(
            help = format!("kernels that were launched: {}", launched.join(" ")),
            "nothing was captured of launch {number} of {kernel}"
        ));
    }
    Ok(match (status.code(), status.signal()) {
        // All is well with the program, but not every question was answered.
        (Some(0), _) if told.checked.as_ref().is_some_and(|c| !c.reports.is_empty()) => ExitCode::FAILURE,
        (Some(0), _) if !told.missing.is_empty() => ExitCode::from(NO_BOUND),
        (Some(code), _) => ExitCode::from(code as u8),
        // As shells do.
        (None, Some(signal)) => {
            super::super::tell(&format!("wavebound: the program was ended by signal {signal}"));
            ExitCode::from(128 + signal as u8)
        }
        _ => ExitCode::FAILURE,
    })
}

/// Waits for the program. A signal that ends a run ends it, and what its launches told is printed as always.
fn wait(mut child: Child, watch: &Watch) -> miette::Result<ExitStatus> {
    let (id, over) = (child.id().to_string(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let passing_on = scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                if let Some(interrupted) = watch.interrupted() {
                    // At a terminal it has got the signal, too, and is gone by now.
                    let signal = format!("-{}", interrupted.signal());
                    let _ = Command::new("kill").args([&signal, &id]).stderr(Stdio::null()).status();
                    return;
                }
                std::thread::park_timeout(Duration::from_millis(50));
            }
        });
        let status = child.wait().into_diagnostic();
        over.store(true, Ordering::SeqCst);
        passing_on.thread().unpark();
        status
    })
}
