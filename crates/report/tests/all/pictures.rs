//! Pictures of a made-up run. The files stay in target/tmp so that a person can look at them.

use crate::common;

use std::path::PathBuf;

use wb_report::{Cell, History, Palette, PictureOptions, draw, pixels, svg};
use wb_trace::{Event, Kind, MaskCause, NO_PC, Observer, StallReason};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn made_up(cores: u16, waves: usize, rounds: usize) -> History {
    let mut history = History::new();
    history.begin(&common::info(32, cores.into(), waves as u32));
    let mut end = 0;
    for core in 0..cores {
        let (events, cycles) = common::run(core, waves, rounds);
        history.events(&events);
        end = cycles;
    }
    history.end(end);
    history
}

#[test]
fn short_run() {
    let history = made_up(1, 4, 1);
    let options = PictureOptions { title: "Four waves, two ALUs, one sampler".into(), ..Default::default() };
    draw(&history, &options, &file("short.png")).unwrap();
    draw(&history, &options, &file("short.svg")).unwrap();
    assert!(std::fs::metadata(file("short.svg")).unwrap().len() < 100_000);
}

#[test]
fn long_run() {
    let history = made_up(1, 4, 80);
    let options = PictureOptions { title: "A long run".into(), ..Default::default() };
    draw(&history, &options, &file("long.png")).unwrap();
}

#[test]
fn large_machine() {
    let history = made_up(8, 10, 2);
    let options = PictureOptions { title: "Eight cores".into(), ..Default::default() };
    draw(&history, &options, &file("large.png")).unwrap();
}

#[test]
fn tiny_run() {
    let mut history = tiny();
    history.end(6);
    let options = PictureOptions { title: "Two slots, four lanes".into(), ..Default::default() };
    draw(&history, &options, &file("tiny.png")).unwrap();
}

/// One wave of four lanes (three launched) in the first of two slots: issue, stalls, half masked, end.
fn tiny() -> History {
    let event = |cycle, mask, kind| Event { cycle, core: 0, slot: 0, wave: 0, path: 0, pc: 0, mask, kind };
    let issue = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
    let mut history = History::new();
    history.begin(&common::info(4, 1, 2));
    history.events(&[
        event(0, 0, Kind::WaveStart { lanes: 0b0111 }),
        event(0, 0b0111, issue),
        event(1, 0b0111, Kind::Stall { cycles: 1, reason: StallReason::Dependency }),
        event(2, 0b0111, issue),
        event(2, 0b0111, Kind::Mask { new: 0b0001, live: 0b0111, origin: NO_PC, cause: MaskCause::MaskTest }),
        event(3, 0b0001, Kind::Stall { cycles: 1, reason: StallReason::NotSelected }),
        event(4, 0b0001, issue),
        event(4, 0b0001, Kind::WaveEnd),
    ]);
    history
}

fn closed_tiny() -> History {
    let mut history = tiny();
    history.end(6);
    history
}

#[test]
fn cells_of_a_history() {
    let history = closed_tiny();
    let row = |lane| (0..6).map(|cycle| history.cell(0, 0, lane, cycle)).collect::<Vec<_>>();
    use Cell::*;
    assert_eq!(row(0), [Dispatched, Dependency, Dispatched, NotDispatched, Dispatched, Empty]);
    assert_eq!(row(1), [Dispatched, Dependency, Dispatched, Masked, Masked, Empty]);
    assert_eq!(row(3), [Ended, Ended, Ended, Ended, Ended, Empty]);
    assert_eq!(history.cell(0, 1, 0, 0), Empty);
    assert_eq!(history.cell(0, 0, 99, 0), Ended);
}

/// Top left corner of the first cell: the inside of the first frame below the title's place.
fn first_cell(width: u32, data: &[u8], y: u32) -> u32 {
    let at = |x: u32| &data[((y * width + x) * 3) as usize..][..3];
    let edge = (0..width).find(|&x| at(x) == [120, 120, 120] && at(x + 1) == [255, 255, 255]);
    edge.unwrap() + 1
}

#[test]
fn pixels_of_known_cells() {
    let history = closed_tiny();
    let options = PictureOptions { cell: Some(10), palette: Palette::Guppy, ..Default::default() };
    let (width, height, data) = pixels(&history, &options).unwrap();
    assert_eq!(data.len(), (width * height * 3) as usize);
    let y0 = 14; // without a title the lanes start at the margin
    let x0 = first_cell(width, &data, y0 + 5);
    for lane in 0..4 {
        for cycle in 0..6u32 {
            let (x, y) = (x0 + cycle * 10 + 5, y0 + lane * 10 + 5);
            let i = ((y * width + x) * 3) as usize;
            let (r, g, b) = options.palette.of(history.cell(0, 0, lane, cycle.into()));
            assert_eq!(data[i..i + 3], [r, g, b], "lane {lane} cycle {cycle}");
        }
    }
}

#[test]
fn svg_has_cells_and_legend() {
    let history = closed_tiny();
    let title = "A < B".into();
    let options = PictureOptions { cell: Some(10), title, palette: Palette::Guppy, ..Default::default() };
    let text = svg(&history, &options);
    // Lanes 0 to 2 in cycle 1 are one blue rectangle, lanes 1 and 2 in cycles 3 and 4 one black one.
    let rect = |w: u32, h: u32, color: &str| {
        let paths = text.lines().filter(|l| l.starts_with("<path") && l.contains(color));
        paths.map(|l| l.matches(&format!("h{w}v{h}h-{w}z")).count()).sum::<usize>()
    };
    assert_eq!(rect(10, 30, "#2346d7"), 1);
    assert_eq!(rect(20, 20, "#000000"), 1);
    for name in ["A &lt; B", "masked off", "dispatched", "dependency stall", "memory stall", "not dispatched"]
    {
        assert!(text.contains(name), "{name}");
    }
    assert_eq!(text, svg(&history, &options));
}

#[test]
fn averages_when_cycles_outnumber_pixels() {
    let event = |cycle, mask, kind| Event { cycle, core: 0, slot: 0, wave: 0, path: 0, pc: 0, mask, kind };
    let mut history = History::new();
    history.begin(&common::info(1, 1, 1));
    history.events(&[event(0, 0, Kind::WaveStart { lanes: 1 })]);
    for cycle in (0..100_000).step_by(2) {
        history.events(&[
            event(cycle, 1, Kind::Issue { unit: 255, instance: 0, class: 0, busy: 1 }),
            event(cycle + 1, 1, Kind::Stall { cycles: 1, reason: StallReason::Unit }),
        ]);
    }
    history.end(100_000);
    let palette = Palette::Guppy;
    let options = PictureOptions { max_width: 600, units: false, palette, ..Default::default() };
    let (width, _, data) = pixels(&history, &options).unwrap();
    assert!(width <= 600);
    // Half white, half red.
    let mixed = data.chunks_exact(3).filter(|p| **p == [235, 148, 148]).count();
    assert!(mixed > 1000, "{mixed} mixed pixels");
    assert!(svg(&history, &options).contains("colours averaged"));
    // The lane is of one colour, so it is one rectangle.
    let lane = svg(&history, &options);
    assert_eq!(lane.lines().filter(|l| l.contains("#eb9494")).count(), 1);
}

#[test]
fn ranges_and_limits() {
    let (events, cycles) = common::run(0, 4, 20);
    let whole = made_up(1, 4, 20);
    let mut part = History::range(100, Some(180));
    part.begin(&common::info(32, 1, 4));
    part.events(&events);
    part.end(cycles);
    assert_eq!(part.cycles(), (100, 180));
    for slot in 0..4 {
        assert!(part.spans(0, slot).len() < whole.spans(0, slot).len());
        for cycle in (100..180).step_by(3) {
            assert_eq!(part.cell(0, slot, 17, cycle), whole.cell(0, slot, 17, cycle));
        }
    }
    let mut small = History::new().with_limit(100);
    small.begin(&common::info(32, 1, 4));
    small.events(&events);
    small.end(cycles);
    let cut = small.cut().unwrap();
    assert_eq!(small.cycles(), (0, cut));
    assert_eq!(small.cell(0, 2, 5, cut / 2), whole.cell(0, 2, 5, cut / 2));
    assert!(svg(&small, &PictureOptions::default()).contains("history cut at cycle"));
}

#[test]
fn odd_requests() {
    let mut nothing = History::new();
    let options = PictureOptions::default();
    draw(&nothing, &options, &file("nothing.png")).unwrap();
    nothing.begin(&common::info(64, 1, 4));
    nothing.end(0);
    draw(&nothing, &options, &file("nothing.svg")).unwrap();
    let history = made_up(1, 4, 1);
    for (from, to) in [(0, Some(0)), (1000, None), (50, Some(10)), (u64::MAX, Some(u64::MAX)), (3, Some(4))] {
        svg(&history, &PictureOptions { from, to, ..Default::default() });
    }
    for side in [0, 1, 300, u32::MAX] {
        let options =
            PictureOptions { max_width: side, max_height: side, cell: Some(side), ..Default::default() };
        svg(&history, &options);
    }
    let error = draw(&history, &options, &file("picture.gif")).unwrap_err();
    assert!(error.to_string().contains("format is not known"), "{error}");
    let error = draw(&history, &options, &file("no-such-folder/picture.png")).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
}

#[test]
fn heights_stay_within_the_limit() {
    let history = made_up(8, 10, 2);
    for max_height in [600, 900, 1200] {
        let options = PictureOptions { max_height, ..Default::default() };
        let (_, height, _) = pixels(&history, &options).unwrap();
        assert!(height <= max_height, "{height} > {max_height}");
    }
}

/// Two paths of a wave run side by side; cycles nobody accounts for go to the unit, then to "not dispatched".
#[test]
fn paths_and_gaps() {
    let event = |cycle, path, mask, kind| Event { cycle, core: 0, slot: 0, wave: 0, path, pc: 0, mask, kind };
    let issue = |busy| Kind::Issue { unit: 0, instance: 0, class: 0, busy };
    let mask = |new, cause| Kind::Mask { new, live: 0b11, origin: NO_PC, cause };
    let mut history = History::new();
    history.begin(&common::info(2, 1, 1));
    history.events(&[
        event(0, 0, 0, Kind::WaveStart { lanes: 0b11 }),
        event(0, 0, 0b11, issue(2)),
        event(3, 0, 0b11, issue(1)),
        event(3, 0, 0b11, mask(0b01, MaskCause::Diverge)),
        event(3, 0, 0b01, Kind::PathNew { at: 7, lanes: 0b10 }),
        event(4, 0, 0b01, issue(1)),
        event(5, 1, 0b10, issue(1)),
        event(5, 0, 0b01, Kind::Stall { cycles: 2, reason: StallReason::Merge }),
        event(6, 1, 0b10, Kind::Stall { cycles: 1, reason: StallReason::Memory }),
        event(7, 0, 0b01, Kind::PathMerge { lanes: 0b10 }),
        event(7, 0, 0b01, mask(0b11, MaskCause::Reconverge)),
        event(7, 0, 0b11, issue(1)),
        event(8, 0, 0b11, Kind::WaveEnd),
    ]);
    history.end(8);
    let row = |lane| (0..8).map(|cycle| history.cell(0, 0, lane, cycle)).collect::<Vec<_>>();
    use Cell::*;
    let start = [Dispatched, Dispatched, NotDispatched, Dispatched];
    assert_eq!(row(0)[..4], start);
    assert_eq!(row(0)[4..], [Dispatched, NotDispatched, NotDispatched, Dispatched]);
    assert_eq!(row(1)[..4], start);
    assert_eq!(row(1)[4..], [Masked, Dispatched, Memory, Dispatched]);
    assert_eq!(history.unit(0, 0, 0).len(), 3);
}

/// Text is as wide in the rendered picture as the layout took it to be: no legend runs into the next.
#[test]
fn legends_fit() {
    let options = PictureOptions { palette: Palette::Guppy, ..Default::default() };
    let history = closed_tiny();
    let (width, height, data) = pixels(&history, &options).unwrap();
    let text = svg(&history, &options);
    let number = |line: &str, key: &str| {
        let rest = &line[line.find(key).unwrap() + key.len()..];
        rest[..rest.find('"').unwrap()].parse::<f64>().unwrap()
    };
    let lines: Vec<&str> =
        text.lines().filter(|l| l.starts_with("<text") && l.contains("\"start\"")).collect();
    assert!(lines.len() > 5);
    for (a, b) in lines.iter().zip(&lines[1..]) {
        let ((ax, y), (bx, by)) =
            ((number(a, " x=\""), number(a, " y=\"")), (number(b, " x=\""), number(b, " y=\"")));
        if (y - by).abs() > 0.1 || bx < ax {
            continue;
        }
        // Between a text and the swatch of the next one (17 pixels before its text) the page is white.
        let column = (bx - 20.0) as u32;
        let clear = (y as u32 - 8..y as u32 + 2).filter(|&row| row < height);
        for row in clear {
            let at = ((row * width + column) * 3) as usize;
            assert_eq!(data[at..at + 3], [255, 255, 255], "{a}\nruns into\n{b}");
        }
    }
}
