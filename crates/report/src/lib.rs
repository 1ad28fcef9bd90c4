//! What people look at: pictures of runs and charts as SVG, and PNG rendered from it, control-flow graphs, pages of
//! bounds and experiments.

mod canvas;
mod chart;
mod error;
pub mod flow;
pub mod graph;
mod heat_map;
mod history;
mod layout;
mod markup;
pub mod pages;
mod palette;
mod picture;
mod scatter;
mod schedule;
mod timeline;

pub use canvas::check_name;
pub use chart::{Axis, Chart, bars, bars_svg, lines, lines_svg};
pub use error::ReportError;
pub use graph::{GraphEdge, GraphNode, graph_inline, graph_svg};
pub use heat_map::{HeatMap, heat_map_svg};
pub use history::{Access, Busy, Cell, History, Resident, Span};
pub use layout::PictureOptions;
pub use markup::escape;
pub use palette::Palette;
pub use picture::{draw, pixels, svg};
pub use scatter::{Scatter, ScatterPoint, scatter_svg};
pub use schedule::{Difference, Timetable, Turn, timetable, timetable_svg};
pub use timeline::{Moment, STATES, SlotLine, Timeline, TimelineObserver, state_name, state_of};
