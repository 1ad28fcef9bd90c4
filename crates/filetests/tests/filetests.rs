//! Every file of `filetests/` and `crates/lab/programs/`, one test each.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    wb_filetests::main(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}
