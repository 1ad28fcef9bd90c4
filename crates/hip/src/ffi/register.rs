//! Registration before `main`, and the call configuration that `<<<…>>>` pushes (clang's HIP code generation).

use super::{Dim3, address, call, code, get, pointer, put, text, with};
use crate::errors::{Code, Failure, Outcome};
use crate::fatbin;
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// What `__hipRegisterFatBinary` gets.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const c_void,
    unused: *const c_void,
}

type Configuration = (Dim3, Dim3, usize, u64);

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of a bundle whose length nobody tells.
///
/// # Safety
/// `binary` points to a fat binary that stays where it is.
unsafe fn device_code(binary: *const c_void, target: &str) -> Result<Vec<u8>, String> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|e| format!("/proc/self/maps: {e}"))?;
    let end = fatbin::readable(&maps, address(binary)).ok_or("the fat binary is not in memory")?;
    // SAFETY: all these bytes are mapped and readable, and nobody writes to a fat binary.
    let bytes = unsafe { std::slice::from_raw_parts(binary.cast::<u8>(), (end - address(binary)) as usize) };
    fatbin::code_object(bytes, target)
}

fn program() -> String {
    let exe = std::env::current_exe().ok();
    let name = exe.as_deref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "program".into())
}

/// Handles are the number of the binary plus one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterFatBinary(wrapper: *const c_void) -> *mut c_void {
    let mut handle = 0;
    let result = with(|rt| {
        // SAFETY: clang passes the wrapper it made.
        let wrapper = unsafe { get(wrapper.cast::<Wrapper>()) }?;
        let object = if wrapper.magic != fatbin::MAGIC || wrapper.version != fatbin::VERSION {
            Err(format!(
                "its fat binary has magic {:#x} and version {}, not {:#x} and {}",
                wrapper.magic,
                wrapper.version,
                fatbin::MAGIC,
                fatbin::VERSION
            ))
        } else {
            // SAFETY: the wrapper points to the bundle the compiler embedded.
            unsafe { device_code(wrapper.binary, fatbin::target(&rt.host.device.machine)) }
        };
        handle = rt.register_binary(&program(), object) as u64 + 1;
        Ok(())
    });
    let _ = code(result);
    pointer(handle)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipUnregisterFatBinary(_handle: *mut c_void) {}

fn source(handle: *mut c_void) -> Outcome<usize> {
    address(handle).checked_sub(1).map(|n| n as usize).ok_or_else(|| Code::INVALID_HANDLE.into())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterFunction(
    handle: *mut c_void,
    stub: *const c_void,
    _device_function: *mut c_char,
    name: *const c_char,
    _thread_limit: c_uint,
    _tid: *mut c_void,
    _bid: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _size: *mut c_int,
) {
    call(|rt| {
        // SAFETY: clang passes a constant string.
        let name = unsafe { text(name) }?;
        rt.register_function(source(handle)?, address(stub), &name);
        Ok(())
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterVar(
    handle: *mut c_void,
    shadow: *mut c_void,
    _host_name: *mut c_char,
    name: *mut c_char,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    call(|rt| {
        // SAFETY: clang passes a constant string.
        let name = unsafe { text(name) }?;
        rt.register_variable(source(handle)?, address(shadow), &name, size as u64);
        Ok(())
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterManagedVar(
    handle: *mut c_void,
    variable: *mut *mut c_void,
    init: *mut c_void,
    name: *const c_char,
    size: usize,
    _align: c_uint,
) {
    call(|rt| {
        // SAFETY: clang passes a constant string, the initial value of `size` bytes, and a pointer variable of its own.
        unsafe {
            let name = text(name)?;
            let init = std::slice::from_raw_parts(init.cast::<u8>(), size);
            let addr = rt.register_managed(source(handle)?, &name, init)?;
            put(variable, pointer(addr))
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterTexture(
    handle: *mut c_void,
    shadow: *mut c_void,
    _host_name: *mut c_char,
    name: *mut c_char,
    _kind: c_int,
    _normalized: c_int,
    _external: c_int,
) {
    call(|rt| {
        // SAFETY: clang passes a constant string.
        let name = unsafe { text(name) }?;
        rt.register_variable(source(handle)?, address(shadow), &name, 0);
        Ok(())
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipRegisterSurface(
    _handle: *mut c_void,
    _shadow: *mut c_void,
    _host_name: *mut c_char,
    name: *mut c_char,
    _kind: c_int,
    _external: c_int,
) {
    call(|_| {
        // SAFETY: clang passes a constant string.
        let name = unsafe { text(name) }?;
        Err(Failure::Fatal(format!("surface {name}: surfaces are not supported")))
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
) -> c_int {
    CONFIGURATIONS.with_borrow_mut(|list| list.push((grid, block, shared, address(stream))));
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound___hipPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut *mut c_void,
) -> c_int {
    let top = CONFIGURATIONS.with_borrow_mut(Vec::pop);
    code((|| {
        let (g, b, s, st) = top.ok_or(Code::MISSING_CONFIGURATION)?;
        // SAFETY: the stub passes variables of its own.
        unsafe {
            put(grid, g)?;
            put(block, b)?;
            put(shared, s)?;
            put(stream, pointer(st))
        }
    })())
}
