//! What to run: waves in launch order, and the options and results of a run.

use crate::console::Console;
use crate::estimate::{Estimate, Sample, Times};
use crate::inspect::Inspector;
use crate::memory::DeviceMemory;
use crate::sched::MakePolicy;
use crate::schedule::{Decision, Schedule};
use crate::sofar::Sofar;
use std::ops::{ControlFlow, Range};
use wb_hw::Needs;
use wb_isa::{Mask, Pc, WaveStart, first_lanes};

/// How waves come into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    /// One wave with one lane at the entry; it starts the others itself (HARP).
    Boot,
    /// One wave with one lane on each of so many cores; it starts the others itself (Vortex).
    Cores { count: u32 },
    /// `threads` threads in groups of `group`; a group is cut into waves (GUPPY).
    Grid { threads: u32, group: u32 },
    /// Groups whose waves belong together (GCN3).
    Groups(Groups),
}

/// Groups that share local memory and barriers; the waves of a group are placed together (GCN3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    pub count: u32,
    /// Threads of a full group.
    pub size: u32,
    /// Threads of the launch and of a full group by dimension; groups at the far edges may be smaller.
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub vgprs: u32,
    pub sgprs: u32,
    /// Local memory of a group, and where the device keeps the local memories of all cores.
    pub lds_bytes: u32,
    pub lds_region: u64,
    /// Private memory of a wave, and where the device keeps that of all wave slots.
    pub scratch_per_wave: u64,
    pub scratch_region: u64,
}

impl Groups {
    /// What a group needs of a core.
    pub fn needs(&self, lanes: u32) -> Needs {
        Needs {
            waves_per_group: self.waves(lanes),
            vgprs: self.vgprs,
            sgprs: self.sgprs,
            lds_bytes: self.lds_bytes,
        }
    }

    pub fn waves(&self, lanes: u32) -> u32 {
        self.size.div_ceil(lanes)
    }

    /// Threads of one group, x counted fastest.
    pub fn threads(&self, number: u32) -> u32 {
        let (mut rest, mut threads) = (number, 1);
        for (grid, group) in self.grid.into_iter().zip(self.group.map(|n| n.max(1))) {
            let groups = grid.div_ceil(group).max(1);
            let place = rest % groups;
            rest /= groups;
            threads *= group.min(grid.saturating_sub(place * group)).max(1);
        }
        threads
    }
}

/// Some of the groups of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Number `number` of `of` shares, every so many groups in turn.
    Share { number: u32, of: u32 },
    /// From one group up to another; `first_wave` is the first one's first.
    Range { from: u32, to: u32, first_wave: u32 },
}

/// Groups of a share that follow each other: neighbours often use the same memory.
const TOGETHER: u32 = 4;

impl Part {
    fn has(self, group: u32) -> bool {
        match self {
            Part::Share { number, of } => group / TOGETHER % of == number,
            Part::Range { from, to, .. } => (from..to).contains(&group),
        }
    }
}

/// Hands out waves in launch order.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    part: Option<Part>,
    launch: Launch,
    lanes: u32,
    next_wave: u32,
    group: u32,
    wave_in_group: u32,
}

impl Launcher {
    pub fn new(launch: Launch, lanes: u32) -> Self {
        Launcher { part: None, launch, lanes, next_wave: 0, group: 0, wave_in_group: 0 }
    }

    /// Only the groups of a share; their waves have the numbers that they have in the whole launch.
    pub fn only(mut self, part: Option<Part>) -> Self {
        self.part = part;
        if let Some(Part::Range { from, first_wave, .. }) = part {
            (self.group, self.next_wave) = (from, first_wave);
        }
        self.skip();
        self
    }

    /// On to the next group of the share.
    fn skip(&mut self) {
        while let Some(part) = self.part
            && !self.is_done()
            && !part.has(self.group)
        {
            self.next_wave += self.group_waves();
            self.group += 1;
        }
    }

    /// True once every wave of the launch has been handed out.
    pub fn is_done(&self) -> bool {
        match self.launch {
            Launch::Boot => self.next_wave > 0,
            Launch::Cores { count } => self.next_wave >= count,
            Launch::Grid { threads, group } => u64::from(self.group) * u64::from(group) >= u64::from(threads),
            Launch::Groups(groups) => match self.part {
                Some(Part::Range { to, .. }) => self.group >= to,
                Some(Part::Share { .. }) | None => self.group >= groups.count,
            },
        }
    }

    /// Waves of the group that comes next; they are handed out together.
    pub fn group_waves(&self) -> u32 {
        match self.launch {
            Launch::Groups(groups) => groups.threads(self.group).div_ceil(self.lanes),
            _ => 1,
        }
    }

    /// Waves of the launch, if groups at the edges were full; 0: nobody knows.
    pub fn waves(&self) -> u64 {
        match self.launch {
            Launch::Boot | Launch::Cores { .. } => 0,
            Launch::Grid { threads, group } => {
                u64::from(threads.div_ceil(group.max(1))) * u64::from(group.div_ceil(self.lanes))
            }
            Launch::Groups(groups) => u64::from(groups.count) * u64::from(groups.waves(self.lanes)),
        }
    }

    /// The core the next wave must go to, where the launch says so; it takes that core's first slot.
    pub fn core(&self) -> Option<usize> {
        matches!(self.launch, Launch::Cores { .. }).then_some(self.next_wave as usize)
    }

    /// The next wave and its lanes.
    pub fn next(&mut self) -> Option<(WaveStart, Mask)> {
        if self.is_done() {
            return None;
        }
        let wave = self.next_wave;
        self.next_wave += 1;
        let (in_group, group) = match self.launch {
            Launch::Boot => return Some((WaveStart { wave, lanes: self.lanes, ..WaveStart::default() }, 1)),
            Launch::Cores { .. } => {
                return Some((WaveStart { wave, group: wave, lanes: self.lanes, ..WaveStart::default() }, 1));
            }
            Launch::Grid { threads, group } => {
                let before = u64::from(self.group) * u64::from(group);
                ((u64::from(threads) - before).min(u64::from(group)) as u32, group)
            }
            Launch::Groups(groups) => (groups.threads(self.group), groups.size),
        };
        let waves_in_group = match self.launch {
            Launch::Groups(_) => in_group.div_ceil(self.lanes),
            _ => group.div_ceil(self.lanes),
        };
        let start = WaveStart {
            wave,
            group: self.group,
            wave_in_group: self.wave_in_group,
            group_size: group,
            lanes: self.lanes,
            waves_in_group,
            ..WaveStart::default()
        };
        let left = in_group - self.wave_in_group * self.lanes;
        if left <= self.lanes {
            self.group += 1;
            self.wave_in_group = 0;
            self.skip();
        } else {
            self.wave_in_group += 1;
        }
        Some((start, first_lanes(left.min(self.lanes))))
    }
}

/// So many host threads; 0: as many as the computer has cores.
pub fn threads(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted,
    }
}

/// Choices of a run that are not part of the machine.
pub struct RunOptions<'a> {
    /// Cycle by cycle, or functional only.
    pub timed: bool,
    /// Assert the mask invariants after every instruction.
    pub check: bool,
    /// Keep the registers of every wave as it ends.
    pub keep_registers: bool,
    /// Compare the scheduler with the oracles of SWAS section VI-A4 over the kernel: the pc where it begins, or
    /// [`wb_isa::NO_PC`] for the whole run. Timed runs only.
    pub watch: Option<Pc>,
    /// Keep what the schedulers decided in these cycles, counted from where the kernel begins; only with `watch`.
    pub decisions: Range<u64>,
    /// Look at every cycle instead of skipping those in which nothing can happen; slower, same result.
    pub every_cycle: bool,
    /// A scheduling policy of the caller's own instead of the machine's `issue.policy`: makes one for each scheduler. Timed
    /// runs only.
    pub issue: Option<&'a MakePolicy<'a>>,
    /// Host threads that a run of groups may use, timed ones only if nobody observes (docs/ARCHITECTURE.md); same results.
    pub threads: usize,
    /// Use them also where it does not pay.
    pub always_threads: bool,
    /// Time only a part of the groups and estimate the rest ([`Outcome::estimate`]); launches that are too small for that are timed
    /// whole. Nobody observes then.
    pub sample: Option<Sample>,
    /// Told about once per million instructions. Break: the run ends there, with an error of the kind
    /// [`crate::ErrorKind::Stopped`].
    pub progress: Option<&'a mut dyn FnMut(Sofar) -> ControlFlow<()>>,
    /// Looks at the run between its instructions: a debugger. Untimed runs only, on one thread.
    pub inspector: Option<&'a mut dyn Inspector>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        RunOptions {
            timed: true,
            check: false,
            keep_registers: false,
            watch: None,
            decisions: 0..0,
            every_cycle: false,
            issue: None,
            threads: 1,
            always_threads: false,
            sample: None,
            progress: None,
            inspector: None,
        }
    }
}

/// Final registers of one wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveRegisters {
    pub wave: u32,
    /// Per lane, (name, value) in the ISA's order.
    pub lanes: Vec<Vec<(String, u64)>>,
}

/// What a finished run leaves.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Cycles of a timed run, wave-instructions of an untimed one.
    pub cycles: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    /// Empty places of instruction queues that issued (coordinated front end); not among the instructions.
    pub nops: u64,
    /// What the oracles saw, if they were asked for.
    pub schedule: Option<Schedule>,
    pub decisions: Vec<Decision>,
    pub waves: u32,
    /// Host threads that ran it.
    pub threads: u32,
    /// Most divergence-stack entries any wave had.
    pub max_stack_depth: usize,
    /// The cycles are an estimate.
    pub estimate: Option<Estimate>,
    /// When waves ended, if a part of the groups was timed.
    pub(crate) times: Option<Box<Times>>,
    pub console: Vec<u8>,
    pub(crate) printed: Console,
    pub memory: DeviceMemory,
    pub registers: Vec<WaveRegisters>,
}

impl Outcome {
    pub(crate) fn new(memory: DeviceMemory) -> Self {
        Outcome {
            cycles: 0,
            wave_instructions: 0,
            lane_instructions: 0,
            nops: 0,
            schedule: None,
            decisions: Vec::new(),
            waves: 0,
            threads: 1,
            max_stack_depth: 0,
            estimate: None,
            times: None,
            console: Vec::new(),
            printed: Console::default(),
            memory,
            registers: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(launch: Launch, lanes: u32) -> Vec<(u32, u32, u32, Mask)> {
        let mut l = Launcher::new(launch, lanes);
        std::iter::from_fn(|| l.next()).map(|(s, m)| (s.wave, s.group, s.wave_in_group, m)).collect()
    }

    #[test]
    fn grids_are_cut_into_groups_and_waves() {
        assert_eq!(
            all(Launch::Grid { threads: 20, group: 12 }, 8),
            [(0, 0, 0, 0xff), (1, 0, 1, 0x0f), (2, 1, 0, 0xff)]
        );
        assert_eq!(all(Launch::Grid { threads: 64, group: 64 }, 64), [(0, 0, 0, !0)]);
        assert_eq!(all(Launch::Grid { threads: 5, group: 2 }, 4).len(), 3);
        assert_eq!(all(Launch::Boot, 4), [(0, 0, 0, 1)]);
        assert_eq!(all(Launch::Cores { count: 2 }, 4), [(0, 0, 0, 1), (1, 1, 0, 1)]);
    }

    #[test]
    fn shares_are_the_whole_launch() {
        let groups = Groups { count: 40, size: 12, grid: [58, 11, 1], group: [6, 2, 1], ..Groups::default() };
        let launch = Launch::Groups(Groups { count: 10 * 6, ..groups });
        let mut parts: Vec<(u32, u32, u32, Mask)> = Vec::new();
        for number in 0..3 {
            let mut l = Launcher::new(launch, 8).only(Some(Part::Share { number, of: 3 }));
            parts.extend(std::iter::from_fn(|| l.next()).map(|(s, m)| (s.wave, s.group, s.wave_in_group, m)));
        }
        parts.sort_unstable();
        assert_eq!(parts, all(launch, 8));
    }

    #[test]
    fn groups_at_the_edges_are_smaller() {
        let groups = Groups { count: 4, size: 12, grid: [6, 5, 1], group: [4, 3, 1], ..Groups::default() };
        assert_eq!([0, 1, 2, 3].map(|g| groups.threads(g)), [12, 6, 8, 4]);
        let waves = all(Launch::Groups(groups), 8);
        assert_eq!(
            waves,
            [(0, 0, 0, 0xff), (1, 0, 1, 0xf), (2, 1, 0, 0x3f), (3, 2, 0, 0xff), (4, 3, 0, 0xf)]
        );
    }
}
