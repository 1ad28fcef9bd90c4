//! Ctrl-C and SIGTERM during a run: the run ends where it is, what is known so far is printed and written, and the exit
//! code says which signal it was (130, 143). A second signal ends the program at once, and so does the first one while
//! nothing runs that could be cut short.

use miette::Diagnostic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// A run that a signal cut short; its results so far have been printed.
#[derive(Debug, Error, Diagnostic)]
#[error("interrupted")]
pub struct Interrupted {
    signal: usize,
}

impl Interrupted {
    pub fn signal(&self) -> usize {
        self.signal
    }

    /// As shells have it: 128 and the number of the signal.
    pub fn exit_code(&self) -> u8 {
        128 + self.signal as u8
    }
}

struct Signals {
    /// A signal has its usual effect.
    usual: Arc<AtomicBool>,
    /// The signal that came; 0: none.
    came: Arc<AtomicUsize>,
}

/// While it lives, signals wait for the run.
pub struct Watch {
    signals: &'static Signals,
}

impl Watch {
    pub fn new() -> miette::Result<Watch> {
        static SIGNALS: OnceLock<Signals> = OnceLock::new();
        let signals = SIGNALS.get_or_init(|| Signals {
            usual: Arc::new(AtomicBool::new(true)),
            came: Arc::new(AtomicUsize::new(0)),
        });
        static HANDLED: OnceLock<Result<(), String>> = OnceLock::new();
        let handled = HANDLED.get_or_init(|| {
            for signal in [SIGINT, SIGTERM] {
                // In this order: the first one is kept, the second one is the end.
                flag::register_conditional_default(signal, Arc::clone(&signals.usual))
                    .and_then(|_| flag::register(signal, Arc::clone(&signals.usual)))
                    .and_then(|_| flag::register_usize(signal, Arc::clone(&signals.came), signal as usize))
                    .map_err(|e| format!("cannot watch for signals: {e}"))?;
            }
            Ok(())
        });
        handled.clone().map_err(miette::Report::msg)?;
        signals.usual.store(false, Ordering::SeqCst);
        Ok(Watch { signals })
    }

    /// What the progress of a run answers.
    pub fn go_on(&self) -> ControlFlow<()> {
        match self.interrupted() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    pub fn interrupted(&self) -> Option<Interrupted> {
        match self.signals.came.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(Interrupted { signal }),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signals.usual.store(true, Ordering::SeqCst);
    }
}
