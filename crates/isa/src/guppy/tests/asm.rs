//! The assembler: what it accepts, and what it says about what it does not.

use super::*;

/// Errors as `line:column message | hint`.
fn errors(text: &str) -> Vec<String> {
    let file = SourceFile::new("bad.s", text);
    let show = |e: &crate::AsmError| {
        let (line, column) = file.line_column(e.span.offset());
        format!("{line}:{column} {} | {}", e.message, e.hint.as_deref().unwrap_or("-"))
    };
    assemble(&file).expect_err(text).iter().map(show).collect()
}

#[test]
fn labels_lines_and_comments() {
    let module = assembled("; only a comment\n\nA:\n  B: C :  mov r0.x, u(1) ; tail\n\tret;\nEND:\n");
    let labels: Vec<(&str, Pc)> = module.labels.iter().map(|(n, pc)| (n.as_str(), *pc)).collect();
    assert_eq!(labels, [("A", 0), ("B", 0), ("C", 0), ("END", 2)]);
    assert_eq!(module.lines, [4, 5]);
    assert_eq!(assembled("ret\r\nret\r\n").insts.len(), 2);
    assert_eq!(assembled("mov r0.x,f3 ( 1.  .5 -2e1 )").disassemble(), "    mov r0.x, f3(1.0 0.5 -20.0)\n");
    assert_eq!(assembled("clock: jmp clock").insts[0].args().target[0], 0);
}

#[test]
fn the_documents_examples_assemble() {
    let example = "
        mov r0.x, lane_id
        lt.u32 r0.y, r0.x, u(16)
        br_push r0.y, ELSE, CONVERGE
    THEN:
        mov r0.x, r0.x
        pop_mask
    ELSE:
        mov r0.x, r0.x
        pop_mask
    CONVERGE:
        ret";
    let module = assembled(example);
    assert_eq!((module.insts.len(), module.registers_used()), (8, 1));
    assert_eq!(module.insts[2].args().target, [5, 7]);
    // Case d) of figure 4 falls through its labels.
    assembled("A:\n br_push r0.x, C, D\nB:\nC:\n mask_nz r0.y\n jmp B\nD:\n ret");
}

#[test]
fn one_error_each() {
    let mut wrong = Vec::new();
    let values =
        "a value is a register r0.x, an immediate u(1) or f(1.0), or thread_id, lane_id, wave_id, clock";
    for (text, expected) in [
        ("", "1:1 the program has no instructions | the shortest program is: ret".to_string()),
        ("A:\n;ret", "1:1 the program has no instructions | the shortest program is: ret".into()),
        ("  mvo r0.x, u(1)", "1:3 unknown instruction `mvo` | did you mean mov?".into()),
        ("add r0.x, r0.x, r0.x", "1:1 unknown instruction `add` | say which type it works on: add.f32 or add.u32".into()),
        ("abs r0.x, r0.x", "1:1 unknown instruction `abs` | say which type it works on: abs.f32".into()),
        ("mov.f32 r0.x, r0.x", "1:1 unknown instruction `mov.f32` | did you mean mov?".into()),
        ("RET", "1:1 unknown instruction `RET` | instructions are written in lower case: ret".into()),
        ("LOOP_BEGIN", "1:1 unknown instruction `LOOP_BEGIN` | a label ends with a colon: LOOP_BEGIN:".into()),
        (", r0.x", "1:1 `,` cannot start a line | -".into()),
        ("mov r0.x", "1:1 mov takes 2 operands, not 1 | write it as: mov rN.xyzw, value".into()),
        ("ret r0.x", "1:5 ret takes 0 operands, not 1 | write it as: ret".into()),
        ("mov r0.x, u(1), u(2)", "1:17 mov takes 2 operands, not 3 | write it as: mov rN.xyzw, value".into()),
        ("mov r0.x,, u(1)", "1:1 there is nothing between two commas | write it as: mov rN.xyzw, value".into()),
        ("mov r0.x r1.x, u(1)", "1:10 `r1.x` is not expected here | operands are separated by commas".into()),
        ("mov r256.x, u(1)", "1:5 r256 does not exist | they are numbered r0 to r255".into()),
        ("ld r0.x, t64.x, u(1)", "1:10 t64 does not exist | they are numbered t0 to t63".into()),
        ("mov r99999999999.x, u(1)", "1:5 r99999999999 does not exist | they are numbered r0 to r255".into()),
        ("mov r0, u(1)", "1:5 r0 names no components | write one to four of x, y, z, w, as in r0.x or r0.xyzw".into()),
        ("mov r0.xa, u(1)", "1:5 `a` is not a component | write one to four of x, y, z, w, as in r0.x or r0.xyzw".into()),
        ("mov r0.x, r0.xyzwx", "1:11 5 components are too many | write one to four of x, y, z, w, as in r0.x or r0.xyzw".into()),
        ("mov r0.xx, u(1)", "1:5 component x is written twice | list each written component once".into()),
        ("st u0.xx, u(0), u(1)", "1:4 component x is written twice | list each written component once".into()),
        ("mov u(1), r0.x", "1:5 a register is needed here, this is an immediate | results go to a register, as in r0.x or r0.xyzw".into()),
        ("mov r0.x, t0.x", format!("1:11 a value is needed here, this is a read-only view | {values}")),
        ("ld r0.x, u0.x, u(0)", "1:10 a read-only view is needed here, this is a writable view | reads go through tN views, as in t0.xyzw".into()),
        ("st t0.x, u(0), u(0)", "1:4 a writable view is needed here, this is a read-only view | stores go through uN views, as in u0.xyzw".into()),
        ("sample r0.x, t0.x, r1.x, r0.xy", "1:20 a sampler is needed here, this is a register | samplers are s0 to s63".into()),
        ("sample r0.x, t0.x, s0.x, r0.xy", "1:20 a sampler has no components | write s0".into()),
        ("sample r0.x, t0.x, s0, r0.x", "1:24 texture coordinates are two values | write two components, as in r0.xy or f2(0.5 0.5)".into()),
        ("mask_nz r0.xy", "1:9 only one component can be tested | pick one, as in r1.x".into()),
        ("A: br_push r0.xy, A, A", "1:12 only one component can be tested | pick one, as in r1.x".into()),
        ("mask_nz u(1)", "1:9 a register is needed here, this is an immediate | the tested value is one register component, as in r0.x".into()),
        ("mov r0.x, 12", "1:11 `12` is not an operand | an immediate says its type: u(12) or f(12)".into()),
        ("mov r0.x, -1.5", "1:11 `-1.5` is not an operand | an immediate says its type: f(-1.5)".into()),
        ("mov r0.x, laneid", "1:11 `laneid` is not an operand | did you mean lane_id?".into()),
        ("mov r0.x, #", format!("1:11 `#` is not expected here | {values}")),
        ("mov r0.x, u(1.5)", "1:13 `1.5` is not an integer | a float is written f(1.5)".into()),
        ("mov r0.x, u(0xfg)", "1:13 `0xfg` is not an integer | write decimal digits, or hexadecimal ones after 0x".into()),
        ("mov r0.x, u(4294967296)", "1:13 4294967296 does not fit 32 bits | values reach from -2147483648 to 4294967295".into()),
        ("mov r0.x, f(1,0)", "1:14 `,` inside an immediate | separate the values with spaces".into()),
        ("mov r0.x, f(one)", "1:13 `one` is not a number | write 1.5, -2e3 or inf; 0x3fc00000 gives the bits".into()),
        ("mov r0.xy, f2(1)", "1:12 f2( ) holds 2 values, not 1 | f( ) holds one value, f2( ) to f4( ) as many as they say".into()),
        ("mov r0.x, u(1", "1:11 the immediate is not closed | put ) after the last value".into()),
        ("mov r0.x, u5(1)", "1:11 `u5` is not a kind of immediate | immediates are u( ) u2( ) u3( ) u4( ) and f( ) f2( ) f3( ) f4( )".into()),
        ("mov r0.x, u(1) u(2)", "1:16 `u` is not expected here | operands are separated by commas".into()),
        ("ret\n  jmp NOWHERE", "2:7 label NOWHERE is not defined | put a line `NOWHERE:` before the instruction it names".into()),
        ("LOOP_END:\n jmp LOP_END", "2:6 label LOP_END is not defined | did you mean LOOP_END?".into()),
        ("jmp u(1)", "1:5 a label is needed here | write the name of a label, without its colon".into()),
        ("A: ret\nA:\n ret", "2:1 label A is defined twice | it already stands in line 1; rename one of them".into()),
        ("1A: ret", "1:1 `1A` cannot name a label | a label is a letter or _, then letters, digits, _, . or $".into()),
    ] {
        if errors(text) != [expected.as_str()] {
            wrong.push(format!("{text}\n  {:?}\n  {expected:?}", errors(text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_errors_are_reported_in_order() {
    let found = errors("jmp X\n mvo r0.x, r0.x\n add.u32 r300.x, r0, r1.q\n ret\n jmp Y\n");
    let heads: Vec<&str> = found.iter().map(|e| e.split(' ').next().unwrap_or("")).collect();
    assert_eq!(heads, ["1:5", "2:2", "3:10", "3:18", "3:22", "5:6"]);
    assert_eq!(errors(&"bad!\n".repeat(1000)).len(), 50);
}

#[test]
fn errors_render_with_a_caret() {
    let file = SourceFile::new("é.s", "ret\n mov r0.x, é ; ünï\n");
    let error = assemble(&file).expect_err("é is no operand").remove(0);
    assert_eq!(error.span.offset()..error.span.offset() + error.span.len(), 15..17);
    assert_eq!(error.label, "not an operand");
}

#[test]
fn mutated_sources_never_panic() {
    let mut noise = Lcg(7);
    let alphabet: Vec<char> = "rtusfxyzw0159.,:;()-_ \n\té$".chars().collect();
    let mut accepted = 0;
    for _ in 0..20_000 {
        let lines: Vec<&str> = EVERYTHING.lines().collect();
        let from = noise.below(lines.len());
        let to = (from + 1 + noise.below(3)).min(lines.len());
        let mut text: Vec<char> = lines[from..to].join("\n").chars().collect();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(text.len() + 1);
            match noise.below(3) {
                0 => text.insert(at, alphabet[noise.below(alphabet.len())]),
                1 if at < text.len() => text[at] = alphabet[noise.below(alphabet.len())],
                _ if at < text.len() => drop(text.remove(at)),
                _ => {}
            }
        }
        let text: String = text.into_iter().collect();
        let file = SourceFile::new("noise.s", text.clone());
        match assemble(&file) {
            Ok(module) => {
                accepted += 1;
                let again = assembled(&module.disassemble());
                assert_eq!(again.insts, module.insts, "{text}");
                assert_eq!(Module::from_bytes(&module.to_bytes()).as_ref(), Ok(&module), "{text}");
            }
            Err(errors) => assert!(!errors.is_empty()),
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
