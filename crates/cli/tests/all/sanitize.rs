//! `--sanitize` as a user meets it: text, JSON, exit codes, suppressions, wrong input.

use crate::common::{failure, folder, json, wavebound};
use crate::gcn3::has_compiler;
use std::path::Path;

/// Work-items read what others of their group write, without a barrier.
const RACE: &str = "kernel void turn(global const int *in, global int *out) {
    local int part[128];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    out[get_global_id(0)] = part[127 - l];
}
";

fn source(name: &str) -> String {
    let path = folder("sanitize").join(name);
    std::fs::write(&path, RACE).expect("a file");
    path.display().to_string()
}

fn run<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let launch =
        ["run", file, "--grid", "256", "--group", "128", "--arg", "buf:i32:256:iota", "--arg", "buf:i32:256"];
    [&launch, more].concat()
}

#[test]
fn a_race_is_told_with_both_sides() {
    if !has_compiler() {
        return;
    }
    let file = source("race.cl");
    let done = wavebound(&run(&file, &["--sanitize"]));
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{text}");
    for part in [
        "race: ",
        "race.cl:5 (ds_read_b32",
        "race.cl:4 (ds_write_b32",
        "local `part`",
        "of group 0",
        "sanitizer: ",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let plain = wavebound(&run(&file, &["--untimed"]));
    assert_eq!(plain.status.code(), Some(0), "without checks it runs");
}

#[test]
fn suppressions_take_reports_out() {
    if !has_compiler() {
        return;
    }
    let file = source("quiet.cl");
    let known = folder("sanitize-known").join("known.txt");
    std::fs::write(&known, "race quiet.cl # looked at\nuninitialised quiet.cl:5\n").expect("a file");
    let known = known.display().to_string();
    let done = wavebound(&run(&file, &["--sanitize", "--suppressions", &known]));
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{text}");
    assert!(text.contains("nothing found") && text.contains("suppressed"), "{text}");
    std::fs::write(Path::new(&known), "rice quiet.cl\n").expect("a file");
    let told = failure(&run(&file, &["--sanitize", "--suppressions", &known]));
    assert!(told.contains("line 1") && told.contains("`rice`"), "{told}");
    let done = wavebound(&run(&file, &["--suppressions", &known]));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && told.contains("--sanitize"), "{told}");
}

#[test]
fn json_has_the_reports() {
    if !has_compiler() {
        return;
    }
    let file = source("json.cl");
    let done = wavebound(&run(&file, &["--sanitize", "--json"]));
    let value: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let reports = value["sanitizer"]["reports"].as_array().expect("reports");
    let race = reports.iter().find(|r| r["kind"] == "race").expect("a race");
    assert!(race["place"]["line"].as_u64().is_some_and(|line| line == 4 || line == 5), "{race}");
    assert!(race["other"]["who"]["group"].is_u64() && race["count"].as_u64() > Some(0), "{race}");
    let plain = json(&run(&file, &["--untimed", "--json"]));
    assert!(plain["sanitizer"].is_null());
}

/// A kernel may be launched again with other local memory.
#[test]
fn every_launch_has_its_own_local_arrays() {
    if !has_compiler() {
        return;
    }
    let folder = folder("sanitize-launches");
    let source = "kernel void turn(global int *out, local int *part, local int *other) {
    int l = get_local_id(0), n = get_local_size(0);
    part[l] = l;
    other[l] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = part[n - 1 - l] + other[l];
}
";
    std::fs::write(folder.join("turn.cl"), source).expect("a file");
    let launch = |n: u32, bytes: u32| {
        format!(
            "[[launch]]\nkernel = \"turn\"\ngrid = {n}\ngroup = {n}\nargs = [\"out\", \"local:{bytes}\", \"local:{bytes}\"]\n"
        )
    };
    let buffer = "object = \"turn.cl\"\n[buffers.out]\ntype = \"i32\"\nlength = 256\n";
    let run = |name: &str, launches: &[String]| {
        let file = folder.join(name);
        std::fs::write(&file, format!("{buffer}{}", launches.concat())).expect("a file");
        let done = wavebound(&["run", &file.display().to_string(), "--sanitize"]);
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, text) = run("right.toml", &[launch(64, 256), launch(256, 1024)]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = run("short.toml", &[launch(256, 1024), launch(64, 252)]);
    assert!(code == Some(1) && text.contains("out-of-bounds: "), "one element is missing\n{text}");
}

/// Lanes of lane-pc machines are checked, too.
#[test]
fn other_instruction_sets_are_checked() {
    if !has_compiler() {
        return;
    }
    let file = source("lanes.cl");
    let done = wavebound(&run(&file, &["--machine", "lanepc", "--sanitize"]));
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{text}");
    assert!(text.contains("race: ") && text.contains("lanes.cl:5"), "{text}");
}

/// A launch of a source, checked: what it prints.
fn checked(name: &str, source: &str, args: &[&str]) -> String {
    let path = folder("sanitize-cases").join(name);
    std::fs::write(&path, source).expect("a file");
    let path = path.display().to_string();
    let done = wavebound(&[&["run", &path, "--sanitize", "--show", "arg0"], args].concat());
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A scalar load is the wave's, not that of the lane that was named last.
#[test]
fn one_work_item_does_not_race_with_itself() {
    if !has_compiler() {
        return;
    }
    let source = "kernel void k(global int *a, global uchar *b) {
    int g = get_group_id(0), l = get_local_id(0);
    if (l == 0) a[g] = a[g] + 1;
    b[get_global_id(0)] = l;
}
";
    let args = ["--grid", "256", "--group", "64", "--arg", "buf:i32:256:iota", "--arg", "buf:u8:256"];
    let text = checked("scalar.cl", source, &args);
    assert!(text.contains("nothing found"), "{text}");
}

/// Clang makes one access of the two in each branch.
#[test]
fn an_access_may_mean_one_of_two_arrays() {
    if !has_compiler() {
        return;
    }
    let source = "kernel void k(global int *o, local int *x, local int *y) {
    int l = get_local_id(0);
    if (l < 16) x[l] = o[l] + 1;
    else y[l - 16] = o[l] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) o[l] = x[15 - l];
    else o[l] = y[31 - l];
}
";
    let launch = ["--grid", "32", "--group", "32", "--arg", "buf:i32:64:iota"];
    let text =
        checked("merged.cl", source, &[&launch[..], &["--arg", "local:64", "--arg", "local:64"]].concat());
    assert!(text.contains("nothing found"), "{text}");
    let text =
        checked("short.cl", source, &[&launch[..], &["--arg", "local:60", "--arg", "local:64"]].concat());
    // Which of the two was meant nobody can tell.
    assert!(text.contains("of 4 bytes outside the local array `"), "{text}");
    assert!(text.contains("(wave 0, lane 15)"), "{text}");
}

/// Bytes and halves of private arrays, at places that lanes compute: each access is as wide as it is.
#[test]
fn parts_of_private_arrays_are_accessed_as_what_they_are() {
    if !has_compiler() {
        return;
    }
    let source = "kernel void k(global int *o, global const int *in) {
    int l = get_global_id(0), s = 0;
    uchar b[16];
    ushort c[8];
    for (int i = 0; i < 16; i++) b[i] = in[(l + i) & 63];
    for (int i = 0; i < 8; i++) c[i] = in[(l * 3 + i) & 63];
    for (int i = 0; i < 8; i++) {
        int x = in[(l * 5 + i) & 63];
        s += b[x & 15] + c[(x >> 1) & 7];
        b[(x >> 2) & 15] = s;
    }
    o[l] = s;
}
";
    let args = ["--grid", "64", "--group", "64", "--arg", "buf:i32:64", "--arg", "buf:i32:64:iota"];
    for machine in ["gcn3", "vega", "mi300"] {
        let text =
            checked(&format!("parts-{machine}.cl"), source, &[&args[..], &["--machine", machine]].concat());
        assert!(text.contains("nothing found"), "{machine}: {text}");
    }
}

/// Lanes that leave local memory do not spoil what the others do.
#[test]
fn other_lanes_go_on() {
    if !has_compiler() {
        return;
    }
    let source = "kernel void k(global int *o, int n) {
    local int x[64];
    int l = get_local_id(0);
    x[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = 7;
    if (l * n >= 0) v = x[l * n];
    o[l] = v + 1000;
}
";
    let args = ["--grid", "64", "--group", "64", "--arg", "buf:i32:64", "--arg", "i32:2"];
    let text = checked("beyond.cl", source, &args);
    assert!(text.contains("arg0 = 1000 1002 1004 1006") && text.contains(" 1062 "), "{text}");
    assert!(text.contains("(wave 0, lane 32)") && text.contains("seen 32 times"), "{text}");
    assert!(text.contains("sanitizer: 1 report\n"), "nothing else: {text}");
}
