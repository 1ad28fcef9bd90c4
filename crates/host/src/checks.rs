//! Checked launches: the checker learns of memory and copies, reports are told as they come, and to the command in the end.

use crate::records::Record;
use crate::session::Session;
use std::backtrace::Backtrace;

impl Session {
    /// Bytes were copied.
    pub fn copied(&mut self, to: u64, from: u64, bytes: u64) {
        if let Some(checker) = self.device.checker() {
            checker.copied(to, from, bytes);
            self.tell_reports();
        }
    }

    /// The program looks at bytes, and may change them without telling.
    pub fn mapped(&mut self, at: u64, bytes: u64) {
        if let Some(checker) = self.device.checker() {
            checker.host_reads(at, bytes);
            checker.written(at, bytes);
            self.tell_reports();
        }
    }

    /// Bytes were given a value.
    pub fn filled(&mut self, at: u64, bytes: u64) {
        if let Some(checker) = self.device.checker() {
            checker.written(at, bytes);
        }
    }

    /// The program asked for memory, with a function of this name. `shared`: it writes there without telling.
    pub fn asked(&mut self, at: u64, bytes: u64, name: &str, shared: bool) {
        let number = self.allocations + 1;
        let Some(checker) = self.device.checker() else { return };
        checker.name(at, &format!("{name} {number}"), caller());
        if shared {
            checker.written(at, bytes);
        }
        self.allocations = number;
    }

    /// New reports go to standard error.
    pub(crate) fn tell_reports(&mut self) {
        let told = self.told;
        let Some(checker) = self.device.checker() else { return };
        let all = checker.reports.all();
        for report in &all[told.min(all.len())..] {
            eprintln!("wavebound: {report}");
        }
        self.told = all.len();
    }

    /// All reports, with their counts, for the command.
    pub(crate) fn tell_command(&mut self) {
        self.tell_reports();
        let Some(checker) = self.device.checker() else { return };
        let reports = checker.reports.all().to_vec();
        let suppressed = checker.reports.suppressed.values().sum();
        let left_out = checker.reports.left_out;
        let process = self.process;
        self.record(&Record::Checked { process, reports, suppressed, left_out });
    }
}

/// Frames of the program that a report shows.
const FRAMES: usize = 3;

/// Where the program called us: the frames behind that of the interface's function (`hipMalloc`, `clCreateBuffer`), up to `main`.
fn caller() -> Option<String> {
    let trace = Backtrace::force_capture().to_string();
    let mut lines = trace.lines().map(str::trim).peekable();
    let (mut entered, mut frames) = (false, Vec::new());
    while let Some(line) = lines.next() {
        let Some((_, name)) = line.split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()) else {
            continue;
        };
        if is_entry(name) {
            entered = true;
        } else if entered {
            let place = lines.peek().and_then(|l| l.strip_prefix("at "));
            // Behind the program's own frames come those of the system, whose sources nobody has.
            if place.is_none() && !frames.is_empty() {
                break;
            }
            frames.push(place.map_or(name.to_owned(), |place| format!("{place} ({name})")));
            if name == "main" || frames.len() == FRAMES {
                break;
            }
        }
    }
    (!frames.is_empty()).then(|| frames.join(", from "))
}

/// `hip` or `cl` and a capital, at the end of a path of modules.
fn is_entry(name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    // The library's own names.
    let last = last.strip_prefix("wavebound_").unwrap_or(last);
    let rest = last.strip_prefix("hip").or_else(|| last.strip_prefix("cl"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}
