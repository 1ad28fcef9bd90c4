//! A trace file whose blocks are read in any order: the index says where they are and what they hold. A file without an index
//! was cut; then the heads of its blocks are read one after the other.

use std::io::{Read, Seek, SeekFrom};

use xxhash_rust::xxh3::xxh3_64;

use crate::TraceInfo;
use crate::block::{Block, Head, Unpacker};
use crate::format::{
    BLOCK, BlockInfo, END, ENTRY, INDEX, Source, TRAILER, TraceEnd, TraceError, entries, read_header,
    read_trailer,
};

/// A trace file, block by block.
pub struct TraceFile<R: Read + Seek> {
    input: Source<R>,
    version: u8,
    info: TraceInfo,
    unpacker: Unpacker,
    blocks: Vec<BlockInfo>,
    end: Option<TraceEnd>,
    cut: Option<TraceError>,
}

impl<R: Read + Seek> TraceFile<R> {
    /// Reads header and index. A file that was cut behind its header opens, too: [`TraceFile::cut`] says where.
    pub fn open(input: R) -> Result<Self, TraceError> {
        let mut input = Source { input, offset: 0 };
        let header = read_header(&mut input)?;
        let unpacker = Unpacker::new(&header)?;
        let start = input.offset;
        let length =
            input.input.seek(SeekFrom::End(0)).map_err(|source| TraceError::Io { offset: 0, source })?;
        let version = header.version;
        let mut file = TraceFile {
            input,
            version,
            info: header.info,
            unpacker,
            blocks: Vec::new(),
            end: None,
            cut: None,
        };
        let indexed = if version > 1 { file.indexed(start, length)? } else { None };
        match indexed {
            Some((end, blocks)) => (file.end, file.blocks) = (Some(end), blocks),
            None => file.scan(start, length)?,
        }
        Ok(file)
    }

    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    pub fn blocks(&self) -> &[BlockInfo] {
        &self.blocks
    }

    /// The trailer; none if the file was cut.
    pub fn end(&self) -> Option<TraceEnd> {
        self.end
    }

    /// Why there is no trailer. What [`TraceFile::blocks`] lists can be read all the same.
    pub fn cut(&self) -> Option<&TraceError> {
        self.cut.as_ref()
    }

    /// Replaces `out` by a block's events and what they touched.
    pub fn read_block(&mut self, i: usize, out: &mut Block) -> Result<(), TraceError> {
        out.events.clear();
        out.touched.clear();
        let Some(&block) = self.blocks.get(i) else {
            let what = format!("block {i} was asked for, and there are {}", self.blocks.len());
            return Err(TraceError::Corrupt { offset: self.input.offset, what });
        };
        self.seek(block.offset)?;
        let mut marker = [0];
        self.input.exact(&mut marker, "a block header")?;
        let head = Head::read(&mut self.input, self.version)?;
        let same = (head.events, head.first_event, head.from, head.to)
            == (block.events, block.first_event, block.from, block.to);
        if marker[0] != BLOCK || (self.version > 1 && !same) {
            return Err(self.input.corrupt("the index names a block that is not here"));
        }
        self.unpacker.read(&mut self.input, &head, out)
    }

    fn seek(&mut self, offset: u64) -> Result<(), TraceError> {
        let at = self.input.input.seek(SeekFrom::Start(offset));
        self.input.offset = at.map_err(|source| TraceError::Io { offset, source })?;
        Ok(())
    }

    /// Trailer and blocks if both are there and fit.
    fn indexed(&mut self, start: u64, length: u64) -> Result<Option<(TraceEnd, Vec<BlockInfo>)>, TraceError> {
        let Some(at) = length.checked_sub(TRAILER as u64).filter(|&at| at >= start) else { return Ok(None) };
        self.seek(at)?;
        let mut trailer = [0; TRAILER];
        self.input.exact(&mut trailer, "the trailer")?;
        let Ok((end, index)) = read_trailer(&trailer) else { return Ok(None) };
        // Marker, number, checksum, entries.
        let Some(bytes) = at.checked_sub(index).and_then(|n| n.checked_sub(13)) else { return Ok(None) };
        if index < start || !bytes.is_multiple_of(ENTRY as u64) || bytes > u64::from(u32::MAX) {
            return Ok(None);
        }
        self.seek(index)?;
        let mut marker = [0];
        self.input.exact(&mut marker, "the index")?;
        let (count, sum) = (self.input.u32("the index")?, self.input.u64("the index")?);
        let mut list = Vec::new();
        self.input.bytes(&mut list, bytes as u32, "the index")?;
        let blocks = entries(&list);
        let events: u64 = blocks.iter().map(|b| u64::from(b.events)).sum();
        let ordered = blocks.windows(2).all(|w| w[0].offset < w[1].offset);
        let inside = blocks.iter().all(|b| b.offset >= start && b.offset < index && b.from <= b.to);
        let fits = marker[0] == INDEX && count as usize == blocks.len() && events == end.events;
        Ok((fits && ordered && inside && xxh3_64(&list) == sum).then_some((end, blocks)))
    }

    /// Finds the blocks by their heads, up to the trailer or the cut.
    fn scan(&mut self, start: u64, length: u64) -> Result<(), TraceError> {
        self.seek(start)?;
        loop {
            match self.step(length) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error @ TraceError::Io { .. }) => return Err(error),
                Err(error) => {
                    self.cut = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }

    /// One block of a scan; false after the trailer.
    fn step(&mut self, length: u64) -> Result<bool, TraceError> {
        let offset = self.input.offset;
        let mut marker = [0];
        self.input.exact(&mut marker, "the list of blocks (there is no trailer)")?;
        let first_event = self.blocks.last().map_or(0, |b| b.first_event + u64::from(b.events));
        match marker[0] {
            BLOCK => {}
            END if self.version == 1 => {
                let mut trailer = vec![END];
                trailer.resize(TRAILER - 8, 0);
                self.input.exact(&mut trailer[1..], "the trailer")?;
                let (end, _) = read_trailer(&trailer).map_err(|what| self.input.corrupt(what))?;
                if end.events != first_event {
                    return Err(self.input.corrupt("the trailer counts other events than there are"));
                }
                self.end = Some(end);
                return Ok(false);
            }
            // All blocks are there, but what follows them is not whole.
            INDEX if self.version > 1 => {
                return Err(TraceError::Truncated {
                    offset: length,
                    what: "the index (there is no trailer)",
                });
            }
            _ => return Err(self.input.corrupt("neither a block nor the trailer starts here")),
        }
        let head = Head::read(&mut self.input, self.version)?;
        let mut block = BlockInfo { offset, events: head.events, first_event, from: head.from, to: head.to };
        let next = self.input.offset + u64::from(head.bytes);
        if next > length {
            return Err(TraceError::Truncated { offset: length, what: "a block" });
        }
        if self.version == 1 {
            // Heads of version 1 do not say when their events happened.
            let mut events = Block::default();
            self.unpacker.read(&mut self.input, &head, &mut events)?;
            let cycles = || events.events.iter().map(|e| e.cycle);
            (block.from, block.to) = (cycles().min().unwrap_or(0), cycles().max().unwrap_or(0));
        } else if head.first_event != first_event {
            return Err(self.input.corrupt("a block is missing before this one"));
        } else {
            self.seek(next)?;
        }
        self.blocks.push(block);
        Ok(true)
    }
}
