//! FST files, read by `wellen`: signals have the values that the events say, at the times they say.

use std::io::Cursor;
use std::path::Path;
use wb_export::{Format, Selection, export};
use wb_trace::{
    CodeLine, Event, Kind, MaskCause, NO_PC, Observer, StallReason, TraceFile, TraceInfo, TraceWriter,
    UnitInfo,
};

/// A small generator (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A run of a few slots as the simulator tells it: stalls when they end, so not in the order of time.
pub fn run(seed: u64, steps: usize) -> (TraceInfo, Vec<Event>) {
    let code =
        (0..16).map(|pc| CodeLine { pc, text: format!("op{pc}"), line: pc + 1, ..CodeLine::default() });
    let unit = UnitInfo { name: "alu".into(), instances: 1, port: "none".into(), ..UnitInfo::default() };
    let info = TraceInfo {
        program: "made-up".into(),
        timed: true,
        lanes: 64,
        cores: 2,
        slots: 3,
        units: vec![unit],
        code: code.collect(),
        ..TraceInfo::default()
    };
    let mut r = Random(seed);
    let mut events = Vec::new();
    let place = |i: usize| ((i / 3) as u16, (i % 3) as u16);
    let event = |i: usize, cycle: u64, pc: u32, mask: u64, kind: Kind| {
        let (core, slot) = place(i);
        Event { cycle, core, slot, wave: i as u32 + 10, path: 0, pc, mask, kind }
    };
    let mut next = [0u64; 6];
    let mut masks = [u64::MAX; 6];
    for i in 0..6 {
        events.push(event(i, 0, 0, u64::MAX, Kind::WaveStart { lanes: u64::MAX }));
    }
    let issue = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
    for step in 0..steps {
        // The path that is furthest behind issues next.
        let Some(i) = (0..6).min_by_key(|&i| (next[i], i)) else { continue };
        let wait = r.below(6);
        let pc = r.below(16) as u32;
        if wait > 0 {
            let reason = StallReason::ALL[r.below(8) as usize];
            events.push(event(i, next[i], pc, masks[i], Kind::Stall { cycles: wait as u32, reason }));
        }
        let at = next[i] + wait;
        events.push(event(i, at, pc, masks[i], issue));
        if step.is_multiple_of(5) {
            let new = r.below(u64::MAX) | 1;
            let kind = Kind::Mask { new, live: u64::MAX, origin: NO_PC, cause: MaskCause::Diverge };
            events.push(event(i, at, pc, masks[i], kind));
            masks[i] = new;
        }
        next[i] = at + 1;
    }
    for (i, &cycle) in next.iter().enumerate() {
        events.push(event(i, cycle, 0, masks[i], Kind::WaveEnd));
    }
    (info, events)
}

pub fn file(info: &TraceInfo, events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes);
    writer.begin(info);
    writer.events(events);
    writer.end(events.iter().map(|e| e.cycle).max().unwrap_or(0) + 1);
    writer.finish().expect("written");
    bytes
}

fn exported(bytes: &[u8], format: Format, to: &Path) {
    let mut trace = TraceFile::open(Cursor::new(bytes)).expect("a trace");
    let selection = Selection::default();
    export(&mut trace, format, &selection, to, &mut |_, _| {}).expect("exported");
}

/// What a signal should be at each cycle, by the events alone.
fn expected(
    events: &[Event],
    place: (u16, u16),
    cycles: usize,
) -> Vec<(Option<u32>, u64, Option<StallReason>)> {
    let own: Vec<&Event> = events.iter().filter(|e| (e.core, e.slot) == place).collect();
    let mut out = Vec::new();
    let (mut pc, mut mask) = (None, 0);
    for cycle in 0..cycles as u64 {
        for e in own.iter().filter(|e| e.cycle == cycle) {
            match e.kind {
                Kind::WaveStart { lanes } => mask = lanes,
                Kind::Issue { .. } => (pc, mask) = (Some(e.pc), e.mask),
                Kind::Mask { new, .. } => mask = new,
                _ => {}
            }
        }
        let waits = own.iter().find_map(|e| match e.kind {
            Kind::Stall { cycles, reason } if (e.cycle..e.cycle + u64::from(cycles)).contains(&cycle) => {
                Some(reason)
            }
            _ => None,
        });
        out.push((pc, mask, waits));
    }
    out
}

#[test]
fn wellen_reads_what_the_events_say() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("run.fst");
    let (info, events) = run(7, 600);
    exported(&file(&info, &events), Format::Fst, &path);
    let mut waves = wellen::simple::read(&path).expect("wellen reads it");
    let last =
        events.iter().filter(|e| matches!(e.kind, Kind::WaveEnd)).map(|e| e.cycle).min().expect("ends");
    let times = waves.time_table().to_vec();
    let mut compared = 0;
    for (core, slot) in [(0, 0), (0, 2), (1, 1)] {
        let want = expected(&events, (core, slot), last as usize);
        let (core_name, slot_name) = (format!("core{core}"), format!("slot{slot}"));
        let scope = [core_name.as_str(), slot_name.as_str(), "path0"];
        let mut signal = |name: &str| {
            let var = waves.hierarchy().lookup_var(&scope, &name).expect("a signal");
            let signal = waves.hierarchy()[var].signal_ref();
            waves.load_signals(&[signal]);
            signal
        };
        let (pc, mask) = (signal("pc"), signal("mask"));
        let stalls = StallReason::ALL.map(|r| signal(&format!("stall_{}", r.name().replace('-', "_"))));
        let value = |signal, cycle: u64| -> Option<u64> {
            let at = times.partition_point(|&t| t <= cycle).checked_sub(1)? as u32;
            let signal = waves.get_signal(signal)?;
            let offset = signal.get_offset(at)?;
            let bits = signal.get_value_at(&offset, offset.elements - 1).to_bit_string()?;
            u64::from_str_radix(&bits, 2).ok()
        };
        for (cycle, &(want_pc, want_mask, want_stall)) in want.iter().enumerate() {
            let cycle = cycle as u64;
            assert_eq!(value(pc, cycle), want_pc.map(u64::from), "pc of {scope:?} at {cycle}");
            assert_eq!(value(mask, cycle), Some(want_mask), "mask of {scope:?} at {cycle}");
            for (reason, &signal) in StallReason::ALL.iter().zip(&stalls) {
                let on = u64::from(want_stall == Some(*reason));
                assert_eq!(value(signal, cycle).unwrap_or(0), on, "{reason:?} of {scope:?} at {cycle}");
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared} cycles were compared");
}

/// Every format takes every trace, whole or cut, and says so if nothing is left of it.
#[test]
fn all_formats_take_all_traces() {
    let dir = tempfile::tempdir().expect("folder");
    for seed in 1..6 {
        let (info, events) = run(seed, 50 * seed as usize);
        let bytes = file(&info, &events);
        for format in Format::ALL {
            let to = dir.path().join(format!("{seed}.{}", format.extension()));
            exported(&bytes, format, &to);
            assert_eq!(to.is_dir(), format.is_folder());
            let mut trace = TraceFile::open(Cursor::new(&bytes[..])).expect("a trace");
            let selection = Selection { from: 1 << 40, ..Selection::default() };
            let none = export(&mut trace, format, &selection, &to, &mut |_, _| {});
            assert!(none.expect_err("nothing").to_string().contains("no event"));
        }
    }
}
