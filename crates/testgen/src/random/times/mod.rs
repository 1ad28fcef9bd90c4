//! Random kernels in assembly whose time depends on everything that a proved bound speaks about: accesses of all patterns, bank
//! conflicts, waits for some of what is outstanding, branches that contents decide, loops that contents leave early, barriers that some
//! waves pass and others do not, long straight code and short loops (docs/proved-bounds.md, "The search").
//!
//! `s[4:5]` input, `s[6:7]` output, s8 to s15 numbers, from s40 on counters of loops; v0 work-item, v4 its number in the launch, v8 to v15
//! values, v16 to v23 addresses, v24 to v39 what is loaded.

mod job;

pub use job::{LONGER, late_job, times_files, times_job, times_machine};

use super::loops::Noise;
use std::fmt::Write;

/// Words of each buffer.
pub const WORDS: u32 = 2048;

/// What may be in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Everything.
    Any,
    /// Every lane takes part in every access, local memory has no conflicts but its two rows, and contents decide nothing: the time of one
    /// wave follows from its instructions alone.
    Plain,
    /// Everything, with ifs that split waves: no barriers inside them, and sides that leave scalars alone.
    Splits,
    /// The same, with an end at which lanes part for good.
    Ends,
}

impl Style {
    fn splits(self) -> bool {
        match self {
            Style::Any | Style::Plain => false,
            Style::Splits | Style::Ends => true,
        }
    }
}

/// The assembly of case number `case`, for groups of `group` work-items.
pub fn times_kernel(case: u64, style: Style, group: u32) -> String {
    let noise = Noise::new(case ^ 0x7177_e5a1);
    let mut g = Generator {
        noise,
        text: String::new(),
        labels: 0,
        style,
        next: 0,
        loops: 0,
        inside: 0,
        apart: false,
    };
    g.text.push_str(".kernel times\n.arg buf input\n.arg buf output\n.lds 4096\n");
    g.line("s_load_dwordx4 s[4:7], s[0:1], 0x0");
    g.line("s_waitcnt lgkmcnt(0)");
    g.line("s_mov_b32 m0, -1");
    g.line(&format!("s_mul_i32 s8, s2, {group}"));
    g.line("v_add_u32 v4, vcc, s8, v0");
    for n in 8..16 {
        let value = g.noise.below(64);
        g.line(&format!("s_movk_i32 s{n}, {value}"));
    }
    for v in 8..16 {
        g.line(&format!("v_add_u32 v{v}, vcc, {v}, v0"));
    }
    for v in 24..40 {
        g.line(&format!("v_mov_b32 v{v}, 0"));
    }
    let count = 3 + g.noise.below(24);
    g.statements(count, 0);
    if style == Style::Ends {
        let end = g.label();
        (g.apart, g.inside) = (true, 1);
        g.ending(2, &end);
        let _ = writeln!(g.text, "{end}:");
    }
    g.line("s_endpgm");
    g.text
}

struct Generator {
    noise: Noise,
    text: String,
    labels: u32,
    style: Style,
    /// Loaded values go round v24 to v39.
    next: u64,
    loops: u32,
    /// Ifs around.
    inside: u32,
    /// Lanes may have parted for good: no instruction may look at other lanes.
    apart: bool,
}

impl Generator {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn value(&mut self) -> u64 {
        8 + self.noise.below(8)
    }

    fn loaded(&mut self) -> u64 {
        24 + self.noise.below(16)
    }

    fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            let plain = self.style == Style::Plain;
            match self.noise.below(100) {
                0..=24 => self.arithmetic(),
                25..=34 if self.inside == 0 => self.scalar(),
                35..=54 => self.global(),
                60..=74 if self.style.splits() && depth < 3 => self.if_else(depth),
                55..=66 if !self.apart => self.local(),
                67..=71 => self.wait(),
                72..=78 if depth < 2 => self.repeat(depth),
                79..=84 if depth < 3 && !plain => self.region(depth),
                85..=89 if depth < 3 => self.skip(depth),
                90..=93 if !plain && !self.apart => self.barrier(depth),
                94..=95 => (0..20).for_each(|_| self.arithmetic()),
                _ => self.arithmetic(),
            }
        }
    }

    fn arithmetic(&mut self) {
        let (d, a) = (self.value(), self.value());
        let b = if self.noise.one_in(3) { self.loaded() } else { self.value() };
        match self.noise.below(9) {
            0 => self.line(&format!("v_xor_b32 v{d}, v{a}, v{b}")),
            1 => self.line(&format!("v_mul_lo_u32 v{d}, v{a}, v{b}")),
            2 => self.line(&format!("v_rcp_f32 v{d}, v{a}")),
            3 => self.line("v_add_f64 v[12:13], v[14:15], v[10:11]"),
            4 => self.line(&format!("v_mac_f32 v{d}, v{a}, v{b}")),
            5 => self.line(&format!("v_cmp_lt_u32 vcc, v{a}, v{b}")),
            6 => self.line(&format!("v_cndmask_b32 v{d}, v{a}, v{b}, vcc")),
            _ => self.line(&format!("v_add_u32 v{d}, vcc, v{a}, v{b}")),
        }
    }

    fn scalar(&mut self) {
        let (d, a, b) = (8 + self.noise.below(8), 8 + self.noise.below(8), 8 + self.noise.below(8));
        match self.noise.below(6) {
            0 => self.line(&format!("s_add_u32 s{d}, s{a}, s{b}")),
            1 => self.line(&format!("s_mul_i32 s{d}, s{a}, s{b}")),
            2 => self.line("s_nop 0"),
            3 => self.line(&format!("v_mov_b32 v{}, s{a}", 8 + d % 8)),
            _ => self.line(&format!("s_and_b32 s{d}, s{a}, 63")),
        }
    }

    fn wait(&mut self) {
        let (v, l) = (self.noise.below(5), self.noise.below(4));
        match self.noise.below(3) {
            0 => self.line(&format!("s_waitcnt vmcnt({v})")),
            1 => self.line(&format!("s_waitcnt lgkmcnt({l})")),
            _ => self.line(&format!("s_waitcnt vmcnt({v}) lgkmcnt({l})")),
        }
    }

    /// Byte offset of an aligned piece of a buffer in v16, by one of many patterns.
    fn offset(&mut self, bytes: u32) {
        let mask = 4 * WORDS - bytes;
        let any = self.style != Style::Plain;
        match self.noise.below(if any { 8 } else { 3 }) {
            0 | 1 => self.line(&format!("v_lshlrev_b32 v16, {}, v4", bytes.trailing_zeros())),
            2 => {
                let stride = 4 * (1 + self.noise.below(40));
                self.line(&format!("s_movk_i32 s37, {stride}"));
                self.line("v_mul_lo_u32 v16, v4, s37");
            }
            3 => self.line("v_mov_b32 v16, s9"),
            4 => {
                let from = self.loaded();
                self.line(&format!("v_lshlrev_b32 v16, 2, v{from}"));
            }
            5 => {
                let from = self.value();
                self.line("s_movk_i32 s37, 0x9e5");
                self.line(&format!("v_mul_lo_u32 v16, v{from}, s37"));
            }
            6 => self.line("v_lshlrev_b32 v16, 6, v4"),
            _ => self.line("v_lshlrev_b32 v16, 7, v4"),
        }
        self.line(&format!("v_and_b32 v16, {mask:#x}, v16"));
    }

    fn global(&mut self) {
        let to = 24 + self.next % 16;
        let wide = self.noise.pick(&[1, 1, 1, 2, 4]);
        let store = self.noise.one_in(3);
        let base = if store { 6 } else { 4 };
        if self.inside == 0 && self.noise.one_in(8) {
            let from = 8 + self.noise.below(8);
            self.line(&format!("s_lshl_b32 s39, s{from}, 2"));
            self.line("s_and_b32 s39, s39, 0xfc");
            let s = 8 + self.noise.below(8);
            self.line(&format!("s_load_dword s{s}, s[4:5], s39"));
            self.line("s_waitcnt lgkmcnt(0)");
            return;
        }
        self.offset(4 * wide);
        self.line(&format!("v_add_u32 v16, vcc, s{base}, v16"));
        self.line(&format!("v_mov_b32 v17, s{}", base + 1));
        self.line("v_addc_u32 v17, vcc, 0, v17, vcc");
        let suffix = match wide {
            1 => "dword",
            2 => "dwordx2",
            _ => "dwordx4",
        };
        let first = 24 + (to - 24) / 4 * 4;
        let registers = match wide {
            1 => format!("v{to}"),
            n => format!("v[{first}:{}]", u64::from(n) + first - 1),
        };
        if store && self.noise.one_in(4) {
            self.line(&format!("flat_atomic_add v{to}, v[16:17], v8 glc"));
        } else if store {
            self.line(&format!("flat_store_{suffix} v[16:17], {registers}"));
        } else {
            self.line(&format!("flat_load_{suffix} {registers}, v[16:17]"));
        }
        self.next += u64::from(wide);
        if self.noise.one_in(3) {
            self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
        }
    }

    fn local(&mut self) {
        let (data, to) = (self.value(), 24 + self.next % 16);
        if self.style == Style::Plain {
            self.line("v_lshlrev_b32 v18, 2, v0");
        } else {
            match self.noise.below(5) {
                0 => self.line("v_lshlrev_b32 v18, 2, v0"),
                1 => {
                    let shift = 3 + self.noise.below(5);
                    self.line(&format!("v_lshlrev_b32 v18, {shift}, v0"));
                }
                2 => self.line(&format!("v_lshlrev_b32 v18, 3, v{data}")),
                3 => {
                    let from = self.loaded();
                    self.line(&format!("v_lshlrev_b32 v18, 7, v{from}"));
                }
                _ => self.line("v_mov_b32 v18, 16"),
            }
            self.line("v_and_b32 v18, 0xff0, v18");
        }
        let plain = self.style == Style::Plain;
        match self.noise.below(if plain { 2 } else { 6 }) {
            0 => self.line(&format!("ds_write_b32 v18, v{data}")),
            1 => self.line(&format!("ds_read_b32 v{to}, v18")),
            2 => self.line("ds_read_b64 v[24:25], v18"),
            3 => self.line("ds_read2_b32 v[26:27], v18 offset0:0 offset1:3"),
            4 => self.line("ds_read_b128 v[28:31], v18"),
            _ => self.line(&format!("ds_add_u32 v18, v{data}")),
        }
        self.next += 1;
        if self.noise.one_in(2) {
            self.line("s_waitcnt lgkmcnt(0)");
        }
    }

    /// A counted loop; contents may end it early.
    fn repeat(&mut self, depth: u32) {
        let counter = 40 + self.loops % 50;
        self.loops += 1;
        let (rounds, inner) = (1 + self.noise.below(6), 1 + self.noise.below(5));
        let (top, end) = (self.label(), self.label());
        self.line(&format!("s_mov_b32 s{counter}, 0"));
        let _ = writeln!(self.text, "{top}:");
        self.statements(inner, depth + 1);
        if self.style != Style::Plain && !self.apart && self.noise.one_in(3) {
            let (from, limit) = (self.loaded(), self.noise.below(64));
            self.line(&format!("v_readfirstlane_b32 s38, v{from}"));
            self.line(&format!("s_cmp_gt_u32 s38, {limit}"));
            self.line(&format!("s_cbranch_scc1 {end}"));
        }
        self.line(&format!("s_add_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_lt_u32 s{counter}, {rounds}"));
        self.line(&format!("s_cbranch_scc1 {top}"));
        let _ = writeln!(self.text, "{end}:");
    }

    /// Some lanes only.
    fn region(&mut self, depth: u32) {
        let save = 90 + 2 * depth;
        let saved = format!("s[{save}:{}]", save + 1);
        let (a, inner, limit) = (self.loaded(), 1 + self.noise.below(4), self.noise.below(64));
        self.line(&format!("v_cmp_lt_u32 vcc, {limit}, v{a}"));
        self.line(&format!("s_and_saveexec_b64 {saved}, vcc"));
        let end = self.label();
        if self.noise.one_in(2) {
            self.line(&format!("s_cbranch_execz {end}"));
        }
        self.statements(inner, depth + 1);
        let _ = writeln!(self.text, "{end}:");
        self.line(&format!("s_mov_b64 exec, {saved}"));
    }

    /// Two sides as compilers write them; the second may be missing.
    fn if_else(&mut self, depth: u32) {
        let save = 90 + 2 * depth;
        let saved = format!("s[{save}:{}]", save + 1);
        let (a, limit) = (self.loaded(), self.noise.below(64));
        let (other, end) = (self.label(), self.label());
        self.line(&format!("v_cmp_lt_u32 vcc, {limit}, v{a}"));
        self.line(&format!("s_and_saveexec_b64 {saved}, vcc"));
        let second = self.noise.one_in(2);
        if second {
            self.line(&format!("s_xor_b64 {saved}, exec, {saved}"));
        }
        self.line(&format!("s_cbranch_execz {}", if second { &other } else { &end }));
        self.inside += 1;
        let inner = 1 + self.noise.below(5);
        self.statements(inner, depth + 1);
        if second {
            let _ = writeln!(self.text, "{other}:");
            self.line(&format!("s_or_saveexec_b64 {saved}, {saved}"));
            self.line(&format!("s_xor_b64 exec, exec, {saved}"));
            self.line(&format!("s_cbranch_execz {end}"));
            let inner = 1 + self.noise.below(5);
            self.statements(inner, depth + 1);
        }
        self.inside -= 1;
        let _ = writeln!(self.text, "{end}:");
        self.line(&format!("s_or_b64 exec, exec, {saved}"));
    }

    /// The last code, without a mask restored before the end: two sides, lanes that return, a loop that lanes leave.
    fn ending(&mut self, depth: u32, end: &str) {
        let count = 1 + self.noise.below(6);
        self.statements(count, 1);
        if depth == 0 {
            return;
        }
        let (a, limit) = (self.loaded(), self.noise.below(64));
        let save = 96 + 2 * depth;
        let saved = format!("s[{save}:{}]", save + 1);
        self.line(&format!("v_cmp_lt_u32 vcc, {limit}, v{a}"));
        match self.noise.below(4) {
            0 | 1 => {
                let other = self.label();
                self.line(&format!("s_and_saveexec_b64 {saved}, vcc"));
                self.line(&format!("s_xor_b64 {saved}, exec, {saved}"));
                self.line(&format!("s_cbranch_execz {other}"));
                let count = 1 + self.noise.below(8);
                self.statements(count, 1);
                let _ = writeln!(self.text, "{other}:");
                self.line(&format!("s_andn2_saveexec_b64 {saved}, {saved}"));
                self.line(&format!("s_cbranch_execz {end}"));
            }
            2 => {
                self.line("s_and_b64 exec, exec, vcc");
                self.line(&format!("s_cbranch_execz {end}"));
            }
            _ => {
                let top = self.label();
                let rounds = 1 + self.noise.below(4);
                self.line(&format!("v_min_u32 v20, {rounds}, v{a}"));
                let _ = writeln!(self.text, "{top}:");
                let count = 1 + self.noise.below(4);
                self.statements(count, 2);
                self.line("v_subrev_u32 v20, vcc, 1, v20");
                self.line("v_cmp_lt_i32 vcc, 0, v20");
                self.line("s_and_b64 exec, exec, vcc");
                self.line(&format!("s_cbranch_execnz {top}"));
                return;
            }
        }
        self.ending(depth - 1, end);
    }

    /// A branch of the whole wave, on contents or on numbers.
    fn skip(&mut self, depth: u32) {
        let inner = 1 + self.noise.below(4);
        let (end, limit) = (self.label(), self.noise.below(64));
        if self.style != Style::Plain && !self.apart && self.noise.one_in(2) {
            let from = self.loaded();
            self.line(&format!("v_readfirstlane_b32 s38, v{from}"));
            self.line(&format!("s_cmp_lt_u32 s38, {limit}"));
        } else {
            let number = 8 + self.noise.below(8);
            self.line(&format!("s_cmp_lt_u32 s{number}, {limit}"));
        }
        self.line(&format!("s_cbranch_scc1 {end}"));
        self.statements(inner, depth + 1);
        if self.noise.one_in(3) {
            let over = self.label();
            self.line(&format!("s_branch {over}"));
            let _ = writeln!(self.text, "{end}:");
            self.statements(inner, depth + 1);
            let _ = writeln!(self.text, "{over}:");
        } else {
            let _ = writeln!(self.text, "{end}:");
        }
    }

    fn barrier(&mut self, depth: u32) {
        if depth == 0 || self.inside == 0 && self.noise.one_in(3) {
            self.line("s_barrier");
        }
    }
}
