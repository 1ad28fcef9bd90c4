//! An opened trace: its file, its index, and the blocks that were read last. Everything a page asks for comes from here.

use crate::ViewError;
use crate::index::{Builder, Index};
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use wb_files::Kind;
use wb_trace::spans::Take;
use wb_trace::{Block, BlockInfo, PcIndex, TraceFile, TraceInfo};

/// Blocks that are kept decoded.
const CACHED: usize = 24;

/// Hears how many of how many events were read.
pub type Heard<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// The file, and the blocks that were read last with their numbers.
type Opened = (TraceFile<BufReader<File>>, VecDeque<(usize, Arc<Block>)>);

pub struct Store {
    pub name: String,
    pub info: TraceInfo,
    pub index: Index,
    pub places: PcIndex,
    pub blocks: Vec<BlockInfo>,
    /// Why there is no more, if the trace was cut off.
    pub cut: Option<String>,
    /// The run ended by itself.
    pub complete: bool,
    /// Addresses are in the trace.
    pub addresses: bool,
    file: Mutex<Opened>,
}

impl Store {
    /// Reads a trace file once. `progress` hears how many of how many events were read, and may stop it.
    pub fn open(path: &Path, progress: &mut Heard) -> Result<Store, ViewError> {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Store::read(&name, wb_files::open(path, Kind::Trace)?, progress)
    }

    /// The same with a file that is open.
    pub fn read(name: &str, file: File, progress: &mut Heard) -> Result<Store, ViewError> {
        let failed = |source| ViewError::Trace { name: name.to_owned(), source };
        let mut file = TraceFile::open(BufReader::new(file)).map_err(failed)?;
        let info = file.info().clone();
        let blocks = file.blocks().to_vec();
        let last = blocks.iter().map(|b| b.to.saturating_add(1)).max().unwrap_or(0);
        let cycles = file.end().map_or(last, |e| e.cycles.max(last));
        let all = blocks.last().map_or(0, |b| b.first_event + u64::from(b.events));
        let mut builder = Builder::new(&info, cycles);
        let mut block = Block::default();
        for (i, at) in blocks.iter().enumerate() {
            file.read_block(i, &mut block).map_err(failed)?;
            let lines = || block.touched.iter().flat_map(|t| t.lines.iter().copied());
            let range = lines().min().zip(lines().max());
            builder.block(i, at, &block.events, range);
            if progress(at.first_event + u64::from(at.events), all).is_break() {
                return Err(ViewError::Stopped);
            }
        }
        Ok(Store {
            name: name.to_owned(),
            places: PcIndex::new(&info.code),
            cut: file.cut().map(ToString::to_string),
            complete: file.end().is_some_and(|e| e.complete),
            addresses: info.addresses,
            index: builder.finish(),
            info,
            blocks,
            file: Mutex::new((file, VecDeque::new())),
        })
    }

    pub fn block(&self, number: usize) -> Result<Arc<Block>, ViewError> {
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, cached) = &mut *guard;
        if let Some(at) = cached.iter().position(|c| c.0 == number)
            && let Some(hit) = cached.remove(at)
        {
            let block = Arc::clone(&hit.1);
            cached.push_back(hit);
            return Ok(block);
        }
        let mut block = Block::default();
        file.read_block(number, &mut block)
            .map_err(|source| ViewError::Trace { name: self.name.clone(), source })?;
        let block = Arc::new(block);
        cached.push_back((number, Arc::clone(&block)));
        if cached.len() > CACHED {
            cached.pop_front();
        }
        Ok(block)
    }

    /// Events in a range of blocks.
    pub fn events(&self, (first, last): (usize, usize)) -> u64 {
        let blocks = self.blocks.get(first..last).unwrap_or_default();
        blocks.iter().map(|b| u64::from(b.events)).sum()
    }

    /// Follows all waves through a range of blocks, and tells what was under way then and is told behind it.
    pub fn follow(&self, blocks: (usize, usize), take: &mut impl Take) -> Result<(), ViewError> {
        self.index.follow(blocks, |number| self.block(number), take)
    }
}
