//! Disassembly of code objects for people: addresses, encodings, labels at branch targets, and the source
//! line that each stretch of code came from.

use super::ObjectFile;
use crate::error::{JobError, refused};
use crate::language::ListingOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use wb_files::Kind;
use wb_isa::gcn3::{self, DecodeError, Inst};

/// Filler between functions: s_nop, s_code_end, zero.
const PADDING: [u32; 3] = [0xbf80_0000, 0xbf9f_0000, 0];

struct Line {
    addr: u64,
    words: Vec<u32>,
    inst: Result<Inst, DecodeError>,
}

impl Line {
    fn target(&self) -> Option<u64> {
        let inst = self.inst.as_ref().ok()?;
        let next = self.addr + 4 * self.words.len() as u64;
        Some(next.wrapping_add_signed(4 * i64::from(inst.branch_words()?)))
    }
}

/// Lists a code object. Source files are looked for as they are named and beside `path`.
pub fn listing(file: &ObjectFile, path: &Path, options: &ListingOptions) -> Result<String, JobError> {
    let object = &file.object;
    let range = if options.kernel.is_empty() {
        object.text.clone()
    } else {
        let kernel = object.kernel(&options.kernel).ok_or_else(|| {
            refused!(
                Program,
                help = format!("kernels in the file: {}", object.kernel_names()),
                "there is no kernel `{}`",
                options.kernel
            )
        })?;
        kernel.entry..kernel.entry + object.code_bytes(kernel)
    };
    let lines = decode(file, range.clone());
    let labels = labels(file, &lines, &range);
    let mut sources = Sources { file, path, texts: BTreeMap::new(), last: None };
    let mut out = String::new();
    if !options.assembly {
        let _ = writeln!(out, "; {}: code object version {}, {}", file.name, object.version, object.target());
    } else if object.target() != gcn3::GFX8.usual.name {
        let _ = writeln!(out, ".amdgcn_target \"amdgcn-amd-amdhsa--{}\"", object.target());
    }
    let mut skipped = 0;
    for (i, line) in lines.iter().enumerate() {
        let is_padding = line.words.iter().all(|w| PADDING.contains(w));
        // Filler up to the next label or the end is not worth a line each.
        let stretch = || lines[i..].iter().take_while(|l| l.words.iter().all(|w| PADDING.contains(w)));
        let ends = |n: usize| lines.get(i + n).is_none_or(|l| labels.contains_key(&l.addr));
        if !options.assembly && is_padding && (skipped > 0 || ends(stretch().count())) {
            let after_end = i == 0 || skipped > 0 || is_end(&lines[i - 1]);
            if after_end && !labels.contains_key(&line.addr) {
                skipped += 1;
                continue;
            }
        }
        skipped = 0;
        for name in labels.get(&line.addr).into_iter().flatten() {
            let kernel = object.kernels.iter().any(|k| k.name == *name);
            let _ = writeln!(out, "{}{name}:", if kernel && i > 0 { "\n" } else { "" });
        }
        if !options.no_source {
            sources.write(&mut out, line.addr);
        }
        let text = match (&line.inst, line.target()) {
            (Ok(inst), None) => gcn3::disassemble(inst),
            (Ok(inst), Some(target)) => match labels.get(&target).and_then(|l| l.first()) {
                Some(label) => gcn3::disassemble_to(inst, label),
                None => gcn3::disassemble_to(inst, &format!("{target:#x}")),
            },
            (Err(_), _) => format!(".long {:#010x}", line.words[0]),
        };
        if options.assembly {
            let _ = writeln!(out, "  {text}");
            continue;
        }
        let code: Vec<String> = line.words.iter().map(|w| format!("{w:08x}")).collect();
        let why = match &line.inst {
            Err(why) => format!("  ; {why}"),
            Ok(_) => String::new(),
        };
        let _ = writeln!(out, "  {:06x}  {:<18} {text}{why}", line.addr, code.join(" "));
    }
    Ok(out)
}

fn is_end(line: &Line) -> bool {
    line.inst.as_ref().is_ok_and(|i| matches!(i.entry().flow, gcn3::Ctl::End | gcn3::Ctl::Branch))
}

fn decode(file: &ObjectFile, range: Range<u64>) -> Vec<Line> {
    let size = (range.end - range.start) as usize;
    let bytes = file.object.bytes_at(range.start, size).unwrap_or(&[]);
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let inst = gcn3::decode_for(file.object.generation(), &words[at..]);
        let size = inst.as_ref().map_or(1, |i| usize::from(i.size / 4).max(1)).min(words.len() - at);
        lines.push(Line { addr: range.start + 4 * at as u64, words: words[at..at + size].to_vec(), inst });
        at += size;
    }
    lines
}

/// Symbols of the code, and a made-up name for every branch target without one.
fn labels(file: &ObjectFile, lines: &[Line], range: &Range<u64>) -> BTreeMap<u64, Vec<String>> {
    let starts: BTreeSet<u64> = lines.iter().map(|l| l.addr).collect();
    let mut labels: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (name, addr) in file.object.symbols.iter().filter(|s| range.contains(&s.1) && starts.contains(&s.1)) {
        labels.entry(*addr).or_default().push(name.clone());
    }
    for target in lines.iter().filter_map(Line::target).filter(|t| starts.contains(t)) {
        labels.entry(target).or_insert_with(|| vec![format!("L{target:x}")]);
    }
    labels
}

/// Source lines of the code, each read once and named once in a row.
struct Sources<'a> {
    file: &'a ObjectFile,
    path: &'a Path,
    texts: BTreeMap<u32, Option<String>>,
    last: Option<(u32, u32)>,
}

impl Sources<'_> {
    fn write(&mut self, out: &mut String, addr: u64) {
        let lines = &self.file.object.lines;
        let at = lines.partition_point(|l| l.0 <= addr);
        let Some(&(_, file, line)) = at.checked_sub(1).and_then(|i| lines.get(i)).filter(|l| l.2 > 0) else {
            return;
        };
        if self.last == Some((file, line)) {
            return;
        }
        self.last = Some((file, line));
        let name = self.file.object.files.get(file as usize).map_or("", String::as_str);
        // Lines of assembly would only repeat the code.
        if Path::new(name).extension().is_some_and(|e| e == "s") {
            return;
        }
        let text = self.texts.entry(file).or_insert_with(|| read(name, self.path));
        let text = text.as_ref().and_then(|t| t.lines().nth(line as usize - 1)).map(str::trim);
        let _ = match text {
            Some(text) if !text.is_empty() => writeln!(out, "; {name}:{line}: {text}"),
            _ => writeln!(out, "; {name}:{line}"),
        };
    }
}

fn read(name: &str, object: &Path) -> Option<String> {
    let beside = object.parent().map(|folder| folder.join(name));
    let text = |path: &Path| wb_files::read_text(path, Kind::Source).ok();
    text(Path::new(name)).or_else(|| text(&beside?))
}
