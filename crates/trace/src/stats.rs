//! Counts a run: instructions, lane use, stalls by reason, memory, units, and per instruction and
//! branch how many lane-cycles divergence cost. Lost lanes are charged to the branch that narrowed the mask.

use std::collections::BTreeMap;

use crate::splitting::{ContextStats, Contexts};
use crate::stalls::StallCycles;
use crate::stats_memory::{Accessed, LastIssue, PcMemory};
use crate::{
    CodeLine, Event, Fork, Kind, Mask, MaskCause, NO_PC, Observer, Pc, PcIndex, PortKind, SlotTable,
    TraceInfo,
};
use std::any::Any;

/// Results of a run; fields are serialised in this order.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Stats {
    pub program: String,
    pub isa: String,
    pub machine: String,
    pub mechanism: String,
    /// False when cycles are wave-instructions.
    pub timed: bool,
    pub cycles: u64,
    pub waves: u64,
    pub wave_instructions: u64,
    /// Active lanes summed over all issued instructions.
    pub lane_instructions: u64,
    /// Empty places of instruction queues that issued (coordinated front end).
    pub nops: u64,
    /// Wave-instructions per cycle, all cores together.
    pub ipc: f64,
    /// Active lanes per issued instruction over the machine's lanes.
    pub lane_utilisation: f64,
    /// Live lanes that had to sit out an issued instruction of their wave.
    pub lane_cycles_lost: u64,
    pub stall_cycles: StallCycles,
    /// Split points where both sides had lanes.
    pub splits: u64,
    /// Times lanes that were set aside came back to a path.
    pub merges: u64,
    /// Most lane sets one wave held at once: the running one and those set aside.
    pub max_paths: u32,
    /// Paths with contexts of their own.
    pub contexts: ContextStats,
    pub barrier_arrivals: u64,
    /// One entry per port kind, used or not.
    pub memory: Vec<PortStats>,
    /// By core, unit, copy.
    pub units: Vec<UnitStats>,
    pub branches: Vec<BranchStats>,
    /// All code, executed or not, by pc.
    pub pcs: Vec<PcStats>,
    /// Lanes of a wave.
    pub lanes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct PortStats {
    pub port: PortKind,
    pub accesses: u64,
    pub writes: u64,
    pub lines: u64,
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct UnitStats {
    pub core: u32,
    pub unit: String,
    pub instance: u32,
    pub instructions: u64,
    pub busy_cycles: u64,
    /// Busy cycles over cycles of the run.
    pub utilisation: f64,
    pub mean_active_lanes: f64,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct PcStats {
    pub pc: Pc,
    pub addr: u64,
    pub line: u32,
    pub label: String,
    pub text: String,
    pub executed: u64,
    pub mean_active_lanes: f64,
    /// Live lanes missing when this instruction issued.
    pub lane_cycles_lost: u64,
    pub stall_cycles: u64,
    /// Source file; empty where `line` is not known.
    pub file: String,
    /// `file:line` in a header of a library if the code comes from there; `file` and `line` are then where it is used.
    pub inner: String,
    /// Wave-cycles: those in which it issued and those that its path stood before it.
    pub cycles: u64,
    /// Cycles that its path stood before it, by reason; together `stall_cycles`.
    pub stalls: StallCycles,
    /// Cycles that it kept its unit busy.
    pub busy_cycles: u64,
    /// None: it accessed none.
    pub memory: Option<PcMemory>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct BranchStats {
    pub pc: Pc,
    pub addr: u64,
    pub line: u32,
    pub text: String,
    pub executed: u64,
    /// Times it parted the lanes.
    pub diverged: u64,
    pub mean_active_lanes: f64,
    /// Lanes missing, anywhere later, because this branch had switched them off.
    pub lane_cycles_lost: u64,
    pub file: String,
}

/// Counts while it listens; ask [`Statistics::stats`] at any time.
#[derive(Default)]
pub struct Statistics {
    info: TraceInfo,
    index: PcIndex,
    rows: Vec<Row>,
    /// Accesses of rows, made when the first one comes.
    memory: Vec<PcMemory>,
    last: LastIssue,
    /// Rows of pcs that are not in the listing.
    unlisted: BTreeMap<Pc, usize>,
    slots: SlotTable<Slot>,
    units: Vec<Vec<UnitCount>>,
    unit_first: Vec<usize>,
    unit_total: usize,
    ports: [Port; PortKind::ALL.len()],
    nops: u64,
    waves: u64,
    splits: u64,
    merges: u64,
    max_paths: u32,
    contexts: Contexts,
    barriers: u64,
    after_last: u64,
    cycles: Option<u64>,
}

#[derive(Clone, Default)]
struct Row {
    executed: u64,
    lanes: u64,
    lost_here: u64,
    lost_since: u64,
    stalls: StallCycles,
    diverged: u64,
    busy: u64,
}

#[derive(Default)]
struct Slot {
    live: Mask,
    /// Pc that narrowed the mask of each path seen, by path number.
    origins: Vec<(u16, Pc)>,
    /// Lane sets that wait or run elsewhere.
    aside: Vec<Mask>,
}

/// More sets than this per wave are not followed; no mechanism comes near.
const MAX_ASIDE: usize = 1024;

impl Slot {
    fn origin(&self, path: u16) -> Pc {
        match self.origins.first() {
            Some(&(first, pc)) if first == path => pc,
            _ => self.origins.binary_search_by_key(&path, |o| o.0).map_or(NO_PC, |i| self.origins[i].1),
        }
    }

    fn set_origin(&mut self, path: u16, pc: Pc) {
        match self.origins.binary_search_by_key(&path, |o| o.0) {
            Ok(i) => self.origins[i].1 = pc,
            Err(i) => self.origins.insert(i, (path, pc)),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct UnitCount {
    instructions: u64,
    lanes: u64,
    busy: u64,
}

#[derive(Clone, Copy, Default)]
struct Port {
    accesses: u64,
    writes: u64,
    lines: u64,
    hits: u64,
    misses: u64,
    evictions: u64,
}

impl Statistics {
    pub fn new() -> Self {
        Self::default()
    }

    fn at(&mut self, pc: Pc) -> usize {
        match self.index.find(pc) {
            Some(i) => i,
            None => *self.unlisted.entry(pc).or_insert_with(|| {
                self.rows.push(Row::default());
                self.rows.len() - 1
            }),
        }
    }

    fn row(&mut self, pc: Pc) -> &mut Row {
        let i = self.at(pc);
        &mut self.rows[i]
    }

    fn one(&mut self, event: &Event) {
        self.after_last = self.after_last.max(event.cycle.saturating_add(1));
        let pc = event.pc;
        self.contexts.one(event);
        match event.kind {
            Kind::WaveStart { lanes } => {
                self.waves += 1;
                self.max_paths = self.max_paths.max(1);
                *self.slots.get_mut(event.core, event.slot) = Slot { live: lanes, ..Slot::default() };
            }
            Kind::WaveEnd => *self.slots.get_mut(event.core, event.slot) = Slot::default(),
            Kind::Issue { unit, instance, busy, .. } => self.issue(event, unit, instance, busy),
            Kind::Stall { cycles, reason } => self.row(pc).stalls.add(reason, cycles),
            Kind::Split { taken, other } => {
                if taken != 0 && other != 0 {
                    self.splits += 1;
                    self.row(pc).diverged += 1;
                }
            }
            Kind::Mask { new, live, origin, cause } => {
                let slot = self.slots.get_mut(event.core, event.slot);
                slot.live = live;
                slot.set_origin(event.path, origin);
                if cause == MaskCause::Switch
                    && let Some(i) = slot.aside.iter().rposition(|&lanes| lanes == new)
                {
                    slot.aside.remove(i);
                }
                slot.aside.retain(|lanes| lanes & live != 0);
                let narrowed = new != 0 && new & !event.mask == 0 && new != event.mask;
                if cause == MaskCause::MaskTest && narrowed {
                    self.row(pc).diverged += 1;
                }
            }
            Kind::PathNew { lanes, .. } => {
                let slot = self.slots.get_mut(event.core, event.slot);
                if slot.aside.len() < MAX_ASIDE {
                    slot.aside.push(lanes);
                }
                self.max_paths = self.max_paths.max(slot.aside.len() as u32 + 1);
            }
            Kind::PathMerge { lanes } => {
                self.merges += 1;
                let slot = self.slots.get_mut(event.core, event.slot);
                slot.aside.retain(|set| set & !lanes != 0);
            }
            Kind::Memory { port, write, lines, hits, misses, evictions, .. } => {
                self.access(pc, &Accessed { port, write, lines, hits, misses, evictions });
            }
            Kind::Barrier { .. } => self.barriers += 1,
            Kind::Nop => self.nops += 1,
            Kind::PathStart { .. } | Kind::PathEnd { .. } | Kind::SplitRefused { .. } => {}
        }
    }

    fn access(&mut self, pc: Pc, a: &Accessed) {
        let port = &mut self.ports[a.port as usize];
        port.accesses += 1;
        port.writes += u64::from(a.write);
        port.lines += u64::from(a.lines);
        port.hits += u64::from(a.hits);
        port.misses += u64::from(a.misses);
        port.evictions += u64::from(a.evictions);
        let i = self.at(pc);
        if self.memory.len() <= i {
            self.memory.resize_with(self.rows.len(), PcMemory::default);
        }
        let width = self.info.code.get(i).map_or(0, |c| c.width);
        let line = self.info.line_bytes.get(a.port as usize).copied().unwrap_or(0);
        self.memory[i].count(a, self.last, width, line, self.info.lds_banks);
    }

    fn issue(&mut self, event: &Event, unit: u8, instance: u8, busy: u16) {
        let active = u64::from(event.mask.count_ones());
        let slot = self.slots.get_mut(event.core, event.slot);
        let lanes = self.contexts.lanes(event, slot.live);
        let lost = u64::from(lanes.count_ones()).saturating_sub(active);
        let origin = slot.origin(event.path);
        let row = self.row(event.pc);
        row.executed += 1;
        row.lanes += active;
        row.lost_here += lost;
        row.busy += u64::from(busy);
        if lost > 0 && origin != NO_PC {
            self.row(origin).lost_since += lost;
        }
        self.last = LastIssue { lanes: active as u32, extra: 0 };
        let Some(info) = self.info.units.get(unit as usize) else { return };
        if info.interval > 0 {
            self.last.extra = u32::from(busy).saturating_sub(info.interval);
        }
        if u32::from(instance) < info.instances {
            let core = event.core as usize;
            if self.units.len() <= core {
                self.units.resize(core + 1, Vec::new());
            }
            let counts = &mut self.units[core];
            counts.resize(self.unit_total, UnitCount::default());
            let count = &mut counts[self.unit_first[unit as usize] + instance as usize];
            count.instructions += 1;
            count.lanes += active;
            count.busy += u64::from(busy);
        }
    }

    /// The numbers so far; final once the run has ended.
    pub fn stats(&self) -> Stats {
        let info = &self.info;
        let cycles = self.cycles.unwrap_or(self.after_last);
        let (pcs, branches) = self.code_tables();
        // What rows know is added up here, not with every event.
        let sum = |of: fn(&Row) -> u64| self.rows.iter().map(of).sum::<u64>();
        let (instructions, lane_instructions) = (sum(|r| r.executed), sum(|r| r.lanes));
        let mut stall_cycles = StallCycles::default();
        self.rows.iter().for_each(|r| stall_cycles.add_all(&r.stalls));
        let lanes = instructions * u64::from(info.lanes);
        Stats {
            program: info.program.clone(),
            isa: info.isa.clone(),
            machine: info.machine.clone(),
            mechanism: info.mechanism.clone(),
            timed: info.timed,
            cycles,
            waves: self.waves,
            wave_instructions: instructions,
            lane_instructions,
            nops: self.nops,
            ipc: ratio(instructions, cycles),
            lane_utilisation: ratio(lane_instructions, lanes),
            lane_cycles_lost: sum(|r| r.lost_here),
            stall_cycles,
            splits: self.splits,
            merges: self.merges,
            max_paths: self.max_paths,
            contexts: self.contexts.stats(cycles),
            barrier_arrivals: self.barriers,
            memory: self.port_table(),
            units: self.unit_table(cycles),
            branches,
            pcs,
            lanes: info.lanes,
        }
    }

    fn code_tables(&self) -> (Vec<PcStats>, Vec<BranchStats>) {
        let listed = self.info.code.iter().enumerate().map(|(i, line)| (line.clone(), i));
        let unlisted = self.unlisted.iter();
        let unlisted = unlisted.map(|(&pc, &i)| (CodeLine { pc, ..CodeLine::default() }, i));
        let mut all: Vec<_> =
            listed.chain(unlisted).filter_map(|(line, i)| Some((line, self.rows.get(i)?, i))).collect();
        all.sort_by_key(|(line, ..)| line.pc);
        let file = |line: &CodeLine| match line.line {
            0 => String::new(),
            _ => self.info.files.get(line.file as usize).cloned().unwrap_or_default(),
        };
        let branches = all.iter().filter(|(l, row, _)| l.branch || row.diverged > 0 || row.lost_since > 0);
        let branches = branches.map(|(line, row, _)| BranchStats {
            pc: line.pc,
            addr: line.addr,
            line: line.line,
            text: line.text.clone(),
            executed: row.executed,
            diverged: row.diverged,
            mean_active_lanes: ratio(row.lanes, row.executed),
            lane_cycles_lost: row.lost_since,
            file: file(line),
        });
        let branches = branches.collect();
        let pcs = all.into_iter().map(|(line, row, i)| PcStats {
            file: file(&line),
            inner: line.inner,
            pc: line.pc,
            addr: line.addr,
            line: line.line,
            label: line.label,
            text: line.text,
            executed: row.executed,
            mean_active_lanes: ratio(row.lanes, row.executed),
            lane_cycles_lost: row.lost_here,
            stall_cycles: row.stalls.total(),
            cycles: row.executed + row.stalls.total(),
            stalls: row.stalls,
            busy_cycles: row.busy,
            memory: self.memory.get(i).filter(|m| !m.is_empty()).cloned(),
        });
        (pcs.collect(), branches)
    }

    fn port_table(&self) -> Vec<PortStats> {
        let ports = PortKind::ALL.iter().zip(&self.ports);
        let ports = ports.map(|(&port, n)| PortStats {
            port,
            accesses: n.accesses,
            writes: n.writes,
            lines: n.lines,
            hits: n.hits,
            misses: n.misses,
            evictions: n.evictions,
        });
        ports.collect()
    }

    fn unit_table(&self, cycles: u64) -> Vec<UnitStats> {
        let mut table = Vec::new();
        for (core, counts) in self.units.iter().enumerate() {
            let copies = self.info.units.iter().flat_map(|u| (0..u.instances).map(move |i| (u, i)));
            for ((unit, instance), count) in copies.zip(counts) {
                table.push(UnitStats {
                    core: core as u32,
                    unit: unit.name.clone(),
                    instance,
                    instructions: count.instructions,
                    busy_cycles: count.busy,
                    utilisation: ratio(count.busy, cycles),
                    mean_active_lanes: ratio(count.lanes, count.instructions),
                });
            }
        }
        table
    }
}

impl Observer for Statistics {
    fn begin(&mut self, info: &TraceInfo) {
        *self = Statistics::default();
        self.index = PcIndex::new(&info.code);
        self.rows = vec![Row::default(); info.code.len()];
        for unit in &info.units {
            self.unit_first.push(self.unit_total);
            self.unit_total += unit.instances as usize;
        }
        self.info = info.clone();
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            self.one(event);
        }
    }

    fn end(&mut self, cycles: u64) {
        self.cycles = Some(cycles);
    }

    fn fork(&self) -> Option<Box<dyn Fork>> {
        let mut fork = Statistics::default();
        fork.begin(&self.info);
        Some(Box::new(fork))
    }

    fn join(&mut self, fork: Box<dyn Any>) {
        if let Ok(fork) = fork.downcast::<Statistics>() {
            self.absorb(*fork);
        }
    }
}

impl Statistics {
    /// Adds what was counted of other waves of the same run. Contexts over time are not: they have no common time.
    fn absorb(&mut self, other: Statistics) {
        for pc in other.info.code.iter().map(|c| c.pc).chain(other.unlisted.keys().copied()) {
            let from = other.index.find(pc).or_else(|| other.unlisted.get(&pc).copied());
            let Some(row) = from.and_then(|i| other.rows.get(i)) else { continue };
            let to = self.at(pc);
            self.rows[to].absorb(row);
            if let Some(memory) = from.and_then(|i| other.memory.get(i)).filter(|m| !m.is_empty()) {
                if self.memory.len() <= to {
                    self.memory.resize_with(self.rows.len(), PcMemory::default);
                }
                self.memory[to].add(memory);
            }
        }
        for (core, counts) in other.units.iter().enumerate() {
            if self.units.len() <= core {
                self.units.resize(core + 1, Vec::new());
            }
            self.units[core].resize(self.unit_total, UnitCount::default());
            for (sum, more) in self.units[core].iter_mut().zip(counts) {
                sum.instructions += more.instructions;
                sum.lanes += more.lanes;
                sum.busy += more.busy;
            }
        }
        for (sum, more) in self.ports.iter_mut().zip(&other.ports) {
            sum.accesses += more.accesses;
            sum.writes += more.writes;
            sum.lines += more.lines;
            sum.hits += more.hits;
            sum.misses += more.misses;
            sum.evictions += more.evictions;
        }
        self.nops += other.nops;
        self.waves += other.waves;
        self.splits += other.splits;
        self.merges += other.merges;
        self.max_paths = self.max_paths.max(other.max_paths);
        self.barriers += other.barriers;
        self.after_last = self.after_last.max(other.after_last);
    }
}

impl Row {
    fn absorb(&mut self, other: &Row) {
        self.executed += other.executed;
        self.lanes += other.lanes;
        self.lost_here += other.lost_here;
        self.lost_since += other.lost_since;
        self.stalls.add_all(&other.stalls);
        self.diverged += other.diverged;
        self.busy += other.busy;
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
