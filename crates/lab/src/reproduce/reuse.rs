//! PWS figure 12: split units that a kernel does not use serve as ordinary SIMDs. S = 3 on four SIMDs, the synthetic
//! benchmark with 100 % divergent and no memory instructions, 0 to 3 branches marked.

use super::notebook::{Notebook, columns};
use super::verdict::{Published, Want};
use crate::synthetic::{Marks, Synthetic};
use miette::Report;
use wb_jobs::JobSpec;
use wb_report::{Axis, Chart, lines};
use wb_sim::RunOptions;

const MARKS: [u32; 4] = [0, 1, 2, 3];
/// Waves of the launch on the one core: a wave per SIMD, a little more, and several times what fits.
const WAVES: [u32; 4] = [4, 6, 16, 160];

pub const FIGURE_12: &[Published] = &[
    Published { quantity: "SIMDs with 0 1 2 3 marks", says: "", want: Want::Text("16 8 5 4") },
    Published { quantity: "SpSIMDs of each", says: "", want: Want::Text("0 1 2 3") },
    Published {
        quantity: "gain never grows with marks",
        says: "fewer marks, better improvement",
        want: Want::Text("yes"),
    },
    Published { quantity: "gain with 3 marks, any load", says: "none", want: Want::Text("0 0 0 0") },
    Published { quantity: "gain without marks, 4 waves", says: "", want: Want::AtMost(1.0) },
    Published {
        quantity: "gain without marks, 16 waves",
        says: "up to 31 %",
        want: Want::Near { value: 31.0, within: 0.2 },
    },
];

struct Point {
    cycles: u64,
    partitions: u32,
    contexts: u32,
}

fn run(marks: u32, waves: u32, units: &str) -> Result<Point, Report> {
    let bench = Synthetic {
        layers: 2,
        leaf: 128,
        trips: 4,
        items: 64 * waves,
        marks: Marks::First(marks),
        ..Synthetic::default()
    };
    let sets = ["cores=1", "divergence.mechanism=pws", "split.contexts=3", &format!("split.units={units}")]
        .map(str::to_owned)
        .into();
    let job = bench.job(&JobSpec { machine: "pws".into(), sets, ..JobSpec::default() })?;
    let outcome = job.run(RunOptions::default(), None)?;
    bench.verify(&job, &outcome)?;
    let machine = &job.machine;
    Ok(Point {
        cycles: outcome.cycles,
        partitions: machine.core.partitions,
        contexts: machine.split.contexts,
    })
}

pub fn figure_12(nb: &mut Notebook) -> Result<(), Report> {
    let mut rows = Vec::new();
    // The paper names the most that is saved, which is without marks.
    let mut series = vec![("published, up to".to_owned(), vec![31.0, f64::NAN, f64::NAN, f64::NAN])];
    let mut falling = true;
    let mut last = Vec::new();
    let (mut partitions, mut contexts) = (Vec::new(), Vec::new());
    for waves in WAVES {
        let mut gains = Vec::new();
        for marks in MARKS {
            let idle = run(marks, waves, "extra")?;
            let used = run(marks, waves, "reprovisioned")?;
            let gain = 100.0 * (1.0 - used.cycles as f64 / idle.cycles as f64);
            nb.number(format!("cycles, {marks} marks, {waves} waves, idle"), idle.cycles as f64, 0, "");
            nb.number(format!("cycles, {marks} marks, {waves} waves, reused"), used.cycles as f64, 0, "");
            rows.push(vec![
                waves.to_string(),
                marks.to_string(),
                used.partitions.to_string(),
                idle.cycles.to_string(),
                used.cycles.to_string(),
                format!("{gain:.1}"),
            ]);
            if waves == WAVES[0] {
                partitions.push(used.partitions.to_string());
                contexts.push(used.contexts.to_string());
            }
            gains.push(gain);
        }
        falling &= gains.windows(2).all(|g| g[0] >= g[1]);
        nb.number(format!("gain without marks, {waves} waves"), gains[0], 1, " %");
        last.push(format!("{:.0}", gains[MARKS.len() - 1]));
        series.push((format!("{waves} waves"), gains));
    }
    nb.text("SIMDs with 0 1 2 3 marks", partitions.join(" "));
    nb.text("SpSIMDs of each", contexts.join(" "));
    nb.text("gain never grows with marks", if falling { "yes" } else { "no" });
    nb.text("gain with 3 marks, any load", last.join(" "));
    nb.csv(".csv", &columns("waves marks simds cycles_idle cycles_reused gain_percent"), rows)?;
    let chart = Chart {
        title: "PWS figure 12: time saved by reusing SpSIMDs".into(),
        x_label: "marked branches".into(),
        y_label: "time saved, %".into(),
        x: Axis::Numbers(MARKS.map(f64::from).into()),
        series,
    };
    nb.chart("", &chart, lines)?;
    nb.note("machine pws with one core; gain = time saved over leaving the unused SpSIMDs idle");
    nb.note(
        "the paper does not say how many work-items it runs, and the gain is a matter of load: none while every wave has a \
         SIMD to itself, its 31 % at about four waves per SIMD, and with many waves up to 1 - 4/16, which its formula allows",
    );
    nb.note(
        "the marks are the outer branch, then the inner one of its first side, then that of its second side",
    );
    Ok(())
}
