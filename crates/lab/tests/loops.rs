//! Random loops against what is proven about them (docs/facts.md, "The search").

use wb_lab::random::loops::{assembly, try_assembly};
use wb_program::facts::infer_gcn3;

fn count(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn no_loop_in_assembly_goes_round_more_often_than_proven() {
    let (first, cases) = (count("WAVEBOUND_FIRST", 0), count("WAVEBOUND_LOOPS", 2_000));
    let (mut loops, mut proved, mut reached, mut never, mut wrong) = (0, 0, 0, 0, 0);
    for case in first..first + cases {
        let tried = try_assembly(case, 4, &infer_gcn3).unwrap_or_else(|e| panic!("case {case}: {e}"));
        loops += tried.loops;
        proved += tried.proved;
        reached += tried.reached;
        never += tried.never;
        if !tried.wrong.is_empty() {
            wrong += 1;
            println!("case {case}: {:#?}\n{}", tried.wrong, assembly(case).text);
        }
    }
    println!(
        "{cases} cases, {loops} loops, {proved} proved, reached {reached} times, {never} ways never taken, {wrong} wrong"
    );
    assert_eq!(wrong, 0);
}
