//! Which machine a random kernel runs on: mechanism with its options, contexts, marks; the rest varies with the
//! number. [`Setup::number`] walks through all combinations of the main axes.

use super::super::setup::{FRONT_ENDS, mix};
use std::fmt::{self, Display, Formatter};
use std::sync::LazyLock;
use wb_hw::{
    Dispatch, Machine, Mechanism, MemorySplits, Policy, Reconverge, RunAhead, SplitChoice, SplitUnits,
};

/// A mechanism with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub mechanism: Mechanism,
    pub choice: SplitChoice,
    pub units: SplitUnits,
    pub reconverge: Reconverge,
}

const fn way(mechanism: Mechanism, choice: SplitChoice, units: SplitUnits, reconverge: Reconverge) -> Way {
    Way { mechanism, choice, units, reconverge }
}

use Reconverge::{Anywhere, Default as Usual, MaskStack, Never, RegionEnd};
use SplitChoice::{Marked, Opportunistic};
use SplitUnits::{Extra, Reprovisioned, Shared};

pub const WAYS: [Way; 20] = [
    way(Mechanism::ExecMask, Marked, Extra, Usual),
    way(Mechanism::Pws, Marked, Extra, Usual),
    way(Mechanism::Thesis, Marked, Extra, Never),
    way(Mechanism::Dws, Marked, Shared, Usual),
    way(Mechanism::Thesis, Marked, Extra, RegionEnd),
    way(Mechanism::Thesis, Marked, Extra, Anywhere),
    way(Mechanism::Thesis, Marked, Shared, Never),
    way(Mechanism::Thesis, Marked, Shared, RegionEnd),
    way(Mechanism::Thesis, Marked, Shared, Anywhere),
    way(Mechanism::Thesis, Opportunistic, Extra, Never),
    way(Mechanism::Thesis, Opportunistic, Extra, RegionEnd),
    way(Mechanism::Thesis, Opportunistic, Extra, Anywhere),
    way(Mechanism::Thesis, Opportunistic, Shared, Never),
    way(Mechanism::Thesis, Opportunistic, Shared, RegionEnd),
    way(Mechanism::Thesis, Opportunistic, Shared, Anywhere),
    way(Mechanism::Dws, Marked, Shared, Never),
    way(Mechanism::Dws, Marked, Shared, RegionEnd),
    way(Mechanism::Dws, Marked, Extra, Anywhere),
    way(Mechanism::Pws, Marked, Shared, Usual),
    way(Mechanism::Pws, Marked, Reprovisioned, Usual),
];

/// Ways that came later: they have numbers of their own, so that older ones mean what they meant.
pub const NEWER_WAYS: [Way; 3] = [
    way(Mechanism::DwsMeng, Marked, Shared, Usual),
    way(Mechanism::DwsMeng, Marked, Shared, RegionEnd),
    way(Mechanism::DwsMeng, Marked, Shared, Never),
];

/// Ways that came later still: THESIS 4.3.4.
pub const MASK_WAYS: [Way; 4] = [
    way(Mechanism::Thesis, Marked, Extra, MaskStack),
    way(Mechanism::Thesis, Opportunistic, Extra, MaskStack),
    way(Mechanism::Thesis, Marked, Shared, MaskStack),
    way(Mechanism::Thesis, Opportunistic, Shared, MaskStack),
];

const MEMORY: [MemorySplits; 4] =
    [MemorySplits::Never, MemorySplits::Aggressive, MemorySplits::Lazy, MemorySplits::Revive];

/// Which branches are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    None,
    Random(u64),
    All,
}

pub const MARKINGS: usize = 3;
/// S.
pub const CONTEXTS: [u32; 6] = [0, 1, 2, 3, 7, 15];

/// One machine and launch.
#[derive(Clone, Debug)]
pub struct Setup {
    pub way: Way,
    pub contexts: u32,
    pub marking: Marking,
    /// Lanes part for good at the end of the kernel: which way.
    pub ending: Option<u64>,
    variety: u64,
}

static PRESETS: LazyLock<[Machine; 2]> =
    LazyLock::new(|| ["gcn3", "pws"].map(|name| wb_hw::preset(name).expect("a preset")));

impl Setup {
    /// Combinations of the main axes.
    pub const COUNT: u64 = (WAYS.len() * CONTEXTS.len() * MARKINGS) as u64;

    /// Numbers from here on are of [`NEWER_WAYS`].
    pub const NEWER: u64 = 1 << 40;
    /// Numbers from here on are of [`MASK_WAYS`].
    pub const MASKS: u64 = 1 << 41;

    /// Numbers from here on are of [`WAYS`] again, for kernels at whose end lanes part for good.
    pub const ENDING: u64 = 1 << 42;

    pub fn number(n: u64) -> Setup {
        let ending = n.checked_sub(Self::ENDING);
        let (ways, mut rest): (&[Way], u64) = match n {
            _ if n >= Self::ENDING => (&WAYS, n - Self::ENDING),
            _ if n >= Self::MASKS => (&MASK_WAYS, n - Self::MASKS),
            _ if n >= Self::NEWER => (&NEWER_WAYS, n - Self::NEWER),
            _ => (&WAYS, n),
        };
        let mut digit = |base: usize| {
            let d = rest % base as u64;
            rest /= base as u64;
            d as usize
        };
        let variety = mix(n);
        Setup {
            way: ways[digit(ways.len())],
            contexts: CONTEXTS[digit(CONTEXTS.len())],
            marking: [Marking::Random(mix(variety)), Marking::All, Marking::None][digit(MARKINGS)],
            ending: ending.map(|_| mix(variety ^ 0xe9d)),
            variety,
        }
    }

    /// A number below `n` that depends on the variety and on what it is for.
    fn vary(&self, what: u64, n: u32) -> u32 {
        (mix(self.variety ^ what << 32) % u64::from(n)) as u32
    }

    pub fn lanes(&self) -> u32 {
        [64, 64, 4, 16, 32, 7][self.vary(1, 6) as usize]
    }

    /// Threads of a group, at most three waves.
    pub fn group(&self) -> u32 {
        let lanes = self.lanes();
        [lanes, 2 * lanes, lanes + lanes / 2, 3 * lanes][self.vary(2, 4) as usize]
    }

    /// Threads of the launch: the last group is mostly smaller.
    pub fn threads(&self) -> u32 {
        let all = self.group() * (1 + self.vary(3, 3));
        (all - self.vary(4, self.lanes() * 2).min(all - 1)).max(1)
    }

    pub fn machine(&self) -> Machine {
        let mut m = PRESETS[self.vary(5, 2) as usize].clone();
        m.core.lanes = self.lanes();
        m.core.partitions = [1, 2, 4][self.vary(6, 3) as usize];
        m.core.waves = m.core.partitions * (2 + self.vary(7, 2)).max(3_u32.div_ceil(m.core.partitions));
        m.cores = 1 + self.vary(8, 2);
        m.dispatch = if self.vary(9, 2) == 0 { Dispatch::Fill } else { Dispatch::RoundRobin };
        m.frontend.kind = FRONT_ENDS[self.vary(10, 3) as usize];
        m.frontend.policy = Policy::FETCH[self.vary(11, Policy::FETCH.len() as u32) as usize];
        m.frontend.buffer = 1 + self.vary(12, 4);
        m.frontend.branch_penalty = self.vary(13, 3);
        m.issue.policy = Policy::ISSUE[self.vary(14, Policy::ISSUE.len() as u32) as usize];
        let one = m.issue.policy == Policy::OwnerDispatch;
        m.issue.width = if one { 1 } else { 1 + self.vary(15, 2) };
        m.divergence.mechanism = self.way.mechanism;
        m.divergence.choice = self.way.choice;
        m.divergence.reconverge = self.way.reconverge;
        m.divergence.threshold = [50, 1, 1000][self.vary(16, 3) as usize];
        m.divergence.table = [16, 0, 3][self.vary(19, 3) as usize];
        m.divergence.memory = MEMORY[self.vary(20, 4) as usize];
        m.divergence.ahead = [RunAhead::Branch, RunAhead::Unlimited][self.vary(21, 2) as usize];
        m.split.contexts = self.contexts;
        m.split.units = self.way.units;
        m.split.split_cycles = self.vary(17, 3);
        m.split.merge_cycles = self.vary(18, 3);
        m.limits.cycles = 2_000_000;
        m.limits.memory = 1 << 20;
        m
    }

    /// The same machine without a splitting mechanism.
    pub fn plain(&self) -> Machine {
        let mut m = self.machine();
        m.divergence.mechanism = Mechanism::ExecMask;
        m.divergence.reconverge = Reconverge::Default;
        m
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let m = self.machine();
        write!(
            f,
            "{} {:?}, S = {}, marks {:?}; {} cores, {} partitions, {} waves, {} lanes, {:?}, issue {} x {}, threads {} in groups of {}",
            m.name,
            self.way,
            self.contexts,
            self.marking,
            m.cores,
            m.core.partitions,
            m.core.waves,
            m.core.lanes,
            m.frontend.kind,
            m.issue.policy.name(),
            m.issue.width,
            self.threads(),
            self.group(),
        )
    }
}
