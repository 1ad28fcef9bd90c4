//! PWS figure 2: the example kernel of ten basic blocks in a model where a block takes its time and nothing else does.
//! The table of block times is lost with the figure; ours are integers that fit every sentence about them.

use super::notebook::{Notebook, Recorder, columns};
use super::verdict::{Published, Want};
use miette::Report;
use std::fmt::Write;
use wb_jobs::{Job, JobSpec};
use wb_report::{Axis, Chart, History, bars};
use wb_sim::RunOptions;
use wb_trace::Observers;

/// Instructions of a unit of time: enough to make those that only some paths issue small.
const UNIT: usize = 100;
/// Times of BB1 to BB10.
const TIMES: [usize; 10] = [1, 1, 4, 3, 1, 2, 2, 3, 2, 1];

/// What the paper says the kernel takes without splitting, split, and subdivided.
const PRINTED: [f64; 3] = [20.0, 13.0, 20.0];

pub const FIGURE_2: &[Published] = &[
    Published {
        quantity: "without splitting",
        says: "20",
        want: Want::Near { value: PRINTED[0], within: 0.0 },
    },
    Published {
        quantity: "split on two SpSIMDs",
        says: "13",
        want: Want::Near { value: PRINTED[1], within: 0.0 },
    },
    Published {
        quantity: "DWS on a shared SIMD",
        says: "20",
        want: Want::Near { value: PRINTED[2], within: 0.0 },
    },
    Published {
        quantity: "split points",
        says: "BB1, BB2, BB7; BB7 reuses the first SpSIMD",
        want: Want::Text("BB1:1 BB2:2 BB7:1"),
    },
    Published { quantity: "BB6 below BB3 and BB4", says: "yes", want: Want::Text("yes") },
];

/// The kernel; control instructions count as part of the block they stand in.
fn kernel() -> String {
    let mut text = String::from(".kernel figure2\n");
    let mut block = |number: usize, begin: &[&str], end: &[&str]| {
        let _ = writeln!(text, "BB{number}:");
        let filler = UNIT * TIMES[number - 1] - begin.len() - end.len();
        let work = (0..filler).map(|i| format!("v_xor_b32 v{0}, {number}, v{0}", 8 + i % 4));
        let (begin, end) = (begin.iter().map(|&l| l.to_owned()), end.iter().map(|&l| l.to_owned()));
        for line in begin.chain(work).chain(end) {
            let _ = writeln!(text, "  {line}");
        }
    };
    // A = {17, 29, 52, 80} in v1.
    let array = [
        "v_mov_b32 v1, 17",
        "v_mov_b32 v2, 29",
        "v_cmp_eq_u32 vcc, 1, v0",
        "v_cndmask_b32 v1, v1, v2, vcc",
        "v_mov_b32 v2, 52",
        "v_cmp_eq_u32 vcc, 2, v0",
        "v_cndmask_b32 v1, v1, v2, vcc",
        "v_mov_b32 v2, 0x50",
        "v_cmp_eq_u32 vcc, 3, v0",
        "v_cndmask_b32 v1, v1, v2, vcc",
    ];
    block(1, &array, &branch(["v_cmp_lt_u32 vcc, 25, v1", "s[6:7]", "BB6"]).each_ref().map(String::as_str));
    block(
        2,
        &["v_mov_b32 v2, 0x4b"],
        &branch(["v_cmp_lt_u32 vcc, v2, v1", "s[8:9]", "BB4"]).each_ref().map(String::as_str),
    );
    block(3, &[], &[]);
    block(4, &["s_andn2_saveexec_b64 s[8:9], s[8:9]", "s_cbranch_execz BB5"], &[]);
    block(5, &["s_or_b64 exec, exec, s[8:9]", "merge"], &[]);
    block(6, &["s_andn2_saveexec_b64 s[6:7], s[6:7]", "s_cbranch_execz BB7"], &[]);
    block(
        7,
        &["s_or_b64 exec, exec, s[6:7]", "merge"],
        &branch(["v_cmp_lt_u32 vcc, 50, v1", "s[8:9]", "BB9"]).each_ref().map(String::as_str),
    );
    block(8, &[], &[]);
    block(9, &["s_andn2_saveexec_b64 s[8:9], s[8:9]", "s_cbranch_execz BB10"], &[]);
    block(10, &["s_or_b64 exec, exec, s[8:9]", "merge"], &["s_endpgm"]);
    text
}

fn branch([test, saved, other]: [&str; 3]) -> [String; 5] {
    [
        test.to_owned(),
        format!("s_and_saveexec_b64 {saved}, vcc"),
        format!("s_xor_b64 {saved}, exec, {saved}"),
        "split exec_lo, exec_hi".to_owned(),
        format!("s_cbranch_execz {other}"),
    ]
}

/// One instruction per cycle and path, results at once, splits and merges for nothing.
fn run(nb: &mut Notebook, mechanism: &str) -> Result<Recorder, Report> {
    let sets = [
        "cores=1",
        "core.lanes=4",
        "core.partitions=1",
        "core.waves=1",
        "frontend.kind=perfect",
        "units.valu.latency=1",
        "units.spvalu.latency=1",
        "split.contexts=2",
        "split.split_cycles=0",
        "split.merge_cycles=0",
        "divergence.threshold=1000000",
    ];
    let mut sets: Vec<String> = sets.map(str::to_owned).into();
    sets.push(format!("divergence.mechanism={mechanism}"));
    if mechanism == "dws" {
        sets.push("split.units=shared".into());
    }
    let size = [4, 1, 1];
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        machine: "pws".into(),
        sets,
        grid3: size,
        group3: size,
        ..JobSpec::default()
    };
    let job = Job::from_source("figure2.s", &kernel(), &spec)?;
    let (mut record, mut history) = (Recorder::default(), History::new());
    let mut all = Observers(vec![&mut record, &mut history]);
    job.run(RunOptions { check: true, ..RunOptions::default() }, Some(&mut all))?;
    nb.picture(&format!("-{mechanism}"), &history, &format!("PWS figure 2 under {mechanism}"))?;
    Ok(record)
}

const MECHANISMS: [(&str, &str); 3] =
    [("none", "without splitting"), ("pws", "split on two SpSIMDs"), ("dws", "DWS on a shared SIMD")];

pub fn figure_2(nb: &mut Notebook) -> Result<(), Report> {
    let (mut rows, mut units) = (Vec::new(), Vec::new());
    for (mechanism, what) in MECHANISMS {
        let record = run(nb, mechanism)?;
        nb.number(what, record.cycles as f64 / UNIT as f64, 0, "");
        nb.number(format!("{what}, cycles"), record.cycles as f64, 0, "");
        rows.push(vec![mechanism.to_owned(), record.cycles.to_string()]);
        units.push(record.cycles as f64 / UNIT as f64);
        if mechanism == "pws" {
            nb.text("split points", splits(&record).join(" "));
        }
    }
    let yes = TIMES[5] < TIMES[2] && TIMES[5] < TIMES[3];
    nb.text("BB6 below BB3 and BB4", if yes { "yes" } else { "no" });
    nb.csv(".csv", &columns("mechanism cycles"), rows)?;
    let chart = Chart {
        title: "PWS figure 2: time of the kernel".into(),
        x_label: "mechanism".into(),
        y_label: "units of time".into(),
        x: Axis::Categories(MECHANISMS.map(|m| m.1.to_owned()).into()),
        series: vec![("published".into(), PRINTED.into()), ("ours".into(), units)],
    };
    nb.chart("", &chart, bars)?;
    let times: Vec<String> = TIMES.iter().map(usize::to_string).collect();
    nb.note(format!(
        "the block times are lost with the figure; BB1 to BB10 take {} here: they add up to 20, leave 13 when the shorter \
         sides run beside the longer ones, the first branch ends at time 1, and BB6 is shorter than BB3 or BB4",
        times.join(" ")
    ));
    nb.note(format!(
        "a unit of time is {UNIT} instructions of one cycle each; a path that skips a side still issues the two \
         instructions of its serialisation block, which is why the cycles are not exact multiples"
    ));
    nb.note("figure 2e is a worst case (no other SIMD free); here the paths share the only SIMD, which is that case");
    Ok(())
}

/// Where the wave split, and the context that took the other lanes.
fn splits(record: &Recorder) -> Vec<String> {
    let labels = |pc: u32| {
        let before = record.info.code.iter().filter(|c| c.pc <= pc && !c.label.is_empty());
        before.max_by_key(|c| c.pc).map_or("?", |c| c.label.as_str())
    };
    let mut found = Vec::new();
    let mut place = "?";
    for event in &record.events {
        match event.kind {
            wb_trace::Kind::Split { .. } => place = labels(event.pc),
            wb_trace::Kind::PathStart { .. } => found.push(format!("{place}:{}", event.path)),
            _ => {}
        }
    }
    found
}
