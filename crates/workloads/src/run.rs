//! A workload on the host: buffers, launches, work of the host between them, wanted results. It is data with a cursor
//! ([`Player`]), so that anything with buffers can run it: the simulated device, a launch at a time, or PoCL.

use crate::data::{Data, Within};
use crate::error::WorkloadError;

/// Buffers as the host sees them while a workload runs.
pub trait Memory {
    fn read(&mut self, buffer: usize) -> Result<Vec<u8>, WorkloadError>;
    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), WorkloadError>;
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Number of a buffer.
    Buffer(usize),
    /// Bytes passed by value.
    Value(Vec<u8>),
    /// Bytes of local memory.
    Local(u32),
}

impl From<i32> for Arg {
    fn from(v: i32) -> Arg {
        Arg::Value(v.to_le_bytes().to_vec())
    }
}

impl From<u32> for Arg {
    fn from(v: u32) -> Arg {
        Arg::Value(v.to_le_bytes().to_vec())
    }
}

impl From<f32> for Arg {
    fn from(v: f32) -> Arg {
        Arg::Value(v.to_le_bytes().to_vec())
    }
}

impl From<BufferId> for Arg {
    fn from(b: BufferId) -> Arg {
        Arg::Buffer(b.0)
    }
}

/// A buffer of a [`Run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferId(pub usize);

/// One launch; sizes in work-items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kernel: &'static str,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub args: Vec<Arg>,
}

/// What the host does between launches.
pub type HostWork = Box<dyn Fn(&mut dyn Memory) -> Result<(), WorkloadError>>;

enum Op {
    Launch(Launch),
    Host(HostWork),
    /// Writes zero to the first word of a buffer.
    Clear(usize),
    /// Back to `start` while the first word of the buffer is not zero.
    While {
        start: usize,
        flag: usize,
        max: u32,
        counter: usize,
    },
}

/// A buffer, what it starts with, and its name.
pub struct Buffer {
    pub name: &'static str,
    pub data: Data,
}

/// What a buffer must hold in the end.
pub struct Want {
    pub buffer: usize,
    pub data: Data,
    pub within: Within,
}

/// A limit of a loop that data decide: `tag` is what the source says behind `loop:` on the loop's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    pub kernel: &'static str,
    pub tag: &'static str,
    pub max: u64,
    pub why: String,
}

/// A workload of one size, ready to run.
#[derive(Default)]
pub struct Run {
    pub buffers: Vec<Buffer>,
    pub wants: Vec<Want>,
    pub limits: Vec<Limit>,
    ops: Vec<Op>,
    loops: usize,
}

impl Run {
    pub fn new() -> Run {
        Run::default()
    }

    pub fn buffer(&mut self, name: &'static str, data: impl Into<Data>) -> BufferId {
        self.buffers.push(Buffer { name, data: data.into() });
        BufferId(self.buffers.len() - 1)
    }

    /// A launch in one dimension; `grid` is rounded up to whole groups.
    pub fn line(&mut self, kernel: &'static str, grid: u32, group: u32, args: Vec<Arg>) {
        self.launch(kernel, [grid.next_multiple_of(group), 1, 1], [group, 1, 1], args);
    }

    /// A launch in two dimensions, likewise.
    pub fn plane(&mut self, kernel: &'static str, grid: [u32; 2], group: [u32; 2], args: Vec<Arg>) {
        let whole = |i: usize| grid[i].next_multiple_of(group[i]);
        self.launch(kernel, [whole(0), whole(1), 1], [group[0], group[1], 1], args);
    }

    pub fn launch(&mut self, kernel: &'static str, grid: [u32; 3], group: [u32; 3], args: Vec<Arg>) {
        self.ops.push(Op::Launch(Launch { kernel, grid, group, args }));
    }

    /// Work of the host between launches.
    pub fn host(&mut self, work: impl Fn(&mut dyn Memory) -> Result<(), WorkloadError> + 'static) {
        self.ops.push(Op::Host(Box::new(work)));
    }

    /// Clears the first word of `flag`, does what `body` adds, and again while the word is not zero.
    pub fn repeat_while(&mut self, flag: BufferId, max: u32, body: impl FnOnce(&mut Run)) {
        let (start, counter) = (self.ops.len(), self.loops);
        self.loops += 1;
        self.ops.push(Op::Clear(flag.0));
        body(self);
        self.ops.push(Op::While { start, flag: flag.0, max, counter });
    }

    /// Says what a buffer must hold in the end.
    pub fn want(&mut self, buffer: BufferId, data: impl Into<Data>, within: Within) {
        self.wants.push(Want { buffer: buffer.0, data: data.into(), within });
    }

    /// Limits a loop that data decide.
    pub fn limit(&mut self, kernel: &'static str, tag: &'static str, max: u64, why: impl Into<String>) {
        self.limits.push(Limit { kernel, tag, max, why: why.into() });
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.data.bytes().len() as u64).sum()
    }
}

/// A run and how far it is.
pub struct Player {
    pub run: Run,
    at: usize,
    rounds: Vec<u32>,
}

impl Player {
    pub fn new(run: Run) -> Player {
        let rounds = vec![0; run.loops];
        Player { run, at: 0, rounds }
    }

    /// The next launch, after what the host does before it; `None` at the end.
    pub fn next(&mut self, memory: &mut dyn Memory) -> Result<Option<Launch>, WorkloadError> {
        while let Some(op) = self.run.ops.get(self.at) {
            self.at += 1;
            match op {
                Op::Launch(launch) => return Ok(Some(launch.clone())),
                Op::Host(work) => work(memory)?,
                Op::Clear(flag) => memory.write(*flag, &[0; 4])?,
                Op::While { start, flag, max, counter } => {
                    self.rounds[*counter] += 1;
                    if memory.read(*flag)?.iter().take(4).all(|&b| b == 0) {
                        self.rounds[*counter] = 0;
                    } else if self.rounds[*counter] < *max {
                        self.at = *start;
                    } else {
                        let flag = self.run.buffers[*flag].name;
                        return Err(WorkloadError::Rounds { flag, max: *max });
                    }
                }
            }
        }
        Ok(None)
    }
}
