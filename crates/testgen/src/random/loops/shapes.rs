//! Shapes of loops that wrong proofs were once found in, with random numbers: a general generator meets them rarely.

use super::assembly::Writer;

const RELS: [&str; 5] = ["lt", "le", "gt", "ge", "lg"];

impl Writer {
    /// A test of a form of the counter, and a step that may not go with it.
    pub(super) fn misfit(&mut self) {
        let (first, shift, by) = (self.noise.number(), 1 + self.noise.below(6), 1 + self.noise.below(3));
        self.line(&format!("s_mov_b32 s10, {first:#x}"));
        self.label("head");
        match self.noise.below(3) {
            0 => self.line(&format!("s_lshr_b32 s11, s10, {shift}")),
            1 => self.line(&format!("s_lshl_b32 s11, s10, {shift}")),
            _ => self.line(&format!("s_add_u32 s11, s10, {shift}")),
        }
        match self.noise.below(4) {
            0 => self.line(&format!("s_lshr_b32 s10, s10, {by}")),
            1 => self.line(&format!("s_lshl_b32 s10, s10, {by}")),
            2 => self.line(&format!("s_sub_u32 s10, s10, {by}")),
            _ => self.line(&format!("s_add_u32 s10, s10, {by}")),
        }
        let (rel, ty, limit) =
            (self.noise.pick(&RELS), self.noise.pick(&["u32", "i32"]), self.noise.pick(&["s4", "3", "40"]));
        self.line(&format!("s_cmp_{rel}_{ty} s11, {limit}"));
        self.line("s_cbranch_scc1 head");
    }

    /// A scalar counter against a value of lanes: each round another lane may keep it going.
    pub(super) fn ballot(&mut self) {
        let first = self.noise.below(3);
        self.line(&format!("s_mov_b32 s10, {first}"));
        match self.noise.below(4) {
            0 => self.line("v_mov_b32 v1, v0"),
            1 => self.line("v_and_b32 v1, 31, v10"),
            2 => self.line("v_min_u32 v1, 50, v11"),
            _ => self.line("v_mov_b32 v1, 9"),
        }
        if !self.noise.one_in(3) {
            self.line("v_add_u32 v1, vcc, 8, v1");
        }
        self.label("head");
        if self.noise.one_in(2) {
            self.line("v_cmp_ne_u32 s[20:21], 7, v0");
        }
        self.line("s_add_u32 s10, s10, 1");
        self.line("v_cmp_ne_u32 vcc, s10, v1");
        if self.noise.one_in(3) {
            self.line("s_and_b64 vcc, exec, vcc");
        }
        self.line("s_cbranch_vccnz head");
    }

    /// Lanes that are off at the entry come on inside; an inner loop counts to what they hold.
    pub(super) fn lanes_come_back(&mut self) {
        let (few, by, limit) = (1 + self.noise.below(16), 1 + self.noise.below(3), 40 + self.noise.below(90));
        let shift = self.noise.below(2);
        self.line(&format!("v_lshlrev_b32 v1, {shift}, v0"));
        self.line("s_mov_b64 s[20:21], exec");
        self.line(&format!("v_cmp_gt_u32 vcc, {few}, v1"));
        self.line("s_and_b64 exec, exec, vcc");
        self.line("s_mov_b32 s10, 0");
        self.label("head");
        self.line("s_mov_b32 s11, 0");
        self.label("inner");
        self.line("s_add_u32 s11, s11, 1");
        self.line("v_cmp_lt_u32 vcc, s11, v1");
        self.line("s_cbranch_vccnz inner");
        if !self.noise.one_in(3) {
            self.line("s_mov_b64 exec, s[20:21]");
        }
        self.line(&format!("v_add_u32 v1, vcc, {by}, v1"));
        if self.noise.one_in(2) {
            self.line(&format!("v_cmp_gt_u32 vcc, {limit}, v1"));
            self.line("s_and_b64 exec, exec, vcc");
        }
        self.line("s_add_u32 s10, s10, 1");
        let rounds = 2 + self.noise.below(9);
        self.line(&format!("s_cmp_lt_u32 s10, {rounds}"));
        self.line("s_cbranch_scc1 head");
        self.line("s_mov_b64 exec, s[20:21]");
    }

    /// A comparison of scalars as a mask, inverted, with lanes off; then a loop that counts to the scalar.
    pub(super) fn inverted(&mut self) {
        let (few, limit) = (self.noise.below(40), self.noise.below(30));
        self.line("s_mov_b64 s[20:21], exec");
        self.line(&format!("v_cmp_gt_u32 vcc, {few}, v0"));
        self.line("s_and_b64 exec, exec, vcc");
        self.line("s_and_b32 s12, s17, 63");
        self.line(&format!("v_cmp_lt_u32 s[22:23], {limit}, s12"));
        match self.noise.below(3) {
            0 => self.line("s_not_b64 vcc, s[22:23]"),
            1 => self.line("s_andn2_b64 vcc, s[20:21], s[22:23]"),
            _ => self.line("s_andn2_b64 vcc, exec, s[22:23]"),
        }
        self.line("s_cbranch_vccz out");
        self.line("s_mov_b32 s10, 0");
        self.label("head");
        self.line("s_add_u32 s10, s10, 1");
        self.line("s_cmp_lt_u32 s10, s12");
        self.line("s_cbranch_scc1 head");
        self.label("out");
    }

    /// The mask of a comparison is written over the register that was compared.
    pub(super) fn overwritten(&mut self) {
        let limit = 5 + self.noise.below(30);
        let (to, other) = if self.noise.one_in(2) { ("s[12:13]", "s12") } else { ("s[24:25]", "s12") };
        self.line("s_and_b32 s12, s17, 63");
        self.line(&format!("s_cmp_lt_u32 s12, {limit}"));
        self.line("s_cselect_b64 s[22:23], -1, 0");
        self.line(&format!("s_mov_b64 {to}, s[22:23]"));
        self.line(&format!("s_and_b64 vcc, exec, {to}"));
        self.line("s_cbranch_vccz out");
        self.line(&format!("s_and_b32 s11, {other}, 127"));
        self.line("s_mov_b32 s10, 0");
        self.label("head");
        self.line("s_add_u32 s10, s10, 1");
        let limit = if self.noise.one_in(2) { "s11" } else { other };
        self.line(&format!("s_cmp_lt_u32 s10, {limit}"));
        self.line("s_cbranch_scc1 head");
        self.label("out");
    }
}
