//! Verifies a certificate of a proved bound against the launches it is about: everything is proved again and must be the same, and a
//! count of the instructions in each block that shares nothing with the proof must not exceed what the certificate charges.

use super::ask::{ProvedLaunch, prove_launch};
use super::certificate::entry;
use crate::error::BoundError;
use crate::launched::Launched;
use crate::options::Options;
use crate::runs::Runs;
use crate::shape::Shape;
use crate::source::hash;
use crate::verify::Verified;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wb_check::ProvedReport;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_sim::RunOptions;

/// Compares a certificate that [`wb_check::check_proved`] has accepted with the launches.
pub fn verify_proved(
    text: &str,
    report: &ProvedReport,
    runs: &Runs,
    options: &Options,
) -> Result<Verified, BoundError> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let listed = |launch: &str| {
        let launches = document.get("launches").and_then(Value::as_array).into_iter().flatten();
        launches.into_iter().find(|l| l.get("launch").and_then(Value::as_str) == Some(launch)).cloned()
    };
    let mut wrong: Vec<(Part, String)> = Vec::new();
    let mut seen: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let single = matches!(runs, Runs::Jobs(jobs) if jobs.len() == 1);
    runs.each(&mut |launched, go| {
        if launched.kernel == report.kernel {
            let shape = Shape::of(launched).hash();
            let new = !seen.contains_key(&shape);
            seen.entry(shape.clone()).or_default().insert(launched.number);
            if new {
                compare(launched, report, listed(&shape), options, &mut wrong)?;
            }
        }
        if !single {
            go(RunOptions::default(), None)?;
        }
        Ok(())
    })?;
    if seen.is_empty() {
        wrong.push((Part::Launch, format!("kernel {} is not launched", report.kernel)));
    }
    for (launch, times, _) in &report.launches {
        let here = seen.get(launch).map_or(0, BTreeSet::len) as u64;
        if here != *times {
            wrong.push((
                Part::Launch,
                format!("launch {launch} happens {here} times, the certificate says {times}"),
            ));
        }
    }
    let verdict = |part: Part| Some(!wrong.iter().any(|w| w.0 == part));
    let mut verified = Verified {
        code: verdict(Part::Code),
        graph: verdict(Part::Terms),
        limits: verdict(Part::Terms),
        machine: verdict(Part::Machine),
        launch: verdict(Part::Launch),
        times: verdict(Part::Terms),
        ..Verified::default()
    };
    verified.errors = wrong.into_iter().map(|w| w.1).collect();
    verified.errors.dedup();
    Ok(verified)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Machine,
    Launch,
    Terms,
}

/// One launch against its entry.
fn compare(
    launched: &Launched,
    report: &ProvedReport,
    listed: Option<Value>,
    options: &Options,
    wrong: &mut Vec<(Part, String)>,
) -> Result<(), BoundError> {
    let machine = (launched.machine.name.clone(), hash(launched.machine.to_toml().as_bytes()));
    if machine != report.machine {
        let (here, listed) = (machine.1, &report.machine.1);
        wrong.push((
            Part::Machine,
            format!("the machine is {} {here}, the certificate has {listed}", machine.0),
        ));
    }
    let Some(program) = launched.program.gcn3() else {
        wrong.push((Part::Code, "the program is not of GCN3".into()));
        return Ok(());
    };
    let checksum = wb_facts::checksum(program, &wb_facts::calls_of(program));
    if checksum != report.checksum {
        wrong.push((
            Part::Code,
            format!("the checksum is {checksum}, the certificate has {}", report.checksum),
        ));
        return Ok(());
    }
    let Some(mut listed) = listed else {
        wrong
            .push((Part::Launch, format!("launch {} is not in the certificate", Shape::of(launched).hash())));
        return Ok(());
    };
    let proved: ProvedLaunch = prove_launch(launched, options, None)?;
    recount(program, &listed, wrong);
    let mut here = entry(&proved, launched.machine, 0);
    for value in [&mut listed, &mut here] {
        if let Some(map) = value.as_object_mut() {
            map.remove("times");
        }
    }
    if let (Some(here), Some(listed)) = (here.as_object(), listed.as_object()) {
        for (name, value) in here.iter().filter(|(name, value)| listed.get(*name) != Some(value)) {
            let said = match value {
                Value::Object(_) | Value::Array(_) => String::new(),
                other => format!(": {other} here, {} there", listed.get(name).unwrap_or(&Value::Null)),
            };
            wrong.push((Part::Terms, format!("`{name}` is not what the program and the machine give{said}")));
        }
    }
    Ok(())
}

/// Every block costs a cycle of its partition's port for each instruction, at least.
fn recount(program: &Program<Gcn3>, listed: &Value, wrong: &mut Vec<(Part, String)>) {
    let scale = listed.get("scale").and_then(Value::as_u64).unwrap_or(1);
    let nodes = listed.pointer("/terms/partition/nodes").and_then(Value::as_array);
    for node in nodes.into_iter().flatten() {
        let name = node.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(first) = name.strip_prefix("pc ").and_then(|pc| pc.parse().ok()) else { continue };
        let Some(block) = program.cfg.block_at(first) else {
            wrong.push((Part::Terms, format!("there is no block at {name}")));
            continue;
        };
        let count = program.cfg.pcs(block, &program.flow).len() as u64;
        let cost =
            node.get("cost").map_or(0, |c| c.as_u64().or_else(|| c.as_str()?.parse().ok()).unwrap_or(0));
        if cost < count.saturating_mul(scale) {
            wrong.push((
                Part::Terms,
                format!("the block at {name} has {count} instructions and is charged {}", cost / scale),
            ));
        }
    }
}
