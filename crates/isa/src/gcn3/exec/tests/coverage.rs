//! Every scalar and vector operation has a reference test: it is named in the tests beside this file or in those
//! of the vector ALU, as `Op::…` or in assembly, or it belongs to a family a test walks through.

use crate::gcn3::op::Op;
use std::fs;
use std::path::Path;

/// Tests that run operations without knowing what they should give.
const NO_REFERENCE: [&str; 3] = ["coverage.rs", "same.rs", "speed.rs"];

fn sources() -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gcn3");
    let mut text = String::new();
    for dir in ["exec/tests", "valu/tests"] {
        for entry in fs::read_dir(src.join(dir)).expect("tests") {
            let path = entry.expect("entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".rs") && !NO_REFERENCE.contains(&name.as_str()) {
                text += &fs::read_to_string(&path).expect("source");
            }
        }
    }
    text
}

/// Families whose names a test builds: comparisons by condition and type, scalar loads and stores by width.
fn walked(name: &str) -> bool {
    let scalar_memory = ["s_load_dword", "s_buffer_load_dword", "s_store_dword", "s_buffer_store_dword"];
    name.starts_with("v_cmp") && !name.contains("class")
        || scalar_memory.iter().any(|stem| name.strip_prefix(stem).is_some_and(|w| w.len() <= 3))
}

/// The words of a text: names of operations and everything else.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

fn untested(text: &str) -> Vec<&'static str> {
    let words: std::collections::BTreeSet<&str> = words(text).into_iter().collect();
    let alu = Op::all().filter(|op| op.name().starts_with("v_") || op.name().starts_with("s_"));
    alu.filter(|op| !words.contains(format!("{op:?}").as_str()) && !words.contains(op.name()))
        .map(Op::name)
        .filter(|name| !walked(name))
        .collect()
}

#[test]
fn every_operation_has_a_reference_test() {
    let missing = untested(&sources());
    assert!(missing.is_empty(), "operations without a test: {}", missing.join(" "));
}

#[test]
fn the_coverage_check_can_fail() {
    let missing = untested("check(Op::VAddF32, …) m.ok(asm(\"s_nop 0\"))");
    assert!(missing.contains(&"v_sub_f32") && missing.contains(&"s_endpgm"));
    assert!(!missing.contains(&"v_add_f32") && !missing.contains(&"s_nop"));
}
