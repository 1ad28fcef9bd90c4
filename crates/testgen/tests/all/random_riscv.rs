//! Random kernels for lane-pc machines: interpreter, untimed and timed run agree under every mechanism.
//!
//! `WAVEBOUND_RANDOM_CASES=1000000` runs more, `WAVEBOUND_RANDOM_FIRST=20160` others; `WAVEBOUND_RANDOM_CASE=n` or `n:numbers`
//! runs one.

use wb_testgen::parallel;

use parallel::in_parallel;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::sync::Mutex;
use wb_testgen::random::generate;
use wb_testgen::random::riscv::{Checked, Setup, check};

fn runner(n: u64) -> TestRunner {
    let mut seed = [17; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Runs case `n`; a failure is made small first and then told in full.
fn run(n: u64, setup: &Setup) -> Result<Checked, String> {
    let mut runner = runner(n);
    let tree = vec(any::<u16>(), 10..140).new_tree(&mut runner).map_err(|e| e.to_string())?;
    let first = check(&generate(&tree.current(), setup.returns()), setup);
    let Err(failure) = first else { return first.map_err(|f| f.what) };
    let smallest = runner.run_one(tree, |numbers| {
        let found = check(&generate(&numbers, setup.returns()), setup);
        found.map(|_| ()).map_err(|f| TestCaseError::fail(f.what))
    });
    Err(match smallest {
        Err(TestError::Fail(_, numbers)) => report(n, setup, &numbers),
        _ => format!("case {n} fails, but not twice: {}", failure.what),
    })
}

fn report(n: u64, setup: &Setup, numbers: &[u16]) -> String {
    let ast = generate(numbers, setup.returns());
    let (what, source) = match check(&ast, setup) {
        Err(f) => (f.what, f.source),
        Ok(_) => ("(passes now)".into(), String::new()),
    };
    let list: Vec<String> = numbers.iter().map(u16::to_string).collect();
    format!(
        "case {n}: {what}\n\non {setup}\n\nprogram:\n{ast}\nassembly:\n{source}\nagain: \
         WAVEBOUND_RANDOM_CASE={n}:{} cargo test -p wb-testgen random_riscv::one_case",
        list.join(","),
    )
}

/// At least 20,000, and all mechanisms alike.
#[test]
fn random_kernels_agree_under_every_mechanism() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let cases = number("WAVEBOUND_RANDOM_CASES").unwrap_or(20_160);
    let first = number("WAVEBOUND_RANDOM_FIRST").unwrap_or(0);
    let sum = Mutex::new(Checked::default());
    in_parallel(cases, |n| {
        let done = run(first + n, &Setup::number(first + n))?;
        let mut sum = sum.lock().unwrap();
        sum.wave_instructions += done.wave_instructions;
        sum.cycles += done.cycles;
        sum.depth = sum.depth.max(done.depth);
        Ok(())
    });
    let sum = sum.into_inner().unwrap();
    println!("{cases} kernels from {first}: {sum:?}");
    assert!(sum.depth >= 4, "{sum:?}");
}

#[test]
fn one_case() {
    let Ok(what) = std::env::var("WAVEBOUND_RANDOM_CASE") else { return };
    let (n, numbers) = what.split_once(':').unwrap_or((&what, ""));
    let n: u64 = n.parse().expect("a case number");
    let numbers: Vec<u16> =
        numbers.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().expect("numbers")).collect();
    let setup = Setup::number(n);
    let found = if numbers.is_empty() {
        run(n, &setup)
    } else {
        check(&generate(&numbers, setup.returns()), &setup).map_err(|_| report(n, &setup, &numbers))
    };
    println!("{:?}", found.unwrap_or_else(|e| panic!("{e}")));
}
