//! Generations of GCN: which targets there are, and how each differs from the table of gfx8. This is the only place that knows
//! one from another. A generation is a list of differences, applied to the table when something is decoded or encoded.

use super::format::Format;
use super::op::Op;
use super::table::{Entry, by_code};

/// A GPU that compilers write code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// As compilers have it.
    pub name: &'static str,
    /// `EF_AMDGPU_MACH` in the flags of its ELF files.
    pub machine: u32,
}

/// How an operation differs from its line in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub op: Op,
    /// Its number in its shortest encoding; none: the generation does not have it.
    pub code: Option<u16>,
}

/// A generation: its targets, and what is different.
#[derive(Debug)]
pub struct Generation {
    pub name: &'static str,
    pub targets: &'static [Target],
    /// What is assembled and compiled for: one of the targets.
    pub usual: Target,
    pub differences: &'static [Difference],
}

const GFX803: Target = Target { name: "gfx803", machine: 0x2a };

/// "Volcanic Islands": the table as it is.
pub static GFX8: Generation = Generation {
    name: "gfx8",
    targets: &[Target { name: "gfx801", machine: 0x28 }, Target { name: "gfx802", machine: 0x29 }, GFX803],
    usual: GFX803,
    differences: &[],
};

/// Every generation of this build.
pub static GENERATIONS: [&Generation; 1] = [&GFX8];

impl Generation {
    fn difference(&self, op: Op) -> Option<&Difference> {
        self.differences.iter().find(|d| d.op == op)
    }

    /// The line of an operation; none: this generation does not have it.
    pub fn line(&self, op: Op) -> Option<Entry> {
        let line = *op.entry();
        match self.difference(op) {
            None => Some(line),
            Some(d) => d.code.map(|code| Entry { code, ..line }),
        }
    }

    /// The operation with this code in this encoding (for SDWA and DPP ask for VOP1, VOP2 or VOPC).
    pub fn op(&self, format: Format, code: u32) -> Option<Op> {
        if self.differences.is_empty() {
            return by_code(format, code);
        }
        let moved = self.differences.iter().filter_map(|d| self.line(d.op)).find(|line| {
            let own = if format == Format::Vop3 {
                line.vop3_code()
            } else {
                (line.format == format).then_some(line.code)
            };
            own.is_some_and(|own| u32::from(own) == code)
        });
        moved
            .map(|line| line.op)
            .or_else(|| by_code(format, code).filter(|op| self.difference(*op).is_none()))
    }

    /// Names of its targets, for messages.
    pub fn target_names(&self) -> String {
        self.targets.iter().map(|t| t.name).collect::<Vec<_>>().join(", ")
    }
}

/// The generation and target of an ELF machine number.
pub fn of_machine(machine: u32) -> Option<(&'static Generation, Target)> {
    let found = |g: &&'static Generation| {
        let target = g.targets.iter().find(|t| t.machine == machine)?;
        Some((*g, *target))
    };
    GENERATIONS.iter().find_map(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcn3::{decode_for, encode_for};

    /// A generation that has `s_mul_i32` elsewhere and no `s_brev_b32`.
    static OTHER: Generation = Generation {
        name: "other",
        targets: &[],
        usual: Target { name: "other", machine: 0 },
        differences: &[
            Difference { op: Op::SMulI32, code: Some(0x50) },
            Difference { op: Op::SBrevB32, code: None },
        ],
    };

    #[test]
    fn differences_hold_for_decoding_and_encoding() {
        for op in [Op::SMulI32, Op::SAddU32, Op::VMovB32, Op::VAddF32] {
            let code = GFX8.line(op).map(|l| (l.format, u32::from(l.code))).expect("a line");
            let there = OTHER.line(op).map(|l| (l.format, u32::from(l.code))).expect("a line");
            assert_eq!(GFX8.op(code.0, code.1), Some(op));
            assert_eq!(OTHER.op(there.0, there.1), Some(op));
            assert_eq!(code == there, op != Op::SMulI32);
        }
        let (old, new) = (u32::from(Op::SMulI32.entry().code), 0x50);
        assert_eq!(OTHER.op(Format::Sop2, old), None);
        assert_eq!(OTHER.op(Format::Sop2, new), Some(Op::SMulI32));
        let brev = u32::from(Op::SBrevB32.entry().code);
        assert_eq!((GFX8.op(Format::Sop1, brev), OTHER.op(Format::Sop1, brev)), (Some(Op::SBrevB32), None));
        assert!(OTHER.line(Op::SBrevB32).is_none());
        let word = crate::gcn3::assemble_line("s_mul_i32 s1, s2, s3").expect("a line");
        let inst = decode_for(&GFX8, &word).expect("an instruction");
        let moved = encode_for(&OTHER, &inst).expect("it exists there");
        assert_ne!(moved, word);
        assert_eq!(decode_for(&OTHER, &moved).expect("an instruction").op, Op::SMulI32);
        assert!(decode_for(&GFX8, &moved).is_err());
    }

    #[test]
    fn every_target_is_found_by_its_machine() {
        for generation in GENERATIONS {
            assert!(generation.targets.contains(&generation.usual));
            for target in generation.targets {
                assert_eq!(
                    of_machine(target.machine).map(|(g, t)| (g.name, t)),
                    Some((generation.name, *target))
                );
            }
        }
    }
}
