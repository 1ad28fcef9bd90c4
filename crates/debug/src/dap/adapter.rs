//! The state of a session with an editor, and how messages leave it.

use super::handles::Handles;
use super::placed::Placed;
use super::wire::{self, Incoming};
use crate::code::Sources;
use crate::error::DebugError;
use crate::goal::Go;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::mpsc::Receiver;

/// What happened to a request.
pub(super) enum Answer {
    /// Answered.
    Done,
    /// The run goes on.
    Go(Go),
    /// The configuration is complete.
    Configured,
}

pub(super) struct Adapter<'o> {
    output: &'o mut dyn Write,
    pub incoming: Receiver<Incoming>,
    seq: u64,
    pub sources: Sources,
    pub handles: Handles,
    pub placed: Placed,
    /// The request that launched, until it is answered.
    pub launching: Option<Value>,
    pub configured: bool,
    pub stop_on_entry: bool,
    pub stop_at_end: bool,
    /// Stop where an instruction fails.
    pub faults: bool,
    /// The editor wants to end.
    pub quit: bool,
    pub running: bool,
    /// The editor counts lines and columns from 1.
    pub from_one: bool,
}

impl<'o> Adapter<'o> {
    pub fn new(output: &'o mut dyn Write, incoming: Receiver<Incoming>) -> Adapter<'o> {
        Adapter {
            output,
            incoming,
            seq: 0,
            sources: Sources { folders: Vec::new() },
            handles: Handles::default(),
            placed: Placed::default(),
            launching: None,
            configured: false,
            stop_on_entry: true,
            stop_at_end: false,
            faults: true,
            quit: false,
            running: false,
            from_one: true,
        }
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        // An editor that has gone ends its stream of requests, too.
        let _ = wire::write(self.output, &message);
    }

    pub fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "seq": 0, "type": "event", "event": event, "body": body }));
    }

    pub fn respond(&mut self, request: &Value, body: Value) {
        self.send(json!({
            "seq": 0,
            "type": "response",
            "request_seq": request["seq"].as_u64().unwrap_or(0),
            "success": true,
            "command": request["command"].as_str().unwrap_or(""),
            "body": body,
        }));
    }

    pub fn refuse(&mut self, request: &Value, error: &DebugError) {
        let text = error.line();
        self.send(json!({
            "seq": 0,
            "type": "response",
            "request_seq": request["seq"].as_u64().unwrap_or(0),
            "success": false,
            "command": request["command"].as_str().unwrap_or(""),
            "message": text,
            "body": { "error": { "id": 1, "format": text, "showUser": true } },
        }));
    }

    pub fn output_text(&mut self, category: &str, text: &str) {
        self.event("output", json!({ "category": category, "output": text }));
    }
}
