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

/// Operations of later generations that have no reference yet, and those that are refused by name. The list may only shrink: a
/// name that is tested must go.
const WITHOUT: [&str; 0] = [];

/// Families of them: matrices by their shape, scalar atomics and private memory by kind and width, shifts by their number.
fn family(name: &str) -> bool {
    ["v_mfma_", "v_smfmac_", "s_atomic_", "s_buffer_atomic_", "s_scratch_", "s_lshl"]
        .iter()
        .any(|p| name.starts_with(p))
}

#[test]
fn later_operations_have_reference_tests() {
    use crate::gcn3::gcn::Gcn;
    let text = sources();
    let words: std::collections::BTreeSet<&str> = words(&text).into_iter().collect();
    let mut missing = Vec::new();
    for op in crate::gcn3::TABLE.iter().filter(|e| e.since > Gcn::Gfx8).map(|e| e.op) {
        let names = Gcn::ALL.map(|gcn| op.line(gcn).name);
        let alu = names[0].starts_with("v_") || names[0].starts_with("s_");
        let tested = names.iter().any(|n| words.contains(n));
        if alu && !tested && !family(names[0]) && !names.iter().any(|n| WITHOUT.contains(n)) {
            missing.push(names[5]);
        }
    }
    assert!(missing.is_empty(), "operations without a test: {}", missing.join(" "));
    let tested: Vec<&&str> = WITHOUT.iter().filter(|n| words.contains(**n) && !family(n)).collect();
    assert!(tested.is_empty(), "these have a test now: {tested:?}");
}
