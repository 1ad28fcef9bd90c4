//! MUBUF: linear and swizzled addresses, bounds, private memory, formats, atomics.

use super::{LDS, Machine, SCRATCH, asm, machine};
use crate::Mask;
use crate::lanes::bits;

const SOME: Mask = 0x8000_0001_f0f0_0005;

/// s[4:7] describes `records` from 0x3000.
fn buffer(stride: u32, records: u32, word3: u32) -> Machine {
    let mut m = machine();
    m.regs.set_pair(126, SOME);
    m.regs.s[4..8].copy_from_slice(&[0x3000, stride << 16, records, word3]);
    m.regs.s[9] = 16;
    m.fill(1, |lane| lane % 16);
    m.fill(2, |lane| lane * 4);
    m
}

#[test]
fn linear_addresses() {
    // Text and the offset a lane reads.
    type Offset = fn(u32) -> u32;
    let cases: [(&str, Offset); 5] = [
        ("buffer_load_dword v10, off, s[4:7], s9 offset:76", |_| 16 + 76),
        ("buffer_load_dword v10, v2, s[4:7], 0 offen offset:8", |lane| lane * 4 + 8),
        ("buffer_load_dword v10, v1, s[4:7], s9 idxen", |lane| lane % 16 * 12 + 16),
        ("buffer_load_dword v10, v[1:2], s[4:7], 4 idxen offen offset:4", |lane| {
            lane % 16 * 12 + lane * 4 + 8
        }),
        ("buffer_load_dword v10, v1, s[4:7], 0 idxen", |lane| lane % 16 * 12),
    ];
    for (text, offset) in cases {
        for records in [400, 100, 0] {
            let mut m = buffer(12, records, 0);
            m.ok(asm(text));
            for lane in bits(SOME) {
                let expect =
                    if offset(lane) + 4 <= records { m.bus.u32(0x3000 + offset(lane) as usize) } else { 0 };
                assert_eq!(m.regs.v.get(10, lane), expect, "{text} lane {lane} records {records}");
            }
            assert_eq!(m.regs.v.get(10, 1), 0);
        }
    }
}

#[test]
fn widths() {
    let mut m = buffer(0, 0x1000, 0);
    m.ok(asm("buffer_load_ubyte v10, v2, s[4:7], 0 offen offset:1"));
    m.ok(asm("buffer_load_sbyte v11, v2, s[4:7], 0 offen offset:1"));
    m.ok(asm("buffer_load_ushort v12, v2, s[4:7], 0 offen offset:2"));
    m.ok(asm("buffer_load_sshort v13, v2, s[4:7], 0 offen offset:2"));
    m.ok(asm("buffer_load_dwordx3 v[14:16], v2, s[4:7], 0 offen"));
    m.ok(asm("buffer_load_dwordx4 v[17:20], v2, s[4:7], 0 offen"));
    for lane in bits(SOME) {
        let at = 0x3000 + lane as usize * 4;
        let (b, h) = (m.bus.bytes[at + 1], u16::from_le_bytes([m.bus.bytes[at + 2], m.bus.bytes[at + 3]]));
        let got: Vec<u32> = (10..21).map(|r| m.regs.v.get(r, lane)).collect();
        assert_eq!(got[..4], [b.into(), b as i8 as u32, h.into(), h as i16 as u32]);
        let dwords: Vec<u32> = (0..4).map(|k| m.bus.u32(at + 4 * k)).collect();
        assert_eq!((&got[4..7], &got[7..]), (&dwords[..3], &dwords[..]));
    }
    let mut expect = m.bus.bytes.clone();
    for lane in bits(SOME) {
        let at = 0x3000 + lane as usize * 16;
        expect[at..at + 4].copy_from_slice(&m.regs.v.get(14, lane).to_le_bytes());
        expect[at + 4..at + 8].copy_from_slice(&m.regs.v.get(15, lane).to_le_bytes());
        expect[at + 0x401] = lane as u8 * 4;
    }
    m.fill(3, |lane| lane * 16);
    m.ok(asm("buffer_store_dwordx2 v[14:15], v3, s[4:7], 0 offen"));
    m.ok(asm("buffer_store_byte v2, v3, s[4:7], 0 offen offset:1025"));
    assert!(m.bus.bytes == expect);
    // Each dword has its own bound.
    m.regs.s[6] = 8;
    m.ok(asm("buffer_load_dwordx4 v[17:20], off, s[4:7], 0"));
    assert_eq!([17, 18, 19, 20].map(|r| m.regs.v.get(r, 0)), [m.bus.u32(0x3000), m.bus.u32(0x3004), 0, 0]);
    let before = m.bus.bytes.clone();
    m.ok(asm("buffer_store_dword v17, off, s[4:7], 0 offset:8"));
    assert!(m.bus.bytes == before, "out of bounds nothing is stored");
    m.ok(asm("buffer_wbinvl1_vol"));
    m.regs.s[124] = 128;
    m.regs.s[6] = 0x1000;
    m.ok(asm("buffer_load_dword v2, s[4:7], 0 offen offset:4 lds"));
    assert_eq!(m.bus.u32(LDS + 128 + 4 + 63 * 4), m.bus.u32(0x3000 + 63 * 4 + 4));
}

/// Swizzled: records in blocks of 8, elements of 4 bytes.
#[test]
fn swizzled_addresses() {
    let mut m = buffer(16, 48, 1 << 19);
    m.regs.s[5] |= 1 << 31;
    m.fill(1, |lane| lane);
    m.fill(2, |lane| lane % 4 * 4);
    m.ok(asm("buffer_load_dword v10, v[1:2], s[4:7], 0 idxen offen"));
    for lane in bits(SOME) {
        let (index, offset) = (lane as usize, lane as usize % 4 * 4);
        let at = (index / 8 * 16 + offset) * 8 + index % 8 * 4;
        let expect = if index < 48 { m.bus.u32(0x3000 + at) } else { 0 };
        assert_eq!(m.regs.v.get(10, lane), expect, "lane {lane}");
    }
}

/// What a compiled kernel does with the private segment buffer: the wave's offset is added to the base,
/// the stack pointer is in s32, in bytes of the whole wave.
#[test]
fn private_memory() {
    let mut m = machine();
    m.isa.setup.scratch_region = SCRATCH as u64 - 0x1000;
    m.isa.setup.user.private_segment_buffer = true;
    m.isa.setup.scratch_wave_offset = true;
    m.isa.setup.scratch_per_lane = 64;
    let start = crate::WaveStart {
        group_size: 64,
        lanes: 64,
        waves_in_group: 1,
        scratch_base: SCRATCH as u64,
        ..Default::default()
    };
    crate::Isa::start(&m.isa, &mut m.regs, &start);
    assert_eq!(m.regs.s[4], 0x1000);
    // Old compilers give the wave's offset as soffset.
    m.fill(5, |lane| 40 + lane);
    m.ok(asm("buffer_store_dword v5, off, s[0:3], s4 offset:4"));
    m.ok(asm("s_add_u32 s0, s0, s4"));
    m.ok(asm("s_addc_u32 s1, s1, 0"));
    m.regs.s[32] = 8 * 64;
    m.ok(asm("buffer_store_dword v5, off, s[0:3], s32 offset:12"));
    m.fill(6, |lane| lane % 8 * 4);
    m.ok(asm("buffer_load_dword v7, v6, s[0:3], 0 offen"));
    m.ok(asm("buffer_store_byte v5, v6, s[0:3], 0 offen offset:3"));
    for lane in 0..64 {
        assert_eq!(m.bus.u32(SCRATCH + 256 + lane * 4) & 0xff_ffff, 40 + lane as u32);
        let twenty = SCRATCH + 5 * 256 + lane * 4;
        assert_eq!(m.bus.u32(twenty) & 0xff_ffff, 40 + lane as u32);
        let expect = m.bus.u32(SCRATCH + lane % 8 * 256 + lane * 4) & 0xff_ffff;
        assert_eq!(m.regs.v.get(7, lane as u32) & 0xff_ffff, expect);
        assert_eq!(m.bus.bytes[SCRATCH + lane % 8 * 256 + lane * 4 + 3], 40 + lane as u8);
    }
    // FLAT means the same bytes.
    m.fill64(2, |_| u64::from(crate::gcn3::state::PRIVATE_APERTURE) << 32 | 20);
    m.ok(asm("flat_load_ushort v1, v[2:3]"));
    assert_eq!(m.regs.v.get(1, 9), 49);
    assert_eq!(
        m.message(asm("buffer_load_dword v7, off, s[0:3], s32 offset:56")),
        "private load of 4 bytes at address 0x40: a lane has 64 bytes of private memory (lane 0)"
    );
    assert!(m.message(asm("buffer_load_dword v7, off, s[0:3], 0 offset:2")).contains("crosses"));
}

#[test]
fn atomics() {
    let mut m = buffer(0, 256, 0);
    m.bus.set(0x3000, 10);
    m.fill(5, |lane| lane);
    m.ok(asm("buffer_atomic_add v5, off, s[4:7], 0 glc"));
    let mut sum = 10;
    for lane in bits(SOME) {
        assert_eq!(m.regs.v.get(5, lane), sum);
        sum += lane;
    }
    assert_eq!(m.bus.u32(0x3000), sum);
    m.fill(5, |lane| 70 + lane);
    m.fill(6, |_| sum);
    m.ok(asm("buffer_atomic_cmpswap v[5:6], off, s[4:7], 0 glc"));
    assert_eq!(
        (m.bus.u32(0x3000), m.regs.v.get(5, 0), m.regs.v.get(5, 2), m.regs.v.get(6, 0)),
        (70, sum, 70, sum)
    );
    m.fill64(5, |_| 1 << 33);
    m.ok(asm("buffer_atomic_or_x2 v[5:6], off, s[4:7], 0 offset:8"));
    assert_eq!(m.bus.u32(0x300c) & 2, 2);
    // Out of bounds: zero comes back.
    m.ok(asm("buffer_atomic_swap v5, off, s[4:7], 0 offset:256 glc"));
    assert_eq!(m.regs.v.get(5, 0), 0);
}

#[test]
fn formats() {
    const XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    let load = |number: u32, data: u32, bytes: [u8; 16]| {
        let mut m = buffer(16, 4096, XYZW | number << 12 | data << 15);
        m.bus.bytes[0x3000..0x3010].copy_from_slice(&bytes);
        m.ok(asm("buffer_load_format_xyzw v[10:13], off, s[4:7], 0"));
        [10, 11, 12, 13].map(|r| m.regs.v.get(r, 0))
    };
    let bytes = [255, 128, 0, 51, 0, 0x3c, 1, 0, 0, 0, 0x80, 0x3f, 0xff, 0xff, 0xff, 0xff];
    let f = f32::to_bits;
    assert_eq!(load(0, 10, bytes), [f(1.0), f(128.0 / 255.0), 0, f(0.2)]);
    assert_eq!(load(1, 3, bytes), [f(-1.0 / 127.0), f(-1.0), 0, f(1.0)]);
    assert_eq!(load(4, 2, bytes), [0x80ff, 0, 0, 1]);
    assert_eq!(load(5, 1, bytes), [u32::MAX, 0, 0, 1]);
    assert_eq!(load(7, 14, bytes)[2..], [f(1.0), u32::MAX]);
    assert_eq!(
        load(7, 12, [0, 0x3c, 1, 0, 0, 0xfc, 0xff, 0x7b, 0, 0, 0, 0, 0, 0, 0, 0]),
        [f(1.0), f(2f32.powi(-24)), f(f32::NEG_INFINITY), f(65504.0)]
    );
    assert_eq!(load(2, 5, bytes), [f(33023.0), f(13056.0), 0, f(1.0)]);
    // Stores round and stop at the ends; what was loaded goes back unchanged.
    for (number, data) in [(0, 10), (1, 10), (4, 5), (5, 12), (7, 12), (7, 4), (2, 3), (3, 3)] {
        let mut m = buffer(16, 4096, XYZW | number << 12 | data << 15);
        m.bus.bytes[0x3000..0x3010]
            .copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 0, 0x80, 0xff, 0x7f, 9, 0x1c, 0, 0]);
        m.ok(asm("buffer_load_format_xyzw v[10:13], off, s[4:7], 0"));
        m.ok(asm("buffer_store_format_xyzw v[10:13], off, s[4:7], 0 offset:64"));
        let size = [0, 1, 2, 2, 4, 4, 0, 0, 0, 0, 4, 8, 8, 12, 16][data as usize];
        let (from, to) = (&m.bus.bytes[0x3000..0x3000 + size], &m.bus.bytes[0x3040..0x3040 + size]);
        assert_eq!(from, to, "number format {number}, data format {data}");
    }
    let mut m = buffer(16, 4096, XYZW | 10 << 15);
    m.fill(10, |_| f(2.0));
    m.fill(11, |_| f(-1.0));
    m.fill(12, |_| f(f32::NAN));
    m.fill(13, |_| f(0.5));
    m.ok(asm("buffer_store_format_xyzw v[10:13], off, s[4:7], 0"));
    assert_eq!(m.bus.bytes[0x3000..0x3004], [255, 0, 0, 128]);
    m.regs.s[7] = XYZW | 6 << 15;
    assert!(m.message(asm("buffer_load_format_x v10, off, s[4:7], 0")).contains("buffer_load_format_x"));
}

/// MTBUF is MUBUF with the format of the instruction, and components in their order, whatever the descriptor says.
#[test]
fn typed_buffers() {
    let formats = [
        ("BUF_DATA_FORMAT_32_32_32_32,BUF_NUM_FORMAT_FLOAT", 14, 7),
        ("BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT", 10, 4),
        ("BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SNORM", 5, 1),
        ("BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_SINT", 4, 5),
    ];
    for (name, data, number) in formats {
        for (count, channels) in [(1, "x"), (2, "xy"), (3, "xyz"), (4, "xyzw")] {
            let described = 4 | 5 << 3 | 6 << 6 | 7 << 9 | number << 12 | data << 15;
            let registers = if count == 1 { "v10".to_owned() } else { format!("v[10:{}]", 9 + count) };
            let (mut by_inst, mut by_buffer) =
                (buffer(16, 64, 0x1234_5678 & !(1 << 23)), buffer(16, 64, described));
            let place = format!("{registers}, v1, s[4:7], 0");
            by_inst
                .ok(asm(&format!("tbuffer_load_format_{channels} {place} format:[{name}] idxen offset:4")));
            by_buffer.ok(asm(&format!("buffer_load_format_{channels} {place} idxen offset:4")));
            for row in 10..14 {
                for lane in 0..64 {
                    assert_eq!(
                        by_inst.regs.v.get(row, lane),
                        by_buffer.regs.v.get(row, lane),
                        "{name} {channels}"
                    );
                }
            }
            for m in [&mut by_inst, &mut by_buffer] {
                m.fill(10, |lane| (lane as f32 / 37.0).to_bits());
                m.fill(11, |lane| lane * 77);
            }
            by_inst.ok(asm(&format!("tbuffer_store_format_{channels} {place} format:[{name}] idxen")));
            by_buffer.ok(asm(&format!("buffer_store_format_{channels} {place} idxen")));
            assert!(by_inst.bus.bytes == by_buffer.bus.bytes, "{name} {channels}");
        }
    }
}

/// What only graphics need is refused with its name.
#[test]
fn graphics_are_refused() {
    let lines = [
        "v_interp_p1_f32 v10, v1, attr3.y",
        "v_interp_p2_f32 v10, v1, attr3.y",
        "v_interp_mov_f32 v10, p20, attr0.x",
        "v_interp_p1_f32_e64 v10, -v1, attr3.y clamp",
        "v_interp_p1ll_f16 v10, v1, attr3.y high",
        "v_interp_p1lv_f16 v10, v1, attr3.y, v2",
        "v_interp_p2_f16 v10, v1, attr3.y, v2",
        "exp mrt0 v1, v2, off, off done vm",
        "image_load v[10:13], v[1:4], s[4:11] dmask:0xf",
        "image_atomic_add v10, v[1:4], s[4:11] dmask:0x1",
    ];
    for line in lines {
        let text = machine().message(asm(line));
        let name = line.split(' ').next().unwrap().trim_end_matches("_e64");
        assert!(text.contains(name) && text.contains("not supported"), "{text}");
    }
    let legacy = super::gfx9::later("v_interp_p2_legacy_f16 v10, v1, attr3.y, v2");
    assert!(machine().message(legacy).contains("v_interp_p2_legacy_f16"));
    // A probe changes nothing.
    let mut m = buffer(0, 64, 0);
    let before = (m.regs.s.to_vec(), m.bus.bytes.clone());
    m.ok(asm("s_atc_probe 3, s[4:5], 0x10"));
    m.ok(asm("s_atc_probe_buffer 3, s[4:7], 0x10"));
    assert!(before == (m.regs.s.to_vec(), m.bus.bytes.clone()));
}
