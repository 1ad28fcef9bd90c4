//! Who is ready in a cycle of a partition whose contexts share an issue port, and who may still issue with those that have issued.

use crate::divergence::Waves;
use wb_isa::lanes::bits;
use wb_isa::{Mask, Pc};

/// Paths of a partition that are ready in a cycle.
pub(super) struct Crowd {
    /// By context, the seats of its paths, one bit each; and the contexts that have any.
    sets: [u64; 64],
    pub some: u64,
    /// Somebody left who has not issued.
    pub others: bool,
}

impl Crowd {
    pub fn new() -> Crowd {
        Crowd { sets: [0; 64], some: 0, others: false }
    }

    /// Nobody is there.
    #[inline(always)]
    pub fn begin(&mut self) {
        bits(self.some).for_each(|k| self.sets[k as usize & 63] = 0);
        (self.some, self.others) = (0, false);
    }

    #[inline(always)]
    pub fn add(&mut self, k: u32, set: u64) {
        self.sets[k as usize & 63] = set;
        self.some |= 1 << k;
    }

    /// Paths of context `k`.
    #[inline(always)]
    pub fn of(&self, k: u32) -> u64 {
        self.sets[k as usize & 63]
    }

    /// Seats of waves that have a path there.
    #[inline(always)]
    pub fn waves(&self) -> u64 {
        bits(self.some).fold(0, |all, k| all | self.of(k))
    }

    /// Some paths of context `k` leave.
    #[inline(always)]
    pub fn leave(&mut self, k: u32, seats: u64) {
        self.others |= self.of(k) & seats != 0;
        self.take(k, seats);
    }

    /// Some paths of context `k` issue, perhaps.
    #[inline(always)]
    pub fn take(&mut self, k: u32, seats: u64) {
        let set = &mut self.sets[k as usize & 63];
        *set &= !seats;
        if *set == 0 {
            self.some &= !(1 << k);
        }
    }

    /// One that was taken does not issue.
    #[inline(always)]
    pub fn refuse(&mut self) {
        self.others = true;
    }

    /// Only those in some seats stay.
    pub fn only(&mut self, seats: u64) {
        bits(self.some).for_each(|k| self.leave(k, !seats));
    }

    /// Those stay of which it is true.
    #[inline(always)]
    pub fn keep(&mut self, is: impl Fn(u32, usize) -> bool) {
        for k in bits(self.some) {
            let gone = bits(self.of(k)).filter(|&local| !is(k, local as usize));
            let gone = gone.fold(0, |all, local| all | 1 << local);
            self.leave(k, gone);
        }
    }
}

/// What has issued in this cycle, and who may issue with it.
pub(super) struct With {
    /// Lanes that are not free any more.
    pub busy: Mask,
    /// If it takes a unit together: whose instructions, and the pc and the warp of the first one.
    pub waves: Option<Waves>,
    pub pc: Pc,
    pub warp: u64,
    /// Warps issue as a whole, perhaps none an instruction ahead of another one of its block.
    pub in_step: Option<bool>,
}
