//! Assembled kernels as a code object (version 4): descriptors, code, metadata, symbols, and a line
//! table that leads back to the assembly. Readable by LLVM's tools and by [`super::CodeObject::parse`].

use super::metadata::{KernelMeta, Root};
use super::{CodeObjectError, EM_AMDGPU};
use gimli::write as dwarf;
use object::Endianness;
use object::elf;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, SinglePhase, Sym, Writer};
use wb_isa::gcn3::Assembly;
use wb_isa::gcn3::generation::{self, GFX8};

const ELFOSABI_AMDGPU_HSA: u8 = 64;
const ABI_V4: u8 = 2;
const S_NOP: u32 = 0xbf80_0000;
const PAGE: u64 = 0x1000;
const HEADERS: u64 = 64 + 56 * 3;

fn wrong(error: impl std::fmt::Display) -> CodeObjectError {
    CodeObjectError::Write(error.to_string())
}

/// The file for what was assembled from the source called `name`.
pub fn from_assembly(assembly: &Assembly, name: &str) -> Result<Vec<u8>, CodeObjectError> {
    if assembly.kernels.is_empty() {
        return Err(CodeObjectError::Empty);
    }
    let note = note(&metadata(assembly)?);
    let note_at = HEADERS;
    let rodata_at = (note_at + note.len() as u64).next_multiple_of(64);
    let rodata_size = 64 * assembly.kernels.len() as u64;
    let text_at = (rodata_at + rodata_size).next_multiple_of(PAGE);
    let text: Vec<u8> = assembly.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut rodata = Vec::new();
    let generation = generation::of_machine(assembly.target.machine).map_or(&GFX8, |(g, _)| g);
    for (i, kernel) in assembly.kernels.iter().enumerate() {
        let entry = assembly.labels.get(&kernel.name).copied().ok_or_else(|| CodeObjectError::Kernel {
            kernel: kernel.name.clone(),
            what: "it has no code".into(),
        })?;
        let at = rodata_at + 64 * i as u64;
        rodata.extend_from_slice(&kernel.descriptor_for(generation, (text_at + entry) as i64 - at as i64));
    }
    let debug = lines(assembly, name, text_at).map_err(wrong)?;
    let symbols = symbols(assembly, rodata_at, text_at);
    let machine = assembly.target.machine;
    let parts = Decoded { machine, note, note_at, rodata, rodata_at, text, text_at, debug, symbols };
    parts.file().map_err(wrong)
}

/// The metadata as msgpack: what the source says, or what the kernel headers say.
fn metadata(assembly: &Assembly) -> Result<Vec<u8>, CodeObjectError> {
    if let Some(yaml) = &assembly.metadata {
        let value: serde_json::Value =
            serde_saphyr::from_str(yaml).map_err(|e| CodeObjectError::Metadata(e.to_string()))?;
        return rmp_serde::to_vec_named(&value).map_err(wrong);
    }
    let kernels = assembly.kernels.iter().map(KernelMeta::from).collect();
    let target = format!("amdgcn-amd-amdhsa--{}", assembly.target.name);
    rmp_serde::to_vec_named(&Root { kernels, target, version: vec![1, 1], printf: Vec::new() }).map_err(wrong)
}

fn note(description: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [7, description.len() as u32, super::metadata::NT_AMDGPU_METADATA] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(b"AMDGPU\0\0");
    out.extend_from_slice(description);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// DWARF 5 line table of the assembly.
fn lines(assembly: &Assembly, name: &str, text: u64) -> dwarf::Result<Vec<(&'static str, Vec<u8>)>> {
    let encoding = gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
    let mut unit = dwarf::DwarfUnit::new(encoding);
    let string = |s: &str| dwarf::LineString::String(s.as_bytes().to_vec());
    let line = gimli::LineEncoding { minimum_instruction_length: 4, ..gimli::LineEncoding::default() };
    let mut program = dwarf::LineProgram::new(encoding, line, string("."), None, string(name), None);
    let directory = program.default_directory();
    let file = program.add_file(string(name), directory, None);
    program.begin_sequence(Some(dwarf::Address::Constant(text)));
    for &(offset, number) in &assembly.lines {
        let row = program.row();
        (row.address_offset, row.file, row.line) = (offset, file, number.into());
        program.generate_row();
    }
    program.end_sequence(4 * assembly.words.len() as u64);
    unit.unit.line_program = program;
    let root = unit.unit.root();
    let root = unit.unit.get_mut(root);
    root.set(gimli::DW_AT_name, dwarf::AttributeValue::String(name.as_bytes().to_vec()));
    root.set(gimli::DW_AT_comp_dir, dwarf::AttributeValue::String(b".".to_vec()));
    root.set(gimli::DW_AT_stmt_list, dwarf::AttributeValue::LineProgramRef);
    let mut sections = dwarf::Sections::new(dwarf::EndianVec::new(gimli::LittleEndian));
    unit.write(&mut sections)?;
    let mut out = Vec::new();
    sections.for_each(|id, data| {
        if !data.slice().is_empty() {
            out.push((id.name(), data.slice().to_vec()));
        }
        dwarf::Result::Ok(())
    })?;
    Ok(out)
}

/// Contents of the file and their addresses, which are also their places in it.
struct Decoded {
    machine: u32,
    note: Vec<u8>,
    note_at: u64,
    rodata: Vec<u8>,
    rodata_at: u64,
    text: Vec<u8>,
    text_at: u64,
    debug: Vec<(&'static str, Vec<u8>)>,
    symbols: Vec<Symbol>,
}

struct Symbol {
    name: String,
    kind: elf::SymbolType,
    bind: elf::SymbolBind,
    section: u32,
    value: u64,
    size: u64,
}

const RODATA: u32 = 2;
const TEXT: u32 = 3;

/// Labels, then kernels and their descriptors: local symbols come first in ELF.
fn symbols(assembly: &Assembly, rodata: u64, text: u64) -> Vec<Symbol> {
    let is_kernel = |name: &str| assembly.kernels.iter().any(|k| k.name == name);
    let starts = assembly.kernels.iter().filter_map(|k| assembly.labels.get(&k.name).copied());
    let mut ends: Vec<u64> = starts.chain([4 * assembly.words.len() as u64]).collect();
    ends.sort_unstable();
    let mut out = Vec::new();
    for (name, at) in assembly.labels.iter().filter(|l| !is_kernel(l.0) && !l.0.starts_with(".L")) {
        let (kind, bind) = (elf::STT_NOTYPE, elf::STB_LOCAL);
        out.push(Symbol { name: name.clone(), kind, bind, section: TEXT, value: text + at, size: 0 });
    }
    for (i, kernel) in assembly.kernels.iter().enumerate() {
        let at = assembly.labels.get(&kernel.name).copied().unwrap_or(0);
        let mut end = ends.iter().copied().find(|&e| e > at).unwrap_or(at);
        // Filler in front of the next kernel is nobody's.
        while end > at && assembly.words.get(end as usize / 4 - 1) == Some(&S_NOP) {
            end -= 4;
        }
        let bind = elf::STB_GLOBAL;
        out.push(Symbol {
            name: kernel.name.clone(),
            kind: elf::STT_FUNC,
            bind,
            section: TEXT,
            value: text + at,
            size: end - at,
        });
        out.push(Symbol {
            name: format!("{}.kd", kernel.name),
            kind: elf::STT_OBJECT,
            bind,
            section: RODATA,
            value: rodata + 64 * i as u64,
            size: 64,
        });
    }
    out
}

impl Decoded {
    fn file(&self) -> object::write::Result<Vec<u8>> {
        let mut out: Vec<u8> = Vec::new();
        let mut head: Vec<u8> = Vec::new();
        let mut w = Writer::new_single_phase(Endianness::Little, true, &mut out);
        w.write_file_header(&FileHeader {
            os_abi: elf::OsAbi(ELFOSABI_AMDGPU_HSA),
            abi_version: ABI_V4,
            e_type: elf::ET_DYN,
            e_machine: elf::Machine(EM_AMDGPU),
            e_entry: 0,
            e_flags: elf::FileFlags(self.machine),
        })?;
        w.write_program_headers_placeholder(3);
        let code = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let mut contents = vec![
            (".note", elf::SHT_NOTE, elf::SHF_ALLOC, self.note_at, &self.note, 4),
            (".rodata", elf::SHT_PROGBITS, elf::SHF_ALLOC, self.rodata_at, &self.rodata, 64),
            (".text", elf::SHT_PROGBITS, code, self.text_at, &self.text, 256),
        ];
        for (name, data) in &self.debug {
            contents.push((name, elf::SHT_PROGBITS, elf::SectionFlags(0), 0, data, 1));
        }
        let mut sections = Vec::new();
        for (name, sh_type, sh_flags, address, data, align) in contents {
            let id = w.add_section_name(name.as_bytes());
            if address > 0 {
                w.pad_until(address);
            }
            let offset = w.offset();
            w.write(data);
            let header = SectionHeader {
                sh_name: 0,
                sh_type,
                sh_flags,
                sh_addr: address,
                sh_offset: offset,
                sh_size: data.len() as u64,
                sh_link: 0,
                sh_info: 0,
                sh_addralign: align,
                sh_entsize: 0,
            };
            sections.push((id, header));
        }
        self.write_symbols(&mut w)?;
        w.write_shstrtab()?;
        w.write_null_section_header();
        for (id, header) in sections {
            let sh_name = w.section_name_offset(Some(id));
            w.write_section_header(&SectionHeader { sh_name, ..header });
        }
        w.write_strtab_section_header();
        let locals = self.symbols.iter().filter(|s| s.bind == elf::STB_LOCAL).count();
        w.write_symtab_section_header(locals as u32 + 1);
        w.write_shstrtab_section_header();
        w.write_headers_to(&mut head, &self.segments())?;
        drop(w);
        out[..head.len()].copy_from_slice(&head);
        Ok(out)
    }

    fn write_symbols<'a>(&'a self, w: &mut Writer<'a, SinglePhase>) -> object::write::Result<()> {
        let names: Vec<_> = self.symbols.iter().map(|s| w.add_string(s.name.as_bytes())).collect();
        w.write_null_symbol();
        for (symbol, name) in self.symbols.iter().zip(names) {
            let st_name = w.string_offset(Some(name));
            w.write_symbol(&Sym {
                section: Some(symbol.section),
                st_name,
                st_info: elf::SymbolInfo::new(symbol.bind, symbol.kind),
                st_other: elf::SymbolOther(0),
                st_shndx: elf::SymbolSection(0),
                st_value: symbol.value,
                st_size: symbol.size,
            });
        }
        w.write_strtab()?;
        Ok(())
    }

    fn segments(&self) -> [ProgramHeader; 3] {
        let segment = |p_type, p_flags, from: u64, to: u64, p_align| ProgramHeader {
            p_type,
            p_flags,
            p_offset: from,
            p_vaddr: from,
            p_paddr: from,
            p_filesz: to - from,
            p_memsz: to - from,
            p_align,
        };
        let end = |at: u64, data: &[u8]| at + data.len() as u64;
        let (note, rodata, text) =
            (end(self.note_at, &self.note), end(self.rodata_at, &self.rodata), end(self.text_at, &self.text));
        [
            segment(elf::PT_LOAD, elf::PF_R, 0, rodata, PAGE),
            segment(elf::PT_LOAD, elf::PF_R | elf::PF_X, self.text_at, text, PAGE),
            segment(elf::PT_NOTE, elf::PF_R, self.note_at, note, 4),
        ]
    }
}
