//! What the runtime keeps, as plain data: memory, code, streams, graphs, textures. What is done with it
//! stands in the files of these names, above the runtime.

use std::collections::{BTreeMap, BTreeSet};
use wavebound::device::Module;

/// What an allocation is, for `hipPointerGetAttributes` and freeing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    Host,
    Managed,
}

/// Memory of the program's own that kernels may use (`hipHostRegister`): a copy in the arena, which is brought up to date
/// before and after every launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    pub bytes: u64,
    /// Where kernels find it.
    pub device: u64,
}

#[derive(Default)]
pub struct Memory {
    pub kinds: BTreeMap<u64, (Kind, u32)>,
    /// By host address.
    pub registered: BTreeMap<u64, Registered>,
    /// Largest part in use at once.
    pub most: u64,
    /// Bytes that the program asked for last and did not get.
    pub refused: Option<u64>,
}

impl Memory {
    /// First addresses of what the program allocated; managed variables stay.
    pub fn allocations(&self) -> Vec<u64> {
        self.kinds.keys().copied().collect()
    }

    /// What to say at a fault if the program did not get all the memory it asked for, and went on.
    pub fn refusal(&self, total: u64) -> String {
        let Some(bytes) = self.refused else { return String::new() };
        format!(
            "\n  an allocation of {bytes} bytes failed before (hipErrorOutOfMemory; the device has {total} bytes), and the \
             program went on\n  help: give the device more: --set limits.memory=…"
        )
    }
}

/// Device code, perhaps on the device.
pub struct Source {
    pub name: String,
    /// The code object, or why there is none.
    pub object: Result<Vec<u8>, String>,
    pub module: Option<Module>,
    /// Managed variables: the pointer of this name gets this address.
    pub managed: Vec<(String, u64)>,
}

/// A kernel: number of its source, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub source: usize,
    pub kernel: String,
}

/// A variable of the program: number of its source, name, bytes.
#[derive(Clone, Debug)]
pub struct Variable {
    pub source: usize,
    pub name: String,
    pub bytes: u64,
}

#[derive(Default)]
pub struct Modules {
    pub sources: Vec<Source>,
    /// By the address of the host's stub.
    pub functions: BTreeMap<u64, Function>,
    /// By the address of the host's shadow variable.
    pub variables: BTreeMap<u64, Variable>,
    /// Functions the program got by name; the handle is the position plus a first number.
    pub handles: Vec<Function>,
}

/// A launch as the program describes it.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    pub function: Function,
    /// Groups, and threads of a group.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// Bytes of the explicit arguments.
    pub args: Vec<Vec<u8>>,
}

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Node {
    Launch(LaunchSpec),
    Copy {
        dst: u64,
        src: u64,
        bytes: u64,
    },
    /// Rows of a 2D copy.
    Rows {
        dst: u64,
        dst_pitch: u64,
        src: u64,
        src_pitch: u64,
        width: u64,
        height: u64,
    },
    Fill {
        dst: u64,
        pattern: u32,
        size: u32,
        count: u64,
    },
    Record(u64),
    /// A function of the host with its argument.
    Host {
        function: u64,
        argument: u64,
    },
    /// Only there for dependencies.
    Empty,
}

#[derive(Default)]
pub struct Graphs {
    pub graphs: BTreeMap<u64, Vec<Node>>,
    pub executable: BTreeMap<u64, Vec<Node>>,
}

impl Graphs {
    pub fn insert(&mut self, graph: u64, nodes: Vec<Node>) {
        self.graphs.insert(graph, nodes);
    }
}

#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub flags: u32,
    pub priority: i32,
    /// The capture its work goes to instead of being done.
    pub capture: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub flags: u32,
    /// Simulated cycle of its last record.
    pub at: Option<u64>,
    /// The capture its last record went to.
    pub captured: Option<u64>,
}

#[derive(Default)]
pub struct Streams {
    pub list: BTreeMap<u64, Stream>,
    pub events: BTreeMap<u64, Event>,
    pub captures: BTreeMap<u64, Vec<Node>>,
    pub graphs: Graphs,
    pub next: u64,
}

/// Handles of streams, events and graphs are numbers that are no addresses.
const FIRST_HANDLE: u64 = 0x10_0000;

impl Streams {
    /// A handle that nobody has.
    pub fn handle(&mut self) -> u64 {
        self.next += 1;
        FIRST_HANDLE + self.next * 16
    }
}

#[derive(Default)]
pub struct Textures {
    /// Objects by address.
    pub objects: BTreeSet<u64>,
    /// Objects that belong to texture references of the host.
    pub bound: BTreeMap<u64, u64>,
}
