//! Bounds from files: what runs pass, written and read again, gives the bound of the runs, under every mechanism; traces
//! and tables written by hand give bounds computed by hand; whatever is wrong in a file is said with its line.
use wb_testgen::parallel;

use parallel::in_parallel;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wb_bound::{
    KernelBound, KernelPoints, Options, Runs, Status, TimesTable, TraceFile, TraceFiles, TraceWriter,
    analyse, analyse_table, analyse_with, list_points, times_template,
};
use wb_jobs::object::SplitSpec;
use wb_jobs::{Job, JobSpec};
use wb_testgen::random::gcn3::{Setup, generate, job};
use wb_wcet::measure::Unmeasured;

const IF_ELSE: &str = ".kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split exec_lo, exec_hi
  s_cbranch_execz ELSE
THEN:
  v_mov_b32 v2, 10
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
SECOND:
  v_mov_b32 v2, 21
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_add_u32 v2, vcc, 1, v2
  s_endpgm
";

const LOOP: &str = ".kernel k
  s_mov_b32 s8, 0
LOOP:
  s_add_u32 s8, s8, 1
  s_cmp_lt_u32 s8, 10
  s_cbranch_scc1 LOOP
  s_endpgm
";

fn silent(_: &str, _: usize) {}

fn spec(sets: &[&str]) -> JobSpec {
    JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        machine: "pws".into(),
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        grid3: [64, 1, 1],
        group3: [64, 1, 1],
        ..JobSpec::default()
    }
}

fn assembly(text: &str, sets: &[&str]) -> Runs {
    Runs::Jobs(vec![
        Job::from_source("k.s", text, &spec(sets)).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e))),
    ])
}

const NONE: &[&str] = &["divergence.mechanism=none"];
const PWS: &[&str] =
    &["divergence.mechanism=pws", "split.contexts=1", "split.split_cycles=4", "split.merge_cycles=2"];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The bound from runs, whose rows are written.
fn observed(runs: &Runs, options: &Options, path: &Path) -> Result<KernelBound, String> {
    let mut writer = TraceWriter::new(path).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let files = TraceFiles { traces: &[], write: Some(&mut writer) };
    let found = analyse_with(runs, options, files, &mut silent)
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    assert_eq!(writer.finish().map_err(|e| format!("{:?}", miette::Report::new(e)))?, [path]);
    found.into_iter().next().ok_or_else(|| "no kernel".into())
}

fn from_file(runs: &Runs, options: &Options, paths: &[PathBuf]) -> Result<KernelBound, String> {
    let traces: Vec<TraceFile> = paths
        .iter()
        .map(|p| TraceFile::read(p))
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let files = TraceFiles { traces: &traces, write: None };
    let found = analyse_with(runs, options, files, &mut silent)
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    found.into_iter().next().ok_or_else(|| "no kernel".into())
}

/// Everything that does not depend on where the times come from.
fn essence(k: &KernelBound) -> Vec<String> {
    let worst = k.worst.iter().map(|s| format!("{:?} {:?} {}x{}", s.from, s.to, s.count, s.cycles));
    let c = &k.coverage;
    let loops = k.loops.iter().map(|l| format!("{:?} {} {:?} {}", l.header.pc, l.max, l.observed, l.whole));
    let mut list = vec![
        format!("bound {} wave {} by blocks {}", k.bound, k.wave_bound, k.wave_bound_by_blocks),
        format!("longest {} start {} splits {}", k.wave_observed, k.start_delay, k.splits),
        format!(
            "runs {} waves {} ways {:?} steps {:?} points {:?}",
            c.runs, c.waves, c.ways, c.steps, c.points
        ),
        format!("never skipped {} gaps {:?}", c.never_skipped, c.gaps),
        format!("sure {:?}", k.branches.iter().filter(|b| b.sure).map(|b| b.branch.pc).collect::<Vec<_>>()),
    ];
    list.extend(worst.chain(loops));
    list
}

/// Runs, CSV and Parquet agree, and the certificates hold.
fn agree(runs: &Runs, options: &Options, what: &str) -> Result<KernelBound, String> {
    let dir = folder();
    let mut bounds = Vec::new();
    for name in ["trace.csv", "trace.parquet"] {
        let path = dir.path().join(name);
        let runs_say = observed(runs, options, &path)?;
        let file_says = from_file(runs, options, &[path])?;
        let (a, b) = (essence(&runs_say), essence(&file_says));
        if let Some(at) = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i)) {
            return Err(format!("{what}, {name}:\n  runs {:?}\n  file {:?}", a.get(at), b.get(at)));
        }
        if file_says.times != "trace" || runs_say.times != "measured" {
            return Err(format!("{what}: times are {} and {}", runs_say.times, file_says.times));
        }
        if file_says.observed > runs_say.observed || file_says.observed == 0 {
            return Err(format!("{what}: observed {} and {}", runs_say.observed, file_says.observed));
        }
        for found in [&runs_say, &file_says] {
            match wb_check::check(&found.certificate) {
                Ok(r) if r.bound == found.wave_bound => {}
                other => return Err(format!("{what}, {name}: the certificate does not hold: {other:?}")),
            }
        }
        bounds.push(file_says);
    }
    if bounds[0].bound != bounds[1].bound {
        return Err(format!("{what}: CSV and Parquet differ"));
    }
    Ok(bounds.remove(0))
}

#[test]
fn files_say_what_runs_say_of_random_kernels() {
    // The first 20 numbers are one of each mechanism and its options; contexts change with the next digit.
    let all = std::env::var("WAVEBOUND_CAMPAIGN").ok().and_then(|n| n.parse().ok());
    let few = || (0..20).flat_map(|way| [way + 20 * 4, way + 20 * 11]).collect();
    let numbers: Vec<u64> = all.map_or_else(few, |n| (0..n).collect());
    let split = std::sync::Mutex::new(BTreeMap::<String, u64>::new());
    in_parallel(numbers.len() as u64, |i| {
        let n = numbers[i as usize];
        let length = 60 + n % 200;
        let numbers: Vec<u16> =
            (0..length).map(|i| (n.wrapping_mul(0x9e37).wrapping_add(i * 40_503) >> 3) as u16).collect();
        let (kernel, setup) = (generate(&numbers), Setup::number(n));
        let jobs = (0..2).map(|i| job(&kernel, &setup, i)).collect::<Result<Vec<_>, _>>()?;
        let options =
            Options { facts_from_trace: true, unmeasured: Unmeasured::Exclude, ..Options::default() };
        let found = agree(&Runs::Jobs(jobs), &options, &format!("case {n}, {setup}"))?;
        *split.lock().unwrap().entry(found.mechanism).or_default() += found.splits;
        Ok(())
    });
    let split = split.into_inner().unwrap();
    for mechanism in ["pws", "thesis", "dws"] {
        assert!(split.get(mechanism).is_some_and(|&n| n > 20), "{mechanism} hardly splits: {split:?}");
    }
}

#[test]
fn files_say_what_runs_say_of_fixtures() {
    let kernels: [(&str, &str, &[&str]); 3] = [
        ("basic.O2.co", "collatz", &["buf:u32:128:iota", "buf:u32:128", "u32:40"]),
        ("control.O2.co", "nest", &["buf:u32:128:random=5", "buf:u32:128"]),
        ("basic.O3.co", "collatz", &["buf:u32:128:iota", "buf:u32:128", "u32:40"]),
    ];
    for (object, kernel, args) in kernels {
        let path = format!("{}/../../fixtures/gcn3/{object}", env!("CARGO_MANIFEST_DIR"));
        for mechanism in ["none", "pws", "thesis", "dws"] {
            let mechanism_set = format!("divergence.mechanism={mechanism}");
            let style = if mechanism == "thesis" { wb_hw::MarkStyle::Thesis } else { wb_hw::MarkStyle::Pws };
            let all = matches!(mechanism, "pws" | "thesis");
            let spec = JobSpec {
                kernel: kernel.into(),
                args: args.iter().map(|a| (*a).into()).collect(),
                grid3: [128, 1, 1],
                split: SplitSpec { all, style, ..SplitSpec::default() },
                ..spec(&[&mechanism_set, "split.contexts=3"])
            };
            for all_points in [false, true] {
                let options = Options {
                    facts_from_trace: true,
                    unmeasured: Unmeasured::Exclude,
                    all_points,
                    ..Options::default()
                };
                let what = format!("{kernel} of {object} under {mechanism}");
                let job = Job::from_file(Path::new(&path), &spec)
                    .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
                agree(&Runs::Jobs(vec![job]), &options, &what).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }
}

/// Address of the first point whose reasons or text have `what`.
fn address(points: &KernelPoints, what: &str) -> String {
    let has = |p: &&wb_bound::PointRow| p.text.contains(what) || p.why.iter().any(|w| w.contains(what));
    let found = points.points.iter().find(has).unwrap_or_else(|| panic!("no point {what}: {points:?}"));
    format!("{:#x}", found.place.addr)
}

/// A trace of the if-else kernel with a split: path 1 is born at the branch and merges into path 0, which waits for it.
fn split_trace(runs: &Runs) -> String {
    let points = &list_points(runs).expect("points")[0];
    let at = |what: &str| address(points, what);
    let (entry, branch, then, join) = (at("entry"), at("execz ELSE"), at("v2, 10"), at("lanes of"));
    let (other, over, second) = (at("s_andn2_saveexec"), at("execz END"), at("v2, 21"));
    format!(
        "run,wave,path,point,cycle,leave\n\
         0,0,0,start,100,\n0,0,0,{entry},102,\n0,0,0,{branch},110,\n\
         0,0,1,{branch},110,\n0,0,1,{other},113,\n0,0,1,{over},116,\n0,0,1,{second},120,\n0,0,1,{join},160,\n\
         0,0,0,{then},112,\n0,0,0,{other},130,\n0,0,0,{over},135,\n0,0,0,{join},140,160\n0,0,0,end,170,\n"
    )
}

/// Writes a text and computes the bound from it.
fn bound_of(runs: &Runs, name: &str, text: &str) -> Result<KernelBound, String> {
    let dir = folder();
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("written");
    from_file(runs, &Options::default(), &[path])
}

#[test]
fn a_foreign_trace_with_a_split() {
    let runs = assembly(IF_ELSE, PWS);
    let text = split_trace(&runs);
    let found = bound_of(&runs, "t.csv", &text).unwrap_or_else(|e| panic!("{e}"));
    // To the branch 10; the second side is longer: 3, to its own branch at most 5, 4 and 40; from where they meet 10.
    assert_eq!((found.wave_bound, found.bound, found.observed), (72, 72, 70));
    assert_eq!((found.splits, found.most_paths, found.start_delay), (1, 2, 2));
    assert_eq!(found.status, Status::Hybrid);
    assert!(found.inputs.iter().any(|(name, _)| name.starts_with("trace ")), "{:?}", found.inputs);
    // Without splitting one side follows the other: 2 + 18 + 5 + 4 + 40.
    let found = bound_of(&assembly(IF_ELSE, NONE), "t.csv", &text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((found.wave_bound, found.observed), (89, 70));
    // So it is if nobody looks at the branch before the second side: who skips it and who does not cannot be told apart.
    let over = address(&list_points(&runs).expect("points")[0], "execz END");
    let fewer: Vec<&str> = text.lines().filter(|l| !l.contains(&over)).collect();
    let found = bound_of(&runs, "t.csv", &fewer.join("\n")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.wave_bound, 2 + 8 + 2 + 18 + 7 + 40 + 10);
}

#[test]
fn a_foreign_trace_with_a_loop() {
    let runs = assembly(LOOP, NONE);
    let points = &list_points(&runs).expect("points")[0];
    let header = address(points, "loop header");
    // Two waves of two runs; columns in another order, pcs, comments and spaces.
    let pc = points.points.iter().find(|p| p.needed).expect("a header").place.pc;
    let text = format!(
        "# measured elsewhere\ncycle, point, wave, run\n0,start,0,0\n10,{header},0,0\n16,pc {pc},0,0\n23,{header},0,0\n30,end,0,0\n\
         # the second run\n1000,start,0,1\n1012,{header},0,1\n1013,end,0,1\n"
    );
    let found = bound_of(&runs, "t.csv", &text).unwrap_or_else(|e| panic!("{e}"));
    // 12 to the loop, nine times round at 7, 7 from the header to the end; the launch was run twice, and is one launch.
    assert_eq!(found.wave_bound, 12 + 9 * 7 + 7);
    assert_eq!((found.bound, found.observed), (82, 30));
    assert_eq!((found.coverage.runs, found.coverage.waves), (2, 2));
    assert_eq!(found.loops[0].observed, Some(2));
    assert!(!found.assumptions.iter().any(|a| a.contains("tell apart")), "{:?}", found.assumptions);
    // Start and end only: any way between them.
    let found =
        bound_of(&assembly(IF_ELSE, NONE), "t.csv", "run,wave,point,cycle\n0,0,start,5\n0,0,end,75\n")
            .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.wave_bound, 70);
    assert!(found.assumptions.iter().any(|a| a.contains("tell apart")), "{:?}", found.assumptions);
}

#[test]
fn several_files_are_several_runs() {
    let runs = assembly(LOOP, NONE);
    let header = address(&list_points(&runs).expect("points")[0], "loop header");
    let dir = folder();
    let file = |name: &str, cycle: u64| {
        let path = dir.path().join(name);
        let text = format!(
            "run,wave,point,cycle\n7,0,start,0\n7,0,{header},{cycle}\n7,0,{header},{}\n7,0,end,90\n",
            cycle + 1
        );
        std::fs::write(&path, text).expect("written");
        path
    };
    let paths = [file("a.csv", 10), file("b.csv", 50)];
    let found = from_file(&runs, &Options::default(), &paths).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.wave_bound, 50 + 9 + 79);
    assert_eq!((found.coverage.runs, found.observed), (2, 90));
}

#[test]
fn foreign_parquet() {
    use parquet::data_type::{ByteArrayType, Int32Type, Int64Type};
    let schema =
        "message t { required binary point (UTF8); optional int32 wave; required int32 run (UINT_16);
        required int64 cycle; optional int64 index; }";
    let runs = assembly(IF_ELSE, NONE);
    let dir = folder();
    let write = |name: &str, schema: &str, cycles: [i64; 2]| {
        let path = dir.path().join(name);
        let schema = parquet::schema::parser::parse_message_type(schema).expect("a schema");
        let file = std::fs::File::create(&path).expect("a file");
        let mut out =
            parquet::file::writer::SerializedFileWriter::new(file, schema.into(), Default::default())
                .expect("a writer");
        let mut group = out.next_row_group().expect("a group");
        let mut c = 0;
        while let Some(mut column) = group.next_column().expect("a column") {
            match c {
                0 => column.typed::<ByteArrayType>().write_batch(&["start".into(), "end".into()], None, None),
                1 => column.typed::<Int32Type>().write_batch(&[3, 3], Some(&[1, 1]), None),
                2 => column.typed::<Int32Type>().write_batch(&[0, 0], None, None),
                3 => column.typed::<Int64Type>().write_batch(&cycles, None, None),
                _ => column.typed::<Int64Type>().write_batch(&[], Some(&[0, 0]), None),
            }
            .expect("written");
            column.close().expect("closed");
            c += 1;
        }
        group.close().expect("closed");
        out.close().expect("closed");
        path
    };
    let good = write("good.parquet", schema, [4, 44]);
    let found = from_file(&runs, &Options::default(), &[good]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.wave_bound, 40);
    let says = |path: PathBuf, what: &str| {
        let e = from_file(&runs, &Options::default(), &[path]).expect_err("an error");
        assert!(e.contains(what), "{what} is not in {e}");
    };
    says(write("negative.parquet", schema, [-4, 44]), "row 1: cycle is `-4`");
    says(write("back.parquet", schema, [50, 44]), "row 2");
    says(write("name.parquet", &schema.replace("cycle", "time"), [4, 44]), "column `cycle` is missing");
    let torn = dir.path().join("torn.parquet");
    std::fs::write(&torn, "PAR1 but no more").expect("written");
    says(torn, "cannot read");
}

#[test]
fn what_is_wrong_in_a_trace_is_said_with_its_line() {
    let (pws, loops) = (assembly(IF_ELSE, PWS), assembly(LOOP, NONE));
    let good = split_trace(&pws);
    let wrong = |runs: &Runs, text: &str, parts: &[&str]| {
        let e = bound_of(runs, "t.csv", text).expect_err(parts[0]);
        let e = e.split_whitespace().filter(|w| !matches!(*w, "│" | "|")).collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(e.contains(part), "`{part}` is not in: {e}");
        }
    };
    let change = |from: &str, to: &str, parts: &[&str]| {
        assert!(good.contains(from), "{from} is not in {good}");
        wrong(&pws, &good.replacen(from, to, 1), parts);
    };
    let header = "run,wave,path,point,cycle,leave\n";
    change(",100,", ",x,", &["t.csv:2", "cycle is `x`", "whole number"]);
    change("0,0,0,start", "0,,0,start", &["t.csv:2", "no wave"]);
    change("leave\n", "left\n", &["no column `left`", "columns are run"]);
    change("cycle,", "when,", &["no column `when`"]);
    change(",110,\n", ",110\n", &["t.csv:4", "5 values", "6 columns"]);
    change(",112,", ",109,", &["t.csv:10", "cycle 109", "left the point before in cycle 110", "order"]);
    change(",140,160", ",140,139", &["t.csv:13", "leaves in cycle 139"]);
    change(",140,160", ",140,150", &["t.csv:9", "stops here in cycle 160", "merges"]);
    change("0,0,0,start,100,\n", "", &["t.csv:2", "begins here", "no path of its wave leaves this point"]);
    change("0,0,1", "0,0,0", &["t.csv:5", "no way from"]);
    change("0,0,0,end", "0,0,0,start", &["t.csv:14", "first row of a path"]);
    change("0,0,0,end,170,\n", "0,0,0,end,170,\n0,0,0,end,171,\n", &["t.csv:15", "ended before"]);
    change("0,0,0,end,170,\n", "", &["stops here"]);
    wrong(&pws, header, &["no rows"]);
    wrong(&pws, "run,wave,path,cycle\n0,0,0,1\n", &["column `point` is missing"]);
    wrong(
        &pws,
        &format!("{header}0,0,0,start,1,\n0,0,0,0x9999,2,\n"),
        &["t.csv:3", "no point `0x9999`", "address"],
    );
    wrong(&pws, &format!("{header}0,0,0,start,1,\n0,0,0,LABEL,2,\n"), &["t.csv:3", "no point `LABEL`"]);
    wrong(&pws, &format!("{header}5000000000,0,0,start,1,\n"), &["t.csv:2", "run 5000000000"]);
    wrong(&pws, &format!("# checksum: xxh3:0\n{good}"), &["other code", "xxh3:0", "measure again"]);
    wrong(&pws, &format!("# kernel: other\n{good}"), &["kernel other", "not launched"]);
    wrong(
        &loops,
        &format!("{header}0,0,0,start,1,\n0,0,0,end,9,\n"),
        &["header of a loop", "k.s:4", "# points:"],
    );
    let steps = "0,0,0,start,1,\n0,0,0,pc 0,2,\n0,0,0,pc 1,5,\n0,0,0,pc 0,6,\n0,0,0,end,9,\n";
    wrong(&loops, &format!("{header}{steps}"), &["t.csv:5", "no way from", "--list-points"]);
    let e = bound_of(&pws, "t.txt", &good).expect_err("a kind");
    assert!(e.contains("what kind of trace"), "{e}");
}

/// The table of a kernel with these numbers, in the order of its blocks.
fn table(runs: &Runs, csv: bool, start: u64, cycles: &[u64]) -> TimesTable {
    let (_, mut text) = times_template(runs, csv).expect("a template").remove(0);
    let hole = if csv { "?" } else { "\"?\"" };
    for n in std::iter::once(&start).chain(cycles) {
        assert!(text.contains(hole), "more numbers than holes: {text}");
        text = text.replacen(hole, &n.to_string(), 1);
    }
    assert!(!text.contains(hole), "holes are left: {text}");
    TimesTable { name: if csv { "t.csv".into() } else { "t.toml".into() }, text }
}

fn given(runs: &Runs, table: TimesTable) -> Result<KernelBound, String> {
    let found = analyse_table(runs, &Options::default(), &[table])
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let found = found.into_iter().next().ok_or("no kernel")?;
    assert!(wb_check::check(&found.certificate).is_ok_and(|r| r.bound == found.wave_bound));
    Ok(found)
}

#[test]
fn times_of_blocks_without_and_with_a_split() {
    let cycles = [10, 100, 5, 40, 3];
    for csv in [false, true] {
        let bound = |sets: &[&str]| {
            let runs = assembly(IF_ELSE, sets);
            given(&runs, table(&runs, csv, 7, &cycles)).unwrap_or_else(|e| panic!("{e}"))
        };
        // Both sides, one after the other.
        let serial = bound(NONE);
        assert_eq!((serial.wave_bound, serial.bound), (7 + 10 + 100 + 5 + 40 + 3, 165));
        assert_eq!((serial.status, serial.times, serial.observed), (Status::Given, "given", 0));
        assert!(serial.assumptions.iter().any(|a| a.contains("says")), "{:?}", serial.assumptions);
        // The longer side; splitting and merging take 4 and 2.
        assert_eq!(bound(PWS).wave_bound, 7 + 10 + 100 + 5 + 3 + 4 + 2);
        // Splits nobody can count on are paid for at both branches.
        let dws = [PWS, &["divergence.mechanism=dws"]].concat();
        assert_eq!(bound(&dws).wave_bound, 165 + 2 * (4 + 2));
        let marked = [PWS, &["split.contexts=0"]].concat();
        assert_eq!(bound(&marked).wave_bound, 165);
    }
}

#[test]
fn times_of_a_loop() {
    let runs = assembly(LOOP, NONE);
    let places = "start = 3\n[blocks]\n\"pc 0\" = 2\nLOOP = 6\n\"k.s:7\" = 1\n";
    let found = given(&runs, TimesTable { name: "t.toml".into(), text: places.into() });
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((found.wave_bound, found.status), (3 + 2 + 10 * 6 + 1, Status::Given));
    assert_eq!((found.loops[0].max, found.loops[0].origin), (9, "proved"));
    // A loop that is left when memory says so has no limit.
    let open = LOOP.replace("s8, 10", "s8, s9").replace("s8, 0\n", "s8, 0\n  s_load_dword s9, s[4:5], 0\n");
    let runs = assembly(&open, NONE);
    let e = given(&runs, table(&runs, false, 3, &[2, 6, 1])).expect_err("no limit");
    assert!(e.contains("no limit is known") && !e.contains("--facts-from-trace"), "{e}");
    let (kernel, checksum) =
        ("k", e.split("checksum = \"").nth(1).and_then(|t| t.split('"').next()).expect("one"));
    let facts =
        format!("kernel = \"{kernel}\"\nchecksum = \"{checksum}\"\n[[loop]]\nat = \"LOOP\"\nmax = 20\n");
    let options = Options { facts: vec![("f.toml".into(), facts)], ..Options::default() };
    let found = analyse_table(&runs, &options, &[table(&runs, false, 3, &[2, 6, 1])]).expect("a bound");
    assert_eq!((found[0].wave_bound, found[0].status), (3 + 2 + 21 * 6 + 1, Status::Given));
}

#[test]
fn what_is_wrong_in_a_table_is_said_with_its_place() {
    let runs = assembly(LOOP, NONE);
    let wrong = |name: &str, text: &str, parts: &[&str]| {
        let e = given(&runs, TimesTable { name: name.into(), text: text.into() }).expect_err(text);
        for part in parts {
            assert!(e.contains(part), "`{part}` is not in: {e}");
        }
    };
    let all = "start = 3\n[blocks]\n\"pc 0\" = 2\nLOOP = 6\n\"k.s:7\" = 1\n";
    wrong("t.toml", &all.replace("LOOP = 6\n", ""), &["no time for", "k.s:4"]);
    wrong("t.toml", &all.replace("LOOP = 6", "LOOP = \"?\""), &["no time for", "k.s:4"]);
    wrong("t.toml", &all.replace("start = 3\n", ""), &["no time for start"]);
    wrong("t.toml", &all.replace("= 6", "= -6"), &["t.toml:4", "`-6` is not a number of cycles"]);
    wrong("t.toml", &all.replace("LOOP", "LOPO"), &["t.toml:4", "`LOPO`", "no such label"]);
    wrong("t.toml", &format!("{all}\"pc 1\" = 3\n"), &["t.toml:6", "has a time already", "line 4"]);
    wrong("t.toml", &format!("stop = 1\n{all}"), &["t.toml:1", "stop"]);
    wrong("t.toml", &format!("checksum = \"xxh3:1\"\n{all}"), &["t.toml:1", "other code"]);
    wrong("t.toml", &format!("kernel = \"other\"\n{all}"), &["no table has times of kernel k"]);
    wrong("t.csv", "place,time\nstart,1\n", &["t.csv:1", "column `cycles` is missing"]);
    wrong("t.csv", "place,cycles\nstart,1\nLOOP,fast\n", &["t.csv:3", "`fast` is not a number"]);
}

#[test]
fn points_have_reasons() {
    let points = &list_points(&assembly(IF_ELSE, PWS)).expect("points")[0];
    let reasons: Vec<String> = points.points.iter().map(|p| p.why.join(", ")).collect();
    let branch = points.points.iter().find(|p| p.why == ["divergent branch"]).expect("a branch").place.addr;
    let count = |what: &str| reasons.iter().filter(|r| r.contains(what)).count();
    assert_eq!((count("entry"), count("divergent branch"), count("block")), (1, 2, 4), "{reasons:?}");
    assert_eq!(count(&format!("lanes of {branch:#x} meet")), 1, "{reasons:?}");
    assert!(points.points.iter().all(|p| !p.needed));
    let loops = &list_points(&assembly(LOOP, NONE)).expect("points")[0];
    let needed: Vec<&str> =
        loops.points.iter().filter(|p| p.needed).map(|p| p.place.source.as_str()).collect();
    assert_eq!(needed.len(), 1);
    assert!(needed[0].ends_with("k.s:4"), "{needed:?}");
    // What the runs say is not changed by writing it down.
    let runs = assembly(IF_ELSE, PWS);
    let dir = folder();
    let options = Options { unmeasured: Unmeasured::Exclude, ..Options::default() };
    let written = observed(&runs, &options, &dir.path().join("t.csv")).expect("a bound");
    assert_eq!(essence(&written), essence(&analyse(&runs, &options, &mut silent).expect("a bound")[0]));
}
