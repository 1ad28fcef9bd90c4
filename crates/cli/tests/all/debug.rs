//! `wavebound debug` as a user and as an editor start it.

use super::common::{repository, wavebound};
use std::io::Write;
use std::process::{Command, Stdio};

const LAUNCH: [&str; 14] = [
    "--kernel",
    "saxpy",
    "--grid",
    "128",
    "--group",
    "64",
    "--arg",
    "f32:2",
    "--arg",
    "buf:f32:128:iota",
    "--arg",
    "buf:f32:128:ones",
    "--arg",
    "i32:100",
];

#[test]
fn a_script_debugs_a_kernel() {
    let program = repository("fixtures/gcn3/basic.O2.co");
    let mut args = vec!["debug", &program];
    args.extend(LAUNCH);
    args.extend([
        "-e",
        "break 7 wave 1",
        "-e",
        "continue",
        "-e",
        "print arg1[65] + 0",
        "-e",
        "back",
        "-e",
        "quit",
    ]);
    let out = wavebound(&args);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert!(text.contains("breakpoint 1, lane 0") && text.contains("\n65.0\n"), "{text}");
    args.extend(["-e", "never"]);
    let place = args.iter().position(|a| *a == "quit").expect("quit");
    args[place] = "print nothing";
    assert_eq!(wavebound(&args).status.code(), Some(1), "a command did not work");
}

#[test]
fn an_editor_speaks_the_protocol_on_standard_input() {
    let program = repository("fixtures/gcn3/basic.O2.co");
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavebound"))
        .args(["debug", "--dap"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("input");
    let launch = serde_json::json!({ "program": program, "args": LAUNCH, "stopOnEntry": true });
    let wrong = serde_json::json!({ "program": program, "args": ["--nonsense"] });
    let messages = [
        ("initialize", serde_json::json!({})),
        ("launch", wrong),
        ("launch", launch),
        ("disconnect", serde_json::json!({})),
    ];
    for (seq, (command, arguments)) in (1..).zip(messages) {
        let message =
            serde_json::json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments })
                .to_string();
        write!(input, "Content-Length: {}\r\n\r\n{message}", message.len()).expect("sent");
    }
    drop(input);
    let out = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert!(text.contains("--nonsense") && text.contains("\"event\":\"initialized\""), "{text}");
    assert!(text.contains("\"command\":\"disconnect\""), "{text}");
}
