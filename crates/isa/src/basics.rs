//! What everything else speaks of: places of instructions, and sets of lanes.

/// Index of an instruction in the decoded program; `addr / granule` for ISAs that live in memory.
pub type Pc = u32;
/// No instruction: a reconvergence point that does not exist, a watch that never fires.
pub const NO_PC: Pc = u32::MAX;
/// One bit per lane, lane 0 in bit 0. A wave has at most 64 lanes.
pub type Mask = u64;
pub const MAX_LANES: u32 = 64;

/// The mask with the first `n` lanes set.
pub const fn first_lanes(n: u32) -> Mask {
    if n >= 64 { !0 } else { (1 << n) - 1 }
}
