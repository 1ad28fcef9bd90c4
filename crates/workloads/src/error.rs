//! What can go wrong with a workload, with what to do about it.

use miette::Diagnostic;
use thiserror::Error;
use wb_device::DeviceError;
use wb_objects::codeobject::CodeObjectError;
use wb_objects::marks::MarkError;
use wb_program::LoadError;

#[derive(Debug, Error, Diagnostic)]
pub enum WorkloadError {
    #[error("there is no workload `{name}`")]
    #[diagnostic(help("{hint}"))]
    Unknown { name: String, hint: String },
    #[error("there is no size `{name}`")]
    #[diagnostic(help("sizes: tiny, small, medium, large"))]
    Size { name: String },
    #[error("the workloads are not compiled for `{name}`")]
    #[diagnostic(help("targets: {known}"))]
    Target { name: String, known: String },
    #[error("the flag `{flag}` is still set after {max} rounds")]
    Rounds { flag: &'static str, max: u32 },
    #[error("{what}")]
    Host { what: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Mark(#[from] MarkError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Object(#[from] CodeObjectError),
}
