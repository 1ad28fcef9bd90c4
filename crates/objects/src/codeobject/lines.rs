//! DWARF line tables: the source line of every instruction address.

use addr2line::gimli::{self, EndianSlice, LittleEndian};
use object::{Object, ObjectSection};

/// (address, file index, line) sorted by address, and the file names. Damaged tables give what could be read.
pub fn read<'a>(elf: &impl Object<'a>) -> (Vec<(u64, u32, u32)>, Vec<String>) {
    let section = |id: gimli::SectionId| -> Result<EndianSlice<'a, LittleEndian>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or(&[]);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let mut lines = Vec::new();
    let mut files = Vec::new();
    if let Ok(dwarf) = gimli::Dwarf::load(section) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let _ = unit_lines(&dwarf, header, &mut lines, &mut files);
        }
    }
    lines.sort_unstable();
    lines.dedup_by_key(|l| l.0);
    (lines, files)
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

fn unit_lines<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    header: gimli::UnitHeader<Slice<'a>>,
    lines: &mut Vec<(u64, u32, u32)>,
    files: &mut Vec<String>,
) -> Result<(), gimli::Error> {
    let unit = dwarf.unit(header)?;
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    while let Some((header, row)) = rows.next_row()? {
        if row.end_sequence() {
            continue;
        }
        let Some(line) = row.line() else { continue };
        let name = match row.file(header) {
            Some(file) => dwarf.attr_string(&unit, file.path_name())?.to_string_lossy().into_owned(),
            None => String::new(),
        };
        let index = files.iter().position(|f| *f == name).unwrap_or_else(|| {
            files.push(name);
            files.len() - 1
        });
        lines.push((row.address(), index as u32, line.get() as u32));
    }
    Ok(())
}
