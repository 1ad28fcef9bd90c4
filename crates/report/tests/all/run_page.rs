//! The page of a run with names and texts that try to leave their places, and with more than fits.

use roxmltree::{Document, ParsingOptions};
use wb_report::pages::compare::{self, Variant};
use wb_report::pages::run::{Launch, MOST_PARTS, Page, Part, drop_one, html};
use wb_report::{Moment, SlotLine, Timeline};
use wb_trace::{BranchStats, PcMemory, PcStats, Stats};

const EVIL: &str = "<b></script><script>alert(1)</script>'\"&]]><!--\u{1}";

fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).expect("well-formed")
}

fn stats(cycles: u64) -> Stats {
    let pc = |pc: u32| PcStats {
        pc,
        text: EVIL.into(),
        label: EVIL.into(),
        file: EVIL.into(),
        inner: EVIL.into(),
        line: pc + 1,
        executed: 3,
        cycles: 5,
        memory: Some(PcMemory { accesses: 1, lines: 9, ideal_lines: Some(2), ..PcMemory::default() }),
        ..PcStats::default()
    };
    let branch = BranchStats { text: EVIL.into(), file: EVIL.into(), executed: 1, ..BranchStats::default() };
    Stats {
        cycles,
        timed: true,
        lanes: 4,
        pcs: vec![pc(0), pc(1)],
        branches: vec![branch],
        ..Stats::default()
    }
}

fn part(cycles: u64) -> Part {
    let slot =
        SlotLine { waves: vec![(0, 9, 0)], moments: vec![Moment(0, 1, 0, 0, 0, 0)], ..SlotLine::default() };
    let timeline = Timeline {
        cycles: 9,
        to: 5,
        lanes: 4,
        slots: vec![slot],
        masks: vec![15],
        width: 1,
        ..Timeline::default()
    };
    Part {
        name: EVIL.into(),
        what: EVIL.into(),
        launches: 1,
        stats: stats(cycles),
        timeline: Some(timeline),
        timeline_of: EVIL.into(),
        sources: vec![(EVIL.into(), format!("{EVIL}\n{EVIL}\n"))],
        ..Part::default()
    }
}

#[test]
fn hostile_text_stays_text() {
    let launch = Launch { kernel: EVIL.into(), number: EVIL.into(), part: Some(0), ..Launch::default() };
    let page = Page {
        title: EVIL.into(),
        command: EVIL.into(),
        about: EVIL.into(),
        launches: vec![launch.clone(), launch],
        parts: vec![part(7)],
        left_out: 3,
        left_out_are: "kernels",
        totals: Some(stats(7)),
    };
    let text = html(&page);
    assert!(!text.contains("<script>alert"), "it would run");
    let doc = parse(&text);
    let scripts: Vec<_> = doc.descendants().filter(|n| n.has_tag_name("script")).collect();
    assert_eq!(scripts.len(), 2);
    let data: serde_json::Value = serde_json::from_str(scripts[0].text().expect("data")).expect("JSON");
    assert_eq!(data["code"]["0"][1], EVIL, "the script gets what the program says");
    assert!(text.contains("the first 5 of 9 cycles"), "that the timeline is cut is said");
    let variant =
        Variant { name: EVIL.into(), stats: Some(stats(7)), differs: EVIL.into(), ..Variant::default() };
    let refused = Variant { name: EVIL.into(), refused: EVIL.into(), ..Variant::default() };
    let page = compare::Page {
        title: EVIL.into(),
        command: EVIL.into(),
        variants: vec![variant, refused],
        sources: vec![(EVIL.into(), EVIL.into())],
        ..compare::Page::default()
    };
    let text = compare::html(&page);
    parse(&text);
    assert!(!text.contains("<script"), "comparisons run nothing");
}

#[test]
fn the_most_expensive_parts_stay() {
    let mut parts = Vec::new();
    for cycles in [5, 1, 9, 3, 8, 2, 7, 4, 6, 10] {
        parts.push(part(cycles));
        drop_one(&mut parts);
    }
    let left: Vec<u64> = parts.iter().map(|p| p.stats.cycles).collect();
    assert_eq!((left.len(), left), (MOST_PARTS, vec![5, 9, 3, 8, 7, 4, 6, 10]));
}

/// What the HIP library hands over is what the page gets.
#[test]
fn parts_survive_the_way_between_processes() {
    let mut sent = part(7);
    sent.stats.stall_cycles = serde_json::from_str(r#"{"memory": 4, "not-selected": 2}"#).expect("stalls");
    let text = serde_json::to_string(&sent).expect("JSON");
    let mut got: Part = serde_json::from_str(&text).expect("a part");
    assert_eq!((got.stats.clone(), got.timeline.clone()), (sent.stats.clone(), sent.timeline.clone()));
    got.add(sent);
    assert_eq!((got.launches, got.stats.cycles, got.stats.stall_cycles.total()), (2, 14, 12));
    assert_eq!(got.stats.pcs[0].memory.as_ref().map(|m| m.ideal_lines), Some(Some(4)));
}
