//! The page of a comparison: the same launches on several variants of a machine, side by side – speed-up, what paths did, and
//! which source lines take the cycles. One file, nothing is loaded, nothing is scripted.

use crate::escape;
use crate::pages::digits::number;
use crate::pages::run::{Part, files, legend, level, stack, states};
use crate::pages::{card, close, open, section};
use crate::timeline::STATES;
use std::collections::BTreeMap;
use std::fmt::Write;
use wb_trace::Stats;

/// One variant, run or refused.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    pub name: String,
    /// None: it did not run, and `refused` says why.
    pub stats: Option<Stats>,
    pub refused: String,
    /// Its memory differs from that of the first.
    pub differs: String,
}

/// What a page says.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub title: String,
    pub command: String,
    pub about: String,
    pub variants: Vec<Variant>,
    /// Names and texts of source files.
    pub sources: Vec<(String, String)>,
    /// What was compared in memory, in words.
    pub memory: String,
}

const CSS: &str = "\
.side td.bar { width: 18rem; min-width: 8rem; } .side td.bar > div { height: .8rem; border-radius: .2rem; min-width: 1px; margin-top: .3rem; background: var(--s0); }
.side td.bar > div.slow { background: var(--s2); } .side .room { width: 26rem; } .side .stack { height: 1rem; margin-top: .2rem; }
.x1 { background: var(--h1); } .x2 { background: var(--h2); } .x3 { background: var(--h3); } .x4 { background: var(--h4); }
.x5 { background: var(--h5); } .x6 { background: var(--h6); } .x7 { background: var(--h7); } .x8 { background: var(--h8); }
.code th.v { white-space: normal; max-width: 8rem; }
.code td.v { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
";

/// The page as one file of HTML.
pub fn html(page: &Page) -> String {
    let mut out = open(&page.title, &format!("{}{CSS}", crate::pages::run::css()));
    let _ = writeln!(out, "<p class=\"where\">{}</p>", escape(&page.about));
    out.push_str(&cards(page));
    section(&mut out, "Speed", true, &speed(page));
    section(&mut out, "What paths did", true, &composition(page));
    section(&mut out, "Source", true, &source(page));
    let body = format!("<pre class=\"command\">{}</pre>\n", escape(&page.command));
    section(&mut out, "How to reproduce", true, &body);
    close(&mut out);
    out
}

/// Cycles, or steps of untimed runs.
fn cost(stats: &Stats) -> u64 {
    if stats.timed { stats.cycles } else { stats.wave_instructions }
}

fn first(page: &Page) -> Option<&Stats> {
    page.variants.iter().find_map(|v| v.stats.as_ref())
}

/// The variant that takes the fewest cycles.
fn best(page: &Page) -> Option<(&str, &Stats)> {
    let ran = page.variants.iter().filter_map(|v| Some((v.name.as_str(), v.stats.as_ref()?)));
    ran.min_by_key(|v| cost(v.1))
}

fn cards(page: &Page) -> String {
    let mut out = String::from("<div class=\"cards\">\n");
    let ran = page.variants.iter().filter(|v| v.stats.is_some()).count();
    let refused = page.variants.len() - ran;
    card(
        &mut out,
        "variants",
        &ran.to_string(),
        "",
        &if refused > 0 { format!("{refused} refused") } else { String::new() },
    );
    if let (Some(first), Some((name, stats))) = (first(page), best(page)) {
        let speed = cost(first) as f64 / cost(stats).max(1) as f64;
        card(
            &mut out,
            "fastest",
            name,
            "",
            &format!("{} cycles, {speed:.3} times the first", number(cost(stats))),
        );
    }
    let differing = page.variants.iter().filter(|v| !v.differs.is_empty()).count();
    let (value, class) = if differing == 0 { ("equal", "good") } else { ("different", "bad") };
    card(&mut out, "results in memory", value, class, &page.memory);
    out.push_str("</div>\n");
    out
}

/// A row for each variant, with a bar of its speed-up.
fn speed(page: &Page) -> String {
    let Some(first) = first(page) else { return "<p>No variant ran.</p>\n".into() };
    let speed_up = |s: &Stats| cost(first) as f64 / cost(s).max(1) as f64;
    let ran = page.variants.iter().filter_map(|v| v.stats.as_ref());
    let most = ran.map(speed_up).fold(1e-9, f64::max);
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"side\"><thead><tr><th>variant</th><th class=\"n\">cycles</th><th class=\"n\">speed-up</th><th></th><th class=\"n\">lane use</th><th class=\"n\">IPC</th><th class=\"n\">stalls</th><th class=\"n\">splits</th><th>memory</th></tr></thead><tbody>\n",
    );
    for v in &page.variants {
        let Some(s) = &v.stats else {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td colspan=\"8\" class=\"warn\">refused: {}</td></tr>",
                escape(&v.name),
                escape(&v.refused)
            );
            continue;
        };
        let up = speed_up(s);
        let equal = if v.differs.is_empty() {
            "equal".to_owned()
        } else {
            format!("<span class=\"bad\">{}</span>", escape(&v.differs))
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{up:.3}</td><td class=\"bar\"><div{} style=\"width:{:.2}%\"></div></td><td class=\"n\">{:.1}%</td><td class=\"n\">{:.3}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{equal}</td></tr>",
            escape(&v.name),
            number(cost(s)),
            if up < 1.0 { " class=\"slow\"" } else { "" },
            100.0 * up / most,
            100.0 * s.lane_utilisation,
            s.ipc,
            number(s.stall_cycles.total()),
            number(s.contexts.started)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// Bars of path-cycles by state, all on one scale.
fn composition(page: &Page) -> String {
    let ran: Vec<(&str, [u64; STATES])> =
        page.variants.iter().filter_map(|v| Some((v.name.as_str(), states(v.stats.as_ref()?)))).collect();
    let sum = |s: &[u64; STATES]| s.iter().sum::<u64>();
    let most = ran.iter().map(|r| sum(&r.1)).max().unwrap_or(0).max(1);
    let mut all = [0; STATES];
    ran.iter().for_each(|r| all.iter_mut().zip(r.1).for_each(|(a, n)| *a += n));
    let mut out = String::from(
        "<p class=\"note\">Path-cycles: issued instructions, and cycles that paths stood, by cause. Paths of a split wave count \
         each, so that their sum may grow while the run gets shorter.</p>\n",
    );
    out.push_str(&legend(&all));
    out.push_str("<div class=\"scroll\"><table class=\"side\"><thead><tr><th>variant</th><th class=\"n\">path-cycles</th><th></th></tr></thead><tbody>\n");
    for (name, states) in &ran {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td><div class=\"room\"><div style=\"width:{:.2}%\">{}</div></div></td></tr>",
            escape(name),
            number(sum(states)),
            (100.0 * sum(states) as f64 / most as f64).max(1.0),
            stack(states).trim_end()
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// Cycles of source lines, a column for each variant.
fn source(page: &Page) -> String {
    let ran: Vec<&Variant> = page.variants.iter().filter(|v| v.stats.is_some()).collect();
    let parts: Vec<Part> = ran
        .iter()
        .map(|v| Part {
            stats: v.stats.clone().unwrap_or_default(),
            sources: page.sources.clone(),
            ..Part::default()
        })
        .collect();
    // By file and line: text and cycles of each variant.
    let mut all: BTreeMap<String, BTreeMap<u32, (String, Vec<u64>)>> = BTreeMap::new();
    for (i, part) in parts.iter().enumerate() {
        for file in files(part) {
            let lines = all.entry(file.name).or_default();
            for l in file.lines {
                let row = lines.entry(l.line).or_insert_with(|| (l.text, vec![0; parts.len()]));
                row.1[i] = l.sum.cycles;
            }
        }
    }
    if all.is_empty() {
        return "<p>The program does not say which source lines it comes from.</p>\n".into();
    }
    let most = all.values().flat_map(|f| f.values()).flat_map(|l| &l.1).copied().max().unwrap_or(0) as f64;
    let mut out = String::from(
        "<p class=\"note\">Wave-cycles of the instructions of each line: those in which they issued, and those that paths stood before them.</p>\n",
    );
    for (name, lines) in &all {
        let _ = writeln!(out, "<p><code>{}</code></p>", escape(wb_jobs::last_part(name)));
        out.push_str("<div class=\"scroll\"><table class=\"code\"><thead><tr><th class=\"n\">line</th>");
        for v in &ran {
            let _ = write!(out, "<th class=\"n v\">{}</th>", escape(&v.name));
        }
        out.push_str("<th>source</th></tr></thead><tbody>\n");
        let mut last = None;
        for (line, (text, cycles)) in lines {
            if last.is_some_and(|n: u32| n + 1 < *line) {
                let _ = writeln!(out, "<tr class=\"gap\"><td colspan=\"{}\">⋯</td></tr>", ran.len() + 2);
            }
            last = Some(*line);
            let _ = write!(out, "<tr><td class=\"n\">{line}</td>");
            for &n in cycles {
                let shown = if n == 0 { String::new() } else { number(n) };
                let _ = write!(out, "<td class=\"v x{}\">{shown}</td>", level(n as f64, most));
            }
            let _ = writeln!(out, "<td class=\"text\">{}</td></tr>", escape(&text.replace('\t', "    ")));
        }
        out.push_str("</tbody></table></div>\n");
    }
    out
}
