//! The linker: places chunks in order from address 0, resolves references and joins the pieces into
//! an image. Local labels win over global ones of other objects; the first entry given is the entry.

use super::arch::{Arch, Encoding};
use super::object::{Chunk, MAX_IMAGE, Object, Ref};
use std::collections::HashMap;
use std::ops::Range;
use thiserror::Error;

/// A program ready to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub arch: Arch,
    pub entry: u64,
    /// Address and bytes, in order, not touching each other.
    pub segments: Vec<(u64, Vec<u8>)>,
    /// Every label, by address.
    pub symbols: Vec<(String, u64)>,
    /// Addresses that hold instructions.
    pub text: Vec<Range<u64>>,
    /// Source line of the instruction at an address; empty for objects read from files.
    pub lines: Vec<(u64, u32)>,
}

impl Image {
    /// First address behind everything the program occupies.
    pub fn end(&self) -> u64 {
        self.segments.last().map_or(0, |(addr, bytes)| addr + bytes.len() as u64)
    }

    /// The first label at exactly this address.
    pub fn symbol_at(&self, addr: u64) -> Option<&str> {
        let i = self.symbols.partition_point(|(_, a)| *a < addr);
        self.symbols.get(i).filter(|(_, a)| *a == addr).map(|(name, _)| name.as_str())
    }

    /// The bytes from `addr` to the end of its segment.
    pub fn bytes_at(&self, addr: u64) -> Option<&[u8]> {
        let i = self.segments.partition_point(|(start, _)| *start <= addr).checked_sub(1)?;
        let (start, bytes) = &self.segments[i];
        bytes.get((addr - start) as usize..).filter(|rest| !rest.is_empty())
    }
}

/// Why objects do not make a program.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LinkError {
    #[error("nothing to link: give at least one object")]
    Empty,
    #[error("objects for {first} and for {other} cannot be linked; assemble both for one architecture")]
    Arch { first: Arch, other: Arch },
    #[error("undefined label `{name}`: define it, or mark it .global in the object that has it")]
    Undefined { name: String },
    #[error("global label `{name}` is defined by two objects; rename one or drop its .global")]
    Duplicate { name: String },
    #[error(
        "label `{name}` is out of reach: the instruction would need {value}, its {bits} bits hold {low} to {high}"
    )]
    OutOfReach { name: String, value: i128, bits: u32, low: i128, high: i128 },
    #[error(
        "reference to `{name}` at offset {offset} lies outside its chunk `{chunk}`; the object is damaged"
    )]
    BadRef { name: String, chunk: String, offset: u64 },
    #[error("the program needs {needed} bytes of memory; {limit} are possible with this architecture")]
    TooLarge { needed: u64, limit: u64 },
    #[error("chunks `{first}` and `{second}` both claim address {addr:#x}; unbind one of them")]
    Overlap { first: String, second: String, addr: u64 },
    #[error("code chunk `{name}` is bound to address {addr:#x}, which is not a multiple of the word")]
    Misaligned { name: String, addr: u64 },
}

/// An error with the reference (object, chunk, reference) that caused it.
pub(super) struct Fault {
    pub error: LinkError,
    pub site: Option<(usize, usize, usize)>,
}

impl From<LinkError> for Fault {
    fn from(error: LinkError) -> Fault {
        Fault { error, site: None }
    }
}

/// Links objects into an image; reports the first error.
pub fn link(objects: &[Object]) -> Result<Image, LinkError> {
    link_all(objects).map_err(|faults| faults.into_iter().next().map_or(LinkError::Empty, |f| f.error))
}

struct Placed<'a> {
    chunk: &'a Chunk,
    object: usize,
    index: usize,
    addr: u64,
}

impl Placed<'_> {
    fn end(&self) -> u64 {
        self.addr + self.chunk.size
    }
}

/// Links and reports every unresolved reference.
pub(super) fn link_all(objects: &[Object]) -> Result<Image, Vec<Fault>> {
    let first = objects.first().ok_or_else(|| vec![LinkError::Empty.into()])?;
    let arch = first.arch;
    if let Some(other) = objects.iter().map(|o| o.arch).find(|a| !a.compatible(&arch)) {
        return Err(vec![LinkError::Arch { first: arch, other }.into()]);
    }
    let placed = place(objects, &arch).map_err(|error| vec![error.into()])?;
    let (pieces, faults) = resolve(objects.len(), &placed, &arch);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(image(objects, &arch, &placed, pieces))
}

fn place<'a>(objects: &'a [Object], arch: &Arch) -> Result<Vec<Placed<'a>>, LinkError> {
    let limit = MAX_IMAGE.min(arch.console());
    let word = u64::from(arch.bytes);
    let mut next = 0u64;
    let mut placed: Vec<Placed> = Vec::new();
    for (object, o) in objects.iter().enumerate() {
        for (index, chunk) in o.chunks.iter().enumerate() {
            let code_word = if chunk.text && arch.encoding == Encoding::Word { word } else { 1 };
            let align = least_common_multiple(chunk.align.max(1), code_word);
            let addr = chunk.address.unwrap_or_else(|| next.next_multiple_of(align));
            if addr % code_word != 0 {
                return Err(LinkError::Misaligned { name: chunk.name.clone(), addr });
            }
            let needed = addr.saturating_add(chunk.size);
            if needed > limit || chunk.contents.len() as u64 > chunk.size {
                return Err(LinkError::TooLarge { needed, limit });
            }
            next = next.max(needed);
            placed.push(Placed { chunk, object, index, addr });
        }
    }
    let mut order: Vec<&Placed> = placed.iter().filter(|p| p.chunk.size > 0).collect();
    order.sort_by_key(|p| p.addr);
    if let Some(pair) = order.windows(2).find(|pair| pair[0].end() > pair[1].addr) {
        let (first, second) = (pair[0].chunk.name.clone(), pair[1].chunk.name.clone());
        return Err(LinkError::Overlap { first, second, addr: pair[1].addr });
    }
    Ok(placed)
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Fills in every reference; returns the chunks' bytes as they will be in memory.
fn resolve(objects: usize, placed: &[Placed], arch: &Arch) -> (Vec<Vec<u8>>, Vec<Fault>) {
    let mut globals: HashMap<&str, u64> = HashMap::new();
    let mut locals: Vec<HashMap<&str, u64>> = vec![HashMap::new(); objects];
    let mut faults: Vec<Fault> = Vec::new();
    for p in placed.iter().filter(|p| !p.chunk.name.is_empty()) {
        locals[p.object].insert(&p.chunk.name, p.addr);
        if p.chunk.global && globals.insert(&p.chunk.name, p.addr).is_some() {
            faults.push(LinkError::Duplicate { name: p.chunk.name.clone() }.into());
        }
    }
    let mut pieces = Vec::with_capacity(placed.len());
    for p in placed {
        let mut bytes = p.chunk.contents.clone();
        for (i, r) in p.chunk.refs.iter().enumerate() {
            let name = r.name.as_str();
            let target = locals[p.object].get(name).or_else(|| globals.get(name));
            let result = match target {
                Some(&target) => bind(r, target, p, arch, &mut bytes),
                None => Err(LinkError::Undefined { name: r.name.clone() }),
            };
            if let Err(error) = result {
                faults.push(Fault { error, site: Some((p.object, p.index, i)) });
            }
        }
        bytes.resize(p.chunk.size as usize, 0);
        pieces.push(bytes);
    }
    (pieces, faults)
}

fn bind(r: &Ref, target: u64, p: &Placed, arch: &Arch, bytes: &mut [u8]) -> Result<(), LinkError> {
    let bad = || LinkError::BadRef { name: r.name.clone(), chunk: p.chunk.name.clone(), offset: r.offset };
    let width = u64::from(r.bits.div_ceil(8));
    let start = usize::try_from(r.offset).map_err(|_| bad())?;
    let end = usize::try_from(r.offset.saturating_add(width)).map_err(|_| bad())?;
    let field = bytes.get_mut(start..end).filter(|f| !f.is_empty() && r.bits <= 64).ok_or_else(bad)?;
    let value = i128::from(target) - if r.relative { i128::from(p.addr + r.base) } else { 0 };
    // Narrow fields are sign-extended when decoded; a whole word holds any address.
    let half = 1i128 << (r.bits - 1);
    let high = if r.bits >= arch.bits() { 2 * half - 1 } else { half - 1 };
    if value < -half || value > high {
        let name = r.name.clone();
        return Err(LinkError::OutOfReach { name, value, bits: r.bits, low: -half, high });
    }
    let mask = if r.bits == 64 { !0 } else { (1u64 << r.bits) - 1 };
    let value = value as u64 & mask;
    for (i, byte) in field.iter_mut().enumerate() {
        let keep = !(mask >> (8 * i)) as u8;
        *byte = *byte & keep | (value >> (8 * i)) as u8;
    }
    Ok(())
}

fn image(objects: &[Object], arch: &Arch, placed: &[Placed], pieces: Vec<Vec<u8>>) -> Image {
    let entry = objects.iter().enumerate().find_map(|(i, o)| o.entry.map(|chunk| (i, chunk)));
    let entry = entry.and_then(|at| placed.iter().find(|p| (p.object, p.index) == at)).map_or(0, |p| p.addr);
    let named = placed.iter().filter(|p| !p.chunk.name.is_empty());
    let mut symbols: Vec<(String, u64)> = named.map(|p| (p.chunk.name.clone(), p.addr)).collect();
    symbols.sort_by_key(|(_, addr)| *addr);
    let on_line = |p: &Placed| {
        let addr = p.addr;
        p.chunk.lines.clone().into_iter().map(move |(offset, line)| (addr + u64::from(offset), line))
    };
    let mut lines: Vec<(u64, u32)> = placed.iter().flat_map(on_line).collect();
    lines.sort_unstable();

    let mut order: Vec<(&Placed, Vec<u8>)> = placed.iter().zip(pieces).collect();
    order.retain(|(p, _)| p.chunk.size > 0);
    order.sort_by_key(|(p, _)| p.addr);
    let mut segments: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut text: Vec<Range<u64>> = Vec::new();
    for (p, bytes) in order {
        if p.chunk.text {
            match text.last_mut() {
                Some(last) if last.end == p.addr => last.end = p.end(),
                _ => text.push(p.addr..p.end()),
            }
        }
        match segments.last_mut() {
            Some((start, last)) if *start + last.len() as u64 == p.addr => last.extend(bytes),
            _ => segments.push((p.addr, bytes)),
        }
    }
    Image { arch: *arch, entry, segments, symbols, text, lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;
    use crate::harp::assemble;

    fn object(source: &str) -> Object {
        assemble(&SourceFile::new("t.s", source), &"4w8/1".parse().unwrap()).unwrap()
    }

    #[test]
    fn labels_across_objects() {
        let a = object(".perm x\n.entry\nmain: jali %r7, helper\nldi %r0, local\nhalt\nlocal: .word helper");
        let b = object("local: .word 7\n.perm x\n.global\nhelper: jmpr %r7");
        let image = link(&[a, b]).unwrap();
        assert_eq!(image.entry, 0);
        assert_eq!(image.segments.len(), 1);
        let word = |i: usize| u32::from_le_bytes(image.segments[0].1[4 * i..][..4].try_into().unwrap());
        assert_eq!(word(0) & 0xffff, 20 - 4, "relative to the next instruction");
        assert_eq!(word(1) & 0xffff, 12, "the local label wins");
        assert_eq!(word(3), 20, "an absolute address");
        assert_eq!(image.text, [0..12, 20..24]);
        assert_eq!(image.symbol_at(20), Some("helper"));
        assert_eq!(image.lines[0], (0, 3));
        assert_eq!(image.end(), 24);
    }

    #[test]
    fn errors_name_the_symbol() {
        let text = |objects: &[Object]| link(objects).unwrap_err().to_string();
        assert!(text(&[object("jmpi nowhere")]).contains("undefined label `nowhere`"));
        let twice = object(".global\nx: .word 1");
        assert!(text(&[twice.clone(), twice]).contains("`x` is defined by two objects"));
        assert_eq!(link(&[]), Err(LinkError::Empty));
        let mut other = object("nop");
        other.arch = "8w8/1".parse().unwrap();
        assert!(text(&[object("nop"), other]).contains("4w8/1 and for 8w8/1"));
        assert!(
            text(&[object("ld %r0, %r0, far\n.space 100000\nfar: .word 1")])
                .contains("`far` is out of reach")
        );
        let mut damaged = object("x: jmpi x");
        damaged.chunks[0].refs[0].offset = 1;
        assert!(text(&[damaged]).contains("outside its chunk `x`"));
        let mut bound = object("a: .word 1\nb: .word 2");
        bound.chunks[0].address = Some(4);
        bound.chunks[1].address = Some(6);
        assert!(text(&[bound]).contains("`a` and `b` both claim address 0x6"));
        let mut huge = object("a: .word 1");
        huge.chunks[0].address = Some(1 << 40);
        assert!(text(&[huge]).contains("268435456 are possible"));
    }
}
