//! Limits of loops that a certificate calls proved, and ways that it calls infeasible, proven again from the program and the
//! launches of the certificate. What comes out of the prover has passed the independent checker (`wb-flowproof`), so a
//! limit is believed only if a proof of it was found and checked here and now.

use crate::kernel::asks_lanes;
use std::collections::BTreeSet;
use wb_check::binding::{Binding, Limit, Shape};
use wb_facts::{Inferred, Known, infer_gcn3};
use wb_hw::Mechanism;
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_jobs::ProgramRef;
use wb_program::Program;

/// What holds for every launch of a certificate: found once, for limits and ways.
#[derive(Default)]
pub(super) struct Again {
    launches: Vec<Inferred>,
    /// Ways that no launch takes, by last and first instruction.
    pub never: BTreeSet<(Pc, Pc)>,
}

impl Again {
    pub fn prove(program: ProgramRef, binding: &Binding) -> Result<Again, String> {
        let ProgramRef::Gcn3(program) = program else { return Ok(Again::default()) };
        let mut launches = Vec::new();
        for shape in binding.launches.iter().flat_map(|l| &l.shapes) {
            let arguments = bytes(shape).ok_or("the arguments are no bytes")?;
            let (group, grid) = (shape.group, shape.grid);
            let known = Known { kernarg: Some(&arguments), group, grid, ..Known::default() };
            launches.push(infer_gcn3(program, &known));
        }
        let never = never(program, binding, &launches);
        Ok(Again { launches, never })
    }

    /// Every limit that is called proved holds for every launch. Gives what is only said, in words.
    pub fn limits(&self, binding: &Binding) -> Result<Vec<String>, String> {
        let (proved, said): (Vec<&Limit>, Vec<&Limit>) =
            binding.limits.iter().partition(|l| l.origin == "proved");
        if let (Some(l), true) = (proved.first(), self.launches.is_empty()) {
            return Err(format!("the loop at pc {} is called proved, but only GCN3 loops are", l.pc));
        }
        for found in &self.launches {
            for limit in &proved {
                recheck_one(limit, found.loops.iter().find(|f| f.header == limit.pc as Pc).map(|f| f.max))?;
            }
        }
        let words = |l: &&Limit| {
            format!("the limit {} of the loop at pc {} is {}, not proved", l.max.0, l.pc, l.origin)
        };
        Ok(said.iter().map(words).collect())
    }
}

/// Ways that are never taken in any launch. Paths of a split wave have some of its lanes: branches that ask lanes say
/// nothing about them.
fn never(program: &Program<Gcn3>, binding: &Binding, launches: &[Inferred]) -> BTreeSet<(Pc, Pc)> {
    let splits = binding.machine.contexts > 0
        && Mechanism::parse(&binding.machine.mechanism).is_none_or(|m| m.info().splits);
    let of = |found: &Inferred| -> BTreeSet<(Pc, Pc)> {
        let all = found.never.iter().map(|n| (n.from, n.to));
        all.filter(|n| !splits || !asks_lanes(program, n.0)).collect()
    };
    let all = launches.iter().map(of);
    all.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
}

fn recheck_one(limit: &Limit, found: Option<u64>) -> Result<(), String> {
    let (pc, max) = (limit.pc, limit.max.0);
    match found.map(i128::from) {
        None => {
            Err(format!("the limit {max} of the loop at pc {pc} is called proved, but no proof is found"))
        }
        Some(found) if found > max => {
            Err(format!("the loop at pc {pc} can go round {found} times, the certificate has {max}"))
        }
        // Its time was measured with as many rounds as the limit.
        Some(found) if limit.whole && found != max => {
            Err(format!("the loop at pc {pc} was measured as a whole with {max} rounds, proved are {found}"))
        }
        Some(_) => Ok(()),
    }
}

fn bytes(shape: &Shape) -> Option<Vec<u8>> {
    let digits = shape.arguments.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}
