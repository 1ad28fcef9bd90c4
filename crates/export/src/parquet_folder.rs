//! Parquet: a folder with `events.parquet`, a row for each event, and `instructions.parquet`, a row for each instruction with its
//! statistics.

use crate::error::ExportError;
use crate::parquet_table::{Cell, Table, Type};
use crate::source::{Names, Source, port_name};
use std::path::Path;
use wb_trace::{Event, Kind, MaskCause, NO_PATH, NO_PC, Observer, Statistics, Stats};

/// Of every event.
const ALWAYS: [(&str, Type); 8] = [
    ("cycle", Type::U64),
    ("core", Type::U32),
    ("slot", Type::U32),
    ("wave", Type::U32),
    ("path", Type::U32),
    ("pc", Type::U32),
    ("mask", Type::U64),
    ("kind", Type::Text),
];

/// Of events of some kinds.
const SOMETIMES: [(&str, Type); 24] = [
    ("unit", Type::Text),
    ("instance", Type::U32),
    ("class", Type::Text),
    ("busy", Type::U32),
    ("stall", Type::Text),
    ("stall_cycles", Type::U32),
    ("lanes", Type::U64),
    ("other_lanes", Type::U64),
    ("live", Type::U64),
    ("origin", Type::U32),
    ("cause", Type::Text),
    ("at", Type::U32),
    ("into", Type::U32),
    ("refused", Type::Text),
    ("port", Type::Text),
    ("write", Type::Bool),
    ("lines", Type::U32),
    ("hits", Type::U32),
    ("misses", Type::U32),
    ("evictions", Type::U32),
    ("done", Type::U64),
    ("barrier", Type::U64),
    ("arrived", Type::U32),
    ("needed", Type::U32),
];

const INSTRUCTIONS: [(&str, Type); 9] = [
    ("pc", Type::U32),
    ("address", Type::U64),
    ("line", Type::U32),
    ("label", Type::Text),
    ("text", Type::Text),
    ("executed", Type::U64),
    ("mean_active_lanes", Type::F64),
    ("lane_cycles_lost", Type::U64),
    ("stall_cycles", Type::U64),
];

pub(crate) fn write(source: &mut Source, to: &Path) -> Result<(), ExportError> {
    let names = Names::new(source.info());
    wb_files::make_folder(to)?;
    let info = &names.info;
    let about = [("program", &info.program), ("machine", &info.machine), ("mechanism", &info.mechanism)];
    let about = || about.iter().map(|(k, v)| (format!("wavebound.{k}"), v.to_string())).collect::<Vec<_>>();
    let mut table = Table::create(&to.join("events.parquet"), &ALWAYS, &SOMETIMES, about())?;
    let mut statistics = Statistics::new();
    statistics.begin(info);
    source.walk(|events| {
        statistics.events(events);
        events.iter().try_for_each(|e| row(&mut table, &names, e))
    })?;
    table.finish()?;
    let mut table = Table::create(&to.join("instructions.parquet"), &INSTRUCTIONS, &[], about())?;
    instructions(&mut table, &statistics.stats())?;
    table.finish()
}

/// The name of an event's kind.
fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::WaveStart { .. } => "wave-start",
        Kind::WaveEnd => "wave-end",
        Kind::Issue { .. } => "issue",
        Kind::Nop => "nop",
        Kind::Stall { .. } => "stall",
        Kind::Split { .. } => "split",
        Kind::Mask { .. } => "mask",
        Kind::PathNew { .. } => "path-new",
        Kind::PathMerge { .. } => "path-merge",
        Kind::PathStart { .. } => "path-start",
        Kind::PathEnd { .. } => "path-end",
        Kind::SplitRefused { .. } => "split-refused",
        Kind::Memory { .. } => "memory",
        Kind::Barrier { .. } => "barrier",
    }
}

fn cause_name(cause: MaskCause) -> &'static str {
    match cause {
        MaskCause::Diverge => "diverge",
        MaskCause::Switch => "switch",
        MaskCause::Reconverge => "reconverge",
        MaskCause::LoopExit => "loop-exit",
        MaskCause::MaskTest => "mask-test",
        MaskCause::Lanes => "lanes",
        MaskCause::Interrupt => "interrupt",
        MaskCause::Exit => "exit",
    }
}

fn row(table: &mut Table, names: &Names, event: &Event) -> Result<(), ExportError> {
    let number = |n: u64| Cell::Number(n);
    let mut cells = vec![
        number(event.cycle),
        number(event.core.into()),
        number(event.slot.into()),
        number(event.wave.into()),
        number(event.path.into()),
        number(event.pc.into()),
        number(event.mask),
        Cell::Text(kind_name(&event.kind)),
    ];
    cells.extend(SOMETIMES.iter().map(|_| Cell::None));
    let mut set = |name: &str, cell: Cell<'static>| {
        if let Some(i) = SOMETIMES.iter().position(|c| c.0 == name) {
            cells[ALWAYS.len() + i] = cell;
        }
    };
    let (unit_name, class_name);
    match event.kind {
        Kind::WaveEnd | Kind::Nop => {}
        Kind::WaveStart { lanes } | Kind::PathMerge { lanes } | Kind::PathStart { lanes } => {
            set("lanes", number(lanes));
        }
        Kind::Issue { unit, instance, class, busy } => {
            set("instance", number(instance.into()));
            set("busy", number(busy.into()));
            unit_name = names.info.units.get(usize::from(unit)).map(|u| u.name.clone());
            class_name = names.info.classes.get(usize::from(class)).cloned();
            for (name, text) in [("unit", &unit_name), ("class", &class_name)] {
                let at = SOMETIMES.iter().position(|c| c.0 == name).unwrap_or(0);
                cells[ALWAYS.len() + at] = text.as_deref().map_or(Cell::None, Cell::Text);
            }
        }
        Kind::Stall { cycles, reason } => {
            set("stall", Cell::Text(reason.name()));
            set("stall_cycles", number(cycles.into()));
        }
        Kind::Split { taken, other } => {
            set("lanes", number(taken));
            set("other_lanes", number(other));
        }
        Kind::Mask { new, live, origin, cause } => {
            set("lanes", number(new));
            set("live", number(live));
            if origin != NO_PC {
                set("origin", number(origin.into()));
            }
            set("cause", Cell::Text(cause_name(cause)));
        }
        Kind::PathNew { at, lanes } => {
            set("at", number(at.into()));
            set("lanes", number(lanes));
        }
        Kind::PathEnd { into } => {
            if into != NO_PATH {
                set("into", number(into.into()));
            }
        }
        Kind::SplitRefused { reason, lanes } => {
            set("refused", Cell::Text(reason.name()));
            set("lanes", number(lanes));
        }
        Kind::Memory { port, write, lines, hits, misses, evictions, done } => {
            set("port", Cell::Text(port_name(port)));
            set("write", Cell::Bool(write));
            for (name, n) in [("lines", lines), ("hits", hits), ("misses", misses), ("evictions", evictions)]
            {
                set(name, number(n.into()));
            }
            set("done", number(done));
        }
        Kind::Barrier { id, arrived, needed } => {
            set("barrier", number(id));
            set("arrived", number(arrived.into()));
            set("needed", number(needed.into()));
        }
    }
    table.row(&cells)
}

fn instructions(table: &mut Table, stats: &Stats) -> Result<(), ExportError> {
    for p in &stats.pcs {
        table.row(&[
            Cell::Number(p.pc.into()),
            Cell::Number(p.addr),
            Cell::Number(p.line.into()),
            Cell::Text(&p.label),
            Cell::Text(&p.text),
            Cell::Number(p.executed),
            Cell::Float(p.mean_active_lanes),
            Cell::Number(p.lane_cycles_lost),
            Cell::Number(p.stall_cycles),
        ])?;
    }
    Ok(())
}
