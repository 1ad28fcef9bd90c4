//! GCN3 programs as files: code objects, executables that carry some, assembly and OpenCL or HIP sources, all turned into a code
//! object. Every command that accepts a code object accepts these.

mod compile;
mod listing;
mod online;
mod riscv;
mod split;

pub use crate::language::ListingOptions;
pub use compile::{CompileOptions, Compiler, RISCV};
pub use listing::listing;
pub use online::{Built, Linked, OnlineSource};
pub use riscv::commands as riscv_commands;
pub(crate) use split::unmarkable;
pub use split::{SplitSpec, code, mark, mark_report};

use crate::error::AsmErrors;
use crate::error::{JobError, refused};
use std::borrow::Cow;
use std::path::Path;
use wb_files::Kind;
use wb_isa::{SourceFile, gcn3};
use wb_objects::codeobject::{CodeObject, device_code, from_assembly, is_compressed, unbundle_for};
use wb_objects::{RiscvImage, has_kernels, riscv_object};

/// A code object and the assembly it was made from, if any.
#[derive(Clone, Debug)]
pub struct ObjectFile {
    pub name: String,
    pub object: CodeObject,
    pub source: Option<SourceFile>,
}

/// Whether a file of this extension is for the compiler.
pub fn is_source(extension: &str) -> bool {
    matches!(extension, "cl" | "hip" | "cpp")
}

pub(crate) fn is_object(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") || is_compressed(bytes)
}

/// GCN3 assembly has a kernel header or a target; HARP knows none of these directives.
pub(crate) fn is_gcn3_assembly(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let first = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    text.lines().any(|l| matches!(first(l).as_str(), ".kernel" | ".amdhsa_kernel" | ".amdgcn_target"))
}

/// The bytes of a file; sources are compiled, and executables of the host become the code object that they carry.
pub fn read(path: &Path, options: &CompileOptions) -> Result<Vec<u8>, JobError> {
    read_for(path, options, "")
}

/// The same, of a file with several code objects the one with this kernel.
pub fn read_for(path: &Path, options: &CompileOptions, kernel: &str) -> Result<Vec<u8>, JobError> {
    let name = path.display();
    let mut all = read_all(path, options)?;
    if all.len() > 1 {
        let parsed: Vec<CodeObject> = all
            .iter()
            .map(|bytes| CodeObject::parse(bytes).map_err(|e| refused!(Program, "{name}: {e}")))
            .collect::<Result<_, _>>()?;
        let has = |object: &CodeObject| !kernel.is_empty() && object.kernel(kernel).is_some();
        let Some(found) = parsed.iter().position(has) else {
            let names: Vec<String> = parsed.iter().map(CodeObject::kernel_names).collect();
            let help = format!("kernels in the file: {}", names.join(" "));
            return Err(match kernel {
                "" => refused!(
                    Kernel,
                    help = help,
                    "{name} has {} code objects: choose a kernel with --kernel",
                    all.len()
                ),
                _ => refused!(Kernel, help = help, "{name}: there is no kernel `{kernel}`"),
            });
        };
        all.swap(0, found);
    }
    Ok(all.swap_remove(0))
}

/// All programs of a file: one, unless it is an executable of several parts.
pub fn read_all(path: &Path, options: &CompileOptions) -> Result<Vec<Vec<u8>>, JobError> {
    let bytes = read_file(path, options)?;
    if !is_object(&bytes) {
        return Ok(vec![bytes]);
    }
    let all = device_code(&bytes).map_err(|e| refused!(Program, "{}: {e}", path.display()))?;
    // Of a bundle the entry for the target, if there is one.
    let chosen = |all: Cow<[u8]>| match unbundle_for(&all, &options.target) {
        Ok(entry) => entry.to_vec(),
        Err(_) => all.into_owned(),
    };
    Ok(all.into_iter().map(chosen).collect())
}

fn read_file(path: &Path, options: &CompileOptions) -> Result<Vec<u8>, JobError> {
    if path.extension().and_then(|e| e.to_str()).is_some_and(is_source) && path.exists() {
        // The compiler reads it, but only what we would read.
        wb_files::open(path, Kind::Source)?;
        return compile::in_memory(|output| compile(path, output, options));
    }
    Ok(wb_files::read(path, Kind::Program)?)
}

/// Compiles a source for the target of `options`.
pub fn compile(source: &Path, output: &Path, options: &CompileOptions) -> Result<(), JobError> {
    match options.target.as_str() {
        RISCV => wb_files::write_by(output, |part| riscv::compile(source, part, options)),
        _ => Compiler::find()?.compile(source, output, options),
    }
}

impl ObjectFile {
    pub fn from_file(path: &Path, options: &CompileOptions) -> Result<ObjectFile, JobError> {
        ObjectFile::from_bytes(&path.display().to_string(), &read(path, options)?)
    }

    /// A code object, an offload bundle, or assembly text.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<ObjectFile, JobError> {
        let help = "a GCN3 program is a code object (`wavebound compile` writes one), an executable that carries one, assembly \
                    with `.kernel` or `.amdhsa_kernel`, or a .cl or .hip source";
        let parse = |bytes: &[u8]| {
            let object = match RiscvImage::is_riscv(bytes) && has_kernels(bytes) {
                true => riscv_object(bytes),
                false => CodeObject::parse(bytes),
            };
            object.map_err(|e| refused!(Program, help = help, "{name}: {e}"))
        };
        if is_object(bytes) {
            return Ok(ObjectFile { name: name.to_owned(), object: parse(bytes)?, source: None });
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| refused!(Program, help = help, "{name} is neither an ELF file nor text"))?;
        let source = SourceFile::new(name, text);
        let object = parse(&assemble(&source)?)?;
        Ok(ObjectFile { name: name.to_owned(), object, source: Some(source) })
    }
}

/// Assembly text as the bytes of a code object.
pub fn assemble(source: &SourceFile) -> Result<Vec<u8>, JobError> {
    let assembly = gcn3::assemble(source).map_err(|e| AsmErrors::new(&source.name, e))?;
    from_assembly(&assembly, &source.name).map_err(|e| {
        refused!(
            Program,
            help = "a kernel begins with `.kernel NAME`, or has an .amdhsa_kernel block and a label",
            "{}: {e}",
            source.name
        )
    })
}
