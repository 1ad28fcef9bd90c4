//! Why a file was not read or written, in words.

use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file was not read or written.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("cannot {verb} {}: {why}", path.display())]
pub struct FileError {
    verb: &'static str,
    pub path: PathBuf,
    pub why: String,
    #[help]
    pub help: Option<String>,
}

impl FileError {
    pub(crate) fn new(verb: &'static str, path: &Path, why: impl Into<String>) -> FileError {
        FileError { verb, path: path.to_owned(), why: why.into(), help: None }
    }

    pub(crate) fn io(verb: &'static str, path: &Path, e: &std::io::Error) -> FileError {
        FileError::new(verb, path, words(e))
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> FileError {
        self.help = Some(help.into());
        self
    }
}

/// An error of the system in words, without its number.
pub fn words(e: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match e.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::PermissionDenied => "permission is denied".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        ErrorKind::QuotaExceeded => "the quota of the disk is used up".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system can only be read".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::NotADirectory => "part of the path is not a folder".into(),
        ErrorKind::InvalidFilename => "the name is too long or not allowed".into(),
        ErrorKind::OutOfMemory => "there is not enough memory".into(),
        _ => {
            let text = e.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_owned()
        }
    }
}

/// A number of bytes as people say it.
pub fn size(bytes: u64) -> String {
    match bytes {
        n if n >= 1 << 30 && n % (1 << 30) == 0 => format!("{} GiB", n >> 30),
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n => format!("{n} bytes"),
    }
}
