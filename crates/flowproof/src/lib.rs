//! Checks proofs about the flow of GCN3 kernels: limits of loops and ways that are never taken (docs/facts.md, "The
//! calculus"). It shares no code with the prover in `program::facts::infer`: values are checked to be an invariant instead of
//! being computed, and a round of a loop is followed state by state instead of by decision diagrams.

mod code;
mod count;
mod explore;
mod facts;
mod format;
mod graph;
mod interval;
mod lane;
mod live;
pub mod taint;
mod transfer;

pub use code::{Code, Launch, Refused};
pub use format::{
    Address, Bits, Comparison, Counted, Form, Invariant, LoopProof, Moves, Proof, Reg, Rel, Rule, Said, Side,
    Space, Witness,
};
pub use interval::Interval;

use explore::Explorer;
use facts::{EXEC, Facts, Sources};
use graph::{Graph, Looped};
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::gcn3::isa::Setup;
use wb_isa::gcn3::{Inst, Op, Operand};
use wb_isa::{FlowKind, Pc};

/// What was found: the loops whose limit holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Headers and limits that were verified.
    pub loops: BTreeMap<Pc, u64>,
    /// Loops whose limit was not, and why.
    pub refused: Vec<(Pc, Refused)>,
}

/// Facts on the ways into a block: where from, and what holds.
type Arrivals = BTreeMap<Pc, Vec<(Option<Pc>, Facts)>>;

/// Checks a proof. Everything rests on what is claimed before each block, so an error there refuses all of it.
///
/// Why it is no circle that limits rest on claims and claims on limits: take the first moment of an execution at which a
/// claim fails or a loop goes round too often. A limit is shown from claims about earlier moments, a claim about a header
/// from the claims before and from the number of rounds so far, which is within the limit.
pub fn check(code: &Code, launch: &Launch, proof: &Proof) -> Result<Checked, Refused> {
    let claims: BTreeMap<Pc, Facts> = proof.blocks.iter().map(|b| (b.pc, Facts::from_claim(b))).collect();
    let firsts: BTreeSet<Pc> = claims.keys().copied().collect();
    if claims.len() != proof.blocks.len() {
        return Err(Refused::Code { pc: code.entry });
    }
    let mut graph = Graph::new(code, &firsts).ok_or(Refused::Code { pc: code.entry })?;
    let (arrivals, sources) = follow(&mut graph, launch, &claims)?;
    for &(from, to) in &proof.never {
        if graph.feasible.contains(&(from, to)) {
            return Err(Refused::Taken { from, to });
        }
    }
    let mut checked = Checked::default();
    for one in &proof.loops {
        match check_loop(&graph, launch, one, &arrivals, &sources) {
            Ok(()) => _ = checked.loops.insert(one.header, one.max),
            // Claims at the header rest on it.
            Err(refused) if !one.moves.is_empty() => return Err(refused),
            Err(refused) => checked.refused.push((one.header, refused)),
        }
    }
    let moves: BTreeMap<Pc, &[Moves]> = proof.loops.iter().map(|l| (l.header, l.moves.as_slice())).collect();
    for (to, all) in &arrivals {
        for (from, facts) in all {
            let mut facts = facts.clone();
            let mut arrives = true;
            for m in moves.get(to).copied().unwrap_or(&[]) {
                match m.register {
                    Reg::S(n) => {
                        let i = &mut facts.s[usize::from(n & 127)];
                        *i = i.and_also(m.within);
                        arrives &= !i.is_empty();
                    }
                    // If nothing is left no lane is on, and anything is true of the lanes that are.
                    Reg::V(n) => {
                        let i = &mut facts.on[usize::from(n)];
                        *i = i.and_also(m.within);
                    }
                }
            }
            // A scalar that cannot have any value: no wave gets here this way.
            if !arrives {
                continue;
            }
            if let Some(what) = facts.misses(&claims[to]) {
                return Err(Refused::Invariant { from: from.unwrap_or(code.entry), to: *to, what });
            }
        }
    }
    Ok(checked)
}

/// What holds on every way between blocks, if the claims hold before them.
fn follow(
    graph: &mut Graph,
    launch: &Launch,
    claims: &BTreeMap<Pc, Facts>,
) -> Result<(Arrivals, Sources), Refused> {
    let code = graph.code;
    let mut arrivals = Arrivals::new();
    let mut sources = Sources::default();
    if !claims.contains_key(&code.entry) {
        return Err(Refused::Code { pc: code.entry });
    }
    arrivals.entry(code.entry).or_default().push((None, start(code.setup, launch)));
    let blocks: Vec<(Pc, Pc)> = graph.blocks.iter().map(|(&a, &b)| (a, b)).collect();
    for (first, last) in blocks {
        let mut facts = claims[&first].clone();
        let mut pc = first;
        loop {
            if let FlowKind::Call { .. } = graph.kind(pc) {
                let target = code.calls.get(&pc).ok_or(Refused::Flow { pc })?;
                if !claims.contains_key(target) {
                    return Err(Refused::Unlisted { from: pc, to: *target });
                }
                arrivals.entry(*target).or_default().push((None, Facts::nothing()));
                facts = Facts::nothing();
            } else if let Some(inst) = graph.inst(pc) {
                if !covered(inst) {
                    return Err(Refused::Flow { pc });
                }
                let ranges = inst.src.map(|o| transfer::source(&facts, o));
                let ranges = match transfer::comparison(inst) {
                    Some(c) => [facts.side(c.a), facts.side(c.b), ranges[2]],
                    None => ranges,
                };
                sources.ranges.insert(pc, (ranges, facts.is_some(EXEC)));
                transfer::step(inst, &mut facts, launch);
            }
            if pc == last {
                break;
            }
            pc = graph.next(pc);
        }
        for (to, jump) in graph.all_ways(last).ok_or(Refused::Flow { pc: last })? {
            let mut facts = facts.clone();
            let taken = match (jump, graph.inst(last)) {
                (Some(jump), Some(inst)) => transfer::take(inst, jump, &mut facts),
                _ => true,
            };
            if !taken {
                continue;
            }
            if !claims.contains_key(&to) {
                return Err(Refused::Unlisted { from: last, to });
            }
            graph.feasible.insert((last, to));
            arrivals.entry(to).or_default().push((Some(last), facts));
        }
    }
    Ok((arrivals, sources))
}

/// Instructions that name every register they write.
fn covered(inst: &Inst) -> bool {
    let indexed = matches!(
        inst.op,
        Op::SMovreldB32
            | Op::SMovreldB64
            | Op::VMovreldB32
            | Op::VMovrelsdB32
            | Op::SSetGprIdxOn
            | Op::SSetGprIdxIdx
            | Op::SSetGprIdxMode
            | Op::SSetvskip
            | Op::SCbranchGFork
            | Op::SCbranchIFork
            | Op::SCbranchJoin
            | Op::SRfeB64
            | Op::SRfeRestoreB64
    );
    let mode = matches!(inst.op, Op::SSetregB32 | Op::SSetregImm32B32) && {
        let (id, first, count) = wb_isa::gcn3::hwreg_fields(inst.imm);
        id == 1 && first + count > 27
    };
    !indexed && !mode && !inst.is_later() && !inst.src.contains(&Operand::LdsDirect)
}

/// Registers as a launch leaves them: user registers in the order of the descriptor, group ids, work-item ids.
fn start(setup: &Setup, launch: &Launch) -> Facts {
    let mut facts = Facts::nothing();
    facts.off = vec![None; 256];
    (facts.clean, facts.some) = (1 << EXEC, 1 << EXEC);
    let user = &setup.user;
    let mut at = 0usize;
    for (wanted, size, space) in [
        (user.private_segment_buffer, 4, None),
        (user.dispatch_ptr, 2, Some(Space::Packet)),
        (user.queue_ptr, 2, None),
        (user.kernarg_ptr, 2, Some(Space::Arguments)),
        (user.dispatch_id, 2, None),
        (user.flat_scratch_init, 2, None),
        (user.private_segment_size, 1, None),
    ] {
        if !wanted {
            continue;
        }
        if let Some(space) = space {
            for high in [false, true] {
                let n = at + usize::from(high);
                if n < 102 {
                    facts.address[n] = Some(Address { space, offset: 0, high });
                }
            }
        }
        at += size;
    }
    at = at.max(setup.user_sgprs as usize);
    for d in 0..3 {
        if setup.workgroup[d] {
            let (grid, group) = (launch.grid[d], launch.group[d]);
            if at < 102 && grid != 0 && group != 0 {
                facts.s[at] = Interval::unsigned(0, grid.div_ceil(group) - 1);
            }
            at += 1;
        }
    }
    let mut packed = 0;
    for d in 0..setup.work_item_dimensions.clamp(1, 3) as usize {
        let size = if launch.group[d] == 0 { 1024 } else { launch.group[d] };
        // Later machines have all of them in one register, ten bits each.
        if setup.packed_ids() {
            packed += (size - 1).min(1023) << (10 * d);
            facts.on[0] = Interval::unsigned(0, packed);
        } else {
            facts.on[d] = Interval::unsigned(0, size - 1);
        }
    }
    facts
}

fn check_loop(
    graph: &Graph,
    launch: &Launch,
    one: &LoopProof,
    arrivals: &Arrivals,
    sources: &Sources,
) -> Result<(), Refused> {
    let header = one.header;
    // A loop that is never reached never goes round.
    let Some(looped) = graph.loops.iter().find(|l| l.header == header) else {
        return match graph.blocks.contains_key(&header) && one.rule != Rule::Straight {
            true => Err(Refused::NoLoop { header }),
            false => Ok(()),
        };
    };
    let entering: Vec<&Facts> = arrivals
        .get(&header)
        .into_iter()
        .flatten()
        .filter(|(from, _)| from.is_none_or(|pc| !looped.pcs.contains(&pc)))
        .map(|a| &a.1)
        .collect();
    if entering.is_empty() {
        return Ok(());
    }
    Explorer::new(graph, looped, one, sources)?.run()?;
    match &one.rule {
        Rule::Straight => {}
        Rule::Bits(bits) => check_bits(graph, launch, looped, one, bits, &entering)?,
        Rule::Counted(c) => check_count(graph, looped, one, c, &entering, sources)?,
    }
    for m in &one.moves {
        let first = first(&entering, m.register);
        let max = i128::from(one.max);
        let (low, high) = ((i128::from(m.lo) * max).min(0), (i128::from(m.hi) * max).max(0));
        let signed = (i128::from(first.s.0) + low, i128::from(first.s.1) + high);
        let unsigned = (i128::from(first.u.0) + low, i128::from(first.u.1) + high);
        let mut all = Interval::ANY;
        if let (Ok(lo), Ok(hi)) = (i32::try_from(signed.0), i32::try_from(signed.1)) {
            all = all.and_also(Interval::signed(lo, hi));
        }
        if let (Ok(lo), Ok(hi)) = (u32::try_from(unsigned.0), u32::try_from(unsigned.1)) {
            all = all.and_also(Interval::unsigned(lo, hi));
        }
        if !all.inside(m.within) {
            return Err(Refused::Moves { header });
        }
    }
    Ok(())
}

/// What a register holds when the loop is entered; for a register of lanes, in lanes that are on.
fn first(entering: &[&Facts], register: Reg) -> Interval {
    let one = |f: &&Facts| match register {
        Reg::S(n) => f.s[usize::from(n & 127)],
        Reg::V(n) => f.on[usize::from(n)],
    };
    entering.iter().map(one).reduce(Interval::or_else).unwrap_or(Interval::ANY)
}

fn check_count(
    graph: &Graph,
    looped: &Looped,
    one: &LoopProof,
    c: &Counted,
    entering: &[&Facts],
    sources: &Sources,
) -> Result<(), Refused> {
    let header = one.header;
    let inner = |l: &&Looped| l.header != header && looped.blocks.contains(&l.header);
    let repeated = graph.loops.iter().filter(inner).any(|l| l.pcs.contains(&c.test));
    let inst = graph.inst(c.test).filter(|_| looped.pcs.contains(&c.test) && !repeated);
    let Some(inst) = inst else { return Err(Refused::Code { pc: c.test }) };
    let compared = transfer::comparison(inst);
    let (rel, signed, other) = match compared {
        Some(x) => (x.rel, x.signed, sources.range(c.test, usize::from(!c.second))),
        None if transfer::tells_not_zero(inst.op) => (Rel::Ne, false, Interval::just(0)),
        None => return Err(Refused::Code { pc: c.test }),
    };
    let rel = if c.truth { rel } else { rel.opposite() };
    let rel = if c.second { rel.mirrored() } else { rel };
    let test = count::Test {
        counter: first(entering, c.counter),
        tested: c.tested,
        step: c.step,
        rel,
        signed,
        other,
        fixed: c.fixed,
    };
    match count::at_most(&test, one.max) {
        true => Ok(()),
        false => Err(Refused::Count { header, max: one.max }),
    }
}

/// The three instructions stand in one block in this order, pass their results on, and nothing else writes the mask.
fn check_bits(
    graph: &Graph,
    launch: &Launch,
    looped: &Looped,
    one: &LoopProof,
    bits: &Bits,
    entering: &[&Facts],
) -> Result<(), Refused> {
    let header = one.header;
    let wrong = Refused::Code { pc: bits.clear };
    let all = [bits.find, bits.shift, bits.clear];
    let [Some(find), Some(shift), Some(clear)] = all.map(|pc| graph.inst(pc)) else { return Err(wrong) };
    let mask = Operand::Sgpr(bits.pair);
    let (Operand::Sgpr(index), Operand::Sgpr(bit)) = (find.dst, shift.dst) else { return Err(wrong) };
    let shapes = find.op == Op::SFf1I32B64
        && find.src[0] == mask
        && shift.op == Op::SLshlB64
        && shift.src[0] == Operand::InlineInt(1)
        && shift.src[1] == find.dst
        && clear.op == Op::SAndn2B64
        && clear.dst == mask
        && clear.src[0] == mask
        && clear.src[1] == shift.dst;
    let writes = |pc: Pc, first: u8, count: u8| {
        graph.writes(pc).iter().any(|r| matches!(r, Reg::S(n) if (first..first + count).contains(n)))
    };
    // From the first of them to the last, straight on.
    let mut pc = bits.find;
    let mut after_shift = false;
    let mut straight = shapes && looped.pcs.contains(&pc);
    while straight && pc != bits.clear {
        straight &= !graph.ends(pc);
        pc = graph.next(pc);
        straight &= match pc {
            _ if pc == bits.shift => {
                after_shift = true;
                true
            }
            _ if pc == bits.clear => after_shift,
            _ => !(writes(pc, index, 1) || writes(pc, bits.pair, 2) || after_shift && writes(pc, bit, 2)),
        };
    }
    let writers = looped.pcs.iter().filter(|&&pc| writes(pc, bits.pair, 2)).count();
    let calls = looped.pcs.iter().any(|&pc| matches!(graph.kind(pc), FlowKind::Call { .. }));
    if !straight || writers != 1 || calls {
        return Err(wrong);
    }
    let clean = entering.iter().all(|f| f.is_clean(bits.pair));
    let most = if clean { launch.lanes() } else { 64 };
    match one.max + 1 >= most {
        true => Ok(()),
        false => Err(Refused::Count { header, max: one.max }),
    }
}
