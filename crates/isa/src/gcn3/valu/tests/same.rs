//! Every vector operation gives the same bits for ever and on every host: a hash per operation over special
//! and random inputs, masks, modes and modifiers, in `same.txt`. `UPDATE_GOLDEN=1` rewrites the file; a change
//! there is a change of results and needs a reason.

use super::super::super::table::Halves;
use super::super::cross;
use super::*;
use crate::vector;
use std::fmt::Write;

/// FNV-1a.
struct Hash(u64);

impl Hash {
    fn add(&mut self, v: u64) {
        for byte in v.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Values of all kinds, so that an operation of any type meets its special cases.
fn values() -> Vec<u64> {
    let mut all: Vec<u64> = F32.iter().map(|&v| u64::from(v) | u64::from(v.rotate_left(7)) << 32).collect();
    all.extend(F64);
    all.extend([0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x7c01, 1, 0x3ff, 0x400, 0xbc00, 0x8000, 0xffff]);
    all.extend((0..40).map(|i| 1 << i));
    let mut rng = Rng(99);
    for k in 0..200 {
        let v = rng.next();
        all.push(match k % 4 {
            0 => v,
            1 => v >> (v & 63),
            2 => (v & 0x807f_ffff) + ((110 + (v >> 33 & 31)) << 23),
            _ => (v & 0x800f_ffff_ffff_ffff) + ((1000 + (v >> 52 & 31)) << 52),
        });
    }
    all
}

fn hash(op: Op, values: &[u64]) -> u64 {
    let mut h = Hash(0xcbf2_9ce4_8422_2325);
    let mut rng = Rng(5);
    let float = (0..3).all(|i| op.entry().src[i].is_float() || op.entry().src[i].dwords() == 0);
    for round in 0..24u32 {
        let mode = [COMPILED, KEEP, COMPILED & !(1 << 9), 0][round as usize % 4];
        let mut r = regs(mode);
        for lane in 0..64 {
            for i in 0..3 {
                fill(&mut r, i, lane, values[rng.next() as usize % values.len()]);
            }
            for d in 0..4 {
                r.v.set(usize::from(DST) + d, lane, rng.next() as u32);
                r.v.set(usize::from(SRC[2]) + 2 + d % 2, lane, rng.next() as u32);
            }
        }
        r.set_pair(30, rng.next());
        r.set_pair(sreg::VCC, rng.next());
        r.set_pair(14, values[rng.next() as usize % values.len()]);
        let mut i = inst(op);
        if round % 3 == 1 {
            i.src[0] = Operand::Sgpr(14);
        }
        if float && round % 5 == 2 {
            (i.abs, i.neg) = (rng.next() as u8 & 7, rng.next() as u8 & 7);
        }
        let lanes = [!0, rng.next(), 0x00ff_ffff_0000_ff01, !0][round as usize / 2 % 4];
        execute(&i, &mut r, lanes).unwrap();
        (0..64).flat_map(|lane| (0..4).map(move |d| (lane, d))).for_each(|(lane, d)| {
            h.add(r.v.get(usize::from(DST) + d, lane).into());
        });
        h.add(r.vcc());
        h.add(r.pair(CARRY));
        h.add(r.exec());
    }
    h.0
}

fn table() -> String {
    let values = values();
    let mut text = String::new();
    for op in Op::all() {
        let vector = matches!(op.entry().format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Vopc);
        let refused = op.entry().halves == Halves::Attribute;
        if vector && !cross::is_one(op) && !refused {
            writeln!(text, "{:<20} {:016x}", op.name(), hash(op, &values)).unwrap();
        }
    }
    text
}

/// The loops for any host, for AVX2, and those for this one.
#[test]
fn bits_stay_the_same() {
    let text = table();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gcn3/valu/tests/same.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).expect("same.txt, made with UPDATE_GOLDEN=1");
    let changed: Vec<_> = text.lines().zip(golden.lines()).filter(|(now, then)| now != then).collect();
    assert!(changed.is_empty(), "operations with other results: {changed:#?}");
    assert_eq!(text.lines().count(), golden.lines().count());
    for arch in vector::others() {
        vector::INSTEAD.set(Some(arch));
        let there = table();
        let other: Vec<_> = text.lines().zip(there.lines()).filter(|(host, there)| host != there).collect();
        assert!(other.is_empty(), "operations where {arch:?} gives other results: {other:#?}");
    }
}
