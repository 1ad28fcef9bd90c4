//! Unmodified HIP programs on the simulated GPU: the samples in samples/hip, built by Debian's hipcc, under several machines;
//! faults, exit codes, reports. Without hipcc nothing is tested, except under CI, where that is a failure.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("root")
}

/// Where the samples are; none if there is no hipcc.
pub(crate) fn samples() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let found = Command::new("hipcc").arg("--version").output().is_ok_and(|o| o.status.success());
        if !found {
            assert!(
                std::env::var("CI").as_deref() != Ok("true"),
                "hipcc is missing: scripts/install-test-tools.sh"
            );
            eprintln!("no hipcc: HIP samples are not tested");
            return None;
        }
        let out = root().join("target/hip-samples");
        let status = Command::new(root().join("scripts/build-hip-samples.sh")).arg(&out).output();
        let status = status.expect("script");
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        Some(out)
    };
    BUILT.get_or_init(build).as_deref()
}

/// The library as cargo builds it for tests.
pub(crate) fn library() -> PathBuf {
    let exe = Path::new(env!("CARGO_BIN_EXE_wavebound"));
    let library = exe.parent().expect("folder").join("examples/libhip_library.so");
    assert!(library.exists(), "cargo builds examples for tests: {}", library.display());
    library
}

pub(crate) fn hip(options: &[&str], program: &str, args: &[&str]) -> Option<Output> {
    let folder = samples()?;
    let output = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .arg("hip")
        .arg("--library")
        .arg(library())
        .args(options)
        .arg("--")
        .arg(folder.join(program))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("wavebound");
    Some(output)
}

pub(crate) fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

pub(crate) const SAMPLES: &[(&str, &[&str])] = &[
    ("vector_add", &[]),
    ("bfs", &[]),
    ("reduce", &[]),
    ("matmul", &[]),
    ("module", &["module_kernel.co"]),
    ("dynamic", &["module_kernel.co"]),
    ("streams", &[]),
    ("constant", &[]),
    ("texture", &[]),
    ("errors", &[]),
    ("graph", &[]),
    ("mapped", &[]),
    ("printf", &[]),
    ("early", &[]),
    ("processes", &[]),
    ("large", &[]),
    ("bounds", &[]),
];

fn all_right(options: &[&str]) {
    for (name, args) in SAMPLES {
        let Some(output) = hip(options, name, args) else { return };
        let (out, err) = text(&output);
        assert!(output.status.success(), "{name} with {options:?}:\n{out}\n{err}");
        assert!(
            out.contains(&format!("{name}: ")) && !out.contains("FAILED"),
            "{name} with {options:?}:\n{out}"
        );
    }
}

#[test]
fn samples_are_right_timed() {
    all_right(&["--check"]);
}

#[test]
fn samples_are_right_untimed() {
    all_right(&["--untimed"]);
}

#[test]
fn samples_are_right_on_split_waves() {
    all_right(&["--machine", "pws", "--mechanism", "pws", "--s", "3", "--split-all", "--check"]);
}

#[test]
fn samples_are_right_untimed_on_split_waves() {
    all_right(&["--mechanism", "pws", "--s", "3", "--split-all", "--untimed"]);
}

#[test]
fn kernels_print_in_order() {
    let Some(output) = hip(&[], "printf", &[]) else { return };
    let (out, _) = text(&output);
    let wanted = "lane 0 has 0, half of it is 0.0, it is even\n\
                  lane 3 has 9, half of it is 4.5, it is odd\n\
                  lane 6 has 36, half of it is 18.0, it is even\n\
                  lane 9 has 81, half of it is 40.5, it is odd\n\
                  printf: done\n";
    assert!(out.starts_with(wanted), "{out}");
}

#[test]
fn a_run_is_the_same_every_time() {
    let cycles = || -> Option<Vec<u64>> {
        let file = tempfile::NamedTempFile::new().expect("file");
        let path = file.path().to_str().expect("path").to_owned();
        hip(&["--json", "--report", &path], "bfs", &[])?;
        let report: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect("report")).expect("JSON");
        assert_eq!(report["exit"], 0);
        assert_eq!(report["totals"]["launches"], report["launches"].as_array().expect("list").len());
        let launches = report["launches"].as_array().expect("launches");
        Some(launches.iter().map(|l| l["cycles"].as_u64().expect("cycles")).collect())
    };
    let Some(first) = cycles() else { return };
    assert!(first.len() > 5 && first.iter().all(|&c| c > 100));
    assert_eq!(cycles(), Some(first), "addresses of the host must not show in times");
}

/// Faults name kernel, pc and source line, end the program, and leave nothing behind.
#[test]
fn faults_end_the_program() {
    for (how, options, words) in [
        ("null", &[][..], &["wild", "address 0x0", "fault.cpp:5", "pc 0x"][..]),
        ("wild", &["--untimed"], &["wild", "outside device memory", "fault.cpp:5"]),
        (
            "beyond",
            &[],
            &[
                "wild",
                "outside every buffer (the one before ends ",
                "(lane 0)",
                "fault.cpp:5",
                "check the index",
            ],
        ),
        (
            "neighbour",
            &["--untimed"],
            &["outside every buffer (the one before ends 0 bytes earlier", "(lane 32)", "fault.cpp:5"],
        ),
        ("freed", &[], &["outside every buffer", "(lane 0)", "fault.cpp:5"]),
        (
            "refused",
            &[],
            &["address 0x0", "an allocation of 4398046511104 bytes failed before", "limits.memory="],
        ),
        ("trap", &[], &["trap", "s_trap 2", "fault.cpp:6"]),
        ("endless", &["--limit", "20000"], &["endless", "not done after 20000 cycles", "fault.cpp:8"]),
        ("missing", &[], &["hipDeviceGetByPCIBusId is not supported"]),
    ] {
        let Some(output) = hip(options, "fault", &[how]) else { return };
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{how}: {out}\n{err}");
        assert!(!out.contains("still here"), "{how}: {out}");
        for word in words {
            assert!(err.contains(word), "{how}: `{word}` is missing in\n{err}");
        }
    }
}

/// A run of `sh -c SCRIPT` in the folder of the samples.
fn script(options: &[&str], script: &str, temporary: &Path) -> Option<Output> {
    let folder = samples()?;
    let output = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .arg("hip")
        .arg("--library")
        .arg(library())
        .args(options)
        .args(["--", "sh", "-c", script])
        .current_dir(folder)
        .env("TMPDIR", temporary)
        .output()
        .expect("wavebound");
    Some(output)
}

/// All processes of a run are served, whoever starts them, and their launches are kept apart.
#[test]
fn every_process_of_a_run_is_served() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("path").to_owned();
    let (trace, report) = (at("t.wbt"), at("report.json"));
    let options = ["--trace", &trace, "--json", "--report", &report];
    let Some(output) =
        script(&options, "./vector_add; ./processes; exec ./module module_kernel.co", folder.path())
    else {
        return;
    };
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out}\n{err}");
    for name in ["vector_add", "processes", "module"] {
        assert!(out.contains(&format!("{name}: ")) && !out.contains("FAILED"), "{out}");
    }
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&report).expect("report")).expect("JSON");
    let launches: Vec<(u64, u64)> = json["launches"]
        .as_array()
        .expect("launches")
        .iter()
        .map(|l| (l["process"].as_u64().expect("process"), l["number"].as_u64().expect("number")))
        .collect();
    // The forked child is the third process; its parent waits for it before it goes on.
    assert_eq!(launches, [(1, 1), (2, 1), (3, 1), (3, 2), (2, 2), (4, 1), (4, 2)]);
    assert_eq!(json["processes"], 4);
    for name in ["t-1", "t-p2-1", "t-p3-1", "t-p3-2", "t-p2-2", "t-p4-1", "t-p4-2"] {
        let file = folder.path().join(format!("{name}.wbt"));
        assert!(file.metadata().is_ok_and(|m| m.len() > 100), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 8, "seven traces and the report");
    let Some(output) = script(&[], "./vector_add && ./vector_add", folder.path()) else { return };
    let (out, _) = text(&output);
    assert!(out.contains("2 launches of 2 processes on gcn3"), "{out}");
    assert!(out.contains("\n  1.1  add") && out.contains("\n  2.1  add"), "{out}");
}

/// A program that is not linked with HIP opens our library by its name, and so does each process after the first.
#[test]
fn programs_that_open_the_library_themselves_are_served() {
    let folder = tempfile::tempdir().expect("folder");
    let report = folder.path().join("report.json").to_str().expect("path").to_owned();
    let options = ["--json", "--report", &report];
    let twice = "./dynamic module_kernel.co && ./dynamic module_kernel.co";
    let Some(output) = script(&options, twice, folder.path()) else { return };
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(out.matches("dynamic: 300 values right").count(), 2, "{out}\n{err}");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&report).expect("report")).expect("JSON");
    assert_eq!(json["processes"], 2);
    let launches = json["launches"].as_array().expect("launches");
    let seen: Vec<_> = launches.iter().map(|l| (l["process"].as_u64(), l["name"].as_str())).collect();
    assert_eq!(seen, [(Some(1), Some("scale")), (Some(2), Some("scale"))]);
    // It is not linked: without us there is no library to open, or another one.
    let linked = Command::new("ldd").arg(samples().expect("samples").join("dynamic")).output().expect("ldd");
    assert!(!text(&linked).0.contains("amdhip"), "{:?}", text(&linked));
}

/// The library removes nothing, whatever the environment says.
#[test]
fn folders_of_others_stay() {
    let folder = tempfile::tempdir().expect("folder");
    let precious = folder.path().join("precious");
    std::fs::create_dir(&precious).expect("folder");
    std::fs::write(precious.join("file"), "text").expect("file");
    let options = format!(r#"{{"folder":"{}"}}"#, precious.display());
    let Some(output) = script(&[], &format!("WAVEBOUND_HIP='{options}' ./vector_add"), folder.path()) else {
        return;
    };
    assert!(precious.join("file").exists(), "{:?}", text(&output));
    assert!(text(&output).1.contains("unknown field `folder`"), "{:?}", text(&output));
}

/// Only its owner may enter the folder with the library, and the program runs, whatever the umask.
#[test]
fn the_folder_is_private() {
    let folder = tempfile::tempdir().expect("folder");
    for umask in ["000", "777", "022"] {
        let Some(samples) = samples() else { return };
        let start = format!(
            "umask {umask}; exec {} hip --library {} -- sh -c 'stat -c %a \"${{LD_LIBRARY_PATH%%:*}}\"; ./vector_add'",
            env!("CARGO_BIN_EXE_wavebound"),
            library().display()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &start]).current_dir(samples).env("TMPDIR", folder.path());
        let output = command.output().expect("sh");
        let (out, err) = text(&output);
        assert!(out.starts_with("700\n") && out.contains("values right"), "umask {umask}: {out}\n{err}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }
}

/// However program and command end, the folder goes with them.
#[test]
fn killed_runs_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("folder");
    let count = || std::fs::read_dir(folder.path()).expect("folder").count();
    let Some(output) = script(&[], "./vector_add; kill -9 $$", folder.path()) else { return };
    assert_eq!(output.status.code(), Some(128 + 9));
    assert_eq!(count(), 0, "the program was killed");
    // It waits until its input ends, which is when we let go of it.
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["hip", "--library"])
        .arg(library())
        .args(["--", "sh", "-c", "echo started; read line"])
        .env("TMPDIR", folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("wavebound");
    let mut started = [0; 8];
    let out = command.stdout.as_mut().expect("output");
    std::io::Read::read_exact(out, &mut started).expect("the program starts");
    assert_eq!(count(), 1, "the folder");
    command.kill().expect("kill");
    let input = command.stdin.take();
    command.wait().expect("wait");
    for _ in 0..200 {
        if count() == 0 {
            drop(input);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the command was killed and its folder is still there");
}

/// What was launched before a signal came is told.
#[test]
fn a_signal_ends_the_program_and_its_launches_are_told() {
    let Some(samples) = samples() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["hip", "--library"])
        .arg(library())
        .args(["--", "sh", "-c", "./vector_add; echo done; exec sleep 60"])
        .current_dir(samples)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("wavebound");
    let mut out = std::io::BufReader::new(command.stdout.take().expect("output"));
    let mut line = String::new();
    while line.trim() != "done" {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut out, &mut line).expect("text") > 0, "the sample runs");
    }
    let kill = Command::new("kill").args(["-TERM", &command.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).expect("text");
    assert_eq!(command.wait().expect("wait").code(), Some(128 + 15), "{rest}");
    assert!(rest.contains("add") && rest.contains("cycles"), "{rest}");
}

/// A kernel without a bound does not take the others' away, and the exit code tells.
#[test]
fn each_kernel_is_bounded_on_its_own() {
    let file = tempfile::NamedTempFile::new().expect("file");
    let path = file.path().to_str().expect("path").to_owned();
    let Some(output) = hip(&["--wcet", "--json", "--report", &path], "bounds", &[]) else { return };
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(3), "{out}\n{err}");
    assert!(out.contains("bounds: 64 values right") && err.contains("no bound of collatz: "), "{out}\n{err}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("report")).expect("JSON");
    assert_eq!(report["exit"], 0, "the program's own");
    assert_eq!(report["bounds"].as_array().map(Vec::len), Some(1));
    assert!(report["bounds"][0]["kernel"].as_str().is_some_and(|k| k.contains("scale")));
    assert_eq!(report["missing"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["missing"][0]["name"], "collatz");
    // With limits from the traces all is there.
    let Some(output) = hip(&["--wcet", "--facts-from-trace"], "bounds", &[]) else { return };
    assert!(output.status.success(), "{:?}", text(&output));
    // A process that is killed has bounded nothing.
    let Some(output) = hip(&["--wcet"], "fault", &["trap"]) else { return };
    assert_eq!(output.status.code(), Some(1));
}

/// The folder with the library is gone when the command ends.
#[test]
fn nothing_is_left_behind() {
    let Some(folder) = samples() else { return };
    let temporary = tempfile::tempdir().expect("folder");
    for program in ["vector_add", "fault"] {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound"))
            .arg("hip")
            .arg("--library")
            .arg(library())
            .arg("--")
            .arg(folder.join(program))
            .env("TMPDIR", temporary.path())
            .output()
            .expect("wavebound");
        assert_eq!(output.status.success(), program == "vector_add");
        assert_eq!(std::fs::read_dir(temporary.path()).expect("folder").count(), 0, "{program} leaves files");
    }
}

#[test]
fn exit_codes_pass_through() {
    if samples().is_none() {
        return;
    }
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"));
        command.arg("hip").arg("--library").arg(library()).arg("--").arg(program).args(args);
        command.output().expect("wavebound")
    };
    let output = run("sh", &["-c", "exit 37"]);
    assert_eq!(output.status.code(), Some(37));
    let (_, err) = text(&output);
    assert!(err.contains("did not use our libamdhip64.so.5"), "{err}");
    assert_eq!(run("sh", &["-c", "kill -SEGV $$"]).status.code(), Some(128 + 11));
    let output = run("/no/such/program", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).1.contains("cannot start"));
}

#[test]
fn wrong_options_are_told_before_the_program_starts() {
    if samples().is_none() {
        return;
    }
    for (options, word) in [
        (&["--machine", "harp"][..], "OpenCL programs are gcn3"),
        (&["--set", "core.nonsense=1"], "nonsense"),
        (&["--library", "/no/such/library.so"], "/no/such/library.so"),
        (&["--report", "/no/such/folder/report"], "/no/such/folder"),
        (&["--trace", "/no/such/folder/t.wbt"], "/no/such/folder"),
        (&["--picture", "/no/such/folder/p.svg"], "/no/such/folder"),
        (&["--picture", "picture.txt"], ".svg"),
        (&["--set", "limits.memory=17179869185"], "limits.memory"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound"))
            .arg("hip")
            .arg("--library")
            .arg(if options[0] == "--library" { PathBuf::from(options[1]) } else { library() })
            .args(if options[0] == "--library" { &[][..] } else { options })
            .args(["--", "echo", "started"])
            .output()
            .expect("wavebound");
        let (out, err) = text(&output);
        assert!(!output.status.success() && !out.contains("started"), "{options:?}: {out}");
        assert!(err.contains(word), "{options:?}: {err}");
    }
}

/// What the host cannot give is refused in words, before the program starts; what nobody asked for is not needed.
#[test]
fn devices_larger_than_the_host_are_refused() {
    if samples().is_none() {
        return;
    }
    let run = |kib: u64, options: &[&str]| {
        let limited = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
        Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_wavebound"), "hip", "--library"])
            .arg(library())
            .args(options)
            .args(["--", "echo", "started"])
            .output()
            .expect("sh")
    };
    // The second one just fits, but not with what a device has beside its memory.
    for (kib, memory) in [(3_000_000, "17179869184"), (2_150_000, "2147483648")] {
        let output = run(kib, &["--set", &format!("limits.memory={memory}")]);
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{memory}: {out}\n{err}");
        assert!(err.contains("no room for the") && err.contains("limits.memory="), "{memory}: {err}");
        assert!(!out.contains("started"), "{out}");
    }
    assert!(text(&run(3_000_000, &[])).0.contains("started"), "a smaller device does");
}

#[test]
fn traces_and_pictures_are_written() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("path").to_owned();
    let options = ["--trace", &at("t.wbt"), "--picture", &at("p.svg")];
    let Some(output) = hip(&options, "module", &["module_kernel.co"]) else { return };
    assert!(output.status.success());
    for name in ["t-1.wbt", "t-2.wbt", "p-1.svg", "p-2.svg"] {
        assert!(folder.path().join(name).metadata().is_ok_and(|m| m.len() > 100), "{name}");
    }
}

#[test]
fn kernels_are_bounded() {
    let file = tempfile::NamedTempFile::new().expect("file");
    let path = file.path().to_str().expect("path").to_owned();
    let Some(output) = hip(&["--wcet", "--json", "--report", &path], "vector_add", &[]) else { return };
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out}\n{err}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("report")).expect("JSON");
    let (bound, cycles) = (&report["bounds"][0]["bound"], &report["launches"][0]["cycles"]);
    assert!(
        bound.as_u64() >= cycles.as_u64() && cycles.as_u64() > Some(0),
        "bound {bound}, observed {cycles}\n{err}"
    );
    assert_eq!(report["bounds"][0]["observed"], *cycles);
    // The same without a measurement.
    let proved = ["--wcet", "--proved", "--json", "--report", &path];
    let Some(output) = hip(&proved, "vector_add", &[]) else { return };
    assert!(output.status.success(), "{:?}", text(&output));
    let again: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("report")).expect("JSON");
    let bound = &again["bounds"][0];
    assert_eq!(bound["status"], "proved", "{bound}");
    assert!(bound["bound"].as_u64() >= cycles.as_u64(), "{} < {cycles}", bound["bound"]);
}

#[test]
fn a_sweep_measures_what_the_program_does() {
    let Some(folder) = samples() else { return };
    let here = tempfile::tempdir().expect("folder");
    let program = folder.join("vector_add").display().to_string();
    let plan = here.path().join("plan.toml");
    std::fs::write(&plan, format!("[axes]\nhip = [['{program}']]\ndram.latency = [100, 400]\n"))
        .expect("plan");
    let sweep = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["sweep", &plan.display().to_string(), "--format", "json"])
        .arg("--store")
        .arg(here.path().join("store"))
        .arg("--out")
        .arg(here.path().join("out"))
        .env("WAVEBOUND_HIP_LIBRARY", library())
        .output()
        .expect("wavebound");
    let (out, err) = text(&sweep);
    assert!(sweep.status.success(), "{err}");
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(told["found"]["ok"], 2, "{told}");
    let table = wavebound::sweep::DataSet::open(&here.path().join("out")).expect("a data set").table;
    let rows = table.canonical(&wavebound::sweep::data::PROVENANCE);
    for latency in ["100", "400"] {
        let set = format!("dram.latency={latency}");
        let alone = hip(&["--set", &set, "--json"], "vector_add", &[]).expect("samples");
        let report = text(&alone).0;
        let report: Value = serde_json::from_str(&report[report.find('{').expect("JSON")..]).expect("JSON");
        let cycles = report["totals"]["cycles"].as_u64().expect("cycles").to_string();
        assert!(
            rows.iter().any(|row| row.contains(latency) && row.contains(&cycles)),
            "{latency}: {cycles} cycles alone; the sweep has {rows:?}"
        );
    }
}

/// A row for each launch, a part for each kernel; code of HIP's headers is counted where the program calls it.
#[test]
fn a_page_shows_kernels_and_launches() {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hip-page.html").display().to_string();
    let Some(output) = hip(&["--json", "--html", &page], "bfs", &[]) else { return };
    let (out, err) = text(&output);
    assert!(output.status.success(), "{err}");
    let json: Value = serde_json::from_str(&out[out.find('{').expect("JSON")..]).expect("JSON");
    let html = std::fs::read_to_string(&page).expect("a page");
    let doc = super::pages::parse(&html);
    let sections: Vec<_> = doc.descendants().filter(|n| n.has_tag_name("section")).collect();
    let launches = json["launches"].as_array().expect("launches").len();
    let rows = sections[0].descendants().filter(|n| n.has_tag_name("tr")).count();
    assert_eq!((sections.len(), rows), (2, launches + 1), "an overview and one kernel");
    let total = json["totals"]["cycles"].as_u64().expect("cycles").to_string();
    let plain: String = html.chars().filter(|c| *c != '\u{202f}').collect();
    assert!(plain.contains(&format!("<div class=\"value \">{total}</div>")), "cycles of all launches");
    assert!(html.contains("<code>bfs.cpp</code>"), "lines of the program");
    assert!(!html.contains("<code>amd_") && !html.contains("<code>hip"), "and none of HIP's headers");
    assert!(html.contains("the longest one of this kernel"));
}
