//! One instruction or pseudo-instruction: mnemonic and operands become instructions, some with an expression that is
//! filled in when addresses are known (RISC-V assembly programmer's manual, tables of pseudo-instructions).

use super::expr::{Cursor, Expr};
use crate::AsmError;
use crate::diag::nearest;
use crate::vortex::inst::{DYNAMIC, Inst};
use crate::vortex::table::{File, Format, Op, TABLE};

/// How an expression goes into an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fix {
    /// As it is.
    Value,
    /// As the distance from the instruction.
    Distance,
}

#[derive(Clone, Debug)]
pub(super) struct Code {
    pub inst: Inst,
    pub fix: Option<(Fix, Expr)>,
}

impl Code {
    fn plain(inst: Inst) -> Code {
        Code { inst, fix: None }
    }

    fn with(inst: Inst, fix: Fix, expr: Expr) -> Code {
        Code { inst, fix: Some((fix, expr)) }
    }
}

const PSEUDO: &[&str] = &[
    "nop",
    "li",
    "la",
    "mv",
    "not",
    "neg",
    "zext.b",
    "seqz",
    "snez",
    "sltz",
    "sgtz",
    "beqz",
    "bnez",
    "blez",
    "bgez",
    "bltz",
    "bgtz",
    "bgt",
    "ble",
    "bgtu",
    "bleu",
    "j",
    "jr",
    "call",
    "tail",
    "ret",
    "csrr",
    "csrw",
    "csrs",
    "csrc",
    "csrwi",
    "csrsi",
    "csrci",
    "frcsr",
    "fscsr",
    "frrm",
    "fsrm",
    "frflags",
    "fsflags",
    "fsrmi",
    "fsflagsi",
    "fmv.s",
    "fabs.s",
    "fneg.s",
    "fgt.s",
    "fge.s",
    "rdcycle",
    "rdcycleh",
    "rdinstret",
    "rdinstreth",
    "unimp",
];

/// The instructions of the statement `name` whose operands are at the cursor. `constant` evaluates what must be known
/// now.
pub(super) fn instructions(
    name: &str,
    name_span: std::ops::Range<usize>,
    cursor: &mut Cursor,
    constant: &dyn Fn(&Expr) -> Result<i64, Box<AsmError>>,
) -> Result<Vec<Code>, Box<AsmError>> {
    let code = match pseudo(name, cursor, constant)? {
        Some(code) => code,
        None => {
            let (base, order) = ordered(name);
            let Some(op) = Op::from_name(base) else {
                let all = TABLE.iter().map(|e| e.name).chain(PSEUDO.iter().copied());
                let error = AsmError::new(
                    cursor.file,
                    name_span,
                    format!("there is no instruction `{name}`"),
                    "unknown",
                );
                return Err(Box::new(match nearest(name, all) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint("RV32IMAF, Zicsr, Zicond and vx_… instructions (docs/vortex.md)"),
                }));
            };
            let usage = |e: AsmError| {
                let hint = format!("{} {}", base, op.entry().format.usage());
                Box::new(if e.hint.is_none() { e.hint(hint) } else { e })
            };
            vec![real(op, order, cursor).map_err(usage)?]
        }
    };
    cursor.end()?;
    Ok(code)
}

/// Splits `.aq`, `.rl` and `.aqrl` off an atomic's name.
fn ordered(name: &str) -> (&str, u8) {
    for (suffix, bits) in [(".aqrl", 3), (".aq", 2), (".rl", 1)] {
        if let Some(base) = name.strip_suffix(suffix) {
            return (base, bits);
        }
    }
    (name, 0)
}

/// An instruction of the table.
fn real(op: Op, order: u8, c: &mut Cursor) -> Result<Code, AsmError> {
    let e = op.entry();
    let [d, a, b, third] = e.files;
    let mut inst = Inst { rm: order, ..Inst::new(op) };
    let code = match e.format {
        Format::Three | Format::Round3 => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs1 = c.register(a)?;
            c.need(',')?;
            inst.rs2 = c.register(b)?;
            Code::plain(inst)
        }
        Format::Two | Format::Round2 => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs1 = c.register(a)?;
            Code::plain(inst)
        }
        Format::Round4 => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs1 = c.register(a)?;
            c.need(',')?;
            inst.rs2 = c.register(b)?;
            c.need(',')?;
            inst.rs3 = c.register(third)?;
            Code::plain(inst)
        }
        Format::Immediate | Format::Shift => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs1 = c.register(a)?;
            c.need(',')?;
            Code::with(inst, Fix::Value, c.expr()?)
        }
        Format::Load => {
            // `jalr a0` and `jalr 8(a0)` link in ra.
            if op == Op::Jalr && (!c.at_register() || c.tokens.len() == c.pos + 1) {
                inst.rd = 1;
            } else {
                inst.rd = c.register(d)?;
                c.need(',')?;
            }
            address(inst, c)?
        }
        Format::Store => {
            inst.rs2 = c.register(b)?;
            c.need(',')?;
            address(inst, c)?
        }
        Format::Branch => {
            inst.rs1 = c.register(a)?;
            c.need(',')?;
            inst.rs2 = c.register(b)?;
            c.need(',')?;
            Code::with(inst, Fix::Distance, c.expr()?)
        }
        Format::Upper => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            Code::with(inst, Fix::Value, c.expr()?)
        }
        Format::Jump => {
            inst.rd = 1;
            if c.at_register() {
                inst.rd = c.register(d)?;
                c.need(',')?;
            }
            Code::with(inst, Fix::Distance, c.expr()?)
        }
        Format::Fence => {
            inst.imm = 0xff;
            if !c.at_end() {
                let before = accesses(c)?;
                c.need(',')?;
                inst.imm = before << 4 | accesses(c)?;
            }
            Code::plain(inst)
        }
        Format::Bare => Code::plain(inst),
        Format::Csr => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            let csr = c.csr()?;
            c.need(',')?;
            inst.rs1 = c.register(a)?;
            Code::with(inst, Fix::Value, csr)
        }
        Format::CsrImmediate => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            let csr = c.csr()?;
            c.need(',')?;
            inst.rs1 = five_bits(c)?;
            Code::with(inst, Fix::Value, csr)
        }
        Format::Atomic => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs2 = c.register(b)?;
            c.need(',')?;
            inst.rs1 = in_parentheses(c)?;
            Code::plain(inst)
        }
        Format::Reserve => {
            inst.rd = c.register(d)?;
            c.need(',')?;
            inst.rs1 = in_parentheses(c)?;
            Code::plain(inst)
        }
        Format::Source1 => {
            inst.rs1 = c.register(a)?;
            Code::plain(inst)
        }
        Format::Source2 => {
            inst.rs1 = c.register(a)?;
            c.need(',')?;
            inst.rs2 = c.register(b)?;
            Code::plain(inst)
        }
    };
    if matches!(e.format, Format::Round2 | Format::Round3 | Format::Round4) {
        let rm = c.rounding()?.unwrap_or(DYNAMIC);
        return Ok(Code { inst: Inst { rm, ..code.inst }, ..code });
    }
    Ok(code)
}

/// `imm(rs1)`, `(rs1)`, or for `jalr` just `rs1`.
fn address(mut inst: Inst, c: &mut Cursor) -> Result<Code, AsmError> {
    if inst.op == Op::Jalr && c.at_register() {
        inst.rs1 = c.register(File::X)?;
        return Ok(Code::plain(inst));
    }
    if c.is('(') {
        inst.rs1 = in_parentheses(c)?;
        return Ok(Code::plain(inst));
    }
    let offset = c.expr()?;
    inst.rs1 = in_parentheses(c)?;
    Ok(Code::with(inst, Fix::Value, offset))
}

fn in_parentheses(c: &mut Cursor) -> Result<u8, AsmError> {
    c.need('(')?;
    let register = c.register(File::X)?;
    c.need(')')?;
    Ok(register)
}

fn five_bits(c: &mut Cursor) -> Result<u8, AsmError> {
    let error = c.error("expected a number from 0 to 31", "0 to 31");
    match c.expr()? {
        Expr::Number(n @ 0..=31) => Ok(n as u8),
        _ => Err(error),
    }
}

/// Letters of `iorw`, or 0.
fn accesses(c: &mut Cursor) -> Result<i32, AsmError> {
    let error = c.error("expected letters of `iorw`, or 0", "not a set of accesses");
    if c.peek() == Some(&super::lexer::Tok::Number(0)) {
        c.pos += 1;
        return Ok(0);
    }
    let Some(name) = c.name() else { return Err(error) };
    let mut set = 0;
    for letter in name.chars() {
        match "iorw".find(letter) {
            Some(at) if set >> (3 - at) & 1 == 0 => set |= 1 << (3 - at),
            _ => return Err(error),
        }
    }
    Ok(set)
}

/// Pseudo-instructions; none if `name` is not one.
fn pseudo(
    name: &str,
    c: &mut Cursor,
    constant: &dyn Fn(&Expr) -> Result<i64, Box<AsmError>>,
) -> Result<Option<Vec<Code>>, Box<AsmError>> {
    if !PSEUDO.contains(&name) {
        return Ok(None);
    }
    let inst = |op, rd, rs1, rs2, imm| Inst { rd, rs1, rs2, imm, ..Inst::new(op) };
    let one = |inst: Inst| Ok(Some(vec![Code::plain(inst)]));
    // Two registers of a file.
    let pair = |c: &mut Cursor, file| -> Result<(u8, u8), AsmError> {
        let d = c.register(file)?;
        c.need(',')?;
        Ok((d, c.register(file)?))
    };
    match name {
        "nop" => one(inst(Op::Addi, 0, 0, 0, 0)),
        "ret" => one(inst(Op::Jalr, 0, 1, 0, 0)),
        "unimp" => one(inst(Op::Csrrw, 0, 0, 0, 0xc00)),
        "mv" => pair(c, File::X).map(|(d, s)| inst(Op::Addi, d, s, 0, 0)).map_err(Box::new).and_then(one),
        "not" => pair(c, File::X).map(|(d, s)| inst(Op::Xori, d, s, 0, -1)).map_err(Box::new).and_then(one),
        "neg" => pair(c, File::X).map(|(d, s)| inst(Op::Sub, d, 0, s, 0)).map_err(Box::new).and_then(one),
        "zext.b" => {
            pair(c, File::X).map(|(d, s)| inst(Op::Andi, d, s, 0, 255)).map_err(Box::new).and_then(one)
        }
        "seqz" => pair(c, File::X).map(|(d, s)| inst(Op::Sltiu, d, s, 0, 1)).map_err(Box::new).and_then(one),
        "snez" => pair(c, File::X).map(|(d, s)| inst(Op::Sltu, d, 0, s, 0)).map_err(Box::new).and_then(one),
        "sltz" => pair(c, File::X).map(|(d, s)| inst(Op::Slt, d, s, 0, 0)).map_err(Box::new).and_then(one),
        "sgtz" => pair(c, File::X).map(|(d, s)| inst(Op::Slt, d, 0, s, 0)).map_err(Box::new).and_then(one),
        "fmv.s" | "fabs.s" | "fneg.s" => {
            let (d, s) = pair(c, File::F)?;
            let op = match name {
                "fmv.s" => Op::Fsgnj,
                "fneg.s" => Op::Fsgnjn,
                _ => Op::Fsgnjx,
            };
            one(inst(op, d, s, s, 0))
        }
        "fgt.s" | "fge.s" => {
            let d = c.register(File::X)?;
            c.need(',')?;
            let (a, b) = pair(c, File::F)?;
            one(inst(if name == "fgt.s" { Op::Flt } else { Op::Fle }, d, b, a, 0))
        }
        "li" => {
            let d = c.register(File::X)?;
            c.need(',')?;
            let expr = c.expr()?;
            let span = c.tokens.last().map_or(0..0, |t| t.span.clone());
            let value = constant(&expr)?;
            if !(-(1i64 << 31)..1 << 32).contains(&value) {
                let error =
                    AsmError::new(c.file, span, format!("{value} has more than 32 bits"), "too large");
                return Err(Box::new(error));
            }
            Ok(Some(load_constant(d, value as u32)))
        }
        "la" => {
            let d = c.register(File::X)?;
            c.need(',')?;
            let expr = c.expr()?;
            let high = Expr::High(Box::new(expr.clone()));
            let low = Expr::Low(Box::new(expr));
            Ok(Some(vec![
                Code::with(inst(Op::Lui, d, 0, 0, 0), Fix::Value, high),
                Code::with(inst(Op::Addi, d, d, 0, 0), Fix::Value, low),
            ]))
        }
        "j" | "call" | "tail" => {
            let link = u8::from(name == "call");
            let code = Code::with(inst(Op::Jal, link, 0, 0, 0), Fix::Distance, c.expr()?);
            Ok(Some(vec![code]))
        }
        "jr" => Ok(Some(vec![address(inst(Op::Jalr, 0, 0, 0, 0), c)?])),
        "rdcycle" | "rdcycleh" | "rdinstret" | "rdinstreth" => {
            let csr = crate::vortex::exec::csr_number(&name[2..]).unwrap_or(0);
            one(inst(Op::Csrrs, c.register(File::X)?, 0, 0, csr as i32))
        }
        _ if name.starts_with('b') => branch(name, c).map(|code| Some(vec![code])).map_err(Box::new),
        _ => csr_pseudo(name, c).map(|code| Some(vec![code])).map_err(Box::new),
    }
}

/// A 32-bit constant in one or two instructions, as compilers do it.
fn load_constant(d: u8, value: u32) -> Vec<Code> {
    let low = (value as i32) << 20 >> 20;
    let high = value.wrapping_sub(low as u32) >> 12;
    let add = |rs1| Code::plain(Inst { rd: d, rs1, imm: low, ..Inst::new(Op::Addi) });
    if high == 0 {
        return vec![add(0)];
    }
    let lui = Code::plain(Inst { rd: d, imm: high as i32, ..Inst::new(Op::Lui) });
    if low == 0 { vec![lui] } else { vec![lui, add(d)] }
}

/// Branches against zero, and those with their operands swapped.
fn branch(name: &str, c: &mut Cursor) -> Result<Code, AsmError> {
    let first = c.register(File::X)?;
    c.need(',')?;
    let (op, rs1, rs2) = match name {
        "beqz" => (Op::Beq, first, 0),
        "bnez" => (Op::Bne, first, 0),
        "blez" => (Op::Bge, 0, first),
        "bgez" => (Op::Bge, first, 0),
        "bltz" => (Op::Blt, first, 0),
        "bgtz" => (Op::Blt, 0, first),
        _ => {
            let second = c.register(File::X)?;
            c.need(',')?;
            let op = match name {
                "bgt" => Op::Blt,
                "ble" => Op::Bge,
                "bgtu" => Op::Bltu,
                _ => Op::Bgeu,
            };
            (op, second, first)
        }
    };
    Ok(Code::with(Inst { rs1, rs2, ..Inst::new(op) }, Fix::Distance, c.expr()?))
}

fn csr_pseudo(name: &str, c: &mut Cursor) -> Result<Code, AsmError> {
    if let Some(rest) = name.strip_prefix("fr") {
        let rd = c.register(File::X)?;
        return Ok(Code::plain(Inst { rd, imm: float_csr(rest), ..Inst::new(Op::Csrrs) }));
    }
    if let Some(rest) = name.strip_prefix("fs") {
        let immediate = rest.ends_with('i');
        let op = if immediate { Op::Csrrwi } else { Op::Csrrw };
        let imm = float_csr(rest.trim_end_matches('i'));
        let mut inst = Inst { imm, ..Inst::new(op) };
        let two = c.tokens[c.pos..].iter().any(|t| t.tok == super::lexer::Tok::Punct(','));
        if two {
            inst.rd = c.register(File::X)?;
            c.need(',')?;
        }
        inst.rs1 = if immediate { five_bits(c)? } else { c.register(File::X)? };
        return Ok(Code::plain(inst));
    }
    if name == "csrr" {
        let rd = c.register(File::X)?;
        c.need(',')?;
        return Ok(Code::with(Inst { rd, ..Inst::new(Op::Csrrs) }, Fix::Value, c.csr()?));
    }
    let csr = c.csr()?;
    c.need(',')?;
    let op = match name {
        "csrw" => Op::Csrrw,
        "csrs" => Op::Csrrs,
        "csrc" => Op::Csrrc,
        "csrwi" => Op::Csrrwi,
        "csrsi" => Op::Csrrsi,
        _ => Op::Csrrci,
    };
    let rs1 = if name.ends_with('i') { five_bits(c)? } else { c.register(File::X)? };
    Ok(Code::with(Inst { rs1, ..Inst::new(op) }, Fix::Value, csr))
}

fn float_csr(name: &str) -> i32 {
    match name {
        "flags" => 1,
        "rm" => 2,
        _ => 3,
    }
}
