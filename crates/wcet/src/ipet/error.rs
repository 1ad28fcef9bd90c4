//! What can be wrong with a model of one wave, said with the names of its nodes and what to do about it
//! (design "Worst-case execution time analysis", pipeline steps 1, 2 and 4).

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IpetError {
    #[error("{what} names node {node}, but the graph has {nodes} nodes; hint: node numbers start at 0")]
    NoSuchNode { what: String, node: usize, nodes: usize },
    #[error("{what} names edge {edge}, but the graph has {edges} edges; hint: edge numbers start at 0")]
    NoSuchEdge { what: String, edge: usize, edges: usize },
    #[error(
        "an edge leaves the exit `{exit}`, to `{to}`; hint: give the graph an exit of its own behind `{exit}`"
    )]
    EdgeOutOfExit { exit: String, to: String },
    #[error(
        "there is no way from the entry `{entry}` to the exit `{exit}`; hint: every execution has to end"
    )]
    NoWay { entry: String, exit: String },
    #[error(
        "irreducible flow: the cycle {} can be entered at more than one node; hint: bound one of its nodes or \
         limit its edges by a fact, or restructure the code",
        cycle(nodes)
    )]
    Irreducible { nodes: Vec<String> },
    #[error(
        "the loop at `{header}` has no bound; hint: add a bound for `{header}`, how often its back edges are taken per entry"
    )]
    Unbounded { header: String },
    #[error(
        "the bound {max} is for `{node}`, which is no loop header; hint: loop headers are {}",
        list(headers)
    )]
    NotAHeader { node: String, max: u64, headers: Vec<String> },
    #[error(
        "{what} is too large; hint: look for a loop bound or time that is wrong, a bound has to fit into 64 bits"
    )]
    Overflow { what: String },
    #[error("no execution satisfies the facts ({}); hint: at least one of them is wrong", list(facts))]
    Contradiction { facts: Vec<String> },
    #[error("the solver found no bound: {what}; hint: {hint}")]
    Solver { what: String, hint: String },
}

/// `a` -> `b` -> `a`, shortened when it is long.
fn cycle(nodes: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = nodes.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    if nodes.len() > SHOWN {
        names.push(format!("… {} more …", nodes.len() - SHOWN));
    }
    if let Some(first) = nodes.first() {
        names.push(format!("`{first}`"));
    }
    names.join(" -> ")
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    shown.join(", ")
}
