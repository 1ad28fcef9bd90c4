//! `wavebound debug`: a launch step by step, in the terminal or for an editor (docs/debugger.md).

use super::target::{How, Target};
use super::{CommandResult, tell};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use signal_hook::consts::SIGINT;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use wavebound::debug::{self, Engine, Repl, Sources};
use wavebound::files::Kind;
use wavebound::jobs::JobError;
use wavebound::jobs::launch::{Launches, Session, WorkloadSession, is_launch_file};

#[derive(Args)]
pub struct DebugArgs {
    /// Program, or launch file (.toml), as for `wavebound run`
    #[arg(required_unless_present = "workload")]
    file: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    /// A command to do first; repeatable (`help` lists them)
    #[arg(short = 'e', long = "command", value_name = "COMMAND")]
    commands: Vec<String>,
    /// A file of commands to do first, one in a line
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Folder to look for source files in, besides that of the program and the current one; repeatable
    #[arg(long, value_name = "FOLDER")]
    source: Vec<PathBuf>,
}

pub fn main(args: DebugArgs) -> CommandResult {
    let DebugArgs { file, how, commands, script, source } = args;
    let target = Target { file, how };
    let sources = sources(target.file(), source);
    let target = open(target)?;
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut first = commands;
    if let Some(path) = script {
        let text = wavebound::files::read_text(&path, Kind::Source)?;
        first.splice(0..0, text.lines().map(str::to_owned));
    }
    let mut repl = Repl::new(std::io::stdin().lock(), std::io::stdout(), interactive, sources).script(first);
    // Ctrl-C interrupts the launch, not the debugger.
    signal_hook::flag::register(SIGINT, Arc::clone(&repl.pause()))
        .into_diagnostic()
        .wrap_err("cannot watch for Ctrl-C")?;
    let mut engine = Engine::new(&mut repl, true);
    target.debug(&mut engine)?;
    let failed = engine.failed().is_some();
    let errors = repl.errors();
    if errors > 0 && !interactive {
        tell(&format!("wavebound: {errors} commands did not work"));
    }
    Ok(if failed || errors > 0 && !interactive { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Where sources are looked for.
fn sources(file: &Path, mut folders: Vec<PathBuf>) -> Sources {
    folders.extend(file.parent().map(Path::to_path_buf));
    folders.push(PathBuf::from("."));
    Sources { folders }
}

/// What the options describe, to be debugged.
fn open(target: Target) -> miette::Result<debug::Target> {
    if let Some((which, spec)) = target.workload()? {
        let open = move || -> Result<Box<dyn Launches>, JobError> {
            Ok(Box::new(WorkloadSession::open(&which, &spec)?))
        };
        return Ok(debug::Target::Launches(Box::new(open)));
    }
    if is_launch_file(target.file()) {
        let (path, spec) = (target.file().to_path_buf(), target.launch_spec()?);
        let open =
            move || -> Result<Box<dyn Launches>, JobError> { Ok(Box::new(Session::open(&path, &spec)?)) };
        return Ok(debug::Target::Launches(Box::new(open)));
    }
    if target.file.is_none() {
        return Err(miette!(
            help = "wavebound debug kernel.cl --grid 64 --arg buf:f32:64",
            "there is no program to debug"
        ));
    }
    Ok(debug::Target::Job(Box::new(target.job()?)))
}
