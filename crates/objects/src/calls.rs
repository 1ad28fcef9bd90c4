//! Targets of GCN3 calls: code computes them from its own address (`s_getpc_b64`, `s_add_u32`, `s_addc_u32`), so they are
//! known when the pair that is called can be followed back to there on every way. Forward, until nothing changes.

use std::collections::BTreeMap;
use wb_isa::gcn3::isa::{FIRST_SCALAR, Gcn3};
use wb_isa::gcn3::{Inst, Op, Operand};
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;

/// Half of an address in the code, as a distance from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    offset: i64,
    high: bool,
}

/// Scalar registers that hold half an address, and the sum whose carry is in SCC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    halves: BTreeMap<u8, Half>,
    carry: Option<i64>,
}

impl State {
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        self.halves.retain(|r, h| other.halves.get(r) == Some(h));
        if self.carry != other.carry {
            self.carry = None;
        }
        *self != before
    }

    /// Distance of the address in a pair.
    fn address(&self, operand: Operand) -> Option<i64> {
        let Operand::Sgpr(n) = operand else { return None };
        let (low, high) = (self.halves.get(&n)?, self.halves.get(&(n + 1))?);
        let same = low.offset as u32 == high.offset as u32;
        (!low.high && high.high && same).then_some(high.offset)
    }
}

/// Calls and the pc each goes to, where that is known.
pub(crate) fn find(program: &Program<Gcn3>) -> BTreeMap<Pc, Pc> {
    let blocks = &program.cfg.blocks;
    if !program.flow.kind.iter().any(|k| matches!(k, FlowKind::Call { .. })) {
        return BTreeMap::new();
    }
    let roots = program.cfg.idom.iter().map(Option::is_none);
    let mut before: Vec<Option<State>> = roots.map(|root| root.then(State::default)).collect();
    let mut work: Vec<usize> = (0..blocks.len()).filter(|&b| before[b].is_some()).collect();
    let mut found = BTreeMap::new();
    while let Some(b) = work.pop() {
        let Some(mut state) = before[b].clone() else { continue };
        for pc in program.cfg.pcs(b, &program.flow) {
            step(program, pc, &mut state, &mut found);
        }
        for &s in &blocks[b].succs {
            let changed = match &mut before[s] {
                Some(old) => old.join(&state),
                none => {
                    *none = Some(state.clone());
                    true
                }
            };
            if changed {
                work.push(s);
            }
        }
    }
    found
}

fn step(program: &Program<Gcn3>, pc: Pc, state: &mut State, found: &mut BTreeMap<Pc, Pc>) {
    let Some(inst) = program.ops[pc as usize].inst.as_ref() else { return };
    let next = program.flow.next[pc as usize];
    if inst.op == Op::SSwappcB64 {
        let target = state.address(inst.src[0]).filter(|a| a % 4 == 0).and_then(|a| Pc::try_from(a / 4).ok());
        // Seen on another way with another target, or with none: unknown.
        match target.filter(|&t| program.cfg.block_at(t).is_some()) {
            Some(t) => _ = found.insert(pc, t),
            None => _ = found.remove(&pc),
        }
        let kept = target.and_then(|t| untouched(program, t));
        match kept {
            Some(written) => state.halves.retain(|&r, _| !written.contains(&r)),
            None => state.halves.clear(),
        }
        state.carry = None;
        return;
    }
    let new = result(inst, i64::from(next) * 4, state);
    let facts = program.isa.facts(inst, pc, next);
    for id in &facts.writes {
        match id.checked_sub(FIRST_SCALAR).and_then(|n| u8::try_from(n).ok()) {
            Some(128) => state.carry = None,
            Some(n) => _ = state.halves.remove(&n),
            None => {}
        }
    }
    if let (Some((halves, carry)), Operand::Sgpr(n)) = (new, inst.dst) {
        for (i, half) in halves.into_iter().enumerate() {
            state.halves.insert(n + i as u8, half);
        }
        state.carry = carry;
    }
}

/// What the instruction leaves in its destination, and the sum whose carry it leaves in SCC.
fn result(inst: &Inst, next: i64, state: &State) -> Option<(Vec<Half>, Option<i64>)> {
    let half = |o: Operand| match o {
        Operand::Sgpr(n) => state.halves.get(&n).copied(),
        _ => None,
    };
    let constant = |o: Operand| match o {
        Operand::InlineInt(v) => Some(i64::from(v) as u32),
        Operand::Literal(v) => Some(v),
        _ => None,
    };
    let [a, b, _] = inst.src;
    match inst.op {
        Op::SGetpcB64 => {
            Some((vec![Half { offset: next, high: false }, Half { offset: next, high: true }], state.carry))
        }
        Op::SMovB32 => Some((vec![half(a)?], state.carry)),
        Op::SMovB64 => {
            let Operand::Sgpr(n) = a else { return None };
            Some((vec![half(a)?, half(Operand::Sgpr(n + 1))?], state.carry))
        }
        Op::SAddU32 => {
            let (h, k) = half(a).zip(constant(b)).or_else(|| half(b).zip(constant(a)))?;
            let offset = h.offset.wrapping_add(k.into());
            (!h.high).then(|| (vec![Half { offset, high: false }], Some(offset)))
        }
        Op::SAddcU32 => {
            let (h, k) = half(a).zip(constant(b)).or_else(|| half(b).zip(constant(a)))?;
            let sum = state.carry?;
            // The carry belongs to this half if the low half was added to the same address.
            let same = h.high && sum.wrapping_sub(h.offset) >= 0 && sum.wrapping_sub(h.offset) < 1 << 32;
            same.then(|| (vec![Half { offset: sum.wrapping_add(i64::from(k) << 32), high: true }], None))
        }
        _ => None,
    }
}

/// Scalar registers that a function without calls writes; none if that cannot be told.
fn untouched(program: &Program<Gcn3>, entry: Pc) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    for b in program.cfg.reachable(program.cfg.block_at(entry)) {
        for pc in program.cfg.pcs(b, &program.flow) {
            if matches!(program.flow.kind[pc as usize], FlowKind::Call { .. }) {
                return None;
            }
            let inst = program.ops[pc as usize].inst.as_ref()?;
            let facts = program.isa.facts(inst, pc, program.flow.next[pc as usize]);
            written.extend(
                facts.writes.iter().filter_map(|id| u8::try_from(id.checked_sub(FIRST_SCALAR)?).ok()),
            );
        }
    }
    Some(written)
}
