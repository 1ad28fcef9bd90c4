//! Writing: into a file of another name beside the target, which takes its place at the end. Who reads the target sees the
//! old contents or the new ones, whatever happens: a full disk, an error, a second writer, the end of the process.

use crate::error::FileError;
use crate::read::{is_input, strange};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written. Without [`Output::finish`] nothing is left of it.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    to: To,
}

#[derive(Debug)]
enum To {
    /// Beside the target.
    New(BufWriter<NamedTempFile>),
    /// Straight into something that is not a regular file: /dev/null, /dev/stdout, a pipe.
    Direct(BufWriter<File>),
}

impl Output {
    pub fn create(path: &Path) -> Result<Output, FileError> {
        let failed = |e: &io::Error| FileError::io("write", path, e);
        if is_input(path) {
            return Err(FileError::new("write", path, "it is an input of this run")
                .help("give the output another name"));
        }
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(FileError::new("write", path, "it is a folder")),
            Ok(meta) if strange(path, &meta).is_some() => {
                let file = File::options().write(true).open(path).map_err(|e| failed(&e))?;
                return Ok(Output { path: path.to_owned(), to: To::Direct(BufWriter::new(file)) });
            }
            _ => {}
        }
        let target = target(path);
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        let suffix = target.extension().map_or(".part".into(), |e| format!(".{}", e.to_string_lossy()));
        builder.prefix(".wavebound-").suffix(&suffix);
        let existing = std::fs::metadata(&target).ok().map(|m| m.permissions());
        if existing.as_ref().is_some_and(std::fs::Permissions::readonly) {
            return Err(FileError::new("write", path, "it may not be changed (it is read-only)"));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(existing.unwrap_or_else(|| std::fs::Permissions::from_mode(0o666)));
        }
        let file = builder.tempfile_in(folder).map_err(|e| {
            let e = e.into_inner_io();
            match e.kind() {
                io::ErrorKind::NotFound => {
                    FileError::new("write", path, format!("there is no folder {}", folder.display()))
                }
                _ => failed(&e),
            }
        })?;
        Ok(Output { path: target, to: To::New(BufWriter::new(file)) })
    }

    /// A file that grows under its own name: what was written is there, whatever becomes of the process. For traces, whose
    /// readers take a file that was cut. It is a new file: a reader of the old one keeps that, and of two writers the later
    /// one's stays, whole.
    pub fn in_place(path: &Path) -> Result<Output, FileError> {
        check_output(path)?;
        if std::fs::metadata(path).is_ok_and(|meta| strange(path, &meta).is_some()) {
            return Output::create(path);
        }
        let target = target(path);
        let failed = |e: &io::Error| FileError::io("write", path, e);
        let existing = std::fs::metadata(&target).ok().map(|m| m.permissions());
        loop {
            match std::fs::remove_file(&target) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(&e)),
                _ => {}
            }
            match File::options().write(true).create_new(true).open(&target) {
                Ok(file) => {
                    if let Some(permissions) = existing {
                        file.set_permissions(permissions).map_err(|e| failed(&e))?;
                    }
                    return Ok(Output { path: target, to: To::Direct(BufWriter::new(file)) });
                }
                // Another writer was quicker: then ours is the later one.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed(&e)),
            }
        }
    }

    /// Another place for it.
    pub fn rename(&mut self, path: &Path) -> Result<(), FileError> {
        check_output(path)?;
        self.path = target(path);
        Ok(())
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), FileError> {
        let failed = |e: &io::Error| FileError::io("write", &self.path, e);
        match self.to {
            To::Direct(mut file) => file.flush().map_err(|e| failed(&e)),
            To::New(file) => {
                let file = file.into_inner().map_err(|e| failed(e.error()))?;
                file.persist(&self.path).map(drop).map_err(|e| failed(&e.error))
            }
        }
    }

    /// The error of a write in words, with the name of the file.
    pub fn failed(&self, e: &io::Error) -> FileError {
        FileError::io("write", &self.path, e)
    }
}

/// Inner errors of `tempfile` carry the path a second time.
trait InnerIo {
    fn into_inner_io(self) -> io::Error;
}

impl InnerIo for io::Error {
    fn into_inner_io(self) -> io::Error {
        let kind = self.kind();
        match self.raw_os_error() {
            Some(_) => self,
            None => io::Error::from(kind),
        }
    }
}

/// Links are followed: the file behind them is replaced, not the link.
fn target(path: &Path) -> PathBuf {
    let link = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_symlink());
    if link { path.canonicalize().unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::New(file) => file.write(bytes),
            To::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::New(file) => file.flush(),
            To::Direct(file) => file.flush(),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.to {
            To::New(file) => file.seek(to),
            To::Direct(file) => file.seek(to),
        }
    }
}

/// Writes a file whole.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
    let mut output = Output::create(path)?;
    output.write_all(bytes.as_ref()).map_err(|e| output.failed(&e))?;
    output.finish()
}

/// Writes a file by its name: `make` gets another one beside it, of the same extension, to fill.
pub fn write_by<E: From<FileError>>(path: &Path, make: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    let output = Output::create(path)?;
    match output.to {
        To::Direct(_) => make(path),
        To::New(ref file) => {
            make(file.get_ref().path())?;
            Ok(output.finish()?)
        }
    }
}

/// Whether the file could be written now: before a run, so that its result is not lost.
pub fn check_output(path: &Path) -> Result<(), FileError> {
    Output::create(path).map(drop)
}

/// The same for all outputs of a command, which must be different files.
pub fn check_outputs<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), FileError> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in paths {
        check_output(path)?;
        let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
        let whole = target(path);
        if seen.contains(&whole) && !special {
            return Err(FileError::new("write", path, "two outputs of this command have this name"));
        }
        seen.push(whole);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read};

    #[test]
    fn an_output_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("out");
        let mut first = Output::create(&path).expect("output");
        let mut second = Output::create(&path).expect("output");
        first.write_all(b"one").expect("write");
        second.write_all(b"second").expect("write");
        assert!(!path.exists());
        first.finish().expect("finish");
        assert_eq!(std::fs::read(&path).expect("read"), b"one");
        drop(second);
        assert_eq!(std::fs::read(&path).expect("read"), b"one");
        assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 1, "nothing else is left");
    }

    #[test]
    fn an_output_in_place_is_there_at_once() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("out");
        let mut out = Output::in_place(&path).expect("output");
        out.write_all(b"so far").and_then(|()| out.flush()).expect("write");
        assert_eq!(std::fs::read(&path).expect("read"), b"so far");
        // A second writer has a file of its own; the later one stays.
        let mut second = Output::in_place(&path).expect("output");
        second.write_all(b"second").expect("write");
        out.write_all(b" and more").expect("write");
        second.finish().expect("finish");
        out.finish().expect("finish");
        assert_eq!(std::fs::read(&path).expect("read"), b"second");
        read(&path, Kind::Data).expect("read");
        assert!(Output::in_place(&path).is_err(), "an input is not replaced");
        assert_eq!(std::fs::read(&path).expect("read"), b"second");
    }

    #[test]
    fn inputs_are_not_replaced() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("in");
        write(&path, b"data").expect("written");
        write(&path, b"more").expect("outputs may be written again");
        read(&path, Kind::Data).expect("read");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("link");
        for name in [&path, &link] {
            let why = write(name, b"new").expect_err("refused").to_string();
            assert!(why.ends_with("it is an input of this run"), "{why}");
        }
        assert_eq!(std::fs::read(&path).expect("read"), b"more");
    }

    #[test]
    fn places_that_cannot_be_written_are_named() {
        let dir = tempfile::tempdir().expect("folder");
        let why = |path: &Path| write(path, b"new").expect_err("refused").to_string();
        assert!(why(dir.path()).ends_with("it is a folder"));
        let missing = dir.path().join("none").join("out");
        assert!(why(&missing).contains("there is no folder"), "{}", why(&missing));
        assert!(why(Path::new("/dev/full")).ends_with("the disk is full"));
        write(Path::new("/dev/null"), b"gone").expect("devices are written straight");
        let twice = [dir.path().join("a"), dir.path().join("a")];
        assert!(check_outputs(twice.iter().map(PathBuf::as_path)).is_err());
    }
}
