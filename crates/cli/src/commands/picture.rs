//! `wavebound picture`: the lane mask over time, from a program or from a trace file.

use super::target::{Progress, Target};
use super::{CommandResult, print_line};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::files::Kind;
use wavebound::jobs::launch::is_launch_file;
use wavebound::report::{History, Palette, PictureOptions};
use wavebound::sim::RunOptions;
use wavebound::trace::{TraceReader, replay_to_the_cut};

#[derive(Args)]
pub struct PictureArgs {
    /// The program to run (see `wavebound run --help`), or a trace file written by `run --trace`
    #[command(flatten)]
    target: Target,
    /// Picture to write: .png or .svg
    #[arg(long, short, value_name = "FILE", default_value = "history.png")]
    output: PathBuf,
    #[command(flatten)]
    draw: DrawArgs,
}

#[derive(Args, Clone)]
pub struct DrawArgs {
    /// First cycle to draw
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// First cycle not to draw (default: the end of the run)
    #[arg(long)]
    to: Option<u64>,
    /// Largest width in pixels; the cycles of longer runs are averaged
    #[arg(long, default_value_t = 1600)]
    width: u32,
    /// Largest height in pixels
    #[arg(long, default_value_t = 1200)]
    height: u32,
    /// Pixels per lane and cycle (default: what fits)
    #[arg(long)]
    cell: Option<u32>,
    /// Title of the picture (default: program, machine, mechanism)
    #[arg(long)]
    title: Option<String>,
    /// Leave out the bars of units and caches
    #[arg(long)]
    no_units: bool,
    /// Colours: work strong and waiting pale, or those of the GUPPY document
    #[arg(long, value_enum, default_value_t)]
    colours: Colours,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Colours {
    #[default]
    Work,
    Guppy,
}

impl From<Colours> for Palette {
    fn from(colours: Colours) -> Palette {
        match colours {
            Colours::Work => Palette::Work,
            Colours::Guppy => Palette::Guppy,
        }
    }
}

impl Default for DrawArgs {
    fn default() -> Self {
        DrawArgs {
            from: 0,
            to: None,
            width: 1600,
            height: 1200,
            cell: None,
            title: None,
            no_units: false,
            colours: Colours::default(),
        }
    }
}

pub fn main(args: PictureArgs) -> CommandResult {
    let mut history = History::range(args.draw.from, args.draw.to);
    let path = args.target.file();
    if args.target.workload.workload.is_some() {
        return Err(miette!(
            help = "wavebound run --workload NAME --picture history.png draws one per launch",
            "`picture` draws a program or a trace, not a workload"
        ));
    }
    wavebound::report::check_name(&args.output)?;
    if is_trace(path) {
        let file = wavebound::files::open(path, Kind::Trace)?;
        let reader = TraceReader::open(BufReader::new(file)).into_diagnostic()?;
        if reader.info().limit.is_some() {
            super::tell(
                "wavebound: warning: the trace is limited to some cycles or waves: the picture shows no others",
            );
        }
        let replayed = replay_to_the_cut(reader, &mut [&mut history])
            .into_diagnostic()
            .wrap_err_with(|| format!("in {}", path.display()))?;
        if let Some(cut) = replayed.cut {
            let (events, cycles) = (replayed.events, replayed.cycles);
            super::tell(&format!("wavebound: warning: {}: {cut}", path.display()));
            super::tell(&format!("wavebound: warning: drawn up to there: {events} events, {cycles} cycles"));
        }
    } else if is_launch_file(path) {
        return Err(miette!(
            help = "wavebound run launch.toml --picture history.png draws one per launch",
            "`picture` draws a program or a trace, not a launch file"
        ));
    } else {
        let job = args.target.job()?;
        wavebound::files::check_output(&args.output)?;
        let progress = Progress::new();
        let mut report = |sofar| {
            progress.show(sofar);
            ControlFlow::Continue(())
        };
        job.run(RunOptions { progress: Some(&mut report), ..RunOptions::default() }, Some(&mut history))?;
    }
    draw(&history, &args.draw, &args.output)?;
    print_line(&format!("picture: {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}

pub fn is_trace(path: &Path) -> bool {
    let mut magic = [0; 7];
    let file = wavebound::files::open(path, Kind::Trace);
    file.is_ok_and(|mut f| f.read_exact(&mut magic).is_ok()) && &magic == b"WBTRACE"
}

/// Draws a history with the command line's options.
pub fn draw(history: &History, args: &DrawArgs, path: &Path) -> miette::Result<()> {
    let info = history.info();
    let title = args.title.clone().unwrap_or_else(|| {
        let name =
            Path::new(&info.program).file_name().map_or(info.program.clone(), |n| n.to_string_lossy().into());
        format!("{name} on {} ({})", info.machine, info.mechanism)
    });
    let options = PictureOptions {
        from: args.from,
        to: args.to,
        max_width: args.width,
        max_height: args.height,
        cell: args.cell,
        title,
        units: !args.no_units,
        palette: args.colours.into(),
    };
    Ok(wavebound::report::draw(history, &options, path)?)
}
