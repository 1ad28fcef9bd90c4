//! LLVM 19 as a witness: whole files through llvm-mc and llvm-objdump.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use wb_isa::gcn3::*;

const MC: &str = "llvm-mc-19";
const OBJDUMP: &str = "llvm-objdump-19";

/// Whether LLVM is installed; in CI it must be.
pub fn available() -> bool {
    let there = [MC, OBJDUMP].iter().all(|tool| Command::new(tool).arg("--version").output().is_ok());
    if !there {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{MC} and {OBJDUMP} must be installed in CI");
        println!("skipped: {MC} or {OBJDUMP} is not installed; the goldens are checked instead");
    }
    there
}

/// Operations LLVM does not know: ours by design.
pub fn unknown_to_llvm(inst: &Inst) -> bool {
    matches!(inst.op, Op::Split | Op::SplitEnd | Op::Merge)
}

pub struct TempDir(pub PathBuf);

impl TempDir {
    pub fn new() -> TempDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wb-gcn3-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Latency and reciprocal throughput of each line in LLVM's model of a machine.
pub fn times(cpu: &str, lines: &[String]) -> Vec<(u32, u32)> {
    if lines.is_empty() {
        return Vec::new();
    }
    let dir = TempDir::new();
    let source = dir.0.join("a.s");
    std::fs::write(&source, lines.join("\n") + "\n").unwrap();
    let mcpu = format!("-mcpu={cpu}");
    let out = Command::new("llvm-mca-19").args(["-march=amdgcn", &mcpu]).arg(&source).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let table = text.lines().skip_while(|l| !l.ends_with("Instructions:") || !l.starts_with("[1]")).skip(1);
    let row = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let latency = fields.next()?.parse::<u32>().ok()?;
        Some((latency, fields.next()?.parse::<f64>().ok()? as u32))
    };
    table.map_while(row).collect()
}

/// Text of each instruction as llvm-objdump prints it; empty where it saw none at that address.
pub fn objdump<'a>(cpu: &str, instructions: impl Iterator<Item = &'a [u32]>) -> Vec<String> {
    let mcpu = format!("-mcpu={cpu}");
    let dir = TempDir::new();
    let (source, object) = (dir.0.join("a.s"), dir.0.join("a.o"));
    let mut text = String::from(".text\n");
    let mut starts = Vec::new();
    let mut address = 0u64;
    for words in instructions {
        starts.push(address);
        for w in words {
            let _ = writeln!(text, ".long {w:#x}");
            address += 4;
        }
    }
    std::fs::write(&source, text).unwrap();
    let out = Command::new(MC)
        .args(["-triple=amdgcn-amd-amdhsa", &mcpu, "-filetype=obj", "-o"])
        .arg(&object)
        .arg(&source)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines = dump(cpu, &object);
    starts.iter().map(|a| lines.get(a).cloned().unwrap_or_default()).collect()
}

/// The disassembly of an object's .text by address.
pub fn dump(cpu: &str, object: &std::path::Path) -> std::collections::HashMap<u64, String> {
    let mcpu = format!("--mcpu={cpu}");
    let out = Command::new(OBJDUMP).args(["-d", &mcpu, "-j", ".text"]).arg(object).output().unwrap();
    if !out.status.success() {
        // LLVM 19 crashes on some encodings nobody assembles; what it printed before counts.
        println!("{OBJDUMP} failed: {}", out.status);
    }
    let mut lines = std::collections::HashMap::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let Some((text, rest)) = line.split_once("// ") else { continue };
        let Some((address, _)) = rest.split_once(':') else { continue };
        if let Ok(address) = u64::from_str_radix(address.trim(), 16) {
            lines.insert(address, text.trim().to_string());
        }
    }
    lines
}

/// The words llvm-mc makes of each line; none where it refuses.
pub fn assemble(cpu: &str, lines: &[String]) -> Vec<Option<Vec<u32>>> {
    let dir = TempDir::new();
    let source = dir.0.join("a.s");
    std::fs::write(&source, lines.join("\n") + "\n").unwrap();
    // Refused lines are found first, because a file with one has no encodings to align.
    let run = || {
        let args = ["-arch=amdgcn", &format!("-mcpu={cpu}"), "-show-encoding"];
        Command::new(MC).args(args).arg(&source).output().unwrap()
    };
    let out = run();
    let mut refused = std::collections::HashSet::new();
    for line in String::from_utf8_lossy(&out.stderr).lines() {
        let Some((place, _)) = line.split_once(": error:") else { continue };
        let mut parts = place.rsplit(':');
        let number: Option<usize> = parts.nth(1).and_then(|n| n.parse().ok());
        refused.extend(number);
    }
    let kept: Vec<&str> = lines
        .iter()
        .enumerate()
        .map(|(i, l)| if refused.contains(&(i + 1)) { "" } else { l.as_str() })
        .collect();
    std::fs::write(&source, kept.join("\n") + "\n").unwrap();
    let out = run();
    let text = String::from_utf8_lossy(&out.stdout);
    let mut encodings = text.lines().filter_map(|line| {
        let bytes = line.split_once("encoding: [")?.1.split_once(']')?.0;
        let bytes: Vec<u8> =
            bytes.split(',').map(|b| u8::from_str_radix(b.trim_start_matches("0x"), 16).unwrap()).collect();
        Some(bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect())
    });
    (1..=lines.len()).map(|n| if refused.contains(&n) { None } else { encodings.next() }).collect()
}

/// Bytes of a section of an object file.
fn section(object: &std::path::Path, name: &str) -> Vec<u8> {
    let dir = TempDir::new();
    let out = dir.0.join("section");
    let done = Command::new("llvm-objcopy-19")
        .args(["-O", "binary", "--only-section", name])
        .args([object, out.as_path()])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(out).unwrap()
}

/// The kernel descriptors llvm-mc makes.
pub fn rodata(text: &str) -> Vec<u8> {
    let dir = TempDir::new();
    let (source, object) = (dir.0.join("a.s"), dir.0.join("a.o"));
    std::fs::write(&source, text).unwrap();
    let args = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx803", "-filetype=obj", "-o"];
    let out = Command::new(MC).args(args).arg(&object).arg(&source).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    section(&object, ".rodata")
}

const CLANG: &str = "clang-19";
const DEVICE_LIBS: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

pub fn clang_available() -> bool {
    let there =
        Command::new(CLANG).arg("--version").output().is_ok() && std::path::Path::new(DEVICE_LIBS).is_dir();
    if !there {
        println!("skipped: {CLANG} or the ROCm device libraries are not installed");
    }
    there
}

/// The code of an object and LLVM's text by address.
pub struct Code {
    pub words: Vec<u32>,
    pub start: u64,
    pub dump: std::collections::HashMap<u64, String>,
}

pub fn code_of(cpu: &str, object: &std::path::Path) -> Code {
    let dump = dump(cpu, object);
    let bytes = section(object, ".text");
    Code {
        words: bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect(),
        start: dump.keys().copied().min().unwrap_or(0),
        dump,
    }
}

pub struct Compiled {
    pub code: Code,
    pub assembly: String,
}

/// OpenCL C to an object and to assembly.
pub fn compile(cpu: &str, source: &str, options: &[&str]) -> Compiled {
    let mcpu = format!("-mcpu={cpu}");
    let dir = TempDir::new();
    let input = dir.0.join("k.cl");
    std::fs::write(&input, source).unwrap();
    let run = |output: &str, mode: &str| {
        let output = dir.0.join(output);
        let libs = format!("--rocm-device-lib-path={DEVICE_LIBS}");
        let out = Command::new(CLANG)
            .args(["-target", "amdgcn-amd-amdhsa", &mcpu, "-x", "cl", "-cl-std=CL2.0", "--rocm-path=/usr"])
            .args([libs.as_str(), "-mcode-object-version=4", mode, "-o"])
            .arg(&output)
            .args(options)
            .arg(&input)
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        output
    };
    let object = run("k.co", "-O2");
    let assembly = run("k.s", "-S");
    Compiled { code: code_of(cpu, &object), assembly: std::fs::read_to_string(assembly).unwrap() }
}
