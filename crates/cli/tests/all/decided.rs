//! Branches that the launch decides: ways that cannot be taken are no gaps, are listed with their proof, and a run that
//! takes one stops the analysis. What data decide stays open, with a hint that helps. Returns that are followed.

use crate::common;

use common::{failure, folder, json, stdout};

/// A guard on the argument `n`, a loop of `n` rounds, and a guard on a word of memory.
const KERNEL: &str = ".kernel guarded
.arg buf words
.arg u32 n
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 nothing
  s_mov_b32 s7, 0
again:
  v_add_u32 v1, vcc, s7, v1
  s_add_u32 s7, s7, 1
  s_cmp_lt_u32 s7, s6
  s_cbranch_scc1 again
  DATA
  s_endpgm
nothing:
  s_sleep 9
  s_sleep 9
  s_endpgm
";

const DATA: &str = "s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_gt_i32 s8, 100
  s_cbranch_scc1 nothing";

fn source(name: &str, data: &str) -> String {
    let path = folder(name).join("guarded.s");
    std::fs::write(&path, KERNEL.replace("DATA", data)).expect("written");
    path.display().to_string()
}

fn wcet<'a>(file: &'a str, n: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let launch = ["wcet", file, "--grid", "64", "--group", "64", "--arg", "buf:u32:64", "--arg", n];
    [&launch[..], more].concat()
}

#[test]
fn a_guard_on_a_known_argument_is_decided() {
    let file = source("decided-guard", "");
    let certificate = folder("decided-guard").join("c.json").display().to_string();
    let page = folder("decided-guard").join("c.html").display().to_string();
    let more = ["--hybrid", "--certificate", &certificate, "--html", &page];
    let text = stdout(&wcet(&file, "u32:16", &more));
    assert!(text.contains("ways that cannot be taken"), "{text}");
    let v = json(&wcet(&file, "u32:16", &["--json"]));
    let never = v["kernels"][0]["never"].as_array().expect("a list").clone();
    assert_eq!(never.len(), 1, "{never:?}");
    let why = never[0]["why"].as_str().expect("a proof");
    assert!(why.contains("16"), "the proof says why: {why}");
    assert!(v["kernels"][0]["coverage"]["gaps"].as_array().is_some_and(Vec::is_empty));
    // The certificate says that the graph lacks this way, and why; with the program that is proven again.
    let told = std::fs::read_to_string(&certificate).expect("a certificate");
    assert!(told.contains("\"reason\":\"infeasible\"") && told.contains(why), "{told}");
    let checked = stdout(&["check-bound", &certificate, "--program", &file]);
    assert!(checked.contains("valid"), "{checked}");
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("Ways that cannot be taken"), "the page lists it");
    // The other way round: only the short way is left, and the loop is never entered.
    let v = json(&wcet(&file, "u32:0", &["--json"]));
    assert_eq!(v["kernels"][0]["never"].as_array().map(Vec::len), Some(1), "{v}");
}

#[test]
fn a_way_is_excluded_only_if_every_launch_excludes_it() {
    let file = source("decided-launches", "");
    let launches = folder("decided-launches").join("launch.toml");
    let launch = |n: u32| format!("[[launch]]\ngrid = 64\ngroup = 64\nargs = [\"words\", \"u32:{n}\"]\n");
    let write = |list: &[u32]| {
        let head = format!("object = {file:?}\n[buffers.words]\ntype = \"u32\"\nlength = 64\n");
        let text = list
            .iter()
            .fold(head, |text, &n| text + &launch(n).replace("grid", "kernel = \"guarded\"\ngrid"));
        std::fs::write(&launches, text).expect("written");
        json(&["wcet", &launches.display().to_string(), "--json"])
    };
    let never = |v: &serde_json::Value| v["kernels"][0]["never"].as_array().map(Vec::len);
    assert_eq!(never(&write(&[16, 5])), Some(1));
    // One launch goes the other way: both are measured, none is excluded.
    assert_eq!(never(&write(&[16, 0])), Some(0));
}

#[test]
fn a_run_that_takes_an_excluded_way_stops_the_analysis() {
    let file = source("decided-refuted", "");
    let trace = folder("decided-refuted").join("zero.csv").display().to_string();
    // Times of a launch with n = 0, claimed to be of one with n = 16.
    stdout(&wcet(&file, "u32:0", &["--write-trace", &trace]));
    let error = failure(&wcet(&file, "u32:16", &["--trace", &trace]));
    assert!(error.contains("which was proved impossible"), "{error}");
}

#[test]
fn what_data_decide_stays_open_and_the_error_says_what_is_needed() {
    let file = source("decided-data", DATA);
    let error = failure(&wcet(&file, "u32:16", &["--hybrid"]));
    assert!(error.contains("no run took 1 way"), "{error}");
    let words: Vec<&str> = error.split(['\n', '│']).flat_map(str::split_whitespace).collect();
    let flat = words.join(" ");
    assert!(
        flat.contains("taken only if `s_cmp_gt_i32 s8, 0x64` at")
            || flat.contains("`s_cmp_gt_i32 s8, 100` at"),
        "{flat}"
    );
    assert!(flat.contains("holds") && flat.contains("--runs N") && flat.contains("random=1"), "{flat}");
}

/// A function that calls another keeps its return address in lanes of a vector register, as clang does.
#[test]
fn kernels_with_nested_calls_are_bounded() {
    let source = "
.kernel calls
.arg buf words
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, 16
  s_addc_u32 s5, s5, 0
  s_swappc_b64 s[30:31], s[4:5]
  s_endpgm
outer:
  v_writelane_b32 v3, s30, 0
  v_writelane_b32 v3, s31, 1
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, 32
  s_addc_u32 s5, s5, 0
  s_swappc_b64 s[30:31], s[4:5]
  v_readlane_b32 s31, v3, 1
  v_readlane_b32 s30, v3, 0
  s_setpc_b64 s[30:31]
inner:
  v_mov_b32 v4, 0
  s_setpc_b64 s[30:31]
";
    let path = folder("decided-calls").join("calls.s").display().to_string();
    std::fs::write(&path, source).expect("written");
    let base = ["wcet", &path, "--grid", "64", "--group", "64", "--arg", "buf:u32:64", "--json"];
    assert_eq!(json(&base)["kernels"][0]["status"], "exact", "no contents decide anything");
    let v = json(&[&base[..], &["--hybrid"]].concat());
    assert!(v["kernels"][0]["bound"].as_u64() >= v["kernels"][0]["observed"].as_u64(), "{v}");
    assert!(v["kernels"][0]["assumptions"].to_string().contains("the call at"), "{v}");
    assert_eq!(v["kernels"][0]["status"], "hybrid", "functions that do not branch were measured as they are");
}
