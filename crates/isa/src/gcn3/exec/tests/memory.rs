//! FLAT and scalar memory against a byte array: widths, extension, apertures, atomics, bounds.

use super::{LDS, Machine, SCRATCH, asm, machine};
use crate::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::lanes::bits;
use crate::{Mask, Trap};

const SOME: Mask = 0x8000_0000_f0f0_0005;

#[test]
fn flat_loads() {
    type Reference = fn(&[u8]) -> Vec<u32>;
    fn dwords(b: &[u8]) -> Vec<u32> {
        b.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }
    let cases: [(&str, usize, Reference); 8] = [
        ("flat_load_ubyte v10, v[2:3]", 1, |b| vec![b[0].into()]),
        ("flat_load_sbyte v10, v[2:3]", 1, |b| vec![(b[0] as i8) as u32]),
        ("flat_load_ushort v10, v[2:3]", 2, |b| vec![u16::from_le_bytes([b[0], b[1]]).into()]),
        ("flat_load_sshort v10, v[2:3]", 2, |b| vec![i16::from_le_bytes([b[0], b[1]]) as u32]),
        ("flat_load_dword v10, v[2:3]", 4, dwords),
        ("flat_load_dwordx2 v[10:11], v[2:3]", 8, dwords),
        ("flat_load_dwordx3 v[10:12], v[2:3]", 12, dwords),
        ("flat_load_dwordx4 v[10:13], v[2:3]", 16, dwords),
    ];
    for (text, bytes, reference) in cases {
        // Aligned, dword-aligned, and not aligned at all.
        for shift in [0, 4, 3] {
            let mut m = machine();
            m.regs.set_pair(126, SOME);
            let at = |lane: u32| u64::from(0x2000 + shift + lane * 24);
            m.fill64(2, at);
            let before = m.regs.clone();
            m.ok(asm(text));
            for lane in 0..64 {
                let from = at(lane) as usize;
                let on = SOME >> lane & 1 == 1;
                let expect = reference(&m.bus.bytes[from..from + bytes]);
                for k in 0..4 {
                    let expect = if on { expect.get(k).copied() } else { None };
                    let expect = expect.unwrap_or(before.v.get(10 + k, lane));
                    assert_eq!(m.regs.v.get(10 + k, lane), expect, "{text} lane {lane} dword {k}");
                }
            }
            let touched: u64 = m.bus.log.iter().map(|l| u64::from(l.2)).sum();
            assert_eq!(touched, u64::from(SOME.count_ones()) * bytes as u64);
        }
    }
}

/// The address registers may be overwritten.
#[test]
fn flat_load_over_its_address() {
    let mut m = machine();
    m.fill64(2, |lane| u64::from(0x2000 + lane * 16));
    m.ok(asm("flat_load_dwordx4 v[1:4], v[2:3]"));
    for lane in 0..64 {
        for k in 0..4 {
            let addr = 0x2000 + lane as usize * 16 + k * 4;
            assert_eq!(m.regs.v.get(1 + k, lane), m.bus.u32(addr));
        }
    }
}

#[test]
fn flat_stores() {
    for (text, bytes) in [
        ("flat_store_byte v[2:3], v10", 1),
        ("flat_store_short v[2:3], v10", 2),
        ("flat_store_dword v[2:3], v10", 4),
        ("flat_store_dwordx2 v[2:3], v[10:11]", 8),
        ("flat_store_dwordx3 v[2:3], v[10:12]", 12),
        ("flat_store_dwordx4 v[2:3], v[10:13]", 16),
    ] {
        for shift in [0, 4, 1] {
            let mut m = machine();
            m.regs.set_pair(126, SOME);
            m.fill64(2, |lane| u64::from(0x2000 + shift + lane * 24));
            for k in 0..4 {
                m.fill(10 + k, |lane| 0x0102_0304 * (lane + 1) + k as u32);
            }
            let mut expect = m.bus.bytes.clone();
            for lane in bits(SOME) {
                let from = (0x2000 + shift + lane * 24) as usize;
                for b in 0..bytes {
                    expect[from + b] = m.regs.v.get(10 + b / 4, lane).to_le_bytes()[b % 4];
                }
            }
            m.ok(asm(text));
            assert!(m.bus.bytes == expect, "{text}");
        }
    }
}

#[test]
fn apertures() {
    let mut m = machine();
    m.fill64(2, |lane| u64::from(SHARED_APERTURE) << 32 | u64::from(lane * 16 + 32));
    m.ok(asm("flat_load_dwordx2 v[10:11], v[2:3]"));
    assert_eq!(m.regs.v.get(11, 5), m.bus.u32(LDS + 5 * 16 + 32 + 4));
    m.fill64(2, |lane| u64::from(PRIVATE_APERTURE) << 32 | u64::from(lane % 8 * 4));
    m.fill(12, |lane| 7000 + lane);
    m.fill(13, |lane| 8000 + lane);
    m.ok(asm("flat_store_dwordx2 v[2:3], v[12:13]"));
    for lane in 0..64 {
        let dword = lane % 8;
        assert_eq!(m.bus.u32(SCRATCH + dword * 256 + lane * 4), 7000 + lane as u32);
        assert_eq!(m.bus.u32(SCRATCH + (dword + 1) * 256 + lane * 4), 8000 + lane as u32);
    }
    m.ok(asm("flat_load_dwordx2 v[14:15], v[2:3]"));
    assert_eq!((m.lanes(14), m.lanes(15)), (m.lanes(12), m.lanes(13)));
    m.fill64(2, |lane| u64::from(PRIVATE_APERTURE) << 32 | u64::from(lane % 4 + 8));
    m.ok(asm("flat_load_ubyte v10, v[2:3]"));
    for lane in 0..64 {
        assert_eq!(
            m.regs.v.get(10, lane as u32),
            u32::from(m.bus.bytes[SCRATCH + 512 + lane * 4 + lane % 4])
        );
    }
    // Two private dwords are not adjacent; their atomics still work.
    m.fill64(2, |_| u64::from(PRIVATE_APERTURE) << 32 | 16);
    m.ok(asm("flat_store_dwordx2 v[2:3], v[12:13]"));
    m.fill64(16, |_| 0xffff_ffff);
    m.ok(asm("flat_atomic_add_x2 v[14:15], v[2:3], v[16:17] glc"));
    m.ok(asm("flat_load_dwordx2 v[18:19], v[2:3]"));
    assert_eq!((m.regs.v.get(14, 9), m.regs.v.get(18, 9), m.regs.v.get(19, 9)), (7009, 7008, 8010));
}

/// Lane 37 alone is wrong, whatever the encoding, among many lanes and among few.
#[test]
fn faults_name_the_lane() {
    const BAD: u32 = 37;
    const WORD3: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 14 << 15;
    for text in [
        "flat_load_ubyte v10, v[2:3]",
        "flat_load_dword v10, v[2:3]",
        "flat_load_dwordx4 v[10:13], v[2:3]",
        "flat_load_dwordx2 v[2:3], v[2:3]",
        "flat_store_short v[2:3], v10",
        "flat_store_dword v[2:3], v10",
        "flat_store_dwordx3 v[2:3], v[10:12]",
        "flat_atomic_add v[2:3], v10",
        "buffer_load_ubyte v10, v4, s[4:7], 0 offen",
        "buffer_load_dword v10, v4, s[4:7], 0 offen",
        "buffer_load_dword v4, s[4:7], 0 offen lds",
        "buffer_load_dwordx3 v[10:12], v4, s[4:7], 0 offen",
        "buffer_store_short v10, v4, s[4:7], 0 offen",
        "buffer_store_dwordx4 v[10:13], v4, s[4:7], 0 offen",
        "buffer_load_format_xy v[10:11], v4, s[4:7], 0 offen",
        "buffer_store_format_xy v[10:11], v4, s[4:7], 0 offen",
        "buffer_atomic_add v10, v4, s[4:7], 0 offen",
        "buffer_load_dword v10, v6, s[12:15], 0 offen",
        "buffer_store_dword v10, v6, s[12:15], 0 offen",
        "ds_read_u8 v10, v5",
        "ds_read_b32 v10, v5",
        "ds_read_b128 v[10:13], v5",
        "ds_read2_b32 v[10:11], v5 offset0:1 offset1:2",
        "ds_write_b16 v5, v10",
        "ds_write_b32 v5, v10",
        "ds_write2st64_b32 v5, v10, v11 offset1:1",
        "ds_wrxchg2_rtn_b32 v[10:11], v5, v12, v13 offset1:1",
        "ds_add_u32 v5, v10",
        "ds_add_src2_u32 v5",
    ] {
        for lanes in [Mask::MAX, 0xf0_0000_0001] {
            let mut m = machine();
            m.regs.set_pair(126, lanes);
            m.fill64(2, |lane| if lane == BAD { 0 } else { u64::from(0x2000 + lane * 16) });
            // What follows a list to its end reads zeros on the way, and faults at zero.
            m.bus.bytes[0x2000..0x2400].fill(0);
            m.bus.forbidden = 16;
            for (register, last) in [(4, 252), (5, 252), (6, 60)] {
                m.fill(register, |lane| if lane == BAD { 0x00ff_0000 } else { (lane * 4).min(last) });
            }
            m.regs.s[4..8].copy_from_slice(&[0x3000, 0, u32::MAX, WORD3]);
            let private = crate::gcn3::exec::SCRATCH_WORD3;
            m.regs.s[12..16].copy_from_slice(&[SCRATCH as u32, 1 << 31, u32::MAX, private]);
            let said = m.message(asm(text));
            assert!(said.ends_with("(lane 37)"), "{text}, lanes {lanes:x}: {said}");
        }
    }
    // A scalar access belongs to no lane.
    let mut m = machine();
    m.regs.set_pair(4, 1 << 40);
    assert!(!m.message(asm("s_load_dword s8, s[4:5], 0x0")).contains("lane"));
}

#[test]
fn faults_name_the_memory() {
    let mut m = machine();
    m.fill64(2, |lane| u64::from(SHARED_APERTURE) << 32 | u64::from(lane * 64 + 60));
    assert_eq!(
        m.message(asm("flat_load_dwordx2 v[10:11], v[2:3]")),
        "LDS load of 8 bytes at address 0xffc: the group has 4096 bytes of local memory (lane 63)"
    );
    m.regs.lds_bytes = 0;
    assert!(m.message(asm("flat_store_byte v[2:3], v1")).ends_with("the group has no local memory (lane 0)"));
    m.fill64(2, |_| u64::from(PRIVATE_APERTURE) << 32 | 64);
    assert_eq!(
        m.message(asm("flat_store_dword v[2:3], v1")),
        "private store of 4 bytes at address 0x40: a lane has 64 bytes of private memory (lane 0)"
    );
    m.fill64(2, |_| u64::from(PRIVATE_APERTURE) << 32 | 7);
    assert!(m.message(asm("flat_load_ushort v1, v[2:3]")).contains("leaves its dword"));
    m.fill64(2, |_| 1 << 40);
    assert!(matches!(m.run(&asm("flat_load_dword v1, v[2:3]")), Err(Trap::Memory(f)) if f.addr == 1 << 40));
    assert!(m.message(asm("flat_load_dwordx4 v[30:33], v[2:3]")).contains("v33 is used"));
    // Switched off, no lane touches anything.
    m.regs.set_pair(126, 0);
    m.ok(asm("flat_load_dword v1, v[2:3]"));
}

/// Name, reference over 64-bit values cut to `bits`.
type Atomic = (&'static str, fn(u64, u64, u32) -> u64);

fn sign(v: u64, bits: u32) -> i64 {
    (v << (64 - bits)) as i64 >> (64 - bits)
}

const ATOMICS: [Atomic; 12] = [
    ("swap", |_, d, _| d),
    ("add", |m, d, _| m.wrapping_add(d)),
    ("sub", |m, d, _| m.wrapping_sub(d)),
    ("smin", |m, d, b| if sign(m, b) < sign(d, b) { m } else { d }),
    ("umin", |m, d, _| if m < d { m } else { d }),
    ("smax", |m, d, b| if sign(m, b) > sign(d, b) { m } else { d }),
    ("umax", |m, d, _| if m > d { m } else { d }),
    ("and", |m, d, _| m & d),
    ("or", |m, d, _| m | d),
    ("xor", |m, d, _| m ^ d),
    ("inc", |m, d, _| if m >= d { 0 } else { m + 1 }),
    ("dec", |m, d, _| if m == 0 || m > d { d } else { m - 1 }),
];

const VALUES: [u64; 8] =
    [0, 1, 5, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000_8000_0000, u64::MAX, 0x7fff_ffff_8000_0000];

#[test]
fn flat_atomics() {
    for (name, reference) in ATOMICS {
        for wide in [false, true] {
            let (bits, suffix) = if wide { (64, "_x2") } else { (32, "") };
            let cut = u64::MAX >> (64 - bits);
            let data = if wide { "v[8:9]" } else { "v8" };
            let dst = if wide { "v[4:5]" } else { "v4" };
            for glc in [false, true] {
                let mut m = machine();
                m.fill64(2, |lane| u64::from(0x2000 + lane * 8));
                for lane in 0..64 {
                    m.bus.bytes[0x2000 + lane * 8..][..8].copy_from_slice(&VALUES[lane / 8].to_le_bytes());
                }
                m.fill64(8, |lane| VALUES[lane as usize % 8]);
                m.fill64(4, |_| 0xdead_beef_dead_beef);
                m.ok(asm(&match glc {
                    true => format!("flat_atomic_{name}{suffix} {dst}, v[2:3], {data} glc"),
                    false => format!("flat_atomic_{name}{suffix} v[2:3], {data}"),
                }));
                for lane in 0..64 {
                    let (memory, data) = (VALUES[lane / 8] & cut, VALUES[lane % 8] & cut);
                    let expect = reference(memory, data, bits) & cut | VALUES[lane / 8] & !cut;
                    let now = u64::from_le_bytes(m.bus.bytes[0x2000 + lane * 8..][..8].try_into().unwrap());
                    assert_eq!(now, expect, "{name}{suffix} {memory:x} {data:x}");
                    let old =
                        if glc { memory & cut | 0xdead_beef_dead_beef & !cut } else { 0xdead_beef_dead_beef };
                    let lane = lane as u32;
                    assert_eq!(
                        u64::from(m.regs.v.get(5, lane)) << 32 | u64::from(m.regs.v.get(4, lane)),
                        old
                    );
                }
            }
        }
    }
}

#[test]
fn atomics_in_lane_order() {
    let mut m = machine();
    m.regs.set_pair(126, SOME);
    m.fill64(2, |_| 0x2000);
    m.bus.set(0x2000, 100);
    m.fill(8, |lane| lane);
    m.ok(asm("flat_atomic_add v4, v[2:3], v8 glc"));
    let mut sum = 100;
    for lane in bits(SOME) {
        assert_eq!(m.regs.v.get(4, lane), sum);
        sum += lane;
    }
    assert_eq!(m.bus.u32(0x2000), sum);
    // New value first, then what must be there; only the first lane finds it.
    m.fill(8, |lane| 900 + lane);
    m.fill(9, |_| sum);
    m.ok(asm("flat_atomic_cmpswap v4, v[2:3], v[8:9] glc"));
    assert_eq!(m.bus.u32(0x2000), 900);
    assert_eq!((m.regs.v.get(4, 0), m.regs.v.get(4, 2), m.regs.v.get(4, 63)), (sum, 900, 900));
    m.regs.set_pair(126, 1);
    m.bus.bytes[0x2000..0x2008].copy_from_slice(&5u64.to_le_bytes());
    m.fill64(8, |_| 1 << 40);
    m.fill64(10, |_| 5);
    m.ok(asm("flat_atomic_cmpswap_x2 v[4:5], v[2:3], v[8:11] glc"));
    assert_eq!((m.bus.u32(0x2004), m.regs.v.get(4, 0)), (256, 5));
}

#[test]
fn scalar_loads() {
    for (text, count) in [
        ("s_load_dword s8, s[4:5], 0x24", 1),
        ("s_load_dwordx2 s[8:9], s[4:5], 0x24", 2),
        ("s_load_dwordx4 s[8:11], s[4:5], 0x24", 4),
        ("s_load_dwordx8 s[8:15], s[4:5], 0x24", 8),
        ("s_load_dwordx16 s[8:23], s[4:5], 0x24", 16),
        ("s_load_dwordx16 s[8:23], s[4:5], s30", 16),
    ] {
        for base in [0x3000, 0x3004, 0x3003] {
            let mut m = machine();
            m.regs.set_pair(4, base);
            m.regs.s[30] = 0x24;
            m.ok(asm(text));
            for k in 0..16 {
                let addr = ((base as usize + 0x24) & !3) + k * 4;
                let expect = if k < count { m.bus.u32(addr) } else { 0 };
                assert_eq!(m.regs.s[8 + k], expect, "{text} {k}");
            }
        }
    }
    let mut m = machine();
    m.regs.set_pair(4, 0x3000);
    m.ok(asm("s_load_dwordx2 s[4:5], s[4:5], 0x8"));
    assert_eq!(m.regs.s[4..6], [m.bus.u32(0x3008), m.bus.u32(0x300c)]);
    m.regs.set_pair(4, 1 << 50);
    assert!(m.message(asm("s_load_dword s8, s[4:5], 0x0")).contains("0x4000000000000"));
    m.ok(asm("s_memtime s[8:9]"));
    assert_eq!(m.regs.pair(8), m.at.clock);
    for text in ["s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol", "s_memrealtime s[8:9]"]
    {
        m.ok(asm(text));
    }
}

#[test]
fn scalar_buffers_and_stores() {
    let mut m = machine();
    m.regs.s[4..8].copy_from_slice(&[0x3000, 0, 20, 0]);
    m.regs.s[8..24].fill(77);
    m.ok(asm("s_buffer_load_dwordx4 s[8:11], s[4:7], 0x8"));
    assert_eq!(m.regs.s[8..12], [m.bus.u32(0x3008), m.bus.u32(0x300c), m.bus.u32(0x3010), 0]);
    // 3 records of 16 bytes.
    m.regs.s[4..8].copy_from_slice(&[0x3000, 16 << 16, 3, 0]);
    m.ok(asm("s_buffer_load_dwordx2 s[8:9], s[4:7], 0x2c"));
    assert_eq!(m.regs.s[8..10], [m.bus.u32(0x302c), 0]);
    m.regs.set_pair(4, 0x3000);
    m.regs.s[8..12].copy_from_slice(&[1, 2, 3, 4]);
    m.ok(asm("s_store_dwordx4 s[8:11], s[4:5], 0x10"));
    assert_eq!([0x3010, 0x3014, 0x3018, 0x301c].map(|a| m.bus.u32(a)), [1, 2, 3, 4]);
    m.regs.s[4..8].copy_from_slice(&[0x3000, 0, 8, 0]);
    let after = m.bus.u32(0x3008);
    m.ok(asm("s_buffer_store_dwordx2 s[8:9], s[4:7], 0x4"));
    assert_eq!((m.bus.u32(0x3004), m.bus.u32(0x3008)), (1, after));
}

#[test]
fn scalar_accesses_of_every_width() {
    let widths = [("", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16)];
    for (suffix, count) in widths {
        // 44 bytes: what lies behind them reads as zero.
        let mut m = machine();
        m.regs.s[4..8].copy_from_slice(&[0x3000, 0, 44, 0]);
        m.regs.s[16..40].fill(77);
        let last = 16 + count - 1;
        let registers = if count == 1 { "s16".to_owned() } else { format!("s[16:{last}]") };
        m.ok(asm(&format!("s_buffer_load_dword{suffix} {registers}, s[4:7], 0x4")));
        for k in 0..24 {
            let expect = match k {
                _ if k >= count => 77,
                0..10 => m.bus.u32(0x3004 + 4 * k),
                _ => 0,
            };
            assert_eq!(m.regs.s[16 + k], expect, "{suffix} {k}");
        }
    }
    for (suffix, count) in &widths[..3] {
        for buffer in [false, true] {
            let mut m = machine();
            // The buffer ends 8 bytes behind the first stored one.
            m.regs.s[4..8].copy_from_slice(&[0x3000, 0, 16, 0]);
            m.regs.s[16..20].copy_from_slice(&[1, 2, 3, 4]);
            let before: Vec<u32> = (0..6).map(|k| m.bus.u32(0x3008 + 4 * k)).collect();
            let (name, base) = if buffer { ("s_buffer_store", "s[4:7]") } else { ("s_store", "s[4:5]") };
            let last = 16 + count - 1;
            let registers = if *count == 1 { "s16".to_owned() } else { format!("s[16:{last}]") };
            m.ok(asm(&format!("{name}_dword{suffix} {registers}, {base}, 0x8")));
            for (k, before) in before.into_iter().enumerate() {
                let written = k < *count && (!buffer || k < 2);
                let expect = if written { k as u32 + 1 } else { before };
                assert_eq!(m.bus.u32(0x3008 + 4 * k), expect, "{name}{suffix} {k}");
            }
        }
    }
}

/// Rows of a memory instruction go together where they can; the same as lane by lane, also across lanes that
/// are off, scattered and repeated addresses.
#[test]
fn lanes_together_and_one_by_one() {
    type Place = fn(u32) -> u32;
    let places: [Place; 5] =
        [|l| l * 4, |l| (l / 16) * 4, |l| (l * 37 % 64) * 8, |l| (63 - l) * 4, |l| l * 4 + l / 9 % 2 * 2];
    for place in places {
        for exec in [Mask::MAX, 0xff00_ffff_0f0f_8001, 1 << 63, 0] {
            let mut m = machine();
            m.regs.set_pair(126, exec);
            m.fill64(2, |lane| u64::from(0x2000 + place(lane)));
            m.fill(4, place);
            m.fill(5, |lane| lane + 900);
            for r in 8..16 {
                m.fill(r, |_| 7);
            }
            let on = |lane: u32| exec >> lane & 1 == 1;
            let dword = |m: &Machine, addr: u32| m.bus.u32(addr as usize);
            let (global, local) = (0x2000, LDS as u32);
            m.ok(asm("flat_load_dword v8, v[2:3]"));
            m.ok(asm("flat_load_dwordx3 v[9:11], v[2:3]"));
            m.ok(asm("ds_read_b32 v12, v4 offset:8"));
            m.ok(asm("ds_read2_b32 v[13:14], v4 offset0:3 offset1:1"));
            for lane in 0..64 {
                let at = place(lane);
                let read = [
                    dword(&m, global + at),
                    dword(&m, global + at),
                    dword(&m, global + at + 4),
                    dword(&m, global + at + 8),
                    dword(&m, local + at + 8),
                    dword(&m, local + at + 12),
                    dword(&m, local + at + 4),
                ];
                for (k, v) in read.into_iter().enumerate() {
                    assert_eq!(m.regs.v.get(8 + k, lane), if on(lane) { v } else { 7 }, "lane {lane}, {k}");
                }
            }
            let mut expect = m.bus.bytes.clone();
            for lane in (0..64).filter(|&l| on(l)) {
                for at in [global + place(lane), local + place(lane)] {
                    expect[at as usize..at as usize + 4].copy_from_slice(&(lane + 900).to_le_bytes());
                }
                for (offset, value) in [(1024, lane + 900), (1028, place(lane))] {
                    let at = (local + place(lane) + offset) as usize;
                    expect[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
            }
            m.ok(asm("flat_store_dword v[2:3], v5"));
            m.ok(asm("ds_write_b32 v4, v5"));
            m.fill(6, place);
            m.ok(asm("v_add_u32 v7, vcc, 0x400, v4"));
            m.ok(asm("ds_write2_b32 v7, v5, v6 offset1:1"));
            assert!(m.bus.bytes == expect, "stores with exec {exec:x}");
        }
    }
}
