//! Proven limits of loops against what really happens: all fixture kernels with the launches of their own tests, whole
//! and split, at both optimisation levels; and random kernels under every mechanism. No loop goes round more often than
//! proven.

use crate::{case, cases};

use case::{Case, In, Launch, Step};
use std::collections::{BTreeMap, BTreeSet};
use wb_device::{Arg, Device, Dispatch, Module};
use wb_facts::{Known, calls_of, infer_gcn3, loops};
use wb_hw::MarkStyle;
use wb_jobs::object::ObjectFile;
use wb_objects::marks::{self, Request, Wanted};
use wb_sim::RunOptions;
use wb_testgen::random::gcn3::{Setup, generate, source};
use wb_testgen::random::loops::Rounds;

/// Machines: whole waves, and three ways of splitting.
const MACHINES: &[&[&str]] = &[
    &[],
    &["divergence.mechanism=thesis", "divergence.choice=opportunistic", "split.contexts=7"],
    &["divergence.mechanism=dws", "split.contexts=15"],
    &["divergence.mechanism=pws", "split.contexts=3"],
];

/// Loops of one object: proven and seen to be exact.
#[derive(Default)]
struct Tally {
    loops: BTreeSet<(String, u64)>,
    proven: BTreeSet<(String, u64)>,
    exact: BTreeSet<(String, u64)>,
    launches: u32,
}

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/gcn3/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("fixture")
}

fn launch(device: &mut Device, module: &Module, l: &Launch, buffers: &[u64], tally: &mut Tally) {
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
    let prepared = device.prepare(module, &dispatch).expect("a launch");
    let kernel = module.kernel(l.kernel).expect("kernel");
    let program = &prepared.program;
    let with_launch = infer_gcn3(program, &Known::launch(program, &prepared.kernarg, &kernel.args));
    let alone = infer_gcn3(program, &Known::default());
    let refused = [&with_launch.refused[..], &alone.refused[..]].concat();
    assert!(refused.is_empty(), "{}: prover and checker disagree: {refused:?}", l.kernel);
    let (facts, code_alone) = (with_launch.loops, alone.loops);
    // Some mechanisms put paths together that are in different rounds: there the limit is one of lanes.
    let by_lane = device.machine.mixes_rounds();
    let mut seen = Rounds::new(program, by_lane);
    let options = RunOptions { timed: false, ..RunOptions::default() };
    device
        .launch(module, &dispatch, options, Some(&mut seen))
        .unwrap_or_else(|e| panic!("{}: {e}", l.kernel));
    let place = |pc| (format!("{} {}", module.name, l.kernel), program.linked(pc));
    for view in loops(program, &calls_of(program)) {
        tally.loops.insert(place(view.header));
    }
    for fact in facts.iter().chain(&code_alone) {
        let most = seen.most.get(&fact.header).copied().unwrap_or(0);
        assert!(
            most <= fact.max,
            "{:?}, {:x?} went round {most} times, proven {}: {}",
            device.machine.divergence.mechanism,
            place(fact.header),
            fact.max,
            fact.why
        );
        tally.proven.insert(place(fact.header));
        if most == fact.max {
            tally.exact.insert(place(fact.header));
        }
    }
    tally.launches += 1;
}

fn run(case: &Case, name: &str, object: &[u8], sets: &[&str], tally: &mut Tally) {
    let sets: Vec<_> = sets.iter().map(|s| wb_hw::parse_set(s).expect("set")).collect();
    let machine = wb_hw::load("gcn3").expect("machine").with_overrides(&sets).expect("machine");
    let mut device = Device::new(machine);
    let module = device.load(name, object).expect("code object");
    let place = |device: &mut Device, bytes: &[u8]| {
        let addr = device.alloc(bytes.len() as u64).expect("memory");
        device.write(addr, bytes).expect("memory");
        addr
    };
    let buffers: Vec<u64> = case.buffers.iter().map(|d| place(&mut device, &d.bytes())).collect();
    for step in &case.steps {
        match step {
            Step::Run(l) => launch(&mut device, &module, l, &buffers, tally),
            Step::While { flag, launches } => loop {
                device.write(buffers[*flag], &[0; 4]).expect("flag");
                launches.iter().for_each(|l| launch(&mut device, &module, l, &buffers, tally));
                if device.read(buffers[*flag], 4).expect("flag") == [0; 4] {
                    break;
                }
            },
        }
    }
}

#[test]
fn no_loop_goes_round_more_often_than_proven() {
    let mut objects: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut tally = Tally::default();
    for case in cases::all() {
        for level in ["O2", "O3"] {
            let name = format!("{}.{level}.co", case.file);
            let object = objects.entry(name.clone()).or_insert_with(|| fixture(&name));
            for (i, sets) in MACHINES.iter().enumerate() {
                if i == 3 {
                    let request =
                        Request { kernel: String::new(), wanted: Wanted::All, style: MarkStyle::Pws };
                    let marked = marks::mark(object, &request).expect("marks").bytes;
                    run(&case, &name, &marked, sets, &mut Tally::default());
                } else {
                    run(&case, &name, object, sets, &mut tally);
                }
            }
        }
    }
    let of = |set: &BTreeSet<(String, u64)>, level: &str| set.iter().filter(|p| p.0.contains(level)).count();
    for level in ["O2", "O3"] {
        let [all, proven, exact] = [&tally.loops, &tally.proven, &tally.exact].map(|set| of(set, level));
        println!("{level}: {all} loops, {proven} proven, {exact} of them went round as often as proven");
        assert!(proven * 100 >= all * 80, "{level}: only {proven} of {all} loops are proven");
        assert!(exact * 100 >= proven * 60, "{level}: only {exact} of {proven} limits are reached");
    }
    println!("{} launches", tally.launches);
}

/// Nested loops, breaks and divergent branches in the shapes LLVM gives them, on every machine.
#[test]
fn random_kernels_keep_to_what_is_proven() {
    let mut tally = Tally::default();
    for n in 0..Setup::COUNT {
        let mut noise = case::Noise(n);
        let numbers = noise.many(200, |n| n.u32() as u16);
        let setup = Setup::number(n);
        let text = source(&generate(&numbers), &setup);
        let file = ObjectFile::from_bytes("random.s", text.as_bytes()).expect("assembles");
        let mut machine = setup.machine();
        machine.limits.memory = 16 << 20;
        let mut device = Device::new(machine);
        let module = device.place(&format!("random {n}"), file.object, file.source).expect("a module");
        let kernel: &'static str = module.object.kernels[0].name.clone().leak();
        let mut buffer = |bytes: u64| device.alloc(bytes).expect("memory");
        let buffers = [buffer(1 << 16), buffer(4096 * u64::from(setup.threads())), buffer(64)];
        let words: Vec<u8> = noise.many(1 << 14, |n| n.u32().to_le_bytes()).concat();
        device.write(buffers[0], &words).expect("memory");
        let threads = case::value(setup.threads());
        let args = vec![case::buffer(0), case::buffer(1), case::buffer(2), threads];
        let l = case::line(kernel, setup.threads(), setup.group(), args);
        launch(&mut device, &module, &l, &buffers, &mut tally);
    }
    let [all, proven, exact] = [&tally.loops, &tally.proven, &tally.exact].map(BTreeSet::len);
    println!("{} kernels: {all} loops, {proven} proven, {exact} exact", tally.launches);
    assert!(all > 300 && proven * 2 > all, "{proven} of {all} loops are proven");
}
