//! The command line, thin: every command parses its options, calls a library and prints.

mod commands;
mod report;

use clap::{Parser, Subcommand};
use commands::interrupt::Interrupted;
use commands::{
    asm, bench, campaign, cfg, check_bound, compile, demo, facts, hip, info, kernels, lost, picture, predict,
    reproduce, run, split, synthetic, tell, wcet, workloads,
};
use std::process::ExitCode;

/// How long GPU kernels take: simulate SIMT machines cycle by cycle and see what divergence costs.
#[derive(Parser)]
#[command(name = "wavebound", version, about, max_term_width = 110)]
#[command(
    after_help = "Start with `wavebound demo`. Exit codes: 0 success, 1 a run or experiment failed, 2 wrong usage, 3 a bound is over its deadline."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program or a launch file on a machine and print what it cost
    Run(run::RunArgs),
    /// Draw the execution history of a program or trace: lanes × cycles
    Picture(picture::PictureArgs),
    /// Assemble a source file into an object file
    Asm(asm::AsmArgs),
    /// Mark divergent branches of a GCN3 program for splitting, or list them
    Split(split::SplitArgs),
    /// Disassemble an object file, or list a source file with addresses and encodings
    Disasm(asm::DisasmArgs),
    /// Compile an OpenCL or HIP source into a GCN3 code object
    Compile(compile::CompileArgs),
    /// List the kernels of a GCN3 program: arguments, registers, occupancy
    Kernels(kernels::KernelsArgs),
    /// Bound how long a kernel takes in the worst case, with a certificate and what it rests on
    Wcet(wcet::WcetArgs),
    /// Check certificates of bounds with the independent checker
    CheckBound(check_bound::CheckArgs),
    /// Random kernels under every mechanism: no run may be longer than its bound
    Campaign(campaign::CampaignArgs),
    /// Run an unmodified HIP program, its kernels on the simulated GPU
    Hip(hip::HipArgs),
    /// Show the control-flow graph of a kernel: blocks, loops, divergent regions
    Cfg(cfg::CfgArgs),
    /// Write a file of flow facts for a kernel, with proven loop limits, or check one
    Facts(facts::FactsArgs),
    /// List machines, show one, or list scheduling policies
    Machines(info::MachinesArgs),
    /// List the divergence mechanisms and their properties (THESIS Table 3.1)
    Mechanisms(info::MechanismsArgs),
    /// List the workloads of the benchmark suite, or show one; `run --workload` and `wcet --workload` run them
    Workloads(workloads::WorkloadsArgs),
    /// Write or run the synthetic benchmark: a tree of divergent branches with chosen work
    Synthetic(synthetic::SyntheticArgs),
    /// Run published experiments and print published results beside ours
    ///
    /// Each gets one of three verdicts: reproduced (the published number within the tolerance beside it, or the published
    /// relation), shape only (the relation holds, the number is not met), differs (with the reason). Exit code: 0 all are
    /// reproduced, 3 some are shape only, 4 some differ, 1 something differs and no reason is known.
    Reproduce(reproduce::ReproduceArgs),
    /// Predict the schedule of a Vortex kernel from each wave's own instructions and compare it with the simulation
    Predict(predict::PredictArgs),
    /// Measure simulation speed in wave-instructions per second
    Bench(bench::BenchArgs),
    /// A short tour on embedded programs: run, divergence, picture
    Demo(demo::DemoArgs),
}

fn main() -> ExitCode {
    report::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help) => {
            // `--help` is an error to clap; it must be readable, too.
            let code = u8::try_from(help.exit_code()).unwrap_or(2);
            let shown = help.print().is_ok();
            return ExitCode::from(if shown { code } else { code.max(1) });
        }
    };
    let result = match cli.command {
        Command::Run(args) => run::main(args),
        Command::Picture(args) => picture::main(args),
        Command::Asm(args) => asm::assemble(args),
        Command::Split(args) => split::main(args),
        Command::Disasm(args) => asm::disassemble(args),
        Command::Compile(args) => compile::main(args),
        Command::Kernels(args) => kernels::main(args),
        Command::Wcet(args) => wcet::main(args),
        Command::CheckBound(args) => check_bound::main(args),
        Command::Campaign(args) => campaign::main(args),
        Command::Hip(args) => hip::main(args),
        Command::Cfg(args) => cfg::main(args),
        Command::Facts(args) => facts::main(args),
        Command::Machines(args) => info::machines(args),
        Command::Mechanisms(args) => info::mechanisms(args),
        Command::Workloads(args) => workloads::main(args),
        Command::Synthetic(args) => synthetic::main(args),
        Command::Reproduce(args) => reproduce::main(args),
        Command::Predict(args) => predict::main(args),
        Command::Bench(args) => bench::main(args),
        Command::Demo(args) => demo::main(args),
    };
    let interrupted = result.as_ref().err().and_then(|r| r.downcast_ref::<Interrupted>());
    match (&result, interrupted) {
        (_, Some(interrupted)) => tell(&format!("wavebound: {interrupted}")),
        (Err(report), None) => tell(&format!("{report:?}")),
        (Ok(_), None) => {}
    }
    if let Some(why) = lost() {
        tell(&format!("wavebound: cannot write standard output: {why}"));
        return ExitCode::FAILURE;
    }
    match interrupted {
        Some(interrupted) => ExitCode::from(interrupted.exit_code()),
        None => result.unwrap_or(ExitCode::FAILURE),
    }
}
