//! `wavebound cl`: unmodified OpenCL programs (docs/opencl.md). The loader that they link finds our library by a file in a folder.

use super::CommandResult;
use super::host::{self, Api, HostArgs, Run};
use clap::Args;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const OPENCL: Api = Api {
    command: "cl",
    environment: wb_cl::ENVIRONMENT,
    library: wb_cl::LIBRARY,
    package: "wavebound-cl",
    manifest: "crates/cl-library/Cargo.toml",
    front: &[("wavebound.icd", vendor_file)],
    path: ("OCL_ICD_VENDORS", false),
    lanes_in_step: false,
    unused: "the program did not use our OpenCL library: is it an OpenCL program that uses the loader (on Debian: ocl-icd-libopencl1)?",
};

/// A file for the loader: one line with the library.
fn vendor_file(library: &Path) -> Vec<u8> {
    let mut line = library.as_os_str().as_bytes().to_vec();
    line.push(b'\n');
    line
}

#[derive(Args)]
pub struct ClArgs {
    #[command(flatten)]
    host: HostArgs,
    /// OpenCL library to use (default: libwavebound_cl.so beside this executable)
    #[arg(long, value_name = "FILE", env = "WAVEBOUND_CL_LIBRARY")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub fn main(args: &ClArgs) -> CommandResult {
    let ClArgs { host: args, library, program } = args;
    host::main(&Run { api: &OPENCL, args, library: library.as_deref(), program })
}
