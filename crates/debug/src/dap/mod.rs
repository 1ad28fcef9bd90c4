//! The debugger for editors: the Debug Adapter Protocol. A thread reads messages; everything else happens where the run stands, so
//! that requests are answered from the state of the run itself, also those that come while it goes on.

mod breakpoints;
mod requests;
mod variables;
mod wire;

use crate::code::Sources;
use crate::engine::Engine;
use crate::error::DebugError;
use crate::goal::{Go, Goal, Reason};
use crate::target::Target;
use crate::view::{Front, View};
use breakpoints::Placed;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use variables::Handles;
use wire::Incoming;

/// Makes something to debug of the arguments of a `launch` request.
pub type Launcher<'a> = dyn FnMut(&Value) -> Result<(Target, Sources), DebugError> + 'a;

/// Talks to an editor until it has enough.
pub fn serve(mut input: impl BufRead + Send + 'static, output: &mut dyn Write, launcher: &mut Launcher) {
    let (sender, incoming) = channel();
    // Ends with the stream, or with the process.
    std::thread::spawn(move || {
        loop {
            let message = wire::read(&mut input);
            let last = message == Incoming::End;
            if sender.send(message).is_err() || last {
                return;
            }
        }
    });
    let mut adapter = Adapter::new(output, incoming);
    adapter.serve(launcher);
}

/// What happened to a request.
enum Answer {
    /// Answered.
    Done,
    /// The run goes on.
    Go(Go),
    /// The configuration is complete.
    Configured,
}

struct Adapter<'o> {
    output: &'o mut dyn Write,
    incoming: Receiver<Incoming>,
    seq: u64,
    sources: Sources,
    handles: Handles,
    placed: Placed,
    /// The request that launched, until it is answered.
    launching: Option<Value>,
    configured: bool,
    stop_on_entry: bool,
    stop_at_end: bool,
    /// Stop where an instruction fails.
    faults: bool,
    /// The editor wants to end.
    quit: bool,
    running: bool,
    /// The editor counts lines and columns from 1.
    from_one: bool,
}

impl<'o> Adapter<'o> {
    fn new(output: &'o mut dyn Write, incoming: Receiver<Incoming>) -> Adapter<'o> {
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

    fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "seq": 0, "type": "event", "event": event, "body": body }));
    }

    fn respond(&mut self, request: &Value, body: Value) {
        self.send(json!({
            "seq": 0,
            "type": "response",
            "request_seq": request["seq"].as_u64().unwrap_or(0),
            "success": true,
            "command": request["command"].as_str().unwrap_or(""),
            "body": body,
        }));
    }

    fn refuse(&mut self, request: &Value, error: &DebugError) {
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

    fn output_text(&mut self, category: &str, text: &str) {
        self.event("output", json!({ "category": category, "output": text }));
    }

    /// A request, or none: then the editor has gone. What is no request is told and passed over.
    fn request(&mut self, incoming: Incoming) -> Option<Value> {
        match incoming {
            Incoming::Message(value) if value["type"] == "request" && value["command"].is_string() => {
                Some(value)
            }
            Incoming::Message(value) if value["type"] == "response" || value["type"] == "event" => None,
            Incoming::Message(_) => {
                self.output_text("stderr", "wavebound: a message that is no request\n");
                None
            }
            Incoming::Damaged(why) => {
                self.output_text("stderr", &format!("wavebound: {why}\n"));
                None
            }
            Incoming::End => {
                self.quit = true;
                None
            }
        }
    }

    /// Everything outside of a run.
    fn serve(&mut self, launcher: &mut Launcher) {
        while !self.quit {
            let Ok(incoming) = self.incoming.recv() else { return };
            let Some(request) = self.request(incoming) else { continue };
            match request["command"].as_str().unwrap_or("") {
                "initialize" => self.initialize(&request),
                "launch" => self.launch(request, launcher),
                "disconnect" | "terminate" => {
                    self.respond(&request, json!({}));
                    self.quit = true;
                }
                "threads" => self.respond(&request, json!({ "threads": [] })),
                other => {
                    let error = DebugError::new(format!("`{other}`: nothing is being debugged"));
                    self.refuse(&request, &error.hint("send `launch` first"));
                }
            }
        }
    }

    fn initialize(&mut self, request: &Value) {
        self.from_one = request["arguments"]["linesStartAt1"].as_bool().unwrap_or(true);
        let body = json!({
            "supportsConfigurationDoneRequest": true,
            "supportsFunctionBreakpoints": true,
            "supportsConditionalBreakpoints": true,
            "supportsHitConditionalBreakpoints": true,
            "supportsEvaluateForHovers": true,
            "supportsStepBack": true,
            "supportsRestartRequest": true,
            "supportsExceptionInfoRequest": true,
            "supportsDelayedStackTraceLoading": true,
            "supportsTerminateRequest": true,
            "supportsDataBreakpoints": true,
            "supportsDataBreakpointBytes": true,
            "supportsReadMemoryRequest": true,
            "supportsDisassembleRequest": true,
            "supportsSteppingGranularity": true,
            "supportsInstructionBreakpoints": true,
            "exceptionBreakpointFilters": [
                { "filter": "faults", "label": "Faults", "description": "Stop where an instruction fails", "default": true },
                { "filter": "divergence", "label": "Divergence", "description": "Stop when lanes part", "default": false }
            ]
        });
        self.respond(request, body);
    }

    fn launch(&mut self, request: Value, launcher: &mut Launcher) {
        let arguments = &request["arguments"];
        self.stop_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(false);
        self.stop_at_end = arguments["stopAtEnd"].as_bool().unwrap_or(false);
        let (target, sources) = match launcher(arguments) {
            Ok(ready) => ready,
            Err(error) => return self.refuse(&request, &error),
        };
        self.sources = sources;
        self.configured = false;
        self.launching = Some(request);
        let mut engine = Engine::new(self, true);
        let ran = target.debug(&mut engine);
        let failed = engine.failed().is_some();
        self.running = false;
        if let Some(request) = self.launching.take() {
            let error = match &ran {
                Err(error) => DebugError::from(error),
                Ok(()) => DebugError::new("there is nothing to launch"),
            };
            return self.refuse(&request, &error);
        }
        if let Err(error) = &ran {
            self.output_text("stderr", &format!("{error}\n"));
        }
        self.event("exited", json!({ "exitCode": i32::from(failed || ran.is_err()) }));
        self.event("terminated", json!({}));
    }

    /// A request to a run that stands still, or goes on meanwhile.
    fn serve_one(&mut self, request: &Value, view: &mut View) -> Answer {
        match self.handle(request, view) {
            Ok(answer) => answer,
            Err(error) => {
                self.refuse(request, &error);
                Answer::Done
            }
        }
    }

    /// Tells that the run stands still; false if it need not.
    fn tell_stop(&mut self, view: &View) -> bool {
        let (reason, text) = match view.reason {
            Reason::Entry if self.stop_on_entry => ("entry", String::new()),
            Reason::Entry => return false,
            Reason::Step | Reason::WaveEnded { .. } => ("step", view.reason.words()),
            Reason::Breakpoints(hits) => {
                let kind = |id: u32| self.placed.kind(id);
                (hits.first().map_or("breakpoint", |h| kind(h.id)), view.reason.words())
            }
            Reason::Barrier { .. } | Reason::Diverged { .. } => ("step", view.reason.words()),
            Reason::Paused => ("pause", String::new()),
            Reason::Failed(_) if self.faults => ("exception", view.reason.words()),
            Reason::Failed(error) => {
                let text = format!("{}\n", error.line());
                self.output_text("stderr", &text);
                return false;
            }
            Reason::Ended if self.stop_at_end => ("pause", view.reason.words()),
            Reason::Ended => return false,
            Reason::Beginning => ("entry", view.reason.words()),
        };
        let mut body = json!({ "reason": reason, "allThreadsStopped": true });
        if view.now.current().is_some() {
            body["threadId"] = json!(requests::thread_id(view.focus.wave, view.focus.path));
        }
        if !text.is_empty() {
            body["description"] = json!(text);
            body["text"] = json!(text);
        }
        if let Reason::Breakpoints(hits) = view.reason {
            body["hitBreakpointIds"] = hits.iter().map(|h| h.id).collect();
        }
        self.event("stopped", body);
        true
    }
}

impl Front for Adapter<'_> {
    fn stopped(&mut self, view: &mut View) -> Go {
        self.running = false;
        self.handles = Handles::default();
        if let Some(request) = self.launching.take() {
            self.respond(&request, json!({}));
            self.event("initialized", json!({}));
        }
        if self.quit {
            return Go::Quit;
        }
        if self.configured && !self.tell_stop(view) {
            self.running = true;
            return Go::Forward(Goal::Continue);
        }
        loop {
            let Ok(incoming) = self.incoming.recv() else { return Go::Quit };
            let request = self.request(incoming);
            if self.quit {
                return Go::Quit;
            }
            let Some(request) = request else { continue };
            match self.serve_one(&request, view) {
                Answer::Done => {}
                Answer::Go(go) => {
                    self.running = true;
                    return go;
                }
                Answer::Configured => {
                    if !self.tell_stop(view) {
                        self.running = true;
                        return Go::Forward(Goal::Continue);
                    }
                }
            }
        }
    }

    fn poll(&mut self, view: &mut View) -> bool {
        loop {
            let incoming = match self.incoming.try_recv() {
                Ok(incoming) => incoming,
                Err(TryRecvError::Empty) => return self.quit,
                Err(TryRecvError::Disconnected) => Incoming::End,
            };
            let request = self.request(incoming);
            if self.quit {
                return true;
            }
            let Some(request) = request else { continue };
            if request["command"] == "pause" {
                self.respond(&request, json!({}));
                return true;
            }
            if let Answer::Go(Go::Quit) = self.serve_one(&request, view) {
                self.quit = true;
            }
        }
    }

    fn printed(&mut self, text: &str) {
        self.output_text("stdout", text);
    }
}
