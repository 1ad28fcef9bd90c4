//! What a wave starts with: the order of SGPRs, ids, lanes that exist, private memory.

use super::machine;
use crate::gcn3::isa::{Gcn3, Setup};
use crate::gcn3::operand::{Operand, sreg};
use crate::{Facts, FlowKind, Isa, WaveStart};

fn setup() -> Setup {
    Setup {
        vgprs: 8,
        mode: 0x3c0,
        work_item_dimensions: 3,
        grid: [20, 6, 4],
        group: [10, 3, 2],
        kernarg: 0x1_0000_0020,
        packet: 0x2_0000_0040,
        queue: 0x3_0000_0060,
        dispatch_id: 0x4_0000_0080,
        lds_bytes: 640,
        scratch_per_lane: 30,
        scratch_region: 0x7_0000_1000,
        ..Setup::default()
    }
}

fn start() -> WaveStart {
    WaveStart {
        group: 5,
        group_size: 60,
        lanes: 64,
        waves_in_group: 1,
        lds_base: 0x9000,
        scratch_base: 0x7_0000_1000 + 3 * 2048,
        ..WaveStart::default()
    }
}

/// All 2^12 combinations of what a kernel may ask for.
#[test]
fn sgpr_order() {
    let values: [&[u32]; 12] = [
        &[0x1000, 0x8000_0007, 0xffff_ffff, 0x00e8_0000],
        &[0x40, 2],
        &[0x60, 3],
        &[0x20, 1],
        &[0x80, 4],
        &[0, 30],
        &[30],
        &[1],
        &[0],
        &[1],
        &[0x8000_0001],
        &[6144],
    ];
    for asked in 0..1u32 << 12 {
        let on = |bit: u32| asked >> bit & 1 == 1;
        let mut setup = setup();
        setup.user = [0, 1, 2, 3, 4, 5, 6].map(on).into();
        setup.workgroup = [7, 8, 9, 10].map(on);
        setup.scratch_wave_offset = on(11);
        let isa = Gcn3 { setup, code_base: 0 };
        let mut regs = isa.registers(64);
        isa.start(&mut regs, &WaveStart { group: 1 + 4, ..start() });
        let expect: Vec<u32> =
            (0..12).filter(|&b| on(b)).flat_map(|b| values[b as usize].iter().copied()).collect();
        assert_eq!(regs.s[..expect.len()], expect, "{asked:#x}");
        assert!(regs.s[expect.len()..102].iter().all(|&v| v == 0));
    }
}

#[test]
fn system_sgprs_follow_the_counted_user_sgprs() {
    let mut setup = setup();
    setup.user.kernarg_ptr = true;
    setup.user_sgprs = 6;
    setup.workgroup[0] = true;
    let isa = Gcn3 { setup, code_base: 0 };
    let mut regs = isa.registers(64);
    isa.start(&mut regs, &start());
    assert_eq!(regs.s[..7], [0x20, 1, 0, 0, 0, 0, 1]);
}

#[test]
fn local_ids_and_lanes() {
    let mut setup = setup();
    setup.group = [10, 3, 4];
    setup.grid = [20, 6, 4];
    let isa = Gcn3 { setup, code_base: 0 };
    let mut regs = isa.registers(64);
    // 120 threads: the second wave has 56.
    for (wave, count) in [(0, 64), (1, 56)] {
        isa.start(
            &mut regs,
            &WaveStart { wave_in_group: wave, waves_in_group: 2, group_size: 120, group: 3, ..start() },
        );
        assert_eq!(regs.exec().count_ones(), count);
        assert_eq!(regs.exec(), crate::first_lanes(count));
        for lane in 0..count {
            let id = [regs.v.get(0, lane), regs.v.get(1, lane), regs.v.get(2, lane)];
            assert_eq!(id[0] + 10 * id[1] + 30 * id[2], wave * 64 + lane);
            assert!(id[0] < 10 && id[1] < 3);
        }
    }
    assert_eq!((regs.mode, regs.lds_base, regs.lds_bytes), (0x3c0, 0x9000, 640));
    assert_eq!((regs.scratch_base, regs.scratch_per_lane), (0x7_0000_2800, 32));
    assert_eq!((regs.group, regs.waves_in_group, regs.scc), (3, 2, false));
    assert_eq!(regs.s[usize::from(sreg::M0)], u32::MAX);
}

/// Fewer dimensions leave v1 and v2 alone; a group at the edge of the grid is smaller.
#[test]
fn dimensions_and_edges() {
    let mut setup = setup();
    (setup.work_item_dimensions, setup.grid, setup.group) = (1, [70, 5, 1], [32, 2, 1]);
    setup.workgroup = [true, true, true, false];
    let isa = Gcn3 { setup, code_base: 0 };
    let mut regs = isa.registers(64);
    isa.start(&mut regs, &WaveStart { group: 8, group_size: 64, ..start() });
    assert_eq!(regs.s[..3], [2, 2, 0], "groups are 3 × 3, x fastest");
    assert_eq!(regs.exec(), 0b11_1111, "70 − 64 in x, 5 − 4 in y");
    assert_eq!(regs.v.get(0, 5), 5);
    assert!(regs.v.row(1).iter().all(|&v| v == 0));
    isa.start(&mut regs, &WaveStart { group: 2, group_size: 64, ..start() });
    assert_eq!(regs.exec().count_ones(), 12);
    assert_eq!(regs.v.get(0, 7), 1, "ids are numbered within the smaller group");
}

#[test]
fn without_a_grid_a_group_is_a_line() {
    let isa = Gcn3 { setup: Setup { vgprs: 4, workgroup: [true; 4], ..Setup::default() }, code_base: 0 };
    let mut regs = isa.registers(64);
    isa.start(&mut regs, &WaveStart { group: 9, group_size: 70, lanes: 64, wave_in_group: 1, ..start() });
    assert_eq!(regs.s[..4], [9, 0, 0, 1]);
    assert_eq!((regs.v.get(0, 0), regs.exec()), (64, 0x3f));
}

#[test]
fn facts_and_names() {
    let m = machine();
    let facts = |words: &[u32]| -> Facts {
        let inst = crate::gcn3::decode(words).unwrap();
        m.isa.facts(&inst, 10, 10 + u32::from(inst.size) / 4)
    };
    // s_cbranch_execz 18, s_branch −20, s_endpgm, s_barrier, s_setpc_b64 s[30:31], s_swappc_b64 s[30:31], s[26:27]
    assert_eq!(facts(&[0xbf88_0012]).flow, FlowKind::MaskBranch { target: 29, when_empty: true });
    assert_eq!(facts(&[0xbf88_0012]).reads, [256 + 126, 256 + 127]);
    assert_eq!(facts(&[0xbf82_ffec]).flow, FlowKind::Jump(11u32.wrapping_sub(20)));
    assert_eq!(facts(&[0xbf81_0000]).flow, FlowKind::Exit { conditional: false });
    assert_eq!(facts(&[0xbf8a_0000]).flow, FlowKind::Barrier);
    assert_eq!(facts(&[0xbe80_1d1e]).flow, FlowKind::Indirect { conditional: false });
    assert_eq!(facts(&[0xbe9e_1e1a]).flow, FlowKind::Call { target: None, conditional: false });
    assert_eq!(facts(&[0xbe9e_1e1a]).reads, [256 + 26, 256 + 27]);
    assert_eq!(facts(&[0xbe9e_1e1a]).writes, [256 + 30, 256 + 31]);
    // s_add_u32 s0, s1, s2
    assert_eq!(facts(&[0x8000_0201]).writes, [256, 384]);
    assert_eq!(m.isa.register_count(), 385);
    let names = [7, 256 + 3, 256 + 106, 256 + 124, 384].map(|id| m.isa.register_name(id));
    assert_eq!(names, ["v7", "s3", "vcc_lo", "m0", "scc"]);
    assert_eq!(m.isa.addr_of(4), 0x1010);
    let branch = crate::gcn3::decode(&[0xbf88_0012]).unwrap();
    assert_eq!(m.isa.show(&branch, 10, &|pc| Some(format!("L{pc}"))), "s_cbranch_execz L29");
    assert_eq!(m.isa.dump(&m.regs, 3).len(), 32 + 128 + 2);
    assert_eq!(Operand::EXEC, Operand::Sgpr(126));
}
