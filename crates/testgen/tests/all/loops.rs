//! Random loops against what is proven about them (docs/facts.md, "The search"): a small part of `wavebound campaign --loops`
//! and `--opencl`. Every side condition of the prover is left out once: the search must find what is wrong then, and the
//! checker must refuse it.

use wb_facts::{Inferred, Known, SideCondition, infer_gcn3, infer_unchecked};
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_testgen::random::loops::{Outcome, Search, assembly, forged, search, try_assembly};

fn run(cases: std::ops::Range<u64>, opencl: bool, without: Option<SideCondition>) -> Outcome {
    let what = Search { cases, inputs: 4, threads: 2, without, opencl };
    search(&what, &|_| {}).unwrap_or_else(|e| panic!("{e}"))
}

fn fine(found: &Outcome) {
    for (case, what) in &found.wrong {
        println!("case {case}: {what:#?}\n{}", assembly(*case).text);
    }
    println!(
        "{} loops, {} proved, {} refused, {} never",
        found.sum.loops, found.sum.proved, found.refused, found.sum.never
    );
    assert!(found.wrong.is_empty(), "wrong proofs");
}

#[test]
fn no_loop_in_assembly_goes_round_more_often_than_proven() {
    let found = run(0..1_500, false, None);
    fine(&found);
    assert!(found.sum.proved > 300, "a search that proves nothing finds nothing: {}", found.sum.proved);
    assert!(found.refused * 100 < found.cases, "{} proofs refused: prover and checker drift", found.refused);
}

#[test]
fn no_loop_in_opencl_goes_round_more_often_than_proven() {
    if wb_jobs::object::Compiler::find().is_err() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI needs clang");
        return;
    }
    let found = run(0..100, true, None);
    fine(&found);
    assert!(found.sum.proved > 20, "{}", found.sum.proved);
}

#[test]
fn forged_proofs_that_the_checker_accepts_are_true() {
    let (mut accepted, mut all) = (0, 0);
    for case in 0..600 {
        let prover =
            |program: &Program<Gcn3>, known: &Known| -> Inferred { forged(program, known, case * 7 + 1) };
        let tried = try_assembly(case, 3, &prover).unwrap_or_else(|e| panic!("{e}"));
        assert!(tried.wrong.is_empty(), "case {case}: {:?}\n{}", tried.wrong, assembly(case).text);
        all += 1;
        accepted += usize::from(tried.proved + tried.never > 0);
    }
    println!("{accepted} of {all} cases with something accepted");
    assert!(accepted > 50, "a checker that refuses everything is never wrong: {accepted} of {all}");
}

/// Cases of the search in which leaving a side condition out gives a wrong proof, found by `campaign --loops … --without …`.
fn known_cases(condition: SideCondition) -> &'static [u64] {
    match condition {
        SideCondition::TestFitsStep => &[113],
        SideCondition::SameLane => &[267, 277],
        SideCondition::LanesWereOn => &[249],
        SideCondition::LanesThatAreOff => &[218, 248],
        SideCondition::OperandsUnchanged => &[166, 191],
        SideCondition::SomeLane => &[340, 423, 1229],
    }
}

#[test]
fn every_side_condition_is_needed_and_its_absence_is_found() {
    for condition in SideCondition::ALL {
        let cases = known_cases(condition);
        assert!(!cases.is_empty(), "{condition:?}");
        for &case in cases {
            let prover = |program: &Program<Gcn3>, known: &Known| -> Inferred {
                infer_unchecked(program, &Known { without: Some(condition), ..known.clone() })
            };
            let tried = try_assembly(case, 4, &prover).unwrap_or_else(|e| panic!("{e}"));
            assert!(!tried.wrong.is_empty(), "{condition:?}, case {case}: not found");
            // The checker refuses the same proofs, so that nothing wrong gets out.
            let checked = |program: &Program<Gcn3>, known: &Known| -> Inferred {
                infer_gcn3(program, &Known { without: Some(condition), ..known.clone() })
            };
            let tried = try_assembly(case, 4, &checked).unwrap_or_else(|e| panic!("{e}"));
            assert!(tried.wrong.is_empty(), "{condition:?}, case {case}: {:?}", tried.wrong);
        }
    }
}
