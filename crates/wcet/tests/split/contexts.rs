//! Which splits are guaranteed, against moments of executions written out.

use crate::support::{ALL, Kinds, Random, sample};
use wb_wcet::split::{Guarantee, Reconvergence, Tree, contexts, contexts_used};

#[test]
fn a_split_is_guaranteed_iff_no_moment_leaves_it_without_a_context() {
    let mut random = Random(2);
    let mut seen = [0; 3];
    for seed in 0..3000 {
        let s = sample(seed, ALL);
        let bits = random.next();
        let set = |r: usize| bits >> r & 1 == 1;
        let marked: Vec<bool> = (0..s.regions.len()).map(set).collect();
        let tree = Tree::new(&s.model, &s.regions).expect("regions");
        let moments = s.cost.moments(&set);
        for slots in 0..4 {
            let found = contexts(&tree, &marked, slots, Reconvergence::AtJoin).expect("contexts");
            assert_eq!(found.need, s.cost.need(&set), "seed {seed}");
            assert_eq!(found.used, found.need.min(slots.into()));
            for (r, &g) in found.guarantee.iter().enumerate() {
                let most = moments.iter().filter(|m| m.1 == Some(r)).map(|m| m.0).max().expect("reached");
                let expected = match () {
                    () if !marked[r] || slots == 0 => Guarantee::Never,
                    () if most < u64::from(slots) => Guarantee::Always,
                    () => Guarantee::Maybe,
                };
                assert_eq!(g, expected, "seed {seed} region {r} with {slots}");
                seen[g as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 500), "{seen:?}");
}

#[test]
fn without_joins_paths_multiply() {
    for seed in 0..3000 {
        let s = sample(seed, Kinds { regions: 4, ..ALL });
        let marked = vec![true; s.regions.len()];
        let tree = Tree::new(&s.model, &s.regions).expect("regions");
        let paths = s.cost.paths(&|_| true);
        let enough = u32::try_from(paths - 1).unwrap_or(u32::MAX);
        let found = contexts(&tree, &marked, enough, Reconvergence::Never).expect("contexts");
        assert_eq!(found.need, paths - 1, "seed {seed}");
        if paths > 1 && paths - 1 <= u64::from(u32::MAX) {
            assert!(found.guarantee.iter().all(|&g| g == Guarantee::Always), "seed {seed}");
        }
        if enough > 1 {
            // One less: some split goes without, but a branch that nothing comes before never does.
            let found = contexts(&tree, &marked, enough - 1, Reconvergence::Never).expect("contexts");
            assert!(found.guarantee.contains(&Guarantee::Maybe), "seed {seed}");
        }
    }
}

#[test]
fn a_sequence_needs_one_context_with_joins_and_all_of_them_without() {
    let (model, regions) = crate::expand::many(3, false);
    let tree = Tree::new(&model, &regions).expect("regions");
    let marked = [true; 3];
    let of = |slots, when| contexts(&tree, &marked, slots, when).expect("contexts");
    use Guarantee::{Always, Maybe};
    assert_eq!(of(1, Reconvergence::AtJoin).guarantee, [Always; 3]);
    assert_eq!(of(3, Reconvergence::Never).guarantee, [Always, Maybe, Maybe]);
    assert_eq!(of(6, Reconvergence::Never).guarantee, [Always, Maybe, Maybe]);
    assert_eq!(of(7, Reconvergence::Never).guarantee, [Always; 3]);
    assert_eq!(contexts_used(&tree, &marked, 3, Reconvergence::AtJoin), Ok(1));
    assert_eq!(contexts_used(&tree, &marked, 3, Reconvergence::Never), Ok(3));
    assert!(contexts(&tree, &[true], 1, Reconvergence::Never).is_err());
}
