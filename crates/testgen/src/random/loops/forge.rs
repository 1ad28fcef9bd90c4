//! Forged proofs against the checker: one or two things of a true proof are changed to say more than is true. What the checker
//! accepts is believed, and runs must not contradict it.

use super::noise::Noise;
use wb_facts::{Inferred, Known, LoopFact, NeverTaken, Origin, infer_unchecked, recheck};
use wb_flowproof::{Form, Interval, Proof, Reg, Rule, Witness};
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;

/// What the checker makes of a forged proof of a program: all that it accepts, as if it were true.
pub fn forged(program: &Program<Gcn3>, known: &Known, seed: u64) -> Inferred {
    let mut found = infer_unchecked(program, known);
    let Some(proof) = &mut found.proof else { return found };
    let mut noise = Noise::new(seed);
    for _ in 0..1 + noise.below(2) {
        forge(proof, &mut noise);
    }
    let Ok(checked) = recheck(program, known, proof) else { return Inferred::default() };
    let fact = |(&header, &max): (&u32, &u64)| LoopFact {
        header,
        max,
        origin: Origin::Proved,
        why: format!("forged, seed {seed}"),
    };
    let way = |&(from, to): &(u32, u32)| NeverTaken { from, to, why: format!("forged, seed {seed}") };
    Inferred::said(checked.loops.iter().map(fact).collect(), proof.never.iter().map(way).collect())
}

/// Changes one thing.
fn forge(proof: &mut Proof, noise: &mut Noise) {
    let kinds = if proof.loops.is_empty() { 6 } else { 16 };
    let blocks = proof.blocks.len() as u64;
    let firsts: Vec<u32> = proof.blocks.iter().map(|b| b.pc).collect();
    let some_pc = |noise: &mut Noise| {
        let at = noise.below(firsts.len() as u64) as usize;
        firsts[at].saturating_sub(noise.below(2) as u32)
    };
    let (at, kind) = (noise.below(blocks) as usize, noise.below(kinds));
    match kind {
        0 => {
            // A register is said to be one number, or less than it can be.
            let block = &mut proof.blocks[at];
            let n = noise.pick(&[10u8, 11, 12, 13, 14]);
            let value = noise.number();
            let narrow = match block.scalars.iter().find(|s| s.0 == n) {
                Some((_, i)) if noise.one_in(2) => Interval::unsigned(i.u.0, i.u.0 + (i.u.1 - i.u.0) / 2),
                _ => Interval::just(value),
            };
            block.scalars.retain(|s| s.0 != n);
            block.scalars.push((n, narrow));
        }
        1 => {
            let block = &mut proof.blocks[at];
            let n = noise.pick(&[1u8, 2, 3, 4, 5]);
            let value = noise.number();
            block.on.retain(|s| s.0 != n);
            block.on.push((n, Interval::unsigned(0, value)));
        }
        2 => _ = proof.blocks.remove(at),
        3 => {
            let (from, to) = (some_pc(noise), some_pc(noise));
            proof.never.push((from, to));
        }
        4 => {
            let block = &mut proof.blocks[at];
            let pair = noise.pick(&[20u8, 22, 24, 106, 126]);
            match noise.below(3) {
                0 => block.some.push(pair),
                1 => block.none.push(pair),
                _ => block.clean.push(pair),
            }
        }
        5 => {
            let block = &mut proof.blocks[at];
            let anywhere = |m: &mut (u8, wb_flowproof::Said)| {
                (m.1.yes_anywhere, m.1.no_anywhere) = (true, true);
            };
            block.masks.iter_mut().for_each(anywhere);
        }
        _ => {
            let index = noise.below(proof.loops.len() as u64) as usize;
            let one = &mut proof.loops[index];
            match kind {
                6..=8 => one.max = noise.below(one.max.max(1)),
                9 => {
                    let other = some_pc(noise);
                    for w in &mut one.witnesses {
                        w.1 = noise.pick(&[None, Some(Witness::On(other)), Some(Witness::Branch(other))]);
                    }
                }
                10 => {
                    let dead = (some_pc(noise), one.header, Witness::On(some_pc(noise)));
                    one.dead.push(dead);
                }
                11 => {
                    let by = noise.below(5) as i64;
                    if let Some(m) = one.moves.first_mut() {
                        (m.lo, m.hi) = (m.lo + by, m.hi - by);
                        m.within = Interval::unsigned(m.within.u.0, m.within.u.0);
                    }
                }
                _ => forge_rule(one, noise),
            }
        }
    }
}

fn forge_rule(one: &mut wb_flowproof::LoopProof, noise: &mut Noise) {
    let Rule::Counted(c) = &mut one.rule else {
        one.rule = Rule::Straight;
        one.max = 0;
        return;
    };
    let by = 1 + noise.below(6) as i64;
    match noise.below(6) {
        0 => c.truth = !c.truth,
        1 => c.second = !c.second,
        2 => c.fixed = true,
        3 => c.tested = noise.pick(&[Form::Plus(by, by), Form::Right(by as u32), Form::Left(by as u32)]),
        4 => c.step = noise.pick(&[Form::Plus(by, by), Form::Right(by as u32), Form::Left(by as u32)]),
        _ => c.counter = noise.pick(&[Reg::S(10), Reg::S(11), Reg::V(1), Reg::V(2), Reg::V(3)]),
    }
    one.max = noise.below(one.max.max(1) + 1);
}
