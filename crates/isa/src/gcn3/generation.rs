//! Generations of GCN: which targets there are, and how their encodings differ. What differs in single lines of the table is in
//! `table/changes.rs`. A generation is a list of differences, not a copy.

use super::format::Format;
use super::gcn::Gcn;
use super::op::Op;
use super::table::{Entry, by_code, by_name};

/// A GPU that compilers write code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// As compilers have it.
    pub name: &'static str,
    /// `EF_AMDGPU_MACH` in the flags of its ELF files.
    pub machine: u32,
}

/// How memory instructions name the bits that say which caches keep data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// glc and slc.
    Plain,
    /// And scc.
    WithScc,
    /// sc0, nt and sc1 instead.
    Scopes,
}

/// Where accumulators (AGPRs) are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulators {
    None,
    /// In a file of their own, for matrix operations and moves.
    Separate,
    /// In the same file as the other vector registers, for memory instructions, too. Tuples are aligned.
    Unified,
}

/// A generation: its targets, and what is different.
#[derive(Debug)]
pub struct Generation {
    pub gcn: Gcn,
    pub name: &'static str,
    pub targets: &'static [Target],
    /// What is assembled and compiled for: one of the targets.
    pub usual: Target,
    pub caching: Caching,
    pub accumulators: Accumulators,
    /// FLAT_SCRATCH is not in scalar registers: the machine knows where private memory is.
    pub architected_scratch: bool,
    /// Vector registers are given in such portions.
    pub vgpr_granule: u32,
    /// The ids of a work-item stand in one register, ten bits each.
    pub packed_ids: bool,
}

impl Default for Target {
    fn default() -> Target {
        GFX803
    }
}

const GFX803: Target = Target { name: "gfx803", machine: 0x2a };
const GFX900_TARGET: Target = Target { name: "gfx900", machine: 0x2c };
const GFX906_TARGET: Target = Target { name: "gfx906", machine: 0x2f };
const GFX908_TARGET: Target = Target { name: "gfx908", machine: 0x30 };
const GFX90A_TARGET: Target = Target { name: "gfx90a", machine: 0x3f };
const GFX940_TARGET: Target = Target { name: "gfx940", machine: 0x40 };

/// "Volcanic Islands": the table as it is.
pub static GFX8: Generation = Generation {
    gcn: Gcn::Gfx8,
    name: "gfx8",
    targets: &[Target { name: "gfx801", machine: 0x28 }, Target { name: "gfx802", machine: 0x29 }, GFX803],
    usual: GFX803,
    caching: Caching::Plain,
    accumulators: Accumulators::None,
    architected_scratch: false,
    vgpr_granule: 4,
    packed_ids: false,
};

/// Vega.
pub static GFX900: Generation = Generation {
    gcn: Gcn::Gfx900,
    name: "gfx900",
    targets: &[GFX900_TARGET, Target { name: "gfx902", machine: 0x2d }],
    usual: GFX900_TARGET,
    ..GFX8
};

/// Vega 20.
pub static GFX906: Generation = Generation {
    gcn: Gcn::Gfx906,
    name: "gfx906",
    targets: &[GFX906_TARGET],
    usual: GFX906_TARGET,
    ..GFX900
};

/// MI100.
pub static GFX908: Generation = Generation {
    gcn: Gcn::Gfx908,
    name: "gfx908",
    targets: &[GFX908_TARGET],
    usual: GFX908_TARGET,
    accumulators: Accumulators::Separate,
    ..GFX906
};

/// MI200.
pub static GFX90A: Generation = Generation {
    gcn: Gcn::Gfx90a,
    name: "gfx90a",
    targets: &[GFX90A_TARGET],
    usual: GFX90A_TARGET,
    caching: Caching::WithScc,
    accumulators: Accumulators::Unified,
    vgpr_granule: 8,
    packed_ids: true,
    ..GFX908
};

/// MI300.
pub static GFX940: Generation = Generation {
    gcn: Gcn::Gfx940,
    name: "gfx940",
    targets: &[
        GFX940_TARGET,
        Target { name: "gfx941", machine: 0x4b },
        Target { name: "gfx942", machine: 0x4c },
    ],
    usual: GFX940_TARGET,
    caching: Caching::Scopes,
    architected_scratch: true,
    ..GFX90A
};

/// Every generation of this build, in the order of [`Gcn`].
pub static GENERATIONS: [&Generation; Gcn::ALL.len()] = [&GFX8, &GFX900, &GFX906, &GFX908, &GFX90A, &GFX940];

impl Gcn {
    /// What a generation is like.
    pub fn generation(self) -> &'static Generation {
        GENERATIONS[self as usize]
    }
}

impl Generation {
    /// The line of an operation; none: this generation does not have it.
    pub fn line(&self, op: Op) -> Option<&'static Entry> {
        Some(op.line(self.gcn)).filter(|line| line.exists(self.gcn))
    }

    /// The operation with this code in this encoding (for SDWA and DPP ask for VOP1, VOP2 or VOPC).
    pub fn op(&self, format: Format, code: u32) -> Option<Op> {
        by_code(self.gcn, format, code)
    }

    /// The operation of a mnemonic without the suffix of an encoding.
    pub fn op_named(&self, name: &str) -> Option<Op> {
        by_name(self.gcn, name)
    }

    /// From gfx9 on: segments and offsets of FLAT, 21-bit offsets of SMEM, scalars in SDWA.
    pub fn is_gfx9(&self) -> bool {
        self.gcn > Gcn::Gfx8
    }

    /// Names of its targets, for messages.
    pub fn target_names(&self) -> String {
        self.targets.iter().map(|t| t.name).collect::<Vec<_>>().join(", ")
    }
}

/// The generation and target of an ELF machine number.
pub fn of_machine(machine: u32) -> Option<(&'static Generation, Target)> {
    find(|target| target.machine == machine)
}

/// The generation and target of a name.
pub fn of_name(name: &str) -> Option<(&'static Generation, Target)> {
    find(|target| target.name == name)
}

fn find(wanted: impl Fn(&Target) -> bool) -> Option<(&'static Generation, Target)> {
    GENERATIONS.iter().find_map(|g| Some((*g, *g.targets.iter().find(|t| wanted(t))?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcn3::{assemble_line, assemble_line_for, decode_for, disassemble, encode_for};

    #[test]
    fn differences_hold_for_decoding_and_encoding() {
        // The same number, another name; what has the name now is another operation.
        let old = assemble_line("v_add_u32 v1, vcc, v2, v3").expect("gfx8 has it");
        let new = assemble_line_for(&GFX900, "v_add_co_u32 v1, vcc, v2, v3").expect("gfx9 has it");
        assert_eq!(old, new);
        let (a, b) = (decode_for(&GFX8, &old).expect("decodes"), decode_for(&GFX900, &new).expect("decodes"));
        assert_eq!((a.op, b.op), (Op::VAddU32, Op::VAddU32));
        assert_eq!(disassemble(&a), "v_add_u32_e32 v1, vcc, v2, v3");
        assert_eq!(disassemble(&b), "v_add_co_u32_e32 v1, vcc, v2, v3");
        // Not every generation has every operation.
        assert!(GFX8.line(Op::VAddNcU32).is_none() && GFX900.line(Op::VAddNcU32).is_some());
        assert!(GFX900.line(Op::VMadMixF32).is_some() && GFX906.line(Op::VMadMixF32).is_none());
        let words = assemble_line_for(&GFX900, "v_add_u32 v1, v2, v3").expect("gfx9 has it");
        assert!(decode_for(&GFX8, &words).is_err());
        let inst = decode_for(&GFX900, &words).expect("decodes");
        assert_eq!((inst.op, encode_for(&GFX8, &inst)), (Op::VAddNcU32, None));
        // A matrix operation moved.
        let op = Op::VMfmaF3232x32x8bf161k;
        let code = |g: &Generation| g.line(op).map(|line| line.code);
        assert_eq!([code(&GFX908), code(&GFX90A), code(&GFX940)], [None, Some(102), Some(96)]);
    }

    #[test]
    fn every_target_is_found_by_its_machine() {
        for (gcn, generation) in Gcn::ALL.into_iter().zip(GENERATIONS) {
            assert_eq!(generation.gcn, gcn);
            assert!(generation.targets.contains(&generation.usual));
            for target in generation.targets {
                let found = Some((generation.name, *target));
                assert_eq!(of_machine(target.machine).map(|(g, t)| (g.name, t)), found);
                assert_eq!(of_name(target.name).map(|(g, t)| (g.name, t)), found);
            }
        }
    }
}
