//! What a bound is computed from: a flow graph with times on nodes and edges, limits on how often loops go round,
//! further linear facts, and the divergent regions that may be split (PWS 4.2, THESIS 5.2).

use serde::{Deserialize, Serialize};

pub type NodeId = usize;
pub type EdgeId = usize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Cycles each time the node is passed.
    pub cost: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    /// Cycles each time the edge is taken.
    pub cost: u64,
}

/// A flow graph with one entry and one exit. Several edges may join the same two nodes; an execution is a way from
/// entry to exit, and no edge leaves the exit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub entry: NodeId,
    pub exit: NodeId,
}

impl Graph {
    pub fn node(&mut self, name: impl Into<String>, cost: u64) -> NodeId {
        self.nodes.push(Node { name: name.into(), cost });
        self.nodes.len() - 1
    }

    pub fn edge(&mut self, from: NodeId, to: NodeId, cost: u64) -> EdgeId {
        self.edges.push(Edge { from, to, cost });
        self.edges.len() - 1
    }

    /// Edges out of each node.
    pub fn outgoing(&self) -> Vec<Vec<EdgeId>> {
        let mut out = vec![Vec::new(); self.nodes.len()];
        for (e, edge) in self.edges.iter().enumerate() {
            out[edge.from].push(e);
        }
        out
    }

    /// Edges into each node.
    pub fn incoming(&self) -> Vec<Vec<EdgeId>> {
        let mut into = vec![Vec::new(); self.nodes.len()];
        for (e, edge) in self.edges.iter().enumerate() {
            into[edge.to].push(e);
        }
        into
    }
}

/// The edges back to `header` are taken at most `max` times for each time the loop is entered from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopBound {
    pub header: NodeId,
    pub max: u64,
}

/// How often something happens in one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    Node(NodeId),
    Edge(EdgeId),
}

/// A linear fact that holds for every execution: Σ factor · count ≤ limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    pub terms: Vec<(i64, Count)>,
    pub limit: i64,
}

/// Everything a bound of one wave rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub graph: Graph,
    /// One for each natural loop.
    pub bounds: Vec<LoopBound>,
    pub facts: Vec<Fact>,
}

/// A divergent branch whose lanes come together again at `join`, which post-dominates it. A wave that does not split
/// may take both sides one after the other: edges `first`, later edges `second`. Paths of a wave that splits here take
/// either the `first` edges or the `second` edges, never both (THESIS figure 5.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    pub branch: NodeId,
    pub join: NodeId,
    /// Edges into the first side.
    pub first: Vec<EdgeId>,
    /// Edges into the second side (out of the branch serialisation block); empty when there is none.
    pub second: Vec<EdgeId>,
    /// Extra cycles of a path when it splits and when it merges, if the times of the graph do not contain them.
    pub split_cost: u64,
    pub merge_cost: u64,
}
