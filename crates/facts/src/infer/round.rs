//! One round of a loop, followed symbolically for one lane: masks become functions of the masks at the header, of the
//! comparisons and of which way was taken; registers become sums of what they held at the header. Inner loops are
//! entered once with everything they write unknown, except that lanes they switch on were on before (checked).

use super::bdd::{Bdd, FALSE, Fun, TRUE};
use super::eval::{self, EXEC, VCC};
use super::point::{Cases, Header, Impossible, Point, Scc, Sym, select};
use super::range::Range;
use super::state::{Cond, Side, State};
use super::values::{self, Values};
use std::collections::{BTreeMap, BTreeSet};
use wb_flowproof::Witness;
use wb_isa::gcn3::{Inst, NO_SDST, Op, Operand, Ty};
use wb_isa::{FlowKind, NO_PC, Pc};
use wb_program::cfg::Loop;

/// A comparison that is made once a round.
#[derive(Clone, Debug)]
pub struct Compared {
    pub pc: Pc,
    /// It holds (for the lane, if it is one of lanes).
    pub holds: Fun,
    pub cond: Cond,
    /// The lane was on.
    pub on: Fun,
    pub a: (Cases, Range),
    pub b: (Cases, Range),
    /// Argument a scalar side was loaded from.
    pub argument: Option<u32>,
}

pub struct Round<'a> {
    pub values: &'a Values<'a>,
    pub bdd: Bdd,
    pub header: Header,
    pub compared: Vec<Compared>,
    /// States on the edges back to the header, by the last instruction before.
    pub latches: Vec<(Pc, Point)>,
    /// Ways that are not taken, because a lane that must exist cannot be there.
    pub dead: Vec<(Pc, Pc, Witness)>,
    /// Registers some instruction of the loop writes.
    written: BTreeSet<Side>,
    /// 0 in the loop itself, more in inner loops.
    depth: u32,
}

/// Points on the ways to blocks, with the last instruction before.
type Exits = BTreeMap<usize, Vec<(Pc, Point)>>;

impl<'a> Round<'a> {
    /// None if the loop is too large to be followed.
    pub fn follow(values: &'a Values<'a>, l: &Loop) -> Option<Round<'a>> {
        let mut round = Round {
            values,
            bdd: Bdd::new(),
            header: Header::default(),
            compared: Vec::new(),
            latches: Vec::new(),
            dead: Vec::new(),
            written: BTreeSet::new(),
            depth: 0,
        };
        round.written = round.writes(l).0;
        let start = Point::header();
        let (latches, _) = round.region(l, start)?;
        round.latches = latches;
        (!round.bdd.overflow).then_some(round)
    }

    /// Registers that instructions of a loop write, pairs that they write as a whole, which may be masks, and whether there
    /// are calls, which write everything.
    fn writes(&self, l: &Loop) -> (BTreeSet<Side>, BTreeSet<u8>, bool) {
        let (mut sides, mut pairs, mut calls) = (BTreeSet::new(), BTreeSet::new(), false);
        let program = self.values.program;
        for pc in l.blocks.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow)) {
            calls |= matches!(program.flow.kind[pc as usize], FlowKind::Call { .. });
            let Some(inst) = program.ops[pc as usize].inst.as_ref() else { continue };
            for used in inst.uses().iter().filter(|u| u.write) {
                for i in 0..used.dwords {
                    match used.operand {
                        Operand::Vgpr(n) => _ = sides.insert(Side::Vector(n.saturating_add(i))),
                        Operand::Sgpr(n) => {
                            sides.insert(Side::Scalar((n + i) & 127));
                            if used.dwords == 2 {
                                pairs.insert((n + i) & 126);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        (sides, pairs, calls)
    }

    /// Follows the blocks of a loop from its header to the edges back and out.
    fn region(&mut self, l: &Loop, start: Point) -> Option<(Vec<(Pc, Point)>, Exits)> {
        let program = self.values.program;
        let order = forward_order(self.values, l);
        let mut arriving: Exits = BTreeMap::from([(l.header, vec![(NO_PC, start)])]);
        let (mut latches, mut exits) = (Vec::new(), Exits::new());
        for b in order {
            if self.bdd.overflow {
                return None;
            }
            let Some(points) = arriving.remove(&b) else { continue };
            let mut points = points.into_iter().map(|p| p.1);
            let mut point = points.next()?;
            for other in points {
                point = point.join(other, &mut self.header, &mut self.bdd);
            }
            let inner = program.cfg.loops.iter().find(|m| m.header == b && m.header != l.header);
            let leaving = match inner {
                Some(m) => self.inner(m, point)?,
                None => self.block(b, point),
            };
            for (to, points) in leaving {
                for (from, point) in points {
                    match point.impossible(&mut self.bdd) {
                        Some(Impossible::Always) => continue,
                        Some(Impossible::Lane(lane)) => {
                            self.dead.push((from, program.cfg.blocks[to].first, lane));
                            continue;
                        }
                        None => {}
                    }
                    if to == l.header {
                        latches.push((from, point));
                    } else if l.blocks.contains(&to) {
                        arriving.entry(to).or_default().push((from, point));
                    } else {
                        exits.entry(to).or_default().push((from, point));
                    }
                }
            }
        }
        Some((latches, exits))
    }

    /// An inner loop from its header: any of its rounds, then what leaves it. Masks it writes have only lanes that they had
    /// before or that were on, unless an edge back shows otherwise.
    fn inner(&mut self, m: &Loop, entry: Point) -> Option<Exits> {
        let (sides, pairs, calls) = self.writes(m);
        let mut entry = entry;
        let on = entry.mask(EXEC, &mut self.header, &mut self.bdd);
        let mut within: BTreeMap<u8, Fun> = BTreeMap::new();
        for &pair in &pairs {
            let before = entry.mask(pair, &mut self.header, &mut self.bdd);
            within.insert(pair, self.bdd.or(before, on));
        }
        if calls {
            within.clear();
        }
        self.depth += 1;
        let dead = self.dead.len();
        let result = loop {
            self.dead.truncate(dead);
            let mut start = entry.clone();
            start.scc = Scc::Unknown;
            if calls {
                start.lose();
            }
            for &side in &sides {
                start.set(side, vec![(TRUE, Sym::Unknown)]);
                if let Side::Scalar(n) = side {
                    start.forget_mask(n & 126);
                }
            }
            for &pair in &pairs {
                let any = self.bdd.fresh();
                let mask = within.get(&pair).map_or(any, |&w| self.bdd.and(any, w));
                start.set_mask(pair, mask);
            }
            let Some((latches, exits)) = self.region(m, start) else { break None };
            let mut broken = Vec::new();
            for (_, mut latch) in latches {
                for (&pair, &limit) in &within {
                    let mask = latch.mask(pair, &mut self.header, &mut self.bdd);
                    let here = self.bdd.and(latch.reach, mask);
                    if !self.bdd.implies(here, limit) {
                        broken.push(pair);
                    }
                }
            }
            if broken.is_empty() || self.bdd.overflow {
                break Some(exits);
            }
            broken.iter().for_each(|pair| _ = within.remove(pair));
        };
        self.depth -= 1;
        result.filter(|_| !self.bdd.overflow)
    }

    /// The instructions of a block, and what holds on each edge out of it.
    fn block(&mut self, b: usize, mut point: Point) -> Exits {
        let program = self.values.program;
        let Some(mut state) = self.values.at(b).cloned() else { return Exits::new() };
        for pc in program.cfg.pcs(b, &program.flow) {
            if matches!(program.flow.kind[pc as usize], FlowKind::Call { .. }) {
                point.lose();
            } else if let Some(inst) = program.ops[pc as usize].inst.as_ref() {
                self.instruction(inst, pc, &mut point, &state);
            }
            self.values.step(pc, &mut state);
        }
        let block = &program.cfg.blocks[b];
        let edges = values::branch(program, block.last, &block.succs);
        let inst = program.ops[block.last as usize].inst.as_ref();
        let Some((inst, (taken, other))) = inst.zip(edges) else {
            return block.succs.iter().map(|&s| (s, vec![(block.last, point.clone())])).collect();
        };
        if state.is_some(EXEC) {
            let exec = point.mask(EXEC, &mut self.header, &mut self.bdd);
            let on = self.bdd.and(point.reach, exec);
            point.exists.insert((on, Witness::On(block.last)));
        }
        let possible: BTreeSet<usize> = self.values.taken(b);
        let mut out = Exits::new();
        for (to, jump) in [(taken, true), (other, false)] {
            if !possible.contains(&to) {
                continue;
            }
            let mut point = point.clone();
            self.branch(inst, block.last, jump, &mut point);
            out.entry(to).or_default().push((block.last, point));
        }
        out
    }

    fn branch(&mut self, inst: &Inst, pc: Pc, jump: bool, point: &mut Point) {
        let vcc = point.mask(VCC, &mut self.header, &mut self.bdd);
        let exec = point.mask(EXEC, &mut self.header, &mut self.bdd);
        let truth = match inst.op {
            Op::SCbranchScc1 => point.scc,
            Op::SCbranchScc0 => self.inverse(point.scc),
            Op::SCbranchVccnz => Scc::Some(vcc),
            Op::SCbranchVccz => Scc::None(vcc),
            Op::SCbranchExecnz => Scc::Some(exec),
            Op::SCbranchExecz => Scc::None(exec),
            _ => Scc::Unknown,
        };
        match if jump { truth } else { self.inverse(truth) } {
            Scc::Unknown => {}
            Scc::Is(f) => point.reach = self.bdd.and(point.reach, f),
            Scc::Some(f) => {
                let some = self.bdd.and(point.reach, f);
                point.exists.insert((some, Witness::Branch(pc)));
            }
            Scc::None(f) => point.reach = self.bdd.without(point.reach, f),
        }
    }

    fn inverse(&mut self, scc: Scc) -> Scc {
        match scc {
            Scc::Unknown => Scc::Unknown,
            Scc::Is(f) => Scc::Is(self.bdd.not(f)),
            Scc::Some(f) => Scc::None(f),
            Scc::None(f) => Scc::Some(f),
        }
    }

    fn mask_of(&mut self, operand: Operand, point: &mut Point) -> Fun {
        match operand {
            Operand::InlineInt(0) => FALSE,
            Operand::InlineInt(-1) => TRUE,
            Operand::Sgpr(n) if n % 2 == 0 => point.mask(n, &mut self.header, &mut self.bdd),
            _ => self.bdd.fresh(),
        }
    }

    fn instruction(&mut self, inst: &Inst, pc: Pc, point: &mut Point, state: &State) {
        let exec = point.mask(EXEC, &mut self.header, &mut self.bdd);
        let cond = eval::comparison(inst);
        let values = self.result(inst, point, state, exec);
        let holds = (cond.is_some() || inst.entry().compare().is_some()).then(|| self.bdd.fresh());
        if let (Some(cond), Some(holds), 0) = (cond, holds, self.depth) {
            let of = |side: Side| (point.get(side), state.side(side));
            let argument = [cond.a, cond.b].into_iter().find_map(|s| match s {
                Side::Scalar(n) => state.scalars[usize::from(n & 127)].argument,
                _ => None,
            });
            let lanes = inst.entry().compare().is_some();
            let on = if lanes { exec } else { TRUE };
            self.compared.push(Compared { pc, holds, cond, on, a: of(cond.a), b: of(cond.b), argument });
        }
        let told = eval::not_zero(inst);
        if let (Some(cond), 0) = (told, self.depth) {
            let cases = values.clone().unwrap_or_else(|| vec![(TRUE, Sym::Unknown)]);
            let range = eval::arithmetic(inst, state).unwrap_or(Range::FULL);
            let zero = (vec![(TRUE, Sym::Unknown)], Range::exact(0));
            let holds = self.bdd.fresh();
            self.compared.push(Compared {
                pc,
                holds,
                cond,
                on: TRUE,
                a: (cases, range),
                b: zero,
                argument: None,
            });
        }
        let told = told.and_then(|_| self.compared.last()).filter(|_| self.depth == 0).map(|c| c.holds);
        let masks = self.masks(inst, point, exec, holds);
        let scc = self.scc(inst, point, holds.or(told), masks.as_ref().map(|m| m.1));
        for used in inst.uses().iter().filter(|u| u.write) {
            for i in 0..used.dwords {
                match used.operand {
                    Operand::Vgpr(n) => {
                        // Lanes that are off keep what they had.
                        let side = Side::Vector(n.saturating_add(i));
                        let old = point.get(side);
                        let on = if inst.op == Op::VWritelaneB32 { TRUE } else { exec };
                        let new = select(on, vec![(TRUE, Sym::Unknown)], old, &mut self.bdd);
                        point.set(side, new);
                    }
                    Operand::Sgpr(n) => {
                        point.set(Side::Scalar((n + i) & 127), vec![(TRUE, Sym::Unknown)]);
                        point.forget_mask((n + i) & 126);
                    }
                    _ => {}
                }
            }
        }
        point.scc = scc;
        if let (Some(cases), Some(side)) = (values, eval::side(inst.dst)) {
            point.set(side, cases);
        }
        if inst.sdst != NO_SDST {
            let carry = self.bdd.fresh();
            let carry = self.bdd.and(carry, exec);
            point.set_mask(inst.sdst & 126, carry);
        }
        if let Some((pairs, _)) = masks {
            pairs.into_iter().for_each(|(pair, f)| point.set_mask(pair, f));
        }
    }

    /// Pairs that get a mask, and the mask SCC tells of.
    fn masks(
        &mut self,
        inst: &Inst,
        point: &mut Point,
        exec: Fun,
        holds: Option<Fun>,
    ) -> Option<(Vec<(u8, Fun)>, Fun)> {
        let compare = inst.entry().compare();
        let Operand::Sgpr(dst) = inst.dst else { return None };
        if let (Some(compare), Some(holds)) = (compare, holds) {
            let found = self.bdd.and(exec, holds);
            let mut pairs = vec![(dst, found)];
            if compare.exec {
                pairs.push((EXEC, found));
            }
            return Some((pairs, found));
        }
        let wide = inst.entry().dst == Ty::B64 || inst.dst_dwords() == 2;
        if !wide || dst % 2 == 1 {
            return None;
        }
        let known = matches!(
            inst.op,
            Op::SMovB64
                | Op::SCmovB64
                | Op::SNotB64
                | Op::SCselectB64
                | Op::SAndB64
                | Op::SOrB64
                | Op::SXorB64
                | Op::SAndn2B64
                | Op::SOrn2B64
                | Op::SNandB64
                | Op::SNorB64
                | Op::SXnorB64
        );
        if !known && !eval::is_save(inst.op) {
            return None;
        }
        let (a, b) = (self.mask_of(inst.src[0], point), self.mask_of(inst.src[1], point));
        let bdd = &mut self.bdd;
        let new = match inst.op {
            Op::SMovB64 => a,
            Op::SNotB64 => bdd.not(a),
            Op::SAndB64 => bdd.and(a, b),
            Op::SOrB64 => bdd.or(a, b),
            Op::SXorB64 => bdd.xor(a, b),
            Op::SAndn2B64 => bdd.without(a, b),
            Op::SOrn2B64 => bdd.ite(b, a, TRUE),
            Op::SNandB64 => {
                let f = bdd.and(a, b);
                bdd.not(f)
            }
            Op::SNorB64 => {
                let f = bdd.or(a, b);
                bdd.not(f)
            }
            Op::SXnorB64 => {
                let f = bdd.xor(a, b);
                bdd.not(f)
            }
            Op::SCselectB64 => match point.scc {
                Scc::Is(f) => bdd.ite(f, a, b),
                _ => {
                    let f = bdd.fresh();
                    bdd.ite(f, a, b)
                }
            },
            Op::SCmovB64 => {
                let old = point.mask(dst, &mut self.header, bdd);
                let f = match point.scc {
                    Scc::Is(f) => f,
                    _ => bdd.fresh(),
                };
                bdd.ite(f, a, old)
            }
            Op::SAndSaveexecB64 => bdd.and(a, exec),
            Op::SOrSaveexecB64 => bdd.or(a, exec),
            Op::SXorSaveexecB64 => bdd.xor(a, exec),
            Op::SAndn2SaveexecB64 => bdd.without(a, exec),
            Op::SOrn2SaveexecB64 => bdd.ite(exec, a, TRUE),
            Op::SNandSaveexecB64 => {
                let f = bdd.and(a, exec);
                bdd.not(f)
            }
            Op::SNorSaveexecB64 => {
                let f = bdd.or(a, exec);
                bdd.not(f)
            }
            _ => {
                let f = bdd.xor(a, exec);
                bdd.not(f)
            }
        };
        match eval::is_save(inst.op) {
            true => Some((vec![(dst, exec), (EXEC, new)], new)),
            false => Some((vec![(dst, new)], new)),
        }
    }

    fn scc(&mut self, inst: &Inst, point: &mut Point, holds: Option<Fun>, mask: Option<Fun>) -> Scc {
        if !inst.uses().iter().any(|u| u.write && u.operand == Operand::Scc) {
            return point.scc;
        }
        let zero = |o: Operand| o == Operand::InlineInt(0);
        match (inst.op, holds, mask) {
            (Op::SCmpEqU64, ..) if zero(inst.src[1]) => Scc::None(self.mask_of(inst.src[0], point)),
            (Op::SCmpLgU64, ..) if zero(inst.src[1]) => Scc::Some(self.mask_of(inst.src[0], point)),
            (_, Some(f), None) => Scc::Is(f),
            (_, None, Some(mask)) => Scc::Some(mask),
            _ => Scc::Unknown,
        }
    }

    /// The new value of a 32-bit destination, if it can be told.
    fn result(&mut self, inst: &Inst, point: &mut Point, state: &State, exec: Fun) -> Option<Cases> {
        let wide = eval::summands(inst);
        if wide.is_none() && (inst.dst_dwords() != 1 || eval::arithmetic(inst, state).is_none()) {
            return None;
        }
        let dst = eval::side(inst.dst)?;
        let [a, b, _] = inst.src;
        let (a, b) = wide.unwrap_or((a, b));
        let value = |o: Operand| eval::side(o).map_or_else(|| vec![(TRUE, Sym::Unknown)], |s| point.get(s));
        let number = |o: Operand| eval::range(state, o);
        let fixed = |o: Operand| eval::side(o).is_some_and(|s| !self.written.contains(&s));
        let map = |cases: Cases, f: &dyn Fn(Sym) -> Sym| {
            cases.into_iter().map(|(g, s)| (g, f(s))).collect::<Cases>()
        };
        let plus = |x: Operand, y: Operand, sign: i64| {
            let r = number(y);
            let ends = [sign * i64::from(r.slo), sign * i64::from(r.shi)];
            map(value(x), &|s| s.add(ends[0].min(ends[1]), ends[0].max(ends[1])))
        };
        let shift = |x: Operand, n: Operand, left: bool| match number(n).constant() {
            Some(n) => map(value(x), &|s| s.shift(left, n & 31)),
            None => vec![(TRUE, Sym::Unknown)],
        };
        let k = i64::from(inst.imm as i16);
        let new = match inst.op {
            Op::SMovB32 | Op::VMovB32 => value(a),
            Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 if a == b => {
                map(value(a), &|s| s.shift(true, 1))
            }
            Op::VLshlAddU64 if a == b => return None,
            Op::SAddU32 | Op::SAddI32 | Op::VAddU32 | Op::VAddNcU32 | Op::VLshlAddU64 => {
                // What moves is a register; of two, the one that the loop writes.
                let register = |o: Operand| matches!(o, Operand::Vgpr(_) | Operand::Sgpr(_));
                let first = match register(a) && register(b) {
                    true if fixed(a) != fixed(b) => fixed(b),
                    true => number(b).constant().is_some(),
                    false => register(a),
                };
                if first { plus(a, b, 1) } else { plus(b, a, 1) }
            }
            Op::SSubU32 | Op::SSubI32 | Op::VSubU32 | Op::VSubNcU32 => plus(a, b, -1),
            Op::VSubrevU32 | Op::VSubrevNcU32 => plus(b, a, -1),
            Op::SAddkI32 => map(point.get(dst), &|s| s.add(k, k)),
            Op::SLshlB32 => shift(a, b, true),
            Op::SLshrB32 => shift(a, b, false),
            Op::SAshrI32 if number(a).slo >= 0 => shift(a, b, false),
            Op::VLshlrevB32 => shift(b, a, true),
            Op::VLshrrevB32 => shift(b, a, false),
            Op::VAshrrevI32 if number(b).slo >= 0 => shift(b, a, false),
            Op::SCselectB32 => {
                let (x, y) = (value(a), value(b));
                let which = match point.scc {
                    Scc::Is(f) => f,
                    _ => self.bdd.fresh(),
                };
                select(which, x, y, &mut self.bdd)
            }
            Op::VCndmaskB32 => {
                let (x, y) = (value(a), value(b));
                let which = self.mask_of(inst.src[2], point);
                select(which, y, x, &mut self.bdd)
            }
            _ => return None,
        };
        Some(match dst {
            Side::Vector(_) => {
                let old = point.get(dst);
                select(exec, new, old, &mut self.bdd)
            }
            _ => new,
        })
    }
}

/// Blocks of a loop so that each comes after what leads to it; of inner loops only the header.
fn forward_order(values: &Values, l: &Loop) -> Vec<usize> {
    let cfg = &values.program.cfg;
    let hidden = |b: usize| {
        cfg.loops.iter().any(|m| {
            m.header != l.header
                && l.blocks.contains(&m.header)
                && m.blocks.contains(&b)
                && m.header != b
                && !m.blocks.contains(&l.header)
        })
    };
    let inner = |b: usize| cfg.loops.iter().find(|m| m.header == b && b != l.header);
    let after = |b: usize| -> BTreeSet<usize> {
        let from: Vec<usize> = inner(b).map_or_else(|| vec![b], |m| m.blocks.iter().copied().collect());
        let skip = inner(b).map(|m| &m.blocks);
        from.iter()
            .flat_map(|&x| &cfg.blocks[x].succs)
            .copied()
            .filter(|s| {
                l.blocks.contains(s) && *s != l.header && !skip.is_some_and(|blocks| blocks.contains(s))
            })
            .collect()
    };
    let mut seen = BTreeSet::from([l.header]);
    let mut order = Vec::new();
    let mut stack = vec![(l.header, after(l.header).into_iter().collect::<Vec<_>>())];
    while let Some((b, mut rest)) = stack.pop() {
        match rest.pop() {
            Some(s) => {
                stack.push((b, rest));
                if !hidden(s) && seen.insert(s) {
                    stack.push((s, after(s).into_iter().collect()));
                }
            }
            None => order.push(b),
        }
    }
    order.reverse();
    order
}
