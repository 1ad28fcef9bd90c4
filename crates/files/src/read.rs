//! Reading: what a file is for says how large it may be.

use crate::error::{FileError, size};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What an input is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Object files, and sources up to [`Kind::Source`].
    Program,
    /// Source text: assembly, OpenCL, HIP.
    Source,
    /// Machines, launches, flow facts.
    Description,
    Certificate,
    /// Data of a buffer.
    Data,
    /// Events, and times of points.
    Trace,
    /// What an earlier run of Wavebound left for this one, which may replace it.
    Kept,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Program,
        Kind::Source,
        Kind::Description,
        Kind::Certificate,
        Kind::Data,
        Kind::Trace,
        Kind::Kept,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Program => "a program",
            Kind::Source => "a source",
            Kind::Description => "a description",
            Kind::Certificate => "a certificate",
            Kind::Data => "the data of a buffer",
            Kind::Trace => "a trace",
            Kind::Kept => "a kept result",
        }
    }

    /// Most bytes.
    pub fn limit(self) -> u64 {
        match self {
            Kind::Source | Kind::Description => 16 << 20,
            Kind::Program | Kind::Certificate => 256 << 20,
            Kind::Data => 1 << 30,
            Kind::Trace | Kind::Kept => 4 << 30,
        }
    }
}

/// Files that were read; no output replaces them.
static INPUTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(crate) fn is_input(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    INPUTS.lock().unwrap_or_else(|e| e.into_inner()).contains(&path)
}

/// What a path leads to, if it is not a regular file.
pub(crate) fn strange(path: &Path, meta: &std::fs::Metadata) -> Option<&'static str> {
    let kind = meta.file_type();
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("a named pipe");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    let _ = path;
    Some("not a regular file")
}

/// A regular file that is not too large, opened.
pub fn open(path: &Path, kind: Kind) -> Result<File, FileError> {
    let failed = |e: std::io::Error| FileError::io("read", path, &e);
    // Before it is opened: opening a pipe waits for somebody to write.
    let meta = std::fs::metadata(path).map_err(failed)?;
    if let Some(what) = strange(path, &meta) {
        return Err(FileError::new("read", path, format!("it is {what}, not a regular file"))
            .help("copy what it holds into a file and give that"));
    }
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    check(path, kind, length)?;
    if kind != Kind::Kept
        && let Ok(path) = path.canonicalize()
    {
        INPUTS.lock().unwrap_or_else(|e| e.into_inner()).insert(path);
    }
    Ok(file)
}

fn check(path: &Path, kind: Kind, length: u64) -> Result<(), FileError> {
    if length <= kind.limit() {
        return Ok(());
    }
    let why = format!("it has {length} bytes, and {} may have {}", kind.name(), size(kind.limit()));
    Err(FileError::new("read", path, why))
}

/// The bytes of an input.
pub fn read(path: &Path, kind: Kind) -> Result<Vec<u8>, FileError> {
    let failed = |e: std::io::Error| FileError::io("read", path, &e);
    let file = open(path, kind)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize).map_err(|_| {
        FileError::new("read", path, format!("there is not enough memory for its {length} bytes"))
    })?;
    // It may grow while it is read.
    file.take(kind.limit() + 1).read_to_end(&mut bytes).map_err(failed)?;
    check(path, kind, bytes.len() as u64)?;
    if kind == Kind::Program && !is_object(&bytes) {
        check(path, Kind::Source, bytes.len() as u64)?;
    }
    Ok(bytes)
}

/// The first bytes of the formats of object files; anything else is text.
fn is_object(bytes: &[u8]) -> bool {
    let magic: [&[u8]; 5] = [b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"HARP", b"GUPY", b"WBTRACE"];
    magic.iter().any(|m| bytes.starts_with(m))
}

/// An input that is text.
pub fn read_text(path: &Path, kind: Kind) -> Result<String, FileError> {
    String::from_utf8(read(path, kind)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        FileError::new("read", path, format!("it is not text: byte {at} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn devices_folders_and_pipes_are_refused_by_name() {
        let dir = tempfile::tempdir().expect("folder");
        let why = |path: &Path| read(path, Kind::Data).expect_err("refused").to_string();
        assert!(why(Path::new("/dev/zero")).ends_with("it is a device, not a regular file"));
        assert!(why(dir.path()).ends_with("it is a folder, not a regular file"));
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let start = Instant::now();
        assert!(why(&pipe).ends_with("it is a named pipe, not a regular file"));
        assert!(start.elapsed().as_secs() < 5, "it waited for a writer");
        assert!(why(&dir.path().join("none")).ends_with("there is no such file or folder"));
    }

    #[test]
    fn every_kind_has_a_limit_that_is_kept() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("large");
        for kind in Kind::ALL {
            // Sparse: it takes no room.
            File::create(&path).and_then(|f| f.set_len(kind.limit() + 1)).expect("sparse file");
            let why = read(&path, kind).expect_err("refused").to_string();
            assert!(why.contains(kind.name()) && why.contains(&size(kind.limit())), "{why}");
        }
        File::create(&path).and_then(|f| f.set_len(Kind::Source.limit() + 1)).expect("sparse file");
        let why = read(&path, Kind::Program).expect_err("text of a program is a source").to_string();
        assert!(why.contains("a source may have 16 MiB"), "{why}");
    }
}
