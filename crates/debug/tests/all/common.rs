//! Programs to debug, and a terminal to debug them in.

use std::path::{Path, PathBuf};
use wb_debug::{Engine, Repl, Sources, Target};
use wb_hw::InstructionSet;
use wb_jobs::launch::{Launches, Session};
use wb_jobs::{Job, JobError, JobSpec};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("workspace root")
}

pub fn sources() -> Sources {
    Sources { folders: vec![root().join("fixtures/gcn3")] }
}

/// A kernel of the fixtures: file, kernel, work-items, of a group, arguments, changes of the machine.
pub fn fixture(file: &str, kernel: &str, grid: u32, group: u32, args: &[&str], sets: &[&str]) -> Job {
    let spec = JobSpec {
        kernel: kernel.to_owned(),
        grid3: [grid, 1, 1],
        group3: [group, 1, 1],
        args: args.iter().map(|a| (*a).to_owned().into()).collect(),
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        ..JobSpec::default()
    };
    Job::from_file(&root().join("fixtures/gcn3").join(file), &spec).expect("a job")
}

pub fn saxpy() -> Job {
    let args = ["f32:2", "buf:f32:128:iota", "buf:f32:128:ones", "i32:100"];
    fixture("basic.O2.co", "saxpy", 128, 64, &args, &["limits.memory=4194304"])
}

/// A program of a filetest.
pub fn filetest(path: &str, isa: InstructionSet, sets: &[&str], threads: u32) -> Job {
    let spec = JobSpec {
        isa: Some(isa),
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        grid: threads,
        group: threads,
        grid3: [threads.max(1), 1, 1],
        group3: [threads.max(1), 1, 1],
        ..JobSpec::default()
    };
    let text = std::fs::read_to_string(root().join("filetests").join(path)).expect("a filetest");
    let name = Path::new(path).file_name().expect("a name").to_string_lossy();
    Job::from_source(&name, &text, &spec).expect("a job")
}

/// Programs of every instruction set, with what they are called.
pub fn every_isa() -> Vec<(&'static str, Job)> {
    vec![
        ("gcn3", saxpy()),
        (
            "riscv",
            filetest(
                "riscv/mechanism/collatz.rv",
                InstructionSet::Riscv,
                &["cores=1", "core.lanes=8", "core.waves=1", "limits.memory=16777216"],
                8,
            ),
        ),
        (
            "vortex",
            filetest(
                "vortex/mechanism/if-else.vx",
                InstructionSet::Vortex,
                &["core.lanes=4", "core.waves=4"],
                0,
            ),
        ),
        (
            "harp",
            filetest(
                "harp/mechanism/harptool-loop.harp",
                InstructionSet::Harp,
                &["limits.memory=1048576"],
                0,
            ),
        ),
        (
            "guppy",
            filetest(
                "guppy/mechanism/branch-nested.guppy",
                InstructionSet::Guppy,
                &["limits.memory=1048576"],
                0,
            ),
        ),
    ]
}

/// What a terminal prints for these commands, and how many of them did not work.
pub fn terminal(target: &Target, commands: &[&str]) -> (String, usize) {
    let mut out = Vec::new();
    let commands = commands.iter().map(|c| (*c).to_owned());
    let mut repl = Repl::new(std::io::empty(), &mut out, false, sources()).script(commands);
    target.debug(&mut Engine::new(&mut repl, true)).expect("runs");
    let errors = repl.errors();
    (String::from_utf8(out).expect("text"), errors)
}

/// A launch file with two launches of one kernel.
pub fn two_launches(folder: &Path) -> Target {
    let object = root().join("fixtures/gcn3/basic.O2.co");
    let text = format!(
        "object = \"{}\"\n\
         [buffers.x]\ntype = \"f32\"\nlength = 64\nfrom = \"iota\"\n\
         [buffers.y]\ntype = \"f32\"\nlength = 64\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 64\ngroup = 64\nargs = [\"f32:2\", \"x\", \"y\", \"i32:64\"]\n\
         [[launch]]\nkernel = \"saxpy\"\ngrid = 64\ngroup = 64\nargs = [\"f32:3\", \"x\", \"y\", \"i32:64\"]\n",
        object.display()
    );
    let path = folder.join("two.toml");
    std::fs::write(&path, text).expect("written");
    let open = move || -> Result<Box<dyn Launches>, JobError> {
        Ok(Box::new(Session::open(&path, &JobSpec::default())?))
    };
    Target::Launches(Box::new(open))
}
