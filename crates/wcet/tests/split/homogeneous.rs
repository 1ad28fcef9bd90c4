//! Branches with homogeneous masks (THESIS 5.2.4): the longest way of the expanded graph against a search of all ways that
//! never run both sides of such a branch, and against trees of costs. A branch that is called homogeneous and is not, is
//! found.

use crate::support::{ALL, Kinds, Random, Sample, sample};
use std::collections::BTreeMap;
use wb_wcet::split::{Mode, expand_modes, longest};
use wb_wcet::{Count, Fact, Graph, Model, Region};

/// The longest way on which no region of `set` has both sides. Only for graphs without loops.
fn worst(s: &Sample, set: &dyn Fn(usize) -> bool) -> u64 {
    let graph = &s.model.graph;
    let out = graph.outgoing();
    let mut known: BTreeMap<(usize, u64), Option<u64>> = BTreeMap::new();
    // The node, and the regions whose first side was entered on the way there.
    let mut work = vec![(graph.entry, 0u64)];
    while let Some(&(node, ran)) = work.last() {
        if known.contains_key(&(node, ran)) {
            work.pop();
            continue;
        }
        let mut next = Vec::new();
        for &e in &out[node] {
            let in_side = |side: fn(&Region) -> &Vec<usize>| {
                let has = |r: &usize| set(*r) && side(&s.regions[*r]).contains(&e);
                (0..s.regions.len()).filter(has).fold(0u64, |bits, r| bits | 1 << r)
            };
            if in_side(|r| &r.second) & ran == 0 {
                next.push((e, (graph.edges[e].to, ran | in_side(|r| &r.first))));
            }
        }
        let open: Vec<_> = next.iter().map(|n| n.1).filter(|n| !known.contains_key(n)).collect();
        if !open.is_empty() {
            work.extend(open);
            continue;
        }
        let own = graph.nodes[node].cost;
        let rest = next.iter().filter_map(|(e, n)| Some(graph.edges[*e].cost + known[n]?)).max();
        let cycles = if node == graph.exit { Some(own) } else { rest.map(|r| own + r) };
        known.insert((node, ran), cycles);
        work.pop();
    }
    known[&(graph.entry, 0)].expect("a way")
}

fn found(s: &Sample, mode: &dyn Fn(usize) -> Mode) -> u64 {
    let modes: Vec<Mode> = (0..s.regions.len()).map(mode).collect();
    let expanded = expand_modes(&s.model, &s.regions, &modes).expect("regions");
    longest(&expanded.model).expect("no overflow")
}

fn one_side(set: u64) -> impl Fn(usize) -> Mode {
    move |r| if set >> r & 1 == 1 { Mode::Homogeneous } else { Mode::Serial }
}

#[test]
fn the_longest_way_is_that_of_a_search_of_all_ways() {
    let mut random = Random(7);
    let (mut smaller, mut wrong, mut cases) = (0, 0, 0);
    for seed in 0..3000 {
        let s = sample(seed, Kinds { loops: false, ..ALL });
        let set = random.next();
        let bound = found(&s, &one_side(set));
        let right = worst(&s, &|r| set >> r & 1 == 1);
        assert_eq!(bound, right, "seed {seed} set {set:b}");
        smaller += u64::from(bound < found(&s, &|_| Mode::Serial));
        // Planted: one branch more is taken to be homogeneous, and its lanes disagree.
        let other = (0..s.regions.len()).find(|r| set >> r & 1 == 0);
        if let Some(other) = other {
            cases += 1;
            wrong += u64::from(found(&s, &one_side(set | 1 << other)) < right);
        }
    }
    println!(
        "{smaller} of 3000 bounds are smaller; {wrong} of {cases} wrong facts give a bound that is too small"
    );
    assert!(smaller > 500 && wrong > 200, "{smaller} smaller, {wrong} of {cases} wrong facts found");
}

#[test]
fn with_loops_it_is_that_of_the_cost_tree_without_costs_of_splitting() {
    let mut random = Random(8);
    for seed in 0..3000 {
        let mut s = sample(seed, ALL);
        for region in &mut s.regions {
            (region.split_cost, region.merge_cost) = (0, 0);
        }
        let set = random.next();
        let split = |r: usize| if set >> r & 1 == 1 { Mode::Split } else { Mode::Serial };
        assert_eq!(found(&s, &one_side(set)), found(&s, &split), "seed {seed}");
        // Costs of splitting are not charged.
        let costly = sample(seed, ALL);
        assert_eq!(found(&costly, &one_side(set)), found(&s, &split), "seed {seed}");
    }
}

/// `branch` → `a` or `else`, `a` → `else` → `b` or `join`.
fn two_sides(skip_first: bool) -> (Model, Region) {
    let mut graph = Graph::default();
    let [branch, a, other, b, join] = ["branch", "a", "else", "b", "join"].map(|n| graph.node(n, 0));
    let first = vec![graph.edge(branch, a, 10)];
    graph.edge(a, other, 0);
    let second = vec![graph.edge(other, b, 20)];
    graph.edge(b, join, 0);
    graph.edge(other, join, 1);
    if skip_first {
        graph.edge(branch, other, 1);
    }
    (graph.entry, graph.exit) = (branch, join);
    let region = Region { branch, join, first, second, split_cost: 5, merge_cost: 5 };
    (Model { graph, ..Model::default() }, region)
}

#[test]
fn the_longer_side_is_charged_and_a_way_that_is_missing_is_not_left_out() {
    let bound = |skip_first| {
        let (model, region) = two_sides(skip_first);
        longest(&expand_modes(&model, &[region], &[Mode::Homogeneous]).expect("a region").model)
    };
    assert_eq!(bound(true), Ok(21));
    // Nobody was seen to skip the first side: what the second costs after a skip is bounded by both in sequence only.
    assert_eq!(bound(false), Ok(30));
}

#[test]
fn facts_with_negative_factors_hold_where_nobody_splits() {
    let (mut model, region) = two_sides(true);
    let terms = vec![(1, Count::Edge(region.second[0])), (-1, Count::Edge(region.first[0]))];
    model.facts.push(Fact { name: "not alone".into(), terms, limit: 0 });
    let kept = |mode| {
        let x = expand_modes(&model, std::slice::from_ref(&region), &[mode]).expect("a region");
        x.model.facts.len()
    };
    assert_eq!((kept(Mode::Homogeneous), kept(Mode::Split)), (1, 0));
}
