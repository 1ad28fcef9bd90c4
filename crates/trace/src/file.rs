//! Trace files: a header, checksummed blocks of events, a trailer. Layout in docs/trace-format.md.
//! The reader streams, and answers any bytes with events or an error that names the place.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::codec::{Coder, Input};
use crate::hash::{Packer, finish_hash};
use crate::{Event, Observer, TraceInfo};

const MAGIC: &[u8; 7] = b"WBTRACE";
const VERSION: u8 = 1;
const BLOCK: u8 = b'B';
const END: u8 = b'E';
const MAX_HEADER: u32 = 64 << 20;
const MAX_BLOCK: u32 = 1 << 20;
const MAX_SLOTS: u64 = 1 << 22;
/// Events per [`TraceReader::next_batch`].
const BATCH: usize = 4096;

/// What stands at the end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEnd {
    pub events: u64,
    pub cycles: u64,
    /// Same value as [`crate::HashObserver::hash`] of the run.
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
        "trace format version {found} is not known here (this program reads {VERSION}); run the program again to make a new trace"
    )]
    Version { found: u8 },
    #[error(
        "the trace ends at offset {offset} in the middle of {what}; the run that wrote it was interrupted or the file was cut: run it again"
    )]
    Truncated { offset: u64, what: &'static str },
    #[error("the trace is damaged at offset {offset}: {what}; run the program again to make a new trace")]
    Corrupt { offset: u64, what: String },
}

/// Writes what it observes. Blocks go out in pieces of about 64 KiB, so `out` needs no buffer.
pub struct TraceWriter<W: Write> {
    out: W,
    packer: Packer,
    begun: bool,
    cycles: Option<u64>,
    error: Option<io::Error>,
}

impl<W: Write> TraceWriter<W> {
    pub fn new(out: W) -> Self {
        TraceWriter { out, packer: Packer::new(), begun: false, cycles: None, error: None }
    }

    /// Writes the rest and the trailer, and tells the first error met since the beginning.
    pub fn finish(self) -> io::Result<TraceEnd> {
        self.finish_into().map(|(end, _)| end)
    }

    /// The same, and gives back what was written to.
    pub fn finish_into(mut self) -> io::Result<(TraceEnd, W)> {
        if !self.begun {
            self.begin(&TraceInfo::default());
        }
        self.write_block();
        if let Some(error) = self.error {
            return Err(error);
        }
        let cycles = self.packer.cycles(self.cycles);
        let end = TraceEnd {
            events: self.packer.events,
            cycles,
            hash: self.packer.digest(cycles),
            complete: self.cycles.is_some(),
        };
        let mut trailer = vec![END, u8::from(end.complete)];
        for number in [end.events, end.cycles, end.hash] {
            trailer.extend(number.to_le_bytes());
        }
        trailer.extend(xxh3_64(&trailer).to_le_bytes());
        self.out.write_all(&trailer)?;
        self.out.flush()?;
        Ok((end, self.out))
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.error = Some(error);
        }
    }

    fn write_block(&mut self) {
        if self.packer.in_block == 0 {
            return;
        }
        let block = std::mem::take(&mut self.packer.block);
        let mut head = vec![BLOCK];
        head.extend((block.len() as u32).to_le_bytes());
        head.extend(self.packer.in_block.to_le_bytes());
        head.extend(xxh3_64(&block).to_le_bytes());
        self.write(&head);
        self.write(&block);
        self.packer.block = block;
        self.packer.close();
    }
}

impl<W: Write> Observer for TraceWriter<W> {
    fn begin(&mut self, info: &TraceInfo) {
        if self.begun {
            let error = io::Error::other("one trace file holds one run; a second run began");
            self.error.get_or_insert(error);
            return;
        }
        self.begun = true;
        match serde_json::to_vec(info) {
            Ok(json) if json.len() <= MAX_HEADER as usize => {
                let mut head = MAGIC.to_vec();
                head.push(VERSION);
                head.extend((json.len() as u32).to_le_bytes());
                head.extend(xxh3_64(&json).to_le_bytes());
                head.extend(json);
                self.write(&head);
            }
            Ok(_) => self.error = Some(io::Error::other("the program listing does not fit a trace header")),
            Err(error) => self.error = Some(error.into()),
        }
    }

    fn events(&mut self, batch: &[Event]) {
        if !self.begun {
            self.begin(&TraceInfo::default());
        }
        for event in batch {
            if self.packer.push(event) {
                self.write_block();
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.cycles = Some(cycles);
    }
}

/// Reads a trace from front to back.
pub struct TraceReader<R: Read> {
    input: Source<R>,
    info: TraceInfo,
    cores: u32,
    slots: u32,
    coder: Coder,
    block: Vec<u8>,
    at: usize,
    left: u32,
    block_offset: u64,
    events: u64,
    hash: Xxh3,
    end: Option<TraceEnd>,
    failed: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads and checks the header.
    pub fn open(input: R) -> Result<Self, TraceError> {
        let mut input = Source { input, offset: 0 };
        let mut magic = [0; 8];
        match input.exact(&mut magic, "the first bytes") {
            Err(TraceError::Truncated { .. }) => return Err(TraceError::NotATrace),
            other => other?,
        }
        if &magic[..7] != MAGIC {
            return Err(TraceError::NotATrace);
        }
        if magic[7] != VERSION {
            return Err(TraceError::Version { found: magic[7] });
        }
        let length = input.u32("the header length")?;
        if length > MAX_HEADER {
            return Err(input.corrupt("the header claims to be larger than 64 MiB"));
        }
        let sum = input.u64("the header checksum")?;
        let start = input.offset;
        let mut json = Vec::new();
        input.bytes(&mut json, length, "the header")?;
        if xxh3_64(&json) != sum {
            return Err(TraceError::Corrupt { offset: start, what: "header checksum differs".into() });
        }
        let info: TraceInfo = serde_json::from_slice(&json)
            .map_err(|e| TraceError::Corrupt { offset: start, what: format!("header is not valid: {e}") })?;
        check_info(&info).map_err(|what| TraceError::Corrupt { offset: start, what: what.into() })?;
        // A header without numbers (a hand-made stream) gets generous ones.
        let cores = if info.cores == 0 { 1024 } else { info.cores };
        let slots = if info.slots == 0 { 4096 } else { info.slots };
        Ok(TraceReader {
            input,
            info,
            cores,
            slots,
            coder: Coder::new(),
            block: Vec::new(),
            at: 0,
            left: 0,
            block_offset: 0,
            events: 0,
            hash: Xxh3::new(),
            end: None,
            failed: false,
        })
    }

    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// The trailer, once [`TraceReader::next_batch`] has answered false.
    pub fn end(&self) -> Option<TraceEnd> {
        self.end
    }

    /// Replaces `out` by the next few thousand events; false when the trace is over and was whole.
    pub fn next_batch(&mut self, out: &mut Vec<Event>) -> Result<bool, TraceError> {
        out.clear();
        if self.failed {
            return Err(self.input.corrupt("reading went on after an error"));
        }
        let result = self.batch(out);
        self.failed = result.is_err();
        result
    }

    fn batch(&mut self, out: &mut Vec<Event>) -> Result<bool, TraceError> {
        if self.end.is_some() {
            return Ok(false);
        }
        if self.left == 0 && !self.next_block()? {
            return Ok(false);
        }
        while self.left > 0 && out.len() < BATCH {
            let mut input = Input(&self.block[self.at..]);
            let decoded = self.coder.decode(&mut input).and_then(|event| {
                let placed = u32::from(event.core) < self.cores && u32::from(event.slot) < self.slots;
                if placed { Ok(event) } else { Err("an event names a core or slot the machine lacks") }
            });
            let rest = input.0.len();
            match decoded {
                Ok(event) => out.push(event),
                Err(what) => {
                    let offset = self.block_offset + self.at as u64;
                    return Err(TraceError::Corrupt { offset, what: what.into() });
                }
            }
            self.at = self.block.len() - rest;
            self.left -= 1;
            self.events += 1;
        }
        if self.left == 0 && self.at != self.block.len() {
            let offset = self.block_offset + self.at as u64;
            return Err(TraceError::Corrupt { offset, what: "a block holds more than its events".into() });
        }
        Ok(true)
    }

    /// Loads the next block, or reads the trailer and answers false.
    fn next_block(&mut self) -> Result<bool, TraceError> {
        let mut marker = [0];
        self.input.exact(&mut marker, "the list of blocks (there is no trailer)")?;
        match marker[0] {
            BLOCK => {}
            END => return self.trailer().map(|()| false),
            _ => return Err(self.input.corrupt("neither a block nor the trailer starts here")),
        }
        let length = self.input.u32("a block header")?;
        let events = self.input.u32("a block header")?;
        let sum = self.input.u64("a block header")?;
        // The shortest event has two bytes.
        if length > MAX_BLOCK || events == 0 || u64::from(events) * 2 > u64::from(length) {
            return Err(self.input.corrupt("impossible block size"));
        }
        self.block_offset = self.input.offset;
        self.block.clear();
        self.input.bytes(&mut self.block, length, "a block")?;
        if xxh3_64(&self.block) != sum {
            let offset = self.block_offset;
            return Err(TraceError::Corrupt { offset, what: "block checksum differs".into() });
        }
        self.hash.update(&self.block);
        self.coder.reset();
        (self.at, self.left) = (0, events);
        Ok(true)
    }

    fn trailer(&mut self) -> Result<(), TraceError> {
        let mut rest = [0; 33];
        self.input.exact(&mut rest, "the trailer")?;
        let mut trailer = vec![END];
        trailer.extend(rest);
        let number = |i: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&trailer[i..i + 8]);
            u64::from_le_bytes(bytes)
        };
        let end =
            TraceEnd { complete: trailer[1] == 1, events: number(2), cycles: number(10), hash: number(18) };
        if number(26) != xxh3_64(&trailer[..26]) || trailer[1] > 1 {
            return Err(self.input.corrupt("trailer checksum differs"));
        }
        if end.events != self.events {
            return Err(self.input.corrupt("the trailer counts other events than there are"));
        }
        if end.hash != finish_hash(self.hash.clone(), end.events, end.cycles) {
            return Err(self.input.corrupt("the hash of the whole trace differs"));
        }
        if self.input.more()? {
            return Err(self.input.corrupt("there are bytes after the trailer"));
        }
        self.end = Some(end);
        Ok(())
    }
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

/// Gives a whole trace to observers as if the run happened now.
pub fn replay<R: Read>(
    mut reader: TraceReader<R>,
    observers: &mut [&mut dyn Observer],
) -> Result<TraceEnd, TraceError> {
    for observer in observers.iter_mut() {
        observer.begin(reader.info());
    }
    let mut batch = Vec::new();
    while reader.next_batch(&mut batch)? {
        for observer in observers.iter_mut() {
            observer.events(&batch);
        }
    }
    let end = reader.end().ok_or_else(|| reader.input.corrupt("there is no trailer"))?;
    if end.complete {
        for observer in observers.iter_mut() {
            observer.end(end.cycles);
        }
    }
    Ok(end)
}

/// How far a trace could be given to observers.
#[derive(Debug)]
pub struct Replayed {
    pub events: u64,
    /// Up to the last event, or as the trailer says.
    pub cycles: u64,
    /// The run ended by itself.
    pub complete: bool,
    /// Why there is no more: the program that wrote it was killed, or the file was cut.
    pub cut: Option<TraceError>,
}

/// Like [`replay`], but a trace that was cut is given up to the cut, as that of a run that did not end.
pub fn replay_to_the_cut<R: Read>(
    mut reader: TraceReader<R>,
    observers: &mut [&mut dyn Observer],
) -> Result<Replayed, TraceError> {
    for observer in observers.iter_mut() {
        observer.begin(reader.info());
    }
    let mut batch = Vec::new();
    let mut after_last = 0;
    let cut = loop {
        match reader.next_batch(&mut batch) {
            Ok(false) => break None,
            Ok(true) => {
                after_last = batch.iter().map(|e| e.cycle + 1).fold(after_last, u64::max);
                observers.iter_mut().for_each(|o| o.events(&batch));
            }
            Err(cut @ TraceError::Truncated { .. }) => break Some(cut),
            Err(error) => return Err(error),
        }
    };
    let end = reader.end();
    let complete = end.is_some_and(|e| e.complete);
    let cycles = end.map_or(after_last, |e| e.cycles);
    if complete {
        observers.iter_mut().for_each(|o| o.end(cycles));
    }
    Ok(Replayed { events: reader.events, cycles, complete, cut })
}

/// An input that knows how far it is.
struct Source<R> {
    input: R,
    offset: u64,
}

impl<R: Read> Source<R> {
    fn corrupt(&self, what: &str) -> TraceError {
        TraceError::Corrupt { offset: self.offset, what: what.into() }
    }

    /// Appends `length` bytes; memory grows only with what is really there.
    fn bytes(&mut self, out: &mut Vec<u8>, length: u32, what: &'static str) -> Result<(), TraceError> {
        let got = (&mut self.input).take(length.into()).read_to_end(out);
        let got = got.map_err(|source| TraceError::Io { offset: self.offset, source })?;
        self.offset += got as u64;
        if got < length as usize {
            return Err(TraceError::Truncated { offset: self.offset, what });
        }
        Ok(())
    }

    fn exact(&mut self, out: &mut [u8], what: &'static str) -> Result<(), TraceError> {
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

    fn more(&mut self) -> Result<bool, TraceError> {
        match self.exact(&mut [0], "nothing") {
            Ok(()) => Ok(true),
            Err(TraceError::Truncated { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, TraceError> {
        let mut bytes = [0; 4];
        self.exact(&mut bytes, what)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, TraceError> {
        let mut bytes = [0; 8];
        self.exact(&mut bytes, what)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
