//! Limits of loops that a certificate calls proved, proven again from the program and the launches of the certificate.

use super::super::runs::ProgramRef;
use super::ways::Way;
use wb_check::binding::{Binding, Limit, Shape};
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_program::facts::{Known, infer_gcn3};

/// Every limit that is called proved holds for every launch. Gives what is only said, in words.
pub(super) fn check(program: ProgramRef, binding: &Binding) -> Result<Vec<String>, String> {
    let (proved, said): (Vec<&Limit>, Vec<&Limit>) =
        binding.limits.iter().partition(|l| l.origin == "proved");
    match program {
        ProgramRef::Gcn3(program) => recheck_proved_limits(program, binding, &proved)?,
        ProgramRef::Harp(_) | ProgramRef::Guppy(_) | ProgramRef::Vortex(_) => {
            if let Some(l) = proved.first() {
                return Err(format!("the loop at pc {} is called proved, but only GCN3 loops are", l.pc));
            }
        }
    }
    let words =
        |l: &&Limit| format!("the limit {} of the loop at pc {} is {}, not proved", l.max.0, l.pc, l.origin);
    Ok(said.iter().map(words).collect())
}

/// The place of the independent checker of limits: it takes the program, the launch (argument bytes, grid, group), the
/// loop's header, the limit and its attached proof. Until proofs are attached, the prover runs again on the launches of the
/// certificate, and must find a limit that is not above the certificate's.
fn recheck_proved_limits(
    program: &Program<Gcn3>,
    binding: &Binding,
    proved: &[&Limit],
) -> Result<(), String> {
    if proved.is_empty() {
        return Ok(());
    }
    for shape in binding.launches.iter().flat_map(|l| &l.shapes) {
        let arguments = bytes(shape).ok_or("the arguments are no bytes")?;
        let known =
            Known { kernarg: Some(&arguments), group: shape.group, grid: shape.grid, arguments: Vec::new() };
        let found = infer_gcn3(program, &known);
        for limit in proved {
            recheck_one(limit, found.iter().find(|f| f.header == limit.pc as Pc).map(|f| f.max))?;
        }
    }
    Ok(())
}

/// The place of the checker of ways that a certificate calls infeasible, with their proof. There is none yet, so none is
/// believed.
pub(super) fn recheck_infeasible_way(_binding: &Binding, (from, _, to): Way) -> Result<(), String> {
    Err(format!("the way from {from:?} to {to:?} is called infeasible, and nothing can verify that yet"))
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
