//! Chrome's JSON array of trace events ("Trace Event Format"): complete events, flows, counters, names. One cycle is one
//! microsecond, the format's unit.

use crate::error::{ExportError, kept};
use crate::source::{Names, Source, port_name};
use crate::timeline::{Item, Timeline, Track, What};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use wb_files::Output;

pub(crate) fn write(source: &mut Source, to: &Path) -> Result<(), ExportError> {
    let names = Names::new(source.info());
    let (known, open) = (BTreeSet::new(), BTreeMap::new());
    let mut writer =
        Writer { out: Output::create(to)?, names, known, cores: BTreeSet::new(), open, first: true };
    let mut timeline = Timeline::default();
    source.walk(|events| events.iter().try_for_each(|e| timeline.event(e, |item| writer.item(item))))?;
    timeline.finish(|item| writer.item(item))?;
    let end = writer.out.write_all(b"\n]\n");
    kept(end, &writer.out)?;
    Ok(writer.out.finish()?)
}

struct Writer {
    out: Output,
    names: Names,
    known: BTreeSet<Track>,
    cores: BTreeSet<u16>,
    /// Spans that have begun.
    open: BTreeMap<Track, (u64, What)>,
    first: bool,
}

/// Threads of a core: slots and their paths, then units, then ports.
fn thread(track: Track) -> u64 {
    match track {
        Track::Path { slot, path, .. } => u64::from(slot) << 16 | u64::from(path),
        Track::Unit { unit, instance, .. } => 1 << 32 | u64::from(unit) << 8 | u64::from(instance),
        Track::Port { port, .. } => 2 << 32 | port as u64,
    }
}

impl Writer {
    fn put(&mut self, event: &Value) -> Result<(), ExportError> {
        let before: &[u8] = if self.first { b"[\n" } else { b",\n" };
        self.first = false;
        let written = self.out.write_all(before);
        kept(written, &self.out)?;
        let written = serde_json::to_writer(&mut self.out, event).map_err(std::io::Error::from);
        kept(written, &self.out)
    }

    fn describe(&mut self, track: Track) -> Result<(), ExportError> {
        if !self.known.insert(track) {
            return Ok(());
        }
        let core = track.core();
        let about = |what: &str, args: Value| json!({"name": what, "ph": "M", "pid": core, "tid": thread(track), "args": args});
        if self.cores.insert(core) {
            let name = format!("core {core} (1 cycle = 1 us): {}", self.names.title());
            self.put(&about("process_name", json!({"name": name})))?;
        }
        let name = match track {
            Track::Path { slot, path: 0, .. } => format!("slot {slot}"),
            Track::Path { slot, path, .. } => format!("slot {slot} path {path}"),
            Track::Unit { unit, instance, .. } => {
                self.names.unit(unit, instance).unwrap_or_else(|| format!("unit {unit}.{instance}"))
            }
            Track::Port { port, .. } => format!("{} memory", port_name(port)),
        };
        self.put(&about("thread_name", json!({"name": name})))?;
        self.put(&about("thread_sort_index", json!({"sort_index": thread(track)})))
    }

    fn name(&self, what: What) -> String {
        match what {
            What::Wave(wave) => format!("wave {wave}"),
            What::Issue(pc) | What::Unit(pc) | What::Done(pc) => self.names.text(pc),
            What::Stall(reason) => reason.name().to_owned(),
            What::Path(path) => format!("path {path}"),
            What::Memory(port) => format!("{} access", port_name(port)),
            What::Arrived => "barrier arrival".into(),
            What::Released => "barrier release".into(),
        }
    }

    fn complete(
        &mut self,
        track: Track,
        from: u64,
        to: u64,
        what: What,
        args: Value,
    ) -> Result<(), ExportError> {
        self.describe(track)?;
        let event = json!({
            "name": self.name(what), "cat": what.category(), "ph": "X", "ts": from, "dur": to.saturating_sub(from),
            "pid": track.core(), "tid": thread(track), "args": args,
        });
        self.put(&event)
    }

    fn item(&mut self, item: Item) -> Result<(), ExportError> {
        match item {
            Item::Begin { track, at, what } => {
                self.open.insert(track, (at, what));
                Ok(())
            }
            Item::End { track, at } => match self.open.remove(&track) {
                Some((from, what)) => self.complete(track, from, at, what, json!({})),
                None => Ok(()),
            },
            Item::Span { track, from, to, what, event } => {
                let mut args = json!({"pc": event.pc, "line": self.names.source(event.pc)});
                if matches!(what, What::Issue(_)) {
                    args["mask"] = format!("{:#018x}", event.mask).into();
                }
                self.complete(track, from, to, what, args)
            }
            Item::Mark { track, at, what, event, starts, ends } => {
                let args = json!({"pc": event.pc, "wave": event.wave});
                self.complete(track, at, at, what, args)?;
                let (name, cat) = (what.category(), what.category());
                let (pid, tid) = (track.core(), thread(track));
                for id in starts {
                    self.put(&json!({"name": name, "cat": cat, "ph": "s", "id": id, "ts": at, "pid": pid, "tid": tid}))?;
                }
                for id in ends {
                    self.put(&json!({
                        "name": name, "cat": cat, "ph": "f", "bp": "e", "id": id, "ts": at, "pid": pid, "tid": tid,
                    }))?;
                }
                Ok(())
            }
            Item::Counts { track, at, hits, misses } => {
                let Track::Port { core, port } = track else { return Ok(()) };
                self.put(&json!({
                    "name": format!("{} lines", port_name(port)), "ph": "C", "ts": at, "pid": core,
                    "args": {"hits": hits, "misses": misses},
                }))
            }
        }
    }
}
