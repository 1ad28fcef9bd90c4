//! Blocks of a trace file: a few ten thousand events as compressed columns, and the lines that their memory instructions touch
//! if the file has them. A block is read alone; its head says how many events it has and when they happened.

use std::io::{self, Read};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Coder;
use crate::columns::{Columns, STREAMS};
use crate::format::{BLOCK, BlockInfo, Header, Source, TraceError};
use crate::varint::{Input, put, unzigzag, zigzag};
use crate::{Event, Kind, PortKind, Touched};

/// A block is closed when it has so many events, or so many bytes before compression.
const EVENTS: u32 = 64 << 10;
const BYTES: usize = 4 << 20;
/// What a reader accepts.
const MAX_EVENTS: u32 = 256 << 10;
const MAX_BYTES: u64 = 32 << 20;
const MAX_BYTES_1: u32 = 1 << 20;
/// Most lines of one access.
pub(crate) const MAX_LINES: usize = 1 << 16;
/// Columns of events, then accesses and addresses.
const ALL_STREAMS: usize = STREAMS + 2;
/// Bytes of a block's head with its marker.
pub(crate) const HEAD: usize = 45;
/// Higher levels take longer and save a few percent (docs/trace-format.md).
const LEVEL: i32 = 3;

/// The events of a block, and what they touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub events: Vec<Event>,
    /// In the order of the events; empty if the file has no addresses.
    pub touched: Vec<TouchedLines>,
}

/// The lines that a memory instruction touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedLines {
    /// Index in [`Block::events`] of the memory event.
    pub event: u32,
    pub write: bool,
    /// Local memory of its group; then there are no lines.
    pub local: bool,
    /// First byte of each line.
    pub lines: Vec<u64>,
}

/// What stands before the payload of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub bytes: u32,
    pub events: u32,
    /// Of version 2 only.
    pub first_event: u64,
    pub from: u64,
    pub to: u64,
    sum: u64,
}

impl Head {
    fn put(&self) -> Vec<u8> {
        let mut out = vec![BLOCK];
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.events.to_le_bytes());
        for number in [self.first_event, self.from, self.to, self.sum] {
            out.extend(number.to_le_bytes());
        }
        let sum = xxh3_64(&out) as u32;
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads what follows the marker.
    pub fn read<R: Read>(input: &mut Source<R>, version: u8) -> Result<Head, TraceError> {
        const WHAT: &str = "a block header";
        let (bytes, events) = (input.u32(WHAT)?, input.u32(WHAT)?);
        let impossible = if version == 1 {
            // The shortest event has two bytes.
            bytes > MAX_BYTES_1 || u64::from(events) * 2 > u64::from(bytes)
        } else {
            u64::from(bytes) > MAX_BYTES || events > MAX_EVENTS
        };
        if impossible || events == 0 {
            return Err(input.corrupt("impossible block size"));
        }
        if version == 1 {
            return Ok(Head { bytes, events, first_event: 0, from: 0, to: 0, sum: input.u64(WHAT)? });
        }
        let mut rest = [0; 4];
        for number in &mut rest {
            *number = input.u64(WHAT)?;
        }
        let [first_event, from, to, sum] = rest;
        let head = Head { bytes, events, first_event, from, to, sum };
        let check = input.u32(WHAT)?;
        if head.put()[HEAD - 4..] != check.to_le_bytes() || from > to {
            return Err(input.corrupt("block header checksum differs"));
        }
        Ok(head)
    }
}

/// Collects events until there are enough for a block.
pub(crate) struct Builder {
    columns: Columns,
    streams: [Vec<u8>; STREAMS],
    pub info: BlockInfo,
    /// Lines of all accesses, one after the other.
    touched: Vec<(u32, bool, bool, usize)>,
    lines: Vec<u64>,
    zstd: zstd::bulk::Compressor<'static>,
    payload: Vec<u8>,
}

impl Builder {
    pub fn new() -> io::Result<Builder> {
        Ok(Builder {
            columns: Columns::new(),
            streams: Default::default(),
            info: BlockInfo::default(),
            touched: Vec::new(),
            lines: Vec::new(),
            zstd: zstd::bulk::Compressor::new(LEVEL)?,
            payload: Vec::new(),
        })
    }

    /// Adds an event; true when the block is full.
    pub fn push(&mut self, event: &Event) -> bool {
        self.columns.encode(event, &mut self.streams);
        let info = &mut self.info;
        (info.from, info.to) = match info.events {
            0 => (event.cycle, event.cycle),
            _ => (info.from.min(event.cycle), info.to.max(event.cycle)),
        };
        info.events += 1;
        let bytes = || self.streams.iter().map(Vec::len).sum::<usize>() + self.lines.len() * 10;
        info.events >= EVENTS || (info.events.is_multiple_of(1024) && bytes() >= BYTES)
    }

    /// The lines of the memory event that was pushed last.
    pub fn touched(&mut self, write: bool, local: bool, lines: &[u64]) {
        self.touched.push((self.info.events.saturating_sub(1), write, local, lines.len()));
        self.lines.extend(lines);
    }

    /// Head and payload of what was collected, and starts the next block.
    pub fn close(&mut self) -> io::Result<(Vec<u8>, &[u8])> {
        let (accesses, addresses) = put_touched(&self.touched, &self.lines);
        self.payload.clear();
        for stream in self.streams.iter().chain([&accesses, &addresses]) {
            let packed = if stream.len() < 64 { Vec::new() } else { self.zstd.compress(stream)? };
            let stored = if packed.is_empty() || packed.len() >= stream.len() { stream } else { &packed };
            put(&mut self.payload, stream.len() as u64);
            put(&mut self.payload, stored.len() as u64);
            self.payload.extend(stored);
        }
        let BlockInfo { events, first_event, from, to, .. } = self.info;
        let (bytes, sum) = (self.payload.len() as u32, xxh3_64(&self.payload));
        let head = Head { bytes, events, first_event, from, to, sum };
        self.info = BlockInfo { first_event: first_event + u64::from(events), ..BlockInfo::default() };
        self.columns.reset();
        self.streams.iter_mut().for_each(Vec::clear);
        self.touched.clear();
        self.lines.clear();
        Ok((head.put(), &self.payload))
    }
}

/// Accesses: distance to the last one's event with two flags, number of lines. Addresses: the power of two that divides all of
/// them, then differences from line to line, from one access's first line to the next one's.
fn put_touched(touched: &[(u32, bool, bool, usize)], lines: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let (mut accesses, mut addresses) = (Vec::new(), Vec::new());
    let shift = lines.iter().fold(0, |all, line| all | line).trailing_zeros() & 63;
    if !lines.is_empty() {
        addresses.push(shift as u8);
    }
    let (mut last, mut first, mut rest) = (0, 0u64, lines);
    for &(event, write, local, count) in touched {
        put(&mut accesses, u64::from(event - last) << 2 | u64::from(write) << 1 | u64::from(local));
        put(&mut accesses, count as u64);
        last = event;
        let (own, later) = rest.split_at(count.min(rest.len()));
        rest = later;
        let mut before = first;
        for (i, line) in own.iter().map(|l| l >> shift).enumerate() {
            put(&mut addresses, zigzag(line.wrapping_sub(before)));
            before = line;
            if i == 0 {
                first = line;
            }
        }
    }
    (accesses, addresses)
}

fn read_touched(accesses: &[u8], addresses: &[u8], block: &mut Block) -> Result<(), &'static str> {
    let (mut accesses, mut addresses) = (Input(accesses), Input(addresses));
    let shift = if addresses.0.is_empty() { 0 } else { addresses.byte()? };
    if shift > 63 {
        return Err("impossible size of a line");
    }
    let (mut last, mut first) = (0u64, 0u64);
    while !accesses.0.is_empty() {
        let word = accesses.varint()?;
        last = last.saturating_add(word >> 2);
        let event = usize::try_from(last).ok().and_then(|i| block.events.get(i));
        if !matches!(event.map(|e| e.kind), Some(Kind::Memory { .. })) {
            return Err("lines belong to an event that is no memory instruction");
        }
        let count = accesses.u32()? as usize;
        // Each has at least one byte.
        if count > addresses.0.len() {
            return Err("an access has more lines than there are");
        }
        let mut lines = Vec::with_capacity(count);
        let mut before = first;
        for i in 0..count {
            before = before.wrapping_add(unzigzag(addresses.varint()?));
            lines.push(before << shift);
            if i == 0 {
                first = before;
            }
        }
        let (write, local) = (word & 2 != 0, word & 1 != 0);
        block.touched.push(TouchedLines { event: last as u32, write, local, lines });
    }
    if addresses.0.is_empty() { Ok(()) } else { Err("a block holds more lines than its accesses have") }
}

/// Reads blocks of either version.
pub(crate) struct Unpacker {
    version: u8,
    cores: u32,
    slots: u32,
    /// Made when the first block is read: who only looks at the index needs none of their tables.
    coder: Option<Coder>,
    columns: Option<Columns>,
    zstd: zstd::bulk::Decompressor<'static>,
    /// Payload as it is in the file.
    pub payload: Vec<u8>,
    streams: [Vec<u8>; ALL_STREAMS],
}

impl Unpacker {
    pub fn new(header: &Header) -> Result<Unpacker, TraceError> {
        let zstd = zstd::bulk::Decompressor::new().map_err(|source| TraceError::Io { offset: 0, source })?;
        Ok(Unpacker {
            version: header.version,
            cores: header.cores,
            slots: header.slots,
            coder: None,
            columns: None,
            zstd,
            payload: Vec::new(),
            streams: Default::default(),
        })
    }

    /// Reads the payload that follows a head, and fills `out` with its events.
    pub fn read<R: Read>(
        &mut self,
        input: &mut Source<R>,
        head: &Head,
        out: &mut Block,
    ) -> Result<(), TraceError> {
        out.events.clear();
        out.touched.clear();
        let offset = input.offset;
        self.payload.clear();
        input.bytes(&mut self.payload, head.bytes, "a block")?;
        if xxh3_64(&self.payload) != head.sum {
            return Err(TraceError::Corrupt { offset, what: "block checksum differs".into() });
        }
        let result = if self.version == 1 { self.rows(head.events, out) } else { self.unpack(head, out) };
        result.map_err(|what| {
            out.events.clear();
            out.touched.clear();
            TraceError::Corrupt { offset, what: what.into() }
        })
    }

    /// Version 1.
    fn rows(&mut self, events: u32, out: &mut Block) -> Result<(), &'static str> {
        let (cores, slots) = (self.cores, self.slots);
        let coder = self.coder.get_or_insert_with(Coder::new);
        coder.reset();
        let mut input = Input(&self.payload);
        for _ in 0..events {
            out.events.push(placed(coder.decode(&mut input)?, cores, slots)?);
        }
        if input.0.is_empty() { Ok(()) } else { Err("a block holds more than its events") }
    }

    fn unpack(&mut self, head: &Head, out: &mut Block) -> Result<(), &'static str> {
        let mut input = Input(&self.payload);
        let mut room = MAX_BYTES;
        for stream in &mut self.streams {
            let (raw, stored) = (input.varint()?, input.varint()?);
            let stored = usize::try_from(stored).unwrap_or(usize::MAX);
            room = room.checked_sub(raw).ok_or("a block is too large")?;
            if stored > input.0.len() {
                return Err("a column is cut off");
            }
            let (bytes, rest) = input.0.split_at(stored);
            input = Input(rest);
            stream.clear();
            if raw == stored as u64 {
                stream.extend(bytes);
                continue;
            }
            stream.reserve_exact(raw as usize);
            let got = self.zstd.decompress_to_buffer(bytes, stream);
            if got.ok().map(|n| n as u64) != Some(raw) {
                return Err("a column cannot be decompressed");
            }
        }
        if !input.0.is_empty() {
            return Err("a block holds more than its columns");
        }
        if self.streams[0].len() != head.events as usize {
            return Err("a block has other events than its head says");
        }
        self.events(head, out)
    }

    fn events(&mut self, head: &Head, out: &mut Block) -> Result<(), &'static str> {
        let (cores, slots, streams) = (self.cores, self.slots, &self.streams);
        let memory = self.columns.get_or_insert_with(Columns::new);
        memory.reset();
        let mut columns: [Input<'_>; STREAMS] = std::array::from_fn(|i| Input(&streams[i]));
        out.events.reserve(head.events as usize);
        let (mut from, mut to) = (u64::MAX, 0);
        for _ in 0..head.events {
            let event = placed(memory.decode(&mut columns)?, cores, slots)?;
            (from, to) = (from.min(event.cycle), to.max(event.cycle));
            out.events.push(event);
        }
        if columns.iter().any(|c| !c.0.is_empty()) {
            return Err("a block holds more than its events");
        }
        if (from, to) != (head.from, head.to) {
            return Err("a block has other cycles than its head says");
        }
        read_touched(&streams[STREAMS], &streams[STREAMS + 1], out)
    }
}

fn placed(event: Event, cores: u32, slots: u32) -> Result<Event, &'static str> {
    let placed = u32::from(event.core) < cores && u32::from(event.slot) < slots;
    if placed { Ok(event) } else { Err("an event names a core or slot the machine lacks") }
}

/// Whether the lines that were told last are those of this memory instruction.
pub(crate) fn belongs(event: &Event, touched: &Touched) -> bool {
    match event.kind {
        Kind::Memory { port, write, .. } => {
            event.pc == touched.pc && write == touched.write && (port == PortKind::Lds) == touched.local
        }
        _ => false,
    }
}
