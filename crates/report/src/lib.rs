//! What people look at: pictures of runs and charts as PNG or SVG from the same drawing code, control-flow graphs, pages of
//! bounds and experiments.

mod canvas;
mod chart;
mod error;
pub mod flow;
pub mod graph;
mod history;
mod layout;
mod markup;
pub mod pages;
mod picture;
mod schedule;

pub use canvas::check_name;
pub use chart::{Axis, Chart, bars, lines};
pub use error::ReportError;
pub use graph::{GraphEdge, GraphNode, graph_inline, graph_svg};
pub use history::{Access, Busy, Cell, History, Resident, Span};
pub use layout::PictureOptions;
pub use markup::escape;
pub use picture::{draw, pixels, svg};
pub use schedule::{Difference, Timetable, Turn, timetable, timetable_svg};
