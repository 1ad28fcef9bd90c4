//! Where a fact stands: an address, a pc, a label with a distance, a source line. Loops are found by their header,
//! blocks by any of their instructions; what is not found is explained with what there is.

use super::calls::Calls;
use super::loops::{LoopView, loops};
use std::collections::BTreeSet;
use wb_isa::{Isa, Pc};
use wb_program::{Program, RegionKind};

/// Candidates that a message names.
const SHOWN: usize = 12;

/// A place that cannot be used: what is wrong and what would be right.
pub(super) struct Wrong {
    pub what: String,
    pub hint: String,
}

pub(super) struct Places<'a, I: Isa> {
    program: &'a Program<I>,
    pub loops: Vec<LoopView>,
}

/// `0x10`, `16`, with OTAWA's octal (`020`) where `octal`.
pub(super) fn number(text: &str, octal: bool) -> Option<u64> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0').filter(|rest| octal && !rest.is_empty()) {
        Some(rest) => u64::from_str_radix(rest, 8).ok(),
        None => text.parse().ok(),
    }
}

/// First instruction of the block that each place stands for, or what is wrong with it and what would be right.
pub fn find_blocks<I: Isa>(program: &Program<I>, places: &[&str]) -> Vec<Result<Pc, (String, String)>> {
    let all = Places { program, loops: Vec::new() };
    places.iter().map(|place| all.find_block(place).map_err(|w| (w.what, w.hint))).collect()
}

impl<'a, I: Isa> Places<'a, I> {
    pub fn new(program: &'a Program<I>, calls: &Calls) -> Self {
        Places { program, loops: loops(program, calls) }
    }

    /// The pcs a place stands for; several only for a source line.
    fn pcs(&self, place: &str) -> Result<Vec<Pc>, Wrong> {
        let wrong = |what: &str| Wrong {
            what: format!("`{place}`: {what}"),
            hint: "a place is an address (0x2650), a pc (pc 148), LABEL, LABEL+0x10 or FILE:LINE".into(),
        };
        let text = place.trim();
        if text.starts_with("0x") || text.starts_with("0X") {
            let addr = number(text, false).ok_or_else(|| wrong("not an address"))?;
            return self.at(addr).map(|pc| vec![pc]).ok_or_else(|| wrong("no instruction is there"));
        }
        if let Some(pc) = text.strip_prefix("pc ").or_else(|| text.parse::<Pc>().is_ok().then_some(text)) {
            let pc: Pc = pc.trim().parse().map_err(|_| wrong("not a pc"))?;
            return match self.program.ops.get(pc as usize).and_then(|o| o.inst.as_ref()) {
                Some(_) => Ok(vec![pc]),
                None => Err(wrong("no instruction is there")),
            };
        }
        if let Some((file, line)) = text.rsplit_once(':') {
            let line: u32 = line.parse().map_err(|_| wrong("FILE:LINE needs a number"))?;
            let found = self.line(file, line);
            return if found.is_empty() { Err(wrong("no code comes from this line")) } else { Ok(found) };
        }
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        let offset = number(offset, false).ok_or_else(|| wrong("LABEL+OFFSET needs a number of bytes"))?;
        self.label(name.trim(), offset)
            .map(|pc| vec![pc])
            .ok_or_else(|| wrong("there is no such label, or no instruction at that distance"))
    }

    /// The instruction at an address as linked.
    fn at(&self, addr: u64) -> Option<Pc> {
        let ops = self.program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some());
        ops.map(|(pc, _)| pc as Pc).find(|&pc| self.program.linked(pc) == addr)
    }

    fn label(&self, name: &str, offset: u64) -> Option<Pc> {
        let start = self.program.find_label(name)?;
        self.at(self.program.linked(start).checked_add(offset)?)
    }

    fn line(&self, file: &str, line: u32) -> Vec<Pc> {
        let same = |(f, l): (&str, u32)| l == line && (f == file || f.ends_with(&format!("/{file}")));
        let ops = self.program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some());
        ops.map(|(pc, _)| pc as Pc).filter(|&pc| self.program.source_line(pc).is_some_and(same)).collect()
    }

    /// Headers of the loops a place stands for: the one whose header block holds it; for a source line, those whose
    /// header begins with the line or whose branch back comes from it.
    pub fn find_loops(&self, place: &str) -> Result<Vec<Pc>, Wrong> {
        let pcs = self.pcs(place)?;
        let is_line = place.contains(':');
        let cfg = &self.program.cfg;
        let holds = |l: &LoopView, pc: Pc| cfg.block_at(l.header) == cfg.block_at(pc);
        let named = |l: &&LoopView| {
            pcs.iter().any(|pc| match is_line {
                true => l.header == *pc || l.latches.contains(pc),
                false => holds(l, *pc),
            })
        };
        let found: Vec<&LoopView> = self.loops.iter().filter(named).collect();
        if found.is_empty() {
            return Err(Wrong { what: format!("`{place}` is not the header of a loop"), hint: self.all() });
        }
        let inside = |a: &LoopView, b: &LoopView| {
            let blocks = &cfg.loops[b.index].blocks;
            a.header != b.header && cfg.block_at(a.header).is_some_and(|h| blocks.contains(&h))
        };
        if let Some((a, b)) = found.iter().find_map(|a| found.iter().find(|b| inside(a, b)).map(|b| (a, b))) {
            let what = format!("`{place}` names a loop and the one around it: {}, {}", a.place(), b.place());
            return Err(Wrong { what, hint: "say which by address".into() });
        }
        Ok(found.iter().map(|l| l.header).collect())
    }

    /// First instruction of the block that holds a place; a line must lie in one block.
    pub fn find_block(&self, place: &str) -> Result<Pc, Wrong> {
        let blocks: BTreeSet<usize> =
            self.pcs(place)?.into_iter().filter_map(|pc| self.program.cfg.block_at(pc)).collect();
        let mut firsts = blocks.iter().map(|&b| self.program.cfg.blocks[b].first);
        match (firsts.next(), firsts.next()) {
            (Some(first), None) => Ok(first),
            (None, _) => Err(Wrong {
                what: format!("`{place}` cannot be reached"),
                hint: "`wavebound cfg` lists the blocks".into(),
            }),
            (Some(a), Some(b)) => Err(Wrong {
                what: format!("`{place}` stands for {} blocks", blocks.len()),
                hint: format!(
                    "say which by address: {:#x}, {:#x}, …",
                    self.program.linked(a),
                    self.program.linked(b)
                ),
            }),
        }
    }

    /// Branches on the mask in front of a first side that a place stands for: the one at the end of the block that holds
    /// it; for a source line, those that come from the line.
    pub fn find_branches(&self, place: &str) -> Result<Vec<Pc>, Wrong> {
        let (cfg, flow) = (&self.program.cfg, &self.program.flow);
        let is_line = place.contains(':');
        let last = |pc: Pc| cfg.block_at(pc).map(|b| cfg.blocks[b].last);
        let named = |pc: Pc| if is_line { Some(pc) } else { last(pc) };
        let pcs: BTreeSet<Pc> = self.pcs(place)?.into_iter().filter_map(named).collect();
        let kinds = pcs.iter().filter_map(|&pc| Some((pc, flow.region(pc)?.kind)));
        let kinds: Vec<(Pc, RegionKind)> = kinds.collect();
        let of = |kind: RegionKind| kinds.iter().filter(move |k| k.1 == kind).map(|k| k.0);
        let found: Vec<Pc> = of(RegionKind::If).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let (what, hint) = if of(RegionKind::Else).next().is_some() {
            ("the branch in front of a second side", "name the branch in front of the first side")
        } else if of(RegionKind::Loop).next().is_some() {
            ("a branch that lanes leave a loop by", "only an if has two sides of which one can be left out")
        } else {
            ("not a branch on the mask", "`wavebound cfg` lists branches on the mask")
        };
        Err(Wrong { what: format!("`{place}` is {what}"), hint: hint.into() })
    }

    /// The loops there are, for a hint.
    pub fn all(&self) -> String {
        let places: Vec<String> = self.loops.iter().map(LoopView::place).collect();
        match places.len() {
            0 => "this kernel has no loops".into(),
            n if n > SHOWN => {
                format!("loops: {}, and {} more (`wavebound cfg`)", places[..SHOWN].join(", "), n - SHOWN)
            }
            _ => format!("loops: {}", places.join(", ")),
        }
    }
}
