//! `wavebound debug`: a launch step by step, in the terminal or for an editor (docs/debugger.md).

use super::target::{How, Target};
use super::{CommandResult, print_line, tell};
use clap::{Args, Parser};
use miette::{IntoDiagnostic, WrapErr, miette};
use signal_hook::consts::SIGINT;
use std::io::IsTerminal;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use wavebound::debug::{self, DebugError, Engine, Repl, Sources, serve};
use wavebound::files::Kind;
use wavebound::jobs::JobError;
use wavebound::jobs::launch::{Launches, Session, WorkloadSession, is_launch_file};

#[derive(Args)]
pub struct DebugArgs {
    /// Program, or launch file (.toml), as for `wavebound run`
    #[arg(required_unless_present_any = ["workload", "dap"])]
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
    /// Speak the Debug Adapter Protocol on standard input and output, for an editor; its `launch` says what to debug
    #[arg(long, conflicts_with_all = ["commands", "script"])]
    dap: bool,
    /// Speak it on this port of 127.0.0.1 instead; 0 takes a free one
    #[arg(long, requires = "dap")]
    port: Option<u16>,
}

pub fn main(args: DebugArgs) -> CommandResult {
    let DebugArgs { file, how, commands, script, source, dap, port } = args;
    if dap {
        return match port {
            Some(port) => serve_port(port, &source),
            None => {
                let input = std::io::BufReader::new(std::io::stdin());
                serve(input, &mut std::io::stdout(), &mut |arguments| launch(arguments, &source));
                Ok(ExitCode::SUCCESS)
            }
        };
    }
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

/// One editor after the other.
fn serve_port(port: u16, source: &[PathBuf]) -> CommandResult {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot listen on port {port}"))?;
    let port = listener.local_addr().into_diagnostic()?.port();
    print_line(&format!("127.0.0.1:{port}"));
    tell("wavebound: this computer alone can connect; Ctrl-C ends the debugger");
    loop {
        let (stream, _) = listener.accept().into_diagnostic().wrap_err("cannot accept a connection")?;
        let mut output = stream.try_clone().into_diagnostic()?;
        serve(std::io::BufReader::new(stream), &mut output, &mut |arguments| launch(arguments, source));
    }
}

/// The arguments of a `launch` request: a program, and options as `wavebound run` has them.
#[derive(Parser)]
#[command(name = "launch", disable_help_flag = true)]
struct LaunchLine {
    #[command(flatten)]
    target: Target,
}

/// What an editor wants to debug.
fn launch(arguments: &serde_json::Value, source: &[PathBuf]) -> Result<(debug::Target, Sources), DebugError> {
    let text =
        |value: &serde_json::Value, what: &str| match value {
            serde_json::Value::String(text) => Ok(text.clone()),
            _ => Err(DebugError::new(format!("`{what}` is no text"))
                .hint("`program` is text, `args` a list of texts")),
        };
    if let Some(folder) = arguments["cwd"].as_str() {
        std::env::set_current_dir(folder)
            .map_err(|e| DebugError::new(format!("cwd `{folder}`: {}", wavebound::files::words(&e))))?;
    }
    let mut line = vec!["launch".to_owned()];
    if !arguments["program"].is_null() {
        line.push(text(&arguments["program"], "program")?);
    }
    for arg in arguments["args"].as_array().into_iter().flatten() {
        line.push(text(arg, "args")?);
    }
    let LaunchLine { target } = LaunchLine::try_parse_from(line).map_err(|e| {
        let message = e.to_string();
        let first = message.lines().next().unwrap_or("").trim_start_matches("error: ");
        DebugError::new(first).hint("`args` are the options of `wavebound run`")
    })?;
    let sources = sources(target.file(), source.to_vec());
    let target = open(target)
        .map_err(|e| DebugError { message: e.to_string(), hint: e.help().map(|h| h.to_string()) })?;
    Ok((target, sources))
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
