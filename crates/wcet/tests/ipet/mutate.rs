//! Damaged certificates: whatever single number is changed, the checker refuses, or what it accepts is still true.

use serde_json::Value;
use wb_wcet::ipet::{Certificate, bound, bound_by_program, brute};
use wb_wcet::{Count, Fact, Graph, Model};

use crate::graphs::{Random, facts, model_of, structured, tangled, untangled};
use crate::hand::diamond_in_loop;

/// A place in a JSON document.
type Place = Vec<Step>;

#[derive(Clone)]
enum Step {
    Key(String),
    Item(usize),
}

fn at<'a>(document: &'a mut Value, place: &[Step]) -> &'a mut Value {
    place.iter().fold(document, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Item(item) => &mut value[*item],
    })
}

fn places(value: &Value, place: &mut Place, leaves: &mut Vec<Place>, lists: &mut Vec<Place>) {
    match value {
        Value::Array(items) => {
            lists.push(place.clone());
            for (k, item) in items.iter().enumerate() {
                place.push(Step::Item(k));
                places(item, place, leaves, lists);
                place.pop();
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields.iter().filter(|(key, _)| *key != "about" && *key != "name") {
                place.push(Step::Key(key.clone()));
                places(item, place, leaves, lists);
                place.pop();
            }
        }
        Value::Number(_) | Value::Null => leaves.push(place.clone()),
        Value::String(text) if text.parse::<i128>().is_ok() => leaves.push(place.clone()),
        _ => {}
    }
}

fn changed(value: &Value) -> Vec<Value> {
    let number =
        value.as_i64().map(i128::from).or_else(|| value.as_str().and_then(|s| s.parse().ok())).unwrap_or(0);
    let mut numbers = vec![
        number + 1,
        number - 1,
        -number,
        0,
        number * 2,
        number / 2,
        number + (1 << 20),
        number - (1 << 20),
    ];
    numbers.retain(|n| *n != number || value.is_null());
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|n| i64::try_from(n).map_or_else(|_| n.to_string().into(), Value::from)).collect()
}

#[derive(Default)]
struct Tally {
    refused: usize,
    still_true: usize,
    too_large: usize,
}

/// A certificate that the checker accepts must be true of the graph that it holds.
fn judge(document: &Value, tally: &mut Tally) {
    let json = document.to_string();
    let Ok(report) = wb_check::check_proof(&json) else {
        tally.refused += 1;
        return;
    };
    let certificate = Certificate::from_json(&json).expect("the checker could read it");
    let model = model_of(&certificate).expect("numbers are in range");
    match brute::worst(&model, 20_000) {
        Ok(worst) => {
            assert!(worst.unwrap_or(0) <= report.bound, "{worst:?} > {}: {json}", report.bound);
            tally.still_true += 1;
        }
        Err(brute::BruteError::TooLarge(_)) => tally.too_large += 1,
        Err(error) => panic!("{error}: {json}"),
    }
}

fn judge_all(certificate: &Certificate, tally: &mut Tally) {
    let document: Value = serde_json::from_str(&certificate.to_json().expect("json")).expect("json");
    let (mut leaves, mut lists) = (Vec::new(), Vec::new());
    places(&document, &mut Vec::new(), &mut leaves, &mut lists);
    for place in &leaves {
        let mut copy = document.clone();
        for value in changed(at(&mut copy, place)) {
            *at(&mut copy, place) = value;
            judge(&copy, tally);
        }
    }
    for place in &lists {
        let len = at(&mut document.clone(), place).as_array().map_or(0, Vec::len);
        for k in 0..len {
            let mut copy = document.clone();
            if let Some(list) = at(&mut copy, place).as_array_mut() {
                list.remove(k);
            }
            judge(&copy, tally);
        }
    }
}

#[test]
fn changed_numbers_are_refused_or_harmless() {
    let mut random = Random(5);
    let mut tally = Tally::default();
    let mut done = 0;
    while done < 150 {
        let mut model = match done % 3 {
            0 => untangled(&mut random),
            1 => structured(&mut random),
            _ => Model { graph: tangled(&mut random), ..Model::default() },
        };
        if done % 2 == 0 || done % 3 == 2 {
            facts(&mut model, &mut random);
        }
        let found = if done % 5 == 0 { bound_by_program(&model) } else { bound(&model) };
        let Ok(found) = found else { continue };
        if model.graph.edges.len() > 14 {
            continue;
        }
        judge_all(&found.certificate, &mut tally);
        done += 1;
    }
    println!("{} refused, {} still true, {} too large", tally.refused, tally.still_true, tally.too_large);
    assert!(tally.refused > 10_000 && tally.still_true > 1_000 && tally.too_large < 500);
}

/// Certificates that leave a rest on edges, so that their limits matter.
#[test]
fn changed_limits_are_refused_or_harmless() {
    let mut random = Random(6);
    let mut tally = Tally::default();
    let mut done = 0;
    while done < 60 {
        let model = untangled(&mut random);
        let Ok(found) = bound_by_program(&model) else { continue };
        if model.graph.edges.len() > 10 || model.bounds.is_empty() {
            continue;
        }
        // Lower all potentials a little by hand, and pay for it with limits.
        let mut certificate = found.certificate;
        for (k, y) in certificate.y.nodes.iter_mut().enumerate() {
            y.0 -= ((k as i128 * 7) % 5) << 19;
        }
        certificate.limits = vec![Some(wb_wcet::ipet::certificate::Whole(1 << 30)); certificate.edges.len()];
        let Some(limits) = lowest_limits(&mut certificate) else { continue };
        certificate.limits = limits;
        certificate.bound.0 = proven(&certificate);
        wb_check::check_proof(&certificate.to_json().expect("json")).expect("an honest certificate");
        judge_all(&certificate, &mut tally);
        done += 1;
    }
    assert!(tally.refused > 3_000 && tally.still_true > 500);
}

type Limits = Vec<Option<wb_wcet::ipet::certificate::Whole>>;

/// The lowest limit the checker accepts for each edge.
fn lowest_limits(certificate: &mut Certificate) -> Option<Limits> {
    certificate.bound.0 = i128::from(u64::MAX);
    let mut lowest = certificate.limits.clone();
    for (e, low) in lowest.iter_mut().enumerate() {
        let accepted = (0..200).find(|limit| {
            certificate.limits[e] = Some(wb_wcet::ipet::certificate::Whole(*limit));
            certificate.to_json().is_ok_and(|json| wb_check::check_proof(&json).is_ok())
        })?;
        certificate.limits[e] = Some(wb_wcet::ipet::certificate::Whole(1 << 30));
        *low = Some(wb_wcet::ipet::certificate::Whole(accepted));
    }
    Some(lowest)
}

fn proven(certificate: &Certificate) -> i128 {
    let report = wb_check::check_proof(&certificate.to_json().expect("json")).expect("certificate");
    report.value.div_euclid(1 << 20)
}

#[test]
fn the_ways_to_cheat_are_refused_by_name() {
    let certificate = bound(&diamond_in_loop(4)).expect("bound").certificate;
    let refused = |change: &dyn Fn(&mut Certificate)| {
        let mut copy = certificate.clone();
        change(&mut copy);
        wb_check::check_proof(&copy.to_json().expect("json")).expect_err("refused").to_string()
    };
    let bound = certificate.bound.0;
    assert_eq!(
        refused(&|c| c.bound.0 -= 1),
        format!("the bound {} is not proven: the certificate proves {bound}", bound - 1)
    );
    assert_eq!(refused(&|c| c.y.loops[0].0 *= -1), "y.loops: not a number of the right range");
    assert_eq!(refused(&|c| c.loops[0].back.clear()), "loops[0] at `header`: the back edges are [5]");
    assert_eq!(refused(&|c| c.loops[0].entries.clear()), "loops[0] at `header`: the entry edges are [0]");
    let no_loop = |c: &mut Certificate| {
        c.loops.clear();
        c.y.loops.clear();
    };
    assert_eq!(refused(&no_loop), "there is a cycle that no loop bound and no fact limits");
    assert_eq!(refused(&|c| c.loops[0].header = 4), "loops[0]: `latch` is no header of a loop that runs");
    assert_eq!(
        refused(&|c| c.y.nodes[1].0 += 1),
        "edges[0]: the multipliers leave a rest, and there is no limit for the edge"
    );
    let tiny_limits = |c: &mut Certificate| {
        c.y.nodes.iter_mut().for_each(|y| y.0 = 0);
        c.limits = vec![Some(wb_wcet::ipet::certificate::Whole(1)); c.edges.len()];
    };
    assert_eq!(
        refused(&tiny_limits),
        "limits[1]: the edge can be taken more often than 1 times, as far as the bounds tell"
    );
    assert!(refused(&|c| c.version = 3).contains("version 3"), "{}", refused(&|c| c.version = 3));
    assert!(wb_check::check_proof("{}").expect_err("refused").to_string().starts_with("not a certificate"));
}

/// A fact with room to spare would lower the value if its multiplier could be negative.
#[test]
fn a_negative_price_is_refused() {
    let mut graph = Graph::default();
    let (entry, exit) = (graph.node("entry", 1), graph.node("exit", 3));
    let edge = graph.edge(entry, exit, 0);
    graph.exit = exit;
    let fact = Fact { name: "roomy".into(), terms: vec![(1, Count::Edge(edge))], limit: 1000 };
    let model = Model { graph, bounds: Vec::new(), facts: vec![fact] };
    let mut certificate = bound(&model).expect("bound").certificate;
    assert_eq!(proven(&certificate), 4);
    // Honest: the potential pays for the price.
    certificate.y.facts[0].0 = 1 << 20;
    certificate.y.nodes[0].0 -= 1 << 20;
    certificate.bound.0 = 4 - 1 + 1000;
    assert_eq!(proven(&certificate), 1003);
    certificate.y.facts[0].0 = -1 << 20;
    certificate.y.nodes[0].0 += 2 << 20;
    let error = wb_check::check_proof(&certificate.to_json().expect("json")).expect_err("refused");
    assert_eq!(error.to_string(), "y.facts: not a number of the right range");
}
