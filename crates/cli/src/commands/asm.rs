//! `wavebound asm` and `wavebound disasm`.

use super::{CommandResult, print, print_line};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::files::Kind;
use wavebound::hw::InstructionSet;
use wavebound::isa::SourceFile;
use wavebound::jobs::object::{self, CompileOptions};
use wavebound::jobs::{Assembled, Language, ListingOptions, isa_by_magic, isa_of, with_isa};

#[derive(Args)]
pub struct AsmArgs {
    /// Source file: .harp, .guppy, .vx, or .s (GCN3 if it has a kernel header, HARP otherwise)
    file: PathBuf,
    /// Instruction set, if the extension does not say: harp, guppy, gcn3, vortex, riscv
    #[arg(long)]
    isa: Option<InstructionSet>,
    /// HARP architecture: bytes of a word, w(ord) or b(yte) encoding, registers, predicates
    #[arg(long, default_value = "8w32/32")]
    arch: String,
    /// Object file to write (default: beside the source, with .hof, .gupm, .co or .elf)
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Check the source and write nothing
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
pub struct DisasmArgs {
    /// Object file (.hof, .gupm, .co, .elf), or a source file to list with addresses and encodings
    file: PathBuf,
    /// GCN3: print only this kernel
    #[arg(long, default_value = "")]
    kernel: String,
    /// GCN3: leave out the source lines
    #[arg(long)]
    no_source: bool,
    /// Instruction set, if neither the extension nor the first bytes say it
    #[arg(long)]
    isa: Option<InstructionSet>,
    /// HARP architecture for source files
    #[arg(long, default_value = "8w32/32")]
    arch: String,
    /// Print text that assembles again, without addresses and encodings
    #[arg(long)]
    source: bool,
}

fn source(path: &Path, bytes: &[u8]) -> miette::Result<SourceFile> {
    let text =
        std::str::from_utf8(bytes).into_diagnostic().wrap_err("not an object file and not UTF-8 text")?;
    Ok(SourceFile::new(path.display().to_string(), text))
}

fn unknown(path: &Path) -> miette::Report {
    let help = format!("use --isa {}", InstructionSet::choices());
    miette!(help = help, "cannot tell the ISA of {}", path.display())
}

pub fn assemble(args: AsmArgs) -> CommandResult {
    let bytes = wavebound::files::read(&args.file, Kind::Program)?;
    let file = source(&args.file, &bytes)?;
    let isa = args.isa.or_else(|| isa_of(&args.file, &bytes)).ok_or_else(|| unknown(&args.file))?;
    let (object, extension) =
        with_isa!(isa, I => (<I as Language>::assemble(&file, &args.arch)?, <I as Language>::OBJECT.0));
    let Assembled { bytes, what } = object;
    if args.check {
        print_line(&format!("{}: {what}, no errors", args.file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.unwrap_or_else(|| args.file.with_extension(extension));
    wavebound::files::write(&output, &bytes)?;
    print_line(&format!("{}: {what}, {} bytes", output.display(), bytes.len()));
    Ok(ExitCode::SUCCESS)
}

pub fn disassemble(args: DisasmArgs) -> CommandResult {
    let DisasmArgs { file, kernel, no_source, arch, source: assembly, isa } = args;
    let options = ListingOptions { kernel, no_source: no_source || assembly, assembly, arch };
    let parts = match options.kernel.as_str() {
        "" => object::read_all(&file, &CompileOptions::default())?,
        kernel => vec![object::read_for(&file, &CompileOptions::default(), kernel)?],
    };
    for bytes in parts {
        let isa = listed_isa(&file, &bytes, isa).ok_or_else(|| unknown(&file))?;
        let magic = with_isa!(isa, I => <I as Language>::OBJECT.1);
        if !magic.is_empty() && !bytes.starts_with(magic) {
            source(&file, &bytes)?;
        }
        print(&with_isa!(isa, I => <I as Language>::list(&file, &bytes, &options)?));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a file is listed as: GCN3 if it looks like that, whatever is given; then by the first bytes, where object files have
/// some of their own.
fn listed_isa(path: &Path, bytes: &[u8], given: Option<InstructionSet>) -> Option<InstructionSet> {
    let looks = isa_of(path, bytes);
    let told = if looks == Some(InstructionSet::Gcn3) { looks } else { given.or(looks) };
    let plain = |isa: &InstructionSet| with_isa!(*isa, I => <I as Language>::OBJECT.1.is_empty());
    told.filter(plain).or_else(|| isa_by_magic(bytes)).or(told)
}
