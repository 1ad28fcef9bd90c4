//! The bound of one wave from a `Model`, with a certificate (design "Worst-case execution time analysis", pipeline
//! step 4; THESIS 5.2). Reducible graphs are solved exactly by structure; facts and irreducible regions by LP, of
//! which only what the certificate proves in integers is reported.

pub mod brute;
pub mod certificate;
pub mod dump;
pub mod error;
mod facts;
mod limits;
mod lp;
mod relax;
mod rows;
pub mod solve;
pub mod structure;

use self::certificate::{Multipliers, SCALE, Whole, floor_cycles};
use self::rows::Rows;
use self::solve::Structural;
use self::structure::{Structure, check_indices};
use crate::graph::{EdgeId, Model, NodeId};

pub use self::certificate::Certificate;
pub use self::dump::lp_text;
pub use self::error::IpetError;

/// How a bound was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Longest path by structure: exact.
    Structure,
    /// Longest path by structure with a price for each fact: the optimum of the LP.
    Prices,
    /// The whole LP by a solver.
    Program,
}

/// A certified bound of one wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub cycles: u64,
    /// How often each node and edge runs in one execution. If `reached`, it is one that takes exactly `cycles` and
    /// obeys all bounds and facts; otherwise the worst one known, which may break facts.
    pub nodes: Vec<u64>,
    pub edges: Vec<u64>,
    pub reached: bool,
    pub method: Method,
    pub certificate: Certificate,
}

/// The certified bound of a model: by structure if it can be, else by LP.
pub fn bound(model: &Model) -> Result<Bound, IpetError> {
    check_indices(model)?;
    let structure = Structure::new(&model.graph)?;
    let rows = Rows::new(model, &structure)?;
    if structure.irreducible.is_some() || rows.loops.len() != structure.loops.len() {
        rows.check_cycles(model, &structure)?;
        return by_program(model, &structure, &rows);
    }
    let nesting = structure.nesting(&model.graph);
    let max: Vec<u64> = rows.loops.iter().map(|row| row.max).collect();
    let structural = Structural { graph: &model.graph, structure: &structure, nesting: &nesting, max: &max };
    if rows.facts.is_empty() {
        by_structure(model, &rows, &structural)
    } else {
        by_prices(model, &structure, &rows, &structural)
    }
}

/// The certified bound of a model by LP, also when the structural solver could do it: for comparison.
pub fn bound_by_program(model: &Model) -> Result<Bound, IpetError> {
    check_indices(model)?;
    let structure = Structure::new(&model.graph)?;
    let rows = Rows::new(model, &structure)?;
    rows.check_cycles(model, &structure)?;
    by_program(model, &structure, &rows)
}

fn by_structure(model: &Model, rows: &Rows, structural: &Structural) -> Result<Bound, IpetError> {
    let worst = structural.worst(&rows.weight)?;
    let cycles = worst.value.checked_add(rows.start).and_then(|value| u64::try_from(value).ok());
    let cycles = cycles.ok_or_else(|| IpetError::Overflow { what: "the bound".to_owned() })?;
    let scaled = |values: &[i128]| -> Result<Vec<Whole>, IpetError> {
        let scaled: Option<Vec<Whole>> = values.iter().map(|v| v.checked_mul(SCALE).map(Whole)).collect();
        scaled.ok_or_else(|| IpetError::Overflow { what: "the time of a path".to_owned() })
    };
    let y = Multipliers {
        nodes: scaled(&worst.potential)?,
        loops: scaled(&worst.round_trip)?,
        facts: Vec::new(),
    };
    let certificate = Certificate::new(model, rows, y, Vec::new(), cycles);
    let nodes = node_counts(model, &worst.edges)?;
    Ok(Bound { cycles, nodes, edges: worst.edges, reached: true, method: Method::Structure, certificate })
}

fn by_prices(
    model: &Model,
    structure: &Structure,
    rows: &Rows,
    structural: &Structural,
) -> Result<Bound, IpetError> {
    let priced = facts::solve(structural, rows)?;
    let cycles = floor_cycles(priced.value)?;
    let certificate = Certificate::new(model, rows, priced.y, Vec::new(), cycles);
    finish(model, structure, rows, priced.candidates, Method::Prices, certificate, cycles)
}

fn by_program(model: &Model, structure: &Structure, rows: &Rows) -> Result<Bound, IpetError> {
    let relaxed = relax::solve(model, structure, rows)?;
    let cycles = floor_cycles(relaxed.value)?;
    let certificate = Certificate::new(model, rows, relaxed.y, relaxed.limits, cycles);
    let candidates = relaxed.candidate.into_iter().collect();
    finish(model, structure, rows, candidates, Method::Program, certificate, cycles)
}

/// Takes the first candidate that is an execution under all rows, or else the first that is an execution at all.
fn finish(
    model: &Model,
    structure: &Structure,
    rows: &Rows,
    candidates: Vec<Vec<u64>>,
    method: Method,
    certificate: Certificate,
    cycles: u64,
) -> Result<Bound, IpetError> {
    let obeying = candidates.iter().find(|edges| is_execution(model, structure, edges) && obeys(rows, edges));
    let edges = match obeying.or_else(|| candidates.iter().find(|c| is_execution(model, structure, c))) {
        Some(edges) => edges.clone(),
        None => some_way(model, structure),
    };
    let reached = obeying.is_some() && cost(rows, &edges) == Some(i128::from(cycles));
    let nodes = node_counts(model, &edges)?;
    Ok(Bound { cycles, nodes, edges, reached, method, certificate })
}

fn node_counts(model: &Model, edges: &[u64]) -> Result<Vec<u64>, IpetError> {
    let mut nodes = vec![0_u64; model.graph.nodes.len()];
    nodes[model.graph.entry] = 1;
    for (edge, count) in model.graph.edges.iter().zip(edges) {
        nodes[edge.to] = nodes[edge.to]
            .checked_add(*count)
            .ok_or_else(|| IpetError::Overflow { what: "the count of a node".to_owned() })?;
    }
    Ok(nodes)
}

/// Cycles of an execution with these counts.
fn cost(rows: &Rows, edges: &[u64]) -> Option<i128> {
    rows.weight
        .iter()
        .zip(edges)
        .try_fold(rows.start, |sum, (weight, count)| sum.checked_add(weight.checked_mul(i128::from(*count))?))
}

/// Whether some way from entry to exit takes each edge this often: flow is kept, and it hangs together.
fn is_execution(model: &Model, structure: &Structure, edges: &[u64]) -> bool {
    let graph = &model.graph;
    let mut balance = vec![0_i128; graph.nodes.len()];
    balance[graph.entry] += 1;
    balance[graph.exit] -= 1;
    for (edge, count) in graph.edges.iter().zip(edges) {
        balance[edge.from] -= i128::from(*count);
        balance[edge.to] += i128::from(*count);
    }
    let mut seen = vec![false; graph.nodes.len()];
    seen[graph.entry] = true;
    let mut work = vec![graph.entry];
    while let Some(v) = work.pop() {
        for to in structure.out[v].iter().filter(|&&e| edges[e] > 0).map(|&e| graph.edges[e].to) {
            if !seen[to] {
                seen[to] = true;
                work.push(to);
            }
        }
    }
    let connected = graph.edges.iter().zip(edges).all(|(edge, count)| *count == 0 || seen[edge.from]);
    connected && balance.iter().all(|b| *b == 0)
}

/// Whether these counts satisfy loop bounds and facts.
fn obeys(rows: &Rows, edges: &[u64]) -> bool {
    let sum = |list: &[EdgeId]| list.iter().map(|&e| i128::from(edges[e])).sum::<i128>();
    let loops = rows.loops.iter().all(|row| {
        let entered = sum(&row.entries) + i128::from(row.starts_inside);
        entered.checked_mul(i128::from(row.max)).is_some_and(|most| sum(&row.back) <= most)
    });
    let facts = rows.facts.iter().all(|row| {
        let used = row.terms.iter().try_fold(0_i128, |used, &(e, factor)| {
            used.checked_add(factor.checked_mul(i128::from(edges[e]))?)
        });
        used.is_some_and(|used| used <= row.limit)
    });
    loops && facts
}

/// Any way from entry to exit.
fn some_way(model: &Model, structure: &Structure) -> Vec<u64> {
    let graph = &model.graph;
    let mut edges = vec![0; graph.edges.len()];
    let mut came_by: Vec<Option<EdgeId>> = vec![None; graph.nodes.len()];
    let mut work: Vec<NodeId> = vec![graph.entry];
    while let Some(v) = work.pop() {
        for &e in &structure.out[v] {
            let to = graph.edges[e].to;
            if to != graph.entry && came_by[to].is_none() {
                came_by[to] = Some(e);
                work.push(to);
            }
        }
    }
    let mut v = graph.exit;
    while let Some(e) = came_by[v] {
        edges[e] = 1;
        v = graph.edges[e].from;
    }
    edges
}
