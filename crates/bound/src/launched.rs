//! One launch as the analysis sees it, before it runs.

use wb_hw::Machine;
use wb_jobs::{Job, JobError, ProgramRef};
use wb_objects::codeobject::KernelArg;
use wb_sim::{Launch, Touchable};

/// One launch, before it runs.
pub struct Launched<'a> {
    pub kernel: &'a str,
    /// The program's file.
    pub file: &'a str,
    pub program: ProgramRef<'a>,
    pub machine: &'a Machine,
    pub launch: Launch,
    /// Bytes of the kernel's arguments and what they are; empty where there are none.
    pub kernarg: &'a [u8],
    pub args: &'a [KernelArg],
    /// Which launch it is. One that is measured again with other inputs keeps its number: it is still one launch.
    pub number: usize,
    /// Hash of the data: memory before the first launch of the run ([`crate::data_hash`]).
    pub data: &'a str,
    /// Buffers that have names, as the launch finds them.
    pub buffers: &'a [PlacedBuffer],
    /// Where its accesses can go.
    pub touchable: Touchable,
}

impl<'a> Launched<'a> {
    /// The launch of a job, of which data and buffers do not matter.
    pub fn of(job: &'a Job) -> Result<Launched<'a>, JobError> {
        Ok(Launched {
            kernel: job.program.borrow().kernel(),
            file: &job.file,
            program: job.program.borrow(),
            machine: &job.machine,
            launch: job.launch,
            kernarg: &job.kernarg,
            args: &job.args,
            number: 0,
            data: "",
            buffers: &[],
            touchable: job.memory()?.touchable(),
        })
    }
}

/// A buffer of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedBuffer {
    pub name: String,
    pub addr: u64,
    pub bytes: u64,
    /// Hash of the contents, where somebody asked for it.
    pub hash: String,
}
