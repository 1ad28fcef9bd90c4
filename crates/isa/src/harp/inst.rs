//! A decoded instruction: plain data of 16 bytes, operands in the order the assembler writes them.

use super::table::{Entry, Op, Slot};

/// One instruction. `r[i]` is the register (or predicate) in operand position `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    pub op: Op,
    /// Predicate register that selects lanes; none runs in every active lane.
    pub pred: Option<u8>,
    pub r: [u8; 3],
    /// Sign-extended immediate; 0 for instructions without one.
    pub imm: i64,
}

impl Inst {
    pub fn new(op: Op) -> Inst {
        Inst { op, pred: None, r: [0; 3], imm: 0 }
    }

    #[must_use]
    pub fn regs(mut self, r: &[u8]) -> Inst {
        self.r[..r.len()].copy_from_slice(r);
        self
    }

    #[must_use]
    pub fn imm(mut self, imm: i64) -> Inst {
        self.imm = imm;
        self
    }

    #[must_use]
    pub fn when(mut self, pred: u8) -> Inst {
        self.pred = Some(pred);
        self
    }

    #[inline(always)]
    pub fn entry(&self) -> &'static Entry {
        self.op.entry()
    }

    /// The operands with what each position means; immediates have value 0 here.
    pub fn operands(&self) -> impl Iterator<Item = (Slot, u8)> + '_ {
        self.entry().slots.iter().zip(self.r).map(|(&slot, r)| (slot, if slot == Slot::Imm { 0 } else { r }))
    }
}
