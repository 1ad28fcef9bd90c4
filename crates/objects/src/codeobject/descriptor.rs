//! Kernel descriptors: registers, user SGPRs and modes a kernel asks for. 64 bytes from version 3 on,
//! a 256-byte `amd_kernel_code_t` in front of the code in version 2.

use super::image::at;
use wb_isa::gcn3::{Accumulators, Gcn};
use wb_program::Segment;

/// What the hardware sets up before the first instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// What the fields are to be read for.
    pub gcn: Gcn,
    pub rsrc1: u32,
    pub rsrc2: u32,
    /// From gfx90a on: where accumulators begin.
    pub rsrc3: u32,
    /// Which user SGPRs the kernel wants (KERNEL_CODE_PROPERTIES, low 7 bits); the high half says how many arguments are
    /// to stand in registers (gfx940).
    pub properties: u32,
}

impl Descriptor {
    /// Registers that are taken of the vector file, accumulators included where it is one file.
    pub fn vgprs(self) -> u32 {
        ((self.rsrc1 & 63) + 1) * self.gcn.generation().vgpr_granule
    }

    /// Vector registers that are no accumulators.
    pub fn plain_vgprs(self) -> u32 {
        match self.gcn.generation().accumulators {
            Accumulators::None | Accumulators::Separate => self.vgprs(),
            Accumulators::Unified => (((self.rsrc3 & 63) + 1) * 4).min(self.vgprs()),
        }
    }

    pub fn agprs(self) -> u32 {
        match self.gcn.generation().accumulators {
            Accumulators::None => 0,
            // Each file has that many.
            Accumulators::Separate => self.vgprs(),
            Accumulators::Unified => self.vgprs() - self.plain_vgprs(),
        }
    }

    /// In portions of 8, from gfx9 on of 16.
    pub fn sgprs(self) -> u32 {
        let granules = self.rsrc1 >> 6 & 15;
        match self.gcn {
            Gcn::Gfx8 => (granules + 1) * 8,
            Gcn::Gfx900 | Gcn::Gfx906 | Gcn::Gfx908 | Gcn::Gfx90a | Gcn::Gfx940 => (granules / 2 + 1) * 16,
        }
    }

    /// MODE register at start: round and denormal modes, DX10 clamp, IEEE.
    pub fn mode(self) -> u32 {
        (self.rsrc1 >> 12 & 0xff) | (self.rsrc1 >> 21 & 1) << 8 | (self.rsrc1 >> 23 & 1) << 9
    }

    pub fn scratch_enabled(self) -> bool {
        self.rsrc2 & 1 == 1
    }

    pub fn user_sgprs(self) -> u32 {
        self.rsrc2 >> 1 & 31
    }

    /// Workgroup id in x, y, z and workgroup info.
    pub fn workgroup_ids(self) -> [bool; 4] {
        [7, 8, 9, 10].map(|bit| self.rsrc2 >> bit & 1 == 1)
    }

    /// Work-item ids in VGPRs: 1, 2 or 3 dimensions.
    pub fn work_item_dimensions(self) -> u32 {
        (self.rsrc2 >> 11 & 3) + 1
    }

    /// Dwords of arguments that stand in registers already: the first, and how many.
    pub fn preloaded(self) -> (u32, u32) {
        match self.gcn >= Gcn::Gfx90a {
            true => (self.properties >> 23, self.properties >> 16 & 0x7f),
            false => (0, 0),
        }
    }

    /// Private segment buffer, dispatch ptr, queue ptr, kernarg ptr, dispatch id, flat scratch init, private size.
    pub fn user_sgpr_flags(self) -> [bool; 7] {
        [0, 1, 2, 3, 4, 5, 6].map(|bit| self.properties >> bit & 1 == 1)
    }
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..offset + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from(u32_at(bytes, offset)) | u64::from(u32_at(bytes, offset + 4)) << 32
}

/// The descriptor of a version 3 to 5 kernel at `addr`: (descriptor, entry, LDS, scratch, kernarg bytes).
pub fn read(segments: &[Segment], addr: u64, gcn: Gcn) -> Option<(Descriptor, u64, u32, u32, u32)> {
    let d = at(segments, addr, 64)?;
    let descriptor = Descriptor {
        gcn,
        rsrc1: u32_at(d, 48),
        rsrc2: u32_at(d, 52),
        rsrc3: u32_at(d, 44),
        properties: u32_at(d, 56),
    };
    let entry = addr.wrapping_add(u64_at(d, 16));
    Some((descriptor, entry, u32_at(d, 0), u32_at(d, 4), u32_at(d, 8)))
}
