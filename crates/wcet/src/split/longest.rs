//! The longest way through a flow graph with loop bounds, for sums (cycles), products (paths, THESIS 5.2.5) and maxima
//! (contexts, PWS 4.2). Small and private: the certified solver is elsewhere, this one is asked thousands of times by
//! the region recursion and the placement.

use super::error::{SplitError, Trouble};
use super::valid::name;
use crate::graph::Model;

/// How the weights of things passed one after the other combine.
pub(crate) trait Measure {
    /// The weight of passing nothing.
    const UNIT: u64;
    /// One after the other; `None` = too large.
    fn then(a: u64, b: u64) -> Option<u64>;
    /// The same `n` times.
    fn times(a: u64, n: u64) -> Option<u64>;
}

/// Cycles.
pub(crate) struct Sum;
/// Paths that exist after every path before could split: saturates, because only small numbers are asked for.
pub(crate) struct Product;
/// Contexts held at a time: those of the hungriest part.
pub(crate) struct Most;

impl Measure for Sum {
    const UNIT: u64 = 0;
    fn then(a: u64, b: u64) -> Option<u64> {
        a.checked_add(b)
    }
    fn times(a: u64, n: u64) -> Option<u64> {
        a.checked_mul(n)
    }
}

impl Measure for Product {
    const UNIT: u64 = 1;
    fn then(a: u64, b: u64) -> Option<u64> {
        Some(a.saturating_mul(b))
    }
    fn times(a: u64, n: u64) -> Option<u64> {
        // Anything but 1 to the power of 64 or more is out of range already.
        Some(a.saturating_pow(n.min(64) as u32))
    }
}

impl Measure for Most {
    const UNIT: u64 = 0;
    fn then(a: u64, b: u64) -> Option<u64> {
        Some(a.max(b))
    }
    fn times(a: u64, _: u64) -> Option<u64> {
        Some(a)
    }
}

/// A weight left the range of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

struct Loop {
    header: usize,
    /// `None` = the graph itself.
    parent: Option<usize>,
    max: u64,
    /// Nodes directly inside and headers of loops directly inside, in topological order.
    members: Vec<usize>,
    /// Edges back to the header.
    back: Vec<usize>,
}

/// A graph taken apart once: loops, their nesting, an order in which everything comes after what leads to it.
pub(crate) struct Shape {
    entry: usize,
    exit: usize,
    edges: Vec<(usize, usize)>,
    /// Edges into each node, without those back to a header.
    into: Vec<Vec<usize>>,
    /// The innermost loop around each node.
    inner: Vec<Option<usize>>,
    /// The loop each node is the header of.
    heads: Vec<Option<usize>>,
    /// Inner loops before outer ones.
    loops: Vec<Loop>,
    /// As `Loop::members`, for the graph itself.
    members: Vec<usize>,
    is_back: Vec<bool>,
}

impl Shape {
    /// Takes a graph of `n` nodes apart. `max(h)` bounds the loop with header `h`. What is on no way from `entry` to
    /// `exit` does not count.
    pub fn new(
        n: usize,
        edges: Vec<(usize, usize)>,
        entry: usize,
        exit: usize,
        max: impl Fn(usize) -> Option<u64>,
    ) -> Result<Shape, Trouble> {
        let leads_out = Self::leads_to(n, &edges, exit);
        let walk = Walk::new(n, &edges, entry, &leads_out);
        let mut into = vec![Vec::new(); n];
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut is_back = vec![false; edges.len()];
        for (e, &(from, to)) in edges.iter().enumerate() {
            if !walk.seen(from) || !leads_out[to] {
                continue;
            }
            if walk.above(to, from) {
                back[to].push(e);
                is_back[e] = true;
            } else {
                into[to].push(e);
            }
        }
        let mut shape = Shape {
            entry,
            exit,
            into,
            inner: vec![None; n],
            heads: vec![None; n],
            loops: Vec::new(),
            members: Vec::new(),
            is_back,
            edges,
        };
        shape.find_loops(&walk, back, max)?;
        for &v in &walk.order {
            let home = match shape.heads[v] {
                Some(l) => shape.loops[l].parent,
                None => shape.inner[v],
            };
            match home {
                Some(l) => shape.loops[l].members.push(v),
                None => shape.members.push(v),
            }
        }
        Ok(shape)
    }

    fn leads_to(n: usize, edges: &[(usize, usize)], exit: usize) -> Vec<bool> {
        let mut into = vec![Vec::new(); n];
        for &(from, to) in edges {
            into[to].push(from);
        }
        let mut found = vec![false; n];
        found[exit] = true;
        let mut todo = vec![exit];
        while let Some(v) = todo.pop() {
            for &from in &into[v] {
                if !std::mem::replace(&mut found[from], true) {
                    todo.push(from);
                }
            }
        }
        found
    }

    /// Natural loops, headers from the deepest of the walk upwards; loops found are merged into their header (Tarjan's
    /// test of reducibility), so that all of them together take near-linear time.
    fn find_loops(
        &mut self,
        walk: &Walk,
        mut back: Vec<Vec<usize>>,
        max: impl Fn(usize) -> Option<u64>,
    ) -> Result<(), Trouble> {
        let n = self.inner.len();
        let mut merged: Vec<usize> = (0..n).collect();
        let mut taken: Vec<Option<usize>> = vec![None; n];
        for &header in walk.preorder.iter().rev() {
            if back[header].is_empty() {
                continue;
            }
            let this = self.loops.len();
            let mut body = Vec::new();
            let mut todo: Vec<usize> = back[header].iter().map(|&e| self.edges[e].0).collect();
            while let Some(v) = todo.pop() {
                let v = root(&mut merged, v);
                if v == header || taken[v] == Some(this) {
                    continue;
                }
                if !walk.above(header, v) {
                    return Err(Trouble::Irreducible(header));
                }
                taken[v] = Some(this);
                body.push(v);
                todo.extend(self.into[v].iter().map(|&e| self.edges[e].0));
            }
            for &v in &body {
                merged[v] = header;
                match self.heads[v] {
                    Some(l) => self.loops[l].parent = Some(this),
                    None => self.inner[v] = Some(this),
                }
            }
            self.inner[header] = Some(this);
            self.heads[header] = Some(this);
            let max = max(header).ok_or(Trouble::Unbounded(header))?;
            let back = std::mem::take(&mut back[header]);
            self.loops.push(Loop { header, parent: None, max, members: Vec::new(), back });
        }
        Ok(())
    }

    /// Whether the edge leads back to the header of a loop it is in.
    pub fn is_back(&self, edge: usize) -> bool {
        self.is_back[edge]
    }

    pub fn heads_loop(&self, node: usize) -> bool {
        self.heads[node].is_some()
    }

    /// Headers of the loops around a node, innermost first.
    pub fn loops_around(&self, node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = self.inner[node];
        while let Some(l) = at {
            found.push(self.loops[l].header);
            at = self.loops[l].parent;
        }
        found
    }

    /// Nodes that can be reached, each after what leads to it without going round a loop.
    pub fn order(&self) -> Vec<usize> {
        // Members of loops come in place of their header.
        let mut order = Vec::new();
        let mut todo: Vec<usize> = self.members.iter().rev().copied().collect();
        while let Some(v) = todo.pop() {
            order.push(v);
            if let Some(l) = self.heads[v] {
                todo.extend(self.loops[l].members.iter().rev());
            }
        }
        order
    }

    /// The largest weight of a way from entry to exit, where each loop goes round at most `max` times for each time it
    /// is entered. `edge` gives `None` for an edge that may not be taken. `Ok(None)` = there is no way.
    pub fn longest<M: Measure>(
        &self,
        node: impl Fn(usize) -> u64,
        edge: impl Fn(usize) -> Option<u64>,
    ) -> Result<Option<u64>, Overflow> {
        let n = self.inner.len();
        let mut reach = Reach {
            shape: self,
            at: vec![None; n],
            arrive: vec![None; self.loops.len()],
            around: vec![M::UNIT; self.loops.len()],
        };
        for l in 0..self.loops.len() {
            let this = &self.loops[l];
            reach.at[this.header] = Some(node(this.header));
            for &v in &this.members {
                reach.pull::<M>(v, Some(l), &node, &edge)?;
            }
            let mut round = None;
            for &e in &this.back {
                round = round.max(reach.through::<M>(e, Some(l), &edge)?);
            }
            if let Some(round) = round {
                reach.around[l] = M::times(round, this.max).ok_or(Overflow)?;
            }
        }
        for &v in &self.members {
            if v == self.entry {
                match self.heads[v] {
                    Some(l) => reach.arrive[l] = Some(M::UNIT),
                    None => reach.at[v] = Some(node(v)),
                }
            } else {
                reach.pull::<M>(v, None, &node, &edge)?;
            }
        }
        reach.out::<M>(self.exit, None)
    }
}

/// The largest weights so far.
struct Reach<'a> {
    shape: &'a Shape,
    /// From the header of the innermost loop (or the entry) up to and with the node.
    at: Vec<Option<u64>>,
    /// From the header of the loop around (or the entry) up to the loop's header, without it.
    arrive: Vec<Option<u64>>,
    /// All rounds of the loop.
    around: Vec<u64>,
}

impl Reach<'_> {
    fn pull<M: Measure>(
        &mut self,
        v: usize,
        level: Option<usize>,
        node: &impl Fn(usize) -> u64,
        edge: &impl Fn(usize) -> Option<u64>,
    ) -> Result<(), Overflow> {
        let mut best = None;
        for &e in &self.shape.into[v] {
            best = best.max(self.through::<M>(e, level, edge)?);
        }
        match self.shape.heads[v] {
            Some(l) => self.arrive[l] = best,
            None => {
                self.at[v] = match best {
                    Some(best) => Some(M::then(best, node(v)).ok_or(Overflow)?),
                    None => None,
                }
            }
        }
        Ok(())
    }

    fn through<M: Measure>(
        &self,
        e: usize,
        level: Option<usize>,
        edge: &impl Fn(usize) -> Option<u64>,
    ) -> Result<Option<u64>, Overflow> {
        let Some(cost) = edge(e) else { return Ok(None) };
        match self.out::<M>(self.shape.edges[e].0, level)? {
            Some(sum) => Ok(Some(M::then(sum, cost).ok_or(Overflow)?)),
            None => Ok(None),
        }
    }

    /// From the header of `level` up to and with `v`, all loops left on the way included.
    fn out<M: Measure>(&self, v: usize, level: Option<usize>) -> Result<Option<u64>, Overflow> {
        let Some(mut sum) = self.at[v] else { return Ok(None) };
        let mut at = self.shape.inner[v];
        while at != level {
            let Some(l) = at else { return Ok(None) };
            let Some(arrive) = self.arrive[l] else { return Ok(None) };
            sum = M::then(sum, self.around[l]).and_then(|s| M::then(s, arrive)).ok_or(Overflow)?;
            at = self.shape.loops[l].parent;
        }
        Ok(Some(sum))
    }
}

/// A depth-first walk: who is above whom.
struct Walk {
    preorder: Vec<usize>,
    /// Reverse postorder.
    order: Vec<usize>,
    /// First and last preorder number below each node; first = usize::MAX when it was not reached.
    span: Vec<(usize, usize)>,
}

impl Walk {
    /// Follows edges to `useful` nodes only.
    fn new(n: usize, edges: &[(usize, usize)], entry: usize, useful: &[bool]) -> Walk {
        let mut out = vec![Vec::new(); n];
        for &(from, to) in edges.iter().filter(|e| useful[e.1]) {
            out[from].push(to);
        }
        let mut walk =
            Walk { preorder: vec![entry], order: Vec::new(), span: vec![(usize::MAX, usize::MAX); n] };
        walk.span[entry].0 = 0;
        let mut stack = vec![(entry, 0)];
        while let Some((v, next)) = stack.last_mut() {
            let v = *v;
            if let Some(&to) = out[v].get(*next) {
                *next += 1;
                if walk.span[to].0 == usize::MAX {
                    walk.span[to].0 = walk.preorder.len();
                    walk.preorder.push(to);
                    stack.push((to, 0));
                }
            } else {
                walk.span[v].1 = walk.preorder.len() - 1;
                walk.order.push(v);
                stack.pop();
            }
        }
        walk.order.reverse();
        walk
    }

    fn seen(&self, v: usize) -> bool {
        self.span[v].0 != usize::MAX
    }

    fn above(&self, top: usize, v: usize) -> bool {
        let (first, last) = self.span[top];
        self.seen(v) && first <= self.span[v].0 && self.span[v].0 <= last
    }
}

fn root(merged: &mut [usize], mut v: usize) -> usize {
    while merged[v] != v {
        merged[v] = merged[merged[v]];
        v = merged[v];
    }
    v
}

/// Ways of a whole model.
pub(crate) fn shape_of(model: &Model) -> Result<Shape, SplitError> {
    let graph = &model.graph;
    super::check_indices(model)?;
    let mut max = vec![None; graph.nodes.len()];
    for bound in &model.bounds {
        max[bound.header] = Some(bound.max);
    }
    let edges = graph.edges.iter().map(|e| (e.from, e.to)).collect();
    Shape::new(graph.nodes.len(), edges, graph.entry, graph.exit, |h| max[h])
        .map_err(|t| SplitError::of_shape(t, |v| name(model, v)))
}

/// The longest time of a way from entry to exit. Facts are not looked at: they could only make it shorter.
pub fn longest(model: &Model) -> Result<u64, SplitError> {
    let graph = &model.graph;
    let shape = shape_of(model)?;
    shape
        .longest::<Sum>(|v| graph.nodes[v].cost, |e| Some(graph.edges[e].cost))
        .map_err(|_| SplitError::TooLong)?
        .ok_or_else(|| SplitError::NoWay { from: name(model, graph.entry), to: name(model, graph.exit) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, LoopBound};

    /// Entry a, loop b–c with an exit from each, nested self loop on c, exit d.
    fn nested() -> Model {
        let mut graph = Graph::default();
        let [a, b, c, d] = [("a", 1), ("b", 10), ("c", 100), ("d", 1000)].map(|(n, c)| graph.node(n, c));
        graph.edge(a, b, 0);
        graph.edge(b, c, 0);
        graph.edge(c, c, 1);
        graph.edge(c, b, 2);
        graph.edge(b, d, 5);
        graph.edge(c, d, 0);
        (graph.entry, graph.exit) = (a, d);
        let bounds = vec![LoopBound { header: b, max: 3 }, LoopBound { header: c, max: 2 }];
        Model { graph, bounds, facts: Vec::new() }
    }

    #[test]
    fn loops_go_round_as_often_as_they_may_and_leave_from_the_middle() {
        // One round of b: 10 + (100 + 2 * 101) + 2 = 314; the last one ends in c: 10 + 302.
        assert_eq!(longest(&nested()), Ok(1 + 3 * 314 + 312 + 1000));
    }

    #[test]
    fn an_exit_from_the_header_ends_before_the_body() {
        let mut model = nested();
        model.graph.edges[4].cost = 400;
        assert_eq!(longest(&model), Ok(1 + 3 * 314 + 10 + 400 + 1000));
    }

    #[test]
    fn what_has_no_longest_way_is_an_error() {
        let mut model = nested();
        model.bounds.pop();
        assert_eq!(longest(&model), Err(SplitError::Unbounded { header: "c".into() }));
        let mut model = nested();
        model.graph.edge(0, 2, 0);
        assert!(matches!(longest(&model), Err(SplitError::Irreducible { .. })));
        let mut model = nested();
        model.graph.edges.truncate(4);
        assert!(matches!(longest(&model), Err(SplitError::NoWay { .. })));
        let mut model = nested();
        model.bounds[1].max = u64::MAX / 2;
        assert_eq!(longest(&model), Err(SplitError::TooLong));
    }

    #[test]
    fn products_and_maxima_follow_the_same_ways() {
        let model = nested();
        let shape = shape_of(&model).expect("reducible");
        // c counts 2: three passes in each of four rounds.
        let two = |v: usize| if v == 2 { 2 } else { 1 };
        assert_eq!(shape.longest::<Product>(two, |_| Some(1)), Ok(Some(1 << 12)));
        assert_eq!(shape.longest::<Most>(|v| v as u64, |_| Some(0)), Ok(Some(3)));
    }
}
