//! Beyond the documents: every workload under every mechanism, with its bound, and how tight the bounds are.

use super::super::notebook::{Notebook, columns};
use super::super::verdict::{Published, Want};
use super::{Bound, Case, Cases, ExactPart, Measured, Placement, Scale, geometric_mean, mean, names, yes};
use miette::{Report, miette};
use wb_report::{Axis, Chart, bars};
use wb_workloads::Size;

const KINDS: [&str; 5] = ["none", "dws", "thesis", "pws default", "pws optimal"];

/// The best tightness we know of in print: Sim-D, a real-time GPU without divergence of waves.
const SIM_D: &str = "Sim-D 1.127";

pub const SUITE: &[Published] = &[
    Published { quantity: "bound ≥ observed everywhere", says: "", want: Want::Text("yes") },
    Published {
        quantity: "bounds that rest on loop limits from runs or leave ways out, without dws",
        says: "",
        want: Want::AtMost(12.0),
    },
    Published { quantity: "average bound / observed, small, none", says: SIM_D, want: Want::AtMost(2.0) },
    Published {
        quantity: "average bound / observed, small, pws optimal",
        says: SIM_D,
        want: Want::AtMost(2.2),
    },
    Published { quantity: "exact workloads, small, none", says: "", want: Want::AtLeast(8.0) },
    Published { quantity: "median bound / observed, small, none", says: SIM_D, want: Want::AtMost(1.3) },
];

fn sizes(scale: Scale) -> &'static [Size] {
    match scale {
        Scale::Tiny => &[Size::Tiny],
        Scale::Quick => &[Size::Small],
        Scale::Full => &[Size::Small, Size::Medium],
    }
}

fn cases(workload: &'static str, size: Size) -> [Case; 5] {
    let none = Case { bound: true, ..Case::new(workload, size, "gcn3") };
    let with = |mechanism, marks| Case { mechanism, contexts: 1, marks, ..none.clone() };
    [
        none.clone(),
        with("dws", Placement::None),
        with("thesis", Placement::Default),
        with("pws", Placement::Default),
        with("pws", Placement::Optimal),
    ]
}

pub fn suite_needs(scale: Scale) -> Vec<Case> {
    sizes(scale).iter().flat_map(|&s| names().flat_map(move |w| cases(w, s))).collect()
}

/// A workload with what came of each mechanism.
struct Line {
    name: &'static str,
    found: Vec<(Measured, Bound)>,
}

pub fn suite(nb: &mut Notebook, store: &Cases, scale: Scale) -> Result<(), Report> {
    let mut rows = Vec::new();
    let (mut holds, mut weak, mut dws_weak) = (true, Vec::new(), 0);
    for &size in sizes(scale) {
        let mut lines = Vec::new();
        for name in names() {
            let mut found = Vec::new();
            for case in cases(name, size) {
                let measured = store.get(&case)?;
                let bound = measured.bound.clone().ok_or_else(|| miette!("no bound was computed"))?;
                found.push((measured, bound));
            }
            lines.push(Line { name, found });
        }
        for line in &lines {
            for (kind, (m, b)) in KINDS.iter().zip(&line.found) {
                holds &= b.holds && b.cycles >= m.cycles;
                match (b.status.as_str(), *kind) {
                    ("observed", "dws") => dws_weak += 1,
                    ("observed", _) => weak.push(format!("{} {kind} {size}", line.name)),
                    _ => {}
                }
                rows.push(vec![
                    line.name.to_owned(),
                    size.to_string(),
                    (*kind).to_owned(),
                    m.cycles.to_string(),
                    format!("{:.4}", m.lane_use),
                    b.cycles.to_string(),
                    format!("{:.4}", m.ratio()),
                    b.status.clone(),
                    b.exact.as_ref().map_or(String::new(), |e| e.cycles.to_string()),
                    b.exact.as_ref().map_or(String::new(), |e| e.kernels.join(" ")),
                    m.places.join(" "),
                ]);
            }
        }
        summary(nb, size, &lines)?;
    }
    nb.text("bound ≥ observed everywhere", yes(holds));
    nb.number(
        "bounds that rest on loop limits from runs or leave ways out, without dws",
        weak.len() as f64,
        0,
        "",
    );
    nb.text("these are", weak.join(", "));
    nb.number("bounds under dws with loop limits from runs", f64::from(dws_weak), 0, "");
    let head = "workload size mechanism cycles lane_use bound bound_over_observed status bound_with_exact exact_kernels places";
    nb.csv(".csv", &columns(head), rows)?;
    nb.note("machine gcn3, S = 1; THESIS and PWS with split units of their own, DWS with shared ones. Bounds are of all launches of a workload, in sound mode; lane use is that of issued instructions");
    nb.note("under DWS paths of different rounds merge, and limits of loops for lanes do not hold for paths; the rounds that were seen are taken, and the bound is called observed");
    nb.note("Sim-D's 1.127 is the average of its own kernels on a machine that is built for it: memory is accessed in phases that cannot disturb each other. Ours has caches and shared memory, and times are measured in the company of other waves");
    Ok(())
}

/// Means and the largest ratios of one size, and its charts.
fn summary(nb: &mut Notebook, size: Size, lines: &[Line]) -> Result<(), Report> {
    for line in lines {
        let of = |get: &dyn Fn(&(Measured, Bound)) -> String| {
            line.found.iter().map(get).collect::<Vec<_>>().join(" ")
        };
        let name = line.name;
        nb.text(format!("{name}, {size}: cycles"), of(&|f| f.0.cycles.to_string()));
        nb.text(format!("{name}, {size}: lane use, %"), of(&|f| format!("{:.1}", 100.0 * f.0.lane_use)));
        nb.text(format!("{name}, {size}: bound"), of(&|f| f.1.cycles.to_string()));
        nb.text(format!("{name}, {size}: bound / observed"), of(&|f| format!("{:.3}", f.0.ratio())));
    }
    for (i, kind) in KINDS.iter().enumerate() {
        let mut ratios: Vec<f64> = lines.iter().map(|l| l.found[i].0.ratio()).collect();
        nb.number(format!("average bound / observed, {size}, {kind}"), mean(&ratios), 3, "");
        nb.number(format!("geometric mean, {size}, {kind}"), geometric_mean(&ratios), 3, "");
        ratios.sort_by(f64::total_cmp);
        let median = (ratios[(ratios.len() - 1) / 2] + ratios[ratios.len() / 2]) / 2.0;
        nb.number(format!("median bound / observed, {size}, {kind}"), median, 3, "");
    }
    let better = lines.iter().filter_map(|l| {
        let (m, b) = &l.found[0];
        Some((l.name, b.better? as f64 / m.cycles.max(1) as f64))
    });
    let better: Vec<(&str, f64)> = better.collect();
    let ratios: Vec<f64> = better.iter().map(|b| b.1).collect();
    nb.number(
        format!("average (segments, or own time and waits) / observed, {size}, none"),
        mean(&ratios),
        3,
        "",
    );
    let each: Vec<String> = better.iter().map(|(name, r)| format!("{name} {r:.2}")).collect();
    nb.text(format!("segments, or own time and waits / observed, {size}, none"), each.join(", "));
    let exact: Vec<(&str, f64, &ExactPart)> = lines
        .iter()
        .filter_map(|l| {
            let (m, b) = &l.found[0];
            let e = b.exact.as_ref()?;
            Some((l.name, e.cycles as f64 / m.cycles.max(1) as f64, e))
        })
        .collect();
    let whole: Vec<&str> = exact.iter().filter(|e| e.2.whole).map(|e| e.0).collect();
    nb.number(format!("exact workloads, {size}, none"), whole.len() as f64, 0, "");
    nb.text(format!("these are exact, {size}"), whole.join(" "));
    let ratios: Vec<f64> = exact.iter().map(|e| e.1).collect();
    nb.number(format!("average (exact or hybrid) bound / observed, {size}, none"), mean(&ratios), 3, "");
    let without: Vec<(&str, f64)> = lines
        .iter()
        .filter_map(|l| {
            let (m, b) = &l.found[0];
            Some((l.name, b.exact.as_ref()?.proved? as f64 / m.cycles.max(1) as f64))
        })
        .collect();
    let ratios: Vec<f64> = without.iter().map(|w| w.1).collect();
    nb.number(format!("workloads bounded without measurement, {size}, none"), without.len() as f64, 0, "");
    nb.number(format!("average (exact or proved) bound / observed, {size}, none"), mean(&ratios), 3, "");
    nb.number(format!("geometric mean (exact or proved), {size}, none"), geometric_mean(&ratios), 3, "");
    let longest = |l: &&Line| {
        let (m, b) = &l.found[0];
        let e = b.exact.as_ref()?;
        let longest = m.cycles.max(e.worst).max(1) as f64;
        Some((l.name, longest / m.cycles.max(1) as f64, e.proved? as f64 / longest))
    };
    let worst: Vec<(&str, f64, f64)> = lines.iter().filter_map(|l| longest(&l)).collect();
    let against: Vec<f64> = worst.iter().map(|w| w.2).collect();
    let quantity = format!("average (exact or proved) bound / longest found, {size}, none");
    nb.number(quantity, mean(&against), 3, "");
    let each = worst.iter().filter(|w| w.1 > 1.0).map(|w| format!("{} {:.2} → {:.2}", w.0, w.1, w.2));
    let each: Vec<String> = each.collect();
    nb.text(format!("longest found / observed → bound / longest found, {size}"), each.join(", "));
    let near = ratios.iter().filter(|r| **r <= 1.3).count();
    nb.number(format!("of them within 1.3, {size}, none"), near as f64, 0, "");
    let each: Vec<String> = without.iter().map(|(name, r)| format!("{name} {r:.2}")).collect();
    nb.text(format!("exact or proved / observed, {size}, none"), each.join(", "));
    let costs = exact.iter().filter(|e| !e.2.whole).map(|e| format!("{} {}", e.0, e.2.costs));
    nb.text(format!("what costs most of proved bounds, {size}"), costs.collect::<Vec<_>>().join("; "));
    let refused: Vec<String> = exact.iter().flat_map(|e| e.2.refused.clone()).collect();
    if !refused.is_empty() {
        nb.text(format!("without a proof, {size}"), refused.join("; "));
    }
    let open: Vec<String> =
        exact.iter().filter(|e| !e.2.whole).map(|e| format!("{} {}", e.0, e.2.lines)).collect();
    nb.text(format!("source lines at which contents decide time, {size}"), open.join(", "));
    nb.text(format!("largest contributors, {size}, none"), contributors(lines));
    let names: Vec<String> = lines.iter().map(|l| l.name.to_owned()).collect();
    let chart = |title: &str, y_label: &str, value: &dyn Fn(&Line, usize) -> f64| Chart {
        title: format!("{title}, {size} size"),
        x_label: "workload".into(),
        y_label: y_label.into(),
        x: Axis::Categories(names.clone()),
        series: KINDS
            .iter()
            .enumerate()
            .map(|(i, k)| ((*k).to_owned(), lines.iter().map(|l| value(l, i)).collect()))
            .collect(),
    };
    let time = chart("Time by mechanism", "cycles over those without splitting", &|l, i| {
        l.found[i].0.cycles as f64 / l.found[0].0.cycles.max(1) as f64
    });
    nb.chart(&format!("-time-{size}"), &time, bars)?;
    let tight = chart("Tightness of the bounds", "bound / observed", &|l, i| l.found[i].0.ratio());
    nb.chart(&format!("-ratio-{size}"), &tight, bars)
}

/// The kernels whose bounds add most to the average, without splitting.
fn contributors(lines: &[Line]) -> String {
    let mut all = Vec::new();
    let total: f64 = lines.iter().map(|l| l.found[0].0.ratio() - 1.0).sum();
    for line in lines {
        let (measured, bound) = &line.found[0];
        for k in &bound.kernels {
            let gap = (k.bound - k.observed.min(k.bound)) as f64 / measured.cycles.max(1) as f64;
            let waves = k.wave_bound as f64 / k.wave_observed.max(1) as f64;
            all.push((
                gap,
                format!("{} {} {:.0} % (waves {waves:.2})", line.name, k.name, 100.0 * gap / total),
            ));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(6).map(|a| a.1).collect::<Vec<_>>().join(", ")
}
