//! Where the nodes and edges of a layered drawing go: ranks by longest path, order within a rank by barycentres, columns
//! by the mean of the neighbours, room for long edges, and a lane at the side for every edge back.

use std::collections::BTreeSet;

/// A box: left, top, size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeBox {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The way of an edge from its source's box to its target's.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    pub points: Vec<(f64, f64)>,
    /// Goes back up, at the side.
    pub back: bool,
    /// Middle of a label.
    pub label: (f64, f64),
}

impl Route {
    pub fn end(&self) -> (f64, f64) {
        self.points.last().copied().unwrap_or((0.0, 0.0))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub places: Vec<NodeBox>,
    pub routes: Vec<Route>,
    pub width: f64,
    pub height: f64,
}

impl Layout {
    /// People begin to read at the left: a drawing whose first node is right of the middle is turned round.
    fn entry_in_sight(mut self) -> Layout {
        if self.places.first().is_none_or(|entry| entry.x + entry.width / 2.0 <= self.width / 2.0) {
            return self;
        }
        let width = self.width;
        let turned = |x: f64| width - x;
        self.places.iter_mut().for_each(|b| b.x = turned(b.x + b.width));
        for route in &mut self.routes {
            route.points.iter_mut().for_each(|p| p.0 = turned(p.0));
            route.label.0 = turned(route.label.0);
        }
        self
    }
}

const GAP_X: f64 = 26.0;
const GAP_Y: f64 = 40.0;
/// Room a long edge takes between boxes.
const THREAD: f64 = 12.0;
/// Distance of the lanes of edges that go back.
const LANE: f64 = 14.0;
const SWEEPS: usize = 12;

/// A node, or a bend of a long edge in a rank that it passes.
#[derive(Clone, Copy)]
struct Cell {
    width: f64,
    height: f64,
    rank: usize,
    /// Middle, once placed.
    x: f64,
}

struct Plan {
    cells: Vec<Cell>,
    /// Cells of each rank from left to right.
    ranks: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

/// Lays out nodes of the given sizes. Edges must name nodes that exist.
pub fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    if sizes.is_empty() {
        return Layout { places: Vec::new(), routes: Vec::new(), width: 0.0, height: 0.0 };
    }
    let back = back_edges(sizes.len(), edges);
    let rank = ranks(sizes.len(), edges, &back);
    let mut plan = Plan::new(sizes, &rank);
    let threads: Vec<Vec<usize>> = edges
        .iter()
        .enumerate()
        .map(|(e, &(from, to))| if back[e] { Vec::new() } else { plan.thread(from, to) })
        .collect();
    plan.order();
    plan.columns();
    plan.draw(sizes.len(), edges, &back, &threads).entry_in_sight()
}

/// Edges to a node that is being visited, depth first from node 0: those that close a cycle.
fn back_edges(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (e, &(from, _)) in edges.iter().enumerate() {
        out[from].push(e);
    }
    let mut back = vec![false; edges.len()];
    // 0 unseen, 1 open, 2 done.
    let mut state = vec![0u8; nodes];
    for root in 0..nodes {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some((node, i)) = stack.pop() {
            let Some(&e) = out[node].get(i) else {
                state[node] = 2;
                continue;
            };
            stack.push((node, i + 1));
            let to = edges[e].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => back[e] = true,
                _ => {}
            }
        }
    }
    back
}

/// Longest way from a source over the other edges.
fn ranks(nodes: usize, edges: &[(usize, usize)], back: &[bool]) -> Vec<usize> {
    let forward: Vec<(usize, usize)> =
        edges.iter().zip(back).filter(|(e, back)| !**back && e.0 != e.1).map(|(e, _)| *e).collect();
    let mut missing = vec![0usize; nodes];
    let mut out = vec![Vec::new(); nodes];
    for &(from, to) in &forward {
        missing[to] += 1;
        out[from].push(to);
    }
    let mut rank = vec![0; nodes];
    let mut ready: BTreeSet<usize> = (0..nodes).filter(|&n| missing[n] == 0).collect();
    while let Some(node) = ready.pop_first() {
        for &to in &out[node] {
            rank[to] = rank[to].max(rank[node] + 1);
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.insert(to);
            }
        }
    }
    rank
}

impl Plan {
    fn new(sizes: &[(f64, f64)], rank: &[usize]) -> Plan {
        let last = rank.iter().copied().max().unwrap_or(0);
        let mut ranks = vec![Vec::new(); last + 1];
        let mut cells = Vec::new();
        for (node, (&(width, height), &rank)) in sizes.iter().zip(rank).enumerate() {
            ranks[rank].push(node);
            cells.push(Cell { width, height, rank, x: 0.0 });
        }
        let n = cells.len();
        Plan { cells, ranks, above: vec![Vec::new(); n], below: vec![Vec::new(); n] }
    }

    fn connect(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// Cells for the ranks an edge passes.
    fn thread(&mut self, from: usize, to: usize) -> Vec<usize> {
        let mut last = from;
        let mut cells = Vec::new();
        for rank in self.cells[from].rank + 1..self.cells[to].rank {
            let cell = self.cells.len();
            self.cells.push(Cell { width: THREAD, height: 0.0, rank, x: 0.0 });
            self.above.push(Vec::new());
            self.below.push(Vec::new());
            self.ranks[rank].push(cell);
            self.connect(last, cell);
            cells.push(cell);
            last = cell;
        }
        if from != to {
            self.connect(last, to);
        }
        cells
    }

    /// Sorts each rank by the mean place of the neighbours above, then below, and so on; the best order stays.
    fn order(&mut self) {
        let mut best = self.ranks.clone();
        let mut least = self.crossings();
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let count = self.ranks.len();
            for i in 0..count {
                let r = if down { i } else { count - 1 - i };
                let mut place = vec![0usize; self.cells.len()];
                for rank in &self.ranks {
                    rank.iter().enumerate().for_each(|(at, &cell)| place[cell] = at);
                }
                let neighbours = if down { &self.above } else { &self.below };
                let key = |cell: usize| {
                    let all = &neighbours[cell];
                    // In thousandths, so that sorting needs no floats.
                    match all.len() {
                        0 => place[cell] * 1000,
                        n => all.iter().map(|&c| place[c] * 1000).sum::<usize>() / n,
                    }
                };
                let mut rank = self.ranks[r].clone();
                rank.sort_by_key(|&cell| (key(cell), place[cell]));
                self.ranks[r] = rank;
            }
            let crossings = self.crossings();
            if crossings < least {
                least = crossings;
                best = self.ranks.clone();
            }
        }
        self.ranks = best;
    }

    fn crossings(&self) -> usize {
        let mut place = vec![0usize; self.cells.len()];
        for rank in &self.ranks {
            rank.iter().enumerate().for_each(|(at, &cell)| place[cell] = at);
        }
        let mut total = 0;
        for rank in &self.ranks {
            let ends: Vec<usize> = rank
                .iter()
                .flat_map(|&cell| {
                    let mut to: Vec<usize> = self.below[cell].iter().map(|&c| place[c]).collect();
                    to.sort_unstable();
                    to
                })
                .collect();
            for (i, a) in ends.iter().enumerate() {
                total += ends[i + 1..].iter().filter(|b| *b < a).count();
            }
        }
        total
    }

    /// Middles of all cells: as near to the mean of the neighbours as the order in the rank allows.
    fn columns(&mut self) {
        for r in 0..self.ranks.len() {
            let mut x = 0.0;
            for &cell in &self.ranks[r] {
                let width = self.cells[cell].width;
                self.cells[cell].x = x + width / 2.0;
                x += width + GAP_X;
            }
        }
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let count = self.ranks.len();
            for i in 0..count {
                let r = if down { i } else { count - 1 - i };
                self.settle(r, down);
            }
        }
        let left = self.cells.iter().map(|c| c.x - c.width / 2.0).fold(f64::INFINITY, f64::min);
        self.cells.iter_mut().for_each(|c| c.x -= left);
    }

    /// Wanted places of a rank, then the least pushes that keep the order: blocks of cells that touch move together.
    fn settle(&mut self, r: usize, down: bool) {
        let rank = self.ranks[r].clone();
        let neighbours = if down { &self.above } else { &self.below };
        let mean = |cell: usize| {
            let all = &neighbours[cell];
            match all.len() {
                0 => self.cells[cell].x,
                n => all.iter().map(|&c| self.cells[c].x).sum::<f64>() / n as f64,
            }
        };
        // (cells in it, wanted left end of the block, weight), as in isotonic regression.
        let mut blocks: Vec<(usize, f64, f64)> = Vec::new();
        let mut offsets = Vec::with_capacity(rank.len());
        let mut offset = 0.0;
        for &cell in &rank {
            let width = self.cells[cell].width;
            offsets.push(offset + width / 2.0);
            // Threads that pass pull harder: long edges become straight.
            let weight = if self.cells[cell].height == 0.0 { 4.0 } else { 1.0 };
            blocks.push((1, mean(cell) - (offset + width / 2.0), weight));
            offset += width + GAP_X;
            while let [.., a, b] = blocks.as_slice() {
                if a.1 <= b.1 {
                    break;
                }
                let joined = (a.0 + b.0, (a.1 * a.2 + b.1 * b.2) / (a.2 + b.2), a.2 + b.2);
                blocks.truncate(blocks.len() - 2);
                blocks.push(joined);
            }
        }
        let mut at = 0;
        for (count, start, _) in blocks {
            for _ in 0..count {
                self.cells[rank[at]].x = start + offsets[at];
                at += 1;
            }
        }
    }

    /// Heights of ranks, ways of edges.
    fn draw(&self, nodes: usize, edges: &[(usize, usize)], back: &[bool], threads: &[Vec<usize>]) -> Layout {
        let mut tops = Vec::new();
        let mut y = GAP_Y / 2.0;
        for rank in &self.ranks {
            let height = rank.iter().map(|&c| self.cells[c].height).fold(0.0, f64::max);
            tops.push((y, height));
            y += height + GAP_Y;
        }
        let place = |n: usize| {
            let c = self.cells[n];
            NodeBox { x: c.x - c.width / 2.0, y: tops[c.rank].0, width: c.width, height: c.height }
        };
        let places: Vec<NodeBox> = (0..nodes).map(place).collect();
        let right = self.cells.iter().map(|c| c.x + c.width / 2.0).fold(0.0, f64::max);
        let mut lanes = 0;
        let routes = edges
            .iter()
            .enumerate()
            .map(|(e, &(from, to))| {
                let (a, b) = (places[from], places[to]);
                if back[e] {
                    lanes += 1;
                    return backward(a, b, right + LANE * f64::from(lanes), lanes);
                }
                let mut points = vec![(port(self, from, to, threads[e].first(), false), a.y + a.height)];
                for &cell in &threads[e] {
                    let (top, height) = tops[self.cells[cell].rank];
                    points.extend([(self.cells[cell].x, top), (self.cells[cell].x, top + height)]);
                }
                points.push((port(self, to, from, threads[e].last(), true), b.y));
                let label = ((points[0].0 + points[1].0) / 2.0, (points[0].1 + points[1].1) / 2.0 + 4.0);
                Route { points, back: false, label }
            })
            .collect();
        let width = right + LANE * f64::from(lanes + 1);
        Layout { places, routes, width, height: y - GAP_Y / 2.0 }
    }
}

/// Where an edge touches a box: spread over its width in the order of the other ends.
fn port(plan: &Plan, node: usize, other: usize, thread: Option<&usize>, top: bool) -> f64 {
    let cell = plan.cells[node];
    let ends = if top { &plan.above[node] } else { &plan.below[node] };
    let mine = thread.copied().unwrap_or(other);
    let mut sorted = ends.clone();
    sorted.sort_by(|a, b| plan.cells[*a].x.total_cmp(&plan.cells[*b].x));
    let at = sorted.iter().position(|&c| c == mine).unwrap_or(0);
    let share = (at + 1) as f64 / (sorted.len().max(1) + 1) as f64;
    // Near the middle: boxes are wide and edges should look as if they left at the end.
    cell.x + (share - 0.5) * (cell.width * 0.5).min(120.0)
}

/// Out below the source, up a lane at the right, into the target from above.
fn backward(from: NodeBox, to: NodeBox, lane: f64, number: u32) -> Route {
    let shift = f64::from(number % 5) * 3.0;
    let (out, into) = (from.x + from.width * 0.85, to.x + to.width * 0.85);
    let (below, above) = (from.y + from.height + 8.0 + shift, to.y - 10.0 - shift);
    let points = vec![
        (out, from.y + from.height),
        (out, below),
        (lane, below),
        (lane, above),
        (into, above),
        (into, to.y),
    ];
    Route { points, back: true, label: ((out + lane) / 2.0, below - 2.0) }
}
