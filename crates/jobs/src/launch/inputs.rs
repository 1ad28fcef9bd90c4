//! What a launch file depends on, without running it: its text, its program as compiled, its machine, its files of data. Who
//! keeps results needs to know when they are results of something else.

use super::schema::LaunchFile;
use super::session::{compile_options, machine};
use crate::args::is_data_file;
use crate::error::JobError;
use crate::object::{self, ObjectFile};
use crate::spec::JobSpec;
use std::path::{Path, PathBuf};
use wb_files::Kind;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_objects::codeobject::CodeObject;

/// Everything that a launch file reads.
pub struct LaunchInputs {
    pub text: String,
    /// The program's file, and its bytes as compiled.
    pub object: PathBuf,
    pub program: Vec<u8>,
    /// Files of data, for buffers, arguments and expectations.
    pub data: Vec<PathBuf>,
    file: LaunchFile,
    folder: PathBuf,
    code: Option<CodeObject>,
}

impl LaunchInputs {
    pub fn read(path: &Path) -> Result<LaunchInputs, JobError> {
        let text = wb_files::read_text(path, Kind::Description)?;
        let source = SourceFile::new(path.display().to_string(), text.clone());
        let file = LaunchFile::parse(&source)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let options = compile_options(&source, &file, &folder, &JobSpec::default())?;
        let object = folder.join(file.object.get_ref());
        let program = object::read(&object, &options)?;
        let buffers = file.buffers.values().filter_map(|b| b.get_ref().from.as_ref());
        let expected = file.expect.iter().filter_map(|e| e.get_ref().from.as_ref());
        let memory = file.memory.as_ref().and_then(|m| m.get_ref().program_data.as_ref());
        let data = buffers.chain(expected).chain(memory).map(|f| f.get_ref()).filter(|f| is_data_file(f));
        let data = data.map(|f| folder.join(f)).collect();
        let code = ObjectFile::from_bytes(&object.display().to_string(), &program).ok().map(|f| f.object);
        Ok(LaunchInputs { text, object, program, data, file, folder, code })
    }

    /// The machine it runs on: as `spec` says, then as the file says, then the one for its code.
    pub fn machine(&self, spec: &JobSpec) -> Result<Machine, JobError> {
        machine(&self.file, &self.folder, spec, self.code.as_ref())
    }
}
