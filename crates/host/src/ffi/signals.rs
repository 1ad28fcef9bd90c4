//! Ctrl-C and SIGTERM while a kernel runs: the run stops where it is, its numbers so far are told, and the program ends by the
//! signal as it would have. Programs that handle these signals themselves are left alone, and so are those that ignore them.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};

const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];
/// A terminal sends a signal to the program and to the command that started it, which passes it on: one signal, not two.
const SAME: i64 = 500;

/// The signal that came while a kernel ran; 0: none. And when, in milliseconds.
static CAME: AtomicI32 = AtomicI32::new(0);
static WHEN: AtomicI64 = AtomicI64::new(0);

/// While it lives, signals wait for the run.
pub(crate) struct Watch {
    /// Those whose usual effect is put off.
    ours: Vec<libc::c_int>,
    /// Whoever runs the kernel knows of the one that came.
    told: Cell<bool>,
}

impl Watch {
    pub fn new() -> Watch {
        CAME.store(0, Ordering::SeqCst);
        let ours = SIGNALS.into_iter().filter(|signal| handle(*signal)).collect();
        Watch { ours, told: Cell::new(false) }
    }

    /// What the progress of a run answers.
    pub fn go_on(&self) -> ControlFlow<()> {
        match self.came() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    pub fn came(&self) -> Option<i32> {
        let came = Some(CAME.load(Ordering::SeqCst)).filter(|signal| *signal != 0);
        self.told.set(self.told.get() || came.is_some());
        came
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ours.iter().for_each(|signal| usual(*signal));
        // One that came after the run had looked for the last time has its usual effect now.
        let came = CAME.load(Ordering::SeqCst);
        if came != 0 && !self.told.get() {
            end_by(came);
        }
    }
}

/// The program ends by a signal, as it would have without us.
pub(crate) fn end_by(signal: i32) -> ! {
    usual(signal);
    // SAFETY: both functions may be called at any time; the second one ends a program that survived the first.
    unsafe {
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}

/// Handles a signal whose effect is the usual one; whether it was.
fn handle(signal: libc::c_int) -> bool {
    // SAFETY: `sigaction` writes to and reads from structures that live on this stack; all zeroes is a valid one. The handler
    // does only what handlers may do.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &mut now) != 0 || now.sa_sigaction != libc::SIG_DFL {
            return false;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
        ours.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &ours, ptr::null_mut()) == 0
    }
}

fn usual(signal: libc::c_int) {
    // SAFETY: the default disposition is always valid.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

fn milliseconds() -> i64 {
    // SAFETY: the structure lives on this stack; the function may be called by handlers.
    unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now);
        now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}

/// The first signal is kept, a later one ends the program.
extern "C" fn on_signal(signal: libc::c_int) {
    let now = milliseconds();
    match CAME.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => WHEN.store(now, Ordering::SeqCst),
        Err(_) if now - WHEN.load(Ordering::SeqCst) < SAME => {}
        Err(_) => {
            usual(signal);
            // SAFETY: handlers may raise signals.
            unsafe { libc::raise(signal) };
        }
    }
}
