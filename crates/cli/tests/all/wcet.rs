//! `wavebound wcet` and `check-bound` as a user sees them: text, JSON, HTML, certificates, deadlines, facts, gaps, launch files.

use crate::common;

use common::{NEST, control, failure, folder, json, number, repository, stdout, wavebound};
use serde_json::Value;
use std::collections::BTreeSet;

/// `wcet` of the kernel `nest` with more options.
fn nest<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["wcet", file], NEST, &["--runs", "3", "--hybrid"], more].concat()
}

/// Follows the tags of a page: every one that is opened is closed, in order. Gives the text in between.
fn balanced(page: &str) -> String {
    let mut open: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a page");
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags close in order");
        } else if !tag.ends_with('/') {
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
            open.push(tag.split_whitespace().next().expect("a name").to_owned());
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    text
}

#[test]
fn the_tag_check_can_fail() {
    for bad in ["<!DOCTYPE html><p><b></p></b>", "<!DOCTYPE html><p>", "<!DOCTYPE html><p a=\"></p>"] {
        assert!(std::panic::catch_unwind(|| balanced(bad)).is_err(), "{bad}");
    }
}

#[test]
fn text_says_what_was_asked_first_and_assumptions_last() {
    let file = control();
    let text = stdout(&nest(&file, &["--paper"]));
    let parts = [
        "kernel nest of control.O2.co on gcn3",
        "  bound ",
        "  observed ",
        "  status           hybrid",
        "loops",
        "at most 30 rounds (proved)",
        "worst way of a wave",
        "blocks by what they add",
        "divergent branches",
        "as published (not repaired",
        "coverage: 3 runs, 3 launches measured, 12 waves",
        "assumptions",
        "inputs",
        "cycles = ",
    ];
    let mut at = 0;
    for part in parts {
        at += text[at..].find(part).unwrap_or_else(|| panic!("`{part}` in its place in\n{text}"));
    }
    assert!(!stdout(&nest(&file, &[])).contains("as published"), "published formulas only when asked for");
    assert_eq!(text, stdout(&nest(&file, &["--paper"])), "same runs, same bytes");
}

#[test]
fn json_adds_up() {
    let file = control();
    let v = json(&nest(&file, &["--json", "--segments"]));
    assert_eq!(v["version"], 2);
    let k = &v["kernels"][0];
    assert_eq!((k["kernel"].as_str(), k["file"].as_str()), (Some("nest"), Some("control.O2.co")));
    assert_eq!(k["status"], "hybrid");
    assert_eq!(v["bound"], k["bound"]);
    let list = |name: &str| k[name].as_array().unwrap_or_else(|| panic!("{name}")).clone();
    let launches = list("launches");
    assert_eq!(launches.len(), 1, "three runs of one launch are one launch");
    assert_eq!((number(&launches[0]["runs"]), number(&k["distinct_inputs"])), (3, 3));
    assert_eq!(launches.iter().map(|l| number(&l["bound"])).sum::<u64>(), number(&k["bound"]));
    for l in &launches {
        assert!(number(&l["bound"]) >= number(&l["observed"]), "{l}");
        assert_eq!(number(&l["bound"]), number(&l["rounds"]) * number(&k["wave_bound"]));
    }
    let worst = list("worst");
    assert_eq!(worst.iter().map(|s| number(&s["total"])).sum::<u64>(), number(&k["wave_bound"]));
    let cycles: f64 = list("blocks").iter().filter_map(|b| b["cycles"].as_f64()).sum();
    let start: u64 = worst.iter().filter(|s| s["from"].is_null()).map(|s| number(&s["total"])).sum();
    let bound = number(&k["wave_bound"]) as f64;
    assert!(
        (cycles + start as f64 - bound).abs() < 1.0,
        "{cycles} and {start} before the first block of {bound}"
    );
    let lines: f64 = list("sources")
        .iter()
        .flat_map(|s| s["lines"].as_array().expect("lines").clone())
        .filter_map(|l| l["cycles"].as_f64())
        .sum();
    assert!((lines - cycles).abs() < 1.0, "every instruction has a line: {lines} of {cycles}");
    assert!(number(&k["wave_bound_by_blocks"]) >= number(&k["wave_bound"]));
    assert!(number(&k["bound_by_blocks"]) >= number(&k["bound"]));
    // What flows into a block in the runs flows out of it, but for its first and last one.
    let edges = list("edges");
    let sum = |end: &str, block: &Value| -> u64 {
        edges.iter().filter(|e| e[end] == *block).map(|e| number(&e["taken"])).sum()
    };
    let blocks = list("blocks");
    let inner: Vec<&Value> =
        blocks.iter().map(|b| &b["block"]).filter(|b| sum("to", b) > 0 && sum("from", b) > 0).collect();
    assert!(inner.len() > 10, "{inner:?}");
    assert!(inner.iter().all(|b| sum("to", b) == sum("from", b)), "{edges:?}");
    assert!(edges.iter().any(|e| e["worst"] == true && number(&e["count"]) == 31), "{edges:?}");
}

/// Own time and waits beside segments: the smaller one is the bound, and it is the sum of its parts.
#[test]
fn the_better_hybrid_bound_is_printed() {
    let file = control();
    let v = json(&nest(&file, &["--json"]));
    let (k, segments) = (&v["kernels"][0], json(&nest(&file, &["--json", "--segments"])));
    assert_eq!((k["status"].as_str(), k["hybrid_by"].as_str()), (Some("hybrid"), Some("own time and waits")));
    assert_eq!(segments["kernels"][0]["hybrid_by"], "segments");
    assert_eq!(k["segment_bound"], segments["bound"]);
    assert_eq!(k["bound"], k["composed"]["bound"]);
    let (bound, longer) = (number(&k["bound"]), number(&k["segment_bound"]));
    assert!(number(&k["observed"]) <= bound && bound < longer, "{bound} {longer}");
    let terms = k["composed"]["terms"].as_array().expect("terms");
    let sum: u64 = terms.iter().map(|t| number(&t["cycles"])).sum();
    assert!(sum.abs_diff(bound) <= 3, "{sum} of {bound}: every term is rounded");
    assert!(number(&k["composed"]["heaviest"]) >= bound);
    let text = stdout(&nest(&file, &[]));
    for part in [format!("segments   {longer:>12} cycles"), format!("own, waits {bound:>12} cycles")] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert!(text.contains("waits are MEASURED") && !text.contains("longest measured time of each"), "{text}");
}

#[test]
fn what_a_split_would_bring_is_near_what_it_brings() {
    let file = control();
    let splitting = ["--machine", "pws", "--mechanism", "pws", "--set", "frontend.kind=perfect", "--json"];
    let run = |more: &[&str]| json(&nest(&file, &[&splitting, more].concat()));
    let branch = |v: &Value, line: &str| -> Value {
        let all = v["kernels"][0]["branches"].as_array().expect("branches").clone();
        let found = all.into_iter().find(|b| b["branch"]["source"] == line && b["markable"] == true);
        found.unwrap_or_else(|| panic!("a branch of {line}: {v}"))
    };
    let before = run(&["--s", "1"]);
    let row = branch(&before, "control.cl:7");
    assert_eq!((row["marked"].as_bool(), row["sure"].as_bool()), (Some(false), Some(false)));
    let (with, without) = (number(&row["with"]), number(&row["without"]));
    assert!(row["note"].as_str().is_some_and(|n| n.contains("estimate")), "{row}");
    assert_eq!(without, number(&before["kernels"][0]["wave_bound_by_blocks"]));
    assert!(with < without, "both sides at once: {row}");
    let after = run(&["--s", "1", "--split-at", "0x26c8"]);
    let measured = number(&after["kernels"][0]["wave_bound_by_blocks"]);
    assert!(measured.abs_diff(with) * 5 < with, "measured {measured}, expected {with}");
    let row = branch(&after, "control.cl:7");
    assert_eq!((row["sure"].as_bool(), number(&row["with"])), (Some(true), measured));
    // One context is taken: a branch inside cannot count on another.
    assert!(branch(&after, "control.cl:8")["with"].is_null());
    // A machine without contexts has nothing to say.
    assert!(branch(&run(&["--s", "0"]), "control.cl:7")["with"].is_null());
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let file = control();
    let path = folder("wcet-html").join("nest.html").display().to_string();
    let split = ["--machine", "pws", "--mechanism", "pws", "--s", "3", "--split-at", "0x26c8"];
    let with = |more: &[&str]| {
        let args = [&split[..], &["--html", &path], more].concat();
        wavebound(&nest(&file, &args)).status.code()
    };
    assert_eq!(with(&["--deadline", "1"]), Some(3));
    let page = std::fs::read_to_string(&path).expect("page");
    let text = balanced(&page);
    assert!(text.contains("MISSED"));
    for bad in ["http", "<script", "<link", "<img", "src=", "url("] {
        assert!(!page.contains(bad), "{bad} in the page");
    }
    let folders = [env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR")];
    assert!(folders.iter().all(|f| !page.contains(f)), "no folders in the page");
    let parts = [
        "Control flow",
        "Worst way of a wave",
        "Source",
        "Assembly",
        "Loops",
        "Divergent branches",
        "Launches",
        "Published formulas",
        "As published, not repaired",
        "Coverage",
        "Assumptions",
        "Inputs",
        "Valid.",
        "How to reproduce",
        "wavebound wcet control.O2.co --kernel nest",
        "for (uint k = 0; k &lt; (x &amp; 31); k++) {",
        "s_cbranch_execz",
        "splits, counted on",
    ];
    for part in parts {
        assert!(text.contains(part), "`{part}` in the page");
    }
    // Anchors of links are there; the worst way is drawn.
    let ids: BTreeSet<&str> = page.split(" id=\"").skip(1).filter_map(|r| r.split('"').next()).collect();
    let links = page.split("href=\"#").skip(1).filter_map(|r| r.split('"').next());
    assert!(links.into_iter().all(|l| ids.contains(l)));
    assert!(page.contains("class=\"edge worst\"") && page.contains("prefers-color-scheme: dark"));
    assert_eq!(with(&["--deadline", "1s"]), Some(0));
    assert!(std::fs::read_to_string(&path).expect("page").contains(">met<"));
}

#[test]
fn names_in_a_program_cannot_become_tags() {
    let source = ".kernel k\n.arg buf out\n  v_mov_b32 v0, 1 ; <script>\"'&\n  s_endpgm\n";
    let dir = folder("wcet-escape");
    let file = dir.join("a<b>&'c'.s");
    std::fs::write(&file, source).expect("source");
    let page = dir.join("page.html").display().to_string();
    stdout(&["wcet", &file.display().to_string(), "--arg", "buf:u32:64", "--html", &page]);
    let page = std::fs::read_to_string(&page).expect("page");
    let text = balanced(&page);
    assert!(text.contains("a&lt;b&gt;&amp;&#39;c&#39;.s") && text.contains("&lt;script&gt;"), "{text}");
    assert!(!page.contains("<script") && !page.contains("<b>"));
}

#[test]
fn deadlines_decide_the_exit_code() {
    let file = control();
    let bound = number(&json(&nest(&file, &["--json"]))["bound"]);
    let code = |deadline: &str| wavebound(&nest(&file, &["--deadline", deadline])).status.code();
    assert_eq!(code(&bound.to_string()), Some(0));
    assert_eq!(code(&(bound - 1).to_string()), Some(3));
    assert_eq!((code("1ns"), code("1s")), (Some(3), Some(0)));
    let v = json(&nest(&file, &["--deadline", "1s", "--json"]));
    assert_eq!((v["met"].as_bool(), number(&v["deadline"])), (Some(true), 1_000_000_000));
    assert!(failure(&nest(&file, &["--deadline", "soon"])).contains("50us"));
}

const WHILES: &[&str] = &[
    "--kernel",
    "whiles",
    "--grid",
    "256",
    "--group",
    "64",
    "--arg",
    "buf:u32:256:random=1",
    "--arg",
    "buf:u32:256",
];

#[test]
fn loops_need_limits_and_facts_must_be_current() {
    let file = control();
    let args = [&["wcet", &file], WHILES, &["--hybrid"]].concat();
    let error = failure(&args);
    for part in [
        "no limit is known for the loops at 0x30e8",
        "at = \"0x30e8\"",
        "--facts-from-trace",
        "checksum = \"xxh3:",
    ] {
        assert!(error.contains(part), "`{part}` in {error}");
    }
    let facts = folder("wcet-facts").join("whiles.toml").display().to_string();
    stdout(&["facts", &file, "--kernel", "whiles", "-o", &facts]);
    let text = std::fs::read_to_string(&facts).expect("facts").replace("\"?\"", "20");
    let with = |text: &str| {
        std::fs::write(&facts, text).expect("write");
        [&args[..], &["--facts", &facts, "--unmeasured", "exclude"]].concat()
    };
    let stale = text.replace("checksum = \"xxh3:", "checksum = \"xxh3:f");
    assert!(failure(&with(&stale)).contains("stale"));
    let ok = stdout(&with(&text));
    assert!(ok.contains("said by the facts file") && ok.contains("at most 20 rounds (user)"), "{ok}");
    // A limit below what runs do is refused, also where a bound could be proved with it.
    std::fs::write(&facts, text.replace("max = 20", "max = 0")).expect("write");
    let wrong =
        failure(&[&["wcet", &file], WHILES, &["--facts", &facts, "--unmeasured", "exclude"]].concat());
    assert!(wrong.contains("but a run went round"), "{wrong}");
    assert!(failure(&with(&text.replace("max = 20", "max = 0"))).contains("but a run went round"));
    let seen = [&args[..], &["--facts-from-trace", "--unmeasured", "exclude"]].concat();
    assert!(stdout(&seen).contains("observed, not proven"));
}

#[test]
fn ways_that_no_run_took_are_an_error_or_an_assumption() {
    let file = control();
    let launch = ["--kernel", "switches", "--grid", "256", "--group", "64"];
    let values = ["--arg", "buf:u32:256:const=1", "--arg", "buf:u32:256", "--arg", "u32:8"];
    let base = [&["wcet", &file], &launch[..], &values, &["--segments"]].concat();
    let call = |how: &str| stdout(&[&base[..], &["--unmeasured", how]].concat());
    let error = failure(&base);
    assert!(error.contains("no run took 6 ways") && error.contains("--unmeasured exclude"), "{error}");
    assert!(call("exclude").contains("status         observed"));
    let costed = call("500");
    assert!(costed.contains("at most 500 cycles") && costed.contains("status           hybrid"), "{costed}");
    assert_eq!(wavebound(&["wcet", &file, "--unmeasured", "perhaps"]).status.code(), Some(2));
}

#[test]
fn launch_files_bound_every_kernel() {
    let dir = folder("wcet-launch");
    let object = repository("fixtures/gcn3/basic.O2.co");
    let text = format!(
        "object = {object:?}\n\
         [buffers.x]\ntype = \"f32\"\nlength = 256\nfrom = \"uniform=0..1,3\"\n\
         [buffers.y]\ntype = \"f32\"\nlength = 256\n\
         [buffers.n]\ntype = \"u32\"\nlength = 256\nfrom = \"iota\"\n\
         [buffers.steps]\ntype = \"u32\"\nlength = 256\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 256\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:256\"]\n\
         [[launch]]\nkernel = \"collatz\"\ngrid = 256\ngroup = 64\nargs = [\"n\", \"steps\", \"u32:20\"]\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 128\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:100\"]\n"
    );
    let file = dir.join("launch.toml").display().to_string();
    std::fs::write(&file, text).expect("launch file");
    let (page, certificate) =
        (dir.join("all.html").display().to_string(), dir.join("c.json").display().to_string());
    let options = ["--unmeasured", "exclude", "--html", &page, "--certificate", &certificate];
    let v = json(&[&["wcet", &file, "--json"], &options[..]].concat());
    let kernels = v["kernels"].as_array().expect("kernels");
    let names: Vec<&str> = kernels.iter().filter_map(|k| k["kernel"].as_str()).collect();
    assert_eq!(names, ["saxpy", "collatz"], "in the order of their first launch");
    assert_eq!(kernels[0]["launches"].as_array().map(Vec::len), Some(2));
    assert_eq!(kernels.iter().map(|k| number(&k["bound"])).sum::<u64>(), number(&v["bound"]));
    let checked: Vec<String> =
        names.iter().map(|n| dir.join(format!("c-{n}.json")).display().to_string()).collect();
    stdout(&["check-bound", &checked[1]]);
    // The time of saxpy is the same for all contents: its certificate is checked by running the launches.
    assert_eq!(
        (kernels[0]["status"].as_str(), kernels[1]["status"].as_str() == Some("exact")),
        (Some("exact"), false)
    );
    let text = stdout(&["check-bound", &checked[0], "--program", &file]);
    assert!(text.contains("takes exactly"), "{text}");
    let alone = wavebound(&["check-bound", &checked[0]]);
    assert!(!alone.status.success() && String::from_utf8_lossy(&alone.stdout).contains("running the launch"));
    let text = balanced(&std::fs::read_to_string(&page).expect("page"));
    assert!(text.contains("All kernels") && text.contains("basic.O2.co"));
    assert!(stdout(&[&["wcet", &file], &options[..]].concat()).contains("all kernels: bound"));
}

/// A loop that nobody proves a limit of, and that no contents decide: the run counts it.
#[test]
fn an_exact_bound_needs_no_limits() {
    let dir = folder("wcet-exact");
    let source = "\n.kernel k\n.arg buf a\n  s_movk_i32 s12, 3\nagain:\n  s_mul_i32 s12, s12, 5\n  s_xor_b32 s12, s12, 9\n  \
                  s_cmp_lt_u32 s12, 0x8000\n  s_cbranch_scc1 again\n  s_endpgm\n";
    let file = dir.join("odd.s").display().to_string();
    std::fs::write(&file, source).expect("source");
    let certificate = dir.join("odd.json").display().to_string();
    let launch = [&file, "--grid", "64", "--group", "64", "--arg", "buf:u32:64:random=1"];
    let error = failure(&[&["wcet"], &launch[..], &["--hybrid"]].concat());
    assert!(error.contains("no limit is known"), "{error}");
    let found = json(&[&["wcet"], &launch[..], &["--certificate", &certificate, "--json"]].concat());
    let kernel = &found["kernels"][0];
    assert_eq!(
        (kernel["status"].as_str(), kernel["hybrid_bound"].is_null()),
        (Some("exact"), true),
        "{kernel}"
    );
    assert_eq!(number(&kernel["bound"]), number(&kernel["observed"]));
    // Other contents are the same launch.
    let other = ["--grid", "64", "--group", "64", "--arg", "buf:u32:64:random=2"];
    let text = stdout(&[&["check-bound", &certificate, "--program", &file], &other[..]].concat());
    assert!(text.contains("takes exactly") && !text.contains("NOT verified"), "{text}");
    let wider = ["--grid", "128", "--group", "64", "--arg", "buf:u32:64:random=1"];
    assert!(
        !wavebound(&[&["check-bound", &certificate, "--program", &file], &wider[..]].concat())
            .status
            .success()
    );
}
