//! Programs: files of any kind that the command accepts, or text.

use crate::error::{raise, refuse};
use pyo3::prelude::*;
use std::path::PathBuf;
use wavebound::InstructionSet;
use wavebound::jobs::object::CompileOptions;

#[pyclass(frozen, module = "wavebound._wavebound")]
pub struct Program {
    pub inner: wavebound::Program,
}

#[pymethods]
impl Program {
    /// Opens a file; OpenCL C and HIP sources are compiled by the system's clang.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        level: u8,
        defines: Vec<String>,
        includes: Vec<PathBuf>,
        options: Vec<String>,
    ) -> PyResult<Program> {
        let with = CompileOptions { level, defines, includes, extra: options, ..CompileOptions::default() };
        let inner = py.detach(|| wavebound::Program::compile(&path, &with)).map_err(raise)?;
        Ok(Program { inner })
    }

    /// Assembly.
    #[staticmethod]
    fn from_source(isa: &str, name: &str, text: &str) -> PyResult<Program> {
        Ok(Program { inner: wavebound::Program::from_source(instruction_set(isa)?, name, text) })
    }

    #[getter]
    fn isa(&self) -> String {
        self.inner.instruction_set().to_string()
    }

    #[getter]
    fn kernels(&self) -> PyResult<Vec<String>> {
        self.inner.kernels().map_err(raise)
    }

    /// Blocks, edges, loops and regions of a kernel, as `wavebound cfg --json` prints them.
    fn graph(&self, kernel: &str) -> PyResult<String> {
        let graph = self.inner.graph(kernel).map_err(raise)?;
        serde_json::to_string(&graph).map_err(|e| refuse(e.to_string()))
    }
}

fn instruction_set(name: &str) -> PyResult<InstructionSet> {
    InstructionSet::ALL
        .into_iter()
        .find(|i| i.to_string() == name)
        .ok_or_else(|| refuse(format!("no instruction set is called {name:?}")))
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Program>()
}
