//! Proofs in words, for reports and facts files.

use super::bound::Step;
use super::known::Known;
use super::point::Sym;
use super::prove::Proof;
use super::range::Rel;
use super::state::Side;
use super::values::Values;
use wb_isa::gcn3::isa::{FIRST_SCALAR, Gcn3};
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// What decides the branch at the end of a block.
pub fn why_never(values: &Values, b: usize, known: &Known) -> String {
    let Some(state) = values.end(b) else { return String::new() };
    let program = values.program;
    let Some(cond) = state.scc else { return "some lane is on for certain, or none can be".to_owned() };
    let side = |side: Side| match side {
        Side::Number(_) => register(program, side),
        _ => {
            let source = match side {
                Side::Scalar(n) => state.scalars[usize::from(n & 127)].argument,
                _ => None,
            };
            let source = source.map_or(String::new(), |at| format!(" ({})", known.name(at)));
            format!("{} is {}{source}", register(program, side), state.side(side).show())
        }
    };
    let text = [cond.a, cond.b].map(side);
    let sign = if cond.signed { " signed" } else { "" };
    format!("{}, {}: compared with {}{sign}", text[0], text[1], cond.rel.sign())
}

fn register(program: &Program<Gcn3>, side: Side) -> String {
    match side {
        Side::Scalar(n) => program.isa.register_name(FIRST_SCALAR + u16::from(n)),
        Side::Vector(n) => program.isa.register_name(n.into()),
        Side::Number(v) => (v as i32).to_string(),
    }
}

/// The proof in words.
pub fn text(program: &Program<Gcn3>, l: &wb_program::cfg::Loop, proof: &Proof, known: &Known) -> String {
    let name = register(program, proof.register);
    let id = match proof.register {
        Side::Scalar(n) => FIRST_SCALAR + u16::from(n),
        Side::Vector(n) => n.into(),
        Side::Number(_) => u16::MAX,
    };
    let writes = |pc: &Pc| {
        let inst = program.ops[*pc as usize].inst.as_ref();
        inst.is_some_and(|i| program.isa.facts(i, *pc, 0).writes.contains(&id))
    };
    let writers: Vec<String> = l
        .blocks
        .iter()
        .flat_map(|&b| program.cfg.pcs(b, &program.flow))
        .filter(writes)
        .map(|pc| pc.to_string())
        .collect();
    let at = format!("(pc {})", writers.join(", "));
    let moves = match proof.step {
        Step::Add(lo, hi) if lo == hi && lo > 0 => format!("grows by {lo} each round {at}"),
        Step::Add(lo, hi) if lo == hi => format!("falls by {} each round {at}", -lo),
        Step::Add(lo, hi) if lo > 0 => format!("grows by {lo} to {hi} each round {at}"),
        Step::Add(lo, hi) => format!("falls by {} to {} each round {at}", -hi, -lo),
        Step::Left(by) => format!("is shifted left by {by} each round {at}"),
        Step::Right(by) => format!("is shifted right by {by} each round {at}"),
    };
    let tested = match proof.tested {
        Sym::Unknown | Sym::Plus { lo: 0, hi: 0, .. } => name.clone(),
        Sym::Plus { lo, hi, .. } if lo != hi => format!("{name} + ({lo} to {hi})"),
        Sym::Plus { lo, .. } if lo > 0 => format!("{name} + {lo}"),
        Sym::Plus { lo, .. } => format!("{name} - {}", -lo),
        Sym::Shifted { left: true, by, .. } => format!("({name} << {by})"),
        Sym::Shifted { left: false, by, .. } => format!("({name} >> {by})"),
    };
    let other = register(program, proof.other);
    let limit = match (proof.other, proof.argument) {
        (Side::Number(_), _) => String::new(),
        (_, Some(offset)) => format!(", {other} is {} ({})", proof.limit.show(), known.name(offset)),
        _ => format!(", {other} is in {}", proof.limit.show()),
    };
    let sign = match proof.rel {
        Rel::Eq | Rel::Ne => "",
        _ if proof.signed => " signed",
        _ => " unsigned",
    };
    format!(
        "{name} starts {} {}, {moves}, the loop goes on while {tested} {} {other}{sign} (pc {}){limit}",
        if proof.init.constant().is_some() { "at" } else { "in" },
        proof.init.show(),
        proof.rel.sign(),
        proof.test
    )
}
