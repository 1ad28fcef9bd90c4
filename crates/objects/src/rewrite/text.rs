//! The words of .text with edits made: where every old word is now, and everything relative to a pc set right.
//! Functions that begin at a multiple of 256 bytes, as kernels must, still do; the padding before them is made anew.

use super::{Edits, RewriteError};
use std::collections::BTreeSet;
use std::ops::Range;
use wb_isa::gcn3::{self, Generation, Inst, Op, Operand};

/// s_nop 0, what assemblers pad code with.
const NOP: u32 = 0xbf80_0000;
const ALIGN: u64 = 256;
/// s_add_u32 and s_addc_u32 stand this close behind s_getpc_b64.
const NEAR: usize = 8;

/// What the words mean.
pub(super) struct Code<'a> {
    pub words: &'a [u32],
    /// What it was written for.
    pub generation: &'static Generation,
    /// Address of the first word.
    pub addr: u64,
    /// Word numbers at which functions begin.
    pub functions: BTreeSet<u32>,
    /// Words of functions; what is between them is padding.
    pub bodies: Vec<Range<u32>>,
    /// Words that are no instructions (kernel headers of version 2).
    pub data: Vec<Range<u32>>,
}

/// New words and where old ones went.
pub(super) struct Layout {
    pub words: Vec<u32>,
    pub old: Range<u64>,
    /// Address of the new first word.
    pub addr: u64,
    /// New number of what a jump to an old word must reach; one more entry for the end.
    label: Vec<u32>,
    /// New number right behind what stood before an old word, padding left out.
    end: Vec<u32>,
}

impl Layout {
    /// Where code at an old address is now; addresses outside of the old code stay.
    pub fn start_of(&self, addr: u64) -> u64 {
        self.map(addr, &self.label)
    }

    /// Where code that ended at an old address ends now.
    pub fn end_of(&self, addr: u64) -> u64 {
        self.map(addr, &self.end)
    }

    fn map(&self, addr: u64, to: &[u32]) -> u64 {
        if addr < self.old.start || addr > self.old.end {
            return addr;
        }
        let offset = addr - self.old.start;
        let word = to.get((offset / 4) as usize).copied().unwrap_or(0);
        self.addr + 4 * u64::from(word) + offset % 4
    }
}

/// Instructions by word number; none inside of one, in data and where nothing can be decoded.
fn instructions(code: &Code) -> Vec<Option<Inst>> {
    let mut out = vec![None; code.words.len()];
    let mut at = 0;
    while at < code.words.len() {
        let data = code.data.iter().find(|d| d.contains(&(at as u32)));
        if let Some(data) = data {
            at = data.end as usize;
            continue;
        }
        let inst = gcn3::decode_for(code.generation, &code.words[at..]).ok();
        let size = inst.as_ref().map_or(1, words_of);
        out[at] = inst;
        at += size;
    }
    out
}

fn words_of(inst: &Inst) -> usize {
    usize::from(inst.size / 4).max(1)
}

/// Makes the edits; the new words still have the old distances.
pub(super) fn lay_out(code: &Code, edits: &Edits, addr: u64) -> Result<Layout, RewriteError> {
    let n = code.words.len();
    let insts = instructions(code);
    let aligned = |at: usize| {
        code.functions.contains(&(at as u32)) && (code.addr + 4 * at as u64).is_multiple_of(ALIGN)
    };
    let mut padding = vec![false; n];
    for at in (0..n).filter(|&at| aligned(at)) {
        for before in (0..at).rev() {
            let inside = code.bodies.iter().chain(&code.data).any(|b| b.contains(&(before as u32)));
            if inside || !matches!(code.words[before], NOP | 0) {
                break;
            }
            padding[before] = true;
        }
    }
    let mut words: Vec<u32> = Vec::with_capacity(n + 64);
    let (mut label, mut end) = (vec![0; n + 1], vec![0; n + 1]);
    // Where each instruction that stays is now.
    let mut place = vec![None; n];
    let mut at = 0;
    while at < n {
        end[at] = words.len() as u32;
        if aligned(at) {
            while !(addr + 4 * words.len() as u64).is_multiple_of(ALIGN) {
                words.push(NOP);
            }
        }
        label[at] = words.len() as u32;
        let size = insts[at].as_ref().map_or(1, words_of).min(n - at);
        let key = at as u32;
        words.extend(edits.before.get(&key).into_iter().flatten());
        if !edits.remove.contains(&key) && !padding[at] {
            place[at] = Some(words.len());
            words.extend(&code.words[at..at + size]);
        }
        words.extend(edits.after.get(&key).into_iter().flatten());
        for inner in 1..size {
            let there = place[at].map_or(words.len(), |p| p + inner) as u32;
            (label[at + inner], end[at + inner]) = (there, there);
        }
        at += size;
    }
    (label[n], end[n]) = (words.len() as u32, words.len() as u32);
    let old = code.addr..code.addr + 4 * n as u64;
    let mut layout = Layout { words, old, addr, label, end };
    for (at, inst) in insts.iter().enumerate() {
        if let (Some(inst), Some(place)) = (inst, place[at]) {
            set_right(code, &insts, &mut layout, at, inst, place)?;
        }
    }
    headers(code, &mut layout, &place);
    Ok(layout)
}

/// Distances that the instruction at word `old`, now at `new`, holds.
fn set_right(
    code: &Code,
    insts: &[Option<Inst>],
    layout: &mut Layout,
    old: usize,
    inst: &Inst,
    new: usize,
) -> Result<(), RewriteError> {
    let at = code.addr + 4 * old as u64;
    if let Some(words) = inst.branch_words() {
        let target = old as i64 + words_of(inst) as i64 + i64::from(words);
        let target = usize::try_from(target).ok().and_then(|t| layout.label.get(t).copied());
        let target = i64::from(target.ok_or(RewriteError::Outside { at })?);
        let distance = target - (new + words_of(inst)) as i64;
        let field = i16::try_from(distance).map_err(|_| RewriteError::Branch { at, words: distance })?;
        layout.words[new] = layout.words[new] & 0xffff_0000 | u32::from(field as u16);
    }
    if inst.op == Op::SGetpcB64 {
        let Operand::Sgpr(low) = inst.dst else { return Err(RewriteError::GetPc { at }) };
        let rest = (old + 1..insts.len().min(old + 1 + 2 * NEAR)).filter_map(|i| Some((i, insts[i]?)));
        let rest: Vec<(usize, Inst)> = rest.take(NEAR).collect();
        let part = |op, register| {
            rest.iter().find(|(_, i)| i.op == op && i.dst == Operand::Sgpr(register)).and_then(|&(at, i)| {
                match (i.src[0], i.src[1]) {
                    (Operand::Sgpr(r), Operand::Literal(n)) if r == register => Some((at, n)),
                    _ => None,
                }
            })
        };
        let (Some((low_at, l)), Some((high_at, h))) = (part(Op::SAddU32, low), part(Op::SAddcU32, low + 1))
        else {
            return Err(RewriteError::GetPc { at });
        };
        let target = (at + 4).wrapping_add(u64::from(h) << 32 | u64::from(l));
        let from = layout.addr + 4 * new as u64 + 4;
        let distance = layout.start_of(target).wrapping_sub(from);
        // The literal is the second word of its instruction.
        for (at, half) in [(low_at, distance as u32), (high_at, (distance >> 32) as u32)] {
            let place = layout.label[at + 1] as usize;
            layout.words[place] = half;
        }
    }
    Ok(())
}

/// Kernel headers of version 2 say how far behind them the code begins.
fn headers(code: &Code, layout: &mut Layout, place: &[Option<usize>]) {
    for header in &code.data {
        let first = header.start as usize;
        let (Some(new), Some(&entry)) = (place[first], code.words.get(first + 4)) else { continue };
        let entry = code.addr + 4 * first as u64 + u64::from(entry);
        let distance = layout.start_of(entry).wrapping_sub(layout.addr + 4 * new as u64);
        layout.words[new + 4] = distance as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_isa::SourceFile;

    fn assembled(text: &str) -> Vec<u32> {
        gcn3::assemble(&SourceFile::new("t.s", text)).expect("assembles").words
    }

    fn code(words: &[u32]) -> Code<'_> {
        Code {
            words,
            generation: &gcn3::GFX8,
            addr: 0x1000,
            functions: BTreeSet::from([0]),
            bodies: std::iter::once(0..words.len() as u32).collect(),
            data: Vec::new(),
        }
    }

    const SPLIT: u32 = 0xbf14_7f7e;
    const MERGE: u32 = 0xbf15_0000;

    #[test]
    fn branches_keep_their_targets() {
        let old = assembled(
            "s_cbranch_execz end\nback: v_mov_b32 v0, 0\ns_cbranch_scc1 back\nend: s_or_b64 exec, exec, s[0:1]\ntail: s_cbranch_scc0 tail\ns_endpgm",
        );
        let mut edits = Edits::default();
        edits.before.insert(0, vec![SPLIT]);
        edits.after.insert(3, vec![MERGE, MERGE]);
        let layout = lay_out(&code(&old), &edits, 0x1000).expect("laid out");
        let by_hand = assembled(
            "split exec_lo, exec_hi\ns_cbranch_execz end\nback: v_mov_b32 v0, 0\ns_cbranch_scc1 back\nend: s_or_b64 exec, exec, s[0:1]\nmerge\nmerge\ntail: s_cbranch_scc0 tail\ns_endpgm",
        );
        assert_eq!(layout.words, by_hand, "who jumps to tail does not merge again");
        assert_eq!(layout.start_of(0x1000), 0x1000, "who jumps to the branch splits");
        assert_eq!((layout.end_of(0x1010), layout.start_of(0x1010)), (0x101c, 0x101c));
    }

    #[test]
    fn removed_instructions_leave_their_labels() {
        let old = assembled("s_branch there\ns_nop 5\nthere: s_nop 7\ns_endpgm");
        let edits = Edits { remove: BTreeSet::from([1, 2]), ..Edits::default() };
        let layout = lay_out(&code(&old), &edits, 0x1000).expect("laid out");
        assert_eq!(layout.words, assembled("s_branch there\nthere: s_endpgm"));
    }

    #[test]
    fn far_branches_are_errors() {
        let mut old = assembled("s_cbranch_execz 32766");
        old.resize(0x8000, 0x7e00_0280);
        old[1] = 0x7e00_0280;
        let mut edits = Edits::default();
        edits.after.insert(9, vec![MERGE]);
        assert!(lay_out(&code(&old), &edits, 0x1000).is_ok(), "32767 still fits");
        edits.after.insert(10, vec![MERGE]);
        let error = lay_out(&code(&old), &edits, 0x1000).err();
        assert_eq!(error, Some(RewriteError::Branch { at: 0x1000, words: 32768 }));
    }

    #[test]
    fn addresses_made_from_the_pc_are_set_right() {
        // Function 0 takes the address of function 2 (256-aligned) and of data in front of the code.
        let text = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 0xfc\ns_addc_u32 s5, s5, 0x0\n\
                    s_getpc_b64 s[6:7]\ns_add_u32 s6, s6, 0xfffff0e8\ns_addc_u32 s7, s7, 0xffffffff\ns_endpgm";
        let mut old = assembled(text);
        // Text cannot say that a small constant is a literal.
        let literal = |words: &mut Vec<u32>, at: usize, op: u32, value: u32| {
            words.splice(at..at + 1, [op | 0xff00, value]);
        };
        if old.len() < 12 {
            literal(&mut old, 3, 0x8205_0005, 0);
            literal(&mut old, 8, 0x8207_0007, u32::MAX);
        }
        let body = old.len() as u32;
        old.resize(64, NOP);
        old.extend(assembled("s_endpgm"));
        let whole = Code {
            words: &old,
            generation: &gcn3::GFX8,
            addr: 0x1000,
            functions: BTreeSet::from([0, 64]),
            bodies: vec![0..body, 64..65],
            data: Vec::new(),
        };
        let mut edits = Edits::default();
        edits.before.insert(0, vec![SPLIT; 2]);
        let target = |words: &[u32], getpc: usize, addr: u64| {
            let offset = u64::from(words[getpc + 4]) << 32 | u64::from(words[getpc + 2]);
            (addr + 4 * getpc as u64 + 4).wrapping_add(offset)
        };
        let second = old.iter().rposition(|&w| w >> 8 == 0xbe861c).expect("second s_getpc");
        let data = target(&old, second, 0x1000);
        assert_eq!(target(&old, 0, 0x1000), 0x1100);
        let layout = lay_out(&whole, &edits, 0x1000).expect("laid out");
        assert_eq!(layout.words.len(), 65, "padding makes room");
        assert_eq!(target(&layout.words, 2, 0x1000), 0x1100);
        assert_eq!(target(&layout.words, second + 2, 0x1000), data);
        let moved = lay_out(&whole, &edits, 0x5000).expect("laid out elsewhere");
        assert_eq!(target(&moved.words, 2, 0x5000), 0x5100);
        assert_eq!(target(&moved.words, second + 2, 0x5000), data);
        edits.before.insert(0, vec![SPLIT; 60]);
        let longer = lay_out(&whole, &edits, 0x1000).expect("laid out");
        assert_eq!(longer.start_of(0x1100), 0x1200);
        assert_eq!(target(&longer.words, 60, 0x1000), 0x1200);
    }

    #[test]
    fn an_unfinished_address_is_an_error() {
        let old = assembled("s_getpc_b64 s[4:5]\ns_setpc_b64 s[4:5]");
        let mut edits = Edits::default();
        edits.before.insert(0, vec![MERGE]);
        let error = lay_out(&code(&old), &edits, 0x1000).err();
        assert_eq!(error, Some(RewriteError::GetPc { at: 0x1000 }));
    }
}
