//! The worst execution of a small model by trying all of them: slow, naive and for tests only, so that the solvers
//! have something simple to agree with (design "Worst-case execution time analysis", pipeline step 4).

use std::collections::BTreeMap;

use thiserror::Error;

use crate::graph::{Count, EdgeId, Model, NodeId};

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BruteError {
    #[error("more than {0} states; hint: try a smaller model")]
    TooLarge(usize),
    #[error("node `{0}` can be reached again without any bound counting it")]
    Endless(String),
}

/// A loop as its definition says: nodes inside, header, bound.
struct Around {
    header: NodeId,
    max: u64,
    inside: Vec<bool>,
    back: Vec<bool>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    node: NodeId,
    /// Per loop, back edges taken since it was entered.
    taken: Vec<u64>,
    /// Per fact, Σ factor · count so far.
    used: Vec<i128>,
}

/// Cycles of the worst execution that respects bounds per entry and all facts; `None` if there is none.
pub fn worst(model: &Model, states: usize) -> Result<Option<u64>, BruteError> {
    let graph = &model.graph;
    let loops = loops(model);
    // Parts that never come to the exit are no part of an execution.
    let ends = reach(model, &[graph.exit], false, |_| true);
    let mut outgoing = graph.outgoing();
    outgoing.iter_mut().for_each(|list| list.retain(|&e| ends[graph.edges[e].to]));
    let mut start =
        State { node: graph.entry, taken: vec![0; loops.len()], used: vec![0; model.facts.len()] };
    count(model, &mut start, Count::Node(graph.entry));
    // Best cost to the exit of each finished state; open states are marked.
    let mut known: BTreeMap<State, Option<Option<u64>>> = BTreeMap::new();
    known.insert(start.clone(), None);
    let mut stack: Vec<(State, usize, Option<u64>)> = vec![(start.clone(), 0, at_exit(model, &start))];
    while let Some((state, next, best)) = stack.last_mut() {
        let Some(&e) = outgoing[state.node].get(*next) else {
            let Some((state, _, best)) = stack.pop() else { break };
            known.insert(state, Some(best));
            continue;
        };
        let Some(after) = step(model, &loops, state, e) else {
            *next += 1;
            continue;
        };
        match known.get(&after) {
            Some(Some(rest)) => {
                *next += 1;
                let step = graph.edges[e].cost.saturating_add(graph.nodes[after.node].cost);
                *best = (*best).max(rest.map(|rest| rest.saturating_add(step)));
            }
            Some(None) => return Err(BruteError::Endless(graph.nodes[after.node].name.clone())),
            None => {
                if known.len() >= states {
                    return Err(BruteError::TooLarge(states));
                }
                known.insert(after.clone(), None);
                let best = at_exit(model, &after);
                stack.push((after, 0, best));
            }
        }
    }
    let rest = known.get(&start).copied().flatten().flatten();
    Ok(rest.map(|rest| rest.saturating_add(graph.nodes[graph.entry].cost)))
}

fn at_exit(model: &Model, state: &State) -> Option<u64> {
    let facts = model.facts.iter().zip(&state.used).all(|(fact, used)| *used <= i128::from(fact.limit));
    (state.node == model.graph.exit && facts).then_some(0)
}

/// The state behind edge `e`, unless a loop bound or a fact forbids it.
fn step(model: &Model, loops: &[Around], state: &State, e: EdgeId) -> Option<State> {
    let edge = model.graph.edges[e];
    let mut after = state.clone();
    after.node = edge.to;
    for (one, taken) in loops.iter().zip(&mut after.taken) {
        if one.back[e] {
            *taken += 1;
            if *taken > one.max {
                return None;
            }
        } else if !one.inside[edge.to] || !one.inside[edge.from] {
            *taken = 0;
        }
    }
    count(model, &mut after, Count::Edge(e));
    count(model, &mut after, Count::Node(edge.to));
    for (fact, used) in model.facts.iter().zip(&after.used) {
        if *used > i128::from(fact.limit) && fact.terms.iter().all(|(factor, _)| *factor >= 0) {
            return None;
        }
    }
    Some(after)
}

fn count(model: &Model, state: &mut State, what: Count) {
    for (fact, used) in model.facts.iter().zip(&mut state.used) {
        for (factor, _) in fact.terms.iter().filter(|(_, c)| *c == what) {
            *used += i128::from(*factor);
        }
    }
}

/// Nodes reachable from `start` (itself included) by edges that `open` lets pass.
fn reach(model: &Model, start: &[NodeId], forwards: bool, open: impl Fn(EdgeId) -> bool) -> Vec<bool> {
    let mut seen = vec![false; model.graph.nodes.len()];
    for &v in start {
        seen[v] = true;
    }
    loop {
        let mut changed = false;
        for (_, edge) in model.graph.edges.iter().enumerate().filter(|(e, _)| open(*e)) {
            let (a, b) = if forwards { (edge.from, edge.to) } else { (edge.to, edge.from) };
            if seen[a] && !seen[b] {
                seen[b] = true;
                changed = true;
            }
        }
        if !changed {
            return seen;
        }
    }
}

fn loops(model: &Model) -> Vec<Around> {
    let edges = &model.graph.edges;
    let reachable = reach(model, &[model.graph.entry], true, |_| true);
    let mut natural = Vec::new();
    for header in 0..model.graph.nodes.len() {
        let avoiding = match header == model.graph.entry {
            true => vec![false; model.graph.nodes.len()],
            false => reach(model, &[model.graph.entry], true, |e| edges[e].to != header),
        };
        let back: Vec<bool> = edges
            .iter()
            .map(|e| e.to == header && reachable[header] && reachable[e.from] && !avoiding[e.from])
            .collect();
        let latches: Vec<NodeId> =
            edges.iter().zip(&back).filter(|(_, back)| **back).map(|(e, _)| e.from).collect();
        if !latches.is_empty() {
            // Back from the latches, but not through the header.
            let mut inside = reach(model, &latches, false, |e| edges[e].to != header);
            inside[header] = true;
            natural.push(Around { header, max: u64::MAX, inside, back });
        }
    }
    let mut found = Vec::new();
    for bound in &model.bounds {
        let around = match natural.iter().find(|n| n.header == bound.header) {
            Some(n) => (n.inside.clone(), n.back.clone()),
            None => region(model, &natural, bound.header),
        };
        found.push(Around { header: bound.header, max: bound.max, inside: around.0, back: around.1 });
    }
    found
}

/// A region with several entries: what lies on cycles through `header` while loops around it do not go round.
fn region(model: &Model, natural: &[Around], header: NodeId) -> (Vec<bool>, Vec<bool>) {
    let edges = &model.graph.edges;
    let open = |e: EdgeId| !natural.iter().any(|n| n.inside[header] && n.back[e]);
    let behind = reach(model, &[header], true, open);
    let before = reach(model, &[header], false, open);
    let inside: Vec<bool> = behind.iter().zip(&before).map(|(a, b)| *a && *b).collect();
    let back = edges.iter().map(|e| e.to == header && inside[e.from]).collect();
    (inside, back)
}
