//! Programs that say in their first lines how to run them and what must come out: `filetests/` and
//! `crates/lab/programs/`. One test per file; `filetests/README.md` describes the directives.

mod bless;
mod checks;
mod collect;
mod file;
mod header;
mod listing;
mod run;
mod selftest;

use collect::collect;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

const KNOWN_FAILURES: &str = "filetests/known-failures.txt";

/// Runs every file below the workspace at `root` as a test of its own, with libtest's arguments.
pub fn main(root: &Path) -> ExitCode {
    let args = Arguments::from_args();
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut files = Vec::new();
    for folder in ["filetests", "crates/lab/programs"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let known = known_failures(&root);
    let mut trials = selftest::trials();
    for path in &files {
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        // A program that is embedded elsewhere need not be a test.
        if name.starts_with("crates") && !is_test(path) {
            continue;
        }
        let known = known.get(&name).cloned();
        let (root, path) = (root.clone(), path.clone());
        trials.push(Trial::test(name.clone(), move || expect(&name, one(&root, &path, &name), known)));
    }
    let listed: Vec<String> = known.keys().filter(|k| !root.join(k).exists()).cloned().collect();
    if !listed.is_empty() {
        let message = format!("{KNOWN_FAILURES} names files that do not exist: {}", listed.join(", "));
        trials.push(Trial::test(KNOWN_FAILURES, move || Err(message.into())));
    }
    libtest_mimic::run(&args, trials).exit_code()
}

fn is_test(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches(['/', ';', '#', ' ']).starts_with("test ")
}

/// `path: reason` per line; `#` starts a comment.
fn known_failures(root: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root.join(KNOWN_FAILURES)).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let pair = |line: &str| match line.split_once(':') {
        Some((path, reason)) => (path.trim().to_owned(), reason.trim().to_owned()),
        None => (line.to_owned(), String::new()),
    };
    lines.map(pair).collect()
}

/// A known failure must fail, or leave the list.
fn expect(name: &str, result: Result<(), String>, known: Option<String>) -> Result<(), Failed> {
    match (result, known) {
        (result, None) => result.map_err(Failed::from),
        (Err(_), Some(reason)) if !reason.is_empty() => Ok(()),
        (Err(_), Some(_)) => Err(format!("{KNOWN_FAILURES}: {name} has no reason").into()),
        (Ok(()), Some(_)) => Err(format!("{name} passes now: take it out of {KNOWN_FAILURES}").into()),
    }
}

fn one(root: &Path, path: &Path, name: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
    file::test(root, path, name, &text)
}
