//! `wavebound cfg` and `wavebound facts`: every format and instruction set, files that are filled in and checked, and the
//! errors for flow that cannot be bounded.

use crate::common;

use common::{failure, folder, json, repository, stdout};
use std::path::Path;

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("file");
    path.display().to_string()
}

/// A loop up to the argument, and one that memory decides.
const LOOPS: &str = ".kernel k
.arg i32 n
.arg buf flag
  s_load_dword s4, s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x8
  s_mov_b32 s5, 0
  s_waitcnt lgkmcnt(0)
count:
  s_add_i32 s5, s5, 1
  s_cmp_lt_i32 s5, s4
  s_cbranch_scc1 count
wait:
  s_load_dword s7, s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 wait
  s_endpgm
";

#[test]
fn graphs_in_every_format() {
    let object = repository("fixtures/gcn3/control.O2.co");
    let kernel = ["cfg", &object, "--kernel", "nest"];
    let text = stdout(&kernel);
    for part in [
        "17 blocks",
        "control.cl:21",
        "(next on mask, back)",
        "lanes meet in 16, markable",
        "not markable: ",
        "loop at block 4",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let g = json(&[&kernel[..], &["--format", "json"]].concat());
    assert_eq!(
        (g["version"].as_u64(), g["isa"].as_str(), g["kernel"].as_str()),
        (Some(1), Some("gcn3"), Some("nest"))
    );
    let blocks = g["blocks"].as_array().expect("blocks");
    assert_eq!(blocks.len(), 17);
    assert_eq!(blocks[3]["loop"], 4);
    assert_eq!((&blocks[1]["dominator"], &blocks[0]["post_dominator"]), (&0.into(), &16.into()));
    let back: Vec<_> = g["edges"].as_array().expect("edges").iter().filter(|e| e["back"] == true).collect();
    assert_eq!(back.len(), 1);
    assert_eq!((&back[0]["from"], &back[0]["to"], &back[0]["on"]), (&3.into(), &4.into(), &"mask".into()));
    assert_eq!(g["loops"][0]["latches"], serde_json::json!([3]));
    assert_eq!(g["tree"]["kind"], "kernel");
    assert!(g["problem"].is_null());
    let dot = stdout(&[&kernel[..], &["--format", "dot"]].concat());
    assert!(
        dot.starts_with("digraph \"nest\" {") && dot.contains("b3 -> b4 [") && dot.ends_with("}\n"),
        "{dot}"
    );
    let out = folder("flow").join("nest.svg").display().to_string();
    stdout(&[&kernel[..], &["-o", &out]].concat());
    let svg = std::fs::read_to_string(&out).expect("svg");
    assert!(svg.starts_with("<svg ") && svg.contains("s_andn2_b64 exec, exec, s[4:5]"));
    assert!(failure(&["cfg", &object]).contains("kernels in the file: nest, leave"));
    assert!(failure(&["cfg", &object, "--kernel", "none"]).contains("no kernel `none`"));
    // Calls: the function is part of the graph, and what cannot be followed is said.
    let calls = repository("fixtures/gcn3/calls.O2.co");
    let g = json(&["cfg", &calls, "--kernel", "coprime", "--format", "json"]);
    assert!(g["calls"][0]["callee"].is_u64(), "{}", g["calls"]);
    // A return address that is put aside in lanes is followed.
    let text = stdout(&["cfg", &calls, "--kernel", "summaries"]);
    assert!(!text.contains("no bound can be computed: ") && text.contains("v_writelane_b32"), "{text}");
    let text = stdout(&["cfg", &calls, "--kernel", "nested_calls"]);
    assert!(text.contains("no bound can be computed: ") && text.contains("s_swappc_b64"), "{text}");
}

#[test]
fn graphs_of_every_instruction_set() {
    let harp = repository("crates/cli/programs/demo.harp");
    let text = stdout(&["cfg", &harp]);
    assert!(text.contains("(harp)") && text.contains("on lanes") && text.contains("demo.harp:"), "{text}");
    assert!(failure(&["cfg", &harp, "--kernel", "x"]).contains("only GCN3"));
    let dir = folder("flow");
    let guppy = write(
        &dir,
        "loop.guppy",
        "    mov r0.y, u(9)\n    push_mask DONE\nLOOP:\n    sub.u32 r0.y, r0.y, u(1)\n    mask_nz r0.y\n    jmp LOOP\nDONE:\n    ret\n",
    );
    let g = json(&["cfg", &guppy, "--format", "json"]);
    assert_eq!(g["loops"].as_array().map(Vec::len), Some(1), "{g}");
    assert!(g["edges"].as_array().expect("edges").iter().any(|e| e["on"] == "stack"), "{g}");
    let template = stdout(&["facts", &guppy]);
    assert!(template.contains("proven for GCN3 only") && template.contains("max = \"?\""), "{template}");
    assert!(stdout(&["cfg", &guppy, "--format", "svg"]).contains("LOOP"));
}

#[test]
fn a_facts_file_is_written_filled_in_and_checked() {
    let dir = folder("facts");
    let kernel = write(&dir, "loops.s", LOOPS);
    let file = dir.join("facts.toml").display().to_string();
    let launch = ["--arg", "i32:100", "--arg", "buf:u32:1"];
    stdout(&[&["facts", &kernel, "-o", &file], &launch[..]].concat());
    let text = std::fs::read_to_string(&file).expect("template");
    assert!(text.contains("# Proven, at most 99: s5 starts at 0, grows by 1 each round"), "{text}");
    assert!(text.contains("s4 is 100 (argument n)"), "{text}");
    let check = |file: &str| {
        [&["facts", &kernel, "--check", file], &launch[..]]
            .concat()
            .iter()
            .map(|s| s.to_string())
            .collect::<Vec<_>>()
    };
    let fails = |file: &str| failure(&check(file).iter().map(String::as_str).collect::<Vec<_>>());
    let error = fails(&file);
    assert!(error.contains("no number yet") && error.contains("facts.toml:"), "{error}");
    let filled = write(&dir, "filled.toml", &text.replace("\"?\"", "3"));
    let arguments = check(&filled);
    let said = stdout(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(
        said.contains("at most 99, proved")
            && said.contains("at most 3, user")
            && said.contains("all loops have a limit"),
        "{said}"
    );
    let ffx =
        write(&dir, "k.ffx", "<flowfacts><loop source=\"loops.s\" line=\"13\" maxcount=\"4\"/></flowfacts>");
    let arguments = check(&ffx);
    let said = stdout(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("at most 4, ffx"), "{said}");
    // Without the launch the first loop is not proven either.
    let error = failure(&["facts", &kernel, "--check", &filled]);
    assert!(
        error.contains("has no bound") && error.contains("[[loop]]") && error.contains("max = N"),
        "{error}"
    );
    let stale = write(&dir, "changed.s", &LOOPS.replace("s_mov_b32 s5, 0", "s_mov_b32 s5, 1"));
    let error = failure(&["facts", &stale, "--check", &filled]);
    assert!(error.contains("the facts are stale") && error.matches("xxh3:").count() >= 2, "{error}");
    let all = json(&[&["facts", &kernel, "--json"], &launch[..]].concat());
    assert_eq!((&all["loops"][0]["max"], &all["loops"][0]["origin"]), (&99.into(), &"proved".into()));
    assert!(all["loops"][1]["max"].is_null());
}

#[test]
fn flow_without_a_bound_is_an_error() {
    let dir = folder("bounds");
    let irreducible = "  s_cmp_lt_i32 s2, 3\n  s_cbranch_scc1 second\nfirst:\n  s_add_i32 s2, s2, 1\nsecond:\n  \
                       s_add_i32 s2, s2, 1\n  s_cmp_lt_i32 s2, 100\n  s_cbranch_scc1 first\n  s_endpgm\n";
    for (name, code, message, hint) in [
        ("two.s", irreducible, "the flow is irreducible", "give the loop one entry"),
        ("jump.s", "  s_setpc_b64 s[4:5]\n", "jumps through a register", "-fno-jump-tables"),
        ("call.s", "  s_swappc_b64 s[30:31], s[4:5]\n  s_endpgm\n", "calls through a register", "by name"),
    ] {
        let file = write(&dir, name, &format!(".kernel k\n{code}"));
        let error = failure(&["facts", &file]);
        assert!(error.contains(message) && error.contains(hint), "{error}");
        assert!(error.contains(&format!("{name}:")) && error.contains("0x"), "names the place: {error}");
        let shown = stdout(&["cfg", &file]);
        assert!(shown.contains("no bound can be computed: "), "{shown}");
    }
}
