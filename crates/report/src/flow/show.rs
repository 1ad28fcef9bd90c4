//! A kernel's graph for people: text, DOT for Graphviz, SVG drawn by us.

use super::kernel_graph::{Block, Edge, KernelGraph, Tree};
use crate::{GraphEdge, GraphNode, graph_svg};
use std::fmt::Write as _;
use wb_bound::count;

/// Instructions of a block that a drawing shows.
const DRAWN: usize = 14;
/// Characters of a line in a drawing.
const WIDE: usize = 48;

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

fn number(n: Option<usize>) -> String {
    n.map_or_else(|| "-".into(), |n| n.to_string())
}

/// `taken if no lane is on`, short.
fn way(edge: &Edge) -> String {
    let back = if edge.back { ", back" } else { "" };
    match edge.on {
        "always" => format!("{}{back}", edge.way),
        on => format!("{} on {on}{back}", edge.way),
    }
}

/// Blocks with instructions, edges, dominators; then loops, regions and the tree.
pub fn text(g: &KernelGraph) -> String {
    let mut out = String::new();
    let name = if g.kernel.is_empty() { &g.file } else { &g.kernel };
    let _ = writeln!(
        out,
        "{name} ({}): {}, {}, {}, {} on the mask; {}",
        g.isa,
        count(g.blocks.len(), "block"),
        count(g.edges.len(), "edge"),
        count(g.loops.len(), "loop"),
        count(g.regions.len(), "branch"),
        g.checksum
    );
    for b in &g.blocks {
        block(&mut out, g, b);
    }
    if !g.loops.is_empty() {
        let _ = writeln!(out, "\nloops");
    }
    for l in &g.loops {
        let source = if l.source.is_empty() { String::new() } else { format!(" ({})", l.source) };
        let _ = writeln!(
            out,
            "  header {}, {:#x}{source}, depth {}, back from {}, blocks {}",
            l.header,
            l.addr,
            l.depth,
            list(&l.latches),
            list(&l.blocks)
        );
    }
    if !g.regions.is_empty() {
        let _ = writeln!(out, "\nbranches on the mask");
    }
    for r in &g.regions {
        let marks = if r.markable { "markable".to_owned() } else { format!("not markable: {}", r.why) };
        let meet = if r.ends {
            "lanes never meet".into()
        } else {
            format!("lanes meet in {}", number(r.reconverge))
        };
        let second = r.serialise.map_or_else(String::new, |b| format!(", other side from {b}"));
        let _ = writeln!(
            out,
            "  block {}, pc {} ({:#x}), {}{second}, {meet}, {marks}",
            r.block, r.pc, r.addr, r.kind
        );
    }
    let _ = writeln!(out, "\nnesting");
    tree(&mut out, &g.tree, 1);
    for c in &g.calls {
        let _ =
            writeln!(out, "call in block {}, pc {}: function at block {}", c.block, c.pc, number(c.callee));
    }
    if let Some(problem) = &g.problem {
        let _ = writeln!(out, "\nno bound can be computed: {problem}");
    }
    out
}

fn block(out: &mut String, g: &KernelGraph, b: &Block) {
    let label = if b.label.is_empty() { String::new() } else { format!(" {}", b.label) };
    let inner = b.inner.map_or_else(String::new, |h| format!(", in loop {h}"));
    let _ = writeln!(
        out,
        "\nblock {}{label}: pc {} to {}, dominated by {}, post-dominated by {}{inner}",
        b.number,
        b.first,
        b.last,
        number(b.dominator),
        number(b.post_dominator)
    );
    let mut last = "";
    for i in &b.instructions {
        let source = if i.source == last { "" } else { &i.source };
        last = &i.source;
        let _ = writeln!(out, "{}", format!("  {:06x}  {:<46} {source}", i.addr, i.text).trim_end());
    }
    // Edges are in the order of the blocks they leave.
    let from = g.edges.partition_point(|e| e.from < b.number);
    let own = g.edges[from..].iter().take_while(|e| e.from == b.number);
    let edges: Vec<String> = own.map(|e| format!("{} ({})", e.to, way(e))).collect();
    let _ = match edges.is_empty() {
        true => writeln!(out, "  -> end"),
        false => writeln!(out, "  -> {}", edges.join(", ")),
    };
}

fn tree(out: &mut String, t: &Tree, depth: usize) {
    let what = match t.kind {
        "kernel" => format!("kernel from block {}", t.block),
        "loop" => format!("loop at block {}", t.block),
        _ => format!("region of block {}", t.block),
    };
    let _ = writeln!(out, "{}{what}: {}", "  ".repeat(depth), list(&t.blocks));
    t.children.iter().for_each(|c| tree(out, c, depth + 1));
}

/// Title and lines of a block in a drawing.
fn face(b: &Block) -> (String, Vec<String>) {
    let label = if b.label.is_empty() { String::new() } else { format!(" {}", b.label) };
    let cut = |text: &str| match text.chars().count() > WIDE {
        true => format!("{}…", text.chars().take(WIDE - 1).collect::<String>()),
        false => text.to_owned(),
    };
    let title = cut(&format!("{}{label}  {:#x}", b.number, b.addr));
    let mut lines: Vec<String> = Vec::new();
    if let Some(first) = b.lines.first() {
        let more = if b.lines.len() > 1 { format!(" +{}", b.lines.len() - 1) } else { String::new() };
        lines.push(cut(&format!("{first}{more}")));
    }
    let shown = if b.instructions.len() > DRAWN { DRAWN - 2 } else { b.instructions.len() };
    lines.extend(b.instructions[..shown].iter().map(|i| cut(&i.text)));
    if shown < b.instructions.len() {
        lines.push(format!("… {} more", b.instructions.len() - shown - 1));
        lines.extend(b.instructions.last().map(|i| cut(&i.text)));
    }
    (title, lines)
}

fn colour(e: &Edge) -> &'static str {
    match (e.back, e.on) {
        (true, _) => "#2060b0",
        (_, "mask" | "lanes" | "stack") => "#c04020",
        (_, "scalar") => "#308030",
        _ => "#444444",
    }
}

fn fill(g: &KernelGraph, b: &Block) -> &'static str {
    let serialise = g.regions.iter().any(|r| r.serialise == Some(b.number));
    if g.loops.iter().any(|l| l.header == b.number) {
        "#dce9f8"
    } else if serialise {
        "#f8e6dc"
    } else if g.regions.iter().any(|r| r.block == b.number) {
        "#fdf3e0"
    } else {
        "#f6f6f6"
    }
}

fn label(e: &Edge) -> String {
    match (e.way, e.on) {
        (_, "always") | ("next", _) => String::new(),
        (_, on) => on.to_owned(),
    }
}

/// Text for Graphviz.
pub fn dot(g: &KernelGraph) -> String {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = String::new();
    let _ = writeln!(out, "digraph \"{}\" {{", quote(if g.kernel.is_empty() { &g.file } else { &g.kernel }));
    let _ = writeln!(out, "  node [shape=box, fontname=\"monospace\", fontsize=10, style=filled];");
    for b in &g.blocks {
        let (title, lines) = face(b);
        let text: String =
            std::iter::once(&title).chain(&lines).map(|l| format!("{}\\l", quote(l))).collect();
        let _ = writeln!(out, "  b{} [label=\"{text}\", fillcolor=\"{}\"];", b.number, fill(g, b));
    }
    for e in &g.edges {
        let style = if e.way == "next" { "solid" } else { "bold" };
        let _ = writeln!(
            out,
            "  b{} -> b{} [label=\"{}\", color=\"{}\", style={style}{}];",
            e.from,
            e.to,
            label(e),
            colour(e),
            if e.back { ", constraint=false" } else { "" }
        );
    }
    out.push_str("}\n");
    out
}

/// The drawing; the entry is at the top.
pub fn svg(g: &KernelGraph) -> String {
    // The entry first: functions that are called may stand before the kernel.
    let mut order: Vec<usize> = (0..g.blocks.len()).collect();
    order.sort_by_key(|&b| (b < g.entry, b));
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &b)| place[b] = at);
    let nodes: Vec<GraphNode> = order
        .iter()
        .map(|&n| {
            let b = &g.blocks[n];
            let (title, lines) = face(b);
            GraphNode { title, lines, fill: fill(g, b).into(), bold: n == g.entry, ..GraphNode::default() }
        })
        .collect();
    let edges: Vec<GraphEdge> = g
        .edges
        .iter()
        .map(|e| GraphEdge {
            from: place[e.from],
            to: place[e.to],
            label: label(e),
            colour: colour(e).into(),
            bold: false,
            dashed: e.way == "taken" && e.on != "always",
            ..GraphEdge::default()
        })
        .collect();
    graph_svg(&nodes, &edges)
}
