//! Random loops that try to break proofs about loops (docs/facts.md, "The search"): assembly and OpenCL C, what is proven
//! about them, and runs that count.

mod assembly;
mod campaign;
mod forge;
mod noise;
mod opencl;
mod rounds;
mod search;
mod shapes;

pub use assembly::{Source, assembly};
pub use campaign::{Outcome, Search, search};
pub use forge::forged;
pub use noise::Noise;
pub use opencl::opencl;
pub use rounds::Rounds;
pub use search::{Prover, Tried, contents, machine, try_assembly, try_opencl};
