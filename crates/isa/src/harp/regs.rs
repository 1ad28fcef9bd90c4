//! Per-wave architectural state: registers as rows of lanes, predicates as masks, and the mode bits
//! with one shadow copy for interrupts. The kernel entry is kept per wave (per core in harptool).

use super::arch::Arch;
use crate::lanes::Rows;
use crate::{Mask, Pc, WaveStart, first_lanes};

/// Registers and modes of one wave.
#[derive(Clone, Debug)]
pub struct Regs {
    pub(super) gpr: Rows<u64>,
    /// One mask per predicate register.
    pub(super) pred: Vec<Mask>,
    pub(super) supervisor: bool,
    pub(super) interrupts: bool,
    /// Address set by `skep`. A spawned wave has none until it sets its own.
    pub(super) kernel: Option<u64>,
    pub(super) shadow: Option<Shadow>,
}

/// What an interrupt saves: lane 0, the active lanes, where to return to and the modes.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    pub gpr: Vec<u64>,
    /// Bit 0 of each predicate.
    pub pred: Vec<bool>,
    pub mask: Mask,
    pub pc: Pc,
    pub supervisor: bool,
    pub interrupts: bool,
}

impl Regs {
    pub(super) fn new(arch: &Arch, lanes: u32) -> Regs {
        Regs {
            gpr: Rows::new(arch.gprs as usize, lanes),
            pred: vec![0; arch.preds as usize],
            supervisor: true,
            interrupts: true,
            kernel: None,
            shadow: None,
        }
    }

    /// Lane 0 starts with lane count and wave number in %r0; spawned waves run in user mode.
    pub(super) fn start(&mut self, arch: &Arch, start: &WaveStart) {
        self.gpr.clear();
        self.pred.fill(0);
        self.supervisor = start.spawned.is_none();
        self.interrupts = true;
        self.kernel = None;
        self.shadow = None;
        let identity = u64::from(start.lanes) << (arch.bits() / 2) | u64::from(start.wave);
        self.gpr.set(0, 0, identity & arch.word_mask());
        if let Some((reg, value)) = start.spawned {
            self.gpr.set(usize::from(reg), 0, value & arch.word_mask());
        }
    }

    pub fn lanes(&self) -> u32 {
        self.gpr.lanes()
    }

    /// General-purpose register `r` of `lane`.
    pub fn gpr(&self, r: usize, lane: u32) -> u64 {
        self.gpr.get(r, lane)
    }

    /// Sets a register; for launch code and tests. The value must fit the word.
    pub fn set_gpr(&mut self, r: usize, lane: u32, value: u64) {
        self.gpr.set(r, lane, value);
    }

    /// Predicate register `p` of all lanes.
    pub fn pred(&self, p: usize) -> Mask {
        self.pred[p]
    }

    pub fn set_pred(&mut self, p: usize, lanes: Mask) {
        self.pred[p] = lanes & first_lanes(self.lanes());
    }

    pub fn supervisor(&self) -> bool {
        self.supervisor
    }

    /// Saves lane 0 and the modes before an interrupt.
    pub(super) fn save(&mut self, mask: Mask, pc: Pc, gprs: usize) {
        self.shadow = Some(Shadow {
            gpr: (0..gprs).map(|r| self.gpr.get(r, 0)).collect(),
            pred: self.pred.iter().map(|p| p & 1 == 1).collect(),
            mask,
            pc,
            supervisor: self.supervisor,
            interrupts: self.interrupts,
        });
    }

    /// Restores what [`Regs::save`] kept and returns where to continue.
    pub(super) fn restore(&mut self) -> Option<(Pc, Mask)> {
        let shadow = self.shadow.take()?;
        for (r, &value) in shadow.gpr.iter().enumerate() {
            self.gpr.set(r, 0, value);
        }
        for (p, &value) in self.pred.iter_mut().zip(&shadow.pred) {
            *p = *p & !1 | u64::from(value);
        }
        self.supervisor = shadow.supervisor;
        self.interrupts = shadow.interrupts;
        Some((shadow.pc, shadow.mask))
    }
}
