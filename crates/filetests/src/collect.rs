//! Files that can be tests, which instruction set they are for, and how their comments start.

use std::path::{Path, PathBuf};
use wb_hw::InstructionSet;
use wb_jobs::{Language, with_isa};

/// All programs below a folder.
pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| isa_of(e).is_some()) {
            files.push(path);
        }
    }
}

fn isa_of(extension: &str) -> Option<InstructionSet> {
    InstructionSet::ALL.into_iter().find(|&isa| with_isa!(isa, I => I::ASSEMBLY.0) == extension)
}

/// The instruction set of a test, by its name.
pub fn isa(name: &str) -> Option<InstructionSet> {
    isa_of(name.rsplit('.').next()?)
}

/// How comments of a file start.
pub fn leader(name: &str) -> &'static str {
    isa(name).map_or(";", |isa| with_isa!(isa, I => I::ASSEMBLY.1))
}
