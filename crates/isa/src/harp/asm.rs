//! The assembler: one pass over statements that fills chunks. References stay open until linking;
//! an error skips to the end of its statement, so that one run reports several.

use super::arch::{Arch, Encoding};
use super::encode::Codec;
use super::expr::{Cursor, Defs, Value};
use super::lexer::{Tok, Token, tokens};
use super::link::{Fault, Image, LinkError, link_all};
use super::object::{Chunk, MAX_IMAGE, Object, Perms, Ref};
use super::statement::{Statement, instruction};
use crate::diag::MAX_ERRORS;
use crate::diag::nearest;
use crate::{AsmError, SourceFile};
use std::collections::HashMap;
use std::ops::Range;

const DIRECTIVES: &[&str] =
    &[".def", ".perm", ".byte", ".word", ".space", ".string", ".align", ".entry", ".global"];

/// Assembles one file into an object; labels of other files stay open.
pub fn assemble(file: &SourceFile, arch: &Arch) -> Result<Object, Vec<AsmError>> {
    Assembler::run(file, arch).map(|assembler| assembler.object())
}

/// Assembles a file that is a whole program; every label must be defined in it.
pub fn assemble_program(file: &SourceFile, arch: &Arch) -> Result<Image, Vec<AsmError>> {
    let assembler = Assembler::run(file, arch)?;
    let object = assembler.object();
    link_all(std::slice::from_ref(&object))
        .map_err(|faults| faults.into_iter().take(MAX_ERRORS).map(|f| assembler.link_error(f)).collect())
}

struct Assembler<'a> {
    file: &'a SourceFile,
    arch: Arch,
    codec: Codec,
    defs: Defs,
    labels: HashMap<String, Range<usize>>,
    chunks: Vec<Chunk>,
    /// Where each reference of each chunk stands in the source.
    sites: Vec<Vec<Range<usize>>>,
    /// The last chunk takes more: code, data, or not at all.
    open: Option<bool>,
    /// Labels waiting for the chunk they name.
    pending: Vec<String>,
    perms: Perms,
    /// For the next chunk only.
    align: Option<u64>,
    entry_next: Option<Range<usize>>,
    global_next: Option<Range<usize>>,
    entry: Option<usize>,
    entry_seen: bool,
    /// Bytes reserved so far, all chunks.
    total: u64,
    errors: Vec<AsmError>,
}

impl<'a> Assembler<'a> {
    fn run(file: &'a SourceFile, arch: &Arch) -> Result<Self, Vec<AsmError>> {
        let codec = Codec::new(*arch).map_err(|why| vec![AsmError::new(file, 0..0, why, "")])?;
        let mut errors = Vec::new();
        let tokens = tokens(file, &mut errors);
        let mut assembler = Assembler {
            file,
            arch: *arch,
            codec,
            defs: Defs::from([("__WORD".to_string(), arch.bytes.into())]),
            labels: HashMap::new(),
            chunks: Vec::new(),
            sites: Vec::new(),
            open: None,
            pending: Vec::new(),
            perms: Perms { read: true, ..Perms::default() },
            align: None,
            entry_next: None,
            global_next: None,
            entry: None,
            entry_seen: false,
            total: 0,
            errors,
        };
        for statement in tokens.split_inclusive(|t| t.tok == Tok::End) {
            assembler.statement(statement);
            if assembler.errors.len() >= MAX_ERRORS {
                break;
            }
        }
        assembler.finish()
    }

    fn finish(mut self) -> Result<Self, Vec<AsmError>> {
        if !self.pending.is_empty() {
            // Labels at the very end name the place behind the program.
            let align = self.align.take().unwrap_or(1);
            self.new_chunk(false, align);
        }
        for at in [self.entry_next.take(), self.global_next.take()].into_iter().flatten() {
            self.errors.push(AsmError::new(
                self.file,
                at,
                "nothing follows this directive",
                "applies to nothing",
            ));
        }
        if self.errors.is_empty() {
            return Ok(self);
        }
        self.errors.sort_by_key(|e| e.span.offset());
        Err(self.errors)
    }

    fn object(&self) -> Object {
        Object { arch: self.arch, entry: self.entry, chunks: self.chunks.clone() }
    }

    fn statement(&mut self, tokens: &[Token]) {
        let Some((end, body)) = tokens.split_last() else { return };
        let file = self.file;
        let mut cursor = Cursor { file, tokens: body, pos: 0, end: end.span.clone() };
        while let [Token { tok: Tok::Name(name), span, .. }, Token { tok: Tok::Punct(':'), .. }, ..] =
            &body[cursor.pos..]
        {
            cursor.pos += 2;
            if self.errors.len() < MAX_ERRORS {
                self.label(name, span.clone());
            }
        }
        let result = match cursor.peek() {
            None => Ok(()),
            Some(Tok::Name(name)) if name.starts_with('.') => self.directive(name, &mut cursor),
            Some(_) => self.code(&mut cursor),
        };
        if let Err(error) = result {
            self.errors.push(error);
        }
    }

    fn label(&mut self, name: &str, span: Range<usize>) {
        if self.defs.contains_key(name) {
            let message = format!("`{name}` is already a constant");
            self.errors.push(AsmError::new(self.file, span, message, "cannot be a label too"));
            return;
        }
        if let Some(first) = self.labels.insert(name.to_string(), span.clone()) {
            let (line, _) = self.file.line_column(first.start);
            let error =
                AsmError::new(self.file, span, format!("label `{name}` is defined twice"), "again here");
            self.errors.push(error.hint(format!("the first one is in line {line}")));
            return;
        }
        self.open = None;
        self.pending.push(name.to_string());
    }

    /// Starts a chunk for the pending labels; all but the last become empty chunks at its address.
    fn new_chunk(&mut self, text: bool, default_align: u64) -> &mut Chunk {
        let align = self.align.take().unwrap_or(default_align);
        let align = if text && self.arch.encoding == Encoding::Word {
            align.next_multiple_of(self.arch.bytes.into())
        } else {
            align
        };
        let global = self.global_next.take();
        let mut names = std::mem::take(&mut self.pending);
        let last = names.pop();
        if let (Some(at), None) = (&global, &last) {
            let error = AsmError::new(self.file, at.clone(), ".global without a label", "names nothing");
            self.errors.push(error.hint("write the label that other files may use after it"));
        }
        let global = global.is_some();
        let chunk =
            |name: String, text| Chunk { name, align, perms: self.perms, global, text, ..Chunk::default() };
        let empty: Vec<Chunk> = names.into_iter().map(|name| chunk(name, false)).collect();
        let full = chunk(last.unwrap_or_default(), text);
        self.chunks.extend(empty);
        if self.entry_next.take().is_some() {
            self.entry = Some(self.chunks.len());
        }
        self.chunks.push(full);
        self.sites.resize(self.chunks.len(), Vec::new());
        self.open = Some(text);
        let at = self.chunks.len() - 1;
        &mut self.chunks[at]
    }

    /// The chunk that takes code or data now.
    fn chunk(&mut self, text: bool) -> &mut Chunk {
        if self.open != Some(text) {
            let align = if text { 1 } else { self.arch.bytes.into() };
            return self.new_chunk(text, align);
        }
        let at = self.chunks.len() - 1;
        &mut self.chunks[at]
    }

    /// Accounts for `bytes` more in memory.
    fn reserve(&mut self, cursor: &Cursor, bytes: u64) -> Result<(), AsmError> {
        self.total = self.total.saturating_add(bytes);
        if self.total > MAX_IMAGE {
            let error = cursor.error("the program is too large", "no room for this");
            return Err(error.hint(format!("a program may have at most {MAX_IMAGE} bytes")));
        }
        Ok(())
    }

    /// Appends bytes of data; reserved space before them becomes real zeros.
    fn data(&mut self, cursor: &Cursor, bytes: &[u8]) -> Result<(), AsmError> {
        self.reserve(cursor, bytes.len() as u64)?;
        let chunk = self.chunk(false);
        chunk.contents.resize(chunk.size as usize, 0);
        chunk.contents.extend_from_slice(bytes);
        chunk.size = chunk.contents.len() as u64;
        Ok(())
    }

    fn code(&mut self, cursor: &mut Cursor) -> Result<(), AsmError> {
        let (line, start) = (cursor.tokens[cursor.pos].line, cursor.pos);
        let Statement { inst, label } = instruction(cursor, &self.codec, &self.arch, &self.defs)?;
        let codec = self.codec;
        self.reserve(cursor, codec.size(inst.op).into())?;
        let file = self.file;
        let chunk = self.chunk(true);
        let at = chunk.contents.len() as u64;
        let span = cursor.since(start);
        codec
            .encode(&inst, &mut chunk.contents)
            .map_err(|e| AsmError::new(file, span, e.to_string(), "cannot be encoded"))?;
        chunk.size = chunk.contents.len() as u64;
        chunk.lines.push((at as u32, line));
        if let (Some((name, span)), Some((bits, offset))) = (label, codec.immediate_field(inst.op)) {
            let base = chunk.size;
            let relative = inst.op.relative();
            chunk.refs.push(Ref { name, relative, base, offset: at + u64::from(offset), bits });
            self.site(span);
        }
        Ok(())
    }

    fn site(&mut self, span: Range<usize>) {
        if let Some(sites) = self.sites.last_mut() {
            sites.push(span);
        }
    }

    fn directive(&mut self, name: &str, cursor: &mut Cursor) -> Result<(), AsmError> {
        let at = cursor.span();
        cursor.pos += 1;
        match name {
            ".def" => self.define(cursor)?,
            ".perm" => self.permissions(cursor)?,
            ".word" => self.words(cursor)?,
            ".byte" => self.bytes(cursor)?,
            ".space" => {
                let words = self.size(cursor, "a number of words")?;
                let bytes = words.saturating_mul(self.arch.bytes.into());
                self.reserve(cursor, bytes)?;
                self.chunk(false).size += bytes;
            }
            ".string" => {
                let Some(Tok::Str(text)) = cursor.peek() else {
                    let message = format!(".string needs a text in quotes, found {}", cursor.found());
                    return Err(cursor.error(message, "here"));
                };
                let bytes = [text, &[0][..]].concat();
                self.data(cursor, &bytes)?;
                cursor.pos += 1;
            }
            ".align" => {
                self.align = Some(self.size(cursor, "a number of bytes")?.max(1));
                self.open = None;
            }
            ".entry" => {
                if std::mem::replace(&mut self.entry_seen, true) {
                    return Err(AsmError::new(self.file, at, "second .entry", "the program has one entry"));
                }
                self.entry_next = Some(at);
                self.open = None;
            }
            ".global" => {
                self.global_next = Some(at);
                self.open = None;
            }
            _ => {
                let error = AsmError::new(self.file, at, format!("unknown directive `{name}`"), "here");
                return Err(match nearest(name, DIRECTIVES.iter().copied()) {
                    Some(close) => error.hint(format!("did you mean `{close}`?")),
                    None => error.hint(format!("directives are {}", DIRECTIVES.join(" "))),
                });
            }
        }
        if cursor.peek().is_some() {
            return Err(
                cursor.error(format!("unexpected {} after `{name}`", cursor.found()), "too much here")
            );
        }
        Ok(())
    }

    fn define(&mut self, cursor: &mut Cursor) -> Result<(), AsmError> {
        let Some(Tok::Name(name)) = cursor.peek() else {
            let error = cursor.error(format!(".def needs a name, found {}", cursor.found()), "here");
            return Err(error.hint("write: .def NAME 12"));
        };
        if self.defs.contains_key(name) || self.labels.contains_key(name) {
            return Err(cursor.error(format!("`{name}` is defined twice"), "already has a meaning"));
        }
        cursor.pos += 1;
        let value = cursor.constant(&self.arch, &self.defs)?;
        self.defs.insert(name.clone(), value);
        Ok(())
    }

    fn permissions(&mut self, cursor: &mut Cursor) -> Result<(), AsmError> {
        let mut perms = Perms::default();
        while let Some(token) = cursor.peek() {
            let wrong = || {
                let message = format!("permissions are the letters r, w and x, found {}", cursor.found());
                cursor.error(message, "here").hint("write: .perm rw")
            };
            let Tok::Name(letters) = token else { return Err(wrong()) };
            for letter in letters.chars() {
                match letter {
                    'r' => perms.read = true,
                    'w' => perms.write = true,
                    'x' => perms.execute = true,
                    _ => return Err(wrong()),
                }
            }
            cursor.pos += 1;
        }
        self.perms = perms;
        self.open = None;
        Ok(())
    }

    fn size(&self, cursor: &mut Cursor, what: &str) -> Result<u64, AsmError> {
        let start = cursor.pos;
        let value = cursor.constant(&self.arch, &self.defs)?;
        u64::try_from(value).ok().filter(|&v| v <= MAX_IMAGE).ok_or_else(|| {
            let message = format!("{value} is not {what} between 0 and {MAX_IMAGE}");
            AsmError::new(self.file, cursor.since(start), message, "out of range")
        })
    }

    fn words(&mut self, cursor: &mut Cursor) -> Result<(), AsmError> {
        let bytes = self.arch.bytes as usize;
        self.list(cursor, |asm, cursor, value, span| match value {
            Value::Number(number) => {
                let word = asm.in_bits(number, asm.arch.bits(), &span)?;
                asm.data(cursor, &word.to_le_bytes()[..bytes])
            }
            Value::Label(name) => {
                asm.data(cursor, &[0; 8][..bytes])?;
                let bits = asm.arch.bits();
                let chunk = asm.chunk(false);
                let (base, offset) = (chunk.size, chunk.size - bytes as u64);
                chunk.refs.push(Ref { name, relative: false, base, offset, bits });
                asm.site(span);
                Ok(())
            }
        })
    }

    fn bytes(&mut self, cursor: &mut Cursor) -> Result<(), AsmError> {
        self.list(cursor, |asm, cursor, value, span| match value {
            Value::Number(number) => {
                let byte = asm.in_bits(number, 8, &span)?;
                asm.data(cursor, &[byte as u8])
            }
            Value::Label(name) => {
                let message = format!("`{name}` is not a constant");
                Err(AsmError::new(asm.file, span, message, "an address does not fit a byte"))
            }
        })
    }

    /// Values up to the end of the statement, with or without commas.
    fn list(
        &mut self,
        cursor: &mut Cursor,
        mut each: impl FnMut(&mut Self, &Cursor, Value, Range<usize>) -> Result<(), AsmError>,
    ) -> Result<(), AsmError> {
        if cursor.peek().is_none() {
            return Err(cursor.error("expected at least one number", "missing here"));
        }
        while cursor.peek().is_some() {
            let start = cursor.pos;
            let value = cursor.value(&self.arch, &self.defs)?;
            each(self, cursor, value, cursor.since(start))?;
            cursor.take(',');
        }
        Ok(())
    }

    fn in_bits(&self, number: i128, bits: u32, span: &Range<usize>) -> Result<u64, AsmError> {
        let (low, high) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
        if number < low || number > high {
            let message = format!("{number} does not fit {bits} bits");
            return Err(AsmError::new(self.file, span.clone(), message, format!("must be {low} to {high}")));
        }
        Ok(number as u64)
    }

    /// A link error of a single-file program, pointing at the use.
    fn link_error(&self, fault: Fault) -> AsmError {
        let site = fault.site.and_then(|(_, chunk, i)| self.sites.get(chunk)?.get(i).cloned());
        match fault.error {
            LinkError::Undefined { name } => {
                let error = AsmError::new(
                    self.file,
                    site.unwrap_or(0..0),
                    format!("undefined label `{name}`"),
                    "nothing has this name",
                );
                let names = self.labels.keys().chain(self.defs.keys()).map(String::as_str);
                let hint = if self.defs.contains_key(&name) {
                    format!("`.def {name}` comes after this use; move it up")
                } else if let Some(close) = nearest(&name, sorted(names)) {
                    format!("did you mean `{close}`?")
                } else {
                    format!("define it with `{name}:` or `.def {name} …`")
                };
                error.hint(hint)
            }
            error @ LinkError::OutOfReach { .. } => {
                AsmError::new(self.file, site.unwrap_or(0..0), error.to_string(), "too far away").hint(
                    "move the label closer, or keep its address in a .word and use ld with jmpr or jalr",
                )
            }
            error => AsmError::new(self.file, site.unwrap_or(0..0), error.to_string(), ""),
        }
    }
}

/// Sorted, so that hints do not depend on hash order.
fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}
