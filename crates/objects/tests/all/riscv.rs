//! Vortex programs as files: what the assembler makes comes back from ELF, and what is not for the machine is refused.

use wb_isa::SourceFile;
use wb_isa::vortex::{Vortex, assemble};
use wb_objects::{RiscvError, RiscvImage, vortex_program};

const SOURCE: &str = "
_start: la a0, table
    lw a1, 4(a0)
loop: addi a1, a1, -1
    bnez a1, loop
    call half
    vx_tmc zero
half: srli a1, a1, 1
    ret
    .data
table: .word 3, 7
";

fn image() -> RiscvImage {
    let file = SourceFile::new("t.vx", SOURCE);
    RiscvImage::from_assembly(&assemble(&file).expect("it assembles"), "t.vx")
}

#[test]
fn an_executable_comes_back() {
    let before = image();
    let bytes = before.to_elf();
    assert!(RiscvImage::is_riscv(&bytes));
    let after = RiscvImage::from_elf(&bytes).expect("an executable");
    assert_eq!((&after.segments, &after.text, after.entry), (&before.segments, &before.text, before.entry));
    assert_eq!(after.symbols, before.symbols);
    let program = vortex_program(&after, Vortex::at(0), "t.elf", None).expect("a program");
    assert_eq!(program.ops.len(), 9);
    assert_eq!(
        (program.entry, program.find_label("loop"), program.find_label("half")),
        (0, Some(3), Some(7))
    );
    assert_eq!(program.find_label("table"), None, "data has no pc");
    assert_eq!(program.text_at(4), "bnez a1, loop");
    assert_eq!(program.text_at(5), "jal half");
    let with_lines = vortex_program(&before, Vortex::at(0), "t.vx", None).expect("a program");
    assert_eq!(with_lines.lines, [2, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The branch meets again behind the loop.
    assert_eq!(program.flow.rpc[4], 5);
}

#[test]
fn what_is_not_for_the_machine_is_refused() {
    let good = image().to_elf();
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        RiscvImage::from_elf(&bytes)
    };
    assert_eq!(changed(18, 62), Err(RiscvError::Machine(62)));
    assert_eq!(changed(16, 1), Err(RiscvError::Relocatable));
    assert_eq!(changed(36, 3), Err(RiscvError::Compressed));
    assert_eq!(changed(36, 4), Err(RiscvError::Abi("double-precision")));
    assert!(matches!(changed(4, 2), Err(RiscvError::Elf(_))), "64 bits");
    assert!(matches!(RiscvImage::from_elf(b"\x7fELF"), Err(RiscvError::Elf(_))));
    // Damage anywhere is an error or another program, never a panic.
    for (at, byte) in good.iter().enumerate() {
        for value in [0, 0xff, byte ^ 0x40] {
            if let Ok(image) = changed(at, value) {
                let _ = vortex_program(&image, Vortex::at(0), "t", None);
            }
        }
    }
}

#[test]
fn compressed_instructions_have_a_name() {
    let mut image = image();
    image.segments[0].bytes[8..10].copy_from_slice(&[0x01, 0x45]);
    let error = vortex_program(&image, Vortex::at(0), "t", None).expect_err("a compressed instruction");
    assert!(error.to_string().contains("compressed instruction"), "{error}");
    assert!(error.to_string().contains("0x80000008"), "{error}");
}
