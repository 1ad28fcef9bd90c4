//! What one lane sees in a round of a loop: its bits of masks, SCC, and registers in terms of the loop's header; and what
//! one instruction does to its bits.

use crate::facts::EXEC;
use crate::format::{Form, Reg, Side};
use crate::transfer::{saves_exec, writes_scc};
use std::collections::BTreeMap;
use wb_isa::gcn3::{Inst, Op, Operand, Ty};

/// A register's value, made of a register at the header; none: unknown.
pub type Value = Option<(Reg, Form)>;

/// SCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scc {
    Unknown,
    Is(bool),
    /// Set if some lane has its bit; this lane's bit.
    Some(bool),
    /// Set if no lane has.
    None(bool),
}

/// What one lane sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// Bits of pairs that are decided.
    pub bits: BTreeMap<u8, bool>,
    pub scc: Scc,
    /// Tracked registers that are not what they were at the header.
    pub values: BTreeMap<Reg, Value>,
    /// After a call nothing is what it was.
    pub lost: bool,
    /// The test was made in this round and came out right.
    pub passed: bool,
    /// Of each witness: there is one, and it is this lane.
    pub exists: u32,
    pub chosen: u32,
}

/// Something must be decided before an instruction can be followed.
pub enum Undecided {
    Bit(u8),
    Scc,
    Outcome,
}

impl View {
    pub fn bit(&self, pair: u8) -> Option<bool> {
        self.bits.get(&pair).copied()
    }

    pub fn value(&self, register: Reg) -> Value {
        match self.values.get(&register) {
            Some(value) => *value,
            None if self.lost => None,
            None => Some((register, Form::Plus(0, 0))),
        }
    }

    /// SCC, if it is decided.
    pub fn flag(&self) -> Option<bool> {
        match self.scc {
            Scc::Is(value) => Some(value),
            Scc::Some(true) => Some(true),
            Scc::None(true) => Some(false),
            Scc::Unknown | Scc::Some(false) | Scc::None(false) => None,
        }
    }

    pub fn lose(&mut self) {
        self.bits.clear();
        self.values.clear();
        (self.scc, self.lost) = (Scc::Unknown, true);
    }

    pub fn mark(&mut self, witness: usize, exists: bool, chosen: bool) {
        let bit = 1 << witness;
        self.exists = if exists { self.exists | bit } else { self.exists & !bit };
        self.chosen = if chosen { self.chosen | bit } else { self.chosen & !bit };
    }
}

pub fn to_reg(side: Side) -> Option<Reg> {
    match side {
        Side::S(n) => Some(Reg::S(n)),
        Side::V(n) => Some(Reg::V(n)),
        Side::Number(_) => None,
    }
}

pub fn reg(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Sgpr(n) => Some(Reg::S(n)),
        Operand::Vgpr(n) => Some(Reg::V(n)),
        _ => None,
    }
}

pub fn add(value: Value, lo: i64, hi: i64) -> Value {
    match value? {
        (base, Form::Plus(l, h)) if (l + lo).abs() < 1 << 40 && (h + hi).abs() < 1 << 40 => {
            Some((base, Form::Plus(l + lo, h + hi)))
        }
        _ => None,
    }
}

pub fn shifted(value: Value, left: bool, by: u32) -> Value {
    let (base, form) = value?;
    let new = match form {
        _ if by == 0 => form,
        Form::Plus(0, 0) if left => Form::Left(by),
        Form::Plus(0, 0) => Form::Right(by),
        Form::Left(n) if left && n + by < 32 => Form::Left(n + by),
        Form::Right(n) if !left && n + by < 32 => Form::Right(n + by),
        Form::Plus(..) | Form::Left(_) | Form::Right(_) => return None,
    };
    Some((base, new))
}

/// The value is one that the claim allows.
pub fn within(value: Value, base: Reg, claim: Form) -> bool {
    match (value, claim) {
        (Some((b, Form::Plus(lo, hi))), Form::Plus(l, h)) => b == base && l <= lo && hi <= h,
        (Some((b, form)), claim) => b == base && form == claim,
        (None, _) => false,
    }
}

/// The lane's bits of pairs that an operation writes, and SCC if it tells of lanes.
#[derive(Default)]
pub struct Bits {
    pub pairs: Vec<(u8, Option<bool>)>,
    pub scc: Option<Scc>,
}

pub fn bits(inst: &Inst, view: &View, exec: Option<bool>) -> Result<Bits, Undecided> {
    if let (Op::SCmpEqU64 | Op::SCmpLgU64, Operand::InlineInt(0), Operand::Sgpr(n)) =
        (inst.op, inst.src[1], inst.src[0])
    {
        let bit = view.bit(n).ok_or(Undecided::Bit(n))?;
        let scc = if inst.op == Op::SCmpLgU64 { Scc::Some(bit) } else { Scc::None(bit) };
        return Ok(Bits { pairs: Vec::new(), scc: Some(scc) });
    }
    let Operand::Sgpr(dst) = inst.dst else { return Ok(Bits::default()) };
    let wide = inst.entry().dst == Ty::B64 || inst.dst_dwords() == 2;
    if !wide || dst % 2 == 1 || inst.entry().compare().is_some() {
        return Ok(Bits::default());
    }
    let saves = saves_exec(inst.op);
    let first = known(inst.src[0], view);
    let second = if saves { Known::of(exec, EXEC) } else { known(inst.src[1], view) };
    let (a, b) = (first.value, second.value);
    let not = |x: Option<bool>| x.map(|x| !x);
    let and = |x: Option<bool>, y: Option<bool>| match (x, y) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    let or = |x: Option<bool>, y: Option<bool>| not(and(not(x), not(y)));
    let xor = |x: Option<bool>, y: Option<bool>| Some(x? ^ y?);
    let new = match inst.op {
        Op::SMovB64 => a,
        Op::SNotB64 => not(a),
        Op::SAndB64 | Op::SAndSaveexecB64 => and(a, b),
        Op::SOrB64 | Op::SOrSaveexecB64 => or(a, b),
        Op::SXorB64 | Op::SXorSaveexecB64 => xor(a, b),
        Op::SAndn2B64 | Op::SAndn2SaveexecB64 => and(a, not(b)),
        Op::SOrn2B64 | Op::SOrn2SaveexecB64 => or(a, not(b)),
        Op::SNandB64 | Op::SNandSaveexecB64 => not(and(a, b)),
        Op::SNorB64 | Op::SNorSaveexecB64 => not(or(a, b)),
        Op::SXnorB64 | Op::SXnorSaveexecB64 => not(xor(a, b)),
        Op::SCselectB64 => match view.flag().ok_or(Undecided::Scc)? {
            true => return copied(dst, &first),
            false => return copied(dst, &second),
        },
        Op::SCmovB64 => match view.flag().ok_or(Undecided::Scc)? {
            true => return copied(dst, &first),
            false => return copied(dst, &Known::of(view.bit(dst), dst)),
        },
        _ => return Ok(Bits::default()),
    };
    if new.is_none() {
        // An operand that can be decided must be, so that what is derived from it stays together with it.
        let one_only = matches!(inst.op, Op::SMovB64 | Op::SNotB64);
        if let Some(pair) = first.open.or(if one_only { None } else { second.open }) {
            return Err(Undecided::Bit(pair));
        }
    }
    let scc = writes_scc(inst).then(|| new.map_or(Scc::Unknown, Scc::Some));
    let pairs = match saves {
        true => vec![(dst, Some(exec.ok_or(Undecided::Bit(EXEC))?)), (EXEC, new)],
        false => vec![(dst, new)],
    };
    Ok(Bits { pairs, scc })
}

/// The lane's bit of an operand, or the pair that must be decided first.
struct Known {
    value: Option<bool>,
    open: Option<u8>,
}

impl Known {
    fn of(value: Option<bool>, pair: u8) -> Known {
        Known { value, open: value.is_none().then_some(pair) }
    }
}

fn known(operand: Operand, view: &View) -> Known {
    match operand {
        Operand::InlineInt(0) => Known { value: Some(false), open: None },
        Operand::InlineInt(-1) => Known { value: Some(true), open: None },
        Operand::Sgpr(n) if n % 2 == 0 => Known::of(view.bit(n), n),
        _ => Known { value: None, open: None },
    }
}

fn copied(dst: u8, from: &Known) -> Result<Bits, Undecided> {
    match from.open {
        Some(pair) => Err(Undecided::Bit(pair)),
        None => Ok(Bits { pairs: vec![(dst, from.value)], scc: None }),
    }
}
