//! `wavebound hip`: unmodified HIP programs (docs/hip.md). They find our library by its soname.

use super::CommandResult;
use super::host::{self, Api, HostArgs, Run};
use clap::Args;
use miette::miette;
use std::ffi::OsString;
use std::path::PathBuf;

const HIP: Api = Api {
    command: "hip",
    environment: wb_hip::ENVIRONMENT,
    library: wb_hip::LIBRARY,
    package: "wavebound-hip",
    manifest: "crates/hip-library/Cargo.toml",
    front: &[
        (wb_hip::SHIMS[0].0, |_| wb_hip::SHIMS[0].1.to_vec()),
        (wb_hip::SHIMS[1].0, |_| wb_hip::SHIMS[1].1.to_vec()),
    ],
    path: ("LD_LIBRARY_PATH", true),
    lanes_in_step: true,
    unused: "the program did not use our libamdhip64.so.5 or libamdhip64.so.6: is it a HIP program, linked dynamically, without an rpath of its own?",
};

#[derive(Args)]
pub struct HipArgs {
    #[command(flatten)]
    host: HostArgs,
    /// HIP library to use (default: libwavebound_hip.so beside this executable)
    #[arg(long, value_name = "FILE", env = "WAVEBOUND_HIP_LIBRARY")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub fn main(args: &HipArgs) -> CommandResult {
    if wb_hip::SHIMS.iter().any(|shim| shim.1.is_empty()) {
        return Err(miette!(
            help = "HIP programs are Linux programs for x86-64",
            "`wavebound hip` does not work on this kind of machine"
        ));
    }
    let HipArgs { host: args, library, program } = args;
    host::main(&Run { api: &HIP, args, library: library.as_deref(), program })
}
