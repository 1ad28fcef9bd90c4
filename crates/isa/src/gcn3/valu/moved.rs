//! SDWA, DPP and clamped f32 results bound: the parts of sources and the lanes they come from are known when the program is loaded. The operation
//! runs on prepared copies of its first sources. [`super::prepare`] is the definition, and does what is not bound.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::inst::{Format, Inst, Sdwa, Sel, Unused, flag};
use super::super::operand::Ty;
use super::super::state::{Regs, mode};
use super::Vector;
use super::prepare::source_lane;
use super::row_engine::{LANES, Row, pack, unpack};
use crate::Mask;
use crate::vector::{picked, vector};
use std::array::from_fn;

/// A vector instruction with SDWA or DPP, or clamp.
#[derive(Clone, Debug)]
pub(in super::super) struct Moved {
    vector: Vector,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Sdwa {
        src: [Option<Part>; 2],
        dst: Option<Sdwa>,
    },
    Dpp(Box<Movement>),
    /// An f32 result is held between 0 and 1.
    Clamp,
}

/// What a selection does to a dword: `v << up >> down`, with the sign of the part if `signed`.
#[derive(Clone, Copy, Debug)]
struct Part {
    up: u32,
    down: u32,
    signed: bool,
}

/// Where lanes take the first source from.
#[derive(Clone, Debug)]
struct Movement {
    from: Row,
    /// Lanes that have a source at all.
    exists: Mask,
    /// Lanes of the banks and rows that are on.
    enabled: Mask,
    /// Lanes without a source read zero instead of staying as they are.
    bound_ctrl: bool,
}

impl Moved {
    pub fn bind(inst: &Inst) -> Option<Moved> {
        if inst.clamp() && inst.format == Format::Vop3 && inst.entry().dst == Ty::F32 {
            let vector = Vector::operands(&Inst { flags: inst.flags & !flag::CLAMP, ..*inst })?;
            return Some(Moved { vector, how: How::Clamp });
        }
        let vector = Vector::operands(inst)?;
        let entry = inst.entry();
        // One dword each, in vector registers; as compilers write them.
        let narrow = |ty: Ty| ty.dwords() == 1;
        let used = usize::from(entry.src[1] != Ty::None && entry.src[1] != Ty::Mask);
        if !(0..=used).all(|i| narrow(entry.src[i])) || vector.destination().is_some() && !narrow(entry.dst) {
            return None;
        }
        let how = match inst.format {
            Format::Sdwa => {
                let sdwa = inst.sdwa()?;
                let part = |i: usize| {
                    let (part, dword) = Part::of(sdwa.src_sel[i], sdwa.sext[i]);
                    (i <= used && !dword).then_some(part)
                };
                // Comparisons may have exchanged their sources.
                let swapped = vector.is_swapped();
                let src = if swapped { [part(1), part(0)] } else { [part(0), part(1)] };
                if (0..2).any(|i| src[i].is_some() && vector.row(i).is_none()) {
                    return None;
                }
                How::Sdwa { src, dst: (sdwa.dst_sel != Sel::Dword).then_some(sdwa) }
            }
            Format::Dpp if !vector.is_swapped() => {
                vector.row(0)?;
                How::Dpp(Box::new(Movement::of(inst)?))
            }
            _ => return None,
        };
        Some(Moved { vector, how })
    }

    /// Executes it; false if something is unusual: then nothing happened.
    pub fn run(&self, regs: &mut Regs, path: Mask) -> bool {
        let Some(lanes) = self.vector.lanes(regs, path) else { return false };
        match &self.how {
            How::Sdwa { src, dst } => self.select(regs, lanes, src, dst.as_ref()),
            How::Dpp(movement) => {
                let Some(row) = self.vector.row(0).and_then(|row| regs.v.whole(row)) else { return false };
                let (moved, written) = movement.apply(row, lanes);
                self.vector.run_on(regs, written, [Some(&moved), None]);
            }
            How::Clamp => {
                self.vector.run_on(regs, lanes, [None; 2]);
                if let Some(row) = self.vector.destination() {
                    clamp(regs, lanes, row);
                }
            }
        }
        true
    }

    fn select(&self, regs: &mut Regs, lanes: Mask, src: &[Option<Part>; 2], dst: Option<&Sdwa>) {
        let row = |regs: &Regs, i: usize| -> Option<Row> {
            let part = src[i]?;
            Some(part.of_row(regs.v.whole(self.vector.row(i)?)?))
        };
        let parts = [row(regs, 0), row(regs, 1)];
        let place = dst.zip(self.vector.destination());
        let old = place.and_then(|(_, row)| regs.v.whole(row).copied());
        self.vector.run_on(regs, lanes, parts.each_ref().map(Option::as_ref));
        if let (Some((sdwa, row)), Some(old)) = (place, old)
            && let Some(new) = regs.v.whole(row)
        {
            let out = Merge::of(sdwa).rows(new, &old);
            regs.v.blend(row, lanes, &out);
        }
    }
}

/// As [`super::prepare`] does it: a NaN becomes 0 only with DX10_CLAMP, −0 stays.
fn clamp(regs: &mut Regs, lanes: Mask, row: usize) {
    let dx10 = regs.mode & mode::DX10_CLAMP != 0;
    let Some(new) = regs.v.whole(row) else { return };
    let out = vector(
        #[inline(always)]
        move || {
            let mut out = [0; LANES];
            for i in 0..LANES {
                let v = f32::from_bits(new[i]);
                let held = if v < 0.0 { 0 } else { new[i] };
                let held = if v > 1.0 { 1f32.to_bits() } else { held };
                out[i] = if v.is_nan() & dx10 { 0 } else { held };
            }
            out
        },
    );
    regs.v.blend(row, lanes, &out);
}

/// Where a result goes in the destination: `v << shift & field`, beside what is kept of the old value and the sign above.
struct Merge {
    shift: u32,
    field: u32,
    keep: u32,
    above: u32,
    sign: u32,
}

impl Merge {
    fn of(sdwa: &Sdwa) -> Merge {
        let (shift, width) = match sdwa.dst_sel {
            Sel::Byte(b) => (8 * u32::from(b), 8),
            Sel::Word(w) => (16 * u32::from(w), 16),
            Sel::Dword => (0, 32),
        };
        let field = u32::MAX >> (32 - width) << shift;
        let above = !(field | ((1 << shift) - 1));
        Merge {
            shift,
            field,
            keep: if sdwa.unused == Unused::Preserve { !field } else { 0 },
            above: if sdwa.unused == Unused::Sext { above } else { 0 },
            sign: 1 << (width - 1),
        }
    }

    fn rows(&self, new: &Row, old: &Row) -> Row {
        let Merge { shift, field, keep, above, sign } = *self;
        vector(
            #[inline(always)]
            move || {
                let mut out = [0; LANES];
                for i in 0..LANES {
                    let negative = if new[i] & sign != 0 { above } else { 0 };
                    out[i] = new[i] << (shift & 31) & field | old[i] & keep | negative;
                }
                out
            },
        )
    }
}

impl Part {
    /// And whether it is all of it.
    fn of(sel: Sel, signed: bool) -> (Part, bool) {
        match sel {
            Sel::Byte(b) => (Part { up: 24 - 8 * u32::from(b), down: 24, signed }, false),
            Sel::Word(w) => (Part { up: 16 - 16 * u32::from(w), down: 16, signed }, false),
            Sel::Dword => (Part { up: 0, down: 0, signed: false }, true),
        }
    }

    fn of_row(self, row: &Row) -> Row {
        let Part { up, down, signed } = self;
        vector(
            #[inline(always)]
            move || {
                let mut out = [0; LANES];
                for i in 0..LANES {
                    let v = row[i] << (up & 31);
                    out[i] = if signed { (v as i32 >> (down & 31)) as u32 } else { v >> (down & 31) };
                }
                out
            },
        )
    }
}

impl Movement {
    fn of(inst: &Inst) -> Option<Movement> {
        let dpp = inst.dpp()?;
        let source = |lane: usize| source_lane(dpp.ctrl, lane).filter(|&from| from < LANES);
        let mask = |f: &dyn Fn(usize) -> bool| (0..LANES).fold(0, |mask, i| mask | u64::from(f(i)) << i);
        let on = |lane: usize| dpp.bank_mask >> (lane >> 2 & 3) & dpp.row_mask >> (lane >> 4 & 3) & 1 == 1;
        Some(Movement {
            from: from_fn(|lane| source(lane).unwrap_or(0) as u32),
            exists: mask(&|lane| source(lane).is_some()),
            enabled: mask(&on),
            bound_ctrl: dpp.bound_ctrl,
        })
    }

    /// The row moved, and the lanes that are written. A lane reads only from active ones.
    fn apply(&self, row: &Row, lanes: Mask) -> (Row, Mask) {
        let (moved, read) = vector(
            #[inline(always)]
            || {
                let mut read = self.exists;
                if lanes != Mask::MAX {
                    read &= pack(&picked(&unpack(lanes), &self.from).map(|on| on as u8));
                }
                let mut moved = picked(row, &self.from);
                if read != Mask::MAX {
                    let on = unpack(read);
                    for i in 0..LANES {
                        moved[i] &= on[i].wrapping_neg();
                    }
                }
                (moved, read)
            },
        );
        let written = if self.bound_ctrl { Mask::MAX } else { read };
        (moved, written & self.enabled & lanes)
    }
}
