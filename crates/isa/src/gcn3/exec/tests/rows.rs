//! Memory instructions on a memory that takes whole rows where it can, against one that knows only single accesses, on every host:
//! random instructions, addresses of all shapes, masks, faults. Registers, memory and what went wrong are the same, and the same as if the
//! instruction were executed for one lane after the other.

use super::gfx9::later;
use super::{Bytes, LDS, Machine, SCRATCH, asm, machine};
use crate::gather::{Within, gather, scatter};
use crate::gcn3::inst::Inst;
use crate::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::lanes::{Row, bits};
use crate::vector::{INSTEAD, others};
use crate::{Bus, Flow, Isa, Mask, MemFault, Trap, Use, numbers_to_rows, one_by_one, rows_to_numbers};

/// Memory that goes by rows if all lanes lie in it.
struct Whole {
    bytes: Bytes,
    /// How often it did.
    rows: usize,
}

impl Whole {
    /// The bytes among which the lanes' `reach` bytes lie, and the least offset; none if some lie outside.
    fn piece(&mut self, base: u64, offset: &Row<u32>, lanes: Mask, reach: u32) -> Option<(u32, &mut [u8])> {
        let low = bits(lanes).map(|lane| offset[lane as usize]).min()?;
        let high = bits(lanes).map(|lane| offset[lane as usize]).max()?;
        let (first, end) = (base + u64::from(low), base + u64::from(high) + u64::from(reach));
        let piece = self.bytes.bytes.get_mut(first as usize..end as usize)?;
        Some((low, piece)).filter(|_| first >= self.bytes.forbidden)
    }
}

impl Bus for Whole {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        self.bytes.load(addr, bytes)
    }

    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        self.bytes.store(addr, bytes, value)
    }

    fn load_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        out: &mut [[Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        let unit = N / D;
        let most = add.iter().max().copied().unwrap_or(0);
        let skip = add.map(|add| add / unit as u32);
        let whole = add.iter().all(|add| add.is_multiple_of(unit as u32));
        let done =
            self.piece(base, offset, lanes, most + N as u32).filter(|_| whole).is_some_and(|(low, piece)| {
                let (within, rows) = (Within::new(offset, low, lanes), out.as_flattened_mut());
                match unit {
                    1 => gather::<1>(piece, within, (&skip, D), rows),
                    2 => gather::<2>(piece, within, (&skip, D), rows),
                    _ => gather::<4>(piece, within, (&skip, D), rows),
                }
            });
        self.rows += usize::from(done);
        if done {
            return Ok(());
        }
        one_by_one(self, base, (offset, add), lanes, Use::Load, |lane, p, bytes: &mut [u8; N]| {
            numbers_to_rows(bytes, lane, &mut out[p]);
        })
    }

    fn store_rows<const D: usize, const P: usize, const N: usize>(
        &mut self,
        base: u64,
        (offset, add): (&Row<u32>, [u32; P]),
        lanes: Mask,
        data: &[[&Row<u32>; D]; P],
    ) -> Result<(), MemFault> {
        let unit = N / D;
        let most = add.iter().max().copied().unwrap_or(0);
        let skip = add.map(|add| add / unit as u32);
        let whole = add.iter().all(|add| add.is_multiple_of(unit as u32));
        let done =
            self.piece(base, offset, lanes, most + N as u32).filter(|_| whole).is_some_and(|(low, piece)| {
                let within = Within::new(offset, low, lanes);
                match unit {
                    1 => scatter::<1, D, P>(piece, within, skip, data),
                    2 => scatter::<2, D, P>(piece, within, skip, data),
                    _ => scatter::<4, D, P>(piece, within, skip, data),
                }
            });
        self.rows += usize::from(done);
        if done {
            return Ok(());
        }
        one_by_one(self, base, (offset, add), lanes, Use::Store, |lane, p, bytes: &mut [u8; N]| {
            rows_to_numbers(&data[p], lane, bytes);
        })
    }

    fn modify_rows(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        bytes: u32,
        f: impl FnOnce(&mut [u8], Within) -> bool,
    ) -> bool {
        let Some((low, piece)) = self.piece(base, offset, lanes, bytes) else { return false };
        let done = f(piece, Within::new(offset, low, lanes));
        self.rows += usize::from(done);
        done
    }

    fn console(&mut self, _byte: u8) {}
}

fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 32) as u32
}

/// Local ones have their address in v1, others in v[2:3]; data is in v[4:7], results go to v8 and behind, or over the addresses.
const INSTRUCTIONS: &[&str] = &[
    "ds_read_b32 v8, v1 offset:4",
    "ds_read_b32 v1, v1",
    "ds_read_b64 v[8:9], v1",
    "ds_read_b64 v[1:2], v1 offset:8",
    "ds_read_b96 v[8:10], v1",
    "ds_read_b128 v[8:11], v1",
    "ds_read2_b32 v[8:9], v1 offset0:3 offset1:1",
    "ds_read2_b64 v[8:11], v1 offset1:1",
    "ds_read2st64_b32 v[8:9], v1 offset1:1",
    "ds_read_u8 v8, v1",
    "ds_read_i8 v8, v1",
    "ds_read_u16 v8, v1",
    "ds_read_i16 v8, v1 offset:2",
    "ds_write_b8 v1, v4",
    "ds_write_b16 v1, v4",
    "ds_write_b32 v1, v4",
    "ds_write_b64 v1, v[4:5]",
    "ds_write_b96 v1, v[4:6]",
    "ds_write_b128 v1, v[4:7]",
    "ds_write2_b32 v1, v4, v5 offset1:1",
    "ds_write2_b64 v1, v[4:5], v[6:7] offset0:1",
    "ds_wrxchg2_rtn_b32 v[8:9], v1, v4, v5 offset1:1",
    "ds_add_u32 v1, v4",
    "ds_add_rtn_u32 v8, v1, v4",
    "ds_max_rtn_i32 v1, v1, v4",
    "ds_add_u64 v1, v[4:5]",
    "ds_sub_rtn_u64 v[8:9], v1, v[4:5]",
    "ds_cmpst_rtn_b32 v8, v1, v4, v5",
    "flat_load_dword v8, v[2:3]",
    "flat_load_dwordx2 v[2:3], v[2:3]",
    "flat_load_dwordx2 v[8:9], v[2:3]",
    "flat_load_dwordx3 v[8:10], v[2:3]",
    "flat_load_dwordx4 v[8:11], v[2:3]",
    "flat_load_ubyte v8, v[2:3]",
    "flat_load_sshort v8, v[2:3]",
    "flat_store_byte v[2:3], v4",
    "flat_store_short v[2:3], v4",
    "flat_store_dword v[2:3], v4",
    "flat_store_dwordx2 v[2:3], v[4:5]",
    "flat_store_dwordx3 v[2:3], v[4:6]",
    "flat_store_dwordx4 v[2:3], v[4:7]",
    "flat_atomic_add v[2:3], v4",
    "flat_atomic_add v8, v[2:3], v4 glc",
    "flat_atomic_add_x2 v[8:9], v[2:3], v[4:5] glc",
    "flat_atomic_cmpswap v8, v[2:3], v[4:5] glc",
    "flat_atomic_cmpswap_x2 v[8:9], v[2:3], v[4:7] glc",
    "flat_atomic_swap v8, v[2:3], v4 glc",
    "flat_atomic_umax v[2:3], v4",
    "flat_atomic_smin_x2 v[2:3], v[4:5]",
    "flat_atomic_inc v2, v[2:3], v4 glc",
    "flat_atomic_or_x2 v[2:3], v[2:3], v[4:5] glc",
    "ds_inc_rtn_u32 v8, v1, v4",
    "ds_wrxchg_rtn_b32 v8, v1, v4",
    "ds_wrxchg_rtn_b64 v[1:2], v1, v[4:5]",
    "ds_cmpst_rtn_b64 v[8:9], v1, v[4:5], v[6:7]",
    "ds_add_f32 v1, v4",
    "ds_max_rtn_f64 v[8:9], v1, v[4:5]",
    "ds_mskor_b32 v1, v4, v5",
    "ds_write2_b64 v1, v[4:5], v[6:7] offset0:3 offset1:2",
    "ds_write2_b32 v1, v4, v5 offset0:2 offset1:1",
    "ds_read2_b64 v[1:4], v1 offset1:3",
    "ds_read_b128 v[1:4], v1 offset:16",
    "flat_load_dwordx4 v[1:4], v[2:3]",
    "global_load_dwordx3 v[1:3], v[2:3], off offset:4",
    "global_atomic_add_f32 v[2:3], v4, off",
    "global_load_dwordx4 v[8:11], v1, s[6:7]",
    "buffer_load_dword v8, off, s[0:3], 0 offset:4",
    "buffer_load_dwordx2 v[8:9], off, s[0:3], 0 offset:8",
    "buffer_load_dwordx3 v[8:10], off, s[0:3], 0 offset:16",
    "buffer_load_dwordx4 v[8:11], off, s[0:3], 0",
    "buffer_store_dword v4, off, s[0:3], 0 offset:4",
    "buffer_store_dwordx2 v[4:5], off, s[0:3], 0 offset:8",
    "buffer_store_dwordx3 v[4:6], off, s[0:3], 0 offset:16",
    "buffer_store_dwordx4 v[4:7], off, s[0:3], 0",
    "buffer_load_dword v8, v1, s[0:3], 0 offen offset:4",
    "buffer_load_dword v1, v1, s[0:3], s4 offen",
    "buffer_load_dwordx2 v[8:9], v1, s[0:3], 0 offen offset:8",
    "buffer_load_dwordx3 v[8:10], v1, s[0:3], 0 offen",
    "buffer_load_dwordx4 v[8:11], v1, s[0:3], s4 offen",
    "buffer_load_ubyte v8, v1, s[0:3], 0 offen offset:1",
    "buffer_load_sbyte v8, v1, s[0:3], 0 offen",
    "buffer_load_ushort v8, v1, s[0:3], 0 offen offset:2",
    "buffer_load_sshort v8, v1, s[0:3], s4 offen",
    "buffer_load_sshort v8, off, s[0:3], 0 offset:2",
    "buffer_store_byte v4, v1, s[0:3], 0 offen offset:3",
    "buffer_store_short v4, v1, s[0:3], 0 offen",
    "buffer_store_byte v4, off, s[0:3], 0 offset:6",
    "buffer_store_dword v4, v1, s[0:3], 0 offen offset:4",
    "buffer_store_dwordx2 v[4:5], v1, s[0:3], s4 offen",
    "buffer_store_dwordx3 v[4:6], v1, s[0:3], 0 offen",
    "buffer_store_dwordx4 v[4:7], v1, s[0:3], 0 offen",
    "buffer_load_dwordx4 v[1:4], v1, s[0:3], 0 offen",
    "buffer_load_ubyte_d16 v8, v1, s[0:3], 0 offen offset:1",
    "buffer_load_sbyte_d16_hi v8, v1, s[0:3], 0 offen",
    "buffer_load_short_d16 v8, off, s[0:3], 0 offset:6",
    "buffer_load_short_d16_hi v1, v1, s[0:3], s4 offen",
    "buffer_store_byte_d16_hi v4, v1, s[0:3], 0 offen offset:2",
    "buffer_store_short_d16_hi v4, v1, s[0:3], 0 offen",
    "buffer_load_dword v8, v1, s[8:11], s4 offen offset:4",
    "buffer_load_dword v1, v1, s[8:11], 0 idxen",
    "buffer_load_dwordx3 v[1:3], v1, s[8:11], 0 offen",
    "buffer_load_dwordx4 v[8:11], v[1:2], s[8:11], s4 idxen offen",
    "buffer_load_ubyte v8, v1, s[8:11], 0 offen offset:1",
    "buffer_load_sbyte_d16_hi v8, v1, s[8:11], 0 idxen",
    "buffer_store_dword v4, v1, s[8:11], 0 offen",
    "buffer_store_dwordx2 v[4:5], v1, s[8:11], s4 idxen offset:8",
    "buffer_store_dwordx4 v[4:7], v1, s[8:11], 0 offen",
    "buffer_store_short v4, v1, s[8:11], 0 offen",
    "buffer_store_short_d16_hi v4, v1, s[8:11], 0 offen",
];

/// An instruction of gfx8, or else of the earliest generation that has it.
fn some_asm(text: &str) -> Inst {
    if text.starts_with("global") || text.contains("d16") { later(text) } else { asm(text) }
}

/// Offsets of lanes: in steps, in tiles, all the same or anywhere; some of them with one lane elsewhere, seldom outside.
fn some_offsets(state: &mut u64) -> Row<u32> {
    let unit = [1, 2, 4, 4, 4, 4, 8, 8][random(state) as usize % 8];
    let (first, step) =
        (unit * (random(state) % 8), unit * [0, 1, 1, 2, 3, 4, 5][random(state) as usize % 7]);
    let wide = [64, 64, 64, 16, 8][random(state) as usize % 5];
    let mut row = std::array::from_fn(|i| first + step * (i as u32 % wide) + unit * 60 * (i as u32 / wide));
    match random(state) % 8 {
        0 => row = row.map(|_| unit * (random(state) % 300)),
        1 => row[random(state) as usize % 64] = unit * (random(state) % 300),
        2 if random(state).is_multiple_of(4) => row[random(state) as usize % 64] = 0x9000_0000,
        3 => row.reverse(),
        _ => {}
    }
    row
}

/// Registers, memory and what became of it.
type After = (Result<Flow, Trap>, Vec<u32>, Vec<u8>);

fn rows_of(m: &Machine) -> Vec<u32> {
    (0..32).flat_map(|row| m.regs.v.row(row).to_vec()).collect()
}

#[test]
fn memory_that_takes_rows_does_the_same() {
    let (mut state, mut rows, mut faults) = (9, 0, 0);
    for round in 0..13000 {
        let text = INSTRUCTIONS[round % INSTRUCTIONS.len()];
        let mut m = machine();
        m.regs.s[..4].copy_from_slice(&[SCRATCH as u32, 1 << 31, u32::MAX, super::super::SCRATCH_WORD3]);
        m.bus.forbidden = 0x100;
        (4..12).for_each(|row| m.fill(row, |_| random(&mut state)));
        let mut offsets = some_offsets(&mut state);
        // The last ones are near the end of memory, and of what is forbidden.
        let (local, private) = (u64::from(SHARED_APERTURE) << 32, u64::from(PRIVATE_APERTURE) << 32);
        let flat =
            [0x2000, 0x2000, 0x2000, local, local, private, 0xff00, 0xf0][random(&mut state) as usize % 8];
        let flat = if text.starts_with("global") { flat & 0xffff } else { flat };
        m.regs.set_pair(6, flat & 0xffff);
        // A buffer in plain memory, with bounds or not; indices may have the lane added.
        let stride = [0, 0, 4, 12, 16][random(&mut state) as usize % 5];
        // Its end is often near the largest offset.
        let end = offsets.iter().max().copied().unwrap_or(0).saturating_add(random(&mut state) % 24);
        let records =
            [u32::MAX, 0x4000, end, end, random(&mut state) % 0x1000][random(&mut state) as usize % 5];
        let word3 = [1 << 19, 1 << 19, 1 << 19 | 1 << 23][random(&mut state) as usize % 3];
        let swizzled = u32::from(random(&mut state).is_multiple_of(6)) << 31;
        m.regs.s[8..12].copy_from_slice(&[0x2000, swizzled | stride << 16, records, word3]);
        if text.contains("s[0:3]") || text.starts_with("flat") && flat == private {
            // Private memories are small.
            let (mask, few) = ([!0, !3, !3][random(&mut state) as usize % 3], 40 + random(&mut state) % 30);
            offsets = offsets.map(|at| if at < 1 << 20 { (at % few) & mask } else { at });
        }
        m.regs.s[4] = [0, 0, 256, 512, 68][random(&mut state) as usize % 5];
        m.fill(1, |lane| offsets[lane as usize]);
        m.fill64(2, |lane| flat + u64::from(offsets[lane as usize]));
        // What a comparison expects is often there.
        let first = if text.starts_with("ds") { LDS } else { 0x2000 };
        let there = |lane: u32| first + offsets[lane as usize] as usize % 0x800;
        let expected: Vec<u32> = (0..64).map(|lane| m.bus.u32(there(lane))).collect();
        for row in [4, 5] {
            let before = m.lanes(row);
            m.fill(row, |lane| {
                if random(&mut state).is_multiple_of(3) {
                    expected[lane as usize]
                } else {
                    before[lane as usize]
                }
            });
        }
        let some = u64::from(random(&mut state)) << 32 | u64::from(random(&mut state));
        let lanes = [Mask::MAX, Mask::MAX, Mask::MAX, some, some | 1 << 63, some & 0xffff]
            [random(&mut state) as usize % 6];
        m.regs.set_pair(126, lanes);
        let (mut inst, regs) = (some_asm(text), m.regs.clone());
        if text.starts_with("flat") {
            // As later generations have it.
            inst.imm = [0, 0, 4, 8, 1 << 11][random(&mut state) as usize % 5];
        }
        let memory = m.bus.bytes.clone();
        // What it means: one lane after the other.
        let mut result = Ok(Flow::Next);
        for lane in bits(lanes) {
            m.regs.set_pair(126, 1 << lane);
            result = m.isa.exec(&inst, &m.at, &mut m.regs, &mut m.bus);
            if result.is_err() {
                break;
            }
        }
        m.regs.set_pair(126, lanes);
        let apart: After = (result, rows_of(&m), std::mem::replace(&mut m.bus.bytes, memory.clone()));
        m.regs = regs.clone();
        let result = m.isa.exec(&inst, &m.at, &mut m.regs, &mut m.bus);
        faults += usize::from(result.is_err());
        let one: After = (result, rows_of(&m), std::mem::replace(&mut m.bus.bytes, memory.clone()));
        // A run ends at a fault: what was touched before does not matter.
        let same = apart.0 == one.0 && (one.0.is_err() || apart == one);
        assert!(same, "{text}, {lanes:#x}, {offsets:?}: {:?} lane by lane, {:?}", apart.0, one.0);
        for arch in others().into_iter().map(Some).chain([None]) {
            m.regs = regs.clone();
            let bytes = Bytes { bytes: memory.clone(), forbidden: m.bus.forbidden, log: Vec::new() };
            let mut whole = Whole { bytes, rows: 0 };
            INSTEAD.set(arch);
            let result = m.isa.exec(&inst, &m.at, &mut m.regs, &mut whole);
            INSTEAD.set(None);
            rows += whole.rows;
            let all: After = (result, rows_of(&m), whole.bytes.bytes);
            assert!(one == all, "{text}, {lanes:#x}, {offsets:?}, {arch:?}: {:?} {:?}", one.0, all.0);
        }
    }
    assert!(rows > 13000 && faults > 50, "{rows} {faults}");
}

/// Private dwords at the same place in all lanes, against a plain loop over lanes.
#[test]
fn private_rows_are_interleaved() {
    let mut state = 11;
    for round in 0..400 {
        let (count, place) = (1 + round % 4, 4 * (random(&mut state) % 12));
        let name = ["dword", "dwordx2", "dwordx3", "dwordx4"][round % 4];
        let mut m = machine();
        m.regs.s[..4].copy_from_slice(&[SCRATCH as u32, 1 << 31, u32::MAX, super::super::SCRATCH_WORD3]);
        (4..12).for_each(|row| m.fill(row, |_| random(&mut state)));
        let some = u64::from(random(&mut state)) << 32 | u64::from(random(&mut state));
        let lanes = [Mask::MAX, some, some & 0xff][random(&mut state) as usize % 3];
        m.regs.set_pair(126, lanes);
        let at = |d: usize, lane: u32| SCRATCH + (place as usize / 4 + d) * 256 + lane as usize * 4;
        let on = |lane: u32| lanes >> lane & 1 == 1;
        let before: Vec<Vec<u32>> = (8..12).map(|row| m.lanes(row)).collect();
        m.ok(asm(&format!("buffer_load_{name} v[8:{}], off, s[0:3], 0 offset:{place}", 7 + count)));
        for (d, before) in before.iter().enumerate() {
            for lane in 0..64 {
                let loaded = on(lane) && d < count;
                let want = if loaded { m.bus.u32(at(d, lane)) } else { before[lane as usize] };
                assert_eq!(m.regs.v.get(8 + d, lane), want, "{name} {place}, dword {d}, lane {lane}");
            }
        }
        let mut expected = m.bus.bytes.clone();
        for lane in (0..64).filter(|lane| on(*lane)) {
            for d in 0..count {
                let bytes = m.regs.v.get(4 + d, lane).to_le_bytes();
                expected[at(d, lane)..at(d, lane) + 4].copy_from_slice(&bytes);
            }
        }
        m.ok(asm(&format!("buffer_store_{name} v[4:{}], off, s[0:3], 0 offset:{place}", 3 + count)));
        assert!(m.bus.bytes == expected, "{name} {place}, {lanes:#x}");
    }
}
