//! Fewer points, tighter bounds, and not one path less covered: a point with one measured way in, or one out, can go,
//! because every way through it was measured as a whole; adding up maxima of its two halves would only be looser. The
//! same holds for loops that always go round as often, and for splits that always happen.

use super::plan::{END, Plan, Points, START};
use super::times::Times;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Pc;

/// A way between two nodes: the edges of the plan it begins and ends with tell which side of a branch it takes.
#[derive(Clone, Copy)]
struct Way {
    from: usize,
    to: usize,
    first: usize,
}

/// A point with more ways through it stays.
const MOST_WAYS: usize = 1 << 12;

struct Graph {
    ways: Vec<Way>,
    into: Vec<BTreeSet<usize>>,
    out: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn add(&mut self, way: Way) {
        self.into[way.to].insert(self.ways.len());
        self.out[way.from].insert(self.ways.len());
        self.ways.push(way);
    }

    fn remove(&mut self, way: usize) {
        let Way { from, to, .. } = self.ways[way];
        self.into[to].remove(&way);
        self.out[from].remove(&way);
    }

    /// Puts ways in and out of a node together, pair by pair.
    fn join(&mut self, pairs: &[(usize, usize)]) {
        for &(i, o) in pairs {
            let way = Way { from: self.ways[i].from, to: self.ways[o].to, first: self.ways[i].first };
            self.add(way);
        }
        for &(i, o) in pairs {
            self.remove(i);
            self.remove(o);
        }
    }

    fn neighbours(&self, node: usize) -> Vec<usize> {
        let ways = self.into[node].iter().chain(&self.out[node]);
        ways.flat_map(|&w| [self.ways[w].from, self.ways[w].to]).collect()
    }
}

impl Plan {
    /// The points that are needed: loop headers and those where ways cross that were never seen together. `times` were
    /// taken with this plan, which has a point at every block. `sure` are the branches whose split can be counted on;
    /// `rounds` the limits of loops. What is passed as a whole: loops with one way round that went round as often as
    /// their limit whenever they were entered, and regions whose both sides have one way and ran at once each time.
    /// `homogeneous` are branches of which a path takes one side: their regions stay until who takes which side is told
    /// apart. `keep` stay whatever happens.
    pub fn needed_points(
        &self,
        times: &Times,
        sure: &BTreeSet<Pc>,
        homogeneous: &BTreeSet<Pc>,
        rounds: &BTreeMap<Pc, u64>,
        keep: &BTreeSet<Pc>,
    ) -> Points {
        let nodes = self.nodes.len();
        let mut g =
            Graph { ways: Vec::new(), into: vec![BTreeSet::new(); nodes], out: vec![BTreeSet::new(); nodes] };
        for (e, edge) in self.edges.iter().enumerate().filter(|(e, _)| times.edges[*e].count > 0) {
            g.add(Way { from: edge.from, to: edge.to, first: e });
        }
        let mut headers: BTreeMap<usize, usize> =
            self.loops.iter().enumerate().filter_map(|(i, l)| Some((l.node?, i))).collect();
        let either = |branch: &Pc| sure.contains(branch) || homogeneous.contains(branch);
        // Ends of regions whose split is counted on stay until their region is one way.
        let mut held: BTreeMap<usize, usize> =
            keep.iter().filter_map(|&pc| Some((self.node_at(pc)?, 1))).collect();
        let mut seconds: BTreeMap<usize, usize> = BTreeMap::new();
        for (i, r) in self.regions.iter().enumerate().filter(|(_, r)| either(&r.branch)) {
            *held.entry(r.node).or_default() += 1;
            *held.entry(r.join).or_default() += 1;
            if let Some(other) = r.other.and_then(|pc| self.node_at(pc)) {
                seconds.insert(other, i);
            }
        }
        let mut open: BTreeSet<usize> =
            (0..self.regions.len()).filter(|&i| sure.contains(&self.regions[i].branch)).collect();
        let mut left: BTreeSet<usize> = (END + 1..nodes).filter(|&n| n != START).collect();
        let mut whole = BTreeSet::new();
        // Ways that multiply least go together first: what is joined early decides what can be joined later.
        let mut limit = 1;
        loop {
            let before = (left.len(), open.len(), headers.len(), g.ways.len());
            for n in left.clone() {
                if let Some(&r) = seconds.get(&n) {
                    if self.pair_sides(&mut g, n, r) {
                        left.remove(&n);
                        seconds.remove(&n);
                        if homogeneous.contains(&self.regions[r].branch) {
                            self.release(&mut held, r);
                        }
                    }
                    continue;
                }
                if held.contains_key(&n) {
                    continue;
                }
                if let Some(&l) = headers.get(&n) {
                    if !self.one_way_round(&g, times, rounds, n, l) {
                        continue;
                    }
                    for w in g.into[n].intersection(&g.out[n]).copied().collect::<Vec<_>>() {
                        g.remove(w);
                    }
                    headers.remove(&n);
                    whole.insert(self.nodes[n]);
                }
                let (ins, outs): (Vec<usize>, Vec<usize>) =
                    (g.into[n].iter().copied().collect(), g.out[n].iter().copied().collect());
                if (ins.len() == 1 || outs.len() == 1) && ins.len() * outs.len() <= limit {
                    let pairs: Vec<(usize, usize)> =
                        ins.iter().flat_map(|&i| outs.iter().map(move |&o| (i, o))).collect();
                    g.join(&pairs);
                    left.remove(&n);
                }
            }
            for r in open.clone() {
                if self.one_way_through(&mut g, times, r) {
                    open.remove(&r);
                    self.release(&mut held, r);
                }
            }
            if before != (left.len(), open.len(), headers.len(), g.ways.len()) {
                limit = 1;
            } else if limit < MOST_WAYS {
                limit *= 2;
            } else {
                break;
            }
        }
        let seen = |n: &usize| !g.neighbours(*n).is_empty();
        let points = left.into_iter().filter(seen).map(|n| self.nodes[n]).collect();
        Points::At { points, whole }
    }

    /// The ends of a region are points like others.
    fn release(&self, held: &mut BTreeMap<usize, usize>, region: usize) {
        for end in [self.regions[region].node, self.regions[region].join] {
            match held.get_mut(&end) {
                Some(n) if *n > 1 => *n -= 1,
                _ => _ = held.remove(&end),
            }
        }
    }

    /// The branch before the second side of a region that splits or has a homogeneous mask: who came through the first side skips the second, who
    /// skipped the first runs it, and nobody does anything else.
    fn pair_sides(&self, g: &mut Graph, node: usize, region: usize) -> bool {
        let r = &self.regions[region];
        let ins: Vec<usize> = g.into[node].iter().copied().collect();
        let outs: Vec<usize> = g.out[node].iter().copied().collect();
        if ins.iter().any(|&w| g.ways[w].from != r.node) || outs.iter().any(|&w| g.ways[w].to != r.join) {
            return false;
        }
        let (ran, skipped): (Vec<usize>, Vec<usize>) =
            ins.iter().partition(|&&w| r.first.contains(&g.ways[w].first));
        let (runs, skips): (Vec<usize>, Vec<usize>) =
            outs.iter().partition(|&&w| r.second.contains(&g.ways[w].first));
        let single = |a: &[usize], b: &[usize]| a.len() <= 1 || b.len() <= 1;
        if !single(&ran, &skips) || !single(&skipped, &runs) {
            return false;
        }
        let cross = |a: &[usize], b: &[usize]| -> Vec<(usize, usize)> {
            a.iter().flat_map(|&i| b.iter().map(move |&o| (i, o))).collect()
        };
        let pairs = [cross(&ran, &skips), cross(&skipped, &runs)].concat();
        g.join(&pairs);
        for w in ins.into_iter().chain(outs) {
            g.remove(w);
        }
        true
    }

    /// One way round, nothing else left inside, and as often as the limit says each time.
    fn one_way_round(
        &self,
        g: &Graph,
        times: &Times,
        rounds: &BTreeMap<Pc, u64>,
        n: usize,
        l: usize,
    ) -> bool {
        let inside = |m: usize| {
            m != n
                && m > END
                && self.piece_at(self.nodes[m]).is_some_and(|p| self.loops[l].pieces.contains(&p))
        };
        let limit = rounds.get(&self.nodes[n]);
        let same = times.rounds[l].is_none_or(|(least, most)| least == most && limit == Some(&most));
        let turns = g.into[n].intersection(&g.out[n]).count();
        same && turns <= 1 && (0..self.nodes.len()).filter(|&m| inside(m)).all(|m| g.neighbours(m).is_empty())
    }

    /// Each side of the region has one way, and both ran at once whenever its branch was reached: they become one.
    fn one_way_through(&self, g: &mut Graph, times: &Times, region: usize) -> bool {
        let r = &self.regions[region];
        let ways: Vec<usize> = g.out[r.node].iter().copied().collect();
        let always = times.passed.get(&r.branch) == times.split_at.get(&r.branch);
        let through = ways.iter().all(|&w| g.ways[w].to == r.join);
        let first = ways.iter().filter(|&&w| r.first.contains(&g.ways[w].first)).count();
        if !always || !through || first > 1 || ways.len() - first > 1 || ways.is_empty() {
            return false;
        }
        for &w in &ways[1..] {
            g.remove(w);
        }
        true
    }
}
