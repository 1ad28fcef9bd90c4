//! The IPET program as text in CPLEX LP format, for people and other solvers (design "Worst-case execution time
//! analysis", pipeline step 4): every constraint has a name that says where it comes from.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::error::IpetError;
use super::rows::Rows;
use super::structure::{Structure, check_indices};
use crate::graph::{Count, Model};

/// Columns: `start` (the way in), `n_<node>` and `e_<from>__<to>`. Rows: `entry`, `flow_in_<node>`,
/// `flow_out_<node>`, `loop_<header>`, `fact_<name>`. Parts that never run are left out.
pub fn lp_text(model: &Model) -> Result<String, IpetError> {
    check_indices(model)?;
    let structure = Structure::new(&model.graph)?;
    let rows = Rows::new(model, &structure)?;
    let graph = &model.graph;
    let mut names = Names::default();
    let base: Vec<String> = {
        let mut short = Names::default();
        graph.nodes.iter().map(|n| short.unique(&plain(&n.name))).collect()
    };
    let node: Vec<String> = base.iter().map(|n| names.unique(&format!("n_{n}"))).collect();
    let edge: Vec<String> =
        graph.edges.iter().map(|e| names.unique(&format!("e_{}__{}", base[e.from], base[e.to]))).collect();

    let mut text = String::from("\\ Worst-case time of one wave\nMaximize\n");
    let mut objective = Vec::new();
    for &v in &structure.order {
        objective.push((i128::from(graph.nodes[v].cost), node[v].clone()));
    }
    let useful: Vec<usize> = (0..graph.edges.len()).filter(|&e| structure.useful_edge[e]).collect();
    for &e in &useful {
        objective.push((i128::from(graph.edges[e].cost), edge[e].clone()));
    }
    objective.retain(|(factor, _)| *factor != 0);
    write_row(&mut text, "cycles", &objective, "");
    text.push_str("Subject To\n");
    write_row(&mut text, "entry", &[(1, "start".to_owned())], " = 1");
    for &v in &structure.order {
        let mut terms = vec![(1, node[v].clone())];
        terms.extend(structure.into[v].iter().map(|&e| (-1, edge[e].clone())));
        if v == graph.entry {
            terms.push((-1, "start".to_owned()));
        }
        write_row(&mut text, &format!("flow_in_{}", base[v]), &terms, " = 0");
        if v != graph.exit {
            let mut terms = vec![(1, node[v].clone())];
            terms.extend(structure.out[v].iter().map(|&e| (-1, edge[e].clone())));
            write_row(&mut text, &format!("flow_out_{}", base[v]), &terms, " = 0");
        }
    }
    for row in &rows.loops {
        let max = -i128::from(row.max);
        let mut terms: Vec<_> = row.back.iter().map(|&e| (1, edge[e].clone())).collect();
        if row.max > 0 {
            terms.extend(row.entries.iter().map(|&e| (max, edge[e].clone())));
            if row.starts_inside {
                terms.push((max, "start".to_owned()));
            }
        }
        write_row(&mut text, &format!("loop_{}", base[row.header]), &terms, " <= 0");
    }
    let mut fact_names = Names::default();
    for fact in &model.facts {
        let mut terms = Vec::new();
        for &(factor, count) in &fact.terms {
            match count {
                Count::Node(v) if structure.useful_node[v] => {
                    terms.push((i128::from(factor), node[v].clone()))
                }
                Count::Edge(e) if structure.useful_edge[e] => {
                    terms.push((i128::from(factor), edge[e].clone()))
                }
                _ => {}
            }
        }
        let name = format!("fact_{}", fact_names.unique(&plain(&fact.name)));
        write_row(&mut text, &name, &terms, &format!(" <= {}", fact.limit));
    }
    text.push_str("General\n");
    let columns = structure.order.iter().map(|&v| &node[v]).chain(useful.iter().map(|&e| &edge[e]));
    for column in columns {
        let _ = writeln!(text, " {column}");
    }
    text.push_str("End\n");
    Ok(text)
}

/// One row, broken into short lines; a row without terms is written with a zero, which the format wants.
fn write_row(text: &mut String, name: &str, terms: &[(i128, String)], right: &str) {
    let _ = write!(text, " {name}:");
    if terms.is_empty() {
        text.push_str(" 0 start");
    }
    for (k, (factor, column)) in terms.iter().enumerate() {
        if k > 0 && k % 6 == 0 {
            text.push_str("\n   ");
        }
        let sign = if *factor < 0 { '-' } else { '+' };
        let _ = match factor.unsigned_abs() {
            1 => write!(text, " {sign} {column}"),
            size => write!(text, " {sign} {size} {column}"),
        };
    }
    text.push_str(right);
    text.push('\n');
}

/// Names that differ, by a number where they would not.
#[derive(Default)]
struct Names {
    used: BTreeSet<String>,
}

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let mut number = 1;
        while !self.used.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        candidate
    }
}

/// Only characters every reader of the format takes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}
