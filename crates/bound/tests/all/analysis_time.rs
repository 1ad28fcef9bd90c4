//! How long the analysis takes without the measurement: every fixture kernel with its branches marked for splitting and
//! S = 7, from the code object to the report, with times of blocks given.

use crate::{case, cases};

use case::{Case, In, Launch, Step};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wb_bound::{Options, Runs, TimesTable, analyse_table, times_template};
use wb_device::{Arg, Device, Dispatch};
use wb_facts as facts;
use wb_hw::MarkStyle;
use wb_jobs::{AnyProgram, Job};
use wb_objects::marks::{self, Request, Wanted};

/// What the analysis of a kernel of the size of Rodinia's may take, as users run it. Tests are hardly optimised, check for
/// overflows and share their machine: they may take ten times as long. `cargo test --release` holds the analysis to the limit
/// itself.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1000 } else { 100 });

fn job(case: &Case, name: &str, object: &[u8], l: &Launch) -> Job {
    let sets = ["divergence.mechanism=pws", "split.contexts=7"].map(|s| wb_hw::parse_set(s).expect("set"));
    let machine = wb_hw::load("gcn3").expect("machine").with_overrides(&sets).expect("machine");
    let mut device = Device::new(machine);
    let module = device.load(name, object).expect("code object");
    let mut place = |bytes: &[u8]| device.alloc(bytes.len() as u64).expect("memory");
    let buffers: Vec<u64> = case.buffers.iter().map(|d| place(&d.bytes())).collect();
    let arg = |a: &In| match a {
        In::Buffer(i) => Arg::Buffer(buffers[*i]),
        In::Value(bytes) => Arg::Value(bytes.clone()),
        In::Local(bytes) => Arg::Local(*bytes),
    };
    let args = l.args.iter().map(arg).collect();
    let dispatch = Dispatch {
        kernel: l.kernel.into(),
        grid: l.grid,
        group: l.group,
        args,
        dynamic_lds: 0,
        opencl: Default::default(),
    };
    Job::from_device(&mut device, &module, &dispatch, Vec::new()).expect("a launch")
}

/// Blocks of the kernel and how long its analysis takes, the shortest of three times.
fn measure(job: Job) -> Option<(usize, Duration)> {
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    facts::analysable(program).ok()?;
    let blocks = program.cfg.reachable(program.cfg.block_at(program.entry)).len();
    let limits = facts::template(program, &[]).replace("\"?\"", "10");
    let runs = Runs::Jobs(vec![job]);
    let (kernel, holes) = times_template(&runs, false).expect("a template").remove(0);
    let table = TimesTable { name: "times.toml".into(), text: holes.replace("\"?\"", "10") };
    let options = Options { facts: vec![("facts.toml".into(), limits)], what_if: true, ..Options::default() };
    let once = || {
        let start = Instant::now();
        let bounds = analyse_table(&runs, &options, std::slice::from_ref(&table)).expect("a bound");
        assert!(bounds[0].bound > 0 && bounds[0].kernel == kernel);
        start.elapsed()
    };
    (0..3).map(|_| once()).min().map(|time| (blocks, time))
}

#[test]
fn kernels_of_usual_size_take_less_than_a_tenth_of_a_second() {
    let request = Request { kernel: String::new(), wanted: Wanted::All, style: MarkStyle::Pws };
    let mut objects: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut done: BTreeMap<String, (usize, Duration)> = BTreeMap::new();
    for case in cases::all() {
        let name = format!("{}.O2.co", case.file);
        let object = objects.entry(name.clone()).or_insert_with(|| {
            let path = format!("{}/../../fixtures/gcn3/{name}", env!("CARGO_MANIFEST_DIR"));
            marks::mark(&std::fs::read(path).expect("fixture"), &request).expect("marks").bytes
        });
        for step in &case.steps {
            let launches = match step {
                Step::Run(l) => std::slice::from_ref(l),
                Step::While { launches, .. } => launches,
            };
            for l in launches {
                if !done.contains_key(l.kernel)
                    && let Some(found) = measure(job(&case, &name, object, l))
                {
                    done.insert(l.kernel.into(), found);
                }
            }
        }
    }
    let mut slowest: Vec<_> = done.iter().collect();
    slowest.sort_by_key(|(_, found)| std::cmp::Reverse(found.1));
    println!("{} kernels", slowest.len());
    for (kernel, (blocks, time)) in &slowest[..5] {
        println!("{kernel}: {blocks} blocks, {:.1} ms", time.as_secs_f64() * 1e3);
    }
    assert!(done.len() > 100 && done.values().any(|found| found.0 > 100), "large kernels are among them");
    assert!(slowest[0].1.1 < LIMIT, "{slowest:?}");
}
