//! The C interface: every function reads its arguments, calls the runtime and writes results. The loader finds them through a table
//! (cl_khr_icd); only three have names of their own. This is the only module with unsafe code.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

mod context;
mod enqueue;
mod event;
mod kernel;
mod launch;
mod memory;
mod missing;
mod platform;
mod program;
mod rect;
mod svm;
mod table;
mod work;

pub use table::NAMES;

use crate::codes::{Code, Failure, Outcome, refuse};
use crate::commands::Place;
use crate::runtime::Runtime;
use crate::state::{Call, Work};
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use wb_host::describe;
use wb_host::ffi::end;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
/// Work is done, or an event has a new status.
static NEWS: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Option<Runtime>> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call with the runtime, which the first call makes; no other thread is in it then. Functions of the program that it leads to
/// are called afterwards.
fn with<T>(work: impl FnOnce(&mut Runtime) -> Outcome<T>) -> Outcome<T> {
    let mut guard = lock();
    let runtime = guard.get_or_insert_with(start);
    runtime.host.come_home();
    let result = work(runtime);
    if let Err(Failure::Fatal(text)) = &result {
        end(Some(&mut runtime.host), text);
    }
    let calls = std::mem::take(&mut runtime.calls);
    drop(guard);
    calls.into_iter().for_each(call_back);
    result
}

fn start() -> Runtime {
    let runtime = match Runtime::new(table::address()) {
        Ok(runtime) => runtime,
        Err(report) => end(None, &describe(&report)),
    };
    wb_host::ffi::begin(&runtime.host, at_exit);
    runtime
}

extern "C" fn at_exit() {
    if let Some(runtime) = lock().as_mut() {
        runtime.host.finish();
    }
}

/// Calls a function of the program; an event is held until it has returned.
fn call_back(call: Call) {
    let (handle, data) = (pointer(call.handle), pointer(call.data));
    // SAFETY: the program passed this address as a function of this type, and promised that it can be called until now.
    unsafe {
        match call.status {
            Some(status) => {
                type Notify = unsafe extern "C" fn(*mut c_void, i32, *mut c_void);
                let function: Notify = std::mem::transmute(pointer(call.function));
                function(handle, status, data);
            }
            None => {
                type Notify = unsafe extern "C" fn(*mut c_void, *mut c_void);
                let function: Notify = std::mem::transmute(pointer(call.function));
                function(handle, data);
            }
        }
    }
    if call.status.is_some() {
        let _ = with(|rt| {
            rt.let_go(call.handle);
            Ok(())
        });
    }
}

/// The error code of a call.
fn code(result: Outcome) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Failure::Code(code)) => code.0,
        Err(Failure::Fatal(_)) => Code::OUT_OF_RESOURCES.0,
    }
}

fn call(work: impl FnOnce(&mut Runtime) -> Outcome) -> i32 {
    code(with(work))
}

/// A new object's handle; the code goes where the program wants it.
///
/// # Safety
/// `error` is null or room for a code.
unsafe fn create(error: *mut i32, result: Outcome<u64>) -> *mut c_void {
    let (handle, status) = match result {
        Ok(handle) => (handle, 0),
        Err(failure) => (0, code(Err(failure))),
    };
    if !error.is_null() {
        // SAFETY: not null, and the caller promises room.
        unsafe { error.write_unaligned(status) };
    }
    pointer(handle)
}

/// Writes an answer of `clGet…Info`.
///
/// # Safety
/// `to` is null or room for `size` bytes, `wanted` null or room for a size.
unsafe fn answer(bytes: &[u8], size: usize, to: *mut c_void, wanted: *mut usize) -> Outcome {
    if !to.is_null() {
        if size < bytes.len() {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: there is room for all of them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    }
    // SAFETY: passed on.
    unsafe { put(wanted, bytes.len()) };
    Ok(())
}

/// Writes a result where the program wants it, if it does.
///
/// # Safety
/// `to` is null or room for a `T`.
unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, and the caller promises room; the program may have it unaligned.
        unsafe { to.write_unaligned(value) };
    }
}

/// A list of the program's.
///
/// # Safety
/// `from` is null or points to `count` values.
unsafe fn read_list<T: Copy>(count: usize, from: *const T) -> Vec<T> {
    if from.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller promises the values, which may be unaligned.
    (0..count).map(|i| unsafe { from.add(i).read_unaligned() }).collect()
}

/// A list that ends with a zero, with its end; empty if there is none.
///
/// # Safety
/// `from` is null or points to such a list.
unsafe fn read_properties<T: Copy + Default + PartialEq>(from: *const T) -> Vec<T> {
    let mut list = Vec::new();
    if from.is_null() {
        return list;
    }
    loop {
        // SAFETY: the caller promises an end, which was not there yet.
        let value = unsafe { from.add(list.len()).read_unaligned() };
        list.push(value);
        // Names and values alternate; the end is in place of a name.
        if value == T::default() && list.len() % 2 == 1 {
            return list;
        }
    }
}

/// A string of the program's; none if there is none.
///
/// # Safety
/// `from` is null or a string that ends with a zero byte.
unsafe fn read_text(from: *const c_char) -> Option<String> {
    if from.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller promises a C string.
    Some(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// The events that a command waits for.
///
/// # Safety
/// `list` is null or points to `count` handles.
unsafe fn wait_list(count: u32, list: *const *mut c_void) -> Outcome<Vec<u64>> {
    if (count == 0) != list.is_null() {
        return refuse(Code::INVALID_EVENT_WAIT_LIST);
    }
    // SAFETY: passed on.
    Ok(unsafe { read_list(count as usize, list) }.into_iter().map(|p| address(p)).collect())
}

/// An address or handle of the program's.
fn address<T>(pointer: *const T) -> u64 {
    pointer as u64
}

/// A handle as the program wants it.
fn pointer(handle: u64) -> *mut c_void {
    handle as *mut c_void
}

/// What every command says: queue, kind, what to wait for, where its event goes, and whether to wait for its end.
struct Ask {
    queue: u64,
    kind: u32,
    waits: Vec<u64>,
    event: *mut *mut c_void,
    blocking: bool,
}

impl Ask {
    /// # Safety
    /// `list` is null or points to `count` handles.
    unsafe fn new(
        queue: *mut c_void,
        kind: u32,
        count: u32,
        list: *const *mut c_void,
        event: *mut *mut c_void,
    ) -> Outcome<Ask> {
        // SAFETY: passed on.
        let waits = unsafe { wait_list(count, list) }?;
        Ok(Ask { queue: address(queue), kind, waits, event, blocking: false })
    }

    fn blocking(mut self, blocking: u32) -> Ask {
        self.blocking = blocking != 0;
        self
    }
}

/// Takes in a command that `make` describes: handles it needs, and what to do. `make` also returns something for the caller.
///
/// # Safety
/// `ask.event` is null or room for a handle.
unsafe fn submit<T>(
    ask: Ask,
    make: impl FnOnce(&mut Runtime, u64) -> Outcome<(Vec<u64>, Work, T)>,
) -> Outcome<T> {
    let place = Place { queue: ask.queue, kind: ask.kind, waits: &ask.waits };
    let (event, made) = with(|rt| {
        let context = rt.check_place(&place)?;
        let (holds, work, made) = make(rt, context)?;
        Ok((rt.enqueue(&place, &holds, work)?, made))
    })?;
    // SAFETY: the caller promises room.
    unsafe { put(ask.event, pointer(event)) };
    work::drive();
    let status = if ask.blocking { wait(&[event]) } else { 0 };
    if ask.event.is_null() {
        with(|rt| {
            rt.let_go(event);
            Ok(())
        })?;
    }
    if status < 0 { refuse(Code(status)) } else { Ok(made) }
}

/// Waits until events have their last status; returns the first error.
fn wait(events: &[u64]) -> i32 {
    work::drive();
    let mut guard = lock();
    loop {
        let Some(runtime) = guard.as_ref() else { return 0 };
        if events.iter().all(|e| runtime.status(*e) <= 0) {
            return events.iter().map(|e| runtime.status(*e)).find(|s| *s < 0).unwrap_or(0);
        }
        guard = NEWS.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}
