//! Journals: files that only grow, by whole lines, with one writer each. Who reads one sees every line that was written to its
//! end; the last line may be torn where the writer was ended.

use crate::error::FileError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What was written is on the disk after this time at most.
const SYNC: Duration = Duration::from_secs(1);

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    bytes: u64,
    synced: Instant,
}

impl Journal {
    /// A new file; one that is there is an error.
    pub fn create(path: &Path) -> Result<Journal, FileError> {
        let file = File::options().append(true).create_new(true).open(path);
        let file = file.map_err(|e| FileError::io("write", path, &e))?;
        Ok(Journal { path: path.to_owned(), file, bytes: 0, synced: Instant::now() })
    }

    /// Adds lines, each with its end, in one piece.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), FileError> {
        let failed = |e: io::Error| FileError::io("write", &self.path, &e);
        self.file.write_all(lines).map_err(failed)?;
        self.bytes += lines.len() as u64;
        if self.synced.elapsed() >= SYNC {
            self.file.sync_data().map_err(failed)?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The end: the file gets its last name, under which it does not change any more.
    pub fn seal(self, path: &Path) -> Result<(), FileError> {
        let failed = |e: io::Error| FileError::io("write", path, &e);
        self.file.sync_data().map_err(failed)?;
        std::fs::rename(&self.path, path).map_err(failed)
    }
}

/// Makes a folder, and those above it.
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(|e| FileError::io("make the folder", path, &e))
}

/// Puts a folder in the place of another one: who reads it sees the old one or the new one, for all but a moment.
pub fn replace_folder(new: &Path, target: &Path) -> Result<(), FileError> {
    let failed = |e: io::Error| FileError::io("write", target, &e);
    // Somebody else may do the same at this moment: the last one stays.
    for attempt in 0_u64.. {
        match std::fs::rename(new, target) {
            Ok(()) => return Ok(()),
            Err(e) if attempt == 100 || !target.exists() => return Err(failed(e)),
            Err(_) => {}
        }
        let name = new.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let old = target.with_file_name(format!("{name}.old{attempt}"));
        if std::fs::rename(target, &old).is_ok() {
            let renamed = std::fs::rename(new, target);
            std::fs::remove_dir_all(&old).map_err(failed)?;
            match renamed {
                Ok(()) => return Ok(()),
                Err(e) if !target.exists() => return Err(failed(e)),
                Err(_) => {}
            }
        }
        std::thread::sleep(Duration::from_millis(attempt.min(20)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_grows_and_is_sealed_under_another_name() {
        let dir = tempfile::tempdir().expect("folder");
        let (open, sealed) = (dir.path().join("a.open"), dir.path().join("a.part"));
        let mut journal = Journal::create(&open).expect("created");
        assert!(Journal::create(&open).is_err(), "one writer each");
        journal.append(b"one\n").expect("written");
        assert_eq!(std::fs::read(&open).expect("read"), b"one\n");
        journal.append(b"two\n").expect("written");
        assert_eq!(journal.bytes(), 8);
        journal.seal(&sealed).expect("sealed");
        assert_eq!(std::fs::read(&sealed).expect("read"), b"one\ntwo\n");
        assert!(!open.exists());
    }

    #[test]
    fn a_folder_takes_the_place_of_another() {
        let dir = tempfile::tempdir().expect("folder");
        let (new, target) = (dir.path().join("new"), dir.path().join("target"));
        for text in ["1", "2"] {
            make_folder(&new).expect("made");
            std::fs::write(new.join("x"), text).expect("written");
            replace_folder(&new, &target).expect("replaced");
            assert_eq!(std::fs::read_to_string(target.join("x")).expect("read"), text);
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 1, "nothing else is left");
    }
}
