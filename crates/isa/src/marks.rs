//! What a checked run knows of a wave's registers: which bytes of a lane's registers, and which bits of scalar ones, nobody has
//! given a value. Marks follow values through instructions ([`crate::Isa::follow`]) up to a use that matters: a branch, an address,
//! memory. Registers that a wave finds undefined at its start are marked, and what is loaded from memory that nobody wrote.

use crate::Mask;
use crate::lanes::bits;

/// Lanes by byte of a dword.
pub type Planes = [Mask; 4];

/// No byte of any lane.
pub const CLEAN: Planes = [0; 4];

/// Where an undefined value comes from: what kind of place, and the instruction, as the checker counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin(pub u32);

/// What became visible while an instruction was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A branch depends on an undefined value.
    Branch { lanes: Mask, origin: Origin },
    /// An address does.
    Address { lanes: Mask, origin: Origin },
    /// The value of a lane that is off is read by another one.
    LaneOff { lane: u32, other: u32 },
    /// `v_readfirstlane` of a value on which lanes disagree.
    Divergent { lane: u32, other: u32 },
    /// An integer is divided by zero.
    Division { lanes: Mask },
}

/// Marks of one wave's registers, by the ids of [`crate::Facts`].
#[derive(Clone, Debug, Default)]
pub struct Marks {
    rows: Vec<Planes>,
    scalars: Vec<u32>,
    first_scalar: u16,
    origins: Vec<Origin>,
    /// Registers that have a mark somewhere.
    marked: Vec<u64>,
    pub found: Vec<Found>,
    /// Rows whose lanes were last written while lanes that are off in the program were on (whole-wave mode), and the lanes that were
    /// written last.
    whole: Vec<bool>,
    last: Vec<Mask>,
    /// The execution mask has been set to all lanes by a constant.
    pub whole_wave: bool,
    /// What a value read from a lane that is off has as its origin.
    pub off: Origin,
}

impl Marks {
    /// Nothing is marked. `scalars`: ids of the registers that all lanes share.
    pub fn new(registers: usize, scalars: std::ops::Range<u16>) -> Marks {
        Marks {
            rows: vec![CLEAN; registers],
            scalars: vec![0; scalars.len()],
            first_scalar: scalars.start,
            origins: vec![Origin::default(); registers],
            marked: vec![0; registers.div_ceil(64)],
            whole: vec![false; registers],
            last: vec![Mask::MAX; registers],
            ..Marks::default()
        }
    }

    pub fn is_scalar(&self, id: u16) -> bool {
        id >= self.first_scalar && usize::from(id - self.first_scalar) < self.scalars.len()
    }

    #[inline(always)]
    pub fn is_marked(&self, id: u16) -> bool {
        self.marked.get(usize::from(id / 64)).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    fn note(&mut self, id: u16, marked: bool) {
        if let Some(word) = self.marked.get_mut(usize::from(id / 64)) {
            *word = *word & !(1 << (id % 64)) | u64::from(marked) << (id % 64);
        }
    }

    /// Marks of a register of lanes; those of a scalar one count for every lane.
    pub fn planes(&self, id: u16) -> Planes {
        if !self.is_marked(id) {
            return CLEAN;
        }
        if self.is_scalar(id) {
            let bits = self.bits(id);
            return std::array::from_fn(|b| if bits >> (8 * b) & 0xff != 0 { Mask::MAX } else { 0 });
        }
        self.rows.get(usize::from(id)).copied().unwrap_or(CLEAN)
    }

    /// Lanes with a mark in any byte.
    pub fn lanes(&self, id: u16) -> Mask {
        any(self.planes(id))
    }

    /// Marked bits of a scalar register.
    pub fn bits(&self, id: u16) -> u32 {
        match id.checked_sub(self.first_scalar) {
            Some(i) => self.scalars.get(usize::from(i)).copied().unwrap_or(0),
            None => 0,
        }
    }

    pub fn origin(&self, id: u16) -> Origin {
        self.origins.get(usize::from(id)).copied().unwrap_or_default()
    }

    /// Sets the marks of some lanes of a register; the others keep theirs.
    pub fn set(&mut self, id: u16, lanes: Mask, planes: Planes, origin: Origin) {
        let Some(row) = self.rows.get_mut(usize::from(id)) else { return };
        for (old, new) in row.iter_mut().zip(planes) {
            *old = *old & !lanes | new & lanes;
        }
        let marked = any(*row) != 0;
        if any(planes) & lanes != 0 {
            self.origins[usize::from(id)] = origin;
        }
        self.note(id, marked);
    }

    pub fn set_bits(&mut self, id: u16, bits: u32, origin: Origin) {
        let Some(i) = id.checked_sub(self.first_scalar) else { return };
        let Some(old) = self.scalars.get_mut(usize::from(i)) else { return };
        *old = bits;
        if bits != 0 {
            self.origins[usize::from(id)] = origin;
        }
        self.note(id, bits != 0);
    }

    /// The register has a value in these lanes, or as a whole if it is a scalar one.
    #[inline(always)]
    pub fn clear(&mut self, id: u16, lanes: Mask) {
        if self.is_marked(id) {
            self.clear_marked(id, lanes);
        }
    }

    fn clear_marked(&mut self, id: u16, lanes: Mask) {
        if self.is_scalar(id) {
            self.set_bits(id, 0, Origin::default());
        } else {
            self.set(id, lanes, CLEAN, Origin::default());
        }
    }

    /// Lanes, or all bits, are undefined.
    pub fn mark(&mut self, id: u16, lanes: Mask, origin: Origin) {
        if self.is_scalar(id) {
            self.set_bits(id, u32::MAX, origin);
        } else {
            self.set(id, lanes, [lanes; 4], origin);
        }
    }

    /// Lanes of a row were written, in whole-wave mode or not.
    pub fn written(&mut self, id: u16, lanes: Mask) {
        let whole = self.whole_wave;
        if let (Some(row), Some(last)) =
            (self.whole.get_mut(usize::from(id)), self.last.get_mut(usize::from(id)))
        {
            (*row, *last) = (whole, lanes);
        }
    }

    /// The lanes of a row that were written last.
    pub fn last_lanes(&self, id: u16) -> Mask {
        self.last.get(usize::from(id)).copied().unwrap_or(Mask::MAX)
    }

    /// One lane of a row was written, whether it is on or not (`v_writelane`).
    pub fn written_lane(&mut self, id: u16) {
        if let Some(row) = self.whole.get_mut(usize::from(id)) {
            *row = true;
        }
    }

    /// Lanes that are off may be read.
    pub fn is_whole(&self, id: u16) -> bool {
        self.whole.get(usize::from(id)).copied().unwrap_or(false)
    }

    /// What any instruction does: a lane's results are undefined if one of its sources is. `active`: the lanes it works on.
    pub fn any_to_all(&mut self, reads: &[u16], writes: &[u16], active: Mask) {
        let mut lanes = 0;
        let mut origin = Origin::default();
        for &id in reads {
            let some = self.lanes(id) & active;
            if some != 0 {
                (lanes, origin) = (lanes | some, self.origin(id));
            }
        }
        for &id in writes {
            match self.is_scalar(id) {
                true => self.set_bits(id, if lanes != 0 { u32::MAX } else { 0 }, origin),
                false => self.set(id, active, [lanes; 4], origin),
            }
        }
    }

    /// The first lane of some.
    pub fn first(lanes: Mask) -> u32 {
        bits(lanes).next().unwrap_or(0)
    }
}

/// Lanes with a mark in any byte.
pub fn any(planes: Planes) -> Mask {
    planes[0] | planes[1] | planes[2] | planes[3]
}

/// What a checked run has to know of an instruction before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// It accesses memory.
    pub memory: bool,
    /// Its accesses are atomic, or made so that others see them at once.
    pub atomic: bool,
    /// An atomic that stores its data whatever was there.
    pub replaces: bool,
    /// What others wrote before is seen from here on.
    pub acquires: bool,
    /// [`crate::Isa::follow`] wants to see it whether or not a register is marked.
    pub always: bool,
    /// Addresses must be multiples of this; 0: of anything.
    pub align: u32,
    /// Registers that are stored, dword by dword.
    pub data: Vec<u16>,
    /// Registers that are loaded, dword by dword.
    pub loads: Vec<u16>,
    /// A loaded part of a dword leaves the rest of the register as it is.
    pub keeps: bool,
    /// An index that the program computes says which part of private memory is meant.
    pub indexed: bool,
    /// The accesses are those of a wave, not of its lanes.
    pub scalar: bool,
}
