//! What an editor asks of a run: stacks, expressions, memory, code, and how to go on.

use super::adapter::{Adapter, Answer};
use super::fields::{number_of, split_thread, text_of, thread_id, whole};
use super::wire::base64;
use crate::error::DebugError;
use crate::goal::{Go, Goal, Reason};
use crate::repl;
use crate::view::{Frame, View, frames};
use serde_json::{Value, json};
use wb_isa::Pc;
use wb_jobs::last_part;

/// Bytes and instructions that one request gets.
const MOST_BYTES: u64 = 1 << 20;
const MOST_INSTRUCTIONS: u64 = 4096;
/// Threads that are listed.
const MOST_THREADS: usize = 4096;

impl Adapter<'_> {
    pub(super) fn handle(&mut self, request: &Value, view: &mut View) -> Result<Answer, DebugError> {
        let command = request["command"].as_str().unwrap_or("");
        if let Some(go) = self.resume(command, request, view)? {
            if self.running {
                return Err(DebugError::new(format!("`{command}`: it is running")).hint("send `pause` first"));
            }
            let body = match command {
                "continue" => json!({ "allThreadsContinued": true }),
                _ => json!({}),
            };
            self.respond(request, body);
            return Ok(Answer::Go(go));
        }
        let body = match command {
            "configurationDone" => {
                self.configured = true;
                self.respond(request, json!({}));
                return Ok(Answer::Configured);
            }
            "terminate" => {
                self.respond(request, json!({}));
                return Ok(Answer::Go(Go::Quit));
            }
            "disconnect" => {
                self.respond(request, json!({}));
                self.quit = true;
                return Ok(Answer::Go(Go::Quit));
            }
            // It stands still already.
            "pause" => json!({}),
            "threads" => threads(view),
            "stackTrace" => self.stack(request, view)?,
            "scopes" => self.scopes(request, view)?,
            "variables" => self.variables(request, view)?,
            "evaluate" => self.evaluate(request, view)?,
            "setBreakpoints" => self.set_breakpoints(request, view)?,
            "setFunctionBreakpoints" => self.set_functions(request, view),
            "setInstructionBreakpoints" => self.set_instructions(request, view),
            "dataBreakpointInfo" => self.data_info(request, view)?,
            "setDataBreakpoints" => self.set_data(request, view),
            "setExceptionBreakpoints" => self.set_exceptions(request, view)?,
            "exceptionInfo" => exception(view)?,
            "readMemory" => memory(request, view)?,
            "disassemble" => self.disassemble(request, view)?,
            "source" => self.source_text(request, view)?,
            other => return Err(DebugError::new(format!("`{other}` is not supported"))),
        };
        self.respond(request, body);
        Ok(Answer::Done)
    }

    /// Where the run is to go, if the request says so.
    fn resume(&mut self, command: &str, request: &Value, view: &mut View) -> Result<Option<Go>, DebugError> {
        let arguments = &request["arguments"];
        let by_instruction = arguments["granularity"] == "instruction";
        let line = |over: bool| if by_instruction { Goal::Instructions(1) } else { Goal::Line { over } };
        let go = match command {
            "continue" => return Ok(Some(Go::Forward(Goal::Continue))),
            "reverseContinue" => return Ok(Some(Go::Back(Goal::Continue))),
            "restart" => return Ok(Some(Go::Restart)),
            "next" => Go::Forward(line(true)),
            "stepIn" => Go::Forward(line(false)),
            "stepOut" => Go::Forward(Goal::Finish),
            "stepBack" => Go::Back(line(true)),
            _ => return Ok(None),
        };
        if let Some(id) = arguments["threadId"].as_u64() {
            let (wave, path) = split_thread(id)?;
            // Once a launch is over there are no threads, but there is a way back.
            if view.now.current().is_some() && (wave, path) != (view.focus.wave, view.focus.path) {
                view.look_at(wave, Some(path))?;
            }
        }
        Ok(Some(go))
    }

    /// A file of the line table as the protocol describes it.
    fn source(&self, file: &str, view: &View) -> Value {
        let mut source = json!({ "name": last_part(file) });
        let path = self.sources.find(file).and_then(|p| std::path::absolute(p).ok());
        match path {
            Some(path) => source["path"] = json!(path),
            None => {
                let number = view.code().files.iter().position(|f| f == file);
                source["sourceReference"] = json!(number.map_or(0, |n| n + 1));
            }
        }
        source
    }

    fn stack(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let id = number_of(arguments, "threadId")?;
        let (wave, path) = split_thread(id)?;
        let seen =
            view.now.path(wave, path).ok_or_else(|| DebugError::new(format!("there is no thread {id}")))?;
        let focused = view.focus.wave == wave && view.focus.path == path;
        let lane = if focused { view.focus.lane } else { seen.mask.trailing_zeros() & 63 };
        let all = frames(view.code(), view.calls, wave, lane, seen.pc);
        let from = usize::try_from(arguments["startFrame"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
        let levels = arguments["levels"].as_u64().filter(|n| *n > 0).unwrap_or(1000).min(1000) as usize;
        let shift = u32::from(!self.from_one);
        let one = |(i, f): (usize, &Frame)| {
            let mut frame = json!({
                "id": id << 10 | i as u64,
                "name": if f.inlined { format!("{} (inlined)", f.function) } else { f.function.clone() },
                "line": 0,
                "column": 0,
                "instructionPointerReference": format!("{:#x}", view.code().at(f.pc).map_or(0, |l| l.addr)),
            });
            match &f.place {
                Some((file, line)) => {
                    frame["source"] = self.source(file, view);
                    frame["line"] = json!(line - shift);
                    frame["column"] = json!(1 - shift);
                }
                None => frame["presentationHint"] = json!("subtle"),
            }
            frame
        };
        let shown: Vec<Value> = all.iter().enumerate().skip(from).take(levels.min(1024)).map(one).collect();
        Ok(json!({ "stackFrames": shown, "totalFrames": all.len() }))
    }

    fn evaluate(&mut self, request: &Value, view: &mut View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let text = text_of(arguments, "expression")?.trim();
        let before = *view.focus;
        if let Some(frame) = arguments["frameId"].as_u64() {
            let (wave, path) = split_thread(frame >> 10)?;
            if (wave, path) != (before.wave, before.path) {
                view.look_at(wave, Some(path))?;
            }
        }
        if let Some(b) = view.info.buffers.iter().find(|b| b.name == text) {
            return Ok(renamed(self.buffer(b.clone())));
        }
        let value = view.eval(text);
        let answer = match (value, arguments["context"].as_str()) {
            (Ok(value), _) => Ok(value.to_string()),
            // The console of the editor takes the commands of the terminal, too.
            (Err(error), Some("repl")) => repl::answer(text, view, &self.sources).unwrap_or(Err(error)),
            (Err(error), _) => Err(error),
        };
        if arguments["context"] != "repl" {
            *view.focus = before;
        }
        Ok(json!({ "result": answer?.trim_end(), "variablesReference": 0 }))
    }

    fn disassemble(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let at = whole(text_of(arguments, "memoryReference")?)?;
        let at = at.wrapping_add_signed(arguments["offset"].as_i64().unwrap_or(0));
        let count = number_of(arguments, "instructionCount")?.min(MOST_INSTRUCTIONS) as i64;
        let all: Vec<Pc> = view.code().instructions().map(|l| l.pc).collect();
        let first = view.code().instructions().position(|l| l.addr >= at).unwrap_or(all.len());
        let first = (first as i64).saturating_add(arguments["instructionOffset"].as_i64().unwrap_or(0));
        let mut out = Vec::new();
        for i in 0..count {
            let place = first.saturating_add(i);
            let line =
                usize::try_from(place).ok().and_then(|n| all.get(n)).and_then(|pc| view.code().at(*pc));
            let Some(l) = line else {
                // As many as were asked for.
                let addr = if place < 0 { 0 } else { u64::MAX };
                out.push(json!({ "address": format!("{addr:#x}"), "instruction": "", "presentationHint": "invalid" }));
                continue;
            };
            let mut one = json!({ "address": format!("{:#x}", l.addr), "instruction": l.text });
            if !l.bytes.is_empty() {
                let bytes: Vec<String> = l.bytes.iter().map(|b| format!("{b:02x}")).collect();
                one["instructionBytes"] = json!(bytes.join(" "));
            }
            if !l.label.is_empty() {
                one["symbol"] = json!(l.label);
            }
            if let Some((file, line)) = view.code().place(l.pc) {
                one["line"] = json!(line - u32::from(!self.from_one));
                one["location"] = self.source(view.code().file_name(file), view);
            }
            out.push(one);
        }
        Ok(json!({ "instructions": out }))
    }

    fn source_text(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let number =
            arguments["source"]["sourceReference"].as_u64().or(arguments["sourceReference"].as_u64());
        let number =
            number.filter(|n| *n > 0).ok_or_else(|| DebugError::new("`sourceReference` is missing"))?;
        let file = u32::try_from(number - 1).map_err(|_| DebugError::new("there is no such source"))?;
        Ok(json!({ "content": self.sources.text(view.code(), file)?, "mimeType": "text/plain" }))
    }
}

/// A variable as the result of an expression.
fn renamed(mut variable: Value) -> Value {
    variable["result"] = variable["value"].clone();
    if let Some(fields) = variable.as_object_mut() {
        fields.shift_remove("name");
        fields.shift_remove("value");
    }
    variable
}

fn threads(view: &View) -> Value {
    let mut out = Vec::new();
    for w in view.now.waves() {
        let paths = view.now.paths(w.wave);
        for p in &paths {
            let path = if paths.len() > 1 { format!(" path {}", p.path) } else { String::new() };
            let name = format!("wave {}{path} (group {})", w.wave, w.group);
            out.push(json!({ "id": thread_id(w.wave, p.path), "name": name }));
        }
        if out.len() >= MOST_THREADS {
            break;
        }
    }
    json!({ "threads": out })
}

fn exception(view: &View) -> Result<Value, DebugError> {
    match view.reason {
        Reason::Failed(error) => {
            let description = error.line();
            Ok(json!({ "exceptionId": "fault", "description": description, "breakMode": "always" }))
        }
        Reason::Breakpoints(_) => Ok(
            json!({ "exceptionId": "divergence", "description": view.reason.words(), "breakMode": "always" }),
        ),
        _ => Err(DebugError::new("nothing has failed")),
    }
}

fn memory(request: &Value, view: &View) -> Result<Value, DebugError> {
    let arguments = &request["arguments"];
    let at = whole(text_of(arguments, "memoryReference")?)?;
    let at = at.wrapping_add_signed(arguments["offset"].as_i64().unwrap_or(0));
    let count = number_of(arguments, "count")?;
    let bytes = view.memory(at, count.min(MOST_BYTES));
    let mut body = json!({ "address": format!("{at:#x}"), "data": base64(bytes) });
    let missing = count.min(MOST_BYTES) - bytes.len() as u64;
    if missing > 0 {
        body["unreadableBytes"] = json!(missing);
    }
    Ok(body)
}
