//! Vortex on the command line: executables and assembly, arguments, listings, several cores, errors.

use crate::common;

use common::{failure, folder, json, repository, stdout, wavebound};

const PSORT: [&str; 8] =
    ["--arg", "u32:64", "--arg", "buf:f32:64:random=3", "--arg", "buf:f32:64", "--show", "arg2"];

fn psort(extra: &[&str]) -> serde_json::Value {
    let file = repository("fixtures/vortex/psort.elf");
    json(&[&["run", file.as_str(), "--json"], PSORT.as_slice(), extra].concat())
}

#[test]
fn an_executable_runs_with_arguments() {
    let v = psort(&[]);
    let values: Vec<f64> = v["memory"]["arg2"]
        .as_array()
        .expect("values")
        .iter()
        .map(|v| v.as_str().and_then(|s| s.parse().ok()).expect("a number"))
        .collect();
    assert!(values.len() == 64 && values.windows(2).all(|w| w[0] <= w[1]), "{values:?}");
    assert_eq!(v["totals"]["waves"], 32);
    for machine in ["vortex-like-simx", "vortex-2sm", "vortex-4sm", "vortex-16sm"] {
        assert_eq!(psort(&["--machine", machine])["memory"], v["memory"], "{machine}");
    }
    assert_eq!(psort(&["--mechanism", "simt-stack", "--untimed"])["memory"], v["memory"]);
}

#[test]
fn text_of_several_harts() {
    let out = stdout(&["run", &repository("fixtures/vortex/hello.elf"), "--arg", "u32:3"]);
    assert!(
        out.starts_with("#0: hello from task 0\n#1: hello from task 1\n#2: hello from task 2\n"),
        "{out}"
    );
}

#[test]
fn assembly_becomes_an_executable_and_a_listing() {
    let dir = folder("vortex-asm");
    let elf = dir.join("twice.elf").display().to_string();
    let source = dir.join("twice.vx");
    std::fs::write(
        &source,
        "_start: la a0, x\nlw a1, 0(a0)\nadd a1, a1, a1\nsw a1, 0(a0)\nvx_tmc zero\n.data\nx: .word 21\n",
    )
    .expect("a file");
    let source = source.display().to_string();
    assert!(stdout(&["asm", &source, "-o", &elf]).contains("6 instructions"));
    for file in [&source, &elf] {
        assert_eq!(json(&["run", file, "--show", "x", "--json"])["memory"]["x"], serde_json::json!(["42"]));
        let listing = stdout(&["disasm", file]);
        assert!(listing.contains("80000008  00052583  lw a1, 0(a0)"), "{listing}");
        assert!(listing.contains("_start:"), "{listing}");
    }
    let again = dir.join("again.vx");
    std::fs::write(&again, stdout(&["disasm", &elf, "--source"])).expect("a file");
    let again = again.display().to_string();
    assert_eq!(json(&["run", &again, "--show", "x:1", "--json"])["memory"]["x"], serde_json::json!(["42"]));
}

#[test]
fn listings_of_executables_have_source_lines() {
    let listing = stdout(&["disasm", &repository("fixtures/vortex/sgemm.elf")]);
    assert!(listing.contains("task:") && listing.contains("; sgemm.c:19"), "{listing}");
    assert!(listing.contains("fmadd.s fa5, fa4, fa3, fa5"), "{listing}");
}

#[test]
fn errors_say_what_to_do() {
    let branchy = repository("fixtures/vortex/branchy.elf");
    let args = ["run", &branchy, "--arg", "u32:32", "--arg", "buf:u32:32:iota", "--arg", "buf:u32:32"];
    let text = failure(&args);
    assert!(text.contains("lanes of one wave disagree") && text.contains("simt-stack"), "{text}");
    assert!(text.contains("branchy.elf:2"), "a source line: {text}");
    let text = failure(&["run", &branchy, "--arg", "buf:u33:5"]);
    assert!(text.contains("arg0 `buf:u33:5`") && text.contains("no type `u33`"), "{text}");
    let text = failure(&["run", &branchy, "--arg", "buf:u32:5", "--set", "limits.memory=65536"]);
    assert!(text.contains("limits.memory"), "{text}");
    let gcn3 = repository("fixtures/gcn3/basic.O2.co");
    let text = failure(&["run", &gcn3, "--isa", "vortex"]);
    assert!(text.contains("bit ELF file") || text.contains("not for RISC-V"), "{text}");
}

#[test]
fn oracles_find_errors_unless_fetch_and_issue_are_coordinated() {
    for policy in ["lrr", "gtlrr", "gtlo"] {
        let decoupled = psort(&["--fetch-policy", "gtlrr", "--policy", policy, "--oracle"]);
        assert!(decoupled["oracle"]["errors"]["total"].as_u64() > Some(0), "{}", decoupled["oracle"]);
        let coordinated = psort(&["--frontend", "coordinated", "--policy", policy, "--oracle", "--check"]);
        let oracle = &coordinated["oracle"];
        assert_eq!((&oracle["errors"]["total"], &oracle["error_rate"]), (&0.into(), &0.0.into()));
        assert!(
            oracle["nops"].as_u64() > Some(0) && oracle["cycles"].as_u64() < oracle["run_cycles"].as_u64()
        );
        assert_eq!(oracle["committed"], decoupled["oracle"]["committed"]);
        assert_eq!(coordinated["memory"], decoupled["memory"]);
        assert_eq!(coordinated["totals"]["wave_instructions"], decoupled["totals"]["wave_instructions"]);
    }
    let file = repository("fixtures/vortex/psort.elf");
    let args = [&["run", file.as_str(), "--oracle"], PSORT.as_slice()].concat();
    let text = stdout(&args);
    assert!(text.contains("discrepancies") && text.contains("error rate"), "{text}");
    let text = failure(&[&args[..], &["--kernel", "tusk"]].concat());
    assert!(text.contains("no kernel `tusk`") && text.contains("task"), "{text}");
}

#[test]
fn schedules_are_predicted() {
    let file = repository("fixtures/vortex/psort.elf");
    let args =
        ["predict", file.as_str(), "--arg", "u32:64", "--arg", "buf:f32:64:random=3", "--arg", "buf:f32:64"];
    let v = json(&[&args[..], &["--json"]].concat());
    assert_eq!((&v["equal"], &v["different_cycles"]), (&true.into(), &0.into()));
    assert_eq!(v["predicted_cycles"], v["simulated_cycles"]);
    assert!(stdout(&args).contains("equal, cycle for cycle"));
    let output = wavebound(&[&args[..], &["--frontend", "decoupled", "--policy", "gtlo"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("has no instruction in its queue") && text.contains("psort.elf:"), "{text}");
    assert!(
        stdout(&[&args[..], &["--set", "core.partitions=2"]].concat()).contains("equal, cycle for cycle"),
        "several schedulers of an SM"
    );
    let text = failure(&[&args[..], &["--set", "issue.width=2"]].concat());
    assert!(text.contains("several instructions per scheduler"), "{text}");
}

#[test]
fn policies_have_short_names() {
    let text = stdout(&["machines", "policies"]);
    for name in ["fixed-priority", "icount", "lrr", "gtlrr", "gtlo"] {
        assert!(text.contains(name), "{text}");
    }
    let long = psort(&["--fetch-policy", "loose-round-robin", "--policy", "greedy-then-oldest"]);
    assert_eq!(psort(&["--fetch-policy", "lrr", "--policy", "gtlo"])["totals"], long["totals"]);
    let file = repository("fixtures/vortex/psort.elf");
    let text = failure(&["run", &file, "--policy", "icount"]);
    assert!(text.contains("fetch policy only"), "{text}");
}
