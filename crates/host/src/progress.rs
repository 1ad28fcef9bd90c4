//! A line on the terminal while a launch takes long, above the program's own output.

use std::io::Write;
use std::time::{Duration, Instant};
use wavebound::sim::Sofar;

/// Launches that are shorter say nothing, and others say something so often.
const FIRST: Duration = Duration::from_secs(2);
const EACH: Duration = Duration::from_millis(500);

pub(crate) struct Line {
    on: bool,
    what: String,
    began: Instant,
    next: Instant,
    shown: bool,
}

impl Line {
    pub fn new(on: bool, number: usize, kernel: String) -> Line {
        let began = Instant::now();
        Line { on, what: format!("launch {number}, {kernel}"), began, next: began + FIRST, shown: false }
    }

    pub fn show(&mut self, sofar: Sofar) {
        if !self.on || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + EACH;
        self.shown = true;
        // Nobody to tell it to is no reason to stop.
        let _ = write!(std::io::stderr(), "\r\x1b[K{}: {}", self.what, sofar.words(self.began.elapsed()));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
