//! GUPPY figures 5 to 7: the document's three examples of mask handling, one wave of 32 lanes.

use super::notebook::{Notebook, Recorder, bits, changes, columns};
use super::verdict::{Published, Want};
use miette::Report;
use wb_jobs::{Job, JobSpec};
use wb_report::History;
use wb_sim::RunOptions;
use wb_trace::{Mask, Observers};

const LANES: u32 = 32;

const CLOCKS: &str = "clocks";
const LANE_USE: &str = "lane use without ret";
const MASKS: &str = "masks";

const fn exact(quantity: &'static str, value: &'static str) -> Published<'static> {
    Published { quantity, says: "", want: Want::Text(value) }
}

pub const ALTERNATING: &[Published] =
    &[exact(CLOCKS, "11"), exact(LANE_USE, "70.0 %"), exact(MASKS, "ffffffff aaaaaaaa ffffffff")];

pub const STAIRCASE: &[Published] = &[
    exact(CLOCKS, "70"),
    exact(LANE_USE, "31.9 %"),
    exact("active lanes, each time the mask changes", "32 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 32"),
    exact("lanes that leave per round of the loop", "1"),
    exact("who stays", "the lowest lanes"),
];

pub const HALVES: &[Published] =
    &[exact(CLOCKS, "16"), exact(LANE_USE, "60.0 %"), exact(MASKS, "ffffffff 0000ffff ffff0000 ffffffff")];

pub fn alternating(nb: &mut Notebook) -> Result<(), Report> {
    let masks =
        measure(nb, "GUPPY figure 5: example 1", include_str!("../../programs/guppy-branch-1.guppy"))?;
    nb.text(MASKS, hex(&masks));
    Ok(())
}

pub fn staircase(nb: &mut Notebook) -> Result<(), Report> {
    let masks =
        measure(nb, "GUPPY figure 6: example 2", include_str!("../../programs/guppy-branch-2.guppy"))?;
    let active: Vec<u32> = masks.iter().map(|m| m.count_ones()).collect();
    let words: Vec<String> = active.iter().map(u32::to_string).collect();
    nb.text("active lanes, each time the mask changes", words.join(" "));
    // The stairs: everything between the full masks at both ends.
    let stairs = &masks[1..masks.len().saturating_sub(1).max(1)];
    let steps = changes(stairs.windows(2).map(|w| w[0].count_ones().abs_diff(w[1].count_ones())));
    let steps: Vec<String> = steps.iter().map(u32::to_string).collect();
    nb.text("lanes that leave per round of the loop", steps.join(" "));
    let low = stairs.iter().all(|m| m & (m + 1) == 0);
    nb.text("who stays", if low { "the lowest lanes" } else { "not the lowest lanes" });
    nb.note("the first test already sends lanes 16 to 31 away, so the staircase starts at 16 lanes");
    Ok(())
}

pub fn halves(nb: &mut Notebook) -> Result<(), Report> {
    let masks =
        measure(nb, "GUPPY figure 7: example 3", include_str!("../../programs/guppy-branch-3.guppy"))?;
    nb.text(MASKS, hex(&masks));
    Ok(())
}

/// Runs an example, writes its history, and returns the masks in the order they held.
fn measure(nb: &mut Notebook, title: &str, text: &str) -> Result<Vec<Mask>, Report> {
    let sets = vec!["core.waves=1".into()];
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Guppy),
        machine: "guppy".into(),
        sets,
        grid: LANES,
        ..JobSpec::default()
    };
    let job = Job::from_source(title, text, &spec)?;
    let (mut record, mut history) = (Recorder::default(), History::new());
    let mut both = Observers(vec![&mut record, &mut history]);
    let outcome = job.run(RunOptions { check: true, ..RunOptions::default() }, Some(&mut both))?;

    nb.text(CLOCKS, outcome.cycles.to_string());
    let issued: Vec<Mask> = record.issues().map(|e| e.mask).collect();
    let share = |masks: &[Mask]| {
        let active: u32 = masks.iter().map(|m| m.count_ones()).sum();
        f64::from(active) / (masks.len() as f64 * f64::from(LANES)) * 100.0
    };
    nb.number(LANE_USE, share(&issued[..issued.len().saturating_sub(1)]), 1, " %");
    nb.number("lane use with ret", share(&issued), 1, " %");
    nb.note(
        "the document shows pictures, no numbers; clocks and lane use are those of an independent model of its \
         rules (one wave of 32, one ALU, one dispatch unit), whose lane use leaves out the clock of the final ret",
    );
    let rows = record.issues().map(|e| {
        let mask = bits(e.mask, LANES);
        vec![
            e.cycle.to_string(),
            e.pc.to_string(),
            record.code(e.pc).to_owned(),
            mask,
            e.mask.count_ones().to_string(),
        ]
    });
    nb.csv(".csv", &columns("clock pc instruction mask_lane0_first active_lanes"), rows)?;
    nb.picture("", &history, title)?;
    Ok(changes(issued))
}

fn hex(masks: &[Mask]) -> String {
    masks.iter().map(|m| format!("{m:08x}")).collect::<Vec<_>>().join(" ")
}
