//! AMD GPU code objects: what clang and hipcc emit, as far as running needs it – kernels with descriptor and
//! arguments, loadable bytes, symbols, source lines. Versions 2 to 5, alone or in an offload bundle.

mod arrays;
pub(crate) mod bundle;
mod descriptor;
mod error;
mod fat;
mod image;
mod inlined;
mod kernel;
pub(crate) mod lines;
mod metadata;
mod metadata_v2;
pub mod names;
mod write;

pub use arrays::DebugArray;
pub use bundle::{unwrap as unbundle, unwrap_for as unbundle_for};
pub use descriptor::Descriptor;
pub use error::CodeObjectError;
pub use fat::{device_code, is_compressed};
pub use kernel::{ArgKind, Attributes, Kernel, KernelArg, Qualifiers};
pub use lines::InlinedCall;
pub use write::from_assembly;

use image::at;
use lines::Lines;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::collections::BTreeMap;
use std::ops::Range;
use wb_hw::InstructionSet;
use wb_isa::gcn3::generation::{self, GFX8, Generation, Target};
use wb_program::Segment;

/// Eight bytes at `place` hold the base plus `addend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub place: u64,
    pub addend: i64,
}

/// A loaded code object; addresses are as linked, the loader may add a base.
#[derive(Clone, Debug)]
pub struct CodeObject {
    pub kernels: Vec<Kernel>,
    pub segments: Vec<Segment>,
    pub text: Range<u64>,
    pub symbols: Vec<(String, u64)>,
    /// Formats that kernels print with, as the compiler lists them (OpenCL): `ID:ARGUMENTS:SIZE:…:FORMAT`.
    pub formats: Vec<String>,
    /// Variables of the program: name, address, bytes.
    pub variables: Vec<(String, u64, u64)>,
    /// Pointers in its data that depend on where it lies.
    pub relocations: Vec<Relocation>,
    /// (address, file index, line), sorted by address.
    pub lines: Vec<(u64, u32, u32)>,
    pub files: Vec<String>,
    /// By address of a line: where the user's code calls what was inlined from a library there.
    pub sites: BTreeMap<u64, (u32, u32)>,
    /// Arrays of local and private memory, where debug information tells of them.
    pub arrays: Vec<DebugArray>,
    /// The compiler was told to make no access that is not aligned.
    pub aligned: bool,
    /// Calls that the compiler inlined.
    pub inlined: Vec<InlinedCall>,
    pub version: u8,
    /// What its code is for: GCN3, or RISC-V with lanes that have pcs of their own.
    pub isa: InstructionSet,
    /// Addresses and sizes of functions.
    pub(crate) extents: Vec<(u64, u64)>,
    pub(crate) flags: u32,
}

const EM_AMDGPU: u16 = 0xe0;
/// Code that was compiled for checked runs has this symbol: it makes no access that is not aligned, unless the source does.
const CHECKED: &str = "__wavebound_checked";
/// A code object larger than this is taken for damage.
const MAX_IMAGE: u64 = 1 << 28;

impl CodeObject {
    /// Reads an AMD GPU code object; [`crate::riscv_object`] reads kernels for lane-pc machines.
    pub fn parse(bytes: &[u8]) -> Result<CodeObject, CodeObjectError> {
        let bytes = bundle::unwrap(bytes)?;
        let elf = ElfFile64::<Endianness>::parse(bytes).map_err(|e| CodeObjectError::Elf(e.to_string()))?;
        let header = elf.elf_header();
        let machine = header.e_machine(elf.endian()).0;
        if machine != EM_AMDGPU {
            return Err(CodeObjectError::Machine(machine));
        }
        let version = match header.e_ident().abi_version {
            0 => 2,
            1 => 3,
            2 => 4,
            _ => 5,
        };
        let flags = header.e_flags(elf.endian()).0;
        if version > 2 && target(flags).is_none() {
            return Err(CodeObjectError::Target(flags & 0xff));
        }
        let segments = segments(&elf)?;
        let text = elf
            .section_by_name(".text")
            .map(|s| s.address()..s.address().saturating_add(s.size()))
            .ok_or_else(|| CodeObjectError::Elf("there is no .text section".into()))?;
        let symbols = symbols(&elf);
        let (kernels, formats) = if version == 2 {
            (metadata_v2::kernels(&elf, &segments)?, Vec::new())
        } else {
            metadata::kernels(&elf, &segments, &symbols, version, generation(flags).gcn)?
        };
        if kernels.is_empty() {
            return Err(CodeObjectError::Empty);
        }
        let Lines { table: lines, files, sites, inlined } = lines::read(&elf);
        let extents = extents(&elf);
        let relocations = relocations(&elf, &segments)?;
        let variables = variables(&elf, &segments)?;
        if let Some(k) = kernels.iter().find(|k| !text.contains(&k.entry)) {
            let what =
                format!("its code at {:#x} is not in .text ({:#x} to {:#x})", k.entry, text.start, text.end);
            return Err(CodeObjectError::Kernel { kernel: k.name.clone(), what });
        }
        Ok(CodeObject {
            kernels,
            segments,
            text,
            symbols,
            formats,
            variables,
            relocations,
            lines,
            files,
            sites,
            arrays: arrays::read(&elf),
            aligned: elf.symbols().any(|symbol| symbol.name() == Ok(CHECKED)),
            inlined,
            version,
            isa: InstructionSet::Gcn3,
            extents,
            flags,
        })
    }

    /// The machine it was compiled for.
    pub fn target(&self) -> &'static str {
        target(self.flags).unwrap_or(GFX8.usual).name
    }

    /// How its code is to be read.
    pub fn generation(&self) -> &'static Generation {
        if self.version == 2 { &GFX8 } else { generation(self.flags) }
    }

    /// Bytes of a kernel's code: the size of its symbol, or up to the next kernel or the end of the text.
    pub fn code_bytes(&self, kernel: &Kernel) -> u64 {
        let next = self.kernels.iter().map(|k| k.entry).filter(|&e| e > kernel.entry).min();
        let end = next.unwrap_or(self.text.end).clamp(kernel.entry, self.text.end.max(kernel.entry));
        let size = self.extents.iter().find(|e| e.0 == kernel.entry && e.1 > 0).map(|e| e.1);
        size.unwrap_or(u64::MAX).min(end - kernel.entry)
    }

    /// Loaded bytes at an address as linked.
    pub fn bytes_at(&self, addr: u64, len: usize) -> Option<&[u8]> {
        at(&self.segments, addr, len)
    }

    /// The kernel called `name`, or the only one that may be meant by it ([`names::may_mean`]); without a name, the
    /// only one there is.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        if name.is_empty() {
            return self.kernels.first().filter(|_| self.kernels.len() == 1);
        }
        self.kernels.iter().find(|k| k.name == name).or_else(|| {
            let mut meant = self.kernels.iter().filter(|k| names::may_mean(name, &k.name));
            meant.next().filter(|_| meant.next().is_none())
        })
    }

    /// The names of all kernels, for messages.
    pub fn kernel_names(&self) -> String {
        self.kernels.iter().map(|k| names::both(&k.name)).collect::<Vec<_>>().join(", ")
    }
}

fn segments(elf: &ElfFile64<Endianness>) -> Result<Vec<Segment>, CodeObjectError> {
    let bad = |e: object::Error| CodeObjectError::Elf(e.to_string());
    let mut out: Vec<Segment> = Vec::new();
    let mut all = 0u64;
    for segment in elf.segments() {
        let (addr, size) = (segment.address(), segment.size());
        // Segments may lie over each other: what counts is what they take together.
        all = all.saturating_add(size);
        if all > MAX_IMAGE || addr.checked_add(size).is_none_or(|end| end > MAX_IMAGE) {
            return Err(CodeObjectError::Elf(format!(
                "a segment of {size} bytes at {addr:#x} cannot be loaded"
            )));
        }
        let mut bytes = segment.data().map_err(bad)?.to_vec();
        bytes.resize(size as usize, 0);
        out.push(Segment { addr, bytes });
    }
    Ok(out)
}

/// The processor of EF_AMDGPU_MACH, if it runs this instruction set.
fn target(flags: u32) -> Option<Target> {
    generation::of_machine(flags & 0xff).map(|(_, target)| target)
}

/// The generation of the processor.
fn generation(flags: u32) -> &'static Generation {
    generation::of_machine(flags & 0xff).map_or(&GFX8, |(generation, _)| generation)
}

fn extents(elf: &ElfFile64<Endianness>) -> Vec<(u64, u64)> {
    let all = elf.symbols().chain(elf.dynamic_symbols());
    let code = all.filter(|s| s.kind() == object::SymbolKind::Text);
    code.map(|s| (s.address(), s.size())).collect()
}

fn symbols(elf: &ElfFile64<Endianness>) -> Vec<(String, u64)> {
    let mut out: Vec<(String, u64)> = elf
        .symbols()
        .chain(elf.dynamic_symbols())
        .filter_map(|s| Some((s.name().ok()?.to_owned(), s.address())))
        .filter(|s| !s.0.is_empty())
        .collect();
    out.sort();
    out.dedup();
    out
}

/// Dynamic symbols that are data. Hosts read and write them by address, so each must lie in what is loaded.
fn variables(
    elf: &ElfFile64<Endianness>,
    segments: &[Segment],
) -> Result<Vec<(String, u64, u64)>, CodeObjectError> {
    let data = elf.dynamic_symbols().filter(|s| s.kind() == object::SymbolKind::Data && s.is_definition());
    let mut out: Vec<_> =
        data.filter_map(|s| Some((s.name().ok()?.to_owned(), s.address(), s.size()))).collect();
    out.sort();
    for (name, addr, bytes) in &out {
        // Nothing at all is somewhere, too.
        let length = usize::try_from((*bytes).max(1)).unwrap_or(usize::MAX);
        if at(segments, *addr, length).is_none() {
            return Err(CodeObjectError::Variable { name: name.clone(), addr: *addr, bytes: *bytes });
        }
    }
    Ok(out)
}

/// What the loader has to add the base to: R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64 (LLVM's AMDGPU usage, Relocation Records).
fn relocations(
    elf: &ElfFile64<Endianness>,
    segments: &[Segment],
) -> Result<Vec<Relocation>, CodeObjectError> {
    use object::{ObjectSymbolTable, RelocationFlags, RelocationTarget};
    const ABS64: u32 = 3;
    const RELATIVE64: u32 = 13;
    let bad = |what: String| CodeObjectError::Elf(what);
    let mut out = Vec::new();
    for (place, r) in elf.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = r.flags() else { continue };
        let target = match (r_type.0, r.target()) {
            (RELATIVE64, _) => 0,
            (ABS64, RelocationTarget::Symbol(index)) => {
                let symbol = elf.dynamic_symbol_table().and_then(|t| t.symbol_by_index(index).ok());
                let symbol =
                    symbol.ok_or_else(|| bad(format!("a relocation at {place:#x} has no symbol")))?;
                if symbol.is_undefined() {
                    let name = symbol.name().unwrap_or("?");
                    return Err(bad(format!("symbol {name} is not defined")));
                }
                symbol.address() as i64
            }
            (other, _) => return Err(bad(format!("relocation {other} at {place:#x} is not supported"))),
        };
        if at(segments, place, 8).is_none() {
            return Err(bad(format!("a relocation at {place:#x} lies outside the object")));
        }
        out.push(Relocation { place, addend: target.wrapping_add(r.addend()) });
    }
    Ok(out)
}
