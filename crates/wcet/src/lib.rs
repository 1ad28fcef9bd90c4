//! The analyser: times of a kernel's pieces → a certified bound, and the best places to split. Depends on machine
//! descriptions, programs and traces, never on the simulator (docs/ARCHITECTURE.md, invariant 1).

pub mod graph;
pub mod ipet;
pub mod kernel;
pub mod measure;
pub mod paper;
pub mod split;
pub mod wave;

pub use graph::{Count, Edge, EdgeId, Fact, Graph, LoopBound, Model, Node, NodeId, Region};
