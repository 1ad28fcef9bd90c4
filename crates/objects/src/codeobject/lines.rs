//! DWARF line tables: the source line of every instruction address, and for code that was inlined from headers of a library
//! the line of the user's file where it is used.

use super::inlined::{self, Slice};
use addr2line::gimli::{self, EndianSlice, LittleEndian};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;

/// What an object file says about where its code comes from.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// (address, file index, line) sorted by address.
    pub table: Vec<(u64, u32, u32)>,
    pub files: Vec<String>,
    /// By address of a row of the table whose file is a library's: file index and line of the call in a file of the user's.
    pub sites: BTreeMap<u64, (u32, u32)>,
    /// Calls that the compiler inlined.
    pub inlined: Vec<InlinedCall>,
}

/// The code of an inlined call: from one address up to another, deeper where calls nest; where it is called, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedCall {
    pub from: u64,
    pub to: u64,
    pub depth: u32,
    pub file: String,
    pub line: u32,
    pub function: String,
}

/// More inlined calls than that are not kept: files of nothing but damage have many.
const MOST_CALLS: usize = 1 << 18;

impl Lines {
    /// The place of a file in the list, which gets it if it is new.
    fn file(&mut self, name: String) -> u32 {
        let index = self.files.iter().position(|f| *f == name).unwrap_or_else(|| {
            self.files.push(name);
            self.files.len() - 1
        });
        index as u32
    }
}

/// Damaged tables give what could be read.
pub fn read<'a>(elf: &impl Object<'a>) -> Lines {
    let section = |id: gimli::SectionId| -> Result<EndianSlice<'a, LittleEndian>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or(&[]);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let mut lines = Lines::default();
    if let Ok(dwarf) = gimli::Dwarf::load(section) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let _ = unit_lines(&dwarf, header, &mut lines);
        }
    }
    lines.table.sort_unstable();
    lines.table.dedup_by_key(|l| l.0);
    lines
}

fn unit_lines<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    header: gimli::UnitHeader<Slice<'a>>,
    lines: &mut Lines,
) -> Result<(), gimli::Error> {
    let unit = dwarf.unit(header)?;
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    // Addresses of rows by the number that the unit has for their file.
    let mut foreign: Vec<u64> = Vec::new();
    let mut known: BTreeMap<u64, (u32, bool)> = BTreeMap::new();
    let mut rows = program.clone().rows();
    while let Some((header, row)) = rows.next_row()? {
        if row.end_sequence() {
            continue;
        }
        let Some(line) = row.line() else { continue };
        let number = row.file_index();
        let (index, users) = match known.get(&number) {
            Some(&file) => file,
            None => {
                let name = inlined::name(dwarf, &unit, header, number)?;
                let file = (lines.file(name), inlined::is_users(dwarf, &unit, header, number));
                known.insert(number, file);
                file
            }
        };
        if !users {
            foreign.push(row.address());
        }
        lines.table.push((row.address(), index, line.get() as u32));
    }
    let header = program.header();
    for call in inlined::calls(dwarf, &unit).unwrap_or_default() {
        if lines.inlined.len() >= MOST_CALLS || call.from >= call.to {
            continue;
        }
        let file = inlined::name(dwarf, &unit, header, call.file)?;
        let depth = u32::try_from(call.depth).unwrap_or(0);
        let (from, to, line, function) = (call.from, call.to, call.line, call.function);
        lines.inlined.push(InlinedCall { from, to, depth, file, line, function });
    }
    // Most units have no code of a library.
    if !foreign.is_empty() {
        for (address, file, line) in inlined::sites(dwarf, &unit, &foreign)? {
            let file = lines.file(file);
            lines.sites.insert(address, (file, line));
        }
    }
    Ok(())
}
