//! All objects that the program has handles of, with their reference counts. A handle is the address of two words of ours, the first
//! of which is the table of functions (cl_khr_icd): the loader reads it. So handles stay readable after their object is gone, and
//! are given out again only after many others.

use crate::codes::{Code, Outcome, refuse};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use wavebound::device::Module;
use wavebound::objects::codeobject;

/// Handles of one allocation.
const CHUNK: usize = 256;
/// Released handles that are not given out again.
const QUARANTINE: usize = 4096;

struct Handles {
    table: usize,
    chunks: Vec<Box<[[usize; 2]]>>,
    free: VecDeque<u64>,
    fresh: Vec<u64>,
}

impl Handles {
    fn take(&mut self) -> u64 {
        if self.free.len() > QUARANTINE
            && let Some(handle) = self.free.pop_front()
        {
            return handle;
        }
        if self.fresh.is_empty() {
            let chunk = vec![[self.table, 0]; CHUNK].into_boxed_slice();
            self.fresh.extend(chunk.iter().map(|cell| std::ptr::from_ref(cell) as u64));
            self.chunks.push(chunk);
        }
        self.fresh.pop().unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Context {
    /// As the program gave them, with their end.
    pub properties: Vec<isize>,
    /// Functions to call when it is gone, with their data.
    pub destructors: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
pub struct Queue {
    pub context: u64,
    pub properties: u64,
    /// The list that `clCreateCommandQueueWithProperties` was given.
    pub list: Option<Vec<u64>>,
    /// Events of work that later work waits for: the last piece in order, or the last barrier.
    pub last: Option<u64>,
}

/// `CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE` and `CL_QUEUE_PROFILING_ENABLE`.
pub const OUT_OF_ORDER: u64 = 1;
pub const PROFILING: u64 = 2;

#[derive(Clone, Debug)]
pub struct Buffer {
    pub context: u64,
    pub flags: u64,
    /// Where kernels find it, and its bytes.
    pub addr: u64,
    pub bytes: u64,
    /// The program's own memory that it stands for (`CL_MEM_USE_HOST_PTR`), or that it was made from.
    pub host: u64,
    /// A sub-buffer's buffer, and where it begins there.
    pub parent: Option<(u64, u64)>,
    /// Mapped parts: address that the program got, first byte, bytes, flags of the map.
    pub maps: Vec<Map>,
    pub destructors: Vec<(u64, u64)>,
    pub properties: Vec<u64>,
    /// Whether the memory is SVM of the program, which it frees.
    pub svm: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    pub pointer: u64,
    pub offset: u64,
    pub bytes: u64,
    pub flags: u64,
}

/// Whether a build is there (`cl_build_status`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    #[default]
    None,
    Success,
    Error,
}

/// Code on the device.
#[derive(Debug)]
pub struct Placed {
    /// The code object as a file.
    pub bytes: Vec<u8>,
    pub module: Module,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub context: u64,
    /// Number of the program, for names.
    pub number: usize,
    pub source: Option<Vec<u8>>,
    /// What `clCompileProgram` or `clLinkProgram -create-library` made.
    pub bitcode: Option<Arc<Vec<u8>>>,
    pub is_library: bool,
    /// An executable; none if it has no kernels.
    pub code: Option<Arc<Placed>>,
    /// Whether it is an executable.
    pub linked: bool,
    pub status: Build,
    pub options: String,
    pub log: String,
    /// Kernel objects of it.
    pub kernels: u32,
    pub destructors: Vec<(u64, u64)>,
}

/// An argument as the program set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A buffer's handle.
    Buffer(u64),
    /// An address, or nothing.
    Pointer(u64),
    Bytes(Vec<u8>),
    Local(u32),
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub context: u64,
    pub program: u64,
    pub code: Arc<Placed>,
    pub kernel: Arc<codeobject::Kernel>,
    pub values: Vec<Option<Value>>,
}

#[derive(Clone, Debug, Default)]
pub struct Event {
    pub context: u64,
    pub queue: Option<u64>,
    /// `cl_command_type`.
    pub kind: u32,
    /// `CL_QUEUED` 3, `CL_SUBMITTED` 2, `CL_RUNNING` 1, `CL_COMPLETE` 0, or an error.
    pub status: i32,
    /// Queued, submitted, started, ended, in cycles.
    pub times: [u64; 4],
    /// Status at which to call, function, its data.
    pub callbacks: Vec<(i32, u64, u64)>,
}

pub const QUEUED: i32 = 3;
pub const SUBMITTED: i32 = 2;
pub const RUNNING: i32 = 1;
pub const COMPLETE: i32 = 0;
/// `CL_COMMAND_USER`.
pub const USER: u32 = 0x1204;

pub enum Object {
    Platform,
    Device,
    Context(Context),
    Queue(Queue),
    Buffer(Buffer),
    Program(Program),
    Kernel(Kernel),
    Event(Event),
}

/// A kind of object that handles stand for.
pub trait Kind {
    /// What a call says about a handle of anything else.
    const INVALID: Code;
    fn of(object: &Object) -> Option<&Self>;
    fn of_mut(object: &mut Object) -> Option<&mut Self>;
}

macro_rules! kinds {
    ($($name:ident: $code:ident,)*) => {
        $(impl Kind for $name {
            const INVALID: Code = Code::$code;
            fn of(object: &Object) -> Option<&Self> {
                if let Object::$name(it) = object { Some(it) } else { None }
            }
            fn of_mut(object: &mut Object) -> Option<&mut Self> {
                if let Object::$name(it) = object { Some(it) } else { None }
            }
        })*
    };
}

kinds! {
    Context: INVALID_CONTEXT,
    Queue: INVALID_COMMAND_QUEUE,
    Buffer: INVALID_MEM_OBJECT,
    Program: INVALID_PROGRAM,
    Kernel: INVALID_KERNEL,
    Event: INVALID_EVENT,
}

struct Entry {
    count: u32,
    object: Object,
}

pub struct Objects {
    handles: Handles,
    map: HashMap<u64, Entry>,
    pub platform: u64,
    pub device: u64,
}

impl Objects {
    /// `table` is the address of the table of functions.
    pub fn new(table: usize) -> Objects {
        let handles = Handles { table, chunks: Vec::new(), free: VecDeque::new(), fresh: Vec::new() };
        let mut objects = Objects { handles, map: HashMap::new(), platform: 0, device: 0 };
        objects.platform = objects.insert(Object::Platform);
        objects.device = objects.insert(Object::Device);
        objects
    }

    /// A new object with one reference.
    pub fn insert(&mut self, object: Object) -> u64 {
        let handle = self.handles.take();
        self.map.insert(handle, Entry { count: 1, object });
        handle
    }

    pub fn get<K: Kind>(&self, handle: u64) -> Outcome<&K> {
        let found = self.map.get(&handle).and_then(|e| K::of(&e.object));
        Ok(found.ok_or(K::INVALID)?)
    }

    pub fn get_mut<K: Kind>(&mut self, handle: u64) -> Outcome<&mut K> {
        let found = self.map.get_mut(&handle).and_then(|e| K::of_mut(&mut e.object));
        Ok(found.ok_or(K::INVALID)?)
    }

    pub fn is_device(&self, handle: u64) -> Outcome {
        if handle == self.device { Ok(()) } else { refuse(Code::INVALID_DEVICE) }
    }

    pub fn count(&self, handle: u64) -> u32 {
        self.map.get(&handle).map_or(0, |e| e.count)
    }

    /// One more reference, if there is such an object.
    pub fn retain(&mut self, handle: u64) {
        if let Some(entry) = self.map.get_mut(&handle) {
            entry.count = entry.count.saturating_add(1);
        }
    }

    /// One reference fewer; the object if it was the last one.
    pub fn release(&mut self, handle: u64) -> Option<Object> {
        let entry = self.map.get_mut(&handle)?;
        entry.count -= 1;
        if entry.count > 0 {
            return None;
        }
        self.handles.free.push_back(handle);
        self.map.remove(&handle).map(|entry| entry.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_typed_counted_and_not_given_out_soon() {
        let mut objects = Objects::new(77);
        let context = objects.insert(Object::Context(Context::default()));
        assert!(objects.get::<Context>(context).is_ok());
        assert_eq!(objects.get::<Event>(context).err(), Some(Code::INVALID_EVENT.into()));
        assert_eq!(objects.get::<Context>(context + 1).err(), Some(Code::INVALID_CONTEXT.into()));
        objects.retain(context);
        assert!(objects.release(context).is_none() && objects.release(context).is_some());
        assert!(objects.get::<Context>(context).is_err() && objects.release(context).is_none());
        let mut seen = vec![context];
        for _ in 0..QUARANTINE {
            let handle = objects.insert(Object::Event(Event::default()));
            assert!(!seen.contains(&handle), "given out again too soon");
            seen.push(handle);
            objects.release(handle);
        }
        let again = (0..CHUNK).any(|_| {
            let handle = objects.insert(Object::Event(Event::default()));
            seen.contains(&handle)
        });
        assert!(again, "memory of handles is used again");
    }
}
