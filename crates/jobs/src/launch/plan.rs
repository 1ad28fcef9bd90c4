//! A launch file checked against its program: every name resolved, loops unrolled into a short list of
//! operations with jumps. Nothing has run and no data has been read yet.

use super::LaunchError;
use super::schema::{LaunchFile, LaunchTable, Size};
use crate::args::{self, Argument};
use std::ops::Range;
use toml::Spanned;
use wb_device::{Arg, OpenCl, explicit};
use wb_isa::SourceFile;
use wb_isa::diag::nearest;
use wb_objects::codeobject::{CodeObject, KernelArg};

/// An argument: a buffer by its place in the list, or something that is known now.
#[derive(Clone, Debug)]
pub enum PlannedArgument {
    Buffer(usize),
    Plain(Arg),
}

/// One launch as the file says it.
#[derive(Clone, Debug)]
pub struct PlannedLaunch {
    pub name: String,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub args: Vec<PlannedArgument>,
    pub dynamic_lds: u32,
    pub opencl: OpenCl,
    pub span: Range<usize>,
}

/// A number in a buffer that says whether a loop goes on.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    pub buffer: usize,
    pub index: u64,
}

/// Operations run one after the other; loops jump back.
#[derive(Clone, Debug)]
pub enum Op {
    Launch(PlannedLaunch),
    /// Host writes zero.
    Clear(Flag),
    /// Back to `start` until `rounds` are done.
    Repeat {
        start: usize,
        counter: usize,
        rounds: u64,
    },
    /// Back to `start` while the flag is set, `max` rounds at most.
    While {
        start: usize,
        counter: usize,
        flag: Flag,
        max: u64,
        span: Range<usize>,
    },
}

/// Loops in loops deeper than this are a mistake.
const MAX_DEPTH: usize = 16;
const MAX_ROUNDS: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub struct Plan {
    pub ops: Vec<Op>,
    /// Names of the buffers, in the order of their numbers.
    pub buffers: Vec<String>,
    pub counters: usize,
}

struct Planner<'a> {
    text: &'a SourceFile,
    object: &'a CodeObject,
    plan: Plan,
}

impl Plan {
    pub fn new(text: &SourceFile, file: &LaunchFile, object: &CodeObject) -> Result<Plan, LaunchError> {
        let buffers = file.buffers.keys().cloned().collect();
        let plan = Plan { ops: Vec::new(), buffers, counters: 0 };
        let mut planner = Planner { text, object, plan };
        if file.launch.is_empty() {
            return Err(LaunchError::new(text, None, "there is nothing to launch")
                .hint("add [[launch]] with kernel, grid, group and args"));
        }
        for table in &file.launch {
            planner.launch(table, 0)?;
        }
        for name in file
            .expect
            .iter()
            .map(|e| &e.get_ref().buffer)
            .chain(file.output.iter().map(|o| &o.get_ref().buffer))
        {
            planner.buffer(name.get_ref(), name.span())?;
        }
        Ok(planner.plan)
    }

    pub fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().position(|b| b == name)
    }
}

impl Planner<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>) -> LaunchError {
        LaunchError::new(self.text, Some(span), message)
    }

    fn buffer(&self, name: &str, span: Range<usize>) -> Result<usize, LaunchError> {
        self.plan.buffer(name).ok_or_else(|| {
            let error = self.error(span, format!("there is no buffer `{name}`"));
            error.hint(match nearest(name, self.plan.buffers.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("buffers: {}", self.plan.buffers.join(", ")),
            })
        })
    }

    /// One `[[launch]]`: a kernel or a body, once, several times, or while a flag is set.
    fn launch(&mut self, table: &Spanned<LaunchTable>, depth: usize) -> Result<(), LaunchError> {
        let (span, t) = (table.span(), table.get_ref());
        if depth > MAX_DEPTH {
            return Err(self.error(span, format!("loops are nested more than {MAX_DEPTH} deep")));
        }
        if let (Some(repeat), Some(_)) = (&t.repeat, &t.flag) {
            return Err(self
                .error(repeat.span(), "`repeat` and `while` exclude each other")
                .hint("`max` limits the rounds of `while`"));
        }
        let counter = self.plan.counters;
        self.plan.counters += 1;
        let start = self.plan.ops.len();
        let flag = t.flag.as_ref().map(|f| self.flag(f)).transpose()?;
        if let Some(flag) = flag {
            self.plan.ops.push(Op::Clear(flag));
        }
        match (&t.kernel, t.body.is_empty()) {
            (Some(_), true) => {
                let kernel = self.kernel(t, span.clone())?;
                self.plan.ops.push(Op::Launch(kernel));
            }
            (None, false) => {
                if t.grid.is_some() || t.group.is_some() || !t.args.is_empty() {
                    return Err(self
                        .error(span, "a loop has no grid, group or args")
                        .hint("they belong to the launches in its body"));
                }
                for inner in &t.body {
                    self.launch(inner, depth + 1)?;
                }
            }
            (Some(kernel), false) => {
                return Err(self
                    .error(kernel.span(), "`kernel` and `body` exclude each other")
                    .hint("move the kernel into the body: [[launch.body]]"));
            }
            (None, true) => {
                return Err(self.error(span, "a launch needs `kernel`, or `body` for a loop"));
            }
        }
        match (flag, &t.repeat) {
            (Some(flag), _) => {
                let max = t.max.as_ref().map_or(MAX_ROUNDS, |m| *m.get_ref());
                let span = t.flag.as_ref().map_or(span, Spanned::span);
                self.plan.ops.push(Op::While { start, counter, flag, max, span });
            }
            (None, Some(repeat)) => {
                let rounds = *repeat.get_ref();
                if !(1..=MAX_ROUNDS).contains(&rounds) {
                    return Err(self.error(repeat.span(), format!("`repeat` must be 1 to {MAX_ROUNDS}")));
                }
                self.plan.ops.push(Op::Repeat { start, counter, rounds });
            }
            (None, None) => {}
        }
        match &t.max {
            Some(max) if flag.is_none() => {
                Err(self.error(max.span(), "`max` limits `while`, and there is none"))
            }
            _ => Ok(()),
        }
    }

    /// `NAME` or `NAME[INDEX]`.
    fn flag(&self, text: &Spanned<String>) -> Result<Flag, LaunchError> {
        let (name, index) = match text.get_ref().split_once('[') {
            None => (text.get_ref().as_str(), Some(0)),
            Some((name, rest)) => (name, rest.strip_suffix(']').and_then(|i| i.trim().parse().ok())),
        };
        let index = index
            .ok_or_else(|| self.error(text.span(), "expected a buffer, or one of its elements: flag[3]"))?;
        Ok(Flag { buffer: self.buffer(name.trim(), text.span())?, index })
    }

    fn kernel(&self, t: &LaunchTable, span: Range<usize>) -> Result<PlannedLaunch, LaunchError> {
        let (name, name_span) =
            t.kernel.as_ref().map_or((String::new(), span.clone()), |k| (k.get_ref().clone(), k.span()));
        let Some(name) = self.object.kernel(&name).map(|k| k.name.clone()) else {
            let hint = match nearest(&name, self.object.kernels.iter().map(|k| k.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("kernels: {}", self.object.kernel_names()),
            };
            return Err(self.error(name_span, format!("there is no kernel `{name}`")).hint(hint));
        };
        let size = |s: &Option<Spanned<Size>>, what: &str| {
            let s = s.as_ref().ok_or_else(|| self.error(span.clone(), format!("`{what}` is missing")))?;
            if s.get_ref().0.contains(&0) {
                return Err(self.error(s.span(), format!("`{what}` needs at least one work-item everywhere")));
            }
            Ok(s.get_ref().three())
        };
        let slots: Vec<&KernelArg> =
            self.object.kernels.iter().find(|k| k.name == name).map_or(Vec::new(), |k| explicit(k).collect());
        let args = t.args.iter().enumerate().map(|(i, a)| self.arg(a, slots.get(i).copied()));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        Ok(PlannedLaunch {
            name,
            grid: size(&t.grid, "grid")?,
            group: size(&t.group, "group")?,
            args,
            dynamic_lds: t.dynamic_lds,
            opencl: OpenCl { offset: t.offset, dimensions: t.dimensions.min(3) },
            span: name_span,
        })
    }

    fn arg(&self, arg: &Spanned<String>, slot: Option<&KernelArg>) -> Result<PlannedArgument, LaunchError> {
        let text = arg.get_ref();
        if !text.contains(':') {
            return Ok(PlannedArgument::Buffer(self.buffer(text, arg.span())?));
        }
        let wrong = |why: String| {
            self.error(arg.span(), format!("`{text}` is not an argument: {why}"))
                .hint("the name of a buffer, \"i32:5\", \"f32:1,2,3,4\", \"struct:i32:1;f32:2\", \"hex:00ff\" or \"local:4096\"")
        };
        match (args::parse(text).map_err(wrong)?, slot) {
            (Argument::Local(bytes), _) => Ok(PlannedArgument::Plain(Arg::Local(bytes))),
            (Argument::Value(v), Some(slot)) => args::fit(v, slot).map(PlannedArgument::Plain).map_err(wrong),
            (Argument::Value(v), None) => Ok(PlannedArgument::Plain(Arg::Value(v.bytes))),
            (Argument::Buffer(_), _) => Err(wrong("buffers have a name and a table, [buffers.NAME]".into())),
        }
    }
}
