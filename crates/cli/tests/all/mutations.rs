//! Every command reads every kind of input in damaged form: it may refuse, but it may not panic, die by a signal, run on or
//! take more memory than it should. `WAVEBOUND_MUTATIONS=100000` runs more cases, `WAVEBOUND_MUTATION=n` one of them again.

use crate::common;
use crate::mutation;

use common::{NEST, control, folder, repository, stdout};
use mutation::{Limits, Random, mutate, watch};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Cases in CI: some seconds.
const CASES: u64 = 500;
/// No more time than this for the cases of CI, however slow the computer is.
const BUDGET: Duration = Duration::from_secs(45);
const LIMITS: Limits = Limits { time: Duration::from_secs(20), memory_kib: 3 << 20, output: 32 << 20 };

/// A kind of input: a good one, and the commands that read it. `%` is the damaged file.
struct Kind {
    name: &'static str,
    file: PathBuf,
    commands: Vec<Vec<String>>,
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Source programs of one kind.
fn sources(dir: &str, extension: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut work = vec![PathBuf::from(repository(dir))];
    while let Some(at) = work.pop() {
        for entry in std::fs::read_dir(at).expect("folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                out.push(path);
            }
        }
    }
    out.sort();
    assert!(!out.is_empty(), "no .{extension} in {dir}");
    out
}

/// Good inputs of every kind; what no fixture has is made by the commands that write it.
fn kinds(dir: &Path) -> Vec<Kind> {
    let control = control();
    let made = |name: &str| dir.join(name).display().to_string();
    let nest = NEST.join(" ");
    let tool = |text: &str| stdout(&words(text).iter().map(String::as_str).collect::<Vec<_>>());
    let harp = sources("filetests/harp", "harp")[0].display().to_string();
    let guppy = sources("filetests/guppy/mechanism", "guppy")[0].display().to_string();
    tool(&format!("asm {harp} -o {}", made("good.hof")));
    tool(&format!("asm {guppy} -o {}", made("good.gupm")));
    tool(&format!(
        "wcet {control} {nest} --unmeasured exclude --certificate {} --write-trace {}",
        made("good.json"),
        made("good.csv")
    ));
    tool(&format!("wcet {control} {nest} --unmeasured exclude --write-trace {}", made("good.parquet")));
    tool(&format!("wcet {control} {nest} --times-template {}", made("times.toml")));
    tool(&format!("run {control} {nest} --trace {} --out arg1={}", made("good.wbt"), made("good.npy")));
    tool(&format!("facts {control} --kernel nest -o {}", made("facts.toml")));
    std::fs::write(made("machine.toml"), tool("machines show gcn3")).expect("file");
    let ffx = "<flowfacts>\n <function address=\"0x1000\">\n  <loop address=\"0x1010\" maxcount=\"10\" totalcount=\"20\"/>\n \
               </function>\n</flowfacts>\n";
    std::fs::write(made("facts.ffx"), ffx).expect("file");
    let launch = format!(
        "object = \"{control}\"\nmachine = \"gcn3\"\nset = [\"core.waves=8\"]\n[buffers.a]\ntype = \"u32\"\nlength = 256\nfrom = \
         \"random=1\"\n[buffers.b]\ntype = \"u32\"\nlength = [16, 16]\n[[launch]]\nkernel = \"nest\"\ngrid = 256\ngroup = 64\nargs = \
         [\"a\", \"b\"]\nrepeat = 2\n[[expect]]\nbuffer = \"a\"\nvalues = [1]\nat = 3\nabs = 1e9\n"
    );
    std::fs::write(made("launch.toml"), launch).expect("file");
    let kind = |name, file: &Path, commands: &[String]| Kind {
        name,
        file: file.to_owned(),
        commands: commands.iter().map(|c| words(c)).collect(),
    };
    let run = |more: &str| format!("run % --max-cycles 20000 {more}");
    let programs = |isa: &str| {
        vec![
            run(""),
            run("--untimed --check --log"),
            format!("run % --isa {isa} --max-cycles 5000 --trace t.wbt --picture p.svg"),
            "asm % -o out.bin".to_owned(),
            "asm --check %".to_owned(),
            "disasm %".to_owned(),
            "disasm --source %".to_owned(),
            "cfg %".to_owned(),
            "cfg % --format svg".to_owned(),
            "cfg % --format json".to_owned(),
            "facts %".to_owned(),
            "picture % --max-cycles 2000 -o p.png".to_owned(),
        ]
    };
    let mut gcn3 = programs("gcn3");
    gcn3.extend([
        "kernels %".to_owned(),
        "kernels % --json".to_owned(),
        "cfg % --kernel nest".to_owned(),
        "facts % --kernel nest --json".to_owned(),
        "split % --list".to_owned(),
        "split % --all -o s.co".to_owned(),
        format!("run % {nest} --max-cycles 20000 --split-all --mechanism pws"),
        format!("run % {nest} --untimed --show arg1:8"),
        format!("wcet % {nest} --max-cycles 20000 --unmeasured exclude --facts-from-trace"),
    ]);
    let with = |option: &str| {
        vec![format!("wcet {control} {nest} --unmeasured exclude --max-cycles 20000 {option}")]
    };
    let mut kinds = Vec::new();
    for path in sources("filetests/harp", "harp").iter().take(12) {
        kinds.push(kind("HARP source", path, &programs("harp")));
    }
    for path in sources("filetests/guppy", "guppy").iter().take(12) {
        kinds.push(kind("GUPPY source", path, &programs("guppy")));
    }
    for path in sources("filetests/gcn3", "s").iter().take(12) {
        kinds.push(kind("GCN3 source", path, &gcn3));
    }
    for path in sources("filetests/vortex", "vx").iter().take(12) {
        kinds.push(kind("Vortex source", path, &programs("vortex")));
    }
    kinds.extend([
        kind("HARP object", &dir.join("good.hof"), &programs("harp")),
        kind("GUPPY module", &dir.join("good.gupm"), &programs("guppy")),
        kind("code object", Path::new(&control), &gcn3),
        kind("Vortex executable", Path::new(&repository("fixtures/vortex/hello.elf")), &programs("vortex")),
        kind(
            "machine",
            &dir.join("machine.toml"),
            &[
                format!("run {control} {nest} --machine % --max-cycles 20000"),
                format!("wcet {control} {nest} --machine % --max-cycles 20000 --unmeasured exclude"),
                format!("kernels {control} --machine %"),
                "machines show %".to_owned(),
            ],
        ),
        kind(
            "launch file",
            &dir.join("launch.toml"),
            &[run(""), run("--json"), "wcet % --max-cycles 20000 --unmeasured exclude".to_owned()],
        ),
        kind(
            "certificate",
            &dir.join("good.json"),
            &[
                "check-bound %".to_owned(),
                "check-bound % --json".to_owned(),
                format!("check-bound % --program {control} {nest}"),
            ],
        ),
        kind(
            "facts",
            &dir.join("facts.toml"),
            &[format!("facts {control} --kernel nest --check %"), with("--facts %").remove(0)],
        ),
        kind(
            "FFX",
            &dir.join("facts.ffx"),
            &[format!("facts {control} --kernel nest --check %"), with("--facts %").remove(0)],
        ),
        kind("times in CSV", &dir.join("good.csv"), &with("--trace %")),
        kind("times in Parquet", &dir.join("good.parquet"), &with("--trace %")),
        kind("table of times", &dir.join("times.toml"), &with("--times %")),
        kind("trace", &dir.join("good.wbt"), &["picture % -o p.svg".to_owned()]),
        kind(
            "data",
            &dir.join("good.npy"),
            &[format!(
                "run {control} --kernel nest --grid 64 --arg buf:u32:% --arg buf:u32:256 --max-cycles 20000"
            )],
        ),
    ]);
    kinds
}

/// A case by its number: writes the damaged file and runs the command.
fn run(case: u64, kinds: &[Kind], dir: &Path) -> Result<Option<i32>, String> {
    let mut random = Random(case.wrapping_mul(0x5851_f42d_4c95_7f2d));
    // In turn, so that every kind has its share.
    let kind = &kinds[case as usize % kinds.len()];
    let other = random.pick(kinds);
    let read = |k: &Kind| std::fs::read(&k.file).expect("an input");
    let bytes = mutate(&read(kind), &read(other), &mut random);
    let name = kind.file.extension().map_or("input".into(), |e| format!("input.{}", e.to_string_lossy()));
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("the damaged file");
    let path = path.display().to_string();
    let args: Vec<String> = random.pick(&kind.commands).iter().map(|w| w.replace('%', &path)).collect();
    watch(env!("CARGO_BIN_EXE_wavebound"), &args, dir, LIMITS).map_err(|why| {
        // The next case takes the name.
        let kept = dir.join(format!("failed-{case}-{}", path.rsplit('/').next().unwrap_or("input")));
        let _ = std::fs::copy(&path, &kept);
        let shown = args.join(" ").replace(&path, &kept.display().to_string());
        format!(
            "case {case}, a damaged {}: {why}\nagain: WAVEBOUND_MUTATION={case} cargo test -p wavebound-cli mutations\n   or: \
             wavebound {shown}",
            kind.name
        )
    })
}

#[test]
fn damaged_inputs_are_refused_or_read() {
    let dir = folder("mutations");
    let kinds = kinds(&dir);
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    if let Some(case) = number("WAVEBOUND_MUTATION") {
        match run(case, &kinds, &dir) {
            Ok(code) => eprintln!("case {case} ended with {code:?}"),
            Err(why) => panic!("{why}"),
        }
        return;
    }
    let wanted = number("WAVEBOUND_MUTATIONS");
    let start = Instant::now();
    let mut codes = std::collections::BTreeMap::new();
    let mut failures = Vec::new();
    for case in 0..wanted.unwrap_or(CASES) {
        if wanted.is_none() && start.elapsed() > BUDGET {
            break;
        }
        match run(case, &kinds, &dir) {
            Ok(code) => *codes.entry(code).or_insert(0) += 1,
            Err(why) => failures.push(why),
        }
    }
    eprintln!("exit codes: {codes:?}, {:?}", start.elapsed());
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n\n"));
    // Both ends are reached: files that still work, and files that do not.
    assert!(codes.contains_key(&Some(0)) && codes.contains_key(&Some(1)), "{codes:?}");
}

#[test]
fn the_watch_sees_what_it_is_for() {
    let dir = folder("mutations-watch");
    let limits = Limits { time: Duration::from_secs(3), memory_kib: 200 << 10, output: 1 << 20 };
    let shell = |script: &str| watch("sh", &["-c".into(), script.into()], &dir, limits);
    assert_eq!(shell("exit 3"), Ok(Some(3)));
    for (script, why) in [
        ("kill -SEGV $$", "signal"),
        ("exec sleep 60", "took more than"),
        ("echo thread main panicked at x >&2; exit 1", "panicked"),
        ("exit 101", "panicked"),
        ("exec yes", "wrote"),
        ("exec tail -n 1 /dev/zero", "memory"),
    ] {
        let said = shell(script).expect_err(script);
        assert!(said.contains(why), "{script}: {said}");
    }
}

#[test]
fn mutations_differ_and_repeat() {
    let bytes: Vec<u8> = b"lanes = 64\nwaves = 8\n".repeat(20);
    let made: Vec<Vec<u8>> = (0..300).map(|n| mutate(&bytes, b"other", &mut Random(n))).collect();
    let again: Vec<Vec<u8>> = (0..300).map(|n| mutate(&bytes, b"other", &mut Random(n))).collect();
    assert_eq!(made, again);
    let changed = made.iter().filter(|m| **m != bytes).count();
    assert!(changed > 290, "{changed}");
    assert!(made.iter().any(|m| m.len() < bytes.len() / 2) && made.iter().any(|m| m.len() > 20_000));
    assert!(made.iter().any(|m| String::from_utf8_lossy(m).contains("18446744073709551616")));
}
