//! The assembler: words it must produce, what disassembly gives back, and what a user reads when something is wrong.

use super::machine::{BASE, Random};
use crate::vortex::{DYNAMIC, File, Format, Image, Inst, Op, TABLE, Target, assemble, text};
use crate::{AsmError, SourceFile};

fn ok(source: &str) -> Image {
    assemble(&SourceFile::new("t.vx", source)).unwrap_or_else(|e| panic!("{e:?}\n{source}"))
}

fn words(source: &str) -> Vec<u32> {
    let image = ok(source);
    let bytes = &image.segments[0].1;
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

fn errors(source: &str) -> Vec<AsmError> {
    assemble(&SourceFile::new("t.vx", source)).expect_err(source)
}

#[test]
fn constants_take_one_or_two_instructions() {
    assert_eq!(words("li a0, 5"), [0x0050_0513]);
    assert_eq!(words("li a0, -1"), [0xfff0_0513]);
    assert_eq!(words("li a0, 0xffffffff"), [0xfff0_0513]);
    assert_eq!(words("li a0, 0x12345000"), [0x1234_5537]);
    assert_eq!(words("li a0, 0x12345678"), [0x1234_5537, 0x6785_0513]);
    // The upper part is one more when the lower is negative.
    assert_eq!(words("li a0, 0x12345fff"), [0x1234_6537, 0xfff5_0513]);
    assert_eq!(words("li a0, 0x7fffffff"), [0x8000_0537, 0xfff5_0513]);
    assert_eq!(words(".equ N, 6*7\nli a0, N-2<<1"), words("li a0, 38"));
}

#[test]
fn labels_sections_and_data() {
    let image = ok("
        .equ SIZE, 3
        _first: nop
        .globl _start
        _start: la a0, table; lw a1, %lo(table+4)(a0)
            lui a2, %hi(table)
        1:  bnez a1, 1b
            beqz a1, 1f
            call _first
        1:  j _start
        .data
        table: .word 1, -2, _start, table+SIZE
        .half 0xffff
        .byte 'x', 1
    "
    .replace("'x'", "120")
    .as_str());
    assert_eq!(image.entry, BASE + 4);
    let data = image.segments[1].0;
    assert_eq!(data % 64, 0);
    let expected = [1, (-2i32) as u32, BASE + 4, data + 3].map(u32::to_le_bytes).concat();
    assert_eq!(image.segments[1].1, [expected.as_slice(), &[0xff, 0xff, 120, 1]].concat());
    assert_eq!(
        image.symbols,
        [("_first".to_owned(), BASE), ("_start".to_owned(), BASE + 4), ("table".to_owned(), data)]
    );
    let text: Vec<Inst> = image.segments[0]
        .1
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| Inst::decode(u32::from_le_bytes(*b)).expect("instruction"))
        .collect();
    let far = |i: usize| text[i].imm;
    assert_eq!((far(5), far(6), far(7), far(8)), (0, 8, -28, -28));
    let high = (data + 0x800) >> 12;
    assert_eq!((far(1), far(4)), (high as i32, high as i32));
    assert_eq!(far(2), (data as i32) << 20 >> 20);
    assert_eq!(far(3), (data as i32 + 4) << 20 >> 20);
    assert_eq!(image.lines[0], (BASE, 3));
}

#[test]
fn data_directives() {
    let image = ok(
        "nop\n.data\n.float 1.5, -2, inf, -0.5e1\n.space 2\n.align 2\n.asciz \"a\\n\"\n.string \"é\"\n.ascii \"z\"",
    );
    let floats = [1.5f32, -2.0, f32::INFINITY, -5.0].map(f32::to_le_bytes).concat();
    assert_eq!(image.segments[1].1, [floats.as_slice(), &[0, 0, 0, 0], b"a\n\0", "é\0z".as_bytes()].concat());
    assert_eq!(words(".insn r 0x0B, 2, 0, a0, a1, x1"), words("vx_split_n a0, a1"));
    assert_eq!(words(".word 0x13"), [0x13]);
}

/// Every instruction of the table with random operands: its text assembles to the same word.
#[test]
fn disassembly_assembles_to_the_same_words() {
    let mut random = Random(3);
    for round in 0..12_000 {
        let entry = &TABLE[round % TABLE.len()];
        let inst = random_inst(&mut random, entry.op);
        let word = inst.encode();
        assert_eq!(Inst::decode(word), Ok(inst), "{word:#x}");
        let line = text(&inst, &Target::Distance);
        assert_eq!(words(&line), [word], "{line}");
    }
}

pub fn random_inst(random: &mut Random, op: Op) -> Inst {
    let entry = op.entry();
    let mut register = |file: File| match (file, random.below(4)) {
        (File::None, _) => 0,
        // x0 and ra are what aliases are made of.
        (_, 0) => random.below(2) as u8,
        _ => random.below(32) as u8,
    };
    let [rd, rs1, rs2, rs3] = entry.files.map(&mut register);
    let mut inst = Inst { rd, rs1, rs2, rs3, ..Inst::new(op) };
    if random.below(4) == 0 && entry.files[2] != File::None {
        inst.rs2 = inst.rs1;
    }
    match entry.format {
        Format::Immediate | Format::Load | Format::Store => {
            inst.imm = [0, 1, -1, 255, -2048, 2047][random.below(6) as usize];
            if random.below(2) == 0 {
                inst.imm = random.below(4096) as i32 - 2048;
            }
        }
        Format::Shift => inst.imm = random.below(32) as i32,
        Format::Branch => inst.imm = (random.below(4096) as i32 - 2048) * 2,
        Format::Jump => inst.imm = (random.below(1 << 20) as i32 - (1 << 19)) * 2,
        Format::Upper => inst.imm = random.below(1 << 20) as i32,
        Format::Fence => inst.imm = random.below(256) as i32,
        Format::Csr | Format::CsrImmediate => {
            let csrs = crate::vortex::CSRS;
            inst.imm = csrs[random.below(csrs.len() as u64) as usize].0 as i32;
            if entry.format == Format::CsrImmediate {
                inst.rs1 = random.below(32) as u8;
            }
        }
        Format::Atomic | Format::Reserve => inst.rm = random.below(4) as u8,
        Format::Round2 | Format::Round3 | Format::Round4 => {
            inst.rm = [0, 1, 2, 3, 4, DYNAMIC][random.below(6) as usize];
        }
        _ => {}
    }
    inst
}

#[test]
fn errors_say_where_and_what() {
    let one = |source: &str, message: &str, hint: &str| {
        let all = errors(source);
        assert_eq!(all.len(), 1, "{source}: {all:?}");
        assert!(all[0].message.contains(message), "{source}: {}", all[0].message);
        let got = all[0].hint.clone().unwrap_or_default();
        assert!(got.contains(hint), "{source}: hint {got}");
    };
    one("adi a0, a0, 1", "no instruction `adi`", "did you mean `addi`");
    one("add a0, a1", "expected `,`", "add rd, rs1, rs2");
    one("add a0, a1, fa2", "expected a general-purpose register", "x0 to x31");
    one("fadd.s fa0, fa1, a2", "expected a floating-point register", "fa0");
    one("addi a0, a0, 2048", "`addi` takes -2048 to 2047, not 2048", "");
    one("nop\nbeq a0, a1, lop\nloop: nop", "no label `lop`", "did you mean `loop`");
    one("lw a0, 4[a1]", "`[` does not belong", "");
    one("li a0, label\nlabel: nop", "not a number that is known here", "`la`");
    one("x: nop\nx: nop", "`x` is defined twice", "");
    one("a0: nop", "`a0` is a register", "");
    one(".data\nadd a0, a0, a0", "an instruction in the data section", ".text");
    one("nop\n.word 5 5", "does not belong to this statement", "");
    one("fadd.s fa0, fa1, fa2, rnx", "no such rounding mode", "rne, rtz");
    one("csrr a0, mhartd", "there is no CSR `mhartd`", "mhartid");
    one(".wrod 5\nnop", "no directive `.wrod`", "did you mean `.word`");
    one("j 1f", "there is no label `1:`", "");
    one("", "no instructions", "");
    one(".byte 1\nnop", "odd address", ".align 2");
    one("li a0, 0x1ffffffff", "not a number", "");
    one(".space 1<<40\nnop", "at most", "");
    one("call 5000000", "`jal` takes", "");
    one(".ascii \"abc\nnop", "the string does not end", "");
    let two = errors("adi a0, a0, 1\nnop\nfoo b\n");
    assert_eq!(
        two.iter().map(|e| e.message.as_str()).collect::<Vec<_>>(),
        ["there is no instruction `adi`", "there is no instruction `foo`"]
    );
}

#[test]
fn garbage_never_panics() {
    let mut random = Random(21);
    let pieces = [
        "add", "a0", ",", "(", ")", "lw", "%hi", "1f", "1:", "li", "\"", ".word", "-", "0x", "<<", "fence",
        "iorw", "jalr", ".insn", "r", "csrr", ".align", "999", "\n", ";", "é", ".space", "vx_split",
        "fadd.s", "#",
    ];
    for _ in 0..4000 {
        let source: String = (0..random.below(12))
            .map(|_| format!("{} ", pieces[random.below(pieces.len() as u64) as usize]))
            .collect();
        let _ = assemble(&SourceFile::new("t.vx", source));
    }
}
