//! Launches of HIP programs that are cut short, taken out of their program, and run again; device code where it lies, and for which GPU.

use crate::hip::{library, root, samples, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Ctrl-C during the second launch: its numbers so far are told, and its trace can be read.
#[test]
fn a_signal_ends_a_launch_with_its_numbers_so_far() {
    let Some(folder) = samples() else { return };
    let dir = std::env::temp_dir().join(format!("wavebound-interrupted-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("folder");
    let program = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["hip", "--json", "--trace", "t.wbt", "--library"])
        .arg(library())
        .arg("--")
        .arg(folder.join("endless"))
        .current_dir(&dir)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("wavebound");
    let trace = dir.join("t-2.wbt");
    let written = || std::fs::metadata(&trace).is_ok_and(|m| m.len() > 10_000);
    let waiting = std::time::Instant::now();
    while !written() {
        assert!(waiting.elapsed().as_secs() < 120, "the second launch writes no trace");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = program.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = program.wait_with_output().expect("output");
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let launches = report["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), 2);
    assert_eq!([&launches[0]["interrupted"], &launches[1]["interrupted"]], [false, true]);
    assert!(launches[1]["cycles"].as_u64() > Some(1000), "{}", launches[1]);
    assert!(launches[1]["wave_instructions"].as_u64() > launches[0]["wave_instructions"].as_u64());
    let export = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["export", "t-2.wbt", "--to", "konata", "--until", "2000", "-o", "t.log"])
        .current_dir(&dir)
        .output()
        .expect("export");
    assert!(export.status.success(), "{}", String::from_utf8_lossy(&export.stderr));
    std::fs::remove_dir_all(dir).expect("removed");
}

/// The kernels of executables, and of bundles that LLVM's own bundler compressed.
#[test]
fn commands_read_device_code_where_it_is() {
    let Some(folder) = samples() else { return };
    let wavebound = |args: &[&str], file: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).arg(file).output();
        let output = output.expect("wavebound");
        let (out, err) = text(&output);
        assert!(output.status.success(), "{args:?} {}: {err}", file.display());
        out
    };
    let program = folder.join("vector_add");
    let kernels: Value = serde_json::from_str(&wavebound(&["kernels", "--json"], &program)).expect("JSON");
    let name = kernels["kernels"][0]["name"].as_str().expect("a name").to_owned();
    assert_eq!(
        (kernels["code_objects"].as_u64(), kernels["kernels"][0]["part"].as_u64()),
        (Some(1), Some(1))
    );
    assert!(wavebound(&["disasm", "--kernel", &name], &program).contains("s_endpgm"));
    assert!(wavebound(&["cfg", "--kernel", &name], &program).contains("blocks"));

    let object = root().join("fixtures/gcn3/basic.O2.co");
    let packed = std::env::temp_dir().join(format!("wavebound-{}.ccob", std::process::id()));
    let bundler = Command::new("/usr/lib/llvm-19/bin/clang-offload-bundler")
        .args(["-type=o", "-compress", "-input=/dev/null"])
        .arg("-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx803")
        .arg(format!("-input={}", object.display()))
        .arg(format!("-output={}", packed.display()))
        .output()
        .expect("clang-offload-bundler: scripts/install-test-tools.sh");
    assert!(bundler.status.success(), "{}", String::from_utf8_lossy(&bundler.stderr));
    assert!(std::fs::read(&packed).expect("bundle").starts_with(b"CCOB"));
    let listing = |file: &Path| {
        wavebound(&["disasm", "--no-source"], file).lines().skip(1).map(str::to_owned).collect()
    };
    let (plain, unpacked): (Vec<String>, Vec<String>) = (listing(&object), listing(&packed));
    assert_eq!(plain, unpacked);
    std::fs::remove_file(packed).expect("removed");
}

/// Captured launches run again: the same bytes in all buffers, and the same cycles.
#[test]
fn captured_launches_run_again() {
    let Some(folder) = samples() else { return };
    let run = |args: &[&str], dir: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).current_dir(dir).output();
        output.expect("wavebound")
    };
    let lib = library();
    let lib = lib.to_str().expect("a path");
    let dir = std::env::temp_dir().join(format!("wavebound-captured-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("folder");
    let kernels = [
        ("vector_add", "add"),
        ("bfs", "step:5"),
        ("reduce", "sum"),
        ("matmul", "multiply"),
        ("constant", "polynomial"),
        ("texture", "gather"),
        ("mapped", "twice"),
        ("streams", "work:2"),
        ("graph", "add:2"),
    ];
    for (program, kernel) in kernels {
        let program = folder.join(program);
        let program = program.to_str().expect("a path");
        let args =
            ["hip", "--json", "--library", lib, "--capture", kernel, "--capture-to", "c", "--", program];
        let output = run(&args, &dir);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{program}: {err}");
        let json = out.split_once("\n{").map_or(out.clone(), |(_, rest)| format!("{{{rest}"));
        let report: Value = serde_json::from_str(&json).expect("JSON");
        let (name, number) = kernel.split_once(':').unwrap_or((kernel, "1"));
        let launches = report["launches"].as_array().expect("launches").iter();
        let mut launches = launches.filter(|l| l["name"].as_str().is_some_and(|n| n == name));
        let original = launches.nth(number.parse::<usize>().expect("number") - 1).expect("the launch");

        let again = run(&["run", "c/launch.toml", "--json"], &dir);
        let (out, err) = text(&again);
        assert!(again.status.success(), "{program} again: {out}{err}");
        let replay: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(replay["launches"][0]["totals"]["cycles"], original["cycles"], "{program}");
        assert!(replay["expect"].as_array().is_some_and(|e| !e.is_empty()), "{program}: {out}");
        std::fs::remove_dir_all(dir.join("c")).expect("removed");
    }
    let missing = run(
        &["hip", "--library", lib, "--capture", "nobody:7", "--", &format!("{}/bfs", folder.display())],
        &dir,
    );
    assert!(!missing.status.success() && text(&missing).1.contains("launch 7 of nobody"), "{missing:?}");
    std::fs::remove_dir_all(dir).expect("removed");
}

/// The check above sees it when a byte of the data is another one.
#[test]
fn a_captured_launch_with_other_data_is_found() {
    let Some(folder) = samples() else { return };
    let dir = std::env::temp_dir().join(format!("wavebound-changed-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("folder");
    let wavebound = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wavebound")).args(args).current_dir(&dir).output();
        output.expect("wavebound")
    };
    let (lib, program) = (library(), folder.join("vector_add"));
    let (lib, program) = (lib.to_str().expect("a path"), program.to_str().expect("a path"));
    let captured =
        wavebound(&["hip", "--library", lib, "--capture", "add", "--capture-to", "c", "--", program]);
    assert!(captured.status.success(), "{}", text(&captured).1);
    let file = dir.join("c/arg0.npy");
    let mut bytes = std::fs::read(&file).expect("data");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    let again = wavebound(&["run", "c/launch.toml"]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again).0);
    std::fs::remove_dir_all(dir).expect("removed");
}

/// A program for several GPUs runs on each of them, and on no other one.
#[test]
fn programs_run_on_the_gpus_they_were_built_for() {
    let Some(folder) = samples() else { return };
    let hip = |machine: &[&str], program: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavebound"));
        command.args(["hip", "--library"]).arg(library()).args(machine).arg("--").arg(folder.join(program));
        let output = command.output().expect("wavebound");
        (output.status.code(), text(&output))
    };
    let sets = |arch: &str| format!("arch={arch}");
    for (machine, arch) in [("vega", ""), ("vega", "gfx906"), ("mi200", "gfx908"), ("mi200", "")] {
        for (program, right) in
            [("matmul_gfx9", "matmul: 2304 values right"), ("bfs_gfx9", "bfs: 500 values right")]
        {
            let set = sets(arch);
            let mut args = vec!["--machine", machine, "--set", "cores=4"];
            if !arch.is_empty() {
                args.extend(["--set", &set]);
            }
            let (code, (out, err)) = hip(&args, program);
            assert!(code == Some(0) && out.contains(right), "{program} on {machine} {arch}: {out}{err}");
        }
    }
    let (code, (_, err)) = hip(&["--machine", "gcn3"], "matmul_gfx9");
    assert!(code != Some(0) && err.contains("no entry for gfx803") && err.contains("gfx90a"), "{err}");
}
