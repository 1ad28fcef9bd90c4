//! What the terminal prints.

use super::command::COMMANDS;
use crate::code::{Code, Sources};
use crate::context::NAMES;
use crate::error::DebugError;
use crate::expr::Expr;
use crate::goal::Reason;
use crate::view::View;
use std::fmt::Write as _;
use wb_isa::lanes::mask_text;
use wb_isa::{Mask, Pc};
use wb_jobs::data::{Buffer, Element};
use wb_jobs::last_part;
use wb_sim::Launch;

/// Lines of source and instructions around the place.
const AROUND: u32 = 5;
/// Elements that are printed of one range.
const MOST: u64 = 1024;

/// Why and where the run stands.
pub fn stop(view: &View, sources: &Sources) -> String {
    let words = view.reason.words();
    let mut out = if words.is_empty() { String::new() } else { format!("{words}\n") };
    if let Reason::Failed(error) = view.reason
        && let Some(hint) = &error.hint
    {
        let _ = writeln!(out, "  help: {hint}");
    }
    if view.now.current().is_none() {
        let _ = writeln!(out, "after {} instructions", view.now.executed());
        return out;
    }
    out + &here(view, sources)
}

/// Where the path in focus is: wave, instruction, source line.
pub fn here(view: &View, sources: &Sources) -> String {
    let Ok(at) = view.context() else { return format!("step {}\n", view.now.executed()) };
    let code = view.code();
    let mut out = String::new();
    let path = if view.now.paths(at.wave.wave).len() > 1 {
        format!(", path {}", at.path.path)
    } else {
        String::new()
    };
    let launch = if view.info.several { format!("launch {}, ", view.info.number) } else { String::new() };
    let _ = writeln!(
        out,
        "{launch}step {}: wave {}{path} of group {}, {} of {} lanes on, lane {}",
        view.now.executed(),
        at.wave.wave,
        at.wave.group,
        at.path.active.count_ones(),
        at.wave.live.count_ones(),
        at.lane
    );
    let _ = writeln!(out, "{}", instruction(code, at.path.pc, true));
    if let Some((file, line)) = code.place(at.path.pc)
        && let Ok(text) = sources.text(code, file)
        && let Some(text) = text.lines().nth(line as usize - 1)
    {
        let _ = writeln!(out, "{line:>6} | {text}");
    }
    out
}

fn instruction(code: &Code, pc: Pc, now: bool) -> String {
    let mark = if now { "=>" } else { "  " };
    match code.at(pc) {
        Some(l) => {
            let place = code.place_text(pc);
            let place = if place.is_empty() { place } else { format!("  ; {place}") };
            format!("{mark} {:#x}: {}{place}", l.addr, l.text)
        }
        None => format!("{mark} pc {pc}: (no instruction)"),
    }
}

pub fn lane(view: &View) -> Result<String, DebugError> {
    let at = view.context()?;
    let on = |mask: Mask| mask >> (at.lane & 63) & 1 == 1;
    let state = match () {
        () if !on(at.wave.live) => "has ended or was never launched",
        () if on(at.path.active) => "is on",
        () if on(at.path.mask) => "is off",
        () => "belongs to another path",
    };
    Ok(format!("lane {} of wave {} {state}", at.lane, at.wave.wave))
}

pub fn registers(view: &View, all: bool) -> Result<String, DebugError> {
    let at = view.context()?;
    let mut out =
        format!("registers of lane {}{}\n", at.lane, if all { "" } else { ", those that are not 0" });
    let shown: Vec<String> = at
        .registers()
        .into_iter()
        .filter(|(_, value)| all || *value != 0)
        .map(|(name, value)| format!("{name:>8} {value:#010x} {:<12}", value as i64))
        .collect();
    for line in shown.chunks(3) {
        let _ = writeln!(out, "{}", line.join(" ").trim_end());
    }
    Ok(out)
}

/// A register in all lanes; those that are on are marked.
pub fn row(view: &View, name: &str) -> Result<String, DebugError> {
    let (name, element) = match name.split_once(" as ") {
        Some((name, element)) => (name.trim(), Some(self::element(element.trim())?)),
        None => (name, None),
    };
    let at = view.context()?;
    let name = name.trim_start_matches(['%', '@']);
    if at.register(name, at.lane).is_none() {
        // The error says which there are.
        at.eval(&Expr::Name(name.to_owned()))?;
    }
    let mut out = String::new();
    for lane in 0..view.code().lanes {
        let value = at.in_lane(lane).register(name, lane).unwrap_or(0);
        let mark = if at.path.active >> lane & 1 == 1 { '*' } else { ' ' };
        let text = match element {
            Some(element) => element.show(&value.to_le_bytes()),
            None => format!("{value:#x}"),
        };
        let _ = write!(out, "{mark}[{lane:>2}] {text:<12}");
        if lane % 4 == 3 {
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    Ok(format!("{name} of wave {}; * is on\n{out}", at.wave.wave))
}

pub fn masks(view: &View) -> Result<String, DebugError> {
    let at = view.context()?;
    let lanes = view.code().lanes;
    let mut out = String::new();
    let rows = [("live", at.wave.live), ("path", at.path.mask), ("on", at.path.active)];
    for (name, mask) in rows {
        let _ = writeln!(out, "{name:>6} {} ({})", mask_text(mask, lanes), mask.count_ones());
    }
    for name in ["exec", "vcc"] {
        if let Some(mask) = at.register(name, at.lane) {
            let _ = writeln!(out, "{name:>6} {} ({})", mask_text(mask, lanes), mask.count_ones());
        }
    }
    let _ = writeln!(out, "lane 0 is on the left; the divergence stack has {} entries", at.wave.depth);
    Ok(out)
}

pub fn paths(view: &View) -> Result<String, DebugError> {
    let at = view.context()?;
    let mut out = String::new();
    for p in view.now.paths(at.wave.wave) {
        let mark = if p.path == at.path.path { '*' } else { ' ' };
        let lanes = mask_text(p.mask, view.code().lanes);
        let _ = writeln!(out, "{mark} path {} {lanes} {}", p.path, p.state.words());
        let _ = writeln!(out, "    {}", instruction(view.code(), p.pc, false).trim());
    }
    Ok(out)
}

pub fn frames(view: &View) -> Result<String, DebugError> {
    let mut out = String::new();
    for (i, f) in view.frames()?.iter().enumerate() {
        let place =
            f.place.as_ref().map_or(String::new(), |(file, line)| format!(" at {}:{line}", last_part(file)));
        let how = if f.inlined { " (inlined)" } else { "" };
        let addr = view.code().at(f.pc).map_or(0, |l| l.addr);
        let _ = writeln!(out, "#{i} {addr:#x} in {}{how}{place}", f.function);
    }
    Ok(out)
}

pub fn list(view: &View, sources: &Sources, line: Option<u32>) -> Result<String, DebugError> {
    let code = view.code();
    let here = view.context().ok().and_then(|at| code.place(at.path.pc));
    let start = here
        .or_else(|| code.place(code.entry))
        .or_else(|| code.instructions().find_map(|l| code.place(l.pc)));
    let Some((file, now)) = start else {
        return Err(DebugError::new("the program has no line table").hint("`disasm` lists its instructions"));
    };
    let text = sources.text(code, file)?;
    let middle = line.unwrap_or(now);
    let (from, to) = (middle.saturating_sub(AROUND).max(1), middle.saturating_add(AROUND));
    let mut out = String::new();
    for (n, text) in (1u32..).zip(text.lines()).filter(|(n, _)| (from..=to).contains(n)) {
        let mark = if here.is_some_and(|h| h.1 == n) { "=>" } else { "  " };
        let _ = writeln!(out, "{mark}{n:>5} | {text}");
    }
    Ok(out)
}

pub fn disassembly(view: &View, addr: Option<u64>) -> Result<String, DebugError> {
    let code = view.code();
    let now = view.context().ok().map(|at| at.path.pc);
    let all: Vec<Pc> = code.instructions().map(|l| l.pc).collect();
    let (from, count) = match addr {
        Some(addr) => {
            let first = code.instructions().find(|l| l.addr >= addr).map(|l| l.pc);
            let first = first.ok_or_else(|| DebugError::new(format!("the program ends before {addr:#x}")))?;
            (all.partition_point(|pc| *pc < first), 2 * AROUND as usize + 1)
        }
        None => {
            let pc = now.unwrap_or(code.entry);
            (all.partition_point(|p| *p < pc).saturating_sub(AROUND as usize), 2 * AROUND as usize + 1)
        }
    };
    let mut out = String::new();
    for &pc in all.iter().skip(from).take(count) {
        if let Some(label) = code.at(pc).map(|l| l.label.as_str()).filter(|l| !l.is_empty()) {
            let _ = writeln!(out, "{label}:");
        }
        let _ = writeln!(out, "{}", instruction(code, pc, now == Some(pc)));
    }
    Ok(out)
}

pub fn element(name: &str) -> Result<Element, DebugError> {
    Element::parse(name).ok_or_else(|| {
        DebugError::new(format!("there is no type `{name}`")).hint(format!("types: {}", Element::NAMES))
    })
}

/// From one element up to another; none: from the first, to the last.
type Span = (Option<u64>, Option<u64>);

/// `NAME[A..B] [as TYPE]`: the name, the range and the type.
fn range(text: &str) -> Option<(&str, Span, Option<&str>)> {
    let (place, element) = match text.rsplit_once(" as ") {
        Some((place, element)) => (place.trim(), Some(element.trim())),
        None => (text.trim(), None),
    };
    let (name, inside) = place.strip_suffix(']')?.split_once('[')?;
    let (from, to) = inside.split_once("..")?;
    let number = |t: &str| match t.trim() {
        "" => Some(None),
        t => t.parse().ok().map(Some),
    };
    Some((name.trim(), (number(from)?, number(to)?), element))
}

fn elements(view: &View, buffer: &Buffer, (from, to): Span) -> Result<String, DebugError> {
    let count = buffer.bytes / buffer.element.bytes();
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(count).min(count));
    if from >= to {
        return Err(DebugError::new(format!(
            "{} has elements 0 to {}",
            buffer.name,
            count.saturating_sub(1)
        )));
    }
    let shown = to.min(from + MOST);
    let values = view.elements(buffer.addr, buffer.element, from, shown);
    let mut out = String::new();
    for (i, line) in values.chunks(8).enumerate() {
        let _ = writeln!(out, "{}[{}]: {}", buffer.name, from + 8 * i as u64, line.join(" "));
    }
    if shown < to {
        let _ = writeln!(out, "… {} more", to - shown);
    }
    Ok(out)
}

pub fn print(view: &View, text: &str) -> Result<String, DebugError> {
    if let Some((name, span, kind)) = range(text) {
        if span == (None, None) && view.context().is_ok_and(|at| at.register(name, at.lane).is_some()) {
            return row(view, &kind.map_or(name.to_owned(), |k| format!("{name} as {k}")));
        }
        let mut buffer = view.info.buffer(name)?;
        if let Some(kind) = kind {
            buffer.element = element(kind)?;
        }
        return elements(view, &buffer, span);
    }
    // A buffer by its name alone is all of it, also once the launch is over.
    let (name, kind) = text.split_once(" as ").map_or((text, None), |(n, k)| (n.trim(), Some(k.trim())));
    let known = view.context().is_ok_and(|at| {
        at.eval(&Expr::Name(name.to_owned())).is_ok() && view.info.buffers.iter().all(|b| b.name != name)
    });
    if !known
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && let Ok(mut buffer) = view.info.buffer(name)
    {
        if let Some(kind) = kind {
            buffer.element = element(kind)?;
        }
        return elements(view, &buffer, (None, None));
    }
    Ok(view.eval(text)?.to_string())
}

pub fn memory(view: &View, place: &str, count: u64, kind: Option<&str>) -> Result<String, DebugError> {
    let e = Expr::parse(place)?;
    let (addr, _, own) = match (&e, view.context()) {
        (Expr::Number(value), Err(_)) => (value.unsigned()?, 4, Element::U32),
        (_, at) => at?.address(&e)?,
    };
    let element = kind.map_or(Ok(own), element)?;
    let values = view.elements(addr, element, 0, count.min(MOST));
    if values.is_empty() {
        return Err(DebugError::new(format!("there is no memory at {addr:#x}"))
            .hint("`info buffers` lists what there is"));
    }
    let mut out = String::new();
    for (i, line) in values.chunks(8).enumerate() {
        let _ = writeln!(out, "{:#x}: {}", addr + 8 * i as u64 * element.bytes(), line.join(" "));
    }
    Ok(out)
}

fn own_memory(view: &View, name: &str, addr: u64, bytes: u64, text: &str) -> Result<String, DebugError> {
    if bytes == 0 {
        return Err(DebugError::new(format!("the launch has no {name} memory")));
    }
    let mut buffer = Buffer { name: name.to_owned(), addr, bytes, element: Element::U32 };
    let text = text.trim();
    let (span, kind) = match text.strip_prefix("as ") {
        Some(kind) => ("", Some(kind)),
        None => text.split_once(" as ").map_or((text, None), |(s, k)| (s, Some(k))),
    };
    if let Some(kind) = kind {
        buffer.element = element(kind.trim())?;
    }
    let span = match span.trim() {
        "" => (None, Some(64)),
        span => {
            let span = span.trim_matches(['[', ']']);
            let bad =
                || DebugError::new(format!("`{span}` is no range")).hint(format!("{name} 0..16 as f32"));
            range(&format!("m[{span}]")).ok_or_else(bad)?.1
        }
    };
    elements(view, &buffer, span)
}

pub fn local(view: &View, text: &str) -> Result<String, DebugError> {
    let at = view.context()?;
    own_memory(view, "local", at.wave.lds_base, view.info.local_bytes(), text)
}

pub fn private(view: &View, text: &str) -> Result<String, DebugError> {
    let at = view.context()?;
    own_memory(view, "private", at.wave.scratch_base, view.info.private_bytes(), text)
}

pub fn info(view: &View, what: &str) -> Result<String, DebugError> {
    let code = view.code();
    let mut out = String::new();
    match what {
        "waves" => {
            let current = view.now.current().map(|c| c.0);
            for w in view.now.waves() {
                let mark = if current == Some(w.wave) { '*' } else { ' ' };
                let paths = view.now.paths(w.wave);
                let pc = paths.first().map_or(0, |p| p.pc);
                let split = if paths.len() > 1 { format!(", {} paths", paths.len()) } else { String::new() };
                let waits = if w.at_barrier { ", at a barrier" } else { "" };
                let _ = writeln!(
                    out,
                    "{mark} wave {} (group {}, core {}): {} lanes{split}{waits}, {} instructions, {}",
                    w.wave,
                    w.group,
                    w.core,
                    w.live.count_ones(),
                    w.issued,
                    instruction(code, pc, false).trim()
                );
            }
        }
        "groups" => {
            let waves = view.now.waves();
            let mut groups: Vec<u32> = waves.iter().map(|w| w.group).collect();
            groups.sort_unstable();
            groups.dedup();
            for g in groups {
                let own: Vec<String> =
                    waves.iter().filter(|w| w.group == g).map(|w| w.wave.to_string()).collect();
                let _ = writeln!(out, "group {g}: waves {}", own.join(" "));
            }
        }
        "buffers" => {
            for b in &view.info.buffers {
                let count = b.bytes / b.element.bytes();
                let _ = writeln!(out, "{:>12} {:#x}: {count} × {}", b.name, b.addr, b.element.name());
            }
        }
        "breaks" => {
            for b in &view.breaks.list {
                let _ = writeln!(out, "{:>3} {} ({} hits)", b.id, b.text(code), b.count);
            }
        }
        "kernel" => {
            let _ = writeln!(
                out,
                "{} of {}, {} on {} ({})",
                code.kernel,
                last_part(&code.name),
                code.isa,
                view.info.machine,
                view.info.mechanism
            );
            let _ = writeln!(out, "launch {}: {}", view.info.number, launch_text(&view.info.launch));
            let _ = writeln!(
                out,
                "{} instructions, from {:#x}",
                code.instructions().count(),
                code.at(code.entry).map_or(0, |l| l.addr)
            );
        }
        "args" => {
            for (name, arg, bytes) in view.info.arguments() {
                let _ = writeln!(out, "{} {} = {}", arg.type_name, name, view.info.argument_text(arg, bytes));
            }
        }
        _ => {
            return Err(DebugError::new(format!("there is no `info {what}`"))
                .hint("info waves, groups, buffers, breaks, kernel or args"));
        }
    }
    if out.is_empty() {
        out = format!("no {what}");
    }
    Ok(out)
}

fn launch_text(launch: &Launch) -> String {
    match launch {
        Launch::Boot => "one wave".to_owned(),
        Launch::Cores { count } => format!("one wave on each of {count} cores"),
        Launch::Grid { threads, group } => format!("{threads} threads in groups of {group}"),
        Launch::Groups(g) => {
            format!("{} groups of {} work-items, {} bytes of local memory each", g.count, g.size, g.lds_bytes)
        }
    }
}

pub fn help(what: &str) -> Result<String, DebugError> {
    let mut out = String::new();
    match what {
        "" => {
            for (names, usage, does) in COMMANDS {
                let _ = writeln!(out, "{} {usage}\n      {does}", names.join(", "));
            }
            let _ = writeln!(
                out,
                "an empty line repeats the last command; `help names` lists names for expressions"
            );
        }
        "names" => {
            for (name, what) in NAMES {
                let _ = writeln!(out, "{name:>14} {what}");
            }
            let _ = writeln!(
                out,
                "besides: registers (v3, v3[5], s4, s[4:5], exec), buffers (x[5]), arguments, *ADDRESS, `as TYPE`"
            );
        }
        name => {
            let Some((names, usage, does)) = COMMANDS.iter().find(|c| c.0.contains(&name)) else {
                return Err(DebugError::new(format!("there is no command `{name}`"))
                    .hint("`help` lists the commands"));
            };
            let _ = writeln!(out, "{} {usage}\n      {does}", names.join(", "));
        }
    }
    Ok(out)
}
