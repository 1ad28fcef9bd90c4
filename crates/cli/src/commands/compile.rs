//! `wavebound compile`: OpenCL C or HIP to a code object, with the flags the rest of Wavebound wants.

use super::{CommandResult, print_line};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::jobs::object::{CompileOptions, Compiler, RISCV, compile, riscv_commands};

#[derive(Args)]
pub struct CompileArgs {
    /// For `run --sanitize`: arrays stay in memory, with debug information, so that more errors are found
    #[arg(long)]
    sanitize: bool,
    /// Source file: .cl (OpenCL C), .hip or .cpp (HIP)
    file: PathBuf,
    /// GPU to compile for, such as gfx803, gfx900 or gfx90a; `riscv` for a lane-pc machine (docs/riscv.md)
    #[arg(long, value_name = "NAME", conflicts_with = "machine")]
    target: Option<String>,
    /// Machine to compile for: a preset or a file ending in .toml
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Code object to write (default: beside the source, with .co; .elf for riscv)
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Optimisation level
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// Keep control flow as the optimiser leaves it, instead of a shape that is easy to analyse (docs/gcn3.md)
    #[arg(long)]
    default_flow: bool,
    /// Version of the code object
    #[arg(long, value_name = "VERSION", default_value_t = 4, value_parser = clap::value_parser!(u8).range(4..=5))]
    code_object: u8,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    defines: Vec<String>,
    /// Look for included files in this folder
    #[arg(short = 'I', value_name = "FOLDER")]
    includes: Vec<PathBuf>,
    /// Print the compiler's command and do not run it
    #[arg(long)]
    print_command: bool,
    /// More options for the compiler, after --
    #[arg(last = true)]
    extra: Vec<String>,
}

pub fn main(args: CompileArgs) -> CommandResult {
    let mut default = match &args.machine {
        Some(name) => CompileOptions::for_machine(&wavebound::hw::load(name)?),
        None => CompileOptions::default(),
    };
    if let Some(target) = args.target {
        default.target = target;
    }
    let options = CompileOptions {
        target: default.target,
        level: args.level,
        default_flow: args.default_flow,
        version: args.code_object,
        defines: args.defines,
        includes: args.includes,
        extra: args.extra,
        checked: args.sanitize,
    };
    let riscv = options.target == RISCV;
    let extension = if riscv { "elf" } else { "co" };
    let output = args.output.unwrap_or_else(|| args.file.with_extension(extension));
    if args.print_command {
        let commands = match riscv {
            true => riscv_commands(&args.file, &output, &options)?.to_vec(),
            false => vec![Compiler::find()?.command(&args.file, &output, &options)?],
        };
        for words in commands {
            let words: Vec<String> = words.iter().map(|w| quoted(&w.to_string_lossy())).collect();
            print_line(&words.join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    compile(&args.file, &output, &options)?;
    print_line(&output.display().to_string());
    Ok(ExitCode::SUCCESS)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
