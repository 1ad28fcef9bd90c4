//! A folder with everything that the checkers read: sources, programs compiled from them, and for each case a launch file (ours)
//! and a simulation file (Oclgrind's).

use super::corpus::{Argument, Case, SOURCES, cases};
use super::error::PlantedError;
use super::simulation::simulation_file;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wb_jobs::object::{CompileOptions, Compiler};

pub struct Place {
    folder: PathBuf,
    /// Removes the folder at the end, if it is nobody's.
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// A folder that is gone afterwards.
    pub fn temporary() -> Result<Place, PlantedError> {
        let made = tempfile::Builder::new().prefix("wavebound-planted-").tempdir();
        let folder =
            made.map_err(|error| PlantedError::System { context: "no folder for the cases".into(), error })?;
        let path = folder.path().to_path_buf();
        Place::fill(Place { folder: path, _temporary: Some(folder) })
    }

    /// A folder that stays.
    pub fn kept(folder: &Path) -> Result<Place, PlantedError> {
        wb_files::make_folder(folder)?;
        Place::fill(Place { folder: folder.to_path_buf(), _temporary: None })
    }

    fn fill(place: Place) -> Result<Place, PlantedError> {
        let compiler = Compiler::find()?;
        for (name, text) in SOURCES {
            let source = place.folder.join(name);
            wb_files::write(&source, text)?;
            let checked = CompileOptions { checked: true, ..CompileOptions::default() };
            compiler.compile(&source, &source.with_extension("co"), &CompileOptions::default())?;
            compiler.compile(&source, &source.with_extension("checked.co"), &checked)?;
        }
        for case in cases()? {
            wb_files::write(&place.launch_file(&case), launch_file(&case, "co"))?;
            wb_files::write(&place.checked_file(&case), launch_file(&case, "checked.co"))?;
            if !case.amd {
                wb_files::write(&place.simulation_file(&case), simulation_file(&case, case.grid)?)?;
            }
        }
        Ok(place)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn launch_file(&self, case: &Case) -> PathBuf {
        self.folder.join(format!("{}.toml", case.name))
    }

    /// The same with code that was compiled for our checker.
    pub fn checked_file(&self, case: &Case) -> PathBuf {
        self.folder.join(format!("{}.checked.toml", case.name))
    }

    pub fn simulation_file(&self, case: &Case) -> PathBuf {
        self.folder.join(format!("{}.sim", case.name))
    }
}

/// A case as a launch file (docs/launch-files.md).
fn launch_file(case: &Case, extension: &str) -> String {
    let mut out = format!("object = \"{}\"\n", case.file.replace(".cl", &format!(".{extension}")));
    let mut args = Vec::new();
    for arg in &case.args {
        match arg {
            Argument::Buffer { name, element, length, from } => {
                let _ = write!(
                    out,
                    "\n[buffers.{name}]\ntype = \"{element}\"\nlength = {length}\nfrom = \"{from}\"\n"
                );
                args.push(name.clone());
            }
            Argument::Value(value) => args.push(value.clone()),
            Argument::Local(bytes) => args.push(format!("local:{bytes}")),
        }
    }
    let _ = writeln!(
        out,
        "\n[[launch]]\nkernel = \"{}\"\ngrid = {:?}\ngroup = {:?}\nargs = {args:?}",
        case.kernel(),
        case.grid,
        case.group
    );
    out
}
