//! Proofs as data for the independent checker: what holds before every block, and the rule of every loop.

use super::found::{Found, NeverTaken};
use super::known::Known;
use super::range::{Range, Rel};
use super::state::{Cond, MaskCond, Pointer, Side, Space, State};
use super::values::Values;
use wb_flowproof::{
    Address, Comparison, Interval, Invariant, Launch, LoopProof, Moves, Proof, Reg, Said, Witness,
};

/// A launch as the checker reads it.
pub fn launch<'a>(known: &Known<'a>) -> Launch<'a> {
    Launch { arguments: known.kernarg, group: known.group, grid: known.grid }
}

pub fn proof<'a>(values: &Values, found: impl Iterator<Item = &'a Found>, never: &[NeverTaken]) -> Proof {
    let cfg = &values.program.cfg;
    let reached = (0..cfg.blocks.len()).filter_map(|b| Some((cfg.blocks[b].first, values.at(b)?)));
    Proof {
        blocks: reached.map(|(pc, state)| invariant(pc, state)).collect(),
        loops: found.map(loop_proof).collect(),
        never: never.iter().map(|n| (n.from, n.to)).collect(),
    }
}

fn loop_proof(found: &Found) -> LoopProof {
    let mut dead: Vec<(_, _, Witness)> = found.dead.clone();
    dead.sort_unstable();
    dead.dedup_by_key(|d| (d.0, d.1));
    let moves = found.moved.iter().filter_map(|m| {
        Some(Moves { register: reg(m.register)?, lo: m.lo, hi: m.hi, within: interval(m.within) })
    });
    LoopProof {
        header: found.fact.header,
        max: found.fact.max,
        rule: found.rule.clone(),
        witnesses: found.witnesses.clone(),
        dead,
        moves: moves.collect(),
    }
}

pub fn reg(side: Side) -> Option<Reg> {
    match side {
        Side::Scalar(n) => Some(Reg::S(n)),
        Side::Vector(n) => Some(Reg::V(n)),
        Side::Number(_) => None,
    }
}

fn interval(r: Range) -> Interval {
    Interval { u: (r.ulo, r.uhi), s: (r.slo, r.shi) }
}

fn invariant(pc: wb_isa::Pc, state: &State) -> Invariant {
    let known = |(n, r): (usize, Range)| (r != Range::FULL).then(|| (n as u8, interval(r)));
    let bits = |mask: u128| (0..128u8).filter(|n| mask >> n & 1 == 1).collect();
    let pointers = state.scalars.iter().enumerate();
    Invariant {
        pc,
        scalars: state.scalars.iter().map(|s| s.range).enumerate().filter_map(known).collect(),
        addresses: pointers.filter_map(|(n, s)| Some((n as u8, address(s.pointer?)))).collect(),
        on: state.on.iter().copied().enumerate().filter_map(known).collect(),
        off: state.off.iter().enumerate().filter_map(|(n, r)| known((n, (*r)?))).collect(),
        never_off: state.off.iter().enumerate().filter(|o| o.1.is_none()).map(|o| o.0 as u8).collect(),
        clean: bits(state.clean),
        some: bits(state.some),
        none: bits(state.none),
        scc: state.scc.map(comparison),
        carry: state.carry.map(address),
        masks: state.masks.iter().map(|(&n, m)| (n, said(m))).collect(),
    }
}

fn address(p: Pointer) -> Address {
    let space = match p.space {
        Space::Arguments => wb_flowproof::Space::Arguments,
        Space::Packet => wb_flowproof::Space::Packet,
    };
    Address { space, offset: p.offset, high: p.high }
}

fn comparison(c: Cond) -> Comparison {
    let side = |side: Side| match side {
        Side::Scalar(n) => wb_flowproof::Side::S(n),
        Side::Vector(n) => wb_flowproof::Side::V(n),
        Side::Number(v) => wb_flowproof::Side::Number(v),
    };
    let rel = match c.rel {
        Rel::Lt => wb_flowproof::Rel::Lt,
        Rel::Le => wb_flowproof::Rel::Le,
        Rel::Gt => wb_flowproof::Rel::Gt,
        Rel::Ge => wb_flowproof::Rel::Ge,
        Rel::Eq => wb_flowproof::Rel::Eq,
        Rel::Ne => wb_flowproof::Rel::Ne,
    };
    Comparison { rel, signed: c.signed, a: side(c.a), b: side(c.b) }
}

fn said(m: &MaskCond) -> Said {
    let list = |conds: &[Cond]| conds.iter().map(|&c| comparison(c)).collect();
    Said { yes: list(&m.yes), no: list(&m.no), yes_anywhere: m.yes_anywhere, no_anywhere: m.no_anywhere }
}
