//! bfs in the shape that Rodinia has (PWS figure 11 prints a gain of about three): the whole body under `if (tid < n && mask[tid])`, a loop
//! over edges, `if (!visited)`. On a lane-pc machine, so that no compiler has changed the branches. How much any mechanism could gain is
//! measured, too: on a machine on which every lane is a wave with an issue port and units of its own.

use super::notebook::{Notebook, columns};
use super::verdict::{Published, Shape};
use miette::Report;
use std::fmt::Write;
use wb_hw::InstructionSet;
use wb_jobs::{Job, JobSpec};
use wb_report::{Axis, Chart, bars};
use wb_sim::RunOptions;
use wb_trace::{Event, Kind, Observer};

const NODES: u32 = 1024;
const ONE_SIDED: &str = "no branch of the kernel has two sides: lanes that skip a body have nothing to do before it ends. pws never splits, and not even a machine with a port for every lane gains so much (every lane alone, below)";

pub const SHAPE: &[Published] = &[Published::number(
    "bfs in Rodinia's shape: best speed-up of pws and thesis",
    3.0,
    0.1,
    Shape::None,
    ONE_SIDED,
)];

const CODE: &str = "
    csrr t0, 0xcd4
    csrr t1, 0xcdc
    mul t0, t0, t1
    csrr t1, 0xcd0
    add t0, t0, t1
    li t1, 1024
    bgeu t0, t1, done
    slli t2, t0, 2
    la a1, mask
    add a1, a1, t2
    lw t3, 0(a1)
    beqz t3, done
    sw zero, 0(a1)
    la a2, start
    add a2, a2, t2
    lw a3, 0(a2)
    lw a4, 4(a2)
    la a5, cost
    add a5, a5, t2
    lw a5, 0(a5)
    addi a5, a5, 1
    la s0, edges
    la s1, visited
    la s2, cost
    la s3, updating
    bgeu a3, a4, done
edge:
    slli t4, a3, 2
    add t4, t4, s0
    lw t5, 0(t4)
    slli t5, t5, 2
    add t6, t5, s1
    lw t6, 0(t6)
    bnez t6, next
    add t6, t5, s2
    sw a5, 0(t6)
    add t6, t5, s3
    li t4, 1
    sw t4, 0(t6)
next:
    addi a3, a3, 1
    bltu a3, a4, edge
done:
    ret
    .data
";

/// A row of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// The kernel with a graph of 0 to 11 edges a node, and `of_16` sixteenths of its nodes in the frontier.
fn source(of_16: u32) -> String {
    let mut numbers = Numbers(7);
    let (mut start, mut edges) = (vec![0], Vec::new());
    for _ in 0..NODES {
        let degree = numbers.below(12);
        edges.extend((0..degree).map(|_| numbers.below(NODES)));
        start.push(edges.len() as u32);
    }
    let mask: Vec<u32> = (0..NODES).map(|_| u32::from(numbers.below(16) < of_16)).collect();
    let visited: Vec<u32> = (0..NODES).map(|_| numbers.below(2)).collect();
    let zero = vec![0; NODES as usize];
    let mut text = CODE.to_owned();
    let all = [
        ("start", start),
        ("edges", edges),
        ("mask", mask),
        ("visited", visited),
        ("cost", zero.clone()),
        ("updating", zero),
    ];
    for (name, words) in all {
        let _ = writeln!(text, "{name}:");
        for word in words {
            let _ = writeln!(text, "    .word {word}");
        }
    }
    text
}

#[derive(Default)]
struct Splits(u64);

impl Observer for Splits {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        self.0 += batch.iter().filter(|e| matches!(e.kind, Kind::PathStart { .. })).count() as u64;
    }
}

/// Cycles and paths that were split off.
fn run(source: &str, sets: &[&str]) -> Result<(u64, u64), Report> {
    let all = ["cores=1", "caches.tcp.ports=0"].iter().chain(sets);
    let spec = JobSpec {
        isa: Some(InstructionSet::Riscv),
        sets: all.map(|s| (*s).to_owned()).collect(),
        grid3: [NODES, 1, 1],
        group3: [64, 1, 1],
        ..JobSpec::default()
    };
    let job = Job::from_source("bfs.rv", source, &spec)?;
    let mut splits = Splits::default();
    let outcome = job.run(RunOptions::default(), Some(&mut splits))?;
    Ok((outcome.cycles, splits.0))
}

/// Names of ways to run it, and fields of the machine.
const WAYS: [(&str, &[&str]); 7] = [
    ("pws", &["divergence.mechanism=pws"]),
    ("thesis", &["divergence.mechanism=thesis"]),
    ("dws-meng", &["divergence.mechanism=dws-meng"]),
    (
        "dws-meng, loads divide",
        &[
            "divergence.mechanism=dws-meng",
            "divergence.memory=aggressive",
            "divergence.ahead=unlimited",
            "divergence.table=0",
        ],
    ),
    ("dwf", &["divergence.mechanism=dwf"]),
    ("tbc", &["divergence.mechanism=tbc"]),
    ("vws", &["divergence.mechanism=vws"]),
];

/// Every lane is a wave with a port and units of its own.
const LANES_ALONE: &[&str] = &[
    "core.lanes=1",
    "core.partitions=32",
    "core.waves=1024",
    "units.alu.scope=partition",
    "units.mul.scope=partition",
    "units.div.scope=partition",
    "units.fpu.scope=partition",
    "units.fdiv.scope=partition",
    "units.lsu.scope=partition",
];

/// Speed-ups by how many nodes are in the frontier.
pub fn shape(nb: &mut Notebook) -> Result<(), Report> {
    let mut best: f64 = 0.0;
    let mut rows = Vec::new();
    let mut shown: Vec<(String, Vec<f64>)> = Vec::new();
    let mut splits_of_pws = 0;
    let frontiers = [1, 8, 16];
    for of_16 in frontiers {
        let text = source(of_16);
        let share = format!("{of_16}/16");
        let base = run(&text, &[])?.0;
        let ways = WAYS.iter().copied().chain([("every lane alone", LANES_ALONE)]);
        for (i, (name, sets)) in ways.enumerate() {
            let (cycles, splits) = run(&text, sets)?;
            let gain = base as f64 / cycles as f64;
            if matches!(name, "pws" | "thesis") {
                best = best.max(gain);
            }
            if name == "pws" {
                splits_of_pws += splits;
            }
            nb.number(format!("{name}, {share} of the nodes in the frontier"), gain, 3, "");
            rows.push(vec![
                share.clone(),
                name.to_owned(),
                cycles.to_string(),
                format!("{gain:.4}"),
                splits.to_string(),
            ]);
            match shown.get_mut(i) {
                Some(series) => series.1.push(gain),
                None => shown.push((name.to_owned(), vec![gain])),
            }
        }
    }
    nb.number("bfs in Rodinia's shape: best speed-up of pws and thesis", best, 2, "");
    nb.number("paths that pws split off", splits_of_pws as f64, 0, "");
    nb.csv(".csv", &columns("frontier way cycles speedup splits"), rows)?;
    let chart = Chart {
        title: "bfs in Rodinia's shape: speed-up over simt-stack".into(),
        x_label: "nodes in the frontier".into(),
        y_label: "speed-up".into(),
        x: Axis::Categories(frontiers.map(|f| format!("{f}/16")).to_vec()),
        series: shown,
    };
    nb.chart("", &chart, bars)?;
    nb.note("machine lanepc with one core of 32 waves, cache ports without limit; a graph of 1024 nodes with 0 to 11 edges each; one launch of the kernel that visits neighbours");
    nb.note("for a gain of three a machine must let the lanes of a wave run through the loop at their own pace, each with a port of its own, or its baseline must have fewer waves than hide its memory. Every lane alone has no coalescing, so that a mechanism can come out ahead of it by a little");
    Ok(())
}
