//! `wavebound worst`: what it finds can be run again, and what cannot be found is said.

use crate::common;

use common::{control, failure, folder, json, number, repository, stdout};

const NEST: &[&str] = &["--kernel", "nest", "--grid", "256", "--group", "64"];

#[test]
fn the_longest_input_runs_again() {
    let out = folder("worst").display().to_string();
    let object = control();
    let args = ["--arg", "buf:u32:256:random=1", "--arg", "buf:u32:256"];
    let search = ["--tries", "40", "--seconds", "600", "-o", &out, "--json"];
    let found = json(&[&["worst", &object], NEST, &args[..], &search[..]].concat());
    assert!(number(&found["worst"]) >= number(&found["start"]) && number(&found["tries"]) == 40, "{found}");
    let again = json(&[&["worst", &object], NEST, &args[..], &search[..]].concat());
    assert_eq!(found["steps"], again["steps"], "the same seed finds the same");
    let file = format!("{out}/worst.toml");
    let run = json(&["run", &file, "--json"]);
    assert_eq!(number(&run["totals"]["cycles"]), number(&found["worst"]), "{run}");
    // From there on.
    let more = ["--resume", "--tries", "0"];
    let resumed = json(&[&["worst", &object], NEST, &args[..], &search[2..], &more[..]].concat());
    assert_eq!(number(&resumed["start"]), number(&found["worst"]));
}

#[test]
fn what_cannot_be_searched_is_said() {
    let basic = repository("fixtures/gcn3/basic.O2.co");
    let saxpy = ["--kernel", "saxpy", "--grid", "128", "--group", "64", "--arg", "f32:2"];
    let buffers = ["--arg", "buf:f32:128:random=1", "--arg", "buf:f32:128", "--arg", "i32:128"];
    let text = stdout(&[&["worst", &basic], &saxpy[..], &buffers[..]].concat());
    assert!(text.contains("exact: no contents"), "{text}");
    let object = control();
    let args = ["--arg", "buf:u32:256:random=1", "--arg", "buf:u32:256"];
    let error = failure(&[&["worst", &object], NEST, &args[..], &["--range", "nothing=0..1"]].concat());
    assert!(error.contains("there is no such buffer"), "{error}");
}
