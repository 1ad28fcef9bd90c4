//! What gfx9 and its later members added, from assembly text: vector operations against references in wide integers and f64,
//! scalar operations, and memory with segments, offsets and scalar bases against a byte array.

use super::{LDS, Machine, SCRATCH, machine};
use crate::gcn3::gcn::Gcn;
use crate::gcn3::inst::Inst;
use crate::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE, mode};
use crate::{Flow, Isa, Mask};

/// A line of the earliest generation that has it.
pub(super) fn later(text: &str) -> Inst {
    let mut error = String::new();
    for gcn in &Gcn::ALL[1..] {
        match crate::gcn3::assemble_line_for(gcn.generation(), text) {
            Ok(words) => {
                return crate::gcn3::decode_for(gcn.generation(), &words)
                    .unwrap_or_else(|e| panic!("{text}: {e}"));
            }
            Err(e) => error = e.to_string(),
        }
    }
    panic!("{text}: {error}")
}

const EDGES: [u32; 14] = [
    0,
    1,
    2,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_8000,
    0x8000_7fff,
    0x1_0000,
    0x1234_5678,
    0xfedc_ba98,
];

fn mix(a: u32, b: u32) -> u32 {
    let z = (u64::from(a) << 32 | u64::from(b))
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 29) as u32 ^ z as u32
}

/// Sources in v1 to v6 (three pairs), the destination v[8:9] as it was, all over edges and random numbers.
fn filled(mode: u32, seed: u32, make: fn(u32) -> u32) -> Machine {
    let mut m = machine();
    m.regs.mode = mode;
    for register in 0..12u32 {
        m.fill(register as usize, |lane| {
            let v = mix(lane + 64 * seed, register);
            make(if v.is_multiple_of(3) { EDGES[(v >> 8) as usize % EDGES.len()] } else { v })
        });
    }
    m
}

/// `text` in all lanes that are on equals the reference of v1, v2, v3 and the old v8.
fn check(text: &str, reference: impl Fn(u32, u32, u32, u32) -> u32) {
    check_made(text, 0x3c0, |v| v, reference);
}

fn check_made(text: &str, mode: u32, make: fn(u32) -> u32, reference: impl Fn(u32, u32, u32, u32) -> u32) {
    for (seed, exec) in [(1, Mask::MAX), (2, 0x8000_0000_f0f0_0005), (3, Mask::MAX)] {
        let mut m = filled(mode, seed, make);
        m.regs.set_pair(126, exec);
        let before = m.regs.clone();
        m.ok(later(text));
        for lane in 0..64 {
            let v = |n: usize| before.v.get(n, lane);
            let want = if exec >> lane & 1 == 1 { reference(v(1), v(2), v(3), v(8)) } else { v(8) };
            let got = m.regs.v.get(8, lane);
            let of = [v(1), v(2), v(3), v(8)];
            assert_eq!(got, want, "{text}, lane {lane}: {got:#x} instead of {want:#x} of {of:x?}");
        }
    }
}

fn sat(v: i64, low: i64, high: i64) -> u32 {
    v.max(low).min(high) as u32
}

fn s16(v: u32) -> i64 {
    i64::from(v as i16)
}

fn u16(v: u32) -> i64 {
    i64::from(v & 0xffff)
}

#[test]
fn combined_integers() {
    check("v_add_u32 v8, v1, v2", |a, b, _, _| a.wrapping_add(b));
    check("v_sub_u32 v8, v1, v2", |a, b, _, _| a.wrapping_sub(b));
    check("v_subrev_u32 v8, v1, v2", |a, b, _, _| b.wrapping_sub(a));
    check("v_add_u32 v8, v1, v2 clamp", |a, b, _, _| sat(i64::from(a) + i64::from(b), 0, 0xffff_ffff));
    check("v_sub_u32 v8, v1, v2 clamp", |a, b, _, _| sat(i64::from(a) - i64::from(b), 0, 0xffff_ffff));
    check("v_subrev_u32 v8, v1, v2 clamp", |a, b, _, _| sat(i64::from(b) - i64::from(a), 0, 0xffff_ffff));
    check("v_add_i32 v8, v1, v2", |a, b, _, _| a.wrapping_add(b));
    check("v_sub_i32 v8, v1, v2", |a, b, _, _| a.wrapping_sub(b));
    let signed = |v: i64| sat(v, i32::MIN.into(), i32::MAX.into());
    check("v_add_i32 v8, v1, v2 clamp", move |a, b, _, _| signed(i64::from(a as i32) + i64::from(b as i32)));
    check("v_sub_i32 v8, v1, v2 clamp", move |a, b, _, _| signed(i64::from(a as i32) - i64::from(b as i32)));
    check("v_xad_u32 v8, v1, v2, v3", |a, b, c, _| (a ^ b).wrapping_add(c));
    check("v_lshl_add_u32 v8, v1, v2, v3", |a, b, c, _| a.wrapping_shl(b).wrapping_add(c));
    check("v_add_lshl_u32 v8, v1, v2, v3", |a, b, c, _| a.wrapping_add(b).wrapping_shl(c));
    check("v_add3_u32 v8, v1, v2, v3", |a, b, c, _| (u64::from(a) + u64::from(b) + u64::from(c)) as u32);
    check("v_lshl_or_b32 v8, v1, v2, v3", |a, b, c, _| a.wrapping_shl(b) | c);
    check("v_and_or_b32 v8, v1, v2, v3", |a, b, c, _| a & b | c);
    check("v_or3_b32 v8, v1, v2, v3", |a, b, c, _| a | b | c);
    check("v_xnor_b32 v8, v1, v2", |a, b, _, _| !a ^ b);
    check("v_mad_u32_u16 v8, v1, v2, v3", |a, b, c, _| (u16(a) * u16(b) + i64::from(c)) as u32);
    check("v_mad_i32_i16 v8, v1, v2, v3", |a, b, c, _| (s16(a) * s16(b) + i64::from(c as i32)) as u32);
    check("v_mad_u32_u16 v8, v1, v2, v3 op_sel:[1,0,0,0] clamp", |a, b, c, _| {
        sat(u16(a >> 16) * u16(b) + i64::from(c), 0, 0xffff_ffff)
    });
    check("v_sat_pk_u8_i16 v8, v1", |a, _, _, _| sat(s16(a), 0, 255) | sat(s16(a >> 16), 0, 255) << 8);
}

/// Halves: what is selected, and what stays of the destination.
#[test]
fn sixteen_bits() {
    fn low(old: u32, v: u32) -> u32 {
        old & 0xffff_0000 | v & 0xffff
    }
    check("v_add_i16 v8, v1, v2", |a, b, _, d| low(d, (s16(a) + s16(b)) as u32));
    check("v_sub_i16 v8, v1, v2 clamp", |a, b, _, d| low(d, sat(s16(a) - s16(b), -0x8000, 0x7fff)));
    check("v_add_i16 v8, v1, v2 op_sel:[1,0,1]", |a, b, _, d| {
        d & 0xffff | ((s16(a >> 16) + s16(b)) as u32) << 16
    });
    check("v_mad_u16 v8, v1, v2, v3", |a, b, c, d| low(d, (u16(a) * u16(b) + u16(c)) as u32));
    check("v_mad_i16 v8, v1, v2, v3 op_sel:[0,1,0,0] clamp", |a, b, c, d| {
        low(d, sat(s16(a) * s16(b >> 16) + s16(c), -0x8000, 0x7fff))
    });
    // The ones that came from gfx8 clear the high half.
    check("v_mad_legacy_u16 v8, v1, v2, v3", |a, b, c, _| (u16(a) * u16(b) + u16(c)) as u32 & 0xffff);
    let middle = |mut v: [i64; 3]| {
        v.sort_unstable();
        v[1]
    };
    check("v_min3_i16 v8, v1, v2, v3", |a, b, c, d| low(d, s16(a).min(s16(b)).min(s16(c)) as u32));
    check("v_max3_i16 v8, v1, v2, v3", |a, b, c, d| low(d, s16(a).max(s16(b)).max(s16(c)) as u32));
    check("v_med3_i16 v8, v1, v2, v3", move |a, b, c, d| low(d, middle([s16(a), s16(b), s16(c)]) as u32));
    check("v_min3_u16 v8, v1, v2, v3", |a, b, c, d| low(d, u16(a).min(u16(b)).min(u16(c)) as u32));
    check("v_max3_u16 v8, v1, v2, v3", |a, b, c, d| low(d, u16(a).max(u16(b)).max(u16(c)) as u32));
    check("v_med3_u16 v8, v1, v2, v3", move |a, b, c, d| low(d, middle([u16(a), u16(b), u16(c)]) as u32));
    check("v_pack_b32_f16 v8, v1, v2", |a, b, _, _| a & 0xffff | b << 16);
    check("v_pack_b32_f16 v8, v1, -v2 op_sel:[1,1,0]", |a, b, _, _| a >> 16 | (b >> 16 ^ 0x8000) << 16);
}

#[test]
fn packed_integers() {
    fn both(a: u32, b: u32, f: impl Fn(u32, u32) -> i64) -> u32 {
        f(a & 0xffff, b & 0xffff) as u32 & 0xffff | (f(a >> 16, b >> 16) as u32) << 16
    }
    check("v_pk_add_u16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(x) + u16(y)));
    check("v_pk_sub_u16 v8, v1, v2 clamp", |a, b, _, _| both(a, b, |x, y| (u16(x) - u16(y)).max(0)));
    check("v_pk_add_i16 v8, v1, v2 clamp", |a, b, _, _| {
        both(a, b, |x, y| (s16(x) + s16(y)).clamp(-0x8000, 0x7fff))
    });
    check("v_pk_sub_i16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| s16(x) - s16(y)));
    check("v_pk_mul_lo_u16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(x) * u16(y)));
    check("v_pk_lshlrev_b16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(y) << (x & 15)));
    check("v_pk_lshrrev_b16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(y) >> (x & 15)));
    check("v_pk_ashrrev_i16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| s16(y) >> (x & 15)));
    check("v_pk_max_i16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| s16(x).max(s16(y))));
    check("v_pk_min_i16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| s16(x).min(s16(y))));
    check("v_pk_max_u16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(x).max(u16(y))));
    check("v_pk_min_u16 v8, v1, v2", |a, b, _, _| both(a, b, |x, y| u16(x).min(u16(y))));
    check("v_pk_mad_u16 v8, v1, v2, v3", |a, b, c, _| {
        let one = |s: u32| u16(a >> s) * u16(b >> s) + u16(c >> s);
        one(0) as u32 & 0xffff | (one(16) as u32) << 16
    });
    check("v_pk_mad_i16 v8, v1, v2, v3 clamp", |a, b, c, _| {
        let one = |s: u32| (s16(a >> s) * s16(b >> s) + s16(c >> s)).clamp(-0x8000, 0x7fff);
        one(0) as u32 & 0xffff | (one(16) as u32) << 16
    });
    // The low result takes the high half of the first source, the high one the low half of the second.
    check("v_pk_add_u16 v8, v1, v2 op_sel:[1,0] op_sel_hi:[1,0]", |a, b, _, _| {
        (u16(a >> 16) + u16(b)) as u32 & 0xffff | ((u16(a >> 16) + u16(b)) as u32) << 16
    });
}

fn dot(a: u32, b: u32, count: u32, signed: bool) -> i64 {
    let width = 32 / count;
    let element = |v: u32, i: u32| {
        let raw = i64::from(v >> (i * width)) & ((1 << width) - 1);
        if signed && raw >> (width - 1) == 1 { raw - (1 << width) } else { raw }
    };
    (0..count).map(|i| element(a, i) * element(b, i)).sum()
}

#[test]
fn dot_products() {
    for (name, count, is_signed) in [
        ("v_dot2_i32_i16", 2, true),
        ("v_dot2_u32_u16", 2, false),
        ("v_dot4_i32_i8", 4, true),
        ("v_dot4_u32_u8", 4, false),
        ("v_dot8_i32_i4", 8, true),
        ("v_dot8_u32_u4", 8, false),
    ] {
        let third = move |c: u32| if is_signed { i64::from(c as i32) } else { i64::from(c) };
        let range = if is_signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, 0xffff_ffff) };
        check(&format!("{name} v8, v1, v2, v3"), move |a, b, c, _| {
            (dot(a, b, count, is_signed) + third(c)) as u32
        });
        check(&format!("{name} v8, v1, v2, v3 clamp"), move |a, b, c, _| {
            sat(dot(a, b, count, is_signed) + third(c), range.0, range.1)
        });
    }
    check("v_dot2c_i32_i16 v8, v1, v2", |a, b, _, d| (dot(a, b, 2, true) + i64::from(d as i32)) as u32);
    check("v_dot4c_i32_i8 v8, v1, v2", |a, b, _, d| (dot(a, b, 4, true) + i64::from(d as i32)) as u32);
    check("v_dot8c_i32_i4 v8, v1, v2", |a, b, _, d| (dot(a, b, 8, true) + i64::from(d as i32)) as u32);
}

/// An ordinary f32 whose sums and products with others of its kind are exact in f64.
fn float(v: u32) -> u32 {
    (((v % 20_001) as f32 - 10_000.0) / 64.0).to_bits()
}

fn f(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

fn rounded(v: f64) -> u32 {
    (v as f32).to_bits()
}

#[test]
fn fused_floats() {
    let check =
        |text: &str, reference: fn(u32, u32, u32, u32) -> u32| check_made(text, 0x3f0, float, reference);
    check("v_fmac_f32 v8, v1, v2", |a, b, _, d| rounded(f(a) * f(b) + f(d)));
    check("v_fmac_f32_e64 v8, -v1, |v2|", |a, b, _, d| rounded(-f(a) * f(b).abs() + f(d)));
    check("v_fmamk_f32 v8, v1, 0x40200000, v2", |a, b, _, _| rounded(f(a) * 2.5 + f(b)));
    check("v_fmaak_f32 v8, v1, v2, 0x40200000", |a, b, _, _| rounded(f(a) * f(b) + 2.5));
    // Sources that are f32 all three.
    check("v_mad_mix_f32 v8, v1, v2, v3", |a, b, c, _| rounded(f(rounded(f(a) * f(b))) + f(c)));
    check("v_fma_mix_f32 v8, -v1, v2, |v3|", |a, b, c, _| rounded(-f(a) * f(b) + f(c).abs()));
}

/// Bits of a half as a number, by its definition.
fn half(bits: u32) -> f64 {
    let (e, m) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let v = if e == 0 { m * 2f64.powi(-24) } else { (1024.0 + m) * 2f64.powi(e as i32 - 25) };
    if bits & 0x8000 != 0 { -v } else { v }
}

/// Ordinary halves in both parts.
fn halves(v: u32) -> u32 {
    v & 0x83ff_83ff | 0x3000_3400 | v >> 3 & 0x0400_0400
}

#[test]
fn packed_and_mixed_halves() {
    fn narrow(v: f64) -> u32 {
        crate::gcn3::valu::half_from_f64(v, false).into()
    }
    fn both(f: impl Fn(u32) -> f64) -> u32 {
        narrow(f(0)) | narrow(f(16)) << 16
    }
    let check =
        |text: &str, reference: fn(u32, u32, u32, u32) -> u32| check_made(text, 0x3f0, halves, reference);
    check("v_pk_add_f16 v8, v1, v2", |a, b, _, _| both(|s| half(a >> s) + half(b >> s)));
    check("v_pk_mul_f16 v8, v1, v2", |a, b, _, _| both(|s| half(a >> s) * half(b >> s)));
    check("v_pk_fma_f16 v8, v1, v2, v3", |a, b, c, _| both(|s| half(a >> s) * half(b >> s) + half(c >> s)));
    check("v_pk_min_f16 v8, v1, v2", |a, b, _, _| both(|s| half(a >> s).min(half(b >> s))));
    check("v_pk_max_f16 v8, v1, v2", |a, b, _, _| both(|s| half(a >> s).max(half(b >> s))));
    check("v_pk_add_f16 v8, v1, v2 neg_lo:[0,1] neg_hi:[1,0]", |a, b, _, _| {
        narrow(half(a) - half(b)) | narrow(half(b >> 16) - half(a >> 16)) << 16
    });
    check("v_pk_add_f16 v8, v1, v2 clamp", |a, b, _, _| {
        both(|s| (half(a >> s) + half(b >> s)).clamp(0.0, 1.0))
    });
    check("v_min3_f16 v8, v1, v2, v3", |a, b, c, d| {
        d & 0xffff_0000 | narrow(half(a).min(half(b)).min(half(c)))
    });
    check("v_max3_f16 v8, v1, v2, v3", |a, b, c, d| {
        d & 0xffff_0000 | narrow(half(a).max(half(b)).max(half(c)))
    });
    check("v_med3_f16 v8, v1, v2, v3", |a, b, c, d| {
        let mut v = [half(a), half(b), half(c)];
        v.sort_by(f64::total_cmp);
        d & 0xffff_0000 | narrow(v[1])
    });
    check("v_mad_f16 v8, v1, v2, v3 op_sel:[1,0,0,1]", |a, b, c, d| {
        d & 0xffff | narrow(half(narrow(half(a >> 16) * half(b))) + half(c)) << 16
    });
    check("v_fma_f16 v8, v1, v2, v3", |a, b, c, d| d & 0xffff_0000 | narrow(half(a) * half(b) + half(c)));
    check("v_mac_f16 v8, v1, v2", |a, b, _, d| {
        d & 0xffff_0000 | narrow(half(narrow(half(a) * half(b))) + half(d))
    });
    // Of ordinary numbers only the sign is put right.
    check("v_div_fixup_f16 v8, v1, v2, v3", |q, d, n, old| old & 0xffff_0000 | q & 0x7fff | (d ^ n) & 0x8000);
    // Mixed: the first source is the high half, the second a low one, the third an f32.
    check("v_fma_mix_f32 v8, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,1,0]", |a, b, c, _| {
        rounded(half(a >> 16) * half(b) + f(c))
    });
    check("v_fma_mixlo_f16 v8, v1, v2, v3 op_sel_hi:[1,1,1]", |a, b, c, d| {
        d & 0xffff_0000 | narrow(f(rounded(half(a) * half(b) + half(c))))
    });
    check("v_fma_mixhi_f16 v8, v1, v2, v3 op_sel_hi:[1,1,1]", |a, b, c, d| {
        d & 0xffff | narrow(f(rounded(half(a) * half(b) + half(c)))) << 16
    });
    check("v_mad_mixlo_f16 v8, v1, v2, v3 op_sel_hi:[1,1,1]", |a, b, c, d| {
        d & 0xffff_0000 | narrow(f(rounded(f(rounded(half(a) * half(b))) + half(c))))
    });
    check("v_mad_mixhi_f16 v8, v1, v2, v3 op_sel_hi:[1,1,1]", |a, b, c, d| {
        d & 0xffff | narrow(f(rounded(f(rounded(half(a) * half(b))) + half(c)))) << 16
    });
    check("v_dot2_f32_f16 v8, v1, v2, v3", |a, b, c, _| {
        rounded(half(a >> 16) * half(b >> 16) + f(rounded(half(a) * half(b) + f(c))))
    });
    check("v_dot2c_f32_f16 v8, v1, v2", |a, b, _, d| {
        rounded(half(a >> 16) * half(b >> 16) + f(rounded(half(a) * half(b) + f(d))))
    });
    check("v_pk_fmac_f16 v8, v1, v2", |a, b, _, d| both(|s| half(a >> s) * half(b >> s) + half(d >> s)));
    fn steps(v: f64, low: f64, high: f64) -> u32 {
        (v.clamp(low, 1.0) * high).round_ties_even() as i32 as u32 & 0xffff
    }
    check("v_cvt_pknorm_i16_f16 v8, v1, v2", |a, b, _, _| {
        steps(half(a), -1.0, 32767.0) | steps(half(b), -1.0, 32767.0) << 16
    });
    check("v_cvt_pknorm_u16_f16 v8, v1, v2", |a, b, _, _| {
        steps(half(a), 0.0, 65535.0) | steps(half(b), 0.0, 65535.0) << 16
    });
    check("v_cvt_norm_i16_f16 v8, v1", |a, _, _, _| steps(half(a), -1.0, 32767.0));
    check("v_cvt_norm_u16_f16 v8, v1", |a, _, _, _| steps(half(a), 0.0, 65535.0));
}

/// Two f32, doubles, and what moves 64 bits: pairs from v[2:3], v[4:5], v[6:7] to v[8:9].
#[test]
fn pairs() {
    fn run(text: &str, make: fn(u32) -> u32, reference: fn([u64; 3], u64) -> u64) {
        let mut m = filled(0x3f0, 5, make);
        let before = m.regs.clone();
        m.ok(later(text));
        for lane in 0..64 {
            let v = |n: usize| u64::from(before.v.get(n, lane)) | u64::from(before.v.get(n + 1, lane)) << 32;
            let got = u64::from(m.regs.v.get(8, lane)) | u64::from(m.regs.v.get(9, lane)) << 32;
            assert_eq!(got, reference([v(2), v(4), v(6)], v(8)), "{text}, lane {lane}");
        }
    }
    fn low(v: u64) -> f64 {
        f(v as u32)
    }
    fn high(v: u64) -> f64 {
        f((v >> 32) as u32)
    }
    fn two(a: f64, b: f64) -> u64 {
        u64::from(rounded(a)) | u64::from(rounded(b)) << 32
    }
    run("v_pk_add_f32 v[8:9], v[2:3], v[4:5]", float, |[a, b, _], _| two(low(a) + low(b), high(a) + high(b)));
    run("v_pk_mul_f32 v[8:9], v[2:3], v[4:5]", float, |[a, b, _], _| two(low(a) * low(b), high(a) * high(b)));
    run("v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7]", float, |[a, b, c], _| {
        two(low(a) * low(b) + low(c), high(a) * high(b) + high(c))
    });
    run(
        "v_pk_add_f32 v[8:9], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]",
        float,
        |[a, b, _], _| two(low(b) - high(a), low(a) + high(b)),
    );
    run("v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]", |v| v, |[a, b, _], _| a >> 32 | b << 32);
    run("v_mov_b64 v[8:9], v[2:3]", |v| v, |[a, _, _], _| a);
    run("v_lshl_add_u64 v[8:9], v[2:3], 3, v[6:7]", |v| v, |[a, _, c], _| (a << 3).wrapping_add(c));
    run(
        "v_fmac_f64 v[8:9], v[2:3], v[4:5]",
        |v| v & 0x800f_ffff | 0x3ff0_0000,
        |[a, b, _], d| f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(d)).to_bits(),
    );
    // Sixteen lanes read one of them.
    let mut m = filled(0x3f0, 6, |v| v);
    let before = m.regs.clone();
    m.ok(later("v_mov_b64_dpp v[8:9], v[2:3] row_newbcast:5 row_mask:0xf bank_mask:0xf"));
    for lane in 0..64 {
        let from = lane / 16 * 16 + 5;
        assert_eq!(m.regs.v.get(8, lane), before.v.get(2, from));
        assert_eq!(m.regs.v.get(9, lane), before.v.get(3, from));
    }
}

#[test]
fn swaps_and_accumulators() {
    let mut m = filled(0x3c0, 7, |v| v);
    let before = m.regs.clone();
    m.regs.set_pair(126, 0xffff);
    m.ok(later("v_swap_b32 v8, v1"));
    for lane in 0..64 {
        let (a, b) = if lane < 16 { (1, 8) } else { (8, 1) };
        assert_eq!(
            (m.regs.v.get(8, lane), m.regs.v.get(1, lane)),
            (before.v.get(a, lane), before.v.get(b, lane))
        );
    }
    let mut m = machine();
    m.isa.setup.agprs = 8;
    let bytes = std::mem::take(&mut m.bus.bytes);
    m.regs = m.isa.registers(64);
    m.bus.bytes = bytes;
    m.regs.set_pair(126, Mask::MAX);
    m.fill(1, |lane| lane * 7);
    m.ok(later("v_accvgpr_write_b32 a3, v1"));
    m.ok(later("v_accvgpr_mov_b32 a5, a3"));
    m.ok(later("v_accvgpr_read_b32 v2, a5"));
    assert_eq!(m.lanes(2), (0..64).map(|lane| lane * 7).collect::<Vec<u32>>());
    assert!(m.message(later("v_accvgpr_read_b32 v2, a9")).contains("a9"));
    m.ok(later("v_cvt_f32_fp8 v2, v1"));
    // 0x38 is half of what 0x40 is.
    assert_eq!(f32::from_bits(m.lanes(2)[8]), 0.5);
    for text in ["v_cvt_f32_bf8 v2, v1", "v_cvt_pk_f32_fp8 v[2:3], v1", "v_cvt_pk_f32_bf8 v[2:3], v1"] {
        m.ok(later(text));
    }
    // Two 8-bit floats in one half, the other stays; a NaN where there is no such number, or the largest.
    m.fill(1, |lane| (lane as f32 * 8.0).to_bits());
    m.fill(2, |_| 0x1234_5678);
    m.ok(later("v_cvt_pk_fp8_f32 v2, v1, -v1 op_sel:[0,0,1]"));
    m.ok(later("v_cvt_pk_bf8_f32 v3, v1, 1.0"));
    assert_eq!((m.lanes(2)[1], m.lanes(2)[0]), (0xd858_5678, 0x0000_5678));
    assert_eq!((m.lanes(2)[31], m.lanes(3)[1] & 0xffff), (0x8080_5678, 0x404c));
    m.regs.mode |= mode::FP16_OVFL;
    m.ok(later("v_cvt_pk_fp8_f32 v2, v1, -v1"));
    assert_eq!(m.lanes(2)[31], 0x8080_ff7f);
    for text in ["v_cvt_sr_fp8_f32 v2, v1, v1", "v_cvt_sr_bf8_f32 v2, v1, v1"] {
        assert!(m.message(later(text)).contains(&text[..16]));
    }
}

#[test]
fn scalars() {
    let mut m = machine();
    let mut run = |text: &str, a: u64, b: u64| {
        m.regs.set_pair(4, a);
        m.regs.set_pair(6, b);
        let flow = m.run(&later(text));
        assert!(matches!(flow, Ok(Flow::Next | Flow::Jump(_))), "{text}: {flow:?}");
        (m.regs.pair(8), m.regs.scc, m.regs.exec())
    };
    for (a, b) in [(0xffff_fff0u32, 0x8000_0001u32), (7, 9), (0x1234_5678, 0xfedc_ba98)] {
        let (x, y) = (a.into(), b.into());
        let one = |v: (u64, bool, u64)| v.0 as u32;
        assert_eq!(one(run("s_mul_hi_u32 s8, s4, s6", x, y)), ((u64::from(a) * u64::from(b)) >> 32) as u32);
        let signed = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
        assert_eq!(one(run("s_mul_hi_i32 s8, s4, s6", x, y)), signed as u32);
        for n in 1..5u32 {
            let sum = (u64::from(a) << n) + u64::from(b);
            let (got, scc, _) = run(&format!("s_lshl{n}_add_u32 s8, s4, s6"), x, y);
            assert_eq!((got as u32, scc), (sum as u32, sum >> 32 != 0), "{n}");
        }
        assert_eq!(one(run("s_pack_ll_b32_b16 s8, s4, s6", x, y)), a & 0xffff | b << 16);
        assert_eq!(one(run("s_pack_lh_b32_b16 s8, s4, s6", x, y)), a & 0xffff | b >> 16 << 16);
        assert_eq!(one(run("s_pack_hh_b32_b16 s8, s4, s6", x, y)), a >> 16 | b >> 16 << 16);
        let doubled = (0..32).fold(0u64, |v, i| v | if a >> i & 1 == 1 { 3 << (2 * i) } else { 0 });
        assert_eq!(run("s_bitreplicate_b64_b32 s[8:9], s4", x, y).0, doubled);
    }
    let (exec, s) = (0xff00_ff00_0f0f_1234u64, 0x0ff0_0ff0_ffff_0000u64);
    for (text, new, saved) in [
        ("s_andn1_saveexec_b64 s[8:9], s[4:5]", !s & exec, exec),
        ("s_orn1_saveexec_b64 s[8:9], s[4:5]", !s | exec, exec),
        ("s_andn1_wrexec_b64 s[8:9], s[4:5]", !s & exec, !s & exec),
        ("s_andn2_wrexec_b64 s[8:9], s[4:5]", s & !exec, s & !exec),
    ] {
        let mut m = machine();
        m.regs.set_pair(126, exec);
        m.regs.set_pair(4, s);
        m.ok(later(text));
        assert_eq!((m.regs.exec(), m.regs.pair(8), m.regs.scc), (new, saved, new != 0), "{text}");
    }
    let mut m = machine();
    m.ok(later("s_wakeup"));
    assert_eq!(m.run(&later("s_call_b64 s[8:9], 20")), Ok(Flow::Jump(31)));
    assert_eq!(m.regs.pair(8), 0x1000 + 11 * 4);
    m.ok(later("s_mov_b64 s[8:9], src_shared_base"));
    assert_eq!(m.regs.pair(8), u64::from(SHARED_APERTURE) << 32);
    m.ok(later("s_mov_b64 s[8:9], src_private_limit"));
    assert_eq!(m.regs.pair(8), u64::from(PRIVATE_APERTURE) << 32 | 0xffff_ffff);
    m.ok(later("v_mov_b32 v8, src_private_base"));
    assert_eq!(m.lanes(8)[3], 0);
    assert!(m.message(later("s_endpgm_ordered_ps_done")).contains("not supported"));
    assert!(m.message(later("v_screen_partition_4se_b32 v1, v2")).contains("v_screen_partition_4se_b32"));
}

fn dword(m: &Machine, at: usize) -> u32 {
    u32::from_le_bytes([m.bus.bytes[at], m.bus.bytes[at + 1], m.bus.bytes[at + 2], m.bus.bytes[at + 3]])
}

#[test]
fn segments() {
    for exec in [Mask::MAX, 0x8000_0000_f0f0_0005] {
        let on = |lane: u32| exec >> lane & 1 == 1;
        let mut m = machine();
        m.regs.set_pair(126, exec);
        m.fill64(2, |lane| 0x3000 + u64::from(lane) * 8);
        m.fill(4, |lane| 0x100 + lane * 12);
        m.regs.set_pair(6, 0x4000);
        type Place = fn(u32) -> usize;
        let cases: [(&str, Place); 4] = [
            ("global_load_dword v8, v[2:3], off offset:-16", |lane| 0x3000 - 16 + lane as usize * 8),
            ("global_load_dword v8, v4, s[6:7] offset:20", |lane| 0x4000 + 0x100 + 20 + lane as usize * 12),
            ("flat_load_dword v8, v[2:3] offset:40", |lane| 0x3000 + 40 + lane as usize * 8),
            ("global_load_dword v8, v4, s[6:7] offset:-4", |lane| 0x4000 + 0x100 - 4 + lane as usize * 12),
        ];
        for (text, at) in cases {
            m.fill(8, |lane| lane);
            m.ok(later(text));
            for lane in 0..64 {
                let want = if on(lane) { dword(&m, at(lane)) } else { lane };
                assert_eq!(m.regs.v.get(8, lane), want, "{text}, lane {lane}");
            }
        }
        m.fill(8, |lane| 0xabc0_0000 + lane);
        m.ok(later("global_store_dword v4, v8, s[6:7] offset:8"));
        for lane in (0..64).filter(|&lane| on(lane)) {
            assert_eq!(dword(&m, 0x4108 + lane as usize * 12), 0xabc0_0000 + lane);
        }
        // Private memory: dwords of the lanes side by side.
        m.regs.s[5] = 16;
        m.fill(9, |lane| lane % 3 * 4);
        m.ok(later("scratch_store_dword off, v8, s5 offset:4"));
        m.ok(later("scratch_load_dword v10, v9, off offset:20"));
        for lane in (0..64).filter(|&lane| on(lane)) {
            assert_eq!(dword(&m, SCRATCH + 5 * 256 + lane as usize * 4), 0xabc0_0000 + lane);
            let from = SCRATCH + (5 + lane as usize % 3) * 256 + lane as usize * 4;
            assert_eq!(m.regs.v.get(10, lane), dword(&m, from), "lane {lane}");
        }
        assert!(m.message(later("scratch_load_dword v10, off, s5 offset:60")).contains("private memory"));
    }
}

/// One half of a register, the other stays.
#[test]
fn halves_in_memory() {
    let mut m = machine();
    m.fill64(2, |lane| 0x3001 + u64::from(lane) * 6);
    m.fill(4, |lane| lane * 6 + 1);
    let bytes = |m: &Machine, base: usize, lane: u32| {
        let at = base + 1 + lane as usize * 6;
        (m.bus.bytes[at], u16::from_le_bytes([m.bus.bytes[at], m.bus.bytes[at + 1]]))
    };
    type Part = fn((u8, u16)) -> u32;
    let unsigned: Part = |(b, _)| b.into();
    let signed: Part = |(b, _)| i32::from(b as i8) as u32 & 0xffff;
    let short: Part = |(_, s)| s.into();
    for (segment, base) in [("global", 0x3000), ("ds", LDS)] {
        for (global, ds, part) in [
            ("load_ubyte_d16", "read_u8_d16", unsigned),
            ("load_sbyte_d16", "read_i8_d16", signed),
            ("load_short_d16", "read_u16_d16", short),
        ] {
            for high in ["", "_hi"] {
                let text = match segment {
                    "global" => format!("global_{global}{high} v8, v[2:3], off"),
                    _ => format!("ds_{ds}{high} v8, v4"),
                };
                m.fill(8, |lane| 0x1111_2222 + lane);
                m.ok(later(&text));
                for lane in 0..64 {
                    let (old, new) = (0x1111_2222 + lane, part(bytes(&m, base, lane)));
                    let want =
                        if high.is_empty() { old & 0xffff_0000 | new } else { old & 0xffff | new << 16 };
                    assert_eq!(m.regs.v.get(8, lane), want, "{text}, lane {lane}");
                }
            }
        }
    }
    m.fill(8, |lane| 0xcafe_0000 + lane);
    m.ok(later("global_store_short_d16_hi v[2:3], v8, off"));
    m.ok(later("ds_write_b8_d16_hi v4, v8"));
    assert_eq!((bytes(&m, 0x3000, 7).1, bytes(&m, LDS, 9).0), (0xcafe, 0xfe));
    m.ok(later("global_store_byte_d16_hi v[2:3], v8, off"));
    m.ok(later("ds_write_b16_d16_hi v4, v8"));
    assert_eq!((bytes(&m, 0x3000, 7).0, bytes(&m, LDS, 9).1), (0xfe, 0xcafe));
    m.regs.s[124] = 64;
    m.ok(later("ds_write_addtid_b32 v8 offset:16"));
    m.ok(later("ds_read_addtid_b32 v9 offset:16"));
    assert_eq!((m.lanes(9), dword(&m, LDS + 80 + 4 * 5)), (m.lanes(8), 0xcafe_0005));
}

#[test]
fn float_atomics_and_scalar_memory() {
    let mut m = machine();
    m.regs.mode = 0x3f0;
    let put = |m: &mut Machine, at: usize, v: &[u8]| m.bus.bytes[at..at + v.len()].copy_from_slice(v);
    put(&mut m, 0x3000, &1.5f32.to_le_bytes());
    put(&mut m, 0x3008, &2.5f64.to_le_bytes());
    m.regs.set_pair(126, 0b111);
    m.fill64(2, |_| 0x3000);
    m.fill(8, |_| 0.25f32.to_bits());
    m.ok(later("global_atomic_add_f32 v[2:3], v8, off"));
    assert_eq!(f32::from_bits(dword(&m, 0x3000)), 2.25);
    m.fill64(8, |lane| f64::from(lane).to_bits());
    m.ok(later("global_atomic_add_f64 v[2:3], v[8:9], off offset:8"));
    let wide = |m: &Machine, at| f64::from_bits(u64::from(dword(m, at)) | u64::from(dword(m, at + 4)) << 32);
    assert_eq!(wide(&m, 0x3008), 5.5);
    m.ok(later("global_atomic_max_f64 v[10:11], v[2:3], v[8:9], off offset:8 glc"));
    m.ok(later("global_atomic_min_f64 v[2:3], v[8:9], off offset:8"));
    assert_eq!(
        (wide(&m, 0x3008), f64::from_bits(u64::from(m.lanes(10)[0]) | u64::from(m.lanes(11)[0]) << 32)),
        (0.0, 5.5)
    );
    // 1.0 and −2.0 in halves, added three times to 0.5 and 4.0.
    put(&mut m, 0x3010, &0x4400_3800u32.to_le_bytes());
    m.fill(8, |_| 0xc000_3c00);
    m.ok(later("global_atomic_pk_add_f16 v[2:3], v8, off offset:16"));
    assert_eq!(dword(&m, 0x3010), 0xc000_4300);
    put(&mut m, 0x3010, &0x4080_3f00u32.to_le_bytes());
    m.fill(8, |_| 0xc000_3f80);
    m.ok(later("global_atomic_pk_add_bf16 v[2:3], v8, off offset:16"));
    assert_eq!(dword(&m, 0x3010), 0xc000_4060);
    m.fill(4, |_| 8);
    put(&mut m, LDS + 8, &1.0f64.to_le_bytes());
    m.fill64(8, |_| 0.5f64.to_bits());
    m.ok(later("ds_add_rtn_f64 v[10:11], v4, v[8:9]"));
    m.ok(later("ds_add_f64 v4, v[8:9]"));
    assert_eq!(wide(&m, LDS + 8), 4.0);
    // Scalar memory: two offsets, negative ones, atomics.
    m.regs.set_pair(6, 0x3020);
    m.regs.s[4] = 8;
    put(&mut m, 0x3018, &7u32.to_le_bytes());
    put(&mut m, 0x302c, &9u32.to_le_bytes());
    m.ok(later("s_load_dword s8, s[6:7], -0x8"));
    m.ok(later("s_load_dword s9, s[6:7], s4 offset:0x4"));
    assert_eq!((m.regs.s[8], m.regs.s[9]), (7, 9));
    for (name, old, data, new) in [
        ("swap", 5u32, 9u32, 9u32),
        ("add", 5, 9, 14),
        ("sub", 5, 9, 5u32.wrapping_sub(9)),
        ("smin", 5, 0x8000_0000, 0x8000_0000),
        ("umin", 5, 0x8000_0000, 5),
        ("smax", 5, 0x8000_0000, 5),
        ("umax", 5, 0x8000_0000, 0x8000_0000),
        ("and", 6, 3, 2),
        ("or", 6, 3, 7),
        ("xor", 6, 3, 5),
        ("inc", 6, 6, 0),
        ("dec", 0, 6, 6),
    ] {
        for wide in [false, true] {
            let (suffix, tuple) = if wide { ("_x2", "s[8:9]") } else { ("", "s8") };
            put(&mut m, 0x3020, &[old.to_le_bytes(), [0; 4]].concat());
            m.regs.set_pair(8, data.into());
            m.ok(later(&format!("s_atomic_{name}{suffix} {tuple}, s[6:7], 0x0 glc")));
            let signed = wide && matches!(name, "smin" | "smax");
            let expect = match name {
                "smin" if signed => 5,
                "smax" if signed => 0x8000_0000,
                _ => new,
            };
            assert_eq!((dword(&m, 0x3020), m.regs.s[8]), (expect, old), "{name}{suffix}");
        }
    }
    put(&mut m, 0x3020, &5u32.to_le_bytes());
    (m.regs.s[8], m.regs.s[9]) = (77, 5);
    m.ok(later("s_atomic_cmpswap s[8:9], s[6:7], 0x0"));
    assert_eq!(dword(&m, 0x3020), 77);
    m.ok(later("s_dcache_discard s[6:7], 0x0"));
    m.ok(later("s_dcache_discard_x2 s[6:7], 0x0"));
    assert!(m.message(later("s_scratch_load_dword s8, s[6:7], 0x0")).contains("s_scratch_load_dword"));
}
