//! The corpus of planted errors, and the workloads of the suite, under our checker: it finds what is planted at its line, and reports
//! nothing else.

use wb_jobs::launch::{Launches, WorkloadSession, WorkloadSpec};
use wb_jobs::{Checks, JobSpec};
use wb_lab::planted::{Case, Place, Verdict, cases, check, check_with, launch};
use wb_sanitize::{Kind, Options};
use wb_sim::RunOptions;

fn all() -> Vec<Case> {
    cases().unwrap_or_else(|e| panic!("{e}"))
}

/// A place with the corpus, compiled; none where there is no compiler, except in CI.
fn place() -> Option<Place> {
    if wb_jobs::object::Compiler::find().is_err() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI needs clang and its device library");
        return None;
    }
    Some(Place::temporary().unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn every_right_kernel_of_the_corpus_runs() {
    let Some(place) = place() else { return };
    for case in all().into_iter().filter(|c| c.planted.is_none()) {
        launch(&case, &place).unwrap_or_else(|e| panic!("{}: {:?}", case.name, miette::Report::new(e)));
    }
}

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let Some(place) = place() else { return };
    let mut wrong = Vec::new();
    for case in all() {
        let found = check(&case, &place).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let verdict = Verdict::of(&case, &found);
        if !verdict.good() && case.known.is_none() {
            wrong.push(format!("{}: {verdict:?} ({found:?})", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A planted fault: a checker that does not look for races finds none, and one that does not follow values finds none of those.
#[test]
fn a_checker_that_does_not_look_is_noticed() {
    let Some(place) = place() else { return };
    let blind = Checks {
        options: Options { races: false, uninitialised: false, ..Options::default() },
        ..Checks::default()
    };
    let (mut missed, mut cases) = (0, 0);
    for case in all() {
        let kind = case.planted.map(|k| k.name());
        if !matches!(kind, Some("race" | "uninitialised")) {
            continue;
        }
        let found = check_with(&case, &place, &blind).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        cases += 1;
        missed += usize::from(!Verdict::of(&case, &found).good());
    }
    assert!(missed > cases / 2, "{missed} of {cases} are missed");
}

/// The suite is right, but for the races of bfs that docs/sanitizer.md explains.
#[test]
fn workloads_are_clean() {
    for workload in wb_workloads::all() {
        let which = WorkloadSpec::new(workload.name, "tiny").unwrap_or_else(|e| panic!("{e}"));
        let mut session =
            WorkloadSession::open(&which, &JobSpec::default()).unwrap_or_else(|e| panic!("{e}"));
        session.stage_mut().check(&Checks::default());
        while let Some(step) = session.next_step().unwrap_or_else(|e| panic!("{e}")) {
            session
                .run(&step, RunOptions::default(), None)
                .unwrap_or_else(|e| panic!("{}: {e}", workload.name));
        }
        assert!(
            session.verdicts().unwrap_or_else(|e| panic!("{e}")).iter().all(|v| v.difference.is_none()),
            "{}: results",
            workload.name
        );
        let checker = session.stage_mut().checked().expect("a checker");
        for report in checker.reports.all() {
            let known = workload.name == "bfs"
                && report.kind == Kind::Race
                && [18, 19, 31].contains(&report.place.line);
            assert!(known, "{}: {report}", workload.name);
        }
        let expected = if workload.name == "bfs" { 3 } else { 0 };
        assert_eq!(checker.reports.all().len(), expected, "{}", workload.name);
    }
}
