//! A kernel as clang-19 -O2 makes it: a called function with its own stack frame, an array in private memory
//! read through FLAT, dispatch packet, queue and arguments. Three groups of 100, the second wave partial.

use super::{Bytes, SCRATCH};
use crate::gcn3::decode;
use crate::gcn3::isa::{Gcn3, Setup};
use crate::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::{At, Flow, Isa, WaveStart, first_lanes};

/// ```c
/// __attribute__((noinline)) int f(int *p, int i) {
///     volatile int a[8];
///     for (int j = 0; j < 8; j++) a[j] = j * j + i;
///     return a[(i + 3) & 7] + p[i & 7];
/// }
/// kernel void k(global int *o, int n) {
///     int b[8];
///     int x = get_global_id(0);
///     for (int i = 0; i < 8; i++) b[i] = (i + x) * n;
///     o[x] = f(b, x);
/// }
/// ```
#[rustfmt::skip]
const TEXT: [u32; 130] = [
    0xbf8c0000, 0x32060481, 0xe0700000, 0x20000200, 0xbf8c0f70, 0xe0700004, 0x20000300, 0xbf8c0f70, 0x32060484, 0xe0700008,
    0x20000300, 0xbf8c0f70, 0x32060489, 0xe070000c, 0x20000300, 0xbf8c0f70, 0x32060490, 0xe0700010, 0x20000300, 0xbf8c0f70,
    0x32060499, 0xe0700014, 0x20000300, 0xbf8c0f70, 0x320604a4, 0xe0700018, 0x20000300, 0xbf8c0f70, 0x320604b1, 0xe070001c,
    0x20000300, 0xbf8c0f70, 0x32060483, 0x26060687, 0x24060682, 0xd1100004, 0x00004086, 0x26040487, 0x32060704, 0x24040482,
    0x32000500, 0x38020280, 0xe0505000, 0x80000303, 0xbf8c0f70, 0xdc500000, 0x00000000, 0xbf8c0070, 0x32000700, 0xbe801d1e,
    0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000,
    0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0x810a0d0a, 0xbee6000b, 0x8f67880a, 0xc0020282, 0x00000004, 0xc00202c4,
    0x00000008, 0xc0060104, 0x00000010, 0x80000d00, 0x82018001, 0xbf8c007f, 0x8605ff0a, 0x0000ffff, 0x920c050c, 0x3200000c,
    0x320c0004, 0xd2850000, 0x00001706, 0xc0060104, 0x00000000, 0xc0020203, 0x00000044, 0x7e040306, 0xe0700000, 0x80000000,
    0x3200000b, 0xe0700004, 0x80000000, 0x3200000b, 0xe0700008, 0x80000000, 0x3200000b, 0xe070000c, 0x80000000, 0x3200000b,
    0xe0700010, 0x80000000, 0x3200000b, 0xe0700014, 0x80000000, 0x3200000b, 0xe0700018, 0x80000000, 0x3200000b, 0xe070001c,
    0x80000000, 0x7e000280, 0xbf8c007f, 0x7e020208, 0xb0200c00, 0x7e0a0280, 0xbe861c00, 0x8006ff06, 0xfffffe2c, 0x8207ff07,
    0xffffffff, 0xbe9e1e06, 0xd2910001, 0x00020a9e, 0x7e060205, 0x32020204, 0x38040503, 0xdc700000, 0x00000001, 0xbf810000,
];

/// Where .text is, and the kernel in it.
const BASE: u64 = 0x1700;
const ENTRY: u64 = 0x1800;
const PACKET: usize = 0x4000;
const QUEUE: usize = 0x4100;
const ARGUMENTS: usize = 0x4200;
const OUT: usize = 0x5000;

#[test]
fn call_with_private_memory() {
    let setup = Setup {
        vgprs: 8,
        mode: 0x3c0,
        user: [true, true, true, true, false, true, false].into(),
        user_sgprs: 12,
        workgroup: [true, false, false, false],
        scratch_wave_offset: true,
        work_item_dimensions: 1,
        grid: [300, 1, 1],
        group: [100, 1, 1],
        kernarg: ARGUMENTS as u64,
        packet: PACKET as u64,
        queue: QUEUE as u64,
        scratch_per_lane: 84,
        scratch_region: SCRATCH as u64,
        ..Setup::default()
    };
    let isa = Gcn3 { setup, code_base: BASE };
    let mut bus = Bytes { bytes: vec![0xa5; 0x14000], forbidden: 0, log: Vec::new() };
    bus.set(PACKET + 4, 100);
    bus.set(QUEUE + 0x40, SHARED_APERTURE);
    bus.set(QUEUE + 0x44, PRIVATE_APERTURE);
    bus.bytes[ARGUMENTS..ARGUMENTS + 72].fill(0);
    bus.set(ARGUMENTS, OUT as u32);
    bus.set(ARGUMENTS + 8, 1234);
    let mut regs = isa.registers(64);
    for wave in 0..6 {
        let start = WaveStart {
            wave,
            group: wave / 2,
            wave_in_group: wave % 2,
            group_size: 100,
            lanes: 64,
            waves_in_group: 2,
            scratch_base: SCRATCH as u64 + u64::from(wave) * 84 * 64,
            ..WaveStart::default()
        };
        isa.start(&mut regs, &start);
        let live = first_lanes(if wave % 2 == 0 { 64 } else { 36 });
        assert_eq!(regs.exec(), live);
        let mut pc = (ENTRY - BASE) as u32 / 4;
        loop {
            let inst = decode(&TEXT[pc as usize..]).unwrap();
            let next = pc + u32::from(inst.size) / 4;
            let at = At {
                pc,
                next,
                mask: live,
                live,
                clock: 0,
                core: 0,
                depth: 0,
                waves: 1,
                whole: true,
                may_diverge: true,
            };
            match isa.exec(&inst, &at, &mut regs, &mut bus) {
                Ok(Flow::Next) => pc = next,
                Ok(Flow::Jump(to)) => pc = to,
                Ok(Flow::Exit { .. }) => break,
                other => panic!("{}: {other:?}", isa.show(&inst, pc, &|_| None)),
            }
        }
    }
    for x in 0..300 {
        let (a, b) = ((x + 3) & 7, x & 7);
        let expect = a * a + x + (b + x) * 1234;
        assert_eq!(bus.u32(OUT + x as usize * 4), expect, "x = {x}");
    }
    assert_eq!(bus.u32(OUT + 300 * 4), 0xa5a5_a5a5);
}
