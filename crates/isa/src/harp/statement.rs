//! One instruction statement: predicate, mnemonic and operands, checked against the opcode table.

use super::arch::Arch;
use super::encode::{Codec, EncodeError};
use super::expr::{Cursor, Defs, Value};
use super::inst::Inst;
use super::lexer::Tok;
use super::table::{Op, Slot, TABLE};
use crate::AsmError;
use crate::diag::nearest;
use std::ops::Range;

/// An instruction whose immediate may still be a label.
pub(super) struct Statement {
    pub inst: Inst,
    pub label: Option<(String, Range<usize>)>,
}

/// Parses `[@pN ?] mnemonic operands`; the whole statement must be used up.
pub(super) fn instruction(
    cursor: &mut Cursor,
    codec: &Codec,
    arch: &Arch,
    defs: &Defs,
) -> Result<Statement, AsmError> {
    let pred = match cursor.peek() {
        Some(Tok::Pred(_)) => Some(prefix(cursor, arch)?),
        _ => None,
    };
    let Some(Tok::Name(name)) = cursor.peek() else {
        return Err(cursor.error(format!("expected an instruction, found {}", cursor.found()), "here"));
    };
    let Some(op) = Op::from_name(name) else { return Err(unknown(cursor, name)) };
    cursor.pos += 1;
    let mut statement = Statement { inst: Inst { pred, ..Inst::new(op) }, label: None };
    for (i, &slot) in op.entry().slots.iter().enumerate() {
        if i > 0 {
            cursor.take(',');
        }
        let missing = |cursor: &Cursor, what: &str| {
            let message = format!("`{name}` needs {what} as operand {}, found {}", i + 1, cursor.found());
            cursor.error(message, "here").hint(format!("write: {}", op.entry().usage()))
        };
        match (slot, cursor.peek()) {
            (Slot::Dest | Slot::Src, Some(Tok::Reg(_))) => statement.inst.r[i] = register(cursor, arch)?,
            (Slot::Dest | Slot::Src, _) => return Err(missing(cursor, "a register")),
            (Slot::PredDest | Slot::PredSrc, Some(Tok::Pred(_))) => {
                statement.inst.r[i] = predicate(cursor, arch)?;
            }
            (Slot::PredDest | Slot::PredSrc, _) => return Err(missing(cursor, "a predicate")),
            (Slot::Imm, Some(Tok::Punct('#' | '(') | Tok::Name(_))) => {
                immediate(cursor, codec, arch, defs, &mut statement)?;
            }
            (Slot::Imm, Some(Tok::Int(_) | Tok::Float(_) | Tok::Punct('-' | '+'))) => {
                let error = missing(cursor, "an immediate");
                return Err(error.hint("immediates start with #, as in #12"));
            }
            (Slot::Imm, _) => return Err(missing(cursor, "an immediate or a label")),
        }
    }
    if cursor.peek().is_some() {
        let error = cursor.error(format!("unexpected {} after `{name}`", cursor.found()), "too much here");
        return Err(error.hint(format!("write: {}", op.entry().usage())));
    }
    Ok(statement)
}

fn prefix(cursor: &mut Cursor, arch: &Arch) -> Result<u8, AsmError> {
    let pred = predicate(cursor, arch)?;
    if !cursor.take('?') {
        let error =
            cursor.error(format!("expected `?` after the predicate, found {}", cursor.found()), "here");
        return Err(error.hint("a predicated instruction is written @p0 ? addi %r1, %r1, #1"));
    }
    Ok(pred)
}

fn unknown(cursor: &Cursor, name: &str) -> AsmError {
    let error = cursor.error(format!("unknown instruction `{name}`"), "not a HARP instruction");
    let word = name.to_ascii_lowercase();
    // Of equally close names, the one that shares most at both ends is the likeliest.
    let mut names: Vec<&str> = TABLE.iter().map(|e| e.name).collect();
    let shared = |n: &str| {
        let front = n.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
        front + n.bytes().rev().zip(word.bytes().rev()).take_while(|(a, b)| a == b).count()
    };
    names.sort_by_key(|n| std::cmp::Reverse(shared(n)));
    match nearest(&word, names) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint(format!("a label is written `{name}:`, a directive starts with a dot")),
    }
}

fn register(cursor: &mut Cursor, arch: &Arch) -> Result<u8, AsmError> {
    let Some(Tok::Reg(name)) = cursor.peek() else {
        return Err(cursor.error("expected a register", "here"));
    };
    let special = |below: u32| arch.gprs.checked_sub(below);
    let number = match name.as_str() {
        "ra" => special(1),
        "sp" => special(2),
        "fp" => special(3),
        _ => numbered(name, 'r'),
    };
    let Some(number) = number.filter(|&n| n < arch.gprs) else {
        let error = cursor.error(format!("there is no register `%{name}`"), format!("not in {arch}"));
        let last = arch.gprs - 1;
        return Err(
            error.hint(format!("registers are %r0 to %r{last}, and %ra, %sp, %fp are the last three"))
        );
    };
    cursor.pos += 1;
    Ok(number as u8)
}

fn predicate(cursor: &mut Cursor, arch: &Arch) -> Result<u8, AsmError> {
    let Some(Tok::Pred(name)) = cursor.peek() else {
        return Err(cursor.error("expected a predicate", "here"));
    };
    let Some(number) = numbered(name, 'p').filter(|&n| n < arch.preds) else {
        let error = cursor.error(format!("there is no predicate `@{name}`"), format!("not in {arch}"));
        return Err(error.hint(format!("predicates are @p0 to @p{}", arch.preds - 1)));
    };
    cursor.pos += 1;
    Ok(number as u8)
}

/// The number in `r12` or `p3`.
fn numbered(name: &str, letter: char) -> Option<u32> {
    let digits = name.strip_prefix(letter)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn immediate(
    cursor: &mut Cursor,
    codec: &Codec,
    arch: &Arch,
    defs: &Defs,
    statement: &mut Statement,
) -> Result<(), AsmError> {
    let start = cursor.pos;
    let value = if cursor.take('#') {
        match cursor.peek() {
            Some(Tok::Punct('(')) => cursor.value(arch, defs)?,
            Some(Tok::Name(name)) => {
                let error = cursor.error(format!("`#{name}` is not a number"), "a name");
                return Err(error.hint(format!("labels and constants are written without #: {name}")));
            }
            _ => Value::Number(cursor.number(arch)?),
        }
    } else {
        cursor.value(arch, defs)?
    };
    let span = cursor.since(start);
    match value {
        Value::Label(name) => statement.label = Some((name, span)),
        Value::Number(number) => {
            statement.inst.imm = codec.fit_immediate(statement.inst.op, number).map_err(|error| {
                let (low, high) = match error {
                    EncodeError::Immediate { low, high, .. } => (low, high),
                    _ => (0, 0),
                };
                AsmError::new(cursor.file, span, error.to_string(), format!("must be {low} to {high}"))
                    .hint("store the value with .word and load it with ld, or build it with shli and ori")
            })?;
        }
    }
    Ok(())
}
