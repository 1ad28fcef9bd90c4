//! A facts file to be filled in: every loop of the kernel with its place, what is proven about it and what to do. Until a
//! number stands in it for every loop that is not proven, reading it fails at the first that is missing.

use super::calls::Calls;
use super::check::calls_of;
use super::{LoopFact, checksum, loops};
use std::fmt::Write as _;
use wb_isa::Isa;
use wb_program::Program;

/// The text of the file. `proved` are limits that follow from the code.
pub fn template<I: Isa>(program: &Program<I>, proved: &[LoopFact]) -> String {
    let calls: Calls = calls_of(program);
    let all = loops(program, &calls);
    let mut out = String::new();
    let of = if program.kernel.is_empty() { &program.name } else { &program.kernel };
    let _ = writeln!(out, "# Flow facts of {of} (docs/facts.md).");
    let _ = writeln!(out, "# max: how often the loop goes round at most, each time it is entered.\n");
    let _ = writeln!(out, "checksum = {}", quoted(&checksum(program, &calls)));
    if !program.kernel.is_empty() {
        let _ = writeln!(out, "kernel = {}", quoted(&program.kernel));
    }
    if program.isa.name() != "gcn3" && !all.is_empty() {
        let _ = writeln!(out, "\n# Limits are proven for GCN3 only, not for {}.", program.isa.name());
    }
    for l in &all {
        let nested = if l.depth > 1 { format!(", depth {}", l.depth) } else { String::new() };
        let _ = writeln!(out, "\n# The loop at {}, pc {}{nested}.", l.place(), l.header);
        match proved.iter().find(|p| p.header == l.header) {
            Some(fact) => {
                let _ = writeln!(out, "# Proven, at most {}: {}.", fact.max, fact.why);
                let _ = writeln!(out, "# Nothing to do; a smaller limit of your own would look like this:");
                let _ = writeln!(out, "# [[loop]]\n# at = \"{:#x}\"\n# max = {}", l.addr, fact.max);
            }
            None => {
                let _ = writeln!(
                    out,
                    "# No limit follows from the code: replace \"?\" by a number and say why it holds."
                );
                let _ = writeln!(out, "[[loop]]\nat = \"{:#x}\"\nmax = \"?\"\nwhy = \"\"", l.addr);
            }
        }
    }
    if all.is_empty() {
        let _ = writeln!(out, "\n# There are no loops.");
    }
    out
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
