//! `wavebound asm` and `wavebound disasm`.

use super::{CommandResult, print, print_line};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::files::Kind;
use wavebound::hw::InstructionSet;
use wavebound::isa::harp::{self, Arch};
use wavebound::isa::{SourceFile, guppy};
use wavebound::jobs::AsmErrors;
use wavebound::jobs::object::{self, CompileOptions, ListingOptions, ObjectFile};
use wavebound::jobs::vortex;

#[derive(Args)]
pub struct AsmArgs {
    /// Source file: .harp, .guppy, .vx, or .s (GCN3 if it has a kernel header, HARP otherwise)
    file: PathBuf,
    /// Instruction set, if the extension does not say: harp, guppy, gcn3, vortex
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

fn isa(path: &Path, bytes: &[u8], given: Option<InstructionSet>) -> miette::Result<InstructionSet> {
    given.or_else(|| object::isa_of(path, bytes)).ok_or_else(|| {
        miette!(help = "use --isa harp, guppy, gcn3 or vortex", "cannot tell the ISA of {}", path.display())
    })
}

fn arch(text: &str) -> miette::Result<Arch> {
    text.parse().map_err(|e| miette!("--arch {text}: {e}"))
}

pub fn assemble(args: AsmArgs) -> CommandResult {
    let bytes = wavebound::files::read(&args.file, Kind::Program)?;
    let file = source(&args.file, &bytes)?;
    let (object, extension, what) = match isa(&args.file, &bytes, args.isa)? {
        InstructionSet::Harp => {
            let object =
                harp::assemble(&file, &arch(&args.arch)?).map_err(|e| AsmErrors::new(&file.name, e))?;
            let what = format!("{} chunks", object.chunks.len());
            (object.to_file().into_diagnostic()?, "hof", what)
        }
        InstructionSet::Guppy => {
            let module = guppy::assemble(&file).map_err(|e| AsmErrors::new(&file.name, e))?;
            (module.to_bytes(), "gupm", format!("{} instructions", module.insts.len()))
        }
        InstructionSet::Gcn3 => {
            let bytes = object::assemble(&file)?;
            let kernels = ObjectFile::from_bytes(&file.name, &bytes)?.object.kernels.len();
            (bytes, "co", format!("{kernels} kernel{}", if kernels == 1 { "" } else { "s" }))
        }
        InstructionSet::Vortex => {
            let (image, _) = vortex::image(&file.name, file.text.as_bytes())?;
            (image.to_elf(), "elf", format!("{} instructions", image.words().count()))
        }
    };
    if args.check {
        print_line(&format!("{}: {what}, no errors", args.file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.unwrap_or_else(|| args.file.with_extension(extension));
    wavebound::files::write(&output, &object)?;
    print_line(&format!("{}: {what}, {} bytes", output.display(), object.len()));
    Ok(ExitCode::SUCCESS)
}

pub fn disassemble(args: DisasmArgs) -> CommandResult {
    let bytes = object::read(&args.file, &CompileOptions::default())?;
    if object::isa_of(&args.file, &bytes) == Some(InstructionSet::Gcn3)
        || args.isa == Some(InstructionSet::Gcn3)
    {
        let file = ObjectFile::from_bytes(&args.file.display().to_string(), &bytes)?;
        let DisasmArgs { kernel, no_source, source: assembly, .. } = args;
        let options = ListingOptions { kernel, no_source: no_source || assembly, assembly };
        print(&object::listing(&file, &args.file, &options)?);
        return Ok(ExitCode::SUCCESS);
    }
    let told = args.isa.or_else(|| object::isa_of(&args.file, &bytes));
    let text = if told == Some(InstructionSet::Vortex) {
        vortex::listing(&args.file.display().to_string(), &bytes, args.source)?
    } else if bytes.starts_with(b"HARP") {
        let object = harp::Object::from_bytes(&bytes).into_diagnostic()?;
        harp_text(&harp::link(&[object]).into_diagnostic()?, args.source)?
    } else if bytes.starts_with(b"GUPY") {
        guppy_text(&guppy::Module::from_bytes(&bytes).into_diagnostic()?, args.source)
    } else {
        let file = source(&args.file, &bytes)?;
        match isa(&args.file, &bytes, args.isa)? {
            InstructionSet::Harp => {
                let arch = arch(&args.arch)?;
                let image =
                    harp::assemble_program(&file, &arch).map_err(|e| AsmErrors::new(&file.name, e))?;
                harp_text(&image, args.source)?
            }
            InstructionSet::Guppy | InstructionSet::Gcn3 | InstructionSet::Vortex => {
                guppy_text(&guppy::assemble(&file).map_err(|e| AsmErrors::new(&file.name, e))?, args.source)
            }
        }
    };
    print(&text);
    Ok(ExitCode::SUCCESS)
}

fn harp_text(image: &harp::Image, as_source: bool) -> miette::Result<String> {
    if as_source {
        return Ok(harp::disassemble(image));
    }
    let program = wavebound::program::harp_program(image, "", None).into_diagnostic()?;
    let mut out = format!("; arch {}, entry {:#x}\n", image.arch, image.entry);
    for (pc, op) in program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()) {
        let granule = u64::from(program.isa.granule);
        let (addr, end) = (pc as u64 * granule, u64::from(op.next) * granule);
        for (name, _) in program.symbols.iter().filter(|s| s.1 == addr) {
            let _ = writeln!(out, "{name}:");
        }
        let code: String = (addr..end)
            .filter_map(|a| image.bytes_at(a)?.first().copied())
            .map(|b| format!("{b:02x}"))
            .collect::<Vec<_>>()
            .join(" ");
        let _ = writeln!(out, "  {addr:06x}  {code:<32} {}", program.text_at(pc as u32));
    }
    Ok(out)
}

fn guppy_text(module: &guppy::Module, as_source: bool) -> String {
    if as_source {
        return module.disassemble();
    }
    // Number the instruction lines of the disassembly; labels and blank lines have none.
    let mut pc = 0;
    module
        .disassemble()
        .lines()
        .map(|line| {
            let is_instruction =
                line.starts_with(' ') && !line.trim().is_empty() && !line.trim().starts_with(';');
            if is_instruction {
                pc += 1;
                format!("  {:04}{line}\n", pc - 1)
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}
