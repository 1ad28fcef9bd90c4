//! What the machine tells the world: events, observers, trace files, statistics.

mod block;
mod codec;
mod columns;
mod event;
mod format;
mod hash;
mod index;
mod limit;
mod log;
mod observers;
mod random_access;
mod reader;
mod splitting;
mod stalls;
mod stats;
mod stats_memory;
mod stats_sum;
mod stats_table;
mod varint;
mod writer;

pub use block::{Block, TouchedLines};
pub use event::*;
pub use format::{BlockInfo, TraceEnd, TraceError};
pub use hash::HashObserver;
pub use index::{PcIndex, SlotTable};
pub use limit::parse_waves;
pub use log::{LogOf, PdomLog};
pub use observers::Observers;
pub use random_access::TraceFile;
pub use reader::{Replayed, TraceReader, replay, replay_to_the_cut};
pub use splitting::ContextStats;
pub use stalls::StallCycles;
pub use stats::{BranchStats, PcStats, PortStats, Statistics, Stats, UnitStats};
pub use stats_memory::PcMemory;
pub use writer::{TraceOptions, TraceWriter};
