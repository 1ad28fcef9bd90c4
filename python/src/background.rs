//! Long work on a thread of its own: the interpreter is free meanwhile, and is asked for interrupts.

use crate::error::refuse;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What happens to the work after an interrupt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// It cannot be stopped: nobody waits for it any more.
    Left,
    /// It is told, and waited for.
    Told,
}

/// Does the work, which may ask whether to go on.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    then: Interrupted,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
) -> PyResult<T> {
    let go_on = Arc::new(AtomicBool::new(true));
    let (asked, (done, found)) = (go_on.clone(), channel());
    std::thread::spawn(move || {
        // Nobody listens after an interrupt.
        let _ = done.send(work(&|| asked.load(Ordering::SeqCst)));
    });
    let found = Mutex::new(found);
    let mut interrupt = None;
    loop {
        if let Err(e) = py.check_signals() {
            go_on.store(false, Ordering::SeqCst);
            if then == Interrupted::Left {
                return Err(e);
            }
            interrupt = Some(e);
        }
        let next = py.detach(|| {
            let found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.recv_timeout(Duration::from_millis(50))
        });
        match (next, interrupt.take()) {
            (Ok(_), Some(e)) => return Err(e),
            (Ok(result), None) => return Ok(result),
            (Err(RecvTimeoutError::Timeout), e) => interrupt = e,
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Err(refuse("the work ended without a result"));
            }
        }
    }
}
