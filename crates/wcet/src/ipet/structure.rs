//! Which cycles a flow graph has: dominators, natural loops, their nesting, and a check that there are no other
//! cycles (design "Worst-case execution time analysis", pipeline steps 1 and 4). No recursion: graphs may be deep.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

use super::error::IpetError;
use crate::graph::{Count, EdgeId, Graph, Model, NodeId};

pub type LoopId = usize;

/// One loop: the edges `back` to its header, and the edges `entries` by which it is entered from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: NodeId,
    pub back: Vec<EdgeId>,
    pub entries: Vec<EdgeId>,
}

/// What every solver needs to know of a graph. Nodes and edges that lie on no way from entry to exit are left out
/// of all lists: they never run.
#[derive(Clone, Debug)]
pub struct Structure {
    pub useful_node: Vec<bool>,
    pub useful_edge: Vec<bool>,
    /// Useful edges out of each node.
    pub out: Vec<Vec<EdgeId>>,
    /// Useful edges into each node.
    pub into: Vec<Vec<EdgeId>>,
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
    dominators: Dominators<NodeIndex>,
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
    let node = |what: String, node: NodeId| match node < nodes {
        true => Ok(()),
        false => Err(IpetError::NoSuchNode { what, node, nodes }),
    };
    node("the entry".into(), graph.entry)?;
    node("the exit".into(), graph.exit)?;
    for (e, edge) in graph.edges.iter().enumerate() {
        node(format!("edge {e}"), edge.from)?;
        node(format!("edge {e}"), edge.to)?;
        if edge.from == graph.exit {
            let name = |n: NodeId| graph.nodes[n].name.clone();
            return Err(IpetError::EdgeOutOfExit { exit: name(edge.from), to: name(edge.to) });
        }
    }
    for bound in &model.bounds {
        node(format!("the loop bound {}", bound.max), bound.header)?;
    }
    for fact in &model.facts {
        for (_, count) in &fact.terms {
            match *count {
                Count::Node(n) => node(format!("fact `{}`", fact.name), n)?,
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
fn reach(graph: &Graph, start: NodeId, lists: &[Vec<EdgeId>], forwards: bool) -> Vec<bool> {
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
    out: &[Vec<EdgeId>],
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
        let (all_out, all_into) = (graph.outgoing(), graph.incoming());
        let from_entry = reach(graph, graph.entry, &all_out, true);
        let to_exit = reach(graph, graph.exit, &all_into, false);
        if !from_entry[graph.exit] {
            let name = |n: NodeId| graph.nodes[n].name.clone();
            return Err(IpetError::NoWay { entry: name(graph.entry), exit: name(graph.exit) });
        }
        let useful_node: Vec<bool> = from_entry.iter().zip(&to_exit).map(|(a, b)| *a && *b).collect();
        let useful_edge: Vec<bool> =
            graph.edges.iter().map(|e| useful_node[e.from] && useful_node[e.to]).collect();
        let keep = |lists: Vec<Vec<EdgeId>>| -> Vec<Vec<EdgeId>> {
            lists.into_iter().map(|list| list.into_iter().filter(|&e| useful_edge[e]).collect()).collect()
        };
        let (out, into) = (keep(all_out), keep(all_into));

        let mut plain: DiGraph<(), ()> = DiGraph::with_capacity(graph.nodes.len(), graph.edges.len());
        for _ in &graph.nodes {
            plain.add_node(());
        }
        for (edge, _) in graph.edges.iter().zip(&useful_edge).filter(|(_, useful)| **useful) {
            plain.add_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), ());
        }
        let dominators = simple_fast(&plain, NodeIndex::new(graph.entry));
        let back = dominated_sources(graph, &useful_edge, &dominators);
        let (order, irreducible) = walk(graph, &out, |e| back[e]);

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
        let mut chain = match self.dominators.dominators(NodeIndex::new(node)) {
            Some(chain) => chain,
            None => return false,
        };
        chain.any(|d| d.index() == above)
    }

    /// A cycle that stays when the edges in `cut` are gone.
    pub fn cycle_without(&self, graph: &Graph, cut: &[bool]) -> Option<Vec<NodeId>> {
        let out: Vec<Vec<EdgeId>> =
            self.out.iter().map(|list| list.iter().copied().filter(|&e| !cut[e]).collect()).collect();
        // Cut edges may leave parts that only they lead to: walk from everywhere by a node in front of all.
        let mut indegree = vec![0_usize; graph.nodes.len()];
        for &e in out.iter().flatten() {
            indegree[graph.edges[e].to] += 1;
        }
        let mut ready: Vec<NodeId> = self.order.iter().copied().filter(|&v| indegree[v] == 0).collect();
        let mut left = self.order.len();
        while let Some(v) = ready.pop() {
            left -= 1;
            for &e in &out[v] {
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
            for &e in out.iter().flatten() {
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

/// For each edge whether its target dominates its source: intervals of a walk over the dominator tree answer it.
fn dominated_sources(graph: &Graph, useful: &[bool], dominators: &Dominators<NodeIndex>) -> Vec<bool> {
    let n = graph.nodes.len();
    let mut children: Vec<Vec<NodeId>> = vec![Vec::new(); n];
    for v in 0..n {
        if let Some(above) = dominators.immediate_dominator(NodeIndex::new(v)) {
            children[above.index()].push(v);
        }
    }
    let (mut first, mut last) = (vec![0_usize; n], vec![0_usize; n]);
    let mut clock = 1;
    let mut stack = vec![(graph.entry, 0)];
    first[graph.entry] = clock;
    while let Some(top) = stack.last_mut() {
        let v = top.0;
        if let Some(&child) = children[v].get(top.1) {
            top.1 += 1;
            clock += 1;
            first[child] = clock;
            stack.push((child, 0));
        } else {
            last[v] = clock;
            stack.pop();
        }
    }
    let dominates = |a: NodeId, b: NodeId| first[a] <= first[b] && first[b] <= last[a];
    graph.edges.iter().zip(useful).map(|(e, useful)| *useful && dominates(e.to, e.from)).collect()
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
