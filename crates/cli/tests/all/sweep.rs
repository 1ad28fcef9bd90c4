//! `wavebound sweep` as a user runs it: worker processes, what kills them, limits, parts, tables and charts.

use crate::common::{failure, folder, json, repository, stdout, wavebound};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wavebound::sweep::DataSet;
use wavebound::sweep::data::PROVENANCE;

/// An empty folder.
fn empty(name: &str) -> PathBuf {
    let path = folder(name);
    std::fs::remove_dir_all(&path).expect("removed");
    folder(name)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A plan of many short points, and the folder it is in.
fn short(name: &str, points: u32) -> (PathBuf, String) {
    let dir = empty(name);
    std::fs::copy(repository("crates/lab/programs/pdom-1.harp"), dir.join("p.harp")).expect("copied");
    let plan = format!(
        "[axes]\nprogram = 'p.harp'\nmachine = 'harp-pdom'\ndram.latency = {{ from = 1, to = {} }}\nlimits.cycles = [100001, 100002, 100003, 100004]\n",
        points / 4
    );
    std::fs::write(dir.join("plan.toml"), plan).expect("plan");
    let plan = text(&dir.join("plan.toml"));
    (dir, plan)
}

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs")
}

/// Numbers of the processes that a process has started.
fn children(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if parent == Some(of) {
            found.push(id);
        }
    }
    found
}

fn signal(name: &str, id: u32) {
    let _ = Command::new("kill").args([name, &id.to_string()]).stderr(Stdio::null()).status();
}

/// Rows without provenance, read back from Parquet and sorted.
fn rows(out: &Path) -> Vec<String> {
    DataSet::open(out).expect("a data set").table.canonical(&PROVENANCE)
}

fn run(plan: &str, store: &Path, out: &Path) -> Value {
    json(&["sweep", plan, "--store", &text(store), "--out", &text(out), "--jobs", "2", "--format", "json"])
}

/// The proof of the issue: 2,000 points, workers killed ten times, and the same data set.
#[test]
fn killed_workers_lose_nothing() {
    let (dir, plan) = short("sweep-killed", 2000);
    let undisturbed = run(&plan, &dir.join("a"), &dir.join("out-a"));
    assert_eq!(undisturbed["found"]["ok"], 2000);
    let (store, out) = (text(&dir.join("b")), text(&dir.join("out-b")));
    let mut sweep = start(&["sweep", &plan, "--store", &store, "--out", &out, "--jobs", "2"]);
    let (mut kills, mut noise) = (0, 12345_u64);
    while kills < 10 && sweep.try_wait().expect("state").is_none() {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_millis(10 + (noise >> 60) * 2));
        let workers = children(sweep.id());
        if let Some(worker) = workers.get((noise >> 33) as usize % workers.len().max(1)) {
            let (before, begun) = (stored(&dir.join("b")), Instant::now());
            signal("-9", *worker);
            kills += 1;
            // A point whose workers are killed three times in a row is given up: let something be done in between.
            while stored(&dir.join("b")) == before && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
    assert!(sweep.wait().expect("ended").success());
    assert_eq!(kills, 10, "the sweep was over before ten workers were killed");
    let disturbed = run(&plan, &dir.join("b"), &dir.join("out-b"));
    assert_eq!((&disturbed["found"]["ok"], &disturbed["missing"]), (&Value::from(0), &Value::from(0)));
    assert_eq!(disturbed["data"]["digest"], undisturbed["data"]["digest"]);
    assert!(rows(&dir.join("out-a")) == rows(&dir.join("out-b")), "the rows differ");
    assert_eq!(rows(&dir.join("out-a")).len(), 2000);
}

/// A disk that is full ends the sweep with a message; with room again, the next one finishes the rest.
#[test]
fn a_full_disk_loses_nothing_that_was_stored() {
    let (dir, plan) = short("sweep-disk", 2000);
    let disk = dir.join("disk");
    std::fs::create_dir_all(&disk).expect("a folder");
    let mount = |options: &str| {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).output();
        mounted.is_ok_and(|m| m.status.success())
    };
    if !mount("size=24k") {
        assert!(std::env::var_os("CI").is_none_or(|v| v != "true"), "CI must be able to mount a small disk");
        println!("skipped: only root can mount a small disk");
        return;
    }
    let (store, out) = (text(&disk.join("store")), text(&dir.join("out")));
    let full = wavebound(&["sweep", &plan, "--store", &store, "--out", &out]);
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    let bigger = mount("remount,size=16m");
    let after = wavebound(&["sweep", &plan, "--store", &store, "--out", &out, "--format", "json"]);
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(bigger && unmounted.is_ok_and(|s| s.success()));
    assert!(!full.status.success() && said.contains("full"), "{said}");
    let after: Value = serde_json::from_slice(&after.stdout).expect("JSON");
    assert!(after["known"].as_u64().is_some_and(|n| n > 10), "{after}");
    let whole = run(&plan, &dir.join("a"), &dir.join("out-a"));
    assert_eq!(after["data"]["digest"], whole["data"]["digest"]);
}

/// Bytes in a store.
fn stored(store: &Path) -> u64 {
    let parts = std::fs::read_dir(store.join("parts")).into_iter().flatten().flatten();
    parts.map(|e| e.metadata().map_or(0, |m| m.len())).sum()
}

/// The whole sweep is killed, again and again; the next one finishes the rest, and no worker is left behind.
#[test]
fn killed_sweeps_go_on() {
    let (dir, plan) = short("sweep-restarted", 2000);
    let store = text(&dir.join("b"));
    let mut orphans = Vec::new();
    for shard in ["0/2", "1/2", "0/2", "1/2"] {
        let mut sweep = start(&["sweep", &plan, "--store", &store, "--shard", shard, "--jobs", "2"]);
        // Until it has stored something more, or everything.
        let (before, begun) = (stored(&dir.join("b")), Instant::now());
        while stored(&dir.join("b")) < before + 5000
            && sweep.try_wait().expect("state").is_none()
            && begun.elapsed().as_secs() < 60
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        orphans.extend(children(sweep.id()));
        let _ = sweep.kill();
        sweep.wait().expect("ended");
    }
    let after = run(&plan, &dir.join("b"), &dir.join("out-b"));
    assert!(after["known"].as_u64().is_some_and(|n| n > 10), "{after}");
    assert_eq!(after["data"]["rows"], 2000);
    let whole = run(&plan, &dir.join("a"), &dir.join("out-a"));
    assert_eq!(after["data"]["digest"], whole["data"]["digest"]);
    let alive = |id: &u32| {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        state.contains("wavebound") && !state.contains(") Z")
    };
    assert!(!orphans.iter().any(alive), "workers end with the sweep");
}

const FOREVER: &str =
    "[axes]\nprogram = ['p.harp', 'loop.harp']\nmachine = 'harp-pdom'\nlimits.cycles = 1000000000000000\n";

/// A plan one of whose points never ends.
fn endless(name: &str) -> (PathBuf, String) {
    let (dir, plan) = short(name, 4);
    std::fs::write(dir.join("loop.harp"), "begin:\n  jmpi begin\n").expect("program");
    std::fs::write(dir.join("plan.toml"), FOREVER).expect("plan");
    (dir, plan)
}

fn statuses(out: &Path) -> Vec<(String, String)> {
    let table = DataSet::open(out).expect("a data set").table;
    let (status, error) = (table.column("status").expect("status"), table.column("error").expect("error"));
    let shown = |v: &Option<wavebound::sweep::Value>| v.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut list: Vec<_> = table.rows.iter().map(|r| (shown(&r[status]), shown(&r[error]))).collect();
    list.sort();
    list
}

#[test]
fn a_point_that_takes_too_long_is_recorded_and_may_be_tried_again() {
    let (dir, plan) = endless("sweep-time");
    let (store, out) = (text(&dir.join("store")), text(&dir.join("out")));
    let args = ["sweep", &plan, "--store", &store, "--out", &out, "--point-seconds", "0.5"];
    let start = Instant::now();
    let ended = wavebound(&args);
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(start.elapsed().as_secs() < 60);
    let found = statuses(&dir.join("out"));
    assert_eq!(found[0].0, "ok");
    assert_eq!(found[1], ("time".into(), "cycles: it took longer than 0.5 s".into()));
    let again = wavebound(&[&args[..], &["--format", "json"]].concat());
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["found"]["time"], 0, "it is known");
    let again = wavebound(&[&args[..], &["--format", "json", "--retry"]].concat());
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["found"]["time"], 1, "it was tried again");
}

#[test]
fn a_worker_that_crashes_is_recorded_with_its_point() {
    let (dir, plan) = endless("sweep-crash");
    let (store, out) = (text(&dir.join("store")), text(&dir.join("out")));
    let mut sweep = start(&["sweep", &plan, "--store", &store, "--out", &out, "--jobs", "1"]);
    let begun = Instant::now();
    while sweep.try_wait().expect("state").is_none() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(Duration::from_millis(300));
        children(sweep.id()).into_iter().for_each(|worker| signal("-SEGV", worker));
    }
    assert_eq!(sweep.wait().expect("ended").code(), Some(3));
    let found = statuses(&dir.join("out"));
    assert!(found.iter().any(|f| f.0 == "crashed" && f.1.contains("signal 11")), "{found:?}");
}

#[test]
fn a_point_that_needs_too_much_memory_is_recorded() {
    let dir = empty("sweep-memory");
    let plan = text(&dir.join("plan.toml"));
    let axes = "[axes]\nworkload = 'nn'\nsize = 'tiny'\nlimits.memory = [16777216, 3221225472]\n";
    std::fs::write(&plan, axes).expect("plan");
    let (store, out) = (text(&dir.join("store")), text(&dir.join("out")));
    let args = ["sweep", &plan, "--store", &store, "--out", &out, "--point-memory", "1G"];
    assert_eq!(wavebound(&args).status.code(), Some(3));
    let found = statuses(&dir.join("out"));
    assert_eq!(found.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), ["memory", "ok"], "{found:?}");
}

#[test]
fn an_interrupted_sweep_goes_on() {
    let (dir, plan) = endless("sweep-interrupted");
    let (store, out) = (text(&dir.join("store")), text(&dir.join("out")));
    let mut sweep = start(&["sweep", &plan, "--store", &store, "--out", &out, "--jobs", "2"]);
    std::thread::sleep(Duration::from_millis(1500));
    let workers = children(sweep.id());
    signal("-INT", sweep.id());
    assert_eq!(sweep.wait().expect("ended").code(), Some(130));
    assert!(workers.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists()), "workers have ended");
    assert_eq!(statuses(&dir.join("out")), [("ok".to_owned(), String::new())]);
    let dry = json(&["sweep", &plan, "--store", &store, "--dry-run", "--format", "json"]);
    assert_eq!((&dry["known"], &dry["missing"]), (&Value::from(1), &Value::from(1)));
}

#[test]
fn a_store_that_cannot_be_written_is_named() {
    let (dir, plan) = short("sweep-unwritable", 8);
    std::fs::create_dir_all(dir.join("store")).expect("folder");
    std::fs::write(dir.join("store/parts"), "a file in the place of the folder").expect("file");
    let store = text(&dir.join("store"));
    let why = failure(&["sweep", &plan, "--store", &store, "--out", &text(&dir.join("out"))]);
    assert!(why.contains("cannot make the folder"), "{why}");
}

#[test]
fn mistakes_in_plans_name_file_line_and_hint() {
    let dir = empty("sweep-mistakes");
    let plan = text(&dir.join("plan.toml"));
    std::fs::write(&plan, "[axes]\nworkload = 'nn'\ncore.wave = 3\n").expect("plan");
    let why = failure(&["sweep", &plan, "--dry-run"]);
    assert!(why.contains("plan.toml:3:6") && why.contains("did you mean `waves`?"), "{why}");
}

#[test]
fn tables_and_charts_of_a_data_set() {
    let dir = empty("sweep-show");
    let plan = text(&dir.join("plan.toml"));
    let axes = "measure = ['stats', 'bound']\nbound.unmeasured = 'exclude'\n[axes]\nworkload = ['nn', 'nw']\n\
                size = 'tiny'\nmechanism = ['none', 'pws']\nwaves = [8, 16]\n";
    std::fs::write(&plan, axes).expect("plan");
    let out = text(&dir.join("out"));
    let ran = stdout(&["sweep", &plan, "--store", &text(&dir.join("store")), "--out", &out]);
    assert!(ran.contains("8 rows: 8 ok"), "{ran}");
    let shown = stdout(&["sweep", "show", &out]);
    assert!(shown.contains("workload \\ mechanism") && shown.lines().count() == 4, "{shown}");
    let pivot =
        json(&["sweep", "show", &out, "--rows", "waves", "--speedup", "mechanism=none", "--format", "json"]);
    assert_eq!(pivot["pivot"]["row_names"], serde_json::json!(["8", "16"]));
    for (extra, wanted) in [
        (&["--chart", "lines"][..], "<polyline"),
        (&["--chart", "bars", "--speedup", "mechanism=none"], "speed-up"),
        (&["--chart", "heat"], "<path"),
        (&["--pareto", "cycles,bound"], "<circle"),
    ] {
        let svg = text(&dir.join("chart.svg"));
        stdout(&[&["sweep", "show", &out, "-o", &svg][..], extra].concat());
        let drawn = std::fs::read_to_string(&svg).expect("drawn");
        assert!(drawn.starts_with("<svg") && drawn.contains(wanted), "{extra:?}");
    }
    let page = text(&dir.join("page.html"));
    stdout(&["sweep", "show", &out, "--html", &page, "--pareto", "cycles,bound"]);
    let page = std::fs::read_to_string(&page).expect("page");
    assert!(page.contains("Pareto front") && page.matches("<svg").count() == 4);
    let why = failure(&["sweep", "show", &out, "--rows", "wave"]);
    assert!(why.contains("there is no column `wave`") && why.contains("columns: workload"), "{why}");
}

/// With CI=true a missing tool is a failure.
fn installed(tools: &[&str]) -> bool {
    let there = |tool: &&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let sbin = ["/usr/sbin", "/sbin"].map(PathBuf::from);
        std::env::split_paths(&path).chain(sbin).any(|p| p.join(tool).exists())
    };
    let missing: Vec<&&str> = tools.iter().filter(|t| !there(t)).collect();
    assert!(missing.is_empty() || std::env::var_os("CI").is_none_or(|v| v != "true"), "missing: {missing:?}");
    missing.is_empty()
}

/// A cluster of this computer, which ends with the test.
struct Cluster(PathBuf);

impl Drop for Cluster {
    fn drop(&mut self) {
        let script = repository("scripts/slurm-one-node.sh");
        let _ = Command::new(script).arg("stop").arg(&self.0).status();
    }
}

/// The same proof on Slurm: two parts whose workers are killed ten times.
#[test]
fn slurm_runs_parts_whose_workers_are_killed() {
    let root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let ci = std::env::var_os("CI").is_some_and(|v| v == "true");
    assert!(root || !ci, "Slurm's daemons need root");
    if !installed(&["sbatch", "slurmctld", "slurmd", "munged"]) || !root {
        eprintln!("skipped: Slurm is not installed, or this is not root");
        return;
    }
    let (dir, plan) = short("sweep-slurm", 8000);
    let alone = run(&plan, &dir.join("a"), &dir.join("out-a"));
    // Sockets have short names.
    let folder = std::env::temp_dir().join(format!("wavebound-slurm-{}", std::process::id()));
    let cluster = Cluster(folder.clone());
    let started = Command::new(repository("scripts/slurm-one-node.sh")).arg("start").arg(&folder).output();
    let started = started.expect("the script runs");
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let (store, out) = (text(&dir.join("b")), text(&dir.join("out-b")));
    let mut sweep = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["sweep", &plan, "--store", &store, "--out", &out, "--on", "slurm", "--shards", "2"])
        .args(["--partition", "batch", "--time", "10:00"])
        .env("SLURM_CONF", folder.join("slurm.conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let (mut kills, mut noise) = (0, 99_u64);
    while sweep.try_wait().expect("state").is_none() {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_millis(10 + (noise >> 60) * 2));
        let workers = workers_of(&store);
        let worker = workers.get((noise >> 33) as usize % workers.len().max(1));
        if let Some(worker) = worker.filter(|_| kills < 10) {
            let (before, begun) = (stored(&dir.join("b")), Instant::now());
            signal("-9", *worker);
            kills += 1;
            // As above: no point loses three workers in a row.
            while stored(&dir.join("b")) == before && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
    assert_eq!(sweep.wait().expect("ended").code(), Some(0));
    assert_eq!(kills, 10, "the sweep was over before ten workers were killed");
    drop(cluster);
    assert!(rows(&dir.join("out-a")) == rows(&dir.join("out-b")), "the rows differ");
    let after = run(&plan, &dir.join("b"), &dir.join("out-b"));
    assert_eq!(after["data"]["digest"], alone["data"]["digest"]);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Workers of the parts of a sweep with this store, whoever started them.
fn workers_of(store: &str) -> Vec<u32> {
    let mut parts = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains("--shard ") && line.contains(store) && !line.contains("--wrap") {
            parts.push(id);
        }
    }
    parts.into_iter().flat_map(children).collect()
}
