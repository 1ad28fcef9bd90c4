//! Random structured programs on every mechanism, scheduler and machine size: interpreter = untimed run =
//! timed run. Case `n` is the same on every machine and in every run of the test.
//!
//! `WAVEBOUND_RANDOM_CASES=100000` runs more; `WAVEBOUND_RANDOM_CASE=n` or `n:numbers` runs one.

use wb_testgen::parallel;

use parallel::in_parallel;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::sync::Mutex;
use wb_hw::Policy;
use wb_testgen::random::{Case, Checked, LANES, Setup, TARGETS, Thorough, check, fixed_programs, generate};

/// Three times through all combinations of the main axes.
const CASES: u64 = Setup::COUNT * 3;

fn case(n: u64, numbers: &[u16]) -> Case {
    let setup = Setup::number(n);
    let returns = setup.target.can_return() && setup.variety.is_multiple_of(2);
    Case { ast: generate(numbers, returns), setup }
}

/// Every eighth case, each combination of mechanism and policy among them.
fn thorough(n: u64) -> Thorough {
    if (n / 36).is_multiple_of(8) { Thorough::Yes } else { Thorough::No }
}

fn runner(n: u64) -> TestRunner {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Runs case `n`; a failure is made small first and then told in full.
fn run(n: u64) -> Result<Checked, String> {
    let mut runner = runner(n);
    let tree = vec(any::<u16>(), 10..160).new_tree(&mut runner).map_err(|e| e.to_string())?;
    let first = check(&case(n, &tree.current()), thorough(n));
    let Err(failure) = first else { return first.map_err(|f| f.what) };
    let smallest = runner.run_one(tree, |numbers| {
        check(&case(n, &numbers), thorough(n)).map(|_| ()).map_err(|f| TestCaseError::fail(f.what))
    });
    Err(match smallest {
        Err(TestError::Fail(_, numbers)) => report(n, &numbers),
        _ => format!("case {n} fails, but not twice: {}", failure.what),
    })
}

fn report(n: u64, numbers: &[u16]) -> String {
    let case = case(n, numbers);
    let (what, source) = match check(&case, thorough(n)) {
        Err(f) => (f.what, f.source),
        Ok(_) => ("(passes now)".into(), case.source()),
    };
    let list: Vec<String> = numbers.iter().map(u16::to_string).collect();
    format!(
        "case {n}: {what}\n\non {}\n\nprogram:\n{}\nassembly:\n{source}\nagain: \
         WAVEBOUND_RANDOM_CASE={n}:{} cargo test --release -p wb-testgen random_programs::one_case",
        case.setup,
        case.ast,
        list.join(","),
    )
}

/// How often each thing was covered.
#[derive(Default)]
struct Coverage {
    counts: BTreeMap<(&'static str, String), u64>,
    instructions: u64,
    cycles: u64,
    diverged: u64,
    deepest: usize,
}

impl Coverage {
    fn add(&mut self, n: u64, done: &Checked) {
        let setup = Setup::number(n);
        let Setup { target, policy, lanes, partitions, frontend, first, .. } = &setup;
        let machine = setup.machine();
        let way = format!("{:?}/{}", target.style, target.mechanism);
        let policy = policy.name();
        let mut count = |axis, what: String| *self.counts.entry((axis, what)).or_default() += 1;
        count("mechanism policy lanes", format!("{way} {policy} {lanes}"));
        count("mechanism policy partitions front end", format!("{way} {policy} {partitions} {frontend:?}"));
        count("mechanism lanes partitions front end", format!("{way} {lanes} {partitions} {frontend:?}"));
        count("mechanism policy first side", format!("{way} {policy} {first:?}"));
        count("mechanism policy waves", format!("{way} {policy} {}", machine.core.waves));
        count(
            "mechanism arch",
            format!("{way} {}", if machine.isa == wb_hw::InstructionSet::Harp { setup.arch() } else { "" }),
        );
        let costs = &machine.divergence;
        count("mechanism push pop", format!("{way} {} {}", costs.push_cycles, costs.pop_cycles));
        if thorough(n) == Thorough::Yes {
            count("determinism: mechanism policy", format!("{way} {policy}"));
        }
        self.instructions += done.wave_instructions;
        self.cycles += done.cycles;
        self.diverged += u64::from(done.depth > 0);
        self.deepest = self.deepest.max(done.depth);
    }

    fn check(&self, cases: u64) {
        let mut axes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for ((axis, _), &count) in &self.counts {
            let (kinds, least) = axes.entry(axis).or_insert((0, u64::MAX));
            *kinds += 1;
            *least = count.min(*least);
        }
        println!(
            "{cases} programs, {} with divergence, {} wave-instructions, {} cycles, deepest stack {}",
            self.diverged, self.instructions, self.cycles, self.deepest
        );
        for (axis, (kinds, least)) in &axes {
            println!("  {axis}: {kinds} combinations, each at least {least} times");
        }
        let expect = |axis: &str, kinds: usize, least: u64| {
            let found = axes.get(axis).copied().unwrap_or_default();
            assert!(found.0 == kinds && found.1 >= least, "{axis}: {found:?}, wanted {kinds} × {least}");
        };
        let (ways, policies, lanes) = (TARGETS.len(), Policy::ISSUE.len(), LANES.len());
        expect("mechanism policy lanes", ways * policies * lanes, 20);
        expect("mechanism policy partitions front end", ways * policies * 9, 20);
        expect("mechanism lanes partitions front end", ways * lanes * 9, 20);
        expect("mechanism policy first side", ways * policies * 4, 20);
        // 1, 2, 4 and 8 slots.
        expect("mechanism policy waves", ways * policies * 4, 20);
        expect("mechanism arch", 5 * 3 + 1, 400);
        expect("mechanism push pop", ways * 9, 100);
        expect("determinism: mechanism policy", ways * policies, 20);
        assert!(self.diverged > cases / 2, "only {} programs diverged", self.diverged);
    }
}

#[test]
fn random_programs_agree_on_every_machine() {
    let cases = std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let coverage = Mutex::new(Coverage::default());
    in_parallel(cases, |n| {
        let done = run(n)?;
        coverage.lock().unwrap().add(n, &done);
        Ok(())
    });
    if cases >= CASES {
        coverage.into_inner().unwrap().check(cases);
    }
}

#[test]
fn fixed_programs_agree_in_the_full_cross_product() {
    let programs = fixed_programs();
    in_parallel(Setup::COUNT, |n| {
        for (i, ast) in programs.iter().enumerate().skip(n as usize / 6 % programs.len()).take(1) {
            let case = Case { setup: Setup::number(n), ast: ast.clone() };
            check(&case, Thorough::No).map_err(|f| {
                format!("fixed program {i} on setup {n}: {}\n{}\n{}", f.what, case.setup, f.source)
            })?;
        }
        Ok(())
    });
}

#[test]
fn one_case() {
    let Ok(what) = std::env::var("WAVEBOUND_RANDOM_CASE") else { return };
    let (n, numbers) = what.split_once(':').unwrap_or((&what, ""));
    let n: u64 = n.parse().expect("a case number");
    if numbers.is_empty() {
        println!("{:?}", run(n).unwrap_or_else(|e| panic!("{e}")));
        return;
    }
    let numbers: Vec<u16> = numbers.split(',').map(|n| n.parse().expect("numbers")).collect();
    let found = check(&case(n, &numbers), thorough(n));
    println!("{:?}", found.unwrap_or_else(|_| panic!("{}", report(n, &numbers))));
}
