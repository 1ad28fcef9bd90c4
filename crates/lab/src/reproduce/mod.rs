//! The published experiments (`wavebound reproduce <name>`): each runs from embedded inputs, writes its data
//! and pictures, and puts the published values beside ours. What must come out is in the `published` table of
//! each experiment; the runs only measure.

mod blocks;
mod bounds;
mod branch;
mod dispatch;
mod example;
mod finding;
mod loads;
mod masks;
mod notebook;
mod page;
mod parquet;
mod pdom;
mod reuse;
mod runner;
mod shape;
mod suite;
mod swas;
mod table2;
mod verdict;
mod width;

pub use finding::{Finding, FindingJson, Row, judge};
pub use notebook::Notebook;
pub use page::{About, page};
pub use parquet::table as parquet_table;
pub use runner::{News, Plan, Reproduced, reproduce, span};
pub use suite::{Case, Cases, Measured, Placement, Scale};
pub use verdict::{Published, Shape, Value, Verdict, Want};

use miette::{IntoDiagnostic, Report, WrapErr, miette};
use std::path::Path;
use std::sync::OnceLock;

/// A published experiment.
pub struct Experiment {
    pub name: &'static str,
    pub title: &'static str,
    /// Document and figure.
    pub source: &'static str,
    pub published: &'static [Published<'static>],
    work: Work,
}

enum Work {
    /// Its runs are its own.
    Alone(fn(&mut Notebook) -> Result<(), Report>),
    /// Looks at cases of the benchmark suite, which other experiments may look at, too.
    Suite { needs: fn(Scale) -> Vec<Case>, show: fn(&mut Notebook, &Cases, Scale) -> Result<(), Report> },
}

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "pdom-1",
        title: "divergent warp",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test1.s",
        published: pdom::DIVERGENT,
        work: Work::Alone(pdom::divergent),
    },
    Experiment {
        name: "pdom-2",
        title: "nested divergent warp",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test2.s and its debug output",
        published: pdom::NESTED,
        work: Work::Alone(pdom::nested),
    },
    Experiment {
        name: "pdom-3",
        title: "divergent loop",
        source: "\"Baseline Project: PDOM Algorithm for Branch Divergence in GPUs\", test3.s",
        published: pdom::LOOP,
        work: Work::Alone(pdom::divergent_loop),
    },
    Experiment {
        name: "guppy-1",
        title: "execution history 4:2, two dispatch units",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 1",
        published: dispatch::TWO,
        work: Work::Alone(dispatch::two),
    },
    Experiment {
        name: "guppy-2",
        title: "execution history 4:1, one dispatch unit",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 2",
        published: dispatch::ONE,
        work: Work::Alone(dispatch::one),
    },
    Experiment {
        name: "guppy-3",
        title: "execution history 4:4, four dispatch units",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 3",
        published: dispatch::FOUR,
        work: Work::Alone(dispatch::four),
    },
    Experiment {
        name: "guppy-5",
        title: "example 1, every other lane",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 5",
        published: branch::ALTERNATING,
        work: Work::Alone(branch::alternating),
    },
    Experiment {
        name: "guppy-6",
        title: "example 2, a loop of lane-dependent length",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 6",
        published: branch::STAIRCASE,
        work: Work::Alone(branch::staircase),
    },
    Experiment {
        name: "guppy-7",
        title: "example 3, if and else",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 7",
        published: branch::HALVES,
        work: Work::Alone(branch::halves),
    },
    Experiment {
        name: "guppy-8",
        title: "divergent threads: execution time by wave width",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 8",
        published: width::RANDOM,
        work: Work::Alone(width::random),
    },
    Experiment {
        name: "guppy-9",
        title: "coherent threads: execution time by wave width, sorted",
        source: "\"What's up with my branch on GPU?\" (GUPPY), figure 9",
        published: width::SORTED,
        work: Work::Alone(width::sorted),
    },
    Experiment {
        name: "thesis-t4.1",
        title: "masks of two splits",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), table 4.1",
        published: masks::TABLE,
        work: Work::Alone(masks::table),
    },
    Experiment {
        name: "pws-fig2",
        title: "a kernel of ten blocks, serial, split and subdivided",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 2",
        published: blocks::FIGURE_2,
        work: Work::Alone(blocks::figure_2),
    },
    Experiment {
        name: "pws-fig5",
        title: "masks of two splits and two merges",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 5",
        published: masks::FIGURE_5,
        work: Work::Alone(masks::figure_5),
    },
    Experiment {
        name: "thesis-6.1",
        title: "speed-up of the suite by splits that never merge",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), figure 6.1",
        published: suite::FIGURE_6_1,
        work: Work::Suite { needs: suite::figure_6_1_needs, show: suite::figure_6_1 },
    },
    Experiment {
        name: "thesis-6.2",
        title: "bounds of the synthetic benchmark under THESIS splitting",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), figure 6.2",
        published: bounds::FIGURE_6_2,
        work: Work::Alone(bounds::figure_6_2),
    },
    Experiment {
        name: "thesis-6.3",
        title: "bounds of the suite under THESIS splitting",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), figure 6.3",
        published: suite::FIGURE_6_3,
        work: Work::Suite { needs: suite::figure_6_3_needs, show: suite::figure_6_3 },
    },
    Experiment {
        name: "pws-t2",
        title: "bounds of the example of figure 8",
        source: "\"Predictable Wavefront Splitting\" (PWS), table 2",
        published: table2::TABLE_2,
        work: Work::Alone(table2::table_2),
    },
    Experiment {
        name: "pws-t3",
        title: "bounds of the synthetic benchmark",
        source: "\"Predictable Wavefront Splitting\" (PWS), table 3",
        published: bounds::TABLE_3,
        work: Work::Alone(bounds::table_3),
    },
    Experiment {
        name: "pws-10a",
        title: "reduction of the bound by divergence",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10a",
        published: bounds::FIGURE_10A,
        work: Work::Alone(bounds::figure_10a),
    },
    Experiment {
        name: "pws-10b",
        title: "reduction of the bound by memory instructions",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10b",
        published: bounds::FIGURE_10B,
        work: Work::Alone(bounds::figure_10b),
    },
    Experiment {
        name: "pws-10c",
        title: "reduction of the bound with the same number of SIMDs",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10c",
        published: bounds::FIGURE_10C,
        work: Work::Alone(bounds::figure_10c),
    },
    Experiment {
        name: "pws-10e",
        title: "reduction of the bounds of the suite",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 10e",
        published: suite::FIGURE_10E,
        work: Work::Suite { needs: suite::figure_10e_needs, show: suite::figure_10e },
    },
    Experiment {
        name: "pws-11",
        title: "speed-up of the suite with the same number of SIMDs",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 11",
        published: suite::FIGURE_11,
        work: Work::Suite { needs: suite::figure_11_needs, show: suite::figure_11 },
    },
    Experiment {
        name: "pws-12",
        title: "reusing split units as SIMDs",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 12",
        published: reuse::FIGURE_12,
        work: Work::Alone(reuse::figure_12),
    },
    Experiment {
        name: "swas-2",
        title: "an example: the queue of the third wave is empty at its turn",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 2",
        published: example::FIGURE_2,
        work: Work::Alone(example::figure_2),
    },
    Experiment {
        name: "swas-t1",
        title: "wave-instructions of the six kernels",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), table I",
        published: swas::TABLE_1,
        work: Work::Alone(swas::table_1),
    },
    Experiment {
        name: "swas-loads",
        title: "mean latency of loads, and blackscholes' divisions",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), section VI",
        published: loads::LOADS,
        work: Work::Alone(loads::loads),
    },
    Experiment {
        name: "swas-4",
        title: "IPC by fetch and issue policy",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 4",
        published: swas::FIGURE_4,
        work: Work::Alone(swas::figure_4),
    },
    Experiment {
        name: "swas-5",
        title: "scheduling errors by fetch and issue policy",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 5",
        published: swas::FIGURE_5,
        work: Work::Alone(swas::figure_5),
    },
    Experiment {
        name: "swas-6",
        title: "coordinated scheduler against the baseline, GTLRR",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 6",
        published: swas::FIGURE_6,
        work: Work::Alone(swas::figure_6),
    },
    Experiment {
        name: "swas-7",
        title: "coordinated scheduler against the baseline, GTLO",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 7",
        published: swas::FIGURE_7,
        work: Work::Alone(swas::figure_7),
    },
    Experiment {
        name: "swas-8",
        title: "coordinated scheduler against the baseline, LRR",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), figure 8",
        published: swas::FIGURE_8,
        work: Work::Alone(swas::figure_8),
    },
    Experiment {
        name: "swas-t2",
        title: "both machines in their best configuration",
        source: "\"Coordinating the fetch and issue warp schedulers to increase the timing predictability of GPUs\" (SWAS), table II",
        published: swas::TABLE_2,
        work: Work::Alone(swas::table_2),
    },
    Experiment {
        name: "suite",
        title: "all workloads under all mechanisms, with their bounds",
        source: "Beyond the documents: the benchmark suite",
        published: suite::SUITE,
        work: Work::Suite { needs: suite::suite_needs, show: suite::suite },
    },
    Experiment {
        name: "mechanisms",
        title: "every divergence mechanism on the same kernels",
        source: "\"GPU Wavefront Splitting for Safety-Critical Systems\" (THESIS), chapter 3 and Table 3.1, and the papers it compares",
        published: suite::MECHANISMS,
        work: Work::Suite { needs: suite::mechanisms_needs, show: suite::mechanisms },
    },
    Experiment {
        name: "bfs-shape",
        title: "bfs in the shape of Rodinia on lanes with pcs of their own",
        source: "\"Predictable Wavefront Splitting\" (PWS), figure 11",
        published: shape::SHAPE,
        work: Work::Alone(shape::shape),
    },
];

/// Every experiment, in the order of the documents.
pub fn experiments() -> &'static [Experiment] {
    EXPERIMENTS
}

/// Runs the experiment `name`, those of the benchmark suite with the smallest inputs; its files go to `out_dir`, which is made where it is missing.
pub fn run(name: &str, out_dir: &Path) -> Result<Finding, Report> {
    let (experiment, notebook) = measure(name, out_dir)?;
    Ok(experiment.finding(experiment.published, notebook))
}

/// Runs an experiment without judging it. Cases of the suite are measured once in a process.
pub fn measure(name: &str, out_dir: &Path) -> Result<(&'static Experiment, Notebook), Report> {
    static CASES: OnceLock<Cases> = OnceLock::new();
    let experiment = find(name)?;
    make_folder(out_dir)?;
    let notebook = experiment.measure(out_dir, CASES.get_or_init(Cases::default), Scale::Tiny)?;
    Ok((experiment, notebook))
}

fn find(name: &str) -> Result<&'static Experiment, Report> {
    EXPERIMENTS.iter().find(|e| e.name == name).ok_or_else(|| unknown(name))
}

fn make_folder(dir: &Path) -> Result<(), Report> {
    std::fs::create_dir_all(dir)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make the folder {}", dir.display()))
}

impl Experiment {
    fn measure(&self, out_dir: &Path, cases: &Cases, scale: Scale) -> Result<Notebook, Report> {
        let mut notebook = Notebook::new(out_dir, self.name);
        let done = match self.work {
            Work::Alone(run) => run(&mut notebook),
            Work::Suite { show, .. } => show(&mut notebook, cases, scale),
        };
        done.wrap_err_with(|| format!("experiment {}", self.name))?;
        Ok(notebook)
    }

    /// The result when `published` is what the source says.
    pub fn finding(&self, published: &[Published], notebook: Notebook) -> Finding {
        Finding {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            rows: judge(published, &notebook.measured),
            notes: notebook.notes,
            files: notebook.files,
            seconds: 0.0,
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
