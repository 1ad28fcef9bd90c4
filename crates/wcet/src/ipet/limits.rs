//! How often an edge can be taken at most in one execution: the u of the certificate (design "Worst-case execution
//! time analysis", pipeline step 4). For nested natural loops this is the product of (max + 1) over the loops that
//! contain the edge; the same argument covers regions with several entries and cycles that only facts limit.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::rows::Rows;
use super::structure::Structure;
use crate::graph::{EdgeId, Graph, NodeId};

/// Per edge an upper limit of its count, `None` where there is none.
///
/// Cut the edges K of a strongly connected part S that a row limits. An execution that is in S at most `entered` times
/// falls into at most T = `entered` + ΣK pieces without edges of K; a piece passes every edge between components of
/// S − K at most once and is in every component at most once. So those edges have the limit T, and the components are
/// parts that are entered at most T times. A loop row limits its back edges by max · `entered` if all its entry edges
/// lead into S from outside.
pub fn limits(graph: &Graph, structure: &Structure, rows: &Rows) -> Vec<Option<u128>> {
    let mut limit: Vec<Option<u128>> = vec![None; graph.edges.len()];
    let mut cut: Vec<bool> = structure.useful_edge.iter().map(|useful| !useful).collect();
    let mut row_at = vec![None; graph.nodes.len()];
    for (r, row) in rows.loops.iter().enumerate() {
        row_at[row.header] = Some(r);
    }
    let mut work: Vec<(Vec<NodeId>, u128)> = vec![(structure.order.clone(), 1)];
    while let Some((nodes, entered)) = work.pop() {
        let part_of = components(graph, structure, &cut, &nodes);
        let mut parts: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.len()];
        for (&v, &part) in nodes.iter().zip(&part_of.of_nodes) {
            parts[part].push(v);
        }
        let mut inner: Vec<Vec<EdgeId>> = vec![Vec::new(); nodes.len()];
        for &v in &nodes {
            for &e in structure.out[v].iter().filter(|&&e| !cut[e]) {
                match (part_of.get(v), part_of.get(graph.edges[e].to)) {
                    (Some(a), Some(b)) if a == b => inner[a].push(e),
                    (Some(_), Some(_)) => limit[e] = Some(entered),
                    _ => {}
                }
            }
        }
        for (part, edges) in inner.iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
            let contains = |v: NodeId| part_of.get(v) == Some(part);
            let mut known: Vec<(EdgeId, u128)> = Vec::new();
            let mut rounds: Option<u128> = Some(0);
            for row in parts[part].iter().filter_map(|&v| row_at[v]).map(|r| &rows.loops[r]) {
                let from_outside = row.entries.iter().all(|&e| {
                    let edge = graph.edges[e];
                    !contains(edge.from) && contains(edge.to)
                });
                let inside = |&e: &EdgeId| !cut[e] && contains(graph.edges[e].from);
                let back: Vec<EdgeId> = row.back.iter().copied().filter(inside).collect();
                let total = entered.checked_mul(u128::from(row.max));
                if let (true, false, Some(total)) = (from_outside, back.is_empty(), total) {
                    known.extend(back.iter().map(|&e| (e, total)));
                    rounds = rounds.and_then(|r| r.checked_add(total));
                }
            }
            if known.is_empty() {
                let limited = |&e: &EdgeId| rows.fact_limit[e].map(|l| (e, u128::from(l)));
                known.extend(edges.iter().filter_map(limited));
                rounds = known.iter().try_fold(0_u128, |sum, (_, l)| sum.checked_add(*l));
            }
            for &(e, l) in &known {
                limit[e] = Some(l);
                cut[e] = true;
            }
            let pieces = rounds.and_then(|r| r.checked_add(entered)).filter(|p| *p < 1 << 100);
            if let (false, Some(pieces)) = (known.is_empty(), pieces) {
                work.push((std::mem::take(&mut parts[part]), pieces));
            }
        }
    }
    for (limit, fact) in limit.iter_mut().zip(&rows.fact_limit) {
        if let Some(fact) = fact.map(u128::from) {
            *limit = Some(limit.map_or(fact, |l| l.min(fact)));
        }
    }
    limit
}

/// The strongly connected component of each of some nodes.
struct Parts {
    of_nodes: Vec<usize>,
    by_node: std::collections::BTreeMap<NodeId, usize>,
}

impl Parts {
    fn get(&self, v: NodeId) -> Option<usize> {
        self.by_node.get(&v).copied()
    }
}

fn components(graph: &Graph, structure: &Structure, cut: &[bool], nodes: &[NodeId]) -> Parts {
    let place: std::collections::BTreeMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(k, &v)| (v, k)).collect();
    let mut plain: DiGraph<(), ()> = DiGraph::with_capacity(nodes.len(), 2 * nodes.len());
    for _ in nodes {
        plain.add_node(());
    }
    for (k, &v) in nodes.iter().enumerate() {
        for &e in structure.out[v].iter().filter(|&&e| !cut[e]) {
            if let Some(&to) = place.get(&graph.edges[e].to) {
                plain.add_edge(NodeIndex::new(k), NodeIndex::new(to), ());
            }
        }
    }
    let mut of_nodes = vec![0; nodes.len()];
    for (part, members) in kosaraju_scc(&plain).iter().enumerate() {
        for v in members {
            of_nodes[v.index()] = part;
        }
    }
    let by_node = nodes.iter().copied().zip(of_nodes.iter().copied()).collect();
    Parts { of_nodes, by_node }
}
