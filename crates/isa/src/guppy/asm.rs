//! The assembler: source text to [`Module`]. It reads line by line, goes on after an error, and
//! resolves labels last; every error points at the words it is about. Operands are in `operand.rs`.

use super::inst::{Args, Inst};
use super::lexer::{Kind, Token, is_label, tokens};
use super::module::{MAX_LABEL, Module};
use super::operand::{Fault, Found, Operand};
use super::table::{ALIASES, Op, Slot, TABLE, usage};
use crate::diag::MAX_ERRORS;
use crate::diag::nearest;
use crate::{AsmError, Pc, SourceFile};
use std::collections::HashMap;
use std::ops::Range;

/// Assembles a program; on failure all errors found, in source order.
pub fn assemble(file: &SourceFile) -> Result<Module, Vec<AsmError>> {
    let mut asm = Assembler::new(file);
    let mut base = 0;
    for (number, line) in (1..).zip(file.text.split_inclusive('\n')) {
        asm.line(number, line, base);
        base += line.len();
        if asm.errors.len() >= MAX_ERRORS {
            break;
        }
    }
    asm.finish()
}

/// Letters in order: equal for words that differ only by swapped letters.
fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// A label used before it may be known: instruction, which target, and where the name stands.
struct Reference<'a> {
    pc: usize,
    target: usize,
    name: &'a str,
    span: Range<usize>,
}

struct Assembler<'a> {
    file: &'a SourceFile,
    parts: Vec<(Op, Args)>,
    lines: Vec<u32>,
    labels: Vec<(String, Pc)>,
    /// Pc and line of each label.
    defined: HashMap<&'a str, (Pc, u32)>,
    references: Vec<Reference<'a>>,
    errors: Vec<AsmError>,
}

impl<'a> Assembler<'a> {
    fn new(file: &'a SourceFile) -> Self {
        Assembler {
            file,
            parts: Vec::new(),
            lines: Vec::new(),
            labels: Vec::new(),
            defined: HashMap::new(),
            references: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn report(&mut self, fault: Fault) {
        self.errors.push(fault.into_error());
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault::new(self.file, span, message, label)
    }

    fn line(&mut self, number: u32, line: &'a str, base: usize) {
        let all = tokens(line, base);
        let mut rest = all.as_slice();
        while let [name, colon, after @ ..] = rest {
            if colon.kind != Kind::Colon {
                break;
            }
            self.label(number, name);
            rest = after;
        }
        if let [mnemonic, operands @ ..] = rest {
            self.instruction(number, mnemonic, operands);
        }
    }

    fn label(&mut self, number: u32, name: &Token<'a>) {
        if name.kind != Kind::Word || !is_label(name.text) {
            let error =
                self.error(name.span.clone(), format!("`{}` cannot name a label", name.text), "bad name");
            self.report(error.hint("a label is a letter or _, then letters, digits, _, . or $"));
        } else if name.text.len() > MAX_LABEL {
            let error = self.error(name.span.clone(), "this label is too long", "too long");
            self.report(error.hint(format!("a label has at most {MAX_LABEL} characters")));
        } else if let Some((_, first)) = self.defined.get(name.text) {
            let message = format!("label {} is defined twice", name.text);
            let hint = format!("it already stands in line {first}; rename one of them");
            self.report(self.error(name.span.clone(), message, "second definition").hint(hint));
        } else {
            let pc = self.parts.len() as Pc;
            self.defined.insert(name.text, (pc, number));
            self.labels.push((name.text.to_string(), pc));
        }
    }

    fn instruction(&mut self, number: u32, mnemonic: &Token<'a>, tokens: &[Token<'a>]) {
        // A failed instruction still takes its place, so that labels behind it stay right.
        let pc = self.parts.len();
        self.lines.push(number);
        let Some(op) = Op::from_mnemonic(mnemonic.text) else {
            self.parts.push((Op::Ret, Args::default()));
            let error = self.unknown(mnemonic, tokens);
            return self.report(error);
        };
        let mut args = Args::default();
        match self.split(op, mnemonic, tokens) {
            Ok(operands) => {
                for (&slot, operand) in op.line().slots.iter().zip(operands) {
                    if let Err(error) = self.operand(pc, slot, operand, &mut args) {
                        self.report(error);
                    }
                }
            }
            Err(error) => self.report(error),
        }
        self.parts.push((op, args));
    }

    /// Operands as token lists: as many as the opcode wants, none empty.
    fn split<'t>(
        &self,
        op: Op,
        mnemonic: &Token<'a>,
        tokens: &'t [Token<'a>],
    ) -> Result<Vec<&'t [Token<'a>]>, Fault> {
        let hint = format!("write it as: {}", usage(op));
        let mut depth = 0u32;
        let operands: Vec<&[Token]> = if tokens.is_empty() {
            Vec::new()
        } else {
            let comma = |t: &Token| {
                match t.kind {
                    Kind::Open => depth += 1,
                    Kind::Close => depth = depth.saturating_sub(1),
                    _ => {}
                }
                t.kind == Kind::Comma && depth == 0
            };
            tokens.split(comma).collect()
        };
        let wanted = op.line().slots.len();
        let whole = mnemonic.span.start..tokens.last().unwrap_or(mnemonic).span.end;
        if operands.len() > 1 && operands.iter().any(|o| o.is_empty()) {
            return Err(self.error(whole, "there is nothing between two commas", "empty operand").hint(hint));
        }
        if operands.len() == wanted {
            return Ok(operands);
        }
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("{} takes {wanted} operand{plural}, not {}", mnemonic.text, operands.len());
        let span = match operands.get(wanted).and_then(|extra| extra.first()) {
            Some(extra) => extra.span.start..whole.end,
            None => whole,
        };
        let label = if operands.len() < wanted { "operands missing" } else { "one too many" };
        Err(self.error(span, message, label).hint(hint))
    }

    fn operand(&mut self, pc: usize, slot: Slot, tokens: &[Token<'a>], args: &mut Args) -> Result<(), Fault> {
        let operand = Operand { file: self.file, tokens };
        match slot {
            Slot::Label(target) => {
                let word = operand.label()?;
                let reference = Reference { pc, target, name: word.text, span: word.span.clone() };
                self.references.push(reference);
            }
            Slot::Dst => args.dst = operand.written(slot)?,
            Slot::WriteView => args.view = operand.written(slot)?,
            Slot::ReadView => match operand.parse()? {
                Found::Read(place) => args.view = place,
                other => return Err(operand.unexpected(slot, &other)),
            },
            Slot::Sampler => match operand.parse()? {
                Found::Sampler(index) => args.sampler = index,
                other => return Err(operand.unexpected(slot, &other)),
            },
            Slot::Src(i) | Slot::One(i) | Slot::Pair(i) => args.src[i] = operand.value(slot)?,
        }
        Ok(())
    }

    fn unknown(&self, mnemonic: &Token, operands: &[Token]) -> Fault {
        let word = mnemonic.text;
        let error =
            |label: &str| self.error(mnemonic.span.clone(), format!("unknown instruction `{word}`"), label);
        let names = || TABLE.iter().map(|l| l.mnemonic).chain(ALIASES.iter().map(|a| a.0));
        let suffixed = |suffix: &str| names().find(|n| n.strip_suffix(suffix) == Some(word));
        let typed: Vec<&str> = [".f32", ".u32"].iter().filter_map(|s| suffixed(s)).collect();
        if mnemonic.kind != Kind::Word {
            return self.error(
                mnemonic.span.clone(),
                format!("`{word}` cannot start a line"),
                "not expected",
            );
        }
        if !typed.is_empty() {
            let hint = format!("say which type it works on: {}", typed.join(" or "));
            return error("type suffix missing").hint(hint);
        }
        let lower = word.to_ascii_lowercase();
        if Op::from_mnemonic(&lower).is_some() {
            return error("not lower case").hint(format!("instructions are written in lower case: {lower}"));
        }
        let untyped = lower.split_once('.').and_then(|(plain, _)| Op::from_mnemonic(plain));
        if let Some(op) = untyped {
            return error("no type suffix here").hint(format!("did you mean {}?", op.line().mnemonic));
        }
        let swapped = names().find(|n| sorted(n) == sorted(&lower));
        match nearest(&lower, names()).or(swapped) {
            Some(name) => error("no such instruction").hint(format!("did you mean {name}?")),
            None if operands.is_empty() && is_label(word) => {
                error("no such instruction").hint(format!("a label ends with a colon: {word}:"))
            }
            None => error("no such instruction")
                .hint(format!("there are: {}", TABLE.map(|l| l.mnemonic).join(" "))),
        }
    }

    fn resolve(&mut self) {
        for r in std::mem::take(&mut self.references) {
            if let Some(&(pc, _)) = self.defined.get(r.name) {
                self.parts[r.pc].1.target[r.target] = pc;
                continue;
            }
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            let message = format!("label {} is not defined", r.name);
            let hint = match nearest(r.name, self.labels.iter().map(|l| l.0.as_str())) {
                Some(name) => format!("did you mean {name}?"),
                None => format!("put a line `{}:` before the instruction it names", r.name),
            };
            self.report(self.error(r.span, message, "no such label").hint(hint));
        }
    }

    fn finish(mut self) -> Result<Module, Vec<AsmError>> {
        if self.errors.len() < MAX_ERRORS {
            self.resolve();
        }
        if self.parts.is_empty() && self.errors.is_empty() {
            let error = self.error(0..0, "the program has no instructions", "nothing to assemble");
            self.report(error.hint("the shortest program is: ret"));
        }
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|e| e.span.offset());
            return Err(self.errors);
        }
        let insts = self.parts.into_iter().map(|(op, args)| Inst::new(op, args)).collect();
        Ok(Module { insts, labels: self.labels, lines: self.lines })
    }
}
