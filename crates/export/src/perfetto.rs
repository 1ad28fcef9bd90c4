//! Perfetto: a process per core, a thread per slot, tracks for paths, units and ports. One cycle is one nanosecond.

use crate::error::{ExportError, kept};
use crate::perfetto_proto::{
    CLEARED, CounterDescriptor, DebugAnnotation, EventType, Interned, InternedData, NEEDS, ProcessDescriptor,
    ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::source::{Names, Source, port_name};
use crate::timeline::{Item, Timeline, Track, What};
use prost::Message;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use wb_files::Output;
use wb_trace::{Event, StallReason};

const CATEGORIES: [&str; 7] = ["wave", "issue", "stall", "unit", "path", "memory", "barrier"];
const ANNOTATIONS: [&str; 9] = ["pc", "line", "mask", "wave", "lines", "hits", "misses", "arrived", "needed"];
/// Names of instructions come after those of stalls.
const FIRST_TEXT: u64 = 100;

pub(crate) fn write(source: &mut Source, to: &Path) -> Result<(), ExportError> {
    let names = Names::new(source.info());
    let mut writer = Writer {
        out: Output::create(to)?,
        names,
        known: BTreeSet::new(),
        cores: BTreeSet::new(),
        bytes: Vec::new(),
        head: Vec::new(),
    };
    writer.begin()?;
    let mut timeline = Timeline::default();
    source.walk(|events| events.iter().try_for_each(|e| timeline.event(e, |item| writer.item(item))))?;
    timeline.finish(|item| writer.item(item))?;
    Ok(writer.out.finish()?)
}

struct Writer {
    out: Output,
    names: Names,
    /// Tracks that were described.
    known: BTreeSet<u64>,
    cores: BTreeSet<u16>,
    bytes: Vec<u8>,
    head: Vec<u8>,
}

fn process_uuid(core: u16) -> u64 {
    1 + u64::from(core)
}

/// Numbers of tracks; `counter` tells the counters of a port apart from the port.
fn uuid(track: Track, counter: u64) -> u64 {
    let (kind, core, a, b) = match track {
        Track::Path { core, slot, path } => (1, core, slot, path),
        Track::Unit { core, unit, instance } => (2, core, unit.into(), instance.into()),
        Track::Port { core, port } => (3 + counter, core, port as u16, 0),
    };
    kind << 56 | u64::from(core) << 32 | u64::from(a) << 16 | u64::from(b)
}

fn iid(list: &[&str], name: &str) -> u64 {
    list.iter().position(|n| *n == name).map_or(0, |i| i as u64 + 1)
}

impl Writer {
    /// Interned names: all of them at once, before the first event.
    fn begin(&mut self) -> Result<(), ExportError> {
        let interned = |iid: u64, name: &str| Interned { iid: Some(iid), name: Some(name.to_owned()) };
        let list = |names: &[&str]| {
            names.iter().enumerate().map(|(i, n)| interned(i as u64 + 1, n)).collect::<Vec<_>>()
        };
        let stalls = StallReason::ALL.map(StallReason::name);
        let mut event_names = list(&stalls);
        let code = &self.names.info.code;
        event_names.extend(
            code.iter().enumerate().map(|(i, l)| interned(FIRST_TEXT + i as u64, &self.names.text(l.pc))),
        );
        let data = InternedData {
            event_categories: list(&CATEGORIES),
            event_names,
            debug_annotation_names: list(&ANNOTATIONS),
        };
        self.packet(TracePacket {
            interned_data: Some(data),
            sequence_flags: Some(CLEARED),
            ..TracePacket::default()
        })
    }

    /// A packet is a field of the message that the file is.
    fn packet(&mut self, packet: TracePacket) -> Result<(), ExportError> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(1), ..packet };
        self.bytes.clear();
        packet.encode_raw(&mut self.bytes);
        self.head.clear();
        self.head.push(0x0a);
        prost::encoding::encode_varint(self.bytes.len() as u64, &mut self.head);
        let written = self.out.write_all(&self.head).and_then(|()| self.out.write_all(&self.bytes));
        kept(written, &self.out)
    }

    fn describe(&mut self, track: Track, counter: u64) -> Result<u64, ExportError> {
        let (number, core) = (uuid(track, counter), track.core());
        if !self.known.insert(number) {
            return Ok(number);
        }
        let pid = i32::from(core) + 1;
        let process = process_uuid(core);
        if self.cores.insert(core) {
            let name = format!("core {core} (1 cycle = 1 ns): {}", self.names.title());
            self.descriptor(TrackDescriptor {
                uuid: Some(process),
                process: Some(ProcessDescriptor { pid: Some(pid), process_name: Some(name) }),
                ..TrackDescriptor::default()
            })?;
        }
        let mut descriptor = TrackDescriptor { uuid: Some(number), ..TrackDescriptor::default() };
        match track {
            Track::Path { core, slot, path: 0 } => {
                let tid = (i32::from(core) + 1) * 65536 + i32::from(slot);
                let name = format!("slot {slot}");
                descriptor.thread =
                    Some(ThreadDescriptor { pid: Some(pid), tid: Some(tid), thread_name: Some(name) });
            }
            Track::Path { core, slot, path } => {
                let parent = self.describe(Track::Path { core, slot, path: 0 }, 0)?;
                descriptor.parent_uuid = Some(parent);
                descriptor.name = Some(format!("slot {slot} path {path}"));
            }
            Track::Unit { unit, instance, .. } => {
                descriptor.parent_uuid = Some(process);
                let name = self.names.unit(unit, instance);
                descriptor.name = Some(name.unwrap_or_else(|| format!("unit {unit}.{instance}")));
            }
            Track::Port { port, .. } => {
                descriptor.parent_uuid = Some(process);
                let what = ["memory", "hits", "misses"][counter as usize % 3];
                descriptor.name = Some(format!("{} {what}", port_name(port)));
                let lines = CounterDescriptor { unit_name: Some("lines".into()) };
                descriptor.counter = (counter > 0).then_some(lines);
            }
        }
        self.descriptor(descriptor)?;
        Ok(number)
    }

    fn descriptor(&mut self, descriptor: TrackDescriptor) -> Result<(), ExportError> {
        self.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
    }

    fn event(&mut self, at: u64, event: TrackEvent) -> Result<(), ExportError> {
        self.packet(TracePacket {
            timestamp: Some(at),
            track_event: Some(event),
            sequence_flags: Some(NEEDS),
            ..TracePacket::default()
        })
    }

    fn begin_of(&mut self, track: Track, what: What) -> Result<TrackEvent, ExportError> {
        let mut event = TrackEvent {
            track_uuid: Some(self.describe(track, 0)?),
            category_iids: vec![iid(&CATEGORIES, what.category())],
            r#type: Some(EventType::SliceBegin as i32),
            ..TrackEvent::default()
        };
        match what {
            What::Issue(pc) | What::Unit(pc) | What::Done(pc) => match self.names.line(pc) {
                Some(i) => event.name_iid = Some(FIRST_TEXT + i as u64),
                None => event.name = Some(self.names.text(pc)),
            },
            What::Stall(reason) => event.name_iid = Some(reason as u64 + 1),
            What::Wave(wave) => event.name = Some(format!("wave {wave}")),
            What::Path(path) => event.name = Some(format!("path {path}")),
            What::Memory(port) => event.name = Some(format!("{} access", port_name(port))),
            What::Arrived => event.name = Some("barrier arrival".into()),
            What::Released => event.name = Some("barrier release".into()),
        }
        Ok(event)
    }

    fn item(&mut self, item: Item) -> Result<(), ExportError> {
        let ended = |track| TrackEvent {
            track_uuid: Some(uuid(track, 0)),
            r#type: Some(EventType::SliceEnd as i32),
            ..TrackEvent::default()
        };
        match item {
            Item::Begin { track, at, what } => {
                let event = self.begin_of(track, what)?;
                self.event(at, event)
            }
            Item::End { track, at } => self.event(at, ended(track)),
            Item::Span { track, from, to, what, event } => {
                let mut begin = self.begin_of(track, what)?;
                begin.debug_annotations = self.about(event, what);
                self.event(from, begin)?;
                self.event(to, ended(track))
            }
            Item::Mark { track, at, what, event, starts, ends } => {
                let mut mark = self.begin_of(track, what)?;
                mark.r#type = Some(EventType::Instant as i32);
                mark.debug_annotations = self.about(event, what);
                (mark.flow_ids, mark.terminating_flow_ids) = (starts, ends);
                self.event(at, mark)
            }
            Item::Counts { track, at, hits, misses } => {
                for (counter, value) in [(1, hits), (2, misses)] {
                    let count = TrackEvent {
                        track_uuid: Some(self.describe(track, counter)?),
                        r#type: Some(EventType::Counter as i32),
                        counter_value: Some(value as i64),
                        ..TrackEvent::default()
                    };
                    self.event(at, count)?;
                }
                Ok(())
            }
        }
    }

    fn about(&self, event: &Event, what: What) -> Vec<DebugAnnotation> {
        let number = |name: &str, value: u64| DebugAnnotation {
            name_iid: Some(iid(&ANNOTATIONS, name)),
            uint_value: Some(value),
            pointer_value: None,
        };
        let mut all = vec![number("pc", event.pc.into())];
        if let Some(line) = Some(self.names.source(event.pc)).filter(|&l| l > 0) {
            all.push(number("line", line.into()));
        }
        if matches!(what, What::Issue(_)) {
            let name_iid = Some(iid(&ANNOTATIONS, "mask"));
            all.push(DebugAnnotation { name_iid, uint_value: None, pointer_value: Some(event.mask) });
        }
        if matches!(what, What::Unit(_) | What::Done(_)) {
            all.push(number("wave", event.wave.into()));
        }
        match event.kind {
            wb_trace::Kind::Memory { lines, hits, misses, .. } => {
                all.extend(
                    [("lines", lines), ("hits", hits), ("misses", misses)].map(|(n, v)| number(n, v.into())),
                );
            }
            wb_trace::Kind::Barrier { arrived, needed, .. } => {
                all.extend([number("arrived", arrived.into()), number("needed", needed.into())]);
            }
            _ => {}
        }
        all
    }
}
