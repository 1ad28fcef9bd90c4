//! The value a certificate proves, in whole numbers of 2⁻²⁰ cycles: y·b + Σ max(0, c − Aᵀy) · u. For any y that is
//! not negative on rows with ≤ this is an upper bound, so nobody has to ask where y comes from.

use crate::claim::What;
use crate::error::CheckError;
use crate::flow::Flow;

pub const SCALE: i128 = 1 << 20;

/// Sums in which any overflow is remembered.
struct Sum(Option<i128>);

impl Sum {
    fn add(&mut self, factor: i128, value: i128) {
        self.0 = self.0.and_then(|sum| sum.checked_add(factor.checked_mul(value)?));
    }
}

pub fn evaluate(flow: &Flow, natural: &[bool]) -> Result<i128, CheckError> {
    let claim = flow.claim;
    let mut total = Sum(Some(0));
    // The first pass of the entry, which no edge pays, and the conservation rows.
    total.add(SCALE, claim.node_cost[claim.entry]);
    total.add(1, claim.node_y[claim.entry]);
    total.add(-1, claim.node_y[claim.exit]);
    let mut rest: Vec<Sum> = Vec::with_capacity(claim.edges.len());
    for link in &claim.edges {
        let mut sum = Sum(Some(0));
        sum.add(SCALE, link.cost);
        sum.add(SCALE, claim.node_cost[link.to]);
        sum.add(-1, claim.node_y[link.from]);
        sum.add(1, claim.node_y[link.to]);
        rest.push(sum);
    }
    // Σ back − max · Σ entries ≤ max if the execution starts inside, else 0.
    for (one, &y) in claim.loops.iter().zip(&claim.loop_y) {
        one.back.iter().for_each(|&e| rest[e].add(-1, y));
        one.entries.iter().for_each(|&e| rest[e].add(one.max, y));
        if flow.starts_inside(one.header, natural) {
            total.add(one.max, y);
        }
    }
    // Σ factor · count ≤ limit; a node is passed once per edge into it, the entry once more.
    for (fact, &y) in claim.facts.iter().zip(&claim.fact_y) {
        total.add(fact.limit, y);
        for &(factor, what) in &fact.terms {
            // The analyser's sums and ours may differ in order: go by the price of the term.
            let price = factor.checked_mul(y).ok_or(CheckError::Overflow("the price of a fact"))?;
            match what {
                What::Edge(e) => rest[e].add(-1, price),
                What::Node(v) => {
                    flow.into[v].iter().for_each(|&e| rest[e].add(-1, price));
                    if v == claim.entry {
                        total.add(-1, price);
                    }
                }
            }
        }
    }
    for (edge, sum) in rest.iter().enumerate().filter(|(e, _)| flow.edge_runs(*e)) {
        let left = sum.0.ok_or(CheckError::Overflow("the rest of an edge"))?;
        if left > 0 {
            let limit = claim.limits.get(edge).copied().flatten().ok_or(CheckError::NoLimit { edge })?;
            total.add(left, limit);
        }
    }
    total.0.ok_or(CheckError::Overflow("the value"))
}
