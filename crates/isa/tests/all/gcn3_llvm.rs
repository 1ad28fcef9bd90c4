//! The GCN3 decoder, disassembler and assembler against LLVM 19, over instructions generated from the
//! table. Without LLVM the committed goldens stand in for it; with CI=true its absence is a failure.

pub(crate) mod generate;
mod graphics;
mod memory;
pub(crate) mod oracle;
mod random;

use generate::{Lcg, forms, instruction};
use std::collections::HashSet;
use std::path::Path;
use wb_isa::gcn3::*;
use wb_isa::{AsmError, SourceFile};

/// Lines LLVM takes although something in them does not fit.
const REFUSED: [&str; 5] = [
    "v_add_u16 v0, 1.5, v1",
    "s_nop 0x10000",
    "buffer_load_dword v0, v1, s[0:3], s0 offen offset:4096",
    "s_load_dword s0, s[2:3],",
    "s_cbranch_execz nowhere",
];

/// Random instructions per operation and form.
const ROUNDS: u32 = 24;
/// What the witness calls gfx803.
const CPU: &str = "gfx803";
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/gcn3.txt");

/// All generated instructions, distinct, in table order.
fn corpus(rounds: u32) -> Vec<(Inst, Vec<u32>)> {
    let mut rng = Lcg(1);
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for entry in lines_of(Gcn::Gfx8) {
        for format in forms(Gcn::Gfx8, entry) {
            for _ in 0..rounds {
                let inst = instruction(&mut rng, Gcn::Gfx8, entry, format);
                let words = encode(&inst);
                if seen.insert(words.clone()) {
                    out.push((inst, words));
                }
            }
        }
    }
    out
}

/// The corpus without what LLVM does not know.
fn common(rounds: u32) -> Vec<(Inst, Vec<u32>)> {
    corpus(rounds).into_iter().filter(|(inst, _)| !oracle::unknown_to_llvm(inst)).collect()
}

/// Instructions whose text, in LLVM too, does not lead back to their bits; docs/gcn3.md lists them.
pub(crate) fn ambiguous(inst: &Inst) -> bool {
    let long = matches!(inst.op, Op::VNop | Op::VClrexcp) && inst.format == Format::Vop3;
    let (and, or, xor) = (inst.imm & 31, inst.imm >> 5 & 31, inst.imm >> 10 & 31);
    let redundant = or & (and | xor) | !and & !or & xor;
    let swizzle = inst.op == Op::DsSwizzleB32 && inst.imm < 0x8000 && redundant != 0;
    long || swizzle || (0..3).any(|i| ambiguous_source(inst, i))
}

fn ambiguous_source(inst: &Inst, i: usize) -> bool {
    let ty = inst.src_ty(i);
    match inst.src[i] {
        // Printed as the bits of a literal.
        Operand::InlineFloat(_) => ty.bits() == 16 && !ty.is_float() && inst.op != Op::VLdexpF16,
        Operand::Literal(_) if inst.entry().literal_source().is_some() || inst.format == Format::Sopk => {
            false
        }
        // Bits beyond the operand are not printed; clang writes negative 16-bit literals with them.
        Operand::Literal(n) if ty.bits() == 16 && n > 0xffff => true,
        // Printed as an inline constant, or as a number that becomes one.
        Operand::Literal(n) => match ty.bits() {
            64 => {
                n <= 64 || ty == Ty::F64 && InlineFloat::ALL.iter().any(|f| f.bits64() == u64::from(n) << 32)
            }
            16 if ty.is_float() => {
                (-16..=64).contains(&(n as i16))
                    || InlineFloat::ALL.iter().any(|f| u32::from(f.bits16()) == n)
            }
            _ => (-16..=64).contains(&(n as i32)) || InlineFloat::ALL.iter().any(|f| f.bits32() == n),
        },
        _ => false,
    }
}

pub(crate) fn words_text(words: &[u32]) -> String {
    words.iter().map(|w| format!("{w:08x}")).collect::<Vec<_>>().join(" ")
}

/// Fails with the first differences, each explained.
pub(crate) fn report(what: &str, total: usize, wrong: &[String]) {
    println!("{total} {what}, {} differ", wrong.len());
    assert!(
        wrong.is_empty(),
        "{} of {total} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn decode_inverts_encode() {
    for (inst, words) in corpus(ROUNDS) {
        assert_eq!(decode(&words), Ok(inst), "{words:x?} {}", disassemble(&inst));
        assert!(decode(&words[..words.len() - 1]).is_err(), "{words:x?} cut short");
    }
}

#[test]
fn assembly_inverts_disassembly() {
    let mut wrong = Vec::new();
    let corpus = corpus(ROUNDS);
    for (inst, words) in corpus.iter().filter(|(inst, _)| !ambiguous(inst)) {
        let text = disassemble(inst);
        match assemble_line(&text) {
            Ok(again) if again == *words => {}
            other => wrong.push(format!("{text}\n  from {words:08x?}\n  to   {other:08x?}")),
        }
    }
    report("round trips", corpus.len(), &wrong);
}

#[test]
fn disassembly_equals_objdump() {
    if !oracle::available() {
        return;
    }
    let corpus = common(ROUNDS);
    let theirs = oracle::objdump(CPU, corpus.iter().map(|(_, words)| words.as_slice()));
    let mut wrong = Vec::new();
    for ((inst, words), theirs) in corpus.iter().zip(&theirs) {
        let ours = disassemble(inst);
        if ours != *theirs {
            wrong.push(format!("{words:08x?}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    assert!(corpus.len() >= 20_000);
    report("instructions disassembled", corpus.len(), &wrong);
}

#[test]
fn assembly_equals_llvm_mc() {
    if !oracle::available() {
        return;
    }
    let lines: Vec<String> = common(ROUNDS).iter().map(|(inst, _)| disassemble(inst)).collect();
    compare_assembly(&lines);
}

fn compare_assembly(lines: &[String]) {
    let theirs = oracle::assemble(CPU, lines);
    let mut wrong = Vec::new();
    for (line, theirs) in lines.iter().zip(&theirs) {
        let ours = assemble_line(line);
        if ours.as_ref().ok() != theirs.as_ref() {
            wrong.push(format!("{line}\n  ours   {ours:08x?}\n  theirs {theirs:08x?}"));
        }
    }
    let refused = theirs.iter().filter(|t| t.is_none()).count();
    println!("{refused} of {} lines are refused by both", lines.len());
    report("lines assembled", lines.len(), &wrong);
}

/// Sources as people write them: no suffixes, other spellings, constants on the edge of each form.
#[test]
fn hand_written_lines_equal_llvm_mc() {
    let text = include_str!("gcn3_llvm/lines.s");
    let lines: Vec<String> = text.lines().filter(|l| !l.is_empty()).map(str::to_string).collect();
    if oracle::available() {
        compare_assembly(&lines);
    }
    for line in REFUSED {
        assert!(assemble_line(line).is_err(), "{line}");
    }
}

/// Literals on the edge of what an inline constant holds, in every type.
#[test]
fn edge_literals_equal_llvm() {
    if !oracle::available() {
        return;
    }
    let mut values: Vec<u32> = (-20..70).map(|n: i32| n as u32).collect();
    values.extend([0x7fff_ffff, 0x8000_0000, 0xffff, 0xfff0, 0xffef, 0x1_0000, 0xffff_ff80]);
    for f in InlineFloat::ALL {
        values.extend([f.bits16().into(), f.bits32(), (f.bits64() >> 32) as u32, f.bits64() as u32]);
    }
    let ops = [
        Op::SMovB32,
        Op::SMovB64,
        Op::SAddU32,
        Op::SAshrI64,
        Op::SCmpEqU64,
        Op::VAddF16,
        Op::VAddU16,
        Op::VMaxI16,
        Op::VAddF32,
        Op::VAndB32,
        Op::VRcpF64,
        Op::VCmpLtF16,
        Op::VCmpLtI16,
        Op::VCmpLtF64,
        Op::VCmpLtI64,
        Op::VCmpLtU64,
        Op::VCvtF64F32,
        Op::VCvtF32F16,
        Op::VCmpClassF64,
        Op::VLdexpF16,
        Op::VMadakF32,
    ];
    let mut all = Vec::new();
    for op in ops {
        let mut rng = Lcg(5);
        for &value in &values {
            let mut inst = instruction(&mut rng, Gcn::Gfx8, op.entry(), op.entry().format);
            inst.src[op.entry().literal_source().unwrap_or(0)] = Operand::Literal(value);
            if op == Op::SAddU32 || op == Op::SCmpEqU64 {
                inst.src[1] = Operand::Sgpr(4);
            }
            all.push(encode(&inst));
        }
    }
    let theirs = oracle::objdump(CPU, all.iter().map(Vec::as_slice));
    let mut wrong = Vec::new();
    for (words, theirs) in all.iter().zip(&theirs) {
        let inst = decode(words).unwrap();
        let ours = disassemble(&inst);
        if ours != *theirs {
            wrong.push(format!("{words:08x?}\n  ours   {ours}\n  theirs {theirs}"));
        }
        if !ambiguous(&inst) && assemble_line(&ours).ok().as_ref() != Some(words) {
            wrong.push(format!("{ours}\n  from {words:08x?}\n  to   {:08x?}", assemble_line(&ours)));
        }
    }
    report("edge literals", all.len(), &wrong);
    compare_assembly(&theirs);
}

/// Every value of the immediates that have symbolic forms.
#[test]
fn symbolic_immediates_equal_objdump() {
    if !oracle::available() {
        return;
    }
    let swizzle = |imm: u32| vec![0xd87a_0000 | imm, 1];
    let families: [&dyn Fn(u32) -> Vec<u32>; 4] = [
        &|imm| vec![0xbf8c_0000 | imm],
        &|imm| vec![0xbf90_0000 | imm],
        &|imm| vec![0xb880_0000 | imm],
        &swizzle,
    ];
    let all: Vec<Vec<u32>> = families.iter().flat_map(|f| (0..0x10000).map(f)).collect();
    let theirs = oracle::objdump(CPU, all.iter().map(Vec::as_slice));
    let mut wrong = Vec::new();
    let mut texts = std::collections::BTreeSet::new();
    for (words, theirs) in all.iter().zip(&theirs) {
        let ours = disassemble(&decode(words).unwrap());
        if ours != *theirs {
            wrong.push(format!("{words:08x?}\n  ours   {ours}\n  theirs {theirs}"));
        }
        texts.insert(ours);
    }
    report("immediates", all.len(), &wrong);
    compare_assembly(&texts.into_iter().collect::<Vec<_>>());
}

/// Bits nobody assembles: where both decode, the text is the same.
#[test]
fn random_words_agree_where_both_decode() {
    let mut rng = Lcg(7);
    let mut all = Vec::new();
    for entry in lines_of(Gcn::Gfx8) {
        for format in forms(Gcn::Gfx8, entry) {
            for _ in 0..6 {
                let mut words = encode(&instruction(&mut rng, Gcn::Gfx8, entry, format));
                for _ in 0..1 + rng.below(3) {
                    let i = rng.below(words.len() as u32) as usize;
                    words[i] ^= 1 << rng.below(32);
                }
                words.push(0xbf80_0000);
                all.push(words);
            }
        }
    }
    for _ in 0..20_000 {
        all.push(vec![rng.next() as u32, rng.next() as u32, 0xbf80_0000]);
    }
    for words in &all {
        if let Ok(inst) = decode(words) {
            assert_eq!(decode(&encode(&inst)).map(|i| disassemble(&i)), Ok(disassemble(&inst)), "{words:x?}");
        }
    }
    if !oracle::available() {
        return;
    }
    let theirs: Vec<String> =
        all.chunks(500).flat_map(|part| oracle::objdump(CPU, part.iter().map(Vec::as_slice))).collect();
    let (mut wrong, mut both, mut only_ours, mut only_theirs) = (Vec::new(), 0, 0, 0);
    for (words, theirs) in all.iter().zip(&theirs) {
        let ours = decode(words).ok().filter(|i| !oracle::unknown_to_llvm(i)).map(|inst| disassemble(&inst));
        // LLVM marks what it decodes but does not believe.
        let theirs =
            (!theirs.starts_with(".long") && !theirs.contains("/*") && !theirs.is_empty()).then_some(theirs);
        match (&ours, theirs) {
            (Some(a), Some(b)) if a != b => wrong.push(format!("{words:08x?}\n  ours   {a}\n  theirs {b}")),
            (Some(_), Some(_)) => both += 1,
            (Some(_), None) => only_ours += 1,
            (None, Some(b)) => {
                only_theirs += 1;
                println!("only LLVM decodes {words:08x?} {b}: {}", decode(words).unwrap_err());
            }
            _ => {}
        }
    }
    println!("{both} decoded by both, {only_ours} only by us, {only_theirs} only by LLVM");
    report("random words", all.len(), &wrong);
}

/// `hex words | text`, a `~` before the text where it does not lead back to the words.
#[test]
fn goldens() {
    let path = Path::new(GOLDEN);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        assert!(oracle::available(), "goldens are LLVM's words, not ours");
        let corpus = common(4);
        let theirs = oracle::objdump(CPU, corpus.iter().map(|(_, words)| words.as_slice()));
        let mut text = String::from(
            "# Made by UPDATE_GOLDEN=1 cargo test -p wb-isa --test gcn3_llvm goldens; text is llvm-objdump's.\n",
        );
        for ((inst, words), theirs) in corpus.iter().zip(theirs) {
            let mark = if ambiguous(inst) { "~" } else { "" };
            text += &format!("{} | {mark}{theirs}\n", words_text(words));
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let (hex, expected) = line.split_once(" | ").unwrap();
        let words: Vec<u32> = hex.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        let ours = decode(&words).map(|inst| disassemble(&inst)).unwrap_or_else(|e| e.to_string());
        let plain = expected.trim_start_matches('~');
        if ours != plain {
            wrong.push(format!("{hex}\n  ours   {ours}\n  golden {plain}"));
        }
        if plain == expected && assemble_line(plain).ok().as_deref() != Some(&words) {
            wrong.push(format!("{plain}\n  ours   {:08x?}\n  golden {hex}", assemble_line(plain)));
        }
        count += 1;
    }
    assert!(count > 3000);
    report("goldens", count, &wrong);
}

/// Text that does not lead back to the bits, in LLVM and here alike.
#[test]
fn known_ambiguities() {
    let cases: [(&[u32], &str, &[u32]); 4] = [
        // An explicit literal with the value of an inline constant.
        (&[0x8200_ff00, 0], "s_addc_u32 s0, s0, 0", &[0x8200_8000]),
        (&[0x0204_02ff, 0x3f80_0000], "v_add_f32_e32 v2, 1.0, v1", &[0x0204_02f2]),
        // An inline float as a 16-bit integer is printed as its bits, which are a literal.
        (&[0x4c00_02f2], "v_add_u16_e32 v0, 0x3c00, v1", &[0x4c00_02ff, 0x3c00]),
        // Bits of s_waitcnt that no counter has.
        (&[0xbf8c_ffff], "s_waitcnt vmcnt(15) expcnt(7) lgkmcnt(15)", &[0xbf8c_0f7f]),
    ];
    for (from, text, to) in cases {
        assert_eq!(disassemble(&decode(from).unwrap()), text);
        assert_eq!(assemble_line(text).unwrap(), to);
    }
    if oracle::available() {
        let theirs = oracle::objdump(CPU, cases.iter().map(|c| c.0));
        assert_eq!(theirs, cases.map(|c| c.1.to_string()));
        let again = oracle::assemble(CPU, &theirs);
        assert_eq!(again, cases.map(|c| Some(c.2.to_vec())));
    }
}

#[test]
fn split_and_merge_have_names() {
    assert_eq!(assemble_line("split s4, s5").unwrap(), [0xbf14_0504]);
    assert_eq!(assemble_line("merge").unwrap(), [0xbf15_0000]);
    assert_eq!(assemble_line("split_end s4, s5").unwrap(), [0xbf16_0504]);
    assert_eq!(disassemble(&decode(&[0xbf14_0504]).unwrap()), "split s4, s5");
    assert_eq!(disassemble(&decode(&[0xbf16_0504]).unwrap()), "split_end s4, s5");
}

/// Anything may be in a source file.
#[test]
fn the_assembler_never_panics() {
    let mut rng = Lcg(3);
    let corpus = common(2);
    let pieces = [
        "v[",
        "]",
        "|",
        "-",
        "(",
        ")",
        ":",
        "s[0:1]",
        "0x",
        "1e9",
        "swizzle(",
        "\"",
        "é",
        ",",
        " ",
        "_e64",
        "99999999999999999999999999999999999999999",
    ];
    for (inst, _) in &corpus {
        let mut text = disassemble(inst);
        for _ in 0..3 {
            let mut at = rng.below(text.len() as u32 + 1) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match rng.below(3) {
                0 => text.truncate(at),
                _ => text.insert_str(at, pieces[rng.below(pieces.len() as u32) as usize]),
            }
        }
        let _ = assemble_line(&text);
        let _ = assemble(&SourceFile::new("x", text));
    }
}

#[test]
fn kernel_descriptors_equal_llvm_mc() {
    if !oracle::available() {
        return;
    }
    let text = include_str!("gcn3_llvm/kernels.s");
    let ours = assemble(&SourceFile::new("kernels.s", text)).unwrap_or_else(|e| panic!("{e:?}"));
    let theirs = oracle::rodata(text);
    assert_eq!(theirs.len(), 64 * ours.kernels.len());
    for (kernel, theirs) in ours.kernels.iter().zip(theirs.chunks(64)) {
        let mut theirs = theirs.to_vec();
        theirs[16..24].fill(0); // filled in by the linker
        assert_eq!(kernel.descriptor(0).to_vec(), theirs, "{}", kernel.name);
    }
}

/// OpenCL C through clang: the object's code, and its assembly through our assembler.
#[test]
fn compiled_kernels() {
    if !oracle::available() || !oracle::clang_available() {
        return;
    }
    let source = include_str!("gcn3_llvm/kernels.cl");
    for options in [&["-O2"][..], &["-O3"], &["-O1", "-mllvm", "-amdgpu-skip-threshold=1"]] {
        compare_code(&GFX8, &oracle::compile(CPU, source, options).code);
        // Tables would be data outside of .text.
        let whole: Vec<&str> = options.iter().copied().chain(["-DNO_TABLES"]).collect();
        let compiled = oracle::compile(CPU, source, &whole);
        let file = SourceFile::new("k.s", compiled.assembly);
        let assembled = assemble(&file).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(assembled.words, compiled.code.words, "clang -S and clang -c, {options:?}");
        assert!(!assembled.kernels.is_empty() && assembled.metadata.is_some());
    }
}

/// Any object files: WB_GCN3_OBJECTS is a list of paths separated by `:`.
#[test]
fn objects_from_the_environment() {
    let Ok(paths) = std::env::var("WB_GCN3_OBJECTS") else { return };
    assert!(oracle::available());
    for path in paths.split(':') {
        println!("{path}");
        compare_code(&GFX8, &oracle::code_of(CPU, Path::new(path)));
    }
}

/// Disassembly and reassembly of a whole .text.
pub(crate) fn compare_code(generation: &'static Generation, code: &oracle::Code) {
    let (mut wrong, mut address, mut count) = (Vec::new(), code.start, 0);
    let mut words = &code.words[..];
    while !words.is_empty() {
        let theirs = code.dump.get(&address).map_or("", String::as_str);
        let Ok(inst) = decode_for(generation, words) else {
            let known = theirs.is_empty() || theirs.starts_with(".long");
            if !known {
                wrong.push(format!(
                    "{address:#x}: {}; LLVM: {theirs}",
                    decode_for(generation, words).unwrap_err()
                ));
            }
            (words, address) = (&words[1..], address + 4);
            continue;
        };
        let (ours, size) = (disassemble(&inst), usize::from(inst.size) / 4);
        let again = assemble_line_for(generation, &ours).map_err(|e: AsmError| e.to_string());
        if !theirs.is_empty() && ours != theirs || again.as_deref() != Ok(&words[..size]) && !ambiguous(&inst)
        {
            wrong.push(format!("{address:#x}\n  ours   {ours} {again:08x?}\n  theirs {theirs}"));
        }
        (words, address, count) = (&words[size..], address + u64::from(inst.size), count + 1);
    }
    report("compiled instructions", count, &wrong);
}
