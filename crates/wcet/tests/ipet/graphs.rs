//! Random and large models for the tests, from fixed seeds.

use wb_wcet::ipet::Certificate;
use wb_wcet::ipet::structure::Structure;
use wb_wcet::{Count, Fact, Graph, LoopBound, Model, NodeId};

/// A small generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A piece of a structured program: where it is entered and where it is left.
type Piece = (NodeId, NodeId);

fn block(graph: &mut Graph, random: &mut Random) -> NodeId {
    let name = format!("b{}", graph.nodes.len());
    graph.node(name, random.below(20) as u64)
}

fn link(graph: &mut Graph, random: &mut Random, from: NodeId, to: NodeId) {
    let cost = if random.chance(30) { random.below(6) as u64 } else { 0 };
    graph.edge(from, to, cost);
}

fn piece(graph: &mut Graph, random: &mut Random, depth: usize) -> Piece {
    match if depth == 0 { 0 } else { random.below(5) } {
        0 => {
            let only = block(graph, random);
            (only, only)
        }
        1 => {
            let (first, second) = (piece(graph, random, depth - 1), piece(graph, random, depth - 1));
            link(graph, random, first.1, second.0);
            (first.0, second.1)
        }
        2 => {
            let (branch, join) = (block(graph, random), block(graph, random));
            for _ in 0..1 + random.below(2) {
                let side = piece(graph, random, depth - 1);
                link(graph, random, branch, side.0);
                link(graph, random, side.1, join);
            }
            if random.chance(50) {
                link(graph, random, branch, join);
            }
            (branch, join)
        }
        3 => {
            // Tested at the top; left from the header.
            let (header, behind) = (block(graph, random), block(graph, random));
            let body = piece(graph, random, depth - 1);
            link(graph, random, header, body.0);
            link(graph, random, body.1, header);
            link(graph, random, header, behind);
            (header, behind)
        }
        _ => {
            // Tested at the bottom; the header is that of the body.
            let body = piece(graph, random, depth - 1);
            link(graph, random, body.1, body.0);
            (body.0, body.1)
        }
    }
}

fn reducible(graph: &Graph) -> bool {
    Structure::new(graph).is_ok_and(|s| s.irreducible.is_none())
}

/// A bound for each loop.
fn bounded(graph: Graph, random: &mut Random) -> Model {
    let mut bounds = Vec::new();
    if let Ok(structure) = Structure::new(&graph) {
        for one in &structure.loops {
            bounds.push(LoopBound { header: one.header, max: random.below(4) as u64 });
        }
    }
    Model { graph, bounds, facts: Vec::new() }
}

/// A structured program with further edges that keep it reducible: breaks, continues, skips, double edges.
pub fn structured(random: &mut Random) -> Model {
    let mut graph = Graph::default();
    let depth = 1 + random.below(4);
    let (entry, last) = piece(&mut graph, random, depth);
    graph.entry = entry;
    graph.exit = block(&mut graph, random);
    let exit = graph.exit;
    link(&mut graph, random, last, exit);
    for _ in 0..random.below(6) {
        let (from, to) = (random.below(graph.nodes.len()), random.below(graph.nodes.len()));
        if from == graph.exit {
            continue;
        }
        link(&mut graph, random, from, to);
        if !reducible(&graph) {
            graph.edges.pop();
        }
    }
    bounded(graph, random)
}

/// Any edges between a few nodes, reducible or not; the first node is the entry, the last the exit.
pub fn tangled(random: &mut Random) -> Graph {
    let mut graph = Graph::default();
    let nodes = 2 + random.below(7);
    for _ in 0..nodes {
        block(&mut graph, random);
    }
    graph.exit = nodes - 1;
    for _ in 0..nodes + random.below(nodes + 2) {
        let (from, to) = (random.below(nodes - 1), random.below(nodes));
        link(&mut graph, random, from, to);
    }
    graph
}

/// Any edges, but reducible and with a way to the exit.
pub fn untangled(random: &mut Random) -> Model {
    loop {
        let graph = tangled(random);
        if reducible(&graph) {
            return bounded(graph, random);
        }
    }
}

/// Some facts about how often things happen, some with negative factors.
pub fn facts(model: &mut Model, random: &mut Random) {
    for k in 0..1 + random.below(3) {
        let mut terms = Vec::new();
        for _ in 0..1 + random.below(3) {
            let factor =
                if random.chance(25) { -1 - random.below(3) as i64 } else { 1 + random.below(2) as i64 };
            let count = match random.chance(50) && !model.graph.edges.is_empty() {
                true => Count::Edge(random.below(model.graph.edges.len())),
                false => Count::Node(random.below(model.graph.nodes.len())),
            };
            terms.push((factor, count));
        }
        model.facts.push(Fact { name: format!("f{k}"), terms, limit: random.below(6) as i64 });
    }
}

/// The model a certificate talks about.
pub fn model_of(certificate: &Certificate) -> Option<Model> {
    let small = |w: wb_wcet::ipet::certificate::Whole| u64::try_from(w.0).ok();
    let mut graph = Graph { entry: certificate.entry, exit: certificate.exit, ..Graph::default() };
    for node in &certificate.nodes {
        graph.node(node.name.clone(), small(node.cost)?);
    }
    for edge in &certificate.edges {
        graph.edge(edge.from, edge.to, small(edge.cost)?);
    }
    let mut bounds = Vec::new();
    for one in &certificate.loops {
        bounds.push(LoopBound { header: one.header, max: small(one.max)? });
    }
    let mut facts = Vec::new();
    for fact in &certificate.facts {
        let mut terms = Vec::new();
        for term in &fact.terms {
            terms.push((i64::try_from(term.factor.0).ok()?, term.count));
        }
        facts.push(Fact { name: fact.name.clone(), terms, limit: i64::try_from(fact.limit.0).ok()? });
    }
    Some(Model { graph, bounds, facts })
}

/// A structured program of about `blocks` blocks and its worst time, known from how it is built.
pub fn known(random: &mut Random, blocks: usize) -> (Model, u64) {
    let mut model = Model::default();
    let start = model.graph.node("start", 7);
    let (mut last, mut worst) = (start, 7);
    while model.graph.nodes.len() < blocks {
        let (first, end, cost) = known_piece(&mut model, random, 7);
        model.graph.edge(last, first, 3);
        last = end;
        worst += cost + 3;
    }
    model.graph.entry = start;
    model.graph.exit = model.graph.node("end", 1);
    let exit = model.graph.exit;
    model.graph.edge(last, exit, 0);
    (model, worst + 1)
}

fn known_piece(model: &mut Model, random: &mut Random, depth: usize) -> (NodeId, NodeId, u64) {
    let cost = random.below(1000) as u64;
    let name = format!("b{}", model.graph.nodes.len());
    match if depth == 0 { 0 } else { random.below(4) } {
        0 => {
            let only = model.graph.node(name, cost);
            (only, only, cost)
        }
        1 => {
            let (a, b, first) = known_piece(model, random, depth - 1);
            let (c, d, second) = known_piece(model, random, depth - 1);
            model.graph.edge(b, c, 1);
            (a, d, first + second + 1)
        }
        2 => {
            let branch = model.graph.node(format!("{name}_if"), cost);
            let (a, b, first) = known_piece(model, random, depth - 1);
            let (c, d, second) = known_piece(model, random, depth - 1);
            let join = model.graph.node(format!("{name}_join"), 2);
            for (from, to) in [(branch, a), (branch, c), (b, join), (d, join)] {
                model.graph.edge(from, to, 0);
            }
            (branch, join, cost + first.max(second) + 2)
        }
        _ => {
            let header = model.graph.node(format!("{name}_loop"), cost);
            let (a, b, body) = known_piece(model, random, depth - 1);
            let behind = model.graph.node(format!("{name}_behind"), 1);
            let max = random.below(12) as u64;
            model.graph.edge(header, a, 0);
            model.graph.edge(b, header, 5);
            model.graph.edge(header, behind, 0);
            model.bounds.push(LoopBound { header, max });
            (header, behind, (max + 1) * cost + max * (body + 5) + 1)
        }
    }
}
