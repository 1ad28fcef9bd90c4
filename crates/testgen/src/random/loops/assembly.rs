//! Random loops in GCN3 assembly that look like counted ones and often are not: tests and steps that do not fit, several
//! counters, masks that grow and shrink, limits from arguments and memory, values at the ends of the number lines.

use super::noise::Noise;
use std::fmt::Write;

/// Where the pieces of a case live.
/// s4, s5: arguments; s[16:19]: memory; s10–s13: counters; s14, s15: temporaries; s[20:31]: masks.
/// v0: lane; v10, v11: memory; v1–v4: counters; v5, v6: temporaries.
const SCALARS: [&str; 4] = ["s10", "s11", "s12", "s13"];
const VECTORS: [&str; 4] = ["v1", "v2", "v3", "v4"];
const MASKS: [&str; 6] = ["s[20:21]", "s[22:23]", "s[24:25]", "s[26:27]", "s[28:29]", "s[30:31]"];
const RELS: [&str; 6] = ["lt", "le", "gt", "ge", "eq", "ne"];

/// Inputs of a kernel's arguments.
#[derive(Clone, Debug)]
pub struct Source {
    pub text: String,
    pub n: u32,
    pub m: u32,
    pub lanes: u32,
}

pub(super) struct Writer {
    pub(super) noise: Noise,
    text: String,
    labels: u32,
    /// Labels to leave and to go round the loops that are open.
    open: Vec<(String, String)>,
    statements: u32,
    /// Counters that statements and tests use more often than others.
    favourite: (&'static str, &'static str),
}

/// The loops of a case.
pub fn assembly(case: u64) -> Source {
    let mut w = Writer {
        noise: Noise::new(case),
        text: String::new(),
        labels: 0,
        open: Vec::new(),
        statements: 0,
        favourite: (SCALARS[0], VECTORS[0]),
    };
    let (n, m) = (w.noise.number(), w.noise.number());
    let lanes = w.noise.pick(&[1, 2, 3, 16, 40, 64, 64, 64]);
    w.start();
    // Every third case is one of the shapes that wrong proofs were found in, with other numbers each time.
    match w.noise.below(15) {
        0 => w.misfit(),
        1 => w.ballot(),
        2 => w.lanes_come_back(),
        3 => w.inverted(),
        4 => w.overwritten(),
        _ => {
            let loops = 1 + w.noise.below(3).saturating_sub(1);
            (0..loops).for_each(|_| w.looped(0));
        }
    }
    w.line("s_endpgm");
    Source { text: w.text, n, m, lanes }
}

impl Writer {
    pub(super) fn line(&mut self, text: &str) {
        _ = writeln!(self.text, "  {text}");
    }

    pub(super) fn label(&mut self, text: &str) {
        _ = writeln!(self.text, "{text}:");
    }

    fn new_label(&mut self, what: &str) -> String {
        self.labels += 1;
        format!("{what}{}", self.labels)
    }

    /// Loads and first values.
    fn start(&mut self) {
        self.text.push_str(".kernel k\n.arg u32 n\n.arg u32 m\n.arg buf data\n");
        for line in [
            "s_load_dwordx2 s[4:5], s[0:1], 0x0",
            "s_load_dwordx2 s[6:7], s[0:1], 0x8",
            "s_waitcnt lgkmcnt(0)",
            "s_load_dwordx4 s[16:19], s[6:7], 0x0",
            "v_lshlrev_b32 v20, 2, v0",
            "v_mov_b32 v21, s7",
            "v_add_u32 v20, vcc, s6, v20",
            "v_addc_u32 v21, vcc, 0, v21, vcc",
            "flat_load_dword v10, v[20:21]",
            "v_add_u32 v20, vcc, 0x100, v20",
            "v_addc_u32 v21, vcc, 0, v21, vcc",
            "flat_load_dword v11, v[20:21]",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
        ] {
            self.line(line);
        }
        for s in SCALARS {
            self.scalar_value(s);
        }
        for v in VECTORS {
            self.vector_value(v);
        }
        for mask in MASKS {
            match self.noise.below(4) {
                0 => self.line(&format!("s_mov_b64 {mask}, exec")),
                1 => self.line(&format!("s_mov_b64 {mask}, -1")),
                2 => self.compare_lanes(mask),
                _ => self.line(&format!("s_mov_b64 {mask}, 0")),
            }
        }
        if self.noise.one_in(4) {
            self.compare_lanes("vcc");
            self.line("s_and_b64 exec, exec, vcc");
        }
    }

    fn scalar_value(&mut self, to: &str) {
        let number = self.noise.number();
        match self.noise.below(8) {
            0..=3 => self.line(&format!("s_mov_b32 {to}, {number:#x}")),
            4 => self.line(&format!("s_mov_b32 {to}, s4")),
            5 => self.line(&format!("s_mov_b32 {to}, s16")),
            6 => self.line(&format!("s_and_b32 {to}, s17, 31")),
            _ => self.line(&format!("s_min_u32 {to}, s18, {}", number & 63)),
        }
    }

    fn vector_value(&mut self, to: &str) {
        let number = self.noise.number();
        match self.noise.below(8) {
            0 | 1 => self.line(&format!("v_mov_b32 {to}, {number:#x}")),
            2 if number & 1 == 1 => self.line(&format!("v_and_b32 {to}, 15, v0")),
            2 => self.line(&format!("v_mov_b32 {to}, v0")),
            3 => {
                let shift = self.noise.below(3);
                self.line(&format!("v_lshlrev_b32 {to}, {shift}, v0"));
                self.line(&format!("v_add_u32 {to}, vcc, {number:#x}, {to}"));
            }
            4 => self.line(&format!("v_and_b32 {to}, 31, v10")),
            5 => self.line(&format!("v_mov_b32 {to}, s4")),
            6 => self.line(&format!("v_min_u32 {to}, {}, v11", number & 63)),
            _ => self.line(&format!("v_mov_b32 {to}, v11")),
        }
    }

    fn scalar(&mut self) -> &'static str {
        let any = self.noise.pick(&SCALARS);
        if self.noise.one_in(3) { any } else { self.favourite.0 }
    }

    fn vector(&mut self) -> &'static str {
        let any = self.noise.pick(&VECTORS);
        if self.noise.one_in(3) { any } else { self.favourite.1 }
    }

    fn mask(&mut self) -> &'static str {
        match self.noise.below(4) {
            0 => "vcc",
            _ => self.noise.pick(&MASKS),
        }
    }

    /// A scalar source: a limit more often than a counter.
    fn scalar_source(&mut self) -> String {
        match self.noise.below(10) {
            0..=2 => "s4".into(),
            3 => "s5".into(),
            4..=6 => format!("{}", self.noise.below(64)),
            7 => self.noise.pick(&["s16", "s17"]).into(),
            8 => "s14".into(),
            _ => self.scalar().into(),
        }
    }

    fn step_scalar(&mut self, of: &str) {
        let by = self.noise.step();
        let shift = 1 + self.noise.below(3);
        match self.noise.below(16) {
            0..=5 => self.line(&format!("s_add_u32 {of}, {of}, {by:#x}")),
            6 | 7 => self.line(&format!("s_sub_i32 {of}, {of}, {by:#x}")),
            8 => self.line(&format!("s_addk_i32 {of}, {}", i64::from(by & 7) - 4)),
            9 | 10 => self.line(&format!("s_lshr_b32 {of}, {of}, {shift}")),
            11 => self.line(&format!("s_lshl_b32 {of}, {of}, {shift}")),
            12 => self.line(&format!("s_ashr_i32 {of}, {of}, {shift}")),
            13 => {
                let other = self.scalar_source();
                self.line(&format!("s_add_i32 {of}, {of}, {other}"));
            }
            14 => {
                self.line(&format!("s_add_u32 s15, {of}, {by:#x}"));
                self.line(&format!("s_cselect_b32 {of}, s15, {of}"));
            }
            _ => self.line(&format!("s_add_u32 {of}, {of}, {of}")),
        }
    }

    fn step_vector(&mut self, of: &str) {
        let by = self.noise.step();
        let shift = 1 + self.noise.below(3);
        match self.noise.below(14) {
            0..=5 => self.line(&format!("v_add_u32 {of}, vcc, {by:#x}, {of}")),
            6 | 7 => self.line(&format!("v_subrev_u32 {of}, vcc, {by:#x}, {of}")),
            8 => self.line(&format!("v_lshrrev_b32 {of}, {shift}, {of}")),
            9 => self.line(&format!("v_lshlrev_b32 {of}, {shift}, {of}")),
            10 => self.line(&format!("v_ashrrev_i32 {of}, {shift}, {of}")),
            11 => {
                let mask = self.mask();
                self.line(&format!("v_add_u32 v6, vcc, {}, {of}", by & 63));
                self.line(&format!("v_cndmask_b32 {of}, {of}, v6, {mask}"));
            }
            12 => {
                let s = self.scalar();
                self.line(&format!("v_add_u32 {of}, vcc, {s}, {of}"));
            }
            _ => {
                let other = self.vector();
                self.line(&format!("v_add_u32 {of}, vcc, {other}, {of}"));
            }
        }
    }

    /// A temporary made of a counter; the counter itself more often than not.
    fn form_scalar(&mut self, of: &'static str) -> &'static str {
        let shift = 1 + self.noise.below(6);
        let number = self.noise.number();
        match self.noise.below(10) {
            0 => self.line(&format!("s_lshr_b32 s14, {of}, {shift}")),
            1 => self.line(&format!("s_lshl_b32 s14, {of}, {shift}")),
            2 => self.line(&format!("s_add_u32 s14, {of}, {number:#x}")),
            3 => self.line(&format!("s_sub_u32 s14, {of}, s5")),
            _ => return of,
        }
        "s14"
    }

    fn form_vector(&mut self, of: &'static str) -> &'static str {
        let shift = 1 + self.noise.below(6);
        let number = self.noise.number();
        match self.noise.below(10) {
            0 => self.line(&format!("v_lshrrev_b32 v5, {shift}, {of}")),
            1 => self.line(&format!("v_lshlrev_b32 v5, {shift}, {of}")),
            2 => self.line(&format!("v_add_u32 v5, vcc, {number:#x}, {of}")),
            3 => self.line(&format!("v_add_u32 v5, vcc, v10, {of}")),
            _ => return of,
        }
        "v5"
    }

    fn compare_scalars(&mut self) {
        let counter = self.scalar();
        let a = self.form_scalar(counter);
        let b = self.scalar_source();
        let ty = self.noise.pick(&["i32", "u32"]);
        let rel = self.noise.pick(&RELS).replace("ne", "lg");
        match self.noise.below(12) {
            0 => self.line("s_cmp_lg_u64 s[20:21], 0"),
            1 => self.line(&format!("s_cmp_{rel}_{ty} {b}, {a}")),
            2 => {
                let mask = self.mask();
                let other = self.mask();
                self.line(&format!("s_and_b64 {mask}, exec, {other}"));
            }
            _ => self.line(&format!("s_cmp_{rel}_{ty} {a}, {b}")),
        }
    }

    fn compare_lanes(&mut self, to: &str) {
        let counter = self.vector();
        let rel = self.noise.pick(&RELS);
        match self.noise.below(12) {
            // A ballot: a scalar counter against something that differs between lanes.
            0..=2 => {
                let counter = self.scalar();
                let s = self.form_scalar(counter);
                let v = self.noise.pick(&["v0", "v10", "v11", "v3"]);
                let ty = self.noise.pick(&["u32", "i32"]);
                self.line(&format!("v_cmp_{rel}_{ty} {to}, {s}, {v}"));
            }
            3 => {
                let ty = self.noise.pick(&["u16", "i16"]);
                let a = self.scalar_source();
                self.line(&format!("v_cmp_{rel}_{ty} {to}, {a}, {counter}"));
            }
            4 => self.line(&format!("v_cmp_{rel}_u64 {to}, v[10:11], v[1:2]")),
            5 => {
                let v = self.form_vector(counter);
                let ty = self.noise.pick(&["u32", "i32"]);
                self.line(&format!("v_cmp_{rel}_{ty} {to}, v10, {v}"));
            }
            _ => {
                let v = self.form_vector(counter);
                let a = self.scalar_source();
                let ty = self.noise.pick(&["u32", "i32"]);
                self.line(&format!("v_cmp_{rel}_{ty} {to}, {a}, {v}"));
            }
        }
    }

    fn mask_operation(&mut self) {
        let op = self.noise.pick(&["and", "or", "andn2", "xor", "nor", "orn2"]);
        let (to, a, b) = (self.mask(), self.mask(), self.mask());
        match self.noise.below(8) {
            0 => self.line(&format!("s_not_b64 {to}, {a}")),
            1 => self.line(&format!("s_cselect_b64 {to}, -1, 0")),
            2 => self.line(&format!("s_mov_b64 {to}, {a}")),
            3 => self.line(&format!("s_{op}_b64 {to}, exec, {a}")),
            4 => self.line(&format!("s_andn2_b64 {to}, exec, {a}")),
            _ => self.line(&format!("s_{op}_b64 {to}, {a}, {b}")),
        }
    }

    /// EXEC changes: often only lanes go, sometimes they come back.
    fn lanes(&mut self) {
        let a = self.mask();
        match self.noise.below(12) {
            0..=3 => self.line(&format!("s_and_b64 exec, exec, {a}")),
            4 | 5 => self.line(&format!("s_andn2_b64 exec, exec, {a}")),
            6 | 7 => self.line(&format!("s_or_b64 exec, exec, {a}")),
            8 => self.line(&format!("s_mov_b64 exec, {a}")),
            9 => self.line(&format!("s_xor_b64 exec, exec, {a}")),
            10 => {
                let rel = self.noise.pick(&RELS);
                let (a, v) = (self.scalar_source(), self.vector());
                self.line(&format!("v_cmpx_{rel}_u32 vcc, {a}, {v}"));
            }
            _ => self.line("s_mov_b64 exec, s[30:31]"),
        }
    }

    /// A side that only some lanes run.
    fn region(&mut self, depth: u32) {
        let saved = self.noise.pick(&MASKS);
        let end = self.new_label("end");
        self.compare_lanes("vcc");
        self.line(&format!("s_and_saveexec_b64 {saved}, vcc"));
        if !self.noise.one_in(3) {
            self.line(&format!("s_cbranch_execz {end}"));
        }
        for _ in 0..1 + self.noise.below(3) {
            self.statement(depth);
        }
        if self.noise.one_in(3) {
            let other = self.new_label("other");
            self.label(&end);
            self.line(&format!("s_xor_b64 exec, exec, {saved}"));
            self.line(&format!("s_cbranch_execz {other}"));
            self.statement(depth);
            self.label(&other);
            self.line(&format!("s_or_b64 exec, exec, {saved}"));
            return;
        }
        self.label(&end);
        self.line(&format!("s_or_b64 exec, exec, {saved}"));
    }

    fn statement(&mut self, depth: u32) {
        self.statements += 1;
        if self.statements > 40 {
            return;
        }
        match self.noise.below(24) {
            0..=4 => {
                let s = self.scalar();
                self.step_scalar(s);
            }
            5..=9 => {
                let v = self.vector();
                self.step_vector(v);
            }
            10 => {
                let (a, b) = (self.scalar(), self.scalar());
                self.line(&format!("s_mov_b32 {a}, {b}"));
            }
            11 => {
                let (a, b) = (self.vector(), self.vector());
                self.line(&format!("v_mov_b32 {a}, {b}"));
            }
            12 => {
                let to = self.mask();
                self.compare_lanes(to);
            }
            13 | 14 => self.mask_operation(),
            15 => self.lanes(),
            16..=18 => self.region(depth),
            19 if depth < 2 => self.looped(depth + 1),
            20 | 21 => self.leave(),
            22 => {
                let v = self.vector();
                self.line(&format!("v_and_b32 v5, 63, {v}"));
                self.line(&format!("v_readfirstlane_b32 s15, {v}"));
            }
            _ => self.compare_scalars(),
        }
    }

    /// Break, or go round early.
    fn leave(&mut self) {
        let Some((exit, again)) = self.open.last().cloned() else { return };
        let to = if self.noise.one_in(3) { again } else { exit };
        self.branch(&to);
    }

    /// A branch that some condition decides.
    fn branch(&mut self, to: &str) {
        match self.noise.below(7) {
            // A ballot that goes on while some lane has not been met.
            6 => {
                let s = self.scalar();
                let v = self.noise.pick(&["v0", "v10", "v11", "v1", "v2", "v3"]);
                self.line(&format!("v_cmp_ne_u32 vcc, {s}, {v}"));
                self.line(&format!("s_cbranch_vccnz {to}"));
            }
            0 | 1 => {
                self.compare_scalars();
                let way = self.noise.pick(&["scc0", "scc1"]);
                self.line(&format!("s_cbranch_{way} {to}"));
            }
            2 => {
                self.compare_lanes("vcc");
                if self.noise.one_in(2) {
                    let op = self.noise.pick(&["and", "and", "andn2", "or", "xor"]);
                    self.line(&format!("s_{op}_b64 vcc, exec, vcc"));
                }
                if self.noise.one_in(6) {
                    self.line("s_not_b64 vcc, vcc");
                }
                let way = self.noise.pick(&["vccz", "vccnz", "vccnz"]);
                self.line(&format!("s_cbranch_{way} {to}"));
            }
            3 => {
                // As clang leaves a loop by a mask of all or nothing.
                let mask = self.noise.pick(&MASKS);
                self.compare_scalars();
                self.line(&format!("s_cselect_b64 {mask}, -1, 0"));
                let op = self.noise.pick(&["and", "andn2"]);
                self.line(&format!("s_{op}_b64 vcc, exec, {mask}"));
                let way = self.noise.pick(&["vccz", "vccnz"]);
                self.line(&format!("s_cbranch_{way} {to}"));
            }
            4 => {
                self.compare_lanes("vcc");
                let op = self.noise.pick(&["and", "andn2"]);
                self.line(&format!("s_{op}_b64 exec, exec, vcc"));
                let way = self.noise.pick(&["execz", "execnz"]);
                self.line(&format!("s_cbranch_{way} {to}"));
            }
            _ => {
                let mask = self.noise.pick(&MASKS);
                self.compare_lanes("vcc");
                self.line(&format!("s_or_b64 {mask}, vcc, {mask}"));
                self.line(&format!("s_andn2_b64 exec, exec, {mask}"));
                let way = self.noise.pick(&["execz", "execnz"]);
                self.line(&format!("s_cbranch_{way} {to}"));
            }
        }
    }

    fn looped(&mut self, depth: u32) {
        let (head, exit) = (self.new_label("head"), self.new_label("exit"));
        let again = self.new_label("again");
        let saved = self.noise.pick(&MASKS);
        let save = self.noise.one_in(2);
        let before = self.favourite;
        self.favourite = (self.noise.pick(&SCALARS), self.noise.pick(&VECTORS));
        if self.noise.one_in(2) {
            let s = self.scalar();
            self.scalar_value(s);
        }
        if self.noise.one_in(2) {
            let v = self.vector();
            self.vector_value(v);
        }
        if save {
            self.line(&format!("s_mov_b64 {saved}, exec"));
        }
        self.label(&head);
        self.open.push((exit.clone(), again.clone()));
        let tested_first = self.noise.one_in(2);
        if tested_first {
            self.branch(&exit);
        }
        for _ in 0..1 + self.noise.below(5) {
            self.statement(depth);
        }
        self.label(&again);
        if self.noise.one_in(3) {
            self.statement(depth);
        }
        match tested_first && self.noise.one_in(2) {
            true => self.line(&format!("s_branch {head}")),
            false => self.branch(&head),
        }
        self.open.pop();
        self.favourite = before;
        self.label(&exit);
        if save {
            self.line(&format!("s_or_b64 exec, exec, {saved}"));
        }
    }
}
