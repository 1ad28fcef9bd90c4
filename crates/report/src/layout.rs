//! Where things go in a picture: how many cycles per column, how high a lane is, which slots and
//! units are drawn, what the notes say. Decided before drawing, so that the canvas fits.

use wb_trace::PortKind;

use crate::canvas::text_width;
use crate::history::History;
use crate::palette::Palette;

#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// First cycle to draw.
    pub from: u64,
    /// Cycle to stop before; the end of the run if none.
    pub to: Option<u64>,
    pub max_width: u32,
    pub max_height: u32,
    /// Side of a cell in pixels; chosen to fit if none, and reduced where it does not.
    pub cell: Option<u32>,
    pub title: String,
    /// Draw the bars of units and cache.
    pub units: bool,
    pub palette: Palette,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions {
            from: 0,
            to: None,
            max_width: 1600,
            max_height: 1200,
            cell: None,
            title: String::new(),
            units: true,
            palette: Palette::default(),
        }
    }
}

pub(crate) const LABEL_SIZE: u32 = 14;
pub(crate) const TITLE_SIZE: u32 = 18;
pub(crate) const BAR_HEIGHT: i32 = 14;
pub(crate) const BAR_GAP: i32 = 4;
pub(crate) const LEGEND_ROW: i32 = 20;
const MARGIN: i32 = 14;
const AXIS_HEIGHT: i32 = 34;
const CORE_GAP: i32 = 6;
/// Slots at least this high get a frame and a wider gap.
const FRAMED: i32 = 12;
const MIN_PLOT: i32 = 420;
const MAX_SIDE: u32 = 16_384;
/// Machines with at most this many slots are drawn with their empty ones.
const SMALL_MACHINE: usize = 8;

/// A row group: the lanes of one slot.
pub(crate) struct SlotRow {
    pub core: u16,
    pub slot: u16,
    pub y: i32,
    pub label: String,
}

pub(crate) enum BarKind {
    Unit {
        unit: usize,
        instance: u32,
    },
    Cache {
        port: PortKind,
    },
    /// All copies of a unit in all cores.
    Kind {
        unit: usize,
    },
}

pub(crate) struct Bar {
    pub core: u16,
    /// Of all cores, not only of that one.
    pub all: bool,
    pub kind: BarKind,
    pub y: i32,
    pub label: String,
}

pub(crate) struct Layout {
    pub width: i32,
    pub height: i32,
    pub from: u64,
    pub to: u64,
    /// Cycles in a column, 1 unless the run is long.
    pub per_column: u64,
    pub columns: usize,
    pub cell_width: i32,
    pub cell_height: i32,
    /// Lanes drawn as one row, 1 unless the machine is large.
    pub group: u32,
    pub lanes: u32,
    pub cores: u16,
    pub plot_x: i32,
    pub plot_width: i32,
    pub framed: bool,
    pub axis_y: i32,
    pub legend_y: i32,
    pub slots: Vec<SlotRow>,
    pub bars: Vec<Bar>,
    pub notes: Vec<String>,
}

impl Layout {
    /// `legend` is the height the legend needs, given the width it has.
    pub fn plan(history: &History, options: &PictureOptions, legend: impl Fn(i32) -> i32) -> Layout {
        let mut notes = Vec::new();
        let (kept_from, kept_to) = history.cycles();
        let from = options.from.max(kept_from).min(kept_to);
        let to = options.to.unwrap_or(u64::MAX).clamp(from, kept_to);
        let (mut slots, hidden) = rows(history);
        if hidden > 0 {
            notes.push(format!("{hidden} empty slots not drawn"));
        }
        let mut bars = if options.units { bars(history, &mut notes) } else { Vec::new() };

        let labels = slots.iter().map(|s| &s.label).chain(bars.iter().map(|b| &b.label));
        let labels = labels.map(|l| text_width(l, LABEL_SIZE)).max().unwrap_or(0);
        let plot_x = MARGIN + labels.clamp(40, 260) + 8;
        let max_width = options.max_width.clamp(320, MAX_SIDE) as i32;
        let room = (max_width - plot_x - MARGIN).max(100);
        let (per_column, columns, cell_width) = columns(to - from, room, options.cell);
        if per_column > 1 {
            notes.push(format!("one column = {per_column} cycles, colours averaged"));
        }
        let plot_width = columns as i32 * cell_width;
        let width = (plot_x + plot_width.max(MIN_PLOT.min(room)) + MARGIN).max(320);

        let lanes_y = if options.title.is_empty() { MARGIN } else { MARGIN + 26 };
        let max_height = options.max_height.clamp(200, MAX_SIDE) as i32;
        let lanes = history.lanes();
        // Notes that are still to come take at most two more legend rows.
        let fixed = lanes_y + AXIS_HEIGHT + legend(width - 2 * MARGIN) + MARGIN + 8 + 2 * LEGEND_ROW;
        let bar_room = bars_room(&slots, lanes, max_height - fixed);
        limit_bars(history, &mut bars, bar_room, &mut notes);
        let room = max_height - fixed - bars.len() as i32 * (BAR_HEIGHT + BAR_GAP);
        let (group, cell_height) = heights(&mut slots, lanes, room, options.cell, &mut notes);
        if group > 1 {
            notes.push(format!("one row = {group} lanes, colours averaged"));
        }
        if let Some(cut) = history.cut() {
            notes.push(format!("history cut at cycle {cut}: too many records, draw a range"));
        }

        let rows = lanes.div_ceil(group) as i32 * cell_height;
        let mut y = lanes_y;
        let mut before: Option<u16> = None;
        for slot in &mut slots {
            y += before.map_or(0, |core| if core == slot.core { slot_gap(rows) } else { CORE_GAP });
            slot.y = y;
            y += rows;
            before = Some(slot.core);
        }
        let axis_y = y + 1;
        y += AXIS_HEIGHT;
        for bar in &mut bars {
            bar.y = y;
            y += BAR_HEIGHT + BAR_GAP;
        }
        let legend_y = y + 8;
        let note_rows = if notes.is_empty() { 0 } else { wrap(&notes, width - 2 * MARGIN).len() as i32 };
        let height = legend_y + legend(width - 2 * MARGIN) + note_rows * LEGEND_ROW + MARGIN;
        Layout {
            width,
            height,
            from,
            to,
            per_column,
            columns,
            cell_width,
            cell_height,
            group,
            lanes,
            cores: cores(history),
            plot_x,
            plot_width,
            framed: rows >= FRAMED,
            axis_y,
            legend_y,
            slots,
            bars,
            notes,
        }
    }

    pub fn margin(&self) -> i32 {
        MARGIN
    }

    /// Distance of axis ticks in cycles: 1, 2 or 5 times a power of ten, far enough apart to label.
    pub fn tick_step(&self) -> u64 {
        let pixels_per_cycle = self.cell_width as f64 / self.per_column as f64;
        let room = f64::from(text_width(&self.to.to_string(), LABEL_SIZE) + 24);
        let mut step = 1u64;
        loop {
            for factor in [1, 2, 5] {
                let candidate = step.saturating_mul(factor);
                if candidate as f64 * pixels_per_cycle >= room || candidate >= u64::MAX / 2 {
                    return candidate;
                }
            }
            step = step.saturating_mul(10);
        }
    }

    /// Position of a cycle on the time axis.
    pub fn x_of(&self, cycle: u64) -> i32 {
        let cycle = cycle.clamp(self.from, self.to) - self.from;
        self.plot_x + (cycle as f64 / self.per_column as f64 * self.cell_width as f64) as i32
    }
}

/// Cycles per column, number of columns, width of a column.
fn columns(cycles: u64, room: i32, cell: Option<u32>) -> (u64, usize, i32) {
    let room = room as u64;
    let cell = cell.map(|c| u64::from(c.clamp(1, 64)));
    let widest = cell.unwrap_or(if cycles <= 40 { 16 } else { 8 });
    if cycles == 0 {
        return (1, 0, widest as i32);
    }
    // A cell size that was asked for counts unless the picture would be too wide.
    let width = (room / cycles).min(widest);
    if width >= 1 {
        return (1, cycles as usize, width as i32);
    }
    let per_column = cycles.div_ceil(room);
    (per_column, cycles.div_ceil(per_column) as usize, 1)
}

/// Lanes per row and height of a row; drops slots when even one row per slot is too much.
fn heights(
    slots: &mut Vec<SlotRow>,
    lanes: u32,
    room: i32,
    cell: Option<u32>,
    notes: &mut Vec<String>,
) -> (u32, i32) {
    let count = slots.len().max(1) as i32;
    let tallest = cell.map_or(if count * lanes as i32 <= 40 { 10 } else { 8 }, |c| c.clamp(1, 64) as i32);
    let mut group = 1;
    loop {
        let rows = lanes.div_ceil(group) as i32;
        let fits = |&height: &i32| total_height(slots, rows * height) <= room;
        if let Some(height) = (1..=tallest).rev().find(fits) {
            return (group, height);
        }
        if group >= lanes {
            break;
        }
        group *= 2;
    }
    let all = slots.len();
    while slots.len() > 1 && total_height(slots, 1) > room {
        slots.pop();
    }
    if slots.len() < all {
        notes.push(format!("{} more slots do not fit and are not drawn", all - slots.len()));
    }
    (group, 1)
}

fn slot_gap(height: i32) -> i32 {
    if height >= FRAMED { 3 } else { 1 }
}

/// Height of all slots when each is `height` high.
fn total_height(slots: &[SlotRow], height: i32) -> i32 {
    let count = slots.len() as i32;
    let steps = slots.windows(2).filter(|pair| pair[0].core != pair[1].core).count() as i32;
    count * height + (count - 1 - steps).max(0) * slot_gap(height) + steps * CORE_GAP
}

/// Height the bars may take: what the lanes leave over at one pixel each, but at least a third.
fn bars_room(slots: &[SlotRow], lanes: u32, room: i32) -> i32 {
    (room - total_height(slots, lanes as i32)).max(room / 3)
}

/// Where not every unit has room for a bar of its own, every kind of unit has one.
fn limit_bars(history: &History, bars: &mut Vec<Bar>, room: i32, notes: &mut Vec<String>) {
    let fit = (room / (BAR_HEIGHT + BAR_GAP)).max(1) as usize;
    if bars.len() <= fit {
        return;
    }
    notes.retain(|n| !n.ends_with(IDLE_UNITS));
    let kind = |(unit, u): (usize, &wb_trace::UnitInfo)| {
        let label = format!("{} × {}", u.name, u.instances * u32::from(cores(history)));
        Bar { core: 0, all: true, kind: BarKind::Kind { unit }, y: 0, label }
    };
    let mut kinds: Vec<Bar> = history.info().units.iter().enumerate().map(kind).collect();
    if let Some(port) = history.bar_port() {
        let label = format!("{} × {}", cache_name(port), cores(history));
        kinds.push(Bar { core: 0, all: true, kind: BarKind::Cache { port }, y: 0, label });
    }
    *bars = kinds;
    notes.push("units: a bar for all copies of a kind, stronger where more of them are busy".to_owned());
    if bars.len() > fit {
        notes.push(format!("{} more kinds of units do not fit and are not drawn", bars.len() - fit));
        bars.truncate(fit);
    }
}

const IDLE_UNITS: &str = "idle units not drawn";

fn cores(history: &History) -> u16 {
    let used = history.slots().iter().map(|s| s.0 + 1).max().unwrap_or(0);
    used.max(history.info().cores.min(64) as u16)
}

fn cache_name(port: PortKind) -> &'static str {
    if port == PortKind::Sampler { "sampler cache" } else { "data cache" }
}

/// Slots to draw, and how many are left out because nothing ran in them.
fn rows(history: &History) -> (Vec<SlotRow>, usize) {
    let info = history.info();
    let seen = history.slots();
    let used: Vec<(u16, u16)> = seen.iter().filter(|s| s.2).map(|s| (s.0, s.1)).collect();
    let total = info.cores as usize * info.slots as usize;
    let all = if total > 0 && total <= SMALL_MACHINE {
        let cores = 0..info.cores as u16;
        cores.flat_map(|core| (0..info.slots as u16).map(move |slot| (core, slot))).collect()
    } else {
        used.clone()
    };
    let hidden = if all.len() < total { total - used.len() } else { 0 };
    let many_cores = info.cores > 1 || all.iter().any(|&(core, _)| core > 0);
    let row = |(core, slot): (u16, u16)| {
        let mut label = if many_cores { format!("core {core} slot {slot}") } else { format!("slot {slot}") };
        let residents = history.residents(core, slot);
        if let Some(first) = residents.first()
            && residents.iter().all(|r| r.wave == first.wave)
        {
            label += &format!(" (wave {})", first.wave);
        }
        SlotRow { core, slot, y: 0, label }
    };
    (all.into_iter().map(row).collect(), hidden)
}

/// Unit and cache bars; idle units are left out of large machines.
fn bars(history: &History, notes: &mut Vec<String>) -> Vec<Bar> {
    let info = history.info();
    let cores = cores(history);
    let prefix = |core: u16| if cores > 1 { format!("core {core} ") } else { String::new() };
    let mut all = Vec::new();
    for core in 0..cores {
        for (unit, u) in info.units.iter().enumerate() {
            for instance in 0..u.instances {
                let copy = if u.instances > 1 { format!(" {instance}") } else { String::new() };
                let label = format!("{}{}{copy}", prefix(core), u.name);
                all.push(Bar { core, all: false, kind: BarKind::Unit { unit, instance }, y: 0, label });
            }
        }
        if let Some(port) = history.bar_port() {
            let name = cache_name(port);
            all.push(Bar {
                core,
                all: false,
                kind: BarKind::Cache { port },
                y: 0,
                label: format!("{}{name}", prefix(core)),
            });
        }
    }
    let used = |bar: &Bar| match bar.kind {
        BarKind::Unit { unit, instance } => !history.unit(bar.core, unit, instance).is_empty(),
        BarKind::Cache { port } => !history.accesses(bar.core, port).is_empty(),
        BarKind::Kind { .. } => true,
    };
    if all.len() > 8 {
        let before = all.len();
        all.retain(used);
        if all.len() < before {
            notes.push(format!("{} {IDLE_UNITS}", before - all.len()));
        }
    }
    all
}

/// Notes joined into lines that fit.
pub(crate) fn wrap(notes: &[String], width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for note in notes {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line}; {note}"), LABEL_SIZE) <= width => {
                *line += "; ";
                *line += note;
            }
            _ => lines.push(note.clone()),
        }
    }
    lines
}
