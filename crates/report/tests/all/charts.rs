//! Charts of made-up series; the files stay in target/tmp.

use std::path::{Path, PathBuf};

use wb_report::{Axis, Chart, ReportError, bars, lines};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn chart() -> Chart {
    Chart {
        title: "Cost of wider waves".into(),
        x_label: "wave width".into(),
        y_label: "cycles relative to width 1".into(),
        x: Axis::Numbers(vec![1.0, 8.0, 16.0, 32.0, 64.0]),
        series: vec![
            ("random".into(), vec![1.0, 1.78, 1.88, 1.94, 1.97]),
            ("sorted".into(), vec![1.0, 1.03, 1.07, f64::NAN, 1.24]),
        ],
    }
}

#[test]
fn both_kinds_and_formats() {
    let names = ["kmeans", "bfs", "hotspot", "nw", "lud"].map(String::from).to_vec();
    let grouped = Chart { x: Axis::Categories(names), x_label: "benchmark".into(), ..chart() };
    for (name, chart) in [("numbers", chart()), ("categories", grouped)] {
        for extension in ["png", "svg"] {
            lines(&file(&format!("lines-{name}.{extension}")), &chart).unwrap();
            bars(&file(&format!("bars-{name}.{extension}")), &chart).unwrap();
        }
    }
    let text = std::fs::read_to_string(file("bars-categories.svg")).unwrap();
    for word in ["hotspot", "sorted", "random", "benchmark", "Cost of wider waves"] {
        assert!(text.contains(word), "{word}");
    }
    // Nine bars are drawn: one value is missing.
    let text = std::fs::read_to_string(file("bars-numbers.svg")).unwrap();
    let bars =
        text.lines().filter(|l| l.starts_with("<rect") && (l.contains("#1F77B4") || l.contains("#FF7F0E")));
    assert_eq!(bars.count(), 9 + 2, "bars and legend");
}

#[test]
fn odd_data() {
    let empty = Chart { x: Axis::Numbers(vec![]), series: vec![], ..chart() };
    lines(&file("empty.svg"), &empty).unwrap();
    bars(&file("empty.png"), &empty).unwrap();
    let one = Chart { x: Axis::Numbers(vec![3.0]), series: vec![("a".into(), vec![0.0])], ..chart() };
    lines(&file("one.svg"), &one).unwrap();
    bars(&file("one.svg"), &one).unwrap();
    let huge = Chart {
        x: Axis::Numbers(vec![1e-300, 1e300]),
        series: vec![("a".into(), vec![-1e300, 1e300])],
        ..chart()
    };
    lines(&file("huge.svg"), &huge).unwrap();
    let short = Chart { series: vec![("a".into(), vec![1.0])], ..chart() };
    assert!(lines(&file("short-series.svg"), &short).unwrap_err().to_string().contains("1 values for 5"));
    let infinite = Chart { series: vec![("a".into(), vec![f64::INFINITY; 5])], ..chart() };
    assert!(bars(&file("infinite.svg"), &infinite).is_err());
}

/// Published numbers look the same in every chart: first colour, pale inside; ours never take that colour beside them.
#[test]
fn published_stands_out() {
    let with = |series: &[&str]| Chart {
        x: Axis::Numbers(vec![1.0, 2.0]),
        series: series.iter().map(|n| ((*n).to_owned(), vec![1.0, 2.0])).collect(),
        ..chart()
    };
    let drawn = |name: &str, chart: &Chart, draw: fn(&Path, &Chart) -> Result<(), ReportError>| {
        draw(&file(name), chart).unwrap();
        std::fs::read_to_string(file(name)).unwrap()
    };
    let count = |text: &str, what: &str| text.lines().filter(|l| l.contains(what)).count();
    for order in [["published", "ours"], ["ours", "published, S = 1"]] {
        let text = drawn("published-bars.svg", &with(&order), bars);
        // Two bars and the legend: pale inside, blue frame; ours are orange.
        assert_eq!((count(&text, "#C7DDED"), count(&text, "#FF7F0E")), (3, 3), "{text}");
        assert_eq!(count(&text, "stroke=\"#1F77B4\""), 3, "{text}");
    }
    let text = drawn("plain-bars.svg", &with(&["ours", "others"]), bars);
    assert_eq!((count(&text, "#1F77B4"), count(&text, "#C7DDED")), (3, 0));
    let text = drawn("published-lines.svg", &with(&["published", "expected, 2w/(w+1)", "ours"]), lines);
    let solid = drawn("plain-lines.svg", &with(&["a", "b", "ours"]), lines);
    let pieces = |text: &str| count(text, "<polyline");
    assert!(pieces(&text) > pieces(&solid) + 10, "references are dashed");
}

#[test]
fn many_long_names_stand_upright() {
    let svg = |count: usize| {
        let chart = Chart {
            title: "names".into(),
            x_label: "workload".into(),
            y_label: "value".into(),
            x: Axis::Categories((0..count).map(|i| format!("particlefilter {i}")).collect()),
            series: vec![("one".into(), vec![1.0; count])],
        };
        let path = file(&format!("upright-{count}.svg"));
        bars(&path, &chart).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    let (few, many) = (svg(3), svg(20));
    assert_eq!(few.matches("rotate(90").count(), 0);
    assert_eq!(many.matches("rotate(90").count(), 20);
}
