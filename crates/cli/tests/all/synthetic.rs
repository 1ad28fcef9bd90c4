//! `wavebound synthetic`: what it writes runs with the command in its head, and what it runs is checked.

use crate::common;

use common::{stdout, wavebound};
use serde_json::Value;
use std::path::Path;

const TREE: [&str; 9] =
    ["synthetic", "--layers", "2", "--leaf", "20", "--items", "256", "--marks", "layers:1"];
const PWS: [&str; 8] =
    ["--machine", "pws", "--mechanism", "pws", "--set", "split.contexts=1", "--set", "limits.memory=4M"];

fn cycles(extra: &[&str]) -> u64 {
    let args: Vec<&str> = TREE.iter().chain(&["--run", "--json"]).chain(extra).copied().collect();
    let json: Value = serde_json::from_str(&stdout(&args)).expect("valid JSON");
    json["totals"]["cycles"].as_u64().expect("cycles")
}

#[test]
fn the_written_assembly_runs_as_its_head_says() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree.s").display().to_string();
    let args: Vec<&str> = TREE.iter().chain(&["-o", &file]).copied().collect();
    assert_eq!(stdout(&args), "");
    let text = std::fs::read_to_string(&file).expect("assembly");
    assert_eq!(text, stdout(&TREE), "the same text without -o");
    assert_eq!(text.matches("split exec_lo, exec_hi").count(), 1);
    assert_eq!(text.matches("merge\n").count(), 1);
    let head = text.lines().find_map(|l| l.strip_prefix("; wavebound ")).expect("a command");
    let command = head.replace("FILE", &file);
    let args: Vec<&str> = command.split(' ').chain(PWS).chain(["--json"]).collect();
    let json: Value = serde_json::from_str(&stdout(&args)).expect("valid JSON");
    assert_eq!(json["totals"]["cycles"], cycles(&PWS), "the same run");
}

#[test]
fn runs_are_compared_with_the_reference_and_splitting_pays() {
    let args: Vec<&str> = TREE.iter().chain(&["--run", "--no-stats"]).chain(&PWS).copied().collect();
    let line = stdout(&args);
    assert!(line.starts_with("synthetic on pws (pws): "), "{line}");
    assert!(line.trim_end().ends_with("memory as the reference says"), "{line}");
    assert!(cycles(&PWS) < cycles(&["--machine", "pws", "--set", "limits.memory=4M"]));
}

#[test]
fn numbers_out_of_range_say_the_range() {
    let output = wavebound(&["synthetic", "--layers", "7"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("layers goes from 0 to 6"), "{text}");
    assert_eq!(wavebound(&["synthetic", "--marks", "some"]).status.code(), Some(2));
}
