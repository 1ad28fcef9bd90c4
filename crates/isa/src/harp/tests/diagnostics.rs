//! What the assembler says about wrong programs: message, place and hint.

use super::*;
use crate::AsmError;
use crate::harp::assemble;
use crate::harp::testing::Lcg;

fn errors(source: &str) -> (SourceFile, Vec<AsmError>) {
    let file = SourceFile::new("t.s", source);
    let errors = assemble_program(&file, &arch("4w8/2")).expect_err(source);
    (file, errors)
}

#[test]
fn messages_places_and_hints() {
    let mut wrong = Vec::new();
    for (source, message, place, hint) in [
        ("nop\n  adi %r1, %r1, #2", "unknown instruction `adi`", (2, 3), "did you mean `addi`?"),
        ("ADD %r1, %r1, %r1", "unknown instruction `ADD`", (1, 1), "did you mean `add`?"),
        ("frobnicate", "unknown instruction `frobnicate`", (1, 1), "a label is written `frobnicate:`"),
        ("addi %r8, %r1, #2", "there is no register `%r8`", (1, 6), "%r0 to %r7"),
        ("addi %rx, %r1, #2", "there is no register `%rx`", (1, 6), "%r0 to %r7"),
        ("rtop @p2, %r1", "there is no predicate `@p2`", (1, 6), "@p0 to @p1"),
        ("@p0 addi %r1, %r1, #1", "expected `?` after the predicate", (1, 5), "@p0 ? addi"),
        (
            "add %r1, %r1",
            "`add` needs a register as operand 3, found the end",
            (1, 13),
            "write: add %rA, %rB, %rC",
        ),
        ("add %r1, %r1, #1", "needs a register as operand 3, found `#`", (1, 15), "write: add"),
        ("neg %r1, %r2, %r3", "unexpected `,` after `neg`", (1, 13), "write: neg %rA, %rB"),
        ("addi %r1, %r1, 2", "`addi` needs an immediate as operand 3, found `2`", (1, 16), "start with #"),
        ("ldi %r1, #LIMIT", "`#LIMIT` is not a number", (1, 11), "without #: LIMIT"),
        ("addi %r1, %r1, #0x20000", "immediate 131072 does not fit", (1, 16), ".word"),
        ("ldi %r1, #1.5", "immediate 1069547520 does not fit", (1, 10), ".word"),
        ("jmpi lopp\nloop: halt", "undefined label `lopp`", (1, 6), "did you mean `loop`?"),
        ("ldi %r1, N\n.def N 3", "undefined label `N`", (1, 10), "move it up"),
        ("ldi %r1, zebra", "undefined label `zebra`", (1, 10), "define it with `zebra:`"),
        ("a: nop\na: nop", "label `a` is defined twice", (2, 1), "in line 1"),
        (".def a 1\na: nop", "`a` is already a constant", (2, 1), ""),
        (".def a 1\n.def a 2", "`a` is defined twice", (2, 6), ""),
        (".wrod 1", "unknown directive `.wrod`", (1, 1), "did you mean `.word`?"),
        (".word 0x100000000", "4294967296 does not fit 32 bits", (1, 7), ""),
        (".byte 1 256", "256 does not fit 8 bits", (1, 9), ""),
        (".word", "expected at least one number", (1, 6), ""),
        (".word 08", "`08` is not a number: a leading 0 means octal", (1, 7), "017"),
        (".word 0xg", "bad hexadecimal digit", (1, 7), ""),
        (".string hello", ".string needs a text in quotes, found `hello`", (1, 9), ""),
        (".string \"abc", "string is never closed", (1, 9), ""),
        (".string \"a\\q\"", "unknown escape", (1, 11), ""),
        (".perm rq", "permissions are the letters", (1, 7), ".perm rw"),
        (".space -1", "-1 is not a number of words", (1, 8), ""),
        (".space 100000000", "the program is too large", (1, 17), "268435456"),
        (".space n", "`n` is not a constant", (1, 8), ".def n 1"),
        ("nop /* oops", "comment is never closed", (1, 5), ""),
        ("nop\n$", "unexpected character `$`", (2, 1), ""),
        ("ldi %r0, (1 + )", "expected a number, found `)`", (1, 15), ""),
        ("ldi %r0, (1 + 2", "parenthesis is never closed", (1, 10), "found the end"),
        ("ldi %r0, (1 / 0)", "no result", (1, 13), "division by zero"),
        ("ldi %r0, (`0)", "logarithm of 0", (1, 11), ""),
        ("x: ldi %r0, (x + 4)", "`x` is not a constant", (1, 14), "only .def names"),
        (".entry\nnop\n.entry\nnop", "second .entry", (3, 1), ""),
        ("nop\n.entry", "nothing follows", (2, 1), ""),
        (".global\nnop", ".global without a label", (1, 1), ""),
        (
            ".perm x\n.space 200000\nback: jmpi back\nld %r0, %r0, back",
            "`back` is out of reach",
            (4, 14),
            "ld",
        ),
        ("@p0", "expected `?`", (1, 4), ""),
        ("add é", "unexpected character", (1, 5), ""),
    ] {
        let (file, errors) = errors(source);
        let found = errors.iter().any(|e| {
            e.message.contains(message)
                && file.line_column(e.span.offset()) == place
                && e.hint.clone().unwrap_or_default().contains(hint)
        });
        if !found {
            let places: Vec<_> = errors.iter().map(|e| file.line_column(e.span.offset())).collect();
            wrong.push(format!(
                "{source:?}: wanted {message:?} at {place:?} with {hint:?}, got {places:?} {errors:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_errors_in_one_run() {
    let (file, errors) = errors("adi %r1\nnop\nsubb %r1\n.wrod 1; neg %r9, %r1");
    let lines: Vec<u32> = errors.iter().map(|e| file.line_column(e.span.offset()).0).collect();
    assert_eq!(lines, [1, 3, 4, 4]);
    let (_, many) = self::errors(&"bogus\n".repeat(500));
    assert_eq!(many.len(), 50);
    let (_, undefined) = self::errors("jmpi a\njmpi b\n");
    assert_eq!(undefined.len(), 2);
}

#[test]
fn open_labels_are_fine_in_an_object() {
    assert!(assemble(&SourceFile::new("t.s", "jali %r7, elsewhere"), &arch("4w8/2")).is_ok());
}

#[test]
fn random_sources_never_panic() {
    const PARTS: &[&str] = &[
        "addi",
        "%r1",
        ",",
        "#",
        "(",
        ")",
        "-",
        "0x",
        "9",
        "f",
        ".",
        ".word",
        ".space",
        "\"",
        "\\",
        "/*",
        "*/",
        "//",
        "\n",
        ";",
        ":",
        "label",
        "@p0",
        "?",
        " ",
        "`",
        "<<",
        ">>",
        "%",
        "&",
        "é",
        ".def",
        ".align",
        "jmpi",
        "18446744073709551615",
        "1.5e",
        "+",
        ".string",
        ".entry",
        ".global",
        ".perm",
        "rwx",
        "\0",
        "\r",
    ];
    let mut random = Lcg(1);
    for _ in 0..4000 {
        let len = random.below(25);
        let source: String = (0..len).map(|_| PARTS[random.below(PARTS.len() as u64) as usize]).collect();
        let _ = assemble_program(&SourceFile::new("t.s", source), &arch("4w8/2"));
    }
    let deep = format!("ldi %r0, {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(assemble_program(&SourceFile::new("t.s", deep), &arch("4w8/2")).is_err());
}
