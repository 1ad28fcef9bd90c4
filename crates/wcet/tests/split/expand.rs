//! The expanded graph's longest way is the worst case of the region recursion, on random programs and on hard shapes.

use crate::support::{ALL, Kinds, Random, sample};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use wb_wcet::split::{Mode, Side, SplitError, Tree, expand, expand_modes, longest};
use wb_wcet::{Count, Fact, Graph, LoopBound, Model, Region};

#[test]
fn the_longest_way_is_that_of_the_cost_tree() {
    let mut random = Random(1);
    let (mut splits, mut loops) = (0, 0);
    for seed in 0..6000 {
        let s = sample(seed, ALL);
        assert_eq!(longest(&s.model), Ok(s.cost.cycles(&|_| false)), "seed {seed} unsplit");
        let chosen = random.next();
        let set = |r: usize| chosen >> r & 1 == 1;
        let some: Vec<Region> =
            s.regions.iter().enumerate().filter(|(r, _)| set(*r)).map(|(_, r)| r.clone()).collect();
        let expanded = expand(&s.model, &some).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(longest(&expanded.model), Ok(s.cost.cycles(&set)), "seed {seed} set {chosen:b}");
        splits += some.len();
        loops += expanded.model.bounds.len();
        let modes: Vec<Mode> =
            (0..s.regions.len()).map(|r| if set(r) { Mode::Split } else { Mode::Serial }).collect();
        let same = expand_modes(&s.model, &s.regions, &modes).expect("as above");
        assert_eq!(same.model, expanded.model, "seed {seed}: serial regions change nothing");
    }
    assert!(splits > 5000 && loops > 3000, "{splits} splits, {loops} loops: the programs are too simple");
}

#[test]
fn maybe_is_the_worse_of_both_whatever_the_others_do() {
    for seed in 0..1500 {
        let s = sample(seed, Kinds { regions: 4, ..ALL });
        let n = s.regions.len();
        for maybe in 0..1u32 << n {
            let modes: Vec<Mode> =
                (0..n).map(|r| if maybe >> r & 1 == 1 { Mode::Maybe } else { Mode::Split }).collect();
            let found = longest(&expand_modes(&s.model, &s.regions, &modes).expect("regions").model);
            // The worst case is monotone in what is inside, so it is the worst over all outcomes.
            let outcomes = (0..1u32 << n).filter(|set| set & !maybe == !maybe & ((1 << n) - 1));
            let worst = outcomes.map(|set| s.cost.cycles(&|r| set >> r & 1 == 1)).max();
            assert_eq!(found.ok(), worst, "seed {seed} maybe {maybe:b}");
        }
    }
}

#[test]
fn nodes_and_edges_know_where_they_come_from() {
    for seed in 0..500 {
        let s = sample(seed, ALL);
        let x = expand(&s.model, &s.regions).expect("regions");
        let graph = &x.model.graph;
        assert_eq!((graph.nodes.len(), graph.edges.len()), (x.node_origin.len(), x.edge_origin.len()));
        assert_eq!(x.side.len(), x.node_origin.len());
        for (edge, &origin) in graph.edges.iter().zip(&x.edge_origin) {
            let before = s.model.graph.edges[origin];
            assert_eq!((x.node_origin[edge.from], x.node_origin[edge.to]), (before.from, before.to));
            assert!(edge.cost >= before.cost);
        }
        let names: BTreeSet<&str> = graph.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names.len(), graph.nodes.len(), "names are unique");
        for bound in &x.model.bounds {
            assert!(on_cycle(graph, bound.header), "seed {seed}: a bound without a loop");
        }
        for (v, side) in x.side.iter().enumerate() {
            if *side == Side::Whole {
                assert_eq!(graph.nodes[v], s.model.graph.nodes[x.node_origin[v]]);
            }
        }
        let ones = (vec![1; graph.nodes.len()], vec![1; graph.edges.len()]);
        let (nodes, _) = x.back(&ones.0, &ones.1, &s.model);
        assert_eq!(nodes.iter().sum::<u64>(), graph.nodes.len() as u64);
    }
}

fn on_cycle(graph: &Graph, start: usize) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut todo = vec![start];
    while let Some(v) = todo.pop() {
        for edge in graph.edges.iter().filter(|e| e.from == v) {
            if edge.to == start {
                return true;
            }
            if !std::mem::replace(&mut seen[edge.to], true) {
                todo.push(edge.to);
            }
        }
    }
    false
}

/// if (a) x else y, as PWS figure 7 b.
fn diamond() -> (Model, Region) {
    let mut graph = Graph::default();
    let [a, x, s, y, j] =
        [("a", 1), ("x", 10), ("s", 2), ("y", 20), ("j", 4)].map(|(name, cost)| graph.node(name, cost));
    let first = graph.edge(a, x, 0);
    graph.edge(a, s, 0);
    graph.edge(x, s, 0);
    let second = graph.edge(s, y, 0);
    graph.edge(s, j, 0);
    graph.edge(y, j, 0);
    (graph.entry, graph.exit) = (a, j);
    let model = Model { graph, bounds: Vec::new(), facts: Vec::new() };
    (
        model,
        Region { branch: a, join: j, first: vec![first], second: vec![second], split_cost: 3, merge_cost: 5 },
    )
}

#[test]
fn facts_that_limit_from_above_hold_in_all_copies_together() {
    let (mut model, region) = diamond();
    let fact = |name: &str, terms| Fact { name: name.into(), terms, limit: 1 };
    model.facts = vec![
        fact("above", vec![(2, Count::Node(2)), (1, Count::Edge(3))]),
        fact("mixed", vec![(1, Count::Node(1)), (-1, Count::Node(3))]),
    ];
    let x = expand(&model, std::slice::from_ref(&region)).expect("a region");
    assert_eq!(x.model.facts.len(), 1);
    // The serialisation block exists on both sides, the edge into the second side on one.
    let terms = &x.model.facts[0].terms;
    assert_eq!(terms.iter().filter(|t| t.0 == 2).count(), 2);
    assert_eq!(terms.iter().filter(|t| matches!(t, (1, Count::Edge(_)))).count(), 1);
    assert!(x.notes.iter().any(|n| n.contains("`mixed`")), "{:?}", x.notes);
    assert_eq!(expand(&model, &[]).expect("no region").model, model, "without splits nothing is lost");
}

#[test]
fn ill_formed_regions_are_named() {
    let (model, region) = diamond();
    let error = |model: &Model, regions: &[Region]| expand(model, regions).map(|_| ()).unwrap_err();
    let with = |change: &dyn Fn(&mut Region)| {
        let mut r = region.clone();
        change(&mut r);
        error(&model, &[r])
    };
    assert!(matches!(with(&|r| r.join = 3), SplitError::Leaves { node, .. } if node == "j"));
    assert!(matches!(with(&|r| r.join = r.branch), SplitError::Leaves { .. }));
    assert!(matches!(with(&|r| r.join = 99), SplitError::NoSuch { what: "node", index: 99, .. }));
    assert!(matches!(with(&|r| r.second = vec![99]), SplitError::NoSuch { what: "edge", .. }));
    assert!(matches!(error(&model, &[region.clone(), region.clone()]), SplitError::SameBranch { .. }));
    let mut inner = region.clone();
    (inner.branch, inner.first, inner.second) = (2, vec![3], vec![]);
    // The serialisation block's branch as a region of its own takes the outer region's edge away from it.
    let shown = error(&model, &[region.clone(), inner]).to_string();
    assert_eq!(
        shown,
        "edge `s` -> `y` is given as a side of the region of `a` but does not start there directly"
    );
    let mut side_door = model.clone();
    let z = side_door.graph.node("z", 0);
    side_door.graph.edge(z, 0, 0);
    side_door.graph.edge(z, 3, 0);
    side_door.graph.entry = z;
    assert!(matches!(error(&side_door, &[region]), SplitError::Entered { node, .. } if node == "y"));
}

#[test]
fn regions_that_cross_are_refused() {
    let mut graph = Graph::default();
    for name in ["a", "b", "c", "d", "e"] {
        graph.node(name, 1);
    }
    for (from, to) in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)] {
        graph.edge(from, to, 0);
    }
    graph.exit = 4;
    let model = Model { graph, bounds: Vec::new(), facts: Vec::new() };
    let region =
        |branch, join| Region { branch, join, first: vec![], second: vec![], split_cost: 0, merge_cost: 0 };
    let crossing = expand(&model, &[region(0, 3), region(1, 4)]);
    assert!(crossing.is_err(), "{:?}", crossing.map(|x| x.model));
}

#[test]
fn loops_that_lose_their_back_edge_lose_their_bound() {
    // The first side is a loop whose way back passes an edge that only the second side has: none of ours, but legal.
    let (mut model, mut region) = diamond();
    let x = 1;
    let back = model.graph.edge(x, x, 0);
    model.bounds.push(LoopBound { header: x, max: 7 });
    region.second.push(back);
    let expanded = expand(&model, &[region]).expect("a region");
    assert_eq!(expanded.model.bounds, []);
}

/// `count` divergent ifs, in sequence or each in the first side of the one before.
pub fn many(count: usize, nested: bool) -> (Model, Vec<Region>) {
    let mut graph = Graph::default();
    let exit = graph.node("exit", 1);
    let mut regions = Vec::new();
    let mut at = graph.node("entry", 1);
    (graph.entry, graph.exit) = (at, exit);
    let mut pending = Vec::new();
    for i in 0..count {
        let cost = 1 + (i * 7 % 11) as u64;
        let [b, s, y, j] = ["b", "s", "y", "j"].map(|n| graph.node(format!("{n}{i}"), cost));
        graph.edge(at, b, 0);
        let skip = graph.edge(b, s, 0);
        let second = graph.edge(s, y, 0);
        graph.edge(s, j, 0);
        graph.edge(y, j, 0);
        let x = graph.node(format!("x{i}"), cost + 3);
        let first = graph.edge(b, x, 0);
        let _ = skip;
        regions.push(Region {
            branch: b,
            join: j,
            first: vec![first],
            second: vec![second],
            split_cost: 1,
            merge_cost: 1,
        });
        if nested {
            at = x;
            pending.push((s, j));
        } else {
            graph.edge(x, s, 0);
            at = j;
        }
    }
    while let Some((s, j)) = pending.pop() {
        graph.edge(at, s, 0);
        at = j;
    }
    graph.edge(at, exit, 0);
    (Model { graph, bounds: Vec::new(), facts: Vec::new() }, regions)
}

#[test]
fn thousands_of_regions_nested_or_not_take_little_time() {
    for nested in [false, true] {
        let (model, regions) = many(4000, nested);
        let start = Instant::now();
        let x = expand(&model, &regions).expect("regions");
        let bound = longest(&x.model).expect("a bound");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert!(x.model.graph.nodes.len() < 2 * model.graph.nodes.len());
        assert!(bound < longest(&model).expect("a bound"));
        let tree = Tree::new(&model, &regions).expect("regions");
        assert_eq!(tree.parent(3999), nested.then_some(3998));
    }
    let (model, regions) = many(40, true);
    let modes = vec![Mode::Maybe; 40];
    let x = expand_modes(&model, &regions, &modes).expect("regions");
    assert!(x.model.graph.nodes.len() < 40 * model.graph.nodes.len());
    assert!(x.notes.len() >= 30, "deep ones are charged serially and say so");
}
