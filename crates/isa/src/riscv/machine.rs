//! A lane-pc machine as kernels see it (docs/riscv.md): the launch, who a wave is, the registers of its lanes.

use super::csr::WorkItem;
use crate::vortex;
use crate::{WaveStart, first_lanes};

/// First address of private memory. Each lane has a memory of its own here, and its stack grows down from [`PRIVATE_END`].
pub const PRIVATE: u32 = 0xffe0_0000;
pub const PRIVATE_END: u32 = 0xfff0_0000;
/// Kernels return to this address: there the lane ends.
pub const EXIT: u32 = 0;

/// What is the same for all waves of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Work-items of the launch and of a full group, by dimension.
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub dimensions: u32,
    /// Address of the arguments.
    pub kernarg: u32,
    pub local_bytes: u32,
    /// Private memory of a lane.
    pub private_bytes: u32,
}

/// The instruction set with its launch: RV32IMAF of [`vortex`], without Vortex's instructions for lanes and waves.
#[derive(Clone, Copy, Debug)]
pub struct Riscv {
    pub core: vortex::Vortex,
    pub setup: Setup,
}

impl Riscv {
    /// Code that starts at an address, without a launch.
    pub fn at(base: u32) -> Riscv {
        Riscv { core: vortex::Vortex::at(base), setup: Setup::default() }
    }
}

/// Who a wave is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Who {
    /// Number of the group, its place in the grid and its size.
    pub number: u32,
    pub group: [u32; 3],
    pub size: [u32; 3],
    pub waves_in_group: u32,
    /// Number of the wave's first work-item in its group.
    pub first: u32,
    pub local_base: u64,
    pub private_base: u64,
}

/// Registers of a path. Those of lanes exist once in a wave and are with the path that ran last.
#[derive(Clone, Debug)]
pub struct Regs {
    pub(super) harts: vortex::Regs,
    pub(super) who: Who,
}

impl Regs {
    pub(super) fn new(lanes: u32) -> Regs {
        Regs { harts: vortex::Regs::new(lanes), who: Who::default() }
    }

    /// Register by id: 0 to 31 general purpose, 32 to 63 floating point.
    pub fn get(&self, register: usize, lane: u32) -> u32 {
        self.harts.get(register, lane)
    }

    /// For tests; x0 stays 0.
    pub fn set(&mut self, register: usize, lane: u32, value: u32) {
        self.harts.set(register, lane, value);
    }

    /// The state of another path of the wave, without registers.
    pub(super) fn fork(&self) -> Regs {
        Regs { harts: self.harts.without_rows(), who: self.who }
    }

    /// The registers go to another path.
    pub(super) fn hand_over(&mut self, to: &mut Regs) {
        self.harts.hand_over(&mut to.harts);
    }

    pub(super) fn start(&mut self, setup: &Setup, start: &WaveStart) {
        self.harts.start(&WaveStart { kept: false, inherited: None, ..*start }, 0);
        let (mut rest, mut group, mut size) = (start.group, [0; 3], [1; 3]);
        for d in 0..3 {
            let (all, full) = (setup.grid[d].max(1), setup.group[d].max(1));
            let groups = all.div_ceil(full);
            group[d] = rest % groups;
            rest /= groups;
            size[d] = full.min(all - group[d] * full);
        }
        self.who = Who {
            number: start.group,
            group,
            size,
            waves_in_group: start.waves_in_group.max(1),
            first: start.wave_in_group * start.lanes,
            local_base: start.lds_base,
            private_base: start.scratch_base,
        };
        let lanes = first_lanes(self.harts.lanes());
        // sp; ra is EXIT already.
        self.harts.fill(2, lanes, PRIVATE_END);
        self.harts.fill(10, lanes, setup.kernarg);
    }

    /// What a register of the work-item holds, lane by lane.
    pub(super) fn work_item(&self, setup: &Setup, item: WorkItem) -> [u32; 64] {
        let who = &self.who;
        let groups = |d: usize| setup.grid[d].max(1).div_ceil(setup.group[d].max(1));
        let same = match item {
            WorkItem::LocalId(d) => {
                let stride: u32 = who.size[..d].iter().product();
                let size = who.size[d].max(1);
                return std::array::from_fn(|lane| (who.first + lane as u32) / stride.max(1) % size);
            }
            WorkItem::GroupId(d) => who.group[d],
            WorkItem::LocalSize(d) => who.size[d],
            WorkItem::FullLocalSize(d) => setup.group[d].max(1),
            WorkItem::GlobalSize(d) => setup.grid[d].max(1),
            WorkItem::Groups(d) => groups(d),
            WorkItem::Dimensions => setup.dimensions,
            WorkItem::Arguments => setup.kernarg,
        };
        [same; 64]
    }
}
