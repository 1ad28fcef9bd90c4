//! One launch as a question to the proof, and its answer.

use super::accesses::{access, facts as access_facts};
use crate::error::{BoundError, refused};
use crate::kernel::{asks_lanes, may_split, place, splitting};
use crate::launched::Launched;
use crate::options::{Options, facts_for};
use crate::result::{CodePlace, UnknownRow};
use crate::shape::{Shape, needs};
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{self as facts, AccessFact, FlowFacts, Inferred, Known, LoopFact};
use wb_hw::{Machine, Needs};
use wb_isa::gcn3::Op;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::{FlowKind, Isa, NO_PC, Pc};
use wb_jobs::ProgramRef;
use wb_program::Program;
use wb_proved::{Access, Fault, Memory, Proved, Question, Refusal, SplitQuestion, prove};
use wb_sim::Launch;

/// A launch with its bound.
#[derive(Clone, Debug)]
pub struct ProvedLaunch {
    pub shape: Shape,
    pub found: Proved,
    /// Limits of loops that it rests on.
    pub limits: Vec<LoopFact>,
    /// Where instructions come from.
    pub places: BTreeMap<Pc, CodePlace>,
    /// Accesses whose lines are not known.
    pub unknown: Vec<UnknownRow>,
}

/// What a proof is asked about a launch, kept while it is answered.
pub(crate) struct Asked<'a> {
    pub program: &'a Program<Gcn3>,
    machine: &'a Machine,
    needs: Needs,
    groups: u64,
    known: FlowFacts,
    limits: BTreeMap<Pc, u64>,
    never: BTreeSet<(Pc, Pc)>,
    alike: BTreeSet<Pc>,
    accesses: BTreeMap<Pc, Access>,
    memory: Memory,
    splits: SplitQuestion,
}

/// The program of a launch, if there can be a proof about it.
fn provable<'a>(launched: &Launched<'a>) -> Result<&'a Program<Gcn3>, BoundError> {
    let ProgramRef::Gcn3(program) = launched.program else {
        return Err(refused!(
            Program,
            help =
                "leave --proved out: measured times make a bound for programs of the other instruction sets",
            "proved bounds are for GCN3 kernels"
        ));
    };
    facts::analysable(program).map_err(|e| refused!(Program, help = e.hint(), "{e}"))?;
    Ok(program)
}

impl<'a> Asked<'a> {
    /// `inferred`: what follows from code and arguments; `seen`: limits to take where neither that nor the facts file has one.
    pub fn new(
        launched: &Launched<'a>,
        options: &Options,
        inferred: &Inferred,
        seen: &[LoopFact],
        accesses: BTreeMap<Pc, Access>,
    ) -> Result<Asked<'a>, BoundError> {
        let program = provable(launched)?;
        let mut known = match facts_for(options, launched.kernel) {
            None => FlowFacts::default(),
            Some((name, text)) => FlowFacts::parse(text, name, program)?,
        };
        let machine = launched.machine;
        // A path of a wave has some of its lanes: what is known of all of them together need not hold for it.
        let holds = |n: &&facts::NeverTaken| !machine.splits() || !asks_lanes(program, n.from);
        // Nor do limits of lanes where paths in different rounds become one.
        if !machine.mixes_rounds() {
            known.add(inferred.loops.clone());
        }
        let missing: Vec<LoopFact> =
            seen.iter().filter(|l| known.bound(l.header).is_none()).cloned().collect();
        known.add(missing);
        let (needs, groups) = needs(launched.launch, launched.machine);
        let alike = match needs.waves_per_group > 1 && program.flow.kind.contains(&FlowKind::Barrier) {
            true => facts::group_branches(program, &Known::launch(program, launched.kernarg, launched.args)),
            false => BTreeSet::new(),
        };
        Ok(Asked {
            program,
            machine: launched.machine,
            needs,
            groups,
            limits: known.loops.iter().map(|l| (l.header, l.max)).collect(),
            never: inferred.never.iter().filter(holds).map(|n| (n.from, n.to)).collect(),
            alike,
            accesses,
            known,
            memory: memory(program, launched),
            splits: SplitQuestion {
                splitting: splitting(program, machine),
                branches: may_split(program, machine),
            },
        })
    }

    pub fn question(&self, without: Option<Fault>) -> Question<'_, Gcn3> {
        Question {
            program: self.program,
            machine: self.machine,
            needs: self.needs,
            groups: self.groups,
            limits: &self.limits,
            never: &self.never,
            alike: &self.alike,
            accesses: &self.accesses,
            memory: &self.memory,
            splits: &self.splits,
            without,
        }
    }

    /// Limits of loops that the answer rests on.
    pub fn limits(&self) -> &[LoopFact] {
        &self.known.loops
    }
}

/// The proved bound of a launch. `without`: a lemma that a test leaves out.
pub fn prove_launch(
    launched: &Launched,
    options: &Options,
    without: Option<Fault>,
) -> Result<ProvedLaunch, BoundError> {
    let program = provable(launched)?;
    let launch = Known::launch(program, launched.kernarg, launched.args);
    let inferred = facts::infer_gcn3(program, &launch);
    let touched = access_facts(program, &launch, &inferred, launched.machine);
    let accesses = touched.iter().map(|(&pc, fact)| (pc, access(fact))).collect();
    let asked = Asked::new(launched, options, &inferred, &[], accesses)?;
    let found = prove(&asked.question(without)).map_err(|e| refusal(program, launched, &e))?;
    let Asked { accesses, limits, known, .. } = asked;
    let places: BTreeMap<Pc, CodePlace> =
        accesses.keys().chain(limits.keys()).map(|&pc| (pc, place(program, pc))).collect();
    let mut limits = known.loops;
    limits.retain(|l| places.contains_key(&l.header));
    let local = |f: &AccessFact| f.local == wb_facts::Local::Always;
    let unknown = touched.values().filter(|f| f.lines.max(f.passes) > 1).filter_map(|f| {
        let lines = u64::from(if local(f) { f.passes } else { f.lines });
        let (place, text, why) = (place(program, f.pc), program.text_at(f.pc), f.why?.to_string());
        Some(UnknownRow { place, text, lines, local: local(f), why })
    });
    let mut unknown: Vec<UnknownRow> = unknown.collect();
    unknown.sort_by_key(|u| std::cmp::Reverse(u.lines));
    Ok(ProvedLaunch { shape: Shape::of(launched), found, limits, places, unknown })
}

pub(crate) fn refusal(program: &Program<Gcn3>, launched: &Launched, why: &Refusal) -> BoundError {
    let place = match why {
        Refusal::Limit { header } if launched.machine.mixes_rounds() => {
            let place = program.place(*header);
            format!(" ({place}): limits of lanes do not hold where paths in different rounds become one")
        }
        Refusal::Limit { header } => format!(" ({})", program.place(*header)),
        _ => String::new(),
    };
    refused!(Program, help = why.help(), "kernel {}: {why}{place}", launched.kernel)
}

/// What the kernel may touch, and the instructions that can be fetched: those it can reach and as many behind as are fetched ahead.
fn memory(program: &Program<Gcn3>, launched: &Launched) -> Memory {
    let cfg = &program.cfg;
    let reached = cfg.reachable(cfg.block_at(program.entry));
    let ahead = launched.machine.frontend.buffer.max(launched.machine.queue_places() as u32) + 1;
    let mut pcs: BTreeSet<Pc> = BTreeSet::new();
    let mut takes_address = false;
    for &b in &reached {
        for pc in cfg.pcs(b, &program.flow) {
            let op = program.ops[pc as usize].inst.as_ref().map(|i| i.op);
            takes_address |= matches!(op, Some(Op::SGetpcB64 | Op::SSwappcB64));
            pcs.insert(pc);
        }
        let mut pc = cfg.blocks[b].last;
        for _ in 0..ahead {
            // The place behind the last instruction of all is fetched, too; nothing follows it.
            let Some(&next) = program.flow.next.get(pc as usize).filter(|&&n| n != NO_PC) else { break };
            pcs.insert(next);
            pc = next;
        }
    }
    let code = pcs.iter().map(|&pc| program.isa.addr_of(pc)).map(|a| (a, a + 1)).collect();
    // Local memories of groups are in device memory, too, but no pointer of the host leads there.
    let mut closed: Vec<std::ops::Range<u64>> = program.text.clone();
    if let Launch::Groups(g) = launched.launch {
        closed.push(g.lds_region..g.lds_region.saturating_add(g.lds_region_bytes(launched.machine)));
    }
    closed.retain(|c| !c.is_empty());
    let text = |at: u64| closed.iter().find(|t| t.contains(&at));
    let mut open = Vec::new();
    for &(from, to) in &launched.touchable.ranges {
        if takes_address {
            open.push((from, to));
            continue;
        }
        // A pointer that the host gave leads to what the host reserved, not to instructions.
        let mut at = from;
        while at < to {
            match text(at) {
                Some(t) => at = t.end,
                None => {
                    let end = closed.iter().map(|t| t.start).filter(|&s| s > at).min().unwrap_or(to).min(to);
                    open.push((at, end));
                    at = end;
                }
            }
        }
    }
    Memory { origin: launched.touchable.origin, allowed: launched.touchable.ranges.clone(), open, code }
}
