//! Bad input and bad places: errors that can be shown, work that ends, memory that is there, files that stay whole.

use crate::common;
use crate::gcn3::has_compiler;

use common::{NEST, control, failure, folder, json, repository, stdout, wavebound};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

fn put(dir: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = dir.join(name);
    fs::write(&path, text).expect("file");
    path.display().to_string()
}

/// An error, not a panic, and no flood.
fn refused(args: &[&str]) -> String {
    let output = wavebound(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", &text[..text.len().min(2000)]);
    assert!(!text.contains("panicked"), "{args:?}: {text}");
    assert!(text.len() < 50_000, "{args:?}: {} bytes of messages", text.len());
    text.split_whitespace().filter(|w| !matches!(*w, "│" | "|")).collect::<Vec<_>>().join(" ")
}

#[test]
fn errors_far_to_the_right_are_shown() {
    let dir = folder("bad-wide");
    let far = " ".repeat(70_000);
    let control = control();
    let facts = |name: &str, text: String| {
        let file = put(&dir, name, text);
        refused(&["facts", &control, "--kernel", "nest", "--check", &file])
    };
    let asm = |name: &str, text: String| refused(&["asm", "--check", &put(&dir, name, text)]);
    let machine = put(&dir, "m.toml", format!("base = \"gcn3\"\ncore = {{ lanes = {far}\"many\" }}\n"));
    for (shown, place) in [
        (asm("a.harp", format!("main: {far} wrong %r0;\n")), "a.harp:1:"),
        (asm("a.guppy", format!("main: {far} wrong r0.x\n")), "a.guppy:1:"),
        (asm("a.s", format!(".kernel k\n{far} wrong s0\n")), "a.s:2:"),
        (asm("a.vx", format!("_start: {far} wrong a0\n")), "a.vx:1:"),
        (facts("f.ffx", format!("<flowfacts>{far}<wrong></flowfacts>\n")), "f.ffx:1:"),
        (facts("f.toml", format!("kernel = \"nest\"\nchecksum = {far} wrong\n")), "f.toml:2:"),
        (refused(&["run", &control, "--machine", &machine]), "m.toml:2:"),
        (refused(&["run", &put(&dir, "l.toml", format!("object = {far} wrong\n"))]), "l.toml:1:"),
    ] {
        assert!(shown.contains(place), "{place} in {shown}");
    }
}

/// What lane-pc machines have not is refused at its line, by the compiler, the linker of kernels or the run.
#[test]
fn kernels_that_lane_pc_machines_cannot_run_are_refused_at_their_lines() {
    if !has_compiler() {
        return;
    }
    let dir = folder("bad-lanepc");
    let head = "kernel void k(global int *a) {\n    int l = get_local_id(0);\n";
    let barrier = "{ a[l] = 1; barrier(CLK_GLOBAL_MEM_FENCE); }\n    a[l] += 2;\n}\n";
    for (name, text, said) in [
        (
            "double.cl",
            "kernel void k(global double *a) {\n    a[0] = 1;\n}\n".to_owned(),
            "double.cl:1:22: error:",
        ),
        (
            "image.cl",
            "kernel void k(\n    read_only image2d_t i,\n    global int *a) {\n    a[0] = 1;\n}\n".to_owned(),
            "arguments of type image2d_t are not supported",
        ),
        (
            "pointer.cl",
            format!("int one(int x) {{ return x; }}\n{head}    int (*f)(int) = one;\n    a[l] = f(l);\n}}\n"),
            "pointer.cl:4:10: error: pointers to functions",
        ),
        (
            "recursion.cl",
            format!(
                "int f(int n) {{ return n < 2 ? n : f(n - 1) + f(n - 2); }}\n{head}    a[l] = f(a[l]);\n}}\n"
            ),
            "recursion.cl:1 calls f, which is running already",
        ),
        ("barrier.cl", format!("{head}    if (l & 1)\n        {barrier}"), "barrier.cl:4"),
        (
            "both.cl",
            format!("{head}    if (l & 1)\n        {barrier}")
                .replace("a[l] += 2;", "a[l] += 2; barrier(CLK_GLOBAL_MEM_FENCE);"),
            "a barrier in divergent code",
        ),
    ] {
        let file = put(&dir, name, text);
        let launch = ["--machine", "lanepc", "--grid", "64", "--group", "64", "--arg", "buf:i32:64:iota"];
        let shown = refused(&[&["run", &file], &launch[..]].concat());
        assert!(shown.contains(said), "{name}: {said} in {shown}");
    }
}

#[test]
fn errors_of_one_line_and_of_a_file_are_capped() {
    let dir = folder("bad-flood");
    let start = Instant::now();
    let said = refused(&["asm", "--check", &put(&dir, "braces.harp", "{".repeat(10_000) + "\n")]);
    assert!(said.contains("at least 50 errors") && said.contains("3 of them are shown"), "{said}");
    let lines = refused(&["asm", "--check", &put(&dir, "lines.guppy", "  wrong r0.x\n".repeat(5000))]);
    assert!(lines.contains("20 of them are shown"), "{lines}");
    refused(&["asm", "--check", &put(&dir, "line.vx", "wrong a0; ".repeat(20_000))]);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// `n` levels of masks, each popped to the place behind its pop.
fn masks(n: usize) -> String {
    let mut text: String = (0..n).map(|i| format!("  push_mask e{i}\n")).collect();
    text += "  mov r0.x, u(1)\n";
    text.extend((0..n).rev().map(|i| format!("  pop_mask\ne{i}:\n")));
    text + "  ret\n"
}

#[test]
fn deep_nesting_is_analysed_or_refused() {
    let dir = folder("bad-deep");
    let start = Instant::now();
    // Every push, the middle and every pop are a block of their own: none is dropped at any depth.
    for n in [63, 64, 65, 500, 20_000] {
        let file = put(&dir, "masks.guppy", masks(n));
        let graph = stdout(&["cfg", &file]);
        let first = graph.lines().next().unwrap_or_default();
        assert!(first.contains(&format!("{} blocks", 2 * n + 1)), "{n}: {first}");
    }
    let lists = format!(".kernel k\n  s_mov_b32 s0, {}\n", "[".repeat(100_000));
    assert!(refused(&["asm", "--check", &put(&dir, "lists.s", lists)]).contains("has no list in it"));
    let terms = format!("_start:\n  li a0, {}1\n", "1+".repeat(100_000));
    assert!(refused(&["asm", "--check", &put(&dir, "terms.vx", terms)]).contains("more than 100 terms"));
    let mut loops = ".kernel k\n".to_owned();
    loops.extend((0..5000).map(|i| format!("l{i}:\n  s_add_u32 s0, s0, 1\n")));
    loops.extend((0..5000).rev().map(|i| format!("  s_cmp_lt_u32 s0, 10\n  s_cbranch_scc1 l{i}\n")));
    loops += "  s_endpgm\n";
    let said = refused(&["cfg", &put(&dir, "loops.s", loops)]);
    assert!(said.contains("loops are nested too deeply"), "{said}");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn brackets_in_a_header_of_data_are_refused_at_once() {
    let dir = folder("bad-npy");
    let header = format!("{{'descr': {}", "[".repeat(60));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let arg = format!("buf:f32:{}", put(&dir, "x.npy", bytes));
    let start = Instant::now();
    let said = failure(&["run", &control(), "--kernel", "nest", "--arg", &arg, "--arg", "buf:u32:256"]);
    assert!(said.contains("not a .npy file"), "{said}");
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn inputs_are_regular_files_of_a_stated_size() {
    let dir = folder("bad-files");
    let control = control();
    let nest =
        |arg: &str| failure(&["run", &control, "--kernel", "nest", "--arg", arg, "--arg", "buf:u32:256"]);
    let link = dir.join("zero.bin");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink("/dev/zero", &link).expect("link");
    assert!(nest(&format!("buf:u8:{}", link.display())).contains("it is a device, not a regular file"));
    let pipe = dir.join("pipe.harp");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let pipe = pipe.display().to_string();
    let start = Instant::now();
    for args in [
        vec!["run", &pipe],
        vec!["disasm", &pipe],
        vec!["cfg", &pipe],
        vec!["picture", &pipe],
        vec!["check-bound", &pipe],
        vec!["facts", &control, "--kernel", "nest", "--check", &pipe],
    ] {
        assert!(failure(&args).contains("it is a named pipe"), "{args:?}");
    }
    assert!(start.elapsed().as_secs() < 30, "somebody waited");
    let large = dir.join("large.harp");
    fs::File::create(&large).and_then(|f| f.set_len((16 << 20) + 1)).expect("sparse file");
    let said = failure(&["run", &large.display().to_string()]);
    assert!(said.contains("a source may have 16 MiB"), "{said}");
}

#[test]
fn an_input_is_never_replaced() {
    let dir = folder("bad-replace");
    let object = dir.join("own.co");
    fs::copy(control(), &object).expect("copy");
    let before = fs::read(&object).expect("read");
    let name = object.display().to_string();
    let out = format!("arg1={name}");
    for args in [
        [&["run", &name], NEST, &["--out", &out]].concat(),
        [&["run", &name], NEST, &["--trace", &name]].concat(),
        vec!["split", &name, "--all", "-o", &name],
        vec!["cfg", &name, "--kernel", "nest", "-o", &name],
    ] {
        let said = failure(&args);
        assert!(said.contains("it is an input of this run"), "{args:?}: {said}");
        assert!(fs::read(&object).expect("read") == before, "{args:?} changed it");
    }
}

/// The command in a shell that allows it so much address space.
fn limited(kib: u64, args: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_wavebound")])
        .args(args)
        .output()
        .expect("sh")
}

#[test]
fn machines_larger_than_the_host_are_refused() {
    let vortex = repository("fixtures/vortex/hello.elf");
    for set in ["cores=1000", "limits.memory=4294967296", "limits.memory=17179869184"] {
        let output = limited(1_500_000, &["run", &vortex, "--set", set]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{set}: {said}");
        assert!(said.contains("has no room for the"), "{set}: {said}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let control = control();
    let dir = folder("bad-full");
    for args in [
        [&["run", &control], NEST, &["--json"]].concat(),
        vec!["machines"],
        vec!["--help"],
        vec!["disasm", &control],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let run = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(&args).stdout(full).output();
        let output = run.expect("the binary runs");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
    // Nor does a closed standard error end in a panic.
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let run = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(["run", "none.co"]).stderr(full).status();
    assert_eq!(run.expect("the binary runs").code(), Some(1));
    let said = failure(&[&["run", &control], NEST, &["--trace", "/dev/full"]].concat());
    assert!(said.contains("cannot write") && said.contains("the disk is full"), "{said}");
    assert!(!said.contains("Error {") && !said.contains("Os {"), "words, not Debug: {said}");
    for name in ["rows.csv", "rows.parquet"] {
        // A link to the full device stands for a full disk.
        let link = dir.join(name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("/dev/full", &link).expect("link");
        let path = link.display().to_string();
        let said = failure(&[&["wcet", &control], NEST, &["--write-trace", &path]].concat());
        assert!(said.contains("the disk is full"), "{name}: {said}");
        assert!(!said.contains("row group"), "{said}");
    }
}

#[test]
fn impossible_wishes_are_refused_before_the_run() {
    let control = control();
    let nest = |more: &[&'static str]| [&["run", control.as_str()], NEST, more].concat();
    for (size, option) in [("0", "--grid"), ("16x0", "--group")] {
        let output = wavebound(&["run", &control, "--kernel", "nest", option, size]);
        assert_eq!(output.status.code(), Some(2), "{option} {size}");
    }
    let said = failure(&nest(&["--show", "arg1:100000"]));
    assert!(said.contains("has 256 elements"), "{said}");
    // The run would take this long: an error at once means that it did not run.
    let missing = folder("bad-wishes").join("none").join("x.html").display().to_string();
    for args in [
        nest(&["--show", "nothing"]),
        nest(&["--out", "nothing=x.npy"]),
        nest(&["--picture", "x.tiff"]),
        [&["wcet", &control], NEST, &["--html", &missing]].concat(),
        [&["wcet", &control], NEST, &["--deadline", "soon"]].concat(),
    ] {
        let output = wavebound(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?} printed results and then failed");
    }
}

/// Everything else is wrong with these commands, too: that the output is what they complain about means that nothing was
/// done before.
#[test]
fn outputs_that_cannot_be_written_are_found_before_the_work() {
    let control = control();
    let none = folder("bad-early").join("none");
    let at = |name: &str| none.join(name).display().to_string();
    let (object, picture) = (at("x.co"), at("x.svg"));
    let split = ["split", &control, "--optimal", "--kernel", "nest", "--arg", "nonsense", "-o", &object];
    let synthetic =
        ["synthetic", "--layers", "1", "--run", "--set", "limits.cycles=1", "--picture", &picture];
    for args in [
        &split[..],
        &["split", &control, "--at", "0x7", "-o", &object],
        &["cfg", &control, "--kernel", "no_such_kernel", "-o", &picture],
        &["facts", &control, "--kernel", "no_such_kernel", "-o", &at("x.toml")],
        &synthetic,
    ] {
        let said = failure(args);
        assert!(said.contains("there is no folder"), "{args:?}: {said}");
        assert!(!none.exists());
    }
}

#[test]
fn a_result_is_printed_even_if_a_file_is_lost() {
    let control = control();
    // The device can be opened and then takes nothing: the failure comes after the run.
    for extra in [&["--json"][..], &[]] {
        let args = [&["run", &control], NEST, &["--out", "arg1=/dev/full"], extra].concat();
        let output = wavebound(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("cycles"), "{args:?}: {text}");
    }
}

#[test]
fn two_writers_of_one_trace_leave_a_whole_one() {
    let dir = folder("bad-race");
    let trace = dir.join("race.wbt").display().to_string();
    let picture = dir.join("race.svg").display().to_string();
    let control = control();
    for round in 0..5 {
        let args = [&["run", &control], NEST, &["--trace", &trace]].concat();
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"));
            command.args(&args).stdout(Stdio::null()).spawn().expect("the binary runs")
        };
        let mut both = [start(), start()];
        assert!(both.iter_mut().all(|c| c.wait().expect("it ends").success()), "round {round}");
        stdout(&["picture", &trace, "-o", &picture]);
    }
    let left: Vec<String> = fs::read_dir(&dir)
        .expect("folder")
        .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
        .filter(|n| n.starts_with(".wavebound"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn arguments_are_files_vectors_structures_and_their_errors_name_the_part() {
    let dir = folder("bad-args");
    let scalar = repository("fixtures/gcn3/scalar.O2.co");
    let data = put(&dir, "v.bin", (0..16u32).flat_map(|i| (i as f32).to_le_bytes()).collect::<Vec<u8>>());
    let identity = "f32:1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";
    let hex: String = (0..16).map(|i| if i % 5 == 0 { "0000803f" } else { "00000000" }).collect();
    let members = (0..16).map(|i| if i % 5 == 0 { "f32:1" } else { "f32:0" }).collect::<Vec<_>>().join(";");
    let input = format!("buf:f32:16:{data}");
    for matrix in [identity.to_owned(), format!("hex:{hex}"), format!("struct:{members}")] {
        let run = ["run", &scalar, "--kernel", "transform", "--grid", "4", "--group", "4"];
        let args = ["--arg", &matrix, "--arg", &input, "--arg", "buf:f32:16", "--show", "arg2"];
        let memory = json(&[&run[..], &args, &["--json"]].concat())["memory"].clone();
        let values: Vec<String> = (0..16).map(|i| format!("{i}.0")).collect();
        assert_eq!(memory["arg2"], serde_json::json!(values), "{matrix}");
    }
    let said = failure(&["run", &scalar]);
    assert!(said.contains("--kernel") && said.contains("transform"), "lists the kernels: {said}");
    for (matrix, part) in [
        ("f32:1", "64 bytes"),
        ("f32:1,y", "`y`"),
        ("buf:f33:1", "f33"),
        ("i32:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "write f32:"),
    ] {
        let said = failure(&["run", &scalar, "--kernel", "transform", "--arg", matrix]);
        assert!(said.contains("argument 0") && said.contains(part), "{matrix}: {said}");
    }
    // Position and name both work.
    let named = put(&dir, "named.s", ".kernel k\n.arg buf first\n.arg buf second\n  s_endpgm\n");
    let shown = |name: &str| {
        let run = ["run", &named, "--grid", "64", "--arg", "buf:u32:8:iota", "--arg", "buf:u32:8:reverse"];
        let text = stdout(&[&run[..], &["--no-stats", "--show", name]].concat());
        let line = text.lines().find_map(|l| l.strip_prefix(&format!("{name} = ")));
        line.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
    };
    assert_eq!(shown("arg1"), shown("second"));
    assert_eq!(shown("arg1"), "7 6 5 4 3 2 1 0");
}
