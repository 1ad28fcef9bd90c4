//! The options of `wavebound compare`.

use crate::commands::target::Target;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
// `--s` is a list here; what `run` calls so goes by another name.
#[command(mut_arg("contexts", |arg| arg.long("contexts").hide(true)))]
pub struct CompareArgs {
    #[command(flatten)]
    pub(super) target: Target,
    /// Mechanisms to compare [default: all that run the program, or the machine's own if --policies or --vary is given]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) mechanisms: Vec<String>,
    /// Numbers S of split contexts, for mechanisms that split [default: the machine's, or 3 if it has none]
    #[arg(long = "s", value_name = "LIST", value_delimiter = ',')]
    pub(super) s: Vec<u32>,
    /// Issue policies; `wavebound machines policies` lists them [default: the machine's]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) policies: Vec<String>,
    /// Values of a field of the machine, e.g. --vary core.waves=4,8,16; repeatable, every combination runs
    #[arg(long, value_name = "FIELD=LIST")]
    pub(super) vary: Vec<String>,
    /// Run without a pipeline: compares results only, and how many instructions issue
    #[arg(long)]
    pub(super) untimed: bool,
    /// Results may differ: the program has races, or adds floating-point numbers in the order in which waves come
    #[arg(long)]
    pub(super) racy: bool,
    /// Variants that run at a time [default: one for each core of this computer]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Write one page of HTML: speed-ups, what paths did, source lines side by side
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Write the table as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write the table as Parquet
    #[arg(long, value_name = "FILE")]
    pub(super) parquet: Option<PathBuf>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    pub(super) json: bool,
}
