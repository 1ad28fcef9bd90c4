//! Draws a schedule (SWAS figure 2): a row per wave, a column per cycle, which wave issued, where a NOP did, and which wave
//! should have had the turn where the scheduler and an oracle differ. Long stretches are cut into panels.

use crate::ReportError;
use crate::canvas::{Align, Canvas, INK, save, text_width};
use crate::layout::{LABEL_SIZE, TITLE_SIZE};
use plotters::style::RGBColor;
use std::path::Path;

/// One cycle of an issue scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub cycle: u64,
    /// Row of the wave that issued, and whether it was a NOP.
    pub row: Option<u32>,
    pub nop: bool,
    /// Row of the wave whose turn it was, where that is another one (or none issued), and how bad that is.
    pub missed: Option<(u32, Difference)>,
}

/// A cycle in which the scheduler did not do what its policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// It can be foreseen: a miss of the instruction cache or a taken branch emptied the queue.
    Discrepancy,
    /// It cannot.
    Error,
}

#[derive(Clone, Debug, Default)]
pub struct Timetable {
    pub title: String,
    /// Name of each row.
    pub rows: Vec<String>,
    /// In the order of time.
    pub turns: Vec<Turn>,
}

const MARGIN: i32 = 14;
const CELL: i32 = 6;
const ROW: i32 = 8;
/// Cycles of a panel.
const PANEL: usize = 200;
const AXIS: i32 = 24;
const HEAD: i32 = 30;
const LEGEND: i32 = 26;

const GRID: RGBColor = RGBColor(236, 236, 236);
const ISSUE: RGBColor = RGBColor(31, 119, 180);
const NOP: RGBColor = RGBColor(178, 190, 200);
const FORESEEN: RGBColor = RGBColor(245, 165, 40);
const WRONG: RGBColor = RGBColor(214, 39, 40);

/// Draws to a file, PNG or SVG by its extension.
pub fn timetable(table: &Timetable, path: &Path) -> Result<(), ReportError> {
    save(path, &timetable_svg(table))
}

/// The drawing as SVG text.
pub fn timetable_svg(table: &Timetable) -> String {
    let plan = Plan::new(table);
    let mut canvas = Canvas::new(plan.width, plan.height);
    paint(table, &plan, &mut canvas);
    canvas.finish()
}

struct Plan {
    width: i32,
    height: i32,
    left: i32,
    panel: i32,
}

impl Plan {
    fn new(table: &Timetable) -> Plan {
        let names = table.rows.iter().map(|r| text_width(r, LABEL_SIZE)).max().unwrap_or(0);
        let left = MARGIN + names + 8;
        let columns = table.turns.len().clamp(1, PANEL) as i32;
        let panel = table.rows.len().max(1) as i32 * ROW + AXIS;
        let panels = table.turns.len().div_ceil(PANEL).max(1) as i32;
        Plan {
            width: (left + columns * CELL + MARGIN).max(620),
            height: HEAD + panels * panel + LEGEND + MARGIN,
            left,
            panel,
        }
    }
}

fn paint(table: &Timetable, plan: &Plan, canvas: &mut Canvas) {
    canvas.text(&table.title, (MARGIN, MARGIN + 2), TITLE_SIZE, Align::Left, INK);
    for (i, turns) in table.turns.chunks(PANEL).enumerate() {
        let top = HEAD + i as i32 * plan.panel;
        paint_panel(canvas, table, plan, turns, top);
    }
    let legend = [
        (ISSUE, "instruction"),
        (NOP, "NOP"),
        (FORESEEN, "its turn, but the queue is empty: foreseen"),
        (WRONG, "its turn, not foreseen: error"),
    ];
    let (mut x, y) = (plan.left, plan.height - MARGIN - LEGEND / 2);
    for (color, name) in legend {
        canvas.rect(x, y - 5, 10, 10, color);
        canvas.text(name, (x + 15, y), LABEL_SIZE, Align::Left, INK);
        x += 15 + text_width(name, LABEL_SIZE) + 18;
    }
}

fn paint_panel(canvas: &mut Canvas, table: &Timetable, plan: &Plan, turns: &[Turn], top: i32) {
    let wide = turns.len() as i32 * CELL;
    // Every other row is shaded; names where there is room for them.
    let mut labelled = i32::MIN / 2;
    for (i, name) in table.rows.iter().enumerate() {
        let y = top + i as i32 * ROW;
        if i % 2 == 0 {
            canvas.rect(plan.left, y, wide, ROW, GRID);
        }
        if y - labelled >= LABEL_SIZE as i32 {
            canvas.text(name, (plan.left - 6, y + ROW / 2), LABEL_SIZE, Align::Right, INK);
            labelled = y;
        }
    }
    let below = top + table.rows.len() as i32 * ROW;
    for (i, turn) in turns.iter().enumerate() {
        let x = plan.left + i as i32 * CELL;
        let mut cell = |row: u32, color| {
            if (row as usize) < table.rows.len() {
                canvas.rect(x, top + row as i32 * ROW + 1, CELL - 1, ROW - 2, color);
            }
        };
        if let Some(row) = turn.row {
            cell(row, if turn.nop { NOP } else { ISSUE });
        }
        if let Some((row, difference)) = turn.missed {
            cell(row, if difference == Difference::Error { WRONG } else { FORESEEN });
        }
        if turn.cycle.is_multiple_of(20) {
            canvas.rect(x, below, 1, 4, INK);
            if turn.cycle.is_multiple_of(40) {
                canvas.text(&turn.cycle.to_string(), (x, below + 12), LABEL_SIZE - 2, Align::Center, INK);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rectangles of a colour.
    fn count(svg: &str, color: RGBColor) -> usize {
        let fill = format!("fill=\"#{:02x}{:02x}{:02x}\"", color.0, color.1, color.2);
        svg.lines()
            .filter(|l| l.starts_with("<path") && l.contains(&fill))
            .map(|l| l.matches('M').count())
            .sum()
    }

    #[test]
    fn every_turn_is_drawn_once() {
        let turn = |cycle: u64| Turn {
            cycle,
            row: (!cycle.is_multiple_of(7)).then_some((cycle % 4) as u32),
            nop: cycle.is_multiple_of(5),
            missed: match cycle % 11 {
                0 => Some((3, Difference::Error)),
                1 => Some((2, Difference::Discrepancy)),
                _ => None,
            },
        };
        let table = Timetable {
            title: "four waves".into(),
            rows: (0..4).map(|w| format!("wave {w}")).collect(),
            turns: (100..750).map(turn).collect(),
        };
        let svg = timetable_svg(&table);
        let want = |is: &dyn Fn(&Turn) -> bool| 1 + table.turns.iter().filter(|t| is(t)).count();
        assert_eq!(count(&svg, ISSUE), want(&|t| t.row.is_some() && !t.nop));
        assert_eq!(count(&svg, NOP), want(&|t| t.row.is_some() && t.nop));
        assert_eq!(count(&svg, WRONG), want(&|t| t.missed.is_some_and(|m| m.1 == Difference::Error)));
        assert_eq!(
            count(&svg, FORESEEN),
            want(&|t| t.missed.is_some_and(|m| m.1 == Difference::Discrepancy))
        );
        assert!(svg.contains("four waves") && svg.contains("wave 2") && svg.contains("720"));
    }

    #[test]
    fn nothing_to_draw_is_no_error() {
        assert!(timetable_svg(&Timetable::default()).ends_with("</svg>\n"));
        let row = Turn { row: Some(9), ..Turn::default() };
        let table = Timetable { rows: vec!["wave 0".into()], turns: vec![row], ..Timetable::default() };
        assert_eq!(
            count(&timetable_svg(&table), ISSUE),
            1,
            "a wave without a row is left out, and the legend is not"
        );
    }
}
