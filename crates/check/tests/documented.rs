//! The example of docs/certificate.md is a certificate, and hostile ones are refused without a panic.

use wb_check::{CheckError, check};

const PAGE: &str = include_str!("../../../docs/certificate.md");

fn example() -> &'static str {
    PAGE.split("```json").nth(1).and_then(|rest| rest.split("```").next()).expect("an example")
}

#[test]
fn the_documented_example_holds() {
    let report = check(example()).expect("certificate");
    assert_eq!((report.bound, report.value), (454, 454 << 20));
    assert_eq!((report.nodes, report.edges, report.loops, report.facts), (4, 4, 1, 0));
    assert_eq!(report.about["program"], "example");
    assert_eq!(report.assumptions.len(), 3);
}

#[test]
fn a_higher_bound_holds_and_a_lower_one_does_not() {
    let claim = |bound: &str| check(&example().replace("\"bound\":454", &format!("\"bound\":{bound}")));
    assert_eq!(claim("455").expect("certificate").bound, 455);
    assert_eq!(claim("\"18446744073709551615\"").expect("certificate").bound, u64::MAX);
    assert_eq!(claim("453"), Err(CheckError::Bound { bound: 453, proven: 454 }));
    assert!(matches!(claim("\"18446744073709551616\""), Err(CheckError::Number { .. })));
    assert!(matches!(claim("454.0"), Err(CheckError::Syntax(_))));
}

#[test]
fn huge_numbers_are_refused() {
    let least = i128::MIN.to_string();
    let most = i128::MAX.to_string();
    for (old, new) in [
        ("475004928", &least),
        ("475004928", &most),
        ("-101711872", &least),
        ("3145728", &most),
        ("115343360", &most),
        ("\"cost\":10}", &most),
        ("\"max\":4", &most),
    ] {
        let text = match old.split_once(':') {
            Some((key, _)) if old.ends_with('}') => example().replace(old, &format!("{key}:\"{new}\"}}")),
            Some((key, _)) => example().replace(old, &format!("{key}:\"{new}\"")),
            None => example().replace(old, &format!("\"{new}\"")),
        };
        assert_ne!(text, example());
        let error = check(&text).expect_err("refused");
        assert!(!matches!(error, CheckError::Syntax(_)), "{old} {new}: {error}");
    }
}

#[test]
fn graphs_that_make_no_sense_are_refused() {
    let change = |old: &str, new: &str| {
        assert!(example().contains(old));
        check(&example().replace(old, new)).expect_err("refused")
    };
    assert!(matches!(change("\"exit\":3", "\"exit\":4"), CheckError::Index { .. }));
    assert!(matches!(change("\"exit\":3", "\"exit\":1"), CheckError::LeavesExit { edge: 1 }));
    assert_eq!(change("\"from\":1,\"to\":3", "\"from\":1,\"to\":1"), CheckError::NoWay);
    assert!(matches!(change("\"back\":[2]", "\"back\":[2,2]"), CheckError::Twice { .. }));
    assert!(matches!(change("\"back\":[2]", "\"back\":[0]"), CheckError::LoopEdges { which: "back", .. }));
    assert!(matches!(change("\"limits\":[]", "\"limits\":[1]"), CheckError::Length { .. }));
    assert!(matches!(change("\"limits\"", "\"surprise\":1,\"limits\""), CheckError::Syntax(_)));
    assert!(matches!(change("\"version\":1", "\"version\":9"), CheckError::Version { .. }));
}
