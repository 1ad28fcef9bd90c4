//! Graphs that no compiler makes, with regions that make no sense: an error or an answer that fits, never a panic.

use crate::support::Random;
use wb_wcet::paper::{Cfg, per_path, pws_wave, thesis_paths};
use wb_wcet::split::{Mode, Reconvergence, Tree, contexts, expand_modes, longest, optimal, sound, what_if};
use wb_wcet::{Count, Fact, Graph, LoopBound, Model, Region};

fn strange(random: &mut Random) -> (Model, Vec<Region>) {
    let n = 2 + random.below(7);
    let mut graph = Graph::default();
    for v in 0..n {
        graph.node(v.to_string(), random.below(9));
    }
    // Mostly forward, so that some of them make sense.
    let node = |random: &mut Random, least: u64| {
        if random.chance(3) { random.below(n + 1) } else { least + random.below(n - least) }
    };
    for v in 0..n - 1 {
        for _ in 0..1 + random.below(2) {
            let least = if random.chance(90) { v + 1 } else { 0 };
            let to = node(random, least);
            graph.edge(v as usize, to as usize, random.below(3));
        }
    }
    graph.exit = n as usize - 1;
    let edges = graph.edges.len() as u64;
    let mut regions = Vec::new();
    for _ in 0..1 + random.below(3) {
        let branch = node(random, 0);
        let join = node(random, (branch + 1).min(n - 1));
        let pick = |random: &mut Random| {
            let out = |e: &usize| graph.edges[*e].from == branch as usize;
            let mut some: Vec<usize> = (0..edges as usize).filter(out).take(1).collect();
            if random.chance(20) {
                some.push(random.below(edges + 1) as usize);
            }
            some
        };
        let first = pick(random);
        let second = if random.chance(50) { Vec::new() } else { vec![random.below(edges) as usize] };
        let (branch, join) = (branch as usize, join as usize);
        regions.push(Region { branch, join, first, second, split_cost: random.below(3), merge_cost: 1 });
    }
    let bounds = (0..n as usize).map(|header| LoopBound { header, max: random.below(3) }).collect();
    let facts = vec![Fact { name: "f".into(), terms: vec![(1, Count::Edge(0))], limit: 5 }];
    (Model { graph, bounds, facts }, regions)
}

#[test]
fn strange_graphs_are_answered_or_refused() {
    let mut random = Random(5);
    let (mut answered, mut refused) = (0, 0);
    for round in 0..60_000 {
        let (model, regions) = strange(&mut random);
        let marked = vec![true; regions.len()];
        // None of these may panic, whatever the others say.
        let _ = Cfg::from_model(&model, &regions).map(|(cfg, _)| cfg.to_model(1, 1));
        let _ = per_path(&model, &regions[0]).map(|p| (longest(&p.parent), longest(&p.child)));
        let _ = thesis_paths(&model, &regions, &marked, 2);
        let _ = pws_wave(&model, &regions, &marked, 2, 1, 1);
        let _ = expand_modes(&model, &regions, &vec![Mode::Maybe; regions.len()]);
        if let Ok(tree) = Tree::new(&model, &regions) {
            let _ = contexts(&tree, &marked, 2, Reconvergence::Never);
        }
        let Ok(best) = optimal(&model, &regions, 2) else {
            refused += 1;
            continue;
        };
        answered += 1;
        let unsplit = longest(&model).expect("what can be placed can be bounded");
        assert!(best.cycles <= unsplit, "round {round}");
        let some: Vec<Region> = best.chosen.iter().map(|&r| regions[r].clone()).collect();
        let bound = sound(&model, &some, 2, Reconvergence::AtJoin).expect("regions");
        assert_eq!(
            (bound.cycles, longest(&bound.expanded.model)),
            (best.cycles, Ok(best.cycles)),
            "round {round}"
        );
        what_if(&model, &regions, &best.chosen, 2).expect("regions");
    }
    assert!(answered > 2000 && refused > 2000, "{answered} answered, {refused} refused");
}
