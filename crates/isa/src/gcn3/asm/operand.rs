//! Operands and modifiers as written, before it is known which encoding they go into.

use super::cursor::{Cursor, Number, Parse};
use crate::diag::nearest;
use crate::gcn3::decode::scalar_tuple;
use crate::gcn3::gcn::Gcn;
use crate::gcn3::generation::Accumulators;
use crate::gcn3::operand::{InlineFloat, Operand, Ty, Window, sreg};
use std::ops::Range;

/// What stands in an operand place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Vector {
        first: u8,
        dwords: u8,
    },
    Accumulator {
        first: u8,
        dwords: u8,
    },
    Scalar {
        first: u8,
        dwords: u8,
    },
    /// src_scc and its kind.
    Status(Operand),
    Number(Number),
    /// `name@rel32@lo+4`: a distance to a label, known when the file is complete.
    Symbol(Distance),
    /// No address register.
    Off,
}

/// Half of the 64-bit distance from the literal it stands in to a label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distance {
    pub label: String,
    pub high: bool,
    pub addend: i64,
}

/// An operand with what is written around it.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub item: Item,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    pub span: Range<usize>,
}

/// `name` or `name:value` after the operands.
#[derive(Clone, Debug)]
pub(super) struct Modifier {
    pub name: String,
    pub value: Option<i128>,
    /// A value that is a word, such as `BYTE_0`.
    pub word: Option<String>,
    pub span: Range<usize>,
}

const NAMED: [(&str, u8, u8); 22] = [
    ("vcc", sreg::VCC, 2),
    ("vcc_lo", sreg::VCC, 1),
    ("vcc_hi", sreg::VCC + 1, 1),
    ("exec", sreg::EXEC, 2),
    ("exec_lo", sreg::EXEC, 1),
    ("exec_hi", sreg::EXEC + 1, 1),
    ("m0", sreg::M0, 1),
    ("flat_scratch", sreg::FLAT_SCRATCH, 2),
    ("flat_scratch_lo", sreg::FLAT_SCRATCH, 1),
    ("flat_scratch_hi", sreg::FLAT_SCRATCH + 1, 1),
    ("xnack_mask", sreg::XNACK_MASK, 2),
    ("xnack_mask_lo", sreg::XNACK_MASK, 1),
    ("xnack_mask_hi", sreg::XNACK_MASK + 1, 1),
    ("tba", sreg::TBA, 2),
    ("tba_lo", sreg::TBA, 1),
    ("tba_hi", sreg::TBA + 1, 1),
    ("tma", sreg::TMA, 2),
    ("tma_lo", sreg::TMA, 1),
    ("tma_hi", sreg::TMA + 1, 1),
    ("flat_scr", sreg::FLAT_SCRATCH, 2),
    ("flat_scr_lo", sreg::FLAT_SCRATCH, 1),
    ("flat_scr_hi", sreg::FLAT_SCRATCH + 1, 1),
];

const STATUS: [(&str, Operand); 8] = [
    ("src_vccz", Operand::VccZ),
    ("vccz", Operand::VccZ),
    ("src_execz", Operand::ExecZ),
    ("execz", Operand::ExecZ),
    ("src_scc", Operand::Scc),
    ("scc", Operand::Scc),
    ("src_lds_direct", Operand::LdsDirect),
    ("lds_direct", Operand::LdsDirect),
];

/// One operand with `-`, `|…|`, neg(), abs() and sext() around it.
pub(super) fn arg(c: &mut Cursor) -> Parse<Arg> {
    let start = c.here().start;
    let mut arg = Arg { item: Item::Off, neg: false, abs: false, sext: false, span: start..start };
    if !c.at_number() && c.eat('-') {
        arg.neg = true;
    }
    if c.eat('|') {
        arg.abs = true;
        arg.item = item(c)?;
        c.expect('|')?;
    } else {
        let word = c.peek_word();
        if matches!(word, "neg" | "abs" | "sext") {
            c.word();
            c.expect('(')?;
            let inner = self::arg(c)?;
            c.expect(')')?;
            arg = Arg {
                neg: arg.neg || inner.neg || word == "neg",
                abs: inner.abs || word == "abs",
                sext: inner.sext || word == "sext",
                item: inner.item,
                span: start..start,
            };
        } else {
            arg.item = item(c)?;
        }
    }
    arg.span = start..c.pos;
    Ok(arg)
}

fn item(c: &mut Cursor) -> Parse<Item> {
    if c.at_number() {
        return Ok(Item::Number(c.number()?.0));
    }
    if c.peek() == Some('[') {
        return register_list(c);
    }
    let here = c.here();
    let Some((word, span)) = c.word() else {
        return Err(c.error(here, "expected an operand", "here"));
    };
    if let Some((label, relocation)) = word.split_once('@') {
        return distance(c, label, relocation, span);
    }
    if word == "off" {
        return Ok(Item::Off);
    }
    if let Some(&(_, operand)) = STATUS.iter().find(|s| s.0 == word) {
        return Ok(Item::Status(operand));
    }
    let gcn = c.generation.gcn;
    let window = |w: &Window| w.name() == word || w.name().trim_start_matches("src_") == word;
    if let (Some(window), true) = (Window::ALL.into_iter().find(window), gcn > Gcn::Gfx8) {
        return Ok(Item::Status(Operand::Window(window)));
    }
    let ttmp = sreg::first_ttmp(gcn);
    let named = |n: &&(&str, u8, u8)| n.0 == word && !(ttmp..sreg::M0).contains(&n.1);
    if let Some(&(_, first, dwords)) = NAMED.iter().find(named) {
        return Ok(Item::Scalar { first, dwords });
    }
    let digits = word.trim_start_matches(|ch: char| ch.is_ascii_alphabetic());
    let prefix = &word[..word.len() - digits.len()];
    let (base, count) = match prefix {
        "v" => (0u32, 256u32),
        "a" if c.generation.accumulators != Accumulators::None => (0, 256),
        "s" => (0, sreg::COUNT.into()),
        "ttmp" => (ttmp.into(), u32::from(sreg::M0 - ttmp)),
        _ => return Err(unknown(c, word, span)),
    };
    let (first, last) = if digits.is_empty() && c.eat('[') {
        let first = c.int_in("a register number", 0, count as i128 - 1)? as u32;
        let last = if c.eat(':') {
            c.int_in("a register number", first.into(), count as i128 - 1)? as u32
        } else {
            first
        };
        c.expect(']')?;
        (first, last)
    } else {
        let Ok(n) = digits.parse::<u32>() else { return Err(unknown(c, word, span)) };
        if n >= count {
            let last = count - 1;
            return Err(c.error(span, format!("the last register is {prefix}{last}"), "does not exist"));
        }
        (n, n)
    };
    let dwords = (last - first + 1).min(255) as u8;
    let first = (base + first) as u8;
    Ok(match prefix {
        "v" => Item::Vector { first, dwords },
        "a" => Item::Accumulator { first, dwords },
        _ => Item::Scalar { first, dwords },
    })
}

/// `[s4,s5]`: registers that follow each other.
fn register_list(c: &mut Cursor) -> Parse<Item> {
    let start = c.here().start;
    c.expect('[')?;
    if c.peek() == Some('[') {
        let here = c.here();
        return Err(c.error(here, "a list of registers has no list in it", "here"));
    }
    let mut list = item(c)?;
    while c.eat(',') {
        if c.peek() == Some('[') {
            let here = c.here();
            return Err(c.error(here, "a list of registers has no list in it", "here"));
        }
        list = match (list, item(c)?) {
            (Item::Scalar { first, dwords }, Item::Scalar { first: next, dwords: 1 })
                if first.checked_add(dwords) == Some(next) =>
            {
                Item::Scalar { first, dwords: dwords + 1 }
            }
            (Item::Vector { first, dwords }, Item::Vector { first: next, dwords: 1 })
                if first.checked_add(dwords) == Some(next) =>
            {
                Item::Vector { first, dwords: dwords + 1 }
            }
            (Item::Accumulator { first, dwords }, Item::Accumulator { first: next, dwords: 1 })
                if first.checked_add(dwords) == Some(next) =>
            {
                Item::Accumulator { first, dwords: dwords + 1 }
            }
            _ => return Err(c.error(start..c.pos, "the registers of a list must follow each other", "here")),
        };
    }
    c.expect(']')?;
    Ok(list)
}

fn distance(c: &mut Cursor, label: &str, relocation: &str, span: Range<usize>) -> Parse<Item> {
    let high = match relocation {
        "rel32@lo" => false,
        "rel32@hi" => true,
        _ => {
            let error = c.error(span, format!("relocation `{relocation}` is not supported"), "here");
            return Err(error.hint("only rel32@lo and rel32@hi of labels in the same file"));
        }
    };
    let addend =
        if matches!(c.peek(), Some('+' | '-')) { c.int_in("the addend", -4096, 4096)? as i64 } else { 0 };
    Ok(Item::Symbol(Distance { label: label.to_string(), high, addend }))
}

fn unknown(c: &Cursor, word: &str, span: Range<usize>) -> crate::AsmError {
    let names = NAMED.iter().map(|n| n.0).chain(STATUS.iter().map(|s| s.0));
    let error = c.error(span, format!("unknown operand `{word}`"), "not a register, number or name");
    match nearest(word, names) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error.hint("registers are v0–v255, s0–s101, v[4:7], s[0:1], vcc, exec, m0, ttmp0–ttmp11"),
    }
}

/// What may stand in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Vector,
    Accumulator,
    /// One or the other.
    EitherVector,
    Scalar,
    /// Scalar register, inline constant or literal.
    ScalarSource {
        literal: bool,
    },
    /// Anything.
    Any {
        literal: bool,
    },
}

/// The operand an argument is in a place of type `ty`.
pub(super) fn fit(c: &Cursor, arg: &Arg, ty: Ty, place: Place) -> Parse<Operand> {
    let bad = |message: String| Err(c.error(arg.span.clone(), message, "here"));
    let want = ty.dwords();
    let count = |n: u8| if n == 1 { "one register".to_string() } else { format!("{n} registers") };
    match arg.item {
        Item::Vector { .. } if matches!(place, Place::Scalar | Place::ScalarSource { .. }) => {
            bad("a vector register cannot stand here".into())
        }
        Item::Vector { .. } if place == Place::Accumulator => bad("an accumulator must stand here".into()),
        Item::Accumulator { .. } if !matches!(place, Place::Accumulator | Place::EitherVector) => {
            bad("an accumulator cannot stand here".into())
        }
        Item::Vector { dwords, .. } | Item::Accumulator { dwords, .. } | Item::Scalar { dwords, .. }
            if dwords != want =>
        {
            bad(format!("this operand is {} wide, the instruction needs {}", count(dwords), count(want)))
        }
        Item::Vector { first, dwords } | Item::Accumulator { first, dwords }
            if dwords > 1 && first % 2 == 1 && c.generation.accumulators == Accumulators::Unified =>
        {
            bad("vector registers that belong together must begin at an even one".into())
        }
        Item::Vector { first, .. } => Ok(Operand::Vgpr(first)),
        Item::Accumulator { first, .. } => Ok(Operand::Agpr(first)),
        _ if matches!(place, Place::Vector | Place::EitherVector) => {
            bad("a vector register must stand here".into())
        }
        _ if place == Place::Accumulator => bad("an accumulator must stand here".into()),
        Item::Scalar { first, dwords } => match scalar_tuple(c.generation.gcn, first, dwords) {
            Ok(()) => Ok(Operand::Sgpr(first)),
            Err(why) => bad(why.into()),
        },
        Item::Off => bad("`off` cannot stand here".into()),
        _ if place == Place::Scalar => bad("a scalar register must stand here".into()),
        Item::Symbol(_) if place == (Place::ScalarSource { literal: true }) && want == 1 => {
            Ok(Operand::Literal(0))
        }
        Item::Symbol(_) => bad("a label cannot stand here".into()),
        Item::Status(Operand::LdsDirect) if matches!(place, Place::ScalarSource { .. }) => {
            bad("lds_direct can only be read by vector instructions".into())
        }
        Item::Status(operand) => Ok(operand),
        Item::Number(number) => {
            let operand = constant(c, arg, number, ty)?;
            let literal =
                matches!(place, Place::Any { literal: true } | Place::ScalarSource { literal: true });
            if matches!(operand, Operand::Literal(_)) && !literal {
                return Err(c
                    .error(arg.span.clone(), "a literal cannot stand here", "does not fit an inline constant")
                    .hint("inline constants are -16 to 64, ±0.5, ±1.0, ±2.0, ±4.0 and 1/(2π); move others to a register"));
            }
            Ok(operand)
        }
    }
}

/// The shortest form of a constant of type `ty`.
fn constant(c: &Cursor, arg: &Arg, number: Number, ty: Ty) -> Parse<Operand> {
    let bad = |message: &str| Err(c.error(arg.span.clone(), message, "does not fit"));
    // Packed f32 take constants as one f32 does, packed halves as one half does.
    let (bits, ty) = match ty {
        Ty::PkF32 => (32, Ty::F32),
        Ty::PkF16 => return packed_half(c, arg, number),
        _ if ty.dwords() > 2 => (32, Ty::F32),
        _ => (ty.bits().clamp(16, 64), ty),
    };
    let inline = |bits_of: &dyn Fn(InlineFloat) -> u64, value: u64| {
        InlineFloat::ALL.into_iter().find(|&f| bits_of(f) == value).map(Operand::InlineFloat)
    };
    match (number, bits) {
        (Number::Int(v), _) if (-16..=64).contains(&v) => Ok(Operand::InlineInt(v as i8)),
        (Number::Int(v), 64) => {
            if !(i64::MIN as i128..=u64::MAX as i128).contains(&v) {
                return bad("the number needs more than 64 bits");
            }
            let all = v as u64;
            if (-16..=64).contains(&(all as i64)) {
                return Ok(Operand::InlineInt(all as i8));
            }
            match inline(&InlineFloat::bits64, all) {
                Some(operand) => Ok(operand),
                // Zero- or sign-extended by the machine, as the type of the operand says.
                None if u32::try_from(all).is_ok() || i32::try_from(all as i64).is_ok() => {
                    Ok(Operand::Literal(all as u32))
                }
                None => bad("a literal has 32 bits"),
            }
        }
        (Number::Int(v), 32) => {
            if !(i32::MIN as i128..=u32::MAX as i128).contains(&v) {
                return bad("the number needs more than 32 bits");
            }
            let v = v as u32;
            if (-16..=64).contains(&(v as i32)) {
                return Ok(Operand::InlineInt(v as i8));
            }
            Ok(inline(&|f| f.bits32().into(), v.into()).unwrap_or(Operand::Literal(v)))
        }
        (Number::Int(v), _) => {
            if !(i16::MIN as i128..=u16::MAX as i128).contains(&v) {
                return bad("the number needs more than 16 bits");
            }
            let v = v as u16;
            if !ty.is_float() {
                return Ok(Operand::Literal(v.into()));
            }
            if (-16..=64).contains(&(v as i16)) {
                return Ok(Operand::InlineInt(v as i8));
            }
            Ok(inline(&|f| f.bits16().into(), v.into()).unwrap_or(Operand::Literal(v.into())))
        }
        (Number::Float(0.0), _) if number_is_plus_zero(number) => Ok(Operand::InlineInt(0)),
        (Number::Float(v), 64) => match inline(&InlineFloat::bits64, v.to_bits()) {
            Some(operand) => Ok(operand),
            None if ty == Ty::F64 => Ok(Operand::Literal((v.to_bits() >> 32) as u32)),
            None => bad("only inline constants can be floats here"),
        },
        (Number::Float(v), 32) => {
            let single = (v as f32).to_bits();
            Ok(inline(&|f| f.bits32().into(), single.into()).unwrap_or(Operand::Literal(single)))
        }
        (Number::Float(v), _) => {
            let half = half_bits(v);
            match inline(&|f| f.bits16().into(), half.into()) {
                Some(operand) => Ok(operand),
                None if ty.is_float() => Ok(Operand::Literal(half.into())),
                None => bad("only inline constants can be floats here"),
            }
        }
    }
}

/// Two halves: an inline constant is the low one, a literal both.
fn packed_half(c: &Cursor, arg: &Arg, number: Number) -> Parse<Operand> {
    let inline =
        |bits: u16| InlineFloat::ALL.into_iter().find(|f| f.bits16() == bits).map(Operand::InlineFloat);
    match number {
        Number::Int(v) if (-16..=64).contains(&v) => Ok(Operand::InlineInt(v as i8)),
        Number::Int(v) if (i32::MIN as i128..=u32::MAX as i128).contains(&v) => {
            let small = u16::try_from(v).ok().and_then(inline);
            Ok(small.unwrap_or(Operand::Literal(v as u32)))
        }
        Number::Float(0.0) if number_is_plus_zero(number) => Ok(Operand::InlineInt(0)),
        Number::Float(v) => Ok(inline(half_bits(v)).unwrap_or(Operand::Literal(half_bits(v).into()))),
        Number::Int(_) => {
            Err(c.error(arg.span.clone(), "the number needs more than 32 bits", "does not fit"))
        }
    }
}

fn number_is_plus_zero(number: Number) -> bool {
    matches!(number, Number::Float(v) if v.to_bits() == 0)
}

/// The nearest half-precision number, ties to even.
pub(super) fn half_bits(v: f64) -> u16 {
    let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
    let a = v.abs();
    if a.is_nan() {
        return sign | 0x7e00;
    }
    if a >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of half-precision numbers around `a`, at least that of denormals.
    let exponent = ((a.to_bits() >> 52) as i32 - 1023).max(-14);
    let scaled = a / 2f64.powi(exponent - 10);
    let rounded = scaled.round_ties_even() as u32;
    let normal = if a < 2f64.powi(-14) { 0 } else { ((exponent + 14) as u32) << 10 };
    sign | (normal + rounded) as u16
}

#[cfg(test)]
mod tests {
    use super::half_bits;

    #[test]
    fn halves() {
        let cases =
            [(0.0, 0), (1.0, 0x3c00), (-2.0, 0xc000), (1.5, 0x3e00), (65504.0, 0x7bff), (0.1, 0x2e66)];
        for (v, bits) in cases {
            assert_eq!(half_bits(v), bits, "{v}");
        }
        assert_eq!(half_bits(2f64.powi(-24)), 1);
        assert_eq!(half_bits(2f64.powi(-14)), 0x400);
        assert_eq!(half_bits(0.15915494), 0x3118);
        assert_eq!(half_bits(1e9), 0x7c00);
    }
}
