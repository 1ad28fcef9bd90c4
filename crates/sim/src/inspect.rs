//! Looking at an untimed run between its instructions: what a debugger needs. Everything is read from the run itself, nothing is
//! copied beforehand, and nothing of the run can be changed. So a run that is looked at does what any other does.

use crate::console::Console;
use crate::error::SimError;
use crate::exec::{Effect, Exec};
use crate::memory::{DeviceMemory, Exact};
use crate::resident::Resident;
use crate::wave::{Path, Wave};
use std::ops::ControlFlow;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, Pc};

/// Somebody who looks at an untimed run between its instructions.
pub trait Inspector {
    /// Nothing has to be asked before the run has executed so many instructions; until then it is as fast as any.
    fn quiet_until(&self) -> u64;
    /// Whether [`Did::written`] is wanted; asked before every instruction.
    fn wants_accesses(&self) -> bool;
    /// Before an instruction. Break: the run ends here, with an error of the kind [`crate::ErrorKind::Stopped`].
    fn before(&mut self, now: &dyn Inspected) -> ControlFlow<()>;
    /// After it.
    fn after(&mut self, did: &Did);
    /// The run is over, by itself or because of an error; then what failed is still there to be looked at.
    fn over(&mut self, now: &dyn Inspected, error: Option<&SimError>);
}

/// A run that stands between two instructions.
pub trait Inspected {
    /// Instructions of waves that were executed so far.
    fn executed(&self) -> u64;
    /// The wave and its path whose instruction comes next, or failed; none once the run is over.
    fn current(&self) -> Option<(u32, usize)>;
    /// Waves that have started and not ended, by number.
    fn waves(&self) -> Vec<WaveSeen>;
    fn wave(&self, wave: u32) -> Option<WaveSeen>;
    /// Paths of a wave that exist.
    fn paths(&self, wave: u32) -> Vec<PathSeen>;
    fn path(&self, wave: u32, path: usize) -> Option<PathSeen>;
    /// Registers of one lane of a path, with the path's own, in the order of the instruction set.
    fn registers(&self, wave: u32, path: usize, lane: u32) -> Vec<(String, u64)>;
    fn memory(&self) -> &DeviceMemory;
    /// What the program has printed.
    fn printed(&self) -> Vec<u8>;
}

/// A wave as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveSeen {
    pub wave: u32,
    pub core: u32,
    pub slot: u32,
    pub group: u32,
    pub wave_in_group: u32,
    /// Lanes that have not exited.
    pub live: Mask,
    /// Instructions it has executed.
    pub issued: u64,
    /// Entries of its divergence stack.
    pub depth: usize,
    pub at_barrier: bool,
    /// Where the local memory of its group and its private memory are.
    pub lds_base: u64,
    pub scratch_base: u64,
}

/// Whether a path can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    Runs,
    /// Waits to merge.
    Parked,
    AtBarrier,
    /// The mechanism does not let it run now.
    Held,
}

impl PathState {
    pub fn words(self) -> &'static str {
        match self {
            PathState::Runs => "runs",
            PathState::Parked => "waits to merge",
            PathState::AtBarrier => "waits at a barrier",
            PathState::Held => "is held back",
        }
    }
}

/// A path as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSeen {
    pub path: usize,
    pub pc: Pc,
    /// The instruction it executed last.
    pub from: Pc,
    pub mask: Mask,
    /// Lanes of the mask that the next instruction works on.
    pub active: Mask,
    pub state: PathState,
}

/// What an instruction did.
#[derive(Clone, Copy, Debug)]
pub struct Did<'a> {
    pub wave: u32,
    pub path: usize,
    pub pc: Pc,
    /// Lanes of the path before.
    pub mask: Mask,
    /// Lanes that were on before, and that are on after it; none if the path has gone.
    pub active: Mask,
    pub then: Mask,
    /// Where the path goes on, if it exists.
    pub to: Option<Pc>,
    /// Lanes of the wave that have not exited.
    pub live: Mask,
    /// It is a barrier.
    pub barrier: bool,
    /// The wave has ended.
    pub ended: bool,
    /// Memory that it wrote, if somebody wants to know.
    pub written: &'a [Exact],
}

impl<'a> Did<'a> {
    pub(crate) fn of<I: Isa>(
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

    /// Lanes that were together before it and are not any more, though none of them has ended: those that went on together, and the
    /// others.
    pub fn parted(&self) -> Option<(Mask, Mask)> {
        let left = self.active & !self.then & self.live;
        let within = self.then != 0 && self.then & !self.active == 0;
        (within && left != 0).then_some((self.then, left))
    }
}

/// The run, while an instruction is due.
pub(crate) struct Seen<'a, I: Isa> {
    pub exec: &'a Exec<'a, I>,
    pub slots: &'a [Option<Resident<I>>],
    /// The wave whose turn it is, which is in no slot meanwhile.
    pub at: Option<&'a Resident<I>>,
    pub executed: u64,
    pub memory: &'a DeviceMemory,
    pub printed: &'a Console,
}

impl<I: Isa> Seen<'_, I> {
    fn all(&self) -> impl Iterator<Item = &Resident<I>> {
        self.slots.iter().flatten().chain(self.at)
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
