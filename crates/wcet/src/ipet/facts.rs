//! Bounds of reducible graphs with further facts (design "Worst-case execution time analysis", pipeline step 4).
//! A price per fact turns them into a plain longest path, which the structural solver proves exactly; only the prices
//! come from a float solver, over the executions seen so far (Kelley's cutting planes). So 100k blocks are no problem.

use super::certificate::{Multipliers, SCALE, Whole};
use super::error::IpetError;
use super::lp::{Answer, LinearProgram, Relation};
use super::rows::Rows;
use super::solve::{Structural, Worst};

/// Enough for dozens of facts; what is found until then is a bound anyway.
const MAX_ROUNDS: usize = 300;
/// In cycles: closer to the optimum than this is not worth another round.
const GAP: f64 = 1e-4;

/// In times of the worst execution, per unit of a fact: beyond this, facts contradict each other.
const LARGEST_PRICE: f64 = 1e3;

/// An execution the structural solver found for some prices.
struct Execution {
    prices: Vec<i128>,
    cost: i128,
    /// Per fact, Σ factor · count.
    used: Vec<i128>,
}

/// The best prices found and their proof.
pub struct Priced {
    /// The certified value in units of 2⁻²⁰.
    pub value: i128,
    pub y: Multipliers,
    /// Counts of edges that may be a worst execution, best guess first; the caller checks.
    pub candidates: Vec<Vec<u64>>,
}

struct Search<'a> {
    structural: &'a Structural<'a>,
    rows: &'a Rows,
    seen: Vec<Execution>,
    best: Option<(i128, Worst, Vec<i128>)>,
}

pub fn solve(structural: &Structural, rows: &Rows) -> Result<Priced, IpetError> {
    let mut search = Search { structural, rows, seen: Vec::new(), best: None };
    let mut prices = vec![0_i128; rows.facts.len()];
    search.visit(&prices)?;
    for _ in 0..MAX_ROUNDS {
        let Some((least, next)) = search.propose() else { break };
        let best = search.best.as_ref().map_or(f64::INFINITY, |b| b.0 as f64 / SCALE as f64);
        if next == prices || best - least < GAP {
            break;
        }
        prices = next;
        match search.visit(&prices) {
            Ok(true) => {}
            // Nothing new, or numbers beyond 128 bits: what is there is a bound.
            Ok(false) | Err(_) => break,
        }
    }
    search.finish()
}

impl Search<'_> {
    /// Edge weights in units of 2⁻²⁰ when facts have these prices.
    fn weight(&self, prices: &[i128]) -> Result<Vec<i128>, IpetError> {
        let too_large = || IpetError::Overflow { what: "a priced time".to_owned() };
        let mut weight: Vec<i128> = self.rows.weight.iter().map(|w| w * SCALE).collect();
        for (row, price) in self.rows.facts.iter().zip(prices) {
            for &(e, factor) in &row.terms {
                let part = factor.checked_mul(*price).ok_or_else(too_large)?;
                weight[e] = weight[e].checked_sub(part).ok_or_else(too_large)?;
            }
        }
        Ok(weight)
    }

    /// Solves for these prices. False when the execution is known already.
    fn visit(&mut self, prices: &[i128]) -> Result<bool, IpetError> {
        let too_large = || IpetError::Overflow { what: "a priced time".to_owned() };
        let worst = self.structural.worst(&self.weight(prices)?)?;
        let mut value = worst.value.checked_add(self.rows.start * SCALE).ok_or_else(too_large)?;
        for (row, price) in self.rows.facts.iter().zip(prices) {
            let part = price.checked_mul(row.limit).ok_or_else(too_large)?;
            value = value.checked_add(part).ok_or_else(too_large)?;
        }
        let add = |sum: i128, (e, factor): (usize, i128)| {
            factor.checked_mul(i128::from(worst.edges[e])).and_then(|part| sum.checked_add(part))
        };
        let mut all = self.rows.weight.iter().copied().enumerate();
        let cost = all.try_fold(self.rows.start, add).ok_or_else(too_large)?;
        let used: Option<Vec<i128>> =
            self.rows.facts.iter().map(|row| row.terms.iter().copied().try_fold(0, add)).collect();
        let used = used.ok_or_else(too_large)?;
        let new = !self.seen.iter().any(|known| known.cost == cost && known.used == used);
        if new {
            self.seen.push(Execution { prices: prices.to_vec(), cost, used });
        }
        if self.best.as_ref().is_none_or(|(known, _, _)| value < *known) {
            self.best = Some((value, worst, prices.to_vec()));
        }
        Ok(new)
    }

    /// Unit of time for the float solver, and unit of each fact.
    fn units(&self) -> (f64, Vec<f64>) {
        let time = self.seen.iter().map(|known| known.cost as f64).fold(1.0, f64::max);
        let size = |f: usize| {
            let limit = self.rows.facts[f].limit as f64;
            self.seen.iter().map(|known| (limit - known.used[f] as f64).abs()).fold(1.0, f64::max)
        };
        (time, (0..self.rows.facts.len()).map(size).collect())
    }

    /// The prices that are best for the executions seen so far, and the value they have for those: a lower limit.
    fn propose(&self) -> Option<(f64, Vec<i128>)> {
        let (time, size) = self.units();
        let mut program = LinearProgram::default();
        let value = program.column(1.0, f64::NEG_INFINITY, f64::INFINITY);
        // A price of many times all time for one unit is beyond any that helps.
        let price: Vec<usize> = size.iter().map(|s| program.column(0.0, 0.0, LARGEST_PRICE * s)).collect();
        for known in &self.seen {
            let mut terms = vec![(value, 1.0)];
            for (f, row) in self.rows.facts.iter().enumerate() {
                let spare = row.limit.saturating_sub(known.used[f]) as f64 / size[f];
                if spare != 0.0 {
                    terms.push((price[f], -spare));
                }
            }
            program.row(terms, Relation::AtLeast, known.cost as f64 / time);
        }
        let Answer::Values(values) = program.solve_microlp() else { return None };
        let scaled = |f: usize| (values[price[f]].max(0.0) * time / size[f] * SCALE as f64).round() as i128;
        Some((values[value] * time, (0..size.len()).map(scaled).collect()))
    }

    /// The mixture of executions that is worst under the facts, rounded to whole counts.
    fn mixture(&self) -> Option<Vec<u64>> {
        let (time, size) = self.units();
        let mut program = LinearProgram::default();
        let share: Vec<usize> =
            self.seen.iter().map(|known| program.column(-(known.cost as f64) / time, 0.0, 1.0)).collect();
        program.row(share.iter().map(|&s| (s, 1.0)).collect(), Relation::Equal, 1.0);
        for (f, row) in self.rows.facts.iter().enumerate() {
            let terms = self.seen.iter().zip(&share).map(|(k, &s)| (s, k.used[f] as f64 / size[f])).collect();
            program.row(terms, Relation::AtMost, row.limit as f64 / size[f]);
        }
        let Answer::Values(values) = program.solve_microlp() else { return None };
        let mut counts = vec![0.0_f64; self.rows.weight.len()];
        for (known, &part) in self.seen.iter().zip(&values).filter(|(_, part)| **part > 1e-9) {
            for (sum, count) in counts.iter_mut().zip(self.edges(known)?) {
                *sum += part * count as f64;
            }
        }
        Some(counts.into_iter().map(|count| count.round() as u64).collect())
    }

    fn edges(&self, known: &Execution) -> Option<Vec<u64>> {
        let weight = self.weight(&known.prices).ok()?;
        self.structural.worst(&weight).ok().map(|worst| worst.edges)
    }

    fn finish(self) -> Result<Priced, IpetError> {
        let allowed = |known: &&Execution| {
            self.rows.facts.iter().zip(&known.used).all(|(row, used)| *used <= row.limit)
        };
        let mut candidates = Vec::new();
        candidates.extend(self.mixture());
        let seen = self.seen.iter().filter(allowed).max_by_key(|known| known.cost);
        candidates.extend(seen.and_then(|known| self.edges(known)));
        let Some((value, worst, prices)) = self.best else {
            return Err(IpetError::Overflow { what: "the bound".to_owned() });
        };
        if value < 0 {
            let blamed = self.rows.facts.iter().zip(&prices).filter(|(_, price)| **price > 0);
            return Err(IpetError::Contradiction {
                facts: blamed.map(|(row, _)| row.name.clone()).collect(),
            });
        }
        candidates.push(worst.edges);
        let whole = |values: Vec<i128>| values.into_iter().map(Whole).collect();
        let y = Multipliers {
            nodes: whole(worst.potential),
            loops: whole(worst.round_trip),
            facts: whole(prices),
        };
        Ok(Priced { value, y, candidates })
    }
}
