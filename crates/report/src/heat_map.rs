//! Heat maps: a value for each pair of categories, as a field of colours with the numbers in it.

use crate::ReportError;
use crate::canvas::{Align, Canvas, INK, text_width};
use plotters::style::{RGBColor, WHITE};

/// Rows × columns of values; none leaves a hole.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub columns: Vec<String>,
    pub rows: Vec<String>,
    pub cells: Vec<Vec<Option<f64>>>,
}

const TEXT: u32 = 14;
const HEIGHT: i32 = 28;
const MARGIN: i32 = 16;

/// From pale to dark: where dark is more.
fn color(share: f64) -> RGBColor {
    let (low, high) = ((247.0, 251.0, 255.0), (8.0, 81.0, 156.0));
    let mix = |a: f64, b: f64| (a + (b - a) * share.clamp(0.0, 1.0)).round() as u8;
    RGBColor(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e7 => format!("{value:.2e}"),
        v if v >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// The picture as the text of an SVG file.
pub fn heat_map_svg(map: &HeatMap) -> Result<String, ReportError> {
    let fits = map.cells.len() == map.rows.len() && map.cells.iter().all(|r| r.len() == map.columns.len());
    if !fits || map.cells.iter().flatten().flatten().any(|v| !v.is_finite()) {
        let what = "a cell is missing or not finite".to_owned();
        return Err(ReportError::Chart { title: map.title.clone(), what });
    }
    let values = || map.cells.iter().flatten().flatten().copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let widest =
        |words: &mut dyn Iterator<Item = String>| words.map(|w| text_width(&w, TEXT)).max().unwrap_or(0);
    let shown = widest(&mut values().map(number));
    let width = widest(&mut map.columns.iter().cloned()).max(shown).max(24) + 14;
    let left = MARGIN + widest(&mut map.rows.iter().cloned()).max(text_width(&map.y_label, TEXT)) + 12;
    let top = MARGIN + 30 + 24 + HEIGHT;
    let full = left + width * map.columns.len() as i32 + MARGIN;
    let size = (
        full.max(left + text_width(&map.title, 20) + MARGIN)
            .max(left + text_width(&map.x_label, TEXT) + MARGIN),
        top + HEIGHT * map.rows.len() as i32 + MARGIN,
    );
    let mut canvas = Canvas::new(size.0, size.1);
    {
        canvas.text(&map.title, (left, MARGIN + 10), 20, Align::Left, INK);
        canvas.text(&map.x_label, (left, MARGIN + 38), TEXT, Align::Left, INK);
        canvas.text(&map.y_label, (left - 12, top - HEIGHT / 2), TEXT, Align::Right, INK);
        for (i, name) in map.columns.iter().enumerate() {
            let x = left + width * i as i32 + width / 2;
            canvas.text(name, (x, top - HEIGHT / 2), TEXT, Align::Center, INK);
        }
        for (j, (name, row)) in map.rows.iter().zip(&map.cells).enumerate() {
            let y = top + HEIGHT * j as i32;
            canvas.text(name, (left - 12, y + HEIGHT / 2), TEXT, Align::Right, INK);
            for (i, cell) in row.iter().enumerate() {
                let Some(value) = cell else { continue };
                let share = if high > low { (value - low) / (high - low) } else { 0.5 };
                let x = left + width * i as i32;
                canvas.rect(x, y, width - 1, HEIGHT - 1, color(share));
                let ink = if share > 0.55 { WHITE } else { INK };
                canvas.text(&number(*value), (x + width / 2, y + HEIGHT / 2), TEXT, Align::Center, ink);
            }
        }
    }
    Ok(canvas.finish())
}
