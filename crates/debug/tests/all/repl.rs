//! Scripts in the terminal.

use super::common::{every_isa, fixture, saxpy, terminal, two_launches};
use super::golden;
use wb_debug::Target;

fn job(job: wb_jobs::Job) -> Target {
    Target::Job(Box::new(job))
}

#[test]
fn a_session_on_a_kernel_with_source_lines() {
    let commands = [
        "info kernel",
        "info args",
        "info buffers",
        "list",
        "break 7 if lane == 5",
        "info breaks",
        "continue",
        "where",
        "regs",
        "mask",
        "v 0",
        "print arg1[0..4]",
        "print arg0",
        "print v0 + 1",
        "stepi 2",
        "back",
        "back step",
        "next",
        "delete",
        "watch arg2[3]",
        "continue",
        "print arg2[3]",
        "back",
        "print arg2[3]",
        "delete",
        "until diverge",
        "back diverge",
        "goto 3",
        "wave 1",
        "info waves",
        "lane 40",
        "continue",
        "print arg2[98..102]",
        "rc",
        "quit",
    ];
    let (text, errors) = terminal(&job(saxpy()), &commands);
    assert_eq!(errors, 0, "{text}");
    golden::check("saxpy.txt", &text);
}

#[test]
fn barriers_local_memory_and_groups() {
    let args = ["buf:u32:128:iota", "buf:u32:2", "local:512"];
    let target = job(fixture("basic.O2.co", "reduce", 128, 128, &args, &[]));
    let commands = [
        "until barrier",
        "info groups",
        "until barrier wave 1",
        "local 0..4",
        "until barrier",
        "back barrier",
        "info waves",
        "hits 1 2",
        "break 30",
        "hits 1 3",
        "continue",
        "continue",
        "print arg1",
        "quit",
    ];
    let (text, errors) = terminal(&target, &commands);
    assert_eq!(errors, 1, "only `hits 1` before there is one: {text}");
    golden::check("reduce.txt", &text);
}

#[test]
fn calls_have_a_stack() {
    let args = ["buf:u32:64:iota", "buf:u32:64", "u32:3"];
    let target = job(fixture("calls.O2.co", "coprime", 64, 64, &args, &[]));
    let commands = [
        "info kernel",
        "break gcd",
        "continue",
        "where",
        "stepi 3",
        "back finish",
        "where",
        "stepi",
        "where",
        "finish",
        "where",
        "delete",
        "back finish",
        "next",
        "until diverge",
        "where",
        "next",
        "next",
        "where",
        "quit",
    ];
    let (text, errors) = terminal(&target, &commands);
    assert_eq!(errors, 0, "{text}");
    golden::check("calls.txt", &text);
}

#[test]
fn inlined_calls_are_frames() {
    let args = ["buf:f32:64:iota", "buf:f32:64", "i32:64", "i32:1"];
    let target = job(fixture("stencil.O2.co", "stencil_plain", 64, 64, &args, &[]));
    let (text, errors) =
        terminal(&target, &["break 6", "continue", "where", "finish", "where", "back step", "next", "quit"]);
    assert_eq!(errors, 0, "{text}");
    assert!(text.contains("in point (inlined) at stencil.cl:6"), "{text}");
    golden::check("inlined.txt", &text);
}

#[test]
fn every_instruction_set_can_be_debugged() {
    for (name, program) in every_isa() {
        let commands = [
            "info kernel",
            "stepi 5",
            "regs",
            "mask",
            "paths",
            "disasm",
            "until diverge",
            "back 2",
            "info waves",
            "continue",
            "rc",
            "quit",
        ];
        let (text, errors) = terminal(&job(program), &commands);
        assert_eq!(errors, 0, "{name}: {text}");
        golden::check(&format!("isa-{name}.txt"), &text);
    }
}

#[test]
fn launches_follow_each_other_in_both_directions() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = two_launches(folder.path());
    let commands = [
        "launch",
        "print y[1..3]",
        "tbreak 8",
        "continue",
        "print y[1..3]",
        "break 7",
        "rc",
        "rc",
        "rc",
        "print y[1..3]",
        "rc",
        "rc",
        "delete",
        "launch",
        "back launch",
        "back launch",
        "continue",
        "print y[1..3]",
        "back",
        "launch",
        "quit",
    ];
    let (text, errors) = terminal(&target, &commands);
    assert_eq!(errors, 0, "{text}");
    golden::check("launches.txt", &text);
}

#[test]
fn what_cannot_be_done_is_said() {
    let commands = [
        "frobnicate",
        "break nowhere",
        "break 9999",
        "break other.cl:3",
        "break *0x3",
        "break 7 if foo == 1",
        "break 7 if 1 +",
        "watch arg1[999]",
        "print arg1[500]",
        "print nothing",
        "v 999",
        "lane 64",
        "wave 77",
        "path 3",
        "delete 5",
        "hits 1 x",
        "info things",
        "mem 0xffffffffffff",
        "print arg1[0..4] as f99",
        "local",
        "stepi x",
        "until",
        "help nothing",
        "continue",
        "continue",
        "regs",
        "quit",
    ];
    let (text, errors) = terminal(&job(saxpy()), &commands);
    assert_eq!(errors, commands.len() - 2, "{text}");
    golden::check("errors.txt", &text);
}

#[test]
fn a_launch_that_fails_can_be_looked_at_and_left_backwards() {
    let args = ["f32:2", "buf:f32:8", "buf:f32:8", "i32:100000"];
    let target = job(fixture("basic.O2.co", "saxpy", 65536, 64, &args, &[]));
    let (text, errors) = terminal(&target, &["continue", "where", "back", "stepi", "continue", "rc", "quit"]);
    assert_eq!(errors, 1, "nothing comes after a failure: {text}");
    golden::check("failure.txt", &text);
}

/// Input that is no text, and commands of random bytes.
#[test]
fn random_input_does_no_harm() {
    let mut seed = 7u64;
    let words = [
        "break",
        "print",
        "x[",
        "..",
        "if",
        "v3",
        "0x",
        "as f32",
        "*",
        "until",
        "mem",
        "]",
        "-1",
        "\u{fffd}",
        "watch",
        "99999999999999999999",
    ];
    for _ in 0..40 {
        let mut lines = Vec::new();
        for _ in 0..8 {
            let mut line = Vec::new();
            for _ in 0..4 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                line.push(words[(seed >> 33) as usize % words.len()]);
            }
            lines.push(line.join(if seed & 1 == 0 { " " } else { "" }));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        terminal(&job(saxpy()), &lines);
    }
}
