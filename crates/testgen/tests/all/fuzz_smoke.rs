//! The fuzz targets on stable Rust: the corpus, seeds made from real programs, and simple mutations of both.
//! Deterministic. `WAVEBOUND_FUZZ_ITERATIONS=1000000` runs more; docs/fuzzing.md tells about the rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use wb_hw::{InstructionSet, Policy};
use wb_isa::{SourceFile, gcn3, guppy, harp};
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;
use wb_testgen::fuzzing::{ARCHES, TARGETS, Target};
use wb_testgen::random::{Case, Setup, Style, fixed_programs, generate};
use wb_trace::TraceWriter;

const ITERATIONS: u64 = 3000;
/// Longer inputs only take longer.
const MAX_LENGTH: usize = 4096;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 32) as usize % n.max(1)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut list: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect(),
        Err(_) => Vec::new(),
    };
    list.sort();
    list.into_iter().map(|p| (p.clone(), std::fs::read(p).expect("a readable file"))).collect()
}

/// (is GUPPY, architecture, source) of programs that assemble.
fn programs() -> Vec<(bool, &'static str, String)> {
    let mut all = Vec::new();
    for (path, bytes) in files(&root().join("crates/lab/programs")) {
        let guppy = path.extension().is_some_and(|e| e == "guppy");
        let text = String::from_utf8(bytes).expect("text");
        all.push((guppy, ARCHES[0], text));
    }
    for (n, ast) in fixed_programs().into_iter().enumerate() {
        for target in 0..4 {
            let setup = Setup::number(target + 6 * 6 * 2 * (n as u64 % 2));
            let (guppy, arch) = (setup.target.style == Style::MaskStack, setup.arch());
            all.push((guppy, arch, Case { setup, ast: ast.clone() }.source()));
        }
    }
    let ast = generate(&(0..60u16).map(|i| i.wrapping_mul(7919)).collect::<Vec<u16>>(), true);
    let case = Case { setup: Setup::number(2), ast };
    all.push((false, case.setup.arch(), case.source()));
    all
}

fn arch_number(arch: &str) -> u8 {
    ARCHES.iter().position(|&a| a == arch).unwrap_or(0) as u8
}

/// Inputs that get deep into a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let with = |head: &[u8], body: &[u8]| [head, body].concat();
    let mut seeds = Vec::new();
    for (n, (is_guppy, arch, source)) in programs().into_iter().enumerate() {
        let file = SourceFile::new("seed", source.as_str());
        let object = || harp::assemble(&file, &arch.parse().unwrap()).ok();
        if gcn3_target(target) || target.starts_with("vortex") {
            break;
        }
        match (target, is_guppy) {
            ("harp_assembler", false) => seeds.push(with(&[arch_number(arch)], source.as_bytes())),
            ("guppy_assembler", true) => seeds.push(source.into_bytes()),
            ("harp_decoder", false) => {
                let Some(object) = object() else { continue };
                let a = object.arch;
                let byte = u8::from(a.encoding == harp::Encoding::Byte) << 3;
                let head = [(a.bytes - 1) as u8 | byte, (a.gprs - 1) as u8, (a.preds - 1) as u8];
                let code: Vec<u8> =
                    object.chunks.iter().filter(|c| c.text).flat_map(|c| c.contents.clone()).collect();
                seeds.push(with(&head, &code));
            }
            ("guppy_decoder", true) => seeds.extend(guppy::assemble(&file).ok().map(|m| m.to_bytes())),
            ("harp_object", false) => seeds.extend(object().map(|o| o.to_bytes())),
            ("run_any", _) => {
                let head = [u8::from(is_guppy) | (n as u8 % 3) << 1, n as u8, 2, arch_number(arch)];
                seeds.push(with(&head, source.as_bytes()));
            }
            ("trace_reader", _) => seeds.extend(trace(is_guppy, arch, &source, n)),
            _ => {}
        }
    }
    if gcn3_target(target) {
        seeds = gcn3_seeds(target);
    }
    if target.starts_with("vortex") {
        seeds = vortex_seeds(target);
    }
    seeds.retain(|s| s.len() <= max_length(target));
    seeds
}

fn gcn3_target(target: &str) -> bool {
    target.starts_with("gcn3") || target == "launch_file"
}

/// Whole code objects are larger than sources.
fn max_length(target: &str) -> usize {
    if target.ends_with("3_object") || target == "vortex_object" { 4 * MAX_LENGTH } else { MAX_LENGTH }
}

/// The GCN3 filetests as text, words and objects; launch files as the documentation shows them.
fn gcn3_seeds(target: &str) -> Vec<Vec<u8>> {
    if target == "launch_file" {
        let docs = std::fs::read_to_string(root().join("docs/launch-files.md")).expect("the documentation");
        let blocks = docs.split("```toml\n").skip(1).filter_map(|b| b.split("```").next());
        return blocks.map(|b| b.as_bytes().to_vec()).collect();
    }
    let mut seeds = Vec::new();
    for folder in ["inst", "flow"] {
        for (path, bytes) in files(&root().join("filetests/gcn3").join(folder)) {
            let text = String::from_utf8(bytes.clone()).expect("text");
            let file = SourceFile::new(path.display().to_string(), text.as_str());
            match target {
                "gcn3_assembler" => seeds.push(bytes),
                "gcn3_decoder" => {
                    let code = gcn3::assemble(&file).expect("a filetest that assembles").words;
                    seeds.push(code.iter().flat_map(|w| w.to_le_bytes()).collect());
                }
                _ => {
                    seeds.push(wb_jobs::object::assemble(&SourceFile::new("seed", text)).expect("an object"))
                }
            }
        }
    }
    if target == "gcn3_object" {
        let compiled = ["fixtures/gcn3", "fixtures/gcn3/gfx9"].map(|folder| files(&root().join(folder)));
        let objects = compiled.into_iter().flatten().filter(|f| f.0.extension().is_some_and(|e| e == "co"));
        seeds.extend(objects.map(|f| f.1));
    }
    if target == "gcn3_decoder" {
        seeds.extend(gcn3::GENERATIONS.iter().filter(|g| g.is_gfx9()).map(|g| golden(g.name)));
    }
    seeds
}

/// Every fortieth instruction of a generation's golden.
fn golden(name: &str) -> Vec<u8> {
    let path = root().join(format!("crates/isa/tests/golden/{name}.txt"));
    let text = std::fs::read_to_string(path).expect("a golden");
    let lines = text.lines().filter(|l| !l.starts_with('#')).step_by(40);
    let words = lines.flat_map(|l| l.split(" | ").next().unwrap_or_default().split(' '));
    words.flat_map(|w| u32::from_str_radix(w, 16).expect("a word").to_le_bytes()).take(MAX_LENGTH).collect()
}

/// The Vortex filetests as text, words and executables, and compiled kernels.
fn vortex_seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for folder in ["inst", "mechanism"] {
        for (n, (path, bytes)) in files(&root().join("filetests/vortex").join(folder)).into_iter().enumerate()
        {
            let (image, _) = wb_jobs::vortex::image(&path.display().to_string(), &bytes).expect("a filetest");
            match target {
                "vortex_assembler" => seeds.push([&[n as u8], bytes.as_slice()].concat()),
                "vortex_decoder" => seeds.push(image.words().flat_map(|w| w.1.to_le_bytes()).collect()),
                _ => seeds.push([&[n as u8], image.to_elf().as_slice()].concat()),
            }
        }
    }
    if target == "vortex_object" {
        let compiled = files(&root().join("fixtures/vortex"));
        let compiled = compiled.into_iter().filter(|f| f.0.extension().is_some_and(|e| e == "elf"));
        seeds.extend(compiled.map(|f| [&[2], f.1.as_slice()].concat()));
    }
    seeds
}

/// A short trace of a program.
fn trace(is_guppy: bool, arch: &str, source: &str, n: usize) -> Option<Vec<u8>> {
    let isa = if is_guppy { InstructionSet::Guppy } else { InstructionSet::Harp };
    let mut sets = vec![
        "limits.cycles=120".into(),
        "limits.memory=65536".into(),
        format!("issue.policy={}", Policy::ISSUE[n % Policy::ISSUE.len()].name()),
    ];
    if !is_guppy {
        sets.push("divergence.mechanism=simt-stack".into());
    }
    let arch = if is_guppy { "" } else { arch };
    let spec = JobSpec { isa: Some(isa), arch: arch.into(), sets, ..JobSpec::default() };
    let job = Job::from_source("seed", source, &spec).ok()?;
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes);
    let _ = job.run(RunOptions { timed: n.is_multiple_of(2), ..RunOptions::default() }, Some(&mut writer));
    writer.finish().ok()?;
    Some(bytes)
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    files(&root().join("fuzz/corpus").join(target)).into_iter().map(|f| f.1).collect()
}

fn dictionary() -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(root().join("fuzz/words.dict")).expect("the dictionary");
    let word = |line: &str| {
        let inner = line.strip_prefix('"')?.strip_suffix('"')?;
        Some(inner.replace("\\x0a", "\n").replace("\\\"", "\"").into_bytes())
    };
    text.lines().filter_map(word).collect()
}

/// One to four changes: bits, bytes, lengths, pieces of another input, words, numbers at their limits.
fn mutate(random: &mut Random, pool: &[Vec<u8>], words: &[Vec<u8>], max: usize) -> Vec<u8> {
    let mut data = pool[random.below(pool.len())].clone();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len() + 1);
        match random.below(9) {
            0 | 1 if at < data.len() => data[at] ^= 1 << random.below(8),
            2 if at < data.len() => data[at] = random.next() as u8,
            3 => data.truncate(at),
            4 => {
                let end = (at + random.below(16)).min(data.len());
                data.drain(at..end);
            }
            5 => {
                let other = &pool[random.below(pool.len())];
                let from = random.below(other.len() + 1);
                let piece = other[from..(from + random.below(64)).min(other.len())].to_vec();
                data.splice(at..at, piece);
            }
            6 => {
                let other = &pool[random.below(pool.len())];
                data.truncate(at);
                data.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
            7 => {
                let limits: [u64; 6] = [0, 1, 0x7f, 0x7fff_ffff, 0xffff_ffff, u64::MAX];
                let number = limits[random.below(6)].to_le_bytes();
                let end = (at + [1, 2, 4, 8][random.below(4)]).min(data.len());
                data[at..end].copy_from_slice(&number[..end - at]);
            }
            _ => {
                let word = words[random.below(words.len())].clone();
                data.splice(at..at, word);
            }
        }
    }
    data.truncate(max);
    data
}

fn smoke(name: &str) {
    let &(_, target): &Target = TARGETS.iter().find(|t| t.0 == name).expect("a target");
    let iterations =
        std::env::var("WAVEBOUND_FUZZ_ITERATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(ITERATIONS);
    let mut pool = corpus(name);
    pool.extend(seeds(name));
    assert!(!pool.is_empty(), "no seeds for {name}");
    let try_one = |what: String, data: &[u8]| {
        if catch_unwind(AssertUnwindSafe(|| target(data))).is_err() {
            let path = std::env::temp_dir().join(format!("wavebound-fuzz-{name}"));
            let _ = std::fs::write(&path, data);
            panic!("{name} panics on {what}; the input is in {}", path.display());
        }
    };
    for (i, data) in pool.iter().enumerate() {
        try_one(format!("corpus or seed {i}"), data);
    }
    let words = dictionary();
    let mut random = Random(0x5eed_0000 + name.len() as u64);
    for i in 0..iterations {
        let data = mutate(&mut random, &pool, &words, max_length(name));
        try_one(format!("mutation {i}"), &data);
    }
}

macro_rules! smoke_tests {
    ($($name:ident)*) => { $(#[test] fn $name() { smoke(stringify!($name)); })* };
}
smoke_tests! {
    harp_assembler guppy_assembler harp_decoder guppy_decoder harp_object trace_reader run_any
    gcn3_assembler gcn3_decoder gcn3_object launch_file
    vortex_assembler vortex_decoder vortex_object
}

/// Puts the seeds where cargo-fuzz looks: `cargo test -p wb-testgen write_seeds -- --ignored`.
#[test]
#[ignore = "writes to fuzz/corpus"]
fn write_seeds() {
    for (name, _) in TARGETS {
        let folder = root().join("fuzz/corpus").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (i, seed) in seeds(name).into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{i:02}")), seed).unwrap();
        }
    }
}
