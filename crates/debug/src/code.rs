//! What a debugger knows about a program before it runs: instructions by pc and address, source lines, functions, inlined calls.

use crate::error::DebugError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wb_files::Kind;
use wb_hw::{InstructionSet, Machine};
use wb_isa::{FlowKind, Isa, Pc, SourceFile};
use wb_jobs::{ProgramRef, last_part, with_program};
use wb_program::{Inlined, Program};
use wb_trace::CodeLine;

/// The code of a launch.
pub struct Code {
    pub isa: InstructionSet,
    pub kernel: String,
    /// The program's file.
    pub name: String,
    pub entry: Pc,
    pub files: Vec<String>,
    pub labels: Vec<(String, Pc)>,
    pub source: Option<SourceFile>,
    /// Lanes of a wave, and bytes of a word of memory.
    pub lanes: u32,
    pub word: u32,
    /// Registers of a path: the same in all its lanes.
    scalars: BTreeSet<String>,
    /// It has calls, so that a call stack is more than its kernel.
    pub has_calls: bool,
    /// By pc; none where there is no instruction.
    lines: Vec<Option<CodeLine>>,
    kinds: Vec<FlowKind>,
    next: Vec<Pc>,
    /// Calls that the compiler inlined, outermost first where they nest.
    inlined: Vec<Inlined>,
}

/// Where an instruction was written: number of the file in [`Code::files`], and the line.
pub type Place = (u32, u32);

impl Code {
    pub fn of(program: ProgramRef, machine: &Machine) -> Code {
        with_program!(program, p => Code::new(p, program, machine))
    }

    fn new<I: Isa>(p: &Program<I>, any: ProgramRef, machine: &Machine) -> Code {
        let info = wb_sim::trace_info(p, machine, false);
        let mut lines: Vec<Option<CodeLine>> = vec![None; p.ops.len()];
        for line in info.code {
            if let Some(place) = lines.get_mut(line.pc as usize) {
                *place = Some(line);
            }
        }
        let kinds = p.flow.kind.clone();
        let calls = |(pc, kind): (usize, &FlowKind)| lines[pc].is_some() && is_call(*kind);
        Code {
            isa: any.isa(),
            kernel: any.kernel().to_owned(),
            name: p.name.clone(),
            entry: p.entry,
            files: info.files,
            labels: p.labels.clone(),
            source: p.source.clone(),
            lanes: machine.core.lanes,
            word: any.word(),
            scalars: p.isa.path_registers().map(|id| p.isa.register_name(id)).collect(),
            has_calls: kinds.iter().enumerate().any(calls),
            kinds,
            next: p.flow.next.clone(),
            inlined: p.inlined.clone(),
            lines,
        }
    }

    pub fn at(&self, pc: Pc) -> Option<&CodeLine> {
        self.lines.get(pc as usize)?.as_ref()
    }

    /// All instructions in the order of their addresses.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = &CodeLine> {
        self.lines.iter().flatten()
    }

    pub fn is_call(&self, pc: Pc) -> bool {
        self.kinds.get(pc as usize).is_some_and(|kind| is_call(*kind))
    }

    /// A jump through a register, as a return is.
    pub fn may_return(&self, pc: Pc) -> bool {
        matches!(self.kinds.get(pc as usize), Some(FlowKind::Indirect { .. }))
    }

    /// Whether a register, or the low half of one, is the same in all lanes of a path.
    pub fn is_scalar(&self, name: &str) -> bool {
        self.scalars.contains(name) || self.scalars.contains(&format!("{name}_lo"))
    }

    pub fn next(&self, pc: Pc) -> Option<Pc> {
        self.next.get(pc as usize).copied()
    }

    pub fn place(&self, pc: Pc) -> Option<Place> {
        self.at(pc).filter(|l| l.line > 0).map(|l| (l.file, l.line))
    }

    pub fn file_name(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", String::as_str)
    }

    /// The same as `file.cl:12`; empty where it is not known.
    pub fn place_text(&self, pc: Pc) -> String {
        match self.place(pc) {
            Some((file, line)) => format!("{}:{line}", last_part(self.file_name(file))),
            None => String::new(),
        }
    }

    /// The instruction at an address as linked.
    pub fn by_address(&self, addr: u64) -> Option<Pc> {
        let found = self.lines.iter().flatten().find(|l| l.addr == addr)?;
        Some(found.pc)
    }

    /// The function that a pc lies in: the kernel, or the last label before it that a call goes to.
    pub fn function(&self, pc: Pc) -> &str {
        let before = |(_, at): &&(String, Pc)| *at <= pc;
        let called = |(_, at): &&(String, Pc)| *at == self.entry || !self.inside(*at);
        let nearest = self.labels.iter().filter(before).filter(called).max_by_key(|l| l.1);
        match nearest {
            Some((name, at)) if *at > self.entry || pc < self.entry => name,
            _ => &self.kernel,
        }
    }

    /// Whether the instruction before a pc goes on to it: then a label there begins no function.
    fn inside(&self, pc: Pc) -> bool {
        let before = self.lines[..(pc as usize).min(self.lines.len())].iter().flatten().next_back();
        before.is_some_and(|l| {
            !matches!(self.kinds[l.pc as usize], FlowKind::Exit { .. } | FlowKind::Indirect { .. })
        })
    }

    /// Inlined calls around a pc, the innermost first.
    pub fn inlined(&self, pc: Pc) -> Vec<&Inlined> {
        let mut around: Vec<&Inlined> = self.inlined.iter().filter(|c| c.from <= pc && pc < c.to).collect();
        around.sort_by_key(|c| std::cmp::Reverse(c.depth));
        around
    }

    pub fn inline_depth(&self, pc: Pc) -> usize {
        self.inlined.iter().filter(|c| c.from <= pc && pc < c.to).count()
    }

    /// Files that a name means: the whole name, or its end at a `/`.
    fn files_called(&self, name: &str) -> Vec<u32> {
        let wanted = last_part(name);
        let same = |f: &String| f == name || last_part(f) == wanted;
        (0..).zip(&self.files).filter(|(_, f)| same(f)).map(|(i, _)| i).collect()
    }

    /// Where a line begins, in a file or in the one that the kernel begins in. If it has no code, the next line that has.
    pub fn line_starts(&self, file: Option<&str>, line: u32) -> Result<(u32, Vec<Pc>), DebugError> {
        let files = match file {
            Some(name) => self.files_called(name),
            None => self
                .place(self.entry)
                .or_else(|| self.instructions().find_map(|l| self.place(l.pc)))
                .map(|p| p.0)
                .into_iter()
                .collect(),
        };
        if files.is_empty() {
            let known: Vec<&str> = self.files.iter().map(|f| last_part(f)).take(12).collect();
            let hint = match self.instructions().any(|l| l.line > 0) {
                true => format!("files of the program: {}", known.join(" ")),
                false => {
                    "the program has no line table: break on an address (break *0x…) or a label".to_owned()
                }
            };
            let what =
                file.map_or("there are no source lines".to_owned(), |f| format!("no code comes from `{f}`"));
            return Err(DebugError::new(what).hint(hint));
        }
        let of = |l: &&CodeLine| l.line >= line && files.contains(&l.file);
        let Some(found) = self.instructions().filter(of).map(|l| l.line).min() else {
            return Err(DebugError::new(format!("no code comes from line {line} or one behind it"))
                .hint("`list` shows the lines, `disasm` the code"));
        };
        let mut before: Option<Place> = None;
        let mut starts = Vec::new();
        for l in self.instructions() {
            let place = (l.line > 0).then_some((l.file, l.line));
            let here = place.is_some_and(|(f, n)| n == found && files.contains(&f));
            if here && place != before {
                starts.push(l.pc);
            }
            before = place;
        }
        Ok((found, starts))
    }

    /// A label, function or kernel.
    pub fn label(&self, name: &str) -> Option<Pc> {
        let label = self.labels.iter().find(|l| l.0 == name).map(|l| l.1);
        label.or_else(|| (name == self.kernel).then_some(self.entry))
    }
}

fn is_call(kind: FlowKind) -> bool {
    matches!(kind, FlowKind::Call { .. })
}

/// Finds sources: beside the program, in the current folder, and in further folders.
pub struct Sources {
    pub folders: Vec<PathBuf>,
}

impl Sources {
    /// A file that exists under a name of the line table.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let bare = Path::new(last_part(name));
        let places = std::iter::once(PathBuf::from(name))
            .chain(self.folders.iter().map(|f| f.join(name)))
            .chain(self.folders.iter().map(|f| f.join(bare)));
        places.into_iter().find(|p| p.is_file())
    }

    /// The text of a file of the line table.
    pub fn text(&self, code: &Code, file: u32) -> Result<String, DebugError> {
        let name = code.file_name(file);
        if let Some(source) = &code.source
            && (source.name == name || code.files.len() <= 1)
        {
            return Ok(source.text.to_string());
        }
        let Some(path) = self.find(name) else {
            return Err(DebugError::new(format!("there is no source file `{name}`"))
                .hint("start in its folder, or name that with --source"));
        };
        wb_files::read_text(&path, Kind::Source).map_err(|e| DebugError::new(e.to_string()))
    }
}
