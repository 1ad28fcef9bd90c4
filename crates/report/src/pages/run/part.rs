//! What a page of a run says, as data: its launches, and for some of them – or for kernels, all of their launches added up –
//! what they cost in detail. Data, so that a library in another process can hand it over.

use crate::timeline::Timeline;
use serde::{Deserialize, Serialize};
use wb_hw::{Limit, Machine, Needs, Room};
use wb_trace::{PcMemory, PcStats, StallCycles, Stats};

/// The details of a launch, or of all launches of a kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// Its heading.
    pub name: String,
    /// Size and place, as a sentence has them: `64x64 in groups of 64, of kernel.co`.
    pub what: String,
    /// How many launches are added up.
    pub launches: u64,
    pub stats: Stats,
    pub occupancy: Option<Occupancy>,
    pub timeline: Option<Timeline>,
    /// The launch that the timeline shows, where several are added up.
    pub timeline_of: String,
    /// Names and texts of source files.
    pub sources: Vec<(String, String)>,
}

impl Part {
    /// Adds another launch of the same kernel; the timeline of the longer one stays.
    pub fn add(&mut self, other: Part) {
        let longest = |p: &Part| p.timeline.as_ref().map_or(0, |t| t.cycles);
        if longest(&other) > longest(self) {
            (self.timeline, self.timeline_of) = (other.timeline, other.timeline_of);
            self.occupancy = other.occupancy;
            self.what = other.what;
        }
        self.launches += other.launches;
        self.stats.add(&other.stats);
        for source in other.sources {
            if !self.sources.iter().any(|s| s.0 == source.0) {
                self.sources.push(source);
            }
        }
    }
}

/// One launch in the overview.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// `3`, or `2.3` for the third launch of the second process.
    pub number: String,
    pub kernel: String,
    pub grid: String,
    pub group: String,
    pub cycles: u64,
    pub waves: u64,
    pub wave_instructions: u64,
    /// Of lanes on when instructions issue; None if nobody counted.
    pub lane_use: Option<f64>,
    pub splits: Option<u64>,
    /// Place of its details among the parts.
    pub part: Option<usize>,
}

/// What fits on a core, and why not more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Occupancy {
    pub waves_per_group: u32,
    pub groups_per_core: u32,
    pub cores: u32,
    pub partitions: u32,
    /// Wave slots of a partition.
    pub slots: u32,
    /// Groups of the launch.
    pub groups: u32,
    pub limit: Limit,
    pub rooms: Vec<Room>,
}

impl Occupancy {
    /// Of a launch of so many groups that need this.
    pub fn of(machine: &Machine, needs: Needs, groups: u32) -> Occupancy {
        let fit = machine.occupancy(needs);
        let core = &machine.core;
        Occupancy {
            waves_per_group: needs.waves_per_group.max(1),
            groups_per_core: fit.groups_per_core,
            cores: machine.cores,
            partitions: core.partitions.max(1),
            slots: core.waves / core.partitions.max(1),
            groups,
            limit: fit.limit,
            rooms: machine.rooms(needs).to_vec(),
        }
    }
}

/// What one or several instructions cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    pub cycles: u64,
    pub executed: u64,
    /// Active lanes over all that issued.
    pub lanes: f64,
    pub lost: u64,
    pub stalls: StallCycles,
    pub memory: PcMemory,
}

impl Sum {
    pub fn add(&mut self, p: &PcStats) {
        self.cycles += p.cycles;
        self.executed += p.executed;
        self.lanes += p.mean_active_lanes * p.executed as f64;
        self.lost += p.lane_cycles_lost;
        self.stalls.add_all(&p.stalls);
        if let Some(memory) = &p.memory {
            self.memory.add(memory);
        }
    }

    pub fn of(p: &PcStats) -> Sum {
        let mut sum = Sum::default();
        sum.add(p);
        sum
    }
}
