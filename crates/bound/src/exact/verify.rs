//! Verifies a certificate of an exact bound against the launches it is about: they run again, and the labellings must hold.

use super::certificate::ExactCertificate;
use super::not_covered;
use super::witness::{self, Watcher};
use crate::error::BoundError;
use crate::runs::Runs;
use crate::shape::Shape;
use crate::source::hash;
use crate::verify::Verified;
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::taint;
use wb_jobs::ProgramRef;
use wb_sim::RunOptions;

/// Runs the launches and compares. Launches of other kernels run too: later ones may need what they leave.
pub fn verify_exact(certificate: &ExactCertificate, runs: &Runs) -> Result<Verified, BoundError> {
    let mut verified = Verified::default();
    let mut wrong: Vec<(Part, String)> = Vec::new();
    let mut seen: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut found = false;
    runs.each_hashed(true, &mut |launched, go| {
        if launched.kernel != certificate.kernel {
            go(RunOptions::default(), None)?;
            return Ok(());
        }
        found = true;
        let (ProgramRef::Gcn3(program), None) = (launched.program, not_covered(launched)) else {
            wrong.push((Part::Machine, "exact bounds do not hold on this machine".into()));
            return Ok(());
        };
        let checksum = wb_facts::checksum(program, &wb_facts::calls_of(program));
        if checksum != certificate.checksum {
            wrong.push((
                Part::Code,
                format!("the checksum is {checksum}, the certificate has {}", certificate.checksum),
            ));
        }
        let machine = (launched.machine.name.clone(), hash(launched.machine.to_toml().as_bytes()));
        if machine != certificate.machine {
            let text = |m: &(String, String)| format!("{} {}", m.0, m.1);
            let (here, listed) = (text(&machine), text(&certificate.machine));
            wrong.push((Part::Machine, format!("the machine is {here}, the certificate has {listed}")));
        }
        let shape = Shape::of(launched).hash();
        seen.entry(shape.clone()).or_default().insert(launched.number);
        let listed = certificate.launches.iter().find(|l| l.launch == shape);
        let Some(listed) = listed else {
            wrong.push((Part::Launch, format!("launch {shape} is not in the certificate")));
            go(RunOptions::default(), None)?;
            return Ok(());
        };
        let names: Vec<String> = listed.fixed.iter().map(|f| f.0.clone()).collect();
        let fixed = witness::fixed(&names, launched)?;
        for (b, (name, hash)) in fixed.iter().zip(&listed.fixed) {
            if b.hash != *hash {
                wrong.push((Part::Launch, format!("the fixed buffer {name} has other contents")));
            }
        }
        let mut watcher = Watcher::new(program, launched, &fixed);
        let cycles = go(RunOptions::default(), Some(&mut watcher))?.cycles;
        if cycles != listed.cycles {
            wrong.push((
                Part::Times,
                format!("launch {shape} takes {cycles} cycles, the certificate says {}", listed.cycles),
            ));
        }
        let witness = watcher.witness(program)?;
        if let Err(refused) = taint::recheck(program, &witness, &listed.labelling) {
            wrong.push((Part::Graph, refused.to_string()));
        }
        Ok(())
    })?;
    if !found {
        wrong.push((Part::Launch, format!("kernel {} is not launched", certificate.kernel)));
    }
    for l in &certificate.launches {
        let times = seen.get(&l.launch).map_or(0, BTreeSet::len) as u64;
        if times != l.times {
            wrong.push((
                Part::Launch,
                format!("launch {} happens {times} times, the certificate says {}", l.launch, l.times),
            ));
        }
    }
    let verdict = |part: Part| Some(!wrong.iter().any(|w| w.0 == part));
    verified.code = verdict(Part::Code);
    verified.graph = verdict(Part::Graph);
    verified.machine = verdict(Part::Machine);
    verified.launch = verdict(Part::Launch);
    verified.times = verdict(Part::Times);
    verified.errors = wrong.into_iter().map(|w| w.1).collect();
    verified.errors.dedup();
    Ok(verified)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Graph,
    Machine,
    Launch,
    Times,
}
