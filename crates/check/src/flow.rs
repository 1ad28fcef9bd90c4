//! What the graph of a certificate really looks like: which parts run, dominators, loops, strongly connected parts.
//! Written for this crate alone, with the plainest algorithms that are fast enough.

use crate::claim::{Claim, What};

pub struct Flow<'a> {
    pub claim: &'a Claim,
    /// Edges on ways from entry to exit, out of and into each node; all other edges never run.
    pub out: Vec<Vec<usize>>,
    pub into: Vec<Vec<usize>>,
    pub runs: Vec<bool>,
    /// Immediate dominator of each node that runs; the entry is its own.
    above: Vec<usize>,
    /// Number of dominators above a node.
    depth: Vec<usize>,
}

const NONE: usize = usize::MAX;

/// Nodes that are reached from `start` by the edges of `lists` that `step` gives a next node for.
fn spread(start: usize, lists: &[Vec<usize>], step: impl Fn(usize) -> Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; lists.len()];
    seen[start] = true;
    let mut work = vec![start];
    while let Some(v) = work.pop() {
        for w in lists[v].iter().filter_map(|&e| step(e)) {
            if !seen[w] {
                seen[w] = true;
                work.push(w);
            }
        }
    }
    seen
}

/// Nodes in the order in which a depth-first walk from `start` leaves them.
fn leaving_order(
    start: usize,
    out: &[Vec<usize>],
    to: impl Fn(usize) -> usize,
    seen: &mut [bool],
) -> Vec<usize> {
    let mut order = Vec::new();
    if seen[start] {
        return order;
    }
    seen[start] = true;
    let mut stack = vec![(start, 0)];
    while let Some(&mut (v, ref mut next)) = stack.last_mut() {
        if let Some(&e) = out[v].get(*next) {
            *next += 1;
            if !seen[to(e)] {
                seen[to(e)] = true;
                stack.push((to(e), 0));
            }
        } else {
            order.push(v);
            stack.pop();
        }
    }
    order
}

impl<'a> Flow<'a> {
    /// Nothing if there is no way from entry to exit.
    pub fn new(claim: &'a Claim) -> Option<Flow<'a>> {
        let size = claim.names.len();
        let (mut out, mut into) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        for (e, link) in claim.edges.iter().enumerate() {
            out[link.from].push(e);
            into[link.to].push(e);
        }
        let after = spread(claim.entry, &out, |e| Some(claim.edges[e].to));
        let before = spread(claim.exit, &into, |e| Some(claim.edges[e].from));
        if !after[claim.exit] {
            return None;
        }
        let runs: Vec<bool> = (0..size).map(|v| after[v] && before[v]).collect();
        for list in out.iter_mut().chain(into.iter_mut()) {
            list.retain(|&e| runs[claim.edges[e].from] && runs[claim.edges[e].to]);
        }
        let mut flow = Flow { claim, out, into, runs, above: vec![NONE; size], depth: vec![0; size] };
        flow.find_dominators();
        Some(flow)
    }

    /// Whether the edge lies on a way from entry to exit.
    pub fn edge_runs(&self, e: usize) -> bool {
        self.runs[self.claim.edges[e].from] && self.runs[self.claim.edges[e].to]
    }

    /// Meets the dominators of all predecessors until nothing changes (the method of Cooper, Harvey and Kennedy).
    fn find_dominators(&mut self) {
        let claim = self.claim;
        let mut seen = vec![false; claim.names.len()];
        let order = leaving_order(claim.entry, &self.out, |e| claim.edges[e].to, &mut seen);
        let mut place = vec![0; claim.names.len()];
        for (k, &v) in order.iter().enumerate() {
            place[v] = k;
        }
        self.above[claim.entry] = claim.entry;
        let mut changed = true;
        while changed {
            changed = false;
            for &v in order.iter().rev().filter(|&&v| v != claim.entry) {
                let mut meet = NONE;
                for &e in &self.into[v] {
                    let mut other = claim.edges[e].from;
                    if self.above[other] == NONE {
                        continue;
                    }
                    if meet == NONE {
                        meet = other;
                    }
                    while meet != other {
                        if place[meet] < place[other] {
                            meet = self.above[meet];
                        } else {
                            other = self.above[other];
                        }
                    }
                }
                if self.above[v] != meet {
                    self.above[v] = meet;
                    changed = true;
                }
            }
        }
        for &v in order.iter().rev().filter(|&&v| v != claim.entry) {
            self.depth[v] = self.depth[self.above[v]] + 1;
        }
    }

    /// For each edge that runs whether its target dominates its source. Visits the dominator tree once.
    pub fn natural_back_edges(&self) -> Vec<bool> {
        let size = self.claim.names.len();
        let mut below = vec![Vec::new(); size];
        for v in (0..size).filter(|&v| self.runs[v] && v != self.claim.entry) {
            below[self.above[v]].push(v);
        }
        let mut back = vec![false; self.claim.edges.len()];
        // `open[d]` is the node at depth d on the way from the entry down to the node at hand.
        let mut open = vec![NONE; size + 1];
        let mut work = vec![self.claim.entry];
        while let Some(v) = work.pop() {
            open[self.depth[v]] = v;
            for &e in &self.out[v] {
                let to = self.claim.edges[e].to;
                back[e] = self.depth[to] <= self.depth[v] && open[self.depth[to]] == to;
            }
            work.extend(&below[v]);
        }
        back
    }

    /// Nodes from which one of the `sources` is reached without passing `header`, and the header.
    fn natural_body(&self, header: usize, sources: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut body = vec![false; self.claim.names.len()];
        body[header] = true;
        let mut work: Vec<usize> = sources.collect();
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut body[v], true) {
                work.extend(self.into[v].iter().map(|&e| self.claim.edges[e].from));
            }
        }
        body
    }

    /// The back edges and entry edges of the loop at `header`, as docs/certificate.md defines them.
    pub fn loop_edges(&self, header: usize, natural: &[bool]) -> (Vec<usize>, Vec<usize>) {
        let into = &self.into[header];
        if into.iter().any(|&e| natural[e]) {
            return into.iter().partition(|&&e| natural[e]);
        }
        let inside = self.region(header, natural);
        let edges = || (0..self.claim.edges.len()).filter(|&e| self.edge_runs(e));
        let from = |e: usize| inside[self.claim.edges[e].from];
        let back = edges().filter(|&e| self.claim.edges[e].to == header && from(e)).collect();
        let entries = edges().filter(|&e| inside[self.claim.edges[e].to] && !from(e)).collect();
        (back, entries)
    }

    /// Whether an execution starts in the loop at `header`.
    pub fn starts_inside(&self, header: usize, natural: &[bool]) -> bool {
        header == self.claim.entry
            || (!self.into[header].iter().any(|&e| natural[e])
                && self.region(header, natural)[self.claim.entry])
    }

    /// Nodes on cycles through `header` when natural loops around it do not go round.
    fn region(&self, header: usize, natural: &[bool]) -> Vec<bool> {
        let mut closed = vec![false; self.claim.edges.len()];
        let mut around = header;
        while self.runs[header] && around != self.claim.entry {
            around = self.above[around];
            let back: Vec<usize> = self.into[around].iter().copied().filter(|&e| natural[e]).collect();
            if self.natural_body(around, back.iter().map(|&e| self.claim.edges[e].from))[header] {
                back.iter().for_each(|&e| closed[e] = true);
            }
        }
        let open = |e: usize| if closed[e] { None } else { Some(&self.claim.edges[e]) };
        let after = spread(header, &self.out, |e| open(e).map(|link| link.to));
        let before = spread(header, &self.into, |e| open(e).map(|link| link.from));
        (0..after.len()).map(|v| after[v] && before[v]).collect()
    }

    /// Per edge, how often it can be taken because a fact without negative factors says so.
    pub fn fact_limits(&self) -> Vec<Option<i128>> {
        let mut limits: Vec<Option<i128>> = vec![None; self.claim.edges.len()];
        for fact in self.claim.facts.iter().filter(|fact| fact.terms.iter().all(|(factor, _)| *factor >= 0)) {
            for &(factor, what) in fact.terms.iter().filter(|(factor, _)| *factor > 0) {
                let most = fact.limit.max(0) / factor;
                let edges = match what {
                    What::Edge(e) => vec![e],
                    What::Node(v) => self.into[v].clone(),
                };
                for e in edges {
                    limits[e] = Some(limits[e].map_or(most, |known| known.min(most)));
                }
            }
        }
        limits
    }

    /// Whether some cycle runs without any of the edges in `cut`.
    pub fn has_cycle_without(&self, cut: &[bool]) -> bool {
        let mut missing = vec![0; self.claim.names.len()];
        for (v, list) in self.into.iter().enumerate() {
            missing[v] = list.iter().filter(|&&e| !cut[e]).count();
        }
        let mut ready: Vec<usize> = (0..missing.len()).filter(|&v| self.runs[v] && missing[v] == 0).collect();
        let mut sorted = 0;
        while let Some(v) = ready.pop() {
            sorted += 1;
            for &e in self.out[v].iter().filter(|&&e| !cut[e]) {
                let to = self.claim.edges[e].to;
                missing[to] -= 1;
                if missing[to] == 0 {
                    ready.push(to);
                }
            }
        }
        sorted < self.runs.iter().filter(|runs| **runs).count()
    }

    /// A number for each of `nodes`: the same for two nodes if and only if a cycle of edges that are not `cut` and
    /// stay among `nodes` joins them. Nodes outside have `NONE`.
    pub fn parts(&self, nodes: &[usize], cut: &[bool]) -> Vec<usize> {
        let size = self.claim.names.len();
        let mut among = vec![false; size];
        nodes.iter().for_each(|&v| among[v] = true);
        let stays = |e: usize| {
            let link = &self.claim.edges[e];
            !cut[e] && among[link.from] && among[link.to]
        };
        let mut out = vec![Vec::new(); size];
        for &v in nodes {
            out[v].extend(self.out[v].iter().copied().filter(|&e| stays(e)));
        }
        let mut seen = vec![false; size];
        let mut order = Vec::new();
        for &v in nodes {
            order.extend(leaving_order(v, &out, |e| self.claim.edges[e].to, &mut seen));
        }
        let mut part = vec![NONE; size];
        for &first in order.iter().rev() {
            let mut work = vec![first];
            while let Some(v) = work.pop() {
                if part[v] == NONE {
                    part[v] = first;
                    let back = self.into[v].iter().copied().filter(|&e| stays(e));
                    work.extend(back.map(|e| self.claim.edges[e].from));
                }
            }
        }
        part
    }
}
