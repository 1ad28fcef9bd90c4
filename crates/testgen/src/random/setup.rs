//! Which machine a random program runs on: mechanism, scheduler, sizes. [`Setup::number`] walks through
//! all combinations of the main axes; the rest varies pseudo-randomly with the number.

use super::ast::Ast;
use super::harp::{self, Shape};
use super::interpret::Word;
use super::{guppy, harp::Flavour};
use std::fmt::{self, Display, Formatter};
use std::sync::LazyLock;
use wb_hw::{Dispatch, FirstSide, FrontEndKind, InstructionSet, Machine, Mechanism, Policy, Scope};
use wb_sim::Launch;

/// Assembly and the mechanism that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub style: Style,
    pub mechanism: Mechanism,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// HARP with the PDOM document's split/join.
    Pdom,
    /// HARP with harptool's split/join.
    Harptool,
    /// HARP with plain branches.
    Plain,
    /// GUPPY.
    MaskStack,
}

/// Split and join do nothing under simt-stack, so it must run their programs too.
pub const TARGETS: [Target; 6] = [
    Target { style: Style::Pdom, mechanism: Mechanism::Pdom },
    Target { style: Style::Harptool, mechanism: Mechanism::Harptool },
    Target { style: Style::Plain, mechanism: Mechanism::SimtStack },
    Target { style: Style::MaskStack, mechanism: Mechanism::MaskStack },
    Target { style: Style::Pdom, mechanism: Mechanism::SimtStack },
    Target { style: Style::Harptool, mechanism: Mechanism::SimtStack },
];
pub const LANES: [u32; 8] = [1, 2, 3, 4, 8, 16, 32, 64];
pub const PARTITIONS: [u32; 3] = [1, 2, 4];
pub const ARCHES: [&str; 3] = ["4w16/2", "8w32/4", "4b16/2"];
pub const FRONT_ENDS: [FrontEndKind; 3] =
    [FrontEndKind::Perfect, FrontEndKind::Decoupled, FrontEndKind::Coordinated];
const FIRST: [FirstSide; 4] = [FirstSide::Taken, FirstSide::NotTaken, FirstSide::Larger, FirstSide::Smaller];
/// Bytes of device memory.
const MEMORY: u64 = 65_536;

impl Target {
    pub fn isa(&self) -> InstructionSet {
        if self.style == Style::MaskStack { InstructionSet::Guppy } else { InstructionSet::Harp }
    }

    /// HARP's halt ends the whole warp under the split/join mechanisms.
    pub fn can_return(&self) -> bool {
        matches!(self.style, Style::Plain | Style::MaskStack)
    }
}

/// One machine and launch.
#[derive(Clone, Debug)]
pub struct Setup {
    pub target: Target,
    pub policy: Policy,
    pub lanes: u32,
    pub partitions: u32,
    pub frontend: FrontEndKind,
    pub first: FirstSide,
    /// Decides everything else.
    pub variety: u64,
}

/// A pseudo-random number for each number (splitmix64).
pub fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

static PRESETS: LazyLock<[Machine; 4]> = LazyLock::new(|| {
    ["harp", "harp-pipelined", "guppy", "guppy-fig1"].map(|name| wb_hw::preset(name).expect("a preset"))
});

impl Setup {
    /// Combinations of the main axes.
    pub const COUNT: u64 = (TARGETS.len()
        * Policy::ISSUE.len()
        * LANES.len()
        * PARTITIONS.len()
        * FIRST.len()
        * FRONT_ENDS.len()) as u64;

    /// Setup number `n`; numbers that differ by [`Setup::COUNT`] have the same main axes.
    pub fn number(n: u64) -> Setup {
        let mut rest = n;
        let mut digit = |base: usize| {
            let d = rest % base as u64;
            rest /= base as u64;
            d as usize
        };
        Setup {
            target: TARGETS[digit(TARGETS.len())],
            policy: Policy::ISSUE[digit(Policy::ISSUE.len())],
            lanes: LANES[digit(LANES.len())],
            frontend: FRONT_ENDS[digit(FRONT_ENDS.len())],
            partitions: PARTITIONS[digit(PARTITIONS.len())],
            first: FIRST[digit(FIRST.len())],
            variety: mix(n),
        }
    }

    /// A number below `n` that depends on the variety and on what it is for.
    fn vary(&self, what: u64, n: u64) -> u32 {
        (mix(self.variety ^ what << 32) % n) as u32
    }

    /// Wave slots of the core.
    pub fn waves(&self) -> u32 {
        self.partitions * (1 + self.vary(1, 2))
    }

    pub fn arch(&self) -> &'static str {
        ARCHES[self.vary(2, 3) as usize]
    }

    /// Lanes of a warp that run the program (HARP).
    fn active(&self) -> u32 {
        if self.vary(3, 4) == 0 { (self.lanes - 1).max(1) } else { self.lanes }
    }

    pub fn word(&self) -> Word {
        let long = self.target.isa() == InstructionSet::Harp && self.arch().starts_with('8');
        Word { bytes: if long { 8 } else { 4 }, arithmetic: long }
    }

    pub fn launch(&self) -> Launch {
        if self.target.isa() == InstructionSet::Harp {
            return Launch::Boot;
        }
        // Mostly not a multiple of the wave, sometimes more waves than slots.
        let waves = 1 + self.vary(4, u64::from(self.waves()) + 2);
        let threads = (waves * self.lanes - self.vary(5, u64::from(self.lanes))).max(1);
        let group = match self.vary(6, 4) {
            0 => self.lanes,
            1 => (self.lanes / 2).max(1),
            2 => self.lanes + 1,
            _ => threads,
        };
        Launch::Grid { threads, group }
    }

    pub fn threads(&self) -> u32 {
        match self.launch() {
            Launch::Boot | Launch::Cores { .. } | Launch::Groups(_) => self.waves() * self.active(),
            Launch::Grid { threads, .. } => threads,
        }
    }

    pub fn machine(&self) -> Machine {
        let harp = self.target.isa() == InstructionSet::Harp;
        let mut m = PRESETS[usize::from(!harp) * 2 + self.vary(7, 2) as usize].clone();
        m.core.lanes = self.lanes;
        m.core.waves = self.waves();
        m.core.partitions = self.partitions;
        if harp {
            m.arch = self.arch().into();
            m.core.registers = if self.word().bytes == 8 { 32 } else { 16 };
        } else {
            m.cores = 1 + self.vary(8, 2);
            m.dispatch = if self.vary(9, 2) == 0 { Dispatch::Fill } else { Dispatch::RoundRobin };
        }
        m.frontend.kind = self.frontend;
        m.frontend.policy = Policy::FETCH[self.vary(10, Policy::FETCH.len() as u64) as usize];
        m.frontend.ports = 1 + self.vary(11, 2);
        m.frontend.buffer = 1 + self.vary(12, 3);
        m.frontend.fetch_latency = self.vary(13, 3);
        m.frontend.decode_latency = self.vary(14, 2);
        m.frontend.branch_penalty = self.vary(15, 4);
        m.issue.policy = self.policy;
        let one = self.policy == Policy::OwnerDispatch;
        m.issue.width = if one { 1 } else { 1 + self.vary(16, 2) };
        m.divergence.mechanism = self.target.mechanism;
        m.divergence.first = self.first;
        m.divergence.push_cycles = self.vary(17, 3);
        m.divergence.pop_cycles = self.vary(18, 3);
        m.dram.latency = 1 + self.vary(19, 40);
        m.dram.bandwidth = [0, 4, 8, 64][self.vary(20, 4) as usize];
        if self.vary(21, 2) == 0 {
            for unit in m.units.iter_mut().filter(|u| u.count > 0) {
                unit.scope = Scope::Partition;
            }
        }
        m.limits.cycles = 4_000_000;
        m.limits.memory = MEMORY;
        m
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let m = self.machine();
        write!(
            f,
            "{} --mechanism {} --policy {} lanes {} waves {} partitions {} front end {:?} first side {:?} push {} pop {}",
            if m.arch.is_empty() { m.isa.name() } else { &m.arch },
            self.target.mechanism,
            self.policy.name(),
            self.lanes,
            self.waves(),
            self.partitions,
            m.frontend.kind,
            self.first,
            m.divergence.push_cycles,
            m.divergence.pop_cycles,
        )?;
        match self.launch() {
            Launch::Boot | Launch::Cores { .. } | Launch::Groups(_) => Ok(()),
            Launch::Grid { threads, group } => write!(f, " grid {threads} group {group}"),
        }
    }
}

/// A program on a machine.
#[derive(Clone, Debug)]
pub struct Case {
    pub setup: Setup,
    pub ast: Ast,
}

impl Case {
    /// Assembly of the program for this machine.
    pub fn source(&self) -> String {
        let setup = &self.setup;
        let flavour = match setup.target.style {
            Style::MaskStack => return guppy::source(&self.ast),
            Style::Pdom => Flavour::Pdom,
            Style::Harptool => Flavour::Harptool,
            Style::Plain => Flavour::Plain,
        };
        let shape = Shape {
            word: setup.word(),
            warps: setup.waves(),
            lanes: setup.lanes,
            active: setup.active(),
            barrier: !self.ast.returns() && setup.vary(22, 4) == 0,
        };
        harp::source(&self.ast, flavour, &shape)
    }
}
