//! What is wrong with a model is said exactly, with names and a hint.

use wb_wcet::ipet::{bound, lp_text};
use wb_wcet::{Count, Fact, Graph, LoopBound, Model};

use crate::hand::diamond_in_loop;

fn message(model: &Model) -> String {
    bound(model).expect_err("an error").to_string()
}

#[test]
fn a_loop_without_a_bound() {
    let mut model = diamond_in_loop(4);
    model.bounds.clear();
    assert_eq!(
        message(&model),
        "the loop at `header` has no bound; hint: add a bound for `header`, how often its back edges are taken per entry"
    );
    // A fact that limits only one arm does not limit the loop.
    model.facts.push(Fact { name: "arm".into(), terms: vec![(1, Count::Node(2))], limit: 5 });
    assert!(message(&model).starts_with("the loop at `header` has no bound"));
}

#[test]
fn irreducible_flow() {
    let mut graph = Graph::default();
    for name in ["entry", "a", "b", "exit"] {
        graph.node(name, 1);
    }
    for (from, to) in [(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)] {
        graph.edge(from, to, 0);
    }
    graph.exit = 3;
    let model = Model { graph, ..Model::default() };
    assert_eq!(
        message(&model),
        "irreducible flow: the cycle `a` -> `b` -> `a` can be entered at more than one node; hint: bound one of its \
         nodes or limit its edges by a fact, or restructure the code"
    );
}

#[test]
fn a_bound_for_no_loop() {
    let mut model = diamond_in_loop(4);
    model.bounds.push(LoopBound { header: 4, max: 7 });
    assert_eq!(
        message(&model),
        "the bound 7 is for `latch`, which is no loop header; hint: loop headers are `header`"
    );
}

#[test]
fn no_way_to_the_exit() {
    let mut model = diamond_in_loop(4);
    model.graph.edges.pop();
    assert_eq!(
        message(&model),
        "there is no way from the entry `entry` to the exit `exit`; hint: every execution has to end"
    );
    assert!(lp_text(&model).is_err());
}

#[test]
fn an_edge_out_of_the_exit_and_bad_numbers() {
    let mut model = diamond_in_loop(4);
    model.graph.edge(5, 1, 0);
    assert_eq!(
        message(&model),
        "an edge leaves the exit `exit`, to `header`; hint: give the graph an exit of its own behind `exit`"
    );
    let mut model = diamond_in_loop(4);
    model.bounds[0].header = 6;
    assert_eq!(
        message(&model),
        "the loop bound 4 names node 6, but the graph has 6 nodes; hint: node numbers start at 0"
    );
    let mut model = diamond_in_loop(4);
    model.facts.push(Fact { name: "f".into(), terms: vec![(1, Count::Edge(7))], limit: 0 });
    assert_eq!(
        message(&model),
        "fact `f` names edge 7, but the graph has 7 edges; hint: edge numbers start at 0"
    );
    assert!(message(&Model::default()).starts_with("the entry names node 0"));
}

#[test]
fn facts_that_contradict() {
    let mut model = diamond_in_loop(4);
    model.facts.push(Fact { name: "always".into(), terms: vec![(-1, Count::Node(2))], limit: -2 });
    assert_eq!(bound(&model).expect("bound").cycles, 462);
    model.facts.push(Fact { name: "never".into(), terms: vec![(1, Count::Node(2))], limit: 0 });
    assert_eq!(
        message(&model),
        "no execution satisfies the facts (`always`, `never`); hint: at least one of them is wrong"
    );
}

#[test]
fn numbers_that_are_too_large() {
    let mut model = diamond_in_loop(u64::MAX);
    assert_eq!(
        message(&model),
        "the bound is too large; hint: look for a loop bound or time that is wrong, a bound has to fit into 64 bits"
    );
    // Off the worst path numbers may be large: the loop does not go round at all.
    model.bounds[0].max = 0;
    model.graph.nodes[2].cost = u64::MAX;
    assert_eq!(bound(&model).expect("bound").cycles, 14);
    // Three loops in one another: beyond 128 bits.
    let mut graph = Graph::default();
    for k in 0..5 {
        graph.node(format!("h{k}"), 1);
    }
    graph.exit = 4;
    for k in 0..4 {
        graph.edge(k, k + 1, 0);
        if k < 3 {
            graph.edge(3, k, 0);
        }
    }
    let bounds = (0..3).map(|header| LoopBound { header, max: u64::MAX }).collect();
    assert!(message(&Model { graph, bounds, facts: Vec::new() }).contains("is too large"));
}
