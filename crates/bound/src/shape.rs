//! What a launch is, apart from the data it finds: geometry, arguments, what its groups need of a core, and how many of them
//! the machine holds at once. Reports and certificates name launches by the hash of this.

use crate::launched::Launched;
use crate::source::hash;
use std::fmt::Write;
use wb_hw::{Limit, Machine, Needs};
use wb_sim::Launch;
use wb_wcet::kernel::Seats;
use xxhash_rust::xxh3::Xxh3;

/// A launch without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Work-items in all and in a group.
    pub grid: [u32; 3],
    pub group: [u32; 3],
    /// The argument segment, hidden arguments and addresses of buffers included; the views of a GUPPY launch as text.
    pub arguments: Vec<u8>,
    pub needs: Needs,
    /// Groups in all; how many of them fit at once, and why not more.
    pub groups: u64,
    pub seats: Seats,
    pub limit: &'static str,
}

/// What limits the groups on a core, in words.
pub fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Slots => "wave slots",
        Limit::VectorRegisters => "vector registers",
        Limit::ScalarRegisters => "scalar registers",
        Limit::LocalMemory => "local memory",
        Limit::Barriers => "barriers",
    }
}

impl Shape {
    pub fn of(launched: &Launched) -> Shape {
        let (needs, groups) = needs(launched.launch, launched.machine);
        let (grid, group) = match launched.launch {
            Launch::Groups(g) => (g.grid, g.group),
            Launch::Grid { threads, group } => ([threads, 1, 1], [group, 1, 1]),
            Launch::Boot => ([1; 3], [1; 3]),
            Launch::Cores { count } => ([count, 1, 1], [1; 3]),
        };
        let arguments = launched.program.arguments(launched.kernarg);
        Shape::new(grid, group, arguments, needs, groups, launched.machine)
    }

    pub fn new(
        grid: [u32; 3],
        group: [u32; 3],
        arguments: Vec<u8>,
        needs: Needs,
        groups: u64,
        machine: &Machine,
    ) -> Shape {
        let limit = limit_name(machine.occupancy(needs).limit);
        Shape { grid, group, arguments, needs, groups, seats: Seats::of(machine, needs), limit }
    }

    /// Groups that run at once.
    pub fn at_once(&self) -> u64 {
        self.seats.cores.saturating_mul(self.seats.groups_per_core)
    }

    /// Hash of what the host says: sizes, registers, local memory, arguments (docs/certificate.md).
    pub fn hash(&self) -> String {
        let Shape { grid: [gx, gy, gz], group: [x, y, z], needs, .. } = self;
        let arguments = hex(&self.arguments);
        let text = format!(
            "grid {gx} {gy} {gz}\ngroup {x} {y} {z}\nvgprs {}\nsgprs {}\nlds {}\narguments {arguments}\n",
            needs.vgprs, needs.sgprs, needs.lds_bytes
        );
        hash(text.as_bytes())
    }
}

/// What one group of the launch needs of a core, and how many there are. Waves that are launched one by one are groups
/// of one.
pub fn needs(launch: Launch, machine: &Machine) -> (Needs, u64) {
    match launch {
        Launch::Groups(g) => {
            let needs = Needs {
                waves_per_group: g.waves(machine.core.lanes),
                vgprs: g.vgprs,
                sgprs: g.sgprs,
                lds_bytes: g.lds_bytes,
            };
            (needs, g.count.into())
        }
        Launch::Grid { threads, .. } => {
            let waves = threads.div_ceil(machine.core.lanes.max(1)).max(1);
            (Needs { waves_per_group: 1, ..Needs::default() }, waves.into())
        }
        Launch::Boot => (Needs { waves_per_group: 1, ..Needs::default() }, 1),
        Launch::Cores { count } => (Needs { waves_per_group: 1, ..Needs::default() }, count.into()),
    }
}

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// Hash of memory as a launch finds it: pieces with their addresses.
pub fn data_hash<'a>(pieces: impl IntoIterator<Item = (u64, &'a [u8])>) -> String {
    let mut hasher = Xxh3::new();
    for (addr, bytes) in pieces {
        hasher.update(&addr.to_le_bytes());
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    format!("xxh3:{:016x}", hasher.digest())
}
