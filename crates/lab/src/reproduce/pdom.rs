//! The PDOM document's three programs: two warps of four lanes. Values come from device memory, masks from the
//! issued instructions, splits and joins from the events of the run.

use super::notebook::{Notebook, Recorder, bits, changes, columns};
use super::verdict::{Published, Want};
use miette::{IntoDiagnostic, Report};
use wb_jobs::{Job, JobSpec};
use wb_report::History;
use wb_sim::RunOptions;
use wb_trace::{Event, Kind, Mask, MaskCause, Observers, PdomLog};

const LANES: u32 = 4;
const ALL: Mask = 0b1111;

const fn exact(quantity: &'static str, value: &'static str) -> Published<'static> {
    Published { quantity, says: "", want: Want::Text(value) }
}

pub const DIVERGENT: &[Published] = &[
    exact("warp 0 values, pdom rule", "3 3 4 4"),
    exact("warp 1 values, pdom rule", "6 6 7 7"),
    exact("warp 0 masks, pdom rule", "1111 1100 0011 1111"),
    exact("warp 1 masks, pdom rule", "1111 1100 0011 1111"),
    exact("warp 0 values, harptool rule", "3 3 4 4"),
    exact("warp 1 values, harptool rule", "6 6 7 7"),
    exact("warp 0 masks, harptool rule", "1111 1100 0011 1111"),
    exact("warp 1 masks, harptool rule", "1111 1100 0011 1111"),
];

const NESTED_MASKS: &str = "1111 1100 1000 0100 1100 0011 1111";
const NESTED_LOG: &str = "1111 1100 0011, 1100 1000 0100, 0100, 1100, 0011, 1111";

pub const NESTED: &[Published] = &[
    exact("warp 0 values, pdom rule", "3 6 4 4"),
    exact("warp 1 values, pdom rule", "6 9 7 7"),
    exact("warp 0 masks, pdom rule", NESTED_MASKS),
    exact("warp 1 masks, pdom rule", NESTED_MASKS),
    exact("warp 0 outer split", "1111 -> 1100 / 0011"),
    exact("warp 0 inner split", "1100 -> 1000 / 0100"),
    exact("warp 0 new mask when D joins", "0100"),
    Published { quantity: "warp 0 new mask when E joins", says: "parent's mask", want: Want::Text("1100") },
    exact("warp 0 new mask when B joins", "0011"),
    exact("warp 0 new mask when C joins", "1111"),
    exact("warp 0 masks in the debug log", NESTED_LOG),
    exact("warp 0 values, harptool rule", "3 6 4 4"),
    exact("warp 1 values, harptool rule", "6 9 7 7"),
    exact("warp 0 masks, harptool rule", NESTED_MASKS),
    exact("warp 1 masks, harptool rule", NESTED_MASKS),
];

pub const LOOP: &[Published] = &[
    exact("warp 0 values, pdom rule", "2 4 6 8"),
    exact("warp 1 values, pdom rule", "5 10 15 20"),
    exact("warp 0 masks, pdom rule", "1111 0111 0011 0001 1111"),
    exact("warp 1 masks, pdom rule", "1111 0111 0011 0001 1111"),
    exact("warp 0 mask at EXIT loop split", "0001 -> 1111"),
    exact("warp 1 mask at EXIT loop split", "0001 -> 1111"),
    Published { quantity: "lanes 0 to 2 return, harptool rule", says: "our claim", want: Want::Text("no") },
];

/// One run under one join rule.
struct RuleRun {
    rule: &'static str,
    values: [String; 2],
    record: Recorder,
    history: History,
    log: String,
}

fn start(nb: &mut Notebook, name: &str, text: &str, rule: &'static str) -> Result<RuleRun, Report> {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Harp),
        machine: "harp-pdom".into(),
        sets: vec![format!("divergence.mechanism={rule}")],
        ..JobSpec::default()
    };
    let job = Job::from_source(name, text, &spec)?;
    let (mut record, mut history) = (Recorder::default(), History::new());
    let mut log = PdomLog::new(Vec::new());
    let mut all = Observers(vec![&mut record, &mut history, &mut log]);
    let outcome = job.run(RunOptions { check: true, ..RunOptions::default() }, Some(&mut all))?;
    let values = |label: &str| -> Result<String, Report> {
        let buffer = job.find_buffer(&format!("{label}:{LANES}"))?;
        Ok(job.values(&buffer, &outcome)?.join(" "))
    };
    let values = [values("out0")?, values("out1")?];
    let log = String::from_utf8(log.finish().into_diagnostic()?).into_diagnostic()?;
    let run = RuleRun { rule, values, record, history, log };
    for wave in 0..2 {
        nb.text(format!("warp {wave} values, {rule} rule"), &run.values[wave as usize]);
        nb.text(format!("warp {wave} masks, {rule} rule"), run.masks(wave).join(" "));
    }
    Ok(run)
}

impl RuleRun {
    fn events(&self, wave: u32) -> impl Iterator<Item = &Event> {
        self.record.events.iter().filter(move |e| e.wave == wave)
    }

    /// Masks of the issued instructions, from the moment all four lanes run.
    fn masks(&self, wave: u32) -> Vec<String> {
        let issued = self.record.issues().filter(|e| e.wave == wave).map(|e| e.mask);
        changes(issued.skip_while(|&m| m != ALL)).into_iter().map(|m| bits(m, LANES)).collect()
    }

    fn splits(&self, wave: u32) -> Vec<String> {
        let show = |e: &Event| match e.kind {
            Kind::Split { taken, other } => {
                Some(format!("{} -> {} / {}", bits(e.mask, LANES), bits(taken, LANES), bits(other, LANES)))
            }
            _ => None,
        };
        self.events(wave).filter_map(show).collect()
    }

    /// Mask before and after each event of one of the causes.
    fn turns(&self, wave: u32, causes: &[MaskCause]) -> Vec<(String, String)> {
        let show = |e: &Event| match e.kind {
            Kind::Mask { new, cause, .. } if causes.contains(&cause) => {
                Some((bits(e.mask, LANES), bits(new, LANES)))
            }
            _ => None,
        };
        self.events(wave).filter_map(show).collect()
    }
}

/// Log, CSV of the mask changes of every run, picture of the first.
fn write(nb: &mut Notebook, title: &str, runs: &[&RuleRun]) -> Result<(), Report> {
    let mut rows = Vec::new();
    for run in runs {
        for event in &run.record.events {
            let Kind::Mask { new, cause, .. } = event.kind else { continue };
            let cause = serde_json::to_value(cause).into_diagnostic()?;
            rows.push(vec![
                run.rule.to_owned(),
                event.wave.to_string(),
                event.cycle.to_string(),
                run.record.code(event.pc).to_owned(),
                cause.as_str().unwrap_or_default().to_owned(),
                bits(event.mask, LANES),
                bits(new, LANES),
            ]);
        }
        let suffix = if run.rule == "pdom" { ".log".to_owned() } else { format!("-{}.log", run.rule) };
        nb.write(&suffix, &run.log)?;
    }
    nb.csv(".csv", &columns("rule warp cycle instruction cause mask_before mask_after"), rows)?;
    for run in runs {
        let suffix = if run.rule == "pdom" { String::new() } else { format!("-{}", run.rule) };
        nb.picture(&suffix, &run.history, &format!("{title}, {} rule", run.rule))?;
    }
    nb.note(
        "masks are printed as in the document, lane 0 leftmost, from the jalis that makes four lanes active",
    );
    nb.note("the programs are our own sources; the document shows snippets only");
    Ok(())
}

pub fn divergent(nb: &mut Notebook) -> Result<(), Report> {
    let text = include_str!("../../programs/pdom-1.harp");
    let pdom = start(nb, "pdom-1.harp", text, "pdom")?;
    let harptool = start(nb, "pdom-1.harp", text, "harptool")?;
    write(nb, "PDOM test 1: divergent warp", &[&pdom, &harptool])
}

pub fn nested(nb: &mut Notebook) -> Result<(), Report> {
    let text = include_str!("../../programs/pdom-2.harp");
    let pdom = start(nb, "pdom-2.harp", text, "pdom")?;
    let harptool = start(nb, "pdom-2.harp", text, "harptool")?;
    for (name, split) in ["outer", "inner"].iter().zip(pdom.splits(0)) {
        nb.text(format!("warp 0 {name} split"), split);
    }
    let joins = pdom.turns(0, &[MaskCause::Switch, MaskCause::Reconverge]);
    for (side, (_, new)) in ["D", "E", "B", "C"].iter().zip(joins) {
        nb.text(format!("warp 0 new mask when {side} joins"), new);
    }
    nb.text("warp 0 masks in the debug log", log_masks(&pdom.log, 0));
    nb.note(
        "the document prints three joins (0100, 0011, 1111) and says of the fourth, E's, that the parent's mask is \
         copied: 1100",
    );
    nb.note(
        "the values are those of our program (D adds 1, E adds 4, C adds 2, as the printed words decode)",
    );
    nb.note(
        "one sibling counter per split level; the document keeps one per warp, which nesting would confuse",
    );
    write(nb, "PDOM test 2: nested divergent warp", &[&pdom, &harptool])
}

/// The masks one warp has in the debug log; a comma between entries.
fn log_masks(log: &str, wave: u32) -> String {
    let head = format!("wave {wave} ");
    let mut entries: Vec<Vec<&str>> = Vec::new();
    let mut ours = false;
    for line in log.lines() {
        if line.starts_with("wave ") {
            ours = line.starts_with(&head);
            if ours {
                entries.push(Vec::new());
            }
        } else if let (true, Some((_, mask)), Some(entry)) = (ours, line.split_once(": "), entries.last_mut())
        {
            entry.push(mask);
        }
    }
    entries.iter().map(|masks| masks.join(" ")).collect::<Vec<_>>().join(", ")
}

pub fn divergent_loop(nb: &mut Notebook) -> Result<(), Report> {
    let text = include_str!("../../programs/pdom-3.harp");
    let pdom = start(nb, "pdom-3.harp", text, "pdom")?;
    let harptool = start(nb, "pdom-3.harp", text, "harptool")?;
    for wave in 0..2 {
        let exits = pdom.turns(wave, &[MaskCause::LoopExit]);
        let exits: Vec<String> = exits.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
        nb.text(format!("warp {wave} mask at EXIT loop split"), exits.join(", "));
    }
    let last = |wave| harptool.masks(wave).last().cloned().unwrap_or_default();
    let back = (0..2).any(|wave| last(wave) != "0001");
    nb.text("lanes 0 to 2 return, harptool rule", if back { "yes" } else { "no" });
    let same = pdom.values == harptool.values;
    nb.text("same values under both rules", if same { "yes" } else { "no" });
    nb.note(
        "harptool's rule differs on this source: it changes masks back only at a join, and the loop has none. Each \
         split sets the lanes that leave aside; the last one is unanimous and pushes {uniform, 0001}, so lane 3 alone \
         stores its product and halts the warp. The document's rule ends the loop at the all-false split instead",
    );
    nb.note("a split that guards a loop is told from an if by the control-flow graph; the document does not say how");
    write(nb, "PDOM test 3: divergent loop", &[&pdom, &harptool])
}
