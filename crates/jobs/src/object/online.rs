//! Programs that a host compiles while it runs (`clBuildProgram`): sources become bitcode, and bitcode becomes a code object together
//! with the device library. In two steps, because sources are linked with others, and because clang turns `printf` of OpenCL into
//! writes to a buffer only where the device library, which has a function of that name, is not there yet.

use super::compile::{CompileOptions, Compiler};
use crate::error::{JobError, refused};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// What a compiler made, if it could, and its messages.
#[derive(Clone, Debug, Default)]
pub struct Built {
    pub bytes: Option<Vec<u8>>,
    pub log: String,
}

/// A program in the host's memory; headers are found by the names that the source includes them by.
#[derive(Clone, Copy, Debug)]
pub struct OnlineSource<'a> {
    pub name: &'a str,
    pub text: &'a [u8],
    pub headers: &'a [(String, Vec<u8>)],
}

/// What is linked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// A code object.
    Object,
    /// Bitcode again, to be linked with more.
    Library,
}

/// Features of OpenCL C that the device has not, and those of OpenCL 3.0 that it has: clang's list is that of the hardware.
const FEATURES: &str = "-cl-ext=-cl_khr_3d_image_writes,-cl_khr_mipmap_image,-cl_khr_mipmap_image_writes,-__opencl_c_images,\
     -__opencl_c_3d_image_writes,-__opencl_c_read_write_images,+__opencl_c_generic_address_space,\
     +__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,+__opencl_c_program_scope_global_variables,\
     +__opencl_c_subgroups";

impl Compiler {
    /// Sources of OpenCL C as bitcode. `options.extra` are the program's own words.
    pub fn bitcode(&self, source: OnlineSource, options: &CompileOptions) -> Result<Built, JobError> {
        let folder = folder()?;
        for (name, text) in source.headers {
            put(folder.path(), name, text)?;
        }
        let file = put(folder.path(), source.name, source.text)?;
        let mut words = self.common(options);
        words
            .extend(["-x", "cl", "-cl-kernel-arg-info", "-nogpulib", "-c", "-emit-llvm"].map(OsString::from));
        words.extend(["-Xclang".into(), FEATURES.into()]);
        words.extend(options.extra.iter().map(OsString::from));
        // Headers of the program's own come before folders of the host.
        words.extend(["-iquote".into(), folder.path().into(), "-I".into(), folder.path().into()]);
        words.push(prefix_map(folder.path()));
        run(words, vec![file.into()], folder.path())
    }

    /// Bitcode of several sources as one code object, or as a library.
    pub fn link(&self, parts: &[&[u8]], what: Linked, options: &CompileOptions) -> Result<Built, JobError> {
        let folder = folder()?;
        let mut inputs = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let file = put(folder.path(), &format!("part-{number}.bc"), part)?;
            match number {
                0 => inputs.extend(["-x".into(), "ir".into(), file.into()]),
                _ => inputs.extend([
                    "-Xclang".into(),
                    "-mlink-bitcode-file".into(),
                    "-Xclang".into(),
                    file.into(),
                ]),
            }
        }
        let mut words = self.common(options);
        // Options about arithmetic choose parts of the device library; others mean nothing here.
        words.push("-Qunused-arguments".into());
        words.extend(options.extra.iter().filter(|w| w.starts_with("-cl-")).map(OsString::from));
        if options.checked && matches!(what, Linked::Object) {
            words.extend(super::compile::CHECKED.map(OsString::from));
        }
        match what {
            Linked::Object if !options.default_flow => {
                words.extend(super::compile::CANONICAL.map(OsString::from))
            }
            Linked::Object => {}
            Linked::Library => words.extend(["-nogpulib", "-c", "-emit-llvm"].map(OsString::from)),
        }
        run(words, inputs, folder.path())
    }

    fn common(&self, options: &CompileOptions) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.driver().into()];
        words.extend(["-target", "amdgcn-amd-amdhsa"].map(OsString::from));
        words.push(format!("-mcpu={}", options.target).into());
        words.extend(self.library().map(OsString::from));
        words.push(format!("-mcode-object-version={}", options.version).into());
        words.extend([
            format!("-O{}", options.level).into(),
            if options.checked { "-g" } else { "-gline-tables-only" }.into(),
        ]);
        words
    }
}

fn folder() -> Result<tempfile::TempDir, JobError> {
    tempfile::Builder::new()
        .prefix("wavebound-build-")
        .tempdir()
        .map_err(|error| JobError::System { context: "no folder for the program".into(), error })
}

/// Names of sources are what the program gave, without the folder that is ours.
fn prefix_map(folder: &Path) -> OsString {
    let mut word = OsString::from("-ffile-prefix-map=");
    word.push(folder);
    word.push("/=");
    word
}

/// Writes a file of the program; its name stays below the folder.
fn put(folder: &Path, name: &str, text: &[u8]) -> Result<PathBuf, JobError> {
    let inside = |c: Component| matches!(c, Component::Normal(_) | Component::CurDir);
    let name = Path::new(name);
    if name.as_os_str().is_empty() || !name.components().all(inside) {
        return Err(refused!(Compiler, "`{}` is no name of a header", name.display()));
    }
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        wb_files::make_folder(parent)?;
    }
    wb_files::write(&path, text)?;
    Ok(path)
}

/// Starts the compiler; what it says is the log.
fn run(mut words: Vec<OsString>, inputs: Vec<OsString>, folder: &Path) -> Result<Built, JobError> {
    let output = folder.join("output");
    words.extend(inputs);
    words.extend(["-o".into(), output.clone().into()]);
    let done = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output().map_err(|error| {
        JobError::System { context: format!("cannot start {}", words[0].to_string_lossy()), error }
    })?;
    let log = String::from_utf8_lossy(&done.stderr).replace(&format!("{}/", folder.display()), "");
    if !done.status.success() {
        return Ok(Built { bytes: None, log });
    }
    Ok(Built { bytes: Some(wb_files::read(&output, wb_files::Kind::Program)?), log })
}
