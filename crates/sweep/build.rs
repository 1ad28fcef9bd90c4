//! The version of the simulator that results are stored under: a hash of the sources that decide them. It is the same on every
//! host and in every profile, and another one after any change that could matter.

use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// The rooms that decide a result (docs/ARCHITECTURE.md).
const ROOMS: [&str; 15] = [
    "bound",
    "check",
    "device",
    "facts",
    "flowproof",
    "hw",
    "isa",
    "jobs",
    "objects",
    "program",
    "proved",
    "sim",
    "trace",
    "wcet",
    "workloads",
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = Vec::new();
    for room in ROOMS {
        let room = top.join("crates").join(room);
        folders.extend(
            ["src", "presets", "kernels", "data"].map(|f| room.join(f)).into_iter().filter(|f| f.exists()),
        );
    }
    folders.push(top.join("crates/sweep/src/measure"));
    let mut all = vec![top.join("Cargo.lock")];
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        files(folder, &mut all);
    }
    println!("cargo::rerun-if-changed={}", top.join("Cargo.lock").display());
    all.sort();
    let mut text = Vec::new();
    for path in all {
        let name = path.strip_prefix(&top).unwrap_or(&path).display().to_string();
        let bytes = std::fs::read(&path).unwrap_or_default();
        text.extend(format!("{name} {:032x}\n", xxh3_128(&bytes)).bytes());
    }
    println!("cargo::rustc-env=WAVEBOUND_SOURCES={:016x}", xxh3_128(&text) as u64);
}
