//! The command line for GCN3: assembly, code objects, compiling, kernels, launch files.

use crate::common;

use common::{failure, json, repository, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    common::folder(&format!("gcn3/{name}"))
}

fn fixture(name: &str) -> String {
    repository(&format!("fixtures/gcn3/{name}"))
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("file");
    path.display().to_string()
}

/// Tests that need a compiler do nothing without one, except in CI.
pub fn has_compiler() -> bool {
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let linker = runs("ld.lld-19") || runs("ld.lld");
    let found = runs("clang-19") && linker && Path::new("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode").is_dir();
    let ci = std::env::var("CI").as_deref() == Ok("true");
    assert!(found || !ci, "scripts/install-test-tools.sh installs the compiler");
    found
}

/// x[i] += n; `last` clears the flag's neighbour once x[0] has reached 10.
const ADD: &str = "\
.kernel add
.arg buf x
.arg i32 n
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x8
  s_lshl_b32 s2, s2, 6
  v_add_u32 v0, vcc, s2, v0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_add_u32 v1, vcc, s6, v0
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_load_dword v3, v[1:2]
  s_waitcnt vmcnt(0)
  v_add_u32 v3, vcc, s8, v3
  flat_store_dword v[1:2], v3
  s_endpgm
.kernel less
.arg buf x
.arg buf flag
.arg i32 limit
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  s_waitcnt lgkmcnt(0)
  s_load_dword s9, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_ge_i32 s9, s8
  s_cbranch_scc1 done
  v_mov_b32 v1, s6
  v_mov_b32 v2, s7
  v_mov_b32 v3, 1
  flat_store_dword v[1:2], v3
done:
  s_endpgm
";

#[test]
fn assembly_runs_like_its_object() {
    let dir = folder("assembly");
    let source = file(&dir, "add.s", ADD);
    let object = dir.join("add.co").display().to_string();
    assert!(stdout(&["asm", &source, "-o", &object]).contains("2 kernels"));
    let run = |file: &str| {
        let args = ["--kernel", "add", "--grid", "128", "--arg", "buf:i32:128:iota", "--arg", "i32:5"];
        json(&[&["run", file, "--json", "--show", "x:3"], &args[..]].concat())
    };
    let (a, b) = (run(&source), run(&object));
    assert_eq!(a, b, "same statistics, same lines");
    assert_eq!(a["memory"]["x"], serde_json::json!(["5", "6", "7"]));
    assert!(a["stats"]["pcs"].as_array().is_some_and(|p| p.iter().any(|p| p["line"] == 16)), "lines");
    // Assembling again what was disassembled gives the same code.
    let text = stdout(&["disasm", &object, "--source"]);
    let again = file(&dir, "again.s", &format!(".amdgcn_target \"x\"\n{text}"));
    let listing = |file: &str| {
        let text = stdout(&["disasm", file, "--no-source"]);
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(failure(&["run", &again]).contains("no kernels"));
    assert!(listing(&object).iter().any(|l| l.ends_with("s_cbranch_scc1 done")));
    if has_compiler() {
        let dump = Command::new("llvm-objdump-19").args(["-d", "--mcpu=gfx803", &object]).output();
        let text = String::from_utf8_lossy(&dump.expect("llvm-objdump-19").stdout).into_owned();
        assert!(text.contains("<add>:") && text.contains("s_cbranch_scc1 done"), "{text}");
    }
}

#[test]
fn assembly_errors_name_the_place() {
    let dir = folder("assembly-errors");
    let wrong = file(&dir, "wrong.s", ".kernel k\n  v_addu32 v0, vcc, 1, v0\n  s_endpgm\n");
    let text = failure(&["run", &wrong]);
    assert!(text.contains("wrong.s:2:3") && text.contains("did you mean `v_add_u32`"), "{text}");
    let source = file(&dir, "add.s", ADD);
    let text = failure(&["run", &source, "--kernel", "add", "--arg", "u64:0", "--arg", "i32:5"]);
    assert!(text.contains("it is a buffer"), "{text}");
    let text =
        failure(&["run", &source, "--kernel", "add", "--arg", "buf:i32:1", "--arg", "i32:300000000000"]);
    assert!(text.contains("buf:TYPE:COUNT"), "{text}");
    let null = file(
        &dir,
        "null.s",
        ".kernel k\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 0\n  flat_load_dword v3, v[1:2]\n",
    );
    let text = failure(&["run", &null]);
    for part in ["kernel k", "null.s:4", "flat_load_dword v3, v[1:2]", "pc 0x1008", "a null pointer?"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn disassembly_has_labels_and_source() {
    let object = fixture("basic.O2.co");
    let text = stdout(&["disasm", &object, "--kernel", "saxpy"]);
    for part in ["saxpy:", "; basic.cl:6: if (i < n)", "s_cbranch_execz L", "be80206a", "s_endpgm"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("reduce:"));
    let bare = stdout(&["disasm", &object, "--kernel", "saxpy", "--no-source"]);
    assert!(!bare.contains("basic.cl"));
    assert!(stdout(&["disasm", &object]).contains("reduce:"));
    assert!(failure(&["disasm", &object, "--kernel", "sax"]).contains("saxpy"));
}

#[test]
fn kernels_are_listed() {
    let object = fixture("basic.O2.co");
    let v = json(&["kernels", &object, "--json"]);
    assert_eq!((&v["code_object"], &v["target"]), (&serde_json::json!(4), &serde_json::json!("gfx803")));
    let all = v["kernels"].as_array().expect("list");
    let saxpy = all.iter().find(|k| k["name"] == "saxpy").expect("saxpy");
    assert_eq!(saxpy["args"][1]["kind"], "buffer");
    assert_eq!((&saxpy["args"][1]["offset"], &saxpy["args"][1]["size"]), (&8.into(), &8.into()));
    assert_eq!(saxpy["occupancy"]["waves_per_simd"], 10);
    assert!(saxpy["code_bytes"].as_u64().is_some_and(|n| n > 100 && n < 300));
    assert_eq!(json(&["kernels", &fixture("basic.O3.co"), "--json"])["code_object"], 5);
    let text = stdout(&["kernels", &object, "--group", "256"]);
    assert!(text.contains("limited by") && text.contains("hidden"), "{text}");
    let dir = folder("kernels");
    let big = file(&dir, "big.s", ".kernel k\n.lds 40000\n v_mov_b32 v127, 0\n s_endpgm\n");
    let v = json(&["kernels", &big, "--json"]);
    let o = &v["kernels"][0]["occupancy"];
    assert_eq!(
        (&o["limit"], &o["groups_per_core"], &o["waves_per_simd"]),
        (&"local memory".into(), &1.into(), &1.into())
    );
}

const LAUNCH: &str = r#"
object = "add.s"

[buffers.x]
type = "i32"
length = [2, 64]
from = "iota"

[buffers.flag]
type = "u32"
length = 2

[[launch]]
kernel = "add"
grid = 128
group = 64
args = ["x", "i32:1"]
repeat = 2

[[launch]]
while = "flag[1]"
max = 20
[[launch.body]]
kernel = "add"
grid = 128
group = 64
args = ["x", "i32:3"]
[[launch.body]]
kernel = "less"
grid = 1
group = 1
args = ["x", "flag", "i32:10"]

[[expect]]
buffer = "x"
values = [11, 12, 13]

[[expect]]
buffer = "x"
at = 126
values = [137, 138]

[[output]]
buffer = "x"
file = "x.npy"
"#;

/// The launch file with the flag at its first element, which is what `less` sets.
fn launch(dir: &Path, name: &str, change: impl Fn(String) -> String) -> String {
    file(dir, "add.s", ADD);
    file(dir, name, &change(LAUNCH.replace("flag[1]", "flag")))
}

#[test]
fn launch_files_run_loops_and_check() {
    let dir = folder("launch");
    let path = launch(&dir, "run.toml", |t| t);
    let raw = dir.join("flag.bin").display().to_string();
    let v = json(&["run", &path, "--json", "--show", "flag", "--out", &format!("flag={raw}")]);
    let kernels: Vec<&str> =
        v["launches"].as_array().expect("list").iter().filter_map(|l| l["kernel"].as_str()).collect();
    // 0 + 2 × 1, then + 3 until 10 is reached: 5, 8, 11.
    assert_eq!(kernels, ["add", "add", "add", "less", "add", "less", "add", "less"]);
    assert_eq!(v["passed"], true);
    assert_eq!(v["memory"]["flag"], serde_json::json!(["0", "0"]));
    let sum = |field: &str| {
        let all = v["launches"].as_array().expect("list").iter();
        all.map(|l| l["totals"][field].as_u64().expect("number")).sum::<u64>()
    };
    assert_eq!(v["totals"]["cycles"], sum("cycles"));
    assert_eq!(v["stats"]["wave_instructions"], sum("wave_instructions"));
    assert_eq!(std::fs::read(&raw).expect("raw"), [0; 8]);
    let npy = std::fs::read(dir.join("x.npy")).expect("npy");
    assert_eq!(npy[npy.len() - 512..][..4], 11i32.to_le_bytes());
    // What was written can be read again, as start and as expectation.
    let again = file(
        &dir,
        "again.toml",
        "object = \"add.s\"\n[buffers.y]\nfrom = \"x.npy\"\n[[launch]]\nkernel = \"add\"\ngrid = 64\ngroup = 64\n\
         args = [\"y\", \"i32:0\"]\n[[expect]]\nbuffer = \"y\"\nfrom = \"x.npy\"\n",
    );
    assert!(stdout(&["run", &again, "--no-stats"]).contains("y: 128 elements as expected"));
    let trace = dir.join("t.wbt").display().to_string();
    stdout(&["run", &again, "--trace", &trace, "--machine", "pws", "--mechanism", "none"]);
    assert!(dir.join("t-1.wbt").exists());
}

#[test]
fn launch_files_fail_with_reasons() {
    let dir = folder("launch-errors");
    let run = |name: &str, from: &str, to: &str| {
        assert!(LAUNCH.contains(from) || from == "while = \"flag\"", "{from}");
        failure(&["run", &launch(&dir, name, |t| t.replace(from, to)), "--no-stats"])
    };
    let text = run("value.toml", "[11, 12, 13]", "[11, 12, 14]");
    assert!(text.contains("x[2] is 13, expected 14; 1 of 3 elements differ"), "{text}");
    let text = run("max.toml", "max = 20", "max = 2");
    assert!(text.contains("still set after 2 rounds") && text.contains("max.toml:21"), "{text}");
    let text = run("field.toml", "repeat = 2", "repeet = 2");
    assert!(
        text.contains("unknown field")
            && text.contains("did you mean `repeat`")
            && text.contains("field.toml:18"),
        "{text}"
    );
    let text = run("buffer.toml", "[\"x\", \"i32:1\"]", "[\"xx\", \"i32:1\"]");
    assert!(text.contains("no buffer `xx`") && text.contains("buffer.toml:17"), "{text}");
    let text = run("kernel.toml", "kernel = \"less\"", "kernel = \"lass\"");
    assert!(text.contains("did you mean `less`"), "{text}");
    let text = run("scalar.toml", "\"i32:3\"", "\"i32:x\"");
    assert!(text.contains("is not an argument"), "{text}");
    let text = run("count.toml", "[\"x\", \"i32:3\"]", "[\"x\"]");
    assert!(text.contains("takes 2 argument(s), 1 were given"), "{text}");
    let text = run("fill.toml", "from = \"iota\"", "from = \"itoa\"");
    assert!(text.contains("cannot fill") && text.contains("uniform=LOW..HIGH"), "{text}");
    let text = run("missing.toml", "object = \"add.s\"", "object = \"nowhere.co\"");
    assert!(text.contains("nowhere.co") && text.contains("folder of the launch file"), "{text}");
    let text = run("type.toml", "type = \"i32\"", "type = \"int\"");
    assert!(text.contains("there is no type `int`"), "{text}");
    // Nobody sets flag[1]: the loop ends after one round.
    let other = file(&dir, "index.toml", LAUNCH);
    assert!(failure(&["run", &other]).contains("x[0] is 5, expected 11; 3 of 3 elements differ"));
    let path = launch(&dir, "ok.toml", |t| t);
    assert!(failure(&["picture", &path]).contains("--picture"));
    assert!(failure(&["run", &path, "--grid", "4"]).contains("does not go with a launch file"));
    assert!(failure(&["run", &path, "--show", "z"]).contains("buffers: flag x"));
    assert!(failure(&["run", &path, "--out", "x"]).contains("--out NAME=FILE"));
}

const SOURCE: &str = "kernel void scale(global float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] *= a * FACTOR;
}
";

#[test]
fn sources_are_compiled() {
    if !has_compiler() {
        return;
    }
    let dir = folder("compile");
    let source = file(&dir, "scale.cl", SOURCE);
    let object = dir.join("scale.co").display().to_string();
    stdout(&["compile", &source, "-o", &object, "-O3", "-D", "FACTOR=2", "--code-object", "5"]);
    let v = json(&["kernels", &object, "--json"]);
    assert_eq!((&v["code_object"], &v["kernels"][0]["args"][0]["name"]), (&5.into(), &"x".into()));
    // 100 work-items in groups of 64: the last group is a part of one, with both argument layouts.
    let args = [
        "--grid",
        "100",
        "--group",
        "64",
        "--arg",
        "buf:f32:100:iota",
        "--arg",
        "f32:1.5",
        "--arg",
        "i32:100",
    ];
    let v = json(&[&["run", &object, "--json", "--show", "x"], &args[..]].concat());
    assert_eq!((&v["memory"]["x"][99], &v["totals"]["waves"]), (&"297.0".into(), &2.into()));
    let command = stdout(&["compile", &source, "--print-command", "--default-flow", "--", "-Wall"]);
    assert!(
        command.contains("-mcpu=gfx803") && command.contains("-Wall") && !command.contains("skip-threshold")
    );
    let text = failure(&["compile", &source, "-o", &object]);
    assert!(text.contains("undeclared identifier 'FACTOR'") && text.contains("does not compile"), "{text}");
    let path = file(
        &dir,
        "run.toml",
        "object = \"scale.cl\"\n[compile]\ndefines = [\"FACTOR=3\"]\n[buffers.x]\ntype = \"f32\"\nlength = 70\nfrom = \"ones\"\n\
         [[launch]]\nkernel = \"scale\"\ngrid = 70\ngroup = 64\nargs = [\"x\", \"f32:0.1\", \"i32:70\"]\n\
         [[expect]]\nbuffer = \"x\"\nfrom = \"const=0.3\"\nulp = 1\n",
    );
    assert!(stdout(&["run", &path]).contains("70 elements as expected"));
    let hip = file(
        &dir,
        "k.hip",
        "extern \"C\" __attribute__((global)) void k(int *p) { p[__builtin_amdgcn_workitem_id_x()] = 7; }",
    );
    let v = json(&["run", &hip, "--json", "--arg", "buf:i32:64", "--show", "arg0:2"]);
    assert_eq!(v["memory"]["arg0"], serde_json::json!(["7", "7"]));
}

#[test]
fn a_missing_compiler_is_named() {
    let dir = folder("no-compiler");
    let source = file(&dir, "scale.cl", SOURCE);
    let output =
        Command::new(env!("CARGO_BIN_EXE_wavebound")).args(["compile", &source]).env("PATH", "").output();
    let text = String::from_utf8_lossy(&output.expect("the binary runs").stderr).into_owned();
    assert!(text.contains("apt install clang-19 lld-19"), "{text}");
}

/// Half of the lanes enter an outer branch; inside, all of them go the same way at another one, again and again.
const BLAME: &str = "\
.kernel k
  v_cmp_gt_u32 vcc, 32, v0
  s_and_saveexec_b64 s[0:1], vcc
  s_mov_b32 s4, 20
again:
  v_cmp_gt_u32 vcc, 64, v0
  s_xor_b64 s[6:7], vcc, exec
  s_and_saveexec_b64 s[2:3], s[6:7]
  v_mov_b32 v2, 1
  s_mov_b64 exec, s[2:3]
  v_add_u32 v1, vcc, 1, v1
  v_add_u32 v1, vcc, 1, v1
  v_add_u32 v1, vcc, 1, v1
  v_add_u32 v1, vcc, 1, v1
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 again
  s_mov_b64 exec, s[0:1]
  s_endpgm
";

#[test]
fn a_branch_that_never_divides_is_not_to_blame() {
    let dir = folder("blame");
    let source = file(&dir, "blame.s", BLAME);
    let run = json(&["run", &source, "--json"]);
    let lost = |line: u64| {
        let all = run["stats"]["branches"].as_array().expect("branches");
        let of = all.iter().filter(|b| b["line"] == line);
        of.map(|b| b["lane_cycles_lost"].as_u64().expect("a number")).sum::<u64>()
    };
    // The outer one narrows the mask (line 3), the inner one empties it for one instruction a round (line 8).
    let (outer, inner) = (lost(3), lost(8));
    assert!(
        outer > 20 * 32 * 8 && inner < outer,
        "outer {outer}, inner {inner}: {}",
        run["stats"]["branches"]
    );
}

#[test]
fn kernels_are_found_by_the_name_in_the_source() {
    let dir = folder("mangled");
    let names = ["_Z4spmvPKfi", "_ZN2ns4scanIfEEvPT_", "_ZN2ns4scanIdEEvPT_"];
    let source = file(&dir, "names.s", &names.map(|n| format!(".kernel {n}\n  s_endpgm\n")).concat());
    for said in ["spmv", "_Z4spmvPKfi", "spmv(float const*, int)", "scan<float>", "ns::scan<double>"] {
        stdout(&["run", &source, "--kernel", said]);
        stdout(&["cfg", &source, "--kernel", said]);
    }
    let error = failure(&["run", &source, "--kernel", "scan"]);
    assert!(
        error.contains("no kernel `scan`") && error.contains("(ns::scan<float>)"),
        "two may be meant: {error}"
    );
    let text = stdout(&["kernels", &source]);
    assert!(text.contains("_Z4spmvPKfi  spmv") && text.contains("ns::scan<double>"), "{text}");
    let v = json(&["kernels", &source, "--json"]);
    assert_eq!(v["kernels"][0]["readable"], "spmv");
}

/// A sample of a grid: the estimate says what it is, and the whole run lies in its interval.
#[test]
fn a_sample_estimates_the_whole() {
    let object = fixture("basic.O2.co");
    let (input, output) = ("buf:u32:192000:random=3", "buf:u32:192000");
    let base =
        ["run", &object, "--kernel", "collatz", "--grid", "192000", "--group", "64", "--set", "cores=1"];
    let args = ["--arg", input, "--arg", output, "--arg", "u32:40", "--no-stats", "--json"];
    let run = |more: &[&str]| json(&[&base[..], &args, more].concat());
    let (whole, sample) = (run(&[]), run(&["--sample", "0.1:7"]));
    let exact = whole["totals"]["cycles"].as_f64().expect("cycles");
    let estimate = &sample["totals"]["estimate"];
    let number = |name: &str| estimate[name].as_f64().expect("a number");
    assert!(number("low") <= exact && exact <= number("high"), "{exact}: {estimate}");
    assert!((number("cycles") - exact).abs() < 0.03 * exact, "{exact}: {estimate}");
    assert!(number("timed") < 0.9 && number("batches") >= 5.0, "{estimate}");
    assert_eq!(whole["totals"]["wave_instructions"], sample["totals"]["wave_instructions"]);
    assert!(whole["totals"]["estimate"].is_null());
    assert_eq!(sample, run(&["--sample", "0.1:7"]), "the same seed, the same estimate");
    // Too small for a sample: timed whole.
    let small = ["run", &object, "--kernel", "collatz", "--grid", "6400", "--group", "64"];
    let arguments = ["--arg", "buf:u32:6400", "--arg", "buf:u32:6400", "--arg", "u32:9", "--sample", "0.1"];
    let told = stdout(&[&small[..], &arguments].concat());
    assert!(!told.contains("estimate"), "{told}");
    let refused = common::wavebound(&["run", &object, "--sample", "0.7"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("at most 0.5"));
}
