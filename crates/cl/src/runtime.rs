//! The state behind all calls: one simulated device, and all objects. Calls of several host threads come one after the other; functions
//! of the program are called when no call is in progress.

use crate::ENVIRONMENT;
use crate::codes::Outcome;
use crate::objects::{Kind, Object, Objects, Program};
use crate::state::{Call, Command};
use miette::Report;
use std::collections::BTreeMap;
use wb_host::{Options, Session};

pub struct Runtime {
    pub host: Session,
    pub objects: Objects,
    /// Work that waits for something, in the order in which it came.
    pub pending: Vec<Command>,
    /// Memory that the program shares with kernels (SVM): first address, bytes.
    pub svm: BTreeMap<u64, u64>,
    /// Programs so far.
    pub programs: usize,
    /// Bytes that the program asked for last and did not get.
    pub refused: Option<u64>,
    /// Functions of the program to call as soon as no call is in progress.
    pub calls: Vec<Call>,
}

impl Runtime {
    /// `table`: the address of the table of functions.
    pub fn new(table: usize) -> Result<Runtime, Report> {
        Runtime::with(Options::from_environment(ENVIRONMENT)?, table)
    }

    pub fn with(options: Options, table: usize) -> Result<Runtime, Report> {
        Ok(Runtime {
            host: Session::new("cl", options)?,
            objects: Objects::new(table),
            pending: Vec::new(),
            svm: BTreeMap::new(),
            programs: 0,
            refused: None,
            calls: Vec::new(),
        })
    }

    /// One more reference to an object of a kind.
    pub fn retain<K: Kind>(&mut self, handle: u64) -> Outcome {
        self.objects.get::<K>(handle)?;
        self.objects.retain(handle);
        Ok(())
    }

    /// One reference fewer to an object of a kind.
    pub fn release<K: Kind>(&mut self, handle: u64) -> Outcome {
        self.objects.get::<K>(handle)?;
        self.let_go(handle);
        Ok(())
    }

    /// One reference fewer; what nobody has any more is gone, and lets go of what it had.
    pub fn let_go(&mut self, handle: u64) {
        let Some(object) = self.objects.release(handle) else { return };
        let mut destructors = Vec::new();
        match object {
            Object::Platform | Object::Device => {}
            Object::Context(context) => destructors = context.destructors,
            Object::Queue(queue) => self.let_go(queue.context),
            Object::Buffer(buffer) => {
                match buffer.parent {
                    Some((parent, _)) => self.let_go(parent),
                    None if !buffer.svm => _ = self.host.device.free(buffer.addr),
                    None => {}
                }
                self.let_go(buffer.context);
                destructors = buffer.destructors;
            }
            Object::Program(program) => {
                if let Some(code) = &program.code {
                    self.host.device.unload(&code.module);
                }
                self.let_go(program.context);
                destructors = program.destructors;
            }
            Object::Kernel(kernel) => {
                if let Ok(program) = self.objects.get_mut::<Program>(kernel.program) {
                    program.kernels = program.kernels.saturating_sub(1);
                }
                self.let_go(kernel.program);
            }
            Object::Event(event) => {
                event.queue.into_iter().for_each(|queue| self.let_go(queue));
                self.let_go(event.context);
            }
        }
        // The last one that was set is called first.
        let call = |(function, data)| Call { function, handle, status: None, data };
        self.calls.extend(destructors.into_iter().rev().map(call));
    }

    /// Nanoseconds of simulated time.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        let clock = u128::from(self.host.device.machine.clock_mhz.max(1));
        u64::try_from(u128::from(cycles) * 1000 / clock).unwrap_or(u64::MAX)
    }

    /// Device memory; none if there is no room.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let addr = self.host.device.alloc(bytes).ok();
        match addr {
            Some(addr) => self.host.asked(addr, bytes, "buffer", false),
            None => self.refused = Some(bytes),
        }
        addr
    }

    /// The shared memory that an address lies in: first address and bytes.
    pub fn shared(&self, addr: u64) -> Option<(u64, u64)> {
        let (&at, &bytes) = self.svm.range(..=addr).next_back()?;
        (addr - at < bytes).then_some((at, bytes))
    }

    /// Shared memory goes; other addresses are left alone.
    pub fn free_shared(&mut self, addr: u64) {
        if self.svm.remove(&addr).is_some() {
            self.host.device.free(addr);
        }
    }

    /// What to say at a fault if the program did not get all the memory it asked for, and went on.
    pub fn note(&self) -> String {
        let Some(bytes) = self.refused else { return String::new() };
        let total = self.host.device.heap().total();
        format!(
            "\n  an allocation of {bytes} bytes failed before (CL_MEM_OBJECT_ALLOCATION_FAILURE; the device has {total} bytes), \
             and the program went on\n  help: give the device more: --set limits.memory=…"
        )
    }
}
