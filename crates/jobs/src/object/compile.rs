//! The compiler: clang with the flags that give code objects for our target with canonical control flow
//! (docs/gcn3.md), or a list of what to install.

use crate::error::{JobError, refused};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wb_hw::{InstructionSet, Machine};
use wb_isa::gcn3::generation;
use wb_isa::gcn3::{GENERATIONS, GFX8, Generation};

/// How to compile; the default is what the analyser wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// What is compiled for, as the compiler calls it.
    pub target: String,
    /// Optimisation level: 0 to 3.
    pub level: u8,
    /// Control flow as the optimiser likes it, not as analysis does.
    pub default_flow: bool,
    /// Code object version 4 or 5.
    pub version: u8,
    pub defines: Vec<String>,
    pub includes: Vec<PathBuf>,
    /// Passed on as they are.
    pub extra: Vec<String>,
    /// For a checked run: arrays stay in memory, with debug information, and accesses are aligned unless the program's are not.
    pub checked: bool,
}

impl CompileOptions {
    /// For the GPU that a machine is.
    pub fn for_machine(machine: &Machine) -> CompileOptions {
        let mut options = CompileOptions::default();
        match machine.isa {
            InstructionSet::Gcn3 if !machine.arch.is_empty() => options.target.clone_from(&machine.arch),
            InstructionSet::Riscv => RISCV.clone_into(&mut options.target),
            InstructionSet::Gcn3 | InstructionSet::Harp | InstructionSet::Guppy | InstructionSet::Vortex => {}
        }
        options
    }
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            target: GFX8.usual.name.to_owned(),
            level: 2,
            default_flow: false,
            version: 4,
            defines: Vec::new(),
            includes: Vec::new(),
            extra: Vec::new(),
            checked: false,
        }
    }
}

/// Private arrays stay in memory instead of registers, debug information says where, and only what the source does not align is
/// accessed without alignment.
pub(super) const CHECKED: [&str; 10] = [
    "-g",
    // The code object says that it was compiled so.
    "-Wl,--defsym=__wavebound_checked=1",
    "-mllvm",
    "-disable-promote-alloca-to-vector",
    "-mllvm",
    "-disable-promote-alloca-to-lds",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "-unaligned-access-mode",
];

/// The target of lane-pc machines, as `--target` has it.
pub const RISCV: &str = "riscv";
const DRIVERS: [&str; 2] = ["clang-19", "clang"];
const BITCODE: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"];
/// Exec branches around every divergent side, no branches duplicated into their predecessors.
pub(super) const CANONICAL: [&str; 4] =
    ["-mllvm", "-tail-dup-placement=0", "-mllvm", "-amdgpu-skip-threshold=1"];

/// A clang that can make code objects, with its device library.
#[derive(Clone, Debug)]
pub struct Compiler {
    driver: PathBuf,
    bitcode: PathBuf,
}

/// A program of the search path.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Compiler {
    /// Looks for clang, its linker and the device library; says what is missing.
    pub fn find() -> Result<Compiler, JobError> {
        let driver = DRIVERS.iter().find_map(|name| find(name));
        let bitcode = BITCODE.iter().map(PathBuf::from).find(|folder| folder.is_dir());
        let mut missing = Vec::new();
        if driver.is_none() {
            missing.push(("clang", "clang-19"));
        }
        if !driver.as_deref().map_or_else(|| find("ld.lld-19").is_some(), has_linker) {
            missing.push(("the linker ld.lld", "lld-19"));
        }
        if bitcode.is_none() {
            missing.push(("the device library", "rocm-device-libs"));
        }
        match (driver, bitcode) {
            (Some(driver), Some(bitcode)) if missing.is_empty() => Ok(Compiler { driver, bitcode }),
            _ => {
                let what: Vec<&str> = missing.iter().map(|m| m.0).collect();
                let packages: Vec<&str> = missing.iter().map(|m| m.1).collect();
                Err(refused!(
                    Compiler,
                    help = format!("on Debian: apt install {}", packages.join(" ")),
                    "cannot compile: {} not found",
                    what.join(" and ")
                ))
            }
        }
    }

    pub(super) fn driver(&self) -> &Path {
        &self.driver
    }

    /// Where the compiler finds the device library.
    pub(super) fn library(&self) -> [String; 2] {
        ["--rocm-path=/usr".to_owned(), format!("--rocm-device-lib-path={}", self.bitcode.display())]
    }

    /// The command line, program first.
    pub fn command(
        &self,
        source: &Path,
        output: &Path,
        options: &CompileOptions,
    ) -> Result<Vec<OsString>, JobError> {
        let mut out: Vec<OsString> = vec![self.driver.clone().into()];
        let mut add = |words: &[&str]| out.extend(words.iter().map(OsString::from));
        let target = &options.target;
        if generation::of_name(target).is_none() {
            let known = GENERATIONS.map(Generation::target_names).join(", ");
            return Err(refused!(
                Compiler,
                help = format!("targets are {known}, {RISCV}"),
                "unknown target `{target}`"
            ));
        }
        match source.extension().and_then(|e| e.to_str()) {
            Some("cl") => {
                add(&[
                    "-target",
                    "amdgcn-amd-amdhsa",
                    &format!("-mcpu={target}"),
                    "-x",
                    "cl",
                    "-cl-std=CL2.0",
                ]);
                // Names of arguments, for people.
                add(&["-cl-kernel-arg-info"]);
            }
            Some("hip" | "cpp") => {
                let arch = format!("--offload-arch={target}");
                add(&["-x", "hip", "--cuda-device-only", &arch, "--no-gpu-bundle-output"])
            }
            _ => {
                return Err(refused!(
                    Compiler,
                    help = "OpenCL sources end in .cl, HIP sources in .hip or .cpp",
                    "cannot tell the language of {}",
                    source.display()
                ));
            }
        }
        let [root, bitcode] = self.library();
        add(&[&root, &bitcode, "-gline-tables-only"]);
        add(&[&format!("-mcode-object-version={}", options.version), &format!("-O{}", options.level)]);
        if !options.default_flow {
            add(&CANONICAL);
        }
        if options.checked {
            add(&CHECKED);
        }
        for define in &options.defines {
            add(&[&format!("-D{define}")]);
        }
        for include in &options.includes {
            out.push("-I".into());
            out.push(include.into());
        }
        out.extend(options.extra.iter().map(OsString::from));
        out.push(source.into());
        out.push("-o".into());
        out.push(output.into());
        Ok(out)
    }

    /// Compiles a file. The compiler's own messages go to standard error.
    pub fn compile(&self, source: &Path, output: &Path, options: &CompileOptions) -> Result<(), JobError> {
        wb_files::write_by(output, |part| self.compile_to(source, part, options))
    }

    fn compile_to(&self, source: &Path, output: &Path, options: &CompileOptions) -> Result<(), JobError> {
        run(&self.command(source, output, options)?, source)
    }

    /// Compiles a file and returns the code object.
    pub fn object(&self, source: &Path, options: &CompileOptions) -> Result<Vec<u8>, JobError> {
        in_memory(|output| self.compile(source, output, options))
    }
}

/// What a compiler writes to the file it is given.
pub(super) fn in_memory(compile: impl FnOnce(&Path) -> Result<(), JobError>) -> Result<Vec<u8>, JobError> {
    let folder = tempfile::tempdir()
        .map_err(|error| JobError::System { context: "no folder for the code object".into(), error })?;
    let output = folder.path().join("object.co");
    compile(&output)?;
    Ok(wb_files::read(&output, wb_files::Kind::Program)?)
}

/// Starts the compiler for a file; its messages go to standard error.
pub(super) fn run(words: &[OsString], source: &Path) -> Result<(), JobError> {
    let done = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .map_err(|error| {
            let context = format!("cannot start {}", words[0].to_string_lossy());
            JobError::System { context, error }
        })?;
    if done.success() {
        return Ok(());
    }
    Err(refused!(
        Compiler,
        help = "the compiler's messages are above; `wavebound compile --print-command` shows the command",
        "{} does not compile",
        source.display()
    ))
}

fn has_linker(driver: &Path) -> bool {
    let out = Command::new(driver).arg("-print-prog-name=ld.lld").output();
    // clang prints the bare name when it does not find the program.
    out.is_ok_and(|o| Path::new(String::from_utf8_lossy(&o.stdout).trim()).is_absolute())
        || find("ld.lld").is_some()
}
