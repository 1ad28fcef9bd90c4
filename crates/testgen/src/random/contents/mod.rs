//! Random kernels in assembly that try to let the contents of buffers into their time without being noticed: masks saved and put
//! together again, registers of lanes that are off, values through local memory, other lanes, carries and comparisons
//! (docs/exact.md, "The search").
//!
//! Registers come in two pools. Values that decide addresses and branches are mostly taken from the first one, what is loaded
//! goes mostly to the second one, and now and then something crosses over. So about half of the kernels let contents decide
//! something, and the others do not.
//!
//! `s[4:5]` input, `s[6:7]` output, s8 to s15 numbers, `s[16:17]` to `s[30:31]` masks, from s40 on counters of loops; v0 to v7 and
//! v8 to v15 values, v16 to v19 addresses.

mod job;

pub use job::contents_job;

use super::loops::Noise;
use std::fmt::Write;

/// Words of each buffer.
pub const WORDS: u32 = 256;

/// The assembly of case number `case`.
pub fn contents_kernel(case: u64) -> String {
    let mut g = Generator {
        noise: Noise::new(case ^ 0x51ab_77e1),
        text: String::new(),
        labels: 0,
        loops: 0,
        cross: 0,
    };
    g.cross = [0, 0, 2, 5, 12][g.noise.below(5) as usize];
    g.text.push_str(".kernel contents\n.arg buf input\n.arg buf output\n.lds 1024\n");
    g.line("s_load_dwordx4 s[4:7], s[0:1], 0x0");
    g.line("s_waitcnt lgkmcnt(0)");
    g.line("s_mov_b32 m0, -1");
    for n in 8..16 {
        let value = g.noise.below(64);
        g.line(&format!("s_movk_i32 s{n}, {value}"));
    }
    for pair in (16..32).step_by(2) {
        g.line(&format!("s_mov_b64 s[{pair}:{}], exec", pair + 1));
    }
    for v in 1..8 {
        g.line(&format!("v_add_u32 v{v}, vcc, {v}, v0"));
    }
    // Something from the input, so that there is something to leak.
    for v in 8..12 {
        g.load(v, 0);
    }
    for v in 12..16 {
        g.line(&format!("v_xor_b32 v{v}, v{}, v{}", v - 1, v - 4));
    }
    // Now and then more masks of data than are told apart, all of them read again at the end.
    let masks = if case % 32 == 31 { 3 + g.noise.below(6) } else { 0 };
    let pair = |i: u64| format!("s[{}:{}]", 70 + 2 * i, 71 + 2 * i);
    for i in 0..masks {
        let (number, data) = (g.number(), g.data());
        g.line(&format!("v_cmp_lt_u32 {}, s{number}, v{data}", pair(i)));
    }
    let count = 4 + g.noise.below(20);
    g.statements(count, 0);
    // One leak, often the only one of the kernel.
    if g.noise.one_in(3) {
        g.leak();
    }
    if masks > 0 && g.noise.one_in(2) {
        let one = g.noise.below(masks);
        g.line(&format!("s_and_saveexec_b64 s[66:67], {}", pair(one)));
        g.load(9, 0);
        g.line("s_mov_b64 exec, s[66:67]");
    }
    let count = 4 + g.noise.below(20);
    g.statements(count, 0);
    for i in 0..masks {
        let data = g.data();
        g.line(&format!("v_cndmask_b32 v8, v8, v{data}, {}", pair(i)));
    }
    g.line("s_mov_b64 exec, -1");
    g.line("v_lshlrev_b32 v16, 2, v0");
    g.line("v_and_b32 v16, 0x3fc, v16");
    g.line("v_add_u32 v16, s[36:37], s6, v16");
    g.line("v_mov_b32 v17, s7");
    g.line("flat_store_dword v[16:17], v8");
    g.line("s_endpgm");
    g.text
}

struct Generator {
    noise: Noise,
    text: String,
    labels: u32,
    loops: u32,
    /// Of a hundred choices, how many cross from one pool to the other.
    cross: u64,
}

impl Generator {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A vector register that decides something, or one with data.
    fn clean(&mut self) -> u64 {
        let crosses = self.noise.below(100) < self.cross;
        self.noise.below(8) + if crosses { 8 } else { 0 }
    }

    fn data(&mut self) -> u64 {
        8 + self.noise.below(8)
    }

    fn number(&mut self) -> u64 {
        8 + self.noise.below(8)
    }

    /// A pair of scalar registers that holds a mask; the last two hold those that data decide.
    fn mask(&mut self, of_data: bool) -> String {
        let crosses = self.noise.below(100) < self.cross;
        let first =
            if of_data != crosses { 28 + 2 * self.noise.below(2) } else { 16 + 2 * self.noise.below(6) };
        format!("s[{first}:{}]", first + 1)
    }

    fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            match self.noise.below(100) {
                0..=24 => self.arithmetic(),
                25..=34 => self.compare(),
                35..=42 => self.scalar(),
                43..=50 => self.masks(),
                51..=58 => self.global(),
                59..=68 => self.local(),
                69..=75 => self.across(),
                76..=84 if depth < 3 => self.region(depth),
                85..=91 if depth < 3 => self.skip(depth),
                92..=95 if depth < 2 => self.repeat(depth),
                _ => self.other(depth),
            }
        }
    }

    /// Contents get into the time in one way, by the shortest way there is.
    fn leak(&mut self) {
        let (data, clean, limit) = (self.data(), self.noise.below(8), self.noise.below(64));
        let region = |g: &mut Generator, source: u64, inside: &str| {
            g.line(&format!("v_cmp_lt_u32 s[32:33], v{source}, v{clean}"));
            g.line("s_and_saveexec_b64 s[34:35], s[32:33]");
            g.line(inside);
            g.line("s_mov_b64 exec, s[34:35]");
        };
        match self.noise.below(9) {
            // Which lanes take part.
            0 => {
                self.address(clean, 4);
                region(self, data, "flat_load_dword v12, v[16:17]");
            }
            1 => {
                self.line(&format!("v_lshlrev_b32 v18, 4, v{clean}"));
                self.line("v_and_b32 v18, 0x3fc, v18");
                region(self, data, "ds_read_b32 v12, v18");
            }
            // Lanes that contents switched on have another value.
            2 => {
                region(self, data, &format!("v_mov_b32 v{clean}, {limit}"));
                self.load(12, clean);
            }
            // Lanes that were off come back with what they had.
            3 => {
                self.line(&format!("v_mov_b32 v19, v{data}"));
                self.line("v_cmp_lt_u32 s[32:33], v0, 40");
                self.line("s_and_saveexec_b64 s[34:35], s[32:33]");
                self.line(&format!("v_mov_b32 v19, {limit}"));
                self.line("s_mov_b64 exec, s[34:35]");
                self.load(12, 19);
            }
            4 => self.load(12, data),
            5 => {
                self.line(&format!("v_cmp_lt_u32 vcc, v{data}, v{clean}"));
                self.line(&format!("v_cndmask_b32 v{clean}, 0, v{clean}, vcc"));
            }
            6 => {
                let s = self.number();
                self.line(&format!("v_readlane_b32 s{s}, v{data}, {}", limit % 60));
            }
            7 => {
                self.line(&format!("v_cmp_lt_u32 vcc, v{data}, v{clean}"));
                let end = self.label();
                self.line(&format!("s_cbranch_vccnz {end}"));
                self.line("s_nop 7");
                let _ = writeln!(self.text, "{end}:");
            }
            _ => {
                self.line(&format!("v_lshlrev_b32 v18, 2, v{clean}"));
                self.line("v_and_b32 v18, 0x3fc, v18");
                self.line(&format!("ds_write_b32 v18, v{data}"));
                self.line("s_waitcnt lgkmcnt(0)");
                self.line(&format!("ds_read_b32 v{clean}, v18"));
                self.line("s_waitcnt lgkmcnt(0)");
            }
        }
        self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
    }

    fn arithmetic(&mut self) {
        let of_data = self.noise.below(2) == 0;
        let (d, a) = match of_data {
            true => (self.data(), self.data()),
            false => (self.noise.below(8), self.clean()),
        };
        let b = if of_data { self.data() } else { self.clean() };
        let s = self.number();
        let mask = self.mask(of_data);
        let carry = self.mask(true);
        match self.noise.below(12) {
            0 => self.line(&format!("v_add_u32 v{d}, {carry}, v{a}, v{b}")),
            1 => self.line(&format!("v_xor_b32 v{d}, v{a}, v{b}")),
            2 => self.line(&format!("v_and_b32 v{d}, s{s}, v{b}")),
            3 => self.line(&format!("v_mul_lo_u32 v{d}, v{a}, v{b}")),
            4 => self.line(&format!("v_mov_b32 v{d}, v{a}")),
            5 => self.line(&format!("v_mov_b32 v{d}, s{s}")),
            6 => self.line(&format!("v_cndmask_b32 v{d}, v{a}, v{b}, {mask}")),
            7 => self.line(&format!("v_addc_u32 v{d}, {carry}, v{a}, v{b}, {mask}")),
            8 => self.line(&format!("v_mac_f32 v{d}, v{a}, v{b}")),
            9 => self.line(&format!(
                "v_mov_b32_sdwa v{d}, v{a} dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1"
            )),
            10 => self.line(&format!("v_cndmask_b32 v{d}, v{a}, v{b}, vcc")),
            _ => self.line(&format!("v_lshrrev_b32 v{d}, 3, v{a}")),
        }
    }

    fn compare(&mut self) {
        let of_data = self.noise.below(3) == 0;
        let (a, b) = if of_data { (self.data(), self.clean()) } else { (self.clean(), self.clean()) };
        let mask = self.mask(of_data);
        let condition = ["lt", "eq", "gt", "ne"][self.noise.below(4) as usize];
        match self.noise.below(6) {
            0 if !of_data => self.line(&format!("v_cmp_{condition}_u32 vcc, v{a}, v{b}")),
            1 if self.cross > 2 => self.line(&format!("v_cmpx_{condition}_u32 {mask}, v{a}, v{b}")),
            _ => self.line(&format!("v_cmp_{condition}_u32 {mask}, v{a}, v{b}")),
        }
    }

    fn scalar(&mut self) {
        let (d, a, b) = (self.number(), self.number(), self.number());
        let of_data = self.noise.below(100) < self.cross;
        let mask = self.mask(of_data);
        match self.noise.below(9) {
            0 => self.line(&format!("s_add_u32 s{d}, s{a}, s{b}")),
            1 => self.line(&format!("s_cmp_lt_u32 s{a}, s{b}")),
            2 => self.line(&format!("s_cselect_b32 s{d}, s{a}, s{b}")),
            3 => self.line(&format!("s_cmov_b32 s{d}, s{a}")),
            4 => self.line(&format!("s_bcnt1_i32_b64 s{d}, {mask}")),
            5 => self.line(&format!("s_cmp_lg_u64 {mask}, 0")),
            6 => {
                let to = self.mask(of_data);
                self.line(&format!("s_cselect_b64 {to}, {mask}, exec"));
            }
            7 => self.line(&format!("s_mul_i32 s{d}, s{a}, s{b}")),
            _ => self.line(&format!("s_and_b32 s{d}, s{a}, 63")),
        }
    }

    fn masks(&mut self) {
        let of_data = self.noise.below(3) == 0;
        let (d, a, b) = (self.mask(of_data), self.mask(of_data), self.mask(of_data));
        let operation =
            ["and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor"][self.noise.below(8) as usize];
        match self.noise.below(5) {
            0 => self.line(&format!("s_mov_b64 {d}, {a}")),
            1 => self.line(&format!("s_not_b64 {d}, {a}")),
            2 => self.line(&format!("s_and_b64 {d}, exec, {a}")),
            _ => self.line(&format!("s_{operation}_b64 {d}, {a}, {b}")),
        }
    }

    /// Address of a word of a buffer in `v[16:17]`, from what a register holds.
    fn address(&mut self, from: u64, base: u32) {
        self.line(&format!("v_lshlrev_b32 v16, 2, v{from}"));
        self.line("v_and_b32 v16, 0x3fc, v16");
        self.line(&format!("v_add_u32 v16, s[36:37], s{base}, v16"));
        self.line(&format!("v_mov_b32 v17, s{}", base + 1));
    }

    fn load(&mut self, to: u64, from: u64) {
        self.address(from, 4);
        self.line(&format!("flat_load_dword v{to}, v[16:17]"));
        self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
    }

    fn global(&mut self) {
        let (from, data) = (self.clean(), self.data());
        match self.noise.below(6) {
            0 | 1 => self.load(data, from),
            2 => {
                let to = if self.noise.below(100) < self.cross { self.noise.below(8) } else { data };
                self.load(to, from);
            }
            3 => {
                self.address(from, 6);
                self.line(&format!("flat_store_dword v[16:17], v{data}"));
            }
            4 => {
                let to = if self.noise.below(100) < self.cross { self.noise.below(8) } else { data };
                self.address(from, 6);
                self.line(&format!("flat_atomic_add v{to}, v[16:17], v{data} glc"));
                self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
            }
            _ => {
                let (offset, to) = (self.number(), self.noise.below(100) < self.cross);
                let to = if to { self.number() } else { 38 };
                self.line(&format!("s_and_b32 s39, s{offset}, 63"));
                self.line("s_lshl_b32 s39, s39, 2");
                self.line(&format!("s_load_dword s{to}, s[4:5], s39"));
                self.line("s_waitcnt lgkmcnt(0)");
            }
        }
    }

    fn local(&mut self) {
        let (from, data, clean) = (self.clean(), self.data(), self.clean());
        let to = self.noise.below(8);
        self.line(&format!("v_lshlrev_b32 v18, 2, v{from}"));
        self.line("v_and_b32 v18, 0x3fc, v18");
        match self.noise.below(6) {
            0 => self.line(&format!("ds_write_b32 v18, v{data}")),
            1 => self.line(&format!("ds_write_b32 v18, v{clean}")),
            2 => self.line(&format!("ds_add_u32 v18, v{clean}")),
            3 if self.cross > 0 => self.line(&format!("ds_add_rtn_u32 v{to}, v18, v{clean}")),
            4 if self.cross > 2 => self.line(&format!("ds_read_b32 v{to}, v18")),
            _ => self.line(&format!("ds_read_b32 v{data}, v18")),
        }
        self.line("s_waitcnt lgkmcnt(0)");
    }

    /// Other lanes' registers.
    fn across(&mut self) {
        let of_data = self.noise.below(2) == 0;
        let (d, a) = match of_data {
            true => (self.data(), self.data()),
            false => (self.noise.below(8), self.clean()),
        };
        let b = self.clean();
        let s = self.number();
        let lane = self.noise.below(64);
        match self.noise.below(8) {
            0 => self.line(&format!(
                "v_mov_b32_dpp v{d}, v{a} row_shr:{} row_mask:0xf bank_mask:0xf",
                1 + lane % 15
            )),
            1 => self.line(&format!(
                "v_mov_b32_dpp v{d}, v{a} quad_perm:[3,2,1,0] row_mask:0xa bank_mask:0xf bound_ctrl:0"
            )),
            2 if !of_data => self.line(&format!("v_readfirstlane_b32 s{s}, v{a}")),
            3 if !of_data => self.line(&format!("v_readlane_b32 s{s}, v{a}, {}", lane % 60)),
            4 if !of_data => self.line(&format!("v_writelane_b32 v{d}, s{s}, {}", lane % 60)),
            5 => self.line(&format!("ds_bpermute_b32 v{d}, v{b}, v{a}")),
            6 => self.line(&format!("ds_swizzle_b32 v{d}, v{a} offset:0x{lane:x}")),
            _ => self.line(&format!("v_mbcnt_lo_u32_b32 v{d}, s{s}, v{a}")),
        }
        self.line("s_waitcnt lgkmcnt(0)");
    }

    /// Lanes are switched off and on again, in one of the ways compilers do it or nearly so.
    fn region(&mut self, depth: u32) {
        let of_data = self.noise.below(3) == 0;
        let condition = self.mask(of_data);
        let save = 60 + 4 * depth;
        let saved = format!("s[{save}:{}]", save + 1);
        let inner = 1 + self.noise.below(5);
        self.line(&format!("s_and_saveexec_b64 {saved}, {condition}"));
        match self.noise.below(4) {
            0 => {
                // Both sides: what the whole was is in no register on the way.
                self.line(&format!("s_xor_b64 {saved}, exec, {saved}"));
                self.quiet(inner, of_data, depth);
                self.line(&format!("s_or_saveexec_b64 {saved}, {saved}"));
                self.line(&format!("s_xor_b64 exec, exec, {saved}"));
                self.quiet(inner, of_data, depth);
                self.line(&format!("s_or_b64 exec, exec, {saved}"));
            }
            1 if !of_data => {
                let end = self.label();
                self.line(&format!("s_cbranch_execz {end}"));
                self.quiet(inner, of_data, depth);
                let _ = writeln!(self.text, "{end}:");
                self.line(&format!("s_or_b64 exec, exec, {saved}"));
            }
            2 => {
                self.quiet(inner, of_data, depth);
                self.line(&format!("s_mov_b64 exec, {saved}"));
            }
            _ => {
                self.quiet(inner, of_data, depth);
                self.line(&format!("s_or_b64 exec, exec, {saved}"));
            }
        }
    }

    /// Statements; where data switched lanes off, mostly arithmetic only.
    fn quiet(&mut self, count: u64, of_data: bool, depth: u32) {
        for _ in 0..count {
            match of_data && self.noise.below(100) >= self.cross {
                true if self.noise.below(4) == 0 => self.across_data(),
                true => self.arithmetic_data(),
                false => self.statements(1, depth + 1),
            }
        }
    }

    fn arithmetic_data(&mut self) {
        let (d, a, b) = (self.data(), self.data(), self.clean());
        self.line(&format!("v_add_u32 v{d}, s[30:31], v{a}, v{b}"));
    }

    fn across_data(&mut self) {
        let (d, a) = (self.data(), self.data());
        self.line(&format!("v_mov_b32_dpp v{d}, v{a} row_shl:1 row_mask:0xf bank_mask:0xf"));
    }

    fn skip(&mut self, depth: u32) {
        let end = self.label();
        let crosses = self.noise.below(100) < self.cross;
        match self.noise.below(4) {
            0 => {
                let (a, b) = (self.number(), self.number());
                self.line(&format!("s_cmp_lt_u32 s{a}, s{b}"));
                self.line(&format!("s_cbranch_scc1 {end}"));
            }
            1 => {
                let mask = self.mask(crosses);
                self.line(&format!("s_cmp_lg_u64 {mask}, 0"));
                self.line(&format!("s_cbranch_scc0 {end}"));
            }
            2 => {
                let (a, b) = (self.clean(), self.clean());
                self.line(&format!("v_cmp_lt_u32 vcc, v{a}, v{b}"));
                self.line(&format!("s_cbranch_vccz {end}"));
            }
            _ => self.line(&format!("s_cbranch_execz {end}")),
        }
        let inner = 1 + self.noise.below(5);
        self.statements(inner, depth + 1);
        let _ = writeln!(self.text, "{end}:");
    }

    fn repeat(&mut self, depth: u32) {
        self.loops += 1;
        let counter = 40 + self.loops % 16;
        let again = self.label();
        let rounds = 1 + self.noise.below(4);
        self.line(&format!("s_movk_i32 s{counter}, {rounds}"));
        let _ = writeln!(self.text, "{again}:");
        let inner = 1 + self.noise.below(6);
        self.statements(inner, depth + 2);
        self.line(&format!("s_sub_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_lg_u32 s{counter}, 0"));
        self.line(&format!("s_cbranch_scc1 {again}"));
    }

    fn other(&mut self, depth: u32) {
        let s = self.number();
        match self.noise.below(5) {
            // All waves of the group come here.
            0 if depth == 0 => self.line("s_barrier"),
            1 => self.line("s_nop 3"),
            2 => self.line("s_memtime s[38:39]"),
            3 if self.cross > 2 => self.line(&format!("s_getreg_b32 s{s}, hwreg(HW_REG_STATUS, 0, 16)")),
            _ => self.line(&format!("s_add_u32 s{s}, s{s}, 1")),
        }
    }
}
