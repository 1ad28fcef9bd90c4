//! The options of `wavebound run`, for one launch and for many.

use super::record::RecordArgs;
use super::sanitize::SanitizeArgs;
use super::target::Target;
use clap::Args;
use miette::miette;
use std::path::PathBuf;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub sanitize: SanitizeArgs,
    /// Print a buffer, view or label after the run: NAME[:COUNT[:u32|i32|f32|…]]
    #[arg(long, value_name = "NAME")]
    pub show: Vec<String>,
    /// Write a buffer, view or label after the run, as .npy or raw bytes: NAME[:COUNT[:TYPE]]=FILE
    #[arg(long, value_name = "NAME=FILE")]
    pub out: Vec<String>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    pub json: bool,
    /// Print the table of all instructions, not only of branches
    #[arg(long)]
    pub per_pc: bool,
}

impl RunArgs {
    /// `--out` as (what, file).
    pub fn outputs(&self) -> miette::Result<Vec<(&str, PathBuf)>> {
        let split = |text: &String| {
            text.split_once('=').map(|(name, file)| (name.len(), PathBuf::from(file))).ok_or_else(|| {
                miette!(help = "--out NAME=FILE.npy", "`--out {text}` does not say where to write")
            })
        };
        self.out.iter().map(|text| split(text).map(|(n, file)| (&text[..n], file))).collect()
    }
}
