//! A checked run is the run: random kernels leave the same memory with a checker and without, and what the checker asks of
//! instructions never fails.

use wb_jobs::Checks;
use wb_sim::RunOptions;
use wb_testgen::random::gcn3::{Setup, generate, job};
use wb_testgen::random::mix;

const CASES: u64 = 150;

#[test]
fn checked_runs_leave_the_same_memory() {
    let mut ran = 0;
    for n in 0..CASES {
        let numbers: Vec<u16> = (0..200).map(|i| mix(n << 16 ^ i) as u16).collect();
        let Ok(job) = job(&generate(&numbers), &Setup::number(n * 7), n % 3) else { continue };
        let options = || RunOptions { timed: false, ..RunOptions::default() };
        let plain = job.run(options(), None);
        let checked = job.run_checked(&Checks::default(), options(), None);
        match (plain, checked) {
            (Ok(plain), Ok(checked)) => {
                assert!(plain.memory.all() == checked.memory.all(), "case {n}: other memory");
                assert_eq!(plain.wave_instructions, checked.wave_instructions, "case {n}");
                ran += 1;
            }
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "case {n}"),
            (plain, checked) => panic!("case {n}: {:?}, checked {:?}", plain.is_ok(), checked.is_ok()),
        }
    }
    assert!(ran > CASES / 2, "{ran} of {CASES} kernels ran");
}
