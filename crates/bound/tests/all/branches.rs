//! Random kernels whose divergent branches each test a bit of one word of the lane: who writes the words decides who
//! goes where. Addresses and loop counts depend on nothing.

use std::fmt::Write;

/// A stream of numbers that depends on the case only.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
}

/// A kernel that tests bits of one word of each lane.
struct Emit {
    out: String,
    numbers: Numbers,
    /// Branches so far, and how many there may be: each tests a bit of its own.
    bits: u32,
    most: u32,
    labels: u32,
    /// Next pair of scalar registers for a saved mask.
    saved: u32,
    /// Loads under way that nobody has waited for.
    loads: bool,
    /// Most instructions of a side: to jump past a short one is dearest.
    longest: u64,
}

impl Emit {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn work(&mut self, most: u64) {
        for _ in 0..self.numbers.below(most) {
            let text = match self.numbers.below(8) {
                0 => "v_mul_lo_u32 v6, v6, v4",
                1 => "v_exp_f32 v7, v7",
                2 => "s_add_u32 s20, s20, 1",
                3 => "s_nop 0",
                // Two words: more lines of the instruction cache.
                4 => "v_add_u32 v5, vcc, 0x12345, v5",
                _ => "v_add_u32 v5, vcc, v4, v5",
            };
            self.line(text);
        }
        match self.numbers.below(if self.longest > 2 { 8 } else { 40 }) {
            // Addresses do not depend on what is tested.
            0 => {
                self.line("flat_load_dword v9, v[2:3]");
                self.loads = true;
            }
            1 if self.loads => self.line("s_waitcnt vmcnt(0) lgkmcnt(0)"),
            2 => self.line("ds_read_b32 v8, v10"),
            _ => {}
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.numbers.below(4) {
            self.work(self.longest);
            if depth < 3 && self.bits < self.most {
                match self.numbers.below(8) {
                    0 if depth < 2 => self.repeat(depth),
                    1 => {}
                    _ => self.branch(depth),
                }
            }
        }
    }

    fn repeat(&mut self, depth: u32) {
        let (label, counter) = (self.labels, 21 + depth);
        self.labels += 1;
        let times = 1 + self.numbers.below(6);
        self.line(&format!("s_movk_i32 s{counter}, {times}"));
        let _ = writeln!(self.out, "again{label}:");
        self.block(depth + 1);
        self.line(&format!("s_sub_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_lg_u32 s{counter}, 0"));
        self.line(&format!("s_cbranch_scc1 again{label}"));
    }

    fn branch(&mut self, depth: u32) {
        let (label, bit, saved) = (self.labels, self.bits, self.saved);
        self.labels += 1;
        self.bits += 1;
        self.saved += 2;
        let mask = format!("s[{saved}:{}]", saved + 1);
        self.line(&format!("v_and_b32 v11, {:#x}, v4", 1u32 << bit));
        self.line("v_cmp_ne_u32 vcc, 0, v11");
        self.line(&format!("s_and_saveexec_b64 {mask}, vcc"));
        let other = self.numbers.below(3) == 0;
        if other {
            self.line(&format!("s_xor_b64 {mask}, exec, {mask}"));
        }
        self.line(&format!("s_cbranch_execz past{label}"));
        self.side(depth);
        let _ = writeln!(self.out, "past{label}:");
        if other {
            self.line(&format!("s_or_saveexec_b64 {mask}, {mask}"));
            self.line(&format!("s_xor_b64 exec, exec, {mask}"));
            self.line(&format!("s_cbranch_execz end{label}"));
            self.side(depth);
            let _ = writeln!(self.out, "end{label}:");
        }
        self.line(&format!("s_or_b64 exec, exec, {mask}"));
        self.saved -= 2;
    }

    fn side(&mut self, depth: u32) {
        let loads = self.loads;
        match self.numbers.below(6) {
            0 | 1 if self.longest > 2 => self.block(depth + 1),
            _ => self.work(self.longest),
        }
        self.line("s_nop 0");
        self.loads |= loads;
    }
}

/// A kernel with `least` to `most` branches on bits of one word of each lane, sides of up to `longest` instructions; also
/// returns how many bits it tests.
pub fn kernel(numbers: Numbers, longest: u64, least: u32, most: u32) -> (String, u32) {
    let head = ".kernel skip\n.arg buf words\n.lds 256\n";
    let mut e =
        Emit { out: head.into(), numbers, bits: 0, most, labels: 0, saved: 30, loads: false, longest };
    for text in [
        "s_load_dwordx2 s[4:5], s[0:1], 0x0",
        "v_lshlrev_b32 v1, 2, v0",
        "v_lshlrev_b32 v10, 2, v0",
        "v_and_b32 v10, 0xff, v10",
        "s_mov_b32 m0, -1",
        "s_waitcnt lgkmcnt(0)",
        "v_mov_b32 v3, s5",
        "v_add_u32 v2, vcc, s4, v1",
        "v_addc_u32 v3, vcc, 0, v3, vcc",
        "flat_load_dword v4, v[2:3]",
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
    ] {
        e.line(text);
    }
    while e.bits < least {
        e.block(0);
    }
    e.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
    e.line("s_endpgm");
    (e.out, e.bits)
}
