//! Every example runs to its end and prints what it promises.

use std::path::PathBuf;
use std::process::Command;

/// Name of each example and a word of what it prints.
const EXAMPLES: [(&str, &str); 5] = [
    ("run_kernel", "x[0..4] = [0, 7, 14, 21]"),
    ("compare_mechanisms", "pws and thesis read marks"),
    ("write_observer", "most lanes sat out"),
    ("own_policy", "youngest-first (ours)"),
    ("deadline", "deadline of 700 cycles: met"),
];

/// Where cargo puts examples: beside the folder of this test's binary.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    test.ancestors().nth(2).expect("the folder of the profile").join("examples")
}

#[test]
fn examples_run() {
    for (name, word) in EXAMPLES {
        let program = folder().join(name);
        // `cargo test` builds examples, `cargo test --test examples` does not.
        assert!(
            program.exists(),
            "example {name} is not built: run `cargo build -p wavebound --examples` first"
        );
        let output = Command::new(program).output().unwrap_or_else(|e| panic!("{name}: {e}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains(word), "{name}:\n{text}{errors}");
    }
}

/// A new example joins the list above.
#[test]
fn all_examples_are_listed() {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(sources).expect("examples/").count();
    assert_eq!(files, EXAMPLES.len());
}
