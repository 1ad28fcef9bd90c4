//! `wavebound cfg`: the control-flow graph of a kernel as text, DOT, SVG or JSON.

use super::{CommandResult, Printed, json, print};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::jobs::with_program;
use wavebound::report::flow::{self, KernelGraph};

#[derive(Args)]
pub struct CfgArgs {
    /// Program: .co .hsaco .s .cl .hip, .harp .hof, .guppy .gupm
    file: PathBuf,
    /// GCN3 kernel, if there are several
    #[arg(long, default_value = "")]
    kernel: String,
    /// Format to write (default: by the extension of -o, else text)
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
    /// Graphviz
    Dot,
    /// Drawing
    Svg,
    /// JSON (docs/json.md)
    Json,
}

impl Printed for KernelGraph {
    const NAME: &'static str = "cfg";
}

pub fn main(args: CfgArgs) -> CommandResult {
    wavebound::files::check_outputs(args.output.as_deref())?;
    let name = args.file.display().to_string();
    let program = wavebound::jobs::load(&args.file, &args.kernel)?.program;
    let graph = with_program!(program.borrow(), p => flow::graph(p, &name)?);
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
        Some(path) => wavebound::files::write(path, text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn render(graph: &KernelGraph, format: Format) -> miette::Result<String> {
    Ok(match format {
        Format::Text => flow::text(graph),
        Format::Dot => flow::dot(graph),
        Format::Svg => flow::svg(graph),
        Format::Json => json::pretty(graph)? + "\n",
    })
}
