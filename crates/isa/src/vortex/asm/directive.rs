//! Directives: sections, data, alignment, constants, and `.insn r` for instructions that have no name.

use super::expr::{Cursor, Expr};
use super::lexer::{Tok, Token};
use super::{Assembler, Hole, MAX_SECTION, Open, Section, Symbol};
use crate::AsmError;
use crate::diag::nearest;
use crate::vortex::inst::Inst;
use crate::vortex::table::File;
use std::ops::Range;

const DIRECTIVES: &[&str] = &[
    ".text",
    ".data",
    ".rodata",
    ".bss",
    ".section",
    ".globl",
    ".global",
    ".local",
    ".type",
    ".size",
    ".file",
    ".option",
    ".attribute",
    ".p2align",
    ".align",
    ".balign",
    ".byte",
    ".half",
    ".word",
    ".long",
    ".float",
    ".space",
    ".zero",
    ".skip",
    ".ascii",
    ".asciz",
    ".string",
    ".equ",
    ".set",
    ".insn",
];

impl Assembler<'_> {
    pub(super) fn directive(
        &mut self,
        name: &str,
        span: Range<usize>,
        tokens: &[Token],
        line: u32,
    ) -> Result<(), Box<AsmError>> {
        let seen = self.local.clone();
        let local = |n: u32| seen.get(&n).copied().unwrap_or(0);
        let mut c = Cursor { file: self.file, tokens, pos: 0, local: &local };
        match name {
            ".text" => self.section = Section::Text,
            ".data" | ".rodata" | ".bss" => self.section = Section::Data,
            ".section" => {
                let text = c.name().is_some_and(|n| n.starts_with(".text") || n.starts_with(".init"));
                self.section = if text { Section::Text } else { Section::Data };
                return Ok(());
            }
            // What other assemblers need and this one knows.
            ".globl" | ".global" | ".local" | ".type" | ".size" | ".file" | ".option" | ".attribute" => {
                return Ok(());
            }
            ".p2align" | ".align" | ".balign" => {
                let n = self.constant(&c.expr()?)?;
                let bytes =
                    if name == ".balign" { n } else { 1i64.checked_shl(n.max(0) as u32).unwrap_or(0) };
                if !(1..=4096).contains(&bytes) || bytes.count_ones() != 1 {
                    return Err(Box::new(
                        c.error("alignment must be a power of two up to 4096 bytes", "too far"),
                    ));
                }
                let end = self.here().next_multiple_of(bytes as usize);
                self.grow(end, &span)?;
            }
            ".byte" => self.data_list(&mut c, 1)?,
            ".half" => self.data_list(&mut c, 2)?,
            ".word" | ".long" => self.data_list(&mut c, 4)?,
            ".float" => self.floats(&mut c)?,
            ".space" | ".zero" | ".skip" => {
                let n = self.constant(&c.expr()?)?;
                let end = usize::try_from(n).ok().and_then(|n| self.here().checked_add(n));
                self.grow(end.unwrap_or(usize::MAX), &span)?;
            }
            ".ascii" | ".asciz" | ".string" => {
                let Some(Tok::Text(text)) = c.peek() else {
                    return Err(Box::new(c.error("expected a string in quotes", "not a string")));
                };
                c.pos += 1;
                let end: &[u8] = if name == ".ascii" { &[] } else { &[0] };
                let bytes = self.bytes();
                bytes.extend_from_slice(text);
                bytes.extend_from_slice(end);
            }
            ".equ" | ".set" => {
                let at = c.span();
                let Some(symbol) = c.name() else {
                    return Err(Box::new(c.error("expected a name", "not a name")));
                };
                c.need(',')?;
                let value = self.constant(&c.expr()?)?;
                if matches!(self.symbols.get(symbol), Some(Symbol::Label(..))) {
                    let error =
                        AsmError::new(self.file, at, format!("`{symbol}` is a label"), "already defined");
                    return Err(Box::new(error));
                }
                self.symbols.insert(symbol.to_owned(), Symbol::Absolute(value));
            }
            ".insn" => return self.insn(&mut c, span, line),
            _ => {
                let error =
                    AsmError::new(self.file, span, format!("there is no directive `{name}`"), "unknown");
                return Err(Box::new(match nearest(name, DIRECTIVES.iter().copied()) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint(DIRECTIVES.join(" ")),
                }));
            }
        }
        c.end()?;
        Ok(())
    }

    /// Zeroes up to `end`.
    fn grow(&mut self, end: usize, span: &Range<usize>) -> Result<(), Box<AsmError>> {
        if end > MAX_SECTION {
            let message = format!("a section holds at most {MAX_SECTION} bytes");
            return Err(Box::new(AsmError::new(self.file, span.clone(), message, "too large")));
        }
        self.bytes().resize(end, 0);
        Ok(())
    }

    fn data_list(&mut self, c: &mut Cursor, bytes: usize) -> Result<(), Box<AsmError>> {
        loop {
            let start = c.span().start;
            let expr = c.expr()?;
            let span = start..c.tokens[c.pos - 1].span.end;
            let (section, at) = (self.section, self.here());
            self.open.push(Open { section, at, what: Hole::Data(bytes), expr, span });
            self.bytes().resize(at + bytes, 0);
            if !c.take(',') {
                return Ok(());
            }
        }
    }

    fn floats(&mut self, c: &mut Cursor) -> Result<(), Box<AsmError>> {
        loop {
            let sign = if c.take('-') { -1.0 } else { 1.0 };
            let value = match c.peek() {
                Some(Tok::Float(v)) => *v,
                Some(Tok::Number(n)) => *n as f32,
                Some(Tok::Name(n)) if n == "inf" => f32::INFINITY,
                Some(Tok::Name(n)) if n == "nan" => f32::from_bits(0x7fc0_0000),
                _ => {
                    return Err(Box::new(
                        c.error("expected a number", "not a number").hint("1.5, -2, inf, nan"),
                    ));
                }
            };
            c.pos += 1;
            let bits = value.to_bits() ^ if sign < 0.0 { 1 << 31 } else { 0 };
            self.bytes().extend(bits.to_le_bytes());
            if !c.take(',') {
                return Ok(());
            }
        }
    }

    /// `.insn r opcode, funct3, funct7, rd, rs1, rs2`: any instruction of the machine by its fields.
    fn insn(&mut self, c: &mut Cursor, span: Range<usize>, line: u32) -> Result<(), Box<AsmError>> {
        if c.name() != Some("r") {
            c.pos = 0;
            return Err(Box::new(c.error("only the format `r` is known", "not r")));
        }
        let mut fields = [0; 3];
        for (field, limit) in fields.iter_mut().zip([0x7f, 7, 0x7f]) {
            let place = c.span();
            let value = self.constant(&c.expr()?)?;
            if !(0..=limit).contains(&value) {
                let message = format!("{value} does not fit the field: 0 to {limit}");
                return Err(Box::new(AsmError::new(self.file, place, message, "too large")));
            }
            *field = value as u32;
            c.need(',')?;
        }
        let mut registers = [0; 3];
        for (i, register) in registers.iter_mut().enumerate() {
            if i > 0 {
                c.need(',')?;
            }
            let floats = matches!(c.peek(), Some(Tok::Name(n)) if crate::vortex::names::register(n).is_some_and(|r| r >= 32));
            *register = u32::from(c.register(if floats { File::F } else { File::X })?);
        }
        c.end()?;
        let [opcode, funct3, funct7] = fields;
        let [rd, rs1, rs2] = registers;
        let word = opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
        let end = c.tokens.last().map_or(span.end, |t| t.span.end);
        let inst = Inst::decode(word)
            .map_err(|e| AsmError::new(self.file, span.start..end, e.to_string(), "no such instruction"))?;
        self.instruction(inst, None::<(super::Fix, Expr)>, span.start..end, line)
    }
}
