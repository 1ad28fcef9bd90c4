//! Exchanges of lanes by whole rows against a plain loop over lanes, on every host: random masks, addresses, offsets and registers
//! that are source and destination at once.

use super::{asm, machine};
use crate::Mask;
use crate::vector::{INSTEAD, others};

fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 32) as u32
}

/// What each lane of the destination has after the instruction.
fn expected(what: &str, rows: &[Vec<u32>; 3], offset: u32, lanes: Mask) -> Vec<u32> {
    let [dst, address, data] = rows;
    let on = |lane: u32| lanes >> lane & 1 == 1;
    let mut out = dst.clone();
    let named = |lane: u32| address[lane as usize].wrapping_add(offset) / 4 % 64;
    let taken = |lane: u32| if on(lane) { data[lane as usize] } else { 0 };
    for lane in (0..64).filter(|lane| on(*lane)) {
        out[lane as usize] = match what {
            "ds_permute_b32" => {
                (0..64).rfind(|from| on(*from) && named(*from) == lane).map_or(0, |from| data[from as usize])
            }
            "ds_bpermute_b32" => taken(named(lane)),
            _ if offset >= 0x8000 => taken(lane / 4 * 4 + (offset >> (2 * (lane % 4)) & 3)),
            _ => {
                let [and, or, xor] = [0, 5, 10].map(|shift| offset >> shift & 31);
                taken(lane / 32 * 32 + (((lane % 32) & and | or) ^ xor))
            }
        };
    }
    out
}

#[test]
fn exchanges_are_those_of_a_loop_over_lanes() {
    let mut state = 5;
    for round in 0..3000 {
        let what = ["ds_permute_b32", "ds_bpermute_b32", "ds_swizzle_b32"][round % 3];
        let mut m = machine();
        let wide = random(&mut state).is_multiple_of(4);
        for row in 1..4 {
            m.fill(row, |_| random(&mut state));
        }
        m.fill(1, |lane| match random(&mut state) % if wide { 2 } else { 40 } {
            0 => random(&mut state),
            _ => lane.wrapping_mul(4 * (round as u32 % 7)),
        });
        let some = u64::from(random(&mut state)) << 32 | u64::from(random(&mut state));
        let lanes =
            [Mask::MAX, Mask::MAX, some, some & 0xffff, some | 1 << 63, 0][random(&mut state) as usize % 6];
        m.regs.set_pair(126, lanes);
        let dst = [1, 2, 3][random(&mut state) as usize % 3];
        let offset = random(&mut state)
            & if random(&mut state).is_multiple_of(3) && what != "ds_swizzle_b32" { 0 } else { 0xffff };
        let rows = [dst, 1, 2].map(|row| m.lanes(row));
        let text = match what {
            "ds_swizzle_b32" => format!("{what} v{dst}, v2 offset:{offset}"),
            _ => format!("{what} v{dst}, v1, v2 offset:{offset}"),
        };
        let (inst, before) = (asm(&text), m.regs.clone());
        let expect = expected(what, &rows, offset, lanes);
        for arch in others().into_iter().map(Some).chain([None]) {
            m.regs = before.clone();
            INSTEAD.set(arch);
            m.ok(inst);
            INSTEAD.set(None);
            assert_eq!(m.lanes(dst), expect, "{text}, {lanes:#x}, {arch:?}");
            for row in (0..32).filter(|row| *row != dst) {
                assert_eq!(m.regs.v.row(row), before.v.row(row), "{text}");
            }
        }
    }
}
