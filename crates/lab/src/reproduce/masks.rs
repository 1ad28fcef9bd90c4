//! Masks of split waves, from the events of a run: THESIS Table 4.1 and PWS figure 5.

use super::notebook::{Notebook, Recorder, columns};
use super::verdict::{Published, Want};
use miette::{Report, miette};
use wb_jobs::{Job, JobSpec};
use wb_report::History;
use wb_sim::RunOptions;
use wb_trace::{Kind, Mask, Observers};

const LANES: u32 = 4;

const fn exact(quantity: &'static str, value: &'static str) -> Published<'static> {
    Published { quantity, says: value, want: Want::Text(value) }
}

pub const TABLE: &[Published] = &[
    exact("e_b, s_cbranch_execz BB10", "0111"),
    exact("e_b, s_cbranch_execz BB12", "1000"),
    exact("s_1, s_cbranch_execz BB10", "0111"),
    exact("s_1, s_cbranch_execz BB12", "0111"),
    exact("e_s1, s_cbranch_execz BB10", "0111"),
    exact("e_s1, s_cbranch_execz BB12", "0000"),
    exact("s_2, s_cbranch_execz BB10", "1000"),
    exact("s_2, s_cbranch_execz BB12", "1000"),
    exact("e_s2, s_cbranch_execz BB10", "0000"),
    exact("e_s2, s_cbranch_execz BB12", "1000"),
    Published { quantity: "blocks split 1 runs", says: "skips BB11", want: Want::Text("BB8 BB9 BB10 BB12") },
    Published { quantity: "blocks split 2 runs", says: "skips BB9", want: Want::Text("BB10 BB11 BB12") },
];

pub const FIGURE_5: &[Published] = &[
    exact("SWF 1 split masks (1) (2) (3)", "1111 1101 1100"),
    exact("SWF 2 split masks (1) (2) (3)", "- 0010 0010"),
    exact("SWF 3 split masks (1) (2) (3)", "- - 0001"),
    exact("after the first merge", "1101 0010"),
    exact("after the second merge", "1111"),
    Published { quantity: "EM 1001, SpM 1100", says: "only the first work-item", want: Want::Text("1000") },
];

/// Lanes as text; THESIS prints lane 0 to the right, PWS to the left.
fn thesis(mask: Mask) -> String {
    format!("{:04b}", mask & 0xf)
}

fn pws(mask: Mask) -> String {
    thesis(mask).chars().rev().collect()
}

fn record(
    nb: &mut Notebook,
    name: &str,
    text: &str,
    mechanism: &str,
    contexts: u32,
) -> Result<Recorder, Report> {
    let sets = [
        format!("core.lanes={LANES}"),
        format!("divergence.mechanism={mechanism}"),
        "divergence.choice=opportunistic".into(),
        format!("split.contexts={contexts}"),
        "cores=1".into(),
        "frontend.kind=perfect".into(),
    ];
    let size = [LANES, 1, 1];
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        sets: sets.into(),
        grid3: size,
        group3: size,
        ..JobSpec::default()
    };
    let job = Job::from_source(name, text, &spec)?;
    let (mut record, mut history) = (Recorder::default(), History::new());
    let mut all = Observers(vec![&mut record, &mut history]);
    job.run(RunOptions { check: true, ..RunOptions::default() }, Some(&mut all))?;
    nb.picture(&format!("-{mechanism}"), &history, &format!("{name} under {mechanism}"))?;
    Ok(record)
}

impl Recorder {
    fn place(&self, label: &str) -> Result<u32, Report> {
        self.label(label).ok_or_else(|| miette!("the program has no label {label}"))
    }

    /// Active lanes of the instruction at a label, per path that issued it.
    fn at(&self, label: &str) -> Result<Vec<(u16, Mask)>, Report> {
        let pc = self.place(label)?;
        let mut found: Vec<(u16, Mask)> =
            self.issues().filter(|e| e.pc == pc).map(|e| (e.path, e.mask)).collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Active lanes of one path at a label.
    fn of(&self, path: u16, label: &str) -> Result<Option<Mask>, Report> {
        Ok(self.at(label)?.into_iter().find(|f| f.0 == path).map(|f| f.1))
    }
}

pub fn table(nb: &mut Notebook) -> Result<(), Report> {
    const BRANCHES: [(&str, &str); 2] =
        [("FIRST", "s_cbranch_execz BB10"), ("SECOND", "s_cbranch_execz BB12")];
    let text = include_str!("../../programs/thesis-t4.1.s");
    let base = record(nb, "thesis-t4.1.s", text, "none", 0)?;
    let split = record(nb, "thesis-t4.1.s", text, "thesis", 1)?;
    // The split masks are the lanes of the two paths from the split on.
    let parted = split.events.iter().find_map(|e| match e.kind {
        Kind::Split { taken, other } => Some((e.pc, taken, other)),
        _ => None,
    });
    let (at, taken, _) = parted.ok_or_else(|| miette!("the wave did not split"))?;
    let born = split.events.iter().find_map(|e| match e.kind {
        Kind::PathStart { lanes } => Some((e.path, lanes)),
        _ => None,
    });
    let (child, lanes) = born.ok_or_else(|| miette!("no path was born"))?;
    let mut rows = Vec::new();
    let mut note = |nb: &mut Notebook, what: &str, branch: &str, mask: Mask| {
        rows.push(vec![what.to_owned(), branch.to_owned(), thesis(mask)]);
        nb.text(format!("{what}, {branch}"), thesis(mask));
    };
    for (label, branch) in BRANCHES {
        let whole = base.of(0, label)?.unwrap_or_default();
        note(nb, "e_b", branch, whole);
        for (number, path, own) in [(1, 0, taken), (2, child, lanes)] {
            note(nb, &format!("s_{number}"), branch, own);
            // At the branch that splits, what is active before it is the wave's; each half keeps its part.
            let active = match split.of(path, label)? {
                Some(active) if split.place(label)? != at => active,
                _ => whole & own,
            };
            note(nb, &format!("e_s{number}"), branch, active);
        }
    }
    for (number, path) in [(1, 0), (2, child)] {
        let mut blocks = Vec::new();
        for label in ["BB8", "BB9", "BB10", "BB11", "BB12"] {
            if split.of(path, label)?.is_some() {
                blocks.push(label);
            }
        }
        nb.text(format!("blocks split {number} runs"), blocks.join(" "));
    }
    nb.csv(".csv", &columns("mask branch lanes"), rows)?;
    nb.note("masks are printed as in the table, lane 0 rightmost");
    nb.note(
        "the thesis's assembly compares 4 <= v0, which does not match its C (< 3) nor its masks; ours is v0 < 3",
    );
    nb.note(
        "the new path starts behind the branch it was born at, where the thesis starts it at the branch: e_s2 there is \
         e_b and s_2, both taken from events",
    );
    Ok(())
}

pub fn figure_5(nb: &mut Notebook) -> Result<(), Report> {
    let text = include_str!("../../programs/pws-fig5.s");
    let run = record(nb, "pws-fig5.s", text, "pws", 2)?;
    let mut rows = Vec::new();
    for path in 0..3 {
        let mut masks = Vec::new();
        for label in ["ONE", "TWO", "THREE"] {
            let mask = run.of(path, label)?.map_or("-".to_owned(), pws);
            rows.push(vec![(path + 1).to_string(), label.to_owned(), mask.clone()]);
            masks.push(mask);
        }
        nb.text(format!("SWF {} split masks (1) (2) (3)", path + 1), masks.join(" "));
    }
    for (what, label) in [("first", "TWO_AGAIN"), ("second", "ONE_AGAIN")] {
        let masks: Vec<String> = run.at(label)?.into_iter().map(|(_, mask)| pws(mask)).collect();
        rows.push(vec!["all".to_owned(), label.to_owned(), masks.join(" ")]);
        nb.text(format!("after the {what} merge"), masks.join(" "));
    }
    nb.text("EM 1001, SpM 1100", run.of(0, "MASKED")?.map_or("-".to_owned(), pws));
    nb.csv(".csv", &columns("swf place lanes"), rows)?;
    nb.note("masks are printed as in the figure, lane 0 leftmost");
    nb.note(
        "every path executes both split instructions; the second one leaves SWF 2 as it is, because it would keep no \
         lane, and its merge does nothing",
    );
    Ok(())
}
