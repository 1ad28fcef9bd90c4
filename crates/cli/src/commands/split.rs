//! `wavebound split`: marks divergent branches of a GCN3 program for splitting, or lists them (docs/splitting.md).

use super::place::{self, PlacingArgs, SplitTarget};
use super::split_input::SplitInput;
use super::style::StyleArg;
use super::workloads::WorkloadArgs;
use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use miette::miette;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::jobs::object;
use wavebound::objects::marks::{self, Request, Site, Wanted};
use wavebound::program::RegionKind;

#[derive(Args)]
#[command(group = clap::ArgGroup::new("which").args(["at", "all", "marks", "list", "optimal"]))]
pub struct SplitArgs {
    /// Code object, assembly or source: .co .hsaco .bundle .s .cl .hip
    #[arg(required_unless_present = "workload")]
    file: Option<PathBuf>,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Mark or list only branches of this kernel or function
    #[arg(long, default_value = "")]
    kernel: String,
    /// Mark the branch at an address (0x2650), a pc (148), FILE:LINE, LABEL or LABEL+BYTES; repeatable
    #[arg(long, value_name = "PLACE")]
    at: Vec<String>,
    /// Mark all branches that can be marked
    #[arg(long)]
    all: bool,
    /// Mark where the source calls wavebound_split() (the default, if it does)
    #[arg(long)]
    marks: bool,
    /// List the branches: address, pc, source line, kind, where lanes meet again, markable or why not
    #[arg(long)]
    list: bool,
    /// Mark where splitting lowers the bound most; needs a launch: --launch, or --grid, --group and --arg
    #[arg(long)]
    optimal: bool,
    #[command(flatten)]
    placing: PlacingArgs,
    /// How branches are marked
    #[arg(long, value_enum, default_value_t)]
    style: StyleArg,
    /// Code object to write (default: beside the input, with .split.co)
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
struct BranchJson {
    function: String,
    pc: u32,
    addr: u64,
    file: String,
    line: u32,
    kind: &'static str,
    reconverge: Option<u64>,
    else_of: Option<u64>,
    markable: bool,
    ends: bool,
    only_ends: bool,
    why: &'static str,
    split: bool,
    mode: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct ListJson {
    version: u32,
    file: String,
    branches: Vec<BranchJson>,
}

impl Printed for ListJson {
    const NAME: &'static str = "split-list";
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct SplitJson {
    version: u32,
    file: String,
    output: String,
    /// Addresses in the input.
    marked: Vec<u64>,
    notes: Vec<String>,
}

impl Printed for SplitJson {
    const NAME: &'static str = "split";
}

pub fn main(args: SplitArgs) -> CommandResult {
    let which = args.workload.spec()?;
    let program = SplitInput::read(args.file.as_deref(), which.as_ref())?;
    let (name, bytes) = (program.name.clone(), program.bytes.as_slice());
    let report = |e| object::mark_report(&name, e);
    if args.list {
        let sites = marks::sites(bytes, &args.kernel).map_err(report)?;
        return list(&args, name, &sites).map(|()| ExitCode::SUCCESS);
    }
    let output = args.output.clone().unwrap_or_else(|| program.output.clone());
    wavebound::files::check_output(&output)?;
    if args.optimal {
        let style = args.style.into();
        let target = SplitTarget { program: &program, workload: which.as_ref(), kernel: &args.kernel, style };
        return place::main(&args.placing, &target, &output, args.json);
    }
    let wanted = match (args.all, args.at.is_empty(), &which) {
        (true, ..) => Wanted::All,
        (false, false, _) => Wanted::At(args.at.clone()),
        (false, true, Some(which)) => Wanted::At(which.workload.default_marks()),
        (false, true, None) => Wanted::Source,
    };
    if wanted == Wanted::Source && !marks::has_source_marks(bytes, &args.kernel).map_err(report)? {
        return Err(miette!(
            help = "say which branches: --at PLACE or --all; --list shows them",
            "{name}: there is no wavebound_split() in it"
        ));
    }
    let request = Request { kernel: args.kernel.clone(), wanted, style: args.style.into() };
    let marked = object::mark(&name, bytes, &request)?;
    wavebound::files::write(&output, &marked.bytes)?;
    let output = output.display().to_string();
    if args.json {
        let json = SplitJson { version: 1, file: name, output, marked: marked.branches, notes: marked.notes };
        return print_json(&json).map(|()| ExitCode::SUCCESS);
    }
    for note in &marked.notes {
        super::tell(&format!("note: {note}"));
    }
    let count = marked.branches.len();
    let s = if count == 1 { "" } else { "es" };
    print_line(&format!("{output}: {count} branch{s} marked, {} bytes", marked.bytes.len()));
    Ok(ExitCode::SUCCESS)
}

fn kind(site: &Site) -> &'static str {
    match site.kind {
        RegionKind::If => "if",
        RegionKind::Else => "else",
        RegionKind::Loop => "loop",
        RegionKind::Unsaved => "unsaved",
    }
}

fn list(args: &SplitArgs, file: String, sites: &[Site]) -> miette::Result<()> {
    if args.json {
        let branch = |s: &Site| BranchJson {
            function: s.function.clone(),
            pc: s.pc,
            addr: s.addr,
            file: s.file.clone(),
            line: s.line,
            kind: kind(s),
            reconverge: s.reconverge,
            else_of: s.else_of,
            markable: s.markable,
            ends: s.ends,
            only_ends: s.only_ends,
            why: s.why,
            split: s.split,
            mode: s.mode,
        };
        return print_json(&ListJson { version: 1, file, branches: sites.iter().map(branch).collect() });
    }
    let mut function = None;
    for s in sites {
        if function != Some(&s.function) {
            function = Some(&s.function);
            print_line(&format!("{}:", s.function));
            print_line("  address       pc  source                kind     lanes meet  split and merge");
        }
        let source = if s.line > 0 { format!("{}:{}", s.file, s.line) } else { "-".into() };
        let meet = match s.reconverge {
            Some(a) => format!("{a:#x}"),
            None if s.ends => "never".into(),
            None => "-".into(),
        };
        let state = match (s.markable, s.else_of) {
            (true, Some(first)) => format!("with its if, {first:#x}"),
            (true, None) if s.only_ends => "yes (split_end; not with --all: the other lanes only end)".into(),
            (true, None) if s.ends => "yes (split_end)".into(),
            (true, None) => "yes".into(),
            (false, _) => format!("no: {}", s.why),
        };
        let marks = [(s.split, ", marked"), (s.mode, ", MODE bit set")];
        let marks: String = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
        print_line(&format!(
            "  {:<10} {:>5}  {source:<20}  {:<7}  {meet:<10}  {state}{marks}",
            format!("{:#x}", s.addr),
            s.pc,
            kind(s)
        ));
    }
    if sites.is_empty() {
        print_line("no branch on the execution mask");
    }
    Ok(())
}
