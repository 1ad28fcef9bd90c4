//! Rectangles and text on a plotters drawing area, the same for PNG and SVG. The font is built in:
//! pictures must not depend on what is installed.

use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use crate::ReportError;

pub(crate) const FONT: &str = "sans-serif";
pub(crate) const INK: RGBColor = RGBColor(30, 30, 30);

/// Makes [`FONT`] known to plotters.
pub(crate) fn load_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The font is part of the program; a failure shows as an error when the first text is drawn.
        let _ = register_font(FONT, FontStyle::Normal, ttf_noto_sans::REGULAR);
    });
}

/// Width in pixels of a text.
pub(crate) fn text_width(text: &str, size: u32) -> i32 {
    load_font();
    match (FONT, size).into_font().layout_box(text) {
        Ok(((x0, _), (x1, _))) => x1 - x0,
        Err(_) => (text.chars().count() as u32 * size / 2) as i32,
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// A drawing area with the few operations pictures need.
pub(crate) struct Canvas<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
}

impl<DB: DrawingBackend> Canvas<DB> {
    pub fn new(backend: DB) -> Result<Self, ReportError> {
        load_font();
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        Ok(Canvas { area })
    }

    pub fn rect(&self, x: i32, y: i32, w: i32, h: i32, color: RGBColor) -> Result<(), ReportError> {
        if w <= 0 || h <= 0 {
            return Ok(());
        }
        self.area.draw(&Rectangle::new([(x, y), (x + w, y + h)], color.filled())).map_err(failed)
    }

    /// The outline just outside of a rectangle.
    pub fn frame(&self, x: i32, y: i32, w: i32, h: i32, color: RGBColor) -> Result<(), ReportError> {
        self.rect(x - 1, y - 1, w + 2, 1, color)?;
        self.rect(x - 1, y + h, w + 2, 1, color)?;
        self.rect(x - 1, y, 1, h, color)?;
        self.rect(x + w, y, 1, h, color)
    }

    /// Text vertically centred on `y`.
    pub fn text(
        &self,
        text: &str,
        (x, y): (i32, i32),
        size: u32,
        align: Align,
        color: RGBColor,
    ) -> Result<(), ReportError> {
        let h = match align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style = (FONT, size).into_font().color(&color).pos(Pos::new(h, VPos::Center));
        self.area.draw(&Text::new(text.to_string(), (x, y), style)).map_err(failed)
    }

    pub fn finish(self) -> Result<(), ReportError> {
        self.area.present().map_err(failed)
    }
}

pub(crate) fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> ReportError {
    ReportError::Draw(error.to_string())
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Png,
    Svg,
}

/// Writes what `paint` draws as a PNG.
pub(crate) fn save_png(
    path: &Path,
    size: (u32, u32),
    paint: impl FnOnce(BitMapBackend) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    paint(BitMapBackend::with_buffer(&mut pixels, size))?;
    let bytes = png(size, &pixels).map_err(|e| ReportError::Draw(e.to_string()))?;
    Ok(wb_files::write(path, bytes)?)
}

fn png((width, height): (u32, u32), rgb: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(bytes)
}

/// Whether a picture can be drawn to a file of this name.
pub fn check_name(path: &Path) -> Result<(), ReportError> {
    format_of(path).map(|_| ())
}

/// The format a path asks for.
pub(crate) fn format_of(path: &Path) -> Result<Format, ReportError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("png") => Ok(Format::Png),
        Some("svg") => Ok(Format::Svg),
        _ => Err(ReportError::UnknownFormat { path: path.into() }),
    }
}
