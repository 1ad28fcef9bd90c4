//! Accesses of all lanes to numbers in rows, if one look says that they may: what [`wb_isa::Bus`] says of loads, stores and what is
//! modified. Everything here either does all of it or nothing.

use super::device::DeviceMemory;
use super::lanes::{Extent, each_lane};
use std::ops::Range;
use wb_isa::gather::{Within, gather, scatter};
use wb_isa::lanes::Row;
use wb_isa::{Mask, Use};

/// Most places of an access.
const PLACES: usize = 4;

/// The least of what is added for the places, and bytes from there to the end of `bytes` bytes at the last one.
#[inline(always)]
fn reach(add: &[u32], bytes: usize) -> (u32, u32) {
    let (least, most) = add.iter().fold((u32::MAX, 0), |(a, b), &add| (a.min(add), b.max(add)));
    (least, most.wrapping_sub(least).saturating_add(bytes as u32))
}

impl DeviceMemory {
    /// Where the bytes of all lanes and places lie, with where lanes are in them and the least that is added.
    #[inline(always)]
    fn piece<'a>(
        &self,
        base: u64,
        (offset, add): (&'a Row<u32>, &[u32]),
        lanes: Mask,
        how: Use,
        bytes: usize,
    ) -> Option<(Within<'a>, u32, Range<usize>)> {
        if !self.windows.is_empty() {
            return None;
        }
        let floor = if how == Use::Load { self.floor } else { self.text_end.max(self.floor) };
        let (least, reach) = reach(add, bytes);
        let base = base.checked_add(least.into())?;
        let step = Within::step(offset, lanes);
        let Extent { low, bytes } = match step {
            // No step leads around 32 bits.
            Some(step) if step < 1 << 16 => self.extent_of(base, (offset[0], offset[63]), floor, reach)?,
            _ => match self.near(base, offset, floor, reach) {
                // Memory ends behind what may be touched.
                Some(extent) if extent.bytes.end <= self.bytes.len() => extent,
                _ => self.extent(base, offset, lanes, floor, reach)?,
            },
        };
        Some((Within::stepping(offset, low, lanes, step), least, bytes))
    }

    /// `each` numbers of `U` bytes at each of the places, one row for each.
    #[inline(never)]
    pub(super) fn load_rows<const U: usize>(
        &self,
        base: u64,
        (offset, add): (&Row<u32>, &[u32]),
        lanes: Mask,
        each: usize,
        out: &mut [Row<u32>],
    ) -> bool {
        let size = U * each;
        let Some((within, least, piece)) = self.piece(base, (offset, add), lanes, Use::Load, size) else {
            return false;
        };
        let (at, low) = (piece.start, within.low);
        let (bytes, copies) = match (self.bytes.get(piece.clone()), &self.copies) {
            (Some(bytes), _) => (bytes, None),
            (None, Some(copies)) => match copies.slice(at, piece.len()) {
                Some(bytes) => (bytes, Some(copies)),
                None => return false,
            },
            (None, None) => return false,
        };
        let mut skip = [0; PLACES];
        let Some(skip) = skip.get_mut(..add.len()) else { return false };
        for (skip, add) in skip.iter_mut().zip(add) {
            if !(add - least).is_multiple_of(U as u32) {
                return false;
            }
            *skip = (add - least) / U as u32;
        }
        let done = gather::<U>(bytes, within, (skip, each), out);
        if let (true, Some(copies)) = (done, copies) {
            each_lane(lanes, |lane| {
                let first = at.wrapping_add(offset[lane].wrapping_sub(low) as usize);
                add.iter().for_each(|&add| copies.reads(first.wrapping_add((add - least) as usize), size));
            });
        }
        done
    }

    /// The same for stores.
    #[inline(never)]
    pub(super) fn store_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        data: &[[&Row<u32>; D]; P],
    ) -> bool {
        let Some((within, least, piece)) = self.piece(base, (offset, &add), lanes, Use::Store, N) else {
            return false;
        };
        let Some(bytes) = self.bytes.get_mut(piece) else { return false };
        let unit = const { (N / D) as u32 };
        if add.iter().any(|add| !(add - least).is_multiple_of(unit)) {
            return false;
        }
        let skip = add.map(|add| (add - least) / unit);
        match unit {
            1 => scatter::<1, D, P>(bytes, within, skip, data),
            2 => scatter::<2, D, P>(bytes, within, skip, data),
            4 => scatter::<4, D, P>(bytes, within, skip, data),
            _ => false,
        }
    }

    /// The bytes among which those of all lanes lie, `bytes` of each, and where lanes are in them.
    #[inline(never)]
    pub(super) fn piece_to_modify<'a>(
        &mut self,
        base: u64,
        offset: &'a Row<u32>,
        lanes: Mask,
        bytes: u32,
    ) -> Option<(Within<'a>, &mut [u8])> {
        let (within, _, piece) = self.piece(base, (offset, &[0]), lanes, Use::Modify, bytes as usize)?;
        Some((within, self.bytes.get_mut(piece)?))
    }
}
