//! From an image back to a source that assembles to the same image: labels and entry kept, code as
//! instructions, everything else as data.

use super::arch::Encoding;
use super::encode::Codec;
use super::inst::Inst;
use super::lexer::is_name;
use super::link::Image;
use super::table::Slot;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

/// One instruction as the assembler writes it; `target` names what the immediate points to.
pub(super) fn text(inst: &Inst, target: Option<String>) -> String {
    let mut out = String::new();
    if let Some(p) = inst.pred {
        let _ = write!(out, "@p{p} ? ");
    }
    out.push_str(inst.entry().name);
    for (i, (slot, r)) in inst.operands().enumerate() {
        out.push_str(if i == 0 { " " } else { ", " });
        let _ = match (slot, &target) {
            (Slot::Dest | Slot::Src, _) => write!(out, "%r{r}"),
            (Slot::PredDest | Slot::PredSrc, _) => write!(out, "@p{r}"),
            (Slot::Imm, Some(name)) => write!(out, "{name}"),
            (Slot::Imm, None) if (-4096..=4096).contains(&inst.imm) => write!(out, "#{}", inst.imm),
            (Slot::Imm, None) if inst.imm < 0 => write!(out, "#-{:#x}", inst.imm.unsigned_abs()),
            (Slot::Imm, None) => write!(out, "#{:#x}", inst.imm),
        };
    }
    out
}

/// Disassembles a whole program.
pub fn disassemble(image: &Image) -> String {
    let Ok(codec) = Codec::new(image.arch) else { return String::new() };
    let mut listing = Listing {
        image,
        codec,
        labels: labels(image),
        out: format!("/* {} */\n", image.arch),
        cursor: 0,
        text: None,
    };
    let starts = listing.starts();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(u64::MAX);
        listing.piece(start, end);
    }
    listing.out
}

/// Printable, unique label names by address.
fn labels(image: &Image) -> BTreeMap<u64, Vec<String>> {
    let mut used = HashSet::from(["__WORD".to_string()]);
    let mut labels: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (name, addr) in &image.symbols {
        let base = if is_name(name) { name.clone() } else { format!("L{addr:x}") };
        let mut unique = base.clone();
        let mut n = 2;
        while !used.insert(unique.clone()) {
            unique = format!("{base}.{n}");
            n += 1;
        }
        labels.entry(*addr).or_default().push(unique);
    }
    labels
}

struct Listing<'a> {
    image: &'a Image,
    codec: Codec,
    labels: BTreeMap<u64, Vec<String>>,
    out: String,
    /// Where the next chunk would be placed.
    cursor: u64,
    /// Whether the last piece was code.
    text: Option<bool>,
}

impl Listing<'_> {
    /// Addresses where a new chunk has to begin.
    fn starts(&self) -> Vec<u64> {
        let mut starts: BTreeSet<u64> = self.labels.keys().copied().collect();
        starts.extend(self.image.segments.iter().map(|(addr, _)| *addr));
        starts.extend(self.image.text.iter().flat_map(|range| [range.start, range.end]));
        starts.insert(self.image.entry);
        starts.into_iter().collect()
    }

    fn is_text(&self, addr: u64) -> bool {
        self.image.text.iter().any(|range| range.contains(&addr))
    }

    fn piece(&mut self, start: u64, end: u64) {
        let image = self.image;
        let bytes = image.bytes_at(start).unwrap_or_default();
        let labels = self.labels.get(&start).cloned().unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(usize::try_from(end - start).unwrap_or(usize::MAX))];
        if bytes.is_empty() && labels.is_empty() && start != image.entry {
            return;
        }
        let text = !bytes.is_empty() && self.is_text(start);
        if self.text != Some(text) {
            self.out.push_str(if text { "\n.perm rx\n" } else { "\n.perm rw\n" });
            self.text = Some(text);
        }
        if let Some(align) = self.alignment(start, text) {
            let _ = writeln!(self.out, ".align {align}");
        }
        if start == image.entry {
            self.out.push_str(".entry\n");
        }
        for label in labels {
            let _ = writeln!(self.out, "{label}:");
        }
        self.cursor = start + bytes.len() as u64;
        if bytes.is_empty() {
            self.out.push_str("    .space 0\n"); // a chunk of its own, or label and entry would move on
        } else if text {
            self.code(start, bytes);
        } else {
            self.data(bytes);
        }
    }

    /// The alignment that puts the next chunk at `start`, unless the default does.
    fn alignment(&self, start: u64, text: bool) -> Option<u64> {
        let word = u64::from(self.image.arch.bytes);
        let default = if text && self.image.arch.encoding == Encoding::Byte { 1 } else { word };
        let lands = |align: u64| self.cursor.next_multiple_of(align) == start;
        if lands(default) {
            return None;
        }
        (0..28).map(|n| 1 << n).find(|&align| lands(align)).or(Some(start))
    }

    fn code(&mut self, start: u64, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let Ok((inst, size)) = self.codec.decode(&bytes[at..]) else {
                // Not an instruction after all: keep the bytes.
                self.out.push_str(".perm rx\n.align 1\n");
                self.text = None;
                return self.data(&bytes[at..]);
            };
            at += size as usize;
            let next = start + at as u64;
            let target = next.wrapping_add(inst.imm as u64) & self.image.arch.word_mask();
            let label = self.labels.get(&target).filter(|_| inst.op.relative()).map(|names| names[0].clone());
            let _ = writeln!(self.out, "    {}", text(&inst, label));
        }
    }

    fn data(&mut self, mut bytes: &[u8]) {
        let word = self.image.arch.bytes as usize;
        while !bytes.is_empty() {
            let zeros = bytes.iter().take_while(|&&b| b == 0).count() / word;
            let (line, used) = if zeros >= 2 {
                (format!(".space {zeros}"), zeros * word)
            } else if let Some(found) = string(bytes) {
                found
            } else if bytes.len() >= word {
                let value = bytes[..word].iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
                (format!(".word {value:#x}"), word)
            } else {
                (format!(".byte {:#x}", bytes[0]), 1)
            };
            let _ = writeln!(self.out, "    {line}");
            bytes = &bytes[used..];
        }
    }
}

/// A NUL-terminated text of at least three characters at the start of `bytes`.
fn string(bytes: &[u8]) -> Option<(String, usize)> {
    let len = bytes.iter().position(|&b| b == 0)?;
    let printable = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
    if len < 3 || !bytes[..len].iter().all(printable) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[..len]);
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    Some((format!(".string \"{text}\""), len + 1))
}
