//! The store of results: a folder of journals, one for each writer, found by the identity of a result. Anybody may write at any
//! time, anywhere the folder is seen; a line that is torn or damaged is left out, and everything else counts.
//!
//! A journal begins with a line that says what it is. Every other line is a checksum, an identity, and the result as JSON.
//! `NAME.open` is being written; at the end it becomes `NAME.part`.

use crate::error::SweepError;
use crate::identity::{Id, Ids};
use crate::measure::Outcome;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wb_files::{Journal, Kind};
use xxhash_rust::xxh3::xxh3_64;

/// The first line of a journal.
const HEAD: &str = "wavebound-sweep-results 1";
/// A line that is longer is damaged.
const LONGEST: u64 = 1 << 20;
/// A journal that is longer is followed by another one.
const ROLL: u64 = 256 << 20;
/// A journal that grew within this time has a writer.
const ALIVE: Duration = Duration::from_secs(60);

/// A result as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Who measured it, and how long that took: not part of the result.
    pub host: String,
    pub seconds: f64,
}

impl Record {
    /// A number for what was measured, without who measured it.
    fn digest(&self) -> u64 {
        xxh3_64(serde_json::to_string(&self.outcome).unwrap_or_default().as_bytes())
    }

    fn line(&self, id: Id) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let body = format!("{id} {json}");
        format!("{:016x} {body}\n", xxh3_64(body.as_bytes()))
    }
}

/// Takes a line apart; none if it is damaged.
fn parse(line: &[u8]) -> Option<(Id, &str)> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (sum, body) = text.split_once(' ')?;
    let (id, json) = body.split_once(' ')?;
    let right = sum.len() == 16 && u64::from_str_radix(sum, 16).ok()? == xxh3_64(body.as_bytes());
    right.then(|| Some((Id::parse(id)?, json))).flatten()
}

/// Where a result is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    part: u32,
    length: u32,
    offset: u64,
    digest: u64,
    settled: bool,
}

/// A journal and how far it was read.
#[derive(Debug)]
struct Part {
    name: String,
    path: PathBuf,
    read: u64,
    file: Option<File>,
    damaged: u64,
}

/// What is wrong in a store; the rest of it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Lines that are torn or damaged.
    pub lines: u64,
    /// Files that are no journals.
    pub files: u64,
    /// Results that contradict others of the same identity.
    pub contradictions: u64,
}

/// The results that are known.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    wanted: Ids,
    /// By the number of the identity.
    index: Vec<Option<Entry>>,
    parts: Vec<Part>,
    contradictions: u64,
}

impl Store {
    /// Opens a store; a folder that is not there is made. Only results that are `wanted` will be remembered. Nothing is read yet.
    pub fn open(folder: &Path, wanted: Ids) -> Result<Store, SweepError> {
        wb_files::make_folder(&folder.join("parts"))?;
        let index = vec![None; wanted.len()];
        Ok(Store { folder: folder.to_owned(), wanted, index, parts: Vec::new(), contradictions: 0 })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads what was written since the last time.
    pub fn refresh(&mut self) -> Result<(), SweepError> {
        let folder = self.folder.join("parts");
        let mut names: Vec<(String, PathBuf)> = Vec::new();
        let entries = std::fs::read_dir(&folder)
            .map_err(|e| SweepError::Data { path: folder.clone(), why: wb_files::words(&e) })?;
        for path in entries.flatten().map(|e| e.path()) {
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let journal = path.extension().is_some_and(|e| e == "open" || e == "part");
            if journal && !stem.starts_with('.') {
                names.push((stem, path));
            }
        }
        names.sort();
        for (name, path) in names {
            match self.parts.iter().position(|p| p.name == name) {
                Some(at) => self.parts[at].path = path,
                None => self.parts.push(Part { name, path, read: 0, file: None, damaged: 0 }),
            }
        }
        for at in 0..self.parts.len() {
            self.read(at);
        }
        Ok(())
    }

    /// Reads a journal from where it was left. A file that cannot be read is passed over: it may just have got its last name.
    fn read(&mut self, at: usize) {
        let part = &mut self.parts[at];
        let length = std::fs::metadata(&part.path).map_or(0, |m| m.len());
        if length <= part.read {
            return;
        }
        let Ok(mut file) = wb_files::open(&part.path, Kind::Kept) else { return };
        if file.seek(SeekFrom::Start(part.read)).is_err() {
            return;
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let Ok(count) = (&mut reader).take(LONGEST).read_until(b'\n', &mut line) else { return };
            let torn = !line.ends_with(b"\n");
            if count == 0 || (torn && (count as u64) < LONGEST) {
                // Its end, or a line that is being written.
                return;
            }
            let offset = part.read;
            part.read += count as u64;
            if offset == 0 && line == format!("{HEAD}\n").as_bytes() {
                continue;
            }
            let found = parse(&line).filter(|_| offset > 0);
            let Some((id, json)) = found else {
                part.damaged += 1;
                continue;
            };
            let Some(known) = self.wanted.number(id).and_then(|n| self.index.get_mut(n)) else { continue };
            let Ok(record) = serde_json::from_str::<Record>(json) else {
                part.damaged += 1;
                continue;
            };
            let settled = record.outcome.status.settled();
            let (length, digest) = (count as u32, record.digest());
            let entry = Entry { part: at as u32, length, offset, digest, settled };
            match known {
                None => *known = Some(entry),
                Some(old) if settled && !old.settled => *old = entry,
                Some(old) => {
                    // What was measured is the same wherever it was; limits and circumstances may differ.
                    self.contradictions += u64::from(settled && old.settled && old.digest != digest);
                    if !settled && !old.settled {
                        *old = entry;
                    }
                }
            }
        }
    }

    /// Whether there is a result: one that would be the same anywhere, or (`any`) one of circumstances.
    pub fn knows(&self, id: Id, any: bool) -> bool {
        self.entry(id).is_some_and(|e| any || e.settled)
    }

    fn entry(&self, id: Id) -> Option<Entry> {
        self.wanted.number(id).and_then(|n| *self.index.get(n)?)
    }

    /// Reads a result.
    pub fn get(&mut self, id: Id) -> Option<Record> {
        let entry = self.entry(id)?;
        let part = &mut self.parts[entry.part as usize];
        if part.file.is_none() {
            let sealed = part.path.with_extension("part");
            part.file =
                wb_files::open(&part.path, Kind::Kept).or_else(|_| wb_files::open(&sealed, Kind::Kept)).ok();
        }
        let file = part.file.as_mut()?;
        file.seek(SeekFrom::Start(entry.offset)).ok()?;
        let mut line = vec![0; entry.length as usize];
        file.read_exact(&mut line).ok()?;
        let (found, json) = parse(&line)?;
        (found == id).then(|| serde_json::from_str(json).ok()).flatten()
    }

    pub fn damage(&self) -> Damage {
        let strange = |p: &&Part| p.read > 0 && p.damaged > 0 && !begins_well(&p.path);
        let files = self.parts.iter().filter(strange).count() as u64;
        let lines = self.parts.iter().map(|p| p.damaged).sum();
        Damage { lines, files, contradictions: self.contradictions }
    }

    /// Somebody else is writing.
    pub fn busy(&self) -> bool {
        self.parts.iter().any(|p| {
            p.path.extension().is_some_and(|e| e == "open")
                && std::fs::metadata(&p.path)
                    .and_then(|m| m.modified())
                    .is_ok_and(|t| t.elapsed().is_ok_and(|e| e < ALIVE))
        })
    }

    pub fn writer(&self) -> Writer {
        Writer { folder: self.folder.join("parts"), journal: None }
    }
}

fn begins_well(path: &Path) -> bool {
    let Ok(file) = wb_files::open(path, Kind::Kept) else { return true };
    let mut first = Vec::new();
    let _ = BufReader::new(file).take(HEAD.len() as u64).read_to_end(&mut first);
    first == HEAD.as_bytes()
}

/// Writes results. Nothing is made before the first one.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    journal: Option<Journal>,
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name that nobody else takes.
pub(crate) fn unique() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text =
        format!("{} {} {} {:?}", host(), std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed), now);
    format!("{:010x}-{:016x}", now.as_secs(), xxh3_64(text.as_bytes()))
}

/// The name of this computer.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl Writer {
    pub fn add(&mut self, id: Id, record: &Record) -> Result<(), SweepError> {
        let journal = match &mut self.journal {
            Some(journal) => journal,
            none => {
                let mut journal = Journal::create(&self.folder.join(format!("{}.open", unique())))?;
                journal.append(format!("{HEAD}\n").as_bytes())?;
                none.insert(journal)
            }
        };
        journal.append(record.line(id).as_bytes())?;
        if journal.bytes() > ROLL {
            self.seal()?;
        }
        Ok(())
    }

    fn seal(&mut self) -> Result<(), SweepError> {
        if let Some(journal) = self.journal.take() {
            let path = journal.path().with_extension("part");
            journal.seal(&path)?;
        }
        Ok(())
    }

    /// The end: the journal gets its last name.
    pub fn finish(mut self) -> Result<(), SweepError> {
        self.seal()
    }
}
