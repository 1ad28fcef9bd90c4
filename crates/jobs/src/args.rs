//! Kernel arguments as text, the same on the command line and in launch files: numbers, vectors, structures, buffers, local memory.
//! Every complaint says which part of the text is wrong.

use crate::data::{Array, Element, FILLS, fill_buffer};
use std::fmt;
use std::path::Path;
use wb_device::Arg;
use wb_objects::codeobject::{ArgKind, KernelArg};

/// What an argument may look like, for messages.
pub const FORMS: &str = "TYPE:NUMBER, TYPE:N,N,… (a vector), struct:TYPE:N;TYPE:N;… (members in order), hex:BYTES, \
                         buf:TYPE:COUNT[:FILL], buf:TYPE[:COUNT]:FILE or local:BYTES";

/// Values beyond this many bytes are no arguments.
const MAX_VALUE: usize = 4096;

/// An argument before it is known where its buffer lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Buffer(Array),
    Value(Value),
    Local(u32),
}

/// Bytes passed by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub bytes: Vec<u8>,
    /// Numbers of one type; none for structures and plain bytes.
    pub element: Option<Element>,
}

/// An argument of a launch as text, or ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgSpec {
    Text(String),
    Ready(Argument),
}

impl ArgSpec {
    /// The argument; `Err` says what is wrong with which part of the text.
    pub fn read(&self) -> Result<Argument, String> {
        match self {
            ArgSpec::Text(text) => parse(text),
            ArgSpec::Ready(argument) => Ok(argument.clone()),
        }
    }
}

impl From<String> for ArgSpec {
    fn from(text: String) -> ArgSpec {
        ArgSpec::Text(text)
    }
}

impl From<&str> for ArgSpec {
    fn from(text: &str) -> ArgSpec {
        ArgSpec::Text(text.to_owned())
    }
}

impl From<Argument> for ArgSpec {
    fn from(argument: Argument) -> ArgSpec {
        ArgSpec::Ready(argument)
    }
}

/// As it was written; of one that was not, what it is.
impl fmt::Display for ArgSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ArgSpec::Text(text) => f.write_str(text),
            ArgSpec::Ready(Argument::Buffer(array)) => {
                write!(f, "{} bytes of {}", array.bytes.len(), array.element.name())
            }
            ArgSpec::Ready(Argument::Value(value)) => write!(f, "a value of {} bytes", value.bytes.len()),
            ArgSpec::Ready(Argument::Local(bytes)) => write!(f, "{bytes} bytes of local memory"),
        }
    }
}

/// Reads an argument; `Err` says what is wrong with which part.
pub fn parse(text: &str) -> Result<Argument, String> {
    let (kind, rest) = text.split_once(':').ok_or_else(|| match text {
        "" => "it is empty".to_owned(),
        _ => format!("`{text}` has no `:` behind the kind or type"),
    })?;
    match kind {
        "buf" => buffer(rest).map(Argument::Buffer),
        "local" => {
            let bytes = rest.parse().map_err(|_| format!("`{rest}` is not a number of bytes"))?;
            Ok(Argument::Local(bytes))
        }
        "hex" => Ok(Argument::Value(Value { bytes: hex(rest)?, element: None })),
        "struct" => Ok(Argument::Value(Value { bytes: structure(rest)?, element: None })),
        _ => {
            let element = type_of(kind)?;
            Ok(Argument::Value(Value { bytes: numbers(element, rest)?, element: Some(element) }))
        }
    }
}

fn type_of(name: &str) -> Result<Element, String> {
    Element::parse(name).ok_or_else(|| format!("there is no type `{name}`; types: {}", Element::NAMES))
}

fn numbers(element: Element, list: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for text in list.split(',') {
        out.extend(element.number_of(text.trim())?);
        if out.len() > MAX_VALUE {
            return Err(format!("a value has at most {MAX_VALUE} bytes"));
        }
    }
    Ok(out)
}

/// `i32:5;f32:1,2;u8:1`: every member at a multiple of its element's size, the whole a multiple of the largest.
fn structure(list: &str) -> Result<Vec<u8>, String> {
    let (mut out, mut align) = (Vec::new(), 1);
    for member in list.split(';') {
        let (name, values) =
            member.trim().split_once(':').ok_or_else(|| format!("member `{member}` is not TYPE:NUMBER"))?;
        let element = type_of(name).map_err(|e| format!("member `{member}`: {e}"))?;
        let bytes = numbers(element, values).map_err(|e| format!("member `{member}`: {e}"))?;
        let size = element.bytes() as usize;
        align = align.max(size);
        out.resize(out.len().next_multiple_of(size), 0);
        out.extend(bytes);
        if out.len() > MAX_VALUE {
            return Err(format!("a value has at most {MAX_VALUE} bytes"));
        }
    }
    out.resize(out.len().next_multiple_of(align), 0);
    Ok(out)
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'_' | b' ')).collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 2 * MAX_VALUE {
        return Err(format!("`{text}` is not two hexadecimal digits for each of 1 to {MAX_VALUE} bytes"));
    }
    let digit = |b: u8| {
        (b as char).to_digit(16).ok_or_else(|| format!("`{}` is not a hexadecimal digit", b.escape_ascii()))
    };
    digits.chunks(2).map(|d| Ok((digit(d[0])? * 16 + digit(d[1])?) as u8)).collect()
}

/// `f32:1024:iota`, `f32:1024:data.npy`, `f32:data.bin` or `data.npy`.
fn buffer(rest: &str) -> Result<Array, String> {
    let (first, more) = match rest.split_once(':') {
        None if is_data_file(rest) => return file(rest, None, None),
        None => return Err(format!("`{rest}` is not TYPE:COUNT[:FILL] or a file")),
        Some(parts) => parts,
    };
    let element = type_of(first)?;
    let (count, fill) = match more.split_once(':') {
        None if is_data_file(more) => return file(more, Some(element), None),
        None => (more, "zero"),
        Some(parts) => parts,
    };
    let number: u64 = count.parse().map_err(|_| {
        format!("`{count}` is not a number of elements (or a file ending in .npy, .bin, .raw or .dat)")
    })?;
    if is_data_file(fill) {
        return file(fill, Some(element), Some(number));
    }
    let bytes = fill_buffer(element, number, fill).ok_or_else(|| match number {
        0 => "a buffer of no elements".to_owned(),
        n if n.saturating_mul(element.bytes()) > crate::data::MAX_BYTES => {
            format!("{n} elements of {} bytes are more than 1 GiB", element.bytes())
        }
        _ => format!("there is no fill `{fill}` for {}; fills: {FILLS}", element.name()),
    })?;
    Ok(Array { element, shape: vec![number], bytes })
}

/// Files of data are told from fills by their extension.
pub fn is_data_file(text: &str) -> bool {
    matches!(Path::new(text).extension().and_then(|e| e.to_str()), Some("npy" | "bin" | "raw" | "dat"))
}

fn file(name: &str, element: Option<Element>, count: Option<u64>) -> Result<Array, String> {
    let array = Array::read(Path::new(name), element).map_err(|e| e.chain())?;
    if let Some(element) = element.filter(|e| *e != array.element) {
        return Err(format!("{name} holds {}, not {}", array.element.name(), element.name()));
    }
    let found = array.bytes.len() as u64 / array.element.bytes();
    match count {
        Some(count) if count != found => Err(format!("{name} has {found} elements, not {count}")),
        _ if found == 0 => Err(format!("{name} has no elements")),
        _ => Ok(array),
    }
}

/// An argument as the kernel's slot wants it: its type fits, and vectors of three have room for four.
pub fn fit(value: Value, slot: &KernelArg) -> Result<Arg, String> {
    let Value { mut bytes, element } = value;
    if slot.kind != ArgKind::Value {
        return Ok(Arg::Value(bytes));
    }
    if let (Some(given), Some((wanted, lanes))) = (element, slot_type(&slot.type_name)) {
        if given.is_float() != wanted.is_float() && given.bytes() == wanted.bytes() {
            return Err(format!(
                "it is of type {}: write {}:…, not {}:…",
                slot.type_name,
                wanted.name(),
                given.name()
            ));
        }
        if lanes == 3 && bytes.len() as u64 == 3 * wanted.bytes() {
            bytes.resize(4 * wanted.bytes() as usize, 0);
        }
    }
    if bytes.len() != slot.size as usize {
        let form = match slot_type(&slot.type_name) {
            Some((e, 1)) => format!("{}:NUMBER", e.name()),
            Some((e, n)) => format!("{}:{}", e.name(), vec!["N"; n as usize].join(",")),
            None => format!("struct:TYPE:N;… or hex: with {} digits", 2 * slot.size),
        };
        let named = if slot.type_name.is_empty() { "a value" } else { &slot.type_name };
        return Err(format!("it is {named} of {} bytes, {} were given: {form}", slot.size, bytes.len()));
    }
    Ok(Arg::Value(bytes))
}

/// OpenCL's name of a type: its element and number of lanes.
fn slot_type(name: &str) -> Option<(Element, u32)> {
    // As `.kernel` in our assembly writes them.
    if let Some(element) = Element::parse(name) {
        return Some((element, 1));
    }
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = match &name[base.len()..] {
        "" => 1,
        n => n.parse().ok()?,
    };
    let element = match base {
        "char" | "signed char" => Element::Signed(1),
        "uchar" | "unsigned char" | "bool" => Element::Unsigned(1),
        "short" => Element::Signed(2),
        "ushort" | "unsigned short" => Element::Unsigned(2),
        "int" => Element::Signed(4),
        "uint" | "unsigned int" | "unsigned" => Element::Unsigned(4),
        "long" | "ptrdiff_t" => Element::Signed(8),
        "ulong" | "unsigned long" | "size_t" => Element::Unsigned(8),
        "half" => Element::F16,
        "float" => Element::F32,
        "double" => Element::F64,
        _ => return None,
    };
    Some((element, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        match parse(text) {
            Ok(Argument::Value(v)) => v.bytes,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values_vectors_structures_and_bytes() {
        assert_eq!(bytes("i32:-2"), (-2i32).to_le_bytes());
        assert_eq!(bytes("u16:0xfffe"), [0xfe, 0xff]);
        assert_eq!(bytes("f32:1,2,3,4").len(), 16);
        assert_eq!(bytes("f32:1, 2")[4..], 2f32.to_le_bytes());
        // One byte, three of padding, four bytes, two, and padding to a multiple of four.
        assert_eq!(bytes("struct:u8:7;i32:-1;u16:3"), [7, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0]);
        assert_eq!(bytes("hex:00ff_10"), [0, 255, 16]);
    }

    #[test]
    fn complaints_name_the_part() {
        for (text, part) in [
            ("u32:-1", "-1"),
            ("i8:255", "255"),
            ("i32:1.5", "1.5"),
            ("f33:1", "f33"),
            ("f32:1,x", "`x`"),
            ("struct:i32:1;f9:2", "f9:2"),
            ("struct:i32", "`i32`"),
            ("hex:0", "`0`"),
            ("hex:zz", "`z`"),
            ("local:much", "`much`"),
            ("buf:f32:many", "`many`"),
            ("buf:f32:0", "no elements"),
            ("buf:f32:8:wild", "`wild`"),
            ("buf:f32:99999999999", "1 GiB"),
            ("buf:f32:none.npy", "none.npy"),
            ("thing", "`thing`"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn files_are_buffers_and_must_fit_what_is_said() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("x.bin");
        std::fs::write(&path, [1, 0, 0, 0, 2, 0, 0, 0]).expect("file");
        let named = |form: &str| parse(&form.replace('%', &path.display().to_string()));
        let Ok(Argument::Buffer(array)) = named("buf:u32:%") else { panic!("a buffer") };
        assert_eq!((array.element, array.shape), (Element::U32, vec![2]));
        assert!(named("buf:u32:2:%").is_ok());
        assert!(named("buf:u32:3:%").expect_err("too few").contains("2 elements, not 3"));
        assert!(named("buf:u64:%").is_ok() && named("buf:%").is_ok());
    }

    #[test]
    fn types_of_slots_are_checked() {
        let slot = |type_name: &str, size| KernelArg {
            name: "n".into(),
            type_name: type_name.into(),
            offset: 0,
            size,
            kind: ArgKind::Value,
            qualifiers: Default::default(),
        };
        let fitted = |text: &str, slot: &KernelArg| match parse(text) {
            Ok(Argument::Value(value)) => fit(value, slot),
            other => panic!("{text}: {other:?}"),
        };
        assert!(fitted("f32:1.5", &slot("int", 4)).expect_err("an integer").contains("write i32:"));
        assert!(fitted("i32:1", &slot("float", 4)).is_err());
        assert!(fitted("u32:1", &slot("int", 4)).is_ok() && fitted("hex:00000000", &slot("int", 4)).is_ok());
        assert_eq!(
            fitted("f32:1,2,3", &slot("float3", 16)).map(|a| matches!(a, Arg::Value(b) if b.len() == 16)),
            Ok(true)
        );
        assert!(fitted("f32:1", &slot("float4", 16)).expect_err("too short").contains("f32:N,N,N,N"));
        assert!(fitted("f32:1", &slot("", 12)).expect_err("too short").contains("24 digits"));
    }
}
