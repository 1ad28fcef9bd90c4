//! The document's three examples, run on the smallest mask stack that obeys its rules. Instructions
//! issued equal its clocks (every latency is 1); lane use counts everything before `ret`.

use super::*;

/// Issued instructions and lane use in per mille, for one wave of 32.
fn run(text: &str) -> (u32, u32) {
    let insts = assembled(text).insts;
    let mut wave = Wave::new(32);
    let mut stack: Vec<(u64, Pc)> = Vec::new();
    let (mut pc, mut issued, mut active) = (0, 0, 0);
    loop {
        assert!(issued < 1000, "the program ends");
        let at = At {
            pc,
            next: pc + 1,
            mask: wave.mask,
            live: !0,
            clock: 0,
            core: 0,
            depth: 0,
            waves: 1,
            whole: true,
            may_diverge: true,
        };
        let flow =
            wave.isa.exec(&insts[pc as usize], &at, &mut wave.regs, &mut wave.memory).expect("no trap");
        issued += 1;
        pc += 1;
        if let Flow::Exit { .. } = flow {
            return (issued, active * 1000 / (32 * (issued - 1)));
        }
        active += wave.mask.count_ones();
        match flow {
            Flow::PushMask { reconverge } => stack.push((wave.mask, reconverge)),
            Flow::PopMask => wave.mask = 0,
            Flow::MaskNonZero { keep } => wave.mask = keep,
            Flow::BranchPush { taken, other, reconverge } => {
                stack.push((wave.mask, reconverge));
                if wave.mask & !taken != 0 {
                    stack.push((wave.mask & !taken, other));
                }
                wave.mask = taken;
            }
            Flow::Jump(target) => pc = target,
            _ => {}
        }
        if wave.mask == 0 {
            (wave.mask, pc) = stack.pop().expect("a mask to go back to");
        }
    }
}

#[test]
fn reference_values() {
    let body = "mov r0.x, r0.x\n".repeat(5);
    let one = format!(
        "mov r0.x, lane_id\n push_mask END\n and r0.y, r0.x, u(1)\n mask_nz r0.y\n{body} pop_mask\nEND: ret"
    );
    assert_eq!(run(&one), (11, 700));
    let two = "mov r0.x, lane_id\n push_mask END\nTOP: lt.u32 r0.y, r0.x, u(16)\n \
               add.u32 r0.x, r0.x, u(1)\n mask_nz r0.y\n jmp TOP\nEND: ret";
    assert_eq!(run(two), (70, 318)); // 704 of 2208, 31.9 %
    let three = format!(
        "mov r0.x, lane_id\n lt.u32 r0.y, r0.x, u(16)\n br_push r0.y, ELSE, END\n{body} pop_mask\n\
         ELSE:\n{body} pop_mask\nEND: ret"
    );
    assert_eq!(run(&three), (16, 600));
}
