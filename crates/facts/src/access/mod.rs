//! What memory one execution of an instruction by one wave can touch at most: lines, bank passes, addresses. The heart of
//! proved bounds: each line is a slot of a cache port and perhaps of DRAM.
//!
//! Every vector register is followed as a function of the lane (`linear`), for classes of lanes that masks tell apart
//! (`state`), from the work-item ids and arguments that the launch fixes; ranges come from [`crate::infer`]. What is not
//! understood is anything: a line for every lane, or two where its bytes can straddle. Masks only take lanes away.

mod arith;
mod count;
mod fact;
mod linear;
mod masks;
mod moves;
mod pattern;
mod rounds;
mod start;
mod state;
mod step;
mod touch;
mod value;

pub use fact::{AccessFact, AccessShape, Local, Why};
pub use step::AccessRule;

use crate::calls::code_blocks;
use crate::check::calls_of;
use crate::infer::state::{Side, State as Ranges};
use crate::infer::values::Values;
use crate::infer::{self, Inferred, Known, Limits};
use linear::Dims;
use moves::Moves;
use rounds::Place;
use state::{Arrival, EXEC, State, VCC, bit};
use std::collections::{BTreeMap, BTreeSet};
use step::{Setting, Step};
use touch::Around;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{Op, Operand};
use wb_isa::{FlowKind, Pc};
use wb_program::Program;
use wb_program::cfg::Loop;

/// Visits of a block before what changes is given up, and before everything is.
const PATIENCE: u32 = 3;
const VISITS: usize = 48;

/// Facts about all memory instructions that a kernel can reach; `inferred` is what [`crate::infer_gcn3`] says of the same
/// launch.
pub fn accesses(
    program: &Program<Gcn3>,
    known: &Known,
    inferred: &Inferred,
    shape: AccessShape,
) -> BTreeMap<Pc, AccessFact> {
    accesses_without(program, known, inferred, shape, None)
}

/// The same with a rule left out, for the tests of the search.
#[doc(hidden)]
pub fn accesses_without(
    program: &Program<Gcn3>,
    known: &Known,
    inferred: &Inferred,
    shape: AccessShape,
    without: Option<AccessRule>,
) -> BTreeMap<Pc, AccessFact> {
    let code = code_blocks(program, &calls_of(program));
    let pcs: Vec<Pc> = code.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow)).collect();
    let shape = AccessShape { lanes: shape.lanes.clamp(1, 64), ..shape };
    let splits = |pc: &Pc| matches!(program.flow.kind[*pc as usize], FlowKind::SplitLanes { .. });
    let setup = &program.isa.setup;
    let items = known.group.iter().fold(1u32, |n, &d| n.saturating_mul(d));
    let around = Around {
        shape,
        setup,
        launched: known.kernarg.is_some(),
        existing: if items == 0 { shape.lanes } else { items.min(shape.lanes) },
        full: start::full_waves(known, shape.lanes),
    };
    let set = Setting {
        dims: start::dims(known, shape.lanes),
        apart: shape.apart || pcs.iter().any(splits),
        private: setup.scratch_per_lane > 0 || known.kernarg.is_none(),
        without,
    };
    let found = infer::with_ranges(program, known, inferred, |values, entries, limits| {
        let of = |set: Setting, around: &Around, wave: Option<u32>| {
            let before = BTreeMap::new();
            let rounds = if wave.is_some() { rounds::apart(program) } else { Vec::new() };
            let mut analysis =
                Analysis { program, known, values, set, wave, rounds, moves: Moves::new(), before };
            analysis.solve(entries)?;
            if wave.is_none() && !set.apart {
                analysis.move_on(entries, limits)?;
            }
            Some(analysis.facts(around))
        };
        let facts = of(set, &around, None)?;
        let rows = Dims { rows: true, ..set.dims };
        let each = |wave: u32| {
            let (existing, full) = start::of_wave(known, shape.lanes, wave);
            of(Setting { dims: rows, ..set }, &Around { existing, full, ..around }, Some(wave))
        };
        let waves = match without {
            Some(AccessRule::EveryWave) => start::waves(known, shape.lanes).unwrap_or(0).min(1),
            _ => start::waves(known, shape.lanes).unwrap_or(0),
        };
        Some(of_waves(facts, (0..waves).map(each)))
    });
    let mut facts = found.flatten().unwrap_or_default();
    // Where nothing gets, or nothing is known.
    let nothing = Ranges::unknown();
    for pc in pcs {
        if let (Some(inst), false) = (program.ops[pc as usize].inst.as_ref(), facts.contains_key(&pc)) {
            let step = Step { pc, inst, set, before: &nothing, after: &nothing };
            facts.extend(touch::fact(&step, None, &around).map(|f| (pc, f)));
        }
    }
    facts
}

/// One more way to execute an instruction.
fn add(facts: &mut BTreeMap<Pc, AccessFact>, fact: AccessFact) {
    match facts.get_mut(&fact.pc) {
        Some(old) => old.or(fact),
        None => _ = facts.insert(fact.pc, fact),
    }
}

/// What is known of any wave, and of each wave by itself.
fn of_waves(
    facts: BTreeMap<Pc, AccessFact>,
    waves: impl Iterator<Item = Option<BTreeMap<Pc, AccessFact>>>,
) -> BTreeMap<Pc, AccessFact> {
    let mut most: BTreeMap<Pc, AccessFact> = BTreeMap::new();
    for wave in waves {
        let Some(wave) = wave else { return facts };
        wave.into_values().for_each(|fact| add(&mut most, fact));
    }
    let both = |(pc, fact): (Pc, AccessFact)| match most.remove(&pc) {
        Some(other) => (pc, fact.and(other)),
        None => (pc, fact),
    };
    facts.into_iter().map(both).collect()
}

struct Analysis<'a> {
    program: &'a Program<Gcn3>,
    known: &'a Known<'a>,
    values: &'a Values<'a>,
    set: Setting,
    /// Which wave of a group it is.
    wave: Option<u32>,
    /// Loops whose rounds are told apart.
    rounds: Vec<&'a Loop>,
    /// Where pointers lie that loops move on.
    moves: Moves,
    /// None where nothing can get to.
    before: BTreeMap<Place, State>,
}

impl Analysis<'_> {
    fn facts(&self, around: &Around) -> BTreeMap<Pc, AccessFact> {
        let mut facts = BTreeMap::new();
        let touches = |pc: Pc| self.program.ops[pc as usize].inst.as_ref().is_some_and(touch::touches);
        let touches = |block: usize| self.program.cfg.pcs(block, &self.program.flow).into_iter().any(touches);
        for (place, state) in self.before.iter().filter(|(place, _)| touches(place.block)) {
            self.through(place.block, state.clone(), &mut |step, state| {
                if let Some(fact) = touch::fact(step, Some(state), around) {
                    add(&mut facts, fact);
                }
            });
        }
        facts
    }

    /// Once more, with where pointers can be in loops that go round so often.
    fn move_on(&mut self, entries: &[(usize, Ranges)], limits: &Limits) -> Option<()> {
        let cfg = &self.program.cfg;
        let mut from: BTreeMap<usize, Vec<(&Place, &State)>> = BTreeMap::new();
        for (place, state) in &self.before {
            let ways: BTreeSet<usize> = cfg.blocks[place.block].succs.iter().copied().collect();
            ways.into_iter().for_each(|to| from.entry(to).or_default().push((place, state)));
        }
        for l in &cfg.loops {
            let place = Place { block: l.header, round: 0 };
            let (Some(at), Some(&limit)) = (self.before.get(&place), limits.get(&l.header)) else { continue };
            // States that enter, and states that go back.
            let mut ways = [Vec::new(), Vec::new()];
            for (from, state) in from.get(&l.header).into_iter().flatten() {
                let there = self.out(from.block, (*state).clone()).into_iter().filter(|o| o.0 == l.header);
                ways[usize::from(l.blocks.contains(&from.block))].extend(there.map(|o| o.1));
            }
            if entries.iter().any(|e| e.0 == l.header) {
                continue;
            }
            let limit = if self.set.without == Some(AccessRule::EveryRound) { 0 } else { limit };
            self.moves.extend(moves::found(l.header, at, &ways[0], &ways[1], limit));
        }
        if !self.moves.is_empty() {
            self.before.clear();
            self.solve(entries)?;
        }
        Some(())
    }

    /// None if it takes too long.
    fn solve(&mut self, entries: &[(usize, Ranges)]) -> Option<()> {
        let mut work = BTreeSet::new();
        for (i, (block, ranges)) in entries.iter().enumerate() {
            let state = match i {
                0 => start::start(self.program, self.known, ranges, self.set.dims, self.wave),
                _ => State::unknown(self.set.dims),
            };
            let place = Place { block: *block, round: 0 };
            self.arrive(place, state, false);
            work.insert(place);
        }
        let mut visits: BTreeMap<Place, u32> = BTreeMap::new();
        let places = self.program.cfg.blocks.len().max(1)
            + self.rounds.iter().map(|l| l.blocks.len() * rounds::MOST as usize).sum::<usize>();
        let mut left = VISITS * places;
        while let Some(place) = work.pop_first() {
            left = left.checked_sub(1)?;
            let state = self.before.get(&place)?.clone();
            for (to, state) in self.out(place.block, state) {
                let to = place.next(to, &self.rounds);
                let seen = visits.entry(to).or_default();
                if self.arrive(to, state, *seen > PATIENCE) {
                    *seen += 1;
                    work.insert(to);
                }
            }
        }
        Some(())
    }

    /// A state arrives at a block; whether more is possible there than before.
    fn arrive(&mut self, place: Place, mut state: State, hard: bool) -> bool {
        let apart = self.set.apart;
        let needed = self.program.needed(self.program.cfg.blocks[place.block].first);
        let live = |pair: u8| (0..2).any(|i| needed.is_live(usize::from(2 * pair + i)));
        (0..EXEC).filter(|&pair| !live(pair)).for_each(|pair| state.merge(pair));
        // Rounds give names of their own.
        let block = place.block + self.program.cfg.blocks.len() * place.round as usize;
        state.unlink(block);
        match self.before.get_mut(&place) {
            Some(old) => {
                let before = old.clone();
                old.join(state, Arrival { block, hard, apart }) && {
                    moves::cut(&self.moves, block, old);
                    *old != before
                }
            }
            None => self.before.insert(place, state).is_none(),
        }
    }

    /// The state after a block; `see` is shown every instruction with the state before it.
    fn through(&self, block: usize, mut state: State, see: &mut dyn FnMut(&Step, &State)) -> State {
        let Some(ranges) = self.values.at(block) else { return state };
        let mut ranges = ranges.clone();
        for pc in self.program.cfg.pcs(block, &self.program.flow) {
            let Some(inst) = self.program.ops[pc as usize].inst.as_ref() else { continue };
            sharpen(&mut ranges, &state, inst);
            let before = ranges.clone();
            self.values.step(pc, &mut ranges);
            let step = Step { pc, inst, set: self.set, before: &before, after: &ranges };
            see(&step, &state);
            match self.program.flow.kind[pc as usize] {
                FlowKind::Call { .. } => state = State::unknown(self.set.dims),
                _ => step.run(&mut state),
            }
        }
        state
    }

    /// States on the ways out of a block that can be taken.
    fn out(&self, block: usize, state: State) -> Vec<(usize, State)> {
        let mut clean = [false; 2];
        let state = self.through(block, state, &mut |step, _| {
            clean = [EXEC, VCC].map(|pair| step.after.is_clean(2 * pair));
        });
        // A mask that has a bit of some lane.
        let some = |pair: u8, clean: bool| {
            !clean || !state.tracked(pair) || state.lanes.keys().any(|&case| bit(case, pair))
        };
        let some = [some(EXEC, clean[0]), some(VCC, clean[1])];
        let last = self.program.cfg.blocks[block].last;
        let target = match self.program.flow.kind[last as usize] {
            FlowKind::Branch(t) | FlowKind::MaskBranch { target: t, .. } => self.program.cfg.block_at(t),
            _ => None,
        };
        let next = self.program.cfg.block_at(self.program.flow.next[last as usize]);
        let op = self.program.ops[last as usize].inst.as_ref().map(|i| i.op);
        let ways = self.values.taken(block).into_iter().filter_map(|to| {
            let mut state = state.clone();
            if target != next {
                let jumps = Some(to) == target;
                let possible = match op {
                    Some(Op::SCbranchExecz) if !jumps => some[0],
                    Some(Op::SCbranchExecnz) if jumps => some[0],
                    Some(Op::SCbranchVccz) if !jumps => some[1],
                    Some(Op::SCbranchVccnz) if jumps => some[1],
                    _ => true,
                };
                if !possible {
                    return None;
                }
                let zero = match op {
                    Some(Op::SCbranchExecz) if jumps => Some(EXEC),
                    Some(Op::SCbranchExecnz) if !jumps => Some(EXEC),
                    Some(Op::SCbranchVccz) if jumps => Some(VCC),
                    Some(Op::SCbranchVccnz) if !jumps => Some(VCC),
                    _ => None,
                };
                if let Some(pair) = zero.filter(|&p| state.tracked(p)) {
                    state.keep(|case| !bit(case, pair));
                }
            }
            Some((to, state))
        });
        ways.collect()
    }
}

/// Ranges of the registers that an instruction reads, as far as more is known here.
fn sharpen(ranges: &mut Ranges, state: &State, inst: &wb_isa::gcn3::Inst) {
    for used in inst.uses().into_iter().filter(|u| u.read) {
        for i in 0..used.dwords {
            match used.operand {
                Operand::Vgpr(n) => {
                    let n = n.wrapping_add(i);
                    let known = state.on().map(|(_, class)| class.get(n).range).reduce(|a, b| a.join(b));
                    let range = &mut ranges.on[usize::from(n)];
                    *range = known.and_then(|k| range.meet(k)).unwrap_or(*range);
                }
                Operand::Sgpr(n) => {
                    let n = usize::from(n.wrapping_add(i) & 127);
                    let range = ranges.side(Side::Scalar(n as u8));
                    ranges.scalars[n].range = range.meet(state.scalars[n].range).unwrap_or(range);
                }
                _ => {}
            }
        }
    }
}
