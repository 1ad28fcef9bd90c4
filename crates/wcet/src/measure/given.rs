//! The model of a wave from times of basic blocks that somebody gives, instead of measured ones: every step of the
//! control-flow graph is there, and splitting costs what the machine says (THESIS 5.2.2, e_bb, e_s and e_m).

use super::model::{Coverage, Measured};
use super::never::Never;
use super::plan::{END, Plan, START};
use crate::graph::{Graph, LoopBound, Model, Region};
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::LinearFact;
use wb_isa::Pc;

/// What a wave costs, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// From the slot to the first instruction.
    pub start: u64,
    /// Cycles of each block of the control-flow graph, each time it runs.
    pub blocks: BTreeMap<usize, u64>,
    /// Cycles of a split and of a merge.
    pub split: u64,
    pub merge: u64,
    /// Branches that may split the wave without being counted on: they cost as much as if they did, each time.
    pub may_split: BTreeSet<Pc>,
}

impl Plan {
    /// The model; the plan has a point at every block, branch and join. A block's time is on the steps that leave its
    /// beginning.
    /// Steps of `never` are not there.
    pub fn given(
        &self,
        given: &Given,
        rounds: &BTreeMap<Pc, u64>,
        facts: &[LinearFact],
        never: &Never,
    ) -> Measured {
        let mut graph = Graph { entry: START, exit: END, ..Graph::default() };
        for (n, &pc) in self.nodes.iter().enumerate() {
            let name = match n {
                START => "start".to_owned(),
                END => "end".to_owned(),
                _ => format!("pc{pc}"),
            };
            graph.node(name, 0);
        }
        let possible: Vec<usize> = (0..self.edges.len()).filter(|&e| self.possible(e, never)).collect();
        let at = |e: &usize| possible.binary_search(e).ok();
        for edge in possible.iter().map(|&e| &self.edges[e]) {
            let cost = match self.piece_at(self.nodes[edge.from]) {
                None => given.start,
                Some(p) => self.piece_cost(p, given),
            };
            graph.edge(edge.from, edge.to, cost);
        }
        let regions = self.regions.iter().enumerate().map(|(i, r)| {
            let region = Region {
                branch: r.node,
                join: r.join,
                first: r.first.iter().filter_map(at).collect(),
                second: r.second.iter().filter_map(at).collect(),
                split_cost: given.split,
                merge_cost: given.merge,
            };
            (i, region)
        });
        let mut bounds = Vec::new();
        for l in &self.loops {
            let again = |e: &crate::graph::Edge| Some(e.to) == l.node && self.inside(l, e.from);
            if let (Some(header), Some(&max)) = (l.node, rounds.get(&l.header))
                && graph.edges.iter().any(again)
            {
                bounds.push(LoopBound { header, max });
            }
        }
        let edges = possible.len();
        Measured {
            regions: regions.collect(),
            edge_of: possible.clone(),
            jumps: vec![0; edges],
            coverage: Coverage { edges: (edges, edges), ..Coverage::default() },
            accepted: 0,
            beside: 0,
            model: Model { bounds, facts: facts.iter().map(|f| self.fact(f, &graph)).collect(), graph },
        }
    }

    fn piece_cost(&self, piece: usize, given: &Given) -> u64 {
        let p = &self.pieces[piece];
        // Pieces of a block follow each other.
        let begins = piece == 0 || self.pieces[piece - 1].block != p.block;
        let own = if begins { given.blocks.get(&p.block).copied().unwrap_or(0) } else { 0 };
        let splits =
            if given.may_split.contains(&p.last) { given.split.saturating_add(given.merge) } else { 0 };
        own.saturating_add(splits)
    }
}
