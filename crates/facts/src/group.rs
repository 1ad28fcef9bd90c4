//! Branches that all waves of a group decide alike: what they ask depends on arguments, the launch, the group and constants only, and
//! the waves get there together. Proved bounds need it for barriers (docs/proved-bounds.md, lemma 7).
//!
//! Waves are to a group what lanes are to a wave, so this is divergence analysis one level up. A scalar register is *varying* if waves of a
//! group may find different values in it. Where waves part at a varying branch, everything written until they meet again varies. Waves
//! that never come to a barrier again are out of the game: ways to where no barrier is ahead do not count.

use crate::infer::state::Space;
use crate::infer::{self, Inferred, Known};
use crate::plain::plain;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::gcn3::isa::{FIRST_SCALAR, Gcn3, SCC};
use wb_isa::gcn3::{Op, Operand};
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;

/// Scalar registers, one bit each; the last is SCC.
type Scalars = u128;

/// VCC and EXEC as scalar registers.
const VCC: u16 = 106;
const EXEC: u16 = 126;
/// A number that no scalar register has.
const SCC_BIT: u16 = 125;

/// In larger kernels nothing is looked for.
const BLOCKS: usize = 400;

fn bit(register: u16) -> Option<Scalars> {
    match register {
        SCC => Some(1 << SCC_BIT),
        n if (FIRST_SCALAR..SCC).contains(&n) => Some(1 << (n - FIRST_SCALAR)),
        _ => None,
    }
}

/// Branches that all waves of a group decide alike.
pub fn group_branches(program: &Program<Gcn3>, known: &Known) -> BTreeSet<Pc> {
    let cfg = &program.cfg;
    let Some(entry) = cfg.block_at(program.entry) else { return BTreeSet::new() };
    let barriers: BTreeSet<usize> = cfg
        .reachable(Some(entry))
        .into_iter()
        .filter(|&b| program.flow.kind[cfg.blocks[b].last as usize] == FlowKind::Barrier)
        .collect();
    let ahead = cfg.reaching(&barriers);
    let reached = cfg.reachable(Some(entry));
    let blocks: Vec<usize> = reached.into_iter().filter(|&b| ahead[b]).collect();
    let ways: BTreeMap<usize, Vec<usize>> = blocks
        .iter()
        .map(|&b| (b, cfg.blocks[b].succs.iter().copied().filter(|&s| ahead[s]).collect()))
        .collect();
    let mut code = blocks.iter().flat_map(|&b| cfg.pcs(b, &program.flow));
    let named = code.all(|pc| program.ops[pc as usize].inst.as_ref().is_some_and(plain));
    if blocks.len() > BLOCKS || !ahead[entry] || !named {
        return BTreeSet::new();
    }
    Analysis { program, constant: constant_loads(program, known), blocks, ways }.alike(entry)
}

/// Scalar loads whose values are the same for all waves: of the arguments and the dispatch packet, which nobody writes.
fn constant_loads(program: &Program<Gcn3>, known: &Known) -> BTreeSet<Pc> {
    let cfg = &program.cfg;
    let found = infer::with_ranges(program, known, &Inferred::default(), |values, _, _| {
        let mut found = BTreeSet::new();
        for b in cfg.reachable(cfg.block_at(program.entry)) {
            let Some(mut state) = values.at(b).cloned() else { continue };
            for pc in cfg.pcs(b, &program.flow) {
                let inst = program.ops[pc as usize].inst.as_ref();
                let base = inst.filter(|i| is_scalar_load(i.op)).map(|i| i.src[0]);
                if let Some(Operand::Sgpr(n)) = base {
                    let pointer = state.scalars.get(usize::from(n)).and_then(|s| s.pointer);
                    if pointer.is_some_and(|p| matches!(p.space, Space::Arguments | Space::Packet) && !p.high)
                    {
                        found.insert(pc);
                    }
                }
                values.step(pc, &mut state);
            }
        }
        found
    });
    found.unwrap_or_default()
}

fn is_scalar_load(op: Op) -> bool {
    matches!(op, Op::SLoadDword | Op::SLoadDwordx2 | Op::SLoadDwordx4 | Op::SLoadDwordx8 | Op::SLoadDwordx16)
}

struct Analysis<'a> {
    program: &'a Program<Gcn3>,
    constant: BTreeSet<Pc>,
    /// Blocks with a barrier ahead, and the ways between them.
    blocks: Vec<usize>,
    ways: BTreeMap<usize, Vec<usize>>,
}

impl Analysis<'_> {
    fn alike(&self, entry: usize) -> BTreeSet<Pc> {
        let cfg = &self.program.cfg;
        // What varies where a block begins because waves parted before; grows until nothing changes.
        let mut parted: BTreeMap<usize, Scalars> = BTreeMap::new();
        let mut varying: BTreeSet<usize> = BTreeSet::new();
        loop {
            let before = self.solve(entry, &parted);
            let mut more = false;
            for &b in self.blocks.iter().filter(|b| self.ways[b].len() > 1) {
                let Some(&state) = before.get(&b) else { continue };
                if varying.contains(&b) || !self.decides_apart(b, state) {
                    continue;
                }
                varying.insert(b);
                more = true;
                let (region, meeting) = self.influence(b);
                let written = region.iter().fold(0, |all, &r| all | self.written(r));
                for at in region.iter().chain(&meeting) {
                    *parted.entry(*at).or_default() |= written;
                }
                // Inside, waves are not together: what is asked there decides nothing for all.
                varying.extend(region);
            }
            if !more {
                break;
            }
        }
        let alike = self.blocks.iter().filter(|b| self.ways[b].len() > 1 && !varying.contains(b));
        let mut found: BTreeSet<Pc> = alike.map(|&b| cfg.blocks[b].last).collect();
        // Branches of which one side has no barrier ahead, outside of regions where waves are apart.
        let before = self.solve(entry, &parted);
        for &b in &self.blocks {
            let leaves = cfg.blocks[b].succs.len() > 1 && self.ways[&b].len() == 1;
            if leaves && !varying.contains(&b) && before.get(&b).is_some_and(|&s| !self.decides_apart(b, s)) {
                found.insert(cfg.blocks[b].last);
            }
        }
        found
    }

    /// What varies where each block begins.
    fn solve(&self, entry: usize, parted: &BTreeMap<usize, Scalars>) -> BTreeMap<usize, Scalars> {
        let mut before: BTreeMap<usize, Scalars> = BTreeMap::from([(entry, self.start())]);
        let mut work = vec![entry];
        while let Some(b) = work.pop() {
            let state = before.get(&b).copied().unwrap_or(0) | parted.get(&b).copied().unwrap_or(0);
            let after = self.end(b, state);
            for &s in self.ways.get(&b).into_iter().flatten() {
                let old = before.get(&s).copied();
                let new = old.unwrap_or(0) | after | parted.get(&s).copied().unwrap_or(0);
                if old != Some(new) {
                    before.insert(s, new);
                    work.push(s);
                }
            }
        }
        before
    }

    /// At the start the arguments' addresses and the group's place are the same, everything else may vary.
    fn start(&self) -> Scalars {
        let setup = &self.program.isa.setup;
        let user = setup.user_sgprs as usize;
        let ids = setup.workgroup.iter().take(3).filter(|w| **w).count();
        let same = (user + ids).min(102);
        !((1u128 << same) - 1)
    }

    /// What varies behind the last instruction of a block but its branch.
    fn end(&self, b: usize, mut state: Scalars) -> Scalars {
        for pc in self.program.cfg.pcs(b, &self.program.flow) {
            state = self.step(pc, state);
        }
        state
    }

    fn step(&self, pc: Pc, state: Scalars) -> Scalars {
        let op = &self.program.ops[pc as usize];
        let Some(inst) = &op.inst else { return !0 };
        let mask = |list: &[u16]| list.iter().filter_map(|&r| bit(r)).fold(0, |all, b| all | b);
        let facts = self.program.isa.facts(inst, pc, op.next);
        let written = mask(&facts.writes);
        if written == 0 {
            return state;
        }
        let class = self.program.isa.classes()[usize::from(op.class)];
        let special = |o: &Operand| matches!(o, Operand::VccZ | Operand::ExecZ | Operand::LdsDirect);
        let same = match class {
            "salu" => {
                // What they read is not named in them.
                !matches!(inst.op, Op::SGetregB32 | Op::SMovrelsB32 | Op::SMovrelsB64)
                    && !inst.src.iter().any(special)
                    && facts.reads.iter().all(|&r| bit(r).is_some())
                    && mask(&facts.reads) & state == 0
            }
            "smem" => self.constant.contains(&pc) && mask(&facts.reads) & state == 0,
            _ => false,
        };
        let state = if same { state & !written } else { state | written };
        // EXEC differs between whole waves and the last one.
        state | 1 << EXEC | 1 << (EXEC + 1)
    }

    /// Waves may decide differently at the end of this block.
    fn decides_apart(&self, b: usize, state: Scalars) -> bool {
        let last = self.program.cfg.blocks[b].last;
        let state = self.end(b, state);
        let Some(inst) = &self.program.ops[last as usize].inst else { return true };
        match inst.op {
            Op::SCbranchScc0 | Op::SCbranchScc1 => state >> SCC_BIT & 1 == 1,
            Op::SCbranchVccz | Op::SCbranchVccnz => state >> VCC & 3 != 0,
            _ => true,
        }
    }

    fn written(&self, b: usize) -> Scalars {
        let pcs = self.program.cfg.pcs(b, &self.program.flow);
        let writes = pcs.iter().flat_map(|&pc| {
            let op = &self.program.ops[pc as usize];
            op.inst.as_ref().map_or(Vec::new(), |i| self.program.isa.facts(i, pc, op.next).writes)
        });
        writes.filter_map(bit).fold(0, |all, b| all | b)
    }

    /// Blocks that waves can be in after they parted at `b` and before they meet, and where they meet.
    fn influence(&self, b: usize) -> (BTreeSet<usize>, Option<usize>) {
        // The first block that is on all ways from b, among those with a barrier ahead: a barrier holds waves until all are there.
        let meeting = self.meeting(b);
        let mut region = BTreeSet::new();
        let mut work: Vec<usize> = self.ways[&b].clone();
        while let Some(x) = work.pop() {
            if Some(x) != meeting && region.insert(x) {
                work.extend(&self.ways[&x]);
            }
        }
        (region, meeting)
    }

    /// The nearest block that every way from `b` leads through.
    fn meeting(&self, b: usize) -> Option<usize> {
        let all = self.reach(b, None);
        let on_all = |x: &usize| {
            // Without x, no way from b goes on for ever or comes to an end.
            let without = self.reach(b, Some(*x));
            let ends = |y: &usize| self.ways[y].is_empty() && *y != *x;
            !without.iter().any(ends) && !self.has_cycle(&without)
        };
        let candidates: Vec<usize> = all.iter().copied().filter(|x| *x != b && on_all(x)).collect();
        // The one from which all other candidates are still ahead.
        candidates.iter().copied().find(|x| {
            let without = self.reach(b, Some(*x));
            candidates.iter().all(|c| c == x || !without.contains(c))
        })
    }

    /// Blocks behind `b` that can be reached without `but`.
    fn reach(&self, b: usize, but: Option<usize>) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut work: Vec<usize> = self.ways[&b].clone();
        while let Some(x) = work.pop() {
            if Some(x) != but && seen.insert(x) {
                work.extend(&self.ways[&x]);
            }
        }
        seen
    }

    fn has_cycle(&self, among: &BTreeSet<usize>) -> bool {
        let mut left = among.clone();
        loop {
            let done: Vec<usize> =
                left.iter().copied().filter(|x| self.ways[x].iter().all(|s| !left.contains(s))).collect();
            if done.is_empty() {
                return !left.is_empty();
            }
            done.iter().for_each(|x| _ = left.remove(x));
        }
    }
}
