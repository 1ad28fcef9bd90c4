//! The ELF file around new code: .text grows in place (the file gets whole pages more), or moves behind everything
//! else when the next segment is in the way; then headers, symbols and kernel descriptors follow.

use super::text::{Code, Layout, lay_out};
use super::{Edits, RewriteError, dwarf};
use crate::codeobject::CodeObject;
use object::elf::{self, FileHeader64, ProgramHeader64, Rela64, SectionHeader64, Sym64};
use object::pod::{bytes_of, bytes_of_slice, from_bytes, slice_from_all_bytes, slice_from_bytes};
use object::{LittleEndian as Le, U64};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

type Header = FileHeader64<Le>;
type Segment = ProgramHeader64<Le>;
type Section = SectionHeader64<Le>;
type Symbol = Sym64<Le>;
/// Section index and symbols.
type SymbolTable<'a> = (usize, &'a [Symbol]);

/// Bytes of the header in front of a version 2 kernel.
const V2_HEADER: u32 = 256;
/// Bytes of a kernel descriptor, and where its distance to the code stands.
const DESCRIPTOR: u64 = 64;
const ENTRY: u64 = 16;

const CUT: RewriteError = RewriteError::Layout("a table or section lies outside of the file");

/// The tables of a file.
struct Tables<'a> {
    bytes: &'a [u8],
    header: Header,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    /// Index of .text, and of its segment.
    text: usize,
    code: usize,
}

fn slice(bytes: &[u8], from: u64, len: u64) -> Result<&[u8], RewriteError> {
    let end = from.checked_add(len).and_then(|e| usize::try_from(e).ok());
    end.and_then(|end| bytes.get(from as usize..end)).ok_or(CUT)
}

/// File offsets a section or segment occupies.
fn occupied(offset: &U64<Le>, size: &U64<Le>) -> Result<Range<u64>, RewriteError> {
    let from = offset.get(Le);
    Ok(from..from.checked_add(size.get(Le)).ok_or(CUT)?)
}

fn is_alloc(s: &Section) -> bool {
    s.sh_flags.get(Le).0 & elf::SHF_ALLOC.0 != 0
}

fn has_bytes(s: &Section) -> bool {
    !matches!(s.sh_type.get(Le), elf::SHT_NULL | elf::SHT_NOBITS)
}

impl<'a> Tables<'a> {
    fn read(bytes: &'a [u8]) -> Result<Tables<'a>, RewriteError> {
        let header = *from_bytes::<Header>(bytes).map_err(|()| CUT)?.0;
        let table = |offset: &U64<Le>| bytes.get(offset.get(Le) as usize..).ok_or(CUT);
        let count = |n: u16| usize::from(n);
        let segments = slice_from_bytes::<Segment>(table(&header.e_phoff)?, count(header.e_phnum.get(Le)));
        let sections = slice_from_bytes::<Section>(table(&header.e_shoff)?, count(header.e_shnum.get(Le)));
        let (segments, sections) = (segments.map_err(|()| CUT)?.0, sections.map_err(|()| CUT)?.0);
        let mut tables = Tables {
            bytes,
            header,
            segments: segments.to_vec(),
            sections: sections.to_vec(),
            text: 0,
            code: 0,
        };
        tables.text = tables.named(".text").ok_or(RewriteError::Layout("there is no .text"))?;
        let text = tables.content(tables.text)?;
        let holds = |s: &Segment| {
            s.p_type.get(Le) == elf::PT_LOAD
                && occupied(&s.p_offset, &s.p_filesz)
                    .is_ok_and(|r| r.start <= text.start && text.end == r.end)
        };
        tables.code = tables
            .segments
            .iter()
            .position(holds)
            .ok_or(RewriteError::Layout(".text is not at the end of its segment"))?;
        if header.e_phoff.get(Le) >= text.start {
            return Err(RewriteError::Layout("the program headers are behind .text"));
        }
        Ok(tables)
    }

    fn name(&self, i: usize) -> Option<&'a str> {
        let strings = self.sections.get(usize::from(self.header.e_shstrndx.get(Le).0))?;
        let range = occupied(&strings.sh_offset, &strings.sh_size).ok()?;
        let strings = self.bytes.get(range.start as usize..range.end as usize)?;
        string(strings, self.sections[i].sh_name.get(Le))
    }

    fn named(&self, name: &str) -> Option<usize> {
        (0..self.sections.len()).find(|&i| self.name(i) == Some(name))
    }

    fn content(&self, i: usize) -> Result<Range<u64>, RewriteError> {
        let range = occupied(&self.sections[i].sh_offset, &self.sections[i].sh_size)?;
        slice(self.bytes, range.start, range.end - range.start)?;
        Ok(range)
    }

    fn data(&self, i: usize) -> Result<&'a [u8], RewriteError> {
        let range = self.content(i)?;
        slice(self.bytes, range.start, range.end - range.start)
    }

    fn symbols(&self) -> Result<Vec<SymbolTable<'a>>, RewriteError> {
        let is = |i: &usize| matches!(self.sections[*i].sh_type.get(Le), elf::SHT_SYMTAB | elf::SHT_DYNSYM);
        let read = |i: usize| Ok((i, slice_from_all_bytes(self.data(i)?).map_err(|()| CUT)?));
        (0..self.sections.len()).filter(is).map(read).collect()
    }

    /// A pointer into the code that the loader would make.
    fn check_relocations(&self, text: Range<u64>) -> Result<(), RewriteError> {
        for i in (0..self.sections.len()).filter(|&i| self.sections[i].sh_type.get(Le) == elf::SHT_RELA) {
            let all = slice_from_all_bytes::<Rela64<Le>>(self.data(i)?).map_err(|()| CUT)?;
            let into = |r: &&Rela64<Le>| text.contains(&(r.r_addend.get(Le) as u64));
            if let Some(r) = all.iter().find(into) {
                return Err(RewriteError::Relocation(r.r_offset.get(Le)));
            }
        }
        Ok(())
    }
}

fn string(strings: &[u8], at: u32) -> Option<&str> {
    let rest = strings.get(at as usize..)?;
    let end = rest.iter().position(|&b| b == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

pub(super) fn rewrite(bytes: &[u8], object: &CodeObject, edits: &Edits) -> Result<Vec<u8>, RewriteError> {
    let mut t = Tables::read(bytes)?;
    let old = object.text.clone();
    t.check_relocations(old.clone())?;
    let raw = t.data(t.text)?;
    let words: Vec<u32> = raw.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if raw.len() % 4 != 0 || words.len() as u64 * 4 != old.end - old.start {
        return Err(RewriteError::Layout("the size of .text is not a multiple of 4"));
    }
    let mut code = Code {
        words: &words,
        generation: object.generation(),
        addr: old.start,
        functions: BTreeSet::new(),
        bodies: Vec::new(),
        data: Vec::new(),
    };
    functions(&t, object, &mut code)?;
    let mut layout = lay_out(&code, edits, old.start)?;
    if let Some(addr) = elsewhere(&t, &layout) {
        layout = lay_out(&code, edits, addr)?;
    }
    let debug = dwarf::rewrite(&|name| t.named(name).and_then(|i| t.data(i).ok()), &layout)?;
    let symbols = t.symbols()?;
    let mut out = place(&mut t, &layout, debug)?;
    fix_symbols(&t, &symbols, &layout, &mut out)?;
    if object.version > 2 {
        fix_descriptors(&t, &symbols, &layout, &mut out)?;
    }
    Ok(out)
}

/// Where functions begin and end.
fn functions(t: &Tables, object: &CodeObject, code: &mut Code) -> Result<(), RewriteError> {
    let word = |addr: u64| (addr.wrapping_sub(code.addr) / 4) as u32;
    for s in t.symbols()?.into_iter().flat_map(|(_, all)| all) {
        let (from, size) = (s.st_value.get(Le), s.st_size.get(Le));
        if usize::from(s.st_shndx.get(Le).0) == t.text && object.text.contains(&from) {
            code.functions.insert(word(from));
            code.bodies.push(word(from)..word(from.saturating_add(size).min(object.text.end)));
        }
    }
    for kernel in object.kernels.iter().filter(|k| object.text.contains(&k.entry)) {
        if object.version > 2 {
            let starts = [kernel.entry, kernel.start()].into_iter().filter(|at| object.text.contains(at));
            code.functions.extend(starts.map(word));
        } else if let Some(symbol) =
            object.symbols.iter().find(|s| s.0 == kernel.name && object.text.contains(&s.1))
        {
            code.data.push(word(symbol.1)..word(symbol.1) + V2_HEADER / 4);
        }
    }
    Ok(())
}

/// Pages of the machine the file was linked for.
fn page(t: &Tables) -> u64 {
    let aligns = t.segments.iter().filter(|s| s.p_type.get(Le) == elf::PT_LOAD).map(|s| s.p_align.get(Le));
    aligns.filter(|a| a.is_power_of_two() && *a <= 0x1_0000).max().unwrap_or(1).max(0x1000)
}

/// The address for the code if the next segment is in the way.
fn elsewhere(t: &Tables, layout: &Layout) -> Option<u64> {
    let page = page(t);
    let end = layout.addr + 4 * layout.words.len() as u64;
    let loads = || t.segments.iter().filter(|s| s.p_type.get(Le) == elf::PT_LOAD);
    let next = loads().map(|s| s.p_vaddr.get(Le)).filter(|&a| a > layout.old.start).min();
    if next.is_none_or(|next| end <= next / page * page) {
        return None;
    }
    let last = loads().map(|s| s.p_vaddr.get(Le).saturating_add(s.p_memsz.get(Le))).max()?;
    last.checked_next_multiple_of(page)?.checked_add(layout.old.start % page)
}

/// Writes the file with its new code and debug sections; headers in `t` become the new ones.
fn place(
    t: &mut Tables,
    layout: &Layout,
    debug: BTreeMap<&'static str, Vec<u8>>,
) -> Result<Vec<u8>, RewriteError> {
    let text = t.content(t.text)?;
    let size = 4 * layout.words.len() as u64;
    let more = size.saturating_sub(text.end - text.start).next_multiple_of(page(t));
    let mut loaded = text.end;
    for s in &t.segments {
        loaded = loaded.max(occupied(&s.p_offset, &s.p_filesz)?.end);
    }
    let mut out = slice(t.bytes, 0, text.start)?.to_vec();
    out.extend(layout.words.iter().flat_map(|w| w.to_le_bytes()));
    out.resize((text.end + more) as usize, 0);
    out.extend_from_slice(slice(t.bytes, text.end, loaded - text.end)?);

    let shift = |offset: &mut U64<Le>| {
        if offset.get(Le) >= text.end {
            offset.set(Le, offset.get(Le).saturating_add(more));
        }
    };
    let old_start = t.segments[t.code].p_offset.get(Le);
    for (i, s) in t.segments.iter_mut().enumerate() {
        if i == t.code {
            let size = text.start - old_start + size;
            s.p_filesz.set(Le, size);
            s.p_memsz.set(Le, size);
        } else {
            shift(&mut s.p_offset);
        }
    }
    let contents: Vec<_> = (0..t.sections.len()).map(|i| (t.name(i), t.data(i))).collect();
    let mut order: Vec<usize> = (0..t.sections.len()).collect();
    order.sort_by_key(|&i| t.sections[i].sh_offset.get(Le));
    for i in order {
        let s = &mut t.sections[i];
        if i == t.text {
            s.sh_size.set(Le, size);
        } else if is_alloc(s) || !has_bytes(s) {
            shift(&mut s.sh_offset);
        } else {
            let (name, old) = &contents[i];
            let data = match name.and_then(|n| debug.get(n)) {
                Some(new) => new.as_slice(),
                None => old.clone()?,
            };
            let align = s.sh_addralign.get(Le).clamp(1, 0x1000);
            out.resize(out.len().next_multiple_of(align as usize), 0);
            s.sh_offset.set(Le, out.len() as u64);
            s.sh_size.set(Le, data.len() as u64);
            out.extend_from_slice(data);
        }
    }
    if layout.addr != layout.old.start {
        move_code(t, layout, text.start)?;
    }
    out.resize(out.len().next_multiple_of(8), 0);
    t.header.e_shoff.set(Le, out.len() as u64);
    let entry = layout.start_of(t.header.e_entry.get(Le));
    t.header.e_entry.set(Le, entry);
    out.extend_from_slice(bytes_of_slice(&t.sections));
    write(&mut out, 0, bytes_of(&t.header))?;
    write(&mut out, t.header.e_phoff.get(Le), bytes_of_slice(&t.segments))?;
    Ok(out)
}

/// The code's segment gets another address; loadable segments stay sorted by address.
fn move_code(t: &mut Tables, layout: &Layout, text: u64) -> Result<(), RewriteError> {
    t.sections[t.text].sh_addr.set(Le, layout.addr);
    let code = &mut t.segments[t.code];
    if code.p_offset.get(Le) != text {
        return Err(RewriteError::Layout("the code does not fit and shares its segment"));
    }
    code.p_vaddr.set(Le, layout.addr);
    code.p_paddr.set(Le, layout.addr);
    let last = t.segments.iter().rposition(|s| s.p_type.get(Le) == elf::PT_LOAD).unwrap_or(t.code);
    t.segments[t.code..=last].rotate_left(1);
    Ok(())
}

fn write(out: &mut [u8], at: u64, bytes: &[u8]) -> Result<(), RewriteError> {
    let at = at as usize;
    out.get_mut(at..at + bytes.len()).ok_or(CUT)?.copy_from_slice(bytes);
    Ok(())
}

fn fix_symbols(
    t: &Tables,
    tables: &[SymbolTable],
    layout: &Layout,
    out: &mut [u8],
) -> Result<(), RewriteError> {
    for &(section, all) in tables {
        let mut all = all.to_vec();
        for s in all.iter_mut().filter(|s| usize::from(s.st_shndx.get(Le).0) == t.text) {
            let (from, size) = (s.st_value.get(Le), s.st_size.get(Le));
            let new = layout.start_of(from);
            s.st_value.set(Le, new);
            if size > 0 {
                s.st_size.set(Le, layout.end_of(from.saturating_add(size)).saturating_sub(new));
            }
        }
        write(out, t.sections[section].sh_offset.get(Le), bytes_of_slice(&all))?;
    }
    Ok(())
}

/// Descriptors (`NAME.kd`) hold the distance to the first instruction.
fn fix_descriptors(
    t: &Tables,
    tables: &[SymbolTable],
    layout: &Layout,
    out: &mut [u8],
) -> Result<(), RewriteError> {
    let mut seen = BTreeSet::new();
    for &(section, all) in tables {
        let strings = t.sections[section].sh_link.get(Le) as usize;
        let strings = t.sections.get(strings).ok_or(CUT)?;
        let range = occupied(&strings.sh_offset, &strings.sh_size)?;
        for s in all {
            let at = s.st_value.get(Le);
            let names = slice(out, range.start, range.end - range.start)?;
            let is = string(names, s.st_name.get(Le)).is_some_and(|n| n.ends_with(".kd"));
            if !is || s.st_size.get(Le) != DESCRIPTOR || !seen.insert(at) {
                continue;
            }
            let inside = |s: &&Segment| {
                let from = s.p_vaddr.get(Le);
                s.p_type.get(Le) == elf::PT_LOAD
                    && (from..from.saturating_add(s.p_filesz.get(Le))).contains(&at)
            };
            let segment = t.segments.iter().find(inside).ok_or(CUT)?;
            let field = segment.p_offset.get(Le) + (at - segment.p_vaddr.get(Le)) + ENTRY;
            let distance = slice(out, field, 8)?.try_into().map_or(0, u64::from_le_bytes);
            let entry = layout.start_of(at.wrapping_add(distance));
            write(out, field, &entry.wrapping_sub(at).to_le_bytes())?;
        }
    }
    Ok(())
}
