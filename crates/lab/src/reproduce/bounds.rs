//! Bounds of the synthetic benchmark: THESIS figure 6.2, PWS table 3 and figures 10a to 10c. The published formulas are
//! fed with the times of our runs; beside them stands our own bound, which is sound.

use super::notebook::{Notebook, columns, yes};
use super::verdict::{Published, Shape, Want};
use crate::synthetic::{MarkWith, Marks, Synthetic};
use miette::{Report, miette};
use wb_bound::{KernelBound, Options, Runs, analyse};
use wb_jobs::JobSpec;
use wb_report::{Axis, Chart, bars, lines};

const CONTEXTS: [u32; 3] = [1, 3, 7];

/// A machine of one core with the mechanism and S contexts.
fn bound(bench: &Synthetic, mechanism: &str, contexts: u32, more: &[&str]) -> Result<KernelBound, Report> {
    let mut sets = vec!["cores=1".to_owned(), format!("divergence.mechanism={mechanism}")];
    sets.push(format!("split.contexts={contexts}"));
    sets.extend(more.iter().map(|s| (*s).to_owned()));
    let job = bench.job(&JobSpec { machine: "gcn3".into(), sets, ..JobSpec::default() })?;
    // Proven limits are for lanes; under DWS a path may go round more often, and the runs say how often.
    let options = Options { facts_from_trace: true, ..Options::default() };
    let found = analyse(&Runs::Jobs(vec![job]), &options, &mut |_, _| ())?;
    found.into_iter().next().ok_or_else(|| miette!("the benchmark launches nothing"))
}

fn paper(found: &KernelBound, rule: &str) -> Result<u64, Report> {
    let row = found.paper.iter().find(|r| r.rule == rule).ok_or_else(|| miette!("no rule {rule}"))?;
    if row.note.is_empty() { Ok(row.kernel) } else { Err(miette!("{rule}: {}", row.note)) }
}

/// The outer layers of the tree: 1, 3 or 7 splits, that is as many as there are contexts.
fn marks(contexts: u32) -> Marks {
    if contexts == 0 { Marks::None } else { Marks::Layers((contexts + 1).ilog2()) }
}

const SUBLINEAR: &str = "not found out; perhaps because splits of inner layers have half the code of those around them, so that each adds less";

pub const FIGURE_6_2: &[Published] = &[
    Published {
        quantity: "computed ≥ observed at every S", says: "an upper bound", want: Want::Text("yes")
    },
    Published { quantity: "parallel bound falls with S", says: "improves", want: Want::Text("yes") },
    Published {
        quantity: "serialised bound rises with S",
        says: "roughly linearly with the number of splits",
        want: Want::Text("yes"),
    },
    Published::number(
        "serialised bound added by a split, S = 15 to 31 over S = 0 to 1",
        1.0,
        0.3,
        Shape::None,
        SUBLINEAR,
    ),
    Published { quantity: "our bound ≥ observed at every S", says: "", want: Want::Text("yes") },
];

/// Six layers of branches on the lane number, every slot of the core taken, THESIS splitting.
pub fn figure_6_2(nb: &mut Notebook) -> Result<(), Report> {
    const S: [u32; 6] = [0, 1, 3, 7, 15, 31];
    let mut rows = Vec::new();
    let mut series: Vec<(String, Vec<f64>)> =
        ["observed", "observed, shared units", "eq. 5.4", "eq. 5.5", "sound"]
            .map(|n| (n.to_owned(), Vec::new()))
            .into();
    let (mut above, mut falls, mut rises, mut sound) = (true, true, true, true);
    let mut last: Option<(u64, u64)> = None;
    let mut serialised = Vec::new();
    for s in S {
        let bench = Synthetic {
            layers: 6,
            leaf: 48,
            trips: 1,
            items: 64 * 40,
            marks: marks(s),
            mark_with: MarkWith::Mode,
            ..Synthetic::default()
        };
        let mechanism = if s == 0 { "none" } else { "thesis" };
        let parallel = bound(&bench, mechanism, s, &["split.units=extra"])?;
        let shared = bound(&bench, mechanism, s, &["split.units=shared"])?;
        let (eq4, eq5) = (paper(&parallel, "THESIS, parallel")?, paper(&shared, "THESIS, serialised")?);
        above &= eq4 >= parallel.observed && eq5 >= shared.observed;
        sound &= parallel.bound >= parallel.observed && shared.bound >= shared.observed;
        if let Some((before4, before5)) = last {
            falls &= eq4 <= before4;
            rises &= eq5 >= before5;
        }
        last = Some((eq4, eq5));
        serialised.push(eq5 as f64);
        let numbers = [parallel.observed, shared.observed, eq4, eq5, parallel.bound];
        for ((_, values), n) in series.iter_mut().zip(numbers) {
            values.push(n as f64);
        }
        nb.number(format!("observed, S = {s}"), parallel.observed as f64, 0, "");
        nb.number(format!("eq. 5.4, S = {s}"), eq4 as f64, 0, "");
        nb.number(format!("eq. 5.5, S = {s}"), eq5 as f64, 0, "");
        nb.number(format!("sound, S = {s}"), parallel.bound as f64, 0, "");
        rows.push(std::iter::once(u64::from(s)).chain(numbers).map(|n| n.to_string()).collect::<Vec<_>>());
    }
    nb.text("computed ≥ observed at every S", yes(above));
    nb.text("parallel bound falls with S", yes(falls));
    nb.text("serialised bound rises with S", yes(rises));
    nb.text("our bound ≥ observed at every S", yes(sound));
    let each = |i: usize| (serialised[i + 1] - serialised[i]) / f64::from(S[i + 1] - S[i]);
    let slope = each(S.len() - 2) / each(0);
    nb.number("serialised bound added by a split, S = 15 to 31 over S = 0 to 1", slope, 2, "");
    nb.csv(".csv", &columns("s observed observed_shared eq_5_4 eq_5_5 sound"), rows)?;
    let chart = Chart {
        title: "THESIS figure 6.2: synthetic benchmark, observed and computed".into(),
        x_label: "S".into(),
        y_label: "cycles".into(),
        x: Axis::Categories(S.map(|s| s.to_string()).into()),
        series,
    };
    nb.chart("", &chart, lines)?;
    nb.note("machine gcn3 with one core and every wave slot taken; all branches of the outer layers are marked, as many as there are contexts");
    for s in [1, 3, 7] {
        let bench = Synthetic {
            layers: 6,
            leaf: 48,
            trips: 1,
            items: 64 * 40,
            marks: marks(s),
            mark_with: MarkWith::Mode,
            ..Synthetic::default()
        };
        let own = observed(&bench, "thesis", s, &["split.units=extra", "split.registers=own"])?;
        nb.number(format!("observed, reserve slots with registers of their own, S = {s}"), own as f64, 0, "");
    }
    nb.note("equations 5.4 and 5.5 take the times of the runs with units of their own and with shared ones; segments are basic blocks");
    Ok(())
}

const SERIAL: &str = "not found out; the paper does not say how many waves share a SIMD";
const TIMES: &str = "not found out; the formula adds the longest time of every block, waits for other waves included, and the paper's waits are not known";
const UNITS: &str = "more than S + 1 units can give (PWS), or than one unit that is never idle can (DWS): not found out how the paper gets there";

pub const TABLE_3: &[Published] = &[
    Published {
        quantity: "analytical ≥ observed everywhere",
        says: "an upper bound",
        want: Want::Text("yes"),
    },
    Published {
        quantity: "PWS analytical falls with S",
        says: "300 220 180 thousand",
        want: Want::Text("yes"),
    },
    Published {
        quantity: "DWS analytical rises with S",
        says: "600 870 1440 thousand",
        want: Want::Text("yes"),
    },
    Published::number("PWS below DWS, S = 1", 50.0, 0.05, Shape::AtLeast(50.0), SERIAL),
    Published::number("PWS below DWS, S = 3", 75.0, 0.05, Shape::AtLeast(75.0), SERIAL),
    Published::number("PWS below DWS, S = 7", 88.0, 0.05, Shape::AtLeast(87.0), SERIAL),
    Published::number("analytical / observed, S = 0", 1.36, 0.1, Shape::None, TIMES),
    Published::number("PWS analytical / observed, S = 1", 2.0, 0.1, Shape::None, TIMES),
    Published::number("PWS analytical / observed, S = 3", 7.3, 0.1, Shape::None, TIMES),
    Published::number("PWS analytical / observed, S = 7", 12.0, 0.1, Shape::None, TIMES),
    Published::number("PWS speed-up, S = 1", 3.33, 0.1, Shape::None, UNITS),
    Published::number("PWS speed-up, S = 3", 16.7, 0.1, Shape::None, UNITS),
    Published::number("PWS speed-up, S = 7", 33.3, 0.1, Shape::None, UNITS),
    Published::number("DWS speed-up, S = 1", 3.57, 0.1, Shape::None, UNITS),
    Published::number("DWS speed-up, S = 3", 10.0, 0.1, Shape::None, UNITS),
    Published::number("DWS speed-up, S = 7", 11.1, 0.1, Shape::None, UNITS),
];

/// 100 % divergent, no memory instructions.
fn divergent(contexts: u32) -> Synthetic {
    Synthetic {
        layers: 3,
        leaf: 64,
        trips: 4,
        items: 64 * 40,
        marks: marks(contexts),
        ..Synthetic::default()
    }
}

pub fn table_3(nb: &mut Notebook) -> Result<(), Report> {
    let none = bound(&divergent(0), "none", 0, &[])?;
    let none_computed = paper(&none, "no splitting")?;
    let mut fine = none_computed >= none.observed && none.bound >= none.observed;
    nb.number("analytical / observed, S = 0", none_computed as f64 / none.observed.max(1) as f64, 2, "");
    nb.number("sound bound / observed, S = 0", none.ratio, 3, "");
    nb.number("no splitting, observed", none.observed as f64, 0, "");
    nb.number("no splitting, analytical", none_computed as f64, 0, "");
    let (mut falls, mut rises) = (true, true);
    let mut last: Option<(u64, u64)> = None;
    let mut rows = Vec::new();
    for s in CONTEXTS {
        let pws = bound(&divergent(s), "pws", s, &[])?;
        let dws = bound(&divergent(0), "dws", s, &[])?;
        let (ours, theirs) = (paper(&pws, "PWS")?, paper(&dws, "DWS")?);
        fine &= ours >= pws.observed
            && theirs >= dws.observed
            && pws.bound >= pws.observed
            && dws.bound >= dws.observed;
        if let Some((before_pws, before_dws)) = last {
            falls &= ours <= before_pws;
            rises &= theirs >= before_dws;
        }
        last = Some((ours, theirs));
        let below = 100.0 * (1.0 - ours as f64 / theirs as f64);
        nb.number(format!("PWS below DWS, S = {s}"), below, 0, " %");
        let over = |a: u64, b: u64| a as f64 / b.max(1) as f64;
        nb.number(format!("PWS analytical / observed, S = {s}"), over(ours, pws.observed), 2, "");
        nb.number(format!("PWS speed-up, S = {s}"), over(none.observed, pws.observed), 2, "");
        nb.number(format!("DWS speed-up, S = {s}"), over(none.observed, dws.observed), 2, "");
        nb.number(format!("sound bound / observed, S = {s}"), pws.ratio, 3, "");
        let segments = pws.wave_bound_by_blocks as f64 / pws.wave_observed.max(1) as f64;
        nb.number(format!("with a segment for every block, S = {s}"), segments, 2, "");
        for (name, n) in
            [("PWS, observed", pws.observed), ("PWS, analytical", ours), ("PWS, sound", pws.bound)]
        {
            nb.number(format!("{name}, S = {s}"), n as f64, 0, "");
        }
        for (name, n) in
            [("DWS, observed", dws.observed), ("DWS, analytical", theirs), ("DWS, sound", dws.bound)]
        {
            nb.number(format!("{name}, S = {s}"), n as f64, 0, "");
        }
        let numbers = [
            u64::from(s),
            none.observed,
            none_computed,
            dws.observed,
            theirs,
            dws.bound,
            pws.observed,
            ours,
            pws.bound,
        ];
        rows.push(
            numbers.map(|n| n.to_string()).into_iter().chain([format!("{below:.1}")]).collect::<Vec<_>>(),
        );
    }
    nb.text("analytical ≥ observed everywhere", yes(fine));
    nb.text("PWS analytical falls with S", yes(falls));
    nb.text("DWS analytical rises with S", yes(rises));
    let head = "s none_observed none_analytical dws_observed dws_analytical dws_sound pws_observed pws_analytical pws_sound reduction_percent";
    let column =
        |c: usize| rows.iter().map(|r: &Vec<String>| r[c].parse().unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let chart = Chart {
        title: "PWS table 3: synthetic benchmark, observed and computed".into(),
        x_label: "S".into(),
        y_label: "cycles".into(),
        x: Axis::Categories(CONTEXTS.map(|s| s.to_string()).into()),
        series: vec![
            ("no splitting, observed".into(), column(1)),
            ("no splitting, analytical".into(), column(2)),
            ("PWS, observed".into(), column(6)),
            ("PWS, analytical".into(), column(7)),
            ("PWS, sound".into(), column(8)),
        ],
    };
    nb.chart("", &chart, bars)?;
    table_3_charts(nb, &column, none.ratio)?;
    table_3_idle(nb)?;
    nb.csv(".csv", &columns(head), rows)?;
    nb.note("machine gcn3, one core, 40 waves of 64 lanes, three layers of branches; analytical = the paper's formulas with our times");
    nb.note("the paper's DWS column uses pruned block sums although its text says unpruned, and its observed speed-ups (3.3, 16.7, 33) are more than S + 1 units can give");
    nb.note("sound bound: every wave takes the same way here, so that it is measured as a whole; what a segment for every block would add is printed beside it: maxima of different waves, of which the oldest are served first");
    Ok(())
}

/// Cycles of a run, results checked.
fn observed(bench: &Synthetic, mechanism: &str, contexts: u32, more: &[&str]) -> Result<u64, Report> {
    let mut sets = vec!["cores=1".to_owned(), format!("divergence.mechanism={mechanism}")];
    sets.push(format!("split.contexts={contexts}"));
    sets.extend(more.iter().map(|s| (*s).to_owned()));
    let job = bench.job(&JobSpec { machine: "gcn3".into(), sets, ..JobSpec::default() })?;
    let outcome = job.run(wb_sim::RunOptions::default(), None)?;
    bench.verify(&job, &outcome)?;
    Ok(outcome.cycles)
}

/// What the paper leaves open may explain its DWS column: how many waves share a SIMD, and whether leaves wait for memory. One wave per
/// SIMD and 50 % memory instructions leave a SIMD idle most of the time, which paths of the same wave can use.
fn table_3_idle(nb: &mut Notebook) -> Result<(), Report> {
    for s in CONTEXTS {
        let bench = Synthetic {
            layers: (s + 1).ilog2(),
            memory: 50,
            leaf: 64,
            trips: 4,
            items: 64 * 4,
            ..Synthetic::default()
        };
        let none = observed(&bench, "none", 0, &[])? as f64;
        let long = "divergence.threshold=100000";
        for (name, mechanism, more) in [
            ("DWS", "dws", &[long][..]),
            ("DWS as published, branches only", "dws-meng", &[long]),
            ("DWS as published, revive", "dws-meng", &[long, "divergence.memory=revive"]),
        ] {
            let gain = none / observed(&bench, mechanism, s, more)? as f64;
            nb.number(format!("{name} speed-up, one wave per SIMD, 50 % memory, S = {s}"), gain, 2, "");
        }
    }
    Ok(())
}

/// Table 3 as printed, in thousands of cycles: observed and analytical without splitting, then by S for DWS and PWS.
const PRINTED_NONE: (f64, f64) = (500.0, 680.0);
const PRINTED_DWS: [(f64, f64); 3] = [(140.0, 600.0), (50.0, 870.0), (45.0, 1440.0)];
const PRINTED_PWS: [(f64, f64); 3] = [(150.0, 300.0), (30.0, 220.0), (15.0, 180.0)];

/// The paper's cycles are not ours, so relations are compared: to the bound without splitting, to what was observed, and
/// PWS to DWS. `column` gives a column of our table, `none_sound` our bound over observed without splitting.
fn table_3_charts(
    nb: &mut Notebook,
    column: &dyn Fn(usize) -> Vec<f64>,
    none_sound: f64,
) -> Result<(), Report> {
    let over =
        |a: usize, b: usize| -> Vec<f64> { column(a).iter().zip(column(b)).map(|(a, b)| a / b).collect() };
    let names = |rules: &[&str]| -> Vec<String> {
        let of = |rule: &&str| CONTEXTS.map(|s| format!("{rule}, {s}"));
        rules.iter().flat_map(of).collect()
    };
    let mut draw =
        |suffix: &str, title: &str, y_label: &str, x: Vec<String>, series: Vec<(&str, Vec<f64>)>| {
            let chart = Chart {
                title: format!("PWS table 3: {title}"),
                x_label: "splitting, S".into(),
                y_label: y_label.into(),
                x: Axis::Categories(x),
                series: series.into_iter().map(|(n, v)| (n.to_owned(), v)).collect(),
            };
            nb.chart(suffix, &chart, bars)
        };
    let printed = |of: fn((f64, f64)) -> f64| [PRINTED_PWS.map(of), PRINTED_DWS.map(of)].concat();
    draw(
        "-analytical",
        "analytical, over that without splitting",
        "ratio",
        names(&["PWS", "DWS"]),
        vec![("published", printed(|p| p.1 / PRINTED_NONE.1)), ("ours", [over(7, 2), over(4, 2)].concat())],
    )?;
    let ratio: fn((f64, f64)) -> f64 = |p| p.1 / p.0;
    let mut slack_names = vec!["none".to_owned()];
    slack_names.extend(names(&["PWS", "DWS"]));
    let first = |list: Vec<f64>| list.into_iter().take(1).collect::<Vec<f64>>();
    let sound = [vec![none_sound], over(8, 6), over(5, 3)].concat();
    draw(
        "-slack",
        "bound over observed",
        "ratio",
        slack_names,
        vec![
            ("published", [vec![ratio(PRINTED_NONE)], printed(ratio)].concat()),
            ("ours, analytical", [first(over(2, 1)), over(7, 6), over(4, 3)].concat()),
            ("ours, sound", sound),
        ],
    )?;
    let below = |pws: f64, dws: f64| 100.0 * (1.0 - pws / dws);
    let printed = PRINTED_PWS.iter().zip(PRINTED_DWS).map(|(p, d)| below(p.1, d.1)).collect();
    draw(
        "-reduction",
        "PWS analytical below that of DWS",
        "reduction, %",
        CONTEXTS.map(|s| s.to_string()).into(),
        vec![("published", printed), ("ours", column(9))],
    )
}

/// How much splitting lowers our bound, in percent.
fn reduction(split: &KernelBound, none: &KernelBound) -> f64 {
    100.0 * (1.0 - split.bound as f64 / none.bound as f64)
}

pub const FIGURE_10A: &[Published] = &[
    Published {
        quantity: "reduction grows with divergence",
        says: "as expected",
        want: Want::Text("yes yes yes"),
    },
    Published { quantity: "reduction at 100 %, S = 7", says: "", want: Want::AtLeast(50.0) },
];

const PACED: &str =
    "not found out; from 75 % to 100 % it rises again, where both sides of a branch only wait for memory";

pub const FIGURE_10B: &[Published] = &[
    Published {
        quantity: "reduction less at 100 % memory than at 0 %",
        says: "less with more memory",
        want: Want::Text("yes yes yes"),
    },
    Published {
        quantity: "reduction falls with every quarter of memory",
        says: "less with more memory",
        want: Want::Other { printed: "yes yes yes", ours: "no no no", why: PACED },
    },
];

/// A sweep in quarters: the reduction for each S.
fn sweep(
    nb: &mut Notebook,
    what: &str,
    title: &str,
    bench: fn(u32, u32) -> Synthetic,
) -> Result<Vec<Vec<f64>>, Report> {
    const PERCENT: [u32; 5] = [0, 25, 50, 75, 100];
    let mut all = vec![Vec::new(); CONTEXTS.len()];
    let mut rows = Vec::new();
    for p in PERCENT {
        let none = bound(&bench(p, 0), "none", 0, &[])?;
        for (i, s) in CONTEXTS.into_iter().enumerate() {
            let pws = bound(&bench(p, s), "pws", s, &[])?;
            let less = reduction(&pws, &none);
            nb.number(format!("reduction at {p} %, S = {s}"), less, 1, " %");
            rows.push(vec![
                p.to_string(),
                s.to_string(),
                none.bound.to_string(),
                none.observed.to_string(),
                pws.bound.to_string(),
                pws.observed.to_string(),
                format!("{less:.2}"),
            ]);
            all[i].push(less);
        }
    }
    nb.csv(
        ".csv",
        &columns("percent s none_bound none_observed pws_bound pws_observed reduction_percent"),
        rows,
    )?;
    let chart = Chart {
        title: title.into(),
        x_label: what.into(),
        y_label: "reduction of the bound, %".into(),
        x: Axis::Numbers(PERCENT.map(f64::from).into()),
        series: CONTEXTS.iter().zip(&all).map(|(s, v)| (format!("S = {s}"), v.clone())).collect(),
    };
    nb.chart("", &chart, lines)?;
    nb.note(
        "machine gcn3, one core, 40 waves; the outer 1, 2 or 3 layers of branches are marked; sound bounds",
    );
    Ok(all)
}

pub fn figure_10a(nb: &mut Notebook) -> Result<(), Report> {
    let all =
        sweep(nb, "divergent instructions, %", "PWS figure 10a: reduction by divergence", |percent, s| {
            Synthetic { divergent: percent, ..divergent(s) }
        })?;
    nb.note("at 0 % and S = 7 the innermost branches have empty sides: both paths pass the same blocks, and the region cannot be measured as a whole");
    let grows = |v: &Vec<f64>| v.windows(2).all(|w| w[1] >= w[0] - 0.05);
    nb.text(
        "reduction grows with divergence",
        all.iter().map(|v| yes(grows(v))).collect::<Vec<_>>().join(" "),
    );
    Ok(())
}

pub fn figure_10b(nb: &mut Notebook) -> Result<(), Report> {
    let all = sweep(
        nb,
        "memory instructions, %",
        "PWS figure 10b: reduction by memory instructions",
        |percent, s| Synthetic { memory: percent, leaf: 32, trips: 2, ..divergent(s) },
    )?;
    let less = |v: &Vec<f64>| v.last() < v.first();
    nb.text(
        "reduction less at 100 % memory than at 0 %",
        all.iter().map(|v| yes(less(v))).collect::<Vec<_>>().join(" "),
    );
    let falls = |v: &Vec<f64>| v.windows(2).all(|w| w[1] <= w[0] + 0.05);
    nb.text(
        "reduction falls with every quarter of memory",
        all.iter().map(|v| yes(falls(v))).collect::<Vec<_>>().join(" "),
    );
    Ok(())
}

pub const FIGURE_10C: &[Published] = &[
    Published {
        quantity: "a reduction with 8, 16, 32 SIMDs in all, S = 1",
        says: "still a reduction",
        want: Want::Text("yes yes yes"),
    },
    Published {
        quantity: "a reduction with 8, 16, 32 SIMDs in all, S = 3",
        says: "still a reduction",
        want: Want::Text("yes yes yes"),
    },
    Published {
        quantity: "a reduction with 4, 16, 40, 160 waves, S = 1",
        says: "still a reduction",
        want: Want::Other { printed: "yes yes yes yes", ours: "yes yes no no", why: BUSY },
    },
    Published {
        quantity: "a reduction with 4, 16, 40, 160 waves, S = 3",
        says: "still a reduction",
        want: Want::Other { printed: "yes yes yes yes", ours: "yes yes no no", why: BUSY },
    },
];

const BUSY: &str = "with many more waves than SIMDs both machines are full of work, and splitting costs more than it saves; the paper does not say how many waves it had";

/// The number of SIMDs stays the same: S of every S + 1 become split units.
pub fn figure_10c(nb: &mut Notebook) -> Result<(), Report> {
    const TOTAL: [u32; 3] = [8, 16, 32];
    let mut rows = Vec::new();
    let mut series = Vec::new();
    for s in [1, 3] {
        let mut values = Vec::new();
        for total in TOTAL {
            let partitions = total / (s + 1);
            // One wave for every SIMD that is not a split unit: the machine with splitting is just full.
            let launch = |contexts| Synthetic { items: 64 * partitions, ..divergent(contexts) };
            let size = |n: u32| [format!("core.partitions={n}"), format!("core.waves={}", 10 * n)];
            let (all, some) = (size(total), size(partitions));
            let none = bound(&launch(0), "none", 0, &[&all[0], &all[1]])?;
            let pws = bound(&launch(s), "pws", s, &[&some[0], &some[1]])?;
            let less = reduction(&pws, &none);
            nb.number(
                format!("reduction, {total} SIMDs as {partitions} + {}, S = {s}", total - partitions),
                less,
                1,
                " %",
            );
            rows.push(vec![
                total.to_string(),
                s.to_string(),
                none.bound.to_string(),
                pws.bound.to_string(),
                format!("{less:.2}"),
            ]);
            values.push(less);
        }
        let all: Vec<&str> = values.iter().map(|v| yes(*v > 0.0)).collect();
        nb.text(format!("a reduction with 8, 16, 32 SIMDs in all, S = {s}"), all.join(" "));
        series.push((format!("S = {s}"), values));
    }
    // Eight SIMDs, or some of them and split units for the rest, with more and more waves.
    for (s, simds) in [(1, 4), (3, 2)] {
        let some = [format!("core.partitions={simds}"), format!("core.waves={}", 10 * simds)];
        let mut falls = Vec::new();
        for waves in [4, 16, 40, 160] {
            let launch = |contexts| Synthetic { items: 64 * waves, ..divergent(contexts) };
            let none = bound(&launch(0), "none", 0, &["core.partitions=8", "core.waves=80"])?;
            let pws = bound(&launch(s), "pws", s, &[&some[0], &some[1]])?;
            let less = reduction(&pws, &none);
            nb.number(format!("reduction, 8 SIMDs, S = {s}, {waves} waves"), less, 1, " %");
            falls.push(yes(less > 0.0));
        }
        nb.text(format!("a reduction with 4, 16, 40, 160 waves, S = {s}"), falls.join(" "));
    }
    nb.csv(".csv", &columns("simds s none_bound pws_bound reduction_percent"), rows)?;
    let chart = Chart {
        title: "PWS figure 10c: reduction with the same number of SIMDs".into(),
        x_label: "SIMDs in all".into(),
        y_label: "reduction of the bound, %".into(),
        x: Axis::Categories(TOTAL.map(|t| t.to_string()).into()),
        series,
    };
    nb.chart("", &chart, lines)?;
    nb.note("one wave for each SIMD that is not a split unit, and with 8 SIMDs 4 to 160 waves; with many more waves than SIMDs both machines are full of work");
    Ok(())
}
