//! Random GCN3 kernels under every splitting mechanism, with every kind of marks and S from 0 to 15: the reference, the
//! untimed and the timed run agree; with S = 0 the run is that of `none`, cycle by cycle.
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
use wb_testgen::random::gcn3::{
    CONTEXTS, Checked, MARKINGS, MASK_WAYS, Marking, NEWER_WAYS, Setup, WAYS, check, check_later,
    check_threads, generate, masks,
};

/// Fifteen times through all combinations of mechanism, S and marks.
const CASES: u64 = Setup::COUNT * 15;

fn runner(n: u64) -> TestRunner {
    let mut seed = [11; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Runs case `n`; a failure is made small first and then told in full.
fn run(n: u64) -> Result<Checked, String> {
    let mut runner = runner(n);
    let setup = Setup::number(n);
    let tree = vec(any::<u16>(), 40..400).new_tree(&mut runner).map_err(|e| e.to_string())?;
    let first = check(&generate(&tree.current()), &setup);
    let Err(failure) = first else { return first.map_err(|f| f.what) };
    let smallest = runner.run_one(tree, |numbers| {
        check(&generate(&numbers), &setup).map(|_| ()).map_err(|f| TestCaseError::fail(f.what))
    });
    Err(match smallest {
        Err(TestError::Fail(_, numbers)) => report(n, &numbers),
        _ => format!("case {n} fails, but not twice: {}", failure.what),
    })
}

fn report(n: u64, numbers: &[u16]) -> String {
    let (kernel, setup) = (generate(numbers), Setup::number(n));
    let (what, source) = match check(&kernel, &setup) {
        Err(f) => (f.what, f.source),
        Ok(_) => ("(passes now)".into(), String::new()),
    };
    let list: Vec<String> = numbers.iter().map(u16::to_string).collect();
    format!(
        "case {n}: {what}\n\non {setup}\n\nkernel:\n{kernel}\nassembly:\n{source}\nagain: \
         WAVEBOUND_RANDOM_CASE={n}:{} cargo test -p wb-testgen random_gcn3::one_case",
        list.join(","),
    )
}

/// What happened per mechanism: kernels, those that split, splits, merges.
#[derive(Default)]
struct Coverage {
    ways: BTreeMap<String, [u64; 4]>,
    axes: BTreeMap<String, u64>,
    instructions: u64,
}

impl Coverage {
    fn add(&mut self, n: u64, done: &Checked) {
        let setup = Setup::number(n);
        let marks = match setup.marking {
            Marking::None => "none",
            Marking::Random(_) => "random",
            Marking::All => "all",
        };
        let way = format!("{:?}", setup.way);
        *self.axes.entry(format!("{way} {} {marks}", setup.contexts)).or_default() += 1;
        let of_way = self.ways.entry(way).or_default();
        let more = [1, u64::from(done.splits > 0), done.splits, done.merges];
        of_way.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
        self.instructions += done.wave_instructions;
    }

    fn check(&self, cases: u64) {
        println!("{cases} kernels, {} wave-instructions (timed)", self.instructions);
        for (way, [kernels, split, splits, merges]) in &self.ways {
            println!("  {way}: {kernels} kernels, {split} split, {splits} splits, {merges} merges");
        }
        assert_eq!(self.axes.len(), WAYS.len() * CONTEXTS.len() * MARKINGS);
        assert!(self.axes.values().all(|&n| n >= 15), "{:?}", self.axes);
        for (way, [kernels, split, _, merges]) in &self.ways {
            if way.contains("ExecMask") {
                assert_eq!(*split, 0, "{way}");
            } else {
                // A sixth has no contexts; marked ways split in two of three markings only.
                assert!(split * 10 > *kernels, "{way} splits in {split} of {kernels} kernels");
                assert!(way.contains("Never") || *merges > 0, "{way} never merges");
            }
        }
    }
}

/// DWS as published with all its schemes: ten times through all combinations.
#[test]
fn newer_mechanisms() {
    newer(Setup::NEWER, (NEWER_WAYS.len() * CONTEXTS.len() * MARKINGS) as u64 * 10);
}

/// The same kernels in the words of later generations, with operations that only these have.
#[test]
fn later_generations() {
    let cases =
        std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(Setup::COUNT);
    in_parallel(cases, |n| {
        let tree = vec(any::<u16>(), 40..400).new_tree(&mut runner(n)).map_err(|e| e.to_string())?;
        let done = check_later(&generate(&tree.current()), &Setup::number(n), n);
        done.map(|_| ()).map_err(|f| format!("case {n}: {}\n{}", f.what, f.source))
    });
}

/// Host threads change nothing (docs/ARCHITECTURE.md), whatever the caches are like and whatever groups tell each other.
#[test]
fn host_threads() {
    let cases = std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let first = std::env::var("WAVEBOUND_RANDOM_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let sum = Mutex::new([[0u64; 4]; 2]);
    in_parallel(cases, |i| {
        let n = first + i;
        let tree = vec(any::<u16>(), 40..400).new_tree(&mut runner(n)).map_err(|e| e.to_string())?;
        let done = check_threads(&generate(&tree.current()), n)?;
        let mut sum = sum.lock().unwrap();
        let more = [1, done.untimed.into(), done.timed.into(), done.wave_instructions];
        sum[usize::from(done.races)].iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
        Ok(())
    });
    let [apart, races] = sum.into_inner().unwrap();
    println!("kernels, on several threads untimed and timed, instructions: {apart:?}; that race: {races:?}");
    assert!(apart[1] * 10 > apart[0] * 9, "untimed on several threads");
    assert!(apart[2] * 2 > apart[0], "timed on several threads");
    assert!(races[1] * 2 < races[0], "who races runs on one thread");
}

/// The stack of split masks (THESIS 4.3.4): fifteen times through all combinations, or `WAVEBOUND_RANDOM_CASES`.
#[test]
fn mask_stacks() {
    let usual = (MASK_WAYS.len() * CONTEXTS.len() * MARKINGS) as u64 * 15;
    newer(
        Setup::MASKS,
        std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual),
    );
}

/// Kernels in which masks come back in vain, which random kernels as above never do (docs/mechanisms.md).
#[test]
fn masks_that_match_by_chance() {
    let cases = std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let sum = Mutex::new([0; 3]);
    in_parallel(cases, |n| {
        let done = masks::check(n, None).map_err(|f| format!("{}\n{}", f.what, f.source))?;
        let mut all = sum.lock().unwrap();
        all.iter_mut().zip([u64::from(done.splits > 0), done.splits, done.merges]).for_each(|(a, n)| *a += n);
        Ok(())
    });
    let [kernels, splits, merges] = sum.into_inner().unwrap();
    println!("{cases} kernels, {kernels} split, {splits} splits, {merges} merges");
    assert!(
        kernels * 3 > cases && merges * 4 > splits,
        "{kernels} kernels, {splits} splits, {merges} merges"
    );
    assert!(merges < splits, "no path ever gave up");
}

/// The same kernels under every other way: paths that stand at the same pc may be in different rounds.
#[test]
fn masks_under_every_way() {
    let ways: Vec<_> = WAYS.iter().chain(&NEWER_WAYS).collect();
    in_parallel(ways.len() as u64 * 40, |n| {
        let way = ways[n as usize % ways.len()];
        masks::check(n, Some(*way)).map(|_| ()).map_err(|f| format!("{}\n{}", f.what, f.source))
    });
}

fn newer(first: u64, cases: u64) {
    let splits = Mutex::new(BTreeMap::<String, [u64; 2]>::new());
    in_parallel(cases, |i| {
        let n = first + i;
        let done = run(n)?;
        let mut all = splits.lock().unwrap();
        let of_way = all.entry(format!("{:?}", Setup::number(n).way)).or_default();
        of_way[0] += done.splits;
        of_way[1] += done.merges;
        Ok(())
    });
    for (way, [splits, merges]) in splits.into_inner().unwrap() {
        println!("{way}: {splits} splits, {merges} merges");
        assert!(splits > 0, "{way} never splits");
        assert!(way.contains("Never") || merges > 0, "{way} never merges");
    }
}

/// Lanes that never come together again: ends of kernels, and paths that leave the regions around them (`split_end`).
#[test]
fn paths_that_end_by_themselves() {
    let seen = Mutex::new([0; 2]);
    in_parallel(Setup::COUNT * 10, |i| {
        let n = Setup::ENDING + i;
        let done = run(n)?;
        let setup = Setup::number(n);
        if setup.way.mechanism == wb_hw::Mechanism::Pws {
            let mut seen = seen.lock().unwrap();
            seen[0] += done.splits;
            seen[1] += done.merges;
        }
        Ok(())
    });
    let [splits, merges] = seen.into_inner().unwrap();
    assert!(merges > 1_000 && splits > merges + 1_000, "{splits} splits, {merges} merges");
}

fn many(cases: u64) {
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
fn random_kernels_agree_under_every_mechanism() {
    const { assert!(CASES >= 5_000) };
    let cases = std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    many(cases);
}

#[test]
#[ignore = "long: twenty times as many kernels"]
fn many_random_kernels_agree_under_every_mechanism() {
    many(CASES * 20);
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
    println!("{}", report(n, &numbers));
}
