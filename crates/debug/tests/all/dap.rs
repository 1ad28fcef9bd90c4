//! Exchanges with editors. Recorded ones are replayed: what is sent are the lines with `>`, what must come back those with `<`.
//! `UPDATE_GOLDEN=1` records them anew from the requests.

use super::common::{filetest, fixture, root, sources};
use super::golden;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;
use wb_debug::{DebugError, Sources, Target, serve};
use wb_hw::InstructionSet;

/// An editor that talks to the debugger.
struct Editor {
    to: Option<std::io::PipeWriter>,
    from: BufReader<std::io::PipeReader>,
    debugger: Option<std::thread::JoinHandle<()>>,
    seq: u64,
    log: String,
}

/// Programs by the name that `launch` gives them.
fn launch(arguments: &Value) -> Result<(Target, Sources), DebugError> {
    let job = match arguments["program"].as_str() {
        Some("saxpy") => {
            let args = ["f32:2", "buf:f32:128:iota", "buf:f32:128:ones", "i32:100"];
            fixture("basic.O2.co", "saxpy", 128, 64, &args, &[])
        }
        Some("fault") => {
            let args = ["f32:2", "buf:f32:8", "buf:f32:8", "i32:100000"];
            fixture("basic.O2.co", "saxpy", 65536, 64, &args, &[])
        }
        Some("collatz") => {
            let sets = ["cores=1", "core.lanes=8", "core.waves=1"];
            filetest("riscv/mechanism/collatz.rv", InstructionSet::Riscv, &sets, 8)
        }
        Some("endless") => wb_jobs::Job::from_source(
            "endless.harp",
            "entry:\n  jmpi entry;\n",
            &wb_jobs::JobSpec { isa: Some(InstructionSet::Harp), ..wb_jobs::JobSpec::default() },
        )
        .map_err(|e| DebugError::new(e.to_string()))?,
        _ => return Err(DebugError::new("there is no such program").hint("name one that exists")),
    };
    Ok((Target::Job(Box::new(job)), sources()))
}

impl Editor {
    fn new() -> Editor {
        let (input, to) = std::io::pipe().expect("a pipe");
        let (from, mut output) = std::io::pipe().expect("a pipe");
        let debugger = std::thread::spawn(move || serve(BufReader::new(input), &mut output, &mut launch));
        Editor {
            to: Some(to),
            from: BufReader::new(from),
            debugger: Some(debugger),
            seq: 0,
            log: String::new(),
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        if let Some(to) = &mut self.to {
            to.write_all(bytes).expect("sent");
        }
    }

    fn send(&mut self, command: &str, arguments: Value) {
        self.seq += 1;
        let message =
            json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        self.log.push_str(&format!("> {message}\n"));
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.from.read_line(&mut line).expect("a header") > 0,
                "the debugger has gone\n{}",
                self.log
            );
            match line.trim().split_once(':') {
                Some((_, n)) => length = n.trim().parse().expect("a length"),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).expect("a message");
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        // Where the workspace lies is nobody's business.
        let text = message.to_string().replace(&root().display().to_string(), "ROOT");
        self.log.push_str(&format!("< {text}\n"));
        message
    }

    /// Sends, and receives up to the answer; if that lets the run go on, up to where it stops or ends.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.send(command, arguments);
        let seq = self.seq;
        let mut answer = Value::Null;
        let goes = matches!(
            command,
            "continue"
                | "next"
                | "stepIn"
                | "stepOut"
                | "stepBack"
                | "reverseContinue"
                | "configurationDone"
                | "restart"
        );
        let mut stands = !goes && command != "launch";
        while answer.is_null() || !stands {
            let message = self.receive();
            if message["request_seq"] == seq {
                stands |= message["success"] == false;
                answer = message;
            } else {
                stands |= matches!(message["event"].as_str(), Some("stopped" | "terminated" | "initialized"));
            }
        }
        answer
    }

    fn begin(&mut self, program: &str, stop: bool) {
        self.ask("initialize", json!({ "adapterID": "wavebound", "linesStartAt1": true }));
        self.ask("launch", json!({ "program": program, "stopOnEntry": stop }));
    }

    /// Ends; the debugger has to, too.
    fn end(mut self) -> String {
        self.ask("disconnect", json!({}));
        self.to = None;
        let mut rest = Vec::new();
        self.from.read_to_end(&mut rest).expect("the end");
        self.debugger.take().expect("a thread").join().expect("no panic");
        std::mem::take(&mut self.log)
    }
}

/// The requests of a recorded exchange are sent again, and everything that came must come again.
fn replay(name: &str, record: impl FnOnce(&mut Editor)) {
    let mut editor = Editor::new();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        record(&mut editor);
        golden::check(name, &editor.end());
        return;
    }
    let path = root().join("crates/debug/tests/golden").join(name);
    let recorded = std::fs::read_to_string(path).expect("a recorded exchange");
    for line in recorded.lines() {
        match line.split_once(' ') {
            Some((">", text)) => {
                let message: Value = serde_json::from_str(text).expect("JSON");
                editor.seq = message["seq"].as_u64().expect("a number") - 1;
                editor.send(message["command"].as_str().expect("a command"), message["arguments"].clone());
            }
            Some(("<", want)) => {
                editor.receive();
                let got = editor.log.lines().next_back().unwrap_or("").trim_start_matches("< ");
                assert_eq!(got, want, "{name}");
            }
            _ => panic!("`{line}` is no line of an exchange"),
        }
    }
    assert_eq!(editor.log, recorded);
}

#[test]
fn a_kernel_with_sources() {
    replay("dap-gcn3.txt", |e| {
        e.begin("saxpy", true);
        let source = json!({ "path": "/somewhere/basic.cl" });
        e.ask("setBreakpoints", json!({ "source": source, "breakpoints": [
            { "line": 7, "condition": "lane == 5 && wave == 1" }, { "line": 8, "hitCondition": ">= 2" }, { "line": 900 }, { "line": 6, "condition": "foo" }
        ] }));
        e.ask("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "nothing" }] }));
        e.ask("setExceptionBreakpoints", json!({ "filters": ["faults"] }));
        e.ask("configurationDone", json!({}));
        e.ask("threads", json!({}));
        e.ask("continue", json!({ "threadId": 1 }));
        e.ask("threads", json!({}));
        e.ask("stackTrace", json!({ "threadId": 65 }));
        e.ask("scopes", json!({ "frameId": 65 << 10 }));
        for reference in 1..=6 {
            e.ask("variables", json!({ "variablesReference": reference, "start": 0, "count": 3 }));
        }
        e.ask("evaluate", json!({ "expression": "arg1", "context": "watch" }));
        e.ask("variables", json!({ "variablesReference": 9, "filter": "indexed", "start": 62, "count": 4 }));
        e.ask("evaluate", json!({ "expression": "arg1[5] + lane", "context": "hover" }));
        e.ask("evaluate", json!({ "expression": "mask", "context": "repl" }));
        e.ask("evaluate", json!({ "expression": "info waves", "context": "repl" }));
        e.ask("evaluate", json!({ "expression": "nothing", "context": "watch" }));
        e.ask("dataBreakpointInfo", json!({ "name": "arg2[70]" }));
        e.ask("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
        e.ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": "bad" }] }));
        e.ask("next", json!({ "threadId": 65 }));
        e.ask("stepBack", json!({ "threadId": 65 }));
        e.ask(
            "setDataBreakpoints",
            json!({ "breakpoints": [{ "dataId": "0x37318:4:arg2[70]", "accessType": "write" }] }),
        );
        e.ask("continue", json!({ "threadId": 65 }));
        e.ask("setDataBreakpoints", json!({ "breakpoints": [] }));
        e.ask("stepBack", json!({ "threadId": 65, "granularity": "instruction" }));
        e.ask("stepIn", json!({ "threadId": 65, "granularity": "instruction" }));
        e.ask("stepBack", json!({ "threadId": 65, "granularity": "instruction" }));
        e.ask("setExceptionBreakpoints", json!({ "filters": ["faults", "divergence"] }));
        e.ask("reverseContinue", json!({ "threadId": 65 }));
        e.ask("exceptionInfo", json!({ "threadId": 65 }));
        e.ask("setExceptionBreakpoints", json!({ "filters": ["faults"] }));
        e.ask(
            "disassemble",
            json!({ "memoryReference": "0x3448", "instructionOffset": -1, "instructionCount": 3 }),
        );
        e.ask("readMemory", json!({ "memoryReference": "0x27000", "count": 12 }));
        e.ask("gotoTargets", json!({}));
        e.ask("continue", json!({ "threadId": 65 }));
    });
}

#[test]
fn a_kernel_of_another_instruction_set() {
    replay("dap-riscv.txt", |e| {
        e.begin("collatz", false);
        e.ask("setInstructionBreakpoints", json!({ "breakpoints": [{ "instructionReference": "0x3" }] }));
        e.ask(
            "setBreakpoints",
            json!({ "source": { "name": "collatz.rv" }, "breakpoints": [{ "line": 24 }] }),
        );
        e.ask("configurationDone", json!({}));
        e.ask("threads", json!({}));
        e.ask("stackTrace", json!({ "threadId": 1, "levels": 1 }));
        e.ask("source", json!({ "sourceReference": 1 }));
        e.ask("scopes", json!({ "frameId": 1 << 10 }));
        e.ask("variables", json!({ "variablesReference": 1, "start": 5, "count": 8 }));
        e.ask("variables", json!({ "variablesReference": 3 }));
        e.ask("stepIn", json!({ "threadId": 1 }));
        e.ask("stepOut", json!({ "threadId": 1 }));
        e.ask("reverseContinue", json!({ "threadId": 1 }));
        e.ask("restart", json!({}));
        e.ask("setBreakpoints", json!({ "source": { "name": "collatz.rv" }, "breakpoints": [] }));
        e.ask("continue", json!({ "threadId": 1 }));
    });
}

#[test]
fn a_fault_is_an_exception() {
    let mut e = Editor::new();
    e.begin("fault", false);
    e.ask("configurationDone", json!({}));
    assert!(e.log.contains("\"reason\":\"exception\""), "{}", e.log);
    let info = e.ask("exceptionInfo", json!({ "threadId": 1 }));
    assert!(
        info["body"]["description"].as_str().is_some_and(|d| d.contains("outside every buffer")),
        "{info}"
    );
    e.ask("stepBack", json!({ "granularity": "instruction" }));
    e.ask("continue", json!({}));
    e.ask("continue", json!({}));
    assert!(e.log.contains("\"exitCode\":1"), "{}", e.log);
    e.end();
}

#[test]
fn an_endless_kernel_can_be_interrupted() {
    let mut e = Editor::new();
    e.begin("endless", false);
    e.send("configurationDone", json!({}));
    e.receive();
    std::thread::sleep(Duration::from_millis(100));
    e.send("threads", json!({}));
    assert_eq!(e.receive()["body"]["threads"][0]["id"], 1);
    e.send("next", json!({ "threadId": 1 }));
    assert_eq!(e.receive()["success"], false, "it runs already");
    e.send("pause", json!({ "threadId": 1 }));
    assert_eq!(e.receive()["success"], true);
    assert_eq!(e.receive()["body"]["reason"], "pause");
    e.send("continue", json!({ "threadId": 1 }));
    e.receive();
    e.end();
}

/// Whatever comes, the debugger answers or says what is wrong, and goes on.
#[test]
fn damaged_messages_do_no_harm() {
    let frame = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let mut e = Editor::new();
    for bad in
        ["{", "[]", "null", "{}", "{\"type\":\"request\"}", "{\"type\":\"request\",\"command\":7}", "\u{1}"]
    {
        e.raw(frame(bad).as_bytes());
        assert_eq!(e.receive()["event"], "output", "{bad}");
    }
    e.raw(b"Nonsense: 1\r\n\r\n");
    assert_eq!(e.receive()["event"], "output");
    e.ask("launch", json!({}));
    e.ask("launch", json!({ "program": 7 }));
    e.ask("continue", json!({}));
    e.begin("saxpy", true);
    let commands = [
        "initialize",
        "launch",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "setDataBreakpoints",
        "dataBreakpointInfo",
        "setExceptionBreakpoints",
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "readMemory",
        "disassemble",
        "source",
        "exceptionInfo",
        "pause",
        "nothing",
    ];
    let odd = [
        Value::Null,
        json!([]),
        json!("x"),
        json!({}),
        json!({ "threadId": 0 }),
        json!({ "threadId": u64::MAX, "frameId": u64::MAX }),
        json!({ "frameId": 0, "variablesReference": 0, "expression": "((", "memoryReference": "0xzz" }),
        json!({ "variablesReference": u64::MAX, "memoryReference": "0xffffffffffffffff", "count": u64::MAX, "offset": i64::MIN, "instructionCount": u64::MAX, "instructionOffset": i64::MIN }),
        json!({ "memoryReference": "0", "count": -1, "instructionCount": 3, "instructionOffset": i64::MAX, "sourceReference": u64::MAX, "name": "x[99999999999]" }),
        json!({ "source": {}, "breakpoints": 7, "filters": "x" }),
        json!({ "source": { "path": "basic.cl" }, "breakpoints": [7, {}, { "line": u64::MAX - 1 }, { "line": 7, "hitCondition": "x" }] }),
        json!({ "breakpoints": [{}, { "name": 7 }, { "instructionReference": "y" }, { "dataId": "0x10000:0:x" }, { "dataId": "0xffffffffffffffff:8:x" }] }),
    ];
    for command in commands {
        for arguments in &odd {
            e.send(command, arguments.clone());
            let answer = e.receive();
            assert_eq!(answer["command"], command, "{arguments}");
        }
    }
    e.end();
}

#[test]
fn an_editor_that_goes_away_ends_the_debugger() {
    for program in ["saxpy", "endless"] {
        let mut e = Editor::new();
        e.begin(program, false);
        e.send("configurationDone", json!({}));
        e.receive();
        e.to = None;
        e.debugger.take().expect("a thread").join().expect("no panic");
    }
}
