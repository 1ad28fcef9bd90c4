//! Waves that split (docs/proved-bounds.md, lemma 11): where paths begin and meet, how often all paths of a wave together
//! execute a block for each time that one way passes it, and which sides no path takes both of.

use crate::hardware::Hardware;
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::{Reconverge, SureSplits};
use wb_isa::{FlowKind, Isa, NO_PC, Pc};
use wb_program::Program;
use wb_program::cfg::Cfg;
use wb_wcet::measure::{Plan, Points, side_of};
use wb_wcet::wave::Splitting;

/// What is known about splits before the proof: branches that may split, and those that can be counted on.
#[derive(Clone, Debug)]
pub struct SplitQuestion {
    pub splitting: Splitting,
    /// Branches on the mask at which a wave may split.
    pub branches: BTreeSet<Pc>,
}

/// A branch that may split, by blocks.
#[derive(Clone, Debug)]
pub struct BlockRegion {
    pub pc: Pc,
    pub branch: usize,
    /// Where the paths meet, or the block in which they end.
    pub join: usize,
    /// They never meet.
    pub apart: bool,
    /// Ways into the first and the second side; a path that has split takes one of them or the other.
    pub first: Option<(usize, usize)>,
    pub second: Option<(usize, usize)>,
}

/// What the paths of a wave can do. Everything is empty where waves do not split.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    /// Waves split at all.
    pub on: bool,
    /// Instructions behind which a path may be a new one, or may have merged with another, and cycles that this takes.
    pub breaks: BTreeMap<Pc, u64>,
    /// Those of them behind which two paths may have become one.
    pub merges: BTreeSet<Pc>,
    /// That can happen anywhere.
    pub loose: bool,
    /// Instructions where paths wait for each other and go on as one, and cycles before they issue then.
    pub meets: BTreeMap<Pc, u64>,
    /// How often all paths together execute a block, for each time on a way; 1 if it is not there.
    pub times: BTreeMap<usize, u64>,
    /// Blocks that other paths of a wave may execute while one goes on.
    pub beside: BTreeSet<usize>,
    /// Cycles of merges that can happen at any place, by the block with the branch that makes them possible.
    pub anywhere: BTreeMap<usize, u64>,
    /// Starts and ends of paths in a block: what was fetched for nothing.
    pub restarts: BTreeMap<usize, u64>,
    pub regions: Vec<BlockRegion>,
    pub splitting: Option<Splitting>,
    /// For tests: every split that may happen is counted on.
    pub all_sure: bool,
}

impl Splits {
    pub fn times(&self, block: usize) -> u64 {
        self.times.get(&block).copied().unwrap_or(1)
    }

    pub fn new<I: Isa>(
        program: &Program<I>,
        hardware: &Hardware,
        blocks: &BTreeSet<usize>,
        barriers: &BTreeSet<usize>,
        question: &SplitQuestion,
    ) -> Result<Splits, Refusal> {
        let machine = &hardware.machine;
        let at = |pc: Pc| program.cfg.block_at(pc).filter(|b| blocks.contains(b));
        let branches: Vec<Pc> = question.branches.iter().copied().filter(|&pc| at(pc).is_some()).collect();
        let paired = machine.splits() && has_marks(machine);
        let mut pcs = blocks.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow));
        let splits = pcs.any(|pc| matches!(program.flow.kind[pc as usize], FlowKind::SplitLanes { .. }));
        if paired && splits && question.splitting.unknown {
            return Err(Refusal::Program {
                what: "its splits and merges do not pair up around whole branches".into(),
                help: "mark branches with `wavebound split`",
            });
        }
        // Programs that keep scalars in lanes of vector registers never split.
        if !machine.splits() || branches.is_empty() || program.flow.spills {
            return Ok(Splits::default());
        }
        let reconverge = reconverge(machine)?;
        let mut splits =
            Splits { on: true, splitting: Some(question.splitting.clone()), ..Splits::default() };
        splits.find_regions(program, &branches, reconverge, paired, &at)?;
        let cover = Cover { cfg: &program.cfg, blocks, barriers };
        splits.check(program, &cover)?;
        let markable = |pc: &Pc| program.flow.region(*pc).is_some_and(|r| r.markable());
        if reconverge == Meets::Never || branches.iter().all(markable) {
            splits.run_apart(&cover, machine.core.lanes);
            splits.run_together(&cover, machine.core.lanes);
        } else {
            splits.run_anyhow(&cover, machine.core.lanes);
        }
        splits.costs(program, hardware, blocks, reconverge);
        Ok(splits)
    }

    fn find_regions<I: Isa>(
        &mut self,
        program: &Program<I>,
        branches: &[Pc],
        meets: Meets,
        paired: bool,
        at: &impl Fn(Pc) -> Option<usize>,
    ) -> Result<(), Refusal> {
        let plan = Plan::new(program, &Points::Blocks, &branches.iter().copied().collect()).ok();
        let regions = plan.map_or_else(Vec::new, |p| p.regions);
        for &pc in branches {
            let (Some(branch), Some(region)) = (at(pc), program.flow.region(pc)) else {
                return Err(no_join(program, pc));
            };
            let never = meets == Meets::Never;
            let join = match region.reconverge {
                // Only with `split_end` the program says that its paths part for good.
                NO_PC => region.ends.filter(|_| never || paired).and_then(at),
                pc => at(pc),
            };
            let Some(join) = join.or(never.then_some(branch)) else { return Err(no_join(program, pc)) };
            let apart = never || region.reconverge == NO_PC;
            let way = |pc: Pc| Some((at(pc)?, at(side_of(program, pc, true)?)?));
            let other = regions.iter().find(|r| r.branch == pc).and_then(|r| r.other);
            let second = other.and_then(way);
            self.regions.push(BlockRegion { pc, branch, join, apart, first: way(pc), second });
        }
        Ok(())
    }

    /// Paths that wait for each other all come to the place where they meet, and there is no barrier before it.
    fn check<I: Isa>(&self, program: &Program<I>, cover: &Cover) -> Result<(), Refusal> {
        for r in &self.regions {
            let apart = cover.from(r.branch, (!r.apart).then_some(r.join), &[]);
            if apart.iter().any(|b| cover.barriers.contains(b)) {
                let what = format!("paths can come to a barrier apart ({})", program.place(r.pc));
                return Err(Refusal::Program { what, help: "mark branches without a barrier inside" });
            }
            let ends = |b: &usize| cover.cfg.blocks[*b].succs.is_empty();
            if !r.apart && apart.iter().any(ends) {
                let what =
                    format!("a path can end where others wait for it to merge ({})", program.place(r.pc));
                return Err(Refusal::Program {
                    what,
                    help: "mark branches whose sides both come to their end",
                });
            }
        }
        Ok(())
    }

    /// Every branch is passed once for each time its paths meet: code that both ways run is run twice.
    fn run_together(&mut self, cover: &Cover, lanes: u32) {
        for r in self.regions.iter().filter(|r| !r.apart) {
            let without = |way: Option<(usize, usize)>| {
                let cut: Vec<(usize, usize)> = way.into_iter().collect();
                cover.from(r.branch, Some(r.join), &cut)
            };
            let (first, second) = (without(r.second), without(r.first));
            self.beside.extend(first.union(&second).copied().chain([r.branch, r.join]));
            for &b in first.intersection(&second).chain([&r.branch, &r.join]) {
                let times = self.times.entry(b).or_insert(1);
                *times = times.saturating_mul(2).min(lanes.into());
            }
        }
    }

    /// Paths never meet: each branch that has been passed doubles them, and there are no more paths than lanes.
    fn run_apart(&mut self, cover: &Cover, lanes: u32) {
        for r in self.regions.iter().filter(|r| r.apart) {
            let behind = cover.from(r.branch, None, &[]);
            let again = behind.contains(&r.branch);
            for b in behind.into_iter().chain([r.branch]) {
                self.beside.insert(b);
                let times = self.times.entry(b).or_insert(1);
                *times = if again { lanes.into() } else { times.saturating_mul(2).min(lanes.into()) };
            }
        }
    }

    /// Each path has a lane, and no lane passes a block more often than a way does.
    fn run_anyhow(&mut self, cover: &Cover, lanes: u32) {
        for r in &self.regions {
            let behind = cover.from(r.branch, None, &[]);
            self.beside.extend(behind.into_iter().chain([r.branch]));
        }
        self.times = self.beside.iter().map(|&b| (b, lanes.into())).collect();
    }

    /// Where paths begin and end, and what that costs.
    fn costs<I: Isa>(
        &mut self,
        program: &Program<I>,
        hardware: &Hardware,
        blocks: &BTreeSet<usize>,
        meets: Meets,
    ) {
        let split = &hardware.machine.split;
        let (split_cycles, merge_cycles) = (u64::from(split.split_cycles), u64::from(split.merge_cycles));
        let all = u64::from(split.contexts) * merge_cycles;
        self.loose = meets == Meets::Anywhere;
        if has_marks(&hardware.machine) {
            for &b in blocks {
                for pc in program.cfg.pcs(b, &program.flow) {
                    // Paths that begin and end; with `split_end` both.
                    let (cycles, restarts) = match program.flow.kind[pc as usize] {
                        FlowKind::SplitLanes { apart } => (split_cycles, 1 + u64::from(apart)),
                        FlowKind::Merge => (merge_cycles, 1),
                        _ => continue,
                    };
                    if program.flow.kind[pc as usize] == FlowKind::Merge {
                        self.merges.insert(pc);
                    }
                    self.breaks.insert(pc, cycles);
                    *self.restarts.entry(b).or_default() += restarts;
                }
            }
            return;
        }
        for r in &self.regions {
            self.breaks.insert(r.pc, split_cycles);
            // The path that begins, and the one that ends when it merges.
            *self.restarts.entry(r.branch).or_default() += 2;
            match meets {
                Meets::Never => {}
                Meets::AtJoin => {
                    if let Some(region) = program.flow.region(r.pc) {
                        self.meets.insert(region.reconverge, all);
                    }
                }
                Meets::Anywhere => *self.anywhere.entry(r.branch).or_default() += merge_cycles,
            }
        }
    }
}

/// Where paths of a wave become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meets {
    Never,
    AtJoin,
    Anywhere,
}

fn reconverge(machine: &wb_hw::Machine) -> Result<Meets, Refusal> {
    let d = &machine.divergence;
    let info = d.mechanism.info();
    let Some(default) = info.meets else {
        return Err(Refusal::Machine {
            what: format!("nobody has shown where paths meet under mechanism {}", d.mechanism),
            help: "choose another mechanism, or set split.contexts to 0",
        });
    };
    // Where the program says so, no setting changes it.
    let meets = match d.reconverge {
        _ if info.sure_splits == SureSplits::PairedMarks => default,
        Reconverge::Default => default,
        other => other,
    };
    Ok(match meets {
        Reconverge::MaskStack => {
            return Err(Refusal::Machine {
                what: format!(
                    "paths of mechanism {} meet where masks match, for which there is no proof",
                    d.mechanism
                ),
                help: "set divergence.reconverge to `never` or `region-end`",
            });
        }
        Reconverge::Default | Reconverge::Never => Meets::Never,
        Reconverge::RegionEnd => Meets::AtJoin,
        Reconverge::Anywhere => Meets::Anywhere,
    })
}

/// Instructions of the program split and merge.
fn has_marks(machine: &wb_hw::Machine) -> bool {
    machine.divergence.mechanism.info().sure_splits == SureSplits::PairedMarks
}

fn no_join<I: Isa>(program: &Program<I>, pc: Pc) -> Refusal {
    let what = format!("a wave may split where its paths have no place to meet ({})", program.place(pc));
    Refusal::Program { what, help: "mark branches with `wavebound split`, or set split.contexts to 0" }
}

/// The graph of a kernel.
struct Cover<'a> {
    cfg: &'a Cfg,
    blocks: &'a BTreeSet<usize>,
    barriers: &'a BTreeSet<usize>,
}

impl Cover<'_> {
    /// Blocks that can be reached behind a block without passing `until` (which is not among them) or one of the ways `cut`.
    fn from(&self, start: usize, until: Option<usize>, cut: &[(usize, usize)]) -> BTreeSet<usize> {
        let ways = |b: usize| {
            let succs = self.cfg.blocks[b].succs.iter().copied();
            succs.filter(move |&s| Some(s) != until && self.blocks.contains(&s) && !cut.contains(&(b, s)))
        };
        let mut seen = BTreeSet::new();
        let mut work: Vec<usize> = ways(start).collect();
        while let Some(b) = work.pop() {
            if seen.insert(b) {
                work.extend(ways(b));
            }
        }
        seen
    }
}

/// The sides that a path takes only one of, as the analysis of splits has them.
pub(crate) fn counted_on(splits: &Splits) -> Option<(&Splitting, &[BlockRegion])> {
    let splitting = splits.splitting.as_ref().filter(|s| !s.unknown && s.contexts > 0)?;
    Some((splitting, &splits.regions))
}
