//! The store survives what happens to files, and the data set does not depend on who measured.

use crate::common::{plan, prepare, sweep};
use std::path::{Path, PathBuf};
use wb_sweep::data::{self, PROVENANCE};
use wb_sweep::{DataSet, Identities, RunOptions, Scope, Shard, Sweep};

const PLAN: &str = "measure = ['cycles', 'worst']\nworst.tries = 2\n[axes]\nworkload = ['nn', 'nw']\nsize = 'tiny'\nseed = [0, 1]\nmechanism = ['none', 'pws']\ns = 1\n";
const QUICK: &str =
    "[axes]\nworkload = ['nn', 'nw']\nsize = 'tiny'\nwaves = { from = 4, to = 40, step = 4 }\n";

fn parts(store: &Path) -> Vec<PathBuf> {
    let list = std::fs::read_dir(store.join("parts")).expect("parts");
    let mut list: Vec<PathBuf> = list.map(|e| e.expect("entry").path()).collect();
    list.sort();
    list
}

#[test]
fn the_data_set_is_the_same_for_any_number_of_workers_and_shards() {
    let dir = tempfile::tempdir().expect("folder");
    let plan = plan(PLAN);
    let (one, first) = sweep(&plan, &dir.path().join("a"), &dir.path().join("out-a"), 1);
    let (_, second) = sweep(&plan, &dir.path().join("b"), &dir.path().join("out-b"), 3);
    assert_eq!(first.digest, second.digest);
    // Two measures; a search has inputs of its own, so that seeds share it.
    assert_eq!((first.rows, one.done()), (8, 12));
    let store = dir.path().join("c");
    for index in [2, 0, 1, 0] {
        let scope = Scope { shard: Some(Shard { index, of: 3 }), retry: false };
        let mut part =
            Sweep::prepare(&plan, &store, scope, &mut Identities::new(), &mut |_| ()).expect("prepared");
        part.run(&RunOptions { jobs: 2, workers: None }, usize::MAX, &|_| (), &|| true).expect("run");
    }
    let whole = prepare(&plan, &store);
    assert_eq!(whole.counts().missing, 0);
    let third = data::write(&whole, &dir.path().join("out-c")).expect("written");
    let again = data::write(&whole, &dir.path().join("out-c")).expect("merging again is nothing new");
    assert_eq!((&third.digest, &again.digest), (&first.digest, &first.digest));

    let read = |out: &str| DataSet::open(&dir.path().join(out)).expect("read").table.canonical(&PROVENANCE);
    assert_eq!(read("out-a"), read("out-b"));
    assert_eq!(read("out-a"), read("out-c"));
    assert_eq!(read("out-a").len(), 8);
}

#[test]
fn damage_costs_the_damaged_lines_only() {
    let dir = tempfile::tempdir().expect("folder");
    let store = dir.path().join("store");
    let plan = plan(QUICK);
    let (ran, before) = sweep(&plan, &store, &dir.path().join("out"), 1);
    assert_eq!(ran.done(), 20);
    let [part] = &parts(&store)[..] else { panic!("one journal") };
    let bytes = std::fs::read(part).expect("journal");
    let lines: Vec<usize> = bytes.iter().enumerate().filter(|b| *b.1 == b'\n').map(|b| b.0).collect();

    // The last line is torn, at every place.
    let last = lines[lines.len() - 2] + 1;
    for cut in [last, last + 1, last + 20, bytes.len() - 1] {
        std::fs::write(part, &bytes[..cut]).expect("cut");
        assert_eq!(prepare(&plan, &store).counts().missing, 1, "cut at {cut}");
    }
    // A bit of a line in the middle is wrong; the end of a line is missing; the head is.
    let flip = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        std::fs::write(part, bytes).expect("damaged");
        let sweep = prepare(&plan, &store);
        (sweep.counts().missing, sweep.damage().lines, sweep.damage().files)
    };
    assert_eq!(flip(lines[4] + 40), (1, 1, 0));
    assert_eq!(flip(lines[4]), (2, 1, 0), "two lines became one");
    assert_eq!(flip(0), (0, 1, 1), "lines have checksums of their own");
    // Other files, folders and a journal of nothing.
    std::fs::write(part, &bytes).expect("whole again");
    std::fs::write(store.join("parts/x.part"), [0xff; 3000]).expect("noise");
    std::fs::write(store.join("parts/y.part"), vec![b'x'; 3 << 20]).expect("a line that never ends");
    std::fs::write(store.join("parts/z.part"), b"").expect("empty");
    std::fs::create_dir(store.join("parts/folder.part")).expect("folder");
    assert_eq!(prepare(&plan, &store).counts().missing, 0);
    // What was lost is found again, and the data set is the same.
    std::fs::write(part, &bytes[..bytes.len() / 2]).expect("half");
    let (ran, after) = sweep(&plan, &store, &dir.path().join("out"), 2);
    assert!(ran.done() > 5 && ran.done() < 15, "{ran:?}");
    assert_eq!(after.digest, before.digest);
}

#[test]
fn two_sweeps_share_a_store() {
    let dir = tempfile::tempdir().expect("folder");
    let plan = plan(QUICK);
    let (_, alone) = sweep(&plan, &dir.path().join("alone"), &dir.path().join("out"), 1);
    let store = dir.path().join("store");
    let outs = ["1", "2", "3"].map(|n| dir.path().join(n));
    std::thread::scope(|scope| {
        for out in &outs {
            scope.spawn(|| sweep(&plan, &store, out, 2));
        }
    });
    for out in &outs {
        assert_eq!(DataSet::open(out).expect("read").about.digest, alone.digest);
    }
    assert!(parts(&store).iter().all(|p| p.extension().is_some_and(|e| e == "part")), "all are sealed");
    assert_eq!(prepare(&plan, &store).damage(), Default::default(), "nothing contradicts");
}

#[test]
fn a_stopped_sweep_goes_on() {
    let dir = tempfile::tempdir().expect("folder");
    let (store, plan) = (dir.path().join("store"), plan(QUICK));
    let seen = std::sync::atomic::AtomicU64::new(0);
    let mut first = prepare(&plan, &store);
    let go_on = || seen.load(std::sync::atomic::Ordering::SeqCst) < 7;
    let told = |_: &wb_sweep::News| _ = seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let ran = first.run(&RunOptions { jobs: 1, workers: None }, usize::MAX, &told, &go_on).expect("run");
    assert!(ran.stopped && ran.done() == 7);
    let part = data::write(&first, &dir.path().join("out")).expect("written");
    assert_eq!((part.rows, part.missing), (7, 13));
    let (rest, whole) = sweep(&plan, &store, &dir.path().join("out"), 2);
    assert_eq!((rest.done(), whole.rows), (13, 20));
}

#[test]
fn points_that_fail_are_rows_with_their_errors() {
    let dir = tempfile::tempdir().expect("folder");
    let text = "[axes]\nworkload = 'nn'\nsize = 'tiny'\nmax_cycles = [10, 1000000]\n";
    let (ran, written) = sweep(&plan(text), &dir.path().join("store"), &dir.path().join("out"), 2);
    assert_eq!(ran.done(), 2);
    assert_eq!((written.statuses["ok"], written.statuses["failed"]), (1, 1));
    let table = DataSet::open(&dir.path().join("out")).expect("read").table;
    let (status, error) = (table.column("status").expect("status"), table.column("error").expect("error"));
    let failed = table.rows.iter().find(|r| r[status].as_ref().is_some_and(|s| s.to_string() == "failed"));
    let error = failed.and_then(|r| r[error].as_ref()).expect("an error").to_string();
    assert!(error.starts_with("cycles: ") && error.contains("10"), "{error}");
    let (again, _) = sweep(&plan(text), &dir.path().join("store"), &dir.path().join("out"), 2);
    assert_eq!(again.done(), 0, "an error is a result");
}

#[test]
fn machines_that_cannot_be_are_named_or_left_out() {
    let dir = tempfile::tempdir().expect("folder");
    let text = "[axes]\nworkload = 'nn'\nsize = 'tiny'\ncore.waves = [7, 8]\n";
    let wrong = plan(text);
    let e = match Sweep::prepare(&wrong, dir.path(), Scope::default(), &mut Identities::new(), &mut |_| ()) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("7 waves on 4 partitions"),
    };
    assert!(e.starts_with("plan.toml:4:6: workload=nn size=tiny core.waves=7: "), "{e}");
    let skipped = plan(&format!("invalid = 'skip'\n{text}"));
    let (_, written) = sweep(&skipped, &dir.path().join("store"), &dir.path().join("out"), 1);
    assert_eq!((written.rows, written.missing), (1, 0));
}
