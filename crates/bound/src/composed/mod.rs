//! Hybrid bounds by own time and waits: ways are weighed with the machine's latencies, and runs are measured against the weight of the
//! ways they took. Beside them stand bounds by segments (`analyse`); the smaller one is printed (docs/wcet.md, "Own time and waits").

mod kernel;
mod launch;
mod ways;

pub(crate) use kernel::ComposedKernel;
