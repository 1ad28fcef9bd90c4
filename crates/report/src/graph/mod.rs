//! Flow graphs as SVG: layered from top to bottom, the entry in the left half, edges back to a loop's header at the side. The control-flow graph
//! and the report of a bound draw with it; colours and weights come from the caller.

mod layout;

pub use layout::{Layout, NodeBox, Route, layout};

use crate::markup::escape;
use std::fmt::Write as _;

/// A box with a title and lines of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphNode {
    pub title: String,
    pub lines: Vec<String>,
    /// CSS colour of the box.
    pub fill: String,
    pub bold: bool,
    /// Class of the box for a page's own style, and text that is shown when the mouse rests on it; may be empty.
    pub class: String,
    pub tip: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    pub label: String,
    /// CSS colour of the line.
    pub colour: String,
    pub bold: bool,
    pub dashed: bool,
    /// As for [`GraphNode`].
    pub class: String,
    pub tip: String,
}

const FONT: f64 = 11.0;
/// Width of a character of the monospaced font.
const CHARACTER: f64 = 6.7;
const LINE: f64 = 14.0;
const PADDING: f64 = 8.0;
const MARGIN: f64 = 12.0;

/// Width and height of a node's box.
pub fn node_size(node: &GraphNode) -> (f64, f64) {
    let width = |text: &String| text.chars().count() as f64 * CHARACTER;
    let widest = node.lines.iter().map(width).fold(width(&node.title) * 1.05, f64::max);
    (widest + 2.0 * PADDING, (node.lines.len() + 1) as f64 * LINE + 2.0 * PADDING - 2.0)
}

/// The graph as an SVG document. Node 0 is at the top; edges that name nodes that do not exist are left out.
pub fn graph_svg(nodes: &[GraphNode], edges: &[GraphEdge]) -> String {
    graph_inline(nodes, edges).replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1)
}

/// The same as part of an HTML page. Backgrounds have the class `page`, so that a dark page can change them.
pub fn graph_inline(nodes: &[GraphNode], edges: &[GraphEdge]) -> String {
    let edges: Vec<&GraphEdge> =
        edges.iter().filter(|e| e.from < nodes.len() && e.to < nodes.len()).collect();
    let sizes: Vec<(f64, f64)> = nodes.iter().map(node_size).collect();
    let pairs: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
    let plan = layout(&sizes, &pairs);
    let (width, height) = (plan.width + 2.0 * MARGIN, plan.height + 2.0 * MARGIN);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" \
         font-size=\"{FONT}\">"
    );
    let _ =
        writeln!(out, "<rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\" fill=\"white\"/>");
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {MARGIN})\">");
    for (edge, route) in edges.iter().zip(&plan.routes) {
        write_edge(&mut out, edge, route);
    }
    for (node, place) in nodes.iter().zip(&plan.places) {
        write_node(&mut out, node, place);
    }
    // Labels last, so that no line crosses them.
    for (edge, route) in edges.iter().zip(&plan.routes).filter(|(e, _)| !e.label.is_empty()) {
        let (x, y) = route.label;
        let text = escape(&edge.label);
        let half = edge.label.chars().count() as f64 * CHARACTER * 0.9 / 2.0 + 2.0;
        let _ = writeln!(
            out,
            "<rect class=\"page\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\" fill=\"white\" fill-opacity=\"0.85\"/>\
             <text class=\"label\" x=\"{x:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"middle\" fill=\"{}\">{text}</text>",
            x - half,
            y - 9.0,
            2.0 * half,
            y,
            colour(&edge.colour, "#444")
        );
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn colour<'a>(given: &'a str, otherwise: &'a str) -> &'a str {
    // A colour is a word, a # number or a function of numbers: anything else could end the attribute.
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '(' | ')' | ',' | '.' | ' ' | '%' | '-');
    if given.is_empty() || !given.chars().all(plain) { otherwise } else { given }
}

/// Opens a group with a class and a tip.
fn open(out: &mut String, kind: &str, class: &str, tip: &str) {
    let class: String =
        class.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ' ')).collect();
    let _ = write!(out, "<g class=\"{}\">", format!("{kind} {class}").trim_end());
    if !tip.is_empty() {
        let _ = write!(out, "<title>{}</title>", escape(tip));
    }
    out.push('\n');
}

fn write_node(out: &mut String, node: &GraphNode, place: &NodeBox) {
    let stroke = if node.bold { 2.2 } else { 1.0 };
    open(out, "node", &node.class, &node.tip);
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"{}\" stroke=\"#333\" \
         stroke-width=\"{stroke}\"/>",
        place.x,
        place.y,
        place.width,
        place.height,
        colour(&node.fill, "#f4f4f4")
    );
    let x = place.x + PADDING;
    let mut y = place.y + PADDING + FONT - 2.0;
    let _ =
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-weight=\"bold\">{}</text>", escape(&node.title));
    for line in &node.lines {
        y += LINE;
        let _ =
            writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>", escape(line));
    }
    out.push_str("</g>\n");
}

fn write_edge(out: &mut String, edge: &GraphEdge, route: &Route) {
    let colour = colour(&edge.colour, "#444");
    let width = if edge.bold { 2.4 } else { 1.2 };
    let dashes = if edge.dashed { " stroke-dasharray=\"5 3\"" } else { "" };
    open(out, "edge", &edge.class, &edge.tip);
    let _ = writeln!(
        out,
        "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>",
        path(route)
    );
    let (x, y) = route.end();
    let size = if edge.bold { 5.0 } else { 4.0 };
    let _ = writeln!(
        out,
        "<path class=\"tip\" d=\"M{x:.1} {y:.1} l{:.1} {:.1} h{:.1} z\" fill=\"{colour}\"/>\n</g>",
        -size,
        -1.8 * size,
        2.0 * size
    );
}

/// Curves between the points of an edge; straight corners for one that goes back.
fn path(route: &Route) -> String {
    let mut d = String::new();
    let mut last = (0.0, 0.0);
    for (i, &(x, y)) in route.points.iter().enumerate() {
        let _ = match (i, route.back) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, true) => write!(d, " L{x:.1} {y:.1}"),
            (_, false) if (x - last.0).abs() < 0.5 => write!(d, " L{x:.1} {y:.1}"),
            (_, false) => {
                let middle = (last.1 + y) / 2.0;
                write!(d, " C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}", last.0)
            }
        };
        last = (x, y);
    }
    d
}
