//! What the machine tells the world: events, observers, trace files, statistics.

mod event;

pub use event::*;
