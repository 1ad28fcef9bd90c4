//! Work of the program as plain data: what there is to do, what it waits for, and functions of the program to be called.

use crate::objects::Placed;
use std::sync::Arc;
use wavebound::device::Dispatch;
use wavebound::objects::codeobject;

/// Rows and slices of a copy in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub dst: Side,
    pub src: Side,
    pub region: [u64; 3],
}

/// Where the first byte of a rectangular region lies, and how far rows and slices are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub addr: u64,
    pub row: u64,
    pub slice: u64,
}

/// What there is to do. Addresses were checked when the work came, and what they belong to is held until it is done.
#[derive(Debug)]
pub enum Work {
    /// Somebody is at it.
    Running,
    Nothing,
    Copy {
        dst: u64,
        src: u64,
        bytes: u64,
    },
    Rect(Rect),
    Fill {
        dst: u64,
        pattern: Vec<u8>,
        bytes: u64,
    },
    Launch(Box<LaunchSpec>),
    /// A function of the program with its arguments.
    Native {
        function: u64,
        arguments: Vec<u8>,
    },
    /// Shared memory goes, or a function of the program is told to free it.
    Free {
        queue: u64,
        pointers: Vec<u64>,
        function: u64,
        data: u64,
    },
}

#[derive(Debug)]
pub struct Command {
    pub event: u64,
    /// What must end well, and what must have ended.
    pub waits: Vec<u64>,
    pub after: Vec<u64>,
    pub holds: Vec<u64>,
    pub work: Work,
}

/// A launch with copies of its arguments.
#[derive(Debug)]
pub struct LaunchSpec {
    pub code: Arc<Placed>,
    pub kernel: Arc<codeobject::Kernel>,
    pub dispatch: Dispatch,
}

/// A function of the program with what it gets: a handle, perhaps a status, and the program's data. An event, which has a status, is
/// held until the function has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub function: u64,
    pub handle: u64,
    pub status: Option<i32>,
    pub data: u64,
}
