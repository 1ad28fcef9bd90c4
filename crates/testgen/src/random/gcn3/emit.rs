//! Kernels as assembly: divergent ifs with one or two sides and both serialisation blocks, loops with
//! `s_cbranch_execnz` and `s_cbranch_execz` back, breaks, barriers in uniform code, and marks for the mechanisms.
//!
//! s2 group, s[4:5] table, s[6:7] slots, s[8:9] shared words, s10 threads of the group, s[12:13] half a condition,
//! from s14 on saved masks and counters of uniform loops.

use super::super::ast::{Cond, Form, Stmt as Plain};
use super::super::emit::{Text, asm};
use super::super::setup::mix;
use super::super::{SCRATCH, SLOT, prelude};
use super::ast::{Kernel, LoopShape, Segment, Serial, Shape, Shared, Stmt};
use super::expr::{LEFT, SLOT_ADDRESS, VARS, cond, expr, own_word, value};
use super::setup::{Marking, Setup};

const MODE: &str = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1),";

/// The assembly of a kernel as the setup launches and marks it.
pub fn source(kernel: &Kernel, setup: &Setup) -> String {
    let mut e = Emit {
        text: Text::default(),
        marking: setup.marking,
        places: 0,
        next: 14,
        loops: 0,
        ending: setup.ending,
    };
    e.head(kernel, setup.group());
    for stmt in prelude() {
        if let Plain::Assign(var, value) = stmt {
            expr(&mut e.text, VARS[usize::from(var)], &value);
        }
    }
    e.segments(&kernel.segments);
    match setup.ending {
        None => e.tail(),
        Some(seed) => {
            let end = e.text.fresh("over");
            e.ending(seed, 2, &end);
            e.text.place(&end);
        }
    }
    asm!(e.text, "s_endpgm");
    e.text.out
}

/// A branch that was marked: where its lanes are on again, the marks end.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    pub split: bool,
    pub mode: bool,
}

pub(super) struct Emit {
    pub text: Text,
    pub marking: Marking,
    /// Branches so far, for the marking to choose among.
    places: u64,
    /// Next free scalar register.
    next: u32,
    loops: usize,
    /// Lanes part for good now and then.
    ending: Option<u64>,
}

impl Emit {
    fn head(&mut self, kernel: &Kernel, group: u32) {
        self.text
            .out
            .push_str(".kernel random\n.arg buf table\n.arg buf slots\n.arg buf shared\n.arg u32 threads\n");
        if kernel.exchanges() {
            self.text.out.push_str(&format!(".lds {}\n", 4 * group));
        }
        let t = &mut self.text;
        asm!(t, "s_load_dwordx4 s[4:7], s[0:1], 0x0");
        asm!(t, "s_load_dwordx2 s[8:9], s[0:1], 0x10");
        asm!(t, "s_load_dword s10, s[0:1], 0x18");
        asm!(t, "s_mul_i32 s11, s2, {group}");
        asm!(t, "v_add_u32 v1, vcc, s11, v0");
        asm!(t, "s_waitcnt lgkmcnt(0)");
        asm!(t, "s_sub_u32 s10, s10, s11");
        asm!(t, "s_min_u32 s10, s10, {group}");
        asm!(t, "v_mul_u32_u24 v2, {}, v1", 4 * SLOT);
        asm!(t, "v_mov_b32 v3, s7");
        asm!(t, "v_add_u32 v2, vcc, s6, v2");
        asm!(t, "v_addc_u32 v3, vcc, 0, v3, vcc");
        asm!(t, "s_mov_b32 m0, -1");
    }

    pub(super) fn tail(&mut self) {
        let (low, high) = SLOT_ADDRESS;
        for (i, var) in VARS.iter().enumerate() {
            let t = &mut self.text;
            asm!(t, "v_add_u32 v14, vcc, {}, {low}", 4 * (SCRATCH + i));
            asm!(t, "v_addc_u32 v15, vcc, 0, {high}, vcc");
            asm!(t, "flat_store_dword v[14:15], {var}");
        }
    }

    /// A pair of scalar registers, free again when the caller gives back `next`.
    pub(super) fn pair(&mut self) -> String {
        self.next += 2;
        format!("s[{}:{}]", self.next - 2, self.next - 1)
    }

    fn segments(&mut self, list: &[Segment]) {
        for segment in list {
            let free = self.next;
            match segment {
                Segment::Body(body) => self.block(body),
                Segment::Exchange { var, with } => self.exchange(VARS[usize::from(*var)], *with),
                Segment::Repeat(times, inner) => {
                    let head = self.text.fresh("again");
                    let left = self.next;
                    self.next += 2;
                    asm!(self.text, "s_movk_i32 s{left}, {times}");
                    self.text.place(&head);
                    self.segments(inner);
                    asm!(self.text, "s_sub_u32 s{left}, s{left}, 1");
                    asm!(self.text, "s_cmp_lg_u32 s{left}, 0");
                    asm!(self.text, "s_cbranch_scc1 {head}");
                }
                Segment::Uniform(bit, inner) => {
                    let end = self.text.fresh("past");
                    asm!(self.text, "s_bitcmp1_b32 s2, {bit}");
                    asm!(self.text, "s_cbranch_scc0 {end}");
                    self.segments(inner);
                    self.text.place(&end);
                }
            }
            self.next = free;
        }
    }

    fn exchange(&mut self, var: &str, with: u8) {
        let t = &mut self.text;
        asm!(t, "v_lshlrev_b32 v12, 2, v0");
        asm!(t, "ds_write_b32 v12, {var}");
        asm!(t, "s_waitcnt lgkmcnt(0)");
        asm!(t, "s_barrier");
        asm!(t, "v_xor_b32 v13, {with}, v0");
        asm!(t, "v_cmp_gt_u32 vcc, s10, v13");
        asm!(t, "v_lshlrev_b32 v13, 2, v13");
        asm!(t, "v_cndmask_b32 v12, v12, v13, vcc");
        asm!(t, "ds_read_b32 {var}, v12");
        asm!(t, "s_waitcnt lgkmcnt(0)");
        asm!(t, "s_barrier");
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, stmt: &Stmt) {
        let free = self.next;
        let t = &mut self.text;
        match stmt {
            Stmt::Assign(var, e) => expr(t, VARS[usize::from(*var)], e),
            Stmt::Select(c, var, e) => {
                expr(t, "v17", e);
                cond(t, c);
                let var = VARS[usize::from(*var)];
                asm!(t, "v_cndmask_b32 {var}, {var}, v17, vcc");
            }
            Stmt::Store { slot, value: v, atomic } => {
                let word = own_word(t, slot);
                let v = value(t, v, "v13");
                let op = if *atomic { "flat_atomic_swap" } else { "flat_store_dword" };
                asm!(t, "{op} {word}, {v}");
                asm!(t, "s_waitcnt vmcnt(0) lgkmcnt(0)");
            }
            Stmt::Atomic(op, v) => {
                let v = value(t, v, "v12");
                asm!(t, "v_mov_b32 v14, s8");
                asm!(t, "v_mov_b32 v15, s9");
                asm!(t, "v_add_u32 v14, vcc, {}, v14", 4 * *op as u32);
                asm!(t, "v_addc_u32 v15, vcc, 0, v15, vcc");
                let op = match op {
                    Shared::Add => "add",
                    Shared::Xor => "xor",
                    Shared::Max => "umax",
                };
                asm!(t, "flat_atomic_{op} v[14:15], {v}");
            }
            Stmt::If { cond, yes, no, shape } => self.an_if(cond, yes, no, *shape),
            Stmt::Loop { form, count, mask, shape, body } => {
                let left = LEFT[self.loops];
                let count = value(t, count, "v12");
                asm!(t, "v_and_b32 {left}, {mask}, {count}");
                self.loops += 1;
                match (form, shape) {
                    (Form::While, LoopShape::Header) => self.header_loop(left, body),
                    (Form::While, LoopShape::Rotated) => self.while_loop(left, body),
                    (Form::DoWhile, _) => {
                        asm!(self.text, "v_add_u32 {left}, vcc, 1, {left}");
                        self.rotated_loop(left, body, false);
                    }
                }
                self.loops -= 1;
            }
            // Loops take the breaks out of their bodies.
            Stmt::Break(_) => {}
        }
        self.next = free;
    }

    /// The next branch: marks it, if it is its turn. `structured`: its region ends in one known place.
    fn mark(&mut self, structured: bool) -> Mark {
        // A path may leave the regions around it for good, and pass their merges by.
        let apart = self.ending.is_some_and(|seed| mix(seed ^ self.places << 8).is_multiple_of(4));
        match structured && apart {
            true => Mark { split: false, ..self.mark_as(Some("split_end")) },
            false => self.mark_as(structured.then_some("split")),
        }
    }

    /// The same, with the instruction that parts the lanes, if one may.
    pub(super) fn mark_as(&mut self, split: Option<&str>) -> Mark {
        self.places += 1;
        let chosen = match self.marking {
            Marking::None => return Mark::default(),
            Marking::All => true,
            Marking::Random(seed) => mix(seed ^ self.places << 20).is_multiple_of(2),
        };
        let mark = Mark { split: chosen && split.is_some(), mode: chosen };
        if let Some(split) = split.filter(|_| chosen) {
            asm!(self.text, "{split} exec_lo, exec_hi");
        }
        if mark.mode {
            asm!(self.text, "{MODE} 1");
        }
        mark
    }

    /// After the branch, on either way.
    pub(super) fn branched(&mut self, mark: Mark) {
        if mark.mode {
            asm!(self.text, "{MODE} 0");
        }
    }

    fn merge(&mut self, mark: Mark) {
        if mark.split {
            asm!(self.text, "merge");
        }
    }

    fn an_if(&mut self, test: &Cond, yes: &[Stmt], no: &[Stmt], shape: Shape) {
        cond(&mut self.text, test);
        let saved = self.pair();
        let (other, end) = (self.text.fresh("else"), self.text.fresh("end"));
        asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
        if !no.is_empty() {
            asm!(self.text, "s_xor_b64 {saved}, exec, {saved}");
        }
        let mut first = Mark::default();
        if !shape.no_skip {
            first = self.mark(true);
            asm!(self.text, "s_cbranch_execz {other}");
            self.branched(first);
        }
        self.block(yes);
        self.text.place(&other);
        self.branched(first);
        let mut second = Mark::default();
        if !no.is_empty() {
            match shape.serial {
                Serial::AndNot => asm!(self.text, "s_andn2_saveexec_b64 {saved}, {saved}"),
                Serial::OrXor => {
                    asm!(self.text, "s_or_saveexec_b64 {saved}, {saved}");
                    asm!(self.text, "s_xor_b64 exec, exec, {saved}");
                }
            }
            if !shape.no_skip_else {
                second = self.mark(true);
                asm!(self.text, "s_cbranch_execz {end}");
                self.branched(second);
            }
            self.block(no);
            self.text.place(&end);
            self.branched(second);
        }
        asm!(self.text, "s_or_b64 exec, exec, {saved}");
        self.merge(second);
        self.merge(first);
    }

    /// An if around a loop with its test at the end.
    fn while_loop(&mut self, left: &str, body: &[Stmt]) {
        let (saved, end) = (self.pair(), self.text.fresh("end"));
        asm!(self.text, "v_cmp_ne_u32 vcc, 0, {left}");
        asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
        let mark = self.mark(true);
        asm!(self.text, "s_cbranch_execz {end}");
        self.branched(mark);
        self.rotated_loop(left, body, true);
        self.text.place(&end);
        self.branched(mark);
        asm!(self.text, "s_or_b64 exec, exec, {saved}");
        self.merge(mark);
    }

    /// Counts down at the head (`early`) or at the end of the body.
    fn rotated_loop(&mut self, left: &str, body: &[Stmt], early: bool) {
        let (done, gone) = (self.pair(), self.pair());
        let head = self.text.fresh("loop");
        let breaks = body.iter().any(|s| matches!(s, Stmt::Break(_)));
        asm!(self.text, "s_mov_b64 {done}, 0");
        if breaks {
            asm!(self.text, "s_mov_b64 {gone}, 0");
        }
        self.text.place(&head);
        // A mark of the branch at the end ends here, too.
        let marked = self.marking != Marking::None;
        self.branched(Mark { split: false, mode: marked });
        if early {
            asm!(self.text, "v_sub_u32 {left}, vcc, {left}, 1");
        }
        self.breaking(body, Some(&gone), |_| {});
        if !early {
            asm!(self.text, "v_sub_u32 {left}, vcc, {left}, 1");
        }
        asm!(self.text, "v_cmp_eq_u32 vcc, 0, {left}");
        if breaks {
            asm!(self.text, "s_or_b64 vcc, vcc, {gone}");
            asm!(self.text, "s_and_b64 vcc, exec, vcc");
        }
        asm!(self.text, "s_or_b64 {done}, vcc, {done}");
        asm!(self.text, "s_andn2_b64 exec, exec, {done}");
        let mark = self.mark(false);
        asm!(self.text, "s_cbranch_execnz {head}");
        self.branched(mark);
        asm!(self.text, "s_or_b64 exec, exec, {done}");
    }

    /// The test at the head; lanes that leave are collected in a block above it.
    fn header_loop(&mut self, left: &str, body: &[Stmt]) {
        let (done, leaves, saved, here) = (self.pair(), self.pair(), self.pair(), self.pair());
        let (collect, head, exit) =
            (self.text.fresh("collect"), self.text.fresh("head"), self.text.fresh("exit"));
        let marked = self.marking != Marking::None;
        asm!(self.text, "s_mov_b64 {done}, 0");
        asm!(self.text, "s_mov_b64 {leaves}, 0");
        asm!(self.text, "s_branch {head}");
        self.text.place(&collect);
        self.branched(Mark { split: false, mode: marked });
        asm!(self.text, "s_or_b64 exec, exec, {saved}");
        asm!(self.text, "s_and_b64 {here}, exec, {leaves}");
        asm!(self.text, "s_or_b64 {done}, {here}, {done}");
        asm!(self.text, "s_andn2_b64 exec, exec, {done}");
        let mark = self.mark(false);
        asm!(self.text, "s_cbranch_execz {exit}");
        self.branched(mark);
        self.text.place(&head);
        asm!(self.text, "s_or_b64 {leaves}, {leaves}, exec");
        asm!(self.text, "v_cmp_ne_u32 vcc, 0, {left}");
        asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
        let inner = self.mark(false);
        asm!(self.text, "s_cbranch_execz {collect}");
        self.branched(inner);
        asm!(self.text, "v_sub_u32 {left}, vcc, {left}, 1");
        // Whoever comes to the end of the body stays.
        self.breaking(body, None, |e| asm!(e.text, "s_andn2_b64 {leaves}, {leaves}, exec"));
        asm!(self.text, "s_branch {collect}");
        self.text.place(&exit);
        self.branched(mark);
        asm!(self.text, "s_or_b64 exec, exec, {done}");
    }

    /// The body of a loop: what follows a break is an if around the lanes that stay. Lanes that break are added to
    /// `gone`; `last` is for those that come to the end.
    fn breaking(&mut self, body: &[Stmt], gone: Option<&str>, last: impl FnOnce(&mut Emit)) {
        let free = self.next;
        let mut open = Vec::new();
        for stmt in body {
            let Stmt::Break(test) = stmt else {
                self.statement(stmt);
                continue;
            };
            cond(&mut self.text, test);
            let (saved, end) = (self.pair(), self.text.fresh("broke"));
            if let Some(gone) = gone {
                asm!(self.text, "s_or_b64 {gone}, {gone}, vcc");
            }
            asm!(self.text, "s_andn2_b64 vcc, exec, vcc");
            asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
            let mark = self.mark(true);
            asm!(self.text, "s_cbranch_execz {end}");
            self.branched(mark);
            open.push((saved, end, mark));
        }
        last(self);
        for (saved, end, mark) in open.into_iter().rev() {
            self.text.place(&end);
            self.branched(mark);
            asm!(self.text, "s_or_b64 exec, exec, {saved}");
            self.merge(mark);
        }
        self.next = free;
    }
}
