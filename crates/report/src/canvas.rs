//! Rectangles and text as SVG, the one way in which pictures are drawn; a PNG is that SVG rendered. Text stays text. The font is
//! built in: pictures must not depend on what is installed.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Once, OnceLock};

use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use crate::ReportError;
use crate::markup::escape;

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

/// What a size of plotters' text, by which [`text_width`] measures, is divided by in SVG: as its own backend does.
const PLOTTERS_SIZE: f64 = 1.24;

#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

impl Align {
    fn anchor(self) -> &'static str {
        match self {
            Align::Left => "start",
            Align::Center => "middle",
            Align::Right => "end",
        }
    }
}

/// A drawing with the few operations pictures need.
pub(crate) struct Canvas {
    out: String,
    /// Colour of the rectangles that are being written: neighbours in the same colour are one path.
    color: Option<RGBColor>,
}

impl Canvas {
    /// A white page.
    pub fn new(width: i32, height: i32) -> Self {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" shape-rendering=\"crispEdges\">"
        );
        let mut canvas = Canvas { out, color: None };
        canvas.rect(0, 0, width, height, WHITE);
        canvas
    }

    pub fn rect(&mut self, x: i32, y: i32, w: i32, h: i32, color: RGBColor) {
        if w <= 0 || h <= 0 {
            return;
        }
        if self.color != Some(color) {
            self.close();
            let RGBColor(r, g, b) = color;
            let _ = write!(self.out, "<path fill=\"#{r:02x}{g:02x}{b:02x}\" d=\"");
            self.color = Some(color);
        }
        let _ = write!(self.out, "M{x} {y}h{w}v{h}h-{w}z");
    }

    fn close(&mut self) {
        if self.color.take().is_some() {
            self.out.push_str("\"/>\n");
        }
    }

    /// The outline just outside of a rectangle.
    pub fn frame(&mut self, x: i32, y: i32, w: i32, h: i32, color: RGBColor) {
        self.rect(x - 1, y - 1, w + 2, 1, color);
        self.rect(x - 1, y + h, w + 2, 1, color);
        self.rect(x - 1, y, 1, h, color);
        self.rect(x + w, y, 1, h, color);
    }

    /// Text vertically centred on `y`.
    pub fn text(&mut self, text: &str, (x, y): (i32, i32), size: u32, align: Align, color: RGBColor) {
        self.close();
        let RGBColor(r, g, b) = color;
        // Sizes are those of plotters, from the top of a letter to the bottom of another; SVG's are those of the font.
        let size = f64::from(size) / PLOTTERS_SIZE;
        // Half the height of capitals below the middle.
        let base = f64::from(y) + size * 0.36;
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{base:.1}\" font-size=\"{size:.2}\" text-anchor=\"{}\" fill=\"#{r:02x}{g:02x}{b:02x}\">{}</text>",
            align.anchor(),
            escape(text)
        );
    }

    pub fn finish(mut self) -> String {
        self.close();
        self.out.push_str("</svg>\n");
        self.out
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

/// Writes a drawing, as PNG or SVG by the name of the file.
pub(crate) fn save(path: &Path, svg: &str) -> Result<(), ReportError> {
    match format_of(path)? {
        Format::Svg => Ok(wb_files::write(path, svg)?),
        Format::Png => {
            let wrong = |e: &dyn std::fmt::Display| ReportError::Draw(e.to_string());
            let bytes = render(svg)?.encode_png().map_err(|e| wrong(&e))?;
            Ok(wb_files::write(path, bytes)?)
        }
    }
}

/// A drawing as pixels.
pub(crate) fn render(svg: &str) -> Result<Pixmap, ReportError> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(ttf_noto_sans::REGULAR.to_vec());
        let family = fonts.faces().next().and_then(|f| f.families.first()).map(|f| f.0.clone());
        if let Some(family) = family {
            fonts.set_sans_serif_family(family.clone());
            fonts.set_monospace_family(family);
        }
        Arc::new(fonts)
    });
    let options = usvg::Options { fontdb: Arc::clone(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| ReportError::Draw(e.to_string()))?;
    let size = tree.size().to_int_size();
    let too_large = || ReportError::Draw(format!("{} × {} pixels are too many", size.width(), size.height()));
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(too_large)?;
    pixels.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(&tree, Transform::default(), &mut pixels.as_mut());
    Ok(pixels)
}

/// Whether a picture can be drawn to a file of this name.
pub fn check_name(path: &Path) -> Result<(), ReportError> {
    format_of(path).map(|_| ())
}

/// The format a path asks for.
fn format_of(path: &Path) -> Result<Format, ReportError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("png") => Ok(Format::Png),
        Some("svg") => Ok(Format::Svg),
        _ => Err(ReportError::UnknownFormat { path: path.into() }),
    }
}
