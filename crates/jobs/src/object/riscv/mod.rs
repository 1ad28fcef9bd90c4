//! OpenCL C for lane-pc machines (docs/riscv.md): clang to LLVM's text form with our built-in functions, [`ir::rewrite`], clang and lld
//! to an executable of kernels.

mod ir;

use super::compile::{CompileOptions, find, run};
use crate::error::{JobError, refused};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wb_files::Kind;
use wb_isa::riscv::TEXT;
use wb_isa::vortex::LOCAL;
use wb_objects::{ENTRY, KERNELS, LOCAL_OF, riscv_object};

const BUILTINS: &str = include_str!("builtins.h");
const MACHINE: [&str; 3] = ["--target=riscv32", "-march=rv32imaf", "-mabi=ilp32f"];

/// The steps of a compilation and where their files are.
struct Steps {
    driver: PathBuf,
    folder: PathBuf,
}

impl Steps {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The source in LLVM's text form, before any optimisation.
    fn read(&self, source: &Path, options: &CompileOptions) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec![self.driver.clone().into()];
        let mut add = |words: &[&str]| out.extend(words.iter().map(OsString::from));
        add(&MACHINE);
        add(&["-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-gline-tables-only"]);
        // Address spaces are told apart, functions count on lanes, values have numbers.
        add(&["-Xclang", "-ffake-address-space-map", "-fconvergent-functions", "-fdiscard-value-names"]);
        add(&[&format!("-O{}", options.level), "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"]);
        for define in &options.defines {
            add(&[&format!("-D{define}")]);
        }
        for include in &options.includes {
            out.push("-I".into());
            out.push(include.into());
        }
        out.push("-include".into());
        out.push(self.file("builtins.h").into());
        out.extend(options.extra.iter().map(OsString::from));
        out.extend([source.into(), "-o".into(), self.file("module.ll").into()]);
        out
    }

    /// The executable.
    fn build(&self, output: &Path, options: &CompileOptions) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec![self.driver.clone().into()];
        let mut add = |words: &[&str]| out.extend(words.iter().map(OsString::from));
        add(&MACHINE);
        // A jump through a table would part lanes in more than two ways at once.
        add(&[
            &format!("-O{}", options.level),
            "-fno-jump-tables",
            "-fstack-size-section",
            "-Wno-override-module",
        ]);
        add(&[
            "-nostdlib",
            "-static",
            "-fuse-ld=lld",
            "-Wl,--no-check-sections",
            "-Wl,--build-id=none",
            "-Wl,-T",
        ]);
        out.push(self.file("link.ld").into());
        out.extend([self.file("kernels.ll").into(), "-o".into(), output.into()]);
        out
    }
}

/// The commands that compile a file, for people. Between the two the module is rewritten.
pub fn commands(
    source: &Path,
    output: &Path,
    options: &CompileOptions,
) -> Result<[Vec<OsString>; 2], JobError> {
    let steps = Steps { driver: driver()?, folder: PathBuf::new() };
    Ok([steps.read(source, options), steps.build(output, options)])
}

/// Compiles a file. The compiler's own messages go to standard error.
pub fn compile(source: &Path, output: &Path, options: &CompileOptions) -> Result<(), JobError> {
    let folder = tempfile::tempdir()
        .map_err(|error| JobError::System { context: "no folder for the compiler".into(), error })?;
    let steps = Steps { driver: driver()?, folder: folder.path().to_owned() };
    wb_files::write(&steps.file("builtins.h"), BUILTINS)?;
    run(&steps.read(source, options), source)?;
    let module = wb_files::read_text(&steps.file("module.ll"), Kind::Source)?;
    let name = source.display();
    let done = ir::rewrite(&module).map_err(|unfit| {
        let place = unfit.line.map_or(String::new(), |line| format!(":{line}"));
        refused!(Compiler, help = unfit.help, "{name}{place}: {}", unfit.why)
    })?;
    wb_files::write(&steps.file("kernels.ll"), &done.text)?;
    wb_files::write(&steps.file("link.ld"), link_script(&done.kernels[0], &done.locals))?;
    run(&steps.build(output, options), source)?;
    // What has no stack is refused now, not when it is run.
    let object = riscv_object(&wb_files::read(output, Kind::Program)?);
    object.map(|_| ()).map_err(|e| refused!(Compiler, help = "kernels must know their stacks", "{name}: {e}"))
}

fn driver() -> Result<PathBuf, JobError> {
    let driver = ["clang-19", "clang"].iter().find_map(|name| find(name));
    let linker = ["ld.lld-19", "ld.lld"].iter().any(|name| find(name).is_some());
    let missing = match (&driver, linker) {
        (Some(_), true) => None,
        (None, true) => Some(("clang", "clang-19")),
        (Some(_), false) => Some(("the linker ld.lld", "lld-19")),
        (None, false) => Some(("clang and the linker ld.lld", "clang-19 lld-19")),
    };
    match (driver, missing) {
        (Some(driver), None) => Ok(driver),
        (_, missing) => {
            let (what, packages) = missing.unwrap_or(("clang", "clang-19"));
            let help = format!("on Debian: apt install {packages}");
            Err(refused!(Compiler, help = help, "cannot compile: {what} not found"))
        }
    }
}

/// Code and data from the first address of device memory on, local memory of every kernel at its window.
fn link_script(first: &str, locals: &[String]) -> String {
    let mut out = format!(
        "ENTRY({first}{ENTRY})\nSECTIONS {{\n  . = {TEXT:#x};\n  .text : {{ *(.text .text.*) }}\n  . = ALIGN(64);\n\
         \x20 .rodata : {{ *(.rodata .rodata.* .srodata .srodata.*) }}\n\
         \x20 .data : {{ *(.data .data.* .sdata .sdata.*) }}\n  .bss : {{ *(.bss .bss.* .sbss .sbss.*) }}\n\
         \x20 {KERNELS} : {{ KEEP(*({KERNELS})) }}\n"
    );
    for kernel in locals {
        let _ = writeln!(out, "  {LOCAL_OF}{kernel} {LOCAL:#x} (NOLOAD) : {{ *({LOCAL_OF}{kernel}) }}");
    }
    out.push_str("  /DISCARD/ : { *(.comment) *(.eh_frame*) *(.riscv.attributes) }\n}\n");
    out
}
