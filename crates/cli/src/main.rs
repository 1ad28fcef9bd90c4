//! The command line, thin: every command parses its options, calls a library and prints.

mod commands;
mod report;

use clap::{CommandFactory, Parser, Subcommand};
use commands::interrupt::Interrupted;
use commands::{
    asm, bench, campaign, cfg, check_bound, cl, compare, compile, debug, demo, export, facts, hip, info,
    kernels, lost, manual, picture, predict, reproduce, run, split, sweep, synthetic, tell, view, wcet,
    workloads, worst,
};
use std::process::ExitCode;

/// Simulate GPU kernels cycle by cycle, see what divergence costs, and bound how long kernels take.
#[derive(Parser)]
#[command(name = "wavebound", version, about, max_term_width = 110)]
#[command(after_help = "Start with `wavebound demo`; docs/commands.md has an example of every command.\n\
    Exit codes: 0 success; 1 a run, check or experiment failed; 2 wrong usage; 3 done, but a bound is over its deadline\n\
    (wcet) or missing (hip --wcet), or published numbers are not all met (reproduce, also 4).")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program or a launch file on a machine and print what it cost
    #[command(after_help = "Examples:\n  \
        wavebound run kernel.co --kernel saxpy --grid 1024 --group 64 --arg buf:f32:1024:iota --show arg0:8\n  \
        wavebound run --workload bfs --size small --html run.html")]
    Run(run::RunArgs),
    /// Step through a launch, forwards and backwards: breakpoints, registers of lanes, masks, memory (docs/debugger.md)
    #[command(after_help = "Examples:\n  \
        wavebound debug kernel.cl --grid 64 --arg buf:f32:64:iota\n  \
        wavebound debug kernel.s --grid 64 -e 'break 12 if v1[5] == 0' -e continue -e regs -e quit")]
    Debug(debug::DebugArgs),
    /// Run the same launches under several mechanisms, policies or machine fields, side by side; results must be equal
    #[command(after_help = "Examples:\n  \
        wavebound compare --workload bfs --size small --html compare.html\n  \
        wavebound compare kernel.co --grid 1024 --group 64 --arg buf:f32:1024:iota --mechanisms none,pws,thesis,dws --s 1,2,3\n  \
        wavebound compare kernel.co --grid 4096 --group 64 --arg buf:f32:4096 --vary core.waves=8,16,40")]
    Compare(compare::CompareArgs),
    /// Draw the execution history of a program, or of a trace that `run --trace` wrote: lanes × cycles
    #[command(after_help = "Examples:\n  \
        wavebound picture kernel.guppy --grid 128 -o history.svg\n  \
        wavebound picture run.wbt --from 1000 --to 1400")]
    Picture(picture::PictureArgs),
    /// Look at a trace or a run in the browser: lanes over time, zoom, click, two runs side by side (docs/viewer.md)
    #[command(after_help = "Examples:\n  \
        wavebound view run.wbt\n  \
        wavebound view none.wbt --with pws.wbt --open\n  \
        wavebound view kernel.s --grid 256 --mechanism pws --split-all --against none")]
    View(view::ViewArgs),
    /// Write a trace in the format of another tool: Perfetto, Konata, FST, Parquet, Chrome
    #[command(after_help = "Examples:\n  \
        wavebound export run.wbt --to perfetto\n  \
        wavebound export run.wbt --to fst --from 1000 --until 2000 --waves 0-3 -o part.fst")]
    Export(export::ExportArgs),
    /// Assemble a source file into an object file
    #[command(after_help = "Example:\n  wavebound asm program.harp -o program.hof")]
    Asm(asm::AsmArgs),
    /// Mark divergent branches of a GCN3 program for splitting, or list them
    #[command(after_help = "Examples:\n  \
        wavebound split kernel.co --list\n  \
        wavebound split kernel.co --at kernel.cl:42 -o marked.co\n  \
        wavebound split kernel.co --optimal --s 3 --grid 1024 --group 64 --arg buf:f32:1024")]
    Split(split::SplitArgs),
    /// Disassemble an object file, or list a source file with addresses and encodings
    #[command(after_help = "Example:\n  wavebound disasm kernel.co --kernel saxpy")]
    Disasm(asm::DisasmArgs),
    /// Compile OpenCL C or HIP into a GCN3 code object
    #[command(after_help = "Example:\n  wavebound compile kernel.cl -o kernel.co")]
    Compile(compile::CompileArgs),
    /// List the kernels of a GCN3 program: arguments, registers, occupancy
    #[command(after_help = "Example:\n  wavebound kernels kernel.co --group 256")]
    Kernels(kernels::KernelsArgs),
    /// Bound how long a kernel takes in the worst case, and say what the bound rests on
    #[command(after_help = "Example:\n  \
        wavebound wcet kernel.co --kernel saxpy --grid 1024 --group 64 --arg buf:f32:1024:random=1 --runs 5 \
        --html report.html --certificate bound.json")]
    Wcet(wcet::WcetArgs),
    /// Search for the input that takes longest, and save it so that it can be run again
    #[command(after_help = "Examples:\n  \
        wavebound worst kernel.co --kernel bfs --grid 1024 --group 64 --arg buf:u32:1024:uniform=0..1023 --seconds 60\n  \
        wavebound run out/worst/worst.toml")]
    Worst(worst::WorstArgs),
    /// Check certificates of bounds with an independent checker
    #[command(after_help = "Examples:\n  \
        wavebound check-bound bound.json\n  \
        wavebound check-bound bound.json --program kernel.co")]
    CheckBound(check_bound::CheckArgs),
    /// Run random kernels under every mechanism and check that no run is longer than its bound
    #[command(after_help = "Example:\n  wavebound campaign --cases 2160")]
    Campaign(campaign::CampaignArgs),
    /// Run an unmodified HIP program, with its kernels on the simulated GPU
    #[command(after_help = "Examples:\n  \
        wavebound hip --machine pws -- ./program arguments\n  \
        wavebound hip --html launches.html -- ./program arguments")]
    Hip(hip::HipArgs),
    /// Run an unmodified OpenCL program, with its kernels on the simulated GPU
    #[command(after_help = "Examples:\n  \
        wavebound cl --machine pws -- ./program arguments\n  \
        wavebound cl --capture step:3 -- ./program arguments")]
    Cl(cl::ClArgs),
    /// Show the control-flow graph of a kernel: blocks, loops, divergent regions
    #[command(after_help = "Example:\n  wavebound cfg kernel.co --kernel saxpy -o saxpy.svg")]
    Cfg(cfg::CfgArgs),
    /// Write a file of flow facts for a kernel, with proven loop limits, or check one
    #[command(after_help = "Examples:\n  \
        wavebound facts kernel.co --kernel saxpy -o facts.toml\n  \
        wavebound facts kernel.co --kernel saxpy --check facts.toml")]
    Facts(facts::FactsArgs),
    /// List machines, show one, or list scheduling policies and fields
    #[command(after_help = "Example:\n  wavebound machines show guppy --set core.waves=8")]
    Machines(info::MachinesArgs),
    /// List the divergence mechanisms and their properties (THESIS Table 3.1)
    Mechanisms(info::MechanismsArgs),
    /// List the workloads of the benchmark suite, show one, or export one; `run --workload` runs it
    #[command(after_help = "Examples:\n  \
        wavebound workloads show bfs\n  \
        wavebound run --workload bfs --size small")]
    Workloads(workloads::WorkloadsArgs),
    /// Write or run the synthetic benchmark: a tree of divergent branches with chosen work
    #[command(after_help = "Examples:\n  \
        wavebound synthetic --layers 2 --marks all -o tree.s\n  \
        wavebound synthetic --layers 3 --marks all --run --mechanism pws --s 7")]
    Synthetic(synthetic::SyntheticArgs),
    /// Run published experiments and print published results beside ours
    ///
    /// Each published value gets one of three verdicts. Reproduced: the number is met within the tolerance beside it, or
    /// the published relation holds. Shape only: the relation holds, the number is not met. Differs: neither, with the
    /// reason.
    ///
    /// Exit codes: 0 all are reproduced; 3 some are shape only; 4 some differ; 1 something differs and no reason is known.
    #[command(after_help = "Examples:\n  \
        wavebound reproduce all --quick\n  \
        wavebound reproduce pws-11 suite --out folder")]
    Reproduce(reproduce::ReproduceArgs),
    /// Run every point of a plan once, on this computer or a cluster, and keep the results as a data set
    #[command(after_help = "Examples:\n  \
        wavebound sweep plan.toml --dry-run\n  \
        wavebound sweep plan.toml --jobs 8 --point-seconds 60\n  \
        wavebound sweep plan.toml --on slurm --shards 100 --partition batch --time 01:00:00\n  \
        wavebound sweep show out/sweep/plan --rows workload --columns mechanism")]
    Sweep(sweep::SweepArgs),
    /// Predict the schedule of a Vortex kernel from each wave's own instructions and compare it with the simulation
    #[command(
        after_help = "Example:\n  wavebound predict kernel.elf --arg u32:1024 --arg buf:f32:1024 --policy lrr"
    )]
    Predict(predict::PredictArgs),
    /// Measure simulation speed in wave-instructions per second
    #[command(after_help = "Example:\n  wavebound bench gcn3")]
    Bench(bench::BenchArgs),
    /// Write manual pages
    #[command(after_help = "Example:\n  wavebound man -o ~/.local/share/man/man1 && man wavebound-run")]
    Man(manual::ManArgs),
    /// Print the JSON schema of what a command prints with --json
    #[command(after_help = "Examples:\n  wavebound schema run\n  wavebound schema -o schemas")]
    Schema(manual::SchemaArgs),
    /// Print completions for a shell
    #[command(after_help = "Examples:\n  \
        wavebound completions bash > ~/.local/share/bash-completion/completions/wavebound\n  \
        wavebound completions fish > ~/.config/fish/completions/wavebound.fish")]
    Completions(manual::CompletionsArgs),
    /// Show a kernel from source to bound: its lanes part, it is bounded, split at the best places, and bounded again
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
        Command::Debug(args) => debug::main(args),
        Command::Compare(args) => compare::main(args),
        Command::Picture(args) => picture::main(args),
        Command::View(args) => view::main(args),
        Command::Export(args) => export::main(args),
        Command::Asm(args) => asm::assemble(args),
        Command::Split(args) => split::main(args),
        Command::Disasm(args) => asm::disassemble(args),
        Command::Compile(args) => compile::main(args),
        Command::Kernels(args) => kernels::main(args),
        Command::Wcet(args) => wcet::main(args),
        Command::Worst(args) => worst::main(args),
        Command::CheckBound(args) => check_bound::main(args),
        Command::Campaign(args) => campaign::main(args),
        Command::Hip(args) => hip::main(&args),
        Command::Cl(args) => cl::main(&args),
        Command::Cfg(args) => cfg::main(args),
        Command::Facts(args) => facts::main(args),
        Command::Machines(args) => info::machines(args),
        Command::Mechanisms(args) => info::mechanisms(args),
        Command::Workloads(args) => workloads::main(args),
        Command::Synthetic(args) => synthetic::main(args),
        Command::Reproduce(args) => reproduce::main(args),
        Command::Sweep(args) => sweep::main(args),
        Command::Predict(args) => predict::main(args),
        Command::Bench(args) => bench::main(args),
        Command::Man(args) => manual::man(args, Cli::command()),
        Command::Schema(args) => manual::schema(args),
        Command::Completions(args) => manual::completions(args, Cli::command()),
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
