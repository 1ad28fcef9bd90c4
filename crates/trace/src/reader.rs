//! Reads a trace file from front to back, and gives it to observers. Any bytes are answered with events or an error that names
//! the place.

use std::io::Read;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::block::{Block, Head, Unpacker};
use crate::format::{
    BLOCK, BlockInfo, END, ENTRY, INDEX, Source, TRAILER, TraceEnd, TraceError, put_entry, read_header,
    read_trailer,
};
use crate::hash::finish_hash;
use crate::{Event, Observer, TraceInfo};

/// Events per [`TraceReader::next_batch`].
const BATCH: usize = 4096;

/// Reads a trace from front to back.
pub struct TraceReader<R: Read> {
    input: Source<R>,
    version: u8,
    info: TraceInfo,
    unpacker: Unpacker,
    block: Block,
    /// Events of the block that were given out.
    given: usize,
    /// Events of all blocks read.
    events: u64,
    /// Of the payloads of version 1.
    hash: Xxh3,
    /// The index of version 2 as it should be, and where it was.
    entries: Vec<u8>,
    index: Option<u64>,
    end: Option<TraceEnd>,
    failed: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads and checks the header.
    pub fn open(input: R) -> Result<Self, TraceError> {
        let mut input = Source { input, offset: 0 };
        let header = read_header(&mut input)?;
        Ok(TraceReader {
            input,
            version: header.version,
            unpacker: Unpacker::new(&header)?,
            info: header.info,
            block: Block::default(),
            given: 0,
            events: 0,
            hash: Xxh3::new(),
            entries: Vec::new(),
            index: None,
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
        if self.end.is_some() {
            return Ok(false);
        }
        if self.given == self.block.events.len() {
            let result = self.next_block();
            self.failed = result.is_err();
            if !result? {
                return Ok(false);
            }
        }
        let rest = &self.block.events[self.given..];
        let batch = &rest[..rest.len().min(BATCH)];
        out.extend(batch);
        self.given += batch.len();
        Ok(true)
    }

    /// Loads the next block, or reads the trailer and answers false.
    fn next_block(&mut self) -> Result<bool, TraceError> {
        loop {
            let offset = self.input.offset;
            let mut marker = [0];
            self.input.exact(&mut marker, "the list of blocks (there is no trailer)")?;
            match marker[0] {
                BLOCK if self.index.is_none() => return self.load(offset).map(|()| true),
                INDEX if self.version > 1 && self.index.is_none() => {
                    self.check_index()?;
                    self.index = Some(offset);
                }
                END if self.version == 1 || self.index.is_some() => return self.trailer().map(|()| false),
                _ => return Err(self.input.corrupt("neither a block nor the trailer starts here")),
            }
        }
    }

    fn load(&mut self, offset: u64) -> Result<(), TraceError> {
        let head = Head::read(&mut self.input, self.version)?;
        if self.version > 1 && head.first_event != self.events {
            return Err(self.input.corrupt("a block is missing before this one"));
        }
        self.given = 0;
        self.unpacker.read(&mut self.input, &head, &mut self.block)?;
        if self.version == 1 {
            self.hash.update(&self.unpacker.payload);
        } else {
            let Head { events, first_event, from, to, .. } = head;
            put_entry(&mut self.entries, &BlockInfo { offset, events, first_event, from, to });
        }
        self.events += u64::from(head.events);
        Ok(())
    }

    /// Nobody who reads from front to back needs the index, but it must be right.
    fn check_index(&mut self) -> Result<(), TraceError> {
        let count = self.input.u32("the index")?;
        let sum = self.input.u64("the index")?;
        let own = (self.entries.len() / ENTRY) as u64;
        let mut entries = Vec::new();
        if u64::from(count) == own {
            self.input.bytes(&mut entries, self.entries.len() as u32, "the index")?;
        }
        match entries == self.entries && xxh3_64(&entries) == sum {
            true => Ok(()),
            false => Err(self.input.corrupt("the index does not fit the blocks")),
        }
    }

    fn trailer(&mut self) -> Result<(), TraceError> {
        let length = if self.version == 1 { TRAILER - 8 } else { TRAILER };
        let mut trailer = vec![END];
        trailer.resize(length, 0);
        self.input.exact(&mut trailer[1..], "the trailer")?;
        let (end, index) = read_trailer(&trailer).map_err(|what| self.input.corrupt(what))?;
        if end.events != self.events {
            return Err(self.input.corrupt("the trailer counts other events than there are"));
        }
        if self.version == 1 && end.hash != finish_hash(self.hash.clone(), end.events, end.cycles) {
            return Err(self.input.corrupt("the hash of the whole trace differs"));
        }
        if self.index.is_some_and(|at| at != index) {
            return Err(self.input.corrupt("the trailer names another place of the index"));
        }
        if self.input.more()? {
            return Err(self.input.corrupt("there are bytes after the trailer"));
        }
        self.end = Some(end);
        Ok(())
    }
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
                after_last = batch.iter().map(|e| e.cycle.saturating_add(1)).fold(after_last, u64::max);
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
