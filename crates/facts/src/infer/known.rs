//! What proofs may take for granted: a launch, and the side conditions of the rules.

use super::range::Range;
use wb_isa::gcn3::isa::{Gcn3, Setup};
use wb_objects::codeobject::KernelArg;
use wb_program::Program;

/// More work-items no group has.
const MAX_GROUP: u32 = 1024;

/// What is known about a launch. The default knows nothing: proofs then rest on the code alone.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// The argument segment, hidden arguments included. Kernels do not write to it.
    pub kernarg: Option<&'a [u8]>,
    /// Work-items of a group and of the launch; 0: not known.
    pub group: [u32; 3],
    pub grid: [u32; 3],
    /// Offsets and names of arguments, for proofs.
    pub arguments: Vec<(u32, String)>,
    /// A side condition to leave out: tests show that each is needed, and that checker and search find it missing.
    #[doc(hidden)]
    pub without: Option<SideCondition>,
}

/// Side conditions of the rules that wrong proofs were once found without (docs/facts.md, "The search").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideCondition {
    /// The form of the test goes with the step of the counter.
    TestFitsStep,
    /// A limit that differs between lanes stays only if the same lane keeps the loop going.
    SameLane,
    /// Lanes that are on in the next round were on in this one.
    LanesWereOn,
    /// A bit of a mask says something about lanes that are off only if it was made so.
    LanesThatAreOff,
    /// What a comparison said is void when the mask is written over one of its sides.
    OperandsUnchanged,
    /// What holds for all lanes that are on says nothing about scalars: there may be no such lane.
    SomeLane,
}

impl SideCondition {
    pub const ALL: [SideCondition; 6] = [
        SideCondition::TestFitsStep,
        SideCondition::SameLane,
        SideCondition::LanesWereOn,
        SideCondition::LanesThatAreOff,
        SideCondition::OperandsUnchanged,
        SideCondition::SomeLane,
    ];
}

impl<'a> Known<'a> {
    /// What the launch of a program fixes: its argument segment, group and grid. `args` name the arguments in proofs.
    pub fn launch(program: &Program<Gcn3>, kernarg: &'a [u8], args: &[KernelArg]) -> Known<'a> {
        let Setup { group, grid, .. } = program.isa.setup;
        let arguments = args.iter().map(|a| (a.offset, a.name.clone())).filter(|a| !a.1.is_empty()).collect();
        Known { kernarg: Some(kernarg), group, grid, arguments, without: None }
    }

    /// The argument dword at an offset.
    pub(super) fn argument(&self, at: u32) -> Option<u32> {
        let bytes = self.kernarg?.get(at as usize..at as usize + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A dword of the dispatch packet: group sizes at 4, 6 and 8, grid sizes from 12.
    pub(super) fn packet(&self, at: u32) -> Option<u32> {
        match at {
            4 | 8 if self.group.contains(&0) => None,
            4 => Some(self.group[0] & 0xffff | self.group[1] << 16),
            8 => Some(self.group[2] & 0xffff),
            12 | 16 | 20 => Some(self.grid[(at as usize - 12) / 4]).filter(|&n| n > 0),
            _ => None,
        }
    }

    /// Work-item ids in a group.
    pub(super) fn item_ids(&self, dimension: usize) -> Range {
        let size = Some(self.group[dimension]).filter(|&n| n > 0).unwrap_or(MAX_GROUP);
        Range::unsigned(0, size - 1)
    }

    /// Work-item ids of later machines: ten bits each in one register.
    pub(super) fn packed_ids(&self, dimensions: usize) -> Range {
        let most = |d: usize| self.item_ids(d).uhi.min(MAX_GROUP - 1) << (10 * d);
        Range::unsigned(0, (0..dimensions).map(most).sum())
    }

    /// Lanes a wave has at most.
    pub(super) fn lanes(&self) -> u32 {
        match self.group.iter().fold(1u32, |n, &d| n.saturating_mul(d)) {
            0 => 64,
            n => n.min(64),
        }
    }

    pub(super) fn group_ids(&self, dimension: usize) -> Range {
        match (self.grid[dimension], self.group[dimension]) {
            (0, _) | (_, 0) => Range::FULL,
            (grid, group) => Range::unsigned(0, grid.div_ceil(group) - 1),
        }
    }

    pub(super) fn name(&self, offset: u32) -> String {
        match self.arguments.iter().find(|a| a.0 == offset) {
            Some((_, name)) => format!("argument {name}"),
            None => format!("argument at {offset:#x}"),
        }
    }
}
