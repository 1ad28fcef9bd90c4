//! JSON on standard output. What is printed says its name, under which `wavebound schema` describes it: no output without one.

use super::print_line;
use miette::IntoDiagnostic;
use schemars::JsonSchema;
use serde::Serialize;

/// A result that a command prints as JSON.
pub trait Printed: Serialize + JsonSchema {
    /// The command, and what of it if it prints several kinds: `run`, `run-launches`.
    const NAME: &'static str;
}

/// Pretty JSON on standard output.
pub fn print_json(value: &impl Printed) -> miette::Result<()> {
    print_line(&pretty(value)?);
    Ok(())
}

pub fn pretty(value: &impl Printed) -> miette::Result<String> {
    serde_json::to_string_pretty(value).into_diagnostic()
}
