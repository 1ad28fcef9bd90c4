//! The table has the entries of the header in the header's order. The header comes from Debian's packages; without it, only under CI is
//! that a failure.

/// Names of the entries of `struct _cl_icd_dispatch`.
fn entries(header: &str) -> Vec<&str> {
    let (_, rest) = header.split_once("typedef struct _cl_icd_dispatch {").expect("the table");
    let (body, _) = rest.split_once("} cl_icd_dispatch;").expect("its end");
    body.split(';')
        .filter_map(|entry| entry.split_whitespace().last())
        .filter(|n| n.starts_with("cl"))
        .collect()
}

#[test]
fn the_table_has_the_order_of_the_header() {
    let Ok(header) = std::fs::read_to_string("/usr/include/CL/cl_icd.h") else {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "opencl-c-headers is missing: scripts/install-test-tools.sh"
        );
        eprintln!("no header: the table is not compared");
        return;
    };
    let wanted = entries(&header);
    assert!(wanted.len() > 140, "only {} entries", wanted.len());
    assert_eq!(wb_cl::NAMES, wanted);
}

#[test]
fn the_comparison_can_fail() {
    let header = "typedef struct _cl_icd_dispatch {\n  /* 1.0 */\n  cl_api_clA clA;\n  cl_api_clB\n    clB;\n} cl_icd_dispatch;";
    assert_eq!(entries(header), ["clA", "clB"]);
}
