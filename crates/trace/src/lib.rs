//! What the machine tells the world: events, observers, trace files, statistics.

mod codec;
mod event;
mod file;
mod hash;
mod index;
mod log;
mod observers;
mod splitting;
mod stalls;
mod stats;
mod stats_memory;
mod stats_sum;
mod stats_table;

pub use event::*;
pub use file::{Replayed, TraceEnd, TraceError, TraceReader, TraceWriter, replay, replay_to_the_cut};
pub use hash::HashObserver;
pub use index::{PcIndex, SlotTable};
pub use log::{LogOf, PdomLog};
pub use observers::Observers;
pub use splitting::ContextStats;
pub use stalls::StallCycles;
pub use stats::{BranchStats, PcStats, PortStats, Statistics, Stats, UnitStats};
pub use stats_memory::PcMemory;
