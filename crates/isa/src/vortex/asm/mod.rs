//! The assembler: RISC-V assembly with labels, sections and pseudo-instructions into an image at its final addresses.
//! One pass collects bytes and open expressions, then sections get their addresses and expressions their values; an
//! error skips to the end of its statement, so that one run reports several.

mod directive;
mod expr;
mod lexer;
mod statement;

use self::expr::{Cursor, Expr, local_name};
use self::lexer::{Tok, Token, statements};
use self::statement::{Fix, instructions};
use super::TEXT;
use super::inst::Inst;
use crate::diag::MAX_ERRORS;
use crate::diag::nearest;
use crate::{AsmError, SourceFile};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Bytes of a section.
const MAX_SECTION: usize = 64 << 20;
/// Data starts on a line of its own.
const DATA_ALIGN: u32 = 64;

/// A program at its final addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Where the instructions are.
    pub text: Range<u32>,
    /// `_start`, or the first instruction.
    pub entry: u32,
    /// Labels, by address.
    pub symbols: Vec<(String, u32)>,
    /// Source line of each address that has one.
    pub lines: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Text,
    Data,
}

/// Something to fill in when addresses are known.
struct Open {
    section: Section,
    at: usize,
    what: Hole,
    expr: Expr,
    span: Range<usize>,
}

enum Hole {
    /// An instruction's immediate.
    Inst(Inst, Fix),
    /// Bytes of data.
    Data(usize),
}

#[derive(Clone, Debug)]
enum Symbol {
    Label(Section, usize),
    Absolute(i64),
}

struct Assembler<'a> {
    file: &'a SourceFile,
    /// Where the text starts.
    base: u32,
    text: Vec<u8>,
    data: Vec<u8>,
    section: Section,
    symbols: BTreeMap<String, Symbol>,
    /// Labels in the order they were written.
    order: Vec<String>,
    local: HashMap<u32, u32>,
    open: Vec<Open>,
    lines: Vec<(usize, u32)>,
    errors: Vec<AsmError>,
}

/// Assembles a file; all errors that were found, in the order of their places.
pub fn assemble(file: &SourceFile) -> Result<Image, Vec<AsmError>> {
    assemble_at(file, TEXT)
}

/// The same for a program that starts at an address.
pub fn assemble_at(file: &SourceFile, base: u32) -> Result<Image, Vec<AsmError>> {
    let mut a = Assembler {
        file,
        base,
        text: Vec::new(),
        data: Vec::new(),
        section: Section::Text,
        symbols: BTreeMap::new(),
        order: Vec::new(),
        local: HashMap::new(),
        open: Vec::new(),
        lines: Vec::new(),
        errors: Vec::new(),
    };
    let mut start = 0;
    for (number, line) in (1..).zip(file.text.split_inclusive('\n')) {
        match statements(file, line, start) {
            Ok(all) => all.iter().for_each(|tokens| a.statement(tokens, number)),
            Err(error) => a.errors.push(*error),
        }
        start += line.len();
        if a.errors.len() >= MAX_ERRORS {
            break;
        }
    }
    a.finish()
}

impl Assembler<'_> {
    fn statement(&mut self, tokens: &[Token], line: u32) {
        // A line can hold any number of them.
        if self.errors.len() < MAX_ERRORS
            && let Err(error) = self.try_statement(tokens, line)
        {
            self.errors.push(*error);
        }
    }

    fn try_statement(&mut self, mut tokens: &[Token], line: u32) -> Result<(), Box<AsmError>> {
        loop {
            match tokens {
                [Token { tok: Tok::Name(name), span }, Token { tok: Tok::Punct(':'), .. }, rest @ ..] => {
                    self.label(name, span)?;
                    tokens = rest;
                }
                [Token { tok: Tok::Number(n), .. }, Token { tok: Tok::Punct(':'), .. }, rest @ ..] => {
                    let number = *n as u32;
                    let which = self.local.entry(number).or_default();
                    *which += 1;
                    let name = local_name(number, *which);
                    let here = Symbol::Label(self.section, self.here());
                    self.symbols.insert(name, here);
                    tokens = rest;
                }
                _ => break,
            }
        }
        let [Token { tok, span }, rest @ ..] = tokens else { return Ok(()) };
        let Tok::Name(name) = tok else {
            let found = &self.file.text[span.clone()];
            let error = AsmError::new(
                self.file,
                span.clone(),
                format!("`{found}` starts no statement"),
                "not an instruction",
            );
            return Err(Box::new(error.hint("an instruction, a directive or `label:`")));
        };
        if name.starts_with('.') {
            return self.directive(name, span.clone(), rest, line);
        }
        let local = |n: u32| self.local.get(&n).copied().unwrap_or(0);
        let mut cursor = Cursor { file: self.file, tokens: rest, pos: 0, local: &local };
        let code = instructions(name, span.clone(), &mut cursor, &|e| self.constant(e))?;
        let whole = span.start..tokens.last().map_or(span.end, |t| t.span.end);
        for c in code {
            self.instruction(c.inst, c.fix, whole.clone(), line)?;
        }
        Ok(())
    }

    fn here(&self) -> usize {
        match self.section {
            Section::Text => self.text.len(),
            Section::Data => self.data.len(),
        }
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        match self.section {
            Section::Text => &mut self.text,
            Section::Data => &mut self.data,
        }
    }

    fn label(&mut self, name: &str, span: &Range<usize>) -> Result<(), Box<AsmError>> {
        let wrong = |message: String, label: &str| {
            Err(Box::new(AsmError::new(self.file, span.clone(), message, label.to_owned())))
        };
        if super::names::register(name).is_some() {
            return wrong(format!("`{name}` is a register"), "labels need another name");
        }
        if self.symbols.contains_key(name) {
            return wrong(format!("`{name}` is defined twice"), "second definition");
        }
        let here = Symbol::Label(self.section, self.here());
        self.symbols.insert(name.to_owned(), here);
        self.order.push(name.to_owned());
        Ok(())
    }

    fn instruction(
        &mut self,
        inst: Inst,
        fix: Option<(Fix, Expr)>,
        span: Range<usize>,
        line: u32,
    ) -> Result<(), Box<AsmError>> {
        if self.section != Section::Text {
            let error = AsmError::new(self.file, span, "an instruction in the data section", "not in .text");
            return Err(Box::new(error.hint("write .text before instructions")));
        }
        if !self.text.len().is_multiple_of(4) {
            let error =
                AsmError::new(self.file, span, "an instruction at an odd address", "not a multiple of 4");
            return Err(Box::new(error.hint("write .align 2 after data in the text section")));
        }
        let at = self.text.len();
        self.lines.push((at, line));
        self.text.extend(inst.encode().to_le_bytes());
        if let Some((fix, expr)) = fix {
            self.open.push(Open { section: Section::Text, at, what: Hole::Inst(inst, fix), expr, span });
        }
        Ok(())
    }

    /// The value of an expression of numbers and symbols set with `.equ`.
    fn constant(&self, expr: &Expr) -> Result<i64, Box<AsmError>> {
        let symbol = |name: &str| match self.symbols.get(name) {
            Some(Symbol::Absolute(value)) => Some(*value),
            _ => None,
        };
        expr.value(&symbol).map_err(|(name, span)| {
            let error = AsmError::new(
                self.file,
                span,
                format!("`{name}` is not a number that is known here"),
                "not a constant",
            );
            Box::new(error.hint("a number or a name set with .equ above; `la` loads the address of a label"))
        })
    }

    fn address(&self, section: Section, at: usize) -> u32 {
        let base = match section {
            Section::Text => self.base,
            Section::Data => (self.base + self.text.len() as u32).next_multiple_of(DATA_ALIGN),
        };
        base + at as u32
    }

    fn finish(mut self) -> Result<Image, Vec<AsmError>> {
        for open in std::mem::take(&mut self.open) {
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            if let Err(error) = self.fill(&open) {
                self.errors.push(*error);
            }
        }
        if self.text.is_empty() && self.errors.is_empty() {
            let error = AsmError::new(self.file, 0..0, "the program has no instructions", "nothing here");
            self.errors.push(error);
        }
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|e| e.span.offset());
            return Err(self.errors);
        }
        let (text, data) = (self.address(Section::Text, 0), self.address(Section::Data, 0));
        let resolve = |name: &String| match self.symbols.get(name) {
            Some(Symbol::Label(section, at)) => Some((name.clone(), self.address(*section, *at))),
            _ => None,
        };
        let symbols: Vec<(String, u32)> = self.order.iter().filter_map(resolve).collect();
        let entry = symbols.iter().find(|s| s.0 == "_start").map_or(text, |s| s.1);
        let mut segments = vec![(text, self.text)];
        if !self.data.is_empty() {
            segments.push((data, self.data));
        }
        Ok(Image {
            text: text..text + segments[0].1.len() as u32,
            segments,
            entry,
            symbols,
            lines: self.lines.iter().map(|&(at, line)| (text + at as u32, line)).collect(),
        })
    }

    fn fill(&mut self, open: &Open) -> Result<(), Box<AsmError>> {
        let symbol = |name: &str| match self.symbols.get(name)? {
            Symbol::Absolute(value) => Some(*value),
            Symbol::Label(section, at) => Some(self.address(*section, *at).into()),
        };
        let value = open.expr.value(&symbol).map_err(|(name, span)| {
            let shown = match name.split_once(':') {
                Some((number, _)) => format!("there is no label `{number}:` in that direction"),
                None => format!("there is no label `{name}`"),
            };
            let error = AsmError::new(self.file, span, shown, "undefined");
            Box::new(match nearest(&name, self.order.iter().map(String::as_str)) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            })
        })?;
        match &open.what {
            Hole::Inst(inst, fix) => {
                let value = match fix {
                    Fix::Value => value,
                    // A label's distance; a plain number is one already.
                    Fix::Distance if !has_symbol(&open.expr) => value,
                    Fix::Distance => value - i64::from(self.address(open.section, open.at)),
                };
                let error =
                    |why: String| Box::new(AsmError::new(self.file, open.span.clone(), why, "does not fit"));
                let imm = i32::try_from(value).map_err(|_| error(format!("{value} does not fit")))?;
                let inst = Inst { imm, ..*inst };
                inst.fits().map_err(error)?;
                self.text[open.at..open.at + 4].copy_from_slice(&inst.encode().to_le_bytes());
            }
            Hole::Data(bytes) => {
                let bits = 8 * *bytes as u32;
                if bits < 64 && !(-(1i64 << (bits - 1))..1 << bits).contains(&value) {
                    let message = format!("{value} does not fit {bytes} bytes");
                    return Err(Box::new(AsmError::new(self.file, open.span.clone(), message, "too large")));
                }
                let (at, bytes) = (open.at, *bytes);
                let section = match open.section {
                    Section::Text => &mut self.text,
                    Section::Data => &mut self.data,
                };
                section[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
        Ok(())
    }
}

fn has_symbol(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) => false,
        Expr::Symbol(..) => true,
        Expr::Negate(e) | Expr::Not(e) | Expr::High(e) | Expr::Low(e) => has_symbol(e),
        Expr::Binary(_, a, b) => has_symbol(a) || has_symbol(b),
    }
}
