//! Works out what a point runs from its coordinates.

use super::{Axis, Column, Part, Place, Plan};
use crate::error::PlanError;
use crate::point::{Point, Program, Target, choice};
use crate::value::Value;
use std::path::Path;
use wb_hw::InstructionSet;

/// A size as the command line has it: 1024, 64x64.
fn size(text: &str) -> Option<[u32; 3]> {
    let parts: Option<Vec<u32>> = text.split(['x', ',', ' ']).map(|p| p.parse().ok()).collect();
    match parts.as_deref() {
        Some(all) if all.contains(&0) => None,
        Some([x]) => Some([*x, 1, 1]),
        Some([x, y]) => Some([*x, *y, 1]),
        Some([x, y, z]) => Some([*x, *y, *z]),
        _ => None,
    }
}

/// One point of a plan while it is worked out.
struct Maker<'a> {
    plan: &'a Plan,
    values: Vec<Option<&'a Value>>,
}

impl Plan {
    /// What a point runs.
    pub fn point(&self, place: Place) -> Result<Point, PlanError> {
        Maker { plan: self, values: self.coordinates(place) }.point()
    }
}

impl Maker<'_> {
    fn column(&self, part: Part) -> Option<usize> {
        let is = |(c, v): (&Column, &Option<&Value>)| c.axis == Axis::Part(part) && v.is_some();
        self.plan.columns.iter().zip(&self.values).position(is)
    }

    /// A text with the values of axes in place of `{name}`.
    fn expand(&self, column: usize, text: &str) -> Result<String, PlanError> {
        if !text.contains('{') {
            return Ok(text.to_owned());
        }
        let (mut out, mut rest) = (String::new(), text);
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}').map(|n| open + n);
            let Some(close) = close else { break };
            let name = &rest[open + 1..close];
            let found = self.plan.column(name).filter(|c| *c != column).and_then(|c| self.values[c]);
            let Some(value) = found else {
                let error = self.plan.error_at(Some(column), format!("`{text}`: there is no axis `{name}`"));
                return Err(error.hint("give it values under [variables]"));
            };
            out.push_str(&rest[..open]);
            out.push_str(&value.to_string());
            rest = &rest[close + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn text(&self, part: Part) -> Result<Option<String>, PlanError> {
        let Some(column) = self.column(part) else { return Ok(None) };
        let Some(value) = self.values[column] else { return Ok(None) };
        Ok(Some(self.expand(column, &value.to_string())?))
    }

    fn list(&self, part: Part) -> Result<Vec<String>, PlanError> {
        let Some(column) = self.column(part) else { return Ok(Vec::new()) };
        match self.values[column] {
            Some(Value::List(words)) => words.iter().map(|w| self.expand(column, w)).collect(),
            Some(value) => Ok(vec![self.expand(column, &value.to_string())?]),
            None => Ok(Vec::new()),
        }
    }

    fn parsed<T>(
        &self,
        part: Part,
        parse: impl Fn(&str) -> Option<T>,
        form: &str,
    ) -> Result<Option<T>, PlanError> {
        let Some(text) = self.text(part)? else { return Ok(None) };
        let value = parse(&text).ok_or_else(|| {
            let message = format!("`{text}` is not a value of `{}`", part.name());
            self.plan.error_at(self.column(part), message).hint(form)
        })?;
        Ok(Some(value))
    }

    /// A path from the folder of the plan.
    fn path(&self, text: &str) -> String {
        let path = Path::new(text);
        let joined = if path.is_absolute() { path.to_owned() } else { self.plan.folder.join(path) };
        joined.display().to_string()
    }

    /// An argument whose data are in a file, from the folder of the plan.
    fn argument(&self, text: String) -> String {
        match text.rsplit_once(':') {
            Some((before, file)) if text.contains("buf:") && wb_jobs::args::is_data_file(file) => {
                format!("{before}:{}", self.path(file))
            }
            _ => text,
        }
    }

    fn point(&self) -> Result<Point, PlanError> {
        let target = self.target()?;
        let machine = match self.text(Part::Machine)? {
            Some(name) if name.ends_with(".toml") => self.path(&name),
            name => name.unwrap_or_default(),
        };
        let mut sets = Vec::new();
        for (i, column) in self.plan.columns.iter().enumerate() {
            if let (Axis::Field(field), Some(value)) = (&column.axis, self.values[i]) {
                sets.push(format!("{field}={}", self.expand(i, &value.to_string())?));
            }
        }
        let whole = |text: &str| text.parse().ok();
        Ok(Point {
            target,
            machine,
            sets,
            seed: self.parsed(Part::Seed, whole, "a whole number from 0 on")?.unwrap_or(0),
            split_at: self.list(Part::SplitAt)?,
            split_all: self.parsed(Part::SplitAll, |t| t.parse().ok(), "true or false")?.unwrap_or(false),
        })
    }

    fn target(&self) -> Result<Target, PlanError> {
        const KINDS: [Part; 4] = [Part::Workload, Part::Launch, Part::Program, Part::Hip];
        let given: Vec<Part> = KINDS.into_iter().filter(|p| self.column(*p).is_some()).collect();
        let [kind] = given[..] else {
            let names = KINDS.map(|p| format!("`{}`", p.name())).join(", ");
            let what = if given.is_empty() { "nothing" } else { "more than one thing" };
            let column = given.first().and_then(|p| self.column(*p));
            let error = self.plan.error_at(column, format!("a point that runs {what}"));
            return Err(error.hint(format!("every point has one of {names}")));
        };
        let only: &[Part] = match kind {
            Part::Workload => &[Part::Size, Part::Marks],
            Part::Program => &[
                Part::Kernel,
                Part::Grid,
                Part::Group,
                Part::Args,
                Part::Isa,
                Part::Arch,
                Part::Registers,
                Part::DynamicLds,
                Part::Views,
                Part::Samplers,
            ],
            _ => &[],
        };
        let always = [kind, Part::Seed, Part::Machine, Part::SplitAt, Part::SplitAll];
        let strange = Part::ALL
            .into_iter()
            .find(|p| self.column(*p).is_some() && !only.contains(p) && !always.contains(p));
        if let Some(part) = strange {
            let message = format!("`{}` does not go with `{}`", part.name(), kind.name());
            return Err(self.plan.error_at(self.column(part), message));
        }
        if kind == Part::Hip && self.column(Part::Seed).is_some() {
            let message = "a HIP program makes its inputs itself: `seed` does not go with `hip`";
            let error = self.plan.error_at(self.column(Part::Seed), message);
            return Err(error.hint("pass a seed as one of its arguments: hip = [[\"./program\", \"{n}\"]]"));
        }
        let name = self.text(kind)?.unwrap_or_default();
        match kind {
            Part::Workload => self.workload(name),
            Part::Launch => Ok(Target::Launch { path: self.path(&name) }),
            Part::Hip => {
                let words = self.list(Part::Hip)?;
                let (first, args) = words.split_first().ok_or_else(|| {
                    self.plan.error_at(self.column(kind), "`hip` names a program and its arguments")
                })?;
                let files = self.plan.files.iter().map(|f| self.path(f)).collect();
                Ok(Target::Hip { path: self.path(first), args: args.to_vec(), files })
            }
            _ => self.program(&name),
        }
    }

    fn workload(&self, name: String) -> Result<Target, PlanError> {
        let size = self.text(Part::Size)?.unwrap_or_else(|| "small".to_owned());
        let marks = self.text(Part::Marks)?.unwrap_or_else(|| "needed".to_owned());
        if choice(&marks).is_none() {
            let message = format!("`{marks}` is not a choice of marks");
            let error = self.plan.error_at(self.column(Part::Marks), message);
            return Err(error.hint("needed (default marks where the mechanism reads marks), default, none"));
        }
        if let Err(e) = wb_workloads::find(&name) {
            let names: Vec<&str> = wb_workloads::all().iter().map(|w| w.name).collect();
            let error = self.plan.error_at(self.column(Part::Workload), e.to_string());
            return Err(error.hint(format!("workloads: {}", names.join(", "))));
        }
        if let Err(e) = wb_workloads::Size::parse(&size) {
            let error = self.plan.error_at(self.column(Part::Size), e.to_string());
            return Err(error.hint("sizes: tiny, small, medium, large"));
        }
        Ok(Target::Workload { name, size, marks })
    }

    fn program(&self, name: &str) -> Result<Target, PlanError> {
        let form = "a size looks like 1024, \"64x64\" or \"16x16x4\"";
        let isa =
            self.parsed(Part::Isa, |t| InstructionSet::parse(t).map(|_| t.to_owned()), "an instruction set")?;
        let number = |part| self.parsed(part, |t| t.parse::<u32>().ok(), "a whole number");
        let arguments = |part| Ok(self.list(part)?.into_iter().map(|a| self.argument(a)).collect());
        Ok(Target::Program(Box::new(Program {
            path: self.path(name),
            isa: isa.unwrap_or_default(),
            arch: self.text(Part::Arch)?.unwrap_or_default(),
            kernel: self.text(Part::Kernel)?.unwrap_or_default(),
            grid: self.parsed(Part::Grid, size, form)?,
            group: self.parsed(Part::Group, size, form)?,
            args: arguments(Part::Args)?,
            views: arguments(Part::Views)?,
            samplers: self.list(Part::Samplers)?,
            registers: number(Part::Registers)?.unwrap_or(0),
            dynamic_lds: number(Part::DynamicLds)?.unwrap_or(0),
        })))
    }
}
