//! The decoded program: one [`Op`] per pc, register lists in one pool, and a [`FlowMap`].

use crate::ahead::{self, Ahead};
use crate::cfg::Cfg;
use crate::flow::FlowMap;
use crate::liveness;
use crate::op::{Op, Step};
use crate::regions;
use crate::too_complex::TooComplex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;
use wb_isa::{Facts, FlowKind, Isa, LaneEffect, NO_PC, Needed, Pc, SourceFile, Waits};

/// Bytes to place in memory before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub addr: u64,
    pub bytes: Vec<u8>,
}

/// The code of a call that the compiler inlined: from one pc up to another, deeper where calls nest; where it is called, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    pub from: Pc,
    pub to: Pc,
    pub depth: u32,
    pub file: String,
    pub line: u32,
    pub function: String,
}

/// A program of one ISA, shared by all waves of a run.
#[derive(Debug)]
pub struct Program<I: Isa> {
    pub isa: I,
    pub name: String,
    pub ops: Vec<Op<I::Inst>>,
    /// The same, as they are executed.
    pub steps: Vec<Step<I::Bound>>,
    pool: Vec<u16>,
    pub entry: Pc,
    pub segments: Vec<Segment>,
    /// Address ranges that hold instructions in memory; a store there is an error, not self-modification.
    pub text: Vec<Range<u64>>,
    /// Labels of instructions.
    pub labels: Vec<(String, Pc)>,
    /// All symbols with their addresses, data too.
    pub symbols: Vec<(String, u64)>,
    /// Source line per pc, 0 = unknown.
    pub lines: Vec<u32>,
    /// Source files, and which of them each pc came from; empty where there is only one, [`Program::source`] or `name`.
    pub files: Vec<String>,
    pub line_files: Vec<u16>,
    /// File and line in a header of a library, of instructions that come from there; `lines` has where they are used.
    pub inner: BTreeMap<Pc, (u16, u32)>,
    /// Calls that the compiler inlined, where the debug information says so.
    pub inlined: Vec<Inlined>,
    pub source: Option<SourceFile>,
    /// What the loader added to the addresses as linked.
    pub base: u64,
    /// Functions that calls through registers go to, by pc of the call, where the loader could tell.
    pub calls: BTreeMap<Pc, Pc>,
    /// The kernel that is launched, for ISAs whose programs have several; empty otherwise.
    pub kernel: String,
    pub flow: FlowMap,
    pub cfg: Cfg,
    /// Numbers of the labels in order of pc, made when somebody first asks.
    named: OnceLock<Vec<usize>>,
    /// Computed when a merge first asks.
    needs: OnceLock<Vec<Needed>>,
    /// Computed when lanes first want to run ahead.
    ahead: OnceLock<Ahead>,
}

/// What a loader hands over; [`Program::new`] adds the static facts.
pub struct Decoded<I: Isa> {
    pub isa: I,
    pub name: String,
    /// Instruction and next pc, per pc.
    pub insts: Vec<(Option<I::Inst>, Pc)>,
    pub entry: Pc,
    pub segments: Vec<Segment>,
    pub text: Vec<Range<u64>>,
    pub labels: Vec<(String, Pc)>,
    pub symbols: Vec<(String, u64)>,
    pub lines: Vec<u32>,
    pub source: Option<SourceFile>,
}

/// Appends the locks of `registers`, each once.
fn add_locks<I: Isa>(isa: &I, registers: &[u16], pool: &mut Vec<u16>) {
    let start = pool.len();
    for &register in registers {
        let lock = isa.lock(register);
        if !pool[start..].contains(&lock) {
            pool.push(lock);
        }
    }
}

impl<I: Isa> Program<I> {
    pub fn new(parts: Decoded<I>) -> Result<Self, TooComplex> {
        let n = parts.insts.len();
        let (mut ops, mut steps, mut seen) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        let mut pool = Vec::new();
        let mut flow = FlowMap {
            kind: vec![FlowKind::Exit { conditional: false }; n],
            next: parts.insts.iter().map(|i| i.1).collect(),
            rpc: vec![NO_PC; n],
            loop_split: vec![false; n],
            regions: Vec::new(),
            spills: false,
        };
        // Padding is an instruction without operands again and again: what is known of the one before holds for it, too.
        let mut plain = None;
        for (pc, (inst, next)) in parts.insts.into_iter().enumerate() {
            if let Some((op, bound)) = plain.as_ref().filter(|(op, _): &&(Op<_>, _)| op.inst == inst) {
                ops.push(Op { next, ..Op::clone(op) });
                steps.push(Step::new(&ops[pc], Option::clone(bound), &[], &[]));
                seen.push(Some(regions::Step::default()));
                flow.kind[pc] = FlowKind::Next;
                continue;
            }
            let start = pool.len() as u32;
            let waits = Waits::default();
            let mut op =
                Op { inst, next, class: 0, waits_for_all: false, waits, start, split: start, end: start };
            let mut step = None;
            if let Some(inst) = &op.inst {
                let facts = parts.isa.facts(inst, pc as Pc, next);
                add_locks(&parts.isa, &facts.reads, &mut pool);
                op.split = pool.len() as u32;
                add_locks(&parts.isa, &facts.writes, &mut pool);
                op.end = pool.len() as u32;
                op.class = facts.class;
                op.waits_for_all = facts.waits_for_all;
                op.waits = parts.isa.waits(inst);
                flow.kind[pc] = facts.flow;
                flow.spills |= facts.lanes == LaneEffect::Spill;
                let Facts { lanes, mask_flow, reads, writes, cross_lane, class, .. } = facts;
                let local = parts.isa.classes()[usize::from(class)] == "lds";
                step = Some(regions::Step { lanes, mask_flow, reads, writes, cross_lane, local });
            }
            let bound = op.inst.as_ref().map(|inst| parts.isa.bind(inst, next));
            let alone = flow.kind[pc] == FlowKind::Next && step == Some(regions::Step::default());
            plain = alone.then(|| (op.clone(), bound.clone()));
            seen.push(step);
            let (reads, writes) = pool[start as usize..].split_at((op.split - start) as usize);
            steps.push(Step::new(&op, bound, reads, writes));
            ops.push(op);
        }
        for pc in 0..n {
            let (step, next) = (&steps[pc], steps.get(steps[pc].next as usize));
            let touched = |register| next.is_none_or(|next: &Step<_>| next.touches().contains(register));
            steps[pc].feeds = step.writes().iter().any(touched);
        }
        let valid: Vec<bool> = ops.iter().map(|o| o.inst.is_some()).collect();
        let roots = std::iter::once(parts.entry).chain(parts.labels.iter().map(|l| l.1));
        let cfg = Cfg::build(&flow, &valid, roots)?;
        cfg.fill(&mut flow);
        flow.regions = regions::find(&flow, &cfg, parts.entry, &seen);
        for r in &flow.regions {
            flow.rpc[r.branch as usize] = r.reconverge;
        }
        Ok(Program {
            isa: parts.isa,
            name: parts.name,
            ops,
            steps,
            pool,
            entry: parts.entry,
            segments: parts.segments,
            text: parts.text,
            labels: parts.labels,
            symbols: parts.symbols,
            lines: parts.lines,
            files: Vec::new(),
            line_files: Vec::new(),
            inner: BTreeMap::new(),
            inlined: Vec::new(),
            source: parts.source,
            base: 0,
            calls: BTreeMap::new(),
            kernel: String::new(),
            flow,
            cfg,
            named: OnceLock::new(),
            needs: OnceLock::new(),
            ahead: OnceLock::new(),
        })
    }

    /// Path registers that code from `pc` on reads.
    pub fn needed(&self, pc: Pc) -> Needed {
        self.needs().get(pc as usize).copied().unwrap_or_default()
    }

    fn needs(&self) -> &[Needed] {
        self.needs.get_or_init(|| liveness::needs(&self.isa, &self.ops, &self.flow, &self.cfg))
    }

    /// How far some lanes of a path may run ahead of the others.
    pub fn ahead(&self) -> &Ahead {
        let find = || ahead::find(&self.isa, &self.ops, &self.flow, &self.cfg, self.needs(), self.entry);
        self.ahead.get_or_init(find)
    }

    #[inline(always)]
    pub fn reads(&self, op: &Op<I::Inst>) -> &[u16] {
        &self.pool[op.start as usize..op.split as usize]
    }

    #[inline(always)]
    pub fn writes(&self, op: &Op<I::Inst>) -> &[u16] {
        &self.pool[op.split as usize..op.end as usize]
    }

    /// Reads and writes together: what must be ready before the instruction may issue.
    #[inline(always)]
    pub fn touches(&self, op: &Op<I::Inst>) -> &[u16] {
        &self.pool[op.start as usize..op.end as usize]
    }

    /// The label exactly at `pc`.
    pub fn label_at(&self, pc: Pc) -> Option<&str> {
        let index = self.named.get_or_init(|| {
            let mut index: Vec<usize> = (0..self.labels.len()).collect();
            index.sort_by_key(|&l| self.labels[l].1);
            index
        });
        let first = index.partition_point(|&l| self.labels[l].1 < pc);
        index.get(first).map(|&l| &self.labels[l]).filter(|l| l.1 == pc).map(|l| l.0.as_str())
    }

    pub fn find_label(&self, name: &str) -> Option<Pc> {
        self.labels.iter().find(|l| l.0 == name).map(|l| l.1)
    }

    pub fn line_of(&self, pc: Pc) -> u32 {
        self.lines.get(pc as usize).copied().unwrap_or(0)
    }

    /// Source file and line of an instruction, where known.
    pub fn source_line(&self, pc: Pc) -> Option<(&str, u32)> {
        let line = self.line_of(pc);
        let named = self.line_files.get(pc as usize).and_then(|&f| self.files.get(usize::from(f)));
        let only = || self.source.as_ref().map_or(self.name.as_str(), |s| s.name.as_str());
        (line > 0).then(|| (named.map_or_else(only, String::as_str), line))
    }

    /// File and line in the header of a library that an instruction was inlined from, if it was.
    pub fn written_at(&self, pc: Pc) -> Option<(&str, u32)> {
        let &(file, line) = self.inner.get(&pc)?;
        Some((self.files.get(usize::from(file))?.as_str(), line))
    }

    /// The files that instructions come from, as [`Program::file_of`] counts them.
    pub fn source_files(&self) -> Vec<String> {
        let only = || self.source.as_ref().map_or(self.name.as_str(), |s| s.name.as_str());
        if self.files.is_empty() { vec![only().to_owned()] } else { self.files.clone() }
    }

    /// Which of the source files an instruction comes from.
    pub fn file_of(&self, pc: Pc) -> u32 {
        self.line_files.get(pc as usize).copied().map_or(0, u32::from)
    }

    /// Address as linked, whatever the loader added.
    pub fn linked(&self, pc: Pc) -> u64 {
        self.isa.addr_of(pc).wrapping_sub(self.base)
    }

    /// How the target of a jump is written: its label, or where it was linked if the program moved since.
    fn target(&self, pc: Pc) -> Option<String> {
        let moved = || (self.base != 0).then(|| format!("{:#x}", self.linked(pc)));
        self.label_at(pc).map(str::to_owned).or_else(moved)
    }

    /// Disassembly of one instruction.
    pub fn text_at(&self, pc: Pc) -> String {
        match self.ops.get(pc as usize).and_then(|o| o.inst.as_ref()) {
            Some(inst) => self.isa.show(inst, pc, &|p| self.target(p)),
            None => "(no instruction)".into(),
        }
    }

    /// The bytes of an instruction in memory; empty where the program has none there.
    pub fn bytes_at(&self, pc: Pc) -> &[u8] {
        let (from, to) = (self.isa.addr_of(pc), self.isa.addr_of(self.flow.next[pc as usize]));
        let bytes = |s: &'_ Segment| -> Option<Range<usize>> {
            let offset = |at: u64| usize::try_from(at.checked_sub(s.addr)?).ok();
            Some(offset(from)?..offset(to)?)
        };
        self.segments.iter().find_map(|s| s.bytes.get(bytes(s)?)).unwrap_or_default()
    }

    /// `file:line: text` where known, for error messages.
    pub fn place(&self, pc: Pc) -> String {
        let line = self.line_of(pc);
        let file = self.source.as_ref().map_or(self.name.as_str(), |s| s.name.as_str());
        let text = self.text_at(pc);
        if line > 0 { format!("{file}:{line}: {text}") } else { format!("{file}: {text}") }
    }
}
