//! The command line as a user sees it: output, JSON, files, exit codes.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn wavebound(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&wavebound(args))).expect("valid JSON")
}

fn failure(args: &[&str]) -> String {
    let output = wavebound(args);
    assert_eq!(output.status.code(), Some(1), "{args:?} should fail with 1");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn program(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name).display().to_string()
}

/// A fresh folder per test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("folder");
    path
}

const GUPPY: &[&str] = &["--grid", "128", "--view", "t0=buf:u32:128:iota", "--view", "u0=buf:u32:128"];

fn run_guppy(extra: &[&str]) -> Value {
    let file = program("demo.guppy");
    let args: Vec<&str> = ["run", &file, "--json"].iter().chain(GUPPY).chain(extra).copied().collect();
    json(&args)
}

#[test]
fn run_json_is_stable_and_complete() {
    let v = run_guppy(&["--show", "u0:4", "--show", "t0:3"]);
    assert_eq!(v["version"], 1);
    assert_eq!(v["memory"]["u0"], serde_json::json!(["0", "1", "2", "3"]));
    assert_eq!(v["totals"]["waves"], 4);
    for field in ["cycles", "wave_instructions", "lane_instructions", "max_stack_depth"] {
        assert!(v["totals"][field].as_u64().is_some_and(|n| n > 0), "totals.{field}");
    }
    for field in ["ipc", "lane_utilisation", "stall_cycles", "branches", "pcs", "units", "memory"] {
        assert!(!v["stats"][field].is_null(), "stats.{field}");
    }
    assert_eq!(v["stats"]["cycles"], v["totals"]["cycles"]);
    let again = run_guppy(&["--show", "u0:4", "--show", "t0:3"]);
    assert_eq!(v, again, "same run, same bytes");
}

#[test]
fn statistics_do_not_change_the_run() {
    let observed = run_guppy(&[]);
    let quiet = run_guppy(&["--no-stats"]);
    assert_eq!(observed["totals"], quiet["totals"]);
    assert!(quiet["stats"].is_null());
    let untimed = run_guppy(&["--untimed"]);
    assert_eq!(untimed["totals"]["wave_instructions"], observed["totals"]["wave_instructions"]);
}

#[test]
fn trace_written_and_drawn() {
    let dir = folder("trace");
    let (trace, png, svg) = (dir.join("run.wbt"), dir.join("a.png"), dir.join("b.svg"));
    let path = |p: &Path| p.display().to_string();
    let v = run_guppy(&["--trace", &path(&trace), "--picture", &path(&svg)]);
    assert_eq!(v["trace"]["hash"].as_str().map(str::len), Some(16));
    stdout(&wavebound(&["picture", &path(&trace), "-o", &path(&png), "--from", "10", "--to", "200"]));
    assert!(std::fs::read(&png).expect("png").starts_with(b"\x89PNG"));
    assert!(std::fs::read_to_string(&svg).expect("svg").contains("<svg"));
    std::fs::write(&trace, &std::fs::read(&trace).expect("trace")[..500]).expect("cut");
    assert!(failure(&["picture", &path(&trace), "-o", &path(&png)]).contains("offset"));
}

#[test]
fn mechanisms_and_errors() {
    let file = program("demo.harp");
    let refused = failure(&["run", &file, "--machine", "harp-pdom"]);
    assert!(
        refused.contains("disagree") && refused.contains("simt-stack") && refused.contains("demo.harp:18")
    );
    let v = json(&[
        "run",
        &file,
        "--machine",
        "harp-pdom",
        "--mechanism",
        "simt-stack",
        "--json",
        "--show",
        "out",
    ]);
    assert_eq!(v["memory"]["out"], serde_json::json!(["200", "201", "102", "103"]));
    assert!(failure(&["run", &file, "--mechanism", "mask-stack"]).contains("does not run on harp"));
    assert!(failure(&["run", &file, "--set", "core.wavs=3"]).contains("did you mean `waves`"));
    assert!(failure(&["run", &file, "--set", "core.lanes=99"]).contains("core.lanes"));
    assert!(failure(&["run", &file, "--machine", "harq"]).contains("harp"));
    assert!(failure(&["run", "nowhere.harp"]).contains("nowhere.harp"));
    assert!(
        failure(&["run", &file, "--machine", "harp-pdom", "--mechanism", "simt-stack", "--max-cycles", "5"])
            .contains("not done after 5 cycles")
    );
    assert_eq!(wavebound(&["run"]).status.code(), Some(2), "usage errors exit with 2");
}

#[test]
fn code_objects_run() {
    let object =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3/basic.O2.co").display().to_string();
    let args = [
        "run", &object, "--kernel", "collatz", "--grid", "192", "--group", "64", "--json", "--show", "arg1:5",
    ];
    let launch = ["--arg", "buf:u32:192:iota", "--arg", "buf:u32:192", "--arg", "u32:500"];
    let v = json(&[&args[..], &launch[..]].concat());
    // Steps of 0, 1, 2, 3, 4 with 1000 added whenever halving gives a multiple of four, stopped at 500.
    assert_eq!(v["memory"]["arg1"], serde_json::json!(["0", "0", "1", "1004", "2"]));
    assert!(
        v["stats"]["branches"].as_array().is_some_and(|b| b.iter().any(|b| b["line"] == 48)),
        "source lines"
    );
    assert!(failure(&["run", &object, "--kernel", "nothing"]).contains("saxpy"));
    assert!(failure(&["run", &object, "--kernel", "saxpy", "--arg", "i33:5"]).contains("buf:TYPE:COUNT"));
}

#[test]
fn log_shows_the_masks() {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/programs/pdom-2.harp").display().to_string();
    let text = stdout(&wavebound(&["run", &lab, "--machine", "harp-pdom", "--log"]));
    for line in
        ["Current Mask: 1111", "Mask after split: 1100", "Mask after split invert: 0011", "New Mask: 0100"]
    {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    // Every instruction, with the word it was decoded from; the document shows the same one for `subi %r1 %r0 #0x2`.
    let all = stdout(&wavebound(&["run", &lab, "--machine", "harp-pdom", "--log", "all"]));
    let masks = "Current Mask: 1111\nMask after split: 1100\nMask after split invert: 0011\n";
    for entry in [
        "wave 0  0x0: ldi %r0, #24  (0x4a000018)\n t=0\n".to_owned(),
        "subi %r1, %r0, #2  (0x2a400002)\n t=0 t=1 t=2 t=3\n".to_owned(),
        format!("wave 1  0x44: split  (0x76000000)\n t=0 t=1 t=2 t=3\n{masks}"),
    ] {
        assert!(all.contains(&entry), "{entry} in\n{all}");
    }
    let entries = all.lines().filter(|l| l.starts_with("wave 0 ") || l.starts_with("wave 1 ")).count();
    let issued = all.lines().find_map(|l| l.strip_prefix("wave instructions")?.trim().parse().ok());
    assert_eq!(Some(entries), issued, "one entry for each");
    let output = wavebound(&["run", &lab, "--log", "all:"]);
    assert_eq!(output.status.code(), Some(2), "a wrong argument");
    assert!(String::from_utf8_lossy(&output.stderr).contains("wants a file"));
}

#[test]
fn assembled_objects_run_like_their_source() {
    let dir = folder("asm");
    let object = dir.join("demo.hof").display().to_string();
    let source = program("demo.harp");
    stdout(&wavebound(&["asm", &source, "--arch", "4w8/1", "-o", &object]));
    let args =
        ["--machine", "harp-pdom", "--mechanism", "simt-stack", "--json", "--show", "out:4", "--no-stats"];
    let run = |file: &str| json(&[&["run", file], &args[..]].concat());
    assert_eq!(run(&object), run(&source));
    let listing = stdout(&wavebound(&["disasm", &object]));
    assert!(listing.contains("jalis") && listing.contains("work:"));
    let module = dir.join("demo.gupm").display().to_string();
    stdout(&wavebound(&["asm", &program("demo.guppy"), "-o", &module]));
    assert!(stdout(&wavebound(&["disasm", &module])).contains("mask_nz r1.z"));
}

#[test]
fn machines_mechanisms_policies() {
    let list = stdout(&wavebound(&["machines"]));
    assert!(list.contains("harp-pdom") && list.contains("guppy-fig3"));
    let shown = stdout(&wavebound(&["machines", "show", "guppy", "--set", "core.waves=8"]));
    assert!(shown.contains("waves = 8"));
    let dir = folder("machines");
    let own = dir.join("own.toml");
    std::fs::write(&own, shown.replace("name = \"guppy\"", "name = \"own\"")).expect("write");
    let v = run_guppy(&["--machine", &own.display().to_string()]);
    assert_eq!(v["stats"]["machine"], "own");
    assert!(stdout(&wavebound(&["machines", "policies"])).contains("owner-dispatch"));
    assert!(stdout(&wavebound(&["machines", "fields"])).contains("units.NAME.latency"));
    let table = stdout(&wavebound(&["mechanisms"]));
    assert!(table.contains("reconvergence at any post-dominator"));
    let all = wavebound::hw::Mechanism::ALL.len();
    assert_eq!(json(&["mechanisms", "--json"]).as_array().map(Vec::len), Some(all));
}

#[test]
fn bench_json_has_the_documented_fields() {
    let v = json(&["bench", "guppy-alu", "--json", "--seconds", "0.01"]);
    let all = v.as_array().expect("list");
    assert_eq!(all.len(), 2);
    for field in
        ["name", "isa", "machine", "timed", "wave_instructions", "seconds", "wave_instructions_per_second"]
    {
        assert!(!all[0][field].is_null(), "{field}");
    }
    assert!(failure(&["bench", "no-such-bench"]).contains("guppy-alu"));
}

#[test]
fn demo_tells_the_whole_story() {
    let dir = folder("demo");
    let out = dir.display().to_string();
    let text = stdout(&wavebound(&["demo", "--out", &out]));
    // Bound and observed of each row of the table.
    let row = |name: &str| -> (u64, u64) {
        let line = text.lines().find(|l| l.trim_start().starts_with(name)).expect(name);
        let numbers: Vec<u64> = line.replace(name, "").split_whitespace().flat_map(str::parse).collect();
        (numbers[0], numbers[1])
    };
    let rows = ["not split", "best, S = 1", "best, S = 3"].map(row);
    for (bound, observed) in rows {
        assert!(bound >= observed && observed > 0, "{bound} {observed}\n{text}");
    }
    assert!(rows[0].0 > rows[1].0 && rows[1].0 > rows[2].0, "splitting makes the bound shorter\n{text}");
    assert!(text.contains("All 3 compute the same 256 results") && text.contains("lanes 0 to 63"), "{text}");
    let certificate = dir.join("certificate.json").display().to_string();
    let checked = stdout(&wavebound(&["check-bound", &certificate]));
    assert!(checked.contains(&format!("takes at most {} cycles", rows[2].0)), "{checked}");
    assert!(checked.starts_with(&certificate) && checked.contains("NOT verified: code"), "{checked}");
    let page = std::fs::read_to_string(dir.join("report.html")).expect("report");
    assert!(page.contains("switch (code &amp; 15)"), "the source is in the report");
    assert!(dir.join("lanes.png").exists());
    assert_eq!(text, stdout(&wavebound(&["demo", "--out", &out])), "same demo, same bytes");
}

#[test]
fn teaching_demo_runs() {
    let dir = folder("teaching");
    let text = stdout(&wavebound(&["demo", "--teaching", "--out", &dir.display().to_string()]));
    assert!(text.contains("times as long as sorted"));
    assert!(!text.contains("unexpected"));
    assert!(dir.join("random.png").exists() && dir.join("simt-stack.png").exists());
}

#[test]
fn unknown_experiment_names_the_nearest() {
    assert!(failure(&["reproduce", "pdom-9"]).contains("pdom-"));
    assert!(stdout(&wavebound(&["reproduce"])).contains("guppy-9"));
}

#[test]
fn experiments_in_parallel_go_on_where_they_stopped() {
    let dir = folder("reproduce");
    let _ = std::fs::remove_dir_all(&dir);
    let out = dir.display().to_string();
    let run = |more: &[&str]| {
        let mut args = vec!["reproduce", "--quick", "--jobs", "2", "--out", &out];
        args.extend(more);
        wavebound(&args)
    };
    let first = run(&["pdom-1", "guppy-5"]);
    let text = stdout(&first);
    assert!(text.contains("2 of 2 reproduced in") && text.contains("index.html"), "{text}");
    assert!(first.stderr.is_empty(), "short work is not announced");
    let again = run(&["pdom-1", "guppy-5", "guppy-6"]);
    assert!(stdout(&again).contains("3 of 3 reproduced"));
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(told.contains("2 pieces of work are there from an earlier run"), "{told}");
    assert!(run(&["pdom-1", "--fresh"]).stderr.is_empty());
    for file in
        ["index.html", "results.csv", "results.parquet", "guppy-6.svg", "guppy-6.parquet", "runs.jsonl"]
    {
        assert!(dir.join(file).exists(), "{file}");
    }
    let json: serde_json::Value = serde_json::from_str(&stdout(&run(&["guppy-5", "--json"]))).expect("JSON");
    assert_eq!(json[0]["name"], "guppy-5");
    assert_eq!(json[0]["passed"], true);
    let none = wavebound(&["reproduce", "all", "--jobs", "0"]);
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("--jobs"));
}

/// Counts for a long time.
const LONG: &str = "\
.kernel k
  s_mov_b32 s4, 0
again:
  s_add_u32 s4, s4, 1
  v_add_u32 v1, vcc, 1, v1
  s_cmp_lg_u32 s4, -1
  s_cbranch_scc1 again
  s_endpgm
";

#[test]
fn a_run_that_is_interrupted_tells_what_it_knows() {
    let dir = folder("interrupt");
    let source = dir.join("long.s");
    std::fs::write(&source, LONG).expect("source");
    let trace = dir.join("cut.wbt");
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let _ = std::fs::remove_file(&trace);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_wavebound"))
            .args(["run", &source.display().to_string(), "--trace", &trace.display().to_string()])
            .args(["--set", "limits.cycles=100000000000"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        let status = child.wait().expect("it ends");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut child.stdout.take().expect("piped"), &mut text).expect("text");
        assert_eq!(status.code(), Some(code), "{text}");
        assert!(text.contains("interrupted; so far:") && text.contains("wave instructions"), "{text}");
        let picture = dir.join("cut.png").display().to_string();
        let drawn = wavebound(&["picture", &trace.display().to_string(), "-o", &picture, "--to", "200"]);
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    }
    // A process that is killed leaves what it had written, under the name that was asked for.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["run", &source.display().to_string(), "--trace", &trace.display().to_string()])
        .args(["--set", "limits.cycles=100000000000"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    let export = |format: &str| {
        let out = dir.join("cut.export").display().to_string();
        let args = ["export", &trace.display().to_string(), "--to", format, "--until", "2000", "-o", &out];
        let done = wavebound(&args);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() && told.contains("exported up to there"), "{told}");
        std::fs::remove_file(&out).expect("it was written");
    };
    ["perfetto", "konata", "fst", "chrome"].into_iter().for_each(export);
    // A trace that was cut is drawn as far as it goes.
    let bytes = std::fs::read(&trace).expect("trace");
    std::fs::write(&trace, &bytes[..bytes.len() / 2]).expect("half of it");
    let picture = dir.join("half.png").display().to_string();
    let drawn = wavebound(&["picture", &trace.display().to_string(), "-o", &picture, "--to", "200"]);
    let told = String::from_utf8_lossy(&drawn.stderr).into_owned();
    assert!(drawn.status.success() && told.contains("drawn up to there"), "{told}");
}
