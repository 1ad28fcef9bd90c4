//! Thousands of random small models: structure, LP and brute force agree, and the checker accepts every certificate.

use wb_wcet::ipet::{Bound, IpetError, bound, bound_by_program, brute};
use wb_wcet::{LoopBound, Model};

use crate::graphs::{Random, facts, structured, tangled, untangled};

const STATES: usize = 20_000;

fn checked(bound: &Bound, model: &Model) -> i128 {
    let json = bound.certificate.to_json().expect("json");
    let report = wb_check::check_proof(&json).unwrap_or_else(|error| panic!("{error}\n{model:?}\n{json}"));
    assert_eq!(report.bound, bound.cycles);
    assert_eq!(report.value.div_euclid(1 << 20).max(0), i128::from(bound.cycles));
    report.value
}

/// The counts are those of one execution: flow is kept, and if `reached`, its time is the bound.
fn check_counts(model: &Model, bound: &Bound) {
    let graph = &model.graph;
    let (outgoing, incoming) = (graph.outgoing(), graph.incoming());
    for v in 0..graph.nodes.len() {
        let into: u64 = incoming[v].iter().map(|&e| bound.edges[e]).sum();
        let out: u64 = outgoing[v].iter().map(|&e| bound.edges[e]).sum();
        assert_eq!(bound.nodes[v], into + u64::from(v == graph.entry), "{model:?}");
        assert_eq!(bound.nodes[v], out + u64::from(v == graph.exit), "{model:?}");
    }
    if bound.reached {
        let nodes: u64 = graph.nodes.iter().zip(&bound.nodes).map(|(n, c)| n.cost * c).sum();
        let edges: u64 = graph.edges.iter().zip(&bound.edges).map(|(e, c)| e.cost * c).sum();
        assert_eq!(nodes + edges, bound.cycles, "{model:?}");
    }
}

#[test]
fn structure_program_and_brute_force_agree() {
    let mut random = Random(1);
    let (mut compared, mut skipped, mut loops, mut nested) = (0, 0, 0, 0);
    while compared < 20_000 {
        let model = if compared % 3 == 0 { untangled(&mut random) } else { structured(&mut random) };
        let worst = match brute::worst(&model, STATES) {
            Ok(worst) => worst.expect("an execution"),
            Err(brute::BruteError::TooLarge(_)) => {
                skipped += 1;
                continue;
            }
            Err(error) => panic!("{error}: {model:?}"),
        };
        let exact = bound(&model).unwrap_or_else(|error| panic!("{error}: {model:?}"));
        assert_eq!(exact.cycles, worst, "structure: {model:?}");
        assert!(exact.reached);
        assert_eq!(checked(&exact, &model), i128::from(worst) << 20);
        check_counts(&model, &exact);
        let program = bound_by_program(&model).unwrap_or_else(|error| panic!("{error}: {model:?}"));
        assert_eq!(program.cycles, worst, "program: {model:?}");
        checked(&program, &model);
        check_counts(&model, &program);
        compared += 1;
        loops += model.bounds.len();
        nested += usize::from(model.bounds.len() > 2);
    }
    assert!(skipped < 2_000, "{skipped} models are too large for brute force");
    assert!(
        loops > 10_000 && nested > 2_000,
        "the models are too simple: {loops} loops, {nested} with three"
    );
}

#[test]
fn bounds_with_facts_are_sound_and_tight() {
    let mut random = Random(2);
    let (mut compared, mut contradictions, mut reached, mut equal, mut tightened) = (0, 0, 0, 0, 0);
    while compared < 6_000 {
        let mut model = if compared % 3 == 0 { untangled(&mut random) } else { structured(&mut random) };
        let Ok(Some(without)) = brute::worst(&model, STATES) else { continue };
        facts(&mut model, &mut random);
        let Ok(worst) = brute::worst(&model, STATES) else { continue };
        compared += 1;
        let priced = match bound(&model) {
            Ok(priced) => priced,
            Err(IpetError::Contradiction { .. }) => {
                assert_eq!(worst, None, "{model:?}");
                assert!(
                    matches!(bound_by_program(&model), Err(IpetError::Contradiction { .. })),
                    "{model:?}"
                );
                contradictions += 1;
                continue;
            }
            Err(error) => panic!("{error}: {model:?}"),
        };
        checked(&priced, &model);
        check_counts(&model, &priced);
        let worst = worst.unwrap_or(0);
        assert!(priced.cycles >= worst, "{} < {worst}: {model:?}", priced.cycles);
        if priced.reached {
            assert_eq!(priced.cycles, worst, "{model:?}");
        }
        let program = bound_by_program(&model).unwrap_or_else(|error| panic!("{error}: {model:?}"));
        checked(&program, &model);
        check_counts(&model, &program);
        assert!(program.cycles >= worst, "{model:?}");
        if program.reached {
            assert!(priced.cycles <= worst + 1, "the LP is integral: {model:?}");
        }
        assert!(priced.cycles.abs_diff(program.cycles) <= 1, "{} {}", priced.cycles, program.cycles);
        reached += usize::from(priced.reached);
        equal += usize::from(priced.cycles == worst);
        tightened += usize::from(priced.cycles < without);
    }
    println!(
        "{compared} models, {contradictions} contradictions, {reached} reached, {equal} equal, {tightened} tightened"
    );
    assert!(contradictions > 100 && reached > 2_000 && equal >= reached && tightened > 1_000);
}

#[test]
fn irreducible_graphs_are_bounded_soundly() {
    let mut random = Random(3);
    let (mut compared, mut limited, mut with_limits) = (0, 0, 0);
    while compared < 3_000 {
        let mut model = Model { graph: tangled(&mut random), ..Model::default() };
        let Ok(structure) = wb_wcet::ipet::structure::Structure::new(&model.graph) else { continue };
        if structure.irreducible.is_none() {
            continue;
        }
        // Any nodes may have a bound here, loops may have none, and facts may limit what is left.
        for header in 0..model.graph.nodes.len() {
            if random.chance(60) {
                model.bounds.push(LoopBound { header, max: random.below(3) as u64 });
            }
        }
        if random.chance(50) {
            facts(&mut model, &mut random);
        }
        let found = match bound(&model) {
            Ok(found) => found,
            Err(IpetError::NotAHeader { node, .. }) => {
                model.bounds.retain(|b| model.graph.nodes[b.header].name != node);
                match bound(&model) {
                    Ok(found) => found,
                    Err(_) => continue,
                }
            }
            Err(IpetError::Contradiction { .. }) => {
                if let Ok(worst) = brute::worst(&model, STATES) {
                    assert_eq!(worst, None, "{model:?}");
                }
                continue;
            }
            Err(_) => continue,
        };
        checked(&found, &model);
        check_counts(&model, &found);
        with_limits += usize::from(!found.certificate.limits.is_empty());
        match brute::worst(&model, STATES) {
            Ok(worst) => assert!(worst.unwrap_or(0) <= found.cycles, "{model:?}"),
            Err(brute::BruteError::TooLarge(_)) => continue,
            Err(error) => panic!("{error}: {model:?}"),
        }
        compared += 1;
        limited += usize::from(!model.facts.is_empty());
    }
    println!("{compared} irreducible models, {limited} with facts, {with_limits} that need limits");
    assert!(limited > 300);
}
