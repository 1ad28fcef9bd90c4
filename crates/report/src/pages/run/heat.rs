//! Source and assembly coloured by what they cost. A table of code has several views – cycles, lanes, stalls, how often, memory –
//! and the reader chooses one; that needs no script.

use super::part::{Part, Sum};
use super::sources::{File, files};
use crate::escape;
use crate::pages::digits::number;
use std::fmt::Write;
use wb_jobs::last_part;
use wb_trace::{PcStats, StallReason};

/// A view of a table of code.
pub struct View {
    /// In classes of the page.
    pub name: &'static str,
    title: &'static str,
    /// What colours a row.
    heat: fn(&Sum) -> f64,
}

/// All views, the first one is shown first.
pub const VIEWS: &[View] = &[
    View { name: "cycles", title: "cycles", heat: |s| s.cycles as f64 },
    View { name: "lanes", title: "lane use", heat: |s| s.lost as f64 },
    View { name: "stalls", title: "stalls by cause", heat: |s| s.stalls.total() as f64 },
    View { name: "count", title: "instructions", heat: |s| s.executed as f64 },
    View { name: "memory", title: "memory", heat: |s| (s.memory.lines + s.memory.bank_conflicts) as f64 },
];

/// Rows of assembly on a page; of more, those that take the most cycles stay.
const MOST_ROWS: usize = 4000;
/// So many instructions in a row that did not run are shown; more are left out.
const IDLE: usize = 6;

/// Step of heat of a value, with `most` the hottest. Square roots let small values show.
pub fn level(value: f64, most: f64) -> usize {
    if value <= 0.0 || most <= 0.0 || value / most < 0.0005 {
        0
    } else {
        ((value / most).sqrt() * 8.0).ceil().clamp(1.0, 8.0) as usize
    }
}

/// The parts of a table that all of its rows share.
struct Table<'a> {
    lanes: f64,
    cycles: u64,
    reasons: Vec<StallReason>,
    /// The hottest row in each view.
    most: Vec<f64>,
    part: &'a str,
}

impl<'a> Table<'a> {
    fn new<'b>(part: &'a str, p: &Part, rows: impl Iterator<Item = &'b Sum> + Clone) -> Table<'a> {
        let most = VIEWS.iter().map(|v| rows.clone().map(|s| (v.heat)(s)).fold(0.0, f64::max));
        let stalls = &p.stats.stall_cycles;
        Table {
            lanes: f64::from(p.stats.lanes.max(1)),
            cycles: p.stats.pcs.iter().map(|p| p.cycles).sum(),
            reasons: StallReason::ALL.into_iter().filter(|&r| stalls.get(r) > 0).collect(),
            most: most.collect(),
            part,
        }
    }

    /// The switches and the head; `first` and `last` are cells around the numbers.
    fn open(&self, kind: &str, first: &str, last: &str) -> String {
        let mut out = String::from("<div class=\"heat\">\n");
        for (i, v) in VIEWS.iter().enumerate() {
            let (id, checked) = (
                format!("{}-{kind}-{}", self.part, v.name),
                if i == 0 { " checked=\"checked\"" } else { "" },
            );
            let _ = writeln!(
                out,
                "<input type=\"radio\" class=\"v-{}\" name=\"{}-{kind}\" id=\"{id}\"{checked}/><label for=\"{id}\">{}</label>",
                v.name, self.part, v.title
            );
        }
        out.push_str("<div class=\"scroll\"><table class=\"code\"><thead><tr>");
        out.push_str(first);
        let mut head = |view: &str, text: &str| {
            let _ = write!(out, "<th class=\"n col c-{view}\">{}</th>", escape(text));
        };
        head("cycles", "cycles");
        head("cycles", "share");
        head("lanes", "lanes on");
        head("lanes", "lost");
        head("stalls", "stalled");
        for r in &self.reasons {
            head("stalls", r.name());
        }
        head("count", "issued");
        for text in ["accesses", "lines", "ideal", "hits", "bank conflicts"] {
            head("memory", text);
        }
        out.push_str(last);
        out.push_str("</tr></thead><tbody>\n");
        out
    }

    fn columns(&self) -> usize {
        12 + self.reasons.len()
    }

    /// Classes of a row: its heat in each view.
    fn classes(&self, s: &Sum) -> String {
        let mut out = String::new();
        for (v, most) in VIEWS.iter().zip(&self.most) {
            let step = level((v.heat)(s), *most);
            if step > 0 {
                let _ = write!(out, "{}{step} ", v.name);
            }
        }
        if s.executed == 0 {
            out.push_str("idle");
        }
        out.trim_end().to_owned()
    }

    fn numbers(&self, s: &Sum) -> String {
        let mut out = String::new();
        let mut cell = |view: &str, text: String| {
            let _ = write!(out, "<td class=\"n col c-{view}\">{text}</td>");
        };
        let some = |n: u64| if n == 0 { String::new() } else { number(n) };
        cell("cycles", some(s.cycles));
        cell("cycles", share(s.cycles, self.cycles));
        let lanes = s.lanes / (s.executed.max(1) as f64 * self.lanes);
        cell("lanes", if s.executed == 0 { String::new() } else { format!("{:.1}%", 100.0 * lanes) });
        cell("lanes", some(s.lost));
        cell("stalls", some(s.stalls.total()));
        for &r in &self.reasons {
            cell("stalls", some(s.stalls.get(r)));
        }
        cell("count", some(s.executed));
        let m = &s.memory;
        cell("memory", some(m.accesses + m.local_accesses));
        cell("memory", some(m.lines));
        cell("memory", m.ideal_lines.map_or(String::new(), some));
        cell("memory", share(m.hits, m.hits + m.misses));
        cell("memory", some(m.bank_conflicts));
        out
    }
}

/// A part of a whole; nothing where there is nothing.
pub fn share(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    if whole == 0 || part == 0 { String::new() } else { format!("{percent:.1}%") }
}

/// What is counted, for readers of the tables.
pub const CYCLES: &str = "<p class=\"note\">Cycles of an instruction are wave-cycles: those in which it issued, and those that \
    its wave – or its path, if the wave is split – stood before it. Together they are all cycles of all paths. Lane use is that \
    of the instructions of a row when they issue; lost are live lanes that were off, and colour that view.</p>\n";

/// Lines of source with what their instructions cost. `part` begins the anchors.
pub fn source(part: &str, p: &Part) -> String {
    let files = files(p);
    if files.is_empty() {
        return "<p>The program does not say which source lines it comes from: see Assembly.</p>\n".into();
    }
    let mut out = String::from(CYCLES);
    let all = files.iter().flat_map(|f| f.lines.iter().map(|l| &l.sum));
    let table = Table::new(part, p, all);
    if p.stats.pcs.iter().any(|p| !p.inner.is_empty()) {
        out.push_str(
            "<p class=\"note\">Code that comes from headers of a library is counted where it is used; the assembly says where \
             it was written.</p>\n",
        );
    }
    for (f, file) in files.iter().enumerate() {
        let _ = writeln!(out, "<p><code>{}</code>{}</p>", escape(last_part(&file.name)), found(file));
        out.push_str(&table.open(&format!("s{f}"), "<th class=\"n\">line</th>", "<th>source</th>"));
        let mut last = None;
        for l in &file.lines {
            if last.is_some_and(|n: u32| n + 1 < l.line) {
                let _ = writeln!(out, "<tr class=\"gap\"><td colspan=\"{}\">⋯</td></tr>", table.columns());
            }
            last = Some(l.line);
            let _ = writeln!(
                out,
                "<tr id=\"{part}-l{f}-{}\" class=\"{}\"><td class=\"n\">{}</td>{}<td class=\"text\">{}</td></tr>",
                l.line,
                table.classes(&l.sum),
                first_instruction(part, l.first, l.line),
                table.numbers(&l.sum),
                escape(&l.text.replace('\t', "    "))
            );
        }
        out.push_str("</tbody></table></div></div>\n");
    }
    out
}

fn first_instruction(part: &str, pc: Option<u32>, line: u32) -> String {
    match pc {
        Some(pc) => format!("<a href=\"#{part}-a{pc}\">{line}</a>"),
        None => line.to_string(),
    }
}

fn found(file: &File) -> &'static str {
    if file.found { "" } else { " is not beside the program, so only the numbers of its lines are known" }
}

/// Every instruction that ran, and those around it.
pub fn assembly(part: &str, p: &Part) -> String {
    let pcs = &p.stats.pcs;
    let kept = kept(pcs);
    let sums: Vec<Sum> = pcs.iter().map(Sum::of).collect();
    let table = Table::new(part, p, sums.iter());
    let files = files(p);
    let mut out = String::new();
    let shown = kept.iter().filter(|&&k| k).count();
    let ran = pcs.iter().filter(|p| p.executed > 0).count();
    if ran > MOST_ROWS {
        let _ = writeln!(
            out,
            "<p class=\"note\">Of {} instructions that ran, the {} that took the most cycles are shown.</p>",
            number(ran as u64),
            number(shown as u64)
        );
    }
    out.push_str(&table.open("a", "<th class=\"n\">address</th>", "<th>instruction</th><th>source</th>"));
    let mut hidden = 0;
    let mut before = String::new();
    for ((pc, sum), keep) in pcs.iter().zip(&sums).zip(&kept) {
        if !keep {
            hidden += 1;
            continue;
        }
        gap(&mut out, &mut hidden, &table);
        if !pc.label.is_empty() {
            let _ = writeln!(
                out,
                "<tr class=\"head\"><td colspan=\"{}\">{}:</td></tr>",
                table.columns() + 1,
                escape(&pc.label)
            );
        }
        let place = place(part, &files, pc);
        let _ = writeln!(
            out,
            "<tr id=\"{part}-a{}\" class=\"{}\"><td class=\"n\">{:#x}</td>{}<td class=\"text\">{}</td><td class=\"from\">{}</td></tr>",
            pc.pc,
            table.classes(sum),
            pc.addr,
            table.numbers(sum),
            escape(&pc.text),
            if place == before { "" } else { &place }
        );
        before = place;
    }
    gap(&mut out, &mut hidden, &table);
    out.push_str("</tbody></table></div></div>\n");
    out
}

fn gap(out: &mut String, hidden: &mut usize, table: &Table) {
    if *hidden > 0 {
        let _ = writeln!(
            out,
            "<tr class=\"gap\"><td colspan=\"{}\">⋯ {} instructions ⋯</td></tr>",
            table.columns() + 1,
            number(*hidden as u64)
        );
        *hidden = 0;
    }
}

/// Which rows are shown: those that ran, short stretches between them, and no more than fit.
fn kept(pcs: &[PcStats]) -> Vec<bool> {
    let mut kept: Vec<bool> = pcs.iter().map(|p| p.executed > 0).collect();
    let mut from = None;
    for i in 0..=pcs.len() {
        match (i < pcs.len() && !kept[i], from) {
            (true, None) => from = Some(i),
            (false, Some(start)) => {
                let between = start > 0 && i < pcs.len();
                if between && i - start <= IDLE {
                    kept[start..i].fill(true);
                }
                from = None;
            }
            _ => {}
        }
    }
    let mut order: Vec<usize> = (0..pcs.len()).filter(|&i| kept[i]).collect();
    if order.len() > MOST_ROWS {
        order.sort_by_key(|&i| (std::cmp::Reverse(pcs[i].cycles), i));
        order[MOST_ROWS..].iter().for_each(|&i| kept[i] = false);
    }
    kept
}

/// `file:line` of an instruction with a way to its line, and where it was written if that is elsewhere.
pub fn place(part: &str, files: &[File], pc: &PcStats) -> String {
    if pc.line == 0 {
        return escape(&pc.inner);
    }
    let text = format!("{}:{}", escape(last_part(&pc.file)), pc.line);
    let mut out = match files.iter().position(|f| f.name == pc.file) {
        Some(f) => format!("<a href=\"#{part}-l{f}-{}\">{text}</a>", pc.line),
        None => text,
    };
    if !pc.inner.is_empty() {
        let _ = write!(out, " from {}", escape(&pc.inner));
    }
    out
}
