//! Kernels that try to break reconvergence by masks (THESIS 4.3.4): masks that come back at different places of one region, in every
//! round of a loop, in rounds that differ between paths, and before barriers. What LLVM emits restores a mask at one place
//! ([`super::emit`]); there a path never waits in vain, and a wrong rule passes.

use super::super::SLOT;
use super::super::emit::{Text, asm};
use super::super::loops::Noise;
use super::differential::{Checked, Failure, check_text};
use super::interpret::Memory;
use super::setup::{Setup, Way};

/// What a thread does to its word.
#[derive(Clone, Debug)]
pub enum Act {
    /// word = 3 · word + n, of its low 24 bits.
    Mix(u32),
    /// Through memory, which takes some paths longer than others.
    Memory,
    /// By a bit of the word; the form says how masks come back.
    If(u32, Vec<Act>, Vec<Act>, Ends),
    /// As often as two bits of the word say. `all`: lanes that are done stay on and go round with the others.
    Loop { bits: u32, all: bool, body: Vec<Act> },
    /// Reads the word of the next thread of the group, between barriers; not inside of others.
    Exchange,
}

/// Where lanes are switched on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Behind both sides.
    Together,
    /// At the end of each side, by itself; a side without lanes has a place of its own. The first side has [`TAIL`] to do behind it, so
    /// that a merge of paths that stand at different places is seen.
    Apart,
}

const TAIL: u32 = 7;

/// The kernel of a case.
pub fn kernel(case: u64) -> Vec<Act> {
    let mut noise = Noise::new(case ^ 0x3a5c);
    let n = 2 + noise.below(4);
    (0..n)
        .map(|_| if noise.one_in(5) { Act::Exchange } else { act(&mut noise, 0) })
        .chain([Act::Mix(1)])
        .collect()
}

fn acts(noise: &mut Noise, depth: u32) -> Vec<Act> {
    (0..1 + noise.below(2)).map(|_| act(noise, depth)).collect()
}

fn act(noise: &mut Noise, depth: u32) -> Act {
    let inner = if depth < 3 { noise.below(10) } else { 8 + noise.below(2) };
    match inner {
        0..=3 => {
            let ends = noise.pick(&[Ends::Together, Ends::Apart, Ends::Apart]);
            let other = if noise.one_in(3) { Vec::new() } else { acts(noise, depth + 1) };
            Act::If(noise.below(6) as u32, acts(noise, depth + 1), other, ends)
        }
        4..=7 => {
            let (bits, all) = (noise.below(5) as u32, !noise.one_in(3));
            Act::Loop { bits, all, body: acts(noise, depth + 1) }
        }
        8 => Act::Memory,
        _ => Act::Mix(noise.below(60) as u32),
    }
}

fn mixed(word: u32, n: u32) -> u32 {
    (word & 0xff_ffff).wrapping_mul(3).wrapping_add(n)
}

fn tail(word: u32, ends: Ends) -> u32 {
    match ends {
        Ends::Together => word,
        Ends::Apart => mixed(word, TAIL),
    }
}

/// What a thread alone computes.
fn thread(word: u32, list: &[Act]) -> u32 {
    list.iter().fold(word, |word, act| match act {
        Act::Mix(n) => mixed(word, *n),
        Act::Memory | Act::Exchange => word,
        Act::If(bit, yes, _, ends) if word >> bit & 1 == 1 => tail(thread(word, yes), *ends),
        Act::If(_, _, no, _) => thread(word, no),
        Act::Loop { bits, all, body } => {
            let ends = if *all { Ends::Apart } else { Ends::Together };
            (0..word >> bits & 3).fold(word, |word, round| tail(thread(mixed(word, round), body), ends))
        }
    })
}

/// What the launch leaves in memory.
fn wanted(kernel: &[Act], threads: u32, group: u32) -> Memory {
    let mut words: Vec<u32> = (0..threads).map(|t| mixed(t.wrapping_mul(37), 5)).collect();
    for act in kernel {
        match act {
            Act::Exchange => {
                let old = words.clone();
                for (t, word) in words.iter_mut().enumerate() {
                    let end = ((t as u32 / group + 1) * group).min(threads) as usize - 1;
                    *word = mixed(*word, old[(t + 1).min(end)] & 0xff);
                }
            }
            act => words.iter_mut().for_each(|w| *w = thread(*w, std::slice::from_ref(act))),
        }
    }
    let slots = words.iter().flat_map(|&w| (0..SLOT).map(move |i| if i == 0 { w } else { 0 })).collect();
    Memory { slots, shared: [0; 3] }
}

/// s10 threads of the group, s11 the last of them, from s14 on masks and rounds; v[2:3] the thread's place, v4 its word, v5 anything,
/// from v8 on rounds of loops.
struct Emit {
    text: Text,
    scalars: u32,
    vectors: u32,
}

pub fn source(kernel: &[Act], group: u32) -> String {
    let mut e = Emit { text: Text::default(), scalars: 14, vectors: 8 };
    e.text.out.push_str(&format!(
        ".kernel random\n.arg buf table\n.arg buf slots\n.arg buf shared\n.arg u32 threads\n.lds {}\n",
        4 * group
    ));
    let t = &mut e.text;
    asm!(t, "s_load_dwordx4 s[4:7], s[0:1], 0x0");
    asm!(t, "s_load_dword s10, s[0:1], 0x18");
    asm!(t, "s_mul_i32 s11, s2, {group}");
    asm!(t, "v_add_u32 v1, vcc, s11, v0");
    asm!(t, "s_waitcnt lgkmcnt(0)");
    asm!(t, "s_sub_u32 s10, s10, s11");
    asm!(t, "s_min_u32 s10, s10, {group}");
    asm!(t, "s_sub_u32 s11, s10, 1");
    asm!(t, "v_mul_u32_u24 v2, {}, v1", 4 * SLOT);
    asm!(t, "v_mov_b32 v3, s7");
    asm!(t, "v_add_u32 v2, vcc, s6, v2");
    asm!(t, "v_addc_u32 v3, vcc, 0, v3, vcc");
    asm!(t, "s_mov_b32 m0, -1");
    asm!(t, "v_mul_u32_u24 v4, 37, v1");
    asm!(t, "v_mad_u32_u24 v4, v4, 3, 5");
    asm!(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1");
    e.list(kernel);
    asm!(e.text, "flat_store_dword v[2:3], v4");
    asm!(e.text, "s_endpgm");
    e.text.out
}

impl Emit {
    fn pair(&mut self) -> String {
        self.scalars += 2;
        format!("s[{}:{}]", self.scalars - 2, self.scalars - 1)
    }

    fn list(&mut self, list: &[Act]) {
        for act in list {
            let free = (self.scalars, self.vectors);
            match act {
                Act::Mix(n) => asm!(self.text, "v_mad_u32_u24 v4, v4, 3, {n}"),
                Act::Memory => {
                    asm!(self.text, "flat_store_dword v[2:3], v4");
                    asm!(self.text, "flat_load_dword v4, v[2:3]");
                    asm!(self.text, "s_waitcnt vmcnt(0) lgkmcnt(0)");
                }
                Act::If(bit, yes, no, ends) => self.branch(*bit, yes, no, *ends),
                Act::Loop { bits, all, body } => self.rounds(*bits, *all, body),
                Act::Exchange => self.exchange(),
            }
            (self.scalars, self.vectors) = free;
        }
    }

    /// Lanes of vcc do `yes`, the other ones that are on `no`.
    fn sides(&mut self, yes: &dyn Fn(&mut Emit), no: &[Act], ends: Ends) {
        let (saved, left) = (self.pair(), self.pair());
        let (other, end) = (self.text.fresh("other"), self.text.fresh("end"));
        asm!(self.text, "s_and_saveexec_b64 {saved}, vcc");
        asm!(self.text, "s_xor_b64 {left}, exec, {saved}");
        asm!(self.text, "s_cbranch_execz {other}");
        yes(self);
        match ends {
            Ends::Together => {
                self.text.place(&other);
                asm!(self.text, "s_mov_b64 exec, {left}");
                if !no.is_empty() {
                    asm!(self.text, "s_cbranch_execz {end}");
                    self.list(no);
                }
                self.text.place(&end);
                asm!(self.text, "s_mov_b64 exec, {saved}");
            }
            Ends::Apart => {
                // With lanes on both sides one after the other; a path with one side goes by the other one's place.
                asm!(self.text, "s_mov_b64 exec, {left}");
                let both = self.text.fresh("both");
                asm!(self.text, "s_cbranch_execnz {both}");
                asm!(self.text, "s_mov_b64 exec, {saved}");
                asm!(self.text, "v_mad_u32_u24 v4, v4, 3, {TAIL}");
                asm!(self.text, "s_branch {end}");
                self.text.place(&both);
                asm!(self.text, "s_xor_b64 exec, {saved}, {left}");
                asm!(self.text, "v_mad_u32_u24 v4, v4, 3, {TAIL}");
                self.text.place(&other);
                asm!(self.text, "s_mov_b64 exec, {left}");
                self.list(no);
                asm!(self.text, "s_mov_b64 exec, {saved}");
                self.text.place(&end);
            }
        }
    }

    fn branch(&mut self, bit: u32, yes: &[Act], no: &[Act], ends: Ends) {
        asm!(self.text, "v_bfe_u32 v5, v4, {bit}, 1");
        asm!(self.text, "v_cmp_eq_u32 vcc, 1, v5");
        self.sides(&|e: &mut Emit| e.list(yes), no, ends);
    }

    fn rounds(&mut self, bits: u32, all: bool, body: &[Act]) {
        let (head, out) = (self.text.fresh("head"), self.text.fresh("out"));
        let (round, limit) = (self.scalars, self.vectors);
        self.scalars += 2;
        self.vectors += 1;
        asm!(self.text, "s_mov_b32 s{round}, 0");
        asm!(self.text, "v_bfe_u32 v{limit}, v4, {bits}, 2");
        let one = |e: &mut Emit| {
            asm!(e.text, "v_mad_u32_u24 v4, v4, 3, s{round}");
            e.list(body);
        };
        if all {
            self.text.place(&head);
            asm!(self.text, "v_cmp_lt_u32 vcc, s{round}, v{limit}");
            self.sides(&one, &[], Ends::Apart);
            asm!(self.text, "s_add_u32 s{round}, s{round}, 1");
            asm!(self.text, "v_cmp_lt_u32 vcc, s{round}, v{limit}");
            asm!(self.text, "s_cbranch_vccnz {head}");
        } else {
            let saved = self.pair();
            asm!(self.text, "s_mov_b64 {saved}, exec");
            self.text.place(&head);
            asm!(self.text, "v_cmp_lt_u32 vcc, s{round}, v{limit}");
            asm!(self.text, "s_and_b64 exec, exec, vcc");
            asm!(self.text, "s_cbranch_execz {out}");
            one(self);
            asm!(self.text, "s_add_u32 s{round}, s{round}, 1");
            asm!(self.text, "s_branch {head}");
            self.text.place(&out);
            asm!(self.text, "s_mov_b64 exec, {saved}");
        }
    }

    fn exchange(&mut self) {
        let t = &mut self.text;
        asm!(t, "v_lshlrev_b32 v5, 2, v0");
        asm!(t, "ds_write_b32 v5, v4");
        asm!(t, "s_waitcnt lgkmcnt(0)");
        asm!(t, "s_barrier");
        asm!(t, "v_add_u32 v5, vcc, 1, v0");
        asm!(t, "v_min_u32 v5, s11, v5");
        asm!(t, "v_lshlrev_b32 v5, 2, v5");
        asm!(t, "ds_read_b32 v6, v5");
        asm!(t, "s_waitcnt lgkmcnt(0)");
        asm!(t, "v_and_b32 v6, 0xff, v6");
        asm!(t, "v_mad_u32_u24 v4, v4, 3, v6");
        asm!(t, "s_barrier");
    }
}

/// Runs the kernel of a case on the machine of [`Setup::MASKS`] with its number, or with another mechanism and its options.
pub fn check(case: u64, way: Option<Way>) -> Result<Checked, Failure> {
    let (kernel, mut setup) = (kernel(case), Setup::number(Setup::MASKS + case));
    setup.way = way.unwrap_or(setup.way);
    let source = source(&kernel, setup.group());
    let wanted = wanted(&kernel, setup.threads(), setup.group());
    check_text(&wanted, &setup, &source)
        .map_err(|what| Failure { what: format!("case {case}: {what}\non {setup}"), source })
}
