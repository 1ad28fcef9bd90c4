//! The whole IPET program as an LP, for graphs the structural solver does not take: irreducible regions, loops that
//! only facts limit (design "Worst-case execution time analysis", pipeline step 4). The dual is solved as its own LP,
//! its solution rounded to 2⁻²⁰ and then evaluated exactly; what the solver says about the optimum is ignored.

use super::certificate::{Multipliers, Rest, SCALE, Whole, rest};
use super::error::IpetError;
use super::limits::limits;
use super::lp::{Answer, LinearProgram, Relation};
use super::rows::Rows;
use super::structure::Structure;
use crate::graph::Model;

pub struct Relaxed {
    /// The certified value in units of 2⁻²⁰.
    pub value: i128,
    pub y: Multipliers,
    /// Per edge how often it can be taken, if the value needs it; else empty.
    pub limits: Vec<Option<Whole>>,
    /// Counts of edges that may be a worst execution.
    pub candidate: Option<Vec<u64>>,
}

pub fn solve(model: &Model, structure: &Structure, rows: &Rows) -> Result<Relaxed, IpetError> {
    let limits = limits(&model.graph, structure, rows);
    let proposal = dual(model, structure, rows)?;
    // A vertex of an IPET dual mostly has whole numbers, which the solver misses by a little.
    let mut best: Option<(i128, bool, Multipliers)> = None;
    for unit in [1, SCALE] {
        let y = proposal.rounded(unit);
        let Ok(rest) = rest(model, rows, &structure.useful_edge, &y) else { continue };
        if let Some(value) = value(&rest, &limits)
            && best.as_ref().is_none_or(|(known, _, _)| value < *known)
        {
            best = Some((value, !rest.edges.is_empty(), y));
        }
    }
    let Some((value, needs_limits, y)) = best else {
        return Err(IpetError::Solver {
            what: "its multipliers could not be made exact".to_owned(),
            hint: "bound every loop, or limit the edges of the irreducible region by facts".to_owned(),
        });
    };
    if value < 0 {
        return Err(contradiction(rows));
    }
    let whole = |limit: &Option<u128>| limit.and_then(|l| i128::try_from(l).ok()).map(Whole);
    Ok(Relaxed {
        value,
        y,
        limits: if needs_limits { limits.iter().map(whole).collect() } else { Vec::new() },
        candidate: primal(model, structure, rows),
    })
}

fn contradiction(rows: &Rows) -> IpetError {
    IpetError::Contradiction { facts: rows.facts.iter().map(|row| row.name.clone()).collect() }
}

/// y·b + Σ rest · limit, if every edge with a rest has a limit.
fn value(rest: &Rest, limits: &[Option<u128>]) -> Option<i128> {
    rest.edges.iter().try_fold(rest.value, |sum, &(e, rest)| {
        let limit = i128::try_from(limits[e]?).ok()?;
        sum.checked_add(rest.checked_mul(limit)?)
    })
}

struct Proposal {
    nodes: Vec<f64>,
    loops: Vec<f64>,
    facts: Vec<f64>,
}

impl Proposal {
    /// Multipliers as multiples of `unit` · 2⁻²⁰, not negative where they must not be.
    fn rounded(&self, unit: i128) -> Multipliers {
        const LARGEST: f64 = (1_u128 << 100) as f64;
        let round = |value: f64| {
            let multiple = (value * (SCALE / unit) as f64).round().clamp(-LARGEST, LARGEST);
            Whole(multiple as i128 * unit)
        };
        let positive = |values: &[f64]| values.iter().map(|v| round(v.max(0.0))).collect();
        Multipliers {
            nodes: self.nodes.iter().map(|v| round(*v)).collect(),
            loops: positive(&self.loops),
            facts: positive(&self.facts),
        }
    }
}

/// min y(entry) − y(exit) + …, with y(from) − y(to) + … ≥ cost for each edge.
fn dual(model: &Model, structure: &Structure, rows: &Rows) -> Result<Proposal, IpetError> {
    let graph = &model.graph;
    let mut program = LinearProgram::default();
    let mut node = vec![None; graph.nodes.len()];
    for &v in structure.order.iter().filter(|&&v| v != graph.exit) {
        let cost = if v == graph.entry { 1.0 } else { 0.0 };
        node[v] = Some(program.column(cost, f64::NEG_INFINITY, f64::INFINITY));
    }
    let mut terms: Vec<Vec<(usize, f64)>> = vec![Vec::new(); graph.edges.len()];
    for (e, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
        terms[e].extend(node[edge.from].map(|c| (c, 1.0)));
        terms[e].extend(node[edge.to].map(|c| (c, -1.0)));
    }
    let mut loops = Vec::new();
    for row in &rows.loops {
        let max = row.max as f64;
        let column = program.column(if row.starts_inside { max } else { 0.0 }, 0.0, f64::INFINITY);
        row.back.iter().for_each(|&e| terms[e].push((column, 1.0)));
        if row.max > 0 {
            row.entries.iter().for_each(|&e| terms[e].push((column, -max)));
        }
        loops.push(column);
    }
    let mut facts = Vec::new();
    for row in &rows.facts {
        let column = program.column(row.limit as f64, 0.0, f64::INFINITY);
        row.terms.iter().for_each(|&(e, factor)| terms[e].push((column, factor as f64)));
        facts.push(column);
    }
    for (e, terms) in terms.into_iter().enumerate().filter(|(e, _)| structure.useful_edge[*e]) {
        program.row(terms, Relation::AtLeast, rows.weight[e] as f64);
    }
    match program.solve() {
        Answer::Values(values) => Ok(Proposal {
            nodes: node.iter().map(|column| column.map_or(0.0, |c| values[c])).collect(),
            loops: loops.iter().map(|&c| values[c]).collect(),
            facts: facts.iter().map(|&c| values[c]).collect(),
        }),
        Answer::Unbounded => Err(contradiction(rows)),
        Answer::Infeasible => Err(IpetError::Solver {
            what: "it sees a cycle without limit".to_owned(),
            hint: "bound every loop, or limit its edges by a fact without negative factors".to_owned(),
        }),
        Answer::Failed(what) => Err(IpetError::Solver {
            what,
            hint: "build with the feature `highs`, or use fewer or smaller facts".to_owned(),
        }),
    }
}

/// Counts of the LP's optimum, rounded to whole numbers.
fn primal(model: &Model, structure: &Structure, rows: &Rows) -> Option<Vec<u64>> {
    let graph = &model.graph;
    let mut program = LinearProgram::default();
    let mut column = vec![usize::MAX; graph.edges.len()];
    for e in (0..graph.edges.len()).filter(|&e| structure.useful_edge[e]) {
        column[e] = program.column(-(rows.weight[e] as f64), 0.0, f64::INFINITY);
    }
    let plain = |e: &usize| graph.edges[*e].from != graph.edges[*e].to;
    for &v in structure.order.iter().filter(|&&v| v != graph.exit) {
        let out = structure.out[v].iter().filter(|e| plain(e)).map(|&e| (column[e], 1.0));
        let into = structure.into[v].iter().filter(|e| plain(e)).map(|&e| (column[e], -1.0));
        let right = if v == graph.entry { 1.0 } else { 0.0 };
        program.row(out.chain(into).collect(), Relation::Equal, right);
    }
    for row in &rows.loops {
        let max = row.max as f64;
        let back = row.back.iter().map(|&e| (column[e], 1.0));
        let entries = row.entries.iter().filter(|_| row.max > 0).map(|&e| (column[e], -max));
        let right = if row.starts_inside { max } else { 0.0 };
        program.row(back.chain(entries).collect(), Relation::AtMost, right);
    }
    for row in &rows.facts {
        let terms = row.terms.iter().map(|&(e, factor)| (column[e], factor as f64)).collect();
        program.row(terms, Relation::AtMost, row.limit as f64);
    }
    let Answer::Values(values) = program.solve() else { return None };
    let count = |&c: &usize| values.get(c).map_or(0, |v| v.round() as u64);
    Some(column.iter().map(count).collect())
}
