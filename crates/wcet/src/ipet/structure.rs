//! Which cycles a flow graph has: dominators, natural loops, their nesting, and a check that there are no other
//! cycles (design "Worst-case execution time analysis", pipeline steps 1 and 4). No recursion: graphs may be deep.

use std::fmt::Arguments;
use std::ops::Index;

use super::error::IpetError;
use crate::graph::{Count, Edge, EdgeId, Graph, Model, NodeId};

pub type LoopId = usize;

/// One loop: the edges `back` to its header, and the edges `entries` by which it is entered from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: NodeId,
    pub back: Vec<EdgeId>,
    pub entries: Vec<EdgeId>,
}

/// The edges at each node, in one array: graphs have a hundred thousand nodes.
#[derive(Clone, Debug)]
pub struct Adjacency {
    start: Vec<usize>,
    edges: Vec<EdgeId>,
}

impl Adjacency {
    /// Puts each kept edge at the node `at` says, in the order of their numbers.
    fn new(graph: &Graph, at: impl Fn(&Edge) -> NodeId, keep: impl Fn(&Edge) -> bool) -> Adjacency {
        let mut start = vec![0; graph.nodes.len() + 1];
        for edge in graph.edges.iter().filter(|e| keep(e)) {
            start[at(edge) + 1] += 1;
        }
        for v in 0..graph.nodes.len() {
            start[v + 1] += start[v];
        }
        let mut free = start.clone();
        let mut edges = vec![0; start[graph.nodes.len()]];
        for (e, edge) in graph.edges.iter().enumerate().filter(|(_, e)| keep(e)) {
            edges[free[at(edge)]] = e;
            free[at(edge)] += 1;
        }
        Adjacency { start, edges }
    }
}

impl Index<NodeId> for Adjacency {
    type Output = [EdgeId];
    fn index(&self, v: NodeId) -> &[EdgeId] {
        &self.edges[self.start[v]..self.start[v + 1]]
    }
}

/// What every solver needs to know of a graph. Nodes and edges that lie on no way from entry to exit are left out
/// of all lists: they never run.
#[derive(Clone, Debug)]
pub struct Structure {
    pub useful_node: Vec<bool>,
    pub useful_edge: Vec<bool>,
    /// Useful edges out of each node.
    pub out: Adjacency,
    /// Useful edges into each node.
    pub into: Adjacency,
    /// Useful nodes, each before its successors along edges that are no back edges (if the graph is reducible).
    pub order: Vec<NodeId>,
    /// Natural loops, an outer loop before the loops inside it. One for each header.
    pub loops: Vec<Loop>,
    /// The natural loop of which this edge is a back edge.
    pub back_of: Vec<Option<LoopId>>,
    /// The natural loop of which this node is the header.
    pub header_of: Vec<Option<LoopId>>,
    /// A cycle with more than one entry, if there is one: the graph is irreducible.
    pub irreducible: Option<Vec<NodeId>>,
    dominators: Dominators,
}

/// The dominator tree, as the span of numbers a walk over the tree gives to what lies below each node.
#[derive(Clone, Debug)]
struct Dominators {
    first: Vec<u32>,
    last: Vec<u32>,
}

/// How natural loops lie in one another.
#[derive(Clone, Debug)]
pub struct Nesting {
    /// The innermost loop around each node; a header belongs to its own loop.
    pub inner: Vec<Option<LoopId>>,
    pub parent: Vec<Option<LoopId>>,
    /// Per loop, in topological order: its header, nodes directly in it, headers of the loops directly in it.
    pub members: Vec<Vec<NodeId>>,
    /// The same for the whole graph: nodes in no loop and headers of outermost loops.
    pub top: Vec<NodeId>,
}

/// Every number in the model names something that exists, and nothing leaves the exit.
pub fn check_indices(model: &Model) -> Result<(), IpetError> {
    let graph = &model.graph;
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    let node = |what: Arguments, node: NodeId| match node < nodes {
        true => Ok(()),
        false => Err(IpetError::NoSuchNode { what: what.to_string(), node, nodes }),
    };
    node(format_args!("the entry"), graph.entry)?;
    node(format_args!("the exit"), graph.exit)?;
    for (e, edge) in graph.edges.iter().enumerate() {
        node(format_args!("edge {e}"), edge.from)?;
        node(format_args!("edge {e}"), edge.to)?;
        if edge.from == graph.exit {
            let name = |n: NodeId| graph.nodes[n].name.clone();
            return Err(IpetError::EdgeOutOfExit { exit: name(edge.from), to: name(edge.to) });
        }
    }
    for bound in &model.bounds {
        node(format_args!("the loop bound {}", bound.max), bound.header)?;
    }
    for fact in &model.facts {
        for (_, count) in &fact.terms {
            match *count {
                Count::Node(n) => node(format_args!("fact `{}`", fact.name), n)?,
                Count::Edge(edge) if edge >= edges => {
                    return Err(IpetError::NoSuchEdge { what: format!("fact `{}`", fact.name), edge, edges });
                }
                Count::Edge(_) => {}
            }
        }
    }
    Ok(())
}

/// Nodes reachable from `start`, following edges forwards or backwards.
fn reach(graph: &Graph, start: NodeId, lists: &Adjacency, forwards: bool) -> Vec<bool> {
    let mut seen = vec![false; graph.nodes.len()];
    seen[start] = true;
    let mut work = vec![start];
    while let Some(v) = work.pop() {
        for &e in &lists[v] {
            let next = if forwards { graph.edges[e].to } else { graph.edges[e].from };
            if !seen[next] {
                seen[next] = true;
                work.push(next);
            }
        }
    }
    seen
}

/// A depth-first walk: the nodes in reverse postorder, and the first cycle closed by an edge that `allowed` refuses.
fn walk(
    graph: &Graph,
    out: &Adjacency,
    allowed: impl Fn(EdgeId) -> bool,
) -> (Vec<NodeId>, Option<Vec<NodeId>>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut mark = vec![Mark::New; graph.nodes.len()];
    let mut order = Vec::new();
    let mut cycle = None;
    let mut stack = vec![(graph.entry, 0)];
    mark[graph.entry] = Mark::Open;
    while let Some(top) = stack.last_mut() {
        let v = top.0;
        let Some(&e) = out[v].get(top.1) else {
            mark[v] = Mark::Done;
            order.push(v);
            stack.pop();
            continue;
        };
        top.1 += 1;
        let to = graph.edges[e].to;
        match mark[to] {
            Mark::New => {
                mark[to] = Mark::Open;
                stack.push((to, 0));
            }
            Mark::Open if cycle.is_none() && !allowed(e) => {
                cycle = Some(stack.iter().map(|s| s.0).skip_while(|&n| n != to).collect());
            }
            _ => {}
        }
    }
    order.reverse();
    (order, cycle)
}

impl Structure {
    /// Looks at a graph whose indices are right (`check_indices`).
    pub fn new(graph: &Graph) -> Result<Structure, IpetError> {
        let from_entry = reach(graph, graph.entry, &Adjacency::new(graph, |e| e.from, |_| true), true);
        let to_exit = reach(graph, graph.exit, &Adjacency::new(graph, |e| e.to, |_| true), false);
        if !from_entry[graph.exit] {
            let name = |n: NodeId| graph.nodes[n].name.clone();
            return Err(IpetError::NoWay { entry: name(graph.entry), exit: name(graph.exit) });
        }
        let useful_node: Vec<bool> = from_entry.iter().zip(&to_exit).map(|(a, b)| *a && *b).collect();
        let useful_edge: Vec<bool> =
            graph.edges.iter().map(|e| useful_node[e.from] && useful_node[e.to]).collect();
        let useful = |e: &Edge| useful_node[e.from] && useful_node[e.to];
        let out = Adjacency::new(graph, |e| e.from, useful);
        let into = Adjacency::new(graph, |e| e.to, useful);
        let (order, _) = walk(graph, &out, |_| true);
        let dominators = Dominators::new(graph, &into, &order);
        let back: Vec<bool> = graph
            .edges
            .iter()
            .zip(&useful_edge)
            .map(|(e, useful)| *useful && dominators.covers(e.to, e.from))
            .collect();
        let mut place = vec![0; graph.nodes.len()];
        for (k, &v) in order.iter().enumerate() {
            place[v] = k;
        }
        let goes_back = |e: EdgeId| place[graph.edges[e].to] <= place[graph.edges[e].from];
        let irreducible = match (0..graph.edges.len()).any(|e| useful_edge[e] && !back[e] && goes_back(e)) {
            true => walk(graph, &out, |e| back[e]).1,
            false => None,
        };

        let mut structure = Structure {
            back_of: vec![None; graph.edges.len()],
            header_of: vec![None; graph.nodes.len()],
            loops: Vec::new(),
            useful_node,
            useful_edge,
            out,
            into,
            order,
            irreducible,
            dominators,
        };
        // Headers in this order: an outer header dominates an inner one and so comes before it.
        for &header in &structure.order {
            let (back, entries): (Vec<EdgeId>, Vec<EdgeId>) =
                structure.into[header].iter().partition(|&&e| back[e]);
            if !back.is_empty() {
                let id = structure.loops.len();
                structure.header_of[header] = Some(id);
                for &e in &back {
                    structure.back_of[e] = Some(id);
                }
                structure.loops.push(Loop { header, back, entries });
            }
        }
        Ok(structure)
    }

    /// Whether every way from the entry to `node` passes `above`.
    pub fn dominates(&self, above: NodeId, node: NodeId) -> bool {
        self.dominators.covers(above, node)
    }

    /// A cycle that stays when the edges in `cut` are gone.
    pub fn cycle_without(&self, graph: &Graph, cut: &[bool]) -> Option<Vec<NodeId>> {
        let left_edges = || (0..cut.len()).filter(|&e| self.useful_edge[e] && !cut[e]);
        let mut indegree = vec![0_usize; graph.nodes.len()];
        for e in left_edges() {
            indegree[graph.edges[e].to] += 1;
        }
        let mut ready: Vec<NodeId> = self.order.iter().copied().filter(|&v| indegree[v] == 0).collect();
        let mut left = self.order.len();
        while let Some(v) = ready.pop() {
            left -= 1;
            for &e in self.out[v].iter().filter(|&&e| !cut[e]) {
                let to = graph.edges[e].to;
                indegree[to] -= 1;
                if indegree[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if left == 0 {
            return None;
        }
        // Every node that is left has a predecessor that is left: going back must come to a node twice.
        let from: Vec<Option<NodeId>> = {
            let mut from = vec![None; graph.nodes.len()];
            for e in left_edges() {
                let edge = graph.edges[e];
                if indegree[edge.from] > 0 {
                    from[edge.to] = Some(edge.from);
                }
            }
            from
        };
        let mut v = self.order.iter().copied().find(|&v| indegree[v] > 0)?;
        let mut place = vec![usize::MAX; graph.nodes.len()];
        let mut way = Vec::new();
        while place[v] == usize::MAX {
            place[v] = way.len();
            way.push(v);
            v = from[v]?;
        }
        let mut cycle = way.split_off(place[v]);
        cycle.reverse();
        Some(cycle)
    }

    /// How the loops of a reducible graph are nested. Inner loops first, each loop is found by going back from its
    /// back edges; loops already found are passed in one step (union-find), so that this is near-linear.
    pub fn nesting(&self, graph: &Graph) -> Nesting {
        let n = graph.nodes.len();
        let mut inner: Vec<Option<LoopId>> = vec![None; n];
        let mut parent = vec![None; self.loops.len()];
        // The header of the outermost loop found so far around a node, or the node itself.
        let mut outermost: Vec<NodeId> = (0..n).collect();
        for id in (0..self.loops.len()).rev() {
            let header = self.loops[id].header;
            let mut work: Vec<NodeId> = self.loops[id].back.iter().map(|&e| graph.edges[e].from).collect();
            while let Some(v) = work.pop() {
                let v = find(&mut outermost, v);
                if v == header {
                    continue;
                }
                match self.header_of[v] {
                    Some(child) => parent[child] = Some(id),
                    None => inner[v] = Some(id),
                }
                outermost[v] = header;
                let entering = match self.header_of[v] {
                    Some(child) => &self.loops[child].entries,
                    None => &self.into[v],
                };
                work.extend(entering.iter().map(|&e| graph.edges[e].from));
            }
            inner[header] = Some(id);
        }
        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); self.loops.len()];
        let mut top = Vec::new();
        for &v in &self.order {
            let around = match self.header_of[v] {
                Some(id) => {
                    members[id].push(v);
                    parent[id]
                }
                None => inner[v],
            };
            match around {
                Some(id) => members[id].push(v),
                None => top.push(v),
            }
        }
        Nesting { inner, parent, members, top }
    }
}

impl Dominators {
    /// `order` is a reverse postorder of all nodes that run. Dominators of predecessors are met until nothing changes
    /// (Cooper, Harvey and Kennedy); for reducible graphs that is one round. Flat arrays: `petgraph` has the same
    /// method over hash maps, which takes ten times as long.
    fn new(graph: &Graph, into: &Adjacency, order: &[NodeId]) -> Dominators {
        const UNKNOWN: u32 = u32::MAX;
        let mut place = vec![UNKNOWN; graph.nodes.len()];
        for (k, &v) in order.iter().enumerate() {
            place[v] = k as u32;
        }
        // Everything below is in places: a dominator has a lower one.
        let mut above = vec![UNKNOWN; order.len()];
        above[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for (k, &v) in order.iter().enumerate().skip(1) {
                let mut meet = UNKNOWN;
                for &e in &into[v] {
                    let mut other = place[graph.edges[e].from];
                    if above[other as usize] == UNKNOWN {
                        continue;
                    }
                    if meet == UNKNOWN {
                        meet = other;
                    }
                    while meet != other {
                        if meet > other {
                            meet = above[meet as usize];
                        } else {
                            other = above[other as usize];
                        }
                    }
                }
                changed |= above[k] != meet;
                above[k] = meet;
            }
        }
        // Sizes of subtrees from the bottom, then spans from the top.
        let mut size = vec![1_u32; order.len()];
        for k in (1..order.len()).rev() {
            size[above[k] as usize] += size[k];
        }
        let (mut first, mut last) = (vec![UNKNOWN; graph.nodes.len()], vec![0; graph.nodes.len()]);
        let mut free = vec![0_u32; order.len()];
        for (k, &v) in order.iter().enumerate() {
            let up = above[k] as usize;
            let start = free[up];
            free[up] = start + size[k];
            free[k] = start + 1;
            first[v] = start;
            last[v] = start + size[k];
        }
        Dominators { first, last }
    }

    /// Whether `above` dominates `node`; both have to run.
    fn covers(&self, above: NodeId, node: NodeId) -> bool {
        self.first[above] <= self.first[node] && self.first[node] < self.last[above]
    }
}

fn find(outermost: &mut [NodeId], start: NodeId) -> NodeId {
    let mut root = start;
    while outermost[root] != root {
        root = outermost[root];
    }
    let mut v = start;
    while outermost[v] != root {
        v = std::mem::replace(&mut outermost[v], root);
    }
    root
}
