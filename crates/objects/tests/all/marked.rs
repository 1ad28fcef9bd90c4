//! Every fixture object marked at all branches: still a valid object for LLVM, the same instructions but for the
//! marks, the same source lines, the same kernels; marking again changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wb_hw::MarkStyle;
use wb_objects::codeobject::CodeObject;
use wb_objects::marks::{Marked, Request, Wanted, mark, sites};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3")
}

fn objects() -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for dir in [folder(), folder().join("abi"), folder().join("gfx9")] {
        for entry in std::fs::read_dir(dir).expect("fixtures") {
            let path = entry.expect("entry").path();
            if path.extension().is_some_and(|e| e == "co" || e == "bundle") {
                let name = path.file_name().expect("name").to_string_lossy().into_owned();
                out.push((name, std::fs::read(&path).expect("object")));
            }
        }
    }
    out.sort();
    assert!(out.len() > 40, "only {} objects", out.len());
    out
}

fn all(bytes: &[u8], style: MarkStyle) -> Marked {
    let request = Request { kernel: String::new(), wanted: Wanted::All, style };
    mark(bytes, &request).expect("marks")
}

/// Instructions and source lines LLVM sees, without addresses and branch distances; none if it is not installed.
fn disassembly(name: &str, bytes: &[u8]) -> Option<Vec<String>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("write");
    let target = CodeObject::parse(bytes).expect("object").target();
    let cpu = format!("--mcpu={target}");
    let output = Command::new("llvm-objdump-19").args(["-d", "-l", &cpu]).arg(&path).output();
    let Ok(output) = output else {
        assert!(std::env::var_os("CI").is_none(), "llvm-objdump-19 is missing");
        eprintln!("llvm-objdump-19 is missing: {name} is not compared");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{name}: {errors}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let relative = |l: &str| l.contains("branch") || l.contains("s_add_u32") || l.contains("s_addc_u32");
    let clean = |l: &str| {
        let body = l.split("//").next().unwrap_or("").trim().to_owned();
        match relative(&body) {
            true => body.split_whitespace().next().unwrap_or("").to_owned(),
            false => body,
        }
    };
    // Two words that are no instruction may stand on one line; padding differs.
    let lines = text.lines().map(clean).filter(|l| !l.is_empty() && l != "s_nop 0");
    Some(lines.filter(|l| !l.contains("file format") && !l.contains("Disassembly")).collect())
}

fn is_mark(line: &str) -> bool {
    ["0xbf147f7e", "0xbf150000", "0xbf167f7e"].iter().any(|w| line.contains(w))
        || line.contains("HW_REG_MODE, 21, 1")
}

#[test]
fn llvm_sees_the_same_instructions() {
    let mut marks = 0;
    for (name, bytes) in objects().iter().filter(|o| !o.0.ends_with("bundle")) {
        for style in [MarkStyle::Pws, MarkStyle::Thesis] {
            let new = all(bytes, style).bytes;
            let file = format!("{name}.{style:?}");
            let (Some(old), Some(new)) = (disassembly(name, bytes), disassembly(&file, &new)) else { return };
            let without_header = |l: &String| !l.ends_with(">:");
            let functions = |all: &[String]| -> Vec<String> {
                let names = all.iter().filter(|l| l.ends_with(">:"));
                names.map(|l| l.split('<').nth(1).unwrap_or("").to_owned()).collect()
            };
            assert_eq!(functions(&old), functions(&new), "{file}");
            let plain: Vec<&String> = new.iter().filter(|l| !is_mark(l) && without_header(l)).collect();
            let old: Vec<&String> = old.iter().filter(|l| without_header(l)).collect();
            if let Some(i) = (0..old.len().max(plain.len())).find(|&i| old.get(i) != plain.get(i)) {
                panic!("{file}: instruction {i}: {:?} became {:?}", old.get(i), plain.get(i));
            }
            marks += new.len() - plain.len();
        }
    }
    assert!(marks > 1000, "only {marks} marks");
}

#[test]
fn marking_twice_changes_nothing() {
    for (name, bytes) in objects() {
        for style in [MarkStyle::Pws, MarkStyle::Thesis] {
            let once = all(&bytes, style);
            let twice = all(&once.bytes, style);
            assert!(once.bytes == twice.bytes, "{name} {style:?}");
            assert!(twice.notes.is_empty(), "{name}: {:?}", twice.notes);
            assert_eq!(once.branches.len(), twice.branches.len(), "{name} {style:?}");
        }
    }
}

/// Old instructions in order, as (word, file, line); marks and padding left out.
fn with_lines(object: &CodeObject) -> Vec<(u32, String, u32)> {
    let len = (object.text.end - object.text.start) as usize;
    let bytes = object.bytes_at(object.text.start, len).expect("text");
    let line: BTreeMap<u64, (u32, u32)> = object.lines.iter().map(|&(a, f, l)| (a, (f, l))).collect();
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("word"))).enumerate();
    let keep = words.filter(|(_, w)| !matches!(w, 0xbf14_7f7e | 0xbf15_0000 | 0xbf16_7f7e | 0xbf80_0000));
    keep.map(|(i, w)| {
        let addr = object.text.start + 4 * i as u64;
        let (_, &(file, line)) = line.range(..=addr).next_back().unwrap_or((&0, &(0, 0)));
        // Distances change: opcode bits only where a word may hold one.
        (w >> 16, object.files.get(file as usize).cloned().unwrap_or_default(), line)
    })
    .collect()
}

#[test]
fn lines_kernels_and_alignment_stay() {
    for (name, bytes) in objects() {
        let marked = all(&bytes, MarkStyle::Pws);
        let (old, new) =
            (CodeObject::parse(&bytes).expect("old"), CodeObject::parse(&marked.bytes).expect("new"));
        let (before, after) = (with_lines(&old), with_lines(&new));
        assert_eq!(before.len(), after.len(), "{name}");
        let differ = before.iter().zip(&after).find(|(a, b)| a.1 != b.1 || a.2 != b.2);
        assert_eq!(differ, None, "{name}");
        for (a, b) in old.kernels.iter().zip(&new.kernels) {
            assert_eq!((&a.name, &a.descriptor, a.kernarg_size), (&b.name, &b.descriptor, b.kernarg_size));
            assert_eq!((a.lds_bytes, a.scratch_bytes, &a.args), (b.lds_bytes, b.scratch_bytes, &b.args));
            assert_eq!(b.entry % 256, 0, "{name}: {}", b.name);
            let first = |o: &CodeObject, at: u64| o.bytes_at(at, 4).map(<[u8]>::to_vec);
            assert_eq!(first(&old, a.entry), first(&new, b.entry), "{name}: {}", a.name);
        }
        // Every branch has its split on its own line.
        for site in sites(&marked.bytes, "").expect("sites").iter().filter(|s| s.split) {
            assert!(site.markable, "{name}: {site:?}");
        }
    }
}

#[test]
fn damaged_objects_are_errors() {
    for file in ["abi/axpy.bundle", "abi/old.v2.co", "control.O2.co"] {
        let whole = std::fs::read(folder().join(file)).expect("object");
        let mut noise = 4711u32;
        for round in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..4 {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Tables and notes stand at both ends.
                let reach = if round % 2 == 0 { bytes.len() } else { 0x1000.min(bytes.len()) };
                let at = (noise >> 8) as usize % reach;
                bytes[at] ^= noise as u8;
            }
            let request = Request { kernel: String::new(), wanted: Wanted::All, style: MarkStyle::Pws };
            let _ = mark(&bytes, &request); // any answer, but no panic
            bytes.truncate((noise >> 4) as usize % whole.len());
            let _ = mark(&bytes, &request);
        }
    }
}
