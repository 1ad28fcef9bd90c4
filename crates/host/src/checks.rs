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
        let process = self.process;
        self.record(&Record::Checked { process, reports, suppressed });
    }
}

/// Where the program called us: the first frame that is not the library's, the loader's or Rust's.
fn caller() -> Option<String> {
    let trace = Backtrace::force_capture().to_string();
    let mut lines = trace.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some((_, name)) = line.split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()) else {
            continue;
        };
        let ours = ["wb_", "wavebound", "hip", "cl", "std::", "core::", "__rust", "_hip"];
        let library = ours.iter().any(|o| name.starts_with(o)) || name.contains("wb_") || name == "<unknown>";
        if library {
            continue;
        }
        let place = lines.peek().and_then(|l| l.strip_prefix("at "));
        return Some(match place {
            Some(place) => format!("{place} ({name})"),
            None => name.to_owned(),
        });
    }
    None
}
