//! Dot products of integers in one dword, for VOP3P and for the forms that add to their destination.

use super::super::op::Op;

/// Elements of a dot product: how many, their bits, signed or not.
pub(super) fn dot(op: Op) -> Option<(u32, u32, bool)> {
    Some(match op {
        Op::VDot2F32F16 | Op::VDot2cF32F16 => (2, 16, true),
        Op::VDot2I32I16 | Op::VDot2cI32I16 => (2, 16, true),
        Op::VDot2U32U16 => (2, 16, false),
        Op::VDot4I32I8 | Op::VDot4cI32I8 => (4, 8, true),
        Op::VDot4U32U8 => (4, 8, false),
        Op::VDot8I32I4 | Op::VDot8cI32I4 => (8, 4, true),
        Op::VDot8U32U4 => (8, 4, false),
        _ => return None,
    })
}

/// The sum of integer products and `c`, exact, then cut or held.
pub(super) fn dot_integer(elements: (u32, u32, bool), a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    let (count, width, signed) = elements;
    let element = |v: u32, i: u32| {
        let up = v << (32 - width * (i + 1));
        if signed { i64::from(up as i32 >> (32 - width)) } else { i64::from(up >> (32 - width)) }
    };
    let products: i64 = (0..count).map(|i| element(a, i) * element(b, i)).sum();
    match signed {
        true => {
            let sum = products + i64::from(c as i32);
            if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
        }
        false => {
            let sum = products + i64::from(c);
            if clamp { sum.min(u32::MAX.into()) as u32 } else { sum as u32 }
        }
    }
}
