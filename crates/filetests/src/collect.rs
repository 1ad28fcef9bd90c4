//! Files that can be tests, and how their comments start.

use std::path::{Path, PathBuf};

/// All programs below a folder.
pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "harp" || e == "guppy" || e == "s" || e == "vx") {
            files.push(path);
        }
    }
}

/// How comments of a file start.
pub fn leader(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("harp") => "//",
        Some("vx") => "#",
        _ => ";",
    }
}
