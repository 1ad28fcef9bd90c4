//! The rows of the IPET program (design "Worst-case execution time analysis", pipeline step 4; THESIS 5.2): bounds of
//! loops, natural or not, and facts, written over the counts of edges; and the check that they limit every cycle.

use super::error::IpetError;
use super::structure::{Adjacency, Loop, Structure};
use crate::graph::{Count, EdgeId, Fact, Model, NodeId};

/// Σ back ≤ max · (Σ entries + 1 if the execution starts inside).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRow {
    pub header: NodeId,
    pub back: Vec<EdgeId>,
    pub entries: Vec<EdgeId>,
    /// The entry of the graph lies in the loop.
    pub starts_inside: bool,
    pub max: u64,
    /// The loop's nodes, if it is no natural loop but a region with several entries.
    pub region: Option<Vec<NodeId>>,
}

/// Σ factor · count of edge ≤ limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    pub name: String,
    pub terms: Vec<(EdgeId, i128)>,
    pub limit: i128,
}

#[derive(Clone, Debug)]
pub struct Rows {
    /// Cost of each edge together with the node it leads to.
    pub weight: Vec<i128>,
    /// Cost of the entry, which is passed without an edge.
    pub start: i128,
    /// Bounded loops in the order of their headers along the flow.
    pub loops: Vec<LoopRow>,
    pub facts: Vec<FactRow>,
    /// How often an edge can be taken at all because a fact without negative factors says so.
    pub fact_limit: Vec<Option<u64>>,
}

impl Rows {
    pub fn new(model: &Model, structure: &Structure) -> Result<Rows, IpetError> {
        let graph = &model.graph;
        let weight =
            graph.edges.iter().map(|e| i128::from(e.cost) + i128::from(graph.nodes[e.to].cost)).collect();
        Ok(Rows {
            weight,
            start: i128::from(graph.nodes[graph.entry].cost),
            loops: loop_rows(model, structure)?,
            facts: model.facts.iter().map(|fact| fact_row(model, structure, fact)).collect(),
            fact_limit: fact_limits(model, structure),
        })
    }

    /// Every cycle has to contain an edge whose count a loop bound or a fact limits.
    pub fn check_cycles(&self, model: &Model, structure: &Structure) -> Result<(), IpetError> {
        let mut cut: Vec<bool> = self.fact_limit.iter().map(Option::is_some).collect();
        for row in &self.loops {
            for &e in &row.back {
                cut[e] = true;
            }
        }
        let Some(mut cycle) = structure.cycle_without(&model.graph, &cut) else { return Ok(()) };
        let mut rank = vec![0; model.graph.nodes.len()];
        for (place, &v) in structure.order.iter().enumerate() {
            rank[v] = place;
        }
        let first = (0..cycle.len()).min_by_key(|&k| rank[cycle[k]]).unwrap_or(0);
        cycle.rotate_left(first);
        let name = |v: &NodeId| model.graph.nodes[*v].name.clone();
        let header = cycle[0];
        if structure.header_of[header].is_some() && cycle.iter().all(|&v| structure.dominates(header, v)) {
            return Err(IpetError::Unbounded { header: name(&header) });
        }
        Err(IpetError::Irreducible { nodes: cycle.iter().map(name).collect() })
    }
}

fn loop_rows(model: &Model, structure: &Structure) -> Result<Vec<LoopRow>, IpetError> {
    let graph = &model.graph;
    let mut max: Vec<Option<u64>> = vec![None; graph.nodes.len()];
    for bound in &model.bounds {
        // Two bounds of one loop both hold: the smaller says more.
        max[bound.header] = Some(max[bound.header].map_or(bound.max, |known| known.min(bound.max)));
    }
    let mut rows = Vec::new();
    for &header in &structure.order {
        let Some(max) = max[header] else { continue };
        if let Some(id) = structure.header_of[header] {
            let Loop { back, entries, .. } = structure.loops[id].clone();
            let starts_inside = header == graph.entry;
            rows.push(LoopRow { header, back, entries, starts_inside, max, region: None });
        } else if let Some(region) = region(model, structure, header) {
            rows.push(region_row(model, structure, header, max, region));
        } else {
            let name = |v: NodeId| graph.nodes[v].name.clone();
            let headers = structure.loops.iter().map(|l| name(l.header)).collect();
            return Err(IpetError::NotAHeader { node: name(header), max, headers });
        }
    }
    Ok(rows)
}

/// The nodes that lie on cycles through `header` when no natural loop around it goes round; empty means none.
fn region(model: &Model, structure: &Structure, header: NodeId) -> Option<Vec<NodeId>> {
    structure.irreducible.as_ref()?;
    let graph = &model.graph;
    let nesting = structure.nesting(graph);
    let mut cut = vec![false; structure.loops.len()];
    let mut around = nesting.inner[header];
    while let Some(id) = around {
        cut[id] = true;
        around = nesting.parent[id];
    }
    let reach = |lists: &Adjacency, forwards: bool| {
        let mut seen = vec![false; graph.nodes.len()];
        let mut work = vec![header];
        while let Some(v) = work.pop() {
            for &e in &lists[v] {
                let next = if forwards { graph.edges[e].to } else { graph.edges[e].from };
                if !structure.back_of[e].is_some_and(|id| cut[id]) && !seen[next] {
                    seen[next] = true;
                    work.push(next);
                }
            }
        }
        seen
    };
    let (behind, before) = (reach(&structure.out, true), reach(&structure.into, false));
    let nodes: Vec<NodeId> = (0..graph.nodes.len()).filter(|&v| behind[v] && before[v]).collect();
    nodes.contains(&header).then_some(nodes)
}

fn region_row(
    model: &Model,
    structure: &Structure,
    header: NodeId,
    max: u64,
    region: Vec<NodeId>,
) -> LoopRow {
    let graph = &model.graph;
    let mut inside = vec![false; graph.nodes.len()];
    for &v in &region {
        inside[v] = true;
    }
    let (mut back, mut entries) = (Vec::new(), Vec::new());
    for (e, edge) in graph.edges.iter().enumerate().filter(|(e, _)| structure.useful_edge[*e]) {
        match (inside[edge.from], inside[edge.to]) {
            (true, true) if edge.to == header => back.push(e),
            (false, true) => entries.push(e),
            _ => {}
        }
    }
    LoopRow { header, back, entries, starts_inside: inside[graph.entry], max, region: Some(region) }
}

fn fact_row(model: &Model, structure: &Structure, fact: &Fact) -> FactRow {
    let mut limit = i128::from(fact.limit);
    let mut terms: Vec<(EdgeId, i128)> = Vec::new();
    for &(factor, count) in &fact.terms {
        let factor = i128::from(factor);
        match count {
            Count::Edge(e) if structure.useful_edge[e] => terms.push((e, factor)),
            Count::Node(v) if structure.useful_node[v] => {
                terms.extend(structure.into[v].iter().map(|&e| (e, factor)));
                if v == model.graph.entry {
                    limit -= factor;
                }
            }
            _ => {}
        }
    }
    terms.sort_by_key(|&(e, _)| e);
    terms.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    terms.retain(|&(_, factor)| factor != 0);
    FactRow { name: fact.name.clone(), terms, limit }
}

fn fact_limits(model: &Model, structure: &Structure) -> Vec<Option<u64>> {
    let mut limits: Vec<Option<u64>> = vec![None; model.graph.edges.len()];
    let mut lower = |e: EdgeId, limit: u64| limits[e] = Some(limits[e].map_or(limit, |l| l.min(limit)));
    for fact in &model.facts {
        if fact.terms.iter().any(|&(factor, _)| factor < 0) {
            continue;
        }
        let total = u64::try_from(fact.limit).unwrap_or(0);
        for &(factor, count) in &fact.terms {
            let Some(limit) = total.checked_div(factor.unsigned_abs()) else { continue };
            match count {
                Count::Edge(e) if structure.useful_edge[e] => lower(e, limit),
                Count::Node(v) => structure.into[v].iter().for_each(|&e| lower(e, limit)),
                Count::Edge(_) => {}
            }
        }
    }
    limits
}
