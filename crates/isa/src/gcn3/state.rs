//! Architectural state of a wave: vector rows, scalar registers by encoding number, SCC, MODE, and where the
//! wave's local and private memory lie. EXEC is ordinary state here; a path's split mask is not.

use super::operand::{Window, sreg};
use crate::Mask;
use crate::lanes::Rows;

/// High dword of flat addresses that mean local memory (LDS) and private memory (scratch).
pub const SHARED_APERTURE: u32 = 1;
pub const PRIVATE_APERTURE: u32 = 2;

/// Ids of scalar registers and SCC in [`crate::Facts`]; vector registers come first.
pub const FIRST_SCALAR: u16 = 256;
pub const SCC: u16 = FIRST_SCALAR + 128;
/// Only a name: MODE in messages.
pub const MODE: u16 = SCC + 1;
/// Accumulators come last, where there are any.
pub const FIRST_ACCUMULATOR: u16 = MODE + 1;

/// Bits of MODE.
pub mod mode {
    /// Round mode f32 in 1:0, f64/f16 in 3:2; denormals kept f32 in 5:4, f64/f16 in 7:6.
    pub const F32_DENORMALS: u32 = 3 << 4;
    pub const F64_DENORMALS: u32 = 3 << 6;
    pub const DX10_CLAMP: u32 = 1 << 8;
    pub const IEEE: u32 = 1 << 9;
    /// A branch on EXEC may split the wave (THESIS 4.5.1).
    pub const SPLIT: u32 = 1 << 21;
    /// Halves and 8-bit floats that are too large become the largest number.
    pub const FP16_OVFL: u32 = 1 << 23;
    /// Vector register indexing (s_set_gpr_idx_on) and skipping of vector instructions (s_setvskip).
    pub const GPR_IDX: u32 = 1 << 27;
    pub const VSKIP: u32 = 1 << 28;
}

/// What a scalar source that says where a memory lies reads as. The address is in the high half of a pair: one dword
/// of it is the low half.
pub(super) fn window_value(window: Window, dwords: u8) -> u64 {
    let whole = match window {
        Window::SharedBase => u64::from(SHARED_APERTURE) << 32,
        Window::SharedLimit => u64::from(SHARED_APERTURE) << 32 | 0xffff_ffff,
        Window::PrivateBase => u64::from(PRIVATE_APERTURE) << 32,
        Window::PrivateLimit => u64::from(PRIVATE_APERTURE) << 32 | 0xffff_ffff,
        // No wave of a compute kernel has one.
        Window::PopsExitingWaveId => 0,
    };
    if dwords == 1 { whole & 0xffff_ffff } else { whole }
}

#[derive(Clone, Debug)]
pub struct Regs {
    /// Vector registers: row = register number; accumulators follow them.
    pub v: Rows<u32>,
    /// Scalar registers by encoding number: s0–s101, flat_scratch, xnack_mask, vcc, ttmp, m0, exec.
    pub s: [u32; 128],
    pub scc: bool,
    pub mode: u32,
    /// Local memory of the group: first byte and size.
    pub lds_base: u64,
    pub lds_bytes: u32,
    /// Private memory of the wave: first byte, and bytes per lane.
    pub scratch_base: u64,
    pub scratch_per_lane: u32,
    pub group: u32,
    pub wave_in_group: u32,
    pub waves_in_group: u32,
    /// Vector registers the kernel has: rows of `v` without accumulators.
    pub vgprs: u32,
    /// Accumulators it has.
    pub agprs: u32,
    /// Nothing has been written yet: a wave that starts with them need not clear them.
    pub fresh: bool,
}

/// A pair of scalar registers as 64 bits.
#[inline(always)]
pub(super) fn pair_of(s: &[u32; 128], first: u8) -> u64 {
    let i = (first & 127) as usize;
    u64::from(s[i]) | u64::from(s[(i + 1) & 127]) << 32
}

impl Regs {
    pub fn new(vgprs: u32, lanes: u32) -> Regs {
        Regs::with_accumulators(vgprs, 0, lanes)
    }

    pub fn with_accumulators(vgprs: u32, agprs: u32, lanes: u32) -> Regs {
        Regs {
            v: Rows::new((vgprs + agprs) as usize, lanes),
            s: [0; 128],
            scc: false,
            mode: 0,
            lds_base: 0,
            lds_bytes: 0,
            scratch_base: 0,
            scratch_per_lane: 0,
            group: 0,
            wave_in_group: 0,
            waves_in_group: 1,
            vgprs,
            agprs,
            fresh: true,
        }
    }

    /// The same without vector registers.
    pub fn without_vectors(&self) -> Regs {
        Regs { v: Rows::new(0, 64), ..*self }
    }

    /// A scalar pair as 64 bits.
    #[inline(always)]
    pub fn pair(&self, first: u8) -> u64 {
        pair_of(&self.s, first)
    }

    #[inline(always)]
    pub fn set_pair(&mut self, first: u8, value: u64) {
        let i = (first & 127) as usize;
        self.s[i] = value as u32;
        self.s[(i + 1) & 127] = (value >> 32) as u32;
    }

    #[inline(always)]
    pub fn exec(&self) -> Mask {
        self.pair(sreg::EXEC)
    }

    #[inline(always)]
    pub fn vcc(&self) -> Mask {
        self.pair(sreg::VCC)
    }
}
