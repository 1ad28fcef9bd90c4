//! The names that the loader looks up in the library. The table has functions of its own: a name may lead to the loader's function.

use super::base::{ENTRY, Entry};
use super::{platform, table};
use std::ffi::{c_char, c_void};

/// Called by every function here, before anything else.
fn enter() {
    ENTRY.get_or_init(|| Entry { table: table::address(), function });
}

fn function(name: &str) -> *mut c_void {
    match name {
        "clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *mut c_void,
        name => table::function(name),
    }
}

/// What the loader asks first (cl_khr_icd).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(room: u32, list: *mut *mut c_void, found: *mut u32) -> i32 {
    enter();
    // SAFETY: passed on.
    unsafe { platform::clGetPlatformIDs(room, list, found) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    enter();
    // SAFETY: passed on.
    unsafe { platform::clGetExtensionFunctionAddress(name) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    enter();
    // SAFETY: passed on.
    unsafe { platform::clGetPlatformInfo(platform, name, size, to, wanted) }
}
