//! Arrays of local and private memory as DWARF tells of them: names, sizes, and where they lie. AMD's compilers describe private
//! variables by their place in the frame; of local ones they give name and type only, so that places are known where all of a
//! kernel's local variables are of one size.

use super::inlined::Slice;
use addr2line::gimli::{self, AttributeValue, EndianSlice, LittleEndian, Operation, constants};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;

/// A variable in local or private memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugArray {
    pub name: String,
    /// Address of its function.
    pub function: u64,
    /// In the lane's private memory; otherwise in the group's local memory.
    pub private: bool,
    pub offset: u64,
    pub bytes: u64,
}

/// DWARF's numbers of the address spaces that AMD's compilers use.
const PRIVATE: u64 = 1;
const LOCAL: u64 = 2;

/// Types inside each other that are followed.
const DEEPEST: usize = 16;

type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
type Unit<'a> = gimli::Unit<Slice<'a>>;

/// Damaged information gives what could be read.
pub(super) fn read<'a>(elf: &impl Object<'a>) -> Vec<DebugArray> {
    let section = |id: gimli::SectionId| -> Result<EndianSlice<'a, LittleEndian>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or(&[]);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let mut found = Vec::new();
    if let Ok(dwarf) = gimli::Dwarf::load(section) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            if let Ok(unit) = dwarf.unit(header) {
                let _ = of_unit(&dwarf, &unit, &mut found);
            }
        }
    }
    place_local(&mut found);
    found
}

fn of_unit<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, found: &mut Vec<DebugArray>) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    // The function that variables belong to, and how deep it stands.
    let mut function: Option<(u64, isize)> = None;
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if function.is_some_and(|(_, at)| depth <= at) {
            function = None;
        }
        if entry.tag() == constants::DW_TAG_subprogram {
            let low = entry.attr_value(constants::DW_AT_low_pc);
            let low = low.map(|value| dwarf.attr_address(unit, value)).transpose()?.flatten();
            function = low.map(|low| (low, depth));
            continue;
        }
        if entry.tag() != constants::DW_TAG_variable {
            continue;
        }
        let Some((function, _)) = function else { continue };
        let Some(AttributeValue::Exprloc(place)) = entry.attr_value(constants::DW_AT_location) else {
            continue;
        };
        let Some((private, offset)) = space(unit, place)? else { continue };
        let (mut name, mut ty) =
            (entry.attr_value(constants::DW_AT_name), entry.attr_value(constants::DW_AT_type));
        if let Some(AttributeValue::UnitRef(origin)) = entry.attr_value(constants::DW_AT_abstract_origin) {
            let origin = unit.entry(origin)?;
            name = name.or(origin.attr_value(constants::DW_AT_name));
            ty = ty.or(origin.attr_value(constants::DW_AT_type));
        }
        let name = name.map(|n| dwarf.attr_string(unit, n)).transpose()?;
        let name = name.map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let Some(AttributeValue::UnitRef(ty)) = ty else { continue };
        if let Some(bytes) = size(unit, ty, DEEPEST)? {
            found.push(DebugArray { name, function, private, offset, bytes });
        }
    }
    Ok(())
}

/// Whether a variable is private, and its place; none if it is elsewhere.
fn space(unit: &Unit, place: gimli::Expression<Slice>) -> Result<Option<(bool, u64)>, gimli::Error> {
    let (mut offset, mut space) = (None, 0);
    let mut operations = place.operations(unit.encoding());
    while let Some(operation) = operations.next()? {
        match operation {
            Operation::FrameOffset { offset: at } => offset = u64::try_from(at).ok(),
            Operation::AddressIndex { .. } | Operation::Address { .. } => offset = Some(0),
            Operation::UnsignedConstant { value } => space = value,
            Operation::SignedConstant { value } => space = value as u64,
            Operation::Swap | Operation::Deref { .. } => {}
            _ => return Ok(None),
        }
    }
    Ok(match (offset, space) {
        (Some(at), PRIVATE) => Some((true, at)),
        (Some(_), LOCAL) => Some((false, 0)),
        _ => None,
    })
}

/// Bytes of a type.
fn size(unit: &Unit, ty: gimli::UnitOffset, deepest: usize) -> Result<Option<u64>, gimli::Error> {
    let entry = unit.entry(ty)?;
    if let Some(bytes) = entry.attr_value(constants::DW_AT_byte_size).and_then(|v| v.udata_value()) {
        return Ok(Some(bytes));
    }
    let inner = match entry.attr_value(constants::DW_AT_type) {
        Some(AttributeValue::UnitRef(inner)) if deepest > 0 => size(unit, inner, deepest - 1)?,
        _ => None,
    };
    if entry.tag() != constants::DW_TAG_array_type {
        return Ok(inner);
    }
    let mut tree = unit.entries_tree(Some(ty))?;
    let mut children = tree.root()?.children();
    let mut count = 1u64;
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() == constants::DW_TAG_subrange_type {
            let number = |name| entry.attr_value(name).and_then(|v: AttributeValue<Slice>| v.udata_value());
            let upper = number(constants::DW_AT_upper_bound).map(|n| n.saturating_add(1));
            let Some(n) = number(constants::DW_AT_count).or(upper) else { return Ok(None) };
            count = count.saturating_mul(n);
        }
    }
    Ok(inner.map(|bytes| bytes.saturating_mul(count)))
}

/// Local variables lie one after the other: where they are all of one size, in whatever order, their places are known.
fn place_local(found: &mut Vec<DebugArray>) {
    let mut functions: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for array in found.iter().filter(|a| !a.private) {
        functions.entry(array.function).or_default().push(array.bytes);
    }
    let same =
        |sizes: &Vec<u64>| sizes.iter().all(|s| *s == sizes[0] && s.is_multiple_of(16)) || sizes.len() == 1;
    found.retain(|a| a.private || functions.get(&a.function).is_some_and(same));
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    for array in found.iter_mut().filter(|a| !a.private) {
        let at = next.entry(array.function).or_insert(0);
        array.offset = *at;
        *at += array.bytes;
        // Which of them is which nobody knows.
        if functions[&array.function].len() > 1 {
            array.name = format!("number {}", array.offset / array.bytes.max(1));
        }
    }
}
