//! Machines: a preset or a file, with fields changed.

use crate::error::{raise, refuse};
use pyo3::prelude::*;
use wavebound::hw;

/// A machine description. Machines do not change: `set` returns another one.
#[pyclass(frozen, module = "wavebound._wavebound")]
pub struct Machine {
    pub inner: hw::Machine,
}

#[pymethods]
impl Machine {
    /// A preset by name, or a machine file.
    #[staticmethod]
    fn load(name: &str) -> PyResult<Machine> {
        Ok(Machine { inner: wavebound::machine(name).map_err(raise)? })
    }

    /// What `to_toml` wrote.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Machine> {
        Ok(Machine { inner: hw::Machine::from_toml(text, "machine.toml").map_err(raise)? })
    }

    /// The same machine with fields changed: `["core.waves=4"]`.
    fn set(&self, fields: Vec<String>) -> PyResult<Machine> {
        let sets = fields.iter().map(|s| hw::parse_set(s)).collect::<Result<Vec<_>, _>>().map_err(raise)?;
        Ok(Machine { inner: self.inner.clone().with_overrides(&sets).map_err(raise)? })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    fn to_json(&self) -> PyResult<String> {
        let value: toml::Value = toml::from_str(&self.inner.to_toml()).map_err(|e| refuse(e.to_string()))?;
        serde_json::to_string(&value).map_err(|e| refuse(e.to_string()))
    }
}

/// Names of the presets.
#[pyfunction]
fn presets() -> Vec<String> {
    hw::presets().iter().map(|p| p.name.to_owned()).collect()
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Machine>()?;
    m.add_function(wrap_pyfunction!(presets, m)?)
}
