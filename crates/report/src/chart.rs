//! Line and bar charts of experiments: named series over numbers or categories, with a legend.

use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::ReportError;
use crate::canvas::{self, FONT, INK, failed, load_font, text_width};

/// What stands along the x axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    Numbers(Vec<f64>),
    Categories(Vec<String>),
}

impl Axis {
    pub fn len(&self) -> usize {
        match self {
            Axis::Numbers(v) => v.len(),
            Axis::Categories(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub x: Axis,
    /// Name and one value per x; NaN leaves a gap. Series whose name begins with `published` (numbers of a document) or
    /// `expected` (a formula) are drawn as references, hollow and dashed, the published one in the first colour.
    pub series: Vec<(String, Vec<f64>)>,
}

const SIZE: (u32, u32) = (900, 540);
const LEGEND_SIZE: u32 = 14;
const LABEL_SIZE: u32 = 14;

const COLORS: [RGBColor; 10] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(214, 39, 40),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(90, 90, 90),
    RGBColor(188, 189, 34),
    RGBColor(23, 190, 207),
];

/// What a formula or a limit says.
const EXPECTED: RGBColor = RGBColor(120, 120, 120);
/// Dash and gap of references, in pixels.
const DASH: (u32, u32) = (7, 5);

/// How a series is drawn.
#[derive(Clone, Copy)]
struct Look {
    color: RGBColor,
    /// Something to compare ours with.
    reference: bool,
}

impl Look {
    /// The inside of bars and legends: references are pale.
    fn fill(self) -> RGBColor {
        let pale = |c: u8| 255 - (255 - c) / 4;
        let RGBColor(r, g, b) = self.color;
        if self.reference { RGBColor(pale(r), pale(g), pale(b)) } else { self.color }
    }
}

/// Published is always the first colour; the others take turns, without it if there is a published one.
fn looks(chart: &Chart) -> Vec<Look> {
    let published = |name: &str| name.starts_with("published");
    let mut next = usize::from(chart.series.iter().any(|s| published(&s.0)));
    let mut looks = Vec::new();
    for (name, _) in &chart.series {
        looks.push(if published(name) {
            Look { color: COLORS[0], reference: true }
        } else if name.starts_with("expected") {
            Look { color: EXPECTED, reference: true }
        } else {
            next += 1;
            Look { color: COLORS[(next - 1) % COLORS.len()], reference: false }
        });
    }
    looks
}

/// A line with points per series.
pub fn lines(path: &Path, chart: &Chart) -> Result<(), ReportError> {
    save(path, chart, Style::Lines)
}

/// Grouped bars: a group per x value, a bar per series.
pub fn bars(path: &Path, chart: &Chart) -> Result<(), ReportError> {
    save(path, chart, Style::Bars)
}

/// [`lines`] as the text of an SVG picture.
pub fn lines_svg(chart: &Chart) -> Result<String, ReportError> {
    svg(chart, Style::Lines)
}

/// [`bars`] as the text of an SVG picture.
pub fn bars_svg(chart: &Chart) -> Result<String, ReportError> {
    svg(chart, Style::Bars)
}

fn svg(chart: &Chart, style: Style) -> Result<String, ReportError> {
    check(chart)?;
    load_font();
    let mut text = String::new();
    draw(SVGBackend::with_string(&mut text, layout(chart).size), chart, style)?;
    Ok(text)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Lines,
    Bars,
}

fn save(path: &Path, chart: &Chart, style: Style) -> Result<(), ReportError> {
    canvas::save(path, &svg(chart, style)?)
}

fn check(chart: &Chart) -> Result<(), ReportError> {
    let fail = |what: String| Err(ReportError::Chart { title: chart.title.clone(), what });
    for (name, values) in &chart.series {
        if values.len() != chart.x.len() {
            return fail(format!("series {name} has {} values for {} x values", values.len(), chart.x.len()));
        }
        if values.iter().any(|v| v.is_infinite()) {
            return fail(format!("series {name} has an infinite value"));
        }
    }
    match &chart.x {
        Axis::Numbers(x) if x.iter().any(|v| !v.is_finite()) => fail("an x value is not finite".into()),
        _ => Ok(()),
    }
}

/// Positions along the x axis: numbers for lines, group numbers for bars and categories.
fn positions(chart: &Chart, style: Style) -> Vec<f64> {
    match (&chart.x, style) {
        (Axis::Numbers(x), Style::Lines) => x.clone(),
        _ => (0..chart.x.len()).map(|i| i as f64).collect(),
    }
}

fn x_range(positions: &[f64], chart: &Chart, style: Style) -> Range<f64> {
    let low = positions.iter().copied().fold(f64::INFINITY, f64::min);
    let high = positions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return 0.0..1.0;
    }
    if style == Style::Bars || matches!(chart.x, Axis::Categories(_)) {
        return low - 0.5..high + 0.5;
    }
    let pad = if high > low { (high - low) * 0.03 } else { 0.5 };
    low - pad..high + pad
}

fn y_range(chart: &Chart) -> Range<f64> {
    let values = chart.series.iter().flat_map(|s| &s.1).copied().filter(|v| v.is_finite());
    let (mut low, mut high) = values.fold((0f64, 0f64), |(l, h), v| (l.min(v), h.max(v)));
    if low == high {
        high = low + 1.0;
    }
    let pad = (high - low) * 0.06;
    if low < 0.0 {
        low -= pad;
    }
    low..high + pad
}

/// An x axis whose ticks are given: plotters would put categories at fractions.
struct Ticks {
    range: Range<f64>,
    at: Vec<f64>,
    names: Option<Vec<String>>,
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let every = self.at.len().div_ceil(hint.max_num_points().clamp(1, 24));
        self.at.iter().copied().step_by(every.max(1)).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, value: &f64) -> String {
        match &self.names {
            Some(names) => names.get(value.round() as usize).cloned().unwrap_or_default(),
            None => number(*value),
        }
    }
}

/// Shortest form that still tells ticks apart.
fn number(value: f64) -> String {
    let text = if value.abs() >= 1e7 { format!("{value:.1e}") } else { format!("{value:.3}") };
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn ticks(chart: &Chart, positions: &[f64], style: Style) -> Ticks {
    let range = x_range(positions, chart, style);
    let names = match (&chart.x, style) {
        (Axis::Categories(names), _) => Some(names.clone()),
        (Axis::Numbers(x), Style::Bars) => Some(x.iter().map(|&v| number(v)).collect()),
        (Axis::Numbers(_), Style::Lines) => None,
    };
    let at = match names {
        Some(_) => positions.to_vec(),
        None => RangedCoordf64::from(range.clone()).key_points(12),
    };
    Ticks { range, at, names }
}

/// Size of the picture, and room for names of categories that stand upright because they have none side by side.
struct Layout {
    size: (u32, u32),
    upright: Option<u32>,
}

fn layout(chart: &Chart) -> Layout {
    let widths: Vec<u32> = match &chart.x {
        Axis::Categories(names) => names.iter().map(|n| text_width(n, LABEL_SIZE).max(0) as u32).collect(),
        Axis::Numbers(_) => Vec::new(),
    };
    let longest = widths.iter().copied().max().unwrap_or(0);
    if (longest + 8) * widths.len() as u32 <= SIZE.0 - 280 {
        return Layout { size: SIZE, upright: None };
    }
    Layout { size: (SIZE.0 * 3 / 2, SIZE.1 + longest), upright: Some(longest) }
}

fn draw<DB: DrawingBackend>(backend: DB, chart: &Chart, style: Style) -> Result<(), ReportError> {
    let Layout { size, upright } = layout(chart);
    let area = backend.into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    // The legend has a strip of its own, so that it never covers data.
    let names = chart.series.iter().map(|s| text_width(&s.0, LEGEND_SIZE)).max();
    let strip = names.map_or(0, |width| (width + 46).clamp(60, size.0 as i32 / 3));
    let (plot, side) = area.split_horizontally(size.0 as i32 - strip);
    let positions = positions(chart, style);
    let mut builder = ChartBuilder::on(&plot);
    builder.margin(16).x_label_area_size(48 + upright.unwrap_or(0)).y_label_area_size(64);
    if !chart.title.is_empty() {
        builder.caption(&chart.title, (FONT, 20).into_font().color(&INK));
    }
    let mut context =
        builder.build_cartesian_2d(ticks(chart, &positions, style), y_range(chart)).map_err(failed)?;
    let format_y = |value: &f64| number(*value);
    let mut mesh = context.configure_mesh();
    mesh.x_desc(&chart.x_label)
        .y_desc(&chart.y_label)
        .y_label_formatter(&format_y)
        .axis_desc_style((FONT, 16).into_font().color(&INK))
        .label_style((FONT, LABEL_SIZE).into_font().color(&INK))
        .bold_line_style(RGBColor(215, 215, 215))
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .x_labels(24);
    if style == Style::Bars {
        mesh.disable_x_mesh();
    }
    let no_name = |_: &f64| String::new();
    if upright.is_some() {
        mesh.x_label_formatter(&no_name);
    }
    mesh.draw().map_err(failed)?;
    if let (Some(_), Axis::Categories(names)) = (upright, &chart.x) {
        // Plotters would centre turned names on the axis.
        let turned = (FONT, LABEL_SIZE).into_font().transform(FontTransform::Rotate90);
        let style = turned.color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (&x, name) in positions.iter().zip(names) {
            let (left, bottom) = context.backend_coord(&(x, y_range(chart).start));
            area.draw(&Text::new(name.clone(), (left, bottom + 10), style.clone())).map_err(failed)?;
        }
    }

    let bar = 0.8 / chart.series.len().max(1) as f64;
    // Bars thinner than a pixel would be drawn over each other anyhow: then the first series stands behind.
    let crowded = chart.x.len() * chart.series.len() > size.0 as usize / 2;
    let looks = looks(chart);
    // References over ours: they are thin, and hollow where there are lines.
    let mut order: Vec<usize> = (0..chart.series.len()).collect();
    order.sort_by_key(|&i| looks[i].reference);
    for i in order {
        let ((_, values), look) = (&chart.series[i], looks[i]);
        let color = look.color;
        let points = positions.iter().copied().zip(values.iter().copied()).filter(|p| p.1.is_finite());
        match style {
            Style::Bars => {
                let corners = points.map(|(x, y)| {
                    let left = if crowded { x - 0.5 } else { x - 0.4 + i as f64 * bar };
                    let right = if crowded { x + 0.5 } else { left + bar * 0.94 };
                    [(left, 0.0), (right, y)]
                });
                let corners: Vec<_> = corners.collect();
                let bars = corners.iter().map(|&c| Rectangle::new(c, look.fill().filled()));
                context.draw_series(bars).map_err(failed)?;
                if look.reference {
                    let frames = corners.iter().map(|&c| Rectangle::new(c, color.stroke_width(2)));
                    context.draw_series(frames).map_err(failed)?;
                }
            }
            Style::Lines => {
                for part in runs(&positions, values) {
                    if look.reference {
                        let line = DashedLineSeries::new(part, DASH.0, DASH.1, color.stroke_width(2));
                        context.draw_series(line).map_err(failed)?;
                    } else {
                        context.draw_series(LineSeries::new(part, color.stroke_width(2))).map_err(failed)?;
                    }
                }
                let (size, style) =
                    if look.reference { (6, color.stroke_width(2)) } else { (4, color.filled()) };
                context.draw_series(points.map(|p| Circle::new(p, size, style))).map_err(failed)?;
            }
        }
    }
    legend(&side, chart, &looks)?;
    area.present().map_err(failed)
}

fn legend<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Chart,
    looks: &[Look],
) -> Result<(), ReportError> {
    for (i, ((name, _), look)) in chart.series.iter().zip(looks).enumerate() {
        let y = 60 + i as i32 * 22;
        let square = [(2, y - 6), (16, y + 6)];
        area.draw(&Rectangle::new(square, look.fill().filled())).map_err(failed)?;
        if look.reference {
            area.draw(&Rectangle::new(square, look.color.stroke_width(2))).map_err(failed)?;
        }
        let style = (FONT, LEGEND_SIZE).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name.clone(), (22, y), style)).map_err(failed)?;
    }
    Ok(())
}

/// The pieces of a line between gaps.
fn runs(x: &[f64], y: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let points: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
    points.split(|p| !p.1.is_finite()).filter(|part| !part.is_empty()).map(<[_]>::to_vec).collect()
}
