//! The answer to "what happened in these rows from this cycle to that": single spans where there are few, buckets of a picture
//! column each where there are many, and buckets of the index where even reading all events would take too long.

use crate::ViewError;
use crate::cells::{Buckets, Cell};
use crate::store::Store;
use serde::Serialize;
use std::ops::Range;
use wb_trace::spans::{Resident, Span, Take};

/// Events that are read for one answer, besides those between kept states: less than a tenth of a second's work.
const READABLE: u64 = 500_000;
/// Spans in one answer.
const SPANS: usize = 30_000;
/// Rows of one answer.
const ROWS: usize = 4096;

#[derive(Clone, Debug)]
pub struct Asked {
    pub from: u64,
    pub to: u64,
    pub rows: Range<usize>,
    /// Columns of the picture.
    pub columns: usize,
}

#[derive(Debug, Serialize)]
pub struct Tile {
    pub from: u64,
    pub to: u64,
    pub first_row: usize,
    /// `spans` or `buckets`.
    pub mode: &'static str,
    /// Width of a bucket, and the cycle that the first one begins at.
    pub width: u64,
    pub start: u64,
    /// Spans: by row, eight numbers each: from, to, lanes (low, high 32 bits), pc, wave, path, state. Buckets: by row, runs of
    /// equal buckets, five numbers each: how many, state (-1: nothing), work, all (both of 255), pc.
    pub rows: Vec<Vec<i64>>,
    /// Waves by row, five numbers each: from, to, wave, lanes (low, high 32 bits).
    pub waves: Vec<Vec<i64>>,
}

pub fn tile(store: &Store, asked: &Asked) -> Result<Tile, ViewError> {
    let rows = asked.rows.start.min(store.index.rows.len())..asked.rows.end.min(store.index.rows.len());
    let rows = rows.start..rows.end.min(rows.start + ROWS);
    let to = asked.to.min(store.index.cycles).max(asked.from);
    let window = Window { from: asked.from, to, rows };
    let blocks = store.index.range(window.from, window.to);
    if store.events(blocks) > READABLE {
        return Ok(coarse(store, &window, asked.columns));
    }
    let mut found = Found::new(store, &window);
    store.follow(blocks, &mut found)?;
    let count: usize = found.spans.iter().map(Vec::len).sum();
    let mut tile = window.empty();
    tile.waves = found.waves.iter().map(|row| flat_waves(row)).collect();
    if count <= SPANS {
        tile.mode = "spans";
        tile.rows = found.spans.iter().map(|row| row.iter().flat_map(flat_span).collect()).collect();
        return Ok(tile);
    }
    let row = |spans: &Vec<Span>| {
        let mut buckets = Buckets::new(window.from, window.to, asked.columns.clamp(1, 8192));
        spans.iter().for_each(|s| buckets.add(s));
        tile.width = buckets.width;
        runs(buckets.cells(store.info.lanes.clamp(1, 64)).iter())
    };
    tile.rows = found.spans.iter().map(row).collect();
    Ok(tile)
}

/// From the index alone.
fn coarse(store: &Store, window: &Window, columns: usize) -> Tile {
    let wanted = (window.to - window.from) / columns.max(1) as u64;
    let levels = &store.index.levels;
    let fits = levels.iter().rposition(|l| l.width <= wanted.max(1)).unwrap_or(0);
    let mut tile = window.empty();
    let Some(level) = levels.get(fits) else { return tile };
    let (first, last) = ((window.from / level.width) as usize, window.to.div_ceil(level.width) as usize);
    (tile.width, tile.start) = (level.width, first as u64 * level.width);
    for row in window.rows.clone() {
        let cells = &level.rows[row];
        let part = cells.get(first.min(cells.len())..last.min(cells.len())).unwrap_or_default();
        tile.rows.push(runs(part.iter()));
    }
    tile.waves = vec![Vec::new(); window.rows.len()];
    tile
}

struct Window {
    from: u64,
    to: u64,
    rows: Range<usize>,
}

impl Window {
    fn empty(&self) -> Tile {
        Tile {
            from: self.from,
            to: self.to,
            first_row: self.rows.start,
            mode: "buckets",
            width: 1,
            start: self.from,
            rows: Vec::new(),
            waves: Vec::new(),
        }
    }
}

/// Spans and waves of the window's rows; touching spans that say the same are one.
struct Found<'a> {
    store: &'a Store,
    window: &'a Window,
    spans: Vec<Vec<Span>>,
    waves: Vec<Vec<Resident>>,
}

impl<'a> Found<'a> {
    fn new(store: &'a Store, window: &'a Window) -> Found<'a> {
        let n = window.rows.len();
        Found { store, window, spans: vec![Vec::new(); n], waves: vec![Vec::new(); n] }
    }

    fn row(&self, core: u16, slot: u16) -> Option<usize> {
        let row = self.store.index.row(core, slot)?;
        row.checked_sub(self.window.rows.start).filter(|&r| r < self.window.rows.len())
    }
}

impl Take for Found<'_> {
    fn span(&mut self, core: u16, slot: u16, span: Span) {
        if span.from >= self.window.to || span.to <= self.window.from || span.mask == 0 {
            return;
        }
        let Some(row) = self.row(core, slot) else { return };
        let spans = &mut self.spans[row];
        let near = spans.len().saturating_sub(4);
        let same = spans[near..].iter_mut().rev().find(|s| {
            s.to == span.from && (Span { from: 0, to: 0, ..**s }) == (Span { from: 0, to: 0, ..span })
        });
        match same {
            Some(before) => before.to = span.to,
            None => spans.push(span),
        }
    }

    fn resident(&mut self, core: u16, slot: u16, resident: Resident) {
        if resident.from >= self.window.to || resident.to <= self.window.from {
            return;
        }
        if let Some(row) = self.row(core, slot) {
            self.waves[row].push(resident);
        }
    }
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn halves(mask: u64) -> [i64; 2] {
    [(mask & 0xffff_ffff) as i64, (mask >> 32) as i64]
}

fn flat_span(s: &Span) -> [i64; 8] {
    let [low, high] = halves(s.mask);
    [
        number(s.from),
        number(s.to),
        low,
        high,
        s.pc.into(),
        s.wave.into(),
        s.path.into(),
        s.state.index() as i64,
    ]
}

fn flat_waves(row: &[Resident]) -> Vec<i64> {
    row.iter()
        .flat_map(|r| {
            let [low, high] = halves(r.lanes);
            [number(r.from), number(r.to), r.wave.into(), low, high]
        })
        .collect()
}

/// Runs of equal buckets.
fn runs<'a>(cells: impl Iterator<Item = &'a Option<Cell>>) -> Vec<i64> {
    let mut out: Vec<i64> = Vec::new();
    let mut last: Option<&Option<Cell>> = None;
    for cell in cells {
        if last == Some(cell) {
            let at = out.len() - 5;
            out[at] += 1;
            continue;
        }
        last = Some(cell);
        out.extend(match cell {
            Some(c) => [1, c.state.into(), c.work.into(), c.all.into(), c.pc.into()],
            None => [1, -1, 0, 0, 0],
        });
    }
    out
}
