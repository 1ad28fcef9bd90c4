//! What a measured bound rests on, as a user sees it: inputs, runs, launches, and warnings where there are too few.

use crate::common;

use common::{NEST, control, failure, folder, json, number, repository, stdout, wavebound};
use serde_json::Value;

/// The only kernel of `wcet --json`.
fn kernel(args: &[&str]) -> Value {
    json(&[args, &["--json"]].concat())["kernels"][0].clone()
}

#[test]
fn repeated_runs_of_one_launch_are_one_launch() {
    let file = control();
    let with = |runs: &str| kernel(&[&["wcet", &file], NEST, &["--runs", runs]].concat());
    let (one, five) = (with("1"), with("5"));
    assert_eq!(five["launches"].as_array().map(Vec::len), Some(1));
    // More inputs can find longer times, but they are not added up.
    assert!(number(&five["bound"]) < 2 * number(&one["bound"]), "{} {}", five["bound"], one["bound"]);
    assert_eq!(five["bound"], five["launches"][0]["bound"]);
    assert!(number(&five["observed"]) >= number(&one["observed"]), "the longest run");
    assert!(number(&five["observed"]) <= number(&five["bound"]));
    // The same deadline is met with one run and with five.
    let deadline = number(&five["bound"]).max(number(&one["bound"])).to_string();
    for runs in ["1", "5"] {
        let args = [&["wcet", &file], NEST, &["--runs", runs, "--deadline", &deadline]].concat();
        assert_eq!(wavebound(&args).status.code(), Some(0), "{runs} runs");
    }
}

#[test]
fn one_input_is_warned_about_and_the_ratio_says_what_is_behind_it() {
    let file = control();
    let zero = [
        "--kernel",
        "nest",
        "--grid",
        "256",
        "--group",
        "64",
        "--arg",
        "buf:u32:256",
        "--arg",
        "buf:u32:256",
    ];
    let once = [&["wcet", &file], &zero[..], &["--unmeasured", "exclude", "--hybrid"]].concat();
    let output = wavebound(&once);
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for (where_, what) in [(&text, "  WARNING: "), (&said, "warning: ")] {
        for part in
            [what, "ONE input", "addresses (cache lines, banks)", "--arg buf:u32:256:hostile=1", "--runs 8"]
        {
            assert!(where_.contains(part), "`{part}` in {where_}");
        }
    }
    let first: Vec<&str> = text.lines().take(3).collect();
    assert!(first.join("\n").contains("WARNING"), "in the first lines: {text}");
    assert!(text.contains("(1 run, 1 distinct input)"), "{text}");
    assert!(
        text.contains("inputs: no other data") && text.contains("addresses: no other accesses"),
        "{text}"
    );
    assert!(text.contains("co-runners: no other waves"), "{text}");
    let page = folder("inputs-warning").join("one.html").display().to_string();
    let v = json(&[&once[..], &["--json", "--html", &page]].concat());
    assert_eq!(v["warnings"].as_array().map(Vec::len), Some(1), "{}", v["warnings"]);
    assert_eq!(v["kernels"][0]["warnings"], v["warnings"]);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("ONE input") && html.contains("1 run, 1 distinct input"), "the page says it too");
    // What is proposed works, and there is nothing to warn about.
    let more = [
        "--kernel",
        "nest",
        "--grid",
        "256",
        "--group",
        "64",
        "--arg",
        "buf:u32:256:hostile=1",
        "--arg",
        "buf:u32:256",
    ];
    let many = [&["wcet", &file], &more[..], &["--runs", "8", "--unmeasured", "exclude"]].concat();
    let text = stdout(&many);
    assert!(text.contains("(8 runs, 8 distinct inputs)") && !text.contains("WARNING"), "{text}");
}

/// The hashes under `inputs` tell whether the bound is the same: launch and data are among them.
#[test]
fn other_launches_and_data_have_other_hashes() {
    let file = control();
    let hashes = |more: &[&str]| {
        kernel(&[&["wcet", &file], more, &["--unmeasured", "exclude"]].concat())["inputs"].clone()
    };
    let launch = |grid: &'static str, fill: &'static str| {
        hashes(&["--kernel", "nest", "--grid", grid, "--group", "64", "--arg", fill, "--arg", "buf:u32:512"])
    };
    let first = launch("256", "buf:u32:512:random=1");
    assert_eq!(first, launch("256", "buf:u32:512:random=1"), "same inputs, same hashes");
    let (data, grid) = (launch("256", "buf:u32:512:random=2"), launch("512", "buf:u32:512:random=1"));
    let of = |list: &Value, name: &str| -> Vec<Value> {
        let all = list.as_array().expect("inputs").iter();
        all.filter(|i| i[0].as_str().is_some_and(|n| n.starts_with(name))).map(|i| i[1].clone()).collect()
    };
    assert_eq!(of(&first, "launch"), of(&data, "launch"));
    assert_ne!(of(&first, "data"), of(&data, "data"));
    assert_ne!(of(&first, "launch"), of(&grid, "launch"));
    assert_eq!((of(&first, "launch").len(), of(&first, "data").len()), (1, 1), "{first}");
}

fn launch_file(name: &str, fill: &str) -> String {
    let object = repository("fixtures/gcn3/basic.O2.co");
    let text = format!(
        "object = {object:?}\n[buffers.x]\ntype = \"f32\"\nlength = 256\nfrom = \"{fill}\"\n\
         [buffers.y]\ntype = \"f32\"\nlength = 256\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 256\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:256\"]\nrepeat = 2\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 128\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:100\"]\n"
    );
    let path = folder("inputs-launch").join(name).display().to_string();
    std::fs::write(&path, text).expect("launch file");
    path
}

#[test]
fn launch_files_get_other_seeds_in_every_run() {
    let file = launch_file("seeded.toml", "uniform=0..1,3");
    let with = |runs: &str| kernel(&["wcet", &file, "--runs", runs]);
    let (one, four) = (with("1"), with("4"));
    assert_eq!((number(&one["runs"]), number(&one["distinct_inputs"])), (1, 1));
    assert_eq!((number(&four["runs"]), number(&four["distinct_inputs"])), (4, 4));
    assert_eq!(number(&four["coverage"]["launches"]), 12, "three launches, four times");
    // Different launches still add up, runs do not.
    for k in [&one, &four] {
        assert_eq!(k["launches"].as_array().map(Vec::len), Some(3));
        let sum: u64 = k["launches"].as_array().expect("launches").iter().map(|l| number(&l["bound"])).sum();
        assert_eq!(sum, number(&k["bound"]));
    }
    assert!(stdout(&["wcet", &file, "--runs", "4"]).contains("(4 runs of 3 launches, 4 distinct inputs)"));
    // Without a seed there is nothing to run again.
    let fixed = launch_file("fixed.toml", "iota");
    let error = failure(&["wcet", &fixed, "--runs", "4"]);
    for part in ["nothing would differ", "x (iota)", "y (zero)", "uniform=LOW..HIGH,SEED", "hostile=SEED"] {
        assert!(error.contains(part), "`{part}` in {error}");
    }
    stdout(&["wcet", &fixed]);
    let object = control();
    let fixed = [
        "wcet",
        &object,
        "--kernel",
        "nest",
        "--arg",
        "buf:u32:64:iota",
        "--arg",
        "buf:u32:64",
        "--runs",
        "2",
    ];
    assert!(failure(&fixed).contains("buf:u32:64:iota"), "arguments too");
}

#[test]
fn workloads_get_other_inputs_in_every_run() {
    let args = |runs| {
        [
            "wcet",
            "--workload",
            "kmeans",
            "--size",
            "tiny",
            "--unmeasured",
            "exclude",
            "--runs",
            runs,
            "--hybrid",
            "--json",
        ]
    };
    let (one, three) = (json(&args("1")), json(&args("3")));
    let inputs = |v: &Value| {
        v["kernels"]
            .as_array()
            .expect("kernels")
            .iter()
            .map(|k| number(&k["distinct_inputs"]))
            .collect::<Vec<_>>()
    };
    assert!(inputs(&one).iter().all(|&n| n == 1), "{:?}", inputs(&one));
    assert!(inputs(&three).iter().all(|&n| n == 3), "{:?}", inputs(&three));
    assert!(!one["warnings"].as_array().expect("warnings").is_empty());
    assert!(three["warnings"].as_array().expect("warnings").is_empty(), "{}", three["warnings"]);
    // The kernel that is launched once a run is one launch.
    assert_eq!(three["kernels"][0]["launches"].as_array().map(Vec::len), Some(1));
}

/// Indices that neighbours read far apart: the bound of zeros is far too low, the proposed fill finds that out.
#[test]
fn hostile_fills_stress_addresses() {
    let source = ".kernel gather\n.arg buf index\n.arg buf data\n.arg buf out\n  s_load_dwordx4 s[8:11], s[0:1], 0x0\n  s_load_dwordx2 s[12:13], s[0:1], 0x10\n  v_lshlrev_b32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v3, s9\n  v_add_u32 v2, vcc, s8, v1\n  v_addc_u32 v3, vcc, 0, v3, vcc\n  flat_load_dword v4, v[2:3]\n  s_waitcnt vmcnt(0) & lgkmcnt(0)\n  v_lshlrev_b32 v4, 2, v4\n  v_mov_b32 v6, s11\n  v_add_u32 v5, vcc, s10, v4\n  v_addc_u32 v6, vcc, 0, v6, vcc\n  flat_load_dword v7, v[5:6]\n  v_mov_b32 v9, s13\n  v_add_u32 v8, vcc, s12, v1\n  v_addc_u32 v9, vcc, 0, v9, vcc\n  s_waitcnt vmcnt(0) & lgkmcnt(0)\n  flat_store_dword v[8:9], v7\n  s_endpgm\n";
    let path = folder("inputs-gather").join("gather.s").display().to_string();
    std::fs::write(&path, source).expect("source");
    let with = |index: &str, runs: &str| {
        let index = format!("buf:u32:64:{index}");
        kernel(&[
            "wcet",
            &path,
            "--arg",
            &index,
            "--arg",
            "buf:u32:65536",
            "--arg",
            "buf:u32:64",
            "--runs",
            runs,
            "--hybrid",
        ])
    };
    let (zeros, stride, hostile) =
        (with("zero", "1"), with("stride=1024,65536", "1"), with("hostile=1,65536", "8"));
    let (bound, hit) = (number(&zeros["bound"]), number(&stride["observed"]));
    assert!(hit > bound, "one input of zeros: bound {bound}, but a stride takes {hit}");
    assert!(number(&hostile["bound"]) >= hit, "hostile fills find it: {} and {hit}", hostile["bound"]);
}
