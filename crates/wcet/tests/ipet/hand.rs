//! Small models whose bounds are computed by hand.

use wb_wcet::ipet::{Method, bound, bound_by_program, lp_text};
use wb_wcet::{Count, Fact, Graph, LoopBound, Model};

/// entry 1 → header 10 → {left 100, right 5} → latch 2 → header; header → exit 3.
pub fn diamond_in_loop(max: u64) -> Model {
    let mut graph = Graph::default();
    let entry = graph.node("entry", 1);
    let header = graph.node("header", 10);
    let left = graph.node("left", 100);
    let right = graph.node("right", 5);
    let latch = graph.node("latch", 2);
    let exit = graph.node("exit", 3);
    for (from, to) in [
        (entry, header),
        (header, left),
        (header, right),
        (left, latch),
        (right, latch),
        (latch, header),
        (header, exit),
    ] {
        graph.edge(from, to, 0);
    }
    graph.exit = exit;
    Model { graph, bounds: vec![LoopBound { header, max }], facts: Vec::new() }
}

#[test]
fn a_loop_with_two_arms() {
    let found = bound(&diamond_in_loop(4)).expect("bound");
    assert_eq!(found.cycles, 1 + 5 * 10 + 4 * 102 + 3);
    assert_eq!(found.nodes, [1, 5, 4, 0, 4, 1]);
    assert_eq!(found.edges, [1, 4, 0, 4, 0, 4, 1]);
    assert_eq!(found.method, Method::Structure);
    assert_eq!(bound(&diamond_in_loop(0)).expect("bound").cycles, 14);
}

#[test]
fn a_fact_cuts_the_long_arm() {
    let mut model = diamond_in_loop(4);
    model.facts.push(Fact { name: "cold".into(), terms: vec![(1, Count::Node(2))], limit: 3 });
    let found = bound(&model).expect("bound");
    assert_eq!(found.cycles, 1 + 5 * 10 + 3 * 102 + 7 + 3);
    assert_eq!((found.nodes[2], found.nodes[3], found.reached), (3, 1, true));
    assert_eq!(found.method, Method::Prices);
    assert_eq!(bound_by_program(&model).expect("bound").cycles, found.cycles);
}

#[test]
fn a_fractional_optimum_is_a_sound_bound() {
    let mut model = diamond_in_loop(1);
    // An execution never takes the long arm, the relaxation takes it half a time.
    model.facts.push(Fact { name: "half".into(), terms: vec![(2, Count::Node(2))], limit: 1 });
    let found = bound(&model).expect("bound");
    // 1 + 20 + (100 + 5) / 2 + 2 + 3 = 78.5, and a time is whole.
    assert_eq!((found.cycles, found.reached), (78, false));
}

#[test]
fn a_loop_that_only_a_fact_limits() {
    let mut model = diamond_in_loop(0);
    model.bounds.clear();
    model.facts.push(Fact { name: "total".into(), terms: vec![(1, Count::Node(1))], limit: 5 });
    let found = bound(&model).expect("bound");
    assert_eq!((found.cycles, found.method), (1 + 5 * 10 + 4 * 102 + 3, Method::Program));
    let json = found.certificate.to_json().expect("json");
    assert_eq!(wb_check::check_proof(&json).expect("certificate").bound, found.cycles);
}

#[test]
fn an_irreducible_region_with_a_bound() {
    let mut graph = Graph::default();
    let entry = graph.node("entry", 1);
    let a = graph.node("a", 10);
    let b = graph.node("b", 20);
    let exit = graph.node("exit", 0);
    for (from, to) in [(entry, a), (entry, b), (a, b), (b, a), (b, exit)] {
        graph.edge(from, to, 0);
    }
    graph.exit = exit;
    let model = Model { graph, bounds: vec![LoopBound { header: a, max: 3 }], facts: Vec::new() };
    // In at a, three times back to it: a and b four times each.
    let found = bound(&model).expect("bound");
    assert_eq!((found.cycles, found.reached), (1 + 4 * 30, true));
    let report = wb_check::check_proof(&found.certificate.to_json().expect("json")).expect("certificate");
    assert_eq!((report.bound, report.loops), (121, 1));
    assert_eq!(report.assumptions[2], "the loop at `a` goes back at most 3 times each time it is entered");
}

#[test]
fn parts_that_never_run_do_not_count() {
    let mut model = diamond_in_loop(2);
    let dead = model.graph.node("dead", 1_000_000);
    let trap = model.graph.node("trap", 1_000_000);
    model.graph.edge(dead, 1, 0);
    model.graph.edge(1, trap, 0);
    model.graph.edge(trap, trap, 0);
    let found = bound(&model).expect("bound");
    assert_eq!(found.cycles, 1 + 3 * 10 + 2 * 102 + 3);
    wb_check::check_proof(&found.certificate.to_json().expect("json")).expect("certificate");
}

#[test]
fn entry_as_header_and_entry_as_exit() {
    let mut graph = Graph::default();
    let only = graph.node("only", 5);
    let model = Model { graph: graph.clone(), ..Model::default() };
    assert_eq!(bound(&model).expect("bound").cycles, 5);
    let exit = graph.node("exit", 1);
    graph.edge(only, only, 2);
    graph.edge(only, exit, 0);
    graph.exit = exit;
    let model = Model { graph, bounds: vec![LoopBound { header: only, max: 9 }], facts: Vec::new() };
    let found = bound(&model).expect("bound");
    assert_eq!((found.cycles, found.nodes), (10 * 5 + 9 * 2 + 1, vec![10, 1]));
}

#[test]
fn numbers_beyond_a_float_stay_exact() {
    let mut model = diamond_in_loop((1 << 40) + 1);
    model.graph.nodes[2].cost = (1 << 22) + 1;
    let found = bound(&model).expect("bound");
    let max = (1_u64 << 40) + 1;
    assert_eq!(found.cycles, 1 + (max + 1) * 10 + max * ((1 << 22) + 3) + 3);
    let json = found.certificate.to_json().expect("json");
    assert!(json.contains(&format!("\"bound\":\"{}\"", found.cycles)), "beyond 2^53 as a string");
    assert_eq!(wb_check::check_proof(&json).expect("certificate").bound, found.cycles);
    assert_eq!(wb_wcet::ipet::Certificate::from_json(&json).expect("json"), found.certificate);
}

#[test]
fn the_program_as_text() {
    let mut model = diamond_in_loop(4);
    model.facts.push(Fact {
        name: "cold arm".into(),
        terms: vec![(2, Count::Node(2)), (-1, Count::Edge(0))],
        limit: 3,
    });
    let text = lp_text(&model).expect("text");
    for line in [
        " entry: + start = 1",
        " flow_in_entry: + n_entry - start = 0",
        " flow_in_header: + n_header - e_entry__header - e_latch__header = 0",
        " flow_out_latch: + n_latch - e_latch__header = 0",
        " loop_header: + e_latch__header - 4 e_entry__header <= 0",
        " fact_cold_arm: + 2 n_left - e_entry__header <= 3",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    assert!(text.starts_with("\\ Worst-case time of one wave\nMaximize\n cycles: + n_entry + 10 n_header"));
    assert!(!text.contains("flow_out_exit") && text.ends_with("End\n"));
}
