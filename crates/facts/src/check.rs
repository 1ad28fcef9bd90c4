//! Whether a bound can be computed for a kernel at all (wcet.md, pipeline 1): reducible flow, no jump to an unknown
//! place, a limit for every loop. Each "no" names the place and what to do; nothing is guessed.

use super::calls::{Calls, code_blocks};
use super::checksum::checksum;
use super::facts::FlowFacts;
use super::loops::{LoopView, loops};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;

/// Why the flow of a kernel cannot be bounded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FlowError {
    #[error("the flow is irreducible: the loop around {} can be entered at {}", entries[0], list(entries))]
    Irreducible {
        /// Entries of the cycle, as places.
        entries: Vec<String>,
    },
    #[error("{place} jumps through a register to a place that is not known: {text}")]
    Indirect { pc: Pc, place: String, text: String },
    #[error("{place} calls through a register and the function is not known: {text}")]
    UnknownCall { pc: Pc, place: String, text: String },
    #[error("{place} calls the function at {callee}, which can call itself again")]
    Recursion { pc: Pc, place: String, callee: String },
    #[error("the loop at {place} has no bound")]
    Unbounded {
        header: Pc,
        place: String,
        /// Lines for a facts file.
        toml: String,
        checksum: String,
        kernel: String,
    },
}

fn list(places: &[String]) -> String {
    match places {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => "several places".into(),
    }
}

impl FlowError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            FlowError::Irreducible { .. } => {
                "give the loop one entry: take out gotos into loops, or compile with `wavebound compile`, whose flags \
                 keep loops whole (no tail duplication)"
                    .into()
            }
            FlowError::Indirect { .. } => {
                "jump tables, tail calls and return addresses saved in memory cannot be followed. Inline the function: \
                 __attribute__((always_inline)), or let clang inline all calls with `-mllvm -amdgpu-function-calls=0` \
                 (`wavebound compile FILE -- OPTIONS`, or `extra` under [compile] in a launch file). Or compile with \
                 -O1 or more and -fno-jump-tables"
                    .into()
            }
            FlowError::UnknownCall { .. } => {
                "call functions by name, not through pointers, or inline them (__attribute__((always_inline)))".into()
            }
            FlowError::Recursion { .. } => "recursion has no bound here: write it as a loop".into(),
            FlowError::Unbounded { toml, checksum, kernel, .. } => format!(
                "write into a facts file, with the number of times the loop goes round at most:\n\n\
                 checksum = \"{checksum}\"\nkernel = \"{kernel}\"\n\n{toml}\n\n\
                 `wavebound facts` writes such a file for all loops of the kernel"
            ),
        }
    }
}

/// The calls of a program: direct ones, and those its loader could follow. A jump through a register is a return if it
/// stands in a function that is called, reads only what every call of it leaves as return address, and nothing in the
/// function writes that, or if what it reads is the return address again ([`super::returns`]).
pub fn calls_of<I: Isa>(program: &Program<I>) -> Calls {
    let mut calls = Calls::default();
    for (pc, kind) in program.flow.kind.iter().enumerate() {
        let pc = pc as Pc;
        if let FlowKind::Call { target, .. } = kind
            && let Some(target) = target.or_else(|| program.calls.get(&pc).copied())
            && program.cfg.block_at(pc).is_some()
            && program.cfg.block_at(target).is_some()
        {
            calls.targets.insert(pc, target);
        }
    }
    let facts = |pc: Pc| {
        let inst = program.ops[pc as usize].inst.as_ref()?;
        Some(program.isa.facts(inst, pc, program.flow.next[pc as usize]))
    };
    for (entry, from) in calls.callees() {
        let pcs: Vec<Pc> = program
            .cfg
            .reachable(program.cfg.block_at(entry))
            .into_iter()
            .flat_map(|b| program.cfg.pcs(b, &program.flow))
            .collect();
        let written: BTreeSet<u16> = pcs.iter().filter_map(|&pc| facts(pc)).flat_map(|f| f.writes).collect();
        let link = from
            .iter()
            .filter_map(|&pc| facts(pc))
            .map(|f| f.writes.into_iter().collect::<BTreeSet<u16>>())
            .reduce(|a, b| a.intersection(&b).copied().collect())
            .unwrap_or_default();
        let is_return = |pc: Pc| {
            let jump = matches!(program.flow.kind[pc as usize], FlowKind::Indirect { .. });
            jump && facts(pc)
                .is_some_and(|f| f.reads.iter().all(|r| link.contains(r) && !written.contains(r)))
        };
        let plain: Vec<Pc> = pcs.iter().copied().filter(|&pc| is_return(pc)).collect();
        calls.returns.extend(plain);
        let put_aside = super::returns::returns(program, &calls, entry, &from);
        calls.returns.extend(put_aside);
    }
    calls
}

/// `0x2650 (control.cl:12)`, or `0x2650 (pc 148)` without lines.
fn place<I: Isa>(program: &Program<I>, pc: Pc) -> String {
    let addr = program.linked(pc);
    match program.source_line(pc) {
        Some((file, line)) => format!("{addr:#x} ({file}:{line})"),
        None => format!("{addr:#x} (pc {pc})"),
    }
}

/// The kernel's flow is known and reducible.
pub fn analysable<I: Isa>(program: &Program<I>) -> Result<(), FlowError> {
    analysable_with(program, &calls_of(program))
}

/// The same with calls that are known already.
pub fn analysable_with<I: Isa>(program: &Program<I>, calls: &Calls) -> Result<(), FlowError> {
    let code = code_blocks(program, calls);
    for &b in &code {
        for pc in program.cfg.pcs(b, &program.flow) {
            let (place, text) = (place(program, pc), program.text_at(pc));
            match program.flow.kind[pc as usize] {
                FlowKind::Indirect { .. } if !calls.returns.contains(&pc) => {
                    return Err(FlowError::Indirect { pc, place, text });
                }
                FlowKind::Call { .. } if !calls.targets.contains_key(&pc) => {
                    return Err(FlowError::UnknownCall { pc, place, text });
                }
                _ => {}
            }
        }
    }
    recursion(program, calls)?;
    irreducible(program, &code)
}

fn recursion<I: Isa>(program: &Program<I>, calls: &Calls) -> Result<(), FlowError> {
    let body = |entry: Pc| program.cfg.reachable(program.cfg.block_at(entry));
    for (&pc, &callee) in &calls.targets {
        let mut seen = BTreeSet::new();
        let mut work = vec![callee];
        while let Some(entry) = work.pop() {
            if !seen.insert(entry) {
                continue;
            }
            let blocks = body(entry);
            let inside = |call: &Pc| program.cfg.block_at(*call).is_some_and(|b| blocks.contains(&b));
            work.extend(calls.targets.iter().filter(|(call, _)| inside(call)).map(|(_, &to)| to));
            if inside(&pc) {
                let callee = format!("{:#x}", program.linked(callee));
                return Err(FlowError::Recursion { pc, place: place(program, pc), callee });
            }
        }
    }
    Ok(())
}

/// Without edges back to a dominator no cycle is left, or the flow is irreducible.
fn irreducible<I: Isa>(program: &Program<I>, code: &BTreeSet<usize>) -> Result<(), FlowError> {
    let cfg = &program.cfg;
    let forward = |b: usize| cfg.blocks[b].succs.iter().copied().filter(move |&s| !cfg.dominates(s, b));
    // Blocks without a forward successor that is left cannot be on a cycle.
    let mut left: BTreeSet<usize> = code.clone();
    let mut preds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut degree: BTreeMap<usize, usize> = code.iter().map(|&b| (b, 0)).collect();
    for &b in code {
        for s in forward(b).filter(|s| code.contains(s)) {
            preds.entry(s).or_default().push(b);
            *degree.entry(b).or_default() += 1;
        }
    }
    let mut gone: Vec<usize> = degree.iter().filter(|d| *d.1 == 0).map(|d| *d.0).collect();
    while let Some(b) = gone.pop() {
        left.remove(&b);
        for p in preds.get(&b).into_iter().flatten() {
            if let Some(n) = degree.get_mut(p) {
                *n -= 1;
                gone.extend((*n == 0).then_some(*p));
            }
        }
    }
    // A block that comes back to itself is on a cycle; its cycle is what it reaches and is reached from.
    let reach = |from: usize| {
        let mut seen = BTreeSet::new();
        let mut work: Vec<usize> = forward(from).filter(|s| left.contains(s)).collect();
        while let Some(b) = work.pop() {
            if seen.insert(b) {
                work.extend(forward(b).filter(|s| left.contains(s)));
            }
        }
        seen
    };
    let Some(on) = left.iter().copied().find(|&b| reach(b).contains(&b)) else { return Ok(()) };
    let cycle: BTreeSet<usize> = reach(on).into_iter().filter(|&b| reach(b).contains(&on)).collect();
    let entered = |b: usize| {
        let outside = |p: &usize| !cycle.contains(p) && cfg.blocks[*p].succs.contains(&b);
        code.iter().any(outside) || cfg.block_at(program.entry) == Some(b)
    };
    let entries: Vec<usize> = cycle.iter().copied().filter(|&b| entered(b)).collect();
    let entries = if entries.is_empty() { vec![on] } else { entries };
    Err(FlowError::Irreducible {
        entries: entries.into_iter().map(|b| place(program, cfg.blocks[b].first)).collect(),
    })
}

/// Lines for a facts file that bound a loop, `N` to be replaced.
pub(super) fn toml_lines(l: &LoopView) -> String {
    format!("[[loop]]\nat = \"{:#x}\"\nmax = N\nwhy = \"…\"", l.addr)
}

/// Every loop of the kernel has a limit.
pub fn require_bounds<I: Isa>(
    program: &Program<I>,
    calls: &Calls,
    facts: &FlowFacts,
) -> Result<(), FlowError> {
    match loops(program, calls).into_iter().find(|l| facts.bound(l.header).is_none()) {
        None => Ok(()),
        Some(l) => Err(FlowError::Unbounded {
            header: l.header,
            place: l.place(),
            toml: toml_lines(&l),
            checksum: checksum(program, calls),
            kernel: program.kernel.clone(),
        }),
    }
}
