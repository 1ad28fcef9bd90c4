//! The untimed run as whoever looks between its instructions sees it.

use crate::console::Console;
use crate::exec::{Effect, Exec};
use crate::inspect::{Did, Inspected, PathSeen, PathState, WaveSeen};
use crate::memory::{DeviceMemory, Exact};
use crate::resident::Resident;
use crate::wave::{Path, Wave};
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask};

/// What an instruction of path `k` did, which was `was` before.
pub(crate) fn did<'a, I: Isa>(
    exec: &Exec<I>,
    wave: &Wave<I, ()>,
    (k, was): (usize, Path),
    active: Mask,
    effect: Effect,
    written: &'a [Exact],
) -> Did<'a> {
    let exists = effect != Effect::End && wave.ids >> k & 1 == 1;
    let is = &wave.paths[k];
    Did {
        wave: wave.id,
        path: k,
        pc: was.pc,
        mask: was.mask,
        active,
        then: if exists { exec.program.isa.active(&is.regs, is.path.mask) } else { 0 },
        to: exists.then_some(is.path.pc),
        live: if effect == Effect::End { 0 } else { wave.live },
        barrier: matches!(effect, Effect::Barrier { .. }),
        ended: effect == Effect::End,
        written,
    }
}

/// The run, while an instruction is due.
pub(crate) struct Seen<'a, I: Isa> {
    pub exec: &'a Exec<'a, I>,
    pub slots: &'a [Option<Box<Resident<I>>>],
    /// The wave whose turn it is, which is in no slot meanwhile.
    pub at: Option<&'a Resident<I>>,
    pub executed: u64,
    pub memory: &'a DeviceMemory,
    pub printed: &'a Console,
}

impl<I: Isa> Seen<'_, I> {
    fn all(&self) -> impl Iterator<Item = &Resident<I>> {
        self.slots.iter().flatten().map(Box::as_ref).chain(self.at)
    }

    fn find(&self, wave: u32) -> Option<&Resident<I>> {
        self.at.filter(|r| r.wave.id == wave).or_else(|| self.all().find(|r| r.wave.id == wave))
    }

    fn describe(r: &Resident<I>) -> WaveSeen {
        WaveSeen {
            wave: r.wave.id,
            core: r.place.core as u32,
            slot: r.slot,
            group: r.start.group,
            wave_in_group: r.start.wave_in_group,
            live: r.wave.live,
            issued: r.wave.issued,
            depth: r.wave.depth,
            at_barrier: r.wave.all_at_barrier(),
            lds_base: r.start.lds_base,
            scratch_base: r.start.scratch_base,
        }
    }

    fn describe_path(&self, wave: &Wave<I, ()>, k: usize) -> PathSeen {
        let own = &wave.paths[k];
        let on = |set: u64| set >> k & 1 == 1;
        PathSeen {
            path: k,
            pc: own.path.pc,
            from: own.path.from,
            mask: own.path.mask,
            active: self.exec.program.isa.active(&own.regs, own.path.mask),
            state: match () {
                () if on(wave.parked) => PathState::Parked,
                () if on(wave.at_barrier) => PathState::AtBarrier,
                () if on(wave.held) => PathState::Held,
                () => PathState::Runs,
            },
        }
    }
}

impl<I: Isa> Inspected for Seen<'_, I> {
    fn executed(&self) -> u64 {
        self.executed
    }

    fn current(&self) -> Option<(u32, usize)> {
        self.at.map(|r| (r.wave.id, r.path))
    }

    fn waves(&self) -> Vec<WaveSeen> {
        let mut all: Vec<WaveSeen> = self.all().map(Self::describe).collect();
        all.sort_by_key(|w| w.wave);
        all
    }

    fn wave(&self, wave: u32) -> Option<WaveSeen> {
        self.find(wave).map(Self::describe)
    }

    fn paths(&self, wave: u32) -> Vec<PathSeen> {
        let Some(r) = self.find(wave) else { return Vec::new() };
        bits(r.wave.ids).map(|k| self.describe_path(&r.wave, k as usize)).collect()
    }

    fn path(&self, wave: u32, path: usize) -> Option<PathSeen> {
        let r = self.find(wave).filter(|r| path < 64 && r.wave.ids >> path & 1 == 1)?;
        Some(self.describe_path(&r.wave, path))
    }

    fn registers(&self, wave: u32, path: usize, lane: u32) -> Vec<(String, u64)> {
        let isa = &self.exec.program.isa;
        let Some(r) = self.find(wave).filter(|r| path < r.wave.paths.len() && lane < self.exec.lanes) else {
            return Vec::new();
        };
        let mut all = isa.dump(r.wave.regs(), lane);
        // The lanes' registers exist once; what belongs to the path is with the path.
        if path != r.wave.holder && !isa.path_registers().is_empty() {
            let own = isa.dump(&r.wave.paths[path].regs, lane);
            let last = all.len() - own.len().min(all.len());
            all.truncate(last);
            all.extend(own);
        }
        all
    }

    fn memory(&self) -> &DeviceMemory {
        self.memory
    }

    fn printed(&self) -> Vec<u8> {
        self.printed.text()
    }
}
