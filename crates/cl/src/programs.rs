//! Programs: sources that clang compiles while the program runs, bitcode, and code objects. Its messages are the build log.

use crate::codes::{Code, Outcome, refuse};
use crate::device::target;
use crate::info::{list, text, uint, ulong, unknown, yes};
use crate::objects::{Build, Context, Object, Placed, Program};
use crate::options::BuildOptions;
use crate::runtime::Runtime;
use std::sync::Arc;
use wavebound::jobs::JobError;
use wavebound::jobs::object::{Built, CompileOptions, Compiler, Linked, ObjectFile, OnlineSource};
use wavebound::objects::codeobject::{CodeObject, CodeObjectError};
use wb_host::describe;

const ELF: &[u8] = b"\x7fELF";
const BITCODE: &[u8] = b"BC\xc0\xde";
/// Clang crashes without optimising (the device library is of another version), so it optimises a little.
const PLAIN: u8 = 1;

/// The first steps of a build, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Executable,
    Library,
}

impl Runtime {
    fn new_program(&mut self, context: u64, program: Program) -> Outcome<u64> {
        self.objects.get::<Context>(context)?;
        self.objects.retain(context);
        self.programs += 1;
        let number = self.programs;
        Ok(self.objects.insert(Object::Program(Program { context, number, ..program })))
    }

    pub fn program_from_source(&mut self, context: u64, source: Vec<u8>) -> Outcome<u64> {
        self.new_program(context, Program { source: Some(source), ..Program::default() })
    }

    /// A program from what `CL_PROGRAM_BINARIES` returned, or from a code object of clang's.
    pub fn program_from_binary(&mut self, context: u64, bytes: Vec<u8>) -> Outcome<u64> {
        self.objects.get::<Context>(context)?;
        let program = if bytes.starts_with(BITCODE) {
            Program { bitcode: Some(Arc::new(bytes)), ..Program::default() }
        } else if bytes.starts_with(ELF) {
            let code = self.place(&bytes, self.programs + 1).map_err(|_| Code::INVALID_BINARY)?;
            Program { code, linked: true, ..Program::default() }
        } else {
            return refuse(Code::INVALID_BINARY);
        };
        self.new_program(context, program)
    }

    /// Puts a code object on the device; none if it has no kernels. A message says why it cannot be run.
    fn place(&mut self, bytes: &[u8], number: usize) -> Result<Option<Arc<Placed>>, String> {
        let name = format!("program {number}");
        let ours = target(&self.host.device.machine).to_owned();
        match CodeObject::parse(bytes) {
            Err(CodeObjectError::Empty) => return Ok(None),
            Err(e) => return Err(format!("{name}: {e}")),
            Ok(object) if object.target() != ours => {
                return Err(format!("{name} is code for {}, the device is a {ours}", object.target()));
            }
            Ok(_) => {}
        }
        let file =
            ObjectFile::marked(&name, bytes, &self.host.options.split()).map_err(|e| describe(&e.into()))?;
        let module = self.host.device.place(&name, file.object, file.source).map_err(|e| e.to_string())?;
        Ok(Some(Arc::new(Placed { bytes: bytes.to_vec(), module })))
    }

    fn compile_options(&self, options: &BuildOptions) -> CompileOptions {
        let mut out = CompileOptions::for_machine(&self.host.device.machine);
        out.extra.clone_from(&options.words);
        out.checked = self.host.options.sanitize.is_some();
        if options.plain {
            out.level = PLAIN;
        }
        out
    }

    /// Whether a program can be built now: nobody has kernels of it.
    fn free_program(&mut self, handle: u64) -> Outcome<&mut Program> {
        let program = self.objects.get_mut::<Program>(handle)?;
        if program.kernels > 0 {
            return refuse(Code::INVALID_OPERATION);
        }
        Ok(program)
    }

    /// Bitcode of a program's source. The error is for the log.
    fn bitcode(
        &mut self,
        program: &Program,
        options: &BuildOptions,
        headers: &[(String, Vec<u8>)],
    ) -> Result<Built, JobError> {
        let name = format!("program-{}.cl", program.number);
        let text = program.source.as_deref().unwrap_or_default();
        let source = OnlineSource { name: &name, text, headers };
        if self.host.options.page {
            self.host.sources.insert(name.clone(), String::from_utf8_lossy(text).into_owned());
        }
        Compiler::find()?.bitcode(source, &self.compile_options(options))
    }

    /// `clBuildProgram`: compile and link.
    pub fn build(&mut self, handle: u64, text: &str) -> Outcome {
        let program = self.free_program(handle)?;
        if program.source.is_none() && program.bitcode.is_none() {
            // What came as an executable is one.
            program.options = text.to_owned();
            program.status = Build::Success;
            return Ok(());
        }
        let options = BuildOptions::parse(text, Code::INVALID_BUILD_OPTIONS)?;
        let program = program.clone();
        let compiled = match &program.source {
            Some(_) => self.bitcode(&program, &options, &[]),
            None => Ok(Built { bytes: program.bitcode.as_ref().map(|b| b.to_vec()), log: String::new() }),
        };
        let built = compiled.and_then(|compiled| {
            let Some(bitcode) = &compiled.bytes else { return Ok(compiled) };
            let linked =
                Compiler::find()?.link(&[bitcode], Linked::Object, &self.compile_options(&options))?;
            Ok(Built { bytes: linked.bytes, log: compiled.log + &linked.log })
        });
        self.finish(handle, text, built, Goal::Executable, Code::BUILD_PROGRAM_FAILURE)
    }

    /// `clCompileProgram`: bitcode, to be linked later.
    pub fn compile(&mut self, handle: u64, text: &str, headers: &[(String, u64)]) -> Outcome {
        let program = self.free_program(handle)?.clone();
        if program.source.is_none() {
            return refuse(Code::INVALID_OPERATION);
        }
        let options = BuildOptions::parse(text, Code::INVALID_COMPILER_OPTIONS)?;
        let mut files = Vec::new();
        for (name, header) in headers {
            let header = self.objects.get::<Program>(*header)?;
            files.push((name.clone(), header.source.clone().ok_or(Code::INVALID_OPERATION)?));
        }
        let built = self.bitcode(&program, &options, &files);
        self.finish(handle, text, built, Goal::Library, Code::COMPILE_PROGRAM_FAILURE)?;
        self.objects.get_mut::<Program>(handle)?.is_library = false;
        Ok(())
    }

    /// `clLinkProgram`: a new program of compiled ones. The program exists even if linking failed: it has the log.
    pub fn link(&mut self, context: u64, text: &str, parts: &[u64]) -> Outcome<(u64, Outcome)> {
        self.objects.get::<Context>(context)?;
        let options = BuildOptions::parse(text, Code::INVALID_LINKER_OPTIONS)?;
        let mut bitcode = Vec::new();
        for part in parts {
            let part = self.objects.get::<Program>(*part)?;
            bitcode.push(part.bitcode.clone().ok_or(Code::INVALID_OPERATION)?);
        }
        let bitcode: Vec<&[u8]> = bitcode.iter().map(|b| b.as_slice()).collect();
        let what = if options.library { Linked::Library } else { Linked::Object };
        let built = Compiler::find().and_then(|c| c.link(&bitcode, what, &self.compile_options(&options)));
        let handle = self.new_program(context, Program::default())?;
        let goal = if options.library { Goal::Library } else { Goal::Executable };
        let result = self.finish(handle, text, built, goal, Code::LINK_PROGRAM_FAILURE);
        Ok((handle, result))
    }

    /// Notes what a build gave.
    fn finish(
        &mut self,
        handle: u64,
        text: &str,
        built: Result<Built, JobError>,
        goal: Goal,
        failure: Code,
    ) -> Outcome {
        let number = self.objects.get::<Program>(handle)?.number;
        let missing = built.is_err();
        let built = built.unwrap_or_else(|e| Built { bytes: None, log: describe(&e.into()) + "\n" });
        if missing {
            // A program that does not print its log says nothing of what to install.
            eprintln!("wavebound: {}", built.log.trim_end());
        }
        if let Some(old) = self.objects.get_mut::<Program>(handle)?.code.take() {
            self.host.device.unload(&old.module);
        }
        let mut log = built.log;
        let mut code = None;
        let mut done = built.bytes.is_some();
        if let (Some(bytes), Goal::Executable) = (&built.bytes, goal) {
            match self.place(bytes, number) {
                Ok(placed) => code = placed,
                Err(why) => {
                    log += &format!("{why}\n");
                    done = false;
                }
            }
        }
        let program = self.objects.get_mut::<Program>(handle)?;
        text.clone_into(&mut program.options);
        program.log = log;
        program.status = if done { Build::Success } else { Build::Error };
        program.linked = done && goal == Goal::Executable;
        program.code = code;
        program.is_library = goal == Goal::Library;
        program.bitcode = built.bytes.filter(|_| goal == Goal::Library).map(Arc::new);
        match done {
            true => Ok(()),
            false if missing => refuse(Code::COMPILER_NOT_AVAILABLE),
            false => refuse(failure),
        }
    }

    /// What a program is as a file.
    pub fn binary(&self, handle: u64) -> Outcome<Vec<u8>> {
        let program = self.objects.get::<Program>(handle)?;
        let code = program.code.as_ref().map(|code| code.bytes.clone());
        Ok(code.or_else(|| program.bitcode.as_ref().map(|b| b.to_vec())).unwrap_or_default())
    }

    pub fn program_info(&self, handle: u64, name: u32) -> Outcome<Vec<u8>> {
        let program = self.objects.get::<Program>(handle)?;
        match name {
            // CL_PROGRAM_REFERENCE_COUNT, _CONTEXT, _NUM_DEVICES, _DEVICES, _SOURCE, _BINARY_SIZES
            0x1160 => uint(self.objects.count(handle)),
            0x1161 => ulong(program.context),
            0x1162 => uint(1),
            0x1163 => ulong(self.objects.device),
            0x1164 => {
                let mut source = program.source.clone().unwrap_or_default();
                source.push(0);
                Ok(source)
            }
            0x1165 => list(&[self.binary(handle)?.len() as u64]),
            // CL_PROGRAM_NUM_KERNELS, _KERNEL_NAMES, _IL, constructors and destructors of its variables.
            0x1167 => ulong(self.kernel_names(handle)?.len() as u64),
            0x1168 => text(&self.kernel_names(handle)?.join(";")),
            0x1169 => Ok(Vec::new()),
            0x116A | 0x116B => yes(false),
            _ => unknown(),
        }
    }

    pub fn build_info(&self, handle: u64, name: u32) -> Outcome<Vec<u8>> {
        let program = self.objects.get::<Program>(handle)?;
        match name {
            // CL_PROGRAM_BUILD_STATUS: success, none, error.
            0x1181 => uint(match program.status {
                Build::Success => 0i32,
                Build::None => -1,
                Build::Error => -2,
            } as u32),
            0x1182 => text(&program.options),
            0x1183 => text(&program.log),
            // CL_PROGRAM_BINARY_TYPE: none, compiled, a library, an executable.
            0x1184 => uint(match (program.linked, &program.bitcode) {
                (true, _) => 4,
                (false, Some(_)) if program.is_library => 2,
                (false, Some(_)) => 1,
                (false, None) => 0,
            }),
            // CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
            0x1185 => {
                let variables = program.code.iter().flat_map(|c| &c.module.object.variables);
                ulong(variables.map(|v| v.2).sum())
            }
            _ => unknown(),
        }
    }
}
