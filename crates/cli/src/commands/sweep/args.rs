//! The options of `wavebound sweep`.

use super::output::OutputArgs;
use super::show::ShowArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use wavebound::sweep::Shard;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    #[command(subcommand)]
    pub what: Option<What>,
    /// The plan (docs/sweeps.md)
    #[arg(required = true)]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub places: Places,
    /// Where points run
    #[arg(long, value_enum, default_value_t = On::Local, conflicts_with = "shard")]
    pub on: On,
    #[command(flatten)]
    pub limits: Limits,
    /// Run one part of the sweep: part I, from 0, of N; any scheduler can start parts, in any order, any number of times
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Run points again whose memory or time was not enough or whose workers were killed
    #[arg(long)]
    pub retry: bool,
    /// Print the points and what is known of them, and run nothing
    #[arg(long, conflicts_with_all = ["on", "shard"])]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where things are kept.
#[derive(Args, Clone)]
pub struct Places {
    /// Folder of results that are known; many sweeps and users may share one
    #[arg(long, value_name = "FOLDER", env = "WAVEBOUND_STORE", default_value = "out/sweep/store")]
    pub store: PathBuf,
    /// Folder for the data set [default: out/sweep/NAME]
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Where points run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// This computer
    Local,
    /// A Slurm cluster: a job array of --shards tasks
    Slurm,
    /// HyperQueue: an array of --shards tasks
    #[value(alias = "hq")]
    Hyperqueue,
}

/// What workers are held to.
#[derive(Args, Clone)]
pub struct Limits {
    /// Points at the same time [default: as many as the computer has cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds that a point may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub point_seconds: Option<f64>,
    /// Memory (address space) that a worker may take: bytes, or with suffix M or G
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub point_memory: Option<u64>,
}

/// What the scheduler of a cluster is told.
#[derive(Args, Clone)]
pub struct EngineArgs {
    /// Parts that a cluster runs at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: u32,
    /// Slurm: the partition
    #[arg(long)]
    pub partition: Option<String>,
    /// Slurm and HyperQueue: time limit of a part, as they take it
    #[arg(long)]
    pub time: Option<String>,
    /// Slurm: memory of a part, as sbatch takes it
    #[arg(long)]
    pub mem: Option<String>,
    /// Submit and do not wait; `wavebound sweep PLAN` later finishes what is missing and writes the data set
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Subcommand)]
pub enum What {
    /// Write the data set from what is stored, and run nothing
    Merge(MergeArgs),
    /// Print a table of a data set, and draw charts of it
    Show(ShowArgs),
    /// Serve as a worker: read tasks, measure, answer
    #[command(hide = true)]
    Worker(WorkerArgs),
}

#[derive(Args)]
pub struct MergeArgs {
    /// The plan
    pub plan: PathBuf,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Args)]
pub struct WorkerArgs {
    #[arg(long)]
    pub memory: Option<u64>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let form = || "a part looks like 0/16: from 0 on, of how many".to_owned();
    let (index, of) = text.split_once('/').ok_or_else(form)?;
    let (index, of) = (index.parse().map_err(|_| form())?, of.parse().map_err(|_| form())?);
    if index >= of {
        return Err(format!("there are parts 0 to {}", u32::saturating_sub(of, 1)));
    }
    Ok(Shard { index, of })
}

fn seconds(text: &str) -> Result<f64, String> {
    let found = text.strip_suffix('s').unwrap_or(text).parse().ok();
    found.filter(|s: &f64| *s > 0.0 && *s < 1e9).ok_or_else(|| "a number of seconds above 0".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1_u64),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(scale));
    number
        .filter(|n| *n >= 1 << 20)
        .ok_or_else(|| "a number of bytes such as 512M or 4G, at least 1M".to_owned())
}
