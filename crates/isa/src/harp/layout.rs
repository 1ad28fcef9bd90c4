//! Bit fields of the word encoding.

/// Bit widths of the word encoding: predicated bit, predicate, opcode, operand fields, immediate.
/// A field is as wide as the wider of register and predicate numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) bits: u32,
    pub(super) pred: u32,
    pub(super) field: u32,
}

pub(super) const OPCODE_BITS: u32 = 6;

fn ceil_log2(n: u32) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

impl Layout {
    /// The layout of words of so many bits, or why they are too small for so many registers.
    pub fn new(bits: u32, gprs: u32, preds: u32) -> Result<Layout, String> {
        let pred = ceil_log2(preds);
        let field = ceil_log2(gprs).max(pred);
        let needed = 1 + pred + OPCODE_BITS + (3 * field).max(2 * field + 1);
        if needed > bits {
            return Err(format!(
                "a {bits}-bit word cannot hold an instruction of {needed} bits; use longer words, fewer registers or the byte encoding (b)"
            ));
        }
        Ok(Layout { bits, pred, field })
    }

    /// Bits below the opcode: room for operands and immediate.
    pub(super) fn operand_bits(&self) -> u32 {
        self.bits - 1 - self.pred - OPCODE_BITS
    }
}
