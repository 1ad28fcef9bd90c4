//! How far a sweep is, on standard error: a bar on a terminal, a line now and then elsewhere.

use crate::commands::tell;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(30);

pub struct Progress {
    what: &'static str,
    of: u64,
    bar: Option<ProgressBar>,
    last: Mutex<Instant>,
}

impl Progress {
    pub fn new(what: &'static str, of: u64) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(of);
            if let Ok(style) = ProgressStyle::with_template("{elapsed} {prefix} {wide_bar} {pos}/{len} {msg}")
            {
                bar.set_style(style);
            }
            bar.set_prefix(what);
            bar
        });
        Progress { what, of, bar, last: Mutex::new(Instant::now()) }
    }

    pub fn at(&self, done: u64, more: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                if !more.is_empty() {
                    bar.set_message(more.to_owned());
                }
            }
            None => {
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.elapsed() > EVERY {
                    *last = Instant::now();
                    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
                    tell(&format!("{}: {done} of {}{more}", self.what, self.of));
                }
            }
        }
    }

    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A time as people say it.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
