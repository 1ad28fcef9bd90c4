//! Ends of kernels at which lanes part for good, as compilers write them: no mask is restored before `s_endpgm`. Every lane
//! stores its variables at least once, so the reference is that of the kernel with a plain end.

use super::super::emit::asm;
use super::super::setup::mix;
use super::emit::{Emit, Mark};
use super::expr::{LEFT, VARS};

impl Emit {
    /// Stores the variables on one of several ways, all of which come to the label `end`.
    pub(super) fn ending(&mut self, seed: u64, depth: u32, end: &str) {
        let next = mix(seed);
        match seed % 4 {
            0 if depth > 0 => self.two_sides(next, depth - 1, end),
            1 if depth > 0 => self.some_leave(next, depth - 1, end),
            2 if depth > 0 => self.leave_one_by_one(next),
            _ => self.tail(),
        }
    }

    /// A bit of a variable, as a condition.
    fn bit(&mut self, seed: u64) {
        let var = VARS[(seed >> 8) as usize % VARS.len()];
        asm!(self.text, "v_and_b32 v12, {}, {var}", 1 << (seed >> 16 & 3));
        asm!(self.text, "v_cmp_ne_u32 vcc, 0, v12");
    }

    fn two_sides(&mut self, seed: u64, depth: u32, end: &str) {
        self.bit(seed);
        let (saved, other) = (self.pair(), self.text.fresh("last"));
        asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
        asm!(self.text, "s_xor_b64 {saved}, exec, {saved}");
        let mark = self.mark_as(Some("split_end"));
        asm!(self.text, "s_cbranch_execz {other}");
        self.branched(mark);
        // Sides inside come to the other side first.
        let inner = self.text.fresh("side");
        self.ending(seed >> 20, depth, &inner);
        self.text.place(&inner);
        self.text.place(&other);
        self.branched(mark);
        if seed & 1 == 0 {
            asm!(self.text, "s_andn2_saveexec_b64 {saved}, {saved}");
        } else {
            asm!(self.text, "s_or_saveexec_b64 {saved}, {saved}");
            asm!(self.text, "s_xor_b64 exec, exec, {saved}");
        }
        asm!(self.text, "s_cbranch_execz {end}");
        self.ending(seed >> 24, depth, end);
    }

    /// Everybody stores, then some lanes return and the others store again.
    fn some_leave(&mut self, seed: u64, depth: u32, end: &str) {
        self.tail();
        self.bit(seed);
        asm!(self.text, "s_and_b64 exec, exec, vcc");
        let mark = self.mark_as(Some("split_end"));
        asm!(self.text, "s_cbranch_execz {end}");
        self.branched(mark);
        self.ending(seed >> 20, depth, end);
    }

    /// A loop that lanes leave to end; before that each stores.
    fn leave_one_by_one(&mut self, seed: u64) {
        let (done, saved, now) = (self.pair(), self.pair(), self.pair());
        let (left, head, skip) = (LEFT[0], self.text.fresh("round"), self.text.fresh("not_yet"));
        asm!(self.text, "s_mov_b64 {done}, 0");
        asm!(self.text, "v_and_b32 {left}, 3, {}", VARS[(seed >> 8) as usize % VARS.len()]);
        asm!(self.text, "v_add_u32 {left}, vcc, 1, {left}");
        self.text.place(&head);
        let marked = Mark { split: false, mode: true };
        self.branched(marked);
        asm!(self.text, "v_sub_u32 {left}, vcc, {left}, 1");
        asm!(self.text, "v_cmp_eq_u32 {now}, 0, {left}");
        asm!(self.text, "s_and_saveexec_b64 {saved}, {now}");
        asm!(self.text, "s_cbranch_execz {skip}");
        self.tail();
        self.text.place(&skip);
        asm!(self.text, "s_or_b64 exec, exec, {saved}");
        asm!(self.text, "s_or_b64 {done}, {now}, {done}");
        asm!(self.text, "s_andn2_b64 exec, exec, {done}");
        let mark = self.mark_as(Some("split_end"));
        asm!(self.text, "s_cbranch_execnz {head}");
        self.branched(mark);
    }
}
