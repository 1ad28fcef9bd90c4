//! What an editor shows of a stop: scopes and variables, made when they are asked for.

use super::adapter::Adapter;
use super::fields::{number_of, split_thread};
use super::handles::Handle;
use crate::context::Context;
use crate::error::DebugError;
use crate::view::View;
use serde_json::{Value, json};
use wb_isa::lanes::mask_text;
use wb_jobs::data::{Buffer, Element};
use wb_objects::codeobject::KernelArg;

/// Elements that are shown of something that an editor asks for as a whole.
const MOST: u64 = 4096;

impl Adapter<'_> {
    pub(super) fn scopes(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let frame = number_of(&request["arguments"], "frameId")?;
        let (wave, path) = split_thread(frame >> 10)?;
        let at = Context::new(view.now, view.info, (wave, path), 0)?;
        let focused = view.focus.wave == wave && view.focus.path == path;
        let on = if at.path.active != 0 { at.path.active } else { at.path.mask };
        let lane = if focused { view.focus.lane } else { on.trailing_zeros().min(view.code().lanes - 1) };
        let registers = at.registers();
        let scalars = registers.iter().filter(|r| view.code().is_scalar(&r.0)).count();
        let mut scopes = Vec::new();
        let mut add = |name: String, handle: Handle, kind: Option<&str>, dear: bool| {
            let mut scope =
                json!({ "name": name, "variablesReference": self.handles.number(handle), "expensive": dear });
            if let Some(kind) = kind {
                scope["presentationHint"] = json!(kind);
            }
            scopes.push(scope);
        };
        if !view.info.args.is_empty() {
            add("Arguments".into(), Handle::Arguments, Some("arguments"), false);
        }
        if !view.info.buffers.is_empty() {
            add("Buffers".into(), Handle::Buffers, None, false);
        }
        add(format!("Lane {lane}"), Handle::Lane(wave, path, lane), Some("registers"), false);
        if scalars > 0 {
            add("Scalars".into(), Handle::Scalars(wave, path), Some("registers"), false);
        }
        add("Vectors".into(), Handle::Vectors(wave, path), Some("registers"), true);
        add("Masks".into(), Handle::Masks(wave, path), None, false);
        if view.info.local_bytes() > 0 {
            add("Local".into(), Handle::Local(wave), None, true);
        }
        Ok(json!({ "scopes": scopes }))
    }

    pub(super) fn variables(&mut self, request: &Value, view: &View) -> Result<Value, DebugError> {
        let arguments = &request["arguments"];
        let number = number_of(arguments, "variablesReference")?;
        let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let handle = index.and_then(|i| self.handles.list.get(i)).cloned();
        let handle =
            handle.ok_or_else(|| DebugError::new(format!("there are no variables {number} any more")))?;
        let start = arguments["start"].as_u64().unwrap_or(0);
        let count = arguments["count"].as_u64().filter(|n| *n > 0).unwrap_or(MOST).min(MOST);
        let all = self.unfold(handle, view, start, count)?;
        Ok(json!({ "variables": all }))
    }

    fn unfold(
        &mut self,
        handle: Handle,
        view: &View,
        start: u64,
        count: u64,
    ) -> Result<Vec<Value>, DebugError> {
        let page = |all: Vec<Value>| all.into_iter().skip(start as usize).take(count as usize).collect();
        let code = view.code();
        Ok(match handle {
            Handle::Lane(wave, path, lane) => {
                let at = Context::new(view.now, view.info, (wave, path), lane)?;
                let lanes = at.registers().into_iter().filter(|r| !code.is_scalar(&r.0));
                page(lanes.map(|(name, value)| register(&name, value)).collect())
            }
            Handle::Scalars(wave, path) => {
                let at = Context::new(view.now, view.info, (wave, path), 0)?;
                let scalars = at.registers().into_iter().filter(|r| code.is_scalar(&r.0));
                page(scalars.map(|(name, value)| register(&name, value)).collect())
            }
            Handle::Vectors(wave, path) => {
                let at = Context::new(view.now, view.info, (wave, path), 0)?;
                let lanes = at.registers().into_iter().filter(|r| !code.is_scalar(&r.0));
                let mut all = Vec::new();
                for (name, _) in lanes {
                    let first: Vec<String> = (0..code.lanes.min(4))
                        .map(|lane| {
                            format!("{:#x}", at.in_lane(lane).register(bare(&name), lane).unwrap_or(0))
                        })
                        .collect();
                    let number = self.handles.number(Handle::Vector(wave, path, name.clone()));
                    all.push(json!({
                        "name": name,
                        "value": format!("{} …", first.join(" ")),
                        "variablesReference": number,
                        "indexedVariables": code.lanes,
                    }));
                }
                page(all)
            }
            Handle::Vector(wave, path, name) => {
                let at = Context::new(view.now, view.info, (wave, path), 0)?;
                let lane = |lane: u32| {
                    let value = at.in_lane(lane).register(bare(&name), lane).unwrap_or(0);
                    let on = if at.path.active >> lane & 1 == 1 { "" } else { " (off)" };
                    json!({
                        "name": format!("[{lane}]"),
                        "value": format!("{value:#x}{on}"),
                        "evaluateName": format!("{}[{lane}]", bare(&name)),
                        "variablesReference": 0,
                    })
                };
                let first = u32::try_from(start).unwrap_or(u32::MAX).min(code.lanes);
                let last = first.saturating_add(count as u32).min(code.lanes);
                (first..last).map(lane).collect()
            }
            Handle::Masks(wave, path) => {
                let at = Context::new(view.now, view.info, (wave, path), 0)?;
                let mut rows = vec![("live", at.wave.live), ("path", at.path.mask), ("on", at.path.active)];
                rows.extend(["exec", "vcc"].into_iter().filter_map(|n| Some((n, at.register(n, 0)?))));
                let mut all: Vec<Value> = Vec::new();
                for (name, mask) in rows {
                    let value = format!("{} ({})", mask_text(mask, code.lanes), mask.count_ones());
                    all.push(json!({ "name": name, "value": value, "variablesReference": 0 }));
                }
                all.push(
                    json!({ "name": "depth", "value": at.wave.depth.to_string(), "variablesReference": 0 }),
                );
                page(all)
            }
            Handle::Arguments => {
                let one = |(name, arg, bytes): (String, &KernelArg, &[u8])| {
                    let value = view.info.argument_text(arg, bytes);
                    json!({ "name": name, "value": value, "type": arg.type_name, "variablesReference": 0 })
                };
                page(view.info.arguments().map(one).collect())
            }
            Handle::Buffers => {
                let mut all = Vec::new();
                for b in &view.info.buffers {
                    all.push(self.buffer(b.clone()));
                }
                page(all)
            }
            Handle::Buffer(b) => {
                let values =
                    view.elements(b.addr, b.element, start, (b.bytes / b.element.bytes()).min(start + count));
                let one = |(i, value): (u64, String)| {
                    json!({
                        "name": format!("[{i}]"),
                        "value": value,
                        "evaluateName": format!("{}[{i}]", b.name),
                        "variablesReference": 0,
                        "memoryReference": format!("{:#x}", b.addr + i * b.element.bytes()),
                    })
                };
                (start..).zip(values).map(one).collect()
            }
            Handle::Local(wave) => {
                let seen =
                    view.now.wave(wave).ok_or_else(|| DebugError::new(format!("wave {wave} has ended")))?;
                let bytes = view.info.local_bytes();
                let buffer =
                    Buffer { name: "local".into(), addr: seen.lds_base, bytes, element: Element::U32 };
                return self.unfold(Handle::Buffer(buffer), view, start, count);
            }
        })
    }

    /// A buffer as a variable that can be unfolded.
    pub(super) fn buffer(&mut self, b: Buffer) -> Value {
        let count = b.bytes / b.element.bytes();
        json!({
            "name": b.name,
            "value": format!("{count} × {} at {:#x}", b.element.name(), b.addr),
            "type": b.element.name(),
            "indexedVariables": count,
            "memoryReference": format!("{:#x}", b.addr),
            "variablesReference": self.handles.number(Handle::Buffer(b)),
        })
    }
}

fn bare(name: &str) -> &str {
    name.trim_start_matches(['%', '@'])
}

fn register(name: &str, value: u64) -> Value {
    let float = f32::from_bits(value as u32);
    // Bits that are a float of a common size are shown as one, too.
    let also = if value > 0xffff && float.is_finite() && (1e-6..1e9).contains(&float.abs()) {
        format!(" ({float})")
    } else {
        String::new()
    };
    json!({ "name": name, "value": format!("{value:#x}{also}"), "evaluateName": bare(name), "variablesReference": 0 })
}
