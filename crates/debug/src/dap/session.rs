//! A session with an editor: requests outside of a run, and a run as a front end.

use super::adapter::{Adapter, Answer};
use super::fields::thread_id;
use super::handles::Handles;
use super::wire::{self, Incoming};
use crate::code::Sources;
use crate::engine::Engine;
use crate::error::DebugError;
use crate::goal::{Go, Goal, Reason};
use crate::target::Target;
use crate::view::{Front, View};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::mpsc::{TryRecvError, channel};

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

impl Adapter<'_> {
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
            body["threadId"] = json!(thread_id(view.focus.wave, view.focus.path));
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
