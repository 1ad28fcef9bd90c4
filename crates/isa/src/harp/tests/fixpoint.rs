//! Assembly language details, and disassembly that assembles to the same image again.

use super::*;
use crate::harp::testing::Lcg;
use crate::harp::{Codec, TABLE, assemble, disassemble, link};
use crate::{Isa, NO_PC};

const SOURCE: &str = r#"
    /* a comment
       of two lines */
    .def COUNT 3
    .def TWICE (COUNT * 2)
    .perm x
    helper: jmpr %ra           // to the end of the line
    .entry
    main: also: ldi %r0, COUNT; ldi %r1 TWICE
    loop: subi %r0 %r0 #1;;
          @p0 ? split
          rtop @p0, %r0
          @p0?jmpi loop
          jali %ra, helper
          ld %r1, %r1, table
          halt
    .align 64
    .perm rw
    table: .word 1, -2 0x10 017 (1 << 4) helper TWICE
           .byte 1 2 3
    text:  .string "say \"hi\"\n\\"
    odd:   .byte 9
    zeros: .space (2 * COUNT)
           .word 5
    bss:   .space 64
    end:
"#;

fn word(image: &Image, name: &str, i: u64) -> u64 {
    let bytes = u64::from(image.arch.bytes);
    let addr = image.symbols.iter().find(|(n, _)| n == name).unwrap().1 + i * bytes;
    image.bytes_at(addr).unwrap()[..bytes as usize].iter().rev().fold(0, |w, &b| w << 8 | u64::from(b))
}

fn addr(image: &Image, name: &str) -> u64 {
    image.symbols.iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn the_language() {
    let image = image("4w8/1", SOURCE);
    assert_eq!(image.entry, 4);
    assert_eq!([addr(&image, "main"), addr(&image, "also"), addr(&image, "loop")], [4, 4, 12]);
    assert_eq!(addr(&image, "table"), 64);
    let table: Vec<u64> = (0..7).map(|i| word(&image, "table", i)).collect();
    assert_eq!(table, [1, 0xffff_fffe, 16, 15, 16, 0, 6]);
    assert!(image.bytes_at(addr(&image, "text")).unwrap().starts_with(b"say \"hi\"\n\\\0"));
    assert_eq!(addr(&image, "odd") % 4, 0);
    assert_eq!(word(&image, "zeros", 6), 5);
    assert_eq!(addr(&image, "end"), addr(&image, "bss") + 256);
    assert_eq!(image.end(), addr(&image, "end"));
    assert_eq!((image.text.len(), image.text[0].clone()), (1, 0..40));
    assert_eq!(image.lines[..3], [(0, 7), (4, 9), (8, 9)]);
    assert_eq!(image.bytes_at(4).unwrap()[..4], 0x4a00_0003u32.to_le_bytes(), "ldi %r0, #3");
}

#[test]
fn expressions() {
    for (text, value) in [
        ("(1 + 2 * 3)", 7),
        ("(10 - 3 - 2)", 5),
        ("(1 + 1 << 4)", 32),
        ("(6 & 3 | 8)", 10),
        ("(5 ^ 1)", 4),
        ("(-__WORD * 8)", 0xffff_ffe0),
        ("(`__WORD)", 2),
        ("(`(1 << 20) - 1)", 19),
        ("(100 % 7 / 2)", 1),
        ("(256 >> 4)", 16),
        ("( ( 3 ) )", 3),
        ("-0x10", 0xffff_fff0),
        ("0.5", 0x3f00_0000),
        ("-2f", 0xc000_0000),
        ("1.5e+1", 0x4170_0000),
    ] {
        assert_eq!(word(&image("4w8/1", &format!("x: .word {text}")), "x", 0), value, "{text}");
    }
    let special = image("4w8/1", "add %sp, %fp, %ra");
    assert_eq!(disassemble(&special).lines().last(), Some("    add %r6, %r5, %r7"));
}

fn check_fixpoint(first: &Image) {
    let text = disassemble(first);
    let second = image(&first.arch.to_string(), &text);
    assert_eq!(
        (first.entry, &first.segments, &first.text),
        (second.entry, &second.segments, &second.text),
        "{text}"
    );
    assert_eq!(first.symbols.len(), second.symbols.len());
    assert_eq!(disassemble(&second), text);
}

#[test]
fn disassembly_assembles_to_the_same_image() {
    for arch in ["4w8/1", "8w32/32", "4b8/1", "3b8/2", "2b16/16", "5w8/4"] {
        check_fixpoint(&image(arch, SOURCE));
    }
    let text = disassemble(&image("4w8/1", SOURCE));
    for line in [
        "main:",
        ".entry",
        "    @p0 ? jmpi loop",
        "    ld %r1, %r1, #64",
        "    .string \"say \\\"hi\\\"\\n\\\\\"",
    ] {
        assert!(text.lines().any(|l| l == line), "no `{line}` in {text}");
    }
}

#[test]
fn linked_objects_disassemble_too() {
    let object = |source: &str| assemble(&SourceFile::new("t.s", source), &arch("4b8/1")).unwrap();
    let a = object("start: jali %r7, f\nhalt\nx: .byte 1\nlast:");
    let b = object("x: .word 2\n.global\nf: jmpr %r7\nlast:");
    let image = link(&[a, b]).unwrap();
    let text = disassemble(&image);
    assert!(text.contains("x.2:") && text.contains("jali %r7, f"), "{text}");
    check_fixpoint(&image);
}

#[test]
fn random_instructions_survive_text() {
    let mut random = Lcg(23);
    for arch_text in ["4w8/1", "8w32/32", "4b8/4", "3b7/5", "3w5/3"] {
        let arch = arch(arch_text);
        let (harp, codec) = (Harp::new(arch).unwrap(), Codec::new(arch).unwrap());
        let (mut source, mut expected) = (String::new(), Vec::new());
        for round in 0..500 {
            let inst = random.inst(&arch, &codec, TABLE[round % TABLE.len()].op);
            codec.encode(&inst, &mut expected).unwrap();
            source += &format!("{}\n", harp.show(&inst, NO_PC / 2, &|_| None));
        }
        assert_eq!(image(arch_text, &source).segments[0].1, expected, "{arch_text}");
    }
}
