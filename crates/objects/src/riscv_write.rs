//! A Vortex program as an ELF32 executable: what `wavebound asm` writes and other RISC-V tools read.

use crate::riscv::RiscvImage;

/// Bytes of the header, of a program header, of a section header and of a symbol.
const HEADER: u32 = 52;
const PROGRAM: u32 = 32;
const SECTION: u32 = 40;
const SYMBOL: u32 = 16;
/// Segments lie in the file as they lie in memory, modulo this.
const PAGE: u32 = 4096;

/// Values of the ELF specification.
mod elf {
    pub const ET_EXEC: u16 = 2;
    pub const EM_RISCV: u16 = 243;
    pub const SHT_PROGBITS: u32 = 1;
    pub const SHT_SYMTAB: u32 = 2;
    pub const SHT_STRTAB: u32 = 3;
    pub const SHF_WRITE: u32 = 1;
    pub const SHF_ALLOC: u32 = 2;
    pub const SHF_EXECINSTR: u32 = 4;
    pub const PT_LOAD: u32 = 1;
    pub const PF_X: u32 = 1;
    pub const PF_W: u32 = 2;
    pub const PF_R: u32 = 4;
    pub const SHN_ABS: u16 = 0xfff1;
    pub const STB_GLOBAL: u8 = 1;
}

/// A section of the file.
struct Section {
    name: &'static str,
    kind: u32,
    flags: u32,
    addr: u32,
    bytes: Vec<u8>,
    link: u32,
    info: u32,
    entry: u32,
}

impl RiscvImage {
    /// The image as an executable, symbols included; source lines are left out.
    pub fn to_elf(&self) -> Vec<u8> {
        let mut sections: Vec<Section> = Vec::new();
        for s in &self.segments {
            let text = self.text.contains(&s.addr);
            sections.push(Section {
                name: if text { ".text" } else { ".data" },
                kind: elf::SHT_PROGBITS,
                flags: elf::SHF_ALLOC | if text { elf::SHF_EXECINSTR } else { elf::SHF_WRITE },
                addr: s.addr as u32,
                bytes: s.bytes.clone(),
                link: 0,
                info: 0,
                entry: 0,
            });
        }
        let loaded = sections.len();
        let (symbols, strings) = self.symbol_table();
        let plain = |name, kind, bytes, link, info, entry| Section {
            name,
            kind,
            flags: 0,
            addr: 0,
            bytes,
            link,
            info,
            entry,
        };
        // Section 0 is nothing; the string table comes after the symbols.
        sections.push(plain(".symtab", elf::SHT_SYMTAB, symbols, loaded as u32 + 2, 1, SYMBOL));
        sections.push(plain(".strtab", elf::SHT_STRTAB, strings, 0, 0, 0));
        let mut names = vec![0];
        let mut name_at: Vec<u32> = Vec::new();
        for name in sections.iter().map(|s| s.name).chain([".shstrtab"]) {
            name_at.push(names.len() as u32);
            names.extend(name.bytes().chain([0]));
        }
        sections.push(plain(".shstrtab", elf::SHT_STRTAB, names, 0, 0, 0));

        let mut out = Vec::new();
        let headers = HEADER + PROGRAM * loaded as u32;
        out.resize(headers as usize, 0);
        let mut offsets = Vec::new();
        for (i, s) in sections.iter().enumerate() {
            let align = if i < loaded { PAGE } else { 4 };
            let at = (out.len() as u32).next_multiple_of(align) + s.addr % align;
            out.resize(at as usize, 0);
            offsets.push(at);
            out.extend_from_slice(&s.bytes);
        }
        out.resize(out.len().next_multiple_of(4), 0);
        let table = out.len() as u32;
        out.resize(out.len() + SECTION as usize, 0);
        for ((s, at), name) in sections.iter().zip(&offsets).zip(&name_at) {
            let size = s.bytes.len() as u32;
            let align = if s.flags == 0 { 1 } else { 4 };
            words(&mut out, &[*name, s.kind, s.flags, s.addr, *at, size, s.link, s.info, align, s.entry]);
        }
        let mut front = self.header(table, loaded as u16, sections.len() as u16 + 1);
        for (s, at) in sections[..loaded].iter().zip(&offsets) {
            let size = s.bytes.len() as u32;
            let execute = s.flags & elf::SHF_EXECINSTR != 0;
            let flags = elf::PF_R | if execute { elf::PF_X } else { elf::PF_W };
            words(&mut front, &[elf::PT_LOAD, *at, s.addr, s.addr, size, size, flags, PAGE]);
        }
        out[..front.len()].copy_from_slice(&front);
        out
    }

    fn header(&self, table: u32, programs: u16, sections: u16) -> Vec<u8> {
        let mut out = b"\x7fELF\x01\x01\x01".to_vec();
        out.resize(16, 0);
        halves(&mut out, &[elf::ET_EXEC, elf::EM_RISCV]);
        // Version, entry, program headers, section headers, single-precision floats.
        words(&mut out, &[1, self.entry as u32, HEADER, table, 2]);
        halves(&mut out, &[HEADER as u16, PROGRAM as u16, programs, SECTION as u16, sections, sections - 1]);
        out
    }

    /// Symbols, and the names they refer to.
    fn symbol_table(&self) -> (Vec<u8>, Vec<u8>) {
        let mut symbols = vec![0; SYMBOL as usize];
        let mut strings = vec![0];
        for (name, addr) in &self.symbols {
            let section =
                self.segments.iter().position(|s| (s.addr..=s.addr + s.bytes.len() as u64).contains(addr));
            words(&mut symbols, &[strings.len() as u32, *addr as u32, 0]);
            symbols.extend([elf::STB_GLOBAL << 4, 0]);
            halves(&mut symbols, &[section.map_or(elf::SHN_ABS, |s| s as u16 + 1)]);
            strings.extend(name.bytes().chain([0]));
        }
        (symbols, strings)
    }
}

fn words(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

fn halves(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}
