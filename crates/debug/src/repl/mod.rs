//! The debugger in a terminal: reads commands, from a user, a pipe or a script, and prints what they ask for.

mod command;
mod show;

pub use command::COMMANDS;

use crate::breaks::{Hits, What};
use crate::code::Sources;
use crate::error::DebugError;
use crate::expr::Expr;
use crate::goal::{Go, Goal, Reason};
use crate::view::{Front, View};
use command::{Command, Spot};
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The front end of a terminal.
pub struct Repl<R, W> {
    input: R,
    output: W,
    /// Commands to do first.
    script: VecDeque<String>,
    /// Somebody sits there: they get a prompt, and an empty line repeats the last command.
    interactive: bool,
    sources: Sources,
    /// Set from outside to interrupt a run.
    pause: Arc<AtomicBool>,
    last: String,
    errors: usize,
}

impl<R: BufRead, W: Write> Repl<R, W> {
    pub fn new(input: R, output: W, interactive: bool, sources: Sources) -> Repl<R, W> {
        let (script, last) = (VecDeque::new(), String::new());
        Repl { input, output, script, interactive, sources, pause: Arc::default(), last, errors: 0 }
    }

    /// Does these commands before it reads any.
    #[must_use]
    pub fn script(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        self.script.extend(commands);
        self
    }

    /// Something to interrupt runs with.
    pub fn pause(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.pause)
    }

    /// Commands that did not work.
    pub fn errors(&self) -> usize {
        self.errors
    }

    fn say(&mut self, text: &str) {
        // Whoever does not read any more need not be told.
        let _ = self.output.write_all(text.as_bytes());
        if !text.is_empty() && !text.ends_with('\n') {
            let _ = self.output.write_all(b"\n");
        }
        let _ = self.output.flush();
    }

    fn complain(&mut self, error: &DebugError) {
        self.errors += 1;
        self.say(&match &error.hint {
            Some(hint) => format!("error: {}\n  help: {hint}", error.message),
            None => format!("error: {}", error.message),
        });
    }

    /// The next command; none at the end of the input.
    fn line(&mut self) -> Option<String> {
        if let Some(line) = self.script.pop_front() {
            self.say(&format!("(wavebound) {line}"));
            return Some(line);
        }
        if self.interactive {
            let _ = self.output.write_all(b"(wavebound) ");
            let _ = self.output.flush();
        }
        let mut bytes = Vec::new();
        match self.input.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => None,
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes).trim().to_owned();
                if !self.interactive && !line.is_empty() {
                    self.say(&format!("(wavebound) {line}"));
                }
                Some(line)
            }
        }
    }

    fn run(&mut self, command: Command, view: &mut View) -> Result<Option<Go>, DebugError> {
        if let Command::Go(go) = command {
            return Ok(Some(go));
        }
        let text = tell(command, view, &self.sources)?;
        self.say(&text);
        Ok(None)
    }
}

/// What a command of the terminal prints; none if it is no command. Commands that let the run go on are for who runs it.
pub(crate) fn answer(line: &str, view: &mut View, sources: &Sources) -> Option<Result<String, DebugError>> {
    let word = line.split_whitespace().next().unwrap_or("");
    if !COMMANDS.iter().any(|c| c.0.contains(&word)) {
        return None;
    }
    Some(command::parse(line).and_then(|command| tell(command, view, sources)))
}

/// Does what a command says, and what it prints.
fn tell(command: Command, view: &mut View, sources: &Sources) -> Result<String, DebugError> {
    let text = match command {
        Command::Go(_) => {
            return Err(
                DebugError::new("the editor lets the run go on").hint("use its buttons to step and continue")
            );
        }
        Command::Break { what, condition, once } => add_break(view, what, condition.as_deref(), once)?,
        Command::Watch { place, bytes, condition } => add_watch(view, &place, bytes, condition.as_deref())?,
        Command::Delete(None) => {
            view.breaks.list.clear();
            view.breaks.mark();
            "all breakpoints are removed".to_owned()
        }
        Command::Delete(Some(id)) if view.breaks.remove(id) => String::new(),
        Command::Enable(id, enabled) if view.breaks.get_mut(id).is_some() => {
            view.breaks.list.iter_mut().filter(|b| b.id == id).for_each(|b| b.enabled = enabled);
            view.breaks.mark();
            String::new()
        }
        Command::Hits(id, rule) if view.breaks.get_mut(id).is_some() => {
            let rule = Hits::parse(&rule)?;
            view.breaks.list.iter_mut().filter(|b| b.id == id).for_each(|b| b.hits = rule);
            String::new()
        }
        Command::Delete(Some(id)) | Command::Enable(id, _) | Command::Hits(id, _) => {
            return Err(
                DebugError::new(format!("there is no breakpoint {id}")).hint("`info breaks` lists them")
            );
        }
        Command::Wave(wave, path) => {
            view.look_at(wave, path)?;
            show::here(view, sources)
        }
        Command::Path(path) => {
            view.look_at(view.focus.wave, Some(path))?;
            show::here(view, sources)
        }
        Command::Lane(lane) => {
            let lanes = view.code().lanes;
            if lane >= lanes {
                return Err(DebugError::new(format!("there is no lane {lane}"))
                    .hint(format!("lanes are 0 to {}", lanes - 1)));
            }
            view.focus.lane = lane;
            show::lane(view)?
        }
        Command::Regs { all } => show::registers(view, all)?,
        Command::Row(name) => show::row(view, &name)?,
        Command::Mask => show::masks(view)?,
        Command::Paths => show::paths(view)?,
        Command::Where => show::frames(view)?,
        Command::List(line) => show::list(view, sources, line)?,
        Command::Disasm(addr) => show::disassembly(view, addr)?,
        Command::Print(text) => show::print(view, &text)?,
        Command::Memory { place, count, element } => show::memory(view, &place, count, element.as_deref())?,
        Command::Local(range) => show::local(view, &range)?,
        Command::Private(range) => show::private(view, &range)?,
        Command::Info(what) => show::info(view, &what)?,
        Command::Help(what) => show::help(&what)?,
    };
    Ok(text)
}

/// A condition that cannot be evaluated where the run stands would never hold: that is said at once.
pub(crate) fn check_condition(view: &View, condition: Option<&str>) -> Result<(), DebugError> {
    if let (Some(text), Ok(at)) = (condition, view.context()) {
        at.lane_where(&Expr::parse(text)?)?;
    }
    Ok(())
}

fn add_break(view: &mut View, spot: Spot, condition: Option<&str>, once: bool) -> Result<String, DebugError> {
    check_condition(view, condition)?;
    let mut what = match spot {
        Spot::Known(what) => what,
        Spot::Here => {
            let at = view.context()?;
            What::Address(view.code().at(at.path.pc).map_or(0, |l| l.addr))
        }
    };
    let mut moved = String::new();
    if let What::Line { file, line } = &mut what {
        let (found, _) = view.code().line_starts(file.as_deref(), *line)?;
        if found != *line {
            moved = format!("; line {line} has no code");
            *line = found;
        }
    }
    let id = view.breaks.add(what, condition, view.info.code)?;
    let code = view.info.code;
    let Some(b) = view.breaks.get_mut(id) else { return Ok(String::new()) };
    b.once = once;
    let places = match b.pcs.len() {
        0 | 1 => String::new(),
        n => format!(", {n} places"),
    };
    Ok(format!("breakpoint {id}: {}{places}{moved}", b.text(code)))
}

fn add_watch(
    view: &mut View,
    place: &str,
    bytes: Option<u64>,
    condition: Option<&str>,
) -> Result<String, DebugError> {
    check_condition(view, condition)?;
    let at = view.context()?;
    let (addr, size, _) = at.address(&Expr::parse(place)?)?;
    let bytes = bytes.unwrap_or(size).max(1);
    at.read(addr, bytes)?;
    let id =
        view.breaks.add(What::Written { addr, bytes, name: place.to_owned() }, condition, view.info.code)?;
    let code = view.info.code;
    Ok(view.breaks.get_mut(id).map_or(String::new(), |b| format!("breakpoint {id}: {}", b.text(code))))
}

/// Nothing comes after this.
fn is_over(view: &View) -> bool {
    match view.reason {
        Reason::Failed(_) => true,
        Reason::Ended => !view.info.several,
        _ => false,
    }
}

impl<R: BufRead, W: Write> Front for Repl<R, W> {
    fn stopped(&mut self, view: &mut View) -> Go {
        self.pause.store(false, Ordering::SeqCst);
        let text = show::stop(view, &self.sources);
        self.say(&text);
        loop {
            let Some(line) = self.line() else { return Go::Quit };
            let line = match line.as_str() {
                "" if self.interactive => self.last.clone(),
                _ => line,
            };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.last.clone_from(&line);
            match command::parse(&line).and_then(|command| self.run(command, view)) {
                Ok(Some(Go::Forward(goal))) if is_over(view) && !matches!(goal, Goal::Step(_)) => {
                    let error = DebugError::new("the launch is over");
                    self.complain(&error.hint("`back`, `rc`, `goto` and `restart` go back, `quit` ends"));
                }
                Ok(Some(go)) => return go,
                Ok(None) => {}
                Err(error) => self.complain(&error),
            }
        }
    }

    fn poll(&mut self, _view: &mut View) -> bool {
        self.pause.swap(false, Ordering::SeqCst)
    }

    fn printed(&mut self, text: &str) {
        self.say(text);
    }
}
