//! OpenCL C on a lane-pc machine (docs/riscv.md): kernels compiled by clang, run under every mechanism, and what is refused.
//! Without clang and lld these tests do nothing; with CI=true their absence is a failure.

use crate::compilers::has_compiler;
use std::path::PathBuf;
use wb_hw::{InstructionSet, Mechanism};
use wb_jobs::args::ArgSpec;
use wb_jobs::object::{self, CompileOptions, RISCV};
use wb_jobs::{Job, JobError, JobSpec};
use wb_sim::RunOptions;

fn source(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("kernel.cl");
    wb_files::write(&path, text).expect("written");
    path
}

/// The compiled kernels of a source.
fn compiled(text: &str) -> Result<Vec<u8>, JobError> {
    let folder = tempfile::tempdir().expect("folder");
    let options = CompileOptions { target: RISCV.to_owned(), ..CompileOptions::default() };
    object::read(&source(&folder, text), &options)
}

fn spec(mechanism: Mechanism, grid: [u32; 3], group: [u32; 3], args: &[&str]) -> JobSpec {
    JobSpec {
        isa: Some(InstructionSet::Riscv),
        grid3: grid,
        group3: group,
        args: args.iter().map(|a| ArgSpec::Text((*a).to_owned())).collect(),
        sets: vec![format!("divergence.mechanism=\"{}\"", mechanism.name())],
        ..JobSpec::default()
    }
}

/// Elements of buffer `show` after a timed and an untimed run, under every mechanism that runs such kernels.
fn results(code: &[u8], grid: [u32; 3], group: [u32; 3], args: &[&str], show: &str) -> Vec<String> {
    let mut first: Option<Vec<String>> = None;
    for mechanism in Mechanism::of(InstructionSet::Riscv) {
        let job = Job::from_bytes("kernel.cl", code, &spec(mechanism, grid, group, args)).expect("a job");
        let buffer = job.find_buffer(show).expect("a buffer");
        for timed in [false, true] {
            let options = RunOptions { timed, check: true, ..RunOptions::default() };
            let outcome =
                job.run(options, None).unwrap_or_else(|e| panic!("{mechanism}, timed {timed}: {}", words(e)));
            let values = job.values(&buffer, &outcome).expect("values");
            match &first {
                Some(first) => assert_eq!(*first, values, "{mechanism}, timed {timed}"),
                None => first = Some(values),
            }
        }
    }
    first.expect("a mechanism")
}

const REVERSE: &str = "
__constant int bonus[4] = {10, 20, 30, 40};
int collatz(int n) {
    int steps = 0;
    while (n > 1) {
        if (n & 1) n = 3 * n + 1; else n /= 2;
        steps++;
    }
    return steps;
}
kernel void reverse(global int *a, int n, local int *scratch, float4 v, uchar u) {
    local float tile[64];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = (float)a[i];
    scratch[l] = collatz(a[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) a[i] = (int)sqrt(tile[63 - l] * tile[63 - l]) + bonus[i & 3] + (int)v.z + u + 1000 * scratch[63 - l];
}
";

#[test]
fn kernels_run_with_groups_local_memory_and_calls() {
    if !has_compiler() {
        return;
    }
    let code = compiled(REVERSE).expect("compiles");
    let args = ["buf:i32:192:iota", "i32:190", "local:256", "f32:1,2,3,4", "u8:7"];
    let got = results(&code, [192, 1, 1], [64, 1, 1], &args[..], "a");
    let collatz = |mut n: u64| {
        let mut steps = 0;
        while n > 1 {
            n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    let want: Vec<String> = (0..192u64)
        .map(|i| match i {
            190.. => i,
            i => {
                let from = i / 64 * 64 + 63 - i % 64;
                from + [10, 20, 30, 40][(i & 3) as usize] + 3 + 7 + 1000 * collatz(from)
            }
        })
        .map(|n| n.to_string())
        .collect();
    assert_eq!(got, want);
}

#[test]
fn atomics_and_edges_of_grids() {
    if !has_compiler() {
        return;
    }
    let code = compiled(
        "kernel void count(global int *a) {
             atomic_add(&a[get_group_id(1)], (int)get_local_size(0) * 100 + (int)get_global_id(0));
             atomic_max(&a[8], (int)get_global_id(1));
         }",
    )
    .expect("compiles");
    // 10 x 3 work-items in groups of 4 x 2.
    let got = results(&code, [10, 3, 1], [4, 2, 1], &["buf:i32:9"], "a");
    let row: i32 = (0..10).map(|x| x + if x < 8 { 400 } else { 200 }).sum();
    assert_eq!(got, [2 * row, row, 0, 0, 0, 0, 0, 0, 2].map(|n: i32| n.to_string()));
}

/// The words of an error and of what caused it.
fn words(error: JobError) -> String {
    let text = format!("{:?}", miette::Report::new(error)).replace(['|', '│'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_lane_pc_machine_cannot_run_is_refused_with_its_line() {
    if !has_compiler() {
        return;
    }
    for (text, part) in [
        (
            "int f(int n) {\n  return n < 2 ? n : f(n - 1) * 7 + f(n - 2);\n}\nkernel void k(global int *a) { a[0] = f(a[1]); }",
            "kernel.cl:2 calls f, which is running already",
        ),
        (
            "typedef struct { int x[9]; } s;\nkernel void k(global int *a, s b) { a[0] = b.x[3]; }",
            "kernel.cl:2: kernel k",
        ),
        ("kernel void k(global double *a) { a[0] *= 2.0; }", "does not compile"),
        ("kernel void k(global int *a) {\n  double d = a[0];\n  a[1] = d * d;\n}", "does not compile"),
        (
            "int f(int n) { return n; }\nkernel void k(global int *a) {\n  int (*g)(int) = f;\n  a[0] = g(a[1]);\n}",
            "does not compile",
        ),
        (
            "kernel void k(read_only image2d_t a, global int *b) { b[0] = 1; }",
            "kernel.cl:1: kernel k: arguments of type image2d_t",
        ),
        ("void f(void) {}", "there is no kernel in it"),
    ] {
        let error = compiled(text).map(|_| ()).expect_err(text);
        let words = words(error);
        assert!(words.contains(part), "{part} in {words}");
    }
}

#[test]
fn a_barrier_that_some_lanes_do_not_reach_is_an_error_with_lanes_and_line() {
    if !has_compiler() {
        return;
    }
    let text = "kernel void k(global int *a) {
  int i = get_local_id(0);
  if (a[i] > 3) {
    a[i] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    a[i] += a[i ^ 1];
  }
  a[i] += 1;
}";
    let code = compiled(text).expect("compiles");
    // Where paths do not meet, the other lanes may have ended before.
    let meets = |m: &Mechanism| m.info().reconvergence.at_any();
    for mechanism in Mechanism::of(InstructionSet::Riscv).filter(meets) {
        for timed in [false, true] {
            let spec = spec(mechanism, [8, 1, 1], [8, 1, 1], &["buf:i32:8:iota"]);
            let job = Job::from_bytes("kernel.cl", &code, &spec).expect("a job");
            let run = job.run(RunOptions { timed, ..RunOptions::default() }, None);
            let words = run.map_or_else(words, |_| String::new());
            assert!(
                words.contains("barrier") && words.contains("kernel.cl:5"),
                "{mechanism}, {timed}: {words}"
            );
        }
    }
}

/// A lock that all lanes of a wave want. The lane that gets it may have to wait for those that spin: then nobody makes progress, and the
/// run ends at its limit. docs/mechanisms.md has the table.
#[test]
fn a_lock_between_lanes_needs_paths_that_do_not_wait_for_each_other() {
    let text = "
    la t0, lock
    li t2, 1
try:
    amoswap.w t1, t2, (t0)
    bnez t1, try
    la t3, count
    lw t4, 0(t3)
    addi t4, t4, 1
    sw t4, 0(t3)
    sw zero, 0(t0)
    ret
    .data
lock: .word 0
count: .word 0
";
    let mut progress = Vec::new();
    for mechanism in Mechanism::of(InstructionSet::Riscv) {
        let mut spec = spec(mechanism, [8, 1, 1], [8, 1, 1], &[]);
        spec.sets.push("limits.cycles=20000".to_owned());
        let job = Job::from_bytes("lock.rv", text.as_bytes(), &spec).expect("a job");
        let count = job.find_buffer("count").expect("a label");
        let ends = [false, true].map(|timed| {
            let outcome = job.run(RunOptions { timed, check: true, ..RunOptions::default() }, None);
            match outcome {
                Ok(outcome) => {
                    assert_eq!(job.values(&count, &outcome).expect("values"), ["8"], "{mechanism}");
                    true
                }
                Err(error) => {
                    let words = words(error);
                    assert!(words.contains("20000"), "{mechanism}: {words}");
                    false
                }
            }
        });
        assert_eq!(ends[0], ends[1], "{mechanism}: untimed and timed");
        if ends[0] {
            progress.push(mechanism.name());
        }
    }
    assert_eq!(progress, ["thesis", "dwf"]);
}
