//! Draws an execution history: a row per lane, a column per cycle; below it a bar per unit coloured by wave and a bar for the
//! sampler's cache.

use std::path::Path;

use plotters::style::{RGBColor, WHITE};
use wb_trace::PortKind;

use crate::ReportError;
use crate::canvas::{Align, Canvas, INK, render, save, text_width};
use crate::history::{Cell, History, Span};
use crate::layout::{
    BAR_HEIGHT, Bar, BarKind, LABEL_SIZE, LEGEND_ROW, Layout, PictureOptions, SlotRow, TITLE_SIZE, wrap,
};
use crate::palette::{Color, PATHS, Palette};

const HIT: Color = (60, 170, 75);
const MISS: Color = (245, 140, 30);
const EVICT: Color = (140, 70, 180);
const IDLE: Color = (232, 232, 232);
const LINE: RGBColor = RGBColor(120, 120, 120);

/// Colours of waves in unit bars, by wave number modulo ten.
const WAVES: [Color; 10] = [
    (31, 119, 180),
    (255, 127, 14),
    (44, 160, 44),
    (214, 39, 40),
    (148, 103, 189),
    (140, 86, 75),
    (227, 119, 194),
    (23, 190, 207),
    (188, 189, 34),
    (90, 90, 160),
];

/// What a cell of the picture is an average of: lane states, then dispatches of split paths.
const SHADES: usize = Cell::ALL.len() + PATHS;

fn shade(span: &Span) -> usize {
    match (span.cell, span.path) {
        (Cell::Dispatched, path @ 1..) => Cell::ALL.len() + usize::from(path - 1) % PATHS,
        (cell, _) => cell as usize,
    }
}

impl Cell {
    /// As the legend says it.
    pub fn name(self) -> &'static str {
        match self {
            Cell::Empty => "empty slot",
            Cell::Ended => "lane ended",
            Cell::Masked => "masked off",
            Cell::Dispatched => "dispatched",
            Cell::Dependency => "dependency stall",
            Cell::Memory => "memory stall",
            Cell::NotDispatched => "not dispatched",
        }
    }
}

/// Draws to a file, PNG or SVG by its extension.
pub fn draw(history: &History, options: &PictureOptions, path: &Path) -> Result<(), ReportError> {
    save(path, &svg(history, options))
}

/// The picture as width, height and RGB bytes, row by row.
pub fn pixels(history: &History, options: &PictureOptions) -> Result<(u32, u32, Vec<u8>), ReportError> {
    let picture = render(&svg(history, options))?;
    let rgb = picture.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    Ok((picture.width(), picture.height(), rgb))
}

/// The picture as SVG text.
pub fn svg(history: &History, options: &PictureOptions) -> String {
    let (layout, legend) = plan(history, options);
    let mut canvas = Canvas::new(layout.width, layout.height);
    paint(history, options, &layout, &legend, &mut canvas);
    canvas.finish()
}

/// A colour, or none for a heading, and what it means.
type Legend = Vec<(Option<Color>, String)>;

fn plan(history: &History, options: &PictureOptions) -> (Layout, Legend) {
    let legend = legend(history, options);
    let layout = Layout::plan(history, options, |width| legend_rows(&legend, width) * LEGEND_ROW);
    (layout, legend)
}

fn legend(history: &History, options: &PictureOptions) -> Legend {
    let mut legend: Legend = vec![(None, "lanes:".into())];
    let order = [
        Cell::Dispatched,
        Cell::Masked,
        Cell::Dependency,
        Cell::Memory,
        Cell::NotDispatched,
        Cell::Ended,
        Cell::Empty,
    ];
    legend.extend(order.map(|cell| (Some(options.palette.of(cell)), cell.name().to_string())));
    if history.is_split() {
        legend.push((None, "dispatched for path:".into()));
        for (i, color) in options.palette.paths().into_iter().enumerate() {
            let more = if i + 1 == PATHS { ", …" } else { "" };
            legend.push((Some(color), format!("{}{more}", i + 1)));
        }
    }
    if !options.units {
        return legend;
    }
    if !history.info().units.is_empty() {
        legend.push((None, "units by wave:".into()));
        let waves = history.slots().into_iter().flat_map(|s| history.residents(s.0, s.1)).map(|r| r.wave);
        let last = waves.max().unwrap_or(0);
        for wave in 0..=last.min(9) {
            let more = if wave + 10 <= last { ", …" } else { "" };
            legend.push((Some(WAVES[wave as usize]), format!("{wave}{more}")));
        }
        legend.push((Some(IDLE), "idle".into()));
    }
    if let Some(port) = history.bar_port() {
        legend.push((None, if port == PortKind::Sampler { "sampler:" } else { "data cache:" }.into()));
        for (color, name) in [(HIT, "hit"), (MISS, "miss"), (EVICT, "evict")] {
            legend.push((Some(color), name.into()));
        }
    }
    legend
}

const SWATCH: i32 = 12;

fn entry_width(entry: &(Option<Color>, String)) -> i32 {
    text_width(&entry.1, LABEL_SIZE) + if entry.0.is_some() { SWATCH + 5 + 16 } else { 10 }
}

/// Where each entry goes as (x, row); every heading starts a row.
fn legend_places(legend: &Legend, width: i32) -> Vec<(i32, i32)> {
    let indent = legend.iter().filter(|e| e.0.is_none()).map(entry_width).max().unwrap_or(0);
    let (mut x, mut row) = (0, -1);
    let place = |entry: &(Option<Color>, String)| {
        if entry.0.is_none() {
            row += 1;
            x = indent;
            return (0, row);
        }
        let needed = entry_width(entry);
        if x > indent && x + needed > width {
            row += 1;
            x = indent;
        }
        let at = x;
        x += needed;
        (at, row)
    };
    legend.iter().map(place).collect()
}

fn legend_rows(legend: &Legend, width: i32) -> i32 {
    legend_places(legend, width).last().map_or(0, |place| place.1 + 1)
}

fn paint(history: &History, options: &PictureOptions, layout: &Layout, legend: &Legend, canvas: &mut Canvas) {
    if !options.title.is_empty() {
        let at = (layout.margin(), layout.margin() + 8);
        canvas.text(&options.title, at, TITLE_SIZE, Align::Left, INK);
    }
    let mut labelled = i32::MIN;
    for slot in &layout.slots {
        paint_slot(canvas, history, layout, slot, options.palette, &mut labelled);
    }
    paint_axis(canvas, layout);
    for bar in &layout.bars {
        paint_bar(canvas, history, layout, bar);
    }
    paint_legend(canvas, layout, legend);
}

fn paint_slot(
    canvas: &mut Canvas,
    history: &History,
    layout: &Layout,
    slot: &SlotRow,
    palette: Palette,
    labelled: &mut i32,
) {
    let rows = layout.lanes.div_ceil(layout.group) as usize;
    let height = rows as i32 * layout.cell_height;
    let grid = colors(history, layout, slot, palette);
    if layout.framed {
        canvas.frame(layout.plot_x, slot.y, layout.plot_width, height, LINE);
    }
    // Equal colours one after the other: they become one path.
    let mut all = blocks(&grid, rows, layout.columns);
    all.sort_by_key(|b| (b.color, b.row, b.column));
    for block in all {
        let x = layout.plot_x + block.column as i32 * layout.cell_width;
        let y = slot.y + block.row as i32 * layout.cell_height;
        let w = block.columns as i32 * layout.cell_width;
        let h = block.rows as i32 * layout.cell_height;
        canvas.rect(x, y, w, h, rgb(block.color));
    }
    // Slots thinner than text are labelled where there is room.
    let middle = slot.y + height / 2;
    if middle.saturating_sub(*labelled) >= LABEL_SIZE as i32 {
        canvas.text(&slot.label, (layout.plot_x - 8, middle), LABEL_SIZE, Align::Right, INK);
        *labelled = middle;
    }
}

/// Colours of a slot's rows and columns: the average of what the lanes and cycles in each cell did.
fn colors(history: &History, layout: &Layout, slot: &SlotRow, palette: Palette) -> Vec<Color> {
    let (core, slot) = (slot.core, slot.slot);
    let columns = layout.columns;
    let groups: Vec<u64> = (0..layout.lanes.div_ceil(layout.group)).map(|g| group_mask(layout, g)).collect();
    let mut tallies = vec![[0u64; SHADES]; groups.len() * columns];
    for span in history.spans(core, slot) {
        for (column, cycles) in overlap(layout, span.from, span.to) {
            for (row, &lanes) in groups.iter().enumerate() {
                let count = u64::from((span.mask & lanes).count_ones());
                tallies[row * columns + column][shade(span)] += count * cycles;
            }
        }
    }
    // What is left of a wave's stay is masked off or ended.
    let mut stays = vec![(0u64, 0u64); groups.len() * columns];
    for resident in history.residents(core, slot) {
        for (column, cycles) in overlap(layout, resident.from, resident.to) {
            for (row, &lanes) in groups.iter().enumerate() {
                let stay = &mut stays[row * columns + column];
                stay.0 += u64::from(lanes.count_ones()) * cycles;
                stay.1 += u64::from((resident.live & lanes).count_ones()) * cycles;
            }
        }
    }
    for (i, (tally, (there, live))) in tallies.iter_mut().zip(stays).enumerate() {
        let (row, column) = (i / columns, (i % columns) as u64);
        let start = layout.from + column * layout.per_column;
        let cycles = layout.per_column.min(layout.to - start);
        let whole = u64::from(groups[row].count_ones()) * cycles;
        let active: u64 = tally.iter().sum();
        let masked = live.saturating_sub(active);
        tally[Cell::Masked as usize] += masked;
        tally[Cell::Ended as usize] += there.saturating_sub(active + masked);
        tally[Cell::Empty as usize] += whole.saturating_sub(there.max(active));
    }
    tallies.iter().map(|tally| mix(tally, palette)).collect()
}

fn group_mask(layout: &Layout, group: u32) -> u64 {
    let first = group * layout.group;
    let last = (first + layout.group).min(layout.lanes);
    (first..last).fold(0, |mask, lane| mask | 1 << lane)
}

/// Columns that `from..to` touches, with the cycles in each.
fn overlap(layout: &Layout, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    let (from, to) = (from.max(layout.from), to.min(layout.to));
    let (start, per) = (layout.from, layout.per_column);
    let columns = if from < to { (from - start) / per..(to - start).div_ceil(per) } else { 0..0 };
    columns.map(move |column| {
        let left = start + column * per;
        (column as usize, to.min(left + per) - from.max(left))
    })
}

fn mix(tally: &[u64; SHADES], palette: Palette) -> Color {
    let colors = Cell::ALL.iter().map(|&cell| palette.of(cell)).chain(palette.paths());
    let parts = colors.zip(tally.iter().copied());
    average(parts).unwrap_or(palette.of(Cell::Empty))
}

fn average(parts: impl Iterator<Item = (Color, u64)>) -> Option<Color> {
    let (mut sum, mut total) = ([0f64; 3], 0f64);
    for ((r, g, b), n) in parts {
        let n = n as f64;
        sum[0] += f64::from(r) * n;
        sum[1] += f64::from(g) * n;
        sum[2] += f64::from(b) * n;
        total += n;
    }
    let of = |i: usize| (sum[i] / total).round() as u8;
    (total > 0.0).then(|| (of(0), of(1), of(2)))
}

/// A rectangle of equal cells.
struct Block {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
    color: Color,
}

/// Merges equal neighbours, first along rows, then rows with the same extent; keeps SVG files small.
fn blocks(grid: &[Color], rows: usize, columns: usize) -> Vec<Block> {
    let mut done = Vec::new();
    let mut open: Vec<Block> = Vec::new();
    for row in 0..rows {
        let cells = &grid[row * columns..(row + 1) * columns];
        let mut above = std::mem::take(&mut open).into_iter().peekable();
        let mut column = 0;
        while column < columns {
            let color = cells[column];
            let length = cells[column..].iter().take_while(|&&c| c == color).count();
            while let Some(block) = above.next_if(|b| b.column < column) {
                done.push(block);
            }
            let same = |b: &Block| b.column == column && b.columns == length && b.color == color;
            open.push(match above.next_if(same) {
                Some(block) => Block { rows: block.rows + 1, ..block },
                None => Block { row, column, rows: 1, columns: length, color },
            });
            column += length;
        }
        done.extend(above);
    }
    done.extend(open);
    done
}

fn paint_axis(canvas: &mut Canvas, layout: &Layout) {
    let y = layout.axis_y;
    let end = layout.plot_x + layout.plot_width;
    canvas.rect(layout.plot_x, y, layout.plot_width, 1, INK);
    let step = layout.tick_step();
    let mut tick = layout.from.div_ceil(step).saturating_mul(step);
    while tick < layout.to {
        let x = layout.x_of(tick);
        canvas.rect(x, y, 1, 6, INK);
        canvas.text(&tick.to_string(), (x, y + 14), LABEL_SIZE, Align::Center, INK);
        match tick.checked_add(step) {
            Some(next) => tick = next,
            None => break,
        }
    }
    canvas.rect(end - 1, y, 1, 4, INK);
    canvas.text("cycle", (layout.plot_x - 8, y + 14), LABEL_SIZE, Align::Right, INK);
}

fn paint_bar(canvas: &mut Canvas, history: &History, layout: &Layout, bar: &Bar) {
    let (x, y) = (layout.plot_x, bar.y);
    canvas.frame(x, y, layout.plot_width, BAR_HEIGHT, LINE);
    canvas.rect(x, y, layout.plot_width, BAR_HEIGHT, rgb(IDLE));
    let at = (x - 8, y + BAR_HEIGHT / 2);
    canvas.text(&bar.label, at, LABEL_SIZE, Align::Right, INK);
    match bar.kind {
        BarKind::Unit { unit, instance } => paint_unit(canvas, history, layout, bar, unit, instance),
        BarKind::Cache { port } => paint_cache(canvas, history, layout, bar, port),
        BarKind::Kind { unit } => paint_kind(canvas, history, layout, bar, unit),
    }
}

fn paint_unit(
    canvas: &mut Canvas,
    history: &History,
    layout: &Layout,
    bar: &Bar,
    unit: usize,
    instance: u32,
) {
    let list = history.unit(bar.core, unit, instance);
    let mut shares = vec![[0u64; WAVES.len()]; layout.columns];
    for busy in list {
        for (column, cycles) in overlap(layout, busy.from, busy.to) {
            shares[column][busy.wave as usize % WAVES.len()] += cycles;
        }
    }
    let color = |share: &[u64; WAVES.len()]| {
        let idle = layout.per_column.saturating_sub(share.iter().sum());
        let parts = WAVES.iter().zip(share).map(|(&c, &n)| (c, n));
        average(parts.chain([(IDLE, idle)])).unwrap_or(IDLE)
    };
    let row: Vec<Color> = shares.iter().map(color).collect();
    for block in blocks(&row, 1, layout.columns).iter().filter(|b| b.color != IDLE) {
        let x = layout.plot_x + block.column as i32 * layout.cell_width;
        canvas.rect(x, bar.y, block.columns as i32 * layout.cell_width, BAR_HEIGHT, rgb(block.color));
    }
    if layout.per_column > 1 {
        return;
    }
    for busy in list.iter().filter(|b| b.to > layout.from && b.from < layout.to) {
        let (left, right) = (layout.x_of(busy.from), layout.x_of(busy.to));
        let text = busy.wave.to_string();
        if text_width(&text, LABEL_SIZE - 1) + 2 <= right - left {
            let at = ((left + right) / 2, bar.y + BAR_HEIGHT / 2);
            canvas.text(&text, at, LABEL_SIZE - 1, Align::Center, WHITE);
        }
    }
}

/// All copies of a unit together: the more of them are busy, the stronger.
fn paint_kind(canvas: &mut Canvas, history: &History, layout: &Layout, bar: &Bar, unit: usize) {
    let copies = history.info().units.get(unit).map_or(0, |u| u.instances);
    let mut busy = vec![0u64; layout.columns];
    for core in 0..layout.cores {
        for instance in 0..copies {
            for span in history.unit(core, unit, instance) {
                overlap(layout, span.from, span.to).for_each(|(column, cycles)| busy[column] += cycles);
            }
        }
    }
    let whole = layout.per_column * u64::from(copies) * u64::from(layout.cores);
    let work = Palette::Work.of(Cell::Dispatched);
    let color = |&n: &u64| average([(work, n), (IDLE, whole.saturating_sub(n))].into_iter()).unwrap_or(IDLE);
    let row: Vec<Color> = busy.iter().map(color).collect();
    for block in blocks(&row, 1, layout.columns).iter().filter(|b| b.color != IDLE) {
        let x = layout.plot_x + block.column as i32 * layout.cell_width;
        canvas.rect(x, bar.y, block.columns as i32 * layout.cell_width, BAR_HEIGHT, rgb(block.color));
    }
}

/// Each column is divided in proportion to its hits, misses and evictions.
fn paint_cache(canvas: &mut Canvas, history: &History, layout: &Layout, bar: &Bar, port: PortKind) {
    let mut counts = vec![[0u64; 3]; layout.columns];
    let cores = if bar.all { 0..layout.cores } else { bar.core..bar.core + 1 };
    for access in cores.flat_map(|core| history.accesses(core, port)) {
        for (column, _) in overlap(layout, access.cycle, access.cycle.saturating_add(1)) {
            counts[column][0] += u64::from(access.hits);
            counts[column][1] += u64::from(access.misses);
            counts[column][2] += u64::from(access.evictions);
        }
    }
    for (column, count) in counts.iter().enumerate() {
        let total: u64 = count.iter().sum();
        let x = layout.plot_x + column as i32 * layout.cell_width;
        let (mut sum, mut top) = (0, 0);
        for (&n, color) in count.iter().zip([HIT, MISS, EVICT]) {
            if n == 0 {
                continue;
            }
            sum += n;
            let bottom = (sum as f64 / total as f64 * f64::from(BAR_HEIGHT)).round() as i32;
            canvas.rect(x, bar.y + top, layout.cell_width, bottom - top, rgb(color));
            top = bottom;
        }
    }
}

fn paint_legend(canvas: &mut Canvas, layout: &Layout, legend: &Legend) {
    let left = layout.margin();
    let width = layout.width - 2 * left;
    let places = legend_places(legend, width);
    for ((color, text), (x, row)) in legend.iter().zip(&places) {
        let (x, y) = (left + x, layout.legend_y + row * LEGEND_ROW + LEGEND_ROW / 2);
        let Some(color) = *color else {
            canvas.text(text, (x, y), LABEL_SIZE, Align::Left, INK);
            continue;
        };
        canvas.rect(x, y - SWATCH / 2, SWATCH, SWATCH, rgb(color));
        canvas.frame(x, y - SWATCH / 2, SWATCH, SWATCH, LINE);
        canvas.text(text, (x + SWATCH + 5, y), LABEL_SIZE, Align::Left, INK);
    }
    let mut y = layout.legend_y + legend_rows(legend, width) * LEGEND_ROW + LEGEND_ROW / 2;
    for line in wrap(&layout.notes, width) {
        canvas.text(&line, (left, y), LABEL_SIZE, Align::Left, INK);
        y += LEGEND_ROW;
    }
}

fn rgb((r, g, b): Color) -> RGBColor {
    RGBColor(r, g, b)
}
