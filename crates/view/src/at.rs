//! What a click asks: which instruction this is, what it wrote and touched, why it waited, and for whom.

use crate::ViewError;
use crate::index::Late;
use crate::store::Store;
use serde::Serialize;
use std::collections::BTreeSet;
use wb_trace::spans::{Resident, Span, State, Take};
use wb_trace::{Block, CodeLine, Event, Kind, Pc, PortKind, StallReason};

/// Blocks that are searched forwards for the issue of an instruction that waits, and backwards for what it waited for.
const AHEAD: usize = 16;
const BEHIND: usize = 2;
/// Others that are named.
const NAMED: usize = 8;
/// Addresses that are listed.
const ADDRESSES: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub core: u16,
    pub slot: u16,
    pub cycle: u64,
    /// This path, or that of this lane; otherwise any.
    pub path: Option<u16>,
    pub lane: Option<u32>,
}

#[derive(Debug, Default, Serialize)]
pub struct Answer {
    pub state: &'static str,
    pub wave: u32,
    pub path: u16,
    pub from: u64,
    pub to: u64,
    pub mask: String,
    pub lanes: u32,
    pub instruction: Option<Instruction>,
    /// When it issued; nothing if the trace ends before.
    pub issued: Option<Issued>,
    pub waits: Vec<Wait>,
    pub memory: Vec<Memory>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Instruction {
    pub pc: Pc,
    pub addr: String,
    pub text: String,
    pub file: String,
    pub line: u32,
    pub writes: String,
    pub reads: String,
}

#[derive(Debug, Default, Serialize)]
pub struct Issued {
    pub cycle: u64,
    pub unit: String,
    pub instance: u8,
    pub busy: u16,
    /// The instruction of the path before it, and after it.
    pub before: Option<u64>,
    pub after: Option<u64>,
}

#[derive(Debug, Default, Serialize)]
pub struct Wait {
    pub reason: &'static str,
    pub from: u64,
    pub cycles: u32,
    pub on: Vec<Other>,
}

/// Somebody who was waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Other {
    pub wave: u32,
    pub path: u16,
    pub core: u16,
    pub slot: u16,
    pub cycle: u64,
    pub what: String,
}

#[derive(Debug, Default, Serialize)]
pub struct Memory {
    pub port: &'static str,
    pub write: bool,
    pub lines: u16,
    pub hits: u16,
    pub misses: u16,
    pub evictions: u16,
    pub done: u64,
    pub addresses: Vec<String>,
    /// Addresses that are not listed.
    pub more: usize,
}

/// What is at a place; nothing where no path runs.
pub fn at(store: &Store, asked: &Asked) -> Result<Option<Answer>, ViewError> {
    let blocks = store.index.range(asked.cycle, asked.cycle.saturating_add(1));
    let mut here = Here { asked, found: None };
    store.follow(blocks, &mut here)?;
    let Some(span) = here.found else { return Ok(None) };
    let near = Near::read(store, blocks, &span, asked)?;
    let issue = near.issue(&span, asked.cycle);
    let mut answer = Answer {
        state: State::names()[span.state.index()],
        wave: span.wave,
        path: span.path,
        from: span.from,
        to: span.to,
        mask: format!("{:#x}", span.mask),
        lanes: span.mask.count_ones(),
        instruction: line(store, span.pc).map(|c| Instruction::of(store, c)),
        ..Answer::default()
    };
    let Some(i) = issue else { return Ok(Some(answer)) };
    let own = near.path(&span);
    let place = own.iter().position(|&e| e == i).unwrap_or(0);
    let issued = |e: &usize| matches!(near.all[*e].kind, Kind::Issue { .. });
    let before = own[..place].iter().rev().find(|e| issued(e)).copied();
    let after = own[place + 1..].iter().find(|e| issued(e)).copied();
    if let Kind::Issue { unit, instance, busy, .. } = near.all[i].kind {
        let name = store.info.units.get(usize::from(unit)).map_or("none", |u| u.name.as_str());
        answer.issued = Some(Issued {
            cycle: near.all[i].cycle,
            unit: name.to_owned(),
            instance,
            busy,
            before: before.map(|e| near.all[e].cycle),
            after: after.map(|e| near.all[e].cycle),
        });
    }
    let waits = own[..place].iter().copied().filter(|&e| before.is_none_or(|b| e > b));
    for e in waits {
        if let Kind::Stall { cycles, reason } = near.all[e].kind {
            let on = near.who(e, i, cycles, reason, store);
            answer.waits.push(Wait { reason: reason.name(), from: near.all[e].cycle, cycles, on });
        }
    }
    near.rest(i, after, &own, &mut answer);
    Ok(Some(answer))
}

fn line(store: &Store, pc: Pc) -> Option<&CodeLine> {
    store.places.find(pc).and_then(|i| store.info.code.get(i))
}

impl Instruction {
    fn of(store: &Store, c: &CodeLine) -> Instruction {
        Instruction {
            pc: c.pc,
            addr: format!("{:#x}", c.addr),
            text: c.text.clone(),
            file: store.info.file_of(c).to_owned(),
            line: c.line,
            writes: c.writes.clone(),
            reads: c.reads.clone(),
        }
    }
}

/// The span under the pointer.
struct Here<'a> {
    asked: &'a Asked,
    found: Option<Span>,
}

impl Take for Here<'_> {
    fn span(&mut self, core: u16, slot: u16, span: Span) {
        let a = self.asked;
        if (core, slot) != (a.core, a.slot) || a.cycle < span.from || a.cycle >= span.to {
            return;
        }
        let lane = a.lane.is_some_and(|l| span.mask.checked_shr(l).unwrap_or(0) & 1 == 1);
        let wanted = a.path.map_or(lane, |path| path == span.path);
        if wanted || self.found.is_none() {
            self.found = Some(span);
        }
    }

    fn resident(&mut self, _: u16, _: u16, _: Resident) {}
}

/// Events around a cycle.
struct Near {
    all: Vec<Event>,
    /// Lines by event.
    lines: Vec<(usize, Vec<u64>)>,
    core: u16,
    slot: u16,
}

impl Near {
    fn read(
        store: &Store,
        (first, last): (usize, usize),
        span: &Span,
        asked: &Asked,
    ) -> Result<Near, ViewError> {
        let mut near = Near { all: Vec::new(), lines: Vec::new(), core: asked.core, slot: asked.slot };
        let own = |l: &&Late| (l.core, l.slot, l.span) == (asked.core, asked.slot, *span);
        let start = first.saturating_sub(BEHIND);
        // Of a long wait its beginning and its end.
        let (early, first, last) = match store.index.late(last).iter().find(own) {
            Some(late) => (start..last, late.told.saturating_sub(BEHIND).max(last), late.told + 1),
            None => (start..start, start, last),
        };
        for number in early {
            near.add(&*store.block(number)?);
        }
        for number in first..(last + AHEAD).min(store.blocks.len()) {
            let block = store.block(number)?;
            near.add(&block);
            let after = |e: &Event| (e.core, e.slot) == (asked.core, asked.slot) && e.cycle > asked.cycle;
            let issue = |e: &&Event| matches!(e.kind, Kind::Issue { .. }) && after(e);
            // Two more instructions of the slot: the one asked for, and the next.
            if number >= last && block.events.iter().filter(issue).count() >= 4 {
                break;
            }
        }
        Ok(near)
    }

    fn add(&mut self, block: &Block) {
        let first = self.all.len();
        // Only the core is of interest.
        for (i, event) in block.events.iter().enumerate().filter(|(_, e)| e.core == self.core) {
            if let Kind::Memory { .. } = event.kind
                && let Ok(t) = block.touched.binary_search_by_key(&(i as u32), |t| t.event)
            {
                self.lines.push((self.all.len(), block.touched[t].lines.clone()));
            }
            self.all.push(*event);
        }
        debug_assert!(self.all.len() >= first);
    }

    /// Events of the span's path.
    fn path(&self, span: &Span) -> Vec<usize> {
        let own = |e: &Event| e.slot == self.slot && e.wave == span.wave && e.path == span.path;
        (0..self.all.len()).filter(|&i| own(&self.all[i])).collect()
    }

    /// The issue that a span is of, or waits for.
    fn issue(&self, span: &Span, cycle: u64) -> Option<usize> {
        let own = self.path(span);
        let issue = |&&i: &&usize| {
            self.all[i].pc == span.pc && matches!(self.all[i].kind, Kind::Issue { .. } | Kind::Nop)
        };
        match span.state {
            State::WORK => own.iter().rev().filter(issue).find(|&&i| self.all[i].cycle <= cycle).copied(),
            _ => own.iter().filter(issue).find(|&&i| self.all[i].cycle >= cycle).copied(),
        }
    }

    fn other(&self, i: usize, what: String) -> Other {
        let e = &self.all[i];
        Other { wave: e.wave, path: e.path, core: e.core, slot: e.slot, cycle: e.cycle, what }
    }

    /// For whom or what the stall at `e`, before the issue at `i`, lasted.
    fn who(&self, e: usize, i: usize, cycles: u32, reason: StallReason, store: &Store) -> Vec<Other> {
        let (stall, issue) = (&self.all[e], &self.all[i]);
        let (from, to) = (stall.cycle, stall.cycle.saturating_add(cycles.into()));
        let during = |o: &Event| o.cycle >= from && o.cycle < to;
        let partitions = store.info.partitions.max(1);
        let text = |pc: Pc| line(store, pc).map_or_else(|| format!("pc {pc}"), |c| c.text.clone());
        let issues = |wanted: &dyn Fn(&Event, u8, u8) -> bool| {
            let mut seen = BTreeSet::new();
            let mut all: Vec<Other> = Vec::new();
            for (n, o) in self.all.iter().enumerate().rev() {
                let Kind::Issue { unit, instance, .. } = o.kind else { continue };
                if wanted(o, unit, instance) && seen.insert((o.wave, o.path)) && all.len() < NAMED {
                    all.push(self.other(n, text(o.pc)));
                }
            }
            all
        };
        let stranger = |o: &Event| (o.wave, o.path) != (stall.wave, stall.path);
        match reason {
            StallReason::Unit => {
                let Kind::Issue { unit, .. } = issue.kind else { return Vec::new() };
                issues(&|o, u, _| u == unit && during(o) && stranger(o))
            }
            StallReason::NotSelected => issues(&|o, _, _| {
                let port = |slot: u16| u32::from(slot) % partitions;
                during(o) && stranger(o) && port(o.slot) == port(stall.slot)
            }),
            StallReason::Merge => {
                issues(&|o, _, _| o.wave == stall.wave && o.path != stall.path && during(o))
            }
            StallReason::Barrier => self.last_at_barrier(e, to),
            StallReason::Memory | StallReason::Dependency => {
                self.producer(i, stall, reason, store).into_iter().collect()
            }
            StallReason::Fetch | StallReason::Divergence => Vec::new(),
        }
    }

    /// The wave that all others had waited for.
    fn last_at_barrier(&self, e: usize, to: u64) -> Vec<Other> {
        let own = self.all[..e].iter().rev().find_map(|o| match o.kind {
            Kind::Barrier { id, .. } if o.wave == self.all[e].wave => Some(id),
            _ => None,
        });
        let Some(id) = own else { return Vec::new() };
        let last = self.all.iter().enumerate().rev().find(|(_, o)| {
            matches!(o.kind, Kind::Barrier { id: other, arrived, needed } if other == id && arrived == needed)
                && o.cycle <= to
        });
        last.map(|(n, _)| self.other(n, "arrived last".to_owned())).into_iter().collect()
    }

    /// The earlier instruction of the wave whose result was not there.
    fn producer(&self, i: usize, stall: &Event, reason: StallReason, store: &Store) -> Option<Other> {
        let issue = &self.all[i];
        let code = line(store, issue.pc)?;
        let needs: BTreeSet<&str> = code.reads.split(", ").chain(code.writes.split(", ")).collect();
        let own = (0..i).rev().filter(|&n| self.all[n].wave == stall.wave && self.all[n].slot == stall.slot);
        let mut loads = None;
        for n in own {
            let o = &self.all[n];
            if o.cycle > stall.cycle {
                continue;
            }
            match o.kind {
                Kind::Issue { .. } => {
                    let Some(earlier) = line(store, o.pc) else { continue };
                    let writes = |r: &str| !r.is_empty() && needs.contains(r);
                    if earlier.writes.split(", ").any(writes) {
                        return Some(self.other(n, earlier.text.clone()));
                    }
                }
                // Waits by counter name no register: the memory operation that was done when the wait ended.
                Kind::Memory { done, port, .. }
                    if reason == StallReason::Memory
                        && port != PortKind::Fetch
                        && done >= stall.cycle
                        && done <= issue.cycle =>
                {
                    let better = loads.is_none_or(|(best, _)| done > best);
                    if better {
                        loads = Some((done, n));
                    }
                }
                _ => {}
            }
        }
        let (done, n) = loads?;
        let text = line(store, self.all[n].pc).map_or_else(String::new, |c| c.text.clone());
        Some(self.other(n, format!("{text} (done at cycle {done})")))
    }

    /// Memory, splits and masks of the instruction issued at `i`; `after`: the next of its path.
    fn rest(&self, i: usize, after: Option<usize>, own: &[usize], answer: &mut Answer) {
        let issue = &self.all[i];
        let until = after.unwrap_or(usize::MAX);
        for &e in own.iter().filter(|&&e| e < until && self.all[e].pc == issue.pc) {
            let event = &self.all[e];
            if event.cycle < issue.cycle {
                continue;
            }
            match event.kind {
                Kind::Memory { port, write, lines, hits, misses, evictions, done } => {
                    let all = self.lines.iter().find(|l| l.0 == e).map_or(&[][..], |l| &l.1);
                    let addresses: Vec<String> =
                        all.iter().take(ADDRESSES).map(|a| format!("{a:#x}")).collect();
                    let more = all.len() - addresses.len();
                    let port = port_name(port);
                    answer.memory.push(Memory {
                        port,
                        write,
                        lines,
                        hits,
                        misses,
                        evictions,
                        done,
                        addresses,
                        more,
                    });
                }
                Kind::Split { taken, other } => {
                    answer.notes.push(format!("lanes part: {taken:#x} and {other:#x}"));
                }
                Kind::Mask { new, .. } => answer.notes.push(format!("lanes become {new:#x}")),
                Kind::PathNew { at, lanes } => {
                    answer.notes.push(format!("lanes {lanes:#x} are set aside for pc {at}"));
                }
                Kind::PathMerge { lanes } => answer.notes.push(format!("lanes {lanes:#x} come back")),
                Kind::SplitRefused { reason, lanes } => {
                    answer.notes.push(format!("no split for lanes {lanes:#x}: {}", reason.name()));
                }
                Kind::Barrier { arrived, needed, .. } => {
                    answer.notes.push(format!("arrives at a barrier as {arrived} of {needed}"));
                }
                Kind::WaveStart { .. }
                | Kind::WaveEnd
                | Kind::Issue { .. }
                | Kind::Nop
                | Kind::Stall { .. }
                | Kind::PathStart { .. }
                | Kind::PathEnd { .. } => {}
            }
        }
    }
}

fn port_name(port: PortKind) -> &'static str {
    match port {
        PortKind::Data => "data",
        PortKind::Sampler => "sampler",
        PortKind::Scalar => "scalar",
        PortKind::Lds => "lds",
        PortKind::Fetch => "fetch",
    }
}
