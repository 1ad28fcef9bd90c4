//! What programs see of the machine and the launch they run in.

use crate::{NO_PC, Pc};

/// A machine and a launch as programs see them in CSRs and addresses.
#[derive(Clone, Copy, Debug)]
pub struct Vortex {
    /// Address of pc 0.
    pub base: u32,
    pub cores: u32,
    /// Waves of a core.
    pub waves: u32,
    /// Address of the arguments, in `mscratch` when a wave starts.
    pub args: u32,
    /// Local memory of a core.
    pub local_bytes: u32,
}

impl Vortex {
    /// A machine with one core of one wave, for listings and tests.
    pub fn at(base: u32) -> Vortex {
        Vortex { base, cores: 1, waves: 1, args: 0, local_bytes: 16 << 10 }
    }

    /// The pc of an address; none when no instruction can start there.
    #[inline]
    pub fn pc_of(&self, addr: u64) -> Option<Pc> {
        let offset = addr.checked_sub(self.base.into())?;
        (offset % 4 == 0 && offset / 4 < u64::from(NO_PC)).then_some((offset / 4) as Pc)
    }

    #[inline]
    pub(super) fn address(&self, pc: Pc) -> u32 {
        self.base.wrapping_add(pc.wrapping_mul(4))
    }
}
