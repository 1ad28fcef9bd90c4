//! `reproduce` that is killed in the middle of the suite's cases goes on with those it has stored, and comes to the same results.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wb_lab::reproduce::{Plan, Scale, reproduce};

/// Where the child works.
const DIR: &str = "WAVEBOUND_RESUME_DIR";

fn plan(dir: &Path) -> Plan {
    Plan { names: vec!["thesis-6.1".into()], scale: Scale::Tiny, dir: dir.to_owned(), jobs: 1, fresh: false }
}

/// Not a test of its own: the process that is killed below.
#[test]
fn child() {
    if let Some(dir) = std::env::var_os(DIR) {
        reproduce(&plan(&PathBuf::from(dir)), &|_| {}).expect("reproduced");
    }
}

/// Lines of the log that were written to their end.
fn lines(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("runs.jsonl")).unwrap_or_default();
    text.split_inclusive('\n').filter(|l| l.ends_with('\n')).map(str::to_owned).collect()
}

#[test]
fn a_killed_run_goes_on_and_ends_the_same() {
    let dir = tempfile::tempdir().expect("folder");
    let (killed, whole) = (dir.path().join("killed"), dir.path().join("whole"));
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["resume::child", "--exact"])
        .env(DIR, &killed)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a second process");
    let start = Instant::now();
    // The head and three cases.
    while lines(&killed).len() < 4 {
        assert!(start.elapsed() < Duration::from_secs(120), "no case in two minutes");
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("a child");
    let stored = lines(&killed);
    assert!(stored.len() >= 4);
    assert!(!killed.join("results.csv").exists(), "it was killed in the middle");

    let kept = std::sync::Mutex::new(0);
    let again =
        reproduce(&plan(&killed), &|news| *kept.lock().expect("lock") = news.kept).expect("reproduced");
    let first = reproduce(&plan(&whole), &|_| {}).expect("reproduced");
    assert!(*kept.lock().expect("lock") >= stored.len() - 1, "what was stored is kept");
    // Seconds are part of a line: a case that was measured again would differ.
    assert_eq!(lines(&killed)[..stored.len()], stored);
    let rows = |dir: &Path| std::fs::read_to_string(dir.join("results.csv")).expect("results");
    assert_eq!(rows(&killed), rows(&whole));
    assert_eq!(again.findings[0].rows.len(), first.findings[0].rows.len());
    for file in &first.findings[0].files {
        let name = file.file_name().expect("name");
        let bytes = |dir: &Path| std::fs::read(dir.join(name)).expect("a result");
        assert!(bytes(&killed) == bytes(&whole), "{} differs", name.to_string_lossy());
    }
}
