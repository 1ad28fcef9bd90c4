//! The loops of a kernel as people name them: address, pc, source line, depth.

use super::calls::{Calls, code_blocks};
use std::collections::BTreeSet;
use wb_isa::{Isa, Pc};
use wb_program::Program;
use wb_program::cfg::Loop;

/// A natural loop of the kernel or of a function it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopView {
    /// Index in the program's list of loops.
    pub index: usize,
    /// First instruction of the header.
    pub header: Pc,
    /// Address as linked.
    pub addr: u64,
    /// Source file and line: of the branch that goes round, else of the header.
    pub source: Option<(String, u32)>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// The loop directly around it, by header.
    pub parent: Option<Pc>,
    /// Last instructions of the blocks with an edge back to the header.
    pub latches: Vec<Pc>,
}

impl LoopView {
    /// `0x2650 (control.cl:12)`, or `0x2650 (pc 148)` without lines.
    pub fn place(&self) -> String {
        match &self.source {
            Some((file, line)) => format!("{:#x} ({file}:{line})", self.addr),
            None => format!("{:#x} (pc {})", self.addr, self.header),
        }
    }
}

/// The loops of the kernel in order of address.
pub fn loops<I: Isa>(program: &Program<I>, calls: &Calls) -> Vec<LoopView> {
    let code = code_blocks(program, calls);
    let all = program.cfg.loops.iter().enumerate().filter(|(_, l)| code.contains(&l.header));
    let mut views: Vec<LoopView> = all.map(|(index, l)| view(program, index, l)).collect();
    views.sort_by_key(|v| v.header);
    views
}

fn view<I: Isa>(program: &Program<I>, index: usize, l: &Loop) -> LoopView {
    let cfg = &program.cfg;
    let header = cfg.blocks[l.header].first;
    let parent = cfg.outer[index].map(|o| cfg.blocks[cfg.loops[o].header].first);
    let latches: BTreeSet<Pc> = l
        .blocks
        .iter()
        .filter(|&&b| cfg.blocks[b].succs.contains(&l.header))
        .map(|&b| cfg.blocks[b].last)
        .collect();
    let line = latches.iter().rev().chain([&header]).find_map(|&pc| program.source_line(pc));
    LoopView {
        index,
        header,
        addr: program.linked(header),
        source: line.map(|(file, line)| (file.to_owned(), line)),
        depth: cfg.around(l.header).count() as u32,
        parent,
        latches: latches.into_iter().collect(),
    }
}
