//! The page of a run: what it cost, where in source and assembly, what branches lose, what memory answers, what limits
//! occupancy, and a timeline that zooms. One file: nothing is loaded; a small script of ours draws the timelines, and everything
//! else is there without it. All text is escaped.

mod bars;
mod heat;
mod occupancy;
mod part;
mod sources;
mod style;
mod tables;
mod timeline;

pub use bars::{breakdown, legend, stack, states};
pub use heat::{level, share};
pub use part::{Launch, Occupancy, Part, Sum};
pub use sources::{File, Line, files, find_sources};
pub use style::css;
pub use tables::cards;

use crate::escape;
use crate::pages::digits::number;
use crate::pages::{close, open, section};
use std::fmt::Write;
use wb_trace::Stats;

/// Parts that have their details on a page; of more, the most expensive ones.
pub const MOST_PARTS: usize = 8;
/// Records of all timelines of a page together.
const RECORDS: usize = 60_000;

/// What a page says.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub title: String,
    /// The command that wrote it, without folders.
    pub command: String,
    /// What ran, on which machine.
    pub about: String,
    /// All launches, in order.
    pub launches: Vec<Launch>,
    /// The most expensive launches or kernels.
    pub parts: Vec<Part>,
    /// Parts that were left out, and what they are: `launches`, `kernels`.
    pub left_out: usize,
    pub left_out_are: &'static str,
    /// All launches added up.
    pub totals: Option<Stats>,
}

/// Drops the details of the least expensive part, if there are too many; returns its place.
pub fn drop_one(parts: &mut Vec<Part>) -> Option<usize> {
    if parts.len() <= MOST_PARTS {
        return None;
    }
    let least = (0..parts.len()).min_by_key(|&i| (parts[i].stats.cycles, std::cmp::Reverse(i)))?;
    parts.remove(least);
    Some(least)
}

/// The page as one file of HTML.
pub fn html(page: &Page) -> String {
    let mut out = open(&page.title, &css());
    let anchors: Vec<String> = (0..page.parts.len()).map(|i| format!("p{i}")).collect();
    let _ = writeln!(out, "<p class=\"where\">{}</p>", escape(&page.about));
    if page.launches.len() > 1 {
        overview(&mut out, page, &anchors);
    }
    for (part, anchor) in page.parts.iter().zip(&anchors) {
        details(&mut out, part, anchor, page.parts.len());
    }
    let mut body = String::new();
    let _ = writeln!(body, "<pre class=\"command\">{}</pre>", escape(&page.command));
    body.push_str(
        "<p>File names stand without their folders. The same version with the same inputs gives the same numbers. Without --html \
         it prints them as text, and with --json for programs.</p>\n",
    );
    section(&mut out, "How to reproduce", true, &body);
    if page.parts.iter().any(|p| p.timeline.is_some()) {
        out.push_str(&timeline::script());
    }
    close(&mut out);
    out
}

fn overview(out: &mut String, page: &Page, anchors: &[String]) {
    out.push_str("<section>\n<h2>All launches</h2>\n");
    let mut timed = true;
    if let Some(totals) = &page.totals {
        timed = totals.timed;
        out.push_str(&cards(totals));
        if timed {
            out.push_str(&stack(&states(totals)));
            out.push_str(&legend(&states(totals)));
        }
    }
    if page.left_out > 0 {
        let _ = writeln!(
            out,
            "<p class=\"note\">The page has the details of the {} {} that take the most cycles; {} more are only rows of this \
             table.</p>",
            page.parts.len(),
            page.left_out_are,
            number(page.left_out as u64)
        );
    }
    out.push_str(&tables::launches(&page.launches, timed, anchors));
    out.push_str("</section>\n");
}

fn details(out: &mut String, p: &Part, anchor: &str, parts: usize) {
    let _ = writeln!(out, "<section id=\"{anchor}\">\n<h2>{}</h2>", escape(&p.name));
    let _ = writeln!(out, "<p class=\"where\">{}</p>", escape(&p.what));
    out.push_str(&cards(&p.stats));
    let alone = parts == 1;
    if p.stats.timed {
        section(out, "Where the cycles go", true, &breakdown(&p.stats));
    }
    section(out, "Source", true, &heat::source(anchor, p));
    section(out, "Branches by lane-cycles lost", true, &tables::branches(anchor, p));
    section(out, "Memory", alone, &tables::memory(anchor, p));
    if let Some(o) = &p.occupancy {
        section(out, "Occupancy", alone, &occupancy::occupancy(o));
    }
    section(out, "Units and ports", alone, &tables::units(&p.stats));
    let shortened = p.timeline.as_ref().map(|t| {
        let mut t = t.clone();
        t.shorten(RECORDS / parts.max(1));
        Part {
            timeline: Some(t),
            stats: p.stats.clone(),
            timeline_of: p.timeline_of.clone(),
            ..Part::default()
        }
    });
    if let Some(body) = shortened.and_then(|p| timeline::timeline(anchor, &p)) {
        section(out, "Timeline", alone, &body);
    }
    section(out, "Assembly", false, &heat::assembly(anchor, p));
    out.push_str("</section>\n");
}
