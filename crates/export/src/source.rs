//! The events of a trace that are wanted, block by block, and names for what they mention.

use crate::error::ExportError;
use crate::selection::Selection;
use std::io::{Read, Seek};
use wb_trace::{Block, Event, Pc, PcIndex, TraceFile, TraceInfo};

/// How far an export is: blocks done, blocks altogether.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// Blocks of a trace, without the generic type of its file.
pub(crate) trait Blocks {
    fn count(&self) -> usize;
    fn info(&self) -> &TraceInfo;
    /// Replaces `out` by what is wanted of a block; false if nothing of it can be.
    fn load(&mut self, i: usize, out: &mut Vec<Event>, selection: &Selection) -> Result<bool, ExportError>;
}

struct Opened<'a, R: Read + Seek> {
    trace: &'a mut TraceFile<R>,
    block: Block,
}

impl<R: Read + Seek> Blocks for Opened<'_, R> {
    fn count(&self) -> usize {
        self.trace.blocks().len()
    }

    fn info(&self) -> &TraceInfo {
        self.trace.info()
    }

    fn load(&mut self, i: usize, out: &mut Vec<Event>, selection: &Selection) -> Result<bool, ExportError> {
        out.clear();
        if !self.trace.blocks().get(i).is_some_and(|b| selection.touches(b)) {
            return Ok(false);
        }
        self.trace.read_block(i, &mut self.block)?;
        out.extend(self.block.events.iter().filter(|e| selection.has(e)));
        Ok(true)
    }
}

/// What exporters read.
pub(crate) struct Source<'a> {
    blocks: Box<dyn Blocks + 'a>,
    selection: &'a Selection,
    progress: Progress<'a>,
    events: u64,
}

impl<'a> Source<'a> {
    pub fn new<R: Read + Seek>(
        trace: &'a mut TraceFile<R>,
        selection: &'a Selection,
        progress: Progress<'a>,
    ) -> Source<'a> {
        let blocks = Box::new(Opened { trace, block: Block::default() });
        Source { blocks, selection, progress, events: 0 }
    }

    pub fn info(&self) -> TraceInfo {
        self.blocks.info().clone()
    }

    /// Events that the last walk saw.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Gives all wanted events, a block at a time.
    pub fn walk(
        &mut self,
        mut each: impl FnMut(&[Event]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.events = 0;
        let (count, mut events) = (self.blocks.count(), Vec::new());
        for i in 0..count {
            if self.blocks.load(i, &mut events, self.selection)? {
                self.events += events.len() as u64;
                each(&events)?;
            }
            (self.progress)(i + 1, count);
        }
        if self.events == 0 { Err(ExportError::Nothing) } else { Ok(()) }
    }
}

/// Names of instructions, units and classes.
pub(crate) struct Names {
    pub info: TraceInfo,
    index: PcIndex,
}

impl Names {
    pub fn new(info: TraceInfo) -> Names {
        Names { index: PcIndex::new(&info.code), info }
    }

    /// Position of the instruction in the listing.
    pub fn line(&self, pc: Pc) -> Option<usize> {
        self.index.find(pc)
    }

    /// The instruction's text.
    pub fn text(&self, pc: Pc) -> String {
        match self.line(pc).map(|i| self.info.code[i].text.trim()) {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => format!("pc {pc}"),
        }
    }

    /// Source line; 0 = unknown.
    pub fn source(&self, pc: Pc) -> u32 {
        self.line(pc).map_or(0, |i| self.info.code[i].line)
    }

    /// `valu.1`, or none where an instruction needs no unit.
    pub fn unit(&self, unit: u8, instance: u8) -> Option<String> {
        let unit = self.info.units.get(usize::from(unit))?;
        Some(if unit.instances > 1 { format!("{}.{instance}", unit.name) } else { unit.name.clone() })
    }

    /// `gcn3 kernel.cl on gcn3`.
    pub fn title(&self) -> String {
        format!("{} on {} ({})", self.info.program, self.info.machine, self.info.mechanism)
    }
}

/// Names of ports as users see them.
pub(crate) fn port_name(port: wb_trace::PortKind) -> &'static str {
    use wb_trace::PortKind::{Data, Fetch, Lds, Sampler, Scalar};
    match port {
        Data => "data",
        Sampler => "sampler",
        Scalar => "scalar",
        Lds => "lds",
        Fetch => "fetch",
    }
}
