//! Points of two measures, and the front of those that no other point beats in both (Pareto).

use crate::ReportError;
use crate::canvas::{FONT, INK, failed, load_font};
use plotters::prelude::*;

/// A point; its name is shown where it is on the front.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    pub x: f64,
    pub y: f64,
    pub name: String,
    pub front: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub points: Vec<ScatterPoint>,
}

const SIZE: (u32, u32) = (900, 540);
const FRONT: RGBColor = RGBColor(214, 39, 40);
const OTHERS: RGBColor = RGBColor(150, 170, 190);
/// Names beyond this many would cover each other.
const NAMES: usize = 24;

fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    let pad = if high > low { (high - low) * 0.06 } else { low.abs().max(1.0) * 0.1 };
    low - pad..high + pad
}

/// The picture as the text of an SVG file.
pub fn scatter_svg(scatter: &Scatter) -> Result<String, ReportError> {
    if scatter.points.iter().any(|p| !p.x.is_finite() || !p.y.is_finite()) {
        let what = "a point is not finite".to_owned();
        return Err(ReportError::Chart { title: scatter.title.clone(), what });
    }
    load_font();
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let mut builder = ChartBuilder::on(&area);
        builder.margin(16).x_label_area_size(48).y_label_area_size(80);
        builder.caption(&scatter.title, (FONT, 20).into_font().color(&INK));
        let x = range(scatter.points.iter().map(|p| p.x));
        let y = range(scatter.points.iter().map(|p| p.y));
        let mut context = builder.build_cartesian_2d(x, y).map_err(failed)?;
        context
            .configure_mesh()
            .x_desc(&scatter.x_label)
            .y_desc(&scatter.y_label)
            .axis_desc_style((FONT, 16).into_font().color(&INK))
            .label_style((FONT, 14).into_font().color(&INK))
            .bold_line_style(RGBColor(215, 215, 215))
            .light_line_style(TRANSPARENT)
            .draw()
            .map_err(failed)?;
        let others = scatter.points.iter().filter(|p| !p.front);
        context.draw_series(others.map(|p| Circle::new((p.x, p.y), 3, OTHERS.filled()))).map_err(failed)?;
        let mut front: Vec<&ScatterPoint> = scatter.points.iter().filter(|p| p.front).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x));
        let line = LineSeries::new(front.iter().map(|p| (p.x, p.y)), FRONT.stroke_width(2));
        context.draw_series(line).map_err(failed)?;
        context
            .draw_series(front.iter().map(|p| Circle::new((p.x, p.y), 5, FRONT.filled())))
            .map_err(failed)?;
        for p in front.iter().take(NAMES) {
            let (left, top) = context.backend_coord(&(p.x, p.y));
            let style = (FONT, 12).into_font().color(&INK);
            area.draw(&Text::new(p.name.clone(), (left + 7, top - 14), style)).map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(text)
}
