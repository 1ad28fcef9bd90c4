//! Source lines of rewritten code: line programs are written anew row by row, so that every old instruction keeps
//! its file and line and inserted words get their neighbour's; addresses of units follow in place. Sections that
//! describe code by distances (frames, location and range lists) are emptied: wrong ones would be worse than none.

use super::RewriteError;
use super::text::Layout;
use gimli::write::{
    Address, DebugLine, EndianVec, FileId, FileInfo, LineProgram, LineString, LineStringTable, StringTable,
};
use gimli::{
    AttributeValue, EndianSlice, LineEncoding, LittleEndian, Reader as _, SectionId, UnitSectionOffset,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;

const EMPTIED: &[&str] =
    &[".debug_aranges", ".debug_frame", ".debug_loc", ".debug_loclists", ".debug_ranges", ".debug_rnglists"];

impl From<gimli::Error> for RewriteError {
    fn from(e: gimli::Error) -> Self {
        RewriteError::Debug(e.to_string())
    }
}

impl From<gimli::write::Error> for RewriteError {
    fn from(e: gimli::write::Error) -> Self {
        RewriteError::Debug(e.to_string())
    }
}

fn damaged(what: &str) -> RewriteError {
    RewriteError::Debug(what.to_owned())
}

/// New contents of debug sections, by name.
pub(super) fn rewrite<'a>(
    section: &dyn Fn(&str) -> Option<&'a [u8]>,
    layout: &Layout,
) -> Result<BTreeMap<&'static str, Vec<u8>>, RewriteError> {
    let mut out = BTreeMap::new();
    for name in EMPTIED.iter().copied().filter(|n| section(n).is_some()) {
        out.insert(name, Vec::new());
    }
    let Some(info) = section(".debug_info") else { return Ok(out) };
    let load = |id: SectionId| -> Result<Slice<'a>, RewriteError> {
        Ok(EndianSlice::new(section(id.name()).unwrap_or(&[]), LittleEndian))
    };
    let dwarf = Dwarf::load(load)?;
    let mut info = info.to_vec();
    let mut lines = DebugLine::from(EndianVec::new(LittleEndian));
    // Line programs that several units share are written once.
    let mut programs = BTreeMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        if let Some(program) = &unit.line_program {
            let old = program.header().offset().0;
            if let Entry::Vacant(entry) = programs.entry(old) {
                entry.insert(line_program(&dwarf, &unit, layout, &mut lines)?);
            }
        }
        unit_addresses(&dwarf, &unit, layout, &programs, &mut info)?;
    }
    out.insert(".debug_info", info);
    if let Some(addresses) = section(".debug_addr") {
        out.insert(".debug_addr", address_table(addresses, layout)?);
    }
    if section(".debug_line").is_some() {
        out.insert(".debug_line", lines.0.into_vec());
    }
    Ok(out)
}

/// A row with its old and new address.
struct Row {
    old: u64,
    new: u64,
    row: gimli::LineRow,
}

/// Writes the unit's line program; its offset in the new section.
fn line_program(
    dwarf: &Dwarf,
    unit: &gimli::Unit<Slice>,
    layout: &Layout,
    to: &mut DebugLine<EndianVec<LittleEndian>>,
) -> Result<usize, RewriteError> {
    let program = unit.line_program.clone().ok_or_else(|| damaged("no line program"))?;
    let (mut new, files) = line_header(dwarf, unit, program.header())?;
    let mut rows = program.rows();
    let mut sequence: Vec<Row> = Vec::new();
    while let Some((_, row)) = rows.next_row()? {
        let old = row.address();
        if !row.end_sequence() {
            sequence.push(Row { old, new: layout.start_of(old), row: *row });
            continue;
        }
        write_sequence(&mut new, &files, &sequence, layout.end_of(old))?;
        sequence.clear();
    }
    let (mut names, mut strings) = (LineStringTable::default(), StringTable::default());
    let encoding = new.encoding();
    Ok(new.write(to, encoding, &mut names, &mut strings)?.0)
}

fn write_sequence(
    new: &mut LineProgram,
    files: &BTreeMap<u64, FileId>,
    rows: &[Row],
    end: u64,
) -> Result<(), RewriteError> {
    let Some(first) = rows.first() else { return Ok(()) };
    let start = first.new;
    if rows.windows(2).any(|w| w[0].new > w[1].new) || rows.last().is_some_and(|r| r.new > end) {
        return Err(damaged("a line table goes backwards"));
    }
    let large = |n: u64| n > u64::from(u32::MAX);
    if large(end - start) || rows.iter().any(|r| r.row.line().is_some_and(|l| large(l.get()))) {
        return Err(damaged("a line table with impossible numbers"));
    }
    new.begin_sequence(Some(Address::Constant(start)));
    for (i, r) in rows.iter().enumerate() {
        // Instructions that are gone have no line.
        if rows.get(i + 1).is_some_and(|next| next.new == r.new && next.old != r.old) {
            continue;
        }
        let file = files.get(&r.row.file_index()).ok_or_else(|| damaged("a line names no file"))?;
        let to = new.row();
        to.address_offset = r.new - start;
        to.file = *file;
        to.line = r.row.line().map_or(0, |l| l.get());
        to.column = match r.row.column() {
            gimli::ColumnType::LeftEdge => 0,
            gimli::ColumnType::Column(c) => c.get(),
        };
        to.discriminator = r.row.discriminator();
        to.is_statement = r.row.is_stmt();
        to.basic_block = r.row.basic_block();
        to.prologue_end = r.row.prologue_end();
        to.epilogue_begin = r.row.epilogue_begin();
        to.isa = r.row.isa();
        new.generate_row();
    }
    new.end_sequence(end - start);
    Ok(())
}

/// A line program without rows, and what file numbers became.
fn line_header(
    dwarf: &Dwarf,
    unit: &gimli::Unit<Slice>,
    header: &gimli::LineProgramHeader<Slice>,
) -> Result<(LineProgram, BTreeMap<u64, FileId>), RewriteError> {
    let text = |value: AttributeValue<Slice>| -> Result<LineString, RewriteError> {
        let name = dwarf.attr_string(unit, value)?.to_slice()?.into_owned();
        // The writer takes no empty names.
        Ok(LineString::String(if name.is_empty() { b".".to_vec() } else { name }))
    };
    let encoding = header.encoding();
    if !(2..=5).contains(&encoding.version) {
        return Err(damaged("an unknown kind of line table"));
    }
    // Rows mean the same however they are packed.
    let lines = LineEncoding::default();
    let none = || LineString::String(b".".to_vec());
    let own = header.directory(0).map_or_else(|| Ok(none()), text)?;
    let first = header.file(0).filter(|_| encoding.version >= 5);
    let main = first.map_or_else(|| Ok(none()), |f| text(f.path_name()))?;
    let main_folder = match first.and_then(|f| f.directory(header)) {
        Some(folder) => Some(text(folder)?),
        None => None,
    };
    let info = |f: &gimli::FileEntry<Slice>| FileInfo {
        timestamp: f.timestamp(),
        size: f.size(),
        md5: *f.md5(),
        source: None,
    };
    let mut new = LineProgram::new(encoding, lines, own, main_folder, main, first.map(info));
    new.file_has_md5 = header.file_has_md5();
    new.file_has_size = header.file_has_size();
    new.file_has_timestamp = header.file_has_timestamp();
    let from = if encoding.version >= 5 { 0 } else { 1 };
    let mut files = BTreeMap::new();
    for (i, file) in header.file_names().iter().enumerate() {
        let folder = match file.directory(header) {
            Some(folder) => new.add_directory(text(folder)?),
            None => new.default_directory(),
        };
        files.insert(i as u64 + from, new.add_file(text(file.path_name())?, folder, Some(info(file))));
    }
    Ok((new, files))
}

/// Addresses and line table offsets of a unit's entries, in place.
fn unit_addresses(
    dwarf: &Dwarf,
    unit: &gimli::Unit<Slice>,
    layout: &Layout,
    programs: &BTreeMap<usize, usize>,
    info: &mut [u8],
) -> Result<(), RewriteError> {
    let UnitSectionOffset(base) = unit.header.offset();
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        let (mut low, mut high) = (None, None);
        for spec in abbreviation.attributes() {
            let from = base + entries.next_offset().0;
            let attribute = entries.read_attribute(*spec)?;
            let place = from..base + entries.next_offset().0;
            let value = attribute.value();
            match (attribute.name(), value) {
                (gimli::DW_AT_high_pc, AttributeValue::Addr(addr)) => {
                    put(info, place, layout.end_of(addr), false)?;
                }
                (_, AttributeValue::Addr(addr)) => {
                    put(info, place, layout.start_of(addr), false)?;
                }
                (gimli::DW_AT_high_pc, value) => {
                    let variable = attribute.form() == gimli::DW_FORM_udata;
                    high = value.udata_value().map(|size| (size, place, variable));
                }
                (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => {
                    let new = programs.get(&offset.0).ok_or_else(|| damaged("a unit has no line table"))?;
                    put(info, place, *new as u64, false)?;
                }
                _ => {}
            }
            if attribute.name() == gimli::DW_AT_low_pc {
                low = dwarf.attr_address(unit, value)?;
            }
        }
        if let (Some(low), Some((size, place, variable))) = (low, high) {
            let new = layout.end_of(low.saturating_add(size)).saturating_sub(layout.start_of(low));
            put(info, place, new, variable)?;
        }
    }
    Ok(())
}

/// A number in a field of fixed size, or in as many seven-bit groups as the old one had.
fn put(
    info: &mut [u8],
    place: std::ops::Range<usize>,
    value: u64,
    variable: bool,
) -> Result<(), RewriteError> {
    let field = info.get_mut(place).ok_or_else(|| damaged("an attribute lies outside of its section"))?;
    let bits = if variable { 7 } else { 8 };
    if field.len() < 8 && value >> (bits * field.len()) != 0 {
        return Err(damaged("a size does not fit its field"));
    }
    let last = field.len().saturating_sub(1);
    for (i, byte) in field.iter_mut().enumerate() {
        let part = value.checked_shr((bits * i) as u32).unwrap_or(0) as u8;
        *byte = match variable {
            true if i < last => part | 0x80,
            true => part & 0x7f,
            false => part,
        };
    }
    Ok(())
}

/// .debug_addr: tables of addresses, each with a header of eight bytes.
fn address_table(old: &[u8], layout: &Layout) -> Result<Vec<u8>, RewriteError> {
    let cut = || damaged(".debug_addr is cut off");
    let mut out = old.to_vec();
    let mut at = 0;
    while at < old.len() {
        let header: [u8; 8] = old.get(at..at + 8).and_then(|b| b.try_into().ok()).ok_or_else(cut)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        if header[6] != 8 || length < 4 {
            return Err(damaged(".debug_addr has addresses that are not 64 bits wide"));
        }
        let end = at.checked_add(4 + length).filter(|&e| e <= old.len()).ok_or_else(cut)?;
        for chunk in out[at + 8..end].chunks_exact_mut(8) {
            let addr = chunk.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
            chunk.copy_from_slice(&layout.start_of(addr).to_le_bytes());
        }
        at = end;
    }
    Ok(out)
}
