//! Checks on the tree itself: crate dependencies point one way, files stay readable and say what they are.

#[path = "tidy/circles.rs"]
mod circles;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("workspace root")
}

/// What each crate may depend on (docs/ARCHITECTURE.md, "Crates"). A new crate joins here first.
const ALLOWED: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("hw", &["files"]),
    ("isa", &[]),
    ("trace", &[]),
    ("flowproof", &["isa"]),
    ("program", &["flowproof", "isa"]),
    ("sim", &["hw", "isa", "program", "trace"]),
    ("device", &["hw", "isa", "program", "sim", "trace"]),
    ("report", &["files", "isa", "trace"]),
    ("check", &[]),
    ("wcet", &["hw", "isa", "program", "trace"]),
    ("workloads", &["device", "hw", "isa", "program", "sim", "trace"]),
    (
        "lab",
        &[
            "check",
            "device",
            "files",
            "flowproof",
            "hw",
            "isa",
            "program",
            "report",
            "sim",
            "trace",
            "wcet",
            "workloads",
        ],
    ),
    ("hip", &["device", "files", "hw", "lab", "program", "report", "sim", "trace", "wcet"]),
    (
        "wavebound",
        &[
            "check",
            "device",
            "files",
            "hip",
            "hw",
            "isa",
            "lab",
            "program",
            "report",
            "sim",
            "trace",
            "wcet",
            "workloads",
        ],
    ),
];

/// The `[dependencies]` of a manifest that are our own crates.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.trim().strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else if section == "dependencies"
            && let Some(rest) = line.trim().strip_prefix("wb-")
        {
            found.push(rest.split(['.', ' ', '=']).next().unwrap_or("").to_owned());
        }
    }
    found
}

#[test]
fn crate_dependencies_point_one_way() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).expect("crates/") {
        let path = entry.expect("entry").path();
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("manifest");
        let may = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crate {name} is not in the table of tidy.rs"));
        for dependency in own_dependencies(&manifest) {
            assert!(
                may.contains(&dependency.as_str()),
                "crates/{name} must not depend on wb-{dependency}: see docs/ARCHITECTURE.md, \"Crates\""
            );
        }
        seen += 1;
    }
    assert_eq!(seen, ALLOWED.len(), "tidy.rs lists a crate that does not exist");
}

#[test]
fn the_dependency_check_can_fail() {
    let manifest = "[dependencies]\nwb-sim.workspace = true\nserde = \"1\"\n[dev-dependencies]\nwb-lab.workspace = true\n";
    assert_eq!(own_dependencies(manifest), ["sim"]);
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("dir") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn source_files_are_short_and_say_what_they_are() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    assert!(files.len() > 50, "the walk found only {} files", files.len());
    let mut bad = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("source");
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        if !text.starts_with("//!") {
            bad.push(format!("{shown}: starts without a //! comment"));
        }
        let lines = text.lines().count();
        if lines > 700 {
            bad.push(format!("{shown}: {lines} lines, split it by meaning"));
        }
    }
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
}

/// Calls that open files by themselves. What a user names goes through `wb-files`, which knows limits and refuses devices.
const OPENERS: [&str; 5] = ["fs::read", "read_to_string(", "File::open(", "File::create(", "OpenOptions"];
const WRITERS: [&str; 2] = ["fs::write(", "fs::rename("];

/// Files that are ours, not the user's: where they are opened, with a word of the line.
const OWN_FILES: &[(&str, &str)] = &[
    // What the process has mapped.
    ("crates/hip/src/ffi/register.rs", "/proc/self/maps"),
    ("crates/hip/src/ffi/module.rs", "/proc/self/maps"),
    // The running program, for its checksum, and the log of cases that goes on.
    ("crates/lab/src/reproduce/runner.rs", "current_exe()"),
    ("crates/lab/src/reproduce/suite/mod.rs", "OpenOptions"),
    // Folders made for one run.
    ("crates/hip/src/runtime.rs", "OpenOptions::new().read(true).append(true)"),
    ("crates/lab/src/random/loops/campaign.rs", "&source"),
    ("crates/wavebound/src/commands/hip/folder.rs", "std::fs::write(&path, bytes)"),
    ("crates/wavebound/src/commands/hip/folder.rs", "/dev/urandom"),
    ("crates/wavebound/src/commands/hip/mod.rs", "folder.records()"),
];

/// Lines of a source that open files by themselves, without its tests.
fn openers(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let calls = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//")
            && !line.starts_with("use ")
            && !line.contains("fs::read_dir")
            && !line.contains("wb_files::")
            && OPENERS.iter().chain(&WRITERS).any(|c| line.contains(c))
    };
    code.lines().filter(calls).collect()
}

#[test]
fn files_of_users_are_read_and_written_in_one_place() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut bad = Vec::new();
    let mut used = vec![false; OWN_FILES.len()];
    for path in files {
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let product =
            shown.contains("/src/") && !shown.contains("/tests/") && !shown.starts_with("crates/files/");
        if !product {
            continue;
        }
        let text = fs::read_to_string(&path).expect("source");
        for line in openers(&text) {
            let own = OWN_FILES.iter().position(|(file, word)| shown == *file && line.contains(word));
            match own {
                Some(i) => used[i] = true,
                None => bad.push(format!("{shown}: {}", line.trim())),
            }
        }
    }
    assert!(bad.is_empty(), "use wb_files::read, open or write:\n{}", bad.join("\n"));
    assert!(used.iter().all(|u| *u), "OWN_FILES lists a line that is gone: {used:?}");
}

#[test]
fn the_check_of_files_can_fail() {
    assert_eq!(openers("let x = std::fs::read(path)?;\n// std::fs::read(x)\n").len(), 1);
    assert_eq!(
        openers("    std::fs::write(&path, text)?;\n#[cfg(test)]\nmod tests { fs::read(x) }").len(),
        1
    );
    assert_eq!(openers("wb_files::read(path, Kind::Data)?; fs::read_dir(x)").len(), 0);
}
