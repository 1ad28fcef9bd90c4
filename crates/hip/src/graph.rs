//! Graphs: work captured from a stream or added node by node, done again whenever the graph is launched. Nodes run in the
//! order they were added, which respects their dependencies.

use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;
use crate::state::Node;

impl Runtime {
    pub fn graph_create(&mut self) -> u64 {
        let graph = self.streams.handle();
        self.streams.graphs.insert(graph, Vec::new());
        graph
    }

    /// Adds a node; returns a handle for it.
    pub fn graph_add(&mut self, graph: u64, node: Node) -> Outcome<u64> {
        self.streams.graphs.graphs.get_mut(&graph).ok_or(Code::INVALID_HANDLE)?.push(node);
        Ok(self.streams.handle())
    }

    pub fn graph_nodes(&self, graph: u64) -> Outcome<Vec<Node>> {
        Ok(self.streams.graphs.graphs.get(&graph).cloned().ok_or(Code::INVALID_HANDLE)?)
    }

    pub fn graph_destroy(&mut self, graph: u64) -> Outcome {
        self.streams.graphs.graphs.remove(&graph).map(drop).ok_or_else(|| Code::INVALID_HANDLE.into())
    }

    pub fn graph_instantiate(&mut self, graph: u64) -> Outcome<u64> {
        let nodes = self.graph_nodes(graph)?;
        let exec = self.streams.handle();
        self.streams.graphs.executable.insert(exec, nodes);
        Ok(exec)
    }

    pub fn exec_nodes(&self, exec: u64) -> Outcome<Vec<Node>> {
        Ok(self.streams.graphs.executable.get(&exec).cloned().ok_or(Code::INVALID_HANDLE)?)
    }

    pub fn exec_destroy(&mut self, exec: u64) -> Outcome {
        self.streams.graphs.executable.remove(&exec).map(drop).ok_or_else(|| Code::INVALID_HANDLE.into())
    }
}
