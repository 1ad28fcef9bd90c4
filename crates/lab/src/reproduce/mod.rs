//! The published experiments (`wavebound reproduce <name>`): each runs from embedded inputs, writes its data
//! and pictures, and puts the published values beside ours. What must come out is in the `published` table of
//! each experiment; the runs only measure.

mod blocks;
mod bounds;
mod branch;
mod dispatch;
mod finding;
mod masks;
mod notebook;
mod pdom;
mod reuse;
mod swas;
mod table2;
mod width;

pub use finding::{Finding, Published, Row, Value, Want, judge};
pub use notebook::Notebook;

use miette::{IntoDiagnostic, Report, WrapErr, miette};
use std::path::Path;

/// A published experiment.
pub struct Experiment {
    pub name: &'static str,
    pub title: &'static str,
    /// Document and figure.
    pub source: &'static str,
    pub published: &'static [Published<'static>],
    run: fn(&mut Notebook) -> Result<(), Report>,
}

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "pdom-1",
        title: "divergent warp",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test1.s",
        published: pdom::DIVERGENT,
        run: pdom::divergent,
    },
    Experiment {
        name: "pdom-2",
        title: "nested divergent warp",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test2.s and its debug output",
        published: pdom::NESTED,
        run: pdom::nested,
    },
    Experiment {
        name: "pdom-3",
        title: "divergent loop",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test3.s",
        published: pdom::LOOP,
        run: pdom::divergent_loop,
    },
    Experiment {
        name: "guppy-1",
        title: "execution history 4:2, two dispatch units",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 1",
        published: dispatch::TWO,
        run: dispatch::two,
    },
    Experiment {
        name: "guppy-2",
        title: "execution history 4:1, one dispatch unit",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 2",
        published: dispatch::ONE,
        run: dispatch::one,
    },
    Experiment {
        name: "guppy-3",
        title: "execution history 4:4, four dispatch units",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 3",
        published: dispatch::FOUR,
        run: dispatch::four,
    },
    Experiment {
        name: "guppy-5",
        title: "example 1, every other lane",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 5",
        published: branch::ALTERNATING,
        run: branch::alternating,
    },
    Experiment {
        name: "guppy-6",
        title: "example 2, a loop of lane-dependent length",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 6",
        published: branch::STAIRCASE,
        run: branch::staircase,
    },
    Experiment {
        name: "guppy-7",
        title: "example 3, if and else",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 7",
        published: branch::HALVES,
        run: branch::halves,
    },
    Experiment {
        name: "guppy-8",
        title: "divergent threads: execution time by wave width",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 8",
        published: width::RANDOM,
        run: width::random,
    },
    Experiment {
        name: "guppy-9",
        title: "coherent threads: execution time by wave width, sorted",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 9",
        published: width::SORTED,
        run: width::sorted,
    },
    Experiment {
        name: "thesis-t4.1",
        title: "masks of two splits",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), table 4.1",
        published: masks::TABLE,
        run: masks::table,
    },
    Experiment {
        name: "pws-fig2",
        title: "a kernel of ten blocks, serial, split and subdivided",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 2",
        published: blocks::FIGURE_2,
        run: blocks::figure_2,
    },
    Experiment {
        name: "pws-fig5",
        title: "masks of two splits and two merges",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 5",
        published: masks::FIGURE_5,
        run: masks::figure_5,
    },
    Experiment {
        name: "thesis-6.2",
        title: "bounds of the synthetic benchmark under THESIS splitting",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), figure 6.2",
        published: bounds::FIGURE_6_2,
        run: bounds::figure_6_2,
    },
    Experiment {
        name: "pws-t2",
        title: "bounds of the example of figure 8",
        source: "\"Predictable Wavefront Splitting\" (PWS), table 2",
        published: table2::TABLE_2,
        run: table2::table_2,
    },
    Experiment {
        name: "pws-t3",
        title: "bounds of the synthetic benchmark",
        source: "\"Predictable Wavefront Splitting\" (PWS), table 3",
        published: bounds::TABLE_3,
        run: bounds::table_3,
    },
    Experiment {
        name: "pws-10a",
        title: "reduction of the bound by divergence",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10a",
        published: bounds::FIGURE_10A,
        run: bounds::figure_10a,
    },
    Experiment {
        name: "pws-10b",
        title: "reduction of the bound by memory instructions",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10b",
        published: bounds::FIGURE_10B,
        run: bounds::figure_10b,
    },
    Experiment {
        name: "pws-10c",
        title: "reduction of the bound with the same number of SIMDs",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10c",
        published: bounds::FIGURE_10C,
        run: bounds::figure_10c,
    },
    Experiment {
        name: "pws-12",
        title: "reusing split units as SIMDs",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 12",
        published: reuse::FIGURE_12,
        run: reuse::figure_12,
    },
    Experiment {
        name: "swas-t1",
        title: "wave-instructions of the six kernels",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), table I",
        published: swas::TABLE_1,
        run: swas::table_1,
    },
    Experiment {
        name: "swas-4",
        title: "IPC by fetch and issue policy",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 4",
        published: swas::FIGURE_4,
        run: swas::figure_4,
    },
    Experiment {
        name: "swas-5",
        title: "scheduling errors by fetch and issue policy",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 5",
        published: swas::FIGURE_5,
        run: swas::figure_5,
    },
    Experiment {
        name: "swas-6",
        title: "coordinated scheduler against the baseline, GTLRR",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 6",
        published: swas::FIGURE_6,
        run: swas::figure_6,
    },
    Experiment {
        name: "swas-7",
        title: "coordinated scheduler against the baseline, GTLO",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 7",
        published: swas::FIGURE_7,
        run: swas::figure_7,
    },
    Experiment {
        name: "swas-8",
        title: "coordinated scheduler against the baseline, LRR",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 8",
        published: swas::FIGURE_8,
        run: swas::figure_8,
    },
    Experiment {
        name: "swas-t2",
        title: "both machines in their best configuration",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), table II",
        published: swas::TABLE_2,
        run: swas::table_2,
    },
];

/// Every experiment, in the order of the documents.
pub fn experiments() -> &'static [Experiment] {
    EXPERIMENTS
}

/// Runs the experiment `name`; its files go to `out_dir`, which is made where it is missing.
pub fn run(name: &str, out_dir: &Path) -> Result<Finding, Report> {
    let (experiment, notebook) = measure(name, out_dir)?;
    Ok(experiment.finding(experiment.published, notebook))
}

/// Runs an experiment without judging it.
pub fn measure(name: &str, out_dir: &Path) -> Result<(&'static Experiment, Notebook), Report> {
    let experiment = EXPERIMENTS.iter().find(|e| e.name == name).ok_or_else(|| unknown(name))?;
    std::fs::create_dir_all(out_dir)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make the folder {}", out_dir.display()))?;
    let mut notebook = Notebook::new(out_dir, experiment.name);
    (experiment.run)(&mut notebook).wrap_err_with(|| format!("experiment {name}"))?;
    Ok((experiment, notebook))
}

impl Experiment {
    /// The result when `published` is what the source says.
    pub fn finding(&self, published: &[Published], notebook: Notebook) -> Finding {
        Finding {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            rows: judge(published, &notebook.measured),
            notes: notebook.notes,
            files: notebook.files,
        }
    }
}

impl Notebook {
    pub fn measured(&self) -> &[(String, Value)] {
        &self.measured
    }
}

fn unknown(name: &str) -> Report {
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
    let list = names.join(" ");
    let help = match wb_isa::diag::nearest(name, names) {
        Some(near) => format!("did you mean {near}? There are: {list}"),
        None => format!("there are: {list}"),
    };
    miette!(help = help, "there is no experiment `{name}`")
}
