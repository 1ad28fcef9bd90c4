//! The best placement against all subsets of regions, and against itself: its bound is that of the expanded graph.

use crate::expand::many;
use crate::support::{ALL, Kinds, sample};
use std::time::{Duration, Instant};
use wb_wcet::Region;
use wb_wcet::split::{Reconvergence, expand, longest, optimal, sound, what_if};

#[test]
fn no_subset_that_fits_is_better() {
    let mut useful = 0;
    for seed in 0..6000 {
        let s = sample(seed, Kinds { regions: 7, ..ALL });
        let n = s.regions.len();
        let mut least = [u64::MAX; 5];
        for set in 0..1u32 << n {
            let split = |r: usize| set >> r & 1 == 1;
            let (cycles, need) = (s.cost.cycles(&split), s.cost.need(&split));
            for (slots, least) in least.iter_mut().enumerate() {
                if need <= slots as u64 {
                    *least = cycles.min(*least);
                }
            }
        }
        for slots in 0..=4u32 {
            let found = optimal(&s.model, &s.regions, slots).expect("regions");
            assert_eq!(found.cycles, least[slots as usize], "seed {seed} S {slots}");
            let last = (slots as usize).min(n);
            assert_eq!(found.by_contexts, least[..=last], "seed {seed} S {slots}");
            assert!(s.cost.need(&|r| found.chosen.contains(&r)) <= u64::from(slots), "seed {seed}");
            let some: Vec<Region> = found.chosen.iter().map(|&r| s.regions[r].clone()).collect();
            assert_eq!(longest(&expand(&s.model, &some).expect("regions").model), Ok(found.cycles));
            let bound = sound(&s.model, &some, slots, Reconvergence::AtJoin).expect("regions");
            assert_eq!(bound.cycles, found.cycles, "seed {seed}: what is chosen is guaranteed");
            useful += found.chosen.len();
        }
    }
    assert!(useful > 10_000, "only {useful} splits were worth while");
}

#[test]
fn what_if_flips_one_region_at_a_time() {
    for seed in 0..1500 {
        let s = sample(seed, ALL);
        let best = optimal(&s.model, &s.regions, 2).expect("regions");
        let answers = what_if(&s.model, &s.regions, &best.chosen, 2).expect("regions");
        assert_eq!(answers.len(), s.regions.len());
        for a in answers {
            let with = |r: usize| r == a.region || best.chosen.contains(&r);
            let without = |r: usize| r != a.region && best.chosen.contains(&r);
            assert_eq!((a.with, a.without), (s.cost.cycles(&with), s.cost.cycles(&without)), "seed {seed}");
            assert_eq!(a.fits, s.cost.need(&with) <= 2, "seed {seed}");
            assert!(!a.fits || a.with >= best.cycles, "seed {seed}: the best can be improved");
        }
    }
    assert!(what_if(&sample(0, ALL).model, &[], &[3], 1).is_err());
}

/// 10,000 blocks: sequences of ten nested regions, one after the other.
fn large() -> (wb_wcet::Model, Vec<Region>) {
    let (mut model, mut regions) = many(10, true);
    let (piece, inside) = (model.clone(), regions.clone());
    for _ in 1..190 {
        let (nodes, edges) = (model.graph.nodes.len(), model.graph.edges.len());
        model.graph.nodes.extend(piece.graph.nodes.iter().cloned());
        for e in &piece.graph.edges {
            model.graph.edge(e.from + nodes, e.to + nodes, e.cost);
        }
        model.graph.edge(model.graph.exit, piece.graph.entry + nodes, 0);
        model.graph.exit = piece.graph.exit + nodes;
        regions.extend(inside.iter().map(|r| Region {
            branch: r.branch + nodes,
            join: r.join + nodes,
            first: r.first.iter().map(|e| e + edges).collect(),
            second: r.second.iter().map(|e| e + edges).collect(),
            ..*r
        }));
    }
    (model, regions)
}

fn timed(limit: Duration) {
    let mut shown = Vec::new();
    for (name, (model, regions)) in
        [("sequence of nests", large()), ("one nest", many(2000, true)), ("one sequence", many(2000, false))]
    {
        assert!(model.graph.nodes.len() >= 9_800, "{}", model.graph.nodes.len());
        let start = Instant::now();
        let best = optimal(&model, &regions, 7).expect("regions");
        let placed = start.elapsed();
        let some: Vec<Region> = best.chosen.iter().map(|&r| regions[r].clone()).collect();
        let start = Instant::now();
        let bound = longest(&expand(&model, &some).expect("regions").model);
        let expanded = start.elapsed();
        assert_eq!(bound, Ok(best.cycles), "{name}");
        let start = Instant::now();
        what_if(&model, &regions, &best.chosen, 7).expect("regions");
        let asked = start.elapsed();
        shown.push(format!("{name}: placement {placed:?}, bound of it {expanded:?}, what-if {asked:?}"));
        assert!(placed < limit, "{shown:?}");
    }
    println!("{}", shown.join("\n"));
}

#[test]
fn ten_thousand_blocks_in_a_debug_build() {
    timed(Duration::from_secs(10));
}

#[test]
#[ignore = "a measurement: run in a release build with --ignored --nocapture"]
fn ten_thousand_blocks_in_a_second() {
    timed(Duration::from_secs(1));
}
