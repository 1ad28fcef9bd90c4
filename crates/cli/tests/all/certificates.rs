//! `check-bound` as a user sees it: what is verified, what is not, and what is refused.

use crate::common;

use common::{NEST, control, folder, json, number, stdout, wavebound};
use serde_json::Value;

const MACHINE: &[&str] = &["--machine", "pws", "--set", "frontend.kind=perfect"];

/// Writes a certificate of `nest`; gives its path and what `wcet --json` says.
fn certificate(name: &str, more: &[&str]) -> (String, Value) {
    let path = folder("certificates").join(name).display().to_string();
    let file = control();
    let args = [
        &["wcet", &file],
        NEST,
        &["--runs", "2", "--segments", "--certificate", &path, "--json"],
        MACHINE,
        more,
    ];
    let v = json(&args.concat());
    (path, v)
}

#[test]
fn the_first_line_says_what_is_not_verified() {
    let (path, v) = certificate("nest.json", &[]);
    let object = control();
    let program = ["--program", object.as_str()];
    let lines = |more: &[&str]| stdout(&[&["check-bound", &path], more].concat());
    let none = lines(&[]);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert!(first(&none).contains("NOT verified: code, graph, limits, machine, launch, times"), "{none}");
    assert!(
        first(&lines(&program))
            .contains("NOT verified: machine, launch, times; verified: code, graph, limits")
    );
    let machine = lines(&[&program, MACHINE].concat());
    assert!(first(&machine).contains("NOT verified: launch, times; verified: code, graph, limits, machine"));
    let all = lines(&[&program[..], MACHINE, NEST].concat());
    assert!(first(&all).ends_with("verified: code, graph, limits, machine, launch, times"), "{all}");
    assert!(!first(&all).contains("NOT"), "{all}");
    for text in [&none, &all] {
        assert!(text.contains("times are MEASURED, the longest of 2 runs with 2 distinct inputs"), "{text}");
        assert!(text.contains(&format!("takes at most {} cycles", number(&v["bound"]))), "{text}");
    }
    let row =
        |more: &[&str]| json(&[&["check-bound", &path, "--json"], more].concat())["certificates"][0].clone();
    let (bare, whole) = (row(&[]), row(&[&program[..], MACHINE, NEST].concat()));
    let parts = ["code", "graph", "limits", "machine", "launch", "times"];
    assert!(parts.iter().all(|p| bare["verified"][p].is_null()), "{bare}");
    assert!(parts.iter().all(|p| whole["verified"][p] == true), "{whole}");
    assert_eq!((&whole["bound"], &whole["total"]), (&v["kernels"][0]["wave_bound"], &v["bound"]));
    assert_eq!((whole["times"]["origin"].as_str(), number(&whole["times"]["runs"])), (Some("measured"), 2));
}

#[test]
fn another_program_machine_or_launch_is_refused() {
    let (path, _) = certificate("refused.json", &[]);
    let (slow, _) = certificate("slow.json", &["--set", "dram.latency=900"]);
    let object = control();
    let base = ["check-bound", &path, "--program", object.as_str()];
    let says = |args: &[&str], part: &str| {
        let output = wavebound(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains("NOT VALID") && text.contains(part), "{part}: {text}");
    };
    let slower = ["--set", "dram.latency=900"];
    says(&[&base[..], MACHINE, &slower].concat(), "machine: the hash of all fields");
    let hash = |file: &str| {
        let text = std::fs::read_to_string(file).expect("a certificate");
        serde_json::from_str::<Value>(&text).expect("JSON")["binding"]["machine"]["hash"].clone()
    };
    assert_ne!(hash(&path), hash(&slow));
    says(&["check-bound", &slow, "--program", &object, "--machine", "pws"], "machine: ");
    says(&[&base[..], &["--machine", "gcn3"]].concat(), "machine: the name");
    says(&[&base[..], MACHINE, &["--mechanism", "pws", "--s", "1"]].concat(), "machine: ");
    let marked = ["--mechanism", "pws", "--s", "1", "--split-at", "0x26c8"];
    says(&[&base[..], &marked].concat(), "code: the checksum");
    let other: Vec<&str> = NEST.iter().map(|a| if *a == "256" { "128" } else { a }).collect();
    says(&[&base[..], MACHINE, &other].concat(), "launch: ");
    let seed: Vec<&str> =
        NEST.iter().map(|a| if a.contains("random") { "buf:u32:256:random=9" } else { a }).collect();
    says(&[&base[..], MACHINE, &seed].concat(), "launch: the data are");
}

#[test]
fn damaged_certificates_are_refused_by_themselves() {
    let (path, v) = certificate("damaged.json", &[]);
    let text = std::fs::read_to_string(&path).expect("certificate");
    let refused = |text: &str| {
        std::fs::write(&path, text).expect("written");
        let output = wavebound(&["check-bound", &path]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // One cycle less is noticed by the digest, and would be by the proof.
    let bound = format!("\"bound\":{}", number(&v["kernels"][0]["wave_bound"]));
    assert!(text.contains(&bound));
    assert!(refused(&text.replace(&bound, "\"bound\":1")).contains("digest"));
    assert!(refused("{").contains("not a certificate"));
    let old = r#"{"format":"wavebound-certificate","version":1,"about":{},"bound":1}"#;
    assert!(refused(old).contains("version 1 binds neither code nor machine nor launch"));
}

/// Bounds by own time and waits have certificates of their own, and no word in them makes them proved.
#[test]
fn own_times_and_waits_are_measured_again() {
    let path = folder("certificates").join("own.json").display().to_string();
    let object = control();
    let how = ["--runs", "2", "--hybrid", "--certificate", &path, "--json"];
    let v = json(&[&["wcet", &object], NEST, &how, MACHINE].concat());
    assert_eq!(v["kernels"][0]["hybrid_by"], "own time and waits");
    let base = ["check-bound", &path, "--program", object.as_str()];
    let all = [&base[..], MACHINE, NEST].concat();
    for (args, first) in [
        (base[..2].to_vec(), "NOT verified: code, graph, limits, machine, launch, times"),
        (base.to_vec(), "NOT verified: graph, limits, machine, launch, times; verified: code"),
        (
            [&base[..], MACHINE].concat(),
            "NOT verified: graph, limits, launch, times; verified: code, machine",
        ),
        (all.clone(), "own.json: verified: code, graph, limits, machine, launch, times"),
    ] {
        let text = stdout(&args);
        assert!(text.lines().next().is_some_and(|l| l.contains(first)), "{first}: {text}");
        assert!(text.contains("waits are MEASURED") && text.contains("status hybrid"), "{text}");
        assert!(text.contains(&format!("takes at most {} cycles", number(&v["bound"]))), "{text}");
    }
    let refused = |args: &[&str], part: &str| {
        let output = wavebound(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains("NOT VALID") && text.contains(part), "{part}: {text}");
    };
    refused(&[&base[..], MACHINE, &["--set", "dram.latency=900"]].concat(), "machine: ");
    let other: Vec<&str> = NEST.iter().map(|a| if *a == "256" { "128" } else { a }).collect();
    refused(&[&base[..], MACHINE, &other].concat(), "launch: ");
    let text = std::fs::read_to_string(&path).expect("a certificate");
    let (body, _) = text.rsplit_once(",\"digest\"").expect("a digest");
    for (from, to, part) in [
        ("\"status\":\"hybrid\"", "\"status\":\"proved\"", "status"),
        ("wavebound-hybrid\",\"version\":1", "wavebound-proved\",\"version\":2", "not a certificate"),
    ] {
        assert!(body.contains(from));
        let forged = format!("{},\"digest\":\"\"}}", body.replace(from, to));
        let digest = wavebound::check::digest(&forged).expect("a digest");
        std::fs::write(&path, forged.replace("\"digest\":\"\"", &format!("\"digest\":\"{digest}\"")))
            .expect("written");
        refused(&base[..2], part);
    }
}

#[test]
fn splits_given_times_and_launch_files_verify() {
    let object = control();
    let marked = ["--mechanism", "pws", "--s", "1", "--split-at", "0x26c8"];
    let (path, _) = certificate("split.json", &marked);
    let base = ["check-bound", &path, "--program", object.as_str()];
    let text = stdout(&[&base[..], MACHINE, NEST, &marked].concat());
    assert!(text.contains(": verified: code, graph, limits, machine, launch, times"), "{text}");
    // A table: nothing can be measured again, and the output says so.
    let table = folder("certificates").join("nest.toml").display().to_string();
    let wcet = [&["wcet", &object], NEST].concat();
    stdout(&[&wcet[..], &["--times-template", &table]].concat());
    let filled = std::fs::read_to_string(&table).expect("a template").replace("\"?\"", "10");
    std::fs::write(&table, filled).expect("written");
    let given = folder("certificates").join("given.json").display().to_string();
    stdout(&[&wcet[..], &["--times", &table, "--certificate", &given]].concat());
    let text = stdout(&[&["check-bound", &given, "--program", &object], NEST].concat());
    assert!(text.contains("NOT verified: times; verified: code, graph, limits, machine, launch"), "{text}");
    assert!(text.contains("times are GIVEN") && text.contains("status given"), "{text}");
}

#[test]
fn launch_files_and_workloads_verify() {
    let path = folder("certificates").join("nw.json").display().to_string();
    let workload = ["--workload", "nw", "--size", "tiny"];
    stdout(&[&["wcet", "--unmeasured", "exclude", "--certificate", &path], &workload[..]].concat());
    for kernel in ["nw_upper", "nw_lower"] {
        let file = path.replace(".json", &format!("-{kernel}.json"));
        let text = stdout(&[&["check-bound", &file], &workload[..]].concat());
        assert!(text.contains("verified: code, graph"), "{text}");
        let other = wavebound(&["check-bound", &file, "--workload", "nw", "--size", "small"]);
        assert_eq!(other.status.code(), Some(1), "another size is another launch");
    }
}
