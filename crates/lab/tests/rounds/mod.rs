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

/// Most rounds per entry, by header, over all paths.
pub struct Rounds<'a> {
    program: &'a Program<Gcn3>,
    paths: BTreeMap<(u32, u16), Walk>,
    /// The path of a wave that issued last: the parent of a path that is born next.
    current: BTreeMap<u32, u16>,
    pub most: BTreeMap<Pc, u64>,
    by_lane: bool,
}

impl<'a> Rounds<'a> {
    pub fn new(program: &'a Program<Gcn3>, by_lane: bool) -> Self {
        let (paths, current, most) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Rounds { program, paths, current, most, by_lane }
    }

    fn issue(&mut self, wave: u32, path: u16, pc: Pc) {
        let cfg = &self.program.cfg;
        let walk = self.paths.entry((wave, path)).or_default();
        let from = walk.last.replace(pc).and_then(|last| cfg.block_at(last));
        self.current.insert(wave, path);
        let header = cfg.loops.iter().find(|l| cfg.blocks[l.header].first == pc);
        if let Some(l) = header {
            let back = from.is_some_and(|b| l.blocks.contains(&b));
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
