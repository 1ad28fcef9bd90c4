//! DS instructions against a byte array: widths, offsets, atomics, lane exchange, bounds.

use super::{LDS, Machine, asm, machine};
use crate::Mask;
use crate::lanes::bits;

const SOME: Mask = 0x8000_0001_f0f0_0005;

/// v1 holds byte addresses, a different one for each lane.
fn addressed(step: u32) -> Machine {
    let mut m = machine();
    m.regs.set_pair(126, SOME);
    m.fill(1, |lane| lane * step);
    for k in 0..8 {
        m.fill(10 + k, |lane| 0x1111_0000 + 256 * k as u32 + lane);
        m.fill(20 + k, |lane| 0x2222_0000 + 256 * k as u32 + lane);
    }
    m
}

#[test]
fn reads() {
    // Text and the byte offsets of the dwords read.
    let cases: [(&str, &[usize]); 10] = [
        ("ds_read_b32 v10, v1 offset:1028", &[1028]),
        ("ds_read_b64 v[10:11], v1 offset:8", &[8, 12]),
        ("ds_read_b96 v[10:12], v1 offset:192", &[192, 196, 200]),
        ("ds_read_b128 v[10:13], v1", &[0, 4, 8, 12]),
        ("ds_read2_b32 v[10:11], v1 offset0:3 offset1:98", &[12, 392]),
        ("ds_read2st64_b32 v[10:11], v1 offset0:1 offset1:8", &[256, 2048]),
        ("ds_read2_b64 v[10:13], v1 offset0:34 offset1:35", &[272, 276, 280, 284]),
        ("ds_read2st64_b64 v[10:13], v1 offset0:2 offset1:4", &[1024, 1028, 2048, 2052]),
        ("ds_read_b32 v1, v1", &[0]),
        ("ds_read2_b32 v[1:2], v1 offset1:1", &[0, 4]),
    ];
    for (text, offsets) in cases {
        // Steps of 12 leave eight-byte alignment, steps of 7 all alignment.
        for step in [16, 12, 7] {
            let mut m = addressed(step);
            let before = m.regs.clone();
            m.ok(asm(text));
            let first =
                if text.contains("v1,") && !text.contains("v10") || text.contains("[1:2]") { 1 } else { 10 };
            for lane in 0..64 {
                for (k, offset) in offsets.iter().enumerate() {
                    let expect = if SOME >> lane & 1 == 1 {
                        m.bus.u32(LDS + (lane * step) as usize + offset)
                    } else {
                        before.v.get(first + k, lane)
                    };
                    assert_eq!(m.regs.v.get(first + k, lane), expect, "{text} lane {lane} dword {k}");
                }
                assert_eq!(m.regs.v.get(20, lane), before.v.get(20, lane));
            }
        }
    }
}

#[test]
fn parts() {
    let mut m = addressed(3);
    m.ok(asm("ds_read_u8 v10, v1 offset:2"));
    m.ok(asm("ds_read_i8 v11, v1 offset:2"));
    m.ok(asm("ds_read_u16 v12, v1 offset:2"));
    m.ok(asm("ds_read_i16 v13, v1 offset:2"));
    for lane in bits(SOME) {
        let at = LDS + lane as usize * 3 + 2;
        let (byte, half) = (m.bus.bytes[at], u16::from_le_bytes([m.bus.bytes[at], m.bus.bytes[at + 1]]));
        let got = [10, 11, 12, 13].map(|r| m.regs.v.get(r, lane));
        assert_eq!(got, [byte.into(), byte as i8 as u32, half.into(), half as i16 as u32]);
    }
    let mut expect = m.bus.bytes.clone();
    for lane in bits(SOME) {
        expect[LDS + lane as usize * 3 + 300] = lane as u8;
        expect[LDS + lane as usize * 3 + 700..][..2].copy_from_slice(&(256 + lane as u16).to_le_bytes());
    }
    m.ok(asm("ds_write_b8 v1, v20 offset:300"));
    m.ok(asm("ds_write_b16 v1, v21 offset:700"));
    assert!(m.bus.bytes == expect);
}

#[test]
fn writes() {
    let cases: [(&str, &[(usize, usize)]); 8] = [
        ("ds_write_b32 v1, v10 offset:1024", &[(10, 1024)]),
        ("ds_write_b64 v1, v[10:11]", &[(10, 0), (11, 4)]),
        ("ds_write_b96 v1, v[10:12]", &[(10, 0), (11, 4), (12, 8)]),
        ("ds_write_b128 v1, v[10:13] offset:4", &[(10, 4), (11, 8), (12, 12), (13, 16)]),
        ("ds_write2_b32 v1, v10, v20 offset0:44 offset1:244", &[(10, 176), (20, 976)]),
        ("ds_write2st64_b32 v1, v10, v20 offset1:4", &[(10, 0), (20, 1024)]),
        ("ds_write2_b64 v1, v[10:11], v[20:21] offset1:1", &[(10, 0), (11, 4), (20, 8), (21, 12)]),
        ("ds_write2st64_b64 v1, v[10:11], v[20:21] offset1:3", &[(10, 0), (11, 4), (20, 1536), (21, 1540)]),
    ];
    for (text, places) in cases {
        for step in [16, 20, 17] {
            let mut m = addressed(step);
            let mut expect = m.bus.bytes.clone();
            for lane in bits(SOME) {
                for &(register, offset) in places {
                    let at = LDS + (lane * step) as usize + offset;
                    expect[at..at + 4].copy_from_slice(&m.regs.v.get(register, lane).to_le_bytes());
                }
            }
            m.ok(asm(text));
            assert!(m.bus.bytes == expect, "{text} step {step}");
        }
    }
}

/// Name, suffix of the type, reference (memory, data, second).
type Atomic = (&'static str, &'static str, fn(u32, u32, u32) -> u32);

const ONE_OPERAND: [Atomic; 15] = [
    ("add", "u32", |m, d, _| m.wrapping_add(d)),
    ("sub", "u32", |m, d, _| m.wrapping_sub(d)),
    ("rsub", "u32", |m, d, _| d.wrapping_sub(m)),
    ("inc", "u32", |m, d, _| if m >= d { 0 } else { m + 1 }),
    ("dec", "u32", |m, d, _| if m == 0 || m > d { d } else { m - 1 }),
    ("min", "i32", |m, d, _| if (d as i32) < m as i32 { d } else { m }),
    ("max", "i32", |m, d, _| if d as i32 > m as i32 { d } else { m }),
    ("min", "u32", |m, d, _| if d < m { d } else { m }),
    ("max", "u32", |m, d, _| if d > m { d } else { m }),
    ("and", "b32", |m, d, _| m & d),
    ("or", "b32", |m, d, _| m | d),
    ("xor", "b32", |m, d, _| m ^ d),
    ("min", "f32", |m, d, _| if f32::from_bits(d) < f32::from_bits(m) { d } else { m }),
    ("max", "f32", |m, d, _| if f32::from_bits(d) > f32::from_bits(m) { d } else { m }),
    ("add", "f32", |m, d, _| match [m, d].into_iter().find(|v| f32::from_bits(*v).is_nan()) {
        Some(nan) => nan | 1 << 22,
        None => (f32::from_bits(m) + f32::from_bits(d)).to_bits(),
    }),
];

const TWO_OPERANDS: [Atomic; 3] = [
    ("cmpst", "b32", |m, d, s| if m == d { s } else { m }),
    ("cmpst", "f32", |m, d, s| if f32::from_bits(m) == f32::from_bits(d) { s } else { m }),
    ("mskor", "b32", |m, d, s| m & !d | s),
];

const VALUES: [u32; 8] = [0, 1, 7, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x3f80_0000, 0x7f80_0000];

fn run_atomic(text: &str, returns: bool, reference: impl Fn(u32, u32, u32) -> u32) {
    let mut m = machine();
    m.regs.mode = 0xf0;
    m.fill(1, |lane| lane * 4);
    for lane in 0..64 {
        m.bus.set(LDS + 16 + lane * 4, VALUES[lane / 8]);
    }
    m.fill(2, |lane| VALUES[lane as usize % 8]);
    m.fill(3, |lane| 0x5500 + lane);
    m.fill(4, |_| 99);
    m.ok(asm(text));
    for lane in 0..64 {
        let (memory, data) = (VALUES[lane / 8], VALUES[lane % 8]);
        let expect = reference(memory, data, 0x5500 + lane as u32);
        assert_eq!(m.bus.u32(LDS + 16 + lane * 4), expect, "{text} {memory:x} {data:x}");
        assert_eq!(m.regs.v.get(4, lane as u32), if returns { memory } else { 99 });
    }
}

#[test]
fn atomics() {
    for (name, ty, reference) in ONE_OPERAND {
        run_atomic(&format!("ds_{name}_{ty} v1, v2 offset:16"), false, reference);
        run_atomic(&format!("ds_{name}_rtn_{ty} v4, v1, v2 offset:16"), true, reference);
    }
    for (name, ty, reference) in TWO_OPERANDS {
        run_atomic(&format!("ds_{name}_{ty} v1, v2, v3 offset:16"), false, reference);
        run_atomic(&format!("ds_{name}_rtn_{ty} v4, v1, v2, v3 offset:16"), true, reference);
    }
    run_atomic("ds_wrxchg_rtn_b32 v4, v1, v2 offset:16", true, |_, d, _| d);
    run_atomic("ds_wrap_rtn_b32 v4, v1, v2, v3 offset:16", true, |m, d, s| {
        if m >= d { m - d } else { m.wrapping_add(s) }
    });
}

#[test]
fn wide_atomics() {
    let mut m = machine();
    m.regs.set_pair(126, 1);
    m.fill(1, |_| 64);
    let set =
        |m: &mut Machine, value: u64| m.bus.bytes[LDS + 64..LDS + 72].copy_from_slice(&value.to_le_bytes());
    let get = |m: &Machine| u64::from_le_bytes(m.bus.bytes[LDS + 64..LDS + 72].try_into().unwrap());
    for (text, memory, data, expect) in [
        ("ds_add_u64 v1, v[2:3]", 0xffff_ffff, 1, 0x1_0000_0000),
        ("ds_sub_u64 v1, v[2:3]", 0, 1, u64::MAX),
        ("ds_rsub_u64 v1, v[2:3]", 1, 0, u64::MAX),
        ("ds_min_i64 v1, v[2:3]", 5, u64::MAX, u64::MAX),
        ("ds_min_u64 v1, v[2:3]", 5, u64::MAX, 5),
        ("ds_max_i64 v1, v[2:3]", 5, 1 << 63, 5),
        ("ds_max_u64 v1, v[2:3]", 5, 1 << 63, 1 << 63),
        ("ds_inc_u64 v1, v[2:3]", 0xffff_ffff, 1 << 40, 1 << 32),
        ("ds_dec_u64 v1, v[2:3]", 0, 1 << 40, 1 << 40),
        ("ds_max_f64 v1, v[2:3]", (-1f64).to_bits(), 2f64.to_bits(), 2f64.to_bits()),
        ("ds_min_f64 v1, v[2:3]", (-1f64).to_bits(), f64::NAN.to_bits(), (-1f64).to_bits()),
        ("ds_or_rtn_b64 v[4:5], v1, v[2:3]", 1 << 60, 3, 1 << 60 | 3),
    ] {
        set(&mut m, memory);
        m.fill64(2, |_| data);
        m.ok(asm(text));
        assert_eq!(get(&m), expect, "{text}");
    }
    assert_eq!(m.regs.v.get(5, 0), 1 << 28);
    set(&mut m, 0);
    m.fill64(2, |_| (-0f64).to_bits());
    m.fill64(6, |_| 77);
    m.ok(asm("ds_cmpst_f64 v1, v[2:3], v[6:7]"));
    assert_eq!(get(&m), 77, "-0 equals +0");
    m.fill64(6, |_| 78);
    m.ok(asm("ds_cmpst_b64 v1, v[2:3], v[6:7]"));
    assert_eq!(get(&m), 77);
}

#[test]
fn float_add_flushes_by_mode() {
    for (mode, expect) in [(0, 0x8000_0000), (0x30, 0x8000_0001)] {
        let mut m = machine();
        m.regs.mode = mode;
        m.regs.set_pair(126, 1);
        m.fill(1, |_| 0);
        m.fill(2, |_| 0x8000_0000);
        m.bus.set(LDS, 0x8000_0001);
        m.ok(asm("ds_add_f32 v1, v2"));
        assert_eq!(m.bus.u32(LDS), expect);
    }
}

/// A sum of infinities is the positive NaN, whatever the host makes of it, alone and in rows.
#[test]
fn float_add_has_a_nan_of_its_own() {
    for lanes in [1, Mask::MAX] {
        let mut m = machine();
        m.regs.set_pair(126, lanes);
        m.fill(1, |lane| 4 * lane);
        m.fill(2, |_| 0xff80_0000);
        (0..64).for_each(|lane| m.bus.set(LDS + 4 * lane, 0x7f80_0000));
        m.ok(asm("ds_add_f32 v1, v2"));
        let wanted = |lane| if lanes >> lane & 1 == 1 { 0x7fc0_0000 } else { 0x7f80_0000 };
        (0..64).for_each(|lane| assert_eq!(m.bus.u32(LDS + 4 * lane), wanted(lane), "lane {lane}"));
    }
}

#[test]
fn exchanges_and_operands_in_lds() {
    let mut m = machine();
    m.regs.set_pair(126, 1);
    m.fill(1, |_| 32);
    m.fill(2, |_| 111);
    m.fill(3, |_| 222);
    let (a, b) = (m.bus.u32(LDS + 32 + 8), m.bus.u32(LDS + 32 + 20));
    m.ok(asm("ds_wrxchg2_rtn_b32 v[4:5], v1, v2, v3 offset0:2 offset1:5"));
    assert_eq!([m.regs.v.get(4, 0), m.regs.v.get(5, 0)], [a, b]);
    assert_eq!([m.bus.u32(LDS + 40), m.bus.u32(LDS + 52)], [111, 222]);
    // The operand lies two dwords after, then one before the address.
    m.bus.set(LDS + 32, 1000);
    m.ok(asm("ds_add_src2_u32 v1 offset:2"));
    assert_eq!(m.bus.u32(LDS + 32), 1111);
    m.bus.set(LDS + 28, 1);
    m.ok(asm("ds_sub_src2_u32 v1 offset:32767"));
    assert_eq!(m.bus.u32(LDS + 32), 1110);
    m.fill(1, |_| 3 << 17 | 32);
    m.bus.set(LDS + 44, 9);
    m.ok(asm("ds_write_src2_b32 v1 offset:32768"));
    assert_eq!(m.bus.u32(LDS + 32), 9);
}

#[test]
fn append_and_consume() {
    let mut m = machine();
    m.regs.set_pair(126, SOME);
    m.regs.s[124] = 64;
    m.bus.set(LDS + 72, 50);
    m.fill(1, |_| 0);
    m.ok(asm("ds_append v1 offset:8"));
    let count = SOME.count_ones();
    assert_eq!((m.bus.u32(LDS + 72), m.regs.v.get(1, 63), m.regs.v.get(1, 1)), (50 + count, 50, 0));
    m.ok(asm("ds_consume v1 offset:8"));
    assert_eq!((m.bus.u32(LDS + 72), m.regs.v.get(1, 0)), (50, 50 + count));
}

#[test]
fn lane_exchange() {
    let on = |lane: u32| SOME >> lane & 1 == 1;
    let mut m = machine();
    m.regs.set_pair(126, SOME);
    m.fill(2, |lane| 500 + lane);
    m.fill(1, |lane| (lane * 7 + 3) * 4);
    m.fill(3, |_| 9);
    m.ok(asm("ds_bpermute_b32 v3, v1, v2 offset:4"));
    for lane in 0..64 {
        let from = (lane * 7 + 4) % 64;
        let expect = if on(from) { 500 + from } else { 0 };
        assert_eq!(m.regs.v.get(3, lane), if on(lane) { expect } else { 9 });
    }
    m.regs.set_pair(126, Mask::MAX);
    m.fill(1, |lane| (63 - lane) * 4);
    m.ok(asm("ds_permute_b32 v2, v1, v2"));
    assert_eq!(m.lanes(2), (0..64).map(|lane| 500 + 63 - lane).collect::<Vec<_>>());
    m.fill(1, |lane| if lane < 3 { 20 } else { 0 });
    m.fill(2, |lane| lane);
    m.ok(asm("ds_permute_b32 v3, v1, v2"));
    assert_eq!((m.regs.v.get(3, 5), m.regs.v.get(3, 0), m.regs.v.get(3, 6)), (2, 63, 0));
    // Quad permutation 1, 0, 3, 2; then a reversal of 32 lanes; then a broadcast of lane 4 in eights.
    for (offset, reference) in [
        (0x80b1, (|lane| lane ^ 1) as fn(u32) -> u32),
        (0x1f | 31 << 10, |lane| lane ^ 31),
        (0x18 | 4 << 5, |lane| lane & !7 | 4),
    ] {
        m.ok(asm(&format!("ds_swizzle_b32 v3, v2 offset:{offset}")));
        assert_eq!(m.lanes(3), (0..64).map(reference).collect::<Vec<_>>());
    }
    assert!(m.bus.log.is_empty());
}

#[test]
fn bounds_and_refusals() {
    let mut m = machine();
    m.fill(1, |lane| lane * 64);
    assert_eq!(
        m.message(asm("ds_read_b64 v[2:3], v1 offset:60")),
        "LDS load of 8 bytes at address 0xffc: the group has 4096 bytes of local memory (lane 63)"
    );
    m.fill(1, |_| u32::MAX - 1);
    assert!(m.message(asm("ds_write_b32 v1, v2")).starts_with("LDS store of 4 bytes at address 0xfffffffe"));
    assert!(m.message(asm("ds_add_u32 v1, v2")).starts_with("LDS atomic"));
    m.fill(1, |_| 0);
    for text in ["ds_add_u32 v1, v2 gds", "ds_gws_barrier v1 gds", "ds_condxchg32_rtn_b64 v[2:3], v1, v[4:5]"]
    {
        let message = m.message(asm(text));
        assert!(message.contains(text.split(' ').next().unwrap()), "{message}");
    }
    m.ok(asm("ds_nop"));
}
