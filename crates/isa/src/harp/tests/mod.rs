//! Tests of whole instructions and programs, by what they check.

mod diagnostics;
mod exec;
mod facts;
mod fixpoint;
mod programs;

use super::{Arch, Harp, Image, Inst, assemble_program};
use crate::{Pc, SourceFile};

fn arch(text: &str) -> Arch {
    text.parse().unwrap()
}

fn image(arch_text: &str, source: &str) -> Image {
    assemble_program(&SourceFile::new("t.s", source), &arch(arch_text))
        .unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

/// The instructions of a program by pc, with the pc that follows each.
fn program(harp: &Harp, image: &Image) -> std::collections::BTreeMap<Pc, (Inst, Pc)> {
    let mut program = std::collections::BTreeMap::new();
    for range in &image.text {
        let mut addr = range.start;
        while addr < range.end {
            let (inst, size) = harp.decode_at(image.bytes_at(addr).unwrap()).unwrap();
            let next = addr + u64::from(size);
            program.insert(harp.pc_of(addr).unwrap(), (inst, harp.pc_of(next).unwrap()));
            addr = next;
        }
    }
    program
}
