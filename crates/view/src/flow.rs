//! The flow graph beside the lanes: the blocks that the trace has been in, as the header lists them.

use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use wb_report::{GraphEdge, GraphNode, graph_inline};
use wb_trace::{CodeLine, Pc};

/// A drawing of more blocks helps nobody.
const MOST: usize = 300;
/// Instructions of a block that are drawn.
const DRAWN: usize = 5;

/// SVG of the blocks that were executed and where they lead. Boxes have the class `block` and `pc-N`, N being their first pc.
pub fn flow(store: &Store) -> String {
    let mut blocks: BTreeMap<Pc, Vec<&CodeLine>> = BTreeMap::new();
    let mut first = None;
    for line in &store.info.code {
        if line.leads {
            first = Some(line.pc);
        }
        if let Some(first) = first {
            blocks.entry(first).or_default().push(line);
        }
        if !line.to.is_empty() {
            first = None;
        }
    }
    let ran = |code: &[&CodeLine]| {
        let unit = |l: &CodeLine| store.places.find(l.pc).and_then(|i| store.index.units.get(i).copied());
        code.iter().any(|l| unit(l).is_some_and(|u| u != u8::MAX))
    };
    let timed = store.info.timed;
    blocks.retain(|_, code| !timed || ran(code));
    if blocks.is_empty() {
        return "<p>The trace does not say how instructions follow each other.</p>".to_owned();
    }
    if blocks.len() > MOST {
        return format!("<p>{} blocks are too many to draw.</p>", blocks.len());
    }
    let entered: BTreeSet<Pc> = blocks.values().filter_map(|c| c.last()).flat_map(|l| l.to.clone()).collect();
    let mut order: Vec<Pc> = blocks.keys().copied().collect();
    order.sort_by_key(|pc| (entered.contains(pc), *pc));
    let numbers: BTreeMap<Pc, usize> = order.iter().enumerate().map(|(i, &pc)| (pc, i)).collect();
    let nodes: Vec<GraphNode> = order.iter().map(|pc| node(*pc, &blocks[pc])).collect();
    let mut edges = Vec::new();
    for (i, pc) in order.iter().enumerate() {
        for to in blocks[pc].last().map_or(&[][..], |l| &l.to) {
            if let Some(&to) = numbers.get(to) {
                edges.push(GraphEdge { from: i, to, colour: "#888".into(), ..GraphEdge::default() });
            }
        }
    }
    graph_inline(&nodes, &edges)
}

fn node(pc: Pc, code: &[&CodeLine]) -> GraphNode {
    let cut = |text: &str| text.chars().take(36).collect::<String>();
    let mut lines: Vec<String> = code.iter().take(DRAWN - 2).map(|l| cut(&l.text)).collect();
    if code.len() > DRAWN {
        lines.push(format!("… {} more", code.len() - DRAWN + 1));
        lines.extend(code.last().map(|l| cut(&l.text)));
    } else {
        lines.extend(code.iter().skip(DRAWN - 2).map(|l| cut(&l.text)));
    }
    let at = code.first().map_or(0, |l| l.addr);
    let source = code.iter().find(|l| l.line > 0).map_or_else(String::new, |l| format!("  line {}", l.line));
    let label = code.first().map_or("", |l| l.label.as_str());
    let title = if label.is_empty() { format!("{at:#x}{source}") } else { format!("{label}{source}") };
    GraphNode {
        title,
        lines,
        fill: "#f7f7f7".into(),
        bold: false,
        class: format!("block pc-{pc}"),
        tip: format!("{} instructions from {at:#x}", code.len()),
    }
}
