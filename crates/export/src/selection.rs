//! The part of a trace that is wanted: cycles and waves.

use wb_trace::{BlockInfo, Event, Kind};

/// Cycles and waves that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// First cycle.
    pub from: u64,
    /// First cycle that is not wanted.
    pub to: Option<u64>,
    /// Ranges of waves with both ends; empty: all.
    pub waves: Vec<(u32, u32)>,
}

impl Selection {
    fn ends(&self) -> u64 {
        self.to.unwrap_or(u64::MAX)
    }

    /// Whether something of the block can be wanted. A stall begins at its cycle and may reach into the next blocks' time.
    pub(crate) fn touches(&self, block: &BlockInfo) -> bool {
        block.from < self.ends() && (block.to >= self.from || self.from == 0)
    }

    /// Whether the event is wanted; a stall is, if a part of it is.
    pub(crate) fn has(&self, event: &Event) -> bool {
        let over = match event.kind {
            Kind::Stall { cycles, .. } => event.cycle.saturating_add(cycles.into()),
            _ => event.cycle.saturating_add(1),
        };
        let waves = &self.waves;
        event.cycle < self.ends()
            && over > self.from
            && (waves.is_empty() || waves.iter().any(|w| w.0 <= event.wave && event.wave <= w.1))
    }
}
