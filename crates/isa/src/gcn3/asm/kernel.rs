//! `.amdhsa_kernel` blocks: what a kernel needs from the machine, and its 64-byte descriptor.

use super::argument::ArgHeader;
use crate::diag::nearest;
use crate::gcn3::generation::{Accumulators, Generation};

/// The directives of one block, with LLVM's defaults for gfx803.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelHeader {
    pub name: String,
    /// Static LDS bytes.
    pub group_segment_fixed_size: u32,
    /// Scratch bytes per lane.
    pub private_segment_fixed_size: u32,
    pub kernarg_size: u32,
    /// Given explicitly; otherwise the sum of the enabled ones.
    pub user_sgpr_count: Option<u32>,
    pub user_sgpr_private_segment_buffer: bool,
    pub user_sgpr_dispatch_ptr: bool,
    pub user_sgpr_queue_ptr: bool,
    pub user_sgpr_kernarg_segment_ptr: bool,
    pub user_sgpr_dispatch_id: bool,
    pub user_sgpr_flat_scratch_init: bool,
    pub user_sgpr_private_segment_size: bool,
    pub uses_dynamic_stack: bool,
    pub system_sgpr_private_segment_wavefront_offset: bool,
    pub system_sgpr_workgroup_id_x: bool,
    pub system_sgpr_workgroup_id_y: bool,
    pub system_sgpr_workgroup_id_z: bool,
    pub system_sgpr_workgroup_info: bool,
    /// 0: x, 1: x and y, 2: x, y and z.
    pub system_vgpr_workitem_id: u32,
    pub next_free_vgpr: u32,
    pub next_free_sgpr: u32,
    /// Where accumulators begin, on machines with one file: behind the other registers unless given.
    pub accum_offset: Option<u32>,
    pub reserve_vcc: bool,
    pub reserve_flat_scratch: bool,
    pub reserve_xnack_mask: bool,
    pub float_round_mode_32: u32,
    pub float_round_mode_16_64: u32,
    pub float_denorm_mode_32: u32,
    pub float_denorm_mode_16_64: u32,
    pub dx10_clamp: bool,
    pub ieee_mode: bool,
    /// Bits of the exception directives, in the order of the hardware field.
    pub exceptions: u32,
    /// From `.arg` lines; metadata may tell instead.
    pub args: Vec<ArgHeader>,
    /// Begun by `.kernel`: registers are counted in the code that follows.
    pub is_brief: bool,
}

const EXCEPTIONS: [&str; 7] = [
    "exception_fp_ieee_invalid_op",
    "exception_fp_denorm_src",
    "exception_fp_ieee_div_zero",
    "exception_fp_ieee_overflow",
    "exception_fp_ieee_underflow",
    "exception_fp_ieee_inexact",
    "exception_int_div_zero",
];

const FIELDS: [&str; 31] = [
    "accum_offset",
    "group_segment_fixed_size",
    "private_segment_fixed_size",
    "kernarg_size",
    "user_sgpr_count",
    "user_sgpr_private_segment_buffer",
    "user_sgpr_dispatch_ptr",
    "user_sgpr_queue_ptr",
    "user_sgpr_kernarg_segment_ptr",
    "user_sgpr_dispatch_id",
    "user_sgpr_flat_scratch_init",
    "user_sgpr_private_segment_size",
    "uses_dynamic_stack",
    "system_sgpr_private_segment_wavefront_offset",
    "system_sgpr_workgroup_id_x",
    "system_sgpr_workgroup_id_y",
    "system_sgpr_workgroup_id_z",
    "system_sgpr_workgroup_info",
    "system_vgpr_workitem_id",
    "next_free_vgpr",
    "next_free_sgpr",
    "reserve_vcc",
    "reserve_flat_scratch",
    "reserve_xnack_mask",
    "float_round_mode_32",
    "float_round_mode_16_64",
    "float_denorm_mode_32",
    "float_denorm_mode_16_64",
    "dx10_clamp",
    "ieee_mode",
    "exception_fp_ieee_invalid_op",
];

impl KernelHeader {
    pub fn new(name: impl Into<String>) -> KernelHeader {
        KernelHeader {
            name: name.into(),
            group_segment_fixed_size: 0,
            private_segment_fixed_size: 0,
            kernarg_size: 0,
            user_sgpr_count: None,
            user_sgpr_private_segment_buffer: false,
            user_sgpr_dispatch_ptr: false,
            user_sgpr_queue_ptr: false,
            user_sgpr_kernarg_segment_ptr: false,
            user_sgpr_dispatch_id: false,
            user_sgpr_flat_scratch_init: false,
            user_sgpr_private_segment_size: false,
            uses_dynamic_stack: false,
            system_sgpr_private_segment_wavefront_offset: false,
            system_sgpr_workgroup_id_x: true,
            system_sgpr_workgroup_id_y: false,
            system_sgpr_workgroup_id_z: false,
            system_sgpr_workgroup_info: false,
            system_vgpr_workitem_id: 0,
            next_free_vgpr: 0,
            next_free_sgpr: 0,
            accum_offset: None,
            reserve_vcc: true,
            reserve_flat_scratch: true,
            reserve_xnack_mask: false,
            float_round_mode_32: 0,
            float_round_mode_16_64: 0,
            float_denorm_mode_32: 0,
            float_denorm_mode_16_64: 3,
            dx10_clamp: true,
            ieee_mode: true,
            exceptions: 0,
            args: Vec::new(),
            is_brief: false,
        }
    }

    /// Sets what `.amdhsa_<field> value` says, or says why not.
    pub(super) fn set(&mut self, field: &str, value: i128) -> Result<(), String> {
        let number = |high: u32| match u32::try_from(value) {
            Ok(v) if v <= high => Ok(v),
            _ => Err(format!("`.amdhsa_{field}` must be 0 to {high}")),
        };
        let bit = || number(1).map(|v| v == 1);
        match field {
            "group_segment_fixed_size" => self.group_segment_fixed_size = number(u32::MAX)?,
            "private_segment_fixed_size" => self.private_segment_fixed_size = number(u32::MAX)?,
            "kernarg_size" => self.kernarg_size = number(u32::MAX)?,
            "user_sgpr_count" => self.user_sgpr_count = Some(number(16)?),
            "user_sgpr_private_segment_buffer" => self.user_sgpr_private_segment_buffer = bit()?,
            "user_sgpr_dispatch_ptr" => self.user_sgpr_dispatch_ptr = bit()?,
            "user_sgpr_queue_ptr" => self.user_sgpr_queue_ptr = bit()?,
            "user_sgpr_kernarg_segment_ptr" => self.user_sgpr_kernarg_segment_ptr = bit()?,
            "user_sgpr_dispatch_id" => self.user_sgpr_dispatch_id = bit()?,
            "user_sgpr_flat_scratch_init" => self.user_sgpr_flat_scratch_init = bit()?,
            "user_sgpr_private_segment_size" => self.user_sgpr_private_segment_size = bit()?,
            "uses_dynamic_stack" => self.uses_dynamic_stack = bit()?,
            "system_sgpr_private_segment_wavefront_offset" | "enable_private_segment" => {
                self.system_sgpr_private_segment_wavefront_offset = bit()?;
            }
            "system_sgpr_workgroup_id_x" => self.system_sgpr_workgroup_id_x = bit()?,
            "system_sgpr_workgroup_id_y" => self.system_sgpr_workgroup_id_y = bit()?,
            "system_sgpr_workgroup_id_z" => self.system_sgpr_workgroup_id_z = bit()?,
            "system_sgpr_workgroup_info" => self.system_sgpr_workgroup_info = bit()?,
            "system_vgpr_workitem_id" => self.system_vgpr_workitem_id = number(2)?,
            "next_free_vgpr" => self.next_free_vgpr = number(512)?,
            "accum_offset" => self.accum_offset = Some(number(256)?),
            "next_free_sgpr" => self.next_free_sgpr = number(102)?,
            "reserve_vcc" => self.reserve_vcc = bit()?,
            "reserve_flat_scratch" => self.reserve_flat_scratch = bit()?,
            "reserve_xnack_mask" => self.reserve_xnack_mask = bit()?,
            "float_round_mode_32" => self.float_round_mode_32 = number(3)?,
            "float_round_mode_16_64" => self.float_round_mode_16_64 = number(3)?,
            "float_denorm_mode_32" => self.float_denorm_mode_32 = number(3)?,
            "float_denorm_mode_16_64" => self.float_denorm_mode_16_64 = number(3)?,
            "dx10_clamp" => self.dx10_clamp = bit()?,
            "ieee_mode" => self.ieee_mode = bit()?,
            _ => match EXCEPTIONS.iter().position(|e| *e == field) {
                Some(i) => self.exceptions = self.exceptions & !(1 << i) | u32::from(bit()?) << i,
                None => {
                    let near = nearest(field, FIELDS);
                    let hint = near.map_or(String::new(), |n| format!("; did you mean `.amdhsa_{n}`?"));
                    return Err(format!("unknown directive `.amdhsa_{field}`{hint}"));
                }
            },
        }
        Ok(())
    }

    /// SGPRs filled before the wave starts, without workgroup ids.
    pub fn user_sgprs(&self) -> u32 {
        let enabled = [
            (self.user_sgpr_private_segment_buffer, 4),
            (self.user_sgpr_dispatch_ptr, 2),
            (self.user_sgpr_queue_ptr, 2),
            (self.user_sgpr_kernarg_segment_ptr, 2),
            (self.user_sgpr_dispatch_id, 2),
            (self.user_sgpr_flat_scratch_init, 2),
            (self.user_sgpr_private_segment_size, 1),
        ];
        self.user_sgpr_count.unwrap_or_else(|| enabled.iter().filter(|e| e.0).map(|e| e.1).sum())
    }

    /// SGPRs including those VCC, FLAT_SCRATCH and XNACK_MASK take at the end.
    pub fn sgprs(&self) -> u32 {
        let extra = match (self.reserve_flat_scratch, self.reserve_xnack_mask, self.reserve_vcc) {
            (true, _, _) => 6,
            (_, true, _) => 4,
            (_, _, true) => 2,
            _ => 0,
        };
        self.next_free_sgpr + extra
    }

    /// COMPUTE_PGM_RSRC1.
    pub fn rsrc1(&self) -> u32 {
        ((self.next_free_vgpr.max(1).div_ceil(4) - 1) & 63)
            | (self.sgprs().max(1).div_ceil(8) - 1) << 6
            | self.float_round_mode_32 << 12
            | self.float_round_mode_16_64 << 14
            | self.float_denorm_mode_32 << 16
            | self.float_denorm_mode_16_64 << 18
            | u32::from(self.dx10_clamp) << 21
            | u32::from(self.ieee_mode) << 23
    }

    /// COMPUTE_PGM_RSRC2.
    pub fn rsrc2(&self) -> u32 {
        u32::from(self.system_sgpr_private_segment_wavefront_offset)
            | self.user_sgprs() << 1
            | u32::from(self.system_sgpr_workgroup_id_x) << 7
            | u32::from(self.system_sgpr_workgroup_id_y) << 8
            | u32::from(self.system_sgpr_workgroup_id_z) << 9
            | u32::from(self.system_sgpr_workgroup_info) << 10
            | self.system_vgpr_workitem_id << 11
            | self.exceptions << 24
    }

    /// The kernel code properties.
    pub fn properties(&self) -> u16 {
        let bits = [
            (self.user_sgpr_private_segment_buffer, 0),
            (self.user_sgpr_dispatch_ptr, 1),
            (self.user_sgpr_queue_ptr, 2),
            (self.user_sgpr_kernarg_segment_ptr, 3),
            (self.user_sgpr_dispatch_id, 4),
            (self.user_sgpr_flat_scratch_init, 5),
            (self.user_sgpr_private_segment_size, 6),
            (self.uses_dynamic_stack, 11),
        ];
        bits.iter().filter(|b| b.0).map(|b| 1 << b.1).sum()
    }

    /// The descriptor for a generation: where registers come in other portions, and accumulators are in the same file.
    pub fn descriptor_for(&self, generation: &Generation, entry: i64) -> [u8; 64] {
        let mut bytes = self.descriptor(entry);
        if generation.accumulators == Accumulators::Unified {
            let vgprs = self.next_free_vgpr.max(1).div_ceil(generation.vgpr_granule) - 1;
            let rsrc1 = self.rsrc1() & !63 | vgprs & 63;
            let offset = self.accum_offset.unwrap_or(self.next_free_vgpr).clamp(4, 256).div_ceil(4) - 1;
            bytes[48..52].copy_from_slice(&rsrc1.to_le_bytes());
            bytes[44..48].copy_from_slice(&offset.to_le_bytes());
        }
        bytes
    }

    /// The kernel descriptor; `entry` is the distance from it to the code.
    pub fn descriptor(&self, entry: i64) -> [u8; 64] {
        let mut bytes = [0; 64];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &self.group_segment_fixed_size.to_le_bytes());
        put(4, &self.private_segment_fixed_size.to_le_bytes());
        put(8, &self.kernarg_size.to_le_bytes());
        put(16, &entry.to_le_bytes());
        put(48, &self.rsrc1().to_le_bytes());
        put(52, &self.rsrc2().to_le_bytes());
        put(56, &self.properties().to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcn3::generation::{GFX8, GFX90A};

    /// Fields of the descriptor that say how many registers there are.
    #[test]
    fn registers_of_generations() {
        let kernel = KernelHeader { next_free_vgpr: 20, accum_offset: Some(12), ..KernelHeader::new("k") };
        let field = |d: [u8; 64], at: usize| u32::from_le_bytes([d[at], d[at + 1], d[at + 2], d[at + 3]]);
        let (old, new) = (kernel.descriptor_for(&GFX8, 0), kernel.descriptor_for(&GFX90A, 0));
        assert_eq!((field(old, 48) & 63, field(old, 44)), (4, 0));
        assert_eq!((field(new, 48) & 63, field(new, 44)), (2, 2));
        assert_eq!(field(old, 48) & !63, field(new, 48) & !63);
    }
}
