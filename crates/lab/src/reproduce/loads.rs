//! What SWAS says of its baseline in section VI ("Behaviour of our baseline GPU"): the mean latency of loads with LRR fetch and
//! GTLRR issue, and that blackscholes has a low IPC because divisions are not pipelined.

use super::notebook::{Notebook, columns};
use super::verdict::{Published, Shape, Want};
use crate::kernels;
use miette::Report;
use wb_hw::{FrontEndKind, Policy};
use wb_jobs::JobSpec;
use wb_report::{Axis, Chart, bars};
use wb_schedule::{Choice, measure};
use wb_sim::RunOptions;
use wb_trace::{Event, Kind, Observer, PortKind};

const MEMORY: &str = "the document gives neither the latency of its memory nor how many requests a cache takes; ours are a choice (docs/vortex.md)";
const DIVIDER: &str = "tried: a division that occupies its unit 16 to 512 cycles (table); the document says 16 cycles and not pipelined, and gives neither its kernel nor how many lanes a divider serves";

pub const LOADS: &[Published] = &[
    Published::number("kmeans: mean latency of loads", 18.0, 0.1, Shape::None, MEMORY),
    Published::number("psort: mean latency of loads", 37.0, 0.1, Shape::None, MEMORY),
    Published::number("shortest mean of the other four", 68.0, 0.1, Shape::None, MEMORY),
    Published::number("longest mean of the other four", 98.0, 0.1, Shape::None, MEMORY),
    Published {
        quantity: "the two shortest means",
        says: "kmeans and psort, significantly shorter",
        want: Want::Text("kmeans psort"),
    },
    Published {
        quantity: "blackscholes: thread-IPC over the highest of the others",
        says: "low, by divisions",
        want: Want::MostOr { most: 0.5, why: DIVIDER },
    },
];

const FAST: Choice = Choice {
    frontend: FrontEndKind::Decoupled,
    fetch: Policy::LooseRoundRobin,
    issue: Policy::GreedyThenRoundRobin,
};

/// Cycles from issue to the last lane's data, of loads.
#[derive(Default)]
struct Latencies {
    loads: u64,
    cycles: u64,
}

impl Observer for Latencies {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            if let Kind::Memory { port: PortKind::Data, write: false, done, .. } = event.kind {
                self.loads += 1;
                self.cycles += done.saturating_sub(event.cycle);
            }
        }
    }
}

fn spec(set: Option<String>) -> JobSpec {
    JobSpec { machine: "vortex-swas-late".into(), sets: set.into_iter().collect(), ..JobSpec::default() }
}

/// Mean latency of loads of the six kernels; blackscholes with slower dividers.
pub fn loads(nb: &mut Notebook) -> Result<(), Report> {
    let mut found = Vec::new();
    for kernel in kernels::swas() {
        let job = kernel.job(&spec(None))?;
        let mut latencies = Latencies::default();
        job.run_on(&FAST.apply(&job.machine), RunOptions::default(), Some(&mut latencies))?;
        let mean = latencies.cycles as f64 / latencies.loads.max(1) as f64;
        nb.number(format!("{}: mean latency of loads", kernel.name), mean, 1, "");
        let ipc = measure(&job, &FAST, "")?.thread_ipc;
        found.push((kernel.name, latencies.loads, mean, ipc));
    }
    let short = ["kmeans", "psort"];
    let others = found.iter().filter(|f| !short.contains(&f.0)).map(|f| f.2);
    nb.number("shortest mean of the other four", others.clone().fold(f64::MAX, f64::min), 1, "");
    nb.number("longest mean of the other four", others.fold(f64::MIN, f64::max), 1, "");
    let mut sorted = found.clone();
    sorted.sort_by(|a, b| a.2.total_cmp(&b.2));
    let mut two: Vec<&str> = sorted.iter().take(2).map(|f| f.0).collect();
    two.sort_unstable();
    nb.text("the two shortest means", two.join(" "));
    let is_scholes = |f: &&(&str, u64, f64, f64)| f.0 == "blackscholes";
    let own = found.iter().find(is_scholes).map_or(0.0, |f| f.3);
    let highest = found.iter().filter(|f| !is_scholes(f)).map(|f| f.3).fold(f64::MIN, f64::max);
    nb.number("blackscholes: thread-IPC over the highest of the others", own / highest, 2, "");
    if let Some(kernel) = kernels::swas().into_iter().find(|k| k.name == "blackscholes") {
        let mut shown = Vec::new();
        for interval in [1u32, 16, 64, 128, 512] {
            let job = kernel.job(&spec(Some(format!("units.fdiv.interval={interval}"))))?;
            shown.push(format!("{interval}: {:.2}", measure(&job, &FAST, "")?.thread_ipc));
        }
        nb.text("blackscholes: thread-IPC by the cycles that a division occupies its unit", shown.join("  "));
    }
    let row = |f: &(&str, u64, f64, f64)| {
        vec![f.0.to_owned(), f.1.to_string(), format!("{:.3}", f.2), format!("{:.3}", f.3)]
    };
    nb.csv(".csv", &columns("kernel loads mean_latency thread_ipc"), found.iter().map(row))?;
    let chart = Chart {
        title: "SWAS section VI: mean latency of loads, LRR fetch and GTLRR issue".into(),
        x_label: "kernel".into(),
        y_label: "cycles".into(),
        x: Axis::Categories(found.iter().map(|f| f.0.to_owned()).collect()),
        series: vec![("ours".into(), found.iter().map(|f| f.2).collect())],
    };
    nb.chart("", &chart, bars)?;
    nb.note("machine vortex-swas-late; a load's latency is from issue to the data of its last lane");
    Ok(())
}
