//! One round of a loop, seen by any one lane: every state the lane can be in is visited, one by one. Masks are one bit for
//! the lane, comparisons come out either way, registers are what they were at the header plus or shifted by something.
//! The prover reasons with decision diagrams; this is the plain way to the same end.

use crate::code::Refused;
use crate::facts::{EXEC, Sources, VCC};
use crate::format::{Counted, Form, LoopProof, Reg, Rule, Side, Witness};
use crate::graph::{Graph, Looped};
use crate::lane::{Scc, Undecided, Value, View, add, bits, reg, shifted, to_reg, within};
use crate::live::{self, Edge, Live};
use crate::transfer::{comparison, tells_not_zero, writes_scc, written};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use wb_isa::gcn3::{Format, Inst, NO_SDST, Op, Operand};
use wb_isa::{FlowKind, Pc};

/// Instructions followed for one loop at most, over all states; larger loops are refused.
const STEPS: usize = 1_000_000;

pub struct Explorer<'a> {
    graph: &'a Graph<'a>,
    looped: &'a Looped,
    proof: &'a LoopProof,
    sources: &'a Sources,
    witnesses: Vec<Witness>,
    tracked: BTreeSet<Reg>,
    /// Registers some instruction of the loop writes.
    written: BTreeSet<Reg>,
    /// What is still read behind each instruction and each start of a block; the rest need not be told apart.
    live: BTreeMap<(Pc, Edge), Live>,
    /// The lane was on at the header.
    head: bool,
}

impl<'a> Explorer<'a> {
    pub fn new(
        graph: &'a Graph<'a>,
        looped: &'a Looped,
        proof: &'a LoopProof,
        sources: &'a Sources,
    ) -> Result<Explorer<'a>, Refused> {
        let named = proof.witnesses.iter().filter_map(|w| w.1).chain(proof.dead.iter().map(|d| d.2));
        let witnesses: Vec<Witness> = named.collect::<BTreeSet<_>>().into_iter().collect();
        if witnesses.len() > 32 {
            return Err(Refused::TooLarge { header: proof.header });
        }
        for w in &witnesses {
            let known = match w {
                Witness::Branch(pc) => looped.pcs.contains(pc),
                Witness::On(pc) => looped.pcs.contains(pc) && sources.some_on(*pc),
            };
            if !known {
                return Err(Refused::Witness { header: proof.header });
            }
        }
        let mut explorer = Explorer {
            graph,
            looped,
            proof,
            sources,
            witnesses,
            tracked: BTreeSet::new(),
            written: BTreeSet::new(),
            live: BTreeMap::new(),
            head: false,
        };
        explorer.written = looped.pcs.iter().flat_map(|&pc| graph.writes(pc)).collect();
        explorer.track();
        explorer.live = live::find(graph, looped, proof, &explorer.tracked);
        Ok(explorer)
    }

    /// Forgets what is not read again: fewer states, each of which stands for more.
    fn forget(&self, place: (Pc, Edge), view: &mut View) {
        let Some(live) = self.live.get(&place) else { return };
        view.bits.retain(|pair, _| *pair == EXEC || live.pairs.contains(pair));
        view.scc = if live.scc { view.scc } else { Scc::Unknown };
        for &register in self.tracked.difference(&live.registers) {
            view.values.insert(register, None);
        }
    }

    /// Registers that the counter, the other side and the moving ones are made of in the loop.
    fn track(&mut self) {
        let mut all: BTreeSet<Reg> = self.proof.moves.iter().map(|m| m.register).collect();
        if let Rule::Counted(c) = &self.proof.rule {
            all.insert(c.counter);
            if let Some(inst) = self.graph.inst(c.test) {
                all.extend(inst.src.iter().filter_map(|&o| reg(o)));
            }
        }
        loop {
            let mut more = BTreeSet::new();
            for &pc in &self.looped.pcs {
                let Some(inst) = self.graph.inst(pc) else { continue };
                if reg(inst.dst).is_some_and(|d| all.contains(&d)) && inst.dst_dwords() == 1 {
                    more.extend(inst.src.iter().filter_map(|&o| reg(o)));
                }
            }
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                break;
            }
        }
        self.tracked = all;
    }

    /// Visits every state of a round; an error if one of them contradicts the proof.
    pub fn run(&mut self) -> Result<(), Refused> {
        for head in [true, false] {
            self.head = head;
            let start = View {
                bits: BTreeMap::from([(EXEC, head)]),
                scc: Scc::Unknown,
                values: BTreeMap::new(),
                lost: false,
                passed: false,
                exists: 0,
                chosen: 0,
            };
            let mut seen: HashSet<(Pc, View)> = HashSet::new();
            let mut work = vec![(self.proof.header, start)];
            let mut steps = 0;
            while let Some((pc, view)) = work.pop() {
                if !seen.insert((pc, view.clone())) {
                    continue;
                }
                self.block(pc, view, &mut work, &mut steps)?;
            }
        }
        Ok(())
    }

    /// Follows one block in all ways, instruction by instruction; what goes on in this round is added to the work.
    fn block(
        &self,
        first: Pc,
        view: View,
        work: &mut Vec<(Pc, View)>,
        steps: &mut usize,
    ) -> Result<(), Refused> {
        let mut pc = first;
        let mut here = vec![view];
        loop {
            let mut seen = HashSet::new();
            let mut after = Vec::new();
            while let Some(view) = here.pop() {
                *steps += 1;
                if *steps > STEPS {
                    return Err(Refused::TooLarge { header: self.proof.header });
                }
                match self.follow(pc, &view)? {
                    Followed::Undecided(open) => here.extend(open),
                    Followed::To(outcomes) => {
                        for mut view in outcomes {
                            // A branch still reads what it decides on.
                            if !self.graph.ends(pc) {
                                self.forget((pc, Edge::After), &mut view);
                            }
                            if seen.insert(view.clone()) {
                                after.push(view);
                            }
                        }
                    }
                }
            }
            if self.graph.ends(pc) {
                return after.into_iter().try_for_each(|view| self.leave(pc, view, work));
            }
            (here, pc) = (after, self.graph.next(pc));
        }
    }

    /// What one instruction makes of a state, or the states it must be divided into first.
    fn follow(&self, pc: Pc, view: &View) -> Result<Followed, Refused> {
        let named = self.witnesses.contains(&Witness::On(pc));
        if named && view.bit(EXEC).is_none() {
            return Ok(decide(view, EXEC));
        }
        let mut now = view.clone();
        for (i, _) in self.witnesses.iter().enumerate().filter(|w| *w.1 == Witness::On(pc)) {
            now.mark(i, true, view.bit(EXEC) == Some(true));
        }
        if matches!(self.graph.kind(pc), FlowKind::Call { .. }) {
            now.lose();
            return Ok(Followed::To(vec![now]));
        }
        let Some(inst) = self.graph.inst(pc) else { return Ok(Followed::To(vec![now])) };
        match self.instruction(inst, pc, now.clone(), None) {
            Ok(after) => Ok(Followed::To(vec![after])),
            Err(Undecided::Bit(pair)) => Ok(decide(view, pair)),
            Err(Undecided::Scc) => {
                let is = |value| View { scc: Scc::Is(value), ..view.clone() };
                Ok(Followed::Undecided([is(false), is(true)]))
            }
            Err(Undecided::Outcome) => {
                let mut after = Vec::new();
                for outcome in [true, false] {
                    match self.instruction(inst, pc, now.clone(), Some(outcome)) {
                        Ok(one) => after.push(one),
                        Err(Undecided::Bit(pair)) => return Ok(decide(view, pair)),
                        Err(Undecided::Scc | Undecided::Outcome) => {
                            return Err(Refused::TooLarge { header: self.proof.header });
                        }
                    }
                }
                Ok(Followed::To(after))
            }
        }
    }

    /// The ways out of a block.
    fn leave(&self, pc: Pc, view: View, work: &mut Vec<(Pc, View)>) -> Result<(), Refused> {
        for (to, jump) in self.graph.ways(pc) {
            self.way(pc, to, jump, view.clone(), work)?;
        }
        Ok(())
    }

    fn way(
        &self,
        pc: Pc,
        to: Pc,
        jump: Option<bool>,
        view: View,
        work: &mut Vec<(Pc, View)>,
    ) -> Result<(), Refused> {
        let mut after = view.clone();
        let taken = match jump {
            Some(jump) => self.branch(pc, jump, &mut after),
            None => Ok(true),
        };
        let back = to == self.proof.header;
        let undecided = match (taken, &self.proof.rule) {
            (Ok(false), _) => return Ok(()),
            (Err(pair), _) => Some(pair),
            (Ok(true), _) if back && after.bit(EXEC).is_none() => Some(EXEC),
            (Ok(true), Rule::Bits(b)) if back && after.bit(b.pair).is_none() => Some(b.pair),
            (Ok(true), _) => None,
        };
        if let Some(pair) = undecided {
            for value in [false, true] {
                let mut decided = view.clone();
                decided.bits.insert(pair, value);
                self.way(pc, to, jump, decided, work)?;
            }
            return Ok(());
        }
        if let Some((.., w)) = self.proof.dead.iter().find(|d| d.0 == pc && d.1 == to) {
            let bit = self.bit_of(*w);
            return match after.exists & bit != 0 && after.chosen & bit == 0 {
                true => Ok(()),
                false => Err(Refused::NotDead { from: pc, to }),
            };
        }
        if back {
            return self.back(pc, &after);
        }
        if self.looped.blocks.contains(&to) {
            self.enter(to, &mut after);
            self.forget((to, Edge::Before), &mut after);
            work.push((to, after));
        }
        Ok(())
    }

    /// An inner loop: what it writes is unknown in each of its rounds.
    fn enter(&self, block: Pc, view: &mut View) {
        let Some(inner) = self.graph.loops.iter().find(|l| l.header == block) else { return };
        for &pc in &inner.pcs {
            if matches!(self.graph.kind(pc), FlowKind::Call { .. }) {
                view.values = self.tracked.iter().map(|&r| (r, None)).collect();
                return;
            }
            for register in self.graph.writes(pc) {
                if self.tracked.contains(&register) {
                    view.values.insert(register, None);
                }
            }
        }
    }

    fn bit_of(&self, w: Witness) -> u32 {
        self.witnesses.iter().position(|x| *x == w).map_or(0, |i| 1 << i)
    }

    /// A conditional branch; false if this way cannot be taken, an error if a bit must be decided.
    fn branch(&self, pc: Pc, jump: bool, view: &mut View) -> Result<bool, u8> {
        let Some(inst) = self.graph.inst(pc) else { return Ok(true) };
        let bit = |view: &View, pair: u8| view.bits.get(&pair).copied().ok_or(pair);
        let truth = match inst.op {
            Op::SCbranchScc0 | Op::SCbranchScc1 => view.scc,
            Op::SCbranchVccz | Op::SCbranchVccnz => Scc::Some(bit(view, VCC)?),
            Op::SCbranchExecz | Op::SCbranchExecnz => Scc::Some(bit(view, EXEC)?),
            _ => return Ok(true),
        };
        let positive = matches!(inst.op, Op::SCbranchScc1 | Op::SCbranchVccnz | Op::SCbranchExecnz);
        let wanted = jump == positive;
        // Whether some lane has its bit on this way, and whether this lane has.
        let (some, own) = match truth {
            Scc::Unknown => (None, false),
            Scc::Is(value) => {
                if value != wanted {
                    return Ok(false);
                }
                (None, false)
            }
            Scc::Some(own) => (Some(wanted), own),
            Scc::None(own) => (Some(!wanted), own),
        };
        if some == Some(false) && own {
            return Ok(false);
        }
        if matches!(inst.op, Op::SCbranchScc0 | Op::SCbranchScc1) {
            view.scc = if some.is_some() { view.scc } else { Scc::Is(wanted) };
        }
        for (i, w) in self.witnesses.iter().enumerate() {
            if *w == Witness::Branch(pc) {
                view.mark(i, some == Some(true), some == Some(true) && own);
            }
        }
        Ok(true)
    }

    /// An edge back: what the rule says of it must hold in this state.
    fn back(&self, pc: Pc, view: &View) -> Result<(), Refused> {
        let header = self.proof.header;
        let fail = |what: &'static str| Err(Refused::Back { header, from: pc, what });
        let on = view.bit(EXEC) != Some(false);
        let Some((_, witness)) = self.proof.witnesses.iter().find(|w| w.0 == pc) else {
            return fail("no lane is named for it");
        };
        let spoken_of = match witness {
            None => true,
            Some(w) => {
                let bit = self.bit_of(*w);
                if view.exists & bit == 0 {
                    return fail("the lane that is named need not exist");
                }
                view.chosen & bit != 0
            }
        };
        match &self.proof.rule {
            Rule::Straight => return fail("it can be taken"),
            Rule::Bits(b) => {
                let set = view.bit(b.pair) == Some(true);
                if spoken_of && !(set && view.passed) {
                    return fail("no bit need be left");
                }
            }
            Rule::Counted(c) => {
                let by_lane = self.speaks_of_one_lane(c);
                let moved = within(view.value(c.counter), c.counter, c.step);
                if spoken_of && !(view.passed && moved && (self.head || !by_lane)) {
                    return fail("the test need not have passed, or the counter not have moved");
                }
                if by_lane && on && !(view.passed && moved && self.head) {
                    return fail("a lane that is on need not have been on, passed the test and moved");
                }
            }
        }
        for m in &self.proof.moves {
            let moved = within(view.value(m.register), m.register, Form::Plus(m.lo, m.hi));
            let fine = match m.register {
                Reg::S(_) => moved || !spoken_of,
                Reg::V(_) => !on || moved && self.head,
            };
            if !fine {
                return fail("a register that is said to move need not");
            }
        }
        Ok(())
    }

    /// The argument follows one lane through all rounds.
    fn speaks_of_one_lane(&self, c: &Counted) -> bool {
        let other = self.graph.inst(c.test).and_then(comparison).map(|x| if c.second { x.a } else { x.b });
        let by_lanes = matches!(other, Some(Side::V(_)));
        matches!(c.counter, Reg::V(_)) || c.fixed && by_lanes && !self.sources.constant_other(c)
    }

    /// One instruction. `outcome`: how its comparison came out, if that had to be decided.
    fn instruction(
        &self,
        inst: &Inst,
        pc: Pc,
        mut view: View,
        outcome: Option<bool>,
    ) -> Result<View, Undecided> {
        let exec = view.bit(EXEC);
        let compares = inst.entry().compare();
        let test = match &self.proof.rule {
            Rule::Counted(c) if c.test == pc => Some(c),
            _ => None,
        };
        let new_value = self.value(inst, pc, &view, exec)?;
        let new_bits = bits(inst, &view, exec)?;
        if let Some(c) = test {
            let on = if compares.is_some() { exec.ok_or(Undecided::Bit(EXEC))? } else { true };
            if on && outcome.is_none() {
                return Err(Undecided::Outcome);
            }
            let right = on && outcome == Some(c.truth);
            view.passed = right && self.fits(inst, c, &view, new_value.flatten());
        }
        let narrows = compares.is_some_and(|c| c.exec);
        if narrows && outcome.is_none() && exec.ok_or(Undecided::Bit(EXEC))? {
            return Err(Undecided::Outcome);
        }
        if matches!(&self.proof.rule, Rule::Bits(b) if b.clear == pc) {
            view.passed = true;
        }
        let sets_scc = writes_scc(inst);
        let writes = written(inst);
        for &side in &writes {
            if let Side::S(n) = side {
                view.bits.remove(&(n & 126));
            }
            let register = to_reg(side);
            if register.is_some_and(|r| self.tracked.contains(&r)) {
                let lanes = matches!(register, Some(Reg::V(_))) && inst.op != Op::VWritelaneB32;
                let kept = lanes && exec == Some(false);
                if !kept && let Some(r) = register {
                    view.values.insert(r, None);
                }
            }
        }
        if let (Some(value), Some(r)) = (new_value, reg(inst.dst))
            && self.tracked.contains(&r)
        {
            view.values.insert(r, value);
        }
        if sets_scc {
            view.scc = match (new_bits.scc, outcome) {
                (Some(scc), _) => scc,
                (None, Some(o)) if compares.is_none() => Scc::Is(o),
                _ => Scc::Unknown,
            };
        }
        if let (Some(_), Operand::Sgpr(n)) = (compares, inst.dst) {
            match (exec, outcome) {
                (Some(false), _) => _ = view.bits.insert(n & 126, false),
                (_, Some(o)) => _ = view.bits.insert(n & 126, o),
                _ => {}
            }
            if narrows {
                let value = exec.ok_or(Undecided::Bit(EXEC))? && outcome == Some(true);
                view.bits.insert(EXEC, value);
            }
        }
        if inst.sdst != NO_SDST && exec == Some(false) {
            view.bits.insert(inst.sdst & 126, false);
        }
        view.bits.extend(new_bits.pairs.into_iter().filter_map(|(p, b)| Some((p, b?))));
        Ok(view)
    }

    /// What is tested, and the other side if it must be the same in all rounds, are as claimed.
    fn fits(&self, inst: &Inst, c: &Counted, view: &View, result: Value) -> bool {
        if tells_not_zero(inst.op) {
            return !c.second && within(result, c.counter, c.tested);
        }
        let (x, y) = match c.second {
            false => (inst.src[0], inst.src[1]),
            true => (inst.src[1], inst.src[0]),
        };
        let counted = reg(x).is_some_and(|r| within(view.value(r), c.counter, c.tested));
        let same = match reg(y) {
            Some(r) if c.fixed && !self.sources.constant_other(c) => {
                view.value(r) == Some((r, Form::Plus(0, 0)))
            }
            _ => true,
        };
        counted && same
    }

    /// The new value of a one-dword destination: none if nothing is said about it here.
    fn value(
        &self,
        inst: &Inst,
        pc: Pc,
        view: &View,
        exec: Option<bool>,
    ) -> Result<Option<Value>, Undecided> {
        let Some(dst) = reg(inst.dst).filter(|r| self.tracked.contains(r)) else { return Ok(None) };
        if matches!(dst, Reg::V(_)) && !exec.ok_or(Undecided::Bit(EXEC))? {
            return Ok(None);
        }
        let altered = inst.clamp() || inst.omod != 0 || inst.abs | inst.neg != 0;
        // The low half of a 64-bit sum is the sum of the low halves.
        let sum =
            inst.op == Op::VLshlAddU64 && inst.src[1] == Operand::InlineInt(0) && inst.src[0] != inst.src[2];
        let one = inst.dst_dwords() == 1 || sum;
        if !one || altered || matches!(inst.format, Format::Sdwa | Format::Dpp) {
            return Ok(None);
        }
        let [a, b, c] = inst.src;
        let (b, second) = if sum { (c, 2) } else { (b, 1) };
        let of = |o: Operand| reg(o).and_then(|r| view.value(r));
        let range = |i: usize| self.sources.range(pc, i);
        let constant = |i: usize| range(i).value();
        let moving = |x: Operand, other: usize, sign: i64| {
            let r = range(other);
            let ends = [sign * i64::from(r.s.0), sign * i64::from(r.s.1)];
            add(of(x), ends[0].min(ends[1]), ends[0].max(ends[1]))
        };
        let shift =
            |x: Operand, by: usize, left: bool| constant(by).and_then(|n| shifted(of(x), left, n & 31));
        let k = i64::from(inst.imm as i16);
        Ok(Some(match inst.op {
            Op::SMovB32 | Op::VMovB32 => of(a),
            Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 if a == b => shifted(of(a), true, 1),
            Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 | Op::VLshlAddU64 => {
                let still = |o: Operand| reg(o).is_none_or(|r| !self.written.contains(&r));
                // What moves is a register; of two, the one that the loop writes.
                let first = match (reg(a), reg(b)) {
                    (Some(_), Some(_)) if still(a) != still(b) => still(b),
                    (Some(_), Some(_)) => constant(second).is_some(),
                    (first, _) => first.is_some(),
                };
                match first {
                    true => moving(a, second, 1),
                    false => moving(b, 0, 1),
                }
            }
            Op::SSubU32 | Op::SSubI32 | Op::VSubU32 | Op::VSubNcU32 => moving(a, 1, -1),
            Op::VSubrevU32 | Op::VSubrevNcU32 => moving(b, 0, -1),
            Op::SAddkI32 => add(view.value(dst), k, k),
            Op::SLshlB32 => shift(a, 1, true),
            Op::SLshrB32 => shift(a, 1, false),
            Op::SAshrI32 if range(0).s.0 >= 0 => shift(a, 1, false),
            Op::VLshlrevB32 => shift(b, 0, true),
            Op::VLshrrevB32 => shift(b, 0, false),
            Op::VAshrrevI32 if range(1).s.0 >= 0 => shift(b, 0, false),
            Op::SCselectB32 => match view.flag().ok_or(Undecided::Scc)? {
                true => of(a),
                false => of(b),
            },
            Op::VCndmaskB32 => match c {
                Operand::Sgpr(n) if n % 2 == 0 => match view.bit(n).ok_or(Undecided::Bit(n))? {
                    true => of(b),
                    false => of(a),
                },
                _ => None,
            },
            _ => return Ok(None),
        }))
    }
}

/// What one instruction makes of a state.
enum Followed {
    To(Vec<View>),
    /// Something must be decided first: the state, both ways.
    Undecided([View; 2]),
}

/// The state with one bit decided, both ways.
fn decide(view: &View, pair: u8) -> Followed {
    Followed::Undecided([false, true].map(|value| {
        let mut decided = view.clone();
        decided.bits.insert(pair, value);
        decided
    }))
}
