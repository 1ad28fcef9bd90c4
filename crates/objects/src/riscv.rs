//! Programs for Vortex and lane-pc machines: ELF32 RISC-V executables as clang and lld make them, and images of our assembler, decoded at their
//! final addresses. A pc is the distance from the first instruction in words.

use crate::codeobject::lines::{self, Lines};
use crate::codeobject::{CodeObject, InlinedCall, Kernel};
use crate::load::inlined;

use object::read::elf::{ElfFile32, FileHeader as _};
use object::{Endianness, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind};
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;
use wb_isa::riscv::{Riscv, Setup};
use wb_isa::vortex::{DecodeError, Image, Inst, Vortex};
use wb_isa::{Isa, NO_PC, Pc, SourceFile};
use wb_program::{Decoded, LoadError, MAX_TEXT, Program, Segment};

/// Why a file is not a program for Vortex.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RiscvError {
    #[error("not a 32-bit ELF file: {0}")]
    Elf(String),
    #[error("an ELF file for machine {0}, not for RISC-V (243)")]
    Machine(u16),
    #[error("the file is not an executable: link it, with the addresses of docs/vortex.md")]
    Relocatable,
    #[error(
        "the program uses compressed instructions, which Vortex does not have: compile with -march=rv32imaf"
    )]
    Compressed,
    #[error("the program is compiled for the {0} ABI: compile with -march=rv32imaf -mabi=ilp32f")]
    Abi(&'static str),
    #[error("a segment of {size} bytes at {addr:#x} cannot be loaded")]
    Segment { addr: u64, size: u64 },
    #[error("the file has no instructions")]
    Empty,
}

/// A RISC-V program at its final addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RiscvImage {
    pub segments: Vec<Segment>,
    pub text: Range<u64>,
    pub entry: u64,
    pub symbols: Vec<(String, u64)>,
    /// Address, index of the file, line; by address.
    pub lines: Vec<(u64, u32, u32)>,
    pub files: Vec<String>,
    /// By address of a line: where the user's code calls what was inlined from a library there.
    pub sites: BTreeMap<u64, (u32, u32)>,
    /// Calls that the compiler inlined.
    pub inlined: Vec<InlinedCall>,
}

const EM_RISCV: u16 = 243;
const FLAG_COMPRESSED: u32 = 1;
const FLAG_FLOAT_ABI: u32 = 6;
/// Segments end below this address.
const TOP: u64 = 1 << 32;
/// A segment larger than this is taken for damage.
const MAX_SEGMENT: u64 = 1 << 28;

impl RiscvImage {
    /// Whether the bytes are an ELF file for RISC-V.
    pub fn is_riscv(bytes: &[u8]) -> bool {
        bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&EM_RISCV.to_le_bytes())
    }

    pub fn from_elf(bytes: &[u8]) -> Result<RiscvImage, RiscvError> {
        let bad = |e: object::Error| RiscvError::Elf(e.to_string());
        let elf = ElfFile32::<Endianness>::parse(bytes).map_err(bad)?;
        let header = elf.elf_header();
        let machine = header.e_machine(elf.endian()).0;
        if machine != EM_RISCV {
            return Err(RiscvError::Machine(machine));
        }
        if header.e_type(elf.endian()) != object::elf::ET_EXEC {
            return Err(RiscvError::Relocatable);
        }
        let flags = header.e_flags(elf.endian()).0;
        if flags & FLAG_COMPRESSED != 0 {
            return Err(RiscvError::Compressed);
        }
        match flags & FLAG_FLOAT_ABI {
            4 => return Err(RiscvError::Abi("double-precision")),
            6 => return Err(RiscvError::Abi("quad-precision")),
            _ => {}
        }
        let mut segments = Vec::new();
        for segment in elf.segments() {
            let (addr, size) = (segment.address(), segment.size());
            if size > MAX_SEGMENT || addr + size > TOP {
                return Err(RiscvError::Segment { addr, size });
            }
            let mut bytes = segment.data().map_err(bad)?.to_vec();
            bytes.resize(size as usize, 0);
            segments.push(Segment { addr, bytes });
        }
        let code = || elf.sections().filter(|s| s.kind() == SectionKind::Text && s.size() > 0);
        let start = code().map(|s| s.address()).min().ok_or(RiscvError::Empty)?;
        let end = code().map(|s| s.address().saturating_add(s.size())).max().ok_or(RiscvError::Empty)?;
        let Lines { table: lines, files, sites, inlined } = lines::read(&elf);
        Ok(RiscvImage {
            segments,
            text: start..end,
            entry: elf.entry(),
            symbols: symbols(&elf),
            lines,
            files,
            sites,
            inlined,
        })
    }

    /// What our assembler made; its file is the source.
    pub fn from_assembly(image: &Image, name: &str) -> RiscvImage {
        let segment = |(addr, bytes): &(u32, Vec<u8>)| Segment { addr: (*addr).into(), bytes: bytes.clone() };
        RiscvImage {
            segments: image.segments.iter().map(segment).collect(),
            text: image.text.start.into()..image.text.end.into(),
            entry: image.entry.into(),
            symbols: image.symbols.iter().map(|(n, a)| (n.clone(), (*a).into())).collect(),
            lines: image.lines.iter().map(|&(a, line)| (a.into(), 0, line)).collect(),
            files: vec![name.to_owned()],
            sites: BTreeMap::new(),
            inlined: Vec::new(),
        }
    }

    /// Loaded bytes at an address.
    pub fn bytes_at(&self, addr: u64, len: usize) -> Option<&[u8]> {
        self.segments.iter().find_map(|s| {
            let offset = usize::try_from(addr.checked_sub(s.addr)?).ok()?;
            s.bytes.get(offset..offset.checked_add(len)?)
        })
    }

    /// Address and word of everything in the text.
    pub fn words(&self) -> impl Iterator<Item = (u64, u32)> {
        let addresses = self.text.clone().step_by(4);
        addresses.map_while(|a| Some((a, u32::from_le_bytes(self.bytes_at(a, 4)?.try_into().ok()?))))
    }

    /// Bytes the program occupies, first to last address.
    pub fn extent(&self) -> Range<u64> {
        let start = self.segments.iter().map(|s| s.addr).min().unwrap_or(0);
        let end = self.segments.iter().map(|s| s.addr + s.bytes.len() as u64).max().unwrap_or(0);
        start..end
    }
}

/// Functions, objects and labels; not the marks that tell code from data, nor local labels of the compiler.
fn symbols(elf: &ElfFile32<Endianness>) -> Vec<(String, u64)> {
    let mut out: Vec<(String, u64)> = elf
        .symbols()
        .filter(|s| !s.is_undefined() && !matches!(s.kind(), SymbolKind::File | SymbolKind::Section))
        .filter_map(|s| Some((s.name().ok()?.to_owned(), s.address())))
        .filter(|s| !s.0.is_empty() && !s.0.starts_with('$') && !s.0.starts_with(".L"))
        .collect();
    out.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    out.dedup();
    out
}

/// Decodes the text. The ISA instance carries the machine and the launch; its `base` is set here. Words that are no
/// instructions are errors when they are executed, compressed instructions at once.
pub fn vortex_program(
    image: &RiscvImage,
    isa: Vortex,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Vortex>, LoadError> {
    program(image, |base| Vortex { base, ..isa }, name, source)
}

/// A kernel for a lane-pc machine; `setup` is its launch.
pub fn riscv_program(
    object: &CodeObject,
    kernel: &Kernel,
    setup: Setup,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Riscv>, LoadError> {
    let image = RiscvImage {
        segments: object.segments.clone(),
        text: object.text.clone(),
        entry: kernel.entry,
        symbols: object.symbols.clone(),
        lines: object.lines.clone(),
        files: object.files.clone(),
        sites: object.sites.clone(),
        inlined: object.inlined.clone(),
    };
    let mut program = program(&image, |base| Riscv { setup, ..Riscv::at(base) }, name, source)?;
    program.kernel.clone_from(&kernel.name);
    Ok(program)
}

fn program<I: Isa<Inst = Inst>>(
    image: &RiscvImage,
    make: impl FnOnce(u32) -> I,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<I>, LoadError> {
    let size = image.text.end - image.text.start;
    if size > MAX_TEXT {
        return Err(LoadError::TooLarge(image.text.end));
    }
    let base = Vortex::at(image.text.start as u32);
    let mut insts = Vec::with_capacity(size as usize / 4);
    for (addr, word) in image.words() {
        let inst = match Inst::decode(word) {
            Ok(inst) => Some(inst),
            Err(e @ DecodeError::Compressed(half)) if half != 0 && source.is_none() => {
                return Err(LoadError::Instruction { addr, why: e.to_string() });
            }
            Err(_) => None,
        };
        insts.push((inst, insts.len() as Pc + 1));
    }
    if insts.is_empty() {
        return Err(LoadError::Empty);
    }
    if let Some(last) = insts.last_mut() {
        last.1 = NO_PC;
    }
    let is_code = |pc: &Pc| insts.get(*pc as usize).is_some_and(|i: &(Option<Inst>, Pc)| i.0.is_some());
    let entry = base.pc_of(image.entry).filter(is_code).ok_or(LoadError::Entry(image.entry))?;
    let labels = image.symbols.iter().filter_map(|(n, a)| Some((n.clone(), base.pc_of(*a).filter(is_code)?)));
    let labels = labels.collect();
    let mut line_of = vec![0; insts.len()];
    let mut file_of = vec![0; insts.len()];
    let mut inner = BTreeMap::new();
    for (i, &(addr, file, line)) in image.lines.iter().enumerate() {
        let to =
            image.lines.get(i + 1).and_then(|next| base.pc_of(next.0)).map_or(insts.len(), |pc| pc as usize);
        let from = base.pc_of(addr).map_or(insts.len(), |pc| pc as usize);
        let range = from..to.min(insts.len());
        // What comes from a header of a library is shown where the user's code calls it.
        let (file, line) = match image.sites.get(&addr) {
            Some(&site) => {
                inner.extend(range.clone().map(|pc| (pc as Pc, (file as u16, line))));
                site
            }
            None => (file, line),
        };
        if let (Some(part), Some(files)) = (line_of.get_mut(range.clone()), file_of.get_mut(range)) {
            part.fill(line);
            files.fill(file as u16);
        }
    }
    let file = image.files.first().cloned();
    let assembled = source.is_some();
    let mut program = Program::new(Decoded {
        name: file.filter(|_| source.is_some()).unwrap_or_else(|| name.to_owned()),
        insts,
        entry,
        segments: image.segments.clone(),
        text: std::iter::once(image.text.clone()).collect(),
        labels,
        symbols: image.symbols.clone(),
        lines: line_of,
        source,
        isa: make(base.base),
    })?;
    if !assembled {
        program.files.clone_from(&image.files);
        (program.line_files, program.inner) = (file_of, inner);
        program.inlined = inlined(&image.inlined, |addr| base.pc_of(addr));
    }
    Ok(program)
}
