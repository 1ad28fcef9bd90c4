//! Unmodified OpenCL programs on the simulated GPU: the samples in samples/opencl, linked with Debian's loader, which finds our library;
//! the same bytes as PoCL, captured launches, faults, wrong and random calls. Without the loader nothing is tested, except under CI,
//! where that is a failure.

use crate::hip::{root, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Where the samples are; none if there is no loader to link with.
pub(crate) fn samples() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let found = ["/usr/include/CL/cl.h", "/usr/lib/x86_64-linux-gnu/libOpenCL.so", "/usr/bin/clang-19"];
        if let Some(missing) = found.iter().find(|f| !Path::new(f).exists()) {
            let text = format!("{missing} is missing: scripts/install-test-tools.sh");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{text}");
            eprintln!("{text}; OpenCL samples are not tested");
            return None;
        }
        let out = root().join("target/opencl-samples");
        let built = Command::new(root().join("scripts/build-opencl-samples.sh")).arg(&out).output();
        let built = built.expect("script");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(out)
    };
    BUILT.get_or_init(build).as_deref()
}

/// A program that Debian has; none if it is missing.
fn installed(program: &str) -> Option<PathBuf> {
    let path = Path::new("/usr/bin").join(program);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{program} is missing: scripts/install-test-tools.sh"
    );
    None
}

/// The library as cargo builds it for tests.
fn library() -> PathBuf {
    let exe = Path::new(env!("CARGO_BIN_EXE_wavebound"));
    let library = exe.parent().expect("folder").join("examples/libcl_library.so");
    assert!(library.exists(), "cargo builds examples for tests: {}", library.display());
    library
}

fn command(options: &[&str], program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"));
    command.args(["cl", "--library"]).arg(library()).args(options).arg("--").arg(program).args(args);
    command
}

pub(crate) fn cl(options: &[&str], program: &Path, args: &[&str]) -> Output {
    command(options, program, args).output().expect("wavebound")
}

/// A folder of a test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("wavebound-opencl-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("removed");
    }
}

#[test]
fn samples_check_themselves() {
    let Some(folder) = samples() else { return };
    for program in ["vector_add", "buffers", "events", "programs", "kernels", "errors"] {
        for options in [&[][..], &["--untimed"], &["--machine", "pws", "--split-all"]] {
            let (out, err) = text(&cl(options, &folder.join(program), &[]));
            assert!(out.contains(&format!("{program}: ")) && out.contains("right"), "{program}: {out}{err}");
            assert!(out.contains("launches on "), "{program} has a report: {out}");
        }
    }
}

#[test]
fn kernels_print_as_c_does() {
    let Some(folder) = samples() else { return };
    let (out, _) = text(&cl(&[], &folder.join("kernels"), &[]));
    let line = "-12: text  1.50 1.000000,-2.000000,0.250000,1000000.000000 c ff 1099511627776%";
    assert!(out.lines().any(|l| l == line), "{out}");
}

/// Kernels for later GPUs are compiled for the machine, too.
#[test]
fn programs_run_on_machines_of_later_gpus() {
    let Some(folder) = samples() else { return };
    for options in [&["--machine", "vega", "--set", "cores=4"], &["--machine", "mi200", "--set", "cores=4"]] {
        let (out, err) = text(&cl(options, &folder.join("kernels"), &[]));
        assert!(out.contains("kernels: right"), "{options:?}: {out}{err}");
    }
}

/// PoCL runs the same program on the CPU: every byte is the same.
#[test]
fn results_are_those_of_pocl() {
    let Some(folder) = samples() else { return };
    let program = folder.join("same");
    let vendors = Path::new("/etc/OpenCL/vendors/pocl.icd");
    if !vendors.exists() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "pocl-opencl-icd is missing: scripts/install-test-tools.sh"
        );
        return;
    }
    let pocl = Command::new(&program).env("OCL_ICD_VENDORS", vendors).output().expect("the sample");
    assert!(pocl.status.success(), "{}", text(&pocl).1);
    let (wanted, _) = text(&pocl);
    assert!(wanted.lines().count() > 100);
    for options in [&["--untimed"][..], &["--machine", "pws", "--split-all"]] {
        let (out, err) = text(&cl(options, &program, &[]));
        let ours = out.get(..wanted.len()).unwrap_or_default();
        assert!(ours == wanted, "{options:?}: {err}\n{out}");
    }
}

#[test]
fn clinfo_describes_the_device() {
    let (Some(_), Some(clinfo)) = (samples(), installed("clinfo")) else { return };
    let (out, err) = text(&cl(&[], &clinfo, &[]));
    let value = |name: &str| {
        let line =
            out.lines().find(|l| l.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{name}: {out}"));
        line.split_once(name).map(|(_, v)| v.trim().to_owned()).unwrap_or_default()
    };
    assert_eq!(value("Number of platforms"), "1");
    assert_eq!(value("Device Name"), "gcn3 (gfx803)");
    assert_eq!(value("Device Type"), "GPU");
    assert_eq!(value("Image support"), "No");
    assert_eq!(value("Max clock frequency"), "1000MHz");
    assert_eq!(value("Max compute units"), "4");
    assert!(!out.contains("error -"), "a question without an answer: {out}{err}");
}

/// Captured launches run again: the same bytes in all buffers, and the same cycles; other commands take them.
#[test]
fn captured_launches_run_again() {
    let Some(folder) = samples() else { return };
    let dir = Folder::new("captured");
    let wavebound = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).current_dir(&dir.0).output();
        output.expect("wavebound")
    };
    // Groups of two dimensions with an offset, a last group that is smaller, local memory, variables, prints, parts of buffers.
    for (program, kernel) in [
        ("vector_add", "add"),
        ("kernels", "numbers"),
        ("kernels", "numbers:2"),
        ("kernels", "sums"),
        ("kernels", "count:2"),
        ("kernels", "say"),
        ("buffers", "twice:3"),
    ] {
        let options = ["--json", "--report", "r.json", "--capture", kernel, "--capture-to", "c"];
        let output = command(&options, &folder.join(program), &[]).current_dir(&dir.0).output();
        let output = output.expect("wavebound");
        assert!(output.status.success(), "{program}: {}", text(&output).1);
        let report = std::fs::read_to_string(dir.0.join("r.json")).expect("report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let (name, number) = kernel.split_once(':').unwrap_or((kernel, "1"));
        let launches = report["launches"].as_array().expect("launches").iter();
        let mut launches = launches.filter(|l| l["name"] == name);
        let original = launches.nth(number.parse::<usize>().expect("number") - 1).expect("the launch");
        let again = wavebound(&["run", "c/launch.toml", "--json"]);
        let (out, err) = text(&again);
        assert!(again.status.success(), "{program} {kernel} again: {out}{err}");
        let replay: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(replay["launches"][0]["totals"]["cycles"], original["cycles"], "{program} {kernel}");
        assert!(replay["expect"].as_array().is_some_and(|e| !e.is_empty()), "{program} {kernel}: {out}");
    }
    let (_, err) = text(&wavebound(&["wcet", "c/launch.toml", "--facts-from-trace"]));
    assert!(err.is_empty(), "{err}");
    for args in [
        &["cfg", "c/program.co", "--kernel", "twice"][..],
        &["compare", "c/launch.toml", "--mechanisms", "none,pws"],
        &["worst", "c/launch.toml", "--tries", "2"],
        &["split", "c/program.co", "--kernel", "twice", "--list"],
    ] {
        let output = wavebound(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output).1);
    }
    // The check sees a byte that is another one.
    let data = dir.0.join("c/arg0.npy");
    let mut bytes = std::fs::read(&data).expect("data");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&data, bytes).expect("written");
    assert_eq!(wavebound(&["run", "c/launch.toml"]).status.code(), Some(1));
}

#[test]
fn options_are_those_of_hip() {
    let Some(folder) = samples() else { return };
    let dir = Folder::new("options");
    let options = [
        "--json",
        "--report",
        "r.json",
        "--html",
        "p.html",
        "--trace",
        "t.wbt",
        "--wcet",
        "--facts-from-trace",
    ];
    let output =
        command(&options, &folder.join("vector_add"), &[]).current_dir(&dir.0).output().expect("wavebound");
    assert!(output.status.success(), "{}", text(&output).1);
    let read = |name: &str| std::fs::read_to_string(dir.0.join(name)).expect("file");
    let report: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    let (cycles, bound) = (&report["launches"][0]["cycles"], &report["bounds"][0]);
    assert!(cycles.as_u64().is_some_and(|n| n > 100), "{report}");
    assert!(bound["kernel"] == "add" && bound["bound"].as_u64() >= cycles.as_u64(), "{bound}");
    assert!(read("p.html").contains("c[i] = a[i] + b[i]"), "the page has the program's source");
    assert!(dir.0.join("t-1.wbt").exists());
}

#[test]
fn faults_end_the_program_with_the_place() {
    let Some(folder) = samples() else { return };
    let output = cl(&[], &folder.join("fault"), &[]);
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(!out.contains("still here") && err.contains("outside every buffer"), "{out}{err}");
    assert!(err.contains("kernel stray") && err.contains("program-1.cl:1"), "{err}");
}

/// Wrong calls are answered by codes: the program goes on, and its data is what it was.
#[test]
fn random_calls_never_end_the_program() {
    let Some(folder) = samples() else { return };
    let mut good = 0;
    for seed in 1..=12 {
        let output = cl(&["--untimed", "--no-stats"], &folder.join("random"), &[&seed.to_string(), "3000"]);
        let (out, err) = text(&output);
        assert!(output.status.success(), "seed {seed}: {:?} {out}{err}", output.status);
        let line = out.lines().find(|l| l.starts_with("random: ")).expect("its line");
        good += line.split(' ').nth(1).and_then(|n| n.parse::<u32>().ok()).expect("a number");
    }
    assert!(good > 1000, "only {good} calls were good: the others prove little");
}

#[test]
fn programs_end_as_they_do_elsewhere() {
    let Some(folder) = samples() else { return };
    let run = |how: &str| {
        let output = cl(&["--json"], &folder.join("processes"), &[how]);
        let (out, err) = text(&output);
        let json = out.find("{\n").map_or("", |at| &out[at..]);
        let report: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{how}: {e} {out}{err}"));
        (output.status.code(), report)
    };
    let (code, report) = run("leave");
    assert_eq!((code, report["totals"]["launches"].as_u64()), (Some(0), Some(1)));
    let (code, report) = run("exit");
    assert_eq!(
        (code, report["totals"]["launches"].as_u64()),
        (Some(7), Some(1)),
        "what waits for ever is not run"
    );
    let (code, report) = run("fork");
    assert_eq!(
        (code, report["processes"].as_u64(), report["totals"]["launches"].as_u64()),
        (Some(0), Some(2), Some(3))
    );
    let (code, report) = run("threads");
    assert_eq!((code, report["totals"]["launches"].as_u64()), (Some(0), Some(81)));
}

/// A signal that comes while a short launch runs is not lost with it.
#[test]
fn a_signal_ends_a_program_of_short_launches() {
    let Some(folder) = samples() else { return };
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut command = command(&["--untimed"], &folder.join("processes"), &["loop"]);
        let mut program = command.stdout(std::process::Stdio::null()).spawn().expect("wavebound");
        std::thread::sleep(std::time::Duration::from_secs(3));
        let id = program.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
        let sent = std::time::Instant::now();
        let status = loop {
            match program.try_wait().expect("wavebound") {
                Some(status) => break status,
                None if sent.elapsed().as_secs() < 60 => {
                    std::thread::sleep(std::time::Duration::from_millis(50))
                }
                None => panic!("{signal} was lost: {:?}", program.kill()),
            }
        };
        assert_eq!(status.code(), Some(code), "{signal}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let Some(folder) = samples() else { return };
    // No compiler on the search path.
    let output =
        command(&[], &folder.join("vector_add"), &[]).env("PATH", "/nowhere").output().expect("wavebound");
    let (_, err) = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("cannot compile") && err.contains("apt install clang-19"), "{err}");
    // No library.
    let output = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["cl", "--library", "/nowhere/lib.so", "--", "/bin/true"])
        .output()
        .expect("wavebound");
    assert!(text(&output).1.contains("cargo build --release -p wavebound-cl"), "{}", text(&output).1);
    // No OpenCL program.
    let (_, err) = text(&cl(&[], Path::new("/bin/true"), &[]));
    assert!(err.contains("did not use our OpenCL library") && err.contains("ocl-icd-libopencl1"), "{err}");
    // Nothing to capture.
    let output = cl(&["--capture", "nobody:7"], &folder.join("vector_add"), &[]);
    assert!(text(&output).1.contains("launch 7 of nobody"), "{}", text(&output).1);
}

/// Nothing is left behind in the folder for temporary files.
#[test]
fn folders_are_gone_afterwards() {
    let Some(folder) = samples() else { return };
    let dir = Folder::new("temporary");
    for program in ["programs", "fault"] {
        let output =
            command(&[], &folder.join(program), &[]).env("TMPDIR", &dir.0).output().expect("wavebound");
        assert!(output.status.code().is_some());
    }
    let left: Vec<_> = std::fs::read_dir(&dir.0).expect("folder").flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
