//! Control flow, hardware registers, and small programs as compilers write them.

use super::{LDS, Machine, asm, inst, machine, with};
use crate::gcn3::op::Op;
use crate::gcn3::operand::Operand;
use crate::gcn3::{Inst, assemble, decode};
use crate::{Flow, Mask, SourceFile, Trap};

/// Instructions by pc.
fn program(text: &str) -> Vec<Option<Inst>> {
    let assembly = assemble(&SourceFile::new("test.s", text)).unwrap_or_else(|e| panic!("{e:?}"));
    let mut out = vec![None; assembly.words.len()];
    let mut pc = 0;
    while pc < out.len() {
        let inst = decode(&assembly.words[pc..]).unwrap();
        out[pc] = Some(inst);
        pc += usize::from(inst.size) / 4;
    }
    out
}

/// Runs until the end; returns the number of instructions.
fn run(m: &mut Machine, text: &str) -> Result<u32, Trap> {
    let program = program(text);
    let mut pc = 0;
    for count in 1..10_000 {
        let inst = program[pc as usize].expect("an instruction");
        (m.at.pc, m.at.next) = (pc, pc + u32::from(inst.size) / 4);
        match m.run(&inst)? {
            Flow::Next => pc = m.at.next,
            Flow::Jump(to) => pc = to,
            Flow::Exit { lanes } => {
                assert_eq!(lanes, m.at.mask);
                return Ok(count);
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no end");
}

#[test]
fn branches() {
    let mut m = machine();
    let go = |op| with(inst(op, Operand::None, &[]), -3, 0);
    let (taken, not) = (Ok(Flow::Jump(8)), Ok(Flow::Next));
    assert_eq!(m.run(&go(Op::SBranch)), taken);
    for scc in [false, true] {
        m.regs.scc = scc;
        assert_eq!(m.run(&go(Op::SCbranchScc1)) == taken, scc);
        assert_eq!(m.run(&go(Op::SCbranchScc0)) == taken, !scc);
    }
    for vcc in [0, 1, 1 << 63] {
        m.regs.set_pair(106, vcc);
        assert_eq!(m.run(&go(Op::SCbranchVccz)) == taken, vcc == 0);
        assert_eq!(m.run(&go(Op::SCbranchVccnz)) == taken, vcc != 0);
    }
    for exec in [0, 1, 1 << 63] {
        m.regs.set_pair(126, exec);
        assert_eq!(m.run(&go(Op::SCbranchExecz)) == taken, exec == 0);
        assert_eq!(m.run(&go(Op::SCbranchExecnz)) == taken, exec != 0);
    }
    // No debugger is attached.
    for op in
        [Op::SCbranchCdbgsys, Op::SCbranchCdbguser, Op::SCbranchCdbgsysOrUser, Op::SCbranchCdbgsysAndUser]
    {
        assert_eq!(m.run(&go(op)), not, "{op:?}");
    }
    (m.at.mask, m.at.live) = (0xff, 0xffff);
    for op in ["s_endpgm", "s_endpgm_saved"] {
        assert_eq!(m.run(&asm(op)), Ok(Flow::Exit { lanes: 0xff }));
    }
}

/// What the splitting mechanisms need to know: lanes that are on, the mark in MODE, the lanes a split keeps.
#[test]
fn splitting_flows() {
    let mut m = machine();
    m.at.mask = 0x00ff;
    m.regs.set_pair(126, 0x0ff0);
    let branch = with(inst(Op::SCbranchExecz, Operand::None, &[]), -3, 0);
    let flow = |marked| Ok(Flow::MaskBranch { active: 0x00f0, jump: false, target: 8, marked });
    assert_eq!(m.flow(&branch), flow(false));
    m.ok(asm("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1"));
    assert_eq!(m.flow(&branch), flow(true));
    (m.regs.s[4], m.regs.s[9]) = (0x1234, 0x8000_0000);
    assert_eq!(
        m.flow(&asm("split s4, s9")),
        Ok(Flow::SplitLanes { keep: 0x8000_0000_0000_1234, apart: false })
    );
    assert_eq!(m.flow(&asm("split exec_lo, exec_hi")), Ok(Flow::SplitLanes { keep: 0x00f0, apart: false }));
    assert_eq!(
        m.flow(&asm("split_end exec_lo, exec_hi")),
        Ok(Flow::SplitLanes { keep: 0x00f0, apart: true })
    );
    assert_eq!(m.flow(&asm("merge")), Ok(Flow::Merge));
}

#[test]
fn barriers_hints_and_refusals() {
    let mut m = machine();
    assert_eq!(m.run(&asm("s_barrier")), Ok(Flow::Next), "alone in the group");
    (m.regs.group, m.regs.waves_in_group) = (7, 4);
    assert_eq!(m.run(&asm("s_barrier")), Ok(Flow::Barrier { id: 7, count: 4 }));
    for text in [
        "s_nop 3",
        "s_sleep 1",
        "s_setprio 2",
        "s_waitcnt lgkmcnt(0)",
        "s_icache_inv",
        "s_ttracedata",
        "s_incperflevel 3",
        "s_decperflevel 3",
        "s_setkill 0",
        "s_sethalt 0",
    ] {
        m.ok(asm(text));
    }
    for (text, part) in [
        ("s_trap 2", "s_trap 2"),
        ("s_sethalt 1", "s_sethalt 1"),
        ("s_setkill 1", "s_setkill 1"),
        ("s_sendmsg sendmsg(MSG_INTERRUPT)", "s_sendmsg"),
        ("s_sendmsghalt 1", "s_sendmsghalt"),
        ("s_rfe_b64 s[2:3]", "s_rfe_b64"),
        ("image_load v[0:3], v0, s[0:7] dmask:0xf", "image_load"),
    ] {
        let message = m.message(asm(text));
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn calls() {
    let mut m = machine();
    m.ok(asm("s_getpc_b64 s[4:5]"));
    assert_eq!(m.regs.pair(4), 0x1000 + 11 * 4);
    m.regs.set_pair(6, 0x1000 + 400);
    assert_eq!(m.run(&asm("s_swappc_b64 s[6:7], s[6:7]")), Ok(Flow::Jump(100)));
    assert_eq!(m.regs.pair(6), 0x1000 + 11 * 4);
    assert_eq!(m.run(&asm("s_setpc_b64 s[6:7]")), Ok(Flow::Jump(11)));
    for addr in [0x1002, 0xffc, 0, 0x1000 + (u64::from(u32::MAX) + 1) * 4] {
        m.regs.set_pair(6, addr);
        assert_eq!(m.run(&asm("s_setpc_b64 s[6:7]")), Err(Trap::BadTarget { addr }));
    }
}

#[test]
fn mode_and_other_hardware_registers() {
    let mut m = machine();
    m.regs.mode = 0x3c0;
    m.ok(asm("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3"));
    assert_eq!(m.regs.mode, 0x3f0);
    m.regs.s[5] = 0xffff_fff4;
    m.ok(asm("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s5"));
    assert_eq!(m.regs.mode, 0x340);
    m.ok(asm("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1"));
    m.ok(asm("s_getreg_b32 s6, hwreg(HW_REG_MODE)"));
    assert_eq!(m.regs.s[6], 0x20_0340);
    m.ok(asm("s_getreg_b32 s6, hwreg(HW_REG_MODE, 6, 3)"));
    assert_eq!(m.regs.s[6], 5);
    m.ok(asm("s_setreg_b32 hwreg(HW_REG_MODE), s5"));
    assert_eq!(m.regs.mode, 0xffff_fff4);
    m.regs.mode = 0;
    m.ok(asm("s_getreg_b32 s6, hwreg(HW_REG_HW_ID, 8, 4)"));
    assert_eq!(m.regs.s[6], 3);
    m.regs.scc = true;
    m.ok(asm("s_getreg_b32 s6, hwreg(HW_REG_STATUS)"));
    assert_eq!(m.regs.s[6] & 0x601, 0x401);
    m.ok(asm("s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), 0"));
    assert!(m.message(asm("s_setreg_imm32_b32 hwreg(HW_REG_STATUS), 0")).contains("HW_REG_STATUS"));
}

/// Register indexing and skipping change what vector instructions do.
#[test]
fn vector_modes() {
    let mut m = machine();
    m.fill(9, |lane| 90 + lane);
    m.regs.s[0] = 4;
    m.ok(asm("s_set_gpr_idx_on s0, gpr_idx(SRC0)"));
    m.ok(asm("v_mov_b32 v1, v5"));
    assert_eq!(m.regs.v.get(1, 3), 93);
    m.ok(asm("s_set_gpr_idx_mode gpr_idx(DST)"));
    m.ok(asm("s_set_gpr_idx_idx 2"));
    m.ok(asm("v_mov_b32 v1, v9"));
    assert_eq!(m.regs.v.get(3, 5), 95);
    m.ok(asm("s_set_gpr_idx_off"));
    m.ok(asm("v_mov_b32 v1, v2"));
    assert_eq!(m.regs.v.get(1, 3), 0);
    m.ok(asm("s_setvskip -1, 5"));
    m.ok(asm("v_mov_b32 v1, 7"));
    m.ok(asm("s_setvskip 0, 5"));
    assert_eq!(m.regs.v.get(1, 3), 0);
}

/// A split path: vector instructions see and write EXEC within the path only.
#[test]
fn vectors_in_a_split_path() {
    let mask = 0x0000_0000_ffff_00f0;
    let mut m = machine();
    m.at.mask = mask;
    m.fill(1, |lane| lane);
    m.ok(asm("v_mov_b32 v2, 5"));
    m.ok(asm("v_mov_b32 v3, exec_lo"));
    for lane in 0..64 {
        let on = mask >> lane & 1 == 1;
        assert_eq!(m.regs.v.get(2, lane), if on { 5 } else { 0 });
        assert_eq!(m.regs.v.get(3, lane), if on { mask as u32 } else { 0 });
    }
    assert_eq!(m.regs.exec(), Mask::MAX, "not written, so not changed");
    m.ok(asm("v_cmp_gt_u32 vcc, 20, v1"));
    assert_eq!(m.regs.vcc(), 0x000f_00f0);
    assert_eq!(m.regs.exec(), Mask::MAX);
    m.ok(asm("v_cmpx_gt_u32 vcc, 20, v1"));
    assert_eq!(m.regs.exec(), 0x000f_00f0);
}

/// if/else with saved masks, a divergent loop, a reduction through LDS.
#[test]
fn compiled_patterns() {
    let mut m = machine();
    m.fill(0, |lane| lane);
    m.regs.set_pair(4, 0x2000);
    let text = "
        v_cmp_gt_u32 vcc, 24, v0
        s_and_saveexec_b64 s[6:7], vcc
        s_xor_b64 s[6:7], exec, s[6:7]
        s_cbranch_execz ELSE
        v_add_u32 v1, vcc, 100, v0
    ELSE:
        s_andn2_saveexec_b64 s[6:7], s[6:7]
        s_cbranch_execz END
        v_sub_u32 v1, vcc, 1000, v0
    END:
        s_or_b64 exec, exec, s[6:7]
        ; v2 = number of steps until the lane number is halved to zero
        v_mov_b32 v2, 0
        v_mov_b32 v3, v0
        s_mov_b64 s[8:9], 0
    LOOP:
        v_cmp_eq_u32 vcc, 0, v3
        s_or_b64 s[8:9], vcc, s[8:9]
        s_andn2_b64 exec, exec, s[8:9]
        s_cbranch_execz DONE
        v_lshrrev_b32 v3, 1, v3
        v_add_u32 v2, vcc, 1, v2
        s_branch LOOP
    DONE:
        s_or_b64 exec, exec, s[8:9]
        ; sum of the lane numbers through LDS
        s_mov_b32 m0, -1
        v_lshlrev_b32 v4, 2, v0
        ds_write_b32 v4, v0
        s_movk_i32 s10, 0x80
    REDUCE:
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_cmp_gt_u32 vcc, s10, v4
        s_and_saveexec_b64 s[6:7], vcc
        v_add_u32 v5, vcc, s10, v4
        ds_read_b32 v6, v5
        ds_add_u32 v4, v6
        s_or_b64 exec, exec, s[6:7]
        s_lshr_b32 s10, s10, 1
        s_cmp_lg_u32 s10, 2
        s_cbranch_scc1 REDUCE
        v_mov_b32 v8, s4
        v_mov_b32 v9, s5
        v_add_u32 v8, vcc, v8, v4
        v_addc_u32 v9, vcc, 0, v9, vcc
        flat_store_dword v[8:9], v1
        s_endpgm
    ";
    run(&mut m, text).unwrap();
    for lane in 0..64u32 {
        let expect = if lane < 24 { lane + 100 } else { 1000 - lane };
        assert_eq!(m.regs.v.get(1, lane), expect);
        assert_eq!(m.bus.u32(0x2000 + lane as usize * 4), expect);
        assert_eq!(m.regs.v.get(2, lane), u32::BITS - lane.leading_zeros());
    }
    assert_eq!(m.bus.u32(LDS), 63 * 64 / 2);
    assert_eq!(m.regs.exec(), Mask::MAX);
}

/// The same if/else on one side of a split: the other side's lanes stay out though saved masks name them.
#[test]
fn a_split_path_stays_within_its_mask() {
    let mut m = machine();
    m.fill(0, |lane| lane);
    m.at.mask = 0xffff_0000_ffff_0000;
    m.regs.set_pair(6, Mask::MAX);
    let text = "
        v_cmp_gt_u32 vcc, 24, v0
        s_and_saveexec_b64 s[8:9], vcc
        v_mov_b32 v1, 1
        s_or_b64 exec, exec, s[6:7]
        v_mov_b32 v2, 2
        s_mov_b64 exec, -1
        v_mov_b32 v3, 3
        s_endpgm
    ";
    run(&mut m, text).unwrap();
    for lane in 0..64 {
        let on = m.at.mask >> lane & 1 == 1;
        assert_eq!(m.regs.v.get(1, lane), u32::from(on && lane < 24));
        assert_eq!(m.regs.v.get(2, lane), if on { 2 } else { 0 });
        assert_eq!(m.regs.v.get(3, lane), if on { 3 } else { 0 });
    }
    assert_eq!(m.regs.exec(), m.at.mask);
}
