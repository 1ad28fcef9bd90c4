//! From measured times to the model of a wave. Ways that were never taken are an error unless the user says what they
//! cost; a side of a branch that no run skipped is charged the jump past it (THESIS 5.2.4, repaired: skips.rs).

use super::never::Never;
use super::plan::{END, Plan, PlanEdge, START};
use super::times::Times;
use crate::graph::{Count, Fact, Graph, LoopBound, Model, Region};
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{Counted, LinearFact};
use wb_isa::{NO_PC, Pc};

/// What to do about ways that no run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmeasured {
    #[default]
    Error,
    /// They are never taken: an assumption of the bound.
    Exclude,
    /// They take at most this many cycles from one point to the next: an assumption too.
    Cost(u64),
}

/// A way that no run took although its start was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The last instruction before it parts from what was seen, and the first one on it ([`NO_PC`]: the end).
    pub from: Pc,
    pub to: Pc,
}

/// How much of the kernel was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Ways between points, measured and all.
    pub edges: (usize, usize),
    /// Steps from one piece to the next, taken and all.
    pub steps: (usize, usize),
    /// Sides that were never skipped; the ways through them are charged the jump past them.
    pub never_skipped: Vec<Gap>,
    pub gaps: Vec<Gap>,
}

/// A model with where its parts come from. Nodes are those of the plan.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub model: Model,
    /// Plan edge of each edge.
    pub edge_of: Vec<usize>,
    /// What each edge is charged for jumps past sides that no run skipped; part of its cost.
    pub jumps: Vec<u64>,
    /// Sides that were not skipped in every way there is: the ways through them bound those past them.
    pub beside: usize,
    /// Regions whose branch, join and sides are all in the graph, with their place in [`Plan::regions`].
    pub regions: Vec<(usize, Region)>,
    pub coverage: Coverage,
    /// Edges that cost what the user said.
    pub accepted: usize,
}

impl Plan {
    /// What the runs did not show.
    pub fn coverage(&self, times: &Times, never: &Never) -> Coverage {
        let reached = self.reached(times);
        self.coverage_with(times, &reached, &self.unskipped(times, &reached, never), never)
    }

    fn coverage_with(
        &self,
        times: &Times,
        reached: &BTreeSet<usize>,
        unskipped: &BTreeSet<(usize, usize)>,
        never: &Never,
    ) -> Coverage {
        let edges = (times.edges.iter().filter(|e| e.count > 0).count(), self.edges.len());
        let mut found = Coverage { edges, ..Coverage::default() };
        for (p, piece) in self.pieces.iter().enumerate() {
            for (i, &s) in piece.succs.iter().enumerate() {
                if times.taken[p][i] > 0 {
                    found.steps.0 += 1;
                } else if never.steps.contains(&(p, s)) {
                    continue;
                }
                found.steps.1 += 1;
                if times.taken[p][i] == 0 && reached.contains(&p) {
                    let gap = Gap { from: piece.last, to: self.pieces[s].first };
                    if unskipped.contains(&(p, s)) {
                        found.never_skipped.push(gap);
                    } else {
                        found.gaps.push(gap);
                    }
                }
            }
        }
        // Every step may be known, and still not every way through several of them.
        for (e, edge) in self.edges.iter().enumerate() {
            if times.edges[e].count > 0 || edge.from == START {
                continue;
            }
            let Some(p) = self.piece_at(self.nodes[edge.from]).filter(|p| reached.contains(p)) else {
                continue;
            };
            if edge.via.is_some_and(|v| unskipped.contains(&(p, v))) || !self.possible(e, never) {
                continue;
            }
            let to = self.nodes[edge.to];
            let from = self.pieces[p].last;
            let known = |g: &Gap| g.from == from || edge.via.is_some_and(|v| self.leads(v, g.from));
            if !found.gaps.iter().chain(&found.never_skipped).any(known) {
                found.gaps.push(Gap { from, to });
            }
        }
        found.gaps.sort();
        found.gaps.dedup();
        found
    }

    /// The step out of pc `from` lies on a way that begins with `piece`.
    fn leads(&self, piece: usize, from: Pc) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![piece];
        while let Some(p) = work.pop() {
            if !seen.insert(p) {
                continue;
            }
            if self.pieces[p].last == from {
                return true;
            }
            if self.pieces[p].node.is_none() {
                work.extend(&self.pieces[p].succs);
            }
        }
        false
    }

    /// Blocks that a way of this edge can pass, that of its first point included.
    pub fn blocks_of(&self, edge: usize) -> Vec<usize> {
        let own = self.piece_at(self.nodes[self.edges[edge].from]);
        let pieces = self.pieces_of(edge).into_iter().chain(own);
        let blocks: BTreeSet<usize> = pieces.map(|p| self.pieces[p].block).collect();
        blocks.into_iter().collect()
    }

    /// Steps from block to block that a way of this edge can take, the one to its last point included.
    pub fn steps_of(&self, edge: usize) -> BTreeSet<(usize, usize)> {
        let PlanEdge { from, via, to } = self.edges[edge];
        let between = self.pieces_of(edge);
        let mut steps = BTreeSet::new();
        let mut step = |p: usize, s: usize| {
            // Within a block pieces follow each other; a step to another block, or round, begins at its end.
            if s != p + 1 || self.pieces[p].block != self.pieces[s].block {
                steps.insert((self.pieces[p].block, self.pieces[s].block));
            }
        };
        if let (Some(own), Some(via)) = (self.piece_at(self.nodes[from]), via) {
            step(own, via);
        }
        for &p in &between {
            for &s in &self.pieces[p].succs {
                if between.contains(&s) || self.pieces[s].node == Some(to) {
                    step(p, s);
                }
            }
        }
        steps
    }

    /// Pieces between the two points of an edge.
    pub(super) fn pieces_of(&self, edge: usize) -> BTreeSet<usize> {
        let PlanEdge { via, to, .. } = self.edges[edge];
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut work: Vec<usize> = via.into_iter().collect();
        while let Some(p) = work.pop() {
            if self.pieces[p].node.is_none() && seen.insert(p) {
                work.extend(&self.pieces[p].succs);
            }
        }
        // Only what leads to the other end.
        let mut useful: BTreeSet<usize> = BTreeSet::new();
        loop {
            let size = useful.len();
            for &p in &seen {
                let piece = &self.pieces[p];
                let hits = |s: &usize| useful.contains(s) || self.pieces[*s].node == Some(to);
                if piece.ends && to == END || piece.succs.iter().any(hits) {
                    useful.insert(p);
                }
            }
            if useful.len() == size {
                return useful;
            }
        }
    }

    fn reached(&self, times: &Times) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let taken = self.edges.iter().zip(&times.edges).filter(|(_, t)| t.count > 0);
        let arrived: BTreeSet<usize> = taken.map(|(e, _)| e.to).collect();
        for (p, piece) in self.pieces.iter().enumerate() {
            for (i, &s) in piece.succs.iter().enumerate() {
                if times.taken[p][i] > 0 {
                    reached.extend([p, s]);
                }
            }
            if piece.node.is_some_and(|n| arrived.contains(&n)) {
                reached.insert(p);
            }
        }
        reached
    }

    /// The graph of what was measured, with `rounds` as limits of loops by their header's pc. Gaps are in the
    /// coverage: whoever does not accept them must look there.
    /// Linear facts count blocks and loops that are points. `jump` is what a taken jump costs at most beyond going
    /// straight on: a side that no run skipped costs that much more. Steps of `never` are not there.
    pub fn model(
        &self,
        times: &Times,
        rounds: &BTreeMap<Pc, u64>,
        facts: &[LinearFact],
        unmeasured: Unmeasured,
        jump: u64,
        never: &Never,
    ) -> Measured {
        let reached = self.reached(times);
        let mut unskipped = self.unskipped(times, &reached, never);
        unskipped.retain(|&step| !self.counted_beside(step, facts));
        let mut coverage = self.coverage_with(times, &reached, &unskipped, never);
        // A loop that never goes round has no way back.
        coverage.gaps.retain(|g| {
            !self.loops.iter().any(|l| rounds.get(&l.header) == Some(&0) && self.goes_back(l, g))
        });
        let mut graph = Graph { entry: START, exit: END, ..Graph::default() };
        for (n, &pc) in self.nodes.iter().enumerate() {
            let name = match n {
                START => "start".to_owned(),
                END => "end".to_owned(),
                _ => format!("pc{pc}"),
            };
            graph.node(name, 0);
        }
        let mut measured = Measured { coverage, beside: unskipped.len(), ..Measured::default() };
        let mut at = vec![None; self.edges.len()];
        // Ways past a side that the ways through it bound.
        let beside = |e: usize| {
            let step = self.piece_at(self.nodes[self.edges[e].from]).zip(self.edges[e].via);
            step.is_some_and(|step| unskipped.contains(&step))
        };
        for (e, edge) in self.edges.iter().enumerate() {
            let seen = times.edges[e].count > 0;
            let cost = match unmeasured {
                _ if seen && !self.has_gap(edge.via, &measured.coverage) => times.edges[e].max,
                Unmeasured::Cost(c) if seen || !beside(e) && self.possible(e, never) => {
                    measured.accepted += 1;
                    c.max(times.edges[e].max)
                }
                _ if seen => times.edges[e].max,
                _ => continue,
            };
            let jumps = self.passes(e, &unskipped, rounds).saturating_mul(jump);
            at[e] = Some(graph.edge(edge.from, edge.to, cost.saturating_add(jumps)));
            measured.edge_of.push(e);
            measured.jumps.push(jumps);
        }
        let kept = |list: &[usize]| -> Vec<usize> { list.iter().filter_map(|&e| at[e]).collect() };
        for (i, r) in self.regions.iter().enumerate() {
            let (first, second) = (kept(&r.first), kept(&r.second));
            let region = Region { branch: r.node, join: r.join, first, second, split_cost: 0, merge_cost: 0 };
            measured.regions.push((i, region));
        }
        let mut bounds = Vec::new();
        for l in &self.loops {
            // Only loops that are still there need a limit, and may have one.
            let again = |e: &crate::graph::Edge| Some(e.to) == l.node && self.inside(l, e.from);
            if let (Some(header), Some(&max)) = (l.node, rounds.get(&l.header))
                && graph.edges.iter().any(again)
            {
                bounds.push(LoopBound { header, max });
            }
        }
        let facts = facts.iter().map(|f| self.fact(f, &graph)).collect();
        measured.model = Model { graph, bounds, facts };
        measured
    }

    /// The way goes back to the loop's header.
    fn goes_back(&self, l: &super::PlanLoop, gap: &Gap) -> bool {
        let from = self.pieces.iter().position(|p| p.last == gap.from);
        gap.to == l.header && from.is_some_and(|p| l.pieces.contains(&p))
    }

    /// What is not in the graph happens zero times.
    pub(super) fn fact(&self, fact: &LinearFact, graph: &Graph) -> Fact {
        let mut terms = Vec::new();
        for &(factor, counted) in &fact.terms {
            match counted {
                Counted::Block(pc) => terms.extend(self.node_at(pc).map(|n| (factor, Count::Node(n)))),
                Counted::Rounds(header) => {
                    let Some(l) = self.loops.iter().find(|l| l.header == header) else { continue };
                    let turns = graph
                        .edges
                        .iter()
                        .enumerate()
                        .filter(|(_, e)| Some(e.to) == l.node && self.inside(l, e.from));
                    terms.extend(turns.map(|(e, _)| (factor, Count::Edge(e))));
                }
            }
        }
        Fact { name: fact.name.clone(), terms, limit: fact.limit }
    }

    /// A loop that goes round in the graph needs a limit: those that have none.
    pub fn unbounded(&self, measured: &Measured) -> Vec<Pc> {
        let bounded: BTreeSet<usize> = measured.model.bounds.iter().map(|b| b.header).collect();
        let again = |l: &&super::PlanLoop| {
            measured.model.graph.edges.iter().any(|e| Some(e.to) == l.node && self.inside(l, e.from))
        };
        let open = |l: &&super::PlanLoop| l.node.is_some_and(|n| !bounded.contains(&n));
        self.loops.iter().filter(again).filter(open).map(|l| l.header).collect()
    }

    pub(super) fn inside(&self, l: &super::PlanLoop, node: usize) -> bool {
        let pc = self.nodes[node];
        pc != NO_PC && self.piece_at(pc).is_some_and(|p| l.pieces.contains(&p))
    }

    /// A way that begins with `via` can take a step that no run took.
    fn has_gap(&self, via: Option<usize>, coverage: &Coverage) -> bool {
        !coverage.gaps.is_empty() && via.is_some_and(|v| coverage.gaps.iter().any(|g| self.leads(v, g.from)))
    }
}
