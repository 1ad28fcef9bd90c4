//! The program that `wavebound split` marks.

use miette::miette;
use std::path::{Path, PathBuf};
use wavebound::jobs::launch::WorkloadSpec;
use wavebound::jobs::object::{self, CompileOptions};

/// What is to be marked: a file, or the program of a workload.
pub struct SplitInput {
    pub name: String,
    pub bytes: Vec<u8>,
    /// The file itself, to run it.
    pub file: PathBuf,
    /// Where the marked program goes if nothing else is said.
    pub output: PathBuf,
}

impl SplitInput {
    pub fn read(file: Option<&Path>, which: Option<&WorkloadSpec>) -> miette::Result<SplitInput> {
        match (file, which) {
            (Some(_), Some(_)) => Err(miette!("a file does not go with --workload")),
            (None, Some(which)) => Ok(SplitInput {
                name: which.workload.name.to_owned(),
                bytes: which.workload.code.to_vec(),
                file: PathBuf::new(),
                output: PathBuf::from(format!("{}.split.co", which.workload.folder())),
            }),
            (file, None) => {
                let file = file.unwrap_or(Path::new(""));
                let name = file.display().to_string();
                let bytes = object::read(file, &CompileOptions::default())?;
                let bytes = object::code(&name, &bytes)?.into_owned();
                let output = file.with_extension("split.co");
                Ok(SplitInput { name, bytes, file: file.to_owned(), output })
            }
        }
    }
}
