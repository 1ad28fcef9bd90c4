//! Konata: a Kanata log, version 0004. An instruction is one that issued: it waits (stages by cause), issues, executes, and waits
//! for memory. Threads are waves.

use crate::error::{ExportError, kept};
use crate::ordered::Ordered;
use crate::source::{Names, Source};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use wb_files::Output;
use wb_trace::{Event, Kind, StallReason};

/// Waits of one instruction that are shown apart; of more, the last ones become one.
const MOST_WAITS: usize = 256;

/// Stages by cause of waiting.
fn stage(reason: StallReason) -> &'static str {
    match reason {
        StallReason::Dependency => "Dp",
        StallReason::Memory => "Mw",
        StallReason::Unit => "Un",
        StallReason::Fetch => "F",
        StallReason::Barrier => "Ba",
        StallReason::NotSelected => "Ns",
        StallReason::Merge => "Mg",
        StallReason::Divergence => "Dv",
    }
}

/// An instruction that issued.
#[derive(Clone)]
struct Issued {
    event: Event,
    waits: Vec<(u64, u64, StallReason)>,
    busy: u64,
    /// When its memory answers.
    done: Option<u64>,
}

#[derive(Default)]
struct Lane {
    waits: Vec<(u64, u64, StallReason)>,
    pending: Option<Issued>,
    over: u64,
}

impl Lane {
    /// Nothing before this comes from here.
    fn since(&self) -> u64 {
        let pending = self.pending.as_ref().map(Issued::start);
        pending.or(self.waits.first().map(|w| w.0)).unwrap_or(self.over)
    }
}

impl Issued {
    fn start(&self) -> u64 {
        self.waits.first().map_or(self.event.cycle, |w| w.0.min(self.event.cycle))
    }
}

/// A line of the log.
enum Line {
    New(u64, Box<Event>),
    Begin(u64, u8, &'static str),
    End(u64, u8, &'static str),
    Retire(u64),
}

pub(crate) fn write(source: &mut Source, to: &Path) -> Result<(), ExportError> {
    let names = Names::new(source.info());
    let mut log =
        Log { out: Output::create(to)?, names, ids: BTreeMap::new(), next: 0, retired: 0, time: None };
    let mut lanes: BTreeMap<(u16, u16, u16), Lane> = BTreeMap::new();
    let (mut ordered, mut number) = (Ordered::new(), 0);
    let mut last = 0;
    source.walk(|events| {
        for event in events {
            last = last.max(event.cycle);
            let key = (event.core, event.slot, event.path);
            let lane = lanes.entry(key).or_default();
            lane.event(event, &mut |issued| push(issued, &mut number, &mut ordered));
            match event.kind {
                Kind::WaveEnd => {
                    let (from, to) = ((key.0, key.1, 0), (key.0, key.1, u16::MAX));
                    let gone: Vec<_> = lanes.range(from..=to).map(|(k, _)| *k).collect();
                    for lane in gone.iter().filter_map(|k| lanes.remove(k)) {
                        lane.pending.into_iter().for_each(|i| push(i, &mut number, &mut ordered));
                    }
                }
                Kind::PathEnd { .. } => {
                    let lane = lanes.remove(&key).and_then(|l| l.pending);
                    lane.into_iter().for_each(|i| push(i, &mut number, &mut ordered));
                }
                _ => {}
            }
        }
        let until = lanes.values().map(Lane::since).min().unwrap_or(last);
        log.drain(&mut ordered, until)
    })?;
    for lane in lanes.into_values() {
        lane.pending.into_iter().for_each(|i| push(i, &mut number, &mut ordered));
    }
    log.drain(&mut ordered, u64::MAX)?;
    log.begin(0)?;
    Ok(log.out.finish()?)
}

impl Lane {
    fn event(&mut self, event: &Event, out: &mut dyn FnMut(Issued)) {
        match event.kind {
            Kind::Stall { cycles, reason } => {
                self.pending.take().into_iter().for_each(&mut *out);
                let to = event.cycle.saturating_add(cycles.into());
                self.over = to;
                let full = self.waits.len() >= MOST_WAITS;
                match self.waits.last_mut() {
                    Some(last) if last.2 == reason || full => last.1 = to,
                    _ => self.waits.push((event.cycle, to, reason)),
                }
            }
            Kind::Issue { busy, .. } => {
                self.pending.take().into_iter().for_each(&mut *out);
                let waits = std::mem::take(&mut self.waits);
                self.over = event.cycle.saturating_add(1);
                self.pending = Some(Issued { event: *event, waits, busy: busy.into(), done: None });
            }
            Kind::Memory { done, .. } => {
                if let Some(issued) = self.pending.as_mut().filter(|i| i.event.pc == event.pc) {
                    issued.done = Some(done);
                }
            }
            Kind::WaveStart { .. }
            | Kind::WaveEnd
            | Kind::Nop
            | Kind::Split { .. }
            | Kind::Mask { .. }
            | Kind::PathNew { .. }
            | Kind::PathMerge { .. }
            | Kind::PathStart { .. }
            | Kind::PathEnd { .. }
            | Kind::SplitRefused { .. }
            | Kind::Barrier { .. } => self.over = self.over.max(event.cycle),
        }
    }
}

/// The lines of an instruction.
fn push(issued: Issued, number: &mut u64, out: &mut Ordered<Line>) {
    let (id, at) = (*number, issued.event.cycle);
    *number += 1;
    out.push(issued.start(), Line::New(id, Box::new(issued.event)));
    let mut stage_of = |from: u64, to: u64, lane: u8, name: &'static str| {
        if to > from {
            out.push(from, Line::Begin(id, lane, name));
            out.push(to, Line::End(id, lane, name));
        }
    };
    for &(from, to, reason) in &issued.waits {
        stage_of(from, to.min(at), 0, stage(reason));
    }
    let (after, busy) = (at.saturating_add(1), at.saturating_add(issued.busy));
    stage_of(at, after, 0, "Is");
    stage_of(after, busy, 0, "Ex");
    let done = issued.done.unwrap_or(after);
    stage_of(after, done, 1, "Me");
    out.push(after.max(busy).max(done), Line::Retire(id));
}

struct Log {
    out: Output,
    names: Names,
    /// Numbers in the file, in the order in which instructions begin.
    ids: BTreeMap<u64, u64>,
    next: u64,
    retired: u64,
    time: Option<u64>,
}

impl Log {
    fn begin(&mut self, at: u64) -> Result<(), ExportError> {
        if self.time.is_none() {
            self.time = Some(at);
            let written = write!(self.out, "Kanata\t0004\nC=\t{at}\n");
            return kept(written, &self.out);
        }
        Ok(())
    }

    fn drain(&mut self, ordered: &mut Ordered<Line>, until: u64) -> Result<(), ExportError> {
        while let Some((at, line)) = ordered.pop(until) {
            self.begin(at)?;
            let passed = at - self.time.unwrap_or(at);
            if passed > 0 {
                let written = writeln!(self.out, "C\t{passed}");
                kept(written, &self.out)?;
                self.time = Some(at);
            }
            self.line(line)?;
        }
        Ok(())
    }

    fn line(&mut self, line: Line) -> Result<(), ExportError> {
        let id = |ids: &BTreeMap<u64, u64>, number: u64| ids.get(&number).copied().unwrap_or(0);
        let written = match line {
            Line::New(number, e) => {
                let id = self.next;
                self.ids.insert(number, id);
                self.next += 1;
                let text = self.names.text(e.pc).replace(['\t', '\n', '\r'], " ");
                let line = self.names.source(e.pc);
                writeln!(
                    self.out,
                    "I\t{id}\t{number}\t{}\nL\t{id}\t0\t{}: {text}\nL\t{id}\t1\twave {} path {} core {} slot {} mask {:#x} line {line}",
                    e.wave, e.pc, e.wave, e.path, e.core, e.slot, e.mask
                )
            }
            Line::Begin(number, lane, stage) => {
                writeln!(self.out, "S\t{}\t{lane}\t{stage}", id(&self.ids, number))
            }
            Line::End(number, lane, stage) => {
                writeln!(self.out, "E\t{}\t{lane}\t{stage}", id(&self.ids, number))
            }
            Line::Retire(number) => {
                let id = self.ids.remove(&number).unwrap_or(0);
                self.retired += 1;
                writeln!(self.out, "R\t{id}\t{}\t0", self.retired - 1)
            }
        };
        kept(written, &self.out)
    }
}
