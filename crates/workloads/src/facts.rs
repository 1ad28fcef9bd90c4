//! Facts files for the loops that data decide (docs/facts.md): the limit is the generator's, the place a tag in the
//! source, the checksum that of the code as it is, marked or not.

use crate::error::WorkloadError;
use crate::run::{Limit, Run};
use crate::workload::{Workload, tagged};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wb_facts::{calls_of, checksum};
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::codeobject::CodeObject;
use wb_objects::{gcn3_program, gcn3_setup};

impl Workload {
    /// Facts files for the loops that data decide: names and texts, for a code object as it was marked.
    pub fn facts(&self, object: &CodeObject, run: &Run) -> Result<Vec<(String, String)>, WorkloadError> {
        files(self, object, &run.limits)
    }
}

/// Name and text of a facts file for every kernel that has limits.
fn files(
    workload: &Workload,
    object: &CodeObject,
    limits: &[Limit],
) -> Result<Vec<(String, String)>, WorkloadError> {
    let mut by_kernel: BTreeMap<&str, Vec<&Limit>> = BTreeMap::new();
    for limit in limits {
        by_kernel.entry(limit.kernel).or_default().push(limit);
    }
    let mut files = Vec::new();
    for (name, limits) in by_kernel {
        let missing = || WorkloadError::Host { what: format!("{}: no kernel `{name}`", workload.name) };
        let kernel = object.kernel(name).ok_or_else(missing)?;
        let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
        let program = gcn3_program(object, kernel, isa, 0, workload.name, None)?;
        let sum = checksum(&program, &calls_of(&program));
        let mut text = format!("checksum = \"{sum}\"\nkernel = \"{name}\"\n");
        for limit in limits {
            let lines = tagged(workload.source, "loop", limit.tag);
            if lines.is_empty() {
                let what =
                    format!("{}: no line of the source is tagged `loop: {}`", workload.name, limit.tag);
                return Err(WorkloadError::Host { what });
            }
            for line in lines {
                let (max, why) = (limit.max, &limit.why);
                let _ = writeln!(text, "\n[[loop]]\nat = \"kernel.cl:{line}\"\nmax = {max}\nwhy = \"{why}\"");
            }
        }
        files.push((format!("{}-{name}.toml", workload.name), text));
    }
    Ok(files)
}
