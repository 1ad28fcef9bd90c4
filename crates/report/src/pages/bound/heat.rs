//! Drawings of the page: bars of bound and observed, the control flow with the worst way, source and assembly coloured
//! by what they add to the bound.

use crate::pages::digits::number;
use crate::pages::section;
use crate::{GraphEdge, GraphNode, escape, graph_inline};
use std::fmt::Write;
use wb_bound::{BlockRow, KernelBound, SourceRow};

/// Instructions of a block in the drawing of the control flow.
const DRAWN: usize = 4;
/// A drawing of more blocks helps nobody.
const MOST_BLOCKS: usize = 400;
/// Fills of the steps of heat where no style applies.
const FILLS: [&str; 9] =
    ["#f7f7f7", "#fff3e0", "#ffe7c7", "#ffd9ab", "#ffc890", "#ffb576", "#ffa060", "#ff8b50", "#ff7443"];

/// Step of heat of a share, with `most` the hottest. Square roots let small shares show.
fn level(percent: f64, most: f64) -> usize {
    if percent < 0.05 || most <= 0.0 {
        0
    } else {
        ((percent / most).sqrt() * 8.0).ceil().clamp(1.0, 8.0) as usize
    }
}

/// A share as text; nothing where it is nothing.
fn share(percent: f64) -> String {
    if percent < 0.05 { String::new() } else { format!("{percent:.1}%") }
}

/// Bars of a launch's and a wave's bounds beside what was observed.
pub fn bars(k: &KernelBound, deadline: Option<u64>) -> String {
    let mut out = String::from("<figure style=\"margin:0\">\n");
    let all = [("bound", k.bound, 1), ("bound by blocks", k.bound_by_blocks, 3), ("observed", k.observed, 2)];
    let wave = [
        ("bound", k.wave_bound, 1),
        ("bound by blocks", k.wave_bound_by_blocks, 3),
        ("longest observed", k.wave_observed, 2),
    ];
    let title = if k.launches.len() == 1 { "the launch" } else { "all launches" };
    // Nothing is measured, by blocks or as a whole, when times are given.
    let known =
        |rows: [(&'static str, u64, u32); 3]| -> Vec<_> { rows.into_iter().filter(|r| r.1 > 0).collect() };
    chart(&mut out, title, &known(all), deadline);
    chart(&mut out, "one wave", &known(wave), None);
    out.push_str(
        "<figcaption class=\"note\">The bound adds up the longest measured times of segments that are as long as the runs \
         justify. The bound by blocks does so with a segment for every basic block: looser, it assumes less about which \
         times go together.</figcaption>\n</figure>\n",
    );
    out
}

fn chart(out: &mut String, title: &str, rows: &[(&str, u64, u32)], limit: Option<u64>) {
    const LEFT: f64 = 150.0;
    const WIDE: f64 = 560.0;
    let most = rows.iter().map(|r| r.1).chain(limit).max().unwrap_or(0).max(1) as f64;
    let height = 24 + 22 * rows.len() + if limit.is_some() { 16 } else { 0 };
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 860 {height}\" width=\"860\" height=\"{height}\" font-size=\"13\" role=\"img\" aria-label=\"{}\">",
        escape(title)
    );
    let _ = writeln!(out, "<text x=\"0\" y=\"15\" font-weight=\"600\">{}</text>", escape(title));
    for (i, (name, cycles, colour)) in rows.iter().enumerate() {
        let (y, width) = (24 + 22 * i, *cycles as f64 / most * WIDE);
        let _ = writeln!(
            out,
            "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"bar{colour}\" x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"16\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            LEFT - 8.0,
            y + 13,
            escape(name),
            width.max(1.0),
            LEFT + width + 6.0,
            y + 13,
            number(*cycles)
        );
    }
    if let Some(limit) = limit {
        let x = LEFT + limit as f64 / most * WIDE;
        let end = 24 + 22 * rows.len();
        let _ = writeln!(
            out,
            "<line class=\"limit\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"18\" y2=\"{end}\"/><text class=\"soft\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">deadline {}</text>",
            end + 13,
            number(limit)
        );
    }
    out.push_str("</svg>\n");
}

/// The control-flow graph: colour is what a block adds, the worst way is bold, numbers are how often it takes a step.
pub fn graph(k: &KernelBound) -> String {
    if k.blocks.len() > MOST_BLOCKS {
        return format!("<p>{} blocks are too many to draw; the tables have them all.</p>\n", k.blocks.len());
    }
    let most = k.blocks.iter().map(|b| b.percent).fold(0.0, f64::max);
    let mut order: Vec<&BlockRow> = k.blocks.iter().collect();
    // The entry first: no step leads to the first block of a kernel, or it has the lowest address.
    let entered = |b: &BlockRow| k.edges.iter().any(|e| e.to == b.block && e.from != b.block);
    order.sort_by_key(|b| (entered(b), b.first.addr));
    let at = |block: usize| order.iter().position(|b| b.block == block).unwrap_or(usize::MAX);
    let nodes: Vec<GraphNode> = order.iter().map(|b| node(b, most)).collect();
    let edges: Vec<GraphEdge> = k
        .edges
        .iter()
        .map(|e| GraphEdge {
            from: at(e.from),
            to: at(e.to),
            label: if e.worst { format!("{}×", number(e.count)) } else { String::new() },
            colour: if e.worst { "#b3261e".into() } else { "#888".into() },
            bold: e.worst,
            dashed: e.taken == 0,
            class: if e.worst { "worst".into() } else { String::new() },
            tip: format!(
                "block {} to block {}: taken {} times in the runs{}",
                e.from,
                e.to,
                number(e.taken),
                if e.worst {
                    format!(", at most {} times on the worst way", number(e.count))
                } else {
                    String::new()
                }
            ),
        })
        .collect();
    format!(
        "<p class=\"note\">Colour: what a block adds to the bound of a wave. Bold: the worst way, with how often it takes \
         each step at most. Dashed: no run took the step. Where paths of a wave run side by side, the worst way is that of \
         the path that takes longest.</p>\n<div class=\"graph\">\n{}</div>\n",
        graph_inline(&nodes, &edges)
    )
}

fn node(b: &BlockRow, most: f64) -> GraphNode {
    let step = level(b.percent, most);
    let mut lines = Vec::new();
    if !b.first.source.is_empty() {
        lines.push(b.first.source.clone());
    }
    lines.push(format!("{} instructions", b.instructions));
    let cut = |text: &str| text.chars().take(34).collect::<String>();
    let texts = b.code.iter().map(|c| cut(&c.1));
    if b.code.len() <= DRAWN {
        lines.extend(texts);
    } else {
        lines.extend(texts.take(DRAWN - 2));
        lines.push("…".into());
        lines.extend(b.code.last().map(|c| cut(&c.1)));
    }
    let title = match share(b.percent) {
        none if none.is_empty() => format!("block {}", b.block),
        share => format!("block {}  {share}", b.block),
    };
    GraphNode {
        title,
        lines,
        fill: FILLS[step].into(),
        bold: b.worst,
        class: format!("h{step}{}", if b.worst { " worst" } else { "" }),
        tip: format!("block {}, {:#x} to {:#x}: {:.0} cycles", b.block, b.first.addr, b.last.addr, b.cycles),
    }
}

/// Lines of source, where their text is known.
pub fn sources(k: &KernelBound) -> String {
    if k.sources.is_empty() {
        return "<p>The program does not say which source lines it comes from: see Assembly.</p>\n".into();
    }
    let mut out = String::from(
        "<p class=\"note\">Cycles of the bound of a wave, divided among the instructions of a block equally. The text is that \
         of the file as it lies beside the program now.</p>\n",
    );
    let most = k.sources.iter().flat_map(|s| &s.lines).map(|l| l.percent).fold(0.0, f64::max);
    for s in &k.sources {
        if !s.found {
            let _ = writeln!(
                out,
                "<p>{} is not beside the program, so only the numbers of its lines are known.</p>",
                escape(&s.file)
            );
        }
        let _ = writeln!(out, "<p><code>{}</code></p>", escape(&s.file));
        out.push_str(&lines(s, most));
    }
    out
}

fn lines(s: &SourceRow, most: f64) -> String {
    let mut out = String::from("<div class=\"scroll\"><table class=\"code\"><tbody>\n");
    let mut last = None;
    for l in &s.lines {
        if last.is_some_and(|n: u32| n + 1 < l.line) {
            out.push_str("<tr class=\"gap\"><td colspan=\"4\">⋯</td></tr>\n");
        }
        last = Some(l.line);
        let cycles = if l.cycles < 0.5 { String::new() } else { number(l.cycles.round() as u64) };
        let _ = writeln!(
            out,
            "<tr class=\"h{}\"><td class=\"n\">{}</td><td class=\"n\">{cycles}</td><td class=\"n\">{}</td><td class=\"text\">{}</td></tr>",
            level(l.percent, most),
            share(l.percent),
            l.line,
            escape(&l.text.replace('\t', "    "))
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// Every block with its instructions; the hottest are open.
pub fn assembly(k: &KernelBound) -> String {
    let most = k.blocks.iter().map(|b| b.percent).fold(0.0, f64::max);
    let mut out = String::new();
    for b in &k.blocks {
        let step = level(b.percent, most);
        let mut body = String::from("<div class=\"scroll\"><table class=\"code\"><tbody>\n");
        let mut before = "";
        for (place, text) in &b.code {
            let source = if place.source == before { "" } else { place.source.as_str() };
            before = &place.source;
            let _ = writeln!(
                body,
                "<tr class=\"h{step}\"><td class=\"n\">{:#x}</td><td class=\"text\">{}</td><td>{}</td></tr>",
                place.addr,
                escape(text),
                escape(source)
            );
        }
        body.push_str("</tbody></table></div>\n");
        let succs: Vec<String> = b.succs.iter().map(usize::to_string).collect();
        let to = if succs.is_empty() { "end".into() } else { succs.join(", ") };
        let share = if share(b.percent).is_empty() { "0%".into() } else { share(b.percent) };
        let title = format!(
            "block {} → {to}: {share}, {} cycles, {} instructions{}",
            b.block,
            number(b.cycles.round() as u64),
            b.instructions,
            if b.worst { ", on the worst way" } else { "" }
        );
        section(&mut out, &title, step >= 6, &body);
    }
    out
}
