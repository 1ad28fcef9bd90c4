//! Bounds from times that come from files, placements of splits, and machines other than GCN3, as a user sees them.

use crate::common;

use common::{NEST, control, failure, folder, json, number, repository, stdout};
use serde_json::Value;

/// What `wcet --json` says about the only kernel.
fn kernel(args: &[&str]) -> Value {
    let all = json(args);
    assert_eq!(all["kernels"].as_array().map(Vec::len), Some(1), "{all}");
    all["kernels"][0].clone()
}

fn file(folder_name: &str, name: &str) -> String {
    folder(folder_name).join(name).display().to_string()
}

#[test]
fn a_trace_gives_the_bound_of_the_runs() {
    let object = control();
    let base = [&["wcet", &object], NEST, &["--runs", "3", "--json", "--segments"]].concat();
    for name in ["nest.csv", "nest.parquet"] {
        let trace = file("bounds-trace", name);
        let runs = kernel(&[&base[..], &["--write-trace", &trace]].concat());
        let again = kernel(&[&base[..], &["--trace", &trace]].concat());
        assert_eq!((&runs["times"], &again["times"]), (&"measured".into(), &"trace".into()));
        for key in ["bound", "observed", "wave_bound", "status", "worst"] {
            assert_eq!(runs[key], again[key], "{name}: {key}");
        }
    }
    // What the file says counts: a slower last step makes the bound longer.
    let trace = file("bounds-trace", "nest.csv");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let titles = text.lines().find(|l| !l.starts_with('#')).expect("titles").to_owned();
    let column = |name: &str| titles.split(',').position(|t| t == name).expect("a column");
    let slow = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if cells.get(column("point")).is_some_and(|p| p == "end") {
            for c in [column("cycle"), column("leave")] {
                cells[c] = cells[c].parse::<u64>().map_or(cells[c].clone(), |n| (n + 1000).to_string());
            }
        }
        cells.join(",")
    };
    let slower = file("bounds-trace", "slower.csv");
    std::fs::write(&slower, text.lines().map(|l| slow(l) + "\n").collect::<String>()).expect("written");
    let bound = |file: &str| number(&kernel(&[&base[..], &["--trace", file]].concat())["wave_bound"]);
    assert_eq!(bound(&slower), bound(&trace) + 1000);
    // Other code, other rows.
    let stale = file("bounds-trace", "stale.csv");
    std::fs::write(&stale, text.replacen("xxh3:", "xxh3:f", 1)).expect("written");
    assert!(failure(&[&base[..], &["--trace", &stale]].concat()).contains("other code"));
    let broken = file("bounds-trace", "broken.csv");
    std::fs::write(&broken, text.replacen(",end,", ",nowhere,", 1)).expect("written");
    let error = failure(&[&base[..], &["--trace", &broken]].concat());
    assert!(error.contains("nowhere") && error.contains("broken.csv"), "{error}");
}

#[test]
fn a_trace_of_several_kernels_is_a_file_each() {
    let object = repository("fixtures/gcn3/basic.O2.co");
    let text = format!(
        "object = {object:?}\n[buffers.x]\ntype = \"f32\"\nlength = 128\nfrom = \"uniform=0..1,3\"\n\
         [buffers.y]\ntype = \"f32\"\nlength = 128\n[buffers.n]\ntype = \"u32\"\nlength = 128\nfrom = \"iota\"\n\
         [buffers.steps]\ntype = \"u32\"\nlength = 128\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 128\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:128\"]\n\
         [[launch]]\nkernel = \"collatz\"\ngrid = 128\ngroup = 64\nargs = [\"n\", \"steps\", \"u32:20\"]\n"
    );
    let launch = file("bounds-launch", "launch.toml");
    std::fs::write(&launch, text).expect("launch file");
    let base = ["wcet", &launch, "--unmeasured", "exclude", "--segments", "--json"];
    let trace = file("bounds-launch", "t.csv");
    let runs = json(&[&base[..], &["--write-trace", &trace]].concat());
    let parts = ["saxpy", "collatz"].map(|k| file("bounds-launch", &format!("t-{k}.csv")));
    let again = json(&[&base[..], &["--trace", &parts[0], "--trace", &parts[1]]].concat());
    assert_eq!((&runs["bound"], &runs["observed"]), (&again["bound"], &again["observed"]));
    assert!(number(&runs["bound"]) >= number(&runs["observed"]));
    // A kernel without a trace is named.
    let error = failure(&[&base[..], &["--trace", &parts[0]]].concat());
    assert!(error.contains("collatz"), "{error}");
}

#[test]
fn a_table_of_blocks_gives_what_the_table_says() {
    let object = control();
    let base = [&["wcet", &object], NEST].concat();
    let table = file("bounds-times", "nest.toml");
    stdout(&[&base[..], &["--times-template", &table]].concat());
    let holes = std::fs::read_to_string(&table).expect("a template");
    let error = failure(&[&base[..], &["--times", &table]].concat());
    assert!(error.contains("has no time for start"), "holes are not times: {error}");
    let bound = |cycles: &str| {
        std::fs::write(&table, holes.replace("\"?\"", cycles)).expect("written");
        kernel(&[&base[..], &["--times", &table, "--json"]].concat())
    };
    let (ten, twenty) = (bound("10"), bound("20"));
    assert_eq!(ten["status"], "given", "every loop limit is proven, no time is");
    // An all-zero table is no proof of anything.
    let zero = bound("0");
    assert_eq!((number(&zero["bound"]), &zero["status"]), (0, &"given".into()));
    let text = stdout(&[&base[..], &["--times", &table]].concat());
    assert!(text.contains("given: loop limits are proven or given; times are what the table says"), "{text}");
    assert!(!text.contains("status           proved"), "{text}");
    assert_eq!(number(&twenty["bound"]), 2 * number(&ten["bound"]), "a bound is linear in its times");
    assert_eq!(number(&ten["observed"]), 0);
    let page = file("bounds-times", "nest.html");
    stdout(&[&base[..], &["--times", &table, "--html", &page]].concat());
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("times are what the table says"), "the page says it");
    assert!(html.contains("nothing ran"), "the page says that nothing was observed");
    assert!(!html.contains("below 1 would be a mistake"), "and shows no ratio");
}

#[test]
fn the_model_is_written_as_a_linear_programme() {
    let object = control();
    let model = file("bounds-lp", "nest.lp");
    let v = kernel(&[&["wcet", &object], NEST, &["--lp", &model, "--json"]].concat());
    let text = std::fs::read_to_string(&model).expect("a model");
    for part in ["Maximize", "Subject To", "General", "End"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Every step of the worst way is a variable with its time as price.
    for step in v["worst"].as_array().expect("worst") {
        assert!(text.contains(&format!("+ {} e_", number(&step["cycles"]))), "{step}");
    }
}

#[test]
fn the_best_places_are_marked_and_hold() {
    let object = control();
    let out = file("bounds-optimal", "nest.co");
    let launch = &NEST[2..];
    let how = ["--optimal", "--s", "3", "-o", &out];
    let text = stdout(&[&["split", &object, "--kernel", "nest"], launch, &how].concat());
    for part in ["without splitting: bound ", "placements for up to 3 contexts", "counted on", " % less"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let bound = |file: &str, more: &[&str]| {
        let v = kernel(&[&["wcet", file], NEST, more, &["--json", "--segments"]].concat());
        (number(&v["bound"]), number(&v["observed"]))
    };
    let pws = ["--mechanism", "pws", "--s", "3"];
    let (before, after) = (bound(&object, &[]), bound(&out, &pws));
    assert!(after.0 < before.0 && after.1 <= after.0, "{before:?} {after:?}");
    // The announcement is the bound that the marked file then has.
    assert!(text.contains(&format!("bound {} → {} cycles", before.0, after.0)), "{after:?}: {text}");
    let run = |file: &str, more: &[&str]| {
        json(&[&["run", file, "--show", "arg1", "--json"], NEST, more].concat())["memory"].clone()
    };
    assert_eq!(run(&object, &[]), run(&out, &pws), "the marked kernel computes the same");
}

#[test]
fn teaching_machines_have_bounds_too() {
    let guppy = repository("filetests/guppy/mechanism/many-waves.guppy");
    let views = ["--grid", "256", "--view", "u0=buf:u32:256", "--view", "t0=u0", "--set", "core.lanes=4"];
    let base = [&["wcet", &guppy], &views[..]].concat();
    let error = failure(&base);
    assert!(
        error.contains("no limit is known for the loop") && error.contains("many-waves.guppy"),
        "{error}"
    );
    let v = kernel(&[&base[..], &["--facts-from-trace", "--json"]].concat());
    assert_eq!(v["status"], "observed");
    assert!(number(&v["bound"]) >= number(&v["observed"]) && number(&v["observed"]) > 0, "{v}");
    // Sides that the hardware serialises: every way must have been taken, or be accepted.
    let nested = repository("filetests/guppy/mechanism/branch-nested.guppy");
    assert!(failure(&["wcet", &nested, "--grid", "64"]).contains("no run took 6 ways"));
    let text = stdout(&["wcet", &nested, "--grid", "64", "--unmeasured", "exclude"]);
    assert!(text.contains("status         observed"), "{text}");
    let split = repository("filetests/harp/mechanism/if-else.harp");
    assert!(failure(&["wcet", &split]).contains("the hardware decides which side"), "split and join");
}

#[test]
fn a_call_to_code_that_branches_is_only_observed() {
    let program = |body: &str| {
        format!(
            ".perm x\n.entry\n.global\nentry: ldi %r2, #4\n jali %r5, work\n halt\nwork: ldi %r0, #9\n{body} jmpr %r5\n"
        )
    };
    let source = file("bounds-calls", "call.harp");
    let wcet = |body: &str| {
        std::fs::write(&source, program(body)).expect("written");
        kernel(&["wcet", &source, "--json"])
    };
    let straight = wcet(" subi %r0, %r0, #1\n");
    let around = wcet("again: subi %r0, %r0, #1\n rtop @p0, %r0\n @p0 ? jmpi again\n");
    assert_eq!((&straight["status"], &around["status"]), (&"hybrid".into(), &"observed".into()));
    let said = |v: &Value| v["assumptions"].to_string().contains("its branches and loops are not bounded");
    assert_eq!((said(&straight), said(&around)), (false, true));
}
