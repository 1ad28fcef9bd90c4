//! Compiles an OpenCL source to an executable of kernels for lane-pc machines, as `wavebound compile --target riscv` does:
//! `compile_riscv SOURCE OUTPUT [COMPILER OPTIONS]`. `scripts/build-workloads.sh` uses it.

use std::path::Path;
use std::process::ExitCode;
use wb_jobs::object::{CompileOptions, RISCV, compile};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [source, output, extra @ ..] = &args[..] else {
        eprintln!("usage: compile_riscv SOURCE OUTPUT [COMPILER OPTIONS]");
        return ExitCode::FAILURE;
    };
    let options =
        CompileOptions { target: RISCV.to_owned(), extra: extra.to_vec(), ..CompileOptions::default() };
    match compile(Path::new(source), Path::new(output), &options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
