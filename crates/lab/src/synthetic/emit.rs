//! The assembly of the synthetic benchmark, in the shapes LLVM gives to divergent if/else.
//!
//! v0 work-item in the group, v1 number in the launch, v2 lane, v[4:11] addresses of the own words, v12 to v15
//! accumulators; s5 trips left, s[8+2k:9+2k] mask saved by layer k.

use super::work::{ACCUMULATORS, EVERYBODY, WORDS, What, work};
use super::{MarkWith, Synthetic};
use std::fmt::Write;

const ACC: u32 = 12;
const ADDRESS: u32 = 4;
const MODE: &str = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1),";

pub(super) fn kernel(bench: &Synthetic, out: &mut String) {
    let mut e = Emit { bench, out, branches: 0, loaded: [false; ACCUMULATORS as usize] };
    e.prologue();
    let (before, inside) = bench.parts();
    e.place("trip");
    e.work(EVERYBODY, before);
    e.tree(0, 0, inside);
    if e.loaded.contains(&true) {
        e.line("s_waitcnt vmcnt(0)");
    }
    e.line("s_sub_u32 s5, s5, 1");
    e.line("s_cmp_lg_u32 s5, 0");
    e.line("s_cbranch_scc1 trip");
    e.epilogue();
}

struct Emit<'a> {
    bench: &'a Synthetic,
    out: &'a mut String,
    /// Branches of the tree so far.
    branches: u32,
    /// Accumulators with a load under way.
    loaded: [bool; ACCUMULATORS as usize],
}

impl Emit<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn place(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
    }

    fn prologue(&mut self) {
        let group = self.bench.group;
        let trips = self.bench.trips;
        let head = format!(
            "\n.kernel synthetic\n.arg buf mem ; own words 0 to {}, then the accumulators, item by item\n.arg u32 items\n",
            WORDS - 1
        );
        self.out.push_str(&head);
        self.line("s_load_dwordx2 s[6:7], s[0:1], 0x0");
        self.line("s_load_dword s4, s[0:1], 0x8");
        self.line(&format!("s_mul_i32 s2, s2, {group}"));
        self.line("v_add_u32 v1, vcc, s2, v0");
        self.line("v_and_b32 v2, 63, v0");
        self.line("v_lshlrev_b32 v3, 2, v1");
        self.line("s_waitcnt lgkmcnt(0)");
        self.line("s_lshl_b32 s4, s4, 2");
        self.line(&format!("v_mov_b32 v{}, s7", ADDRESS + 1));
        self.line(&format!("v_add_u32 v{ADDRESS}, vcc, s6, v3"));
        self.line(&format!("v_addc_u32 v{0}, vcc, 0, v{0}, vcc", ADDRESS + 1));
        for word in 1..WORDS as u32 {
            self.advance(ADDRESS + 2 * word, ADDRESS + 2 * word - 2);
        }
        for k in 0..ACCUMULATORS {
            self.line(&format!("v_add_u32 v{}, vcc, {k}, v1", ACC + k));
        }
        self.line(&format!("s_movk_i32 s5, {trips}"));
    }

    /// The address of the next word: one row of items further.
    fn advance(&mut self, to: u32, from: u32) {
        self.line(&format!("v_add_u32 v{to}, vcc, s4, v{from}"));
        self.line(&format!("v_addc_u32 v{}, vcc, 0, v{}, vcc", to + 1, from + 1));
    }

    fn epilogue(&mut self) {
        let last = ADDRESS + 2 * WORDS as u32 - 2;
        self.line("s_waitcnt vmcnt(0)");
        for k in 0..ACCUMULATORS {
            self.advance(last, last);
            self.line(&format!("flat_store_dword v[{last}:{}], v{}", last + 1, ACC + k));
        }
        self.line("s_endpgm");
    }

    /// The if/else of one node: lanes below the middle of the node's lanes go first.
    fn tree(&mut self, layer: u32, path: u32, inside: u32) {
        if layer == self.bench.layers {
            self.work(path, inside);
            return;
        }
        let place = self.branches;
        self.branches += 1;
        let width = 64 >> layer;
        let middle = path * width + width / 2;
        let saved = format!("s[{}:{}]", 8 + 2 * layer, 9 + 2 * layer);
        let (other, end) = (format!("else{place}"), format!("end{place}"));
        let marked = self.bench.is_marked(place, layer);
        let split = marked && self.bench.mark_with == MarkWith::Split;
        let mode = marked && self.bench.mark_with == MarkWith::Mode;
        self.line(&format!("v_cmp_gt_u32 vcc, {middle}, v2"));
        self.line(&format!("s_and_saveexec_b64 {saved}, vcc"));
        self.line(&format!("s_xor_b64 {saved}, exec, {saved}"));
        if split {
            self.line("split exec_lo, exec_hi");
        }
        self.mode(mode, 1);
        self.line(&format!("s_cbranch_execz {other}"));
        self.mode(mode, 0);
        let pending = self.loaded;
        self.tree(layer + 1, 2 * path, inside);
        let first = std::mem::replace(&mut self.loaded, pending);
        self.place(&other);
        self.mode(mode, 0);
        self.line(&format!("s_andn2_saveexec_b64 {saved}, {saved}"));
        self.line(&format!("s_cbranch_execz {end}"));
        self.tree(layer + 1, 2 * path + 1, inside);
        for (loaded, first) in self.loaded.iter_mut().zip(first) {
            *loaded |= first;
        }
        self.place(&end);
        self.line(&format!("s_or_b64 exec, exec, {saved}"));
        if split {
            self.line("merge");
        }
    }

    fn mode(&mut self, marked: bool, value: u32) {
        if marked {
            self.line(&format!("{MODE} {value}"));
        }
    }

    fn work(&mut self, path: u32, count: u32) {
        for step in work(path, count, self.bench.memory) {
            let acc = step.acc as usize;
            let v = format!("v{}", ACC + step.acc);
            let address =
                |word: usize| format!("v[{0}:{1}]", ADDRESS + 2 * word as u32, ADDRESS + 2 * word as u32 + 1);
            if !matches!(step.what, What::Load(_)) && self.loaded[acc] {
                self.line("s_waitcnt vmcnt(0)");
                self.loaded = [false; ACCUMULATORS as usize];
            }
            match step.what {
                What::Xor(c) => self.line(&format!("v_xor_b32 {v}, {c}, {v}")),
                What::Mad(c) => self.line(&format!("v_mad_u32_u24 {v}, {v}, {c}, v1")),
                What::Rotate(n) => self.line(&format!("v_alignbit_b32 {v}, {v}, {v}, {n}")),
                What::Load(word) => {
                    self.line(&format!("flat_load_dword {v}, {}", address(word)));
                    self.loaded[acc] = true;
                }
                What::Store(word) => self.line(&format!("flat_store_dword {}, {v}", address(word))),
            }
        }
    }
}
