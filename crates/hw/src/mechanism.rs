//! Divergence mechanisms and instruction sets as data: every property that the simulator, the device, the analyser or a
//! workload asks about, in one place. A new mechanism does not compile until each question is answered here.

use crate::listed::listed;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What there is to know about an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSetInfo {
    /// As machine files and `--isa` have it.
    pub name: &'static str,
    /// The machine that its programs run on where none is named.
    pub preset: &'static str,
}

listed! {
    /// An instruction set that programs are written in. The instruction sets themselves are in `isa/src`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum InstructionSet: InstructionSetInfo {
        Harp = InstructionSetInfo { name: "harp", preset: "harp" },
        Guppy = InstructionSetInfo { name: "guppy", preset: "guppy" },
        Gcn3 = InstructionSetInfo { name: "gcn3", preset: "gcn3" },
        Vortex = InstructionSetInfo { name: "vortex", preset: "vortex-swas" },
        Riscv = InstructionSetInfo { name: "riscv", preset: "lanepc" },
    }
}

impl InstructionSet {
    pub(crate) const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Self::ALL[i].name();
            i += 1;
        }
        names
    };

    /// The names as a sentence has them: `harp, guppy, gcn3, vortex or riscv`.
    pub fn choices() -> String {
        let (last, others) = Self::NAMES.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// The machine that its programs run on where none is named.
    pub const fn preset(self) -> &'static str {
        self.info().preset
    }

    pub fn parse(name: &str) -> Option<InstructionSet> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }
}

impl FromStr for InstructionSet {
    type Err = String;

    fn from_str(name: &str) -> Result<InstructionSet, String> {
        let names = || Self::NAMES.join(", ");
        InstructionSet::parse(name).ok_or_else(|| format!("there is no ISA `{name}`; there are {}", names()))
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How branches of a program are marked for splitting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkStyle {
    /// `split` before the branch, `merge` behind the instruction that switches its lanes on again.
    #[default]
    Pws,
    /// MODE bit 21 is set before the branch and cleared on both ways out of it.
    Thesis,
}

impl MarkStyle {
    /// As `--split-style` has it.
    pub fn name(self) -> &'static str {
        match self {
            MarkStyle::Pws => "pws",
            MarkStyle::Thesis => "thesis",
        }
    }

    /// The mechanism that reads such marks.
    pub fn mechanism(self) -> Mechanism {
        match self {
            MarkStyle::Pws => Mechanism::Pws,
            MarkStyle::Thesis => Mechanism::Thesis,
        }
    }
}

/// How far a mechanism reconverges (THESIS Table 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconvergence {
    /// Nowhere, unless `divergence.reconverge` asks for it.
    Optional,
    /// Where the program says so.
    Marked,
    /// At some post-dominators: those of branches inside a divided region are passed by.
    Some,
    /// At the immediate post-dominator of every branch.
    PostDominator,
}

impl Reconvergence {
    /// Table 3.1, "reconvergence at some post-dominators".
    pub const fn at_some(self) -> bool {
        match self {
            Reconvergence::Optional => false,
            Reconvergence::Marked | Reconvergence::Some | Reconvergence::PostDominator => true,
        }
    }

    /// Table 3.1, "reconvergence at any post-dominator".
    pub const fn at_any(self) -> bool {
        match self {
            Reconvergence::Optional | Reconvergence::Marked | Reconvergence::Some => false,
            Reconvergence::PostDominator => true,
        }
    }
}

/// The setting `divergence.reconverge`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reconverge {
    /// As the mechanism's document says: THESIS never, DWS anywhere.
    #[default]
    Default,
    Never,
    /// Paths wait where the region of their branch ends (THESIS 4.3.4, DWS stack reconvergence).
    RegionEnd,
    /// ... and become one wherever they stand at the same pc (DWS pc reconvergence).
    Anywhere,
    /// Paths wait where the program's execution mask equals one of the split masks they had before (THESIS 4.3.4).
    MaskStack,
}

/// Which splits happen whenever lanes disagree and a context is free. The analyser counts on these and on no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SureSplits {
    /// None: the program does not say where splits happen.
    HardwareDecides,
    /// At marked branches, each undone by a `merge` where its lanes meet. The analyser checks that marks pair up.
    PairedMarks,
    /// At marked branches if `divergence.choice` is `marked`; `divergence.reconverge` says when the paths meet.
    MarkedBranches,
}

/// What there is to know about a mechanism: the properties of THESIS Table 3.1, and what the other crates ask.
#[derive(Clone, Copy, Debug)]
pub struct MechanismInfo {
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub isas: &'static [InstructionSet],
    /// A wave can have several paths, each in a context (`split.contexts`).
    pub splits: bool,
    /// Paths are scheduled as entities of their own, not within the slot of their wave.
    pub separate_entities: bool,
    /// Paths of one wave can run in the same cycle.
    pub parallel: bool,
    /// Paths of different waves can run in the same cycle on the lanes of one unit.
    pub across_waves: bool,
    pub reconvergence: Reconvergence,
    pub two_level_scheduling: bool,
    /// Marks of the program that decide which branches split.
    pub marks: Option<MarkStyle>,
    /// Split units that no `split` of the program needs may serve as partitions (PWS re-provisioning).
    pub reprovisions: bool,
    /// Settings of `divergence.reconverge` under which paths in different rounds of a loop can become one. There a path
    /// may go round more often than any of its lanes, and limits of lanes do not hold for it.
    pub mixes_rounds: &'static [Reconverge],
    /// It keeps a stack of the split masks of a path: `divergence.reconverge` may be `mask-stack` (THESIS 4.3.4).
    pub split_mask_stack: bool,
    pub sure_splits: SureSplits,
    /// Where paths meet if `divergence.reconverge` is `default`, for proofs about paths (docs/proved-bounds.md, lemma 10). None: they do
    /// not split, or nobody has shown that the proof holds for them; then proved bounds are refused.
    pub meets: Option<Reconverge>,
}

/// Whatever the setting, paths in different rounds can become one.
const EVERY_RECONVERGE: &[Reconverge] = &[
    Reconverge::Default,
    Reconverge::Never,
    Reconverge::RegionEnd,
    Reconverge::Anywhere,
    Reconverge::MaskStack,
];

const GCN3: &[InstructionSet] = &[InstructionSet::Gcn3];
const RISCV: &[InstructionSet] = &[InstructionSet::Riscv];
/// Splitting is for masks of GCN3 and for plain branches of lane-pc machines.
const SPLITTING: &[InstructionSet] = &[InstructionSet::Gcn3, InstructionSet::Riscv];
const HARP: &[InstructionSet] = &[InstructionSet::Harp];
const VORTEX: &[InstructionSet] = &[InstructionSet::Vortex];

/// A mechanism with one path of a wave at a time: nothing is an entity of its own, nothing splits, so nothing of the rest
/// applies. Mechanisms that split write down every answer instead: a default would be a guess about soundness.
const fn one_path(
    (name, summary, source): (&'static str, &'static str, &'static str),
    isas: &'static [InstructionSet],
    reconvergence: Reconvergence,
) -> MechanismInfo {
    MechanismInfo {
        name,
        summary,
        source,
        isas,
        splits: false,
        separate_entities: false,
        parallel: false,
        across_waves: false,
        reconvergence,
        two_level_scheduling: false,
        marks: None,
        reprovisions: false,
        split_mask_stack: false,
        mixes_rounds: &[],
        sure_splits: SureSplits::HardwareDecides,
        meets: None,
    }
}

/// A mechanism for plain branches: lanes have pcs of their own, the hardware decides, and nobody has shown that a proof about paths
/// holds. The answers are whether waves have several paths, whether those are entities of their own, run in parallel, run across waves, and
/// whether the scheduler picks in two steps (THESIS Table 3.1).
const fn plain_branches(
    (name, summary, source): (&'static str, &'static str, &'static str),
    [splits, separate_entities, parallel, across_waves, two_level_scheduling]: [bool; 5],
    reconvergence: Reconvergence,
) -> MechanismInfo {
    MechanismInfo {
        splits,
        two_level_scheduling,
        separate_entities,
        parallel,
        across_waves,
        mixes_rounds: EVERY_RECONVERGE,
        ..one_path((name, summary, source), RISCV, reconvergence)
    }
}

listed! {
    /// Which paths of a wave exist: `wavebound mechanisms` lists them, in the order of docs/mechanisms.md. The implementations
    /// are in `sim/src/divergence`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(try_from = "String", into = "&'static str")]
    pub enum Mechanism: MechanismInfo {
        ExecMask = one_path(
            (
                "none",
                "execution mask only: the compiler serialises divergent sides in one path",
                "THESIS chapter 2",
            ),
            GCN3,
            Reconvergence::Marked,
        ),
        Pdom = one_path(
            (
                "pdom",
                "split/join with a post-dominator stack; loops close with an all-false split",
                "PDOM document, docs/harp.md",
            ),
            HARP,
            Reconvergence::Marked,
        ),
        Harptool = one_path(
            (
                "harptool",
                "split/join with a uniform, a fall-through and a side entry",
                "harptool, docs/harp.md",
            ),
            HARP,
            Reconvergence::Marked,
        ),
        MaskStack = one_path(
            (
                "mask-stack",
                "explicit stack of execution masks with reconvergence addresses",
                "GUPPY document, docs/guppy.md",
            ),
            &[InstructionSet::Guppy],
            Reconvergence::Marked,
        ),
        SimtStack = one_path(
            (
                "simt-stack",
                "hardware stack on plain branches, reconverging at the static post-dominator",
                "docs/mechanisms.md",
            ),
            &[InstructionSet::Harp, InstructionSet::Vortex, InstructionSet::Riscv],
            Reconvergence::PostDominator,
        ),
        VortexV2 = one_path(
            (
                "vortex-v2",
                "split/join of Vortex 2: larger side first, two entries per divergence",
                "docs/vortex.md",
            ),
            VORTEX,
            Reconvergence::Marked,
        ),
        Vortex = one_path(
            (
                "vortex",
                "split/join of newer Vortex versions: smaller side first, one entry",
                "docs/vortex.md",
            ),
            VORTEX,
            Reconvergence::Marked,
        ),
        Thesis = MechanismInfo {
            name: "thesis",
            summary: "branches on a mixed mask split the wave into reserve slots, marked by MODE bit 21 or opportunistic",
            source: "THESIS chapter 4",
            isas: SPLITTING,
            splits: true,
            separate_entities: true,
            parallel: true,
            // Whoever has disjoint lanes issues together, whatever its wave (4.4.2).
            across_waves: true,
            reconvergence: Reconvergence::Optional,
            two_level_scheduling: false,
            marks: Some(MarkStyle::Thesis),
            reprovisions: false,
            mixes_rounds: &[Reconverge::RegionEnd, Reconverge::Anywhere, Reconverge::MaskStack],
            split_mask_stack: true,
            sure_splits: SureSplits::MarkedBranches,
            meets: Some(Reconverge::Never),
        },
        Pws = MechanismInfo {
            name: "pws",
            summary: "split and merge instructions, dedicated split units (SpSIMD), static choice of branches",
            source: "PWS section 4",
            isas: SPLITTING,
            splits: true,
            separate_entities: true,
            parallel: true,
            across_waves: false,
            reconvergence: Reconvergence::Marked,
            two_level_scheduling: false,
            marks: Some(MarkStyle::Pws),
            reprovisions: true,
            // Merges are where marks are, and marks that are not around whole regions are not counted on.
            mixes_rounds: &[],
            split_mask_stack: false,
            sure_splits: SureSplits::PairedMarks,
            meets: Some(Reconverge::RegionEnd),
        },
        Dws = MechanismInfo {
            name: "dws",
            summary: "dynamic subdivision at every divergent branch, sharing the units; nested regions meet at their own ends (as DPE)",
            source: "docs/mechanisms.md, PWS section 3",
            isas: SPLITTING,
            splits: true,
            separate_entities: true,
            parallel: false,
            across_waves: false,
            reconvergence: Reconvergence::PostDominator,
            two_level_scheduling: false,
            marks: None,
            reprovisions: false,
            mixes_rounds: EVERY_RECONVERGE,
            split_mask_stack: false,
            sure_splits: SureSplits::HardwareDecides,
            meets: Some(Reconverge::Anywhere),
        },
        DwsMeng = MechanismInfo {
            name: "dws-meng",
            summary: "dynamic warp subdivision as published: warp-split table, frozen stack, memory divergence splits too",
            source: "docs/mechanisms.md (Meng et al., ISCA 2010)",
            isas: SPLITTING,
            splits: true,
            separate_entities: true,
            parallel: false,
            across_waves: false,
            reconvergence: Reconvergence::Some,
            two_level_scheduling: false,
            marks: None,
            reprovisions: false,
            mixes_rounds: EVERY_RECONVERGE,
            split_mask_stack: false,
            sure_splits: SureSplits::HardwareDecides,
            // Paths pass the ends of nested regions apart, and waves split where no branch is: no lemma covers that.
            meets: None,
        },
        Dpe = plain_branches(
            ("dpe", "dual-path execution: both sides of the innermost branch of a wave can be scheduled", "Rhu and Erez, HPCA 2013"),
            [true, true, false, false, false],
            Reconvergence::PostDominator,
        ),
        Sbi = plain_branches(
            ("sbi", "simultaneous branch interweaving: two paths of a wave issue in one cycle on disjoint lanes", "Brunie et al., ISCA 2012"),
            [true, true, true, false, false],
            Reconvergence::PostDominator,
        ),
        Swi = plain_branches(
            ("swi", "simultaneous warp interweaving: a SIMT stack, and idle lanes take an instruction of another wave", "Brunie et al., ISCA 2012"),
            [false, false, false, true, false],
            Reconvergence::PostDominator,
        ),
        SbiSwi = plain_branches(
            ("sbi-swi", "both: the second instruction of a cycle comes from another path of the wave or from another wave", "Brunie et al., ISCA 2012"),
            [true, true, true, true, false],
            Reconvergence::PostDominator,
        ),
        Si = plain_branches(
            ("si", "subwarp interleaving: a side that stalls hands the slot of its wave to another side", "Damani et al., HPCA 2022"),
            [true, false, false, false, true],
            Reconvergence::PostDominator,
        ),
        Dwf = plain_branches(
            ("dwf", "dynamic warp formation: paths of all waves at the same pc issue as one warp on their home lanes", "Fung et al., MICRO 2007"),
            [true, true, true, true, false],
            Reconvergence::Optional,
        ),
        Lwm = plain_branches(
            ("lwm", "large warps: rows of waves with one pc and one stack, sub-warps from all rows; two-level scheduling", "Narasiman et al., MICRO 2011"),
            [true, false, true, true, true],
            Reconvergence::PostDominator,
        ),
        Tbc = plain_branches(
            ("tbc", "thread block compaction: the waves of a group share a stack, each side of a branch becomes dense warps", "Fung and Aamodt, HPCA 2011"),
            [true, true, true, true, false],
            Reconvergence::PostDominator,
        ),
        Vws = plain_branches(
            ("vws", "variable warp size: slices of a wave part where they disagree and issue together on their own lanes", "Rogers et al., ISCA 2015"),
            [true, true, true, true, false],
            Reconvergence::Some,
        ),
        MultiPath = plain_branches(
            ("multi-path", "multi-path execution: all sides of branches can be scheduled, and meet at post-dominators", "ElTantawy et al., HPCA 2014"),
            [true, true, false, false, false],
            Reconvergence::PostDominator,
        ),
        MinPc = plain_branches(
            ("min-pc", "stack-less: of the lanes of a wave those with the deepest call and the smallest pc run", "Collange, 2011"),
            [true, true, false, false, false],
            Reconvergence::Optional,
        ),
        ConvBarrier = plain_branches(
            ("conv-barrier", "convergence barriers at post-dominators, one path of a wave at a time, with a quantum", "after NVIDIA Volta"),
            [true, true, false, false, false],
            Reconvergence::PostDominator,
        ),
    }
}

impl Mechanism {
    pub(crate) const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Self::ALL[i].name();
            i += 1;
        }
        names
    };

    pub fn parse(name: &str) -> Option<Mechanism> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Whether it runs programs of an instruction set.
    pub const fn runs(self, isa: InstructionSet) -> bool {
        let isas = self.info().isas;
        let mut i = 0;
        while i < isas.len() {
            if isas[i] as u8 == isa as u8 {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Mechanisms that run programs of an instruction set.
    pub fn of(isa: InstructionSet) -> impl Iterator<Item = Mechanism> {
        Self::ALL.into_iter().filter(move |m| m.runs(isa))
    }
}

impl TryFrom<String> for Mechanism {
    type Error = String;

    fn try_from(name: String) -> Result<Mechanism, String> {
        Mechanism::parse(&name).ok_or_else(|| format!("there is no mechanism {name}"))
    }
}

impl From<Mechanism> for &'static str {
    fn from(mechanism: Mechanism) -> &'static str {
        mechanism.name()
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_everything_is_answered() {
        for (i, m) in Mechanism::ALL.into_iter().enumerate() {
            assert_eq!(m as usize, i);
            assert_eq!(Mechanism::parse(m.name()), Some(m));
            assert!(!m.info().isas.is_empty() && !m.info().summary.is_empty() && !m.info().source.is_empty());
        }
        for (i, isa) in InstructionSet::ALL.into_iter().enumerate() {
            assert_eq!(isa as usize, i);
            assert_eq!(InstructionSet::parse(isa.name()), Some(isa));
            assert!(Mechanism::of(isa).next().is_some());
            assert_eq!(crate::preset(isa.preset()).expect("a preset").isa, isa);
        }
        assert_eq!(InstructionSet::choices(), "harp, guppy, gcn3, vortex or riscv");
    }

    #[test]
    fn marks_name_a_mechanism_that_reads_them() {
        for style in [MarkStyle::Pws, MarkStyle::Thesis] {
            assert_eq!(style.mechanism().info().marks, Some(style));
        }
    }

    /// Only what splits has sure splits, and those are at marks.
    #[test]
    fn sure_splits_are_at_marks() {
        for m in Mechanism::ALL.map(Mechanism::info) {
            let sure = m.sure_splits != SureSplits::HardwareDecides;
            assert!(!sure || m.splits && m.marks.is_some(), "{}", m.name);
        }
    }
}
