//! Speed-ups of the suite: THESIS figure 6.1 (splits that never merge) and PWS figure 11 (split and merge, with the same
//! number of SIMDs).

use super::super::notebook::{Notebook, columns};
use super::super::verdict::{Published, Shape, Want};
use super::{Case, Cases, Placement, Scale, TABLE_6_1, geometric_mean, mean, names, yes};
use miette::Report;
use wb_report::{Axis, Chart, bars};
use wb_workloads::Size;

fn sizes(scale: Scale) -> &'static [Size] {
    match scale {
        Scale::Tiny => &[Size::Tiny],
        Scale::Quick => &[Size::Small],
        Scale::Full => &[Size::Small, Size::Medium, Size::Large],
    }
}

/// The fourteen of the table first, then the six others.
fn in_order() -> Vec<&'static str> {
    let others = names().filter(|n| !TABLE_6_1.contains(n));
    TABLE_6_1.into_iter().chain(others).collect()
}

/// One workload with the speed-up of each of some ways to run it.
struct Bar {
    name: &'static str,
    size: Size,
    base: u64,
    ups: Vec<f64>,
}

/// Speed-ups over the first case.
fn bar(cases: &Cases, of: &[Case]) -> Result<Bar, Report> {
    let base = cases.get(&of[0])?.cycles;
    let mut ups = Vec::new();
    for case in &of[1..] {
        ups.push(base as f64 / cases.get(case)?.cycles.max(1) as f64);
    }
    Ok(Bar { name: of[0].workload, size: of[0].size, base, ups })
}

fn column(bars: &[&Bar], i: usize) -> Vec<f64> {
    bars.iter().map(|b| b.ups[i]).collect()
}

fn best<'a>(bars: &[&'a Bar], i: usize) -> Option<&'a Bar> {
    bars.iter().copied().max_by(|a, b| a.ups[i].total_cmp(&b.ups[i]))
}

fn shown(bar: Option<&Bar>, i: usize) -> String {
    bar.map_or(String::new(), |b| format!("{} ({}) {:.2}", b.name, b.size, b.ups[i]))
}

/// CSV of all bars.
fn table(nb: &mut Notebook, bars: &[Bar], kinds: &[&str]) -> Result<(), Report> {
    let mut head = columns("workload size cycles_none");
    head.extend(kinds.iter().map(|k| format!("speedup_{k}")));
    let row = |b: &Bar| {
        let first = [b.name.to_owned(), b.size.to_string(), b.base.to_string()];
        first.into_iter().chain(b.ups.iter().map(|u| format!("{u:.4}"))).collect()
    };
    nb.csv(".csv", &head, bars.iter().map(row))
}

const NW: &str =
    "a branch of nw has no other side: the lanes that skip it can only wait at the barrier (notes)";
const MARKS: &str = "the thesis does not say which branches it marked; the workloads' own lose where a branch has no other side, marks that are chosen by time do not (below)";
const RESIDENT: &str = "not found out; half of the SIMDs hold half of the waves, which helps where the L2 thrashes, and ours hardly does";
const BFS: &str = "paths of bfs are a few instructions long, so that overlap saves next to nothing; the paper's gain must come from elsewhere";

const NO_ELSE: &str = "most marked branches of these workloads have no other side, so that a path that is split off has nothing to do meanwhile";
const FULL: &str = "with waves enough for all SIMDs a wave on half of them waits twice as long; the paper does not say how many waves it had";

/// Marks that are chosen after the fact cannot lose, since none is one of the choices: the workloads' own are judged.
pub const FIGURE_6_1: &[Published] = &[
    Published {
        quantity: "mean speed-up, default marks",
        says: "",
        want: Want::Printed { number: 1.02, within: 0.03, shape: Shape::None, why: MARKS },
    },
    Published {
        quantity: "share of speed-ups between 0.95 and 1.05, default marks",
        says: "most about 1",
        want: Want::LeastOr { least: 50.0, why: NO_ELSE },
    },
    Published {
        quantity: "share of speed-ups of at least 0.97, default marks",
        says: "does not degrade in most cases",
        want: Want::LeastOr { least: 50.0, why: NO_ELSE },
    },
    Published {
        quantity: "nw, default marks",
        says: "the best",
        want: Want::Printed { number: 1.18, within: 0.05, shape: Shape::None, why: NW },
    },
];

/// No splitting, THESIS with the workload's marks, THESIS with the marks that are fastest at small size.
fn figure_6_1_cases(workload: &'static str, size: Size) -> [Case; 3] {
    let none = Case::new(workload, size, "gcn3");
    let thesis = |marks| Case { mechanism: "thesis", contexts: 1, marks, ..none.clone() };
    [none.clone(), thesis(Placement::Default), thesis(Placement::Fastest)]
}

pub fn figure_6_1_needs(scale: Scale) -> Vec<Case> {
    let of = |size: Size| in_order().into_iter().flat_map(move |w| figure_6_1_cases(w, size));
    sizes(scale).iter().flat_map(|&s| of(s)).chain([pws_case("nw", sizes(scale)[0])]).collect()
}

/// Static splitting without reconvergence over no splitting.
pub fn figure_6_1(nb: &mut Notebook, cases: &Cases, scale: Scale) -> Result<(), Report> {
    let mut all = Vec::new();
    for &size in sizes(scale) {
        for w in in_order() {
            all.push(bar(cases, &figure_6_1_cases(w, size))?);
        }
    }
    let own: Vec<&Bar> = all.iter().filter(|b| TABLE_6_1.contains(&b.name)).collect();
    let every: Vec<&Bar> = all.iter().collect();
    for (i, kind) in ["default marks", "marks chosen"].into_iter().enumerate() {
        let ups = column(&own, i);
        let share = |of: &dyn Fn(f64) -> bool| {
            100.0 * ups.iter().filter(|u| of(**u)).count() as f64 / ups.len() as f64
        };
        nb.number(format!("mean speed-up, {kind}"), mean(&ups), 3, "");
        let near = share(&|u| (0.95..=1.05).contains(&u));
        nb.number(format!("share of speed-ups between 0.95 and 1.05, {kind}"), near, 0, " %");
        nb.number(format!("share of speed-ups of at least 0.97, {kind}"), share(&|u| u >= 0.97), 0, " %");
        let lowest = ups.iter().copied().fold(f64::MAX, f64::min);
        nb.number(format!("lowest speed-up, {kind}"), lowest, 2, "");
        let nw = own.iter().filter(|b| b.name == "nw").map(|b| b.ups[i]).fold(f64::MIN, f64::max);
        nb.number(format!("nw, {kind}"), nw, 2, "");
        nb.text(format!("best, {kind}"), shown(best(&own, i), i));
    }
    nb.number("mean speed-up of all twenty, marks chosen", mean(&column(&every, 1)), 3, "");
    nb.text("best of all twenty, marks chosen", shown(best(&every, 1), 1));
    for &size in sizes(scale) {
        let of: Vec<&Bar> = own.iter().copied().filter(|b| b.size == size).collect();
        nb.number(format!("mean speed-up at {size} size, marks chosen"), mean(&column(&of, 1)), 3, "");
    }
    let nw = all.iter().filter(|b| b.name == "nw").map(|b| format!("{:.2}", b.ups[0]));
    nb.text("nw with its marks, by size", nw.collect::<Vec<_>>().join(" "));
    if let Some(overlap) = cases.get(&pws_case("nw", sizes(scale)[0]))?.overlap {
        let each = overlap.instructions_per_split();
        nb.number("nw under pws: instructions of a split path", each, 2, "");
        nb.number("nw under pws: time that overlap can save", overlap.saved_percent(), 2, " %");
    }
    table(nb, &all, &["default", "chosen"])?;
    let chart = |kind: &str, i: usize| Chart {
        title: format!("THESIS figure 6.1: speed-up by splitting without reconvergence, {kind}"),
        x_label: "workload".into(),
        y_label: "speed-up".into(),
        x: Axis::Categories(in_order().into_iter().map(str::to_owned).collect()),
        series: sizes(scale)
            .iter()
            .map(|&s| {
                let of = all.iter().filter(|b| b.size == s);
                (s.to_string(), of.map(|b| b.ups[i]).collect())
            })
            .collect(),
    };
    nb.chart("", &chart("marks chosen", 1), bars)?;
    nb.chart("-default", &chart("default marks", 0), bars)?;
    nb.note("machine gcn3, THESIS splitting with S = 1 and units of its own; the figure's bars are lost, its text has the mean and the best");
    nb.note("the thesis does not say which branches it marked. Default marks are our workloads' own; chosen marks are those of nothing, one of them, all of them, every branch, or the placement with the least bound that took least time at small size");
    nb.note("nw gains nothing here: `if (t <= m)` has no else, and a group has 16 work-items of a wave of 64. Lanes that skip the body can only go to the barrier and wait (the trace under pws, where paths merge behind the body: next to no time that overlap could save); without a merge both paths fetch and issue every instruction behind the branch once more. Rodinia's kernel has the same branch; where its 1.18 comes from the thesis does not say");
    Ok(())
}

pub const FIGURE_11: &[Published] = &[
    Published {
        quantity: "geometric mean with optimal placement at least that with default marks",
        says: "",
        want: Want::Text("yes"),
    },
    Published::number(
        "geometric mean of the speed-up, optimal placement",
        1.11,
        0.03,
        Shape::AtLeast(1.0),
        RESIDENT,
    ),
    Published::number(
        "geometric mean of the speed-up, default marks",
        1.11,
        0.03,
        Shape::AtLeast(1.0),
        RESIDENT,
    ),
    Published::number("arithmetic mean, optimal placement", 1.18, 0.03, Shape::AtLeast(1.0), RESIDENT),
    Published {
        quantity: "largest loss at any size, default marks",
        says: "a minor performance loss",
        want: Want::MostOr { most: 10.0, why: FULL },
    },
    Published {
        quantity: "bfs, default marks",
        says: "gains most",
        want: Want::Printed { number: 3.0, within: 0.1, shape: Shape::None, why: BFS },
    },
    Published { quantity: "bfs: instructions of a split path", says: "", want: Want::AtMost(4.0) },
    Published { quantity: "bfs: time that overlap can save", says: "", want: Want::AtMost(5.0) },
    Published {
        quantity: "workload that overlap can save most gains most",
        says: "",
        want: Want::Text("yes"),
    },
];

/// SIMDs of a core in all; the second is a core of gcn3 with a SpSIMD for each of its SIMDs.
const TOTALS: [u32; 3] = [4, 8, 16];

fn totals(size: Size) -> impl Iterator<Item = u32> {
    TOTALS.into_iter().filter(move |&t| t == TOTALS[1] || size == Size::Small)
}

/// All SIMDs for whole waves; half of them split units, with default marks and, for one number of SIMDs, with the optimal
/// ones.
fn figure_11_cases(workload: &'static str, size: Size, total: u32) -> Vec<Case> {
    let none = Case { simds: total, ..Case::new(workload, size, "pws") };
    let pws =
        |marks| Case { simds: total / 2, mechanism: "pws", contexts: 1, reuse: true, marks, ..none.clone() };
    let mut cases = vec![none.clone(), pws(Placement::Default)];
    if total == TOTALS[1] {
        cases.push(pws(Placement::Optimal));
    }
    cases
}

/// Whole waves on the SIMDs that splitting leaves: as many resident waves as with PWS.
fn half_case(workload: &'static str, size: Size) -> Case {
    Case { simds: TOTALS[1] / 2, ..Case::new(workload, size, "pws") }
}

/// PWS with default marks.
fn pws_case(workload: &'static str, size: Size) -> Case {
    figure_11_cases(workload, size, TOTALS[1]).swap_remove(1)
}

pub fn figure_11_needs(scale: Scale) -> Vec<Case> {
    let mut needs = Vec::new();
    for &size in sizes(scale) {
        for total in totals(size) {
            needs.extend(names().flat_map(|w| figure_11_cases(w, size, total)));
        }
        needs.extend(names().map(|w| half_case(w, size)));
    }
    needs
}

/// Speed-up by PWS with S = 1 and the same number of SIMDs.
pub fn figure_11(nb: &mut Notebook, cases: &Cases, scale: Scale) -> Result<(), Report> {
    let bars_of = |size: Size, total: u32| {
        names().map(|w| bar(cases, &figure_11_cases(w, size, total))).collect::<Result<Vec<Bar>, Report>>()
    };
    let main = bars_of(sizes(scale)[0], TOTALS[1])?;
    let all: Vec<&Bar> = main.iter().collect();
    let (own, optimal) = (column(&all, 0), column(&all, 1));
    nb.number("geometric mean of the speed-up, default marks", geometric_mean(&own), 3, "");
    nb.number("geometric mean of the speed-up, optimal placement", geometric_mean(&optimal), 3, "");
    nb.number("arithmetic mean, default marks", mean(&own), 3, "");
    nb.number("arithmetic mean, optimal placement", mean(&optimal), 3, "");
    let mut higher = geometric_mean(&optimal) >= geometric_mean(&own);
    let worst = all.iter().min_by(|a, b| a.ups[0].total_cmp(&b.ups[0]));
    nb.text("loses most at the smallest size, default marks", shown(worst.copied(), 0));
    let bfs = all.iter().filter(|b| b.name == "bfs").map(|b| b.ups[0]).fold(f64::MIN, f64::max);
    nb.number("bfs, default marks", bfs, 2, "");
    nb.text("gains most, default marks", shown(best(&all, 0), 0));
    nb.text("gains most, optimal placement", shown(best(&all, 1), 1));
    for b in &main {
        nb.text(format!("{}: default, optimal", b.name), format!("{:.3} {:.3}", b.ups[0], b.ups[1]));
    }
    let mut everything = Vec::new();
    for &size in sizes(scale) {
        for total in totals(size) {
            let found = bars_of(size, total)?;
            let refs: Vec<&Bar> = found.iter().collect();
            let means: Vec<f64> = (0..refs[0].ups.len()).map(|i| geometric_mean(&column(&refs, i))).collect();
            let shown: Vec<String> = means.iter().map(|m| format!("{m:.3}")).collect();
            let kinds = if means.len() > 1 { "default, optimal" } else { "default" };
            nb.text(format!("geometric means, {size}, {total} SIMDs: {kinds}"), shown.join(" "));
            if total == TOTALS[1] {
                higher &= means[1] >= means[0];
                everything.extend(found);
            }
        }
    }
    nb.text("geometric mean with optimal placement at least that with default marks", yes(higher));
    let worst = everything.iter().min_by(|a: &&Bar, b| a.ups[0].total_cmp(&b.ups[0]));
    let loss = worst.map_or(0.0, |b| 100.0 * (1.0 - b.ups[0]));
    nb.number("largest loss at any size, default marks", loss, 1, " %");
    nb.text("loses most at any size, default marks", shown(worst, 0));
    apart(nb, cases, &everything)?;
    reasons(nb, cases, &main)?;
    table(nb, &everything, &["default", "optimal"])?;
    let mut sorted: Vec<&Bar> = main.iter().collect();
    sorted.sort_by(|a, b| a.ups[0].total_cmp(&b.ups[0]));
    let means = |i: usize| {
        let values = column(&sorted, i);
        let both = [geometric_mean(&values), mean(&values)];
        values.into_iter().chain(both).collect::<Vec<f64>>()
    };
    let published = |b: &&Bar| if b.name == "bfs" { 3.0 } else { f64::NAN };
    let chart = Chart {
        title: "PWS figure 11: speed-up by PWS, S = 1, as many SIMDs in all".into(),
        x_label: "workload, small size".into(),
        y_label: "speed-up".into(),
        x: Axis::Categories(
            sorted.iter().map(|b| b.name.to_owned()).chain(["geomean".into(), "mean".into()]).collect(),
        ),
        series: vec![
            ("published".into(), sorted.iter().map(published).chain([1.11, 1.18]).collect()),
            ("default marks".into(), means(0)),
            ("optimal placement".into(), means(1)),
        ],
    };
    nb.chart("", &chart, bars)?;
    nb.note("machine pws; 8 SIMDs without splitting against 4 and a SpSIMD for each, which serve as SIMDs for kernels without splits (PWS 4). The paper does not say how many SIMDs or work-items it has; 4 and 16 SIMDs are printed beside it. All twenty workloads are in the means");
    nb.note("bfs does not gain 3 times, and no splitting of ours makes it: its branch in the loop has no else. From the trace: a path that is split off there issues three instructions (branch, mask, merge) and waits, so that overlap has next to nothing to save. With S = 1 a wave has two units, and more than twice as fast is more than they can give, as in the paper's table 3");
    nb.note("dwt2d gains by instruction fetch, not by divergence: the side without work passes the code behind a loop and brings it into the instruction cache while the other waits. With a front end that never waits (--set frontend.kind=perfect) its gain is gone, and lud's stays");
    nb.note("workloads that lose have no work on the other side of their branches, and pay for the split and the merge, or have waves enough for all SIMDs and get half of them");
    Ok(())
}

/// Two effects apart: half as many SIMDs hold half as many waves (8 SIMDs against 4), and splitting itself (4 SIMDs against 4
/// with a SpSIMD each).
fn apart(nb: &mut Notebook, cases: &Cases, bars: &[Bar]) -> Result<(), Report> {
    let mut rows = Vec::new();
    let mut sizes: Vec<Size> = Vec::new();
    for b in bars {
        let cycles = |case: &Case| -> Result<f64, Report> { Ok(cases.get(case)?.cycles as f64) };
        let whole = cycles(&figure_11_cases(b.name, b.size, TOTALS[1])[0])?;
        let half = cycles(&half_case(b.name, b.size))?;
        let pws = cycles(&pws_case(b.name, b.size))?;
        if !sizes.contains(&b.size) {
            sizes.push(b.size);
        }
        rows.push((b.name, b.size, [whole, half, pws], [whole / half, half / pws]));
    }
    for &size in &sizes {
        for (without, said) in [("", ""), ("dwt2d", ", without dwt2d")] {
            let of = |f: &dyn Fn(&[f64; 2]) -> f64| {
                let rows = rows.iter().filter(|r| r.1 == size && r.0 != without);
                geometric_mean(&rows.map(|r| f(&r.3)).collect::<Vec<f64>>())
            };
            let text = format!("{:.3} = {:.3} × {:.3}", of(&|e| e[0] * e[1]), of(&|e| e[0]), of(&|e| e[1]));
            nb.text(format!("speed-up = fewer resident waves × splitting, {size}{said}"), text);
        }
        let bfs = rows.iter().find(|r| r.1 == size && r.0 == "bfs");
        if let Some((_, _, _, [resident, split])) = bfs {
            let text = format!("{:.3} = {resident:.3} × {split:.3}", resident * split);
            nb.text(format!("bfs: speed-up = fewer resident waves × splitting, {size}"), text);
        }
    }
    let row = |(name, size, cycles, effects): &(&str, Size, [f64; 3], [f64; 2])| {
        let cycles = cycles.iter().map(|c| format!("{c:.0}"));
        let effects = effects.iter().map(|e| format!("{e:.4}"));
        let names = [(*name).to_owned(), size.to_string()].into_iter();
        names.chain(cycles).chain(effects).collect::<Vec<String>>()
    };
    let head = "workload size none_8 none_4 pws_4_4 resident_waves splitting";
    nb.csv("-apart.csv", &columns(head), rows.iter().map(row))
}

/// What the trace says about the gains: the time of the shorter sides of splits.
fn reasons(nb: &mut Notebook, cases: &Cases, bars: &[Bar]) -> Result<(), Report> {
    let mut rows = Vec::new();
    let mut most = ("", 0.0);
    for b in bars {
        let Some(overlap) = cases.get(&pws_case(b.name, b.size))?.overlap else { continue };
        let saved = overlap.saved_percent();
        if b.name == "bfs" {
            nb.number("bfs: splits", overlap.splits as f64, 0, "");
            nb.number("bfs: instructions of a split path", overlap.instructions_per_split(), 2, "");
            nb.number("bfs: time that overlap can save", saved, 2, " %");
        }
        if saved > most.1 {
            most = (b.name, saved);
        }
        rows.push(vec![
            b.name.to_owned(),
            overlap.splits.to_string(),
            format!("{:.2}", overlap.instructions_per_split()),
            overlap.shorter.to_string(),
            overlap.longer.to_string(),
            overlap.wave_cycles.to_string(),
            format!("{saved:.2}"),
            format!("{:.4}", b.ups[0]),
        ]);
    }
    let gains = best(&bars.iter().collect::<Vec<_>>(), 0).map_or("", |b| b.name);
    nb.text("workload that overlap can save most", format!("{} {:.1} %", most.0, most.1));
    nb.text("workload that overlap can save most gains most", yes(most.0 == gains));
    let head = "workload splits instructions_per_split shorter_cycles longer_cycles wave_cycles saved_percent speedup";
    nb.csv("-overlap.csv", &columns(head), rows)
}
