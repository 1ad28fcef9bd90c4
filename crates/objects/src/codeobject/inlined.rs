//! Code of a library that was inlined into a user's: which files are the user's, and from which line of theirs the code was
//! called. DWARF has a tree of inlined calls for that; they are followed outwards.

use addr2line::gimli::{self, AttributeValue, EndianSlice, LineProgramHeader, LittleEndian, constants};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

pub(super) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Folders of headers that come with compilers and runtimes.
const LIBRARIES: [&str; 4] = ["/usr/include", "/usr/lib", "/usr/local/include", "/opt"];

/// Calls that an instruction can lie in.
const DEEPEST: usize = 256;

/// An inlined call: the addresses of its code, how deep it stands in the tree, where it is called, and what is called.
pub(super) struct Call {
    pub from: u64,
    pub to: u64,
    pub depth: isize,
    pub file: u64,
    pub line: u32,
    pub function: String,
}

/// The name of a file as its table has it.
pub(super) fn name<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
    header: &LineProgramHeader<Slice<'a>>,
    number: u64,
) -> Result<String, gimli::Error> {
    Ok(match header.file(number) {
        Some(file) => dwarf.attr_string(unit, file.path_name())?.to_string_lossy().into_owned(),
        None => String::new(),
    })
}

/// Whether a file is the one that was compiled, or lies in its folder or in the one the compiler was started in, and not among
/// the headers of a library.
pub(super) fn is_users<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
    header: &LineProgramHeader<Slice<'a>>,
    number: u64,
) -> bool {
    let text = |s: &Slice<'a>| s.to_string_lossy().into_owned();
    let started = PathBuf::from(unit.comp_dir.as_ref().map(text).unwrap_or_default());
    let compiled = plain(&started.join(unit.name.as_ref().map(text).unwrap_or_default()));
    let Some(file) = header.file(number) else { return true };
    let folder = file.directory(header).and_then(|d| dwarf.attr_string(unit, d).ok());
    let folder = folder.as_ref().map(text).unwrap_or_default();
    let name = name(dwarf, unit, header, number).unwrap_or_default();
    let path = plain(&started.join(folder).join(name));
    users(&path, &compiled, &plain(&started))
}

fn users(path: &Path, compiled: &Path, started: &Path) -> bool {
    let library = |p: &Path| LIBRARIES.iter().any(|l| p.starts_with(l));
    let inside = |folder: &Path| folder.components().count() > 1 && path.starts_with(folder);
    path == compiled
        || (inside(started) || compiled.parent().is_some_and(inside)) && (!library(path) || library(compiled))
}

/// Without `.` and with `..` taken away, as far as names tell.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// The calls in files of the user's that lead to the code at `addresses`: address, name of the file, line. Code that no such
/// call leads to stays where it was written.
pub(super) fn sites<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
    addresses: &[u64],
) -> Result<Vec<(u64, String, u32)>, gimli::Error> {
    let Some(header) = unit.line_program.as_ref().map(|p| p.header()) else { return Ok(Vec::new()) };
    let mut calls = calls(dwarf, unit)?;
    calls.sort_by_key(|c| c.from);
    let mut order = addresses.to_vec();
    order.sort_unstable();
    order.dedup();
    let mut users = BTreeMap::new();
    let (mut found, mut around, mut next) = (Vec::new(), Vec::new(), 0);
    for address in order {
        while let Some(call) = calls.get(next).filter(|c| c.from <= address) {
            around.push(call);
            next += 1;
        }
        around.retain(|c: &&Call| address < c.to);
        // Damaged trees may nest without end.
        around.drain(..around.len().saturating_sub(DEEPEST));
        // The innermost call first.
        around.sort_by_key(|c| std::cmp::Reverse(c.depth));
        let mut is_users =
            |c: &Call| *users.entry(c.file).or_insert_with(|| is_users(dwarf, unit, header, c.file));
        if let Some(call) = around.iter().find(|c| c.line > 0 && is_users(c)) {
            found.push((address, name(dwarf, unit, header, call.file)?, call.line));
        }
    }
    Ok(found)
}

/// All inlined calls of a unit.
pub(super) fn calls<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
) -> Result<Vec<Call>, gimli::Error> {
    let mut calls = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != constants::DW_TAG_inlined_subroutine {
            continue;
        }
        let file = match entry.attr_value(constants::DW_AT_call_file) {
            Some(AttributeValue::FileIndex(n)) => n,
            Some(other) => other.udata_value().unwrap_or(0),
            None => continue,
        };
        let line = entry.attr_value(constants::DW_AT_call_line).and_then(|v| v.udata_value());
        let line = line.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let function = match entry.attr_value(constants::DW_AT_abstract_origin) {
            Some(AttributeValue::UnitRef(at)) => function_name(dwarf, unit, at).unwrap_or_default(),
            _ => String::new(),
        };
        let mut ranges = dwarf.die_ranges(unit, entry)?;
        while let Some(range) = ranges.next()? {
            let (from, to, depth) = (range.begin, range.end, entry.depth());
            calls.push(Call { from, to, depth, file, line, function: function.clone() });
        }
    }
    Ok(calls)
}

/// The name of the function described at a place of the unit, as people wrote it.
fn function_name<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
    at: gimli::UnitOffset,
) -> Option<String> {
    let entry = unit.entry(at).ok()?;
    let text = |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned());
    if let Some(name) = entry.attr_value(constants::DW_AT_name).and_then(text) {
        return Some(name);
    }
    let Some(AttributeValue::UnitRef(said)) = entry.attr_value(constants::DW_AT_specification) else {
        return None;
    };
    unit.entry(said).ok()?.attr_value(constants::DW_AT_name).and_then(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_libraries_are_not_the_users() {
        let at =
            |path: &str| users(Path::new(path), Path::new("/home/a/k/main.hip"), Path::new("/home/a/build"));
        assert!(at("/home/a/k/main.hip") && at("/home/a/k/lib/own.h") && at("/home/a/build/made.h"));
        assert!(!at("/usr/include/hip/amd_detail/device_functions.h") && !at("/opt/rocm/include/hip/hip.h"));
        assert!(!at("/elsewhere/ocml/src/sinF.cl"));
        let root = |path: &str| users(Path::new(path), Path::new("/main.hip"), Path::new("/"));
        assert!(root("/main.hip") && !root("/usr/include/math.h"), "everything is below the root");
        assert_eq!(plain(Path::new("/a/./b/../c.h")), PathBuf::from("/a/c.h"));
    }
}
