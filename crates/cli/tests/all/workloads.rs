//! The benchmark suite on the command line: lists, pages, runs with every option of `run`, bounds, marks, errors.

use crate::common;

use common::{failure, folder, json, stdout, wavebound};

#[test]
fn all_twenty_are_listed_and_have_pages() {
    let list = json(&["workloads", "--json"]);
    let names: Vec<&str> =
        list.as_array().expect("a list").iter().map(|w| w["name"].as_str().expect("a name")).collect();
    assert_eq!(names.len(), 20, "{names:?}");
    let text = stdout(&["workloads"]);
    for name in names {
        assert!(text.lines().any(|l| l.starts_with(name)), "{name} is in the table");
        assert!(stdout(&["workloads", "show", name]).starts_with(&format!("# {name}\n")), "{name}");
    }
}

#[test]
fn a_workload_runs_like_a_launch_file() {
    let nw = ["run", "--workload", "nw", "--size", "tiny"];
    let done = json(&[&nw[..], &["--json", "--show", "table:4"]].concat());
    assert_eq!(done["passed"], true);
    assert_eq!(done["memory"]["table"], serde_json::json!(["0", "-10", "-20", "-30"]));
    let launches = done["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), 3, "two diagonals of blocks and one back");
    let cycles = |v: &serde_json::Value| v["totals"]["cycles"].as_u64().expect("cycles");
    assert_eq!(cycles(&done), launches.iter().map(cycles).sum::<u64>());
    assert!(
        done["stats"]["lane_utilisation"].as_f64().is_some_and(|u| u > 0.0 && u < 0.25),
        "16 of 64 lanes"
    );

    let out = folder("workloads").join("table.npy").display().to_string();
    let picture = folder("workloads").join("nw.png");
    let text = stdout(
        &[&nw[..], &["--out", &format!("table={out}"), "--picture", &picture.display().to_string()]].concat(),
    );
    assert!(text.contains("table: 1089 elements as expected"), "{text}");
    assert!(picture.with_file_name("nw-3.png").exists());
}

#[test]
fn marks_follow_the_mechanism() {
    let splits = |more: &[&str]| {
        let cfd = ["run", "--workload", "cfd", "--size", "tiny", "--json"];
        json(&[&cfd[..], more].concat())["stats"]["splits"].as_u64().expect("splits")
    };
    assert_eq!(splits(&[]), 0);
    assert!(splits(&["--mechanism", "pws", "--s", "1"]) > 0, "default marks");
    assert!(splits(&["--mechanism", "thesis", "--s", "1"]) > 0, "default marks as MODE bit");
    assert_eq!(splits(&["--mechanism", "pws", "--s", "1", "--marks", "none"]), 0);
    assert!(splits(&["--mechanism", "pws", "--s", "1", "--marks", "optimal"]) > 0);
    let line = "kernel.cl:1";
    assert!(
        failure(&["run", "--workload", "cfd", "--split-at", line, "--size", "tiny"])
            .contains("cannot mark `kernel.cl:1`")
    );
}

#[test]
fn bounds_and_best_places() {
    let lud = ["--workload", "lud", "--size", "tiny", "--json"];
    let bound = |more: &[&str]| {
        let found = json(&[&["wcet"], &lud[..], more].concat());
        let number = |name: &str| found[name].as_u64().expect("a number");
        assert!(number("bound") >= number("observed"), "{}", found["bound"]);
        assert_eq!(found["kernels"].as_array().map(Vec::len), Some(3));
        number("bound")
    };
    assert!(
        bound(&["--hybrid", "--mechanism", "pws", "--s", "1"]) < bound(&["--hybrid"]),
        "halves of a wave run beside each other"
    );
    let list = json(&["split", "--workload", "lud", "--list", "--json"]);
    assert!(list["branches"].as_array().is_some_and(|b| b.len() > 4));
    let file = folder("workloads").join("lud.co").display().to_string();
    let best = json(&[&["split", "--optimal", "--s", "1", "-o", &file], &lud[..]].concat());
    assert!(best["bound"].as_u64() < best["bound_without"].as_u64());
    assert!(std::fs::metadata(&file).is_ok_and(|m| m.len() > 1000));
}

#[test]
fn files_of_a_workload_can_be_taken_out() {
    let out = folder("workloads").join("bfs");
    let text = stdout(&["workloads", "export", "bfs", &out.display().to_string(), "--size", "tiny"]);
    assert_eq!(text.lines().count(), 3, "{text}");
    let (object, facts) = (out.join("kernel.co"), out.join("bfs-bfs_expand.toml"));
    let check = [
        "facts",
        &object.display().to_string(),
        "--kernel",
        "bfs_expand",
        "--check",
        &facts.display().to_string(),
    ];
    assert!(wavebound(&check).status.success());
}

#[test]
fn mistakes_are_explained() {
    assert!(failure(&["run", "--workload", "gausian"]).contains("did you mean `gaussian`?"));
    assert!(failure(&["run", "--workload", "bfs", "--size", "huge"]).contains("tiny, small, medium, large"));
    assert!(
        failure(&["run", "--workload", "bfs", "--grid", "64"]).contains("--grid does not go with --workload")
    );
    assert!(failure(&["run", "x.co", "--workload", "bfs"]).contains("a file does not go with --workload"));
    assert!(failure(&["run", "--workload", "bfs", "--show", "nothing"]).contains("buffers: graph edges"));
    assert!(
        failure(&["picture", "--workload", "bfs", "-o", "x.png"]).contains("run --workload NAME --picture")
    );
    assert_eq!(wavebound(&["run"]).status.code(), Some(2), "a file or a workload is needed");
}

#[test]
fn every_workload_gets_a_bound() {
    let list = json(&["workloads", "--json"]);
    let names: Vec<&str> = list.as_array().expect("list").iter().filter_map(|w| w["name"].as_str()).collect();
    assert_eq!(names.len(), 20);
    let cases = names.iter().map(|&name| (name, "small")).chain([("hybridsort", "medium")]);
    for (name, size) in cases {
        let bounds = json(&["wcet", "--workload", name, "--size", size, "--json"]);
        let kernels = bounds["kernels"].as_array().expect("kernels");
        assert!(
            !kernels.is_empty() && kernels.iter().all(|k| k["bound"].is_u64()),
            "{name} {size}: {bounds}"
        );
    }
}
