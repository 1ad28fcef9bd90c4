//! The harness itself: wrong headers, wrong values and wrong blocks must fail, and say where.

use libtest_mimic::{Failed, Trial};
use std::collections::HashSet;
use std::path::Path;
use wb_isa::{guppy, harp};

/// Name, text of a file, and what its failure must say.
const CASES: [(&str, &str, &str); 14] = [
    ("no-test.guppy", "; grid 4\n ret\n", "no-test.guppy:1: no `; test …` line"),
    ("kind.guppy", "; test walk\n ret\n", "kind.guppy:1: no test `walk`"),
    (
        "directive.harp",
        "// test run\n// machin x\n",
        "directive.harp:2: no directive `machin`; there are test,",
    ),
    ("value.guppy", "; test run\n; grid\n", "value.guppy:2: `grid` needs something"),
    ("number.guppy", "; test run\n; grid four\n", "number.guppy:2: `four` is not a number"),
    ("check.guppy", "; test run\n; check cycles 4\n", "check.guppy:2: a check is written"),
    ("count.guppy", "; test run\n; check cycles = x\n", "count.guppy:2: `x` is not a number"),
    ("mask.guppy", "; test run\n; check masks 0 = 12\n", "mask.guppy:2: `12` is not a mask"),
    ("nothing.guppy", "; test run\n ret\n", "nothing.guppy: checks nothing"),
    (
        "wrong.guppy",
        "; test run\n; check cycles = 2\n ret\n",
        "wrong.guppy timed: check cycles = 2\n  found 1",
    ),
    ("memory.guppy", "; test run\n; check u0 = 2\n ret\n", "there is no buffer, view or label `u0`"),
    ("fails.guppy", "; test run\n; check cycles = 1\n pop_mask\n", "pop_mask with nothing on the mask stack"),
    ("works.guppy", "; test error\n ret\n", "works.guppy: untimed: runs without an error"),
    ("block.guppy", "; test asm\n ret\n\n; expect:\n; [asm]\n; abc\n", "-abc\n"),
];

pub fn trials() -> Vec<Trial> {
    let trial = |&(name, text, says): &(&'static str, &'static str, &'static str)| {
        Trial::test(format!("harness/{name}"), move || {
            // Never written: blessing would make these pass.
            if std::env::var("WAVEBOUND_BLESS").is_ok() {
                return Ok(());
            }
            match crate::file::test(Path::new("."), Path::new(name), name, text) {
                Ok(()) => Err("passes".into()),
                Err(why) if why.contains(says) => Ok(()),
                Err(why) => Err(format!("fails with\n{why}\nnot with\n{says}").into()),
            }
        })
    };
    let mut trials: Vec<Trial> = CASES.iter().map(trial).collect();
    let harp: Vec<&str> = harp::TABLE.iter().map(|e| e.name).collect();
    let guppy: Vec<&str> = guppy::TABLE.iter().map(|l| l.mnemonic).collect();
    for (isa, names) in [("harp", harp), ("guppy", guppy)] {
        trials
            .push(Trial::test(format!("harness/every-{isa}-instruction-runs"), move || covered(isa, &names)));
    }
    trials
}

/// Every mnemonic stands in a program that is run.
fn covered(isa: &str, names: &[&str]) -> Result<(), Failed> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    crate::collect::collect(&root.join(isa), &mut files);
    let texts = files.iter().map(|f| std::fs::read_to_string(f).unwrap_or_default());
    let is_run = |t: &String| t.lines().next().is_some_and(|l| l.split(' ').any(|w| w == "run"));
    let code = |t: String| -> Vec<String> {
        let lines = t.lines().filter(|l| !l.starts_with("//") && !l.starts_with(';'));
        lines.flat_map(|l| l.split([' ', ';'])).map(str::to_owned).collect()
    };
    let words: HashSet<String> = texts.filter(is_run).flat_map(code).collect();
    let missing: Vec<&str> = names.iter().copied().filter(|n| !words.contains(*n)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no run test has {}", missing.join(", ")).into()) }
}
