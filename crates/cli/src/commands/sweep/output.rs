//! How `wavebound sweep` prints.

use clap::{Args, ValueEnum};

/// How to print.
#[derive(Args, Clone, Copy)]
pub struct OutputArgs {
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print JSON (docs/json.md), as --format json
    #[arg(long)]
    json: bool,
}

impl OutputArgs {
    pub fn json(self) -> bool {
        self.json || self.format == Format::Json
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}
