//! The test of one file.

use crate::bless;
use crate::collect::leader;
use crate::header::{Header, Kind};
use crate::run::Test;
use std::path::Path;

/// One file: header, runs, checks, and the block of blessed text at its end.
pub fn test(root: &Path, path: &Path, name: &str, text: &str) -> Result<(), String> {
    let leader = leader(name);
    let (program, expected) = bless::split(text, leader);
    let header = Header::parse(program, leader).map_err(|e| format!("{name}:{}: {}", e.line, e.message))?;
    let test = Test::new(root, name, program, header)?;
    let mut sections = Vec::new();
    let header = &test.header;
    let blessed = header.kinds.iter().any(|k| *k != Kind::Run);
    if header.checks.is_empty() && !blessed {
        return Err(format!("{name}: checks nothing; add a `check` line"));
    }
    if header.has(Kind::Run) {
        test.run()?;
    }
    if header.has(Kind::Error) {
        test.error(&mut sections)?;
    }
    if header.has(Kind::Asm) {
        test.asm(&mut sections)?;
    }
    if header.has(Kind::Log) {
        test.log(&mut sections)?;
    }
    bless::compare(path, name, program, leader, expected, &sections)
}
