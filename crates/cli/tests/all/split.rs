//! `wavebound split` and `run --split-at`: listings, places, errors, the same results from the file and from memory,
//! and marks in the source at every optimisation level.

use crate::common;

use common::{failure, folder, json, repository, stdout};
use serde_json::Value;
use std::process::Command;

const PWS: &[&str] = &["--set", "divergence.mechanism=pws", "--set", "split.contexts=3", "--json"];
const COLLATZ: &[&str] = &[
    "--kernel",
    "collatz",
    "--grid",
    "128",
    "--group",
    "64",
    "--arg",
    "buf:u32:128:iota",
    "--arg",
    "buf:u32:128",
    "--arg",
    "u32:300",
    "--show",
    "arg1",
];

#[test]
fn files_and_memory_give_the_same_run() {
    let object = repository("fixtures/gcn3/basic.O2.co");
    let marked = folder("split").join("basic.co").display().to_string();
    let done = json(&["split", &object, "--all", "-o", &marked, "--json"]);
    assert!(done["marked"].as_array().is_some_and(|m| !m.is_empty()), "{done}");
    let run = |file: &str, extra: &[&str]| json(&[&["run", file], COLLATZ, PWS, extra].concat());
    let (plain, from_file) = (run(&object, &[]), run(&marked, &[]));
    let mut in_memory = run(&object, &["--split-all"]);
    assert_eq!(plain["memory"], from_file["memory"]);
    assert_eq!(plain["stats"]["splits"], 0);
    assert!(from_file["stats"]["splits"].as_u64().is_some_and(|n| n > 0), "it splits");
    in_memory["stats"]["program"] = from_file["stats"]["program"].clone();
    assert_eq!(in_memory, from_file);
    // The listing knows what is marked, and marking again changes nothing.
    let list = json(&["split", &marked, "--list", "--json"]);
    let branches = list["branches"].as_array().expect("branches");
    let count = branches.iter().filter(|b| b["split"] == true).count();
    assert_eq!(Some(count), done["marked"].as_array().map(Vec::len));
    let again = folder("split").join("again.co").display().to_string();
    stdout(&["split", &marked, "--all", "-o", &again]);
    assert!(std::fs::read(&marked).expect("once") == std::fs::read(&again).expect("twice"));
}

#[test]
fn places_name_branches() {
    let object = repository("fixtures/gcn3/control.O2.co");
    let out = folder("places").join("out.co").display().to_string();
    let list = json(&["split", &object, "--list", "--json"]);
    let branches = list["branches"].as_array().expect("branches");
    let good = branches.iter().find(|b| b["markable"] == true && b["else_of"].is_null()).expect("markable");
    let bad = branches.iter().find(|b| b["markable"] == false).expect("not markable");
    let addr = |b: &Value| format!("{:#x}", b["addr"].as_u64().expect("addr"));
    let line = format!("{}:{}", good["file"].as_str().expect("file"), good["line"]);
    for place in [addr(good), good["pc"].to_string(), line] {
        let done = json(&["split", &object, "--at", &place, "-o", &out, "--json"]);
        let marked = done["marked"].as_array().expect("marked");
        assert!(marked.contains(&good["addr"]), "{place}: {done}");
    }
    let why = bad["why"].as_str().expect("why");
    let error = failure(&["split", &object, "--at", &addr(bad), "-o", &out]);
    assert!(error.contains(why) && error.contains("branches that can be marked: 0x"), "{error}");
    stdout(&["split", &object, "--at", &addr(bad), "--style", "thesis", "-o", &out]);
    assert!(failure(&["split", &object, "--at", "control.cl:1"]).contains("comes from this line"));
    assert!(failure(&["split", &object, "--at", "nowhere"]).contains("no such label"));
    assert!(failure(&["split", &object, "--all", "--kernel", "nothing"]).contains("the file has:"));
    assert!(failure(&["split", &object]).contains("--at PLACE or --all"));
    let text = stdout(&["split", &object, "--list"]);
    assert!(text.contains("with its if") && text.contains("no: ") && text.contains("control.cl:"), "{text}");
    let harp = repository("crates/cli/programs/demo.harp");
    assert!(failure(&["run", &harp, "--split-all"]).contains("only GCN3"));
}

#[test]
fn marks_in_the_source_survive_the_optimiser() {
    if Command::new("clang-19").arg("--version").output().is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "clang-19 must be installed in CI");
        eprintln!("clang-19 is missing: marks in the source are not tested");
        return;
    }
    let source = repository("crates/cli/tests/all/programs/marks.cl");
    let include = repository("include");
    let dir = folder("marks");
    // Kernel, branches its marks stand for, arguments behind the buffers.
    let kernels: &[(&str, usize, &[&str])] = &[
        ("small", 1, &[]),
        ("both", 1, &[]),
        ("other", 1, &[]),
        ("nested", 2, &[]),
        ("looped", 1, &["--arg", "i32:9"]),
        ("divergent_loop", 1, &[]),
    ];
    for level in ["-O1", "-O2", "-O3"] {
        for flow in [&[][..], &["--default-flow"][..]] {
            let name = format!("marks{level}{}.co", flow.len());
            let object = dir.join(&name).display().to_string();
            let marked = dir.join(format!("split-{name}")).display().to_string();
            stdout(&[&["compile", &source, level, "-I", &include, "-o", &object], flow].concat());
            for (kernel, count, rest) in kernels {
                let done = json(&["split", &object, "--kernel", kernel, "-o", &marked, "--json"]);
                let found = done["marked"].as_array().map_or(0, Vec::len);
                // Unrolling makes copies of a branch and its mark.
                assert!(found >= *count, "{name} {kernel}: {done}");
                assert_eq!(done["notes"], serde_json::json!([]), "{name} {kernel}");
                let launch = ["--kernel", kernel, "--grid", "256", "--group", "64", "--show", "out"];
                let buffers = ["--arg", "buf:i32:256:random=7", "--arg", "buf:i32:256"];
                let run = |file: &str| json(&[&["run", file], &launch[..], &buffers, rest, PWS].concat());
                let (plain, split) = (run(&object), run(&marked));
                assert_eq!(plain["memory"], split["memory"], "{name} {kernel}");
                assert!(
                    split["stats"]["splits"].as_u64().is_some_and(|n| n > 0),
                    "{name} {kernel}: no split"
                );
                assert_eq!(split["stats"]["splits"], split["stats"]["merges"], "{name} {kernel}");
            }
            assert!(
                failure(&["split", &marked, "--kernel", "divergent_loop"]).contains("--at PLACE or --all")
            );
        }
    }
}

#[test]
fn marks_are_those_that_the_mechanism_reads() {
    let object = repository("fixtures/gcn3/basic.O2.co");
    let run = |extra: &[&str]| {
        let args = [&["run", &object], COLLATZ, &["--s", "3", "--split-all", "--json"], extra].concat();
        let output = common::wavebound(&args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (result["stats"]["splits"].as_u64().expect("splits"), told)
    };
    for mechanism in ["pws", "thesis"] {
        let (splits, told) = run(&["--mechanism", mechanism]);
        assert!(splits > 0 && told.is_empty(), "{mechanism}: {splits} {told}");
    }
    let (splits, told) = run(&["--mechanism", "thesis", "--split-style", "pws"]);
    assert!(
        splits == 0 && told.contains("thesis ignores the marks: it reads those of --split-style thesis"),
        "{told}"
    );
    let (splits, told) = run(&["--mechanism", "none"]);
    assert!(splits == 0 && told.contains("none ignores the marks: --mechanism pws"), "{told}");
}

/// Two sides, of which a run with zeros enters only the first.
const SIDES: &str = "\
.kernel sides
.arg buf x
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, s5
  v_add_u32 v2, vcc, s4, v1
  v_addc_u32 v3, vcc, 0, v3, vcc
  flat_load_dword v4, v[2:3]
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 0, v4
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz flow
  v_add_u32 v5, vcc, 1, v4
  v_add_u32 v5, vcc, 1, v5
flow:
  s_or_saveexec_b64 s[6:7], s[6:7]
  s_xor_b64 exec, exec, s[6:7]
  s_cbranch_execz join
  v_add_u32 v5, vcc, 2, v4
  v_add_u32 v5, vcc, 2, v5
join:
  s_or_b64 exec, exec, s[6:7]
  flat_store_dword v[2:3], v5
  s_endpgm
";

#[test]
fn a_side_that_no_run_entered_is_charged_what_the_user_says() {
    let file = folder("sides").join("sides.s");
    std::fs::write(&file, SIDES).expect("program");
    let file = file.display().to_string();
    let split = ["--mechanism", "pws", "--split-all", "--s", "1", "--json"];
    let bound = |cycles: &str| {
        let how = ["--grid", "64", "--arg", "buf:u32:64:zero", "--segments", "--unmeasured", cycles];
        let report = json(&[&["wcet", &file], &how[..], &split].concat());
        report["kernels"][0]["wave_bound"].as_u64().expect("a bound")
    };
    let (less, more) = (bound("1000"), bound("5000"));
    assert!(more >= less + 4000, "{less} with 1000 cycles for the side, {more} with 5000");
    let run =
        json(&[&["run", &file, "--grid", "64", "--arg", "buf:u32:64:uniform=0..1"], &split[..]].concat());
    assert!(
        run["totals"]["cycles"].as_u64().is_some_and(|cycles| cycles <= less),
        "{less}: {}",
        run["totals"]
    );
}
