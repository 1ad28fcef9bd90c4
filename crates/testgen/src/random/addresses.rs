//! Random kernels in assembly whose accesses are functions of the lane, more or less: ids, products, shifts, clamps, masks saved
//! and put together again, rounds that lanes leave one after the other, pointers moved forth and back with carries.
//!
//! Every vector register v2 to v9 holds a number below [`LIMIT`], so that no access leaves the buffers. `s[4:5]` points into the
//! middle of the first buffer and `s[6:7]` to the second; s8 to s11 numbers below 64; `s[16:17]` and on masks, s40 and on counters,
//! `s[60:61]` and on pointers; v11 and on indices that lanes leave a loop by.

use super::later::ported;
use super::loops::Noise;
use std::fmt::Write;
use wb_jobs::args::{ArgSpec, Argument};
use wb_jobs::data::{Array, Element};
use wb_jobs::{Job, JobSpec};

/// Numbers that are used as indices are below this.
const LIMIT: u64 = 1 << 12;
/// Bytes of local memory.
const LOCAL: u32 = 4 * LIMIT as u32 + 64;
/// Words of the first buffer before and after the place that the kernel is given.
const WORDS: u32 = 4 * LIMIT as u32;

/// The assembly of case number `case`.
pub fn addresses_kernel(case: u64) -> String {
    let mut g = Generator { noise: Noise::new(case ^ 0xadd2_e550), text: String::new(), names: 0 };
    let _ = writeln!(g.text, ".kernel addresses\n.arg buf data\n.arg buf out\n.lds {LOCAL}");
    g.line("s_load_dwordx4 s[4:7], s[0:1], 0x0");
    g.line("s_waitcnt lgkmcnt(0)");
    g.line("s_mov_b32 m0, -1");
    let _ = writeln!(g.text, "  s_add_u32 s4, s4, {:#x}\n  s_addc_u32 s5, s5, 0", 2 * WORDS);
    for n in 8..11 {
        let value = g.noise.below(64);
        g.line(&format!("s_movk_i32 s{n}, {value}"));
    }
    g.line("s_and_b32 s11, s2, 63");
    for v in 2..10 {
        g.line(&format!("v_add_u32 v{v}, vcc, {v}, v0"));
    }
    let count = 6 + g.noise.below(14);
    g.statements(count, 0);
    g.line("s_endpgm");
    g.text
}

struct Generator {
    noise: Noise,
    text: String,
    names: u32,
}

impl Generator {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn vector(&mut self) -> u64 {
        2 + self.noise.below(8)
    }

    fn scalar(&mut self) -> u64 {
        8 + self.noise.below(4)
    }

    fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            match self.noise.below(if depth < 3 { 17 } else { 10 }) {
                0..=4 => self.assign(),
                5..=7 => self.access(),
                8 => self.moved(),
                9 => self.divided(),
                10 | 11 => self.branch(depth),
                12 => self.rounds(depth),
                13 => self.strided(depth),
                14 => self.pointer(depth),
                _ => self.leaving(depth),
            }
        }
    }

    /// A register gets a number below the limit.
    fn assign(&mut self) {
        let (d, a, b) = (self.vector(), self.vector(), self.vector());
        let (s, k) = (self.scalar(), self.noise.below(64));
        let shift = self.noise.below(4);
        let line = match self.noise.below(14) {
            0 => format!("v_add_u32 v{d}, vcc, v{a}, v{b}"),
            1 => format!("v_add_u32 v{d}, vcc, s{s}, v{a}"),
            2 => format!("v_add_u32 v{d}, vcc, {k}, v{a}"),
            3 => format!("v_lshlrev_b32 v{d}, {shift}, v{a}"),
            4 => format!("v_lshrrev_b32 v{d}, {shift}, v{a}"),
            5 => format!("v_mul_u32_u24 v{d}, s{s}, v{a}"),
            6 => format!("v_mov_b32 v{d}, s{s}"),
            7 => format!("v_mov_b32 v{d}, v0"),
            8 => format!("v_min_u32 v{d}, {k}, v{a}"),
            9 => format!("v_and_b32 v{d}, {:#x}, v{a}", self.noise.pick(&[0x3f, 0x3c, 0xff0, 0xffc, 7])),
            10 => format!("v_cmp_gt_u32 vcc, s{s}, v{a}\n  v_cndmask_b32 v{d}, v{a}, v{b}, vcc"),
            11 => format!("v_mbcnt_lo_u32_b32 v{d}, -1, 0\n  v_mbcnt_hi_u32_b32 v{d}, -1, v{d}"),
            12 => format!("v_mad_u32_u24 v{d}, v{a}, s{s}, v{b}"),
            _ => format!(
                "s_add_u32 s{s}, s{s}, {k}\n  s_and_b32 s{s}, s{s}, 63\n  v_readfirstlane_b32 s12, v{a}\n  v_or_b32 v{d}, s12, v{b}"
            ),
        };
        self.line(&line);
        self.line(&format!("v_and_b32 v{d}, {:#x}, v{d}", LIMIT - 1));
        // Not everything is cut, where it cannot leave the limit.
        if self.noise.one_in(3) {
            self.line(&format!("v_mov_b32 v{d}, s{s}"));
            if self.noise.one_in(2) {
                self.line(&format!("v_add_u32 v{d}, vcc, v0, v{d}"));
            }
        }
    }

    /// A quotient or a remainder, as compilers compute them.
    fn divided(&mut self) {
        let (d, a) = (self.vector(), self.vector());
        let by = self.noise.pick(&[3u64, 5, 13, 25]);
        let remainder = self.noise.one_in(2);
        let a = if self.noise.one_in(2) { 0 } else { a };
        if self.noise.one_in(4) {
            // In 16 bits.
            self.line(&format!("v_mul_lo_u16 v{d}, {by}, v{a}\n  v_and_b32 v{d}, {:#x}, v{d}", LIMIT - 1));
            return;
        }
        self.line(&format!("s_mov_b32 s14, {:#x}", (1u64 << 32).div_ceil(by)));
        self.line(&format!("v_mul_hi_u32 v19, v{a}, s14"));
        match remainder {
            true => self.line(&format!("v_mul_lo_u32 v19, v19, {by}\n  v_sub_u32 v{d}, vcc, v{a}, v19")),
            false => self.line(&format!("v_mov_b32 v{d}, v19")),
        }
    }

    /// The address of a register's word in v[20:21].
    fn address(&mut self, v: u64) {
        self.line(&format!("v_lshlrev_b32 v18, 2, v{v}"));
        match self.noise.below(3) {
            0 => {
                self.line("v_mov_b32 v21, s5");
                self.line("v_add_u32 v20, vcc, s4, v18");
                self.line("v_addc_u32 v21, vcc, 0, v21, vcc");
            }
            1 => {
                self.line("v_mov_b32 v21, s5");
                self.line("v_ashrrev_i32 v19, 31, v18");
                self.line("v_add_u32 v20, vcc, s4, v18");
                self.line("v_addc_u32 v21, vcc, v21, v19, vcc");
            }
            // Backwards.
            _ => {
                self.line("v_mov_b32 v21, s5");
                self.line("v_sub_u32 v20, vcc, s4, v18");
                self.line("v_subb_u32 v21, vcc, v21, 0, vcc");
            }
        }
    }

    fn access(&mut self) {
        let v = self.vector();
        self.access_of(v);
    }

    fn access_of(&mut self, v: u64) {
        if self.noise.one_in(3) {
            self.line(&format!("v_lshlrev_b32 v18, 2, v{v}"));
            let what = [
                "ds_read_b32 v22, v18",
                "ds_write_b32 v18, v0",
                "ds_read2_b32 v[22:23], v18 offset1:3",
                "ds_read_u8 v22, v18 offset:5",
            ];
            let what = self.noise.pick(&what);
            self.line(what);
        } else {
            self.address(v);
            let what = [
                "flat_load_dword v22, v[20:21]",
                "flat_load_dwordx2 v[22:23], v[20:21]",
                "flat_load_ubyte v22, v[20:21]",
                "flat_load_dwordx4 v[24:27], v[20:21]",
            ];
            let what = self.noise.pick(&what);
            self.line(what);
        }
        self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
        if self.noise.one_in(4) {
            let d = self.vector();
            self.line(&format!("v_and_b32 v{d}, {:#x}, v22", LIMIT - 1));
        }
    }

    /// A pointer that is moved, forth or back.
    fn moved(&mut self) {
        let v = self.vector();
        self.address(v);
        let (low, high) =
            self.noise.pick(&[("64", "0"), ("0xffffffc0", "-1"), ("4", "0"), ("0xfffffffc", "-1")]);
        self.line(&format!("v_add_u32 v20, vcc, {low}, v20"));
        self.line(&format!("v_addc_u32 v21, vcc, {high}, v21, vcc"));
        self.line("flat_load_dword v22, v[20:21]");
        self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
    }

    /// Lanes go off and come back.
    fn branch(&mut self, depth: u32) {
        let (a, s) = (self.vector(), self.scalar());
        let n = self.name();
        let pair = 16 + 2 * depth;
        self.line(&format!("v_cmp_gt_u32 vcc, s{s}, v{a}"));
        self.line(&format!("s_and_saveexec_b64 s[{pair}:{}], vcc", pair + 1));
        self.line(&format!("s_cbranch_execz B{n}"));
        let count = 1 + self.noise.below(4);
        self.statements(count, depth + 1);
        let _ = writeln!(self.text, "B{n}:");
        self.line(&format!("s_or_b64 exec, exec, s[{pair}:{}]", pair + 1));
        if self.noise.one_in(2) {
            self.access();
        }
    }

    /// All lanes go round together.
    fn rounds(&mut self, depth: u32) {
        let n = self.name();
        let (counter, limit) = (40 + depth, 1 + self.noise.below(3));
        self.line(&format!("s_mov_b32 s{counter}, 0"));
        let _ = writeln!(self.text, "R{n}:");
        let count = 1 + self.noise.below(4);
        self.statements(count, depth + 1);
        self.line(&format!("s_add_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_lt_u32 s{counter}, {limit}"));
        self.line(&format!("s_cbranch_scc1 R{n}"));
    }

    /// Lanes go on by as many as there are, until they are at the end.
    fn strided(&mut self, depth: u32) {
        let n = self.name();
        let (index, pair, d) = (11 + depth, 32 + 2 * depth, self.vector());
        let (end, step) = (self.noise.pick(&[40, 100, 169, 300]), self.noise.pick(&[64, 96, 128]));
        self.line(&format!("s_mov_b64 s[{pair}:{}], exec", pair + 1));
        self.line(&format!("v_mov_b32 v{index}, v0"));
        let _ = writeln!(self.text, "S{n}:");
        self.line(&format!("v_mov_b32 v{d}, v{index}"));
        if self.noise.one_in(2) {
            self.access_of(d);
        }
        let count = 1 + self.noise.below(3);
        self.statements(count, depth + 1);
        self.line(&format!("v_add_u32 v{index}, vcc, {step:#x}, v{index}"));
        self.line(&format!("s_movk_i32 s15, {end}\n  v_cmp_gt_u32 vcc, s15, v{index}"));
        self.line("s_and_b64 exec, exec, vcc");
        self.line(&format!("s_cbranch_execnz S{n}"));
        self.line(&format!("s_mov_b64 exec, s[{pair}:{}]", pair + 1));
        if self.noise.one_in(2) {
            self.access_of(d);
        }
    }

    /// A scalar pointer that moves on in a counted loop.
    fn pointer(&mut self, depth: u32) {
        let n = self.name();
        let (counter, at, limit) = (56 + depth, 60 + 2 * depth, 1 + self.noise.below(4));
        let step = self.noise.pick(&[4, 16, 64]);
        let s = self.scalar();
        self.line(&format!("s_mov_b32 s{counter}, 0\n  s_mov_b64 s[{at}:{}], s[6:7]", at + 1));
        let _ = writeln!(self.text, "P{n}:");
        self.line(&format!("s_load_dword s14, s[{at}:{}], 0x4\n  s_waitcnt lgkmcnt(0)", at + 1));
        self.line(&format!("s_and_b32 s{s}, s14, 63"));
        let count = self.noise.below(2);
        self.statements(count, depth + 1);
        self.line(&format!("s_add_u32 s{at}, s{at}, {step}\n  s_addc_u32 s{}, s{}, 0", at + 1, at + 1));
        self.line(&format!("s_add_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_lt_u32 s{counter}, {limit}"));
        self.line(&format!("s_cbranch_scc1 P{n}"));
    }

    /// Lanes leave one after the other, with what they have then.
    fn leaving(&mut self, depth: u32) {
        let n = self.name();
        let (counter, pair, d) = (50 + depth, 24 + 2 * depth, self.vector());
        let s = self.scalar();
        self.line(&format!("s_mov_b64 s[{pair}:{}], exec", pair + 1));
        self.line(&format!("s_mov_b32 s{counter}, 0"));
        let _ = writeln!(self.text, "L{n}:");
        self.line(&format!("s_lshl_b32 s13, s{counter}, 6"));
        self.line(&format!("v_add_u32 v{d}, vcc, s13, v0"));
        let count = self.noise.below(3);
        self.statements(count, depth + 1);
        self.line(&format!("s_add_u32 s{counter}, s{counter}, 1"));
        self.line(&format!("s_cmp_gt_u32 s{counter}, 3"));
        self.line(&format!("s_cbranch_scc1 M{n}"));
        self.line(&format!("v_and_b32 v18, 3, v0\n  v_cmp_lt_u32 vcc, s{counter}, v18"));
        self.line("s_and_b64 exec, exec, vcc");
        self.line(&format!("s_cbranch_execnz L{n}"));
        let _ = writeln!(self.text, "M{n}:");
        self.line(&format!("s_mov_b64 exec, s[{pair}:{}]", pair + 1));
        self.line(&format!("s_and_b32 s{s}, s{counter}, 63"));
        if self.noise.one_in(2) {
            self.access_of(d);
        }
    }
}

/// The kernel of a case on a machine, with groups of one or two dimensions.
pub fn addresses_job(case: u64) -> Result<Job, String> {
    job(case, "gcn3", &addresses_kernel(case), 64)
}

/// The kernel of a case for a later generation, on a machine of it.
pub fn later_addresses_job(case: u64) -> Result<Job, String> {
    let (_, preset, text) = ported(&addresses_kernel(case), &mut Noise::new(case ^ 0x1a7e));
    job(case, preset, &text, 256)
}

/// `second`: words of the second buffer.
fn job(case: u64, preset: &str, text: &str, second: u32) -> Result<Job, String> {
    let mut noise = Noise::new(case ^ 0x909);
    let (grid3, group3) = noise.pick(&[
        ([256, 1, 1], [128, 1, 1]),
        ([200, 1, 1], [64, 1, 1]),
        ([32, 16, 1], [16, 8, 1]),
        ([128, 4, 1], [64, 2, 1]),
        ([30, 16, 1], [16, 16, 1]),
        ([96, 1, 1], [32, 1, 1]),
    ]);
    let mut machine = wb_hw::preset(preset).map_err(|e| format!("{e:?}"))?;
    machine.cores = machine.cores.min(4);
    machine.limits.memory = 4 << 20;
    machine.limits.cycles = 4_000_000;
    let mut buffer = |words: u32| {
        let bytes: Vec<u8> = (0..words).flat_map(|_| (noise.number() & 0xfff).to_le_bytes()).collect();
        ArgSpec::Ready(Argument::Buffer(Array { element: Element::U32, shape: vec![words.into()], bytes }))
    };
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3,
        group3,
        args: vec![buffer(WORDS), buffer(second)],
        ready_machine: Some(Box::new(machine)),
        ..JobSpec::default()
    };
    Job::from_source("addresses.s", text, &spec).map_err(|e| format!("{:?}", miette::Report::new(e)))
}
