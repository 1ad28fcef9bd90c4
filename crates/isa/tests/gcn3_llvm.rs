//! The GCN3 decoder, disassembler and assembler against LLVM 19, over instructions generated from the
//! table. Without LLVM the committed goldens stand in for it; with CI=true its absence is a failure.

#[path = "gcn3_llvm/generate.rs"]
mod generate;
#[path = "gcn3_llvm/oracle.rs"]
mod oracle;

use generate::{Lcg, forms, instruction};
use wb_isa::gcn3::*;

/// All generated instructions, distinct, in table order.
fn corpus(rounds: u32, seed: u64) -> Vec<(Inst, Vec<u32>)> {
    let mut rng = Lcg(seed);
    let mut seen = std::collections::HashSet::new();
    let mut out = Vec::new();
    for entry in &TABLE {
        for format in forms(entry) {
            for _ in 0..rounds {
                let inst = instruction(&mut rng, entry, format);
                let words = encode(&inst);
                if seen.insert(words.clone()) {
                    out.push((inst, words));
                }
            }
        }
    }
    out
}

#[test]
fn decode_inverts_encode() {
    for (inst, words) in corpus(24, 1) {
        assert_eq!(decode(&words), Ok(inst), "{:x?} {}", words, disassemble(&inst));
    }
}

#[test]
fn disassembly_equals_objdump() {
    if !oracle::available() {
        return;
    }
    let corpus: Vec<_> = corpus(24, 1).into_iter().filter(|(i, _)| !oracle::unknown_to_llvm(i)).collect();
    let theirs = oracle::objdump(corpus.iter().map(|(_, words)| words.as_slice()));
    let mut wrong = 0;
    for ((inst, words), theirs) in corpus.iter().zip(&theirs) {
        let ours = disassemble(inst);
        if ours != *theirs {
            wrong += 1;
            println!("{words:08x?}\n  ours   {ours}\n  theirs {theirs}");
        }
    }
    println!("{} instructions disassembled, {wrong} differ", corpus.len());
    assert!(corpus.len() >= 20_000);
    assert_eq!(wrong, 0);
}

#[test]
fn assembly_equals_llvm_mc() {
    if !oracle::available() {
        return;
    }
    let corpus: Vec<_> = corpus(24, 1).into_iter().filter(|(i, _)| !oracle::unknown_to_llvm(i)).collect();
    let lines: Vec<String> = corpus.iter().map(|(inst, _)| disassemble(inst)).collect();
    let theirs = oracle::assemble(&lines);
    let (mut wrong, mut refused) = (0, 0);
    for (line, theirs) in lines.iter().zip(&theirs) {
        let ours = assemble_line(line);
        if theirs.is_none() && ours.is_err() {
            refused += 1;
            println!("refused by both: {line}");
        } else if ours.as_ref().ok() != theirs.as_ref() {
            wrong += 1;
            println!("{line}\n  ours   {ours:08x?}\n  theirs {theirs:08x?}");
        }
    }
    println!("{} lines assembled, {wrong} differ, {refused} refused by llvm-mc", lines.len());
    assert_eq!(wrong, 0);
}
