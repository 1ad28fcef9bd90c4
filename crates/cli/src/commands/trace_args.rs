//! Which events go into a trace file: the options of `run` and `hip` about it.

use clap::Args;
use std::path::PathBuf;
use wavebound::trace::{TraceLimit, TraceOptions, parse_waves};

#[derive(Args, Clone)]
pub struct TraceArgs {
    /// Write a compressed trace file (docs/trace-format.md); several launches write FILE-1, FILE-2, …
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// With the lines that memory instructions touch
    #[arg(long, requires = "trace")]
    trace_memory: bool,
    /// First cycle of the trace
    #[arg(long, value_name = "CYCLE", requires = "trace")]
    trace_from: Option<u64>,
    /// First cycle that is not in the trace
    #[arg(long, value_name = "CYCLE", requires = "trace")]
    trace_to: Option<u64>,
    /// Waves of the trace, for example 0-3,8
    #[arg(long, value_name = "LIST", requires = "trace", value_parser = waves)]
    trace_waves: Option<Waves>,
}

/// Ranges of waves with both ends.
#[derive(Clone, Debug, Default)]
pub struct Waves(pub Vec<(u32, u32)>);

pub fn waves(text: &str) -> Result<Waves, String> {
    parse_waves(text).map(Waves)
}

impl TraceArgs {
    pub fn options(&self) -> miette::Result<TraceOptions> {
        let (from, to) = (self.trace_from.unwrap_or(0), self.trace_to);
        if to.is_some_and(|to| to <= from) {
            return Err(miette::miette!(
                help = "--trace-to is the first cycle that is not in the trace",
                "--trace-to must be greater than --trace-from"
            ));
        }
        let waves = self.trace_waves.clone().unwrap_or_default().0;
        let limit = Some(TraceLimit { from, to, waves }).filter(TraceLimit::is_limit);
        Ok(TraceOptions { memory: self.trace_memory, limit })
    }
}
