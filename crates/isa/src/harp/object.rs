//! HOF object files: chunks of bytes with names, permissions and unresolved references. The reader
//! trusts nothing: every count is bounded by the file's size before memory is reserved.

use super::arch::Arch;
use super::encode::Codec;
use thiserror::Error;

/// No program image is larger than this.
pub const MAX_IMAGE: u64 = 256 << 20;

const MAGIC: &[u8] = b"HARP";
const GLOBAL: u64 = 1;
/// Our own flag: the chunk holds instructions. Files of the original tool never set it.
const TEXT: u64 = 2;
const RELATIVE: u64 = 1;

/// What a program may do with a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perms {
    pub read: bool,
    pub write: bool,
    pub execute: bool,
}

impl Perms {
    fn to_bits(self) -> u64 {
        u64::from(self.read) | u64::from(self.write) << 1 | u64::from(self.execute) << 2
    }

    fn from_bits(bits: u64) -> Perms {
        Perms { read: bits & 1 != 0, write: bits & 2 != 0, execute: bits & 4 != 0 }
    }
}

/// A field to fill in with the address of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    pub name: String,
    /// Relative to the next instruction, which starts at `base`.
    pub relative: bool,
    pub base: u64,
    /// Byte offset of the field in the chunk; the field is the low `bits` bits from there.
    pub offset: u64,
    pub bits: u32,
}

/// A named piece of a program, placed as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    pub name: String,
    /// 0 and 1 mean no alignment.
    pub align: u64,
    pub perms: Perms,
    /// Visible to other objects.
    pub global: bool,
    /// Holds instructions.
    pub text: bool,
    pub contents: Vec<u8>,
    /// Size in memory; bytes beyond `contents` are zero.
    pub size: u64,
    pub address: Option<u64>,
    pub refs: Vec<Ref>,
    /// Source line of the instruction at an offset; not kept in files.
    pub lines: Vec<(u32, u32)>,
}

/// One assembled file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub arch: Arch,
    /// Chunk at which the program starts.
    pub entry: Option<usize>,
    pub chunks: Vec<Chunk>,
}

/// Why bytes are not an object file, or an object cannot be a file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ObjectError {
    #[error("not a HARP object file: it does not start with `HARP`; assemble the source first")]
    Magic,
    #[error("the object file is for an architecture this tool does not know: {0}")]
    Arch(String),
    #[error("the object file ends at byte {end} inside {what}; it was cut off, assemble it again")]
    Truncated { what: &'static str, end: usize },
    #[error("byte {offset} of the object file: {what} is {value}, more than the {limit} that is possible")]
    TooLarge { what: &'static str, offset: usize, value: u64, limit: u64 },
    #[error("byte {offset} of the object file: the name of {what} is not UTF-8 text")]
    Name { what: &'static str, offset: usize },
    #[error("byte {offset} of the object file: chunks overlap; the file is damaged, assemble it again")]
    Overlap { offset: usize },
    #[error("{what} is {value}, which {bytes}-byte words cannot hold; use longer words or a smaller program")]
    Unwritable { what: &'static str, value: u64, bytes: u32 },
}

impl Object {
    /// The file's bytes. Numbers too large for the word are cut to the largest word, which readers
    /// reject; [`Object::to_file`] reports them instead.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.write().0
    }

    /// The file's bytes, or what does not fit the architecture's words.
    pub fn to_file(&self) -> Result<Vec<u8>, ObjectError> {
        match self.write() {
            (bytes, None) => Ok(bytes),
            (_, Some(error)) => Err(error),
        }
    }

    fn write(&self) -> (Vec<u8>, Option<ObjectError>) {
        let mut out = Writer { out: MAGIC.to_vec(), arch: self.arch, error: None };
        out.name(&self.arch.to_string());
        let none = self.arch.word_mask();
        out.word("entry", self.entry.map_or(none, |i| i as u64));
        out.word("number of chunks", self.chunks.len() as u64);
        let table = out.out.len();
        let word = self.arch.bytes as usize;
        out.out.resize(table + word * self.chunks.len(), 0);
        for (i, chunk) in self.chunks.iter().enumerate() {
            let offset = out.fit("offset of a chunk", out.out.len() as u64);
            out.out[table + i * word..][..word].copy_from_slice(&offset.to_le_bytes()[..word]);
            out.chunk(chunk);
        }
        (out.out, out.error)
    }

    /// Reads an object file.
    pub fn from_bytes(data: &[u8]) -> Result<Object, ObjectError> {
        if !data.starts_with(MAGIC) {
            return Err(ObjectError::Magic);
        }
        let mut input = Reader { data, pos: MAGIC.len(), word: 1 };
        let arch: Arch = input.text("architecture")?.parse().map_err(ObjectError::Arch)?;
        input.word = arch.bytes as usize;
        let entry = input.word("entry")?;
        let count = input.bounded("number of chunks", (data.len() / input.word) as u64)?;
        let offsets =
            (0..count).map(|_| input.word("chunk offsets")).collect::<Result<Vec<u64>, ObjectError>>()?;
        let mut chunks = Vec::new();
        let mut used = input.pos;
        for offset in offsets {
            input.pos = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
            let start = input.pos;
            chunks.push(input.chunk()?);
            // Chunks may not share bytes, or a small file could name a large chunk many times.
            used = used.saturating_add(input.pos - start);
            if used > data.len() {
                return Err(ObjectError::Overlap { offset: start });
            }
        }
        let mut object = Object { arch, entry: usize::try_from(entry).ok(), chunks };
        object.entry = object.entry.filter(|&i| i < object.chunks.len());
        object.infer_text();
        Ok(object)
    }

    /// Marks code in files of the original tool: executable chunks that decode completely.
    fn infer_text(&mut self) {
        let Ok(codec) = Codec::new(self.arch) else { return };
        if self.chunks.iter().any(|c| c.text) {
            return;
        }
        for chunk in &mut self.chunks {
            let mut rest = &chunk.contents[..];
            chunk.text = chunk.perms.execute && !rest.is_empty() && chunk.size == rest.len() as u64;
            while chunk.text && !rest.is_empty() {
                match codec.decode(rest) {
                    Ok((_, size)) => rest = &rest[size as usize..],
                    Err(_) => chunk.text = false,
                }
            }
        }
    }
}

struct Writer {
    out: Vec<u8>,
    arch: Arch,
    error: Option<ObjectError>,
}

impl Writer {
    fn fit(&mut self, what: &'static str, value: u64) -> u64 {
        let mask = self.arch.word_mask();
        if value > mask && self.error.is_none() {
            self.error = Some(ObjectError::Unwritable { what, value, bytes: self.arch.bytes });
        }
        value.min(mask)
    }

    fn word(&mut self, what: &'static str, value: u64) {
        let value = self.fit(what, value);
        self.out.extend_from_slice(&value.to_le_bytes()[..self.arch.bytes as usize]);
    }

    fn pad(&mut self) {
        self.out.resize(self.out.len().next_multiple_of(self.arch.bytes as usize), 0);
    }

    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(0);
        self.pad();
    }

    fn chunk(&mut self, chunk: &Chunk) {
        self.name(&chunk.name);
        self.word("alignment", chunk.align);
        self.word("permissions", chunk.perms.to_bits());
        let flags = (u64::from(chunk.global) * GLOBAL) | (u64::from(chunk.text) * TEXT);
        self.word("flags", flags);
        self.word("address", chunk.address.unwrap_or(0));
        self.word("size of a chunk", chunk.size);
        self.word("stored size of a chunk", chunk.contents.len() as u64);
        self.word("number of references", chunk.refs.len() as u64);
        for r in &chunk.refs {
            self.name(&r.name);
            self.word("reference flags", u64::from(r.relative) * RELATIVE);
            self.word("reference base", r.base);
            self.word("reference offset", r.offset);
            self.word("reference width", r.bits.into());
        }
        self.out.extend_from_slice(&chunk.contents);
        self.pad();
    }
}

struct Reader<'a> {
    data: &'a [u8],
    pos: usize,
    word: usize,
}

impl Reader<'_> {
    fn truncated(&self, what: &'static str) -> ObjectError {
        ObjectError::Truncated { what, end: self.data.len() }
    }

    /// The next word at a word boundary of the file.
    fn word(&mut self, what: &'static str) -> Result<u64, ObjectError> {
        let at = self.pos.next_multiple_of(self.word);
        let bytes = self.data.get(at..at + self.word).ok_or_else(|| self.truncated(what))?;
        self.pos = at + self.word;
        Ok(bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)))
    }

    fn bounded(&mut self, what: &'static str, limit: u64) -> Result<u64, ObjectError> {
        let value = self.word(what)?;
        if value > limit {
            return Err(ObjectError::TooLarge { what, offset: self.pos - self.word, value, limit });
        }
        Ok(value)
    }

    fn text(&mut self, what: &'static str) -> Result<&str, ObjectError> {
        let (start, rest) = (self.pos, &self.data[self.pos..]);
        let len = rest.iter().position(|&b| b == 0).ok_or_else(|| self.truncated(what))?;
        self.pos += len + 1;
        std::str::from_utf8(&rest[..len]).map_err(|_| ObjectError::Name { what, offset: start })
    }

    fn chunk(&mut self) -> Result<Chunk, ObjectError> {
        let name = self.text("a chunk")?.to_string();
        let align = self.bounded("alignment", MAX_IMAGE)?;
        let perms = Perms::from_bits(self.word("permissions")?);
        let flags = self.word("flags")?;
        let address = Some(self.bounded("address", MAX_IMAGE)?).filter(|&a| a != 0);
        let size = self.bounded("size of a chunk", MAX_IMAGE)?;
        let stored = self.bounded("stored size of a chunk", size.min(self.data.len() as u64))?;
        let count = self.bounded("number of references", (self.data.len() / (5 * self.word)) as u64)?;
        let refs = (0..count).map(|_| self.reference()).collect::<Result<Vec<Ref>, ObjectError>>()?;
        let start = self.pos.next_multiple_of(self.word).min(self.data.len());
        let contents = self.data[start..].get(..stored as usize).ok_or_else(|| self.truncated("contents"))?;
        self.pos = start + contents.len();
        Ok(Chunk {
            name,
            align,
            perms,
            global: flags & GLOBAL != 0,
            text: flags & TEXT != 0,
            contents: contents.to_vec(),
            size,
            address,
            refs,
            lines: Vec::new(),
        })
    }

    fn reference(&mut self) -> Result<Ref, ObjectError> {
        let name = self.text("a reference")?.to_string();
        let relative = self.word("reference flags")? & RELATIVE != 0;
        let base = self.bounded("reference base", MAX_IMAGE)?;
        let offset = self.bounded("reference offset", MAX_IMAGE)?;
        let bits = self.bounded("reference width", 64)? as u32;
        Ok(Ref { name, relative, base, offset, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;
    use crate::harp::assemble;
    use crate::harp::testing::Lcg;

    const SOURCE: &str = "
        .perm x
        .entry
        .global
        main: ldi %r1, table
              jali %r7, other
              @p0 ? jmpi main
              halt
        .perm rw
        .align 16
        table: .word 1 -2 main
        name:  .string \"hi\\n\"
        bss:   .space 100
    ";

    fn object(arch: &str) -> Object {
        assemble(&SourceFile::new("t.s", SOURCE), &arch.parse().unwrap()).unwrap()
    }

    #[test]
    fn files_round_trip() {
        for arch in ["4w8/1", "8w32/32/8/8", "4b8/1", "3b8/2", "2b8/1"] {
            let mut object = object(arch);
            let bytes = object.to_file().unwrap();
            assert_eq!(bytes, object.to_bytes());
            let read = Object::from_bytes(&bytes).unwrap();
            object.chunks.iter_mut().for_each(|c| c.lines.clear());
            assert_eq!(read, object);
            assert_eq!(read.chunks.last().unwrap().contents.len(), 0, "reserved space takes no file space");
        }
    }

    #[test]
    fn code_of_the_original_tool_is_recognised() {
        let mut object = object("4w8/1");
        object.chunks.iter_mut().for_each(|c| c.text = false);
        let read = Object::from_bytes(&object.to_bytes()).unwrap();
        let text: Vec<bool> = read.chunks.iter().map(|c| c.text).collect();
        assert_eq!(text, [true, false, false, false]);
    }

    #[test]
    fn one_byte_words_hold_small_files_only() {
        let object = assemble(&SourceFile::new("t.s", ".space 300"), &"2b8/1".parse().unwrap()).unwrap();
        assert!(object.to_file().is_ok());
        let mut object = object;
        object.arch = "1b8/1".parse().unwrap();
        let error = object.to_file().unwrap_err().to_string();
        assert!(error.contains("600") && error.contains("1-byte words"), "{error}");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = object("4w8/1").to_bytes();
        for len in 0..bytes.len() {
            // Losing only padding or nothing that is read may still succeed, but never panics.
            let _ = Object::from_bytes(&bytes[..len]);
        }
        assert_eq!(Object::from_bytes(b"ELF"), Err(ObjectError::Magic));
        assert!(matches!(Object::from_bytes(&bytes[..40]), Err(ObjectError::Truncated { .. })));
        let message = Object::from_bytes(b"HARP9w8/1\0").unwrap_err().to_string();
        assert!(message.contains("bytes per word must be 1 to 8"), "{message}");
    }

    #[test]
    fn garbage_never_panics() {
        let good = object("4w8/1").to_bytes();
        let mut random = Lcg(5);
        for _ in 0..3000 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(6) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
            if let Ok(object) = Object::from_bytes(&bytes) {
                let _ = crate::harp::link(&[object]).map(|image| crate::harp::disassemble(&image));
            }
        }
    }

    #[test]
    fn a_chunk_named_many_times_is_refused() {
        let arch: Arch = "4w8/1".parse().unwrap();
        let chunk = Chunk { contents: vec![0; 4000], size: 4000, ..Chunk::default() };
        let mut chunks = vec![Chunk::default(); 50];
        chunks.push(chunk);
        let mut bytes = Object { arch, entry: None, chunks }.to_bytes();
        // "HARP4w8/1\0" padded to 12, entry, count, then the offsets.
        let last: [u8; 4] = bytes[20 + 4 * 50..][..4].try_into().unwrap();
        for i in 0..50 {
            bytes[20 + 4 * i..][..4].copy_from_slice(&last);
        }
        assert!(matches!(Object::from_bytes(&bytes), Err(ObjectError::Overlap { .. })));
    }
}
