//! The checksum that ties a facts file to the code it speaks of. It covers the instructions the kernel can reach, each as
//! text with its distance from the kernel's entry, so it changes with the kernel's code and with nothing else.

use super::calls::{Calls, code_blocks};
use std::fmt::Write as _;
use wb_isa::{Isa, Pc};
use wb_program::Program;
use xxhash_rust::xxh3::xxh3_64;

/// `xxh3:` and 16 hex digits.
pub fn checksum<I: Isa>(program: &Program<I>, calls: &Calls) -> String {
    let distance = |pc: Pc| i64::from(pc) - i64::from(program.entry);
    let mut text = format!("{}\n", program.isa.name());
    let mut pcs: Vec<Pc> =
        code_blocks(program, calls).into_iter().flat_map(|b| program.cfg.pcs(b, &program.flow)).collect();
    pcs.sort_unstable();
    for pc in pcs {
        let Some(inst) = program.ops[pc as usize].inst.as_ref() else { continue };
        let shown = program.isa.show(inst, pc, &|target| Some(format!("{:+}", distance(target))));
        let _ = writeln!(text, "{:+} {shown}", distance(pc));
    }
    format!("xxh3:{:016x}", xxh3_64(text.as_bytes()))
}
