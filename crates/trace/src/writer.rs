//! Writes a trace file as the run goes. Every block is flushed, so that a process that is killed leaves all but its last few
//! ten thousand events.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::block::{Builder, MAX_LINES, belongs};
use crate::format::{BlockInfo, TraceEnd, header, index, put_entry, trailer};
use serde::{Deserialize, Serialize};

use crate::hash::Packer;
use crate::limit::Limiter;
use crate::{Event, Kind, Observer, Pc, Touched, TraceInfo, TraceLimit};

/// What a trace file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// The lines that memory instructions touch.
    pub memory: bool,
    /// Some cycles and waves only.
    pub limit: Option<TraceLimit>,
}

/// Writes what it observes. Blocks go out whole, so `out` needs no buffer.
pub struct TraceWriter<W: Write> {
    out: W,
    options: TraceOptions,
    /// Hashes events as version 1 stored them.
    packer: Packer,
    builder: Option<Builder>,
    /// Told, but their events are still to come.
    touched: VecDeque<(Pc, bool, bool, Vec<u64>)>,
    limiter: Option<Limiter>,
    chosen: Vec<Event>,
    offset: u64,
    entries: Vec<u8>,
    cycles: Option<u64>,
    error: Option<io::Error>,
}

impl<W: Write> TraceWriter<W> {
    pub fn new(out: W) -> Self {
        TraceWriter::with(out, TraceOptions::default())
    }

    pub fn with(out: W, options: TraceOptions) -> Self {
        let options = TraceOptions { limit: options.limit.filter(TraceLimit::is_limit), ..options };
        TraceWriter {
            out,
            limiter: options.limit.clone().map(Limiter::new),
            chosen: Vec::new(),
            options,
            packer: Packer::new(),
            builder: None,
            touched: VecDeque::new(),
            offset: 0,
            entries: Vec::new(),
            cycles: None,
            error: None,
        }
    }

    /// Writes the rest and the trailer, and tells the first error met since the beginning.
    pub fn finish(self) -> io::Result<TraceEnd> {
        self.finish_into().map(|(end, _)| end)
    }

    /// The same, and gives back what was written to.
    pub fn finish_into(mut self) -> io::Result<(TraceEnd, W)> {
        if self.builder.is_none() {
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
        self.out.write_all(&index(&self.entries))?;
        self.out.write_all(&trailer(&end, self.offset))?;
        self.out.flush()?;
        Ok((end, self.out))
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.error = Some(error);
        }
        self.offset += bytes.len() as u64;
    }

    fn write_block(&mut self) {
        let Some(mut builder) = self.builder.take() else { return };
        if builder.info.events > 0 {
            put_entry(&mut self.entries, &BlockInfo { offset: self.offset, ..builder.info });
            match builder.close() {
                Ok((head, payload)) => {
                    self.write(&head);
                    self.write(payload);
                    if self.error.is_none() {
                        self.error = self.out.flush().err();
                    }
                }
                Err(error) => self.error = Some(error),
            }
        }
        self.builder = Some(builder);
    }

    /// An event of the run, with its lines if they were told.
    fn one(&mut self, event: &Event) {
        let told = match (event.kind, self.touched.front()) {
            (Kind::Memory { .. }, Some((pc, write, local, lines))) => {
                belongs(event, &Touched { pc: *pc, write: *write, local: *local, lines })
            }
            _ => false,
        };
        let touched = if told { self.touched.pop_front() } else { None };
        let Some(limiter) = &mut self.limiter else { return self.store(event, touched) };
        let mut chosen = std::mem::take(&mut self.chosen);
        limiter.choose(event, &mut chosen);
        if let Some((last, before)) = chosen.split_last() {
            before.iter().for_each(|e| self.store(e, None));
            self.store(last, touched);
        }
        chosen.clear();
        self.chosen = chosen;
    }

    fn store(&mut self, event: &Event, touched: Option<(Pc, bool, bool, Vec<u64>)>) {
        if self.packer.push(event) {
            self.packer.close();
        }
        let Some(builder) = &mut self.builder else { return };
        let full = builder.push(event);
        if let Some((_, write, local, lines)) = touched {
            builder.touched(write, local, &lines);
        }
        if full {
            self.write_block();
        }
    }
}

impl<W: Write> Observer for TraceWriter<W> {
    fn begin(&mut self, info: &TraceInfo) {
        if self.builder.is_some() {
            let error = io::Error::other("one trace file holds one run; a second run began");
            self.error.get_or_insert(error);
            return;
        }
        let info =
            TraceInfo { addresses: self.options.memory, limit: self.options.limit.clone(), ..info.clone() };
        match (Builder::new(), header(&info)) {
            (Ok(builder), Ok(head)) => {
                self.builder = Some(builder);
                self.write(&head);
            }
            (Err(error), _) | (_, Err(error)) => self.error = Some(error),
        }
    }

    fn events(&mut self, batch: &[Event]) {
        if self.builder.is_none() && self.error.is_none() {
            self.begin(&TraceInfo::default());
        }
        batch.iter().for_each(|event| self.one(event));
    }

    fn wants_touched(&self) -> bool {
        self.options.memory
    }

    fn touched(&mut self, touched: &Touched) {
        if touched.lines.len() > MAX_LINES {
            let error = io::Error::other("a memory instruction touches more lines than a trace can hold");
            self.error.get_or_insert(error);
            return;
        }
        let lines = touched.lines.to_vec();
        self.touched.push_back((touched.pc, touched.write, touched.local, lines));
    }

    fn end(&mut self, cycles: u64) {
        self.cycles = Some(cycles);
    }
}
