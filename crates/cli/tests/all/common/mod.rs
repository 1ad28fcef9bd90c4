//! What the command-line tests share: running the binary, its output, JSON and errors, folders for files.
#![allow(dead_code)] // each test file uses some of it

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn wavebound(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).output().expect("the binary runs")
}

pub fn stdout(args: &[&str]) -> String {
    let output = wavebound(args);
    assert!(output.status.success(), "{args:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("valid JSON")
}

/// What is said on failure, without line breaks.
pub fn failure(args: &[&str]) -> String {
    let output = wavebound(args);
    assert_eq!(output.status.code(), Some(1), "{args:?} should fail with 1");
    // Frames are drawn in Unicode or ASCII, as the terminal likes.
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|w| !matches!(*w, "│" | "|")).collect::<Vec<_>>().join(" ")
}

/// A folder for the files of one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("folder");
    path
}

/// A file of the repository.
pub fn repository(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).display().to_string()
}

/// The object of the kernels in control.cl.
pub fn control() -> String {
    repository("fixtures/gcn3/control.O2.co")
}

/// A launch of the kernel `nest` in it.
pub const NEST: &[&str] = &[
    "--kernel",
    "nest",
    "--grid",
    "256",
    "--group",
    "64",
    "--arg",
    "buf:u32:256:random=1",
    "--arg",
    "buf:u32:256",
];

pub fn number(v: &Value) -> u64 {
    v.as_u64().unwrap_or_else(|| panic!("a number: {v}"))
}
