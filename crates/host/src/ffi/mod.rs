//! What needs C: streams of the program's own, signals, and the end of the process. The only module with unsafe code.

pub(crate) mod signals;

use crate::printf::{Piece, Stream};
use crate::records::Record;
use crate::session::Session;
use std::ffi::{CString, c_char, c_int};

/// A session has begun: whoever ends the command ends the program, and `at_exit` is called when the program ends by itself.
pub fn begin(session: &Session, at_exit: extern "C" fn()) {
    // SAFETY: these functions only take numbers, and a function that lives as long as the library.
    unsafe {
        if session.options.command.is_some_and(|pid| libc::getppid() as u32 == pid) {
            // A process further down ends with those it belongs to.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        libc::atexit(at_exit);
    }
}

/// Ends the program with a message and exit code 1. Destructors do not run: they would call us again.
pub fn end(session: Option<&mut Session>, text: &str) -> ! {
    if let Some(session) = session {
        session.record(&Record::Error { text: text.to_owned() });
    }
    // SAFETY: flushing all C streams and leaving the process take no pointers of ours.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        eprintln!("wavebound: {text}");
        libc::_exit(1)
    }
}

/// Copies between places of the program's memory, which may overlap.
///
/// # Safety
/// Both ranges exist: the caller promises it of the program's own memory, and the runtime has checked its own.
pub unsafe fn move_bytes(dst: u64, src: u64, bytes: u64) {
    if bytes > 0 {
        // SAFETY: as above; no reference into these bytes exists while a call holds the runtime.
        unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes as usize) };
    }
}

/// Prints the pieces of a kernel's `printf` into the program's own streams, in C's words.
pub fn print(to: Stream, pieces: &[Piece]) {
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
