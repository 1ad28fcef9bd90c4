//! A kernel as blocks with text: what `wavebound cfg` prints and the report of a bound draws on (wcet.md, pipeline 1).
//! A control-flow graph needs no launch, so programs are loaded without arguments.

mod kernel_graph;
mod show;

pub use kernel_graph::{Block, CallJson, Edge, Instruction, KernelGraph, LoopJson, RegionJson, Tree};
pub use show::{dot, svg, text};

use crate::error::ReportError;
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{self as facts, Calls, LoopView};
use wb_isa::{FlowKind, Isa, NO_PC, Pc};
use wb_program::cfg::LOOP_LIMIT;
use wb_program::{Program, Region, RegionKind};

/// Source place of an instruction as `file:line`.
fn source<I: Isa>(program: &Program<I>, pc: Pc) -> String {
    program.source_line(pc).map_or_else(String::new, |(file, line)| format!("{file}:{line}"))
}

struct Builder<'a, I: Isa> {
    program: &'a Program<I>,
    calls: Calls,
    /// Number of each block of the program that the kernel can reach, in order of address.
    numbers: BTreeMap<usize, usize>,
}

impl<I: Isa> Builder<'_, I> {
    fn number(&self, block: Option<usize>) -> Option<usize> {
        self.numbers.get(&block?).copied()
    }

    fn at(&self, pc: Pc) -> Option<usize> {
        self.number(self.program.cfg.block_at(pc))
    }

    fn block(&self, index: usize, number: usize) -> Block {
        let (program, cfg) = (self.program, &self.program.cfg);
        let instructions: Vec<Instruction> = cfg
            .pcs(index, &program.flow)
            .into_iter()
            .map(|pc| Instruction {
                pc,
                addr: program.linked(pc),
                text: program.text_at(pc),
                source: source(program, pc),
            })
            .collect();
        let mut lines: Vec<String> = Vec::new();
        for i in instructions.iter().filter(|i| !i.source.is_empty()) {
            if !lines.contains(&i.source) {
                lines.push(i.source.clone());
            }
        }
        let b = &cfg.blocks[index];
        Block {
            number,
            first: b.first,
            last: b.last,
            addr: program.linked(b.first),
            label: program.label_at(b.first).unwrap_or_default().to_owned(),
            lines,
            dominator: self.number(cfg.idom[index]),
            post_dominator: self.number(cfg.ipdom[index]),
            inner: cfg.inner[index].and_then(|l| self.number(Some(cfg.loops[l].header))),
            instructions,
        }
    }

    fn edges(&self, index: usize) -> Vec<Edge> {
        let (program, cfg) = (self.program, &self.program.cfg);
        let b = &cfg.blocks[index];
        let kind = program.flow.kind[b.last as usize];
        let next = cfg.block_at(program.flow.next[b.last as usize]);
        let on = match kind {
            FlowKind::Branch(_) if program.isa.name() == "gcn3" => "scalar",
            FlowKind::Branch(_) => "lanes",
            FlowKind::MaskBranch { .. } => "mask",
            FlowKind::MaskNonZero | FlowKind::PopMask | FlowKind::BranchPush { .. } => "stack",
            FlowKind::Indirect { conditional: true } | FlowKind::Exit { conditional: true } => "lanes",
            _ => "always",
        };
        let edge = |&to: &usize| {
            let back = cfg.dominates(to, index);
            let way = if Some(to) == next && !matches!(kind, FlowKind::Jump(_)) { "next" } else { "taken" };
            Some(Edge { from: self.number(Some(index))?, to: self.number(Some(to))?, way, on, back })
        };
        b.succs.iter().filter_map(edge).collect()
    }

    fn a_loop(&self, view: &LoopView) -> Option<LoopJson> {
        let l = &self.program.cfg.loops[view.index];
        let latches: BTreeSet<usize> = view.latches.iter().filter_map(|&pc| self.at(pc)).collect();
        Some(LoopJson {
            header: self.number(Some(l.header))?,
            pc: view.header,
            addr: view.addr,
            source: view.source.as_ref().map_or_else(String::new, |(file, line)| format!("{file}:{line}")),
            depth: view.depth,
            parent: view.parent.and_then(|pc| self.at(pc)),
            blocks: l.blocks.iter().filter_map(|&b| self.number(Some(b))).collect(),
            latches: latches.into_iter().collect(),
        })
    }

    fn region(&self, r: &Region) -> Option<RegionJson> {
        let known = (r.reconverge != NO_PC).then_some(r.reconverge);
        Some(RegionJson {
            block: self.at(r.branch)?,
            pc: r.branch,
            addr: self.program.linked(r.branch),
            kind: match r.kind {
                RegionKind::If => "if",
                RegionKind::Else => "else",
                RegionKind::Loop => "loop",
                RegionKind::Unsaved => "unsaved",
            },
            serialise: r.serialise.and_then(|pc| self.at(pc)),
            reconverge: known.and_then(|pc| self.at(pc)),
            reconverge_pc: known,
            markable: r.markable(),
            ends: r.ends.is_some(),
            why: r.why,
        })
    }

    /// Blocks between a branch and the place where its lanes are together again.
    fn between(&self, r: &Region) -> BTreeSet<usize> {
        let cfg = &self.program.cfg;
        let (Some(from), Some(to)) = (cfg.block_at(r.branch), cfg.block_at(r.reconverge)) else {
            return BTreeSet::new();
        };
        let mut seen = BTreeSet::from([from, to]);
        let mut work = cfg.blocks[from].succs.clone();
        while let Some(b) = work.pop() {
            if seen.insert(b) {
                work.extend(&cfg.blocks[b].succs);
            }
        }
        seen.remove(&from);
        seen.remove(&to);
        seen
    }

    fn tree(&self, entry: usize) -> Result<Tree, ReportError> {
        let cfg = &self.program.cfg;
        let mut items: Vec<(&'static str, usize, BTreeSet<usize>)> = Vec::new();
        let number = |set: &BTreeSet<usize>| set.iter().filter_map(|&b| self.number(Some(b))).collect();
        for l in &cfg.loops {
            if let Some(header) = self.number(Some(l.header)) {
                items.push(("loop", header, number(&l.blocks)));
            }
        }
        let mut held = 0;
        for r in self.program.flow.regions.iter().filter(|r| r.structured) {
            let blocks: BTreeSet<usize> = number(&self.between(r));
            held += blocks.len();
            if held > LOOP_LIMIT {
                return Err(ReportError::Nested { name: self.program.name.clone(), limit: LOOP_LIMIT });
            }
            if let Some(block) = self.at(r.branch).filter(|_| !blocks.is_empty()) {
                items.push(("region", block, blocks));
            }
        }
        // From large to small: the parent is the smallest that holds all of it.
        items.sort_by_key(|(kind, block, blocks)| (std::cmp::Reverse(blocks.len()), *block, *kind));
        let all: BTreeSet<usize> = (0..self.numbers.len()).collect();
        let mut nodes = vec![("kernel", entry, all)];
        let mut children = vec![Vec::new()];
        // Nodes around each block, from large to small: only these can hold an item with that block.
        let mut around = vec![vec![0]; self.numbers.len()];
        for item in items {
            let some = item.2.first().map_or(&[][..], |&b| &around[b]);
            let holds = |&&n: &&usize| item.2.is_subset(&nodes[n].2);
            let parent = some.iter().rev().find(holds).copied().unwrap_or(0);
            children[parent].push(nodes.len());
            item.2.iter().for_each(|&b| around[b].push(nodes.len()));
            children.push(Vec::new());
            nodes.push(item);
        }
        Ok(grow(0, &nodes, &children))
    }
}

fn grow(at: usize, nodes: &[(&'static str, usize, BTreeSet<usize>)], below: &[Vec<usize>]) -> Tree {
    let mut own = nodes[at].2.clone();
    let mut children = Vec::new();
    for &child in &below[at] {
        nodes[child].2.iter().for_each(|b| _ = own.remove(b));
        children.push(grow(child, nodes, below));
    }
    children.sort_by_key(|c| c.block);
    Tree { kind: nodes[at].0, block: nodes[at].1, blocks: own.into_iter().collect(), children }
}

/// The graph of a kernel and the functions it calls.
pub fn graph<I: Isa>(program: &Program<I>, file: &str) -> Result<KernelGraph, ReportError> {
    let calls = facts::calls_of(program);
    let mut code: Vec<usize> = facts::code_blocks(program, &calls).into_iter().collect();
    code.sort_by_key(|&b| program.cfg.blocks[b].first);
    let numbers = code.iter().enumerate().map(|(number, &b)| (b, number)).collect();
    let b = Builder { program, calls, numbers };
    let problem = facts::analysable_with(program, &b.calls).err().map(|e| format!("{e}; {}", e.hint()));
    let entry = b.at(program.entry).unwrap_or(0);
    let called = |(&pc, kind): (&Pc, FlowKind)| {
        let block = b.at(pc)?;
        matches!(kind, FlowKind::Call { .. }).then(|| CallJson {
            block,
            pc,
            callee: b.calls.targets.get(&pc).and_then(|&to| b.at(to)),
        })
    };
    let pcs: Vec<Pc> = code.iter().flat_map(|&block| program.cfg.pcs(block, &program.flow)).collect();
    Ok(KernelGraph {
        version: 1,
        file: file.to_owned(),
        isa: program.isa.name(),
        kernel: program.kernel.clone(),
        checksum: facts::checksum(program, &b.calls),
        entry,
        blocks: code.iter().enumerate().map(|(number, &index)| b.block(index, number)).collect(),
        edges: code.iter().flat_map(|&index| b.edges(index)).collect(),
        loops: facts::loops(program, &b.calls).iter().filter_map(|l| b.a_loop(l)).collect(),
        regions: program.flow.regions.iter().filter_map(|r| b.region(r)).collect(),
        tree: b.tree(entry)?,
        calls: pcs.iter().filter_map(|pc| called((pc, program.flow.kind[*pc as usize]))).collect(),
        problem,
    })
}
