//! Module files: round trips, and bytes that are no module.

use super::*;
use crate::Isa;

#[test]
fn bytes_and_text_round_trip() {
    let module = assembled(EVERYTHING);
    let used: std::collections::HashSet<Op> = module.insts.iter().map(Inst::op).collect();
    assert_eq!(used.len(), TABLE.len(), "the program has every instruction");
    assert_eq!(module.registers_used(), 256);
    let bytes = module.to_bytes();
    assert_eq!(Module::from_bytes(&bytes).expect("it was just written"), module);

    let text = module.disassemble();
    let again = assembled(&text);
    assert_eq!((&again.insts, &again.labels), (&module.insts, &module.labels));
    assert_eq!(again.disassemble(), text);
}

#[test]
fn lost_labels_get_names() {
    let mut module = assembled("L1: jmp END\n jmp L1\n br_push r0.x, L1, END\nEND:");
    module.labels = vec![("L3".into(), 1)];
    let text = module.disassemble();
    assert_eq!(text, "L0:\n    jmp L3_\nL3:\n    jmp L0\n    br_push r0.x, L0, L3_\nL3_:\n");
    assert_eq!(assembled(&text).insts, module.insts);
    let isa = Guppy::new(4, Bindings::default());
    let name = |pc| (pc == 0).then(|| "TOP".to_string());
    assert_eq!(isa.show(&module.insts[2], 2, &name), "br_push r0.x, TOP, @3");
}

#[test]
fn broken_headers_say_why() {
    let good = assembled("ret").to_bytes();
    let why = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        Module::from_bytes(&bytes).expect_err("it is broken").to_string()
    };
    let says = |text: String, part: &str| assert!(text.contains(part), "{text} does not say {part}");
    says(why(&|b| b[0] = b'X'), "it does not start with GUPY");
    says(why(&|b| b[4] = 9), "version 9; this program reads version 1");
    says(why(&|b| b[6] = 1), "reserved bytes");
    says(why(&|b| b[8..12].fill(0)), "no instructions");
    says(why(&|b| b[8..12].fill(0xff)), "not a usable GUPPY module");
    says(why(&|b| b[12..16].fill(0xff)), "it ends too early");
    says(why(&|b| b[16] = 0xee), "unknown opcode 0xee");
    says(why(&|b| b.push(0)), "bytes after its end");
    says(why(&|b| b.clear()), "ends too early (byte 0)");
}

#[test]
fn operands_are_validated() {
    // Byte 16 is the opcode; the operands follow.
    let bad = |program: &str, at: usize, value: u8| {
        let mut bytes = assembled(program).to_bytes();
        bytes[at] = value;
        Module::from_bytes(&bytes).expect_err(program).what
    };
    assert_eq!(bad("mov r0.x, r1.x", 18, 0), "bad component list");
    assert_eq!(bad("mov r0.x, r1.x", 18, 5), "bad component list");
    assert_eq!(bad("mov r0.x, r1.x", 19, 4), "bad component list");
    assert_eq!(bad("mov r0.xy, r1.x", 19, 0), "a component is written twice");
    assert_eq!(bad("mov r0.x, r1.x", 20, 7), "unknown kind of value 7");
    assert_eq!(bad("mov r0.x, clock", 21, 4), "unknown builtin");
    assert_eq!(bad("mov r0.x, u(1)", 21, 9), "an immediate has one to four values");
    assert_eq!(bad("ld r0.x, t0.x, u(0)", 20, 64), "view number above 63");
    assert_eq!(bad("sample r0.x, t0.x, s0, r0.xy", 23, 64), "sampler number above 63");
    assert_eq!(bad("sample r0.x, t0.x, s0, r0.xx", 26, 1), "texture coordinates need two components");
    assert_eq!(bad("mask_nz r0.x", 17, 3), "a test needs a register with one component");
    assert_eq!(bad("A: jmp A", 17, 2), "target 2 is outside the program of 1 instructions");
    assert_eq!(bad("A: jmp A", 26, b'-'), "a label is not a name");
}

#[test]
fn truncated_and_mutated_modules_are_errors_or_modules() {
    let good = assembled(EVERYTHING).to_bytes();
    for end in 0..good.len() {
        assert!(Module::from_bytes(&good[..end]).is_err(), "cut at {end}");
    }
    let mut noise = Lcg(1);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + noise.below(4) {
            let at = noise.below(bytes.len());
            match noise.below(4) {
                0 => bytes[at] = noise.next() as u8,
                1 => bytes[at] ^= 1 << noise.below(8),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, noise.next() as u8),
            }
        }
        if let Ok(module) = Module::from_bytes(&bytes) {
            accepted += 1;
            assert_eq!(module.to_bytes(), bytes, "a module has one encoding");
            assert_eq!(assembled(&module.disassemble()).insts, module.insts);
        }
    }
    assert!(accepted > 100, "mutations of line numbers and immediates stay legal ({accepted})");
    for _ in 0..2000 {
        let mut bytes: Vec<u8> = (0..noise.below(200)).map(|_| noise.next() as u8).collect();
        let header = good[..12.min(bytes.len())].to_vec();
        bytes[..header.len()].copy_from_slice(&header);
        assert!(Module::from_bytes(&bytes).is_err());
    }
}
