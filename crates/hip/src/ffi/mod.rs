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
pub(crate) mod signals;
mod texture;
mod work;

pub(crate) use copy::round_trip;

use crate::errors::{Code, Failure, Outcome, describe};
use crate::printf::{Piece, Stream};
use crate::records::Record;
use crate::runtime::Runtime;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

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
            runtime.come_home();
            work(runtime)
        }
        None => Err(Code(3).into()),
    };
    if let Err(Failure::Fatal(text)) = &result {
        end(runtime.as_mut(), text);
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
    let runtime = match Runtime::new(print) {
        Ok(runtime) => runtime,
        Err(report) => end(None, &describe(&report)),
    };
    // SAFETY: these functions only take numbers, and a function that lives as long as the library.
    unsafe {
        if runtime.options.command.is_some_and(|pid| libc::getppid() as u32 == pid) {
            // Whoever ends the command ends the program. A process further down ends with those it belongs to.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        libc::atexit(at_exit);
    }
    runtime
}

/// The program ends by itself: bounds are computed now, and the command learns that all is well. A forked child that
/// never called us has nothing to tell.
extern "C" fn at_exit() {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = runtime.as_mut().filter(|r| r.is_at_home()) {
        runtime.tell_parts();
        runtime.bound_all();
        runtime.record(&Record::End);
    }
}

/// Ends the program with a message and exit code 1. Destructors do not run: they would call us again.
fn end(runtime: Option<&mut Runtime>, text: &str) -> ! {
    if let Some(runtime) = runtime {
        runtime.record(&Record::Error { text: text.to_owned() });
    }
    // SAFETY: flushing all C streams and leaving the process take no pointers of ours.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        eprintln!("wavebound: {text}");
        libc::_exit(1)
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

/// Copies between places of the program's memory, which may overlap.
///
/// # Safety
/// Both ranges exist: the caller promises it of the program's own memory, and the runtime has checked its own.
unsafe fn move_bytes(dst: u64, src: u64, bytes: u64) {
    if bytes > 0 {
        // SAFETY: as above; no reference into these bytes exists while a call holds the runtime.
        unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes as usize) };
    }
}

/// Prints the pieces of a kernel's `printf` into the program's own streams, in C's words.
fn print(to: Stream, pieces: &[Piece]) {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(bytes) => out.extend_from_slice(bytes),
            Piece::Integer(spec, value) => {
                // SAFETY: the conversion takes exactly one value of this type.
                out.extend(unsafe { formatted(spec, |b, n, s| libc::snprintf(b, n, s, *value)) })
            }
            Piece::Double(spec, value) => {
                // SAFETY: as above.
                out.extend(unsafe { formatted(spec, |b, n, s| libc::snprintf(b, n, s, *value)) })
            }
            Piece::String(spec, text) => {
                // SAFETY: as above; the string ends with a zero byte.
                out.extend(unsafe { formatted(spec, |b, n, s| libc::snprintf(b, n, s, text.as_ptr())) })
            }
        }
    }
    // SAFETY: C's streams exist as long as the program; the bytes are ours.
    unsafe {
        let stream = if to == Stream::Error { stderr } else { stdout };
        libc::fwrite(out.as_ptr().cast(), 1, out.len(), stream);
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// What `snprintf` makes of one conversion.
///
/// # Safety
/// `print` passes a value that fits the conversion.
unsafe fn formatted(spec: &CString, print: impl Fn(*mut c_char, usize, *const c_char) -> c_int) -> Vec<u8> {
    let mut room = vec![0u8; 512];
    let needed = print(room.as_mut_ptr().cast(), room.len(), spec.as_ptr()).max(0) as usize;
    if needed >= room.len() {
        room = vec![0; needed + 1];
        print(room.as_mut_ptr().cast(), room.len(), spec.as_ptr());
    }
    room.truncate(needed.min(room.len()));
    room
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
