//! The decoder, disassembler and assembler of gfx9 and its later members against LLVM 19, over instructions generated from the
//! table of each generation. Without LLVM the committed goldens stand in for it; with CI=true its absence is a failure.

use crate::gcn3_llvm::generate::{Lcg, forms, instruction};
use crate::gcn3_llvm::{ambiguous, compare_code, oracle, report, words_text};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use wb_isa::gcn3::*;

/// Random instructions per operation and form.
const ROUNDS: u32 = 12;
/// And in the goldens.
const GOLDEN_ROUNDS: u32 = 1;

fn generations() -> impl Iterator<Item = &'static Generation> {
    GENERATIONS.into_iter().filter(|g| g.gcn > Gcn::Gfx8)
}

/// All generated instructions of a generation, distinct, in table order.
fn corpus(gcn: Gcn, rounds: u32) -> Vec<(Inst, Vec<u32>)> {
    let mut rng = Lcg(9);
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for entry in lines_of(gcn) {
        for format in forms(gcn, entry) {
            for _ in 0..rounds {
                let inst = instruction(&mut rng, gcn, entry, format);
                let words = encode(&inst);
                if seen.insert(words.clone()) {
                    out.push((inst, words));
                }
            }
        }
    }
    out
}

fn common(gcn: Gcn, rounds: u32) -> Vec<(Inst, Vec<u32>)> {
    corpus(gcn, rounds).into_iter().filter(|(inst, _)| !oracle::unknown_to_llvm(inst)).collect()
}

#[test]
fn decode_inverts_encode() {
    let mut wrong = Vec::new();
    let mut total = 0;
    for generation in generations() {
        for (inst, words) in corpus(generation.gcn, ROUNDS) {
            total += 1;
            let again = decode_for(generation, &words);
            if again != Ok(inst) {
                wrong.push(format!(
                    "{} {words:08x?} {}\n  {inst:?}\n  {again:?}",
                    generation.name,
                    disassemble(&inst)
                ));
            } else if decode_for(generation, &words[..words.len() - 1]).is_ok() {
                wrong.push(format!("{} {words:08x?} cut short decodes", generation.name));
            }
        }
    }
    report("instructions decoded", total, &wrong);
}

#[test]
fn assembly_inverts_disassembly() {
    let mut wrong = Vec::new();
    let mut total = 0;
    for generation in generations() {
        for (inst, words) in corpus(generation.gcn, ROUNDS).iter().filter(|(inst, _)| !ambiguous(inst)) {
            total += 1;
            let text = disassemble(inst);
            match assemble_line_for(generation, &text) {
                Ok(again) if again == *words => {}
                other => wrong.push(format!(
                    "{} {text}\n  from {words:08x?}\n  to   {:08x?}",
                    generation.name,
                    other.map_err(|e| e.to_string())
                )),
            }
        }
    }
    report("round trips", total, &wrong);
}

#[test]
fn disassembly_equals_objdump() {
    if !oracle::available() {
        return;
    }
    let mut wrong = Vec::new();
    let mut total = 0;
    for generation in generations() {
        let corpus = common(generation.gcn, ROUNDS);
        let theirs = oracle::objdump(generation.usual.name, corpus.iter().map(|(_, words)| words.as_slice()));
        for ((inst, words), theirs) in corpus.iter().zip(&theirs) {
            let ours = disassemble(inst);
            if ours != *theirs {
                wrong.push(format!("{} {words:08x?}\n  ours   {ours}\n  theirs {theirs}", generation.name));
            }
        }
        total += corpus.len();
    }
    assert!(total >= 100_000, "{total}");
    report("instructions disassembled", total, &wrong);
}

#[test]
fn assembly_equals_llvm_mc() {
    if !oracle::available() {
        return;
    }
    let mut wrong = Vec::new();
    let (mut total, mut refused) = (0, 0);
    for generation in generations() {
        let lines: Vec<String> =
            common(generation.gcn, ROUNDS).iter().map(|(inst, _)| disassemble(inst)).collect();
        let theirs = oracle::assemble(generation.usual.name, &lines);
        for (line, theirs) in lines.iter().zip(&theirs) {
            let ours = assemble_line_for(generation, line);
            if ours.as_ref().ok() != theirs.as_ref() {
                let ours = ours.map_err(|e| e.to_string());
                wrong.push(format!(
                    "{} {line}\n  ours   {ours:08x?}\n  theirs {theirs:08x?}",
                    generation.name
                ));
            }
        }
        refused += theirs.iter().filter(|t| t.is_none()).count();
        total += lines.len();
    }
    println!("{refused} of {total} lines are refused by both");
    report("lines assembled", total, &wrong);
}

fn golden(generation: &Generation) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{}.txt", generation.name))
}

/// `hex words | text`, a `~` before the text where it does not lead back to the words.
#[test]
fn goldens() {
    let (mut wrong, mut total) = (Vec::new(), 0);
    for generation in generations() {
        let path = golden(generation);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            assert!(oracle::available(), "goldens are LLVM's words, not ours");
            let corpus = common(generation.gcn, GOLDEN_ROUNDS);
            let theirs =
                oracle::objdump(generation.usual.name, corpus.iter().map(|(_, words)| words.as_slice()));
            let mut text = String::from(
                "# Made by UPDATE_GOLDEN=1 cargo test -p wb-isa --test all gfx9_llvm::goldens; text is llvm-objdump's.\n",
            );
            for ((inst, words), theirs) in corpus.iter().zip(theirs) {
                let mark = if ambiguous(inst) { "~" } else { "" };
                text += &format!("{} | {mark}{theirs}\n", words_text(words));
            }
            std::fs::write(&path, text).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let (hex, expected) = line.split_once(" | ").unwrap();
            let words: Vec<u32> = hex.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
            let ours = decode_for(generation, &words)
                .map(|inst| disassemble(&inst))
                .unwrap_or_else(|e| e.to_string());
            let plain = expected.trim_start_matches('~');
            if ours != plain {
                wrong.push(format!("{} {hex}\n  ours   {ours}\n  golden {plain}", generation.name));
            }
            if plain == expected && assemble_line_for(generation, plain).ok().as_deref() != Some(&words) {
                wrong.push(format!("{} {plain} does not assemble to {hex}", generation.name));
            }
            total += 1;
        }
    }
    assert!(total > 5000, "{total}");
    report("goldens", total, &wrong);
}

/// A vector instruction with registers only and no modifiers.
fn plain(gcn: Gcn, entry: &'static Entry, format: Format) -> Inst {
    let mut inst = instruction(&mut Lcg(4), gcn, entry, format);
    (inst.abs, inst.neg, inst.omod, inst.flags, inst.imm) = (0, 0, 0, 0, 0);
    let sources = (0..3).filter(|&i| entry.src[i] != Ty::None);
    for (i, first) in sources.zip([8, 16, 32]) {
        inst.src[i] = match (entry.src[i], inst.src[i]) {
            (Ty::Mask, _) => Operand::VCC,
            (_, Operand::Agpr(_)) => Operand::Agpr(first),
            _ if matches!(inst.op, Op::VReadlaneB32 | Op::VWritelaneB32) => inst.src[i],
            _ => Operand::Vgpr(first),
        };
    }
    inst.dst = match inst.dst {
        Operand::Vgpr(_) => Operand::Vgpr(64),
        Operand::Agpr(_) => Operand::Agpr(64),
        other => other,
    };
    if entry.halves == Halves::Packed {
        inst.imm = 7 << 4;
        let sources = entry.src.iter().filter(|ty| **ty != Ty::None).count();
        inst.imm &= ((1 << sources) - 1) << 4;
    }
    inst
}

/// Every modifier on every long form is taken or refused as LLVM does it.
#[test]
fn modifiers_equal_llvm_mc() {
    if !oracle::available() {
        return;
    }
    let (mut wrong, mut total) = (Vec::new(), 0);
    for generation in GENERATIONS {
        let gcn = generation.gcn;
        let mut lines = Vec::new();
        let long = |e: &&'static Entry| e.vop3_code().is_some() || e.format == Format::Vop3p;
        for entry in lines_of(gcn).filter(long) {
            let format = if entry.format == Format::Vop3p { Format::Vop3p } else { Format::Vop3 };
            let inst = plain(gcn, entry, format);
            let mut all = vec![inst; 3];
            all[1].flags = flag::CLAMP;
            all[2].omod = 1;
            for i in (0..3).filter(|&i| entry.src[i] != Ty::None && entry.src[i] != Ty::Mask) {
                if entry.halves != Halves::Blocks {
                    all.push(Inst { neg: 1 << i, ..inst });
                    // LLVM puts abs of v_div_scale into the bits of its scalar destination.
                    all.extend((!entry.carry).then_some(Inst { abs: 1 << i, ..inst }));
                }
                if matches!(entry.halves, Halves::One | Halves::Packed | Halves::Mixed) {
                    all.push(Inst { imm: inst.imm ^ 1 << i, ..inst });
                }
                if matches!(entry.halves, Halves::Packed | Halves::Mixed) {
                    all.push(Inst { imm: inst.imm ^ 16 << i, ..inst });
                }
            }
            if entry.halves == Halves::One {
                all.push(Inst { imm: 8, ..inst });
            }
            if entry.halves == Halves::Blocks {
                all.extend([1, 1 << 3, 1 << 7].map(|imm| Inst { imm, ..inst }));
            }
            lines.extend(all.iter().map(disassemble));
        }
        let theirs = oracle::assemble(generation.usual.name, &lines);
        for (line, theirs) in lines.iter().zip(&theirs) {
            let ours = assemble_line_for(generation, line).map_err(|e| e.to_string());
            if ours.as_ref().ok() != theirs.as_ref() {
                wrong.push(format!(
                    "{} {line}\n  ours   {ours:08x?}\n  theirs {theirs:08x?}",
                    generation.name
                ));
            }
        }
        total += lines.len();
    }
    report("modifiers", total, &wrong);
}

/// OpenCL C through clang for every generation: the object's code, there and back.
#[test]
fn compiled_kernels() {
    if !oracle::available() || !oracle::clang_available() {
        return;
    }
    let source = include_str!("gcn3_llvm/kernels.cl");
    for generation in generations() {
        for options in [&["-O2"][..], &["-O3"]] {
            compare_code(generation, &oracle::compile(generation.usual.name, source, options).code);
        }
    }
}

/// The fixtures that are compiled for later targets.
#[test]
fn committed_objects() {
    if !oracle::available() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3/gfx9");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let target = name.split('.').nth(1).unwrap();
        let (generation, _) = wb_isa::gcn3::generation::of_name(target).unwrap();
        compare_code(generation, &oracle::code_of(target, &path));
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}

/// First word, place of the opcode, how many there are, and whether there is a second word.
const ENCODINGS: [(u32, u32, u32, bool); 19] = [
    (0x8000_0000, 23, 96, false),
    (0xb000_0000, 23, 29, false),
    (0xbe80_0000, 8, 256, false),
    (0xbf00_0000, 16, 128, false),
    (0xbf80_0000, 16, 128, false),
    (0xc000_0000, 18, 256, true),
    (0xc400_0000, 4, 64, true),
    (0x0000_0000, 25, 62, false),
    (0x7c00_0000, 17, 256, false),
    (0x7e00_0000, 9, 256, false),
    (0xd000_0000, 16, 1024, true),
    (0xd400_0000, 16, 4, false),
    (0xd800_0000, 17, 256, true),
    (0xdc00_0000, 18, 128, true),
    (0xdc00_4000, 18, 128, true),
    (0xdc00_8000, 18, 128, true),
    (0xe000_0000, 18, 128, true),
    (0xe800_0000, 15, 16, true),
    (0xf000_0000, 18, 128, true),
];

/// Operands that most operations of an encoding take: registers at even numbers, and constants.
fn operands(rng: &mut Lcg, first: u32) -> (u32, u32) {
    let pick = |rng: &mut Lcg, list: &[u32]| list[rng.below(list.len() as u32) as usize];
    match first >> 26 {
        0x20 | 0x2c | 0x2e | 0x2f => (pick(rng, &[0, 2, 4 | 4 << 8, 8 << 16, 2 << 16 | 4]), 0),
        0x30 => (pick(rng, &[0, 1 << 17, 1 << 16, 2 << 6 | 4, 4 << 6 | 2 | 1 << 17]), pick(rng, &[0, 0x10])),
        0x31 => (pick(rng, &[0xf, 0x40f, 0x803, 0x1003]), rng.next() as u32),
        0x00 | 0x1f => (256 + 2 * rng.below(100), 0),
        0x34 => (
            pick(rng, &[0, 4, 0x6a00, 0x8000, 0x4004]),
            pick(
                rng,
                &[0x0404_0404, 0x0002_0502, 0x0409_0502, 0x040a_0504, 0x1c12_0508, 0x1802_0502, 0x0002_0002],
            ),
        ),
        0x35 => (rng.below(3) | rng.below(33) << 10 | rng.below(256) << 18, 0),
        0x36 => (pick(rng, &[0, 1 << 16, 1 << 25, 8]), pick(rng, &[0x0204_0608, 0, 0x0804_0206])),
        0x37 => (
            pick(rng, &[0, 0, 1 << 16, 1 << 17, 1 << 25, 16]),
            pick(rng, &[0x007f_0000, 0x007f_0204, 0x0002_0406, 0x0200_0002, 0x047f_0002]),
        ),
        0x38 | 0x3a => (
            pick(rng, &[0, 1 << 14, 1 << 12, 1 << 13, 4 << 19 | 7 << 23]),
            pick(rng, &[0x8002_0200, 0x8000_0406, 0x0401_0400]),
        ),
        _ => (pick(rng, &[0x100, 0xf00, 0x300]), pick(rng, &[0x0002_0200, 0x0040_0404, 0x0061_0808])),
    }
}

/// The text of a mnemonic without operands.
fn mnemonic(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

/// Every mnemonic that LLVM decodes from any opcode of any encoding, we decode, and to the same text where both do. LLVM marks what it
/// decodes but does not believe.
#[test]
fn no_opcode_is_missing() {
    if !oracle::available() {
        return;
    }
    let (mut wrong, mut total) = (Vec::new(), 0);
    for generation in GENERATIONS {
        let mut rng = Lcg(31);
        let mut all = Vec::new();
        for (first, shift, count, long) in ENCODINGS {
            for code in 0..count {
                for _ in 0..24 {
                    let (low, second) = operands(&mut rng, first);
                    let words = [first | code << shift | low, second, 0xbf80_0000];
                    all.push(if long { words.to_vec() } else { vec![words[0], words[2]] });
                }
            }
        }
        let theirs: Vec<String> = all
            .chunks(500)
            .flat_map(|part| oracle::objdump(generation.usual.name, part.iter().map(Vec::as_slice)))
            .collect();
        let mut missing = BTreeMap::new();
        let mut known = HashSet::new();
        for (words, theirs) in all.iter().zip(&theirs) {
            let plain = !theirs.starts_with(".long") && !theirs.is_empty();
            if !plain || theirs.contains("/*") || theirs.contains("invalid_") {
                continue;
            }
            match decode_for(generation, words).map(|inst| disassemble(&inst)) {
                Ok(ours) if ours == *theirs => {
                    known.insert(mnemonic(theirs));
                }
                Ok(ours) => wrong
                    .push(format!("{} {words:08x?}\n  ours   {ours}\n  theirs {theirs}", generation.name)),
                Err(why) => {
                    missing.insert(mnemonic(theirs), format!("{theirs}: {why}"));
                }
            }
        }
        total += known.len();
        missing.retain(|name, _| !known.contains(name));
        wrong.extend(missing.values().map(|line| format!("{} {line}", generation.name)));
    }
    assert!(total > 7000, "{total}");
    report("mnemonics", total, &wrong);
}

/// Passes of matrix operations against LLVM's model of the machines: how long one keeps the unit, and how long until its result.
#[test]
fn matrices_take_as_long_as_llvm_says() {
    if !oracle::available() {
        return;
    }
    let mut total = 0;
    for generation in generations() {
        let plain: Vec<Inst> = lines_of(generation.gcn)
            .filter(|entry| entry.halves == Halves::Blocks)
            .map(|entry| plain(generation.gcn, entry, Format::Vop3p))
            .collect();
        let lines: Vec<String> = plain.iter().map(disassemble).collect();
        let theirs = oracle::times(generation.usual.name, &lines);
        assert_eq!(theirs.len(), plain.len(), "{}", generation.name);
        for ((inst, line), (latency, interval)) in plain.iter().zip(&lines).zip(theirs) {
            let passes = match inst.class() {
                Class::Matrix2 => 2,
                Class::Matrix4 => 4,
                Class::Matrix8 => 8,
                Class::Matrix16 => 16,
                other => panic!("{line}: {other:?}"),
            };
            assert_eq!((latency, interval), (passes + 4, passes), "{} {line}", generation.name);
            total += 1;
        }
    }
    assert!(total > 90, "{total}");
}
