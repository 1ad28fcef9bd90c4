//! Interpolation and export as text.

use super::super::operand::{Operand, Ty};
use super::super::symbols;
use super::Printer;
use std::fmt::Write;

impl Printer<'_> {
    pub(super) fn interpolation(&mut self) {
        let inst = self.inst;
        self.register(inst.dst, 1);
        match inst.src[1] {
            Operand::InlineInt(corner) => {
                self.next();
                self.out.push_str(symbols::CORNERS[corner.rem_euclid(3) as usize]);
            }
            _ => self.source(1),
        }
        self.next();
        let imm = inst.imm as u32;
        let channel = symbols::CHANNELS[(imm >> 6 & 3) as usize];
        let _ = write!(self.out, "attr{}.{channel}", imm & 0x3f);
        if inst.src_ty(2) != Ty::None {
            self.source(2);
        }
        self.out.push_str(if imm >> 8 & 1 == 1 { " high" } else { "" });
        self.result();
    }

    pub(super) fn export(&mut self) {
        let inst = self.inst;
        let imm = inst.imm as u32;
        self.out.push(' ');
        symbols::target(&mut self.out, imm >> 4 & 0x3f);
        let values = [inst.src[0], inst.src[1], inst.src[2], inst.dst];
        let compressed = imm >> 10 & 1 == 1;
        for i in 0..4 {
            let value = if compressed { values[i / 2] } else { values[i] };
            self.first = i == 0;
            self.register(if imm >> i & 1 == 1 { value } else { Operand::None }, 1);
        }
        for (bit, name) in [(11, " done"), (10, " compr"), (12, " vm")] {
            self.out.push_str(if imm >> bit & 1 == 1 { name } else { "" });
        }
    }
}
