//! What a trace file is made of beside its blocks: header, index, trailer, and what can be wrong with them. Layout in
//! docs/trace-format.md.

use std::io::{self, Read};

use xxhash_rust::xxh3::xxh3_64;

use crate::TraceInfo;

pub(crate) const MAGIC: &[u8; 7] = b"WBTRACE";
/// The version that is written; version 1 is read, too.
pub(crate) const VERSION: u8 = 2;
pub(crate) const BLOCK: u8 = b'B';
pub(crate) const INDEX: u8 = b'I';
pub(crate) const END: u8 = b'E';
pub(crate) const MAX_HEADER: u32 = 64 << 20;
const MAX_SLOTS: u64 = 1 << 22;
/// Bytes of a trailer of version 2.
pub(crate) const TRAILER: usize = 42;
/// Bytes of an entry of the index.
pub(crate) const ENTRY: usize = 28;

/// What stands at the end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEnd {
    pub events: u64,
    pub cycles: u64,
    /// Same value as [`crate::HashObserver::hash`] of the events in the file.
    pub hash: u64,
    /// False when the run stopped with an error; `cycles` then reaches to its last event.
    pub complete: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("cannot read the trace at offset {offset}: {source}")]
    Io { offset: u64, source: io::Error },
    #[error(
        "this is not a Wavebound trace (it does not start with WBTRACE); give a file made by a traced run"
    )]
    NotATrace,
    #[error(
        "trace format version {found} is not known here (this program reads 1 and {VERSION}); run the program again to make a new trace"
    )]
    Version { found: u8 },
    #[error(
        "the trace ends at offset {offset} in the middle of {what}; the run that wrote it was interrupted or the file was cut: run it again"
    )]
    Truncated { offset: u64, what: &'static str },
    #[error("the trace is damaged at offset {offset}: {what}; run the program again to make a new trace")]
    Corrupt { offset: u64, what: String },
}

/// A block of a trace file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockInfo {
    /// Where it starts in the file.
    pub offset: u64,
    pub events: u32,
    /// Number of events before it.
    pub first_event: u64,
    /// Least cycle of its events.
    pub from: u64,
    /// Greatest cycle of its events.
    pub to: u64,
}

/// What was read of a header.
pub(crate) struct Header {
    pub version: u8,
    pub info: TraceInfo,
    /// Cores and slots that events may name.
    pub cores: u32,
    pub slots: u32,
}

/// The header of a new file.
pub(crate) fn header(info: &TraceInfo) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(info)?;
    if json.len() > MAX_HEADER as usize {
        return Err(io::Error::other("the program listing does not fit a trace header"));
    }
    let stored = zstd::bulk::compress(&json, 3)?;
    let mut head = MAGIC.to_vec();
    head.push(VERSION);
    head.extend((stored.len() as u32).to_le_bytes());
    head.extend((json.len() as u32).to_le_bytes());
    head.extend(xxh3_64(&stored).to_le_bytes());
    head.extend(stored);
    Ok(head)
}

/// Reads and checks a header of either version.
pub(crate) fn read_header<R: Read>(input: &mut Source<R>) -> Result<Header, TraceError> {
    let mut magic = [0; 8];
    match input.exact(&mut magic, "the first bytes") {
        Err(TraceError::Truncated { .. }) => return Err(TraceError::NotATrace),
        other => other?,
    }
    if &magic[..7] != MAGIC {
        return Err(TraceError::NotATrace);
    }
    let version = magic[7];
    if version == 0 || version > VERSION {
        return Err(TraceError::Version { found: version });
    }
    let length = input.u32("the header length")?;
    let raw = if version == 1 { length } else { input.u32("the header length")? };
    if length > MAX_HEADER || raw > MAX_HEADER {
        return Err(input.corrupt("the header claims to be larger than 64 MiB"));
    }
    let sum = input.u64("the header checksum")?;
    let start = input.offset;
    let corrupt = |what: String| TraceError::Corrupt { offset: start, what };
    let mut json = Vec::new();
    input.bytes(&mut json, length, "the header")?;
    if xxh3_64(&json) != sum {
        return Err(corrupt("header checksum differs".into()));
    }
    if version > 1 {
        json = zstd::bulk::decompress(&json, raw as usize)
            .ok()
            .filter(|json| json.len() == raw as usize)
            .ok_or_else(|| corrupt("the header cannot be decompressed".into()))?;
    }
    let info: TraceInfo =
        serde_json::from_slice(&json).map_err(|e| corrupt(format!("header is not valid: {e}")))?;
    check_info(&info).map_err(|what| corrupt(what.into()))?;
    // A header without numbers (a hand-made stream) gets generous ones.
    let cores = if info.cores == 0 { 1024 } else { info.cores };
    let slots = if info.slots == 0 { 4096 } else { info.slots };
    // An untimed run numbers the slots of all cores together.
    let slots = if info.timed { slots } else { slots.saturating_mul(cores) };
    Ok(Header { version, info, cores, slots })
}

/// Numbers that observers size their tables by must be sensible.
fn check_info(info: &TraceInfo) -> Result<(), &'static str> {
    if info.lanes > 64 {
        return Err("the header claims more than 64 lanes");
    }
    if info.cores > 1 << 16 || info.slots > 1 << 16 {
        return Err("the header claims more than 65536 cores or slots");
    }
    if u64::from(info.cores) * u64::from(info.slots) > MAX_SLOTS {
        return Err("the header claims an impossible number of slots");
    }
    if info.units.len() > 255 || info.units.iter().any(|u| u.instances > 256) {
        return Err("the header claims an impossible number of units");
    }
    Ok(())
}

/// The trailer of a new file.
pub(crate) fn trailer(end: &TraceEnd, index: u64) -> Vec<u8> {
    let mut out = vec![END, u8::from(end.complete)];
    for number in [end.events, end.cycles, end.hash, index] {
        out.extend(number.to_le_bytes());
    }
    out.extend(xxh3_64(&out).to_le_bytes());
    out
}

/// A trailer with its marker, and where it says the index is (0 in version 1, whose trailers are 8 bytes shorter).
pub(crate) fn read_trailer(bytes: &[u8]) -> Result<(TraceEnd, u64), &'static str> {
    let number =
        |i: usize| bytes.get(i..i + 8).map_or(0, |b| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)));
    let body = bytes.len().saturating_sub(8);
    if bytes.first() != Some(&END) || bytes[1] > 1 || number(body) != xxh3_64(&bytes[..body]) {
        return Err("trailer checksum differs");
    }
    let end = TraceEnd { complete: bytes[1] == 1, events: number(2), cycles: number(10), hash: number(18) };
    Ok((end, if body > 26 { number(26) } else { 0 }))
}

/// An entry of the index.
pub(crate) fn put_entry(out: &mut Vec<u8>, block: &BlockInfo) {
    out.extend(block.offset.to_le_bytes());
    out.extend(block.events.to_le_bytes());
    out.extend(block.from.to_le_bytes());
    out.extend(block.to.to_le_bytes());
}

/// The index: marker, number of entries, their checksum, entries.
pub(crate) fn index(entries: &[u8]) -> Vec<u8> {
    let mut out = vec![INDEX];
    out.extend(((entries.len() / ENTRY) as u32).to_le_bytes());
    out.extend(xxh3_64(entries).to_le_bytes());
    out.extend(entries);
    out
}

/// Blocks from the entries of an index.
pub(crate) fn entries(bytes: &[u8]) -> Vec<BlockInfo> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
    let mut first_event = 0;
    let block = |entry: &[u8]| {
        let events = number(&entry[8..12]) as u32;
        let (from, to) = (number(&entry[12..20]), number(&entry[20..28]));
        let block = BlockInfo { offset: number(&entry[..8]), events, first_event, from, to };
        first_event += u64::from(events);
        block
    };
    bytes.chunks_exact(ENTRY).map(block).collect()
}

/// An input that knows how far it is.
pub(crate) struct Source<R> {
    pub input: R,
    pub offset: u64,
}

impl<R: Read> Source<R> {
    pub fn corrupt(&self, what: &str) -> TraceError {
        TraceError::Corrupt { offset: self.offset, what: what.into() }
    }

    /// Appends `length` bytes; memory grows only with what is really there.
    pub fn bytes(&mut self, out: &mut Vec<u8>, length: u32, what: &'static str) -> Result<(), TraceError> {
        let got = (&mut self.input).take(length.into()).read_to_end(out);
        let got = got.map_err(|source| TraceError::Io { offset: self.offset, source })?;
        self.offset += got as u64;
        if got < length as usize {
            return Err(TraceError::Truncated { offset: self.offset, what });
        }
        Ok(())
    }

    pub fn exact(&mut self, out: &mut [u8], what: &'static str) -> Result<(), TraceError> {
        let mut got = 0;
        while got < out.len() {
            match self.input.read(&mut out[got..]) {
                Ok(0) => return Err(TraceError::Truncated { offset: self.offset, what }),
                Ok(n) => {
                    got += n;
                    self.offset += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(TraceError::Io { offset: self.offset, source }),
            }
        }
        Ok(())
    }

    pub fn more(&mut self) -> Result<bool, TraceError> {
        match self.exact(&mut [0], "nothing") {
            Ok(()) => Ok(true),
            Err(TraceError::Truncated { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub fn u32(&mut self, what: &'static str) -> Result<u32, TraceError> {
        let mut bytes = [0; 4];
        self.exact(&mut bytes, what)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn u64(&mut self, what: &'static str) -> Result<u64, TraceError> {
        let mut bytes = [0; 8];
        self.exact(&mut bytes, what)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
