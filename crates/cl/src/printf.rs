//! What kernels print: a buffer of records, each a format's number and its values (LLVM, AMDGPUPrintfRuntimeBinding), and formats
//! as the code object lists them, `ID:VALUES:SIZE:…:FORMAT` with escapes.

use crate::codes::{Failure, Outcome};
use crate::device::PRINTF_BYTES;
use crate::objects::Placed;
use crate::runtime::Runtime;
use wavebound::objects::codeobject::{ArgKind, Kernel};
use wb_host::ffi::print;
use wb_host::printf::{Arguments, Stream, cut};

/// Bytes in use, and bytes in all.
const HEADER: usize = 8;
/// What the buffer is filled with before a launch. LLVM 19 reserves a word for the end of every string, but does not write it where a
/// string ends with a word: the values behind it lie a word earlier, and words at the end of the record stay as they were.
const UNTOUCHED: [u8; 4] = [0xc5, 0xa7, 0x3f, 0x9d];

/// A format with the sizes of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Format {
    id: u32,
    sizes: Vec<usize>,
    text: Vec<u8>,
}

fn parse(line: &str) -> Option<Format> {
    let (id, rest) = line.split_once(':')?;
    let (count, mut rest) = rest.split_once(':')?;
    let mut sizes = Vec::new();
    for _ in 0..count.parse::<u8>().ok()? {
        let (size, more) = rest.split_once(':')?;
        sizes.push(size.parse().ok()?);
        rest = more;
    }
    Some(Format { id: id.parse().ok()?, sizes, text: unescaped(rest.as_bytes()) })
}

/// Escapes as in C; LLVM writes a colon as its octal number.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'v') => out.push(11),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = rest.next_if(|c| (b'0'..=b'7').contains(c)) else { break };
                    value = value * 8 + u32::from(next - b'0');
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    out
}

/// The values of a record, one after the other.
struct Values<'a> {
    sizes: std::slice::Iter<'a, usize>,
    bytes: &'a [u8],
    /// Elements of the vector that is being printed.
    vector: std::vec::IntoIter<&'a [u8]>,
}

impl<'a> Values<'a> {
    fn value(&mut self) -> &'a [u8] {
        if let Some(element) = self.vector.next() {
            return element;
        }
        let size = self.sizes.next().copied().unwrap_or(0).min(self.bytes.len());
        let (value, rest) = self.bytes.split_at(size);
        self.bytes = rest;
        value
    }
}

impl Arguments for Values<'_> {
    fn word(&mut self) -> u64 {
        let mut word = [0; 8];
        let value = self.value();
        let size = value.len().min(8);
        word[..size].copy_from_slice(&value[..size]);
        u64::from_le_bytes(word)
    }

    fn double(&mut self) -> f64 {
        match *self.value() {
            [a, b] => half::f16::from_le_bytes([a, b]).to_f64(),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0.0,
        }
    }

    fn string(&mut self) -> Vec<u8> {
        let value = self.value();
        value.iter().copied().take_while(|b| *b != 0).collect()
    }

    fn vector(&mut self, lanes: usize) -> bool {
        let value = self.value();
        // Vectors of three have room for four.
        let size = value.len() / if lanes == 3 { 4 } else { lanes.max(1) };
        let elements: Vec<&[u8]> = value.chunks_exact(size.max(1)).take(lanes).collect();
        self.vector = elements.into_iter();
        true
    }
}

impl Runtime {
    /// Makes the buffer empty if the kernel prints.
    pub fn before_printing(&mut self, kernel: &Kernel) -> Outcome {
        let prints = |kind: &ArgKind| matches!(kind, ArgKind::Hidden(name) if name == "hidden_printf_buffer");
        if !kernel.args.iter().any(|a| prints(&a.kind)) {
            return Ok(());
        }
        let device = &mut self.host.device;
        let failed =
            |e: wavebound::device::DeviceError| Failure::Fatal(format!("no buffer to print into: {e}"));
        if device.printf == 0 {
            device.printf = device.alloc(PRINTF_BYTES).map_err(failed)?;
            device.own_block(device.printf);
        }
        let mut bytes = UNTOUCHED.repeat(PRINTF_BYTES as usize / UNTOUCHED.len());
        bytes[..4].fill(0);
        bytes[4..HEADER].copy_from_slice(&(PRINTF_BYTES as u32).to_le_bytes());
        device.write(device.printf, &bytes).map_err(failed)
    }

    /// Prints what the kernel left in the buffer.
    pub fn print_all(&mut self, code: &Placed) {
        let device = &mut self.host.device;
        let Ok(buffer) = device.read(device.printf, PRINTF_BYTES) else { return };
        let formats: Vec<Format> = code.module.object.formats.iter().filter_map(|f| parse(f)).collect();
        for (format, values) in records(buffer, &formats) {
            let sizes = laid_out(format, values);
            let mut values = Values { sizes: sizes.iter(), bytes: values, vector: Vec::new().into_iter() };
            print(Stream::Output, &cut(&format.text, &mut values));
        }
        let printf = device.printf;
        // Another launch begins with an empty one anyway.
        let _ = device.write(printf, &[0; 4]);
    }
}

/// Notes which values of a format are strings.
#[derive(Default)]
struct Strings {
    found: Vec<bool>,
    /// Elements of a vector that are no values of their own.
    elements: usize,
}

impl Strings {
    fn value(&mut self, is_string: bool) {
        match self.elements {
            0 => self.found.push(is_string),
            n => self.elements = n - 1,
        }
    }
}

impl Arguments for Strings {
    fn word(&mut self) -> u64 {
        self.value(false);
        0
    }

    fn double(&mut self) -> f64 {
        self.value(false);
        0.0
    }

    fn string(&mut self) -> Vec<u8> {
        self.value(true);
        Vec::new()
    }

    fn vector(&mut self, lanes: usize) -> bool {
        self.found.push(false);
        self.elements = lanes;
        true
    }
}

/// Sizes of a record's values as they lie there: as many strings lack the word of their end as words at the end are untouched.
fn laid_out(format: &Format, values: &[u8]) -> Vec<usize> {
    let mut strings = Strings::default();
    cut(&format.text, &mut strings);
    let may_lack = |i: &usize| strings.found.get(*i) == Some(&true) && format.sizes[*i] > 4;
    let candidates: Vec<usize> = (0..format.sizes.len()).filter(may_lack).take(16).collect();
    let words = values.rchunks_exact(4).take_while(|word| *word == UNTOUCHED).count();
    let lacking = words.min(candidates.len()) as u32;
    let chosen = (0u32..1 << candidates.len()).filter(|set| set.count_ones() == lacking);
    let sizes = |set: u32| {
        let mut sizes = format.sizes.clone();
        let lacks = |(bit, _): &(usize, &usize)| set & (1 << bit) != 0;
        candidates.iter().enumerate().filter(lacks).for_each(|(_, at)| sizes[*at] -= 4);
        sizes
    };
    let possible = |sizes: &Vec<usize>| {
        let mut at = 0;
        sizes.iter().enumerate().all(|(i, size)| {
            let bytes = values.get(at..at + size).unwrap_or_default();
            at += size;
            !candidates.contains(&i) || is_text(bytes, *size == format.sizes[i])
        })
    };
    let mut all = chosen.map(sizes);
    all.find(possible).unwrap_or_else(|| format.sizes.clone())
}

/// Whether bytes can be a string with its end in the last word, or one that fills all words.
fn is_text(bytes: &[u8], ends: bool) -> bool {
    let length = bytes.iter().take_while(|b| **b != 0).count();
    match ends {
        true => length < bytes.len() && length + 4 > bytes.len() && bytes[length..].iter().all(|b| *b == 0),
        false => length == bytes.len(),
    }
}

/// Records of a buffer; what is damaged ends them.
fn records<'a>(buffer: &'a [u8], formats: &'a [Format]) -> Vec<(&'a Format, &'a [u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(buffer.get(at..at + 4)?.try_into().ok()?));
    let end = (HEADER + word(0).unwrap_or(0) as usize).min(buffer.len());
    let (mut out, mut at) = (Vec::new(), HEADER);
    while let Some(id) = (at < end).then(|| word(at)).flatten() {
        let Some(format) = formats.iter().find(|f| f.id == id) else { break };
        let bytes: usize = format.sizes.iter().sum();
        let Some(values) = buffer.get(at + 4..at + 4 + bytes) else { break };
        out.push((format, values));
        at += (4 + bytes).next_multiple_of(4);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use wb_host::printf::Piece;

    #[test]
    fn formats_are_read() {
        let format = parse(r#"3:2:4:16:a\72 %d "%v4hlf"\n"#).expect("a format");
        assert_eq!((format.id, format.sizes.as_slice()), (3, [4, 16].as_slice()));
        assert_eq!(format.text, b"a: %d \"%v4hlf\"\n");
        assert_eq!(parse("1:0:x").map(|f| f.text), Some(b"x".to_vec()));
        for damaged in ["", "1", "x:1:", "1:3:4:", "1:999:4:x"] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn vectors_are_printed_element_by_element() {
        let format = parse("1:2:16:4:%v4hlf|%d").expect("a format");
        let mut bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|f| f.to_le_bytes()).collect();
        bytes.extend((-7i32).to_le_bytes());
        let mut buffer = 24u32.to_le_bytes().to_vec();
        buffer.extend(1024u32.to_le_bytes());
        buffer.extend(1u32.to_le_bytes());
        buffer.extend(&bytes);
        let formats = [format];
        let found = records(&buffer, &formats);
        assert_eq!(found.len(), 1);
        let mut values =
            Values { sizes: formats[0].sizes.iter(), bytes: found[0].1, vector: Vec::new().into_iter() };
        let pieces = cut(&formats[0].text, &mut values);
        let doubles = pieces.iter().filter(|p| matches!(p, Piece::Double(..))).count();
        assert_eq!(doubles, 4);
        assert_eq!(pieces.last(), Some(&Piece::Integer(CString::new("%lld").expect("text"), -7i64 as u64)));
        assert!(records(&[255; 40], &formats).is_empty(), "damage is no record");
    }

    /// A string of four letters lacks the word of its end, and so do others or not.
    #[test]
    fn strings_without_an_end_are_found() {
        let values = |words: &[&[u8]], lacking: usize| {
            let mut bytes = words.concat();
            bytes.extend(UNTOUCHED.repeat(lacking));
            bytes
        };
        let format = parse("1:2:8:4:%s %d").expect("a format");
        assert_eq!(laid_out(&format, &values(&[b"text", &100u32.to_le_bytes()], 1)), [4, 4]);
        assert_eq!(laid_out(&format, &values(&[b"texts\0\0\0", &100u32.to_le_bytes()], 0)), [8, 4]);
        let two = parse("1:4:8:4:8:4:%s %d %s %*d").expect("a format");
        let first = values(&[b"text", &7u32.to_le_bytes(), b"other\0\0\0", &1u32.to_le_bytes()], 1);
        assert_eq!(laid_out(&two, &first), [4, 4, 8, 4]);
        let second = values(&[b"other\0\0\0", &7u32.to_le_bytes(), b"text", &1u32.to_le_bytes()], 1);
        assert_eq!(laid_out(&two, &second), [8, 4, 4, 4]);
        let both = values(&[b"text", &7u32.to_le_bytes(), b"text", &1u32.to_le_bytes()], 2);
        assert_eq!(laid_out(&two, &both), [4, 4, 4, 4]);
    }
}
