//! Small programs run on one wave without a divergence mechanism, in both encodings.

use super::*;
use crate::harp::testing::TestBus;
use crate::{At, Flow, Isa, Mask, WaveStart};

/// Runs wave 0 with one lane until it halts; branches must be unanimous. Returns the console text.
fn run(arch_text: &str, source: &str) -> String {
    let image = image(arch_text, source);
    let harp = Harp::new(image.arch).unwrap();
    let program = program(&harp, &image);
    let mut bus = TestBus::new(4096);
    for (addr, bytes) in &image.segments {
        bus.bytes[*addr as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    let mut regs = harp.registers(4);
    harp.start(&mut regs, &WaveStart { lanes: 4, ..WaveStart::default() });
    let (mut pc, mut mask): (Pc, Mask) = (harp.pc_of(image.entry).unwrap(), 1);
    for clock in 0..10_000 {
        let (inst, next) = program[&pc];
        let at = At {
            pc,
            next,
            mask,
            live: mask,
            clock,
            core: 0,
            depth: 0,
            waves: 1,
            whole: true,
            may_diverge: true,
        };
        match harp.exec(&inst, &at, &mut regs, &mut bus).unwrap() {
            Flow::Next => pc = next,
            Flow::Jump(target) => pc = target,
            Flow::Enter { pc: target, mask: lanes, .. } => (pc, mask) = (target, lanes),
            Flow::Exit { .. } => return bus.console,
            other => panic!("{other:?}"),
        }
    }
    panic!("the program does not end");
}

/// The console's address is the top bit of a word.
const PORT: &str = "ldi %r6, #1\nshli %r6, %r6, (__WORD * 8 - 1)\n";

#[test]
fn sums_and_strings() {
    let source = format!(
        ".perm x\n.entry\nmain: {PORT}
               ldi %r0, hello
        next:  ld %r1, %r0, #0
               andi %r1, %r1, #0x7f
               iszero @p0, %r1
         @p0 ? jmpi done
               st %r1, %r6, #0
               addi %r0, %r0, #1
               jmpi next
        done:  halt
        hello: .string \"Hello, HARP\\n\""
    );
    for arch in ["4w8/1", "8w32/32", "4b8/1", "3b8/2", "2b16/4", "5w8/1"] {
        assert_eq!(run(arch, &source), "Hello, HARP\n", "{arch}");
    }
}

#[test]
fn cloned_lanes_and_calls() {
    // Four lanes each store a letter computed from their number, then lane 0 prints them.
    let source = format!(
        ".perm x\n.entry\nmain: {PORT}
               ldi %r0, #1
        more:  clone %r0
               addi %r0, %r0, #1
               subi %r1, %r0, #4
               rtop @p0, %r1
         @p0 ? jmpi more
               ldi %r0, #0
               ldi %r1, #4
               jalis %r5, %r1, work
               jali %r5, print
               trap
        work:  muli %r2, %r0, __WORD
               addi %r3, %r0, #65
               st %r3, %r2, out
               jmprt %r5
        print: ldi %r2, #0
        each:  ld %r3, %r2, out
               st %r3, %r6, #0
               addi %r2, %r2, __WORD
               subi %r3, %r2, (4 * __WORD)
               rtop @p0, %r3
         @p0 ? jmpi each
               halt
        .perm rw
        out:   .space 4"
    );
    for arch in ["4w8/1", "8w32/32", "4b8/1"] {
        assert_eq!(run(arch, &source), "ABCD", "{arch}");
    }
}

#[test]
fn a_kernel_serves_traps() {
    let source = format!(
        ".perm x
        .entry
        boot:   ldi %r5, kernel
                skep %r5
                ldi %r5, user
                jmpru %r5
        kernel: {PORT}
                addi %r0, %r0, #48
                st %r0, %r6, #0
                subi %r0, %r0, #51
                iszero @p0, %r0
          @p0 ? halt
                reti
        user:   ldi %r1, #0
                trap
                divi %r2, %r1, #0
                trap
                ei"
    );
    for arch in ["4w8/1", "8b8/1"] {
        assert_eq!(run(arch, &source), "0503", "{arch}: trap, division by zero, trap, privileged");
    }
}
