//! What the machine tells the world: events, observers, trace files, statistics.

mod codec;
mod event;
mod file;
mod hash;
mod index;
mod log;
mod observers;
mod splitting;
mod stats;
mod stats_sum;
mod stats_table;

pub use event::*;
pub use file::{Replayed, TraceEnd, TraceError, TraceReader, TraceWriter, replay, replay_to_the_cut};
pub use hash::HashObserver;
pub use index::{PcIndex, SlotTable};
pub use log::{LogOf, PdomLog};
pub use observers::Observers;
pub use splitting::ContextStats;
pub use stats::{BranchStats, PcStats, PortStats, StallCycles, Statistics, Stats, UnitStats};
