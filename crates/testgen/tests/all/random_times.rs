//! Random kernels on random machines take the same time whoever looks on: the short ways of issue and the cycles that are skipped make no
//! difference. Long operations stand before waits, barriers, branches and ends, so that results are outstanding there.
//!
//! `WAVEBOUND_RANDOM_CASES=100000` runs more, `WAVEBOUND_RANDOM_CASE=n` one.

use wb_sim::{Outcome, RunOptions};
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::times::{Style, late_job, times_job};

const CASES: u64 = 1200;

const STYLES: [Style; 4] = [Style::Any, Style::Plain, Style::Splits, Style::Ends];

/// Cycles, instructions of waves and of lanes, and memory.
type Told<'a> = ([u64; 3], &'a [u8]);

/// What must not depend on who looks on. Some kernels do not fit on their machines.
fn told(outcome: &Result<Outcome, String>) -> Result<Told<'_>, &String> {
    let outcome = outcome.as_ref()?;
    Ok(([outcome.cycles, outcome.wave_instructions, outcome.lane_instructions], outcome.memory.all()))
}

fn compare(case: u64) -> Result<(), String> {
    let style = STYLES[case as usize % STYLES.len()];
    let job = if case.is_multiple_of(3) { times_job(case, 0, style) } else { late_job(case, 0, style) }?;
    let run = |options| job.run(options, None).map_err(|e| format!("{:?}", miette::Report::new(e)));
    let usual = run(RunOptions::default());
    let others = [
        ("with checks", RunOptions { check: true, ..RunOptions::default() }),
        ("every cycle", RunOptions { every_cycle: true, ..RunOptions::default() }),
        ("every cycle, with checks", RunOptions { check: true, every_cycle: true, ..RunOptions::default() }),
    ];
    for (how, options) in others {
        let other = run(options);
        let (usual, other) = (told(&usual), told(&other));
        if usual != other {
            let times = [usual, other].map(|told| told.map(|told| told.0));
            return Err(format!("as usual and {how}: {times:?} (cycles, wave and lane instructions)"));
        }
    }
    Ok(())
}

#[test]
fn random_kernels_take_the_same_time_whoever_looks_on() {
    let number =
        |name: &str| -> Option<u64> { std::env::var(name).ok().map(|n| n.parse().expect("a number")) };
    let one = number("WAVEBOUND_RANDOM_CASE");
    let count = if one.is_some() { 1 } else { number("WAVEBOUND_RANDOM_CASES").unwrap_or(CASES) };
    in_parallel(count, |n| {
        let case = one.unwrap_or(n);
        let again = format!("WAVEBOUND_RANDOM_CASE={case} cargo test -p wb-testgen random_times");
        compare(case).map_err(|why| format!("case {case}: {why}\nagain: {again}"))
    });
}
