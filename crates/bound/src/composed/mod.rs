//! Hybrid bounds by own time and waits: ways are weighed with the machine's latencies, and runs are measured against the weight of the
//! ways they took. Beside them stand bounds by segments (`analyse`); the smaller one is printed (docs/wcet.md, "Own time and waits").

/// How reports call it.
pub(crate) const OWN_TIME: &str = "own time and waits";

mod assumptions;
mod certificate;
mod kernel;
mod launch;
mod ways;

pub use certificate::is_hybrid_certificate;
pub(crate) use kernel::ComposedKernel;
