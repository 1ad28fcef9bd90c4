//! Ranges of all registers before every block: forward over the control-flow graph from the kernel's entry, with
//! widening at loop headers, cut by the conditions of branches and by what is already proven about loops.

use super::eval::{self, EXEC, VCC};
use super::found::Clamps;
use super::known::{Known, SideCondition};
use super::range::Range;
use super::state::{Cond, MaskCond, Pointer, Scalar, Side, Space, State};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{Inst, Op};
use wb_isa::{FlowKind, Pc};
use wb_program::Program;

pub struct Values<'a> {
    pub program: &'a Program<Gcn3>,
    known: &'a Known<'a>,
    /// None where nothing can get to.
    before: Vec<Option<State>>,
    /// States on the ways out of each block, once somebody asked: they follow from the one before it.
    after: Vec<OnceCell<Vec<(usize, State)>>>,
    /// Ranges of a header's registers in every round, proven elsewhere.
    clamps: &'a Clamps,
}

/// Visits of a block before its bounds jump.
const PATIENCE: u32 = 3;
/// Work is given up beyond this many block visits per block.
const VISITS: usize = 64;

impl<'a> Values<'a> {
    /// None if it takes too long.
    pub fn compute(
        program: &'a Program<Gcn3>,
        known: &'a Known<'a>,
        entries: &[(usize, State)],
        clamps: &'a Clamps,
    ) -> Option<Values<'a>> {
        let blocks = program.cfg.blocks.len();
        let after = vec![OnceCell::new(); blocks];
        let mut values = Values { program, known, before: vec![None; blocks], after, clamps };
        let order = values.order(entries);
        let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let headers: BTreeSet<usize> = program.cfg.loops.iter().map(|l| l.header).collect();
        let stops = values.stops(&order);
        let mut visits = vec![0u32; blocks];
        let mut work: BTreeSet<usize> = BTreeSet::new();
        for (b, state) in entries {
            values.put(*b, state.clone(), &headers, &mut visits, &stops);
            work.extend(place.get(b));
        }
        let mut left = VISITS * order.len();
        while let Some(i) = work.pop_first() {
            left = left.checked_sub(1)?;
            for (s, state) in values.out(order[i]).to_vec() {
                if values.put(s, state, &headers, &mut visits, &stops) {
                    work.extend(place.get(&s));
                }
            }
        }
        for _ in 0..2 {
            let solution = values.before.clone();
            if !values.again(&order, entries) {
                break;
            }
            // What a condition says may be lost when ranges get smaller (one that cannot hold limits nothing), so one more
            // round need not lead to a solution.
            if !values.is_solution(&order, entries) {
                values.before = solution;
                values.after.fill(OnceCell::new());
                break;
            }
        }
        Some(values)
    }

    /// Whatever holds before a block is true of every state that arrives there.
    fn is_solution(&self, order: &[usize], entries: &[(usize, State)]) -> bool {
        let covers = |b: usize, mut state: State| {
            if !self.clamp(b, &mut state) {
                return true;
            }
            let Some(mut known) = self.before[b].clone() else { return false };
            !known.join(&state)
        };
        entries.iter().all(|(b, state)| covers(*b, state.clone()))
            && order.iter().all(|&b| self.out(b).iter().all(|(s, state)| covers(*s, state.clone())))
    }

    /// Blocks in reverse post-order.
    fn order(&self, entries: &[(usize, State)]) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut order = Vec::new();
        for (entry, _) in entries {
            let mut stack = vec![(*entry, 0)];
            seen.insert(*entry);
            while let Some((b, i)) = stack.pop() {
                match self.program.cfg.blocks[b].succs.get(i) {
                    Some(&s) => {
                        stack.push((b, i + 1));
                        if seen.insert(s) {
                            stack.push((s, 0));
                        }
                    }
                    None => order.push(b),
                }
            }
        }
        order.reverse();
        order
    }

    /// Numbers the code compares with, and those around: where widening stops.
    fn stops(&self, order: &[usize]) -> Vec<i64> {
        let mut stops =
            BTreeSet::from([-1, 0, 1, 31, 63, 255, 1023, 0xffff, 1 << 20, 1 << 24, 1 << 28, 1 << 30]);
        let mut add = |v: u32| {
            stops.extend([i64::from(v), i64::from(v as i32)].into_iter().flat_map(|v| [v - 1, v, v + 1]))
        };
        for &b in order {
            for pc in self.program.cfg.pcs(b, &self.program.flow) {
                let Some(inst) = self.inst(pc) else { continue };
                if let Some(cond) = eval::comparison(inst) {
                    for side in [cond.a, cond.b] {
                        if let Side::Number(v) = side {
                            add(v);
                        }
                    }
                }
            }
        }
        let arguments = self.known.kernarg.unwrap_or(&[]).chunks_exact(4).take(256);
        arguments.for_each(|w| add(u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
        self.known.group.iter().chain(&self.known.grid).for_each(|&n| add(n));
        stops.into_iter().collect()
    }

    /// A side condition that a test leaves out to show that it is needed.
    pub fn skips(&self, condition: SideCondition) -> bool {
        self.known.without == Some(condition)
    }

    fn inst(&self, pc: Pc) -> Option<&'a Inst> {
        self.program.ops[pc as usize].inst.as_ref()
    }

    /// Cuts a state that arrives at a block by what is proven about its registers there; false if nothing is left, so that
    /// no such state arrives. Of lanes that are on there may be none: then any range is right.
    fn clamp(&self, block: usize, state: &mut State) -> bool {
        for ((_, register), range) in
            self.clamps.range((block, Side::Scalar(0))..=(block, Side::Number(u32::MAX)))
        {
            match register {
                Side::Scalar(n) => {
                    let s = &mut state.scalars[usize::from(*n)];
                    let Some(cut) = s.range.meet(*range) else { return false };
                    s.range = cut;
                }
                Side::Vector(n) => {
                    let r = &mut state.on[usize::from(*n)];
                    *r = r.meet(*range).unwrap_or(*range);
                }
                Side::Number(_) => {}
            }
        }
        true
    }

    /// A state arrives at a block; whether more is possible there than before.
    fn put(
        &mut self,
        b: usize,
        mut state: State,
        headers: &BTreeSet<usize>,
        visits: &mut [u32],
        stops: &[i64],
    ) -> bool {
        if !self.clamp(b, &mut state) {
            return false;
        }
        let Some(old) = &self.before[b] else {
            self.set(b, Some(state));
            return true;
        };
        let mut new = old.clone();
        if !new.join(&state) {
            return false;
        }
        visits[b] += 1;
        if headers.contains(&b) && visits[b] > PATIENCE || visits[b] > 8 * PATIENCE {
            new.widen(old, stops);
            // Both were within already.
            _ = self.clamp(b, &mut new);
        }
        self.set(b, Some(new));
        true
    }

    fn set(&mut self, b: usize, state: Option<State>) {
        self.before[b] = state;
        self.after[b] = OnceCell::new();
    }

    /// One more round from what is a solution: it stays one and gets smaller. Whether anything changes.
    fn again(&mut self, order: &[usize], entries: &[(usize, State)]) -> bool {
        let mut changed = false;
        let mut from: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &p in order {
            let ways: BTreeSet<usize> = self.program.cfg.blocks[p].succs.iter().copied().collect();
            ways.into_iter().for_each(|s| from.entry(s).or_default().push(p));
        }
        for &b in order {
            let mut new: Option<State> = None;
            let mut add = |mut state: State| match &mut new {
                _ if !self.clamp(b, &mut state) => {}
                Some(all) => _ = all.join(&state),
                none => *none = Some(state),
            };
            entries.iter().filter(|e| e.0 == b).for_each(|e| add(e.1.clone()));
            for &p in from.get(&b).into_iter().flatten() {
                self.out(p).iter().filter(|o| o.0 == b).for_each(|o| add(o.1.clone()));
            }
            if self.before[b] != new {
                changed = true;
                self.set(b, new);
            }
        }
        changed
    }

    /// The state before a block.
    pub fn at(&self, block: usize) -> Option<&State> {
        self.before[block].as_ref()
    }

    /// One instruction, calls included.
    pub fn step(&self, pc: Pc, state: &mut State) {
        let Some(inst) = self.inst(pc) else { return };
        if matches!(self.program.flow.kind[pc as usize], FlowKind::Call { .. }) {
            *state = State::unknown();
        } else {
            eval::step(inst, state, self.known);
        }
    }

    /// The state after the last instruction of a block.
    pub fn end(&self, b: usize) -> Option<State> {
        let mut state = self.before[b].clone()?;
        for pc in self.program.cfg.pcs(b, &self.program.flow) {
            self.step(pc, &mut state);
        }
        Some(state)
    }

    /// Blocks that can follow a block.
    pub fn taken(&self, b: usize) -> BTreeSet<usize> {
        self.out(b).iter().map(|o| o.0).collect()
    }

    /// States on the edges out of a block that can be taken.
    pub fn out(&self, b: usize) -> &[(usize, State)] {
        self.after[b].get_or_init(|| self.ways(b))
    }

    fn ways(&self, b: usize) -> Vec<(usize, State)> {
        let Some(state) = self.end(b) else { return Vec::new() };
        let last = self.program.cfg.blocks[b].last;
        let succs = &self.program.cfg.blocks[b].succs;
        let edges = branch(self.program, last, succs);
        let Some((inst, taken, other)) = edges.and_then(|(t, o)| Some((self.inst(last)?, t, o))) else {
            return succs.iter().map(|&s| (s, state.clone())).collect();
        };
        [(taken, true), (other, false)]
            .into_iter()
            .filter_map(|(to, jump)| {
                let mut state = state.clone();
                assume_branch(inst, jump, &mut state, self.known.without).then_some((to, state))
            })
            .collect()
    }
}

/// Blocks a conditional branch goes to: where it jumps, and where it falls through.
pub fn branch(program: &Program<Gcn3>, last: Pc, succs: &[usize]) -> Option<(usize, usize)> {
    let target = match program.flow.kind[last as usize] {
        FlowKind::Branch(t) | FlowKind::MaskBranch { target: t, .. } => program.cfg.block_at(t)?,
        _ => return None,
    };
    let other = program.cfg.block_at(program.flow.next[last as usize])?;
    (target != other && succs.contains(&target) && succs.contains(&other)).then_some((target, other))
}

/// What a branch says on one of its ways; false if that way cannot be taken.
fn assume_branch(inst: &Inst, jump: bool, state: &mut State, without: Option<SideCondition>) -> bool {
    let anywhere = without == Some(SideCondition::LanesThatAreOff);
    let holds = |state: &mut State, conds: Vec<Cond>| conds.into_iter().all(|c| state.assume(c));
    match inst.op {
        Op::SCbranchScc1 | Op::SCbranchScc0 => {
            let yes = jump == (inst.op == Op::SCbranchScc1);
            let cond = state.scc.map(|c| if yes { c } else { c.not() });
            holds(state, cond.into_iter().collect())
        }
        Op::SCbranchVccnz | Op::SCbranchVccz => {
            let some = jump == (inst.op == Op::SCbranchVccnz);
            // A lane has its bit set: what that says about scalars holds, if it says so for lanes that are off, too.
            let known = state.masks.get(&VCC).filter(|m| m.yes_anywhere || anywhere);
            let mask: MaskCond = known.cloned().unwrap_or_default();
            if some {
                if state.is_none(VCC) {
                    return false;
                }
                state.some |= 1 << VCC;
                holds(state, mask.yes.into_iter().filter(Cond::is_uniform).collect())
            } else {
                // A lane that is on has no bit, if there is one.
                let lane = state.is_some(EXEC) || without == Some(SideCondition::SomeLane);
                let unset = state.masks.get(&VCC).filter(|_| lane).map(|m| m.no.clone()).unwrap_or_default();
                !state.is_some(VCC) && holds(state, unset.into_iter().filter(Cond::is_uniform).collect())
            }
        }
        Op::SCbranchExecnz | Op::SCbranchExecz => {
            if jump == (inst.op == Op::SCbranchExecnz) {
                state.some |= 1 << EXEC;
                true
            } else {
                // A wave that has no lane on cannot be where one is on for certain.
                !state.is_some(EXEC)
            }
        }
        _ => true,
    }
}

/// Registers as the launch leaves them (isa-gcn3.md, "SGPR order").
pub fn start(program: &Program<Gcn3>, known: &Known) -> State {
    let mut state = State::start();
    let setup = &program.isa.setup;
    let mut next = 0usize;
    let mut put = |wanted: bool, values: &[Scalar]| {
        if wanted {
            for value in values {
                if let Some(s) = state.scalars.get_mut(next).filter(|_| next < 102) {
                    *s = *value;
                }
                next += 1;
            }
        }
    };
    let pair = |space| {
        [false, true]
            .map(|high| Scalar { pointer: Some(Pointer { space, offset: 0, high }), ..Scalar::UNKNOWN })
    };
    let user = &setup.user;
    put(user.private_segment_buffer, &[Scalar::UNKNOWN; 4]);
    put(user.dispatch_ptr, &pair(Space::Packet));
    put(user.queue_ptr, &[Scalar::UNKNOWN; 2]);
    put(user.kernarg_ptr, &pair(Space::Arguments));
    put(user.dispatch_id, &[Scalar::UNKNOWN; 2]);
    put(user.flat_scratch_init, &[Scalar::UNKNOWN; 2]);
    put(user.private_segment_size, &[Scalar::UNKNOWN]);
    next = next.max(setup.user_sgprs as usize);
    for d in 0..3 {
        if setup.workgroup[d] {
            if let Some(s) = state.scalars.get_mut(next).filter(|_| next < 102) {
                *s = Scalar::new(known.group_ids(d));
            }
            next += 1;
        }
    }
    let dimensions = setup.work_item_dimensions.clamp(1, 3) as usize;
    if setup.packed_ids() {
        state.on[0] = known.packed_ids(dimensions);
    } else {
        (0..dimensions).for_each(|d| state.on[d] = known.item_ids(d));
    }
    state
}

/// Joined range of a register over states.
pub fn joined(states: &[State], register: Side) -> Option<Range> {
    states.iter().map(|s| s.side(register)).reduce(Range::join)
}
