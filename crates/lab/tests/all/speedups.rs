//! What splitting gains on the synthetic benchmark: with 100 % divergent arithmetic and S = 1, 3, 7, PWS comes close to
//! S + 1 times the speed of no splitting, DWS on shared units does not gain arithmetic throughput, and memory-bound
//! variants gain little. `-- --nocapture` prints the table of docs/reproduction.md.

use wb_jobs::JobSpec;
use wb_lab::synthetic::{MarkWith, Marks, Synthetic};
use wb_sim::RunOptions;

/// Waves on the one core: one per SIMD, and as many as fit.
const LOW: u32 = 4;
const FULL: u32 = 40;

/// A mechanism with what it needs.
struct Way(&'static str, &'static [&'static str]);

const NONE: Way = Way("none", &[]);
const PWS: Way = Way("pws", &["split.units=extra"]);
const THESIS: Way = Way("thesis", &["split.units=extra", "divergence.choice=opportunistic"]);
const DWS: Way = Way("dws", &["split.units=shared", "divergence.threshold=100000"]);

/// 2^layers paths, all branches marked, on S = 2^layers - 1 contexts.
struct Case {
    machine: &'static str,
    layers: u32,
    waves: u32,
    leaf: u32,
    memory: u32,
}

impl Case {
    fn cycles(&self, way: &Way) -> u64 {
        let bench = Synthetic {
            layers: self.layers,
            memory: self.memory,
            leaf: self.leaf,
            trips: 16,
            items: 64 * self.waves,
            marks: Marks::All,
            mark_with: MarkWith::Split,
            ..Synthetic::default()
        };
        let mut sets = vec![
            "cores=1".to_owned(),
            "limits.memory=16M".to_owned(),
            format!("divergence.mechanism={}", way.0),
            format!("split.contexts={}", (1 << self.layers) - 1),
        ];
        sets.extend(way.1.iter().map(|&s| s.to_owned()));
        let spec = JobSpec { machine: self.machine.into(), sets, ..JobSpec::default() };
        let job = bench.job(&spec).unwrap_or_else(|e| panic!("{e:?}"));
        let outcome = job.run(RunOptions::default(), None).unwrap_or_else(|e| panic!("{e:?}"));
        bench.verify(&job, &outcome).unwrap_or_else(|e| panic!("{e:?}"));
        outcome.cycles
    }

    /// How many times faster than none.
    fn gain(&self, way: &Way) -> f64 {
        self.cycles(&NONE) as f64 / self.cycles(way) as f64
    }

    fn print(&self, way: &Way, gain: f64) {
        println!(
            "{:5} S = {} {:2} waves leaf {:3} memory {:3} %: {} {gain:.2}",
            self.machine,
            (1 << self.layers) - 1,
            self.waves,
            self.leaf,
            self.memory,
            way.0
        );
    }
}

#[test]
fn pws_comes_close_to_one_speed_per_path() {
    // Share of S + 1 that must be left. On `pws` control instructions cost as much as work does (see docs).
    let share = [
        ("gcn3", 128, LOW, 0.85),
        ("gcn3", 128, FULL, 0.93),
        ("pws", 128, FULL, 0.7),
        ("pws", 512, FULL, 0.85),
    ];
    for (machine, leaf, waves, least) in share {
        for layers in 1..=3 {
            let case = Case { machine, layers, waves, leaf, memory: 0 };
            let gain = case.gain(&PWS);
            case.print(&PWS, gain);
            let most = f64::from(1 << layers);
            assert!(gain >= least * most && gain <= most, "{gain} of {most} on {machine}, {waves} waves");
        }
    }
}

#[test]
fn thesis_splitting_in_parallel_does_so_too() {
    for layers in 1..=3 {
        let case = Case { machine: "gcn3", layers, waves: FULL, leaf: 128, memory: 0 };
        let gain = case.gain(&THESIS);
        case.print(&THESIS, gain);
        let most = f64::from(1 << layers);
        assert!(gain >= 0.9 * most && gain <= most, "{gain} of {most}");
    }
}

#[test]
fn subdivision_on_shared_units_does_not_gain_arithmetic_throughput() {
    for machine in ["gcn3", "pws"] {
        for layers in 1..=3 {
            let case = Case { machine, layers, waves: FULL, leaf: 128, memory: 0 };
            let gain = case.gain(&DWS);
            case.print(&DWS, gain);
            assert!((0.9..=1.05).contains(&gain), "{gain} on {machine}");
        }
    }
}

#[test]
fn memory_bound_variants_gain_little() {
    let gains = [0, 25, 50, 100].map(|memory| {
        let case = Case { machine: "gcn3", layers: 2, waves: FULL, leaf: 128, memory };
        let gain = case.gain(&PWS);
        case.print(&PWS, gain);
        gain
    });
    assert!(gains[0] > 2.0 * gains[3], "{gains:?}");
    assert!(gains[3] < 1.5, "{gains:?}");
}
