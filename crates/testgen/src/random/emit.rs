//! Assembly text with fresh labels, for the code generators.

use std::fmt::{Arguments, Write};

#[derive(Default)]
pub(super) struct Text {
    pub out: String,
    labels: u32,
}

impl Text {
    pub fn line(&mut self, line: Arguments) {
        let _ = writeln!(self.out, "    {line}");
    }

    pub fn fresh(&mut self, what: &str) -> String {
        self.labels += 1;
        format!("{what}{}", self.labels)
    }

    pub fn place(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
    }

    /// Alternates, so that both of two ways to write something occur.
    pub fn coin(&mut self) -> bool {
        self.labels += 1;
        self.labels.is_multiple_of(2)
    }
}

macro_rules! asm {
    ($text:expr, $($arg:tt)*) => { $text.line(format_args!($($arg)*)) };
}
pub(super) use asm;
