//! The words after the operands: flags, offsets, SDWA selections and DPP controls.

use super::cursor::{Cursor, Parse};
use super::operand::{Arg, Modifier, arg};
use super::symbolic;
use crate::gcn3::generation::{Accumulators, Caching};
use crate::gcn3::inst::{DppCtrl, flag};

/// Flags that stand alone.
pub(super) const FLAGS: [(&str, u16); 15] = [
    ("glc", flag::GLC),
    ("slc", flag::SLC),
    ("tfe", flag::TFE),
    ("lds", flag::LDS),
    ("offen", flag::OFFEN),
    ("idxen", flag::IDXEN),
    ("gds", flag::GDS),
    ("clamp", flag::CLAMP),
    ("unorm", flag::UNORM),
    ("da", flag::DA),
    ("r128", flag::R128),
    ("lwe", flag::LWE),
    ("d16", flag::D16),
    ("a16", flag::A16),
    ("scc", flag::SC1),
];

/// What gfx940 calls the bits of caching.
const SCOPES: [(&str, u16); 3] = [("sc0", flag::GLC), ("nt", flag::SLC), ("sc1", flag::SC1)];
/// Modifiers that are a bit for each operand.
const LISTS: [&str; 5] = ["op_sel", "op_sel_hi", "neg_lo", "neg_hi", "neg"];

const SDWA: [&str; 4] = ["dst_sel", "dst_unused", "src0_sel", "src1_sel"];
const SELECTIONS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
const UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
/// Lane movements with the number of the first and the last value.
const MOVES: [(&str, i128, i128, u32); 12] = [
    ("row_shl", 1, 15, 0x100),
    ("row_shr", 1, 15, 0x110),
    ("row_ror", 1, 15, 0x120),
    ("wave_shl", 1, 1, 0x12f),
    ("wave_rol", 1, 1, 0x133),
    ("wave_shr", 1, 1, 0x137),
    ("wave_ror", 1, 1, 0x13b),
    ("row_mirror", 0, 0, 0x140),
    ("row_half_mirror", 0, 0, 0x141),
    ("quad_perm", 0, 255, 0),
    ("row_bcast", 15, 31, 0),
    ("row_newbcast", 0, 15, 0x150),
];

/// Modifiers of an instruction; each is taken once, what is left is an error.
#[derive(Clone, Debug, Default)]
pub(super) struct Modifiers(Vec<Modifier>);

/// All operands and modifiers up to the end of the line.
pub(super) fn operands(c: &mut Cursor) -> Parse<(Vec<Arg>, Modifiers)> {
    let mut args = Vec::new();
    while !c.at_end() && !at_modifier(c) {
        args.push(arg(c)?);
        if !c.eat(',') {
            break;
        }
    }
    Ok((args, modifiers(c)?))
}

pub(super) fn modifiers(c: &mut Cursor) -> Parse<Modifiers> {
    let mut list = Vec::new();
    while !c.at_end() {
        let here = c.here();
        let Some((name, span)) = c.word() else {
            return Err(c.error(here, "expected a modifier or the end of the instruction", "here"));
        };
        let (mut value, mut word) = (None, None);
        if c.eat(':') {
            if name == "quad_perm" {
                value = Some(quad_perm(c)?);
            } else if name == "format" && c.peek() == Some('[') {
                value = Some(symbolic::buffer_format(c)?);
            } else if LISTS.contains(&name) {
                value = Some(bit_list(c)?);
            } else if c.at_number() {
                value = Some(c.int()?.0);
            } else if c.peek_word() == "swizzle" {
                value = Some(symbolic::swizzle(c)?);
            } else {
                word = c.word().map(|w| w.0.to_string());
            }
        }
        list.push(Modifier { name: name.to_string(), value, word, span: span.start..c.pos });
        c.eat(',');
    }
    Ok(Modifiers(list))
}

fn at_modifier(c: &mut Cursor) -> bool {
    let word = c.peek_word();
    let scope = c.generation.caching == Caching::Scopes && SCOPES.iter().any(|f| f.0 == word);
    // scc is a register where it is no flag.
    // And a16 is a register where there are accumulators: the flag of images comes after operands anyway.
    let flag = FLAGS.iter().any(|f| f.0 == word)
        && (word != "scc" || c.generation.caching == Caching::WithScc)
        && (word != "a16" || c.generation.accumulators == Accumulators::None);
    if flag || scope || matches!(word, "row_mirror" | "row_half_mirror") {
        return true;
    }
    !word.is_empty() && c.rest()[word.len()..].starts_with(':')
}

fn quad_perm(c: &mut Cursor) -> Parse<i128> {
    c.expect('[')?;
    let mut value = 0;
    for i in 0..4 {
        if i > 0 {
            c.expect(',')?;
        }
        value |= c.int_in("a lane", 0, 3)? << (2 * i);
    }
    c.expect(']')?;
    Ok(value)
}

/// `[1,0,1]`: the bits, and how many there are from bit 8 on.
fn bit_list(c: &mut Cursor) -> Parse<i128> {
    c.expect('[')?;
    let (mut bits, mut count) = (0, 0);
    loop {
        bits |= c.int_in("a bit", 0, 1)? << count;
        count += 1;
        if count >= 4 || !c.eat(',') {
            break;
        }
    }
    c.expect(']')?;
    Ok(bits | count << 8)
}

impl Modifiers {
    /// The bits of a list such as `op_sel:[1,0]`, which must have as many as are expected.
    pub fn bits(&mut self, c: &Cursor, name: &str, expected: usize) -> Parse<Option<u8>> {
        let Some(m) = self.take(name) else { return Ok(None) };
        match m.value {
            Some(v) if v >> 8 == expected as i128 => Ok(Some(v as u8)),
            _ => Err(c.error(m.span, format!("{name} takes {expected} bits here"), "here")),
        }
    }

    /// The flags of caching that the generation has.
    pub fn caching(&mut self, c: &Cursor) -> u16 {
        match c.generation.caching {
            Caching::Plain => self.flags(flag::GLC | flag::SLC),
            Caching::WithScc => self.flags(flag::GLC | flag::SLC | flag::SC1),
            Caching::Scopes => {
                let taken = SCOPES.into_iter().filter(|(name, _)| self.take(name).is_some());
                taken.map(|(_, flag)| flag).sum()
            }
        }
    }

    fn take(&mut self, name: &str) -> Option<Modifier> {
        let i = self.0.iter().position(|m| m.name == name)?;
        Some(self.0.remove(i))
    }

    pub fn has_sdwa(&self) -> bool {
        self.0.iter().any(|m| SDWA.contains(&m.name.as_str()))
    }

    pub fn has_dpp(&self) -> bool {
        let dpp = |m: &Modifier| {
            MOVES.iter().any(|d| d.0 == m.name)
                || matches!(m.name.as_str(), "row_mask" | "bank_mask" | "bound_ctrl")
        };
        self.0.iter().any(dpp)
    }

    /// Whether a word stands there alone.
    pub fn word(&mut self, name: &str) -> bool {
        self.take(name).is_some_and(|m| m.value.is_none() && m.word.is_none())
    }

    /// The flags among `allowed` that are written.
    pub fn flags(&mut self, allowed: u16) -> u16 {
        let mut flags = 0;
        for (name, flag) in FLAGS {
            if allowed & flag != 0 && self.take(name).is_some() {
                flags |= flag;
            }
        }
        flags
    }

    /// `name:number`, from `low` to `high`.
    pub fn number(&mut self, c: &Cursor, name: &str, low: i128, high: i128) -> Parse<Option<i128>> {
        let Some(m) = self.take(name) else { return Ok(None) };
        match m.value {
            Some(v) if (low..=high).contains(&v) => Ok(Some(v)),
            _ => Err(c.error(m.span, format!("{name} must be {low} to {high}"), "here")),
        }
    }

    fn choice(&mut self, c: &Cursor, name: &str, words: &[&str]) -> Parse<Option<u32>> {
        let Some(m) = self.take(name) else { return Ok(None) };
        let word = m.word.as_deref().unwrap_or("");
        match words.iter().position(|w| *w == word) {
            Some(i) => Ok(Some(i as u32)),
            None => Err(c.error(m.span, format!("{name} is one of {}", words.join(", ")), "here")),
        }
    }

    /// `mul:2`, `mul:4`, `div:2` as the omod field.
    pub fn omod(&mut self, c: &Cursor) -> Parse<u8> {
        let Some(m) = self.take("mul").or_else(|| self.take("div")) else { return Ok(0) };
        match (m.name.as_str(), m.value) {
            (_, Some(1)) => Ok(0),
            ("mul", Some(2)) => Ok(1),
            ("mul", Some(4)) => Ok(2),
            ("div", Some(2)) => Ok(3),
            _ => Err(c.error(m.span, "the output modifier is mul:2, mul:4 or div:2", "here")),
        }
    }

    /// The control word of SDWA without registers.
    pub fn sdwa(&mut self, c: &Cursor, compare: bool, two: bool) -> Parse<u32> {
        let mut word = 0;
        if !compare {
            word |= self.choice(c, "dst_sel", &SELECTIONS)?.unwrap_or(6) << 8;
            word |= self.choice(c, "dst_unused", &UNUSED)?.unwrap_or(2) << 11;
        }
        word |= self.choice(c, "src0_sel", &SELECTIONS)?.unwrap_or(6) << 16;
        if two {
            word |= self.choice(c, "src1_sel", &SELECTIONS)?.unwrap_or(6) << 24;
        }
        Ok(word)
    }

    /// The control word of DPP without registers.
    pub fn dpp(&mut self, c: &Cursor) -> Parse<u32> {
        let bound = self.number(c, "bound_ctrl", 0, 1)?.is_some();
        let row = self.number(c, "row_mask", 0, 15)?.unwrap_or(15) as u32;
        let bank = self.number(c, "bank_mask", 0, 15)?.unwrap_or(15) as u32;
        let mut ctrl = None;
        for (name, low, high, base) in MOVES {
            let Some(m) = self.take(name) else { continue };
            let value = m.value.unwrap_or(0);
            let bits = match (name, value) {
                ("row_bcast", 15) => 0x142,
                ("row_bcast", 31) => 0x143,
                ("row_bcast", _) => 0x1ff,
                _ if (low..=high).contains(&value) => base + value as u32,
                _ => 0x1ff,
            };
            let new = name == "row_newbcast" && c.generation.accumulators != Accumulators::Unified;
            if ctrl.is_some() || DppCtrl::from_bits(bits).is_none() || new {
                return Err(c.error(m.span, "not a lane movement of this machine", "here"));
            }
            ctrl = Some(bits);
        }
        let Some(ctrl) = ctrl else {
            let error = c.error(c.pos..c.pos, "a lane movement is missing", "here");
            return Err(error.hint("for example quad_perm:[0,1,2,3], row_shl:1 or row_bcast:15"));
        };
        Ok(ctrl << 8 | u32::from(bound) << 19 | bank << 24 | row << 28)
    }

    /// Nothing may be left.
    pub fn finish(self, c: &Cursor, name: &str) -> Parse<()> {
        match self.0.first() {
            None => Ok(()),
            Some(m) => {
                Err(c.error(m.span.clone(), format!("`{name}` does not take `{}` here", m.name), "here"))
            }
        }
    }
}
