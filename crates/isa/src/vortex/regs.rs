//! Per-wave architectural state: general-purpose and floating-point registers, `frm`, `fflags` and the other CSRs that
//! can be written, as rows of lanes. Each lane is a hart of its own, so flags and rounding mode exist per lane.

use super::float::Out;
use crate::lanes::{CHUNK, Row, Rows};
use crate::vector::vector;
use crate::{Mask, WaveStart};

/// Rows behind the 32 general-purpose registers.
pub(super) const F0: usize = 32;
pub(super) const FRM: usize = 64;
pub(super) const FFLAGS: usize = 65;
pub(super) const MSCRATCH: usize = 66;
/// Address of the lane's `lr.w` with bit 0 set, 0 if it has none, and what it read there.
pub(super) const RESERVED: usize = 67;
pub(super) const RESERVED_VALUE: usize = 68;
const ROWS: usize = 69;

/// Registers of one wave and who it is.
#[derive(Clone, Debug)]
pub struct Regs {
    pub(super) rows: Rows<u32>,
    pub(super) core: u32,
    /// Number of the wave in its core.
    pub(super) wave: u32,
    /// Instructions the wave has executed (minstret).
    pub(super) retired: u64,
    /// Some lane may have a rounding mode other than to nearest.
    pub(super) modes: bool,
}

impl Regs {
    pub(crate) fn new(lanes: u32) -> Regs {
        Regs { rows: Rows::new(ROWS, lanes), core: 0, wave: 0, retired: 0, modes: false }
    }

    pub(crate) fn start(&mut self, start: &WaveStart, args: u32) {
        if !start.kept {
            self.rows.clear();
        }
        self.rows.row_mut(MSCRATCH).fill(start.inherited.unwrap_or(args));
        self.core = start.group;
        self.wave = start.wave_in_group;
        self.retired = 0;
        self.modes = false;
    }

    /// `mscratch`, the same in all lanes.
    pub(super) fn scratch(&self) -> u32 {
        self.rows.row(MSCRATCH)[0]
    }

    pub fn lanes(&self) -> u32 {
        self.rows.lanes()
    }

    /// Register by id: 0 to 31 general purpose, 32 to 63 floating point.
    pub fn get(&self, register: usize, lane: u32) -> u32 {
        self.rows.get(register, lane)
    }

    /// For launch code and tests; x0 stays 0.
    pub fn set(&mut self, register: usize, lane: u32, value: u32) {
        if register != 0 {
            self.rows.set(register, lane, value);
        }
    }

    /// A register of all lanes of `mask`.
    pub(crate) fn fill(&mut self, register: usize, mask: Mask, value: u32) {
        self.rows.map1(register, register, mask, |_| value);
    }

    /// A register, lane by lane; x0 stays 0.
    pub(crate) fn blend(&mut self, register: usize, mask: Mask, row: &Row<u32>) {
        if register != 0 {
            self.rows.blend(register, mask, row);
        }
    }

    /// The same without the lanes' registers, for another path of the wave.
    pub(crate) fn without_rows(&self) -> Regs {
        Regs { rows: Rows::new(0, self.lanes()), ..*self }
    }

    /// The lanes' registers go to another path of the wave.
    pub(crate) fn hand_over(&mut self, to: &mut Regs) {
        std::mem::swap(&mut self.rows, &mut to.rows);
        (to.retired, to.modes) = (self.retired, self.modes);
    }

    pub fn flags(&self, lane: u32) -> u32 {
        self.rows.get(FFLAGS, lane)
    }

    pub fn set_rounding(&mut self, lane: u32, mode: u32) {
        self.rows.set(FRM, lane, mode);
        self.modes = true;
    }

    /// `d = f(a, b, c)` in the lanes of `mask`, and their flags accrue. Row 0 as destination takes no result.
    #[inline(never)]
    pub(super) fn float(
        &mut self,
        d: usize,
        [a, b, c]: [usize; 3],
        mask: Mask,
        f: impl Fn(u32, u32, u32) -> Out,
    ) {
        let per_row = self.rows.chunks_per_row();
        let chunks = self.rows.chunks_mut();
        vector(
            #[inline(always)]
            move || {
                for n in 0..per_row {
                    let lanes = (mask >> (n * CHUNK)) as u8;
                    if lanes == 0 {
                        continue;
                    }
                    let (x, y, z) =
                        (chunks[a * per_row + n], chunks[b * per_row + n], chunks[c * per_row + n]);
                    let mut out = [0; CHUNK];
                    let mut flags = [0; CHUNK];
                    for i in 0..CHUNK {
                        (out[i], flags[i]) = f(x[i], y[i], z[i]);
                    }
                    let accrued = &mut chunks[FFLAGS * per_row + n];
                    for i in 0..CHUNK {
                        accrued[i] |= if lanes >> i & 1 == 1 { flags[i] } else { 0 };
                    }
                    if d == 0 {
                        continue;
                    }
                    let to = &mut chunks[d * per_row + n];
                    for i in 0..CHUNK {
                        to[i] = if lanes >> i & 1 == 1 { out[i] } else { to[i] };
                    }
                }
            },
        );
    }
}
