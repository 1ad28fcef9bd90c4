//! The example of docs/certificate.md is a certificate, and hostile ones are refused without a panic.

use wb_check::{CheckError, Report, check, digest};

const PAGE: &str = include_str!("../../../docs/certificate.md");

fn example() -> &'static str {
    PAGE.split("```json").nth(1).and_then(|rest| rest.split("```").next()).expect("an example").trim()
}

/// The text with the digest that belongs to it.
fn sealed(text: &str) -> String {
    let (body, _) = text.rsplit_once(",\"digest\":").expect("a digest");
    format!("{body},\"digest\":\"{}\"}}", digest(text).expect("a digest"))
}

fn checked(text: &str) -> Result<Report, CheckError> {
    check(&sealed(text))
}

#[test]
fn the_documented_example_holds() {
    let report = check(example()).expect("certificate");
    assert_eq!((report.bound, report.value), (454, 454 << 20));
    assert_eq!((report.nodes, report.edges, report.loops, report.facts), (4, 4, 1, 0));
    assert_eq!(report.about["program"], "example");
    let binding = report.binding.expect("a binding");
    assert_eq!((binding.total.0, binding.code.kernel.as_str()), (1816, "example"));
    assert_eq!(report.assumptions.len(), 5, "{:?}", report.assumptions);
    assert!(report.assumptions[2].contains("MEASURED, the longest of 1 run with 1 distinct input"));
}

#[test]
fn a_bound_that_is_not_proven_or_not_composed_is_refused() {
    let claim = |bound: &str| checked(&example().replace("\"bound\":454", &format!("\"bound\":{bound}")));
    assert_eq!(claim("453"), Err(CheckError::Bound { bound: 453, proven: 454 }));
    assert!(matches!(claim("455"), Err(CheckError::Binding { place, .. }) if place == "launches[0].bound"));
    assert!(matches!(claim("\"18446744073709551616\""), Err(CheckError::Number { .. })));
    assert_eq!(claim("\"18446744073709551615\""), Err(CheckError::Overflow("a launch's bound")));
    assert!(matches!(claim("454.0"), Err(CheckError::Syntax(_))));
    // A looser bound holds if everything agrees with it.
    let looser = example().replace(":454,", ":455,").replace(":908,", ":910,").replace(":1816,", ":1820,");
    assert_eq!(checked(&looser).expect("certificate").bound, 455);
    let sum = checked(&example().replace(":1816,", ":1815,"));
    assert!(matches!(sum, Err(CheckError::Binding { place, .. }) if place == "total"));
    let many = example().replace("\"count\":2", "\"count\":18446744073709551615");
    assert_eq!(checked(&many), Err(CheckError::Overflow("the total")));
}

#[test]
fn the_digest_is_of_all_that_stands_before_it() {
    assert_eq!(sealed(example()), example());
    let other = example().replace("\"example\"}", "\"another\"}");
    assert!(matches!(check(&other), Err(CheckError::Digest { .. })));
    assert!(checked(&other).is_ok(), "free text");
    assert!(matches!(check(&format!("{}x", example())), Err(CheckError::Syntax(_))));
    assert!(check(&format!("{}\n", example())).is_ok());
}

#[test]
fn what_does_not_agree_with_itself_is_refused() {
    for (old, new, place) in [
        ("\"status\":\"hybrid\"", "\"status\":\"given\"", "status"),
        ("\"checksum\":\"xxh3:0123456789abcdef\"", "\"checksum\":\"\"", "code.checksum"),
        ("\"hash\":\"xxh3:fedcba9876543210\"", "\"hash\":\"none\"", "machine.hash"),
        ("\"grid\":[256", "\"grid\":[128", "launches[0].shapes[0].hash"),
        ("\"arguments\":\"00", "\"arguments\":\"01", "launches[0].shapes[0].hash"),
        ("\"groups\":4", "\"groups\":3", "launches[0].shapes[0].groups"),
        ("\"lanes\":64", "\"lanes\":32", "launches[0].shapes[0].waves_per_group"),
        ("\"rounds\":2", "\"rounds\":1", "launches[0].shapes[0].rounds"),
        ("\"groups_per_core\":2", "\"groups_per_core\":4", "launches[0].shapes[0].rounds"),
        ("\"runs\":1,\"inputs\":1", "\"runs\":9,\"inputs\":1", "times"),
        ("\"inputs\":1", "\"inputs\":2", "times"),
        ("\"origin\":\"measured\"", "\"origin\":\"proved\"", "times.origin"),
        ("\"pc\":4,\"max\":4", "\"pc\":4,\"max\":5", "loops[0]"),
        ("\"origin\":\"user\"", "\"origin\":\"observed\"", "status"),
        ("\"pcs\":[null,4", "\"pcs\":[null,5", "graph.pcs[1]"),
        ("\"splits\":[]", "\"splits\":[4]", "splits"),
    ] {
        assert!(example().contains(old), "{old}");
        match checked(&example().replacen(old, new, 1)) {
            Err(CheckError::Binding { place: found, .. }) => assert_eq!(found, place, "{old}"),
            other => panic!("{old} → {new}: {other:?}"),
        }
    }
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
        let error = checked(&text).expect_err("refused");
        assert!(!matches!(error, CheckError::Syntax(_)), "{old} {new}: {error}");
    }
}

#[test]
fn graphs_that_make_no_sense_are_refused() {
    let change = |old: &str, new: &str| {
        assert!(example().contains(old));
        checked(&example().replace(old, new)).expect_err("refused")
    };
    assert!(matches!(change("\"exit\":3", "\"exit\":4"), CheckError::Index { .. }));
    assert!(matches!(change("\"exit\":3", "\"exit\":1"), CheckError::LeavesExit { edge: 1 }));
    assert_eq!(change("\"from\":1,\"to\":3", "\"from\":1,\"to\":1"), CheckError::NoWay);
    assert!(matches!(change("\"back\":[2]", "\"back\":[2,2]"), CheckError::Twice { .. }));
    assert!(matches!(change("\"back\":[2]", "\"back\":[0]"), CheckError::LoopEdges { which: "back", .. }));
    assert!(matches!(change("\"limits\":[]}", "\"limits\":[1]}"), CheckError::Length { .. }));
    assert!(matches!(change("\"limits\":[]}", "\"surprise\":1,\"limits\":[]}"), CheckError::Syntax(_)));
    assert!(matches!(
        change("\"version\":2,\"about\"", "\"version\":9,\"about\""),
        CheckError::Version { .. }
    ));
}
