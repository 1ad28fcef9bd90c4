//! Counts how often loops really go round: an observer that follows every path of every wave from block to block, or
//! every lane, where paths of different rounds may become one.

use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_trace::{Event, Kind, Observer};

/// What one path or lane is doing.
#[derive(Clone, Default)]
struct Walk {
    last: Option<Pc>,
    /// Rounds since the loop was entered, by header.
    rounds: BTreeMap<Pc, u64>,
}

/// Most rounds per entry, by header, over all paths, and every way that was taken.
pub struct Rounds<'a> {
    program: &'a Program<Gcn3>,
    paths: BTreeMap<(u32, u16), Walk>,
    /// The path of a wave that issued last: the parent of a path that is born next.
    current: BTreeMap<u32, u16>,
    pub most: BTreeMap<Pc, u64>,
    /// Ways between blocks: last instruction of one, first of the other. Only of paths, not of lanes.
    pub ways: BTreeMap<(Pc, Pc), u64>,
    by_lane: bool,
    /// Header of a loop by its first instruction, and the blocks that its edges back come from.
    headers: BTreeMap<Pc, usize>,
}

impl<'a> Rounds<'a> {
    pub fn new(program: &'a Program<Gcn3>, by_lane: bool) -> Self {
        let cfg = &program.cfg;
        let headers = cfg.loops.iter().enumerate().map(|(i, l)| (cfg.blocks[l.header].first, i)).collect();
        Rounds {
            program,
            paths: BTreeMap::new(),
            current: BTreeMap::new(),
            most: BTreeMap::new(),
            ways: BTreeMap::new(),
            by_lane,
            headers,
        }
    }

    fn issue(&mut self, wave: u32, path: u16, pc: Pc) {
        let cfg = &self.program.cfg;
        let walk = self.paths.entry((wave, path)).or_default();
        let last = walk.last.replace(pc);
        self.current.insert(wave, path);
        let ends = |p: Pc| cfg.block_at(p).is_some_and(|b| cfg.blocks[b].last == p);
        let begins = cfg.block_at(pc).is_some_and(|b| cfg.blocks[b].first == pc);
        if let Some(last) = last.filter(|&p| begins && ends(p)) {
            *self.ways.entry((last, pc)).or_default() += 1;
        }
        if let Some(&i) = self.headers.get(&pc) {
            let from = last.and_then(|last| cfg.block_at(last));
            let back = from.is_some_and(|b| cfg.loops[i].blocks.contains(&b));
            let rounds = walk.rounds.entry(pc).or_default();
            *rounds = if back { *rounds + 1 } else { 0 };
            let most = self.most.entry(pc).or_default();
            *most = (*most).max(*rounds);
        }
    }
}

impl Observer for Rounds<'_> {
    fn events(&mut self, batch: &[Event]) {
        for e in batch {
            match e.kind {
                Kind::WaveStart { .. } => self.paths.retain(|p, _| p.0 != e.wave),
                Kind::PathStart { .. } if !self.by_lane => {
                    let parent = self.current.get(&e.wave).and_then(|&p| self.paths.get(&(e.wave, p)));
                    let walk = parent.cloned().unwrap_or_default();
                    self.paths.insert((e.wave, e.path), walk);
                }
                Kind::Issue { .. } if self.by_lane => {
                    let block = self.program.cfg.block_at(e.pc).map(|b| &self.program.cfg.blocks[b]);
                    if block.is_some_and(|b| b.first == e.pc || b.last == e.pc) {
                        (0..64).filter(|l| e.mask >> l & 1 == 1).for_each(|l| self.issue(e.wave, l, e.pc));
                    }
                }
                Kind::Issue { .. } => self.issue(e.wave, e.path, e.pc),
                _ => {}
            }
        }
    }
}
