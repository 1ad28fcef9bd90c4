//! Runs a launch file: buffers filled, launches one after the other on one device memory, expectations,
//! outputs. The caller asks for one step at a time and decides who watches it.

use super::LaunchError;
use super::compare::{Tolerance, compare};
use super::plan::{Flag, Op, Plan, PlannedArgument, PlannedLaunch};
use super::schema::{BufferTable, ExpectTable, LaunchFile};
use super::stage::{Launches, Stage, Step, Verdict};
use crate::args::is_data_file;
use crate::data::Array;
use crate::data::{Buffer, Element};
use crate::data::{FILLS, UNINITIALISED, fill_buffer, reseed};
use crate::error::{JobError, refused};
use crate::gpu;
use crate::object::{self, CompileOptions, ObjectFile};
use crate::spec::JobSpec;
use crate::spec::afford;
use miette::Diagnostic as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use wb_device::{Arg, Device, DeviceError, Dispatch, Module};
use wb_files::Kind;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_objects::codeobject::CodeObject;

pub struct Session {
    text: SourceFile,
    folder: PathBuf,
    file: LaunchFile,
    plan: Plan,
    stage: Stage,
    at: usize,
    rounds: Vec<u64>,
    launched: usize,
    /// Which run of several: added to the seeds of buffers.
    run: u32,
}

impl Session {
    /// Reads the file, its program and its data. `spec` may change the machine.
    pub fn open(path: &Path, spec: &JobSpec) -> Result<Session, JobError> {
        let text = wb_files::read_text(path, Kind::Description)?;
        let text = SourceFile::new(path.display().to_string(), text);
        let file = LaunchFile::parse(&text)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let options = compile_options(&text, &file, &folder, spec)?;
        let object_path = folder.join(file.object.get_ref());
        if !object_path.exists() {
            let message = format!("there is no file {}", object_path.display());
            return Err(LaunchError::new(&text, Some(file.object.span()), message)
                .hint("paths start at the folder of the launch file")
                .into());
        }
        let bytes = object::read(&object_path, &options)?;
        let object = ObjectFile::marked(&object_path.display().to_string(), &bytes, &spec.split)?;
        let plan = Plan::new(&text, &file, &object.object)?;
        let machine = machine(&file, &folder, spec, Some(&object.object))?;
        gpu::check(&object.name, &object.object, &machine)?;
        let (device, module) = place(&text, &file, machine, object)?;
        let rounds = vec![0; plan.counters];
        let mut session = Session {
            text,
            folder,
            file,
            plan,
            stage: Stage { device, module, buffers: Vec::new(), shapes: Vec::new(), unwritten: Vec::new() },
            at: 0,
            rounds,
            launched: 0,
            run: spec.run,
        };
        session.fill()?;
        Ok(session)
    }

    /// Buffers that have other data in other runs, and those that have not, with what fills them.
    pub fn seeds(&self) -> (Vec<String>, Vec<String>) {
        let fill = |t: &BufferTable| match (&t.from, &t.values) {
            (Some(from), _) => from.get_ref().clone(),
            (None, Some(_)) => "values".to_owned(),
            (None, None) => "zero".to_owned(),
        };
        let all = self.file.buffers.iter().map(|(name, t)| (name, fill(t.get_ref())));
        let (seeded, fixed): (Vec<_>, Vec<_>) = all.partition(|(_, fill)| reseed(fill, 1).is_some());
        let show = |list: Vec<(&String, String)>| list.iter().map(|(n, f)| format!("{n} ({f})")).collect();
        (show(seeded), show(fixed))
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> LaunchError {
        LaunchError::new(&self.text, Some(span), message)
    }

    fn fill(&mut self) -> Result<(), JobError> {
        let tables: Vec<(String, Spanned<BufferTable>)> =
            self.file.buffers.iter().map(|(n, t)| (n.clone(), t.clone())).collect();
        // Those with an address of their own go first, the last one before the others.
        let mut placed = Vec::new();
        for (i, (_, table)) in tables.iter().enumerate() {
            if let Some(address) = &table.get_ref().address {
                placed.push((number_at(&self.text, address)?, i));
            }
        }
        placed.sort_unstable_by(|a, b| b.cmp(a));
        let mut arrays: Vec<Option<Array>> = vec![None; tables.len()];
        for &(addr, i) in &placed {
            let (name, table) = &tables[i];
            if self.file.memory.is_none() {
                let message = format!("buffer {name} has an address, but there is no [memory]");
                return Err(self.error(table.span(), message).into());
            }
            let array = self.contents(name, table)?;
            let taken = self.stage.device.alloc_at(addr, array.bytes.len() as u64);
            taken.map_err(|e| self.error(table.span(), e.to_string()))?;
            arrays[i] = Some(array);
        }
        for (i, (name, table)) in tables.into_iter().enumerate() {
            let array = match arrays[i].take() {
                Some(array) => array,
                None => self.contents(&name, &table)?,
            };
            let bytes = array.bytes.len() as u64;
            let addr = match placed.iter().find(|p| p.1 == i) {
                Some((addr, _)) => *addr,
                None => self.stage.device.alloc(bytes)?,
            };
            self.stage.device.write(addr, &array.bytes)?;
            if table.get_ref().from.as_ref().is_some_and(|from| from.get_ref() == UNINITIALISED) {
                self.stage.unwritten.push(addr);
            }
            self.stage.buffers.push(Buffer { name, addr, bytes, element: array.element });
            self.stage.shapes.push(array.shape);
        }
        self.restore_program()
    }

    /// What was in the program's block when the launch was captured: variables may have changed since it was loaded.
    fn restore_program(&mut self) -> Result<(), JobError> {
        let Some(memory) = self.file.memory.as_ref().map(Spanned::get_ref) else { return Ok(()) };
        if let Some(hostcall) = &memory.hostcall {
            self.stage.device.hostcall = number_at(&self.text, hostcall)?;
        }
        if let Some(printf) = &memory.printf {
            self.stage.device.printf = number_at(&self.text, printf)?;
        }
        let Some(data) = &memory.program_data else { return Ok(()) };
        let source = Source { from: Some(data), values: None, span: data.span() };
        let array = self.read(&source, Some(Element::Unsigned(1)), None, "program_data")?;
        let block = self.stage.module.block();
        self.stage.device.write(block, &array.bytes).map_err(|e| self.error(data.span(), e.to_string()))?;
        Ok(())
    }

    /// What a buffer starts with.
    fn contents(&self, name: &str, table: &Spanned<BufferTable>) -> Result<Array, JobError> {
        let (span, t) = (table.span(), table.get_ref());
        let element = t.element.as_ref().map(|e| self.element(e)).transpose()?;
        let reseeded =
            t.from.as_ref().and_then(|f| Some(Spanned::new(f.span(), reseed(f.get_ref(), self.run)?)));
        let from = reseeded.as_ref().filter(|_| self.run > 0).or(t.from.as_ref());
        let source = Source { from, values: t.values.as_ref(), span: span.clone() };
        let length = t.length.as_ref().map(|l| l.get_ref().elements());
        let array = self.read(&source, element, length, name)?;
        let Some(wanted) = &t.length else { return Ok(array) };
        let count = array.bytes.len() as u64 / array.element.bytes();
        if wanted.get_ref().elements() != count {
            let message = format!("buffer {name} has {count} elements, not {}", wanted.get_ref().elements());
            return Err(self
                .error(wanted.span(), message)
                .hint("leave `length` out to take all there are")
                .into());
        }
        let shape = wanted.get_ref().0.iter().map(|&d| d.into()).collect();
        Ok(Array { shape, ..array })
    }

    fn element(&self, name: &Spanned<String>) -> Result<Element, LaunchError> {
        Element::parse(name.get_ref()).ok_or_else(|| {
            self.error(name.span(), format!("there is no type `{}`", name.get_ref()))
                .hint(format!("types: {}", Element::NAMES))
        })
    }

    /// Elements from a fill, a file or a list.
    fn read(
        &self,
        source: &Source,
        element: Option<Element>,
        length: Option<u64>,
        name: &str,
    ) -> Result<Array, JobError> {
        let needs = |what: &str| self.error(source.span.clone(), format!("`{name}` needs `{what}`"));
        if let Some(values) = source.values {
            if let Some(from) = source.from {
                return Err(self.error(from.span(), "`from` and `values` exclude each other").into());
            }
            let element = element.ok_or_else(|| needs("type"))?;
            let mut bytes = Vec::new();
            for value in values.get_ref() {
                let one = number(value).and_then(|text| element.encode(&text));
                bytes.extend(one.ok_or_else(|| {
                    self.error(values.span(), format!("`{value}` is not a number of type {}", element.name()))
                })?);
            }
            return Ok(Array { element, shape: vec![values.get_ref().len() as u64], bytes });
        }
        let zero = Spanned::new(source.span.clone(), "zero".to_owned());
        let from = source.from.unwrap_or(&zero);
        let text = from.get_ref();
        let path = self.folder.join(text);
        if is_data_file(text) {
            let array = Array::read(&path, element).map_err(|e| {
                self.error(from.span(), e.chain()).hint("paths start at the folder of the launch file")
            })?;
            if let Some(element) = element.filter(|e| *e != array.element) {
                let message = format!("{text} holds {}, not {}", array.element.name(), element.name());
                return Err(self.error(from.span(), message).into());
            }
            return Ok(array);
        }
        let element = element.ok_or_else(|| needs("type"))?;
        let count = length.ok_or_else(|| needs("length"))?;
        let bytes = fill_buffer(element, count, text).ok_or_else(|| {
            self.error(
                from.span(),
                format!("cannot fill {count} elements of {} with `{text}`", element.name()),
            )
            .hint(format!("fills: {FILLS}; files: .npy, .bin, .raw, .dat"))
        })?;
        Ok(Array { element, shape: vec![count], bytes })
    }

    fn step(&self, kernel: &PlannedLaunch) -> Step {
        let args = kernel.args.iter().map(|a| match a {
            PlannedArgument::Buffer(i) => Arg::Buffer(self.stage.buffers[*i].addr),
            PlannedArgument::Plain(arg) => arg.clone(),
        });
        let dispatch = Dispatch {
            kernel: kernel.name.clone(),
            grid: kernel.grid,
            group: kernel.group,
            args: args.collect(),
            dynamic_lds: kernel.dynamic_lds,
            opencl: kernel.opencl,
        };
        Step { number: self.launched, dispatch, span: kernel.span.clone() }
    }

    /// Address and size of a flag.
    fn flag(&self, flag: Flag) -> Result<(u64, u64), JobError> {
        let buffer = &self.stage.buffers[flag.buffer];
        let size = buffer.element.bytes();
        let offset = flag.index.saturating_mul(size);
        if offset.saturating_add(size) > buffer.bytes || buffer.element.is_float() {
            return Err(refused!(
                Launch,
                help = "a flag is an integer in a buffer: \"flag\" or \"flag[3]\"",
                "element {} of buffer {} cannot be a flag",
                flag.index,
                buffer.name
            ));
        }
        Ok((buffer.addr + offset, size))
    }

    fn verdict(&self, table: &Spanned<ExpectTable>) -> Result<Verdict, JobError> {
        let t = table.get_ref();
        let buffer = self.stage.buffer(t.buffer.get_ref())?;
        let element = buffer.element;
        let source = Source { from: t.from.as_ref(), values: t.values.as_ref(), span: table.span() };
        if source.from.is_none() && source.values.is_none() {
            return Err(self.error(table.span(), "an expectation needs `from` or `values`").into());
        }
        let total = buffer.bytes / element.bytes();
        let expected =
            self.read(&source, Some(element), Some(total.saturating_sub(t.at)), t.buffer.get_ref())?;
        let (from, size) = (t.at.saturating_mul(element.bytes()), expected.bytes.len() as u64);
        if size == 0 || from.saturating_add(size) > buffer.bytes {
            let count = size / element.bytes();
            let message = format!("{count} elements are expected from {}, the buffer has {total}", t.at);
            return Err(self.error(t.buffer.span(), message).into());
        }
        let got = self.stage.device.read(buffer.addr + from, size)?;
        let tolerance = Tolerance { abs: t.abs, rel: t.rel, ulp: t.ulp };
        let mut difference = compare(element, got, &expected.bytes, tolerance);
        if let Some(d) = &mut difference {
            d.index += t.at;
        }
        Ok(Verdict { buffer: buffer.name.clone(), elements: size / element.bytes(), difference })
    }
}

impl Launches for Session {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn next_step(&mut self) -> Result<Option<Step>, JobError> {
        while let Some(op) = self.plan.ops.get(self.at).cloned() {
            self.at += 1;
            match op {
                Op::Launch(kernel) => {
                    self.launched += 1;
                    return Ok(Some(self.step(&kernel)));
                }
                Op::Clear(flag) => {
                    let (addr, bytes) = self.flag(flag)?;
                    self.stage.device.write(addr, &vec![0; bytes as usize])?;
                }
                Op::Repeat { start, counter, rounds } => {
                    self.rounds[counter] += 1;
                    if self.rounds[counter] < rounds {
                        self.at = start;
                    } else {
                        self.rounds[counter] = 0;
                    }
                }
                Op::While { start, counter, flag, max, span } => {
                    self.rounds[counter] += 1;
                    let (addr, bytes) = self.flag(flag)?;
                    if self.stage.device.read(addr, bytes)?.iter().all(|&b| b == 0) {
                        self.rounds[counter] = 0;
                    } else if self.rounds[counter] < max {
                        self.at = start;
                    } else {
                        let message = format!("the flag is still set after {max} rounds");
                        return Err(self
                            .error(span, message)
                            .hint("raise `max`, or look at why it is set")
                            .into());
                    }
                }
            }
        }
        Ok(None)
    }

    fn failed(&self, step: &Step, e: DeviceError) -> JobError {
        match e {
            DeviceError::Run(_) => JobError::from(e).within(format!("launch {}", step.number)),
            e => {
                let hint = e.help().map(|h| h.to_string());
                let error = self.error(step.span.clone(), e.to_string());
                hint.map_or(error.clone(), |h| error.hint(h)).into()
            }
        }
    }

    /// Compares what `[[expect]]` names.
    fn verdicts(&self) -> Result<Vec<Verdict>, JobError> {
        self.file.expect.iter().map(|e| self.verdict(e)).collect()
    }

    /// Writes what `[[output]]` names; returns buffers and files.
    fn outputs(&self) -> Vec<PathBuf> {
        self.file.output.iter().map(|o| self.folder.join(&o.get_ref().file)).collect()
    }

    fn write_outputs(&self) -> Result<Vec<(String, PathBuf)>, JobError> {
        let mut written = Vec::new();
        for output in &self.file.output {
            let name = output.get_ref().buffer.get_ref();
            let path = self.folder.join(&output.get_ref().file);
            self.stage.save(name, &path)?;
            written.push((name.clone(), path));
        }
        Ok(written)
    }
}

/// A device with the program in place; where it was, if the launch was captured.
fn place(
    text: &SourceFile,
    file: &LaunchFile,
    machine: Machine,
    object: ObjectFile,
) -> Result<(Device, Module), JobError> {
    let ObjectFile { name, object, source } = object;
    let Some(memory) = file.memory.as_ref().map(Spanned::get_ref) else {
        let mut device = Device::new(machine);
        let module = device.place(&name, object, source)?;
        return Ok((device, module));
    };
    let mut device = Device::placed(machine, number_at(text, &memory.origin)?);
    let block = number_at(text, &memory.program)?;
    let module = device.place_at(block, &name, object, source);
    let module = module.map_err(|e| LaunchError::new(text, Some(memory.program.span()), e.to_string()))?;
    Ok((device, module))
}

/// An address in quotes: decimal, or hexadecimal with 0x.
fn number_at(text: &SourceFile, written: &Spanned<String>) -> Result<u64, LaunchError> {
    let word = written.get_ref();
    let number = match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => word.parse(),
    };
    number.map_err(|_| {
        LaunchError::new(text, Some(written.span()), format!("`{word}` is no address"))
            .hint("write it as \"0x7f0000000000\"")
    })
}

/// Where elements come from.
struct Source<'a> {
    from: Option<&'a Spanned<String>>,
    values: Option<&'a Spanned<Vec<toml::Value>>>,
    span: Range<usize>,
}

fn number(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::Integer(n) => Some(n.to_string()),
        toml::Value::Float(n) => Some(n.to_string()),
        toml::Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

pub(super) fn compile_options(
    text: &SourceFile,
    file: &LaunchFile,
    folder: &Path,
    spec: &JobSpec,
) -> Result<CompileOptions, JobError> {
    let table = &file.compile;
    let default = CompileOptions::for_machine(&machine(file, folder, spec, None)?);
    let within = |value: &Option<Spanned<u8>>, default: u8, low: u8, high: u8, name: &str| match value {
        None => Ok(default),
        Some(v) if (low..=high).contains(v.get_ref()) => Ok(*v.get_ref()),
        Some(v) => Err(LaunchError::new(text, Some(v.span()), format!("`{name}` must be {low} to {high}"))),
    };
    Ok(CompileOptions {
        target: default.target.clone(),
        level: within(&table.level, default.level, 0, 3, "level")?,
        version: within(&table.code_object, default.version, 4, 5, "code_object")?,
        default_flow: table.default_flow,
        defines: table.defines.clone(),
        includes: table.includes.iter().map(|i| folder.join(i)).collect(),
        extra: table.extra.clone(),
        checked: spec.checked,
    })
}

/// The machine: the command line before the file, the file before the preset for its code.
pub(super) fn machine(
    file: &LaunchFile,
    folder: &Path,
    spec: &JobSpec,
    object: Option<&CodeObject>,
) -> Result<Machine, JobError> {
    let named = match (&file.machine, spec.machine.as_str()) {
        (_, name) if !name.is_empty() => name.to_owned(),
        (Some(name), _) if name.get_ref().ends_with(".toml") => {
            folder.join(name.get_ref()).display().to_string()
        }
        (Some(name), _) => name.get_ref().clone(),
        (None, _) => object.map_or("gcn3", gpu::preset).to_owned(),
    };
    let sets =
        file.set.iter().chain(&spec.sets).map(|s| wb_hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
    let machine = wb_hw::load(&named)?;
    let machine = match object.filter(|_| file.machine.is_none() && spec.machine.is_empty()) {
        Some(object) => gpu::suited(object, machine),
        None => machine,
    };
    let machine = machine.with_overrides(&sets)?;
    afford(&machine, machine.limits.memory)?;
    Ok(machine)
}
