//! Breakpoints as editors place them: each request replaces all of its kind, of one file for lines.

use super::adapter::Adapter;
use super::fields::{text_of, whole};
use super::placed::By;
use crate::breaks::{Hits, What};
use crate::error::DebugError;
use crate::expr::Expr;
use crate::repl::check_condition;
use crate::view::View;
use serde_json::{Value, json};

impl Adapter<'_> {
    /// Places one; what is wrong with it is told with it, not as an error of the whole request.
    fn place(
        &mut self,
        view: &mut View,
        by: &By,
        what: Result<What, DebugError>,
        said: &Value,
    ) -> Result<u32, DebugError> {
        let condition = said["condition"].as_str().filter(|c| !c.trim().is_empty());
        check_condition(view, condition)?;
        let hits = said["hitCondition"].as_str().filter(|c| !c.trim().is_empty());
        let hits = hits.map_or(Ok(Hits::Every), Hits::parse)?;
        let id = view.breaks.add(what?, condition, view.info.code)?;
        if let Some(b) = view.breaks.get_mut(id) {
            b.hits = hits;
        }
        self.placed.ids.entry(by.clone()).or_default().push(id);
        Ok(id)
    }

    fn place_all(
        &mut self,
        request: &Value,
        view: &mut View,
        by: By,
        what: impl Fn(&Value, &View) -> Result<What, DebugError>,
    ) -> Vec<Value> {
        self.placed.replace(view, &by);
        let said = request["arguments"]["breakpoints"].as_array().cloned().unwrap_or_default();
        let mut out = Vec::new();
        for said in &said {
            let what = what(said, view);
            out.push(match self.place(view, &by, what, said) {
                Ok(id) => json!({ "id": id, "verified": true }),
                Err(error) => json!({ "verified": false, "message": error.line() }),
            });
        }
        out
    }

    pub(super) fn set_breakpoints(&mut self, request: &Value, view: &mut View) -> Result<Value, DebugError> {
        let source = &request["arguments"]["source"];
        let path = source["path"].as_str().or(source["name"].as_str());
        let path = path.ok_or_else(|| DebugError::new("`source` has neither path nor name"))?.to_owned();
        let shift = u64::from(!self.from_one);
        let file = path.clone();
        let mut out = self.place_all(request, view, By::Source(path), |said, _| {
            let line = said["line"].as_u64().ok_or_else(|| DebugError::new("`line` is missing"))?;
            let line = u32::try_from(line + shift).map_err(|_| DebugError::new("`line` is too large"))?;
            Ok(What::Line { file: Some(file.clone()), line })
        });
        // Where they stand in truth.
        for said in &mut out {
            let id = said["id"].as_u64().unwrap_or(0);
            if let Some(b) = view.breaks.list.iter().find(|b| u64::from(b.id) == id)
                && let Some((_, line)) = b.pcs.first().and_then(|pc| view.info.code.place(*pc))
            {
                said["line"] = json!(u64::from(line) - shift);
            }
        }
        Ok(json!({ "breakpoints": out }))
    }

    pub(super) fn set_functions(&mut self, request: &Value, view: &mut View) -> Value {
        let out = self.place_all(request, view, By::Function, |said, _| {
            Ok(What::Label(text_of(said, "name")?.to_owned()))
        });
        json!({ "breakpoints": out })
    }

    pub(super) fn set_instructions(&mut self, request: &Value, view: &mut View) -> Value {
        let out = self.place_all(request, view, By::Instruction, |said, _| {
            let at = whole(text_of(said, "instructionReference")?)?;
            Ok(What::Address(at.wrapping_add_signed(said["offset"].as_i64().unwrap_or(0))))
        });
        json!({ "breakpoints": out })
    }

    /// Whether memory can be watched, and under which name.
    pub(super) fn data_info(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let name = text_of(arguments, "name")?;
        let mut place = name.to_owned();
        if let Some(reference) = arguments["variablesReference"].as_u64().filter(|n| *n > 0)
            && let Some(of) = self.handles.buffer(reference)
        {
            place = format!("{of}{name}");
        }
        let found = Expr::parse(&place).and_then(|e| view.context()?.address(&e));
        let (addr, size) = match found {
            Ok((addr, size, _)) => (addr, arguments["bytes"].as_u64().unwrap_or(size)),
            Err(error) => return Ok(json!({ "dataId": null, "description": error.line() })),
        };
        Ok(json!({
            "dataId": format!("{addr:#x}:{size}:{place}"),
            "description": format!("{place} ({size} bytes at {addr:#x})"),
            "accessTypes": ["write"],
            "canPersist": false,
        }))
    }

    pub(super) fn set_data(&mut self, request: &Value, view: &mut View) -> Value {
        let out = self.place_all(request, view, By::Data, |said, view| {
            let id = text_of(said, "dataId")?;
            let mut parts = id.splitn(3, ':');
            let bad = || {
                DebugError::new(format!("`{id}` is no place in memory"))
                    .hint("take it from dataBreakpointInfo")
            };
            let addr = whole(parts.next().unwrap_or("")).map_err(|_| bad())?;
            let bytes: u64 = parts.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0).ok_or_else(bad)?;
            if view.now.memory().read(addr, bytes).is_err() {
                return Err(bad());
            }
            let name = parts.next().filter(|n| !n.is_empty()).unwrap_or("memory").to_owned();
            Ok(What::Written { addr, bytes, name })
        });
        json!({ "breakpoints": out })
    }

    pub(super) fn set_exceptions(&mut self, request: &Value, view: &mut View) -> Result<Value, DebugError> {
        let filters = request["arguments"]["filters"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| filters.iter().any(|f| f == name);
        self.faults = has("faults");
        self.placed.replace(view, &By::Divergence);
        if has("divergence") {
            self.place(view, &By::Divergence, Ok(What::Diverge), &json!({}))?;
        }
        Ok(json!({}))
    }
}
