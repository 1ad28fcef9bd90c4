//! SWAS figure 2: three waves under GTLRR issue. Where instructions are always there, the schedule follows the policy; where the
//! third wave's queue is empty at its turn, another one issues, and everything behind it shifts. The figure's drawing is lost: the
//! program (`swas-fig2.vx`) is ours, what it must show is in the text of section III-B.

use super::notebook::{Notebook, columns, yes};
use super::verdict::{Published, Want};
use miette::Report;
use wb_hw::{FrontEndKind, InstructionSet, Policy};
use wb_jobs::{Job, JobSpec};
use wb_report::Timetable;
use wb_schedule::{Choice, measure, timetable};
use wb_sim::RunOptions;

pub const FIGURE_2: &[Published] = &[
    Published {
        quantity: "another schedule where a queue is empty",
        says: "a different schedule",
        want: Want::Text("yes"),
    },
    Published {
        quantity: "longer by",
        says: "a significant impact on the execution time",
        want: Want::AtLeast(5.0),
    },
    Published {
        quantity: "discrepancies, fetch by itself",
        says: "the third warp has no instruction at its turn",
        want: Want::AtLeast(1.0),
    },
    Published { quantity: "errors, coordinated", says: "0", want: Want::AtMost(0.0) },
];

const TEXT: &str = include_str!("../../programs/swas-fig2.vx");

/// The example with instructions always there, fetched by a scheduler of their own, and coordinated.
pub fn figure_2(nb: &mut Notebook) -> Result<(), Report> {
    let spec = JobSpec {
        isa: Some(InstructionSet::Vortex),
        machine: "vortex-swas".into(),
        sets: ["core.lanes=1", "core.waves=3", "dram.latency=20"].map(str::to_owned).into(),
        ..JobSpec::default()
    };
    let job = Job::from_source("swas-fig2.vx", TEXT, &spec)?;
    let kernel = job.kernel_pc("")?;
    let mut found = Vec::new();
    for (frontend, suffix, title) in [
        (FrontEndKind::Perfect, "-always", "instructions always there"),
        (FrontEndKind::Decoupled, "-fetched", "fetch by itself"),
        (FrontEndKind::Coordinated, "-coordinated", "coordinated"),
    ] {
        let choice = Choice { frontend, fetch: Policy::LooseRoundRobin, issue: Policy::GreedyThenRoundRobin };
        let options = RunOptions { watch: Some(kernel), decisions: 0..400, ..RunOptions::default() };
        let outcome = job.run_on(&choice.apply(&job.machine), options, None)?;
        let issued = outcome.decisions.iter().filter(|d| !d.nop).filter_map(|d| d.slot);
        let order: String = issued.map(|slot| slot.to_string()).collect();
        nb.text(format!("waves in order of issue, {title}"), &order);
        nb.number(format!("cycles, {title}"), outcome.cycles as f64, 0, "");
        let table = Timetable { title: format!("SWAS figure 2: {title}"), ..timetable(&outcome.decisions) };
        nb.timetable(suffix, &table)?;
        let measured = measure(&job, &choice, "")?;
        nb.number(format!("discrepancies, {title}"), measured.discrepancies.total as f64, 0, "");
        nb.number(format!("errors, {title}"), measured.errors.total as f64, 0, "");
        found.push((title, order, outcome.cycles));
    }
    nb.text("another schedule where a queue is empty", yes(found[0].1 != found[1].1));
    let longer = 100.0 * (found[1].2 as f64 / found[0].2 as f64 - 1.0);
    nb.number("longer by", longer, 1, " %");
    let row = |f: &(&str, String, u64)| vec![f.0.to_owned(), f.1.clone(), f.2.to_string()];
    nb.csv(".csv", &columns("front_end order cycles"), found.iter().map(row))?;
    nb.note("machine vortex-swas with 3 waves of one lane and memory of 20 cycles, LRR fetch and GTLRR issue; the program is ours");
    Ok(())
}
