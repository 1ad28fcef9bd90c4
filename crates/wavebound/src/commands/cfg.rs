//! `wavebound cfg`: the control-flow graph of a kernel as text, DOT, SVG or JSON.

use super::{CommandResult, print};
use clap::{Args, ValueEnum};
use miette::IntoDiagnostic;
use std::path::PathBuf;
use std::process::ExitCode;
use wb_lab::AnyProgram;
use wb_lab::cfg::{self, KernelGraph};

#[derive(Args)]
pub struct CfgArgs {
    /// Program: .co .hsaco .s .cl .hip, .harp .hof, .guppy .gupm
    file: PathBuf,
    /// GCN3 kernel, where there are several
    #[arg(long, default_value = "")]
    kernel: String,
    /// What to write (default: text, or by the extension of -o)
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write (default: standard output)
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// Blocks with instructions, edges, loops, divergent regions
    Text,
    /// For Graphviz
    Dot,
    /// A drawing
    Svg,
    /// Machine-readable (docs/json.md)
    Json,
}

pub fn main(args: CfgArgs) -> CommandResult {
    wb_files::check_outputs(args.output.as_deref())?;
    let name = args.file.display().to_string();
    let graph = match cfg::load(&args.file, &args.kernel)?.program {
        AnyProgram::Harp(p) => cfg::graph(&p, &name)?,
        AnyProgram::Guppy(p) => cfg::graph(&p, &name)?,
        AnyProgram::Vortex(p) => cfg::graph(&p, &name)?,
        AnyProgram::Gcn3(p) => cfg::graph(&p, &name)?,
    };
    let extension = args.output.as_ref().and_then(|o| o.extension()).and_then(|e| e.to_str());
    let format = args.format.unwrap_or(match extension {
        Some("dot" | "gv") => Format::Dot,
        Some("svg") => Format::Svg,
        Some("json") => Format::Json,
        _ => Format::Text,
    });
    let text = render(&graph, format)?;
    match &args.output {
        None => print(&text),
        Some(path) => wb_files::write(path, text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn render(graph: &KernelGraph, format: Format) -> miette::Result<String> {
    Ok(match format {
        Format::Text => cfg::text(graph),
        Format::Dot => cfg::dot(graph),
        Format::Svg => cfg::svg(graph),
        Format::Json => serde_json::to_string_pretty(graph).into_diagnostic()? + "\n",
    })
}
