//! What all functions need: the runtime behind a lock, and ways to read and write the program's memory.

use crate::codes::{Code, Failure, Outcome, refuse};
use crate::runtime::Runtime;
use crate::state::Call;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use wb_host::describe;
use wb_host::ffi::end;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
/// What the functions that the loader calls first know of those that it calls later.
pub(super) struct Entry {
    /// The address of the table.
    pub table: usize,
    /// A function by its name; null if there is none.
    pub function: fn(&str) -> *mut c_void,
}

/// Known before any other function can be called.
pub(super) static ENTRY: OnceLock<Entry> = OnceLock::new();
/// Work is done, or an event has a new status.
pub(super) static NEWS: Condvar = Condvar::new();

pub(super) fn lock() -> MutexGuard<'static, Option<Runtime>> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call with the runtime, which the first call makes; no other thread is in it then. Functions of the program that it leads to
/// are called afterwards.
pub(super) fn with<T>(work: impl FnOnce(&mut Runtime) -> Outcome<T>) -> Outcome<T> {
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
    let table = ENTRY.get().map_or(0, |entry| entry.table);
    let runtime = match Runtime::new(table) {
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
pub(super) fn code(result: Outcome) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Failure::Code(code)) => code.0,
        Err(Failure::Fatal(_)) => Code::OUT_OF_RESOURCES.0,
    }
}

pub(super) fn call(work: impl FnOnce(&mut Runtime) -> Outcome) -> i32 {
    code(with(work))
}

/// A new object's handle; the code goes where the program wants it.
///
/// # Safety
/// `error` is null or room for a code.
pub(super) unsafe fn create(error: *mut i32, result: Outcome<u64>) -> *mut c_void {
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
pub(super) unsafe fn answer(bytes: &[u8], size: usize, to: *mut c_void, wanted: *mut usize) -> Outcome {
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
pub(super) unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, and the caller promises room; the program may have it unaligned.
        unsafe { to.write_unaligned(value) };
    }
}

/// A list of the program's.
///
/// # Safety
/// `from` is null or points to `count` values.
pub(super) unsafe fn read_list<T: Copy>(count: usize, from: *const T) -> Vec<T> {
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
pub(super) unsafe fn read_properties<T: Copy + Default + PartialEq>(from: *const T) -> Vec<T> {
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
pub(super) unsafe fn read_text(from: *const c_char) -> Option<String> {
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
pub(super) unsafe fn wait_list(count: u32, list: *const *mut c_void) -> Outcome<Vec<u64>> {
    if (count == 0) != list.is_null() {
        return refuse(Code::INVALID_EVENT_WAIT_LIST);
    }
    // SAFETY: passed on.
    Ok(unsafe { read_list(count as usize, list) }.into_iter().map(|p| address(p)).collect())
}

/// An address or handle of the program's.
pub(super) fn address<T>(pointer: *const T) -> u64 {
    pointer as u64
}

/// A handle as the program wants it.
pub(super) fn pointer(handle: u64) -> *mut c_void {
    handle as *mut c_void
}
