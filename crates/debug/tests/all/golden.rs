//! Expected texts that are files; `UPDATE_GOLDEN=1` writes them.

use super::common::root;

pub fn check(name: &str, got: &str) {
    let path = root().join("crates/debug/tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("written");
        return;
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    if want != got {
        let differs = want.lines().zip(got.lines()).position(|(a, b)| a != b);
        let line = differs.unwrap_or(want.lines().count().min(got.lines().count()));
        panic!(
            "{name} differs from line {} on (UPDATE_GOLDEN=1 writes it)\nwant: {:?}\n got: {:?}\nall:\n{got}",
            line + 1,
            want.lines().nth(line),
            got.lines().nth(line)
        );
    }
}
