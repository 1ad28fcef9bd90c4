//! The exact structural solver (design "Worst-case execution time analysis", pipeline step 4): longest path through
//! a reducible graph in integers, with the potentials and round trips that prove it longest.
//!
//! Why it equals the LP: per loop, z is the worst way from the header back to it; a way into a header pays max · z at
//! once and then goes round at most max times for nothing. Let y(v) be the worst way from v to the exit under this
//! rule, for a back edge counted as y(header) − z. Then y(a) − y(b) ≥ cost for every plain edge a→b, ≥ cost − z for
//! a back edge and ≥ cost + max · z for an entry edge: (y, z) is feasible for the dual, and its value y(entry) is the
//! cost of the integer execution that `Worst::edges` counts. So both are optimal, and the LP optimum is integral.

use super::error::IpetError;
use super::structure::{LoopId, Nesting, Structure};
use crate::graph::{EdgeId, Graph, NodeId};

/// A worst execution and the proof that there is no worse one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Cost of the execution, without the first pass of the entry.
    pub value: i128,
    /// Per node, worst cost of what follows it; in a loop, of what follows its last round.
    pub potential: Vec<i128>,
    /// Per loop, cost of the worst round trip, never negative.
    pub round_trip: Vec<i128>,
    /// How often each edge is taken.
    pub edges: Vec<u64>,
}

/// A reducible graph with a bound for each natural loop, ready to be solved for any edge weights.
pub struct Structural<'a> {
    pub graph: &'a Graph,
    pub structure: &'a Structure,
    pub nesting: &'a Nesting,
    /// Per natural loop, how often its back edges are taken per entry.
    pub max: &'a [u64],
}

/// What the way forward leaves for the way back.
struct Forward {
    round_trip: Vec<i128>,
    /// Per loop, what entering it costs beyond one pass: max · round trip.
    surcharge: Vec<i128>,
    /// Per loop, edges that leave it, with the worst cost from the header up to and with the edge.
    exits: Vec<Vec<(EdgeId, i128)>>,
    /// Per node, the edge by which the worst way from the header of its loop comes; for a header, within the loop
    /// around it.
    came_by: Vec<Option<EdgeId>>,
    /// Per loop, the back edge of the worst round trip.
    worst_back: Vec<Option<EdgeId>>,
}

fn overflow(what: &str) -> IpetError {
    IpetError::Overflow { what: what.to_owned() }
}

fn add(a: i128, b: i128) -> Result<i128, IpetError> {
    a.checked_add(b).ok_or_else(|| overflow("the time of a path"))
}

impl Structural<'_> {
    /// The worst execution if taking edge e costs `weight[e]`, which contains the node it leads to.
    pub fn worst(&self, weight: &[i128]) -> Result<Worst, IpetError> {
        let forward = self.forward(weight)?;
        let potential = self.potentials(weight, &forward)?;
        let edges = self.counts(&forward)?;
        let entry = self.graph.entry;
        let start = self.structure.header_of[entry].map_or(0, |id| forward.surcharge[id]);
        let value = add(potential[entry], start)?;
        Ok(Worst { value, potential, round_trip: forward.round_trip, edges })
    }

    /// Whether `v` lies in loop `around` (or, without one, in no loop) and is no inner node of a loop inside.
    fn is_member(&self, v: NodeId, around: Option<LoopId>) -> bool {
        let own = match self.structure.header_of[v] {
            Some(id) => self.nesting.parent[id],
            None => self.nesting.inner[v],
        };
        own == around
    }

    /// Round trips of all loops, innermost first. A loop inside is one step to each edge that leaves it.
    fn forward(&self, weight: &[i128]) -> Result<Forward, IpetError> {
        let loops = self.structure.loops.len();
        let mut done = Forward {
            round_trip: vec![0; loops],
            surcharge: vec![0; loops],
            exits: vec![Vec::new(); loops],
            came_by: vec![None; self.graph.nodes.len()],
            worst_back: vec![None; loops],
        };
        let mut cost: Vec<Option<i128>> = vec![None; self.graph.nodes.len()];
        for id in (0..loops).rev() {
            self.forward_in(Some(id), weight, &mut cost, &mut done)?;
            done.surcharge[id] = i128::from(self.max[id])
                .checked_mul(done.round_trip[id])
                .ok_or_else(|| overflow("the time of a loop"))?;
        }
        self.forward_in(None, weight, &mut cost, &mut done)?;
        Ok(done)
    }

    fn forward_in(
        &self,
        around: Option<LoopId>,
        weight: &[i128],
        cost: &mut [Option<i128>],
        done: &mut Forward,
    ) -> Result<(), IpetError> {
        let (header, members) = match around {
            Some(id) => (self.structure.loops[id].header, &self.nesting.members[id]),
            None => (self.graph.entry, &self.nesting.top),
        };
        let mut steps = Vec::new();
        for &v in members {
            let so_far = if v == header { 0 } else { cost[v].unwrap_or(0) };
            steps.clear();
            match self.structure.header_of[v] {
                Some(inside) if Some(inside) != around => {
                    let base = add(so_far, done.surcharge[inside])?;
                    steps.extend(done.exits[inside].iter().map(|&(e, way)| (e, base, way)));
                }
                _ => steps.extend(self.structure.out[v].iter().map(|&e| (e, so_far, weight[e]))),
            }
            for &(e, base, way) in &steps {
                let total = add(base, way)?;
                let to = self.graph.edges[e].to;
                match around {
                    Some(id) if self.structure.back_of[e] == Some(id) => {
                        if total > done.round_trip[id] {
                            done.round_trip[id] = total;
                            done.worst_back[id] = Some(e);
                        }
                    }
                    Some(id) if !self.is_member(to, around) => done.exits[id].push((e, total)),
                    _ => {
                        if cost[to].is_none_or(|known| total > known) {
                            cost[to] = Some(total);
                            done.came_by[to] = Some(e);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Worst cost behind each node, outermost loops first: a loop's header is known before the loop is entered.
    fn potentials(&self, weight: &[i128], forward: &Forward) -> Result<Vec<i128>, IpetError> {
        let mut potential = vec![0_i128; self.graph.nodes.len()];
        self.potentials_in(None, weight, forward, &mut potential)?;
        for id in 0..self.structure.loops.len() {
            self.potentials_in(Some(id), weight, forward, &mut potential)?;
        }
        Ok(potential)
    }

    fn potentials_in(
        &self,
        around: Option<LoopId>,
        weight: &[i128],
        forward: &Forward,
        potential: &mut [i128],
    ) -> Result<(), IpetError> {
        let members = match around {
            Some(id) => &self.nesting.members[id],
            None => &self.nesting.top,
        };
        for &v in members.iter().rev() {
            let own = self.structure.header_of[v];
            if own.is_some() && own == around {
                continue;
            }
            let mut best: Option<i128> = None;
            let mut step = |e: EdgeId, way: i128| -> Result<(), IpetError> {
                let total = add(way, self.behind(e, forward, potential)?)?;
                best = Some(best.map_or(total, |b| b.max(total)));
                Ok(())
            };
            match own {
                Some(inside) => {
                    for &(e, way) in &forward.exits[inside] {
                        step(e, way)?;
                    }
                }
                None => {
                    for &e in &self.structure.out[v] {
                        step(e, weight[e])?;
                    }
                }
            }
            potential[v] = best.unwrap_or(0);
        }
        Ok(())
    }

    /// Worst cost of what follows edge `e`.
    fn behind(&self, e: EdgeId, forward: &Forward, potential: &[i128]) -> Result<i128, IpetError> {
        let to = self.graph.edges[e].to;
        match (self.structure.back_of[e], self.structure.header_of[to]) {
            (Some(id), _) => add(potential[to], -forward.round_trip[id]),
            (None, Some(id)) => add(potential[to], forward.surcharge[id]),
            (None, None) => Ok(potential[to]),
        }
    }

    /// The execution behind the value: the way back from the exit once, then for each loop it enters, outermost
    /// first, the worst round trip as often as allowed.
    fn counts(&self, forward: &Forward) -> Result<Vec<u64>, IpetError> {
        let mut edges = vec![0_u64; self.graph.edges.len()];
        let mut entered = vec![0_u64; self.structure.loops.len()];
        let entry = self.graph.entry;
        self.count_way(self.graph.exit, entry, 1, forward, &mut edges, &mut entered)?;
        if let Some(id) = self.structure.header_of[entry] {
            entered[id] = 1;
        }
        for (id, one) in self.structure.loops.iter().enumerate() {
            if let (Some(back), 1..) = (forward.worst_back[id], entered[id]) {
                let rounds =
                    entered[id].checked_mul(self.max[id]).ok_or_else(|| overflow("the count of a loop"))?;
                if rounds > 0 {
                    edges[back] =
                        edges[back].checked_add(rounds).ok_or_else(|| overflow("the count of an edge"))?;
                    let latch = self.graph.edges[back].from;
                    self.count_way(latch, one.header, rounds, forward, &mut edges, &mut entered)?;
                }
            }
        }
        Ok(edges)
    }

    /// Counts the worst way from `start` to `end` `times` times, going backwards.
    fn count_way(
        &self,
        end: NodeId,
        start: NodeId,
        times: u64,
        forward: &Forward,
        edges: &mut [u64],
        entered: &mut [u64],
    ) -> Result<(), IpetError> {
        let mut v = end;
        while v != start {
            let Some(e) = forward.came_by[v] else { break };
            edges[e] = edges[e].checked_add(times).ok_or_else(|| overflow("the count of an edge"))?;
            if let Some(id) = self.structure.header_of[v] {
                entered[id] =
                    entered[id].checked_add(times).ok_or_else(|| overflow("the count of a loop"))?;
            }
            v = self.graph.edges[e].from;
        }
        Ok(())
    }
}
