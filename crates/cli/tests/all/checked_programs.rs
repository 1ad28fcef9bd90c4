//! `hip --sanitize` and `cl --sanitize`: whole programs with one error or none, and the samples, in which nothing is wrong that is not
//! listed here (docs/sanitizer.md).

use crate::hip::{SAMPLES, hip, root, text};
use crate::opencl::{cl, samples};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

/// Kinds and places of all reports in a file of JSON.
fn places(report: &Path) -> BTreeSet<(String, String)> {
    let value: Value = serde_json::from_str(&std::fs::read_to_string(report).expect("report")).expect("JSON");
    let reports = value["sanitizer"]["reports"].as_array().expect("reports");
    let text = |v: &Value| v.as_str().expect("text").to_owned();
    let place = |r: &Value| format!("{}:{}", text(&r["place"]["file"]), r["place"]["line"]);
    reports.iter().map(|r| (text(&r["kind"]), place(r))).collect()
}

fn report_of(run: impl FnOnce(&str) -> Option<Output>) -> Option<(Output, BTreeSet<(String, String)>)> {
    let file = tempfile::NamedTempFile::new().expect("file");
    let output = run(file.path().to_str().expect("path"))?;
    let found = places(file.path());
    assert_eq!(output.status.code(), Some(i32::from(!found.is_empty())), "{found:?}");
    Some((output, found))
}

/// Line of a sample's source that contains `text`.
fn line(sample: &str, text: &str) -> String {
    let path = root().join("samples").join(sample);
    let source = std::fs::read_to_string(&path).expect("source");
    let at = source.lines().position(|l| l.contains(text)).expect("the line");
    format!("{}:{}", path.file_name().expect("name").to_string_lossy(), at + 1)
}

fn set(found: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    found.iter().map(|(kind, place)| ((*kind).to_owned(), (*place).to_owned())).collect()
}

#[test]
fn hip_errors_are_found_with_their_allocations() {
    let run = |how: &str| {
        report_of(|file| hip(&["--sanitize", "--json", "--report", file], "wrong", &[how]))
            .map(|(output, found)| (text(&output).1, found))
    };
    let add = line("hip/wrong.cpp", "b[i] += a[i]");
    let Some((_, found)) = run("none") else { return };
    assert_eq!(found, set(&[]));
    let (told, found) = run("beyond").expect("ran");
    assert_eq!(found, set(&[("out-of-bounds", &add)]));
    let site = line("hip/wrong.cpp", "hipMalloc(&b");
    assert!(told.contains("0 bytes behind its end (400 bytes)") && told.contains(&site), "{told}");
    let (told, found) = run("unset").expect("ran");
    assert_eq!(found, set(&[("uninitialised", &add)]));
    assert!(told.contains("a result that the host reads"), "{told}");
    let (told, found) = run("freed").expect("ran");
    assert_eq!(found, set(&[("use-after-free", &add)]));
    let site = line("hip/check.h", "hipMalloc(&device");
    let from = line("hip/wrong.cpp", "to_device(ones)");
    assert!(told.contains(&site) && told.contains(&from), "both frames are told: {told}");
    let (_, found) = run("race").expect("ran");
    let [write, read] = ["part[threadIdx.x] =", "= part[blockDim"].map(|text| line("hip/wrong.cpp", text));
    assert_eq!(found, set(&[("race", &write), ("race", &read)]));
    // Lanes of one wave are in step, unless somebody says that they are not.
    let (_, found) = run("step").expect("ran");
    assert_eq!(found, set(&[]));
    let apart = ["--sanitize", "--lanes-apart", "--json", "--report"];
    let apart = report_of(|file| hip(&[&apart[..], &[file]].concat(), "wrong", &["step"]));
    assert_eq!(apart.expect("ran").1, set(&[("race", &read)]));
    let (_, found) = run("count").expect("ran");
    assert_eq!(found, set(&[("race", &line("hip/wrong.cpp", "*sum += 1"))]));
}

/// What is real in the samples: bfs writes the same level and the same flag from several places, and looks at levels that others
/// write; `early` is there to show that waves may end before others reach a barrier.
#[test]
fn hip_samples_have_no_error_that_is_not_known() {
    let known = |name: &str| match name {
        "bfs" => vec!["race"],
        "early" => vec!["barrier-divergence"],
        _ => vec![],
    };
    for (name, args) in SAMPLES {
        let run = report_of(|file| hip(&["--sanitize", "--json", "--report", file], name, args));
        let Some((output, found)) = run else { return };
        let (out, err) = text(&output);
        assert!(out.contains(&format!("{name}: ")) && !out.contains("FAILED"), "{name}:\n{out}");
        let kinds: BTreeSet<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, known(name).into_iter().collect(), "{name}: {found:?}\n{err}");
    }
}

#[test]
fn opencl_errors_are_found_with_their_allocations() {
    let Some(folder) = samples() else { return };
    let run = |how: &str| {
        let ran =
            |file: &str| Some(cl(&["--sanitize", "--json", "--report", file], &folder.join("wrong"), &[how]));
        let (output, found) = report_of(ran).expect("ran");
        let kinds: BTreeSet<String> = found.iter().map(|(kind, _)| kind.clone()).collect();
        (text(&output).1, kinds.into_iter().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(run("none").1, "");
    let (told, kinds) = run("beyond");
    assert_eq!(kinds, "out-of-bounds");
    let site = line("opencl/wrong.c", "cl_mem b = clCreateBuffer");
    assert!(told.contains(&site) && told.contains("behind its end (400 bytes)"), "{told}");
    assert_eq!(run("unset").1, "uninitialised");
    let (told, kinds) = run("race");
    assert_eq!(kinds, "race");
    assert!(told.contains("local `part`"), "{told}");
}

#[test]
fn opencl_samples_have_no_error() {
    let Some(folder) = samples() else { return };
    for program in ["vector_add", "buffers", "events", "programs", "kernels", "errors", "random", "same"] {
        let run =
            |file: &str| Some(cl(&["--sanitize", "--json", "--report", file], &folder.join(program), &[]));
        let (output, found) = report_of(run).expect("ran");
        let (out, err) = text(&output);
        assert!(found.is_empty(), "{program}: {found:?}\n{err}\n{out}");
    }
}
