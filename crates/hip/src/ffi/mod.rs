//! The C interface: every function reads its arguments, calls the runtime and writes results. Functions are called
//! `wavebound_NAME`; the library in front gives them HIP's names. This is the only module with unsafe code.
#![allow(non_snake_case, clippy::missing_safety_doc)]

mod copy;
mod device;
mod event;
mod graphs;
mod launch;
mod malloc;
mod module;
mod register;
mod texture;
mod work;

pub(crate) use copy::round_trip;

use crate::errors::{Code, Failure, Outcome};
use crate::runtime::Runtime;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};
use wb_host::describe;
use wb_host::ffi::{end, move_bytes};

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

thread_local! {
    /// What `hipGetLastError` returns.
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// Runs a call with the runtime, which the first call makes; no other thread is in it then.
fn with<T>(work: impl FnOnce(&mut Runtime) -> Outcome<T>) -> Outcome<T> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if runtime.is_none() {
        *runtime = Some(start());
    }
    let result = match runtime.as_mut() {
        Some(runtime) => {
            runtime.host.come_home();
            work(runtime)
        }
        None => Err(Code(3).into()),
    };
    if let Err(Failure::Fatal(text)) = &result {
        end(runtime.as_mut().map(|r| &mut r.host), text);
    }
    result
}

/// The error code of a call; `hipGetLastError` remembers it.
fn code(result: Outcome) -> c_int {
    match result {
        Ok(()) => 0,
        Err(Failure::Code(code)) => {
            LAST.set(code);
            code.0
        }
        Err(Failure::Fatal(_)) => 999,
    }
}

/// A call that only needs the runtime.
fn call(work: impl FnOnce(&mut Runtime) -> Outcome) -> c_int {
    code(with(work))
}

fn start() -> Runtime {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(report) => end(None, &describe(&report)),
    };
    wb_host::ffi::begin(&runtime.host, at_exit);
    runtime
}

extern "C" fn at_exit() {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = runtime.as_mut() {
        runtime.host.finish();
    }
}

/// A name of the stock library that we do not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_missing(name: *const c_char) -> c_int {
    // SAFETY: the library in front passes a string of its own.
    let name = unsafe { text(name) }.unwrap_or_default();
    let message = format!("{name} is not supported: the program cannot go on");
    let result = with::<()>(|_| Err(Failure::Fatal(message)));
    code(result)
}

/// Writes a result where the program wants it.
///
/// # Safety
/// `to` is null or points to room for a `T`, as the HIP interface demands of the caller.
unsafe fn put<T>(to: *mut T, value: T) -> Outcome {
    if to.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller promises room; the program may have it unaligned.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads what the program passes by address.
///
/// # Safety
/// `from` is null or points to a `T`, as the HIP interface demands of the caller.
unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    if from.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller promises a value.
    Ok(unsafe { from.read_unaligned() })
}

/// A string of the program's.
///
/// # Safety
/// `from` is null or a string that ends with a zero byte.
unsafe fn text(from: *const c_char) -> Outcome<String> {
    if from.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    // SAFETY: not null, and the caller promises a C string.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl From<Dim3> for [u32; 3] {
    fn from(d: Dim3) -> [u32; 3] {
        [d.x, d.y, d.z]
    }
}

/// An address or handle of the program's.
fn address<T>(pointer: *const T) -> u64 {
    pointer as u64
}

/// A handle as the program wants it.
fn pointer(handle: u64) -> *mut c_void {
    handle as *mut c_void
}
